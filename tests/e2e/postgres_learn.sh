#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# postgres_learn.sh - a log in PostgreSQL, counted by the server: the model of a seed is that of the same rows in a CSV,
# byte for byte, whatever types the columns have and whatever stands in them; what cannot be the same is refused by name,
# and nothing is charged for it.
if [ "${1:-}" != inside ]; then exec "${TACET_SOURCE:?}/tests/support/pgcluster.sh" run "$0" inside; fi
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
url=$TACET_TEST_POSTGRES
need psql
cd "$work"
export TACET_STATE=$work/here TACET_KEY_FILE=$work/key
sql() { psql "$url" -v ON_ERROR_STOP=1 -qAtc "SET client_min_messages=error; $1"; }
same() { # same WHAT OPTIONS...: from the CSV and from the database
    what=$1
    shift
    rm -f csv.json db.json
    "$tacet" learn --data log.csv "$@" --eps 1 --noise-seed 3 --out csv.json >said 2>err || fail "$what, from the CSV: $(cat err)"
    "$tacet" learn --data "$url" --table log "$@" --eps 1 --noise-seed 3 --out db.json >said 2>err || fail "$what, from the database: $(cat err)"
    cmp -s csv.json db.json || fail "$what: the database's model is not the CSV's"
}
refused() { # refused TABLE WORDS OPTIONS...
    table=$1 words=$2
    shift 2
    ! "$tacet" learn --data "$url" --table "$table" --eps 1 --ledger no.db --out no.json "$@" >said 2>err || fail "taken: $words"
    grep -q -- "$words" err || fail "not in these words, $words: $(cat err)"
    [ ! -e no.json ] || fail "a model was written: $words"
}

# Levels with blanks, unknown ones, words that say missing, NULL; numbers at the edges of bins and next to them, outside
# their bounds, NULL, NaN and infinite; whole numbers that are none; rewards at the ends, outside, and between two steps.
sql "CREATE TYPE size AS ENUM ('small', 'large');
CREATE TABLE log (variant text, kind text, \"how; many\"\"\" size, age float8, x float4, share numeric(9,3), visits int8, half float8, day date, price float8, y float8, z numeric, seen int2);
INSERT INTO log SELECT CASE WHEN g % 7 < 3 THEN 'A' ELSE 'B' END,
 (ARRAY['new', 'old', ' new', 'zzz', 'NA', NULL, 'old '])[1 + g % 7], CASE WHEN g % 2 = 0 THEN 'small' ELSE 'large' END::size,
 CASE WHEN g % 50 = 0 THEN NULL WHEN g % 51 = 0 THEN 'NaN' WHEN g % 52 = 0 THEN 'Infinity' WHEN g % 53 = 0 THEN -1e300
      WHEN g % 3 = 0 THEN 90.0 * (g % 17) / 16 WHEN g % 3 = 1 THEN (90.0 * (g % 16 + 1) / 16)::float8 * (1 - 2.3e-16) ELSE 90 * random() END,
 (random() * 1.2 - .1)::float4, (g % 997) / 7.0, g % 40 - 3, (g % 30) / 2.0, date '2020-01-01' + g % 700, 0.5 * exp(5 * random()),
 CASE WHEN g % 3 = 0 THEN random() * 1.4 - .2 WHEN g % 3 = 1 THEN ((g % 4194303) + .5) / 4194304 ELSE g % 2 END, (g % 101) / 100.0, g % 2
 FROM generate_series(1, 6000) g"
sql "COPY log TO STDOUT (FORMAT csv, HEADER)" >log.csv
A="--actions variant --reward y --range 0:1"
same "no contexts" $A --levels "variant=A|B"
same "categories" $A --contexts kind --levels "variant=A|B,kind=new|old|back"
same "a name with a quote" $A --contexts 'how; many"' --levels 'variant=A|B,how; many"=small|large'
same "a number" $A --contexts age --levels "variant=A|B" --bounds age=0:90
same "numbers of all types" $A --contexts kind,x,share --levels "variant=A|B,kind=new|old" --bounds x=0:1,share=0:142
variant='{"name":"variant","kind":"category","levels":["A","B"]}'
echo '{"columns":['"$variant"',{"name":"visits","kind":"integer","bounds":[0,36]},{"name":"half","kind":"integer","bounds":[0,14]}]}' >whole.json
same "whole numbers" $A --contexts visits,half --space whole.json
echo '{"columns":['"$variant"',{"name":"day","kind":"date","bounds":["2020-01-01","2021-11-30"]},{"name":"price","kind":"log","bounds":[0.5,75]}]}' >days.json
same "days and a price" $A --contexts day,price --space days.json
same "numbers as actions" --actions z --contexts kind --levels "kind=new|old" --bounds z=0:1 --reward y --range 0:1
same "a wider range" --actions variant --contexts age --levels "variant=A|B" --bounds age=0:90 --reward z --range -0.3:0.7
same "zeros and ones" --actions variant --contexts kind --levels "variant=A|B,kind=new|old" --reward seen --range 0:1

L="--levels variant=A|B"
refused log "rewards from 0 to more than 1" --actions variant $L --reward y --range 0:5
refused log "'kind' is no number" --actions variant $L --reward kind --range 0:1
refused log "action 'kind' of some row" --actions kind --levels "kind=new|old" --reward y --range 0:1
refused log "action 'z' of some row" --actions z --bounds z=0:0.5 --reward y --range 0:1
refused log "'age' is empty or no finite number" --actions variant $L --reward age --range 0:1
refused log "whose row it is" --actions variant $L --reward y --range 0:1 --person kind --rows-per-person 2
refused nowhere "nowhere" --actions variant $L --reward y --range 0:1
refused log 'none; DROP' --actions 'none; DROP TABLE log' --levels 'none; DROP TABLE log=A|B' --reward y --range 0:1
sql "CREATE TABLE nobody AS SELECT * FROM log LIMIT 0"
refused nobody "no rows" --actions variant $L --reward y --range 0:1
[ ! -e no.db ] || "$tacet" ledger verify --ledger no.db --json | grep -q '"entries": *0' || fail "something was charged for what was refused"
! "$tacet" learn --data "$url" --table log $A $L --eps 1 --out no.json >said 2>err || fail "a database without a ledger"
grep -q -- --ledger err || fail "the ledger is not asked for: $(cat err)"

# Private: charged once, the same ticket repeats the model, and another one finds no budget.
learn() { "$tacet" learn --data "$url" --table log $A $L --eps 1 --ledger l.db "$@" >said 2>err; }
learn --out one.json || fail "private: $(cat err)"
learn --out two.json || fail "the same ticket: $(cat err)"
cmp -s one.json two.json || fail "the same ticket gave another model"
! learn --ticket other --out three.json || fail "a second release within the budget of one"
sql "UPDATE log SET y = 1 - y WHERE visits = 5"
learn --out four.json && cmp -s one.json four.json || fail "an answered ticket is not repeated once rows have changed: $(cat err)"
echo "ten questions, the same models from PostgreSQL as from a CSV"
