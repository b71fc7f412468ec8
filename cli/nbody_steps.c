/* nbody_steps.c - checks of the time step: warnings where single precision cannot resolve a
 * step; with --check-step, the same run at half the step and the distances between the final
 * positions. The total energy is insensitive to light bodies.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "json.h"
#include "message.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_run.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORST = 5, FEW = 100, FAR = 100 };

struct step_check {
    size_t n;                    /* bodies */
    double (*pos)[3], (*vel)[3]; /* at the start */
    double *off;                 /* distance between the final positions */
    size_t *order;               /* bodies by distance, largest first */
    bool done;
};

/* ---- Single precision. ----------------------------------------------------------------------- */

/* True if a body moves but no rounded coordinate changes. */
static bool is_lost_to_rounding(const double *pos, const double *vel, double dt)
{
    bool moves = false;
    for (int c = 0; c < 3; c++) {
        volatile const float from = (float)pos[c], to = (float)(pos[c] + vel[c] * dt);
        moves |= fabs(vel[c]) > 0;
        if (from < to || from > to)
            return false;
    }
    return moves;
}

static void steps_join_sums(void *a, const void *b, void *count)
{
    for (size_t k = 0; k < *(const size_t *)count; k++)
        ((double *)a)[k] += ((const double *)b)[k];
}

/* Add up the sums over the ranks' slices of the bodies. */
static void steps_add_slices(const struct particles *b, double *sum, size_t count)
{
    if (b->all)
        (void)world_reduce(cli_world, sum, count * sizeof *sum, steps_join_sums, &count);
}

static void warn_of_rounding(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    const size_t n = job->n;
    double lost = 0;
    for (size_t i = 0; i < b->n; i++)
        lost += is_lost_to_rounding(b->pos[i], b->vel[i], job->dt);
    steps_add_slices(b, &lost, 1);
    if (lost > (double)(n > FEW ? n / 100 : 0))
        cli_warn(
            "in single precision a step of %g moves %.0f of %zu bodies by less than the rounding error of their coordinates; use --precision double or a longer step",
            job->dt, lost, n);
}

/* Rounding errors grow with the distance from the origin: at FAR radii forces are wrong by 1e-4. */
static void warn_of_distance(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    const double n = (double)job->n;
    double centre[3] = {0}, radius2 = 0, distance2 = 0;
    for (size_t i = 0; i < b->n; i++)
        for (int c = 0; c < 3; c++)
            centre[c] += b->pos[i][c] / n;
    steps_add_slices(b, centre, 3);
    for (size_t i = 0; i < b->n; i++)
        for (int c = 0; c < 3; c++)
            radius2 += (b->pos[i][c] - centre[c]) * (b->pos[i][c] - centre[c]) / n;
    steps_add_slices(b, &radius2, 1);
    for (int c = 0; c < 3; c++)
        distance2 += centre[c] * centre[c];
    if (job->n > 1 && distance2 > FAR * FAR * radius2)
        cli_warn(
            "the bodies are %.0f times their extent from the origin: rounding in single precision makes forces wrong by 1e-4 or more; use --precision double, or centre the bodies at the origin",
            sqrt(distance2 / radius2));
}

/* Chosen steps mistake rounding errors in the forces of close pairs for changes of the forces. */
static void warn_of_noise(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    double extent = 0;
    for (size_t i = 0; i < b->n; i++)
        for (int c = 0; c < 3; c++)
            extent = fmax(extent, fabs(b->pos[i][c]));
    if (job->eps < 1e-4 * extent)
        cli_warn(
            "positions in single precision are rounded to %.1g: with a softening of %g, steps of close bodies become far too short; use --precision double",
            ldexp(extent, -24), job->eps);
}

/* Chosen steps mostly run on one device, whatever --device selects. */
static void warn_of_idle_devices(const struct nbody_job *job)
{
    unsigned busy = 0;
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        busy += nbody_device_bodies(job->engine, dev) > 0;
    if (busy == 1 && clgetndev(job->context) > 1)
        cli_warn("--stepping %s runs on one device; the other %u devices of --device are idle",
                 job->stepping == NBODY_BLOCK ? "block" : "adaptive", clgetndev(job->context) - 1);
}

/* ---- Half the step. -------------------------------------------------------------------------- */

int nbody_steps_begin(struct nbody_job *job)
{
    const size_t n = job->bodies.n;
    if (job->precision == NBODY_SINGLE && !job->common.quiet && !job->resume) {
        warn_of_distance(job);
        if (job->stepping == NBODY_FIXED)
            warn_of_rounding(job);
        else
            warn_of_noise(job);
    }
    if (job->stepping != NBODY_FIXED && !job->common.quiet)
        warn_of_idle_devices(job);
    if (!job->check_step)
        return CLI_DONE;
    struct step_check *c = job->step_check = calloc(1, sizeof *c);
    if (c) {
        *c = (struct step_check){n,
                                 calloc(n, sizeof *c->pos),
                                 calloc(n, sizeof *c->vel),
                                 calloc(n, sizeof *c->off),
                                 calloc(n, sizeof *c->order),
                                 false};
    }
    if (!c || !c->pos || !c->vel || !c->off || !c->order)
        return cli_failed("--check-step: out of memory for a copy of %zu bodies", n);
    memcpy(c->pos, job->bodies.pos, n * sizeof *c->pos);
    memcpy(c->vel, job->bodies.vel, n * sizeof *c->vel);
    return CLI_DONE;
}

void nbody_steps_free(struct nbody_job *job)
{
    struct step_check *c = job->step_check;
    if (!c)
        return;
    free(c->pos);
    free(c->vel);
    free(c->off);
    free(c->order);
    free(c);
    job->step_check = NULL;
}

/* Repeat the run's steps in `nb` at half their length; chosen steps are halved by a quarter of
 * eta. */
static int half_steps(struct nbody_job *job, nbody *nb, size_t steps)
{
    const size_t times = job->stepping == NBODY_FIXED ? 2 : 1;
    const bool shorter = steps == job->total && (job->last_dt < job->dt || job->last_dt > job->dt);
    const size_t whole = shorter ? steps - 1 : steps;
    nbody_set_clock(nb, job->time_start, 0);
    if (nbody_step(nb, times * whole) < 0)
        return -1;
    return shorter &&
                   (nbody_set_dt(nb, job->last_dt / (double)times) < 0 || nbody_step(nb, times) < 0)
               ? -1
               : 0;
}

static const double *compared; /* for compare_distances */
static int compare_distances(const void *a, const void *b)
{
    const double x = compared[*(const size_t *)a], y = compared[*(const size_t *)b];
    return (x < y) - (x > y);
}

/* c->pos: final positions at half the step. Set c->off to their distances from the run's final
 * positions `end`. */
static void compare_runs(struct step_check *c, const double (*end)[3])
{
    for (size_t i = 0; i < c->n; i++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += (end[i][k] - c->pos[i][k]) * (end[i][k] - c->pos[i][k]);
        c->off[i] = sqrt(sum);
        c->order[i] = i;
    }
    compared = c->off;
    qsort(c->order, c->n, sizeof *c->order, compare_distances);
    c->done = true;
}

int nbody_steps_check(struct nbody_job *job)
{
    struct step_check *c = job->step_check;
    if (!c || job->interrupted)
        return CLI_DONE;
    double(*end)[3] = calloc(c->n, sizeof *end);
    struct nbody_options options = nbody_job_options(job);
    options.method = nbody_method(job->engine);
    options.burst = 0;
    if (job->stepping == NBODY_FIXED)
        options.dt /= 2;
    else
        options.eta = nbody_eta(job->engine) / 4;
    if (!end)
        return cli_failed("--check-step: out of memory for a copy of %zu bodies", c->n);
    nbody_job_begin(job, "run at half the step", 0, 0);
    nbody *nb = nbody_state(job->engine, end, NULL) < 0
                    ? NULL
                    : nbody_create(&options, c->n, job->bodies.mass, (const double(*)[3])c->pos,
                                   (const double(*)[3])c->vel);
    int status = CLI_DONE;
    if (!nb || half_steps(job, nb, nbody_steps(job->engine)) < 0 ||
        nbody_state(nb, c->pos, NULL) < 0)
        status = nbody_job_stopped() ? CLI_DONE : cli_failed_call("--check-step");
    else
        compare_runs(c, (const double(*)[3])end);
    nbody_free(nb);
    free(end);
    return status;
}

/* ---- Report. -------------------------------------------------------------------------- */

void nbody_steps_text(const struct nbody_job *job, FILE *fp)
{
    const struct step_check *c = job->step_check;
    if (!c || !c->done)
        return;
    fprintf(fp,
            "%-14sfinal positions at half the step differ by %.2g (median); most:", "step errors",
            c->off[c->order[c->n / 2]]);
    for (size_t k = 0; k < c->n && k < WORST; k++) {
        char name[PARTICLES_NAME_SIZE];
        fputs(k ? "," : "", fp);
        if (particles_name(&job->bodies, c->order[k], name))
            fprintf(fp, " %s by %.2g", name, c->off[c->order[k]]);
        else
            fprintf(fp, " body %zu by %.2g", c->order[k] + 1, c->off[c->order[k]]);
    }
    fputc('\n', fp);
}

json_t *nbody_steps_json(const struct nbody_job *job)
{
    const struct step_check *c = job->step_check;
    if (!c || !c->done)
        return NULL;
    json_t *most = json_array();
    for (size_t k = 0; k < c->n && k < FEW; k++) {
        char name[PARTICLES_NAME_SIZE];
        json_t *one = json_pack("{s:I, s:o}", "body", (json_int_t)c->order[k] + 1, "distance",
                                cli_json_real(c->off[c->order[k]]));
        if (particles_name(&job->bodies, c->order[k], name))
            json_object_set_new(one, "name", json_string(name));
        json_array_append_new(most, one);
    }
    return json_pack("{s:o, s:o}", "median", cli_json_real(c->off[c->order[c->n / 2]]), "most",
                     most);
}
