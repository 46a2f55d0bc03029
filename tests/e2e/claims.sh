#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# claims.sh - what tacet curate says is protected, against tacet calibrate: no more than holds, also for larger changes.
set -eu
tacet=${TACET_BIN:?}/tacet
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "claims: $*"; exit 1; }
number() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$2"; }
printf 'age\n20\n50\n70\n' >"$tmp/a.csv"

# 100 years in units of 5: twenty units. The noise of distance 1, asked about distance 20.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism gaussian --out "$tmp/r" --json >"$tmp/json"
"$tacet" calibrate gaussian --sigma "$(number sigma "$tmp/json")" --sensitivity 20 --delta 1e-5 --json >"$tmp/far"
awk -v said="$(number eps_any_change "$tmp/json")" -v is="$(number eps "$tmp/far")" \
    'BEGIN { exit !(is > 160 && said >= is && said < 1.001 * is) }' || fail "of any change it says $(number eps_any_change "$tmp/json")"
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism gaussian --out "$tmp/s" --ledger "$tmp/s.ledger" --new-budget "a test" >"$tmp/said" 2>"$tmp/err"
said=$(sed -n 's/.*becomes any other within the bounds is hidden at eps = \([0-9]*\) only$/\1/p' "$tmp/said")
awk -v said="$said" -v is="$(number eps "$tmp/far")" 'BEGIN { exit !(said >= is && said < is + 1) }' || fail "$(cat "$tmp/said")"
# Where laplace has less noise it says so, to people on stderr, to programs in a field; and it is what laplace then has.
grep -q '^tacet curate: note: --mechanism laplace would need a standard deviation of 0.471 instead of 1.39 per coordinate, and no delta$' "$tmp/err" ||
    fail "the note says $(cat "$tmp/err")"
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --out "$tmp/l" --ledger "$tmp/l.ledger" --new-budget "a test" --json >"$tmp/laplace" 2>"$tmp/err"
[ ! -s "$tmp/err" ] || fail "laplace notes $(cat "$tmp/err")"
awk -v said="$(number laplace_sigma "$tmp/json")" -v is="$(number sigma "$tmp/laplace")" 'BEGIN { exit !(said / is > 0.99999 && said / is < 1.00001) }' ||
    fail "it foretells $(number laplace_sigma "$tmp/json"), and there is $(number sigma "$tmp/laplace")"
# A dry run tells the same, and neither writes nor charges.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --out "$tmp/dry" --ledger "$tmp/dry.ledger" --dry-run --json >"$tmp/dry.json"
[ "$(number sigma "$tmp/dry.json")" = "$(number sigma "$tmp/laplace")" ] || fail "a dry run tells $(number sigma "$tmp/dry.json")"
grep -q '"dry_run":true' "$tmp/dry.json" || fail "a dry run does not say that it is one"
[ ! -e "$tmp/dry" ] && [ ! -e "$tmp/dry.ledger" ] || fail "a dry run left something behind"
# Twenty units cost twenty times eps there, no more.
awk -v said="$(number eps_any_change "$tmp/laplace")" 'BEGIN { exit !(said >= 60 && said < 60.001) }' || fail "laplace says of any change $(number eps_any_change "$tmp/laplace")"
[ "$(number delta "$tmp/laplace")" = 0.0 ] || fail "laplace has a delta"
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 1 --mechanism gaussian --delta 0.2 --out "$tmp/d" --ledger "$tmp/d.ledger" --new-budget "a test" >"$tmp/said" 2>"$tmp/err"
! grep -q "note: --mechanism laplace" "$tmp/err" || fail "a note where laplace has more noise: $(cat "$tmp/err")"
# A unit as wide as the bounds: any change is what is protected.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=100 --eps 3 --mechanism gaussian --out "$tmp/w" --ledger "$tmp/w.ledger" --new-budget "a test" --json >"$tmp/json"
awk -v said="$(number eps_any_change "$tmp/json")" 'BEGIN { exit !(said >= 3 && said < 3.001) }' || fail "of a wide unit it says $(number eps_any_change "$tmp/json")"
# What is not private promises nothing for any change.
"$tacet" curate --data "$tmp/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --out "$tmp/n" --seed 1 --ledger "$tmp/n.ledger" --new-budget "a test" --json 2>/dev/null >"$tmp/json"
grep -q '"eps_any_change":null' "$tmp/json" || fail "seeded noise promises something"
echo "what is said is what holds"
