// SPDX-License-Identifier: Apache-2.0
// checks.js - what a reader with another way of reading needs: names, contrast, order of focus, no sideways scrolling.
// Returns a list of complaints. Written for these pages; the rules are those of WCAG 2.1 AA.
const complaints = [];
const seen = (e) => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
const said = (e) => !!e.closest(".said, .skip, noscript");
const name = (e) => e.getAttribute("aria-label") || (e.getAttribute("aria-labelledby") || "").split(" ").map((i) => document.getElementById(i)?.textContent || "").join("").trim() ||
  (e.id && document.querySelector(`label[for="${e.id}"]`)?.textContent) || (["BUTTON", "A"].includes(e.tagName) ? e.textContent : "") || "";
const where = (e) => `${e.tagName.toLowerCase()}.${e.className} '${(e.textContent || "").slice(0, 40)}'`;

if (!document.documentElement.lang) complaints.push("no language");
if (!document.title) complaints.push("no title");
if (document.querySelectorAll("main").length !== 1) complaints.push("not one main");
if (document.querySelectorAll("h1").length !== 1) complaints.push("not one h1");
for (const e of document.querySelectorAll("button, a[href], input, select, [role=img], [role=region], [role=meter], [tabindex='0']"))
  if (seen(e) && !name(e).trim()) complaints.push(`no name: ${where(e)}`);
for (const e of document.querySelectorAll("img")) if (!e.hasAttribute("alt")) complaints.push(`no alt: ${where(e)}`);
for (const e of document.querySelectorAll("table")) if (!e.querySelector("th[scope]")) complaints.push(`a table without headings: ${where(e)}`);
const ids = [...document.querySelectorAll("[id]")].map((e) => e.id);
for (const id of new Set(ids)) if (ids.filter((i) => i === id).length > 1) complaints.push(`id twice: ${id}`);
let level = 0;
for (const e of document.querySelectorAll("h1, h2, h3, h4")) {
  const now = Number(e.tagName[1]);
  if (seen(e) && now > level + 1) complaints.push(`a heading is left out before ${where(e)}`);
  if (seen(e)) level = now;
}

// Contrast of every text against what is behind it.
const parse = (c) => { const m = /rgba?\(([^)]+)\)/.exec(c); if (!m) return null; const p = m[1].split(",").map(Number); return { r: p[0], g: p[1], b: p[2], a: p[3] === undefined ? 1 : p[3] }; };
const light = (c) => [c.r, c.g, c.b].map((v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4); }).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c && c.a > 0.99) return c; } return { r: 255, g: 255, b: 255, a: 1 }; };
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const done = new Set();
while (texts.nextNode()) {
  const e = texts.currentNode.parentElement;
  if (!texts.currentNode.textContent.trim() || !seen(e) || said(e) || done.has(e) || e.closest("button:disabled")) continue;
  done.add(e);
  const style = getComputedStyle(e);
  const front = parse(e.closest("svg") ? style.fill : style.color);
  if (!front) continue;
  const a = light(front), b = light(behind(e));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
  if (ratio < (large ? 3 : 4.5)) complaints.push(`contrast ${ratio.toFixed(2)}: ${where(e)}`);
}
// Nothing but what scrolls by itself is wider than the window.
if (document.documentElement.scrollWidth > window.innerWidth + 1) complaints.push(`scrolls sideways: ${document.documentElement.scrollWidth} of ${window.innerWidth}`);
// The order of focus is that of the document: nobody jumps the queue.
for (const e of document.querySelectorAll("[tabindex]")) if (Number(e.getAttribute("tabindex")) > 0) complaints.push(`jumps the queue: ${where(e)}`);
// Targets that a finger can hit.
for (const e of document.querySelectorAll("button")) if (seen(e) && e.getBoundingClientRect().height < 24) complaints.push(`too small: ${where(e)}`);
return complaints;
