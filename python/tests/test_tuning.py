# SPDX-License-Identifier: Apache-2.0
"""Tuning: one value a record in, winners out; killed and resumed; what is refused, in words."""
from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.svm import SVC

import tacet
from tacet import trusted
from tacet.trusted.search import TacetSearch
from tacet.trusted.tuning import Params, TuneStudy

N = 1000
SPACE = tacet.Space(x=tacet.Real(0, 1), rate=tacet.Log(1e-3, 1), kind=tacet.Category("a", "b", "c"))
ORDER = np.random.default_rng(0).permutation(N)


def mean(params: Params) -> float:
    off = (params["x"] - 0.7) ** 2 + (np.log10(params["rate"] / 0.03) / 3) ** 2
    return float(0.9 - min(0.5, off) - (0 if params["kind"] == "b" else 0.2))


def score(params: Params) -> Any:
    return (ORDER + 0.5) / N < mean(params)


def test_it_finds_a_good_setting_and_says_how_good(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    tuned = trusted.tune(
        score, SPACE, records=N, eps=1, evaluations=60, ledger=tmp_path / "l", workers=3,
        progress=lambda told, planned: seen.append((told, planned)),
    )  # fmt: skip
    assert mean(tuned.params) > 0.75 and tuned.params["kind"] == "b" and tuned.private
    assert tuned.score is not None and tuned.score.lower <= mean(tuned.params) <= tuned.score.upper
    assert tuned.score.records == 200 and tuned.winners[-1] == tuned.params and len(tuned.winners) == 3
    assert seen[-1] == (60, 60)
    assert tacet.Ledger(tmp_path / "l").eps == pytest.approx(1, abs=1e-9)
    assert len(tuned.plot().get_lines()) == 3
    with pytest.raises(tacet.BudgetExceeded):
        trusted.tune(score, SPACE, records=N, eps=1, evaluations=60, ledger=tmp_path / "l", ticket="again")


def test_killed_and_resumed_it_is_one_run(tmp_path: Path) -> None:
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(f"""
        import os, sys
        import numpy as np
        import tacet
        from tacet import trusted
        space = tacet.Space(x=tacet.Real(0, 1))
        left = int(sys.argv[1])
        def score(params):
            global left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), 9)
            open("evaluated", "a").write(f"{{params['x']!r}}\\n")
            return np.linspace(0, 1, {N}) < 1 - (params["x"] - 0.6) ** 2
        tuned = trusted.tune(score, space, records={N}, evaluations=30, state="state")
        print(tuned.params, tuned.winners, tuned.score)
    """))  # fmt: skip

    def run(most: int) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, str(script), str(most)], cwd=tmp_path, capture_output=True, text=True)

    for _ in range(3):
        assert run(9).returncode == -9
    done = run(1000)
    assert done.returncode == 0, done.stderr
    assert run(1000).stdout == done.stdout
    evaluated = (tmp_path / "evaluated").read_text().split()
    assert len(evaluated) == len(set(evaluated)) == 30
    ledger = tacet.Ledger(tmp_path / "tune.ledger.db")
    assert ledger.eps == pytest.approx(1, abs=1e-9) and len(ledger.entries) == 4


def test_a_mean_and_other_wrong_scores_are_refused(tmp_path: Path) -> None:
    common: dict[str, Any] = {"records": 100, "evaluations": 4, "ledger": tmp_path / "l"}
    for wrong in (0.8, np.zeros(99), np.zeros((100, 2)), ["a"] * 100):
        with pytest.raises(tacet.InvalidValue, match="one value for each|numbers"):
            trusted.tune(lambda params: wrong, SPACE, **common)
    with pytest.raises(ZeroDivisionError):  # what a record may cause stops the run
        trusted.tune(lambda params: 1 / 0, SPACE, **common)
    assert tacet.Ledger(tmp_path / "l").entries == []
    with pytest.raises(tacet.InvalidValue):
        trusted.tune(score, SPACE, records=N, eps=-1, ledger=tmp_path / "l")


def test_a_failed_setting_is_the_worst(tmp_path: Path) -> None:
    def values(params: Params) -> Any:
        if params["kind"] != "b":
            raise trusted.SettingFailed("no such model")
        return np.where(np.arange(200) % 50 == 0, np.nan, 0.9)

    tuned = trusted.tune(values, SPACE, records=200, eps=5, evaluations=20, ledger=tmp_path / "l")
    assert tuned.params["kind"] == "b"


def test_contrasts_of_losses(tmp_path: Path) -> None:
    space = tacet.Space(x=tacet.Real(0, 1))
    base = np.random.default_rng(1).uniform(0, 200, N)
    tuned = trusted.tune(
        lambda params: base + 100 * (params["x"] - 0.3) ** 2, space, records=N, range=(0, 320), minimize=True, contrast=32,
        reference={"x": 0.9}, evaluations=40, ledger=tmp_path / "l",
    )  # fmt: skip
    # Within .2 all contrasts are clipped alike; at .3 the mean is 5 lower, where the last choice has e^-4 a unit: a
    # false alarm has a chance below 1e-6.
    assert abs(tuned.params["x"] - 0.3) < 0.3
    assert tuned.score is not None and tuned.score.lower < 100 < tuned.score.upper + 20


def test_in_the_shape_of_optuna(tmp_path: Path) -> None:
    from optuna.distributions import CategoricalDistribution, FloatDistribution

    study = TuneStudy(
        {"x": FloatDistribution(0, 1), "rate": FloatDistribution(1e-3, 1, log=True),
         "kind": CategoricalDistribution(["a", "b", "c"])}, records=N, ledger=tmp_path / "l",
    )  # fmt: skip

    def objective(trial: Any) -> Any:
        return score({
            "x": trial.suggest_float("x", 0, 1), "rate": trial.suggest_float("rate", 1e-3, 1, log=True),
            "kind": trial.suggest_categorical("kind", ["a", "b", "c"]),
        })  # fmt: skip

    with pytest.raises(tacet.StateError):
        study.best_params
    study.optimize(objective, n_trials=40, n_jobs=2)
    assert mean(study.best_params) > 0.6 and 0 <= study.best_value <= 1
    with pytest.raises(tacet.Unsupported, match="not released"):
        study.trials
    for wrong in (lambda trial: trial.report(0.5, 1), lambda trial: trial.should_prune()):
        with pytest.raises(tacet.Unsupported, match="early stopping"):
            TuneStudy(SPACE, records=N, noise_seed=1).optimize(wrong)
    with pytest.raises(tacet.InvalidValue, match="asks for"):
        TuneStudy(SPACE, records=N, noise_seed=1).optimize(lambda trial: trial.suggest_float("x", 0, 2))


def test_an_estimator_is_tuned_on_held_out_records(tmp_path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    X, X_val, y, y_val = X[:600], X[600:1600], y[:600], y[600:1600]
    space = tacet.Space(C=tacet.Log(0.01, 100), gamma=tacet.Log(1e-5, 1))
    search = TacetSearch(SVC(), space, evaluations=30, ledger=tmp_path / "l")
    with pytest.raises(tacet.InvalidValue, match="cross-validation"):
        search.fit(X, y)
    with pytest.raises(tacet.InvalidValue, match="cross-validation"):
        TacetSearch(SVC(), space, cv=5).fit(X, y, X_val, y_val)
    with pytest.raises(tacet.InvalidValue, match="no parameter 'c'"):  # before anything is charged
        TacetSearch(SVC(), tacet.Space(c=tacet.Log(0.01, 100)), ledger=tmp_path / "none").fit(X, y, X_val, y_val)
    assert not (tmp_path / "none").exists()
    with pytest.raises(tacet.InvalidValue, match="among the training"):
        search.fit(X, y, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(X, y, X_val, y_val)
    assert search.best_estimator_.get_params()["C"] == search.best_params_["C"]
    right = float(np.mean(search.predict(X_val) == y_val))
    assert right > 0.9
    low, high = search.best_score_interval_
    assert low <= search.best_score_ <= high and low <= right <= high


def test_a_record_that_breaks_the_scorer_counts_alone(tmp_path: Path) -> None:
    class Fragile(SVC):  # type: ignore[misc]
        def predict(self, X: Any) -> Any:
            if np.any(X[:, 0] < 0):
                raise RuntimeError("a bad record")
            return super().predict(X)

    X, y = load_digits(return_X_y=True)
    bad = X[600:800].copy()
    bad[17, 0] = -1
    search = TacetSearch(Fragile(), tacet.Space(C=tacet.Log(0.1, 10)), evaluations=2, ledger=tmp_path / "l")
    values = search._evaluate({"C": 1.0}, X[:600], y[:600], bad, y[600:800], search._scorer()[0])
    assert np.isnan(values[17]) and np.isnan(values).sum() == 1


def test_private_trainers_are_charged_first_and_not_drawn_again(tmp_path: Path) -> None:
    runs: list[float] = []
    space = tacet.Space(x=tacet.Real(0, 1))

    def train(params: Params) -> tuple[float, Any]:
        runs.append(params["x"])
        return -((params["x"] - 0.4) ** 2), {"model": params["x"]}

    common: dict[str, Any] = {"eps": 0.5, "runs": 10, "ledger": tmp_path / "l", "state": tmp_path / "s"}
    chosen = trusted.tune_private(train, space, **common)
    assert chosen.eps == pytest.approx(1.5) and chosen.delta == 0
    assert chosen.params["x"] == min(runs, key=lambda x: abs(x - 0.4)) and chosen.model == {"model": chosen.params["x"]}
    made = len(runs)
    again = trusted.tune_private(train, space, **common)
    assert len(runs) == made and again.params == chosen.params and again.model == chosen.model
    assert tacet.Ledger(tmp_path / "l").eps == pytest.approx(1.5)

    def fails(params: Params) -> tuple[float, Any]:
        raise MemoryError

    with pytest.raises(MemoryError):
        trusted.tune_private(fails, space, eps=0.5, ledger=tmp_path / "m")
    assert tacet.Ledger(tmp_path / "m").eps == pytest.approx(1.5)  # charged before the first run
    with pytest.raises(tacet.InvalidValue):
        trusted.tune_private(train, space, ledger=tmp_path / "l")


def test_a_process_that_dies_between_two_runs_keeps_the_best_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    space = tacet.Space(x=tacet.Real(0, 1))
    moved: list[Path] = []

    def train(params: Params) -> tuple[float, Any]:
        if params["x"] > 0.9:
            raise trusted.SettingFailed("no such model")
        return params["x"], params["x"]

    def dies(self: Path, target: Path) -> Path:
        if sys._getframe(1).f_code.co_name != "_train_all":
            return Path(shutil.move(self, target))
        moved.append(target)
        raise KeyboardInterrupt

    for i in range(8):
        common: dict[str, Any] = {"eps": 0.5, "runs": 6, "ledger": tmp_path / f"{i}.db", "state": tmp_path / f"{i}"}
        for _ in range(40):  # each time a run is the best so far, after it was told
            with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
                patch.setattr(Path, "replace", dies)
                trusted.tune_private(train, space, **common)
        chosen = trusted.tune_private(train, space, **common)
        assert chosen.model == (None if chosen.params["x"] > 0.9 else chosen.params["x"])
    assert moved


def test_a_frame_of_validation_records(tmp_path: Path) -> None:
    from sklearn.neighbors import KNeighborsRegressor

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"a": rng.normal(size=900), "b": rng.normal(size=900)})
    y = frame.a**2 + rng.normal(scale=0.1, size=900)
    space = tacet.Space(n_neighbors=tacet.Integer(1, 60))
    search = TacetSearch(
        KNeighborsRegressor(), space, scoring="squared_error", range=(0, 4), evaluations=20, ledger=tmp_path / "l"
    )
    search.fit(frame[:300], y[:300], frame[300:], y[300:])
    assert 1 <= search.best_params_["n_neighbors"] < 40


def test_steps_are_refused_and_nothing_is_made_with_a_wrong_eps(tmp_path):
    from optuna.distributions import FloatDistribution, IntDistribution

    for column in (IntDistribution(0, 100, step=25), IntDistribution(1, 100, log=True), FloatDistribution(0, 1, step=0.5)):
        with pytest.raises(tacet.Unsupported, match="'x': no steps"):
            TuneStudy({"x": column}, records=10)
    study = TuneStudy({"x": IntDistribution(1, 100)}, records=100, ledger=tmp_path / "a.db")
    with pytest.raises(tacet.Unsupported, match="'x': no steps"):
        study.optimize(lambda trial: [trial.suggest_int("x", 1, 100, log=True)] * 100)
    space, ledger = tacet.Space(x=tacet.Real(0, 1)), tmp_path / "b.db"
    for wrong in ({"eps": 1e9}, {"eps": 0}, {"records": -1}, {"records": 99.5}, {"space": {"x": (0, 1)}}):
        with pytest.raises(tacet.InvalidValue):
            trusted.tune(lambda params: [1] * 100, **{"space": space, "records": 100, "ledger": ledger, **wrong})
    assert not ledger.exists()
    nullable = pd.Series([True, None] * 50, dtype="boolean")
    assert trusted.tune(lambda params: nullable, space, records=100, evaluations=5, ledger=ledger).score
    with pytest.raises(tacet.Conflict, match="another search.*ticket="):
        trusted.tune(lambda params: 1 / 0, tacet.Space(x=tacet.Real(0, 2)), records=100, evaluations=5, ledger=ledger)
