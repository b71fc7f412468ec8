/* candidates.h - cells of a grid that may change in the next generation (candidates.c).
 *
 * If nothing in a cell's block of nine has changed in a generation, the cell does not change in the
 * next one, provided that all generations have the same rule. The candidates are therefore the
 * cells that have changed, and their neighbours.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CANDIDATES_H
#define LIFE_CANDIDATES_H

#include "life/grid.h"

#include <stdbool.h>

struct life_candidates {
    size_t width, height, words; /* words of a row of bits */
    enum life_bounds bounds;
    struct life_changes {
        uint64_t *bits; /* a row of `words` for each row of cells */
        bool *any;      /* for each row: true if it has changes */
    } last, next;       /* of the last generation, and of the next one, which the caller sets */
    uint64_t *row;      /* candidates of one row */
};

/* Fails with ENOMEM. Close it in either case. */
int life_candidates_open(struct life_candidates *c, const struct life_grid *grid);
void life_candidates_close(struct life_candidates *c);

/* Take the nonzero cells as the last changes, as if the grid had been empty before. NULL: all cells
 * are candidates. */
void life_candidates_begin(struct life_candidates *c, const unsigned char *cells);

/* Set c->row to the candidates of row y. Return their number. On topologies other than torus and
 * plane all cells at edges are candidates. */
size_t life_candidates_find(struct life_candidates *c, size_t y);

/* Set row y of the next changes: to none; to the places where two rows differ. */
void life_candidates_clear(struct life_candidates *c, size_t y);
void life_candidates_compare(struct life_candidates *c, size_t y, const unsigned char *now,
                             const unsigned char *next);

/* Add a cell to row y of the next changes. */
static inline void life_candidates_add(struct life_candidates *c, size_t x, size_t y)
{
    c->next.bits[y * c->words + x / 64] |= (uint64_t)1 << x % 64;
    c->next.any[y] = true;
}

/* The next generation is complete. */
void life_candidates_advance(struct life_candidates *c);

#endif
