# SPDX-License-Identifier: Apache-2.0
"""Tables as people have them, turned into what the C library takes: one row after the other, one double a column.

One conversion for all: frames of pandas with any of its column types, mappings of columns, anything that speaks the
Arrow C stream or the dataframe protocol, arrays of numbers, lists. Levels become their number, dates their day, what
is missing NaN. Every cell that cannot be used is named by row and column, the first twenty of them at once; a cell's
value is in no message.

NumPy is used where it is installed and never needed: without it the same doubles come out of `array.array`.
"""
from __future__ import annotations

import datetime
import functools
import math
import re
from array import array
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Callable, Iterable

from tacet.errors import InvalidValue

MISSING = {"", "NA", "N/A", "NaN", "nan", "null", "?"}
NAN = float("nan")
NAMED = 20  # how many bad cells an error names
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WANTED = {"is not a number": "numbers", "is not a date": "dates", "is none of its levels": "levels of the space"}
_EPOCH = datetime.date(1970, 1, 1).toordinal()


@functools.cache
def numpy() -> Any:
    """The module, or None where it is not installed."""
    try:
        import numpy as np
    except ImportError:
        return None
    return np


class Packed:
    """Doubles, row by row, with the memory that holds them: `address()` is good as long as this object is."""

    def __init__(self, rows: int, columns: int) -> None:
        self.rows, self.columns = rows, columns
        np = numpy()
        self.data: Any = array("d", bytes(8 * rows * columns)) if np is None else np.empty((rows, columns))

    def fill(self, number: int, column: Any) -> None:
        if isinstance(self.data, array):
            self.data[number :: self.columns] = column
        else:
            self.data[:, number] = numpy().frombuffer(column) if isinstance(column, array) else column

    def address(self) -> int:
        if isinstance(self.data, array):
            return self.data.buffer_info()[0]
        return int(self.data.ctypes.data)

    def flat(self) -> Any:
        """All of it in one dimension: an array of NumPy where that is installed, else of `array`."""
        return self.data if isinstance(self.data, array) else self.data.reshape(-1)

    def __len__(self) -> int:
        return self.rows


class BadCells:
    """Cells that cannot be used, gathered so that one error names them all."""

    def __init__(self) -> None:
        self.found: list[tuple[int, str, str]] = []

    def add(self, row: int, column: str, why: str) -> None:
        self.found.append((row, column, why))

    def check(self) -> None:
        if not self.found:
            return
        named = [f"row {row} (counted from 0): column '{column}' {why}" for row, column, why in sorted(self.found)]
        more = f"; and {len(named) - NAMED} more cells" if len(named) > NAMED else ""
        raise InvalidValue("; ".join(named[:NAMED]) + more)


def columns_of(table: Any) -> Mapping[str, Any] | None:
    """A table as a mapping of columns by name; None where it has no names: an array, or rows in a list."""
    if isinstance(table, Mapping):
        return table
    if _is_frame(table):
        return _Frame(table)
    if hasattr(table, "__arrow_c_stream__"):
        from tacet import _arrow

        return _arrow.read(table)
    if hasattr(table, "__dataframe__"):
        from tacet import _interchange

        return _interchange.read(table)
    return None


def _is_frame(table: Any) -> bool:
    """pandas, and what looks like it: columns are names, and `table[name]` is one of them."""
    names = getattr(table, "columns", None)
    return names is not None and hasattr(type(table), "__getitem__") and all(isinstance(n, (str, int, tuple)) for n in names)


class _Frame(Mapping[str, Any]):
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        names = frame.columns
        if getattr(names, "nlevels", 1) > 1:
            raise InvalidValue("the frame has a MultiIndex of columns: give it plain names first")
        self._names = list(names)
        if len(set(self._names)) != len(self._names):
            raise InvalidValue("the table has two columns of one name")

    def __getitem__(self, name: str) -> Any:
        return self._frame[name]

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def pack(table: Any, fields: Sequence[dict[str, Any]]) -> Packed:
    """The columns that `fields` describe (as in a space's JSON), in their order."""
    columns = columns_of(table)
    if columns is None:
        return _pack_array(table, len(fields))
    absent = [column["name"] for column in fields if column["name"] not in columns]
    if absent:
        raise InvalidValue(f"the table has no column '{absent[0]}'")
    bad = BadCells()
    converted = [convert(column, columns[column["name"]], bad) for column in fields]
    bad.check()
    lengths = {len(column) for column in converted}
    if len(lengths) > 1:
        raise InvalidValue("the columns of the table have different lengths")
    packed = Packed(lengths.pop() if lengths else 0, len(fields))
    for number, column in enumerate(converted):
        packed.fill(number, column)
    return packed


def refuse_missing(packed: Packed, fields: Sequence[dict[str, Any]]) -> None:
    """Where every cell is needed: names those that are missing in columns that have nothing to stand for them."""
    np, bad = numpy(), BadCells()
    for number, column in enumerate(fields):
        if column.get("missing") is not None:
            continue
        if isinstance(packed.data, array):
            missing = [row for row, cell in enumerate(packed.data[number :: packed.columns]) if cell != cell]
        else:
            missing = np.flatnonzero(np.isnan(packed.data[:, number])).tolist()
        for row in missing:
            bad.add(row, column["name"], "is missing")
    bad.check()


def _pack_array(table: Any, width: int) -> Packed:
    """An array of numbers in the order of the columns. One of C-contiguous doubles is taken as it is, not copied."""
    np = numpy()
    shape = f"the array must have two dimensions and {width} columns, as the space has"
    if np is None or not hasattr(table, "__array__"):
        rows = list(table) if isinstance(table, Sequence) and not isinstance(table, (str, bytes)) else None
        if rows is None or any(not isinstance(row, (Sequence, array)) or len(row) != width for row in rows):
            if np is None:
                raise InvalidValue(shape)
        else:
            bad, packed = BadCells(), Packed(len(rows), width)
            for number in range(width):
                column = {"name": str(number), "kind": "real"}
                packed.fill(number, convert(column, [row[number] for row in rows], bad))
            bad.check()
            return packed
    values = np.asarray(table)
    if values.dtype.kind not in "fiub":
        raise InvalidValue(f"an array of {values.dtype} is no table of numbers: use a frame for texts and dates")
    if values.ndim != 2 or values.shape[1] != width:
        raise InvalidValue(shape)
    packed = Packed(0, width)
    packed.data, packed.rows = np.ascontiguousarray(values, dtype=np.float64), len(values)
    return packed


def convert(fields: dict[str, Any], values: Any, bad: BadCells) -> Any:
    """One column as doubles: an array of NumPy or of `array`."""
    name, kind = fields["name"], fields["kind"]
    np = numpy()
    if str(getattr(values, "dtype", "")) == "category" and hasattr(values, "cat"):
        return _of_categorical(fields, values.cat, bad)
    values = _unwrapped(name, kind, values)
    if np is not None and isinstance(values, np.ndarray):
        if values.ndim != 1:
            raise InvalidValue(f"column '{name}' must have one dimension")
        code = values.dtype.kind
        if kind == "date" and code == "M":
            days = values.astype("datetime64[D]")
            numbers = days.astype(np.int64).astype(np.float64)
            numbers[np.isnat(days)] = NAN
            return numbers
        if kind in ("real", "log", "integer") and code in "fiub":
            return values.astype(np.float64, copy=False)
        if (kind == "date" and code in "fiub") or (kind in ("real", "log", "integer") and code in "MmUSc"):
            wanted = "dates" if kind == "date" else "levels" if kind == "category" else "numbers"
            raise InvalidValue(f"column '{name}' must be {wanted}, and is {values.dtype}")
        values = values.tolist()
    of_cell = _level_reader(fields) if kind == "category" else _day if kind == "date" else _number
    why = {"category": "is none of its levels", "date": "is not a date"}.get(kind, "is not a number")
    return _each_cell(name, values, of_cell, why, bad)


def _each_cell(name: str, cells: Iterable[Any], of_cell: Callable[[Any], float], why: str, bad: BadCells) -> array[float]:
    numbers, unusable = array("d"), 0
    known: dict[tuple[type, Any], float] = {}  # far fewer different cells than rows, as a rule
    for row, cell in enumerate(cells):
        try:
            number = known.get((type(cell), cell))
        except TypeError:  # a cell that cannot be a key
            number = None
        if number is None:
            try:
                number = NAN if is_missing(cell) else of_cell(cell)
            except (TypeError, ValueError, OverflowError):
                bad.add(row, name, why)
                number, unusable = NAN, unusable + 1
            else:
                if number == number and len(known) < 100000 and getattr(cell, "__hash__", None) is not None:
                    known[(type(cell), cell)] = number
        numbers.append(number)
    if unusable == len(numbers) > 1:  # another column than the space means: one sentence says it
        raise InvalidValue(f"column '{name}' must be {_WANTED[why]}, and no cell of it is")
    return numbers


def _unwrapped(name: str, kind: str, values: Any) -> Any:
    """A column as an array of NumPy or an iterable of plain cells, whatever library it comes from."""
    dtype = getattr(values, "dtype", None)
    np = numpy()
    if np is not None and isinstance(values, np.ndarray):
        return values
    if dtype is not None and hasattr(values, "to_numpy") and hasattr(values, "array"):  # pandas
        return _of_pandas(name, kind, values, str(dtype))
    if isinstance(values, array):
        return values if np is None or values.typecode == "u" else np.asarray(values)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise InvalidValue(f"column '{name}' must be a list or an array, and is one {type(values).__name__}")
    for method in ("to_list", "to_pylist", "tolist"):
        if hasattr(values, method):
            return getattr(values, method)()
    return values


def _of_pandas(name: str, kind: str, values: Any, dtype: str) -> Any:
    np = numpy()
    days = getattr(values, "dt", values)  # an index has no .dt: it is one
    if dtype.startswith("datetime64[ns, "):
        return days.tz_localize(None).to_numpy()  # the day that its own clock showed
    if dtype.startswith("period"):
        if dtype != "period[D]":
            raise InvalidValue(f"column '{name}' has periods longer or shorter than a day: turn them into dates first")
        return days.to_timestamp().to_numpy()
    if dtype in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64", "boolean"):
        if kind not in ("category", "date"):
            return values.to_numpy(dtype=np.float64, na_value=NAN)
        return values.astype(object).tolist()
    if isinstance(values.dtype, np.dtype):
        return values.to_numpy()
    return values.astype(object).tolist()


def _of_categorical(fields: dict[str, Any], cat: Any, bad: BadCells) -> Any:
    """A categorical of pandas: each category is read once, cells follow their code; -1 is missing."""
    np, unusable = numpy(), BadCells()
    number = np.append(np.asarray(convert(fields, cat.categories.to_series(), unusable)), NAN)
    codes = np.asarray(cat.codes)
    for category, _, why in unusable.found:
        for row in np.flatnonzero(codes == category):
            bad.add(int(row), fields["name"], why)
    return number[codes]


def is_missing(cell: Any) -> bool:
    """None, NaN, NaT, pandas' NA, and the texts that a CSV has for them."""
    if cell is None:
        return True
    if isinstance(cell, str):
        return cell.strip() in MISSING
    try:
        return bool(cell != cell)
    except (TypeError, ValueError):  # pandas' NA is neither equal to itself nor different
        return True


def _number(cell: Any) -> float:
    if isinstance(cell, str):
        text = cell.strip()
        if not _NUMBER.fullmatch(text):
            raise ValueError
        return float(text)
    if isinstance(cell, (Real, Decimal)):
        return float(cell)
    if hasattr(cell, "item") and getattr(cell, "ndim", 0) == 0:
        return _number(cell.item())
    raise TypeError


def _day(cell: Any) -> float:
    if isinstance(cell, datetime.datetime):  # pandas' Timestamp is one; the day that its own clock showed
        return float(cell.date().toordinal() - _EPOCH)
    if isinstance(cell, datetime.date):
        return float(cell.toordinal() - _EPOCH)
    if isinstance(cell, str):
        text = cell.strip()
        day = datetime.date.fromisoformat(text[:10])
        if len(text) > 10:
            datetime.datetime.fromisoformat(text)
        return float(day.toordinal() - _EPOCH)
    np = numpy()
    if np is not None and isinstance(cell, np.datetime64):
        return float(cell.astype("datetime64[D]").astype(np.int64))
    if getattr(cell, "freqstr", None) == "D":  # pandas' Period
        return _day(cell.to_timestamp())
    raise TypeError


def _level_reader(fields: dict[str, Any]) -> Callable[[Any], float]:
    index = {level: float(number) for number, level in enumerate(fields["levels"])}
    others = index.get(fields.get("others") or "")

    def level(cell: Any) -> float:
        for text in _texts_of(cell):
            if text in index:
                return index[text]
        if others is None:
            raise ValueError
        return others

    return level


def _texts_of(cell: Any) -> Iterable[str]:
    """How a level may be written: as it is; a whole number also without its point, since a column of whole numbers
    with a gap comes as 1.0, 2.0; True and False also as 1 and 0."""
    if hasattr(cell, "item") and getattr(cell, "ndim", 0) == 0:
        cell = cell.item()
    yield str(cell)
    if isinstance(cell, bool):
        yield str(cell).lower()
        yield str(int(cell))
    elif isinstance(cell, (float, Decimal)) and math.isfinite(cell) and cell == int(cell):
        yield str(int(cell))
    elif isinstance(cell, (datetime.date, datetime.datetime)):
        yield cell.isoformat()[:10]
