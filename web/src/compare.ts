/* SPDX-License-Identifier: Apache-2.0 */
// compare.ts - an A/B study: may I stop? What its status says of the arms, and the picture of it.
import { card, facts, h, number, table } from "./dom";
import { figure } from "./posterior";

interface Pair { arm: string; over: string; difference: number; lower: number; upper: number; claimed: boolean }
export interface Test { confidence: number; tickets: number; arms: { arm: string; mean: number | null }[]; pairs: Pair[]; more_tickets: number | null }

// Whether one may stop, in one sentence. Limits hold at all looks, so that looking early costs nothing.
export function verdict(t: Test): { stop: boolean; words: string } {
  if (t.tickets === 0) return { stop: false, words: "Not yet: nothing has been released. The first look comes when the first epoch ends." };
  const beaten = new Set(t.pairs.map((p) => p.over));
  const ahead = t.pairs.find((p) => !beaten.has(p.arm))?.arm ?? "";
  const against = t.pairs.filter((p) => p.arm === ahead);
  const sure = against.filter((p) => p.claimed);
  const least = Math.min(...against.map((p) => p.lower));
  if (against.length > 0 && sure.length === against.length) return { stop: true, words: `Yes: ${ahead} earns at least ${number(least, 3)} more than ${against.length === 1 ? against[0].over : "any other arm"}.` };
  const wait = t.more_tickets === null ? "At the rates seen so far no difference would show within a thousand times as many tickets."
    : t.more_tickets > 0 ? `If the rates stay as they are, about ${t.more_tickets.toLocaleString("en")} more tickets may decide it.` : "";
  const part = sure.length > 0 ? `${ahead} is better than ${sure.map((p) => p.over).join(", ")}, and not yet told from the others. ` : `${ahead} is ahead, and may be so by chance. `;
  return { stop: false, words: `Not yet: ${part}${wait}`.trim() };
}

const LIMITS = (t: Test): string => `All limits hold together, however often you look, with probability ${number(100 * t.confidence)} %. Look as often as you like; stop when you like.`;

export async function compareCard(study: string, t: Test): Promise<HTMLElement> {
  const said = verdict(t);
  return card("May I stop?", "", h("p", { class: said.stop ? "claim goodtext" : "claim", "data-stop": String(said.stop) }, said.words),
    facts(["tickets counted", t.tickets.toLocaleString("en")], ...t.arms.map((a) => [a.arm, number(a.mean)] as [string, string])),
    t.tickets > 0 ? await figure(study, "arms", "x=0") : null, h("p", { class: "small soft" }, LIMITS(t)));
}

// Each pair of arms.
export async function pairsCard(study: string, t: Test): Promise<HTMLElement> {
  if (t.pairs.length === 0) return card("Pairs of arms", "", h("p", { class: "soft" }, verdict(t).words));
  return card("Pairs of arms", "", await figure(study, "comparison", "x=0"),
    h("div", { class: "scroll" }, table<Pair>([
      { name: "Arm", text: (p) => p.arm }, { name: "Over", text: (p) => p.over },
      { name: "Earns more by", numeric: true, text: (p) => number(p.difference, 3) },
      { name: "At least", numeric: true, text: (p) => number(p.lower, 3) },
      { name: "At most", numeric: true, text: (p) => number(p.upper, 3) },
      { name: "Better", text: (p) => (p.claimed ? "yes" : "not certain") }], t.pairs, "Pairs of arms, the one ahead first")),
    h("p", { class: "small soft" }, LIMITS(t)));
}
