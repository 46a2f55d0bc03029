#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""space_studies.py - studies over a space, searched over HTTPS by a server that proposes the points.

Prints, for each run, what the study released as best after its rounds. Two made-up problems: `tune`, central (a log rate, a
whole number of layers, an optimizer; the best is adam at a rate of 0.01 with 4 layers), and `box`, local (two reals; every reward is
randomised by `tacet device report` before it is sent). Rewards are noisy. Run as `make space-studies`."""
import argparse, http.client, json, math, os, random, ssl, subprocess, sys, tempfile, time


BEST = 0.9  # of both problems


class Service:
    def __init__(self, bin_dir, work):
        self.bin, self.work = bin_dir, work
        self.tacet("server", "init", "--dir", f"{work}/keys", "--host", "localhost,127.0.0.1")

    def tacet(self, *arguments):
        done = subprocess.run([f"{self.bin}/tacet", *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tacet {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def serve(self):
        self.token = self.tacet("study", "token", "--store", f"{self.work}/st", "--role", "owner").strip()
        ready = f"{self.work}/address"
        self.process = subprocess.Popen([f"{self.bin}/tacet-server", "server", "--store", f"{self.work}/st", "--keys",
                                         f"{self.work}/keys", "--listen", "127.0.0.1:0", "--ready-file", ready],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (os.path.exists(ready) and os.path.getsize(ready) > 0):
            time.sleep(0.05)
        host, port = open(ready, encoding="utf-8").read().strip()[len("https://"):].split(":")
        self.wire = http.client.HTTPSConnection(host, int(port), timeout=60,
                                                context=ssl.create_default_context(cafile=f"{self.work}/keys/ca.pem"))

    def ask(self, path, body):
        for attempt in range(20):  # 503: the store was slow; nothing is stored twice
            self.wire.request("POST", f"/v1/studies/{path}", json.dumps(body), {"Authorization": f"Bearer {self.token}"})
            answer = self.wire.getresponse()
            text = answer.read()
            if answer.status != 503:
                break
            time.sleep(0.1 * (attempt + 1))
        if answer.status >= 300:
            sys.exit(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)


def tune_score(p):
    d = math.log10(p["rate"] / 0.01)
    return 0.9 - 0.25 * (p["optimizer"] != "adam") - 0.2 * d * d - 0.01 * (p["layers"] - 4) ** 2


def box_score(p):
    return 0.9 - ((p["x"] - 7) / 5) ** 2 - (p["y"] - 0.3) ** 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--eps", default="10")
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation of a reward")
    parser.add_argument("--candidates", type=int, default=1024, help="points the server chooses from")
    parser.add_argument("--only", choices=["tune", "box"])
    a = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        s = Service(a.bin, work)
        with open(f"{work}/tune.json", "w", encoding="utf-8") as f:
            json.dump({"columns": [{"name": "rate", "kind": "log", "bounds": [1e-5, 1]}, {"name": "layers", "kind": "integer", "bounds": [1, 8]},
                                   {"name": "optimizer", "kind": "category", "levels": ["sgd", "adam", "lion"]}]}, f)
        kinds = [a.only] if a.only else ["tune", "box"]
        for kind in kinds:
            for i in range(a.runs):
                how = (["--trust", "central", "--delta", "1e-6", "--space", f"{work}/tune.json"] if kind == "tune" else
                       ["--trust", "local", "--bounds", "x=0:10", "--bounds", "y=-1:1"])
                s.tacet("study", "create", "--store", f"{work}/st", "--name", f"{kind}{i}", "--eps", a.eps, "--rounds", str(a.rounds),
                        "--range", "0:1", "--field", f"domain.candidates={a.candidates}", *how)
        s.serve()
        for kind in kinds:
            good, gaps = 0, []
            for i in range(a.runs):
                rng = random.Random(1000 + i)
                total = 0.0
                for t in range(a.rounds):
                    suggestion = s.ask(f"{kind}{i}/suggestions", {"key": f"round-{t}"})
                    mean = (tune_score if kind == "tune" else box_score)(suggestion["point"])
                    total += mean
                    value = min(1.0, max(0.0, mean + rng.gauss(0, a.noise)))
                    if kind == "box":
                        value = json.loads(s.tacet("device", "report", "--ticket", suggestion["ticket"], "--value", repr(value), "--range", "0:1",
                                                   "--eps", a.eps, "--ledger", f"{work}/d{i}", "--budget-eps", str(float(a.eps) * a.rounds), "--json"))["report"]
                    s.ask(f"{kind}{i}/observations", {"ticket": suggestion["ticket"], "value": value})
                best = s.ask(f"{kind}{i}/releases", {})["release"]
                p = best["point"]
                right = (p["optimizer"] == "adam" and 0.5 <= p["rate"] / 0.01 <= 2) if kind == "tune" else box_score(p) > 0.85
                good += right
                gaps.append(BEST - (tune_score if kind == "tune" else box_score)(p))
                print(f"{kind} {i}: best {json.dumps(p)} true {(tune_score if kind == 'tune' else box_score)(p):.3f} "
                      f"average played {total / a.rounds:.3f}{'' if right else '  MISSED'}", flush=True)
            mean = sum(gaps) / a.runs
            error = math.sqrt(sum((g - mean) ** 2 for g in gaps) / max(1, a.runs - 1) / a.runs)
            print(f"{kind}: {good} of {a.runs} right; released point {mean:.4f} +- {error:.4f} below the best of all")
        s.process.terminate()
        s.process.wait()


if __name__ == "__main__":
    main()
