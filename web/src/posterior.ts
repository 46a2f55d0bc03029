/* SPDX-License-Identifier: Apache-2.0 */
// posterior.ts - what a study has learnt, over one or two of its columns, in their own units; the others are set beside it.
import { get, picture, Problem } from "./api";
import { Column, daysOf, valueText } from "./column";
import { card, csv, download, field, h, number, put } from "./dom";

export interface Posterior { kind: string; columns: Column[]; at?: number[]; points: { at: number[]; mean: number | null; sd: number | null }[] }
// Which columns are drawn, and where the others are: none said is where the release's best point is.
export interface Axes { x: number; y: number; at: number[] }

export const noAxes = (): Axes => ({ x: 0, y: -1, at: [] });

export function axesQuery(a: Axes): string {
  return [`x=${a.x}`, ...(a.y >= 0 ? [`y=${a.y}`] : []), ...(a.at.length > 0 ? [`at=${a.at.join(",")}`] : [])].join("&");
}

export function axesFrom(query: URLSearchParams): Axes {
  const whole = (name: string, none: number): number => (/^\d{1,3}$/.test(query.get(name) ?? "") ? Number(query.get(name)) : none);
  const at = (query.get("at") ?? "").split(",").map(Number);
  return { x: whole("x", 0), y: whole("y", -1), at: query.has("at") && at.every(Number.isFinite) ? at : [] };
}

// Letters of a picture that shrinks shrink with it: on a telephone it is drawn narrower.
const width = (halved: boolean): number => (window.innerWidth < 600 ? 360 : halved ? 520 : window.innerWidth < 1200 ? 760 : 1100);

// The figure as the server draws it for reports, too; with `file` as one with its own style.
const address = (study: string, kind: string, query: string, wide: number, file = false): string => `/v1/studies/${study}/figures/${kind}?${query}&width=${wide}${file ? "&file=1" : ""}`;

// `halved`: two are side by side.
export function figure(study: string, kind: string, query: string, halved = false): Promise<SVGElement | null> {
  return picture(address(study, kind, query, width(halved)));
}

// What sets one of the columns that are not drawn.
function control(column: Column, now: number, set: (value: number) => void): HTMLElement {
  if (column.kind === "category") {
    const select: HTMLSelectElement = h("select", { change: () => set(Number(select.value)) }, ...(column.levels ?? []).map((name, i) => h("option", { value: i, selected: i === now }, name)));
    return field(column.name, select);
  }
  const [lo, hi] = column.bounds!;
  if (column.kind === "date") {
    const input: HTMLInputElement = h("input", { type: "date", min: valueText(column, lo), max: valueText(column, hi), value: valueText(column, now), change: () => { if (input.value) set(daysOf(input.value)); } });
    return field(column.name, input);
  }
  const log = column.kind === "log";
  const there = (v: number): number => (log ? Math.log10(v) : v);
  const back = (v: number): number => Math.min(hi, Math.max(lo, log ? 10 ** v : v));
  const shown = h("output", { class: "soft" }, ` ${number(now, 3)}`);
  const step = column.kind === "integer" ? 1 : (there(hi) - there(lo)) / 50 || 1;
  const input: HTMLInputElement = h("input", { type: "range", min: there(lo), max: there(hi), step, value: there(now), "aria-valuetext": number(now, 3),
    change: () => set(back(Number(input.value))), input: () => { shown.textContent = ` ${number(back(Number(input.value)), 3)}`; input.setAttribute("aria-valuetext", number(back(Number(input.value)), 3)); } });
  const made = field(column.name, input);
  made.firstElementChild!.append(shown);
  return made;
}

// The view of one study. What somebody chooses in stays as it is when only the picture is new: a list that is open is
// not closed by a round.
export class PosteriorView {
  private key = "";
  private places = ""; // what the controls of the other columns show
  private turn = 0;
  private shown: { p: Posterior; a: Axes } | null = null;
  private readonly choices = h("div", { class: "fields" });
  private readonly rest = h("div", { class: "fields" });
  private readonly drawn = h("div", { class: "pair" });
  private readonly words = h("p", { class: "small soft" });
  private readonly element: HTMLElement;

  // `change` is called with the axes that somebody chose.
  constructor(private readonly study: string, private readonly change: (axes: Axes) => void) {
    const save = (end: string, text: () => string, type?: string): HTMLElement => h("button", { type: "button", click: () => download(`${study}-${this.names()}.${end}`, text(), type) }, `Download ${end.toUpperCase()}`);
    this.element = h("div", { class: "cards" }, card("Posterior", "", this.choices, this.rest, this.drawn, this.words,
      h("div", { class: "buttons" }, save("csv", () => csv(this.rows()), "text/csv"), save("json", () => JSON.stringify(this.shown!.p)),
        h("button", { type: "button", click: () => void get<string>(address(study, "posterior", axesQuery(this.shown!.a), 760, true)).then((text) => download(`${study}-${this.names()}.svg`, text, "image/svg+xml")) }, "Download SVG"))));
  }

  private names(): string {
    const { p, a } = this.shown!;
    return `${p.columns[a.x].name}${a.y >= 0 ? `-${p.columns[a.y].name}` : ""}`;
  }

  private rows(): (string | number)[][] {
    const { p } = this.shown!;
    return [[...p.columns.map((c) => c.name), "mean", "sd"], ...p.points.map((q) => [...q.at.map((v, i) => valueText(p.columns[i], v, 17)), q.mean ?? "", q.sd ?? ""])];
  }

  private pick(label: string, value: number, none: boolean, set: (v: number) => Axes): HTMLElement {
    const select: HTMLSelectElement = h("select", { change: () => this.change(set(Number(select.value))) },
      ...(none ? [h("option", { value: -1, selected: value < 0 }, "(one column)")] : []),
      ...this.shown!.p.columns.map((c, i) => h("option", { value: i, selected: i === value }, c.name)));
    return field(label, select);
  }

  private control(): void {
    const { p, a } = this.shown!;
    const key = JSON.stringify([a.x, a.y, p.columns]), places = JSON.stringify([key, p.at]);
    const focus = [...this.element.querySelectorAll<HTMLElement>("select, input")].indexOf(document.activeElement as HTMLElement);
    if (key !== this.key) put(this.choices, this.pick("Column", a.x, false, (x) => ({ ...a, x, y: a.y === x ? -1 : a.y })), this.pick("Second column", a.y, true, (y) => ({ ...a, y: y === a.x ? -1 : y })));
    if (places !== this.places && (key !== this.key || a.at.length > 0 || !this.rest.contains(document.activeElement))) {
      put(this.rest, ...(p.at ? p.columns.map((c, i) => (i === a.x || i === a.y ? null : control(c, p.at![i], (v) => this.change({ ...a, at: p.at!.map((old, k) => (k === i ? v : old)) })))) : []));
      this.places = places;
    }
    this.key = key;
    if (focus >= 0 && !this.element.contains(document.activeElement)) this.element.querySelectorAll<HTMLElement>("select, input")[focus]?.focus();
  }

  private async pictures(): Promise<void> {
    const { p, a } = this.shown!;
    const turn = ++this.turn;
    const map = a.y >= 0 && p.columns[a.y].kind !== "category";
    const errors = new Set(p.points.map((q) => q.sd));
    const two = map && errors.size > 1;
    const made = [await figure(this.study, "posterior", axesQuery(a), two), two ? await figure(this.study, "uncertainty", axesQuery(a), two) : null];
    if (turn !== this.turn) return; // something newer was asked for meanwhile
    put(this.drawn, ...made);
    this.drawn.classList.toggle("two", made[1] !== null);
    const same = errors.size === 1 && p.points[0]?.sd ? `, ± ${number(p.points[0].sd, 2)} everywhere` : "";
    this.words.textContent = p.kind === "points"
      ? `Every point of the domain: its mean, with one standard deviation either way${made[1] ? ", which the second picture shows" : ""}. Made of randomised reports; costs nothing more.`
      : `What a release would say now, ${this.rest.childElementCount > 0 ? "with the other columns as set above" : "over a grid"}${p.columns.some((c) => c.context) ? ", for the context that is set above" : ""}; ${map ? "the error" : "the band"} is one standard deviation of the released model${same}. Costs no budget.`;
  }

  async show(a: Axes): Promise<HTMLElement> {
    let p: Posterior;
    try {
      p = await get<Posterior>(`/v1/studies/${this.study}/posterior?${axesQuery(a)}`);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409) throw error;
      return h("div", { class: "cards" }, card("Posterior", "", h("p", { class: "soft" }, `${error.message}.`)));
    }
    this.shown = { p, a };
    this.control();
    await this.pictures();
    return this.element;
  }
}
