/* stream.h - products of host arrays, pipelined: panels are transferred while others are
 * multiplied.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_MATMUL_STREAM_H
#define STDCL_MATMUL_STREAM_H

#include "matmul/product.h"

/* Source of panels that arrive one after the other (ranks.c). Devices' threads call it. */
struct matmul_panel_source {
    void *arg;
    size_t panels, depth;           /* panels of the product; maximum depth of a panel */
    double work_total, work_before; /* multiply-adds of the call, and of its earlier products */
    /* Block until a panel is there, and fill in k, a, lda, b and ldb. Return 1 to end the
     * product. */
    int (*wait)(void *arg, size_t panel, struct host_product *from);
    void (*release)(void *arg, size_t panel); /* the device has read the panel */
    void (*abort)(void *arg);                 /* a device ends before the product does */
};

/* Compute a product of host arrays on all devices, or on the host. Block until it is done. With a
 * `source` (else NULL) panels come from there, and each device keeps its whole block of C, which
 * must fit (matmul_stream_fit). */
int matmul_stream(struct matmul *mm, const struct host_product *p,
                  const struct matmul_panel_source *source);

/* Shrink a block of C and the depth of panels until they fit in the memory of all devices. */
int matmul_stream_fit(struct matmul *mm, size_t *rows, size_t *cols, size_t *depth);

#endif
