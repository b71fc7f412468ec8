/* observer.h - how another room follows commands without the core depending on it.
 *
 * The core calls one observer for every context that is created. A context in which the observer
 * stored data with context_observe() is observed until it ends, and the observer is called three
 * times per command. The core passes the observer's record of the command from call to call:
 *
 *   clfork, clmsync, clmcopy   command_begins      returns the queue, and fills in the record
 *                              command_started     after the command was enqueued
 *   clwait, ...                command_collected   when it is complete, before its event is
 *                                                  released
 *
 * A context that is not observed costs one load per command.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_OBSERVER_H
#define CORE_OBSERVER_H

#include "core/core.h"

enum command_kind { KERNEL_LAUNCH, HOST_TO_DEVICE, DEVICE_TO_HOST, COPY_ON_DEVICE };

struct kernel; /* defined in core/kernel.h */

/* A command about to be enqueued. */
struct command {
    CLCONTEXT *cp;
    cl_uint dev;
    enum command_kind kind;
    struct kernel
        *kernel;    /* of a launch, locked during command_begins and command_started; else NULL */
    double size;    /* work-items of a launch, bytes of a copy */
    bool uncounted; /* CL_EVENT_UNCOUNTED: the observer is not called */
};

/* The observer's record of a command. The core only reads `line`: NULL: the observer is not called
 * again for this command. */
struct command_record {
    void *line, *stratum;
    double flops, bytes;
    bool timed;
};

struct observer {
    /* A context was created. -1 after fail(): it is destroyed again. */
    int (*context_begins)(CLCONTEXT *cp);
    /* An observed context is about to be released; its commands are complete. */
    void (*context_ends)(CLCONTEXT *cp);
    /* A kernel in which the observer stored data is about to be released. */
    void (*kernel_ends)(void *place);

    cl_command_queue (*command_begins)(const struct command *c, struct command_record *note);
    void (*command_started)(const struct command *c, struct command_record *note, cl_event ev);
    /* False: the command is not complete yet, so this is called again later. */
    bool (*command_collected)(const struct command_record *note, cl_event ev);
};

/* The observer, or NULL. Each library defines it once: in profile/ for libstdcl, in hooks_null.c
 * for the core alone. It is a symbol to link rather than a call before main, so that statically
 * linked programs get the observer too. */
extern const struct observer *const core_observer;

/* Called before and after a program is compiled that no cache holds, in the thread that compiles;
 * NULL: not called. Set it before the first program is built. */
extern void (*core_compiles)(bool begins);

/* ---- What the observer may do. ---- */

/* Store the observer's data in a context, which is observed while the data is not NULL, and read
 * it. No other thread may be using the context during the store. */
void context_observe(CLCONTEXT *cp, void *place);
void *context_observed(const CLCONTEXT *cp);

/* As clcontext_create_from, without calling the observer. */
CLCONTEXT *context_unobserved(const cl_device_id *devices, size_t ndev);

/* True if the queues are the program's own, which must not be replaced. */
bool context_is_adopted(const CLCONTEXT *cp);

/* Wait for all commands of a context and pass each to the observer. */
void context_collect_all(CLCONTEXT *cp);

/* After context_collect_all: replace a device's queue. Return the old one, which the caller owns
 * then. */
cl_command_queue device_replace_queue(CLCONTEXT *cp, cl_uint dev, cl_command_queue queue);

/* The kernel of a handle, or NULL after fail(); its context; its name. */
struct kernel *kernel_of(cl_kernel handle, const char *call);
CLCONTEXT *kernel_context(const struct kernel *k);
const char *kernel_name(const struct kernel *k);

/* The observer's data in a kernel, initially NULL; read and written with the kernel locked. */
void **kernel_place(struct kernel *k);
void kernel_lock(struct kernel *k);
void kernel_unlock(struct kernel *k);

#endif
