/* shape.h - launch shapes of reductions: the tuning keys and the choice of a shape (shape.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_SHAPE_H
#define STDCL_ARRAYS_SHAPE_H

#include "arrays/blocks.h"

enum { SMALL_MOST = 24 }; /* log2 of the elements that the host may sum */

/* The tuning keys: X(key, min, max, default, meaning). Each key is a -D option of the kernel, in
 * capitals, a launch parameter of the host and a word of the shape's label. The defaults are for
 * devices without tuning entries and are small enough for any device. */
#define ARRAYS_SHAPE_KEYS(X)                                                                       \
    X(group, 1, 1 << 20, 1, "work-items of a group, a power of two; 1 on CPUs")                    \
    X(width, 1, 16, 4, "lanes of a vector, a power of two")                                        \
    X(unroll, 1, BLOCK_ROWS, 1, "rows of a strip in flight for an item, a power of two")           \
    X(launch_blocks, 0, 24, 8, "log2 of the maximum of blocks in a launch")                        \
    X(groups, 1, 1 << 20, 64, "total work-groups of ARRAYS_TREE")                                  \
    X(host, 0, SMALL_MOST, 22,                                                                     \
      "on CPUs: log2 of the elements up to which the host sums them itself; 0: never")

struct arrays_shape {
#define X(key, least, most, value, text) int key;
    ARRAYS_SHAPE_KEYS(X)
#undef X
};

/* Choose the shape of kernel `name` on device `dev`: the tuning entry for n elements, changed by
 * the caller's words (may be NULL). Fill in *shape, and *row with the shape as text and its source.
 * Return -1 with EINVAL for an unknown word or a contradiction. */
int arrays_shape_choose(struct arrays_shape *shape, struct cltune_row *row, CLCONTEXT *ctx,
                        cl_uint dev, const char *name, size_t n, const char *words);

/* True if a search should try a shape: vectors are for CPUs, groups for GPUs. */
bool arrays_shape_suits(const char *shape, const struct cldev_info *info);

#endif
