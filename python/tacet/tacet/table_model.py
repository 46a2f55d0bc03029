# SPDX-License-Identifier: Apache-2.0
"""The model of a log: one released table, the rule it speaks for, and what that rule earns."""
from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

from tacet._lib import ffi, lib, native
from tacet._native import Handle
from tacet._table import Packed
from tacet.model import Model, Prediction, _doubles
from tacet.space import Space

if TYPE_CHECKING:
    import pandas as pd


class Estimate(NamedTuple):
    """A value with its 95 % interval.

    >>> str(Estimate(0.5, 0.4, 0.6))
    '0.5 (0.4 to 0.6)'
    """

    estimate: float
    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{self.estimate:.3g} ({self.lower:.3g} to {self.upper:.3g})"


class TableModel(Model):
    """What `tacet.trusted.learn` releases. Numbers are in bins. Beside what every model has:

    - `rule`: for each context its columns, the action's columns, `mean` and `sd` of the reward there;
    - `recommended`, `single`, `logged`, `uniform`: what a row earns by the rule, by `single_action` for all, in the log,
      and by even play; `each`: for each action its columns, and `estimate`, `lower`, `upper` of what it earns for all;
    - `over_single`, `over_logged`, `over_uniform`: what the rule earns more. `rule_is_single`: the rule shows
      `single_action` to all, and no gain over it is claimed;
    - `counted_to`: rewards above it count as it.

    Values and gains are `Estimate`s: the estimate and its 95 % interval.

    >>> model.over_single                                   # doctest: +SKIP
    Estimate(estimate=0.021, lower=0.013, upper=0.029)
    """

    recommended: Estimate
    logged: Estimate

    def __init__(self, text: str) -> None:
        encoded = text.encode()
        out = ffi.new("tacet_ab_model **")
        native.call(lib.tacet_ab_model_decode, out, encoded, len(encoded))
        Handle.__init__(self, out[0], lib.tacet_ab_model_free, "model")
        self._text = text
        facts, found = lib.tacet_ab_model_facts(out[0]), lib.tacet_ab_model_posterior(out[0])
        plan = facts.plan
        self.eps, self.delta, self.private, self.minimize = plan.eps, 0.0, facts.is_private, facts.minimize
        self.person = (facts.person_rows, facts.person_eps, 0.0) if facts.person_rows else None
        self.records, self.counted_to = plan.rows, facts.top
        self.space = Space.from_json(json.dumps(json.loads(text)["space"]))
        self._actions = plan.action_columns
        names = list(self.space)
        self.actions, self.contexts = names[: self._actions], names[self._actions :]
        self.recommended, self.single = _estimate(found.rule_value), _estimate(found.single_value)
        self.logged, self.uniform = _estimate(found.logged_value), _estimate(found.uniform_value)
        self.over_single, self.over_logged = _estimate(found.over_single), _estimate(found.over_logged)
        self.over_uniform: Estimate = _estimate(found.over_uniform)
        self.rule_is_single: bool = found.rule_is_single
        self.single_action: dict[str, Any] = self._action(found.single)
        self.each = [{**self._action(a), **_estimate(found.action_value[a])._asdict()} for a in range(found.actions)]
        self.rule = self._rules(found.contexts)
        self.sd = sum(found.share[i] * row["sd"] ** 2 for i, row in enumerate(self.rule)) ** 0.5

    def __reduce__(self) -> Any:
        return (TableModel, (self._text,))

    def _action(self, number: int) -> dict[str, Any]:
        return self.space.only(self.actions).rows([self._at(number, range(self._actions))])[0]

    def _at(self, number: int, columns: range) -> list[float]:
        """What an action, or a context, has in these columns: levels, and middles of bins."""
        plan = ffi.addressof(lib.tacet_ab_model_facts(self._pointer), "plan")
        return [lib.tacet_ab_plan_value(plan, number, j) for j in columns]

    def _rules(self, contexts: int) -> list[dict[str, Any]]:
        """The first context column's level changes fastest, as in the table."""
        packed = Packed(contexts, len(self.contexts))
        records = [self._at(number, range(self._actions, len(self.space))) for number in range(contexts)]
        for j in range(len(self.contexts)):
            packed.fill(j, array("d", [record[j] for record in records]))
        said = self._recommend(packed)
        assert said.best is not None
        names = self.space.only(self.contexts).rows(records) if self.contexts else [{}]
        return [
            {**names[i], **said.best[i], "mean": float(said.mean[i]), "sd": float(said.sd[i])}  # type: ignore[index]
            for i in range(contexts)
        ]

    def _means(self, records: Packed) -> Prediction:
        return self._ask(records, None)

    def _recommend(self, contexts: Packed) -> Prediction:
        """Actions are not looked at: any level stands for them."""
        records = Packed(len(contexts), len(self.space))
        for j in range(len(self.space) if len(contexts) > 0 else 0):
            at = j - self._actions
            column = contexts.flat()[at :: len(self.contexts)] if at >= 0 else array("d", bytes(8 * len(contexts)))
            records.fill(j, column)
        return self._ask(records, Packed(len(contexts), self._actions))

    def _ask(self, records: Packed, best: Packed | None) -> Prediction:
        means, sds = Packed(len(records), 1), Packed(len(records), 1)
        native.call(
            lib.tacet_ab_model_predict, self._pointer, _doubles(means), _doubles(sds),
            ffi.NULL if best is None else _doubles(best), _doubles(records), len(records),
        )  # fmt: skip
        if best is None:
            return Prediction(means.flat(), sds.flat(), None)
        flat, width = best.flat(), self._actions
        levels = [[float(x) for x in flat[i * width : (i + 1) * width]] for i in range(len(records))]
        return Prediction(means.flat(), sds.flat(), self.space.only(self.actions).rows(levels))

    def best(self, grid: int = 33, **context: Any) -> dict[str, Any]:
        return super().best(grid, **context) if self.contexts or context else dict(self.single_action)

    def candidates(self, grid: int = 33) -> list[dict[str, Any]]:
        """Every combination of levels, and of middles of bins, of the action's columns."""
        return [self._action(i) for i in range(lib.tacet_ab_model_posterior(self._pointer).actions)]

    def _values(self) -> list[tuple[str, Estimate]]:
        shown = " ".join(str(value) for value in self.single_action.values())
        return [
            ("the rule", self.recommended),
            (f"{shown} for all", self.single),
            ("the log", self.logged),
            ("even play", self.uniform),
            (f"the rule over {shown} for all", self.over_single),
            ("the rule over the log", self.over_logged),
            ("the rule over even play", self.over_uniform),
        ]

    def to_frame(self) -> pd.DataFrame:
        """Values and gains as a pandas frame: estimate, lower and upper end of the 95 % interval. (The rule as one is
        `pandas.DataFrame(model.rule)`.)"""
        import pandas as pd

        names, values = zip(*self._values())
        return pd.DataFrame(list(values), columns=list(Estimate._fields), index=list(names))

    def _facts(self) -> list[tuple[str, str]]:
        facts = super()._facts()
        for name, value in self._values():
            same = self.rule_is_single and value is self.over_single
            facts.append((name, "no gain claimed: the rule is that" if same else str(value)))
        return facts


def _estimate(value: Any) -> Estimate:
    return Estimate(value.mean, value.lower, value.upper)
