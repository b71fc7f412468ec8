# Array cases of bench/run.sh. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) bytes=2^19,2^20,2^22,2^24,2^26,2^28 counts=2^20,2^24 ;;
*) bytes=2^28,2^30,2^32 counts=2^20,2^24,2^28 ;;
esac
bench bench_arrays --bytes $bytes
bench bench_sort --counts $counts
bench bench_select --counts $counts
