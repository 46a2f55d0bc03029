// SPDX-License-Identifier: Apache-2.0
/* audit.mjs - attacks the package as shipped: can two inputs be told apart better than eps allows? They are the two ends
 * of the range; of decision sets, two arms with opposite features, which no other two records are farther apart than.
 *
 * A third of the reports of each input chooses an event (the outputs that speak for one of them), the others estimate
 * its probability under both. ln of the ratio of the lower to the upper confidence limit is then a lower bound of eps; a
 * claim below it is violated. Limits are Chernoff's (exact for every number of runs); a true claim is called violated
 * with probability at most 2 * MISTAKE. Noise is the system's: last digits change from run to run.
 *
 * node audit.mjs [--eps 1] [--runs 80000] [--wasm FILE]   exit 0: consistent and at least .85 of the claim, and the
 * control with half the noise is violated. Every randomiser has an event whose probabilities are e^eps apart (of the
 * sphere: src/dp/mechanisms/sphere.md), so what is missing to 1 is the limits' width. */

export const MISTAKE = 1e-4;
const BINS = 64;
const KINDS = { laplace: 0, hybrid: 1, sphere: 4 };
const SPHERE_RUNS = 36000; // each draws 256 directions, twice
/** Cards of a study over [0, 1] with one feature, which is 1 at 0.25 and -1 at 0.75, for eps 1 and 2, as
 * tacet__statistics_card_write makes them. */
export const CARDS = Object.fromEntries(Object.entries({
  1: 'VEFDRVQAAQAPAAAAc3RhdGlzdGljcy1jYXJkAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    + 'AAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAADwPwAAAAAAAPA/AAAAAAAAAAAAAAAAAADwPwAAAAAAADBAAAAAAAAAAAAA'
    + 'AAAAAADQPwAAAAAAAOg/AAAAAAAA8D8AAAAAAADwvwAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAAAAAAAAAAAA8D/DWQPydzq1'
    + '/CTAlZSxKi0nTaxl1e+z23jgtDrCspQWhg==',
  2: 'VEFDRVQAAQAPAAAAc3RhdGlzdGljcy1jYXJkAQAAAAAAAAABAAAAAAAAAAEAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    + 'AAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAAA8D8AAAAAAAAAQAAAAAAAAPA/AAAAAAAAAAAAAAAAAADwPwAAAAAAADBAAAAAAAAAAAAA'
    + 'AAAAAADQPwAAAAAAAOg/AAAAAAAA8D8AAAAAAADwvwAAAAAAAAAAAAAAAAAAAAAAAAAAAADwPwAAAAAAAAAAAAAAAAAA8D+5oZkuaO8c'
    + '9OlQz4y3SwJ91uRqZsAJ4d8xh5F3wNJjYA==',
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

/** Runs each way; draw(end) gives a report of input 0 or 1, and eps is claimed. Returns the lower bound found. cells:
 * reports are the numbers below it. */
export function audit(draw, eps, runs, cells = 0) {
  const third = Math.floor(runs / 3);
  const sample = (end) => Float64Array.from({ length: runs }, () => draw(end));
  const low = sample(0), high = sample(1);
  const bins = cells || BINS;
  const edges = Float64Array.from([...low.subarray(0, third), ...high.subarray(0, third)]).sort();
  const cut = Array.from({ length: bins - 1 }, (_, i) => edges[Math.floor(((i + 1) * edges.length) / bins)]);
  const bin = (x) => { let b = 0; while (b < cut.length && x >= cut[b]) { b++; } return b; };
  const count = (reports) => { const n = new Float64Array(bins); for (const x of reports) { n[cells ? x : bin(x)]++; } return n; };
  const [chooseLow, chooseHigh] = [count(low.subarray(0, third)), count(high.subarray(0, third))];
  const [testLow, testHigh] = [count(low.subarray(third)), count(high.subarray(third))];
  // Outputs with nearly the whole ratio make the event; of the sphere's many cells, whose likelihoods are two, the counts
  // say less of each.
  const apart = Math.exp((cells ? 0.6 : 0.8) * eps);
  const event = [...cut.keys(), bins - 1].filter((k) => chooseHigh[k] > apart * chooseLow[k]);
  const bound = (a, b, n) => (a === 0 ? 0 : Math.log(limit(a, n, false) / limit(b, n, true)));
  const total = (counts) => event.reduce((sum, k) => sum + counts[k], 0);
  return Math.max(0, bound(total(testHigh), total(testLow), runs - third));
}

/** The package's own reports: reserve, draw, as Device.report does, without the ledger. */
export function reports(module, kind, eps) {
  const sphere = kind === 'sphere';
  return (end) => {
    const own = sphere ? { round: 2 ** 40, point: [end === 0 ? 0.25 : 0.75] } : undefined;
    const value = sphere ? 1 : end;
    module.law(KINDS[kind], eps, 0, 1);
    if (sphere) { module.card(CARDS[eps]); }
    return module.report('audit', value, module.report('audit', value, undefined, own), own).report;
  };
}

/** Every randomiser, and each again with half its noise under the same claim. There are cards of eps 1 and 2 alone. */
export function auditAll(module, eps, runs) {
  const found = (kind, drawn, most) => (kind === 'sphere'
    ? audit(reports(module, kind, drawn), eps, Math.min(most, SPHERE_RUNS), 256)
    : audit(reports(module, kind, drawn), eps, most));
  return Object.keys(KINDS).filter((kind) => eps === 1 || kind !== 'sphere').flatMap((kind) => [
    { name: kind, control: false, found: found(kind, eps, runs) },
    { name: `${kind} with half the noise`, control: true, found: found(kind, 2 * eps, runs / 4) },
  ]).map((r) => ({ ...r, violated: r.found > eps, good: r.control ? r.found > eps : r.found <= eps && r.found >= 0.85 * eps }));
}

async function main(words) {
  globalThis.crypto ??= (await import('node:crypto')).webcrypto; // Node 18, which Debian 12 has, keeps it there
  const { readFileSync } = await import('node:fs');
  const option = (name, other) => (words.includes(name) ? words[words.indexOf(name) + 1] : other);
  const eps = Number(option('--eps', 1)), runs = Number(option('--runs', 80000));
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
