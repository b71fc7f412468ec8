#!/bin/sh
# asan.sh - the Python tests on libraries with AddressSanitizer and UBSan.
#   usage: asan.sh SOURCE WORK CMAKE CC CXX PYTHON
# Leaks are not checked: the interpreter's own would hide them.
# SPDX-License-Identifier: MIT
set -eu
source=$1 work=$2 cmake=$3 cc=$4 cxx=$5 python=$6
runtime=$("$cc" -print-file-name=libasan.so)
[ -e "$runtime" ] || { echo "the compiler has no shared libasan"; exit 77; }
flags='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer'
mkdir -p "$work"
"$cmake" -S "$source" -B "$work" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_SHARED_LINKER_FLAGS="$flags" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
"$cmake" --build "$work" -j2 --target stdcl_shared stdcl_nbody_shared stdcl_life_shared stdcl_gas_shared stdcl_matmul_shared \
    >"$work/build.log" 2>&1 || { tail -n 40 "$work/build.log"; exit 1; }
nm -D "$work/install/libstdcl.so.1" | grep -q __asan_init || { echo "the library is not instrumented"; exit 1; }
ASAN_OPTIONS=detect_leaks=0:use_sigaltstack=0 LD_PRELOAD=$runtime STDCL_LIBRARY=$work/install/libstdcl.so.1 \
    PYTHONPATH=$source/python PYTHONDONTWRITEBYTECODE=1 "$python" "$source/tests/python/test_stdcl.py"
