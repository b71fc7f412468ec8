# Life cases of bench/run.sh. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) cells=1024,16384 golly=--golly ;;
*) cells=1024,65536 golly= ;;
esac
bench bench_life --size $cells --engine packed $golly
bench bench_life --size 1024 --engine packed --generations 65536 $golly
bench bench_life --size 1024 --engine global,local
