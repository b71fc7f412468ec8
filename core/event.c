/* event.c - collecting commands: clwait, clwaitev, clflush.
 *
 * Each device keeps the events of its uncollected commands in two growable lists, kernels and memory,
 * oldest first. Its queue runs in order, so waiting for the newest event of a list is waiting for all of
 * it. A list that nobody collects is trimmed from its old end as commands complete.
 */
#include "core/internal.h"

/* A list longer than this gives up its completed events; the number of launches after which an event
 * from CL_EVENT_NOWAIT may be gone although nobody waited. */
enum { KEPT_EVENTS = 4096, TRIM_EVERY = 256 };

/* With so many uncollected commands, a further one waits until half of them are complete: a program that
 * never waits is held back to the device's pace, and its memory stays bounded. */
enum { MOST_EVENTS = 16384 };

static cl_int status_of(cl_event ev)
{
    cl_int status = CL_COMPLETE;
    clGetEventInfo(ev, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

/* Takes the oldest record off. */
static void drop_first(struct event_list *list)
{
    struct event_record *r = &list->record[list->first++];
    if (r->event) {
        if (r->note.row)
            profile_add(&r->note, r->event);
        clReleaseEvent(r->event);
    }
    if (list->first == list->end)
        list->first = list->end = 0;
}

/* Drops completed events, oldest first, until KEPT_EVENTS are left. */
static void trim(struct event_list *list)
{
    while (list->end - list->first > KEPT_EVENTS) {
        cl_event ev = list->record[list->first].event;
        if (ev && status_of(ev) > CL_COMPLETE)
            break;
        drop_first(list);
    }
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

/* The event in the middle of a list that is full, retained; else NULL. */
static cl_event middle_of_full(const struct event_list *list)
{
    if (list->end - list->first < MOST_EVENTS)
        return NULL;
    cl_event middle = list->record[list->first + MOST_EVENTS / 2].event;
    if (middle)
        clRetainEvent(middle);
    return middle;
}

/* d->lock is held, and let go of while waiting. */
static void hold_back(struct device *d, struct event_list *list)
{
    cl_event middle = middle_of_full(list);
    if (!middle)
        return;
    pthread_mutex_unlock(&d->lock);
    clWaitForEvents(1, &middle);
    clReleaseEvent(middle);
    pthread_mutex_lock(&d->lock);
}

static bool file_event(struct device *d, enum event_kind kind, cl_event ev, struct note note)
{
    struct event_list *list = &d->events[kind];
    pthread_mutex_lock(&d->lock);
    hold_back(d, list);
    uint64_t number = ++d->commands;
    if (number % TRIM_EVERY == 0 || list->end - list->first >= MOST_EVENTS)
        trim(list);
    bool room = make_room(list);
    if (room)
        list->record[list->end++] = (struct event_record){ev, number, note};
    pthread_mutex_unlock(&d->lock);
    return room;
}

cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev, struct note note, int flags,
                      const char *call)
{
    if (flags & CL_EVENT_NOWAIT) {
        if (flags & CL_EVENT_NORELEASE)
            clRetainEvent(ev);
        if (file_event(d, kind, ev, note))
            return ev;
        clWaitForEvents(1, &ev); /* no memory to remember it: the command at least is done */
        return ev;
    }
    cl_int err = clWaitForEvents(1, &ev);
    cl_int status = err == CL_SUCCESS ? CL_COMPLETE : status_of(ev);
    if (err == CL_SUCCESS && note.row)
        profile_add(&note, ev);
    if (err == CL_SUCCESS && (flags & CL_EVENT_NORELEASE))
        return ev;
    clReleaseEvent(ev);
    if (err == CL_SUCCESS)
        return 0;
    fail(EIO, status < 0 ? status : err, "%s: the command failed on %s", call, d->name);
    return CL_FAILED;
}

/* Waits for an event of a list. d->lock is held, and let go of while waiting. */
static void wait_unlocked(struct device *d, cl_event ev)
{
    clRetainEvent(ev);
    pthread_mutex_unlock(&d->lock);
    clWaitForEvents(1, &ev);
    clReleaseEvent(ev);
    pthread_mutex_lock(&d->lock);
}

/* The first record whose command is still running, up to a number; NULL when none is. */
static const struct event_record *running(const struct event_list *list, uint64_t number)
{
    for (size_t i = list->first; i < list->end && list->record[i].number <= number; i++)
        if (list->record[i].event && status_of(list->record[i].event) > CL_COMPLETE)
            return &list->record[i];
    return NULL;
}

/* Waits for the newest event of a list and drops all up to it, or with `keep` none. A command is started and
 * then filed, so of two threads the one may start first and file last: when the newest is complete, one that
 * was filed before it may not be. */
static cl_int collect(struct device *d, enum event_kind kind, bool keep)
{
    struct event_list *list = &d->events[kind];
    cl_event newest = NULL;
    uint64_t number = 0;

    pthread_mutex_lock(&d->lock);
    for (size_t i = list->end; i > list->first && !newest; i--) {
        newest = list->record[i - 1].event;
        number = list->record[i - 1].number;
    }
    if (newest)
        clRetainEvent(newest);
    pthread_mutex_unlock(&d->lock);
    if (!newest)
        return CL_SUCCESS;

    cl_int err = clWaitForEvents(1, &newest);
    clReleaseEvent(newest);

    const struct event_record *late;
    pthread_mutex_lock(&d->lock);
    while (keep && (late = running(list, number)))
        wait_unlocked(d, late->event);
    while (!keep && list->first < list->end && list->record[list->first].number <= number) {
        cl_event oldest = list->record[list->first].event;
        const cl_int status = oldest ? status_of(oldest) : CL_COMPLETE;
        if (status > CL_COMPLETE) {
            wait_unlocked(d, oldest);
            continue;
        }
        err = status < 0 ? status : err;
        drop_first(list);
    }
    pthread_mutex_unlock(&d->lock);
    return err;
}

STDCL_API cl_event clwait(CLCONTEXT *cp, cl_uint dev, int flags)
{
    if (!cp || dev >= cp->ndev)
        return 0;
    struct device *d = &cp->dev[dev];
    int kinds = flags & CL_ALL_EVENT ? flags & CL_ALL_EVENT : CL_ALL_EVENT;
    bool keep = flags & CL_EVENT_NORELEASE;
    cl_int err = CL_SUCCESS;
    if (kinds & CL_KERNEL_EVENT)
        err = collect(d, KERNEL_EVENT, keep);
    if (kinds & CL_MEM_EVENT) {
        cl_int mem_err = collect(d, MEMORY_EVENT, keep);
        err = err ? err : mem_err;
    }
    if (err == CL_SUCCESS)
        return 0;
    fail(EIO, err, "clwait: a command failed on %s", d->name);
    return CL_FAILED;
}

/* Takes ev out of the device's lists; false when it is in none. */
static bool forget_event(struct device *d, cl_event ev)
{
    bool found = false;
    pthread_mutex_lock(&d->lock);
    for (int kind = 0; kind < EVENT_KINDS && !found; kind++) {
        struct event_list *list = &d->events[kind];
        for (size_t i = list->end; i > list->first && !found; i--)
            if (list->record[i - 1].event == ev) {
                if (list->record[i - 1].note.row)
                    profile_add(&list->record[i - 1].note, ev);
                list->record[i - 1].event = NULL;
                found = true;
            }
    }
    pthread_mutex_unlock(&d->lock);
    return found;
}

STDCL_API cl_event clwaitev(CLCONTEXT *cp, cl_uint dev, const cl_event ev, int flags)
{
    if (!cp || dev >= cp->ndev || !ev)
        return 0;
    struct device *d = &cp->dev[dev];
    if (ev == CL_FAILED) {
        fail(EINVAL, 0, "clwaitev: the event is the (cl_event)-1 of a call that failed");
        return CL_FAILED;
    }
    cl_int err = clWaitForEvents(1, &ev);
    if (!(flags & CL_EVENT_NORELEASE) && (forget_event(d, ev) || (flags & CL_EVENT_RELEASE)))
        clReleaseEvent(ev);
    if (err == CL_SUCCESS)
        return 0;
    fail(EIO, err, "clwaitev: the command failed on %s", d->name);
    return CL_FAILED;
}

STDCL_API int clflush(CLCONTEXT *cp, cl_uint dev, int flags)
{
    (void)flags;
    struct device *d = device_of(cp, dev, "clflush");
    if (!d)
        return -1;
    cl_int err = clFlush(d->queue);
    return err ? fail(errno_of(err), err, "clflush: on %s", d->name) : 0;
}

void device_drain(struct device *d) { clFinish(d->queue); }

void device_harvest(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        for (size_t i = d->events[kind].first; i < d->events[kind].end; i++) {
            struct event_record *r = &d->events[kind].record[i];
            if (!r->event || !r->note.row || profile_add(&r->note, r->event))
                r->note.row = NULL; /* else it was started meanwhile, and is told when it is collected */
        }
    pthread_mutex_unlock(&d->lock);
}

void event_lists_free(struct device *d)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++) {
        struct event_list *list = &d->events[kind];
        while (list->first < list->end)
            drop_first(list);
        free(list->record);
    }
}
