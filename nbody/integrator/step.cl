/* step.cl - common part of the integrators' kernels; the host prepends it to integrate_NAME.cl.
 *
 *   posm[first + i]                 {x, y, z, G m} of body i of this device
 *   partial[(s * P + c) * rows + i] partial sum s: component c of P
 *   state[c * rows + i]             planes: 0-2 acceleration, 3-5 velocity; 6-8 position if the
 *                                   integrator predicts; then its other quantities
 *
 * A work-item is one component (global id 1) of one body (global id 0); for leapfrog it may be a
 * whole body. Bodies from `count` on are padding and never move. `bad` holds the number of the
 * first step that made a position or velocity NaN or infinite. Below 0, a buffer of the tree
 * overflowed, and integrators that support the tree leave bodies unchanged.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL
#define NBODY_STEP_CL

/* Products and sums are fused only where fma() is written. */
#pragma OPENCL FP_CONTRACT OFF

#ifdef __FAST_RELAXED_MATH__
#error "step.cl: not with -cl-fast-relaxed-math, which may take isfinite() for true"
#endif
/* MIXED: real here; float in direct_mixed.cl, which follows. */
#if defined(DOUBLE) || defined(MIXED)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
typedef real number; /* a number of the state, also in direct_mixed.cl */
typedef real4 number4;
#define C(x) ((real)(x))

/* Phases of an update, in this order; any may be left out. */
#define REDUCE 1     /* add the partial sums; otherwise `state` has the total */
#define KICK_CLOSE 2 /* end of a step: closing half kick, corrector */
#define KICK_DRIFT 4 /* begin of the next: opening half kick and drift, predictor */

/* Component c of body i, added over its partial sums in order, as in direct.cl. */
static inline real partial_total(global const real *partial, size_t i, uint rows, uint c,
                                 uint planes, uint npartial)
{
    real sum = partial[c * (size_t)rows + i];
    for (uint s = 1; s < npartial; s++)
        sum += partial[(s * planes + c) * (size_t)rows + i];
    return sum;
}

static inline void check_finite(real value, global int *bad, int step)
{
    if (!isfinite(value))
        atomic_min(bad, step);
}

/* Component c of body i in an array of four-component vectors. */
#define COMPONENT(array, i, c) ((global number *)(array))[4 * (size_t)(i) + (c)]

/* out[c * rows + i] = total of the partial sums; global size (rows, planes). */
kernel void reduce_partials(global const real *partial, global real *out, uint rows, uint npartial)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i < rows)
        out[c * rows + i] = partial_total(partial, i, rows, c, get_global_size(1), npartial);
}

#endif
