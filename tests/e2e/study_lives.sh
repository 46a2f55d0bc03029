#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# study_lives.sh - studies that live: several suggestions at once, a failed evaluation, what is served after the last round,
# more rounds where they cost nothing, a new study from a released model, and one that begins with earlier values.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
study() { command=$1; shift; "$bin/tacet" study "$command" --store st "$@"; }
tickets() { grep -o '"ticket":"[^"]*"' | cut -d'"' -f4; }
cat >tune.json <<'JSON'
{"columns":[{"name":"rate","kind":"log","bounds":[1e-5,1]},{"name":"layers","kind":"integer","bounds":[1,8]},
{"name":"optimizer","kind":"category","levels":["sgd","adam","lion"]}]}
JSON

# --- a central study over a space: batches of suggestions, the last model, a study that begins with it
study create --name tune --trust central --eps 20 --delta 1e-6 --space tune.json --rounds 90 >/dev/null
score() { awk -v r="$1" -v o="$2" 'BEGIN { d = log(r / 0.01) / log(10); s = 0.9 - 0.4 * (o != "adam") - 0.1 * d * d; print s < 0 ? 0 : s }'; }
left=90
while [ $left -gt 0 ]; do
    study suggest --study tune --count 64 --json >many
    count=$(tickets <many | wc -l)
    [ "$count" -gt 1 ] || fail "one suggestion for a count of 64: $(cat many)"
    left=$((left - count))
    while read -r ticket rate optimizer; do
        study observe --study tune --ticket "$ticket" --value "$(score "$rate" "$optimizer")" >/dev/null
    done < <(sed 's/{"ticket"/\n{"ticket"/g' many | sed -n 's/.*"ticket":"\([^"]*\)".*"rate":\([^,]*\),.*"optimizer":"\([a-z]*\)".*/\1 \2 \3/p')
done
study suggest --study tune --json >last
grep -q '"last":true' last && ! grep -q ticket last || fail "after the last round: $(cat last)"
grep -q '"optimizer":"adam"' last || fail "the last model recommends another optimizer: $(cat last)"
study status --study tune | grep -q ' 0 rounds left' || fail "rounds are left"
code=0; study extend --study tune --rounds 200 2>err || code=$?
[ $code -eq 1 ] && grep -q -e '--from MODEL' err || fail "a stream has more rounds than it was charged for: $code"
study release --study tune --out model.json >/dev/null
"$bin/tacet" predict --model model.json >best
grep -q '^best action .* [1-8] adam,' best || fail "a prediction that is no record of the space: $(cat best)"
study create --name next --trust central --eps 1 --delta 1e-6 --space tune.json --rounds 50 --from model.json >/dev/null 2>err || fail "no study from a model"
study suggest --study next --count 20 --json >many
adam=$(grep -o '"optimizer":"adam"' many | wc -l)
[ "$adam" -ge 14 ] || fail "a study from a model that knows better begins with adam $adam times of 20"
ledger=$("$bin/tacet" ledger show --ledger st/ledger-next.db --json)
echo "$ledger" | grep -q '"budget_eps": *1[,.}]' || fail "the new study has no budget of its own: $ledger"
sed 's/lion/rmsprop/' tune.json >other.json
code=0; study create --name no --trust central --eps 1 --delta 1e-6 --space other.json --rounds 50 --from model.json 2>err || code=$?
[ $code -eq 2 ] && grep -q 'another space' err || fail "a model of another space passes"
study suggest --study next --json | tickets >one
study observe --study next --ticket "$(cat one)" --failed >/dev/null || fail "a failure is refused"
study status --study next --json | grep -q '"observed": *1[,}]' || fail "a failed round does not count"

# --- a local study: more rounds, also for a policy that was saved before; earlier values
study create --name box --trust local --eps 8 --bounds x=0:10 --rounds 40 --field domain.candidates=32 >/dev/null
play() { # STUDY ROUNDS
    for _ in $(seq "$2"); do
        study suggest --study "$1" --json >one
        "$bin/tacet" device report --ticket "$(tickets <one)" --value "$(sed 's/.*"x":\([^},]*\).*/\1/' one | awk '{ d = ($1 - 7) / 5; print 1 - d * d }')" \
            --range 0:1 --eps 8 --ledger device.ledger --budget-eps 10000 >report
        study observe --study "$1" --ticket "$(tickets <one)" --value "$(cat report)" >/dev/null
    done
}
play box 40
study suggest --study box --json | grep -q '"last":true' || fail "the rounds are not over"
study extend --study box --rounds 50 >/dev/null
study status --study box | grep -q ' 10 rounds left' || fail "no more rounds: $(study status --study box)"
play box 10
study suggest --study box --json >last
x=$(sed 's/.*"x":\([^},]*\).*/\1/' last)
awk "BEGIN { exit !($x > 5 && $x < 9) }" || fail "after 50 rounds the best is $x, not about 7"
code=0; study extend --study box --rounds 50 2>err || code=$?
[ $code -eq 2 ] || fail "as many rounds as there are: $code"
printf 'x,value\n1,0.1\n4,0.6\n7,1\n9.5,0.7\n' >earlier.csv
study create --name warm --trust local --eps 8 --bounds x=0:10 --rounds 40 --field domain.candidates=32 --earlier earlier.csv >/dev/null
study suggest --study warm --json >one
x=$(sed 's/.*"x":\([^},]*\).*/\1/' one)
awk "BEGIN { exit !($x > 3.5 && $x < 10) }" || fail "earlier values are not learnt from: $x"
study release --study warm --out warm.json >/dev/null && grep -q '"point"' warm.json || fail "no release"
printf 'x,value\n11,0.1\n' >bad.csv
code=0; study create --name bad --trust local --eps 8 --bounds x=0:10 --earlier bad.csv 2>err || code=$?
[ $code -eq 2 ] && grep -q "'x'" err || fail "a value outside the space passes: $code"
study create --name moma --trust local --policy moma --eps 8 --bounds x=0:10 --rounds 4000 --field domain.candidates=8 >/dev/null
code=0; study extend --study moma --rounds 5000 2>err || code=$?
[ $code -eq 1 ] && grep -q 'epochs' err || fail "moma has more rounds: $code"

# --- contexts in epochs: more rounds go on where the study was
printf 'x\n0\n0.5\n1\n' >arms.csv
study create --name visits --trust central --policy contextual --eps 20 --points arms.csv --inputs x --bounds age=0:1 --contexts age --rounds 110 >/dev/null
while study suggest --study visits --context 0.3 --count 64 --json >many && ! grep -q '"last":true' many; do
    for ticket in $(tickets <many); do study observe --study visits --ticket "$ticket" --value 1 >/dev/null; done
done
grep -q '"last":true' many || fail "no last model in a context: $(cat many)"
study extend --study visits --rounds 130 >/dev/null 2>err || fail "a contextual study has no more rounds"
study suggest --study visits --context 0.3 --count 64 --json >many
[ "$(tickets <many | wc -l)" -eq 20 ] || fail "not 20 more rounds: $(cat many)"
# --- a shop: variants, and visitors of types and ages; an epoch ends, and the next one asks
study create --name shop --trust central --policy contextual --eps 100 --rounds 400 --yes --levels 'variant=A|B|C,type=phone|desktop' \
    --bounds age=18:90 --contexts type,age >created || fail "no study over categories"
for context in age=44,type=phone desktop,80; do
    study suggest --study shop --context "$context" --count 64 --json >many || fail "no round in $context"
    for ticket in $(tickets <many); do study observe --study shop --ticket "$ticket" --value 1 >/dev/null; done
done
for context in phone phone,44,1 age=44,kind=phone fridge,44 -0.5,0.3; do
    code=0; study suggest --study shop --context "$context" >many 2>err || code=$?
    [ $code -eq 2 ] && grep -q 'type' err && ! grep -q fridge err || fail "a context of $context: $code, $(cat err)"
done
code=0; study create --name no --trust central --policy contextual --eps 1 --bounds age=18:90 --levels 'variant=A|B' --contexts sex 2>err || code=$?
[ $code -eq 2 ] && grep -q -e "--contexts: .*'sex'" err || fail "a context that is no column: $code, $(cat err)"
study release --study shop --out shop-model.json >/dev/null || fail "no model of a shop"
"$bin/tacet" predict --model shop-model.json --context phone,44 --json >best || fail "no prediction for a shop: $(cat best)"
grep -q '"action":\["[ABC]"\]' best || fail "no variant: $(cat best)"
code=0; study create --name no --trust central --policy contextual --eps 100 --delta 1e-6 --yes --points arms.csv --inputs x --bounds age=0:1 --contexts age --rounds 40 2>err || code=$?
[ $code -eq 2 ] && grep -q 'pure eps' err || fail "a contextual study takes a delta: $code, $(cat err)"
if study status | grep -q '^bad\|^no '; then fail "a study that was refused has its name"; fi
echo "studies go on, end, begin again and remember"
