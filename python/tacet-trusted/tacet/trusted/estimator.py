# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn style estimator: which action suits which context, learnt once, privately."""
from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, Self, Sequence

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacet._table import columns_of
from tacet.errors import InvalidValue
from tacet.space import Category, Space
from tacet.trusted.learning import learn

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray


_FOLDS = (
    "cross-validation and grid search are refused, and nothing was charged: every row would be learnt from several times, "
    "and scored in the open. The model says by itself what its rule earns, with an interval (model_.recommended); "
    "settings are chosen by tacet.trusted.tune, TacetSearch or tune_private"
)


def _callers() -> Iterator[str]:
    frame: Any = sys._getframe(1)
    while frame is not None:
        yield frame.f_globals.get("__name__", "")
        frame = frame.f_back


class ContextualEstimator(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """`fit` learns from rows of actions and contexts and their rewards, and charges the rows' ledger; `predict` gives the
    mean reward of rows, `recommend` the best action for contexts. Parameters are those of `tacet.trusted.learn`.

    >>> estimator = ContextualEstimator(space, action="variant", eps=1)       # doctest: +SKIP
    >>> estimator.fit(X, y).recommend(contexts)                               # doctest: +SKIP

    Fitting costs privacy each time. Cross-validation and grid search fit each row several times and score it in the
    open: they are refused at once, before anything is charged, and told what to use instead."""

    def __init__(
        self,
        space: Space | None = None,
        action: str | Sequence[str] = "action",
        eps: float = 1.0,
        reward_range: tuple[float, float] = (0.0, 1.0),
        ledger: str | Path | None = None,
        budget_eps: float = 0.0,
        ticket: str = "model",
    ) -> None:
        self.space = space
        self.action = action
        self.eps = eps
        self.reward_range = reward_range
        self.ledger = ledger
        self.budget_eps = budget_eps
        self.ticket = ticket

    def fit(self, X: Any, y: Any) -> Self:
        """X has the columns of the space by name; or, as an array of numbers, in that order, levels by their number. y are
        the rewards."""
        if self.space is None:
            raise InvalidValue("the estimator needs a space: public bounds and levels of the columns")
        if any(module.startswith("sklearn.model_selection") for module in _callers()):
            raise InvalidValue(_FOLDS)
        table = columns_of(X)
        if table is None:
            table = self._named(np.asarray(X), [*self.space])
        name = "reward"
        while name in table:
            name += "_"
        self.model_ = learn(
            {**{column: table[column] for column in table}, name: y}, space=self.space, action=self.action, reward=name, eps=self.eps,
            reward_range=self.reward_range, ledger=self.ledger, budget_eps=self.budget_eps, ticket=self.ticket,
        )  # fmt: skip
        self.n_features_in_ = len(self.space)
        return self

    def _named(self, rows: NDArray[Any], names: list[str]) -> dict[str, Any]:
        if rows.ndim != 2 or rows.shape[1] != len(names):
            raise InvalidValue(f"X must have {len(names)} columns: {', '.join(names)}")
        named: dict[str, Any] = {}
        for i, name in enumerate(names):
            column = self.space[name] if self.space is not None and name in self.space else None
            if isinstance(column, Category) and rows.dtype.kind in "iuf":
                if not np.isin(rows[:, i], np.arange(len(column.levels))).all():
                    raise InvalidValue(f"column '{name}' of X must be numbers of its levels, from 0")
                named[name] = [column.levels[int(value)] for value in rows[:, i]]
            else:
                named[name] = rows[:, i]
        return named

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean reward of each row's action in its context."""
        check_is_fitted(self)
        return self.model_.predict(X).mean

    def recommend(self, X: Any) -> pd.DataFrame:
        """The best action for each row's context, its mean reward, and what the model errs by about."""
        check_is_fitted(self)
        return self.model_.predict(X).to_frame()
