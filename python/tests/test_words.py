# SPDX-License-Identifier: Apache-2.0
"""Exceptions speak Python: no option of a command is in one, and none is in the sources of these packages."""
from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

import tacet
from tacet import trusted
from tacet._native import in_python

OPTION = re.compile(r"--[a-z]")
SOURCES = Path(__file__).resolve().parents[2]


def test_refusals_name_keyword_arguments(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "a", ledger=tmp_path / "a.db")
    refused: list[str] = []
    for more in ({"ledger": tmp_path / "b.db"}, {"person": "age"}, {"rows_per_person": 2}, {"ticket": ""},
                 {"ledger": tmp_path / "a.db", "eps": 2}):  # fmt: skip
        with pytest.raises(tacet.Error) as error:
            trusted.curate(patients, **{"space": space, "eps": 3, "values_unprotected": True, "out": tmp_path / "b", **more})  # type: ignore[arg-type]
        refused.append(str(error.value))
    assert not any(OPTION.search(text) for text in refused), refused
    assert any("ledger=" in text for text in refused) and any("rows_per_person=" in text for text in refused)


def test_every_message_of_the_library_can_be_saidin_python() -> None:
    """All of them, from the sources: what in_python makes of a message has no option, and keeps its other words."""
    found = 0
    for path in (SOURCES / "src").rglob("*.c"):
        for text in re.findall(r'"((?:[^"\\]|\\.)*--[a-z](?:[^"\\]|\\.)*)"', path.read_text()):
            if path.parent.name not in ("report", "pages"):
                found += 1
                assert not OPTION.search(in_python(text)), (path.name, text)
    assert found > 10
    assert in_python("name it with --ledger, or say why in --new-budget") == "name it with ledger=, or say why in new_budget="
    assert "--" not in in_python("'tacet device report --failed'")


def test_no_option_in_the_packages() -> None:
    for path in [*(SOURCES / "python/tacet").rglob("*.py"), *(SOURCES / "python/tacet-trusted").rglob("*.py")]:
        for line in path.read_text().splitlines():
            if "raise " in line or "Error(" in line or "InvalidValue(" in line:
                assert not OPTION.search(line), (path.name, line)
