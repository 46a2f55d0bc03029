// SPDX-License-Identifier: Apache-2.0
/* collector.js - what a page asks a collector, and sends it (docs/API.md, "Pages"). No cookie, no token: a grant a report.
 * What the collector says decides neither eps nor range: a study with others than the page's own gets nothing. */
import { DeviceError } from './error.js';

const MISTAKEN = { 400: 'INVALID', 403: 'DENIED', 404: 'NOT_FOUND', 409: 'STATE', 429: 'BUSY' };

export class Collector {
  #url;
  #settings;

  constructor(origin, study, settings) {
    this.#url = `${origin}/v1/pages/${encodeURIComponent(study)}`;
    this.#settings = settings;
  }

  async #ask(path, body) {
    const asked = { mode: 'cors', credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store' };
    if (body !== undefined) {
      Object.assign(asked, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
    }
    let answer;
    try {
      answer = await fetch(this.#url + path, asked);
    } catch (cause) {
      throw new DeviceError('IO', 'the collector cannot be reached', { cause });
    }
    const said = await answer.json().catch(() => ({}));
    if (!answer.ok) {
      throw new DeviceError(MISTAKEN[answer.status] ?? 'IO', said.detail ?? `the collector answered ${answer.status}`);
    }
    return said;
  }

  /** The public state: weights, or the card of a study of decision sets. With it a grant for one report, where the page
   * has none of a login. */
  async enter(grant) {
    const said = await this.#ask('');
    const { randomizer, eps, lo, hi } = this.#settings;
    if (said.randomizer !== randomizer || said.eps !== eps || said.range?.[0] !== lo || said.range?.[1] !== hi) {
      throw new DeviceError('CONFLICT', 'the study asks for another randomizer, eps or range than this page gives');
    }
    if (!(said.rounds_left > 0)) {
      throw new DeviceError('STATE', 'the study has given out its rounds');
    }
    return { weights: said.weights, card: said.model, grant: grant ?? (await this.#ask('/grants', {})).grants[0] };
  }

  /** Reports that may be sent: {grant, index, value}. */
  async send(reports) {
    const { results } = await this.#ask('/reports', { reports });
    const refused = results.find((r) => r.state !== 'observed');
    if (refused !== undefined) {
      throw new DeviceError('CONFLICT', refused.detail);
    }
  }
}
