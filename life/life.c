/* life.c - what is the same for all engines.
 *
 * It keeps the generation counter, and copies rectangles between the caller and the host's rows. It fetches these rows
 * from the device before they are read, and sends them there before a step, if they are not the same already.
 * The engines are packed.c, padded.c (local, global) and life_ref.c.
 * SPDX-License-Identifier: MIT
 */
#include "life/internal.h"

#include "core/reserved.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static const struct life_backend *const backends[LIFE_ENGINES] = {
    [LIFE_PACKED] = &life_packed_backend,
    [LIFE_LOCAL] = &life_padded_backend,
    [LIFE_GLOBAL] = &life_padded_backend,
    [LIFE_REFERENCE] = &life_reference_backend,
};

/* ---- Making and freeing. --------------------------------------------------------------------- */

enum { SIDE_MAX = 1 << 30 }; /* cells; kernels count them in ints, with room for a halo */

static int check_options(const struct life_options *o)
{
    if (o->width < 1 || o->height < 1)
        return clerror_set(EINVAL,
                           "life: a grid of %zu x %zu cells is empty; width and height must be at "
                           "least 1",
                           o->width, o->height);
    if (o->width > SIDE_MAX || o->height > SIDE_MAX)
        return clerror_set(EINVAL, "life: %zu x %zu cells: a side has at most %d cells", o->width, o->height,
                           SIDE_MAX);
    if ((unsigned)o->engine >= LIFE_ENGINES)
        return clerror_set(EINVAL, "life: there is no engine number %d", (int)o->engine);
    if (o->bounds != LIFE_TORUS && o->bounds != LIFE_PLANE)
        return clerror_set(EINVAL, "life: bounds are LIFE_TORUS or LIFE_PLANE, not %d", (int)o->bounds);
    if (o->ctx && !clgetndev(o->ctx))
        return clerror_set(ENODEV, "life: the context has no device");
    return reserved_check("life_create", o->reserved);
}

life *life_create(const struct life_options *options)
{
    struct life_rule rule;
    if (check_options(options) < 0 || life_rule_parse(options->rule ? options->rule : "B3/S23", &rule) < 0)
        return NULL;
    life *lf = calloc(1, sizeof *lf);
    if (!lf) {
        clerror_set(ENOMEM, "life: no memory for an engine");
        return NULL;
    }
    lf->engine = options->engine;
    lf->backend = backends[options->engine];
    lf->width = options->width;
    lf->height = options->height;
    lf->words = (options->width + 63) / 64;
    lf->bounds = options->bounds;
    lf->rule = rule;
    lf->device_stale = true;
    lf->progress = options->progress;
    lf->arg = options->arg;
    if (options->engine != LIFE_REFERENCE) {
        lf->ctx = options->ctx ? options->ctx : stdgpu ? stdgpu : stdcpu;
        if (!lf->ctx) {
            clerror_set(ENODEV, "life: there is no OpenCL device; install PoCL (pocl-opencl-icd), or take "
                                "the engine reference");
            free(lf);
            return NULL;
        }
    }
    if (lf->backend->create(lf, options) < 0) {
        free(lf);
        return NULL;
    }
    return lf;
}

void life_free(life *lf)
{
    if (!lf)
        return;
    lf->backend->free(lf);
    free(lf);
}

/* ---- Cells in and out. ----------------------------------------------------------------------- */

static int to_host(life *lf)
{
    if (lf->host_stale && lf->backend->download(lf) < 0)
        return -1;
    lf->host_stale = false;
    return 0;
}

static int to_device(life *lf)
{
    if (lf->device_stale && lf->backend->upload(lf) < 0)
        return -1;
    lf->device_stale = false;
    return 0;
}

/* Brings a corner into the grid (a torus), or checks that the rectangle lies in it (a plane). */
static int place(const life *lf, long long *x, long long *y, const struct life_cells *cells)
{
    const long long width = (long long)lf->width, height = (long long)lf->height;
    if (cells->width > lf->width || cells->height > lf->height)
        return clerror_set(EINVAL, "life: %zu x %zu cells do not fit a grid of %zu x %zu", cells->width,
                           cells->height, lf->width, lf->height);
    if (lf->bounds == LIFE_TORUS) {
        *x = (*x % width + width) % width;
        *y = (*y % height + height) % height;
    } else if (*x < 0 || *y < 0 || *x > width - (long long)cells->width ||
               *y > height - (long long)cells->height) {
        return clerror_set(EINVAL,
                           "life: %zu x %zu cells at %lld,%lld reach beyond the edge of a plane of "
                           "%zu x %zu",
                           cells->width, cells->height, *x, *y, lf->width, lf->height);
    }
    return 0;
}

int life_put(life *lf, long long x, long long y, const struct life_cells *cells)
{
    if (place(lf, &x, &y, cells) < 0 || to_host(lf) < 0)
        return -1;
    const size_t left = (size_t)x, before = lf->width - left; /* cells up to the right edge */
    const size_t first = before < cells->width ? before : cells->width;
    for (size_t i = 0; i < cells->height; i++) {
        uint64_t *row = lf->backend->row(lf, ((size_t)y + i) % lf->height);
        const uint64_t *from = cells->word + i * cells->stride;
        life_bits_copy(row, left, from, 0, first);
        life_bits_copy(row, 0, from, first, cells->width - first);
    }
    lf->device_stale = true;
    return 0;
}

int life_get(life *lf, long long x, long long y, struct life_cells *cells)
{
    if (place(lf, &x, &y, cells) < 0 || to_host(lf) < 0)
        return -1;
    const size_t left = (size_t)x, before = lf->width - left;
    const size_t first = before < cells->width ? before : cells->width;
    for (size_t i = 0; i < cells->height; i++) {
        const uint64_t *row = lf->backend->row(lf, ((size_t)y + i) % lf->height);
        uint64_t *to = cells->word + i * cells->stride;
        memset(to, 0, (cells->width + 63) / 64 * sizeof *to);
        life_bits_copy(to, 0, row, left, first);
        life_bits_copy(to, first, row, 0, cells->width - first);
    }
    return 0;
}

int life_clear(life *lf)
{
    for (size_t y = 0; y < lf->height; y++)
        memset(lf->backend->row(lf, y), 0, lf->words * sizeof(uint64_t));
    lf->host_stale = false;
    lf->device_stale = true;
    lf->generation = 0;
    return 0;
}

int life_soup(life *lf, double density, uint64_t seed)
{
    if (!(density >= 0 && density <= 1))
        return clerror_set(EINVAL, "life: a soup's density is from 0 to 1, not %g", density);
    if (density == 0 && seed > UINT_MAX)
        return clerror_set(EINVAL,
                           "life: srand() takes seeds up to %u, not %llu; give a density for a "
                           "generator with seeds of 64 bits",
                           UINT_MAX, (unsigned long long)seed);
    life_call_begin(lf, (double)lf->height);
    lf->host_stale = false;
    lf->device_stale = true;
    lf->generation = 0;
    return density > 0 ? life_soup_density(lf, density, seed) : life_soup_rand(lf, (unsigned)seed);
}

/* ---- Stepping and looking. ------------------------------------------------------------------- */

/* Whether what failed was ended by the caller, so that the generations that were done count. */
static bool stopped(void)
{
    return clerrno == ECANCELED;
}

int life_step(life *lf, uint64_t generations)
{
    if (!generations)
        return 0;
    life_call_begin(lf, (double)generations);
    if (to_device(lf) < 0)
        return -1;
    lf->host_stale = true;
    const int status = lf->backend->step(lf, generations);
    lf->generation += status == 0 ? generations : stopped() ? (uint64_t)lf->call.done : 0;
    return status;
}

int life_trace(life *lf, size_t n, struct life_sample *sample)
{
    if (!n)
        return 0;
    life_call_begin(lf, (double)n);
    if (to_device(lf) < 0)
        return -1;
    lf->host_stale = true;
    const int status = lf->backend->trace(lf, n, sample);
    const size_t done = status == 0 ? n : stopped() ? (size_t)lf->call.done : 0;
    for (size_t i = 0; i < done; i++)
        sample[i].generation = lf->generation + i + 1;
    lf->generation += done;
    return status;
}

int life_look(life *lf, struct life_sample *sample)
{
    life_call_begin(lf, 0);
    if (to_device(lf) < 0 || lf->backend->trace(lf, 0, sample) < 0)
        return -1;
    sample->generation = lf->generation;
    return 0;
}

int life_population(life *lf, uint64_t *population)
{
    struct life_sample sample;
    if (life_look(lf, &sample) < 0)
        return -1;
    *population = sample.population;
    return 0;
}

/* ---- Waiting for a repetition. --------------------------------------------------------------- */

enum { LONGEST_PERIOD = 64 };

/* Advances by `period` generations and compares the state before and after, cell by cell. If they are equal, the
 * generation counter goes back to where it was, since the state is that of then. */
static int verify_period(life *lf, uint64_t period, bool *repeats)
{
    struct life_cells before, after;
    *repeats = false;
    if (life_cells_alloc(&before, lf->width, lf->height) < 0)
        return -1;
    int status = life_cells_alloc(&after, lf->width, lf->height);
    if (status == 0)
        status = life_get(lf, 0, 0, &before);
    if (status == 0)
        status = life_step(lf, period);
    if (status == 0)
        status = life_get(lf, 0, 0, &after);
    if (status == 0) {
        *repeats = memcmp(before.word, after.word, before.stride * before.height * sizeof(uint64_t)) == 0;
        if (*repeats)
            lf->generation -= period;
        else
            status = clerror_set(EIO,
                                 "life: two states of generation %llu and %llu have the same hash and "
                                 "differ",
                                 (unsigned long long)(lf->generation - period),
                                 (unsigned long long)lf->generation);
    }
    life_cells_free(&before);
    life_cells_free(&after);
    return status;
}

/* How many generations ago the state was that of the newest sample; 0: not among the `known` latest. `ring` holds
 * generation g at g % (LONGEST_PERIOD + 1). */
static uint64_t find_period(const struct life_sample *ring, uint64_t newest, uint64_t known)
{
    const struct life_sample *now = &ring[newest % (LONGEST_PERIOD + 1)];
    for (uint64_t p = 1; p <= LONGEST_PERIOD && p < known; p++) {
        const struct life_sample *then = &ring[(newest - p) % (LONGEST_PERIOD + 1)];
        if (then->hash == now->hash && then->population == now->population)
            return p;
    }
    return 0;
}

int life_until_stable(life *lf, uint64_t limit, uint64_t *period, uint64_t *generation,
                      int (*watch)(void *arg, const struct life_sample *sample), void *arg)
{
    struct life_sample ring[LONGEST_PERIOD + 1], batch[LONGEST_PERIOD];
    uint64_t known = 1;
    *period = *generation = 0;
    if (life_look(lf, &batch[0]) < 0)
        return -1;
    ring[batch[0].generation % (LONGEST_PERIOD + 1)] = batch[0];
    while (limit) {
        const size_t n = limit < LONGEST_PERIOD ? (size_t)limit : LONGEST_PERIOD;
        const int status = life_trace(lf, n, batch);
        if (status < 0 && !stopped())
            return -1;
        const size_t done = status == 0 ? n : (size_t)lf->call.done;
        limit -= done;
        for (size_t i = 0; i < done; i++) {
            ring[batch[i].generation % (LONGEST_PERIOD + 1)] = batch[i];
            known++;
            if (watch && watch(arg, &batch[i]))
                return 0;
            const uint64_t p = find_period(ring, batch[i].generation, known);
            if (!p)
                continue;
            bool repeats;
            if (verify_period(lf, p, &repeats) < 0)
                return -1;
            /* The engine is done - 1 - i generations further than the sample. On to where its state comes again. */
            if (life_step(lf, (p - (done - 1 - i) % p) % p) < 0)
                return -1;
            lf->generation = batch[i].generation;
            *period = p;
            *generation = batch[i].generation - p;
            return 0;
        }
        if (status < 0)
            return clerror_set(ECANCELED, "life_until_stable: stopped after generation %llu",
                               (unsigned long long)lf->generation);
    }
    return 0;
}

/* ---- Questions. ------------------------------------------------------------------------------ */

uint64_t life_generation(const life *lf)
{
    return lf->generation;
}
size_t life_width(const life *lf)
{
    return lf->width;
}
size_t life_height(const life *lf)
{
    return lf->height;
}
struct life_rule life_rule_of(const life *lf)
{
    return lf->rule;
}
enum life_bounds life_bounds_of(const life *lf)
{
    return lf->bounds;
}
uint64_t life_launches(const life *lf)
{
    return lf->launches;
}
size_t life_device_bytes(const life *lf)
{
    return lf->device_bytes;
}

unsigned life_devices(const life *lf)
{
    return lf->backend->devices ? lf->backend->devices(lf) : 0;
}

const char *life_shape(const life *lf, unsigned dev)
{
    return lf->backend->shape ? lf->backend->shape(lf, dev) : "";
}

const char *life_explain(const life *lf, unsigned dev)
{
    return lf->backend->explain ? lf->backend->explain(lf, dev) : "";
}
