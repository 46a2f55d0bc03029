#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# demo_live.sh - make demo-live as a person runs it, but for its pauses: both addresses are named, the desk answers there,
# the modeler's page follows the search and ends without asking to be loaded again.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
DEMO_PAUSE=0.05 DEMO_QUERIES=8 DEMO_ONCE=1 "$TACET_SOURCE/examples/demo-live.sh" "$work/live" >"$work/out" 2>&1 &
live=$!
trap 'kill "$live" 2>/dev/null || true; end' EXIT
tries=0
until grep -q 'refresh' "$work/live/search.html" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] && kill -0 "$live" 2>/dev/null || fail "no page while the search runs: $(cat "$work/out")"
    sleep 0.02
done
desk=$(sed -n 's/^The hospital.s desk: *\(https:[^ ]*\) .*/\1/p' "$work/out")
curl -s --cacert "$work/live/keys/ca.pem" "$desk" >"$work/page" || true # the search may be over by now
wait "$live" || fail "it failed: $(cat "$work/out")"
grep -q 'search.html' "$work/out" && grep -q 'best measured' "$work/out" || fail "the pages are not named: $(cat "$work/out")"
grep -q '8 of 8 rows measured: done' "$work/live/search.html" || fail "the page does not say how it ended"
! grep -q 'http-equiv="refresh"\|<script' "$work/live/search.html" || fail "a page of a search that is over loads itself again"
grep -q 'What was not protected' "$work/live/search.html" || fail "the page does not say what was not protected"
"$bin/tacet" report --in "$work/live/search/result.json" --out "$work/later.html" >/dev/null
grep -q 'best so far' "$work/later.html" && grep -q '8 of 8' "$work/later.html" || fail "the state folder does not open later"
# The map: the best row lies where release.csv has it, in its own units, and the noise is named.
place=$(awk -F, -v row="$(number best_row "$work/live/search/result.json")" 'NR == 1 { name = $2 } NR > 1 && $1 == row { printf "row %d: %s %.4g,", row, name, $2 }' "$work/live/search/release.csv")
[ -n "$place" ] && grep -qF "$place" "$work/later.html" && grep -q 'The noise has a standard deviation of [0-9]' "$work/later.html" || fail "no map with '$place'"
echo "both parties can be watched, and the page stays"
