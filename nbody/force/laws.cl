/* laws.cl - built-in forces. This file is C11 for the host (added_forces.c) and OpenCL C for
 * devices, with step.cl before it (added_forces.cl).
 *
 *   p[0]         kind of the force, enum law
 *   p[1] ...     its parameters in engine units, where G is 1: masses are G m, angles radians
 *
 * A law adds the acceleration of a body to a[3] and returns its potential, per unit mass; 0 where
 * there is none. Laws of a source body act back on the source, so that momentum is conserved, and
 * the pair's whole potential belongs to the other body.
 * SPDX-License-Identifier: MIT
 */
#ifdef __OPENCL_VERSION__
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "../integrator/step.cl"
#endif
#define GLOBAL global
#define PRIVATE private /* plain pointers are generic from OpenCL 2.0 on, arrays are not */
#else
#include <math.h>
#define GLOBAL
#define PRIVATE
#define C(x) (x)
typedef double real;
typedef unsigned uint;
#endif

/* Kinds of forces, and numbers of an entry of their table. */
enum law {
    LAW_NFW,
    LAW_MIYAMOTO_NAGAI,
    LAW_LOGARITHMIC,
    LAW_POINT,
    LAW_ORBIT,
    LAW_RELATIVITY,
    LAW_OBLATE,
    LAW_MASS_LOSS,
    LAW_RADIATION,
    LAW_NEWHALL, /* newhall.c, on the host only */
    LAW_FILE,    /* a function of the user (added_kernel.c) */
    LAWS
};
enum { LAW_NUMBERS = 16 };

/* The bodies: posm[4 j + c] is coordinate c of body j, and posm[4 j + 3] its G m. */
struct law_bodies {
    GLOBAL const real *posm;
    uint n;
};

/* Position of body i and its velocity; time. */
struct law_place {
    real x[3], v[3], time;
    real source_v[3]; /* velocity of the law's source body */
    uint i;
};

static inline real law_dot(const real a[3], const real b[3])
{
    return a[0] * b[0] + (a[1] * b[1] + a[2] * b[2]);
}

/* Add f times d to a. */
static inline void law_pull(real a[3], real f, const real d[3])
{
    a[0] += f * d[0];
    a[1] += f * d[1];
    a[2] += f * d[2];
}

/* ---- Potentials about the origin. ------------------------------------------------------------ */

/* Return ln(1 + u) - u / (1 + u): by its series where the terms cancel. */
static inline real law_nfw_mass(real u)
{
    if (u > C(0.1))
        return log1p(u) - u / (1 + u);
    real sum = 0, power = u * u;
    for (int k = 0; k < 16; k++, power *= -u)
        sum += power * ((real)(k + 1) / (real)(k + 2));
    return sum;
}

/* Navarro, Frenk & White (1997, ApJ 490, 493): p = M, r_s with M = 4 pi rho_0 r_s^3. */
static inline real law_nfw(GLOBAL const real *p, PRIVATE const struct law_place *at, real a[3])
{
    const real r = sqrt(law_dot(at->x, at->x)), u = r / p[2];
    if (!(r > 0))
        return -p[1] / p[2];
    law_pull(a, -p[1] * law_nfw_mass(u) / (r * r * r), at->x);
    return -p[1] * log1p(u) / r;
}

/* Miyamoto & Nagai (1975, PASJ 27, 533): p = M, a, b. */
static inline real law_miyamoto(GLOBAL const real *p, PRIVATE const struct law_place *at, real a[3])
{
    const real z = at->x[2], root = sqrt(z * z + p[3] * p[3]), height = p[2] + root,
               d2 = at->x[0] * at->x[0] + at->x[1] * at->x[1] + height * height, d = sqrt(d2),
               f = -p[1] / (d2 * d);
    a[0] += f * at->x[0];
    a[1] += f * at->x[1];
    a[2] += f * z * (root > 0 ? height / root : C(1));
    return -p[1] / d;
}

/* v^2 / 2 ln(1 + (x^2 + y^2 + z^2 / q^2) / r^2): p = v, r, q. */
static inline real law_logarithmic(GLOBAL const real *p, PRIVATE const struct law_place *at,
                                   real a[3])
{
    const real q2 = p[3] * p[3],
               s2 = at->x[0] * at->x[0] + at->x[1] * at->x[1] + at->x[2] * at->x[2] / q2,
               f = -p[1] * p[1] / (p[2] * p[2] + s2);
    a[0] += f * at->x[0];
    a[1] += f * at->x[1];
    a[2] += f * at->x[2] / q2;
    return p[1] * p[1] / 2 * log1p(s2 / (p[2] * p[2]));
}

/* ---- Points on a given path. ----------------------------------------------------------------- */

/* A point of mass gm with softening eps at d from the body. */
static inline real law_point(real gm, real eps, const real d[3], real a[3])
{
    const real r2 = law_dot(d, d) + eps * eps, r = sqrt(r2);
    if (!(r2 > 0))
        return 0;
    law_pull(a, gm / (r2 * r), d);
    return -gm / r;
}

/* On a straight line: p = M, eps, position at time 0, velocity. */
static inline real law_moving(GLOBAL const real *p, PRIVATE const struct law_place *at, real a[3])
{
    real d[3];
    for (int c = 0; c < 3; c++)
        d[c] = p[3 + c] + p[6 + c] * at->time - at->x[c];
    return law_point(p[1], p[2], d, a);
}

/* Solve Kepler's equation E - e sin E = M, by Newton's method from a start above the root. */
static inline real law_kepler(real M, real e)
{
    const real turn = C(6.28318530717958647692), m = M - turn * floor(M / turn + C(0.5));
    real E = m + (m < 0 ? -e : e);
    for (int k = 0; k < 12; k++)
        E -= (E - e * sin(E) - m) / (1 - e * cos(E));
    return E;
}

/* On an ellipse about the origin: p = M, eps, mean motion, mean anomaly at time 0, e, and the two
 * half axes as vectors. */
static inline real law_orbit(GLOBAL const real *p, PRIVATE const struct law_place *at, real a[3])
{
    const real E = law_kepler(p[4] + p[3] * at->time, p[5]);
    real d[3];
    for (int c = 0; c < 3; c++)
        d[c] = p[6 + c] * (cos(E) - p[5]) + p[9 + c] * sin(E) - at->x[c];
    return law_point(p[1], p[2], d, a);
}

/* ---- Forces of a source body. ---------------------------------------------------------------- */

/* Relativity as a potential -3 (G M / (c r))^2, which turns pericentres as the first order beyond
 * Newton does (Nobili & Roxburgh 1986): p = body, c. */
static inline real law_relativity(GLOBAL const real *p, real gm, const real d[3], real a[3])
{
    const real r2 = law_dot(d, d), phi = -3 * gm * gm / (p[2] * p[2] * r2);
    if (!(r2 > 0))
        return 0;
    law_pull(a, 2 * phi / r2, d);
    return phi;
}

/* Oblate body: p = body, R, J2, J4, and its axis, a unit vector. The potential of order l is
 * G M / r J_l (R / r)^l P_l(s), where s is the sine of the latitude. */
static inline real law_oblate(GLOBAL const real *p, real gm, const real d[3], real a[3])
{
    const real axis[3] = {p[5], p[6], p[7]}, r2 = law_dot(d, d);
    if (!(r2 > 0))
        return 0;
    const real r = sqrt(r2), s = law_dot(d, axis) / r, s2 = s * s, k2 = p[2] * p[2] / r2,
               two = p[3] * k2, four = p[4] * k2 * k2, f = gm / (r2 * r);
    const real P2 = (3 * s2 - 1) / 2, P4 = ((35 * s2 - 30) * s2 + 3) / 8, D2 = 3 * s,
               D4 = (35 * s2 - 15) * s / 2; /* derivatives by s */
    law_pull(a, f * (two * (3 * P2 + s * D2) + four * (5 * P4 + s * D4)), d);
    law_pull(a, -f * r * (two * D2 + four * D4), axis);
    return gm / r * (two * P2 + four * P4);
}

/* The source has lost the fraction 1 - exp(-t / tau) of its mass: p = body, 1 / tau, eps^2. */
static inline real law_mass_loss(GLOBAL const real *p, PRIVATE const struct law_place *at, real gm,
                                 const real d[3], real a[3])
{
    const real lost = -gm * expm1(-at->time * p[2]), r2 = law_dot(d, d) + p[3], r = sqrt(r2);
    if (!(r2 > 0))
        return 0;
    law_pull(a, lost / (r2 * r), d);
    return lost / r;
}

/* Radiation pressure beta G M / r^2 with Poynting-Robertson drag (Burns, Lamy & Soter 1979, Icarus
 * 40, 1) on bodies p[4] to p[5]: p = body, beta, 1 / c (0: without drag), first, last. */
static inline real law_radiation(GLOBAL const real *p, PRIVATE const struct law_place *at, real gm,
                                 const real d[3], real a[3])
{
    const real r2 = law_dot(d, d), r = sqrt(r2), f = p[2] * gm / r2;
    if (!(r2 > 0) || (real)at->i < p[4] || (real)at->i > p[5])
        return 0;
    real v[3];
    for (int c = 0; c < 3; c++)
        v[c] = at->v[c] - at->source_v[c];
    law_pull(a, f * (1 - law_dot(d, v) / r * p[3]) / r, d);
    law_pull(a, -f * p[3], v);
    return p[2] * gm / r;
}

/* Force of the source, of G m `gm`, on a body at d from it. */
static inline real law_of_source(GLOBAL const real *p, PRIVATE const struct law_place *at, real gm,
                                 const real d[3], real a[3])
{
    switch ((int)p[0]) {
    case LAW_RELATIVITY:
        return law_relativity(p, gm, d, a);
    case LAW_OBLATE:
        return law_oblate(p, gm, d, a);
    case LAW_MASS_LOSS:
        return law_mass_loss(p, at, gm, d, a);
    default:
        return law_radiation(p, at, gm, d, a);
    }
}

static inline void law_apart(PRIVATE const struct law_bodies *b, uint i, uint from, real d[3])
{
    for (uint c = 0; c < 3; c++)
        d[c] = b->posm[4 * i + c] - b->posm[4 * from + c];
}

/* Reaction of all bodies on the source, in their order. */
static inline void law_react(GLOBAL const real *p, PRIVATE const struct law_bodies *b,
                             PRIVATE const struct law_place *at, real a[3])
{
    const real gm = b->posm[4 * at->i + 3];
    for (uint j = 0; j < b->n && gm > 0; j++) {
        real d[3], own[3] = {0, 0, 0};
        if (j == at->i || !(b->posm[4 * j + 3] > 0))
            continue;
        law_apart(b, j, at->i, d);
        (void)law_of_source(p, at, gm, d, own);
        law_pull(a, -b->posm[4 * j + 3] / gm, own);
    }
}

/* ---- All laws. ------------------------------------------------------------------------------- */

static inline real law_add(GLOBAL const real *p, PRIVATE const struct law_bodies *b,
                           PRIVATE const struct law_place *at, real a[3])
{
    const uint source = (uint)p[1];
    real d[3];
    switch ((int)p[0]) {
    case LAW_NFW:
        return law_nfw(p, at, a);
    case LAW_MIYAMOTO_NAGAI:
        return law_miyamoto(p, at, a);
    case LAW_LOGARITHMIC:
        return law_logarithmic(p, at, a);
    case LAW_POINT:
        return law_moving(p, at, a);
    case LAW_ORBIT:
        return law_orbit(p, at, a);
    default:
        break;
    }
    if (source != at->i) {
        law_apart(b, at->i, source, d);
        return law_of_source(p, at, b->posm[4 * source + 3], d, a);
    }
    if ((int)p[0] == LAW_RELATIVITY || (int)p[0] == LAW_OBLATE)
        law_react(p, b, at, a);
    return 0;
}
