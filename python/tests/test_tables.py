# SPDX-License-Identifier: Apache-2.0
"""Tables as they come: every type of column x kind of column x missing cells gives the same numbers."""
from __future__ import annotations

import ctypes
import datetime
import struct
import subprocess
import sys
from array import array
from decimal import Decimal
from typing import Any, Callable

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import _table

NAN = float("nan")
DAY = [datetime.date(2021, 2, 3), datetime.date(1969, 12, 31), datetime.date(2021, 3, 28)]
DAYS = [float((day - datetime.date(1970, 1, 1)).days) for day in DAY]
COLUMNS: dict[str, tacet.space.Column] = {
    "real": tacet.Real(-10, 90), "log": tacet.Log(0.5, 90), "integer": tacet.Integer(0, 90),
    "category": tacet.Category("1", "2", "3"), "date": tacet.Date("1960-01-01", "2030-12-31"),
}  # fmt: skip


def berlin(hour: int) -> pd.Series:
    """Times of a zone east of Greenwich, whose day in UTC is the one before."""
    stamps = [datetime.datetime(day.year, day.month, day.day, hour) for day in DAY]
    return pd.Series(pd.to_datetime(stamps)).dt.tz_localize("Europe/Berlin")


# What holds 1, 2, 3 and, where the type has a way to say it, a missing cell in place of the second.
NUMBERS: dict[str, Callable[[bool], Any]] = {
    "list": lambda gap: [1, None if gap else 2, 3],
    "list of floats": lambda gap: [1.0, NAN if gap else 2.0, 3.0],
    "texts": lambda gap: ["1", "" if gap else "2", "3"],
    "texts with points": lambda gap: [" 1.0", "NA" if gap else "2.00", "3e0"],
    "decimals": lambda gap: [Decimal(1), None if gap else Decimal("2.0"), Decimal(3)],
    "array": lambda gap: array("d", [1.0, NAN if gap else 2.0, 3.0]),
    "float64": lambda gap: np.array([1.0, NAN if gap else 2.0, 3.0]),
    "float32": lambda gap: np.array([1.0, NAN if gap else 2.0, 3.0], dtype=np.float32),
    "object": lambda gap: np.array([1, None if gap else 2.0, np.float64(3)], dtype=object),
    "numpy scalars": lambda gap: [np.int8(1), NAN if gap else np.float32(2), np.int64(3)],
    "Series": lambda gap: pd.Series([1, NAN if gap else 2, 3]),
    "Int64": lambda gap: pd.Series([1, pd.NA if gap else 2, 3], dtype="Int64"),
    "UInt8": lambda gap: pd.Series([1, pd.NA if gap else 2, 3], dtype="UInt8"),
    "Float64": lambda gap: pd.Series([1, pd.NA if gap else 2, 3], dtype="Float64"),
    "string": lambda gap: pd.Series(["1", pd.NA if gap else "2", "3"], dtype="string"),
    "category of ints": lambda gap: pd.Series([1, None if gap else 2, 3], dtype="category"),
    "category of texts": lambda gap: pd.Series(["1", None if gap else "2", "3"], dtype="category"),
    "object Series": lambda gap: pd.Series([1, pd.NA if gap else 2.0, "3"], dtype=object),
    "reindexed": lambda gap: pd.Series([1, NAN if gap else 2, 3], index=[7, 5, 5]),
}
DATES: dict[str, Callable[[bool], Any]] = {
    "dates": lambda gap: [DAY[0], None if gap else DAY[1], DAY[2]],
    "texts": lambda gap: ["2021-02-03", "?" if gap else "1969-12-31", "2021-03-28T23:30:00"],
    "datetime64[ns]": lambda gap: pd.to_datetime(pd.Series([DAY[0], None if gap else DAY[1], DAY[2]])),
    "datetime64[D]": lambda gap: np.array([DAY[0], "NaT" if gap else DAY[1], DAY[2]], dtype="datetime64[D]"),
    "early in Berlin": lambda gap: berlin(0).where([True, not gap, True]),
    "late in Berlin": lambda gap: berlin(23).where([True, not gap, True]),
    "an index in Berlin": lambda gap: pd.DatetimeIndex(berlin(0).where([True, not gap, True])),
    "aware objects": lambda gap: pd.Series(list(berlin(0)), dtype=object).where([True, not gap, True], None),
    "periods": lambda gap: pd.Series(pd.PeriodIndex([DAY[0], pd.NaT if gap else DAY[1], DAY[2]], freq="D")),
    "an index of periods": lambda gap: pd.PeriodIndex([DAY[0], pd.NaT if gap else DAY[1], DAY[2]], freq="D"),
    "string": lambda gap: pd.Series(["2021-02-03", pd.NA if gap else "1969-12-31", "2021-03-28"], dtype="string"),
    "category": lambda gap: pd.Series([DAY[0], None if gap else DAY[1], DAY[2]], dtype="category"),
}


def read(kind: str, values: Any, table: Callable[[Any], Any] = lambda column: {"x": column}) -> list[float]:
    return [float(value) for value in tacet.Space(x=COLUMNS[kind]).records(table(values))[:, 0]]


def protocol(column: Any) -> Any:
    """Behind the dataframe protocol; in a plain frame where pandas does not hand the column over by it."""
    frame = pd.DataFrame({"x": column})
    try:
        column = frame.__dataframe__().get_column(0)
        column.dtype, column.get_buffers()
    except (AttributeError, NotImplementedError, ValueError):  # pandas 1.5 has no way for its own types
        return frame
    return Protocol(frame)


WRAPPED: list[Callable[[Any], Any]] = [lambda column: {"x": column}, lambda column: pd.DataFrame({"x": column}), protocol]


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("kind", ["real", "log", "integer", "category"])
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_and_levels_of_every_type(name: str, kind: str, gap: bool) -> None:
    wanted = [0.0, 1.0, 2.0] if kind == "category" else [1.0, 2.0, 3.0]
    if name == "texts with points" and kind == "category":
        pytest.skip("a level is the text that it is: '2.00' is not '2'")
    for table in WRAPPED:
        got = read(kind, NUMBERS[name](gap), table)
        assert np.array_equal(got, [wanted[0], NAN if gap else wanted[1], wanted[2]], equal_nan=True)


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("name", DATES)
def test_a_date_is_the_day_that_its_own_clock_showed(name: str, gap: bool) -> None:
    for table in WRAPPED:
        got = read("date", DATES[name](gap), table)
        assert np.array_equal(got, [DAYS[0], NAN if gap else DAYS[1], DAYS[2]], equal_nan=True)


def test_truths_are_numbers_and_levels() -> None:
    for truths in ([True, False], np.array([True, False]), pd.Series([True, False], dtype="boolean")):
        assert read("real", truths) == [1.0, 0.0]
        for levels in (("False", "True"), ("false", "true"), ("0", "1")):
            space = tacet.Space(x=tacet.Category(*levels))
            assert space.records({"x": truths})[:, 0].tolist() == [1.0, 0.0]


@pytest.mark.parametrize("kind, column", [
    ("real", pd.to_datetime(["2021-02-03"])), ("date", [20210203]), ("date", np.array([1.5])), ("real", [1 + 2j]),
    ("date", pd.Series(pd.PeriodIndex(["2021-02"], freq="M"))), ("integer", ["1_000"]), ("real", ["0x10"]), ("real", "12"),
    ("date", ["3.2.2021"]), ("category", [[1]]), ("category", ["01"]), ("real", [[1.0]]), ("real", [object()]),
])  # fmt: skip
def test_what_could_be_misread_is_refused(kind: str, column: Any) -> None:
    with pytest.raises(tacet.InvalidValue):
        read(kind, column)


def test_all_bad_cells_are_named_at_once_and_no_value_is() -> None:
    space = tacet.Space(age=tacet.Real(0, 90), sex=tacet.Category("F", "M"), day=tacet.Date("2020-01-01", "2021-01-01"))
    table = {"age": [1, "secret-a", 3], "sex": ["F", "M", "secret-b"], "day": ["2020-02-30", "2020-02-01", None]}
    with pytest.raises(tacet.InvalidValue) as caught:
        space.records(table)
    for cell in ("row 0 (counted from 0): column 'day'", "row 1 (counted from 0): column 'age'", "row 2 (counted from 0): column 'sex'"):
        assert cell in str(caught.value)
    assert "secret" not in str(caught.value) and "02-30" not in str(caught.value)
    with pytest.raises(tacet.InvalidValue, match="and 80 more cells") as caught:
        space.records({"age": [*["x"] * 99, 1] + ["x"], "sex": ["F"] * 101, "day": [None] * 101})
    assert str(caught.value).count("column 'age'") == _table.NAMED
    codes = pd.Series(["F", "X", "F", "X"], dtype="category")
    with pytest.raises(tacet.InvalidValue, match="row 1 .*row 3 "):
        space.records({"age": [1] * 4, "sex": codes, "day": [None] * 4})


class Protocol:
    """A frame of which nothing but the dataframe protocol is seen."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __dataframe__(self) -> Any:
        return self._frame.__dataframe__()


def test_frames_behind_the_dataframe_protocol() -> None:
    frame = pd.DataFrame(
        {
            "age": [1.5, NAN, 3.0], "n": np.array([7, 8, 9], dtype=np.int16), "text": ["1", "2", "3"], "on": [True, False, True],
            "level": pd.Series(["2", "1", None], dtype="category"), "day": pd.to_datetime([DAY[0], None, DAY[2]]),
        }
    )  # fmt: skip
    space = tacet.Space(
        age=COLUMNS["real"], n=COLUMNS["integer"], text=COLUMNS["category"], on=COLUMNS["real"], level=COLUMNS["category"],
        day=COLUMNS["date"],
    )  # fmt: skip
    assert np.array_equal(space.records(Protocol(frame)), space.records(frame), equal_nan=True)


class Stream:
    """A table that speaks the Arrow C stream, in two batches, made here from the specification: a struct of columns,
    each (format, buffers with the validity bits first)."""

    def __init__(self, columns: dict[str, tuple[bytes, list[list[bytes | None]]]], lengths: list[int]) -> None:
        self._columns, self._lengths, self._keep = columns, lengths, []  # type: ignore[var-annotated]
        self.released = 0

    def _schema(self, out: Any, format: bytes, name: bytes, children: list[Any]) -> None:
        from tacet import _arrow

        def release(pointer: Any) -> None:
            pointer.contents.release = type(pointer.contents.release)()
            self.released += 1

        field = out.contents if hasattr(out, "contents") else out
        callback = dict(_arrow._Schema._fields_)["release"](release)
        listed = (ctypes.POINTER(_arrow._Schema) * max(1, len(children)))(*[ctypes.pointer(c) for c in children])
        self._keep += [format, name, children, listed, callback]
        field.format, field.name, field.n_children = format, name, len(children)
        field.children, field.release, field.dictionary = listed, callback, None

    def _array(self, out: Any, length: int, buffers: list[bytes | None], children: list[Any]) -> None:
        from tacet import _arrow

        def release(pointer: Any) -> None:
            pointer.contents.release = type(pointer.contents.release)()
            self.released += 1

        held = [None if b is None else ctypes.create_string_buffer(b, len(b) or 1) for b in buffers]
        pointers = (ctypes.c_void_p * max(1, len(held)))(*[0 if b is None else ctypes.addressof(b) for b in held])
        callback = dict(_arrow._Array._fields_)["release"](release)
        listed = (ctypes.POINTER(_arrow._Array) * max(1, len(children)))(*[ctypes.pointer(c) for c in children])
        self._keep += [held, pointers, callback, listed, children]
        field = out.contents if hasattr(out, "contents") else out
        field.length, field.null_count, field.offset, field.n_buffers = length, -1, 0, len(buffers)
        field.n_children, field.buffers, field.children, field.release = len(children), pointers, listed, callback

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        from tacet import _arrow

        types = dict(_arrow._Stream._fields_)
        stream, batch = _arrow._Stream(), iter(range(len(self._lengths)))

        def get_schema(_: Any, out: Any) -> int:
            fields = []
            for name, (format, _buffers) in self._columns.items():
                field = _arrow._Schema()
                self._schema(field, format, name.encode(), [])
                fields.append(field)
            self._schema(out, b"+s", b"", fields)
            return 0

        def get_next(_: Any, out: Any) -> int:
            number = next(batch, None)
            if number is None:
                out.contents.release = type(out.contents.release)()
                return 0
            columns = []
            for _format, buffers in self._columns.values():
                column = _arrow._Array()
                self._array(column, self._lengths[number], buffers[number], [])
                columns.append(column)
            self._array(out, self._lengths[number], [None], columns)
            return 0

        callbacks = [types["get_schema"](get_schema), types["get_next"](get_next), types["get_last_error"](), types["release"]()]
        stream.get_schema, stream.get_next, stream.get_last_error, stream.release = callbacks
        self._keep += [stream, callbacks]
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(stream), b"arrow_array_stream", None)


# Formats of Arrow: how 1, 2, 3 are laid out in the buffers after the validity bits.
ARROW: dict[bytes, list[bytes]] = {
    **{f: [struct.pack(f"3{code}", 1, 2, 3)] for f, code in zip([b"c", b"C", b"s", b"S", b"i", b"I", b"l", b"L", b"f", b"g"], "bBhHiIqQfd")},
    b"u": [struct.pack("4i", 0, 1, 2, 3), b"123"], b"U": [struct.pack("4q", 0, 1, 2, 3), b"123"],
}  # fmt: skip
ARROW_DATES: dict[bytes, list[bytes]] = {
    b"tdD": [struct.pack("3i", *map(int, DAYS))], b"tdm": [struct.pack("3q", *(int(day) * 86400000 for day in DAYS))],
    **{f"ts{u}:".encode(): [struct.pack("3q", *(int(day) * 86400 * per + 1 for day in DAYS))] for u, per in zip("smun", (1, 10**3, 10**6, 10**9))},
}  # fmt: skip


@pytest.mark.parametrize("gap", [False, True])
@pytest.mark.parametrize("kind", COLUMNS)
def test_every_type_of_arrow_that_a_kind_takes(kind: str, gap: bool) -> None:
    wanted = DAYS if kind == "date" else [0.0, 1.0, 2.0] if kind == "category" else [1.0, 2.0, 3.0]
    for format, buffers in (ARROW_DATES if kind == "date" else ARROW).items():
        got = read(kind, Stream({"x": (format, [[b"\x05" if gap else None, *buffers]])}, [3]), lambda source: source)
        assert np.array_equal(got, [wanted[0], NAN if gap else wanted[1], wanted[2]], equal_nan=True), format


def test_tables_behind_the_arrow_stream() -> None:
    source = Stream(
        {
            "age": (b"g", [[None, struct.pack("2d", 1.5, 2.5)], [b"\x00", struct.pack("d", 9.0)]]),
            "n": (b"i", [[b"\x02", struct.pack("2i", 77, 8)], [None, struct.pack("i", 9)]]),
            "text": (b"u", [[None, struct.pack("3i", 0, 1, 2), b"21"], [None, struct.pack("2i", 0, 1), b"3"]]),
            "on": (b"b", [[None, b"\x01"], [None, b"\x01"]]),
            "day": (b"tdD", [[None, struct.pack("2i", int(DAYS[0]), int(DAYS[1]))], [None, struct.pack("i", int(DAYS[2]))]]),
            "at": (b"tsn:", [[None, struct.pack("2q", int(DAYS[0]) * 86400 * 10**9 + 5, -1)], [b"\x00", struct.pack("q", 0)]]),
        },
        [2, 1],
    )
    space = tacet.Space(
        age=COLUMNS["real"], n=COLUMNS["integer"], text=COLUMNS["category"], on=COLUMNS["real"], day=COLUMNS["date"],
        at=COLUMNS["date"],
    )  # fmt: skip
    wanted = [[1.5, NAN, 1, 1, DAYS[0], DAYS[0]], [2.5, 8, 0, 0, DAYS[1], DAYS[1]], [NAN, 9, 2, 1, DAYS[2], NAN]]
    assert np.array_equal(space.records(source), wanted, equal_nan=True)
    assert source.released == 3  # the schema and two batches are given back
    zoned = Stream({"day": (b"tsn:Europe/Berlin", [[None, struct.pack("q", 0)]])}, [1])
    with pytest.raises(tacet.InvalidValue, match="Europe/Berlin"):
        tacet.Space(day=COLUMNS["date"]).records(zoned)
    nested = Stream({"day": (b"+l", [[None, struct.pack("2i", 0, 0)]])}, [1])
    with pytest.raises(tacet.Unsupported, match="'day'"):
        tacet.Space(day=COLUMNS["date"]).records(nested)


def test_without_numpy_the_same_doubles_come_out() -> None:
    code = """
import sys
sys.modules["numpy"] = None                                    # as if it were not installed
import tacet
space = tacet.Space(age=tacet.Real(0, 90), sex=tacet.Category("F", "M"), day=tacet.Date("2020-01-01", "2021-01-01"))
packed = space._packed({"age": [1, "2.5", None], "sex": ["M", "F", "F"], "day": ["2020-01-02"] * 3})
print(packed.data.tolist())
print(tacet.Space(a=tacet.Real(0, 1), b=tacet.Real(0, 1))._packed([[0, 1], [0.5, 0.25]]).data.tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    day = float((datetime.date(2020, 1, 2) - datetime.date(1970, 1, 1)).days)
    assert done.stdout.splitlines() == [f"[1.0, 1.0, {day}, 2.5, 0.0, {day}, nan, 0.0, {day}]", "[0.0, 1.0, 0.5, 0.25]"]


def test_bounds_may_be_dates_and_numbers_of_numpy():
    day = datetime.date(2021, 1, 1)
    space = tacet.Space(a=tacet.Real(np.float32(1), np.int64(4)), d=tacet.Date(day, pd.Timestamp("2021-12-31")))
    assert space == tacet.Space(a=tacet.Real(1, 4), d=tacet.Date("2021-01-01", "2021-12-31"))
    for wrong in (float("nan"), object()):
        with pytest.raises(tacet.InvalidValue, match="finite numbers, or texts"):
            tacet.Space(a=tacet.Real(wrong, 1))
    with pytest.raises(tacet.InvalidValue, match="are its arguments"):
        tacet.Category(["A", "B"])
