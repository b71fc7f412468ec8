/* draw.h - random draws for initial conditions, the same bits on every machine.
 *
 * Every body has a stream of its own, keyed by (seed, purpose, body), so that it does not depend on
 * the number of bodies. The functions use only + - * / and sqrt, which IEEE 754 defines to the last
 * bit, and frexp and ldexp, which are exact; the C library's log, exp, cbrt, sin and cos differ
 * between systems. For the same reason files that include this one are compiled without fused
 * multiply-add, see nbody/CMakeLists.txt.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_DRAW_H
#define STDCL_NBODY_DRAW_H

#include <math.h>
#include <stdint.h>

#include "stdcl/philox.h"

struct stream {
    philox_u32 key[2];
    philox4 counter; /* x: block, y: purpose, z and w: body */
    philox4 block;
    int left; /* doubles left in block */
};

static inline struct stream draw_stream(uint64_t seed, philox_u32 purpose, uint64_t body)
{
    struct stream s = {{(philox_u32)seed, (philox_u32)(seed >> 32)},
                       {0, purpose, (philox_u32)body, (philox_u32)(body >> 32)},
                       {0, 0, 0, 0},
                       0};
    return s;
}

/* Uniform in (0, 1). */
static inline double draw_uniform(struct stream *s)
{
    if (s->left-- > 0)
        return philox_double(s->block.z, s->block.w);
    s->block = philox4x32_10(s->counter, s->key[0], s->key[1]);
    s->counter.x++;
    s->left = 1;
    return philox_double(s->block.x, s->block.y);
}

/* The natural logarithm of x > 0: x = m 2^e, log m = 2 artanh((m - 1) / (m + 1)) with m near 1. */
static inline double draw_logarithm(double x)
{
    int e;
    double m = frexp(x, &e), sum = 0;
    if (m < 0.70710678118654752) {
        m *= 2;
        e--;
    }
    const double t = (m - 1) / (m + 1), t2 = t * t; /* at most 0.172 */
    for (int k = 21; k > 0; k -= 2)
        sum = sum * t2 + 1.0 / k;
    return e * 0.69314718055994531 + 2 * t * sum;
}

/* e^x for x <= 0: Taylor series within half of log 2 about 0. */
static inline double draw_exponential(double x)
{
    if (x < -700)
        return 0;
    const int e = (int)(x / 0.69314718055994531 - 0.5);
    const double t = x - e * 0.69314718055994531;
    double sum = 1;
    for (int k = 16; k > 0; k--)
        sum = 1 + t / k * sum;
    return ldexp(sum, e);
}

/* A point in the unit circle, except its centre; q: its squared radius. */
static inline void draw_disc(struct stream *s, double *a, double *b, double *q)
{
    do {
        *a = 2 * draw_uniform(s) - 1;
        *b = 2 * draw_uniform(s) - 1;
        *q = *a * *a + *b * *b;
    } while (*q >= 1 || *q == 0);
}

/* Mean 0, variance 1, Gaussian (Marsaglia & Bray 1964, SIAM Review 6, 260). */
static inline double draw_normal(struct stream *s)
{
    double a, b, q;
    draw_disc(s, &a, &b, &q);
    return a * sqrt(-2 * draw_logarithm(q) / q);
}

/* A direction in the plane: cosine and sine of a uniform angle. */
static inline void draw_angle(struct stream *s, double *cosine, double *sine)
{
    double a, b, q;
    draw_disc(s, &a, &b, &q);
    *cosine = a / sqrt(q);
    *sine = b / sqrt(q);
}

/* A vector of the given length in a uniform direction (Marsaglia 1972, Ann. Math. Stat. 43,
 * 645). */
static inline void draw_vector(struct stream *s, double length, double out[3])
{
    double a, b, q;
    draw_disc(s, &a, &b, &q);
    double f = 2 * sqrt(1 - q);
    out[0] = length * (a * f);
    out[1] = length * (b * f);
    out[2] = length * (1 - 2 * q);
}

/* The cube root of 0 < x <= 1: Halley's iteration, which triples the correct digits. */
static inline double draw_cube_root(double x)
{
    double scale = 1, y = 1;
    for (; x < 0.125; x *= 8)
        scale /= 2;
    for (int i = 0; i < 5; i++)
        y *= (y * y * y + 2 * x) / (2 * (y * y * y) + x);
    return scale * y;
}

#endif
