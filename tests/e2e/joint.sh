#!/bin/sh
# joint.sh: the simulations of joint and local joint DP print their regret as JSON, the same for any number of threads,
# and refuse what they can't do.
set -eu
tacet="$TACET_BIN/tacet"
field() { # JSON object on stdin, name of a number in "regret"
    sed -n "s/.*\"regret\":{[^}]*\"$1\":\([-0-9.e+]*\).*/\1/p"
}
regret() {
    "$tacet" simulate "$@" --json | field mean
}
below() { # value, limit, what
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }' || { echo "$3: regret $1 is not below $2"; exit 1; }
}
shipped=$(regret joint --eps 10 --delta 0.1 --rounds 300 --trials 4 --seed 3)
random=$(regret joint --algorithm random --rounds 300 --trials 4 --seed 3)
below "$shipped" 40 "joint, eps = 10"
below 130 "$random" "random play"
below "$(regret joint --algorithm nonprivate --rounds 300 --trials 4 --seed 3)" 40 "non-private"
below "$(regret joint --scenario camelback --eps 10 --delta 0.1 --rounds 2000 --trials 2 --seed 3)" 200 "camelback"
below "$(regret local-joint --eps 10 --delta 0.1 --rounds 600 --trials 4 --seed 3)" 200 "local-joint"
[ "$shipped" = "$(regret joint --eps 10 --delta 0.1 --rounds 300 --trials 4 --seed 3 --threads 1)" ] ||
    { echo "the number of threads changes the result"; exit 1; }
# The published algorithm on a product domain: additive quadrature features, and a curve with its standard errors.
"$tacet" simulate central --scenario michalewicz10 --algorithm published --eps 10 --delta 0.1 --rounds 60 --trials 2 --json |
    grep -q '"regret_by_tenth":\[[0-9.]*,.*"regret_by_tenth_se":\[[0-9.]*,' || { echo "no curve on a product domain"; exit 1; }
below "$(regret joint --scenario michalewicz10 --algorithm published --eps 1000 --delta 0.1 --rounds 400 --trials 2 --seed 3)" 275 "published on michalewicz10"
"$tacet" simulate central --algorithm published --calibration published --eps 10 --delta 0.1 --rounds 40 --trials 1 --json |
    grep -q '"guarantee_of_the_noise":{"proven":true,"eps":[0-9]\.[0-9]' ||
    { echo "the published noise is not stamped with its real guarantee"; exit 1; }
refused() {
    status=0
    "$tacet" simulate "$@" >/dev/null 2>&1 || status=$?
    [ "$status" -ne 0 ] || { echo "not refused: $*"; exit 1; }
}
refused joint --algorithm other
refused joint --eps -1
refused joint --delta 0
refused joint --rounds 0
refused joint --scenario nowhere
refused local-joint --arms 0
echo ok
