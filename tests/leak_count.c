/* leak_count.c - wrappers that count allocated memory and events.
 *
 * The linker's option --wrap=NAME turns calls of NAME into calls of __wrap_NAME, and __real_NAME
 * into NAME. Memory allocated inside libc (strdup, asprintf) is not counted when it is
 * allocated, so tests use calls that avoid it; freeing such memory shows as a negative count.
 * SPDX-License-Identifier: MIT
 */
#include "leak_count.h"

#include <assert.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long bytes, largest;

long leak_count_bytes(void)
{
    return atomic_load(&bytes);
}

long leak_count_largest(void)
{
    return atomic_exchange(&largest, 0);
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

static void *counted_block(void *ptr)
{
    const long size = ptr ? (long)malloc_usable_size(ptr) : 0;
    long most = atomic_load(&largest);
    while (size > most && !atomic_compare_exchange_weak(&largest, &most, size))
        ;
    atomic_fetch_add(&bytes, size);
    return ptr;
}

void *__wrap_malloc(size_t size)
{
    return counted_block(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return counted_block(__real_calloc(n, size));
}

void *__wrap_realloc(void *ptr, size_t size)
{
    const long before = ptr ? (long)malloc_usable_size(ptr) : 0;
    void *now = __real_realloc(ptr, size);
    if (now || size == 0)
        atomic_fetch_sub(&bytes, before);
    return counted_block(now);
}

void __wrap_free(void *ptr)
{
    if (ptr)
        atomic_fetch_sub(&bytes, (long)malloc_usable_size(ptr));
    __real_free(ptr);
}

/* ---- Events. ---- */

/* References to each live event, by address. Under a sanitizer addresses are not reused, so
 * events without references are removed. */
enum { BUCKETS = 1 << 15 };
struct counted_event {
    struct counted_event *next;
    cl_event event;
    long references;
};
static struct counted_event *bucket[BUCKETS];
static long events;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Return the link to an event's entry, or to where it would be inserted. */
static struct counted_event **link_of(cl_event ev)
{
    struct counted_event **link = &bucket[((uintptr_t)ev >> 4) * 2654435761u % BUCKETS];
    while (*link && (*link)->event != ev)
        link = &(*link)->next;
    return link;
}

static void count_event(cl_event ev, long change)
{
    pthread_mutex_lock(&lock);
    struct counted_event **link = link_of(ev), *entry = *link;
    if (!entry) {
        entry = __real_calloc(1, sizeof *entry);
        assert(entry);
        entry->event = ev;
        *link = entry;
    }
    entry->references += change;
    events += change;
    if (entry->references == 0) {
        *link = entry->next;
        __real_free(entry);
    }
    pthread_mutex_unlock(&lock);
}

long leak_count_events(void)
{
    pthread_mutex_lock(&lock);
    const long n = events;
    pthread_mutex_unlock(&lock);
    return n;
}

long leak_count_references(cl_event ev)
{
    pthread_mutex_lock(&lock);
    const struct counted_event *entry = *link_of(ev);
    const long n = entry ? entry->references : 0;
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

/* Commands used by launches and syncs of plain memory. */
#define ENQUEUES(name, parameters, arguments)                                                      \
    cl_int __real_##name parameters;                                                               \
    cl_int __wrap_##name parameters;                                                               \
    cl_int __wrap_##name parameters                                                                \
    {                                                                                              \
        return made(__real_##name arguments, ev);                                                  \
    }

ENQUEUES(clEnqueueNDRangeKernel,
         (cl_command_queue q, cl_kernel k, cl_uint dim, const size_t *offset, const size_t *global,
          const size_t *local, cl_uint n, const cl_event *list, cl_event *ev),
         (q, k, dim, offset, global, local, n, list, ev))
ENQUEUES(clEnqueueWriteBuffer,
         (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, const void *from,
          cl_uint n, const cl_event *list, cl_event *ev),
         (q, m, block, at, size, from, n, list, ev))
ENQUEUES(clEnqueueReadBuffer,
         (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t size, void *to, cl_uint n,
          const cl_event *list, cl_event *ev),
         (q, m, block, at, size, to, n, list, ev))
ENQUEUES(clEnqueueMarkerWithWaitList,
         (cl_command_queue q, cl_uint n, const cl_event *list, cl_event *ev), (q, n, list, ev))
