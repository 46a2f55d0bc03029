# SPDX-License-Identifier: Apache-2.0
"""test_shop.py - examples/shop.html end to end: a collector as it ships, visitors in Chromium and 2,000 more in Node."""
import json
import os
import shutil
import sqlite3
import struct
import subprocess
import tempfile

import harness
from harness import Program, ask, browser, run, says, until
from test_device import PACKAGE, Site

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
VISITORS = 2000


class Shop(Site):
    """The page with the address of its collector, which is only known now; the policy is the page's own."""

    def __init__(self):
        super().__init__()
        self.csp, self.collector = None, ""

    def file(self, path):
        if path in ("/shop.html", "/shop.js"):
            with open(os.path.join(ROOT, "examples", path[1:]), encoding="utf-8") as f:
                text = f.read().replace("https://collector.example", self.collector)
            return ("text/html" if path.endswith("html") else "text/javascript"), text.encode()
        return super().file(path)


def observed(folder):
    """The store's own bytes, and the values in it."""
    with sqlite3.connect(os.path.join(folder, "studies", "open.db")) as db:
        kept = [tuple(row) for row in db.execute("SELECT value FROM event WHERE kind = 2")]
    files = b""
    for root, _, names in os.walk(os.path.join(folder, "studies")):
        for name in names:
            with open(os.path.join(root, name), "rb") as f:
                files += f.read()
    return kept, files


def as_double(value):
    return struct.unpack("<d", struct.pack("<q", value))[0] if isinstance(value, int) else float(value)


def test_shop_finds_the_best_layout_and_keeps_nothing_raw(_driver):
    folder = tempfile.mkdtemp(prefix="tacet-shop-")
    at = lambda name: os.path.join(folder, name)
    shop = Shop()
    collector = None
    one = browser()
    try:
        with open(at("layouts.csv"), "w", encoding="utf-8") as f:
            f.write("layout\n0\n1\n2\n")
        run("study", "create", "--store", "open:" + at("studies"), "--name", "layouts", "--trust", "local", "--eps", "1",
            "--points", at("layouts.csv"), "--inputs", "layout", "--lengthscale", "0.3", "--range", "0:1",
            "--rounds", str(VISITORS + 10))
        owner = run("study", "token", "--store", "open:" + at("studies"), "--role", "owner").strip()
        run("server", "init", "--dir", at("keys"))
        collector = Program(["collector", "--store", at("studies"), "--keys", at("keys"), "--listen", "127.0.0.1:0",
                             "--pages", f"layouts={shop.url}", "--address-rate", "10000000"], folder)
        shop.collector = collector.url
        # A visitor in a browser: five visits are in the budget, the sixth tells nothing.
        for visit in range(6):
            one.get(shop.url + "/shop.html")
            until("the shop", lambda: one.find_elements("css selector", "main[data-layout] article"))
            if visit < 5:
                one.find_element("id", "leave").click()
                says(one, f"This browser has spent {visit + 1} of 5.")
        one.find_element("id", "leave").click()
        status = ask(collector.url, "GET", "/v1/studies/layouts", owner)[1]
        assert status["observed"] == 5, status
        # A page of another origin gets nothing, and the browser does not even show it the refusal.
        other = Shop()
        try:
            other.collector = collector.url
            one.get(other.url + "/shop.html")
            says(one, "No study: the collector cannot be reached")
        finally:
            other.close()
        done = subprocess.run(
            ["node", os.path.join(ROOT, "tests", "device", "visitors.mjs"), os.path.abspath(PACKAGE), collector.url, shop.url,
             "layouts", str(VISITORS)], capture_output=True, text=True, check=False,
            env=dict(os.environ, NODE_EXTRA_CA_CERTS=at("keys/ca.pem")))
        assert done.returncode == 0, done.stderr
        told = json.loads(done.stdout)
        status, best, _ = ask(collector.url, "POST", "/v1/studies/layouts/releases", owner)
        assert status == 201 and best["release"]["index"] == 2, (best, told["played"])
        assert told["played"][2] > VISITORS / 2, told["played"]
        # A grant is good for one report: a second draw, as of a cleared browser, is refused.
        first = told["raw"][0]
        other = next(r["report"] for r in told["raw"] if r["report"] != first["report"])
        status, answer, _ = ask(collector.url, "POST", "/v1/pages/layouts/reports", headers={"Origin": shop.url}, body={
            "reports": [{"grant": first["ticket"], "index": first["index"], "value": other}]})
        assert status == 200 and answer["results"][0]["state"] == "refused", answer
        collector.stop()
        kept, files = observed(folder)
        values = {as_double(row[0]) for row in kept}
        assert len(kept) == VISITORS + 5, len(kept)
        assert {r["report"] for r in told["raw"]} <= values
        raw = {r["value"] for r in told["raw"]} - {0.0, 1.0}
        assert len(raw) > VISITORS / 2 and not raw & values
        for value in list(raw)[:300]:
            assert struct.pack("<d", value) not in files and struct.pack(">d", value) not in files
            assert repr(value).encode() not in files
    finally:
        harness.close(one)
        shop.close()
        if collector is not None:
            collector.stop()
        shutil.rmtree(folder, ignore_errors=True)


SETS_JS = """
import { Device } from '/device/device.js';
window.play = async (origin, visits, grant) => {
  const study = { name: 'routes', eps: 4, range: [0, 1], randomizer: 'sphere' };
  const device = await Device.open({ study, origin, budget: 400 });
  const played = [];
  for (let i = 0; i < visits; i++) {
    const arms = Array.from({ length: 10 }, () => [Math.random()]);
    const round = await device.choose(arms, grant);
    const x = arms[round.index][0];
    const { report } = await device.send(round, x); // the further right, the better
    await device.send(round, x);
    played.push({ x, report, round: round.own.round });
  }
  return played;
};
window.ready = true;
"""


def test_shop_sets_of_arms_stay_in_the_page_and_a_login_reports_once(driver):
    folder = tempfile.mkdtemp(prefix="tacet-sets-")
    at = lambda name: os.path.join(folder, name)
    site = Site()
    site.csp = None
    page = site.file
    site.file = lambda path: ("text/javascript", SETS_JS.encode()) if path == "/page.js" else page(path)
    collector = None
    try:
        with open(at("routes.json"), "w", encoding="utf-8") as f:
            json.dump({"name": "routes", "trust": "local", "policy": "statistics", "budget": {"eps": 4}, "rounds": 200,
                       "domain": {"lower": [0], "upper": [1]}, "prior": {"lengthscale": 0.5, "reward": [0, 1]},
                       "options": {"features": 8, "released": 4, "set_size": 10}}, f)
        run("study", "create", "--store", "open:" + at("studies"), "--definition", at("routes.json"), "--yes")
        owner = run("study", "token", "--store", "open:" + at("studies"), "--role", "owner").strip()
        run("server", "init", "--dir", at("keys"))
        collector = Program(["collector", "--store", at("studies"), "--keys", at("keys"), "--listen", "127.0.0.1:0",
                             "--pages", f"routes={site.url}", "--address-rate", "10000000"], folder)
        driver.get(site.url)
        until("the page", lambda: driver.execute_script("return window.ready === true"))
        play = lambda visits, grant=None: driver.execute_async_script(
            "const [a, b, c, done] = arguments; window.play(a, b, c ?? undefined).then(done, (e) => done({ code: e.code }))",
            collector.url, visits, grant)
        driver.set_script_timeout(300)
        played = play(80)
        first, last = [r["x"] for r in played[:20]], [r["x"] for r in played[40:]]
        assert sum(last) / len(last) > sum(first) / len(first) + 0.1, played  # chance below 1e-4: the model is used
        status = ask(collector.url, "GET", "/v1/studies/routes", owner)[1]
        assert status["observed"] == 80, status
        # The same login, in a browser whose data were cleared in between: one report.
        grant = lambda: ask(collector.url, "POST", "/v1/studies/routes/grants", owner, body={"login": "5d41402a"})[1]["grants"][0]
        assert len(play(1, grant())) == 1
        driver.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": site.url, "storageTypes": "all"})
        assert play(1, grant()) == {"code": "CONFLICT"}
        assert ask(collector.url, "GET", "/v1/studies/routes", owner)[1]["observed"] == 81
        collector.stop()
        kept, files = observed(folder)
        assert sorted(as_double(row[0]) for row in kept)[:80] and all(0 <= as_double(row[0]) < 256 for row in kept)
        for one in played:
            assert struct.pack("<d", one["x"]) not in files and repr(one["x"]).encode() not in files
    finally:
        site.close()
        if collector is not None:
            collector.stop()
        shutil.rmtree(folder, ignore_errors=True)
