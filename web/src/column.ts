/* SPDX-License-Identifier: Apache-2.0 */
// column.ts - a column of a study as a person reads it: numbers, levels by name, dates, and the axis of each kind. A value
// is a number throughout, as the server sends it: days since 1970-01-01 for a date, the index of a level.
import { number } from "./dom";

export interface Column { name: string; kind: string; context: boolean; bounds?: [number, number]; levels?: string[] }
// `to` sends a value to 0 at the left end of the axis and to 1 at the right one; `width` is what one value takes of it.
export interface Axis { name: string; to: (value: number) => number; ticks: { value: number; text: string }[]; width: number }

const DAY = 86400000;
const isoDate = (days: number): string => new Date(Math.round(days) * DAY).toISOString().slice(0, 10);
export const daysOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY;

export function valueText(column: Column, value: number, digits = 4): string {
  if (column.kind === "category") return column.levels?.[value] ?? "–";
  return column.kind === "date" ? isoDate(value) : number(value, digits);
}

// Round numbers: 1, 2 or 5 times a power of ten apart.
export function ticks(lo: number, hi: number, wanted = 5): number[] {
  if (!(hi > lo)) [lo, hi] = [lo - 0.5, lo + 0.5];
  const raw = (hi - lo) / wanted;
  const power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const out: number[] = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + 1e-9 * step; k++) out.push(Number((k * step).toPrecision(12)));
  return out;
}

export function plainAxis(name: string, lo: number, hi: number, wanted = 5): Axis {
  return { name, to: (v) => (v - lo) / (hi - lo), ticks: ticks(lo, hi, wanted).map((value) => ({ value, text: number(value, 5) })), width: 0 };
}

// Powers of ten, or where there are few of them also their doubles and fives.
function logTicks(lo: number, hi: number): number[] {
  const decades = Math.log10(hi / lo);
  const out: number[] = [];
  const every = Math.max(1, Math.ceil(decades / 6));
  for (let k = Math.floor(Math.log10(lo)); k <= Math.log10(hi) + 1e-9; k++) {
    for (const m of decades < 2.5 ? [1, 2, 5] : [1]) {
      const value = Number((m * 10 ** k).toPrecision(3));
      if (value >= lo * 0.999999 && value <= hi * 1.000001 && (m > 1 || k % every === 0)) out.push(value);
    }
  }
  return out;
}

// The first days of years, of months, or days, so that there are about `wanted`.
function dateTicks(lo: number, hi: number, wanted: number): { value: number; text: string }[] {
  const months = (hi - lo) / 30.44;
  if (months < wanted) return ticks(lo, hi, wanted).filter((v) => v === Math.round(v)).map((value) => ({ value, text: isoDate(value) }));
  const step = [1, 2, 3, 6, 12, 24, 60, 120, 240, 600].find((s) => months / s <= wanted) ?? 1200;
  const start = new Date(lo * DAY);
  const out: { value: number; text: string }[] = [];
  for (let m = Math.ceil((start.getUTCFullYear() * 12 + start.getUTCMonth()) / step) * step; ; m += step) {
    const value = Date.UTC(Math.floor(m / 12), m % 12, 1) / DAY;
    if (value > hi) return out;
    if (value >= lo) out.push({ value, text: step >= 12 ? String(Math.floor(m / 12)) : isoDate(value).slice(0, 7) });
  }
}

export function axisOf(column: Column, wanted = 5): Axis {
  if (column.kind === "category") {
    const levels = column.levels ?? [];
    const every = Math.ceil(levels.length / (2 * wanted));
    return { name: column.name, to: (v) => (v + 0.5) / levels.length, ticks: levels.map((text, value) => ({ value, text })).filter((t) => t.value % every === 0), width: 1 / levels.length };
  }
  const [lo, hi] = column.bounds ?? [0, 1];
  if (column.kind === "log") {
    const span = Math.log(hi / lo);
    return { name: `${column.name} (log scale)`, to: (v) => Math.log(v / lo) / span, ticks: logTicks(lo, hi).map((value) => ({ value, text: number(value, 3) })), width: 0 };
  }
  const plain = plainAxis(column.name, lo, hi === lo ? lo + 1 : hi, wanted);
  if (column.kind === "date") return { ...plain, ticks: dateTicks(lo, hi, wanted) };
  return column.kind === "integer" ? { ...plain, ticks: plain.ticks.filter((t) => Number.isInteger(t.value)) } : plain;
}
