#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# claims.sh - what tacet curate says is protected, against tacet calibrate: no more than holds, also for larger changes.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
printf 'age\n20\n50\n70\n' >"$work/a.csv"

# 100 years in units of 5: twenty units. The noise of distance 1, asked about distance 20.
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism gaussian --out "$work/r" --json >"$work/json"
"$tacet" calibrate gaussian --scale "$(number sigma "$work/json")" --sensitivity 20 --delta 1e-5 --json >"$work/far"
awk -v said="$(number eps_any_change "$work/json")" -v is="$(number eps "$work/far")" \
    'BEGIN { exit !(is > 160 && said >= is && said < 1.001 * is) }' || fail "of any change it says $(number eps_any_change "$work/json")"
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism gaussian --out "$work/s" --ledger "$work/s.ledger" --new-budget "a test" >"$work/said" 2>"$work/err"
said=$(sed -n 's/.*by one unit .*becoming any other, only at eps = \([0-9.]*[0-9]\)\..*/\1/p' "$work/said")
awk -v said="$said" -v is="$(number eps "$work/far")" 'BEGIN { exit !(said >= is && said < is + 1) }' || fail "$(cat "$work/said")"
# Where laplace has less noise it says so; and it is what laplace then has.
grep -q '^gaussian has a standard deviation of 1.39; laplace would have had 0.471, ' "$work/said" || fail "it says $(cat "$work/said")"
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --out "$work/l" --ledger "$work/l.ledger" --new-budget "a test" --json >"$work/laplace" 2>"$work/err"
foretold=$(sed -n 's/.*"considered":{[^}]*"laplace":\([0-9.e-]*\).*/\1/p' "$work/json")
awk -v said="$foretold" -v is="$(number sigma "$work/laplace")" 'BEGIN { exit !(said / is > 0.99999 && said / is < 1.00001) }' ||
    fail "it foretells $foretold, and there is $(number sigma "$work/laplace")"
# A dry run tells the same, and neither writes nor charges.
"$tacet" curate --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --out "$work/dry" --ledger "$work/dry.ledger" --dry-run --json >"$work/dry.json"
[ "$(number sigma "$work/dry.json")" = "$(number sigma "$work/laplace")" ] || fail "a dry run tells $(number sigma "$work/dry.json")"
grep -q '"dry_run":true' "$work/dry.json" || fail "a dry run does not say that it is one"
[ ! -e "$work/dry" ] && [ ! -e "$work/dry.ledger" ] || fail "a dry run left something behind"
# Twenty units cost twenty times eps there, no more.
awk -v said="$(number eps_any_change "$work/laplace")" 'BEGIN { exit !(said >= 60 && said < 60.001) }' || fail "laplace says of any change $(number eps_any_change "$work/laplace")"
[ "$(number delta "$work/laplace")" = 0.0 ] || fail "laplace has a delta"
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 1 --mechanism gaussian --delta 0.2 --out "$work/d" --ledger "$work/d.ledger" --new-budget "a test" >"$work/said" 2>"$work/err"
# A unit as wide as the bounds: any change is what is protected.
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=100 --eps 3 --mechanism gaussian --out "$work/w" --ledger "$work/w.ledger" --new-budget "a test" --json >"$work/json"
awk -v said="$(number eps_any_change "$work/json")" 'BEGIN { exit !(said >= 3 && said < 3.001) }' || fail "of a wide unit it says $(number eps_any_change "$work/json")"
# What is not private promises nothing for any change.
"$tacet" curate --values-unprotected --data "$work/a.csv" --inputs age --bounds age=0:100 --unit age=5 --eps 3 --out "$work/n" --noise-seed 1 --ledger "$work/n.ledger" --new-budget "a test" --json 2>/dev/null >"$work/json"
grep -q '"eps_any_change":null' "$work/json" || fail "seeded noise promises something"
# The README's first screen has the sentence that its own example prints.
awk -f "$TACET_SOURCE/examples/patients.awk" >"$work/patients.csv"
"$tacet" curate --values-unprotected --data "$work/patients.csv" --inputs age,bmi,dose --bounds age=18:90,bmi=16:46,dose=5:200 --unit age=5,bmi=2,dose=10 \
    --eps 3 --queries 40 --out "$work/p" --dry-run >"$work/said"
claim=$(sed -n 's/^\(The release hides .*only at eps = [0-9.]*[0-9]\.\).*/\1/p' "$work/said")
[ -n "$claim" ] || fail "no sentence in $(cat "$work/said")"
head -n 40 "$TACET_SOURCE/README.md" | tr '\n' ' ' | tr -s ' ' | grep -qF "$claim" || fail "README.md does not say: $claim"

# Nothing for good by accident: what speaks against a release is said, and it is not made without --yes.
patients="--data $work/patients.csv --inputs age,bmi,dose --bounds age=18:90,bmi=16:46,dose=5:200"
# shellcheck disable=SC2086
expect 1 "$tacet" curate --values-unprotected $patients --unit age=5,bmi=2,dose=10 --eps 21 --out "$work/v" # hides nothing
grep -q 'hides hardly anything' "$work/err" && grep -q -e '--yes' "$work/err" || fail "eps 21: $(cat "$work/err")"
# shellcheck disable=SC2086
expect 1 "$tacet" curate --values-unprotected $patients --unit age=5,bmi=2,dose=10 --eps 0.03 --out "$work/v" # drowns everything
grep -q 'three times as wide as the bounds in every column' "$work/err" || fail "eps .03: $(cat "$work/err")"
# shellcheck disable=SC2086
expect 1 "$tacet" curate --values-unprotected $patients --unit age=99999,bmi=99999,dose=99999 --eps 3 --out "$work/v" # protects moves that nobody makes
grep -q 'below a hundredth' "$work/err" || grep -q 'three times as wide' "$work/err" || fail "units of 99999: $(cat "$work/err")"
[ ! -e "$work/v" ] && [ ! -e "$work/patients.csv.ledger.db" ] || fail "a release that nobody confirmed left something behind"
# shellcheck disable=SC2086
expect 0 "$tacet" curate --values-unprotected $patients --unit age=5,bmi=2,dose=10 --eps 21 --yes --out "$work/v"
expect 2 "$tacet" study create --store "$work/st" --name big --trust central --eps 21 --delta 1e-6 --bounds x=0:1
grep -q -e '--yes' "$work/err" || fail "a study at eps 21: $(cat "$work/err")"
expect 0 "$tacet" study create --store "$work/st" --name named --trust central --eps 1 --delta 1e-6 --bounds x=0:1
grep -q 'the server proposes points of its space' "$work/out" || fail "which kind of study: $(cat "$work/out")"
expect 0 "$tacet" study create --store "$work/st" --name sets --trust central --eps 1 --delta 1e-6 --sets 0:1 --lengthscale 0.3
grep -q 'each round brings its own decision set' "$work/out" || fail "which kind of study: $(cat "$work/out")"
expect 0 "$tacet" study create --store "$work/st" --name test --trust central --policy ab --levels 'v=A|B' --eps 1 --field prior.typical_reward=.2
grep -q 'a fair coin draws a variant' "$work/out" || fail "which kind of study: $(cat "$work/out")"

# A rehearsal: the patients of the README, real noise, as often as one likes; and no file of anybody's.
for time in 1 2; do
    expect 0 "$tacet" curate --rehearsal --eps 3 --out "$work/again"
    cp "$work/again/release.csv" "$work/release.$time"
done
! cmp -s "$work/release.1" "$work/release.2" || fail "a rehearsal has no noise of its own"
cmp -s "$work/patients.csv" "$work/again.rehearsal/patients.csv" || fail "a rehearsal has other patients"
expect 2 "$tacet" curate --rehearsal --data "$work/patients.csv" --eps 3 --out "$work/again"
grep -q 'it takes none of yours' "$work/err" || fail "a rehearsal with a file: $(cat "$work/err")"
mkdir "$work/kept" && echo mine >"$work/kept/file"
expect 2 "$tacet" curate --rehearsal --eps 3 --out "$work/kept"
[ "$(cat "$work/kept/file")" = mine ] || fail "a rehearsal removed somebody's folder"
echo "what is said is what holds"
