/* extremes.c - places of the minimum and the maximum: a reduction gives the value and its first
 * block, and a search in this block the first element.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/handle.h"

/* ---- The search on the host. ----------------------------------------------------------------- */

/* The number of elements before the first one that is `value`, or NaN if value is; count if there
 * is none. */
#define FIND(type, array, from, count, value)                                                      \
    do {                                                                                           \
        const type *const e = (const type *)(array) + (from);                                      \
        const type v = (type)(value);                                                              \
        for (i = 0; i < (count) && e[i] != v && (e[i] == e[i] || v == v); i++)                     \
            ;                                                                                      \
    } while (0)

static size_t find_on_host(enum arrays_type type, const struct reduce_input *in,
                           const struct arrays_total *total)
{
    const size_t from = (size_t)total->error * BLOCK, left = in->n - from,
                 count = left < BLOCK ? left : BLOCK;
    size_t i = 0;
    switch (type) {
    case ARRAYS_FLOAT:
        FIND(float, in->x, from, count, total->value);
        break;
    case ARRAYS_DOUBLE:
        FIND(double, in->x, from, count, total->value);
        break;
    case ARRAYS_INT:
        FIND(int32_t, in->x, from, count, total->integer);
        break;
    case ARRAYS_LONG:
        FIND(int64_t, in->x, from, count, total->integer);
        break;
    }
    return from + i;
}

/* ---- The search on a device. ----------------------------------------------------------------- */

/* Return the object's device whose partition has a block. */
static cl_uint owner_of(const arrays *a, size_t n, uint64_t block)
{
    cl_uint dev = 0;
    while (dev + 1 < a->ndev && block >= device_first_block(block_count(n), dev + 1, a->ndev))
        dev++;
    return dev;
}

static int find_on_device(arrays *a, struct kernels *k, const struct reduce_input *in,
                          const struct arrays_total *total, size_t *index)
{
    const cl_uint dev = owner_of(a, in->n, (uint64_t)total->error);
    const cl_uint of_ctx = k->first_dev + dev;
    /* Devices of different shapes have different programs. */
    cl_kernel find = clsym(k->ctx, k->device[dev].program, "find_value", 0);
    cl_ulong *place = a->partial[dev]; /* the reduction has used it and is complete */
    if (!find || arrays_reduce_find(k, dev, a->type, find, total, in, place) != 0 ||
        clmsyncn(k->ctx, of_ctx, place, sizeof *place, CL_MEM_HOST | CL_EVENT_NOWAIT) ==
            (cl_event)-1 ||
        clwait(k->ctx, of_ctx, CL_ALL_EVENT) == (cl_event)-1)
        return -1;
    *index = (size_t)*place;
    return 0;
}

/* ---- Public functions. ----------------------------------------------------------------------- */

static int find_extreme(arrays *a, const char *call, enum reduce_op op, const void *x, size_t n,
                        size_t *index)
{
    const struct reduce_input in = {.x = x, .y = x, .z = x, .n = n};
    struct arrays_total total;
    if (arrays_check_handles(a, call, index) != 0 || arrays_check(a, call, x, n, 1) != 0 ||
        arrays_op_reduce(a, op, &in, &total) != 0)
        return -1;
    struct kernels *k = arrays_op_kernels(a, op, &in);
    if (!k)
        return -1;
    if (!arrays_is_host_memory(k, x))
        return find_on_device(a, k, &in, &total, index);
    *index = find_on_host(a->type, &in, &total);
    return 0;
}

int arrays_argmin(arrays *a, const void *x, size_t n, size_t *index)
{
    return find_extreme(a, __func__, OP_MIN, x, n, index);
}

int arrays_argmax(arrays *a, const void *x, size_t n, size_t *index)
{
    return find_extreme(a, __func__, OP_MAX, x, n, index);
}
