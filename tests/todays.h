/* todays.h - a part of many similar cases, another part each day.
 *
 * Where cases differ by what has to be compiled, a test makes some of them, and all within a few
 * days:
 *     if (!todays(i, 3))
 *         continue;
 * leaves out all but a third. Where whole tests take long,
 *     return todays_run("loader", tests, 5, 3, setup, teardown);
 * runs of an array of cmocka's tests the first five and a third of the others. Of a test that
 * failed, STDCL_TEST_DAY in the environment, as the test said, makes the same cases again. With
 * STDCL_TEST_DEEP=1, as in `make test-deep`, there are all.
 * SPDX-License-Identifier: MIT
 */
#ifndef TODAYS_H
#define TODAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Days since 1970, or what STDCL_TEST_DAY says. */
static inline size_t todays_day(void)
{
    static size_t day;
    const char *wish = getenv("STDCL_TEST_DAY");
    if (day == 0) {
        day = wish && *wish ? (size_t)strtoul(wish, NULL, 10) : (size_t)(time(NULL) / 86400);
        printf("some of many cases: STDCL_TEST_DAY=%zu has the same, STDCL_TEST_DEEP=1 all\n", day);
    }
    return day;
}

/* Whether case i is made today, one of `parts`. */
static inline bool todays(size_t i, size_t parts)
{
    return getenv("STDCL_TEST_DEEP") || (i + todays_day()) % parts == 0;
}

/* Of `count` tests of `size` bytes each, leaves the first `always` and those of the others that are
 * made today; returns how many are left. */
static inline size_t todays_tests(void *tests, size_t count, size_t size, size_t always,
                                  size_t parts)
{
    size_t left = always;
    for (size_t i = always; i < count; i++)
        if (todays(i, parts))
            memmove((char *)tests + left++ * size, (char *)tests + i * size, size);
    return left;
}

#define todays_run(name, tests, always, parts, setup, teardown)                                    \
    _cmocka_run_group_tests(                                                                       \
        name, tests,                                                                               \
        todays_tests(tests, sizeof(tests) / sizeof *(tests), sizeof *(tests), always, parts),      \
        setup, teardown)

#endif /* TODAYS_H */
