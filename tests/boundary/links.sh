#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# links.sh - every relative link of every document leads to a file.
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
[ "$count" -gt 0 ] || { echo "no links found: the check is blind"; exit 1; }
[ "$status" -ne 0 ] || echo "$count links lead somewhere"
exit "$status"
