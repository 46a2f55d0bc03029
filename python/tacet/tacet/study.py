# SPDX-License-Identifier: Apache-2.0
"""What a study looks like to whoever takes its rounds, over HTTPS (`tacet.Client`) or in this process
(`tacet.trusted.Study`): suggest, observe, and what was learnt."""
from __future__ import annotations

import json
import logging
import math
import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Mapping, Sequence, TypeVar, overload

from tacet.display import table
from tacet.errors import Conflict, InvalidValue, StateError, Unsupported
from tacet.model import Model
from tacet.space import Space

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_log = logging.getLogger("tacet.study")
Sent = TypeVar("Sent")


class StudyRelease:
    """What a study has learnt, for anyone: `point`, the best one, with the estimate `mean` of its reward and how far
    that errs, `sd` (None where the study has no points of its own); `model`, of all points, where the study makes one;
    `fields`, everything as the service tells it.

    >>> study.release().point                               # doctest: +SKIP
    {'rate': 0.01}
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.point: dict[str, Any] | None = _point(fields) if "index" in fields else None
        self.mean: float | None = fields.get("mean")
        self.sd: float | None = fields.get("sd")
        self.model: Model | None = Model(json.dumps(fields["model"])) if "model" in fields else None

    def _facts(self) -> list[tuple[str, str]]:
        facts = [] if self.point is None else [("point", str(self.point)), ("mean", f"{self.mean:.3g} ± {self.sd:.2g}")]
        return facts if self.model is None else [*facts, *self.model._facts()]

    def __repr__(self) -> str:
        return f"StudyRelease({', '.join(f'{name}: {value}' for name, value in self._facts())})"

    def _repr_html_(self) -> str:
        return table(["released", ""], self._facts())


class Recommendation:
    """The best point by what a study has released so far: `params`, in the units of the space; `value`, an ESTIMATE of
    its mean reward, not a measured one, with its standard deviation `sd`; `eps`, what the study has spent (local: of one
    report). Nothing is drawn or charged for it.

    >>> study.best                                          # doctest: +SKIP
    Recommendation({'rate': 0.01}, value 0.81 ± 0.05, eps 1)
    """

    def __init__(self, fields: dict[str, Any]) -> None:
        self.fields = fields
        self.params: dict[str, Any] = _point(fields)
        self.value: float = fields["mean"]
        self.sd: float = fields["sd"]
        self.eps: float = fields["spent_eps"] if "spent_eps" in fields else fields["eps_per_report"]

    def __repr__(self) -> str:
        return f"Recommendation({self.params}, value {self.value:.3g} ± {self.sd:.2g}, eps {self.eps:g})"

    def _repr_html_(self) -> str:
        rows = [*self.params.items(), ("estimated value", f"{self.value:.3g} ± {self.sd:.2g}"), ("eps", f"{self.eps:g}")]
        return table(["best", ""], rows)


class Suggestion:
    """What to try in one round. Report what came of it once: `observe(value)`, or `failed()`.

    >>> s = study.suggest(person="p-17")                    # doctest: +SKIP
    >>> s.params                                            # doctest: +SKIP
    {'mg': 80.0}
    >>> s.observe(0.7)                                      # doctest: +SKIP
    """

    __slots__ = ("_study", "ticket", "index", "params", "context", "value", "_chosen", "state", "clipped")

    def __init__(self, study: BaseStudy, answer: dict[str, Any], context: Any) -> None:
        self._study = study
        self.ticket: str = answer.get("ticket") or ""
        self.index: int = answer["index"]
        self.params: dict[str, Any] = _point(answer)
        self.context = context
        self.value: float | None = None
        self._chosen: Any = None  # what a device chose by itself, and by what
        self.state = "open" if self.ticket else "last"
        self.clipped = False

    def observe(self, value: float) -> None:
        """Reports the outcome. The same value again is harmless; another one is a Conflict."""
        number = float(value)
        if not math.isfinite(number):
            raise InvalidValue("a value must be finite; an evaluation without one is failed()")
        if self._study.trust == "local":
            raise Unsupported(
                "this study is of the local model: a bare value must not leave its device. "
                "tacet.trusted.Device reports for it"
            )
        self.clipped = self._tell(number, "observed", lambda: self._study._observe(self.ticket, number))

    def failed(self) -> None:
        """The evaluation failed, and there is no value."""
        if self._study.trust == "local":
            raise Unsupported("this study is of the local model: tacet.trusted.Device reports for it")
        self._tell(None, "failed", lambda: self._study._fail(self.ticket))

    def _tell(self, value: float | None, state: str, send: Callable[[], Sent]) -> Sent:
        if self.state == "last":
            raise StateError("the rounds of this study are over: this is its last recommendation, and nothing is reported")
        if self.state != "open" and (self.value, self.state) != (value, state):
            raise Conflict("this suggestion was reported already, with another outcome")
        sent = send()
        with self._study._reported:
            self.value, self.state = value, state
            self._study._reported.notify_all()
        return sent

    def __reduce__(self) -> Any:
        raise TypeError("a suggestion cannot be pickled: it belongs to an open study; keep its ticket instead")

    def __repr__(self) -> str:
        return f"Suggestion({self.params}, {self.state})"

    def _repr_html_(self) -> str:
        return table(["suggestion", self.state], list(self.params.items()))


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
        self._persons: dict[str, int] = {}
        self._warned = False
        self._reported = threading.Condition()  # guards _persons, and is told of each report

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

    def _best(self) -> dict[str, Any]:
        raise NotImplementedError

    def _events(self, after: int) -> dict[str, Any]:
        raise NotImplementedError

    def _model(self) -> dict[str, Any]:
        raise NotImplementedError

    @overload
    def suggest(
        self, *, person: str | None = ..., context: Mapping[str, Any] | Sequence[float] | None = ...,
        decision_set: Any = ..., key: str | None = ..., wait: float = ...,
    ) -> Suggestion: ...  # fmt: skip

    @overload
    def suggest(
        self, *, count: int, person: str | None = ..., context: Mapping[str, Any] | Sequence[float] | None = ...,
        decision_set: Any = ..., key: str | None = ..., wait: float = ...,
    ) -> list[Suggestion]: ...  # fmt: skip

    def suggest(
        self,
        *,
        count: int | None = None,
        person: str | None = None,
        context: Mapping[str, Any] | Sequence[float] | None = None,
        decision_set: Any = None,
        key: str | None = None,
        wait: float = 0.0,
    ) -> Suggestion | list[Suggestion]:
        """What to try next. `person` names who takes the round; `context` is what is known of it, by name or as numbers;
        `decision_set` are the arms of this round, one a row. A `key` makes a retry give the same answer.

        With a `count`, 1 to 64, a list of as many: fewer, or none, where a batch waits for reports. `wait`: so many
        seconds are waited until one is possible, and as long as another thread has a suggestion of this object in hand.
        Without a count a StateError says that none is."""
        round: dict[str, Any] = {}
        if context is not None:
            round["context"] = _context(context)
        if decision_set is not None:
            round["decision_set"] = _arms(decision_set)
        if person is not None:
            round["person"] = person
        if key is not None:
            round["key"] = key
        if count is not None:
            round["count"] = count
        try:
            answer = self._waited(round, wait)
        except _Waiting as waiting:
            if count is None:
                raise waiting.error from None
            answer = {"suggestions": []}
        made = [Suggestion(self, one, context) for one in (answer["suggestions"] if count is not None else (answer,))]
        self._trials.extend(made)
        if person is not None:
            self._warn(person, len(made))
        return made if count is not None else made[0]

    def _waited(self, round: dict[str, Any], wait: float) -> dict[str, Any]:
        """Asks until there is an answer; _Waiting: none yet, and there may be one later."""
        deadline, told, all_reported = 0.0, False, False
        while True:
            try:
                return self._ask(round)
            except StateError as error:
                status = self.status()
                before, all_reported = all_reported, status.get("observed", -1) == status["suggested"]
                if status["state"] != "active" or status["rounds_left"] == 0 or (before and all_reported):
                    raise
                if all_reported:  # the last report may have come after the refusal
                    continue
                waiting = _Waiting(error)
            deadline = deadline or time.monotonic() + wait
            left = deadline - time.monotonic()
            with self._reported:
                mine = wait > 0 and any(trial.state == "open" for trial in self._trials)
                if left <= 0 and not mine:
                    raise waiting
                if not told:
                    _log.info("study %s: %s", self.name, waiting.error)
                    told = True
                self._reported.wait(0.2)

    def _warn(self, person: str, taken: int) -> None:
        """Once, loudly: rounds that count for nothing look like any others."""
        most = int(self.definition.get("options", {}).get("person_rounds", 1))
        with self._reported:
            self._persons[person] = self._persons.get(person, 0) + taken
            late = self._persons[person] > most and not self._warned
            self._warned = self._warned or late
        if late:
            warnings.warn(
                f"study {self.name}: person '{person}' has taken more than {most} round{'s' * (most > 1)}, and NOTHING IS "
                f"LEARNT from the further ones (person_rounds={most}): name who really takes a round, leave `person` "
                "out where rounds are nobody's, or create the study with more person_rounds",
                stacklevel=3,
            )

    def optimize(
        self,
        objective: Callable[[dict[str, Any]], float | None],
        n_trials: int,
        *,
        n_jobs: int = 1,
        wait: float = 60.0,
        catch: tuple[type[Exception], ...] = (),
        progress: Callable[[int, int], object] | None = None,
    ) -> None:
        """Takes `n_trials` rounds, `n_jobs` at a time in threads (-1: one a processor): `objective(params)` gives the
        value of each; None, NaN, or an exception of `catch`, is a failed evaluation. It ends early, and quietly, with
        the rounds of the study. Where a batch needs reports of others, they are waited for `wait` seconds.
        `progress(done, total)` is called after each round, by one thread at a time.

        >>> study.optimize(lambda params: 1 - params["x"] ** 2, n_trials=100, n_jobs=4)      # doctest: +SKIP
        """
        left, over, done = iter(range(n_trials)), threading.Event(), [0]
        turn = threading.Lock()

        def work() -> None:
            while not over.is_set():
                with turn:
                    if next(left, None) is None:
                        return
                try:
                    if not self._evaluate(objective, wait, catch):
                        over.set()
                        return
                except BaseException:
                    over.set()
                    raise
                with turn:
                    done[0] += 1
                    if progress is not None:
                        progress(done[0], n_trials)

        jobs = (os.cpu_count() or 1) if n_jobs < 0 else n_jobs
        if jobs == 1:
            work()
        else:
            with ThreadPoolExecutor(jobs, thread_name_prefix="tacet") as pool:
                for each in [pool.submit(work) for _ in range(jobs)]:
                    each.result()
        _log.info("study %s: %d of %d rounds taken", self.name, done[0], n_trials)

    def _evaluate(self, objective: Callable[[dict[str, Any]], float | None], wait: float, catch: Any) -> bool:
        """One round; False: there are no more."""
        s = self.suggest(wait=wait)
        if s.state == "last":
            return False
        try:
            value = objective(dict(s.params))
        except catch as error:
            _log.warning("study %s: round %d failed (%s)", self.name, s.index, type(error).__name__)
            value = None
        except BaseException:
            s.failed()
            raise
        s.failed() if value is None or value != value else s.observe(value)
        return True

    @property
    def best(self) -> Recommendation:
        """The best point by what was released so far. StateError: nothing was yet, or the best depends on the context
        that a round brings."""
        return Recommendation(self._best())

    @property
    def best_params(self) -> dict[str, Any]:
        """Of `best`."""
        return self.best.params

    @property
    def best_value(self) -> float:
        """Of `best`: an estimate of the mean reward there, not the largest value that was measured."""
        return self.best.value

    def release(self) -> StudyRelease:
        """What was learnt, for anyone; costs nothing."""
        return StudyRelease(self._release())

    @property
    def trials(self) -> list[Suggestion]:
        """The rounds that were taken through this object. A client sees its own rounds and no others."""
        return list(self._trials)

    def trials_dataframe(self, *, everyone: bool = False) -> pd.DataFrame:
        """The rounds that were taken through this object, one's own (of a study in this process: after those that were
        taken before it was opened); or, with `everyone`, all of the study, as owners and analysts may see them: when
        each was taken and told, its parameters where they are public, and its value where that is a randomised report.
        Rewards and contexts of a central study are shown to nobody, and kept here for one's own rounds alone."""
        import pandas as pd

        if everyone:
            return pd.DataFrame(self._rounds())
        rows = self._earlier()
        for number, trial in enumerate(self.trials, len(rows)):
            row: dict[str, Any] = {"number": number, "state": trial.state, "value": trial.value}
            row.update({f"params_{name}": value for name, value in trial.params.items()})
            if isinstance(trial.context, Mapping):
                row.update({f"context_{name}": value for name, value in trial.context.items()})
            rows.append({**row, "ticket": trial.ticket})
        return pd.DataFrame(rows)

    def _earlier(self) -> list[dict[str, Any]]:
        return []

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
                        event["action"] = points[event["index"]] if points else []
                        row.update({f"params_{name}": value for name, value in _point(event).items()})
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


class _Waiting(Exception):
    def __init__(self, error: StateError) -> None:
        self.error = error


def _point(answer: dict[str, Any]) -> Any:
    """Parameters by name, of a suggestion, an event or a release."""
    return answer["point"] if "point" in answer else _by_coordinate(answer.get("action", []))


def _by_coordinate(action: Sequence[float]) -> dict[str, float]:
    return {f"x{i + 1}": value for i, value in enumerate(action)}


def _space(described: Any) -> Space | None:
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
