#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# l2.sh - Euclidean noise with a delta, from the calibration to a release and its ledger; the shorter scale is found out.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
field() { sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p" "$work/json"; }
less() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a < b) }'; }
gate=$TACET_BIN/tacet-gate
"$gate" calibrate l2 --eps 1 --delta 1e-5 --dims 10 --json >"$work/json" || fail "no calibration"
less "$(field rms)" 2.91 || fail "too much noise: $(cat "$work/json")"
less 2.89 "$(field rms)" || fail "too little noise: $(cat "$work/json")"
less "$(field delta_upper)" 1.0000001e-5 || fail "the certificate is above delta"
less 1.14 "$(field pure_eps)" || fail "the pure eps is that of another scale"
scale=$(field scale)
"$gate" calibrate l2 --eps 1 --scale "$(awk -v s="$scale" 'BEGIN { print 0.99 * s }')" --dims 10 --json >"$work/json"
less 1e-5 "$(field delta_upper)" || fail "a shorter scale has the same delta"
if "$gate" calibrate l2 --eps 1 --dims 10 >"$work/out" 2>&1; then fail "neither a delta nor a scale"; fi

awk 'BEGIN { print "a,b,c,d,e"; for (i = 0; i < 300; i++) print i % 7 "," i % 11 "," i % 13 "," i % 5 "," i % 3 }' >"$work/t.csv"
"$TACET_BIN/tacet-curator" curate --values-unprotected --data "$work/t.csv" --inputs a,b,c,d,e --bounds a=0:7,b=0:11,c=0:13,d=0:5,e=0:3 \
    --unit a=1,b=1,c=1,d=1,e=1 --eps 1 --delta 1e-5 --mechanism l2 --out "$work/r" --ledger "$work/r/ledger.db" --json >"$work/json" ||
    fail "no release"
less "$(field sigma)" 2.38 || fail "the release has more noise than l2 needs: $(cat "$work/json")"
grep -q 'hidden at eps = 1.03002 with delta = 0, too' "$work/r/manifest.json" || fail "the manifest does not state the pure eps"
"$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/r/ledger.db" >/dev/null || fail "the ledger does not verify"
"$TACET_BIN/tacet-ledger" ledger show --ledger "$work/r/ledger.db" >"$work/out"
grep -q '^that is eps 1, delta 1e-05 of eps 1, delta 1e-05$' "$work/out" || fail "the ledger says $(cat "$work/out")"

"$TACET_BIN/tacet-audit" audit l2 --eps 3 --runs 100000 --seed 1 --json >"$work/json" || fail "the audit of l2"
[ "$(field verdict)" = '"consistent"' ] || fail "l2 is found to violate its claim"
"$TACET_BIN/tacet-audit" audit control:l2-scale-5-short --eps 3 --runs 150000 --seed 1 --json >"$work/json" || true
[ "$(field verdict)" = '"violated"' ] || fail "a scale 5 % short is not found out: $(cat "$work/json")"
