#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# attack.sh - the rebuilding attack reads a published release and fails against ours, of either law; the published mechanism is refused
# and stamped.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
awk 'BEGIN { srand(3); print "age,bmi,dose"; for (i = 0; i < 500; i++) printf "%.1f,%.1f,%.2f\n", 100 * rand(), 10 + 50 * rand(), 5 * rand() }' >"$work/p.csv"
curate() {
    out=$1
    shift
    "$tacet" curate --values-unprotected --data "$work/p.csv" --inputs age,bmi,dose --bounds age=0:100,bmi=10:60,dose=0:5 --unit age=3.4641,bmi=1.73205,dose=0.173205 --eps 3 \
        --out "$work/$out" --ledger "$work/$out/ledger.db" --new-budget "a test" "$@"
}

curate ours --json >"$work/ours.json"
grep -q '"private":true' "$work/ours.json" || fail "our release does not say it is private"
"$tacet" audit outsourced --release "$work/ours" --data "$work/p.csv" --known 100 --json >"$work/a.json" || fail "the attack succeeded against ours"
grep -q '"succeeded":false,"recovered":0.0' "$work/a.json" || fail "a record of ours was read: $(cat "$work/a.json")"

curate laplace --mechanism laplace --json >"$work/laplace.json"
grep -q '"mechanism":"laplace","private":true,"eps":3.0,"delta":0.0,' "$work/laplace.json" || fail "the laplace release: $(cat "$work/laplace.json")"
"$tacet" audit outsourced --release "$work/laplace" --data "$work/p.csv" --known 100 --json >"$work/a.json" || fail "the attack succeeded against laplace"
grep -q '"succeeded":false,"recovered":0.0' "$work/a.json" || fail "a record of laplace was read: $(cat "$work/a.json")"

expect 1 curate published --mechanism published --dims 8
grep -q 'not differentially private' "$work/err" || fail "the refusal does not say why"
[ ! -e "$work/published/release.csv" ] || fail "a refused release was written"
curate published --mechanism published --dims 8 --i-know-this-is-not-private --json >"$work/pub.json" 2>"$work/err"
grep -q '"private":false' "$work/pub.json" || fail "the published release claims to be private"
grep -q 'NOT DIFFERENTIALLY PRIVATE' "$work/err" || fail "no stamp on stderr"
grep -q 'NOT DIFFERENTIALLY PRIVATE' "$work/published/manifest.json" || fail "no stamp in the manifest"
"$tacet" ledger show --ledger "$work/published/ledger.db" | grep -q UNCOVERED || fail "the ledger does not show it as uncovered"
"$tacet" audit outsourced --release "$work/published" --data "$work/p.csv" --known 4 --json >"$work/b.json"
grep -q '"succeeded":true,"recovered":1.0' "$work/b.json" || fail "four known records did not give all of them: $(cat "$work/b.json")"
"$tacet" audit outsourced --release "$work/published" --data "$work/p.csv" --known 3 --json | grep -q '"succeeded":false' || fail "three known records of three columns should not do"
echo "the published release was read from 4 records; ours were not from 100"
