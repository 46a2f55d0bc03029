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

// 0: the server cannot be reached.
export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (guard) headers["X-Tacet-Guard"] = guard;
  if (!touched) headers["X-Tacet-Background"] = "1";
  touched = false;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin", redirect: "error", cache: "no-store", signal });
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
