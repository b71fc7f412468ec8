/* clock.h - the monotonic clock used for all measurements.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include <locale.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds of another clock, such as a thread's processor time. */
static inline uint64_t ns_of_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Nanoseconds since an arbitrary start. */
static inline uint64_t ns_now(void)
{
    return ns_of_clock(CLOCK_MONOTONIC);
}

static inline double seconds_now(void)
{
    return 1e-9 * (double)ns_now();
}

/* Parse seconds, with a decimal point in every locale; otherwise as strtod. */
static inline double seconds_read(const char *text, char **end)
{
    const locale_t points = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    const double seconds = points ? strtod_l(text, end, points) : strtod(text, end);
    if (points)
        freelocale(points);
    return seconds;
}

/* Duration of a measurement: `usual` seconds, or $STDCL_TIMED if that is less. Tests, which do not
 * compare speeds, set it to almost nothing. */
static inline double seconds_timed(double usual)
{
    const char *wish = getenv("STDCL_TIMED");
    const double seconds = wish ? seconds_read(wish, NULL) : 0;
    return seconds > 0 && seconds < usual ? seconds : usual;
}

#endif
