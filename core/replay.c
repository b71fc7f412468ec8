/* replay.c - clrecord_replay: start the commands of a recording again; clrecord_setv: change an
 * argument of one of its launches.
 *
 * All blocks are checked before the first command is started, so that a refusal starts none.
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

/* Return 0 if a block is still attached as it was when it was recorded, else -1 after fail(). */
static int block_check(const struct recording *r, size_t i, const struct recorded_block *b)
{
    const struct memory *m = memory_find(b->ptr);
    if (m && m->cp == r->cp && m->attachment == b->attachment)
        return 0;
    return fail(
        EFAULT, 0,
        "clrecord_replay: command %zu: the block at %p was freed, detached or resized after "
        "the recording; record again",
        i, b->ptr);
}

static int command_check(const struct recording *r, size_t i)
{
    const struct recorded *c = &r->command[i];
    if (c->kind == RECORDED_LAUNCH) {
        pthread_mutex_lock(&c->kernel->lock);
        const int status = arguments_bind(c->kernel, r->dev, "clrecord_replay");
        pthread_mutex_unlock(&c->kernel->lock);
        return status;
    }
    if (block_check(r, i, &c->block[0]) != 0)
        return -1;
    return c->kind == RECORDED_COPY ? block_check(r, i, &c->block[1]) : 0;
}

/* Check all blocks if one was freed, detached or resized anywhere since the last check. */
static int recording_check(struct recording *r)
{
    const uint64_t epoch = atomic_load(&memory_epoch);
    for (size_t i = 0; i < r->count && r->epoch != epoch; i++)
        if (command_check(r, i) != 0)
            return -1;
    r->epoch = epoch;
    return 0;
}

static cl_event command_start(const struct recording *r, const struct recorded *c, int flags)
{
    static cl_event (*const start[])(const struct recording *, const struct recorded *, int,
                                     const char *) = {[RECORDED_LAUNCH] = launch_recorded,
                                                      [RECORDED_SYNC] = sync_recorded,
                                                      [RECORDED_COPY] = copy_recorded};
    return start[c->kind](r, c, flags, "clrecord_replay");
}

/* Start all commands but the last: without events where the device allows it, but for every 64th,
 * so that a program that never waits is throttled. Call with r->lock held. 0, or -1 after
 * fail(). */
static int start_all_but_last(const struct recording *r, int uncounted)
{
    enum { TRACKED_EVERY = 64 };
    int status = 0;
    for (size_t i = 0; i + 1 < r->count && status == 0; i++) {
        const int untracked = i % TRACKED_EVERY ? r->untracked : 0;
        const int flags = CL_EVENT_NOWAIT | CL_EVENT_CHECKED | untracked | uncounted;
        status = command_start(r, &r->command[i], flags) == CL_FAILED ? -1 : 0;
    }
    if (r->untracked && r->count > 1) /* the next tracked command has a marker before it */
        event_count_untracked(&r->cp->dev[r->dev]);
    return status;
}

static cl_event replay(struct recording *r, int flags)
{
    if (command_flags_check(flags, COMMAND_FLAGS | CL_EVENT_UNCOUNTED, "clrecord_replay") != 0)
        return CL_FAILED;
    if (flags & (CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER))
        return (void)fail(EINVAL, 0,
                          "clrecord_replay: a recording uses the device's main queue; leave out "
                          "CL_EVENT_SIDE_QUEUE and CL_EVENT_BARRIER"),
               CL_FAILED;
    pthread_mutex_lock(&r->lock);
    cl_event ev = CL_FAILED;
    if (recording_check(r) == 0 && start_all_but_last(r, flags & CL_EVENT_UNCOUNTED) == 0)
        ev = command_start(r, &r->command[r->count - 1], flags);
    pthread_mutex_unlock(&r->lock);
    return ev;
}

STDCL_API cl_event clrecord_replay(CLCONTEXT *cp, void *recording, int flags)
{
    struct recording *r = recording_find(cp, recording, "clrecord_replay");
    struct device *d = r ? &cp->dev[r->dev] : NULL;
    if (d && recording_of(d)) {
        fail(EINVAL, 0, "clrecord_replay: device %u is being recorded; call clrecord_end first",
             r->dev);
        return recording_result(recording_of(d), -1);
    }
    return event_or_defer_error(cp, d, KERNEL_EVENT, r ? replay(r, flags) : CL_FAILED, flags);
}

STDCL_API int clrecord_setv(CLCONTEXT *cp, void *recording, cl_uint command, cl_uint i,
                            const struct stdcl_arg *arg)
{
    const char *const call = "clrecord_set";
    struct recording *r = recording_find(cp, recording, call);
    if (!r)
        return -1;
    if (command >= r->count || r->command[command].kind != RECORDED_LAUNCH)
        return fail(EINVAL, 0, "%s: command %u of the recording is no kernel launch; it has %zu %s",
                    call, command, r->count, r->count == 1 ? "command" : "commands");
    if (!arg)
        return fail(EINVAL, 0, "%s: the argument is NULL", call);
    struct kernel *k = r->command[command].kernel;
    pthread_mutex_lock(&k->lock);
    const int status = arguments_replace(k, r->dev, i, arg, call);
    pthread_mutex_unlock(&k->lock);
    return status;
}
