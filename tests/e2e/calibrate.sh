#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# calibrate.sh - `tacet calibrate` as a person runs it: the known values, each direction, and every refusal with exit code 2.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

# field NAME ARGS...: the number NAME of the JSON output.
field() {
    name=$1
    shift
    "$bin/tacet" calibrate "$@" --json >"$work/out" 2>"$work/err" || { cat "$work/err"; fail "'$*' failed"; }
    sed -n "s/.*\"$name\":\\([-+0-9.e]*\\).*/\\1/p" "$work/out"
}
# near VALUE WANT TOLERANCE WHAT
near() {
    awk -v a="$1" -v b="$2" -v t="$3" 'BEGIN { d = a - b; if (a == "" || d > t || -d > t) exit 1 }' ||
        fail "$4: $1, expected $2"
}

case $("$bin/tacet" calibrate gaussian --eps 1 --delta 1e-5 --sensitivity 1 --json) in
*'"sigma":3.7306316'*) ;;
*) fail "sigma at (1, 1e-5)" ;;
esac
near "$(field sigma gaussian --eps 3.0041660239464334 --delta 1e-5)" 1.3888941496 1e-9 "sigma at (e^1.1, 1e-5)"
near "$(field sigma gaussian --eps 10 --delta 1e-5)" 0.4998886197 1e-9 "sigma at (10, 1e-5)"
near "$(field sigma gaussian --eps 0.001 --delta 1e-12)" 5412.3021938 1e-6 "sigma at (0.001, 1e-12)"
near "$(field sigma gaussian --eps 50 --delta 1e-5)" 0.1497606076 1e-9 "sigma at (50, 1e-5)"
near "$(field sigma gaussian --eps 1 --delta 1e-5 --count 4)" 7.4612632696 1e-8 "four releases"
near "$(field eps gaussian --scale 3.7306316348 --delta 1e-5)" 1 1e-9 "eps of a sigma"
near "$(field delta gaussian --scale 3.7306316348 --eps 1)" 1e-5 1e-13 "delta of a sigma"
near "$(field scale laplace --eps 0.5 --sensitivity 3)" 6 1e-12 "scale of laplace"
near "$(field eps laplace --scale 4)" 0.25 1e-12 "eps of a scale"
near "$(field sd laplace --eps 2)" 0.70710678118 1e-9 "sd of laplace"
near "$(field sd laplace --eps 2 --dims 3)" 1 1e-12 "sd of laplace in three coordinates"
near "$(field variance randomizer --eps 1)" 4.289 1e-3 "variance of hybrid"

refused() {
    # shellcheck disable=SC2086 # words on purpose
    expect 2 "$bin/tacet" calibrate $1
    [ ! -s "$work/out" ] || fail "'$1' wrote to stdout"
    grep -q "$2" "$work/err" || { cat "$work/err"; fail "'$1' does not say '$2'"; }
}
refused "gaussian --eps 0 --delta 1e-5" "eps must be > 0"
refused "gaussian --eps -1 --delta 1e-5" "eps must be > 0"
refused "gaussian --eps nan --delta 1e-5" "finite"
refused "gaussian --eps inf --delta 1e-5" "finite"
refused "gaussian --eps 1 --delta 1" "delta must be"
refused "gaussian --eps 1 --delta 0" "delta must be"
refused "gaussian --eps 1 --delta 1e-5 --sensitivity inf" "finite"
refused "gaussian --eps 1 --delta 1e-5 --sensitivity 0" "sensitivity must be"
refused "gaussian --eps 1 --delta 1e-5 --scale 3" "two of"
refused "gaussian --eps 1 --delta 1e-5 --count 0" "count"
refused "gaussian --eps 1" "two of"
refused "laplace" "one of"
refused "laplace --eps -2" "eps"
refused "laplace --eps 2 --dims 0" "dims"
refused "randomizer" "needs --eps"
refused "randomizer --eps 1 --mechanism none" "hybrid and laplace"
refused "randomizer --eps 1 --mechanism duchi" "hybrid and laplace"
refused "randomizer --eps 1 --range 1:0" "."
refused "no-such-thing" "no mechanism"
refused "" "which mechanism"
"$bin/tacet" calibrate gaussian --eps 1 --delta 1e-5 | grep -q '^sigma  *3.730631635$' || fail "text for people"
# The best of several runs is charged, once, or refused; nothing is charged to a ledger that is not there.
printf 'x\n1\n2\n3\n' >"$work/t.csv"
"$bin/tacet" curate --values-unprotected --data "$work/t.csv" --inputs x --bounds x=0:5 --unit x=1 --eps 1 --budget-eps 4 --out "$work/r" >/dev/null 2>&1 || fail "no ledger"
book=$work/t.csv.ledger.db
# shellcheck disable=SC2120 # expect passes them
choose() { "$bin/tacet" calibrate select --eps 1 --mean-runs 10 --ledger "$book" "$@"; }
choose | grep -q '^entry  *[0-9]' || fail "a choice is not entered"
choose >/dev/null || fail "the same choice again is refused"
"$bin/tacet" ledger show --ledger "$book" >"$work/shown"
grep -q 'tuning .*best of several .* select .*answered' "$work/shown" && grep -q '^spent .*eps 3[.0-9]* of 4' "$work/shown" || fail "shown: $(cat "$work/shown")"
"$bin/tacet" ledger verify --ledger "$book" >/dev/null || fail "the ledger is not intact"
expect 3 choose --ticket more
expect 1 choose --mean-runs 20
code=0; "$bin/tacet" calibrate select --eps 1 --mean-runs 10 --ledger "$work/none.db" >/dev/null 2>&1 || code=$?
[ $code -eq 1 ] && [ ! -e "$work/none.db" ] || fail "a ledger that is not there gives $code"
# What people read is on the private side of what programs read.
for eps in 0.11 0.3 0.7 1.3 2.1 3.3 5.7 8.9; do
    shown=$("$bin/tacet" calibrate gaussian --eps $eps --delta 1e-6 | awk '$1 == "sigma" { print $2 }')
    exact=$("$bin/tacet" calibrate gaussian --eps $eps --delta 1e-6 --json | sed 's/.*"sigma":\([0-9.e-]*\).*/\1/')
    awk -v a="$shown" -v b="$exact" 'BEGIN { exit !(a + 0 >= b + 0 && a <= b * (1 + 1e-8)) }' || fail "sigma $shown is below $exact"
done
echo "calibrate: known values, every direction, every refusal"
