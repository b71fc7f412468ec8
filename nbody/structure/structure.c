/* structure.c - structure of a cluster: density centre, core, Lagrange radii, shells, escapers,
 * binaries.
 *
 * Densities by the sixth neighbour (Casertano & Hut 1985, ApJ 298, 80): the mass of the five bodies
 * inside over the volume of the sphere through the sixth.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/structure/neighbours.h"
#include "nbody/structure/structure.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

struct system {
    size_t n;
    double G;
    const double *mass;
    const double (*pos)[3], (*vel)[3];
    const double *potential;
    double total;
    struct neighbours *near;
    struct place *place; /* by distance from the centre */
};

struct place {
    double r;
    size_t body;
};

static double square_between(const double a[3], const double b[3])
{
    double s = 0;
    for (int k = 0; k < 3; k++)
        s += (a[k] - b[k]) * (a[k] - b[k]);
    return s;
}

/* ---- The centre. ----------------------------------------------------------------------------- */

/* Return 0 if there are too few bodies. The upper bound is reached by bodies at one place. */
static double structure_density(const struct system *y, size_t i)
{
    const struct neighbours *near = &y->near[i];
    double mass = 0;
    if (near->n < NEIGHBOURS)
        return 0;
    for (int k = 0; k < NEIGHBOURS - 1; k++)
        mass += y->mass[near->body[k]];
    const double r2 = near->square[NEIGHBOURS - 1], volume = 4.18879020478639098 * r2 * sqrt(r2);
    return fmin(mass / fmax(volume, 1e-100), 1e100);
}

/* Mean position and velocity, weighted by density, or by mass if there are no densities. */
static void structure_find_centre(const struct system *y, struct nbody_structure *s)
{
    double all = 0, squares = 0, far = 0;
    const bool dense = y->n > NEIGHBOURS;
    for (size_t i = 0; i < y->n; i++) {
        const double weight = dense ? structure_density(y, i) : y->mass[i];
        all += weight;
        for (int k = 0; k < 3; k++) {
            s->centre[k] += weight * y->pos[i][k];
            s->velocity[k] += weight * y->vel[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        s->centre[k] /= all;
        s->velocity[k] /= all;
    }
    for (size_t i = 0; dense && i < y->n; i++) {
        const double rho = structure_density(y, i);
        squares += rho * rho;
        far += rho * rho * square_between(y->pos[i], s->centre);
    }
    s->core_radius = squares > 0 ? sqrt(far / squares) : 0;
}

/* ---- Shells. --------------------------------------------------------------------------------- */

static int structure_by_radius(const void *a_, const void *b_)
{
    const struct place *a = a_, *b = b_;
    return a->r > b->r ? 1 : a->r < b->r ? -1 : (a->body > b->body) - (a->body < b->body);
}

static void structure_sort_places(const struct system *y, const double centre[3])
{
    for (size_t i = 0; i < y->n; i++)
        y->place[i] = (struct place){sqrt(square_between(y->pos[i], centre)), i};
    qsort(y->place, y->n, sizeof *y->place, structure_by_radius);
}

/* Number of nearest bodies that hold this fraction of the mass; at least one. */
static size_t structure_count_within(const struct system *y, double fraction)
{
    double mass = 0;
    size_t i = 0;
    while (i < y->n && (i == 0 || mass < fraction * y->total * (1 - 1e-12)))
        mass += y->mass[y->place[i++].body];
    return i;
}

/* A single body, or several with equal velocity, have no dispersion; rounding is cut off. */
void structure_shell(struct nbody_shell *shell, size_t bodies, double mass, double radial,
                     double radial2, double across2)
{
    const double mean = radial / mass, difference = radial2 / mass - mean * mean,
                 spread =
                     bodies > 1 && difference > 8 * DBL_EPSILON * radial2 / mass ? difference : 0;
    shell->mean_mass = bodies ? mass / (double)bodies : NAN;
    shell->radial = sqrt(spread);
    shell->tangential = sqrt(across2 / mass / 2);
    shell->anisotropy = spread > 0 ? 1 - across2 / mass / 2 / spread : NAN;
}

double structure_relaxation(size_t n, double gm, double r)
{
    const double N = (double)n;
    return 0.11 * N > 1 ? 0.138 * N * r * sqrt(r) / (sqrt(gm) * log(0.11 * N)) : NAN;
}

/* Measure the shell of the bodies from .. end - 1 by distance. */
static void structure_measure_shell(const struct system *y, const struct nbody_structure *s,
                                    size_t from, size_t end, struct nbody_shell *shell)
{
    double mass = 0, radial = 0, radial2 = 0, across2 = 0;
    for (size_t i = from; i < end; i++) {
        const size_t b = y->place[i].body;
        double v2 = 0, vr = 0;
        for (int k = 0; k < 3; k++) {
            const double v = y->vel[b][k] - s->velocity[k];
            v2 += v * v;
            vr += y->place[i].r > 0 ? v * (y->pos[b][k] - s->centre[k]) / y->place[i].r : 0;
        }
        mass += y->mass[b];
        radial += y->mass[b] * vr;
        radial2 += y->mass[b] * vr * vr;
        across2 += y->mass[b] * fmax(v2 - vr * vr, 0);
    }
    structure_shell(shell, end - from, mass, radial, radial2, across2);
    shell->radius = y->place[end - 1].r;
}

static void structure_measure_shells(const struct system *y, struct nbody_structure *s,
                                     size_t shells, struct nbody_shell *shell)
{
    size_t from = 0;
    for (size_t k = 0; k < shells; k++) {
        const size_t end = structure_count_within(y, shell[k].fraction);
        structure_measure_shell(y, s, from, end, &shell[k]);
        from = end;
    }
    s->half_mass_radius = y->place[structure_count_within(y, 0.5) - 1].r;
    s->relaxation_time = structure_relaxation(y->n, y->G * y->total, s->half_mass_radius);
}

/* ---- Escapers and binaries. ------------------------------------------------------------------ */

static size_t structure_count_escapers(const struct system *y, const struct nbody_structure *s)
{
    size_t escapers = 0;
    for (size_t i = 0; y->potential && i < y->n; i++) {
        const size_t b = y->place[i].body;
        escapers += y->place[i].r > s->half_mass_radius &&
                    square_between(y->vel[b], s->velocity) / 2 + y->potential[b] > 0;
    }
    return escapers;
}

bool structure_binary(double G, const double *mass, const double (*pos)[3], const double (*vel)[3],
                      size_t i, size_t k, double third, struct nbody_binary *binary)
{
    double x[3], v[3];
    for (int c = 0; c < 3; c++) {
        x[c] = pos[k][c] - pos[i][c];
        v[c] = vel[k][c] - vel[i][c];
    }
    *binary = (struct nbody_binary){i, k, nbody_find_elements(G * (mass[i] + mass[k]), x, v)};
    const double apart = binary->orbit.semi_major * (1 + binary->orbit.eccentricity);
    return binary->orbit.semi_major > 0 && apart * apart < third;
}

/* True if i and its nearest neighbour are a binary; it is counted at the smaller index. */
static bool structure_is_binary(const struct system *y, size_t i, struct nbody_binary *binary)
{
    const size_t k = y->near[i].n ? y->near[i].body[0] : i;
    if (k <= i || y->near[k].body[0] != i)
        return false;
    const double third = fmin(y->near[i].n > 1 ? y->near[i].square[1] : INFINITY,
                              y->near[k].n > 1 ? y->near[k].square[1] : INFINITY);
    return structure_binary(y->G, y->mass, y->pos, y->vel, i, k, third, binary);
}

static int structure_by_semi_major(const void *a_, const void *b_)
{
    const struct nbody_binary *a = a_, *b = b_;
    const int order =
        (a->orbit.semi_major > b->orbit.semi_major) - (a->orbit.semi_major < b->orbit.semi_major);
    return order ? order : (a->first > b->first) - (a->first < b->first);
}

int structure_add(struct nbody_structure *s, const struct nbody_binary *one)
{
    struct nbody_binary *grown = s->binaries & (s->binaries - 1)
                                     ? s->binary
                                     : realloc(s->binary, (2 * s->binaries + 1) * sizeof *one);
    if (!grown)
        return clerror_set(ENOMEM, "nbody_find_structure: out of memory for %zu binaries",
                           s->binaries + 1);
    s->binary = grown;
    s->binary[s->binaries++] = *one;
    return 0;
}

void structure_sort(struct nbody_structure *s)
{
    if (s->binary)
        qsort(s->binary, s->binaries, sizeof *s->binary, structure_by_semi_major);
}

static int structure_find_binaries(const struct system *y, struct nbody_structure *s)
{
    struct nbody_binary one;
    for (size_t i = 0; i < y->n; i++)
        if (structure_is_binary(y, i, &one) && structure_add(s, &one) != 0)
            return -1;
    structure_sort(s);
    return 0;
}

/* ---- All of it. ------------------------------------------------------------------------------ */

int structure_check(size_t n, double total, size_t shells, const struct nbody_shell *shell)
{
    if (!(n > 0 && total > 0))
        return clerror_set(EINVAL, "nbody_find_structure: there is no mass");
    for (size_t k = 0; k < shells; k++)
        if (!(shell[k].fraction > (k ? shell[k - 1].fraction : 0) && shell[k].fraction <= 1))
            return clerror_set(
                EINVAL,
                "nbody_find_structure: fraction %zu is %g; they must ascend from above 0 to at most 1",
                k, shell[k].fraction);
    return 0;
}

int nbody_find_structure(size_t n, double G, const double *mass, const double (*pos)[3],
                         const double (*vel)[3], const double *potential, size_t shells,
                         struct nbody_shell *shell, struct nbody_structure *s)
{
    struct system y = {
        .n = n, .G = G, .mass = mass, .pos = pos, .vel = vel, .potential = potential};
    *s = (struct nbody_structure){.binary = NULL};
    for (size_t i = 0; i < n; i++)
        y.total += mass[i];
    if (structure_check(n, y.total, shells, shell) != 0)
        return -1;
    y.near = malloc(n * sizeof *y.near);
    y.place = malloc(n * sizeof *y.place);
    int status = y.near && y.place
                     ? 0
                     : clerror_set(ENOMEM, "nbody_find_structure: out of memory for %zu bodies", n);
    if (status == 0)
        status = neighbours_find(n, pos, y.near);
    if (status == 0) {
        structure_find_centre(&y, s);
        structure_sort_places(&y, s->centre);
        structure_measure_shells(&y, s, shells, shell);
        s->escapers = structure_count_escapers(&y, s);
        status = structure_find_binaries(&y, s);
    }
    free(y.near);
    free(y.place);
    if (status != 0) {
        free(s->binary);
        s->binary = NULL;
    }
    return status;
}
