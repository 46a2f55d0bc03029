#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# noise.sh - `tacet-lab noise` as other tools see it: multiples of the stated grid, the right proportions, formats that
# agree, and refusals with exit code 2. The proportions allow five standard errors: 6e-7 of false alarm each, six of them.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
# shares KIND SCALE P1 P2: multiples of the grid on stderr, and shares P1, P2 of |x| < scale, < 2 scale.
shares() {
    expect 0 "$tacet-lab" noise "$1" --scale "$2" --count 200000 --format f64le
    grid=$(sed -n 's/.*grid 2^[-0-9]* = //p' "$work/err")
    [ "$(wc -c <"$work/out")" = 1600000 ] || fail "$1: not 200000 doubles"
    od -An -v -t f8 -w8 "$work/out" | awk -v g="$grid" -v s="$2" -v p="$3" -v q="$4" '
        { k = $1 / g; if (k != int(k)) { print "not a multiple: " $1; exit 1 }
          x = $1 < 0 ? -$1 : $1; a += x < s; b += x < 2 * s; n++; plus += $1 > 0 }
        function off(share, want) { return (share - want) / sqrt(want * (1 - want) / n) }
        END { print off(a / n, p), off(b / n, q), off(plus / n, 0.5);
              if (off(a/n,p)^2 > 25 || off(b/n,q)^2 > 25 || off(plus/n,0.5)^2 > 25) exit 1 }' >"$work/shares" ||
        fail "$1: shares off: $(cat "$work/shares")"
}
shares gaussian 2.5 0.6826894921 0.9544997361
shares laplace 0.3 0.6321205588 0.8646647168

expect 0 "$tacet-lab" noise gaussian --scale 2.5 --count 100 --noise-seed 9 --format f64le
grep -q "NOT PRIVATE" "$work/err" || fail "seeded draws are not stamped"
od -An -v -t f8 -w8 "$work/out" | awk '{ printf "%.17g\n", $1 }' >"$work/raw"
expect 0 "$tacet-lab" noise gaussian --scale 2.5 --count 100 --noise-seed 9
cmp -s "$work/out" "$work/raw" || fail "csv and f64le differ"
expect 0 "$tacet-lab" noise gaussian --scale 2.5 --count 100 --noise-seed 10
cmp -s "$work/out" "$work/raw" && fail "the seed does not matter"
expect 0 "$tacet-lab" noise gaussian --scale 2.5 --count 100
cmp -s "$work/out" "$work/raw" && fail "private draws repeat a seeded run"
grep -q "NOT PRIVATE" "$work/err" && fail "private draws are stamped not private"
for kind in discrete-laplace knorm bit; do
    expect 0 "$tacet-lab" noise "$kind" --scale 1.5 --count 50 --grid-bits 3
    [ "$(wc -l <"$work/out")" = 50 ] || fail "$kind: not 50 lines"
done
expect 0 "$tacet-lab" noise laplace --scale 1 --count 4 --json
grep -q '^{"kind":"laplace","scale":1.0,"count":4,"grid_exponent":-20,.*"private":true,"draws":\[[^]]*\]}$' "$work/out" ||
    fail "not the JSON it should be: $(cat "$work/out")"
expect 0 "$tacet-lab" noise gaussian --scale 1 --count 0
[ ! -s "$work/out" ] || fail "nothing was asked for, something came"

expect 2 "$tacet-lab" noise --scale 1 --count 4
expect 2 "$tacet-lab" noise uniform --scale 1 --count 4
expect 2 "$tacet-lab" noise gaussian --count 4
expect 2 "$tacet-lab" noise gaussian --scale 0 --count 4
expect 2 "$tacet-lab" noise gaussian --scale -1 --count 4
expect 2 "$tacet-lab" noise gaussian --scale nan --count 4
expect 2 "$tacet-lab" noise gaussian --scale inf --count 4
expect 2 "$tacet-lab" noise gaussian --scale 1 --count 4 --grid-bits 41
expect 2 "$tacet-lab" noise gaussian --scale 1 --count 4 --format xml
expect 2 "$tacet-lab" noise gaussian --scale 1 --count 4 --format csv --json
expect 2 "$tacet-lab" noise gaussian --scale 1 --count 4 --noise-seed x
expect 2 "$tacet-lab" noise bit --scale 1e9 --count 4
expect 2 "$tacet-lab" noise knorm --scale 1 --count 2000000
expect 2 "$tacet-lab" noise gaussian --scale 1 --count 2000000 --json
if [ -w /dev/full ]; then
    code=0
    "$tacet-lab" noise gaussian --scale 1 --count 100000 --format f64le >/dev/full 2>"$work/err" || code=$?
    [ "$code" = 1 ] || fail "a full disk gives exit code $code"
fi
