#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh - the open programs contain nothing of the gate and nothing of the trusted ring.
# The list of open programs stands here and is not read from the build, so that linking one to more shows.
set -eu
bin=${TACET_BIN:?}
lib=${TACET_BUILD:?}/lib
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

defined() { nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u; }
# In a program linkers may make local what is not exported (mold does).
inside() { nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $3 ~ /^tacet_|^main$/ { print $3 }' | sort -u; }

for ring in gate trusted served; do
    [ ! -f "$lib/libtacet_$ring.a" ] || defined "$lib/libtacet_$ring.a"
done | sort -u >"$tmp/closed"
[ -s "$tmp/closed" ] || { echo "no closed ring is built"; exit 77; }

status=0
seen=0
for program in modeler ledger report predict collector; do
    [ -x "$bin/tacet-$program" ] || continue
    seen=$((seen + 1))
    inside "$bin/tacet-$program" >"$tmp/program"
    [ -s "$tmp/program" ] || { echo "tacet-$program has no symbols to look at"; exit 1; }
    if [ -n "$(comm -12 "$tmp/closed" "$tmp/program")" ]; then
        echo "tacet-$program contains symbols of a closed ring:"
        comm -12 "$tmp/closed" "$tmp/program" | head -n 10
        status=1
    fi
done

# The comparison must be able to find something: programs that are linked to the gate.
control=0
for program in gate curator lab; do
    [ -x "$bin/tacet-$program" ] || continue
    inside "$bin/tacet-$program" | comm -12 "$tmp/closed" - | grep -q . && control=1
done
if [ "$control" -eq 0 ]; then
    for program in gate curator lab; do
        [ ! -x "$bin/tacet-$program" ] || { echo "no symbol of the gate found in tacet-$program: the check is blind"; exit 1; }
    done
fi
[ "$status" -ne 0 ] || [ "$seen" -gt 0 ] || { echo "no open program is built"; exit 77; }
[ "$status" -ne 0 ] || echo "$seen open programs, $(wc -l <"$tmp/closed") closed symbols, none shared"
exit "$status"
