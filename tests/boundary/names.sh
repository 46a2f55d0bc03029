#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# names.sh - what a document names is there: every symbol, every test, every command of tacet, and every option that a
# document gives to a command stands in that command's own help. Not in the two documents that speak of what is gone, and of
# first lines of files. (Files: links.sh.)
set -eu
cd "${TACET_SOURCE:?}"
[ -x "${TACET_BIN:?}/tacet" ] || { echo "names: no programs"; exit 77; }
python3 - "$TACET_BIN" <<'PY'
import functools, glob, os, re, subprocess, sys
bin = sys.argv[1]
texts = {p: open(p, encoding="utf-8").read() for p in sorted(glob.glob("**/*.md", recursive=True))
         if not p.startswith("build") and p not in ("CHANGELOG.md", "docs/known-vulnerabilities.md")}
def all_of(*patterns):
    return "\n".join(open(p, encoding="utf-8", errors="replace").read() for q in patterns
                     for p in glob.glob(q, recursive=True) if os.path.isfile(p))
code = all_of("src/**/*.[ch]", "include/**/*.h", "lab/*.[ch]", "cli/**/*.[ch]", "python/**/*.py", "python/**/*.c",
              "cmake/*", "abi/*", "tests/**/*.[ch]", "tests/**/*.sh", "tests/**/CMakeLists.txt", "bench/**/*.[ch]",
              "web/**/*.js", "packaging/**/*", "tools/*", "Makefile", "CMakeLists.txt", "src/**/*.sql", "src/CMakeLists.txt")
words = set(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", code))
tests = {"test_" + os.path.basename(os.path.dirname(p)) + "_" + os.path.basename(p)[5:-2] for p in glob.glob("tests/*/test_*.c")}
faults, seen = [], 0
@functools.lru_cache(None)
def help_of(*command):
    for word in "--help-all", "--help": # groups of commands have the second alone
        done = subprocess.run([os.path.join(bin, command[0]), *command[1:], word], capture_output=True, text=True, timeout=60)
        if done.returncode == 0:
            return done.stdout
    return None
def check_command(path, line):
    """`line` begins with tacet or tacet-lab."""
    global seen
    parts = re.split(r"[|;&<>`]", line)[0].split()
    if "…" in line or "..." in line or not os.path.exists(os.path.join(bin, parts[0])):
        return
    if parts[1:2] == ["help"]:
        return
    named = [w for w in parts[1:4] if re.fullmatch(r"[a-z][a-z-]*", w)]
    if not named or not (len(parts) > 1 and parts[1] == named[0]):
        return
    text = None
    for count in (2, 1):
        if parts[1:1 + count] == named[:count]:
            text = text or help_of(parts[0], *named[:count])
    if text is None:
        faults.append(f"{path}: there is no command '{parts[0]} {' '.join(named[:2])}'")
        return
    seen += 1
    for option in re.findall(r"(?<=\s)--[a-z][a-z0-9-]*", " " + " ".join(parts[1:])):
        if option not in ("--json", "--help", "--config", "--version") and not re.search(re.escape(option) + r"(?![a-z0-9-])", text):
            faults.append(f"{path}: '{parts[0]} {' '.join(named[:2])}' has no option {option}")
for path, text in texts.items():
    for name in set(re.findall(r"`(tacet_[a-z0-9_]*[a-z0-9])`?", text)):
        seen += 1
        if name not in words and not any(w.startswith(name + "_") for w in words):
            faults.append(f"{path}: there is no {name}")
    for name in set(re.findall(r"`(test_[a-z0-9_]+)`", text)):
        seen += 1
        if name not in words and name not in tests:
            faults.append(f"{path}: there is no test {name}")
    for name in set(re.findall(r"\(`([a-z][a-z0-9]*(?:_[a-z0-9]+){2,})` in `tests/", text)):
        seen += 1
        if name not in words:
            faults.append(f"{path}: there is no test {name}")
    joined = re.sub(r"\\\n\s*", " ", text)
    for span in re.findall(r"`((?:build/bin/)?tacet(?:-lab)? [^`\n]+(?:\n[^`\n]+)?)`", joined):
        check_command(path, span.replace("build/bin/", "").replace("\n", " "))
    for block in re.findall(r"```(?:sh|console|bash)?\n(.*?)```", joined, re.S):
        for line in block.splitlines():
            line = line.strip().lstrip("$ ").replace("build/bin/", "")
            if re.match(r"tacet(-lab)? ", line):
                check_command(path, line.split(" #")[0])
for fault in sorted(set(faults)):
    print(fault)
if seen < 400:
    print(f"only {seen} names found: the check is blind")
sys.exit(1 if faults or seen < 400 else 0)
PY
