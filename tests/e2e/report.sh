#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# report.sh - results of other commands, as a person draws them: one page, well-formed charts, refusals with a reason.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
"$tacet-lab" simulate outsourced --world grid --trials 2 --queries 8 --mechanism nonprivate --json >"$work/a.json" 2>/dev/null
"$tacet-lab" simulate outsourced --world grid --trials 2 --queries 8 --mechanism random --json >"$work/b.json" 2>/dev/null
"$tacet" report --in "$work/a.json" --in="$work/b.json" --out "$work/r.html" --svg "$work/svg" --json >"$work/out"
grep -q '"charts":1' "$work/out" || fail "two simulations do not share one chart"
grep -q 'outsourced grid nonprivate' "$work/r.html" || fail "a series has no name"
grep -q '</html>' "$work/r.html" || fail "the page has no end"
! grep -q '<script\|https\?://' "$work/r.html" || fail "the page would load or run something"
if command -v python3 >/dev/null; then
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$work/svg/chart-1.svg" || fail "the SVG is not well-formed"
fi
"$tacet" report --in - --out "$work/s.html" <"$work/a.json" >/dev/null || fail "standard input is not read"
code=0
echo '{"format":"tacet-report-1","sections":[{"kind":"chart"}]}' >"$work/bad.json"
"$tacet" report --in "$work/bad.json" --out "$work/x.html" 2>"$work/err" || code=$?
[ "$code" = 1 ] || fail "exit code $code for a bad document"
grep -q "bad.json: section 1: 'x' is missing" "$work/err" || fail "the reason is not told"
[ ! -e "$work/x.html" ] || fail "a page was written all the same"
expect 2 "$tacet" report --out "$work/x.html"
expect 1 "$tacet" report --in "$work/none.json" --out "$work/x.html"
echo "ok"
