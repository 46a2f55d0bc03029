# SPDX-License-Identifier: Apache-2.0
"""What a study looks like to whoever takes its rounds, over HTTPS (`tacet.Client`) or in this process
(`tacet.trusted.Study`): suggest, observe, and what was learnt."""
from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Mapping, Sequence

from tacet.display import table
from tacet.errors import Conflict, InvalidValue, StateError, Unsupported
from tacet.model import Model
from tacet.space import Space

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


class Suggestion:
    """What to try in one round. Report what came of it once: `observe(value)`, or `failed()`.

    >>> s = study.suggest(person="p-17")                    # doctest: +SKIP
    >>> s.params                                            # doctest: +SKIP
    {'mg': 80.0}
    >>> s.observe(0.7)                                      # doctest: +SKIP
    """

    def __init__(self, study: BaseStudy, ticket: str, index: int, params: dict[str, Any], context: Any) -> None:
        self._study = study
        self.ticket = ticket
        self.index = index
        self.params = params
        self.context = context
        self.value: float | None = None
        self._chosen: Any = None  # what a device chose by itself, and by what
        self.state = "open" if ticket else "last"
        self.clipped = False

    def observe(self, value: float) -> None:
        """Reports the outcome. The same value again is harmless; another one is a Conflict."""
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            raise InvalidValue("a value must be finite; an evaluation without one is failed()")
        if self._study.trust == "local":
            raise Unsupported(
                "this study is of the local model: a bare value must not leave its device. "
                "tacet.trusted.Device reports for it"
            )
        self._told(number, "observed")
        self.clipped = self._study._observe(self.ticket, number)

    def failed(self) -> None:
        """The evaluation failed, and there is no value."""
        if self._study.trust == "local":
            raise Unsupported("this study is of the local model: tacet.trusted.Device reports for it")
        self._told(None, "failed")
        self._study._fail(self.ticket)

    def _told(self, value: float | None, state: str) -> None:
        if self.state == "last":
            raise StateError("the rounds of this study are over: this is its last recommendation, and nothing is reported")
        if self.state != "open" and (self.value, self.state) != (value, state):
            raise Conflict("this suggestion was reported already, with another outcome")
        self.value, self.state = value, state

    def __reduce__(self) -> Any:
        raise TypeError("a suggestion cannot be pickled: it belongs to an open study; keep its ticket instead")

    def __repr__(self) -> str:
        return f"Suggestion({self.params}, {self.state})"


class BaseStudy:
    """A study's definition, its rounds, and what was learnt. Several threads may use one."""

    name: str

    def _begin(self, status: dict[str, Any]) -> None:
        self.definition: dict[str, Any] = status["definition"]
        self.trust: str = self.definition["trust"]
        domain = self.definition["domain"]
        self.space = _space(domain.get("space"))
        self.context_space = _space(domain.get("context", {}).get("space"))
        self._trials: list[Suggestion] = []
        self._trials_lock = threading.Lock()

    # What a subclass does.
    def _ask(self, round: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def _observe(self, ticket: str, value: float) -> bool:
        raise NotImplementedError

    def _fail(self, ticket: str) -> None:
        raise NotImplementedError

    def status(self) -> dict[str, Any]:
        """Definition, state, counts, rounds left, and the guarantee."""
        raise NotImplementedError

    def account(self) -> dict[str, Any]:
        """Budget and what was spent."""
        raise NotImplementedError

    def _release(self) -> dict[str, Any]:
        raise NotImplementedError

    def _events(self, after: int) -> dict[str, Any]:
        raise NotImplementedError

    def _model(self) -> dict[str, Any]:
        raise NotImplementedError

    def suggest(
        self,
        *,
        person: str | None = None,
        context: Mapping[str, Any] | Sequence[float] | None = None,
        decision_set: Any = None,
        key: str | None = None,
    ) -> Suggestion:
        """What to try next. `person` names who takes the round; `context` is what is known of it, by name or as numbers;
        `decision_set` are the arms of this round, one a row. A `key` makes a retry give the same answer."""
        round: dict[str, Any] = {}
        if context is not None:
            round["context"] = _context(context)
        if decision_set is not None:
            round["decision_set"] = _arms(decision_set)
        for name, value in (("person", person), ("key", key)):
            if value is not None:
                round[name] = value
        answer = self._ask(round)
        suggestion = Suggestion(self, answer.get("ticket") or "", answer["index"], self._params(answer), context)
        with self._trials_lock:
            self._trials.append(suggestion)
        return suggestion

    def _params(self, answer: dict[str, Any]) -> dict[str, Any]:
        if "point" in answer:
            return dict(answer["point"])
        return _by_coordinate(answer.get("action", []))

    def release(self) -> Model | dict[str, Any]:
        """What was learnt, for anyone; costs nothing. A model where the study makes one, else its best point."""
        import json

        release = self._release()
        if "model" in release:
            return Model(json.dumps(release["model"]))
        return release

    @property
    def trials(self) -> list[Suggestion]:
        """The rounds that were taken through this object. A client sees its own rounds and no others."""
        with self._trials_lock:
            return list(self._trials)

    def trials_dataframe(self, *, everyone: bool = False) -> pd.DataFrame:
        """The rounds that were taken through this object, one's own; or, with `everyone`, all of the study, as owners
        and analysts may see them: when each was taken and told, its action where that is public, and its value where
        that is a randomised report. Rewards and contexts of a central study are shown to nobody."""
        import pandas as pd

        if everyone:
            return pd.DataFrame(self._rounds())
        rows = []
        for number, trial in enumerate(self.trials):
            row: dict[str, Any] = {"number": number, "state": trial.state, "value": trial.value}
            row.update({f"params_{name}": value for name, value in trial.params.items()})
            if isinstance(trial.context, Mapping):
                row.update({f"context_{name}": value for name, value in trial.context.items()})
            rows.append({**row, "ticket": trial.ticket})
        return pd.DataFrame(rows)

    def _rounds(self) -> list[dict[str, Any]]:
        """Every round of the study, from its events."""
        import pandas as pd

        points = self.definition["domain"].get("points")
        rounds: dict[int, dict[str, Any]] = {}
        first = "open" if "observed" in self.status() else "suggested"  # who has reported is private there
        known, head = 0, 1
        while known < head:
            page = self._events(known)
            head = page["head"] if page["events"] else known
            for event in page["events"]:
                known, kind, moment = event["number"], event["kind"], pd.Timestamp(event["time"], unit="s", tz="UTC")
                if kind == "suggested":
                    row = {"number": known, "state": first, "value": None, "datetime_start": moment, "datetime_complete": pd.NaT}
                    if "index" in event:
                        row["index"] = event["index"]
                        for name, value in _by_coordinate(points[event["index"]] if points else []).items():
                            row[f"params_{name}"] = value
                    rounds[known] = row
                elif kind in ("observed", "expired"):
                    rounds[event["of"]].update(state=kind, value=event.get("value"), datetime_complete=moment)
        return list(rounds.values())

    def plot(self, ax: Axes | None = None) -> Axes:
        """One's own values and the best so far."""
        from tacet import plots

        values = [trial.value for trial in self.trials if trial.value is not None]
        return plots.progress(values, minimize=self.minimize, ax=ax)

    @property
    def minimize(self) -> bool:
        return str(self.definition["direction"]).startswith("minim")

    def __reduce__(self) -> Any:
        raise TypeError("a study cannot be pickled: it is open in this process; open it again where it is needed")

    def _facts(self) -> list[tuple[str, str]]:
        status = self.status()
        guarantee = status.get("guarantee", {})
        told = f"{status['observed']} observed, " if "observed" in status else ""
        return [
            ("name", self.name),
            ("model", f"{self.trust}, policy {self.definition['policy']}"),
            ("state", status["state"]),
            ("rounds", f"{status['suggested']} suggested, {told}{status['rounds_left']} left"),
            ("guarantee", f"eps = {guarantee.get('eps')}, delta = {guarantee.get('delta')}"),
            ("protects", guarantee.get("protects", "")),
        ]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def _repr_html_(self) -> str:
        return table(["study", ""], self._facts())


def _by_coordinate(action: Sequence[float]) -> dict[str, float]:
    return {f"x{i + 1}": value for i, value in enumerate(action)}


def _space(described: Any) -> Space | None:
    import json

    return Space.from_json(json.dumps(described)) if described else None


def _context(context: Mapping[str, Any] | Sequence[float]) -> Any:
    if isinstance(context, Mapping):
        return {name: _plain(value, f"context '{name}'") for name, value in context.items()}
    return [_plain(value, "the context") for value in context]


def _plain(value: Any, what: str) -> Any:
    """A value as JSON has it: numbers of NumPy become Python's, dates become text, NaN is missing."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()[:10]
    if hasattr(value, "item"):
        value = value.item()
    if not isinstance(value, (int, float)):
        raise InvalidValue(f"{what} must be a number, a text or a date")
    return None if value != value else value


def _arms(decision_set: Any) -> list[list[float]]:
    rows = decision_set.tolist() if hasattr(decision_set, "tolist") else decision_set
    if hasattr(rows, "values") and hasattr(rows, "columns"):
        rows = rows.values.tolist()
    refused = InvalidValue("a decision set is a table of numbers: one arm a row, one coordinate a column")
    try:
        arms = [[float(value) for value in arm] for arm in rows if not isinstance(arm, str)]
    except (TypeError, ValueError):
        raise refused from None
    if not arms or not arms[0] or len(arms) != len(rows) or len({len(arm) for arm in arms}) != 1:
        raise refused
    if not all(math.isfinite(value) for arm in arms for value in arm):
        raise InvalidValue("the arms of a decision set must be finite")
    return arms
