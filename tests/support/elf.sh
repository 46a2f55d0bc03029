# SPDX-License-Identifier: Apache-2.0
# elf.sh - what an ELF file must have before it is shipped, read by readelf. Sourced by tests.
# shellcheck shell=sh
elf_check() { # FILE: says what is wrong with a program or a shared library; nothing where all is well
    headers=$(readelf -hlW "$1" 2>/dev/null) || { echo "$1: not an ELF file"; return; }
    dynamic=$(readelf -dW "$1")
    echo "$headers" | grep -q 'Type: *DYN' || echo "$1: not position-independent"
    echo "$headers" | grep -q GNU_RELRO || echo "$1: no read-only relocations"
    ! echo "$headers" | grep GNU_STACK | grep -q 'RWE' || echo "$1: an executable stack"
    echo "$dynamic" | grep -qE '\(FLAGS(_1)?\).*(BIND_)?NOW' || echo "$1: names are bound late"
    # An empty entry of a run path is the current folder, and so is one that does not begin at the root.
    echo "$dynamic" | sed -nE 's/.*\((RPATH|RUNPATH)\).*\[(.*)\]$/:\2:/p' | while read -r path; do
        rest=${path#:}
        while [ -n "$rest" ]; do
            entry=${rest%%:*}
            rest=${rest#*:}
            case $entry in
            /* | "\$ORIGIN" | "\$ORIGIN"/*) ;;
            *) echo "$1: entry '$entry' of its run path is not absolute" ;;
            esac
        done
    done
}
elf_guarded() { # FILE: says where canaries and checked calls of the C library are missing
    calls=$(readelf --dyn-syms -W "$1" | sed -n 's/.* UND \([A-Za-z_0-9]*\).*/\1/p')
    echo "$calls" | grep -q '^__stack_chk_fail$' || echo "$1: no stack protector"
    echo "$calls" | grep -q '^__.*_chk$' || echo "$1: no checked calls of the C library"
}
