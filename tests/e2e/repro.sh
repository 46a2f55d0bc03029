#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# repro.sh - the papers' tables as a person runs them: the list, one small table per paper, the same numbers on any number
# of threads, a run that goes on after a kill, and refusals.
set -eu
tacet=$TACET_BIN/tacet
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() {
    echo "repro.sh: $1" >&2
    exit 1
}
rows() { # JSON of a result on stdin: its rows, without what depends on the clock or on what was kept
    sed 's/.*"rows":\(.*\),"findings".*/\1/; s/"kept":[a-z]*//g'
}
"$tacet" repro list >"$work/list"
for name in outsourced-table-1 outsourced-table-12 outsourced-figure-2 outsourced-figure-3 central-figure-1 central-figure-2 \
    central-table-1 local-figure-2 local-figure-3 contextual-rate bounds items; do
    grep -q "^  $name " "$work/list" || fail "$name is not in the list"
done
"$tacet" repro bounds --trials 1 >"$work/bounds"
[ "$(grep -c '^| outsourced ' "$work/bounds")" = 5 ] || fail "not five rows of the outsourced theorems"
# Greedy design reaches more than the run does; a bound that holds is above what was measured.
awk -F'|' '/gamma_T: greedy/ { n++; if ($5 + 0 < $6 + 0) bad = 1 } /beta_T sqrt/ { n++; if ($5 + 0 < $6 + 0) bad = 1 }
    END { exit !(n == 8 && !bad) }' "$work/bounds" || fail "a bound is below what it bounds"
[ "$(grep -c '^  outsourced-table-' "$work/list")" = 12 ] || fail "not twelve tables of the outsourced paper"

"$tacet" repro outsourced-table-10 --trials 2 --json --out "$work/a" --report "$work/r.html" >"$work/one" 2>/dev/null
grep -q '"repro":"outsourced-table-10"' "$work/one" || fail "no result"
grep -q 'NOT differentially private' "$work/one" || fail "the published mechanism is not called what it is"
grep -q '"paper":0.53' "$work/one" || fail "the paper's value is missing"
grep -q '</svg>' "$work/r.html" || fail "the report has no chart"
"$tacet" repro outsourced-table-10 --trials 2 --threads 1 --json >"$work/two" 2>/dev/null
[ "$(rows <"$work/one")" = "$(rows <"$work/two")" ] || fail "the number of threads changes the result"
! [ "$(rows <"$work/one")" = "$("$tacet" repro outsourced-table-10 --trials 2 --seed 2 --json 2>/dev/null | rows)" ] ||
    fail "the seed changes nothing"

"$tacet" repro central-figure-1 --trials 1 --rounds 24 >"$work/central" 2>/dev/null
grep -q 'really gives eps' "$work/central" || fail "the guarantee of the published noise is not told"
"$tacet" repro central-table-1 --trials 1 --rounds 60 >"$work/table" 2>/dev/null
grep -q '^eps = 0.1 *3324 ' "$work/table" || fail "Table 1 lacks the paper's values"
"$tacet" repro local-figure-2 --trials 1 --rounds 300 >"$work/local" 2>/dev/null
grep -q 'need --data' "$work/local" || fail "panels without data are not named"
"$tacet" repro contextual-rate --quick --trials 1 --markdown "$work/contextual.md" >/dev/null 2>&1
grep -q '^| T = 10000 | O(' "$work/contextual.md" || fail "the markdown has no table"

# Killed once a cell is kept: the next run finds it, and ends with the numbers of a run in one go.
"$tacet" repro outsourced-table-11 --trials 6 --json --threads 1 >"$work/whole" 2>/dev/null
"$tacet" repro outsourced-table-11 --trials 6 --json --threads 1 --out "$work/k" >/dev/null 2>&1 &
pid=$!
tries=0
while [ ! -s "$work/k/results.jsonl" ] && [ "$tries" -lt 600 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
kill -9 "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
[ -s "$work/k/results.jsonl" ] || fail "no cell was kept"
printf '{"key": "torn' >>"$work/k/results.jsonl"
"$tacet" repro outsourced-table-11 --trials 6 --json --out "$work/k" >"$work/resumed" 2>"$work/err"
grep -q 'cells were there already' "$work/err" || fail "the resumed run began anew"
[ "$(rows <"$work/whole")" = "$(rows <"$work/resumed")" ] || fail "the resumed run ends with other numbers"
"$tacet" repro outsourced-table-11 --trials 6 --json --out "$work/k" 2>"$work/err" >"$work/again"
grep -q '\([0-9][0-9]*\) of \1 cells' "$work/err" || fail "a finished run ran again"
"$tacet" repro outsourced-table-11 --trials 5 --out "$work/k" 2>"$work/err" >/dev/null
! grep -q 'there already' "$work/err" || fail "results of other settings were taken"

refused() {
    code=0
    "$tacet" repro "$@" >/dev/null 2>&1 || code=$?
    [ "$code" = 2 ] || fail "exit code $code for: $*"
}
refused
refused no-such-table
refused outsourced-table-4
refused outsourced-table-1 --trials nonsense
echo "ok"
