/* small.h - small products on CPUs, computed by the host without a kernel launch.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_SMALL_H
#define STDCL_MATMUL_SMALL_H

#include <stdbool.h>
#include <stddef.h>

#include <stdcl/matmul.h>

struct matmul;
struct host_product;
struct product;

/* ---- small.c --------------------------------------------------------------------------------- */

/* True if the host may compute small products of an engine: TUNED in its own shapes, on CPUs,
 * without a limit of memory, and without other ranks, whose bits must not depend on how C is
 * divided. */
bool matmul_small_usable(const struct matmul *mm);
const struct small_kernels *matmul_small_kernels(void);

/* True if the host should compute a product of this size; it is usable for the engine. */
bool matmul_small_fits(const struct matmul *mm, size_t m, size_t n, size_t k);

/* Compute a product that fits. No size and not alpha is 0. Blocks. The order of additions depends
 * on the sizes, transpositions and strides of 1, and on the processor's vectors. */
void matmul_small_run(struct matmul *mm, const struct host_product *h);

/* True if the host should compute a product or batch whose operands are in a device's memory. */
bool matmul_small_fits_enqueued(const struct matmul *mm, const struct product *x);

/* Compute it, after all commands in the device's queue. h: the operands of the first product.
 * x->count is 0 for a single product. The products of a batch have the bits of single ones. */
int matmul_small_enqueued(struct matmul *mm, cl_uint dev, const char *call,
                          const struct host_product *h, const struct product *x);

/* Free the engine's threads. */
void matmul_small_free(struct matmul *mm);

/* ---- small_kernel.c -------------------------------------------------------------------------- */

/* A product of host arrays. Element (i, x) of op(A) is a[i a_row + x a_col], (x, j) of op(B) is
 * b[x b_row + j b_col], and (i, j) of C is c[i c_row + j c_col]. */
struct small_product {
    size_t m, n, k, a_row, a_col, b_row, b_col, c_row, c_col;
    double alpha, beta;
    const void *a, *b;
    void *c;
    size_t tile_rows; /* of micro tiles, except the last */
    bool packs;       /* pack B although its rows are contiguous */
};

/* A block of C, which one thread computes. */
struct small_area {
    size_t row, rows, col, cols;
};

typedef void small_part(const struct small_product *p, const struct small_area *area);

/* Kernels of one precision, for vectors of `lanes` elements. They compute an area of C by micro
 * tiles of at most rows_max rows and SMALL_VECTORS vectors (c_col is 1); by dot products, dot_rows
 * rows at a time (n is at most SMALL_DOT_COLS, a_col is 1); or as small_thin.h says. flat and pairs
 * may be NULL. */
struct small_precision {
    size_t lanes;
    small_part *tiles, *dots, *wide, *flat, *pairs;
};

/* Kernels for one set of instructions, by enum matmul_precision. */
struct small_kernels {
    size_t rows_max, dot_rows;
    struct small_precision of[2];
};

/* Depth of a block along k: a panel of B of SMALL_DEPTH fits the first-level cache. */
enum {
    SMALL_VECTORS = 2,
    SMALL_DEPTH = 256,
    SMALL_DOT_COLS = 3,
    SMALL_DOT_DEPTH = 1024,
    SMALL_THIN = 4
};

/* In vectors of any processor, of AVX2 and FMA, or of AVX-512. */
extern const struct small_kernels matmul_small_any, matmul_small_avx2, matmul_small_avx512;

#endif
