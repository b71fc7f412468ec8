# N-body cases of bench/run.sh. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) bodies=8192,16384 equal=16384 some=16384 trees=131072 ;;
*) bodies=8192,16384,65536,262144 equal=8192,16384,262144 some=16384,65536 trees=131072,1048576,16777216 ;;
esac
bench bench_nbody --n $bodies --seconds 0.5 --precision single
bench bench_nbody --n $equal --seconds 0.5 --precision single --equal-masses --no-peer
bench bench_nbody --n $some --seconds 0.5 --precision mixed --no-peer
bench bench_nbody --n $some --seconds 0.5 --precision double
bench bench_nbody --n $some --seconds 0.5 --precision single --integrator hermite4 --no-peer
bench bench_nbody --n $trees --seconds 0.5 --precision single --method tree --no-peer
