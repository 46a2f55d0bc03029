#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# robustness.sh - the quick form of `make robustness`: a third of its worlds, few trials. Fails when a cell is worse than
# chance by more than three standard errors, or a simulation fails. Seeds are fixed: nothing is left to chance here.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need python3
root=$(cd "$(dirname "$0")/../.." && pwd)
"$root/tools/robustness" --quick --tacet "$TACET_BIN/tacet-lab" --out "$work/out" --markdown "$work/page.md" >"$work/log" 2>&1 ||
    fail "a world fails, or a learner is worse than chance there"
for title in Outsourced 'Contextual: a model' 'Contextual: a study' 'Central: decision' 'Central: fixed' Local; do
    grep -q "^## $title" "$work/page.md" || fail "the page has no section '$title'"
done
[ "$(grep -c '^| [a-z0-9]' "$work/page.md")" -ge 20 ] || fail "the page has too few worlds"
# What was run is kept: a second time nothing is run, and the page is the same.
"$root/tools/robustness" --quick --tacet /nonexistent --out "$work/out" --markdown "$work/again.md" >"$work/log" 2>&1 ||
    fail "it does not go on from what was kept"
cmp -s "$work/page.md" "$work/again.md" || fail "the page differs the second time"
