/* memory_buffers.c - device buffers of an allocation.
 *
 * An allocation has one buffer per device of its context, created at first use. If a GPU takes
 * part, the first transfer registers the host region with its driver: copies then run
 * asynchronously at the full rate of the link, to every device.
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"
#include "core/round.h"

#include <unistd.h>

/* Registering takes about 50 us; smaller blocks use the driver's own staging memory. */
enum { PIN_FROM_BYTES = 16384 };

/* Sub-buffers kept per block; more than a kernel has arguments. */
enum { MOST_SUBBUFFERS = 128 };

/* ---- Attachment: the per-device part. ---- */

static void forget_devices(struct memory *m)
{
    free(m->buffer);
    free((void *)m->device_current);
    free((void *)m->from_host);
    free((void *)m->program_wrote);
    free((void *)m->holds_data);
    free((void *)m->is_copy);
    sampler_detach(m);
    m->buffer = NULL;
    m->device_current = NULL;
    m->from_host = NULL;
    m->program_wrote = NULL;
    m->holds_data = NULL;
    m->is_copy = NULL;
}

static cl_mem device_buffer_create(const struct memory *m, const struct device *d, cl_int *err);

/* True if a device has room. Drivers may allocate more than the limit that they report: ask them.
 * A buffer that was created to find out is kept. Zero-copy blocks may serve a GPU as host memory
 * only. */
static bool fits_a_device(struct memory *m)
{
    bool fits = false;
    for (cl_uint i = 0; i < m->cp->ndev && !fits; i++) {
        const struct device *d = &m->cp->dev[i];
        const bool host_only =
            m->svm.context || ((m->flags & CL_MEM_ZEROCOPY) && !d->shares_memory);
        cl_int err;
        fits = m->size <= d->memory;
        if (fits && m->size > d->largest && !host_only && !(m->flags & CL_MEM_IMAGE))
            fits = (m->buffer[i] = device_buffer_create(m, d, &err)) != NULL;
    }
    return fits;
}

/* A kernel may read vectors at the start of a buffer: memory of the program must be aligned for
 * these. 0, or -1 after fail(). */
static int check_zero_copy(const struct memory *m, const char *call)
{
    for (cl_uint i = 0; i < m->cp->ndev; i++) {
        const struct device *d = &m->cp->dev[i];
        if (!m->svm.context && memory_is_zero_copy(m, d) && (uintptr_t)m->base % d->start_align)
            return fail(
                EINVAL, CL_MISALIGNED_SUB_BUFFER_OFFSET,
                "%s: the memory at %p is no buffer of %s (CL_MEM_ZEROCOPY): its address must "
                "be a multiple of %zu",
                call, (void *)m->base, d->name, d->start_align);
    }
    return 0;
}

int memory_attach(CLCONTEXT *cp, struct memory *m, bool filled, const char *call)
{
    static _Atomic uint64_t attachments;
    m->attachment = atomic_fetch_add(&attachments, 1) + 1;
    m->buffer = calloc(cp->ndev, sizeof *m->buffer);
    m->device_current = calloc(cp->ndev, sizeof *m->device_current);
    m->from_host = calloc(cp->ndev, sizeof *m->from_host);
    m->program_wrote = calloc(cp->ndev, sizeof *m->program_wrote);
    m->holds_data = calloc(cp->ndev, sizeof *m->holds_data);
    m->is_copy = calloc(cp->ndev, sizeof *m->is_copy);
    if (!m->buffer || !m->device_current || !m->from_host || !m->program_wrote || !m->holds_data ||
        !m->is_copy || sampler_attach(m, cp->ndev) != 0) {
        forget_devices(m);
        return fail(ENOMEM, 0, "%s: out of memory on the host", call);
    }
    for (cl_uint i = 0; i < cp->ndev; i++)
        m->from_host[i] = filled && !(m->flags & CL_MEM_DEVONLY);
    m->coherence = m->flags & (CL_MEM_PER_DEVICE | CL_MEM_ZEROCOPY | CL_MEM_DEVONLY | CL_MEM_SVM)
                       ? PER_DEVICE
                       : UNDECIDED;
    m->last_device = -1;
    m->last_writer = -1;
    m->host_current = true;
    m->cp = cp;
    int status = check_zero_copy(m, call);
    if (status == 0 && !m->adopted && !fits_a_device(m))
        status = fail(ENOMEM, 0, "%s: %zu bytes are more than any device of the context allocates",
                      call, m->size);
    if (status != 0) {
        forget_devices(m);
        m->cp = NULL;
    }
    return status;
}

static void release(cl_mem *buffer)
{
    if (*buffer)
        clReleaseMemObject(*buffer);
    *buffer = NULL;
}

void memory_detach(struct memory *m)
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
    release(&m->pin);
    release(&m->staging_pin);
    free(m->staging);
    m->staging = NULL;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        release(&m->buffer[i]);
    forget_devices(m);
    m->cp = NULL;
}

/* ---- Buffers on devices. ---- */

/* Creation flags of a device's buffer: read-write unless the user's flags say otherwise. */
static cl_mem_flags creation_flags(const struct memory *m)
{
    cl_mem_flags access = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
    return m->user_flags & access ? m->user_flags : m->user_flags | CL_MEM_READ_WRITE;
}

static cl_mem device_image_create(const struct memory *m, const struct device *d, cl_int *err)
{
    return clCreateImage(d->context, creation_flags(m), &m->format, &m->shape, NULL, err);
}

bool memory_is_zero_copy(const struct memory *m, const struct device *d)
{
    return ((m->flags & CL_MEM_ZEROCOPY) && d->shares_memory) ||
           (m->svm.context && m->svm.device == d);
}

static cl_mem device_buffer_create(const struct memory *m, const struct device *d, cl_int *err)
{
    size_t size = m->size ? m->size : 1;
    if (m->flags & CL_MEM_IMAGE)
        return device_image_create(m, d, err);
    if (memory_is_zero_copy(m, d))
        return clCreateBuffer(d->context, creation_flags(m) | CL_MEM_USE_HOST_PTR, size, m->base,
                              err);
    return clCreateBuffer(d->context, creation_flags(m), size, NULL, err);
}

/* Call with m->lock held. */
static cl_mem whole_buffer(struct memory *m, cl_uint dev, const char *call)
{
    struct device *d = &m->cp->dev[dev];
    cl_int err = CL_SUCCESS;
    if (m->buffer[dev])
        return m->buffer[dev];
    if ((m->flags & CL_MEM_IMAGE) && m->shape.image_width == 0) {
        fail(EINVAL, 0,
             "%s: the image at %p has no shape; give it one with clmctl(ptr, "
             "CL_MCTL_SET_IMAGE2D, width, height, format)",
             call, (void *)m->base);
        return NULL;
    }
    if (m->flags & CL_MEM_SAMPLER) {
        fail(EINVAL, 0, "%s: the block at %p is a sampler, which has no bytes", call,
             (void *)m->base);
        return NULL;
    }
    m->buffer[dev] = device_buffer_create(m, d, &err);
    if (!m->buffer[dev])
        fail(errno_of(err), err, "%s: no buffer of %zu bytes on %s", call, m->size, d->name);
    return m->buffer[dev];
}

int memory_adopt(struct memory *m, cl_uint dev, cl_mem buffer, const char *call)
{
    const struct device *d = &m->cp->dev[dev];
    cl_context context = NULL;
    cl_mem_object_type type = 0;
    cl_int err = clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (err == CL_SUCCESS)
        err = clGetMemObjectInfo(buffer, CL_MEM_TYPE, sizeof type, &type, NULL);
    if (err == CL_SUCCESS && context != d->context)
        return fail(EINVAL, CL_INVALID_CONTEXT,
                    "%s: the cl_mem belongs to another OpenCL context than that of %s; give its "
                    "context to clcontext_adopt",
                    call, d->name);
    if (err == CL_SUCCESS && type != CL_MEM_OBJECT_BUFFER)
        err = image_query(m, buffer);
    if (err == CL_SUCCESS)
        err = clRetainMemObject(buffer);
    if (err != CL_SUCCESS)
        return fail(errno_of(err), err, "%s: the cl_mem cannot be used on %s", call, d->name);
    m->buffer[dev] = buffer;
    return 0;
}

/* If there are too many sub-buffers, release the older half after they are idle: PoCL 7.1 crashes
 * if some are in flight. Kernels that use a released one look it up again. NVIDIA's driver (580)
 * crashes if a sub-buffer is released while a newer overlapping one exists: on GPUs all are
 * released, the newest first. */
static void subbuffers_reserve(struct memory *m)
{
    size_t count = 0, kept = MOST_SUBBUFFERS / 2;
    struct subbuffer **last = &m->subbuffers;
    for (struct subbuffer *s = m->subbuffers; s; s = s->next)
        count++;
    if (count < MOST_SUBBUFFERS)
        return;
    for (cl_uint i = 0; i < m->cp->ndev; i++)
        if (m->buffer[i]) {
            device_drain(&m->cp->dev[i]);
            kept = m->cp->dev[i].type & CL_DEVICE_TYPE_GPU ? 0 : kept;
        }
    for (size_t i = 0; i < kept; i++)
        last = &(*last)->next;
    while (*last) {
        struct subbuffer *old = *last;
        *last = old->next;
        clReleaseMemObject(old->buffer);
        free(old);
    }
    memory_new_epoch();
}

/* NVIDIA's driver allocates a buffer at its first use and breaks sub-buffers created before:
 * writes through them are lost, and releasing them crashes. So use the whole buffer once. Failure
 * is no error. */
static void use_whole(const struct device *d, cl_mem whole)
{
    if (d->type & CL_DEVICE_TYPE_GPU)
        clEnqueueMigrateMemObjects(d->queue, 1, &whole, 0, 0, NULL, NULL);
}

/* Call with m->lock held. */
static cl_mem part_buffer(struct memory *m, cl_uint dev, size_t offset, cl_mem whole,
                          const char *call)
{
    bool first = true;
    for (struct subbuffer *s = m->subbuffers; s; s = s->next) {
        if (s->dev == dev && s->offset == offset)
            return s->buffer;
        first &= s->dev != dev;
    }
    if (first)
        use_whole(&m->cp->dev[dev], whole);
    subbuffers_reserve(m);
    cl_int err = CL_SUCCESS;
    cl_buffer_region region = {offset, m->size - offset};
    struct subbuffer *s = malloc(sizeof *s);
    cl_mem buffer =
        s ? clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &err) : NULL;
    if (!buffer) {
        free(s);
        fail(err ? errno_of(err) : ENOMEM, err,
             "%s: no buffer at offset %zu of the %zu bytes at %p", call, offset, m->size,
             (void *)m->base);
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

bool memory_has_buffers(const struct memory *m)
{
    for (cl_uint i = 0; m->cp && i < m->cp->ndev; i++)
        if (m->buffer[i])
            return true;
    return false;
}

/* Register host memory with a GPU's driver, by a buffer in its place; NULL: not registered. The
 * buffer is neither used nor mapped: NVIDIA's driver (580) would then allocate device memory of its
 * size (bench/studies/nvidia-h200-pinned.json). */
static cl_mem pin_create(const struct device *d, void *host, size_t size)
{
    if (!(d->type & CL_DEVICE_TYPE_GPU) || size < PIN_FROM_BYTES)
        return NULL;
    return clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, size, host, NULL);
}

void memory_pin(struct memory *m, const struct device *d)
{
    pthread_mutex_lock(&m->lock);
    if (!m->pin)
        m->pin = pin_create(d, m->base, m->size);
    pthread_mutex_unlock(&m->lock);
}

char *memory_staging(struct memory *m, const struct device *d)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (!m->staging)
        m->staging = aligned_alloc(page, round_up(m->size, page)); /* shares no page */
    if (m->staging && !m->staging_pin)
        m->staging_pin = pin_create(d, m->staging, m->size);
    return m->staging;
}

cl_int memory_enqueue(cl_command_queue queue, const struct memory *m, cl_mem buffer, size_t offset,
                      size_t size, char *host, bool to_device, cl_event *ev)
{
    const size_t origin[3] = {0, 0, 0};
    size_t region[3];
    if ((m->flags & CL_MEM_IMAGE) && image_region(&m->shape, region))
        return to_device ? clEnqueueWriteImage(queue, buffer, CL_FALSE, origin, region, 0, 0, host,
                                               0, NULL, ev)
                         : clEnqueueReadImage(queue, buffer, CL_FALSE, origin, region, 0, 0, host,
                                              0, NULL, ev);
    return to_device
               ? clEnqueueWriteBuffer(queue, buffer, CL_FALSE, offset, size, host, 0, NULL, ev)
               : clEnqueueReadBuffer(queue, buffer, CL_FALSE, offset, size, host, 0, NULL, ev);
}
