#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheels.sh - makes the wheels from this build's libraries and uses them in an environment that has nothing but Python:
# no NumPy, no cffi, no library path. tools/wheels-check does the same in bare Debian roots. Skipped, with the reason,
# where packages are missing; a failure instead when TACET_CI is set.
set -eu
build=${TACET_BUILD:?}
source=${TACET_SOURCE:?}
python=/usr/bin/python3

missing() {
    [ -z "${TACET_CI:-}" ] || { echo "$1, and TACET_CI is set: run tools/setup --with-ci"; exit 1; }
    echo "skipped: $1 (tools/setup --with-python)"
    exit 77
}
[ -z "${TACET_SANITIZE:-}" ] || { echo "skipped: not under a sanitizer"; exit 77; }
for tool in patchelf objdump; do
    command -v $tool >/dev/null || missing "no $tool"
done
for module in cffi setuptools wheel ensurepip; do
    "$python" -c "import importlib.util as u, sys; sys.exit(u.find_spec('$module') is None)" || missing "$python has no $module"
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$python" "$source/tools/wheels" --build "$build" --out "$tmp/wheels"
for set in open both; do
    "$python" -m venv "$tmp/$set"
    case $set in
    open) chosen=$(ls "$tmp"/wheels/tacet-*.whl) ;;
    both) chosen=$(ls "$tmp"/wheels/*.whl) ;;
    esac
    # shellcheck disable=SC2086
    "$tmp/$set/bin/pip" install -q --no-index $chosen
    cp "$source/README.md" "$tmp"
    (cd "$tmp" && env -i HOME="$tmp" PATH=/usr/bin:/bin "$tmp/$set/bin/python" -I "$source/python/tests/wheel_jobs.py" $set)
done
