# SPDX-License-Identifier: Apache-2.0
"""Plots, by matplotlib: progress beside what chance reaches, what a model says, a budget, privacy against utility.

Every function draws on `ax`, or on a new figure, and returns the axes. What is in a figure (values, labels, scales,
bands) is said by the C library, once for Python, the reports and the study board (`tacet_figure`); here it is drawn.
"""
from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Sequence

from tacet._lib import lib, native
from tacet.errors import InvalidValue, StateError
from tacet.space import Category, Log, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacet.ledger import Ledger
    from tacet.model import Model

# Okabe and Ito, as in the reports; so are the dashes.
_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555")
_DASHES = ("-", (0, (4, 2)), (0, (1, 1.5)), (0, (4.5, 1.5, 1, 1.5)), (0, (7, 2)), (0, (2, 1)), (0, (0.5, 2.5)))
_DAY = 86400.0


def figure(kind: str, data: Any) -> dict[str, Any]:
    """The marks and scales of a figure: a section of docs/report-format.md, which `draw` and `tacet report` draw."""
    return dict(json.loads(native.returned(lib.tacet_figure, kind.encode(), json.dumps(data).encode())))


def draw(section: dict[str, Any], ax: Axes | None = None) -> Axes:
    """Draws the marks and scales of a figure, and nothing else."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    x, y = section["x"], section["y"]
    series = section["series"]
    for number, one in enumerate(series):
        _series(ax, one, x, y, _COLORS[number % 7], _DASHES[number % 7])
    _scale(ax, "x", x)
    _scale(ax, "y", y)
    if len(series) > 1:
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.13)} if series[0].get("style") == "cells" else {}
        ax.legend(frameon=False, fontsize="small", **below)
    return ax


def _place(values: list[float | None], axis: dict[str, Any]) -> Any:
    """Numbers with gaps; days as dates, so that matplotlib ticks them."""
    import numpy as np

    numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    if axis.get("scale") == "date":
        return np.array([np.datetime64(round(value * _DAY * 1000), "ms") for value in numbers])
    return numbers


def _series(ax: Axes, one: dict[str, Any], x: dict[str, Any], y: dict[str, Any], color: str, dash: Any) -> None:
    style, name = one.get("style", "line"), one["name"]
    up = _place(one["y"], y)
    if style == "level":
        if "lower" in one:
            ax.axhspan(one["lower"][0], one["upper"][0], color=color, alpha=0.12, linewidth=0)
        ax.axhline(up[0], color=color, linewidth=1.5, linestyle=dash, label=name)
        return
    across = _place(one.get("x", list(range(1, len(up) + 1))), x)
    if style == "cells":
        import numpy as np

        columns, rows = np.unique(across), np.unique(up)
        cells = np.full((len(rows), len(columns)), np.nan)
        cells[np.searchsorted(rows, up), np.searchsorted(columns, across)] = _place(one["z"], {})
        ax.figure.colorbar(ax.pcolormesh(columns, rows, cells, cmap="viridis", shading="nearest"), ax=ax, label=name)
    elif style == "contour":
        ax.plot(across, up, color="black", linewidth=0.8, label=name)
    elif style == "points" and ("lower" in one or "left" in one):
        reach = [up - _place(one["lower"], y), _place(one["upper"], y) - up] if "lower" in one else None
        aside = [across - _place(one["left"], x), _place(one["right"], x) - across] if "left" in one else None
        ax.errorbar(across, up, xerr=aside, yerr=reach, fmt="o", color=color, markersize=4, capsize=3, label=name)
    elif style == "points":
        ax.plot(across, up, "o", color=color, markersize=3, alpha=0.75, label=name)
    else:
        ax.plot(across, up, color=color, linestyle=dash, linewidth=2, label=name,
                drawstyle="steps-post" if style == "step" else "default",
                marker="o" if style == "line" and len(up) <= 12 else None, markersize=4)  # fmt: skip
        if "lower" in one:
            ax.fill_between(across, _place(one["lower"], y), _place(one["upper"], y), color=color, alpha=0.15, linewidth=0)


def _scale(ax: Axes, which: str, axis: dict[str, Any]) -> None:
    unit = f" ({axis['unit']})" if axis.get("unit") else ""
    ax.set(**{f"{which}label": axis["label"] + unit})
    spine = getattr(ax, f"{which}axis")
    if axis.get("scale") == "log":
        ax.set(**{f"{which}scale": "log"})
    if "ticks" in axis:
        spine.set_ticks(axis["ticks"], [f"{value:g}" for value in axis["ticks"]])
        spine.set_ticks([], minor=True)
    if axis.get("scale") == "levels":
        spine.set_ticks(range(len(axis["levels"])), axis["levels"])
    elif "bounds" in axis:
        ax.set(**{f"{which}lim": tuple(_place(axis["bounds"], axis))})
    if axis.get("whole"):
        spine.get_major_locator().set_params(integer=True)
    if axis.get("scale") == "date" and which == "x":
        ax.tick_params(axis="x", rotation=20)


def progress(
    values: Sequence[float],
    *,
    minimize: bool = False,
    chance: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Measured values and the best so far. `chance` is what the best of as many random choices reaches with a
    probability of 95 %."""
    if len(values) == 0:
        raise StateError("nothing was measured yet")
    data: dict[str, Any] = {"values": [float(value) for value in values], "minimize": minimize}
    if chance is not None:
        data["chance"] = {"likely": chance, "likely_percent": 95}
    return draw(figure("progress", data), ax)


def posterior(
    model: Model, column: str | None = None, by: str | None = None, *, over: Any = None, ax: Axes | None = None, **at: Any
) -> Axes:
    """A model's mean over one column, with a band of what it errs by about, one line for each level of `by` if that is
    a category; over two numeric columns as a map. Other columns stay at the value in `at`, or at their middle: the
    title says which. With `over`, a PUBLIC table of rows, they are averaged over its rows instead (partial
    dependence)."""
    import numpy as np

    column = column if column is not None else (model.contexts + model.actions)[0]
    for name in filter(None, (column, by, *at)):
        if name not in model.space:
            raise InvalidValue(f"the model has no column '{name}'")
    rest = [name for name in model.space if name not in (column, by)]
    fixed = {name: at.get(name, _middle(model, name)) for name in rest if over is None or name in at}
    flat = by is not None and not isinstance(model.space[by], Category)
    if flat and over is not None:
        raise InvalidValue("a map of two numeric columns holds the others at a value: leave `over` out")
    shown = model.space.only([column] if by is None else [column, by])
    values = _values(model, column, 31 if flat else 101)
    seconds = [None] if by is None else _values(model, by, 31)
    table = {column: [v for _ in seconds for v in values], **({} if by is None else {by: [w for w in seconds for _ in values]})}
    if over is None:
        said = model.predict({**table, **{name: [value] * len(table[column]) for name, value in fixed.items()}})
        means = list(zip(said.mean, np.broadcast_to(said.sd, len(said.mean))))
    else:
        each = [model._partial(column, values, over, fixed if by is None else {**fixed, by: w}) for w in seconds]
        means = [pair for mean, sd in each for pair in zip(mean, sd)]
    rows = [{"at": list(map(float, at_)), "mean": float(m), "sd": float(s)} for at_, (m, s) in zip(shown.records(table), means)]
    data = {"columns": json.loads(shown.to_json())["columns"], "x": 0, "by": None if by is None else 1, "points": rows,
            "minimize": model.minimize, "y": "predicted reward ± what the model errs by"}  # fmt: skip
    drawn = draw(figure("posterior", data), ax)
    held_at = ", ".join(f"{name} = {_short(value)}" for name, value in fixed.items())
    others = ", ".join(name for name in rest if name not in fixed)
    told = [f"at {held_at}" if held_at else "", f"averaged over {others} of {len(over)} rows" if others else ""]
    drawn.set_title("; ".join(filter(None, told)), fontsize="small", loc="left", wrap=True)
    return drawn


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _values(model: Model, name: str, count: int = 101) -> Any:
    import numpy as np

    column = model.space[name]
    if isinstance(column, Category):
        return list(column.levels)
    if column.kind == "date":
        days = np.arange(np.datetime64(column.low), np.datetime64(column.high) + 1)  # type: ignore[attr-defined]
        return days[:: max(1, len(days) // count)]
    low, high = float(column.low), float(column.high)  # type: ignore[attr-defined]
    values = np.geomspace(low, high, count) if isinstance(column, Log) else np.linspace(low, high, count)
    values = np.clip(values, low, high)
    return np.unique(np.round(values)) if column.kind == "integer" else values


def _middle(model: Model, name: str) -> Any:
    values = _values(model, name)
    return values[0] if isinstance(values, list) else values[len(values) // 2]


def budget(ledger: Ledger, *, ax: Axes | None = None) -> Axes:
    """What a ledger's entries charged, added up over time, against its budget."""
    return draw(figure("budget", {**ledger.account, "list": ledger.entries}), ax)


def privacy_utility(plan: Any, *, ax: Axes | None = None) -> Axes:
    """The regret of a simulated plan (`tacet.trusted.plan`) against eps, with random choices and no privacy beside it; bands are two standard errors."""
    return draw(figure("utility", plan.result), ax)


def winners(space: Space, chosen: Sequence[dict[str, Any]], *, ax: Axes | None = None) -> Axes:
    """The trajectory of a tuning run: where the winner of each round lies in each column, from its low end to its high
    end (on its own scale; levels in their order). Winners are released: the plot shows nothing else."""
    if len(chosen) == 0:
        raise StateError("there is no winner yet")
    records = space.records({name: [params[name] for params in chosen] for name in space})
    settings = [{"setting": dict(zip(space, map(float, record)))} for record in records]
    return draw(figure("winners", {"space": json.loads(space.to_json()), "winners": settings}), ax)


def choice(
    records: int, evaluations: int = 100, *, range: tuple[float, float] = (0.0, 1.0), ax: Axes | None = None
) -> Axes:
    """What eps buys in `tacet.trusted.tune`: how far below the best of so many settings the chosen one is at the most, on
    average, where eps is spent on one choice."""
    if records < 1 or evaluations < 1 or not range[0] < range[1]:
        raise InvalidValue("records and evaluations must be at least 1, and the range from low to high")
    return draw(figure("choice", {"records": records, "evaluations": evaluations, "range": list(range)}), ax)
