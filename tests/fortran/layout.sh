#!/bin/sh
# layout.sh - compare the layout of every struct in Fortran with C's (tests/install/layout.txt).
#   usage: layout.sh SOURCE PYTHON CC FORTRAN LIBSTDCL
# SPDX-License-Identifier: MIT
set -eu
source=$1 python=$2 cc=$3 fortran=$4 library=$5
if [ "$(uname -m) $(getconf LONG_BIT)" != "x86_64 64" ]; then
    echo "the table is that of x86-64 with 64-bit longs"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$python" -B "$source/tools/bindings/generate.py" "$source" "$cc" fortran-layout=layout.f90
"$fortran" -std=f2018 -o layout "$source/include/stdcl.f90" layout.f90 "$library" -Wl,-rpath,"${library%/*}"
./layout | sort >fortran
awk -F '\t' '{ print $1, $2, $2 == "-" ? $4 : $3 }' "$source/tests/install/layout.txt" | sort >c
comm -23 fortran c >differs
cut -d ' ' -f 1 fortran | uniq >structs
# An array in a struct, or a member of a member, may be in one list only; a struct of another size
# may not.
bad=$(awk 'NR == FNR { at[$1 " " $2] = $3; next } ($1 " " $2) in at && at[$1 " " $2] != $3' c differs)
[ -z "$bad" ] || { echo "in Fortran these are elsewhere than in C: $bad"; exit 1; }
[ "$(comm -12 fortran c | wc -l)" -gt 200 ] || { echo "only $(comm -12 fortran c | wc -l) members are in both lists"; exit 1; }
echo "$(comm -12 fortran c | wc -l) members and sizes of $(wc -l <structs) structs are where C has them"
