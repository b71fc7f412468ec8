/* sample.c - which commands are timed, on devices where time stamps are expensive.
 *
 * Graphics drivers take microseconds for the two time stamps of a command. On such devices, each
 * row of the profile times the first commands of a size and then one in `period` on average, at
 * random intervals so that no loop stays in step. The other commands are counted, and reports give
 * each the mean of its size. Commands much longer than the stamps are always timed.
 *
 * The context's queue then takes no time stamps. A timed command goes to a second queue, which
 * does, between a marker and a barrier on the first queue, so that the order is kept.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include <math.h>

/* Number of commands of a size that are timed before sampling starts. The first half may be slow
 * and does not count for later commands. */
enum { FIRST = 64, SETTLED = FIRST / 2 };

/* Commands longer than this are always timed, ns. */
static const uint64_t long_command = 1000000;

/* On a device that is not a CPU one of this many commands is timed. */
enum { USUAL_PERIOD = 256, MOST_PERIOD = 1000000 };

/* ---- Whether. ---- */

static int usual_period(const CLCONTEXT *cp)
{
    return device_type(cp, 0) & CL_DEVICE_TYPE_CPU ? 1 : USUAL_PERIOD;
}

/* With several devices every command is timed: samples cannot show how long devices were busy at
 * once. */
int sample_period(CLCONTEXT *cp, bool every)
{
    const char *text = getenv("STDCL_PROFILE_SAMPLE");
    char *end;
    if (every || clgetndev(cp) > 1)
        return 1;
    if (!text || !*text)
        return usual_period(cp);
    const long n = strtol(text, &end, 10);
    if (end == text || *end || n < 1 || n > MOST_PERIOD)
        return fail(
            EINVAL, 0,
            "clprofile: STDCL_PROFILE_SAMPLE is \"%s\"; give a whole number, 1 to %d: of how many "
            "commands one is to be timed",
            text, MOST_PERIOD);
    return (int)n;
}

/* xorshift32 */
static uint32_t sample_random(struct profile *p)
{
    p->random = p->random ? p->random : 2463534242u;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    return p->random ^= p->random << 5;
}

/* Call the functions below with p->lock held. Sizes are powers of two. */
static struct stratum *stratum_of(struct profile_row *r, double work)
{
    int size = 0;
    frexp(work, &size);
    struct stratum *s = r->strata;
    while (s && s->size != size)
        s = s->next;
    if (s || !(s = calloc(1, sizeof *s)))
        return s;
    *s = (struct stratum){.next = r->strata, .size = size};
    return r->strata = s;
}

static bool is_timed(struct profile *p, struct stratum *s)
{
    s->started++;
    if (s->started >= FIRST && s->started >= s->turn) {
        s->turn = s->started + 1 + sample_random(p) % (2 * (uint32_t)p->period - 1);
        return true;
    }
    return s->started < FIRST || stratum_mean(s) > (double)long_command;
}

double stratum_mean(const struct stratum *s)
{
    if (s->timed > SETTLED)
        return (double)(s->total - s->early) / (double)(s->timed - SETTLED);
    return s->timed ? (double)s->total / (double)s->timed : 0;
}

void stratum_add(struct stratum *s, uint64_t ns)
{
    s->timed++;
    s->total += ns;
    s->early += s->timed <= SETTLED ? ns : 0;
}

/* A command that was not timed counts as the mean of its size, or of all sizes if none of its size
 * was timed. */
double sample_total(const struct profile_row *r)
{
    double total = (double)r->total;
    size_t rest = r->count - r->timed;
    for (const struct stratum *s = r->strata; s; s = s->next)
        if (s->timed) {
            total += (double)s->untimed * stratum_mean(s);
            rest -= s->untimed;
        }
    return total + (r->timed ? (double)rest * (double)r->total / (double)r->timed : 0);
}

/* ---- How. ---- */

int timing_sample(struct profile *p, cl_uint dev)
{
    cl_int err;
    cl_command_queue plain =
        clCreateCommandQueue(clgetclcontext(p->cp, dev), clgetdevice(p->cp, dev), 0, &err);
    if (!plain)
        return fail(errno_of(err), err, "clprofile: no other queue on %s", device_name(p->cp, dev));
    p->timed_queue[dev] = device_replace_queue(p->cp, dev, plain);
    return 0;
}

void timing_sample_end(struct profile *p, cl_uint dev)
{
    if (p->timed_queue[dev])
        clReleaseCommandQueue(p->timed_queue[dev]);
    p->timed_queue[dev] = NULL;
}

void timing_choose(struct command_record *note, double work)
{
    struct profile_row *r = note->line;
    if (!r)
        return;
    struct profile *p = r->profile;
    note->timed = true;
    if (p->period == 1)
        return;
    pthread_mutex_lock(&p->lock);
    note->stratum = stratum_of(r, work);
    note->timed = !note->stratum || is_timed(p, note->stratum);
    pthread_mutex_unlock(&p->lock);
}

/* Let the second queue wait for all commands of the first. */
static bool queue_hand_over(cl_command_queue queue, cl_command_queue timed)
{
    cl_event before;
    if (clEnqueueMarkerWithWaitList(queue, 0, NULL, &before) != CL_SUCCESS)
        return false;
    bool ok = clFlush(queue) == CL_SUCCESS &&
              clEnqueueBarrierWithWaitList(timed, 1, &before, NULL) == CL_SUCCESS;
    clReleaseEvent(before);
    return ok;
}

cl_command_queue timing_begin(const struct profile *p, const struct command *c,
                              struct command_record *note)
{
    cl_command_queue queue = clgetqueue(c->cp, c->dev), timed = p->timed_queue[c->dev];
    if (!note->timed || !timed)
        return queue;
    note->timed = queue_hand_over(queue, timed);
    return note->timed ? timed : queue;
}

/* Let the first queue wait for the command; if that fails, the host waits. */
static void come_back(cl_command_queue queue, cl_command_queue timed, cl_event ev)
{
    if (clFlush(timed) != CL_SUCCESS ||
        clEnqueueBarrierWithWaitList(queue, 1, &ev, NULL) != CL_SUCCESS)
        clWaitForEvents(1, &ev);
}

void timing_end(const struct profile *p, const struct command *c, const struct command_record *note,
                cl_event ev)
{
    if (note->timed && p->timed_queue[c->dev])
        come_back(clgetqueue(c->cp, c->dev), p->timed_queue[c->dev], ev);
}
