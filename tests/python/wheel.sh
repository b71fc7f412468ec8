#!/bin/sh
# wheel.sh - build both wheels, twice with equal bytes, and test them installed.
#   usage: wheel.sh SOURCE PREFIX LIBSTDCL PYTHON
# SPDX-License-Identifier: MIT
set -eu
source=$1 prefix=$2 library=$3 python=$4
for module in build setuptools wheel pip; do
    "$python" -c "import $module" 2>/dev/null || { echo "python3-$module is not installed"; exit 77; }
done
command -v patchelf >/dev/null || { echo "patchelf is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset PYTHONPATH STDCL_LIBRARY
export SOURCE_DATE_EPOCH=1700000000 PYTHON="$python"
for folder in one other; do
    "$source/tools/bindings/wheel.sh" "$work/$folder"
    "$source/tools/bindings/wheel.sh" "$work/$folder" "$prefix"
done
for wheel in "$work"/one/*.whl; do
    cmp "$wheel" "$work/other/$(basename "$wheel")"
done

try() { # try WHEEL WORDS [VARIABLE=value]: installs it and computes with it; the library that was loaded has the words in its path
    rm -rf "$work/site"
    "$python" -m pip install --quiet --no-index --no-deps --target "$work/site" "$1"
    cd "$work"
    env PYTHONPATH="$work/site" ${3+"$3"} "$python" -c '
import sys, numpy as np, stdcl
ctx = stdcl.gpu() or stdcl.cpu()
x = ctx.array(np.ones(10, np.float32))
program = ctx.source("#include <stdcl/philox.h>\n__kernel void twice(__global float *x) { x[get_global_id(0)] *= 2; }")
program.twice(10, x).wait()
assert (x == 2).all() and stdcl.Life(64, 64).population == 0
loaded = {line.split()[-1] for line in open("/proc/self/maps") if "/libstdcl" in line}
assert loaded and all(sys.argv[1] in path for path in loaded), loaded' "$2"
}
try "$work"/one/*-none-any.whl "$(dirname "$library")" "STDCL_LIBRARY=$library"
try "$work"/one/*-none-manylinux_*.whl "$work/site/stdcl/lib"
