#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# stamps.sh - simulations draw seeded noise: none of them may call its output private.
set -eu
bin=${TACET_BIN:?}
check() { "$bin/tacet-lab" simulate "$@" --trials 1 --json 2>/dev/null | grep -q '"private": *false' || { echo "simulate $1: not stamped"; exit 1; }; }
check outsourced --world grid --queries 5 --mechanism gaussian
check outsourced --world grid --queries 5 --mechanism laplace
check contextual --rounds 500
check contextual --rounds 500 --algorithm published
check central --rounds 40
check central --world local-statistics --rounds 40
check local --rounds 40
"$bin/tacet-lab" simulate outsourced --world grid --queries 5 --trials 1 2>/dev/null | grep -q 'not private' || { echo "the words do not say so"; exit 1; }
