/* recording.h - recorded commands: what launches and copies add to a recording, and its replay.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_RECORDING_H
#define CORE_RECORDING_H

#include "core/kernel.h"

enum recorded_kind { RECORDED_LAUNCH, RECORDED_SYNC, RECORDED_COPY };

/* A block as it was attached when it was recorded. */
struct recorded_block {
    void *ptr;
    uint64_t attachment;
};

struct recorded {
    enum recorded_kind kind;
    int flags;             /* of the recorded call */
    struct kernel *kernel; /* of a launch: a copy of the kernel with its own arguments */
    clndrange_t ndr;
    struct recorded_block block[2]; /* of a sync: [0]; of a copy: source and destination */
    size_t size;                    /* bytes of a clmsyncn */
    bool part;                      /* clmsyncn, not clmsync */
};

struct recording {
    struct recording *next; /* in the context's list */
    CLCONTEXT *cp;
    cl_uint dev;
    int untracked;          /* CL_EVENT_UNTRACKED where the device allows it */
    bool recorded;          /* clrecord_end was called */
    struct failure refusal; /* first refusal of a command while recording; code 0: none */
    pthread_mutex_t lock;   /* guards the members below */
    struct recorded *command;
    size_t count, capacity;
    uint64_t epoch; /* memory_epoch when the blocks were last checked */
};

/* The recording that the calling thread has begun on a device; NULL if there is none. */
static inline struct recording *recording_of(struct device *d)
{
    const pthread_t recorder = atomic_load_explicit(&d->recorder, memory_order_acquire);
    return recorder && recorder == pthread_self() ? d->recording : NULL;
}

/* Return 0 if a command with these flags can be recorded, else -1 after fail(). */
int recording_check_flags(const struct recording *r, int flags, const char *call);

/* Append a command, and take over its kernel also on failure. 0, or -1 after fail(). */
int recording_add(struct recording *r, const struct recorded *command, const char *call);

/* The result of a call that was recorded: keep the first refusal for clrecord_end. */
cl_event recording_result(struct recording *r, int status);

/* True, after fail(), if the calling thread records the device, whose commands cannot be waited
 * for. */
bool recording_refuses_wait(struct device *d, const char *call);

/* The complete recording of this handle, or NULL after fail(). */
struct recording *recording_find(CLCONTEXT *cp, const void *handle, const char *call);

/* Free the recordings of a context, whose commands are complete. */
void recordings_free(CLCONTEXT *cp);

/* ---- launch.c, sync.c: start a recorded command again, with flags of the replay. ---- */
cl_event launch_recorded(const struct recording *r, const struct recorded *c, int flags,
                         const char *call);
cl_event sync_recorded(const struct recording *r, const struct recorded *c, int flags,
                       const char *call);
cl_event copy_recorded(const struct recording *r, const struct recorded *c, int flags,
                       const char *call);

#endif
