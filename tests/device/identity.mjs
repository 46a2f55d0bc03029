// SPDX-License-Identifier: Apache-2.0
// identity.mjs PACKAGE VECTORS - with the same key a report of the package is the C library's, bit for bit: 10^5 inputs
// of each randomiser, drawn by VECTORS over all that the library allows.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

globalThis.crypto ??= (await import('node:crypto')).webcrypto; // Node 18, which Debian 12 has, keeps it there

const [folder, vectors] = process.argv.slice(2);
const { Module } = await import(pathToFileURL(`${folder}/device.js`));
const INPUTS = 100000, RECORD = 80, KEY = 48;
const NAMES = ['laplace', 'hybrid', 'duchi', 'piecewise'];

let key = new Uint8Array(32);
const module = await Module.load(readFileSync(`${folder}/device.wasm`), (array) => array.set(key.subarray(0, array.length)));
let failed = 0;
NAMES.forEach((name, kind) => {
  const bytes = execFileSync(vectors, [String(kind), String(INPUTS)], { maxBuffer: 2 * INPUTS * RECORD });
  let differ = 0, seen = 0;
  for (let at = 0; at + RECORD <= bytes.length; at += RECORD) {
    const [eps, lo, hi, value] = [0, 8, 16, 24].map((o) => bytes.readDoubleLE(at + o));
    key = bytes.subarray(at + KEY, at + RECORD);
    module.law(kind, eps, lo, hi);
    const { mint } = module.report('t', value);
    const { report } = module.report('t', value, { mint });
    const own = Buffer.alloc(8);
    own.writeDoubleLE(report);
    differ += own.equals(bytes.subarray(at + 32, at + 40)) ? 0 : 1;
    seen++;
  }
  console.log(`${name}: ${seen} reports, ${differ} differ from the C library's`);
  failed += differ > 0 || seen !== INPUTS ? 1 : 0;
});

// Decision sets: the card, the arm that is chosen by it, and the report.
const bytes = execFileSync(vectors, ['sphere', String(INPUTS)], { maxBuffer: 400 * INPUTS });
const ARMS = 3, HEAD = 7 * 8, OWN = HEAD + ARMS * 2 * 8 + 32;
let differ = 0, seen = 0, cards = 0;
for (let at = 0; at < bytes.length; cards++) {
  const size = Number(bytes.readBigUInt64LE(at));
  const card = Uint8Array.from(bytes.subarray(at + 8, at + 8 + size));
  const records = Number(bytes.readBigUInt64LE(at + 8 + size));
  at += 16 + size;
  for (let k = 0; k < records; k++, at += OWN, seen++) {
    const [eps, lo, hi, value, round, expected, chosen] = [0, 1, 2, 3, 4, 5, 6].map((o) => bytes.readDoubleLE(at + 8 * o));
    const arms = Array.from({ length: ARMS }, (_, a) => [0, 8].map((o) => bytes.readDoubleLE(at + HEAD + 16 * a + o)));
    key = bytes.subarray(at + OWN - 32, at + OWN);
    module.law(4, eps, lo, hi);
    module.card(card);
    const arm = module.chooseOwn(arms);
    const { mint } = module.report('t', value, undefined, { round, point: arms[arm] });
    const { report } = module.report('t', value, { mint }, { round, point: arms[arm] });
    differ += arm === chosen && report === expected ? 0 : 1;
  }
}
console.log(`sphere: ${seen} reports of ${cards} studies, ${differ} differ from the C library's`);
failed += differ > 0 || seen !== INPUTS ? 1 : 0;
process.exit(failed === 0 ? 0 : 1);
