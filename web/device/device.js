// SPDX-License-Identifier: Apache-2.0
/* device.js - a reward leaves the page clipped, randomised, once a ticket; in a study of decision sets the arm with it.
 *
 * The noise is libtacet-device's, compiled to WebAssembly (wasm/page.c): the same key gives the same bits as in C. This
 * file brings it its entropy and its memory, and keeps the order: reserve durably, draw, commit durably, return. */
import { DeviceError } from './error.js';
import { INTEGRITY } from './integrity.js';
import { Collector } from './collector.js';
import { Ledger, LedgerError } from './ledger.js';

export { DeviceError, Ledger, LedgerError };

const KINDS = { laplace: 0, hybrid: 1, sphere: 4 };
const CODES = ['OK', 'INVALID', 'NO_MEMORY', 'OVERFLOW', 'NUMERIC', 'IO', 'PARSE', 'BUDGET', 'CORRUPT', 'STATE',
  'NOT_FOUND', 'CONFLICT', 'BUSY', 'DENIED', 'TIMEOUT', 'UNSUPPORTED'];
const OK = 0, BUSY = CODES.indexOf('BUSY');
const TICKET = 0, TICKET_MOST = 200, MINT = 208, MINT_BYTES = 64, REPORT = 272, STAGE = 280, MESSAGE = 284, MESSAGE_BYTES = 240;
const NOTHING = 0, RESERVED = 1, ANSWERED = 2;
const ARMS_MOST = 4096, NUMBERS_MOST = 16384, CARD_MOST = 1 << 20;
const OWN_ROUNDS = 2 ** 32; // rounds that devices number themselves begin here
const ENTROPY_MOST = 65536; // bytes a call of getRandomValues

/** The module as fetched, if its bytes are those this package was built with. */
async function fetched() {
  const answer = await fetch(new URL('device.wasm', import.meta.url), { integrity: INTEGRITY });
  if (!answer.ok) {
    throw new DeviceError('IO', `device.wasm could not be fetched: ${answer.status}`);
  }
  return answer.arrayBuffer();
}

/** The library in one instance. `random` fills an array; the browser's generator everywhere but in tests. */
export class Module {
  #memory;
  #calls;
  #at;
  #card;

  static async load(bytes, random = (array) => globalThis.crypto.getRandomValues(array)) {
    const compiled = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes ?? await fetched());
    const imports = WebAssembly.Module.imports(compiled).map((i) => `${i.module}.${i.name}:${i.kind}`);
    if (imports.length !== 1 || imports[0] !== 'wasi_snapshot_preview1.random_get:function') {
      throw new DeviceError('UNSUPPORTED', 'device.wasm asks for more than random bytes, and is not run');
    }
    const module = new Module();
    const random_get = (at, count) => {
      for (let done = 0; done < count; done += ENTROPY_MOST) {
        random(new Uint8Array(module.#memory.buffer, at + done, Math.min(ENTROPY_MOST, count - done)));
      }
      return 0;
    };
    const instance = await WebAssembly.instantiate(compiled, { wasi_snapshot_preview1: { random_get } });
    module.#calls = instance.exports;
    module.#memory = instance.exports.memory;
    module.#at = instance.exports.tacet_page();
    return module;
  }

  #bytes(offset, count) { return new Uint8Array(this.#memory.buffer, this.#at + offset, count); }

  #view() { return new DataView(this.#memory.buffer, this.#at); }

  #check(status) {
    if (status !== OK && status !== BUSY) {
      const text = this.#bytes(MESSAGE, MESSAGE_BYTES);
      throw new DeviceError(CODES[status] ?? 'UNKNOWN', new TextDecoder().decode(text.subarray(0, text.indexOf(0))));
    }
    return status;
  }

  /** The law of the reports that follow. */
  law(kind, eps, lo, hi) { this.#check(this.#calls.tacet_page_law(kind, eps, lo, hi)); }

  /** The arm to play by public weights, whole numbers: arm i with probability weights[i] over their sum. */
  choose(weights) {
    if (weights.length < 1 || weights.length > ARMS_MOST || !weights.every((w) => Number.isInteger(w) && w >= 0 && w < 2 ** 32)) {
      throw new DeviceError('INVALID', `weights are 1 to ${ARMS_MOST} whole numbers`);
    }
    new Uint32Array(this.#memory.buffer, this.#calls.tacet_page_weights(), weights.length).set(weights);
    const arm = this.#calls.tacet_page_choose(weights.length);
    if (arm < 0) {
      throw new DeviceError('INVALID', 'no arm has a weight above 0');
    }
    return arm;
  }

  /** The card of a study of decision sets, as bytes: how arms are scored, and among which directions reports are. Gives
   * how many coordinates an arm has. */
  card(bytes) {
    if (bytes !== this.#card) {
      this.#card = undefined;
      if (bytes.length > CARD_MOST) {
        throw new DeviceError('INVALID', 'a card has at most a megabyte');
      }
      new Uint8Array(this.#memory.buffer, this.#calls.tacet_page_card_room(), bytes.length).set(bytes);
      this.#check(this.#calls.tacet_page_card(bytes.length));
      this.#card = bytes;
    }
    return this.#calls.tacet_page_dim();
  }

  #numbers(points) {
    const dim = this.#calls.tacet_page_dim();
    const good = points.length > 0 && points.length * dim <= NUMBERS_MOST && dim > 0
      && points.every((p) => p.length === dim && p.every((x) => Number.isFinite(x)));
    if (!good) {
      throw new DeviceError('INVALID', `arms are lists of ${dim} numbers, and no more than ${NUMBERS_MOST} numbers in all`);
    }
    new Float64Array(this.#memory.buffer, this.#calls.tacet_page_numbers(), points.length * dim).set(points.flat());
  }

  /** Which of these arms to play, by the card; at random as long as nothing was learnt. */
  chooseOwn(arms) {
    this.#numbers(arms);
    return this.#calls.tacet_page_choose_own(arms.length);
  }

  /** `stored` of the ticket: undefined, {mint} or {report}. Gives {mint}, to be stored before anything is drawn, or
   * {report}. own: {round, point} in a study of decision sets. */
  report(ticket, value, stored, own) {
    const text = new TextEncoder().encode(ticket);
    if (text.length < 1 || text.length > TICKET_MOST || text.includes(0)) {
      throw new DeviceError('INVALID', `a ticket has 1 to ${TICKET_MOST} bytes and no control characters`);
    }
    this.#bytes(TICKET, TICKET_MOST + 1).fill(0).set(text);
    const view = this.#view();
    view.setUint32(STAGE, stored === undefined ? NOTHING : stored.mint ? RESERVED : ANSWERED, true);
    if (stored?.mint) {
      this.#bytes(MINT, MINT_BYTES).set(stored.mint);
    }
    view.setFloat64(REPORT, stored?.report ?? NaN, true);
    if (own !== undefined) {
      this.#numbers([own.point]);
    }
    const ask = () => (own === undefined ? this.#calls.tacet_page_report(value) : this.#calls.tacet_page_report_own(own.round, value));
    try {
      return this.#check(ask()) === BUSY
        ? { mint: this.#bytes(MINT, MINT_BYTES).slice() }
        : { report: view.getFloat64(REPORT, true) };
    } finally {
      this.#bytes(MINT, MINT_BYTES).fill(0);
    }
  }
}

/** A number for a round of the page's own: its directions are drawn by it, and by nothing the page knows. */
function ownRound() {
  const [high, low] = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return OWN_ROUNDS + (high % (2 ** 20)) * 2 ** 32 + low;
}

const decoded = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));

function settingsOf(study) {
  const [lo, hi] = study.range ?? [];
  const settings = { randomizer: study.randomizer ?? 'hybrid', eps: study.eps, lo, hi };
  if (typeof study.name !== 'string' || study.name === '' || !(settings.randomizer in KINDS)
    || ![settings.eps, lo, hi].every((x) => typeof x === 'number' && Number.isFinite(x))) {
    throw new DeviceError('INVALID', 'a study has a name, eps, range: [lo, hi], and hybrid, laplace or sphere as its randomizer');
  }
  return settings;
}

export class Device {
  #module;
  #law;
  #ledger;
  #collector;

  /** See device.d.ts. `ledger` and `module` are for programs without IndexedDB, and for tests. */
  static async open({ study, origin = '', budget, ledger, module }) {
    const settings = settingsOf(study);
    if (!(budget >= settings.eps && budget < Infinity)) {
      throw new DeviceError('INVALID', 'a budget is a number, and at least the eps of one report');
    }
    const device = new Device();
    device.#module = module instanceof Module ? module : await Module.load(module);
    device.#law = [KINDS[settings.randomizer], settings.eps, settings.lo, settings.hi];
    device.#module.law(...device.#law); // refuses what is no law
    device.#collector = origin === '' ? null : new Collector(origin, study.name, settings);
    device.#ledger = ledger ?? await Ledger.open(`${study.name}@${origin}`, settings, budget);
    return device;
  }

  /** What may be sent of `value`. Asked again for a ticket, the same bits, at no charge. `own`: {round, point, card} of a
   * study of decision sets, as choose() gave them. */
  async report(ticket, value, own) {
    if (typeof ticket !== 'string' || typeof value !== 'number') {
      throw new DeviceError('INVALID', 'a report is of a ticket, which is a text, and a number');
    }
    if ((own !== undefined) !== (this.#law[0] === KINDS.sphere)) {
      throw new DeviceError('INVALID', 'studies of decision sets, and no others, report an arm of choose(arms)');
    }
    return this.#ledger.exclusive(async () => {
      const fresh = this.#draw(ticket, value, undefined, own); // finds out what is wrong before anything is charged
      const stored = await this.#ledger.reserve(ticket, fresh.mint);
      const { report } = this.#draw(ticket, value, stored, own);
      if (stored.mint) {
        await this.#ledger.commit(ticket, report);
      }
      return { report, repeated: !stored.mint };
    });
  }

  /** A round: which arm to play, and the grant its report is sent with, `grant` or a new one. The arm is drawn here, by
   * public weights; in a study of decision sets it is the best of `arms`, which stay here, by the public card. */
  async choose(arms, grant) {
    const said = await this.#asked().enter(grant);
    if (said.card === undefined) {
      return { index: this.#module.choose(said.weights), ticket: said.grant };
    }
    const card = decoded(said.card);
    this.#module.card(card);
    const arm = this.#module.chooseOwn(arms ?? []);
    return { index: arm, ticket: said.grant, own: { round: ownRound(), point: [...arms[arm]], card } };
  }

  /** Reports the value of a round, and sends the report. Repeat it when it fails: it sends the same bits. */
  async send({ index, ticket, own }, value) {
    const collector = this.#asked();
    const { report } = await this.report(ticket, value, own);
    await collector.send([{ grant: ticket, index: own?.round ?? index, value: report }]);
    return { report };
  }

  #asked() {
    if (this.#collector === null) {
      throw new DeviceError('STATE', 'the device was opened without a collector\'s origin');
    }
    return this.#collector;
  }

  /** Devices may share a module: the law is set for each call, and the card. */
  #draw(ticket, value, stored, own) {
    this.#module.law(...this.#law);
    if (own !== undefined) {
      this.#module.card(own.card);
    }
    return this.#module.report(ticket, value, stored, own);
  }

  /** {budget, eps, count}. */
  status() { return this.#ledger.status(); }

  /** False: the browser may forget what was charged; show it. */
  get persisted() { return this.#ledger.persisted; }

  close() { this.#ledger.close(); }
}
