/* clock.h - the one clock by which this repository measures: time that passes and never steps back.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds of another clock, such as the time that a thread has worked. */
static inline uint64_t ns_of_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Since some moment of the past. */
static inline uint64_t ns_now(void)
{
    return ns_of_clock(CLOCK_MONOTONIC);
}

static inline double seconds_now(void)
{
    return 1e-9 * (double)ns_now();
}

/* A number of seconds, with a point in every locale; as strtod. */
static inline double seconds_read(const char *text, char **end)
{
    const locale_t points = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double seconds = points ? strtod_l(text, end, points) : strtod(text, end);
    if (points)
        freelocale(points);
    return seconds;
}

/* For how long something is timed: `usual` seconds, or $STDCL_TIMED if that is less: tests, which
 * do not look at speeds, set it to almost nothing. */
static inline double seconds_timed(double usual)
{
    const char *wish = getenv("STDCL_TIMED");
    const double seconds = wish ? seconds_read(wish, NULL) : 0;
    return seconds > 0 && seconds < usual ? seconds : usual;
}

#endif
