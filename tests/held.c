/* held.c - stands in for the calls that allocate memory and make events, and counts what they give.
 *
 * The linker's option --wrap=NAME turns calls of NAME into calls of __wrap_NAME, and __real_NAME into NAME.
 * Memory that libc allocated for us (strdup, asprintf) is not counted when it is made: a test looks at calls
 * that use none, and sees it as a negative number if they begin to.
 * SPDX-License-Identifier: MIT
 */
#include "held.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long bytes;

long held_bytes(void)
{
    return atomic_load(&bytes);
}

/* ---- Memory. ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *ptr, size_t size);
void __real_free(void *ptr);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *ptr, size_t size);
void __wrap_free(void *ptr);

static void *counted(void *ptr)
{
    if (ptr)
        atomic_fetch_add(&bytes, (long)malloc_usable_size(ptr));
    return ptr;
}

void *__wrap_malloc(size_t size)
{
    return counted(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *ptr, size_t size)
{
    const long before = ptr ? (long)malloc_usable_size(ptr) : 0;
    void *now = __real_realloc(ptr, size);
    if (now || size == 0)
        atomic_fetch_sub(&bytes, before);
    return counted(now);
}

void __wrap_free(void *ptr)
{
    if (ptr)
        atomic_fetch_sub(&bytes, (long)malloc_usable_size(ptr));
    __real_free(ptr);
}

/* ---- Events. ---- */

/* References to each event there ever was, by its address: open addressing, and no entry is taken out. */
enum { SLOTS = 1 << 17 };
static struct {
    cl_event event;
    long references;
} slot[SLOTS];
static long events;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long *references_of(cl_event ev)
{
    size_t i = ((uintptr_t)ev >> 4) * 2654435761u % SLOTS;
    for (size_t tried = 0; slot[i].event && slot[i].event != ev; tried++, i = (i + 1) % SLOTS)
        assert(tried < SLOTS);
    slot[i].event = ev;
    return &slot[i].references;
}

static void count_event(cl_event ev, long change)
{
    pthread_mutex_lock(&lock);
    *references_of(ev) += change;
    events += change;
    pthread_mutex_unlock(&lock);
}

long held_events(void)
{
    pthread_mutex_lock(&lock);
    const long n = events;
    pthread_mutex_unlock(&lock);
    return n;
}

long held_references(cl_event ev)
{
    pthread_mutex_lock(&lock);
    const long n = *references_of(ev);
    pthread_mutex_unlock(&lock);
    return n;
}

static cl_int made(cl_int err, const cl_event *ev)
{
    if (err == CL_SUCCESS && ev && *ev)
        count_event(*ev, 1);
    return err;
}

cl_int __real_clRetainEvent(cl_event ev);
cl_int __real_clReleaseEvent(cl_event ev);
cl_int __wrap_clRetainEvent(cl_event ev);
cl_int __wrap_clReleaseEvent(cl_event ev);

cl_int __wrap_clRetainEvent(cl_event ev)
{
    return made(__real_clRetainEvent(ev), &ev);
}

cl_int __wrap_clReleaseEvent(cl_event ev)
{
    count_event(ev, -1); /* before another thread may get the same address */
    const cl_int err = __real_clReleaseEvent(ev);
    if (err != CL_SUCCESS)
        count_event(ev, 1);
    return err;
}

/* Commands that launches and syncs of plain memory are made of. */
#define ENQUEUES(name, parameters, arguments)    \
    cl_int __real_##name parameters;             \
    cl_int __wrap_##name parameters;             \
    cl_int __wrap_##name parameters              \
    {                                            \
        return made(__real_##name arguments, ev); \
    }

ENQUEUES(clEnqueueNDRangeKernel,
         (cl_command_queue q, cl_kernel k, cl_uint dim, const size_t *offset, const size_t *global, const size_t *local,
          cl_uint n, const cl_event *list, cl_event *ev),
         (q, k, dim, offset, global, local, n, list, ev))
ENQUEUES(clEnqueueWriteBuffer,
         (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, const void *from, cl_uint n,
          const cl_event *list, cl_event *ev),
         (q, m, block, at, size, from, n, list, ev))
ENQUEUES(clEnqueueReadBuffer,
         (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, void *to, cl_uint n,
          const cl_event *list, cl_event *ev),
         (q, m, block, at, size, to, n, list, ev))
ENQUEUES(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *list, cl_event *ev), (q, n, list, ev))
