/* nbody_osculating.c - osculating orbits about the heaviest body, drawn by --osculating: the
 * ellipses that the bodies would follow if only the heaviest body attracted them.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "nbody_job.h"
#include "nbody_path.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <string.h>

/* Point k of the orbit of body i about body c, at equal steps of the eccentric anomaly; false: the
 * body is not bound to c, or is c. */
static bool find_orbit_point(const struct nbody_job *job, size_t i, size_t c, size_t k,
                             double point[3])
{
    const struct particles *b = &job->bodies;
    const double gm = job->G * (b->mass[c] + b->mass[i]),
                 anomaly = 2 * acos(-1) * (double)k / (NBODY_ORBIT_POINTS - 1);
    double pos[3], vel[3];
    for (int d = 0; d < 3; d++) {
        pos[d] = b->pos[i][d] - b->pos[c][d];
        vel[d] = b->vel[i][d] - b->vel[c][d];
    }
    struct nbody_elements orbit = nbody_find_elements(gm, pos, vel);
    if (i == c || !(orbit.semi_major > 0 && isfinite(orbit.semi_major)) || orbit.eccentricity >= 1)
        return false;
    orbit.mean_anomaly = anomaly - orbit.eccentricity * sin(anomaly);
    if (nbody_orbit_state(gm, &orbit, pos, vel) < 0)
        return false;
    for (int d = 0; d < 3; d++)
        point[d] = b->pos[c][d] + pos[d];
    return true;
}

double (*nbody_osculating_points(const struct nbody_job *job))[3]
{
    const struct particles *b = &job->bodies;
    const size_t centre = particles_heaviest(b);
    double(*point)[3] = cli_alloc(NBODY_ORBIT_POINTS * b->n, sizeof *point);
    for (size_t k = 0; k < NBODY_ORBIT_POINTS; k++)
        for (size_t i = 0; i < b->n; i++)
            if (!find_orbit_point(job, i, centre, k, point[k * b->n + i]))
                memcpy(point[k * b->n + i], b->pos[i], sizeof *point);
    return point;
}
