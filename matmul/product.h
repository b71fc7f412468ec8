/* product.h - a product C = alpha op(A) op(B) + beta C: operands on a device or on the host, blocks
 * of C, and the checks of what a caller gives.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_PRODUCT_H
#define STDCL_MATMUL_PRODUCT_H

#include <stdbool.h>

#include "core/args.h"
#include "stdcl/matmul.h"

/* A matrix in a device's memory: a block from clmalloc, or (block NULL) a buffer on a host array
 * whose address is `skew` bytes past a multiple of 64. Offset and leading dimension are in
 * elements. */
struct operand {
    void *block;
    cl_mem buffer;
    size_t offset, ld, skew;
};

/* A product on one device. m, n, k and alpha are not 0. */
struct product {
    bool trans_a, trans_b;
    size_t m, n, k;
    double alpha, beta;
    struct operand a, b, c;
    /* Of a batch, else 0: the number of products and the strides between their operands. */
    size_t count, step_a, step_b, step_c;
};

/* A product of host arrays, row-major; op() is given by `trans`. */
struct host_product {
    enum matmul_trans trans;
    size_t m, n, k;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t lda, ldb, ldc;
};

/* A block of C. Empty if rows or cols is 0. */
struct area {
    size_t row, rows, col, cols;
};

/* Matrices in memory from clmalloc, as a caller gives them: `count` matrices, `stride` elements
 * apart. */
struct matrices {
    const char *call, *name; /* for error messages */
    const void *x;
    size_t rows, cols, ld, stride, count;
};

static inline bool is_trans_a(enum matmul_trans trans)
{
    return trans == MATMUL_TN || trans == MATMUL_TT;
}

static inline bool is_trans_b(enum matmul_trans trans)
{
    return trans == MATMUL_NT || trans == MATMUL_TT;
}

/* Offset of element (i, j) of op(X), where X is stored with leading dimension ld. */
static inline size_t element_offset(bool trans, size_t ld, size_t i, size_t j)
{
    return trans ? j * ld + i : i * ld + j;
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline struct stdcl_arg operand_arg(const struct operand *o)
{
    return o->block ? ARG_AT(o->block) : ARG_AT(o->buffer);
}

/* Replace leading dimensions of 0 by the number of columns. Return -1 with EINVAL if the sizes,
 * leading dimensions or overlaps of the product are not allowed. `call` is the public function's
 * name, for messages; `real` is bytes of an element. */
int matmul_check(const char *call, size_t real, struct host_product *p);

/* Find the matrices in the engine's context and fill in the operands of x; matrices that the
 * product reads must hold data on device `dev` (clmrequire). Return -1 if the memory is not from
 * that context or is too small, or if a matrix holds no data. */
int matmul_operands_of(const struct matmul *mm, cl_uint dev, const struct matrices *a,
                       const struct matrices *b, const struct matrices *c, struct product *x);

/* Elements from the first to the last of all matrices, gaps included. */
size_t matmul_footprint(const struct matrices *s);

#endif
