/* SPDX-License-Identifier: Apache-2.0 */
// column.ts - a column of a study as a person reads it: numbers, levels by name, dates. A value
// is a number throughout, as the server sends it: days since 1970-01-01 for a date, the index of a level.
import { number } from "./dom";

export interface Column { name: string; kind: string; context: boolean; bounds?: [number, number]; levels?: string[] }
const DAY = 86400000;
const isoDate = (days: number): string => new Date(Math.round(days) * DAY).toISOString().slice(0, 10);
export const daysOf = (date: string): number => Date.parse(`${date}T00:00:00Z`) / DAY;

export function valueText(column: Column, value: number, digits = 4): string {
  if (column.kind === "category") return column.levels?.[value] ?? "–";
  return column.kind === "date" ? isoDate(value) : number(value, digits);
}
