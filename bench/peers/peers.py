#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# peers.py - the same jobs with tacet and with what Debian packages for Python, in one run: optimisation over a finite domain, and
# drawing noise. Prints ratios of processor time and regrets; with --markdown FILE writes them as a document. What is not installed is
# skipped, and said. Single-threaded linear algebra on both sides; processor time, so that other work on the machine does not count.
#
# Optimisation: functions of a Gaussian process (random cosine features, standard library only) on points of the unit square; GP-UCB with the
# kernel, noise and beta_t of `tacet-lab gp-ucb`. scikit-learn fits and predicts anew each round, which is how its interface is used; the numpy one
# is the textbook: a Cholesky factor of all observations and a triangular solve for all points, each round. Both must ask the same rows as tacet,
# and it is checked. Optuna's default sampler (TPE) proposes points, of which the nearest of the domain is measured.
import argparse
import json
import math
import os
import random
import resource
import subprocess
import sys
import tempfile
import textwrap
import time

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[name] = "1"

LENGTHSCALE, NOISE_VAR, DELTA = 0.1, 1e-4, 0.05
DIM, FEATURES = 2, 200


def load(name):
    try:
        return __import__(name)
    except ImportError:
        return None


numpy = load("numpy")
sklearn = load("sklearn")
optuna = load("optuna")


def version(module):
    return module.__version__ if module is not None else "not installed, skipped"


def child_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def make_table(path, rows, seed):
    """Points of the unit square and a function on them; returns both."""
    rng = random.Random(seed)
    points = [[round(rng.random(), 6) for _ in range(DIM)] for _ in range(rows)]
    waves = [([rng.gauss(0, 1 / LENGTHSCALE) for _ in range(DIM)], rng.uniform(0, 2 * math.pi), rng.gauss(0, 1)) for _ in range(FEATURES)]
    scale = math.sqrt(2 / FEATURES)
    values = [round(scale * sum(a * math.cos(sum(w * x for w, x in zip(ws, p)) + b) for ws, b, a in waves), 6) for p in points]
    with open(path, "w") as file:
        file.write(",".join("x%d" % i for i in range(DIM)) + ",y\n")
        for p, y in zip(points, values):
            file.write(",".join("%.6f" % x for x in p) + ",%.6f\n" % y)
    return points, values


def beta(t, n):
    return 2 * math.log(n * t * t * math.pi**2 / (6 * DELTA / 2))


def by_tacet(tacet, path, queries, scale=1.0):
    """Rows asked, and processor seconds, those of starting and of reading the table included."""
    before = child_seconds()
    out = subprocess.run(
        [tacet, "gp-ucb", "--data", path, "--inputs", ",".join("x%d" % i for i in range(DIM)), "--target", "y", "--kernel", "se",
         "--lengthscale", str(LENGTHSCALE), "--noise-var", str(NOISE_VAR), "--delta-ucb", str(DELTA), "--queries", str(queries),
         "--repeats", "--beta-scale", str(scale), "--json"],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(out.stdout)
    return result["rows"], child_seconds() - before


def ucb_loop(n, values, queries, predict):
    """GP-UCB over any function from (rows, values) to mean and sd of all points."""
    rows = []
    for t in range(1, queries + 1):
        if not rows:
            rows.append(0)  # every point is as good; the lowest row
            continue
        mean, sd = predict(rows, [values[r] for r in rows])
        rows.append(int(numpy.argmax(mean + math.sqrt(beta(t, n)) * sd)))
    return rows


def by_sklearn(points, values, queries):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF

    X = numpy.array(points)

    def predict(rows, y):
        model = GaussianProcessRegressor(kernel=RBF(LENGTHSCALE, "fixed"), alpha=NOISE_VAR, optimizer=None)
        model.fit(X[rows], numpy.array(y))
        return model.predict(X, return_std=True)

    start = time.process_time()
    return ucb_loop(len(points), values, queries, predict), time.process_time() - start


def by_numpy(points, values, queries):
    X = numpy.array(points)

    def kernel(A, B):
        d2 = (A**2).sum(1)[:, None] + (B**2).sum(1)[None, :] - 2 * A @ B.T
        return numpy.exp(-0.5 * numpy.maximum(d2, 0) / LENGTHSCALE**2)

    def predict(rows, y):
        A = X[rows]
        factor = numpy.linalg.cholesky(kernel(A, A) + NOISE_VAR * numpy.eye(len(rows)))
        half = numpy.linalg.solve(factor, kernel(A, X))
        mean = half.T @ numpy.linalg.solve(factor, numpy.array(y))
        return mean, numpy.sqrt(numpy.maximum(1 - (half**2).sum(0), 0))

    start = time.process_time()
    return ucb_loop(len(points), values, queries, predict), time.process_time() - start


def by_optuna(points, values, queries, seed):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X = numpy.array(points)
    rows = []

    def objective(trial):
        at = numpy.array([trial.suggest_float("x%d" % i, 0, 1) for i in range(DIM)])
        rows.append(int(numpy.argmin(((X - at) ** 2).sum(1))))
        return values[rows[-1]]

    start = time.process_time()
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=queries)
    return rows, time.process_time() - start


def by_chance(rows, queries, seed):
    rng = random.Random(seed)
    return [rng.randrange(rows) for _ in range(queries)], 0.0


def optimisation(tacet, folder, rows, queries, trials):
    """Per method: mean regret, its standard error, processor seconds in all, and whether it asked tacet's rows."""
    path = os.path.join(folder, "table.csv")
    found = {}
    for seed in range(1, trials + 1):
        points, values = make_table(path, rows, seed)
        best = max(values)
        ours = by_tacet(tacet, path, queries)
        runs = {"tacet-lab gp-ucb": ours, "tacet-lab gp-ucb, beta x 0.2": by_tacet(tacet, path, queries, 0.2), "by chance": by_chance(rows, queries, seed)}
        if numpy is not None:
            runs["numpy, textbook"] = by_numpy(points, values, queries)
        if numpy is not None and sklearn is not None:
            runs["scikit-learn"] = by_sklearn(points, values, queries)
        if numpy is not None and optuna is not None:
            runs["Optuna, TPE"] = by_optuna(points, values, queries, seed)
        for name, (asked, seconds) in runs.items():
            entry = found.setdefault(name, {"regrets": [], "seconds": 0.0, "same": 0})
            entry["regrets"].append(best - max(values[r] for r in asked))
            entry["seconds"] += seconds
            same = sum(1 for a, b in zip(asked, ours[0]) if a == b)
            entry["same"] += same
    for entry in found.values():
        regrets = entry["regrets"]
        entry["mean"] = sum(regrets) / len(regrets)
        spread = sum((r - entry["mean"]) ** 2 for r in regrets) / max(1, len(regrets) - 1)
        entry["se"] = math.sqrt(spread / len(regrets))
        entry["same"] /= queries * trials
    return found


def tacet_noise(tacet, kind, count):
    best = math.inf
    for _ in range(3):
        before = child_seconds()
        subprocess.run([tacet, "noise", kind, "--scale", "2.5", "--count", str(count), "--format", "f64le"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        best = min(best, child_seconds() - before)
    return best


def best_of(job):
    best = math.inf
    for _ in range(3):
        start = time.process_time()
        job()
        best = min(best, time.process_time() - start)
    return best


def noise(tacet, count):
    """Per kind: tacet's seconds, and of each peer."""
    found = {}
    for kind in ("gaussian", "laplace"):
        peers = {}
        if numpy is not None:
            rng = numpy.random.default_rng()
            draw = rng.normal if kind == "gaussian" else rng.laplace
            peers["numpy"] = best_of(lambda: draw(0, 2.5, count))
        few = max(1, count // 20)
        system = random.SystemRandom()
        pure = (lambda: [system.gauss(0, 2.5) for _ in range(few)]) if kind == "gaussian" else (
            lambda: [system.expovariate(0.4) - system.expovariate(0.4) for _ in range(few)])
        peers["Python, SystemRandom"] = best_of(pure) * count / few
        start = tacet_noise(tacet, kind, 1)
        found[kind] = (max(1e-9, tacet_noise(tacet, kind, count) - start), peers)
    return found


def document(args, found, drawn):
    lines = ["# Beside what others use", "",
             "Made by `make peers` (`bench/peers/peers.py`) at commit %s, which runs everything below in one run on one machine. Ratios are of processor time with" % args.commit,
             "single-threaded linear algebra; they differ by a tenth or so from run to run, and more between machines. The benchmarks of this project alone are",
             "`make bench`.", "",
             "Versions: Python %s, numpy %s, scikit-learn %s, Optuna %s." %
             tuple([sys.version.split()[0]] + [version(m) for m in (numpy, sklearn, optuna)]), "",
             "## Optimisation over a finite domain", "",
             "%d points of the unit square, %d queries, mean over %d functions of a Gaussian process (lengthscale %g, variance 1). All know kernel and noise, except" %
             (args.rows, args.queries, args.trials, LENGTHSCALE),
             "Optuna's sampler and chance, which need none. beta_t is that of the theory, which explores more than so few queries can use, except where it says otherwise. Nothing here is private; it is the reference that private methods are compared with. tacet's time",
             "includes starting the program and reading the table.", "",
             "| method | time over tacet's | regret (standard error) | rows asked that tacet asked too |", "| --- | --- | --- | --- |"]
    ours = found["tacet-lab gp-ucb"]
    for name, entry in found.items():
        ratio = "" if name == "by chance" else "%.1f" % (entry["seconds"] / ours["seconds"])
        lines.append("| %s | %s | %.4f (%.4f) | %.0f %% |" % (name, ratio, entry["mean"], entry["se"], 100 * entry["same"]))
    lines += ["",
              "The GP-UCB of scikit-learn and of numpy is the same algorithm, so the rows must be the same (where two points score within rounding of each other, they need not be).",
              "", "## Noise", "",
              "%d draws. tacet's lie exactly on a public grid and are decided by key stream and whole-numbered arithmetic ([exact noise](../src/dp/noise/README.md)); the others are" % args.draws,
              "floating-point noise, which is not safe to release, numpy's from a generator that is not cryptographic. tacet's time includes writing them out; starting the program is",
              "taken off.", "", "| noise | peer | its time over tacet's |", "| --- | --- | --- |"]
    for kind, (seconds, peers) in drawn.items():
        for name, other in peers.items():
            lines.append("| %s | %s | %.2f |" % (kind, name, other / seconds))
    return "\n".join(wrapped(lines)) + "\n"


def wrapped(lines):
    """Paragraphs at 100 columns; headings, tables and empty lines as they are."""
    out, paragraph = [], []
    for line in lines + [""]:
        if line and line[0] not in "#|":
            paragraph.append(line)
            continue
        if paragraph:
            out += textwrap.wrap(" ".join(paragraph), 100, break_long_words=False, break_on_hyphens=False)
            paragraph = []
        out.append(line)
    return out[:-1]


def main():
    parser = argparse.ArgumentParser(description="the same jobs with tacet and with Python packages, as ratios")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--tacet", default=os.path.join(here, "..", "..", "build", "bin", "tacet-lab"))
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--draws", type=int, default=5000000)
    parser.add_argument("--markdown", metavar="FILE", help="write the document to FILE as well")
    parser.add_argument("--commit", default="(not told)", metavar="ID", help="what the document says it was made from")
    args = parser.parse_args()
    for name, module in (("numpy", numpy), ("scikit-learn", sklearn), ("Optuna", optuna)):
        if module is None:
            print("%s: not installed, skipped" % name)
    with tempfile.TemporaryDirectory() as folder:
        found = optimisation(args.tacet, folder, args.rows, args.queries, args.trials)
    ours = found["tacet-lab gp-ucb"]
    print("optimisation: %d points, %d queries, %d functions" % (args.rows, args.queries, args.trials))
    for name, entry in found.items():
        print("  %-25s time over tacet's %6.2f   regret %.4f (%.4f)   same rows %.2f" %
              (name, entry["seconds"] / ours["seconds"], entry["mean"], entry["se"], entry["same"]))
    drawn = noise(args.tacet, args.draws)
    print("noise: %d draws" % args.draws)
    for kind, (seconds, peers) in drawn.items():
        for name, other in peers.items():
            print("  %-10s %-22s time over tacet's %6.2f" % (kind, name, other / seconds))
    if args.markdown:
        with open(args.markdown, "w") as file:
            file.write(document(args, found, drawn))


if __name__ == "__main__":
    main()
