# SPDX-License-Identifier: Apache-2.0
"""Plans: what privacy costs, by public arithmetic, before any record is touched. `tacet.trusted.plan` goes further and
simulates the shipped algorithms on made-up problems.

>>> import tacet
>>> print(tacet.plan("local", eps=[1, 4], effect=0.1, given=2000))
eps  noise of a report  rounds for ± 0.1  possible
1    1.04               412               yes
4    0.234              22                yes
"""
from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Sequence

from tacet import calibrate
from tacet._lib import ffi, lib, native
from tacet.display import columns, table, up
from tacet.errors import InvalidValue
from tacet.space import Category, Log, Space, _decoded

if TYPE_CHECKING:
    import pandas as pd

_Z = 1.96  # a 95 % interval is an estimate and so many standard deviations to either side


class Plan:
    """One row for each eps, in `rows`; `note` says what was assumed.

    >>> plan("central", eps=1, delta=1e-6, effect=0.1).rows[0]["eps"]
    1.0
    """

    def __init__(self, model: str, rows: list[dict[str, Any]], note: str) -> None:
        self.model, self.rows, self.note = model, rows, note

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        return list(self.rows[0]), [[_shown(cell) for cell in row.values()] for row in self.rows]

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame(self.rows).set_index("eps")

    def __str__(self) -> str:
        return columns(*self._cells())

    def __repr__(self) -> str:
        return f"Plan({self.model!r}, eps {', '.join(_shown(row['eps']) for row in self.rows)})"

    def _repr_html_(self) -> str:
        return table(*self._cells(), self.note)


def plan(
    model: Literal["outsourced", "learn", "central", "local"],
    *,
    eps: float | Sequence[float] = (0.5, 1, 2, 4, 8),
    delta: float = 0.0,
    space: Space | None = None,
    action: str | Sequence[str] = (),
    reward_range: tuple[float, float] = (0.0, 1.0),
    effect: float = 0.1,
    given: int | None = None,
) -> Plan:
    """What privacy costs at each eps, and whether it is possible with what is `given`.

    - "outsourced": the noise that `trusted.curate` puts on each column of `space`, in its own unit (a factor for a Log
      column), and how often a level stays. A column whose noise is wider than what its whole range is apart tells
      nothing of one row, and is named.
    - "learn": of a log whose columns are all categories, the rows that tell two of the `action`s apart whose mean
      rewards differ by `effect`, shown equally often (95 %); `given` rows.
    - "central": the rounds by which the mean reward of one point is known to ± `effect` where every reward is released
      by itself; batches need fewer. `given` rounds.
    - "local": the same, of reports that are randomised on their devices."""
    each = [float(eps)] if isinstance(eps, (int, float)) else [float(value) for value in eps]
    if not each:
        raise InvalidValue("a plan needs at least one eps")
    if not effect > 0:
        raise InvalidValue("an effect is a number above 0")
    width = reward_range[1] - reward_range[0]
    if model == "outsourced":
        if space is None:
            raise InvalidValue("a plan of a release needs its space")
        return Plan(model, [_release(space, value, delta) for value in each], "noise: standard deviation of one cell")
    if model == "learn":
        if space is None or not action:
            raise InvalidValue("a plan of a log needs its space, and which of its columns are actions")
        names = [action] if isinstance(action, str) else list(action)
        ordered = space.only([*names, *(name for name in space if name not in names)])
        rows = [_log(ordered, len(names), reward_range, value, effect / width, given) for value in each]
        return Plan(model, rows, "actions shown equally often; rewards as spread as their range allows")
    if model not in ("central", "local"):
        raise InvalidValue(f"there is no plan of '{model}': outsourced, learn, central or local")
    made = []
    for value in each:
        sd = _report(value, reward_range) if model == "local" else float(_law(value, delta, 1, width))
        spread = sd**2 if model == "local" else sd**2 + width**2 / 4
        what = "noise of a report" if model == "local" else "noise of a reward"
        made.append({"eps": value, what: sd, **_needed(f"rounds for ± {effect:g}", _Z**2 * spread / effect**2, given)})
    return Plan(model, made, "95 % intervals; rewards as spread as their range allows")


def _needed(name: str, count: float, given: int | None) -> dict[str, Any]:
    needed = math.ceil(count)
    return {name: needed} if given is None else {name: needed, "possible": "yes" if needed <= given else "NO"}


def _law(eps: float, delta: float, dims: int, sensitivity: float = 1.0) -> calibrate.Noise:
    """The least noise for (eps, delta), as `curate` chooses it."""
    if delta == 0:
        scale = sensitivity / eps if eps > 0 else math.nan
        if not scale > 0:
            raise InvalidValue("eps is a number above 0")
        return calibrate.Noise("laplace", scale * math.sqrt(dims + 1), scale, eps, 0.0, sensitivity)
    return min(calibrate.gaussian(eps, delta, sensitivity), calibrate.l2(eps, delta, dims, sensitivity), key=float)


def _release(space: Space, eps: float, delta: float) -> dict[str, Any]:
    numbers = {name: column for name, column in space.items() if not isinstance(column, Category)}
    sigma = float(_law(eps, delta, len(numbers))) if numbers else 0.0
    row: dict[str, Any] = {"eps": eps}
    useless = []
    for fields in space._fields:
        name = fields["name"]
        if fields["kind"] == "category":
            row[name] = f"kept with p = {lib.tacet_levels_keep(len(fields['levels']), eps):.3g}"
            continue
        if fields.get("unit") is None:
            raise InvalidValue(f"column '{name}' needs a unit: what counts as distance 1")
        low, high = (float(end) if fields["kind"] != "date" else _day(end) for end in fields["bounds"])
        log = isinstance(space[name], Log)
        unit, span = (math.log(fields["unit"]), math.log(high / low)) if log else (fields["unit"], high - low)
        if sigma * unit > span:
            useless.append(name)
        row[name] = f"a factor of {math.exp(sigma * unit):.3g}" if log else sigma * unit
    row["tells nothing of a row"] = ", ".join(useless) or "-"
    return row


def _log(space: Space, actions: int, reach: tuple[float, float], eps: float, effect: float, given: int | None) -> dict[str, Any]:
    """Two actions of n rows each: the difference of their means has twice the variance 1/(4 n) of rewards as spread as
    they can be, and twice that of noise s on both sums of an action, s^2/(2 n^2). That is at most (effect / 1.96)^2."""
    with _decoded(space) as raw:
        made = ffi.new("tacet_ab_plan *")
        native.call(lib.tacet_ab_plan_make, made, raw, actions, *map(float, reach), eps, given or 1)
        scale = made.sensitivity / eps
        parts = 1 if made.totals else made.contexts  # of an action's sum: its total, or its cells
        noise = 2 * scale**2 * parts
        count = made.actions
    most = (effect / _Z) ** 2
    rows = (0.5 + math.sqrt(0.25 + 4 * most * noise)) / (2 * most)  # most n^2 = n / 2 + noise
    return {"eps": eps, "noise of an action's sum": math.sqrt(noise), **_needed("rows", rows * count, given)}


def _report(eps: float, reach: tuple[float, float]) -> float:
    kind, raw = ffi.new("tacet_ldp_kind *"), ffi.new("tacet_ldp *")
    native.call(lib.tacet_ldp_parse, kind, b"hybrid")
    native.call(lib.tacet_ldp_init, raw, kind[0], eps, *map(float, reach))
    return math.sqrt(lib.tacet_ldp_variance(raw))


def _day(text: str) -> float:
    import datetime

    return float(datetime.date.fromisoformat(text).toordinal())


def _shown(cell: Any) -> str:
    return up(cell, 3) if isinstance(cell, float) else str(cell)
