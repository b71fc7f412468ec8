/* nbody_checkpoint.h - file layout of a checkpoint of `stdcl nbody`, from which a killed run
 * resumes bit for bit.
 *
 *   struct checkpoint_head, a JSON object, struct checkpoint_state, then arrays as in memory:
 *   masses; softenings, identifiers and radii, if any; rows of the table; files of each series;
 *   rows of the history and their binaries; paths; collisions; the engine (nbody_save)
 *
 * The JSON object holds the data that is compared and reported: version, devices with their
 * bodies and shapes, command line, metadata.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_CHECKPOINT_H
#define STDCL_CLI_NBODY_CHECKPOINT_H

#include "nbody_job.h"

#include <jansson.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { CHECKPOINT_FORMAT = 1 };

static const char checkpoint_magic[] = "stdcl checkpoint"; /* not terminated in the file */

struct checkpoint_head {
    char magic[16];
    uint64_t format, size; /* of the whole file */
    uint64_t text, sum;    /* bytes of JSON; checksum of everything after the head */
};

/* State of the run beyond its command line. */
struct checkpoint_state {
    uint64_t size; /* of this struct */
    size_t n, gas, star, frames_done, series, rows, history, columns, text, path, engine;
    uint64_t seed;
    double G, eps, dt, accuracy, eta, time_start, seconds;
    int stepping, integrator, precision, kernel, method, model, also;
    size_t n_start, events;
    double radius, energy_lost, interactions;
    int collide;
    int own_eps;   /* per-body softenings */
    int shortened; /* the last step was shortened for --until */
    struct picture_options picture;
    struct nbody_diagnostics start;
};

/* State of an ensemble. The initial energies, all masses and the engine (nbody_ensemble_save)
 * follow. */
struct ensemble_state {
    uint64_t size; /* of this struct */
    size_t systems, bodies, engine;
    uint64_t seed;
    double G, dt, spread, time_start, seconds;
    int integrator;
};

/* State of a resumed ensemble, `size` bytes; NULL for a different kind of run. */
const char *nbody_resume_ensemble(const struct nbody_job *job, size_t *size);

/* Parts of a checkpoint. They point into its image and need not be aligned; `state` has their
 * numbers. Every part lies within the image. */
struct checkpoint_parts {
    json_t *words; /* owned */
    struct checkpoint_state state;
    const char *mass, *softening, *id, *radius; /* NULL: absent */
    const char *rows, *series, *path, *events, *engine;
    const char *history, *text; /* NULL: no row */
    const char *ensemble;       /* NULL: one system, which the members above describe */
    size_t ensemble_size;
};

/* nbody_checkpoint_read.c. Find the parts in an image of `size` bytes, which the caller keeps, and
 * check every length and value; `file` is for messages. Return an exit status, after printing a
 * message. The caller releases `words` in both cases. */
int checkpoint_parse(const char *file, const char *image, size_t size,
                     struct checkpoint_parts *parts);

/* A text of the JSON object, or "". */
const char *checkpoint_word(const struct checkpoint_parts *parts, const char *key);

/* Checksum over 64-bit words that depends on every bit. */
static inline uint64_t checkpoint_sum(const char *at, size_t size)
{
    uint64_t sum = size, word;
    for (; size; at += sizeof word, size -= size < sizeof word ? size : sizeof word) {
        word = 0;
        memcpy(&word, at, size < sizeof word ? size : sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 32;
    }
    return sum;
}

/* Name and driver of a device, as recorded in checkpoints. From malloc; NULL with an error. */
char *checkpoint_device(CLCONTEXT *context, unsigned dev);

#endif
