#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fleet.sh - examples/fleet with 60 devices: every report acknowledged, and the study has exactly them.
. "${TACET_SOURCE:?}/tests/support/e2e.sh"
need curl
TACET_BUILD=${TACET_BUILD:?} "${TACET_SOURCE:?}/examples/fleet/run.sh" 60 >"$work/out" 2>&1 || fail "failed"
grep -q '^60 devices, 180 reports acknowledged, .*, 0 devices failed$' "$work/out" || fail "not all reports arrived"
grep -q '"kind":"best"' "$work/out" || fail "no release"
grep -E '^fleet .*180' "$work/out" >/dev/null || fail "the study does not have 180 observations"
head -n 1 "$work/out"
