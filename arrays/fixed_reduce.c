/* fixed_reduce.c - runs a kernel over all blocks and joins what they leave, in the fixed order.
 *
 * A kernel leaves one partial sum a block (fixed_reduce.h). They come back in the order of blocks,
 * whichever device made them, and are joined as the leaves of a binary tree, neighbours first. The
 * tree is built as binary numbers are counted: leaf 2k + 1 joins leaf 2k, then that pair its
 * neighbour, and so on; so only one sum a level is kept, and a gas of any size passes through.
 * Where the blocks do not begin at 0, their first subtrees have no left neighbour yet: they are
 * kept too, at most two a level, until arrays_order_join brings it.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/blocks.h"

#include "core/untracked.h"
#include "core/progress.h"

#include <math.h>

static size_t partial_bytes(struct arrays_partial p)
{
    const size_t wide = p.wide == WIDE_FLOAT || p.wide == WIDE_INT ? 4 : 8;
    return p.joining == JOIN_PAIRS || p.joining == JOIN_HALVES ? 2 * wide : wide;
}

/* ---- Sums on the host. ----------------------------------------------------------------------- */

static struct arrays_total read_partial(struct arrays_partial kind, const void *partial)
{
    struct arrays_total t = {0, 0, 0};
    const int64_t *l = partial;
    if (kind.wide == WIDE_FLOAT) {
        const float *f = partial;
        t.value = (double)f[0];
        t.error = kind.joining == JOIN_PAIRS ? (double)f[1] : 0;
    } else if (kind.wide == WIDE_DOUBLE) {
        const double *d = partial;
        t.value = d[0];
        t.error = kind.joining == JOIN_PAIRS ? d[1] : 0;
    } else if (kind.wide == WIDE_INT) {
        t.integer = *(const int32_t *)partial;
    } else {
        t.integer = l[0];
        if (kind.joining == JOIN_HALVES)
            t.integer += (arrays_integer)l[1] * ((arrays_integer)1 << 32);
    }
    if (kind.wide == WIDE_INT || kind.wide == WIDE_LONG)
        t.value = (double)t.integer;
    return t;
}

/* A pair of doubles needs each operation rounded once: no contraction, which gcc would not do for
 * x86-64 without -mfma. */
static struct arrays_total join(struct arrays_partial kind, struct arrays_total a,
                                struct arrays_total b)
{
    const double s = a.value + b.value, t = s - a.value;
    switch (kind.joining) {
    case JOIN_LEAST:
        return b.value < a.value || b.value != b.value ? b : a;
    case JOIN_GREATEST:
        return b.value > a.value || b.value != b.value ? b : a;
    case JOIN_PAIRS:
        return (struct arrays_total){s, a.error + (b.error + ((a.value - (s - t)) + (b.value - t))),
                                     0};
    default:
        return (struct arrays_total){s, 0, a.integer + b.integer};
    }
}

/* Adds the sum of the next 2^level leaves. */
static void push(struct arrays_partial kind, struct order_forest *f, uint64_t level,
                 struct arrays_total sum)
{
    uint64_t first = f->next;
    f->next += (uint64_t)1 << level;
    for (; f->n > 0 && f->tree[f->n - 1].level == level && first >> level & 1; level++) {
        first = f->tree[--f->n].first;
        sum = join(kind, f->tree[f->n].total, sum);
    }
    f->tree[f->n++] = (struct order_subtree){first, level, sum};
}

/* A bunch of leaves is summed at once: a billion numbers leave 32,768 sums, and their joining, one
 * by one, would take longer than a fast device took for all the rest. */
enum { BUNCH_LEVEL = 8, BUNCH = 1 << BUNCH_LEVEL };

/* The sum of a power of two of doubles, at least 8, by halves. */
static double doubles_total(const double *x, size_t count)
{
    if (count > 8)
        return doubles_total(x, count / 2) + doubles_total(x + count / 2, count / 2);
    return ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]));
}

/* Pairs are joined one level of the tree after the other. */
struct bunch {
    double value[BUNCH], error[BUNCH];
};

/* to[i] = from[2i] joined with from[2i + 1], as join() does it. */
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
    if (kind.joining == JOIN_HALVES)
        for (size_t i = 0; i < BUNCH; i++)
            low += leaf[2 * i], high += leaf[2 * i + 1];
    else
        for (size_t i = 0; i < BUNCH; i++)
            low += leaf[i];
    low += high * ((arrays_integer)1 << 32);
    return (struct arrays_total){(double)low, 0, low};
}

/* The sum over a bunch of leaves. Sums in 32 bits come in pairs. */
static struct arrays_total bunch_total(struct arrays_partial kind, const void *leaf)
{
    if (kind.joining == JOIN_PAIRS)
        return pairs_total(kind.wide, leaf);
    return kind.wide == WIDE_DOUBLE ? (struct arrays_total){doubles_total(leaf, BUNCH), 0, 0}
                                    : integers_total(kind, leaf);
}

static void order_add(struct arrays_partial kind, struct order_forest *f, const void *partial,
                      uint64_t count)
{
    const size_t bytes = partial_bytes(kind);
    const bool adds = kind.joining < JOIN_LEAST;
    const char *leaf = partial;
    while (count > 0) {
        const bool bunch = adds && count >= BUNCH && f->next % BUNCH == 0;
        const uint64_t taken = bunch ? BUNCH : 1;
        if (bunch)
            push(kind, f, BUNCH_LEVEL, bunch_total(kind, leaf));
        else
            push(kind, f, 0, read_partial(kind, leaf));
        leaf += taken * bytes;
        count -= taken;
    }
}

void arrays_order_join(struct arrays_partial kind, struct order_forest *whole,
                       const struct order_forest *part)
{
    for (uint64_t i = 0; i < part->n; i++)
        push(kind, whole, part->tree[i].level, part->tree[i].total);
}

/* From the last subtree, the smallest, to the first. */
struct arrays_total arrays_order_total(struct arrays_partial kind, const struct order_forest *whole)
{
    struct arrays_total sum = {0, 0, 0};
    for (uint64_t i = whole->n; i > 0; i--)
        sum = i == whole->n ? whole->tree[i - 1].total : join(kind, whole->tree[i - 1].total, sum);
    return sum;
}

void arrays_order_sum(struct arrays_partial kind, const void *partial, uint64_t blocks,
                      struct arrays_total *total)
{
    struct order_forest whole;
    whole.next = whole.n = 0;
    order_add(kind, &whole, partial, blocks);
    *total = arrays_order_total(kind, &whole);
}

double arrays_total_value(struct arrays_partial kind, const struct arrays_total *total)
{
    if ((kind.wide == WIDE_INT || kind.wide == WIDE_LONG) && kind.joining < JOIN_LEAST)
        return (double)total->integer;
    if (kind.joining == JOIN_PAIRS && isfinite(total->value))
        return total->value + total->error; /* else the error is NaN */
    return total->value;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

enum { MOST_REST = 8 };

static int make_room(const struct order_job *job, cl_uint dev, uint64_t blocks)
{
    const size_t size = (size_t)blocks * partial_bytes(job->kind);
    void **partial = &job->partial[dev];
    if (*partial && clsizeofmem(*partial) >= size)
        return 0;
    if (*partial)
        clfree(*partial);
    *partial = clmalloc(job->kernels->ctx, size, CL_MEM_ZEROCOPY);
    return *partial ? 0 : -1;
}

static int launch(const struct order_job *job, cl_uint dev, uint64_t first, uint64_t blocks)
{
    const struct kernels_on *on = &job->kernels->on[dev];
    CLCONTEXT *ctx = job->kernels->ctx;
    if (make_room(job, dev, blocks) != 0)
        return -1;
    void *const partial = job->partial[dev];
    struct stdcl_arg args[3 + MOST_REST] = {ARG(partial), ARG((cl_ulong)first),
                                            ARG((cl_ulong)job->n)};
    for (cl_uint i = 0; i < job->nrest; i++)
        args[3 + i] = job->rest[i];
    const size_t group = (size_t)on->shape.group;
    clndrange_t ndr = clndrange_init1d(0, (size_t)blocks * group, group);
    const int bare =
        on->cpu
            ? 0
            : CL_EVENT_UNTRACKED; /* the copy behind the kernel, in one queue with it, is waited for */
    if (clforkv(ctx, dev, on->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | bare,
                3 + job->nrest, args) == (cl_event)-1)
        return -1;
    const size_t size = (size_t)blocks * partial_bytes(job->kind);
    if (!on->cpu &&
        clmsyncn(ctx, dev, partial, size, CL_MEM_HOST | CL_EVENT_NOWAIT | bare) == (cl_event)-1)
        return -1;
    return clflush(ctx, dev, 0);
}

/* Blocks from[dev] ... from[dev] + count[dev] - 1 on all devices, at once. What was started is
 * collected also after a failure. */
static int run_on_all(const struct order_job *job, const uint64_t *from, const uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    uint64_t most = 0;
    int status = 0;
    for (cl_uint dev = 0; dev < ndev && status == 0; dev++) {
        most = count[dev] > most ? count[dev] : most;
        if (count[dev] > 0)
            status = launch(job, dev, from[dev], count[dev]);
    }
    pace_started(&job->kernels->pace, (double)most);
    for (cl_uint dev = 0; dev < ndev; dev++)
        if (clwait(job->kernels->ctx, dev,
                   status == 0 && !job->kernels->on[dev].cpu ? CL_MEM_EVENT : CL_ALL_EVENT) ==
            (cl_event)-1)
            status = -1;
    pace_waited(&job->kernels->pace);
    return status;
}

/* How many blocks to give each device now, of so many. */
static uint64_t blocks_at_once(const struct order_job *job, uint64_t blocks)
{
    const double slice = job->uncut ? HUGE_VAL : pace_slice(&job->kernels->pace);
    const uint64_t most = job->limit && job->limit < blocks ? job->limit : blocks;
    return slice >= (double)most ? most : slice < 1 ? 1 : (uint64_t)slice;
}

static int tell(const struct order_job *job, uint64_t blocks)
{
    const uint64_t all = job->n - job->first * BLOCK; /* to the end of the elements */
    const uint64_t done = blocks * BLOCK < all ? blocks * BLOCK : all;
    return progress_count(job->progress, job->arg, done, blocks == job->blocks, job->caller, job->n,
                          job->elements);
}

/* Where any device may have any block, or where there is one round: each has a share of it, and the
 * sums pass through. */
static int run_in_rounds(const struct order_job *job, struct order_forest *f, uint64_t *from,
                         uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    for (uint64_t first = 0, some; first < job->blocks; first += some) {
        const uint64_t left = job->blocks - first, wanted = blocks_at_once(job, left) * ndev;
        some = left < wanted ? left : wanted;
        for (cl_uint dev = 0; dev < ndev; dev++) {
            from[dev] = job->first + first + share_start(some, dev, ndev);
            count[dev] = job->first + first + share_start(some, dev + 1, ndev) - from[dev];
        }
        if (run_on_all(job, from, count) != 0)
            return -1;
        for (cl_uint dev = 0; dev < ndev; dev++)
            order_add(job->kind, f, job->partial[dev], count[dev]);
        if (tell(job, first + some) != 0)
            return -1;
    }
    return 0;
}

/* Each device keeps its share, and all sums are kept until they can be joined in order. */
static int run_shares(const struct order_job *job, struct order_forest *f, uint64_t *from,
                      uint64_t *count)
{
    const cl_uint ndev = job->kernels->ndev;
    const size_t bytes = partial_bytes(job->kind);
    const uint64_t share = (job->blocks + ndev - 1) / ndev;
    char *all = malloc((size_t)job->blocks * bytes);
    int status = all ? 0
                     : clerror_set(ENOMEM, "%s: no memory for the sums of %llu blocks", job->caller,
                                   (unsigned long long)job->blocks);
    for (uint64_t at = 0, some; status == 0 && at < share; at += some) {
        some = blocks_at_once(job, share - at);
        for (cl_uint dev = 0; dev < ndev; dev++) {
            const uint64_t end = job->first + share_start(job->blocks, dev + 1, ndev);
            from[dev] = job->first + share_start(job->blocks, dev, ndev) + at;
            count[dev] = from[dev] >= end ? 0 : end - from[dev] < some ? end - from[dev] : some;
        }
        status = run_on_all(job, from, count);
        for (cl_uint dev = 0; status == 0 && dev < ndev; dev++)
            if (count[dev] > 0)
                memcpy(all + (from[dev] - job->first) * bytes, job->partial[dev],
                       (size_t)count[dev] * bytes);
        if (status == 0)
            status = tell(job, at + some < share ? (at + some) * ndev : job->blocks);
    }
    if (status == 0)
        order_add(job->kind, f, all, job->blocks);
    free(all);
    return status;
}

int arrays_order_part(const struct order_job *job, struct order_forest *part)
{
    uint64_t *room = calloc(2 * (size_t)job->kernels->ndev, sizeof *room);
    if (!room)
        return clerror_set(ENOMEM, "%s: no memory", job->caller);
    const uint64_t share = (job->blocks + job->kernels->ndev - 1) / job->kernels->ndev;
    const bool rounds = job->limit || blocks_at_once(job, share) == share;
    part->next = job->before + job->first;
    part->n = 0;
    const int status =
        (rounds ? run_in_rounds : run_shares)(job, part, room, room + job->kernels->ndev);
    free(room);
    return status;
}

int arrays_order_run(const struct order_job *job, struct arrays_total *total)
{
    struct order_forest whole;
    const int status = arrays_order_part(job, &whole);
    if (status == 0)
        *total = arrays_order_total(job->kind, &whole);
    return status;
}
