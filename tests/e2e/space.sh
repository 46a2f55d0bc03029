#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# space.sh - spaces as people write them: drafts from a header, checks for the holder, bad ones refused by name.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"

printf 'age,income,sex,seen,bp\n40,30000,Male,2021-03,120\n25,5000000,Female,2021-04-15,\n33,21000,Male,2021-12-31,NA\n' >t.csv
cat >s.json <<'JSON'
{"columns":[{"name":"age","kind":"real","bounds":[17,90],"unit":5},{"name":"income","kind":"log","bounds":[1000,6000000],"unit":"10 %"},
{"name":"sex","kind":"category","levels":["Male","Female"]},{"name":"seen","kind":"date","bounds":["2021-01","2021-12-31"],"unit":"2 weeks"},
{"name":"bp","bounds":[60,220],"unit":10,"missing":120}]}
JSON

# A draft has the names of the header and nothing of the records, and is refused until it is filled in.
"$bin/tacet" space draft --data t.csv >draft.json 2>/dev/null
grep -q '"income"' draft.json || fail "the draft lacks a column"
! grep -q 'Female\|30000' draft.json || fail "the draft holds a value"
code=0; "$bin/tacet" space check --space draft.json 2>err >/dev/null || code=$?
[ $code -eq 2 ] && grep -q "'age'.*fill" err || fail "a draft is taken as it is: $(cat err)"

# File and short options print the same.
printf '{"columns":[{"name":"age","bounds":[17,90],"unit":5},{"name":"bp","bounds":[60,220],"unit":10},{"name":"sex","kind":"category","levels":["Male","Female"]}]}' >short.json
"$bin/tacet" space check --json --space short.json >a.json
"$bin/tacet" space check --json --inputs age,bp,sex --bounds age=17:90 --bounds bp=60:220 --levels 'sex=Male|Female' --unit age=5,bp=10 >b.json
cmp a.json b.json || fail "file and options differ"

# The check for the holder: stamped, with counts.
"$bin/tacet" space check --space s.json --data t.csv >out
grep -q 'DEPENDS ON THE RECORDS' out || fail "no stamp"
grep -q 'bp .*2 missing' out || fail "missing cells are not counted: $(cat out)"
"$bin/tacet" space check --space s.json --data t.csv --json | grep -q '"depends_on_records": *true' || fail "no stamp in the JSON"
code=0; "$bin/tacet" space check --data t.csv --bounds bp=60:220 >out 2>err || code=$?
[ $code -eq 1 ] && grep -q 'cannot be read (first in line 3)' out || fail "a missing cell passes: $code $(cat out)"

# Crowding: nearly all rows in the lowest 3 %.
awk 'BEGIN { print "inc"; for (i = 0; i < 98; i++) print 1000 * (20 + i); print 900000; print 6000000 }' >inc.csv
"$bin/tacet" space check --data inc.csv --bounds inc=0:6000000 | grep -q '98 % in the lowest 3 %.*log' || fail "crowding is not told"
echo '{"columns":[{"name":"inc","kind":"log","bounds":[1000,6000000]}]}' >inc.json
"$bin/tacet" space check --data inc.csv --space inc.json >out
! grep -q crowded out || fail "crowded on a log scale: $(cat out)"

# Bad spaces: usage error, and the column named.
refuse() { # WORD OPTION…
    word=$1; shift
    expect 2 "$bin/tacet" space check "$@"
    grep -q -e "$word" "$work/err" || fail "'$*' does not say $word: $(cat "$work/err")"
}
refuse "twice" --levels 'sex=M|F|M'
refuse "'age'" --bounds age=90:17
refuse "age=0" --bounds age=17:90 --unit age=0
sed "s/1000,/0,/" inc.json >zero.json
refuse "'inc'" --space zero.json
refuse "bmi=1" --bounds age=17:90 --unit bmi=1
refuse "says it all" --space s.json --bounds age=17:90
code=0; "$bin/tacet" space check --bounds nosuch=0:1 --data t.csv >/dev/null 2>err || code=$?
[ $code -eq 1 ] && grep -q nosuch err || fail "an unknown column passes"
code=0; "$bin/tacet" space check --levels 'sex=Male|Other' --data t.csv >out 2>/dev/null || code=$?
[ $code -eq 1 ] && ! grep -q Female out || fail "a value in no level passes, or is printed"
echo "spaces are read, checked and refused as they should be"
