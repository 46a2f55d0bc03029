#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# attack.sh - the rebuilding attack reads a published release and fails against ours, of either law; the published mechanism is refused
# and stamped.
set -eu
tacet=$TACET_BIN/tacet
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
    echo "attack: $1"
    exit 1
}
awk 'BEGIN { srand(3); print "age,bmi,dose"; for (i = 0; i < 500; i++) printf "%.1f,%.1f,%.2f\n", 100 * rand(), 10 + 50 * rand(), 5 * rand() }' >"$tmp/p.csv"
curate() {
    out=$1
    shift
    "$tacet" curate --data "$tmp/p.csv" --inputs age,bmi,dose --bounds age=0:100,bmi=10:60,dose=0:5 --radius 25 --eps 3 \
        --out "$tmp/$out" --ledger "$tmp/$out/ledger.db" --new-budget "a test" "$@"
}

curate ours --json >"$tmp/ours.json"
grep -q '"private":true' "$tmp/ours.json" || fail "our release does not say it is private"
"$tacet" audit outsourced --release "$tmp/ours" --data "$tmp/p.csv" --known 100 --json >"$tmp/a.json" || fail "the attack succeeded against ours"
grep -q '"succeeded":false,"recovered":0.0' "$tmp/a.json" || fail "a record of ours was read: $(cat "$tmp/a.json")"

curate laplace --mechanism laplace --json >"$tmp/laplace.json"
grep -q '"mechanism":"laplace","private":true,"eps":3.0,"delta":0.0,' "$tmp/laplace.json" || fail "the laplace release: $(cat "$tmp/laplace.json")"
"$tacet" audit outsourced --release "$tmp/laplace" --data "$tmp/p.csv" --known 100 --json >"$tmp/a.json" || fail "the attack succeeded against laplace"
grep -q '"succeeded":false,"recovered":0.0' "$tmp/a.json" || fail "a record of laplace was read: $(cat "$tmp/a.json")"

code=0
curate published --mechanism published --dims 8 2>"$tmp/err" || code=$?
[ "$code" -eq 1 ] || fail "the published mechanism was not refused (exit $code)"
grep -q 'not differentially private' "$tmp/err" || fail "the refusal does not say why"
[ ! -e "$tmp/published/release.csv" ] || fail "a refused release was written"
curate published --mechanism published --dims 8 --i-know-this-is-not-private --json >"$tmp/pub.json" 2>"$tmp/err"
grep -q '"private":false' "$tmp/pub.json" || fail "the published release claims to be private"
grep -q 'NOT DIFFERENTIALLY PRIVATE' "$tmp/err" || fail "no stamp on stderr"
grep -q 'NOT DIFFERENTIALLY PRIVATE' "$tmp/published/manifest.json" || fail "no stamp in the manifest"
"$tacet" ledger show --ledger "$tmp/published/ledger.db" | grep -q UNCOVERED || fail "the ledger does not show it as uncovered"
"$tacet" audit outsourced --release "$tmp/published" --data "$tmp/p.csv" --known 4 --json >"$tmp/b.json"
grep -q '"succeeded":true,"recovered":1.0' "$tmp/b.json" || fail "four known records did not give all of them: $(cat "$tmp/b.json")"
"$tacet" audit outsourced --release "$tmp/published" --data "$tmp/p.csv" --known 3 --json | grep -q '"succeeded":false' || fail "three known records of three columns should not do"
mkdir "$tmp/r"
! curate r --suggest-r >/dev/null 2>&1 || fail "a number of the records was told without acceptance"
r=$(curate r --suggest-r --i-know-this-is-not-private 2>/dev/null)
[ "$r" -ge 0 ] || fail "no suggestion for r"
echo "the published release was read from 4 records; ours were not from 100"
