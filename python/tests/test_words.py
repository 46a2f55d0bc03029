# SPDX-License-Identifier: Apache-2.0
"""Exceptions speak Python: no option of a command is in one, and none is in the sources of these packages."""
from __future__ import annotations

import inspect
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


# Who reads options, or speaks to somebody at a shell: no function of Python comes here.
SHELL = {"receipt_keys.c", "errand.c", "local/trusted/service.c", "wire/pages.c", "short.c", "trusted/store.c"}


def keywords() -> set[str]:
    """Every argument of every function of both packages."""
    found: set[str] = set()
    for package in (tacet, trusted, tacet.calibrate):
        for thing in vars(package).values():
            for one in [getattr(thing, name) for name in dir(thing)] if inspect.isclass(thing) else [thing]:
                if inspect.isfunction(one) or (inspect.ismethod(one) and one.__module__.startswith("tacet")):
                    found |= set(inspect.signature(one).parameters)
    return found


def test_every_message_of_the_library_can_be_said_in_python() -> None:
    """All of them, from the sources: what in_python makes of a message names no option, and arguments that there are."""
    found, known = 0, keywords()
    for path in (SOURCES / "src").rglob("*.c"):
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*--[a-z](?:[^"\\\n]|\\.)*)"', path.read_text()):
            if path.parent.name not in ("report", "pages") and not any(str(path).endswith(name) for name in SHELL):
                found += 1
                said = in_python(text)
                assert not OPTION.search(said), (path.name, text)
                assert set(re.findall(r"\b([a-z_]+)=(?![a-zA-Z%])", said)) <= known, (path.name, said)
    assert found > 10 and {"ledger", "new_budget", "rows_per_person"} <= known
    assert in_python("name it with --ledger, or say why in --new-budget") == "name it with ledger=, or say why in new_budget="
    assert "--" not in in_python("'tacet device report --failed'")


def test_no_option_in_the_packages() -> None:
    for path in [*(SOURCES / "python/tacet").rglob("*.py"), *(SOURCES / "python/tacet-trusted").rglob("*.py")]:
        for line in path.read_text().splitlines():
            if "raise " in line or "Error(" in line or "InvalidValue(" in line:
                assert not OPTION.search(line), (path.name, line)
