/* nbody_ensemble_systems.c - the systems of `stdcl nbody --ensemble`: perturbed copies of one, or
 * read from a list of files; and those that --systems chooses for the outputs. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "usage.h"
#include "nbody_bodies.h"
#include "nbody_ensemble.h"

#include "stdcl/philox.h"

#include <math.h>
#include <stdcl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- All systems. ---------------------------------------------------------------------------- */

static int allocate_systems(struct ensemble *e, size_t systems, size_t bodies)
{
    const size_t n = systems * bodies;
    struct particles *b = &e->bodies_out;
    const int status = cli_memory_for(systems, bodies * 18 * sizeof(double), "planetary systems");
    if (status != CLI_DONE)
        return status;
    e->systems = systems;
    e->bodies = bodies;
    b->n = n;
    b->mass = malloc(n * sizeof *b->mass);
    b->pos = malloc(n * sizeof *b->pos);
    b->vel = malloc(n * sizeof *b->vel);
    e->radius = e->job->collide ? malloc(n * sizeof *e->radius) : NULL;
    e->before = malloc(systems * sizeof *e->before);
    e->after = malloc(systems * sizeof *e->after);
    e->all = malloc(systems * sizeof *e->all);
    return b->mass && b->pos && b->vel && e->before && e->after && e->all &&
                   (e->radius || !e->job->collide)
               ? CLI_DONE
               : cli_failed("out of memory for %zu systems of %zu bodies", systems, bodies);
}

static void store_system(struct ensemble *e, size_t system, const struct particles *b)
{
    const size_t star = system * e->bodies;
    memcpy(e->bodies_out.mass + star, b->mass, e->bodies * sizeof *b->mass);
    memcpy(e->bodies_out.pos + star, b->pos, e->bodies * sizeof *b->pos);
    memcpy(e->bodies_out.vel + star, b->vel, e->bodies * sizeof *b->vel);
    for (size_t i = 0; e->radius && i < e->bodies; i++)
        e->radius[star + i] = isnan(e->job->radius) ? b->radius[i] : e->job->radius;
}

/* Keep the names of the bodies of a file of systems. */
static void keep_names(struct ensemble *e, size_t file, size_t files, const struct particles *b)
{
    const char *const names = b->note[NOTE_names];
    if (names && !e->names)
        e->names = memset(cli_alloc(files, sizeof *e->names), 0, files * sizeof *e->names);
    e->files = files;
    if (names && !(e->names[file] = strdup(names)))
        cli_out_of_memory("the names of bodies");
}

bool ensemble_body_name(const struct ensemble *e, size_t system, size_t body,
                        char name[PARTICLES_NAME_SIZE])
{
    if (!e->names)
        return false;
    const struct particles file = {.note[NOTE_names] = e->names[e->files > 1 ? system : 0]};
    return particles_name(&file, body, name);
}

static int check_system(const struct nbody_job *job, const struct particles *b)
{
    const char *const file = job->input;
    const size_t heavy = particles_heaviest(b);
    if (job->collide && isnan(job->radius) && !b->radius)
        return cli_wrong("--collide needs radii, which %s does not have: add --radius LENGTH",
                         file);
    if (heavy > 0)
        return cli_failed("%s: the first body must be the star, but body %zu is heavier", file,
                          heavy + 1);
    return b->n > 1 ? CLI_DONE
                    : cli_failed("%s: a planetary system needs at least two bodies", file);
}

/* Create copies; except in the first, planets' coordinates and velocities are perturbed by a
 * relative amount of up to `spread`. */
static int make_perturbed_copies(struct nbody_job *job, struct ensemble *e, size_t systems)
{
    int status = nbody_job_bodies(job);
    if (status != CLI_DONE)
        return status;
    if ((status = check_system(job, &job->bodies)) != CLI_DONE)
        return status;
    if ((status = allocate_systems(e, systems, job->bodies.n)) != CLI_DONE)
        return status;
    keep_names(e, 0, 1, &job->bodies);
    for (size_t s = 0; s < systems; s++) {
        store_system(e, s, &job->bodies);
        for (size_t k = 3; s && k < 3 * e->bodies; k++) {
            const philox4 at = {(uint32_t)k, 0x454e5345, (uint32_t)s, (uint32_t)(s >> 32)};
            const philox4 bits =
                philox4x32_10(at, (uint32_t)job->seed, (uint32_t)(job->seed >> 32));
            const size_t body = s * e->bodies + k / 3, axis = k % 3;
            e->bodies_out.pos[body][axis] *=
                1 + job->spread * (2 * philox_double(bits.x, bits.y) - 1);
            e->bodies_out.vel[body][axis] *=
                1 + job->spread * (2 * philox_double(bits.z, bits.w) - 1);
        }
    }
    return CLI_DONE;
}

/* Read a list of file names, one per line. From malloc, each name terminated by 0. */
static char *read_file_list(const char *list, size_t *n)
{
    FILE *fp = cli_open_text(list, "--ensemble needs a number, or a file that lists files");
    char *names = NULL, *line = NULL;
    size_t size = 0, room = 0, bytes = 0;
    *n = 0;
    if (!fp)
        return NULL;
    while (getline(&line, &room, fp) > 0) {
        char *name = line + strspn(line, " \t");
        name[strcspn(name, "\r\n")] = 0;
        if (!*name || *name == '#')
            continue;
        size = strlen(name) + 1;
        names = cli_realloc(names, bytes + size, 1);
        memcpy(names + bytes, name, size);
        bytes += size;
        ++*n;
    }
    free(line);
    fclose(fp);
    if (!*n)
        cli_failed(
            "%s lists no files; --ensemble needs a number, or a file that lists files of bodies, one per line",
            list);
    return names;
}

/* True if two values of metadata are equal but for the digits of a text. */
static bool equal_numbers(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Check that a file, read as if alone, continues the ensemble of the first file. */
static int check_metadata(const struct nbody_job *job, const struct nbody_job *own)
{
    if (!equal_numbers(own->G, job->G))
        return cli_failed(
            "%s: G is %.9g, but %.9g in the first file; all systems need the same G: give -G",
            own->input, own->G, job->G);
    if (!equal_numbers(own->time_start, job->time_start))
        return cli_failed(
            "%s: its time is %.9g, but %.9g in the first file; all systems need the same time",
            own->input, own->time_start, job->time_start);
    return CLI_DONE;
}

/* Read system s of n from a file, with the metadata and checks of a run of this file alone. The
 * first system goes to `job`, and its metadata hold for all systems. A later system goes to `own`.
 */
static int read_system(struct nbody_job *job, struct nbody_job *own, struct ensemble *e, size_t s,
                       size_t n)
{
    struct nbody_job *const reader = s ? own : job;
    const struct particles *const system = &reader->bodies;
    int status = nbody_job_bodies(reader);
    if (status != CLI_DONE)
        return status;
    if (s > 0 && (status = check_metadata(job, own)) != CLI_DONE)
        return status;
    if ((status = check_system(reader, system)) != CLI_DONE)
        return status;
    if (s == 0 && (status = allocate_systems(e, n, system->n)) != CLI_DONE)
        return status;
    if (system->n != e->bodies)
        return cli_failed(
            "%s has %zu bodies, but the preceding systems have %zu; all systems need the same number",
            reader->input, system->n, e->bodies);
    store_system(e, s, system);
    keep_names(e, s, n, system);
    return CLI_DONE;
}

static int read_systems(struct nbody_job *job, struct ensemble *e)
{
    const struct nbody_job given = *job; /* options, before a file's metadata replace defaults */
    size_t n = 0;
    char *names = read_file_list(job->ensemble, &n), *name = names;
    int status = names ? CLI_DONE : CLI_FAILED;
    for (size_t s = 0; s < n && status == CLI_DONE; s++, name += strlen(name) + 1) {
        struct nbody_job own = given;
        job->input = own.input = name;
        own.common.quiet = true; /* the first file's warnings hold for all */
        status = read_system(job, &own, e, s, n);
        particles_free(&own.bodies);
    }
    job->input = job->ensemble;
    free(names);
    return status;
}

int ensemble_create(struct ensemble *e)
{
    struct nbody_job *const job = e->job;
    uint64_t copies = 0;
    const bool number = cli_read_natural(job->ensemble, &copies) == 0;
    if (number && (copies < 1 || !job->input))
        return cli_wrong(
            copies < 1 ? "--ensemble: '%s' is not a positive number of systems"
                       : "--ensemble %s copies a system: add -i FILE with a star and its planets",
            job->ensemble);
    if (!number && job->input)
        return cli_wrong(
            "-i and --ensemble %s cannot be combined: the list's files are the systems",
            job->ensemble);
    return number ? make_perturbed_copies(job, e, (size_t)copies) : read_systems(job, e);
}

/* ---- The chosen systems. --------------------------------------------------------------------- */

bool nbody_read_systems(const char *text, void *to, char *why, size_t size)
{
    struct nbody_system_list *list = to;
    uint64_t before = 0;
    for (list->n = 0; list->n < NBODY_SYSTEM_RANGES; list->n++) {
        char word[64], *dash;
        uint64_t first, last;
        const size_t length = strcspn(text, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        dash = strchr(word, '-');
        if (dash)
            *dash = '\0';
        if (length >= sizeof word || cli_read_natural(word, &first) != 0 || first <= before)
            break;
        if (cli_read_natural(dash ? dash + 1 : word, &last) != 0 || last < first)
            break;
        list->first[list->n] = (size_t)first;
        list->last[list->n] = (size_t)last;
        before = last;
        text += length;
        if (!*text++)
            return list->n++, true;
    }
    snprintf(why, size,
             "give up to %d ascending numbers from 1 and ranges of systems, such as 1,5-9",
             NBODY_SYSTEM_RANGES);
    return false;
}

static int list_chosen(struct ensemble *e)
{
    const struct nbody_system_list all = {.n = 1, .first = {1}, .last = {e->systems}},
                                   *list = e->job->chosen.n ? &e->job->chosen : &all;
    const size_t last = list->last[list->n - 1];
    size_t n = 0;
    if (last > e->systems)
        return cli_wrong("--systems: there is no system %zu; there are %zu", last, e->systems);
    for (size_t i = 0; i < list->n; i++)
        n += list->last[i] - list->first[i] + 1;
    e->chosen = cli_alloc(n, sizeof *e->chosen);
    e->ended = cli_alloc(n, sizeof *e->ended);
    memset(e->ended, 0, n * sizeof *e->ended);
    e->system = cli_alloc(n, sizeof *e->system);
    e->chaos = e->job->megno ? cli_alloc(n, sizeof *e->chaos) : NULL;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = list->first[i]; k <= list->last[i]; k++)
            e->chosen[e->chosen_n++] = k - 1;
    return CLI_DONE;
}

int ensemble_choose(struct ensemble *e)
{
    struct particles *b = &e->bodies_out;
    const int status = list_chosen(e);
    if (status != CLI_DONE)
        return status;
    e->mass = b->mass;
    b->n = e->chosen_n * e->bodies;
    b->mass = cli_alloc(b->n, sizeof *b->mass);
    b->id = cli_alloc(b->n, sizeof *b->id);
    b->radius = e->radius ? cli_alloc(b->n, sizeof *b->radius) : NULL;
    b->also = PARTICLES_ID | (e->radius ? PARTICLES_RADIUS : 0);
    for (size_t i = 0; i < b->n; i++) {
        const size_t from = e->chosen[i / e->bodies] * e->bodies + i % e->bodies;
        b->mass[i] = e->mass[from];
        b->id[i] = from + 1;
        if (e->radius)
            b->radius[i] = e->radius[from];
    }
    return CLI_DONE;
}

/* Give the merged body `second` of the chosen system k the rest of body `first`. */
static void absorb_body(struct ensemble *e, size_t k, size_t first, size_t second)
{
    struct particles *b = &e->bodies_out;
    const size_t from = k * e->bodies + first, to = k * e->bodies + second;
    b->mass[to] = 0;
    memcpy(b->pos[to], b->pos[from], sizeof *b->pos);
    memcpy(b->vel[to], b->vel[from], sizeof *b->vel);
    b->id[to] = b->id[from];
}

/* Radii of bodies that have merged: volumes add up. In the order of time. */
static void merge_radii(struct ensemble *e, size_t k, size_t first, size_t second)
{
    double *const r = e->bodies_out.radius + k * e->bodies;
    r[first] = cbrt(r[first] * r[first] * r[first] + r[second] * r[second] * r[second]);
    r[second] = 0;
}

/* Place bodies that have merged; events are by system, then by time. */
static int place_merged(struct ensemble *e)
{
    struct nbody_system_event *event;
    size_t n, k = 0;
    if (!nbody_collide_merges(e->job))
        return CLI_DONE;
    if (nbody_ensemble_events(e->engine, e->chosen_n, e->chosen, &event, &n) < 0)
        return cli_failed_call(NULL);
    for (size_t i = 0; i < e->bodies_out.n; i++)
        e->bodies_out.radius[i] = e->radius[e->chosen[i / e->bodies] * e->bodies + i % e->bodies];
    for (size_t i = 0; i < n; i++) {
        while (k < e->chosen_n && e->chosen[k] < event[i].system)
            k++;
        if (k < e->chosen_n && e->chosen[k] == event[i].system && event[i].first != event[i].second)
            merge_radii(e, k, event[i].first, event[i].second);
    }
    k = e->chosen_n;
    for (size_t i = n; i-- > 0;) { /* the last first: it absorbed others */
        while (k > 0 && e->chosen[k - 1] > event[i].system)
            k--;
        if (k > 0 && e->chosen[k - 1] == event[i].system && event[i].first != event[i].second)
            absorb_body(e, k - 1, event[i].first, event[i].second);
    }
    free(event);
    return CLI_DONE;
}

int ensemble_fetch(struct ensemble *e)
{
    struct particles *b = &e->bodies_out;
    double *const mass = nbody_collide_merges(e->job) ? b->mass : NULL;
    if (nbody_ensemble_systems(e->engine, e->chosen_n, e->chosen, e->system) < 0 ||
        nbody_ensemble_read(e->engine, e->chosen_n, e->chosen, mass, b->pos, b->vel) < 0 ||
        (e->chaos && nbody_ensemble_find_chaos(e->engine, e->chosen_n, e->chosen, e->chaos) < 0))
        return cli_failed_call(NULL);
    b->time = e->job->time_start + nbody_ensemble_time(e->engine);
    return place_merged(e);
}
