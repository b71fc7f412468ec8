/* sphere.c - a spherical component of a model (sphere.h). Bits are the same on every machine
 * (draw.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/initial/sphere.h"

/* ---- Tables over the radius. ----------------------------------------------------------------- */

double sphere_radius(double x)
{
    const double q = x / (1 - x);
    return q * q;
}

static double node_radius(int i)
{
    return sphere_radius((double)i / SPHERE_NODES);
}

/* dr / dx; r = q^2 with q = x / (1 - x). */
static double sphere_dr_dx(int i)
{
    const double x = (double)i / SPHERE_NODES, y = 1 - x;
    return 2 * (x / y) / (y * y);
}

double sphere_at(const double *table, double radius)
{
    const double q = sqrt(radius), place = q / (1 + q) * SPHERE_NODES;
    const int i = place < SPHERE_NODES - 1 ? (int)place : SPHERE_NODES - 1;
    return table[i] + (place - i) * (table[i + 1] - table[i]);
}

/* Density up to a factor. */
static double sphere_relative_density(const struct sphere_density *d, double r)
{
    const double a = r + d->scale, fall = d->edge > 0 ? draw_exponential(-r / d->edge) : 1;
    return (d->edge > 0 ? 2 * fall / (1 + fall * fall) : 1) / (r * a * a * a);
}

/* By the trapezoidal rule in x. */
void sphere_mass(const struct sphere_density *d, double inside[SPHERE_NODES + 1])
{
    double last = 0;
    inside[0] = 0;
    for (int i = 1; i <= SPHERE_NODES; i++) {
        const double r = i < SPHERE_NODES ? node_radius(i) : 0;
        const double here =
            i < SPHERE_NODES ? r * r * sphere_relative_density(d, r) * sphere_dr_dx(i) : 0;
        inside[i] = inside[i - 1] + (here + last) / 2;
        last = here;
    }
    for (int i = 0; i <= SPHERE_NODES; i++)
        inside[i] *= d->mass / inside[SPHERE_NODES];
}

/* Negative potential: the integral of mass / r^2 from outside inwards. */
static void make_potential(struct sphere *s, const double total[SPHERE_NODES + 1])
{
    double last = 0;
    s->potential[SPHERE_NODES] = 0;
    for (int i = SPHERE_NODES - 1; i >= 0; i--) {
        const double r = node_radius(i), here = i > 0 ? total[i] / (r * r) * sphere_dr_dx(i) : 0;
        s->potential[i] = s->potential[i + 1] + (here + last) / 2 / SPHERE_NODES;
        last = here;
    }
}

/* ---- Eddington's formula. -------------------------------------------------------------------- */

/* f(E) is proportional to the integral over P = 0 .. E of (d2 rho / dP2) / (E - P)^1/2, with P the
 * negative potential. The second derivative is constant between the midpoints of two intervals of
 * the table. */
static double eddington(const double slope[SPHERE_NODES], const double middle[SPHERE_NODES],
                        double energy)
{
    double sum = 0, outer = 0, outer_slope = 0;
    for (int i = SPHERE_NODES - 1; i >= 0 && outer < energy; i--) {
        const double inner = middle[i], rest = energy > inner ? sqrt(energy - inner) : 0;
        sum += (slope[i] - outer_slope) / (inner - outer) * 2 * (sqrt(energy - outer) - rest);
        outer = inner;
        outer_slope = slope[i];
    }
    return sum > 0 ? sum : 0;
}

/* Phase-space density; it vanishes towards energy 0 and grows as w^-5 towards the centre. */
static double phase_density(const struct sphere *s, double energy)
{
    const double part = 1 - energy / s->potential[0];
    double w = sqrt(part > 0 ? part : 0);
    w = w > 1.0 / SPHERE_ENERGIES ? w : 1.0 / SPHERE_ENERGIES;
    const double place = w * SPHERE_ENERGIES;
    const int i = place < SPHERE_ENERGIES - 1 ? (int)place : SPHERE_ENERGIES - 1;
    const double value = s->density[i] + (place - i) * (s->density[i + 1] - s->density[i]);
    return value / (w * w * w * w * w);
}

static void make_peaks(struct sphere *s)
{
    enum { SPEEDS = 64 };
    for (int i = 0; i <= SPHERE_NODES; i++) {
        s->peak[i] = 0;
        for (int k = 1; k < SPEEDS && i < SPHERE_NODES; k++) {
            const double v2 = 2 * s->potential[i] * k * k / (SPEEDS * SPEEDS);
            const double here = v2 * phase_density(s, s->potential[i] - v2 / 2);
            s->peak[i] = here > s->peak[i] ? here : s->peak[i];
        }
        s->peak[i] *= 1.01; /* margin for speeds between the tested ones */
    }
}

void sphere_make(struct sphere *s, const struct sphere_density *d,
                 const double total[SPHERE_NODES + 1])
{
    double slope[SPHERE_NODES], middle[SPHERE_NODES];
    sphere_mass(d, s->inside);
    make_potential(s, total);
    for (int i = 0; i < SPHERE_NODES; i++) {
        const double here = i > 0 ? sphere_relative_density(d, node_radius(i))
                                  : 2 * sphere_relative_density(d, node_radius(1));
        const double next =
            i + 1 < SPHERE_NODES ? sphere_relative_density(d, node_radius(i + 1)) : 0;
        slope[i] = (here - next) / (s->potential[i] - s->potential[i + 1]);
        middle[i] = (s->potential[i] + s->potential[i + 1]) / 2;
    }
    for (int k = 1; k <= SPHERE_ENERGIES; k++) {
        const double w = (double)k / SPHERE_ENERGIES;
        s->density[k] =
            eddington(slope, middle, (1 - w * w) * s->potential[0]) * (w * w * w * w * w);
    }
    s->density[0] = s->density[1];
    make_peaks(s);
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

static double draw_radius(const struct sphere *s, double share, struct stream *stream)
{
    const double m = draw_uniform(stream) * share * s->inside[SPHERE_NODES];
    int low = 0, high = SPHERE_NODES;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (s->inside[middle] < m)
            low = middle;
        else
            high = middle;
    }
    /* Near the centre mass grows as r^2 = q^4, and m^1/4 is exact; elsewhere intervals are small.
     */
    const double part = (m - s->inside[low]) / (s->inside[high] - s->inside[low]);
    const double x = (low + (low == 0 ? sqrt(sqrt(part)) : part)) / SPHERE_NODES;
    return sphere_radius(x < 1 ? x : 1 - 0.5 / SPHERE_NODES);
}

void sphere_body(const struct sphere *s, double share, struct stream *stream, double pos[3],
                 double vel[3])
{
    const double r = draw_radius(s, share, stream), potential = sphere_at(s->potential, r);
    const double q = sqrt(r), escape = sqrt(2 * potential);
    int node = (int)(q / (1 + q) * SPHERE_NODES);
    node = node < 1 ? 1 : node;
    double v, chance;
    draw_vector(stream, r, pos);
    do { /* v is distributed as v^2 f, which peaks no higher at r than at the next node inwards */
        v = escape * draw_uniform(stream);
        chance = s->peak[node] * draw_uniform(stream);
    } while (chance > v * v * phase_density(s, potential - v * v / 2));
    draw_vector(stream, v, vel);
}
