/* life_ref.c - the scalar reference: Life in plain C, the definition that every kernel is tested
 * against, and the engine "reference".
 *
 * A cell is a byte, and neighbours are counted one by one. On a torus, a neighbour beyond the edge
 * is the cell at the opposite edge, which in a very narrow grid is the cell itself. On a plane all
 * cells outside are dead. For other topologies grid.c maps places to cells. The engine takes its
 * rows from table_host.c where the rule is a table, and large_host.c replaces it under Larger than
 * Life; both are compared with this file.
 * SPDX-License-Identifier: MIT
 */
#include "life/candidates.h"
#include "life/cells.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/reference.h"
#include "life/table_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Places i - 1, i and i + 1 on an axis of n cells; a place that does not exist is n. */
static void places_about(size_t i, size_t n, enum life_bounds bounds, size_t place[3])
{
    const bool torus = bounds == LIFE_TORUS;
    place[0] = i > 0 ? i - 1 : torus ? n - 1 : n;
    place[1] = i;
    place[2] = i + 1 < n ? i + 1 : torus ? 0 : n;
}

void life_ref_rows(const struct life_rule *rule, enum life_bounds bounds, size_t width,
                   size_t height, size_t y, size_t end, const unsigned char *from,
                   unsigned char *to)
{
    for (; y < end; y++) {
        size_t row[3], column[3];
        places_about(y, height, bounds, row);
        for (size_t x = 0; x < width; x++) {
            unsigned count = 0;
            places_about(x, width, bounds, column);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++)
                    if (!(i == 1 && j == 1) && row[i] < height && column[j] < width)
                        count += from[row[i] * width + column[j]];
            const unsigned set = from[y * width + x] ? rule->survival : rule->birth;
            to[y * width + x] = set >> count & 1;
        }
    }
}

/* Read the block of nine around a cell at an edge. A torus is a grid whose rows are shifted by 0.
 */
static void edge_block(const struct life_grid *grid, const unsigned char *from, size_t x, size_t y,
                       unsigned char block[9])
{
    for (int i = 0; i < 9; i++) {
        long u = (long)x + i % 3 - 1, v = (long)y + i / 3 - 1;
        const bool inside = (size_t)u < grid->width && (size_t)v < grid->height;
        if (!inside && grid->bounds != LIFE_PLANE)
            life_topology_cell(grid, &u, &v);
        block[i] =
            inside || grid->bounds != LIFE_PLANE ? from[(size_t)v * grid->width + (size_t)u] : 0;
    }
}

/* Next state of a cell, by `next` of the rule's family. */
static unsigned char next_of(const struct life_family *rule, const struct life_grid *grid,
                             const unsigned char *from, size_t x, size_t y)
{
    const size_t width = grid->width, at = y * width + x;
    unsigned char block[9];
    if (x == 0 || y == 0 || x + 1 == width || y + 1 == grid->height)
        edge_block(grid, from, x, y, block);
    else
        for (size_t i = 0; i < 3; i++)
            memcpy(block + 3 * i, from + at + i * width - width - 1, 3);
    return rule->row->next(rule, block);
}

void life_ref_topology_rows(const struct life_family *rule, const struct life_grid *grid, size_t y,
                            size_t end, const unsigned char *from, unsigned char *to)
{
    for (; y < end; y++)
        for (size_t x = 0; x < grid->width; x++)
            to[y * grid->width + x] = next_of(rule, grid, from, x, y);
}

void life_ref_family_rows(const struct life_family *rule, uint64_t generation,
                          enum life_bounds bounds, size_t width, size_t height, size_t y,
                          size_t end, const unsigned char *from, unsigned char *to)
{
    if (rule->row->reference)
        rule->row->reference(rule, generation, bounds, width, height, y, end, from, to);
    else if (rule->counts && rule->states == 2)
        life_ref_rows(&rule->rule, bounds, width, height, y, end, from, to);
    else
        life_ref_topology_rows(
            rule, &(struct life_grid){.width = width, .height = height, .bounds = bounds}, y, end,
            from, to);
}

/* ---- The engine. ----------------------------------------------------------------------------- */

enum { TOLD_EVERY = 1 << 22 }; /* cells between two reports of progress */

struct reference {
    unsigned char *now, *next;
    struct life_candidates candidates;
    bool stale;                       /* `next` does not have the generation before `now` */
    struct life_cells image;          /* packed rows for the caller, plane after plane */
    struct life_family half[2];       /* the rule of even and of odd generations */
    struct life_table_host *table[2]; /* theirs; NULL: the rows of the scalar reference */
};

static void reference_free(life *lf)
{
    struct reference *r = lf->state;
    if (!r)
        return;
    free(r->now);
    free(r->next);
    life_candidates_close(&r->candidates);
    life_cells_free(&r->image);
    life_table_host_close(r->table[0]);
    life_table_host_close(r->table[1]);
    free(r);
    lf->state = NULL;
}

static int reference_create(life *lf, const struct life_options *options)
{
    (void)options;
    struct reference *r = calloc(1, sizeof *r);
    lf->state = r;
    if (!r)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    if (life_cells_alloc(&r->image, lf->width, lf->height * life_planes_of(lf)) < 0) {
        reference_free(lf);
        return -1;
    }
    const double bytes = 2 * (double)lf->width * (double)lf->height;
    if (bytes <= life_host_memory()) {
        r->now = calloc(lf->width * lf->height, 1);
        r->next = calloc(lf->width * lf->height, 1);
    }
    bool ready = r->now && r->next && life_candidates_open(&r->candidates, &lf->grid) == 0;
    for (int odd = 0; odd < 2; odd++) {
        r->half[odd] = life_family_half(&lf->rule, odd);
        if (r->half[odd].row->form != LIFE_FORM_TABLE || lf->bounds == LIFE_JOINED)
            continue;
        r->table[odd] = life_table_host_open(&r->half[odd], lf->width);
        ready = ready && r->table[odd];
    }
    if (!ready) {
        reference_free(lf);
        return clerror_set(ENOMEM, "life: the engine reference needs %.4g MB for %zu x %zu cells",
                           bytes / 1e6, lf->width, lf->height);
    }
    return 0;
}

static uint64_t *reference_plane(life *lf, unsigned plane, size_t y)
{
    struct reference *r = lf->state;
    return r->image.word + (plane * lf->height + y) * r->image.stride;
}

static uint64_t *reference_row(life *lf, size_t y)
{
    return reference_plane(lf, 0, y);
}

/* True if every generation has the same rule, and an empty grid stays empty under it. */
static bool reference_is_quiet(const life *lf)
{
    static const unsigned char none[9];
    return lf->rule.row->form != LIFE_FORM_PAIR && lf->rule.row->next(&lf->rule, none) == 0;
}

static int reference_upload(life *lf)
{
    struct reference *r = lf->state;
    for (size_t y = 0; y < lf->height; y++)
        life_states_of_planes(lf, 0, y, lf->width, r->now + y * lf->width);
    life_candidates_begin(&r->candidates, reference_is_quiet(lf) ? r->now : NULL);
    r->stale = true;
    return 0;
}

static int reference_download(life *lf)
{
    struct reference *r = lf->state;
    for (size_t y = 0; y < lf->height; y++)
        life_states_to_planes(lf, 0, y, lf->width, r->now + y * lf->width);
    return 0;
}

/* Compute the row's candidates one by one. */
static void candidates_step(const life *lf, const struct life_family *rule, size_t y)
{
    struct reference *r = lf->state;
    const size_t width = lf->width;
    const unsigned char *now = r->now + y * width;
    for (size_t i = 0; i < r->candidates.words; i++)
        for (uint64_t left = r->candidates.row[i]; left; left &= left - 1) {
            const size_t x = 64 * i + (size_t)__builtin_ctzll(left);
            const unsigned char next = next_of(rule, &lf->grid, r->now, x, y);
            if (next == now[x])
                continue;
            r->next[y * width + x] = next;
            life_candidates_add(&r->candidates, x, y);
        }
}

/* Compute a row: its candidates, or all cells if the rule is a table and that takes less time. */
static void reference_next_row(const life *lf, const struct life_family *rule,
                               struct life_table_host *table, size_t y)
{
    struct reference *r = lf->state;
    const size_t width = lf->width, n = life_candidates_find(&r->candidates, y);
    const unsigned char *now = r->now + y * width;
    unsigned char *next = r->next + y * width;
    if (table && life_table_host_pays(table, n, width)) {
        life_table_host_rows(table, rule, lf->bounds, width, lf->height, y, y + 1, r->now, r->next);
        life_candidates_compare(&r->candidates, y, now, next);
        return;
    }
    if (r->stale || r->candidates.last.any[y])
        memcpy(next, now, width);
    life_candidates_clear(&r->candidates, y);
    if (n)
        candidates_step(lf, rule, y);
}

/* Compute a generation, with reports of progress. */
static int reference_generation(life *lf)
{
    struct reference *r = lf->state;
    const unsigned odd = life_now(lf) & 1;
    const struct life_family *rule = &r->half[odd];
    const size_t often = TOLD_EVERY / lf->width + 1;
    if (lf->rule.row->form == LIFE_FORM_PAIR)
        life_candidates_begin(&r->candidates, NULL);
    for (size_t y = 0; y < lf->height; y++) {
        reference_next_row(lf, rule, r->table[odd], y);
        if ((y + 1) % often == 0 && y + 1 < lf->height &&
            life_call_tell(lf, (double)(y + 1) / (double)lf->height) < 0)
            return -1; /* the next call computes these rows again */
    }
    life_candidates_advance(&r->candidates);
    r->stale = false;
    unsigned char *t = r->now;
    r->now = r->next;
    r->next = t;
    lf->call.done++;
    return 0;
}

static int reference_step(life *lf, uint64_t generations)
{
    const uint64_t often = TOLD_EVERY / (lf->width * lf->height) + 1;
    for (uint64_t g = 0; g < generations; g++)
        if (reference_generation(lf) < 0 ||
            (g % often == 0 && g + 1 < generations && life_call_tell(lf, 0) < 0))
            return -1;
    return 0;
}

/* The first cell from i on that is not 0; n: none of n. */
static size_t next_set(const unsigned char *cell, size_t i, size_t n)
{
    for (uint64_t eight = 0; i + 8 <= n && (memcpy(&eight, cell + i, 8), !eight);)
        i += 8;
    while (i < n && !cell[i])
        i++;
    return i;
}

static int reference_trace(life *lf, size_t n, struct life_sample *sample)
{
    struct reference *r = lf->state;
    for (size_t g = 0; g < (n ? n : 1); g++) {
        if (n && reference_generation(lf) < 0)
            return -1;
        sample[g].population = sample[g].hash = 0;
        const size_t cells = lf->width * lf->height;
        for (size_t i = next_set(r->now, 0, cells); i < cells; i = next_set(r->now, i + 1, cells)) {
            sample[g].population++;
            sample[g].hash += life_mix(r->now[i] + (i + 1) * 0x9e3779b97f4a7c15u);
        }
    }
    return 0;
}

const struct life_backend life_reference_backend = {
    .create = reference_create,
    .free = reference_free,
    .row = reference_row,
    .plane = reference_plane,
    .upload = reference_upload,
    .download = reference_download,
    .step = reference_step,
    .trace = reference_trace,
};
