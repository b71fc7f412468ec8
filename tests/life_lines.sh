#!/bin/sh
# life_lines.sh - `stdcl bgolly` prints what Golly's bgolly prints, byte for byte.
#
#   life_lines.sh STDCL
#
# Two runs have recorded lines of bgolly 3.3; if bgolly is installed, all are compared with its
# output.
# SPDX-License-Identifier: MIT
set -u
stdcl=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
printf 'x = 7, y = 3, rule = B3/S23\nbo$3bo$2o2b3o!\n' > acorn.rle
printf '#CXRLE Pos=0,0 Gen=50\nx = 3, y = 3\nbo$2bo$3o!\n' > late.rle
printf 'x = 36, y = 9, rule = B3/S23\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!\n' > gun.rle
wrong=0

# lines ARGUMENTS...: without the two lines that name the program.
lines() { "$stdcl" bgolly "$@" 2> err | tail -n +3; }

expect() { # WHAT IS
    [ "$1" = "$2" ] && return
    printf 'wanted:\n%s\nand there was:\n%s\n%s\n' "$1" "$2" "$(cat err)"
    wrong=$((wrong + 1))
}
expect '0: 7
4: 11
36: 68
100: 76' "$(lines -m 100 acorn.rle)"
expect '50: 5
51: 5
102: 5' "$(lines -m 100 -2 late.rle)"
for file in out.rle out.rle.gz out.mc.gz; do
    "$stdcl" bgolly -m 8 -o $file acorn.rle > /dev/null && "$stdcl" bgolly -m 8 $file | grep -q '^8: 18$' || expect "generation 8 in $file" 'none'
    case $file in *.gz) gzip -t $file || expect "gzip's" "$file" ;; esac
done

if command -v bgolly > /dev/null 2>&1; then
    while read -r arguments; do
        # shellcheck disable=SC2086 # they are words
        expect "$arguments: $(bgolly $arguments 2>/dev/null | tail -n +3)" "$arguments: $(lines $arguments)"
    done << END
-m 100 -i 30 late.rle
-m 40 -i 10 late.rle
-m 100 -2 -i 7 acorn.rle
-m 5,000 -i 500 acorn.rle
-m 5000 acorn.rle
-m 100 -q -2 acorn.rle
-m 100 -q -q acorn.rle
-m 0 acorn.rle
-m 7 -i 3 -h acorn.rle
-m 2^3 -i 5 acorn.rle
-m 100 -r B36/S23 -i 9 acorn.rle
-m 9 -i 1 -r B3/S23:T20,30 -a QuickLife acorn.rle
-m 1,099,511,627,776 -i 1099511627776 -M 100 -a HashLife gun.rle
END
fi
[ "$wrong" = 0 ]
