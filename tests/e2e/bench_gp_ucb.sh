#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# bench_gp_ucb.sh - bench/one_gp_ucb prints what it promises, and memory stays within its bound. Time is not judged
# here: other work on the machine would be judged with it.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
"$TACET_BIN/one_gp_ucb" 2000 2 20 2 >"$work/small"
for key in seconds stream_seconds ratio peak_bytes allowed_bytes; do
    grep -Eq "\"$key\":[0-9.]+" "$work/small" || { echo "no $key in $(cat "$work/small")"; exit 1; }
done
grep -Eq '"stream_core":"[A-Za-z0-9]+"' "$work/small" || { echo "the yardstick does not say whose it is"; exit 1; }
code=0
"$TACET_BIN/one_gp_ucb" 10 5 11 1 2>"$work/err" || code=$?
[ "$code" = 2 ] && grep -q 'queries' "$work/err"
if grep -Eq '^(TACET_SANITIZE:STRING=.+|TACET_COVERAGE:BOOL=ON)' "$TACET_BUILD/CMakeCache.txt" || [ -n "${TACET_VALGRIND:-}" ]; then
    exit 0 # instrumented programs have memory of their own
fi
"$TACET_BIN/one_gp_ucb" 100000 5 200 1 >"$work/large"
sed -E 's/.*"peak_bytes":([0-9.e+]+).*"allowed_bytes":([0-9.e+]+).*/\1 \2/' "$work/large" |
    awk '{ if (!($1 > 1.6e8 && $1 <= $2)) { print "peak", $1, "allowed", $2; exit 1 } }'
