#!/bin/sh
# run.sh - runs the benchmarks on one device and writes what they say as bench/results/NAME.json.
#
#   bench/run.sh BUILD_FOLDER DEVICE NAME        bench/run.sh build H200 nvidia-h200
#
# Each benchmark checks its answers before it times anything. Close other programs first.
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
cpu*)
    bodies=8192,16384 equal=16384 some=16384 cells=1024,16384 golly=--golly
    products=1000,1024,1023,2048,4096,17x5000x300,32x5120x320 bytes=2^26,2^28 molecules=1e8
    ;;
*)
    bodies=8192,16384,65536,262144 equal=8192,16384,262144 some=16384,65536 cells=1024,65536 golly=
    products=1000,1024,1023,4096,4097,8192,17x5000x300,32x5120x320 bytes=2^28,2^30,2^32 molecules=1e10
    ;;
esac

{
    for program in bench_layer bench_services; do
        bench $program --json | sed '/^{/{s/[{},]//g; s/"\([a-z_0-9]*\)": /\1=/g}'
    done
    bench bench_nbody --n $bodies --seconds 0.5
    bench bench_nbody --n $equal --seconds 0.5 --equal-masses --no-peer
    bench bench_nbody --n $some --seconds 0.5 --precision double --no-peer
    bench bench_nbody --n $some --seconds 0.5 --integrator hermite4 --no-peer
    bench bench_life --size $cells --engine packed $golly
    bench bench_life --size 1024 --engine packed --generations 65536 $golly
    bench bench_life --size 1024 --engine global,local
    bench bench_matmul --precision double --size $products
    bench bench_matmul --precision single --size $products
    bench bench_arrays --bytes $bytes
    bench bench_gas --bytes ${bytes##*,} --molecules $molecules
} | tee "$lines" >&2
full=$(sed -n 's/.*device="\([^"]*\)".*/\1/p' "$lines" | head -n 1)
mkdir -p "$here/results"
awk -f "$here/results.awk" -v device="${full:-$device}" -v date="$(date -u +%Y-%m-%d)" \
    -v commit="$(cd "$here" && git describe --always --dirty 2> /dev/null || echo unknown)" "$lines" > "$here/results/$name.json"
