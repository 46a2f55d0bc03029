#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mint.sh - releases are minted by the gate alone: only its files include the mint, and the audit ring, which attacks made-up
# data. Raw numbers cannot be printed: no header hands them out.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}

# intruders ROOT: files outside the gate that include what only the gate may.
intruders() {
    (
        cd "$1"
        grep -rlE '#[[:space:]]*include[[:space:]]*"(dp/mint|dp/open/release_mint)\.h"' src cli lab include 2>/dev/null |
            grep -vE '^src/audit/|^src/dp/([a-z_]*\.[ch]|(noise|mechanisms|ledger)/.*)$|^src/dp/open/release(\.c|_mint\.h)$' || true
    )
}
# openings ROOT: functions that would take numbers out of tacet_raw or tacet_bounded.
openings() {
    # shellcheck disable=SC2016
    tr '\n' ' ' <"$1/src/dp/bound.h" |
        grep -oE '(const )?double \*+ *tacet_(raw|bounded)_[a-z_]*\(' || true
}

found=$(intruders "$root")
[ -z "$found" ] || { echo "mint: these may not mint releases: $found"; exit 1; }
# Keys become noise in the gate, in the device, whose store is its own, and in nobody else's hands; nothing public opens a
# private source.
found=$(cd "$root" && grep -rlE '#[[:space:]]*include[[:space:]]*"dp/noise/(mint|noise_state)\.h"' src cli lab 2>/dev/null |
    grep -vE '^src/dp/|^src/audit/|^src/local/trusted/device\.c$|^src/outsourced/trusted/(curate_pass\.h|desk\.c)$' || true)
[ -z "$found" ] || { echo "mint: these may not make private noise: $found"; exit 1; }
found=$(grep -rhoE 'tacet_noise_open[a-z_]*' "$root/include" | sort -u | grep -vE '^tacet_noise_open_(sample|seeded)$' || true)
[ -z "$found" ] || { echo "mint: noise of no reservation: $found"; exit 1; }
found=$(openings "$root")
[ -z "$found" ] || { echo "mint: raw numbers would leave by $found"; exit 1; }

# The checks can fail.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/src/local/open" "$tmp/src/dp/open" "$tmp/cli"
echo '#include "dp/mint.h"' >"$tmp/src/local/open/bad.c"
echo '#include "dp/mint.h"' >"$tmp/src/dp/open/bad.c"
echo 'const double *tacet_raw_values(const tacet_raw *raw);' >"$tmp/src/dp/bound.h"
[ "$(intruders "$tmp" | wc -l)" -eq 2 ] || { echo "mint: an intruder is not seen"; exit 1; }
[ -n "$(openings "$tmp")" ] || { echo "mint: an opening is not seen"; exit 1; }
echo "mint: releases are minted by the gate alone"
