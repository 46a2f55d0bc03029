# SPDX-License-Identifier: Apache-2.0
"""Optuna: private suggestions for an existing study, by changing one line.

>>> import optuna                                                              # doctest: +SKIP
>>> sampler = TacetSampler(tacet.Client(url, token=token).study("tuning"))     # doctest: +SKIP
>>> optuna.create_study(sampler=sampler, direction="maximize").optimize(objective, n_trials=50)   # doctest: +SKIP

What is private here is what others learn: suggestions, releases and whatever is learnt of one trial from the others.
Optuna's own storage keeps every raw value, so it must stay with whoever may see them: a storage that others may read is
refused unless you say `shared_storage=True`.
"""
from __future__ import annotations

import threading
import warnings
from typing import Any, Sequence

import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from tacet.errors import Denied, InvalidValue, StateError, Unsupported
from tacet.space import Category, Column, Integer, Log, Real, Space
from tacet.study import BaseStudy, Suggestion

RAW_VALUES = "Optuna's storage keeps the raw value of every trial: what tacet protects are its suggestions and releases"


class TacetSampler(BaseSampler):  # type: ignore[misc]
    """Asks a tacet study for every trial and reports what came of it.

    The study is over a space whose columns have the names that the objective suggests. It may be one of a service
    (`tacet.Client(…).study(…)`) or in this process (`tacet.trusted.Study`)."""

    def __init__(
        self, study: BaseStudy, *, shared_storage: bool = False, person: str | None = None, wait: float = 60.0
    ) -> None:
        """`wait`: so many seconds are waited for reports of others that a batch needs (those of other threads of this
        process are waited for however long they take)."""
        if study.space is None:
            raise InvalidValue(f"study {study.name} has no space: its columns need the names that the objective suggests")
        if study.context_space is not None or study.trust != "central":
            raise Unsupported("a sampler needs a central study without contexts")
        self._study = study
        self._space: Space = study.space
        self._shared = shared_storage
        self._person, self._wait = person, wait
        self._open: dict[int, Suggestion] = {}
        self._lock = threading.Lock()
        self._checked = False

    def infer_relative_search_space(self, study: optuna.Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        self._check(study)
        return {name: _distribution(name, column) for name, column in self._space.items()}

    def sample_relative(
        self, study: optuna.Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        suggestion = self._study.suggest(person=self._person, wait=self._wait)
        if suggestion.state == "last":
            raise StateError(f"the rounds of study {self._study.name} are over: study.stop(), and read its release")
        with self._lock:
            self._open[trial.number] = suggestion
        return dict(suggestion.params)

    def sample_independent(
        self, study: optuna.Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        if param_name in self._space:
            raise InvalidValue(
                f"the objective asks for '{param_name}' within {param_distribution}, and the tacet study proposed a value "
                f"outside: it chooses from its whole space, {self._space[param_name]!r}. Suggest that range, or create "
                "the study over the narrower one"
            )
        raise InvalidValue(
            f"the objective suggests '{param_name}', which the tacet study does not have: its columns are "
            f"{', '.join(self._space)}"
        )

    def after_trial(
        self, study: optuna.Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        with self._lock:
            suggestion = self._open.pop(trial.number, None)
        if suggestion is None:
            return
        if state == TrialState.COMPLETE and values is not None:
            suggestion.observe(values[0])
        else:
            suggestion.failed()

    def reseed_rng(self) -> None:
        """There is no seed: noise and choices are the tacet study's."""

    def _check(self, study: optuna.Study) -> None:
        if self._checked:
            return
        if len(study.directions) != 1:
            raise Unsupported("a tacet study has one objective")
        if (study.direction == optuna.study.StudyDirection.MINIMIZE) != self._study.minimize:
            raise InvalidValue("the Optuna study and the tacet study must have the same direction")
        storage = study._storage
        if not isinstance(storage, InMemoryStorage) and not self._shared:
            raise Denied(f"{RAW_VALUES}. This storage may be read by others; shared_storage=True allows it")
        warnings.warn(RAW_VALUES, stacklevel=4)
        self._checked = True

    def __reduce__(self) -> Any:
        raise TypeError("this sampler cannot be pickled: it holds an open study; make it again where it is needed")


def _distribution(name: str, column: Column) -> BaseDistribution:
    if isinstance(column, Category):
        return CategoricalDistribution(column.levels)
    if isinstance(column, Integer):
        return IntDistribution(int(column.low), int(column.high))
    if isinstance(column, (Real, Log)):
        return FloatDistribution(float(column.low), float(column.high), log=isinstance(column, Log))
    raise Unsupported(f"column '{name}' is a date, which Optuna does not have")
