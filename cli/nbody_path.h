/* nbody_path.h - paths of up to 64 bodies, drawn by --trails and --figure.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_PATH_H
#define STDCL_CLI_NBODY_PATH_H

#include "nbody_job.h"

#include <stddef.h>

enum {
    NBODY_MOST_PATHS = 64,    /* bodies with a path */
    NBODY_PATH_POINTS = 1000, /* most fetches of a run */
    NBODY_ORBIT_POINTS = 361
};

/* Step of the next point of the run; SIZE_MAX: none. */
size_t nbody_path_next(const struct nbody_job *job, size_t step);

/* Number of points in job->path from one of these steps to the next. */
static inline size_t nbody_path_parts(const struct nbody_job *job)
{
    enum { CURVE_POINTS = 4000, MOST_PARTS = 16 }; /* of a run; between two fetches */
    const size_t every = job->total / NBODY_PATH_POINTS + 1, points = job->total / every + 1,
                 parts = (CURVE_POINTS + points - 1) / points;
    return parts < MOST_PARTS ? parts : MOST_PARTS;
}

/* Continue the path to the current positions. Return an exit status, after printing a message. */
int nbody_path_add(struct nbody_job *job);

/* Point of a curve from `from` to `to` with these velocities, at fraction s of a time h: the cubic
 * of Hermite. If the body turns too far in the time h, the point lies on the straight line. */
void nbody_path_point(const double from[3], const double to[3], const double from_velocity[3],
                      const double to_velocity[3], double h, double s, double point[3]);

/* ---- nbody_osculating.c ---- */

/* NBODY_ORBIT_POINTS points of each body's osculating orbit about the heaviest body, in the order
 * of job->path.pos: all bodies at the first point, at the second, and so on. A body without a
 * closed orbit stays at its position. Free the result. */
double (*nbody_osculating_points(const struct nbody_job *job))[3];

#endif
