/* SPDX-License-Identifier: Apache-2.0 */
// api.ts - requests to this server: the session's guard in a header, problems as errors, patience when it is away.

export class Problem extends Error {
  constructor(readonly status: number, readonly word: string, detail: string) {
    super(detail);
  }
}

export interface Session { role: string; study?: string; label?: string; guard: string; left: number }

// A session ends when nobody has touched the page for a while: what the page asks by itself does not count.
let touched = true;
for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, () => { touched = true; }, { capture: true, passive: true });

let guard = "";
export function setGuard(text: string): void {
  guard = text;
}

function headers(accept: string): Record<string, string> {
  const made: Record<string, string> = { Accept: accept };
  if (guard) made["X-Tacet-Guard"] = guard;
  if (!touched) made["X-Tacet-Background"] = "1";
  touched = false;
  return made;
}

// What the server drew or wrote (src/report), as elements. The browser reads it as a document of its own, in which no
// script runs. null: there is none.
function fetched(path: string, accept: string): Promise<Document | null> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.responseType = "document";
    for (const [name, value] of Object.entries(headers(accept))) request.setRequestHeader(name, value);
    request.onerror = () => fail(new Problem(0, "away", "the server cannot be reached"));
    request.onload = () => {
      if (request.status === 200 && request.responseXML) done(request.responseXML);
      else if (request.status === 409) done(null);
      else fail(new Problem(request.status, "", `the answer was ${request.status} ${request.getResponseHeader("content-type") ?? ""}`));
    };
    request.send();
  });
}

export async function picture(path: string): Promise<SVGElement | null> {
  const found = await fetched(path, "image/svg+xml");
  return found && (document.adoptNode(found.documentElement) as unknown as SVGElement);
}

// The sections of a privacy label.
export async function label(path: string): Promise<Element[] | null> {
  const found = await fetched(`${path}?part=1`, "application/xhtml+xml");
  return found && [...found.querySelectorAll("main > section")].map((part) => document.adoptNode(part));
}

// 0: the server cannot be reached.
export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const sent = headers("application/json");
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers: sent, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin", redirect: "error", cache: "no-store", signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, "away", "the server cannot be reached");
  }
  const text = await answer.text();
  let value: any = null;
  try {
    value = JSON.parse(text);
  } catch {
    if (answer.ok) return text as unknown as T;
  }
  if (!answer.ok) throw new Problem(answer.status, String(value?.type ?? "").replace(/^.*:/, ""), String(value?.detail ?? answer.statusText));
  return value as T;
}

export const get = <T>(path: string, signal?: AbortSignal): Promise<T> => ask<T>("GET", path, undefined, signal);

// For how many seconds a request may wait: not much longer than the session would last if nobody touched the page.
export const patience = (session: Session, most: number): number => Math.min(most, Math.ceil(session.left));

export function pause(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, 1000 * seconds));
}
