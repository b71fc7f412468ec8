/* sample.c - which commands are timed, and how, where a time stamp is dear.
 *
 * Graphics drivers take some microseconds for the two time stamps of a command. There, of each line
 * of the profile the first commands of a size are timed, and then one in `period` on average, at
 * random distances so that no loop keeps step with them. The others are only counted, and reports
 * give each the mean of those of its size; commands so long that the stamps do not matter are all
 * timed.
 *
 * The context's queue takes no time stamps then. A command that is timed goes to a second queue,
 * which does, between a marker and a barrier in the first one, so that the order is kept.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include <math.h>

/* How many of a size are timed before it becomes a sample; the first half of them may be slow, and
 * does not speak for those that come later. */
enum { FIRST = 64, SETTLED = FIRST / 2 };

/* Commands that take longer than this are all timed, ns. */
static const uint64_t long_command = 1000000;

/* Of how many commands one is timed on a device that is no CPU. */
enum { USUAL_PERIOD = 256, MOST_PERIOD = 1000000 };

/* ---- Whether. ---- */

static int usual_period(const CLCONTEXT *cp)
{
    return device_type(cp, 0) & CL_DEVICE_TYPE_CPU ? 1 : USUAL_PERIOD;
}

/* Of several devices every command is timed: how long they worked at once is not to be had from
 * samples. */
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
static uint32_t draw(struct profile *p)
{
    p->random = p->random ? p->random : 2463534242u;
    p->random ^= p->random << 13;
    p->random ^= p->random >> 17;
    return p->random ^= p->random << 5;
}

/* The lines below hold p->lock. Sizes are powers of two. */
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
        s->turn = s->started + 1 + draw(p) % (2 * (uint32_t)p->period - 1);
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

/* Those that were not timed count as the mean of their size; where none of a size could be timed,
 * of all. */
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

void timing_choose(struct note *note, double work)
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

/* The second queue waits for all that the first was told so far. */
static bool pass_on(cl_command_queue queue, cl_command_queue timed)
{
    cl_event before;
    if (clEnqueueMarkerWithWaitList(queue, 0, NULL, &before) != CL_SUCCESS)
        return false;
    bool ok = clFlush(queue) == CL_SUCCESS &&
              clEnqueueBarrierWithWaitList(timed, 1, &before, NULL) == CL_SUCCESS;
    clReleaseEvent(before);
    return ok;
}

cl_command_queue timing_begin(const struct profile *p, const struct command *c, struct note *note)
{
    cl_command_queue queue = clgetqueue(c->cp, c->dev), timed = p->timed_queue[c->dev];
    if (!note->timed || !timed)
        return queue;
    note->timed = pass_on(queue, timed);
    return note->timed ? timed : queue;
}

/* The first queue waits for the command; where it cannot be told to, the host does. */
static void come_back(cl_command_queue queue, cl_command_queue timed, cl_event ev)
{
    if (clFlush(timed) != CL_SUCCESS ||
        clEnqueueBarrierWithWaitList(queue, 1, &ev, NULL) != CL_SUCCESS)
        clWaitForEvents(1, &ev);
}

void timing_end(const struct profile *p, const struct command *c, const struct note *note,
                cl_event ev)
{
    if (note->timed && p->timed_queue[c->dev])
        come_back(clgetqueue(c->cp, c->dev), p->timed_queue[c->dev], ev);
}
