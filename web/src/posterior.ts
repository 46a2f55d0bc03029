/* SPDX-License-Identifier: Apache-2.0 */
// posterior.ts - what a study has learnt, over one or two of its columns, in their own units; the others are set beside it.
import { get, picture, Problem } from "./api";
import { Column, daysOf, valueText } from "./column";
import { card, csv, download, field, h, number } from "./dom";

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
const width = (): number => (window.innerWidth < 600 ? 360 : 760);

// The figure as the server draws it for reports, too; with `file` as one with its own style.
const address = (study: string, kind: string, query: string, file = false): string => `/v1/studies/${study}/figures/${kind}?${query}&width=${file ? 760 : width()}${file ? "&file=1" : ""}`;

export function figure(study: string, kind: string, query: string): Promise<SVGElement | null> {
  return picture(address(study, kind, query));
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

// `change` is called with the axes that somebody chose.
export async function posterior(study: string, a: Axes, change: (axes: Axes) => void): Promise<HTMLElement> {
  let p: Posterior;
  try {
    p = await get<Posterior>(`/v1/studies/${study}/posterior?${axesQuery(a)}`);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 409) throw error;
    return h("div", { class: "cards" }, card("Posterior", "", h("p", { class: "soft" }, `${error.message}.`)));
  }
  const pick = (label: string, value: number, none: boolean, set: (v: number) => Axes): HTMLElement => {
    const select: HTMLSelectElement = h("select", { change: () => change(set(Number(select.value))) },
      ...(none ? [h("option", { value: -1, selected: value < 0 }, "(one column)")] : []),
      ...p.columns.map((c, i) => h("option", { value: i, selected: i === value }, c.name)));
    return field(label, select);
  };
  const others = p.at ? p.columns.map((c, i) => (i === a.x || i === a.y ? null : control(c, p.at![i], (v) => change({ ...a, at: p.at!.map((old, k) => (k === i ? v : old)) })))) : [];
  const drawn = await figure(study, "posterior", axesQuery(a));
  const file = (end: string): string => `${study}-${p.columns[a.x].name}${a.y >= 0 ? `-${p.columns[a.y].name}` : ""}.${end}`;
  const rows = (): (string | number)[][] => [[...p.columns.map((c) => c.name), "mean", "sd"], ...p.points.map((q) => [...q.at.map((v, i) => valueText(p.columns[i], v, 17)), q.mean ?? "", q.sd ?? ""])];
  return h("div", { class: "cards" }, card("Posterior", "",
    h("div", { class: "fields" }, pick("Column", a.x, false, (x) => ({ ...a, x, y: a.y === x ? -1 : a.y })), pick("Second column", a.y, true, (y) => ({ ...a, y: y === a.x ? -1 : y })), ...others),
    drawn,
    h("p", { class: "small soft" }, p.kind === "points"
      ? "Every point of the domain: its mean, with one standard deviation either way. Made of randomised reports; costs nothing more."
      : `What a release would say now, ${others.some((o) => o) ? "with the other columns as set above" : "over a grid"}${p.columns.some((c) => c.context) ? ", for the context that is set above" : ""}; the band is the model's own error. Costs no budget.`),
    h("div", { class: "buttons" },
      h("button", { type: "button", click: () => download(file("csv"), csv(rows()), "text/csv") }, "Download CSV"),
      h("button", { type: "button", click: () => download(file("json"), JSON.stringify(p)) }, "Download JSON"),
      h("button", { type: "button", click: () => void get<string>(address(study, "posterior", axesQuery(a), true)).then((text) => download(file("svg"), text, "image/svg+xml")) }, "Download SVG"))));
}
