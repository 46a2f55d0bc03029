#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# laplace.sh - a release by --mechanism laplace from end to end: curated with private outputs, served over TLS, searched by both
# modelers, accounted for in pure eps. The modeler takes the law of the noise from the manifest: under another one it asks for
# other rows.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
curator=$TACET_BIN/tacet-curator
awk 'BEGIN { print "a,b,y"; for (i = 0; i < 225; i++) { a = i % 15; b = int(i / 15)
    printf "%d,%d,%.6f\n", a, b, exp(-((a - 10) ^ 2 + (b - 4) ^ 2) / 30) } }' >"$work/data.csv"
values=--values-unprotected
curate() { # curate FOLDER OPTIONS...
    local out=$1
    shift
    "$curator" curate $values --data "$work/data.csv" --inputs a,b --bounds a=0:14,b=0:14 --unit a=2,b=2 --eps 3 --mechanism laplace \
        --out "$work/$out" --ledger "$work/$out/ledger.db" --json "$@" >"$work/json" 2>"$work/err" || fail "no release"
}
serve() { up "$curator" serve --release "$work/$1" --keys "$work/keys" --data "$work/data.csv" --target y --listen 127.0.0.1:0; }
model() { # model STATE OPTIONS...
    local state=$1
    shift
    "$TACET_BIN/tacet-modeler" run --url "$url" --keys "$work/keys/modeler" --state "$work/$state" --lengthscale 2 --seed 5 \
        --json "$@" >"$work/out" 2>"$work/err" || fail "the modeler failed: $*"
}
rows() { sed -n 's/.*"rows":\(\[[^]]*\]\).*/\1/p' "$work/out"; }
totals() { # totals EPS: what the ledger says, and that it verifies
    "$TACET_BIN/tacet-ledger" ledger verify --ledger "$work/release/ledger.db" --json >"$work/json" || fail "the ledger does not verify"
    "$TACET_BIN/tacet-ledger" ledger show --ledger "$work/release/ledger.db" >"$work/json" || fail "no ledger"
    grep -q "^that is eps $1, delta 0 of eps 3.5, delta 0$" "$work/json" || fail "the ledger says $(cat "$work/json")"
}
"$curator" init --dir "$work/keys" >/dev/null

# Pure eps: 3 for the release, and 0.5 for the dearest record that is measured.
values='' curate release --queries 20 --eps-output 0.5 --range 0:1
grep -q '"mechanism":"laplace","private":true,"eps":3.0,"delta":0.0,' "$work/json" || fail "the release: $(cat "$work/json")"
grep -q '"scale": 0.33333' "$work/release/manifest.json" || fail "the manifest has no scale"
totals 3
serve release
model first --queries 8
grep -q '"mechanism":"laplace","private":true,"eps":3.0,"delta":0.0,' "$work/out" || fail "the modeler: $(cat "$work/out")"
grep -q '"modeler":"eiv"' "$work/out" || fail "not the errors-in-variables modeler"
first=$(rows)
model first --queries 8
[ "$(rows)" = "$first" ] || fail "a finished run says something else"
down
totals 3.5

# The same search over the same release asks for the same rows.
curate seeded --queries 60 --noise-seed 3
serve seeded
model law --queries 25
first=$(rows)
model again --queries 25
[ "$(rows)" = "$first" ] || fail "the same search asks for other rows"
down
echo "pure eps from end to end"
