/* separate.h - internals of identify_separate.
 *
 *   separate_cells.c     a generation of all groups
 *   separate_places.c    places where groups have been
 *   separate_groups.c    groups that recur, are left out and return
 *   identify_separate.c  the run
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SEPARATE_H
#define LIFE_SEPARATE_H

#include "life/hash_map.h"
#include "life/identify.h"

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
    life *lf; /* polled for a cancel */
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
    uint64_t polled;                  /* work at the last poll for a cancel */
    bool joined, no_memory, cancelled;
};

static inline struct group *group_of(struct separation *s, uint32_t member)
{
    return &s->group[identify_root(s->parent, member)];
}

static inline struct group_box box_union(const struct group_box *a, const struct group_box *b)
{
    return (struct group_box){
        a->left < b->left ? a->left : b->left, a->top < b->top ? a->top : b->top,
        a->right > b->right ? a->right : b->right, a->bottom > b->bottom ? a->bottom : b->bottom};
}

static inline struct group_box box_moved(struct group_box b, int32_t dx, int32_t dy)
{
    return (struct group_box){b.left + dx, b.top + dy, b.right + dx, b.bottom + dy};
}

/* Displacement of a group since generation 0, in whole cells: `by` in a period. */
static inline int32_t group_drift(const struct separation *s, const struct group *g, long long by)
{
    return by ? (int32_t)(by * (long long)s->generation / (long long)g->motion.period) : 0;
}

/* The box of all phases of a group: at generation 0, and now. */
static inline struct group_box group_box_now(const struct separation *s, const struct group *g)
{
    return box_moved(g->ever, group_drift(s, g, g->motion.dx), group_drift(s, g, g->motion.dy));
}

static inline bool group_moves(const struct group *g)
{
    return g->motion.dx || g->motion.dy;
}

/* ---- separate_cells.c ---- */

/* Join the groups of two cells. The joined group has not recurred. */
void separate_join(struct separation *s, uint32_t a, uint32_t b);

void separate_add_cell(struct separation *s, struct group_cells *to, int32_t x, int32_t y,
                       uint32_t member);

/* Compute a generation, and join groups that influence each other in it. */
void separate_compute(struct separation *s, const struct group_cells *now, struct group_cells *to);

/* ---- separate_places.c ---- */

/* Number of the first tile at a place, or NO_TILE. */
int32_t separate_tile_first(const struct separation *s, int32_t x, int32_t y);

/* True if cells of tile b are within two columns and rows of cells of tile a, which is at most one
 * place away. */
bool separate_tiles_touch(const struct tile *a, const struct tile *b);

/* Wake groups that are left out and were ever within two cells of the cells of a tile. */
void separate_wake_near(struct separation *s, const struct tile *at, size_t root);

/* Note that a cell of a group is alive, and wake groups near it. */
void separate_note_cell(struct separation *s, const struct group_cell *c);

/* ---- separate_groups.c ---- */

/* Take a group's cells of generation 0 as alone[0]; compute the next generation of alone[0]. */
void separate_alone_begin(struct separation *s, size_t root);
void separate_alone_step(struct separation *s);

/* Add the cells of a group that was left out to the present generation. */
void separate_return(struct separation *s, uint32_t root);

/* Sort the cells of generation 0 by group, and measure the groups. The second function also wakes
 * groups near those that have been joined. */
void separate_order(struct separation *s);
void separate_joined(struct separation *s);

/* Measure the groups of the present generation. */
void separate_measure(struct separation *s);

/* Note groups that have recurred, and leave out those that can be. */
void separate_recur(struct separation *s);

/* True if the cells have become many more, or the limit of the work is reached. It is higher if
 * little is left to do. */
bool separate_work_is_done(const struct separation *s);

#endif
