#!/bin/sh
# run.sh - runs every case of tests/faults, and keeps the counts of faults as tests/faults/counts.json.
#   usage: tests/faults/run.sh BUILD
# SPDX-License-Identifier: MIT
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
COMMIT=${COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
STDCL_FAULTS_JSON=$here/counts.json
export COMMIT STDCL_FAULTS_JSON
"$build/tests/faults" "$build" "$here/../.."
faults=$?
"$build/tests/signals" "$build" "$here/../.." && exit $faults
