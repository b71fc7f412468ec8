/* reduce.h - the fixed-order reduction on the host's side: partial sums of blocks, their reduction
 * as a binary tree (fixed_reduce.c), and the kernel of sums and extremes (reduce.c). The gas uses
 * it too.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_REDUCE_H
#define STDCL_ARRAYS_REDUCE_H

#include "arrays/kernels.h"

__extension__ typedef __int128 arrays_integer;

/* The type of a partial sum and the operation that joins two. JOIN_PAIRS: value and rounding error;
 * JOIN_HALVES: low and high halves of long integers. */
enum arrays_wide { WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG };
enum arrays_join_op { JOIN_ADD, JOIN_PAIRS, JOIN_HALVES, JOIN_MIN, JOIN_MAX };
struct arrays_partial {
    enum arrays_wide wide;
    enum arrays_join_op join;
};

/* A sum on the host: `integer` of integers, value + error of floating-point numbers. Of an extreme,
 * `error` is the number of the first block that has it. */
struct arrays_total {
    double value, error;
    arrays_integer integer;
};
size_t arrays_partial_bytes(struct arrays_partial p);
double arrays_total_value(struct arrays_partial kind, const struct arrays_total *total);

/* Sums of consecutive blocks, up to next - 1, as complete subtrees of the fixed order, at most two
 * a level. Joining the forests of neighbouring parts gives the same bits as one reduction. */
enum { FOREST_SUBTREES = 128 };
struct reduce_subtree {
    uint64_t first, level; /* of the blocks first ... first + 2^level - 1 */
    struct arrays_total total;
};
struct reduce_forest {
    uint64_t next, n;
    struct reduce_subtree tree[FOREST_SUBTREES];
};

/* A reduction of `blocks` blocks of n elements, from block `first` on, one work-group a block. The
 * first three arguments of the kernel are partial, first and n; `rest` follows.
 * limit: maximum of blocks for a device and launch; 0: as many as take the time of a slice
 * (core/pace.h), and each device then keeps its partition. uncut: all blocks in one launch.
 * partial[ndev]: memory for partial sums, which grows as needed.
 * progress (may be NULL) receives the number of reduced elements; non-zero cancels with
 * ECANCELED. */
struct reduce_job {
    struct kernels *kernels;
    enum arrays_type type; /* of the arrays of arrays_reduce_part */
    struct arrays_partial kind;
    uint64_t n, first, blocks, limit;
    uint64_t before; /* blocks of other ranks that precede these n elements */
    bool uncut;
    void **partial;
    cl_uint nrest;
    const struct stdcl_arg *rest; /* at most 8 */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    const char *caller, *elements; /* for the message of ECANCELED: "gas", "molecules" */
};

/* Run a job and reduce its partial sums in the fixed order. */
int arrays_fixed_reduce(const struct reduce_job *job, struct arrays_total *total);

/* Run a job and reduce its partial sums into a forest, for a part of an array. */
int arrays_fixed_reduce_part(const struct reduce_job *job, struct reduce_forest *part);

/* Append the forest of the next part to those before it; return the sum of a complete forest. */
void arrays_fixed_reduce_join(struct arrays_partial kind, struct reduce_forest *whole,
                              const struct reduce_forest *part);
struct arrays_total arrays_fixed_reduce_total(struct arrays_partial kind,
                                              const struct reduce_forest *whole);

/* Reduce partial sums of the blocks 0 ... blocks - 1 that are in memory. */
void arrays_fixed_reduce_blocks(struct arrays_partial kind, const void *partial, uint64_t blocks,
                                struct arrays_total *total);

/* ---- The kernel of sums and extremes. -------------------------------------------------------- */

/* The mean of OP_DEVIATIONS and OP_OFFSETS: an unevaluated sum, more precise than a double. */
struct arrays_mean {
    double high, low;
};

enum reduce_op { OP_SUM, OP_DOT, OP_SQUARES, OP_DEVIATIONS, OP_MIN, OP_MAX, OP_OFFSETS, OPS };

/* Return the type and join of an operation's partial sums. doubles: all devices have double
 * precision. */
struct arrays_partial arrays_reduce_kind(enum arrays_type type, enum arrays_accumulator accumulator,
                                         bool doubles, enum reduce_op op);

/* Write the name of the operation's tuning entry. */
void arrays_reduce_row(enum arrays_type type, enum reduce_op op, char row[64]);

/* Build the operation's kernel; its shape is chosen. */
int arrays_reduce_open(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                       bool doubles, enum reduce_op op);

/* Arrays of an operation, which have n elements; unused ones repeat x. */
struct reduce_input {
    const void *x, *y, *z;
    size_t n;
    struct arrays_mean mean;
};

/* Complete a job that has kernels, kind, n, partial, progress and messages, and run it. */
int arrays_reduce_part(struct reduce_job *job, const struct reduce_input *in,
                       struct reduce_forest *part);

/* Enqueue the operation on the only device of k, for a result in device memory, and return. tree:
 * device memory of arrays_reduce_tree_bytes bytes. join: kernel join_blocks of k. */
int arrays_reduce_start(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                        const struct reduce_input *in, cl_kernel join, void *tree,
                        const void *result);
size_t arrays_reduce_tree_bytes(struct arrays_partial kind, uint64_t n);

/* Enqueue kernel find_value of an extreme on one device: write the number of the first element of
 * block `block` with this value to *place, memory of 8 bytes. */
int arrays_reduce_find(struct kernels *k, cl_uint dev, enum arrays_type type, cl_kernel find,
                       const struct arrays_total *value, const struct reduce_input *in,
                       const void *place);

#endif
