#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# curate_kill.sh - `tacet curate` ended with kill -9 at seeded moments, and started again each time with the same command, into two
# folders in turn. However often: one entry in the ledger, charged once, and a release that is whole; at no moment
# is there a release.csv that is not, nor anything else in a folder that could be handed on; rows of an attempt that was cut
# short lie beside the ledger, in one file at the most, and are gone when there is a release. Another mechanism than the
# default is its argument.
mechanism=${1:-gaussian}
RANDOM=3
rows=100000
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
awk -v n=$rows -v OFS=, 'BEGIN { print "a,b,c"; for (i = 0; i < n; i++) print i % 97, i % 13, i % 7 }' >"$work/table.csv"
TACET_STATE=$work/state
export TACET_STATE
begin() { # begin: a table that was never released, and no folder
    rm -rf "$work/data" "$work/one" "$work/two" "$work/state"
    mkdir "$work/data"
    cp "$work/table.csv" "$work/data/table.csv"
}
curate() { # curate FOLDER
    exec "$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/data/table.csv" --inputs a,b,c --bounds a=0:97,b=0:13,c=0:7 --unit a=9.33,b=1.25,c=0.674 \
        --eps 2 --mechanism "$mechanism" --out "$work/$1" --json
}
whole() { # whole FOLDER: what lies there is a complete release
    [ "$(wc -l <"$work/$1/release.csv")" = $((rows + 1)) ] || fail "a release that is not whole"
    [ -e "$work/$1/manifest.json" ] || fail "a release without its manifest"
}
clean() { # clean: nothing else in either folder (a manifest on its way is no row), and one unfinished file at the most
    local strange
    strange=$(find "$work/one" "$work/two" -mindepth 1 ! -name release.csv ! -name 'manifest.json*' ! -name ledger.db 2>/dev/null || true)
    [ -z "$strange" ] || fail "in a folder that is handed on: $strange"
    unfinished=$(find "$work/data" -name '*.unfinished' | wc -l)
    [ "$unfinished" -le 1 ] || fail "$unfinished unfinished releases of one ticket"
}
killed=0
partly=0
begin
for ((k = 0; k < 60 && killed < 30; k++)); do
    folder=$([ $((k % 2)) = 0 ] && echo one || echo two)
    (curate "$folder") >"$work/json" 2>"$work/err" &
    pid=$!
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))"
    kill -9 "$pid" 2>/dev/null || true
    code=0
    wait "$pid" 2>/dev/null || code=$?
    case $code in
        137) killed=$((killed + 1)) ;;
        0) [ -e "$work/$folder/release.csv" ] || fail "no release" ;;
        *) fail "exit code $code: $(cat "$work/err")" ;;
    esac
    clean
    partly=$((partly + unfinished))
    if [ -e "$work/$folder/release.csv" ]; then # came through before its kill: from the beginning
        whole "$folder"
        begin
    fi
done
[ "$killed" -ge 5 ] || fail "only $killed kills came in time"
(curate one) >"$work/json" 2>"$work/err" || fail "the last run: $(cat "$work/err")"
whole one
clean
[ "$unfinished" = 0 ] || fail "a finished release beside the ledger"
code=0
(curate two) >/dev/null 2>"$work/err" || code=$?
[ "$code" = 1 ] && grep -q 'drawn already' "$work/err" || fail "it can be drawn twice: exit code $code"
[ ! -e "$work/two/release.csv" ] || fail "two releases for one charge"
clean
[ "$unfinished" = 0 ] || fail "a refused run left a file"
"$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/data/table.csv.ledger.db" --json >"$work/json" || fail "the ledger does not verify"
grep -q '"entries":1[,}]' "$work/json" || fail "not one entry: $(cat "$work/json")"
echo "came through after $killed kills, $partly of them with rows drawn"
