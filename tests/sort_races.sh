#!/bin/sh
# sort_races.sh - prefix sums and a sort under Oclgrind, which reports races between work-items.
#
#   sort_races.sh OCLGRIND TEST_SORT
#
# In small shapes, of groups and of one item. Why kernels are not optimised, and uninitialised values not looked for, is in
# oclgrind/run.sh.
# SPDX-License-Identifier: MIT
set -eu
oclgrind=$1 test_sort=$2
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for shape in "group=64 items=3 waves=2" "group=1 items=50 waves=2 stream=1"; do
    "$oclgrind" --data-races --compute-units 2 --build-options -cl-opt-disable --log "$log" "$test_sort" shape "$shape"
    if [ -s "$log" ]; then
        echo "$shape:"
        cat "$log"
        exit 1
    fi
done
