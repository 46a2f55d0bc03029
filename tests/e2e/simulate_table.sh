#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# simulate_table.sh - `tacet-lab simulate outsourced --world table`: a table through the product's curator and session, as a share of
# chance, beside a plain Gaussian process; the same numbers for the same seed. Seeds fixed, nothing statistical.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 400; i++) { a = i % 20; b = int(i / 20); printf "%d,%d,%.4f\n", a, b, (a - 13) ^ 2 + (b - 4) ^ 2 } }' >"$work/t.csv"
sim() { TMPDIR=$work "$TACET_BIN/tacet-lab" simulate outsourced --world table --data "$work/t.csv" --inputs a,b --target y --minimize --queries 20 --trials 3 --seed 4 --json "$@" 2>"$work/err"; }
sim --eps 5 >"$work/a" || fail "it does not run"
sim --eps 5 >"$work/b"
sim --eps 5 --permute >"$work/permuted"
sim --eps 0.05 --noise 0.1 >"$work/noisy"
python3 - "$work" <<'P' || fail "the numbers do not fit each other"
import json, sys
r = {n: json.load(open(sys.argv[1] + "/" + n)) for n in ("a", "b", "permuted", "noisy")}
for x in r.values():
    x.pop("seconds")
    assert x["private"] is False and x["rows"] == 400 and x["queries"] == 20
    for who in ("share", "plain", "nonprivate"):
        assert 0 <= x[who]["mean"] <= x[who]["max"] and x[who]["se"] >= 0
    assert 0 <= x["chance"]["high"] <= x["chance"]["median"] <= x["chance"]["low"]
assert r["a"] == r["b"]
assert r["a"]["share"]["mean"] < 0.5 and r["a"]["evidence"]["above_3"] == 3
assert r["permuted"]["permuted"] is True and r["permuted"]["evidence"]["above_3"] <= 1
assert r["noisy"]["sigma"] > 50 * r["a"]["sigma"]
P
[ -z "$(find "$work" -name 'tacet-lab-*')" ] || fail "temporary folders are left behind"
expect 2 sim --mechanism published
