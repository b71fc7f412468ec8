#!/bin/sh
# run.sh - run every case of tests/faults, and store the counts of faults: a line of counts.json for
# each program.
#   usage: tests/faults/run.sh BUILD [PROGRAM...]     all programs and the signals; or the named
#   ones, replacing their lines
#          tests/faults/run.sh BUILD some PROGRAM...   three calls of each entry point, with every
#          error
# SPDX-License-Identifier: MIT
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
some=
[ "${1-}" != some ] || { some=some && shift; }
counts=$here/counts.json
COMMIT=${COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
STDCL_FAULTS_JSON=$build/tests/faults.line
export COMMIT STDCL_FAULTS_JSON
status=0

# The old lines without the program's, and its new one; sorted by name.
keep() {
    { [ -f "$counts" ] && grep '"program"' "$counts" | grep -v "\"program\": \"$1\"" | sed 's/,$//'
        cat "$STDCL_FAULTS_JSON"; } | sort | sed '$!s/$/,/' >"$counts.new"
    { echo '['; cat "$counts.new"; echo ']'; } >"$counts"
    rm -f "$counts.new" "$STDCL_FAULTS_JSON"
}

for program in ${*:-$("$build/tests/faults" "$build" "$here/../.." list)}; do
    echo "$program"
    "$build/tests/faults" "$build" "$here/../.." only "$program" $some || status=1
    [ -f "$STDCL_FAULTS_JSON" ] && keep "$program"
done
if [ $# = 0 ]; then
    "$build/tests/signals" "$build" "$here/../.." || status=1
    [ ! -f "$STDCL_FAULTS_JSON" ] || mv "$STDCL_FAULTS_JSON" "$here/signals.json"
fi
exit $status
