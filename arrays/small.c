/* small.c - sums of small arrays on the host.
 *
 * To launch a kernel takes longer than to add up an array that fits the processor's cache. So where
 * all devices share the host's memory, arrays up to a size (`host` of the shape) are added up by
 * the host: block by block as kernels do (reduce_host.c), with the same bits. Blocks are the parts
 * of a team's work, and what each leaves is what a kernel leaves. SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/thread_pool.h"

/* By the widest vectors that this processor has. */
static strips_work *work_of(enum arrays_type type, struct arrays_partial kind)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return arrays_strips_avx512(type, kind);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return arrays_strips_avx2(type, kind);
#endif
    return arrays_strips_any(type, kind);
}

/* One core adds up an array that fits its second-level cache before another has woken up. */
enum { MOST_BLOCKS = (1 << SMALL_MOST) / BLOCK, ALONE = 1 << 19 };

struct domains {
    struct strips_job job;
    strips_work *work;
};

static void work_part(void *parts_, size_t block)
{
    const struct domains *p = parts_;
    p->work(&p->job, block);
}

static bool on_host(const struct kernels *k, const void *array)
{
    for (cl_uint dev = 0; dev < k->ndev; dev++)
        if (!k->on[dev].cpu)
            return false;
    return clmctl((void *)(uintptr_t)array, CL_MCTL_GET_STATUS) & CL_MEM_ZEROCOPY;
}

bool arrays_small_fits(const arrays *a, const struct small_sum *s)
{
    const struct kernels *k = &a->kernels[s->op];
    const int most = k->on[0].shape.host;
    return most > 0 && s->n <= (size_t)1 << most && work_of(a->type, s->kind) && on_host(k, s->x) &&
           on_host(k, s->y) && on_host(k, s->z);
}

/* What would be done before a launch is done before this: also what the caller has put into the
 * queue by OpenCL's own calls. */
static int wait_for_all(const struct kernels *k)
{
    int status = 0;
    for (cl_uint dev = 0; dev < k->ndev; dev++) {
        if (clwait(k->ctx, dev, CL_ALL_EVENT) == (cl_event)-1)
            status = -1;
        const cl_int err = clFinish(clgetqueue(k->ctx, dev));
        if (err != CL_SUCCESS)
            status = clerror_set(EIO, "arrays: device %u cannot be waited for (OpenCL error %d)",
                                 dev, err);
    }
    return status;
}

/* By a team from two blocks on: it is made when it is first needed. */
static void work_blocks(arrays *a, struct domains *parts, size_t blocks)
{
    if (blocks > 1 && !a->team)
        a->team = thread_pool_create(THREAD_POOL_MOST);
    if (a->team)
        thread_pool_for(a->team, blocks, parts->job.n * type_bytes(a->type) > ALONE, work_part,
                        parts);
    else
        for (size_t b = 0; b < blocks; b++)
            work_part(parts, b);
}

int arrays_small_sum(arrays *a, const struct small_sum *s, struct arrays_total *total)
{
    _Alignas(
        double) char partial[MOST_BLOCKS * 2 * sizeof(double)]; /* or pairs of 64-bit integers */
    const size_t blocks = (size_t)blocks_of(s->n);
    struct domains parts = {.job = {s->op, s->x, s->y, s->z, s->n, s->mean, partial},
                            .work = work_of(a->type, s->kind)};
    if (wait_for_all(&a->kernels[s->op]) != 0)
        return -1;
    work_blocks(a, &parts, blocks);
    arrays_order_sum(s->kind, partial, blocks, total);
    if (a->progress)
        a->progress(a->arg, s->n);
    return 0;
}

void arrays_small_free(arrays *a)
{
    thread_pool_free(a->team);
}
