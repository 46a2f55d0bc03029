# SPDX-License-Identifier: Apache-2.0
"""The curator's side of the outsourced model: a private release of a table, and the desk that answers for it."""
from __future__ import annotations

import logging
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable

from tacet._native import Handle, interruptible
from tacet._table import Packed, columns_of, is_missing, refuse_missing
from tacet.errors import Error, InvalidValue, StateError, Unsupported
from tacet.ledger import Ledger
from tacet.modeler import Manifest
from tacet.space import Space
from tacet.trusted._elsewhere import Asked, Elsewhere
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted._parts import is_dask

if TYPE_CHECKING:
    import pandas as pd

_log = logging.getLogger("tacet.curate")


class Release:
    """A release in its folder: `manifest` says what it protects, `ledger` what it cost. `release.csv` and
    `manifest.json` are what may leave the house; the ledger is not.

    >>> Release("release/").manifest.noise                  # doctest: +SKIP
    'age 7.1, sex is kept with probability 0.95'
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.manifest = Manifest.load(self.folder / "manifest.json")

    @property
    def ledger(self) -> Ledger:
        return Ledger(self.folder / "ledger.db")

    def to_frame(self) -> pd.DataFrame:
        """The released rows: columns by name in their own units, levels as levels, dates as dates, missing as missing."""
        return self.manifest.frame(self.folder / "release.csv")

    def __repr__(self) -> str:
        return f"Release({str(self.folder)!r}, {self.manifest!r})"

    def _repr_html_(self) -> str:
        return self.manifest._repr_html_()


class _Watch:
    """What a long call and its callbacks share: whom to tell, and whether to go on."""

    def __init__(self, progress: Callable[[float], object] | None) -> None:
        self.progress = progress
        self.stop = ffi.new("bool *")
        self.failure: BaseException | None = None

    def run(self, call: Callable[[], None]) -> None:
        """Runs the call; Ctrl-C, or an exception in `progress`, ends it early and is raised."""
        try:
            interruptible(call, self.stop)
        except StateError:
            if self.failure is not None:
                raise self.failure from None
            raise
        if self.failure is not None:
            raise self.failure


@ffi.def_extern()  # type: ignore[misc]
def tacet_python_progress(fraction: float, user: Any) -> None:
    watch: _Watch = ffi.from_handle(user)
    try:
        if watch.progress is not None and watch.failure is None:
            watch.progress(fraction)
    except BaseException as error:  # raised by whoever called curate or audit
        watch.failure = error
        watch.stop[0] = True


def warn_few(few: Any) -> None:
    """Tells the holder of the rows that this machine will not know them again."""
    if few[0]:
        warnings.warn(
            "this table has too few distinct rows to be known again, unless it is exactly the same: name this ledger for "
            "whatever else is released of these people",
            stacklevel=3,
        )


def persons_of(table: Any, person: str | None) -> Any:
    """A number for each row, the same for rows of one person; NULL: rows count by themselves."""
    if person is None:
        return ffi.NULL
    columns = columns_of(table)
    if columns is None or person not in columns:
        raise InvalidValue(f"the table has no column '{person}'")
    seen: dict[Any, int] = {}
    numbers: list[int] = []
    for value in columns[person]:
        if is_missing(value):
            raise InvalidValue(f"column '{person}': row {len(numbers)} (counted from 0) is empty, but every row belongs to a person")
        numbers.append(seen.setdefault(str(value).strip(), len(seen)))
    return ffi.new("uint64_t[]", numbers)


def curate(
    table: Any,
    *,
    space: Space,
    eps: float,
    out: str | Path,
    delta: float | None = None,
    mechanism: str = "auto",
    person: str | None = None,
    rows_per_person: int = 0,
    ledger: str | Path | None = None,
    queries: int = 100,
    ticket: str = "release",
    to_whom: str = "modeler",
    budget_eps: float = 0.0,
    new_budget: str | None = None,
    eps_output: float | None = None,
    output_range: tuple[float, float] = (0.0, 1.0),
    values_unprotected: bool = False,
    threads: int = 0,
    progress: Callable[[float], object] | None = None,
) -> Release:
    """Releases a private version of a table's columns that the space names, each with its unit: charged first, then
    drawn, into the folder `out`.

    `table` is a frame, a mapping of columns, or an array in the order of the space. Without a `delta` the noise has pure
    eps. With `eps_output` measured values are randomised, too, within `output_range`; otherwise `values_unprotected`
    says that a person's value leaves as it is when their row is asked about: one of the two is needed. The ledger fixes the budget of
    these records with its first release; without a name it lies in the registry of this machine, where the same records
    find it again. Ctrl-C ends it early: what was charged by then is drawn, the same, by the next call with this ticket.

    A `dask.dataframe` stays where it is: each partition is drawn by its worker, after the one charge; name the `ledger`
    then, since this machine does not see rows to know them again.

    With `person`, a column that says whose row it is, the first `rows_per_person` rows of each person are released and
    the charge is for all of them: the claim is then about persons. The column itself never leaves.

    >>> release = curate(df, space=space, eps=3, values_unprotected=True, out="release/")      # doctest: +SKIP
    >>> release.manifest.noise                                          # doctest: +SKIP
    'age 7.1, sex is kept with probability 0.95'
    """
    _CSpace(space)  # refuses what is none
    if (eps_output is None) != values_unprotected:
        raise InvalidValue(
            "measured values: eps_output randomises them, values_unprotected=True lets them leave as they are; give one of the two"
        )
    watch = _Watch(progress)
    user = ffi.new_handle(watch)
    elsewhere = None
    if is_dask(table):
        if person is not None:
            raise Unsupported("a person may have rows in several partitions, and nobody counts them: person= needs a table in one process")
        elsewhere = Elsewhere(table, Asked(space.to_json(), mechanism, float(eps), 0.0 if delta is None else float(delta)))
        settings = basic_settings(mechanism, eps, delta, None)
        settings.engine = elsewhere.raw
    else:
        records = space._packed(table)
        refuse_missing(records, space._fields)
        settings = basic_settings(mechanism, eps, delta, records)
    texts = _texts(folder=out, ledger=ledger, to_whom=to_whom, ticket=ticket, new_budget=new_budget)
    for name, text in texts.items():
        setattr(settings, name, text)
    few = ffi.new("bool *")
    settings.few = few
    people = ffi.NULL if elsewhere is not None else persons_of(table, person)
    settings.persons, settings.rows_per_person = people, rows_per_person
    settings.queries, settings.budget_eps, settings.threads = queries, budget_eps, threads
    settings.progress, settings.user, settings.stop = lib.tacet_python_progress, user, watch.stop
    if eps_output is not None:
        settings.outputs_private = True
        randomizer(settings.outputs, "hybrid", eps_output, output_range)
    with _CSpace(space) as raw_space:
        settings.space = raw_space
        manifest = ffi.new("tacet_manifest *")
        try:
            watch.run(lambda: native.call(lib.tacet_curate_run, manifest, settings))
        except Error:
            if elsewhere is not None and elsewhere.failure is not None:
                raise elsewhere.failure from None
            raise
        lib.tacet_manifest_clear(manifest)
    warn_few(few)
    made = Release(out)
    _log.info("released %d rows into %s: %s", made.manifest.rows, out, made.manifest.claim)
    return made


def basic_settings(mechanism: str, eps: float, delta: float | None, records: Packed | None) -> Any:
    """What decides how rows are drawn, and the rows."""
    settings, kind = ffi.new("tacet_curate_settings *"), ffi.new("tacet_curate_mechanism *")
    lib.tacet_curate_defaults(settings)
    native.call(lib.tacet_curate_parse, kind, mechanism.encode())
    settings.mechanism, settings.eps, settings.delta = kind[0], eps, 0.0 if delta is None else delta
    if records is not None:
        settings.records, settings.record_count = ffi.cast("double *", records.address()), len(records)
    return settings


class Desk(Handle):
    """Where the curator answers: "measure row i" in, one value out, once for each question, entered in the ledger
    before it leaves.

    >>> with Desk(release, keys="keys/") as desk:           # doctest: +SKIP
    ...     desk.serve(evaluate=measure)                     # measure(row) -> float; None: it cannot be measured
    """

    def __init__(
        self,
        release: Release | str | Path,
        *,
        keys: str | Path | None = None,
        listen: str = "127.0.0.1:8443",
        ledger: str | Path | None = None,
    ) -> None:
        """`keys` is the folder of `desk_keys`. Without it the desk answers in this process alone."""
        self.release = release if isinstance(release, Release) else Release(release)
        self._evaluate: Callable[[int], float | None] | None = None
        self._failures: list[BaseException] = []
        self._self = ffi.new_handle(self)
        self._texts = _texts(folder=self.release.folder, ledger=ledger, keys=keys, listen=listen)
        self._keys = keys
        self._served: Any = None
        self._stop = threading.Event()
        super().__init__(ffi.NULL, lambda _: self._shut(), "desk")

    def _settings(self, desk: Any, evaluate: Callable[[int], float | None]) -> None:
        self._evaluate = evaluate
        desk.folder = self._texts["folder"]
        if "ledger" in self._texts:
            desk.ledger = self._texts["ledger"]
        desk.measure, desk.user = lib.tacet_python_measure, self._self

    def start(self, evaluate: Callable[[int], float | None]) -> str:
        """Begins to answer over HTTPS, beside this program, and gives the address. `evaluate(row)` measures a row and
        gives its value; None says that it cannot be measured. It is called from one thread at a time."""
        self._pointer  # noqa: B018 - refuses a desk that is closed
        if self._served is not None:
            raise StateError("this desk answers already")
        if self._keys is None:
            raise InvalidValue("a desk needs keys to answer over HTTPS: trusted.desk_keys makes them")
        settings = ffi.new("tacet_curator_settings *")
        lib.tacet_curator_defaults(settings)
        self._settings(ffi.addressof(settings, "desk"), evaluate)
        settings.keys, settings.listen = self._texts["keys"], self._texts["listen"]
        out = ffi.new("tacet_curator **")
        native.call(lib.tacet_curator_start, out, settings)
        self._served = out[0]
        host = ffi.string(self._texts["listen"]).decode().rpartition(":")[0]
        self.url = f"https://{host}:{lib.tacet_curator_port(out[0])}"
        return self.url

    def serve(self, evaluate: Callable[[int], float | None], *, seconds: float | None = None) -> None:
        """Answers until Ctrl-C, `stop()` from another thread, or `seconds` are over. An exception inside `evaluate`
        is told to the modeler as a failed evaluation, and raised here when the desk has stopped."""
        self.start(evaluate)
        try:
            self._stop.wait(seconds)
        except KeyboardInterrupt:
            pass
        finally:
            self.stop()
        if self._failures:
            raise self._failures[0]

    def stop(self) -> None:
        """Ends `serve`: what is in hand is answered. May be called from any thread."""
        self._stop.set()
        served, self._served = self._served, None
        if served is not None:
            lib.tacet_curator_stop(served)
            self._stop.clear()

    def ask(self, ticket: str, row: int, evaluate: Callable[[int], float | None]) -> float | None:
        """One question in this process, without the wire: charged, measured and entered like any other."""
        self._pointer  # noqa: B018
        settings = ffi.new("tacet_desk_settings *")
        lib.tacet_desk_defaults(settings)
        settings.patience = 1e6
        self._settings(settings, evaluate)
        out, reply = ffi.new("tacet_desk **"), ffi.new("tacet_desk_reply *")
        native.call(lib.tacet_desk_open, out, settings)
        before = len(self._failures)
        try:
            native.call(lib.tacet_desk_ask, out[0], reply, ticket.encode(), row)
        except Exception:
            if len(self._failures) > before:
                raise self._failures.pop() from None
            raise
        finally:
            lib.tacet_desk_close(out[0])
        return None if reply.failed else float(reply.value)

    def _shut(self) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Desk({str(self.release.folder)!r}{', closed' if self.closed else ''})"

    def _repr_html_(self) -> str:
        return self.release._repr_html_()


@ffi.def_extern(error=15)  # type: ignore[misc]
def tacet_python_measure(user: Any, value: Any, row: int, err: Any) -> int:
    desk: Desk = ffi.from_handle(user)
    try:
        assert desk._evaluate is not None
        measured = desk._evaluate(row)
        value[0] = float("nan") if measured is None else float(measured)
        if measured is None:
            return int(lib.TACET_UNSUPPORTED)
        return 0
    except BaseException as error:  # told to the modeler without its text, which may hold a value
        desk._failures.append(error)
        value[0] = 0.0
        return int(lib.tacet_error_set(err, lib.TACET_UNSUPPORTED, b"the evaluation failed"))


class _CSpace:
    """A space as the trusted library has it."""

    def __init__(self, space: Space) -> None:
        if not isinstance(space, Space):
            raise InvalidValue(f"space must be a tacet.Space, such as Space(age=Real(18, 90)), and is one {type(space).__name__}")
        self._text = space.to_json().encode()
        self._raw = ffi.new("tacet_space *")

    def __enter__(self) -> Any:
        lib.tacet_space_init(self._raw)
        native.call(lib.tacet_space_decode, self._raw, self._text, len(self._text))
        return self._raw

    def __exit__(self, *_: object) -> None:
        lib.tacet_space_clear(self._raw)


def _texts(**named: Any) -> dict[str, Any]:
    """C strings of those that are not None; keep the dictionary as long as they are used."""
    return {name: ffi.new("char[]", str(text).encode()) for name, text in named.items() if text is not None}


def randomizer(out: Any, name: str, eps: float, reach: tuple[float, float]) -> None:
    """Fills a tacet_ldp."""
    kind = ffi.new("tacet_ldp_kind *", lib.TACET_LDP_SPHERE)  # of a vector: none of those that are parsed
    if name != "sphere":
        native.call(lib.tacet_ldp_parse, kind, name.encode())
    raw = ffi.new("tacet_ldp *")
    native.call(lib.tacet_ldp_init, raw, kind[0], eps, float(reach[0]), float(reach[1]))
    ffi.memmove(ffi.addressof(out) if ffi.typeof(out).kind == "struct" else out, raw, ffi.sizeof("tacet_ldp"))
