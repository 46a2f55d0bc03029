#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""ab_grid.py [TRIALS] [SEED]: `tacet learn` on logs of one action and one context, both numbers, beside a 4 x 4 grid of
noisy counts, eps 1; noise is seeded. Prints what the chosen action lacks to the best one, as a share of what one at random
lacks, mean (standard error) over made-up worlds, and of the difference. Ends with 1 where the grid is ahead by two."""
from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BIN = Path(__file__).resolve().parent.parent / "build/bin/tacet"
AT = (np.arange(60) + 0.5) / 60
EPS, GRID = 1.0, 4


def rewards(world: str, hill, rng):
    """What rows earn, and the end of the declared range."""
    if world == "rare 0/1, 5 %":
        return rng.random(len(hill)) < 0.02 + 0.08 * hill, 1
    if world == "spending, mostly 0":
        return (rng.random(len(hill)) < 0.03 + 0.12 * hill) * np.minimum(rng.lognormal(3, 0.8, len(hill)), 500), 500
    if world == "range 20 times too wide":
        return np.clip(0.2 + 0.5 * hill + 0.1 * rng.normal(size=len(hill)), 0, 1), 20
    return rng.random(len(hill)) < 0.2 + 0.5 * hill, 1


def learnt(x, c, y, top, seed: int, folder: Path):
    np.savetxt(folder / "log.csv", np.column_stack([x, c, y]), "%.9g", ",", header="x,c,y", comments="")
    np.savetxt(folder / "ask.csv", AT, "%.9g", header="c", comments="")
    run = lambda *a: subprocess.run([BIN, *a], check=True, capture_output=True, text=True, cwd=folder).stdout  # noqa: E731
    run("learn", "--data", "log.csv", "--actions", "x", "--contexts", "c", "--reward", "y", "--range", f"0:{top}", "--bounds",
        "x=0:1,c=0:1", "--eps", str(EPS), "--noise-seed", str(seed), "--out", "m.json")  # fmt: skip
    return np.array([float(line.split(",")[1]) for line in run("predict", "--model", "m.json", "--data", "ask.csv").split()[1:]])


def counted(x, c, y, top, rng):
    cell = (GRID * x).astype(int), (GRID * c).astype(int)
    up, down = (np.zeros((GRID, GRID)) + rng.laplace(0, 2 / EPS, (GRID, GRID)) for _ in range(2))
    np.add.at(up, cell, y / top)
    np.add.at(down, cell, 1 - y / top)
    best = np.argmax(up / np.maximum(up + down, 1), axis=0)
    return (best[(GRID * AT).astype(int)] + 0.5) / GRID


def main() -> int:
    trials, seed = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((1, 16), (2, 1)))
    ahead = False
    for world, rows in (("rare 0/1, 5 %", 20000), ("spending, mostly 0", 20000), ("range 20 times too wide", 5000),
                        ("0/1", 200), ("0/1", 1000), ("0/1", 5000)):  # fmt: skip
        lost = np.zeros((trials, 2))
        for t in range(trials):
            rng = np.random.default_rng([seed, t])
            start, slope, width = rng.uniform(0.1, 0.5), rng.uniform(-0.4, 0.6), rng.uniform(0.2, 0.4)
            hill = lambda x, c: np.exp(-(((x - start - slope * c) / width) ** 2))  # noqa: B023, E731
            x, c = rng.random(rows), rng.random(rows)
            y, top = rewards(world, hill(x, c), rng)
            all_x = (np.arange(200) + 0.5)[:, None] / 200
            values = hill(all_x, AT[None, :])
            chance = (values.max(axis=0) - values.mean(axis=0)).mean()
            with tempfile.TemporaryDirectory() as name:
                chosen = learnt(x, c, y, top, seed * 1000 + t, Path(name)), counted(x, c, y, top, rng)
            lost[t] = [(values.max(axis=0) - hill(at, AT)).mean() / chance for at in chosen]
        less = lost[:, 0] - lost[:, 1]
        mean, se = np.append(lost.mean(axis=0), less.mean()), np.append(lost.std(axis=0), less.std()) / np.sqrt(trials - 1)
        ahead = ahead or mean[2] > 2 * se[2]
        print(json.dumps({"world": world, "rows": rows, "trials": trials, "learn": [round(mean[0], 3), round(se[0], 3)],
                          "grid": [round(mean[1], 3), round(se[1], 3)], "difference": [round(mean[2], 3), round(se[2], 3)]}), flush=True)  # fmt: skip
    return int(ahead)


if __name__ == "__main__":
    sys.exit(main())
