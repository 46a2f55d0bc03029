#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# pytest.sh - builds the Python packages and runs their tests with Debian's Python. Skipped, with the reason, where its
# packages are not installed; a failure instead when TACET_CI is set.
set -eu
build=${TACET_BUILD:?}
source=${TACET_SOURCE:?}
python=/usr/bin/python3

missing() {
    [ -z "${TACET_CI:-}" ] || { echo "$1, and TACET_CI is set: run tools/setup --with-ci"; exit 1; }
    echo "skipped: $1 (tools/setup --with-ci)"
    exit 77
}
[ -x "$python" ] || missing "no $python"
for module in cffi setuptools numpy pandas pytest matplotlib optuna sklearn dask distributed nbconvert ipykernel mypy; do
    "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$module') is None)" || missing "$python has no $module"
done
# A sanitizer's runtime must be there before Python's own code; Python itself frees less than LeakSanitizer likes.
preload="" chosen=""
case $(sed -n 's/^TACET_SANITIZE:STRING=//p' "$build/CMakeCache.txt") in
"") ;;
address)
    preload=$(gcc -print-file-name=libasan.so)
    chosen="not installs_from_the_clone" # pip builds without the sanitizer that the library has
    export TACET_PYTHON_CFLAGS=-fsanitize=address ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    ;;
*) echo "skipped: not under this sanitizer"; exit 77 ;;
esac
tmp=$(TMPDIR=$([ -w /dev/shm ] && echo /dev/shm || echo "${TMPDIR:-/tmp}") mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$source/tools/python" "$build"
if command -v readelf >/dev/null; then
    . "$source/tests/support/elf.sh"
    find "$build/python" -name '*.so' | while read -r file; do elf_check "$file"; done >"$tmp/wrong"
    [ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; exit 1; }
fi
cd "$source/python"
LD_PRELOAD="$preload" TMPDIR="$tmp" HOME="$tmp" TACET_BIN="$build/bin" PYTHONPATH="$build/python" PYTHONDONTWRITEBYTECODE=1 \
    "$python" -m pytest -q -p no:cacheprovider -k "$chosen" tests
