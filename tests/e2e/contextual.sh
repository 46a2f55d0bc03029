#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# contextual.sh - a private log in, a released model out, predictions by a program that never saw the log; and what is refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"

# 3000 rounds: dose in [0, 5], age in [18, 90], best dose rises with age: 1 + 3 (age - 18)/72.
awk 'BEGIN { srand(7); print "id,dose,age,outcome"
    for (i = 0; i < 3000; i++) { x = 5 * rand(); c = 18 + 72 * rand(); b = 1 + 3 * (c - 18) / 72
        y = 0.9 * exp(-(x - b) * (x - b) / 3) + 0.1 * (rand() - 0.5); print i "," x "," c "," y } }' >"$work/log.csv"
set -- --data "$work/log.csv" --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90 --lengthscale 1.5,25
learn="$bin/tacet learn"

# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --out "$work/model.json" --json
[ "$(number rounds)" = 3000 ] || fail "the number of rounds is not reported"
grep -q '"private":true' "$work/out" || fail "the model is not stamped private"
for age in 25 54 83; do
    expect 0 "$bin/tacet" predict --model "$work/model.json" --context $age --json
    action=$(sed -n 's/.*"action":\[\([0-9.e+-]*\)\].*/\1/p' "$work/out")
    awk -v a="$action" -v c=$age 'BEGIN { d = a - (1 + 3 * (c - 18) / 72); if (d < 0) d = -d; exit d > 1 }' ||
        fail "at age $age dose $action is chosen"
done
# The ledger has the stages as one group, whose cost is that of one.
expect 0 "$bin/tacet" ledger verify --ledger "$work/log.csv.ledger.db" --json
expect 0 "$bin/tacet" ledger show --ledger "$work/log.csv.ledger.db" --json
grep -q 'stage 1' "$work/out" || fail "the ledger does not name the stages"
for field in likely_error outcome_error outcome_at_most; do
    expect 0 "$bin/tacet" predict --model "$work/model.json" --context 54 --json
    [ -n "$(number $field)" ] || fail "a prediction does not say $field"
done
# The same ticket gives the same model; another one finds no budget.
cp "$work/model.json" "$work/first.json"
# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --out "$work/model.json"
cmp -s "$work/model.json" "$work/first.json" || fail "asking again gave another model"
# shellcheck disable=SC2086
expect 3 $learn "$@" --eps 1 --out "$work/model.json" --ticket second
cmp -s "$work/model.json" "$work/first.json" || fail "a refused release changed the model"
# Seven columns, one of them a category: the reward is a sum over groups. The best of each action is its own context.
awk 'BEGIN { srand(8); print "a,b,c,u,v,w,kind,y"
    for (i = 0; i < 12000; i++) { a = rand(); b = rand(); c = rand(); u = rand(); v = rand(); w = rand(); k = rand() < .5
        y = .5 + .4 - .6 * ((a - u) ^ 2 + (b - v) ^ 2 + (c - (k ? w : 1 - w)) ^ 2) + .1 * (rand() - .5)
        print a "," b "," c "," u "," v "," w "," (k ? "x" : "z") "," y } }' >"$work/seven.csv"
seven="--data $work/seven.csv --actions a,b,c --contexts u,v,w,kind --reward y --range 0:1
    --bounds a=0:1,b=0:1,c=0:1,u=0:1,v=0:1,w=0:1 --levels kind=x|z --lengthscale 0.6,0.6,0.6,0.6,0.6,0.6,1"
# shellcheck disable=SC2086
expect 0 $learn $seven --groups 0,1,2,0,1,2,2 --eps 2 --out "$work/seven.json"
for context in 0.3,0.7,0.2,x 0.3,0.7,0.2,z; do
    expect 0 "$bin/tacet" predict --model "$work/seven.json" --context $context --json
    sed -n 's/.*"action":\[\([^]]*\)\].*/\1/p' "$work/out" | awk -F, -v k="${context##*,}" '
        function far(p, q) { return (p - q) * (p - q) > .0625 }
        { exit far($1, .3) || far($2, .7) || far($3, k == "x" ? .2 : .8) }' || fail "for $context: $(cat "$work/out")"
done
# shellcheck disable=SC2086
expect 2 $learn $seven --groups 0,1,2 --eps 2 --out "$work/no.json"
# shellcheck disable=SC2086
expect 1 $learn $seven --eps 2 --out "$work/no.json" --new-budget test
[ ! -e "$work/no.json" ] || fail "a model was written without groups"
# A ticket keeps the form it was begun in: with the law stated rows are dealt otherwise, and would be read twice.
awk 'BEGIN { print "age"; for (i = 0; i < 73; i++) print 18 + i }' >"$work/flat.csv"
entries=$("$bin/tacet" ledger show --ledger "$work/log.csv.ledger.db" --json | grep -o '"ticket"' | wc -l)
# shellcheck disable=SC2086
expect 1 $learn "$@" --eps 1 --out "$work/other.json" --public-contexts "$work/flat.csv"
cp "$work/log.csv" "$work/stated.csv"
# shellcheck disable=SC2086
expect 0 env TACET_STATE="$work/state2" $learn "$@" --data "$work/stated.csv" --eps 1 --out "$work/stated.json" --public-contexts "$work/flat.csv"
"$bin/tacet" ledger show --ledger "$work/stated.csv.ledger.db" --json >"$work/before"
# shellcheck disable=SC2086
expect 1 env TACET_STATE="$work/state2" $learn "$@" --data "$work/stated.csv" --eps 1 --out "$work/other.json"
"$bin/tacet" ledger show --ledger "$work/stated.csv.ledger.db" --json >"$work/after"
cmp -s "$work/before" "$work/after" || fail "a release of another form was entered under the same ticket"
[ "$entries" = "$("$bin/tacet" ledger show --ledger "$work/log.csv.ledger.db" --json | grep -o '"ticket"' | wc -l)" ] ||
    fail "a refused release has entries"
# One log, one account: another output or a choice finds no budget either.
# shellcheck disable=SC2086
expect 3 $learn "$@" --eps 1 --out "$work/other.json" --ticket other
[ ! -e "$work/other.json" ] || fail "a refused release left a model"
expect 3 "$bin/tacet-lab" choose "$@" --eps 1 --context 54 --grid 9
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
# A release is of its rows in their order: in another one they are dealt to other parts, and would be read twice.
(head -n 1 "$work/log.csv" && tail -n +2 "$work/log.csv" | tac) >"$work/turned.csv"
# shellcheck disable=SC2086
expect 1 $learn "$@" --data "$work/turned.csv" --eps 1 --ledger "$work/log.csv.ledger.db" --out "$work/other.json"
[ ! -e "$work/other.json" ] || fail "a ticket was answered for rows in another order"
# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --out "$work/model.json"
# Gaussian noise, a new ledger.
# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --mechanism gaussian --delta 1e-6 --out "$work/gaussian.json" --ledger "$work/gaussian.ledger" --new-budget "a test" --json
awk -v d="$(number delta)" 'BEGIN { exit !(d > 0.9e-6 && d < 1.1e-6) }' || fail "delta is not reported"
# Euclidean noise with a delta.
# shellcheck disable=SC2086
expect 0 $learn "$@" --eps 1 --mechanism l2 --delta 1e-6 --out "$work/l2.json" --ledger "$work/l2.ledger" --new-budget "a test" --json
awk -v d="$(number delta)" 'BEGIN { exit !(d > 0.9e-6 && d < 1.1e-6) }' || fail "l2: delta is not reported"
"$bin/tacet" ledger show --ledger "$work/l2.ledger" --json | grep -q '"l2"' || fail "l2 is not in the ledger"
# Seeded noise is stamped, touches no ledger, and repeats.
cp "$work/log.csv.ledger.db" "$work/before.ledger"
# shellcheck disable=SC2086
expect 0 $learn "$@" --seed 5 --out "$work/s1.json" --json
{ grep -q '"private":false' "$work/out" && grep -q 'NOT PRIVATE' "$work/err"; } || fail "seeded noise is not stamped"
cmp -s "$work/log.csv.ledger.db" "$work/before.ledger" || fail "seeded noise changed the ledger"
# shellcheck disable=SC2086
expect 0 $learn "$@" --seed 5 --out "$work/s2.json"
cmp -s "$work/s1.json" "$work/s2.json" || fail "the same seed gave another model"

# One choice; the second has no budget left.
expect 0 "$bin/tacet-lab" choose "$@" --eps 1 --context 54 --grid 9 --ledger "$work/choice.ledger" --new-budget "a test" --json
grep -q '"private":true' "$work/out" || fail "the choice is not stamped private"
expect 3 "$bin/tacet-lab" choose "$@" --eps 1 --context 60 --grid 9 --ledger "$work/choice.ledger"
# A ticket answers one context: again the same choice, for another context none.
expect 0 "$bin/tacet-lab" choose "$@" --eps 1 --context 54 --grid 9 --ledger "$work/one.ledger" --ticket visit --new-budget "a test"
expect 0 "$bin/tacet-lab" choose "$@" --eps 1 --context 54.0 --grid 9 --ledger "$work/one.ledger" --ticket visit --new-budget "a test"
expect 1 "$bin/tacet-lab" choose "$@" --eps 1 --context 60 --grid 9 --ledger "$work/one.ledger" --ticket visit
expect 1 "$bin/tacet-lab" choose "$@" --context 91 --ledger "$work/none.ledger" --new-budget "a test"
expect 2 "$bin/tacet-lab" choose "$@" --ledger "$work/none.ledger"

# Actions to try: within bounds, distinct, reproducible by seed.
expect 0 "$bin/tacet" learn actions --bounds 2:3,-1:0 --count 50
[ "$(sort -u "$work/out" | wc -l)" -eq 50 ] || fail "suggestions repeat"
awk -F, '$1 < 2 || $1 > 3 || $2 < -1 || $2 > 0 { exit 1 }' "$work/out" || fail "a suggestion lies outside its bounds"
expect 0 "$bin/tacet" learn actions --bounds 0:1,0:1,0:1,0:1 --count 256 --design sobol --seed 3
# A Sobol sequence puts exactly one of 256 points (shifted: at most a few) in each of 256 intervals, in every coordinate.
for c in 1 2 3 4; do
    [ "$(cut -d, -f$c "$work/out" | awk '{ print int($1 * 256) }' | sort -u | wc -l)" -ge 250 ] || fail "coordinate $c is no Sobol sequence"
done
expect 2 "$bin/tacet" learn actions --bounds 0:1 --design sobol
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
bad 2 'void the proof' "$@" --lengthscale fit
bad 1 'void the proof' "$@" --public-contexts "$work/log.csv"
plain="--data $work/log.csv --actions dose --contexts age --reward outcome --range 0:1 --lengthscale 1.5,25"
# shellcheck disable=SC2086
bad 2 'bounds' $plain --bounds 0:5
bad 2 'LO:HI' "$@" --range 1:0
# shellcheck disable=SC2086
bad 1 "action 'dose' lies outside" $plain --bounds 0:4,18:90
bad 1 'no column' "$@" --reward nothing
head -n 11 "$work/log.csv" >"$work/short.csv"
code=0
# shellcheck disable=SC2086
$learn "$@" --data "$work/short.csv" --out "$work/bad.json" --ledger "$work/short.ledger" >"$work/out" 2>"$work/err" || code=$?
{ [ "$code" -eq 1 ] && grep -q 'too few' "$work/err" && [ ! -e "$work/bad.json" ]; } || fail "ten rows are not refused"
[ ! -e "$work/short.ledger" ] || fail "a ledger was made for a release that is refused"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 * $2 / 5 "," $3 "," $4 }' "$work/log.csv" >"$work/skewed.csv"
# shellcheck disable=SC2086
expect 0 $learn "$@" --data "$work/skewed.csv" --seed 1 --out "$work/skewed.json"
grep -q 'WARNING: column dose was plainly not drawn uniformly' "$work/err" || fail "skewed actions are not warned of"
# Contexts and rewards outside: taken as the nearest within, and nothing that is said or returned tells of them. Both logs
# have the same actions; the second has contexts and rewards far outside.
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 1e6) "," (NR % 7 ? $4 : -1e9) }' "$work/log.csv" >"$work/wild.csv"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 90) "," (NR % 7 ? $4 : 0) }' "$work/log.csv" >"$work/clipped.csv"
for log in log wild clipped; do
    # shellcheck disable=SC2086
    expect 0 $learn "$@" --data "$work/$log.csv" --seed 1 --out "$work/total.json"
    cp "$work/err" "$work/$log.err" && cp "$work/out" "$work/$log.out" && mv "$work/total.json" "$work/$log.json"
done
# (What was measured and released is on stdout: that passed the gate.)
cmp -s "$work/log.err" "$work/wild.err" || fail "what is said depends on contexts or rewards"
cmp -s "$work/wild.json" "$work/clipped.json" || fail "values outside are not taken as the nearest within"
cmp -s "$work/wild.json" "$work/log.json" && fail "contexts and rewards do not matter"
# A dry run tells the holder, stamped, and charges nothing.
cp "$work/wild.csv" "$work/dry.csv"
# shellcheck disable=SC2086
expect 0 $learn "$@" --data "$work/dry.csv" --dry-run --json
{ grep -q 'age: 600 of 3000 rows lie outside, the first is row 4' "$work/err" && grep -q 'DEPENDS ON THE RECORDS' "$work/err"; } ||
    fail "a dry run does not tell"
{ ! grep -q '1000000\|1e' "$work/err" && grep -q '"refused":false' "$work/out"; } || fail "a dry run shows a value, or no outlook"
[ ! -e "$work/dry.csv.ledger.db" ] || fail "a dry run made a ledger"
# A public sample of contexts is another law, and named bounds are bounds.
awk 'BEGIN { print "age"; for (i = 0; i < 40; i++) print 20 + i * 1.7 }' >"$work/public.csv"
# shellcheck disable=SC2086
expect 0 $learn $plain --bounds age=18:90,dose=0:5 --public-contexts "$work/public.csv" --seed 1 --out "$work/public.json"
grep -q WARNING "$work/err" && fail "uniform actions are warned of"

# shellcheck disable=SC2086
expect 0 $learn "$@" --seed 1 --out "$work/even.json"
cmp -s "$work/public.json" "$work/even.json" && fail "the law of contexts does not matter"
expect 0 "$bin/tacet-lab" choose "$@" --public-contexts "$work/public.csv" --seed 1 --context 54 --grid 9 --json
# Predictions: contexts outside, a file that is no model.
expect 1 "$bin/tacet" predict --model "$work/model.json" --context 17
expect 2 "$bin/tacet" predict --model "$work/model.json"
expect 2 "$bin/tacet" predict --model "$work/model.json" --context 20,30
expect 1 "$bin/tacet" predict --model "$work/log.csv" --context 20
expect 1 "$bin/tacet" predict --model "$work/nowhere.json" --context 20
# An A/B log: four variants, three device types, 0/1 outcomes, propensities in a column.
awk 'BEGIN { srand(3); print "variant,device,click,p"; split("A B C D", V, " "); split("0.4 0.3 0.2 0.1", P, " ")
    for (i = 0; i < 20000; i++) { u = rand(); v = u < .4 ? 1 : u < .7 ? 2 : u < .9 ? 3 : 4; u = rand(); d = u < .6 ? 1 : u < .9 ? 2 : 3
        r = .3 + (v == d + 1 ? .2 : 0); print V[v] "," (d == 1 ? "phone" : d == 2 ? "desktop" : "tablet") "," (rand() < r) "," P[v] } }' >"$work/ab.csv"
ab="--data $work/ab.csv --actions variant --contexts device --reward click --range 0:1 --levels variant=A|B|C|D,device=phone|desktop|tablet --propensity p --least-propensity 0.1"
# shellcheck disable=SC2086
expect 0 $learn $ab --eps 1 --out "$work/ab.json" --json
grep -q '"over_logged_is":"better"' "$work/out" || fail "the recommended rule is not told from the logged one"
for pair in phone:B desktop:C tablet:D; do
    expect 0 "$bin/tacet" predict --model "$work/ab.json" --context "${pair%:*}" --json
    grep -q "\"action\":\[\"${pair#*:}\"\]" "$work/out" || fail "on a ${pair%:*} another variant is chosen: $(cat "$work/out")"
done
printf 'device\nphone\ntablet\n' >"$work/visitors.csv"
expect 0 "$bin/tacet" predict --model "$work/ab.json" --data "$work/visitors.csv"
[ "$(sed -n 's/,.*//p' "$work/out" | tr '\n' ' ')" = "variant B D " ] || fail "a file is not predicted row by row"
expect 2 "$bin/tacet" predict --model "$work/ab.json" --context fridge
echo fridge >>"$work/visitors.csv"
expect 1 "$bin/tacet" predict --model "$work/ab.json" --data "$work/visitors.csv"
grep -q 'visitors.csv: row 3: ' "$work/err" || fail "a cell that is no level is not named by its row"
# An action of no level is public and refused; a context of no level is private, and told by a dry run alone.
sed '5s/^[A-D]/E/' "$work/ab.csv" >"$work/ab-action.csv"
# shellcheck disable=SC2086
expect 1 $learn $ab --data "$work/ab-action.csv" --out "$work/other.json"
[ ! -e "$work/ab-action.csv.ledger.db" ] || fail "a refused log has a ledger"
sed '5s/,[a-z]*,/,fridge,/' "$work/ab.csv" >"$work/ab-context.csv"
# shellcheck disable=SC2086
expect 0 $learn $ab --data "$work/ab-context.csv" --seed 1 --out "$work/other.json"
grep -qi 'fridge\|level' "$work/err" && fail "learning tells of a private cell"
# shellcheck disable=SC2086
expect 0 $learn $ab --data "$work/ab-context.csv" --dry-run
grep -q 'device: 1 of 20000 rows have no level, the first is row 4' "$work/err" || fail "a dry run does not tell of levels"

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
expect 1 "$bin/tacet-lab" simulate contextual --kernel linear
echo "learn, choose, suggest and predict do what they say"
