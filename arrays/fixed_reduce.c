/* fixed_reduce.c - run a kernel over all blocks and reduce its partial sums in the fixed order.
 *
 * A kernel stores one partial sum for each block (fixed_reduce.h). The partial sums are the leaves
 * of a binary tree and are joined pairwise, neighbours first, in the order of blocks, whichever
 * device computed them. The tree is built like a binary counter: leaf 2k + 1 joins leaf 2k, then
 * that pair joins its neighbour, and so on. So one sum a level is kept, for any number of elements.
 *
 * If the blocks do not begin at 0, their first subtrees have no left neighbour yet. They are kept
 * too, at most two a level, until arrays_fixed_reduce_join provides the neighbour.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/reduce.h"

#include "core/untracked.h"
#include "core/progress.h"

#include <math.h>

size_t arrays_partial_bytes(struct arrays_partial p)
{
    const size_t wide = p.wide == WIDE_FLOAT || p.wide == WIDE_INT ? 4 : 8;
    return p.join == JOIN_PAIRS || p.join == JOIN_HALVES ? 2 * wide : wide;
}

/* ---- Sums on the host. ----------------------------------------------------------------------- */

static struct arrays_total read_partial(struct arrays_partial kind, const void *partial,
                                        uint64_t block)
{
    struct arrays_total t = {0, 0, 0};
    const int64_t *l = partial;
    if (kind.wide == WIDE_FLOAT) {
        const float *f = partial;
        t.value = (double)f[0];
        t.error = kind.join == JOIN_PAIRS ? (double)f[1] : 0;
    } else if (kind.wide == WIDE_DOUBLE) {
        const double *d = partial;
        t.value = d[0];
        t.error = kind.join == JOIN_PAIRS ? d[1] : 0;
    } else if (kind.wide == WIDE_INT) {
        t.integer = *(const int32_t *)partial;
    } else {
        t.integer = l[0];
        if (kind.join == JOIN_HALVES)
            t.integer += (arrays_integer)l[1] * ((arrays_integer)1 << 32);
    }
    if (kind.wide == WIDE_INT || kind.wide == WIDE_LONG)
        t.value = (double)t.integer;
    if (kind.join >= JOIN_MIN)
        t.error = (double)block;
    return t;
}

/* Join two sums. A pair of doubles needs each operation rounded once, so contraction is off
 * (-ffp-contract=off in CMakeLists.txt). */
static struct arrays_total total_join(struct arrays_partial kind, struct arrays_total a,
                                      struct arrays_total b)
{
    const double s = a.value + b.value, t = s - a.value;
    switch (kind.join) {
    case JOIN_MIN:
        return kind.wide == WIDE_LONG                    ? (b.integer < a.integer ? b : a)
               : a.value != a.value                      ? a
               : b.value < a.value || b.value != b.value ? b
                                                         : a;
    case JOIN_MAX:
        return kind.wide == WIDE_LONG                    ? (b.integer > a.integer ? b : a)
               : a.value != a.value                      ? a
               : b.value > a.value || b.value != b.value ? b
                                                         : a;
    case JOIN_PAIRS:
        return (struct arrays_total){s, a.error + (b.error + ((a.value - (s - t)) + (b.value - t))),
                                     0};
    default:
        return (struct arrays_total){s, 0, a.integer + b.integer};
    }
}

/* Append the sum of the next 2^level leaves, and join it with equal subtrees to its left. */
static void forest_push(struct arrays_partial kind, struct reduce_forest *f, uint64_t level,
                        struct arrays_total sum)
{
    uint64_t first = f->next;
    f->next += (uint64_t)1 << level;
    for (; f->n > 0 && f->tree[f->n - 1].level == level && first >> level & 1; level++) {
        first = f->tree[--f->n].first;
        sum = total_join(kind, f->tree[f->n].total, sum);
    }
    f->tree[f->n++] = (struct reduce_subtree){first, level, sum};
}

/* An aligned run of 256 leaves is summed at once: 2^30 numbers give 32,768 partial sums, and
 * joining them one by one would take longer than the kernel on a fast device. */
enum { BUNCH_LEVEL = 8, BUNCH = 1 << BUNCH_LEVEL };

/* Return the sum of `count` doubles by halves; count is a power of two and at least 8. */
static double doubles_total(const double *x, size_t count)
{
    if (count > 8)
        return doubles_total(x, count / 2) + doubles_total(x + count / 2, count / 2);
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* Pairs are joined level by level, so that the compiler vectorises each level. */
struct bunch {
    double value[BUNCH], error[BUNCH];
};

/* to[i] = from[2i] joined with from[2i + 1], as total_join does it. */
static void join_level(const struct bunch *restrict from, struct bunch *restrict to, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double a = from->value[2 * i], b = from->value[2 * i + 1], s = a + b, t = s - a;
        to->value[i] = s;
        to->error[i] = from->error[2 * i] + (from->error[2 * i + 1] + ((a - (s - t)) + (b - t)));
    }
}

static struct arrays_total pairs_total(enum arrays_wide wide, const void *leaf)
{
    const float *f = leaf;
    const double *d = leaf;
    struct bunch one, other;
    for (size_t i = 0; i < BUNCH; i++) {
        one.value[i] = wide == WIDE_FLOAT ? (double)f[2 * i] : d[2 * i];
        one.error[i] = wide == WIDE_FLOAT ? (double)f[2 * i + 1] : d[2 * i + 1];
    }
    for (size_t count = BUNCH / 2; count > 0; count /= 4) { /* an even number of levels */
        join_level(&one, &other, count);
        join_level(&other, &one, count / 2);
    }
    return (struct arrays_total){one.value[0], one.error[0], 0};
}

/* Integers may be added in any order. */
static struct arrays_total integers_total(struct arrays_partial kind, const int64_t *leaf)
{
    arrays_integer low = 0, high = 0;
    if (kind.join == JOIN_HALVES)
        for (size_t i = 0; i < BUNCH; i++)
            low += leaf[2 * i], high += leaf[2 * i + 1];
    else
        for (size_t i = 0; i < BUNCH; i++)
            low += leaf[i];
    low += high * ((arrays_integer)1 << 32);
    return (struct arrays_total){(double)low, 0, low};
}

/* Return the sum of a bunch of leaves. Sums in 32 bits are always pairs. */
static struct arrays_total bunch_total(struct arrays_partial kind, const void *leaf)
{
    if (kind.join == JOIN_PAIRS)
        return pairs_total(kind.wide, leaf);
    return kind.wide == WIDE_DOUBLE ? (struct arrays_total){doubles_total(leaf, BUNCH), 0, 0}
                                    : integers_total(kind, leaf);
}

static void forest_add(struct arrays_partial kind, struct reduce_forest *f, const void *partial,
                       uint64_t count)
{
    const size_t bytes = arrays_partial_bytes(kind);
    const bool adds = kind.join < JOIN_MIN;
    const char *leaf = partial;
    while (count > 0) {
        const bool bunch = adds && count >= BUNCH && f->next % BUNCH == 0;
        const uint64_t taken = bunch ? BUNCH : 1;
        if (bunch)
            forest_push(kind, f, BUNCH_LEVEL, bunch_total(kind, leaf));
        else
            forest_push(kind, f, 0, read_partial(kind, leaf, f->next));
        leaf += taken * bytes;
        count -= taken;
    }
}

void arrays_fixed_reduce_join(struct arrays_partial kind, struct reduce_forest *whole,
                              const struct reduce_forest *part)
{
    for (uint64_t i = 0; i < part->n; i++)
        forest_push(kind, whole, part->tree[i].level, part->tree[i].total);
}

/* Join from the last subtree, the smallest, to the first. */
struct arrays_total arrays_fixed_reduce_total(struct arrays_partial kind,
                                              const struct reduce_forest *whole)
{
    struct arrays_total sum = {0, 0, 0};
    for (uint64_t i = whole->n; i > 0; i--)
        sum = i == whole->n ? whole->tree[i - 1].total
                            : total_join(kind, whole->tree[i - 1].total, sum);
    return sum;
}

void arrays_fixed_reduce_blocks(struct arrays_partial kind, const void *partial, uint64_t blocks,
                                struct arrays_total *total)
{
    struct reduce_forest whole;
    whole.next = whole.n = 0;
    forest_add(kind, &whole, partial, blocks);
    *total = arrays_fixed_reduce_total(kind, &whole);
}

double arrays_total_value(struct arrays_partial kind, const struct arrays_total *total)
{
    if ((kind.wide == WIDE_INT || kind.wide == WIDE_LONG) && kind.join < JOIN_MIN)
        return (double)total->integer;
    if (kind.join == JOIN_PAIRS && isfinite(total->value))
        return total->value + total->error; /* else the error is NaN */
    return total->value;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

enum { REST_MAX = 8 };

static int partials_alloc(const struct reduce_job *job, cl_uint dev, uint64_t blocks)
{
    const size_t size = (size_t)blocks * arrays_partial_bytes(job->kind);
    void **partial = &job->partial[dev];
    if (*partial && clsizeofmem(*partial) >= size)
        return 0;
    if (*partial)
        clfree(*partial);
    /* At least the 8 bytes that the search for an extreme needs. */
    *partial = clmalloc(job->kernels->ctx, size < 8 ? 8 : size, CL_MEM_ZEROCOPY);
    return *partial ? 0 : -1;
}

static int reduce_launch(const struct reduce_job *job, cl_uint dev, uint64_t first, uint64_t blocks)
{
    const struct device_kernel *on = &job->kernels->device[dev];
    CLCONTEXT *ctx = job->kernels->ctx;
    if (partials_alloc(job, dev, blocks) != 0)
        return -1;
    void *const partial = job->partial[dev];
    struct stdcl_arg args[3 + REST_MAX] = {ARG(partial), ARG((cl_ulong)first),
                                           ARG((cl_ulong)job->n)};
    for (cl_uint i = 0; i < job->nrest; i++)
        args[3 + i] = job->rest[i];
    const size_t group = (size_t)on->shape.group;
    clndrange_t ndr = clndrange_init1d(0, (size_t)blocks * group, group);
    /* The copy after it, in the same queue, is awaited. */
    const int untracked = on->cpu ? 0 : CL_EVENT_UNTRACKED;
    const cl_uint of_ctx = job->kernels->first_dev + dev;
    if (clforkv(ctx, of_ctx, on->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | untracked,
                3 + job->nrest, args) == (cl_event)-1)
        return -1;
    const size_t size = (size_t)blocks * arrays_partial_bytes(job->kind);
    if (!on->cpu && clmsyncn(ctx, of_ctx, partial, size,
                             CL_MEM_HOST | CL_EVENT_NOWAIT | untracked) == (cl_event)-1)
        return -1;
    return clflush(ctx, of_ctx, 0);
}

/* Launch blocks from[dev] ... from[dev] + count[dev] - 1 on all devices and wait for them, also
 * after a failure. */
static int reduce_launch_all(const struct reduce_job *job, const uint64_t *from,
                             const uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    uint64_t most = 0;
    int status = 0;
    for (cl_uint dev = 0; dev < ndev; dev++)
        most = count[dev] > most ? count[dev] : most;
    pace_started(&job->kernels->pace, (double)most);
    for (cl_uint dev = 0; dev < ndev && status == 0; dev++)
        if (count[dev] > 0)
            status = reduce_launch(job, dev, from[dev], count[dev]);
    for (cl_uint dev = 0; dev < ndev; dev++)
        if (clwait(job->kernels->ctx, job->kernels->first_dev + dev,
                   status == 0 && !job->kernels->device[dev].cpu ? CL_MEM_EVENT : CL_ALL_EVENT) ==
            (cl_event)-1)
            status = -1;
    pace_waited(&job->kernels->pace);
    return status;
}

/* Return the number of blocks to launch on each device now, at most `blocks`. */
static uint64_t reduce_slice_blocks(const struct reduce_job *job, uint64_t blocks)
{
    const double slice = job->uncut ? HUGE_VAL : pace_slice(&job->kernels->pace);
    const uint64_t most = job->limit && job->limit < blocks ? job->limit : blocks;
    return slice >= (double)most ? most : slice < 1 ? 1 : (uint64_t)slice;
}

static int reduce_report(const struct reduce_job *job, uint64_t blocks)
{
    const uint64_t all = job->n - job->first * BLOCK; /* to the end of the elements */
    const uint64_t done = blocks * BLOCK < all ? blocks * BLOCK : all;
    return progress_count(job->progress, job->arg, done, blocks == job->blocks, job->caller, job->n,
                          job->elements);
}

/* Reduce in rounds, each divided among the devices. For jobs with a launch limit (blocks may be on
 * any device), and for jobs of a single round. */
static int reduce_in_rounds(const struct reduce_job *job, struct reduce_forest *f, uint64_t *from,
                            uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    for (uint64_t first = 0, some; first < job->blocks; first += some) {
        const uint64_t left = job->blocks - first, wanted = reduce_slice_blocks(job, left) * ndev;
        some = left < wanted ? left : wanted;
        for (cl_uint dev = 0; dev < ndev; dev++) {
            from[dev] = job->first + first + device_first_block(some, dev, ndev);
            count[dev] = job->first + first + device_first_block(some, dev + 1, ndev) - from[dev];
        }
        if (reduce_launch_all(job, from, count) != 0)
            return -1;
        for (cl_uint dev = 0; dev < ndev; dev++)
            forest_add(job->kind, f, job->partial[dev], count[dev]);
        if (reduce_report(job, first + some) != 0)
            return -1;
    }
    return 0;
}

/* Reduce with a fixed partition: each device has its range of blocks. All partial sums are kept
 * until they can be joined in order. */
static int reduce_in_partitions(const struct reduce_job *job, struct reduce_forest *f,
                                uint64_t *from, uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    const size_t bytes = arrays_partial_bytes(job->kind);
    const uint64_t share = (job->blocks + ndev - 1) / ndev;
    char *all = malloc((size_t)job->blocks * bytes);
    int status = all ? 0
                     : clerror_set(ENOMEM, "%s: out of memory for the sums of %llu blocks",
                                   job->caller, (unsigned long long)job->blocks);
    for (uint64_t at = 0, some; status == 0 && at < share; at += some) {
        some = reduce_slice_blocks(job, share - at);
        for (cl_uint dev = 0; dev < ndev; dev++) {
            const uint64_t end = job->first + device_first_block(job->blocks, dev + 1, ndev);
            from[dev] = job->first + device_first_block(job->blocks, dev, ndev) + at;
            count[dev] = from[dev] >= end ? 0 : end - from[dev] < some ? end - from[dev] : some;
        }
        status = reduce_launch_all(job, from, count);
        for (cl_uint dev = 0; status == 0 && dev < ndev; dev++)
            if (count[dev] > 0)
                memcpy(all + (from[dev] - job->first) * bytes, job->partial[dev],
                       (size_t)count[dev] * bytes);
        if (status == 0)
            status = reduce_report(job, at + some < share ? (at + some) * ndev : job->blocks);
    }
    if (status == 0)
        forest_add(job->kind, f, all, job->blocks);
    free(all);
    return status;
}

int arrays_fixed_reduce_part(const struct reduce_job *job, struct reduce_forest *part)
{
    uint64_t *room = calloc(2 * (size_t)job->kernels->ndev, sizeof *room);
    if (!room)
        return clerror_set(ENOMEM, "%s: out of memory", job->caller);
    const uint64_t share = (job->blocks + job->kernels->ndev - 1) / job->kernels->ndev;
    const bool rounds = job->limit || reduce_slice_blocks(job, share) == share;
    part->next = job->before + job->first;
    part->n = 0;
    const int status = (rounds ? reduce_in_rounds
                               : reduce_in_partitions)(job, part, room, room + job->kernels->ndev);
    free(room);
    return status;
}

int arrays_fixed_reduce(const struct reduce_job *job, struct arrays_total *total)
{
    struct reduce_forest whole;
    const int status = arrays_fixed_reduce_part(job, &whole);
    if (status == 0)
        *total = arrays_fixed_reduce_total(job->kind, &whole);
    return status;
}
