/* identify_separate.c - separates cells into groups that never influence each other.
 *
 * All cells run together, each with the label of its group. Two groups around a cell are joined if
 * the cell's next state differs from what each group alone would make of it:
 *
 *      A A .        x has two neighbours of A and one of B. Alone, either group leaves it dead;
 *      . x .        together they make it alive.
 *      . . B
 *
 * They are also joined if three groups are around a cell. Groups that are never joined evolve as if
 * each were alone. A group that has recurred is left out of the computation if no unfinished group
 * has ever been within two cells of it. It returns, in its present phase, when another group comes
 * that near.
 *
 * Groups whose cells were ever near each other stay until all their phases have been together,
 * which takes the least common multiple of their periods. Spaceships stay until their boxes show
 * that they meet no other group.
 * SPDX-License-Identifier: MIT
 */
#include "life/identify.h"
#include "life/circuit.h"
#include "life/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MANY_MORE = 256, SEPARATE_NEAR = 2, TILE_SIDE = 8, NO_TILE = -1, WIDEST_BOX = 1 << 30 };

/* A live cell, and a member of its group. */
struct group_cell {
    int32_t x, y;
    uint32_t member;
};

/* A generation, row by row. */
struct group_cells {
    struct group_cell *cell;
    size_t n, room;
};

/* A box, its ends included. */
struct group_box {
    int32_t left, top, right, bottom;
};

/* A group has the number of its first cell in generation 0. */
struct group {
    size_t first, n;                   /* of its cells of generation 0 in `order` */
    struct group_box begin, now, ever; /* ever: of a spaceship, relative to its motion */
    size_t live;                       /* cells of this generation */
    uint64_t seen;                     /* last generation that is computed */
    struct identify_motion motion;     /* period 0: it has not recurred */
    uint64_t joined;                   /* generation of the last join */
    uint64_t again;                    /* generation from which it may be left out */
    uint64_t wait;   /* least common multiple of near periods; 0: a near group is unfinished */
    size_t compared; /* cells */
    bool left_out, equal, chosen;
};

/* Cells of 8 x 8 that were ever alive in a group: bit 8 y + x. Tiles of several groups at one place
 * are a list. */
struct tile {
    uint64_t cells;
    int32_t x, y, next;
    uint32_t member;
};

struct separation {
    const struct life_table *table;
    const struct identify_cells *begin;
    struct group_cells now, next, alone[2];
    size_t *parent; /* of the cells of generation 0 */
    struct group *group;
    size_t *order; /* cells of generation 0, group by group */
    size_t groups, left_out;
    uint32_t *active; /* groups with cells in this generation */
    size_t actives;
    uint32_t *woken; /* groups that return */
    size_t wakes;
    struct map place; /* number of the first tile at a place */
    struct tile *tile;
    size_t tiles, tile_room;
    int32_t last;                     /* tile */
    uint64_t generation, work, limit; /* cells in all generations */
    bool joined, no_memory;
};

/* Limits of the work, in generations of all cells: divided by the part of the cells that are of
 * groups that have not recurred; if few or none are. */
enum { WORK_PART = 1 << 6, WORK_FEW = 1 << 10, WORK_NONE = 1 << 12 };

static struct group *group_of(struct separation *s, uint32_t member)
{
    return &s->group[identify_root(s->parent, member)];
}

/* ---- A generation. --------------------------------------------------------------------------- */

static struct group_box box_union(const struct group_box *a, const struct group_box *b)
{
    return (struct group_box){
        a->left < b->left ? a->left : b->left, a->top < b->top ? a->top : b->top,
        a->right > b->right ? a->right : b->right, a->bottom > b->bottom ? a->bottom : b->bottom};
}

static struct group_box box_moved(struct group_box b, int32_t dx, int32_t dy)
{
    return (struct group_box){b.left + dx, b.top + dy, b.right + dx, b.bottom + dy};
}

/* Displacement of a group since generation 0, in whole cells: `by` in a period. */
static int32_t group_drift(const struct separation *s, const struct group *g, long long by)
{
    return by ? (int32_t)(by * (long long)s->generation / (long long)g->motion.period) : 0;
}

/* The box of all phases of a group: at generation 0, and now. */
static struct group_box group_box_now(const struct separation *s, const struct group *g)
{
    return box_moved(g->ever, group_drift(s, g, g->motion.dx), group_drift(s, g, g->motion.dy));
}

/* The box of all cells that have been alive in a group. */
static struct group_box group_path(const struct separation *s, const struct group *g)
{
    const struct group_box now = group_box_now(s, g);
    return box_union(&g->ever, &now);
}

/* Join the groups of two cells. The joined group has not recurred. */
static void groups_join(struct separation *s, uint32_t a, uint32_t b)
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
        groups_join(s, b->group[0].root, root);
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
            groups_join(s, b->group[0].root, b->group[k].root);
    *member = b->group[second && !first ? 1 : 0].root;
    return next;
}

static void cells_add(struct separation *s, struct group_cells *to, int32_t x, int32_t y,
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
                cells_add(s, to, x, y, member);
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
static void compute_generation(struct separation *s, const struct group_cells *now,
                               struct group_cells *to)
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

/* ---- Places where groups have been. ---------------------------------------------------------- */

/* Number of the first tile at a place, or NO_TILE. */
static int32_t tile_first(const struct separation *s, int32_t x, int32_t y)
{
    const uint32_t first = map_get(&s->place, (uint64_t)(uint32_t)x << 32 | (uint32_t)y);
    return first == MAP_NONE ? NO_TILE : (int32_t)first;
}

static int32_t tile_add(struct separation *s, int32_t x, int32_t y, int32_t first, uint32_t member)
{
    if (s->tiles == s->tile_room) {
        const size_t room = s->tile_room ? 2 * s->tile_room : 4096;
        struct tile *more = realloc(s->tile, room * sizeof *more);
        s->no_memory |= !more;
        if (!more)
            return NO_TILE;
        s->tile = more;
        s->tile_room = room;
    }
    const int32_t number = (int32_t)s->tiles;
    if (first == NO_TILE &&
        !map_put(&s->place, (uint64_t)(uint32_t)x << 32 | (uint32_t)y, (uint32_t)number)) {
        s->no_memory = true;
        return NO_TILE;
    }
    s->tile[s->tiles++] = (struct tile){.x = x, .y = y, .next = NO_TILE, .member = member};
    if (first != NO_TILE) {
        s->tile[number].next = s->tile[first].next;
        s->tile[first].next = number;
    }
    return number;
}

static int32_t tile_find(struct separation *s, int32_t x, int32_t y, size_t root)
{
    const int32_t first = tile_first(s, x, y);
    for (int32_t i = first; i != NO_TILE; i = s->tile[i].next)
        if (identify_root(s->parent, s->tile[i].member) == root)
            return i;
    return tile_add(s, x, y, first, (uint32_t)root);
}

/* Cells of a row, bit x + 2 for column x, with all cells within two columns. */
static unsigned row_widened(unsigned row)
{
    return row | row << 1 | row << 2 | row << 3 | row << 4;
}

/* True if cells of tile b are within two columns and rows of cells of tile a, which is at most one
 * place away. */
static bool tiles_touch(const struct tile *a, const struct tile *b)
{
    const int right = TILE_SIDE * (b->x - a->x) + SEPARATE_NEAR, down = TILE_SIDE * (b->y - a->y);
    for (int y = 0; y < TILE_SIDE; y++) {
        const unsigned row = row_widened(a->cells >> TILE_SIDE * y & 0xff),
                       seen = (right < 0 ? row << -right : row >> right) & 0xff;
        for (int v = y - SEPARATE_NEAR - down; v <= y + SEPARATE_NEAR - down && seen; v++)
            if (v >= 0 && v < TILE_SIDE && (b->cells >> TILE_SIDE * v & seen))
                return true;
    }
    return false;
}

static void group_wake(struct separation *s, size_t root)
{
    s->group[root].left_out = false;
    s->left_out--;
    s->woken[s->wakes++] = (uint32_t)root;
}

/* Wake groups that are left out and were ever within two cells of those of a tile. */
static void wake_near(struct separation *s, const struct tile *at, size_t root)
{
    for (int i = 0; i < 9 && s->left_out; i++)
        for (int32_t t = tile_first(s, at->x - 1 + i % 3, at->y - 1 + i / 3); t != NO_TILE;
             t = s->tile[t].next) {
            const size_t other = identify_root(s->parent, s->tile[t].member);
            if (other != root && s->group[other].left_out && tiles_touch(at, &s->tile[t]))
                group_wake(s, other);
        }
}

/* Note that a cell of a group is alive. */
static void note_cell(struct separation *s, const struct group_cell *c)
{
    const int32_t x = c->x >> 3, y = c->y >> 3;
    const size_t root = identify_root(s->parent, c->member);
    const uint64_t bit = (uint64_t)1 << (TILE_SIDE * (c->y & 7) + (c->x & 7));
    const struct tile *t = s->last == NO_TILE ? NULL : &s->tile[s->last];
    if (!t || t->x != x || t->y != y || identify_root(s->parent, t->member) != root)
        s->last = tile_find(s, x, y, root);
    if (s->last == NO_TILE || s->tile[s->last].cells & bit)
        return;
    s->tile[s->last].cells |= bit;
    if (s->left_out)
        wake_near(s, &(struct tile){.cells = bit, .x = x, .y = y}, root);
}

/* ---- Groups that return. --------------------------------------------------------------------- */

static bool cell_is_before(const struct group_cell *a, const struct group_cell *b)
{
    return a->y < b->y || (a->y == b->y && a->x < b->x);
}

/* Take a group's cells of generation 0 as alone[0]. */
static void alone_begin(struct separation *s, size_t root)
{
    const struct group *g = &s->group[root];
    s->alone[0].n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct identify_cell *c = &s->begin->cell[s->order[g->first + i]];
        cells_add(s, &s->alone[0], (int32_t)(c->x - s->begin->left),
                  (int32_t)(c->y - s->begin->top), (uint32_t)root);
    }
}

static void alone_step(struct separation *s)
{
    const struct group_cells swap = s->alone[0];
    compute_generation(s, &s->alone[0], &s->alone[1]);
    s->alone[0] = s->alone[1];
    s->alone[1] = swap;
    s->work += s->alone[0].n;
}

/* Add a group's cells to the present generation. */
static void group_return(struct separation *s, uint32_t root)
{
    struct group_cells *now = &s->alone[0], *next = &s->alone[1];
    alone_begin(s, root);
    for (uint64_t t = s->generation % s->group[root].motion.period; t > 0; t--)
        alone_step(s);
    next->n = 0;
    for (size_t i = 0, j = 0; i < s->now.n || j < now->n;) {
        const bool own =
            j < now->n && (i == s->now.n || cell_is_before(&now->cell[j], &s->now.cell[i]));
        const struct group_cell *c = own ? &now->cell[j++] : &s->now.cell[i++];
        cells_add(s, next, c->x, c->y, c->member);
    }
    const struct group_cells swap = s->now;
    s->now = *next;
    *next = swap;
}

/* ---- Groups. --------------------------------------------------------------------------------- */

/* Sort the cells of generation 0 by group, and measure the groups. */
static void groups_order(struct separation *s)
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
static void groups_joined(struct separation *s)
{
    groups_order(s);
    for (size_t k = 0; k < s->tiles; k++) {
        const size_t root = identify_root(s->parent, s->tile[k].member);
        if (s->group[root].chosen && s->left_out)
            wake_near(s, &s->tile[k], root);
    }
    for (size_t i = 0; i < s->begin->n; i++)
        s->group[i].chosen = false;
    s->joined = false;
}

/* Measure the groups of the present generation. */
static void groups_measure(struct separation *s)
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
static bool work_is_done(const struct separation *s)
{
    size_t cells = 0; /* of groups that have not recurred */
    if (s->now.n > s->begin->n + s->begin->n / 4 + MANY_MORE)
        return true;
    if (s->work < s->limit)
        return false;
    for (size_t i = 0; i < s->actives; i++) {
        const struct group *g = &s->group[s->active[i]];
        cells += g->motion.period ? 0 : g->live;
    }
    if (!cells)
        return s->work >= WORK_NONE * (uint64_t)s->begin->n;
    const uint64_t generations = WORK_PART * (uint64_t)s->begin->n / cells;
    return s->work >= s->begin->n * (generations < WORK_FEW ? generations : WORK_FEW);
}

static bool group_moves(const struct group *g)
{
    return g->motion.dx || g->motion.dy;
}

/* Collect the periods near each chosen group. A spaceship counts while its box is near. */
static void collect_near(struct separation *s)
{
    for (size_t k = 0; k < s->tiles; k++) {
        const struct tile *at = &s->tile[k];
        const size_t root = identify_root(s->parent, at->member);
        struct group *g = &s->group[root];
        for (int i = 0; i < 9 && g->chosen && g->wait; i++)
            for (int32_t t = tile_first(s, at->x - 1 + i % 3, at->y - 1 + i / 3); t != NO_TILE;
                 t = s->tile[t].next) {
                const size_t other = identify_root(s->parent, s->tile[t].member);
                const struct group *near = &s->group[other];
                if (other == root || !tiles_touch(at, &s->tile[t]))
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

/* Leave out the chosen groups whose phases have been together with those of all near groups. */
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
static void groups_recur(struct separation *s)
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

/* ---- The end. -------------------------------------------------------------------------------- */

/* A group as a cluster whose box has all its phases. */
static struct identify_cluster group_cluster(const struct separation *s, const struct group *g)
{
    const struct group_box b = group_box_now(s, g);
    const int32_t x = g->motion.dx ? 1 : 0, y = g->motion.dy ? 1 : 0; /* the drift is rounded */
    return (struct identify_cluster){.left = b.left - x,
                                     .top = b.top - y,
                                     .right = b.right + x,
                                     .bottom = b.bottom + y,
                                     .motion = g->motion};
}

/* True if a spaceship meets no other group, and all its phases have been together with those of
 * the ships beside it. */
static bool ship_is_free(struct separation *s, const struct group *ship)
{
    const struct identify_cluster a = group_cluster(s, ship);
    uint64_t wait = ship->motion.period;
    for (size_t i = 0; i < s->begin->n; i++) {
        const struct group *g = &s->group[i];
        if (s->parent[i] != i || g == ship)
            continue;
        const struct identify_cluster b = group_cluster(s, g);
        const enum identify_meeting meeting = identify_clusters_meet(&a, &b, SEPARATE_NEAR);
        if (meeting == IDENTIFY_MEET)
            return false;
        if (meeting == IDENTIFY_BESIDE)
            wait = identify_common_multiple(wait, g->motion.period);
    }
    return wait && wait <= s->generation;
}

/* True if all groups are left out, except spaceships that meet no other group. */
static bool all_is_separate(struct separation *s)
{
    for (size_t i = 0; i < s->actives; i++) {
        const struct group *g = &s->group[s->active[i]];
        if (!g->left_out && (!group_moves(g) || s->generation < 2 * g->motion.period))
            return false;
    }
    for (size_t i = 0; i < s->actives; i++) {
        const struct group *g = &s->group[s->active[i]];
        if (!g->left_out && !ship_is_free(s, g))
            return false;
    }
    return true;
}

/* ---- The run. -------------------------------------------------------------------------------- */

static bool separation_alloc(struct separation *s)
{
    const size_t n = s->begin->n;
    s->parent = malloc((n + 1) * sizeof *s->parent);
    s->order = malloc((n + 1) * sizeof *s->order);
    s->active = malloc((n + 1) * sizeof *s->active);
    s->woken = malloc((n + 1) * sizeof *s->woken);
    s->group = calloc(n + 1, sizeof *s->group);
    return s->parent && s->order && s->active && s->woken && s->group;
}

static void separation_free(struct separation *s)
{
    free(s->parent);
    free(s->order);
    free(s->active);
    free(s->woken);
    free(s->group);
    free(s->tile);
    map_free(&s->place);
    free(s->now.cell);
    free(s->next.cell);
    free(s->alone[0].cell);
    free(s->alone[1].cell);
}

/* Begin with generation 0 and its groups, adjacent cells if parent is NULL. */
static void separation_begin(struct separation *s, const size_t *parent)
{
    const struct identify_cells *b = s->begin;
    if (parent)
        memcpy(s->parent, parent, b->n * sizeof *parent);
    else
        identify_join_near(b, s->parent, 1);
    groups_order(s);
    for (size_t i = 0; i < b->n; i++) {
        s->groups += s->parent[i] == i;
        cells_add(s, &s->now, (int32_t)(b->cell[i].x - b->left), (int32_t)(b->cell[i].y - b->top),
                  (uint32_t)i);
    }
}

/* Compute a generation and its groups. */
static void separation_step(struct separation *s)
{
    compute_generation(s, &s->now, &s->next);
    const struct group_cells swap = s->now;
    s->now = s->next;
    s->next = swap;
    s->generation++;
    s->work += s->now.n;
}

enum separation_end { SEPARATE, EXTINCT, UNKNOWN };

/* Take account of a generation: all groups are separate, a group is extinct, or neither. */
static enum separation_end separation_examine(struct separation *s, uint64_t *check)
{
    if (s->joined)
        groups_joined(s);
    for (size_t i = 0; i < s->now.n; i++)
        note_cell(s, &s->now.cell[i]);
    for (size_t i = 0; i < s->wakes && !s->no_memory; i++)
        group_return(s, s->woken[i]);
    s->wakes = 0;
    groups_measure(s);
    if (s->actives + s->left_out < s->groups)
        return EXTINCT;
    if (s->generation)
        groups_recur(s);
    if (s->generation < *check)
        return UNKNOWN;
    *check = s->generation + s->generation / 8 + 1;
    return all_is_separate(s) ? SEPARATE : UNKNOWN;
}

/* Displacement of alone[0] since generation 0, if it is the same cells. */
static bool alone_recurs(const struct separation *s, const struct group *g,
                         struct identify_motion *motion)
{
    const struct group_cells *now = &s->alone[0];
    const struct identify_cell *begin = s->begin->cell;
    if (now->n != g->n)
        return false;
    motion->dx = now->cell[0].x + s->begin->left - begin[s->order[g->first]].x;
    motion->dy = now->cell[0].y + s->begin->top - begin[s->order[g->first]].y;
    for (size_t i = 0; i < g->n; i++) {
        const struct identify_cell *b = &begin[s->order[g->first + i]];
        if (now->cell[i].x + s->begin->left - b->x != motion->dx ||
            now->cell[i].y + s->begin->top - b->y != motion->dy)
            return false;
    }
    return true;
}

/* Least period of a group. While it was not yet joined, a part might have taken the place of
 * another one after a period, and this is not seen. */
static struct identify_motion least_motion(struct separation *s, size_t root)
{
    const struct group *g = &s->group[root];
    struct identify_motion motion = g->motion;
    if (2 * g->joined < motion.period)
        return motion;
    alone_begin(s, root);
    for (uint64_t t = 1; 2 * t <= g->motion.period && !s->no_memory; t++) {
        alone_step(s);
        if (g->motion.period % t == 0 && alone_recurs(s, g, &motion)) {
            motion.period = t;
            return motion;
        }
    }
    return g->motion;
}

static int separation_clusters(struct separation *s, struct identify_clusters *clusters)
{
    size_t n = 0;
    for (size_t i = 0; i < s->begin->n; i++)
        s->parent[i] = identify_root(s->parent, i);
    if (identify_clusters_fill(clusters, s->begin, s->parent, 0) < 0)
        return -1;
    for (size_t i = 0; i < s->begin->n; i++)
        if (s->parent[i] == i)
            clusters->cluster[n++].motion = least_motion(s, i);
    identify_clusters_sort(clusters);
    return 1;
}

/* Run until all groups are separate or one of them is extinct, or the work is done: UNKNOWN. */
static enum separation_end separation_run(struct separation *s, const size_t *parent)
{
    uint64_t check = 0;
    enum separation_end end = UNKNOWN;
    if (separation_alloc(s))
        separation_begin(s, parent);
    else
        s->no_memory = true;
    while (!s->no_memory) {
        end = separation_examine(s, &check);
        if (end != UNKNOWN || work_is_done(s))
            break;
        separation_step(s);
    }
    return end;
}

/* A later generation, and the first cell of each cell's group. */
struct group_start {
    struct identify_cells cells;
    size_t *parent;
};

static void start_free(struct group_start *start)
{
    identify_cells_free(&start->cells);
    free(start->parent);
    *start = (struct group_start){.parent = NULL};
}

/* Copy the present generation. */
static bool start_copy(struct separation *s, struct group_start *start)
{
    const size_t n = s->now.n;
    struct group_start later = {.cells = {.cell = malloc((n + 1) * sizeof *later.cells.cell)},
                                .parent = malloc((n + 1) * sizeof *later.parent)};
    size_t *first = malloc((s->begin->n + 1) * sizeof *first);
    const bool done = later.cells.cell && later.parent && first;
    for (size_t i = 0; i < s->begin->n && done; i++)
        first[i] = n;
    for (size_t i = 0; i < n && done; i++) {
        const struct group_cell *c = &s->now.cell[i];
        const size_t root = identify_root(s->parent, c->member);
        first[root] = first[root] < n ? first[root] : i;
        later.parent[i] = first[root];
        later.cells.cell[later.cells.n++] =
            (struct identify_cell){s->begin->left + c->x, s->begin->top + c->y, 1};
    }
    free(first);
    identify_cells_measure(&later.cells);
    start_free(start);
    *start = later;
    return done;
}

/* Compute the groups after some more generations: sparks that die are then their ships'. */
static bool start_advance(struct separation *s, uint64_t generations, struct group_start *start)
{
    bool done = separation_alloc(s);
    if (done)
        separation_begin(s, start->parent);
    for (uint64_t g = 0; g < generations && done && s->work < s->limit; g++)
        separation_step(s);
    done = done && !s->no_memory && start_copy(s, start);
    s->no_memory |= !done;
    return done;
}

static struct separation separation_of(const struct life_table *table,
                                       const struct identify_cells *cells,
                                       const struct identify_parts *parts, uint64_t limit)
{
    return (struct separation){
        .table = table, .begin = cells, .last = NO_TILE, .work = parts->work, .limit = limit};
}

/* Least limit of the work: 1,024 generations of all cells, up to 0.2 s, or 128, up to 0.8 s. */
static uint64_t least_work(uint64_t n)
{
    enum { SHORT = 1 << 21, LONG = 1 << 23 };
    const uint64_t many = 1024 * n < SHORT ? 1024 * n : SHORT,
                   few = 128 * n < LONG ? 128 * n : LONG;
    return many > few ? many : few;
}

int identify_separate(const struct life_table *table, const struct identify_cells *cells,
                      struct identify_parts *parts, struct identify_clusters *clusters)
{
    const uint64_t least = least_work(cells->n),
                   limit = parts->work && parts->work < least ? least : parts->work;
    struct group_start start = {.parent = NULL};
    const struct identify_cells *begin = cells;
    enum separation_end end = EXTINCT;
    int status = 0;
    parts->work = parts->after = 0;
    *clusters = (struct identify_clusters){.n = 0};
    if (cells->right - cells->left > WIDEST_BOX || cells->bottom - cells->top > WIDEST_BOX)
        return 0;
    while (end == EXTINCT && begin->n && parts->work < limit && status == 0) {
        struct separation s = separation_of(table, begin, parts, limit);
        end = separation_run(&s, start.parent);
        if (end == SEPARATE && !s.no_memory)
            status = separation_clusters(&s, clusters);
        if (s.no_memory)
            identify_clusters_free(clusters);
        parts->work = s.work;
        const uint64_t more = parts->after + s.generation + 1;
        bool no_memory = s.no_memory;
        separation_free(&s);
        if (end == EXTINCT && !no_memory) {
            s = separation_of(table, begin, parts, limit);
            no_memory = !start_advance(&s, more, &start);
            parts->work = s.work;
            parts->after += more;
            begin = &start.cells;
            separation_free(&s);
        }
        if (no_memory)
            status =
                clerror_set(ENOMEM, "life: out of memory for the groups of %zu cells", cells->n);
    }
    start_free(&start);
    return status;
}
