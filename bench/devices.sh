#!/bin/sh
# devices.sh - run the largest cases on 1, 2, 4 ... devices and write bench/results/NAME.json.
#
#   bench/devices.sh BUILD_FOLDER DEVICE NAME [COUNT...]      bench/devices.sh build H200 nvidia-h200-x4 1 2 4
#
# First one process with all devices, then, if mpirun is installed, jobs with one rank per device.
# All counts of a case run one after the other, so their ratios are comparable. Each result has the
# prediction of `stdcl cluster-model` from the run on one device (not for trees), so 1 must be among
# the counts. 1 2 4 take about eight minutes on H200s. Close other programs first. COMMIT=... in the
# environment names the commit built, if the folder is not a clone; BODIES, TREE, CELLS, ROWS and
# MOLECULES set other sizes, for a small machine.
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

# jobs COMMAND OPTION...: run stdcl by mpirun, with one rank per device; print the report's numbers
# as a line.
jobs() {
    command -v mpirun > /dev/null || return 0
    for count in $counts; do
        devices=$(seq 0 $((count - 1)) | sed "s/.*/--device $device:&/")
        echo "@ mpirun --bind-to none -n $count stdcl" $* $devices
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --bind-to none --oversubscribe -n "$count" "$build/bin/stdcl" "$@" $devices --json |
            sed -n 's/^  "\([a-z_]*\)": \([-+0-9.e]*\),\{0,1\}$/\1=\2/p' | grep -v '^seed=' | tr '\n' ' ' | sed "s/^/ranks.$1 ranks=$count /; s/\$/\n/" |
            grep ' seconds=' || echo "mpirun -n $count stdcl $*" >> "$failed"
    done
}

# rate PROGRAM KEY WORD: print the number KEY of PROGRAM's line with WORD, for one device.
rate() {
    awk -v program="$1" -v key="$2" -v word="$3" '
        /^@ / { mine = $2 == program && / --devices 1 / && !/ --method /; next }
        mine && index(" " $0 " ", " " word " ") { for (i = 1; i <= NF; i++) if (sub("^" key "=", "", $i)) { print $i; exit } }' "$lines"
}

# predict PROGRAM N RATE: print the seconds of a step, a generation, a product or a sum for each
# count of devices.
predict() {
    for count in $counts; do
        echo "@ stdcl cluster-model --of $1 -n $2 --rate $3 --gpus-a-host $count --gpus $count"
        "$build/bin/stdcl" cluster-model --of "$1" -n "$2" --rate "$3" --gpus-a-host "$count" --gpus "$count" --json |
            sed -n 's/^ *"seconds": \([0-9.e+-]*\),$/'"predicted.$1 n=$2 devices=$count seconds=\1/p" |
            grep . || echo "cluster-model --of $1 -n $2 --rate $3" >> "$failed"
    done
}

bodies=${BODIES:-"65536 262144 1048576"} tree=${TREE:-16777216} cells=${CELLS:-131072} rows=${ROWS:-32768} molecules=${MOLECULES:-1e11}
{
    on_each_count bench_nbody --n "$(echo $bodies | tr ' ' ,)" --seconds 0.5 --no-peer
    on_each_count bench_nbody --n "$tree" --method tree --accuracy 0.0015 --seconds 0.3 --no-peer --checksum
    on_each_count bench_life --size "$cells" --engine packed --runs 3 --seconds 1
    on_each_count bench_matmul --precision double --size "$rows" --seconds 0.5 --no-peer
    on_each_count bench_gas --molecules "$molecules" --runs 3
    for n in $bodies; do
        jobs nbody -n "$n" --method direct --precision single --dt 1e-4 --steps $((2199023255552 / n / n + 1))
    done
    jobs nbody -n "$tree" --method tree --accuracy 0.0015 --precision single --dt 1e-5 --eps 0.01 --steps 20
    jobs life --size "$cells" --generations 4096 --soup=0.5
    jobs matmul -n "$rows" --precision double --repeat 3
    jobs gas -n "$molecules" --fused --repeat 3
} | tee "$lines" >&2
{
    for n in $bodies; do
        predict nbody "$n" "$(rate bench_nbody median "n=$n")e9"
    done
    predict life "$cells" "$(rate bench_life median_Gcells_per_s engine=packed)e9"
    predict matmul "$rows" "$(rate bench_matmul gflops engine=tuned)e9"
    predict gas "$molecules" "$(rate bench_gas gelements_per_s gas.fused)e9"
    echo "# whole"
} > "$lines.more"
tee -a "$lines" < "$lines.more" >&2
rm "$lines.more"
write_results "$name" "$(for count in $counts; do echo "$count"; done | sort -n | tail -n 1)"
