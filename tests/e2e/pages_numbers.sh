#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pages_numbers.sh - what the pages say of a guarantee is never less than it is.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need tsc node
tsc --target es2020 --module es2020 --lib es2020,dom,dom.iterable --outDir "$work" "$TACET_SOURCE/web/src/dom.ts" || fail "dom.ts does not compile"
mv "$work/dom.js" "$work/dom.mjs"
cat >"$work/check.mjs" <<'JS'
globalThis.document = { createElement: () => ({ setAttribute() {}, append() {} }) };
const { above } = await import("./dom.mjs");
const expected = [[1, "1"], [0.3, "0.3"], [1.00004, "1.001"], [9.99961, "10"], [0.000123449, "0.0001235"], [0, "0"], [null, "∞"], [Infinity, "∞"]];
for (const [value, text] of expected) if (above(value) !== text) throw new Error(`${value} is shown as ${above(value)}, not ${text}`);
for (let i = 0, x = 1e-7; i < 20000; i++, x *= 1.0011) if (!(Number(above(x)) >= x && Number(above(x)) <= x * 1.0011)) throw new Error(`${x} is shown as ${above(x)}`);
JS
node "$work/check.mjs" 2>"$work/err" || fail "a number is shown as less than it is"
