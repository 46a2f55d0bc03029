# SPDX-License-Identifier: Apache-2.0
"""Rehearsals: made-up people, real noise, and a ledger that is thrown away; as often as one likes."""
from __future__ import annotations

import math
import os
import random
import shutil
import tempfile
import threading
import warnings
from pathlib import Path
from typing import Any, Callable, Self, TypeVar

from tacet.display import table
from tacet.model import Model
from tacet.space import Category, Real, Space
from tacet.trusted.learning import learn
from tacet.trusted.outsourced import Release, curate

Made = TypeVar("Made")
_one = threading.Lock()  # where the registry lies is told to the whole process


class Rehearsal:
    """`patients` with a `response` that `measure(row)` tells, `visits` of a shop with its rewards in `bought`, and a
    folder for what is made of them. Nobody is in these tables, so nothing is charged to anybody: ledger and registry go
    with the folder when it is closed. It takes no other table.

    >>> with Rehearsal() as r:                              # doctest: +SKIP
    ...     print(r.curate(eps=3).manifest, r.learn(eps=1))
    """

    patients_space = Space(age=Real(18, 90, unit=5), bmi=Real(16, 46, unit=2), dose=Real(5, 200, unit=10))
    visits_space = Space(variant=Category("A", "B"), device=Category("phone", "desk"))

    def __init__(self, rows: int = 2000, seed: int | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tacet-rehearsal-"))
        made = random.Random(seed)
        ends = [(float(c.low), float(c.high)) for c in self.patients_space.values()]  # type: ignore[attr-defined]
        points = [[round(made.uniform(*end), 1) for end in ends] for _ in range(rows)]
        self.patients: dict[str, list[Any]] = {name: [p[i] for p in points] for i, name in enumerate(self.patients_space)}
        self.patients["response"] = [_response(p) + made.gauss(0, 0.4) for p in points]
        self.visits: dict[str, list[Any]] = {n: made.choices(c.levels, k=rows) for n, c in self.visits_space.items()}  # type: ignore[attr-defined]
        likely = (0.5 if seen == ("B", "phone") else 0.2 for seen in zip(*self.visits.values()))
        self.visits["bought"] = [made.random() < p for p in likely]
        self._releases = 0

    def measure(self, row: int) -> float:
        """What a desk of `curate` would measure of a patient."""
        return float(self.patients["response"][row])

    def curate(self, *, eps: float = 3.0, delta: float | None = None, queries: int = 40) -> Release:
        """`trusted.curate` of the patients; measured values leave as they are."""
        return self._apart(
            lambda out: curate(
                self.patients, space=self.patients_space, eps=eps, delta=delta, queries=queries, values_unprotected=True,
                ledger=out / "ledger.db", out=out,
            )
        )  # fmt: skip

    def learn(self, *, eps: float = 1.0) -> Model:
        """`trusted.learn` from the visits."""
        return self._apart(
            lambda out: learn(
                self.visits, space=self.visits_space, action="variant", reward="bought", eps=eps, ledger=out.with_suffix(".db")
            )
        )

    def _apart(self, make: Callable[[Path], Made]) -> Made:
        """Under a registry of its own."""
        self._releases += 1
        before = os.environ.get("TACET_STATE")
        with _one, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is said to whoever holds real rows
            os.environ["TACET_STATE"] = str(self.folder / f"state-{self._releases}")
            try:
                return make(self.folder / f"release-{self._releases}")
            finally:
                if before is None:
                    del os.environ["TACET_STATE"]
                else:
                    os.environ["TACET_STATE"] = before

    def close(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Rehearsal({len(self.patients['age'])} made-up patients, {len(self.visits['bought'])} made-up visits)"

    def _repr_html_(self) -> str:
        return table(["rehearsal", ""], [("made up", repr(self)), ("thrown away", str(self.folder))])


def _response(at: list[float]) -> float:
    """Two hills over age, bmi and dose."""
    hills = ((30, (38, 22, 140), (16, 7, 55)), (20, (72, 35, 50), (13, 6, 40)))
    return sum(h * math.exp(-sum(((x - m) / s) ** 2 for x, m, s in zip(at, top, wide)) / 2) for h, top, wide in hills)
