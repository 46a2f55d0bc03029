#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reproduction.sh - docs/reproduction.md is what the programs print: four cells, other ones each time, are run again and
# must come out to the last printed digit; so must the items. Verdicts follow from the numbers beside them, and the counts
# at the top from the verdicts. Noise is seeded, so that nothing is left to chance but which
# cells; tables that take long, or need data, are left to `make reproduction`.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
"$tacet-lab" repro items --json >"$work/items"
python3 - "$TACET_SOURCE/docs/reproduction.md" "$tacet-lab" "$work" <<'PY' || { [ $? = 77 ] && exit 77; fail "docs/reproduction.md differs: make reproduction"; }
import json, math, os, random, re, subprocess, sys
page, lab, work = open(sys.argv[1]).read(), sys.argv[2], sys.argv[3]
head = re.search(r"Made by `(.*?)` at commit ([0-9a-f]{10}) on (\d{4}-\d\d-\d\d)", " ".join(page[:2000].split()))
if not head or "--quick" not in head.group(1):
    sys.exit("the page does not say by which command, at which commit and on which day it was made")
for i in json.load(open(work + "/items"))["items"]:
    if not i["verdict"].startswith("wrong"):
        continue
    line = f"| {i['item']} | {i['what']} | `{i['where']}` | {i['verdict']} |"
    if line not in page:
        sys.exit(f"the page does not have the item {line}")

def cells_of(row):
    return [c.strip() for c in row.strip().strip("|").split("|")]
sections = {m[1]: m[2] for m in re.finditer(r"^### (\S+)\n(.*?)(?=^##)", page, re.S | re.M)}
rows = {}
for name, text in sections.items():
    rows[name] = [cells_of(r) for r in text.splitlines()
                  if r.startswith("| ") and not r.startswith(("| |", "| ---", "| **"))]

total = [0, 0]
# Verdicts: three standard errors of a difference of means over 50 trials each (Table 1: 10), and half of the finest digit.
for name, text in sections.items():
    if "| | paper |" not in text:
        continue
    digits = [len(r[1].split(".")[1]) if "." in r[1] else 0 for r in rows[name] if re.fullmatch(r"[0-9.]+", r[1])]
    agree = scored = 0
    for r in rows[name]:
        verdict = re.match(r"(agrees|differs)", r[-1])
        if not verdict:
            continue
        scored += 1
        agree += verdict[1] == "agrees"
        mean, _, se = r[2].partition(" ± ")
        trials, paper = (5 if r[0].startswith("non") else 10, 10) if name == "central-table-1" else (50, 50)
        reach = 3 * float(se or 0) * math.sqrt(1 + trials / paper) + 0.5 * 10 ** -max(digits)
        off = abs(float(mean) - float(r[1]))
        rounding = 0.1 * reach + 1e-9  # the page has two digits of the standard error
        if (verdict[1] == "agrees") != (off <= reach) and abs(off - reach) > rounding:
            sys.exit(f"{name}, {r[0]}: '{verdict[1]}' does not follow from {r[1]} and {r[2]}")
    told = re.search(r"(\d+)\sof\s(\d+)\sagree\.", text)
    if scored and (not told or (int(told[1]), int(told[2])) != (agree, scored)):
        sys.exit(f"{name}: {agree} of {scored} agree, the page says {told and told[0]}")
    total[0] += agree
    total[1] += scored
tops = [(int(a), int(b)) for a, b in re.findall(r"^\| .* \| (\d+) of (\d+) \|$", page.split("\n## ")[0], re.M)]
if [sum(t) for t in zip(*tops)] != total:
    sys.exit(f"the top of the page says {tops}, its tables {total}")

# (table, columns that take seconds)
FAST = [(f"outsourced-table-{k}", 1) for k in (1, 2, 3, 10, 11, 12)] + [("outsourced-figure-3", 3), ("central-figure-1", 4),
        ("central-figure-2", 3), ("central-table-1", 2), ("contextual-rate", 2)]
cells = []
for name, columns in FAST:
    if name not in sections:
        sys.exit(f"there is no {name}")
    printed = 1 if "| | paper |" in sections[name] else 0
    for i, r in enumerate(rows[name]):
        for c in range(columns):
            slow = (name.startswith("central-figure") and c < 2) or (name == "central-table-1" and (c == 0 or i > 4)) or \
                   "T = 100000" in r[0]
            if r[1 + printed + c] and not slow:
                cells.append((name, i + 1, c + 1, r[0], r[1 + printed + c]))
if len(cells) < 80:
    sys.exit(f"only {len(cells)} cells found: the check is blind")
if not re.search(r"\bfma\b.*\bavx2\b", open("/proc/cpuinfo").read()):
    print("skipped: this processor cannot run OpenBLAS's kernels for Haswell, with which the page was made")
    sys.exit(77)
os.environ["OPENBLAS_CORETYPE"] = "Haswell"  # another processor's kernels change the last bits, and so a few cells
for name, row, column, label, value in random.sample(cells, int(os.environ.get("TACET_CELLS", "4"))):
    print(name, label, "column", column, value, flush=True)
    done = subprocess.run([lab, "repro", name, "--quick", "--cell", f"{row},{column}"],
                          capture_output=True, text=True)
    if done.stdout.strip() != value:
        sys.exit(f"{name}, {label}, column {column}: the page has {value}, the program {done.stdout.strip() or done.stderr}")
PY
echo "ok"
