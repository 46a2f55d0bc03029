# SPDX-License-Identifier: Apache-2.0
"""harness.py - real servers and a real browser for the tests of the pages.

Starts the programs of $TACET_BIN on loopback with keys of their own, and Debian's Chromium under ChromeDriver. Nothing
is stubbed: TLS, ledger, store and sessions are those that ship."""
import contextlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.request

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

BIN = os.environ.get("TACET_BIN", "build/bin")
TACET = os.path.join(BIN, "tacet")
CSS, ID, XPATH = By.CSS_SELECTOR, By.ID, By.XPATH
NASTY = "<img src=x onerror=\"document.title='owned'\">&\"'"


def browser(dark=False, width=1280, height=900, profile=None, more=()):
    """`profile`: a folder that the caller keeps; `more`: words for Chromium."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    profile = profile or tempfile.mkdtemp(prefix="tacet-chromium-")
    for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 "--disable-dev-shm-usage", f"--user-data-dir={profile}", f"--window-size={width},{height}", *more):
        options.add_argument(word)
    options.set_capability("acceptInsecureCerts", True)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.tacet_profile = profile
    driver.set_page_load_timeout(30)
    scheme(driver, dark)
    return driver


def scheme(driver, dark):
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
        "features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})


def screen(driver, width, height):
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
        "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})


def close(driver):
    driver.quit()
    shutil.rmtree(driver.tacet_profile, ignore_errors=True)


PATIENCE = 60  # seconds: the machine may be busy with other tests


def until(what, condition, seconds=PATIENCE):
    """Waits for a condition, and returns what it gave; asserts with words when it does not come."""
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end:
        try:
            last = condition()
            if last:
                return last
        except Exception as error:  # an element that was replaced meanwhile
            last = error
        time.sleep(0.05)
    what = what() if callable(what) else what
    raise AssertionError(f"waited {seconds} s for: {what} (last: {last!r})")


def text(driver):
    return driver.find_element(By.TAG_NAME, "body").text


def says(driver, words, seconds=PATIENCE):
    until(lambda: f"the page says {words!r}; it says: {text(driver)[:600]!r}", lambda: words in text(driver), seconds)


def press(driver, words, within="body"):
    """The button with these words."""
    def click():
        for b in driver.find_elements(CSS, f"{within} button"):
            if b.is_displayed() and words in b.text:
                b.click()
                return True
        return False
    until(f"a button {words!r}", click)


def log_in(driver, url, token):
    driver.get(url + "/")
    field = until("the form", lambda: driver.find_element(CSS, "input[name=token]"))
    field.send_keys(token, Keys.ENTER)


def run(*words, **more):
    done = subprocess.run([TACET, *words], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{words}: {done.stderr}"
    return done.stdout


class Program:
    """A server of ours; .url is its address."""

    def __init__(self, words, folder, env=None):
        self.words, self.folder, self.env = words, folder, dict(os.environ, **(env or {}))
        self.start()

    def start(self):
        self.process = subprocess.Popen([TACET, *self.words, "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                        text=True, env=self.env, cwd=self.folder)
        line = self.process.stdout.readline()
        assert line, f"{self.words} did not start"
        self.said = json.loads(line)
        self.url = self.said["url"]

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=10)


def free_port():
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


CONTEXT = ssl.create_default_context()
CONTEXT.check_hostname = False
CONTEXT.verify_mode = ssl.CERT_NONE


def ask(url, method, path, token=None, body=None, headers=None):
    """A plain request, as a program would send it: (status, value, headers)."""
    request = urllib.request.Request(url + path, method=method, headers=headers or {},
                                     data=None if body is None else json.dumps(body).encode())
    if token:
        request.add_header("Authorization", "Bearer " + token)
    try:
        answer = urllib.request.urlopen(request, context=CONTEXT, timeout=20)
    except urllib.error.HTTPError as error:
        answer = error
    raw = answer.read().decode()
    try:
        value = json.loads(raw)
    except ValueError:
        value = raw
    return answer.status, value, answer.headers


class Curator:
    """A table of records with awkward names, its release, and the server with its desk."""

    def __init__(self, *more, rows=30, queries=12, column="no<b>te", outputs=(), values=("--range", "0:1")):
        self.folder = tempfile.mkdtemp(prefix="tacet-desk-")
        at = lambda name: os.path.join(self.folder, name)
        with open(at("t.csv"), "w", encoding="utf-8") as f:
            f.write(f'patient,age,"{column}"\n')
            for i in range(rows):
                f.write(f'"{NASTY.replace(chr(34), chr(34) * 2)} {i}",{20 + i},{i}\n')
        env = {"TACET_STATE": at("state")}
        run("curate", *(() if outputs else ("--values-unprotected",)), "--data", at("t.csv"), "--inputs", "age", "--bounds", "age=0:100", "--unit", "age=5", "--eps", "3",
            "--mechanism", "laplace", "--queries", str(queries), "--out", at("r"), *outputs, env=dict(os.environ, **env))
        run("curator", "init", "--dir", at("keys"))
        port, desk = free_port(), free_port()
        self.program = Program(["curator", "serve", "--release", at("r"), "--keys", at("keys"), "--data", at("t.csv"),
                                *values, "--listen", f"127.0.0.1:{port}", "--desk", f"127.0.0.1:{desk}", "--id", "patient",
                                *more], self.folder, env)
        self.url, self.desk = self.program.url, self.program.said["desk"]
        self.token = open(at("keys/desk.token"), encoding="utf-8").read().strip()
        self.modeler = open(at("keys/modeler/token"), encoding="utf-8").read().strip()

    def question(self, ticket, row):
        return ask(self.url, "POST", "/v1/queries", self.modeler, {"ticket": ticket, "row": row})

    def answer(self, ticket):
        return ask(self.url, "GET", f"/v1/queries/{ticket}", self.modeler)[1]

    def ledger(self):
        return json.loads(run("ledger", "show", "--ledger", os.path.join(self.folder, "r/ledger.db"), "--json"))

    def close(self):
        self.program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


class Server:
    """A store with a local study of 40 points, and whoever may ask."""

    def __init__(self, *more, collector=True):
        self.folder = tempfile.mkdtemp(prefix="tacet-board-")
        self.keys, self.store = os.path.join(self.folder, "keys"), os.path.join(self.folder, "store")
        run("server", "init", "--dir", self.keys)
        self.more, self.collector = more, collector
        self.program = None

    def study(self, definition):
        path = os.path.join(self.folder, "definition.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump(definition, f)
        run("study", "create", "--store", self.store, "--definition", path)

    def token(self, role, study=None, label=""):
        words = ["study", "token", "--store", self.store, "--role", role, "--label", label]
        return run(*words, *(["--study", study] if study else [])).strip()

    def start(self):
        self.program = Program(["server", "--store", self.store, "--keys", self.keys, "--listen",
                                f"127.0.0.1:{free_port()}", *self.more], self.folder)
        self.url = self.program.url
        return self

    def close(self):
        if self.program:
            self.program.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def local_study(name="slides", count=40, rounds=20000):
    return {"name": name, "description": f"Made up {NASTY}", "trust": "local", "budget": {"eps": 4}, "rounds": rounds,
            "domain": {"points": [[i / (count - 1), (i * 7 % count) / count] for i in range(count)]},
            "prior": {"lengthscale": 0.3, "reward": [0, 1]}, "options": {"randomizer": "hybrid"}}


def contextual_study(name="doses"):
    return {"name": name, "trust": "central", "policy": "contextual", "budget": {"eps": 20}, "rounds": 400,
            "domain": {"points": [[i / 10] for i in range(11)], "context": {"lower": [0], "upper": [1]}},
            "prior": {"lengthscale": 0.3, "reward": [0, 1]}}


def space_study(name="recipe", trust="central"):
    """Every kind of column that a point has: what is on a page must be in these units."""
    columns = [{"name": "rate", "kind": "log", "bounds": [1e-4, 1]}, {"name": "layers", "kind": "integer", "bounds": [1, 8]},
               {"name": "optimizer", "kind": "category", "levels": ["sgd", "adam", "lion <b>"]},
               {"name": "since", "kind": "date", "bounds": ["2023-01-01", "2024-12-31"]}]
    return {"name": name, "trust": trust, "budget": {"eps": 8, **({"delta": 1e-6} if trust == "central" else {})}, "rounds": 300,
            "domain": {"space": {"columns": columns}, "candidates": 256}, "prior": {"reward": [0, 1]}}


def ab_study(name="button"):
    return {"name": name, "trust": "central", "policy": "ab", "budget": {"eps": 2}, "rounds": 4000,
            "domain": {"space": {"columns": [{"name": "colour", "kind": "category", "levels": ["blue", "green", "red <b>"]}]}},
            "prior": {"reward": [0, 1]}}


@contextlib.contextmanager
def closing(thing):
    try:
        yield thing
    finally:
        thing.close()
