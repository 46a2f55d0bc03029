# SPDX-License-Identifier: Apache-2.0
"""Plans: what privacy costs on problems like yours, before any data is touched. Runs `tacet plan --json`."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacet import _open  # type: ignore[attr-defined]
from tacet.display import columns, table
from tacet.errors import Error, InvalidValue, NotFound

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def program(name: str = "tacet") -> str:
    """The path of a program of tacet: in $TACET_BIN, beside the build that this package was made in, or on the path."""
    folders = [os.environ.get("TACET_BIN", ""), str(Path(_open.__file__).resolve().parents[2] / "bin")]
    for folder in folders:
        if folder and os.access(os.path.join(folder, name), os.X_OK):
            return os.path.join(folder, name)
    found = shutil.which(name)
    if found is None:
        raise NotFound(f"the program '{name}' is not installed: set TACET_BIN to the folder that has it")
    return found


class Plan:
    """What `tacet plan` found: the regret at each eps, of random choices, and without privacy.

    >>> print(plan("outsourced", eps=[1, 4], trials=8))     # doctest: +SKIP
    """

    def __init__(self, result: dict[str, Any]) -> None:
        self.result = result
        self.advice: str = result["advice"]
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
        return f"Plan({self.result['problem']})"

    def _repr_html_(self) -> str:
        return table(("eps", "regret", "gain over random", ""), self._rows(), self.advice)


def plan(model: str = "outsourced", **options: Any) -> Plan:
    """Simulates a stated problem at several eps. Options are those of `tacet plan`: `eps=[1, 2, 4]`, `candidates=2000`,
    `dim=2`, `lengthscale=0.2`, `noise=0.1`, `queries=40`, `rounds=1000`, `trials=100`, `seed=1`, …"""
    command = [program(), "plan", "--model", model, "--json"]
    for name, value in options.items():
        text = ",".join(f"{item:g}" for item in value) if isinstance(value, (list, tuple)) else str(value)
        command += ["--" + name.replace("_", "-"), text]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = done.stderr.strip().splitlines()
        raise (InvalidValue if done.returncode == 2 else Error)(message[-1] if message else "tacet plan failed")
    return Plan(json.loads(done.stdout))
