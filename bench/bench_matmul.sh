# Matmul cases of bench/run.sh. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) products=1000,1024,1023,2048,4096,17x5000x300,32x5120x320 ;;
*) products=1000,1024,1023,2048,4096,4097,8192,17x5000x300,32x5120x320 ;;
esac
bench bench_matmul --precision double --size $products
bench bench_matmul --precision single --size $products
case $kind in
gpu)
    for precision in double single; do
        bench bench_matmul --precision $precision --size 16,32,64,128 --batch 10000
    done
    ;;
esac
