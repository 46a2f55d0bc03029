#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gate.sh - the gate is small enough to be read in a day. Which files are the gate is computed from the symbols of the built
# objects, not from where they lie:
# - a file that defines a mint (of noise, bounds, releases, ledger entries), or refers to one;
# - inside src/dp, whoever refers to an internal symbol (tacet__…) of the gate: it draws or enters by it;
# - inside src/dp, what those refer to by an internal symbol: their parts, such as the totals and the sealing of keys.
# Together at most 5,000 lines of code, which are neither blank nor comment, of source files and of headers with functions in
# them; headers that only declare are told apart. A table of numbers that a test computes again is not read. What lies in src/dp outside of open and is not the gate must leave it; nothing else of src/dp/open may be the gate
# than the making of a release. Outside src/dp a few files draw for themselves, and are named here: another one fails.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}
build=${TACET_BUILD:?}
[ -d "$build/src/CMakeFiles/tacet_gate.dir" ] || { echo "gate: no objects of the gate"; exit 77; }
exec python3 - "$root" "$build" <<'P'
import glob, os, re, subprocess, sys
root, build = sys.argv[1:]
MOST = 5000
MINTS = {
    "noise": {"tacet__noise_at", "tacet__noise_refill", "tacet__noise_u64", "tacet__noise_below", "tacet__mint_fresh", "tacet__mint_noise"},
    "bound": {"tacet_bound_box", "tacet_bound_norm", "tacet_bound_narrow", "tacet_bounded_set"},
    "release": {"tacet__release_mint"},
    "entry": {"tacet__store_append", "tacet__store_put_mint", "tacet__ledger_reserve"},
}
ALL = set().union(*MINTS.values())
ENTERS = {"tacet_ledger_reserve"}  # inside src/dp only: others ask a mechanism
DRAWS = re.compile(r"tacet__(draw_|mechanism_draw|report_draw|randomize$|noise_at$|mint_fresh$|mint_noise$|release_mint$|store_append$|ledger_reserve$)")
DOORS = {  # outside src/dp: device and desk draw for themselves, the curator binds a release's key to its rows before it opens
    # the table, and the paper's projection, which claims no privacy, draws its matrix
    "local/trusted/device.c", "local/trusted/device_ledger.c", "outsourced/trusted/desk.c", "outsourced/trusted/curate.c",
    "outsourced/trusted/published_curate.c",
}
OPEN = {"dp/open/release.c"}
NUMBERS = {"dp/noise/gaussian_table.h"}  # tests/dp/test_exact.c computes them again


def read_symbols():
    refers, defines = {}, {}
    for path in glob.glob(build + "/src/CMakeFiles/*.dir/**/*.c.o", recursive=True):
        name = re.search(r"CMakeFiles/[^/]*\.dir/(.*)\.o$", path).group(1)
        if not os.path.exists(root + "/src/" + name):
            continue  # of a file that was deleted since
        refers.setdefault(name, set()), defines.setdefault(name, set())
        for line in subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout.splitlines():
            kind, symbol = line.split()[-2:]
            if kind == "U":
                refers[name].add(symbol)
            elif kind in "TDBR":
                defines[name].add(symbol)
    return refers, defines


def in_dp(name):
    return name.startswith("dp/") and not name.startswith("dp/open/")


def gate_of(refers, defines):
    gate = {n for n in refers if defines[n] & ALL or (n.startswith("dp/") and refers[n] & (ALL | ENTERS))}
    while True:
        own = {s for n in gate if in_dp(n) for s in defines[n] if s.startswith("tacet__")}
        more = {n for n in refers if in_dp(n) and refers[n] & own}
        used = {s for n in gate for s in refers[n] if s.startswith("tacet__")}
        more |= {n for n in refers if in_dp(n) and defines[n] & used}
        if more <= gate:
            return gate
        gate |= more


def code_lines(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m.group().count("\n"), file.read(), flags=re.S)
    return sum(1 for line in text.splitlines() if line.strip())


def judge(refers, defines, most=MOST):
    """What is wrong, in lines; and the gate's files and their lines of code."""
    gate = gate_of(refers, defines)
    wrong = [f"{n} is not the gate, and lies in src/dp" for n in sorted(refers) if in_dp(n) and n not in gate]
    wrong += [f"{n} is open, and can mint" for n in sorted(gate) if n.startswith("dp/open/") and n not in OPEN]
    outside = {n for n in refers if not n.startswith(("dp/", "audit/")) and any(DRAWS.match(s) for s in refers[n])}
    wrong += [f"{n} lies outside src/dp, and can mint or draw" for n in sorted((outside | {g for g in gate if not g.startswith("dp/")}) - DOORS)]
    headers = [os.path.relpath(h, root + "/src") for h in glob.glob(root + "/src/dp/**/*.h", recursive=True)]
    headers = {h for h in headers if (in_dp(h) and h not in NUMBERS) or h == "dp/open/release_mint.h"}
    inline = {h for h in headers if "static inline" in open(root + "/src/" + h, encoding="utf-8").read()}
    files = sorted(gate | inline)
    lines = sum(code_lines(root + "/src/" + n) for n in files if os.path.exists(root + "/src/" + n))
    declared = sum(code_lines(root + "/src/" + h) for h in headers - inline)
    if lines > most:
        wrong.append(f"the gate has {lines} lines of code, more than {most}")
    return wrong, files, lines, declared


refers, defines = read_symbols()
for kind, symbols in MINTS.items():  # a mint that was renamed would hide whoever uses it
    missing = symbols - set().union(*defines.values())
    if missing:
        sys.exit(f"gate: no {kind} is minted by {', '.join(sorted(missing))}")
wrong, files, lines, declared = judge(refers, defines)
if wrong:
    sys.exit("gate: " + "\ngate: ".join(wrong))

# The checks can fail.
def with_file(name, symbols):
    return {**refers, name: set(symbols)}, {**defines, name: {"tacet__made_up"}}
for name, symbols in (("dp/open/bad.c", ["tacet__release_mint"]), ("central/trusted/bad.c", ["tacet__noise_at"]),
                      ("dp/bad.c", ["malloc"]), ("outsourced/trusted/bad.c", ["tacet__draw_gaussian"])):
    if not any(name in w for w in judge(*with_file(name, symbols))[0]):
        sys.exit(f"gate: {name} with {symbols} is not noticed")
if not judge(refers, defines, lines - 1)[0]:
    sys.exit("gate: a line too many is not noticed")
print(f"gate: {len(files)} files, {lines} lines of code of {MOST}, and {declared} of declarations")
P
