/* units.c - powers of two that scale all quantities to about 1.
 *
 * In single precision the Sun's mass in kilogrammes is near the end of the range, and r^3 of an
 * orbit in metres is beyond it. Scaling by powers of two changes no digit: results are as in the
 * caller's units with an unlimited range of exponents.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/round.h"
#include "nbody/particles/body_blocks.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

/* Return e such that 2^e is the smallest power of two above x >= 0; 0 for x = 0. Normal numbers,
 * one per coordinate, need no call of libm. */
static inline int units_exponent(double x)
{
    uint64_t bits;
    int e = 0;
    memcpy(&bits, &x, sizeof bits);
    const int biased = (int)(bits >> (DBL_MANT_DIG - 1));
    if (biased > 0 && biased < 2 * DBL_MAX_EXP - 1)
        return biased - DBL_MAX_EXP + 2;
    if (x > 0)
        (void)frexp(x, &e);
    return e;
}

/* fmax is a call to libm. */
static inline double units_larger(double a, double b)
{
    return b > a ? b : a;
}

/* Maxima over the blocks so far, and the sum of the exponents of coordinates other than 0. */
struct largest {
    double G;
    const double *mass, (*pos)[3], *centre;
    double length, gm;
    long long exponents, coordinates;
    pthread_mutex_t mutex;
};

static void units_scan_block(void *largest, size_t block, size_t first, size_t end)
{
    struct largest *all = largest;
    double length = 0, gm = 0;
    long long exponents = 0, coordinates = 0;
    (void)block;
    for (size_t i = first; i < end; i++) {
        gm = units_larger(gm, all->G * all->mass[i]);
        for (int c = 0; c < 3; c++) {
            const double x = fabs(all->pos[i][c] - all->centre[c]);
            length = units_larger(length, x);
            exponents += units_exponent(x);
            coordinates += x > 0;
        }
    }
    pthread_mutex_lock(&all->mutex);
    all->length = fmax(all->length, length);
    all->gm = fmax(all->gm, gm);
    all->exponents += exponents;
    all->coordinates += coordinates;
    pthread_mutex_unlock(&all->mutex);
}

/* Return by how much to lower the exponent of the length unit where few bodies are very far from
 * all others. The coordinates of the other bodies would otherwise be tiny, and forces between them
 * too large for a float, or softened (nbody_forces_softening). */
static int units_outliers(const struct largest *all)
{
    enum { USUAL = 10, MOST = 20 }; /* MOST <= UNITS_MOST_BITS */
    if (all->coordinates == 0)
        return 0;
    const int beyond = units_exponent(all->length) -
                       (int)floor((double)all->exponents / (double)all->coordinates) - USUAL;
    return beyond < 0 ? 0 : beyond < MOST ? beyond : MOST;
}

static void units_join(void *a, const void *b, void *arg)
{
    struct largest *one = a;
    const struct largest *two = b;
    (void)arg;
    one->length = fmax(one->length, two->length);
    one->gm = fmax(one->gm, two->gm);
    one->exponents += two->exponents;
    one->coordinates += two->coordinates;
}

int nbody_units_choose(stdcl_world *world, double G, size_t n, const double *mass,
                       const double (*pos)[3], const double centre[3], int bits,
                       const struct nbody_field *fields, size_t nfields, struct units *units)
{
    struct largest all = {G, mass, pos, centre, 0, 0, 0, 0, PTHREAD_MUTEX_INITIALIZER};
    nbody_each_block(n, units_scan_block, &all);
    if (world_reduce(world, &all, sizeof all, units_join, NULL) != 0)
        return -1;
    double length = all.length, gm = all.gm;
    for (size_t i = 0; i < nfields; i++) {
        const double s = fields[i].strength;
        gm = fmax(gm, fields[i].kind == NBODY_FIELD_LOGARITHMIC ? s * s * length : G * s);
    }
    struct units u = {units_exponent(length) - (bits ? bits : units_outliers(&all)), 0};
    /* Scale G m 2^(2 time - 3 length) to [1/4, 1). */
    int twice = gm > 0 ? 3 * u.length - units_exponent(gm) : 0;
    u.time = twice >= 0 ? twice / 2 : -((1 - twice) / 2);
    *units = u;
    return 0;
}

static int units_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double units_median(size_t n, double x[])
{
    qsort(x, n, sizeof *x, units_ascending);
    return x[n / 2];
}

/* Distance of a body from a point, in the maximum norm. */
static double units_distance(const double pos[3], const double from[3])
{
    return fmax(fabs(pos[0] - from[0]), fmax(fabs(pos[1] - from[1]), fabs(pos[2] - from[2])));
}

enum { UNITS_SAMPLE = 4097 }; /* bodies for the medians */

/* Collective with slices. Copy the positions of every `apart`-th body, from body 0 on; pos: of this
 * rank's slice. */
static int units_sample(const struct nbody *nb, const double (*pos)[3], size_t count, size_t apart,
                        double x[][3])
{
    const size_t first = nbody_slices_first(nb), end = first + nbody_slices_count(nb);
    for (size_t k = divide_up(first, apart); k < count && k * apart < end; k++)
        memcpy(x[k], pos[k * apart - first], sizeof *x);
    for (int r = 0; nb->domain.slice && r < world_size(nb->world); r++) {
        const size_t from = divide_up(nb->domain.slice[r], apart),
                     to = divide_up(nb->domain.slice[r + 1], apart), last = to < count ? to : count;
        if (from < last && world_broadcast(nb->world, r, x[from], (last - from) * sizeof *x) != 0)
            return -1;
    }
    return 0;
}

struct farthest {
    double distance;
    uint64_t body;
};

static void units_join_farthest(void *a, const void *b, void *arg)
{
    (void)arg;
    if (((const struct farthest *)b)->distance > ((const struct farthest *)a)->distance)
        *(struct farthest *)a = *(const struct farthest *)b;
}

/* Collective with slices. Return the body farthest from a point, the first of several. */
static int units_find_farthest(const struct nbody *nb, const double (*pos)[3],
                               const double centre[3], struct farthest *far)
{
    *far = (struct farthest){0, 0};
    for (size_t k = 0; k < nbody_slices_count(nb); k++) {
        const double d = units_distance(pos[k], centre);
        if (d > far->distance)
            *far = (struct farthest){d, nbody_slices_first(nb) + k};
    }
    return nb->domain.slice ? world_reduce(nb->world, far, sizeof *far, units_join_farthest, NULL)
                            : 0;
}

int nbody_units_check(const struct nbody *nb, const double (*pos)[3])
{
    const double most = nb->precision == NBODY_DOUBLE
                            ? 1e140
                            : 1e15; /* the minimum softenings, 2^-500 and 2^-80, are far below */
    const size_t n = nb->n, count = n < UNITS_SAMPLE ? n : UNITS_SAMPLE;
    double sample[UNITS_SAMPLE][3], x[UNITS_SAMPLE], centre[3];
    struct farthest far;
    if (units_sample(nb, pos, count, n / count, sample) != 0)
        return -1;
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < count; i++)
            x[i] = sample[i][c];
        centre[c] = units_median(count, x);
    }
    for (size_t i = 0; i < count; i++)
        x[i] = units_distance(sample[i], centre);
    const double near = units_median(count, x);
    if (n < 3 || !(near > 0) || ldexp(2, nb->units.length + UNITS_MOST_BITS) <= most * near)
        return 0; /* no two bodies are farther apart */
    if (units_find_farthest(nb, pos, centre, &far) != 0)
        return -1;
    if (far.distance <= most * near)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody_create: body %zu lies %.3g from the middle of the bodies, of which half lie within %.3g: %s precision "
        "cannot hold both; leave it out%s",
        nbody_number(nb, far.body), far.distance, near,
        nb->precision == NBODY_DOUBLE  ? "double"
        : nb->precision == NBODY_MIXED ? "mixed"
                                       : "single",
        nb->precision == NBODY_DOUBLE ? "" : ", or take double precision");
}

double nbody_units_factor(const struct units *u, int l, int t)
{
    return ldexp(1.0, l * u->length + t * u->time);
}
