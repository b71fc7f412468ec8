/* pace.h - slices of work: how much to launch at a time, from the measured speed.
 *
 *   struct pace pace = pace_of(1e8);              initial rate, units of work per second
 *   while (work is left) {
 *       double now = ...                          at most pace_slice(&pace), or the minimum
 *       if (!pace_has_room(&pace, now)) {
 *           clwait(...);                          for all launches so far,
 *           pace_waited(&pace);                   which measures the rate
 *       }
 *       pace_started(&pace, now); launch it;
 *   }
 *
 * No launch takes much longer than PACE_SECONDS, no more than about one slice is queued, and after
 * each wait the caller can report progress and cancel. Work that fits into a slice is launched as
 * if there were no pace. Where slices end depends on the clock, so results must not depend on it.
 * $STDCL_SLICE, in seconds, replaces PACE_SECONDS: tests set it to almost nothing, which cuts
 * wherever possible.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_PACE_H
#define CORE_PACE_H

#include "core/clock.h"

#include <stdbool.h>
#include <stdlib.h>

#define PACE_SECONDS 0.25
#define PACE_CLEAR 0.01 /* shorter times are mostly launch overhead */
#define PACE_WAIT 1e-3  /* shorter waits may be for work that is done */

struct pace {
    double seconds; /* length of a slice */
    double rate;    /* units of work per second */
    double queued;  /* work launched since the last wait */
    double since;   /* time of its first launch */
};

/* A pace with small initial slices; rate: what even a slow device reaches, units per second. */
static inline struct pace pace_of(double rate)
{
    const char *slice = getenv("STDCL_SLICE");
    const double seconds = slice ? seconds_read(slice, NULL) : 0;
    return (struct pace){.seconds = seconds > 0 ? seconds : PACE_SECONDS, .rate = rate};
}

/* Expected seconds for some work. */
static inline double pace_time(const struct pace *p, double work)
{
    return work / p->rate;
}

/* Work of one slice: the most to launch at once. */
static inline double pace_slice(const struct pace *p)
{
    return p->seconds * p->rate;
}

/* True if this much work may be launched before a wait; always if nothing is queued. */
static inline bool pace_has_room(const struct pace *p, double work)
{
    return p->queued == 0 || p->queued + work <= pace_slice(p);
}

/* Call it before the launch: a driver may compile in the launch, and the work may be complete when
 * the launch returns. A clock started after the launch measures a rate that is far too high, and
 * the next slice would take many seconds. */
static inline void pace_started(struct pace *p, double work)
{
    if (p->queued == 0)
        p->since = seconds_now();
    p->queued += work;
}

/* All launched work is done. */
static inline void pace_waited(struct pace *p)
{
    const double took = seconds_now() - p->since;
    if (p->queued > 0 && took > 0 && (took > PACE_CLEAR || p->queued / took > p->rate))
        p->rate = p->queued / took;
    p->queued = 0;
}

/* The same after a wait of `seconds`, for one of several devices. If the wait was hardly any, the
 * work was done before, while the host waited for another device: the measured rate is too low. */
static inline void pace_waited_after(struct pace *p, double seconds)
{
    const double rate = p->rate;
    pace_waited(p);
    if (seconds < PACE_WAIT && p->rate < rate)
        p->rate = rate;
}

#endif
