#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# licence.sh - every source file names its licence in its first lines.
set -eu
cd "${TACET_SOURCE:?}"
command -v git >/dev/null && [ -e .git ] || { echo "no clone: nothing to list"; exit 77; }
missing=$(git ls-files '*.c' '*.h' '*.ts' '*.js' '*.css' '*.sh' '*.py' '*.awk' '*.cmake' '*CMakeLists.txt' Makefile 'tools/*' .ci/run |
    while read -r file; do
        [ ! -s "$file" ] || head -n 4 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file"
    done)
[ -z "$missing" ] || { echo "no licence identifier:"; echo "$missing"; exit 1; }
echo "every source file names its licence"
