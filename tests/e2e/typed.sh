#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# typed.sh - a table as people have them: categories, a log column, a date, missing cells; released, searched over TLS.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
export TACET_STATE="$work/state"

# The value depends on the group and the dose; half of the readings are missing, and mean nothing.
awk 'BEGIN { srand(3); print "id,group,dose,reading,seen,response"
    for (i = 0; i < 1500; i++) {
        g = int(4 * rand()); d = exp(log(10) + rand() * log(100)); u = log(d / 100) / log(10)
        r = rand() < .5 ? "" : int(60 + 100 * rand())
        printf "p%d,%s,%.4f,%s,2021-%02d-%02d,%.4f\n", i, substr("ABCD", g + 1, 1), d, r, 1 + int(12 * rand()), 1 + int(28 * rand()), (g == 2) - u * u
    } }' >t.csv
cat >space.json <<'JSON'
{"columns":[{"name":"group","kind":"category","levels":["A","B","C","D"]},{"name":"dose","kind":"log","bounds":[10,1000],"unit":"20 %"},
{"name":"reading","kind":"integer","bounds":[60,160],"unit":10,"missing":{"value":100,"flag":true}},
{"name":"seen","kind":"date","bounds":["2021-01-01","2021-12-31"],"unit":"30 days"}]}
JSON
"$bin/tacet" curate --data t.csv --space space.json --eps 3 --mechanism laplace --out dry --dry-run >out 2>err
[ ! -e dry ] && [ ! -e t.csv.ledger.db ] || fail "a dry run left something"
"$bin/tacet" curate --values-unprotected --data t.csv --space space.json --eps 3 --mechanism laplace --queries 38 --out r >out 2>err || fail "no release: $(cat err)"
for words in 'at distance 2 it is eps = 6' 'at distance 3 it is eps = 9' 'becoming any other' 'a factor of 1.2 in dose' '30 days in seen' \
    'group kept with probability 0.87' 'not protected'; do grep -q "$words" out || fail "it does not say '$words': $(cat out)"; done
[ "$(head -n 1 r/release.csv)" = "row,group,dose,reading,reading missing,seen" ] || fail "the header: $(head -n 1 r/release.csv)"
[ "$(tail -n +2 r/release.csv | grep -cE '^[0-9]+,[A-D],[0-9.]+,-?[0-9.]+,(yes|no),[0-9]{4}-[0-9]{2}-[0-9]{2}$')" = 1500 ] ||
    fail "not every row has a level, numbers in their own units, yes or no, and a date: $(sed -n 2,4p r/release.csv)"
"$bin/tacet" ledger show --ledger r/ledger.db | grep -q '^entries 1,' || fail "more than one entry"
"$bin/tacet" ledger verify --ledger r/ledger.db >/dev/null || fail "the ledger does not verify"

# Warnings before it is spent.
"$bin/tacet" curate --data t.csv --space space.json --eps 20 --delta 0.01 --out dry --dry-run >/dev/null 2>err
grep -q 'eps = 20 is above 10' err && grep -q 'delta = 0.01 is above 1/(10 n)' err || fail "no warnings: $(cat err)"
# They come before the ledger is asked, which has nothing left here.
code=0; "$bin/tacet" curate --values-unprotected --data t.csv --space space.json --eps 20 --ticket second --out r2 >/dev/null 2>err || code=$?
[ $code -eq 3 ] && grep -q 'eps = 20 is above 10' err && [ ! -e r2/release.csv ] || fail "warned after it was spent, or spent: $code $(cat err)"

# A cell that does not fit: named by line, nothing charged.
sed '5s/,[ABCD],/,secret,/' t.csv >bad.csv
code=0; "$bin/tacet" curate --values-unprotected --data bad.csv --space space.json --eps 3 --mechanism laplace --out rb >/dev/null 2>err || code=$?
[ $code -eq 1 ] && grep -q "line 5.*'group'" err && ! grep -q secret err && [ ! -e rb ] && [ ! -e bad.csv.ledger.db ] || fail "a bad cell: $(cat err)"

# Searched over TLS, with more queries than the release was made for. Rows at random have a mean response of -0.1; the last ten that the model chose must be far above: in
# six runs their mean was between 0.58 and 0.92.
"$bin/tacet" curator init --dir keys --host 127.0.0.1,localhost >/dev/null
up "$bin/tacet-curator" curator serve --release r --keys keys --data t.csv --target response --queries 80 --listen 127.0.0.1:0
"$bin/tacet" modeler run --url "$url" --keys keys/modeler --state state --queries 80 --json >result 2>err || fail "no search: $(cat err)"
kill "$server"
grep -q '"asked": *80\|"queries": *80' result || [ "$(sed 's/.*"values":\[\([^]]*\)\].*/\1/' result | tr ',' '\n' | wc -l)" -eq 80 ] || fail "not 40 rows: $(cat result)"
grep -q '"modeler":"averaging"' result || fail "another modeler: $(cat result)"
mean=$(sed 's/.*"values":\[\([^]]*\)\].*/\1/' result | tr ',' '\n' | tail -n 10 | awk '{ s += $1 } END { print s / NR }')
awk "BEGIN { exit !($mean > 0.2) }" || fail "the search chose rows of $mean on average"
factor=$(sed 's/.*"log_bayes_factor":\([-0-9.e]*\).*/\1/' result)
awk "BEGIN { exit !($factor > 3) }" || fail "no signal: $factor"
echo "a typed table, released and searched: the last rows have $mean on average, rows at random -0.1"
