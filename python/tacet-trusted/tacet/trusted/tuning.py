# SPDX-License-Identifier: Apache-2.0
"""Tuning on private records: settings are tried, winners leave, scores do not.

What protects a record is that its value is clipped by itself and that nothing else depends on it. So `score` returns
one value for each record, and each of these is refused in words: a mean, a scorer that stops half-way, pruning by
validation scores, cross-validation among the records.
"""
from __future__ import annotations

import os
import pickle
import threading
from array import array
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping

from tacet._native import Handle
from tacet._table import BadCells, convert, numpy
from tacet.display import table, up
from tacet.errors import InvalidValue, StateError, Unsupported
from tacet.space import Category, Column, Integer, Log, Real, Space
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted.outsourced import _CSpace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Params = dict[str, Any]
_MEAN = (
    "score() must return one value for each of the {n} records, in their order, and returned {got} (a mean cannot be "
    "clipped record by record, and what one record does to it is bounded by nobody)"
)
_PRUNE = (
    "pruning by validation scores is early stopping on the records: when a trial stops would tell of them, and the "
    "promise would not hold. Stop by training scores, or after a fixed number of steps"
)


class SettingFailed(Exception):
    """Raised by `score` for a setting that cannot be evaluated whatever the records are (a model that cannot be
    trained): it counts as the worst. A record that cannot be scored is NaN instead; anything else that is raised stops
    the run, for a failure that a record can cause is not covered."""


@dataclass(frozen=True)
class Score:
    """The winner's mean on records that the search did not see, with noise, and an interval for the population."""

    value: float
    lower: float
    upper: float
    level: float
    records: int

    def __str__(self) -> str:
        return f"{self.value:.3g} ({self.lower:.3g} to {self.upper:.3g}, {100 * self.level:g} %)"


@dataclass(frozen=True)
class Tuned:
    """What left: the chosen setting, its score, and the winner of each round. Everything here may be shown.

    >>> tuned = trusted.tune(score, space, records=len(y_val), eps=1)      # doctest: +SKIP
    >>> tuned.params, tuned.score, tuned.eps                               # doctest: +SKIP
    """

    params: Params
    score: Score | None
    winners: list[Params]
    eps: float
    records: int
    evaluations: int
    private: bool
    space: Space = field(repr=False)

    def plot(self, ax: Axes | None = None) -> Axes:
        """The trajectory of winners: each column from its low end to its high end, round by round."""
        from tacet.plots import winners

        return winners(self.space, self.winners, ax=ax)

    def _repr_html_(self) -> str:
        told = "none" if self.score is None else str(self.score)
        private = f"eps = {up(self.eps)} for one record" if self.private else "NONE: seeded noise"
        return table(["tuned", ""], [*self.params.items(), ("score", told), ("guarantee", private)])


class _Run(Handle):
    """A run in the C library. One thread at a time: callers hold the lock."""

    def __init__(self, settings: Any, ask: Any) -> None:
        out = ffi.new("tacet_tune **")
        native.call(lib.tacet_tune_open, out, settings, ask)
        super().__init__(out[0], lib.tacet_tune_close, "tuning run")


@contextmanager
def _ledger(path: str | Path, budget_eps: float) -> Iterator[Any]:
    """The ledger at `path`; one with this budget is made where there is none."""
    out = ffi.new("tacet_ledger **")
    native.call(lib.tacet_tune_ledger_open, out, str(path).encode(), budget_eps)
    try:
        yield out[0]
    finally:
        lib.tacet_ledger_close(out[0])


def _settings(space: Any, columns: Space, options: Mapping[str, Any], kept: list[Any]) -> Any:
    settings = ffi.new("tacet_tune_settings *")
    lib.tacet_tune_settings_defaults(settings)
    settings.space = space
    settings.lower, settings.upper = (float(end) for end in options["range"])
    for name in ("records", "evaluations", "seed"):
        if options[name] != int(options[name]) or options[name] < 0:
            raise InvalidValue(f"{name} must be a whole number, and not negative")
        setattr(settings, name, int(options[name]))
    for name in ("eps", "kept", "contrast"):
        setattr(settings, name, float(options[name]))
    settings.minimize = bool(options["minimize"])
    if options["reference"] is not None:
        record = columns.records({name: [value] for name, value in options["reference"].items()})[0]
        kept.append(ffi.new("double[]", [float(value) for value in record]))
        settings.reference = kept[-1]
    native.call(lib.tacet_tune_plan_get, ffi.new("tacet_tune_plan *"), settings)  # before a ledger is made with this eps
    return settings


def _values(returned: Any, n: int) -> Any:
    """One double for each record, or the words why not."""
    np = numpy()
    if np is None:
        return _plain_values(returned, n)
    values = np.asarray(returned)
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    if values.ndim != 1 or len(values) != n:
        got = f"one {type(returned).__name__}" if values.ndim == 0 else f"an array of shape {values.shape}"
        raise InvalidValue(_MEAN.format(n=n, got=got))
    if values.dtype.kind == "O":  # such as pandas' nullable columns
        bad = BadCells()
        values = np.asarray(convert({"name": "score", "kind": "real"}, values, bad))
        bad.check()
    if values.dtype.kind not in "fiub":
        raise InvalidValue(f"score() must return numbers, and returned {values.dtype}")
    return np.ascontiguousarray(values, dtype=np.float64)


def _plain_values(returned: Any, n: int) -> Any:
    """The same, where NumPy is not installed."""
    if isinstance(returned, (int, float)) or len(returned) != n:
        got = "one number" if isinstance(returned, (int, float)) else f"{len(returned)} values"
        raise InvalidValue(_MEAN.format(n=n, got=got))
    return array("d", [float(value) for value in returned])


def tune(
    score: Callable[[Params], Any],
    space: Space,
    *,
    records: int,
    range: tuple[float, float] = (0.0, 1.0),
    eps: float = 1.0,
    evaluations: int = 100,
    minimize: bool = False,
    kept: float = 0.2,
    contrast: float = 0.0,
    reference: Params | None = None,
    seed: int = 1,
    workers: int = 1,
    ledger: str | Path = "tune.ledger.db",
    budget_eps: float = 0.0,
    ticket: str = "tune",
    state: str | Path | None = None,
    noise_seed: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Tuned:
    """Tries `evaluations` settings of `space` and returns the best, eps-DP in each of `records` validation records.

    `score(params)` returns one value for each record, in their order, within `range`; NaN is a record that could not be
    scored, and what lies outside counts as the nearer end. It must not let one record's value depend on another record:
    train on other data. `state` names a file, private, from which a run that was killed goes on. A share `kept` of the
    records is for the winner's score. The ledger holds `budget_eps`, this run's eps if left out: another search of the
    same records needs more of it, and a `ticket` of its own; the same one gives what it gave, whatever `score` is now.

    >>> def score(params):                                                            # doctest: +SKIP
    ...     model = SVC(**params).fit(X_train, y_train)
    ...     return model.predict(X_val) == y_val
    >>> space = tacet.Space(C=tacet.Log(0.01, 100), gamma=tacet.Log(1e-4, 1))         # doctest: +SKIP
    >>> trusted.tune(score, space, records=len(y_val), eps=1).params                  # doctest: +SKIP
    """
    if workers < 1:
        raise InvalidValue("workers must be at least 1")
    options = dict(records=records, range=range, eps=eps, evaluations=evaluations, minimize=minimize, kept=kept,
                   contrast=contrast, reference=reference, seed=seed)  # fmt: skip
    texts: list[Any] = [ffi.new("char[]", str(ticket).encode())]
    with ExitStack() as stack:
        settings = _settings(stack.enter_context(_CSpace(space)), space, options, texts)
        ask = ffi.new("tacet_tune_ask *")
        ask.ticket = texts[0]
        if state is not None:
            texts.append(ffi.new("char[]", os.fsencode(state)))
            ask.state = texts[-1]
        if noise_seed is None:
            ask.ledger = stack.enter_context(_ledger(ledger, budget_eps or eps))
        else:
            noise = ffi.new("tacet_noise **")
            native.call(lib.tacet_noise_open_seeded, noise, noise_seed, 0)
            stack.callback(lib.tacet_noise_close, noise[0])
            ask.noise = noise[0]
        run = stack.enter_context(_Run(settings, ask))
        _evaluate(run, score, space, records, workers, progress)
        tuned = _tuned(run, space, eps, records, evaluations)
    return tuned


def _evaluate(
    run: _Run, score: Callable[[Params], Any], space: Space, n: int, workers: int,
    progress: Callable[[int, int], None] | None,
) -> None:  # fmt: skip
    lock = threading.Lock()
    number, record = ffi.new("size_t *"), ffi.new("double[]", len(space))
    nobody = ffi.cast("size_t", -1)

    def next_setting() -> tuple[int, Params] | None:
        with lock:
            native.call(lib.tacet_tune_next, run._pointer, number, record)
            if number[0] == int(nobody):
                return None
            return int(number[0]), space.rows([ffi.unpack(record, len(space))])[0]

    def work(setting: int, params: Params) -> None:
        try:
            values = _values(score(params), n)
        except SettingFailed:
            with lock:
                native.call(lib.tacet_tune_fail, run._pointer, setting)
        else:
            with lock:
                native.call(
                    lib.tacet_tune_tell, run._pointer, setting, ffi.from_buffer("double[]", values), len(values)
                )
        if progress is not None:
            with lock:
                now = ffi.new("tacet_tune_progress *")
                lib.tacet_tune_progress_get(run._pointer, now)
            progress(int(now.told), int(now.planned))

    with ThreadPoolExecutor(workers) as pool:
        running: set[Future[None]] = set()
        while True:
            while len(running) < workers and (found := next_setting()) is not None:
                running.add(pool.submit(work, *found))
            if not running:
                break
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                future.result()  # what stops the run; nothing was noted of its setting
    if not lib.tacet_tune_done(run._pointer):
        raise StateError("the run ended before it was done")


def _tuned(run: _Run, space: Space, eps: float, records: int, evaluations: int) -> Tuned:
    record, receipt = ffi.new("double[]", len(space)), ffi.new("tacet_receipt *")
    winners, private = [], True
    for k in range_(lib.tacet_tune_winners(run._pointer)):
        native.call(lib.tacet_tune_winner, run._pointer, k, record, receipt)
        winners.append(space.rows([ffi.unpack(record, len(space))])[0])
        private = private and bool(receipt.is_private)
    found = ffi.new("tacet_tune_score *")
    score = None
    if lib.tacet_tune_score_get(run._pointer, found, ffi.NULL) == 0:
        score = Score(found.value, found.lower, found.upper, found.level, int(found.records))
    return Tuned(winners[-1], score, winners, eps, records, evaluations, private, space)


range_ = range  # `range` is also what a value's range is called


@dataclass(frozen=True)
class Chosen:
    """The best of a random number of private trainings: what may be shown. `model` is that of the chosen run.

    >>> chosen = trusted.tune_private(train, space, eps=0.5, runs=30)      # doctest: +SKIP
    >>> chosen.model.predict(x)                                            # doctest: +SKIP
    """

    params: Params
    score: float
    model: Any
    eps: float
    delta: float

    def _repr_html_(self) -> str:
        rows = [*self.params.items(), ("score", f"{self.score:.3g}"), ("eps", up(self.eps)), ("delta", up(self.delta))]
        return table(["chosen", ""], rows)


class _Stopping(Handle):
    def __init__(self, settings: Any, ask: Any) -> None:
        out = ffi.new("tacet_stopping **")
        native.call(lib.tacet_stopping_open, out, settings, ask)
        super().__init__(out[0], lib.tacet_stopping_close, "tuning run")


def tune_private(
    train: Callable[[Params], tuple[float, Any]],
    space: Space,
    *,
    eps: float = 0.0,
    rho: float = 0.0,
    delta: float = 0.0,
    runs: float = 30.0,
    ledger: str | Path = "tune.ledger.db",
    budget_eps: float = 0.0,
    ticket: str = "tune",
    state: str | Path | None = None,
) -> Chosen:
    """The best of a random number of private trainings, `runs` on average, at about the price of three.

    `train(params)` trains with differential privacy and returns a private score and the model; training and score
    together are `eps`-DP (pure), or `rho`-zCDP, priced at `delta`. Both must hold for every setting of the space. The
    choice is charged before the first run. Show what is returned and nothing else: not the number of runs, not their
    time. A training that fails gives a score of NaN or raises `SettingFailed`; any other error ends the run, and that
    training is drawn again by the next call, so none may come from what it drew.

    >>> trusted.tune_private(train, space, eps=0.5, runs=30).eps      # doctest: +SKIP
    1.5
    """
    settings = ffi.new("tacet_stopping_settings *")
    law = ffi.new("tacet_select *")
    ask = ffi.new("tacet_tune_ask *")
    texts = [ffi.new("char[]", str(ticket).encode())]
    ask.ticket = texts[0]
    kept = None if state is None else Path(f"{os.fspath(state)}.model")
    with ExitStack() as stack:
        lib.tacet_stopping_settings_defaults(settings)
        settings.space = stack.enter_context(_CSpace(space))
        settings.runs, settings.eps, settings.rho, settings.delta = runs, eps, rho, delta
        native.call(lib.tacet_stopping_price, law, settings)
        if law.delta > 0:
            raise Unsupported("a ledger of pure eps cannot hold this price: state eps of one run, or see calibrate select")
        ask.ledger = stack.enter_context(_ledger(ledger, budget_eps or law.eps))
        if state is not None:
            texts.append(ffi.new("char[]", os.fsencode(state)))
            ask.state = texts[-1]
        run = stack.enter_context(_Stopping(settings, ask))
        model = _train_all(run, train, space, kept)
        record, score = ffi.new("double[]", len(space)), ffi.new("double *")
        native.call(lib.tacet_stopping_result, run._pointer, record, score)
        params = space.rows([ffi.unpack(record, len(space))])[0]
        if model is None and kept is not None and kept.exists():
            model = _kept(kept)[2]
    return Chosen(params, float(score[0]), model, float(law.eps), float(law.delta))


def _train_all(run: _Stopping, train: Callable[[Params], tuple[float, Any]], space: Space, kept: Path | None) -> Any:
    """The model of the best run of this process; None: there was none. Kept beside the state, private, for the next."""
    number, record, best = ffi.new("size_t *"), ffi.new("double[]", len(space)), ffi.new("bool *")
    model = None
    while True:
        native.call(lib.tacet_stopping_next, run._pointer, number, record)
        if kept is not None:
            _settle(kept, _beside(kept), int(number[0]))
        if int(number[0]) == int(ffi.cast("size_t", -1)):
            return model
        try:
            score, trained = train(space.rows([ffi.unpack(record, len(space))])[0])
        except SettingFailed:
            score, trained = float("nan"), None
        if kept is not None:  # before it is told: a model that won and is lost cannot be had again
            with os.fdopen(os.open(_beside(kept), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                pickle.dump((int(number[0]), float("-inf") if isnan(score) else float(score), trained), file)
        native.call(lib.tacet_stopping_tell, run._pointer, number[0], float(score), best)
        if best[0]:
            model = trained
        if kept is not None:
            _beside(kept).replace(kept) if best[0] else _beside(kept).unlink()


def _beside(kept: Path) -> Path:
    return kept.with_name(kept.name + ".new")


def _kept(file: Path) -> tuple[int, float, Any]:
    """The number of a run, its score and its model."""
    return pickle.loads(file.read_bytes())  # type: ignore[no-any-return]


def _settle(kept: Path, new: Path, next_run: int) -> None:
    """What a killed process left: a run that was told may be the best; one that was not is trained again."""
    if not new.exists():
        return
    try:
        number, score, _ = _kept(new)
    except (EOFError, pickle.UnpicklingError):  # cut short, so never told
        number, score = next_run, 0.0
    if number != next_run and (not kept.exists() or score > _kept(kept)[1]):
        new.replace(kept)
    else:
        new.unlink()


class Trial:
    """What an objective is given: parameters by their names, as Optuna's trials hand them out."""

    def __init__(self, params: Params, space: Space) -> None:
        self.params = params
        self._space = space

    def _get(self, name: str) -> Any:
        if name not in self.params:
            raise InvalidValue(f"the space has no column '{name}': it is fixed before the first trial")
        return self.params[name]

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False, step: float | None = None) -> float:
        self._check(name, (Log if log else Real)(low, high), step)
        return float(self._get(name))

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False, step: int = 1) -> int:
        self._check(name, Integer(low, high), step if step != 1 else log or None)
        return int(self._get(name))

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        value = self._get(name)
        by_text = {str(choice): choice for choice in choices}
        if value not in by_text:
            raise InvalidValue(f"the space has other levels for '{name}' than the objective")
        return by_text[value]

    def _check(self, name: str, asked: Any, step: Any) -> None:
        self._get(name)
        _no_steps(name, step)
        column: Any = self._space[name]
        if column.kind != asked.kind or float(column.low) != asked.low or float(column.high) != asked.high:
            raise InvalidValue(f"column '{name}' of the space is {column!r}, and the objective asks for {asked!r}")

    def report(self, value: float, step: int) -> None:
        raise Unsupported(_PRUNE)

    def should_prune(self) -> bool:
        raise Unsupported(_PRUNE)


def _no_steps(name: str, step: Any) -> None:
    if step is not None:
        raise Unsupported(f"column '{name}': no steps, and no logarithm of whole numbers; a categorical can name the values")


def _from_distributions(space: Mapping[str, Any]) -> Space:
    """Optuna's distributions as a space; columns of a space stay as they are."""
    columns: dict[str, Column] = {}
    for name, given in space.items():
        if isinstance(given, Column):
            columns[name] = given
        elif hasattr(given, "choices"):
            columns[name] = Category(*(str(choice) for choice in given.choices))
        elif type(given).__name__.startswith("Int"):
            _no_steps(name, given.step if given.step != 1 else getattr(given, "log", False) or None)
            columns[name] = Integer(given.low, given.high)
        elif hasattr(given, "low"):
            _no_steps(name, getattr(given, "step", None))
            columns[name] = (Log if getattr(given, "log", False) else Real)(given.low, given.high)
        else:
            raise InvalidValue(f"column '{name}' must be a column of a space or a distribution of Optuna")
    return Space(columns)


class TuneStudy:
    """Tuning in the shape of an Optuna study: `optimize(objective, n_trials)`, then `best_params` and `best_value`.

    The objective returns one value for each record. There are no trials to look at: their scores stay inside.

    >>> study = TuneStudy({"C": FloatDistribution(0.01, 100, log=True)}, records=1000, eps=1)   # doctest: +SKIP
    >>> study.optimize(objective, n_trials=100)                                                 # doctest: +SKIP
    >>> study.best_params                                                                       # doctest: +SKIP
    """

    def __init__(
        self,
        space: Mapping[str, Any],
        *,
        records: int,
        direction: str = "maximize",
        range: tuple[float, float] = (0.0, 1.0),
        eps: float = 1.0,
        kept: float = 0.2,
        seed: int = 1,
        ledger: str | Path = "tune.ledger.db",
        budget_eps: float = 0.0,
        ticket: str = "tune",
        state: str | Path | None = None,
        noise_seed: int | None = None,
    ) -> None:
        """Arguments are those of `tune`."""
        if direction not in ("maximize", "minimize"):
            raise InvalidValue("direction is maximize or minimize")
        self.space = space if isinstance(space, Space) else _from_distributions(space)
        self._options: dict[str, Any] = {
            "records": records, "minimize": direction == "minimize", "range": range, "eps": eps, "kept": kept,
            "seed": seed, "ledger": ledger, "budget_eps": budget_eps, "ticket": ticket, "state": state, "noise_seed": noise_seed,
        }  # fmt: skip
        self._tuned: Tuned | None = None

    def optimize(self, objective: Callable[[Trial], Any], n_trials: int = 100, n_jobs: int = 1) -> None:
        self._tuned = tune(
            lambda params: objective(Trial(params, self.space)), self.space, evaluations=n_trials, workers=n_jobs,
            **self._options,
        )  # fmt: skip

    @property
    def result(self) -> Tuned:
        if self._tuned is None:
            raise StateError("nothing was optimised yet")
        return self._tuned

    def __repr__(self) -> str:
        return f"TuneStudy({self._options['records']} records, {self._tuned if self._tuned is not None else 'not begun'})"

    def _repr_html_(self) -> str:
        return self.result._repr_html_() if self._tuned is not None else table(["tuning", "not begun"], [])

    @property
    def best_params(self) -> Params:
        return self.result.params

    @property
    def best_value(self) -> float:
        if self.result.score is None:
            raise StateError("no records were kept for a score")
        return self.result.score.value

    @property
    def trials(self) -> None:
        raise Unsupported("scores of trials are not released: only winners are (study.result.winners)")
