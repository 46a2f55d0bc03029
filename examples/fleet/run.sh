#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [DEVICES] - makes a study, serves it, and lets a fleet of simulated devices (default 1000) take part: the local
# model from end to end. Needs a built tree: make all.
set -eu
devices=${1:-1000}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${TACET_BUILD:-$root/build}
tacet=$build/bin/tacet
work=$(mktemp -d)
server=
cleanup() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

# The fleet, as somebody who has the libraries builds it. An instrumented build needs the same runtime in the program.
extra=""
case $(sed -n 's/^TACET_SANITIZE:STRING=//p' "$build/CMakeCache.txt") in
address) extra=-fsanitize=address ;;
undefined) extra=-fsanitize=undefined ;;
thread) extra=-fsanitize=thread ;;
esac
! grep -q '^TACET_COVERAGE:BOOL=ON' "$build/CMakeCache.txt" || extra=--coverage
# shellcheck disable=SC2046,SC2086
cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -O2 $extra -pthread -I"$root/include" "$root/examples/fleet/fleet.c" \
    "$build/lib/libtacet-device.a" $(pkg-config --cflags --libs libcurl jansson libsodium) -lm -o "$work/fleet"

# A study over 21 places in [0, 1], rewards in [0, 1], eps 1 for each report; keys and a token for the devices.
awk 'BEGIN { print "x"; for (i = 0; i <= 20; i++) print i / 20 }' >"$work/places.csv"
"$tacet" study create --store "$work/studies" --name fleet --trust local --eps 1 --points "$work/places.csv" --inputs x \
    --lengthscale 0.2 --range 0:1 >"$work/created"
"$tacet" study token --store "$work/studies" --role device --study fleet >"$work/token"
"$tacet" study token --store "$work/studies" --role owner >"$work/owner"
"$tacet" server init --dir "$work/keys" >"$work/init"
"$tacet" server --store "$work/studies" --keys "$work/keys" --listen 127.0.0.1:0 --ready-file "$work/ready" \
    >"$work/server.log" 2>&1 &
server=$!
tries=0
until [ -s "$work/ready" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 300 ] && kill -0 "$server" || { cat "$work/server.log"; exit 1; }
    sleep 0.1
done
url=$(cat "$work/ready")

"$work/fleet" "$url" fleet "$work/keys/ca.pem" "$work/token" "$devices"
# What was learnt, from noisy reports alone. The best place is 0.7.
curl -sS --cacert "$work/keys/ca.pem" -H "Authorization: Bearer $(cat "$work/owner")" -X POST -d '{}' \
    "$url/v1/studies/fleet/releases"
echo
"$tacet" study status --store "$work/studies"
