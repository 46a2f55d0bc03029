#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links.sh - every relative link of every document leads to a file, and what docs/architecture.md walks through is there.
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
[ "$walked" -gt 50 ] || { echo "docs/architecture.md names nothing: the check is blind"; exit 1; }
[ "$count" -gt 0 ] || { echo "no links found: the check is blind"; exit 1; }
[ "$status" -ne 0 ] || echo "$count links lead somewhere"
exit "$status"
