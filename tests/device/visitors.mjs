// SPDX-License-Identifier: Apache-2.0
// visitors.mjs PACKAGE COLLECTOR ORIGIN STUDY COUNT - as many visitors of the example shop, each a device with a ledger of
// its own, in Node: they choose a layout, look at the page for a while, and send a report. Prints, as JSON, how often
// each layout was played, and what was raw: the rewards, which nobody must have.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

globalThis.crypto ??= (await import('node:crypto')).webcrypto; // Node 18, which Debian 12 has, keeps it there

const [folder, origin, site, study, count] = process.argv.slice(2);
const { Device } = await import(pathToFileURL(`${folder}/device.js`));
const module = await WebAssembly.compile(readFileSync(`${folder}/device.wasm`));
const own = globalThis.fetch;
globalThis.fetch = (url, asked) => own(url, { ...asked, headers: { ...asked?.headers, origin: site } });

/** A ledger for one visit: it ends with the process. */
class Memory {
  persisted = false;
  #tickets = new Map();
  async exclusive(work) { return work(); }
  async reserve(ticket, mint) {
    if (!this.#tickets.has(ticket)) { this.#tickets.set(ticket, { mint }); }
    return this.#tickets.get(ticket);
  }
  async commit(ticket, report) { this.#tickets.set(ticket, { report }); }
}

const LIKED = [0.3, 0.45, 0.75]; // the share of the page that is read, by layout: what the study is to find out
let coin = 12345;
const uniform = () => { coin = (Math.imul(coin, 1103515245) + 12345) >>> 0; return coin / 2 ** 32; }; // of the made-up visitors alone
const played = [0, 0, 0], raw = [];

async function visit() {
  const device = await Device.open({
    study: { name: study, eps: 1, range: [0, 1] }, origin, budget: 1, ledger: new Memory(), module });
  const round = await device.choose();
  const value = Math.min(1, Math.max(0, LIKED[round.index] + 0.3 * (uniform() - 0.5)));
  const { report } = await device.send(round, value);
  await device.send(round, value); // a page that sends twice, because it saw no answer
  played[round.index]++;
  raw.push({ value, report, ticket: round.ticket, index: round.index });
}

const AT_ONCE = 20;
for (let done = 0; done < Number(count); done += AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, Number(count) - done) }, visit));
}
console.log(JSON.stringify({ played, raw }));
