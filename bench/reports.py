#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""reports.py [BATCHES] - a collector that only takes reports: what a report costs it, in batches of 1, 16 and 256.

Devices choose by themselves; what arrives is a list of reports over TLS. Prints the collector's processor time a report
and the reports that share a sync of the disk, and from them what limits the rate: processor time holds on any machine
of this kind, wall time on a shared one says little. Needs build/bin, node and build/device (make device-wasm)."""
import http.client
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.path.join(HERE, "..", "build"))
os.environ.setdefault("TACET_BIN", os.path.join(BUILD, "bin"))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "browser"))
import harness  # noqa: E402

BATCHES = int(sys.argv[1]) if len(sys.argv) > 1 else 60
CONNECTIONS = 4
STUDY = {"name": "layouts", "trust": "local", "budget": {"eps": 1}, "rounds": 10**6, "domain": {"points": [[0], [0.5], [1]]},
         "prior": {"lengthscale": 0.5, "reward": [0, 1]}, "options": {"randomizer": "hybrid"}}  # fmt: skip
DRAW = """
import { readFileSync } from 'node:fs';
const { Module } = await import('file://' + process.argv[1] + '/device.js');
const m = await Module.load(readFileSync(process.argv[1] + '/device.wasm'));
m.law(1, 1, 0, 1);
console.log(JSON.stringify(Array.from({ length: 64 }, (_, i) => m.report('t', i / 63, m.report('t', i / 63)).report)));
"""


def processor(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def syncs_a_second(folder):
    with tempfile.TemporaryFile(dir=folder) as f:
        begin, count = time.monotonic(), 0
        while time.monotonic() - begin < 1:
            f.write(b"x" * 4096)
            f.flush()
            os.fdatasync(f.fileno())
            count += 1
    return count


def main():
    values = json.loads(subprocess.run(["node", "--input-type=module", "-e", DRAW, os.path.join(BUILD, "device")],
                                       check=True, capture_output=True, text=True).stdout)  # fmt: skip
    with harness.closing(harness.Server("--token-rate", "1000000", "--address-rate", "1000000")) as server:
        server.study(STUDY)
        device = server.token("device", "layouts")
        server.start()
        at, context = urllib.parse.urlparse(server.url), ssl._create_unverified_context()
        pid = server.program.process.pid
        print(f"the disk does {syncs_a_second(server.folder)} syncs a second")
        for size in (1, 16, 256):
            wrong = []

            def send(lane, size=size, wrong=wrong):
                line = http.client.HTTPSConnection(at.hostname, at.port, context=context)
                for number in range(lane, BATCHES, CONNECTIONS):
                    body = {"reports": [{"key": f"{size}-{number}-{k}", "index": k % 3, "value": values[k % 64]} for k in range(size)]}
                    line.request("POST", "/v1/studies/layouts/reports", json.dumps(body), {"Authorization": f"Bearer {device}", "Content-Type": "application/json"})
                    answer = line.getresponse()
                    said = json.loads(answer.read())
                    if answer.status != 200 or any(one["state"] != "observed" for one in said["results"]):
                        wrong.append(said)

            before, begin = processor(pid), time.monotonic()
            lanes = [threading.Thread(target=send, args=(k,)) for k in range(CONNECTIONS)]
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
            used, wall = processor(pid) - before, time.monotonic() - begin
            assert not wrong, wrong[0]
            count = size * BATCHES
            print(f"{count} reports in batches of {size}: {1e6 * used / count:.0f} us of processor a report, "
                  f"{count / max(used, 1e-9):.0f} a second and processor, {count / wall:.0f} a second here")  # fmt: skip


if __name__ == "__main__":
    main()
