/* SPDX-License-Identifier: Apache-2.0 */
// board.ts - the study board, for owners and analysts. It asks the public routes (docs/API.md) with the role of its
// session: what the role may not read is refused there, and then not shown here.
import { ask, get, label, patience, pause, Problem, Session } from "./api";
import { above, age, announce, card, csv, download, facts, field, gauge, h, LongTable, number, put, table, when } from "./dom";
import { compareCard, pairsCard, Test } from "./compare";
import { createCard } from "./create";
import { frame, guarded } from "./login";
import { axesFrom, axesQuery, figure, noAxes, PosteriorView } from "./posterior";

interface Brief { name: string; trust: string; state: string; suggested: number; observed?: number }
interface Definition {
  description?: string; trust: string; policy: string; direction: string; rounds: number;
  domain: { points?: number[][]; space?: { columns: { name: string }[] } };
  options: { ticket_seconds?: number };
}
interface Study extends Brief {
  definition: Definition; created: number; released: number; rounds_left: number;
  guarantee: { proven: boolean; eps: number | null; delta: number; protects: string; statement: string; eps_of_rounds: Record<string, number | null>; rounds_per_person: number; eps_per_person: number | null };
  test?: Test; // of an A/B study
}
type Point = Record<string, string | number>; // by the names of the columns, in their own units
interface Best { action?: number[]; point?: Point; mean: number; sd: number | null }
interface Event_ { number: number; kind: string; time: number; of?: number; index?: number; point?: Point; value?: number }
interface Ticket { number: number; time: number; expires: number; token?: number; label?: string }
interface Token { number: number; role: string; study: string; label: string; created: number; expires: number; open_most: number; rounds_most: number }

const WAIT_SECONDS = 20; // for the next event; what else may have changed is asked for then, too
const PAUSE_SECONDS = 0.5; // between two looks, however quickly rounds come
const TABS = ["Overview", "Posterior", "Rounds", "Releases", "Ledger", "Label", "Tokens", "New study"] as const;
type Tab = (typeof TABS)[number];
const linkOf = (t: Tab): string => t.toLowerCase().replace(" ", "");

// "rate 0.01, layers 4, optimizer adam"
const pointText = (p: Point): string => Object.entries(p).map(([name, v]) => `${name} ${typeof v === "number" ? number(v) : v}`).join(", ");

// Local studies and those in epochs may have more rounds (docs/API.md).
const extends_ = (s: Study): boolean => s.definition.trust === "local" || s.definition.policy === "contextual" || s.definition.policy === "ab";

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
  private turn = 0; // of drawing
  private over: Problem | null = null;
  private waits = new AbortController(); // ends the wait for an event: there is something else to do
  private readonly state = h("span", { class: "small soft", role: "status" }, "connecting");
  private readonly problem = h("p", { class: "notice bad", role: "alert" });
  private readonly chooser: HTMLSelectElement = h("select", { "aria-label": "Study", change: () => void this.choose(this.chooser.value) });
  private readonly tabs = h("nav", { class: "tabs", "aria-label": "Parts of the board" });
  private readonly body = h("div");
  private rounds: LongTable<Event_> | null = null;
  private axes = noAxes();
  private view: PosteriorView | null = null;
  private column: HTMLSelectElement | null = null; // of what was tried; a list that is open is not closed by a round
  private readonly drawing = h("div");
  private readonly picture = h("div", { class: "wholly" });
  private round = 0; // the one whose details are shown
  private fresh = ""; // the text of a token that was just made

  constructor(private readonly session: Session) {}

  build(): void {
    const page = frame("Study board", this.session, h("div", {}, this.chooser), this.state);
    put(page, this.problem, this.tabs, this.body);
    window.matchMedia("(max-width: 600px)").addEventListener("change", () => { if (this.tab !== "New study" && this.tab !== "Tokens") this.drawn = ""; void this.attempt(() => this.draw()); });
    document.addEventListener("visibilitychange", () => this.waits.abort());
    this.readLink();
    window.addEventListener("hashchange", () => { this.readLink(); this.forget(); this.drawTabs(); this.waits.abort(); });
    this.drawTabs();
  }

  private drawTabs(): void {
    const owner = this.session.role === "owner";
    const visible = TABS.filter((t) => (t !== "Tokens" || owner) && (t !== "New study" || (owner && !this.session.study)));
    put(this.tabs, ...visible.map((t) => h("button", { type: "button", "aria-current": t === this.tab ? "page" : "false", click: () => void this.open(t) }, t)));
  }

  // A link for each view: study, part, and what is chosen in it.
  private keepLink(): void {
    const chosen = this.tab === "Posterior" ? `?${axesQuery(this.axes)}` : this.tab === "Rounds" ? `?x=${this.axes.x}${this.round ? `&round=${this.round}` : ""}` : "";
    history.replaceState(null, "", `#${encodeURIComponent(this.name)}/${linkOf(this.tab)}${chosen}`);
  }

  private readLink(): void {
    const found = /^#([^/?]+)\/([a-z]+)(?:\?(.*))?$/.exec(location.hash);
    const tab = TABS.find((t) => linkOf(t) === found?.[2]);
    if (!found || !tab) return;
    const query = new URLSearchParams(found[3] ?? "");
    this.name = decodeURIComponent(found[1]);
    this.tab = tab;
    this.axes = axesFrom(query);
    this.round = Number(query.get("round") ?? 0) || 0;
    this.drawn = "";
  }

  private async open(tab: Tab): Promise<void> {
    this.tab = tab;
    this.round = 0;
    this.keepLink();
    this.drawn = "";
    this.fresh = "";
    this.drawTabs();
    this.tabs.querySelector<HTMLElement>("[aria-current=page]")?.focus();
    await this.attempt(() => this.draw());
  }

  // What was kept of a study that is no longer shown.
  private forget(): void {
    this.study = null;
    this.log = new Log();
    this.rounds = null;
    this.view = null;
    this.column = null;
  }

  private async choose(name: string): Promise<void> {
    this.name = name;
    this.forget();
    this.axes = noAxes();
    this.round = 0;
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
      if (this.drawn === "none") return;
      this.drawn = "none";
      put(this.body, h("p", { class: "soft" }, "There is no study yet: 'tacet study create' makes one."), this.session.role === "owner" ? await this.newStudy() : null);
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
    const rounds = this.tab === "Tokens" || this.tab === "New study" || this.tab === "Label" ? [] : [s.suggested, s.observed, s.released, s.state, this.log.events.length];
    const mark = [this.name, this.tab, ...rounds, this.fresh, JSON.stringify(this.axes), this.round].join("/");
    if (mark === this.drawn) return;
    if (this.drawn && this.body.querySelector("[data-sure]")) return; // somebody is asked, and is about to say yes or no
    const busy = document.activeElement;
    if (this.drawn && busy?.closest("form") && this.body.contains(busy)) return; // nor is one in the middle of the overview
    const turn = ++this.turn;
    const made = await this.part(s);
    if (turn !== this.turn) return; // something newer was asked for meanwhile, and is on its way
    this.drawn = mark;
    if (!made || (this.body.firstChild === made && this.body.childNodes.length === 1)) return;
    const controls = (): HTMLElement[] => [...this.body.querySelectorAll<HTMLElement>("button, input, select, [tabindex]")];
    const focused = controls().indexOf(document.activeElement as HTMLElement);
    put(this.body, made);
    if (focused >= 0) controls()[focused]?.focus();
  }

  private part(s: Study): Promise<HTMLElement | null> {
    switch (this.tab) {
      case "Overview": return this.overview(s);
      case "Posterior":
        if (s.test) return pairsCard(s.name, s.test).then((made) => h("div", { class: "cards" }, made));
        this.view ??= new PosteriorView(s.name, (axes) => { this.axes = axes; this.keepLink(); void this.attempt(() => this.draw()); });
        return this.view.show(this.axes);
      case "Rounds": return this.listRounds();
      case "Releases": return this.releases(s);
      case "Ledger": return this.ledger();
      case "Label": return this.label(s);
      case "Tokens": return this.tokens(s);
      case "New study": return this.newStudy();
    }
  }

  private async newStudy(): Promise<HTMLElement> {
    return h("div", { class: "cards" }, createCard((name) => { announce("the study was made"); this.tab = "Overview"; this.name = name; this.drawTabs(); void this.choose(name); }));
  }

  // --- overview ---

  // The point that a release would recommend: what GET …/best says, and nothing computed here.
  private async best(s: Study): Promise<HTMLElement> {
    try {
      const best = await get<Best>(`/v1/studies/${s.name}/best`);
      const point = best.point ?? Object.fromEntries((best.action ?? []).map((v, i) => [`x${i + 1}`, v]));
      return h("div", { "data-best": JSON.stringify(point) }, facts(["best predicted, ± one standard deviation", `${number(best.mean)}${best.sd === null ? "" : ` ± ${number(best.sd, 2)}`}`]),
        h("p", {}, pointText(point)));
    } catch (error) {
      if (!(error instanceof Problem) || error.status === 401) throw error;
      return h("p", { class: "soft" }, `${error.message}.`);
    }
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
    const whole = s.suggested + s.rounds_left; // the definition has what it began with
    const tickets = this.session.role === "owner" ? await this.tickets(s) : h("p", { class: "soft" }, told === undefined ? "Who has reported is private." : `${open} tickets are open. Who holds them is shown to owners.`);
    const acts = this.session.role === "owner" && s.state === "active" ? h("div", { class: "buttons" },
      open > 0 ? this.sure("", "End all open tickets", "End all open tickets", `End ${open} for good: their reports are refused`, () => this.expire(s, { older: 0 })) : null,
      this.sure("", "Archive the study", "Archive the study", "Archive it for good: no round can be taken any more", () => this.archive(s))) : null;
    const variants = s.definition.policy === "contextual" ? await figure(s.name, "variants", "x=0") : null;
    return h("div", { class: "cards" },
      card(s.name, s.test || variants ? "" : "wide", s.definition.description ? h("p", {}, s.definition.description) : null,
        facts(["trust", s.definition.trust], ["policy", s.definition.policy], ["state", s.state], ["suggested", String(s.suggested)], ...(told === undefined ? [] : [["reported", String(told)], ["open tickets", String(open)], ["expired", String(this.log.expired)]] as [string, string][])),
        gauge("rounds used", s.suggested, whole, `${s.suggested} of ${whole} rounds used`)),
      s.test || variants ? null : card("Best so far", "third", await this.best(s)),
      s.test ? await compareCard(s.name, s.test) : null,
      variants ? card("What each earns with whom", "", variants, h("p", { class: "small soft" }, "What a release would say now. Bars are two standard deviations of the model either way. Costs no budget.")) : null,
      card("What it costs", "third", h("p", { class: g.proven ? "goodtext" : "badtext" }, g.proven ? `eps ${above(g.eps)}${g.delta > 0 ? `, delta ${above(g.delta, 3)}` : ""}, proven` : "Not proven"),
        h("p", { class: "small" }, `Protects ${g.protects}. ${g.statement}`),
        table([{ name: "rounds of one person", text: (r: [string, number | null]) => r[0] }, { name: "eps", numeric: true, text: (r) => above(r[1]) }], [["1", g.eps], ...costs] as [string, number | null][], "Cost of several rounds"),
        h("p", { class: "small soft" }, g.eps_per_person === null ? "" : `A person who is always named pays eps ${above(g.eps_per_person)}: ${g.rounds_per_person} round${g.rounds_per_person === 1 ? " counts" : "s count"}.`)),
      card(told === undefined ? "Tickets issued" : "Open tickets", "wide", tickets, acts),
      this.session.role === "owner" && s.state === "active" && extends_(s) ? card("More rounds", "third", this.extendForm(s)) : null,
      card("Health", "third", await this.health()));
  }

  private async tickets(s: Study): Promise<HTMLElement> {
    const found = (await get<{ tickets: Ticket[] }>(`/v1/studies/${s.name}/tickets`)).tickets;
    if (found.length === 0) return h("p", { class: "soft" }, "None.");
    const now = Date.now() / 1000;
    const title = s.observed === undefined ? "Tickets issued" : "Open tickets";
    const list = h("div", { class: "list short", tabindex: 0, role: "region", "aria-label": title }, table<Ticket>([
      { name: "Round", numeric: true, text: (t) => String(t.number) },
      { name: "Asked (UTC)", text: (t) => when(t.time) },
      { name: "Age", text: (t) => age(now - t.time) },
      { name: "Held by", text: (t) => (t.token === undefined ? "a token that is gone" : `${t.label || "token"} (number ${t.token})`) },
      { name: "Expires (UTC)", text: (t) => (t.expires ? when(t.expires) : "never") },
      { name: "", text: (t) => s.observed === undefined ? "" : this.sure("plain", "End", `End the ticket of round ${t.number}`, "Refuse its report?", () => this.expire(s, { number: t.number })) },
    ], found.slice(0, 200), title));
    return h("div", {}, list, found.length > 200 ? h("p", { class: "small soft" }, "The oldest 200 are shown.") : null);
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

  // More rounds, where the study may have more: what it may not is refused in words.
  private extendForm(s: Study): HTMLElement {
    const rounds = h("input", { type: "number", min: s.suggested + s.rounds_left + 1, value: 2 * (s.suggested + s.rounds_left) });
    return h("form", { submit: (event) => { event.preventDefault(); void this.attempt(async () => {
      const found = await ask<{ rounds: number }>("POST", `/v1/studies/${s.name}/rounds`, { rounds: Math.round(Number(rounds.value)) });
      announce(`${found.rounds} rounds`);
      this.drawn = "";
      await this.refresh();
    }); } }, h("div", { class: "fields" }, field("Rounds in all", rounds)), h("div", { class: "buttons" }, h("button", { type: "submit" }, "Extend")));
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

  // --- rounds ---

  private async listRounds(): Promise<HTMLElement | null> {
    const rows = [...this.log.events].reverse();
    if (this.rounds && this.rounds.element.isConnected && !this.round) {
      this.rounds.show(rows);
      await this.tried();
      return null;
    }
    const of = (e: Event_): number => e.of ?? e.number;
    this.rounds = new LongTable<Event_>([
      { name: "Event", numeric: true, text: (e) => String(e.number) },
      { name: "What", text: (e) => e.kind },
      { name: "Round", text: (e) => e.kind === "released" ? "" : h("button", { type: "button", class: "plain tight", "aria-label": `Details of round ${of(e)}`, click: () => this.showRound(of(e)) }, String(of(e))) },
      { name: "Point", text: (e) => this.pointOf(e) },
      { name: "Report", numeric: true, text: (e) => (e.value === undefined ? "" : number(e.value, 5)) },
      { name: "When (UTC)", text: (e) => when(e.time) },
    ], "Events of the study, newest first");
    const list = [["event", "what", "round", "point", "report", "time"], ...rows.map((e) => [e.number, e.kind, of(e), this.pointOf(e), e.value ?? "", when(e.time)])];
    const made = card("Rounds", "", h("p", { class: "small soft" }, this.study?.definition.trust === "local" ? "Reports were randomised on the devices that sent them." : "Rewards, contexts and decision sets of a central study are shown to nobody."),
      this.rounds.element, h("div", { class: "buttons" }, h("button", { type: "button", click: () => download(`${this.name}-rounds.csv`, csv(list), "text/csv") }, "Download CSV")));
    requestAnimationFrame(() => this.rounds?.show(rows));
    await this.tried();
    return h("div", { class: "cards" }, this.round ? this.roundCard(this.round) : null, this.picture, made);
  }

  // What was tried in one column, round by round.
  private async tried(): Promise<void> {
    const domain = this.study?.definition.domain;
    const names = domain?.space?.columns.map((c) => c.name) ?? domain?.points?.[0]?.map((_, i) => `x${i + 1}`) ?? [];
    const drawn = this.log.events.length > 0 ? await figure(this.name, "tried", `x=${this.axes.x}`) : null;
    if (!this.column) {
      const select: HTMLSelectElement = h("select", { change: () => { this.axes = { ...noAxes(), x: Number(select.value) }; this.keepLink(); void this.attempt(() => this.tried()); } },
        ...names.map((name, i) => h("option", { value: i }, name)));
      this.column = select;
      put(this.picture, card("What was tried", "", h("div", { class: "fields" }, field("Column", select)), this.drawing, h("p", { class: "small soft" }, "The last 1,000 events at most. A round goes by the number of the event that began it.")));
    }
    this.column.value = String(this.axes.x);
    put(this.drawing, drawn);
    this.picture.classList.toggle("hidden", !drawn);
  }

  private pointOf(e: Event_): string {
    const listed = e.index === undefined ? undefined : this.study?.definition.domain.points?.[e.index];
    if (e.point) return pointText(e.point);
    return listed ? listed.map((v, i) => `x${i + 1} ${number(v)}`).join(", ") : "";
  }

  private showRound(number_: number): void {
    this.round = number_;
    this.keepLink();
    void this.attempt(async () => {
      await this.draw();
      this.body.querySelector<HTMLElement>("[data-round]")?.focus();
    });
  }

  // One round: what was tried, and what became of it.
  private roundCard(round: number): HTMLElement {
    const history = this.log.events.filter((e) => e.number === round || e.of === round);
    const asked = history.find((e) => e.kind === "suggested");
    const point = Object.entries(asked?.point ?? {});
    const made = card(`Round ${round}`, "", history.length === 0 ? h("p", { class: "soft" }, "There is no such round.") : null,
      point.length > 0 ? facts(...point.map(([name, v]) => [name, typeof v === "number" ? number(v, 6) : v] as [string, string])) : asked ? h("p", {}, this.pointOf(asked) || "What was tried is shown to nobody.") : null,
      table<Event_>([{ name: "When (UTC)", text: (e) => when(e.time) }, { name: "What", text: (e) => e.kind }, { name: "Report", numeric: true, text: (e) => (e.value === undefined ? "" : number(e.value, 6)) }], history, `History of round ${round}`),
      h("div", { class: "buttons" }, h("button", { type: "button", click: () => this.showRound(0) }, "Close")));
    made.tabIndex = -1;
    made.dataset.round = String(round);
    return made;
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
      Number.isFinite(budget) && Number.isFinite(spent) ? gauge("privacy budget", spent, budget, `eps ${above(spent)} of ${above(budget)} charged`) : null,
      table<[string, unknown]>([{ name: "Field", text: (r) => r[0].replace(/_/g, " ") }, { name: "Value", text: (r) => (typeof r[1] === "number" ? number(r[1], 6) : r[0] === "head" ? h("code", {}, String(r[1])) : String(r[1])) }], flat, "Ledger"),
      h("p", { class: "small soft" }, this.study?.definition.trust === "local" ? "Each device keeps the ledger of its own reports." : "Charged each time before rewards are released; verified by 'tacet ledger verify'.")));
  }

  // What 'tacet disclose' writes of the study's status: made by the server, shown here as it is.
  private async label(s: Study): Promise<HTMLElement> {
    const path = `/v1/studies/${s.name}/label`;
    const parts = await label(path);
    return h("div", { class: "cards" }, card("Privacy label", "", parts ? h("div", { class: "label" }, ...parts) : h("p", { class: "soft" }, "This study states no proven guarantee, so it has no label."),
      parts ? h("div", { class: "buttons" }, h("button", { type: "button", click: () => void this.attempt(async () => download(`${s.name}-label.html`, await get<string>(path), "text/html")) }, "Download to print")) : null));
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
