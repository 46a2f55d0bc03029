# SPDX-License-Identifier: Apache-2.0
"""The hospital and its consultant: a desk with a Python function behind it, a search over TLS, Ctrl-C, exceptions."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

import tacet
from tacet import trusted


@pytest.fixture
def release(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> trusted.Release:
    return trusted.curate(patients, space=space, eps=8, values_unprotected=True, queries=30, out=tmp_path / "release")


def test_a_search_over_tls_with_a_function_behind_it(
    release: trusted.Release, patients: pd.DataFrame, keys: Path, tmp_path: Path
) -> None:
    asked: list[int] = []

    def measure(row: int) -> float | None:
        asked.append(row)
        return None if patients.sex[row] == "M" and row % 5 == 0 else float(patients.effect[row])

    with trusted.Desk(release, keys=keys, listen="127.0.0.1:0") as desk:
        url = desk.start(measure)
        seen: list[tuple[int, int]] = []
        run = tacet.Modeler(url, keys=keys / "modeler", state=tmp_path / "run1", poll=0.05)
        best = run.search(queries=12, progress=lambda done, total: seen.append((done, total)))
        assert best.value == max(run.values) == patients.effect[best.row]
        assert len(run.values) == 12 and seen[-1] == (12, 12)
        assert set(run.rows) | set(run.failed) == set(asked)
        assert run.release().shape == (400, 3)
        more = run.search(queries=14)
        assert len(run.values) == 14 and more.value >= best.value and len(set(asked)) == len(asked)
        assert len(run.trials_dataframe()) == 14
        assert run.account()["uncovered"] >= 14
        assert "Best" in run._repr_html_() and run.manifest.eps == 8
        assert "by one unit" in repr(run.manifest) and run.manifest.eps_any_change > 8
        assert "only at eps = " in repr(run.manifest)
        assert run.chance is not None and 0 <= run.chance.by_luck <= 1 and run.chance.likely in run.values
        run.close()
        with pytest.raises(tacet.StateError, match="closed"):
            run.search(queries=15)
        with pytest.raises(tacet.StateError, match="already"):
            desk.start(measure)
    with pytest.raises(tacet.StateError, match="closed"):
        desk.start(measure)
    assert release.ledger.account["uncovered"] == len(asked)


def test_several_holders_are_searched_as_one_and_one_that_is_away_costs_its_rows(
    patients: pd.DataFrame, space: tacet.Space, keys: Path, tmp_path: Path
) -> None:
    parts = [patients[k::3].reset_index(drop=True) for k in range(3)]
    eps = (8, 4, 8)
    desks, urls = [], []
    for k, part in enumerate(parts):
        release = trusted.curate(part, space=space, eps=eps[k], values_unprotected=True, queries=30, out=tmp_path / f"release{k}")
        desk = trusted.Desk(release, keys=keys, listen="127.0.0.1:0")
        urls.append(desk.start(lambda row, part=part: float(part.effect[row])))
        desks.append(desk)
    one = keys / "modeler"
    with pytest.raises(tacet.InvalidValue, match="folders of keys"):
        tacet.Modeler(urls, keys=one, state=tmp_path / "run")

    def progress(done: int, total: int) -> None:
        if done == 8:
            desks[2].close()

    run = tacet.Modeler(urls, keys=[one, one, one], state=tmp_path / "run", poll=0.05, patience=0.2)
    best = run.search(queries=24, progress=progress)
    assert len(run.values) == 24 and list(run.absent) == [urls[2]]
    assert [m.eps for m in run.manifests] == list(eps) and run.release().shape == (400, 3)
    frame = run.trials_dataframe()
    assert list(frame.columns) == ["holder", "row", "value"]
    for holder, row, value in frame.itertuples(index=False):
        assert value == parts[urls.index(holder)].effect[row]
    assert (frame.holder[10:] != urls[2]).all() and best.value == max(run.values)
    assert best.value == parts[urls.index(best.holder)].effect[best.row]
    spent = [run.account(k)["uncovered"] for k in range(2)]
    assert sum(spent) == (frame.holder != urls[2]).sum()
    assert "left out" in run._repr_html_()
    run.close()
    for desk in desks[:2]:
        desk.close()


def test_an_exception_in_an_evaluator_is_raised_at_the_desk_and_not_told_abroad(
    release: trusted.Release, keys: Path, tmp_path: Path
) -> None:
    def measure(row: int) -> float:
        raise ValueError("patient 17 is called Ada")

    desk = trusted.Desk(release, keys=keys, listen="127.0.0.1:0")
    raised: list[BaseException] = []

    def serve() -> None:
        try:
            desk.serve(evaluate=measure)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    while not hasattr(desk, "url"):
        time.sleep(0.01)
    run = tacet.Modeler(desk.url, keys=keys / "modeler", state=tmp_path / "run", poll=0.02)
    with pytest.raises(tacet.Error) as caught:
        run.search(queries=3)
    assert "Ada" not in str(caught.value)
    desk.stop()
    thread.join()
    assert isinstance(raised[0], ValueError)
    desk.close()


def test_one_question_in_this_process(release: trusted.Release) -> None:
    with trusted.Desk(release) as desk:
        assert desk.ask("q1", 3, evaluate=lambda row: row / 2) == 1.5
        assert desk.ask("q1", 3, evaluate=lambda row: 99.0) == 1.5  # answered before
        assert desk.ask("q2", 4, evaluate=lambda row: None) is None
        with pytest.raises(ZeroDivisionError):
            desk.ask("q3", 5, evaluate=lambda row: 1 / 0)
        with pytest.raises(tacet.InvalidValue):
            desk.ask("q4", 10**6, evaluate=float)
        with pytest.raises(tacet.InvalidValue, match="needs keys"):
            desk.start(float)


def test_a_wrong_address_or_keys_say_so(keys: Path, tmp_path: Path) -> None:
    with pytest.raises(tacet.Error, match="127.0.0.1"):
        tacet.Modeler("https://127.0.0.1:9", keys=keys / "modeler", state=tmp_path / "s", patience=0)
    with pytest.raises(tacet.NotFound):
        tacet.Modeler("https://127.0.0.1:9", keys=tmp_path / "none", state=tmp_path / "s")


INTERRUPTED = """
import signal, sys, numpy as np, tacet
from tacet import trusted
signal.signal(signal.SIGINT, signal.default_int_handler)       # a shell's background jobs begin without it
def tell(fraction): print(fraction, flush=True)
space = tacet.Space(x=tacet.Real(0, 1, unit=0.01), y=tacet.Real(0, 1, unit=0.01))
table = np.random.default_rng(1).random((3_000_000 if sys.argv[1] == "curate" else 2_000_000, 2))
log = {"x": table[:, 0], "y": table[:, 1], "told": table[:, 0] > 0.5}
print("ready", flush=True)
try:
    if sys.argv[1] == "curate":
        trusted.curate(table, space=space, eps=1, values_unprotected=True, out=sys.argv[2], threads=1, progress=tell)
    elif sys.argv[1] == "audit":
        trusted.audit("gaussian", runs=10**8, progress=tell)
    else:
        trusted.learn(log, space=space, action="x", reward="told", eps=1, out=sys.argv[2], progress=tell)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("call", ["curate", "audit", "learn"])
def test_ctrl_c_ends_a_long_call_cleanly(call: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", INTERRUPTED, call, str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ))
    assert process.stdout is not None
    for _ in range(2 if call == "learn" else 3):  # ready, and well into the drawing; of learn, into the first pass
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest = process.stdout.read()
    assert process.wait(60) == 0
    assert rest.strip().endswith("interrupted")
    assert not (tmp_path / "out" / "release.csv").exists() and not (tmp_path / "out").is_file()
