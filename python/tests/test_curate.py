# SPDX-License-Identifier: Apache-2.0
"""Releases of tables in memory: what may leave, what it costs, and what is refused."""
from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted


def test_a_frame_is_released_and_charged(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    seen: list[float] = []
    release = trusted.curate(
        patients, space=space, eps=3, values_unprotected=True, ledger=tmp_path / "patients.ledger.db", out=tmp_path / "release", progress=seen.append
    )
    frame = release.to_frame()
    assert len(frame) == len(patients)
    assert release.manifest.eps == 3 and release.manifest.delta == 0 and release.manifest.private
    for told in (repr(release), release._repr_html_()):  # eps of a move, and of any change, beside each other
        assert "for one row moved by one unit. The release hides a change of one row by one unit" in told
        assert re.search(r"any other change within the bounds, .* only at eps = [0-9.]*[1-9]", told)
    ledger = tacet.Ledger(tmp_path / "patients.ledger.db")
    assert ledger.eps == pytest.approx(3) and len(ledger) == 1
    assert "release of 400 records" in str(ledger) and "spent eps 3" in str(ledger)
    assert "<table>" in ledger._repr_html_() and "<table>" in release._repr_html_()
    assert list(frame.columns) == list(space) and set(frame.sex) == {"F", "M"}
    # the noise is what the manifest says, in the units of the space
    noise = np.column_stack([(frame.age - patients.age) / 5, (frame.dose - patients.dose) / 10])
    assert noise.std() == pytest.approx(release.manifest.sigma, rel=0.15)
    assert seen and max(seen) <= 1


def test_the_budget_of_a_table_is_one_whatever_is_named(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "a")
    with pytest.raises(tacet.BudgetExceeded):
        trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "b", ticket="again")
    with pytest.raises(tacet.BudgetExceeded, match="released before"):
        trusted.curate(patients[::-1], space=space, eps=3, values_unprotected=True, out=tmp_path / "b", ledger=tmp_path / "other.db")
    assert not (tmp_path / "b").exists()


def test_the_same_ticket_is_drawn_once(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "a")
    with pytest.raises(tacet.Conflict, match="not drawn twice"):
        trusted.curate(patients, space=space, eps=3, values_unprotected=True, out=tmp_path / "a")


BAD = [
    ("age", np.nan, tacet.InvalidValue, "row 7 .*'age' is missing"),
    ("age", np.inf, tacet.ParseError, "row 7 .*'age' is not a finite"),
    ("sex", "X", tacet.InvalidValue, "row 7 .*'sex' is none of its levels"),
    ("sex", None, tacet.InvalidValue, "row 7 .*'sex' is missing"),
    ("dose", "much", tacet.InvalidValue, "row 7 .*'dose' is not a number"),
]


@pytest.mark.parametrize(("column", "cell", "error", "words"), BAD)
def test_a_bad_cell_is_named_and_nothing_is_spent(
    column: str, cell: object, error: type[Exception], words: str, patients: pd.DataFrame, space: tacet.Space, tmp_path: Path
) -> None:
    frame = patients.astype({column: object})
    frame.loc[7, column] = cell
    with pytest.raises(error, match=words):
        trusted.curate(frame, space=space, eps=3, values_unprotected=True, ledger=tmp_path / "l.db", out=tmp_path / "release")
    assert not (tmp_path / "l.db").exists() and not (tmp_path / "release").exists()


def test_tables_that_are_none_are_refused(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    def refused(table: object, words: str) -> None:
        with pytest.raises(tacet.InvalidValue, match=words):
            trusted.curate(table, space=space, eps=3, values_unprotected=True, out=tmp_path / "release")

    refused(patients.drop(columns="dose"), "no column 'dose'")
    multi = patients.copy()
    multi.columns = pd.MultiIndex.from_product([["people"], multi.columns])
    refused(multi, "MultiIndex")
    refused(pd.concat([patients, patients.age], axis=1), "two columns of one name")
    refused(np.array([["a", "b", "c"]]), "no table of numbers")
    refused(np.zeros((4, 3), dtype=complex), "no table of numbers")
    refused(np.zeros((4, 2)), "3 columns")
    refused(np.zeros(3), "two dimensions")


def test_an_array_is_taken_without_a_copy_and_otherwise_right() -> None:
    numbers = tacet.Space(x=tacet.Real(0, 1, unit=0.1), y=tacet.Real(0, 1, unit=0.1))
    array = np.random.default_rng(1).random((50, 4))
    plain = np.ascontiguousarray(array[:, :2])
    assert np.shares_memory(numbers.records(plain), plain)
    for awkward in (array[:, ::2], np.asfortranarray(plain), plain.astype(np.float32), plain[::-1]):
        assert not np.shares_memory(numbers.records(awkward), awkward)
        assert np.array_equal(numbers.records(awkward), np.asarray(awkward, dtype=np.float64))


def test_an_exception_in_progress_ends_it_and_is_raised(space: tacet.Space, tmp_path: Path) -> None:
    many = np.column_stack([np.full(200_000, 30.0), np.zeros(200_000), np.arange(200_000) % 190 + 6.0])

    def progress(_: float) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        trusted.curate(many, space=space, eps=3, values_unprotected=True, out=tmp_path / "r", progress=progress)
    trusted.curate(many, space=space, eps=3, values_unprotected=True, out=tmp_path / "r")  # goes on, and is not charged again
    assert trusted.Release(tmp_path / "r").ledger.eps == pytest.approx(3)


def test_a_person_with_ten_rows_is_charged_for_ten(patients: pd.DataFrame, space: tacet.Space, tmp_path: Path) -> None:
    frame = patients.assign(who=[f"p{i // 10}" for i in range(len(patients))])
    ten = trusted.curate(
        frame, space=space, eps=1, values_unprotected=True, person="who", rows_per_person=10, ledger=tmp_path / "ten.db", out=tmp_path / "ten"
    )
    assert ten.manifest.person == (10, 10.0, 0.0) and len(ten.to_frame()) == len(frame)
    assert "eps = 10, delta = 0 for one person, who has at most 10 rows" in repr(ten)
    assert tacet.Ledger(tmp_path / "ten.db").eps == pytest.approx(10)
    one = trusted.curate(
        frame, space=space, eps=1, values_unprotected=True, person="who", rows_per_person=1, new_budget="a test", ledger=tmp_path / "one.db", out=tmp_path / "one"
    )
    assert len(one.to_frame()) == len(frame) / 10 and tacet.Ledger(tmp_path / "one.db").eps == pytest.approx(1)
    with pytest.raises(tacet.InvalidValue, match="no column 'whom'"):
        trusted.curate(frame, space=space, eps=1, values_unprotected=True, person="whom", rows_per_person=1, out=tmp_path / "bad")
    with pytest.raises(tacet.InvalidValue, match="row 3 .* is empty"):
        frame.loc[frame.index[3], "who"] = " "
        trusted.curate(frame, space=space, eps=1, values_unprotected=True, person="who", rows_per_person=1, out=tmp_path / "bad")


def test_released_rows_have_the_names_and_units_of_the_space(tmp_path: Path) -> None:
    rows = 200
    table = pd.DataFrame({
        "visit": pd.Timestamp("2021-03-01") + pd.to_timedelta(np.arange(rows) % 28, unit="D"),
        "rate": np.geomspace(1e-3, 0.5, rows), "layers": 1 + np.arange(rows) % 9,
        "mg": np.where(np.arange(rows) % 10 == 0, np.nan, 80.0),
    })  # fmt: skip
    space = tacet.Space(
        visit=tacet.Date("2021-01-01", "2021-12-31", unit="2 weeks"), rate=tacet.Log(1e-4, 1, unit=1.1),
        layers=tacet.Integer(1, 9, unit=1), mg=tacet.Real(5, 200, unit=10, missing={"value": 80, "flag": True}),
    )  # fmt: skip
    frame = trusted.curate(table, space=space, eps=1000, values_unprotected=True, out=tmp_path / "r", ledger=tmp_path / "l.db").to_frame()
    assert list(frame.columns) == list(space)
    assert (abs(frame.visit - table.visit) <= pd.Timedelta(days=1)).all()
    assert np.allclose(frame.rate, table.rate, rtol=0.01) and np.allclose(frame.layers, table.layers, atol=0.1)
    assert list(frame.mg.isna()) == list(table.mg.isna())


def test_a_rehearsal_is_had_as_often_as_one_likes_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("TACET_STATE", str(tmp_path / "registry"))
    with trusted.Rehearsal(rows=600, seed=1) as r:
        with caplog.at_level("INFO", "tacet"):
            first, second = r.curate(eps=3), r.curate(eps=3)
        assert [(told.name, "eps = 3" in told.getMessage()) for told in caplog.records] == 2 * [("tacet.curate", True)]
        assert first.manifest.private and first.ledger.eps == second.ledger.eps == 3
        assert not first.to_frame().equals(second.to_frame())  # real noise, drawn anew
        assert r.learn(eps=4).best(device="phone") == {"variant": "B"}
        assert r.measure(0) == r.patients["response"][0]
    assert not r.folder.exists() and not (tmp_path / "registry").exists()
    assert os.environ["TACET_STATE"] == str(tmp_path / "registry")
