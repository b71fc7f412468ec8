/* nbody_collide.c - collisions (--collide). The engine looks for contacts within the steps that it
 * chooses, and ends a step there; after fixed and block steps the host looks for bodies in contact.
 * Either the run stops, or the bodies merge, conserving mass, momentum, centre of mass and volume,
 * and the run continues in an engine with fewer bodies. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_run.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const nbody_collide_names[] = {"nothing", "merge", "stop", NULL};
enum { NOTHING, MERGE, STOP };
enum { REPORTED = 10 }; /* events in the report */

bool nbody_collide_merges(const struct nbody_job *job)
{
    return job->collide == MERGE;
}

/* ---- Before the run. ------------------------------------------------------------------------- */

int nbody_collide_plan(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    job->positions_known = !job->resumed;
    if (!job->collide || job->resumed) /* a resumed run has radii and identifiers */
        return CLI_DONE;
    if (isnan(job->radius) && !b->radius)
        return cli_wrong("--collide needs radii: add --radius LENGTH, or use a file with radii");
    if (job->collide == MERGE && nbody_fields_have_files(&job->fields))
        return cli_wrong("--collide merge renumbers bodies, which a force from a file sees by "
                         "their index; use --collide stop");
    if (!isnan(job->radius)) {
        b->radius = cli_realloc(b->radius, b->n, sizeof *b->radius);
        for (size_t i = 0; i < b->n; i++)
            b->radius[i] = job->radius;
        b->also |= PARTICLES_RADIUS;
    }
    if (job->collide == MERGE && !b->id) { /* identifiers survive merging */
        b->id = cli_alloc(b->n, sizeof *b->id);
        for (size_t i = 0; i < b->n; i++)
            b->id[i] = i + 1;
        b->also |= PARTICLES_ID;
    }
    return CLI_DONE;
}

/* ---- Two become one. ------------------------------------------------------------------------- */

static uint64_t body_id(const struct particles *b, size_t i)
{
    return b->id ? b->id[i] : i + 1;
}

static void add_event(struct nbody_job *job, const struct nbody_contact *c, size_t i, size_t j)
{
    job->events.event =
        cli_realloc(job->events.event, job->events.n + 1, sizeof *job->events.event);
    job->events.event[job->events.n++] =
        (struct nbody_event){nbody_time(job->engine) - copysign(c->before, job->dt),
                             body_id(&job->bodies, i), body_id(&job->bodies, j)};
}

/* Merge body j into body i. Massless bodies merge at the midpoint. */
static void merge_pair(struct particles *b, size_t i, size_t j)
{
    const double mass = b->mass[i] + b->mass[j], part = mass > 0 ? b->mass[j] / mass : 0.5;
    for (int k = 0; k < 3; k++) {
        b->pos[i][k] += part * (b->pos[j][k] - b->pos[i][k]);
        b->vel[i][k] += part * (b->vel[j][k] - b->vel[i][k]);
    }
    b->mass[i] = mass;
    b->radius[i] = cbrt(b->radius[i] * b->radius[i] * b->radius[i] +
                        b->radius[j] * b->radius[j] * b->radius[j]);
}

/* Remove body `gone` from all arrays. */
static void remove_body(struct nbody_job *job, size_t gone)
{
    struct particles *b = &job->bodies;
    const size_t after = b->n - gone - 1;
    void *const arrays[] = {b->mass, b->softening, b->potential, b->id, b->radius};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        if (arrays[k])
            memmove((double *)arrays[k] + gone, (double *)arrays[k] + gone + 1,
                    after * sizeof(double));
    memmove(b->pos + gone, b->pos + gone + 1, after * sizeof *b->pos);
    memmove(b->vel + gone, b->vel + gone + 1, after * sizeof *b->vel);
    for (size_t k = 0, to = 0; k < job->path.n * b->n; k++)
        if (k % b->n != gone)
            memmove(job->path.pos[to++], job->path.pos[k], sizeof *job->path.pos);
    if (particles_remove_name(b, gone) < 0)
        cli_warn("%s", clerror());
    b->gas -= gone < b->gas;
    b->star -= gone >= b->n - b->star;
    job->n = --b->n;
}

/* Merge all contacts in the order of time. The heavier body stays; of equal masses the first. */
static void merge_all(struct nbody_job *job, const struct nbody_contact *contact, size_t n)
{
    struct particles *b = &job->bodies;
    size_t *is = cli_alloc(b->n, sizeof *is); /* body that each has merged into */
    for (size_t i = 0; i < b->n; i++)
        is[i] = i;
    for (size_t k = 0; k < n; k++) {
        size_t i = contact[k].first, j = contact[k].second;
        while (is[i] != i)
            i = is[i];
        while (is[j] != j)
            j = is[j];
        if (i == j)
            continue;
        const bool first = b->mass[i] > b->mass[j] || (b->mass[i] == b->mass[j] && i < j);
        const size_t stays = first ? i : j, goes = first ? j : i;
        add_event(job, &contact[k], stays, goes);
        merge_pair(b, stays, goes);
        is[goes] = stays;
    }
    nbody_fields_merge(&job->fields, b->n, is);
    for (size_t i = b->n; i-- > 0;)
        if (is[i] != i)
            remove_body(job, i);
    free(is);
}

/* ---- In the run. ----------------------------------------------------------------------------- */

/* Let the engine look for contacts, if it can. */
static int watch_contacts(struct nbody_job *job)
{
    job->watched = nbody_watch_contacts(job->engine, job->bodies.radius) == 0;
    return job->watched || clerrno == ENOTSUP ? CLI_DONE : cli_failed_call(NULL);
}

/* Replace the engine by one for the current bodies, at the current time and step. */
static int replace_engine(struct nbody_job *job)
{
    const struct nbody_options options = nbody_job_options(job);
    const double elapsed = nbody_elapsed(job->engine), time = nbody_time(job->engine) - elapsed;
    const size_t steps = nbody_steps(job->engine);
    job->interactions += nbody_interactions(job->engine);
    nbody_free(job->engine);
    job->engine =
        nbody_create(&options, job->n, job->bodies.mass, (const double(*)[3])job->bodies.pos,
                     (const double(*)[3])job->bodies.vel);
    if (!job->engine)
        return cli_failed_call("merging bodies");
    nbody_set_clock(job->engine, time, steps);
    return nbody_set_elapsed(job->engine, elapsed) == 0 ? watch_contacts(job)
                                                        : cli_failed_call(NULL);
}

/* Merging loses energy. Record the loss, so that the energy error is that of the integration. */
static int merge_bodies(struct nbody_job *job, const struct nbody_contact *contact, size_t n)
{
    struct nbody_diagnostics before, after;
    if (nbody_diagnose(job->engine, &before) < 0)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    nbody_checkpoint_wait(job); /* a checkpoint still reads the bodies */
    merge_all(job, contact, n);
    const int status = replace_engine(job);
    if (status != CLI_DONE || nbody_diagnose(job->engine, &after) < 0)
        return status != CLI_DONE || nbody_job_stopped() ? status : cli_failed_call(NULL);
    job->energy_lost += before.total - after.total;
    return CLI_DONE;
}

/* Contacts are searched along straight lines over --dt, but with block steps bodies follow curves
 * within it. Warn about a body that leaves its line by more than its radius: contacts may
 * be missed. `old`: positions at the start of the step. */
static void check_paths(struct nbody_job *job, const double (*old)[3], double dt)
{
    const struct particles *b = &job->bodies;
    for (size_t i = 0; i < b->n && !job->bends; i++) {
        double off = 0;
        for (int k = 0; k < 3; k++) {
            const double d = b->pos[i][k] - b->vel[i][k] * dt - old[i][k];
            off += d * d;
        }
        job->bends = b->radius[i] > 0 && off > b->radius[i] * b->radius[i];
        if (job->bends)
            cli_warn(
                "--collide checks after every --dt; before time %g, body %llu left its straight line by %.2g, more than its radius %.2g: contacts may have been missed; use a smaller --dt",
                nbody_time(job->engine), (unsigned long long)body_id(b, i), sqrt(off),
                b->radius[i]);
    }
}

/* Download the bodies after a step. A resumed run has no previous positions before its first
 * step. */
static int download_bodies(struct nbody_job *job, double dt)
{
    struct particles *b = &job->bodies;
    const bool look = nbody_job_chooses_steps(job) && !job->bends && job->positions_known;
    double(*old)[3] = look ? cli_alloc(b->n, sizeof *old) : NULL;
    if (look)
        memcpy(old, b->pos, b->n * sizeof *old);
    const int called = nbody_state(job->engine, b->pos, b->vel);
    if (called == 0 && look)
        check_paths(job, (const double(*)[3])old, dt);
    free(old);
    job->positions_known = true;
    return called;
}

/* Merge the bodies, or stop the run. */
static int handle_contacts(struct nbody_job *job, const struct nbody_contact *contact, size_t n)
{
    if (n && job->collide == MERGE)
        return merge_bodies(job, contact, n);
    if (n && job->collide == STOP) {
        add_event(job, contact, contact->first, contact->second);
        snprintf(job->stopped, sizeof job->stopped,
                 "bodies %llu and %llu touch at time %g (--collide stop)",
                 (unsigned long long)job->events.event[0].first,
                 (unsigned long long)job->events.event[0].second, job->events.event[0].time);
    }
    return CLI_DONE;
}

/* Handle contacts within the last step dt along lines; with dt 0, bodies that overlap. */
static int handle_lines(struct nbody_job *job, double dt)
{
    const struct particles *b = &job->bodies;
    struct nbody_contact *contact;
    size_t n;
    if (nbody_find_contacts(b->n, b->radius, (const double(*)[3])b->pos, (const double(*)[3])b->vel,
                            dt, &contact, &n) < 0)
        return cli_failed_call(NULL);
    const int status = handle_contacts(job, contact, n);
    free(contact);
    return status;
}

/* Contacts at which the engine has ended the last step. The list goes with the engine. */
static int handle_watched(struct nbody_job *job)
{
    size_t n;
    const struct nbody_contact *found = nbody_contacts(job->engine, &n);
    if (n == 0)
        return CLI_DONE;
    if (nbody_state(job->engine, job->bodies.pos, job->bodies.vel) < 0)
        return cli_failed_call(NULL);
    struct nbody_contact *contact = cli_alloc(n, sizeof *contact);
    memcpy(contact, found, n * sizeof *contact);
    const int status = handle_contacts(job, contact, n);
    free(contact);
    return status;
}

/* Bodies that overlap at the start touch at time 0. */
int nbody_collide_begin(struct nbody_job *job)
{
    const int status = job->collide ? watch_contacts(job) : CLI_DONE;
    return status != CLI_DONE || !job->collide || job->resumed ? status : handle_lines(job, 0);
}

int nbody_collide_visit(struct nbody_job *job, bool whole)
{
    const double dt = nbody_steps(job->engine) == job->total ? job->last_dt : job->dt;
    if (!job->collide)
        return CLI_DONE;
    if (job->watched)
        return handle_watched(job);
    if (!whole)
        return CLI_DONE;
    return download_bodies(job, dt) < 0 ? cli_failed_call(NULL) : handle_lines(job, dt);
}

/* ---- At the end. ----------------------------------------------------------------------------- */

void nbody_collide_text(const struct nbody_job *job, FILE *fp)
{
    if (job->collide != MERGE)
        return;
    fprintf(fp, "%-14s%zu", "collisions", job->events.n);
    for (size_t k = 0; k < job->events.n && k < REPORTED; k++) {
        const struct nbody_event *e = &job->events.event[k];
        fprintf(fp, "%s body %llu absorbs %llu at time %g", k ? "," : ":",
                (unsigned long long)e->first, (unsigned long long)e->second, e->time);
    }
    fputs(job->events.n > REPORTED ? ", ...\n" : "\n", fp);
    if (job->events.n)
        fprintf(
            fp,
            "%-14s%zu bodies at the end; merging removed energy %.6g, which the error excludes\n",
            "", job->n, job->energy_lost);
}

json_t *nbody_collide_json(const struct nbody_job *job)
{
    json_t *events = json_array();
    for (size_t k = 0; k < job->events.n; k++) {
        const struct nbody_event *e = &job->events.event[k];
        json_array_append_new(events,
                              json_pack("{s:o, s:I, s:I}", "time", cli_json_real(e->time), "first",
                                        (json_int_t)e->first, "second", (json_int_t)e->second));
    }
    if (job->collide)
        return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)job->events.n, "energy_lost",
                         cli_json_real(job->energy_lost), "events", events);
    json_decref(events);
    return json_null();
}
