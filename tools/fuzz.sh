#!/bin/sh
# fuzz.sh - fuzz with libFuzzer, subject by subject; `make fuzz` calls it.
#   BUILD=build MINUTES=30 tools/fuzz.sh [SUBJECT...]
#
# BUILD-fuzz is a clang build with AddressSanitizer and UBSan. Each subject (tests/fuzz/fuzz_SUBJECT.c) runs for MINUTES,
# from the inputs of tests/fuzz/SUBJECT and of earlier runs in BUILD-fuzz/found/SUBJECT. A failing input is
# BUILD-fuzz/found/SUBJECT-crash-...: fix the code, then add the input to tests/fuzz/SUBJECT. To keep inputs that reach
# new edges: cp -r tests/fuzz/SUBJECT kept; test_fuzz_SUBJECT -merge=1 -use_counters=0 kept BUILD-fuzz/found/SUBJECT.
# SPDX-License-Identifier: MIT
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source" || exit 1
build=${BUILD:-build}-fuzz

command -v clang >/dev/null || { echo "fuzz.sh: clang is not installed, which libFuzzer comes with" >&2; exit 1; }
cmake -S "$source" -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DSTDCL_SANITIZE=address,undefined,fuzzer-no-link >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target fuzzers -j"$(getconf _NPROCESSORS_ONLN)" || exit 1

# An input may request more memory than exists, which must be reported as an error; reserved memory does not count.
export ASAN_OPTIONS="allocator_may_return_null=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

[ $# -gt 0 ] || set -- $(sed -n 's/^ *stdcl_fuzz(\([a-z]*\) .*/\1/p' "$source/tests/fuzz/CMakeLists.txt")
bad=
for subject; do
    found=$build/found/$subject
    mkdir -p "$found"
    echo "== $subject, ${MINUTES:-30} minutes"
    "$build/tests/fuzz/test_fuzz_$subject" -max_total_time=$((${MINUTES:-30} * 60)) -max_len=4096 -timeout=25 \
        -rss_limit_mb=2048 -malloc_limit_mb=1048576 -verbosity=0 -print_final_stats=1 -artifact_prefix="$source/$found-" "$found" \
        "$source/tests/fuzz/$subject" || bad="$bad $subject"
done
[ -z "$bad" ] || { echo "fuzz.sh: broken promises:$bad"; exit 1; }
