#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# contextual.sh - a private log in, a released model out, predictions by a program that never saw the log; and what is refused.
set -eu
bin=${TACET_BIN:?}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "contextual: $*"; exit 1; }
run() { # CODE ARGS...
    want=$1
    shift
    code=0
    "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
    [ "$code" -eq "$want" ] || { cat "$tmp/out" "$tmp/err"; fail "'$*' exited with $code, expected $want"; }
}
number() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" "$tmp/out"; }

# 3000 rounds: dose in [0, 5], age in [18, 90], best dose rises with age: 1 + 3 (age - 18)/72.
awk 'BEGIN { srand(7); print "id,dose,age,outcome"
    for (i = 0; i < 3000; i++) { x = 5 * rand(); c = 18 + 72 * rand(); b = 1 + 3 * (c - 18) / 72
        y = 0.9 * exp(-(x - b) * (x - b) / 3) + 0.1 * (rand() - 0.5); print i "," x "," c "," y } }' >"$tmp/log.csv"
set -- --data "$tmp/log.csv" --actions dose --contexts age --reward outcome --range 0:1 --bounds 0:5,18:90 --lengthscale 1.5,25
learn="$bin/tacet learn"

# shellcheck disable=SC2086
run 0 $learn "$@" --eps 1 --out "$tmp/model.json" --json
[ "$(number rounds)" = 3000 ] || fail "the number of rounds is not reported"
grep -q '"private":true' "$tmp/out" || fail "the model is not stamped private"
for age in 25 54 83; do
    run 0 "$bin/tacet" predict --model "$tmp/model.json" --context $age --json
    action=$(sed -n 's/.*"action":\[\([0-9.e+-]*\)\].*/\1/p' "$tmp/out")
    awk -v a="$action" -v c=$age 'BEGIN { d = a - (1 + 3 * (c - 18) / 72); if (d < 0) d = -d; exit d > 1 }' ||
        fail "at age $age dose $action is chosen"
done
# The ledger has the stages as one group, whose cost is that of one.
run 0 "$bin/tacet" ledger verify --ledger "$tmp/log.csv.ledger.db" --json
run 0 "$bin/tacet" ledger show --ledger "$tmp/log.csv.ledger.db" --json
grep -q 'stage 1' "$tmp/out" || fail "the ledger does not name the stages"
for field in likely_error outcome_error outcome_at_most; do
    run 0 "$bin/tacet" predict --model "$tmp/model.json" --context 54 --json
    [ -n "$(number $field)" ] || fail "a prediction does not say $field"
done
# The same ticket gives the same model; another one finds no budget.
cp "$tmp/model.json" "$tmp/first.json"
# shellcheck disable=SC2086
run 0 $learn "$@" --eps 1 --out "$tmp/model.json"
cmp -s "$tmp/model.json" "$tmp/first.json" || fail "asking again gave another model"
# shellcheck disable=SC2086
run 3 $learn "$@" --eps 1 --out "$tmp/model.json" --ticket second
cmp -s "$tmp/model.json" "$tmp/first.json" || fail "a refused release changed the model"
# Seven columns, one of them a category: the reward is a sum over groups. The best of each action is its own context.
awk 'BEGIN { srand(8); print "a,b,c,u,v,w,kind,y"
    for (i = 0; i < 12000; i++) { a = rand(); b = rand(); c = rand(); u = rand(); v = rand(); w = rand(); k = rand() < .5
        y = .5 + .4 - .6 * ((a - u) ^ 2 + (b - v) ^ 2 + (c - (k ? w : 1 - w)) ^ 2) + .1 * (rand() - .5)
        print a "," b "," c "," u "," v "," w "," (k ? "x" : "z") "," y } }' >"$tmp/seven.csv"
seven="--data $tmp/seven.csv --actions a,b,c --contexts u,v,w,kind --reward y --range 0:1
    --bounds a=0:1,b=0:1,c=0:1,u=0:1,v=0:1,w=0:1 --levels kind=x|z --lengthscale 0.6,0.6,0.6,0.6,0.6,0.6,1"
# shellcheck disable=SC2086
run 0 $learn $seven --groups 0,1,2,0,1,2,2 --eps 2 --out "$tmp/seven.json"
for context in 0.3,0.7,0.2,x 0.3,0.7,0.2,z; do
    run 0 "$bin/tacet" predict --model "$tmp/seven.json" --context $context --json
    sed -n 's/.*"action":\[\([^]]*\)\].*/\1/p' "$tmp/out" | awk -F, -v k="${context##*,}" '
        function far(p, q) { return (p - q) * (p - q) > .0625 }
        { exit far($1, .3) || far($2, .7) || far($3, k == "x" ? .2 : .8) }' || fail "for $context: $(cat "$tmp/out")"
done
# shellcheck disable=SC2086
run 2 $learn $seven --groups 0,1,2 --eps 2 --out "$tmp/no.json"
# shellcheck disable=SC2086
run 1 $learn $seven --eps 2 --out "$tmp/no.json" --new-budget test
[ ! -e "$tmp/no.json" ] || fail "a model was written without groups"
# A ticket keeps the form it was begun in: with the law stated rows are dealt otherwise, and would be read twice.
printf 'density,age\n1,18\n1,90\n' >"$tmp/flat.csv"
entries=$("$bin/tacet" ledger show --ledger "$tmp/log.csv.ledger.db" --json | grep -o '"ticket"' | wc -l)
# shellcheck disable=SC2086
run 1 $learn "$@" --eps 1 --out "$tmp/other.json" --context-density "$tmp/flat.csv"
cp "$tmp/log.csv" "$tmp/stated.csv"
# shellcheck disable=SC2086
run 0 env TACET_STATE="$tmp/state2" $learn "$@" --data "$tmp/stated.csv" --eps 1 --out "$tmp/stated.json" --context-density "$tmp/flat.csv"
"$bin/tacet" ledger show --ledger "$tmp/stated.csv.ledger.db" --json >"$tmp/before"
# shellcheck disable=SC2086
run 1 env TACET_STATE="$tmp/state2" $learn "$@" --data "$tmp/stated.csv" --eps 1 --out "$tmp/other.json"
"$bin/tacet" ledger show --ledger "$tmp/stated.csv.ledger.db" --json >"$tmp/after"
cmp -s "$tmp/before" "$tmp/after" || fail "a release of another form was entered under the same ticket"
# shellcheck disable=SC2086
run 1 env TACET_STATE="$tmp/state2" $learn "$@" --data "$tmp/stated.csv" --eps 1 --out "$tmp/other.json" --algorithm staged
"$bin/tacet" ledger show --ledger "$tmp/stated.csv.ledger.db" --json >"$tmp/after"
cmp -s "$tmp/before" "$tmp/after" || fail "a staged release was entered under the same ticket"
[ "$entries" = "$("$bin/tacet" ledger show --ledger "$tmp/log.csv.ledger.db" --json | grep -o '"ticket"' | wc -l)" ] ||
    fail "a refused release has entries"
# One log, one account: another output or a choice finds no budget either.
# shellcheck disable=SC2086
run 3 $learn "$@" --eps 1 --out "$tmp/other.json" --ticket other
[ ! -e "$tmp/other.json" ] || fail "a refused release left a model"
run 3 "$bin/tacet" choose "$@" --eps 1 --context 54 --grid 9
# Nor does the log by another name, nor one whose first release named a ledger.
ln -s log.csv "$tmp/alias.csv"
# shellcheck disable=SC2086
run 3 $learn "$@" --data "$tmp/alias.csv" --eps 1 --out "$tmp/other.json" --ticket other
cp "$tmp/log.csv" "$tmp/named.csv"
# shellcheck disable=SC2086
run 3 $learn "$@" --data "$tmp/named.csv" --eps 1 --out "$tmp/named.json" --ledger "$tmp/named.ledger"
grep -q "100 % of these rows were released before .*ticket 'model'.*log.csv.ledger.db" "$tmp/err" || fail "a copy of the log is not known: $(cat "$tmp/err")"
# shellcheck disable=SC2086
run 0 $learn "$@" --data "$tmp/named.csv" --eps 1 --out "$tmp/named.json" --ledger "$tmp/named.ledger" --new-budget "a test"
"$bin/tacet" ledger show --ledger "$tmp/named.ledger" --json | grep -q 'new budget: a test' || fail "the reason for a new budget is not in the ledger"
# shellcheck disable=SC2086
run 3 $learn "$@" --data "$tmp/named.csv" --eps 1 --out "$tmp/other.json" --ticket other
[ ! -e "$tmp/other.json" ] || fail "a refused release left a model"
# A release that was begun is gone on with from the rows it was begun with: in another order they are dealt to other stages.
begun=$tmp/log.csv.$(printf model | b2sum -l 128 | cut -d ' ' -f 1).begun
[ ! -e "$begun" ] || fail "a finished release left $begun"
printf %064d 0 >"$begun" # as an interrupted one would leave it, of other rows
# shellcheck disable=SC2086
run 1 $learn "$@" --eps 1 --out "$tmp/other.json"
grep -q 'another order' "$tmp/err" || fail "a release goes on from other rows"
[ -e "$begun" ] || fail "the note of a release that was begun is gone"
rm "$begun"
# shellcheck disable=SC2086
run 0 $learn "$@" --eps 1 --out "$tmp/model.json"
# Gaussian noise, one release, a new ledger.
# shellcheck disable=SC2086
run 0 $learn "$@" --eps 1 --algorithm release --mechanism gaussian --delta 1e-6 --out "$tmp/gaussian.json" --ledger "$tmp/gaussian.ledger" --new-budget "a test" --json
awk -v d="$(number delta)" 'BEGIN { exit !(d > 0.9e-6 && d < 1.1e-6) }' || fail "delta is not reported"
# The default algorithm with a delta: Euclidean noise.
# shellcheck disable=SC2086
run 0 $learn "$@" --eps 1 --mechanism l2 --delta 1e-6 --out "$tmp/l2.json" --ledger "$tmp/l2.ledger" --new-budget "a test" --json
awk -v d="$(number delta)" 'BEGIN { exit !(d > 0.9e-6 && d < 1.1e-6) }' || fail "l2: delta is not reported"
"$bin/tacet" ledger show --ledger "$tmp/l2.ledger" --json | grep -q '"l2"' || fail "l2 is not in the ledger"
# Seeded noise is stamped, touches no ledger, and repeats.
cp "$tmp/log.csv.ledger.db" "$tmp/before.ledger"
# shellcheck disable=SC2086
run 0 $learn "$@" --seed 5 --out "$tmp/s1.json" --json
{ grep -q '"private":false' "$tmp/out" && grep -q 'NOT PRIVATE' "$tmp/err"; } || fail "seeded noise is not stamped"
cmp -s "$tmp/log.csv.ledger.db" "$tmp/before.ledger" || fail "seeded noise changed the ledger"
# shellcheck disable=SC2086
run 0 $learn "$@" --seed 5 --out "$tmp/s2.json"
cmp -s "$tmp/s1.json" "$tmp/s2.json" || fail "the same seed gave another model"

# One choice, both ways; the second choice has no budget left.
for algorithm in range published; do
    run 0 "$bin/tacet" choose "$@" --eps 1 --context 54 --algorithm $algorithm --grid 9 --ledger "$tmp/$algorithm.ledger" --new-budget "a test" --json
    grep -q '"private":true' "$tmp/out" || fail "the choice is not stamped private"
    run 3 "$bin/tacet" choose "$@" --eps 1 --context 60 --algorithm $algorithm --grid 9 --ledger "$tmp/$algorithm.ledger"
done
# A ticket answers one context: again the same choice, for another context none.
run 0 "$bin/tacet" choose "$@" --eps 1 --context 54 --grid 9 --ledger "$tmp/one.ledger" --ticket visit --new-budget "a test"
run 0 "$bin/tacet" choose "$@" --eps 1 --context 54.0 --grid 9 --ledger "$tmp/one.ledger" --ticket visit --new-budget "a test"
run 1 "$bin/tacet" choose "$@" --eps 1 --context 60 --grid 9 --ledger "$tmp/one.ledger" --ticket visit
run 1 "$bin/tacet" choose "$@" --context 91 --ledger "$tmp/none.ledger" --new-budget "a test"
run 2 "$bin/tacet" choose "$@" --ledger "$tmp/none.ledger"

# Actions to try: within bounds, distinct, reproducible by seed.
run 0 "$bin/tacet" learn actions --bounds 2:3,-1:0 --count 50
[ "$(sort -u "$tmp/out" | wc -l)" -eq 50 ] || fail "suggestions repeat"
awk -F, '$1 < 2 || $1 > 3 || $2 < -1 || $2 > 0 { exit 1 }' "$tmp/out" || fail "a suggestion lies outside its bounds"
run 0 "$bin/tacet" learn actions --bounds 0:1,0:1,0:1,0:1 --count 256 --design sobol --seed 3
# A Sobol sequence puts exactly one of 256 points (shifted: at most a few) in each of 256 intervals, in every coordinate.
for c in 1 2 3 4; do
    [ "$(cut -d, -f$c "$tmp/out" | awk '{ print int($1 * 256) }' | sort -u | wc -l)" -ge 250 ] || fail "coordinate $c is no Sobol sequence"
done
run 2 "$bin/tacet" learn actions --bounds 0:1 --design sobol
run 2 "$bin/tacet" learn actions --bounds 1:0

# Bad input: nothing is written, nothing is spent.
bad() { # CODE WORDS ARGS...
    want=$1
    words=$2
    shift 2
    rm -f "$tmp/bad.json" "$tmp/bad.ledger"
    # shellcheck disable=SC2086
    run "$want" $learn "$@" --out "$tmp/bad.json" --ledger "$tmp/bad.ledger"
    grep -q "$words" "$tmp/err" || { cat "$tmp/err"; fail "no word of '$words'"; }
    { [ ! -e "$tmp/bad.json" ] && [ ! -e "$tmp/bad.ledger" ]; } || fail "something was written for '$words'"
}
bad 2 'eps must be above 0' "$@" --eps 0
bad 2 'eps must be above 0' "$@" --eps -1
bad 2 'void the proof' "$@" --lengthscale fit
bad 1 'void the proof' "$@" --public-contexts "$tmp/log.csv"
plain="--data $tmp/log.csv --actions dose --contexts age --reward outcome --range 0:1 --lengthscale 1.5,25"
# shellcheck disable=SC2086
bad 2 'bounds' $plain --bounds 0:5
bad 2 'LO:HI' "$@" --range 1:0
# shellcheck disable=SC2086
bad 1 "action 'dose' lies outside" $plain --bounds 0:4,18:90
bad 1 'no column' "$@" --reward nothing
head -n 11 "$tmp/log.csv" >"$tmp/short.csv"
code=0
# shellcheck disable=SC2086
$learn "$@" --data "$tmp/short.csv" --out "$tmp/bad.json" --ledger "$tmp/short.ledger" >"$tmp/out" 2>"$tmp/err" || code=$?
{ [ "$code" -eq 1 ] && grep -q 'too few' "$tmp/err" && [ ! -e "$tmp/bad.json" ]; } || fail "ten rows are not refused"
[ ! -e "$tmp/short.ledger" ] || fail "a ledger was made for a release that is refused"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 * $2 / 5 "," $3 "," $4 }' "$tmp/log.csv" >"$tmp/skewed.csv"
# shellcheck disable=SC2086
run 0 $learn "$@" --data "$tmp/skewed.csv" --seed 1 --out "$tmp/skewed.json"
grep -q 'WARNING: column dose was plainly not drawn uniformly' "$tmp/err" || fail "skewed actions are not warned of"
# Contexts and rewards outside: taken as the nearest within, and nothing that is said or returned tells of them. Both logs
# have the same actions; the second has contexts and rewards far outside.
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 1e6) "," (NR % 7 ? $4 : -1e9) }' "$tmp/log.csv" >"$tmp/wild.csv"
awk -F, 'NR == 1 { print } NR > 1 { print $1 "," $2 "," (NR % 5 ? $3 : 90) "," (NR % 7 ? $4 : 0) }' "$tmp/log.csv" >"$tmp/clipped.csv"
for log in log wild clipped; do
    # shellcheck disable=SC2086
    run 0 $learn "$@" --data "$tmp/$log.csv" --seed 1 --out "$tmp/total.json"
    cp "$tmp/err" "$tmp/$log.err" && cp "$tmp/out" "$tmp/$log.out" && mv "$tmp/total.json" "$tmp/$log.json"
done
# (What was measured and released is on stdout: that passed the gate.)
cmp -s "$tmp/log.err" "$tmp/wild.err" || fail "what is said depends on contexts or rewards"
cmp -s "$tmp/wild.json" "$tmp/clipped.json" || fail "values outside are not taken as the nearest within"
cmp -s "$tmp/wild.json" "$tmp/log.json" && fail "contexts and rewards do not matter"
# A dry run tells the holder, stamped, and charges nothing.
cp "$tmp/wild.csv" "$tmp/dry.csv"
# shellcheck disable=SC2086
run 0 $learn "$@" --data "$tmp/dry.csv" --dry-run --json
{ grep -q 'age: 600 of 3000 rows lie outside, the first is row 4' "$tmp/err" && grep -q 'DEPENDS ON THE RECORDS' "$tmp/err"; } ||
    fail "a dry run does not tell"
{ ! grep -q '1000000\|1e' "$tmp/err" && grep -q '"refused":false' "$tmp/out"; } || fail "a dry run shows a value, or no outlook"
[ ! -e "$tmp/dry.csv.ledger.db" ] || fail "a dry run made a ledger"
# A public sample of contexts is another law, and named bounds are bounds.
awk 'BEGIN { print "age"; for (i = 0; i < 40; i++) print 20 + i * 1.7 }' >"$tmp/public.csv"
# shellcheck disable=SC2086
run 0 $learn $plain --bounds age=18:90,dose=0:5 --public-contexts "$tmp/public.csv" --seed 1 --out "$tmp/public.json"
grep -q WARNING "$tmp/err" && fail "uniform actions are warned of"

# A table of their density is another: on a grid, in any order; what is no density is refused.
printf 'density,age\n1,18\n0,90\n4,40\n2,60\n' >"$tmp/density.csv"
# shellcheck disable=SC2086
run 0 $learn "$@" --context-density "$tmp/density.csv" --seed 1 --out "$tmp/density.json"
# shellcheck disable=SC2086
run 0 $learn "$@" --seed 1 --out "$tmp/even.json"
cmp -s "$tmp/density.json" "$tmp/even.json" && fail "the density of contexts does not matter"
run 0 "$bin/tacet" choose "$@" --context-density "$tmp/density.csv" --seed 1 --context 54 --grid 9 --json
bad 1 'void the proof' "$@" --context-density "$tmp/log.csv"
bad 1 'not both' "$@" --context-density "$tmp/density.csv" --public-contexts "$tmp/public.csv"
printf 'density,age\n1,18\n-1,90\n' >"$tmp/negative.csv"
bad 1 'row 2 of the densities' "$@" --context-density "$tmp/negative.csv"
printf 'density,age\n1,18\n2,18\n' >"$tmp/twice.csv"
bad 1 'no full grid' "$@" --context-density "$tmp/twice.csv"
bad 1 'no column' "$@" --context-density "$tmp/public.csv"

# Predictions: contexts outside, a file that is no model.
run 1 "$bin/tacet" predict --model "$tmp/model.json" --context 17
run 2 "$bin/tacet" predict --model "$tmp/model.json"
run 2 "$bin/tacet" predict --model "$tmp/model.json" --context 20,30
run 1 "$bin/tacet" predict --model "$tmp/log.csv" --context 20
run 1 "$bin/tacet" predict --model "$tmp/nowhere.json" --context 20
# An A/B log: four variants, three device types, 0/1 outcomes, propensities in a column.
awk 'BEGIN { srand(3); print "variant,device,click,p"; split("A B C D", V, " "); split("0.4 0.3 0.2 0.1", P, " ")
    for (i = 0; i < 20000; i++) { u = rand(); v = u < .4 ? 1 : u < .7 ? 2 : u < .9 ? 3 : 4; u = rand(); d = u < .6 ? 1 : u < .9 ? 2 : 3
        r = .3 + (v == d + 1 ? .2 : 0); print V[v] "," (d == 1 ? "phone" : d == 2 ? "desktop" : "tablet") "," (rand() < r) "," P[v] } }' >"$tmp/ab.csv"
ab="--data $tmp/ab.csv --actions variant --contexts device --reward click --range 0:1 --levels variant=A|B|C|D,device=phone|desktop|tablet --propensity p --least-propensity 0.1"
# shellcheck disable=SC2086
run 0 $learn $ab --eps 1 --out "$tmp/ab.json" --json
grep -q '"recommended_is":"better"' "$tmp/out" || fail "the recommended rule is not told from the logged one"
for pair in phone:B desktop:C tablet:D; do
    run 0 "$bin/tacet" predict --model "$tmp/ab.json" --context "${pair%:*}" --json
    grep -q "\"action\":\[\"${pair#*:}\"\]" "$tmp/out" || fail "on a ${pair%:*} another variant is chosen: $(cat "$tmp/out")"
done
printf 'device\nphone\ntablet\n' >"$tmp/visitors.csv"
run 0 "$bin/tacet" predict --model "$tmp/ab.json" --data "$tmp/visitors.csv"
[ "$(sed -n 's/,.*//p' "$tmp/out" | tr '\n' ' ')" = "variant B D " ] || fail "a file is not predicted row by row"
run 2 "$bin/tacet" predict --model "$tmp/ab.json" --context fridge
# An action of no level is public and refused; a context of no level is private, and told by a dry run alone.
sed '5s/^[A-D]/E/' "$tmp/ab.csv" >"$tmp/ab-action.csv"
# shellcheck disable=SC2086
run 1 $learn $ab --data "$tmp/ab-action.csv" --out "$tmp/other.json"
[ ! -e "$tmp/ab-action.csv.ledger.db" ] || fail "a refused log has a ledger"
sed '5s/,[a-z]*,/,fridge,/' "$tmp/ab.csv" >"$tmp/ab-context.csv"
# shellcheck disable=SC2086
run 0 $learn $ab --data "$tmp/ab-context.csv" --seed 1 --out "$tmp/other.json"
grep -qi 'fridge\|level' "$tmp/err" && fail "learning tells of a private cell"
# shellcheck disable=SC2086
run 0 $learn $ab --data "$tmp/ab-context.csv" --dry-run
grep -q 'device: 1 of 20000 rows have no level, the first is row 4' "$tmp/err" || fail "a dry run does not tell of levels"

# The simulation, small: the same seed repeats; staged beats the published algorithm, which beats choosing blindly.
error() { sed -n 's/.*"error":{"mean":\([0-9.e-]*\),"se".*/\1/p' "$tmp/out"; }
run 0 "$bin/tacet" simulate contextual --algorithm staged --rounds 1000 --trials 4 --seed 1 --json
staged=$(error)
run 0 "$bin/tacet" simulate contextual --algorithm staged --rounds 1000 --trials 4 --seed 1 --json
[ "$staged" = "$(error)" ] || fail "the same seed gave another error"
run 0 "$bin/tacet" simulate contextual --algorithm range --rounds 1000 --trials 4 --seed 1 --json
range=$(error)
run 0 "$bin/tacet" simulate contextual --algorithm published --rounds 1000 --trials 4 --seed 1 --json
published=$(error)
run 0 "$bin/tacet" simulate contextual --algorithm uniform --rounds 1000 --trials 4 --seed 1 --json
awk -v s="$staged" -v r="$range" -v p="$published" -v u="$(error)" 'BEGIN { exit !(s > 0 && s < r && r < p / 2 && p < u) }' ||
    fail "staged $staged, range $range, published $published, uniform $(error)"
run 0 "$bin/tacet" simulate contextual --algorithm faithful --rounds 300 --eps 10 --trials 2 --seed 1 --json
grep -q '"approximating_points":' "$tmp/out" || fail "the size of the approximating set is not reported"
run 2 "$bin/tacet" simulate contextual --eps 0
run 1 "$bin/tacet" simulate contextual --kernel linear
echo "learn, choose, suggest and predict do what they say"
