/* engine.h - what the files of the gas engine share.
 *
 *   shape.c     how a kernel is launched on a device: rows of data
 *   kernels.c   a kernel on all devices of a context
 *   order.c     runs a kernel over all blocks and joins what they leave, in the fixed order
 *   sums.c      sums of arrays
 *   gas.c       a gas: made, measured, freed
 *   draw.c      velocities, histograms
 *   tune.c      what a search for better shapes needs
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_ENGINE_H
#define STDCL_GAS_ENGINE_H

#include <stdbool.h>

#include "core/args.h"
#include "stdcl/gas.h"

enum {
    BLOCK_LANES = 64,
    BLOCK_ROWS = 32,
    BLOCK_STRIPS = 16,
    BLOCK = BLOCK_LANES * BLOCK_ROWS * BLOCK_STRIPS
};

/* ---- shape.c ---------------------------------------------------------------------------------- */

/* The numbers that shape a launch: -D options of the kernel, in capitals, sizes on the host, and the label
 * of a benchmark, all at once. */
#define GAS_SHAPE_KEYS(X)                                                                                    \
    X(group, "work-items of a group, a power of two; 1 on CPUs")                                             \
    X(width, "lanes of a vector: 1, 2, 4, 8 or 16")                                                          \
    X(unroll, "rows of a strip that an item has in flight: 1 to 32, a power of two")                         \
    X(chunk, "log2 of the blocks of one launch, of a gas that is not stored")                                \
    X(groups, "work-groups in all, of GAS_TREE")

struct gas_shape {
#define X(key, text) int key;
    GAS_SHAPE_KEYS(X)
#undef X
};

/* Chooses the shape of kernel `name` on device `dev`: the store's row for a problem of n elements, then the
 * caller's words (may be NULL). EINVAL for an unknown word or for numbers that do not go together. */
int gas_shape_choose(struct gas_shape *shape, char label[256], char reason[320], CLCONTEXT *ctx, cl_uint dev,
                     const char *name, size_t n, const char *words);

/* ---- kernels.c -------------------------------------------------------------------------------- */

struct kernels_on { /* one device */
    struct gas_shape shape;
    char label[256], reason[320];
    void *program;
    bool owner; /* of the program; else an earlier device of the same shape is */
    bool cpu;   /* shares zero-copy memory with the host, so that results need no sync */
    cl_kernel kernel;
};
struct kernels {
    CLCONTEXT *ctx;
    cl_uint ndev;
    struct kernels_on *on; /* ndev of them */
};

/* The kernels' files, in the order in which they are put in front of each other. */
enum source {
    SOURCE_ORDER = 1,
    SOURCE_MAXWELL = 2,
    SOURCE_FUSED = 4,
    SOURCE_SUM = 8,
    SOURCE_DRAW = 16,
    SOURCE_TREE = 32
};

/* Chooses shapes of `row` for n elements on all devices; builds nothing yet. */
int gas_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n, const char *words);

/* Builds kernel `name` from the files in `sources`, with `options` besides those of the shape; values are
 * those of the template. */
int gas_kernels_open(struct kernels *k, const char *name, unsigned sources, const char *options,
                     const clvalue_t *values);
void gas_kernels_close(struct kernels *k);

/* ---- order.c ---------------------------------------------------------------------------------- */

__extension__ typedef __int128 gas_integer;

/* How partial sums look on the device, and are joined. */
enum gas_wide { WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG };
enum gas_joining { JOIN_ADD, JOIN_PAIRS, JOIN_HALVES, JOIN_LEAST, JOIN_GREATEST };
struct gas_partial {
    enum gas_wide wide;
    enum gas_joining joining;
};
size_t gas_partial_bytes(struct gas_partial p);

/* A sum on the host; `integer` holds those of integers, value + error the others. */
struct gas_total {
    double value, error;
    gas_integer integer;
};

/* A tree of sums, neighbours joined first, that takes one leaf after the other, `count` of them at a time. */
struct order_tree {
    struct gas_partial kind;
    uint64_t leaves;
    struct gas_total stack[64];
};
void gas_order_add(struct order_tree *tree, const void *partial, uint64_t count);
struct gas_total gas_order_total(struct order_tree *tree);
double gas_total_value(struct gas_partial kind, const struct gas_total *total);

/* Which blocks of `blocks` device d of ndev has. */
static inline uint64_t share_start(uint64_t blocks, cl_uint dev, cl_uint ndev)
{
    return blocks / ndev * dev + blocks % ndev * dev / ndev;
}
static inline uint64_t blocks_of(uint64_t n)
{
    return n / BLOCK + (n % BLOCK != 0);
}

/* Runs kernels over all `blocks` of n elements, a work-group each, and joins what they leave. The first three arguments of a
 * kernel are partial, first and n; `rest` follows. limit: blocks a device and launch at most, 0 = all at
 * once, and then each device keeps its share. partial[ndev] are blocks of memory that grow as needed. */
struct order_job {
    const struct kernels *kernels;
    struct gas_partial kind;
    uint64_t n, blocks, limit;
    void **partial;
    cl_uint nrest;
    const struct stdcl_arg *rest; /* at most 8 */
    int (*told)(void *arg, uint64_t done);
    void *arg;
};
int gas_order_run(const struct order_job *job, struct gas_total *total);

/* ---- sums.c ----------------------------------------------------------------------------------- */

enum sums_op { OP_SUM, OP_DOT, OP_ENERGY, OP_DEVIATE, OP_LEAST, OP_GREATEST, OPS };

/* Runs an operation on arrays x, y, z (those it has). `n` elements; mean is for OP_DEVIATE. */
int gas_sums_run(gas_sums *s, enum sums_op op, const void *x, const void *y, const void *z, size_t n,
                 double mean, struct gas_total *total, struct gas_partial *kind);

/* The context to use when the caller named none; NULL with ENODEV. */
CLCONTEXT *gas_sums_context(CLCONTEXT *ctx);

static inline size_t type_bytes(enum gas_type type)
{
    return type == GAS_FLOAT || type == GAS_INT ? 4 : 8;
}

#endif
