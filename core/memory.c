/* memory.c - clmalloc and its family.
 *
 * An allocation is one host region plus, per device of its context, a buffer made at first use. The two
 * images are distinct until clmsync copies one over the other. Allocations stand in a table sorted by
 * address, so that any pointer into one finds it. Where a GPU takes part, the host region is registered
 * with its driver at the first transfer (a USE_HOST_PTR buffer that stays mapped): copies then run at the
 * full rate of the link and asynchronously, to every device.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

#include <sys/mman.h>
#include <unistd.h>

/* Registering costs some 50 us; blocks below this go through the driver's own staging memory. */
enum { PIN_FROM_BYTES = 16384 };

/* Sub-buffers kept of a block, more than a kernel has arguments. */
enum { MOST_SUBBUFFERS = 128 };

/* ---- The table of allocations. ---- */

static struct {
    pthread_rwlock_t lock;
    struct memory **entry; /* by base address, ascending */
    size_t count, capacity;
} table = {.lock = PTHREAD_RWLOCK_INITIALIZER};

_Atomic uint64_t memory_epoch = 1;

static void new_epoch(void) { atomic_fetch_add(&memory_epoch, 1); }

/* How many entries start at or below ptr. */
static size_t rank_of(const void *ptr)
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
    size_t rank = rank_of(ptr);
    if (rank > 0) {
        struct memory *m = table.entry[rank - 1];
        size_t extent = m->size ? m->size : 1;
        if ((uintptr_t)ptr - (uintptr_t)m->base < extent)
            found = m;
    }
    pthread_rwlock_unlock(&table.lock);
    return found;
}

static bool table_insert(struct memory *m)
{
    bool ok = true;
    pthread_rwlock_wrlock(&table.lock);
    if (table.count == table.capacity) {
        size_t capacity = table.capacity ? 2 * table.capacity : 64;
        struct memory **entry = realloc(table.entry, capacity * sizeof *entry);
        ok = entry != NULL;
        if (ok) {
            table.entry = entry;
            table.capacity = capacity;
        }
    }
    if (ok) {
        size_t rank = rank_of(m->base);
        memmove(&table.entry[rank + 1], &table.entry[rank], (table.count - rank) * sizeof *table.entry);
        table.entry[rank] = m;
        table.count++;
    }
    pthread_rwlock_unlock(&table.lock);
    return ok;
}

/* Takes the entry whose base is ptr out of the table; NULL when there is none. Of two threads that free
 * the same block, one gets it. */
static struct memory *table_remove(const void *ptr)
{
    struct memory *m = NULL;
    pthread_rwlock_wrlock(&table.lock);
    size_t rank = rank_of(ptr);
    if (rank > 0 && table.entry[rank - 1]->base == ptr) {
        m = table.entry[rank - 1];
        table.count--;
        memmove(&table.entry[rank - 1], &table.entry[rank],
                (table.count - (rank - 1)) * sizeof *table.entry);
    }
    pthread_rwlock_unlock(&table.lock);
    return m;
}

/* The allocation of ptr, or NULL after fail(). */
static struct memory *find_or_fail(const void *ptr, const char *call)
{
    struct memory *m = memory_find(ptr);
    if (!m)
        fail(EFAULT, 0, "%s: %p is not in memory from clmalloc, or was freed", call, ptr);
    return m;
}

/* ---- Attachment: the per-device part. ---- */

static bool fits_a_device(const CLCONTEXT *cp, size_t size)
{
    for (cl_uint i = 0; i < cp->ndev; i++)
        if (size <= cp->dev[i].memory)
            return true;
    return false;
}

static int attach(CLCONTEXT *cp, struct memory *m, const char *call)
{
    if (!fits_a_device(cp, m->size))
        return fail(ENOMEM, 0, "%s: %zu bytes are more than any device of the context has", call, m->size);
    m->buffer = calloc(cp->ndev, sizeof *m->buffer);
    m->device_current = calloc(cp->ndev, sizeof *m->device_current);
    if (!m->buffer || !m->device_current) {
        free(m->buffer);
        free(m->device_current);
        m->buffer = NULL;
        m->device_current = NULL;
        return fail(ENOMEM, 0, "%s: no memory on the host", call);
    }
    m->host_current = true;
    m->cp = cp;
    return 0;
}

static void unpin(struct memory *m)
{
    if (!m->pin)
        return;
    clEnqueueUnmapMemObject(m->pin_queue, m->pin, m->base, 0, NULL, NULL);
    clFinish(m->pin_queue);
    clReleaseMemObject(m->pin);
    clReleaseCommandQueue(m->pin_queue);
    m->pin = NULL;
}

/* Waits for work in flight on the devices that hold m, then lets go of them. */
static void detach(struct memory *m)
{
    if (!m->cp)
        return;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (m->buffer[i])
            device_drain(&m->cp->dev[i]);
    while (m->subbuffers) {
        struct subbuffer *s = m->subbuffers;
        m->subbuffers = s->next;
        clReleaseMemObject(s->buffer);
        free(s);
    }
    unpin(m);
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (m->buffer[i])
            clReleaseMemObject(m->buffer[i]);
    free(m->buffer);
    free((void *)m->device_current);
    m->buffer = NULL;
    m->device_current = NULL;
    m->cp = NULL;
}

/* ---- Buffers on devices. ---- */

/* The flags with which a device's buffer is made: read-write unless the user's flags say otherwise. */
static cl_mem_flags creation_flags(const struct memory *m)
{
    cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    return m->user_flags & access ? m->user_flags : m->user_flags | CL_MEM_READ_WRITE;
}

static cl_mem make_image(const struct memory *m, const struct device *d, cl_int *err)
{
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                          .image_width = m->width,
                          .image_height = m->height};
    return clCreateImage(d->context, creation_flags(m), &m->format, &desc, NULL, err);
}

static bool host_is_buffer(const struct memory *m, const struct device *d)
{
    return (m->flags & CL_MEM_ZEROCOPY) && (d->type & CL_DEVICE_TYPE_CPU);
}

static cl_mem make_buffer(const struct memory *m, const struct device *d, cl_int *err)
{
    size_t size = m->size ? m->size : 1;
    if (m->flags & CL_MEM_IMAGE2D)
        return make_image(m, d, err);
    if (host_is_buffer(m, d))
        return clCreateBuffer(d->context, creation_flags(m) | CL_MEM_USE_HOST_PTR, size, m->base, err);
    return clCreateBuffer(d->context, creation_flags(m), size, NULL, err);
}

/* m->lock is held. */
static cl_mem whole_buffer(struct memory *m, cl_uint dev, const char *call)
{
    struct device *d = &m->cp->dev[dev];
    cl_int err = CL_SUCCESS;
    if (m->buffer[dev])
        return m->buffer[dev];
    if ((m->flags & CL_MEM_IMAGE2D) && m->width == 0) {
        fail(EINVAL, 0, "%s: the image at %p has no shape; give it one with clmctl(ptr, "
             "CL_MCTL_SET_IMAGE2D, width, height, format)", call, (void *)m->base);
        return NULL;
    }
    m->buffer[dev] = make_buffer(m, d, &err);
    if (!m->buffer[dev])
        fail(errno_of(err), err, "%s: no buffer of %zu bytes on %s", call, m->size, d->name);
    return m->buffer[dev];
}

/* Releases the oldest sub-buffer when there are too many. Commands in flight keep theirs; kernels that were
 * given it look it up again. */
static void drop_oldest_subbuffer(struct memory *m)
{
    size_t count = 0;
    struct subbuffer **last = &m->subbuffers;
    for (struct subbuffer *s = m->subbuffers; s; s = s->next)
        count++;
    if (count < MOST_SUBBUFFERS)
        return;
    while ((*last)->next)
        last = &(*last)->next;
    clReleaseMemObject((*last)->buffer);
    free(*last);
    *last = NULL;
    new_epoch();
}

/* m->lock is held. */
static cl_mem part_buffer(struct memory *m, cl_uint dev, size_t offset, cl_mem whole, const char *call)
{
    for (struct subbuffer *s = m->subbuffers; s; s = s->next)
        if (s->dev == dev && s->offset == offset)
            return s->buffer;
    drop_oldest_subbuffer(m);
    cl_int err = CL_SUCCESS;
    cl_buffer_region region = {offset, m->size - offset};
    struct subbuffer *s = malloc(sizeof *s);
    cl_mem buffer = s ? clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err) : NULL;
    if (!buffer) {
        free(s);
        fail(err ? errno_of(err) : ENOMEM, err, "%s: no buffer at offset %zu of the %zu bytes at %p",
             call, offset, m->size, (void *)m->base);
        return NULL;
    }
    *s = (struct subbuffer){m->subbuffers, dev, offset, buffer};
    m->subbuffers = s;
    return buffer;
}

cl_mem memory_buffer(struct memory *m, cl_uint dev, size_t offset, const char *call)
{
    pthread_mutex_lock(&m->lock);
    cl_mem buffer = whole_buffer(m, dev, call);
    if (buffer && offset)
        buffer = part_buffer(m, dev, offset, buffer, call);
    pthread_mutex_unlock(&m->lock);
    return buffer;
}

void memory_touched(struct memory *m, cl_uint dev)
{
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        atomic_store_explicit(&m->device_current[i], i == dev, memory_order_relaxed);
    atomic_store_explicit(&m->host_current, false, memory_order_relaxed);
    atomic_store_explicit(&m->last_device, (int)dev, memory_order_relaxed);
}

/* Registers the host region with the driver of a GPU, once. Failure is no error: copies are slower. The
 * mapping is for reading only, so that neither mapping nor unmapping changes the region. */
static void pin(struct memory *m, struct device *d)
{
    if (!(d->type & CL_DEVICE_TYPE_GPU) || m->size < PIN_FROM_BYTES)
        return;
    pthread_mutex_lock(&m->lock);
    if (!m->pin) {
        cl_int err;
        m->pin = clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, m->size, m->base, &err);
        m->pin_queue = d->queue;
        clRetainCommandQueue(d->queue); /* the observer may replace it */
        if (m->pin && clEnqueueMapBuffer(d->queue, m->pin, CL_TRUE, CL_MAP_READ, 0, m->size, 0, NULL,
                                         NULL, &err) == NULL) {
            clReleaseMemObject(m->pin);
            m->pin = NULL;
        }
        if (!m->pin)
            clReleaseCommandQueue(m->pin_queue);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- Allocation. ---- */

static size_t page_round(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = (size + page - 1) / page * page;
    return rounded ? rounded : page;
}

static void memory_destroy(struct memory *m)
{
    new_epoch();
    detach(m);
    munmap(m->base, m->mapped);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

/* The host region, or for CL_MEM_DEVONLY a range of addresses without memory behind it. */
static void *map_region(size_t mapped, int flags)
{
    bool reserve = flags & CL_MEM_DEVONLY;
    void *base = mmap(NULL, mapped, reserve ? PROT_NONE : PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (reserve ? MAP_NORESERVE : 0), -1, 0);
    return base == MAP_FAILED ? NULL : base;
}

static struct memory *memory_create(size_t size, int flags, const char *call)
{
    size_t mapped = page_round(size);
    struct memory *m = mapped >= size ? calloc(1, sizeof *m) : NULL;
    void *base = m ? map_region(mapped, flags) : NULL;
    if (!base) {
        free(m);
        fail(ENOMEM, 0, "%s: no %zu bytes of memory on the host", call, size);
        return NULL;
    }
    m->base = base;
    m->size = size;
    m->mapped = mapped;
    m->flags = flags;
    m->format = (cl_image_format){CL_RGBA, CL_FLOAT};
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

static void *allocate(CLCONTEXT *cp, size_t size, int flags, const char *call)
{
    const int known = CL_MEM_RW | CL_MEM_NOCOPY | CL_MEM_DETACHED | CL_MEM_ZEROCOPY | CL_MEM_DEVONLY |
                      CL_MEM_IMAGE2D | CL_MEM_NOFORCE | CL_MEM_HOST | CL_MEM_DEVICE;
    const int lasting = CL_MEM_ZEROCOPY | CL_MEM_DEVONLY | CL_MEM_IMAGE2D;
    int special = flags & lasting;
    if (flags & ~known)
        return (void)fail(EINVAL, 0, "%s: unknown flags 0x%x", call, (unsigned)(flags & ~known)), NULL;
    if (special & (special - 1))
        return (void)fail(EINVAL, 0, "%s: of CL_MEM_ZEROCOPY, CL_MEM_DEVONLY and CL_MEM_IMAGE2D only one "
                          "may be given", call), NULL;
    if (!cp && !(flags & CL_MEM_DETACHED))
        return (void)fail(EINVAL, 0, "%s: the context is NULL (no such device on this machine?)", call), NULL;
    struct memory *m = memory_create(size, special, call);
    if (!m)
        return NULL;
    if (!(flags & CL_MEM_DETACHED) && attach(cp, m, call) != 0) {
        memory_destroy(m);
        return NULL;
    }
    if (!table_insert(m)) {
        memory_destroy(m);
        return (void)fail(ENOMEM, 0, "%s: no memory on the host", call), NULL;
    }
    return m->base;
}

STDCL_API void *clmalloc(CLCONTEXT *cp, size_t size, int flags)
{
    return allocate(cp, size, flags, "clmalloc");
}

STDCL_API int clfree(void *ptr)
{
    if (!ptr)
        return 0;
    struct memory *m = table_remove(ptr);
    if (!m)
        return fail(EFAULT, 0, "clfree: %p is not the start of memory from clmalloc, or was freed", ptr);
    memory_destroy(m);
    return 0;
}

STDCL_API void *clmrealloc(CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (!ptr)
        return allocate(cp, size, flags, "clmrealloc");
    struct memory *old = find_or_fail(ptr, "clmrealloc");
    if (!old)
        return NULL;
    if (ptr != old->base)
        return (void)fail(EFAULT, 0, "clmrealloc: %p is not the start of its block, %p is", ptr,
                          (void *)old->base), NULL;
    void *base = allocate(old->cp, size, old->flags | (old->cp ? 0 : CL_MEM_DETACHED), "clmrealloc");
    if (!base)
        return NULL;
    struct memory *m = memory_find(base);
    m->user_flags = old->user_flags;
    for (cl_uint i = 0; old->cp && i < old->cp->ndev; i++)
        if (old->buffer[i])
            device_drain(&old->cp->dev[i]);
    if (!(old->flags & CL_MEM_DEVONLY))
        memcpy(base, old->base, size < old->size ? size : old->size);
    clfree(ptr);
    return base;
}

STDCL_API int clmattach(CLCONTEXT *cp, void *ptr)
{
    struct memory *m = find_or_fail(ptr, "clmattach");
    if (!m)
        return -1;
    if (!cp)
        return fail(EINVAL, 0, "clmattach: the context is NULL");
    pthread_mutex_lock(&m->lock);
    int status = m->cp ? fail(EINVAL, 0, "clmattach: the block at %p is already attached", ptr)
                       : attach(cp, m, "clmattach");
    pthread_mutex_unlock(&m->lock);
    return status;
}

STDCL_API int clmdetach(void *ptr)
{
    struct memory *m = find_or_fail(ptr, "clmdetach");
    if (!m)
        return -1;
    if (!m->cp)
        return fail(EINVAL, 0, "clmdetach: the block at %p is not attached", ptr);
    new_epoch();
    detach(m);
    return 0;
}

void memory_free_attached(CLCONTEXT *cp)
{
    struct memory *m;
    do {
        m = NULL;
        pthread_rwlock_rdlock(&table.lock);
        for (size_t i = 0; i < table.count && !m; i++)
            if (table.entry[i]->cp == cp)
                m = table.entry[i];
        pthread_rwlock_unlock(&table.lock);
        if (m)
            clfree(m->base);
    } while (m);
}

STDCL_API size_t clsizeofmem(void *ptr)
{
    struct memory *m = find_or_fail(ptr, "clsizeofmem");
    return m ? m->size : 0;
}

STDCL_API void *clmemptr(CLCONTEXT *cp, void *ptr)
{
    struct memory *m = find_or_fail(ptr, "clmemptr");
    if (m && cp && m->cp != cp)
        return (void)fail(EFAULT, 0, "clmemptr: %p belongs to another context", ptr), NULL;
    return m ? m->base : NULL;
}

STDCL_API cl_mem clgetbuffer(CLCONTEXT *cp, cl_uint dev, void *ptr)
{
    struct memory *m = find_or_fail(ptr, "clgetbuffer");
    if (!m || !device_of(cp, dev, "clgetbuffer"))
        return NULL;
    if (m->cp != cp)
        return (void)fail(EINVAL, 0, "clgetbuffer: %p is not attached to this context", ptr), NULL;
    return memory_buffer(m, dev, 0, "clgetbuffer");
}

/* ---- Copying between host and device. ---- */

/* What a transfer needs, after its arguments have been checked. */
struct transfer {
    struct memory *m;
    struct device *d;
    cl_uint dev;
    cl_mem buffer;
    size_t offset, size;
    bool to_device;
};

static int transfer_check(struct transfer *t, CLCONTEXT *cp, void *ptr, int flags, const char *call)
{
    int sides = flags & (CL_MEM_HOST | CL_MEM_DEVICE);
    t->m = find_or_fail(ptr, call);
    if (!t->m)
        return -1;
    if (sides != CL_MEM_HOST && sides != CL_MEM_DEVICE)
        return fail(EINVAL, 0, "%s: exactly one of CL_MEM_HOST and CL_MEM_DEVICE must be given", call);
    if (t->m->cp != cp)
        return fail(EINVAL, 0, "%s: the block at %p is %s", call, (void *)t->m->base,
                    t->m->cp ? "attached to another context" : "detached; give it to a context with clmattach");
    if (t->m->flags & CL_MEM_DEVONLY)
        return fail(EINVAL, 0, "%s: the block at %p has no host region (CL_MEM_DEVONLY)", call,
                    (void *)t->m->base);
    t->to_device = sides == CL_MEM_DEVICE;
    t->buffer = memory_buffer(t->m, t->dev, 0, call);
    return t->buffer ? 0 : -1;
}

static cl_int enqueue_image(cl_command_queue queue, const struct transfer *t, cl_event *ev)
{
    const size_t origin[3] = {0, 0, 0}, region[3] = {t->m->width, t->m->height, 1};
    if (t->to_device)
        return clEnqueueWriteImage(queue, t->buffer, CL_FALSE, origin, region, 0, 0, t->m->base, 0,
                                   NULL, ev);
    return clEnqueueReadImage(queue, t->buffer, CL_FALSE, origin, region, 0, 0, t->m->base, 0, NULL,
                              ev);
}

/* Commands of zero length, and copies of a thing to itself, become markers: ordered like the rest. */
static cl_int enqueue_transfer(cl_command_queue queue, const struct transfer *t, bool skip, cl_event *ev)
{
    char *host = t->m->base + t->offset;
    if (skip)
        return clEnqueueMarkerWithWaitList(queue, 0, NULL, ev);
    if (t->m->flags & CL_MEM_IMAGE2D)
        return enqueue_image(queue, t, ev);
    if (t->to_device)
        return clEnqueueWriteBuffer(queue, t->buffer, CL_FALSE, t->offset, t->size, host, 0, NULL, ev);
    return clEnqueueReadBuffer(queue, t->buffer, CL_FALSE, t->offset, t->size, host, 0, NULL, ev);
}

static cl_event transfer_run(struct transfer *t, int flags, const char *call)
{
    _Atomic bool *current = t->to_device ? &t->m->device_current[t->dev] : &t->m->host_current;
    bool whole = t->offset == 0 && t->size == t->m->size;
    bool skip = t->size == 0 || host_is_buffer(t->m, t->d) || ((flags & CL_MEM_NOFORCE) && atomic_load(current));
    const struct command c = {.cp = t->m->cp,
                              .dev = t->dev,
                              .kind = t->to_device ? HOST_TO_DEVICE : DEVICE_TO_HOST,
                              .size = skip ? 0 : (double)t->size};
    struct note note = {0};
    cl_event ev = NULL;
    if (!skip && !(t->m->flags & CL_MEM_IMAGE2D))
        pin(t->m, t->d);
    cl_int err = enqueue_transfer(command_queue(&c, &note), t, skip, &ev);
    if (err != CL_SUCCESS) {
        fail(errno_of(err), err, "%s: %zu bytes %s %s", call, t->size, t->to_device ? "to" : "from",
             t->d->name);
        return CL_FAILED;
    }
    command_started(&c, &note, ev);
    if (whole)
        atomic_store(current, true);
    atomic_store_explicit(&t->m->last_device, (int)t->dev, memory_order_relaxed);
    return event_finish(t->d, MEMORY_EVENT, ev, note, flags, call);
}

static cl_event sync_whole(struct transfer *t, CLCONTEXT *cp, void *ptr, int flags)
{
    if (transfer_check(t, cp, ptr, flags, "clmsync") != 0)
        return CL_FAILED;
    t->size = t->m->size;
    return transfer_run(t, flags, "clmsync");
}

STDCL_API cl_event clmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags)
{
    struct transfer t = {.dev = dev, .d = device_of(cp, dev, "clmsync")};
    return t.d ? event_or_refusal(t.d, MEMORY_EVENT, sync_whole(&t, cp, ptr, flags), flags) : CL_FAILED;
}

static cl_event sync_part(struct transfer *t, CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (transfer_check(t, cp, ptr, flags, "clmsyncn") != 0)
        return CL_FAILED;
    t->offset = (size_t)((char *)ptr - t->m->base);
    t->size = size;
    if (size > t->m->size - t->offset) {
        fail(EINVAL, 0, "clmsyncn: %zu bytes from offset %zu leave the block's %zu bytes", size, t->offset,
             t->m->size);
        return CL_FAILED;
    }
    if ((t->m->flags & CL_MEM_IMAGE2D) && size != t->m->size) {
        fail(EINVAL, 0, "clmsyncn: an image is copied as a whole; use clmsync");
        return CL_FAILED;
    }
    return transfer_run(t, flags, "clmsyncn");
}

STDCL_API cl_event clmsyncn(CLCONTEXT *cp, cl_uint dev, void *ptr, size_t size, int flags)
{
    struct transfer t = {.dev = dev, .d = device_of(cp, dev, "clmsyncn")};
    return t.d ? event_or_refusal(t.d, MEMORY_EVENT, sync_part(&t, cp, ptr, size, flags), flags) : CL_FAILED;
}

static cl_int enqueue_copy(cl_command_queue queue, const struct memory *src, cl_mem from,
                           const struct memory *dst, cl_mem to, cl_event *ev)
{
    const size_t origin[3] = {0, 0, 0}, src_region[3] = {src->width, src->height, 1};
    const size_t dst_region[3] = {dst->width, dst->height, 1};
    bool src_image = src->flags & CL_MEM_IMAGE2D, dst_image = dst->flags & CL_MEM_IMAGE2D;
    if (src->size == 0)
        return clEnqueueMarkerWithWaitList(queue, 0, NULL, ev);
    if (src_image && dst_image)
        return clEnqueueCopyImage(queue, from, to, origin, origin, src_region, 0, NULL, ev);
    if (src_image)
        return clEnqueueCopyImageToBuffer(queue, from, to, origin, src_region, 0, 0, NULL, ev);
    if (dst_image)
        return clEnqueueCopyBufferToImage(queue, from, to, 0, origin, dst_region, 0, NULL, ev);
    return clEnqueueCopyBuffer(queue, from, to, 0, 0, src->size, 0, NULL, ev);
}

static cl_event copy_on(struct device *d, CLCONTEXT *cp, cl_uint dev, const void *src, const void *dst, int flags)
{
    struct memory *s = find_or_fail(src, "clmcopy");
    struct memory *t = s ? find_or_fail(dst, "clmcopy") : NULL;
    if (!t)
        return CL_FAILED;
    if (s->cp != cp || t->cp != cp)
        return (void)fail(EINVAL, 0, "clmcopy: source and destination must be attached to the context"),
               CL_FAILED;
    if (s == t)
        return (void)fail(EINVAL, 0, "clmcopy: source and destination are the same block"), CL_FAILED;
    if (t->size < s->size)
        return (void)fail(EINVAL, 0, "clmcopy: the source has %zu bytes, the destination only %zu", s->size,
                          t->size), CL_FAILED;
    cl_mem from = memory_buffer(s, dev, 0, "clmcopy");
    cl_mem to = from ? memory_buffer(t, dev, 0, "clmcopy") : NULL;
    if (!to)
        return CL_FAILED;
    const struct command c = {.cp = cp, .dev = dev, .kind = COPY_ON_DEVICE, .size = (double)s->size};
    struct note note = {0};
    cl_event ev = NULL;
    cl_int err = enqueue_copy(command_queue(&c, &note), s, from, t, to, &ev);
    if (err != CL_SUCCESS)
        return (void)fail(errno_of(err), err, "clmcopy: %zu bytes on %s", s->size, d->name), CL_FAILED;
    command_started(&c, &note, ev);
    memory_touched(t, dev);
    return event_finish(d, MEMORY_EVENT, ev, note, flags, "clmcopy");
}

STDCL_API cl_event clmcopy(CLCONTEXT *cp, cl_uint dev, void *src, void *dst, int flags)
{
    struct device *d = device_of(cp, dev, "clmcopy");
    return d ? event_or_refusal(d, MEMORY_EVENT, copy_on(d, cp, dev, src, dst, flags), flags) : CL_FAILED;
}

/* ---- clmctl. ---- */

static bool any_buffer(const struct memory *m)
{
    for (cl_uint i = 0; m->cp && i < m->cp->ndev; i++)
        if (m->buffer[i])
            return true;
    return false;
}

static size_t pixel_bytes(const cl_image_format *f)
{
    size_t channels, bytes;
    switch (f->image_channel_order) {
    case CL_R: case CL_A: case CL_INTENSITY: case CL_LUMINANCE: case CL_DEPTH: channels = 1; break;
    case CL_RG: case CL_RA: channels = 2; break;
    case CL_RGB: channels = 3; break;
    default: channels = 4; break;
    }
    switch (f->image_channel_data_type) {
    case CL_SNORM_INT8: case CL_UNORM_INT8: case CL_SIGNED_INT8: case CL_UNSIGNED_INT8: bytes = 1; break;
    case CL_SNORM_INT16: case CL_UNORM_INT16: case CL_SIGNED_INT16: case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT: bytes = 2; break;
    case CL_UNORM_SHORT_565: case CL_UNORM_SHORT_555: return 2;
    case CL_UNORM_INT_101010: return 4;
    default: bytes = 4; break;
    }
    return channels * bytes;
}

static int set_image(struct memory *m, int width, int height, const cl_image_format *format)
{
    cl_image_format f = format ? *format : (cl_image_format){CL_RGBA, CL_FLOAT};
    if (width <= 0 || height <= 0)
        return fail(EINVAL, 0, "clmctl: an image of %d x %d pixels", width, height);
    if (any_buffer(m))
        return fail(EBUSY, 0, "clmctl: a device already holds the block at %p", (void *)m->base);
    if (m->flags & (CL_MEM_ZEROCOPY | CL_MEM_DEVONLY))
        return fail(EINVAL, 0, "clmctl: a zero-copy or device-only block cannot become an image");
    size_t need = (size_t)width * (size_t)height * pixel_bytes(&f);
    if (need > m->size)
        return fail(EINVAL, 0, "clmctl: %d x %d pixels need %zu bytes, the block has %zu", width, height,
                    need, m->size);
    m->flags |= CL_MEM_IMAGE2D;
    m->width = (size_t)width;
    m->height = (size_t)height;
    m->format = f;
    new_epoch();
    return 0;
}

static int set_user_flags(struct memory *m, cl_mem_flags set, cl_mem_flags clear)
{
    const cl_mem_flags refused = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    if (any_buffer(m))
        return fail(EBUSY, 0, "clmctl: a device already holds the block at %p", (void *)m->base);
    if (set & refused)
        return fail(EINVAL, 0, "clmctl: the library places host memory itself (see CL_MEM_ZEROCOPY)");
    m->user_flags = (m->user_flags | set) & ~clear;
    return 0;
}

static int mark_clean(struct memory *m)
{
    atomic_store(&m->host_current, true);
    for (cl_uint i = 0; m->cp && i < m->cp->ndev; i++)
        if (m->buffer[i])
            atomic_store(&m->device_current[i], true);
    return 0;
}

STDCL_API int clmctl_va(void *ptr, int op, va_list ap)
{
    struct memory *m = find_or_fail(ptr, "clmctl");
    if (!m)
        return -1;
    switch (op) {
    case CL_MCTL_GET_STATUS:
        return m->flags | (m->cp ? 0 : CL_MEM_DETACHED);
    case CL_MCTL_GET_DEVNUM:
        return atomic_load(&m->last_device);
    case CL_MCTL_SET_DEVNUM: {
        int dev = va_arg(ap, int);
        if (dev < 0 || (m->cp && (cl_uint)dev >= m->cp->ndev))
            return fail(EINVAL, 0, "clmctl: the context has no device %d", dev);
        atomic_store(&m->last_device, dev);
        return 0;
    }
    case CL_MCTL_MARK_CLEAN:
        return mark_clean(m);
    case CL_MCTL_SET_IMAGE2D: {
        int width = va_arg(ap, int);
        int height = va_arg(ap, int);
        return set_image(m, width, height, va_arg(ap, const cl_image_format *));
    }
    case CL_MCTL_SET_USRFLAGS:
        return set_user_flags(m, (cl_mem_flags)va_arg(ap, unsigned), 0);
    case CL_MCTL_CLR_USRFLAGS:
        return set_user_flags(m, 0, (cl_mem_flags)va_arg(ap, unsigned));
    default:
        return fail(EINVAL, 0, "clmctl: unknown operation %d", op);
    }
}

STDCL_API int clmctl(void *ptr, int op, ...)
{
    va_list ap;
    va_start(ap, op);
    int status = clmctl_va(ptr, op, ap);
    va_end(ap);
    return status;
}

/* ---- OpenGL sharing. ---- */

STDCL_API void *clglmalloc(CLCONTEXT *cp, cl_uint glbuf, cl_uint target, cl_int level, int flags)
{
    (void)cp, (void)glbuf, (void)target, (void)level, (void)flags;
    return (void)fail(ENOTSUP, 0, "clglmalloc: sharing with OpenGL is not supported"), NULL;
}

STDCL_API cl_event clglmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags)
{
    (void)cp, (void)dev, (void)ptr, (void)flags;
    return (void)fail(ENOTSUP, 0, "clglmsync: sharing with OpenGL is not supported"), CL_FAILED;
}
