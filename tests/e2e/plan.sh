#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# plan.sh - planning as a person does it, for every trust model: a table, a page, advice that follows the stated rule.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
number() { # name of a number at the top of the object in a file
    sed -n "s/.*\"$1\":{[^}]*\"mean\":\([-0-9.e+]*\).*/\1/p" "$2"
}
"$tacet" plan outsourced --rows 400 --dims 2 --lengthscale 0.3 --queries 20 --eps 0.02,50 --trials 8 --json \
    --page "$work/plan.html" >"$work/out" 2>/dev/null
below "$(number nonprivate "$work/out")" "$(number random "$work/out")" "non-private against random"
grep -q '"advice":"Below eps = 50 this is no better than random at 20 queries' "$work/out" ||
    fail "the advice does not follow from the numbers: $(cat "$work/out")"
grep -q '"eps":0.02,[^}]*"better_than_random":false' "$work/out" || fail "noise of eps = 0.02 is called better than random"
grep -q '"eps":50[^}]*"better_than_random":true' "$work/out" || fail "eps = 50 is called no better than random"
grep -q '</svg>' "$work/plan.html" || fail "the page has no chart"
grep -q 'no better than random at 20 queries' "$work/plan.html" || fail "the page has no advice"
taskset -c 0 "$tacet" plan outsourced --rows 400 --dims 2 --lengthscale 0.3 --queries 20 --eps 50,0.02 --trials 8 --json \
    >"$work/two" 2>/dev/null
[ "$(sed 's/,"seconds".*//' "$work/out")" = "$(sed 's/,"seconds".*//' "$work/two")" ] ||
    fail "the number of threads or the order of --eps changes the plan"
"$tacet" plan outsourced --mechanism laplace --rows 400 --dims 2 --lengthscale 0.3 --queries 20 --eps 0.02,50 --trials 8 --json \
    >"$work/laplace" 2>/dev/null
grep -q '20 queries, pure eps by laplace","delta":0.0,' "$work/laplace" || fail "laplace: $(cat "$work/laplace")"
grep -q '"eps":50[^}]*"better_than_random":true' "$work/laplace" || fail "laplace at eps = 50 is called no better than random"
for name in random nonprivate; do # the references are the same, whatever the noise of the release
    [ "$(number $name "$work/laplace")" = "$(number $name "$work/out")" ] || fail "laplace has another reference: $name"
done
"$tacet" plan central --rounds 200 --lengthscale 0.3 --eps 10 --trials 4 --json >"$work/central" 2>/dev/null
below "$(number nonprivate "$work/central")" "$(number random "$work/central")" "central, non-private against random"
"$tacet" plan local-statistics --rounds 100 --dims 1 --eps 10 --trials 3 --json >"$work/lj" 2>/dev/null
grep -q '"plan":"local-statistics"' "$work/lj" || fail "no plan for local-statistics"
"$tacet" plan local --rounds 2000 --arms 50 --eps 1,8 --trials 4 --json >"$work/local" 2>/dev/null
below "$(number nonprivate "$work/local")" "$(number random "$work/local")" "local, non-private against random"
"$tacet" plan contextual --rounds 1000 --eps 1 --trials 3 >"$work/contextual" 2>/dev/null
grep -q 'Already at eps = 1 this is better than random at 1000 rounds' "$work/contextual" || fail "contextual: $(cat "$work/contextual")"
# Not asked for a number of functions, it goes on until the answer is settled; and it tells the band of chance.
"$tacet" plan outsourced --rows 300 --lengthscale 0.4 --queries 25 --eps 20,40 --json >"$work/settled" 2>/dev/null
grep -q '"settled":true' "$work/settled" || fail "an easy problem is not settled: $(cat "$work/settled")"
grep -q '"chance":{"low":[-0-9.e+]*,"high":' "$work/settled" || fail "no band of chance"
# From which eps on most of the gain is kept: ten functions leave it open, though their means name one eps, and the
# interval is told; not asked for a number of functions, the plan goes on until it is clear.
share() { # MODEL, OPTIONS
    model=$1
    shift
    "$tacet" plan "$model" --arms 30 "$@" --json >"$work/share" 2>/dev/null
}
told() {
    grep -q "$1" "$work/share" || fail "the share of the gain, not '$1': $(cat "$work/share")"
}
share local --rounds 1000 --eps 2,8 --trials 10
told 'From an eps between 2 and 8 on it keeps at least 90 % of what can be gained without privacy (more --trials would'
told '"eps":2.0,[^}]*"close_to_nonprivate":null'
told '"close_from":{"low":2.0,"high":8.0},"settled":false'
share local --rounds 1000 --eps 0.5,4 --trials 10
told 'it keeps at least 90 % from eps = 4 on, or only above 4 (more --trials would tell)'
told '"close_from":{"low":4.0,"high":null},"settled":false'
share local --rounds 1000 --eps 0.5,4
told 'From eps = 4 on it keeps at least 90 % of what can be gained without privacy\."'
told '"close_from":{"low":4.0,"high":4.0},"settled":true'
! grep -q '"trials":10,' "$work/share" || fail "a share that ten functions leave open is called settled"
! grep -q 'From eps = ' "$work/local" || fail "four functions are called enough to tell the share: $(cat "$work/local")"
# Two functions tell nothing: that is said, and no problem is called too hard.
"$tacet" plan outsourced --rows 300 --lengthscale 0.02 --queries 5 --eps 1 --trials 2 --json >"$work/few" 2>/dev/null
! grep -q 'too hard' "$work/few" || fail "too hard, from two functions"
# A space says how many coordinates there are and how large they are in units.
printf '{"columns":[{"name":"age","kind":"real","bounds":[20,80],"unit":5},{"name":"sex","kind":"category","levels":["M","F"]},
{"name":"income","kind":"log","bounds":[1000,64000],"unit":"100%%"}]}' >"$work/space.json"
"$tacet" plan outsourced --space "$work/space.json" --rows 100 --queries 5 \
    --eps 4 --trials 2 >"$work/space" 2>"$work/err"
grep -q 'the space: 3 coordinates, corners 6.73 units' "$work/err" && grep -q 'dimension 3' "$work/space" || fail "a space: $(cat "$work/err")"
box() { # half a diagonal, in units
    awk -v r="$1" 'BEGIN { s = r / sqrt(2); printf "{\"columns\":[{\"name\":\"a\",\"bounds\":[%.9g,%.9g],\"unit\":1},{\"name\":\"b\",\"bounds\":[%.9g,%.9g],\"unit\":1}]}", -s, s, -s, s }' >"$work/$1.json"
}
box 100
box 10
# One eps: a verdict, and what would make a search worth it where it is not; a flat refusal would not tell.
"$tacet" plan outsourced --rows 400 --space "$work/100.json" --queries 20 --eps 20 --trials 20 --json >"$work/worth" 2>/dev/null
grep -q '"advice":"Worth it: at eps = 20 a search ends at .*"verdict":{"worth_it":true,"share_of_random":0.*"units_times_smaller":null' "$work/worth" ||
    fail "not worth it: $(cat "$work/worth")"
"$tacet" plan outsourced --rows 400 --space "$work/10.json" --queries 20 --eps 0.05 --trials 20 --json >"$work/worth" 2>/dev/null
grep -q '"advice":"Not .*worth it: at eps = 0.05 .* Units [0-9]* times smaller, which protect' "$work/worth" || fail "worth it: $(cat "$work/worth")"
times=$(sed -n 's/.*"units_times_smaller":\([0-9]*\),.*/\1/p' "$work/worth")
"$tacet" plan outsourced --rows 400 --space "$work/10.json" --queries 20 --eps "$(awk -v t="$times" 'BEGIN { print 0.05 * t }')" --trials 20 --json >"$work/smaller" 2>/dev/null
grep -q '"worth_it":true' "$work/smaller" || fail "an eps $times times as large does not make it worth it: $(cat "$work/smaller")"
# An A/B study: privacy costs visitors, a larger lift fewer of them; and about as many as the shipped policy takes.
visitors() { "$tacet" plan ab "$@" --json >"$work/ab" || fail "no plan of: $*"; sed -n "s/.*\"with_privacy\":{\"mean\":\([0-9.]*\).*\"without\":{\"mean\":\([0-9.]*\).*\"fixed_size\":\([0-9]*\).*/\1 \2 \3/p" "$work/ab"; }
visitors --rate 0.04 --lift 1.5 --eps 1 | awk '{ exit !($2 < $1 && $1 < 1.5 * $2 && $1 > 5500 && $1 < 9500 && $3 == 4981) }' || fail "visitors: $(cat "$work/ab")"
visitors --rate 0.04 --lift 1.5 --eps 0.2 | awk '{ exit !($1 > 1.5 * $2) }' || fail "visitors at a small eps: $(cat "$work/ab")"
for wrong in "--rate 0.04" "--rate 0.04 --lift 1" "--rate 0.9 --lift 1.2" "--rate 0.04 --lift 1.2 --eps 0" "--rate 0.04 --lift 2 --arms 17"; do
    # shellcheck disable=SC2086
    expect 2 "$tacet" plan ab $wrong
done
refused() { expect 2 "$tacet" plan "$@"; }
refused
refused none
refused outsourced --eps 0
refused outsourced --eps 1,x
refused outsourced --rows 10 --queries 20
refused central --dims 9
refused outsourced --delta 2
refused ab --rate 0.04 --lift 1.2 --queries 20
refused central --rows 20
refused outsourced --mechanism published
refused outsourced --mechanism laplace --delta 1e-5
refused central --mechanism laplace
refused outsourced --space "$work/space.json" --dims 2
sed 's/,"unit":5//' "$work/space.json" >"$work/unitless.json"
refused outsourced --space "$work/unitless.json"
echo "ok"
