/* SPDX-License-Identifier: Apache-2.0 */
// chart.ts - charts as SVG, in the look of the reports (src/report/chart.c): palette, dashes, round ticks. A line of any
// length costs at most some hundred points: each pixel column keeps its least and its largest value.
import { Axis, Column, axisOf, plainAxis, valueText } from "./column";
import { number, svg } from "./dom";

export interface Series { name: string; x: number[]; y: number[]; lower?: number[]; upper?: number[]; style: "line" | "step" | "points" }
// An axis that is a column of a study is drawn as its kind; one that is a name has the numbers of the series.
export interface Chart { title: string; x: string | Column; y: string; series: Series[] }

// Letters of a picture that shrinks shrink with it: on a telephone it is drawn narrower.
let WIDTH = 640;
const HEIGHT = 270, LEFT = 62, RIGHT = 16, TOP = 30, BOTTOM = 44;

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

function axes(picture: SVGElement, x: Axis, y: Axis, sx: (v: number) => number, sy: (v: number) => number): void {
  for (const t of y.ticks) {
    picture.append(svg("line", { class: "gridline", x1: LEFT, x2: WIDTH - RIGHT, y1: sy(t.value), y2: sy(t.value) }), svg("text", { class: "tick", x: LEFT - 8, y: sy(t.value) + 4, "text-anchor": "end" }, short(t.text, 8)));
  }
  const room = (WIDTH - LEFT - RIGHT) / Math.max(1, x.ticks.length) / 7;
  for (const t of x.ticks) {
    picture.append(svg("text", { class: "tick", x: sx(t.value), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, short(t.text, Math.max(4, room))));
  }
  picture.append(svg("path", { class: "axis", d: `M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - RIGHT}` }),
    svg("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, x.name),
    svg("text", { x: LEFT, y: 16 }, y.name));
}

// A level's name in the room that its place has.
function short(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, Math.floor(most) - 1))}…`;
}

function fit(): void {
  WIDTH = window.innerWidth < 600 ? 360 : 640;
}

export function draw(chart: Chart): SVGElement {
  fit();
  const named = typeof chart.x === "string";
  const wanted = WIDTH < 600 ? 4 : 6;
  const ys = extent(chart.series.flatMap((s) => [s.y, s.lower ?? [], s.upper ?? []]));
  const room = 0.04 * (ys[1] - ys[0]);
  const x = typeof chart.x === "string" ? plainAxis(chart.x, ...extent(chart.series.map((s) => s.x)), wanted) : axisOf(chart.x, wanted);
  const y = plainAxis(chart.y, ys[0] - room, ys[1] + room);
  const sx = (v: number): number => LEFT + x.to(v) * (WIDTH - LEFT - RIGHT);
  const sy = (v: number): number => HEIGHT - BOTTOM - y.to(v) * (HEIGHT - TOP - BOTTOM);
  const at = (a: number, b: number): string => `${sx(a).toFixed(1)} ${sy(b).toFixed(1)}`;
  const words = chart.series.map((s) => `${s.name}: ${s.y.length} values, last ${number(s.y[s.y.length - 1])}`).join("; ");
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${chart.title}. ${words}` });
  axes(picture, x, y, sx, sy);
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
    // What is under the pointer, where there are not too many.
    if (!named && kept.length <= 1100) {
      for (const i of kept) {
        picture.append(svg("circle", { class: "spot", cx: sx(s.x[i]).toFixed(1), cy: sy(s.y[i]).toFixed(1), r: 5 },
          svg("title", {}, `${valueText(chart.x as Column, s.x[i])}: ${number(s.y[i])}${s.upper ? ` ± ${number(s.upper[i] - s.y[i], 2)}` : ""}`)));
      }
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
export function squares(title: string, a: Column, b: Column, cells: Cell[]): SVGElement {
  fit();
  const [lo, hi] = extent([cells.map((c) => c.value)]);
  const x = axisOf(a, WIDTH < 600 ? 4 : 6), y = axisOf(b);
  const nx = new Set(cells.map((c) => c.x)).size, ny = new Set(cells.map((c) => c.y)).size;
  const wide = WIDTH - LEFT - RIGHT, high = HEIGHT - TOP - BOTTOM;
  const w = Math.max(9, wide / Math.max(1, nx)), t = Math.max(9, high / Math.max(1, ny));
  // Squares lie within the axes: those of a level have its place, those of numbers are moved in by half of one.
  const sx = (v: number): number => (x.width > 0 ? LEFT + x.to(v) * wide : LEFT + w / 2 + x.to(v) * (wide - w));
  const sy = (v: number): number => HEIGHT - BOTTOM - (y.width > 0 ? y.to(v) * high : t / 2 + y.to(v) * (high - t));
  const picture = svg("svg", { class: "chart", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `${title}. From ${number(lo)}, faint, to ${number(hi)}, full.` });
  axes(picture, x, y, sx, sy);
  for (const c of cells) {
    const share = (c.value - lo) / (hi - lo || 1);
    picture.append(svg("rect", { class: "f0", opacity: (0.06 + 0.94 * share).toFixed(3), x: (sx(c.x) - w / 2).toFixed(1), y: (sy(c.y) - t / 2).toFixed(1), width: w.toFixed(1), height: t.toFixed(1), "shape-rendering": "crispEdges" },
      svg("title", {}, `${a.name} ${valueText(a, c.x)}, ${b.name} ${valueText(b, c.y)}: ${number(c.value)}${c.sd === null ? "" : ` ± ${number(c.sd, 2)}`}`)));
  }
  picture.append(svg("text", { x: WIDTH - RIGHT, y: 16, "text-anchor": "end" }, `faint ${number(lo)} to full ${number(hi)}`));
  return picture;
}

// The picture as a file of its own: it cannot ask for the page's style sheet, so it takes the light colours along.
export function svgFile(picture: SVGElement): string {
  const copy = picture.cloneNode(true) as SVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.prepend(svg("style", {}, "text{font:13px system-ui,sans-serif;fill:#1b1f24}.tick{fill:#59636e}.gridline{stroke:#dde2e7}.axis{stroke:#59636e;fill:none}" +
    ".line{fill:none;stroke-width:2.2}.line.thin{stroke-width:1;opacity:.6}.band{opacity:.18}.spot{fill:none}.c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#009e73}"));
  return new XMLSerializer().serializeToString(copy);
}
