/* SPDX-License-Identifier: Apache-2.0 */
// board.ts - the study board, for owners and analysts. It asks the public routes (docs/API.md) with the role of its
// session: what the role may not read is refused there, and then not shown here.
import { ask, get, patience, pause, Problem, Session } from "./api";
import { Cell, draw, Series, squares } from "./chart";
import { above, age, announce, card, download, facts, field, gauge, h, LongTable, number, put, table, when } from "./dom";
import { frame, guarded } from "./login";

interface Brief { name: string; trust: string; state: string; suggested: number; observed?: number }
interface Definition {
  description?: string; trust: string; policy: string; direction: string; rounds: number;
  domain: { space?: { columns: { name: string }[] }; points?: number[][]; lower?: number[]; upper?: number[]; context?: { lower: number[]; upper: number[] } };
  options: { ticket_seconds?: number };
}
interface Study extends Brief {
  definition: Definition; created: number; released: number; rounds_left: number;
  guarantee: { proven: boolean; eps: number | null; delta: number; protects: string; statement: string; eps_of_rounds: Record<string, number | null>; rounds_per_person: number; eps_per_person: number | null };
}
interface Event_ { number: number; kind: string; time: number; of?: number; index?: number; value?: number }
interface Ticket { number: number; time: number; expires: number; token?: number; label?: string }
interface Token { number: number; role: string; study: string; label: string; created: number; expires: number; open_most: number; rounds_most: number }
interface Posterior { kind: string; action_dims: number; lower?: number[]; upper?: number[]; points: { at: number[]; mean: number | null; sd: number | null }[] }

const WAIT_SECONDS = 20; // for the next event; what else may have changed is asked for then, too
const PAUSE_SECONDS = 0.5; // between two looks, however quickly rounds come
const TABS = ["Overview", "Posterior", "Rounds", "Releases", "Ledger", "Tokens"] as const;
type Tab = (typeof TABS)[number];

// What is known of one study, kept up to date by asking for what is new.
class Log {
  readonly events: Event_[] = [];
  expired = 0;
  // With seconds the server is asked to answer when there is something new, or when they are over.
  async more(study: string, seconds = 0, signal?: AbortSignal): Promise<void> {
    let wait = seconds > 0 ? `&wait=${seconds}` : "";
    for (let pages = 0; pages < 30; pages++) {
      const last = this.events.length > 0 ? this.events[this.events.length - 1].number : 0;
      const found = await get<{ head: number; events: Event_[] }>(`/v1/studies/${study}/events?after=${last}${wait}`, signal);
      for (const e of found.events) {
        if (e.number <= (this.events[this.events.length - 1]?.number ?? 0)) continue; // two requests found it
        this.events.push(e);
        if (e.kind === "expired") this.expired++;
      }
      if (found.events.length === 0 || found.events[found.events.length - 1].number >= found.head) break;
      wait = "";
    }
  }
}

class Board {
  private studies: Brief[] = [];
  private name = "";
  private tab: Tab = "Overview";
  private study: Study | null = null;
  private log = new Log();
  private drawn = ""; // what is on the page, so that it is drawn anew only when it changed
  private over: Problem | null = null;
  private waits = new AbortController(); // ends the wait for an event: there is something else to do
  private readonly state = h("span", { class: "small soft", role: "status" }, "connecting");
  private readonly problem = h("p", { class: "notice bad", role: "alert" });
  private readonly chooser: HTMLSelectElement = h("select", { "aria-label": "Study", change: () => void this.choose(this.chooser.value) });
  private readonly tabs = h("nav", { class: "tabs", "aria-label": "Parts of the board" });
  private readonly body = h("div");
  private rounds: LongTable<Event_> | null = null;
  private axes = { x: 0, y: -1, at: [] as number[] };
  private fresh = ""; // the text of a token that was just made

  constructor(private readonly session: Session) {}

  build(): void {
    const page = frame("Study board", this.session, h("div", {}, this.chooser), this.state);
    put(page, this.problem, this.tabs, this.body);
    window.matchMedia("(max-width: 600px)").addEventListener("change", () => { this.drawn = ""; void this.attempt(() => this.draw()); });
    document.addEventListener("visibilitychange", () => this.waits.abort());
    this.drawTabs();
  }

  private drawTabs(): void {
    const visible = TABS.filter((t) => t !== "Tokens" || this.session.role === "owner");
    put(this.tabs, ...visible.map((t) => h("button", { type: "button", "aria-current": t === this.tab ? "page" : "false", click: () => void this.open(t) }, t)));
  }

  private async open(tab: Tab): Promise<void> {
    this.tab = tab;
    this.drawn = "";
    this.fresh = "";
    this.drawTabs();
    this.tabs.querySelector<HTMLElement>("[aria-current=page]")?.focus();
    await this.attempt(() => this.draw());
  }

  private async choose(name: string): Promise<void> {
    this.name = name;
    this.study = null;
    this.log = new Log();
    this.rounds = null;
    this.axes = { x: 0, y: -1, at: [] };
    this.drawn = "";
    this.waits.abort();
    await this.attempt(() => this.refresh());
  }

  // Shows a problem, and ends the page when the session is over.
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      put(this.problem);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.status === 401) {
        this.over = error;
        this.waits.abort();
      } else this.problem.textContent = `${error.message}.`;
    }
  }

  async run(): Promise<void> {
    let away = 0;
    while (!this.over) {
      try {
        await this.refresh();
        away = 0;
        this.state.textContent = "live";
        this.state.className = "small goodtext";
        await pause(PAUSE_SECONDS);
        await this.wait();
      } catch (error) {
        if (!(error instanceof Problem) || error.status === 401) throw error;
        away++;
        this.state.textContent = error.status === 0 || error.status === 503 ? "the server is away; trying again" : error.message;
        this.state.className = "small badtext";
        await pause(Math.min(5, away));
      }
    }
    throw this.over;
  }

  // Until something happens in the study, or on the page. A page that nobody sees asks nothing.
  private async wait(): Promise<void> {
    while (document.visibilityState !== "visible" && !this.over) await pause(0.25);
    this.waits = new AbortController();
    try {
      if (this.study && !this.over) await this.log.more(this.name, patience(this.session, WAIT_SECONDS), this.waits.signal);
      else await pause(PAUSE_SECONDS);
    } catch (error) {
      if (!this.waits.signal.aborted) throw error;
    }
  }

  private async refresh(): Promise<void> {
    const list = (await get<{ studies: Brief[] }>("/v1/studies")).studies;
    if (list.map((s) => s.name).join() !== this.studies.map((s) => s.name).join() || this.chooser.options.length === 0) {
      put(this.chooser, ...list.map((s) => h("option", { value: s.name, selected: s.name === this.name }, s.name)));
    }
    this.studies = list;
    if (list.length === 0) {
      put(this.body, h("p", { class: "soft" }, "There is no study yet: 'tacet study create' makes one."));
      return;
    }
    const name = list.some((s) => s.name === this.name) ? this.name : list[0].name;
    if (name !== this.name) return this.choose(name);
    const study = await get<Study>(`/v1/studies/${name}`);
    await this.log.more(name);
    if (name !== this.name) return;
    this.study = study;
    await this.draw();
  }

  private async draw(): Promise<void> {
    const s = this.study;
    if (!s) return;
    // A form that somebody fills in is not drawn anew for every round.
    const rounds = this.tab === "Tokens" ? [] : [s.suggested, s.observed, s.released, s.state, this.log.events.length];
    const mark = [this.name, this.tab, ...rounds, this.fresh, JSON.stringify(this.axes)].join("/");
    if (mark === this.drawn) return;
    if (this.drawn && this.body.querySelector("[data-sure]")) return; // somebody is asked, and is about to say yes or no
    const made = await this.part(s);
    this.drawn = mark;
    if (!made) return;
    const controls = (): HTMLElement[] => [...this.body.querySelectorAll<HTMLElement>("button, input, select, [tabindex]")];
    const focused = controls().indexOf(document.activeElement as HTMLElement);
    put(this.body, made);
    if (focused >= 0) controls()[focused]?.focus();
  }

  private part(s: Study): Promise<HTMLElement | null> {
    switch (this.tab) {
      case "Overview": return this.overview(s);
      case "Posterior": return this.posterior(s);
      case "Rounds": return this.listRounds();
      case "Releases": return this.releases(s);
      case "Ledger": return this.ledger();
      case "Tokens": return this.tokens(s);
    }
  }

  private columns(s: Study): string[] {
    const d = s.definition.domain;
    const own = d.space ? d.space.columns.map((c) => c.name) : [];
    const dims = d.points?.[0]?.length ?? d.lower?.length ?? 0;
    const names = own.length === dims && dims > 0 ? own : Array.from({ length: dims || own.length }, (_, i) => own[i] ?? `x${i + 1}`);
    return [...names, ...(d.context?.lower ?? []).map((_, i) => `context ${i + 1}`)];
  }

  // --- overview ---

  private async best(s: Study): Promise<HTMLElement> {
    try {
      const p = await get<Posterior>(`/v1/studies/${s.name}/posterior`);
      const sign = s.definition.direction.startsWith("min") ? -1 : 1;
      const known = p.points.filter((q) => q.mean !== null);
      const best = known.reduce((a, b) => (sign * b.mean! > sign * a.mean! ? b : a), known[0]);
      if (!best) return h("p", { class: "soft" }, "Nothing learnt yet.");
      return h("div", {}, facts([`best predicted${p.kind === "grid" ? ", over the first column" : ""}`, `${number(best.mean)}${best.sd === null ? "" : ` ± ${number(best.sd, 2)}`}`]),
        h("p", { class: "small soft" }, this.columns(s).map((n, i) => `${n} ${number(best.at[i])}`).join(", ")));
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 401) throw error;
      return h("p", { class: "soft" }, `${error.message}.`);
    }
  }

  private progress(): SVGElement {
    const counts = { x: [] as number[], asked: [] as number[], told: [] as number[] };
    let asked = 0, told = 0;
    const start = this.log.events[0]?.time ?? 0;
    const span = (this.log.events[this.log.events.length - 1]?.time ?? 0) - start;
    const quick = span < 30; // whole seconds say little: events in their order say more
    const unit = span > 7200 ? 3600 : span > 240 ? 60 : 1;
    for (const e of this.log.events) {
      if (e.kind === "suggested") asked++;
      if (e.kind === "observed") told++;
      counts.x.push(quick ? e.number : (e.time - start) / unit);
      counts.asked.push(asked);
      counts.told.push(told);
    }
    const series: Series[] = [{ name: "suggested", x: counts.x, y: counts.asked, style: "step" }];
    if (this.study?.observed !== undefined) series.push({ name: "reported", x: counts.x, y: counts.told, style: "step" });
    return draw({ title: "Rounds over time", x: quick ? "event" : unit === 1 ? "seconds since the first" : unit === 60 ? "minutes since the first" : "hours since the first", y: "rounds", series });
  }

  private async health(): Promise<HTMLElement> {
    let ready = "yes";
    try {
      await get("/v1/ready");
    } catch {
      ready = "no: the store cannot be written";
    }
    const rows: [string, string][] = [["ready", ready]];
    if (!this.session.study) {
      try {
        const text = await get<string>("/v1/metrics");
        const value = (name: string): string => new RegExp(`^${name}(?:\\{[^}]*\\})? ([^\\n]+)`, "m").exec(text)?.[1] ?? "–";
        rows.push(["connections", value("tacet_connections")], ["batches not stored", value("tacet_store_failures_total")]);
      } catch {
        // shown to tokens of all studies alone
      }
    }
    return facts(...rows);
  }

  private async overview(s: Study): Promise<HTMLElement> {
    const g = s.guarantee;
    const told = s.observed; // undefined where it is private who has reported
    const open = told === undefined ? 0 : s.suggested - told - this.log.expired;
    const costs = Object.entries(g.eps_of_rounds);
    const spent = s.definition.rounds - s.rounds_left;
    const tickets = this.session.role === "owner" ? await this.tickets(s) : h("p", { class: "soft" }, told === undefined ? "Who has reported is private." : `${open} tickets are open. Who holds them is shown to owners.`);
    const acts = this.session.role === "owner" && s.state === "active" ? h("div", { class: "buttons" },
      open > 0 ? this.sure("", "End all open tickets", "End all open tickets", `End ${open} for good: their reports are refused`, () => this.expire(s, { older: 0 })) : null,
      this.sure("", "Archive the study", "Archive the study", "Archive it for good: no round can be taken any more", () => this.archive(s))) : null;
    return h("div", { class: "cards" },
      card(s.name, "wide", s.definition.description ? h("p", {}, s.definition.description) : null,
        facts(["trust", s.definition.trust], ["policy", s.definition.policy], ["state", s.state], ["suggested", String(s.suggested)], ...(told === undefined ? [] : [["reported", String(told)], ["open tickets", String(open)], ["expired", String(this.log.expired)]] as [string, string][])),
        gauge("rounds used", spent, s.definition.rounds, `${spent} of ${s.definition.rounds} rounds used`)),
      card("Best so far", "third", await this.best(s)),
      card("Rounds over time", "wide", this.log.events.length > 1 ? this.progress() : h("p", { class: "soft" }, "No round yet.")),
      card("What it costs", "third", h("p", { class: g.proven ? "goodtext" : "badtext" }, g.proven ? `eps ${above(g.eps)}${g.delta > 0 ? `, delta ${above(g.delta, 3)}` : ""}, proven` : "Not proven"),
        h("p", { class: "small" }, `Protects ${g.protects}. ${g.statement}`),
        table([{ name: "rounds of one person", text: (r: [string, number | null]) => r[0] }, { name: "eps", numeric: true, text: (r) => above(r[1]) }], [["1", g.eps], ...costs] as [string, number | null][], "Cost of several rounds"),
        h("p", { class: "small soft" }, g.eps_per_person === null ? "" : `A person who is always named pays eps ${above(g.eps_per_person)}: ${g.rounds_per_person} round${g.rounds_per_person === 1 ? "" : "s"} count.`)),
      card(told === undefined ? "Tickets issued" : "Open tickets", "wide", tickets, acts),
      card("Health", "third", await this.health()));
  }

  private async tickets(s: Study): Promise<HTMLElement> {
    const found = (await get<{ tickets: Ticket[] }>(`/v1/studies/${s.name}/tickets`)).tickets;
    if (found.length === 0) return h("p", { class: "soft" }, "None.");
    const now = Date.now() / 1000;
    return h("div", { class: "list short", tabindex: 0, role: "region", "aria-label": "Open tickets" }, table<Ticket>([
      { name: "Round", numeric: true, text: (t) => String(t.number) },
      { name: "Asked (UTC)", text: (t) => when(t.time) },
      { name: "Age", text: (t) => age(now - t.time) },
      { name: "Held by", text: (t) => (t.token === undefined ? "a token that is gone" : `${t.label || "token"} (number ${t.token})`) },
      { name: "Expires (UTC)", text: (t) => (t.expires ? when(t.expires) : "never") },
      { name: "", text: (t) => s.observed === undefined ? "" : this.sure("plain", "End", `End the ticket of round ${t.number}`, "Refuse its report?", () => this.expire(s, { number: t.number })) },
    ], found.slice(0, 200), "Open tickets"));
  }

  // A button that acts when it is pressed twice: the second time it says what will happen. Looking elsewhere takes it back.
  private sure(kind: string, words: string, label: string, question: string, act: () => Promise<void>): HTMLButtonElement {
    const button = h("button", { type: "button", class: kind, "aria-label": label, click: () => {
      if (button.dataset.sure === "yes") {
        delete button.dataset.sure;
        void this.attempt(act);
        return;
      }
      button.dataset.sure = "yes";
      button.focus(); // not every browser does so by itself
      button.textContent = question;
      button.setAttribute("aria-label", `${label}: ${question}`);
    }, blur: () => {
      delete button.dataset.sure;
      button.textContent = words;
      button.setAttribute("aria-label", label);
    } }, words);
    return button;
  }

  private async expire(s: Study, which: { number: number } | { older: number }): Promise<void> {
    const found = await ask<{ expired: number }>("POST", `/v1/studies/${s.name}/expiry`, which);
    announce(`${found.expired} ${found.expired === 1 ? "ticket has" : "tickets have"} ended`);
    await this.refresh();
  }

  private async archive(s: Study): Promise<void> {
    await ask("POST", `/v1/studies/${s.name}/archive`, {});
    announce("the study is archived");
    await this.refresh();
  }

  // --- posterior ---

  private async posterior(s: Study): Promise<HTMLElement> {
    const names = this.columns(s);
    const { x, y, at } = this.axes;
    const contextual = (s.definition.domain.context?.lower.length ?? 0) > 0;
    const query = [`x=${x}`, ...(y >= 0 ? [`y=${y}`] : []), ...(at.length > 0 ? [`at=${at.join(",")}`] : [])].join("&");
    let p: Posterior;
    try {
      p = await get<Posterior>(`/v1/studies/${s.name}/posterior?${query}`);
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 409) throw error;
      return card("Posterior", "", h("p", { class: "soft" }, `${error.message}.`));
    }
    const pick = (label: string, value: number, none: boolean, set: (v: number) => void): HTMLElement => {
      const select = h("select", { change: () => { set(Number(select.value)); void this.attempt(() => this.draw()); } },
        ...(none ? [h("option", { value: -1, selected: value < 0 }, "(one column)")] : []),
        ...names.map((n, i) => h("option", { value: i, selected: i === value }, n)));
      return field(label, select);
    };
    const slices = p.kind === "grid" ? names.map((n, i) => (i === x || i === y ? null : this.slice(n, i, p))) : [];
    return h("div", { class: "cards" }, card("Posterior", "",
      h("div", { class: "fields" }, pick("Column", x, false, (v) => { this.axes.x = v; if (this.axes.y === v) this.axes.y = -1; }), pick("Second column", y, true, (v) => { this.axes.y = v === this.axes.x ? -1 : v; }), ...slices),
      this.picture(p, names),
      h("p", { class: "small soft" }, p.kind === "points"
        ? "Every point of the domain: its mean, with one standard deviation either way. Made of randomised reports; costs nothing more."
        : `What a release would say now, over a grid${contextual ? ", for the context that is set above" : ""}; the band is the model's own error. Costs no budget.`)));
  }

  private slice(name: string, i: number, p: Posterior): HTMLElement {
    const lower = p.lower![i], upper = p.upper![i];
    const now = this.axes.at.length > 0 ? this.axes.at[i] : (lower + upper) / 2;
    const shown = h("output", { class: "soft" }, ` ${number(now, 3)}`);
    const input = h("input", { type: "range", min: lower, max: upper, step: (upper - lower) / 50 || 1, value: now, change: () => {
      if (this.axes.at.length === 0) this.axes.at = p.lower!.map((l, k) => (l + p.upper![k]) / 2);
      this.axes.at = this.axes.at.map((v, k) => (k === i ? Number(input.value) : v));
      void this.attempt(() => this.draw());
    }, input: () => { shown.textContent = ` ${number(Number(input.value), 3)}`; } });
    const made = field(name, input);
    made.firstElementChild!.append(shown);
    return made;
  }

  private picture(p: Posterior, names: string[]): SVGElement {
    const { x, y } = this.axes;
    const points = p.points.filter((q) => q.mean !== null);
    if (y >= 0) {
      const cells: Cell[] = points.map((q) => ({ x: q.at[x], y: q.at[y], value: q.mean!, sd: q.sd }));
      return squares({ title: `Mean over ${names[x]} and ${names[y]}`, x: names[x], y: names[y] }, cells);
    }
    const sorted = [...points].sort((a, b) => a.at[x] - b.at[x]);
    const means = sorted.map((q) => q.mean!);
    // Points that differ in other columns, too, are no line.
    return draw({ title: `Mean over ${names[x]}`, x: names[x], y: "mean reward", series: [{ name: "mean", x: sorted.map((q) => q.at[x]), y: means,
      lower: sorted.map((q, i) => means[i] - (q.sd ?? 0)), upper: sorted.map((q, i) => means[i] + (q.sd ?? 0)), style: p.kind === "points" && p.action_dims > 1 ? "points" : "line" }] });
  }

  // --- rounds ---

  private async listRounds(): Promise<HTMLElement | null> {
    const rows = [...this.log.events].reverse();
    if (this.rounds && this.rounds.element.isConnected) {
      this.rounds.show(rows);
      return null;
    }
    this.rounds = new LongTable<Event_>([
      { name: "Event", numeric: true, text: (e) => String(e.number) },
      { name: "What", text: (e) => e.kind },
      { name: "Of round", numeric: true, text: (e) => (e.of === undefined ? "" : String(e.of)) },
      { name: "Action", numeric: true, text: (e) => (e.index === undefined ? "" : String(e.index)) },
      { name: "Report", numeric: true, text: (e) => (e.value === undefined ? "" : number(e.value, 5)) },
      { name: "When (UTC)", text: (e) => when(e.time) },
    ], "Events of the study, newest first");
    const made = card("Rounds", "", h("p", { class: "small soft" }, this.study?.definition.trust === "local" ? "Reports were randomised on the devices that sent them." : "Rewards, contexts and decision sets of a central study are shown to nobody."), this.rounds.element);
    requestAnimationFrame(() => this.rounds?.show(rows));
    return h("div", { class: "cards" }, made);
  }

  // --- releases and ledger ---

  private async releases(s: Study): Promise<HTMLElement> {
    const numbers = Array.from({ length: s.released }, (_, i) => s.released - i);
    const get1 = (n: number): Promise<void> => this.attempt(async () => download(`${s.name}-release-${n}.json`, JSON.stringify(await get(`/v1/studies/${s.name}/releases/${n}`), null, 1)));
    const times = this.log.events.filter((e) => e.kind === "released").map((e) => e.time);
    return h("div", { class: "cards" }, card("Releases", "",
      h("p", { class: "small soft" }, "What was learnt, for anyone. A release costs no budget: it is made of what was paid for already."),
      h("div", { class: "buttons" }, h("button", { type: "button", class: "first", click: () => void this.attempt(async () => { await ask("POST", `/v1/studies/${s.name}/releases`, {}); announce("released"); await this.refresh(); }) }, "Make a release")),
      numbers.length === 0 ? h("p", { class: "soft" }, "None yet.") : table<number>([
        { name: "Release", text: (n) => `Number ${n}` },
        { name: "When (UTC)", text: (n) => when(times[n - 1] ?? 0) },
        { name: "File", text: (n) => h("button", { type: "button", class: "plain", click: () => void get1(n) }, `Download release ${n}`) },
      ], numbers, "Releases, newest first")));
  }

  private async ledger(): Promise<HTMLElement> {
    const l = await get<Record<string, unknown>>(`/v1/studies/${this.name}/ledger`);
    const flat = Object.entries(l).filter(([, v]) => typeof v !== "object" || v === null) as [string, unknown][];
    const budget = Number(l.budget_eps), spent = Number(l.spent_eps ?? l.eps);
    return h("div", { class: "cards" }, card("Ledger", "",
      Number.isFinite(budget) && Number.isFinite(spent) ? gauge("privacy budget", spent, budget, `eps ${above(spent)} of ${above(budget)} reserved for the whole study`) : null,
      table<[string, unknown]>([{ name: "Field", text: (r) => r[0].replace(/_/g, " ") }, { name: "Value", text: (r) => (typeof r[1] === "number" ? number(r[1], 6) : h("code", {}, String(r[1]))) }], flat, "Ledger"),
      h("p", { class: "small soft" }, this.study?.definition.trust === "local" ? "Each device keeps the ledger of its own reports." : "Charged before the first round; verified by 'tacet ledger verify'.")));
  }

  // --- tokens ---

  private async tokens(s: Study): Promise<HTMLElement> {
    const list = (await get<{ tokens: Token[] }>("/v1/tokens")).tokens;
    const now = Date.now() / 1000;
    const change = (work: () => Promise<{ token?: string }>, said: string): void => void this.attempt(async () => {
      this.fresh = (await work()).token ?? "";
      announce(said);
      this.drawn = "";
      await this.draw();
    });
    const role = h("select", {}, ...["device", "analyst", "owner"].map((r) => h("option", {}, r)));
    const of = h("select", {}, ...(this.session.study ? [] : [h("option", { value: "" }, "(all studies)")]), ...this.studies.map((one) => h("option", { value: one.name, selected: one.name === s.name }, one.name)));
    const label = h("input", { type: "text", maxlength: 60, autocomplete: "off" });
    const days = h("input", { type: "number", min: 0, max: 36500, value: 90 });
    const form = h("form", { submit: (event) => {
      event.preventDefault();
      change(() => ask("POST", "/v1/tokens", { role: role.value, study: of.value, label: label.value, days: Math.round(Number(days.value)) }), "a token was made");
    } }, h("div", { class: "fields" }, field("Role", role), field("For", of), field("Label", label), field("Days (0: no end)", days)), h("div", { class: "buttons" }, h("button", { class: "first", type: "submit" }, "Make a token")));
    const actions = (t: Token): Node => h("span", { class: "buttons" },
      h("button", { type: "button", class: "plain", "aria-label": `Renew token ${t.number}`, click: () => change(() => ask("POST", `/v1/tokens/${t.number}/renewal`, { days: 90 }), "the token was renewed") }, "Renew"),
      h("button", { type: "button", class: "plain", "aria-label": `End token ${t.number}`, click: () => change(() => ask("DELETE", `/v1/tokens/${t.number}`), "the token has ended") }, "End"));
    return h("div", { class: "cards" },
      card("Make a token", "", this.fresh ? h("div", { class: "notice good", role: "status" }, h("p", {}, "Copy it now: it is not shown again."), h("p", { class: "secret mono" }, this.fresh)) : null, form,
        h("p", { class: "small soft" }, "Tokens are changed within five minutes of a login; later, log in again.")),
      card("Tokens", "", h("div", { class: "scroll" }, table<Token>([
        { name: "Number", numeric: true, text: (t) => String(t.number) },
        { name: "Role", text: (t) => t.role },
        { name: "Study", text: (t) => t.study || "(all studies)" },
        { name: "Label", text: (t) => t.label },
        { name: "Made (UTC)", text: (t) => when(t.created) },
        { name: "Ends (UTC)", text: (t) => (t.expires === 0 ? "no end" : t.expires <= now ? "has ended" : when(t.expires)) },
        { name: "", text: actions },
      ], list, "Tokens"))));
  }
}

export function board(): Promise<void> {
  return guarded("Study board", "An owner's or an analyst's token: 'tacet study token' makes one.", async (session) => {
    const b = new Board(session);
    b.build();
    await b.run();
  });
}
