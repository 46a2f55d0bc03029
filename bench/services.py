#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""services.py [--seconds S] [--studies N] [--creations N] [--json FILE] - the service beside what others use, in one run on one machine.

Durable pairs (a suggestion and its observation) a second at 1, 8, 64 and 500 connections over TLS, on SQLite and on
PostgreSQL, against the fdatasyncs a second of the same disk, and spread over 64 studies; against a thin http.server that
writes two rows a pair into the same databases, and one that also counts them in one row, driven by the same client.
Then the p99 of a pair of one study while another releases, against the same load without releases; creations a second;
and N studies: memory when each was asked once, seconds of a start. Ratios count: a shared machine's rates say little.
Needs build/bin; PostgreSQL and python3-psycopg2 where they are compared. --json: the figures, for scaling.py."""
import argparse
import http.client
import http.server
import json
import os
import shutil
import sqlite3
import ssl
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BIN = os.path.abspath(os.environ.get("TACET_BIN", os.path.join(HERE, "..", "build", "bin")))
CLUSTER = os.path.join(HERE, "..", "tests", "support", "pgcluster.sh")
CONNECTIONS = (1, 8, 64, 500)
LOCAL = {"trust": "local", "budget": {"eps": 1}, "rounds": 10**7, "options": {"randomizer": "hybrid"},
         "domain": {"points": [[i / 20] for i in range(20)]}, "prior": {"lengthscale": 0.2, "reward": [0, 1]}}  # fmt: skip
CENTRAL = {"trust": "central", "budget": {"eps": 1, "delta": 1e-6}, "rounds": 10**7, "options": {"open_most": 1024},
           "domain": {"lower": [0, 0], "upper": [1, 1]}, "prior": {"lengthscale": 0.3, "reward": [0, 1]}}  # fmt: skip
ROWS = ("CREATE TABLE suggestion{t} (id {key}, arm INT); CREATE TABLE observation{t} (id INT PRIMARY KEY, value FLOAT); "
        "CREATE TABLE head{t} (events INT); INSERT INTO head{t} VALUES (0)")  # fmt: skip
ROUNDS = 3  # of each measurement that is compared, in turn


def syncs(folder):
    with tempfile.TemporaryFile(dir=folder) as f:
        begin, count = time.monotonic(), 0
        while time.monotonic() - begin < 1:
            os.pwrite(f.fileno(), b"x" * 4096, 4096 * count)
            os.fdatasync(f.fileno())
            count += 1
    return count


def tacet(*words):
    return subprocess.run([os.path.join(BIN, "tacet"), *words], check=True, capture_output=True, text=True).stdout


class Service:
    """tacet server on a store, with an owner's token."""

    def __init__(self, store, keys):
        self.store, self.keys = store, keys
        self.found = {"pairs": {}}  # what --json writes
        tacet("store", "init", "--store", store)
        self.token = tacet("study", "token", "--store", store, "--role", "owner").split()[0]
        self.start()

    def start(self):
        words = ["server", "--store", self.store, "--keys", self.keys, "--listen", "127.0.0.1:0", "--json", "--token-rate", "1e6",
                 "--address-rate", "1e6"]  # fmt: skip
        self.process = subprocess.Popen([os.path.join(BIN, "tacet"), *words], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.DEVNULL)  # fmt: skip
        self.url = json.loads(self.process.stdout.readline())["url"]

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def connect(self):
        context = ssl.create_default_context(cafile=os.path.join(self.keys, "ca.pem"))
        return http.client.HTTPSConnection(self.url.split("//")[1], context=context)

    def ask(self, path, body, wire=None):
        wire = wire or self.connect()
        while True:
            wire.request("POST", path, json.dumps(body), {"Authorization": "Bearer " + self.token})
            answer = wire.getresponse()
            said = json.loads(answer.read())
            if answer.status != 503:
                return answer.status, said

    def create(self, name, definition, wire=None):
        status, said = self.ask("/v1/studies", dict(definition, name=name), wire)
        assert status == 201, said

    def kilobytes(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS"))

    def processor(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            words = f.read().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def driver(url, keys, token, study, clients, seconds, *more):
    words = ["--url", url, "--ca", os.path.join(keys, "ca.pem"), "--token", token, "--study", study, "--clients", str(clients)]
    return subprocess.Popen([os.path.join(BIN, "bench_service"), *words, "--seconds", str(seconds), *more],
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # fmt: skip


def drive(*words):
    return json.loads(driver(*words).communicate()[0])


def thin(connect, key, keys, turns):
    """An http.server that stores a row for a suggestion and one for its observation, each in its own commit; `turns`: it
    counts them in one row, too, so that its connections take turns as the requests of one study must."""
    local = threading.local()
    seed = connect()
    t = int(turns)
    for statement in ROWS.format(key=key, t=t).split(";"):
        seed.cursor().execute(statement)
    seed.commit()
    mark = "?" if isinstance(seed, sqlite3.Connection) else "%s"

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize, disable_nagle_algorithm = 1 << 16, True

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
            if not hasattr(local, "db"):
                local.db = connect()
            cursor = local.db.cursor()
            if turns:
                cursor.execute(f"UPDATE head{t} SET events = events + 1")
            if self.path.endswith("suggestions"):
                cursor.execute(f"INSERT INTO suggestion{t} (arm) VALUES (7) RETURNING id")
                status, said = 201, {"ticket": str(cursor.fetchone()[0]), "index": 7}
            else:
                cursor.execute(f"INSERT INTO observation{t} VALUES ({mark}, {mark})", (int(body["ticket"]), body["value"]))
                status, said = 200, {"state": "observed"}
            local.db.commit()
            text = json.dumps(said, separators=(",", ":")).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    class Server(http.server.ThreadingHTTPServer):
        request_queue_size = 1024
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(keys, "server.pem"), os.path.join(keys, "server.key"))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


def forked(function, *words):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        real = http.server.ThreadingHTTPServer.server_activate

        def activate(self):
            real(self)
            os.write(write, str(self.server_address[1]).encode())

        http.server.ThreadingHTTPServer.server_activate = activate
        try:
            function(*words)
        finally:
            os._exit(1)
    return pid, f"https://127.0.0.1:{os.read(read, 16).decode()}"


def middle(numbers):
    return sorted(numbers)[len(numbers) // 2]


def compare(service, servers, keys, seconds, work):
    """Pairs a second of each server in turn, three times; the middle ratios to the first, and to the disk's syncs then."""
    rates, disks = {}, []
    for clients in CONNECTIONS:
        got = {name: [] for name, _, _ in servers}
        disk, spent = [], []
        for _ in range(ROUNDS):
            disk.append(syncs(work))
            disks.append(disk[-1])
            for name, url, token in servers:
                before = service.processor()
                one = drive(url, keys, token, "load", clients, seconds)
                got[name].append((one["pairs"] / one["seconds"], one["p99_ms"]))
                if name == servers[0][0]:
                    spent.append(1e6 * (service.processor() - before) / one["pairs"])
        first = got[servers[0][0]]
        rates[clients] = middle([rate for rate, _ in first])
        here = service.found["pairs"][clients] = {"us": middle(spent), "a_sync": middle([r / d for (r, _), d in zip(first, disk)])}
        for name, runs in got.items():
            beside = middle([rate / base for (rate, _), (base, _) in zip(runs, first)])
            here[name] = beside
            print(f"  {name}, {clients:3d} connections: {middle([r for r, _ in runs]):6.0f} pairs a second, "
                  f"{middle([r / d for (r, _), d in zip(runs, disk)]):6.2f} a sync of the disk, p99 "
                  f"{middle([p for _, p in runs]):.0f} ms, {beside:.2f} of {servers[0][0]}'s", flush=True)  # fmt: skip
    service.found["disk"] = middle(disks)
    return rates


def spread(service, seconds, base):
    """64 connections on as many studies, against one."""
    for i in range(64):
        service.create(f"many-{i}", LOCAL)
    words = (service.url, service.keys, service.token, "many", 64)
    drive(*words, 1, "--studies", "64")  # in use before it is measured
    before = service.processor()
    got = drive(*words, seconds, "--studies", "64")
    service.found["spread"] = got["pairs"] / got["seconds"] / base[64]
    print(f"  64 connections on 64 studies: {service.found['spread']:.2f} times the pairs of one study, "
          f"{1e6 * (service.processor() - before) / got['pairs']:.0f} us of processor a pair", flush=True)  # fmt: skip


def releases(service, seconds):
    """p99 of a pair of `load` while another study plays, central with releases or local without, in turn."""
    service.create("plain", LOCAL)
    service.create("releasing", CENTRAL)
    service.ask("/v1/studies/releasing/suggestions", {"decision_set": [[0.1, 0.2]]})
    time.sleep(8)  # what its releases need is worked out ahead
    p99 = {"plain": [], "releasing": []}
    for _ in range(ROUNDS):
        for study, more in (("plain", ()), ("releasing", ("--set", "8", "--dim", "2"))):
            other = driver(service.url, service.keys, service.token, study, 4, seconds, *more)
            p99[study].append(drive(service.url, service.keys, service.token, "load", 4, seconds)["p99_ms"])
            other.wait()
    ratio = service.found["releasing"] = middle(p99["releasing"]) / middle(p99["plain"])
    print(f"  while another study releases p99 is {ratio:.2f} times that beside one that does not")


def create_many(service, name, definition, count, disk):
    before, begin = service.processor(), time.monotonic()
    threads = [threading.Thread(target=lambda k=k: [service.create(f"{name}{k}-{i}", definition, wire)
                                                   for wire in [service.connect()] for i in range(count // 4)])
               for k in range(4)]  # fmt: skip
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    took = time.monotonic() - begin
    made = count // 4 * 4
    each = service.found["create_" + name] = 1e3 * (service.processor() - before) / made
    print(f"  {made} studies ({name}) created: {made / took:.0f} a second, {each:.1f} ms of "
          f"processor each, {made / took / disk:.2f} a sync of the disk", flush=True)  # fmt: skip
    return [f"{name}{k}-{i}" for k in range(4) for i in range(count // 4)]


def many(service, count, disk):
    idle, service.found["studies"] = service.kilobytes(), count
    names = create_many(service, "local", LOCAL, count, disk)
    for some in (len(names) // 4, len(names)):
        wire = service.connect()
        for name in names[:some]:
            assert service.ask(f"/v1/studies/{name}/suggestions", {}, wire)[0] == 201
        print(f"  {some} studies asked once: {service.kilobytes() / 1024:.0f} MiB (none: {idle / 1024:.0f})", flush=True)
    service.found["kb_a_study"] = (service.kilobytes() - idle) / count
    service.stop()
    service.start()
    service.ask(f"/v1/studies/{names[0]}/suggestions", {})
    print(f"  start with {len(names)} studies and a first suggestion: {service.processor():.2f} s of processor, "
          f"{service.kilobytes() / 1024:.0f} MiB")  # fmt: skip


def on_store(name, store, work, connect, key, options):
    keys = os.path.join(work, "keys")
    disk = syncs(work)
    print(f"{name}, {disk} fdatasyncs a second", flush=True)
    service = Service(store, keys)
    service.create("load", LOCAL)
    thins = [(words, *forked(thin, connect, key, keys, turns))
             for words, turns in (("http.server", False), ("http.server, one row", True))]  # fmt: skip
    base = compare(service, [("tacet", service.url, service.token)] + [(words, url, "none") for words, _, url in thins], keys,
                   options.seconds, work)  # fmt: skip
    for _, pid, _ in thins:
        os.kill(pid, 9)
    spread(service, options.seconds, base)
    releases(service, options.seconds)
    create_many(service, "central", CENTRAL, options.creations, disk)
    if options.studies > 0:
        many(service, options.studies, disk)
    service.stop()
    return service.found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--studies", type=int, default=0, help="local studies in one store, on SQLite; 10000 take minutes")
    parser.add_argument("--creations", type=int, default=40)
    parser.add_argument("--json", help="receives the figures")
    options = parser.parse_args()
    found = {}
    work = tempfile.mkdtemp(prefix="tacet-services-")
    os.chmod(work, 0o711)
    os.environ["TACET_STATE"] = os.path.join(work, "state")
    try:
        tacet("server", "init", "--dir", os.path.join(work, "keys"), "--host", "127.0.0.1")

        def lite():
            db = sqlite3.connect(os.path.join(work, "thin.db"), timeout=30, check_same_thread=False)
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            return db

        found["SQLite"] = on_store("SQLite", os.path.join(work, "store"), work, lite, "INTEGER PRIMARY KEY", options)
        options.studies = 0
        started = subprocess.run([CLUSTER, "start", work], env=dict(os.environ, TACET_PG_FSYNC="on"), capture_output=True, text=True,
                                 check=False)  # fmt: skip
        if started.returncode != 0:
            print("PostgreSQL: not installed, not compared")
            return
        url = started.stdout.strip()
        try:
            import psycopg2
            found["PostgreSQL"] = on_store("PostgreSQL", url, work, lambda: psycopg2.connect(url), "SERIAL PRIMARY KEY", options)
        except ImportError as error:
            print(f"PostgreSQL: not compared, {error}")
    finally:
        subprocess.run([CLUSTER, "stop", work], capture_output=True, check=False)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as f:
                json.dump(found, f)
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
