#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gp.py - the incremental GP: ratio to streaming the same bytes, and growth with n and T.

Each line is one run of one_gp_ucb, a process of its own, so that peak memory is its own too. Time grows as n
T^2: each doubling of n should double it, each doubling of T quadruple it. Matrices below the size of the last-level cache
have no memory to wait for and show the arithmetic instead.
"""
import json
import os
import subprocess

ONE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "bin", "one_gp_ucb")
TABLES = [(25000, 100), (50000, 100), (100000, 100), (200000, 100)], [(100000, 50), (100000, 100), (100000, 200)], [(1000000, 50)]

print("wanted: ratio at most 1.5 at T 50 and 2 at n 100000, T 200, where peak is at most 1. Small T shows the kernel rows, "
      "small nT the process.")  # fmt: skip
for table in TABLES:
    last = 0.0
    for n, queries in table:
        said = subprocess.run([ONE, str(n), "5", str(queries), "3"],
                              check=True, capture_output=True).stdout  # fmt: skip
        m = json.loads(said)
        own = (m["seconds"] - m["system_seconds"]) / m["stream_seconds"]
        growth = f"   x{m['seconds'] / last:.2f}" if last > 0 else ""
        last = m["seconds"]
        print(f"gp-ucb n {n:7d} T {queries:4d}   {last:8.3f} s   ratio to dgemv {m['ratio']:5.2f} ({own:4.2f} without clearing "
              f"pages)   peak/(1.2 x 8nT + data) {m['peak_bytes'] / m['allowed_bytes']:4.2f}{growth}", flush=True)  # fmt: skip
