/* arrays.c - create and free the object for arrays of one type; the partition among devices.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/device_info.h"
#include "core/handle.h"
#include "core/reserved.h"

/* ---- Create and free. ------------------------------------------------------------------------ */

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
    if (arrays_have_doubles(ctx, &doubles) != 0)
        return NULL;
    if (o->type == ARRAYS_DOUBLE && !doubles) {
        clerror_set(ENOTSUP, "arrays_create: a device has no double precision; use ARRAYS_FLOAT");
        return NULL;
    }
    arrays *a = calloc(1, sizeof *a);
    const cl_uint ndev = clgetndev(ctx);
    if (a) {
        *a = (arrays){.ctx = ctx,
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
    for (int op = 0; op < OPS; op++)
        arrays_kernels_close(&a->kernels[op]);
    for (cl_uint dev = 0; a->partial && dev < a->ndev; dev++)
        if (a->partial[dev])
            clfree(a->partial[dev]);
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
    size_t from = 0, to = n;
    if (a->method != ARRAYS_TREE && dev < a->ndev) {
        from = (size_t)device_first_block(blocks, dev, a->ndev) * BLOCK;
        to = (size_t)device_first_block(blocks, dev + 1, a->ndev) * BLOCK;
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
    for (cl_uint dev = 0; dev < a->ndev; dev++) {
        size_t first, count;
        arrays_partition(a, n, dev, &first, &count);
        if (count && clmsyncn(a->ctx, dev, (char *)(uintptr_t)x + first * size, count * size,
                              CL_MEM_DEVICE | CL_EVENT_NOWAIT) == (cl_event)-1)
            status = -1;
    }
    for (cl_uint dev = 0; dev < a->ndev; dev++)
        if (clwait(a->ctx, dev, CL_MEM_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

/* Check that each device can start a buffer `offset` bytes after the begin of a block. Types are
 * aligned to at most 128 bytes, as the layer assumes. */
static int check_start_of(const arrays *a, const char *call, size_t offset)
{
    enum { LARGEST_TYPE = 128 };
    for (cl_uint dev = 0; offset && dev < a->ndev; dev++) {
        cl_uint bits = 8;
        if (device_ask(a->ctx, dev, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof bits, &bits, call) != 0)
            return -1;
        const size_t align = bits / 8 < LARGEST_TYPE ? bits / 8 : LARGEST_TYPE;
        if (offset % (align ? align : 1))
            return clerror_set(EINVAL,
                               "%s: the array begins %zu bytes after its block's begin; device %u "
                               "needs a multiple of %zu bytes",
                               call, offset, dev, align);
    }
    return 0;
}

/* Check that each device's image holds data for the device's partition. */
static int check_images(const arrays *a, const char *call, const void *x, size_t n)
{
    for (cl_uint dev = 0; dev < a->ndev; dev++) {
        size_t first, count;
        arrays_partition(a, n, dev, &first, &count);
        if (count && clmrequire(a->ctx, dev, x, call) != 0)
            return -1;
    }
    return 0;
}

int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least)
{
    if (!clgetqueue(a->ctx, 0)) /* in a forked child */
        return -1;
    if (n < least)
        return clerror_set(EINVAL, "%s: %zu elements are too few; the minimum is %zu", call, n,
                           least);
    void *base = n ? clmemptr(a->ctx, (void *)(uintptr_t)x) : NULL;
    if (n && !base)
        return clerror_set(EFAULT, "%s: %p is not in memory from clmalloc of this context", call,
                           x);
    const size_t room = n ? clsizeofmem(base) - (size_t)((const char *)x - (const char *)base) : 0;
    if (n > room / type_bytes(a->type) && n)
        return clerror_set(
            EINVAL, "%s: %zu elements of %zu bytes do not fit in the %zu bytes from there on", call,
            n, type_bytes(a->type), room);
    if (check_start_of(a, call, n ? (size_t)((const char *)x - (const char *)base) : 0) != 0)
        return -1;
    return check_images(a, call, x, n);
}

/* ---- Shape and its source. ------------------------------------------------------------------- */

static const struct device_kernel *explained(const arrays *a, cl_uint dev)
{
    for (int op = 0; op < OPS; op++)
        if (a->kernels[op].device && dev < a->ndev)
            return &a->kernels[op].device[dev];
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
