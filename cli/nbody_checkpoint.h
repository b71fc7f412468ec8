/* nbody_checkpoint.h - file layout of a checkpoint of `stdcl nbody`, from which a killed run
 * resumes bit for bit.
 *
 * It holds the state after a whole number of steps. If --until shortens the last step, the last
 * checkpoint is of the time before that step, so that a run to a later time makes a whole step
 * instead.
 *
 *   struct checkpoint_head, a JSON object, struct checkpoint_state, then arrays as in memory:
 *   masses; softenings, identifiers and radii, if any; rows of the table; files of each series;
 *   rows of the history and their binaries; paths; collisions; orbits; events; the engine
 *   (nbody_save)
 *
 * The JSON object holds the data that is compared and reported: version, devices with their
 * bodies and shapes, command line, metadata.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_CHECKPOINT_H
#define STDCL_CLI_NBODY_CHECKPOINT_H

#include "nbody_job.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { CHECKPOINT_FORMAT = 6 };

static const char checkpoint_magic[] = "stdcl checkpoint"; /* not terminated in the file */

struct checkpoint_head {
    char magic[16];
    uint64_t format, size; /* of the whole file */
    uint64_t text, sum;    /* bytes of JSON; checksum of everything after the head */
};

/* State of the run beyond its command line. Unused members, always 0, stand in place of padding,
 * which would carry bytes of other memory into the file. */
struct checkpoint_state {
    uint64_t size; /* of this struct */
    size_t n, gas, star, frames_done, series, rows, history, columns, text, path, engine;
    uint64_t seed;
    double G, eps, dt, accuracy, eta, time_start, seconds;
    int stepping, integrator, precision, kernel, method, model, also, unused1;
    size_t n_start, events, orbits, found;
    double radius, energy_lost, interactions;
    int collide, coordinates, corrector, safe_mode, megno, unused2;
    double hill;
    int own_eps; /* per-body softenings */
    int unused3;
    struct picture_options picture;
    struct nbody_diagnostics start;
};

/* State of an ensemble. The initial energies, all masses, the engine (nbody_ensemble_save) and
 * `kept` bytes of its outputs (nbody_ensemble_kept.c) follow. */
struct ensemble_state {
    uint64_t size; /* of this struct */
    size_t systems, bodies, engine, kept;
    uint64_t seed;
    double G, dt, spread, time_start, seconds;
    int integrator, unused;
};

/* Parts of a checkpoint. They point into its image and need not be aligned; `state` has their
 * numbers. Every part lies within the image. */
struct checkpoint_parts {
    json_t *words; /* owned */
    struct checkpoint_state state;
    const char *mass, *softening, *id, *radius; /* NULL: absent */
    const char *rows, *series, *path, *events, *orbits, *found, *engine;
    const char *history, *text; /* NULL: no row */
    const char *ensemble;       /* NULL: one system, which the members above describe */
    size_t ensemble_size;
};

/* nbody_checkpoint_read.c. Find the parts in an image of `size` bytes, which the caller keeps, and
 * check every length, and every value except those of bodies; `file` is for messages. sum: checksum
 * of all bytes after the head. Return an exit status, after printing a message. The caller releases
 * `words` in both cases. */
int checkpoint_parse(const char *file, const char *image, size_t size, uint64_t sum,
                     struct checkpoint_parts *parts);

/* A text of the JSON object, or "". */
const char *checkpoint_word(const struct checkpoint_parts *parts, const char *key);

/* Checksum of the bytes from `offset` of the file on: the sum over the file's 32-bit words, each
 * times an odd number that depends on its place. The checksum of a file is the sum over its pieces,
 * wherever it is cut, and depends on every bit. */
static inline uint64_t checkpoint_sum(const char *at, size_t size, uint64_t offset)
{
    uint64_t sum = 0, place = offset / 4;
    for (size_t skip = offset % 4, bytes; size; at += bytes, size -= bytes, skip = 0, place++) {
        uint32_t word = 0;
        uint64_t factor = (place + 1) * 0x9e3779b97f4a7c15u;
        bytes = size < 4 - skip ? size : 4 - skip;
        memcpy((char *)&word + skip, at, bytes);
        factor = (factor ^ factor >> 32) * 0xd6e8feb86659fd93u;
        sum += word * ((factor ^ factor >> 32) | 1);
    }
    return sum;
}

/* Name and driver of a device, as recorded in checkpoints. From malloc; NULL with an error. */
char *checkpoint_device(CLCONTEXT *context, unsigned dev);

/* Functions that return int return an exit status, after printing a message. */

/* nbody_checkpoint.c */
int nbody_checkpoint_plan(struct nbody_job *job);
size_t nbody_checkpoint_next(const struct nbody_job *job,
                             size_t step); /* step of the next checkpoint; SIZE_MAX: none */
/* True if the next step is the last and shortened: a checkpoint of `step` is written before it. */
bool nbody_checkpoint_precedes_last(const struct nbody_job *job, size_t step);
int nbody_checkpoint_visit(struct nbody_job *job, size_t before,
                           size_t step);           /* after a batch: write a checkpoint if due */
int nbody_checkpoint_begin(struct nbody_job *job); /* allocate room for the devices' state */
/* Write a checkpoint of the current step. The run continues after a failure. The next checkpoint
 * reports the failure as a warning, nbody_checkpoint_done as an error. */
void nbody_checkpoint_write(struct nbody_job *job);
bool nbody_checkpoint_late(const struct nbody_job *job); /* a checkpoint is due by the clock */
/* nbody_checkpoint_write of an ensemble: write and free the bytes; NULL: saving failed, with the
 * reason in clerror(). */
void nbody_checkpoint_put(struct nbody_job *job, char *bytes, size_t size, size_t step,
                          double time);
void nbody_checkpoint_wait(const struct nbody_job *job); /* wait for the checkpoint being written */
void nbody_checkpoint_done(
    struct nbody_job *job); /* wait for the last one; keep its status in job->outputs. Collective */
void nbody_checkpoint_end(struct nbody_job *job); /* write the last checkpoint; done */
void nbody_checkpoint_report(const struct nbody_job *job, FILE *fp); /* its line of the report */
void nbody_checkpoint_free(struct nbody_job *job);

/* nbody_resume.c. open: read job->resume and set job->argv to the saved command line followed by
 * this one. All others restore a part of the run. */
int nbody_resume_open(struct nbody_job *job, int argc, char **argv);

/* Words of the saved command line; NULL: not resumed. */
const struct cli_stored *nbody_resume_stored(const struct nbody_job *job);
int nbody_resume_options(struct nbody_job *job);
int nbody_resume_bodies(struct nbody_job *job, bool divided); /* divided: this rank's slice */
int nbody_resume_devices(struct nbody_job *job);
bool nbody_resume_uses_host(const struct nbody_job *job); /* the checkpoint's run did */
void nbody_resume_engine(struct nbody_job *job, struct nbody_options *options);
int nbody_resume_state(struct nbody_job *job);
int nbody_resume_outputs(struct nbody_job *job);
void nbody_resume_free(struct nbody_job *job);

/* State of a resumed ensemble, `size` bytes; NULL for a different kind of run. */
const char *nbody_resume_ensemble(const struct nbody_job *job, size_t *size);

#endif
