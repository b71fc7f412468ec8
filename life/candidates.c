/* candidates.c - cells of a grid that may change in the next generation.
 * SPDX-License-Identifier: MIT
 */
#include "life/candidates.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool changes_open(struct life_changes *changes, size_t height, size_t words)
{
    changes->bits = calloc(height * words, sizeof *changes->bits);
    changes->any = calloc(height, sizeof *changes->any);
    return changes->bits && changes->any;
}

static void changes_close(struct life_changes *changes)
{
    free(changes->bits);
    free(changes->any);
}

int life_candidates_open(struct life_candidates *c, const struct life_grid *grid)
{
    const size_t words = (grid->width + 63) / 64;
    *c = (struct life_candidates){
        .width = grid->width, .height = grid->height, .words = words, .bounds = grid->bounds};
    c->row = calloc(words, sizeof *c->row);
    return changes_open(&c->last, c->height, words) && changes_open(&c->next, c->height, words) &&
                   c->row
               ? 0
               : clerror_set(ENOMEM, "life: out of memory for the changes of a grid");
}

void life_candidates_close(struct life_candidates *c)
{
    changes_close(&c->last);
    changes_close(&c->next);
    free(c->row);
}

/* A bit for each of eight bytes that is not 0. */
static uint64_t bytes_set(uint64_t bytes)
{
    const uint64_t low = 0x7f7f7f7f7f7f7f7fu, high = (((bytes & low) + low) | bytes) & ~low;
    return (high >> 7) * 0x0102040810204080u >> 56;
}

/* Set a row's bits where two rows of cells differ; `b` NULL: where the cell is not 0. True if any
 * is set. */
static bool row_differences(const struct life_candidates *c, const unsigned char *a,
                            const unsigned char *b, uint64_t *bits)
{
    bool any = false;
    memset(bits, 0, c->words * sizeof *bits);
    for (size_t x = 0; x < c->width; x += 8) {
        const size_t n = c->width - x < 8 ? c->width - x : 8;
        uint64_t one = 0, other = 0;
        memcpy(&one, a + x, n);
        if (b)
            memcpy(&other, b + x, n);
        if (one != other) {
            bits[x / 64] |= bytes_set(one ^ other) << x % 64;
            any = true;
        }
    }
    return any;
}

static void row_set_all(const struct life_candidates *c, uint64_t *bits)
{
    memset(bits, 0xff, c->words * sizeof *bits);
    bits[c->words - 1] = life_last_mask(c->width);
}

void life_candidates_begin(struct life_candidates *c, const unsigned char *cells)
{
    for (size_t y = 0; y < c->height; y++) {
        uint64_t *bits = c->last.bits + y * c->words;
        if (!cells)
            row_set_all(c, bits);
        c->last.any[y] = !cells || row_differences(c, cells + y * c->width, NULL, bits);
    }
}

/* Add the changes of a row to `to`. */
static void row_add(const struct life_candidates *c, uint64_t *to, size_t y)
{
    const uint64_t *bits = c->last.bits + y * c->words;
    for (size_t i = 0; i < c->words && c->last.any[y]; i++)
        to[i] |= bits[i];
}

/* Extend the row's candidates by a cell to the left and to the right. Return their number. */
static size_t row_widen(struct life_candidates *c)
{
    uint64_t *row = c->row, *last = &row[c->words - 1], mask = life_last_mask(c->width), before = 0;
    const uint64_t first = row[0] & 1, end = *last >> (c->width - 1) % 64 & 1;
    size_t n = 0;
    for (size_t i = 0; i < c->words; i++) {
        const uint64_t own = row[i], after = i + 1 < c->words ? row[i + 1] : 0;
        row[i] = own | own << 1 | own >> 1 | before >> 63 | after << 63;
        before = own;
    }
    if (c->bounds == LIFE_TORUS) {
        row[0] |= end;
        *last |= first << (c->width - 1) % 64;
    }
    if (c->bounds == LIFE_JOINED) {
        row[0] |= 1;
        *last |= (uint64_t)1 << (c->width - 1) % 64;
    }
    *last &= mask;
    for (size_t i = 0; i < c->words; i++)
        n += row[i] ? (size_t)__builtin_popcountll(row[i]) : 0;
    return n;
}

size_t life_candidates_find(struct life_candidates *c, size_t y)
{
    const bool torus = c->bounds == LIFE_TORUS, joined = c->bounds == LIFE_JOINED, top = y == 0,
               bottom = y + 1 == c->height;
    const size_t above = !top    ? y - 1
                         : torus ? c->height - 1
                                 : y, /* none: the row itself */
        below = !bottom ? y + 1
                : torus ? 0
                        : y;
    if (joined && (top || bottom)) {
        row_set_all(c, c->row);
        return c->width;
    }
    if (!joined && !c->last.any[y] && !c->last.any[above] && !c->last.any[below])
        return 0;
    memset(c->row, 0, c->words * sizeof *c->row);
    row_add(c, c->row, y);
    row_add(c, c->row, above);
    row_add(c, c->row, below);
    return row_widen(c);
}

void life_candidates_clear(struct life_candidates *c, size_t y)
{
    if (c->next.any[y])
        memset(c->next.bits + y * c->words, 0, c->words * sizeof *c->next.bits);
    c->next.any[y] = false;
}

void life_candidates_compare(struct life_candidates *c, size_t y, const unsigned char *now,
                             const unsigned char *next)
{
    c->next.any[y] = row_differences(c, now, next, c->next.bits + y * c->words);
}

void life_candidates_advance(struct life_candidates *c)
{
    const struct life_changes last = c->last;
    c->last = c->next;
    c->next = last;
}
