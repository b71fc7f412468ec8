#!/bin/sh
# same.sh - run a program in two languages, and compare all bits of the output.
#   usage: same.sh KERNEL_FILE C_PROGRAM PROGRAM [argument...]
# SPDX-License-Identifier: MIT
set -eu
kernel=$1 c=$2
shift 2
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$c" "$kernel" >"$out/c" || { status=$?; cat "$out/c"; exit $status; }
[ "$(wc -l <"$out/c")" = 1600 ] || { echo "the program in C printed $(wc -l <"$out/c") lines, not 1600"; exit 1; }
"$@" "$kernel" >"$out/other"
tr A-F a-f <"$out/other" | cmp "$out/c" - # Fortran has capitals alone
