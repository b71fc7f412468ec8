/* start.c - sums and extremes whose result stays in the memory of one device.
 *
 * The kernel of the blocks is followed by one that joins their partial sums in the same order as
 * the host (fixed_reduce.c), so that both give the same bits. Nothing is read back.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/handle.h"

static int check_object(const arrays *a, const char *call)
{
    if (no_handle(a, call))
        return -1;
    if (a->ndev != 1)
        return clerror_set(EINVAL,
                           "%s: the object uses %u devices, and a result stays on one; set devices "
                           "= 1 in the options of arrays_create",
                           call, a->ndev);
    return a->method == ARRAYS_TUNED
               ? 0
               : clerror_set(EINVAL, "%s: ARRAYS_TREE adds on the host; use ARRAYS_TUNED", call);
}

static int check_result(const arrays *a, const char *call, const void *result)
{
    enum { BYTES = 8 }; /* a double or a long */
    const char *base = clmemptr(a->ctx, (void *)(uintptr_t)result);
    if (!base)
        return clerror_set(EFAULT,
                           "%s: the result, %p, is not in memory from clmalloc of this context%s",
                           call, result, arrays_context_words(a->ctx));
    const size_t offset = (size_t)((const char *)result - base);
    if (offset % BYTES || clsizeofmem((void *)(uintptr_t)base) - offset < BYTES)
        return clerror_set(EINVAL,
                           "%s: the result begins %zu bytes after its block's begin; it must be a "
                           "multiple of 8 bytes, with 8 bytes from there on",
                           call, offset);
    return 0;
}

/* Memory for the partial sums grows as needed; freeing it waits for work in flight. */
static int grow_tree(arrays *a, size_t bytes)
{
    if (a->tree && clsizeofmem(a->tree) >= bytes)
        return 0;
    if (a->tree)
        clfree(a->tree);
    a->tree = clmalloc(a->ctx, bytes, CL_MEM_DEVONLY);
    return a->tree ? 0 : -1;
}

static int start(arrays *a, const char *call, enum reduce_op op, const void *x, const void *y,
                 size_t n, size_t least, void *result)
{
    if (check_object(a, call) != 0 || arrays_check(a, call, x, n, least) != 0 ||
        arrays_check(a, call, y, n, least) != 0 || check_result(a, call, result) != 0)
        return -1;
    /* No element is read if n = 0. */
    const struct reduce_input in = {
        .x = n ? x : result, .y = n ? y : result, .z = n ? x : result, .n = n};
    const struct arrays_partial kind = arrays_partial_of(a, op);
    struct kernels *k = arrays_op_open(a, op, &in);
    if (!k || grow_tree(a, arrays_reduce_tree_bytes(kind, n)) != 0)
        return -1;
    cl_kernel *join = &a->join[k->unaligned][op];
    *join = *join ? *join : clsym(k->ctx, k->device[0].program, "join_blocks", 0);
    return *join ? arrays_reduce_start(k, a->type, kind, &in, *join, a->tree, result) : -1;
}

int arrays_sum_start(arrays *a, const void *x, size_t n, void *result)
{
    return start(a, __func__, OP_SUM, x, x, n, 0, result);
}

int arrays_dot_start(arrays *a, const void *x, const void *y, size_t n, void *result)
{
    if (a && (a->type == ARRAYS_INT || a->type == ARRAYS_LONG))
        return clerror_set(EINVAL,
                           "%s: the elements are %ss; only floats and doubles are supported",
                           __func__, arrays_type_names[a->type]);
    return start(a, __func__, OP_DOT, x, y, n, 0, result);
}

int arrays_min_start(arrays *a, const void *x, size_t n, void *result)
{
    return start(a, __func__, OP_MIN, x, x, n, 1, result);
}

int arrays_max_start(arrays *a, const void *x, size_t n, void *result)
{
    return start(a, __func__, OP_MAX, x, x, n, 1, result);
}
