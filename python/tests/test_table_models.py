# SPDX-License-Identifier: Apache-2.0
"""Logs of categories: one table is released, and says which rule to follow and what it earns."""
from __future__ import annotations

import json
import pickle
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted

SHOP = tacet.Space(variant=tacet.Category("A", "B"), kind=tacet.Category("new", "old"), day=tacet.Category("work", "free"))
CHANCE = {("A", "new"): 0.30, ("A", "old"): 0.10, ("B", "new"): 0.15, ("B", "old"): 0.25}


def month(seed: int, rows: int = 5000) -> pd.DataFrame:
    """People who do not exist: A sells to the new, B to the old, whatever the day."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "variant": rng.choice(["A", "B"], rows),
            "kind": rng.choice(["new", "old"], rows),
            "day": rng.choice(["work", "free"], rows),
        }
    )
    chance = [CHANCE[variant, kind] for variant, kind in zip(frame.variant, frame.kind)]
    return frame.assign(bought=(rng.random(rows) < chance).astype(float), who=rng.integers(0, rows // 3, rows))


def learn(frame: pd.DataFrame, **more: object) -> tacet.TableModel:
    with pytest.warns(UserWarning, match="too few distinct rows"):
        model = trusted.learn(frame, space=SHOP, action="variant", reward="bought", eps=2, **more)  # type: ignore[arg-type]
    assert isinstance(model, tacet.TableModel)
    return model


def test_the_rule_its_values_and_its_gains(tmp_path: Path) -> None:
    model = learn(month(1, 20000), out=tmp_path / "model.json")
    assert model.best(kind="new", day="free") == {"variant": "A"}
    assert model.best(kind="old", day="work") == {"variant": "B"}
    assert len(model.rule) == 4
    for row in model.rule:
        assert row["variant"] == ("A" if row["kind"] == "new" else "B")
        assert abs(row["mean"] - CHANCE[row["variant"], row["kind"]]) < 0.05 and 0 < row["sd"] < 0.05
    # True: the rule earns .275, either action alone .2, and so does the log. The noise is private, so never the same;
    # three times the interval (six standard deviations) is missed less than once in 10^6 runs.
    for value, true in ((model.recommended, 0.275), (model.logged, 0.2), (model.over_single, 0.075), (model.over_uniform, 0.075)):
        assert value.lower < value.estimate < value.upper < value.lower + 0.04
        assert abs(value.estimate - true) < 1.5 * (value.upper - value.lower)
    assert model.over_single.lower > 0 and not model.rule_is_single
    assert model.private and model.eps == 2 and model.delta == 0 and model.records == 20000 and model.person is None
    frame = model.to_frame()
    assert list(frame.columns) == ["estimate", "lower", "upper"] and len(frame) == 7
    assert tuple(frame.loc["the rule over the log"]) == tuple(model.over_logged)
    assert "the rule over even play" in repr(model) and "eps = 2" in model._repr_html_()
    again = tacet.load_model(tmp_path / "model.json")
    assert isinstance(again, tacet.TableModel) and again.rule == model.rule and again.over_single == model.over_single
    assert pickle.loads(pickle.dumps(again)).single_action == model.single_action
    assert model.candidates() == [{"variant": "A"}, {"variant": "B"}]
    assert len(model.plot("kind", by="variant").containers) == 2


def test_predictions_agree_with_the_command(tmp_path: Path) -> None:
    model = learn(month(2), out=tmp_path / "model.json")
    contexts = pd.DataFrame({"kind": ["new", "old", "new"], "day": ["free", "work", "work"]})
    said = model.predict(contexts)
    assert said.best is not None and list(said.to_frame().columns) == ["variant", "mean", "sd"]
    known = model.predict(contexts.assign(variant=[action["variant"] for action in said.best]))
    assert np.array_equal(known.mean, said.mean) and np.array_equal(known.sd, said.sd)
    command = [str(Path(tacet.__file__).resolve().parents[2] / "bin" / "tacet"), "predict", "--model", str(tmp_path / "model.json"), "--context", "old,work", "--json"]
    told = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert told["action"] == [said.best[1]["variant"]]
    assert told["mean"] == pytest.approx(float(said.mean[1])) and told["sd"] == pytest.approx(float(said.sd[1]))  # type: ignore[index]
    for rows in ({"kind": ["none"], "day": ["work"]}, {"kind": [None], "day": ["work"]}):
        with pytest.raises(tacet.InvalidValue, match="row 0 .*column 'kind'"):
            model.predict(rows)


def test_without_numpy_and_without_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = learn(month(8), out=tmp_path / "model.json")
    assert len(model.predict(pd.DataFrame({"kind": [], "day": []}, dtype=object))) == 0
    monkeypatch.setattr("tacet._table.numpy", lambda: None)
    again = tacet.load_model(tmp_path / "model.json")
    assert isinstance(again, tacet.TableModel) and again.rule == model.rule
    said = again.predict({"kind": ["new", "old"], "day": ["work", "free"]})
    assert said.best == [model.best(kind="new", day="work"), model.best(kind="old", day="free")]


def test_two_months_are_two_tables_and_one_month_is_one(tmp_path: Path) -> None:
    learn(month(3))
    learn(month(4))
    learn(month(5, 30000))
    with pytest.raises(tacet.BudgetExceeded):  # the same rows find their ledger
        trusted.learn(month(3), space=SHOP, action="variant", reward="bought", eps=2, ticket="more")
    with pytest.raises(tacet.BudgetExceeded, match="released before"):
        trusted.learn(month(3), space=SHOP, action="variant", reward="bought", eps=2, ledger=tmp_path / "other.db")


def test_a_reward_that_is_no_number_is_named() -> None:
    frame = month(6)
    with pytest.raises(tacet.InvalidValue, match="row 0 .*'bought' is missing"):
        learn_quietly(frame.assign(bought=frame.bought.where(frame.index != 0, float("nan"))))


def learn_quietly(frame: pd.DataFrame, **more: object) -> tacet.Model:
    return trusted.learn(frame, space=SHOP, action="variant", reward="bought", eps=2, **more)  # type: ignore[arg-type]


def test_a_person_is_charged_for_all_rows(tmp_path: Path) -> None:
    frame = month(7)
    model = learn(frame, person="who", rows_per_person=2, ledger=tmp_path / "l.db")
    assert model.person == (2, 4.0, 0.0) and model.eps == 2
    assert model.records == len(frame.groupby("who").head(2)) < len(frame)
    assert tacet.Ledger(tmp_path / "l.db").eps == pytest.approx(4)
    assert "at most 2 rows" in repr(model)


def test_what_is_missing_or_misplaced_is_named(tmp_path):
    log = {"kind": ["a", "b", "a", None], "day": [1.0, None, 3.0, 4.0], "y": [1, 0, None, 1]}
    space = tacet.Space(kind=tacet.Category("a", "b"), day=tacet.Real(0, 9))
    asked = dict(space=space, action="kind", reward="y", eps=1, ledger=tmp_path / "l.db")
    with pytest.raises(tacet.InvalidValue, match="row 2 .*'y' is missing; row 3 .*'kind' is missing$"):
        trusted.learn(log, **asked)  # a missing context counts as the middle
    with pytest.raises(tacet.InvalidValue, match="a tacet.Space"):
        trusted.learn(log, **{**asked, "space": dict(space)})
    whole = {"kind": list("abab"), "day": [1, 2, 3, 4], "y": [1, 0, 1, 1]}
    with pytest.raises(tacet.InvalidValue, match="'day' is the reward"):
        trusted.learn(whole, **{**asked, "reward": "day", "reward_range": (0, 9)})
    model = trusted.learn(whole, **asked)
    for wrong in ({}, {"dya": 1}, {"day": 1, "kind": "a"}):
        with pytest.raises(tacet.InvalidValue, match="by name: day"):
            model.best(**wrong)
    with pytest.raises(tacet.InvalidValue, match="'day' is missing"):
        model.best(day=None)
    with pytest.raises(tacet.Conflict):
        trusted.learn(whole, **{**asked, "space": tacet.Space(kind=tacet.Category("b", "a"), day=tacet.Real(0, 9))})
