# SPDX-License-Identifier: Apache-2.0
"""Ledgers, to read: what was spent, on what, and for whom. The chain is verified before anything is shown."""
from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacet._lib import lib, native
from tacet.display import columns, table, up

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_HEAD = ("entry", "time (UTC)", "ticket", "what", "to whom", "mechanism", "charge", "state")


class Ledger:
    """A privacy ledger as it is now: budget, what was spent, and every entry. Read-only; `refresh()` reads it again.

    >>> print(Ledger("patients.ledger.db"))                 # doctest: +SKIP
    >>> Ledger("patients.ledger.db").eps                    # doctest: +SKIP
    3.0
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.refresh()

    def refresh(self) -> None:
        self._account: dict[str, Any] = json.loads(native.returned(lib.tacet_ledger_read, str(self.path).encode()))

    @property
    def eps(self) -> float:
        """Spent so far, at the budget's delta. Infinite where nothing can be said."""
        value = self._account["eps"]
        return float("inf") if value is None else float(value)

    @property
    def delta(self) -> float:
        return float(self._account["delta"])

    @property
    def budget_eps(self) -> float:
        return float(self._account["budget_eps"])

    @property
    def budget_delta(self) -> float:
        return float(self._account["budget_delta"])

    @property
    def left(self) -> float:
        """What is left, as a share of the budget in the ledger's own unit."""
        return 1.0 - float(self._account["spent"]) / float(self._account["cap"])

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Every entry with all its fields, in order."""
        return list(self._account["list"])

    @property
    def account(self) -> dict[str, Any]:
        """The totals, as `tacet ledger show --json` prints them."""
        return {name: value for name, value in self._account.items() if name != "list"}

    def __len__(self) -> int:
        return len(self._account["list"])

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        frame = pd.DataFrame(self.entries)
        if len(frame):
            frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
        return frame

    def plot(self, ax: Axes | None = None) -> Axes:
        """The budget over time."""
        from tacet import plots

        return plots.budget(self, ax=ax)

    def _rows(self) -> list[tuple[str, ...]]:
        return [self._row(entry) for entry in self._account["list"]]

    def _row(self, entry: dict[str, Any]) -> tuple[str, ...]:
        unit = self._account["unit"]
        time = datetime.fromtimestamp(entry["time"], timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
        uncovered = entry["claim"] == "uncovered"
        charge = "UNCOVERED" if uncovered else f"{unit} {up(entry[unit], 4)}" if entry[unit] is not None else "-"
        state = "answered" if entry["answered_by"] is not None else "open"
        state += ", NOT PRIVATE" if entry["not_private"] else ""
        return (str(entry["seq"]), time, entry["ticket"], entry["what"], entry["to_whom"], entry["mechanism"], charge,
                state)  # fmt: skip

    def _sum(self) -> str:
        account = self._account
        return (
            f"spent eps {up(self.eps)}, delta {up(self.delta, 3)} of eps {up(self.budget_eps)}, "
            f"delta {up(self.budget_delta, 3)} ({account['accounting']} accounting); entries {account['entries']}, "
            f"uncovered {account['uncovered']}"
        )

    def __str__(self) -> str:
        return columns(_HEAD, self._rows()) + "\n" + self._sum()

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r}: {self._sum()})"

    def _repr_html_(self) -> str:
        return table(_HEAD, self._rows(), self._sum())
