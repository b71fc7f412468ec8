/* memory_table.c - the table of allocations, sorted by address, so that any pointer into one finds
 * it.
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

static struct {
    pthread_rwlock_t lock;
    struct memory **entry; /* by base address, ascending */
    size_t count, capacity;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

_Atomic uint64_t memory_epoch = 1;

void memory_new_epoch(void)
{
    atomic_fetch_add(&memory_epoch, 1);
}

/* Number of entries that start at or below ptr. */
static size_t memory_table_rank(const void *ptr)
{
    size_t low = 0, high = table.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if ((uintptr_t)table.entry[middle]->base <= (uintptr_t)ptr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct memory *memory_find(const void *ptr)
{
    struct memory *found = NULL;
    pthread_rwlock_rdlock(&table.lock);
    size_t rank = memory_table_rank(ptr);
    if (rank > 0) {
        struct memory *m = table.entry[rank - 1];
        size_t extent = m->size ? m->size : 1;
        if ((uintptr_t)ptr - (uintptr_t)m->base < extent)
            found = m;
    }
    pthread_rwlock_unlock(&table.lock);
    return found;
}

static bool memory_table_reserve(void)
{
    if (table.count < table.capacity)
        return true;
    size_t capacity = table.capacity ? 2 * table.capacity : 64;
    struct memory **entry = realloc(table.entry, capacity * sizeof *entry);
    if (!entry)
        return false;
    table.entry = entry;
    table.capacity = capacity;
    return true;
}

static bool overlap(const struct memory *a, const struct memory *b)
{
    const uintptr_t first = (uintptr_t)a->base, second = (uintptr_t)b->base;
    return first < second + (b->size ? b->size : 1) && second < first + (a->size ? a->size : 1);
}

int memory_enter(struct memory *m, const char *call)
{
    const void *taken = NULL;
    pthread_rwlock_wrlock(&table.lock);
    const size_t rank = memory_table_rank(m->base);
    for (size_t i = rank ? rank - 1 : 0; i < table.count && i <= rank; i++)
        if (overlap(m, table.entry[i]))
            taken = table.entry[i]->base;
    const bool enters = !taken && memory_table_reserve();
    if (enters) {
        memmove(&table.entry[rank + 1], &table.entry[rank],
                (table.count - rank) * sizeof *table.entry);
        table.entry[rank] = m;
        table.count++;
    }
    pthread_rwlock_unlock(&table.lock);
    if (taken)
        return fail(EEXIST, 0, "%s: the %zu bytes at %p overlap the block at %p; clfree that first",
                    call, m->size, (void *)m->base, taken);
    return enters ? 0 : fail(ENOMEM, 0, "%s: out of memory on the host", call);
}

struct memory *memory_take(const void *ptr)
{
    struct memory *m = NULL;
    pthread_rwlock_wrlock(&table.lock);
    size_t rank = memory_table_rank(ptr);
    if (rank > 0 && table.entry[rank - 1]->base == ptr) {
        m = table.entry[rank - 1];
        table.count--;
        memmove(&table.entry[rank - 1], &table.entry[rank],
                (table.count - (rank - 1)) * sizeof *table.entry);
    }
    pthread_rwlock_unlock(&table.lock);
    return m;
}

struct memory *memory_or_fail(const void *ptr, const char *call)
{
    if (forked_child(call))
        return NULL;
    struct memory *m = memory_find(ptr);
    const char *const cause = ptr ? NULL : failure_to_allocate();
    if (!m && cause)
        fail(EFAULT, 0, "%s: the pointer is NULL; before, %s", call, cause);
    else if (!m && !ptr)
        fail(EFAULT, 0, "%s: the pointer is NULL; check what clmalloc returned", call);
    else if (!m)
        fail(EFAULT, 0, "%s: %p is not in memory from clmalloc, or was freed", call, ptr);
    return m;
}

static bool has_buffer(struct memory *m, cl_mem buffer, cl_uint ndev)
{
    bool found = false;
    pthread_mutex_lock(&m->lock);
    for (cl_uint dev = 0; m->buffer && dev < ndev; dev++)
        found = found || m->buffer[dev] == buffer;
    pthread_mutex_unlock(&m->lock);
    return found;
}

struct memory *memory_of_buffer(const CLCONTEXT *cp, cl_mem buffer)
{
    struct memory *m = NULL;
    pthread_rwlock_rdlock(&table.lock);
    for (size_t i = 0; i < table.count && !m; i++)
        if (table.entry[i]->cp == cp && has_buffer(table.entry[i], buffer, cp->ndev))
            m = table.entry[i];
    pthread_rwlock_unlock(&table.lock);
    return m;
}

struct memory *memory_any_attached(const CLCONTEXT *cp)
{
    struct memory *m = NULL;
    pthread_rwlock_rdlock(&table.lock);
    for (size_t i = 0; i < table.count && !m; i++)
        if (table.entry[i]->cp == cp)
            m = table.entry[i];
    pthread_rwlock_unlock(&table.lock);
    return m;
}

cl_int memory_each_shared(const CLCONTEXT *cp, cl_uint dev,
                          cl_int (*visit)(struct memory *m, void *data), void *data)
{
    cl_int err = CL_SUCCESS;
    pthread_rwlock_rdlock(&table.lock);
    for (size_t i = 0; i < table.count && err == CL_SUCCESS; i++)
        if (table.entry[i]->cp == cp && memory_is_svm(table.entry[i], dev))
            err = visit(table.entry[i], data);
    pthread_rwlock_unlock(&table.lock);
    return err;
}
