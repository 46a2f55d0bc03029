#!/bin/bash
# modeler.sh - `tacet modeler run` against a curator, and against what is no curator of its study: exit codes, reasons, and a
# state folder that is never spoilt.
set -eu
work=$(mktemp -d)
server=
url=
cleanup() {
    [ -z "$server" ] || kill -9 "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
fail() {
    echo "modeler.sh: $1" >&2
    cat "$work/err" >&2 2>/dev/null || true
    exit 1
}
# shellcheck source=/dev/null
. "$TACET_SOURCE/tests/support/curator.sh"
awk 'BEGIN { print "a,y"; for (i = 0; i < 60; i++) printf "%d,%.4f\n", i, 2 - (i - 41) ^ 2 / 400 }' >"$work/data.csv"
"$TACET_BIN/tacet-curator" curate --data "$work/data.csv" --inputs a --bounds a=0:60 --unit a=4 --eps 5 --queries 20 --out "$work/release" >/dev/null
"$TACET_BIN/tacet-curator" init --dir "$work/keys" >/dev/null
"$TACET_BIN/tacet-curator" init --dir "$work/other" >/dev/null
"$TACET_BIN/tacet-curator" serve --release "$work/release" --keys "$work/keys" --data "$work/data.csv" --values y --listen 127.0.0.1:0 \
    --ready-file "$work/ready" >/dev/null 2>&1 &
server=$!
await
run() { # run CODE STATE OPTIONS...
    local want=$1 state=$2 code=0
    shift 2
    "$TACET_BIN/tacet-modeler" run --url "$url" --keys "$work/keys/modeler" --state "$work/$state" --lengthscale 4 --initial 3 --patience 5 \
        --json "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit code $code instead of $want: $*"
}
says() {
    grep -q "$1" "$work/err" || fail "the reason does not say '$1'"
}
run 0 first --queries 12
grep -q '"queries_left":8' "$work/out" || fail "the ledger does not say 8 left"
grep -q '"private":true' "$work/out" || fail "the release is not called private"
cp "$work/out" "$work/once"
# Again: nothing is asked, and the same comes out.
run 0 first --queries 12
grep -q '"queries_left":8' "$work/out" || fail "a finished run asked again"
[ "$(sed 's/,"seconds":.*//' "$work/out")" = "$(sed 's/,"seconds":.*//' "$work/once")" ] || fail "a finished run says something else"
run 1 first --queries 13
says 'other settings'
# A last line cut off by a crash is measured again under the same ticket; one in the middle that is no line is refused.
cp -r "$work/first" "$work/torn"
truncate -s -9 "$work/torn/journal.jsonl"
run 0 torn --queries 12
grep -q '"queries_left":8' "$work/out" || fail "a torn line was charged again"
[ "$(sed 's/,"seconds":.*//' "$work/out")" = "$(sed 's/,"seconds":.*//' "$work/once")" ] || fail "the torn run went another way"
sed -i '3s/^/x/' "$work/torn/journal.jsonl"
run 1 torn --queries 12
says 'line 3'
# The other way of showing who it is; known values are not asked.
printf 'row,value\n5,0.1\n20,0.9\n' >"$work/warm.csv"
run 0 warm --queries 3 --certificate --warm "$work/warm.csv" --modeler eiv
grep -q '"queries_left":5' "$work/out" || fail "three more were not three more"
grep -qE '"rows":\[([0-9]+,)*(5|20)[],]' "$work/out" && fail "a known row was asked for"
# The budget ends in the middle: exit code 3, and what was answered stays.
run 3 third --queries 10
says 'query budget is used up'
[ "$(grep -c '"value"' "$work/third/journal.jsonl")" -ge 5 ] || fail "the answers were lost"
# Not our curator, not our token, nobody there, bad settings.
cp -r "$work/keys/modeler" "$work/mixed"
cp "$work/other/modeler/token" "$work/mixed/token"
run 1 fourth --queries 2 --keys "$work/mixed"
says 401
run 1 fourth --queries 2 --keys "$work/other/modeler"
says 'certificate'
run 1 fourth --queries 2 --url https://127.0.0.1:1 --patience 0.1
says 'the same command goes on'
run 2 fourth --queries 2 --url "http${url#https}"
run 2 fourth --queries 0
run 2 fourth --queries 61
run 2 fourth --queries 2 --modeler best
run 2 fourth --queries 2 --first 60
run 2 fourth --queries 2 --first 7,7
run 2 fourth --queries 2 --kernel none
run 2 fourth --queries 2 --delta-ucb 2 --modeler eiv
run 2 fourth --queries 2 --lengthscale 0
run 1 fourth --queries 2 --keys "$work/nowhere"
[ ! -e "$work/fourth/journal.jsonl" ] || fail "a refused run began a journal"
