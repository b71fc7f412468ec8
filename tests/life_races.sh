#!/bin/sh
# life_races.sh - the packed kernels of Life under Oclgrind, which reports races between work-items.
#
#   life_races.sh OCLGRIND STDCL
#
# Both kernels run in small shapes, on a torus and on a plane, and their cells are compared with those of plain C. Oclgrind
# has no funnel shift of LLVM's, which optimisation makes, so kernels are not optimised. It could report uninitialised
# values, too, but takes for one whatever a program writes to memory that device and host share.
# SPDX-License-Identifier: MIT
set -eu
oclgrind=$1 stdcl=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

check() { # check SIZE SHAPE
    for bounds in torus plane; do
        words="life --size $1 --bounds $bounds -n 5 --quiet -o -"
        "$oclgrind" --data-races --compute-units 4 --build-options -cl-opt-disable --log "$folder/log" \
            "$stdcl" $words --shape "$2" > "$folder/packed"
        "$stdcl" $words --engine reference > "$folder/reference"
        if [ -s "$folder/log" ] || ! cmp "$folder/packed" "$folder/reference"; then
            echo "$2, $1, $bounds:"
            cat "$folder/log"
            exit 1
        fi
    done
}

check 200x9 "tile=0 lanes=2 span=3 generations=2 block=3 bands=3"
check 70x9 "tile=0 lanes=4 generations=3 block=4"
check 70x9 "tile=1 words=1 rows=3 warps=2 generations=2"
check 1x9 "tile=1 words=2 rows=2 warps=2 generations=1"
