# SPDX-License-Identifier: Apache-2.0
"""Tables for a terminal and for a notebook."""
from __future__ import annotations

from decimal import ROUND_CEILING, Context
from html import escape
from typing import Any, Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """An HTML table; everything is escaped."""
    top = "".join(f"<th style='text-align:left'>{escape(str(cell))}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td style='text-align:left'>{escape(str(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    below = f"<p>{escape(note)}</p>" if note else ""
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>{below}"


def up(value: float, digits: int = 6) -> str:
    """The number in so many digits, and never less than it is: noise and what is spent err on the private side."""
    nearest = f"{value:.{digits}g}"
    above = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(value)
    return nearest if float(nearest) >= value else f"{float(above):.{digits}g}"


def guarantee(claim: Any, moved: str = "") -> str:
    """What a release or a model promises, and to whom: one row, or one person with all of their rows; `moved`: of which
    changes."""
    said = f"eps = {up(claim.eps)}, delta = {up(claim.delta)} for one row{moved}"
    if claim.person is None:
        return said
    rows, eps, delta = claim.person
    return f"{said}, eps = {up(eps)}, delta = {up(delta)} for one person, who has at most {rows} row{'s' * (rows > 1)}{', each' * bool(moved)}{moved}"


def columns(head: Sequence[str], rows: Iterable[Sequence[Any]], most: int = 36) -> str:
    """The same as text, columns aligned; a long cell is cut, and says so."""
    cells = [[_cut(str(cell), most) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
