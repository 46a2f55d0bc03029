#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# exports.sh - each shared library shows exactly the functions that the public headers of its party mark TACET_API: libtacet
# those of the open rings, libtacet-trusted all of them. libtacet needs no PostgreSQL and has nothing of the gate.
set -eu
source=${TACET_SOURCE:?}
lib=${TACET_BUILD:?}/lib
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# declared FILES: the names that follow TACET_API, comments and preprocessor lines removed.
declared() {
    cat "$@" | sed 's/^[[:space:]]*#.*//' | tr '\n' ' ' | sed 's|/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/| |g' | tr '{' ';' | tr ';' '\n' |
        sed -n 's/.*TACET_API[[:space:]]//p' | sed 's/__attribute__.*//' |
        sed -n 's/^\([^(]*[^A-Za-z0-9_(]\)\{0,1\}\([A-Za-z0-9_]*\)[[:space:]]*\((.*\|\[.*\|=.*\)\{0,1\}$/\2/p' | sort -u
}

printf '/* TACET_API int no(void); */\nTACET_API const char *a_b(int x,\n  int y) __attribute__((format(printf, 1, 2)));\n#define TACET_API x\nTACET_API void c(void (*f)(int));\nint hidden(void);\nTACET_API extern const int d;\n' >"$tmp/x.h"
[ "$(declared "$tmp/x.h" | tr '\n' ' ')" = "a_b c d " ] || { echo "self-test of the header parser failed: $(declared "$tmp/x.h" | tr '\n' ' ')"; exit 1; }

status=0
# compare LIBRARY HEADERS…
compare() {
    library=$1
    shift
    cat "$@" >"$tmp/all.h"
    declared "$tmp/all.h" >"$tmp/declared"
    # Sanitizers and coverage export names of their own: reserved ones, and one of libgcov's.
    nm -D --defined-only "$lib/$library.so" | awk '{ print $NF }' | sed 's/@.*//' | grep -v -e '^_' -e '^mangle_path$' |
        sort -u >"$tmp/exported"
    if grep '^tacet__' "$tmp/exported" || grep -v '^tacet_' "$tmp/exported"; then
        echo "$library: these are exported, but are internal names"
        status=1
    fi
    if [ -n "$(comm -13 "$tmp/declared" "$tmp/exported")" ]; then
        echo "$library: exported, but not marked TACET_API in a public header of its party:"
        comm -13 "$tmp/declared" "$tmp/exported"
        status=1
    fi
    if [ -n "$(comm -23 "$tmp/declared" "$tmp/exported")" ]; then
        echo "$library: declared TACET_API, but not in the library:"
        comm -23 "$tmp/declared" "$tmp/exported"
        status=1
    fi
    [ "$status" -ne 0 ] || echo "$library: $(wc -l <"$tmp/exported") functions, as declared"
}
# What was exported at the last change that was meant to change it; sanitizers leave it alone.
"$source/tools/symbols" "$TACET_BUILD" --check || status=1
"$source/tools/gather" --check || status=1
# shellcheck disable=SC2046
compare libtacet $(sed -n 's,^#include <\(tacet/.*\)>,'"$source"'/include/\1,p' "$source/include/tacet/open.h")
# shellcheck disable=SC2046
compare libtacet-trusted $(sed -n 's,^#include <\(tacet/.*\)>,'"$source"'/include/\1,p' "$source/include/tacet/trusted.h")

# Nothing closed inside, not even hidden.
nm --defined-only "$lib/libtacet_gate.a" "$lib/libtacet_trusted.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' |
    sort -u >"$tmp/closed"
nm --defined-only "$lib/libtacet.so" | awk 'NF == 3 { print $3 }' | sort -u >"$tmp/inside"
[ -s "$tmp/closed" ] && [ -s "$tmp/inside" ] || { echo "no symbols to compare"; exit 1; }
if [ -n "$(comm -12 "$tmp/closed" "$tmp/inside")" ]; then
    echo "libtacet contains what is closed:"
    comm -12 "$tmp/closed" "$tmp/inside" | head
    status=1
fi
if ldd "$lib/libtacet.so" | grep -q libpq; then
    echo "libtacet is linked to PostgreSQL"
    status=1
fi
ldd "$lib/libtacet-trusted.so" | grep -q libpq || { echo "libtacet-trusted is not linked to PostgreSQL: the check is blind"; status=1; }
exit "$status"
