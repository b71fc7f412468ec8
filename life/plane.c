/* plane.c - populations and bounding boxes of any engine, with 128-bit numbers; views of unbounded
 * planes.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"

#include "core/handle.h"

#include <errno.h>
#include <string.h>

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

/* ---- Numbers. -------------------------------------------------------------------------------- */

/* Divide in place by 10, 32 bits at a time, and return the remainder. */
static unsigned tally_divide(uint32_t limb[8])
{
    uint64_t rest = 0;
    for (int i = 7; i >= 0; i--) {
        rest = rest << 32 | limb[i];
        limb[i] = (uint32_t)(rest / 10);
        rest %= 10;
    }
    return (unsigned)rest;
}

static char *tally_print(struct life_tally value, char *text)
{
    char digits[LIFE_POPULATION_TEXT], *p = digits + sizeof digits;
    uint32_t limb[8], any;
    for (int i = 0; i < 4; i++) {
        limb[i] = (uint32_t)(value.low >> 32 * i);
        limb[i + 4] = (uint32_t)(value.high >> 32 * i);
    }
    *--p = 0;
    do {
        *--p = (char)('0' + tally_divide(limb));
        any = 0;
        for (int i = 0; i < 8; i++)
            any |= limb[i];
    } while (any);
    return strcpy(text, p);
}

char *life_number_string(struct life_number number, char *text)
{
    const uwide value = (uwide)(uint64_t)number.high << 64 | number.low;
    const bool negative = number.high < 0;
    text[0] = '-';
    tally_print((struct life_tally){negative ? 0 - value : value, 0}, text + negative);
    return text;
}

double life_number_double(struct life_number number)
{
    return (double)(wide)((uwide)(uint64_t)number.high << 64 | number.low);
}

/* ---- Population. ----------------------------------------------------------------------------- */

static int population_tally(life *lf, struct life_tally *population)
{
    struct life_sample sample;
    if (lf->backend->population)
        return lf->backend->population(lf, population);
    if (life_measure(lf, &sample) < 0)
        return -1;
    *population = (struct life_tally){sample.population, 0};
    return 0;
}

int life_population_text(life *lf, char text[LIFE_POPULATION_TEXT])
{
    struct life_tally n;
    if (no_handle(lf, __func__) || population_tally(lf, &n) < 0)
        return -1;
    tally_print(n, text);
    return 0;
}

int life_population_exact(life *lf, struct life_number *population)
{
    struct life_tally n;
    if (no_handle(lf, __func__) || population_tally(lf, &n) < 0)
        return -1;
    if (n.high || n.low >> 127)
        return clerror_set(ERANGE, "life_population_exact: 2^127 or more cells are alive; "
                                   "use life_population_text");
    *population = (struct life_number){(uint64_t)n.low, (int64_t)(n.low >> 64)};
    return 0;
}

int life_population(life *lf, uint64_t *population)
{
    struct life_tally n;
    if (no_handle(lf, __func__) || population_tally(lf, &n) < 0)
        return -1;
    *population = (uint64_t)n.low;
    return n.high || n.low >> 64
               ? clerror_set(ERANGE, "life_population: more than 2^64 - 1 cells are alive; "
                                     "use life_population_text")
               : 0;
}

/* ---- Bounding box. --------------------------------------------------------------------------- */

/* Least column and row, and the complements of the greatest. */
enum { LEFT, TOP, RIGHT, BOTTOM, SIDES };

static void box_join(void *a, const void *b, void *unused)
{
    uint64_t *to = a;
    const uint64_t *from = b;
    (void)unused;
    for (int i = 0; i < SIDES; i++)
        to[i] = from[i] < to[i] ? from[i] : to[i];
}

/* Extend the box by a word of row y, whose first cell is in column x. */
static void box_add(uint64_t box[SIDES], uint64_t word, size_t x, size_t y)
{
    const uint64_t cell[SIDES] = {x + (size_t)__builtin_ctzll(word), y,
                                  ~(uint64_t)(x + 63 - (size_t)__builtin_clzll(word)),
                                  ~(uint64_t)y};
    box_join(box, cell, NULL);
}

int life_bounding_box(life *lf, struct life_box *box)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->backend->bounding_box)
        return lf->backend->bounding_box(lf, box);
    uint64_t b[SIDES] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    if (life_to_host(lf) < 0)
        return -1;
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        for (size_t y = lf->first; y < lf->first + lf->rows; y++)
            for (size_t i = 0; i < lf->own; i++) {
                const uint64_t word = life_plane_row(lf, k, y)[i];
                if (word)
                    box_add(b, word, 64 * (lf->from + i), y);
            }
    if (world_reduce(lf->world, b, sizeof b, box_join, NULL) != 0)
        return -1;
    if (b[TOP] == UINT64_MAX)
        return 0;
    *box = (struct life_box){{b[LEFT], 0}, {b[TOP], 0}, {~b[RIGHT] + 1, 0}, {~b[BOTTOM] + 1, 0}};
    return 1;
}

/* ---- Unbounded planes. ----------------------------------------------------------------------- */

int life_walk_runs(life *lf,
                   int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state),
                   void *arg)
{
    if (no_handle(lf, __func__))
        return -1;
    return lf->backend->runs
               ? lf->backend->runs(lf, run, arg)
               : clerror_set(ENOTSUP,
                             "life_walk_runs: the engine %s has no rows of a plane; use hashlife",
                             life_engine_name(lf->engine));
}

int life_get_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells)
{
    enum { MOST_ZOOM = 60 };
    if (no_handle(lf, __func__))
        return -1;
    if (!lf->backend->zoomed)
        return clerror_set(
            ENOTSUP, "life_get_zoomed: works on unbounded planes; use life_density on a grid");
    if (zoom > MOST_ZOOM)
        return clerror_set(
            EINVAL, "life_get_zoomed: squares of 2^%u cells a side are too large; at most 2^%d",
            zoom, MOST_ZOOM);
    if (!cells || !cells->word || cells->stride < (cells->width + 63) / 64)
        return clerror_set(
            EINVAL,
            "life_get_zoomed: the cells are NULL, or their stride is less than their width");
    return lf->backend->zoomed(lf, zoom, x, y, cells);
}
