#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# simulate_tune.sh - tuning on made-up problems of a fixed seed: far better than random search without privacy where good
# settings are rare, and the same from run to run; a table is read, and what is none is refused.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
lab=$bin/tacet-lab
mean() { sed -n "s/.*\"$1\": *{\"mean\": *\([-0-9.e+]*\).*/\1/p" "$work/out"; }

# A random setting has a gap of 35, the best of 100 random ones 7. Seeded: no false alarm by chance of the day.
expect 0 "$lab" simulate tune --records 1000 --trials 20 --seed 3 --players tune,random --json
cp "$work/out" "$work/first"
below "$(mean tune)" 4.5 "the gap of tune"
below "$(mean tune)" "$(mean random)" "tune beside random search"
below 30 "$(mean chance)" "a random setting"
expect 0 "$lab" simulate tune --records 1000 --trials 20 --seed 3 --players tune,random --json
cmp -s "$work/out" "$work/first" || fail "another result from the same seed"
expect 0 "$lab" simulate tune --records 100 --evaluations 20 --trials 2
grep -q 'gp' "$work/out" || fail "no Gaussian process beside it"

# Eleven settings on a line, 50 records; the sixth is best.
awk 'BEGIN {
    printf "x0"; for (i = 0; i < 50; i++) printf ",r%d", i; print ""
    for (k = 0; k <= 10; k++) {
        printf "%g", k / 10
        for (i = 0; i < 50; i++) printf ",%d", i < 45 - 3 * (k > 5 ? k - 5 : 5 - k)
        print ""
    }
}' >"$work/line.csv"
expect 0 "$lab" simulate tune --data "$work/line.csv" --records 2000 --trials 4 --players tune --json
below "$(mean tune)" 3 "the gap on a table"
expect 1 "$lab" simulate tune --data "$work/first"
