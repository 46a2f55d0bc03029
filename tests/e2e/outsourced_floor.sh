#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# outsourced_floor.sh - `tacet-lab simulate outsourced`: curves with standard errors, and the modeler that knows the objective, below
# which nobody comes. Branin, 961 records; seeds fixed, nothing statistical.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
sim() { "$TACET_BIN/tacet-lab" simulate outsourced --world branin --trials 4 --queries 10 --seed 5 --json "$@"; }
sim --modeler known --eps 1 >"$work/known"
sim --modeler known --eps 1000 >"$work/clear"
sim --mechanism random >"$work/random"
sim --modeler known --mechanism laplace --eps 1 >"$work/laplace"
expect 2 sim --modeler known --mechanism published
python3 - "$work" <<'P' || fail "the numbers do not fit each other"
import json, sys
r = {n: json.load(open(sys.argv[1] + "/" + n)) for n in ("known", "clear", "random", "laplace")}
for x in r.values():
    assert len(x["regret_by_query"]) == len(x["regret_by_query_se"]) == 10
    assert abs(x["regret_by_query"][-1] - x["simple_regret"]["mean"]) < 1e-12
    assert abs(x["regret_by_query_se"][-1] - x["simple_regret"]["se"]) < 1e-12
assert 0 < r["known"]["floor"]["mean"] < r["random"]["simple_regret"]["mean"]
assert 0 < r["laplace"]["floor"]["mean"] < r["random"]["simple_regret"]["mean"]
# With next to no noise every row is known, and the first choice is the top.
assert r["clear"]["floor"]["mean"] < 1e-9 and r["clear"]["regret_by_query"][0] < 1e-9
assert "floor" not in r["random"]
P
