/* SPDX-License-Identifier: Apache-2.0 */
// chart.ts - charts as SVG, in the look of the reports (src/report/chart.c): palette, dashes, round ticks. A line of any
// length costs at most some hundred points: each pixel column keeps its least and its largest value.
import { number, svg } from "./dom";

export interface Series { name: string; x: number[]; y: number[]; lower?: number[]; upper?: number[]; style: "line" | "step" | "points" }
export interface Chart { title: string; x: string; y: string; series: Series[] }

// Letters of a picture that shrinks shrink with it: on a telephone it is drawn narrower.
let WIDTH = 640;
const HEIGHT = 270, LEFT = 62, RIGHT = 16, TOP = 30, BOTTOM = 44;

export function ticks(lo: number, hi: number, wanted = 5): number[] {
  if (!(hi > lo)) [lo, hi] = [lo - 0.5, lo + 0.5];
  const raw = (hi - lo) / wanted;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const out: number[] = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

function extent(values: number[][]): [number, number] {
  let lo = Infinity, hi = -Infinity;
  for (const list of values) for (const v of list) if (Number.isFinite(v)) { if (v < lo) lo = v; if (v > hi) hi = v; }
  if (!(lo <= hi)) return [0, 1];
  return lo === hi ? [lo - 0.5, hi + 0.5] : [lo, hi];
}

// Indices to keep: all of them, or of each of `most` stretches the first, the least and the largest.
export function thin(y: number[], most = 300): number[] {
  if (y.length <= 3 * most) return y.map((_, i) => i);
  const kept: number[] = [];
  for (let k = 0; k < most; k++) {
    const from = Math.floor((k * y.length) / most), to = Math.floor(((k + 1) * y.length) / most);
    let least = from, largest = from;
    for (let i = from; i < to; i++) { if (y[i] < y[least]) least = i; if (y[i] > y[largest]) largest = i; }
    for (const i of [...new Set([from, least, largest])].sort((a, b) => a - b)) kept.push(i);
  }
  kept.push(y.length - 1);
  return kept;
}

function axes(picture: SVGElement, chart: { x: string; y: string }, sx: (v: number) => number, sy: (v: number) => number, xs: [number, number], ys: [number, number]): void {
  for (const t of ticks(ys[0], ys[1])) {
    picture.append(svg("line", { class: "gridline", x1: LEFT, x2: WIDTH - RIGHT, y1: sy(t), y2: sy(t) }), svg("text", { class: "tick", x: LEFT - 8, y: sy(t) + 4, "text-anchor": "end" }, number(t, 5)));
  }
  for (const t of ticks(xs[0], xs[1], WIDTH < 600 ? 4 : 6)) {
    picture.append(svg("text", { class: "tick", x: sx(t), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, number(t, 5)));
  }
  picture.append(svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, chart.x),
    svg("text", { x: LEFT, y: 16 }, chart.y));
}

function fit(): void {
  WIDTH = window.innerWidth < 600 ? 360 : 640;
}

export function draw(chart: Chart): SVGElement {
  fit();
  const xs = extent(chart.series.map((s) => s.x));
  const ys = extent(chart.series.flatMap((s) => [s.y, s.lower ?? [], s.upper ?? []]));
  const room = 0.04 * (ys[1] - ys[0]);
  ys[0] -= room;
  ys[1] += room;
  const sx = (v: number): number => LEFT + ((v - xs[0]) / (xs[1] - xs[0])) * (WIDTH - LEFT - RIGHT);
  const sy = (v: number): number => HEIGHT - BOTTOM - ((v - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM);
  const at = (x: number, y: number): string => `${sx(x).toFixed(1)} ${sy(y).toFixed(1)}`;
  const words = chart.series.map((s) => `${s.name}: ${s.y.length} values, last ${number(s.y[s.y.length - 1])}`).join("; ");
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.title}. ${words}` });
  axes(picture, chart, sx, sy, xs, ys);
  let right = WIDTH - RIGHT;
  [...chart.series].reverse().forEach((s, reversed) => {
    const colour = (chart.series.length - 1 - reversed) % 3;
    const kept = thin(s.y).filter((i) => Number.isFinite(s.y[i]));
    if (s.lower && s.upper && s.style === "points") {
      picture.append(svg("path", { class: `line thin c${colour}`, d: kept.map((i) => `M${at(s.x[i], s.lower![i])}V${sy(s.upper![i]).toFixed(1)}`).join("") }));
    } else if (s.lower && s.upper && kept.length > 1) {
      const up = kept.map((i) => at(s.x[i], s.upper![i]));
      const down = kept.map((i) => at(s.x[i], s.lower![i])).reverse();
      picture.append(svg("path", { class: `band f${colour}`, d: `M${up.join("L")}L${down.join("L")}Z` }));
    }
    if (s.style === "points" || kept.length === 1) {
      const size = s.y.length > 400 ? 1.6 : 3.2;
      picture.append(svg("path", { class: `f${colour}`, opacity: 0.75, d: kept.map((i) => `M${(sx(s.x[i]) - size).toFixed(1)} ${sy(s.y[i]).toFixed(1)}a${size} ${size} 0 1 0 ${2 * size} 0a${size} ${size} 0 1 0 ${-2 * size} 0`).join("") }));
    } else if (kept.length > 1) {
      const d = s.style === "step" ? kept.map((i, k) => (k === 0 ? `M${at(s.x[i], s.y[i])}` : `H${sx(s.x[i]).toFixed(1)}V${sy(s.y[i]).toFixed(1)}`)).join("") : `M${kept.map((i) => at(s.x[i], s.y[i])).join("L")}`;
      picture.append(svg("path", { class: `line c${colour}`, d }));
    }
    const width = 7 * s.name.length + 26;
    picture.append(svg("text", { x: right - width + 22, y: 16 }, s.name));
    picture.append(s.style === "points" ? svg("circle", { class: `f${colour}`, cx: right - width + 10, cy: 11, r: 3.5 }) : svg("path", { class: `line c${colour}`, d: `M${right - width} 11h17` }));
    right -= width + 10;
  });
  return picture;
}

export interface Cell { x: number; y: number; value: number; sd: number | null }

// Two columns: one square for each pair, darker where the mean is larger.
export function squares(chart: { title: string; x: string; y: string }, cells: Cell[]): SVGElement {
  fit();
  const xs = [...new Set(cells.map((c) => c.x))].sort((a, b) => a - b);
  const ys = [...new Set(cells.map((c) => c.y))].sort((a, b) => a - b);
  const [lo, hi] = extent([cells.map((c) => c.value)]);
  const ex: [number, number] = [xs[0] ?? 0, xs[xs.length - 1] ?? 1], ey: [number, number] = [ys[0] ?? 0, ys[ys.length - 1] ?? 1];
  const w = Math.max(9, (WIDTH - LEFT - RIGHT) / Math.max(1, xs.length)), t = Math.max(9, (HEIGHT - TOP - BOTTOM) / Math.max(1, ys.length));
  const sx = (v: number): number => LEFT + w / 2 + ((v - ex[0]) / (ex[1] - ex[0] || 1)) * (WIDTH - LEFT - RIGHT - w);
  const sy = (v: number): number => HEIGHT - BOTTOM - t / 2 - ((v - ey[0]) / (ey[1] - ey[0] || 1)) * (HEIGHT - TOP - BOTTOM - t);
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.title}. From ${number(lo)}, faint, to ${number(hi)}, full.` });
  axes(picture, chart, sx, sy, ex, ey);
  for (const c of cells) {
    const share = (c.value - lo) / (hi - lo || 1);
    picture.append(svg("rect", { class: "f0", opacity: (0.06 + 0.94 * share).toFixed(3), x: (sx(c.x) - w / 2).toFixed(1), y: (sy(c.y) - t / 2).toFixed(1), width: (w + 0.3).toFixed(1), height: (t + 0.3).toFixed(1) },
      svg("title", {}, `${chart.x} ${number(c.x)}, ${chart.y} ${number(c.y)}: ${number(c.value)}${c.sd === null ? "" : ` ± ${number(c.sd, 2)}`}`)));
  }
  picture.append(svg("text", { x: WIDTH - RIGHT, y: 16, "text-anchor": "end" }, `faint ${number(lo)} to full ${number(hi)}`));
  return picture;
}
