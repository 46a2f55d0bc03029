# SPDX-License-Identifier: Apache-2.0
"""Learning from a log, models, prediction, and the estimator."""
from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted

SHOP = tacet.Space(variant=tacet.Category("A", "B"), age=tacet.Real(18, 90))


@pytest.fixture
def model(log: pd.DataFrame) -> tacet.Model:
    return trusted.learn(log, space=SHOP, action="variant", reward="bought", eps=4)


def test_a_model_finds_who_wants_what(model: tacet.Model, tmp_path: Path) -> None:
    assert model.best(age=20) == {"variant": "A"}
    assert model.best(age=88) == {"variant": "B"}
    assert model.private and model.eps == pytest.approx(4) and model.records == 6000
    found = model.predict(pd.DataFrame({"age": [20.0, 88.0]}))
    assert found.best == [{"variant": "A"}, {"variant": "B"}]
    assert list(found.to_frame().columns) == ["variant", "mean", "sd"]
    model.save(tmp_path / "model.json")
    again = tacet.load_model(tmp_path / "model.json")
    rows = pd.DataFrame({"age": [30.0, 60.0, 88.0], "variant": ["A", "B", "B"]})
    means = again.predict(rows).mean
    assert np.array_equal(means, model.predict(rows).mean)
    assert np.array_equal(means, again.predict(np.array([[0, 30.0], [1, 60.0], [1, 88.0]])).mean)
    assert abs(means[2] - 70 / 90) < 0.25
    assert "eps = 4" in again._repr_html_()
    assert len(pickle.loads(pickle.dumps(again)).predict({"age": 30})) == 1


def test_what_a_model_does_not_know_is_named(model: tacet.Model) -> None:
    for rows, words in (
        ({"variant": ["A"]}, "no column 'age'"),
        ({"age": [30.0], "variant": ["C"]}, "'variant' is none of its levels"),
        ({"age": [300.0], "variant": ["A"]}, "row 0 .*column 'age'"),
        ({"age": [float("nan")]}, "column 'age'"),
        ({"age": ["old"]}, "'age' must be numbers|not a number"),
    ):
        with pytest.raises(tacet.InvalidValue, match=words):
            model.predict(rows)


def test_a_closed_model_says_so(model: tacet.Model) -> None:
    model.close()
    model.close()
    with pytest.raises(tacet.StateError, match="closed"):
        model.predict({"age": 30})


def test_files_that_are_no_model(tmp_path: Path) -> None:
    with pytest.raises(tacet.NotFound):
        tacet.load_model(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(tacet.ParseError):
        tacet.load_model(tmp_path / "bad.json")


def test_learning_refuses_by_public_facts(log: pd.DataFrame, tmp_path: Path) -> None:
    def learn(frame: pd.DataFrame, **more: object) -> tacet.Model:
        return trusted.learn(
            frame, space=SHOP, action="variant", reward="bought", eps=1, ledger=tmp_path / "l.db", **more  # type: ignore[arg-type]
        )

    with pytest.raises(tacet.InvalidValue, match="no column 'bought'"):
        learn(log.drop(columns="bought"))
    with pytest.raises(tacet.InvalidValue, match="must be numbers"):
        learn(log.assign(bought="yes"))
    with pytest.raises(tacet.StateError):  # no rows to learn from
        learn(log[:0])
    assert not (tmp_path / "l.db").exists()


def test_the_same_log_has_one_budget(log: pd.DataFrame) -> None:
    trusted.learn(log, space=SHOP, action="variant", reward="bought", eps=1)
    with pytest.raises(tacet.BudgetExceeded):
        trusted.learn(log, space=SHOP, action="variant", reward="bought", eps=1, ticket="more")


def test_many_rows_of_texts_are_read_alike_and_a_bad_one_is_named(model: tacet.Model) -> None:
    frame = pd.DataFrame({"variant": ["A", "B"] * 3000, "age": np.linspace(18, 90, 6000)})
    some = model.predict(frame[:10]).mean
    assert np.array_equal(model.predict(frame).mean[:10], some)
    frame.loc[4321, "variant"] = "C"
    with pytest.raises(tacet.InvalidValue, match="row 4321 "):
        model.predict(frame)
