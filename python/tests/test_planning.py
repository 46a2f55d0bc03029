# SPDX-License-Identifier: Apache-2.0
"""Plans: public arithmetic against what the library then does, and simulations."""
from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import tacet
from tacet import trusted


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_noise_of_a_release_is_what_curate_takes(
    patients: pd.DataFrame, space: tacet.Space, tmp_path: Path, delta: float
) -> None:
    frame = tacet.plan("outsourced", space=space, eps=[0.05, 3], delta=delta).to_frame()
    release = trusted.curate(
        patients, space=space, eps=3, values_unprotected=True, delta=delta or None, out=tmp_path / "r", ledger=tmp_path / "l.db"
    )
    assert frame.loc[3, "age"] == pytest.approx(5 * release.manifest.sigma)
    assert frame.loc[3, "dose"] == pytest.approx(10 * release.manifest.sigma)
    assert frame.loc[3, "sex"] == "kept with p = 0.953" and frame.loc[3, "tells nothing of a row"] == "-"
    assert "age" in frame.loc[0.05, "tells nothing of a row"]
    with pytest.raises(tacet.InvalidValue, match="unit"):
        tacet.plan("outsourced", space=tacet.Space(x=tacet.Real(0, 1)))


def test_the_rows_of_a_plan_tell_two_actions_apart(tmp_path: Path) -> None:
    """At the planned rows a difference of 0.1 is known to ± 0.1, and one action's mean to ± 0.1 / sqrt(2). The bounds
    leave a factor of 2.8 to either side: the seed is fixed, the noise is not, and widths of intervals hardly vary."""
    shop = tacet.Space(variant=tacet.Category("A", "B"), kind=tacet.Category("new", "old"))
    plan = tacet.plan("learn", space=shop, action="variant", eps=[0.2, 1], effect=0.1, given=2000)
    rows = int(plan.rows[1]["rows"])
    assert plan.rows[0]["rows"] > rows and plan.rows[1]["possible"] == "yes"
    rng = np.random.default_rng(11)
    variant = rng.choice(["A", "B"], rows)
    log = pd.DataFrame({"variant": variant, "kind": rng.choice(["new", "old"], rows)})
    log["bought"] = rng.random(rows) < np.where(variant == "B", 0.55, 0.45)
    model = trusted.learn(log, space=shop, action="variant", reward="bought", eps=1, ledger=tmp_path / "l.db")
    assert isinstance(model, tacet.TableModel)
    single = model.single
    assert 0.025 < (single.upper - single.lower) / 2 < 0.2


def test_more_eps_needs_fewer_rounds_and_what_is_given_decides() -> None:
    for model, delta in (("central", 1e-6), ("local", 0.0)):
        plan = tacet.plan(model, eps=[0.5, 8], delta=delta, effect=0.1, given=1000)  # type: ignore[arg-type]
        few = [row["rounds for ± 0.1"] for row in plan.rows]
        assert few[0] > few[1] and [row["possible"] for row in plan.rows] == ["NO", "yes"]
        assert "possible" in str(plan) and "<table>" in plan._repr_html_()
    for wrong in ({"model": "nosuch"}, {"model": "learn"}, {"model": "local", "eps": []}, {"model": "local", "effect": 0},
                  {"model": "central", "eps": -1}):  # fmt: skip
        with pytest.raises(tacet.InvalidValue):
            tacet.plan(**wrong)  # type: ignore[arg-type]


def test_a_simulation_needs_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TACET_BIN", raising=False)
    plan = trusted.plan("outsourced", eps=[1, 8], trials=4, candidates=60, queries=6)
    assert [point["eps"] for point in plan.points] == [1, 8] and plan.advice
    with pytest.raises(tacet.InvalidValue) as refused:
        trusted.plan("outsourced", candidates=-1)
    assert "--" not in str(refused.value)
