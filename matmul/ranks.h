/* ranks.h - products of several ranks. All functions but matmul_ranks_release_host, _fix_shape and
 * _unload are collective.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_RANKS_H
#define STDCL_MATMUL_RANKS_H

#include "matmul/product.h"

/* Compute a product whose matrices are distributed by slabs of rows. */
int matmul_ranks_multiply(struct matmul *mm, const struct host_product *p);

/* Compute a product of matrices that are not in memory: A, B, C. */
int matmul_ranks_multiply_out_of_core(struct matmul *mm, const struct host_product *p,
                                      const struct matmul_out_of_core *const matrices[3]);

/* Gather the panels that this rank's block of C needs. *h becomes the product that computes the
 * block. Its arrays stay until matmul_ranks_unload, or matmul_ranks_release_host if the devices
 * have copies. */
int matmul_ranks_load(struct matmul *mm, struct host_product *h);
void matmul_ranks_release_host(struct matmul *mm);
void matmul_ranks_unload(struct matmul *mm);

/* Set mm->shape_mnk before a product of loaded matrices (on), clear it afterwards. */
void matmul_ranks_fix_shape(struct matmul *mm, bool on);

/* Transfer C from the slabs to the ranks' blocks, or back. `copy` transfers a block between this
 * rank's host memory and its devices. */
int matmul_ranks_result(struct matmul *mm, void *c, size_t ldc, bool to_blocks,
                        int (*copy)(struct matmul *mm, void *c, size_t ldc));

#endif
