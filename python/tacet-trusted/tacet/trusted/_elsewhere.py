# SPDX-License-Identifier: Apache-2.0
"""Releases of a `dask.dataframe`: each partition is checked and drawn by its worker, under a key that this process mints
and hands out after the one charge; this process gathers the lines, a few partitions at a time."""
from __future__ import annotations

from typing import Any, NamedTuple

from tacet._table import refuse_missing
from tacet.errors import Error
from tacet.space import Space
from tacet.trusted._lib import ffi, lib, native
from tacet.trusted._parts import Parts

AT_ONCE = 16  # partitions whose lines are held here


class Asked(NamedTuple):
    """What decides how a row is drawn; public."""

    space: str
    mechanism: str
    eps: float
    delta: float


class Part(NamedTuple):
    """What a worker is told of its part. As private as its rows."""

    mint: bytes
    noise: bytes
    tag: bytes
    scale: float
    first: int
    draw: bool


class Drawn(NamedTuple):
    rows: int
    tag: bytes
    lines: bytes


def part_run(table: Any, asked: Asked, part: Part) -> Drawn:
    """The work of one worker on its part; run twice, it gives the same bytes."""
    from tacet.trusted.outsourced import _CSpace, basic_settings

    space, rows, tag = Space.from_json(asked.space), ffi.new("size_t *"), ffi.new("unsigned char[16]")
    raw, blob = ffi.new("tacet_curate_part *"), ffi.new("tacet_blob *")
    raw.mint, raw.noise, raw.tag, raw.scale, raw.first, raw.draw = part
    lib.tacet_blob_init(blob)
    try:
        records = space._packed(table)
        refuse_missing(records, space._fields)
        with _CSpace(space) as raw_space:
            settings = basic_settings(asked.mechanism, asked.eps, asked.delta, records)
            settings.space = raw_space
            native.call(lib.tacet_curate_part_run, settings, raw, rows, tag, blob)
        return Drawn(int(rows[0]), bytes(ffi.buffer(tag)), bytes(ffi.buffer(blob.data, blob.size)) if blob.size else b"")
    except Error as error:
        raise type(error)(f"in the part of the table from row {part.first} on: {error.text}", error.status) from None
    finally:
        lib.tacet_blob_clear(blob)


class Elsewhere:
    """The engine of a release in parts, as the library calls it."""

    def __init__(self, table: Any, asked: Asked) -> None:
        self._parts, self._asked = Parts(table), asked
        self._checked: list[Drawn] = []
        self._lines: dict[int, bytes] = {}
        self.failure: BaseException | None = None
        self._self = ffi.new_handle(self)
        self.raw = ffi.new("tacet_curate_engine *")
        self.raw.parts, self.raw.user = self._parts.count, self._self
        self.raw.check, self.raw.draw = lib.tacet_python_check_part, lib.tacet_python_draw_part

    def check(self, number: int, part: Part) -> Drawn:
        if not self._checked:  # all at once
            each = [(self._asked, part._replace(first=first)) for first in self._parts.firsts]
            self._checked = self._parts.each(part_run, each)
        return self._checked[number]

    def draw(self, number: int, part: Part) -> bytes:
        if number not in self._lines:
            some = [k for k in range(number, min(number + AT_ONCE, self._parts.count)) if self._parts.lengths[k] > 0]
            each = [(self._asked, part._replace(first=self._parts.firsts[k], tag=self._checked[k].tag)) for k in range(self._parts.count)]
            self._lines = {k: drawn.lines for k, drawn in zip(some, self._parts.each(part_run, each, some))}
        return self._lines.pop(number)


def _part(raw: Any) -> Part:
    mint, noise, tag = (bytes(ffi.buffer(field)) for field in (raw.mint, raw.noise, raw.tag))
    return Part(mint, noise, tag, float(raw.scale), int(raw.first), bool(raw.draw))


def _failed(engine: Elsewhere, error: BaseException, err: Any) -> int:
    engine.failure = error  # raised by whoever called curate
    return int(lib.tacet_error_set(err, lib.TACET_UNSUPPORTED, b"a part of the table failed"))


@ffi.def_extern(error=2)  # type: ignore[misc]
def tacet_python_check_part(user: Any, number: int, part: Any, rows: Any, tag: Any, err: Any) -> int:
    engine: Elsewhere = ffi.from_handle(user)
    try:
        found = engine.check(number, _part(part))
        rows[0] = found.rows
        ffi.memmove(tag, found.tag, len(found.tag))
        return 0
    except BaseException as error:
        return _failed(engine, error, err)


@ffi.def_extern(error=2)  # type: ignore[misc]
def tacet_python_draw_part(user: Any, number: int, part: Any, lines: Any, err: Any) -> int:
    engine: Elsewhere = ffi.from_handle(user)
    try:
        text = engine.draw(number, _part(part))
        return int(lib.tacet_blob_append(lines, text, len(text), err))
    except BaseException as error:
        return _failed(engine, error, err)
