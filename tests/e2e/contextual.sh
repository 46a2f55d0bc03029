#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# contextual.sh - a private log in, a released model out, predictions by a program that never saw the log; and what is refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

# 3000 rounds: dose in [0, 5], age in [18, 90], best dose rises with age: 1 + 3 (age - 18)/72.
awk 'BEGIN { srand(7); print "id,dose,age,outcome"
    for (i = 0; i < 3000; i++) { x = 5 * rand(); c = 18 + 72 * rand(); b = 1 + 3 * (c - 18) / 72
        y = 0.9 * exp(-(x - b) * (x - b) / 3) + 0.1 * (rand() - 0.5); print i "," x "," c "," y } }' >"$work/log.csv"
set -- --data "$work/log.csv" --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90
learn="$bin/tacet learn"

# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --out "$work/model.json" --json
[ "$(number rows)" = 3000 ] || fail "the number of rows is not reported"
grep -q '"private":true' "$work/out" || fail "the model is not stamped private"
for age in 25 54 83; do
    expect 0 "$bin/tacet" predict --model "$work/model.json" --context $age --json
    action=$(sed -n 's/.*"action":\[\([0-9.e+-]*\)\].*/\1/p' "$work/out")
    awk -v a="$action" -v c=$age 'BEGIN { d = a - (1 + 3 * (c - 18) / 72); if (d < 0) d = -d; exit d > 1 }' ||
        fail "at age $age dose $action is chosen"
done
expect 0 "$bin/tacet" ledger verify --ledger "$work/log.csv.ledger.db" --json
# The same ticket gives the same model; another one finds no budget.
cp "$work/model.json" "$work/first.json"
# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --out "$work/model.json"
cmp -s "$work/model.json" "$work/first.json" || fail "asking again gave another model"
# shellcheck disable=SC2086
expect 3 $learn "$@" --eps 1 --out "$work/model.json" --ticket second
cmp -s "$work/model.json" "$work/first.json" || fail "a refused release changed the model"
# Seven columns of numbers and one category: halves of each number, and the level is learnt.
awk 'BEGIN { srand(8); print "a,c,d,e,f,g,h,kind,y"
    for (i = 0; i < 12000; i++) { a = rand(); c = rand(); k = rand() < .5
        print a "," c "," rand() "," rand() "," rand() "," rand() "," rand() "," (k ? "x" : "z") "," (rand() < (k == (a > .5) ? .3 : .1)) } }' >"$work/many.csv"
# shellcheck disable=SC2086
expect 0 $learn --data "$work/many.csv" --actions a --contexts c,d,e,f,g,h,kind --reward y --range 0:1 --eps 1 --out "$work/many.json" \
    --bounds a=0:1,c=0:1,d=0:1,e=0:1,f=0:1,g=0:1,h=0:1 --levels "kind=x|z" --json
awk -v l="$(sed -n 's/.*"uniform":{"estimate":\([0-9.e-]*\).*/\1/p' "$work/out")" 'BEGIN { exit !(l > .17 && l < .23) }' || fail "the level is not learnt: $(cat "$work/out")"
expect 0 "$bin/tacet" predict --model "$work/many.json" --context .5,.5,.5,.5,.5,.5,x --json
awk -v a="$(sed -n 's/.*"action":\[\([0-9.]*\)\].*/\1/p' "$work/out")" 'BEGIN { exit !(a > .5) }' || fail "x: $(cat "$work/out")"
# One log, one account: another output finds no budget either.
# shellcheck disable=SC2086
expect 3 $learn "$@" --eps 1 --out "$work/other.json" --ticket other
[ ! -e "$work/other.json" ] || fail "a refused release left a model"
# Nor does the log by another name, nor one whose first release named a ledger.
ln -s log.csv "$work/alias.csv"
# shellcheck disable=SC2086
expect 3 $learn "$@" --data "$work/alias.csv" --eps 1 --out "$work/other.json" --ticket other
cp "$work/log.csv" "$work/named.csv"
# shellcheck disable=SC2086
expect 3 $learn "$@" --data "$work/named.csv" --eps 1 --out "$work/named.json" --ledger "$work/named.ledger"
grep -q "100 % of these rows were released before .*ticket 'model'.*log.csv.ledger.db" "$work/err" || fail "a copy of the log is not known: $(cat "$work/err")"
# shellcheck disable=SC2086
expect 0 $learn "$@" --data "$work/named.csv" --eps 1 --out "$work/named.json" --ledger "$work/named.ledger" --new-budget "a test"
"$bin/tacet" ledger show --ledger "$work/named.ledger" --json | grep -q 'new budget: a test' || fail "the reason for a new budget is not in the ledger"
# shellcheck disable=SC2086
expect 3 $learn "$@" --data "$work/named.csv" --eps 1 --out "$work/other.json" --ticket other
[ ! -e "$work/other.json" ] || fail "a refused release left a model"
# Seeded noise is stamped, touches no ledger, and repeats.
cp "$work/log.csv.ledger.db" "$work/before.ledger"
# shellcheck disable=SC2086
expect 0 $learn "$@" --noise-seed 5 --out "$work/s1.json" --json
{ grep -q '"private":false' "$work/out" && grep -q 'NOT PRIVATE' "$work/err"; } || fail "seeded noise is not stamped"
cmp -s "$work/log.csv.ledger.db" "$work/before.ledger" || fail "seeded noise changed the ledger"
# shellcheck disable=SC2086
expect 0 $learn "$@" --noise-seed 5 --out "$work/s2.json"
cmp -s "$work/s1.json" "$work/s2.json" || fail "the same seed gave another model"

# Actions to try: within bounds, distinct.
expect 0 "$bin/tacet" learn actions --bounds 2:3,-1:0 --count 50
[ "$(sort -u "$work/out" | wc -l)" -eq 50 ] || fail "suggestions repeat"
awk -F, '$1 < 2 || $1 > 3 || $2 < -1 || $2 > 0 { exit 1 }' "$work/out" || fail "a suggestion lies outside its bounds"
expect 2 "$bin/tacet" learn actions --bounds 1:0

# Bad input: nothing is written, nothing is spent.
bad() { # CODE WORDS ARGS...
    want=$1
    words=$2
    shift 2
    rm -f "$work/bad.json" "$work/bad.ledger"
    # shellcheck disable=SC2086
    expect "$want" $learn "$@" --out "$work/bad.json" --ledger "$work/bad.ledger"
    grep -q "$words" "$work/err" || { cat "$work/err"; fail "no word of '$words'"; }
    { [ ! -e "$work/bad.json" ] && [ ! -e "$work/bad.ledger" ]; } || fail "something was written for '$words'"
}
bad 2 'eps must be above 0' "$@" --eps 0
bad 2 'eps must be above 0' "$@" --eps -1
plain="--data $work/log.csv --actions dose --contexts age --reward outcome --range 0:1"
# shellcheck disable=SC2086
bad 2 'bounds' $plain --bounds 0:5
bad 2 'LO:HI' "$@" --range 1:0
# shellcheck disable=SC2086
bad 1 "action 'dose' lies outside" $plain --bounds 0:4,18:90
bad 1 'no column' "$@" --reward nothing
# Contexts and rewards outside: taken as the nearest within, and nothing that is said or returned tells of them. Both logs
# have the same actions; the second has contexts and rewards far outside.
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 1e6) "," (NR % 7 ? $4 : -1e9) }' "$work/log.csv" >"$work/wild.csv"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 90) "," (NR % 7 ? $4 : 0) }' "$work/log.csv" >"$work/clipped.csv"
for log in log wild clipped; do
    # shellcheck disable=SC2086
    expect 0 $learn "$@" --data "$work/$log.csv" --noise-seed 1 --out "$work/total.json"
    cp "$work/err" "$work/$log.err" && cp "$work/out" "$work/$log.out" && mv "$work/total.json" "$work/$log.json"
done
# (What was measured and released is on stdout: that passed the gate.)
cmp -s "$work/log.err" "$work/wild.err" || fail "what is said depends on contexts or rewards"
cmp -s "$work/wild.json" "$work/clipped.json" || fail "values outside are not taken as the nearest within"
cmp -s "$work/wild.json" "$work/log.json" && fail "contexts and rewards do not matter"
# A dry run says what would be released, which the rows have no part in, and charges nothing.
for log in wild clipped; do
    # shellcheck disable=SC2086
    expect 0 $learn "$@" --data "$work/$log.csv" --dry-run --json
    cp "$work/out" "$work/$log.dry"
done
cmp -s "$work/wild.dry" "$work/clipped.dry" || fail "a dry run depends on private cells"
{ grep -q '"cells":25,' "$work/out" && grep -q '"bins":{"dose":5,"age":5}' "$work/out"; } || fail "a dry run does not say what is released: $(cat "$work/out")"
[ ! -e "$work/wild.csv.ledger.db" ] || fail "a dry run made a ledger"
# Named bounds are bounds.
# shellcheck disable=SC2086
expect 0 $learn $plain --bounds age=18:90,dose=0:5 --noise-seed 1 --out "$work/named.json"
cmp -s "$work/named.json" "$work/log.json" || fail "bounds by name are others"
# Predictions: contexts outside, a file that is no model.
expect 1 "$bin/tacet" predict --model "$work/model.json" --context 17
expect 2 "$bin/tacet" predict --model "$work/model.json"
expect 2 "$bin/tacet" predict --model "$work/model.json" --context 20,30
expect 1 "$bin/tacet" predict --model "$work/log.csv" --context 20
expect 1 "$bin/tacet" predict --model "$work/nowhere.json" --context 20
# An A/B log: four variants, three device types, 0/1 outcomes.
awk 'BEGIN { srand(3); print "variant,device,click,p"; split("A B C D", V, " "); split("0.4 0.3 0.2 0.1", P, " ")
    for (i = 0; i < 20000; i++) { u = rand(); v = u < .4 ? 1 : u < .7 ? 2 : u < .9 ? 3 : 4; u = rand(); d = u < .6 ? 1 : u < .9 ? 2 : 3
        r = .3 + (v == d + 1 ? .2 : 0); print V[v] "," (d == 1 ? "phone" : d == 2 ? "desktop" : "tablet") "," (rand() < r) "," P[v] } }' >"$work/ab.csv"
ab="--data $work/ab.csv --actions variant --contexts device --reward click --range 0:1 --levels variant=A|B|C|D,device=phone|desktop|tablet"
# shellcheck disable=SC2086
expect 0 $learn $ab --eps 1 --out "$work/ab.json" --json
grep -q '"over_logged_is":"better"' "$work/out" || fail "the recommended rule is not told from the logged one"
for pair in phone:B desktop:C tablet:D; do
    expect 0 "$bin/tacet" predict --model "$work/ab.json" --context "${pair%:*}" --json
    grep -q "\"action\":\[\"${pair#*:}\"\]" "$work/out" || fail "on a ${pair%:*} another variant is chosen: $(cat "$work/out")"
done
printf 'id,device\n"a,1",phone\nb,tablet\n' >"$work/visitors.csv"
expect 0 "$bin/tacet" predict --model "$work/ab.json" --data "$work/visitors.csv"
[ "$(sed 's/,[0-9.]*$//' "$work/out" | tr '\n' ' ')" = 'id,device,variant,predicted "a,1",phone,B b,tablet,D ' ] || fail "a file is not predicted row by row, with what was read: $(cat "$work/out")"
expect 0 "$bin/tacet" predict --model "$work/ab.json" --data "$work/visitors.csv" --all --json
[ "$(grep -o '"inputs":{"id":"b","device":"tablet"}' "$work/out" | wc -l)" = 4 ] || fail "--all is not every action of a row"
expect 2 "$bin/tacet" predict --model "$work/ab.json" --context phone,3
grep -q -- '--context is 1 value: device' "$work/err" || fail "the context columns are not named: $(cat "$work/err")"
printf 'id\n1\n' >"$work/without.csv"
expect 1 "$bin/tacet" predict --model "$work/ab.json" --data "$work/without.csv"
grep -q "has no column 'device'; the model expects 1 value: device" "$work/err" || fail "a missing column: $(cat "$work/err")"
expect 2 "$bin/tacet" predict --model "$work/ab.json" --context fridge
echo c,fridge >>"$work/visitors.csv"
expect 1 "$bin/tacet" predict --model "$work/ab.json" --data "$work/visitors.csv"
grep -q 'visitors.csv: row 3: ' "$work/err" || fail "a cell that is no level is not named by its row"
# An action of no level is public and refused; a context of no level is private, and nothing tells of it.
sed '5s/^[A-D]/E/' "$work/ab.csv" >"$work/ab-action.csv"
# shellcheck disable=SC2086
expect 1 $learn $ab --data "$work/ab-action.csv" --out "$work/other.json"
[ ! -e "$work/ab-action.csv.ledger.db" ] || fail "a refused log has a ledger"
sed '5s/,[a-z]*,/,fridge,/' "$work/ab.csv" >"$work/ab-context.csv"
# shellcheck disable=SC2086
expect 0 $learn $ab --data "$work/ab-context.csv" --noise-seed 1 --out "$work/other.json"
grep -qi 'fridge\|level' "$work/err" && fail "learning tells of a private cell"

# The simulation, small: the same seed repeats; what ships beats the published algorithm, which beats choosing blindly.
error() { sed -n 's/.*"error":{"mean":\([0-9.e-]*\),"se".*/\1/p' "$work/out"; }
expect 0 "$bin/tacet-lab" simulate contextual --rounds 1000 --trials 4 --seed 1 --json
shipped=$(error)
expect 0 "$bin/tacet-lab" simulate contextual --rounds 1000 --trials 4 --seed 1 --json
[ "$shipped" = "$(error)" ] || fail "the same seed gave another error"
expect 0 "$bin/tacet-lab" simulate contextual --algorithm published --rounds 1000 --trials 4 --seed 1 --json
published=$(error)
expect 0 "$bin/tacet-lab" simulate contextual --algorithm uniform --rounds 1000 --trials 4 --seed 1 --json
awk -v s="$shipped" -v p="$published" -v u="$(error)" 'BEGIN { exit !(s > 0 && s < p / 4 && p < u) }' ||
    fail "shipped $shipped, published $published, uniform $(error)"
expect 0 "$bin/tacet-lab" simulate contextual --algorithm faithful --rounds 300 --eps 10 --trials 2 --seed 1 --json
grep -q '"approximating_points":' "$work/out" || fail "the size of the approximating set is not reported"
expect 2 "$bin/tacet-lab" simulate contextual --eps 0
echo "learn, suggest and predict do what they say"
