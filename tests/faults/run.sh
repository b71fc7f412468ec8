#!/bin/sh
# run.sh - runs every case of tests/faults, and keeps the counts of faults: a line of counts.json for each program.
#   usage: tests/faults/run.sh BUILD [PROGRAM...]     all programs and the signals; or some, whose lines are replaced
# SPDX-License-Identifier: MIT
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
counts=$here/counts.json
COMMIT=${COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
STDCL_FAULTS_JSON=$build/tests/faults.line
export COMMIT STDCL_FAULTS_JSON
status=0

# The lines as they were, without those of the program, and its new one; in the order of the programs' names.
keep() {
    { [ -f "$counts" ] && grep '"program"' "$counts" | grep -v "\"program\": \"$1\"" | sed 's/,$//'
        cat "$STDCL_FAULTS_JSON"; } | sort | sed '$!s/$/,/' >"$counts.new"
    { echo '['; cat "$counts.new"; echo ']'; } >"$counts"
    rm -f "$counts.new" "$STDCL_FAULTS_JSON"
}

for program in ${*:-$("$build/tests/faults" "$build" "$here/../.." list)}; do
    echo "$program"
    "$build/tests/faults" "$build" "$here/../.." only "$program" || status=1
    [ -f "$STDCL_FAULTS_JSON" ] && keep "$program"
done
[ $# -gt 0 ] || "$build/tests/signals" "$build" "$here/../.." || status=1
exit $status
