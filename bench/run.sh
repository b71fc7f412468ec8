#!/bin/sh
# run.sh - runs the benchmarks on one device and writes what they say as bench/results/NAME.json.
#
#   bench/run.sh BUILD_FOLDER DEVICE NAME        bench/run.sh build H200 nvidia-h200
#
# Each benchmark checks its answers before it times anything. Close other programs first.
# SPDX-License-Identifier: MIT
set -eu
build=$1 device=$2 name=$3
here=$(dirname "$0")
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

bench() {
    program=$1
    shift
    if [ -x "$build/bench/$program" ]; then
        echo "@ $program $*"
        "$build/bench/$program" --device "$device" "$@" || echo "# $program failed" >&2
    fi
}

case $name in # a CPU takes minutes for what a GPU does in a moment
cpu*) kind=cpu ;;
*) kind=gpu ;;
esac

# What is measured of an engine is in bench_ENGINE.sh.
{
    for program in bench_layer bench_services; do
        bench $program --json | sed '/^{/{s/[{},]//g; s/"\([a-z_0-9]*\)": /\1=/g}'
    done
    for engine in $(sed -n 's/^stdcl_engine(\([a-z0-9]*\) .*/\1/p' "$here/../cmake/engines.cmake"); do
        . "$here/bench_$engine.sh"
    done
} | tee "$lines" >&2
full=$(sed -n 's/.*device="\([^"]*\)".*/\1/p' "$lines" | head -n 1)
mkdir -p "$here/results"
awk -f "$here/results.awk" -v device="${full:-$device}" -v date="$(date -u +%Y-%m-%d)" \
    -v commit="$(cd "$here" && git describe --always --dirty 2> /dev/null || echo unknown)" "$lines" > "$here/results/$name.json"
