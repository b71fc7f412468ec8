/* recording.c - recordings: command graphs without branches, of one device.
 *
 * While a thread records, its launches and copies on the device are checked and kept instead of
 * started. Each launch keeps a cl_kernel of its own with all arguments set, so that a replay
 * (replay.c) only enqueues.
 *
 * cl_khr_command_buffer is not used: it holds no copies between host and device, an argument can
 * be changed with a second extension only, and PoCL 3.1 takes 0.50 us per recorded kernel where
 * clEnqueueNDRangeKernel takes 0.41 us.
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

#include "core/pocl.h"
#include "core/untracked.h"

static void recording_free(struct recording *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->command[i].kernel)
            kernel_free_copy(r->command[i].kernel);
    failure_drop_saved(&r->refusal);
    pthread_mutex_destroy(&r->lock);
    free(r->command);
    free(r);
}

/* ---- Adding commands. The recording belongs to the calling thread. ---- */

int recording_check_flags(const struct recording *r, int flags, const char *call)
{
    if (!(flags & CL_EVENT_NOWAIT))
        return fail(EINVAL, 0,
                    "%s: device %u is being recorded, and a recorded command cannot be waited for; "
                    "give CL_EVENT_NOWAIT",
                    call, r->dev);
    if (flags & (CL_EVENT_OWN | CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER))
        return fail(EINVAL, 0,
                    "%s: device %u is being recorded: CL_EVENT_OWN, CL_EVENT_SIDE_QUEUE and "
                    "CL_EVENT_BARRIER cannot be recorded",
                    call, r->dev);
    return 0;
}

static bool recording_reserve(struct recording *r)
{
    if (r->count < r->capacity)
        return true;
    const size_t capacity = r->capacity ? 2 * r->capacity : 16;
    struct recorded *command = realloc(r->command, capacity * sizeof *command);
    if (!command)
        return false;
    r->command = command;
    r->capacity = capacity;
    return true;
}

int recording_add(struct recording *r, const struct recorded *command, const char *call)
{
    if (!recording_reserve(r)) {
        if (command->kernel)
            kernel_free_copy(command->kernel);
        return fail(ENOMEM, 0, "%s: out of memory on the host", call);
    }
    r->command[r->count++] = *command;
    return 0;
}

cl_event recording_result(struct recording *r, int status)
{
    if (status == 0)
        return 0;
    if (r->refusal.code == 0)
        r->refusal = failure_copy();
    return CL_FAILED;
}

bool recording_refuses_wait(struct device *d, const char *call)
{
    struct recording *r = recording_of(d);
    if (!r)
        return false;
    fail(EINVAL, 0,
         "%s: device %u, %s, is being recorded: its commands are kept and not started, so there is "
         "nothing to wait for; call clrecord_end first",
         call, r->dev, d->name);
    recording_result(r, -1);
    return true;
}

/* ---- The context's list. ---- */

/* Remove a recording from the list; NULL if it is not there. */
static struct recording *recording_take(CLCONTEXT *cp, const void *handle)
{
    pthread_mutex_lock(&cp->lock);
    struct recording **link = &cp->recordings;
    while (*link && *link != handle)
        link = &(*link)->next;
    struct recording *r = *link;
    if (r)
        *link = r->next;
    pthread_mutex_unlock(&cp->lock);
    return r;
}

struct recording *recording_find(CLCONTEXT *cp, const void *handle, const char *call)
{
    if (!cp)
        return (void)fail_no_context(call), NULL;
    if (forked_child(call))
        return NULL;
    pthread_mutex_lock(&cp->lock);
    struct recording *r = cp->recordings;
    while (r && (r != handle || !r->recorded))
        r = r->next;
    pthread_mutex_unlock(&cp->lock);
    if (!r)
        fail(EINVAL, 0, "%s: the handle %p is not a recording of this context", call, handle);
    return r;
}

void recordings_free(CLCONTEXT *cp)
{
    while (cp->recordings) {
        struct recording *r = cp->recordings;
        cp->recordings = r->next;
        recording_free(r);
    }
}

/* ---- The calls. ---- */

/* CL_EVENT_UNTRACKED if the failure of a kernel without an event is not lost: on NVIDIA's devices,
 * and on CPUs of PoCL, whose kernels either complete or end the program. */
static int replay_untracked(CLCONTEXT *cp, cl_uint dev)
{
    const struct device *d = &cp->dev[dev];
    return (d->type & CL_DEVICE_TYPE_CPU) && is_pocl(d->platform) ? CL_EVENT_UNTRACKED
                                                                  : untracked_flag(cp, dev);
}

static struct recording *recording_new(CLCONTEXT *cp, cl_uint dev)
{
    struct recording *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->cp = cp;
    r->dev = dev;
    r->untracked = replay_untracked(cp, dev);
    r->epoch = atomic_load(&memory_epoch);
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

STDCL_API int clrecord_begin(CLCONTEXT *cp, cl_uint dev)
{
    struct device *d = device_of(cp, dev, "clrecord_begin");
    struct recording *r = d ? recording_new(cp, dev) : NULL;
    if (!d)
        return -1;
    if (!r)
        return fail(ENOMEM, 0, "clrecord_begin: out of memory on the host");
    pthread_mutex_lock(&cp->lock);
    const bool begun = !atomic_load(&d->recorder);
    if (begun) {
        d->recording = r;
        atomic_store(&d->recorder, pthread_self());
        r->next = cp->recordings;
        cp->recordings = r;
    }
    pthread_mutex_unlock(&cp->lock);
    if (begun)
        return 0;
    const bool own = recording_of(d) != NULL;
    recording_free(r);
    return fail(EBUSY, 0, "clrecord_begin: device %u, %s, is being recorded by %s; %s", dev,
                d->name, own ? "this thread" : "another thread",
                own ? "call clrecord_end first" : "wait until it has called clrecord_end");
}

/* The recording that the calling thread has begun, or NULL after fail(). */
static struct recording *recording_begun(CLCONTEXT *cp, cl_uint dev, const char *call)
{
    struct device *d = device_of(cp, dev, call);
    struct recording *r = d ? recording_of(d) : NULL;
    if (d && !r)
        fail(EINVAL, 0, "%s: this thread does not record device %u; call clrecord_begin first",
             call, dev);
    return r;
}

STDCL_API int clrecord_next(CLCONTEXT *cp, cl_uint dev)
{
    const struct recording *r = recording_begun(cp, dev, "clrecord_next");
    return r ? (int)r->count : -1;
}

STDCL_API void *clrecord_end(CLCONTEXT *cp, cl_uint dev)
{
    struct recording *r = recording_begun(cp, dev, "clrecord_end");
    if (!r)
        return NULL;
    atomic_store(&cp->dev[dev].recorder, 0);
    if (r->refusal.code == 0 && r->count == 0)
        fail(EINVAL, 0, "clrecord_end: no command was recorded on device %u", dev);
    else if (r->refusal.code != 0)
        failure_restore(&r->refusal);
    if (r->refusal.code != 0 || r->count == 0) {
        r->refusal.text = NULL; /* the thread's last failure owns it */
        recording_free(recording_take(cp, r));
        return NULL;
    }
    pthread_mutex_lock(&cp->lock);
    r->recorded = true;
    pthread_mutex_unlock(&cp->lock);
    return r;
}

STDCL_API int clrecord_free(CLCONTEXT *cp, void *recording)
{
    if (!recording)
        return 0;
    struct recording *r = recording_find(cp, recording, "clrecord_free");
    if (!r)
        return -1;
    device_drain(&cp->dev[r->dev]);
    recording_free(recording_take(cp, r));
    return 0;
}
