#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# curate_sources.sh - one table as a CSV and as several with their columns in other orders: the same release, bit for
# bit, of one seed; the registry knows the rows again; what is wrong is named with its file; memory does not grow with
# the table.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
TACET_STATE=$work/state
export TACET_STATE
curate() { # curate CODE DATA COLUMNS FOLDER OPTIONS...
    want=$1 data=$2 columns=$3 out=$4
    shift 4
    bounds=$(echo "$columns" | sed 's/\([^,]*\)/\1=0:100/g')
    code=0
    "$tacet" curate --values-unprotected --data "$data" --inputs "$columns" --bounds "$bounds" --unit "$(echo "$columns" | sed 's/\([^,]*\)/\1=23.57/g')" --eps 2 --out "$out" "$@" >said 2>err || code=$?
    [ "$code" = "$want" ] || fail "curate $data: exit code $code, expected $want: $(cat err)"
}
awk 'BEGIN { srand(3); print "id,x,y"; for (i = 0; i < 30000; i++) printf "%d,%.3f,%.3f\n", i, 100 * rand(), 100 * rand() }' >t.csv
head -n 12001 t.csv >a.csv
{ echo y,x; sed -n '12002,$p' t.csv | awk -F, -v OFS=, '{ print $3, $2 }'; } >b.csv
for mechanism in gaussian laplace; do
    seeded() { curate 0 "$1" "$2" "$3-$mechanism" --noise-seed 5 --mechanism "$mechanism" --ledger "$3-$mechanism.db"; }
    seeded t.csv x,y one
    seeded a.csv,b.csv x,y two
    cmp -s "one-$mechanism/release.csv" "two-$mechanism/release.csv" || fail "two files are not the release of one ($mechanism)"
done

# The registry: the whole table, and either half, were released with the two files.
curate 0 a.csv,b.csv x,y first
[ -e a.csv.ledger.db ] || fail "no ledger beside the first file"
head -n 12001 t.csv | tail -n 3000 | sed 1i"id,x,y" >extract.csv
curate 3 extract.csv x,y second
grep -q 'were released before' err || fail "an extract of one of the files is not known again"
curate 3 t.csv x,y third
grep -q 'were released before' err || fail "rows that were released from two files are not known again in one"

# What is wrong, and where.
curate 1 a.csv,none.csv x,y bad --noise-seed 1
grep -q 'none.csv' err || fail "the missing file is not named: $(cat err)"
{ head -n 20 b.csv; echo 1,oops; } >c.csv
curate 1 a.csv,c.csv x,y bad --noise-seed 1
grep -q 'c.csv: line 21' err || fail "the bad line is not named: $(cat err)"
curate 1 a.csv,c.csv x,id bad --noise-seed 1
grep -q "c.csv.*'id'" err || fail "the missing column is not named: $(cat err)"
curate 2 t.csv x,y bad --noise-seed 1 --table t
# A file that is named twice, by a link, or as a copy: its rows would be drawn twice and charged once.
cp a.csv copy.csv
ln -s a.csv symbolic.csv
ln a.csv hard.csv
for twin in a.csv symbolic.csv hard.csv copy.csv; do
    curate 2 "a.csv,b.csv,$twin" x,y bad --ledger twice.db
    grep -q "$twin is .* a.csv: its rows would be drawn twice" err || fail "$twin beside a.csv: $(cat err)"
done
[ ! -e twice.db ] || fail "a refused table has a ledger"
"$tacet" curate --data a.csv --part 1/2 --out bad 2>err && fail "--part is taken"
"$tacet" curator join --parts bad --out bad 2>err && fail "curator join is there"
[ ! -e bad ] || fail "a refused release left something"

# Memory: what it takes for 30,000 records and for twelve times as many differs by less than the larger table is big.
peak() { # peak DATA OUT
    python3 - "$@" <<'PY'
import os, resource, subprocess, sys
subprocess.run(["taskset", "-c", "0", os.environ["TACET_BIN"] + "/tacet-curator", "curate", "--values-unprotected", "--data", sys.argv[1], "--inputs", "1,2", "--bounds", "1=0:100,2=0:100",
                "--unit", "1=23.57,2=23.57", "--eps", "2", "--noise-seed", "1", "--out", sys.argv[2]], check=True, capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}
sed 1d t.csv >rows
for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do cat rows; done | sed 1i"0,1,2" >big.csv
small=$(sed 1i"0,1,2" rows >small.csv && peak small.csv p1)
large=$(peak big.csv,small.csv p2)
[ -n "${TACET_SANITIZE:-}" ] || [ $((large - small)) -lt 4096 ] || fail "memory grew from $small to $large KiB"
echo "peak memory: $small KiB for 30000 records, $large KiB for 390000 in two files"
