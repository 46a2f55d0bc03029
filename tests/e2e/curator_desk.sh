#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# curator_desk.sh - a person answers at the keyboard: the record is shown, a value outside the range is asked for once
# more, a row that cannot be measured is told as such; empty cells of a column of values likewise. A table in another order
# than the released one is refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
export TACET_STATE="$work/state"
awk 'BEGIN { print "name,age,score"; for (i = 0; i < 40; i++) printf "patient%d,%d,%s\n", i, 20 + i, i % 2 ? i / 40 : "" }' >t.csv
"$bin/tacet" curate --values-unprotected --data t.csv --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --target score --out r >out 2>err || fail "$(cat err)"
grep -q "20 of 40 cells of 'score' are empty" err || fail "empty cells are not told: $(cat err)"
expect 0 "$bin/tacet" curate --values-unprotected --data t.csv --inputs age --bounds age=0:100 --unit age=5 --eps 3 --mechanism laplace --target age --out n --dry-run
! grep -q 'are empty' err || fail "a column without empty cells is told of: $(cat err)"
"$bin/tacet" curator init --dir keys --host 127.0.0.1,localhost >/dev/null
serve() { up "$bin/tacet-curator" curator serve --release r --keys keys --data t.csv --listen 127.0.0.1:0 "$@"; }
serve --desk none
"$bin/tacet" modeler run --url "$url" --keys keys/modeler --state s1 --queries 3 --json >result 2>err &
modeler=$!
# Lines come one by one, as from a person: a word that is no number, a value outside, another, one that cannot be measured.
(for line in abc 7 0.75 x 0.25 0.5; do sleep 0.4; echo "$line"; done; sleep 20) |
    "$bin/tacet-curator" curator desk --release r --data t.csv --id name --range 0:1 >desk 2>&1 &
desk=$!
wait $modeler || fail "the modeler failed: $(cat err) $(cat desk)"
grep -q 'name: patient' desk && grep -q 'age: ' desk || fail "the record is not shown: $(cat desk)"
grep -q "'abc' is not a number" desk || fail "a word passes: $(cat desk)"
grep -q '7 lies outside 0 to 1' desk || fail "a value outside passes: $(cat desk)"
grep -q '"values":\[0.75,0.25,0.5\]' result || fail "other values: $(cat result)"
grep -q '"unmeasurable":\[[0-9]' result || fail "the row that cannot be measured is not told: $(cat result)"
! grep -rq 'patient' s1 r/manifest.json result || fail "a record left"
kill "$server"; wait "$server" 2>/dev/null || true
# Values from a column: empty cells cannot be measured, the others can.
serve --target score
"$bin/tacet" modeler run --url "$url" --keys keys/modeler --state s2 --queries 8 --json >result 2>err || fail "$(cat err)"
grep -q '"best_value":0\.' result || fail "nothing was measured: $(cat result)"
# Rows in another order, or a released cell that changed, would be answered for with another person's value.
(head -n 1 t.csv; tail -n +2 t.csv | sort -r) >sorted.csv
sed 's/^patient3,23,/patient3,24,/' t.csv >changed.csv
for data in sorted changed; do
    for how in '--target score' '--evaluate cat' '--desk none'; do
        # shellcheck disable=SC2086 # an option and its value
        expect 1 timeout 30 "$bin/tacet-curator" curator serve --release r --keys keys --data $data.csv --listen 127.0.0.1:0 $how
        grep -q "^tacet curator serve: $data.csv: column 'age' differs from the table the release was made from" err ||
            fail "$data, $how: not told: $(cat err)"
        ! grep -q '2[34]' err || fail "a value is told: $(cat err)"
    done
    expect 1 timeout 30 "$bin/tacet-curator" curator desk --release r --data $data.csv
done
# Numbers written otherwise and outcomes that came in are the same table; where nobody can tell, that is said and served.
awk -F, -v OFS=, 'NR > 1 { $2 = sprintf("%.2e", $2); $3 = 0.5 } { print }' t.csv >later.csv
awk -F, -v OFS=, '{ print $1, $3 }' t.csv >outcomes.csv
kill "$server"; wait "$server" 2>/dev/null || true
for data in later.csv outcomes.csv; do
    : >log
    up "$bin/tacet-curator" curator serve --release r --keys keys --data $data --listen 127.0.0.1:0 --target score
    [ $data != later.csv ] || ! grep -q 'cannot tell' log || fail "a doubt of the same table: $(cat log)"
    [ $data = later.csv ] || grep -q 'cannot tell whether outcomes.csv is in the released order: it has none' log || fail "no doubt: $(cat log)"
    kill "$server"; wait "$server" 2>/dev/null || true
done
TACET_STATE="$work/elsewhere"
: >log
serve --target score
[ "$(grep -c 'cannot tell whether t.csv is in the released order: the registry of this machine' log)" = 1 ] || fail "no doubt: $(cat log)"
kill "$server" "$desk"; wait "$server" "$desk" 2>/dev/null || true # it writes until it ends, and the folder goes
echo "the desk shows records, asks twice, and takes what cannot be measured"
