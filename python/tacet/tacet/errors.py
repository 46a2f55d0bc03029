# SPDX-License-Identifier: Apache-2.0
"""One exception for each status of the C libraries. All are `tacet.Error`; each carries `status` and `text`.

>>> import tacet
>>> try:
...     tacet.calibrate.gaussian(eps=-1, delta=1e-5)
... except tacet.InvalidValue as error:
...     print(error.status)
INVALID
"""
from __future__ import annotations


class Error(Exception):
    """What went wrong: `status` is the C library's name for it ("BUDGET", …), `text` one sentence about it."""

    status: str = "UNKNOWN"

    def __init__(self, text: str, status: str | None = None) -> None:
        super().__init__(text)
        self.text = text
        if status is not None:
            self.status = status


class InvalidValue(Error, ValueError):
    """An argument, a cell or a setting is not what it must be; the text names it."""

    status = "INVALID"


class OutOfMemory(Error, MemoryError):
    """There is no memory for it. Nothing has changed."""

    status = "NO_MEMORY"


class Overflow(Error, OverflowError):
    """A size is beyond what can be counted."""

    status = "OVERFLOW"


class NumericError(Error, ArithmeticError):
    """There is no such number, or it cannot be computed."""

    status = "NUMERIC"


class IOFailed(Error, OSError):
    """A file, a disk or a connection failed."""

    status = "IO"


class ParseError(Error, ValueError):
    """A file or text is malformed; the text names the place."""

    status = "PARSE"


class BudgetExceeded(Error):
    """The privacy budget refuses. Nothing was drawn, and nothing left."""

    status = "BUDGET"


class Corrupt(Error):
    """Stored data is damaged. It is refused, never repaired."""

    status = "CORRUPT"


class StateError(Error, RuntimeError):
    """Not possible now: a handle that is closed, a study that is over, nothing learnt yet."""

    status = "STATE"


class NotFound(Error, LookupError):
    """There is no such file, study, ticket or column."""

    status = "NOT_FOUND"


class Conflict(Error):
    """It contradicts what is stored: another value for a ticket, another budget for a ledger."""

    status = "CONFLICT"


class Busy(Error):
    """Somebody else has it now; try again."""

    status = "BUSY"


class Denied(Error, PermissionError):
    """No permission, or a token that is not valid here."""

    status = "DENIED"


class TimedOut(Error, TimeoutError):
    """It took too long."""

    status = "TIMEOUT"


class Unsupported(Error, NotImplementedError):
    """This combination does not exist."""

    status = "UNSUPPORTED"


_BY_STATUS: dict[str, type[Error]] = {
    kind.status: kind
    for kind in (
        InvalidValue, OutOfMemory, Overflow, NumericError, IOFailed, ParseError, BudgetExceeded, Corrupt, StateError,
        NotFound, Conflict, Busy, Denied, TimedOut, Unsupported,
    )
}  # fmt: skip


def of_status(status: str, text: str) -> Error:
    """The exception for a status by its name."""
    return _BY_STATUS.get(status, Error)(text, status)
