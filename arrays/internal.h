/* internal.h - what the files of the arrays share.
 *
 *   arrays.c    kernels for arrays of one type: made, freed; shares of devices
 *   sums.c      sums, dot products, extremes, means
 *   small.c     small ones of them on the host, with reduce_host.c
 *   tune.c      what a search for better shapes needs
 *   blocks.h    shapes, kernels on all devices, the fixed order
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_INTERNAL_H
#define STDCL_ARRAYS_INTERNAL_H

#include "arrays/blocks.h"

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
    struct kernels kernels[OPS]; /* those that were needed */
    void **partial;              /* ndev of them */
    struct thread_pool *team;           /* of small.c; NULL: was not needed yet */
};

/* Checks that x has n elements, and these are at least `least`. EINVAL, EFAULT with the name of the
 * call. */
int arrays_check(const arrays *a, const char *call, const void *x, size_t n, size_t least);

/* ---- reduce_host.c
 * -------------------------------------------------------------------------------- */

/* An operation on arrays x, y, z (where it has one alone, all are that one) of n elements; the mean
 * is for OP_DEVIATE. */
struct strips_job {
    enum sums_op op;
    const void *x, *y, *z;
    size_t n;
    double mean;
    void *partial; /* what a kernel leaves of each block: fixed_reduce.c reads them */
};

/* Adds up one block of a job. */
typedef void strips_work(const struct strips_job *job, size_t block);

/* What leaves partial sums of this kind, by vectors that any processor has, or by AVX2 and FMA, or
 * AVX-512; NULL: nothing does. */
strips_work *arrays_strips_any(enum arrays_type type, struct arrays_partial kind);
strips_work *arrays_strips_avx2(enum arrays_type type, struct arrays_partial kind);
strips_work *arrays_strips_avx512(enum arrays_type type, struct arrays_partial kind);

/* ---- small.c --------------------------------------------------------------------------------- */

/* An operation on arrays x, y, z (those it has) of n elements; the mean is for OP_DEVIATE. */
struct small_sum {
    enum sums_op op;
    struct arrays_partial kind;
    const void *x, *y, *z;
    size_t n;
    double mean;
};

/* Whether the host is the one to add it up; the operation's shape is chosen. And its sum, with the
 * same bits as by kernels. */
bool arrays_small_fits(const arrays *a, const struct small_sum *s);
int arrays_small_sum(arrays *a, const struct small_sum *s, struct arrays_total *total);
void arrays_small_free(arrays *a);

#endif
