/* nbody_checkpoint.h - what a checkpoint of `stdcl nbody` holds: a file that a killed run goes on
 * from, bit for bit.
 *
 *   struct checkpoint_head, a JSON object, struct cached_program, then arrays as they lie in memory: masses;
 *   softenings, names and radii, where there are any; rows of the table; files of each series; rows
 *   of the history and their binaries; paths of few bodies; collisions; the engine (nbody_save)
 *
 * The JSON object is for what is compared and told: version, devices with shares and shapes,
 * command line, notes.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_CHECKPOINT_H
#define STDCL_CLI_NBODY_CHECKPOINT_H

#include "nbody_job.h"

enum { CHECKPOINT_FORMAT = 1 };

static const char checkpoint_magic[] = "stdcl checkpoint"; /* without its 0: */

struct checkpoint_head {
    char magic[16];
    uint64_t format, size; /* of the whole file */
    uint64_t text, sum;    /* bytes of JSON; checksum of all that follows the head */
};

/* What the run goes on with, beside its command line. */
struct cached_program {
    uint64_t size; /* of this struct */
    size_t n, gas, star, frames_done, series, rows, history, columns, text, path, engine;
    uint64_t seed;
    double G, eps, dt, accuracy, eta, time_start, seconds;
    int stepping, integrator, precision, kernel, method, model, also;
    size_t n_start, events;
    double radius, energy_lost, interactions;
    int collide;
    int own_eps;   /* softenings are those of single bodies */
    int shortened; /* the last step was, to meet --until */
    struct picture_options picture;
    struct nbody_diagnostics start;
};

/* What an ensemble's goes on with; the energies at the start, all masses and the engine
 * (nbody_ensemble_save) follow. */
struct kept_ensemble {
    uint64_t size; /* of this struct */
    size_t systems, bodies, engine;
    uint64_t seed;
    double G, dt, spread, time_start, seconds;
    int integrator;
};

/* What follows the words of a checkpoint that is resumed, `size` bytes; NULL when it is of another
 * kind of run. */
const char *nbody_resume_ensemble(const struct nbody_job *job, size_t *size);

/* A checksum in which every bit of every word counts. */
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

/* Name and driver of a device, as checkpoints tell them. From malloc; NULL with an error. */
char *checkpoint_device(CLCONTEXT *context, unsigned dev);

#endif
