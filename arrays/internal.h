/* internal.h - the object for arrays of one type, and small sums on the host.
 *
 *   arrays.c       create and free; partition among devices
 *   sums.c         sums, dot products, extremes, means
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
    cl_uint ndev;
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    bool doubles; /* all devices have double precision */
    char *shape;  /* the caller's words, or NULL */
    int (*progress)(void *arg, uint64_t done);
    void *arg;
    struct kernels kernels[OPS]; /* built on first use */
    void **partial;              /* ndev of them */
    struct thread_pool *team;    /* threads of small.c; NULL until needed */
};

/* Check that x has n elements, that n is at least `least`, and that the devices' images hold data;
 * the image of a single device is copied to the others. Return -1 with EINVAL or EFAULT and the
 * name of the call. */
int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least);

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

/* An operation on arrays x, y, z of n elements; unused ones repeat x. */
struct small_sum {
    enum reduce_op op;
    struct arrays_partial kind;
    const void *x, *y, *z;
    size_t n;
    struct arrays_mean mean;
};

/* True if the host should compute the sum itself; the operation's shape is chosen. The sum has the
 * same bits as by kernels. */
bool arrays_small_fits(const arrays *a, const struct small_sum *s);
int arrays_small_sum(arrays *a, const struct small_sum *s, struct arrays_total *total);
void arrays_small_free(arrays *a);

#endif
