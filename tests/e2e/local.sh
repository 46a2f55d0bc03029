#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# local.sh - `tacet-lab simulate local`: the order of the learners, real ranges, refusals.
set -eu
bin=${TACET_BIN:?}
run() { "$bin/tacet-lab" simulate local --trials 4 --rounds 4000 --arms 40 --seed 3 --json "$@"; }
mean() { sed 's/.*"relative_regret":{"mean":\([^,]*\),.*/\1/; s/.*"relative_regret": {"mean": \([^,]*\),.*/\1/'; }
below() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }' || { echo "$3: $1 is not below $2"; exit 1; }; }

ucb=$(run | mean)
! run --parameters literal >/dev/null 2>&1 || { echo "ucb has no literal parameters"; exit 1; }
true_range=$(run --true-range | mean)
tuned=$(run --parameters tuned | mean)
tgp=$(run --algorithm tgp --mechanism laplace --parameters literal | mean)
ata=$(run --algorithm ata --mechanism laplace --parameters literal | mean)
moma=$(run --algorithm moma --mechanism laplace --parameters literal | mean)
below "$true_range" "$ucb" "true range against ±(B + R)"
below "$tuned" "$ucb" "tuned against tight"
for other in "$tgp" "$ata" "$moma"; do
    below "$ucb" 0.6 "the default"
    below 0.8 "$other" "literal parameters are at the level of random play"
done
# Heavy tails without privacy: medians of means win.
heavy="--reward-law student3 --mechanism none --parameters orderwise"
below "$(run --algorithm moma $heavy | mean)" "$(run --algorithm tgp $heavy | mean)" "moma against tgp"
below "$(run --algorithm moma $heavy | mean)" "$(run --algorithm ata $heavy | mean)" "moma against ata"

# With them no width of ucb holds: refused without a device that clips, and with one it is for the clipped reward.
few="--trials 1 --rounds 100 --arms 10 --reward-law student3"
words=$("$bin/tacet-lab" simulate local $few --mechanism none 2>&1) && { echo "accepted: student3, ucb, tight"; exit 1; }
echo "$words" | grep -q 'does not hold for student3' || { echo "no reason: $words"; exit 1; }
for json in "" --json; do
    "$bin/tacet-lab" simulate local $few $json 2>&1 >/dev/null | grep -q 'nothing is proven' || { echo "no warning"; exit 1; }
done
if "$bin/tacet-lab" simulate local $few --parameters tuned 2>&1 >/dev/null | grep -q 'proven'; then
    echo "a warning of widths that nobody claims"
    exit 1
fi

# Tails that are known, moments below two, and noise without a bound.
weibull="--reward-law weibull --mechanism none --algorithm tgp"
below "$(run $weibull --parameters orderwise | mean)" 0.9 "tgp that knows the tails"
run --reward-law pareto --tail 0.5 --mechanism none --algorithm moma --parameters orderwise | grep -q '"norm_over_bound"'
for other in ucb tgp ata; do
    ! "$bin/tacet-lab" simulate local --trials 1 --rounds 200 --arms 10 --reward-law pareto --tail 0.5 --mechanism none \
        --algorithm $other --parameters orderwise 2>/dev/null || { echo "accepted: $other without a variance"; exit 1; }
done
run --reward-law normal --noise-delta 1e-6 | grep -q '"clipped": *0[.0]*,' || { echo "rewards beyond the range"; exit 1; }
below "$ucb" "$(run --bound norm | mean)" "max |f| against the norm"

# The same seed gives the same numbers.
[ "$(run | mean)" = "$ucb" ] || { echo "not reproducible"; exit 1; }
run | grep -q '"private": *false' || { echo "seeded noise is not stamped"; exit 1; }

# Refused, with the reason.
for bad in "--mechanism laplace" "--algorithm nothing" "--mechanism nothing" "--reward-law nothing" "--eps 0" \
    "--tail 0" "--rounds 0" "--kernel precomputed" "--world light" "--trials 0"; do
    if "$bin/tacet-lab" simulate local --trials 1 --rounds 100 --arms 10 $bad >/dev/null 2>"${TMPDIR:-/tmp}/local.$$"; then
        echo "accepted: $bad"
        exit 1
    fi
    grep -q "simulate local" "${TMPDIR:-/tmp}/local.$$" || { echo "no reason for $bad"; exit 1; }
done
rm -f "${TMPDIR:-/tmp}/local.$$"
echo "ucb $ucb, tgp $tgp, ata $ata, moma $moma"
