#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# soak.sh - `make soak` in short: real servers under load, killed with kill -9 at random moments, a full disk; then the
# stores must have everything that was acknowledged, once. On PostgreSQL with two servers where it is installed.
set -eu
SOAK_SHORT=1 SOAK_SECONDS=${SOAK_SECONDS:-8} exec "${TACET_SOURCE:?}/tools/soak" "${TACET_BUILD:?}"
