#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device.sh - `tacet device report` as a person runs it: once per ticket, clipped, charged, refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
ledger=$work/phone.ledger
report() { "$tacet" device report --range 0:10 --eps 1 --ledger "$ledger" "$@"; }

expect 2 report --ticket a --value 3                # no ledger yet, and no budget for one
grep -q -- --budget-eps "$work/err" || fail "does not say how to create a ledger"
[ ! -e "$ledger" ] || fail "a ledger was made without a budget"
for mechanism in laplace hybrid; do
    expect 0 report --ticket "$mechanism" --value 3 --mechanism "$mechanism" --budget-eps 3
    cp "$work/out" "$work/first"
    expect 0 report --ticket "$mechanism" --value 7 --mechanism "$mechanism"
    cmp -s "$work/out" "$work/first" || fail "$mechanism: a retry gave other bits"
done
expect 0 report --ticket hybrid --value 3 --json
grep -q '"repeated":true' "$work/out" || fail "a retry is not called one"
! grep -q clipped "$work/out" || fail "what is sent tells whether the reward was clipped"
# Clipped: said on stderr, not on stdout. From stdin, so that it is in no list of processes.
echo 12.5 | report --ticket far --value - >"$work/out" 2>"$work/err" || fail "from stdin"
grep -q 'was clipped' "$work/err" || fail "clipping is not said"
! grep -q '12.5' "$work/err" || fail "the message holds the reward"
[ "$(wc -l <"$work/out")" = 1 ] || fail "more than a report on stdout"
# The budget of 3 is spent: a fourth ticket is refused, old ones are still answered.
expect 3 report --ticket fourth --value 3
[ ! -s "$work/out" ] || fail "something left although it was refused"
expect 0 report --ticket far --value 1
# Another question under an old ticket.
expect 1 "$tacet" device report --range 0:11 --eps 1 --ledger "$ledger" --ticket far --value 3
expect 1 "$tacet" device report --range 0:10 --eps 2 --ledger "$ledger" --ticket far --value 3
expect 1 report --ticket far --value 3 --mechanism laplace
for bad in nan inf 1e999 three ''; do
    expect 2 report --ticket bad --value "$bad"
done
for bad in 10 1:x :; do
    expect 2 "$tacet" device report --range "$bad" --eps 1 --ledger "$ledger" --ticket bad --value 3
done
expect 2 "$tacet" device report --range 3:3 --eps 1 --ledger "$ledger" --ticket bad --value 3
expect 2 "$tacet" device report --range 0:1 --eps 0 --ledger "$ledger" --ticket bad --value 3
expect 2 report --ticket bad --value 3 --mechanism nothing
expect 2 report --ticket '' --value 3
# A ledger that is put back would draw again for what was reported since.
spent=$ledger
ledger=$work/late.ledger
expect 0 report --ticket late --value 3 --budget-eps 6
cp "$ledger" "$work/kept"
expect 0 report --ticket later --value 3
cp "$work/kept" "$ledger"
expect 1 report --ticket later --value 3
[ ! -s "$work/out" ] || fail "a ledger that was put back reports"
ledger=$spent
expect 0 "$tacet" ledger verify --ledger "$ledger"
expect 0 "$tacet" ledger show --ledger "$ledger"
grep -q 'spent   eps 3 of 3' "$work/out" || { cat "$work/out"; fail "the ledger does not say what was spent"; }
