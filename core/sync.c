/* sync.c - clmsync, clmsyncn and clmcopy: copies between the images of a block.
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

/* A transfer whose arguments were checked. */
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
    t->m = memory_or_fail(ptr, call);
    if (!t->m)
        return -1;
    if (sides != CL_MEM_HOST && sides != CL_MEM_DEVICE)
        return fail(EINVAL, 0, "%s: exactly one of CL_MEM_HOST and CL_MEM_DEVICE must be given",
                    call);
    if (t->m->cp != cp)
        return fail(EINVAL, 0, "%s: the block at %p is %s", call, (void *)t->m->base,
                    t->m->cp ? "attached to another context"
                             : "detached; give it to a context with clmattach");
    if (t->m->flags & CL_MEM_DEVONLY)
        return fail(EINVAL, 0, "%s: the block at %p has no host region (CL_MEM_DEVONLY)", call,
                    (void *)t->m->base);
    t->to_device = sides == CL_MEM_DEVICE;
    t->buffer = memory_buffer(t->m, t->dev, 0, call);
    return t->buffer ? 0 : -1;
}

/* Zero-length commands, and copies of an image to itself, become markers: they are ordered like
 * the others. */
static cl_int enqueue_transfer(cl_command_queue queue, const struct transfer *t, bool skip,
                               cl_event *ev)
{
    if (skip)
        return clEnqueueMarkerWithWaitList(queue, 0, NULL, ev);
    return memory_enqueue(queue, t->m, t->buffer, t->offset, t->size, t->m->base + t->offset,
                          t->to_device, ev);
}

/* Update the coherence of the images before and after a transfer. */
static int before_transfer(const struct transfer *t, bool whole, const char *call)
{
    if (t->to_device)
        return memory_mark_dirty(t->m, t->dev, whole, call);
    return memory_is_current(t->m, t->dev) ? 0 : memory_migrate(t->m, t->dev, call);
}

static void after_transfer(const struct transfer *t, bool whole)
{
    if (t->to_device && (whole || memory_is_current(t->m, t->dev)))
        memory_marked_dirty(t->m, t->dev);
    else if (!t->to_device && whole)
        atomic_store(&t->m->host_current, true);
    atomic_store_explicit(&t->m->last_device, t->to_device ? (int)t->dev : -1,
                          memory_order_relaxed);
}

static cl_event transfer_run(struct transfer *t, int flags, const char *call)
{
    _Atomic bool *current = t->to_device ? &t->m->device_current[t->dev] : &t->m->host_current;
    bool whole = t->offset == 0 && t->size == t->m->size;
    bool skip = t->size == 0 || memory_is_zero_copy(t->m, t->d) ||
                ((flags & CL_MEM_NOFORCE) && atomic_load(current));
    const struct command c = {.cp = t->m->cp,
                              .dev = t->dev,
                              .kind = t->to_device ? HOST_TO_DEVICE : DEVICE_TO_HOST,
                              .size = skip ? 0 : (double)t->size};
    struct command_record note = {0};
    cl_event ev = NULL;
    if (!skip && before_transfer(t, whole, call) != 0)
        return CL_FAILED;
    if (!skip && !(t->m->flags & CL_MEM_IMAGE))
        memory_pin(t->m, t->d);
    cl_int err = enqueue_transfer(queue_for(&c, &note, flags), t, skip, &ev);
    if (err != CL_SUCCESS) {
        fail(errno_of(err), err, "%s: %zu bytes %s %s", call, t->size, t->to_device ? "to" : "from",
             t->d->name);
        return CL_FAILED;
    }
    command_started(&c, &note, ev);
    after_transfer(t, whole);
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
    return event_or_defer_error(cp, t.d, MEMORY_EVENT,
                                t.d ? sync_whole(&t, cp, ptr, flags) : CL_FAILED, flags);
}

static cl_event sync_part(struct transfer *t, CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (transfer_check(t, cp, ptr, flags, "clmsyncn") != 0)
        return CL_FAILED;
    t->offset = (size_t)((char *)ptr - t->m->base);
    t->size = size;
    if (size > t->m->size - t->offset) {
        fail(EINVAL, 0, "clmsyncn: %zu bytes from offset %zu leave the block's %zu bytes", size,
             t->offset, t->m->size);
        return CL_FAILED;
    }
    if ((t->m->flags & CL_MEM_IMAGE) && size != t->m->size) {
        fail(EINVAL, 0, "clmsyncn: an image is copied as a whole; use clmsync");
        return CL_FAILED;
    }
    return transfer_run(t, flags, "clmsyncn");
}

STDCL_API cl_event clmsyncn(CLCONTEXT *cp, cl_uint dev, void *ptr, size_t size, int flags)
{
    struct transfer t = {.dev = dev, .d = device_of(cp, dev, "clmsyncn")};
    return event_or_defer_error(cp, t.d, MEMORY_EVENT,
                                t.d ? sync_part(&t, cp, ptr, size, flags) : CL_FAILED, flags);
}

static cl_int enqueue_copy(cl_command_queue queue, const struct memory *src, cl_mem from,
                           const struct memory *dst, cl_mem to, cl_event *ev)
{
    const size_t origin[3] = {0, 0, 0};
    size_t src_region[3], dst_region[3];
    const bool src_image = (src->flags & CL_MEM_IMAGE) && image_region(&src->shape, src_region),
               dst_image = (dst->flags & CL_MEM_IMAGE) && image_region(&dst->shape, dst_region);
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

static cl_event copy_on(struct device *d, CLCONTEXT *cp, cl_uint dev, const void *src,
                        const void *dst, int flags)
{
    struct memory *s = memory_or_fail(src, "clmcopy");
    struct memory *t = s ? memory_or_fail(dst, "clmcopy") : NULL;
    if (!t)
        return CL_FAILED;
    if (s->cp != cp || t->cp != cp)
        return (void)fail(EINVAL, 0,
                          "clmcopy: source and destination must be attached to the context"),
               CL_FAILED;
    if (s == t)
        return (void)fail(EINVAL, 0, "clmcopy: source and destination are the same block"),
               CL_FAILED;
    if (t->size < s->size)
        return (void)fail(EINVAL, 0, "clmcopy: the source has %zu bytes, the destination only %zu",
                          s->size, t->size),
               CL_FAILED;
    cl_mem from = memory_buffer(s, dev, 0, "clmcopy");
    cl_mem to = from ? memory_buffer(t, dev, 0, "clmcopy") : NULL;
    if (!to || (!memory_is_current(s, dev) && memory_migrate(s, dev, "clmcopy") != 0) ||
        (t->size > s->size && !memory_is_current(t, dev) && memory_migrate(t, dev, "clmcopy") != 0))
        return CL_FAILED;
    const struct command c = {
        .cp = cp, .dev = dev, .kind = COPY_ON_DEVICE, .size = (double)s->size};
    struct command_record note = {0};
    cl_event ev = NULL;
    cl_int err = enqueue_copy(queue_for(&c, &note, flags), s, from, t, to, &ev);
    if (err != CL_SUCCESS)
        return (void)fail(errno_of(err), err, "clmcopy: %zu bytes on %s", s->size, d->name),
               CL_FAILED;
    command_started(&c, &note, ev);
    memory_mark_kernel_use(t, dev);
    return event_finish(d, MEMORY_EVENT, ev, note, flags, "clmcopy");
}

STDCL_API cl_event clmcopy(CLCONTEXT *cp, cl_uint dev, void *src, void *dst, int flags)
{
    struct device *d = device_of(cp, dev, "clmcopy");
    return event_or_defer_error(cp, d, MEMORY_EVENT,
                                d ? copy_on(d, cp, dev, src, dst, flags) : CL_FAILED, flags);
}
