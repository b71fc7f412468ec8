/* events.h - uncollected commands of a device, and the calls that every command goes through.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_EVENTS_H
#define CORE_EVENTS_H

#include "core/observer.h"

#undef clSetKernelArg /* OpenCL's own functions */
#undef clEnqueueNDRangeKernel

struct device;

/* ---- event.c ---- */

enum event_kind { KERNEL_EVENT, MEMORY_EVENT, EVENT_KINDS };

struct event_record {
    cl_event event; /* NULL after clwaitev took it from the middle */
    uint64_t number;
    struct command_record note;
    bool shared; /* the caller has a reference too (CL_EVENT_NOWAIT | CL_EVENT_OWN) */
};

/* Records first .. end - 1 of a growable array, oldest first. Records before `seen` are complete
 * and were checked for failure. */
struct event_list {
    struct event_record *record;
    size_t first, seen, end, capacity;
};

/* Wait for a command. NVIDIA's driver reports a failed command only through its status: the result
 * is then below 0. */
cl_int event_wait(cl_event ev);

/* Every command's last step: record its event (NOWAIT) or wait for it. Return the result of the
 * public call. Takes over the reference. */
cl_event event_finish(struct device *d, enum event_kind kind, cl_event ev,
                      struct command_record note, int flags, const char *call);

/* True if the kernel about to be launched may have no event. event_count_untracked: it was
 * launched. */
bool event_may_be_untracked(CLCONTEXT *cp, struct device *d, int flags);
void event_count_untracked(struct device *d);

/* Call before a launch with these flags, or another command (0). Unless that may be untracked
 * itself, add a marker after preceding untracked kernels, through which a wait learns of their
 * failures. */
void event_add_marker(struct device *d, int flags);

/* Return the result of a call for its command, `ev`. If it is CL_FAILED and the call does not
 * wait, the next wait for the device reports the error; with d NULL (no such device) the next wait
 * for any. */
cl_event event_or_defer_error(CLCONTEXT *cp, struct device *d, enum event_kind kind, cl_event ev,
                              int flags);

/* Report the earliest failure of all commands of a device that are complete or were refused, as
 * clwait does, without waiting. True if clerror() is set; further failures are dropped. */
bool event_report_pending(struct device *d, const char *call);

/* Pass all completed commands of a device to the observer. */
void device_harvest(struct device *d);

void event_lists_free(struct device *d);

/* ---- observer.c ---- */

/* The queue for a command, and the observer's record of it, {0} before. */
cl_command_queue command_queue(const struct command *c, struct command_record *note);

/* The command was enqueued. */
void command_started(const struct command *c, struct command_record *note, cl_event ev);

/* Its event is complete or about to be released. Called once. */
void command_collected(struct command_record *note, cl_event ev);

#endif
