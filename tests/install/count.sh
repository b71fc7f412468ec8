#!/bin/sh
# count.sh - test tools/count-tests.awk on a report with one test of each kind.
#   usage: count.sh path/to/tools/count-tests.awk
# SPDX-License-Identifier: MIT
set -u
box=$(mktemp -d) || exit 1
trap 'rm -rf "$box"' EXIT
unset STDCL_TEST_CI

cat >"$box/skips" <<'END'
# a comment
cases:two    there is no second device
+absent      the program it compares with is not installed
*_far        it is too far
test_sum:big there is no room
END

cat >"$box/report.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="x" tests="9" failures="4" disabled="0" skipped="2">
	<testcase name="plain" classname="plain" time="3" status="run">
		<system-out></system-out>
	</testcase>
	<testcase name="cases" classname="cases" time="61" status="run">
		<system-out>[==========] Running 3 test(s).
[ RUN      ] one
&lt;testcase name="quoted" status="fail"
[       OK ] one
[ RUN      ] two
[  SKIPPED ] two
[==========] 3 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] two

 1 SKIPPED TEST(S)
</system-out>
	</testcase>
	<testcase name="newer" classname="newer" time="12.6" status="fail">
		<failure message=""/>
		<system-out>[==========] group: Running 4 test(s).
[==========] group: 4 test(s) run.
[  PASSED  ] 2 test(s).
[  SKIPPED ] group: 1 test(s), listed below:
[  SKIPPED ] silent

 1 SKIPPED TEST(S)
[  FAILED  ] group: 1 test(s), listed below:
[  FAILED  ] wrong

 1 FAILED TEST(S)
</system-out>
	</testcase>
	<testcase name="late" classname="late" time="4" status="fail">
		<failure message=""/>
		<system-out>[==========] 1 test(s) run.
[  PASSED  ] 1 test(s).
</system-out>
	</testcase>
	<testcase name="crash" classname="crash" time="40" status="fail">
		<failure message=""/>
		<system-out></system-out>
	</testcase>
	<testcase name="unbuilt" classname="unbuilt" time="0" status="notrun">
		<skipped message="Unable to find executable"/>
		<system-out>Unable to find executable: x</system-out>
	</testcase>
	<testcase name="absent" classname="absent" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out></system-out>
	</testcase>
	<testcase name="walks_far" classname="walks_far" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out></system-out>
	</testcase>
	<testcase name="part_far" classname="part_far" time="0.1" status="run">
		<system-out>[  PASSED  ] 1 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] one

</system-out>
	</testcase>
	<testcase name="deep_sum_as_gpu" classname="deep_sum_as_gpu" time="0.1" status="run">
		<system-out>[  PASSED  ] 1 test(s).
[  SKIPPED ] 2 test(s), listed below:
[  SKIPPED ] big
[  SKIPPED ] small

</system-out>
	</testcase>
	<testcase name="filtered" classname="filtered" time="0.1" status="run">
		<system-out>[==========] Running 0 test(s).
[==========] 0 test(s) run.
[  PASSED  ] 0 test(s).
</system-out>
	</testcase>
	<testcase name="stray" classname="stray" time="0.1" status="notrun">
		<skipped message="SKIP_RETURN_CODE=77"/>
		<system-out></system-out>
	</testcase>
</testsuite>
END

cat >"$box/expected" <<'END'
skipped  cases:two (there is no second device)
FAILED   newer:silent: skipped, but tests/skips does not allow that
FAILED   newer:wrong
FAILED   late: ended badly after its tests
FAILED   crash
FAILED   unbuilt: not run (Unable to find executable)
skipped  absent (the program it compares with is not installed)
skipped  walks_far (it is too far)
FAILED   part_far:one: skipped, but tests/skips does not allow that
skipped  deep_sum_as_gpu:big (there is no room)
FAILED   deep_sum_as_gpu:small: skipped, but tests/skips does not allow that
FAILED   filtered: ran none of its tests
FAILED   stray: skipped, but tests/skips does not allow that
the longest, of 121 s in all: cases 61 s, crash 40 s, newer 13 s, late 4 s, plain 3 s
8 passed, 9 failed, 4 skipped
END

awk -f "$1" "$box/skips" "$box/report.xml" >"$box/counted"
[ $? = 1 ] || { echo "failures must give status 1"; exit 1; }
diff "$box/expected" "$box/counted" || exit 1

# In continuous integration only skips marked + are allowed.
STDCL_TEST_CI=1 awk -f "$1" "$box/skips" "$box/report.xml" >"$box/counted"
tail -n 1 "$box/counted" | grep -qx "8 passed, 12 failed, 1 skipped" || exit 1
grep -qx "skipped  absent .*" "$box/counted" || exit 1
grep -qx "FAILED   walks_far: skipped, but tests/skips does not allow that in CI" "$box/counted" || exit 1

echo '<testcase name="a" status="run"><system-out></system-out></testcase>' >"$box/good.xml"
[ "$(awk -f "$1" "$box/skips" "$box/good.xml")" = "1 passed, 0 failed, 0 skipped" ] || exit 1
if awk -f "$1" "$box/skips" /dev/null >"$box/counted"; then
    echo "a run without tests must not pass"
    exit 1
fi
