#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# modeler.sh - `tacet modeler run` against a curator, and against what is no curator of its study: exit codes, reasons, and a
# state folder that is never spoilt.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
awk 'BEGIN { print "a,y"; for (i = 0; i < 60; i++) printf "%d,%.4f\n", i, 2 - (i - 41) ^ 2 / 400 }' >"$work/data.csv"
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/data.csv" --inputs a --bounds a=0:60 --unit a=4 --eps 5 --queries 20 --out "$work/release" >/dev/null
"$TACET_BIN/tacet-curator" init --dir "$work/keys" >/dev/null
"$TACET_BIN/tacet-curator" init --dir "$work/other" >/dev/null
up "$bin/tacet-curator" serve --release "$work/release" --keys "$work/keys" --data "$work/data.csv" --target y --listen 127.0.0.1:0
run() { # CODE STATE OPTIONS...
    local want=$1 state=$2
    shift 2
    expect "$want" "$TACET_BIN/tacet-modeler" run --url "${at:-$url}" --keys "${with:-$work/keys/modeler}" --state "$work/$state" --lengthscale 4 \
        --patience 5 --json "$@"
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
run 1 first --queries 12 --seed 2
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
# More queries than it began with: goes on, and asks one more.
cp -r "$work/first" "$work/longer"
run 0 longer --queries 13
grep -q '"queries_left":7' "$work/out" || fail "one more query was not one more"
[ "$(sed 's/.*"rows":\[\([^]]*\)\].*/\1/' "$work/out" | cut -d, -f1-12)" = "$(sed 's/.*"rows":\[\([^]]*\)\].*/\1/' "$work/once")" ] ||
    fail "a longer run forgot its beginning"
run 0 longer --queries 13 # nothing more
grep -q '"queries_left":7' "$work/out" || fail "a finished run asked again"
# The other way of showing who it is.
cp -r "$work/keys/modeler" "$work/certified"
rm "$work/certified/token"
with=$work/certified run 0 second --queries 3
grep -q '"queries_left":4' "$work/out" || fail "three more were not three more"
# The budget ends in the middle: exit code 3, what was answered stays, and the best of it is told.
run 3 third --queries 10
says 'query budget is used up'
[ "$(grep -c '"value":{' "$work/third/journal.jsonl")" = 4 ] || fail "the answers were lost"
grep -q '"ended":"budget"' "$work/out" || fail "it does not say why it ended"
grep -q '"best_row":[0-9]' "$work/out" || fail "a run whose budget ended tells no best row"
"$bin/tacet" report --in "$work/third/result.json" --out "$work/third.html" >"$work/out" 2>&1 || fail "no page: $(cat "$work/out")"
grep -q 'the curator allows no more' "$work/third.html" && grep -q 'left to ask</span><b class="">0<' "$work/third.html" ||
    fail "the page says that there is more to ask"
# Not our curator, not our token, nobody there, bad settings.
cp -r "$work/keys/modeler" "$work/mixed"
cp "$work/other/modeler/token" "$work/mixed/token"
with=$work/mixed run 1 fourth --queries 2
says 401
with=$work/other/modeler run 1 fourth --queries 2
says 'certificate'
at=https://127.0.0.1:1 run 1 fourth --queries 2 --patience 0.1
says 'the same command goes on'
at=http${url#https} run 2 fourth --queries 2
run 2 fourth --queries 0
run 2 fourth --queries 61
run 2 fourth --queries 2 --lengthscale 0
with=$work/nowhere run 1 fourth --queries 2
[ ! -e "$work/fourth/journal.jsonl" ] || fail "a refused run began a journal"

# An evaluator that cannot measure some rows: others are asked, nothing is asked for ever, and without any model option.
down
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/data.csv" --inputs a --bounds a=0:60 --unit a=4 --eps 5 --queries 60 --ticket second \
    --new-budget "a test" --ledger "$work/second.db" --out "$work/release2" >/dev/null
printf '#!/bin/sh\nread -r h; read -r r; a=${r%%,*}\n[ $((a %% 3)) != 0 ] || exit 3\n[ ! -e %s/slow ] || sleep 5\necho "${r#*,}"\n' "$work" >"$work/evaluate"
chmod +x "$work/evaluate"
up "$bin/tacet-curator" serve --release "$work/release2" --keys "$work/keys" --data "$work/data.csv" --evaluate "$work/evaluate" --listen 127.0.0.1:0
tuned() { # tuned CODE STATE OPTIONS...
    local want=$1 state=$2 code=0
    shift 2
    "$TACET_BIN/tacet-modeler" run --url "$url" --keys "$work/keys/modeler" --state "$work/$state" \
        --json "$@" >"$work/out" 2>"$work/err" || code=$?
    [ "$code" = "$want" ] || fail "exit code $code instead of $want: $*"
}
tuned 0 fifth --queries 16
grep -q '"modeler":"averaging"' "$work/out" || fail "the default is not the averaging modeler"
grep -q '"unmeasurable":\[[0-9]' "$work/out" || fail "no row was put aside"
[ "$(sed 's/.*"rows":\[\([^]]*\)\].*/\1/' "$work/out" | tr ',' '\n' | awk '$1 % 3 == 0' | wc -l)" = 0 ] || fail "an unmeasurable row has a value"
[ "$(sed 's/.*"rows":\[\([^]]*\)\].*/\1/' "$work/out" | tr ',' '\n' | wc -l)" = 16 ] || fail "not 16 rows were measured"
for part in '"log_bayes_factor":' '"words":"' '"chance":{"likely":' '"next":{"row":'; do
    grep -q "$part" "$work/out" || fail "the result does not have $part"
done
cp "$work/out" "$work/once"
tuned 0 fifth --queries 16
[ "$(sed 's/,"seconds":.*//' "$work/out")" = "$(sed 's/,"seconds":.*//' "$work/once")" ] || fail "a finished run says something else"
# Ctrl-C while a value is awaited: the best so far.
touch "$work/slow"
"$TACET_BIN/tacet-modeler" run --url "$url" --keys "$work/keys/modeler" --state "$work/fifth" --queries 18 >"$work/out" 2>"$work/err" &
modeler=$!
sleep 2
kill -INT "$modeler"
code=0
wait "$modeler" || code=$?
[ "$code" = 1 ] || fail "an interrupted run ends with $code"
grep -q 'best measured.*(so far)' "$work/out" || fail "an interrupted run does not tell the best so far"
grep -q 'by chance' "$work/out" || fail "an interrupted run does not tell what chance would do"
says 'the same command goes on'
rm "$work/slow"
tuned 0 fifth --queries 18
# The curator is gone in the middle.
down
tuned 1 fifth --queries 20 --patience 0.2
says 'the same command goes on'
