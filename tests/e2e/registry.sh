#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# registry.sh - one budget for one table, whatever it is called: hard link, rename, copy, next month's export, a ledger
# that was removed. Each is refused with exit code 3 and names the earlier release; a reason begins another budget.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
TACET_STATE=$work/state
export TACET_STATE
curate() { # curate CODE DATA FOLDER OPTIONS...: must exit with CODE; messages in ./err
    want=$1
    data=$2
    out=$3
    shift 3
    code=0
    "$tacet" curate --values-unprotected --data "$data" --inputs age --bounds age=0:100 --unit age=5 --eps 1 --mechanism gaussian --out "$out" "$@" >said 2>err || code=$?
    [ "$code" = "$want" ] || fail "curate $data: exit code $code, expected $want: $(cat err)"
}
refused() { # refused PERCENT: by the registry, naming the first release
    grep -q "^tacet curate: $1 % of these rows were released before ($work/first, ticket 'release', 20..-..-..) and are charged to $work/people.csv.ledger.db" err ||
        fail "not refused by name: $(cat err)"
}
awk 'BEGIN { srand(5); print "id,age"; for (i = 0; i < 1000; i++) printf "p%d,%.1f\n", i, 100 * rand() }' >people.csv
curate 0 people.csv first
[ -e state/key ] && [ "$(stat -c %a state)" = 700 ] && [ "$(stat -c %a state/key)" = 600 ] || fail "the registry is not there, or not private"
[ "$(ls state/anchors | wc -l)" = 1 ] || fail "no anchor of the ledger's head"
grep -rqF p17 state && fail "the registry holds rows"

ln people.csv linked.csv
curate 3 linked.csv second
refused 100
[ ! -e second ] && [ ! -e linked.csv.ledger.db ] || fail "a refused release left something"
cp people.csv copied.csv
curate 3 copied.csv second
refused 100
# Reordered, quoted, with another line end: the rows are the same.
{ head -n 1 people.csv; tail -n +2 people.csv | sort -R | sed 's/^\(p[0-9]*\),/"\1", /; s/$/\r/'; } >sorted.csv
curate 3 sorted.csv second
refused 100
# Numbers written otherwise (55.50, 5.55e1), columns in another order, a column more: still the same table.
awk -F, -v OFS=, 'NR == 1 { print "age", "id" } NR > 1 { printf "%.4e,%s\n", $2, $1 }' people.csv >rewritten.csv
curate 3 rewritten.csv second
refused 100
awk -F, -v OFS=, 'NR == 1 { print "note", $0 } NR > 1 { printf "n%d,%s,%.3f\n", NR % 7, $1, $2 }' people.csv >wider.csv
curate 3 wider.csv second
refused 100
# Next month's export: nine in ten are the same people.
{ sed -n 1,901p people.csv; awk 'BEGIN { for (i = 0; i < 100; i++) print "n" i "," i % 90 }'; } >next.csv
curate 3 next.csv second
refused 90
# Three in ten are fewer than the half that makes two tables one: it gets a budget of its own.
{ sed -n 1,301p people.csv; awk 'BEGIN { for (i = 0; i < 700; i++) print "o" i "," i % 90 }'; } >other.csv
curate 0 other.csv other
# Other people of the same law are others, whatever their ages.
awk 'BEGIN { srand(6); print "id,age"; for (i = 0; i < 1000; i++) printf "q%d,%.1f\n", i, 100 * rand() }' >foreign.csv
curate 0 foreign.csv foreign
# A table that is in the ledger of the first one may be released there, within its budget: none is left.
curate 3 copied.csv second --ledger people.csv.ledger.db --ticket again
grep -q 'does not allow it' err || fail "the first one's ledger did not decide: $(cat err)"
mv people.csv moved.csv
curate 3 moved.csv second
refused 100
mv moved.csv people.csv
# The ledger and the table may move together.
mkdir elsewhere
mv people.csv people.csv.ledger.db elsewhere/
curate 3 elsewhere/people.csv third --ticket again
grep -q 'does not allow it' err || fail "the ledger was not known at its new place: $(cat err)"
mv elsewhere/* .
# Nor does removing the ledger, or rolling it back, give the budget back.
cp people.csv.ledger.db kept
rm people.csv.ledger.db
curate 3 people.csv first
grep -q "first/manifest.json names entry 1 " err || fail "the folder's manifest was not looked at: $(cat err)"
curate 3 people.csv fourth
grep -q "$work/people.csv.ledger.db, which is gone" err || fail "it is not said that the ledger is gone: $(cat err)"
# A manifest that cannot be read is not taken for none.
mkdir torn
head -c 200 first/manifest.json >torn/manifest.json
printf 'age\n61\n62\n63\n' >strangers.csv
code=0
"$tacet" curate --values-unprotected --data strangers.csv --inputs age --bounds age=0:100 --unit age=5 --eps 1 --out torn >said 2>err || code=$?
[ "$code" = 1 ] && grep -q 'torn/manifest.json is there and cannot be read' err || fail "a torn manifest: exit code $code: $(cat err)"
# A reason begins another one, and stands in the manifest; from then on that ledger is the table's.
curate 2 people.csv fourth --new-budget ''
curate 0 people.csv fourth --new-budget "the board agreed on 3 May" --budget-eps 1.6
grep -q '"new_budget": "the board agreed on 3 May"' fourth/manifest.json || fail "the reason is not in the manifest"
curate 0 people.csv fifth --ticket two
curate 3 people.csv sixth --ticket three
# learn and curate share one ledger.
awk 'BEGIN { srand(7); print "x,y"; for (i = 0; i < 400; i++) { x = rand(); print x "," x * (1 - x) } }' >log.csv
learn="$tacet learn --data log.csv --actions x --reward y --range 0:1 --bounds 0:1 --eps 1"
$learn --budget-eps 2 --out model.json >/dev/null
cp log.csv.ledger.db before.db
"$tacet" curate --values-unprotected --data log.csv --inputs x --bounds x=0:1 --unit x=1 --eps 1 --mechanism laplace --out log >/dev/null || fail "learn and curate have two ledgers"
code=0
$learn --out more.json --ticket more >said 2>err || code=$?
[ "$code" = 3 ] || fail "learn and curate together do not add up: exit code $code"
"$tacet" ledger show --ledger log.csv.ledger.db --json | grep -q '"entries":' || fail "no ledger beside the log"
# Months of an A/B log, 5,000 rows each of other people, and one of 60,000: the same few distinct
# rows, and three tables. That they cannot be told from a copy of each other is said; the same file under another name is known.
for month in 1 2 3; do
    awk -v seed=$month -v rows=$((month < 3 ? 5000 : 60000)) 'BEGIN { srand(seed); print "variant,type,click"; for (i = 0; i < rows; i++) { v = rand() < .5 ? "A" : "B"; print v "," (rand() < .3 ? "new" : "old") "," (rand() < (v == "A" ? .1 : .2)) } }' >month$month.csv
done
ab() { "$tacet" learn --data "$1" --actions variant --contexts type --levels 'variant=A|B,type=new|old' --reward click --range 0:1 --eps 1 --out "$1.json" >said 2>err; }
ab month1.csv || fail "the first month: $(cat err)"
grep -q 'too few distinct rows to be known again' err || fail "it is not said that the log cannot be known again: $(cat err)"
ab month2.csv || fail "the second month is taken for the first: $(cat err)"
ab month3.csv || fail "a larger month is taken for a smaller one: $(cat err)"
sort -R month1.csv | awk '/click/ { head = $0; next } { rows = rows "\n" $0 } END { print head rows }' >copy1.csv
code=0
ab copy1.csv || code=$?
[ "$code" = 3 ] || fail "the first month in another order: exit code $code: $(cat err)"
# A pipe is empty when it is read again, and would be known to nobody.
code=0
# shellcheck disable=SC2002 # a pipe is what is tried
cat log.csv | "$tacet" learn --data /dev/stdin --actions x --reward y --range 0:1 --bounds 0:1 --eps 1 --ledger pipe.db \
    --out piped.json >said 2>err || code=$?
[ "$code" = 1 ] && grep -q 'must be a file' err && [ ! -e pipe.db ] || fail "a log from a pipe gets a budget of its own: exit code $code: $(cat err)"
# An older copy of the ledger in its place is seen by the anchor, which lies beside the registry.
cp before.db log.csv.ledger.db
code=0
$learn --out more.json --ticket more >said 2>err || code=$?
[ "$code" = 1 ] && grep -q anchor err || fail "a ledger that was rolled back: exit code $code: $(cat err)"
# Under another key no table would be known again.
mv state/key kept.key
cp people.csv stranger.csv
code=0
"$tacet" curate --values-unprotected --data stranger.csv --inputs age --bounds age=0:100 --unit age=5 --eps 1 --out stranger >said 2>err || code=$?
[ "$code" = 1 ] && grep -q 'key is gone' err && [ ! -e state/key ] || fail "a registry without its key: exit code $code: $(cat err)"
mv kept.key state/key
# Without a place to keep it nothing is released.
TACET_STATE=/proc/none
code=0
"$tacet" curate --values-unprotected --data other.csv --inputs age --bounds age=0:100 --unit age=5 --eps 1 --out o3 >said 2>err || code=$?
[ "$code" = 1 ] && grep -q TACET_STATE err || fail "without a registry: exit code $code: $(cat err)"
# Where it lies when nothing is named.
unset TACET_STATE
mkdir home
head -n 300 people.csv >mine.csv
HOME=$work/home "$tacet" curate --values-unprotected --data mine.csv --inputs age --bounds age=0:100 --unit age=5 --eps 1 --out m1 >/dev/null
[ -e home/.local/state/tacet/key ] || fail "not in ~/.local/state/tacet"
XDG_STATE_HOME=$work/xdg "$tacet" curate --values-unprotected --data mine.csv --inputs age --bounds age=0:100 --unit age=5 --eps 1 --out m2 --ticket b >/dev/null 2>&1 || true
[ -e xdg/tacet/key ] || fail "not in \$XDG_STATE_HOME/tacet"
echo "registry: links, copies, renames, exports and lost ledgers are refused"
