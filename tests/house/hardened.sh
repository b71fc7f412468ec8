#!/bin/sh
# hardened.sh - fail unless programs are built with the protections that the compiler and the linker offer.
#   usage: hardened.sh PROGRAM...
# SPDX-License-Identifier: MIT
set -u
command -v readelf >/dev/null || { echo "readelf is not installed"; exit 77; }
status=0
expect() { # PROGRAM WHAT PATTERN OPTION...
    program=$1 what=$2 pattern=$3
    shift 3
    readelf -W "$@" "$program" | grep -q -- "$pattern" || { echo "$program: no $what"; status=1; }
}
for program; do
    expect "$program" "position-independent code" 'Type: *DYN' -h
    expect "$program" "read-only relocations (RELRO)" GNU_RELRO -l
    expect "$program" "binding at start (BIND_NOW)" 'BIND_NOW\|FLAGS.* NOW' -d
    expect "$program" "stack protector" __stack_chk_fail --dyn-syms
    expect "$program" "_FORTIFY_SOURCE" '__[a-z]*printf_chk' --dyn-syms
    if readelf -lW "$program" | grep -q 'GNU_STACK.*RWE'; then
        echo "$program: its stack is executable"
        status=1
    fi
done
exit $status
