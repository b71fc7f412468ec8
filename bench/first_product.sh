#!/bin/sh
# first_product.sh - time to the first product of a process: stdcl with a disk cache of programs,
# stdcl from sources, and OpenBLAS, alternately; writes one JSON object.
#
#   bench/first_product.sh BUILD_FOLDER [TURNS] > bench/studies/NAME.json
#
# Milliseconds from matmul_create to the end of the first product, and of the second product, each
# the median over separate processes; kernels are compiled and stored before. Limit cores and
# threads by taskset, POCL_MAX_PTHREAD_COUNT, POCL_AFFINITY and OPENBLAS_NUM_THREADS, which are
# recorded.
# SPDX-License-Identifier: MIT
set -eu
first=$1/bench/first_product
turns=${2:-9}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export POCL_CACHE_DIR="${POCL_CACHE_DIR:-$HOME/.cache/pocl/kcache}" XDG_CACHE_HOME="$folder/cache"
mkdir -p "$POCL_CACHE_DIR" "$XDG_CACHE_HOME"

# column NUMBER WHO: the median
column() { cut -d ' ' -f "$1" "$folder/$2" | sort -n | awk '{ x[NR] = $1 } END { printf "%.4g", (x[int((NR + 1) / 2)] + x[int(NR / 2) + 1]) / 2 }'; }
# all WHO: all first products
all() { cut -d ' ' -f 1 "$folder/$1" | awk '{ printf "%s%.4g", (NR > 1 ? ", " : ""), $1 }'; }

printf '{\n "what": "the first product of a process, milliseconds",\n "date": "%s",\n "commit": "%s",\n "cpu": "%s",\n "cores": "%s",\n "environment": "%s",\n "turns": %s,\n "rows": [' \
    "$(date -u +%Y-%m-%d)" "$(git describe --always --dirty 2>/dev/null || echo unknown)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)" \
    "$(env | grep -E '^(POCL_(MAX|AFF)|OPENBLAS)' | sort | tr '\n' ' ')" "$turns"
comma=
for precision in double single; do
    for n in 256 512 1000 1024 2048; do
        rm -f "$folder/stored" "$folder/source" "$folder/openblas"
        "$first" tuned $precision $n > "$folder/before"
        "$first" tuned $precision $n > "$folder/before"
        for _ in $(seq "$turns"); do
            "$first" tuned $precision $n >> "$folder/stored"
            "$first" openblas $precision $n >> "$folder/openblas"
            STDCL_CACHE=0 "$first" tuned $precision $n >> "$folder/source"
        done
        printf '%s\n  {"precision": "%s", "n": %s, "stored_ms": %s, "source_ms": %s, "openblas_ms": %s, "stored_second_ms": %s, "openblas_second_ms": %s, "of_openblas": %s, "stored": [%s], "source": [%s], "openblas": [%s]}' \
            "$comma" $precision $n "$(column 1 stored)" "$(column 1 source)" "$(column 1 openblas)" "$(column 2 stored)" "$(column 2 openblas)" \
            "$(awk -v a="$(column 1 openblas)" -v b="$(column 1 stored)" 'BEGIN { printf "%.3f", a / b }')" "$(all stored)" "$(all source)" "$(all openblas)"
        comma=,
    done
done
printf '\n ]\n}\n'
