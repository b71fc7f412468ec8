/* event.c - collecting commands: clwait, clwaitev, clflush.
 *
 * Each device keeps the events of its uncollected commands in two growable lists, kernels and
 * memory, oldest first. Its queue runs in order, so when the newest event of a list is complete,
 * nearly all of it is: those that another thread or a further queue (side_queue.c) had under way
 * are waited for one by one. A list that nobody collects is trimmed from its old end as commands
 * complete.
 *
 * That a command failed, or was refused by a call that does not wait, is remembered of each kind
 * until somebody waits: clwait reports what it waits for, and a call that waits for its own command
 * reports all that failed before it.
 *
 * The list holds one reference of each event. It is given up once, when the record leaves the list:
 * released, or with CL_EVENT_NORELEASE handed over to the caller.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

/* A list longer than this gives up its completed events; the number of launches after which an
 * event from CL_EVENT_NOWAIT may be gone although nobody waited. */
enum { KEPT_EVENTS = 4096, TRIM_EVERY = 256 };

/* With so many uncollected commands, a further one waits until half of them are complete: a program
 * that never waits is held back to the device's pace, and its memory stays bounded. */
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

/* Gives up the list's reference to a command that is complete. With `hand_over` it becomes the
 * caller's, unless the caller was given one at the start. */
static void give_up(struct event_record *r, bool hand_over)
{
    command_collected(&r->note, r->event);
    if (!hand_over || r->shared)
        clReleaseEvent(r->event);
    r->event = NULL;
}

/* Takes the oldest record off. */
static void drop_first(struct event_list *list, bool hand_over)
{
    struct event_record *r = &list->record[list->first++];
    if (r->event)
        give_up(r, hand_over);
    if (list->seen < list->first)
        list->seen = list->first;
    if (list->first == list->end)
        list->first = list->seen = list->end = 0;
}

/* ---- Failures. ---- */

/* Keeps the first failure for the next wait; d->lock is held. */
static void remember_failure(struct device *d, enum event_kind kind, cl_int status)
{
    if (status < 0 && d->untold[kind].code == 0)
        d->untold[kind] = (struct failure){.code = EIO, .ocl = status, .unread = true};
}

/* Looks whether commands failed, oldest first, as far as they are complete and up to a number.
 * d->lock is held. */
static void look(struct device *d, enum event_kind kind, uint64_t number)
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

/* Reports what failed of these kinds (CL_KERNEL_EVENT, CL_MEM_EVENT) and was not reported yet; all
 * of it counts as reported. True after fail(). */
static bool tell(struct device *d, int kinds, const char *call)
{
    static const struct {
        int flag;
        const char *name;
    } kind_of[] = {
        [KERNEL_EVENT] = {CL_KERNEL_EVENT, "kernel"}, [MEMORY_EVENT] = {CL_MEM_EVENT, "copy"}};
    bool told = false;
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        if (!(kinds & kind_of[kind].flag))
            continue;
        pthread_mutex_lock(&d->lock);
        struct failure f = d->untold[kind];
        d->untold[kind] = (struct failure){0};
        pthread_mutex_unlock(&d->lock);
        if (told)
            failure_forget(&f);
        else if (f.text)
            failure_restore(&f);
        else if (f.code)
            fail(f.code, f.ocl, "%s: a %s failed on %s", call, kind_of[kind].name, d->name);
        told |= f.code != 0;
    }
    return told;
}

/* The same of all commands that are complete, for a call that has waited. */
static bool tell_all(struct device *d, const char *call)
{
    pthread_mutex_lock(&d->lock);
    for (enum event_kind kind = 0; kind < EVENT_KINDS; kind++)
        look(d, kind, UINT64_MAX);
    pthread_mutex_unlock(&d->lock);
    return tell(d, CL_ALL_EVENT, call);
}

cl_event event_or_refusal(CLCONTEXT *cp, struct device *d, enum event_kind kind, cl_event ev,
                          int flags)
{
    if (!cp || ev != CL_FAILED || !(flags & CL_EVENT_NOWAIT) || flags & CL_EVENT_CHECKED)
        return ev;
    pthread_mutex_t *lock = d ? &d->lock : &cp->lock;
    struct failure *untold = d ? &d->untold[kind] : &cp->untold;
    pthread_mutex_lock(lock);
    if (untold->code == 0)
        *untold = failure_copy();
    pthread_mutex_unlock(lock);
    return ev;
}

/* Reports what a device was asked for that the context does not have, unless a failure was `told`
 * already. */
static bool tell_absent(CLCONTEXT *cp, bool told)
{
    pthread_mutex_lock(&cp->lock);
    struct failure f = cp->untold;
    cp->untold = (struct failure){0};
    pthread_mutex_unlock(&cp->lock);
    if (told)
        failure_forget(&f);
    else if (f.code)
        failure_restore(&f);
    return told || f.code;
}

/* ---- Lists. ---- */

/* Drops completed events, oldest first, until KEPT_EVENTS are left. d->lock is held. */
static void trim(struct device *d, enum event_kind kind)
{
    struct event_list *list = &d->events[kind];
    look(d, kind, UINT64_MAX);
    while (list->end - list->first > KEPT_EVENTS && list->first < list->seen)
        drop_first(list, false);
}

/* Makes room for one more record; false when there is no memory. */
static bool make_room(struct event_list *list)
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

/* Waits for an event of a list, or for the whole device if it cannot be kept meanwhile. That its
 * command failed is no error: look() finds that. d->lock is held, and let go of while waiting. */
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

/* Of a list that is full, waits for the event in the middle. d->lock is held, and let go of while
 * waiting. */
static void hold_back(struct device *d, struct event_list *list)
{
    cl_event middle = NULL;
    if (list->end - list->first >= MOST_EVENTS)
        middle = list->record[list->first + MOST_EVENTS / 2].event;
    if (middle)
        wait_unlocked(d, middle);
}

/* ---- Kernels without an event. ---- */

enum {
    MOST_BARE = 64
}; /* the next one has an event, so that a program that never waits is held back */

/* Such a kernel is not waited for by its own event. */
static bool may_be_bare(int flags)
{
    const int asked = CL_EVENT_BARE | CL_EVENT_NOWAIT;
    return (flags & (asked | CL_EVENT_OWN | CL_EVENT_SIDE_QUEUE)) == asked;
}

bool event_spared(CLCONTEXT *cp, struct device *d, int flags)
{
    if (!may_be_bare(flags) || context_observed(cp))
        return false;
    pthread_mutex_lock(&d->lock);
    const bool spared = d->bare % (MOST_BARE + 1) != MOST_BARE;
    d->bare += !spared;
    pthread_mutex_unlock(&d->lock);
    return spared;
}

void event_behind(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    d->bare++;
    pthread_mutex_unlock(&d->lock);
}

/* That a marker behind them cannot be had or kept may hide that one of them failed. d->lock is
 * held. */
static void mark_bare(struct device *d)
{
    struct event_list *list = &d->events[KERNEL_EVENT];
    cl_event ev = NULL;
    d->bare = 0;
    if (list->end - list->first > KEPT_EVENTS)
        trim(d, KERNEL_EVENT);
    const cl_int err = clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &ev);
    if (err != CL_SUCCESS) {
        clFinish(d->queue);
        remember_failure(d, KERNEL_EVENT, err);
    } else if (make_room(list)) {
        list->record[list->end++] =
            (struct event_record){.event = ev, .number = ++d->commands, .shared = true};
    } else {
        remember_failure(d, KERNEL_EVENT, event_wait(ev));
        clReleaseEvent(ev);
    }
}

void event_mark(struct device *d, int flags)
{
    if (may_be_bare(flags))
        return;
    pthread_mutex_lock(&d->lock);
    if (d->bare > 0)
        mark_bare(d);
    pthread_mutex_unlock(&d->lock);
}

/* False when there is no memory. */
static bool file_event(struct device *d, enum event_kind kind, struct event_record record)
{
    struct event_list *list = &d->events[kind];
    pthread_mutex_lock(&d->lock);
    hold_back(d, list);
    record.number = ++d->commands;
    if (record.number % TRIM_EVERY == 0 || list->end - list->first >= MOST_EVENTS)
        trim(d, kind);
    bool room = make_room(list);
    if (room)
        list->record[list->end++] = record;
    pthread_mutex_unlock(&d->lock);
    return room;
}

/* A command that there is no memory to remember: it is at least done, and neither its failure nor
 * its time is lost. */
static void wait_unfiled(struct device *d, enum event_kind kind, cl_event ev, struct note *note)
{
    clWaitForEvents(1, &ev);
    command_collected(note, ev);
    pthread_mutex_lock(&d->lock);
    remember_failure(d, kind, status_of(ev));
    pthread_mutex_unlock(&d->lock);
}

cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev, struct note note,
                      int flags, const char *call)
{
    if (flags & CL_EVENT_NOWAIT) {
        const bool shared = flags & CL_EVENT_OWN;
        const bool kept =
            !shared || clRetainEvent(ev) == CL_SUCCESS; /* else the caller gets our reference */
        if (!kept ||
            !file_event(d, kind,
                        (struct event_record){.event = ev, .note = note, .shared = shared}))
            wait_unfiled(d, kind, ev, &note);
        return ev;
    }
    const cl_int err = event_wait(ev);
    if (err == CL_SUCCESS)
        command_collected(&note, ev);
    const bool lost = tell_all(d, call);
    if (err == CL_SUCCESS && !lost && (flags & (CL_EVENT_NORELEASE | CL_EVENT_OWN)))
        return ev;
    clReleaseEvent(ev);
    if (err == CL_SUCCESS && !lost)
        return 0;
    if (!lost)
        fail(EIO, err, "%s: the command failed on %s", call, d->name);
    return CL_FAILED;
}

/* The newest event of a list and its number; NULL when there is none. d->lock is held. */
static cl_event newest_event(const struct event_list *list, uint64_t *number)
{
    cl_event newest = NULL;
    for (size_t i = list->end; i > list->first && !newest; i--) {
        newest = list->record[i - 1].event;
        *number = list->record[i - 1].number;
    }
    return newest;
}

/* Waits for the newest event of a list and takes all up to it off. A command is started and then
 * filed, so of two threads the one may start first and file last: when the newest is complete, one
 * that was filed before it may not be. Returns what came of the waiting. */
static cl_int collect(struct device *d, enum event_kind kind, bool hand_over)
{
    struct event_list *list = &d->events[kind];
    cl_int waited = CL_SUCCESS;
    uint64_t number = 0;
    pthread_mutex_lock(&d->lock);
    if (kind == KERNEL_EVENT && d->bare > 0)
        mark_bare(d);
    cl_event newest = newest_event(list, &number);
    if (newest)
        waited = wait_unlocked(d, newest);
    while (list->first < list->end && list->record[list->first].number <= number) {
        if (list->first == list->seen)
            look(d, kind, number);
        if (list->first < list->seen)
            drop_first(list, hand_over);
        else
            wait_unlocked(d, list->record[list->first].event);
    }
    pthread_mutex_unlock(&d->lock);
    return waited;
}

/* Takes off what is complete, up to the first that is not. */
static void collect_complete(struct device *d, enum event_kind kind, bool hand_over)
{
    struct event_list *list = &d->events[kind];
    pthread_mutex_lock(&d->lock);
    look(d, kind, UINT64_MAX);
    while (list->first < list->seen)
        drop_first(list, hand_over);
    pthread_mutex_unlock(&d->lock);
}

/* Waits for all of a kind, or with `at_once` for none. */
static cl_int collect_kind(struct device *d, enum event_kind kind, bool hand_over, bool at_once)
{
    if (!at_once)
        return collect(d, kind, hand_over);
    collect_complete(d, kind, hand_over);
    return CL_SUCCESS;
}

STDCL_API cl_event clwait(CLCONTEXT *cp, cl_uint dev, int flags)
{
    if (!cp)
        return 0;
    if (dev >= cp->ndev)
        return tell_absent(cp, false) ? CL_FAILED : 0;
    struct device *d = &cp->dev[dev];
    int kinds = flags & CL_ALL_EVENT ? flags & CL_ALL_EVENT : CL_ALL_EVENT;
    const bool hand_over = flags & CL_EVENT_NORELEASE, at_once = flags & CL_EVENT_NOWAIT;
    cl_int err = CL_SUCCESS;
    if (kinds & CL_KERNEL_EVENT)
        err = collect_kind(d, KERNEL_EVENT, hand_over, at_once);
    if (kinds & CL_MEM_EVENT) {
        cl_int mem_err = collect_kind(d, MEMORY_EVENT, hand_over, at_once);
        err = err ? err : mem_err;
    }
    if (tell_absent(cp, tell(d, kinds, "clwait")))
        return CL_FAILED;
    if (err == CL_SUCCESS)
        return 0;
    fail(EIO, err, "clwait: the commands of %s cannot be waited for", d->name);
    return CL_FAILED;
}

/* The record of an event of the library's, or NULL; d->lock is held. */
static struct event_record *record_of(struct device *d, cl_event ev)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        for (size_t i = d->events[kind].end; i > d->events[kind].first; i--)
            if (d->events[kind].record[i - 1].event == ev)
                return &d->events[kind].record[i - 1];
    return NULL;
}

/* Takes a command that is complete out of the lists. True when the caller owns the event now or did
 * before. */
static bool forget_event(struct device *d, cl_event ev, bool hand_over)
{
    pthread_mutex_lock(&d->lock);
    struct event_record *r = record_of(d, ev);
    const bool callers = !r || hand_over || r->shared;
    if (r)
        give_up(r, hand_over);
    pthread_mutex_unlock(&d->lock);
    return callers;
}

STDCL_API cl_event clwaitev(CLCONTEXT *cp, cl_uint dev, const cl_event ev, int flags)
{
    if (!cp || dev >= cp->ndev || !ev)
        return 0;
    struct device *d = &cp->dev[dev];
    if (ev == CL_FAILED) {
        if (!tell_all(d, "clwaitev"))
            fail(EINVAL, 0, "clwaitev: the event is the (cl_event)-1 of a call that failed");
        return CL_FAILED;
    }
    const bool keep = flags & CL_EVENT_NORELEASE;
    const cl_int err = event_wait(ev);
    if (forget_event(d, ev, keep) && (flags & CL_EVENT_RELEASE) && !keep)
        clReleaseEvent(ev);
    const bool lost = tell_all(d, "clwaitev");
    if (err == CL_SUCCESS && !lost)
        return ev;
    if (!lost)
        fail(EIO, err, "clwaitev: the command failed on %s", d->name);
    return CL_FAILED;
}

STDCL_API int clflush(CLCONTEXT *cp, cl_uint dev, int flags)
{
    (void)flags;
    struct device *d = device_of(cp, dev, "clflush");
    if (!d)
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
            if (r->event) /* one that was started meanwhile is told when it is collected */
                command_collected(&r->note, r->event);
        }
    pthread_mutex_unlock(&d->lock);
}

void event_lists_free(struct device *d)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        struct event_list *list = &d->events[kind];
        while (list->first < list->end)
            drop_first(list, false);
        free(list->record);
        failure_forget(&d->untold[kind]);
    }
}
