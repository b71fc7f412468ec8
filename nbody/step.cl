/* step.cl - what follows the sums over pairs: partial sums joined in a fixed order, then the kicks and
 * drifts of the three integrators.
 *
 *   posm[first + i]                 {x, y, z, G m} of this device's row i (all bodies of all devices)
 *   partial[(s * P + c) * rows + i] what split s found: component c of P
 *   state[c * rows + i]             planes of this device's rows:
 *                                   0-2 acceleration, 3-5 velocity; Hermite also 6-8 jerk, 9-11 position
 *
 * A work-item is one component (global id 1) of one body (global id 0). Rows from `count` on are
 * padding and never move. `bad` holds the number of the first step after which a position or
 * velocity was NaN or infinite.
 */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
#define C(x) ((real)(x))

/* What a launch of leapfrog or hermite does, in this order; any of them may be left out. */
#define SUM 1     /* join the partial sums; else leapfrog takes the acceleration in `state` */
#define FINISH 2  /* the end of a step: closing half kick, corrector */
#define BEGIN 4   /* the start of the next: opening half kick and drift, predictor */

/* Component c of row i, of partial sums with `planes` components. */
static inline real joined(global const real *partial, size_t i, uint rows, uint c, uint planes, uint splits)
{
    real sum = 0;
    for (uint s = 0; s < splits; s++) sum += partial[(s * planes + c) * (size_t)rows + i];
    return sum;
}

static inline void check(real value, global int *bad, int step)
{
    if (!isfinite(value)) atomic_min(bad, step);
}

/* Component c of body i in an array of four-component vectors. */
#define COMPONENT(array, i, c) ((global real *)(array))[4 * (size_t)(i) + (c)]

/* out[c * rows + i] = the sum over splits; global size (rows, planes). */
kernel void join(global const real *partial, global real *out, uint rows, uint splits)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i < rows) out[c * rows + i] = joined(partial, i, rows, c, get_global_size(1), splits);
}

/* Kick-drift-kick. The two half kicks between two drifts are rounded one by one, so that a result does
 * not depend on where a burst ends. `partial` may be `state`, with one split. */
kernel void leapfrog(global real4 *posm, global real *state, global const real *partial, uint first,
                     uint rows, uint count, uint splits, uint phases, real dt, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count) return;
    global real *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    if (phases & SUM) *acc = joined(partial, i, rows, c, 3, splits);
    const real a = *acc;
    real v = *vel;
    if (phases & FINISH) {
        v = fma(dt / 2, a, v);
        check(v, bad, step);
    }
    if (phases & BEGIN) {
        v = fma(dt / 2, a, v);
        const real x = fma(dt, v, COMPONENT(posm, first + i, c));
        COMPONENT(posm, first + i, c) = x;
        check(x, bad, step + 1);
    }
    *vel = v;
}

/* x += v dt + a dt^2 / 2, v += a dt, with the acceleration at the old position. */
kernel void taylor(global real4 *posm, global real *state, global const real *partial, uint first,
                   uint rows, uint count, uint splits, real dt, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count) return;
    global real *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    const real a = joined(partial, i, rows, c, 3, splits), v = *vel;
    const real x = COMPONENT(posm, first + i, c) + dt * fma(dt / 2, a, v);
    *acc = a;
    *vel = fma(dt, a, v);
    COMPONENT(posm, first + i, c) = x;
    check(x, bad, step);
    check(*vel, bad, step);
}

/* Hermite's 4th-order scheme, PEC (Makino & Aarseth 1992). posm and velo hold predicted values, state
 * the corrected ones. */
kernel void hermite(global real4 *posm, global real4 *velo, global real *state,
                    global const real *partial, uint first, uint rows, uint count, uint splits,
                    uint phases, real dt, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count) return;
    global real *acc = state + c * rows + i, *vel = acc + plane, *jrk = vel + plane, *pos = jrk + plane;
    real a = *acc, j = *jrk, x = *pos, v = *vel;
    if (phases & SUM) {
        const real a0 = a, j0 = j;
        a = *acc = joined(partial, i, rows, c, 6, splits);
        j = *jrk = joined(partial, i, rows, c + 3, 6, splits);
        if (phases & FINISH) { /* s2 = dt^2 a(2), s3 = dt^3 a(3) */
            const real s2 = C(-6) * (a0 - a) - dt * (C(4) * j0 + C(2) * j);
            const real s3 = C(12) * (a0 - a) + C(6) * dt * (j0 + j);
            x = COMPONENT(posm, first + i, c) + dt * dt * (s2 / 24 + s3 / 120);
            v = COMPONENT(velo, first + i, c) + dt * (s2 / 6 + s3 / 24);
            *pos = x;
            *vel = v;
            check(x, bad, step);
            check(v, bad, step);
        }
    }
    if (phases & BEGIN) {
        COMPONENT(posm, first + i, c) = x + dt * fma(dt / 2, fma(dt / 3, j, a), v);
        COMPONENT(velo, first + i, c) = v + dt * fma(dt / 2, j, a);
    }
}

/* Puts Hermite's corrected values where the sums over pairs look for them. */
kernel void settle(global real4 *posm, global real4 *velo, global const real *state, uint first,
                   uint rows, uint count)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count) return;
    COMPONENT(posm, first + i, c) = state[3 * plane + c * rows + i];
    COMPONENT(velo, first + i, c) = state[plane + c * rows + i];
}
