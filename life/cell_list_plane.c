/* cell_list_plane.c - lists of live cells to and from unbounded planes, a square of 64 x 64 cells
 * at a time.
 * SPDX-License-Identifier: MIT
 */
#include "life/cell_list.h"

#include "core/handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SQUARE = 64 };

/* Round down to a multiple of SQUARE. */
static long long square_corner(long long at)
{
    return at & ~(long long)(SQUARE - 1);
}

/* By square first, in rows of squares. */
static int compare_squares(const void *a, const void *b)
{
    const struct life_cell *c = a, *d = b;
    return cell_compare((struct life_cell){square_corner(c->x), square_corner(c->y)},
                        (struct life_cell){square_corner(d->x), square_corner(d->y)});
}

/* Add cells of one square to the plane; return their number, 0 on an error. */
static size_t put_square(life *lf, const struct life_cell *cell, size_t n)
{
    unsigned char state[SQUARE * SQUARE];
    const long long x = square_corner(cell->x), y = square_corner(cell->y);
    size_t i = 0;
    if (life_get_states(lf, x, y, SQUARE, SQUARE, state) < 0)
        return 0;
    for (; i < n && square_corner(cell[i].x) == x && square_corner(cell[i].y) == y; i++)
        state[(cell[i].y - y) * SQUARE + cell[i].x - x] = 1;
    return life_put_states(lf, x, y, SQUARE, SQUARE, state) < 0 ? 0 : i;
}

int life_put_list(life *lf, const life_list *list)
{
    if (no_handle(lf, __func__) || no_handle(list, __func__))
        return -1;
    if (life_bounds_of(lf) != LIFE_UNBOUNDED)
        return clerror_set(ENOTSUP, "life_put_list: only unbounded planes take a list of cells");
    life_list *by_square = life_list_create(list->cell, list->n);
    if (!by_square)
        return -1;
    qsort(by_square->cell, list->n, sizeof *list->cell, compare_squares);
    size_t done = 0, put = 1;
    for (; done < list->n && put; done += put)
        put = put_square(lf, by_square->cell + done, list->n - done);
    life_list_free(by_square);
    return put ? 0 : -1;
}

static int take_run(void *to, long long x, long long y, uint64_t n, unsigned state)
{
    life_list **list = to;
    (void)state;
    return cell_list_append(list, (struct life_cell){x, y}, n) ? 0 : -1;
}

life_list *life_get_list(life *lf)
{
    if (no_handle(lf, __func__))
        return NULL;
    life_list *list = cell_list_alloc(64);
    if (!list)
        return NULL;
    if (life_walk_runs(lf, take_run, &list) == 0)
        return cell_list_finish(list);
    life_list_free(list);
    return NULL;
}
