/* blocks.h - kernels that visit arrays block by block, and sums in the fixed order. The gas is
 * built on it too.
 *
 *   shape.c     how a kernel is launched on a device: rows of data
 *   kernels.c   a kernel on all devices of a context
 *   fixed_reduce.c     runs a kernel over all blocks and joins what they leave, in the fixed order
 *   reduce.c    the kernel of sums and extremes
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_BLOCKS_H
#define STDCL_ARRAYS_BLOCKS_H

#include <stdbool.h>

#include "core/args.h"
#include "core/embedded.h"
#include "core/pace.h"
#include "stdcl/arrays.h"

enum {
    BLOCK_LANES = 64,
    BLOCK_ROWS = 32,
    BLOCK_STRIPS = 16,
    BLOCK = BLOCK_LANES * BLOCK_ROWS * BLOCK_STRIPS
};

/* ---- shape.c --------------------------------------------------------------------------------- */

enum { SMALL_MOST = 24 };

/* The numbers that shape a launch: X(key, least, most, default, what it means). They are -D options
 * of the kernel, in capitals, sizes on the host, and the label of a benchmark, all at once. The
 * defaults hold when the store knows nothing of a device: small enough for any. */
#define ARRAYS_SHAPE_KEYS(X)                                                                       \
    X(group, 1, 1 << 20, 1, "work-items of a group, a power of two; 1 on CPUs")                    \
    X(width, 1, 16, 4, "lanes of a vector, a power of two")                                        \
    X(unroll, 1, BLOCK_ROWS, 1, "rows of a strip that an item has in flight, a power of two")      \
    X(chunk, 0, 24, 8,                                                                             \
      "log2 of the blocks of one launch, where there are more than a launch takes")                \
    X(groups, 1, 1 << 20, 64, "work-groups in all, of ARRAYS_TREE")                                \
    X(host, 0, SMALL_MOST, 22,                                                                     \
      "on CPUs: log2 of the elements up to which the host adds them up; 0: never")

struct arrays_shape {
#define X(key, least, most, value, text) int key;
    ARRAYS_SHAPE_KEYS(X)
#undef X
};

/* Chooses the shape of kernel `name` on device `dev`: the store's row for a problem of n elements,
 * then the caller's words (may be NULL). Fills *shape, and *row with the same as a line of words
 * and where it comes from. EINVAL for an unknown word or for numbers that do not go together. */
int arrays_shape_choose(struct arrays_shape *shape, struct cltune_row *row, CLCONTEXT *ctx,
                        cl_uint dev, const char *name, size_t n, const char *words);

/* Whether a search should try a shape: vectors suit CPUs, and groups GPUs. */
bool arrays_shape_suits(const char *shape, const struct cldev_info *info);

/* ---- kernels.c ------------------------------------------------------------------------------- */

/* The context to use when the caller named none; NULL with ENODEV. */
CLCONTEXT *arrays_context(CLCONTEXT *ctx);

/* Tells whether all its devices have double precision; -1 when one does not answer. */
int arrays_have_doubles(CLCONTEXT *ctx, bool *all);

struct kernels_on { /* one device */
    struct arrays_shape shape;
    struct cltune_row row; /* the shape as a line of words, and where it comes from */
    void *program;
    bool owner; /* of the program; else an earlier device of the same shape is */
    bool cpu;   /* shares zero-copy memory with the host, so that results need no sync */
    cl_kernel kernel;
};
struct kernels {
    CLCONTEXT *ctx;
    cl_uint ndev;
    struct kernels_on *on; /* ndev of them */
    struct pace pace;      /* in blocks of each device */
    int keep;              /* CLLD_CACHE: what is built is stored for the next process; else 0 */
};

/* In front of all kernels that add up blocks. */
EMBEDDED(order_text, "arrays/fixed_reduce.h", arrays_fixed_reduce_h);

/* Chooses shapes of `row` for n elements on all devices; builds nothing yet. */
int arrays_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n,
                         const char *words);

/* Builds kernel `name` from `file`, behind the files that it is built on, with `options` besides
 * those of the shape. `values`, else NULL: the file is a template, which has nothing in front. */
int arrays_kernels_open(struct kernels *k, const char *name, const char *options,
                        const struct embedded *file, size_t nfront,
                        const struct embedded *const front[], const clvalue_t *values);
void arrays_kernels_close(struct kernels *k);

/* ---- fixed_reduce.c
 * --------------------------------------------------------------------------------- */

__extension__ typedef __int128 arrays_integer;

/* How partial sums look on the device, and are joined. */
enum arrays_wide { WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG };
enum arrays_joining { JOIN_ADD, JOIN_PAIRS, JOIN_HALVES, JOIN_LEAST, JOIN_GREATEST };
struct arrays_partial {
    enum arrays_wide wide;
    enum arrays_joining joining;
};

/* A sum on the host; `integer` holds those of integers, value + error the others. */
struct arrays_total {
    double value, error;
    arrays_integer integer;
};
double arrays_total_value(struct arrays_partial kind, const struct arrays_total *total);

/* Sums of consecutive blocks, first ... next - 1, as far as they are complete subtrees of the fixed
 * order: those of neighbouring parts are joined to those of the whole, with the same bits as if all
 * had been summed in one go. */
enum { ORDER_SUBTREES = 128 };
struct order_subtree {
    uint64_t first, level; /* of the blocks first ... first + 2^level - 1 */
    struct arrays_total total;
};
struct order_forest {
    uint64_t next, n;
    struct order_subtree tree[ORDER_SUBTREES];
};

/* Which blocks of `blocks` device d of ndev has. */
static inline uint64_t share_start(uint64_t blocks, cl_uint dev, cl_uint ndev)
{
    return blocks / ndev * dev + blocks % ndev * dev / ndev;
}
static inline uint64_t blocks_of(uint64_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}
static inline size_t type_bytes(enum arrays_type type)
{
    return type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
}

/* Runs kernels over `blocks` of n elements from `first` on, a work-group each, and joins what they
 * leave. The first three arguments of a kernel are partial, first and n; `rest` follows. limit:
 * blocks a device and launch at most, 0 = as many as take no longer than a launch should
 * (core/pace.h), and then each device keeps its share; with `uncut`, all at once. partial[ndev] are
 * blocks of memory that grow as needed. progress, which may be NULL, hears how many elements are
 * done; non-zero ends it with ECANCELED. */
struct order_job {
    struct kernels *kernels;
    struct arrays_partial kind;
    uint64_t n, first, blocks,
        limit;       /* first: of the blocks, which are first ... first + blocks - 1 */
    uint64_t before; /* blocks of others, which the order has before these n elements */
    bool uncut;
    void **partial;
    cl_uint nrest;
    const struct stdcl_arg *rest; /* at most 8 */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    const char *caller, *elements; /* in the message of ECANCELED: "gas", "molecules" */
};
int arrays_order_run(const struct order_job *job, struct arrays_total *total);

/* Joins what kernels left, or what was left as if they had, of the blocks 0 ... blocks - 1. */
void arrays_order_sum(struct arrays_partial kind, const void *partial, uint64_t blocks,
                      struct arrays_total *total);

/* The same for a part of the blocks. _join adds a part to those before it, and _total is the sum of
 * all. */
int arrays_order_part(const struct order_job *job, struct order_forest *part);
void arrays_order_join(struct arrays_partial kind, struct order_forest *whole,
                       const struct order_forest *part);
struct arrays_total arrays_order_total(struct arrays_partial kind,
                                       const struct order_forest *whole);

/* ---- reduce.c -------------------------------------------------------------------------------- */

enum sums_op { OP_SUM, OP_DOT, OP_SQUARES, OP_DEVIATE, OP_LEAST, OP_GREATEST, OPS };

/* What an operation's partial sums are; `doubles`: all devices have double precision. */
struct arrays_partial arrays_reduce_kind(enum arrays_type type, enum arrays_accumulator accumulator,
                                         bool doubles, enum sums_op op);

/* The name of its row in the store. */
void arrays_reduce_row(enum arrays_type type, enum sums_op op, char row[64]);

/* Builds its kernel; the shape is chosen. */
int arrays_reduce_open(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                       enum sums_op op);

/* Completes a job that has kernels, kind, n, partial, progress and messages, and runs it on arrays
 * x, y, z (those that the operation has); the mean is for OP_DEVIATE. */
int arrays_reduce_part(struct order_job *job, const void *x, const void *y, const void *z,
                       double mean, struct order_forest *part);

#endif
