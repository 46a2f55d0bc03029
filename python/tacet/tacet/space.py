# SPDX-License-Identifier: Apache-2.0
"""Spaces: typed public columns, the same JSON as the commands read and write.

>>> import tacet
>>> space = tacet.Space(age=tacet.Real(18, 90, unit=5), sex=tacet.Category("F", "M"))
>>> list(space)
['age', 'sex']
>>> tacet.Space.from_json(space.to_json()) == space
True
"""
from __future__ import annotations

import datetime
import json
from array import array
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterable, Iterator, Mapping, Sequence, cast

from tacet._lib import ffi, lib, native
from tacet._table import Packed, pack
from tacet.display import table as html_table
from tacet.errors import InvalidValue, Unsupported

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

@dataclass(frozen=True)
class Column:
    """What all columns have: `unit` is what counts as distance 1, `missing` stands for a missing cell."""

    kind = ""
    unit: Any = field(default=None, kw_only=True)
    missing: Any = field(default=None, kw_only=True)

    def _json(self) -> dict[str, Any]:
        raise NotImplementedError

    def _described(self, **fields: Any) -> dict[str, Any]:
        fields = {"kind": self.kind, **fields}
        for name in ("unit", "missing"):
            if getattr(self, name) is not None:
                fields[name] = getattr(self, name)
        return fields


@dataclass(frozen=True)
class _Bounded(Column):
    low: Any
    high: Any

    def _json(self) -> dict[str, Any]:
        return self._described(bounds=[self.low, self.high])


@dataclass(frozen=True)
class Real(_Bounded):
    """A number between public bounds; values outside are clipped.

    >>> Real(18, 90, unit=5).high
    90
    """

    kind = "real"


@dataclass(frozen=True)
class Log(_Bounded):
    """A positive number whose distances are factors: `unit="10 %"` or `unit=1.1`.

    >>> rate = Log(1e-4, 1, unit="10 %")
    """

    kind = "log"


@dataclass(frozen=True)
class Integer(_Bounded):
    """A whole number between public bounds.

    >>> layers = Integer(1, 12, unit=1)
    """

    kind = "integer"


@dataclass(frozen=True)
class Date(_Bounded):
    """A day, "2021-03-01"; bounds as text, `unit` in days or "2 weeks".

    >>> visit = Date("2021-01-01", "2021-12-31", unit="2 weeks")
    """

    kind = "date"


@dataclass(frozen=True, init=False)
class Category(Column):
    """One of named levels, unordered. `others` is the level of everything that is none of them. Levels are texts, also
    in what is suggested: `Category(1, True)` has "1" and "True".

    >>> Category("F", "M").levels
    ('F', 'M')
    """

    kind = "category"
    levels: tuple[str, ...] = ()
    others: str | None = None

    def __init__(self, *levels: Any, others: str | None = None, missing: str | None = None) -> None:
        if len(levels) == 1 and not isinstance(levels[0], str) and hasattr(levels[0], "__iter__"):
            raise InvalidValue("the levels of a category are its arguments: Category(*levels)")
        object.__setattr__(self, "levels", tuple(str(level) for level in levels))
        object.__setattr__(self, "others", others)
        object.__setattr__(self, "missing", missing)
        object.__setattr__(self, "unit", None)

    def _json(self) -> dict[str, Any]:
        fields = self._described(levels=list(self.levels))
        if self.others is not None:
            fields["others"] = self.others
        return fields


def _plain(value: Any) -> Any:
    """Dates as their day, and numbers of NumPy."""
    return value.isoformat()[:10] if isinstance(value, datetime.date) else value.item()


_KINDS: dict[str, type[_Bounded]] = {kind.kind: kind for kind in (Real, Log, Integer, Date)}


class Space(Mapping[str, Column]):
    """An ordered list of public columns, by name. Everything in it is public: write it before you look at a record.

    >>> space = Space(dose=Real(5, 200, unit=10), drug=Category("A", "B"))
    >>> space["drug"].levels
    ('A', 'B')
    """

    def __init__(self, columns: Mapping[str, Column] | None = None, /, **named: Column) -> None:
        described = {**(columns or {}), **named}
        for name, column in described.items():
            if not isinstance(column, Column):
                raise InvalidValue(f"column '{name}' must be a Real, Log, Integer, Date or Category")
        try:
            text = json.dumps({"columns": [{"name": name, **column._json()} for name, column in described.items()]},
                              default=_plain, allow_nan=False)  # fmt: skip
        except (AttributeError, TypeError, ValueError):
            raise InvalidValue("bounds, units and stand-ins must be finite numbers, or texts") from None
        self._adopt(text)

    def _adopt(self, text: str) -> None:
        self._json_text = _canonical(text)
        self._fields: list[dict[str, Any]] = json.loads(self._json_text)["columns"]
        self._columns = {fields["name"]: _column(fields) for fields in self._fields}

    @classmethod
    def from_json(cls, text: str) -> Space:
        """From the JSON that `tacet space` and all commands read."""
        space = cls.__new__(cls)
        space._adopt(text)
        return space

    @classmethod
    def load(cls, path: str | Path) -> Space:
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def save(self, path: str | Path) -> None:
        Path(path).write_text(self._json_text, encoding="utf-8")

    def to_json(self) -> str:
        """Every default written out, as the commands write it."""
        return self._json_text

    def only(self, names: Sequence[str]) -> Space:
        """The columns of these names, in this order."""
        fields = {column["name"]: column for column in self._fields}
        unknown = [name for name in names if name not in fields]
        if unknown:
            raise InvalidValue(f"the space has no column '{unknown[0]}'")
        return Space.from_json(json.dumps({"columns": [fields[name] for name in names]}))

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Space) and self._json_text == other._json_text

    def __hash__(self) -> int:
        return hash(self._json_text)

    def __repr__(self) -> str:
        return f"Space({', '.join(f'{name}={column!r}' for name, column in self.items())})"

    def _repr_html_(self) -> str:
        rows = []
        for name, column in self.items():
            fields = column._json()
            reach = fields.get("levels") or fields["bounds"]
            rows.append((name, column.kind, ", ".join(map(str, reach)), fields.get("unit", ""), fields.get("missing", "")))
        return html_table(["column", "kind", "levels or bounds", "unit", "missing"], rows)

    def records(self, table: Any) -> NDArray[np.float64]:
        """A frame, a mapping of columns or a two-dimensional array as the C library takes it: one row a record, one
        double a column, levels by their number, days for dates, NaN for what is missing. A C-contiguous array of
        doubles whose columns are all numbers is taken as it is, without a copy. Needs NumPy."""
        packed = self._packed(table)
        if isinstance(packed.data, array):
            raise Unsupported("an array of records needs NumPy, which is not installed")
        return cast("NDArray[np.float64]", packed.data)

    def _packed(self, table: Any) -> Packed:
        return pack(table, self._fields)

    def rows(self, records: Iterable[Sequence[float]] | NDArray[np.float64]) -> list[dict[str, Any]]:
        """Records as the C library has them, as dictionaries by the names of the columns."""
        return [
            {fields["name"]: _cell(fields, float(value)) for fields, value in zip(self._fields, record)}
            for record in records
        ]


@contextmanager
def _decoded(space: Space | str) -> Iterator[Any]:
    """A space as the C library has it."""
    encoded = (space if isinstance(space, str) else space.to_json()).encode()
    raw = ffi.new("tacet_space *")
    lib.tacet_space_init(raw)
    try:
        native.call(lib.tacet_space_decode, raw, encoded, len(encoded))
        yield raw
    finally:
        lib.tacet_space_clear(raw)


def _canonical(text: str) -> str:
    with _decoded(text) as raw:
        return native.returned_by(lib.tacet_space_encode, raw)


def _column(fields: dict[str, Any]) -> Column:
    if fields["kind"] == "category":
        return Category(*fields["levels"], others=fields.get("others"), missing=fields.get("missing"))
    low, high = fields["bounds"]
    return _KINDS[fields["kind"]](low, high, unit=fields.get("unit"), missing=fields.get("missing"))


def _cell(fields: dict[str, Any], value: float) -> Any:
    kind = fields["kind"]
    if value != value:
        return None
    if kind == "category":
        return fields["levels"][int(value)]
    if kind == "integer":
        return int(value)
    if kind == "date":
        return str(datetime.date.fromordinal(datetime.date(1970, 1, 1).toordinal() + int(value)))
    return value
