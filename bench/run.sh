#!/bin/sh
# run.sh - run the benchmarks on one device, with their peers, and write bench/results/NAME.json.
#
#   bench/run.sh BUILD_FOLDER DEVICE NAME        bench/run.sh build H200 nvidia-h200
#
# DEVICE is cpu, gpu or part of a name. The build folder is updated first, so that it matches the
# recorded commit. Each benchmark checks its answers before it times anything. Close other programs
# first.
# SPDX-License-Identifier: MIT
set -eu
build=$1 device=$2 name=$3
. "$(dirname "$0")/common.sh"
[ ! -f "$build/CMakeCache.txt" ] || cmake --build "$build" > "$lines" 2>&1 || { cat "$lines" >&2; exit 1; }

case $name in # a CPU takes minutes for cases that a GPU finishes in seconds
cpu*) kind=cpu ;;
*) kind=gpu ;;
esac

# bench_ENGINE.sh has the cases of an engine.
{
    for program in bench_layer bench_services; do
        bench $program --json | sed '/^{/{s/[{},]//g; s/"\([a-z_0-9]*\)": /\1=/g}'
    done
    for engine in $(sed -n 's/^stdcl_engine(\([a-z0-9]*\) .*/\1/p' "$here/../cmake/engines.cmake"); do
        [ ! -f "$here/bench_$engine.sh" ] || . "$here/bench_$engine.sh"
    done
    echo "# whole"
} | tee "$lines" >&2
write_results "$name"
