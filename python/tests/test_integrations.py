# SPDX-License-Identifier: Apache-2.0
"""Optuna and scikit-learn, with the real packages."""
from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import optuna
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import tacet
from tacet import trusted
from tacet.integrations.optuna import TacetSampler
from tacet.trusted.estimator import ContextualEstimator

optuna.logging.set_verbosity(optuna.logging.WARNING)
TUNING = tacet.Space(
    rate=tacet.Log(1e-4, 1.0), layers=tacet.Integer(1, 4), kind=tacet.Category("adam", "sgd"), drop=tacet.Real(0, 0.5)
)


def objective(trial: optuna.Trial) -> float:
    trial.suggest_float("rate", 1e-4, 1.0, log=True)
    layers = trial.suggest_int("layers", 1, 4)
    kind = trial.suggest_categorical("kind", ["adam", "sgd"])
    trial.suggest_float("drop", 0, 0.5)
    if trial.number == 3:
        raise optuna.TrialPruned
    return 0.2 * layers * (kind == "adam")


@pytest.fixture
def tuning(tmp_path: Path) -> trusted.Study:
    return trusted.Study.create(
        tmp_path / "studies", name="tuning", space=TUNING, eps=8, delta=1e-5, candidates=64, rounds=200
    )


def test_an_optuna_study_gets_private_suggestions_by_one_line(tuning: trusted.Study) -> None:
    study = optuna.create_study(sampler=TacetSampler(tuning), direction="maximize")
    with pytest.warns(UserWarning, match="keeps the raw value"):
        study.optimize(objective, n_trials=12)
    assert len(study.trials) == 12
    assert [trial.state for trial in tuning.trials] == ["observed"] * 3 + ["failed"] + ["observed"] * 8
    assert [trial.params for trial in study.trials] == [trial.params for trial in tuning.trials]
    assert study.best_value == max(trial.value for trial in tuning.trials if trial.value is not None)


def test_optuna_in_four_threads_to_the_end(tmp_path: Path) -> None:
    private = trusted.Study.create(
        tmp_path / "studies", name="four", space=tacet.Space(x=tacet.Real(0, 1)), eps=8, delta=1e-5, candidates=9, rounds=100
    )
    study = optuna.create_study(sampler=TacetSampler(private), direction="maximize")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(lambda trial: 1 - abs(trial.suggest_float("x", 0, 1) - 0.7), n_trials=100, n_jobs=4)
        assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 100
        with pytest.raises(tacet.StateError, match="are over"):
            study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=1)
    assert private.status()["observed"] == 100 and private.release().point is not None


def test_a_narrower_range_is_refused_in_words_that_are_true(tmp_path: Path) -> None:
    private = trusted.Study.create(
        tmp_path / "studies", name="narrow", space=tacet.Space(x=tacet.Real(0, 1)), eps=8, delta=1e-5, candidates=9, rounds=100
    )
    study = optuna.create_study(sampler=TacetSampler(private), direction="maximize")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(tacet.InvalidValue, match="chooses from its whole space, Real.*low=0.0, high=1.0"):
            study.optimize(lambda trial: trial.suggest_float("x", 0.41, 0.42), n_trials=20)


def test_shared_storage_is_refused_unless_told(tuning: trusted.Study, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/optuna.db"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=TacetSampler(tuning), direction="maximize", storage=url)
        with pytest.raises(tacet.Denied, match="shared_storage"):
            study.optimize(objective, n_trials=1)
        assert tuning.status()["suggested"] == 0
        allowed = TacetSampler(tuning, shared_storage=True)
        study = optuna.create_study(sampler=allowed, direction="maximize", storage=url)
        study.optimize(objective, n_trials=2)
    assert tuning.status()["observed"] == 2


def test_what_does_not_fit_is_named(tuning: trusted.Study, store: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = optuna.create_study(sampler=TacetSampler(tuning), direction="maximize")
        with pytest.raises(tacet.InvalidValue, match="'depth'"):
            other.optimize(lambda trial: trial.suggest_float("depth", 0, 1), n_trials=1)
        backwards = optuna.create_study(sampler=TacetSampler(tuning), direction="minimize")
        with pytest.raises(tacet.InvalidValue, match="direction"):
            backwards.optimize(objective, n_trials=1)
    with trusted.Study(store, "dose") as dose, pytest.raises(tacet.Unsupported):
        TacetSampler(dose)


def test_an_estimator_fits_once_and_recommends(log: pd.DataFrame) -> None:
    space = tacet.Space(variant=tacet.Category("A", "B"), age=tacet.Real(18, 90))
    estimator = ContextualEstimator(space, action="variant", eps=4)
    with pytest.raises(NotFittedError):
        estimator.predict(log)
    fresh = clone(estimator)
    assert fresh.get_params()["eps"] == 4
    X, y = log.drop(columns="bought"), log["bought"]
    fresh.fit(X, y)
    assert list(fresh.recommend(pd.DataFrame({"age": [20.0, 88.0]})).variant) == ["A", "B"]
    assert fresh.predict(X).shape == (6000,)
    assert fresh.score(X, y) > 0
    with pytest.raises(tacet.BudgetExceeded):
        clone(estimator).set_params(ticket="second").fit(X, y)


def test_folds_are_refused_at_once_and_nothing_is_charged(log: pd.DataFrame, tmp_path: Path) -> None:
    space = tacet.Space(variant=tacet.Category("A", "B"), age=tacet.Real(18, 90))
    book = tmp_path / "l.db"
    estimator = ContextualEstimator(space, action="variant", eps=4, ledger=book)
    X, y = log.drop(columns="bought"), log["bought"].astype(float)
    for validate in (lambda: cross_val_score(estimator, X, y), lambda: GridSearchCV(estimator, {"eps": [1, 2]}).fit(X, y)):
        with warnings.catch_warnings(), pytest.raises(ValueError, match="cross-validation and grid search are refused"):
            warnings.simplefilter("ignore")
            validate()
    assert not book.exists()
    rows = np.column_stack([(log.variant == "B").astype(float), log.age])
    plain = clone(estimator).fit(rows, y)  # an array, in the order of the space
    assert plain.predict(rows).shape == (6000,) and plain.model_.best(age=88) == {"variant": "B"}
    for wrong in (rows[:, :1], rows + 7):
        with pytest.raises(tacet.InvalidValue):
            clone(estimator).set_params(ticket="other").fit(wrong, y)
