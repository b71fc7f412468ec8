/* draw.h - random draws for initial conditions, the same bits on every machine.
 *
 * Every body has a stream of its own, keyed by (seed, purpose, body), so that a body does not depend
 * on how many others there are. Only + - * / and sqrt are used, which IEEE 754 defines to the last
 * bit; the C library's log, exp, cbrt, sin and cos differ between systems. For the same reason files
 * that include this are compiled without fused multiply-add, see nbody/CMakeLists.txt.
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
    int left; /* doubles not yet taken from block */
};

static inline struct stream stream_of(uint64_t seed, philox_u32 purpose, uint64_t body)
{
    struct stream s = {{(philox_u32)seed, (philox_u32)(seed >> 32)},
                       {0, purpose, (philox_u32)body, (philox_u32)(body >> 32)},
                       {0, 0, 0, 0},
                       0};
    return s;
}

/* Uniform in (0, 1). */
static inline double draw(struct stream *s)
{
    if (s->left-- > 0)
        return philox_double(s->block.z, s->block.w);
    s->block = philox4x32_10(s->counter, s->key[0], s->key[1]);
    s->counter.x++;
    s->left = 1;
    return philox_double(s->block.x, s->block.y);
}

/* Mean 0, variance 1, within 6: the sum of twelve uniforms, short of a Gaussian only in its tails. */
static inline double draw_normal(struct stream *s)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += draw(s);
    return sum - 6;
}

/* A point in the unit circle, not its centre; q = its squared radius. */
static inline void draw_disc(struct stream *s, double *a, double *b, double *q)
{
    do {
        *a = 2 * draw(s) - 1;
        *b = 2 * draw(s) - 1;
        *q = *a * *a + *b * *b;
    } while (*q >= 1 || *q == 0);
}

/* A direction in the plane: cosine and sine of a uniform angle. */
static inline void draw_angle(struct stream *s, double *cosine, double *sine)
{
    double a, b, q;
    draw_disc(s, &a, &b, &q);
    *cosine = a / sqrt(q);
    *sine = b / sqrt(q);
}

/* A vector of the given length in a uniform direction (Marsaglia 1972, Ann. Math. Stat. 43, 645). */
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
static inline double cube_root(double x)
{
    double scale = 1, y = 1;
    for (; x < 0.125; x *= 8)
        scale /= 2;
    for (int i = 0; i < 5; i++)
        y *= (y * y * y + 2 * x) / (2 * (y * y * y) + x);
    return scale * y;
}

#endif
