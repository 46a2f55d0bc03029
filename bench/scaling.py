#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scaling.py [--commit HASH] [--markdown FILE] [--quick] - what each part costs as rows, rounds and devices grow.

Runs services.py, the programs on tables of growing length, sources, reports.py, one_gp_ucb and dask_tally.py; writes
the page below with their figures: processor time, memory and ratios. --quick takes small sizes, to see that all of it
runs. Needs build/bin and build/python (`make scaling`), PostgreSQL, psycopg2 and Dask (tools/setup --with-ci)."""
import argparse
import datetime
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("TACET_BIN", os.path.join(HERE, "..", "build", "bin")))
# A small process between, since memory of the one that starts a program would count as the program's.
COST = ("import os, sys; p = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)]); "
        "_, code, u = os.wait4(p, 0); print(code, u.ru_utime + u.ru_stime, u.ru_maxrss, file=sys.stdout)")  # fmt: skip


def cost(*words):
    """Seconds of processor and MB of a command of tacet."""
    done = subprocess.run([sys.executable, "-I", "-S", "-c", COST, os.path.join(BIN, words[0]), *words[1:]], check=True,
                          capture_output=True, text=True)  # fmt: skip
    code, seconds, kilobytes = done.stdout.split()
    assert code == "0", done.stderr
    print(" ".join(words[:2]), seconds, "s of processor,", kilobytes, "KB", flush=True)
    return float(seconds), int(kilobytes) / 1000


def said(*words):
    print(*words, flush=True)
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    print(done.stdout, flush=True)
    return done.stdout


def table(head, row, count, block=10**5):
    """A CSV of so many rows: a block of random ones, again and again."""
    lines = "".join(row() for _ in range(min(count, block)))
    with open("t.csv", "w", encoding="ascii") as f:
        f.write(head)
        for _ in range(max(1, count // block)):
            f.write(lines)


def learn(ledger, levels):
    return cost("tacet", "learn", "--data", "t.csv", "--actions", "a", "--contexts", "c", "--reward", "y", "--range", "0:1", "--levels",
                ",".join(f"{name}={'|'.join(f'{name}{i}' for i in range(n))}" for name, n in levels.items()), "--out", "m.json",
                "--new-budget", "a measurement", "--ledger", f"{ledger}.db")  # fmt: skip


def measure(quick):
    r, small = random.Random(1), 100 if quick else 1
    said(sys.executable, os.path.join(HERE, "services.py"), "--json", "services.json",
         *("--seconds .5 --studies 8 --creations 4" if quick else "--seconds 1 --studies 1000").split())  # fmt: skip
    with open("services.json", encoding="utf-8") as file:
        f = services(json.load(file))
    rows = [10**k // small for k in (5, 6, 7)]
    runs = []
    for n in rows:
        table("a,c,y\n", lambda: f"a{r.randrange(2)},c{r.randrange(6)},{r.random():.3f}\n", n)
        runs.append(learn(f"rows{n}", {"a": 2, "c": 6}))
    f["learn_us"] = 1e6 * runs[-1][0] / rows[-1]
    f["learn_mb"] = ", ".join(f"{mb:.1f} MB at 10^{k}" for (_, mb), k in zip(runs, (5, 6, 7)))
    f["learn_minutes"] = f["learn_us"] * 1e9 / 1e6 / 60
    cells = [500, 1000, 2000, 5000, 10000][:2 if quick else 5]
    runs = []
    for n in cells:
        table("a,c,y\n", lambda n=n: f"a{r.randrange(10)},c{r.randrange(n // 10)},{r.random():.3f}\n", 10**5)
        runs.append(learn(f"cells{n}", {"a": 10, "c": n // 10}))
    f["cells"], f["cells_mb"] = ", ".join(f"{s:.1f}" for s, _ in runs), max(mb for _, mb in runs)
    f["cells_minutes"] = 131072 / cells[-1] * runs[-1][0] / 60
    names = [f"c{i}" for i in range(10)]
    runs = []
    for n in (rows[1], 3 * rows[1]):
        table(",".join(names) + "\n", lambda: ",".join(f"{100 * r.random():.4f}" for _ in names) + "\n", n)
        runs.append(cost("tacet", "curate", "--values-unprotected", "--data", "t.csv", "--inputs", ",".join(names), "--bounds",
                         ",".join(f"{c}=0:100" for c in names), "--unit", ",".join(f"{c}=5" for c in names), "--eps", "1", "--mechanism",
                         "laplace", "--new-budget", "a measurement", "--ledger", f"curate{n}.db", "--out", f"out{n}"))  # fmt: skip
    f["curate_us"] = 1e6 * runs[0][0] / rows[1] / 10
    f["curate_mb"] = f"{runs[0][1]:.0f} MB at 10^6 and {runs[1][1]:.0f} MB at 3 10^6"
    f["curate_minutes"] = f["curate_us"] * 1e10 / 1e6 / 60
    f["curate_gb"] = os.path.getsize(f"out{rows[1]}/release.csv") / rows[1]
    f["sources"] = " and ".join(re.findall(r"processor time ([\d.]+)", said(os.path.join(HERE, "sources"), str(rows[1] // 4))))
    # A second run with four times the rounds: what is left is the rounds'.
    short, long = (cost("tacet-lab", "simulate", "central", "--world", "drawn", "--dims", "2", "--rounds", str(n // min(small, 10)), "--eps", "1",
                        "--trials", "1", "--seed", "1") for n in (10000, 40000))  # fmt: skip
    f["central_ms"], f["central_mb"] = 1e3 * (long[0] - short[0]) / (30000 / min(small, 10)), long[1]
    found = said(sys.executable, os.path.join(HERE, "reports.py"))
    f["report_1"], f["report_16"], f["report"] = map(float, re.findall(r"([\d.]+) us of processor a report", found))
    f["report_bytes"] = float(re.search(r"takes (\d+) bytes", found)[1])
    f["report_rate"] = round(1e6 / f["report"], -3)
    f["report_processors"], f["report_mb"] = f["report"] / 10, f["report_bytes"] / 10
    f["report_tb"] = f["report_mb"] * 86400 / 1e6
    gp = [json.loads(said(os.path.join(HERE, "run"), os.path.join(BIN, "one_gp_ucb"), str(100000 // small), "5", "50", "3")) for _ in range(3)]
    f["gp_low"], f["gp_high"] = (pick(g["ratio"] for g in gp) for pick in (min, max))
    f["gp_peak"] = gp[0]["peak_bytes"] / (100000 // small * (8 * 50 + 17 + 16 * 6) + 7e6)
    os.environ["PYTHONPATH"] = os.path.join(BIN, "..", "python")
    found = said(sys.executable, os.path.join(HERE, "dask_tally.py"), str(rows[2]))
    (f["dask_1"], _), (two, f["dask_merge"]) = re.findall(r"processor (.*) s, merging (.*?) s", found)
    f["dask_2"] = two.replace(", ", " and ")
    return f


def services(found):
    """The table of pairs, and what else services.py found."""
    lines, f = [], {}
    for store in ("SQLite", "PostgreSQL"):
        pairs = found[store]["pairs"].values()
        for what, name in (("a_sync", f"{store}, a sync of the disk"), ("us", "us of tacet's processor a pair"),
                           ("http.server", "http.server, of tacet's"),
                           ("http.server, one row", "one that counts its rows in one row, too, of tacet's")):  # fmt: skip
            form = "{:.0f}" if what == "us" else "{:.2f}"
            lines.append(f"| {name} | " + " | ".join(form.format(one[what]) for one in pairs) + " |")
    f["pairs"] = "\n".join(lines)
    for key in ("disk", "spread", "releasing", "create_central"):
        f[key], f["pg_" + key] = found["SQLite"][key], found["PostgreSQL"][key]
    f["pair_us"], f["kb_a_study"] = found["SQLite"]["pairs"]["64"]["us"], found["SQLite"]["kb_a_study"]
    return f


def machine():
    with open("/proc/meminfo", encoding="ascii") as f:
        return f"{os.cpu_count()} cores and {int(f.readline().split()[1]) / 2**20:.0f} GB"


PAGE = """\
# How it grows

What each part costs as rows, candidates, rounds, devices and persons grow, and what breaks first.
Made by `make scaling` (`bench/scaling.py`) at commit {commit} on {date}, on a machine with {machine}. Figures
are processor time, memory and ratios within one run; *by the formula* was computed from them, not run.

| part | cost | breaks first |
| --- | --- | --- |
| `tacet learn`, one table of 12 cells | {learn_us:.2f} us a row; {learn_mb} rows | time: 10^9 rows are {learn_minutes:.0f} minutes of one processor *by the formula*; then 2^31 rows in one number, which is refused |
| `learn --table`, counted by PostgreSQL | the server's one pass; a line a group moves, whatever the rows | columns of free text or of prices (log), which have a group a value |
| `learn` of 10^5 rows, with the posterior of 500, 1,000, 2,000, 5,000, 10^4 cells, ten actions | {cells} s; {cells_mb:.0f} MB | cells: 131,072 are allowed, {cells_minutes:.1f} minutes *by the formula* |
| `curate`, `laplace`, ten columns | {curate_us:.2f} us a number; {curate_mb} rows; from PostgreSQL {sources} times the processor time, `laplace` and `gaussian` (`bench/sources`) | time and disk: 10^9 rows are {curate_minutes:.0f} minutes of processor and {curate_gb:.0f} GB *by the formula* |
| reports in batches, devices that choose by themselves | {report:.0f} us a report in batches of 256, {report_16:.0f} in 16, {report_1:.0f} in 1 (`bench/reports.py`) | one study's worker: {report_rate:,.0f} reports a second and processor |
| a study's rounds, suggested by the server | {pair_us:.0f} us a pair of suggestion and observation at 64 connections; pairs that come together share a transaction and its sync | the lock of one study: 10^9 devices in a day need 11,600 pairs a second |
| a server's memory and start | independent of rounds: [soak.md](soak.md); {kb_a_study:.0f} KB a study in use | |
| a central study of two coordinates | {central_ms:.2f} ms a round, {central_mb:.0f} MB, whatever the number of persons (`tacet-lab simulate central`) | the budget: [planning.md](planning.md) |
| GP-UCB over n candidates of d inputs, T rounds | n (8 T + 17) + 16 n (d + 1) bytes and 7 MB, measured {gp_peak:.2f} times that; reads n (4 T^2 + 8 T (d + 6)) bytes | memory: 10^8 candidates, d = 5, T = 50 are 51 GB *by the formula*; then long horizons, as n T^2 |

**10^9 rows.** Releases are noise on sums of whole numbers, or on each row by its place. So any engine that can add may
do the work, with the same bits however rows are cut ([tally](../src/tally/README.md)).
- *A database*: `learn --data postgresql://… --table T` lets PostgreSQL group and add (`src/ab/README.md`, "In a
  database").
- *Dask*: Python's `learn`, `curate` and `tally` take a `dask.dataframe`; workers add up or draw their partitions, one
  process charges and draws. With `person=` it holds some 100 bytes a person, which breaks first. On 10^7 rows in 20
  partitions two workers use {dask_2} s of processor, merging {dask_merge} s, where one uses {dask_1} s
  (`bench/dask_tally.py`).
- *Another engine* is a class with the three methods of `python/tacet-trusted/tacet/trusted/_parts.py`; in C the holder
  of a part of a log calls `tacet_ab_part_tally` for each pass, and one process releases (`tacet_ab_log_open_engine`);
  the holder of a part of a table calls `tacet_curate_part_run` twice, to check and, once charged, to draw.

**10^5 suggestions a second.** Let devices choose by themselves: the weights are public and change once a release, so a
cache serves them, and the service takes reports alone. In batches of 256, 10^5 reports a second need {report_processors:.1f}
processors *by the formula* and, as a study has one worker, as many studies. The log breaks first: {report_bytes:.0f} bytes a
report are {report_mb:.0f} MB a second, {report_tb:.1f} TB a day.

**GP-UCB against memory.** A round streams V once, with rows, means and variances: 14,400 bytes a candidate at T = 50
and d = 5, where V alone has 9,800. So 1.47 times a `dgemv` over V is about the least one core can reach; measured
{gp_low:.1f} to {gp_high:.1f} (`build/bin/one_gp_ucb 100000 5 50 3`, three times).

**The service.** `bench/services.py` drives the service and a thin http.server on the same databases in turn, the
middle of three; at 500 connections handshakes count, too; a disk of {disk:,} syncs a second, {pg_disk:,} beside PostgreSQL:

| pairs (a suggestion, its observation) | 1 connection | 8 | 64 | 500 |
| --- | --- | --- | --- | --- |
{pairs}

64 studies make {spread:.2f} of one study's pairs on SQLite and {pg_spread:.2f} on PostgreSQL. While another study releases,
p99 is {releasing:.1f} times as long on SQLite and {pg_releasing:.1f} on PostgreSQL. Creating a central study takes
{create_central:.0f} ms of processor, on PostgreSQL {pg_create_central:.0f} of the server's own. A start reads only what came after the last snapshot.
"""


def wrapped(page):
    """Paragraphs and items at 100 columns; tables and headings as they are."""
    out = []
    for block in re.split(r"\n(?=\n|- |\|)", page):
        lead = block[:len(block) - len(block.lstrip("\n"))]
        text = block[len(lead):]
        keep = text.startswith(("|", "#"))
        out.append(lead + (text if keep else textwrap.fill(" ".join(text.split()), 100, subsequent_indent="  " if text.startswith("- ") else "",
                                                           break_long_words=False, break_on_hyphens=False)))  # fmt: skip
    return "\n".join(out).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commit", default="(not told)", help="what the page says it was made from")
    parser.add_argument("--markdown", help="the page")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    for module in ("psycopg2", "distributed"):
        if importlib.util.find_spec(module) is None:
            sys.exit(f"scaling: there is no {module}: tools/setup --with-ci")
    page = options.markdown and os.path.abspath(options.markdown)
    with tempfile.TemporaryDirectory(prefix="tacet-scaling-") as work:
        os.chdir(work)
        os.environ["TACET_STATE"] = os.path.join(work, "state")
        figures = measure(options.quick)
        os.chdir("/")
    text = wrapped(PAGE.format(commit=options.commit, date=datetime.date.today(), machine=machine(), **figures))
    if page:
        with open(page, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
