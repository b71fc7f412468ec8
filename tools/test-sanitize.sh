#!/bin/sh
# test-sanitize.sh - build the project with the sanitizers, twice, and run the tests of each build.
# `make test-sanitize` calls it, with BUILD, CONFIGURE, COMPILE and JOBS.
# SPDX-License-Identifier: MIT
set -u
tools=$(dirname "$0")

# Older compilers' ThreadSanitizer fails to start under strong address-space randomisation.
fixed=
if setarch -R true 2>/dev/null; then
    fixed="setarch -R"
fi

# A driver's threads may have their own signal stack, which AddressSanitizer cannot free.
export ASAN_OPTIONS="use_sigaltstack=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

bad=0
for sanitizer in address,undefined thread; do
    build=$BUILD-${sanitizer%,*}
    echo "== $sanitizer, in $build"
    # CONFIGURE and COMPILE are command lines, including quotes.
    eval "$CONFIGURE -B '$build' -DSTDCL_SANITIZE=$sanitizer" >"$build.log" 2>&1 ||
        { cat "$build.log"; exit 1; }
    eval "$COMPILE '$build'" || exit 1
    $fixed "$tools/test.sh" "$build" "-j$JOBS" -LE deep || bad=1
done
exit $bad
