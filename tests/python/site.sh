#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# site.sh - makes the pages of tools/site and looks at them: the documents, headers and docstrings are among them, each is
# two clicks from the first page at most, they are searched without a network, and nothing is fetched from elsewhere.
# Skipped, with the reason, where Sphinx or MyST is not installed.
set -eu
build=${TACET_BUILD:?}
source=${TACET_SOURCE:?}
git -C "$source" rev-parse --git-dir >/dev/null 2>&1 || { echo "skipped: the sources are no clone"; exit 77; }
"$source/tools/site" "$build" >"$build/site.log" 2>&1 || { code=$?; tail -n 20 "$build/site.log"; exit $code; }
/usr/bin/python3 - "$build/site/html" "$source" <<'END'
import html.parser, pathlib, sys, urllib.parse

top, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])

class Links(html.parser.HTMLParser):
    def __init__(self, page):
        super().__init__()
        self.page, self.to, self.fetched = page, set(), []
        self.feed(page.read_text())
    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        to = given.get("href") if tag == "a" else given.get("action") if tag == "form" else None
        if to:
            parts = urllib.parse.urlsplit(to)
            if not parts.scheme and parts.path.endswith(".html"):
                self.to.add((self.page.parent / urllib.parse.unquote(parts.path)).resolve())
        if tag in ("script", "link", "img"):
            self.fetched.append(given.get("src") or given.get("href") or "")

pages = {page.resolve() for page in top.rglob("*.html")}
reached = {top / "index.html"}
for click in range(2):
    reached |= {to for page in reached if page in pages for to in Links(page).to}
assert not pages - reached, f"more than two clicks away: {sorted(pages - reached)[:5]}"
remote = [(page.name, address) for page in pages for address in Links(page).fetched if "//" in address]
assert not remote, f"fetched from elsewhere: {remote[:5]}"
wanted = ["docs/API.html", "src/dp/mechanisms/gaussian.html", "include/tacet/space/space.html", "docs/tutorials/devices.html"]
missing = [name for name in wanted if not (top / name).is_file()]
assert not missing, missing
index = (top / "searchindex.js").read_text()
assert "tacet_space_" in index and len(pages) > 120, len(pages)
print(f"{len(pages)} pages, each two clicks away at most")
END
