#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# proofs.sh - every page that proves something of privacy says what it assumes, and what holds each assumption that a caller
# could break: a test that exists, or a type of the public headers; and docs/evaluation.md says how the proof was checked.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}

# pages ROOT: the gate's own, and whatever else has a proof.
pages() {
    (
        cd "$1"
        { find src/dp -name '*.md'; grep -rlE '\*Proof\.|∎' src --include='*.md' || true; } | sort -u
    )
}
# lacking ROOT PAGE: what is wrong with a page, a line each.
lacking() {
    text=$(sed -n '/^## Assumptions/,$p' "$1/$2")
    echo "$text" | grep -q '^Assumes: ' || echo "no line 'Assumes:'"
    rows=$(echo "$text" | grep '^| ' | grep -vE '^\| (assumption|---)' || true)
    [ -n "$rows" ] || echo "no assumption that anything holds"
    echo "$rows" | grep -vE '\| (test: [a-z0-9]+\.[a-z0-9_]+|type: tacet_[a-z0-9_]+) \|$' | sed '/^$/d; s/^/nothing holds: /' || true
    for name in $(echo "$rows" | sed -n 's/.*| test: \([a-z0-9._]*\) |$/\1/p'); do
        room=${name%%.*} stem=${name#*.}
        [ -f "$1/tests/$room/test_$stem.c" ] || [ -f "$1/tests/$room/$stem.sh" ] || echo "no test $name"
    done
    for name in $(echo "$rows" | sed -n 's/.*| type: \([a-z0-9_]*\) |$/\1/p'); do
        grep -rqE "typedef struct $name( $name;| \{)" --include="*.h" "$1/include" "$1/src" || echo "no type $name"
    done
}

count=0
for page in $(pages "$root"); do
    found=$(lacking "$root" "$page")
    [ -z "$found" ] || { echo "proofs: $page: $found"; exit 1; }
    grep -qF "(../$page)" "$root/docs/evaluation.md" || { echo "proofs: docs/evaluation.md does not say how $page was checked"; exit 1; }
    count=$((count + 1))
done
[ "$count" -ge 15 ] || { echo "proofs: only $count pages were found"; exit 1; }

# Every mechanism, and levels and reports beside them, names such a page, with a proof on it.
proofs=$(sed -n 's/.*\.proof = "\([^"]*\)".*/\1/p' "$root"/src/dp/mechanisms/*.c)
[ "$(echo "$proofs" | wc -l)" -ge 7 ] || { echo "proofs: the mechanisms name too few: $proofs"; exit 1; }
for page in $proofs dp/mechanisms/randomizers.md; do
    grep -qF '*Proof.*' "$root/src/$page" || { echo "proofs: src/$page has no proof"; exit 1; }
done

# The checks can fail.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/src/dp" "$tmp/src/room" "$tmp/include" "$tmp/tests/dp"
: >"$tmp/tests/dp/test_there.c"
good='## Assumptions\nAssumes: a thing.\n\n| assumption | held by |\n| --- | --- |\n| a thing | test: dp.there |\n'
# shellcheck disable=SC2059
printf "$good" >"$tmp/src/dp/a.md"
[ -z "$(lacking "$tmp" src/dp/a.md)" ] || { echo "proofs: a good page is refused"; exit 1; }
for change in '/^Assumes/d' 's/dp\.there/dp.gone/' 's/test: dp.there/hope/' 's/test: dp.there/type: tacet_none/' '/there/d'; do
    sed "$change" "$tmp/src/dp/a.md" >"$tmp/src/dp/b.md"
    [ -n "$(lacking "$tmp" src/dp/b.md)" ] || { echo "proofs: '$change' is not noticed"; exit 1; }
done
echo '*Proof.* So it is. ∎' >"$tmp/src/room/c.md"
pages "$tmp" | grep -q src/room/c.md || { echo "proofs: a proof outside the gate is not seen"; exit 1; }
echo "proofs: $count pages say what they assume, and what holds it"
