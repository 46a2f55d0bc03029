#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reproduction.sh - docs/reproduction.md is what the programs print: four cells, other ones each time, are run again and
# must come out to the last printed digit; so must the list of items. Noise is seeded, so that nothing is left to chance
# but which cells; tables that take long, or need data, are left to `make reproduction`.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
grep -q '^Made by .*at commit\|at commit [0-9a-f]* on' "$TACET_SOURCE/docs/reproduction.md" || {
    echo "docs/reproduction.md does not say from which commit it was made: make reproduction"
    exit 77
}
"$tacet-lab" repro items >"$work/items"
python3 - "$TACET_SOURCE/docs/reproduction.md" "$tacet-lab" "$work/items" <<'PY' || fail "docs/reproduction.md differs: make reproduction"
import random, re, subprocess, sys
page, lab, items = open(sys.argv[1]).read(), sys.argv[2], open(sys.argv[3]).read()
head = re.search(r"Made by `(.*?)` at commit (\S+) on (\d{4}-\d\d-\d\d)", " ".join(page[:2000].split()))
if not head or "--quick" not in head.group(1):
    sys.exit("the page does not say by which command, at which commit and on which day it was made")
if items.strip() not in page:
    sys.exit("the items are not those of the program")
# (table, columns that take seconds)
FAST = [(f"outsourced-table-{k}", 3) for k in (1, 2, 3, 10, 11, 12)] + [("outsourced-figure-3", 3), ("central-figure-1", 4),
        ("central-figure-2", 3), ("central-table-1", 3)]
cells = []
for name, columns in FAST:
    section = re.search(r"### %s\n(.*?)(?=\n##)" % name, page, re.S)
    if not section:
        sys.exit(f"there is no {name}")
    rows = [r for r in section.group(1).splitlines() if r.startswith("| ") and not r.startswith(("| |", "| ---", "| **"))]
    printed = 1 if "| | paper |" in section.group(1) else 0
    for i, row in enumerate(rows):
        values = [v.strip() for v in row.strip("|").split("|")]
        for c in range(columns):
            slow = (name.startswith("central-figure") and c < 2) or (name == "central-table-1" and (c == 0 or i > 4))
            if values[1 + printed + c] and not slow:
                cells.append((name, i + 1, c + 1, values[0], values[1 + printed + c]))
if len(cells) < 60:
    sys.exit(f"only {len(cells)} cells found: the check is blind")
for name, row, column, label, value in random.sample(cells, 4):
    print(name, label, "column", column, value, flush=True)
    done = subprocess.run([lab, "repro", name, "--quick", "--row", str(row), "--column", str(column)],
                          capture_output=True, text=True)
    if done.stdout.strip() != value:
        sys.exit(f"{name}, {label}, column {column}: the page has {value}, the program {done.stdout.strip() or done.stderr}")
PY
echo "ok"
