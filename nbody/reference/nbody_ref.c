/* nbody_ref.c - scalar reference of the N-body engine in double precision (nbody_ref.h).
 *
 * Order: forces, building blocks of the integrators' references, diagnostics, and the high-order
 * reference integrator, which treats positions and velocities as one array of 6n numbers.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ref_force(const struct nbody_ref_system *s, const double (*pos)[3], size_t i,
                      double acc[3], double *potential)
{
    double a[3] = {0, 0, 0}, p = 0;
    for (size_t j = 0; j < s->n; j++) {
        double d[3], r2 = nbody_ref_softening2(s, i, j);
        for (int k = 0; k < 3; k++) {
            d[k] = pos[j][k] - pos[i][k];
            r2 += d[k] * d[k];
        }
        if (j == i || r2 == 0)
            continue;
        double w = s->G * s->mass[j] / sqrt(r2);
        p -= w;
        for (int k = 0; k < 3; k++)
            a[k] += w / r2 * d[k];
    }
    if (acc)
        memcpy(acc, a, sizeof a);
    if (potential)
        *potential = p;
}

void nbody_ref_force(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                     size_t i, double acc[3], double *potential)
{
    const struct nbody_ref_system s = {n, G, eps, mass, NULL, 0, NULL, NULL};
    ref_force(&s, pos, i, acc, potential);
}

void nbody_ref_forces(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                      double (*acc)[3], double *potential)
{
    const struct nbody_ref_system s = {n, G, eps, mass, NULL, 0, NULL, NULL};
    for (size_t i = 0; i < n; i++)
        ref_force(&s, pos, i, acc ? acc[i] : NULL, potential ? potential + i : NULL);
}

/* The derivative of d / r^3 is v / r^3 - 3 d (d.v) / r^5, with softening in r. */
static void ref_jerks(const struct nbody_ref_system *s, const double (*pos)[3],
                      const double (*vel)[3], double (*acc)[3], double (*jerk)[3])
{
    for (size_t i = 0; i < s->n; i++) {
        memset(acc[i], 0, sizeof acc[i]);
        memset(jerk[i], 0, sizeof jerk[i]);
        for (size_t j = 0; j < s->n; j++) {
            double d[3], v[3], r2 = nbody_ref_softening2(s, i, j), dv = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = pos[j][k] - pos[i][k];
                v[k] = vel[j][k] - vel[i][k];
                r2 += d[k] * d[k];
                dv += d[k] * v[k];
            }
            if (j == i || r2 == 0)
                continue;
            double w = s->G * s->mass[j] / (r2 * sqrt(r2));
            for (int k = 0; k < 3; k++) {
                acc[i][k] += w * d[k];
                jerk[i][k] += w * (v[k] - 3 * dv / r2 * d[k]);
            }
        }
    }
}

void nbody_ref_jerk(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                    const double (*vel)[3], double (*acc)[3], double (*jerk)[3])
{
    const struct nbody_ref_system s = {n, G, eps, mass, NULL, 0, NULL, NULL};
    ref_jerks(&s, pos, vel, acc, jerk);
}

/* ---- Fields. --------------------------------------------------------------------------------- */

/* In a close encounter a rounding error of a position is a large error of the energy, hence long
 * double: 64 bits of mantissa on x86, 113 on ARM and POWER. */
typedef long double real;

/* Return the factor of x in the acceleration at the squared distance r2; *q: the factor of (x v) x
 * beside v in its derivative. */
static real ref_field_factor(const struct nbody_field *f, double G, real r2, real *q, real *phi)
{
    const real d2 = f->kind == NBODY_FIELD_POINT ? r2 : r2 + (real)f->scale * f->scale,
               d = sqrtl(d2);
    *q = *phi = 0;
    if (d2 == 0)
        return 0;
    if (f->kind == NBODY_FIELD_LOGARITHMIC) {
        const real v2 = (real)f->strength * f->strength;
        *q = -2 / d2;
        *phi = v2 / 2 * log1pl(r2 / ((real)f->scale * f->scale));
        return -v2 / d2;
    }
    *q = -3 / d2;
    *phi = -G * (real)f->strength / d;
    return -G * (real)f->strength / (d2 * d);
}

double nbody_ref_field(const struct nbody_ref_system *s, const double x[3], const double v[3],
                       double acc[3], double jerk[3])
{
    real r2 = 0, xv = 0, potential = 0, q, phi;
    for (int k = 0; k < 3; k++) {
        r2 += (real)x[k] * x[k];
        xv += v ? (real)x[k] * v[k] : 0;
    }
    for (size_t f = 0; f < s->nfields; f++) {
        const real factor = ref_field_factor(&s->fields[f], s->G, r2, &q, &phi);
        potential += phi;
        for (int k = 0; k < 3; k++) {
            if (acc)
                acc[k] += (double)(factor * x[k]);
            if (jerk)
                jerk[k] += (double)(factor * (v[k] + q * xv * x[k]));
        }
    }
    return (double)potential;
}

/* ---- Building blocks of the references in integrate_NAME.c. ---------------------------------- */

typedef double (*rows)[3];
typedef const double (*const_rows)[3];

void nbody_ref_accelerations(const struct nbody_ref_system *s, const double *x, double *a)
{
    for (size_t i = 0; i < s->n; i++)
        ref_force(s, (const_rows)x, i, a + 3 * i, NULL);
    for (size_t i = 0; s->nfields && i < s->n; i++)
        (void)nbody_ref_field(s, x + 3 * i, NULL, a + 3 * i, NULL);
}

void nbody_ref_jerks(const struct nbody_ref_system *s, const double *x, const double *v, double *a,
                     double *j)
{
    ref_jerks(s, (const_rows)x, (const_rows)v, (rows)a, (rows)j);
    for (size_t i = 0; s->nfields && i < s->n; i++)
        (void)nbody_ref_field(s, x + 3 * i, v + 3 * i, a + 3 * i, j + 3 * i);
}

/* Add the second derivative of the fields' acceleration, for a body with acceleration w. */
static void add_field_snap(const struct nbody_ref_system *s, const double *x, const double *v,
                           const double *w, double *snap)
{
    real r2 = 0, xv = 0, y = 0, q, phi;
    for (int k = 0; k < 3; k++) {
        r2 += (real)x[k] * x[k];
        xv += (real)x[k] * v[k];
        y += (real)v[k] * v[k] + (real)x[k] * w[k];
    }
    for (size_t f = 0; f < s->nfields; f++) {
        const real factor = ref_field_factor(&s->fields[f], s->G, r2, &q, &phi),
                   power = s->fields[f].kind == NBODY_FIELD_LOGARITHMIC ? 2 : 3;
        for (int k = 0; k < 3; k++)
            snap[k] += (double)(factor * (w[k] + 2 * q * xv * v[k] +
                                          (q * y + (1 + 2 / power) * q * q * xv * xv) * x[k]));
    }
}

void nbody_ref_snaps(const struct nbody_ref_system *s, const double *x, const double *v,
                     const double *w, double *a, double *j, double *snap)
{
    nbody_ref_jerks(s, x, v, a, j);
    for (size_t i = 0; i < s->n; i++) {
        double *const own = snap + 3 * i;
        memset(own, 0, 3 * sizeof *own);
        for (size_t o = 0; o < s->n; o++) {
            double d[3], u[3], b[3], r2 = nbody_ref_softening2(s, i, o), du = 0, y = 0;
            for (int k = 0; k < 3; k++) {
                d[k] = x[3 * o + (size_t)k] - x[3 * i + (size_t)k];
                u[k] = v[3 * o + (size_t)k] - v[3 * i + (size_t)k];
                b[k] = w[3 * o + (size_t)k] - w[3 * i + (size_t)k];
                r2 += d[k] * d[k];
                du += d[k] * u[k];
                y += u[k] * u[k] + d[k] * b[k];
            }
            if (o == i || r2 == 0)
                continue;
            const double m = s->G * s->mass[o] / (r2 * sqrt(r2)), alpha = du / r2,
                         beta = y / r2 + alpha * alpha;
            for (int k = 0; k < 3; k++)
                own[k] += m * (b[k] - 6 * alpha * (u[k] - 3 * alpha * d[k]) - 3 * beta * d[k]);
        }
        add_field_snap(s, x + 3 * i, v + 3 * i, w + 3 * i, own);
    }
}

void nbody_ref_add(size_t m, double *y, double factor, const double *x)
{
    for (size_t i = 0; i < m; i++)
        y[i] += factor * x[i];
}

void nbody_ref_diagnose(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                        const double (*vel)[3], struct nbody_diagnostics *d)
{
    *d = (struct nbody_diagnostics){0};
    for (size_t i = 0; i < n; i++) {
        const double *x = pos[i], *v = vel[i], m = mass[i];
        for (size_t j = 0; j < i; j++) {
            double r2 = eps * eps;
            for (int k = 0; k < 3; k++)
                r2 += (x[k] - pos[j][k]) * (x[k] - pos[j][k]);
            if (r2 > 0)
                d->potential -= G * m * mass[j] / sqrt(r2);
        }
        d->kinetic += m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
        for (int k = 0; k < 3; k++) {
            int p = (k + 1) % 3, q = (k + 2) % 3;
            d->momentum[k] += m * v[k];
            d->angular_momentum[k] += m * (x[p] * v[q] - x[q] * v[p]);
        }
    }
    d->total = d->kinetic + d->potential;
    d->virial_ratio = d->potential < 0 ? -2 * d->kinetic / d->potential : 0;
}

/* ---- The reference integrator: one array y of 6n numbers, positions, then velocities. -------- */

enum { COLUMNS = 9 }; /* orders 2, 4, .. 18 */

static void derivative(const struct nbody_ref_system *s, const real *y, real *dy)
{
    size_t n = s->n, m = 3 * n;
    memcpy(dy, y + m, m * sizeof *dy);
    memset(dy + m, 0, m * sizeof *dy);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            real d[3], r2 = nbody_ref_softening2(s, i, j);
            for (size_t k = 0; k < 3; k++) {
                d[k] = y[3 * j + k] - y[3 * i + k];
                r2 += d[k] * d[k];
            }
            real w = r2 > 0 ? s->G / (r2 * sqrtl(r2)) : 0;
            for (size_t k = 0; k < 3; k++) {
                dy[m + 3 * i + k] += w * s->mass[j] * d[k];
                dy[m + 3 * j + k] -= w * s->mass[i] * d[k];
            }
        }
    for (size_t i = 0; s->nfields && i < n; i++) {
        const real *x = y + 3 * i, r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        for (size_t f = 0; f < s->nfields; f++) {
            real q, phi, factor = ref_field_factor(&s->fields[f], s->G, r2, &q, &phi);
            for (size_t k = 0; k < 3; k++)
                dy[m + 3 * i + k] += factor * x[k];
        }
    }
}

/* Gragg's modified midpoint rule: y after H in `parts` substeps, into out. Its error has only even
 * powers of H / parts. f0: derivative at y; w: 2 arrays of 6n numbers. */
static void midpoint(const struct nbody_ref_system *s, const real *y, const real *f0, real H,
                     int parts, real *out, real *w)
{
    size_t m = 6 * s->n;
    real h = H / parts, *previous = w, *f = w + m;
    for (size_t k = 0; k < m; k++) {
        previous[k] = y[k];
        out[k] = y[k] + h * f0[k];
    }
    for (int i = 1; i < parts; i++) {
        derivative(s, out, f);
        for (size_t k = 0; k < m; k++) {
            real next = previous[k] + 2 * h * f[k];
            previous[k] = out[k];
            out[k] = next;
        }
    }
    derivative(s, out, f);
    for (size_t k = 0; k < m; k++)
        out[k] = (out[k] + previous[k] + h * f[k]) / 2;
}

/* Maximum norm of m numbers, or of m differences. */
static real ref_largest(size_t m, const real *x)
{
    real r = 0;
    for (size_t i = 0; i < m; i++)
        r = fmaxl(r, fabsl(x[i]));
    return r;
}

static real largest_difference(size_t m, const real *x, const real *y)
{
    real r = 0;
    for (size_t i = 0; i < m; i++)
        r = fmaxl(r, fabsl(x[i] - y[i]));
    return r;
}

static real smallest_distance(const struct nbody_ref_system *s, const real *x)
{
    real least = INFINITY;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < i; j++) {
            const real *p = x + 3 * i, *q = x + 3 * j;
            least = fminl(least, hypotl(hypotl(p[0] - q[0], p[1] - q[1]), p[2] - q[2]));
        }
    return least;
}

/* True if two estimates of the state agree: positions to `tolerance` times the smallest (softened)
 * distance, so that close encounters conserve energy, and velocities to `tolerance` times the
 * largest speed. Differences of a few units in the last place are always accepted. */
static int ref_agree(const struct nbody_ref_system *s, const real *a, const real *b,
                     double tolerance)
{
    size_t m = 3 * s->n;
    real size = ref_largest(m, b), speed = ref_largest(m, b + m), least = 8 * LDBL_EPSILON;
    real scale = fminl(size, hypotl(smallest_distance(s, b), s->eps));
    return largest_difference(m, a, b) <= fmaxl(tolerance * scale, least * size) &&
           largest_difference(m, a + m, b + m) <= fmaxl(tolerance, least) * speed;
}

/* Try a step H from y, with derivative f0 there. Return the number of columns until two estimates
 * agreed, with the better one in t[0]; 0 if they never did. */
static int extrapolated_step(const struct nbody_ref_system *s, const real *y, const real *f0,
                             real H, double tolerance, real *t[COLUMNS], real *w)
{
    size_t m = 6 * s->n;
    for (int k = 0; k < COLUMNS; k++) {
        /* t[k] = midpoint with 2k + 2 parts; Neville's scheme then improves t[k-1] .. t[0]. */
        midpoint(s, y, f0, H, 2 * k + 2, t[k], w);
        for (int c = k; c > 0; c--) {
            real ratio = (real)(k + 1) / c; /* of the parts of entries k and c - 1 */
            for (size_t i = 0; i < m; i++)
                t[c - 1][i] = t[c][i] + (t[c][i] - t[c - 1][i]) / (ratio * ratio - 1);
        }
        if (k > 1 && ref_agree(s, t[0], t[1], tolerance))
            return k + 1;
    }
    return 0;
}

/* Advance y by the time t; memory holds 3 + COLUMNS arrays of 6n numbers. */
static int extrapolate(const struct nbody_ref_system *s, real t, double tolerance, real *y,
                       real *memory)
{
    size_t m = 6 * s->n;
    real *f0 = memory, *w = f0 + m, *table[COLUMNS], done = 0, H = t / 64;
    for (int k = 0; k < COLUMNS; k++)
        table[k] = w + (size_t)(2 + k) * m;
    while (done != t) {
        int last = fabsl(t - done) <= fabsl(H);
        real step = last ? t - done : H;
        if (fabsl(step) < fabsl(t) * 1e-15L && !last)
            return -1;
        derivative(s, y, f0);
        int columns = extrapolated_step(s, y, f0, step, tolerance, table, w);
        if (columns == 0) {
            H = step / 2;
            continue;
        }
        memcpy(y, table[0], m * sizeof *y);
        done = last ? t : done + step;
        H = step * (columns < COLUMNS - 2 ? 1.5L : columns < COLUMNS ? 1 : 0.7L);
    }
    return 0;
}

int nbody_ref_exact_in(const struct nbody_ref_system *s, double t, double tolerance,
                       double (*pos)[3], double (*vel)[3])
{
    size_t m = 3 * s->n;
    real *y = malloc((4 + COLUMNS) * 2 * m * sizeof *y);
    if (!y)
        return -1;
    for (size_t i = 0; i < m; i++) {
        y[i] = pos[i / 3][i % 3];
        y[m + i] = vel[i / 3][i % 3];
    }
    int rc = extrapolate(s, t, tolerance, y, y + 2 * m);
    for (size_t i = 0; i < m; i++) {
        pos[i / 3][i % 3] = (double)y[i];
        vel[i / 3][i % 3] = (double)y[m + i];
    }
    free(y);
    return rc;
}

int nbody_ref_exact(size_t n, double G, double eps, double t, double tolerance, const double *mass,
                    double (*pos)[3], double (*vel)[3])
{
    return nbody_ref_exact_in(&(struct nbody_ref_system){n, G, eps, mass, NULL, 0, NULL, NULL}, t,
                              tolerance, pos, vel);
}
