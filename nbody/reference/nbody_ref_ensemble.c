/* nbody_ref_ensemble.c - scalar reference of an ensemble's steps: Wisdom & Holman's in democratic
 * heliocentric coordinates.
 *
 * Kepler's motion differs from ensemble.cl: Kepler's equation, elliptic or hyperbolic, is solved
 * for the change of the eccentric anomaly by Newton's method within a bracket, in long double.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double real;

/* ---- Kepler's motion. ------------------------------------------------------------------------ */

struct conic {
    real a; /* semi-major axis, positive for both */
    real c; /* 1 - r / a on an ellipse, 1 + r / a on a hyperbola: e cos E, e cosh F */
    real s; /* e sin E, e sinh F */
    int bound;
};

/* Return the change of the mean anomaly when the eccentric anomaly changes by x; *slope: its
 * derivative. */
static real ref_mean_anomaly(const struct conic *k, real x, real *slope)
{
    if (k->bound) {
        *slope = 1 - k->c * cosl(x) + k->s * sinl(x);
        return x - k->c * sinl(x) + k->s * (1 - cosl(x));
    }
    *slope = k->c * coshl(x) + k->s * sinhl(x) - 1;
    return k->c * sinhl(x) + k->s * (coshl(x) - 1) - x;
}

static real ref_solve_kepler(const struct conic *k, real M)
{
    real slope, low = -1, high = 1, x;
    while (ref_mean_anomaly(k, low, &slope) > M)
        low *= 2;
    while (ref_mean_anomaly(k, high, &slope) < M)
        high *= 2;
    x = (low + high) / 2;
    for (int i = 0; i < 200; i++) {
        const real off = ref_mean_anomaly(k, x, &slope) - M;
        *(off > 0 ? &high : &low) = x;
        real next = x - off / slope;
        if (!(next > low && next < high))
            next = (low + high) / 2;
        if (next == x)
            break;
        x = next;
    }
    return x;
}

static void ref_kepler_move(real gm, real t, real x[3], real v[3])
{
    const real r = sqrtl(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]),
               vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2],
               xv = x[0] * v[0] + x[1] * v[1] + x[2] * v[2], alpha = 2 / r - vv / gm;
    struct conic k = {.a = 1 / fabsl(alpha), .bound = alpha > 0};
    const real n = sqrtl(gm / k.a) / k.a, root = sqrtl(gm * k.a);
    k.c = k.bound ? 1 - r / k.a : 1 + r / k.a;
    k.s = xv / root;
    const real d = ref_solve_kepler(&k, n * t), C = k.bound ? cosl(d) : coshl(d),
               S = k.bound ? sinl(d) : sinhl(d);
    const real later = k.bound ? k.a * (1 - k.c * C + k.s * S) : k.a * (k.c * C + k.s * S - 1);
    const real turn =
        k.bound ? 1 - C : C - 1; /* f, g and their derivatives (Danby 1988, chapter 6) */
    const real f = 1 - k.a / r * turn, g = t - (k.bound ? d - S : S - d) / n;
    const real ft = -root / (r * later) * S, gt = 1 - k.a / later * turn;
    for (int c = 0; c < 3; c++) {
        const real old = x[c];
        x[c] = f * old + g * v[c];
        v[c] = ft * old + gt * v[c];
    }
}

void nbody_ref_kepler(double gm, double t, double pos[3], double vel[3])
{
    real x[3] = {pos[0], pos[1], pos[2]}, v[3] = {vel[0], vel[1], vel[2]};
    ref_kepler_move(gm, t, x, v);
    for (int c = 0; c < 3; c++) {
        pos[c] = (double)x[c];
        vel[c] = (double)v[c];
    }
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

struct system {
    size_t n;
    double G;
    const double *mass;
    real (*x)[3], (*v)[3]; /* planets: position from the star; velocity from the centre of mass */
};

static void ref_kick(const struct system *y, real h)
{
    for (size_t i = 1; i < y->n; i++)
        for (size_t j = 1; j < y->n; j++) {
            real d[3], r2 = 0;
            for (int c = 0; c < 3; c++) {
                d[c] = y->x[j][c] - y->x[i][c];
                r2 += d[c] * d[c];
            }
            for (int c = 0; c < 3 && j != i; c++)
                y->v[i][c] += h * y->G * y->mass[j] * d[c] / (r2 * sqrtl(r2));
        }
}

static void ref_jump(const struct system *y, real h)
{
    real p[3] = {0};
    for (size_t i = 1; i < y->n; i++)
        for (int c = 0; c < 3; c++)
            p[c] += y->mass[i] / y->mass[0] * y->v[i][c];
    for (size_t i = 1; i < y->n; i++)
        for (int c = 0; c < 3; c++)
            y->x[i][c] += h * p[c];
}

static void ref_ensemble_step(const struct system *y, real h)
{
    ref_kick(y, h / 2);
    ref_jump(y, h / 2);
    for (size_t i = 1; i < y->n; i++)
        ref_kepler_move(y->G * y->mass[0], h, y->x[i], y->v[i]);
    ref_jump(y, h / 2);
    ref_kick(y, h / 2);
}

int nbody_ref_ensemble(size_t n, double G, double dt, size_t steps, const double *mass,
                       double (*pos)[3], double (*vel)[3])
{
    real(*room)[3] = malloc(2 * n * sizeof *room), all = 0, x0[3] = {0}, v0[3] = {0};
    const struct system y = {n, G, mass, room, room ? room + n : NULL};
    if (!room)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            all += c ? 0 : mass[i];
            x0[c] += (real)mass[i] * pos[i][c];
            v0[c] += (real)mass[i] * vel[i][c];
        }
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            y.x[i][c] = (real)pos[i][c] - pos[0][c];
            y.v[i][c] = vel[i][c] - v0[c] / all;
        }
    for (size_t k = 0; k < steps; k++)
        ref_ensemble_step(&y, dt);
    for (int c = 0; c < 3; c++) {
        real x = x0[c] / all + dt * (real)steps * (v0[c] / all), v = v0[c] / all;
        for (size_t i = 1; i < n; i++) {
            x -= mass[i] / all * y.x[i][c];
            v -= mass[i] / mass[0] * y.v[i][c];
        }
        pos[0][c] = (double)x;
        vel[0][c] = (double)v;
        for (size_t i = 1; i < n; i++) {
            pos[i][c] = (double)(x + y.x[i][c]);
            vel[i][c] = (double)(v0[c] / all + y.v[i][c]);
        }
    }
    free(room);
    return 0;
}
