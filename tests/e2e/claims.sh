#!/bin/sh
# claims.sh - what tacet curate says is protected, against tacet calibrate: no more than holds, also for larger changes.
set -eu
tacet=${TACET_BIN:?}/tacet
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "claims: $*"; exit 1; }
number() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$2"; }
printf 'age\n20\n50\n70\n' >"$tmp/a.csv"

# 100 years in units of 5: twenty units. The noise of distance 1, asked about distance 20.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --out "$tmp/r" --json >"$tmp/json"
"$tacet" calibrate gaussian --sigma "$(number sigma "$tmp/json")" --sensitivity 20 --delta 1e-5 --json >"$tmp/far"
awk -v said="$(number eps_any_change "$tmp/json")" -v is="$(number eps "$tmp/far")" \
    'BEGIN { exit !(is > 160 && said >= is && said < 1.001 * is) }' || fail "of any change it says $(number eps_any_change "$tmp/json")"
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --out "$tmp/s" --ledger "$tmp/s.ledger" >"$tmp/said"
grep -q 'becomes any other within the bounds is hidden at eps = 165 only' "$tmp/said" || fail "$(cat "$tmp/said")"
# A unit as wide as the bounds: any change is what is protected.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=100 --eps 3 --out "$tmp/w" --ledger "$tmp/w.ledger" --json >"$tmp/json"
[ "$(number eps_any_change "$tmp/json")" = 3.0 ] || fail "of a wide unit it says $(number eps_any_change "$tmp/json")"
# What is not private promises nothing for any change.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --out "$tmp/n" --seed 1 --ledger "$tmp/n.ledger" --json 2>/dev/null >"$tmp/json"
grep -q '"eps_any_change":null' "$tmp/json" || fail "seeded noise promises something"
echo "what is said is what holds"
