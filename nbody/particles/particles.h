/* particles.h - the bodies: positions, velocities and accelerations on the devices, their order,
 * softening and units.
 *
 *   particles.c             the caller's bodies to the host images and the devices
 *   state.c                 positions and velocities for the caller
 *   sample.c                positions of selected bodies, for pictures
 *   hilbert_order.c         storage order along the Hilbert curve (on devices: force/tree_order.c)
 *   softening.c             softening lengths of single bodies
 *   units.c                 scaling by powers of two
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_PARTICLES_H
#define STDCL_NBODY_PARTICLES_H

#include <stdbool.h>
#include <stdint.h>

#include "stdcl/nbody.h"

struct nbody_device;

/* First of three planes of nbody_device.state (layout: step.cl). STATE_POS exists only where the
 * integrator predicts. */
enum { STATE_ACC = 0, STATE_VEL = 3, STATE_POS = 6 };

/* Arrays of four numbers per body, including padding. Every device holds all of them; the host
 * image is the way between devices. With domains of the tree they are NULL, and each device holds
 * its own rows (nbody_posm). */
struct particles {
    void *
        posm; /* {x, y, z, G m} of all bodies, where forces are evaluated; written by kernels, too */
    void *velo;  /* {vx, vy, vz, 0} at the same time; NULL unless the integrator's sum needs it */
    void *acce;  /* {ax, ay, az, 0}; NULL unless the integrator's sum needs it */
    void *moved; /* destination of fused launches, swapped with posm; NULL without */
    void *soft;  /* half the square of each body's softening in engine units; NULL: eps for all */
    double *own_eps;         /* softening of each body, in the caller's units; NULL: eps for all */
    uint64_t version;        /* counts the changes of positions: nbody_particles_moved */
    bool sorted;             /* bodies are stored in curve order (hilbert_order.c) */
    cl_uint *body;           /* with `sorted`: bodies of this rank's rows */
    size_t sort_interval;    /* steps between sorts: ORDER_STEPS, fewer in tests */
    size_t sort_count;       /* number of sorts and repartitions */
    struct sampler *sampler; /* sample.c; NULL until first used */
};

/* Record that kernels or the host have changed positions: other devices' copies, and trees, are out
 * of date. */
void nbody_particles_moved(struct nbody *nb);

/* Exchange posm and moved, after an odd number of fused steps. */
void nbody_particles_swap(struct nbody *nb);

/* Allocate the arrays of all bodies, then a device's state. bytes: of both on a device, for an
 * integrator that needs no derivatives of forces, once its rows are known. */
int nbody_particles_allocate(struct nbody *nb);
int nbody_particles_allocate_device(struct nbody *nb, struct nbody_device *p);
size_t nbody_particles_bytes(const struct nbody *nb, const struct nbody_device *p);

/* Write the caller's bodies, all or this rank's slice, to the devices; without slices, optionally
 * their positions only. Collective with slices. sorted: write all bodies of this rank's rows again,
 * in the order of particles.body; without slices, with domains of the tree. */
int nbody_particles_upload(struct nbody *nb, const double *mass, const double (*pos)[3],
                           const double (*vel)[3], bool positions_only);
int nbody_particles_upload_sorted(struct nbody *nb, const double *mass, const double (*pos)[3],
                                  const double (*vel)[3]);
void nbody_particles_free(struct nbody *nb);

/* Memory of a device that a step changes; each region has an image on the host. */
enum { CHANGES = 4 };
struct changes {
    void *at[CHANGES];
    size_t bytes[CHANGES];
};
struct changes nbody_particles_changes(const struct nbody *nb, const struct nbody_device *p);

/* ---- units.c --------------------------------------------------------------------------------- */

/* Scaling of the caller's units: the engine's length unit is 2^length of the caller's, its time
 * unit 2^time. The engine stores G m in length^3 / time^2, so that its G is 1. */
struct units {
    int length, time;
};

/* Coordinates, counted from nb->centre, are below 2^UNITS_MOST_BITS lengths. */
enum { UNITS_MOST_BITS = 24 };

/* Choose units that make the largest coordinate, counted from `centre`, about 2^bits, at most
 * 2^UNITS_MOST_BITS, and the largest G m of a body or field about 1. Where few bodies are over 2^10
 * times as far out as most, the largest coordinate may reach 2^20. Collective; the ranks pass their
 * bodies, n of them. */
int nbody_units_choose(stdcl_world *world, double G, size_t n, const double *mass,
                       const double (*pos)[3], const double centre[3], int bits,
                       const struct nbody_field *fields, size_t nfields, struct units *units);

/* EINVAL if a body is so far from the others that their positions would coincide in the engine's
 * precision. Collective with slices; pos: of this rank's slice. */
int nbody_units_check(const struct nbody *nb, const double (*pos)[3]);

/* Return the power of two that converts length^l time^t from the engine's units to the caller's. */
double nbody_units_factor(const struct units *u, int l, int t);

/* ---- softening.c ----------------------------------------------------------------------------- */

/* copy: keep the softening length of each body (NULL: eps for all). check: EINVAL if the engine
 * does not support them. upload: send them to the devices, in units that have been chosen. */
int nbody_softening_copy(struct nbody *nb, const double *softening);
int nbody_softening_check(const struct nbody *nb);
int nbody_softening_upload(struct nbody *nb);
void nbody_softening_free(struct nbody *nb);

/* ---- hilbert_order.c ------------------------------------------------------------------------- */

enum {
    ORDER_STEPS = 256,
    CLUSTER = 256,
    CLUSTER_PIECE = 32
}; /* CLUSTER and CLUSTER_PIECE as in direct_mixed.cl */

/* Collective; nothing to do for unsorted bodies. open: number the rows' bodies and sort these; with
 * `move` false only the numbers: nbody_particles_upload_sorted follows. sort_rows: sort the bodies
 * along the curve. due: true if a sort is due before the next step. left: steps until then. load:
 * take over an order. */
int nbody_hilbert_open(struct nbody *nb, bool move);
int nbody_hilbert_sort_rows(struct nbody *nb);
void nbody_hilbert_load(struct nbody *nb, const void *body);
bool nbody_hilbert_due(const struct nbody *nb);
size_t nbody_hilbert_left(const struct nbody *nb);
void nbody_hilbert_free(struct nbody *nb);

/* Collective. Move the numbers of the bodies (`body`) along a route to the ranks of their rows. */
int nbody_particles_permute_bodies(struct nbody *nb, const struct route *route);

/* Return an array[][numbers] of this rank's rows, for nbody_particles_return: a part of the
 * caller's array `out`, or from malloc. NULL: out of memory. */
double *nbody_particles_rows(const struct nbody *nb, size_t numbers, double *out);

/* Collective. Fill the caller's array out[][numbers], in the caller's order, from the array of this
 * rank's rows, and free this array. status: -1 if this rank could not fill it. */
int nbody_particles_return(struct nbody *nb, int status, size_t numbers, double *rows, double *out);

/* Return 1 if list[] has each of 0 .. n - 1 once, 0 if not; -1: out of memory. */
int nbody_is_permutation(size_t n, const cl_uint *list);

/* Find the rows of `count` bodies: row[k] of body which[k] if it is a row of this rank, else a row
 * of another rank or NO_ROW. ENOMEM. */
#define NO_ROW UINT32_MAX
int nbody_particles_find(const struct nbody *nb, size_t count, const uint32_t *which, cl_uint *row);

/* ---- sample.c -------------------------------------------------------------------------------- */

void nbody_sample_free(struct nbody *nb);

#endif
