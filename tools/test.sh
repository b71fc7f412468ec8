#!/bin/sh
# test.sh - run the tests of a build folder; the last line counts passed, failed and skipped tests.
#   usage: tools/test.sh BUILD [ctest options]
# SPDX-License-Identifier: MIT
set -u
build=$1
shift
tools=$(dirname "$0")
report=$(cd "$build" && pwd)/tests.xml

export STDCL_TIMED=0.02 # speeds that commands tell are not what is tested

rm -f "$report"
# cmocka prints its summary at the end, so the output must not be truncated.
# No test is repeated: a race seen once exists.
ctest --test-dir "$build" --output-on-failure --output-junit "$report" \
    --test-output-size-passed 100000000 --test-output-size-failed 100000000 "$@"
status=$?
if ! [ -s "$report" ]; then
    echo "test.sh: ctest wrote no report (status $status)" >&2
    exit 1
fi
echo
awk -f "$tools/count-tests.awk" "$tools/../tests/skips" "$report" && exit $status
