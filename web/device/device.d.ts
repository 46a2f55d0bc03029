// SPDX-License-Identifier: Apache-2.0
/** What the page promises of its reports. The page's own words: a collector that asks for others gets nothing. */
export interface Study {
  name: string;
  /** Of each report: pure, whatever the collector does. */
  eps: number;
  /** Public, fixed before any reward is seen; rewards outside are clipped. */
  range: [lo: number, hi: number];
  /** Default hybrid. sphere: a study of decision sets; arm and reward are reported together, as one of 256 directions. */
  randomizer?: 'hybrid' | 'laplace' | 'sphere';
}

export interface Report {
  /** What may be sent: a possible output of the randomiser. */
  report: number;
  /** The ticket had been answered before; these are the same bits, and nothing was charged. */
  repeated: boolean;
}

/** What a report of a decision set is about: it stays here. */
export interface Own { round: number; point: number[]; card: Uint8Array }

export interface Round {
  /** Which arm to play: of the study, or of the arms given to choose(). */
  index: number;
  /** The grant: a signed permission to send one report, for half an hour. */
  ticket: string;
  own?: Own;
}

export interface Status {
  budget: number;
  eps: number;
  /** Reports charged so far: count * eps of the budget is spent. */
  count: number;
}

/** Where reports are remembered. Resolved means durable. */
export interface Memory {
  readonly persisted: boolean;
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  reserve(ticket: string, mint: Uint8Array): Promise<{ mint: Uint8Array } | { mint?: undefined; report: number }>;
  commit(ticket: string, report: number): Promise<void>;
  status(): Promise<Status>;
  close(): void;
}

export class Ledger implements Memory {
  static open(study: string, settings: { randomizer: string; eps: number; lo: number; hi: number }, budget: number): Promise<Ledger>;
  readonly persisted: boolean;
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  reserve(ticket: string, mint: Uint8Array): Promise<{ mint: Uint8Array } | { mint?: undefined; report: number }>;
  commit(ticket: string, report: number): Promise<void>;
  status(): Promise<Status>;
  close(): void;
}

/** code: BUDGET, CONFLICT, IO, UNSUPPORTED. */
export class LedgerError extends Error { readonly code: string; }
/** code: as in tacet/core/status.h. */
export class DeviceError extends Error { readonly code: string; }

/** The library in one instance; for programs without a page. */
export class Module {
  static load(bytes?: BufferSource | WebAssembly.Module, random?: (array: Uint8Array) => void): Promise<Module>;
  choose(weights: ArrayLike<number> & { every: Function }): number;
  card(bytes: Uint8Array): number;
  chooseOwn(arms: number[][]): number;
  law(kind: number, eps: number, lo: number, hi: number): void;
  report(ticket: string, value: number, stored?: { mint?: Uint8Array; report?: number }, own?: { round: number; point: number[] }): { mint?: Uint8Array; report?: number };
}

export class Device {
  /** origin: the collector, which takes the reports; budget: the eps of all reports of this browser to this study together. */
  static open(options: {
    study: Study; origin?: string; budget: number;
    ledger?: Memory; module?: Module | BufferSource | WebAssembly.Module;
  }): Promise<Device>;
  /** Charged once a ticket, before anything is drawn. A ticket that was interrupted draws the same report again, for the
   * same value or not at all (CONFLICT). */
  report(ticket: string, value: number, own?: Own): Promise<Report>;
  /** Asks the collector for a grant, if none of a login is given, and the public state, compares its settings with the
   * study's (CONFLICT), and draws the arm here: of the study, or of `arms`, which the collector does not see. */
  choose(arms?: number[][], grant?: string): Promise<Round>;
  /** report(), and the report sent. */
  send(round: Round, value: number): Promise<{ report: number }>;
  status(): Promise<Status>;
  /** False: the browser may forget what was charged. Show it to the person. */
  readonly persisted: boolean;
  close(): void;
}
