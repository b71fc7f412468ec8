# Gas cases of bench/run.sh. shellcheck shell=sh disable=SC2086,SC2154
# SPDX-License-Identifier: MIT
case $kind in
cpu) bytes=2^28 molecules=1e8 ;;
*) bytes=2^32 molecules=1e10 ;;
esac
bench bench_gas --bytes $bytes --molecules $molecules
