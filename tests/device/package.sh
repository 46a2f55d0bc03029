#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh - the browser's package: built twice with the same bytes, small, imports random_get and nothing else,
# exports the device and nothing else, reports what the C library reports, keeps its order with a store that fails, and
# is audited as shipped. Skipped where the compilers for it are not installed; a failure instead when TACET_CI is set.
set -eu
source=${TACET_SOURCE:?}
cd "$source"
fail() { echo "package: $*"; exit 1; }
out=$TACET_BUILD/device
code=0
first=$(tools/device-wasm "$out") || code=$?
if [ "$code" = 77 ]; then
    echo "$first"
    [ -z "${TACET_CI:-}" ] || fail "and TACET_CI is set: run tools/setup --with-ci"
    exit 77
fi
[ "$code" = 0 ] || fail "not built: $first"
second=$(tools/device-wasm "$out.again")
[ "${first#*:}" = "${second#*:}" ] && cmp "$out/device.wasm" "$out.again/device.wasm" || fail "two builds differ"
rm -rf "$out.again"
echo "$first"
bytes=$(wc -c <"$out/device.wasm")
packed=$(gzip -9nc "$out/device.wasm" | wc -c)
[ "$bytes" -le 43008 ] && [ "$packed" -le 21504 ] || fail "$bytes bytes, $packed gzipped: 42 kB and 21 kB are allowed"
node tests/device/module.mjs "$out" || fail "the module is not what it should be"
node tests/device/identity.mjs "$out" "$TACET_BIN/device_vectors" || fail "not the C library's reports"
node web/device/audit.mjs --wasm "$out/device.wasm" || fail "the audit"
if command -v tsc >/dev/null; then
    tsc --noEmit --strict --target es2022 --moduleResolution node --lib es2022,dom "$out/device.d.ts" || fail "the types"
fi
