# What bench/run.sh measures of matmul. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) products=1000,1024,1023,2048,4096,17x5000x300,32x5120x320 ;;
*) products=1000,1024,1023,4096,4097,8192,17x5000x300,32x5120x320 ;;
esac
bench bench_matmul --precision double --size $products
bench bench_matmul --precision single --size $products
