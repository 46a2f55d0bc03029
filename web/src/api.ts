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

// A picture that the server draws (src/report), as an element. The browser reads it as XML: no text becomes markup here.
// null: there is none to be drawn.
export function picture(path: string): Promise<SVGElement | null> {
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("GET", path);
    request.responseType = "document";
    for (const [name, value] of Object.entries(headers("image/svg+xml"))) request.setRequestHeader(name, value);
    request.onerror = () => fail(new Problem(0, "away", "the server cannot be reached"));
    request.onload = () => {
      const root = request.responseXML?.documentElement;
      if (request.status === 200 && root) done(document.adoptNode(root) as unknown as SVGElement);
      else if (request.status === 409) done(null);
      else fail(new Problem(request.status, "", `the picture was not drawn: ${request.status} ${request.getResponseHeader("content-type") ?? ""}`));
    };
    request.send();
  });
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
