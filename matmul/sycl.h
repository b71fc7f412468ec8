/* sycl.h - the C interface of sycl.cpp.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_SYCL_H
#define STDCL_MATMUL_SYCL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Compute C = alpha op(A) op(B) + beta C of host arrays, in tiles of block x block, on the device
 * that SYCL selects. Block until it is done. Return -1 with a message in why[size] on failure. */
int matmul_sycl_run(int doubles, int trans_a, int trans_b, size_t m, size_t n, size_t k,
                    double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                    void *c, size_t ldc, size_t block, char *why, size_t size);

#ifdef __cplusplus
}
#endif
#endif
