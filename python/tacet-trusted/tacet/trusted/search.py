# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn estimator that tunes another one on held-out private records."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from tacet.errors import InvalidValue
from tacet.space import Space
from tacet.trusted.tuning import SettingFailed, tune

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CROSS = (
    "cross-validation is refused: each record would train the models that score the others, and what it does to their "
    "values is bounded by nobody. Hold records out, fit(X, y, X_val, y_val); or train privately, trusted.tune_private"
)


def _correct(predicted: Any, truth: Any) -> Any:
    return np.asarray(predicted) == np.asarray(truth)


def _squared(predicted: Any, truth: Any) -> Any:
    return (np.asarray(predicted, dtype=float) - np.asarray(truth, dtype=float)) ** 2


def _absolute(predicted: Any, truth: Any) -> Any:
    return np.abs(np.asarray(predicted, dtype=float) - np.asarray(truth, dtype=float))


_SCORING: dict[str, tuple[Callable[[Any, Any], Any], bool]] = {
    "accuracy": (_correct, False), "squared_error": (_squared, True), "absolute_error": (_absolute, True),
}  # fmt: skip


class TacetSearch(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """`fit(X, y, X_val, y_val)` trains `estimator` on X, y with settings of `space` and chooses one by the private
    records X_val, y_val: eps-DP in each of them. X, y are not protected.

    >>> search = TacetSearch(SVC(), tacet.Space(C=tacet.Log(0.01, 100)), eps=1)       # doctest: +SKIP
    >>> search.fit(X, y, X_val, y_val).best_params_                                   # doctest: +SKIP

    `scoring` is "accuracy", "squared_error", "absolute_error" (losses; they need a `range`), or a function of
    predictions and truth that gives one value for each record. Afterwards: `best_params_`, `best_score_` with
    `best_score_interval_` from records that the search did not see, `winners_`, and `best_estimator_`, refitted on X, y
    unless `refit=False`. `cast` turns the levels of categories into what the estimator takes: {"max_features": float}."""

    def __init__(
        self,
        estimator: Any = None,
        space: Space | None = None,
        *,
        scoring: str | Callable[[Any, Any], Any] = "accuracy",
        range: tuple[float, float] = (0.0, 1.0),
        minimize: bool = False,
        eps: float = 1.0,
        evaluations: int = 100,
        kept: float = 0.2,
        contrast: float = 0.0,
        refit: bool = True,
        cv: Any = None,
        cast: dict[str, Callable[[Any], Any]] | None = None,
        workers: int = 1,
        seed: int = 1,
        ledger: str | Path = "tune.ledger.db",
        budget_eps: float = 0.0,
        ticket: str = "tune",
        state: str | Path | None = None,
        noise_seed: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.scoring = scoring
        self.range = range
        self.minimize = minimize
        self.eps = eps
        self.evaluations = evaluations
        self.kept = kept
        self.contrast = contrast
        self.refit = refit
        self.cv = cv
        self.cast = cast
        self.workers = workers
        self.seed = seed
        self.ledger = ledger
        self.budget_eps = budget_eps
        self.ticket = ticket
        self.state = state
        self.noise_seed = noise_seed

    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        if self.estimator is None or self.space is None:
            raise InvalidValue("the search needs an estimator and a space: public bounds and levels of its settings")
        if self.cv is not None or X_val is None or y_val is None:
            raise InvalidValue(_CROSS)
        if X_val is X or (isinstance(X_val, np.ndarray) and isinstance(X, np.ndarray) and np.may_share_memory(X, X_val)
                          and not _disjoint(X, X_val)):  # fmt: skip
            raise InvalidValue("the validation records are among the training records: " + _CROSS)
        values, minimize = self._scorer()
        if unknown := set(self.space) - set(self.estimator.get_params()):  # else every setting fails, and is charged
            raise InvalidValue(f"the estimator has no parameter '{min(unknown)}'")
        result = tune(
            lambda params: self._evaluate(params, X, y, X_val, y_val, values), self.space, records=len(y_val),
            range=self.range, eps=self.eps, evaluations=self.evaluations, minimize=minimize, kept=self.kept,
            contrast=self.contrast, seed=self.seed, workers=self.workers, ledger=self.ledger, budget_eps=self.budget_eps,
            ticket=self.ticket, state=self.state, noise_seed=self.noise_seed,
        )  # fmt: skip
        self.result_ = result
        self.best_params_ = self._cast(result.params)
        self.winners_ = result.winners
        self.best_score_ = None if result.score is None else result.score.value
        self.best_score_interval_ = None if result.score is None else (result.score.lower, result.score.upper)
        if self.refit:
            self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        return self

    def _scorer(self) -> tuple[Callable[[Any, Any], Any], bool]:
        if callable(self.scoring):
            return self.scoring, self.minimize
        if self.scoring not in _SCORING:
            raise InvalidValue(f"scoring is one of {', '.join(_SCORING)}, or a function that gives a value for each record")
        return _SCORING[self.scoring]

    def _cast(self, params: dict[str, Any]) -> dict[str, Any]:
        casts = self.cast or {}
        return {name: casts[name](value) if name in casts else value for name, value in params.items()}

    def _evaluate(
        self, params: dict[str, Any], X: Any, y: Any, X_val: Any, y_val: Any, values: Callable[[Any, Any], Any]
    ) -> NDArray[np.float64]:
        try:
            model = clone(self.estimator).set_params(**self._cast(params)).fit(X, y)
        except ValueError as error:  # of settings and training data alone
            raise SettingFailed(str(error)) from error
        try:
            return np.asarray(values(model.predict(X_val), y_val), dtype=float)
        except Exception:  # a record may have done it: each by itself, and only those count that fail
            return np.array([self._one(model, X_val, y_val, i, values) for i in range(len(y_val))])

    @staticmethod
    def _one(model: Any, X_val: Any, y_val: Any, i: int, values: Callable[[Any, Any], Any]) -> float:
        rows = X_val.iloc[i : i + 1] if hasattr(X_val, "iloc") else X_val[i : i + 1]
        truth = y_val.iloc[i : i + 1] if hasattr(y_val, "iloc") else y_val[i : i + 1]
        try:
            return float(np.asarray(values(model.predict(rows), truth), dtype=float)[0])
        except Exception:
            return float("nan")

    def predict(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))  # type: ignore[misc]
    def predict_proba(self, X: Any) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_.predict_proba(X)


def _disjoint(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Two slices of one array that have no element in common."""
    return not np.shares_memory(a, b)
