#!/bin/sh
# mint.sh - releases are minted by the gate alone: only its files include the mint, and the audit ring, which attacks made-up
# data. Raw numbers cannot be printed: nothing public hands them out.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}

# intruders ROOT: files outside the gate that include what only the gate may.
intruders() {
    (
        cd "$1"
        grep -rlE '#[[:space:]]*include[[:space:]]*"(gate/mint|base/release_mint)\.h"' src cli include 2>/dev/null |
            grep -vE '^src/(gate|audit)/|^src/base/release(\.c|_mint\.h)$' || true
    )
}
# openings ROOT: public functions that would take numbers out of tacet_raw or tacet_bounded.
openings() {
    # shellcheck disable=SC2016
    tr '\n' ' ' <"$1/include/tacet/gate/bound.h" |
        grep -oE '(const )?double \*+ *tacet_(raw|bounded)_[a-z_]*\(' || true
}

found=$(intruders "$root")
[ -z "$found" ] || { echo "mint: these may not mint releases: $found"; exit 1; }
found=$(openings "$root")
[ -z "$found" ] || { echo "mint: raw numbers would leave by $found"; exit 1; }

# The checks can fail.
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir -p "$tmp/src/open" "$tmp/include/tacet/gate" "$tmp/cli"
echo '#include "gate/mint.h"' >"$tmp/src/open/bad.c"
echo 'TACET_API const double *tacet_raw_values(const tacet_raw *raw);' >"$tmp/include/tacet/gate/bound.h"
[ "$(intruders "$tmp")" = src/open/bad.c ] || { echo "mint: an intruder is not seen"; exit 1; }
[ -n "$(openings "$tmp")" ] || { echo "mint: an opening is not seen"; exit 1; }
echo "mint: releases are minted by the gate alone"
