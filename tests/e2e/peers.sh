#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# peers.sh - the comparison with Python packages runs, small, with and without them; where scikit-learn or numpy is there, their GP-UCB must
# ask the rows that ours asks: two implementations that share no code.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
small="--tacet $TACET_BIN/tacet-lab --rows 150 --queries 12 --trials 2 --draws 20000"
# shellcheck disable=SC2086
"$TACET_SOURCE/bench/peers/run" $small --markdown "$work/doc.md" >"$work/out" 2>&1 || fail "it fails"
grep -q 'tacet-lab gp-ucb .*same rows 1.00' "$work/out" || fail "no line of ours"
grep -q 'gaussian .*time over' "$work/out" || fail "no noise"
grep -q '^| tacet-lab gp-ucb | 1.0 |' "$work/doc.md" || fail "no document"
for peer in 'numpy, textbook' 'scikit-learn'; do
    if grep -q "^  $peer" "$work/out"; then
        grep -q "^  $peer .*same rows 1.00" "$work/out" || fail "$peer asks other rows"
        echo "$peer asks the same rows"
    fi
done
# shellcheck disable=SC2086
python3 -I -S "$TACET_SOURCE/bench/peers/peers.py" $small >"$work/out" 2>&1 || fail "it fails without packages"
[ "$(grep -c 'not installed, skipped' "$work/out")" = 3 ] || fail "it does not say what is skipped"
