/* nbody_ref.h - the N-body engine in plain C and double precision, to test the engine against.
 *
 * Same formulas as stdcl/nbody.h, one straightforward loop each, no tricks: slow, and easy to check
 * by reading. nbody_ref_exact goes further: an integrator of high order whose error is set by a
 * tolerance, for a handful of bodies, to which all others can be compared.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_REF_H
#define STDCL_NBODY_REF_H

#include <stddef.h>

#include "stdcl/nbody.h"

/* Accelerations into acc[n] and potentials per unit mass (negative) into potential[n]; either may
 * be NULL. A pair at distance zero with eps = 0 is left out, as in the engine. */
void nbody_ref_forces(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                      double (*acc)[3], double *potential);

/* The same for body i alone: three numbers and one. */
void nbody_ref_force(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                     size_t i, double acc[3], double *potential);

/* Accelerations and their time derivatives (jerks), n rows each. */
void nbody_ref_jerk(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                    const double (*vel)[3], double (*acc)[3], double (*jerk)[3]);

/* What the integrators' twins (integrate_NAME.c) are made of. x, v, a, j: 3n numbers each. */
struct nbody_ref_system {
    size_t n;
    double G, eps;
    const double *mass;
    const struct nbody_field *fields;
    size_t nfields;
    const double *softening; /* of each body, in place of eps; may be NULL */
};
void nbody_ref_accelerations(const struct nbody_ref_system *s, const double *x, double *a);
void nbody_ref_jerks(const struct nbody_ref_system *s, const double *x, const double *v, double *a,
                     double *j);
void nbody_ref_snaps(
    const struct nbody_ref_system *s, const double *x, const double *v, const double *w, double *a,
    double *j, double *snap); /* and second derivatives, of bodies whose accelerations are w */
void nbody_ref_add(size_t m, double *y, double factor,
                   const double *x); /* y += factor x, m numbers */

/* Adds what fields do to a body at x with velocity v to acc and jerk, and returns their potential.
 * v and jerk, and acc, may be NULL. */
double nbody_ref_field(const struct nbody_ref_system *s, const double x[3], const double v[3],
                       double acc[3], double jerk[3]);

/* Advances pos and vel by `steps` steps of dt (nbody_ref_run.c). -1 when there is no memory or no
 * such integrator, else 0. */
int nbody_ref_run(enum nbody_integrator integrator, size_t n, double G, double eps, double dt,
                  size_t steps, const double *mass, double (*pos)[3], double (*vel)[3]);
int nbody_ref_run_in(const struct nbody_ref_system *s, enum nbody_integrator integrator, double dt,
                     size_t steps, double (*pos)[3], double (*vel)[3]);

/* Advances pos and vel by the time t (which may be negative), with an error per step of
 * `tolerance`, relative to the smallest distance and the largest speed; computed in long double, so
 * that on most machines 1e-16 makes sense. Bulirsch-Stoer: Gragg's modified midpoint rule,
 * extrapolated to step zero, step and order adapted (Hairer, Norsett & Wanner, "Solving Ordinary
 * Differential Equations I", II.9). -1 without memory, or when the step vanishes, as it does when
 * points collide; else 0. */
int nbody_ref_exact(size_t n, double G, double eps, double t, double tolerance, const double *mass,
                    double (*pos)[3], double (*vel)[3]);
int nbody_ref_exact_in(const struct nbody_ref_system *s, double t, double tolerance,
                       double (*pos)[3], double (*vel)[3]);

/* The steps of an ensemble (ensemble.cl) for one system of a star and planets, in long double but
 * for the state after each step (nbody_ref_ensemble.c); planets move along conics by Kepler's
 * equation with eccentric anomalies. -1 without memory. */
int nbody_ref_ensemble(size_t bodies, double G, double dt, size_t steps, const double *mass,
                       double (*pos)[3], double (*vel)[3]);

/* Moves along a conic about a mass for the time t. */
void nbody_ref_kepler(double gm, double t, double pos[3], double vel[3]);

/* Fills *d, with time 0. */
void nbody_ref_diagnose(size_t n, double G, double eps, const double *mass, const double (*pos)[3],
                        const double (*vel)[3], struct nbody_diagnostics *d);

#endif
