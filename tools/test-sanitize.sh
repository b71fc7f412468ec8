#!/bin/sh
# test-sanitize.sh - builds our own code with the sanitizers, twice, and runs the tests of each build.
# `make test-sanitize` calls it, with BUILD, CONFIGURE, COMPILE and JOBS.
# SPDX-License-Identifier: MIT
set -u
tools=$(dirname "$0")

# ThreadSanitizer of older compilers does not start where the kernel places programs too freely.
fixed=
if setarch -R true 2>/dev/null; then
    fixed="setarch -R"
fi

# A driver's threads may bring a signal stack of their own, which AddressSanitizer then cannot free.
export ASAN_OPTIONS="use_sigaltstack=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

bad=0
for sanitizer in address,undefined thread; do
    build=$BUILD-${sanitizer%,*}
    echo "== $sanitizer, in $build"
    # CONFIGURE and COMPILE are command lines: the quotes in them count.
    eval "$CONFIGURE -B '$build' -DSTDCL_SANITIZE=$sanitizer" >"$build.log" 2>&1 ||
        { cat "$build.log"; exit 1; }
    eval "$COMPILE '$build'" || exit 1
    $fixed "$tools/test.sh" "$build" "-j$JOBS" -LE deep || bad=1
done
exit $bad
