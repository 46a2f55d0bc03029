#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links.sh - every relative link of every document leads to a file; what docs/architecture.md walks through is there, and
# every room stands in it; files that comments and documents name exist; the head of each C file names that file.
set -eu
cd "${TACET_SOURCE:?}"
status=0
count=0
for document in $(find . -name '*.md' -not -path './build*' -not -path './.git/*' | sort); do
    folder=$(dirname "$document")
    for link in $(grep -o '](\([^)]*\))' "$document" | sed 's/^](//; s/)$//; s/#.*//' | grep -v '^[a-z]*:' | grep . || true); do
        count=$((count + 1))
        [ -e "$folder/$link" ] || { echo "$document: $link does not exist"; status=1; }
    done
done
walked=0
for name in $(grep -oE '`((src|cli|tests|include)/[A-Za-z0-9_/.]+|tacet_[a-z0-9_]+)`' docs/architecture.md | tr -d '`' | sort -u); do
    walked=$((walked + 1))
    case $name in
    tacet_*) grep -rqw "$name" src include ;;
    *) [ -e "$name" ] ;;
    esac || { echo "docs/architecture.md: there is no $name"; status=1; }
done
long=$(awk '
    function told() { if (files > 60 || rooms > 12) print name ": " rooms " rooms, " files " files" }
    /^\*\*A / { told(); name = $0; files = rooms = 0; split("", seen) }
    name != "" { while (match($0, /`(src|cli)\/[a-z0-9_\/]+\.c`/)) {
        file = substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH)
        split(file, part, "/"); room = part[1] "/" part[2]
        if (!(file in seen)) { seen[file]; files++; lists[name]++ }
        if (!(room in seen)) { seen[room]; rooms++ } } }
    END { told(); for (n in lists) count++; if (count < 4) print "only " count + 0 " lists were found" }' docs/architecture.md)
[ -z "$long" ] || { echo "docs/architecture.md: $long"; status=1; }
for room in src/*/; do
    grep -qw "$(basename "$room")" docs/architecture.md || { echo "docs/architecture.md does not say what $room is"; status=1; }
done
# But for what is made up: files that a test plants.
named=$(grep -rohE '(^|[^A-Za-z0-9_/.-])(src|cli|lab|tests|tools|bench|include/tacet|docs|examples|proof)/[A-Za-z0-9_/.-]+\.(c|h|md|sh|py)\>' \
    --include='*.c' --include='*.h' --include='*.md' --exclude=CHANGELOG.md \
    src cli lab tests bench include docs examples proof ./*.md | sed 's,^[^a-z],,' | sort -u)
for name in $named; do
    [ -e "$name" ] || { echo "there is no $name: $(grep -rlF "$name" src cli lab tests bench include docs examples proof | tr '\n' ' ')"; status=1; }
done
[ "$(echo "$named" | wc -l)" -gt 100 ] || { echo "no file is named anywhere: the check is blind"; exit 1; }
other=$(find src cli lab tests bench include examples proof -name '*.[ch]' -exec awk '
    FNR == 2 { n = split(FILENAME, parts, "/"); if (!index($0, parts[n])) print FILENAME ": its head names another file"; nextfile }' {} +)
[ -z "$other" ] || { echo "$other"; status=1; }
[ "$walked" -gt 50 ] || { echo "docs/architecture.md names nothing: the check is blind"; exit 1; }
[ "$count" -gt 0 ] || { echo "no links found: the check is blind"; exit 1; }
[ "$status" -ne 0 ] || echo "$count links lead somewhere"
exit "$status"
