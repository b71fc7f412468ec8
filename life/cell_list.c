/* cell_list.c - patterns as sorted lists of live cells: set operations, turns and searches.
 *
 * Set operations merge two sorted lists. A search intersects the list with itself, moved by each
 * cell of the pattern: what remains are the places of all its cells.
 * SPDX-License-Identifier: MIT
 */
#include "life/cell_list.h"

#include "core/handle.h"
#include "core/host_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Lists. ---------------------------------------------------------------------------------- */

/* Bytes of a small list, which is allocated without a look at the memory that is left. */
static const double SMALL_LIST = 1 << 20;

life_list *cell_list_alloc(size_t room)
{
    const double bytes = (double)room * sizeof(struct life_cell);
    life_list *list = bytes > SMALL_LIST && bytes > host_memory_left()
                          ? NULL
                          : malloc(sizeof *list + (room ? room : 1) * sizeof *list->cell);
    if (!list) {
        clerror_set(ENOMEM, "out of memory for a list of %zu cells", room);
        return NULL;
    }
    list->n = 0;
    list->room = room ? room : 1;
    return list;
}

/* Replace a list by one with room for at least `n` cells more. */
static bool cell_list_grow(life_list **list, uint64_t n)
{
    const size_t twice = 2 * (*list)->room,
                 wanted = n > twice - (*list)->n ? (*list)->n + n : twice;
    life_list *more = cell_list_alloc(wanted);
    if (!more)
        return false;
    more->n = (*list)->n;
    memcpy(more->cell, (*list)->cell, more->n * sizeof *more->cell);
    free(*list);
    *list = more;
    return true;
}

bool cell_list_append(life_list **list, struct life_cell first, uint64_t n)
{
    if (n > (*list)->room - (*list)->n && !cell_list_grow(list, n))
        return false;
    for (uint64_t i = 0; i < n; i++)
        (*list)->cell[(*list)->n++] = (struct life_cell){first.x + (long long)i, first.y};
    return true;
}

static int compare_pointed(const void *a, const void *b)
{
    return cell_compare(*(const struct life_cell *)a, *(const struct life_cell *)b);
}

life_list *cell_list_finish(life_list *list)
{
    size_t n = 0;
    bool sorted = true;
    for (size_t i = 0; i < list->n; i++) {
        if (!cell_in_range(list->cell[i])) {
            clerror_set(ERANGE, "cell (%lld, %lld) is not within 2^62 columns and rows of (0, 0)",
                        list->cell[i].x, list->cell[i].y);
            free(list);
            return NULL;
        }
        sorted = sorted && (!i || cell_compare(list->cell[i - 1], list->cell[i]) < 0);
    }
    if (sorted)
        return list;
    qsort(list->cell, list->n, sizeof *list->cell, compare_pointed);
    for (size_t i = 0; i < list->n; i++)
        if (!i || cell_compare(list->cell[n - 1], list->cell[i]) < 0)
            list->cell[n++] = list->cell[i];
    list->n = n;
    return list;
}

life_list *life_list_create(const struct life_cell *cell, size_t n)
{
    life_list *list = cell_list_alloc(n);
    if (!list)
        return NULL;
    if (n)
        memcpy(list->cell, cell, n * sizeof *cell);
    list->n = n;
    return cell_list_finish(list);
}

void life_list_free(life_list *list)
{
    free(list);
}

size_t life_list_count(const life_list *list)
{
    return no_handle(list, __func__) ? 0 : list->n;
}

const struct life_cell *life_list_cells(const life_list *list)
{
    return no_handle(list, __func__) ? NULL : list->cell;
}

int life_list_box(const life_list *list, struct life_cell *corner, uint64_t *width,
                  uint64_t *height)
{
    if (no_handle(list, __func__))
        return -1;
    if (!list->n)
        return 0;
    long long left = list->cell[0].x, right = left;
    for (size_t i = 1; i < list->n; i++) {
        left = list->cell[i].x < left ? list->cell[i].x : left;
        right = list->cell[i].x > right ? list->cell[i].x : right;
    }
    *corner = (struct life_cell){left, list->cell[0].y};
    *width = (uint64_t)right - (uint64_t)left + 1;
    *height = (uint64_t)list->cell[list->n - 1].y - (uint64_t)list->cell[0].y + 1;
    return 1;
}

int life_list_equal(const life_list *a, const life_list *b)
{
    if (no_handle(a, __func__) || no_handle(b, __func__))
        return -1;
    return a->n == b->n && memcmp(a->cell, b->cell, a->n * sizeof *a->cell) == 0;
}

/* ---- Moves. ---------------------------------------------------------------------------------- */

life_list *life_list_shift(const life_list *list, long long dx, long long dy)
{
    if (no_handle(list, __func__))
        return NULL;
    if (!cell_in_range((struct life_cell){dx, dy})) {
        clerror_set(ERANGE, "a shift by (%lld, %lld) is not within 2^62 columns and rows", dx, dy);
        return NULL;
    }
    life_list *out = cell_list_alloc(list->n);
    if (!out)
        return NULL;
    for (; out->n < list->n; out->n++)
        out->cell[out->n] =
            (struct life_cell){list->cell[out->n].x + dx, list->cell[out->n].y + dy};
    return cell_list_finish(out);
}

static struct life_cell turned_cell(struct life_cell c, enum life_turn turn)
{
    switch (turn) {
    case LIFE_ROTATE_90:
        return (struct life_cell){c.y, -c.x};
    case LIFE_ROTATE_180:
        return (struct life_cell){-c.x, -c.y};
    case LIFE_ROTATE_270:
        return (struct life_cell){-c.y, c.x};
    case LIFE_FLIP_X:
        return (struct life_cell){-c.x, c.y};
    case LIFE_FLIP_Y:
        return (struct life_cell){c.x, -c.y};
    case LIFE_TRANSPOSE:
        return (struct life_cell){c.y, c.x};
    case LIFE_ANTITRANSPOSE:
        return (struct life_cell){-c.y, -c.x};
    default:
        return c;
    }
}

life_list *life_list_turn(const life_list *list, enum life_turn turn)
{
    if (no_handle(list, __func__))
        return NULL;
    if ((unsigned)turn >= LIFE_TURNS) {
        clerror_set(EINVAL, "life_list_turn: there is no turn %d", (int)turn);
        return NULL;
    }
    life_list *out = cell_list_alloc(list->n);
    if (!out)
        return NULL;
    for (; out->n < list->n; out->n++)
        out->cell[out->n] = turned_cell(list->cell[out->n], turn);
    return cell_list_finish(out);
}

/* ---- Sets. ----------------------------------------------------------------------------------- */

/* Write to `out`, which has room and may be `a`'s cells, the cells that an operation takes: only of
 * the list `a`, of both, only of `b` moved by (-shift). Return their number. */
static size_t merge_cells(const struct life_cell *a, size_t n, const life_list *b,
                          struct life_cell shift, const bool takes[3], struct life_cell *out)
{
    size_t i = 0, j = 0, count = 0;
    while (i < n || j < b->n) {
        struct life_cell of_b = {0, 0};
        int order = -1;
        if (j < b->n) {
            of_b = (struct life_cell){b->cell[j].x - shift.x, b->cell[j].y - shift.y};
            order = i < n ? cell_compare(a[i], of_b) : 1;
        }
        const struct life_cell next = order <= 0 ? a[i] : of_b;
        i += order <= 0;
        j += order >= 0;
        if (takes[order + 1])
            out[count++] = next;
    }
    return count;
}

life_list *life_list_combine(const life_list *a, const life_list *b,
                             enum life_list_operation operation)
{
    static const bool takes[][3] = {[LIFE_AND] = {false, true, false},
                                    [LIFE_OR] = {true, true, true},
                                    [LIFE_XOR] = {true, false, true},
                                    [LIFE_DIFFERENCE] = {true, false, false}};
    if (no_handle(a, __func__) || no_handle(b, __func__))
        return NULL;
    if ((unsigned)operation > LIFE_DIFFERENCE) {
        clerror_set(EINVAL, "life_list_combine: there is no operation %d", (int)operation);
        return NULL;
    }
    life_list *out = cell_list_alloc(a->n + b->n);
    if (out)
        out->n =
            merge_cells(a->cell, a->n, b, (struct life_cell){0, 0}, takes[operation], out->cell);
    return out;
}

life_list *life_list_clip(const life_list *list, long long x, long long y, uint64_t width,
                          uint64_t height)
{
    if (no_handle(list, __func__))
        return NULL;
    life_list *out = cell_list_alloc(list->n);
    for (size_t i = 0; out && i < list->n; i++) {
        const struct life_cell c = list->cell[i];
        if (c.x >= x && c.y >= y && (uint64_t)c.x - (uint64_t)x < width &&
            (uint64_t)c.y - (uint64_t)y < height)
            out->cell[out->n++] = c;
    }
    return out;
}

life_list *life_list_halo(const life_list *list)
{
    if (no_handle(list, __func__))
        return NULL;
    life_list *around = cell_list_alloc(list->n > SIZE_MAX / 16 ? SIZE_MAX : 8 * list->n);
    for (size_t i = 0; around && i < list->n; i++)
        for (int k = 0; k < 9; k++)
            if (k != 4)
                around->cell[around->n++] =
                    (struct life_cell){list->cell[i].x + k % 3 - 1, list->cell[i].y + k / 3 - 1};
    around = around ? cell_list_finish(around) : NULL;
    life_list *out = around ? life_list_combine(around, list, LIFE_DIFFERENCE) : NULL;
    life_list_free(around);
    return out;
}

life_list *life_list_match(const life_list *list, const life_list *live, const life_list *dead)
{
    static const bool both[3] = {false, true, false}, only_first[3] = {true, false, false};
    if (no_handle(list, __func__) || no_handle(live, __func__))
        return NULL;
    if (!live->n) {
        clerror_set(EINVAL, "life_list_match: a pattern without live cells is everywhere");
        return NULL;
    }
    life_list *at = cell_list_alloc(list->n);
    if (!at)
        return NULL;
    for (; at->n < list->n; at->n++)
        at->cell[at->n] = (struct life_cell){list->cell[at->n].x - live->cell[0].x,
                                             list->cell[at->n].y - live->cell[0].y};
    for (size_t i = 1; i < live->n && at->n; i++)
        at->n = merge_cells(at->cell, at->n, list, live->cell[i], both, at->cell);
    for (size_t i = 0; dead && i < dead->n && at->n; i++)
        at->n = merge_cells(at->cell, at->n, list, dead->cell[i], only_first, at->cell);
    return cell_list_finish(at);
}
