#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mutants.sh - every small wrong change of tests/mutants/list is of a text that stands once in its file, and its test exists: a
# list that sources have moved away from would be found out by `make mutants` alone, which takes minutes. Every release path has
# its constants, clips, bounds and refusals changed by tools/constants, and no explanation is left of one that is gone. A few
# changes are made and must be caught.
set -eu
cd "${TACET_SOURCE:?}"
left=$(tools/constants 2>&1 >/dev/null) || { echo "mutants: tools/constants fails: $left"; exit 1; }
[ -z "$left" ] || { echo "$left"; exit 1; }
python3 - <<'P'
import os, re, sys

file, wrong, count = "", [], 0
for line in open("tests/mutants/list", encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("file: "):
        file = line[6:]
        text = open(file, encoding="utf-8").read() if os.path.exists(file) else ""
    elif line.startswith("test: "):
        for room, stem in (test.split(".", 1) for test in line[6:].split()):
            if not os.path.exists(f"tests/e2e/{stem}.sh" if room == "e2e" else f"tests/{room}/test_{stem}.c"):
                wrong.append(f"no test {room}.{stem}")
    elif line.startswith("- "):
        count += 1
        times = text.count(line[2:].replace("\\n", "\n"))
        if times != 1:
            wrong.append(f"{file}: stands {times} times: {line[2:90]}")
paths = {line.split()[0] for line in open("tests/mutants/paths", encoding="utf-8") if line.startswith("src/")}
for name in re.findall(r"^\| `(\S+\.c)`", open("tests/sensitivity/README.md", encoding="utf-8").read(), re.M):
    if f"src/{name}" not in paths:
        wrong.append(f"src/{name} is a release path, and not in tests/mutants/paths")
print("\n".join(wrong) or f"{count} changes, each of a text that stands once")
sys.exit(1 if wrong or count < 200 else 0)
P
[ -z "${TACET_SANITIZE:-}" ] || exit 0
said=$(tools/mutants --short) || { echo "$said"; exit 1; }
echo "$said" | tail -n 1
