/* arrays.c - create and free the object for arrays of one type; the partition among devices.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/device_info.h"
#include "core/handle.h"
#include "core/reserved.h"

/* ---- Create and free. ------------------------------------------------------------------------ */

/* Check the devices of the options, and set *ndev to their number. */
static int choose_devices(const struct arrays_options *o, CLCONTEXT *ctx, cl_uint *ndev)
{
    const cl_uint all = clgetndev(ctx);
    if (o->first_device >= all || o->devices > all - o->first_device)
        return clerror_set(EINVAL,
                           "arrays_create: first_device = %u, devices = %u, but the context has %u",
                           o->first_device, o->devices, all);
    *ndev = o->devices ? o->devices : all - o->first_device;
    return 0;
}

arrays *arrays_create(const struct arrays_options *o)
{
    o = o ? o : &(const struct arrays_options){.ctx = NULL};
    CLCONTEXT *ctx =
        reserved_check("arrays_create", o->reserved) == 0 ? arrays_context(o->ctx) : NULL;
    if (!ctx)
        return NULL;
    if ((unsigned)o->type > ARRAYS_LONG || (unsigned)o->accumulator > ARRAYS_COMPENSATED ||
        (unsigned)o->method > ARRAYS_TREE) {
        clerror_set(EINVAL, "arrays_create: type %d, accumulator %d or method %d does not exist",
                    (int)o->type, (int)o->accumulator, (int)o->method);
        return NULL;
    }
    bool doubles = false;
    cl_uint ndev = 0;
    if (choose_devices(o, ctx, &ndev) != 0 ||
        arrays_have_doubles(ctx, o->first_device, ndev, &doubles) != 0)
        return NULL;
    if (o->type == ARRAYS_DOUBLE && !doubles) {
        clerror_set(ENOTSUP, "arrays_create: a device has no double precision; use ARRAYS_FLOAT");
        return NULL;
    }
    arrays *a = calloc(1, sizeof *a);
    if (a) {
        *a = (arrays){.ctx = ctx,
                      .first_dev = o->first_device,
                      .ndev = ndev,
                      .type = o->type,
                      .accumulator = o->accumulator,
                      .method = o->method,
                      .doubles = doubles,
                      .progress = o->progress,
                      .arg = o->arg};
        a->partial = calloc(ndev, sizeof *a->partial);
        a->shape = o->shape ? strdup(o->shape) : NULL;
    }
    if (!a || !a->partial || (o->shape && !a->shape)) {
        clerror_set(ENOMEM, "arrays_create: out of memory");
        arrays_free(a);
        return NULL;
    }
    return a;
}

void arrays_free(arrays *a)
{
    if (!a)
        return;
    for (int op = 0; op < OPS; op++) {
        arrays_kernels_close(&a->kernels[0][op]);
        arrays_kernels_close(&a->kernels[1][op]);
    }
    for (cl_uint dev = 0; a->partial && dev < a->ndev; dev++)
        if (a->partial[dev])
            clfree(a->partial[dev]);
    if (a->tree)
        clfree(a->tree);
    arrays_small_free(a);
    free(a->partial);
    free(a->shape);
    free(a);
}

/* ---- Partition among devices. ---------------------------------------------------------------- */

void arrays_partition(const arrays *a, size_t n, cl_uint dev, size_t *first, size_t *count)
{
    *first = *count = 0;
    if (no_handle(a, __func__))
        return;
    const uint64_t blocks = block_count(n);
    const cl_uint own = dev - a->first_dev;
    size_t from = 0, to = n;
    if (dev < a->first_dev || own >= a->ndev)
        return;
    if (a->method != ARRAYS_TREE) {
        from = (size_t)device_first_block(blocks, own, a->ndev) * BLOCK;
        to = (size_t)device_first_block(blocks, own + 1, a->ndev) * BLOCK;
    }
    *first = from < n ? from : n;
    *count = (to < n ? to : n) - *first;
}

int arrays_upload(arrays *a, const void *x, size_t n)
{
    if (no_handle(a, __func__))
        return -1;
    const size_t size = type_bytes(a->type);
    int status = 0;
    for (cl_uint dev = a->first_dev; dev < a->first_dev + a->ndev; dev++) {
        size_t first, count;
        arrays_partition(a, n, dev, &first, &count);
        if (count && clmsyncn(a->ctx, dev, (char *)(uintptr_t)x + first * size, count * size,
                              CL_MEM_DEVICE | CL_EVENT_NOWAIT) == (cl_event)-1)
            status = -1;
    }
    for (cl_uint dev = a->first_dev; dev < a->first_dev + a->ndev; dev++)
        if (clwait(a->ctx, dev, CL_MEM_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

/* Types are aligned to at most 128 bytes, as the layer assumes. */
int arrays_is_unaligned(const arrays *a, const char *call, const void *x)
{
    enum { LARGEST_TYPE = 128 };
    const char *base = clmemptr(a->ctx, (void *)(uintptr_t)x);
    const size_t offset = (size_t)((const char *)x - base);
    for (cl_uint dev = 0; offset && dev < a->ndev; dev++) {
        cl_uint bits = 8;
        if (device_ask(a->ctx, a->first_dev + dev, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits,
                       &bits, call) != 0)
            return -1;
        const size_t align = bits / 8 < LARGEST_TYPE ? bits / 8 : LARGEST_TYPE;
        if (offset % (align ? align : 1))
            return 1;
    }
    return 0;
}

/* Check that each device's image holds data for the device's partition. */
static int check_images(const arrays *a, const char *call, const void *x, size_t n)
{
    for (cl_uint dev = a->first_dev; dev < a->first_dev + a->ndev; dev++) {
        size_t first, count;
        arrays_partition(a, n, dev, &first, &count);
        if (count && clmrequire(a->ctx, dev, x, call) != 0)
            return -1;
    }
    return 0;
}

int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least)
{
    if (!clgetqueue(a->ctx, a->first_dev)) /* in a forked child */
        return -1;
    if (n < least)
        return clerror_set(EINVAL, "%s: %zu elements are too few; the minimum is %zu", call, n,
                           least);
    void *base = n ? clmemptr(a->ctx, (void *)(uintptr_t)x) : NULL;
    if (n && !base)
        return clerror_set(EFAULT, "%s: %p is not in memory from clmalloc of this context%s", call,
                           x, arrays_context_words(a->ctx));
    const size_t room = n ? clsizeofmem(base) - (size_t)((const char *)x - (const char *)base) : 0;
    if (n > room / type_bytes(a->type) && n)
        return clerror_set(
            EINVAL, "%s: %zu elements of %zu bytes do not fit in the %zu bytes from there on", call,
            n, type_bytes(a->type), room);
    if (n && (size_t)((const char *)x - (const char *)base) % type_bytes(a->type))
        return clerror_set(EINVAL,
                           "%s: the array begins %zu bytes after its block's begin; it must be a "
                           "multiple of an element's %zu bytes",
                           call, (size_t)((const char *)x - (const char *)base),
                           type_bytes(a->type));
    return check_images(a, call, x, n);
}

/* ---- Shape and its source. ------------------------------------------------------------------- */

static const struct device_kernel *explained(const arrays *a, cl_uint dev)
{
    const cl_uint own = dev - a->first_dev;
    for (int op = 0; dev >= a->first_dev && own < a->ndev && op < OPS; op++)
        for (int unaligned = 0; unaligned < 2; unaligned++)
            if (a->kernels[unaligned][op].device)
                return &a->kernels[unaligned][op].device[own];
    return NULL;
}

const char *arrays_shape(const arrays *a, cl_uint dev)
{
    if (no_handle(a, __func__))
        return "";
    const struct device_kernel *on = explained(a, dev);
    return on ? on->row.shape : "";
}

const char *arrays_explain(const arrays *a, cl_uint dev)
{
    if (no_handle(a, __func__))
        return "";
    const struct device_kernel *on = explained(a, dev);
    return on ? on->row.source : "no kernel has been used yet";
}
