/* separate_cells.c - a generation of cells that are labelled with their groups.
 * SPDX-License-Identifier: MIT
 */
#include "life/circuit.h"
#include "life/separate.h"

#include <stdlib.h>

/* The box of all cells that have been alive in a group. */
static struct group_box group_path(const struct separation *s, const struct group *g)
{
    const struct group_box now = group_box_now(s, g);
    return box_union(&g->ever, &now);
}

/* Join the groups of two cells. The joined group has not recurred. */
void separate_join(struct separation *s, uint32_t a, uint32_t b)
{
    const size_t p = identify_root(s->parent, a), q = identify_root(s->parent, b);
    if (p == q)
        return;
    struct group *first = &s->group[p < q ? p : q], *second = &s->group[p < q ? q : p];
    s->parent[p > q ? p : q] = p > q ? q : p;
    const struct group_box paths[2] = {group_path(s, first), group_path(s, second)};
    first->ever = box_union(&paths[0], &paths[1]);
    first->motion = (struct identify_motion){.period = 0};
    first->again = 0;
    first->joined = s->generation;
    first->chosen = true;
    s->groups--;
    s->joined = true;
}

/* Live cells around (x, y), itself included: bit 3 j + i is column x - 1 + i of row y - 1 + j. */
struct group_block {
    unsigned bits;
    int groups; /* up to 3, which stands for more */
    struct {
        uint32_t root;
        unsigned bits;
    } group[3];
};

static void block_add(struct separation *s, struct group_block *b, unsigned bit, uint32_t member)
{
    const uint32_t root = (uint32_t)identify_root(s->parent, member);
    int k = 0;
    b->bits |= bit;
    while (k < b->groups && b->group[k].root != root)
        k++;
    if (k == 3) {
        separate_join(s, b->group[0].root, root);
        return;
    }
    if (k == b->groups) {
        b->group[k].root = root;
        b->group[k].bits = 0;
        b->groups++;
    }
    b->group[k].bits |= bit;
}

/* Decide the middle of a block with several groups: return if it lives next, and its group. */
static bool block_decide(struct separation *s, const struct group_block *b, uint32_t *member)
{
    const bool next = life_table_next(s->table, b->bits),
               first = life_table_next(s->table, b->group[0].bits),
               second = life_table_next(s->table, b->group[1].bits);
    for (int k = 1; k < b->groups; k++)
        if (b->groups > 2 || (first && second) || next != (first || second))
            separate_join(s, b->group[0].root, b->group[k].root);
    *member = b->group[second && !first ? 1 : 0].root;
    return next;
}

void separate_add_cell(struct separation *s, struct group_cells *to, int32_t x, int32_t y,
                       uint32_t member)
{
    if (to->n == to->room) {
        const size_t room = to->room ? 2 * to->room : 4096;
        struct group_cell *more = realloc(to->cell, room * sizeof *more);
        s->no_memory |= !more;
        if (!more)
            return;
        to->cell = more;
        to->room = room;
    }
    to->cell[to->n++] = (struct group_cell){x, y, member};
}

/* Compute a row from those above, at and below it, from[j] to end[j] each. */
static void compute_row(struct separation *s, int32_t y, const struct group_cell *from[3],
                        const struct group_cell *const end[3], struct group_cells *to)
{
    for (;;) {
        int32_t x = INT32_MAX;
        for (int j = 0; j < 3; j++)
            x = from[j] < end[j] && from[j]->x < x ? from[j]->x : x;
        if (x == INT32_MAX)
            return;
        for (x--;; x++) {
            struct group_block b = {.bits = 0};
            for (int j = 0; j < 3; j++) {
                while (from[j] < end[j] && from[j]->x < x - 1)
                    from[j]++;
                for (const struct group_cell *c = from[j]; c < end[j] && c->x <= x + 1; c++)
                    block_add(s, &b, 1u << (3 * j + c->x - x + 1), c->member);
            }
            if (!b.bits)
                break;
            uint32_t member = b.group[0].root;
            if (b.groups == 1 ? life_table_next(s->table, b.bits) : block_decide(s, &b, &member))
                separate_add_cell(s, to, x, y, member);
        }
    }
}

static const struct group_cell *row_end(const struct group_cell *c, const struct group_cell *end)
{
    const struct group_cell *first = c;
    while (c < end && c->y == first->y)
        c++;
    return c;
}

/* Compute a generation. */
void separate_compute(struct separation *s, const struct group_cells *now, struct group_cells *to)
{
    const struct group_cell *end = now->cell + now->n, *row = now->cell; /* first that matters */
    to->n = 0;
    if (!now->n)
        return;
    for (int32_t y = row->y - 1; row < end; y++) {
        const struct group_cell *from[3], *ends[3], *c = row;
        for (int j = 0; j < 3; j++) {
            from[j] = c;
            c = ends[j] = c < end && c->y == y - 1 + j ? row_end(c, end) : c;
        }
        compute_row(s, y, from, ends, to);
        row = row < end && row->y == y - 1 ? row_end(row, end) : row;
        if (row < end && row->y > y + 2)
            y = row->y - 2;
    }
}
