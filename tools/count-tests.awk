# count-tests.awk - counts the tests of a CTest run for a person.
#   awk -f count-tests.awk tests/skips junit.xml
#
# CTest knows programs; those written with cmocka hold many tests, each of which may be skipped. So a
# program that prints cmocka's summary counts as the tests it names, any other as one. A program that
# fails counts as at least one failure, also when it crashed before its summary. A program whose
# summaries name no test is a failure: a filter chose none. A test that was not run is a failure,
# although CTest's file calls it skipped. The first file names the tests that
# may be skipped, "PROGRAM REASON" or "PROGRAM:TEST REASON", or "*END REASON" for every program whose name ends so; what
# test_X may skip deep_X_as_gpu may; any other skip is a failure. With STDCL_TEST_CI in the environment only those with a + before
# the name may be skipped. Before the count stands which programs took longest.
# SPDX-License-Identifier: MIT

FNR == NR { # tests/skips
    if ($1 != "" && $1 !~ /^#/) {
        reason = $0
        sub(/^[^ \t]+[ \t]*/, "", reason)
        if (sub(/^\+/, "", $1) || !("STDCL_TEST_CI" in ENVIRON))
            may_skip[$1] = reason
    }
    next
}

/^[ \t]*<testcase / {
    name = attribute("name")
    status = attribute("status")
    time(name, attribute("time"))
    message = listing = ""
    counted["PASSED"] = counted["FAILED"] = counted["SKIPPED"] = nfailed = nskipped = summaries = 0
}
/^[ \t]*<skipped / { message = attribute("message") }
{ sub(/^[ \t]*<system-out>/, "") }

# cmocka: "[  PASSED  ] 3 test(s)." and "[  FAILED  ] group: 1 test(s), listed below:", then the names.
/^\[  (PASSED|FAILED|SKIPPED) +\] (.*: )?[0-9]+ test\(s\)/ {
    for (i = 3; $i !~ /^test\(s\)/; i++)
        ;
    counted[$2] += $(i - 1)
    summaries++
    listing = $2 == "PASSED" ? "" : $2
    next
}
/^\[  (FAILED|SKIPPED) +\] / {
    if (listing == "FAILED")
        failed_name[++nfailed] = $4
    if (listing == "SKIPPED")
        skipped_name[++nskipped] = $4
    next
}
/^$/ { listing = "" }

/<\/testcase>/ {
    cases = counted["PASSED"] + counted["FAILED"] + counted["SKIPPED"]
    if (message ~ /^SKIP_/)
        skip(name)
    else if (status == "disabled" || status == "notrun")
        fail(name ": not run" (message == "" ? "" : " (" message ")"))
    else if (status == "run" && cases == 0 && summaries > 0)
        fail(name ": ran none of its tests")
    else if (status == "run" && cases == 0)
        passed++
    else if (cases == 0)
        fail(name (message == "" ? "" : ": " message))
    else {
        passed += counted["PASSED"]
        for (i = 1; i <= nskipped; i++)
            skip(name ":" skipped_name[i])
        for (i = 1; i <= nfailed; i++)
            fail(name ":" failed_name[i])
        if (status != "run" && nfailed == 0)
            fail(name ": ended badly after its tests")
    }
}

END {
    if (passed + failed + skipped == 0)
        fail("no tests ran")
    printf "%s", notes
    for (i = 1; i <= 5 && all_seconds > 0 && longest[i] != ""; i++)
        printf "%s %s %.0f s", i == 1 ? sprintf("the longest, of %.0f s in all:", all_seconds) : ",", longest[i], seconds[longest[i]]
    if (i > 1)
        print ""
    printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
    exit failed > 0
}

function attribute(key,    text) {
    text = $0
    if (!sub(".* " key "=\"", "", text))
        return ""
    sub(/".*/, "", text)
    return text
}

# Keeps the five longest in order.
function time(name, took,    i) {
    seconds[name] = took + 0
    all_seconds += took
    for (i = 5; i > 0 && (longest[i] == "" || seconds[longest[i]] < seconds[name]); i--)
        longest[i + 1] = longest[i]
    longest[i + 1] = name
}

function fail(what) {
    failed++
    notes = notes "FAILED   " what "\n"
}

function skip(what,    reason) {
    reason = why_skipped(what)
    if (reason != "") {
        skipped++
        notes = notes "skipped  " what " (" reason ")\n"
    } else
        fail(what ": skipped, but tests/skips does not allow that" ("STDCL_TEST_CI" in ENVIRON ? " in CI" : ""))
}

function why_skipped(what,    program, name) {
    if (what in may_skip)
        return may_skip[what]
    program = what
    sub(/:.*/, "", program)
    if (program in may_skip)
        return may_skip[program]
    for (name in may_skip) # "*END": a whole program, not one of its tests
        if (name ~ /^\*/ && what == program && substr(what, length(what) - length(name) + 2) == substr(name, 2))
            return may_skip[name]
    if (program ~ /^deep_.*_as_gpu$/) { # the program test_..., in another environment
        name = "test_" substr(program, 6)
        sub(/_as_gpu$/, "", name)
        return why_skipped(name substr(what, length(program) + 1))
    }
    return ""
}
