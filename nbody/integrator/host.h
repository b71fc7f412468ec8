/* host.h - few bodies on the host, and sums over their pairs in plain C.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_HOST_H
#define STDCL_NBODY_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "stdcl/nbody.h"

enum { HOST_LANES = 8 }; /* numbers that a loop processes at a time */

struct nbody;

/* Forces of the caller at the bodies of a scheme (host_added.c), in engine units. */
struct host_added {
    struct nbody *nb;
    double time;                      /* at which x is; a scheme advances it as it moves bodies */
    double lag;                       /* time from v to x */
    double (*x)[3], (*v)[3], (*a)[3]; /* n rows each */
};

/* Bodies in engine units. An array of coordinates has three planes: coordinate c of body i is
 * number c * stride + i. The stride is n, rounded up to HOST_LANES; numbers beyond n are 0, in e2
 * 1. */
struct host_bodies {
    size_t n, stride;
    double *x, *v, *a;
    const double *gm, *e2;            /* G m; half the square of the softening */
    const struct nbody_field *fields; /* in engine units, where G is 1 */
    size_t nfields;
    struct host_added *added; /* forces of the caller; NULL: none */
    double *work;             /* stride numbers */
    double *planes;           /* those of nbody_device.state, `stride` numbers each */
    double *scratch;          /* host_scheme.scratch planes */
    const struct nbody_whfast_options *whfast; /* options */
    bool megno;                                /* a tangent vector follows the planes */
    double eta;                                /* accuracy of adaptive steps; 0 with fixed steps */
};

/* Compute the accelerations a at the positions x. Each pair is computed once, and two bodies at one
 * place do not attract each other. Results have equal bits on all machines: the order of additions
 * is fixed, and no product is fused with a sum. */
void nbody_host_accelerate(const struct host_bodies *b);

/* As nbody_host_accelerate, to begin a step of any length. */
void nbody_host_begin(const struct host_bodies *b, double dt);

/* Add the fields' accelerations to a. */
void nbody_host_add_fields(const struct host_bodies *b, double *a);

/* Forces of the caller. gather: note x and the velocities v + lag a, before a is cleared; add: add
 * the accelerations there to a; move: advance the time. They do nothing without such forces. */
void nbody_host_added_gather(const struct host_bodies *b);
void nbody_host_added_add(const struct host_bodies *b);
static inline void nbody_host_added_move(const struct host_bodies *b, double dt)
{
    if (b->added)
        b->added->time += dt;
}

/* Positions, velocities and, for the snap, accelerations (else NULL) at which derivatives of the
 * acceleration are evaluated; acceleration, jerk and snap (NULL: none) there. */
struct host_derivatives {
    const double *x, *v, *w;
    double *a, *jerk, *snap;
};

/* Compute accelerations and jerks, and snaps too if d->snap is not NULL (Nitadori & Makino 2008). A
 * snap needs the accelerations of all bodies, w. Pairs at one place do not count. */
void nbody_host_derive(const struct host_bodies *b, const struct host_derivatives *d);

/* Set work[i] to the potential of body i by the others. */
void nbody_host_potentials(const struct host_bodies *b);

/* Return the fields' potential at body i, and x times their acceleration there in *virial. */
double nbody_host_field_potential(const struct host_bodies *b, size_t i, double *virial);

/* Add to a the accelerations by pairs of bodies i > j with i >= row, without fields. */
void nbody_host_add_pairs(const struct host_bodies *b, size_t row, double *a);

/* Return the largest sum over j of G (m_i + m_j) / (r^2 + eps^2)^(3/2) of any body i, and of the
 * fields: the square of the greatest frequency, for adaptive steps. */
double nbody_host_criterion(const struct host_bodies *b);

/* v += kick a, then x += drift v. */
void nbody_host_kick_drift(const struct host_bodies *b, double kick, double drift);

/* A step of leapfrog, which begins and ends with the accelerations of x. */
void nbody_host_leapfrog(const struct host_bodies *b, double dt);

#endif
