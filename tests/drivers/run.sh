#!/bin/sh
# run.sh - run the tests on the OpenCL drivers of this machine and write the results to
# tests/drivers/NAME.json.
#
#   tests/drivers/run.sh BUILD_FOLDER NAME [ctest option...]      tests/drivers/run.sh build pocl-3.1-debian-12
#
# The environment selects the drivers, as for every OpenCL program:
# OCL_ICD_VENDORS=/etc/OpenCL/vendors/nvidia.icd, POCL_DEVICES="cpu cpu", RUSTICL_ENABLE=llvmpipe.
# COMMIT=... names the commit built if the folder is not a clone. The exit status is that of the
# tests. README.md explains the files.
# SPDX-License-Identifier: MIT
set -u
build=$1 name=$2
shift 2
here=$(dirname "$0")
top=$here/../..
log=$(mktemp)
trap 'rm -f "$log"' EXIT

"$top/tools/test.sh" "$build" "$@" >"$log" 2>&1
status=$?
system=$(. /etc/os-release && echo "$PRETTY_NAME")
commit=${COMMIT:-$(git -C "$top" describe --always --dirty 2>/dev/null || echo unknown)}
devices=$("$build/bin/stdcl" devices --json |
    awk '/"(name|platform_version|driver)":/ { sub(/^ */, ""); sub(/,$/, ""); line = line (line == "" ? "" : ", ") $0 }
         /^    }/ { printf "%s\n  {%s}", (n++ ? "," : ""), line; line = "" }')

# With --stop-time ctest omits tests that it has not started from its report.
unstarted=$(ctest --test-dir "$build" -N "$@" 2>/dev/null | sed -n 's/^ *Test *#[0-9]*: //p' | while read -r test; do
    grep -q "<testcase name=\"$test\"" "$build/tests.xml" || echo "$test"
done)
[ -z "$unstarted" ] || status=1

# The last lines of the log: "FAILED   TEST[: MESSAGE]", "skipped  TEST (REASON)", "N passed, N failed, N skipped".
awk -v name="$name" -v system_name="$system" -v commit="$commit" -v date="$(date -u +%Y-%m-%d)" \
    -v options="$*" -v devices="$devices" -v unstarted="$(echo $unstarted)" '
function quoted(text) { gsub(/\\/, "\\\\", text); gsub(/"/, "\\\"", text); return "\"" text "\"" }
function also(list, what) { return list (list == "" ? "" : ",") "\n  " quoted(what) }
BEGIN { for (n = split(unstarted, test, " "); n > 0; n--) not_run = also(not_run, test[n]) }
/^FAILED   .*: not run/ { sub(/^FAILED   /, ""); not_run = also(not_run, $0); refused++; next }
/^FAILED   / { sub(/^FAILED   /, ""); failures = also(failures, $0) }
/^skipped  / { sub(/^skipped  /, ""); skips = also(skips, $0) }
/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { passed = $1; failed = $3; skipped = $5 }
END {
    printf "{\n \"name\": %s,\n \"date\": \"%s\",\n \"commit\": \"%s\",\n \"system\": %s,\n \"options\": %s,\n", \
        quoted(name), date, commit, quoted(system_name), quoted(options)
    printf " \"devices\": [%s\n ],\n", devices
    printf " \"passed\": %d,\n \"failed\": %d,\n \"skipped\": %d,\n", passed, failed - refused, skipped
    printf " \"failures\": [%s\n ],\n \"not_run\": [%s\n ],\n \"skips\": [%s\n ]\n}\n", failures, not_run, skips
}' "$log" >"$here/$name.json"
tail -n 40 "$log"
exit $status
