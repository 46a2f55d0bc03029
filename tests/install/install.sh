#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# install.sh - installs into an empty prefix, moves it, and uses it as a stranger would: pkg-config, headers, library,
# programs, manual pages.
set -eu
build=${TACET_BUILD:?}
source=${TACET_SOURCE:?}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

cmake --install "$build" --prefix "$tmp/first" >"$tmp/log" || { cat "$tmp/log"; exit 1; }
mv "$tmp/first" "$tmp/moved"
prefix=$tmp/moved
pc=$(find "$prefix" -name tacet.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir tacet)

# The library of an instrumented build needs the same runtime in the program.
extra=""
case $(sed -n 's/^TACET_SANITIZE:STRING=//p' "$build/CMakeCache.txt") in
address) extra=-fsanitize=address ;;
undefined) extra=-fsanitize=undefined ;;
thread) extra=-fsanitize=thread ;;
esac
grep -q '^TACET_COVERAGE:BOOL=ON' "$build/CMakeCache.txt" && extra=--coverage
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$build/CMakeCache.txt")
strict="-std=c17 -Wall -Wextra -Wpedantic -Werror"

# shellcheck disable=SC2046,SC2086
"$compiler" $strict $extra $(pkg-config --cflags tacet) "$source/tests/install/consumer.c" -o "$tmp/consumer" $(pkg-config --libs tacet)
said=$(cd "$tmp" && LD_LIBRARY_PATH=$libdir ./consumer)
expected=$(printf '2 records, the last 4.5\n41943041')
[ "$said" = "$expected" ] || { echo "the installed library said: $said"; exit 1; }

# The same through CMake's package, each library by its component; a component that does not exist is refused.
mkdir "$tmp/project"
cat >"$tmp/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.22)
project(consumer C)
find_package(tacet REQUIRED COMPONENTS open trusted device)
foreach(component open trusted device)
  add_executable(with_${component} ${component}.c)
  target_link_libraries(with_${component} tacet::${component})
endforeach()
END
for component in open trusted; do
    printf '#include <stdio.h>\n#include <tacet/%s.h>\nint main(void) { puts(tacet_version()); return 0; }\n' "$component" >"$tmp/project/$component.c"
done
printf '#include <stdio.h>\n#include <tacet/device.h>\nint main(void) { puts(tacet_status_name(TACET_OK)); return 0; }\n' >"$tmp/project/device.c"
cmake -S "$tmp/project" -B "$tmp/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$extra" >"$tmp/log" 2>&1 &&
    cmake --build "$tmp/project/build" >>"$tmp/log" 2>&1 || { cat "$tmp/log"; exit 1; }
for component in open trusted; do
    [ "$(LD_LIBRARY_PATH=$libdir "$tmp/project/build/with_$component")" = "$(pkg-config --modversion tacet)" ] ||
        { echo "the $component library does not know its version"; exit 1; }
done
LD_LIBRARY_PATH=$libdir "$tmp/project/build/with_device" >"$tmp/log" || { echo "the device library does not run"; exit 1; }
sed -i 's/COMPONENTS open trusted device/COMPONENTS closed/' "$tmp/project/CMakeLists.txt"
! cmake -S "$tmp/project" -B "$tmp/project/other" -DCMAKE_PREFIX_PATH="$prefix" >"$tmp/log" 2>&1 ||
    { echo "a component that does not exist was found"; exit 1; }

# The device's half alone, shared and static, as the head of the example says.
for kind in shared static; do
    libs=$(pkg-config --libs tacet-device)
    [ "$kind" = shared ] || libs=$(pkg-config --static --libs tacet-device | sed "s|-ltacet-device|$libdir/libtacet-device.a|")
    # shellcheck disable=SC2046,SC2086
    "$compiler" $strict $extra -D_GNU_SOURCE $(pkg-config --cflags tacet-device) "$source/examples/device/report.c" -o "$tmp/device" $libs
    report=$(LD_LIBRARY_PATH=$libdir "$tmp/device" "$tmp/memory-$kind" round-17 0.62)
    [ -n "$report" ] && [ "$(LD_LIBRARY_PATH=$libdir "$tmp/device" "$tmp/memory-$kind" round-17 0.62)" = "$report" ] ||
        { echo "$kind: the device's example said: $report"; exit 1; }
done

# Every public header stands on its own, in C and, where there is a compiler for it, in C++.
(cd "$prefix/include" && find tacet -name '*.h') | sort >"$tmp/headers"
[ -s "$tmp/headers" ]
while read -r header; do
    printf '#include <%s>\nint main(void) { return 0; }\n' "$header" >"$tmp/one.c"
    # shellcheck disable=SC2046,SC2086
    "$compiler" $strict -fsyntax-only $(pkg-config --cflags tacet) "$tmp/one.c" || { echo "$header does not stand alone"; exit 1; }
    if command -v g++ >/dev/null 2>&1; then
        # shellcheck disable=SC2046
        g++ -fsyntax-only $(pkg-config --cflags tacet) -x c++ "$tmp/one.c" || { echo "$header is no C++"; exit 1; }
    fi
done <"$tmp/headers"

# What tests/boundary/hardening.sh asks of the build tree, of what is installed.
if [ -z "$extra" ] && command -v readelf >/dev/null; then
    . "$source/tests/support/elf.sh"
    find "$prefix/bin" "$libdir" -type f \( -perm -100 -o -name '*.so*' \) | while read -r file; do elf_check "$file"; done >"$tmp/wrong"
    [ ! -s "$tmp/wrong" ] || { cat "$tmp/wrong"; exit 1; }
fi

# The installed front door finds the programs beside it.
[ "$("$prefix/bin/tacet" --version)" = "tacet $(pkg-config --modversion tacet)" ]
for program in "$build"/bin/tacet-*; do
    [ -x "$program" ] || continue
    name=$(basename "$program")
    "$prefix/bin/$name" --help >"$tmp/help" || { echo "$name is not installed or does not run"; exit 1; }
    "$prefix/bin/$name" --commands | while read -r command; do
        front=tacet
        [ "$name" != tacet-lab ] || front=tacet-lab
        page="$front-$(echo "$command" | tr ' ' '-').1"
        [ -s "$prefix/share/man/man1/$page" ] || { echo "no manual page $page"; exit 1; }
    done
done
[ -s "$prefix/share/man/man1/tacet.1" ]
for unit in tacet-server tacet-collector; do
    [ -s "$prefix/lib/systemd/system/$unit.service" ] || { echo "no unit $unit"; exit 1; }
done
# What was installed can be taken away again, all of it.
mv "$prefix" "$tmp/first"
make -s -C "$source" BUILD="$build" uninstall
[ ! -e "$tmp/first" ] || { echo "make uninstall leaves:"; find "$tmp/first"; exit 1; }
echo "$(wc -l <"$tmp/headers") headers, programs built and run against the three installed libraries"
