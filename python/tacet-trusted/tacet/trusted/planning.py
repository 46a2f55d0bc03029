# SPDX-License-Identifier: Apache-2.0
"""Plans by simulation: what the shipped algorithms reach on made-up problems at several eps. Runs `tacet-plan`, which
this package brings along. `tacet.plan` does the arithmetic that needs no simulation."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Sequence

from tacet._native import in_python
from tacet.display import columns, table
from tacet.errors import Error, InvalidValue, NotFound
from tacet.trusted import _trusted  # type: ignore[attr-defined]

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def _program() -> str:
    """tacet-plan: beside the extension, in the build that it was made in, or on the path."""
    here = Path(_trusted.__file__).resolve()
    for path in (here.parent / "tacet-plan", here.parents[3] / "bin" / "tacet-plan"):
        if os.access(path, os.X_OK):
            return str(path)
    found = shutil.which("tacet-plan")
    if found is None:
        raise NotFound("the simulator 'tacet-plan' is neither in this package nor on the path")
    return found


class SimulatedPlan:
    """The regret at each eps, of random choices, and without privacy; `advice` in words.

    >>> print(plan("outsourced", eps=[1, 4], trials=8))     # doctest: +SKIP
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result
        self.advice: str = in_python(result["advice"])
        self.points: list[dict[str, Any]] = result["points"]

    def _rows(self) -> list[tuple[str, str, str, str]]:
        rows = [("random", self.result["random"])]
        rows += [(f"{point['eps']:g}", point) for point in self.points]
        rows.append(("non-private", self.result["nonprivate"]))
        return [
            (name, f"{point['mean']:.3g} ± {point['se']:.2g}", f"{point['gain']:.3g} ± {point['gain_se']:.2g}",
             "better than random" if point["better_than_random"] else "")
            for name, point in rows
        ]  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.points)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Privacy against utility."""
        from tacet import plots

        return plots.privacy_utility(self, ax=ax)

    def __str__(self) -> str:
        return columns(("eps", "regret", "gain over random", ""), self._rows()) + "\n" + self.advice

    def __repr__(self) -> str:
        return f"SimulatedPlan({self.result['problem']})"

    def _repr_html_(self) -> str:
        return table(("eps", "regret", "gain over random", ""), self._rows(), self.advice)


def plan(
    model: Literal["outsourced", "central", "local", "local-statistics", "contextual"] = "outsourced",
    *,
    eps: float | Sequence[float] | None = None,
    delta: float | None = None,
    candidates: int | None = None,
    dim: int | None = None,
    lengthscale: float | None = None,
    noise: float | None = None,
    queries: int | None = None,
    rounds: int | None = None,
    mechanism: str | None = None,
    trials: int | None = None,
    seed: int | None = None,
) -> SimulatedPlan:
    """Simulates a stated problem at several eps, as `tacet plan` does (docs/planning.md): `candidates` in `dim`
    coordinates, an objective that varies over `lengthscale` of the domain, measured with `noise`; `queries`
    (outsourced) or `rounds`. What is left out has the program's default. Ctrl-C ends it."""
    values = {
        "eps": eps, "delta": delta, "candidates": candidates, "dim": dim, "lengthscale": lengthscale, "noise": noise,
        "queries": queries, "rounds": rounds, "mechanism": mechanism, "trials": trials, "seed": seed,
    }  # fmt: skip
    candidates_are = "--rows" if model == "outsourced" else "--arms"
    command = [_program(), "plan", model, "--json"]
    for name, value in values.items():
        if value is not None:
            text = ",".join(repr(float(item)) for item in value) if isinstance(value, (list, tuple)) else str(value)
            command += [candidates_are if name == "candidates" else f"--{name}", text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = (done.stderr.strip().splitlines() or ["the simulation failed"])[-1]
        raise (InvalidValue if done.returncode == 2 else Error)(words.partition(": ")[2].replace("--", ""))
    return SimulatedPlan(json.loads(done.stdout))
