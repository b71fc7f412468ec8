/* kernels.h - a kernel on all devices of a context, built in the shape of each device (kernels.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_KERNELS_H
#define STDCL_ARRAYS_KERNELS_H

#include "arrays/shape.h"
#include "core/args.h"
#include "core/embedded.h"
#include "core/pace.h"

/* A kernel on one device. */
struct device_kernel {
    struct arrays_shape shape;
    struct cltune_row row; /* the shape as text, and its source */
    void *program;
    bool owner; /* of program; else an earlier device of equal shape is */
    /* Shares zero-copy memory with the host: results need no sync. */
    bool cpu;
    cl_kernel kernel;
};

/* Kernels of the context's devices first_dev ... first_dev + ndev - 1; functions with a `dev` count
 * from first_dev. */
struct kernels {
    CLCONTEXT *ctx;
    cl_uint first_dev, ndev;
    struct device_kernel *device; /* ndev of them */
    bool unaligned;               /* arrays may start at any element */
    struct pace pace;             /* in blocks of each device */
    int keep;                     /* CLLD_CACHE: cache the programs on disk; else 0 */
};

/* The text that precedes every kernel of the fixed-order reduction. */
EMBEDDED(fixed_reduce_text, "arrays/fixed_reduce.h", arrays_fixed_reduce_h);

/* An address at which every device can start a buffer, at most 127 bytes before an array, and the
 * number of elements of `bytes` bytes from there to the array. */
struct array_start {
    const void *base;
    cl_uint first;
};
struct array_start arrays_start_of(CLCONTEXT *ctx, const void *x, size_t bytes);

/* Return ctx, or a default context if it is NULL. NULL with ENODEV if there is no device. */
CLCONTEXT *arrays_context(CLCONTEXT *ctx);

/* Return the name of a default context, which messages add to "this context"; else "". Static. */
const char *arrays_context_words(const CLCONTEXT *ctx);

/* Set *all to true if ndev devices from first_dev on have double precision. Return -1 if a device
 * query fails. */
int arrays_have_doubles(CLCONTEXT *ctx, cl_uint first_dev, cl_uint ndev, bool *all);

/* Choose the shape of tuning entry `row` for n elements on k's devices, or if k has none, on all of
 * the context. Builds nothing. */
int arrays_kernels_shape(struct kernels *k, CLCONTEXT *ctx, const char *row, size_t n,
                         const char *words);

/* Build kernel `name` from `file`, preceded by the files `front`, with `options` besides the
 * shape's. If `values` is not NULL the file is a template and has no front. */
int arrays_kernels_open(struct kernels *k, const char *name, const char *options,
                        const struct embedded *file, size_t nfront,
                        const struct embedded *const front[], const clvalue_t *values);

void arrays_kernels_close(struct kernels *k);

#endif
