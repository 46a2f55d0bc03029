# SPDX-License-Identifier: Apache-2.0
"""What the Python packages add to the C calls below them, as ratios and differences within one run.

bench/run starts it where Debian's Python has the packages; PYTHONPATH is build/python. Best of several runs each.
"""
from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pandas as pd

import tacet
from tacet import trusted
from tacet._lib import ffi as open_ffi
from tacet._lib import lib as open_lib
from tacet.trusted._lib import ffi, lib, native


def clock() -> float:
    """Processor time, of the programs that were started, too: what else runs here counts for nothing."""
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def best(call: Callable[[], Any], runs: int = 3) -> float:
    times = []
    for _ in range(runs):
        start = clock()
        call()
        times.append(clock() - start)
    return min(times)


def pairs(folder: Path) -> None:
    """Suggest and observe, through the package and by the C functions alone, in turns; medians of processor time."""
    space = tacet.Space(mg=tacet.Real(5, 200))
    study = trusted.Study.create(
        folder / "studies", name="dose", space=space, eps=1, delta=1e-6, candidates=16, rounds=20000
    )
    out, raw = ffi.new("char **"), ffi.new("tacet_study_round *")
    error, taken = ffi.new("tacet_error *"), ffi.new("tacet_study_taken *")

    def by_package() -> None:
        study.suggest().observe(0.5)

    def by_c() -> None:
        lib.tacet_study_suggest_text(study._pointer, out, raw, 0, error)
        ticket = ffi.string(out[0]).split(b'"ticket":"', 1)[1].split(b'"', 1)[0]
        lib.free(out[0])
        lib.tacet_study_observe(study._pointer, taken, ticket, 0.5, error)

    times: dict[Callable[[], None], list[float]] = {by_package: [], by_c: []}
    for _ in range(400):
        for call in (by_package, by_c):
            start = time.thread_time()
            call()
            times[call].append(time.thread_time() - start)
    package, c = (statistics.median(times[call]) for call in (by_package, by_c))
    print(f"suggest and observe: {1e6 * (package - c):.0f} us above the C calls' {1e6 * c:.0f} us ({package / c:.2f} times)")
    study.close()


def predictions() -> None:
    rng = np.random.default_rng(1)
    age, action = rng.uniform(18, 90, 4000), rng.integers(0, 2, 4000)
    log = pd.DataFrame({"variant": np.where(action, "B", "A"), "age": age, "y": rng.random(4000) < 0.5})
    space = tacet.Space(variant=tacet.Category("A", "B"), age=tacet.Real(18, 90))
    model = trusted.learn(log, space=space, action="variant", reward="y", eps=4)
    rows = np.column_stack([rng.integers(0, 2, 5 * 10**4), rng.uniform(18, 90, 5 * 10**4)]).astype(float)
    means, sds = np.empty(len(rows)), np.empty(len(rows))
    place = [open_ffi.cast("double *", array.ctypes.data) for array in (means, sds, rows)]
    c = best(
        lambda: open_lib.tacet_ab_model_predict(
            model._pointer, *place[:2], open_ffi.NULL, place[2], len(rows), open_ffi.NULL
        )
    )
    package = best(lambda: model.predict(rows))
    frame = pd.DataFrame({"variant": np.where(rows[:, 0] > 0, "B", "A"), "age": rows[:, 1]})
    print(f"predict 5 10^4 rows: {package / c:.2f} times the C call; from a frame with texts {best(lambda: model.predict(frame)) / c:.2f}")


def releases(folder: Path) -> None:
    """A table of 10^6 x 10 through the package, and by the C function alone."""
    table = np.random.default_rng(2).uniform(0, 100, (10**6, 10))
    space = tacet.Space({f"c{i}": tacet.Real(0, 100, unit=1) for i in range(10)})
    number = 0

    def by_package() -> None:
        nonlocal number
        number += 1
        trusted.curate(
            table, space=space, eps=1, values_unprotected=True, delta=1e-5, mechanism="gaussian", out=folder / f"p{number}",
            ledger=folder / f"p{number}.db", new_budget="a measurement",
        )  # fmt: skip

    def by_c() -> None:
        nonlocal number
        number += 1
        settings, manifest, kind = (ffi.new(f"{name} *") for name in ("tacet_curate_settings", "tacet_manifest", "tacet_curate_mechanism"))
        raw, text = ffi.new("tacet_space *"), space.to_json().encode()
        lib.tacet_curate_defaults(settings)
        native.call(lib.tacet_space_decode, raw, text, len(text))
        native.call(lib.tacet_curate_parse, kind, b"gaussian")
        kept = [ffi.new("char[]", str(t).encode()) for t in (folder / f"c{number}", folder / f"c{number}.db", "a measurement")]
        settings.folder, settings.ledger, settings.new_budget = kept
        settings.space, settings.mechanism, settings.eps = raw, kind[0], 1.0
        settings.records, settings.record_count = ffi.cast("double *", table.ctypes.data), len(table)
        native.call(lib.tacet_curate_run, manifest, settings)
        lib.tacet_manifest_clear(manifest)
        lib.tacet_space_clear(raw)

    c, package = best(by_c, 2), best(by_package, 2)
    print(f"curate 10^6 x 10 from an array: {package / c:.2f} times the C call, which bench_curate compares with its draws")


def imports() -> None:
    empty = best(lambda: subprocess.run([sys.executable, "-c", "pass"], check=True), 5)
    tacet_ = best(lambda: subprocess.run([sys.executable, "-c", "import tacet"], check=True), 5)
    print(f"import tacet: {1e3 * (tacet_ - empty):.0f} ms above an empty program ({tacet_ / empty:.1f} times)")


def main() -> None:
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = Path(tempfile.mkdtemp(dir=fast))
    os.environ["TACET_STATE"] = str(folder / "state")
    try:
        imports()
        pairs(folder)
        predictions()
        releases(folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
