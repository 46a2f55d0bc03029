#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gp_ucb.sh - `tacet-lab gp-ucb` and bad input: the exit code, a message that names what is wrong, nothing on stdout.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
failed=0

# refuse CODE PATTERN ARGUMENTS...: exit code CODE, a line on stderr matching PATTERN, an empty stdout.
refuse() {
    code=$1
    pattern=$2
    shift 2
    got=0
    "$tacet-lab" gp-ucb "$@" --json >out 2>err || got=$?
    if [ "$got" != "$code" ] || [ -s out ] || ! grep -Eq "$pattern" err; then
        echo "gp-ucb $*: exit $got (expected $code), stdout $(wc -c <out) bytes, stderr:"
        cat err
        failed=1
    fi
}

cat >good.csv <<'END'
x1,x2,y
0,0,1
1,0.5,2
2,1,1.5
3,0.2,0
END
sed 's/^1,0.5,2$/1,nan,2/' good.csv >nan.csv
sed 's/^2,1,1.5$/2,1,inf/' good.csv >inf.csv
sed 's/^2,1,1.5$/2,,1.5/' good.csv >empty.csv
sed 's/^2,1,1.5$/2,one,1.5/' good.csv >word.csv
sed 's/^2,1,1.5$/2,1/' good.csv >short.csv
awk -F, 'NR == 1 { print; next } { print $1 ",7," $3 }' good.csv >constant.csv
awk -F, 'NR == 1 { print; next } { print $1 "," $2 ",7" }' good.csv >flat.csv
{ cat good.csv; echo; echo 1,0.5,2; } >repeated.csv
{ cat good.csv; echo 1,0.5,2.25; } >remeasured.csv
sed 2q good.csv >one.csv
sed 1q good.csv >zero.csv
: >nothing.csv

m='--inputs x1,x2 --target y --lengthscale 1 --queries 3'
# shellcheck disable=SC2086 # $m is several words on purpose
{
refuse 1 "nan.csv: line 3, column 'x2'" --data nan.csv $m
refuse 1 "inf.csv: line 4, column 'y'" --data inf.csv $m
refuse 1 "empty.csv: line 4, column 'x2'" --data empty.csv $m
refuse 1 "word.csv: line 4, column 'x2'" --data word.csv $m
refuse 1 'short.csv: line 4.*fields' --data short.csv $m
refuse 1 "constant.csv: column 'x2' has the same value in every record" --data constant.csv $m
refuse 1 "flat.csv: column 'y' has the same value in every record" --data flat.csv $m
refuse 1 'one.csv: 1 records? .*at least 2' --data one.csv $m
refuse 1 'zero.csv: 0 records .*at least 2' --data zero.csv $m
refuse 1 'nothing.csv' --data nothing.csv $m
refuse 1 'missing.csv' --data missing.csv $m
refuse 1 "good.csv:.*'x3'" --data good.csv --inputs x1,x3 --target y --lengthscale 1 --queries 3
refuse 1 "good.csv:.*'z'" --data good.csv --inputs x1 --target z --lengthscale 1 --queries 3
refuse 2 "good.csv:.*'x1'.*twice" --data good.csv --inputs x1,x1 --target y --lengthscale 1 --queries 3
refuse 2 'good.csv: --queries 5, but the table has 4 rows' --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries 5
refuse 2 "lengthscale: '0' is not a number greater than 0" --data good.csv --inputs x1,x2 --target y --lengthscale 0 --queries 3
refuse 2 'lengthscale' --data good.csv --inputs x1,x2 --target y --lengthscale -1 --queries 3
refuse 2 'lengthscale' --data good.csv --inputs x1,x2 --target y --lengthscale nan --queries 3
refuse 2 'one for each of the 2 inputs' --data good.csv --inputs x1,x2 --target y --lengthscale 1,2,3 --queries 3
refuse 2 'lengthscale L,… is required' --data good.csv --inputs x1,x2 --target y --queries 3
refuse 2 'queries' --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries 0
refuse 2 'queries' --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries -3
refuse 2 'queries' --data good.csv --inputs x1,x2 --target y --lengthscale 1
refuse 2 'signal-var' --data good.csv $m --signal-var 0
refuse 2 'noise-var' --data good.csv $m --noise-var -1
refuse 2 'delta-ucb' --data good.csv $m --delta-ucb 1
refuse 2 'kernel' --data good.csv $m --kernel cubic
refuse 2 'no-such' --data good.csv $m --no-such-option

# The same table as a stream, with everything real files have; rows count from 0, ties to the lowest.
{ printf '\357\273\277'; sed 's/$/\r/; s/^1,/"1",/' good.csv; } >real.csv
for file in good.csv real.csv; do
    "$tacet-lab" gp-ucb --data $file $m --json 2>err | grep -q '"rows":\[0,' || failed=1
    grep -q UNPROTECTED err || failed=1
done
"$tacet-lab" gp-ucb --data - $m --json <good.csv 2>err | grep -q '"protection":"unprotected"' || failed=1
# A row twice, several measurements of the same inputs, more queries than rows with repeats.
"$tacet-lab" gp-ucb --data repeated.csv $m --json 2>err >out && grep -q '"n":5' out || failed=1
"$tacet-lab" gp-ucb --data remeasured.csv $m --noise-var 0 --json 2>err >out && grep -q '"n":5' out || failed=1
"$tacet-lab" gp-ucb --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries 9 --repeats --json 2>err >out || failed=1
# All rows asked: the best one was measured.
"$tacet-lab" gp-ucb --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries 4 --json 2>err >out
grep -q '"best_row":1,"best_value":2.0,"simple_regret":0.0' out || failed=1
"$tacet-lab" gp-ucb --data good.csv --inputs x1,x2 --target y --lengthscale 1 --queries 4 --minimize 2>err >out
grep -q 'best measured row   3, value 0, simple regret 0' out || failed=1
grep -q 'unprotected' out || failed=1
}
exit $failed
