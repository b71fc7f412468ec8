/* external_field.cl - external fields about the origin; the host prepends step.cl.
 *
 *   fields[f] = {0, G M, a^2, 0}    Plummer's sphere, a point if a = 0:
 *                                   Phi = -G M / (r^2 + a^2)^1/2
 *               {1, v^2, c^2, 0}    logarithmic: Phi = v^2 / 2 ln(1 + r^2 / c^2)
 *
 * With d^2 = r^2 + a^2 the acceleration is s x, where s is -G M / d^3 or -v^2 / d^2, and its
 * derivative s (v - k (x v) / d^2 x) with k = 3 or 2. Scalar reference: nbody_ref_field.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "../integrator/step.cl"
#endif

/* Return the factor s of a field at distance r; *d2 = d^2, *phi = its potential. */
static inline real field_factor(global const real *f, real r2, real *d2, real *phi)
{
    *d2 = r2 + f[2];
    *phi = 0;
    if (!(*d2 > 0))
        return 0; /* at the point itself */
    if (f[0] != 0) {
        *phi = f[1] / 2 * log1p(r2 / f[2]);
        return -f[1] / *d2;
    }
    const real d = sqrt(*d2);
    *phi = -f[1] / d;
    return -f[1] / (*d2 * d);
}

/* Return the potential of all fields for a body; *virial: x times their acceleration. */
static inline real field_potential(global const real *fields, uint nfields, real4 x, real *virial)
{
    const real r2 = fma(x.x, x.x, fma(x.y, x.y, x.z * x.z));
    real all = 0, d2, phi;
    *virial = 0;
    for (uint f = 0; f < nfields; f++) {
        *virial += r2 * field_factor(fields + 4 * f, r2, &d2, &phi);
        all += phi;
    }
    return all;
}

/* Return the potential of all fields for a body; *a, *j: their acceleration and its derivative. */
static inline real field_pull(global const real *fields, uint nfields, real4 x, real4 v, real4 *a,
                              real4 *j)
{
    const real r2 = fma(x.x, x.x, fma(x.y, x.y, x.z * x.z)),
               xv = fma(x.x, v.x, fma(x.y, v.y, x.z * v.z));
    real potential = 0, d2, phi;
    *a = *j = 0;
    for (uint f = 0; f < nfields; f++) {
        const real s = field_factor(fields + 4 * f, r2, &d2, &phi);
        const real q = d2 > 0 ? (fields[4 * f] != 0 ? C(-2) : C(-3)) * xv / d2 : C(0);
        potential += phi;
        *a += s * x;
        *j += s * (v + q * x);
    }
    return potential;
}

/* Return the second derivative of a, for a body with acceleration w: s (w + 2 q' v + (k (v v +
 * x w) - 2 q' (x v) / d^2 + q'^2) x) with k = -3 / d^2 or -2 / d^2 and q' = k (x v). */
static inline real4 field_snap(global const real *fields, uint nfields, real4 x, real4 v, real4 w)
{
    const real r2 = fma(x.x, x.x, fma(x.y, x.y, x.z * x.z)),
               xv = fma(x.x, v.x, fma(x.y, v.y, x.z * v.z));
    const real y =
        fma(v.x, v.x, fma(v.y, v.y, v.z * v.z)) + fma(x.x, w.x, fma(x.y, w.y, x.z * w.z));
    real4 snap = 0;
    real d2, phi;
    for (uint f = 0; f < nfields; f++) {
        const real s = field_factor(fields + 4 * f, r2, &d2, &phi),
                   k = d2 > 0 ? (fields[4 * f] != 0 ? C(-2) : C(-3)) / d2 : C(0);
        const real q = k * xv;
        if (d2 > 0)
            snap += s * (w + 2 * q * v + (k * y - 2 * q * xv / d2 + q * q) * x);
    }
    return snap;
}

/* Store the fields' contribution as partial sum number `which_partial` of a sum with `planes`
 * components: 1: potential; 3: acceleration; 6: with jerk, which needs velo; 9: with its
 * derivative, which needs acce. */
kernel void field(global const real4 *posm, global const real4 *velo, global const real4 *acce,
                  global real *out, uint first, uint rows, uint count, uint which_partial,
                  uint planes, global const real *fields, uint nfields)
{
    const size_t i = get_global_id(0);
    if (i >= count)
        return;
    global real *at = out + (size_t)which_partial * planes * rows + i;
    real4 a, j;
    const real potential = field_pull(fields, nfields, posm[first + i], velo[first + i], &a, &j);
    real4 s = 0;
    if (planes == 9)
        s = field_snap(fields, nfields, posm[first + i], velo[first + i], acce[first + i]);
    const real nine[9] = {planes == 1 ? potential : a.x, a.y, a.z, j.x, j.y, j.z, s.x, s.y, s.z};
    for (uint c = 0; c < planes; c++)
        at[c * (size_t)rows] = nine[c];
}
