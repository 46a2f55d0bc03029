#!/bin/sh
# exports.sh - the shared library shows exactly the functions that the public headers mark TACET_API.
set -eu
source=${TACET_SOURCE:?}
library=${TACET_BUILD:?}/lib/libtacet.so
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

find "$source/include/tacet" -name '*.h' -exec cat {} + >"$tmp/all.h"
declared "$tmp/all.h" >"$tmp/declared"
# Sanitizers and coverage export names of their own: reserved ones, and one of libgcov's.
nm -D --defined-only "$library" | awk '{ print $NF }' | sed 's/@.*//' | grep -v -e '^_' -e '^mangle_path$' | sort -u >"$tmp/exported"
status=0
if grep '^tacet__' "$tmp/exported" || grep -v '^tacet_' "$tmp/exported"; then
    echo "these are exported, but are internal names"
    status=1
fi
if [ -n "$(comm -13 "$tmp/declared" "$tmp/exported")" ]; then
    echo "exported, but not marked TACET_API in a public header:"
    comm -13 "$tmp/declared" "$tmp/exported"
    status=1
fi
if [ -n "$(comm -23 "$tmp/declared" "$tmp/exported")" ]; then
    echo "declared TACET_API, but not in the library:"
    comm -23 "$tmp/declared" "$tmp/exported"
    status=1
fi
[ "$status" -ne 0 ] || echo "$(wc -l <"$tmp/exported") functions, as declared"
exit "$status"
