/* SPDX-License-Identifier: Apache-2.0 */
// login.ts - a token is exchanged for a session; what ends a session leads back here.
import { ask, get, Problem, Session, setGuard } from "./api";
import { announce, field, h, put } from "./dom";

const top = h("header", { class: "top" });
const main = h("main", { id: "main", tabindex: -1 });

// The frame of a page: what it is called, who is logged in, and the way out.
export function frame(title: string, session: Session | null, ...more: Node[]): HTMLElement {
  if (!main.isConnected) {
    document.body.append(h("a", { class: "skip", href: "#main" }, "To the content"), top, main);
  }
  const who = session ? h("span", { class: "soft small" }, session.label ? `${session.role} (${session.label})` : session.role) : null;
  const out = session ? h("button", { class: "plain", click: () => void leave() }, "Log out") : null;
  put(top, h("img", { src: "/icon.svg", alt: "" }), h("h1", {}, title), ...more, h("span", { class: "space" }), who, out);
  main.className = session ? "" : "login";
  return main;
}

async function leave(): Promise<void> {
  try {
    await ask("DELETE", "/v1/session");
  } finally {
    setGuard("");
    location.reload();
  }
}

export async function session(): Promise<Session | null> {
  try {
    const found = await get<Session>("/v1/session");
    setGuard(found.guard);
    return found;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    throw error;
  }
}

// Resolves with the session once somebody has logged in. `why`: what is said above the form.
export function login(title: string, where: string, why: string): Promise<Session> {
  setGuard("");
  const page = frame(title, null);
  return new Promise((done) => {
    const token = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true, spellcheck: "false", "aria-describedby": "where" });
    const problem = h("p", { class: "notice bad", role: "alert" });
    const button = h("button", { class: "first", type: "submit" }, "Log in");
    const submit = async (event: Event): Promise<void> => {
      event.preventDefault();
      button.disabled = true;
      put(problem);
      try {
        const made = await ask<Session>("POST", "/v1/session", { token: token.value.trim() });
        setGuard(made.guard);
        token.value = "";
        announce("logged in");
        done(made);
      } catch (error) {
        problem.textContent = error instanceof Problem ? `${error.message}.` : String(error);
        token.select();
        token.focus();
      } finally {
        button.disabled = false;
      }
    };
    put(page, why ? h("p", { class: "notice", role: "status" }, why) : null,
      h("section", { class: "card", "aria-labelledby": "login" },
        h("h2", { id: "login" }, "Log in"),
        h("form", { submit: (event) => void submit(event) }, field("Token", token), h("p", { class: "small soft", id: "where" }, where), problem, h("div", { class: "buttons" }, button))));
    token.focus();
  });
}

// Runs a page: logs in where needed, and again whenever the session has ended.
export async function guarded(title: string, where: string, run: (session: Session) => Promise<void>): Promise<void> {
  let why = "";
  for (;;) {
    let found: Session | null = null;
    try {
      found = await session();
    } catch {
      put(frame(title, null), h("p", { class: "notice bad", role: "alert" }, "The server cannot be reached. This page goes on as soon as it answers."));
      await new Promise((go) => setTimeout(go, 2000));
      continue;
    }
    found = found ?? (await login(title, where, why));
    try {
      await run(found);
    } catch (error) {
      if (!(error instanceof Problem && (error.status === 401 || error.status === 403))) throw error;
      why = error.status === 401 ? "The session has ended. Log in to go on." : `${error.message}.`;
    }
  }
}
