#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# licence.sh - every source file names its licence in its first lines.
set -eu
cd "${TACET_SOURCE:?}"
command -v git >/dev/null && [ -e .git ] || { echo "no clone: nothing to list"; exit 77; }
missing=$(git ls-files '*.c' '*.h' '*.ts' '*.js' '*.css' '*.sh' '*.py' '*.awk' '*.cmake' '*CMakeLists.txt' Makefile 'tools/*' .ci/run |
    xargs -d '\n' awk '
        function done() { if (file != "" && !named) print file }
        FNR == 1 { done(); file = FILENAME; named = 0 }
        /SPDX-License-Identifier: Apache-2.0/ { named = 1 }
        FNR == 4 { nextfile }
        END { done() }')
[ -z "$missing" ] || { echo "no licence identifier:"; echo "$missing"; exit 1; }
echo "every source file names its licence"
