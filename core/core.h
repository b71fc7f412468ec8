/* core.h - what the core offers the other rooms of libstdcl, besides <stdcl.h> and observer.h.
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

/* Records a failure of the calling thread: clerrno = code, oclerrno = ocl, the sentence. Returns
 * -1. */
__attribute__((format(printf, 3, 4))) int fail(int code, cl_int ocl, const char *format, ...);

/* The same of a call whose context is NULL: with the reason, where a standard context could not be
 * made. */
int fail_no_context(const char *call);

/* The reason, which stays in memory; the first one counts. */
void no_context_because(const char *text);

/* The errno value that stands for an OpenCL code. */
int errno_of(cl_int ocl);

/* The calling thread's last sentence, "" at first; unlike clerror it may be asked again. */
const char *clerror_text(void);

/* The calling thread's last failure. */
struct failure {
    int code;
    cl_int ocl;
    bool unread; /* not yet told by clerror */
    char *text;
};

/* Around calls of our own that may fail without that being an error: afterwards the thread's last
 * failure is what it was before; or, if it was an error after all, that stays and the one before is
 * forgotten. */
void failure_set_aside(struct failure *before);
void failure_restore(const struct failure *before);
void failure_forget(struct failure *before);

/* A copy of the calling thread's last failure, for failure_restore in any thread; without its text
 * if there is no memory for that. */
struct failure failure_copy(void);

/* ---- device.c ---- */

/* A device of a context, or NULL with EINVAL and a message that names `call`. */
cl_device_id device_id(CLCONTEXT *cp, cl_uint dev, const char *call);

/* Its type, and the beginning of its name, which lives as long as the context. */
cl_device_type device_type(const CLCONTEXT *cp, cl_uint dev);
const char *device_name(const CLCONTEXT *cp, cl_uint dev);

/* ---- program.c, open.c ---- */

/* As clopen_named, of source as it is: without $STDCL_KERNEL_PATH, and not generated. `call` is for
 * messages. */
void *open_bytes(CLCONTEXT *cp, const char *name, const char *data, size_t size,
                 const char *options, int flags, const char *call);

/* The file in $STDCL_KERNEL_PATH that replaces the embedded kernel `name`: its path, or NULL. */
const char *kernel_override(const char *name, char *path, size_t size);

/* ---- read.c ---- */

/* All bytes of a file, and their number; the caller frees them. NULL after fail(). */
char *read_file(const char *file, size_t *size, const char *call);

/* ---- disk_cache.c ---- */

/* The path of a file in the user's folder for what may be lost: $XDG_CACHE_HOME/stdcl,
 * ~/.cache/stdcl. False when the environment names no place for it. */
enum { CACHE_PATH = 4200 };
bool cache_path(char *path, size_t size, const char *name);

/* Makes the folders above a file, as far as that is possible. */
void cache_folders(const char *path);

/* ---- symbols.c ---- */

/* Of a built program of one file: the names of its kernels, separated by ';', and what a device's
 * compiler said, often "". The caller frees them. NULL after fail(). */
char *program_kernels(CLCONTEXT *cp, void *handle);
char *program_log(CLCONTEXT *cp, void *handle, cl_uint dev);

/* ---- embed.c ---- */

/* A device with its driver, as embedded binaries name it: where the text is equal a binary may be
 * used. Returns how many bytes of it are the device's name; 0 when OpenCL does not tell all. */
enum { EMBEDDED_IDENTITY = 800 };
size_t device_identity(cl_device_id id, char *text, size_t size);

/* ---- What another room generates. ---- */

/* Files that are not OpenCL C themselves, but what it is generated from. */
struct generator {
    bool (*knows)(const char *name); /* whether a file of this name is one of them */
    /* The OpenCL C that `size` bytes of text stand for; the caller frees it. NULL after fail(). */
    char *(*generate)(const char *name, const char *text, size_t size);
};

/* Who expands such files before they are built, or NULL. Defined once a library, by another room
 * (in libstdcl by template/) or, for the core alone, in hooks_null.c. */
extern const struct generator *const core_generator;

#endif
