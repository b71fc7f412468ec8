/* nbody_orbits.c - orbits of `stdcl nbody`: bodies placed by orbital elements of a file, and
 * --elements, the orbits of all bodies about the heaviest. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_run.h"

#include "formats/csv.h"

#include <math.h>
#include <stdcl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- Placed by elements. --------------------------------------------------------------------- */

/* Mass, position and velocity of the centre of mass. */
struct centre {
    double mass, pos[3], vel[3];
};

static void add_to_centre(struct centre *c, const struct particles *b, size_t i)
{
    c->mass += b->mass[i];
    const double part = c->mass > 0 ? b->mass[i] / c->mass : i == 0;
    for (int k = 0; k < 3; k++) {
        c->pos[k] += part * (b->pos[i][k] - c->pos[k]);
        c->vel[k] += part * (b->vel[i][k] - c->vel[k]);
    }
}

/* Replace the elements of body i by its position and velocity. */
static int place_body(struct particles *b, size_t i, double G, const struct centre *before)
{
    const size_t p = b->primary[i];
    const bool jacobi = p == PARTICLES_JACOBI;
    const double mass = jacobi ? before->mass : b->mass[p], *pos = jacobi ? before->pos : b->pos[p],
                 *vel = jacobi ? before->vel : b->vel[p];
    const struct nbody_elements orbit = {.semi_major = b->pos[i][0],
                                         .eccentricity = b->pos[i][1],
                                         .inclination = b->pos[i][2],
                                         .node = b->vel[i][0],
                                         .pericentre = b->vel[i][1],
                                         .mean_anomaly = b->vel[i][2]};
    if (nbody_orbit_state(G * (mass + b->mass[i]), &orbit, b->pos[i], b->vel[i]) < 0)
        return -1;
    for (int k = 0; k < 3; k++) {
        b->pos[i][k] += pos[k];
        b->vel[i][k] += vel[k];
    }
    return 0;
}

int nbody_orbits_place(struct particles *b, const char *file, double G)
{
    struct centre all = {.mass = 0};
    for (size_t i = 0; b->primary && i < b->n; i++) {
        if (i > 0 && place_body(b, i, G, &all) < 0)
            return cli_failed("%s: body %zu: %s", file, i + 1, clerror());
        add_to_centre(&all, b, i);
    }
    for (size_t i = 0; b->primary && i < b->n; i++)
        for (int k = 0; k < 3; k++) {
            b->pos[i][k] -= all.pos[k];
            b->vel[i][k] -= all.vel[k];
        }
    free(b->primary);
    b->primary = NULL;
    return CLI_DONE;
}

/* ---- --elements. ----------------------------------------------------------------------------- */

static struct nbody_orbit orbit_of(const struct nbody_job *job, size_t i, size_t heavy)
{
    const struct particles *b = &job->bodies;
    double x[3], v[3];
    for (int k = 0; k < 3; k++) {
        x[k] = b->pos[i][k] - b->pos[heavy][k];
        v[k] = b->vel[i][k] - b->vel[heavy][k];
    }
    const struct nbody_elements o =
        nbody_find_elements(job->G * (b->mass[heavy] + b->mass[i]), x, v);
    struct nbody_orbit row = {{nbody_time(job->engine),
                               job->collide && b->id ? (double)b->id[i] : (double)i + 1,
                               o.semi_major, o.eccentricity, o.inclination, o.node, o.pericentre,
                               o.mean_anomaly, o.period},
                              ""};
    particles_name(b, i, row.name);
    return row;
}

/* Append the current orbits of all bodies about the heaviest. */
static int add_orbits(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    if (nbody_state(job->engine, b->pos, b->vel) < 0)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    const size_t heavy = particles_heaviest(b);
    job->orbits.row = cli_realloc(job->orbits.row, job->orbits.n + b->n, sizeof *job->orbits.row);
    for (size_t i = 0; i < b->n; i++)
        if (i != heavy)
            job->orbits.row[job->orbits.n++] = orbit_of(job, i, heavy);
    return CLI_DONE;
}

bool nbody_orbits_lack_row(const struct nbody_job *job, double time)
{
    const size_t n = job->orbits.n;
    return job->elements && job->diag > 0 && (n == 0 || job->orbits.row[n - 1].value[0] != time);
}

int nbody_orbits_row(struct nbody_job *job)
{
    return nbody_orbits_lack_row(job, nbody_time(job->engine)) ? add_orbits(job) : CLI_DONE;
}

int nbody_orbits_write(struct nbody_job *job)
{
    static const char *const column[] = {"time",        "body", "semi_major", "eccentricity",
                                         "inclination", "node", "pericentre", "mean_anomaly",
                                         "period",      "name"};
    const bool named = job->bodies.note[NOTE_names];
    struct csv csv = {.columns = 0};
    const int status = job->diag > 0 ? CLI_DONE : add_orbits(job);
    if (status != CLI_DONE)
        return status;
    int failed = csv_open(&csv, job->elements, named ? 10 : 9, column);
    for (size_t k = 0; k < job->orbits.n && !failed; k++) {
        const struct nbody_orbit *o = &job->orbits.row[k];
        failed = named ? csv_row_text(&csv, o->value, o->name) : csv_row(&csv, o->value);
    }
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}
