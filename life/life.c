/* life.c - the public functions, common to all engines.
 *
 * life.c keeps the generation counter, and copies rectangles between the caller and the host's
 * rows. It downloads the rows before they are read, and uploads them before a step, if they are
 * stale. Engines of unbounded planes copy rectangles themselves (plane.c). engines.c has the table
 * of engines.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"

#include "core/handle.h"
#include "core/no_device.h"
#include "core/reserved.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Create and free. ------------------------------------------------------------------------ */

enum { SIDE_MAX = 1 << 30 }; /* cells; kernels count them in ints, with room for a halo */

static int check_plane_options(const struct life_options *o)
{
    if (o->grid || o->width || o->height)
        return clerror_set(EINVAL,
                           "life: an unbounded plane has no size; leave width, height and grid 0");
    return 0;
}

static int check_grid_options(const struct life_options *o, const struct life_grid *g)
{
    if (g->width < 1 || g->height < 1)
        return clerror_set(EINVAL,
                           "life: a grid of %zu x %zu cells is empty; width and height must be at "
                           "least 1",
                           g->width, g->height);
    if (g->width > SIDE_MAX || g->height > SIDE_MAX)
        return clerror_set(EINVAL, "life: %zu x %zu cells: a side has at most %d cells", g->width,
                           g->height, SIDE_MAX);
    if (!o->grid && o->bounds != LIFE_TORUS && o->bounds != LIFE_PLANE)
        return clerror_set(EINVAL,
                           "life: bounds are LIFE_TORUS, LIFE_PLANE or LIFE_UNBOUNDED, not %d",
                           (int)o->bounds);
    if (o->grid && (o->width || o->height || o->bounds))
        return clerror_set(
            EINVAL,
            "life: the grid '%.60s' sets width, height and bounds; leave them 0 in the options",
            o->grid);
    return 0;
}

static int check_range(const struct life_family *rule, const struct life_grid *grid)
{
    const size_t least = rule->range > 1 ? 2 * (size_t)rule->range : 1;
    if (grid->bounds == LIFE_UNBOUNDED || (grid->width >= least && grid->height >= least))
        return 0;
    return clerror_set(
        EINVAL,
        "life: under the rule %s a side of a grid has at least %zu cells, twice the range, and not %zu x %zu",
        rule->text, least, grid->width, grid->height);
}

/* Check the options and choose the engine; NULL: an error. */
static const struct life_engine_row *take_options(const struct life_options *o,
                                                  struct life_grid *grid, struct life_family *rule)
{
    *grid = (struct life_grid){.width = o->width, .height = o->height, .bounds = o->bounds};
    if (o->grid && life_grid_read(o->grid, grid) < 0)
        return NULL;
    if ((unsigned)o->engine >= LIFE_ENGINES) {
        clerror_set(EINVAL, "life: unknown engine number %d", (int)o->engine);
        return NULL;
    }
    if ((o->bounds == LIFE_UNBOUNDED ? check_plane_options(o) : check_grid_options(o, grid)) < 0 ||
        life_family_take(o->rule, o->transitions, rule) < 0)
        return NULL;
    const struct life_engine_row *row =
        life_engine_find(o->engine, grid->bounds, rule, world_size(o->world));
    return row && check_range(rule, grid) == 0 ? row : NULL;
}

int life_choose(const struct life_options *options, const char **why)
{
    static _Thread_local char text[LIFE_CHOICE];
    struct life_grid grid;
    struct life_family rule;
    const struct life_engine_row *row = take_options(options, &grid, &rule);
    if (!row)
        return -1;
    life_choice_print(row, options->engine, grid.bounds, &rule, text);
    if (why)
        *why = text;
    return (int)row->engine;
}

static int set_context(life *lf, CLCONTEXT *ctx)
{
    lf->ctx = ctx ? ctx : stdgpu ? stdgpu : stdcpu;
    if (!lf->ctx)
        return clerror_set(ENODEV,
                           "life: there is no OpenCL device; " NO_DEVICE_REMEDY
                           "; or use the engine reference, or hashlife on an unbounded plane");
    return clgetndev(lf->ctx) ? 0 : clerror_set(ENODEV, "life: the context has no device");
}

/* Make an engine without cells. */
static life *life_alloc(const struct life_options *options)
{
    struct life_family rule;
    struct life_grid grid;
    const struct life_engine_row *row = take_options(options, &grid, &rule);
    if (!row || reserved_check("life_create", options->reserved) < 0)
        return NULL;
    life *lf = calloc(1, sizeof *lf);
    if (!lf) {
        clerror_set(ENOMEM, "life: out of memory for an engine");
        return NULL;
    }
    *lf = (struct life){.backend = row->backend,
                        .engine = row->engine,
                        .width = grid.width,
                        .height = grid.height,
                        .words = (grid.width + 63) / 64,
                        .world = options->world,
                        .rows = grid.height,
                        .own = (grid.width + 63) / 64,
                        .bounds = grid.bounds,
                        .grid = grid,
                        .rule = rule,
                        .device_stale = true,
                        .progress = options->progress,
                        .arg = options->arg};
    life_choice_print(row, options->engine, grid.bounds, &rule, lf->choice);
    lf->shape = options->shape ? strdup(options->shape) : NULL;
    if (options->shape && !lf->shape)
        clerror_set(ENOMEM, "life: out of memory for an engine");
    else if (row->devices == LIFE_HOST || set_context(lf, options->ctx) == 0)
        return lf;
    free(lf->shape);
    free(lf);
    return NULL;
}

/* Ranks agree on each part that they do by themselves, and so leave together. */
life *life_create(const struct life_options *options)
{
    options = options ? options : &(const struct life_options){.ctx = NULL};
    life *lf = life_alloc(options);
    if (world_reduce_status(options->world, lf ? 0 : -1) == 0) {
        const bool made = lf->backend->create(lf, options) == 0;
        if (world_reduce_status(options->world, made ? 0 : -1) == 0)
            return lf;
        if (made)
            return life_free(lf), NULL;
    }
    if (lf)
        free(lf->shape);
    free(lf);
    return NULL;
}

void life_free(life *lf)
{
    if (!lf)
        return;
    lf->backend->free(lf);
    free(lf->past.ring);
    free(lf->shape);
    free(lf);
}

/* ---- Cells in and out. ----------------------------------------------------------------------- */

int life_to_host(life *lf)
{
    if (lf->host_stale && lf->backend->download(lf) < 0)
        return -1;
    lf->host_stale = false;
    return 0;
}

int life_to_device(life *lf)
{
    if (lf->device_stale && lf->backend->upload(lf) < 0)
        return -1;
    lf->device_stale = false;
    return 0;
}

/* Wrap a rectangle's corner into the grid (torus), or check that the rectangle is inside (plane).
 */
static int life_place_rectangle(const life *lf, long long *x, long long *y,
                                const struct life_cells *cells)
{
    const long long width = (long long)lf->width, height = (long long)lf->height;
    if (cells->width > lf->width || cells->height > lf->height)
        return clerror_set(EINVAL, "life: %zu x %zu cells do not fit a grid of %zu x %zu",
                           cells->width, cells->height, lf->width, lf->height);
    if (lf->bounds == LIFE_TORUS) {
        *x = (*x % width + width) % width;
        *y = (*y % height + height) % height;
    } else if (*x < 0 || *y < 0 || *x > width - (long long)cells->width ||
               *y > height - (long long)cells->height) {
        return clerror_set(
            EINVAL,
            "life: %zu x %zu cells at %lld,%lld extend beyond the edge of a plane of "
            "%zu x %zu",
            cells->width, cells->height, *x, *y, lf->width, lf->height);
    }
    return 0;
}

/* Copy a rectangle to or from an unbounded plane. */
static int copy_plane(life *lf, long long x, long long y, const struct life_cells *cells,
                      int (*copy)(life *lf, const struct life_window *w))
{
    if (!cells || !cells->word || cells->stride < (cells->width + 63) / 64)
        return clerror_set(EINVAL,
                           "life: the cells are NULL, or their stride is less than their width");
    const struct life_window w = {x,   y, cells->width, cells->height, (struct life_cells *)cells,
                                  NULL};
    return w.width && w.height ? copy(lf, &w) : 0;
}

int life_put(life *lf, long long x, long long y, const struct life_cells *cells)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->backend->put)
        return copy_plane(lf, x, y, cells, lf->backend->put);
    if (life_place_rectangle(lf, &x, &y, cells) < 0 || life_to_host(lf) < 0)
        return -1;
    const size_t left = (size_t)x, before = lf->width - left; /* cells up to the right edge */
    const size_t first = before < cells->width ? before : cells->width;
    uint64_t *whole =
        calloc(lf->words, sizeof *whole); /* a whole row, of which a block has a part */
    if (!whole)
        return clerror_set(ENOMEM, "life: out of memory for a row");
    for (size_t i = 0; i < cells->height; i++) {
        const size_t at = ((size_t)y + i) % lf->height;
        if (!life_has_row(lf, at))
            continue;
        uint64_t *own = lf->backend->row(lf, at), *row = life_in_blocks(lf) ? whole : own;
        const uint64_t *from = cells->word + i * cells->stride;
        if (row == whole)
            memcpy(whole + lf->from, own, lf->own * sizeof *own);
        life_bits_copy(row, left, from, 0, first);
        life_bits_copy(row, 0, from, first, cells->width - first);
        if (row == whole)
            memcpy(own, whole + lf->from, lf->own * sizeof *own);
        for (unsigned k = 1; k < life_planes_of(lf); k++) /* no cell is dying */
            for (size_t c = 0; c < cells->width; c++) {
                const size_t x0 = (left + c) % lf->width;
                life_plane_row(lf, k, at)[x0 / 64] &= ~((uint64_t)1 << x0 % 64);
            }
    }
    free(whole);
    lf->device_stale = true;
    lf->past.n = 0;
    return 0;
}

/* Copy lines i ... i + n - 1 of a rectangle at (x, y), which this rank has, to `to`. */
static void get_rows(life *lf, size_t x, size_t y, const struct life_cells *cells, size_t i,
                     size_t n, uint64_t *to)
{
    const size_t before = lf->width - x, first = before < cells->width ? before : cells->width;
    for (size_t k = i; k < i + n; k++, to += cells->stride) {
        const uint64_t *row = lf->backend->row(lf, (y + k) % lf->height);
        memset(to, 0, (cells->width + 63) / 64 * sizeof *to);
        life_bits_copy(to, 0, row, x, first);
        life_bits_copy(to, first, row, 0, cells->width - first);
    }
}

/* Send a rank's lines, `bytes` bytes, to rank 0: from `looked`, or from the host's rows if it is
 * NULL. */
static int send_rows(life *lf, size_t x, size_t y, const struct life_cells *cells,
                     const uint64_t *looked, size_t i, size_t n, size_t bytes)
{
    uint64_t *rows = looked ? NULL : calloc(1, bytes);
    if (!looked && !rows)
        return clerror_set(ENOMEM, "life: out of memory: cannot transfer %zu rows", n);
    if (rows)
        get_rows(lf, x, y, cells, i, n, rows);
    world_request *mail =
        world_send(lf->world, 0, 0, rows ? rows : looked + i * cells->stride, bytes);
    const int status = world_wait(lf->world, &mail, 1);
    free(rows);
    return status;
}

/* The rank that has row y, and how many of its rows follow. */
static int owner_of(const uint64_t (*part)[2], size_t y, size_t *left)
{
    int rank = 0;
    while (y < part[rank][0] || y >= part[rank][0] + part[rank][1])
        rank++;
    *left = (size_t)(part[rank][0] + part[rank][1]) - y;
    return rank;
}

/* Collect lines on rank 0, one run of a rank's rows after the other. part: first row and number of
 * rows of each rank. looked: the rectangle with this rank's lines, or NULL to copy them from the
 * host's rows. */
static int collect_rows(life *lf, size_t x, size_t y, struct life_cells *cells,
                        const uint64_t *looked, const uint64_t (*part)[2])
{
    const int own = world_rank(lf->world);
    int status = 0;
    for (size_t i = 0, n; i < cells->height && status == 0; i += n) {
        const int rank = owner_of(part, (y + i) % lf->height, &n);
        n = n < cells->height - i ? n : cells->height - i;
        const size_t bytes = n * cells->stride * sizeof(uint64_t);
        if (rank == 0 && own == 0) {
            if (!looked)
                get_rows(lf, x, y, cells, i, n, cells->word + i * cells->stride);
        } else if (own == 0) {
            world_request *mail =
                world_receive(lf->world, rank, 0, cells->word + i * cells->stride, bytes);
            status = world_wait(lf->world, &mail, 1);
        } else if (rank == own)
            status = send_rows(lf, x, y, cells, looked, i, n, bytes);
    }
    return status;
}

/* Read a rectangle from the devices; ranks other than 0 have no room in `cells`. */
static int life_window_ranks(life *lf, size_t x, size_t y, struct life_cells *cells,
                             const uint64_t (*part)[2])
{
    const bool first = world_rank(lf->world) == 0;
    struct life_cells own = *cells;
    if (!first)
        own.word = calloc(cells->stride * cells->height + 1, sizeof *own.word);
    int status = own.word ? lf->backend->window(lf, x, y, &own)
                          : clerror_set(ENOMEM, "life: out of memory: cannot transfer %zu rows",
                                        cells->height);
    if (status == 0)
        status = collect_rows(lf, x, y, cells, own.word, part);
    if (!first)
        free(own.word);
    return status;
}

static void join_words(void *a, const void *b, void *words)
{
    for (size_t k = 0; k < *(const size_t *)words; k++)
        ((uint64_t *)a)[k] |= ((const uint64_t *)b)[k];
}

/* With blocks, each rank has a part of a row: set the remainder to 0, and combine the ranks' rows,
 * some at a time. */
static int get_blocks(life *lf, size_t x, size_t y, struct life_cells *cells)
{
    enum { AT_ONCE = 1 << 17 }; /* words */
    const size_t before = lf->width - x, first = before < cells->width ? before : cells->width;
    const size_t some = cells->stride < AT_ONCE ? AT_ONCE / cells->stride : 1;
    uint64_t *rows = malloc(some * cells->stride * sizeof *rows),
             *whole = calloc(lf->words, sizeof *whole);
    int status = world_reduce_status(
        lf->world,
        rows && whole ? 0
                      : clerror_set(ENOMEM, "life: out of memory: cannot transfer %zu rows", some));
    for (size_t i = 0, n; i < cells->height && status == 0; i += n) {
        n = some < cells->height - i ? some : cells->height - i;
        size_t words = n * cells->stride;
        memset(rows, 0, words * sizeof *rows);
        for (size_t k = 0; k < n; k++) {
            const size_t at = (y + i + k) % lf->height;
            if (!life_has_row(lf, at))
                continue;
            memcpy(whole + lf->from, lf->backend->row(lf, at), lf->own * sizeof *whole);
            life_bits_copy(rows + k * cells->stride, 0, whole, x, first);
            life_bits_copy(rows + k * cells->stride, first, whole, 0, cells->width - first);
        }
        status = world_reduce(lf->world, rows, words * sizeof *rows, join_words, &words);
        if (status == 0 && world_rank(lf->world) == 0)
            memcpy(cells->word + i * cells->stride, rows, words * sizeof *rows);
    }
    free(rows);
    free(whole);
    return status;
}

int life_get(life *lf, long long x, long long y, struct life_cells *cells)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->backend->get)
        return copy_plane(lf, x, y, cells, lf->backend->get);
    if (life_place_rectangle(lf, &x, &y, cells) < 0)
        return -1;
    const bool few = lf->host_stale && lf->backend->window && !life_in_blocks(lf) &&
                     cells->width * cells->height < lf->width * lf->height / 4;
    if (!few && life_to_host(lf) < 0)
        return -1;
    if (life_in_blocks(lf))
        return get_blocks(lf, (size_t)x, (size_t)y, cells);
    const uint64_t own[2] = {lf->first, lf->rows};
    uint64_t(*part)[2] = calloc((size_t)world_size(lf->world), sizeof *part);
    if (!part)
        return clerror_set(ENOMEM, "life: out of memory for a list of ranks");
    int status = world_gather(lf->world, own, sizeof own, part);
    if (status == 0)
        status =
            few ? life_window_ranks(lf, (size_t)x, (size_t)y, cells, (const uint64_t(*)[2])part)
                : collect_rows(lf, (size_t)x, (size_t)y, cells, NULL, (const uint64_t(*)[2])part);
    free(part);
    return status;
}

/* Clear the planes from `first` on. */
static void clear_planes(life *lf, unsigned first)
{
    for (unsigned k = first; k < life_planes_of(lf); k++)
        for (size_t y = lf->first; y < lf->first + lf->rows; y++)
            memset(life_plane_row(lf, k, y), 0, lf->own * sizeof(uint64_t));
}

int life_clear(life *lf)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->backend->clear)
        return lf->backend->clear(lf);
    clear_planes(lf, 0);
    lf->host_stale = false;
    lf->device_stale = true;
    lf->generation = lf->past.n = 0;
    return 0;
}

int life_set_generation(life *lf, uint64_t generation)
{
    if (no_handle(lf, __func__))
        return -1;
    lf->generation = generation;
    lf->past.n = 0;
    return 0;
}

/* Set ENOTSUP for a function of grids. True on an unbounded plane. */
static bool is_unbounded(const life *lf, const char *call)
{
    return lf->bounds == LIFE_UNBOUNDED &&
           clerror_set(ENOTSUP, "%s: works on grids; the engine %s has an unbounded plane", call,
                       life_engine_name(lf->engine)) != 0;
}

int life_soup(life *lf, double density, uint64_t seed)
{
    if (no_handle(lf, __func__) || is_unbounded(lf, __func__))
        return -1;
    if (!(density >= 0 && density <= 1))
        return clerror_set(EINVAL, "life: soup density %g is outside 0 to 1", density);
    if (density == 0 && seed > UINT_MAX)
        return clerror_set(
            EINVAL,
            "life: srand() takes seeds up to %u, not %llu; give a density for a generator with seeds of 64 bits",
            UINT_MAX, (unsigned long long)seed);
    life_call_begin(lf, (double)lf->height);
    lf->host_stale = false;
    lf->device_stale = true;
    lf->generation = lf->past.n = 0;
    clear_planes(lf, 1);
    return world_reduce_status(lf->world, density > 0 ? life_soup_density(lf, density, seed)
                                                      : life_soup_rand(lf, (unsigned)seed));
}

/* ---- Stepping and looking. ------------------------------------------------------------------- */

/* True if the caller cancelled the failed call, so that completed generations count. */
static bool call_was_cancelled(void)
{
    return clerrno == ECANCELED;
}

int life_step(life *lf, uint64_t generations)
{
    if (no_handle(lf, __func__))
        return -1;
    if (!generations)
        return 0;
    if (generations > UINT64_MAX - lf->generation)
        return clerror_set(ERANGE, "life_step: generations are counted up to 2^64 - 1");
    life_call_begin(lf, (double)generations);
    if (lf->bounds == LIFE_UNBOUNDED)
        return lf->backend->step(lf, generations);
    if (life_to_device(lf) < 0)
        return -1;
    lf->host_stale = true;
    const int status = lf->backend->step(lf, generations);
    lf->generation += status == 0            ? generations
                      : call_was_cancelled() ? (uint64_t)lf->call.done
                                             : 0;
    return status;
}

int life_trace(life *lf, size_t n, struct life_sample *sample)
{
    if (no_handle(lf, __func__) || is_unbounded(lf, __func__))
        return -1;
    if (!n)
        return 0;
    life_call_begin(lf, (double)n);
    if (life_to_device(lf) < 0)
        return -1;
    lf->host_stale = true;
    const int status = lf->backend->trace(lf, n, sample);
    const size_t done = status == 0 ? n : call_was_cancelled() ? (size_t)lf->call.done : 0;
    for (size_t i = 0; i < done; i++)
        sample[i].generation = lf->generation + i + 1;
    lf->generation += done;
    return status;
}

int life_measure(life *lf, struct life_sample *sample)
{
    if (no_handle(lf, __func__) || is_unbounded(lf, __func__))
        return -1;
    life_call_begin(lf, 0);
    if (life_to_device(lf) < 0 || lf->backend->trace(lf, 0, sample) < 0)
        return -1;
    sample->generation = lf->generation;
    return 0;
}

/* ---- Waiting for a repetition. --------------------------------------------------------------- */

/* Copy this rank's rows of all planes. */
static int copy_all_rows(life *lf, uint64_t *to)
{
    if (life_to_host(lf) < 0)
        return -1;
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        for (size_t y = 0; y < lf->rows; y++, to += lf->own)
            memcpy(to, life_plane_row(lf, k, lf->first + y), lf->own * sizeof *to);
    return 0;
}

/* Count the rows that differ. */
static uint64_t count_changes(life *lf, const uint64_t *before)
{
    uint64_t changes = 0;
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        for (size_t y = 0; y < lf->rows; y++, before += lf->own)
            changes +=
                memcmp(before, life_plane_row(lf, k, lf->first + y), lf->own * sizeof *before) != 0;
    return changes;
}

/* Advance by `period` generations, and count the rows that differ before and after. */
static int count_period_changes(life *lf, uint64_t period, uint64_t *before, uint64_t *changes)
{
    if (copy_all_rows(lf, before) != 0)
        return -1;
    if (life_step(lf, period) != 0)
        return -1;
    if (life_to_host(lf) != 0)
        return -1;
    *changes = count_changes(lf, before);
    return 0;
}

/* Advance by `period` generations and compare the states before and after, cell by cell. If they
 * are equal, reset the generation counter, since the state is the earlier one. */
static int verify_period(life *lf, uint64_t period)
{
    struct life_cells before;
    uint64_t changes = 0;
    int status = life_cells_alloc(&before, lf->own * 64, lf->rows * life_planes_of(lf));
    if (status == 0)
        status = count_period_changes(lf, period, before.word, &changes);
    life_cells_free(&before);
    if (status != 0 || world_add(lf->world, &changes, 1) != 0)
        return -1;
    if (changes)
        return clerror_set(
            EIO, "life: the states of generations %llu and %llu have equal hashes but differ",
            (unsigned long long)(lf->generation - period), (unsigned long long)lf->generation);
    lf->generation -= period;
    return 0;
}

/* Return how many generations ago the newest sample's state occurred; 0 if not among the `known`
 * latest. `ring` holds generation g at g % (LIFE_LONGEST_PERIOD + 1). The period is a multiple of
 * `unit`. */
static uint64_t find_period(const struct life_sample *ring, uint64_t newest, uint64_t known,
                            uint64_t unit)
{
    const struct life_sample *now = &ring[newest % (LIFE_LONGEST_PERIOD + 1)];
    for (uint64_t p = unit; p <= LIFE_LONGEST_PERIOD && p < known; p += unit) {
        const struct life_sample *then = &ring[(newest - p) % (LIFE_LONGEST_PERIOD + 1)];
        if (then->hash == now->hash && then->population == now->population)
            return p;
    }
    return 0;
}

/* Keep the known states if life_until_stable resumes where it stopped; else only the present one.
 */
static int past_recall(life *lf)
{
    struct life_sample now;
    if (!lf->past.ring && !(lf->past.ring = calloc(LIFE_LONGEST_PERIOD + 1, sizeof *lf->past.ring)))
        return clerror_set(ENOMEM, "life_until_stable: out of memory for earlier samples");
    if (lf->past.n && lf->past.at == lf->generation)
        return 0;
    if (life_measure(lf, &now) < 0)
        return -1;
    lf->past.ring[now.generation % (LIFE_LONGEST_PERIOD + 1)] = now;
    lf->past.n = 1;
    lf->past.at = now.generation;
    return 0;
}

static void past_remember(life *lf, const struct life_sample *sample)
{
    lf->past.ring[sample->generation % (LIFE_LONGEST_PERIOD + 1)] = *sample;
    lf->past.at = sample->generation;
    lf->past.n++;
}

/* Handle a period of p found at the newest sample, while the engine is `ahead` generations
 * further. */
static int past_settle(life *lf, uint64_t p, uint64_t ahead)
{
    if (verify_period(lf, p) < 0)
        return -1;
    if (life_step(lf, (p - ahead % p) % p) < 0) /* on to the next recurrence of its state */
        return -1;
    lf->generation = lf->past.at;
    return 0;
}

int life_until_stable(life *lf, uint64_t limit, uint64_t *period, uint64_t *generation,
                      int (*watch)(void *arg, const struct life_sample *sample), void *arg)
{
    if (no_handle(lf, __func__) || is_unbounded(lf, __func__))
        return -1;
    struct life_sample batch[LIFE_LONGEST_PERIOD];
    *period = *generation = 0;
    if (past_recall(lf) < 0)
        return -1;
    while (limit) {
        const size_t n = limit < LIFE_LONGEST_PERIOD ? (size_t)limit : LIFE_LONGEST_PERIOD;
        const int status = life_trace(lf, n, batch);
        if (status < 0 && !call_was_cancelled())
            return -1;
        const size_t done = status == 0 ? n : (size_t)lf->call.done;
        limit -= done;
        for (size_t i = 0; i < done; i++) {
            past_remember(lf, &batch[i]);
            if (watch && watch(arg, &batch[i]))
                return 0;
            const uint64_t p = find_period(lf->past.ring, batch[i].generation, lf->past.n,
                                           lf->rule.alternates ? 2 : 1);
            if (!p)
                continue;
            if (past_settle(lf, p, done - 1 - i) < 0)
                return -1;
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

/* ---- Queries. -------------------------------------------------------------------------------- */

/* A query returns `value`, or `none` for a NULL handle. */
#define LIFE_QUERY(type, name, none, value)                                                        \
    type name(const life *lf)                                                                      \
    {                                                                                              \
        return no_handle(lf, __func__) ? (none) : (value);                                         \
    }
#define LIFE_QUERY_OF_DEVICE(type, name, none, value)                                              \
    type name(const life *lf, unsigned dev)                                                        \
    {                                                                                              \
        return no_handle(lf, __func__) || !(lf->backend->value) ? (none)                           \
                                                                : lf->backend->value(lf, dev);     \
    }

LIFE_QUERY(uint64_t, life_generation, 0, lf->generation)
LIFE_QUERY(size_t, life_width, 0, lf->width)
LIFE_QUERY(size_t, life_height, 0, lf->height)
LIFE_QUERY(size_t, life_rows, 0, lf->rows)
LIFE_QUERY(const char *, life_rule_text, "", lf->rule.text)
LIFE_QUERY(unsigned, life_states, 0, lf->rule.states)
LIFE_QUERY(unsigned, life_neighbourhood_range, 0, lf->rule.range)
LIFE_QUERY(struct life_rule, life_rule_of, (struct life_rule){0}, lf->rule.rule)
LIFE_QUERY(enum life_bounds, life_bounds_of, LIFE_TORUS, lf->bounds)
LIFE_QUERY(enum life_engine, life_engine_of, LIFE_AUTO, lf->engine)
LIFE_QUERY(const char *, life_choice, "", lf->choice)
LIFE_QUERY(uint64_t, life_launches, 0, lf->launches)
LIFE_QUERY(size_t, life_device_bytes, 0,
           lf->backend->bytes ? lf->backend->bytes(lf) : lf->device_bytes)
LIFE_QUERY(unsigned, life_devices, 0, lf->backend->devices ? lf->backend->devices(lf) : 0)
LIFE_QUERY(struct life_statistics, life_statistics_of, (struct life_statistics){0},
           lf->backend->statistics ? lf->backend->statistics(lf) : (struct life_statistics){0})
LIFE_QUERY_OF_DEVICE(const char *, life_shape, "", shape)
LIFE_QUERY_OF_DEVICE(const char *, life_explain, "", explain)

char *life_grid_text(const life *lf, char text[LIFE_GRID_TEXT])
{
    if (no_handle(lf, __func__))
        return NULL;
    *text = '\0';
    if (lf->bounds != LIFE_UNBOUNDED)
        life_grid_write(&lf->grid, text);
    return text;
}
