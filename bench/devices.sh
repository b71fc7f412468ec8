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
. "$(dirname "$0")/common.sh"

on_each_count() { # on_each_count PROGRAM OPTION...
    subject=$1
    shift
    for count in $counts; do
        bench "$subject" --devices "$count" "$@"
    done
}

{
    on_each_count bench_nbody --n 65536,262144,1048576 --seconds 0.5 --no-peer
    on_each_count bench_life --size 131072 --engine packed --runs 3 --seconds 1
    on_each_count bench_matmul --precision double --size 32768 --seconds 0.5 --no-peer
    on_each_count bench_gas --molecules 1e11 --runs 3
    echo "# whole"
} | tee "$lines" >&2
write_results "$name" "$(for count in $counts; do echo "$count"; done | sort -n | tail -n 1)"
