#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants.sh - every small wrong change of tests/mutants/list is of a text that stands once in its file, and its test exists: a
# list that sources have moved away from would be found out by `make mutants` alone, which takes long.
set -eu
cd "${TACET_SOURCE:?}"
exec python3 - <<'P'
import os, sys

file, wrong, count = "", [], 0
for line in open("tests/mutants/list", encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("file: "):
        file = line[6:]
        text = open(file, encoding="utf-8").read() if os.path.exists(file) else ""
    elif line.startswith("test: "):
        room, stem = line[6:].split(".", 1)
        if not os.path.exists(f"tests/e2e/{stem}.sh" if room == "e2e" else f"tests/{room}/test_{stem}.c"):
            wrong.append(f"no test {line[6:]}")
    elif line.startswith("- "):
        count += 1
        times = text.count(line[2:].replace("\\n", "\n"))
        if times != 1:
            wrong.append(f"{file}: stands {times} times: {line[2:90]}")
print("\n".join(wrong) or f"{count} changes, each of a text that stands once")
sys.exit(1 if wrong or count < 200 else 0)
P
