/* nbody_series.c - files of bodies: at the end, and with --snapshots as a numbered series. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "ranks_file.h"
#include "text.h"
#include "nbody_bodies.h"
#include "nbody_output.h"

#include "formats/series.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* ---- One file. ------------------------------------------------------------------------------- */

/* Remove choices by default from the metadata of bodies that are only converted: they fit no later
 * run of the file. Models have a step of their own. */
static int drop_unused_notes(struct nbody_job *job)
{
    const struct {
        bool unused;
        enum particles_note note;
    } notes[] = {{job->by_default.step, NOTE_step},
                 {job->by_default.integrator, NOTE_integrator},
                 {job->by_default.precision, NOTE_precision}};
    if (job->total > 0 || !job->input)
        return CLI_DONE;
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        if (notes[i].unused && particles_set_note(&job->bodies, notes[i].note, NULL) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

void nbody_bodies_release(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    if (!b->all || nbody_method(job->engine) != NBODY_TREE)
        return;
    free(b->pos);
    free(b->vel);
    b->pos = b->vel = NULL;
}

/* Allocate released arrays again. */
static int reserve_bodies(struct particles *b)
{
    if (!b->all)
        return 0;
    b->pos = b->pos ? b->pos : malloc(b->n * sizeof *b->pos);
    b->vel = b->vel ? b->vel : malloc(b->n * sizeof *b->vel);
    return world_reduce_status(
        cli_world,
        b->pos && b->vel ? 0 : clerror_set(ENOMEM, "out of memory for %zu bodies", b->n));
}

/* Download the current bodies and update the metadata of their files. */
int nbody_bodies_fetch(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    if (reserve_bodies(b) != 0 || nbody_state(job->engine, b->pos, b->vel) < 0 ||
        (b->potential && nbody_steps(job->engine) > 0 &&
         nbody_forces(job->engine, NULL, b->potential) < 0))
        return cli_failed_call(NULL);
    b->time = nbody_time(job->engine);
    const int status = nbody_metadata_set(job);
    return status == CLI_DONE ? drop_unused_notes(job) : status;
}

/* All ranks hold all bodies and write the file together. An abandoned file is not added to the
 * series. */
static int write_snapshot(struct nbody_job *job, const struct particles *b, size_t step,
                          const char *file, struct series *series)
{
    struct cli_output one = {.file = file};
    cli_ranks_shared_files(true);
    const int failed = particles_write(file, b, NULL);
    cli_ranks_shared_files(false);
    const int status = cli_output_end(&one, failed, &job->interrupted);
    if (status != CLI_DONE || one.left_out)
        return status;
    return series_add(series, step, b) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

int nbody_bodies_write(struct nbody_job *job, const struct particles *b, size_t step,
                       struct cli_output *o)
{
    struct series alone = {.pattern = o->file};
    const int status = write_snapshot(job, b, step, o->file, &alone);
    o->left_out = alone.n == 0;
    series_free(&alone);
    return status;
}

/* ---- The series. ----------------------------------------------------------------------------- */

static bool have_one_index(const char *one, const char *other)
{
    char *a = series_companion(one, ".csv"), *b = series_companion(other, ".csv");
    const bool same = a && b && !strcmp(a, b);
    free(a);
    free(b);
    return same;
}

int nbody_series_add(struct nbody_job *job, const char *pattern)
{
    if (!series_is(pattern))
        return CLI_DONE;
    if (!(job->snapshots > 0))
        return cli_wrong("-o %s is a series of files: add --snapshots TIME", pattern);
    for (size_t i = 0; i < job->series_n; i++)
        if (have_one_index(job->series[i].pattern, pattern))
            return cli_wrong("-o %s and %s would share one index; give them different names",
                             job->series[i].pattern, pattern);
    job->series = cli_realloc(job->series, job->series_n + 1, sizeof *job->series);
    job->series[job->series_n++] = (struct series){.pattern = pattern};
    return CLI_DONE;
}

/* The output that stands for series i. */
static struct cli_output *output_of_series(const struct nbody_job *job, size_t i)
{
    struct cli_output *o = job->outputs.item;
    while (o->file != job->series[i].pattern)
        o++;
    return o;
}

/* True if a series has no failed snapshot. */
static bool any_series_continues(const struct nbody_job *job)
{
    for (size_t i = 0; i < job->series_n; i++)
        if (!output_of_series(job, i)->left_out)
            return true;
    return false;
}

size_t nbody_series_next(const struct nbody_job *job)
{
    if (!any_series_continues(job))
        return SIZE_MAX;
    const double step = floor(job->series_due * job->snapshots / fabs(job->dt) + 0.5);
    return step <= (double)job->total ? (size_t)step : SIZE_MAX;
}

void nbody_series_resume(struct nbody_job *job, size_t step)
{
    const double each = job->snapshots / fabs(job->dt); /* steps; a file is due at the nearest */
    if (job->series_n)
        job->series_due = ceil(((double)step + 0.5) / each);
}

/* Free bytes on the disk of a series; false if unknown. */
static bool query_disk(const char *pattern, struct stat *folder, double *room)
{
    struct statvfs disk;
    const char *slash = strrchr(pattern, '/');
    char *name = slash ? strndup(pattern, (size_t)(slash - pattern) + 1) : strdup(".");
    const bool known = name && stat(name, folder) == 0 && statvfs(name, &disk) == 0;
    free(name);
    *room = known ? (double)disk.f_bavail * (double)disk.f_frsize : 0;
    return known;
}

/* Number of files of each series still to be written. */
static double files_left(const struct nbody_job *job)
{
    const size_t done = job->engine ? nbody_steps(job->engine) : 0;
    return floor((double)(job->total - done) * fabs(job->dt) / job->snapshots) + 2;
}

/* Check that this series and the preceding ones on the same disk fit its free space. */
static int check_disk(const struct nbody_job *job, size_t last)
{
    struct stat here, there;
    struct cli_text all, each, free_bytes;
    double room, other, bytes = 0;
    if (!query_disk(job->series[last].pattern, &here, &room))
        return CLI_DONE;
    for (size_t i = 0; i <= last; i++)
        if (query_disk(job->series[i].pattern, &there, &other) && there.st_dev == here.st_dev)
            bytes += (double)particles_bytes(job->series[i].pattern, &job->bodies) * (double)job->n;
    const double files = files_left(job);
    if (files * bytes <= room)
        return CLI_DONE;
    return cli_failed(
        "--snapshots: about %.0f snapshots of %s, %s in total, exceed the %s free on the disk of '%s'; increase the time between snapshots",
        files, cli_text_bytes(&each, bytes), cli_text_bytes(&all, files * bytes),
        cli_text_bytes(&free_bytes, room), job->series[last].pattern);
}

int nbody_series_plan(const struct nbody_job *job)
{
    if (job->series_n && job->snapshots < fabs(job->dt))
        return cli_wrong("--snapshots: '%g' is shorter than a step, %g", job->snapshots,
                         fabs(job->dt));
    for (size_t i = 0; i < job->series_n; i++) {
        const int status = check_disk(job, i);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* True if a series has no failed snapshot and no file of this step. */
static bool one_series_lacks(const struct nbody_job *job, size_t i, size_t step)
{
    const struct series *s = &job->series[i];
    return !output_of_series(job, i)->left_out && (s->n == 0 || s->file[s->n - 1].step != step);
}

void nbody_series_write_bodies(struct nbody_job *job, const struct particles *b, size_t step)
{
    for (size_t i = 0; i < job->series_n; i++) {
        struct series *s = &job->series[i];
        struct cli_output *o = output_of_series(job, i);
        if (!one_series_lacks(job, i, step))
            continue;
        char *file = series_name(s->pattern, s->n);
        const int status = file ? write_snapshot(job, b, step, file, s) : cli_failed_call(NULL);
        free(file);
        cli_outputs_keep_status(&job->outputs, o, status);
    }
    job->series_due++;
}

int nbody_series_write(struct nbody_job *job)
{
    const int status = nbody_bodies_fetch(job);
    if (status == CLI_DONE)
        nbody_series_write_bodies(job, &job->bodies, nbody_steps(job->engine));
    return status;
}

bool nbody_series_lacks(const struct nbody_job *job, size_t step)
{
    for (size_t i = 0; i < job->series_n; i++)
        if (one_series_lacks(job, i, step))
            return true;
    return false;
}

/* True if an older series keeps its place, by its first file. Collective. */
static bool older_series_is_kept(const struct nbody_job *job, bool at_start)
{
    char *first = at_start ? series_name(job->series[0].pattern, 0) : NULL;
    const char *name = first;
    struct cli_strings names = {.n = first != NULL, .item = &name};
    cli_outputs_keep_older(&names, at_start);
    free(first);
    return at_start && !names.n;
}

int nbody_series_end(struct nbody_job *job, bool at_start)
{
    if (!nbody_series_lacks(job, nbody_steps(job->engine)) || older_series_is_kept(job, at_start))
        return CLI_DONE;
    return nbody_series_write(job);
}

void nbody_series_report(const struct nbody_job *job, FILE *fp)
{
    for (size_t i = 0; i < job->series_n; i++) {
        const struct series *s = &job->series[i];
        if (!s->n)
            continue;
        char *first = series_name(s->pattern, 0), *last = series_name(s->pattern, s->n - 1);
        char *index = series_companion(s->pattern, ".csv");
        fprintf(fp, "%-14s%s ... %s, with %s\n", "snapshots", first ? first : "", last ? last : "",
                index ? index : "");
        free(first);
        free(last);
        free(index);
    }
}

void nbody_series_free(struct nbody_job *job)
{
    for (size_t i = 0; i < job->series_n; i++)
        series_free(&job->series[i]);
    free(job->series);
}
