/* shim.c - LD_PRELOAD library that makes one allocation or writing call fail as fault.h says.
 *
 * Only calls from our own code count, determined by their return address: from the program itself
 * and from libstdcl. Calls of drivers, other libraries and child programs are left alone.
 * SPDX-License-Identifier: MIT
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fault.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>

/* ---- Who calls. ------------------------------------------------------------------------------ */

enum { RANGES = 16 };
static struct {
    uintptr_t from, to;
} range[RANGES];
static int ranges;

static int add_ranges(struct dl_phdr_info *object, size_t size, void *program)
{
    (void)size;
    const bool ours = !*(bool *)program || strstr(object->dlpi_name, "libstdcl");
    for (int i = 0; ours && i < object->dlpi_phnum && ranges < RANGES; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        range[ranges].from = object->dlpi_addr + part->p_vaddr;
        range[ranges].to = range[ranges].from + part->p_memsz;
        ranges++;
    }
    *(bool *)program = true; /* which comes first */
    return 0;
}

__attribute__((constructor)) static void prepare(void)
{
    bool program = false;
    dl_iterate_phdr(add_ranges, &program);
    unsetenv("LD_PRELOAD");
}

static struct fault fault_from(const char *call, const void *caller)
{
    for (int i = 0; i < ranges; i++)
        if ((uintptr_t)caller >= range[i].from && (uintptr_t)caller < range[i].to)
            return fault_of(call);
    return (struct fault){NO_FAULT, 0};
}

/* ---- The calls. ------------------------------------------------------------------------------ */

#define OURS __attribute__((visibility("default")))

/* A call that sets errno and returns `bad`; `real` does the work. */
#define SHIM(type, name, parameters, bad, real)                                                    \
    OURS type name parameters                                                                      \
    {                                                                                              \
        const struct fault f =                                                                     \
            fault_from(#name, __builtin_extract_return_addr(__builtin_return_address(0)));         \
        if (f.how == REFUSED) {                                                                    \
            errno = f.code;                                                                        \
            return bad;                                                                            \
        }                                                                                          \
        return real;                                                                               \
    }

/* libc's function of this name, with the type of ours. */
#define NEXT(name) ((__typeof__(&name))(uintptr_t)dlsym(RTLD_NEXT, #name))

#ifdef STDCL_SANITIZED /* the sanitizer's */
#define ALLOCATOR(name) NEXT(name)
#else
#define ALLOCATOR(name) __libc_##name /* dlsym itself allocates */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *ptr, size_t size);
#endif

SHIM(void *, malloc, (size_t size), NULL, ALLOCATOR(malloc)(size))
SHIM(void *, calloc, (size_t n, size_t size), NULL, ALLOCATOR(calloc)(n, size))
SHIM(void *, realloc, (void *ptr, size_t size), NULL, ALLOCATOR(realloc)(ptr, size))
SHIM(char *, strdup, (const char *text), NULL, NEXT(strdup)(text))
SHIM(char *, strndup, (const char *text, size_t size), NULL, NEXT(strndup)(text, size))
SHIM(int, vasprintf, (char **text, const char *format, va_list list), -1,
     NEXT(vasprintf)(text, format, list))
SHIM(FILE *, open_memstream, (char **text, size_t *size), NULL, NEXT(open_memstream)(text, size))
SHIM(FILE *, fopencookie, (void *cookie, const char *mode, cookie_io_functions_t calls), NULL,
     NEXT(fopencookie)(cookie, mode, calls))
SHIM(char *, realpath, (const char *path, char *to), NULL, NEXT(realpath)(path, to))
SHIM(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
     MAP_FAILED, NEXT(mmap)(at, size, protection, flags, fd, offset))
SHIM(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data),
     f.code, NEXT(pthread_create)(thread, attributes, run, data))

OURS int asprintf(char **text, const char *format, ...)
{
    const struct fault f =
        fault_from("asprintf", __builtin_extract_return_addr(__builtin_return_address(0)));
    va_list list;
    if (f.how == REFUSED) {
        errno = f.code;
        return -1;
    }
    va_start(list, format);
    const int length = NEXT(vasprintf)(text, format, list);
    va_end(list);
    return length;
}

#define PART(size) (f.how == SHORT && size > 1 ? size / 2 : size)
SHIM(ssize_t, write, (int fd, const void *data, size_t size), -1, NEXT(write)(fd, data, PART(size)))
SHIM(ssize_t, read, (int fd, void *data, size_t size), -1, NEXT(read)(fd, data, PART(size)))
SHIM(int, fsync, (int fd), -1, NEXT(fsync)(fd))
SHIM(int, flock, (int fd, int operation), -1, NEXT(flock)(fd, operation))
SHIM(int, fflush, (FILE * fp), EOF, NEXT(fflush)(fp))
SHIM(int, rename, (const char *from, const char *to), -1, NEXT(rename)(from, to))

OURS int fclose(FILE *fp) /* which closes the file also when it fails */
{
    const struct fault f =
        fault_from("fclose", __builtin_extract_return_addr(__builtin_return_address(0)));
    const int status = NEXT(fclose)(fp);
    if (f.how == REFUSED)
        errno = f.code;
    return f.how == REFUSED ? EOF : status;
}
