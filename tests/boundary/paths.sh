#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# paths.sh - every file outside the gate that hands something to a draw is named in tests/sensitivity/README.md, with the test
# that searches how far one record moves what it hands over, and with the targets of `tacet audit` that attack it; and every
# file named there does so. Which files those are is computed from the symbols of the built objects.
set -eu
root=${TACET_SOURCE:-$(dirname "$0")/../..}
build=${TACET_BUILD:?}
[ -d "$build/src/CMakeFiles/tacet_trusted.dir" ] || { echo "paths: no objects of the trusted ring"; exit 77; }
draws='tacet_mechanism_run|tacet_table_open|tacet_table_borrow|tacet__report_draw|tacet__report_draw_among'
page=$root/tests/sensitivity/README.md

# paths BUILD: files below src, without the gate itself and the audits, that refer to a draw.
paths() {
    find "$1/src/CMakeFiles" -name '*.c.o' | while read -r object; do
        file=$(echo "$object" | sed 's,.*\.dir/\(.*\)\.o$,\1,')
        case $file in dp/* | audit/*) continue ;; esac
        [ -f "$root/src/$file" ] || continue # of a file that was deleted since
        ! nm -u "$object" | grep -qwE "$draws" || echo "$file"
    done | sort -u
}
found=$(paths "$build")
[ -n "$found" ] || { echo "paths: nothing hands anything to a draw, which cannot be"; exit 1; }
named=$(sed -n 's/^| `\([^`]*\.c\)` | `[^|]*` | [^|]* |$/\1/p' "$page" | sort -u)
targets=$("$build/bin/tacet-audit" audit list | awk '{ print $1 }')
for file in $found; do
    echo "$named" | grep -qxF "$file" || { echo "paths: src/$file hands something to a draw, and no test of sensitivity is named for it"; exit 1; }
done
for file in $named; do
    echo "$found" | grep -qxF "$file" || { echo "paths: src/$file is named in tests/sensitivity/README.md, and hands nothing to a draw"; exit 1; }
    attacks=$(sed -n "s,^| \`$file\` | [^|]* | \(.*\) |\$,\1,p" "$page" | tr -d '\`,')
    [ -n "$attacks" ] || { echo "paths: no target of tacet audit is named for src/$file"; exit 1; }
    for target in $attacks; do
        echo "$targets" | grep -qxF "$target" || { echo "paths: tacet audit has no target $target, of src/$file"; exit 1; }
    done
    for test in $(sed -n "s,^| \`$file\` | \([^|]*\) | .*,\1,p" "$page" | tr -d '\`,'); do
        [ -f "$root/tests/${test%%.*}/test_${test#*.}.c" ] || { echo "paths: no test $test, of src/$file"; exit 1; }
    done
done
# A policy is a default of its own, also where it goes through a file of another one.
policies=$(sed -n '/tacet__service_kinds\[\]/,/};/p' "$root/src/service/trusted/server.c" | grep -o '&tacet__[a-z_]*' | sed 's/.*__[a-z]*_//')
[ "$(echo "$policies" | wc -l)" -ge 9 ] || { echo "paths: the policies of the service are not seen: $policies"; exit 1; }
for policy in $policies; do
    attacks=$(sed -n "s,^|[^|]*\`$policy\`[^|]* | \([^|]*\) |\$,\1,p" "$page" | tr -d '\`,')
    [ -n "$attacks" ] || { echo "paths: policy $policy ships, and no target of tacet audit is named for it"; exit 1; }
    for target in $attacks; do
        echo "$targets" | grep -qxF "$target" || { echo "paths: tacet audit has no target $target, of policy $policy"; exit 1; }
    done
done
echo "paths: $(echo "$found" | wc -l) files hand something to a draw, each with its test of sensitivity; attacked by tacet audit: all"
