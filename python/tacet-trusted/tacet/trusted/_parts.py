# SPDX-License-Identifier: Apache-2.0
"""Tables in parts, and who works on them: this process on a table of its own, the workers of Dask on the partitions of
a `dask.dataframe`, which stay where they are. Another engine would be another class with these three methods. Functions
that run there get a part and public arguments, and may run twice: they give the same bytes."""
from __future__ import annotations

import collections
import hashlib
import os
from typing import Any, Callable, Iterator, Sequence

from tacet._table import columns_of, is_missing
from tacet.errors import Conflict, InvalidValue

MERGED_AT_ONCE = 16


def is_dask(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(table, "to_delayed")


def _dask() -> tuple[Any, Any]:
    from dask import base
    from dask.delayed import delayed

    return base.compute, delayed


class Parts:
    """`lengths` are those of the parts, `firsts` the places of their first rows in the whole."""

    def __init__(self, table: Any, person: str | None = None, most: int = 0) -> None:
        """With a `person`, a column, the first `most` rows of each person, wherever they lie."""
        self._table, self._delayed = table, table.to_delayed() if is_dask(table) else None
        if person is not None and self._delayed is not None:
            self._keep(person, most)
        self.count = 1 if self._delayed is None else len(self._delayed)
        self.lengths: list[int] = self.each(_length, [()] * self.count)
        self.firsts = [sum(self.lengths[:number]) for number in range(self.count)]
        self.rows = sum(self.lengths)

    def _keep(self, person: str, most: int) -> None:
        """Each worker counts its persons, under a key of this call; who is in an earlier part has fewer rows left here."""
        compute, delayed = _dask()
        key = os.urandom(16)
        counts: Sequence[dict[bytes, int]] = compute(*(delayed(_persons, pure=True)(part, person, key) for part in self._delayed))
        taken: dict[bytes, int] = {}
        for number, found in enumerate(counts):
            before = {who: taken[who] for who in found if who in taken}
            self._delayed[number] = delayed(_kept, pure=True)(self._delayed[number], person, key, most, before, found)
            for who, rows in found.items():
                taken[who] = min(taken.get(who, 0) + rows, most)

    def each(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], only: Sequence[int] | None = None) -> list[Any]:
        """function(part, *arguments) of all parts, or of these, by whoever holds them; in the order of the parts."""
        chosen = range(self.count) if only is None else only
        if self._delayed is None:
            return [function(self._table, *arguments[number]) for number in chosen]
        compute, delayed = _dask()

        once = delayed(function, pure=True)
        return list(compute(*(once(self._delayed[number], *arguments[number]) for number in chosen)))

    def reduced(
        self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], merge: Callable[..., Any], *merging: Any
    ) -> list[Any]:
        """function of all parts that have rows; then, where they are, merge(some results, *merging) until few are left."""
        held = [number for number in range(self.count) if self.lengths[number] > 0]
        if self._delayed is None:
            return [function(self._table, *arguments[number]) for number in held]
        compute, delayed = _dask()

        first, then = delayed(function, pure=True), delayed(merge, pure=True)
        tasks = [first(self._delayed[number], *arguments[number]) for number in held]
        while len(tasks) > MERGED_AT_ONCE:
            tasks = [then(tasks[i : i + MERGED_AT_ONCE], *merging) for i in range(0, len(tasks), MERGED_AT_ONCE)]
        return list(compute(*tasks))


def _whose(table: Any, person: str, key: bytes) -> Iterator[bytes]:
    columns = columns_of(table)
    if columns is None or person not in columns:
        raise InvalidValue(f"a part of the table has no column '{person}'")
    for number, value in enumerate(columns[person]):
        if is_missing(value):
            raise InvalidValue(f"column '{person}': row {number} of a part (counted from 0) is empty, but every row belongs to a person")
        yield hashlib.blake2b(str(value).strip().encode(), digest_size=16, key=key).digest()


def _persons(table: Any, person: str, key: bytes) -> dict[bytes, int]:
    return collections.Counter(_whose(table, person, key))


def _kept(table: Any, person: str, key: bytes, most: int, before: dict[bytes, int], counted: dict[bytes, int]) -> Any:
    """The rows whose person has fewer than `most` before them; of the same part that was counted, whenever it is made again."""
    taken, keep, whose = dict(before), [], list(_whose(table, person, key))
    if collections.Counter(whose) != counted:
        raise Conflict(f"the table changed while the rows of each person in '{person}' were counted; a table is one that stays")
    for who in whose:
        taken[who] = taken.get(who, 0) + 1
        keep.append(taken[who] <= most)
    return table[keep]


def _length(table: Any) -> int:
    columns = columns_of(table)
    if columns is None:
        raise InvalidValue("a table in parts is of frames, or mappings of columns")
    return next((len(columns[name]) for name in columns), 0)
