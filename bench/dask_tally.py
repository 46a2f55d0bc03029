# SPDX-License-Identifier: Apache-2.0
"""What Dask adds to a tally: processor time of the workers and of the process that merges, for one and two workers.

bench/dask_tally.py [ROWS], with PYTHONPATH=build/python. The digests must be equal. The speedup that two processors of
their own would give is all processor time over what the busiest process has: wall time on a shared machine says less.
"""
from __future__ import annotations

import sys
import time
from typing import Any

import dask
import dask.dataframe as dd
import distributed
import numpy as np
import pandas as pd

import tacet
from tacet import trusted

PARTS = 20
SHOP = tacet.Space(variant=tacet.Category("A", "B"), kind=tacet.Category(*(f"k{i}" for i in range(6))))


def rows(number: int, count: int) -> pd.DataFrame:
    rng = np.random.default_rng(number)
    variant = pd.Categorical.from_codes(rng.integers(0, 2, count), ["A", "B"])
    kind = pd.Categorical.from_codes(rng.integers(0, 6, count), [f"k{i}" for i in range(6)])
    return pd.DataFrame({"variant": variant, "kind": kind, "bought": rng.random(count)})


def main() -> None:
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7
    frame: Any = dd.from_delayed([dask.delayed(rows)(k, count // PARTS) for k in range(PARTS)], meta=rows(0, 1), verify_meta=False)
    digests = set()
    for workers in (1, 2):
        with distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                client.run(__import__, "tacet.trusted")
                before, here, start = client.run(time.process_time), time.process_time(), time.perf_counter()
                tally = trusted.tally(frame, space=SHOP, action="variant", reward="bought")
                wall, merging = time.perf_counter() - start, time.process_time() - here
                after = client.run(time.process_time)
                each = [after[w] - before[w] for w in after]
                digests.add(tally.digest())
                print(f"{workers} workers, {tally.rows} rows, {tally.parts} parts: processor {', '.join(f'{x:.1f}' for x in each)} s, "
                      f"merging {merging:.1f} s, wall {wall:.1f} s; on processors of their own {sum(each) / max(*each, merging):.2f} times one")  # fmt: skip
    sys.exit(0 if len(digests) == 1 else f"different digests: {digests}")


if __name__ == "__main__":
    main()
