#!/bin/sh
# fuzz.sh - fuzzes with libFuzzer, one subject after the other; `make fuzz` calls it.
#   BUILD=build MINUTES=30 tools/fuzz.sh [SUBJECT...]
#
# BUILD-fuzz gets a build by clang with AddressSanitizer and UBSan. Each subject (tests/fuzz/fuzz_SUBJECT.c) runs for
# MINUTES, from the inputs of tests/fuzz/SUBJECT and those that earlier runs found, in BUILD-fuzz/found/SUBJECT. An input
# that breaks a promise is BUILD-fuzz/found/SUBJECT-crash-...: mend the code, then add it to tests/fuzz/SUBJECT. What reaches new
# edges: cp -r tests/fuzz/SUBJECT kept; test_fuzz_SUBJECT -merge=1 -use_counters=0 kept BUILD-fuzz/found/SUBJECT.
# SPDX-License-Identifier: MIT
set -u
source=$(cd "$(dirname "$0")/.." && pwd)
cd "$source" || exit 1
build=${BUILD:-build}-fuzz

command -v clang >/dev/null || { echo "fuzz.sh: clang is not installed, which libFuzzer comes with" >&2; exit 1; }
cmake -S "$source" -B "$build" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ \
    -DSTDCL_SANITIZE=address,undefined,fuzzer-no-link >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
cmake --build "$build" --target fuzzers -j"$(getconf _NPROCESSORS_ONLN)" || exit 1

# An input may ask for more memory than there is, which is an error to be told; what is only reserved is none.
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
