# SPDX-License-Identifier: Apache-2.0
"""Exact sums that any engine can add: a table in one process, or a `dask.dataframe` whose workers add up their own
partitions. The bits do not depend on how the rows were cut; one process charges and draws."""
from __future__ import annotations

from typing import Any, Callable, NamedTuple, Sequence

from tacet._native import Handle
from tacet._table import Packed, columns_of, pack, refuse_missing
from tacet.errors import Error, InvalidValue
from tacet.space import Space
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted._parts import Parts
from tacet.trusted.outsourced import _CSpace, _texts

Progress = Callable[[float], object]


class Question(NamedTuple):
    """What is asked of a log, as it goes to those who hold its rows. All of it is public."""

    space: str
    actions: int
    reward: str
    reward_range: tuple[float, float]
    eps: float

    def __call__(self, call: Callable[[Any], Any]) -> Any:
        """The result of a call with this question as the library has it."""
        with _CSpace(Space.from_json(self.space)) as raw:
            asked, texts = ffi.new("tacet_ab_question *"), _texts(reward=self.reward)
            asked.space, asked.action_columns, asked.reward, asked.eps = raw, self.actions, texts["reward"], self.eps
            asked.lo, asked.hi = self.reward_range
            return call(asked)


class Stage(NamedTuple):
    """One pass over the rows. The key says which rows are dealt to it, and is as private as they are."""

    number: int
    rows: int
    top: float
    key: bytes

    def raw(self) -> Any:
        stage = ffi.new("tacet_ab_stage *")
        setattr(stage, "pass", self.number)
        stage.rows, stage.top, stage.key = self.rows, self.top, self.key
        return stage


class Tally(Handle):
    """An exact sum of what rows add to a release. Tallies of one question and of other rows merge; the result does not
    depend on how the rows were cut. As private as the rows: keep it where they are.

    >>> tally(df, space=space, action="variant", reward="bought").digest()    # doctest: +SKIP
    '5b0f…'
    """

    def __init__(self, pointer: Any, plan: Any) -> None:
        self._plan = plan
        super().__init__(pointer, lib.tacet_tally_free, "tally")

    @property
    def rows(self) -> int:
        return int(lib.tacet_tally_rows(self._pointer))

    @property
    def parts(self) -> int:
        """Of how many parts of the data it is."""
        return int(lib.tacet_tally_parts(self._pointer))

    def digest(self) -> str:
        """Stands for the rows and their sums; the same however they were cut into parts."""
        out = ffi.new("unsigned char[32]")
        lib.tacet_tally_digest(self._pointer, out)
        return bytes(ffi.buffer(out)).hex()

    def merge(self, other: Tally) -> None:
        """Adds another tally, which stays. tacet.Conflict: of another question, or a part of it is in both."""
        native.call(lib.tacet_tally_merge, self._pointer, other._pointer)

    def to_bytes(self) -> bytes:
        """For another process."""
        blob = ffi.new("tacet_blob *")
        lib.tacet_blob_init(blob)
        try:
            native.call(lib.tacet_tally_save, self._pointer, blob)
            return bytes(ffi.buffer(blob.data, blob.size))
        finally:
            lib.tacet_blob_clear(blob)

    @classmethod
    def from_bytes(cls, saved: bytes, plan: Any) -> Tally:
        out = ffi.new("tacet_tally **")
        native.call(lib.tacet_tally_load, out, plan, saved, len(saved))
        return cls(out[0], plan)

    def __repr__(self) -> str:
        return "Tally(closed)" if self.closed else f"Tally({self.rows} rows, parts: {self.parts})"

    def _repr_html_(self) -> str:
        return f"<code>{self!r}</code>"


def plan_of(question: Question, stage: Stage) -> Any:
    plan = ffi.new("tacet_tally_plan *")
    question(lambda asked: native.call(lib.tacet_ab_stage_plan, plan, asked, stage.raw()))
    return plan


def rows_of(table: Any, space: Space, numbers: list[str], actions: int) -> Packed:
    """The columns of the space, actions first, then these columns of numbers, one row after the other."""
    columns = columns_of(table)
    if columns is None:
        raise InvalidValue("a log is a frame, or a mapping of columns")
    fields = [*space._fields, *({"name": name, "kind": "real"} for name in numbers)]
    packed = pack(columns, fields)
    refuse_missing(packed, [{**field, "missing": 0} if actions <= i < len(space) else field for i, field in enumerate(fields)])
    return packed


def part_tally(table: Any, question: Question, stage: Stage, first: int) -> bytes:
    """What a part of the rows adds to a pass, the first of which is number `first` of all: the work of one worker."""
    try:
        rows = rows_of(table, Space.from_json(question.space), [question.reward], question.actions)
        out, address = ffi.new("tacet_tally **"), ffi.cast("double *", rows.address())
        question(lambda asked: native.call(lib.tacet_ab_part_tally, out, asked, stage.raw(), address, len(rows), first))
    except Error as error:
        raise type(error)(f"in the part of the table from row {first} on: {error.text}", error.status) from None
    with Tally(out[0], None) as tally:
        return tally.to_bytes()


def merged(parts: Sequence[bytes], question: Question, stage: Stage) -> bytes:
    """Tallies of several parts as that of all of them."""
    with together(parts, plan_of(question, stage)) as tally:
        return tally.to_bytes()


def together(parts: Sequence[bytes], plan: Any) -> Tally:
    first, *others = parts
    tally = Tally.from_bytes(first, plan)
    for saved in others:
        with Tally.from_bytes(saved, plan) as other:
            tally.merge(other)
    return tally


def sum_of(parts: Parts, question: Question, stage: Stage) -> Tally:
    """The tally of one pass over all parts."""
    tallies = parts.reduced(part_tally, [(question, stage, first) for first in parts.firsts], merged, question, stage)
    return together(tallies, plan_of(question, stage))


def question_of(space: Space, action: str | Sequence[str], reward: str, reward_range: tuple[float, float], eps: float) -> Question:
    actions = [action] if isinstance(action, str) else list(action)
    ordered = space.only([*actions, *(name for name in space if name not in actions)])
    return Question(ordered.to_json(), len(actions), reward, (float(reward_range[0]), float(reward_range[1])), float(eps))


def tally(
    table: Any,
    *,
    space: Space,
    action: str | Sequence[str],
    reward: str,
    reward_range: tuple[float, float] = (0.0, 1.0),
    eps: float = 1.0,
) -> Tally:
    """The sum that `learn` would release of this table, without noise: private, and for comparing. Nothing is charged,
    since nothing leaves. The same bits for a frame in this process and for any partitioning of it by Dask.

    >>> tally(df, space=space, action="variant", reward="bought").digest()    # doctest: +SKIP
    '5b0f…'
    """
    parts, question = Parts(table), question_of(space, action, reward, reward_range, eps)
    if parts.rows == 0:
        raise InvalidValue("the table has no rows")
    return sum_of(parts, question, Stage(lib.TACET_AB_TABLE, parts.rows, question.reward_range[1], bytes(16)))


class Engine:
    """Gives the library the tally of each pass that a release asks for."""

    def __init__(self, parts: Parts, question: Question, progress: Progress | None = None) -> None:
        self._parts, self._question, self._progress = parts, question, progress
        self.failure: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def open(self, log: Any, asked: Any) -> None:
        try:
            native.call(lib.tacet_ab_log_open_engine, log, self._parts.rows, lib.tacet_python_engine, self.handle, asked)
        except Error:
            self.check()
            raise

    def check(self) -> None:
        """Raises what happened in an engine, where the library could only say that a pass failed."""
        if self.failure is not None:
            raise self.failure

    def run(self, stage: Stage) -> Any:
        tally = sum_of(self._parts, self._question, stage)
        if self._progress is not None:
            self._progress((1 + stage.number) / 4)
        pointer, tally._held = tally._held, None  # the library frees it
        return pointer


@ffi.def_extern(error=2)  # type: ignore[misc]
def tacet_python_engine(user: Any, out: Any, stage: Any, err: Any) -> int:
    engine: Engine = ffi.from_handle(user)
    try:
        asked = Stage(int(getattr(stage, "pass")), int(stage.rows), float(stage.top), bytes(ffi.buffer(stage.key)))
        out[0] = engine.run(asked)
        return 0
    except BaseException as error:  # raised by whoever called learn
        engine.failure = error
        return int(lib.tacet_error_set(err, lib.TACET_UNSUPPORTED, b"a pass over the parts of the table failed"))
