/* separate_groups.c - groups that recur, are left out and return.
 * SPDX-License-Identifier: MIT
 */
#include "life/separate.h"

#include <stdlib.h>

/* Limits of the work, in generations of all cells: divided by the part of the cells that are of
 * groups that have not recurred; if few or none are. And in all, about 7 s. */
enum { WORK_PART = 1 << 6, WORK_FEW = 1 << 10, WORK_NONE = 1 << 12, WORK_MOST = 1 << 26 };

/* Cells and tiles that are listed count as one cell that is computed. */
enum { WORK_LISTED = 8 };

/* ---- Groups that return. --------------------------------------------------------------------- */

static bool cell_is_before(const struct group_cell *a, const struct group_cell *b)
{
    return a->y < b->y || (a->y == b->y && a->x < b->x);
}

/* Take a group's cells of generation 0 as alone[0]. */
void separate_alone_begin(struct separation *s, size_t root)
{
    const struct group *g = &s->group[root];
    s->alone[0].n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct identify_cell *c = &s->begin->cell[s->order[g->first + i]];
        separate_add_cell(s, &s->alone[0], (int32_t)(c->x - s->begin->left),
                          (int32_t)(c->y - s->begin->top), (uint32_t)root);
    }
}

void separate_alone_step(struct separation *s)
{
    const struct group_cells swap = s->alone[0];
    separate_compute(s, &s->alone[0], &s->alone[1]);
    s->alone[0] = s->alone[1];
    s->alone[1] = swap;
    s->work += s->alone[0].n;
}

/* Add a group's cells to the present generation. */
void separate_return(struct separation *s, uint32_t root)
{
    struct group_cells *now = &s->alone[0], *next = &s->alone[1];
    separate_alone_begin(s, root);
    for (uint64_t t = s->generation % s->group[root].motion.period; t > 0; t--)
        separate_alone_step(s);
    next->n = 0;
    for (size_t i = 0, j = 0; i < s->now.n || j < now->n;) {
        const bool own =
            j < now->n && (i == s->now.n || cell_is_before(&now->cell[j], &s->now.cell[i]));
        const struct group_cell *c = own ? &now->cell[j++] : &s->now.cell[i++];
        separate_add_cell(s, next, c->x, c->y, c->member);
    }
    s->work += next->n / WORK_LISTED;
    const struct group_cells swap = s->now;
    s->now = *next;
    *next = swap;
}

/* ---- Groups. --------------------------------------------------------------------------------- */

/* Sort the cells of generation 0 by group, and measure the groups. */
void separate_order(struct separation *s)
{
    const struct identify_cells *b = s->begin;
    for (size_t i = 0; i < b->n; i++)
        s->group[i].n = 0;
    for (size_t i = 0; i < b->n; i++)
        group_of(s, (uint32_t)i)->n++;
    for (size_t i = 0, first = 0; i < b->n; i++) {
        s->group[i].first = first;
        first += s->group[i].n;
        s->group[i].n = 0;
    }
    for (size_t i = 0; i < b->n; i++) {
        struct group *g = group_of(s, (uint32_t)i);
        const int32_t x = (int32_t)(b->cell[i].x - b->left), y = (int32_t)(b->cell[i].y - b->top);
        const struct group_box here = {x, y, x, y};
        g->begin = g->n ? box_union(&g->begin, &here) : here;
        s->order[g->first + g->n++] = i;
    }
}

/* After groups have been joined, wake those near them. */
void separate_joined(struct separation *s)
{
    separate_order(s);
    for (size_t k = 0; k < s->tiles; k++) {
        const size_t root = identify_root(s->parent, s->tile[k].member);
        if (s->group[root].chosen && s->left_out)
            separate_wake_near(s, &s->tile[k], root);
    }
    for (size_t i = 0; i < s->begin->n; i++)
        s->group[i].chosen = false;
    s->joined = false;
    s->work += (s->begin->n + s->tiles) / WORK_LISTED;
}

/* Measure the groups of the present generation. */
void separate_measure(struct separation *s)
{
    s->actives = 0;
    for (size_t i = 0; i < s->now.n; i++) {
        struct group_cell *c = &s->now.cell[i];
        c->member = (uint32_t)identify_root(s->parent, c->member);
        struct group *g = &s->group[c->member];
        const struct group_box here = {c->x, c->y, c->x, c->y};
        if (g->seen != s->generation || !g->live) {
            g->seen = s->generation;
            g->live = 0;
            g->now = here;
            s->active[s->actives++] = c->member;
        }
        g->now = box_union(&g->now, &here);
        g->live++;
    }
    for (size_t i = 0; i < s->actives; i++) {
        struct group *g = &s->group[s->active[i]];
        const struct group_box now =
            box_moved(g->now, -group_drift(s, g, g->motion.dx), -group_drift(s, g, g->motion.dy));
        g->ever = s->generation ? box_union(&g->ever, &now) : now;
    }
}

/* Compare the groups with their cells of generation 0: `equal` are those that have recurred. */
static bool groups_compare(struct separation *s)
{
    bool any = false;
    for (size_t i = 0; i < s->actives; i++) {
        struct group *g = &s->group[s->active[i]];
        const struct group_box *a = &g->begin, *b = &g->now;
        g->equal = g->live == g->n && a->right - a->left == b->right - b->left &&
                   a->bottom - a->top == b->bottom - b->top &&
                   (!g->motion.period || s->generation >= g->again);
        g->compared = 0;
        any |= g->equal;
    }
    for (size_t i = 0; i < s->now.n && any; i++) {
        const struct group_cell *c = &s->now.cell[i];
        struct group *g = &s->group[c->member];
        if (!g->equal)
            continue;
        const struct identify_cell *b = &s->begin->cell[s->order[g->first + g->compared++]];
        g->equal = c->x - g->now.left == b->x - s->begin->left - g->begin.left &&
                   c->y - g->now.top == b->y - s->begin->top - g->begin.top;
    }
    return any;
}

/* True if the cells have become many more, or the limit of the work is reached. It is higher if
 * little is left to do. */
bool separate_work_is_done(const struct separation *s)
{
    size_t cells = 0; /* of groups that have not recurred */
    if (s->now.n > s->begin->n + s->begin->n / 4 + MANY_MORE)
        return true;
    if (s->work < s->limit)
        return false;
    if (s->work >= WORK_MOST)
        return true;
    for (size_t i = 0; i < s->actives; i++) {
        const struct group *g = &s->group[s->active[i]];
        cells += g->motion.period ? 0 : g->live;
    }
    if (!cells)
        return s->work >= WORK_NONE * (uint64_t)s->begin->n;
    const uint64_t generations = WORK_PART * (uint64_t)s->begin->n / cells;
    return s->work >= s->begin->n * (generations < WORK_FEW ? generations : WORK_FEW);
}

/* Collect the periods near each chosen group. A spaceship counts while its box is near. */
static void collect_near(struct separation *s)
{
    s->work += s->tiles / WORK_LISTED;
    for (size_t k = 0; k < s->tiles; k++) {
        const struct tile *at = &s->tile[k];
        const size_t root = identify_root(s->parent, at->member);
        struct group *g = &s->group[root];
        for (int i = 0; i < 9 && g->chosen && g->wait; i++)
            for (int32_t t = separate_tile_first(s, at->x - 1 + i % 3, at->y - 1 + i / 3);
                 t != NO_TILE; t = s->tile[t].next) {
                const size_t other = identify_root(s->parent, s->tile[t].member);
                const struct group *near = &s->group[other];
                if (other == root || !separate_tiles_touch(at, &s->tile[t]))
                    continue;
                const bool here = near->now.left - SEPARATE_NEAR - TILE_SIDE <= g->ever.right &&
                                  near->now.right + SEPARATE_NEAR + TILE_SIDE >= g->ever.left &&
                                  near->now.top - SEPARATE_NEAR - TILE_SIDE <= g->ever.bottom &&
                                  near->now.bottom + SEPARATE_NEAR + TILE_SIDE >= g->ever.top;
                if (near->motion.period && group_moves(near))
                    g->wait = here ? 0 : g->wait;
                else
                    g->wait = identify_common_multiple(g->wait, near->motion.period);
            }
    }
}

/* Leave out each chosen group that has met all near groups in every combination of their phases. */
static void leave_out(struct separation *s)
{
    collect_near(s);
    for (size_t i = 0; i < s->actives; i++) {
        struct group *g = &s->group[s->active[i]];
        if (!g->chosen)
            continue;
        g->chosen = false;
        g->left_out = g->wait && g->wait <= s->generation;
        s->left_out += g->left_out;
        g->again = g->wait ? g->wait : s->generation + s->generation / 4 + 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < s->now.n; i++)
        if (!s->group[s->now.cell[i].member].left_out)
            s->now.cell[n++] = s->now.cell[i];
    s->now.n = n;
}

/* Note groups that have recurred, and leave out those that can be. */
void separate_recur(struct separation *s)
{
    bool any = false;
    if (!groups_compare(s))
        return;
    for (size_t i = 0; i < s->actives; i++) {
        struct group *g = &s->group[s->active[i]];
        if (!g->equal)
            continue;
        if (!g->motion.period) {
            g->motion = (struct identify_motion){s->generation, g->now.left - g->begin.left,
                                                 g->now.top - g->begin.top};
            if (group_moves(g))
                g->ever = g->begin;
        }
        g->chosen = !group_moves(g);
        g->wait = g->motion.period;
        any |= g->chosen;
    }
    if (any)
        leave_out(s);
}
