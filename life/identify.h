/* identify.h - internals of life_identify.
 *
 *   identify.c           recurrence and growth
 *   identify_objects.c   separate objects, and their names
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_IDENTIFY_H
#define LIFE_IDENTIFY_H

#include "stdcl/identify.h"

/* A cell that is not dead. */
struct identify_cell {
    long long x, y;
    unsigned state;
};

/* The cells of a generation, row by row; the box around them, its ends included. */
struct identify_cells {
    struct identify_cell *cell;
    size_t n, room;
    long long left, top, right, bottom;
    long long width, height; /* sides of the torus that the cells are on; 0: none */
};
void identify_cells_free(struct identify_cells *s);

/* Return the number of groups of adjacent cells; without memory, or with more than 65,536
 * cells, the number of cells. */
uint64_t identify_components(const struct identify_cells *s);

/* Separate a pattern into objects, with their names, and set objects, object and code of *id. Leave
 * 0 objects if the rule has no apgcodes, or the cells cannot be separated. -1 with ENOMEM. */
int identify_objects(life *lf, const struct identify_cells *now, struct life_identity *id);

#endif
