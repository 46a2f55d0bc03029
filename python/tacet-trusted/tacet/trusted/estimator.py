# SPDX-License-Identifier: Apache-2.0
"""A scikit-learn style estimator: which action suits which context, learnt once, privately."""
from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Sequence

from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from tacet.space import Space
from tacet.trusted.learning import learn

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


class ContextualEstimator(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """`fit` learns from rows of actions and contexts and their rewards, and charges the rows' ledger; `predict` gives the
    mean reward of rows, `recommend` the best action for contexts. Parameters are those of `tacet.trusted.learn`.

    >>> estimator = ContextualEstimator(space, action="variant", eps=1)       # doctest: +SKIP
    >>> estimator.fit(X, y).recommend(contexts)                               # doctest: +SKIP

    Fitting costs privacy each time: cross-validation and grid search fit many times, and the ledger refuses once the
    budget is spent."""

    def __init__(
        self,
        space: Space | None = None,
        action: str | Sequence[str] = "action",
        eps: float = 1.0,
        propensity: str | None = None,
        reward_range: tuple[float, float] = (0.0, 1.0),
        ledger: str | Path | None = None,
        budget: float = 0.0,
        ticket: str = "model",
    ) -> None:
        self.space = space
        self.action = action
        self.eps = eps
        self.propensity = propensity
        self.reward_range = reward_range
        self.ledger = ledger
        self.budget = budget
        self.ticket = ticket

    def fit(self, X: pd.DataFrame, y: Any) -> Self:
        """X has the columns of the space, and that of propensities if there is one; y are the rewards."""
        if self.space is None:
            raise ValueError("the estimator needs a space: public bounds and levels of the columns")
        name = "reward"
        while name in X.columns:
            name += "_"
        self.model_ = learn(
            X.assign(**{name: y}), space=self.space, action=self.action, reward=name, eps=self.eps,
            propensity=self.propensity, reward_range=self.reward_range, ledger=self.ledger, budget=self.budget,
            ticket=self.ticket,
        )  # fmt: skip
        self.n_features_in_ = len(self.space)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The mean reward of each row's action in its context."""
        check_is_fitted(self)
        return self.model_.predict(X).mean

    def recommend(self, X: Any) -> pd.DataFrame:
        """The best action for each row's context, its mean reward, and what the model errs by about."""
        check_is_fitted(self)
        return self.model_.predict(X).to_frame()
