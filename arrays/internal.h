/* internal.h - the object for arrays of one type, and small sums on the host.
 *
 *   arrays.c       create and free; partition among devices
 *   sums.c         sums, dot products, extremes, means
 *   start.c        results left on the device
 *   extremes.c     places of extremes
 *   small.c        small sums on the host, by reduce_host.c
 *   tune.c         kernels for the search of tuning entries
 *   reduce.h       the fixed-order reduction
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_INTERNAL_H
#define STDCL_ARRAYS_INTERNAL_H

#include "arrays/reduce.h"

struct arrays {
    CLCONTEXT *ctx;
    cl_uint first_dev, ndev; /* devices of the context */
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    bool doubles; /* all devices have double precision */
    char *shape;  /* the caller's words, or NULL */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    /* Built on first use: for arrays that start where a device can start a buffer; for others. */
    struct kernels kernels[2][OPS];
    cl_kernel join[2][OPS];   /* of the single device of start.c; NULL until needed */
    void **partial;           /* ndev of them */
    void *tree;               /* of start.c, or NULL */
    struct thread_pool *team; /* threads of small.c; NULL until needed */
};

/* Check that x has n elements, that n is at least `least`, and that the devices' images hold data;
 * the image of a single device is copied to the others. Return -1 with EINVAL or EFAULT and the
 * name of the call. */
int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least);

/* Return 0 if every device can start a buffer at x, 1 if not, -1 on failure. */
int arrays_is_unaligned(const arrays *a, const char *call, const void *x);

/* ---- sums.c ---------------------------------------------------------------------------------- */

extern const char *const arrays_type_names[];

/* Check the object and the address of the result. */
int arrays_check_handles(const arrays *a, const char *call, const void *result);

struct arrays_partial arrays_partial_of(const arrays *a, enum reduce_op op);

/* Choose the shape of an operation for its input, and build its kernel. Return the kernels, NULL on
 * failure. */
struct kernels *arrays_op_kernels(arrays *a, enum reduce_op op, const struct reduce_input *in);
struct kernels *arrays_op_open(arrays *a, enum reduce_op op, const struct reduce_input *in);

/* Run an operation on n > 0 elements. */
int arrays_op_reduce(arrays *a, enum reduce_op op, const struct reduce_input *in,
                     struct arrays_total *total);

/* ---- reduce_host.c --------------------------------------------------------------------------- */

/* An operation on arrays x, y, z of n elements; unused ones repeat x. */
struct reduce_host_job {
    enum reduce_op op;
    const void *x, *y, *z;
    size_t n;
    struct arrays_mean mean;
    void *partial; /* one partial sum a block, as a kernel stores it */
};

/* Reduce one block of a job. */
typedef void reduce_host_block(const struct reduce_host_job *job, size_t block);

/* Return the function for this kind of partial sums, in vectors of any processor, of AVX2 and FMA,
 * or of AVX-512. NULL: there is none. */
reduce_host_block *arrays_reduce_host_any(enum arrays_type type, struct arrays_partial kind);
reduce_host_block *arrays_reduce_host_avx2(enum arrays_type type, struct arrays_partial kind);
reduce_host_block *arrays_reduce_host_avx512(enum arrays_type type, struct arrays_partial kind);

/* ---- small.c --------------------------------------------------------------------------------- */

/* True if the host should compute the result itself; k: the operation's kernels, whose shape is
 * chosen. It has the same bits as by kernels. */
bool arrays_small_fits(const arrays *a, const struct kernels *k, struct arrays_partial kind,
                       const struct reduce_input *in);
int arrays_small_sum(arrays *a, const struct kernels *k, enum reduce_op op,
                     const struct reduce_input *in, struct arrays_total *total);

/* True if all devices share an array's memory with the host. */
bool arrays_is_host_memory(const struct kernels *k, const void *array);
void arrays_small_free(arrays *a);

#endif
