#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardening.sh - every program and library of the build tree has no empty or relative entry in its run path, is
# position-independent, has its relocations bound and read-only before it runs, and canaries and checked calls in its
# code. The check itself is tried on files that have none of it. tests/install and tests/python do the same with what is
# installed and with Python's extensions.
set -eu
build=${TACET_BUILD:?}
. "${TACET_SOURCE:?}/tests/support/elf.sh"
[ -z "${TACET_SANITIZE:-}" ] || { echo "skipped: a sanitizer has other rules"; exit 77; }
command -v readelf >/dev/null || { echo "skipped: readelf is not installed (package binutils)"; exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
release=$(grep -c '^CMAKE_BUILD_TYPE:.*=Release' "$build/CMakeCache.txt" || true)
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")

# What was built without any of it, or with a run path that ends in nothing, is found.
printf 'int main(void) { return 0; }\n' >"$tmp/a.c"
"$compiler" "$tmp/a.c" -o "$tmp/bare" -no-pie -fno-stack-protector -Wl,-z,norelro -Wl,-z,lazy -Wl,-z,execstack -Wl,-rpath,lib 2>/dev/null
"$compiler" "$tmp/a.c" -o "$tmp/empty" -pie -fPIE -Wl,-z,relro,-z,now -Wl,-rpath,/usr/lib: 2>/dev/null
[ "$({ elf_check "$tmp/bare"; elf_guarded "$tmp/bare"; } | wc -l)" = 7 ] ||
    { echo "the check does not see what is missing:"; elf_check "$tmp/bare"; elf_guarded "$tmp/bare"; exit 1; }
elf_check "$tmp/empty" | grep -q "entry ''" || { echo "the check does not see an empty entry"; exit 1; }

{
    find "$build/bin" -maxdepth 1 -type f -name 'tacet*' -perm -100
    find "$build/lib" -type f -name '*.so*'
} >"$tmp/files"
while read -r file; do
    elf_check "$file"
    [ "$release" = 0 ] || elf_guarded "$file" # a debug build has no checked calls
done <"$tmp/files" >"$tmp/wrong"
[ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; exit 1; }
[ "$(wc -l <"$tmp/files")" -ge 15 ] || { echo "only $(wc -l <"$tmp/files") files were found"; exit 1; }
echo "$(wc -l <"$tmp/files") programs and libraries"
