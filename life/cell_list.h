/* cell_list.h - the inside of a list of live cells.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CELL_LIST_H
#define LIFE_CELL_LIST_H

#include "stdcl/cell_list.h"

#include <stdbool.h>

/* Cells in ascending order of row and column, each once. */
struct life_list {
    size_t n, room;
    struct life_cell cell[];
};

/* Allocate an empty list for `room` cells. NULL with ENOMEM. */
life_list *cell_list_alloc(size_t room);

/* Append n cells of a row; a larger list may replace *list. False with ENOMEM. */
bool cell_list_append(life_list **list, struct life_cell first, uint64_t n);

/* Sort, and remove repeated cells. Return the list, or NULL, freed, with ERANGE. */
life_list *cell_list_finish(life_list *list);

/* True if both coordinates are in range. */
static inline bool cell_in_range(struct life_cell c)
{
    const long long end = 1LL << 62;
    return c.x > -end && c.x < end && c.y > -end && c.y < end;
}

static inline int cell_compare(struct life_cell a, struct life_cell b)
{
    return a.y != b.y ? (a.y < b.y ? -1 : 1) : (a.x > b.x) - (a.x < b.x);
}

#endif
