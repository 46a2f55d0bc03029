#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# documents.sh - every document is two clicks from README.md at most, and what documents name is there:
# commands and their options as the programs tell them, symbols of C and Python, make targets, files, tests, requests,
# and the headings that links lead to. A page that a command writes says which, and at which commit.
set -eu
cd "${TACET_SOURCE:?}"
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 - "${TACET_BIN:?}" <<'END'
import os, re, subprocess, sys
from pathlib import Path

bins = sys.argv[1]
wrong = []


def ask(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout


def known_files():
    for folder, below, here in os.walk("."):
        below[:] = [b for b in below if not b.startswith((".", "build")) and b != "node_modules"]
        for name in here:
            yield os.path.normpath(os.path.join(folder, name))


files = sorted(known_files())
documents = {name: Path(name).read_text() for name in files if name.endswith(".md")}

# Two clicks.
links = {}
for name, text in documents.items():
    to = (re.sub("#.*", "", link) for link in re.findall(r"\]\(([^)]+)\)", text) if ":" not in link)
    links[name] = {os.path.normpath(os.path.join(os.path.dirname(name), link)) for link in to if link}
reached = {"README.md"}
for click in range(2):
    reached |= {to for name in reached if name in links for to in links[name]}
folders = {name for name in reached if os.path.isdir(name)}
for name in documents:
    if name not in reached and os.path.dirname(name) not in folders:
        wrong.append(f"{name} is more than two clicks from README.md")

# Pages that commands write, as the Makefile has them: their first lines.
written = re.findall(r"^([a-z]+): .*\n\t.*?\b(docs/\w+\.md)", Path("Makefile").read_text(), re.M)
assert len(written) == 5, f"the check is blind: {written}"
for target, name in written:
    head = " ".join(documents.get(name, "")[:900].split())
    if f"`make {target}`" not in head or not re.search(r"\bat commit [0-9a-f]{10}\b", head):
        wrong.append(f"{name} does not say that `make {target}` made it, and at which commit")

# Commands and their options.
commands, forms = {}, {}
for program in sorted(p for p in os.listdir(bins) if p.startswith("tacet-")):
    for name in ask(f"{bins}/{program}", "--commands").splitlines():
        told = [line.split("\t") for line in ask(f"{bins}/{program}", *name.split(), "--options").splitlines()]
        commands[name] = {option for option, _, _ in told}
        for option, word, _ in told:
            forms.setdefault(option, []).append((f"{bins}/{program}", name, word))
everywhere = {"help", "help-all", "version", "json", "commands", "options"}
# One option means one thing: the same word for its value, and the same kind of value, wherever it is. A list, X,…, is of
# the kind of X; of one with names, A=X,…, a command says nothing before it knows them.
written = {"out", "state"}  # what a command writes: one FILE, or several in a DIR
for option, used in sorted(forms.items()):
    words, kinds = {}, {}
    for program, name, word in used if len(used) > 1 and option not in everywhere | {"config"} else []:
        words.setdefault(re.sub("^A=|,…$", "", word), []).append(name)
        if not word.startswith("A="):
            said = subprocess.run([program, *name.split(), f"--{option}=,", "--options"], capture_output=True, text=True).stderr
            kinds.setdefault(re.search("takes no value|finite|whole|LO:HI|$", said)[0] or "text", []).append(name)
    for means in words, kinds:
        if len(means) > 1 and not (option in written and set(means) == {"FILE", "DIR"}):
            wrong.append(f"--{option} is " + "; ".join(f"{what} in {', '.join(names)}" for what, names in means.items()))
for name in ("server", "collector"):
    for option in re.findall(r"^#?([a-z-]+) = ", Path(f"packaging/{name}.conf").read_text(), re.M):
        if option not in commands[name]:
            wrong.append(f"packaging/{name}.conf: tacet {name} has no option {option}")
all_options = set().union(*commands.values()) | everywhere
tools = " ".join(Path(name).read_text(errors="replace") for name in files if re.match(r"(tools|bench|examples|packaging|tests/support|python|web/device|proof)/", name) and not name.endswith(".md")
                 and os.path.getsize(name) < 300000)
tool_options = set(re.findall(r"--([a-z][a-z0-9-]*)", tools))
headers = " ".join(Path(name).read_text(errors="replace") for name in files if name.endswith((".h", ".c", ".cdef")))
words_of_c = set(re.findall(r"\btacet_\w+", headers))
targets = set(re.findall(r"[\w-]+", " ".join(re.findall(r"^([\w% -]+):", Path("Makefile").read_text(), re.M))))
counted = {"commands": 0, "options": 0, "symbols": 0, "targets": 0}
foreign = re.compile(r"\b(curl|git|pip|cmake|ctest|docker|buildah|podman|debootstrap|apt-get|psql|pg_\w+|systemctl|journalctl|gpg|openssl|sqlite3|valgrind|npm|node|tools/|bench/|examples/|tests/|\w+\.py|chromium|dpkg)")


def spans(text):
    """Code spans, and lines of fenced shell, continued lines joined."""
    for block in re.findall(r"^ *```(?:sh|bash)?\n(.*?)^ *```", text, re.M | re.S):
        yield from block.replace("\\\n", " ").splitlines()
    yield from (span.replace("\n", " ") for span in re.findall(r"`([^`]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)))


for name, text in documents.items():
    if name in ("CHANGELOG.md", "docs/known-vulnerabilities.md"):  # they name what is gone
        continue
    for span in spans(text):
        for symbol in re.findall(r"\btacet_[a-z0-9_]+\b(?![*…/.-])", span):
            counted["symbols"] += 1
            if symbol not in words_of_c and not any(w.startswith(symbol) for w in words_of_c) and symbol not in tools:
                wrong.append(f"{name}: there is no symbol {symbol}")
        for target in re.findall(r"^(?:\w+=\S+ )*make ([a-z][\w-]*)", span):
            counted["targets"] += 1
            if target not in targets:
                wrong.append(f"{name}: there is no target 'make {target}'")
        for part in re.split(r"\|\||&&|[|;]| > ", span):
            asked = re.search(r"(?:^|[\s/])tacet(?:-\w+)? +([a-z-]+)(?: +([a-z-]+))?", part)
            here = None
            if asked and not re.match(r"^(for|in|the|and|is)$", asked[1]):
                both = f"{asked[1]} {asked[2]}"
                here = both if both in commands else asked[1] if asked[1] in commands else None
                firsts = {c.split()[0] for c in commands} | {"help"}
                counted["commands"] += 1
                if asked[1] not in firsts:
                    wrong.append(f"{name}: there is no command 'tacet {asked[1]}'")
                elif asked[1] not in commands and asked[1] != "help" and asked[2] and both not in commands:
                    wrong.append(f"{name}: there is no command 'tacet {both}'")
            for option in re.findall(r"(?<![\w-])--([a-z][a-z0-9-]*)", part):
                counted["options"] += 1
                if here is not None and not foreign.search(part):
                    there = option in commands[here] or option in everywhere
                else:
                    there = option in all_options or foreign.search(part) or option in tool_options
                if not there:
                    wrong.append(f"{name}: {f'tacet {here} has no' if here else 'there is no'} option --{option}")
# Files, tests, identifiers and requests that a code span is, whole; headings that links lead to.
roots = {name.split("/")[0] for name in files if "/" in name}
folders = {os.path.dirname(name) for name in files}
folders |= {parent for name in folders for parent in (name.rsplit("/", n)[0] for n in range(1, name.count("/") + 1))}
bare = {os.path.basename(name) for name in files}
made = re.compile(r"(example|score)\.(c|py)|server\.pem")  # what a page itself writes
everything = " ".join(Path(name).read_text(errors="replace") for name in files if not name.endswith((".md", ".png", ".json")) and os.path.getsize(name) < 300000)
identifiers = set(re.findall(r"\w+", everything))
pythonic = set(re.findall(r"\w+", " ".join(Path(name).read_text() for name in files if name.startswith("python/") and name.endswith(".py"))))
requests = set(re.findall(r"[a-z]+", Path("docs/openapi.json").read_text() + " ".join(
    Path(name).read_text() for name in files if re.match(r"src/(outsourced/trusted/(routes|desk_\w+)|pages/\w+)\.c", name))))


def is_file(name, document):
    places = (name, os.path.join(os.path.dirname(document), name), f"include/{name}", f"src/{name}", f"python/{name}")
    if any(os.path.exists(place) for place in places) or name.rstrip("/") in folders:
        return True
    shape = re.compile("(.*/)?" + re.escape(name.rstrip("/")).replace(r"\*", "[^/]*") + "(/.*)?")
    return any(shape.fullmatch(known) for known in files)


def headings(text):
    lines = re.findall(r"^#+ (.*)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w -]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line)).strip().lower().replace(" ", "-") for line in lines}


counted.update(files=0, tests=0, identifiers=0, requests=0, headings=0)
for name, text in documents.items():
    for link in re.findall(r"\]\(([^):]*#[^)]+)\)", text):
        to, heading = link.split("#")
        to = os.path.normpath(os.path.join(os.path.dirname(name), to)) if to else name
        counted["headings"] += 1
        if to in documents and heading not in headings(documents[to]):
            wrong.append(f"{name}: {to} has no heading #{heading}")
    if name in ("CHANGELOG.md", "docs/known-vulnerabilities.md"):
        continue
    for span in re.findall(r"`([^`\s]+)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S)):
        path = re.sub(r":\w.*", "", span)
        if re.fullmatch(r"[\w.*-]+(/[\w.*-]*)+", path) and path.split("/")[0] in roots - {"build"} or re.fullmatch(r"tacet/[\w/]+\.h", path) or \
                re.fullmatch(r"\w[\w.-]*\.(c|h|py|sh|md|ts|mjs|cdef)", path) and not made.fullmatch(path):
            counted["files"] += 1
            if not is_file(path, name):
                wrong.append(f"{name}: there is no file {path}")
        elif (found := re.fullmatch(r"([a-z0-9]+)\.([a-z0-9_]+)", span)) and os.path.isdir(f"tests/{found[1]}") and \
                found[2] not in ("js", "html", "wasm", "json", "csv", "persisted"):
            counted["tests"] += 1
            if not any(f"tests/{found[1]}/{stem}" in files for stem in (f"test_{found[2]}.c", f"{found[2]}.sh", f"test_{found[2]}.py")):
                wrong.append(f"{name}: there is no test {span}")
        elif re.fullmatch(r"\$?TACET_[A-Z0-9_]*[A-Z0-9]|[a-z0-9]+(_[a-z0-9]+){3,}", span):
            counted["identifiers"] += 1
            if span.lstrip("$") not in identifiers:
                wrong.append(f"{name}: nothing is called {span}")
        elif found := re.match(r"(?:tacet|trusted)((?:\.\w+)+)", span):
            counted["identifiers"] += 1
            if not set(found[1].split(".")[1:]) <= pythonic | {"db", "json"}:
                wrong.append(f"{name}: Python has no {found[0]}")
    for program in set(re.findall(r"build/bin/(\w[\w-]*)", text)):
        counted["files"] += 1
        source = re.sub(r"^test_([a-z]+)_(\w+)$", r"tests/\1/test_\2.c", program)
        if not os.path.exists(f"{bins}/{program}") and source not in files and f"bench/{program}.c" not in files:
            wrong.append(f"{name}: there is no build/bin/{program}")
    for path in re.findall(r"`(?:GET|POST|DELETE) (/v1[^`?\s]*)", text):
        counted["requests"] += 1
        if not set(re.findall(r"[a-z]+", re.sub(r"\{\w+\}|NAME|[A-Z]\b", "", path[3:]))) <= requests:
            wrong.append(f"{name}: there is no request {path}")
    for line in re.findall(r"^    +(tacet [a-z].*)$", re.sub(r"^ *```.*?^ *```", "", text, flags=re.M | re.S), re.M):
        words = line.split("#")[0].split()
        here = " ".join(words[1:3]) if " ".join(words[1:3]) in commands else words[1]
        if here not in commands:
            wrong.append(f"{name}: there is no command 'tacet {here}'")
        else:
            wrong += [f"{name}: tacet {here} has no option {word}" for word in words if word.startswith("--") and word[2:] not in commands[here] | everywhere]
# What the programs say of themselves: an example has options of its command, prose of any.
for program in sorted(p for p in os.listdir(bins) if p.startswith("tacet-")):
    for name in ask(f"{bins}/{program}", "--commands").splitlines():
        prose, _, examples = ask(f"{bins}/{program}", *name.split(), "--help-all").partition("\nExamples:\n")
        for here, text in [(None, prose)] + [(re.match(r"(?:.*?\b)tacet(?:-\w+)? (.*)", line), line) for line in examples.splitlines() if "tacet" in line]:
            here = here and max((c for c in commands if f"{here[1]} ".startswith(f"{c} ")), key=len, default=None)
            for option in re.findall(r"(?<![\w-])--([a-z][a-z-]*)", text):
                counted["options"] += 1
                if option not in (commands[here] | everywhere if here else all_options):
                    wrong.append(f"{name} --help: {f'tacet {here} has no' if here else 'there is no'} option --{option}")
for line in sorted(set(wrong)):
    print(line)
assert all(count > 20 for count in counted.values()), f"the check is blind: {counted}"
print(", ".join(f"{count} {what}" for what, count in counted.items()) + f" in {len(documents)} documents")
sys.exit(bool(wrong))
END
