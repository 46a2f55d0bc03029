// SPDX-License-Identifier: Apache-2.0
/* audit.mjs - attacks the package as shipped: can the two ends of the range be told apart better than eps allows? Of a
 * study of decision sets: the two ends at the same arm, by the direction that is reported.
 *
 * Half of the reports of each end choose an event (the outputs that speak for one end), the other half estimate its
 * probability under both. ln of the ratio of the lower to the upper confidence limit is then a lower bound of eps; a
 * claim below it is violated. Limits are Chernoff's (exact for every number of runs); a true claim is called violated
 * with probability at most 2 * MISTAKE. Noise is the system's: last digits change from run to run.
 *
 * node audit.mjs [--eps 1] [--runs 200000] [--wasm FILE]   exit 0: consistent and near the claim (at least .85
 * of it; .6 for the sphere, drawn half as often, where an event is rarer), and the control with
 * half the noise is violated. */

export const MISTAKE = 1e-4;
const BINS = 64;
const KINDS = { laplace: 0, hybrid: 1, sphere: 4 };
/** Cards of a study over [0, 1] with one feature, for eps 1 and 2, as tacet__statistics_card_write makes them. */
export const CARDS = Object.fromEntries(Object.entries({
  1: 'VEFDRVQAAQAPAAAAc3RhdGlzdGljcy1jYXJkAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    + 'AAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAADwPwAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAPA/AAAA'
    + 'AAAAAAAAAAAAAADQPwAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAADwP5WpSb7acQFNoxvl1PxN'
    + 'UPuPedzmY8jyrlu+KTBxbeYa',
  2: 'VEFDRVQAAQAPAAAAc3RhdGlzdGljcy1jYXJkAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    + 'AAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAAAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAPA/AAAA'
    + 'AAAAAAAAAAAAAADQPwAAAAAAAPA/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAPA/AAAAAAAAAAAAAAAAAADwP0xBF6x+2ZcBq/6vWAnH'
    + '6/OiTZw1grjIi30eT5EOXDKk',
}).map(([eps, text]) => [eps, Uint8Array.from(atob(text), (c) => c.charCodeAt(0))]));

const divergence = (x, p) => (x > 0 ? x * Math.log(x / p) : 0) + (x < 1 ? (1 - x) * Math.log((1 - x) / (1 - p)) : 0);

/** The p on the given side of hits/runs at which so rare a count has probability MISTAKE. */
function limit(hits, runs, up) {
  const x = hits / runs, most = Math.log(1 / MISTAKE) / runs;
  let near = x, far = up ? 1 : 0;
  for (let i = 0; i < 60; i++) {
    const p = (near + far) / 2;
    if (p > 0 && p < 1 && divergence(x, p) <= most) { near = p; } else { far = p; }
  }
  return far; // the safe end
}

/** Runs each way; draw(value) gives a report. Returns the lower bound found. cells: reports are the numbers below it. */
export function audit(draw, lo, hi, runs, cells = 0) {
  const half = Math.floor(runs / 2);
  const sample = (value) => Float64Array.from({ length: runs }, () => draw(value));
  const low = sample(lo), high = sample(hi);
  const bins = cells || BINS;
  const edges = Float64Array.from([...low.subarray(0, half), ...high.subarray(0, half)]).sort();
  const cut = Array.from({ length: bins - 1 }, (_, i) => edges[Math.floor(((i + 1) * edges.length) / bins)]);
  const bin = (x) => { let b = 0; while (b < cut.length && x >= cut[b]) { b++; } return b; };
  const count = (reports) => { const n = new Float64Array(bins); for (const x of reports) { n[cells ? x : bin(x)]++; } return n; };
  const [chooseLow, chooseHigh] = [count(low.subarray(0, half)), count(high.subarray(0, half))];
  const [testLow, testHigh] = [count(low.subarray(half)), count(high.subarray(half))];
  // Bins by how much they speak for `hi`; the event is the best beginning of that list.
  const order = [...cut.keys(), bins - 1].sort((a, b) =>
    (chooseHigh[b] + 1) / (chooseLow[b] + 1) - (chooseHigh[a] + 1) / (chooseLow[a] + 1));
  const bound = (a, b, n) => (a === 0 ? 0 : Math.log(limit(a, n, false) / limit(b, n, true)));
  let best = 0, most = -Infinity, a = 0, b = 0;
  order.forEach((k, i) => {
    a += chooseHigh[k];
    b += chooseLow[k];
    const found = bound(a, b, half);
    if (found > most) { most = found; best = i + 1; }
  });
  const event = order.slice(0, best);
  const total = (counts) => event.reduce((sum, k) => sum + counts[k], 0);
  return Math.max(0, bound(total(testHigh), total(testLow), runs - half));
}

/** The package's own reports: reserve, draw, as Device.report does, without the ledger. */
export function reports(module, kind, eps) {
  const own = kind === 'sphere' ? { round: 2 ** 40, point: [0.25] } : undefined;
  return (value) => {
    module.law(KINDS[kind], eps, 0, 1);
    if (own) { module.card(CARDS[eps]); }
    return module.report('audit', value, module.report('audit', value, undefined, own), own).report;
  };
}

/** Every randomiser, and each again with half its noise under the same claim. There are cards of eps 1 alone. */
export function auditAll(module, eps, runs, rarer = 2) {
  const cells = (kind) => (kind === 'sphere' ? 256 : 0);
  const of = (kind) => (kind === 'sphere' ? runs / rarer : runs); // each draws 256 directions
  return Object.keys(KINDS).filter((kind) => eps === 1 || kind !== 'sphere').flatMap((kind) => [
    { name: kind, control: false, found: audit(reports(module, kind, eps), 0, 1, of(kind), cells(kind)) },
    { name: `${kind} with half the noise`, control: true, found: audit(reports(module, kind, 2 * eps), 0, 1, of(kind), cells(kind)) },
  ]).map((r) => ({ ...r, violated: r.found > eps, good: r.control ? r.found > eps : r.found <= eps && r.found >= (r.name === 'sphere' ? 0.6 : 0.85) * eps }));
}

async function main(words) {
  const { readFileSync } = await import('node:fs');
  const option = (name, other) => (words.includes(name) ? words[words.indexOf(name) + 1] : other);
  const eps = Number(option('--eps', 1)), runs = Number(option('--runs', 200000));
  const wasm = option('--wasm', new URL('../../build/device/device.wasm', import.meta.url).pathname);
  const { Module } = await import(new URL('device.js', `file://${wasm}`));
  let bad = 0;
  for (const { name, found, violated, good } of auditAll(await Module.load(readFileSync(wasm)), eps, runs)) {
    console.log(`${name}: claims eps ${eps}, found at least ${found.toFixed(3)}: ${violated ? 'VIOLATED' : 'consistent'}`);
    bad += good ? 0 : 1;
  }
  process.exitCode = bad === 0 ? 0 : 1;
}

if (typeof process !== 'undefined' && process.argv?.[1] && import.meta.url === `file://${process.argv[1]}`) {
  await main(process.argv.slice(2));
}
