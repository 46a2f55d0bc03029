#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""pages.py - what the pages weigh, and when they show something, against the server's own answers in the same run."""
import os
import shutil
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.join(HERE, "..", "build")
pages = os.path.join(BUILD, "pages")
names = [n for n in ("app.js", "app.css", "board.html", "desk.html", "icon.svg") if os.path.exists(os.path.join(pages, n))]
size = lambda n: os.path.getsize(os.path.join(pages, n))
print(f"bundle, packed by gzip: {sum(size(n + '.gz') for n in names) / 1000:.1f} kB of {sum(size(n) for n in names) / 1000:.1f} kB; the aim is below 200 kB")
if shutil.which("chromium") is None or shutil.which("chromedriver") is None:
    print("first paint: skipped, chromium is not there (tools/setup --with-ci installs it)")
    sys.exit(0)
os.environ.setdefault("TACET_BIN", os.path.abspath(os.path.join(BUILD, "bin")))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "browser"))
import harness  # noqa: E402

with harness.closing(harness.Server()) as server:
    server.study(harness.local_study())
    owner = server.token("owner")
    server.start()
    driver = harness.browser()
    try:
        harness.log_in(driver, server.url, owner)
        harness.says(driver, "rounds used")
        paints, answers = [], []
        for _ in range(9):
            driver.get(server.url + "/")
            harness.says(driver, "rounds used")
            paints.append(driver.execute_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            answers.append(driver.execute_async_script("""
                const done = arguments[0];
                (async () => {
                  const guard = (await (await fetch('/v1/session')).json()).guard;
                  const times = [];
                  for (let i = 0; i < 20; i++) { const t = performance.now(); await (await fetch('/v1/studies/slides', {headers: {'X-Tacet-Guard': guard, 'X-Tacet-Background': '1'}})).text(); times.push(performance.now() - t); }
                  times.sort((a, b) => a - b); done(times[10]);
                })();"""))
    finally:
        harness.close(driver)
paint, answer = statistics.median(paints), statistics.median(answers)
print(f"board: first paint after {paint:.0f} ms, the status of a study after {answer:.1f} ms: {paint / answer:.1f} answers (medians of 9, loopback)")
