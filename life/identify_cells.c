/* identify_cells.c - the cells of a generation as a sorted list: equality up to a displacement,
 * changes, symmetry.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists. ---------------------------------------------------------------------------------- */

void identify_cells_free(struct identify_cells *s)
{
    free(s->cell);
    *s = (struct identify_cells){.cell = NULL};
}

static int identify_add_run(void *arg, long long x, long long y, uint64_t n, unsigned state)
{
    struct identify_cells *s = arg;
    if (n > IDENTIFY_MOST_CELLS || s->n + n > IDENTIFY_MOST_CELLS)
        return clerror_set(ERANGE, "life: a pattern to identify may have up to %d live cells",
                           IDENTIFY_MOST_CELLS);
    if (s->n + n > s->room) {
        const size_t room = 2 * (s->n + n);
        struct identify_cell *cell = realloc(s->cell, room * sizeof *cell);
        if (!cell)
            return clerror_set(ENOMEM, "life: out of memory for %zu cells", room);
        s->cell = cell;
        s->room = room;
    }
    for (uint64_t i = 0; i < n; i++)
        s->cell[s->n++] = (struct identify_cell){x + (long long)i, y, state};
    return 0;
}

void identify_cells_measure(struct identify_cells *s)
{
    if (!s->n)
        return;
    s->left = s->right = s->cell[0].x;
    s->top = s->cell[0].y;
    s->bottom = s->cell[s->n - 1].y;
    for (size_t i = 0; i < s->n; i++) {
        s->left = s->cell[i].x < s->left ? s->cell[i].x : s->left;
        s->right = s->cell[i].x > s->right ? s->cell[i].x : s->right;
    }
}

int identify_cells_take(life *lf, struct identify_cells *s)
{
    s->n = 0;
    if (life_walk_runs(lf, identify_add_run, s) < 0)
        return -1;
    identify_cells_measure(s);
    return 0;
}

bool identify_cells_equal(const struct identify_cells *a, const struct identify_cells *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->cell[i].x - a->left != b->cell[i].x - b->left ||
            a->cell[i].y - a->top != b->cell[i].y - b->top || a->cell[i].state != b->cell[i].state)
            return false;
    return true;
}

/* Order of cells, row by row. */
static int cells_order(const void *a, const void *b)
{
    const struct identify_cell *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return (p->x > q->x) - (p->x < q->x);
}

uint64_t identify_cells_common(const struct identify_cells *a, const struct identify_cells *b,
                               struct identify_cells *keep)
{
    uint64_t equal = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = cells_order(&a->cell[i], &b->cell[j]);
        if (order == 0 && a->cell[i].state == b->cell[j].state) {
            if (keep)
                keep->cell[equal] = a->cell[i];
            equal++;
        }
        i += order <= 0;
        j += order >= 0;
    }
    if (keep)
        keep->n = equal;
    return equal;
}

uint64_t identify_cells_changed(const struct identify_cells *a, const struct identify_cells *b)
{
    uint64_t same_place = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = cells_order(&a->cell[i], &b->cell[j]);
        same_place += order == 0;
        i += order <= 0;
        j += order >= 0;
    }
    return a->n + b->n - same_place - identify_cells_common(a, b, NULL);
}

/* ---- Symmetry. ------------------------------------------------------------------------------- */

/* True if the cells, turned and reflected by the bits of `way`, are the same cells: 1 and 2 reverse
 * columns and rows, 4 then exchanges them. */
static bool is_symmetric_by(const struct identify_cells *s, struct identify_cell *turned,
                            unsigned way)
{
    const long long right = s->right - s->left, bottom = s->bottom - s->top;
    if (way & 4 && right != bottom)
        return false;
    for (size_t i = 0; i < s->n; i++) {
        const long long u = s->cell[i].x - s->left, v = s->cell[i].y - s->top,
                        x = way & 1 ? right - u : u, y = way & 2 ? bottom - v : v;
        turned[i] = (struct identify_cell){s->left + (way & 4 ? y : x), s->top + (way & 4 ? x : y),
                                           s->cell[i].state};
    }
    qsort(turned, s->n, sizeof *turned, cells_order);
    for (size_t i = 0; i < s->n; i++)
        if (cells_order(&turned[i], &s->cell[i]) != 0 || turned[i].state != s->cell[i].state)
            return false;
    return true;
}

/* Groups in ascending order, each with the ways that it needs. */
static const struct {
    const char *name;
    unsigned ways; /* bit mask of `way` */
} groups[] = {{"C1", 0},
              {"C2", 1 << 3},
              {"D2+", 1 << 1},
              {"D2+", 1 << 2},
              {"D2x", 1 << 4},
              {"D2x", 1 << 7},
              {"C4", 1 << 3 | 1 << 5},
              {"D4+", 1 << 1 | 1 << 2},
              {"D4x", 1 << 4 | 1 << 7},
              {"D8", 1 << 1 | 1 << 4}};
enum { GROUPS = sizeof groups / sizeof *groups };

size_t identify_cells_group(const struct identify_cells *s)
{
    struct identify_cell *turned = malloc((s->n + 1) * sizeof *turned);
    unsigned ways = 0;
    size_t group = 0;
    for (unsigned way = 1; way < 8 && turned; way++)
        ways |= (unsigned)is_symmetric_by(s, turned, way) << way;
    free(turned);
    for (size_t i = 0; i < GROUPS; i++)
        group = (groups[i].ways & ~ways) == 0 ? i : group;
    return group;
}

const char *identify_group_name(size_t group)
{
    return groups[group].name;
}
