#!/bin/bash
# build.sh - build the fuzzers of tests/fuzz as OSS-Fuzz expects: a program, a corpus and the shared
# libraries of each in $OUT.
#
# OSS-Fuzz sets CC, CXX, CFLAGS with the sanitizer, LIB_FUZZING_ENGINE and OUT. The folder of the
# source is the current one. To try it without OSS-Fuzz:
#   CC=clang CXX=clang++ CFLAGS=-fsanitize=address,fuzzer-no-link \
#   CXXFLAGS=-fsanitize=address LIB_FUZZING_ENGINE=-fsanitize=fuzzer OUT=/tmp/out packaging/oss-fuzz/build.sh
# SPDX-License-Identifier: MIT
set -eu
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cmake -S . -B "$build" -DSTDCL_FUZZING_ENGINE="$LIB_FUZZING_ENGINE"
cmake --build "$build" --target fuzzers -j"$(nproc)"
mkdir -p "$OUT/lib"
for program in "$build"/tests/fuzz/test_fuzz_*; do
    [ -x "$program" ] && [ -f "$program" ] || continue
    subject=${program##*/test_fuzz_}
    cp "$program" "$OUT/$subject"
    (cd "tests/fuzz/$subject" && python3 -m zipfile -c "$OUT/${subject}_seed_corpus.zip" ./*)
    # The machine that fuzzes has none of the libraries.
    ldd "$program" | sed -n 's/.*=> \(\/[^ ]*\) .*/\1/p' |
        grep -vE '/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so' |
        xargs -r cp -nLt "$OUT/lib"
done
find "$OUT" -maxdepth 1 -type f -perm -u+x ! -name '*.zip' -exec patchelf --set-rpath "\$ORIGIN/lib" {} +
