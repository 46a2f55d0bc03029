# SPDX-License-Identifier: Apache-2.0
"""Reads tables that speak the Arrow C stream (`__arrow_c_stream__`), without a package: the three C structures of the
Arrow C data interface, seen through ctypes. Columns come as lists of plain cells; None is missing.

Source: the published specification of the Arrow columnar format and its C data interface. Nested columns, and types
that no space has, are refused by name.
"""
from __future__ import annotations

import ctypes
import datetime
from typing import Any, Callable

from tacet.errors import InvalidValue, Unsupported

_EPOCH = datetime.date(1970, 1, 1)
_A_DAY_IN = {"s": 86400, "m": 86400 * 10**3, "u": 86400 * 10**6, "n": 86400 * 10**9}


class _Schema(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_void_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip


class _Array(ctypes.Structure):
    pass


_Array._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))), ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))), ("private_data", ctypes.c_void_p),
]  # fmt: skip


class _Stream(ctypes.Structure):
    pass


_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]  # fmt: skip

_NUMBERS = {
    b"c": ctypes.c_int8, b"C": ctypes.c_uint8, b"s": ctypes.c_int16, b"S": ctypes.c_uint16, b"i": ctypes.c_int32,
    b"I": ctypes.c_uint32, b"l": ctypes.c_int64, b"L": ctypes.c_uint64, b"f": ctypes.c_float, b"g": ctypes.c_double,
}  # fmt: skip


def read(table: Any) -> dict[str, list[Any]]:
    """Every column of a stream by name. Its batches are read one after the other and given back."""
    capsule = table.__arrow_c_stream__()
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.restype, address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(address(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    schema = _Schema()
    _taken(stream, stream.contents.get_schema(stream, ctypes.byref(schema)))
    try:
        if schema.format != b"+s":
            raise InvalidValue("the stream is no table: it has one column without a name")
        fields = [schema.children[i].contents for i in range(schema.n_children)]
        names = [(field.name or b"").decode() for field in fields]
        if len(set(names)) != len(names):
            raise InvalidValue("the table has two columns of one name")
        columns: dict[str, list[Any]] = {name: [] for name in names}
        while True:
            batch = _Array()
            _taken(stream, stream.contents.get_next(stream, ctypes.byref(batch)))
            if not batch.release:
                return columns
            try:
                for i, name in enumerate(names):
                    cells = _cells(name, fields[i], batch.children[i].contents)
                    columns[name] += cells[batch.offset : batch.offset + batch.length]
            finally:
                batch.release(ctypes.byref(batch))
    finally:
        if schema.release:
            schema.release(ctypes.byref(schema))


def _taken(stream: Any, failed: int) -> None:
    if failed:
        raise InvalidValue("the table's Arrow stream ended with an error")


def _cells(name: str, schema: _Schema, values: _Array) -> list[Any]:
    """The cells of one column of a batch, from its first: `offset` is already applied."""
    if schema.dictionary:
        levels = _cells(name, schema.dictionary.contents, values.dictionary.contents)
        codes = _stored(name, schema.format, values)
        cells = [levels[code] if code is not None and code >= 0 else None for code in codes]
    else:
        cells = _stored(name, schema.format, values)
    return cells


def _stored(name: str, format: bytes, values: _Array) -> list[Any]:
    first, count = values.offset, values.length
    if format == b"n":
        return [None] * count
    read_one = _reader(name, format, values)
    valid = values.buffers[0] if values.n_buffers else None
    if not valid or values.null_count == 0:
        return [read_one(i) for i in range(first, first + count)]
    bits = ctypes.cast(valid, ctypes.POINTER(ctypes.c_uint8))
    return [read_one(i) if bits[i >> 3] >> (i & 7) & 1 else None for i in range(first, first + count)]


def _reader(name: str, format: bytes, values: _Array) -> Callable[[int], Any]:
    """How one cell is read from the buffers of a type."""

    def buffer(number: int, kind: Any) -> Any:
        return ctypes.cast(values.buffers[number], ctypes.POINTER(kind))

    if format in _NUMBERS:
        data = buffer(1, _NUMBERS[format])
        return lambda i: data[i]
    if format == b"b":
        bits = buffer(1, ctypes.c_uint8)
        return lambda i: bool(bits[i >> 3] >> (i & 7) & 1)
    if format in (b"u", b"U"):
        ends = buffer(1, ctypes.c_int32 if format == b"u" else ctypes.c_int64)
        text = values.buffers[2] or 0
        return lambda i: ctypes.string_at(text + ends[i], ends[i + 1] - ends[i]).decode()
    if format in (b"tdD", b"tdm"):
        stamps = buffer(1, ctypes.c_int32 if format == b"tdD" else ctypes.c_int64)
        a_day = 1 if format == b"tdD" else _A_DAY_IN["m"]
        return lambda i: _EPOCH + datetime.timedelta(days=stamps[i] // a_day)
    if format.startswith(b"ts") and format[2:3].decode() in _A_DAY_IN:
        if format[4:]:  # stamps are in UTC: the day that another zone's clock showed is not in them
            raise InvalidValue(f"column '{name}' has times in the zone {format[4:].decode()}: turn them into dates first")
        stamps, a_day = buffer(1, ctypes.c_int64), _A_DAY_IN[format[2:3].decode()]
        return lambda i: _EPOCH + datetime.timedelta(days=stamps[i] // a_day)
    raise Unsupported(f"column '{name}' has a type of Arrow that no space has")
