/* core.h - what the core offers to the other rooms of libstdcl besides <stdcl.h> and observer.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_CORE_H
#define CORE_CORE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* asprintf, memmem, dladdr; this file is included first */
#endif
#include "stdcl.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STDCL_API __attribute__((visibility("default")))
#define CL_FAILED ((cl_event)(intptr_t)-1)

#include "core/untracked.h"

/* ---- error.c ---- */

/* Record a failure of the calling thread: clerrno = code, oclerrno = ocl, and the message. Return
 * -1. */
__attribute__((format(printf, 3, 4))) int fail(int code, cl_int ocl, const char *format, ...);

/* Record that the context of a call is NULL, with the reason if a standard context could not be
 * created. */
int fail_no_context(const char *call);

/* Set that reason; `text` stays valid; the first reason is kept. */
void no_context_reason(const char *text);

/* The errno value for an OpenCL code. */
int errno_of(cl_int ocl);

/* The calling thread's last message, "" at first; unlike clerror it does not mark the message as
 * read. */
const char *clerror_text(void);

/* The calling thread's last message if a call of the loader (clopen, clbuild, clsym ...) failed and
 * clerror has not returned the message yet; else NULL. */
const char *failure_to_open(void);

/* The calling thread's last message if a command (clexec, clforka, clmsync ...) or a call of the
 * loader failed and clerror has not returned the message yet; else NULL. */
const char *failure_to_compute(void);

/* The calling thread's last message if a call that allocates memory (clmalloc, clmem_adopt,
 * clmrealloc) failed and clerror has not returned the message yet; else NULL. */
const char *failure_to_allocate(void);

/* The last failure of a thread. */
struct failure {
    int code;
    cl_int ocl;
    bool unread; /* not yet returned by clerror */
    char *text;
    uint64_t order; /* when it was deferred to a wait: 1, 2, ... */
};

/* Bracket internal calls that may fail without that being an error. failure_restore: the thread's
 * last failure is again the saved one. failure_drop_saved: keep the new failure. */
void failure_save(struct failure *before);
void failure_restore(const struct failure *before);
void failure_drop_saved(struct failure *before);

/* A copy of the calling thread's last failure, for failure_restore in any thread; without its text
 * if out of memory. */
struct failure failure_copy(void);

/* ---- forked.c ---- */

/* Call before the first use of OpenCL: later children of this process are refused. */
void forked_watch(void);

/* True, after fail(), in a process that was forked after that. */
extern _Atomic bool core_is_forked;
bool forked_refuse(const char *call);
static inline bool forked_child(const char *call)
{
    return atomic_load_explicit(&core_is_forked, memory_order_relaxed) && forked_refuse(call);
}

/* ---- flags.c ---- */

/* Flags of calls that wait, and of launches and copies. */
enum {
    WAIT_FLAGS =
        CL_EVENT_WAIT | CL_EVENT_NOWAIT | CL_EVENT_RELEASE | CL_EVENT_NORELEASE | CL_ALL_EVENT,
    COMMAND_FLAGS = WAIT_FLAGS | CL_EVENT_OWN | CL_EVENT_CHECKED | CL_EVENT_SIDE_QUEUE |
                    CL_EVENT_BARRIER | CL_EVENT_UNTRACKED,
};

/* 0 if a call knows all of these flags, else -1 after fail(). command_flags_check also refuses
 * CL_EVENT_WAIT with CL_EVENT_NOWAIT. */
int command_flags_check(int flags, int known, const char *call);
int loader_flags_check(int flags, const char *call);
int memory_flags_check(int flags, int known, const char *call);

/* ---- device.c ---- */

/* A device of a context, or NULL with EINVAL and a message that names `call`. */
cl_device_id device_id(CLCONTEXT *cp, cl_uint dev, const char *call);

/* Its type, and the beginning of its name, which is valid as long as the context. */
cl_device_type device_type(const CLCONTEXT *cp, cl_uint dev);
const char *device_name(const CLCONTEXT *cp, cl_uint dev);

/* ---- program.c, open.c ---- */

/* As clopen_named of plain OpenCL C, ignoring $STDCL_KERNEL_PATH and templates. `call` is for
 * messages. */
void *open_bytes(CLCONTEXT *cp, const char *name, const char *data, size_t size,
                 const char *options, int flags, const char *call);

/* Path of the file in $STDCL_KERNEL_PATH that replaces the embedded kernel `name`, or NULL. */
const char *kernel_override(const char *name, char *path, size_t size);

/* ---- read.c ---- */

/* Skip the byte order mark of UTF-8 that some editors put before a text. */
static inline void skip_byte_order_mark(const char **text, size_t *size)
{
    const size_t mark = *size >= 3 && memcmp(*text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    *text += mark;
    *size -= mark;
}

/* Read a whole file; the caller frees it. NULL after fail(). */
char *read_file(const char *file, size_t *size, const char *call);

/* ---- disk_cache.c ---- */

/* The path of a file in the user's cache folder: $XDG_CACHE_HOME/stdcl or ~/.cache/stdcl. False if
 * the environment names no folder. */
enum { CACHE_PATH = 4200 };
bool cache_path(char *path, size_t size, const char *name);

/* Create the parent folders of a file, as far as possible. */
void cache_folders(const char *path);

/* ---- symbols.c ---- */

/* For a built program of one file: the names of its kernels, separated by ';', and a device's
 * compiler messages, often "". The caller frees them. NULL after fail(). */
char *program_kernels(CLCONTEXT *cp, void *handle);
char *program_log(CLCONTEXT *cp, void *handle, cl_uint dev);

/* ---- embed.c ---- */

/* Identity of a device and its driver in embedded binaries: a binary is used if the texts are
 * equal. Return the length of the device's name within it; 0 if a query fails. */
enum { EMBEDDED_IDENTITY = 800 };
size_t device_identity(cl_device_id id, char *text, size_t size);

/* ---- What another room generates. ---- */

/* A generator of OpenCL C from other files, such as templates. */
struct generator {
    bool (*knows)(const char *name); /* true if this file name is one of them */
    /* Generate OpenCL C from `size` bytes of text; the caller frees it. NULL after fail(). */
    char *(*generate)(const char *name, const char *text, size_t size);
};

/* The generator, or NULL. Each library defines it once: in template/ for libstdcl, in hooks_null.c
 * for the core alone. */
extern const struct generator *const core_generator;

#endif
