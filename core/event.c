/* event.c - collecting commands: clwait, clwaitev, clflush.
 *
 * A device keeps the events of its uncollected commands in two growable lists, kernels and memory,
 * oldest first. Its queue runs in order, so when the newest event of a list is complete, the older
 * ones are too, except events that another thread or a side queue (side_queue.c) had in flight:
 * those are waited for one by one. A list that nobody collects is trimmed from its old end as
 * commands complete.
 *
 * The first failed or refused command of each kind is remembered until a wait reports it: clwait
 * reports failures of the commands it waits for, and a call that waits for its own command reports
 * all failures before it.
 *
 * The list holds one reference to each event. When the record leaves the list, the reference is
 * released, or with CL_EVENT_NORELEASE passed to the caller.
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

/* Every TRIM_EVERY-th command of a device trims the list to KEPT_EVENTS by releasing completed
 * events from CL_EVENT_NOWAIT. */
enum { KEPT_EVENTS = 4096, TRIM_EVERY = 256 };

/* With this many uncollected commands, the next command blocks until half of them are complete. A
 * program that never waits is throttled to the device's pace, and its memory stays bounded. */
enum { MOST_EVENTS = 16384 };

static cl_int status_of(cl_event ev)
{
    cl_int status = CL_COMPLETE;
    clGetEventInfo(ev, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

cl_int event_wait(cl_event ev)
{
    const cl_int err = clWaitForEvents(1, &ev), status = status_of(ev);
    return status < 0 ? status : err;
}

/* Release the list's reference to a completed command. hand_over: the caller gets the reference,
 * unless it got one at the start. */
static void record_retire(struct event_record *r, bool hand_over)
{
    command_collected(&r->note, r->event);
    if (!hand_over || r->shared)
        clReleaseEvent(r->event);
    r->event = NULL;
}

/* Remove the oldest record. */
static void event_list_pop(struct event_list *list, bool hand_over)
{
    struct event_record *r = &list->record[list->first++];
    if (r->event)
        record_retire(r, hand_over);
    if (list->seen < list->first)
        list->seen = list->first;
    if (list->first == list->end)
        list->first = list->seen = list->end = 0;
}

/* ---- Failures. ---- */

/* Number of a failure among all that are deferred to a wait. */
static uint64_t next_failure(void)
{
    static _Atomic uint64_t failures;
    return atomic_fetch_add(&failures, 1) + 1;
}

/* Keep the first failure for the next wait. Call with d->lock held. */
static void remember_failure(struct device *d, enum event_kind kind, cl_int status)
{
    if (status < 0 && d->pending_error[kind].code == 0)
        d->pending_error[kind] =
            (struct failure){.code = EIO, .ocl = status, .unread = true, .order = next_failure()};
}

/* Check completed commands for failure, oldest first, up to a number. Call with d->lock held. */
static void poll_errors(struct device *d, enum event_kind kind, uint64_t number)
{
    struct event_list *list = &d->events[kind];
    for (; list->seen < list->end && list->record[list->seen].number <= number; list->seen++) {
        cl_event ev = list->record[list->seen].event;
        const cl_int status = ev ? status_of(ev) : CL_COMPLETE;
        if (status > CL_COMPLETE)
            break;
        remember_failure(d, kind, status);
    }
}

/* Take the pending failures of these kinds (CL_KERNEL_EVENT, CL_MEM_EVENT); code 0: none. */
static void take_pending(struct device *d, int kinds, struct failure taken[EVENT_KINDS])
{
    static const int flag[] = {[KERNEL_EVENT] = CL_KERNEL_EVENT, [MEMORY_EVENT] = CL_MEM_EVENT};
    pthread_mutex_lock(&d->lock);
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        taken[kind] = (struct failure){0};
        if (kinds & flag[kind]) {
            taken[kind] = d->pending_error[kind];
            d->pending_error[kind] = (struct failure){0};
        }
    }
    pthread_mutex_unlock(&d->lock);
}

/* Report the earliest failure of these kinds, and drop a later one. True if clerror() is set. */
static bool report_pending(struct device *d, int kinds, const char *call)
{
    struct failure f[EVENT_KINDS], *kernel = &f[KERNEL_EVENT], *copy = &f[MEMORY_EVENT];
    take_pending(d, kinds, f);
    const bool copy_first = copy->code && (!kernel->code || copy->order < kernel->order);
    struct failure *first = copy_first ? copy : kernel, *second = copy_first ? kernel : copy;
    if (first->text)
        failure_restore(first);
    else if (first->code)
        fail(first->code, first->ocl, "%s: a %s failed on %s", call, copy_first ? "copy" : "kernel",
             d->name);
    failure_drop_saved(second);
    return first->code != 0;
}

bool event_report_pending(struct device *d, const char *call)
{
    pthread_mutex_lock(&d->lock);
    for (enum event_kind kind = 0; kind < EVENT_KINDS; kind++)
        poll_errors(d, kind, UINT64_MAX);
    pthread_mutex_unlock(&d->lock);
    return report_pending(d, CL_ALL_EVENT, call);
}

/* The first refused command without a context since the last clwait without one. */
static pthread_mutex_t no_context_lock = PTHREAD_MUTEX_INITIALIZER;
static struct failure no_context_error;

cl_event event_or_defer_error(CLCONTEXT *cp, struct device *d, enum event_kind kind, cl_event ev,
                              int flags)
{
    if (ev != CL_FAILED || !(flags & CL_EVENT_NOWAIT) || flags & CL_EVENT_CHECKED ||
        atomic_load(&core_is_forked)) /* the locks may be held forever */
        return ev;
    pthread_mutex_t *lock = d ? &d->lock : cp ? &cp->lock : &no_context_lock;
    struct failure *untold = d    ? &d->pending_error[kind]
                             : cp ? &cp->pending_error
                                  : &no_context_error;
    pthread_mutex_lock(lock);
    if (untold->code == 0) {
        *untold = failure_copy();
        untold->order = next_failure();
    }
    pthread_mutex_unlock(lock);
    return ev;
}

/* Report the saved failure of a call without a context, for cp NULL, or with a device number out of
 * range; told: drop it. */
static bool report_absent_device(CLCONTEXT *cp, bool told)
{
    pthread_mutex_t *lock = cp ? &cp->lock : &no_context_lock;
    struct failure *pending = cp ? &cp->pending_error : &no_context_error;
    pthread_mutex_lock(lock);
    struct failure f = *pending;
    *pending = (struct failure){0};
    pthread_mutex_unlock(lock);
    if (told)
        failure_drop_saved(&f);
    else if (f.code)
        failure_restore(&f);
    return told || f.code;
}

/* ---- Lists. ---- */

/* Release completed events, oldest first, until KEPT_EVENTS are left. Call with d->lock held. */
static void event_list_trim(struct device *d, enum event_kind kind)
{
    struct event_list *list = &d->events[kind];
    poll_errors(d, kind, UINT64_MAX);
    while (list->end - list->first > KEPT_EVENTS && list->first < list->seen)
        event_list_pop(list, false);
}

/* Reserve space for one more record; false if out of memory. */
static bool event_list_reserve(struct event_list *list)
{
    if (list->end < list->capacity)
        return true;
    if (list->first > list->capacity / 2) {
        memmove(list->record, list->record + list->first,
                (list->end - list->first) * sizeof *list->record);
        list->end -= list->first;
        list->seen -= list->first;
        list->first = 0;
        return true;
    }
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    struct event_record *record = realloc(list->record, capacity * sizeof *record);
    if (!record)
        return false;
    list->record = record;
    list->capacity = capacity;
    return true;
}

/* Wait for an event of a list, or for the whole device if the event cannot be retained. A failed
 * command is no error here: poll_errors finds it. Call with d->lock held; it is released while
 * waiting. */
static cl_int wait_unlocked(struct device *d, cl_event ev)
{
    const bool kept = clRetainEvent(ev) == CL_SUCCESS;
    pthread_mutex_unlock(&d->lock);
    cl_int err = CL_SUCCESS;
    if (kept)
        err = clWaitForEvents(1, &ev);
    else
        device_drain(d);
    if (kept && status_of(ev) < 0)
        err = CL_SUCCESS;
    if (kept)
        clReleaseEvent(ev);
    pthread_mutex_lock(&d->lock);
    return err;
}

/* If the list is full, wait for the event in its middle. Call with d->lock held; it is released
 * while waiting. */
static void throttle(struct device *d, struct event_list *list)
{
    cl_event middle = NULL;
    if (list->end - list->first >= MOST_EVENTS)
        middle = list->record[list->first + MOST_EVENTS / 2].event;
    if (middle)
        wait_unlocked(d, middle);
}

/* ---- Kernels without an event. ---- */

enum {
    MAX_UNTRACKED = 64
}; /* after this many, a launch has an event, so that a program that never waits is throttled */

/* True if the launch neither waits nor returns an event. */
static bool may_be_untracked(int flags)
{
    const int asked = CL_EVENT_UNTRACKED | CL_EVENT_NOWAIT;
    return (flags & (asked | CL_EVENT_OWN | CL_EVENT_SIDE_QUEUE)) == asked;
}

bool event_may_be_untracked(CLCONTEXT *cp, struct device *d, int flags)
{
    if (!may_be_untracked(flags) || context_observed(cp))
        return false;
    pthread_mutex_lock(&d->lock);
    const bool untracked = d->untracked % (MAX_UNTRACKED + 1) != MAX_UNTRACKED;
    d->untracked += !untracked;
    pthread_mutex_unlock(&d->lock);
    return untracked;
}

void event_count_untracked(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    d->untracked++;
    pthread_mutex_unlock(&d->lock);
}

/* Add a marker after untracked kernels. If the marker cannot be made or kept, a failed kernel may
 * go unreported. Call with d->lock held. */
static void add_marker(struct device *d)
{
    struct event_list *list = &d->events[KERNEL_EVENT];
    cl_event ev = NULL;
    d->untracked = 0;
    if (list->end - list->first > KEPT_EVENTS)
        event_list_trim(d, KERNEL_EVENT);
    const cl_int err = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &ev);
    if (err != CL_SUCCESS) {
        clFinish(d->queue);
        remember_failure(d, KERNEL_EVENT, err);
    } else if (event_list_reserve(list)) {
        list->record[list->end++] =
            (struct event_record){.event = ev, .number = ++d->commands, .shared = true};
    } else {
        remember_failure(d, KERNEL_EVENT, event_wait(ev));
        clReleaseEvent(ev);
    }
}

void event_add_marker(struct device *d, int flags)
{
    if (may_be_untracked(flags))
        return;
    pthread_mutex_lock(&d->lock);
    if (d->untracked > 0)
        add_marker(d);
    pthread_mutex_unlock(&d->lock);
}

/* False if out of memory. */
static bool event_list_push(struct device *d, enum event_kind kind, struct event_record record)
{
    struct event_list *list = &d->events[kind];
    pthread_mutex_lock(&d->lock);
    throttle(d, list);
    record.number = ++d->commands;
    if (record.number % TRIM_EVERY == 0 || list->end - list->first >= MOST_EVENTS)
        event_list_trim(d, kind);
    bool room = event_list_reserve(list);
    if (room)
        list->record[list->end++] = record;
    pthread_mutex_unlock(&d->lock);
    return room;
}

/* Wait for a command that cannot be recorded for lack of memory, so that its failure and its time
 * are not lost. */
static void wait_unrecorded_command(struct device *d, enum event_kind kind, cl_event ev,
                                    struct command_record *note)
{
    clWaitForEvents(1, &ev);
    command_collected(note, ev);
    pthread_mutex_lock(&d->lock);
    remember_failure(d, kind, status_of(ev));
    pthread_mutex_unlock(&d->lock);
}

cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev,
                      struct command_record note, int flags, const char *call)
{
    if (flags & CL_EVENT_NOWAIT) {
        const bool shared = flags & CL_EVENT_OWN;
        const bool kept =
            !shared || clRetainEvent(ev) == CL_SUCCESS; /* false: the caller gets our reference */
        if (!kept ||
            !event_list_push(d, kind,
                             (struct event_record){.event = ev, .note = note, .shared = shared}))
            wait_unrecorded_command(d, kind, ev, &note);
        return ev;
    }
    const cl_int err = event_wait(ev);
    if (err == CL_SUCCESS)
        command_collected(&note, ev);
    const bool lost = event_report_pending(d, call);
    if (err == CL_SUCCESS && !lost && (flags & (CL_EVENT_NORELEASE | CL_EVENT_OWN)))
        return ev;
    clReleaseEvent(ev);
    if (err == CL_SUCCESS && !lost)
        return 0;
    if (!lost)
        fail(EIO, err, "%s: the command failed on %s", call, d->name);
    return CL_FAILED;
}

/* The newest event of a list and its number; NULL if the list is empty. Call with d->lock held. */
static cl_event newest_event(const struct event_list *list, uint64_t *number)
{
    cl_event newest = NULL;
    for (size_t i = list->end; i > list->first && !newest; i--) {
        newest = list->record[i - 1].event;
        *number = list->record[i - 1].number;
    }
    return newest;
}

/* Wait for the newest event of a list and remove all records up to it. Two threads may record
 * their commands in another order than they started them, so when the newest is complete an older
 * record may not be. Return the status of the wait. */
static cl_int collect_newest(struct device *d, enum event_kind kind, bool hand_over)
{
    struct event_list *list = &d->events[kind];
    cl_int waited = CL_SUCCESS;
    uint64_t number = 0;
    pthread_mutex_lock(&d->lock);
    if (kind == KERNEL_EVENT && d->untracked > 0)
        add_marker(d);
    cl_event newest = newest_event(list, &number);
    if (newest)
        waited = wait_unlocked(d, newest);
    while (list->first < list->end && list->record[list->first].number <= number) {
        if (list->first == list->seen)
            poll_errors(d, kind, number);
        if (list->first < list->seen)
            event_list_pop(list, hand_over);
        else
            wait_unlocked(d, list->record[list->first].event);
    }
    pthread_mutex_unlock(&d->lock);
    return waited;
}

/* Remove completed records up to the first incomplete one. */
static void collect_complete(struct device *d, enum event_kind kind, bool hand_over)
{
    struct event_list *list = &d->events[kind];
    pthread_mutex_lock(&d->lock);
    poll_errors(d, kind, UINT64_MAX);
    while (list->first < list->seen)
        event_list_pop(list, hand_over);
    pthread_mutex_unlock(&d->lock);
}

/* Collect all commands of a kind; at_once: only the completed ones. */
static cl_int collect_kind(struct device *d, enum event_kind kind, bool hand_over, bool at_once)
{
    if (!at_once)
        return collect_newest(d, kind, hand_over);
    collect_complete(d, kind, hand_over);
    return CL_SUCCESS;
}

STDCL_API cl_event clwait(CLCONTEXT *cp, cl_uint dev, int flags)
{
    if (forked_child("clwait") || command_flags_check(flags, WAIT_FLAGS, "clwait") != 0)
        return CL_FAILED;
    if (!cp || dev >= cp->ndev)
        return report_absent_device(cp, false) ? CL_FAILED : 0;
    struct device *d = &cp->dev[dev];
    if (recording_refuses_wait(d, "clwait"))
        return CL_FAILED;
    int kinds = flags & CL_ALL_EVENT ? flags & CL_ALL_EVENT : CL_ALL_EVENT;
    const bool hand_over = flags & CL_EVENT_NORELEASE, at_once = flags & CL_EVENT_NOWAIT;
    cl_int err = CL_SUCCESS;
    if (kinds & CL_KERNEL_EVENT)
        err = collect_kind(d, KERNEL_EVENT, hand_over, at_once);
    if (kinds & CL_MEM_EVENT) {
        cl_int mem_err = collect_kind(d, MEMORY_EVENT, hand_over, at_once);
        err = err ? err : mem_err;
    }
    if (report_absent_device(cp, report_pending(d, kinds, "clwait")))
        return CL_FAILED;
    if (err == CL_SUCCESS)
        return 0;
    fail(EIO, err, "clwait: the commands of %s cannot be waited for", d->name);
    return CL_FAILED;
}

/* The record of one of the library's events, or NULL. Call with d->lock held. */
static struct event_record *record_of(struct device *d, cl_event ev)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        for (size_t i = d->events[kind].end; i > d->events[kind].first; i--)
            if (d->events[kind].record[i - 1].event == ev)
                return &d->events[kind].record[i - 1];
    return NULL;
}

/* Remove a completed command from the lists. Return true if the caller owns the event now. */
static bool forget_event(struct device *d, cl_event ev, bool hand_over)
{
    pthread_mutex_lock(&d->lock);
    struct event_record *r = record_of(d, ev);
    const bool callers = !r || hand_over || r->shared;
    if (r)
        record_retire(r, hand_over);
    pthread_mutex_unlock(&d->lock);
    return callers;
}

/* The result of clwaitev for the event of a refused call. told: clerror() has its message. */
static cl_event refused_event(bool told)
{
    if (!told)
        fail(EINVAL, 0, "clwaitev: the event is the (cl_event)-1 of a call that failed");
    return CL_FAILED;
}

STDCL_API cl_event clwaitev(CLCONTEXT *cp, cl_uint dev, const cl_event ev, int flags)
{
    const bool absent = !cp || dev >= cp->ndev;
    if (!ev || (absent && ev != CL_FAILED))
        return 0;
    if (forked_child("clwaitev") || command_flags_check(flags, WAIT_FLAGS, "clwaitev") != 0)
        return CL_FAILED;
    if (absent)
        return refused_event(report_absent_device(cp, false));
    struct device *d = &cp->dev[dev];
    if (recording_refuses_wait(d, "clwaitev"))
        return CL_FAILED;
    if (ev == CL_FAILED)
        return refused_event(event_report_pending(d, "clwaitev"));
    const bool keep = flags & CL_EVENT_NORELEASE;
    const cl_int err = event_wait(ev);
    if (forget_event(d, ev, keep) && (flags & CL_EVENT_RELEASE) && !keep)
        clReleaseEvent(ev);
    const bool lost = event_report_pending(d, "clwaitev");
    if (err == CL_SUCCESS && !lost)
        return ev;
    if (!lost)
        fail(EIO, err, "clwaitev: the command failed on %s", d->name);
    return CL_FAILED;
}

STDCL_API int clflush(CLCONTEXT *cp, cl_uint dev, int flags)
{
    struct device *d = device_of(cp, dev, "clflush");
    if (!d || command_flags_check(flags, WAIT_FLAGS, "clflush") != 0)
        return -1;
    device_flush_side_queues(d);
    cl_int err = clFlush(d->queue);
    return err ? fail(errno_of(err), err, "clflush: on %s", d->name) : 0;
}

void device_harvest(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        for (size_t i = d->events[kind].first; i < d->events[kind].end; i++) {
            struct event_record *r = &d->events[kind].record[i];
            if (r->event) /* an event recorded meanwhile is reported when it is collected */
                command_collected(&r->note, r->event);
        }
    pthread_mutex_unlock(&d->lock);
}

void event_lists_free(struct device *d)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        struct event_list *list = &d->events[kind];
        while (list->first < list->end)
            event_list_pop(list, false);
        free(list->record);
        failure_drop_saved(&d->pending_error[kind]);
    }
}
