#!/bin/sh
# make.sh STDCL - makes the gallery's pictures again. Needs what `make deps-view` brings.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$stdcl" nbody --ic galaxy -n 8192 --steps 0 --elevation 30 --size 480x360 -q -o galaxy.png
"$stdcl" nbody --ic figure8 --size 480x360 -q -o figure8.png
"$stdcl" life --rule B36/S23 --size 512 --seed 1 --generations 300 -q -o highlife.png

look() { node look.mjs "$@"; }

"$stdcl" nbody --ic collision -n 8192 --steps 1000 --record "$work/large.view" --view-budget 100 -q
"$stdcl" view "$work/large.view" -o "$work/large.html" -q
look gravity.png dark 'paused|playing' '' 85 -- "$work/large.html"
nearer=$(printf 'PageUp,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18)
look life.png dark 'generation [0-9]{2}' "$nearer" -- "$stdcl" life --size 16384 -n 1000000 --view
look gas.png light '120 bars' '' -- "$stdcl" gas --gas n2 -n 1000000 --repeat 100000 --view
look products.png light '1[3-6] of 22' '' -- "$stdcl" matmul --sweep -n 256 --view
