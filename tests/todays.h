/* todays.h - a part of many similar cases, another part each day.
 *
 * Where cases differ by what has to be compiled, a test makes some of them, and all within a few days:
 *     if (!todays(i, 3))
 *         continue;
 * leaves out all but a third. Of a test that failed, STDCL_TEST_DAY in the environment, as the test said, makes the same
 * cases again. With STDCL_TEST_DEEP=1, as in `make test-deep`, there are all.
 * SPDX-License-Identifier: MIT
 */
#ifndef TODAYS_H
#define TODAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

#endif /* TODAYS_H */
