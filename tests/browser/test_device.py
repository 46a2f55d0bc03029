# SPDX-License-Identifier: Apache-2.0
"""test_device.py - the browser's device package in Chromium: what its ledger survives, and what no page can prevent.

Pages come from a server here, under the Content-Security-Policy that web/device/README.md recommends. A step is killed
from inside: the page asks the server, in the middle of the step, to end its browser, and waits for an answer that
does not come."""
import contextlib
import http.server
import json
import os
import shutil
import signal
import tempfile
import threading
import urllib.parse

from harness import browser, until

BUILD = os.environ.get("TACET_BUILD") or os.path.join(os.path.dirname(os.environ.get("TACET_BIN", "build/bin")))
PACKAGE = os.path.join(BUILD, "device")
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web", "device")
CSP = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

PAGE_JS = """
import { Device, Ledger, Module } from '/device/device.js';
import { auditAll, CARDS } from '/audit.mjs';

const end = (step, report) => {
  const asked = new XMLHttpRequest(); // waits, and so keeps the transaction open
  asked.open('GET', `/kill?step=${encodeURIComponent(step)}&report=${report}`, false);
  asked.send();
};

function killing(step) {
  const put = IDBObjectStore.prototype.put;
  let inside = '', drawn = 'none';
  IDBObjectStore.prototype.put = function (value, key) {
    const request = put.call(this, value, key);
    if (inside === step && this.name === 'tickets') { end(step, drawn); }
    return request;
  };
  return class extends Ledger {
    async reserve(ticket, mint) {
      if (step === 'before reserve') { end(step, drawn); }
      inside = 'inside reserve';
      const stored = await super.reserve(ticket, mint);
      inside = '';
      if (step === 'after reserve') { end(step, drawn); }
      return stored;
    }
    async commit(ticket, report) {
      drawn = report;
      if (step === 'before commit') { end(step, drawn); }
      inside = 'inside commit';
      await super.commit(ticket, report);
      if (step === 'after commit') { end(step, drawn); }
    }
  };
}

const SETTINGS = { randomizer: 'laplace', eps: 1, lo: 0, hi: 1 };
const STUDY = { name: 'study', eps: 1, range: [0, 1], randomizer: 'laplace' };

window.device = (budget = 100, study = {}) => Device.open({ study: { ...STUDY, ...study }, origin: 'o', budget });
const own = (study) => (study?.randomizer === 'sphere' ? { round: 2 ** 40, point: [0.25], card: CARDS[1] } : undefined);
window.report = async (ticket, value, budget, study) => {
  const device = await window.device(budget, study);
  try {
    const answer = await device.report(ticket, value, own(study));
    return { ...answer, ...await device.status(), persisted: device.persisted };
  } catch (error) {
    return { failed: error.code ?? error.name, words: error.message, ...await device.status() };
  } finally {
    device.close();
  }
};
window.killed = async (step, ticket, value, study = {}) => {
  const ledger = await killing(step).open('study@o', { ...SETTINGS, ...study }, 100);
  const device = await Device.open({ study: { ...STUDY, ...study }, origin: 'o', budget: 100, ledger });
  return device.report(ticket, value, own(study));
};
window.audited = async (eps, runs) => auditAll(await Module.load(), eps, runs);
// Other data of the site, until there is no room for a byte more.
const junk = () => new Promise((resolve) => {
  const request = indexedDB.open('junk', 1);
  request.onupgradeneeded = () => request.result.createObjectStore('junk', { autoIncrement: true });
  request.onsuccess = () => resolve(request.result);
});
window.fill = async () => {
  const db = await junk();
  let stored = 0;
  for (let size = 100000; size >= 1; size = Math.floor(size / 2)) {
    for (let going = true; going;) {
      going = await new Promise((resolve) => {
        const transaction = db.transaction('junk', 'readwrite');
        transaction.objectStore('junk').add('x'.repeat(size));
        transaction.oncomplete = () => resolve(true);
        transaction.onabort = () => resolve(false);
      });
      stored += going ? size : 0;
    }
  }
  db.close();
  return stored;
};
window.empty = () => new Promise((resolve) => { indexedDB.deleteDatabase('junk').onsuccess = () => resolve(true); });
// All tabs begin when one of them says so.
const channel = new BroadcastChannel('go');
window.wait = (ticket, value, budget) => {
  window.result = new Promise((resolve) => {
    channel.onmessage = () => resolve(window.report(ticket, value, budget));
  });
};
window.go = () => new BroadcastChannel('go').postMessage('go');
window.ready = true;
"""


class Site:
    """Serves the package and a page, on loopback; `kills` is told what to end."""

    def __init__(self):
        site = self
        self.killed, self.kill, self.csp, self.spoil = [], None, CSP, False

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlparse(self.path)
                if url.path == "/kill":
                    site.killed.append({k: v[0] for k, v in urllib.parse.parse_qs(url.query).items()})
                    site.kill()
                    return
                kind, body = site.file(url.path)
                self.send_response(200 if body is not None else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Cache-Control", "no-store")
                if site.csp:
                    self.send_header("Content-Security-Policy", site.csp)
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def file(self, path):
        if path == "/":
            return "text/html", b"<!doctype html><title>device</title><script type=module src=/page.js></script>"
        if path == "/page.js":
            return "text/javascript", PAGE_JS.encode()
        name = os.path.join(SOURCE, "audit.mjs") if path == "/audit.mjs" else os.path.join(PACKAGE, path[len("/device/"):])
        if not path.startswith(("/device/", "/audit.mjs")) or not os.path.exists(name):
            return "text/plain", None
        with open(name, "rb") as f:
            body = f.read()
        if path.endswith(".wasm"):
            return "application/wasm", body[:-1] + bytes([body[-1] ^ 1]) if self.spoil else body
        return "text/javascript", body

    def close(self):
        self.server.shutdown()


@contextlib.contextmanager
def site():
    s = Site()
    try:
        yield s
    finally:
        s.close()


def visit(driver, s):
    driver.get(s.url + "/")
    until("the page's script", lambda: driver.execute_script("return window.ready === true"))


def call(driver, name, *arguments, within=300):
    """Awaits window[name](...) and returns what it gives."""
    driver.set_script_timeout(within)
    got = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "window[arguments[0]](...arguments[1]).then((v) => done({ v }), (e) => done({ e: `${e.code ?? e.name}: ${e.message}` }));",
        name, list(arguments))
    assert "e" not in got, got["e"]
    return got["v"]


def fresh(driver, s):
    """The site's data as on a first visit."""
    driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": s.url, "storageTypes": "all"})
    visit(driver, s)


def test_device_a_reload_repeats_the_same_bits_and_charges_nothing(driver):
    with site() as s:
        fresh(driver, s)
        first = call(driver, "report", "t", 0.25)
        assert first["repeated"] is False and first["count"] == 1, first
        visit(driver, s)
        again = call(driver, "report", "t", 0.25)
        assert again["report"] == first["report"] and again["repeated"] is True and again["count"] == 1, (first, again)


def test_device_says_whether_the_browser_keeps_the_ledger(driver):
    with site() as s:
        fresh(driver, s)
        kept = driver.execute_async_script("navigator.storage.persisted().then(arguments[0])")
        assert call(driver, "report", "t", 0.25)["persisted"] is kept


def test_device_tabs_at_once_on_one_ticket_draw_once(driver):
    with site() as s:
        fresh(driver, s)
        first = driver.current_window_handle
        tabs = [first]
        for _ in range(3):
            driver.switch_to.new_window("tab")
            tabs.append(driver.current_window_handle)
        try:
            for tab in tabs:
                driver.switch_to.window(tab)
                visit(driver, s)
                driver.execute_script("window.wait('t', 0.25, 100)")
            driver.execute_script("window.go()")
            got = []
            for tab in tabs:
                driver.switch_to.window(tab)
                got.append(driver.execute_async_script("window.result.then(arguments[0])"))
            assert len({g["report"] for g in got}) == 1, got
            assert sum(not g["repeated"] for g in got) == 1 and got[-1]["count"] == 1, got
            # And four tickets, of which the budget pays for two.
            driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": s.url, "storageTypes": "all"})
            for i, tab in enumerate(tabs):
                driver.switch_to.window(tab)
                visit(driver, s)
                driver.execute_script("window.wait(arguments[0], 0.25, 2)", f"ticket {i}")
            driver.execute_script("window.go()")
            got = []
            for tab in tabs:
                driver.switch_to.window(tab)
                got.append(driver.execute_async_script("window.result.then(arguments[0])"))
            assert sorted(g.get("failed", "") for g in got) == ["", "", "BUDGET", "BUDGET"], got
        finally:
            for tab in tabs[1:]:
                driver.switch_to.window(tab)
                driver.close()
            driver.switch_to.window(first)


def descendants(pid):
    """A process and all that it started."""
    found = [pid]
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError):
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as f:
                    if int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                        found += descendants(int(entry))
    return found


def end_browser(driver):
    for pid in descendants(driver.service.process.pid)[1:]:  # not the driver's own
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def test_device_a_browser_killed_inside_each_step_goes_on_with_the_same_report(_driver):
    steps = ("before reserve", "inside reserve", "after reserve", "before commit", "inside commit", "after commit")
    sets = {"randomizer": "sphere"}
    for step, study in [(step, {}) for step in steps] + [("after reserve", sets), ("before commit", sets)]:
        profile = tempfile.mkdtemp(prefix="tacet-killed-")
        with site() as s:
            victim = browser(profile=profile)
            try:
                s.kill = lambda: end_browser(victim)
                visit(victim, s)
                victim.execute_script("window.killed(arguments[0], 't', 0.25, arguments[1])", step, study)
                until(f"the browser was ended {step}", lambda: s.killed)
            finally:
                with contextlib.suppress(Exception):
                    victim.quit()
            assert s.killed[0]["step"] == step, s.killed
            drawn = s.killed[0]["report"]
            with contextlib.suppress(OSError):
                os.remove(os.path.join(profile, "SingletonLock"))
            second = browser(profile=profile)
            try:
                visit(second, s)
                reserved = step not in ("before reserve", "inside reserve")
                if reserved and step != "after commit":
                    other = call(second, "report", "t", 0.75, 100, study)
                    assert other.get("failed") == "CONFLICT" and other["count"] == 1, (step, other)
                got = call(second, "report", "t", 0.25, 100, study)
                assert got["count"] == 1, (step, got)
                assert got["repeated"] is (step == "after commit"), (step, got)
                if drawn != "none":
                    assert got["report"] == float(drawn), (step, drawn, got)
                assert call(second, "report", "t", 0.25, 100, study)["report"] == got["report"]
            finally:
                second.quit()
        shutil.rmtree(profile, ignore_errors=True)


def test_device_without_room_nothing_is_drawn_or_charged(driver):
    with site() as s:
        fresh(driver, s)
        driver.get("about:blank")
        driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": s.url, "quotaSize": 400000})
        try:
            visit(driver, s)
            assert call(driver, "report", "t", 0.25)["count"] == 1
            assert call(driver, "fill") > 0
            got = call(driver, "report", "u", 0.25)
            assert got.get("failed") == "IO" and "room" in got["words"] and got["count"] == 1, got
            assert call(driver, "report", "t", 0.25)["repeated"] is True
        finally:
            driver.execute_cdp_cmd("Storage.overrideQuotaForOrigin", {"origin": s.url})
        call(driver, "empty")
        driver.get("about:blank")
        visit(driver, s)
        got = call(driver, "report", "u", 0.25)
        assert got["count"] == 2 and got["repeated"] is False, got


def test_device_a_cleared_browser_is_a_new_device(driver):
    """What no page can prevent, and why the collector takes one report a ticket."""
    with site() as s:
        fresh(driver, s)
        first = call(driver, "report", "t", 0.25)
        fresh(driver, s)
        again = call(driver, "report", "t", 0.25)
        assert again["repeated"] is False and again["count"] == 1, (first, again)


def test_device_a_private_window_is_a_new_device(_driver):
    profile = tempfile.mkdtemp(prefix="tacet-private-")
    with site() as s:
        counts = []
        for more in ((), ("--incognito",), ()):
            one = browser(profile=profile, more=more)
            try:
                visit(one, s)
                got = call(one, "report", "t", 0.25)
                counts.append((got["repeated"], got["count"]))
            finally:
                one.quit()
        assert counts == [(False, 1), (False, 1), (True, 1)], counts
    shutil.rmtree(profile, ignore_errors=True)


def test_device_keeps_the_settings_it_was_begun_with(driver):
    with site() as s:
        fresh(driver, s)
        call(driver, "report", "t", 0.25)
        for study, budget in (({"eps": 2}, 100), ({}, 50)):
            try:
                call(driver, "report", "u", 0.25, budget, study)
                raise RuntimeError("another budget or eps was taken")
            except AssertionError as error:
                assert "CONFLICT" in str(error), error
        got = call(driver, "report", "t", 0.25, 100, {"range": [0, 2]})
        assert got["failed"] == "CONFLICT", got


def test_device_other_bytes_are_not_run(driver):
    with site() as s:
        s.spoil = True
        fresh(driver, s)
        try:
            call(driver, "report", "t", 0.25)
            raise RuntimeError("a module that was changed on its way was run")
        except AssertionError as error:
            assert "TypeError" in str(error), error  # of fetch: the integrity does not match


def test_device_needs_wasm_unsafe_eval_in_its_policy(driver):
    with site() as s:
        s.csp = CSP.replace(" 'wasm-unsafe-eval'", "")
        fresh(driver, s)
        try:
            call(driver, "report", "t", 0.25)
            raise RuntimeError("it ran")
        except AssertionError as error:
            assert "CompileError" in str(error), error


def test_device_audit_of_the_package_in_the_browser(driver):
    """A false alarm has probability 2e-4 a line."""
    with site() as s:
        fresh(driver, s)
        lines = call(driver, "audited", 1, 80000, within=1800)  # half a minute of processor
        assert len(lines) == 6 and all(line["good"] for line in lines), json.dumps(lines)
        print("\n".join(f"{line['name']}: {line['found']:.3f} of 1" for line in lines))
