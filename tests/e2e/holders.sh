#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# holders.sh - one search over three curators, each a process of its own with its own keys, eps and ledger, over TLS. One is
# killed in the middle: its rows are missed, the search goes on; started again, it answers its open question and is searched
# again. Each ledger has what its own curator answered, and no more.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
awk 'BEGIN { srand(3); print "a,b,y"; for (i = 0; i < 240; i++) { a = 14 * rand(); b = 14 * rand()
    printf "%.4f,%.4f,%.6f\n", a, b, exp(-((a - 10) ^ 2 + (b - 4) ^ 2) / 30) } }' >"$work/all.csv"
eps=(0 5 3 5)
unit=(0 1 2 1) # the second one protects larger moves
for k in 1 2 3; do
    awk -v k=$k 'NR == 1 || NR % 3 == k - 1' "$work/all.csv" >"$work/data$k.csv"
    "$bin/tacet-curator" curate --values-unprotected --data "$work/data$k.csv" --inputs a,b --bounds a=0:14,b=0:14 --unit "a=${unit[k]},b=${unit[k]}" \
        --eps "${eps[k]}" --queries 40 --ledger "$work/ledger$k.db" --out "$work/release$k" >/dev/null
    grep -q 'several holders' "$work/release$k/manifest.json" || fail "manifest $k does not say what a person in several tables pays"
    "$bin/tacet-curator" init --dir "$work/keys$k" >/dev/null
done
serve() { # serve K LISTEN
    up "$bin/tacet-curator" serve --release "$work/release$1" --keys "$work/keys$1" --data "$work/data$1.csv" --target y \
        --listen "$2"
    servers[$1]=$server
    pids="$pids $server"
    urls[$1]=$url
}
for k in 1 2 3; do serve $k 127.0.0.1:0; done
search() { # STATE OPTIONS...
    local state=$1
    shift
    expect 0 "$bin/tacet-modeler" run --url "${urls[1]}" --keys "$work/keys1/modeler" --url "${urls[2]}" --keys "$work/keys2/modeler" \
        --url "${urls[3]}" --keys "$work/keys3/modeler" --state "$work/$state" --patience 0.5 --json "$@"
}
list() { sed 's/.*"'"$1"'":\[\([^]]*\)\].*/\1/' "$work/out" | tr ',' '\n'; }

# Everybody is there: every value is that of the row its holder was asked about.
search calm --queries 12
paste -d ' ' <(list row_holders) <(list rows) <(list values) >"$work/asked"
[ "$(wc -l <"$work/asked")" = 12 ] || fail "not 12 rows were measured"
while read -r holder row value; do
    awk -F, -v n=$((row + 2)) -v v="$value" 'NR == n { exit !(($3 - v) ^ 2 < 1e-12) }' "$work/data$holder.csv" ||
        fail "row $row of holder $holder has another value"
done <"$work/asked"
[ "$(cut -d ' ' -f 1 "$work/asked" | sort -u | wc -l)" = 3 ] || fail "some holder was never asked"
for k in 1 2 3; do
    "$bin/tacet-ledger" show --ledger "$work/ledger$k.db" --json >"$work/out"
    [ "$(number uncovered)" = "$(awk -v k=$k '$1 == k' "$work/asked" | wc -l)" ] || fail "ledger $k has other answers than were given"
done

# The third is killed while a search runs; it is started again, and the same command with more questions asks it again.
"$bin/tacet-modeler" run --url "${urls[1]}" --keys "$work/keys1/modeler" --url "${urls[2]}" --keys "$work/keys2/modeler" \
    --url "${urls[3]}" --keys "$work/keys3/modeler" --state "$work/wild" --patience 0.5 --queries 24 --json >"$work/out" 2>"$work/err" &
modeler=$!
until [ "$(grep -c '"value":{' "$work/wild/journal.jsonl" 2>/dev/null)" -ge 6 ]; do sleep 0.01; done 2>/dev/null
kill -9 "${servers[3]}"
wait "${servers[3]}" 2>/dev/null || true
wait "$modeler" || fail "a search did not survive the death of one of three"
[ "$(list values | wc -l)" = 24 ] || fail "the others were not asked instead"
gone=$(grep -c '"absent":' "$work/out" || true)
search wild --queries 24 # nothing is asked: the release of whoever is away was kept
[ "$(list values | wc -l)" = 24 ] || fail "a finished search asked more"
serve 3 "${urls[3]#https://}"
search wild --queries 34
[ "$(list values | wc -l)" = 34 ] || fail "not 34 rows were measured"
grep -q '"absent":' "$work/out" && fail "a holder that is back is called away"
[ "$gone" = 0 ] || list row_holders | tail -n 12 | grep -q 3 || fail "a holder that is back is not asked"
"$bin/tacet-ledger" verify --ledger "$work/ledger3.db" >/dev/null || fail "the ledger of the killed curator is broken"

# Holders whose columns differ, or fewer keys than holders.
"$bin/tacet-curator" curate --values-unprotected --data "$work/data1.csv" --inputs a --bounds a=0:14 --unit a=1 --eps 3 --queries 5 --out "$work/other" \
    --new-budget "a test" --ledger "$work/other.db" >/dev/null
kill "${servers[1]}"
wait "${servers[1]}" 2>/dev/null || true
up "$bin/tacet-curator" serve --release "$work/other" --keys "$work/keys1" --data "$work/data1.csv" --target y --listen 127.0.0.1:0
expect 2 "$bin/tacet-modeler" run --url "$url" --keys "$work/keys1/modeler" --url "${urls[2]}" --keys "$work/keys2/modeler" --state "$work/odd"
grep -q 'other columns' "$work/err" || fail "it does not say that the columns differ"
expect 2 "$bin/tacet-modeler" run --url "$url" --keys "$work/keys1/modeler" --url "${urls[2]}" --state "$work/odd"
