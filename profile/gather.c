/* gather.c - accumulates commands in the profile: the observer of the core.
 *
 * The record of a command names its row, one per kernel or direction of transfers. When the event
 * is collected, the duration is added to that row and the event is released, so memory stays
 * bounded however long a program runs.
 * SPDX-License-Identifier: MIT
 */
#include "profile/profile.h"

#include <math.h>

/* ---- Lines. ---- */

/* NULL if out of memory. Call with p->lock held. */
static struct profile_row *profile_row_of(struct profile *p, cl_uint dev, int kind, int precision,
                                          const char *name)
{
    uint32_t number;
    struct profile_row *r = p->rows;
    if (!timeline_name(p->timeline, name, &number))
        return NULL;
    while (r &&
           !(r->dev == dev && r->kind == kind && r->precision == precision && r->name == number))
        r = r->next;
    if (r || !(r = calloc(1, sizeof *r)))
        return r;
    *r = (struct profile_row){.next = p->rows,
                              .profile = p,
                              .dev = dev,
                              .kind = kind,
                              .precision = precision,
                              .name = number};
    p->rows = r;
    return r;
}

/* ---- Kernels: their place in the core holds how much work a launch is, and their lines. ---- */

struct work {
    double flops, bytes; /* set by clprofile_work */
    int precision;
    struct profile_row *row[]; /* one a device, NULL until a launch is profiled */
};

/* Call with the kernel's lock held. NULL if out of memory. */
static struct work *kernel_work_of(struct kernel *k)
{
    void **place = kernel_place(k);
    if (!*place)
        *place = calloc(1, sizeof(struct work) +
                               clgetndev(kernel_context(k)) * sizeof(struct profile_row *));
    return *place;
}

static void note_launch(struct profile *p, const struct command *c, struct command_record *note)
{
    struct work *w = kernel_work_of(c->kernel);
    if (w && !w->row[c->dev]) {
        pthread_mutex_lock(&p->lock);
        w->row[c->dev] =
            profile_row_of(p, c->dev, CL_KERNEL_EVENT, w->precision, kernel_name(c->kernel));
        pthread_mutex_unlock(&p->lock);
    }
    if (!w || !w->row[c->dev]) {
        profile_drop(p);
        return;
    }
    *note = (struct command_record){.line = w->row[c->dev], .flops = w->flops, .bytes = w->bytes};
    timing_choose(note, w->flops > 0 ? w->flops : w->bytes > 0 ? w->bytes : c->size);
}

STDCL_API int clprofile_work(cl_kernel krn, double flops, double bytes, int precision)
{
    struct kernel *k = kernel_of(krn, "clprofile_work");
    if (!k)
        return -1;
    if (!(flops >= 0 && flops < HUGE_VAL) || !(bytes >= 0 && bytes < HUGE_VAL) ||
        (unsigned)precision > CLPROF_TENSOR)
        return fail(
            EINVAL, 0,
            "clprofile_work: kernel %s: %g operations, %g bytes, precision %d; numbers must be finite "
            "and >= 0, and the precision CLPROF_SINGLE, _DOUBLE or _TENSOR",
            kernel_name(k), flops, bytes, precision);
    profile_told(kernel_context(k), flops, bytes, precision);
    kernel_lock(k);
    struct work *w = kernel_work_of(k);
    if (w && precision != w->precision)
        memset(w->row, 0, clgetndev(kernel_context(k)) * sizeof(*w->row));
    if (w) {
        w->flops = flops;
        w->bytes = bytes;
        w->precision = precision;
    }
    kernel_unlock(k);
    return w ? 0 : fail(ENOMEM, 0, "clprofile_work: out of memory on the host");
}

/* ---- Transfers. ---- */

static void note_transfer(struct profile *p, const struct command *c, struct command_record *note)
{
    static const char *const names[DIRECTIONS] = {"host to device", "device to host",
                                                  "copy on device"};
    const int direction = (int)c->kind - HOST_TO_DEVICE;
    pthread_mutex_lock(&p->lock);
    struct profile_row **r = &p->transfer[c->dev * DIRECTIONS + (cl_uint)direction];
    if (!*r)
        *r = profile_row_of(p, c->dev, CL_MEM_EVENT, CLPROF_SINGLE, names[direction]);
    pthread_mutex_unlock(&p->lock);
    if (!*r)
        profile_drop(p);
    /* a copy on the device reads and writes */
    *note = (struct command_record){.line = *r,
                                    .bytes = c->kind == COPY_ON_DEVICE ? 2 * c->size : c->size};
    timing_choose(note, note->bytes);
}

/* ---- Adding. ---- */

/* Read the time stamps of a command; an OpenCL error if it has none. */
static cl_int event_timestamps(cl_event ev, cl_ulong *start, cl_ulong *end)
{
    cl_int err = clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_END, sizeof *end, end, NULL);
    if (err == CL_SUCCESS)
        err = clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_START, sizeof *start, start, NULL);
    return err == CL_SUCCESS && *end == 0 ? CL_PROFILING_INFO_NOT_AVAILABLE : err;
}

/* Call with p->lock held. */
static void count_command(struct profile_row *r, const struct command_record *note)
{
    r->count++;
    r->flops += note->flops;
    r->bytes += note->bytes;
}

/* Count a command that is not timed. */
static void profile_count(const struct command_record *note)
{
    struct profile_row *r = note->line;
    struct stratum *s = note->stratum;
    struct profile *p = r->profile;
    pthread_mutex_lock(&p->lock);
    count_command(r, note);
    if (s)
        s->untimed++;
    pthread_mutex_unlock(&p->lock);
}

static void row_add_time(const struct command_record *note, cl_ulong start, cl_ulong end)
{
    struct profile_row *r = note->line;
    struct profile *p = r->profile;
    uint64_t t = end > start ? end - start : 0, host_start = start + (uint64_t)p->offset[r->dev];
    pthread_mutex_lock(&p->lock);
    r->minimum = r->timed && r->minimum < t ? r->minimum : t;
    r->maximum = r->maximum > t ? r->maximum : t;
    r->total += t;
    r->timed++;
    count_command(r, note);
    if (note->stratum)
        stratum_add(note->stratum, t);
    timeline_add(
        &p->timeline->commands, MAX_SPANS,
        (struct span){host_start, host_start + t, r->name, 2 * r->dev + (r->kind == CL_MEM_EVENT)});
    pthread_mutex_unlock(&p->lock);
}

/* A failed command is not counted; a command without time stamps is. */
static bool command_collected(const struct command_record *note, cl_event ev)
{
    cl_ulong start = 0, end = 0;
    cl_int err = event_timestamps(ev, &start, &end), status = CL_COMPLETE;
    if (err != CL_SUCCESS) {
        clGetEventInfo(ev, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (status > CL_COMPLETE)
            return false;
        err = event_timestamps(ev, &start, &end); /* it may have completed since */
    }
    if (err == CL_SUCCESS)
        row_add_time(note, start, end);
    else if (status == CL_COMPLETE)
        profile_count(note);
    return true;
}

/* ---- The observer. ---- */

static int context_begins(CLCONTEXT *cp)
{
    return profile_wanted() ? clprofile(cp, 1) : 0;
}

static cl_command_queue command_begins(const struct command *c, struct command_record *note)
{
    struct profile *p = context_observed(c->cp);
    if (p->on && c->kind == KERNEL_LAUNCH)
        note_launch(p, c, note);
    else if (p->on)
        note_transfer(p, c, note);
    return timing_begin(p, c, note);
}

static void command_started(const struct command *c, struct command_record *note, cl_event ev)
{
    timing_end(context_observed(c->cp), c, note, ev);
    if (!note->timed) {
        profile_count(note);
        note->line = NULL; /* its event has no information */
    }
}

static const struct observer observer = {
    .context_begins = context_begins,
    .context_ends = profile_free,
    .kernel_ends = free,
    .command_begins = command_begins,
    .command_started = command_started,
    .command_collected = command_collected,
};
const struct observer *const core_observer = &observer;
