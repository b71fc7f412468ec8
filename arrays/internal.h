/* internal.h - what the files of the arrays share.
 *
 *   arrays.c    kernels for arrays of one type: made, freed; shares of devices
 *   sums.c      sums, dot products, extremes, means
 *   tune.c      what a search for better shapes needs
 *   blocks.h    shapes, kernels on all devices, the fixed order
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_INTERNAL_H
#define STDCL_ARRAYS_INTERNAL_H

#include "arrays/blocks.h"

enum sums_op { OP_SUM, OP_DOT, OP_SQUARES, OP_DEVIATE, OP_LEAST, OP_GREATEST, OPS };

struct arrays {
    CLCONTEXT *ctx;
    cl_uint ndev;
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    bool doubles;                /* all devices have double precision */
    char *shape;                 /* the caller's words, or NULL */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    struct kernels kernels[OPS]; /* those that were needed */
    void **partial;              /* ndev of them */
};

/* Checks that x has n elements, and these are at least `least`. EINVAL, EFAULT with the name of the call. */
int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least);

#endif
