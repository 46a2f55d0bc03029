#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# postgres_curate.sh - a table in PostgreSQL, charged to a ledger in a file or there. The release of a seed is that of
# the same rows in a CSV; a table that changes while it is read is released as it stood in one snapshot; a database that
# goes away is named, nothing is charged for what was not drawn, nothing twice, and nothing is released in part.
if [ "${1:-}" != inside ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0" inside; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
url=$TACET_TEST_POSTGRES
need psql
cd "$work"
export TACET_STATE=$work/here TACET_KEY_FILE=$work/key
sql() { psql "$url" -v ON_ERROR_STOP=1 -qAtc "SET client_min_messages=error; $1"; }
curate() { # curate CODE OUT OPTIONS...
    want=$1 out=$2
    shift 2
    code=0
    "$tacet" curate --values-unprotected --inputs x,y --bounds x=0:100,y=0:100 --unit x=10,y=10 --eps 1 --out "$out" "$@" >said 2>err || code=$?
    [ "$code" = "$want" ] || fail "curate $out: exit code $code, expected $want: $(cat err)"
}
entries() { # entries LEDGER: reservations in it
    "$tacet" ledger verify --ledger "$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["entries"])'
}
spent() { "$tacet" ledger verify --ledger "$1" --json | python3 -c 'import json, sys; print("%.6f" % json.load(sys.stdin)["eps"])'; }

# --- the same rows, the same release; types, order, missing cells
sql "CREATE TABLE t (id int PRIMARY KEY, x float8, y numeric(6,2), word text, day date);
     INSERT INTO t SELECT g, (g * 7919 % 10007) / 107.0, (g * 104729 % 9973) / 100.0, CASE g % 3 WHEN 0 THEN 'red' ELSE 'blue' END,
     date '2020-01-01' + g % 900 FROM generate_series(1, 20000) g"
sql "COPY (SELECT * FROM t ORDER BY id DESC) TO STDOUT (FORMAT csv, HEADER)" >t.csv
curate 0 from-csv --data t.csv --noise-seed 3 --ledger seeded1.db
curate 0 from-db --data "$url" --table t --order id --noise-seed 3 --ledger seeded.db
tail -n +2 from-csv/release.csv | wc -l | grep -qx 20000
sql "CREATE VIEW reversed AS SELECT -id AS id, x, y, word, day FROM t"
curate 0 from-view --data "$url" --table public.reversed --order id --noise-seed 3 --ledger seeded2.db
cmp -s from-csv/release.csv from-view/release.csv || fail "the release from the database is not that from the CSV"
! cmp -s from-csv/release.csv from-db/release.csv || fail "--order changes nothing"
cat >typed.json <<'JSON'
{"columns":[{"name":"x","bounds":[0,100],"unit":10},{"name":"word","kind":"category","levels":["red","blue"]},{"name":"day","kind":"date","bounds":["2020-01-01","2022-12-31"],"unit":30}]}
JSON
typed() { # typed OUT OPTIONS
    out=$1
    shift
    "$tacet" curate --values-unprotected --space typed.json --eps 1 --noise-seed 3 --out "$out" "$@" >said 2>err || fail "typed: $(cat err)"
}
typed typed-csv --data t.csv --ledger seeded4.db
typed typed-db --data "$url" --table reversed --order id --ledger seeded3.db
cmp -s typed-csv/release.csv typed-db/release.csv || fail "typed columns differ between database and CSV"
sql "CREATE TABLE holes AS SELECT id, CASE WHEN id = 40 THEN NULL ELSE x END AS x, y, word FROM t ORDER BY id LIMIT 100"
curate 1 bad --data "$url" --table holes --ledger no.db
grep -q "holes: line 41, column 'x': empty" err || fail "the missing cell is not named: $(cat err)"
sql "UPDATE holes SET x = 1, y = NULL WHERE id = 40; ALTER TABLE holes ADD COLUMN v float8 DEFAULT 1, ADD COLUMN w int2 DEFAULT 2, ADD COLUMN z float4 DEFAULT 3"
"$tacet" curate --values-unprotected --data "$url" --table holes --order id --inputs x,v,w,y,z --bounds x=0:100,v=0:100,w=0:100,y=0:100,z=0:100 \
    --unit x=1,v=1,w=1,y=1,z=1 --eps 1 --ledger no.db --out bad 2>err && fail "a missing cell among four"
grep -q "holes: line 41, column 'y': empty" err || fail "one cell of four is not named: $(cat err)"
"$tacet" curate --values-unprotected --data "$url" --table t --inputs word --bounds word=0:1 --unit word=1 --eps 1 --ledger no.db --out bad 2>err && fail "words as numbers"
grep -q "'word' is no number" err || fail "the column is not named: $(cat err)"
curate 1 bad --data "$url" --table nowhere --ledger no.db
grep -q nowhere err || fail "the table is not named: $(cat err)"
curate 2 bad --data "$url" --table t
grep -q -- --ledger err || fail "a database without a ledger: $(cat err)"
sql "CREATE VIEW spoilt AS SELECT id, CASE WHEN id = 40 THEN 'confidential' ELSE '1' END::float8 AS x, y, word, day FROM t"
curate 1 bad --data "$url" --table spoilt --ledger no.db
grep -q 'a value cannot be converted' err && ! grep -q confidential err || fail "a cell is told, or no reason: $(cat err)"
[ ! -e bad ] && [ ! -e no.db ] || fail "a refused release left something"

# --- a table of many pages, some of its rows deleted: all the others, in the order they are stored in
sql "CREATE TABLE wide WITH (fillfactor = 20) AS SELECT g AS id, (g * 7919 % 10007) / 107.0 AS x, (g % 9973 * 104729 % 9973) / 100.0 AS y
     FROM generate_series(1, 60000) g; DELETE FROM wide WHERE id BETWEEN 17000 AND 31000 OR id % 11 = 0"
sql "COPY (SELECT * FROM wide ORDER BY id) TO STDOUT (FORMAT csv, HEADER)" >wide.csv
curate 0 wide-csv --data wide.csv --noise-seed 3 --ledger wide1.db
for threads in 0 0,1; do
    taskset -pc $threads $$ >out
    curate 0 wide-$threads --data "$url" --table wide --noise-seed 3 --ledger wide2-$threads.db
    cmp -s wide-csv/release.csv wide-$threads/release.csv || fail "on processors $threads the release is another"
done
# A word with a comma, a quote and a line end is one cell; the order of a column is that of its type, not of its text.
sql "CREATE TABLE odd AS SELECT g AS id, g::float8 AS x, 'a,\"b' || chr(10) || 'c' AS word FROM generate_series(1, 30) g ORDER BY g DESC"
"$tacet" curate --values-unprotected --data "$url" --table odd --order id --inputs x,word --bounds x=0:100 --levels 'word=red|blue' --unit x=1 --eps 1 --ledger no.db --out bad 2>err &&
    fail "a word that is no level"
grep -q "odd: line 2:.*'word'" err || fail "the cell is not named: $(cat err)"
"$tacet" curate --values-unprotected --data "$url" --table odd --order id --noise-seed 3 --ledger odd.db --inputs id,x --bounds id=0:100,x=0:100 --unit id=0.001,x=0.001 --eps 1 \
    --out ordered >said 2>err || fail "ordered: $(cat err)"
[ "$(tail -n +2 ordered/release.csv | cut -d, -f3 | sort -g -c 2>&1)" = "" ] || fail "not in the order of the column"

# --- the registry knows the table again, here and as numbers in a file
curate 0 released --data "$url" --table t --ledger "$url#books"
[ "$(entries "$url#books")" = 1 ] || fail "not one entry"
curate 3 again --data "$url" --table reversed --ledger other.db
grep -q 'of these rows were released before' err || fail "a view of the same rows: $(cat err)"
curate 1 again --data "$url" --table t --ledger "$url#books"
grep -q 'was drawn already' err || fail "drawn twice: $(cat err)"
# ... as its own export, either way round; two texts are compared as such, whatever numbers they have in common
curate 3 again --data t.csv
grep -q '100 % of these rows were released before' err || fail "the export of a released table: $(cat err)"
[ ! -e again ] && [ ! -e t.csv.ledger.db ] || fail "a refused export left something"
curate 3 again --data t.csv --ledger "$url#books" --ticket too
grep -q '1 of 1 spent' err || fail "the export is not charged to the table's ledger: $(cat err)"
sql "CREATE TABLE u AS SELECT id, x + 0.125 AS x, y, word FROM t"
sql "COPY (SELECT * FROM u ORDER BY y) TO STDOUT (FORMAT csv, HEADER)" >u.csv
sed 's/^/9/' u.csv | sed '1s/9//' >others.csv
curate 0 exported --data u.csv
curate 0 others --data others.csv
curate 3 again --data "$url" --table u --ledger other.db
grep -q '100 % of these rows were released before' err || fail "the table of a released export: $(cat err)"

# --- one snapshot: every row is read slowly, and all of them change meanwhile
sql "CREATE TABLE moving AS SELECT g AS id, 10.0::float8 AS x, 10.0::float8 AS y FROM generate_series(1, 150) g;
     CREATE VIEW slowly AS SELECT id, x + 0 * length(pg_sleep(0.01)::text) AS x, y FROM moving"
await_rows() { # until the server sends the rows of the table
    until [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'COPY%slowly%'")" -ge 1 ]; do
        kill -0 $reader 2>/dev/null || fail "the table was read too soon: $(cat err)"
        sleep 0.02
    done
}
curate 0 before --data "$url" --table moving --noise-seed 9 --ledger m1.db
"$tacet" curate --values-unprotected --data "$url" --table slowly --inputs x,y --bounds x=0:100,y=0:100 --unit x=10,y=10 --eps 1 --noise-seed 9 --ledger m2.db --out during >said 2>err &
reader=$!
await_rows
sql "UPDATE moving SET x = 90, y = 90; INSERT INTO moving SELECT g, 50, 50 FROM generate_series(1000, 1050) g"
kill -0 $reader 2>/dev/null || fail "the table was read before it changed: the test shows nothing"
wait $reader || fail "the reader of a table that changes: $(cat err)"
cmp -s before/release.csv during/release.csv || fail "the release mixes two states of the table"

# --- the database of the records goes away while they are read
"$tacet" curate --values-unprotected --data "$url" --table slowly --inputs x,y --bounds x=0:100,y=0:100 --unit x=10,y=10 --eps 1 --ledger m3.db --out gone >said 2>err &
reader=$!
await_rows
"$TACET_SOURCE/tests/support/pgcluster.sh" kill "$TACET_TEST_CLUSTER"
! wait $reader || fail "a release of a table that was cut off"
grep -q 'slowly: reading it: the database went away' err || fail "not named: $(cat err)"
[ ! -e gone ] && [ ! -e m3.db ] || fail "a table that could not be read was charged or released"
"$TACET_SOURCE/tests/support/pgcluster.sh" again "$TACET_TEST_CLUSTER"

# --- the database of the ledger goes away between reservation and commit
awk 'BEGIN { srand(8); print "x,y"; for (i = 0; i < 400000; i++) printf "%.3f,%.3f\n", 100 * rand(), 100 * rand() }' >large.csv
large() { taskset -c 0 "$tacet" curate --values-unprotected --data large.csv --inputs x,y --bounds x=0:100,y=0:100 --unit x=10,y=10 --eps 1 --ledger "$url#away" --out large; }
(large >said 2>err) &
writer=$!
until [ "$(sql "SELECT count(*) FROM away.record" 2>/dev/null || echo 0)" -ge 2 ]; do
    kill -0 $writer 2>/dev/null || fail "the release ended before its database did: $(cat err)"
    sleep 0.02
done
"$TACET_SOURCE/tests/support/pgcluster.sh" kill "$TACET_TEST_CLUSTER"
! wait $writer || fail "a release without its commit"
grep -q 'connection lost\|cannot connect' err || fail "the ledger that is gone is not named: $(cat err)"
[ ! -e large/release.csv ] || fail "released without its commit"
"$TACET_SOURCE/tests/support/pgcluster.sh" again "$TACET_TEST_CLUSTER"
[ "$(entries "$url#away")" = 1 ] || fail "not reserved"
large >said 2>err || fail "the same ticket after the crash: $(cat err)"
[ "$(entries "$url#away")" = 1 ] && [ "$(spent "$url#away")" = 1.000000 ] || fail "charged twice"
[ "$(wc -l <large/release.csv)" = 400001 ] || fail "not whole"
[ -z "$(ls here/unfinished)" ] || fail "rows were left behind"

echo "snapshot, two crashes of the server: released once, charged once"
