#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# audit_bundle.sh - one page with every target, at a confidence that leaves one false alarm in 200 runs of this script (seed fixed). With few runs weak controls are missed, and the exit code says so.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
code=0
"$TACET_BIN/tacet-audit" audit --bundle "$work/b" --eps 1 --runs 1000 --confidence 0.9999 --seed 3 --json >"$work/json" 2>"$work/err" || code=$?
targets=$(grep -c '"target"' "$work/b/audit.json")
[ "$targets" -gt 30 ] || fail "only $targets targets"
[ "$(grep -c '^<tr><td>' "$work/b/audit.html")" = "$targets" ] || fail "not all targets are on the page"
grep -q '"seed": 3' "$work/b/audit.json" || fail "the seed is not told"
unexpected=$(sed 's/.*"unexpected":\([0-9]*\).*/\1/' "$work/json")
missed=$(grep -c 'NOT as expected' "$work/b/audit.html" || true)
[ "$unexpected" = "$missed" ] || fail "$missed rows are not as expected, $unexpected are told"
[ "$code" = "$([ "$unexpected" -gt 0 ] && echo 1 || echo 0)" ] || fail "the exit code is $code with $unexpected unexpected"
! grep -q '</td><td>violated <b>' "$work/b/audit.html" || fail "a sound mechanism is found to violate its claim"
