/* start.h - start a product: on a device by kind, path or library, or on the host.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_START_H
#define STDCL_MATMUL_START_H

#include "matmul/device.h"

/* Enqueue a product on a device, by the engine's kind and the shape that is chosen for it. k and
 * alpha may be 0. */
int matmul_start(struct matmul *mm, struct matmul_device *p, const struct product *x);

/* Enqueue a product by tiles, by panels or by skinny.cl; the device's shape is chosen. */
int matmul_gpu_start(struct matmul *mm, struct matmul_device *p, const struct product *x);
int matmul_cpu_start(struct matmul *mm, struct matmul_device *p, const struct product *x);
int matmul_skinny_start(struct matmul *mm, struct matmul_device *p, const struct matmul_shape *s,
                        const struct product *x);

/* Enqueue a batch of x->count products in one launch. */
int matmul_gpu_start_batch(struct matmul *mm, struct matmul_device *p, const struct product *x);
int matmul_cpu_start_batch(struct matmul *mm, struct matmul_device *p, const struct product *x);

/* Return the alignment of the rows of A and B. */
enum alignment matmul_gpu_alignment(const struct matmul *mm, const struct product *x);

/* Enqueue a product by the kernels of NAIVE and BLOCKED. */
int matmul_baseline_start(struct matmul *mm, struct matmul_device *p, const struct product *x);

/* Compute a product by CLBlast. Block until it is done. */
int matmul_clblast_start(struct matmul *mm, struct matmul_device *p, const struct product *x);

/* Free the programs that CLBlast caches. They must go before the OpenCL drivers do. */
void matmul_clblast_clear_cache(void);

/* Compute a product of host arrays, by the engine's kind. */
int matmul_host_run(struct matmul *mm, const struct host_product *p);

/* Compute C = beta C, the product for k = 0 or alpha = 0. */
void matmul_host_scale(const struct matmul *mm, const struct host_product *p);

#endif
