#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# device.sh - libtacet-device is small, needs libsodium and the C library only, shows only public names, and the example
# builds against it alone, static and shared, and reports once per ticket.
set -eu
lib=${TACET_BUILD:?}/lib
source=${TACET_SOURCE:?}
cache=$TACET_BUILD/CMakeCache.txt
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "device: $*"; exit 1; }
[ -f "$lib/libtacet-device.so" ] && [ -f "$lib/libtacet-device.a" ] || fail "not built"

extra=""
case $(sed -n 's/^TACET_SANITIZE:STRING=//p' "$cache") in
address) extra=-fsanitize=address ;;
undefined) extra=-fsanitize=undefined ;;
thread) extra=-fsanitize=thread ;;
esac
grep -q '^TACET_COVERAGE:BOOL=ON' "$cache" && extra=--coverage

if [ -z "$extra" ]; then
    code=$(size "$lib/libtacet-device.so" | awk 'NR == 2 { print $1 + $2 }')
    [ "$code" -lt 102400 ] || fail "$code bytes of code and data, 102400 are allowed"
    # All it may ask of others: libsodium, mathematics, and these few of the C library. No BLAS, no SQLite, no files.
    # madvise is of a function that is left out; mold lists it all the same, and __cxa_finalize as a strong name.
    nm -D --undefined-only "$lib/libtacet-device.so" | awk '$1 == "U" { print $2 }' | sed 's/@.*//' | sort -u >"$tmp/wants"
    grep -Ev '^(sodium_(init|memzero|memcmp)|randombytes_buf|crypto_(generichash|stream_chacha20)|__register_atfork|pthread_atfork|getpid|calloc|aligned_alloc|malloc|realloc|posix_memalign|free|mem(cpy|set|cmp|move)|str(cmp|len)|v?snprintf|__(mem|v?sn|stack|str)[a-z_]*_(chk|fail)|(cbrt|exp|expm1|fmax|fmin|frexp|ldexp|floor|rint|nextafter|pow|log|log1p|sqrt|scalbn)|__isoc99_.*|madvise|__cxa_finalize)$' \
        "$tmp/wants" >"$tmp/foreign" || true
    [ ! -s "$tmp/foreign" ] || fail "it needs what it should not: $(tr '\n' ' ' <"$tmp/foreign")"
    grep -q '^crypto_stream_chacha20$' "$tmp/wants" || fail "the check sees nothing"
fi
nm -D --defined-only "$lib/libtacet-device.so" | awk '{ print $3 }' | grep -v '^_' | sort >"$tmp/shown"
grep -q '^tacet_device_report$' "$tmp/shown" || fail "tacet_device_report is not exported"
! grep -E '^tacet__|ledger|cblas' "$tmp/shown" || fail "internal names are exported"

compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$cache")
sodium=$(pkg-config --libs libsodium)
for kind in static shared; do
    if [ "$kind" = static ]; then
        libs="$lib/libtacet-device.a"
    else
        libs="-L$lib -ltacet-device -Wl,-rpath,$lib"
    fi
    # shellcheck disable=SC2086
    "$compiler" -std=c17 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror $extra -I"$source/include" \
        "$source/examples/device/report.c" $libs $sodium -lm -lpthread -o "$tmp/report"
    first=$("$tmp/report" "$tmp/$kind" round-17 0.62)
    [ "$("$tmp/report" "$tmp/$kind" round-17 0.1)" = "$first" ] || fail "$kind: a retry gave other bits"
    "$tmp/report" "$tmp/$kind" round-18 0.62 >"$tmp/out" || fail "$kind: another ticket"
    [ "$(wc -l <"$tmp/$kind")" = 2 ] || fail "$kind: not two reports stored"
    ! "$tmp/report" "$tmp/$kind" round-19 nan 2>"$tmp/err" || fail "$kind: NaN accepted"
    grep -q 'not a number' "$tmp/err" || fail "$kind: NaN refused without a reason"
done
echo "${code:-?} bytes, $(wc -l <"$tmp/shown") functions"
