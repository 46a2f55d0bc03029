/* SPDX-License-Identifier: Apache-2.0 */
// dom.ts - elements from text, never from markup: whatever a user chose as a name is shown as text. The server's
// Content-Security-Policy forbids the rest (require-trusted-types-for 'script', trusted-types 'none').

type Child = Node | string | null | undefined | false;
type Attributes = { [name: string]: string | number | boolean | ((event: Event) => void) | undefined };

function fill(element: Element, attributes: Attributes, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  for (const child of children) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function put(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...(children.filter((c) => c !== null && c !== undefined && c !== false) as (Node | string)[]));
}

// Said by a screen reader, without moving anything.
const said = h("div", { class: "said", role: "status", "aria-live": "polite" });
export function announce(text: string): void {
  if (!said.isConnected) document.body.append(said);
  said.textContent = text;
}

export function number(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(digits)));
}

// What a guarantee costs: never less than it is; without a bound it is infinite.
export function above(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "∞";
  const near = Number(value.toPrecision(digits));
  if (near >= value) return String(near);
  return String(Number((near + 10 ** (Math.floor(Math.log10(value)) - digits + 1)).toPrecision(digits)));
}

export function when(seconds: number): string {
  if (!(seconds > 0)) return "–";
  return new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");
}

export function age(seconds: number): string {
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} days`;
}

export function facts(...pairs: [string, string][]): HTMLElement {
  return h("dl", { class: "facts" }, ...pairs.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
}

export function card(title: string, kind: string, ...children: Child[]): HTMLElement {
  const id = `t-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return h("section", { class: `card ${kind}`, "aria-labelledby": id }, h("h2", { id }, title), ...children);
}

let fields = 0;
export function field(name: string, input: HTMLInputElement | HTMLSelectElement): HTMLElement {
  input.id = input.id || `f-${++fields}`;
  return h("div", { class: "field" }, h("label", { for: input.id }, name), input);
}

export function gauge(name: string, part: number, whole: number, words: string): HTMLElement {
  const share = whole > 0 ? Math.min(1, Math.max(0, part / whole)) : 0;
  const bar = h("i");
  bar.style.width = `${(100 * share).toFixed(1)}%`;
  return h("div", {},
    h("div", { class: share >= 0.9 ? "track full" : "track", role: "meter", "aria-label": name, "aria-valuemin": 0, "aria-valuemax": whole, "aria-valuenow": part, "aria-valuetext": words }, bar),
    h("div", { class: "small soft" }, words));
}

export interface Column<T> { name: string; numeric?: boolean; text: (row: T) => string | Node }

export function table<T>(columns: Column<T>[], rows: T[], caption: string): HTMLElement {
  return h("table", { class: columns.length > 2 ? "stack" : "" }, h("caption", { class: "said" }, caption),
    h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col", class: c.numeric ? "num" : "" }, c.name)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...columns.map((c) => h("td", { class: c.numeric ? "num" : "", "data-column": c.name }, c.text(row)))))));
}

// A table of any length: only the rows in sight are in the document.
export class LongTable<T> {
  readonly element: HTMLElement;
  private readonly height = 34;
  private readonly body = h("tbody");
  private readonly above = h("tr", { "aria-hidden": true });
  private readonly below = h("tr", { "aria-hidden": true });
  private readonly inner: HTMLTableElement;
  private rows: T[] = [];
  private from = -1;
  private to = -1;
  constructor(private readonly columns: Column<T>[], caption: string) {
    this.inner = h("table", {}, h("caption", { class: "said" }, caption),
      h("thead", {}, h("tr", {}, ...columns.map((c) => h("th", { scope: "col", class: c.numeric ? "num" : "" }, c.name)))), this.body);
    this.element = h("div", { class: "list", tabindex: 0, role: "region", "aria-label": caption }, this.inner);
    this.element.addEventListener("scroll", () => this.draw(false), { passive: true });
  }
  show(rows: T[]): void {
    this.rows = rows;
    this.inner.setAttribute("aria-rowcount", String(rows.length + 1));
    this.draw(true);
  }
  private draw(anew: boolean): void {
    const from = Math.max(0, Math.floor(this.element.scrollTop / this.height) - 8);
    const to = Math.min(this.rows.length, from + Math.ceil((this.element.clientHeight || 420) / this.height) + 16);
    if (!anew && from === this.from && to === this.to) return;
    this.from = from;
    this.to = to;
    const space = (row: HTMLTableRowElement, count: number): HTMLTableRowElement => {
      row.style.height = `${count * this.height}px`;
      return row;
    };
    const shown = this.rows.slice(from, to).map((row, i) => {
      const line = h("tr", { "aria-rowindex": from + i + 2 }, ...this.columns.map((c) => h("td", { class: c.numeric ? "num" : "" }, c.text(row))));
      line.style.height = `${this.height}px`;
      return line;
    });
    put(this.body, space(this.above, from), ...shown, space(this.below, this.rows.length - to));
  }
}

export function csv(rows: (string | number)[][]): string {
  const cell = (v: string | number): string => (/[",\n]/.test(String(v)) ? `"${String(v).replace(/"/g, '""')}"` : String(v));
  return rows.map((row) => `${row.map(cell).join(",")}\n`).join("");
}

export function download(name: string, text: string, type = "application/json"): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
