#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# postgres_ledger.sh - the tests of the privacy ledger, once more, against a shared store: what it promises, and that it
# keeps its promises when its users are killed or race for the budget. The programs that look at ledgers, too.
set -eu
bin=${TACET_BIN:?}
source=${TACET_SOURCE:?}
if [ "${1:-}" != inside ]; then exec "$source/tests/support/pgcluster.sh" run "$0" inside; fi
"$source/tools/run-test" "$bin/test_dp_ledger"
"$source/tools/run-test" "$bin/test_dp_ledger_crash"
# What the last race left: whole, and all of it spent.
url="$TACET_TEST_POSTGRES#tacet_ledger_test"
"$bin/tacet" ledger verify --ledger "$url" >"$TACET_TEST_CLUSTER/out"
"$bin/tacet" ledger show --ledger "$url" >"$TACET_TEST_CLUSTER/show"
cat "$TACET_TEST_CLUSTER/out"
[ -s "$TACET_TEST_CLUSTER/show" ]
if "$bin/tacet" ledger verify --ledger "$TACET_TEST_POSTGRES#tacet_ledger_none" 2>"$TACET_TEST_CLUSTER/err"; then
    echo "a ledger that is not there was verified"
    exit 1
fi
grep -q 'no schema tacet_ledger_none' "$TACET_TEST_CLUSTER/err"
