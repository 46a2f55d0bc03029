#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""space_tables.py - real tables with categories, missing cells and a date, released and searched over TLS.

Each run is what two parties do: `tacet curate`, `tacet curator serve`, `tacet modeler run` without a model option. Prints the regret of
the best row measured beside the expected regret of as many random rows, which the whole table gives exactly, and what the modeler
said of signal. With --numbers tables of numbers, each column's unit a twentieth of its range: regret as a share of that of random
rows, and how many runs end above 1.2. The tables are read from --data and are not part of the project. Run as
`make space-tables DATA=…`."""
import argparse, csv, json, math, os, shutil, subprocess, sys, tempfile, time

TABLES = {
    "diabetes130.csv": ("num_medications", [
        {"name": "race", "kind": "category", "levels": ["Caucasian", "AfricanAmerican", "Hispanic", "Asian", "Other"], "missing": "unknown"},
        {"name": "gender", "kind": "category", "levels": ["Female", "Male"], "others": "Unknown/Invalid"},
        {"name": "age_mid", "kind": "real", "bounds": [0, 100], "unit": 10},
        {"name": "insulin", "kind": "category", "levels": ["No", "Steady", "Up", "Down"]},
        {"name": "time_in_hospital", "kind": "integer", "bounds": [1, 14], "unit": 2},
        {"name": "num_procedures", "kind": "integer", "bounds": [0, 6], "unit": 1},
        {"name": "number_diagnoses", "kind": "integer", "bounds": [1, 16], "unit": 2}]),
    "adult.csv": ("hours_per_week", [
        {"name": "age", "kind": "real", "bounds": [17, 90], "unit": 5},
        {"name": "workclass", "kind": "category", "missing": "unknown", "others": "rest",
         "levels": ["Private", "Self-emp-not-inc", "Self-emp-inc", "Local-gov", "State-gov", "Federal-gov"]},
        {"name": "education_num", "kind": "integer", "bounds": [1, 16], "unit": 2},
        {"name": "sex", "kind": "category", "levels": ["Male", "Female"]}]),
    "property_12m.csv": ("price_per_sqm", [
        {"name": "lat", "kind": "real", "bounds": [1.2, 1.5], "unit": 0.005},
        {"name": "lon", "kind": "real", "bounds": [103.6, 104.1], "unit": 0.005},
        {"name": "month", "kind": "date", "bounds": ["2021-01", "2022-12"], "unit": "60 days"},
        {"name": "type", "kind": "category", "levels": ["nonlanded", "landed"]}]),
}

# file, target, 1 or -1 (minimize), inputs; "log x": its logarithm
NUMBERS = [("light_test.csv", "s20", 1, ["s5", "s12", "s30"]), ("stocks.csv", "GS", 1, ["CAT", "HD", "MCD"]),
           ("hpo_lda_grid.csv", "time", -1, ["kappa", "log tau", "log s"]),
           ("hpo_logreg_grid.csv", "test_error", -1, ["lrate", "l2_reg", "log batchsize", "log n_epochs"]),
           ("light_train_lux.csv", "s33", 1, ["s2", "s7", "s18", "s25"]), ("stocks.csv", "DIS", 1, ["VZ", "WMT"]),
           ("hpo_svm_grid.csv", "time", -1, ["log C", "log alpha", "log epsilon"]),
           ("loan.csv", "int_rate", 1, ["funded_amnt_inv", "log annual_inc", "roi"])]


def expected_regret(values, queries):
    """Of the best of `queries` rows drawn without replacement."""
    v = sorted(values, reverse=True)
    n, left, total = len(v), 1.0, 0.0
    for i, value in enumerate(v):  # left: that none of the i largest was drawn
        hit = min(1.0, queries / (n - i))
        total += left * hit * (v[0] - value)
        left *= 1 - hit
    return total


def search(a, name, target, run, prepare):
    """prepare(work, table) writes the table and returns curate's options about its columns."""
    tacet = f"{a.bin}/tacet"
    with tempfile.TemporaryDirectory() as work:
        table = f"{work}/{name}"  # its ledger lies beside it
        options = prepare(work, table)
        env = dict(os.environ, TACET_STATE=f"{work}/state")

        def call(*arguments):
            done = subprocess.run([tacet, *arguments], capture_output=True, text=True, check=False, env=env)
            if done.returncode != 0:
                sys.exit(f"tacet {' '.join(arguments)}: {done.stderr}")
            return done.stdout

        call("curate", "--values-unprotected", "--data", table, *options, "--eps", a.eps, "--queries", str(a.queries), "--out", f"{work}/release")
        call("curator", "init", "--dir", f"{work}/keys", "--host", "localhost,127.0.0.1")
        ready = f"{work}/address"
        curator = subprocess.Popen([tacet, "curator", "serve", "--release", f"{work}/release", "--keys", f"{work}/keys", "--data", table,
                                    "--target", target, "--listen", "127.0.0.1:0", "--ready-file", ready], env=env,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (os.path.exists(ready) and os.path.getsize(ready) > 0):
                if curator.poll() is not None:
                    sys.exit(f"{name}: the curator ended")
                time.sleep(0.05)
            with open(ready, encoding="utf-8") as f:
                url = f.read().strip()
            return json.loads(call("modeler", "run", "--url", url, "--keys", f"{work}/keys/modeler", "--state", f"{work}/run", "--queries",
                                   str(a.queries), "--seed", str(a.seed + run), "--json"))
        finally:
            curator.terminate()
            curator.wait()


def with_space(a, name, target, columns):
    def prepare(work, table):
        shutil.copyfile(f"{a.data}/{name}", table)
        with open(f"{work}/space.json", "w", encoding="utf-8") as f:
            json.dump({"columns": columns}, f)
        return ["--space", f"{work}/space.json", "--target", target]
    return prepare


def numbers(a):
    shares, above = [], 0
    for name, target, sign, inputs in NUMBERS:
        with open(f"{a.data}/{name}", encoding="utf-8", newline="") as f:
            rows = list(csv.DictReader(f))
        columns = {x.replace(" ", "_"): [math.log(float(r[x[4:]])) if x.startswith("log ") else float(r[x]) for r in rows] for x in inputs}
        values = [sign * float(r[target]) for r in rows]
        chance = expected_regret(values, a.queries)

        def prepare(_, table):
            with open(table, "w", encoding="utf-8") as f:
                f.write(",".join(list(columns) + [target]) + "\n")
                for row in zip(*columns.values(), values):
                    f.write(",".join("%.10g" % v for v in row) + "\n")
            bounds = {x: (min(v) - 1e-6 * (max(v) - min(v)), max(v) + 1e-6 * (max(v) - min(v))) for x, v in columns.items()}
            return ["--inputs", ",".join(columns), "--bounds", ",".join(f"{x}={lo:.8g}:{hi:.8g}" for x, (lo, hi) in bounds.items()),
                    "--unit", ",".join(f"{x}={(hi - lo) / 20:.8g}" for x, (lo, hi) in bounds.items())]

        own = [(max(values) - search(a, name, target, run, prepare)["best_value"]) / chance for run in range(a.runs)]
        shares.append(sum(own) / a.runs)
        above += sum(share > 1.2 for share in own)
        print(f"{name}, {target} from {', '.join(inputs)}: {shares[-1]:.2f} of chance at eps {a.eps}, most {max(own):.2f}", flush=True)
    print(f"mean of {len(shares)} tables {sum(shares) / len(shares):.3f} of chance at eps {a.eps}; {above} of {a.runs * len(shares)} runs above 1.2")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--data", default="../shared/data")
    parser.add_argument("--runs", type=int, default=12)
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--eps", default="5")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(TABLES))
    parser.add_argument("--numbers", action="store_true")
    a = parser.parse_args()
    if not os.path.isdir(a.data):
        print(f"skipped: there is no folder {a.data}")
        return
    if a.numbers:
        numbers(a)
        return
    for name in [a.only] if a.only else list(TABLES):
        target, columns = TABLES[name]
        with open(f"{a.data}/{name}", encoding="utf-8", newline="") as f:
            values = [float(row[target]) for row in csv.DictReader(f)]
        regrets, said = [], {}
        for run in range(a.runs):
            result = search(a, name, target, run, with_space(a, name, target, columns))
            regrets.append(max(values) - result["best_value"])
            said[result["evidence"]["words"]] = said.get(result["evidence"]["words"], 0) + 1
        mean = sum(regrets) / a.runs
        error = math.sqrt(sum((r - mean) ** 2 for r in regrets) / max(1, a.runs - 1) / a.runs)
        print(f"{name}: {target} at eps {a.eps}, {a.queries} questions, {a.runs} runs: regret {mean:.4g} +- {error:.2g}, "
              f"as many random rows {expected_regret(values, a.queries):.4g}; "
              + "; ".join(f"{words}: {n}" for words, n in said.items()), flush=True)


if __name__ == "__main__":
    main()
