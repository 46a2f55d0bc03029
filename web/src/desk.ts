/* SPDX-License-Identifier: Apache-2.0 */
// desk.ts - the curator's desk: questions as they come, each with its record; what was given out; what is left.
// Keyboard first: the field has the focus, Enter gives the value, Alt+X says that a row cannot be measured, Alt+J and
// Alt+K go to the next and the previous question. A value goes to this server, and nowhere else.
import { ask, get, label, patience, pause, Problem, Session } from "./api";
import { above, age, announce, card, Column, download, facts, field, gauge, h, number, put, table, when } from "./dom";
import { frame, guarded } from "./login";

interface Question { ticket: string; row: number; since: number; state: string; reason?: string }
interface Miss { row: number; since: number; reason: string }
interface Overview {
  version: number; now: number; source: string; rows: number; id: string | null; range: [number, number] | null;
  release: { mechanism: string; private: boolean; claim: string; outputs_private: boolean };
  budget: { eps: number; delta: number; spent_eps: number | null; spent_delta: number; entries: number; uncovered: number };
  queries: { allowed: number; made: number; left: number };
  questions: Question[];
  misses: Miss[];
}
interface Entry { seq: number; time: number; ticket: string; what: string; to_whom: string; mechanism: string; eps: number | null; delta: number | null; answered: boolean; uncovered: boolean }
interface Ledger { accounting: string; entries: number; answered: number; uncovered: number; budget_eps: number; eps: number | null; delta: number; head: string; list: Entry[] }

const PILE = 5, LATE_SECONDS = 600, WAIT_SECONDS = 25;

class Desk {
  private seen: Overview | null = null;
  private current = "";
  private over: Problem | null = null; // why the session ended, while the page waited
  private readonly waits = new AbortController();
  private asked = ""; // the value that lies outside the range, and was not confirmed yet
  private readonly state = h("span", { class: "small soft", role: "status" }, "connecting");
  private readonly warning = h("p", { class: "notice bad", role: "alert" });
  private readonly queue = h("ul", { class: "queue", "aria-label": "Open questions" });
  private readonly waiting = h("p", { class: "soft" }, "No question waits. This page shows the next one as it comes.");
  private readonly record = h("dl", { class: "record", tabindex: 0, "aria-label": "The record" });
  private readonly heading = h("h2", { id: "t-question" }, "Question");
  private readonly value = h("input", { type: "text", inputmode: "decimal", autocomplete: "off", spellcheck: "false", "aria-describedby": "expected problem" });
  private readonly expected = h("p", { class: "small soft", id: "expected" });
  private readonly problem = h("p", { class: "notice bad", id: "problem", role: "alert" });
  private readonly give = h("button", { class: "first", type: "submit" }, "Give the value");
  private readonly unmeasured = h("button", { type: "button", click: () => void this.answer(true) }, "Cannot be measured ", h("kbd", {}, "Alt+X"));
  private readonly form = h("form", { class: "hidden", submit: (event) => { event.preventDefault(); void this.answer(false); } });
  private readonly misses = h("div", { class: "missed" });
  private readonly hint = h("p", { class: "small soft" }, h("kbd", {}, "Enter"), " gives the value, ", h("kbd", {}, "Alt+X"), " cannot be measured, ", h("kbd", {}, "Alt+J"), " next, ", h("kbd", {}, "Alt+K"), " previous.");
  private readonly budget = h("div");
  private readonly released = h("div");
  private readonly ledger = h("div");
  private readonly label = h("div", { class: "label" });

  constructor(private readonly session: Session) {}

  build(): void {
    const page = frame("Curator's desk", this.session, this.state);
    this.form.append(this.record, field("Measured value", this.value), this.expected, this.problem, h("div", { class: "buttons" }, this.give, this.unmeasured));
    const receipt = h("button", { type: "button", click: () => void this.receipt() }, "Download a signed receipt");
    put(page, this.warning, this.misses,
      h("div", { class: "cards" },
        h("section", { class: "card wide", "aria-labelledby": "t-question" }, this.heading, this.waiting, this.form, this.hint),
        card("Waiting", "third", this.queue),
        card("Budget", "third", this.budget),
        card("Released", "wide", this.released),
        card("Ledger", "", this.ledger, h("div", { class: "buttons" }, receipt)),
        card("Privacy label", "", this.label, h("div", { class: "buttons" }, h("button", { type: "button", click: () => void get<string>("/v1/desk/label").then((text) => download("label.html", text, "text/html")) }, "Download to print")))));
    this.keys = this.keys.bind(this);
    document.addEventListener("keydown", this.keys);
  }

  close(): void {
    document.removeEventListener("keydown", this.keys);
  }

  private keys(event: KeyboardEvent): void {
    if (!event.altKey || event.ctrlKey || event.metaKey) return;
    const list = this.seen?.questions ?? [];
    const at = list.findIndex((q) => q.ticket === this.current);
    const step = event.code === "KeyJ" ? 1 : event.code === "KeyK" ? -1 : 0;
    if (step !== 0 && list.length > 0) {
      event.preventDefault();
      void this.choose(list[(at + step + list.length) % list.length].ticket);
    } else if (event.code === "KeyX" && this.current) {
      event.preventDefault();
      void this.answer(true);
    }
  }

  async run(): Promise<void> {
    let away = 0;
    for (;;) {
      try {
        const path = this.seen && away === 0 ? `/v1/desk?after=${this.seen.version}&wait=${patience(this.session, WAIT_SECONDS)}` : "/v1/desk";
        this.show(await get<Overview>(path, this.waits.signal));
        away = 0;
        this.state.textContent = "live";
      } catch (error) {
        if (this.over) throw this.over;
        if (!(error instanceof Problem) || error.status === 401 || error.status === 403) throw error;
        this.state.textContent = error.status === 0 ? "the server is away; trying again" : error.message;
        this.state.className = "small badtext";
        away++;
        await pause(Math.min(5, away));
        continue;
      }
      this.state.className = "small goodtext";
    }
  }

  private show(o: Overview): void {
    const before = this.seen;
    const changed = before === null || before.version !== o.version;
    this.seen = o;
    const oldest = o.questions.reduce((most, q) => Math.max(most, o.now - q.since), 0);
    this.warning.textContent = o.source === "person" && (o.questions.length > PILE || oldest > LATE_SECONDS)
      ? `${o.questions.length} questions wait, the oldest for ${age(oldest)}: the modeler waits with them.` : "";
    put(this.queue, ...o.questions.map((q) => h("li", {}, h("button", { type: "button", "aria-current": q.ticket === this.current ? "true" : "false", "data-ticket": q.ticket, click: () => void this.choose(q.ticket) },
      h("span", {}, `Row ${q.row}`), h("span", { class: "soft" }, q.state === "waiting" ? age(o.now - q.since) : q.reason ? `failed: ${q.reason}` : q.state)))));
    if (o.questions.length === 0) put(this.queue, h("li", { class: "soft" }, "none"));
    if (changed) {
      put(this.misses, o.misses.length > 0 ? this.missed(o.misses) : null);
      if (before && o.questions.length > before.questions.length) announce(`${o.questions.length} questions wait`);
      put(this.budget, h("h3", {}, "Privacy"),
        gauge("privacy budget spent", o.budget.spent_eps ?? o.budget.eps, o.budget.eps, `eps ${above(o.budget.spent_eps)} of ${above(o.budget.eps)} spent${o.budget.delta > 0 ? `, delta ${above(o.budget.spent_delta, 3)} of ${above(o.budget.delta, 3)}` : ""}`),
        h("h3", {}, "Questions"), gauge("questions asked", o.queries.made, o.queries.allowed, `${o.queries.made} of ${o.queries.allowed} asked, ${o.queries.left} left`),
        h("p", { class: "small soft" }, o.release.outputs_private ? "Values pass a randomiser before they leave." : `${o.budget.uncovered} questions without protection, as agreed.`));
      void this.books();
    }
    if (!o.questions.some((q) => q.ticket === this.current)) void this.choose(o.source === "person" && o.questions.length > 0 ? o.questions[0].ticket : "");
  }

  // The modeler got noise about a stand-in, and must not know; whoever holds the records should.
  private missed(list: Miss[]): HTMLElement {
    const columns: Column<Miss>[] = [
      { name: "Row", numeric: true, text: (m) => String(m.row) },
      { name: "Asked (UTC)", text: (m) => when(m.since) },
      { name: "Why", text: (m) => m.reason },
    ];
    const rows = list.length === 1 ? "A row" : `${list.length} rows`;
    return card("Could not be measured", "",
      h("p", { class: "notice bad", role: "status" }, `${rows} could not be measured since this server started. The modeler got noise about a stand-in in place of a value, and cannot tell.`),
      h("div", { class: "list short", tabindex: 0, role: "region", "aria-label": "Rows that could not be measured" }, table(columns, list, "Rows that could not be measured, newest first")));
  }

  private async choose(ticket: string): Promise<void> {
    const q = this.seen?.questions.find((one) => one.ticket === ticket);
    this.current = q ? ticket : "";
    this.asked = "";
    this.form.classList.toggle("hidden", !q);
    this.waiting.classList.toggle("hidden", !!q);
    this.hint.classList.toggle("hidden", this.seen?.source !== "person");
    this.heading.textContent = q ? `Question: row ${q.row}` : this.seen?.source === "person" ? "Question" : "Questions are answered by themselves";
    this.waiting.textContent = this.seen?.source === "person" ? "No question waits. This page shows the next one as it comes." : `Values come from a ${this.seen?.source ?? "column"}: there is nothing to type here.`;
    for (const b of this.queue.querySelectorAll("button")) b.setAttribute("aria-current", String(b.dataset.ticket === this.current));
    put(this.problem);
    if (!q) return;
    const range = this.seen?.range;
    this.expected.textContent = range ? `Expected between ${number(range[0])} and ${number(range[1])}.` : "Any number, with a decimal point.";
    this.give.textContent = "Give the value";
    this.value.value = "";
    this.value.focus();
    let found: { record: [string, string][] };
    try {
      found = await get(`/v1/desk/questions/${encodeURIComponent(ticket)}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) return this.end(error);
      put(this.record, h("dt", {}, "the record cannot be read"), h("dd", {}, error.message));
      return;
    }
    if (this.current !== ticket) return;
    put(this.record, ...found.record.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  }

  private async answer(failed: boolean): Promise<void> {
    const ticket = this.current;
    if (!ticket) return;
    const text = this.value.value.trim();
    if (!failed && (text === "" || !/^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$/.test(text))) {
      this.problem.textContent = text.includes(",") ? `'${text}' is not a number: use a decimal point.` : `'${text}' is not a number.`;
      this.value.focus();
      return;
    }
    this.give.disabled = this.unmeasured.disabled = true;
    try {
      await ask("POST", "/v1/desk/answers", failed ? { ticket, failed: true } : { ticket, value: Number(text), confirmed: this.asked === text });
      announce(failed ? "marked as not measurable" : "the value was given");
      this.current = "";
      this.show(await get<Overview>("/v1/desk"));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) return this.end(error);
      this.problem.textContent = `${error.message}.`;
      if (error.word === "outside") {
        this.asked = text;
        this.give.textContent = "Confirm this value";
        this.value.focus();
      } else if (error.status === 409 || error.status === 404) {
        announce(error.message);
        this.show(await get<Overview>("/v1/desk"));
        this.warning.textContent = `${error.message}.`;
      }
    } finally {
      this.give.disabled = this.unmeasured.disabled = false;
    }
  }

  private end(why: Problem): void {
    this.over = why;
    this.waits.abort();
  }

  private async books(): Promise<void> {
    const columns: Column<Entry>[] = [
      { name: "When (UTC)", text: (e) => when(e.time) },
      { name: "What", text: (e) => e.what },
      { name: "To whom", text: (e) => e.to_whom },
      { name: "Mechanism", text: (e) => e.mechanism || "none" },
      { name: "eps charged", numeric: true, text: (e) => (e.uncovered ? "not protected" : above(e.eps)) },
      { name: "State", text: (e) => (e.answered ? "answered" : "open") },
    ];
    try {
      const l = await get<Ledger>("/v1/desk/ledger");
      const newest = [...l.list].reverse();
      const releases = newest.filter((e) => !e.ticket.startsWith("query:"));
      put(this.released, h("p", { class: this.seen?.release.private ? "claim" : "notice bad" }, this.seen?.release.claim ?? ""), h("div", { class: "scroll" }, table(columns, releases, "Releases")));
      put(this.ledger, facts(["entries", String(l.entries)], ["answered", String(l.answered)], ["without protection", String(l.uncovered)], ["eps spent", `${above(l.eps)} of ${above(l.budget_eps)}`]),
        h("p", { class: "small soft" }, "Verified a moment ago. Head of the chain: ", h("code", {}, l.head)),
        h("div", { class: "list short", tabindex: 0, role: "region", "aria-label": "Ledger" }, table(columns, newest.slice(0, 200), "Ledger, newest first")));
      put(this.label, ...(await label("/v1/desk/label")) ?? []);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) return this.end(error);
      put(this.ledger, h("p", { class: "badtext" }, error.message));
    }
  }

  private async receipt(): Promise<void> {
    try {
      download("receipt.json", JSON.stringify(await get("/v1/desk/receipt"), null, 1));
      announce("the receipt was made");
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) return this.end(error);
      this.warning.textContent = `${error.message}.`;
    }
  }
}

export function desk(): Promise<void> {
  return guarded("Curator's desk", "It is in the file desk.token, among the keys of the curator. This page is for whoever holds the records.", async (session) => {
    const d = new Desk(session);
    d.build();
    try {
      await d.run();
    } finally {
      d.close();
    }
  });
}
