#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# central.sh: the simulations of central studies and of local statistics print their regret as JSON, the same for any number of threads,
# and refuse what they can't do.
set -eu
tacet="$TACET_BIN/tacet"
field() { # JSON object on stdin, name of a number in "regret"
    sed -n "s/.*\"regret\":{[^}]*\"$1\":\([-0-9.e+]*\).*/\1/p"
}
regret() {
    "$tacet-lab" simulate "$@" --json | field mean
}
below() { # value, limit, what
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a < b) }' || { echo "$3: regret $1 is not below $2"; exit 1; }
}
shipped=$(regret central --eps 10 --delta 0.1 --rounds 300 --trials 24 --seed 3) # one trial in ten is unlucky, another one by processor
random=$(regret central --algorithm random --rounds 300 --trials 4 --seed 3)
below "$shipped" 40 "central, eps = 10"
below 130 "$random" "random play"
below "$(regret central --algorithm nonprivate --rounds 300 --trials 4 --seed 3)" 40 "non-private"
below "$(regret central --world camelback --eps 10 --delta 0.1 --rounds 2000 --trials 2 --seed 3)" 200 "camelback"
below "$(regret central --world local-statistics --eps 10 --delta 0.1 --rounds 600 --trials 4 --seed 3)" 200 "local-statistics"
below "$(regret central --world drawn --binary 4 --lengthscale 1 --arms 8 --eps 100 --rounds 1000 --trials 2 --seed 3)" 90 "four binary columns"
[ "$shipped" = "$(taskset -c 0 "$tacet-lab" simulate central --eps 10 --delta 0.1 --rounds 300 --trials 24 --seed 3 --json | field mean)" ] ||
    { echo "the number of threads changes the result"; exit 1; }
# Nothing is learnt from reports that are still out, and nothing about arms from rewards that are other arms'.
for player in shipped nonprivate; do
    late=$(regret central --world drawn --dims 2 --algorithm $player --eps 100 --rounds 400 --trials 2 --seed 3 --outstanding 400)
    [ "$late" = "$(regret central --world drawn --dims 2 --algorithm $player --eps 1 --rounds 400 --trials 2 --seed 3 --outstanding 500)" ] ||
        { echo "$player: reports that never came in were learnt from"; exit 1; }
    below "$(regret central --world drawn --dims 2 --algorithm $player --eps 100 --rounds 400 --trials 2 --seed 3 --outstanding 20)" 80 "$player, late reports"
    below 80 "$(regret central --world drawn --dims 2 --algorithm $player --eps 100 --rounds 400 --trials 12 --seed 3 --permute)" "$player, values permuted"
done
# The published algorithm on a product domain: additive quadrature features, and a curve with its standard errors.
"$tacet-lab" simulate central --world michalewicz10 --algorithm published --eps 10 --delta 0.1 --rounds 60 --trials 2 --json |
    grep -q '"regret_by_tenth":\[[0-9.]*,.*"regret_by_tenth_se":\[[0-9.]*,' || { echo "no curve on a product domain"; exit 1; }
below "$(regret central --world michalewicz10 --algorithm published --eps 1000 --delta 0.1 --rounds 400 --trials 2 --seed 3)" 275 "published on michalewicz10"
"$tacet-lab" simulate central --algorithm published --calibration published --eps 10 --delta 0.1 --rounds 40 --trials 1 --json |
    grep -q '"guarantee_of_the_noise":{"proven":true,"eps":[0-9]\.[0-9]' ||
    { echo "the published noise is not stamped with its real guarantee"; exit 1; }
# A horizon that is not known: whatever comes later, the first 40 rounds are the same; and there is something to learn.
unknown() {
    "$tacet-lab" simulate central --algorithm published --unknown-horizon --eps 1000 --trials 2 --seed 3 --json "$@"
}
half=$(unknown --rounds 80 | sed -n 's/.*"regret_by_tenth":\[\([^]]*\)\].*/\1/p' | cut -d, -f5)
[ "${half:-none}" = "$(unknown --rounds 40 | field mean)" ] || { echo "the rounds to come change those before"; exit 1; }
[ "$half" != "$(regret central --algorithm published --eps 1000 --rounds 40 --trials 2 --seed 3)" ] ||
    { echo "the horizon is known after all"; exit 1; }
below "$(unknown --rounds 400 | field mean)" "$(regret central --algorithm random --rounds 400 --trials 2 --seed 3)" "unknown horizon"
refused() {
    status=0
    "$tacet-lab" simulate "$@" >/dev/null 2>&1 || status=$?
    [ "$status" -ne 0 ] || { echo "not refused: $*"; exit 1; }
}
refused central --algorithm other
refused central --eps -1
refused central --delta 1
refused central --algorithm published --delta 0
refused central --rounds 0
refused central --world nowhere
refused central --world box --dims 2 --outstanding 3
refused central --permute --trials 1
refused central --world local-statistics --arms 0
refused central --world local-statistics --algorithm random
echo ok
