# SPDX-License-Identifier: Apache-2.0
"""Reads frames that speak the dataframe protocol (`__dataframe__`), without a package. Columns come as lists of plain
cells; None is missing. Source: the published Python dataframe interchange protocol."""
from __future__ import annotations

import ctypes
import datetime
from typing import Any

from tacet.errors import InvalidValue, Unsupported

_INT, _UINT, _FLOAT, _BOOL, _STRING, _DATETIME, _CATEGORICAL = 0, 1, 2, 20, 21, 22, 23
_SENTINEL, _BITS, _BYTES = 2, 3, 4  # how a column marks what is missing
_EPOCH = datetime.date(1970, 1, 1)
_A_DAY_IN = {"s": 86400, "m": 86400 * 10**3, "u": 86400 * 10**6, "n": 86400 * 10**9}
_TYPES: dict[tuple[int, int], Any] = {
    (_INT, 8): ctypes.c_int8, (_INT, 16): ctypes.c_int16, (_INT, 32): ctypes.c_int32, (_INT, 64): ctypes.c_int64,
    (_UINT, 8): ctypes.c_uint8, (_UINT, 16): ctypes.c_uint16, (_UINT, 32): ctypes.c_uint32,
    (_UINT, 64): ctypes.c_uint64, (_FLOAT, 32): ctypes.c_float, (_FLOAT, 64): ctypes.c_double,
    (_BOOL, 8): ctypes.c_bool, (_DATETIME, 64): ctypes.c_int64, (_DATETIME, 32): ctypes.c_int32,
}  # fmt: skip


def read(frame: Any) -> dict[str, list[Any]]:
    """Every column of a frame by name."""
    table = frame.__dataframe__()
    names = list(table.column_names())
    if len(set(names)) != len(names):
        raise InvalidValue("the table has two columns of one name")
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for chunk in table.get_chunks():
        for name in names:
            columns[name] += _cells(name, chunk.get_column_by_name(name))
    return columns


def _cells(name: str, column: Any) -> list[Any]:
    kind = int(column.dtype[0])
    buffers, size = column.get_buffers(), _size(column)
    there = _valid(column, buffers, size)
    if kind == _STRING:
        return _texts(buffers, there, column.offset, size)
    data = _array(name, column, buffers["data"])
    how, sentinel = column.describe_null
    cells = [data[i] if there[i] else None for i in range(size)]
    if int(how) == _SENTINEL:
        cells = [None if cell == sentinel else cell for cell in cells]
    if kind == _CATEGORICAL:
        description = column.describe_categorical
        levels = description["categories"] if isinstance(description, dict) else description[2]
        held: Any = getattr(levels, "_col", levels)
        listed = list(held)
        return [None if code is None or code < 0 else listed[code] for code in cells]
    if kind == _DATETIME:
        return [None if cell is None else _day(name, column.dtype[2], cell) for cell in cells]
    return cells


def _size(column: Any) -> int:
    return int(column.size() if callable(column.size) else column.size)


def _array(name: str, column: Any, described: Any) -> Any:
    """The data of a column as an array of C, from its first cell."""
    buffer, (kind, bits, _, _) = described
    type_ = _TYPES.get((int(kind), int(bits)))
    if type_ is None:
        raise Unsupported(f"column '{name}' has a type of the dataframe protocol that no space has")
    start = buffer.ptr + column.offset * ctypes.sizeof(type_)
    return (type_ * _size(column)).from_address(start) if _size(column) else []


def _valid(column: Any, buffers: Any, size: int) -> list[bool]:
    how, null = int(column.describe_null[0]), column.describe_null[1]
    if how not in (_BITS, _BYTES) or not buffers.get("validity"):
        return [True] * size
    bits = buffers["validity"][0]
    held = (ctypes.c_uint8 * bits.bufsize).from_address(bits.ptr)
    if how == _BYTES:
        return [held[column.offset + i] != null for i in range(size)]
    return [(held[(column.offset + i) >> 3] >> ((column.offset + i) & 7) & 1) != null for i in range(size)]


def _texts(buffers: Any, there: list[bool], first: int, size: int) -> list[Any]:
    offsets, (_, bits, _, _) = buffers["offsets"]
    kind: Any = ctypes.c_int64 if int(bits) == 64 else ctypes.c_int32
    ends = (kind * (size + 1)).from_address(offsets.ptr + first * ctypes.sizeof(kind))
    start = buffers["data"][0].ptr
    return [ctypes.string_at(start + ends[i], ends[i + 1] - ends[i]).decode() if there[i] else None for i in range(size)]


def _day(name: str, format: str, stamp: int) -> datetime.date:
    if format.startswith("td"):
        return _EPOCH + datetime.timedelta(days=stamp if format == "tdD" else stamp // _A_DAY_IN["m"])
    if len(format) > 4:
        raise InvalidValue(f"column '{name}' has times in the zone {format[4:]}: turn them into dates first")
    return _EPOCH + datetime.timedelta(days=stamp // _A_DAY_IN[format[2:3]])
