/* units.c - powers of two that bring all quantities near 1.
 *
 * In single precision the Sun's mass in kilogrammes is near the end of the range, and r^3 of an orbit in
 * metres is beyond it. Scaling by powers of two changes no digit: the results are those of the caller's
 * units, as if the range of exponents had no end.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

/* The power of two above a number; 0 for 0. */
static int exponent(double x)
{
    int e = 0;
    if (x > 0)
        (void)frexp(x, &e);
    return e;
}

struct units nbody_units_choose(double G, size_t n, const double *mass, const double (*pos)[3], const double centre[3], int bits,
                                const struct nbody_field *fields, size_t nfields)
{
    double length = 0, gm = 0;
    for (size_t i = 0; i < n; i++) {
        gm = fmax(gm, G * mass[i]);
        for (int c = 0; c < 3; c++)
            length = fmax(length, fabs(pos[i][c] - centre[c]));
    }
    for (size_t i = 0; i < nfields; i++) {
        const double s = fields[i].strength;
        gm = fmax(gm, fields[i].kind == NBODY_FIELD_LOGARITHMIC ? s * s * length : G * s);
    }
    struct units u = {exponent(length) - bits, 0};
    /* G m 2^(2 time - 3 length) is to be in [1/4, 1). */
    int twice = gm > 0 ? 3 * u.length - exponent(gm) : 0;
    u.time = twice >= 0 ? twice / 2 : -((1 - twice) / 2);
    return u;
}

double nbody_units_factor(const struct units *u, int l, int t)
{
    return ldexp(1.0, l * u->length + t * u->time);
}
