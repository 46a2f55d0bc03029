#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""outsourced_tables.py - the outsourced search on tables, with no model option, as a share of chance.

Real tables (read from --data, never copied into the project; those that are missing are left out, saying so) and
tabulated test functions. For every table and eps: the regret of `tacet-lab simulate outsourced --world table` over that of as
many random rows (1 = chance), beside a plain Gaussian process on the same released rows clipped to the box, and one on
the records themselves. Two programs are compared on the same tables, seeds and noise by running it twice.

    bench/outsourced_tables.py --lab build/bin/tacet-lab --data ../shared/data --eps 1000,3,1 --trials 12 --seed 1

--tls runs the product as its parties do: `tacet curate`, a curator that answers over TLS in a process of its own, and
`tacet modeler run` in another, with the noise and the seeds of the runs in one process; the two must agree run by run.

    bench/outsourced_tables.py --tls --only svm --eps 3,1 --trials 3 --seed 1
"""
import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

# name, file, inputs, target, options, which rows: a filter (column, value) or how many of the first.
REAL = [
    ("svm", "hpo_svm_grid.csv", "C,alpha,epsilon", "error", ["--minimize", "--log-inputs", "C,alpha,epsilon"], None),
    ("svm, linear scales", "hpo_svm_grid.csv", "C,alpha,epsilon", "error", ["--minimize"], None),
    ("svm, time", "hpo_svm_grid.csv", "C,alpha,epsilon", "time", ["--minimize", "--log-inputs", "C,alpha,epsilon"], None),
    ("lda", "hpo_lda_grid.csv", "kappa,tau,s", "perplexity", ["--minimize", "--log-inputs", "tau,s"], None),
    ("logreg", "hpo_logreg_grid.csv", "lrate,l2_reg,batchsize,n_epochs", "valid_error",
     ["--minimize", "--log-inputs", "batchsize,n_epochs"], None),
    ("svm of abalone", "hpo_svm_50datasets.csv", "log2_C,gamma", "accuracy", ["--log-inputs", "gamma"],
     [("dataset", "abalone"), ("kernel", "rbf")]),
    ("svm of W8A", "hpo_svm_50datasets.csv", "log2_C,gamma", "accuracy", ["--log-inputs", "gamma"],
     [("dataset", "W8A"), ("kernel", "rbf")]),
    ("property", "property.csv", "lat,lon", "price_per_sqm", [], None),
    ("property, cheapest", "property_locations.csv", "lat,lon", "price_per_sqm", ["--minimize"], None),
    ("loans, fully paid", "loan.csv", "funded_amnt_inv,int_rate,annual_inc", "roi", ["--log-inputs", "annual_inc"], 4000),
    ("census hours", "adult.csv", "age,education_num", "hours_per_week", [], 4000),
    ("medications", "diabetes130.csv", "age_mid,time_in_hospital,num_lab_procedures", "num_medications", [], 4000),
    ("stocks", "stocks.csv", "AXP,CAT,IBM", "GS", [], None),
]


def branin(x):
    a, b = 15 * x[0] - 5, 15 * x[1]
    return -((b - 5.1 / (4 * math.pi ** 2) * a * a + 5 / math.pi * a - 6) ** 2
             + 10 * (1 - 1 / (8 * math.pi)) * math.cos(a) + 10)


def camel(x):
    a, b = 6 * x[0] - 3, 4 * x[1] - 2
    return -((4 - 2.1 * a * a + a ** 4 / 3) * a * a + a * b + (-4 + 4 * b * b) * b * b)


def hartmann3(x):
    A = [[3, 10, 30], [.1, 10, 35], [3, 10, 30], [.1, 10, 35]]
    P = [[.3689, .1170, .2673], [.4699, .4387, .7470], [.1091, .8732, .5547], [.0381, .5743, .8828]]
    return sum(c * math.exp(-sum(w * (v - p) ** 2 for w, v, p in zip(A[i], x, P[i])))
               for i, c in enumerate([1, 1.2, 3, 3.2]))


def ackley(x):
    z = [65.536 * v - 32.768 + 5 for v in x]
    return 20 * math.exp(-.2 * math.sqrt(sum(v * v for v in z) / len(z))) + math.exp(
        sum(math.cos(2 * math.pi * v) for v in z) / len(z))


def rosenbrock(x):
    z = [4 * v - 2 for v in x]
    return -math.log1p(sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(z, z[1:])))


def levy(x):
    w = [1 + (20 * v - 11) / 4 for v in x]
    return -(math.sin(math.pi * w[0]) ** 2
             + sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1])
             + (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2))


FUNCTIONS = [("Branin", branin, 2), ("camel", camel, 2), ("Hartmann", hartmann3, 3), ("Ackley", ackley, 3),
             ("Rosenbrock", rosenbrock, 4), ("Levy", levy, 2)]
RECORDS = 1000


def numeric(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def make_tables(data, folder):
    """[(name, file, inputs, target, options)], every file complete and numeric in the columns used."""
    out = []
    for name, file, inputs, target, options, which in REAL:
        path = os.path.join(data, file)
        if not os.path.exists(path):
            print("left out, no file: %s" % file, file=sys.stderr)
            continue
        paid = None
        if name.startswith("loans"):
            with open(os.path.join(data, "loan_extra.csv")) as f:
                paid = [r["loan_status"] == "Fully Paid" for r in csv.DictReader(f)]
        with open(path) as f:
            rows = [r for k, r in enumerate(csv.DictReader(f))
                    if (paid is None or paid[k])
                    and (not isinstance(which, list) or all(r[c] == v for c, v in which))]
        columns = inputs.split(",") + [target]
        rows = [r for r in rows if all(numeric(r[c]) for c in columns)]
        rows = rows[:which] if isinstance(which, int) else rows
        made = os.path.join(folder, "%d.csv" % len(out))
        with open(made, "w") as f:
            f.write(",".join(columns) + "\n")
            f.writelines(",".join(r[c] for c in columns) + "\n" for r in rows)
        out.append((name, made, inputs, target, options))
    rng = random.Random(2718)
    for name, f, d in FUNCTIONS:
        made = os.path.join(folder, "%d.csv" % len(out))
        inputs = ",".join("x%d" % k for k in range(d))
        with open(made, "w") as file:
            file.write(inputs + ",y\n")
            for _ in range(RECORDS):
                x = [rng.random() for _ in range(d)]
                file.write(",".join("%.9g" % v for v in x + [f(x)]) + "\n")
        out.append((name, made, inputs, "y", []))
    return out


def run(lab, table, eps, trials, seed, extra):
    name, file, inputs, target, options = table
    command = [lab, "simulate", "outsourced", "--world", "table", "--data", file, "--inputs", inputs, "--target", target, "--eps", eps,
               "--trials", str(trials), "--seed", str(seed), "--json"] + options + extra
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s: %s" % (" ".join(command), done.stderr))
    return json.loads(done.stdout)


def read_table(table):
    """Names, columns as the lab takes them (logarithms where asked), values to be maximized."""
    _, file, inputs, target, options = table
    logs = options[options.index("--log-inputs") + 1].split(",") if "--log-inputs" in options else []
    with open(file) as f:
        rows = list(csv.DictReader(f))
    names = inputs.split(",")
    columns = [[math.log(float(r[c])) if c in logs else float(r[c]) for r in rows] for c in names]
    sign = -1 if "--minimize" in options else 1
    return names, columns, [sign * float(r[target]) for r in rows]


def chance_of(values, count):
    """Mean regret of the best of `count` random rows."""
    ordered, n = sorted(values, reverse=True), len(values)
    total, none = 0.0, 1.0
    for i in range(n - count + 1):
        drawn = count / (n - i)
        total += none * drawn * (ordered[0] - ordered[i])
        none *= 1 - drawn
    return total


def over_tls(tacet, table, eps, trials, seed, queries=40):
    """Shares of chance, one a trial: three processes, the noise of trial k of the lab."""
    names, columns, values = read_table(table)
    top, chance, shares = max(values), chance_of(values, queries), []
    bounds = ",".join("%s=%.17g:%.17g" % (c, min(x), max(x)) for c, x in zip(names, columns))
    units = ",".join("%s=%.17g" % (c, (max(x) - min(x)) / 20) for c, x in zip(names, columns))
    for trial in range(trials):
        with tempfile.TemporaryDirectory() as folder:
            def call(*args):
                return subprocess.run([tacet, *args], cwd=folder, env=env, check=True, capture_output=True, text=True).stdout
            env = dict(os.environ, TACET_STATE=os.path.join(folder, "state"))
            with open(os.path.join(folder, "table.csv"), "w") as f:
                f.write(",".join(names) + ",value\n")
                f.writelines(",".join("%.17g" % v for v in row) + "\n" for row in zip(*columns, values))
            noise = str(seed * 1000003 + trial)
            call("curate", "--values-unprotected", "--data", "table.csv", "--inputs", ",".join(names), "--bounds", bounds,
                 "--unit", units, "--eps", eps, "--queries", str(queries), "--noise-seed", noise, "--out", "release")
            call("curator", "init", "--dir", "keys")
            with subprocess.Popen([tacet, "curator", "serve", "--release", "release", "--keys", "keys", "--data", "table.csv",
                                   "--target", "value", "--listen", "127.0.0.1:0", "--ready-file", "url"], cwd=folder, env=env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
                try:
                    while not os.path.exists(os.path.join(folder, "url")) and server.poll() is None:
                        time.sleep(0.02)
                    with open(os.path.join(folder, "url")) as f:
                        url = f.read().strip()
                    found = json.loads(call("modeler", "run", "--url", url, "--keys", "keys/modeler", "--state", "search",
                                            "--queries", str(queries), "--seed", noise, "--json"))
                finally:
                    server.terminate()
            shares.append((top - found["best_value"]) / chance)
    return shares


def compare(a, tables):
    """Over TLS and in one process, run by run. Exit code 1 where they differ."""
    worst = 0.0
    print("| table | eps | over TLS | in one process |\n| --- | --- | --- | --- |")
    for table in tables:
        for eps in a.eps.split(","):
            tls = over_tls(a.tls, table, eps, a.trials, a.seed)
            one = run(a.lab, table, eps, a.trials, a.seed, [])["share"]["values"]
            worst = max([worst] + [abs(x - y) for x, y in zip(tls, one)])
            print("| %s | %s | %s | %s |" % (table[0], eps, *(", ".join("%.4f" % x for x in v) for v in (tls, one))), flush=True)
    print("\n%d runs over TLS; largest difference %.1e" % (len(tables) * len(a.eps.split(",")) * a.trials, worst))
    return 0 if worst < 1e-9 else 1


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--lab", default="build/bin/tacet-lab")
    p.add_argument("--data", default="../shared/data")
    p.add_argument("--eps", default="1000,3,1")
    p.add_argument("--trials", type=int, default=12)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--only", default="", help="tables whose names contain one of these: A|B")
    p.add_argument("--tls", nargs="?", const="build/bin/tacet", metavar="TACET",
                   help="run the parties in processes of their own, over TLS, and compare")
    p.add_argument("--out", help="the figures as JSON, too")
    a, extra = p.parse_known_args()
    kept = []
    with tempfile.TemporaryDirectory() as folder:
        tables = [t for t in make_tables(a.data, folder) if any(part in t[0] for part in a.only.split("|"))]
        if a.tls:
            sys.exit(compare(argparse.Namespace(**dict(vars(a), tls=os.path.abspath(a.tls))), tables))
        print("%d tables, %d runs each, seed %d; regret over that of as many random rows" % (len(tables), a.trials, a.seed))
        for eps in a.eps.split(","):
            print("\n| eps %s | tacet | worst run | plain GP, clipped | plain GP, no privacy | runs above 1.2 "
                  "| 90 %% intervals hold |\n| --- | --- | --- | --- | --- | --- | --- |" % eps)
            figures = []
            for table in tables:
                r = run(a.lab, table, eps, a.trials, a.seed, extra)
                held = r.get("intervals", {})
                print("| %s | %.2f ± %.2f | %.2f | %.2f | %.2f | %d | %s |" % (
                    table[0], r["share"]["mean"], r["share"]["se"], r["share"]["max"], r["plain"]["mean"],
                    r["nonprivate"]["mean"], r["share"]["above_1.2"],
                    "%.0f %%" % (100 * held["held"] / held["told"]) if held.get("told") else ""), flush=True)
                figures.append(r)
                kept.append(dict(r, name=table[0]))

            def mean(key):
                return sum(f[key]["mean"] for f in figures) / len(figures)
            above = sum(f["share"]["above_1.2"] for f in figures)
            told = sum(f.get("intervals", {}).get("told", 0) for f in figures)
            held = sum(f.get("intervals", {}).get("held", 0) for f in figures)
            print("| **mean over tables** | %.3f | %.2f (table: %.2f) | %.3f | %.3f | %d of %d (%.0f %%) | %s |" % (
                mean("share"), max(f["share"]["max"] for f in figures), max(f["share"]["mean"] for f in figures),
                mean("plain"), mean("nonprivate"), above, a.trials * len(figures),
                100 * above / (a.trials * len(figures)), "%.0f %%" % (100 * held / told) if told else ""), flush=True)
    if a.out:
        with open(a.out, "w") as f:
            json.dump(kept, f)


if __name__ == "__main__":
    main()
