#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""reports.py [BATCHES] - a service that only takes reports: processor time of a report, in batches of 1, 16 and 256;
bytes of the store a report.

Devices choose by themselves; what arrives is a list of reports over TLS. Processor time holds on any machine of this
kind, wall time on a shared one says little. Needs build/bin."""
import json
import os
import subprocess
import sys
import tempfile
import threading

from services import BIN, LOCAL, Service, tacet

BATCHES = int(sys.argv[1]) if len(sys.argv) > 1 else 60
CONNECTIONS = 4


def drawn(folder):
    """Some reports, as a device randomises them."""
    words = [os.path.join(BIN, "tacet"), "device", "report", "--range", "0:1", "--eps", "1", "--budget-eps", "100", "--ledger",
             os.path.join(folder, "device.ledger")]  # fmt: skip
    return [float(subprocess.run([*words, "--ticket", f"t{i}", "--value", str(i / 15)], check=True, capture_output=True).stdout)
            for i in range(16)]  # fmt: skip


def main():
    with tempfile.TemporaryDirectory(prefix="tacet-reports-") as work:
        os.environ["TACET_STATE"] = os.path.join(work, "state")
        keys = os.path.join(work, "keys")
        tacet("server", "init", "--dir", keys, "--host", "127.0.0.1")
        service, values = Service(os.path.join(work, "store"), keys), drawn(work)
        service.create("layouts", LOCAL)
        made = 0
        for size in (1, 16, 256):
            count = max(BATCHES, BATCHES * 16 // size)  # enough for a clock of ten milliseconds
            wrong = []

            def send(lane, size=size, count=count, wrong=wrong):
                wire = service.connect()
                for number in range(lane, count, CONNECTIONS):
                    reports = [{"key": f"{size}-{number}-{k}", "index": k % 3, "value": values[k % 16]} for k in range(size)]
                    status, said = service.ask("/v1/studies/layouts/reports", {"reports": reports}, wire)
                    if status != 200 or any(one["state"] != "observed" for one in said["results"]):
                        wrong.append(said)

            before = service.processor()
            lanes = [threading.Thread(target=send, args=(k,)) for k in range(CONNECTIONS)]
            for lane in lanes:
                lane.start()
            for lane in lanes:
                lane.join()
            assert not wrong, json.dumps(wrong[0])[:500]
            each = 1e6 * (service.processor() - before) / (size * count)
            print(f"{size * count} reports in batches of {size}: {each:.0f} us of processor a report, {1e6 / each:.0f} a second and processor",
                  flush=True)  # fmt: skip
            made += size * count
        service.stop()  # what it holds goes into the files
        bytes_ = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(service.store) for name in names)
        print(f"the store takes {bytes_ / made:.0f} bytes a report")


if __name__ == "__main__":
    main()
