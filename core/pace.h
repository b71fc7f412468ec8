/* pace.h - how much work to start at a time, by the speed that was measured.
 *
 *   struct pace pace = pace_of(1e8);              units of work a second that any device reaches
 *   while (work is left) {
 *       double now = ...                          what is left, but at most pace_slice(&pace), or
 *       the least there is if (!pace_has_room(&pace, now)) {
 *           clwait(...);                          for all that was started,
 *           pace_waited(&pace);                   which is measured
 *       }
 *       start it, in a launch of its own; pace_started(&pace, now);
 *   }
 *
 * So no launch takes much longer than PACE_SECONDS, no more than about that is ever queued, and
 * after each wait a caller may be told of the progress and stop the work. Work that fits is started
 * as if there were no pace. What is cut must be cut such that results stay the same bit for bit,
 * since where the cuts are depends on the clock. $STDCL_SLICE, in seconds, replaces PACE_SECONDS:
 * tests set it to almost nothing, which cuts wherever it is possible.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_PACE_H
#define CORE_PACE_H

#include "core/clock.h"

#include <stdbool.h>
#include <stdlib.h>

#define PACE_SECONDS 0.25
#define PACE_CLEAR 0.01 /* what took less was mostly the launch itself */

struct pace {
    double seconds; /* of a slice */
    double rate;    /* units of work a second */
    double queued;  /* work that was started and not yet waited for */
    double since;   /* when the first of it was started */
};

/* A pace that begins with small slices: `rate` is what even a slow device does in a second. */
static inline struct pace pace_of(double rate)
{
    const char *slice = getenv("STDCL_SLICE");
    const double seconds = slice ? seconds_read(slice, NULL) : 0;
    return (struct pace){.seconds = seconds > 0 ? seconds : PACE_SECONDS, .rate = rate};
}

/* How long some work will take. */
static inline double pace_time(const struct pace *p, double work)
{
    return work / p->rate;
}

/* The work of a slice: the most that should be started at once. */
static inline double pace_slice(const struct pace *p)
{
    return p->seconds * p->rate;
}

/* Whether so much more may be started before a wait; always when nothing is queued. */
static inline bool pace_has_room(const struct pace *p, double work)
{
    return p->queued == 0 || p->queued + work <= pace_slice(p);
}

static inline void pace_started(struct pace *p, double work)
{
    if (p->queued == 0)
        p->since = seconds_now();
    p->queued += work;
}

/* All that was started is done. */
static inline void pace_waited(struct pace *p)
{
    const double took = seconds_now() - p->since;
    if (p->queued > 0 && took > 0 && (took > PACE_CLEAR || p->queued / took > p->rate))
        p->rate = p->queued / took;
    p->queued = 0;
}

#endif
