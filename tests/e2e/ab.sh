#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ab.sh - an A/B log as people use it: the simulator's figures from a file, a month more, a second metric, the sample
# ratio, the page for whoever decides, and the time a large table takes.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"
TACET_STATE=$work/state
export TACET_STATE
width() { # FIELD FILE: of an interval
    sed -n "s/.*\"$1\":{\"estimate\":[-0-9.e+]*,\"lower\":\([-0-9.e+]*\),\"upper\":\([-0-9.e+]*\)}.*/\1 \2/p" "$2" | awk '{ print $2 - $1 }'
}
same() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a > 0 && (a - b) ^ 2 < 1e-10 * a * a) }'; }

# Logs of two worlds, written by the simulator and learnt from as any file is: its figures.
levels='action=0|1|2|3|4,column1=0|1|2|3|4|5'
for world in main sparse; do
    expect 0 "$bin/tacet-lab" simulate ab --world $world --trials 1 --seed 77 --out $world.csv --json
    cp out simulated
    expect 0 "$tacet" learn --data $world.csv --actions action --contexts column1 --reward reward --range 0:1 --levels "$levels" --noise-seed 77 --out $world.json --split 1,1,1,1,1 --json
    for pair in value:rule over_uniform:over_uniform over_logged:over_logged; do
        told=$(sed -n "s/.*\"${pair%:*}\":{\"covers\":[0-9.]*,\"width\":\([-0-9.e+]*\)}.*/\1/p" simulated)
        same "$told" "$(width "${pair#*:}" out)" || fail "$world: ${pair%:*} is $told wide in the simulator, $(width "${pair#*:}" out) learnt from its file"
    done
    grep -q '"as_planned":true' out || fail "even logging is called a mismatch: $(cat out)"
done
# Shown 1.1 times as often as planned: a fault of the experiment, and said before anything is believed.
awk -F, 'NR == 1 || $1 != 0 || ++n % 10 != 0' main.csv >fewer.csv
expect 0 "$tacet" learn --data fewer.csv --actions action --contexts column1 --reward reward --range 0:1 --levels "$levels" --noise-seed 77 --out fewer.json --split 1,1,1,1,1
grep -q 'sample ratio: MISMATCH' out || fail "a tenth of an action's rows is gone, and nothing is said: $(cat out)"
expect 1 "$tacet" learn --data fewer.csv --actions action --contexts column1 --reward reward --range 0:1 --levels "$levels" --noise-seed 77 --out none.json --split 1,1
expect 0 "$tacet" learn --data fewer.csv --actions action --contexts column1 --reward reward --range=-1:1 --levels "$levels" --noise-seed 77 --out below.json
tr -d ' \n' <below.json | grep -q '"range":\[-1.0,1.0\]' || fail "the range's low end is another one"
[ ! -e none.json ] || fail "a model was made before the split was refused"

# A month, then the next one. Visitors have numbers, so that a row is known again.
month() { # SEED FIRST
    awk -v seed="$1" -v first="$2" 'BEGIN { srand(seed); for (i = 0; i < 2000; i++) { v = rand() < .5 ? "A" : "B"
        c = rand() < (v == "A" ? .1 : .2); print first + i "," v "," c "," (c ? int(1 + 50 * rand()) : 0) } }'
}
{ echo visit,variant,click,spent; month 1 0; } >may.csv
{ echo visit,variant,click,spent; month 2 2000; } >june.csv
{ echo visit,variant,click,spent; month 3 4000; } >july.csv
{ cat may.csv; tail -n +2 june.csv; } >grown.csv
{ cat may.csv; tail -n +2 july.csv; } >mixed.csv
learn() { # CODE DATA REWARD RANGE TICKET OPTIONS...
    want=$1 data=$2 reward=$3 range=$4 ticket=$5
    shift 5
    expect "$want" "$tacet" learn --data "$data" --actions variant --levels 'variant=A|B' --reward "$reward" --range "$range" --eps 1 --ticket "$ticket" --out "$data.$ticket.json" "$@"
}
spent() { "$tacet" ledger show --ledger "$1" --json | sed -n 's/.*"spent":\([0-9.]*\).*/\1/p'; }
costs() { # LEDGER EPS WORDS
    awk -v s="$(spent "$1")" -v want="$2" 'BEGIN { exit !(s > want - .01 && s < want + .01) }' || fail "$3: $(spent "$1") spent, expected $2"
}
learn 0 may.csv click 0:1 clicks --budget-eps 4
# A second metric of the same rows is charged to the same ledger, and the two add up.
learn 0 may.csv spent 0:1000 spending
costs may.csv.ledger.db 2 "two metrics"
# New rows: a ledger of their own, where nothing adds up because no row is in two; or a new ticket of May's.
learn 0 july.csv click 0:1 clicks
costs july.csv.ledger.db 1 "new rows"
learn 0 june.csv click 0:1 june --ledger may.csv.ledger.db
costs may.csv.ledger.db 3 "new rows in an old ledger"
# The grown log: half of its rows were released before. Refused, with the ledger's name; there it is charged again.
learn 3 grown.csv click 0:1 grown
grep -q 'released before' err && grep -q 'may.csv.ledger.db' err || fail "known rows are not named: $(cat err)"
learn 0 grown.csv click 0:1 grown --ledger may.csv.ledger.db
costs may.csv.ledger.db 4 "known rows again"
learn 3 grown.csv click 0:1 again --ledger may.csv.ledger.db
# Rows of two ledgers in one release would be missing from one of them: refused in both.
learn 3 mixed.csv click 0:1 mixed --ledger may.csv.ledger.db
learn 3 mixed.csv click 0:1 mixed --ledger july.csv.ledger.db

# The page: the rule in words, the bars, the table; nothing of it from the file's own claims, which anybody could write.
sed 's/"estimate": *[-0-9.e+]*/"estimate":9.75/g' main.json >told.json
expect 0 "$tacet" report --in told.json --out page.html
for words in 'The rule below earns between' 'What to show to whom' 'What each earns with whom' '3 for all' 'not protected' 'NOT DIFFERENTIALLY PRIVATE'; do
    grep -qF "$words" page.html || fail "the page does not say: $words"
done
grep -q '9\.75' page.html && fail "the page believes what is written in the file"
# A mean reward lies within the public range, and so does its bar, however large the noise.
sed 's/"scale": *[0-9.]*/"scale":40/' main.json >loud.json
expect 0 "$tacet" report --in loud.json --out loud.html
grep -q 'from 0 to' loud.html && ! grep -q 'from -[0-9.]* to' loud.html || fail "a bar leaves the range: $(grep -o 'from -[0-9.]* to' loud.html | head -n 3)"
sed 's/"scale": *[0-9.]*/"scale":-1/' main.json >bad.json
expect 1 "$tacet" report --in bad.json --out bad.html

# Ten times the cells: near ten times the time, not a thousand times.
seconds() { # LEVELS: of processor
    ( "$bin/tacet-lab" simulate ab --shape "$1" --trials 1 --rows 20000 --seed 3 >/dev/null; times ) | awk 'NR == 2 { split($1, t, /[ms]/); print 60 * t[1] + t[2] }'
}
small=$(seconds 20,50)
large=$(seconds 100,100)
awk -v s="$small" -v l="$large" 'BEGIN { exit !(s > 0 && l < 60 * s) }' || fail "10,000 cells take $large s of processor, 1,000 take $small"
echo "a log, its months, metrics and page do what they say; 10,000 cells: $large s of processor, 1,000: $small"
