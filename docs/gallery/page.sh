#!/bin/sh
# page.sh STDCL PAGE - makes the recording of a collision of two galaxies as a page that needs no server, for `make site`.
# SPDX-License-Identifier: MIT
set -eu
stdcl=$1 page=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$stdcl" nbody --ic collision -n 1200 --dt 0.0125 --steps 3000 --record "$work/run.view" --view-budget 100 --view-rate 10 -q
"$stdcl" view "$work/run.view" -o "$page" -q
