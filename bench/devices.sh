#!/bin/sh
# devices.sh - runs the largest cases on one device, two, four ... and writes bench/results/NAME.json.
#
#   bench/devices.sh BUILD_FOLDER DEVICE NAME [COUNT...]      bench/devices.sh build H200 nvidia-h200-x4 1 2 4
#
# All counts of a case run one after the other, so that their ratios are of the same minutes. It takes about three
# minutes for 1 2 4 on H200s. Close other programs first. COMMIT=... in the environment names what was built, where the
# folder is not a clone.
# SPDX-License-Identifier: MIT
set -eu
build=$1 device=$2 name=$3
shift 3
counts=${*:-1 2}
here=$(dirname "$0")
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT

on_each_count() { # on_each_count PROGRAM OPTION...
    program=$1
    shift
    for count in $counts; do
        echo "@ $program --device $device --devices $count $*"
        "$build/bench/$program" --device "$device" --devices "$count" "$@" || echo "# $program failed" >&2
    done
}

{
    on_each_count bench_nbody --n 65536,262144,1048576 --seconds 0.5 --no-peer
    on_each_count bench_life --size 131072 --engine packed --runs 3 --seconds 1
    on_each_count bench_matmul --precision double --size 32768 --seconds 0.5 --no-peer
    on_each_count bench_gas --molecules 1e11 --runs 3
} | tee "$lines" >&2
full=$(sed -n 's/.*device="\([^"]*\)".*/\1/p' "$lines" | head -n 1)
most=$(for count in $counts; do echo "$count"; done | sort -n | tail -n 1)
mkdir -p "$here/results"
awk -f "$here/results.awk" -v device="$most x ${full:-$device}" -v date="$(date -u +%Y-%m-%d)" \
    -v commit="${COMMIT:-$(cd "$here" && git describe --always --dirty 2> /dev/null || echo unknown)}" "$lines" > "$here/results/$name.json"
