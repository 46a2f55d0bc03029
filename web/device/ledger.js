// SPDX-License-Identifier: Apache-2.0
/* ledger.js - what a browser remembers of its reports, in IndexedDB.
 *
 * One database a site, one head (budget, eps, count) a study, one record a ticket. A ticket is reserved and charged in
 * one transaction of strict durability, before anything is drawn; its report replaces its key in a second one, before
 * anything is returned. What is stored stays here: with the key and the report anybody has the reward.
 * A browser whose site data are cleared, and a private window, are new devices: they have an empty ledger. */

const DATABASE = 'tacet-device', VERSION = 1;

export class LedgerError extends Error {
  /** @param {string} code BUDGET, CONFLICT, IO or UNSUPPORTED */
  constructor(code, message, options) {
    super(message, options);
    this.name = 'LedgerError';
    this.code = code;
  }
}

function opened(name) {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('studies');
      request.result.createObjectStore('tickets');
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new LedgerError('IO', 'this browser gives the page no storage', { cause: request.error }));
    request.onblocked = () => reject(new LedgerError('IO', 'another tab holds an older ledger open'));
  });
}

export class Ledger {
  #db;
  #study;
  #settings;
  #persisted;

  /** settings: {eps, lo, hi, randomizer}; budget: the eps of all reports of this browser to this study. */
  static async open(study, settings, budget) {
    if (typeof indexedDB === 'undefined' || typeof navigator === 'undefined' || !navigator.locks) {
      throw new LedgerError('UNSUPPORTED', 'a ledger needs IndexedDB and Web Locks: a page served over HTTPS');
    }
    const ledger = new this();
    ledger.#study = study;
    ledger.#settings = JSON.stringify(settings);
    ledger.#db = await opened(DATABASE);
    ledger.#db.onversionchange = () => ledger.#db.close();
    await ledger.exclusive(() => ledger.#begin(settings.eps, budget));
    // Without it the browser may clear the ledger when its disk is full. Asking twice does no harm.
    ledger.#persisted = (await navigator.storage?.persist?.().catch(() => false)) === true;
    return ledger;
  }

  /** Whether the browser promised to keep the ledger until the person clears it. */
  get persisted() { return this.#persisted; }

  close() { this.#db.close(); }

  /** One at a time among all tabs and workers of the site. */
  exclusive(work) { return navigator.locks.request(`${DATABASE}:${this.#study}`, work); }

  /** `work` gets the transaction and a function for its answer, and fails by throwing; durable when resolved. */
  #write(work) {
    return new Promise((resolve, reject) => {
      let answer, failure;
      const transaction = this.#db.transaction(['studies', 'tickets'], 'readwrite', { durability: 'strict' });
      const step = (request, then) => {
        request.onsuccess = () => {
          try { then(request.result); } catch (error) { failure = error; transaction.abort(); }
        };
      };
      transaction.oncomplete = () => resolve(answer);
      transaction.onabort = () => {
        const cause = transaction.error;
        const full = cause?.name === 'QuotaExceededError';
        reject(failure ?? new LedgerError('IO', full ? 'the browser has no room left for the ledger'
          : 'the browser could not write the ledger', { cause }));
      };
      work(transaction, step, (value) => { answer = value; });
    });
  }

  #begin(eps, budget) {
    return this.#write((transaction, step) => {
      const studies = transaction.objectStore('studies');
      step(studies.get(this.#study), (head) => {
        if (head === undefined) {
          studies.put({ budget, eps, count: 0 }, this.#study);
        } else if (head.budget !== budget || head.eps !== eps) {
          throw new LedgerError('CONFLICT', `this browser's ledger was begun with eps ${head.eps} a report and a budget of `
            + `${head.budget}, and keeps them`);
        }
      });
    });
  }

  /** What is stored of the ticket: {mint} or {report}. A new one is charged, and stored with `mint`. */
  reserve(ticket, mint) {
    return this.#write((transaction, step, answer) => {
      const studies = transaction.objectStore('studies'), tickets = transaction.objectStore('tickets');
      const key = [this.#study, ticket];
      step(tickets.get(key), (old) => {
        if (old !== undefined) {
          if (old.settings !== this.#settings) {
            throw new LedgerError('CONFLICT', 'this ticket was asked under another randomiser, range or eps');
          }
          answer(old);
          return;
        }
        step(studies.get(this.#study), (head) => {
          if (!((head.count + 1) * head.eps <= head.budget)) {
            throw new LedgerError('BUDGET', `this browser has given its ${head.count} reports to this study`);
          }
          const record = { settings: this.#settings, mint };
          studies.put({ ...head, count: head.count + 1 }, this.#study);
          tickets.put(record, key);
          answer(record);
        });
      });
    });
  }

  /** The report of a reserved ticket, in place of its key. */
  commit(ticket, report) {
    return this.#write((transaction) => {
      transaction.objectStore('tickets').put({ settings: this.#settings, report }, [this.#study, ticket]);
    });
  }

  /** {budget, eps, count}: what was promised, and how many reports were charged. */
  async status() {
    let head;
    await this.#write((transaction, step) => step(transaction.objectStore('studies').get(this.#study), (h) => { head = h; }));
    return { budget: head.budget, eps: head.eps, count: head.count };
  }
}
