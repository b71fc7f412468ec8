/* tangent_sums.h - growth of a tangent vector, summed over the steps for MEGNO (Cincotta & Simo
 * 2000, A&AS 147, 205) and the largest Lyapunov exponent. C and OpenCL C compile this file.
 *
 * The includer defines WH_NUMBER, the number of a system: double, or a vector with one system per
 * lane; and WH_SELECT(which, a, b).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_TANGENT_SUMS_H
#define STDCL_NBODY_TANGENT_SUMS_H

/* Sums over the steps: the square of the tangent vector's norm; time; integrals of MEGNO and of its
 * mean; logarithm of the growth; weight of velocities in the norm; time from the state to the
 * slots. */
enum { WH_NORM2, WH_TIME, WH_MEGNO, WH_MEAN, WH_GROWTH, WH_WEIGHT, WH_AHEAD, WH_SUMS };

/* Add the growth to norm2, the square of the norm, in a step of dt: MEGNO is 2/t times the integral
 * of t d(ln norm). sums: `stride` apart. Return the factor by which the caller multiplies the
 * tangent vector, so that it does not overflow. */
static inline WH_NUMBER tangent_add_growth(WH_NUMBER norm2, double dt, WH_NUMBER *sums,
                                           size_t stride)
{
    const WH_NUMBER growth = 0.5 * log(norm2 / sums[WH_NORM2 * stride]),
                    zero = 0 * sums[WH_WEIGHT * stride],
                    scale = WH_SELECT(norm2 > 0x1p200, zero + 0x1p-100, zero + 1);
    sums[WH_TIME * stride] += fabs(dt);
    sums[WH_MEGNO * stride] += sums[WH_TIME * stride] * growth;
    sums[WH_MEAN * stride] += 2 * sums[WH_MEGNO * stride] / sums[WH_TIME * stride] * fabs(dt);
    sums[WH_GROWTH * stride] += growth;
    sums[WH_NORM2 * stride] = norm2 * scale * scale;
    return scale;
}

#endif
