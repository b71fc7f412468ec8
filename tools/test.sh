#!/bin/sh
# test.sh - runs the tests of a build folder; the last line says how many passed, failed, were skipped.
#   usage: tools/test.sh BUILD [ctest options]
# SPDX-License-Identifier: MIT
set -u
build=$1
shift
tools=$(dirname "$0")
report=$(cd "$build" && pwd)/tests.xml

export STDCL_TIMED=0.02 # speeds that commands tell are not what is tested

rm -f "$report"
# cmocka's summaries stand at the end of what a test prints, so nothing may be cut off.
# No test runs a second time: a race that was seen once is there.
ctest --test-dir "$build" --output-on-failure --output-junit "$report" \
    --test-output-size-passed 100000000 --test-output-size-failed 100000000 "$@"
status=$?
if ! [ -s "$report" ]; then
    echo "test.sh: ctest wrote no report (status $status)" >&2
    exit 1
fi
echo
awk -f "$tools/count-tests.awk" "$tools/../tests/skips" "$report" && exit $status
