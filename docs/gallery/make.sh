#!/bin/sh
# make.sh STDCL - makes the gallery's pictures again. Needs what `make deps-view` brings.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$(realpath "$1")
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

draw() { "$stdcl" "$@" -q; }

draw nbody --ic galaxy -n 8192 --steps 0 --elevation 30 --size 480x360 -o galaxy.png
draw nbody --ic collision -n 4096 --until 12 --colour-by group --extent 30 --size 480x360 -o groups.png
draw nbody --ic plummer -n 8192 --steps 0 --colour-by speed --size 480x360 -o cluster.png
draw nbody --ic collision -n 2^14 --method tree --until 30 --dt 0.1 --extent 44 --size 400x400 --frames 150 -o hero.mp4
ffmpeg -loglevel error -y -ss 4.4 -i hero.mp4 -frames:v 1 hero.png # for readers who prefer no motion
draw nbody --ic cold -n 8192 --until 2.2 --size 480x360 -o cold.png
draw nbody --ic figure8 --size 480x360 -o figure8.png
draw nbody --ic pythagorean --until 60 --size 480x360 -o pythagorean.png
draw nbody --ic solar --until 4400 --extent 12 --elevation 30 --size 480x360 -o solar.png
draw life --rule B36/S23 --size 512 --seed 1 --generations 300 -o highlife.png
draw life gun --generations 300 --zoom 4 -o gun.png
draw life --rule 345/2/4 --size 256 --seed 1 --generations 200 --zoom 2 -o star-wars.png
draw life --rule /2/3 --size 256 --seed 3 --generations 100 --zoom 2 -o brain.png
draw life --rule R5,C0,M1,S34..58,B34..45,NM --size 256 --seed 1 --generations 60 --zoom 2 -o bugs.png
draw life r-pentomino --rule B1357/S1357 --size 256 --generations 112 --zoom 2 -o copies.png

look() { node look.mjs "$@"; }

"$stdcl" nbody --ic collision -n 8192 --steps 1000 --record "$work/large.view" --view-budget 100 -q
"$stdcl" view "$work/large.view" -o "$work/large.html" -q
look gravity.png dark 'paused|playing' '' 85 -- "$work/large.html"
nearer=$(printf 'PageUp,%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18)
look life.png dark 'generation [0-9]{2}' "$nearer" -- "$stdcl" life --size 16384 -n 1000000 --view
look gas.png light '120 bars' '' -- "$stdcl" gas --gas n2 -n 1000000 --repeat 100000 --view
look products.png light '1[3-6] of 22' '' -- "$stdcl" matmul --sweep -n 256 --view
