#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# formats.sh - every format that a source names is on the page of formats, none has a version above 1, and nothing is migrated.
set -eu
cd "${TACET_SOURCE:?}"
page=docs/formats.md
for name in $(grep -rhoE '"tacet-[a-z-]+-[0-9]+"' src cli --include='*.[ch]' | tr -d '"' | sort -u); do
    grep -q "$name" $page || { echo "formats: $name is not on $page"; exit 1; }
    case $name in *-1) ;; *) echo "formats: $name is of a version above 1"; exit 1 ;; esac
done
! grep -rnE '\b(STATE_|ANSWER_|LEDGER_)?VERSION = ([2-9]|[1-9][0-9])' src --include='*.[ch]' || { echo "formats: a version above 1"; exit 1; }
! grep -rn 'OLD_VERSION' src --include='*.[ch]' || { echo "formats: a reader of what was before"; exit 1; }
echo "formats: $(grep -c '^| ' $page) lines, all at version 1"
