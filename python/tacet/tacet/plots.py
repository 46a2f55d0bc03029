# SPDX-License-Identifier: Apache-2.0
"""Plots, by matplotlib: progress beside what chance reaches, what a model says, a budget, privacy against utility.

Every function draws on `ax`, or on a new figure, and returns the axes.
"""
from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Sequence

from tacet.errors import InvalidValue, StateError
from tacet.space import Category, Date, Log

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tacet.ledger import Ledger
    from tacet.model import Model
    from tacet.space import Space

_INK, _SOFT = "#1f4e79", "#9aa5b1"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    _, made = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
    return made


def progress(
    values: Sequence[float],
    *,
    minimize: bool = False,
    chance: float | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Measured values and the best so far. `chance` is what the best of as many random choices reaches with a
    probability of 95 %."""
    import numpy as np

    if len(values) == 0:
        raise StateError("nothing was measured yet")
    ax = _axes(ax)
    measured = np.asarray(values, dtype=float)
    best = np.minimum.accumulate(measured) if minimize else np.maximum.accumulate(measured)
    number = np.arange(1, len(measured) + 1)
    if chance is not None:
        ax.axhline(chance, color=_SOFT, linewidth=1, linestyle="--", label="reached by as many random choices (95 %)")
    ax.plot(number, measured, "o", color=_SOFT, markersize=4, label="measured")
    ax.step(number, best, where="post", color=_INK, linewidth=2, label="best so far")
    ax.set_xlabel("question")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylabel("value (less is better)" if minimize else "value")
    ax.legend(frameon=False, fontsize="small")
    return ax


def posterior(
    model: Model, column: str | None = None, by: str | None = None, *, over: Any = None, ax: Axes | None = None, **at: Any
) -> Axes:
    """A model's mean over one column, with a band of what it errs by about, one line for each level of `by` if that is
    a category; over two numeric columns as a map. Other columns stay at the value in `at`, or at their middle: the
    title says which. With `over`, a PUBLIC table of rows, they are averaged over its rows instead (partial
    dependence)."""
    column = column if column is not None else (model.contexts + model.actions)[0]
    for name in filter(None, (column, by, *at)):
        if name not in model.space:
            raise InvalidValue(f"the model has no column '{name}'")
    ax = _axes(ax)
    rest = [name for name in model.space if name not in (column, by)]
    fixed = {name: at.get(name, _middle(model, name)) for name in rest if over is None or name in at}
    if by is not None and not isinstance(model.space[by], Category):
        if over is not None:
            raise InvalidValue("a map of two numeric columns holds the others at a value: leave `over` out")
        drawn = _map(model, column, by, fixed, ax)
    else:
        drawn = _lines(model, column, by, over, fixed, ax)
    held = ", ".join(f"{name} = {_short(value)}" for name, value in fixed.items())
    others = ", ".join(name for name in rest if name not in fixed)
    told = [f"at {held}" if held else "", f"averaged over {others} of {len(over)} rows" if others else ""]
    drawn.set_title("; ".join(filter(None, told)), fontsize="small", loc="left", wrap=True)
    return drawn


def _lines(model: Model, column: str, by: str | None, over: Any, fixed: dict[str, Any], ax: Axes) -> Axes:
    lines = model.space[by].levels if by is not None else (None,)  # type: ignore[attr-defined]
    for number, level in enumerate(lines):
        values = _values(model, column)
        at = fixed if by is None else {**fixed, by: level}
        mean, sd = model._partial(column, values, over, at)
        color = _INK if by is None else f"C{number}"
        if isinstance(model.space[column], Category):
            spread = (number - (len(lines) - 1) / 2) * 0.12
            ax.errorbar(
                [i + spread for i in range(len(values))], mean, yerr=sd, fmt="o", color=color, label=level, capsize=3
            )
            ax.set_xticks(range(len(values)), values)
        else:
            ax.plot(values, mean, color=color, linewidth=2, label=level)
            ax.fill_between(values, mean - sd, mean + sd, color=color, alpha=0.15, linewidth=0)
    ax.set_xlabel(column)
    ax.set_ylabel("predicted reward ± what the model errs by")
    if by is not None:
        ax.legend(title=by, frameon=False, fontsize="small")
    return ax


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _map(model: Model, column: str, by: str, fixed: dict[str, Any], ax: Axes) -> Axes:
    import numpy as np

    x, y = _values(model, column, 60), _values(model, by, 60)
    grid_x, grid_y = np.meshgrid(x, y)
    count = grid_x.size
    rows: dict[str, Any] = {name: [value] * count for name, value in fixed.items()}
    rows.update({column: grid_x.ravel(), by: grid_y.ravel()})
    mean = model.predict(rows).mean.reshape(grid_x.shape)
    drawn = ax.contourf(grid_x, grid_y, mean, levels=14, cmap="viridis")
    ax.figure.colorbar(drawn, ax=ax, label=f"predicted reward (± {model.sd:.2g})")
    ax.set_xlabel(column)
    ax.set_ylabel(by)
    return ax


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
    ax = _axes(ax)
    unit = ledger.account["unit"]
    cap, accounting = float(ledger.account["cap"]), ledger.account["accounting"]
    total, groups = 0.0, dict[str, float]()
    times, spent, uncovered = list[datetime](), list[float](), list[datetime]()
    for entry in ledger.entries:
        when = datetime.fromtimestamp(entry["time"], timezone.utc)
        if entry["claim"] == "uncovered" or entry[unit] is None:
            uncovered.append(when)
            continue
        cost = float(entry[unit]) ** 2 if accounting == "gaussian" else float(entry[unit])
        group = entry["group"] if entry["group"] is not None else f"#{entry['seq']}"
        total += max(0.0, cost - groups.get(group, 0.0))  # the parts of a group are of different records
        groups[group] = max(cost, groups.get(group, 0.0))
        times.append(when)
        spent.append(total**0.5 if accounting == "gaussian" else total)
    every = [*times, *uncovered]
    tight = bool(every) and max(every) - min(every) < timedelta(minutes=1)
    if tight:
        ax.set_xlim(min(every) - timedelta(seconds=30), max(every) + timedelta(seconds=30))
    if times:
        until = max(every) + timedelta(seconds=30) if tight else max(every)
        ax.step([times[0], *times], [0.0, *spent], where="post", color=_INK, linewidth=2, label="spent")
        ax.hlines(spent[-1], times[-1], until, color=_INK, linewidth=2)
        ax.plot(times, spent, "o", color=_INK, markersize=4)
    for number, when in enumerate(uncovered):
        ax.axvline(when, color=_SOFT, linewidth=0.5, label="uncovered disclosures" if number == 0 else None)
    ax.axhline(cap, color="#b03a2e", linestyle="--", linewidth=1.5, label=f"budget: eps {ledger.budget_eps:g}")
    ax.set_ylim(0, cap * 1.15)
    ax.set_ylabel(f"{unit}, {accounting} accounting")
    ax.set_xlabel("time (UTC)")
    ax.tick_params(axis="x", rotation=20)
    ax.legend(frameon=False, fontsize="small", loc="lower right")
    return ax


def privacy_utility(plan: Any, *, ax: Axes | None = None) -> Axes:
    """The regret of a simulated plan (`tacet.trusted.plan`) against eps, with random choices and no privacy beside it; bands are two standard errors."""
    import numpy as np

    ax = _axes(ax)
    eps = np.array([point["eps"] for point in plan.points])
    mean = np.array([point["mean"] for point in plan.points])
    se = np.array([point["se"] for point in plan.points])
    for name, key, color in (("random", "random", "#b03a2e"), ("without privacy", "nonprivate", "#2e7d32")):
        at = plan.result[key]
        ax.axhspan(max(0.0, at["mean"] - 2 * at["se"]), at["mean"] + 2 * at["se"], color=color, alpha=0.1, linewidth=0)
        ax.axhline(at["mean"], color=color, linewidth=1.5, linestyle="--", label=name)
    ax.plot(eps, mean, "o-", color=_INK, linewidth=2, label="private")
    ax.fill_between(eps, np.maximum(0, mean - 2 * se), mean + 2 * se, color=_INK, alpha=0.15, linewidth=0)
    ax.set_xscale("log")
    ax.set_xticks(eps, [f"{value:g}" for value in eps])
    ax.minorticks_off()
    ax.set_xlabel("eps")
    ax.set_ylabel("regret")
    ax.set_ylim(bottom=0)
    ax.legend(frameon=False, fontsize="small")
    return ax


def winners(space: Space, chosen: Sequence[dict[str, Any]], *, ax: Axes | None = None) -> Axes:
    """The trajectory of a tuning run: where the winner of each round lies in each column, from its low end to its high
    end (on its own scale; levels in their order). Winners are released: the plot shows nothing else."""
    import numpy as np

    if len(chosen) == 0:
        raise StateError("there is no winner yet")
    ax = _axes(ax)
    records = space.records({name: [params[name] for params in chosen] for name in space})
    number = np.arange(1, len(chosen) + 1)
    for j, (name, column) in enumerate(space.items()):
        low, high = (0.0, float(len(column.levels) - 1)) if isinstance(column, Category) else _ends(column)
        place = records[:, j]
        if isinstance(column, Log):
            place, low, high = np.log(place), float(np.log(low)), float(np.log(high))
        ax.plot(number, (place - low) / max(high - low, 1e-300), "o-", markersize=4, label=name)
    ax.set_xlabel("round")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_ylabel("place of the winner in its column")
    ax.set_ylim(-0.05, 1.05)
    ax.legend(frameon=False, fontsize="small")
    return ax


def choice(
    records: int, evaluations: int = 100, *, range: tuple[float, float] = (0.0, 1.0), ax: Axes | None = None
) -> Axes:
    """What eps buys in `tacet.trusted.tune`: how far below the best of so many settings the chosen one is at the most, on
    average, where eps is spent on one choice (permute-and-flip: 2 length/(records eps) ln evaluations)."""
    import numpy as np

    if records < 1 or evaluations < 1 or not range[0] < range[1]:
        raise InvalidValue("records and evaluations must be at least 1, and the range from low to high")
    ax = _axes(ax)
    eps, length = np.geomspace(0.1, 10, 41), range[1] - range[0]
    ax.plot(eps, np.minimum(2 * length / (records * eps) * np.log(evaluations), length), color=_INK, linewidth=2)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("eps")
    ax.set_ylabel(f"below the best of {evaluations} settings, at the most")
    return ax


def _ends(column: Any) -> tuple[float, float]:
    """Bounds as numbers; days of dates."""
    import numpy as np

    if isinstance(column, Date):
        return tuple(float(np.datetime64(end, "D").astype(int)) for end in (column.low, column.high))  # type: ignore[return-value]
    return float(column.low), float(column.high)
