/* sync.c - clmsync, clmsyncn and clmcopy: copies between the images of a block.
 * SPDX-License-Identifier: MIT
 */
#include "core/recording.h"

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
    if (memory_is_svm(t->m, t->dev))
        return 0;
    t->buffer = memory_buffer(t->m, t->dev, 0, call);
    return t->buffer ? 0 : -1;
}

/* Zero-length commands, and copies of an image to itself, become markers: they are ordered like
 * the others. */
static cl_int enqueue_transfer(cl_command_queue queue, const struct transfer *t, bool skip,
                               cl_event *ev)
{
    if (memory_is_svm(t->m, t->dev))
        return svm_enqueue(t->m, queue, t->to_device, ev);
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
    if (!skip &&
        ((t->m->svm.context && svm_map(t->m, call) != 0) || before_transfer(t, whole, call) != 0))
        return CL_FAILED;
    if (!skip && !(t->m->flags & CL_MEM_IMAGE) && !t->m->svm.context)
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

/* Check the arguments of a sync of `size` bytes, or with part false of the whole block. 0, or -1
 * after fail(). */
static int sync_check(struct transfer *t, CLCONTEXT *cp, void *ptr, bool part, size_t size,
                      int flags, const char *call)
{
    if (transfer_check(t, cp, ptr, flags, call) != 0)
        return -1;
    t->offset = part ? (size_t)((char *)ptr - t->m->base) : 0;
    t->size = part ? size : t->m->size;
    if (t->size > t->m->size - t->offset)
        return fail(EINVAL, 0, "%s: %zu bytes from offset %zu leave the block's %zu bytes", call,
                    size, t->offset, t->m->size);
    if ((t->m->flags & CL_MEM_IMAGE) && t->size != t->m->size)
        return fail(EINVAL, 0, "%s: an image is copied as a whole; use clmsync", call);
    return 0;
}

/* Record a sync. 0, or -1 after fail(). */
static int sync_record(struct recording *r, void *ptr, bool part, size_t size, int flags,
                       const char *call)
{
    struct transfer t = {.dev = r->dev, .d = &r->cp->dev[r->dev]};
    if (recording_check_flags(r, flags, call) != 0 ||
        sync_check(&t, r->cp, ptr, part, size, flags, call) != 0)
        return -1;
    const struct recorded c = {.kind = RECORDED_SYNC,
                               .flags = flags & (CL_MEM_HOST | CL_MEM_DEVICE | CL_MEM_NOFORCE),
                               .block = {{ptr, t.m->attachment}},
                               .part = part,
                               .size = size};
    return recording_add(r, &c, call);
}

static cl_event sync_on_device(CLCONTEXT *cp, cl_uint dev, void *ptr, bool part, size_t size,
                               int flags, const char *call)
{
    struct transfer t = {.dev = dev, .d = &cp->dev[dev]};
    return sync_check(&t, cp, ptr, part, size, flags, call) == 0 ? transfer_run(&t, flags, call)
                                                                 : CL_FAILED;
}

static cl_event sync_or_record(CLCONTEXT *cp, cl_uint dev, void *ptr, bool part, size_t size,
                               int flags, const char *call)
{
    struct device *d = device_of(cp, dev, call);
    struct recording *r = d ? recording_of(d) : NULL;
    const int own = CL_MEM_HOST | CL_MEM_DEVICE | CL_MEM_NOFORCE;
    const bool known = d && command_flags_check(flags, COMMAND_FLAGS | own, call) == 0;
    if (r)
        return recording_result(r, known ? sync_record(r, ptr, part, size, flags, call) : -1);
    const cl_event ev = known ? sync_on_device(cp, dev, ptr, part, size, flags, call) : CL_FAILED;
    return event_or_defer_error(cp, d, MEMORY_EVENT, ev, flags);
}

STDCL_API cl_event clmsync(CLCONTEXT *cp, cl_uint dev, void *ptr, int flags)
{
    return sync_or_record(cp, dev, ptr, false, 0, flags, "clmsync");
}

STDCL_API cl_event clmsyncn(CLCONTEXT *cp, cl_uint dev, void *ptr, size_t size, int flags)
{
    return sync_or_record(cp, dev, ptr, true, size, flags, "clmsyncn");
}

cl_event sync_recorded(const struct recording *r, const struct recorded *c, int flags,
                       const char *call)
{
    flags = (flags & ~CL_EVENT_UNTRACKED) | c->flags;
    return sync_on_device(r->cp, r->dev, c->block[0].ptr, c->part, c->size, flags, call);
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

/* A copy whose arguments were checked. */
struct block_copy {
    struct memory *src, *dst;
    cl_mem from, to;
};

static int copy_check(struct block_copy *c, CLCONTEXT *cp, cl_uint dev, const void *src,
                      const void *dst, const char *call)
{
    struct memory *s = memory_or_fail(src, call);
    struct memory *t = s ? memory_or_fail(dst, call) : NULL;
    if (!t)
        return -1;
    if (s->cp != cp || t->cp != cp)
        return fail(EINVAL, 0, "%s: source and destination must be attached to the context", call);
    if (s == t)
        return fail(EINVAL, 0, "%s: source and destination are the same block", call);
    if (t->size < s->size)
        return fail(EINVAL, 0, "%s: the source has %zu bytes, the destination only %zu", call,
                    s->size, t->size);
    c->src = s;
    c->dst = t;
    c->from = memory_buffer(s, dev, 0, call);
    c->to = c->from ? memory_buffer(t, dev, 0, call) : NULL;
    return c->to ? 0 : -1;
}

static cl_event copy_on_device(CLCONTEXT *cp, cl_uint dev, const void *src, const void *dst,
                               int flags, const char *call)
{
    struct device *d = &cp->dev[dev];
    struct block_copy b;
    if (copy_check(&b, cp, dev, src, dst, call) != 0)
        return CL_FAILED;
    struct memory *s = b.src, *t = b.dst;
    if ((!memory_is_current(s, dev) && memory_migrate(s, dev, call) != 0) ||
        (t->size > s->size && !memory_is_current(t, dev) && memory_migrate(t, dev, call) != 0) ||
        ((s->svm.context || t->svm.context) &&
         svm_unmap_all(cp, dev, flags & CL_EVENT_SIDE_QUEUE, call) != 0))
        return CL_FAILED;
    const struct command c = {
        .cp = cp, .dev = dev, .kind = COPY_ON_DEVICE, .size = (double)s->size};
    struct command_record note = {0};
    cl_event ev = NULL;
    cl_int err = enqueue_copy(queue_for(&c, &note, flags), s, b.from, t, b.to, &ev);
    if (err != CL_SUCCESS)
        return (void)fail(errno_of(err), err, "%s: %zu bytes on %s", call, s->size, d->name),
               CL_FAILED;
    command_started(&c, &note, ev);
    memory_mark_kernel_use(t, dev, true);
    return event_finish(d, MEMORY_EVENT, ev, note, flags, call);
}

/* Record a copy. 0, or -1 after fail(). */
static int copy_record(struct recording *r, void *src, void *dst, int flags, const char *call)
{
    struct block_copy b;
    if (recording_check_flags(r, flags, call) != 0 ||
        copy_check(&b, r->cp, r->dev, src, dst, call) != 0)
        return -1;
    const struct recorded c = {
        .kind = RECORDED_COPY,
        .block = {{src, b.src->attachment}, {dst, b.dst->attachment}},
    };
    return recording_add(r, &c, call);
}

cl_event copy_recorded(const struct recording *r, const struct recorded *c, int flags,
                       const char *call)
{
    return copy_on_device(r->cp, r->dev, c->block[0].ptr, c->block[1].ptr,
                          flags & ~CL_EVENT_UNTRACKED, call);
}

STDCL_API cl_event clmcopy(CLCONTEXT *cp, cl_uint dev, void *src, void *dst, int flags)
{
    struct device *d = device_of(cp, dev, "clmcopy");
    struct recording *r = d ? recording_of(d) : NULL;
    const bool known = d && command_flags_check(flags, COMMAND_FLAGS, "clmcopy") == 0;
    if (r)
        return recording_result(r, known ? copy_record(r, src, dst, flags, "clmcopy") : -1);
    const cl_event ev = known ? copy_on_device(cp, dev, src, dst, flags, "clmcopy") : CL_FAILED;
    return event_or_defer_error(cp, d, MEMORY_EVENT, ev, flags);
}
