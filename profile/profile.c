/* profile.c - the life of a context's profile, and phases of host work.
 *
 * The program or the environment turns a profile on and off; at exit it is printed if the
 * environment requests that. Device clocks are aligned with the host's once, when profiling is
 * turned on.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include "core/clock.h"

#include <unistd.h>

enum { MAX_DEPTH = 16, MAX_FINISHED_SPANS = 1 << 20 };

/* All profiles of the process. The lock guards the list, and a profile against being freed while
 * phases are added; it is taken before a profile's own lock. */
static struct profile *all_profiles;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t serials;
static uint64_t time_zero; /* of timelines: when the first profile was made */

/* ---- What the environment asks for, printed once a context ends, or the program. ---- */

static const char *wanted_format(void)
{
    const char *v = getenv("STDCL_PROFILE");
    return v && *v && strcmp(v, "0") != 0 ? v : NULL;
}

/* Refuse an unknown word, which would otherwise count as one of the formats. */
static int check_format(void)
{
    static const char *const formats[] = {"1", "table", "csv", "json"};
    const char *wish = wanted_format();
    for (size_t i = 0; wish && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(wish, formats[i]) == 0)
            wish = NULL;
    return wish ? fail(EINVAL, 0,
                       "clprofile: STDCL_PROFILE is \"%s\"; allowed values: 0 1 table csv json",
                       wish)
                : 0;
}

static const char *wanted_trace(void)
{
    const char *v = getenv("STDCL_TRACE");
    return v && *v ? v : NULL;
}

bool profile_wanted(void)
{
    return wanted_format() || wanted_trace();
}

/* Timelines of destroyed contexts, oldest first; guarded by all_lock. */
static struct timeline *finished, **finished_end = &finished;
static size_t finished_spans;

static bool anything_ran(struct profile *p)
{
    pthread_mutex_lock(&p->lock);
    bool used = p->dropped > 0;
    for (const struct profile_row *r = p->rows; r && !used; r = r->next)
        used = r->count > 0;
    pthread_mutex_unlock(&p->lock);
    return used;
}

static void print_at_end(struct profile *p, bool measure)
{
    const char *format = wanted_format();
    p->print_at_end = false;
    context_collect_all(p->cp);
    if (format && anything_ran(p) &&
        profile_report(p->cp, stderr,
                       strcmp(format, "csv") == 0    ? CLPROF_CSV
                       : strcmp(format, "json") == 0 ? CLPROF_JSON
                                                     : CLPROF_TABLE,
                       measure) != 0)
        fprintf(stderr, "stdcl: STDCL_PROFILE: %s\n", clerror());
}

static void profile_unlist(struct profile *p)
{
    pthread_mutex_lock(&all_lock);
    for (struct profile **link = &all_profiles; *link; link = &(*link)->next)
        if (*link == p) {
            *link = p->next;
            break;
        }
    pthread_mutex_unlock(&all_lock);
}

/* Keep the timeline of a profile that ends. */
static void keep_timeline(struct profile *p)
{
    struct timeline *t = p->timeline;
    const size_t spans = t->commands.count + t->phases.count;
    if (!wanted_trace())
        return;
    pthread_mutex_lock(&all_lock);
    if (finished_spans + spans > MAX_FINISHED_SPANS) { /* at least one timeline is kept */
        finished->commands.beyond += spans;
    } else {
        finished_spans += spans;
        timeline_shrink(t);
        *finished_end = t;
        finished_end = &t->next;
        p->timeline = NULL;
    }
    pthread_mutex_unlock(&all_lock);
}

/* At exit. Peaks are no longer measured: a compiler inside the driver may have been shut down. A
 * forked child inherits the parent's profiles, but not its devices. */
static pid_t owner;
static void print_all(void)
{
    if (getpid() != owner)
        return;
    bool any = finished != NULL;
    for (struct profile *p = all_profiles; p; p = p->next)
        if (p->print_at_end) {
            print_at_end(p, false);
            pthread_mutex_lock(&all_lock);
            *finished_end = p->timeline;
            finished_end = &p->timeline->next;
            pthread_mutex_unlock(&all_lock);
            any = true;
        }
    if (any && wanted_trace() && timeline_write(finished, time_zero, wanted_trace()) != 0)
        fprintf(stderr, "stdcl: STDCL_TRACE: %s\n", clerror());
}

static void register_print_all(void)
{
    owner = getpid();
    atexit(print_all);
}

void profile_told(CLCONTEXT *cp, double flops, double bytes, int precision)
{
    const struct profile *p = context_observed(cp);
    struct clpeak_info peak;
    for (cl_uint dev = 0; p && p->print_at_end && wanted_format() && dev < clgetndev(cp); dev++)
        peak_measure(cp, dev, peak_parts(flops, bytes, precision), &peak);
}

/* ---- On and off. ---- */

static void row_free(struct profile_row *r)
{
    while (r->strata) {
        struct stratum *s = r->strata;
        r->strata = s->next;
        free(s);
    }
    free(r);
}

static void profile_discard(struct profile *p)
{
    while (p->rows) {
        struct profile_row *r = p->rows;
        p->rows = r->next;
        row_free(r);
    }
    pthread_mutex_destroy(&p->lock);
    timeline_free(p->timeline);
    for (cl_uint i = 0; p->timed_queue && i < clgetndev(p->cp); i++)
        timing_sample_end(p, i);
    free(p->timed_queue);
    free(p->transfer);
    free(p->offset);
    free(p);
}

static bool profile_allocate(struct profile *p, cl_uint ndev)
{
    p->offset = calloc(ndev, sizeof *p->offset);
    p->timed_queue = calloc(ndev, sizeof(*p->timed_queue));
    p->transfer = calloc((size_t)ndev * DIRECTIONS, sizeof(*p->transfer));
    p->timeline = timeline_new(ndev);
    for (cl_uint i = 0; p->timeline && i < ndev; i++)
        snprintf(p->timeline->device[i], sizeof p->timeline->device[i], "%s",
                 device_name(p->cp, i));
    return p->offset && p->timed_queue && p->transfer && p->timeline;
}

static struct profile *profile_new(CLCONTEXT *cp)
{
    struct profile *p = calloc(1, sizeof *p), **link = &all_profiles;
    if (!p)
        return NULL;
    p->cp = cp;
    pthread_mutex_init(&p->lock, NULL);
    if (!profile_allocate(p, clgetndev(cp))) {
        profile_discard(p);
        return NULL;
    }
    pthread_mutex_lock(&all_lock);
    time_zero = time_zero ? time_zero : ns_now();
    p->serial = ++serials;
    while (*link)
        link = &(*link)->next;
    *link = p;
    pthread_mutex_unlock(&all_lock);
    return p;
}

enum { FEW = 5, MANY = 30, SOON_NS = 100000 };

/* At the end of a marker the device's clock equals the host's clock now, up to a delay of
 * microseconds: the minimum of several differences has the shortest delay. A busy machine repeats
 * this until one marker completes quickly. */
static int64_t clock_offset(cl_command_queue queue)
{
    cl_event ev;
    int64_t best = INT64_MAX, soonest = INT64_MAX;
    for (int i = 0; i < FEW || (i < MANY && soonest > SOON_NS); i++) {
        cl_ulong end = 0;
        const int64_t before = (int64_t)ns_now();
        if (clEnqueueMarkerWithWaitList(queue, 0, NULL, &ev) != CL_SUCCESS)
            continue;
        clWaitForEvents(1, &ev);
        const int64_t now = (int64_t)ns_now();
        if (clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) ==
                CL_SUCCESS &&
            now - (int64_t)end < best)
            best = now - (int64_t)end;
        if (now - before < soonest)
            soonest = now - before;
        clReleaseEvent(ev);
    }
    return best == INT64_MAX ? 0 : best;
}

static int change_queue(struct profile *p, cl_uint dev, cl_command_queue_properties flags)
{
    cl_int err;
    cl_command_queue queue =
        clCreateCommandQueue(clgetclcontext(p->cp, dev), clgetdevice(p->cp, dev), flags, &err);
    if (!queue)
        return fail(errno_of(err), err, "clprofile: no other queue on %s", device_name(p->cp, dev));
    clReleaseCommandQueue(device_replace_queue(p->cp, dev, queue));
    timing_sample_end(p, dev);
    return 0;
}

static int turn_on(struct profile *p, int period)
{
    for (cl_uint i = 0; i < clgetndev(p->cp); i++) {
        if (change_queue(p, i, CL_QUEUE_PROFILING_ENABLE) != 0)
            return -1;
        p->offset[i] = clock_offset(clgetqueue(p->cp, i));
        if (period > 1 && timing_sample(p, i) != 0)
            return -1;
    }
    p->period = period;
    p->on = true;
    return 0;
}

static int turn_off(struct profile *p)
{
    for (cl_uint i = 0; i < clgetndev(p->cp); i++)
        if (change_queue(p, i, 0) != 0)
            return -1;
    p->on = false;
    return 0;
}

STDCL_API int clprofile(CLCONTEXT *cp, int on)
{
    if (!cp)
        return fail_no_context("clprofile");
    if (forked_child("clprofile"))
        return -1;
    if (on && context_is_adopted(cp))
        return fail(ENOTSUP, 0,
                    "clprofile: an adopted context keeps the program's queues; create them with "
                    "CL_QUEUE_PROFILING_ENABLE and read the times of events instead");
    struct profile *p = context_observed(cp);
    const int period = on ? sample_period(cp, on == CLPROF_EVERY || wanted_trace()) : 0;
    if (period < 0 || (on && check_format() != 0))
        return -1;
    if (!p && !on)
        return 0;
    const bool first = !p;
    if (first && !(p = profile_new(cp)))
        return fail(ENOMEM, 0, "clprofile: out of memory on the host");
    if (p->on == (on != 0) && (!on || p->period == period))
        return 0;
    if ((on ? turn_on(p, period) : turn_off(p)) != 0) {
        if (first) { /* so that an unused profile is not reported as empty */
            profile_unlist(p);
            profile_discard(p);
        }
        return -1;
    }
    context_observe(cp, p);
    p->print_at_end = p->print_at_end || (on && profile_wanted());
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (p->print_at_end)
        pthread_once(&once, register_print_all);
    return 0;
}

STDCL_API int clprofile_reset(CLCONTEXT *cp)
{
    if (!cp)
        return fail(EINVAL, 0, "clprofile_reset: the context is NULL");
    if (forked_child("clprofile_reset"))
        return -1;
    struct profile *p = context_observed(cp);
    if (!p)
        return 0;
    context_collect_all(cp);
    pthread_mutex_lock(&p->lock);
    p->dropped = 0;
    for (struct profile_row *r = p->rows; r; r = r->next) {
        r->count = r->timed = 0;
        r->total = r->minimum = r->maximum = 0;
        r->flops = r->bytes = 0;
        for (struct stratum *s = r->strata; s; s = s->next)
            *s = (struct stratum){.next = s->next, .size = s->size};
    }
    p->timeline->commands.count = p->timeline->commands.beyond = 0;
    p->timeline->phases.count = p->timeline->phases.beyond = 0;
    pthread_mutex_unlock(&p->lock);
    return 0;
}

void profile_free(CLCONTEXT *cp)
{
    struct profile *p = context_observed(cp);
    if (!p)
        return;
    context_collect_all(cp); /* afterwards no command refers to a row */
    bool wanted = p->print_at_end;
    if (wanted)
        print_at_end(p, true);
    profile_unlist(p);
    if (wanted)
        keep_timeline(p);
    context_observe(cp, NULL);
    profile_discard(p);
}

/* ---- Host phases. ---- */

/* The open phases of a thread; serial 0: begun while profiling was off. */
static _Thread_local struct {
    uint64_t serial, start;
    uint32_t name;
} open_phase[MAX_DEPTH];
static _Thread_local int depth;
static _Thread_local uint32_t thread_number; /* from 1; 0: none yet */
static _Atomic uint32_t threads;

STDCL_API void clprofile_begin(CLCONTEXT *cp, const char *name)
{
    struct profile *p = cp && name ? context_observed(cp) : NULL;
    int level = depth++;
    if (level >= MAX_DEPTH)
        return;
    open_phase[level].serial = 0;
    if (!p || !p->on || forked_child("clprofile_begin"))
        return;
    pthread_mutex_lock(&p->lock);
    const bool noted = timeline_name(p->timeline, name, &open_phase[level].name);
    pthread_mutex_unlock(&p->lock);
    if (!noted) {
        profile_drop(p);
        return;
    }
    open_phase[level].serial = p->serial;
    open_phase[level].start = ns_now();
}

/* The context may be destroyed by now, so find its profile by number. */
STDCL_API void clprofile_end(CLCONTEXT *cp)
{
    (void)cp;
    if (depth == 0 || --depth >= MAX_DEPTH || !open_phase[depth].serial ||
        forked_child("clprofile_end"))
        return;
    uint64_t end = ns_now();
    thread_number = thread_number ? thread_number : atomic_fetch_add(&threads, 1) + 1;
    pthread_mutex_lock(&all_lock);
    struct profile *p = all_profiles;
    while (p && p->serial != open_phase[depth].serial)
        p = p->next;
    if (p) {
        pthread_mutex_lock(&p->lock);
        timeline_add(
            &p->timeline->phases, MAX_PHASES,
            (struct span){open_phase[depth].start, end, open_phase[depth].name, thread_number - 1});
        pthread_mutex_unlock(&p->lock);
    }
    pthread_mutex_unlock(&all_lock);
}

/* ---- The timeline. ---- */

/* Hold the profile's lock while writing, so that its rows do not change. */
STDCL_API int clprofile_trace(CLCONTEXT *cp, const char *file)
{
    struct profile *p = cp ? context_observed(cp) : NULL;
    if (!file)
        return fail(EINVAL, 0, "clprofile_trace: the file name is NULL");
    if (forked_child("clprofile_trace"))
        return -1;
    if (!p)
        return fail(EINVAL, 0,
                    "clprofile_trace: profiling was never on; call clprofile(cp, 1) first");
    context_collect_all(cp);
    if (profile_check_complete(p, "clprofile_trace") != 0)
        return -1;
    pthread_mutex_lock(&p->lock);
    int status = timeline_write(p->timeline, time_zero, file);
    pthread_mutex_unlock(&p->lock);
    return status;
}
