/* small.c - small sums on the host.
 *
 * A kernel launch takes longer than summing an array that fits the processor's cache. So if all
 * devices share the host's memory, the host sums arrays up to a size (key `host`) itself: block by
 * block as the kernels do (reduce_host.c), with the same bits. Each block is an item of work for
 * the thread pool and leaves a partial sum like a kernel's.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/thread_pool.h"

/* Choose by the widest vectors of this processor. */
static reduce_host_block *reduce_host_choose(enum arrays_type type, struct arrays_partial kind)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return arrays_reduce_host_avx512(type, kind);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return arrays_reduce_host_avx2(type, kind);
#endif
    return arrays_reduce_host_any(type, kind);
}

/* SINGLE_THREAD_BYTES: one core sums an array in its second-level cache before another one wakes
 * up. */
enum { MOST_BLOCKS = (1 << SMALL_MOST) / BLOCK, SINGLE_THREAD_BYTES = 1 << 19 };

struct host_blocks {
    struct reduce_host_job job;
    reduce_host_block *work;
};

static void reduce_host_part(void *parts_, size_t block)
{
    const struct host_blocks *p = parts_;
    p->work(&p->job, block);
}

bool arrays_is_host_memory(const struct kernels *k, const void *array)
{
    for (cl_uint dev = 0; dev < k->ndev; dev++)
        if (!k->device[dev].cpu)
            return false;
    return clmctl((void *)(uintptr_t)array, CL_MCTL_GET_STATUS) & CL_MEM_ZEROCOPY;
}

bool arrays_small_fits(const arrays *a, const struct kernels *k, struct arrays_partial kind,
                       const struct reduce_input *in)
{
    const int most = k->device[0].shape.host;
    return most > 0 && in->n <= (size_t)1 << most && reduce_host_choose(a->type, kind) &&
           arrays_is_host_memory(k, in->x) && arrays_is_host_memory(k, in->y) &&
           arrays_is_host_memory(k, in->z);
}

/* Block until all earlier work is complete, as a launch would be ordered after it: also commands
 * that the caller enqueued by OpenCL's own functions. */
static int wait_all_queues(const struct kernels *k)
{
    int status = 0;
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        const cl_uint of_ctx = k->first_dev + dev;
        if (clwait(k->ctx, of_ctx, CL_ALL_EVENT) == (cl_event)-1)
            status = -1;
        const cl_int err = clFinish(clgetqueue(k->ctx, of_ctx));
        if (err != CL_SUCCESS)
            status = clerror_set(EIO, "arrays: clFinish failed on device %u (OpenCL error %d)",
                                 of_ctx, err);
    }
    return status;
}

/* Use a thread pool from two blocks on. It is created on first use. */
static void reduce_host_blocks(arrays *a, struct host_blocks *parts, size_t blocks)
{
    if (blocks > 1 && !a->team)
        a->team = thread_pool_create(THREAD_POOL_MOST);
    if (a->team)
        thread_pool_for(a->team, blocks, parts->job.n * type_bytes(a->type) > SINGLE_THREAD_BYTES,
                        reduce_host_part, parts);
    else
        for (size_t b = 0; b < blocks; b++)
            reduce_host_part(parts, b);
}

int arrays_small_sum(arrays *a, const struct kernels *k, enum reduce_op op,
                     const struct reduce_input *in, struct arrays_total *total)
{
    const struct arrays_partial kind = arrays_reduce_kind(a->type, a->accumulator, a->doubles, op);
    /* Or pairs of 64-bit integers. */
    _Alignas(double) char partial[MOST_BLOCKS * 2 * sizeof(double)];
    const size_t blocks = (size_t)block_count(in->n);
    struct host_blocks parts = {.job = {op, in->x, in->y, in->z, in->n, in->mean, partial},
                                .work = reduce_host_choose(a->type, kind)};
    if (wait_all_queues(k) != 0)
        return -1;
    reduce_host_blocks(a, &parts, blocks);
    arrays_fixed_reduce_blocks(kind, partial, blocks, total);
    if (a->progress)
        a->progress(a->arg, in->n);
    return 0;
}

void arrays_small_free(arrays *a)
{
    thread_pool_free(a->team);
}
