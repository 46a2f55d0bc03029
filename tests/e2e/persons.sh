#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# persons.sh - a table in which one person has ten rows: charged ten times with --rows-per-person 10, one of the rows drawn
# with 1; rows beyond are in no release and change nothing; the person column never leaves; claims are about a row unless
# the option was given; several threads, several files and a desk agree on which rows they are; and the same of learn.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
export TACET_STATE=$work/state
field() { python3 -c 'import json, sys; d = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."): d = d[k]
print(d)' "$1" "$2"; }
spent() { "$tacet" ledger verify --ledger "$1" --json | python3 -c 'import json, sys; d = json.load(sys.stdin); print("%.9g %.9g" % (d["eps"], d["delta"]))'; }
values=--values-unprotected
curate() { # curate CODE OUT OPTIONS...
    want=$1 out=$2
    shift 2
    code=0
    "$tacet" curate $values --inputs x,y --bounds x=0:100,y=0:100 --unit x=10,y=10 --eps 1 --out "$out" "$@" >said 2>err || code=$?
    [ "$code" = "$want" ] || fail "curate $out: exit code $code, expected $want: $(cat err)"
}
# 41 persons with one row each, and Ada-Secret with ten, spread over the table. The value of a row is its number.
awk 'BEGIN { srand(5); print "who,x,y,value"; for (i = 0; i < 51; i++) printf "%s,%.3f,%.3f,%d\n", (i % 5 == 0 && i < 50 ? "Ada-Secret" : "p" i), 100 * rand(), 100 * rand(), i }' >t.csv

# Without the option a claim is about a row, and says so.
curate 0 rows --data t.csv --ledger rows.db
grep -q 'one row' said && grep -q 'a person who has several, here or in the tables of several holders, is hidden less' said || fail "not about a row: $(cat said)"
[ "$(spent rows.db)" = "1 0" ] || fail "one row: $(spent rows.db)"
tail -n +2 rows/release.csv | wc -l | grep -qx 51

# Ten rows each: all are drawn, and charged ten times.
curate 0 ten --data t.csv --ledger ten.db --new-budget test --person who --rows-per-person 10 --json
[ "$(spent ten.db)" = "10 0" ] || fail "ten rows are charged $(spent ten.db)"
[ "$(field said person.eps)" = 10.0 ] && [ "$(field ten/manifest.json person.rows)" = 10 ] || fail "the claim: $(cat said)"
grep -q 'A person has at most 10 rows here (column who): such changes of all of them together are hidden at eps = 10' ten/manifest.json || fail "the manifest's words"
tail -n +2 ten/release.csv | wc -l | grep -qx 51

# One row each: the first of Ada's is drawn, the nine others are in no release.
curate 0 first --data t.csv --ledger first.db --new-budget test --person who --rows-per-person 1
[ "$(spent first.db)" = "1 0" ] || fail "one row a person is charged $(spent first.db)"
tail -n +2 first/release.csv | wc -l | grep -qx 42
grep -q 'A person has at most 1 row here' said || fail "the claim: $(cat said)"
! grep -rqi 'ada-secret' rows ten first said err rows.db ten.db first.db state || fail "a person's name was kept"

# Which rows these are, and that what is passed over changes nothing: the same seed, the others' cells made up.
python3 - <<'PY'
import csv
rows = list(csv.DictReader(open("t.csv")))
seen, kept, other = set(), [], []
for r in rows:
    first = r["who"] not in seen
    seen.add(r["who"])
    kept += [r] * first
    other.append(r if first else {**r, "x": "99", "y": "1"})
for name, table in (("kept.csv", kept), ("other.csv", other)):
    with open(name, "w", newline="") as f:
        w = csv.DictWriter(f, ["who", "x", "y", "value"])
        w.writeheader()
        w.writerows(table)
PY
one="--person who --rows-per-person 1 --noise-seed 4"
curate 0 s1 --data t.csv --ledger s1.db $one
curate 0 s2 --data kept.csv --ledger s2.db --noise-seed 4
curate 0 s3 --data other.csv --ledger s3.db $one
cmp -s s1/release.csv s2/release.csv || fail "not the first row of each person"
cmp -s s1/release.csv s3/release.csv || fail "a row that is passed over changed the release"
# ... over the ends of files and blocks, in any number of threads, and of typed columns.
awk 'BEGIN { srand(6); print "who,x,y,sort"; for (i = 0; i < 40000; i++) printf "p%d,%.3f,%.3f,%s\n", int(9000 * rand()), 100 * rand(), 100 * rand(), rand() < .5 ? "a" : "b" }' >big.csv
awk -F, 'NR == 1 || ++n[$1] <= 3' big.csv >three.csv
head -n 15001 big.csv >big1.csv
{ echo y,x,sort,who; tail -n +15002 big.csv | awk -F, -v OFS=, '{ print $3, $2, $4, $1 }'; } >big2.csv
curate 0 b0 --data three.csv --ledger b0.db --noise-seed 4
for threads in 0 0,1; do
    taskset -pc $threads $$ >out
    curate 0 many$threads --data big.csv --ledger many$threads.db --noise-seed 4 --person who --rows-per-person 3
    cmp -s b0/release.csv many$threads/release.csv || fail "other rows on processors $threads"
done
curate 0 b2 --data big1.csv,big2.csv --ledger b2.db --noise-seed 4 --person who --rows-per-person 3
cmp -s b0/release.csv b2/release.csv || fail "other rows over two files"
typed() { "$tacet" curate --values-unprotected --inputs x,sort --bounds x=0:100 --levels "sort=a|b" --unit x=10 --eps 1 --noise-seed 4 "$@" >said 2>err || fail "typed: $(cat err)"; }
typed --data three.csv --ledger y0.db --out y0
typed --data big.csv --ledger y1.db --out y1 --person who --rows-per-person 3
cmp -s y0/release.csv y1/release.csv || fail "other rows of typed columns"

# Prices of the mechanisms: rows are drawn apart, so Gaussian noise composes and a delta adds up.
curate 0 g --data t.csv --ledger g.db --new-budget test --person who --rows-per-person 4 --mechanism gaussian --delta 1e-5
python3 - "$tacet" <<'PY' || fail "the price of Gaussian noise"
import json, subprocess, sys
m = json.load(open("g/manifest.json"))
sigma = float(m["sigma"]) # sensitivity 1, and a little: four rows are mu = 2 / sigma
eps = json.loads(subprocess.run([sys.argv[1], "calibrate", "gaussian", "--scale", str(sigma / 2), "--delta", "1e-5", "--json"], check=True, capture_output=True).stdout)["eps"]
assert abs(m["person"]["eps"] / eps - 1) < 1e-3 and m["person"]["delta"] == 1e-5, (m["person"], eps)
PY
curate 0 l --data t.csv --ledger l.db --new-budget test --person who --rows-per-person 4 --mechanism l2 --delta 1e-6
[ "$(spent l.db)" = "4 4e-06" ] || fail "l2: $(spent l.db)"

# The desk answers for the rows that were released, and measured values of a person's rows add up too.
values='' curate 0 desk --data t.csv --ledger desk.db --new-budget test --person who --rows-per-person 2 --eps-output 0.5 --range 0:100
grep -q 'measured values: each randomised with eps 0.5' said || fail "measured values are not randomised: $(cat said)"
[ "$(field desk/manifest.json rows)" = 43 ] || fail "two rows each: $(field desk/manifest.json rows)"

# What is wrong is said, and nothing is made. To go on with a warning is not to let measured values leave as they are.
values='' curate 2 bad --data t.csv --ledger no.db --yes
grep -q 'say what becomes of measured values' err || fail "measured values left without a word: $(cat err)"
curate 2 bad --data t.csv --ledger no.db --person who
curate 2 bad --data t.csv --ledger no.db --rows-per-person 2
curate 1 bad --data t.csv --ledger no.db --person whom --rows-per-person 2
grep -q "whom" err || fail "the column is not named: $(cat err)"
sed '7s/^[^,]*/ /' t.csv >nobody.csv
curate 1 bad --data nobody.csv --ledger no.db --person who --rows-per-person 2
grep -q "nobody.csv: line 7, column 'who': empty" err || fail "the row is not named: $(cat err)"
[ ! -e bad ] && [ ! -e no.db ] || fail "a refused release left something"

# --- learn
awk 'BEGIN { srand(7); print "who,arm,age,y"; for (i = 0; i < 6000; i++) { a = rand() < .5 ? "A" : "B"; x = 80 * rand(); printf "p%d,%s,%.2f,%d\n", int(2000 * rand()), a, x, rand() < (a == "A" ? .3 : .5) } }' >log.csv
awk -F, 'NR == 1 || ++n[$1] <= 2' log.csv >two.csv
learn() { # learn CODE OUT OPTIONS...
    want=$1 out=$2
    shift 2
    code=0
    "$tacet" learn --actions arm --contexts age --levels "arm=A|B" --bounds age=0:80 --reward y --range 0:1 --eps 1 --out "$out" "$@" >said 2>err || code=$?
    [ "$code" = "$want" ] || fail "learn $out: exit code $code, expected $want: $(cat err)"
}
learn 0 plain.json --data log.csv --ledger lp.db
grep -q "for one row: its action" said && ! grep -q person said || fail "not about a row: $(cat said)"
learn 0 two.json --data log.csv --ledger lt.db --new-budget test --person who --rows-per-person 2
[ "$(spent lt.db)" = "2 0" ] || fail "two rows are charged $(spent lt.db)"
grep -q 'for those of a person, who has at most 2 rows, eps = 2' said || fail "the claim: $(cat said)"
[ "$(field two.json person.rows)" = 2 ] && [ "$(field two.json person.eps)" = 2.0 ] || fail "the model's claim"
[ "$(field two.json rows)" = "$(($(wc -l <two.csv) - 1))" ] || fail "rows that were learnt from"
learn 0 one.json --data log.csv --noise-seed 3 --person who --rows-per-person 1
[ "$(field one.json rows)" = "$(awk -F, 'NR > 1 { n[$1] } END { print length(n) }' log.csv)" ] || fail "not one row of each person"
learn 0 seeded1.json --data log.csv --noise-seed 3 --person who --rows-per-person 2
learn 0 seeded2.json --data two.csv --noise-seed 3
python3 - <<'PY' || fail "not the first two rows of each person"
import json
a, b = json.load(open("seeded1.json")), json.load(open("seeded2.json"))
a.pop("person")
assert a == b
PY
"$tacet" disclose two.json --format label >label 2>err || fail "disclose: $(cat err)"
grep -q "one person's actions, contexts and rewards" label || fail "the label: $(cat label)"
"$tacet" disclose plain.json --format label >label 2>err || fail "disclose: $(cat err)"
grep -q "one row's action, contexts and reward" label && grep -q 'several rows' label || fail "the label: $(cat label)"
! grep -rq 'p1999' ./*.json ./*.db state || fail "a person's name was kept"
learn 2 bad.json --data log.csv --ledger no.db --person who
# ... and where all columns are categories, from one table.
awk -F, -v OFS=, '{ $3 = NR == 1 ? "kind" : $3 < 40 ? "young" : "old" } 1' log.csv >ab.csv
awk -F, 'NR == 1 || ++n[$1] <= 2' ab.csv >ab2.csv
ab() { "$tacet" learn --actions arm --contexts kind --levels "arm=A|B,kind=young|old" --reward y --eps 1 "$@" >said 2>err || fail "a table: $(cat err)"; }
ab --data ab.csv --ledger ap.db --range 0:1 --new-budget test --out plain.json
grep -q "for one row: its action" said && ! grep -q person said || fail "not about a row: $(cat said)"
[ "$(spent ap.db)" = "1 0" ] || fail "one row of a table is charged $(spent ap.db)"
ab --data ab.csv --ledger at.db --range 0:1 --new-budget test --person who --rows-per-person 2 --out table.json
[ "$(spent at.db)" = "2 0" ] || fail "two rows of a table are charged $(spent at.db)"
grep -q 'for those of a person, who has at most 2 rows, eps = 2' said || fail "the claim: $(cat said)"
[ "$(field table.json person.rows)" = 2 ] && [ "$(field table.json person.eps)" = 2.0 ] && [ "$(field table.json eps)" = 1.0 ] || fail "the table's claim"
[ "$(field table.json rows)" = "$(($(wc -l <ab2.csv) - 1))" ] || fail "rows of the table"
"$tacet" predict --model table.json --context old >said 2>err || fail "predict: $(cat err)"
"$tacet" disclose table.json --format label >label 2>err || fail "disclose: $(cat err)"
grep -q "one person's actions, contexts and rewards" label || fail "the label: $(cat label)"
for range in 0:1 0:40; do # money has a stage more
    ab --data ab.csv --noise-seed 3 --range $range --person who --rows-per-person 2 --out seeded1.json
    ab --data ab2.csv --noise-seed 3 --range $range --out seeded2.json
    python3 - <<'PY' || fail "a table of other rows than the first two of each person"
import json
a, b = json.load(open("seeded1.json")), json.load(open("seeded2.json"))
a.pop("person")
assert a == b
PY
done
! grep -rq 'p1999' ./*.json ./*.db state || fail "a person's name was kept"
echo "a person's rows: ten charged ten times, one drawn of ten, nothing of the others"
