/* SPDX-License-Identifier: Apache-2.0 */
// create.ts - a form that makes a study over a space: first what it can be expected to do, then, by a second button, the
// study itself. The server checks every word; what it refuses is shown as it says it.
import { ask, Problem } from "./api";
import { announce, card, field, h, number, put } from "./dom";

interface Outlook { each: number; points: number; even: boolean; gain: number; rounds_needed?: number; eps_needed?: number }
interface Created { created: boolean; outlook?: Outlook }

// "rate log 0.0001 1", "layers integer 1 8", "since date 2023-01-01 2024-12-31", "optimizer category sgd adam"
export function columnOf(line: string): object {
  const [name, kind, ...rest] = line.trim().split(/\s+/);
  if (kind === "category") return { name, kind, levels: rest };
  return { name, kind, bounds: kind === "date" ? rest : rest.map(Number) };
}

function outlookText(o: Outlook | undefined, rounds: number): string {
  if (!o) return "The definition is good.";
  const first = o.each > 1 ? ` A point is played ${o.each} rounds before its sum is released: the first answer needs ${o.each} of the ${rounds} rounds.` : " Each reward is released at once: the first answer needs one round.";
  const way = o.even ? `Too little for a search: ${o.points} points are played evenly, and the best noisy mean is recommended.` : `A search over ${o.points} points.`;
  const more = o.even && o.rounds_needed ? ` A search needs ${o.rounds_needed} rounds${o.eps_needed ? `, or eps ${number(o.eps_needed)}` : ""}.` : "";
  return `${way} Expect about ${number(o.gain, 2)} more than a point at random.${more}${first}`;
}

export function createCard(made: (name: string) => void): HTMLElement {
  const text = (value: string, more: Record<string, string | number> = {}): HTMLInputElement => h("input", { type: "text", autocomplete: "off", value, ...more });
  const numeric = (value: number, more: Record<string, string | number> = {}): HTMLInputElement => h("input", { type: "number", step: "any", value, ...more });
  const name = text("", { maxlength: 48, required: "required" });
  const trust = h("select", {}, h("option", { value: "central" }, "the server"), h("option", { value: "local" }, "nobody"));
  const direction = h("select", {}, h("option", {}, "maximize"), h("option", {}, "minimize"));
  const eps = numeric(1, { min: 0 }), rounds = numeric(1000, { min: 1 }), low = numeric(0), high = numeric(1);
  const columns = h("textarea", { id: "f-columns", rows: 4, spellcheck: "false", "aria-describedby": "f-columns-how" });
  const said = h("p", { class: "notice", role: "status" }), problem = h("p", { class: "notice bad", role: "alert" });
  const make = h("button", { type: "button", disabled: true, click: () => void send(false) }, "Create it");
  const definition = (): object => ({ name: name.value.trim(), trust: trust.value, direction: direction.value, budget: { eps: Number(eps.value) }, rounds: Math.round(Number(rounds.value)),
    domain: { space: { columns: columns.value.split("\n").filter((line) => line.trim()).map(columnOf) } }, prior: { reward: [Number(low.value), Number(high.value)] } });
  const send = async (dry: boolean): Promise<void> => {
    put(problem);
    put(said);
    try {
      const answer = await ask<Created>("POST", `/v1/studies${dry ? "?dry_run=true" : ""}`, definition());
      if (!dry) return made(name.value.trim());
      said.textContent = outlookText(answer.outlook, Math.round(Number(rounds.value)));
      make.disabled = false;
      announce("previewed");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      make.disabled = true;
      problem.textContent = `${error.message}.`;
    }
  };
  const form = h("form", { submit: (event) => { event.preventDefault(); void send(true); }, input: () => { make.disabled = true; put(said); } },
    h("div", { class: "fields" }, field("Name", name), field("Who sees rewards", trust), field("Direction", direction), field("eps", eps), field("Rounds", rounds), field("Least reward", low), field("Largest reward", high)),
    h("div", { class: "field" }, h("label", { for: "f-columns" }, "Columns, one a line"), columns),
    h("p", { class: "small soft", id: "f-columns-how" }, "Name, kind, bounds or levels: ", h("code", {}, "rate log 0.0001 1"), ", ", h("code", {}, "layers integer 1 8"), ", ", h("code", {}, "kind category sgd adam"), ". Public facts: never read off private data."),
    said, problem, h("div", { class: "buttons" }, h("button", { class: "first", type: "submit" }, "Preview"), make));
  return card("Make a study", "", h("p", { class: "small soft" }, "The server proposes points of a space. A study never changes once it is made."), form);
}
