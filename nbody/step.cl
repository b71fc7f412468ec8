/* step.cl - what all integrators stand on; the host puts it in front of integrate_NAME.cl.
 *
 *   posm[first + i]                 {x, y, z, G m} of this device's row i (all bodies of all
 *   devices) partial[(s * P + c) * rows + i] what slot s has: component c of P
 *   state[c * rows + i]             planes of this device's rows: 0-2 acceleration, 3-5 velocity;
 *   where the
 *                                   integrator predicts, 6-8 position; then what else it needs
 *
 * A work-item is one component (global id 1) of one body (global id 0); leapfrog's may be a body.
 * Rows from `count` on are padding and never move. `bad` holds the number of the first step after
 * which a position or velocity was NaN or infinite; below 0 a tree had no room, and integrators
 * that trees go with leave bodies where they are.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL
#define NBODY_STEP_CL

/* Products and sums are fused where fma() says so and nowhere else. */
#pragma OPENCL FP_CONTRACT OFF

#ifdef __FAST_RELAXED_MATH__
#error "step.cl: not with -cl-fast-relaxed-math, which may take isfinite() for true"
#endif
#if defined(DOUBLE) ||                                                                             \
    defined(MIXED) /* MIXED: in front of kernels whose `real` is a float, behind it */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
typedef real number; /* of the state, also there */
typedef real4 number4;
#define C(x) ((real)(x))

/* What a launch does, in this order; any of them may be left out. */
#define SUM 1    /* join the partial sums; else the sums in `state` are taken */
#define FINISH 2 /* the end of a step: closing half kick, corrector */
#define BEGIN 4  /* the beginning of the next: opening half kick and drift, predictor */

/* Component c of row i, of partial sums with `planes` components: slots in their order, as
 * direct.cl adds them. */
static inline real joined(global const real *partial, size_t i, uint rows, uint c, uint planes,
                          uint slots)
{
    real sum = partial[c * (size_t)rows + i];
    for (uint s = 1; s < slots; s++)
        sum += partial[(s * planes + c) * (size_t)rows + i];
    return sum;
}

static inline void check(real value, global int *bad, int step)
{
    if (!isfinite(value))
        atomic_min(bad, step);
}

/* Component c of body i in an array of four-component vectors. */
#define COMPONENT(array, i, c) ((global number *)(array))[4 * (size_t)(i) + (c)]

/* out[c * rows + i] = the sum over slots; global size (rows, planes). */
kernel void join(global const real *partial, global real *out, uint rows, uint slots)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i < rows)
        out[c * rows + i] = joined(partial, i, rows, c, get_global_size(1), slots);
}

#endif
