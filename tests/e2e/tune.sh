#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tune.sh - tuning as a person runs it: a preview, a run, killed again and again in the middle and gone on with; what is
# told and what is not; wrong programs; the budget.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
cd "$work"

# 800 records; one is right where its number lies below the setting's mean, best at x = 0.7 and kind b. The last one
# always fails. Each evaluation is noted; from the number in `hold` on it does not end while the run lives.
cat >score.sh <<'SH'
#!/bin/sh
read -r setting
echo "$setting" >>evaluated
while [ -e hold ] && [ "$(wc -l <evaluated)" -ge "$(cat hold)" ] && kill -0 "$PPID" 2>/dev/null; do sleep 0.02; done
x=${setting#*\"x\":}
x=${x%%[,\}]*}
kind=${setting#*\"kind\":\"}
kind=${kind%%\"*}
awk -v x="$x" -v kind="$kind" 'BEGIN {
    mean = 0.9 - (x - 0.7) * (x - 0.7) - (kind == "b" ? 0 : 0.3)
    for (i = 0; i < 799; i++) print ((i * 7919) % 800 + 0.5) / 800 < mean ? 1 : 0
    print "nan"
}'
SH
chmod +x score.sh
options="--bounds x=0:1 --levels kind=a|b|c --records 800 --range 0:1 --evaluations 24 --workers 2"
# shellcheck disable=SC2086 # a list of options
tune() { "$bin/tacet" tune $options "$@"; }

expect 0 tune --dry-run --json
[ "$(number strength)" = 640.0 ] || [ "$(number strength)" = 640 ] || fail "the preview does not count searched records"
grep -q '"settings": *17' out || fail "the preview's rounds"
[ ! -e tune.state ] && [ ! -e tune.ledger.db ] || fail "a preview leaves something"
margin=$(number margin)
expect 0 tune --dry-run --json --range -1:0
[ "$(number margin)" = "$margin" ] || fail "the range of losses is another one: $(number margin), not $margin"
expect 0 tune --dry-run --kept 0
grep -q '^round 1: ' out || fail "no rounds in a preview without a score"
expect 2 tune
grep -q -- '--evaluate CMD' err || fail "no word of --evaluate"

# Killed wherever it is, until it ends: every setting is evaluated until it is told, and told once.
: >evaluated
tries=0
code=137
while [ "$code" != 0 ]; do
    tries=$((tries + 1))
    held=$(($(wc -l <evaluated) + 4))
    rm -f hold
    [ "$tries" -gt 4 ] || echo "$held" >hold
    # shellcheck disable=SC2086
    "$bin/tacet" tune $options --evaluate ./score.sh --json >out 2>err </dev/null &
    server=$!
    if [ -e hold ]; then # an evaluation is out, and stays out
        while [ "$(wc -l <evaluated)" -lt "$held" ] && kill -0 "$server" 2>/dev/null; do sleep 0.02; done
        kill -9 "$server" 2>/dev/null || true
    fi
    code=0
    wait "$server" || code=$?
    server=""
    [ "$code" = 0 ] || [ "$code" = 137 ] || fail "run $tries: exit code $code, $(cat err)"
    [ "$tries" -lt 6 ] || fail "the run does not come to its end: $(cat err)"
done
[ "$tries" -eq 5 ] || fail "the run was killed $((tries - 1)) times, not 4"
[ "$(wc -l <evaluated)" -gt 24 ] || fail "nothing was interrupted: $(wc -l <evaluated) evaluations"
cp out first
best=$(number x)
grep -q '"best": *{.*"kind": *"b"' out || fail "another kind was chosen"
below 0.4 "$best" "x"
below "$best" 1 "x"
grep -q '"private": *true' out || fail "not private"
# At most two settings were out each time it was killed.
evaluated=$(wc -l <evaluated)
[ "$evaluated" -le $((24 + 2 * tries)) ] || fail "$evaluated evaluations for 24 settings in $tries runs"
[ "$(sort -u evaluated | wc -l)" -eq 24 ] || fail "not 24 settings"
[ "$(stat -c %a tune.state)" = 600 ] || fail "the state can be read by others"
grep -q 'x=\|"x"' tune.state.log && fail "the log has settings"

# Again: the same winners, nothing evaluated, nothing charged.
: >evaluated
expect 0 tune --evaluate ./score.sh --json
cmp -s out first || fail "the second answer differs"
[ ! -s evaluated ] || fail "evaluated again"
expect 0 "$bin/tacet" ledger show --ledger tune.ledger.db --json
below "$(number eps)" 1.0001 "eps spent"
below 0.999 "$(number eps)" "eps spent"
expect 0 "$bin/tacet" ledger verify --ledger tune.ledger.db
# Another run does not fit, and says so before it evaluates anything.
expect 3 tune --evaluate ./score.sh --state other.state --ticket other
grep -q 'nothing was evaluated' err || fail "the budget's words"
[ ! -s evaluated ] || fail "evaluated without a budget"
# Another search under the same ticket; the state of other settings.
expect 1 tune --evaluate ./score.sh --seed 2
grep -q 'used for another search' err || fail "the words for another search"
expect 1 tune --evaluate ./score.sh --eps 0.5 --ledger other.db
grep -q 'another space, seed, range' err || fail "the words for another state"

# What leaves holds no score of any setting: winners, the charged score, and numbers fixed beforehand.
grep -q '"winners"' first || fail "no winners"
[ "$(grep -o '"value"' first | wc -l)" -eq 1 ] || fail "more than one score"

# What a privacy officer asks: a registry's entry, and a label.
expect 0 "$bin/tacet" disclose first --ledger tune.ledger.db --format registry
grep -q 'epsilon: *1' out || fail "the registry's entry"
expect 0 "$bin/tacet" disclose first --ledger tune.ledger.db
grep -q 'one validation record' out || fail "the label"
echo '{"eps":1}' >no-result
expect 1 "$bin/tacet" disclose no-result
expect 0 "$bin/tacet" report --in first --out page.html
sed 's/<[^>]*>/ /g' page.html | tr -s ' \n' '  ' | grep -q 'eps 1 for each of 800 records' || fail "the page does not say eps"

# Wrong programs.
expect 1 tune --evaluate 'echo 0.8' --state a --ledger a.db
grep -q 'printed 1 value for 800 records' err || fail "a mean is taken"
# A state in which nothing was told is no obstacle: the corrected command begins it again.
expect 0 tune --evaluate ./score.sh --state a --ledger a.db --evaluations 4
expect 1 tune --evaluate './missing' --state b --ledger b.db
grep -q 'cannot be run' err || fail "a missing program"
expect 0 "$bin/tacet" ledger show --ledger b.db --json
[ "$(number entries)" = 0 ] || fail "a missing program is charged"
expect 0 tune --evaluate 'exit 1' --state c --ledger c.db --evaluations 4 --eps 0.5
expect 0 "$bin/tacet" ledger show --ledger c.db --json
[ "$(number budget_eps)" = 0.5 ] || fail "the budget is not that of the run: $(number budget_eps)"
# What a program printed before it failed is not among the values of its second try.
# shellcheck disable=SC2016 # for the program's shell
expect 0 tune --evaluate '[ -e flaky ] || { echo 1; : >flaky; exit 1; }; ./score.sh' --state g --ledger g.db --evaluations 2
expect 0 tune --evaluate 'sleep 5' --state d --ledger d.db --evaluations 2 --timeout 0.2 --kept 0 --json
grep -q '"winners":' out || fail "no winners without a score"
! grep -q score out || fail "a score without kept records"
# Losses over a wide range, against a reference.
cat >loss.sh <<'SH'
#!/bin/sh
read -r setting
x=${setting#*\"x\":}
x=${x%%[,\}]*}
awk -v x="$x" 'BEGIN { for (i = 0; i < 800; i++) print 100 * (i % 7) / 7 + 40 * (x - 0.3) * (x - 0.3) }'
SH
chmod +x loss.sh
expect 0 "$bin/tacet" tune --bounds x=0:1 --records 800 --range 0:120 --minimize --contrast 12 --reference x=0.9 --evaluate \
    ./loss.sh --evaluations 30 --state e --ledger e.db --json
below "$(number x)" 0.6 "x of the contrasts"
expect 2 "$bin/tacet" tune --bounds x=0:1 --records 800 --range 0:120 --contrast 12 --reference y=1 --evaluate ./loss.sh
grep -q 'no value for column x' err || fail "a reference of other columns"
# An older copy of the ledger would draw winners again that are out: refused, whatever the state says.
expect 0 tune --evaluate ./score.sh --state h --ledger h.db --evaluations 2 --ticket one --eps 0.2 --budget-eps 1
cp h.db before.db
expect 0 tune --evaluate ./score.sh --state i --ledger h.db --evaluations 2 --ticket two --eps 0.2
cp before.db h.db
rm -f h.db-wal h.db-shm
expect 1 tune --evaluate ./score.sh --state i --ledger h.db --evaluations 2 --ticket two --eps 0.2
grep -q 'its anchor has seen' err || fail "an older ledger: $(cat err)"
expect 0 tune --evaluate ./score.sh --state f --noise-seed 1 --evaluations 6 --json
grep -q 'NOT PRIVATE' err || fail "seeded noise is not named"
echo "tune: $evaluated evaluations for 24 settings, $tries starts"
