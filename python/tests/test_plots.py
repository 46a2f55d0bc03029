# SPDX-License-Identifier: Apache-2.0
"""Plots: drawn, labelled, and refused where there is nothing to draw. With TACET_PICTURES they are kept, to look at."""
from __future__ import annotations

import os
from pathlib import Path
from typing import Iterator

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.axes import Axes

import tacet
from tacet import plots, trusted

PLAN = {
    "problem": "made up", "advice": "Take 4.",
    "points": [
        {"eps": e, "mean": m, "se": 0.02, "gain": 0.4 - m, "gain_se": 0.02, "better_than_random": m < 0.3}
        for e, m in ((0.5, 0.38), (1, 0.3), (2, 0.15), (4, 0.06), (8, 0.04))
    ],
    "random": {"eps": None, "mean": 0.4, "se": 0.03, "gain": 0, "gain_se": 0, "better_than_random": False},
    "nonprivate": {"eps": None, "mean": 0.02, "se": 0.01, "gain": 0.38, "gain_se": 0.03, "better_than_random": True},
}  # fmt: skip


@pytest.fixture(autouse=True)
def pictures(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    folder = os.environ.get("TACET_PICTURES")
    for number in plt.get_fignums():
        if folder:
            plt.figure(number).savefig(Path(folder) / f"{request.node.name}-{number}.png", dpi=80)
    plt.close("all")


def texts(ax: Axes) -> str:
    legend = ax.get_legend()
    words = [ax.get_xlabel(), ax.get_ylabel(), *(t.get_text() for t in (legend.get_texts() if legend else []))]
    return "\n".join(words)


def test_progress_shows_the_best_so_far_and_chance() -> None:
    ax = plots.progress([0.2, 0.5, 0.3, 0.9, 0.4], chance=0.4)
    assert list(ax.lines[0].get_ydata()) == [0.2, 0.5, 0.5, 0.9, 0.9]
    assert "reached by chance" in texts(ax)
    down = plots.progress([3, 1, 2], minimize=True)
    assert list(down.lines[0].get_ydata()) == [3, 1, 1] and "less is better" in texts(down)
    with pytest.raises(tacet.StateError):
        plots.progress([])


def test_a_posterior_over_one_and_two_columns(log: pd.DataFrame, tmp_path: Path) -> None:
    space = tacet.Space(variant=tacet.Category("A", "B"), age=tacet.Real(18, 90))
    model = trusted.learn(log, space=space, action="variant", reward="bought", eps=4)
    ax = model.plot("age", by="variant")
    assert len(ax.lines) == 2 and "predicted reward" in texts(ax)
    at = model.plot("variant", age=88)
    assert at.get_title(loc="left") == "at age = 88"
    assert model.plot("age").get_title(loc="left") == "at variant = A"
    people = pd.DataFrame({"age": [20.0, 40.0, 60.0]})
    assert "averaged over age of 3 rows" in model.plot("variant", over=people).get_title(loc="left")
    partial = model.partial("variant", people)
    said = model.predict({"variant": ["B"] * 3, "age": people.age})
    each = [said.mean.mean(), partial.iloc[1, 2]]
    assert 0 < each[1] < 0.1
    assert partial.iloc[1].tolist() == ["B", pytest.approx(each[0]), pytest.approx(each[1])]
    for wrong in ({"over": {"sex": ["F"]}}, {"over": people[:0]}):
        with pytest.raises(tacet.InvalidValue):
            model.partial("variant", **wrong)
    with pytest.raises(tacet.InvalidValue):
        model.plot("height")
    study = trusted.Study.create(
        tmp_path / "s", name="map", space=tacet.Space(x=tacet.Real(0, 1), y=tacet.Real(0, 10)), eps=20, delta=1e-5,
        candidates=36, rounds=600,
    )  # fmt: skip
    for _ in range(300):
        s = study.suggest()
        s.observe(max(0.0, 1 - abs(s.params["x"] - 0.7) - abs(s.params["y"] - 4) / 10))
    model = study.release().model
    assert model is not None
    two = model.plot("x", by="y")
    assert (two.get_xlabel(), two.get_ylabel()) == ("x", "y")
    study.plot()


def test_a_budget_over_time(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    book = tmp_path / "l.db"
    for number, eps in enumerate((1.0, 2.0)):
        release = trusted.curate(
            patients, space=space, eps=eps, values_unprotected=True, ledger=book, out=tmp_path / f"r{number}", ticket=f"t{number}", budget_eps=4
        )
    with trusted.Desk(release, ledger=book) as desk:
        desk.ask("q", 1, evaluate=lambda row: 0.5)
    ax = tacet.Ledger(book).plot()
    assert list(ax.lines[0].get_ydata()) == pytest.approx([0, 1, 3, 3])  # and goes on at 3
    assert "budget: eps 4" in texts(ax) and "without protection" in texts(ax)


def test_privacy_against_utility() -> None:
    plan = trusted.SimulatedPlan(PLAN)
    ax = plan.plot()
    assert "random" in texts(ax) and ax.get_xscale() == "log"
    assert "Take 4." in str(plan) and "<table>" in plan._repr_html_()


def test_what_eps_buys() -> None:
    ax = plots.choice(records=1000, evaluations=100)
    eps, loss = ax.lines[0].get_data()
    assert eps[20] == pytest.approx(1) and loss[20] == pytest.approx(2 / 1000 * 4.60517, rel=1e-4) and loss[0] > loss[-1]
    with pytest.raises(tacet.InvalidValue):
        plots.choice(records=0)
