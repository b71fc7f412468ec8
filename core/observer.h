/* observer.h - how another room sees what the core does, without the core knowing it.
 *
 * One observer can hang on the core. It is asked about every context that is made; one that it has
 * put something into with context_observe() is observed until it ends, and the observer learns of
 * each of its commands three times. The core carries the observer's note from one time to the next:
 *
 *   clfork, clmsync, clmcopy   command_begins   says to which queue the command goes, and fills the
 *   note
 *                              command_started  once it is enqueued
 *   clwait, ...                command_collected  once it is complete and its event about to be
 *                              given up
 *
 * A context that is not observed costs one load a command.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_OBSERVER_H
#define CORE_OBSERVER_H

#include "core/core.h"

enum command_kind { KERNEL_LAUNCH, HOST_TO_DEVICE, DEVICE_TO_HOST, COPY_ON_DEVICE };

struct kernel; /* the core's */

/* A command that is about to be enqueued. */
struct command {
    CLCONTEXT *cp;
    cl_uint dev;
    enum command_kind kind;
    struct kernel *kernel; /* of a launch, locked while it begins and is started; else NULL */
    double size;           /* work-items of a launch, bytes of a copy */
    bool uncounted;        /* CL_EVENT_UNCOUNTED: the observer is not asked */
};

/* What the observer must know again of a command. The core looks at `line` only: NULL = the
 * observer is told no more of this command. */
struct note {
    void *line, *stratum;
    double flops, bytes;
    bool timed;
};

struct observer {
    /* A context was made. -1 after fail(): it is destroyed again. */
    int (*context_begins)(CLCONTEXT *cp);
    /* An observed context is about to be released; its commands are complete. */
    void (*context_ends)(CLCONTEXT *cp);
    /* A kernel is about to be released in whose place the observer has put something. */
    void (*kernel_ends)(void *place);

    cl_command_queue (*command_begins)(const struct command *c, struct note *note);
    void (*command_started)(const struct command *c, struct note *note, cl_event ev);
    /* False: it was not complete yet after all, so this will be asked again. */
    bool (*command_collected)(const struct note *note, cl_event ev);
};

/* The observer, or NULL. Defined once a library: by the room that observes (in libstdcl profile/),
 * or, for the core alone, in hooks_null.c. A name that must be found and not a call before main:
 * programs that are linked statically get the observer whether they mention it or not. */
extern const struct observer *const core_observer;

/* ---- What the observer may do. ---- */

/* Puts something into the observer's place in a context, which is observed while that is not NULL;
 * and what is there. No other thread may be using the context when it is put. */
void context_observe(CLCONTEXT *cp, void *place);
void *context_observed(const CLCONTEXT *cp);

/* A context as clcontext_create_from makes it that the observer is not asked about. */
CLCONTEXT *context_unobserved(const cl_device_id *devices, size_t ndev);

/* Waits for all commands of a context and tells the observer of each. */
void context_settle(CLCONTEXT *cp);

/* After such waiting, makes another queue a device's. Returns the one before, which is the caller's
 * then. */
cl_command_queue device_replace_queue(CLCONTEXT *cp, cl_uint dev, cl_command_queue queue);

/* The kernel behind a handle, or NULL after fail(); its context; its name. */
struct kernel *kernel_of(cl_kernel handle, const char *call);
CLCONTEXT *kernel_context(const struct kernel *k);
const char *kernel_name(const struct kernel *k);

/* The observer's place in a kernel, to be used while that is locked; NULL in it at first. */
void **kernel_place(struct kernel *k);
void kernel_lock(struct kernel *k);
void kernel_unlock(struct kernel *k);

#endif
