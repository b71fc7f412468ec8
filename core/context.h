/* context.h - contexts and their devices; device enumeration and device locks.
 *
 * Locks, in the order in which they may be taken: a context's, a program's, a recording's, a
 * kernel's (a copy's before its origin's), the kernel table's, the memory table's, an allocation's
 * (`migrating`, then `lock`), a device's. No lock is held while waiting for a device, except a
 * recording's during a replay, and a kernel's and an allocation's `migrating` while the newest
 * image of a block is copied to another device.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_CONTEXT_H
#define CORE_CONTEXT_H

#include "core/events.h"

/* ---- enumerate.c ---- */

/* A device that a context can be created with. */
struct candidate {
    cl_platform_id platform;
    cl_device_id id;
    cl_device_type type;
    char words[4][256]; /* platform name and vendor, device name and vendor */
    char key[80];       /* identifies the device to all processes of the host */
};

/* Number of devices. Call this before the functions below. */
size_t enumerate_count(void);

/* OpenCL error if not all devices, or not all of their properties, could be queried; 0: none. */
cl_int enumerate_error(void);

/* Fill chosen[] (room for enumerate_count()) with the devices of `type` that match `patterns`, in
 * the order of the patterns. Return their number. */
size_t enumerate_match(const char *patterns, cl_device_type type, const struct candidate **chosen);

/* "NAME, NAME" of all devices, for messages; the caller frees it. */
char *enumerate_names(void);

/* ---- device_lock.c ---- */

/* Keep of chosen[0..n) the first `want` devices that no other process has locked, those of other
 * contexts of this process last, with the locks' descriptors in *claims. Return their number, or 0
 * after fail(). */
size_t device_lock_take(const struct candidate **chosen, size_t n, size_t want, int key,
                        int **claims);
void device_lock_release(int *claims, size_t n);

/* ---- context.c ---- */

struct device {
    cl_device_id id;
    cl_platform_id platform;
    cl_device_type type;
    cl_context context;
    cl_command_queue queue;
    cl_command_queue side_queue[2]; /* auxiliary queues (side_queue.c), NULL until made under
                                       `lock`; kept until the end */
    bool numbered; /* programs are built with `number`, one of `among` devices, if that is not 0
                      (number_builds) */
    cl_uint number, among;
    bool shares_memory; /* with the host: a zero-copy block is its own buffer */
    const char *maker;  /* macro that names the platform's vendor to kernels, or NULL */
    size_t start_align; /* alignment in bytes of a sub-buffer's start */
    cl_ulong memory, largest, local_memory; /* bytes; largest: of one buffer */
    char name[128];
    _Atomic(pthread_t) recorder; /* the thread that records the device's commands; 0: none */
    _Atomic int svm_mapped;      /* shared blocks that the host may access (svm.c) */
    struct recording *recording; /* read and written by the recorder only */
    pthread_mutex_t lock;        /* guards the members below */
    struct event_list events[EVENT_KINDS];
    struct failure pending_error[EVENT_KINDS]; /* first error since the last wait, which the next
                                                  wait reports; code 0: none */
    uint64_t commands;                         /* number of commands so far */
    uint64_t untracked;                        /* untracked kernels since the last marker */
    struct cached_program *kept;               /* program cache, most recently used first */
};

struct stdcl_context {
    CLCONTEXT *next; /* in the list of open contexts */
    cl_uint ndev;
    struct device *dev;
    bool standard;
    bool adopted;             /* the devices use the program's OpenCL context and queues */
    void *_Atomic observed;   /* the observer's data; NULL: not observed */
    int *claims;              /* descriptors of the device locks, ndev of them, or NULL */
    pthread_mutex_t lock;     /* guards the members below */
    struct program *programs; /* newest first */
    struct program *embedded; /* opened by embedded_of */
    struct recording *recordings;
    struct failure pending_error; /* first command since the last wait for a device that the context
                                     does not have */
};

/* Create a context of candidates. Takes over `claims`, which may be NULL. */
CLCONTEXT *context_of(const struct candidate **chosen, size_t n, int *claims);

/* ---- device.c ---- */

/* The device, or NULL with EINVAL and a message that names `call`. */
struct device *device_of(CLCONTEXT *cp, cl_uint dev, const char *call);

/* Side queue k, 0 or 1; NULL if there is none. make: create it at first use, if possible. Thread-
 * safe. */
cl_command_queue device_side_queue(struct device *d, int k, bool make);

/* Flush the side queues. */
void device_flush_side_queues(struct device *d);

/* Block until all commands of a device are complete. */
void device_drain(struct device *d);

/* ---- side_queue.c ---- */

/* The queue for a command with these flags; command_queue does the same for the main queue. */
cl_command_queue queue_for(const struct command *c, struct command_record *note, int flags);

void side_queues_close(struct device *d);

#endif
