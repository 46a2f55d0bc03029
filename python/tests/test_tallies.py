# SPDX-License-Identifier: Apache-2.0
"""Sums that any engine can add: the same bits for any partitioning, by a real cluster of processes, one of which dies."""
from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted
from tacet.trusted import tallying

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

SHOP = tacet.Space(variant=tacet.Category("A", "B"), kind=tacet.Category("new", "old", "back"))
ASK: dict[str, Any] = {"space": SHOP, "action": "variant", "reward": "spent"}


@pytest.fixture(scope="module")
def shop() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    n = 4000
    return pd.DataFrame({
        "kind": rng.choice(["new", "old", "back"], n), "variant": pd.Categorical(rng.choice(["A", "B"], n)),
        "spent": rng.random(n) * rng.integers(0, 2, n),
    })  # fmt: skip


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as made:
        with distributed.Client(made) as client:
            yield client


def cut(frame: pd.DataFrame, parts: int) -> Any:
    """Partitions of uneven sizes, the second of them empty where there are three or more."""
    ends = [0, *(len(frame) * (np.arange(1, parts + 1) / parts) ** 2).astype(int)]
    pieces = [frame.iloc[a:b] for a, b in zip(ends, ends[1:])]
    if parts > 2:
        pieces.insert(1, frame.iloc[:0])
    return dd.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame.iloc[:0])


def test_a_tally_does_not_know_how_the_rows_were_cut(shop: pd.DataFrame, cluster: Any) -> None:
    for reach in ((0.0, 1.0), (0.0, 40.0)):
        whole = trusted.tally(shop, **ASK, reward_range=reach)
        assert whole.rows == len(shop) and whole.parts == 1 and "4000 rows" in repr(whole)
        for parts in (1, 2, 7):
            tally = trusted.tally(cut(shop, parts), **ASK, reward_range=reach)
            assert tally.digest() == whole.digest() and tally.rows == len(shop) and tally.parts == parts
    other = shop.copy()
    other.loc[7, "spent"] += 1e-3
    assert trusted.tally(other, **ASK).digest() != trusted.tally(shop, **ASK).digest()
    many = dd.from_pandas(shop, npartitions=40)  # merged by the workers, sixteen at a time
    assert trusted.tally(many, **ASK).digest() == trusted.tally(shop, **ASK).digest()


def test_learning_from_partitions_is_learning_from_the_table(shop: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    for name, reach in (("one", (0.0, 1.0)), ("money", (0.0, 40.0))):
        seen: list[float] = []
        model = trusted.learn(cut(shop, 7), **ASK, reward_range=reach, eps=50, ledger=tmp_path / f"{name}.db", progress=seen.append)
        alone = trusted.learn(shop, **ASK, reward_range=reach, eps=50, ledger=tmp_path / f"{name} alone.db", new_budget="to compare")
        rows = {"variant": ["A", "B"] * 3, "kind": ["new", "new", "old", "old", "back", "back"]}
        assert np.abs(model.predict(rows).mean - alone.predict(rows).mean).max() < 0.1 * reach[1] and model.private
        assert model.records == alone.records and seen == sorted(seen) and seen[-1] == 1
        assert len(tacet.Ledger(tmp_path / f"{name}.db")) == len(tacet.Ledger(tmp_path / f"{name} alone.db"))
        with pytest.raises(tacet.BudgetExceeded):
            trusted.learn(cut(shop, 2), **ASK, reward_range=reach, eps=50, ledger=tmp_path / f"{name}.db", ticket="another")


def test_a_person_counts_once_whatever_the_partitions(shop: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    owned = shop.assign(who=[f"p{n}" for n in rng.integers(0, 900, len(shop))])
    first = owned[owned.groupby("who").cumcount() < 3]
    for parts in (1, 2, 7):
        kept = tallying.Parts(cut(owned, parts), "who", 3)
        question = tallying.question_of(SHOP, "variant", "spent", (0.0, 1.0), 1.0)
        stage = tallying.Stage(tallying.lib.TACET_AB_TABLE, kept.rows, 1.0, bytes(16))
        assert kept.rows == len(first)
        assert tallying.sum_of(kept, question, stage).digest() == trusted.tally(first, **ASK).digest()
    model = trusted.learn(cut(owned, 7), **ASK, eps=0.5, ledger=tmp_path / "l.db", person="who", rows_per_person=3)
    alone = trusted.learn(owned, **ASK, eps=0.5, ledger=tmp_path / "alone.db", new_budget="to compare", person="who", rows_per_person=3)
    assert model.records == alone.records == len(first)
    assert tacet.Ledger(tmp_path / "l.db").eps == tacet.Ledger(tmp_path / "alone.db").eps == pytest.approx(1.5)
    empty = owned.copy()
    empty.loc[2000, "who"] = None
    with pytest.raises(tacet.InvalidValue, match="every row belongs to a person"):
        trusted.learn(cut(empty, 7), **ASK, eps=0.5, ledger=tmp_path / "no.db", person="who", rows_per_person=3)


def test_a_person_counts_once_in_a_table_that_is_cut_elsewhere_each_time(shop: pd.DataFrame, tmp_path: Path) -> None:
    """As a query without an order: counted in one part, a person's rows then lie in two."""
    owned = shop.assign(who=["ada"] * 6 + [str(i) for i in range(len(shop) - 6)])
    made: list[int] = []

    def part(number: int) -> pd.DataFrame:
        made.append(number)
        rows = owned if len(made) <= 4 else pd.concat([owned[3:], owned[:3]])
        return rows[number * 1000 : (number + 1) * 1000] if number < 3 else rows[3000:]

    table = dd.from_delayed([dask.delayed(part, pure=False)(i) for i in range(4)], meta=owned.iloc[:0], verify_meta=False)
    with dask.config.set(scheduler="synchronous"), pytest.raises(tacet.Conflict, match="changed while"):
        trusted.learn(table, **ASK, eps=1, ledger=tmp_path / "l.db", person="who", rows_per_person=3)
    assert not (tmp_path / "l.db").exists()
    assert not (tmp_path / "no.db").exists()


def dies_once(part: pd.DataFrame, marker: str) -> pd.DataFrame:
    if not os.path.exists(marker) and len(part) > 0:
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_worker_that_dies_changes_nothing(shop: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    marker = tmp_path / "died"
    frame = cut(shop, 4).map_partitions(dies_once, str(marker), meta=shop.iloc[:0])
    assert trusted.tally(frame, **ASK).digest() == trusted.tally(shop, **ASK).digest() and marker.exists()


def test_a_part_is_merged_once_and_only_with_its_own(shop: pd.DataFrame) -> None:
    question = tallying.question_of(SHOP, "variant", "spent", (0, 1), 1)
    stage = tallying.Stage(tallying.lib.TACET_AB_TABLE, len(shop), 1.0, bytes(16))
    plan = tallying.plan_of(question, stage)
    first, again, rest = (tallying.part_tally(frame, question, stage, at) for frame, at in
                          ((shop[:1000], 0), (shop[:1000], 0), (shop[1000:], 1000)))  # fmt: skip
    assert first == again  # a task that is run twice gives the same bytes
    tally = tallying.together([first, rest], plan)
    before = tally.digest()
    for wrong in (again, rest):
        with pytest.raises(tacet.Conflict, match="counted once"):
            tally.merge(tallying.Tally.from_bytes(wrong, plan))
    assert tally.digest() == before == trusted.tally(shop, **ASK).digest()
    with pytest.raises(tacet.Conflict, match="another plan"):
        tallying.Tally.from_bytes(first, tallying.plan_of(question._replace(reward_range=(0.0, 0.5)), stage._replace(top=0.5)))
    later = first[:6] + bytes([first[6] + 1]) + first[7:]
    for damaged in (first[:-1], first[:40], b"", first[:9] + b"\xff" + first[10:], later):
        with pytest.raises(tacet.Corrupt):
            tallying.Tally.from_bytes(damaged, plan)


def test_what_does_not_fit_is_refused_in_words(shop: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    frame = cut(shop, 2)
    ledger = tmp_path / "ledger.db"
    with pytest.raises(tacet.InvalidValue, match="name their ledger"):
        trusted.learn(frame, **ASK, eps=1)
    for wrong in ({"person": "kind"}, {"rows_per_person": 2}):
        with pytest.raises(tacet.InvalidValue, match="go together"):
            trusted.learn(frame, **ASK, eps=1, ledger=ledger, **wrong)
    with pytest.raises(tacet.InvalidValue, match="no column 'who'"):
        trusted.learn(frame, **ASK, eps=1, ledger=ledger, person="who", rows_per_person=2)
    kinds = [dask.delayed(shop.iloc[:10]), dask.delayed(shop.iloc[10:].assign(spent="a lot"))]
    with pytest.raises(tacet.InvalidValue, match="from row 10 on: .*'spent'"):
        trusted.learn(dd.from_delayed(kinds, meta=shop.iloc[:0], verify_meta=False), **ASK, eps=1, ledger=ledger)
    odd = shop.copy()
    odd.loc[3000, "variant"] = None
    with pytest.raises(tacet.InvalidValue, match="from row 1000 on: row 2000"):
        trusted.learn(cut(odd, 2), **ASK, eps=1, ledger=ledger)
    pieces = [dask.delayed(shop.iloc[:10]), dask.delayed(shop.iloc[10:].drop(columns="kind"))]
    with pytest.raises(tacet.InvalidValue, match="no column 'kind'"):
        trusted.learn(dd.from_delayed(pieces, meta=shop.iloc[:0], verify_meta=False), **ASK, eps=1, ledger=ledger)
    with pytest.raises(tacet.InvalidValue, match="no rows"):
        trusted.tally(shop.iloc[:0], **ASK)
    assert not ledger.exists() or len(tacet.Ledger(ledger)) == 0


PEOPLE = tacet.Space(age=tacet.Real(18, 90, unit=5), sex=tacet.Category("F", "M"), dose=tacet.Real(5, 200, unit=10))


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    rng = np.random.default_rng(6)
    n = 1500
    return pd.DataFrame({"age": rng.uniform(18, 90, n), "sex": rng.choice(["F", "M"], n), "dose": rng.uniform(5, 200, n)})


def test_partitions_are_drawn_where_they_are(people: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    seen: list[float] = []
    marker = tmp_path / "died"
    frame = cut(people, 7).map_partitions(dies_once, str(marker), meta=people.iloc[:0])
    release = trusted.curate(frame, space=PEOPLE, eps=40, values_unprotected=True, out=tmp_path / "r", ledger=tmp_path / "l.db", progress=seen.append)
    found = release.to_frame()
    assert len(found) == len(people) and release.manifest.private and seen[-1] == 1 and marker.exists()
    assert abs(found["age"].to_numpy() - people["age"].to_numpy()).mean() < 5  # each row in its place
    assert (found["sex"] == people["sex"].to_numpy()).mean() > 0.99
    assert len(tacet.Ledger(tmp_path / "l.db")) == 1 and tacet.Ledger(tmp_path / "l.db").eps == pytest.approx(40)
    with pytest.raises(tacet.Conflict, match="not drawn twice"):
        trusted.curate(cut(people, 7), space=PEOPLE, eps=40, values_unprotected=True, out=tmp_path / "r", ledger=tmp_path / "l.db")


def test_a_part_that_cannot_be_drawn_is_named_and_nothing_is_charged(people: pd.DataFrame, cluster: Any, tmp_path: Path) -> None:
    odd = people.copy()
    odd.loc[1400, "age"] = None
    for wrong, said in ((cut(odd, 2), "from row 375 on: row 1025 .counted from 0.: column 'age' is missing"),):
        with pytest.raises(tacet.InvalidValue, match=said):
            trusted.curate(wrong, space=PEOPLE, eps=3, values_unprotected=True, out=tmp_path / "r", ledger=tmp_path / "l.db")
    with pytest.raises(tacet.InvalidValue, match="name their ledger"):
        trusted.curate(cut(people, 2), space=PEOPLE, eps=3, values_unprotected=True, out=tmp_path / "r")
    assert not (tmp_path / "l.db").exists() and not (tmp_path / "r").exists()
