// SPDX-License-Identifier: Apache-2.0
// module.mjs PACKAGE - the module's imports and exports, what it refuses, and the order of a report with a store that
// fails at each step. A store here is an object; the browser's is tested in Chromium (tests/browser/test_device.py).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

globalThis.crypto ??= (await import('node:crypto')).webcrypto; // Node 18, which Debian 12 has, keeps it there

const folder = process.argv[2];
const { Device, Module } = await import(pathToFileURL(`${folder}/device.js`));
const { CARDS } = await import(new URL('../../web/device/audit.mjs', import.meta.url));
const wasm = readFileSync(`${folder}/device.wasm`);
const compiled = await WebAssembly.compile(wasm);

/** Keeps what was made durable, also when the step after it fails. */
class Store {
  persisted = false;
  tickets = new Map();
  charged = 0;
  fails = '';
  async exclusive(work) { return work(); }
  async reserve(ticket, mint) {
    if (this.fails === 'before reserve') { throw new Error(this.fails); }
    if (!this.tickets.has(ticket)) { this.tickets.set(ticket, { mint }); this.charged++; }
    if (this.fails === 'after reserve') { throw new Error(this.fails); }
    return this.tickets.get(ticket);
  }
  async commit(ticket, report) {
    if (this.fails === 'before commit') { throw new Error(this.fails); }
    this.tickets.set(ticket, { report });
    if (this.fails === 'after commit') { throw new Error(this.fails); }
  }
}

const study = { name: 'layouts', eps: 1, range: [0, 1] };
const tests = {
  async the_module_imports_random_bytes_and_exports_the_device_alone() {
    assert.deepEqual(WebAssembly.Module.imports(compiled).map((i) => i.name), ['random_get']);
    assert.deepEqual(WebAssembly.Module.exports(compiled).map((e) => e.name).sort(),
      ['memory', 'tacet_page', 'tacet_page_card', 'tacet_page_card_room', 'tacet_page_choose', 'tacet_page_choose_own',
        'tacet_page_dim', 'tacet_page_law', 'tacet_page_numbers', 'tacet_page_report', 'tacet_page_report_own',
        'tacet_page_weights']);
  },
  async a_module_with_another_import_is_not_run() {
    const at = wasm.indexOf('random_get');
    const other = Buffer.from(wasm);
    other.write('random_got', at);
    await assert.rejects(Module.load(other), /asks for more than random bytes/);
  },
  async settings_and_values_that_make_no_report_are_refused_before_anything_is_charged() {
    const store = new Store();
    for (const wrong of [{ eps: 0 }, { eps: 33 }, { range: [1, 0] }, { range: [0] }, { randomizer: 'duchi' }, { name: '' }]) {
      await assert.rejects(Device.open({ study: { ...study, ...wrong }, budget: 100, ledger: store, module: compiled }));
    }
    await assert.rejects(Device.open({ study, budget: 0.5, ledger: store, module: compiled }), /at least the eps/);
    const device = await Device.open({ study, budget: 10, ledger: store, module: compiled });
    await assert.rejects(device.report('t', NaN), /not a number/);
    await assert.rejects(device.report('', 0.5), /1 to 200 bytes/);
    await assert.rejects(device.report('a\nb', 0.5), /1 to 200 bytes/);
    await assert.rejects(device.report('x'.repeat(201), 0.5), /1 to 200 bytes/);
    await assert.rejects(device.report('t', '0.5'), /which is a text, and a number/);
    assert.equal(store.charged, 0);
  },
  async a_ticket_that_was_interrupted_draws_the_same_report_and_is_charged_once() {
    for (const fails of ['before reserve', 'after reserve', 'before commit', 'after commit']) {
      const reports = new Set();
      const store = new Store();
      const device = await Device.open({ study: { ...study, randomizer: 'laplace' }, budget: 10, ledger: store, module: compiled });
      store.fails = fails;
      await assert.rejects(device.report('t', 0.25), new RegExp(fails));
      assert.equal(store.charged, fails === 'before reserve' ? 0 : 1);
      store.fails = '';
      if (store.tickets.get('t')?.mint) { // bound to the value: not to be tried with another one
        await assert.rejects(device.report('t', 0.75), /other data or settings/);
      }
      for (let i = 0; i < 3; i++) { reports.add((await device.report('t', 0.25)).report); }
      assert.equal(reports.size, 1);
      assert.equal(store.charged, 1);
      assert.equal(store.tickets.get('t').mint, undefined, 'the key is gone once the report is there');
    }
  },
  async an_answered_ticket_is_repeated_whatever_the_value() {
    const store = new Store();
    const device = await Device.open({ study, budget: 10, ledger: store, module: compiled });
    const first = await device.report('t', 0.25);
    assert.deepEqual(await device.report('t', 0.75), { ...first, repeated: true });
    assert.equal(first.repeated, false);
  },
  async a_stored_report_that_the_randomiser_cannot_give_is_refused() {
    const store = new Store();
    store.tickets.set('t', { report: 0.123 });
    const device = await Device.open({ study, budget: 10, ledger: store, module: compiled });
    await assert.rejects(device.report('t', 0.25), /none this randomiser can give/);
  },
  async devices_that_share_a_module_keep_their_own_law() {
    const module = await Module.load(compiled);
    const narrow = await Device.open({ study, budget: 10, ledger: new Store(), module });
    const wide = await Device.open({ study: { ...study, range: [1000, 2000] }, budget: 10, ledger: new Store(), module });
    let near = 0, far = 0; // a report of the wide one is below 10 once in 450 times: six of twenty never are
    for (let i = 0; i < 20; i++) {
      near += Math.abs((await narrow.report(`n${i}`, 0.5)).report) < 10;
      far += Math.abs((await wide.report(`w${i}`, 1500)).report) > 10;
    }
    assert.ok(near > 14 && far > 14, `${near} ${far}`);
  },
  async a_report_of_a_decision_set_is_drawn_once_and_by_a_card_of_its_own_law() {
    const store = new Store();
    const sets = { ...study, randomizer: 'sphere' };
    const device = await Device.open({ study: sets, budget: 10, ledger: store, module: compiled });
    const own = { round: 2 ** 40, point: [0.25], card: CARDS[1] };
    await assert.rejects(device.report('t', 0.5), /report an arm of choose/);
    await assert.rejects(device.report('t', 0.5, { ...own, point: [1, 2] }), /lists of 1 numbers/);
    await assert.rejects(device.report('t', 0.5, { ...own, card: CARDS[2] }), /another eps or range/);
    await assert.rejects(device.report('t', 0.5, { ...own, card: CARDS[1].map((b, i) => (i === 60 ? b ^ 1 : b)) }), /damaged/);
    assert.equal(store.charged, 0);
    store.fails = 'before commit';
    await assert.rejects(device.report('t', 0.5, own), /before commit/);
    store.fails = '';
    await assert.rejects(device.report('t', 0.5, { ...own, round: 2 ** 40 + 1 }), /other data or settings/);
    const first = await device.report('t', 0.5, own);
    assert.ok(Number.isInteger(first.report) && first.report >= 0 && first.report < 256);
    assert.equal((await device.report('t', 1, own)).report, first.report);
    assert.equal(store.charged, 1);
    const plain = await Device.open({ study, budget: 10, ledger: new Store(), module: compiled });
    await assert.rejects(plain.report('t', 0.5, own), /and no others/);
  },
  async a_word_of_the_coin_gives_the_arm_that_it_gives_in_c() {
    let word = 0n;
    const module = await Module.load(compiled, (array) => new DataView(array.buffer, array.byteOffset).setBigUint64(0, word, true));
    const weights = [3, 0, 5, 1000000];
    for (word of [0n, 2n, 3n, 7n, 8n, 12345678901234567890n, 2n ** 63n]) {
      let left = word % 1000008n, arm = 0;
      while (left >= BigInt(weights[arm])) { left -= BigInt(weights[arm++]); }
      assert.equal(module.choose(weights), arm);
    }
    assert.throws(() => module.choose([0, 0]), /no arm has a weight/);
    assert.throws(() => module.choose([0.5]), /whole numbers/);
  },
};
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}\n${error.stack}`);
  }
}
process.exit(failed);
