/* nbody_ref.h - scalar reference of the N-body engine in double precision, for tests.
 *
 * The formulas are documented in stdcl/nbody.h; each is one straightforward loop: slow, and easy to
 * check by reading. nbody_ref_exact is an integrator of high order with an error tolerance, for a
 * handful of bodies, as a reference for all integrators.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_REF_H
#define STDCL_NBODY_REF_H

#include <stddef.h>

#include "stdcl/nbody.h"

struct host_watch;

/* Compute accelerations acc[n] and (negative) potentials per unit mass potential[n]; either may be
 * NULL. A pair at distance zero with eps = 0 is left out, as in the engine. */
void nbody_ref_forces(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                      double (*acc)[3], double *potential);

/* As nbody_ref_forces, for body i alone: three numbers and one. */
void nbody_ref_force(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                     size_t i, double acc[3], double *potential);

/* Compute accelerations and their time derivatives (jerks) of n bodies. */
void nbody_ref_jerk(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                    const double (*vel)[3], double (*acc)[3], double (*jerk)[3]);

/* Building blocks of the integrators' references (integrate_NAME.c). x, v, a, j: 3n numbers each.
 * snaps: also second derivatives, of bodies with accelerations w. add: y += factor x, m
 * numbers. */
struct nbody_ref_system {
    size_t n;
    double G, eps;
    const double *mass;
    const struct nbody_field *fields;
    size_t nfields;
    const double *softening;  /* of each body, instead of eps; may be NULL */
    struct host_watch *watch; /* of a step of the engine (integrator/scheme.h); else NULL */
};

/* Square of the softening of a pair. */
static inline double nbody_ref_softening2(const struct nbody_ref_system *s, size_t i, size_t j)
{
    return s->softening
               ? (s->softening[i] * s->softening[i] + s->softening[j] * s->softening[j]) / 2
               : s->eps * s->eps;
}

void nbody_ref_accelerations(const struct nbody_ref_system *s, const double *x, double *a);
void nbody_ref_jerks(const struct nbody_ref_system *s, const double *x, const double *v, double *a,
                     double *j);
void nbody_ref_snaps(const struct nbody_ref_system *s, const double *x, const double *v,
                     const double *w, double *a, double *j, double *snap);
void nbody_ref_add(size_t m, double *y, double factor, const double *x);

/* Add the fields' contribution for a body at x with velocity v to acc and jerk, and return their
 * potential. v and jerk, and acc, may be NULL. */
double nbody_ref_field(const struct nbody_ref_system *s, const double x[3], const double v[3],
                       double acc[3], double jerk[3]);

/* Advance pos and vel by `steps` steps of dt (nbody_ref_run.c). 0, or -1 if out of memory or for
 * an unknown integrator. */
int nbody_ref_run(enum nbody_integrator integrator, size_t n, double G, double eps, double dt,
                  size_t steps, const double *mass, double (*pos)[3], double (*vel)[3]);
int nbody_ref_run_in(const struct nbody_ref_system *s, enum nbody_integrator integrator, double dt,
                     size_t steps, double (*pos)[3], double (*vel)[3]);

/* Advance pos and vel by the time t, which may be negative, with an error per step of `tolerance`,
 * relative to the smallest distance and the largest speed. Computed in long double, so that 1e-16
 * is meaningful on most machines. Bulirsch-Stoer: Gragg's modified midpoint rule, extrapolated to
 * step zero, with adaptive step and order (Hairer, Norsett & Wanner, "Solving Ordinary
 * Differential Equations I", II.9). 0, or -1 if out of memory or if the step vanishes, as in a
 * collision. */
int nbody_ref_exact(size_t n, double G, double eps, double t, double tolerance, const double *mass,
                    double (*pos)[3], double (*vel)[3]);
int nbody_ref_exact_in(const struct nbody_ref_system *s, double t, double tolerance,
                       double (*pos)[3], double (*vel)[3]);

/* Make the steps of an ensemble (ensemble.cl) for one system of a star and planets, in long double
 * except for the state after each step (nbody_ref_ensemble.c). Planets move along conics by
 * Kepler's equation in eccentric anomalies. -1 if out of memory. */
int nbody_ref_ensemble(size_t bodies, double G, double dt, size_t steps, const double *mass,
                       double (*pos)[3], double (*vel)[3]);

/* Move along a conic about a mass for the time t. */
void nbody_ref_kepler(double gm, double t, double pos[3], double vel[3]);

/* Fill in *d, with time 0. */
void nbody_ref_diagnose(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                        const double (*vel)[3], struct nbody_diagnostics *d);

#endif
