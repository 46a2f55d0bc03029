#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fleet.sh - examples/fleet with 60 devices: every report acknowledged, and the study has exactly them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { cat "$work/out"; echo "fleet: $*"; exit 1; }
command -v curl >/dev/null 2>&1 || { echo "skipped: curl is not installed"; exit 77; }
TACET_BUILD=${TACET_BUILD:?} "${TACET_SOURCE:?}/examples/fleet/run.sh" 60 >"$work/out" 2>&1 || fail "failed"
grep -q '^60 devices, 180 reports acknowledged, .*, 0 devices failed$' "$work/out" || fail "not all reports arrived"
grep -q '"kind":"best"' "$work/out" || fail "no release"
grep -E '^fleet .*180' "$work/out" >/dev/null || fail "the study does not have 180 observations"
head -n 1 "$work/out"
