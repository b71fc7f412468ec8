/* nbody_path.c - paths of up to 64 bodies, drawn by --trails and --figure.
 *
 * Positions and velocities are fetched at up to NBODY_PATH_POINTS steps of a run. Between two of
 * these steps a path is the cubic of Hermite. Its error is h^4/384 times the fourth derivative of
 * the position: for a circle of nine steps 6e-4 of the radius, and 6e-2 for straight lines.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_camera.h"
#include "nbody_job.h"
#include "nbody_path.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

size_t nbody_path_next(const struct nbody_job *job, size_t step)
{
    const size_t every = job->total / NBODY_PATH_POINTS + 1;
    return job->n <= NBODY_MOST_PATHS && job->trails && !job->osculating &&
                   nbody_camera_is_used(job)
               ? step + (every - step % every)
               : SIZE_MAX;
}

static double path_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* A cubic follows an arc of up to half an ellipse. In the time of a whole orbit a body travels much
 * farther than from end to end, and the cubic would swing out. */
static bool is_smooth(const double from[3], const double to[3], const double v[3],
                      const double w[3], double h)
{
    static const double LONGEST = 2.5; /* ways by chord; half a circle has 1.6 */
    const double chord[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
    return fmax(path_length(v), path_length(w)) * fabs(h) <= LONGEST * path_length(chord);
}

void nbody_path_point(const double from[3], const double to[3], const double from_velocity[3],
                      const double to_velocity[3], double h, double s, double point[3])
{
    const double v = s * (1 - s) * (1 - s) * h, w = s * s * (s - 1) * h, b = s * s * (3 - 2 * s);
    const bool smooth = is_smooth(from, to, from_velocity, to_velocity, h);
    for (int k = 0; k < 3; k++)
        point[k] = smooth
                       ? (1 - b) * from[k] + b * to[k] + v * from_velocity[k] + w * to_velocity[k]
                       : (1 - s) * from[k] + s * to[k];
}

/* Append the points of all bodies up to the current positions. Without velocities at the last
 * point, after --resume or a collision, the path is straight. */
static void append_points(struct nbody_job *job, size_t parts, double time)
{
    const struct particles *b = &job->bodies;
    const size_t n = b->n, first = job->path.n * n;
    const double(*const last)[3] = (const double(*)[3])job->path.pos + first - n;
    const bool curved = job->path.bodies == n;
    for (size_t k = 1; k <= parts; k++)
        for (size_t i = 0; i < n; i++) {
            double *point = job->path.pos[first + (k - 1) * n + i];
            const double s = (double)k / (double)parts;
            if (k == parts)
                memcpy(point, b->pos[i], sizeof b->pos[i]);
            else
                nbody_path_point(last[i], b->pos[i], curved ? job->path.vel[i] : b->vel[i],
                                 b->vel[i], curved ? time - job->path.time : INFINITY, s, point);
        }
    job->path.n += parts;
}

int nbody_path_add(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    const size_t parts = job->path.n ? nbody_path_parts(job) : 1;
    if (nbody_state(job->engine, b->pos, b->vel) < 0)
        return cli_failed_call(NULL);
    const double time = nbody_time(job->engine);
    job->path.pos = cli_realloc(job->path.pos, (job->path.n + parts) * b->n, sizeof *job->path.pos);
    append_points(job, parts, time);
    memcpy(job->path.vel, b->vel, b->n * sizeof *b->vel);
    job->path.bodies = b->n;
    job->path.time = time;
    return CLI_DONE;
}
