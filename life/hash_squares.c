/* hash_squares.c - the tree as in macrocell files: numbered squares, from 2 x 2 states or 8 x 8
 * bits up to the plane.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_nodes.h"

#include "core/handle.h"
#include "life/hash_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Levels of the smallest squares: 2 x 2 states, 8 x 8 bits. */
enum { PAIR = 1, EIGHT = 3 };

/* The tree of an engine; NULL with ENOTSUP for other engines. */
static struct hashlife *tree_of(const life *lf, const char *call)
{
    if (no_handle(lf, call))
        return NULL;
    if (lf->engine == LIFE_HASHLIFE)
        return lf->state;
    clerror_set(ENOTSUP, "%s: the engine %s has no quadtree; use the engine hashlife", call,
                life_engine_name(lf->engine));
    return NULL;
}

/* ---- Squares by number. ---------------------------------------------------------------------- */

static struct added *new_square(struct hashlife *h, int level, uint32_t *square)
{
    if (h->n_added == h->room_added) {
        const size_t room = h->room_added ? 2 * h->room_added : 1024;
        struct added *more = room < UINT32_MAX ? realloc(h->added, room * sizeof *more) : NULL;
        if (!more) {
            clerror_set(ENOMEM, "life_tree_add_square: out of memory for more than %zu squares",
                        h->n_added);
            return NULL;
        }
        h->added = more;
        h->room_added = room;
        if (!h->n_added)
            h->added[h->n_added++] = (struct added){.level = 0};
    }
    *square = (uint32_t)h->n_added;
    h->added[h->n_added] = (struct added){.level = level, .square = NO_SQUARE};
    return &h->added[h->n_added++];
}

int life_tree_add_states(life *lf, const unsigned char state[4], uint32_t *square)
{
    struct hashlife *h = tree_of(lf, __func__);
    if (!h)
        return -1;
    for (int i = 0; i < 4; i++)
        if (state[i] >= h->lf->rule.states)
            return clerror_set(
                EINVAL,
                "life_tree_add_states: there is a cell of state %d, and the rule %s has states 0 to %u",
                state[i], h->lf->rule.text, h->lf->rule.states - 1);
    struct added *a = new_square(h, PAIR, square);
    if (!a)
        return -1;
    for (int i = 0; i < 4; i++)
        a->part[i] = state[i];
    return 0;
}

/* State of a cell of a square below the level of leaves. */
static unsigned char state_in(const struct hashlife *h, uint32_t square, int level, unsigned x,
                              unsigned y)
{
    const struct added *a = &h->added[square];
    for (; square && !a->bits; a = &h->added[square]) {
        level--;
        square = a->part[(x >> level & 1) | (y >> level & 1) << 1];
        if (level == 0)
            return (unsigned char)square;
    }
    return square && (a->cells >> (8 * (y & 7) + (x & 7)) & 1);
}

/* Convert a square of the level of leaves to a leaf. */
static square_t leaf_of(struct hashlife *h, uint32_t square)
{
    struct leaf leaf = {{0}};
    states_t states[STATES_MOST];
    for (int y = 0; y < hash_side(h); y++)
        for (int x = 0; x < hash_side(h); x++) {
            states[y << h->leaf_level | x] =
                state_in(h, square, h->leaf_level, (unsigned)x, (unsigned)y);
            leaf.row[y] |= (uint16_t)(states[y << h->leaf_level | x] << x); /* two states */
        }
    return hash_leaf_find(hash_worker(h), h->multistate ? (const void *)states : &leaf);
}

/* Assemble four parts of bits, row by row. */
static square_t leaf_of_bits(struct hashlife *h, const uint32_t part[4])
{
    struct leaf leaf;
    for (int y = 0; y < 16; y++) {
        const int i = y / 8 * 2, shift = 8 * (y % 8);
        const unsigned west = (unsigned)(part[i] ? h->added[part[i]].cells >> shift & 255 : 0),
                       east =
                           (unsigned)(part[i + 1] ? h->added[part[i + 1]].cells >> shift & 255 : 0);
        leaf.row[y] = (uint16_t)(west | east << 8);
    }
    return hash_leaf_find(hash_worker(h), &leaf);
}

static bool are_bits(const struct hashlife *h, const uint32_t part[4])
{
    for (int i = 0; i < 4; i++)
        if (h->multistate || (part[i] && !h->added[part[i]].bits))
            return false;
    return true;
}

static square_t node_of_parts(struct hashlife *h, int level, const uint32_t part[4])
{
    square_t p[4];
    struct worker *w = hash_worker(h);
    for (int i = 0; i < 4; i++)
        if ((p[i] = part[i] ? h->added[part[i]].square : hash_empty(w, level - 1)) == NO_SQUARE)
            return NO_SQUARE;
    return hash_node_find(w, level, p[NW], p[NE], p[SW], p[SE]);
}

/* Find or create the leaf or node of an added square. */
static int make_square(struct hashlife *h, struct added *a, uint32_t square)
{
    const int level = a->level;
    a->square = level > h->leaf_level              ? node_of_parts(h, level, a->part)
                : !a->bits && are_bits(h, a->part) ? leaf_of_bits(h, a->part)
                                                   : leaf_of(h, square);
    return a->square == NO_SQUARE ? hash_failed(h) : 0;
}

int life_tree_add_bits(life *lf, uint64_t cells, uint32_t *square)
{
    struct hashlife *h = tree_of(lf, __func__);
    if (!h)
        return -1;
    struct added *a = new_square(h, EIGHT, square);
    if (!a)
        return -1;
    a->bits = true;
    a->cells = cells;
    return EIGHT < h->leaf_level ? 0 : make_square(h, a, *square);
}

int life_tree_add_square(life *lf, int level, const uint32_t part[4], uint32_t *square)
{
    struct hashlife *h = tree_of(lf, __func__);
    if (!h)
        return -1;
    if (level <= PAIR || level > LEVEL_MAX)
        return clerror_set(
            EINVAL, "life_tree_add_square: level %d; squares of four parts have levels %d to %d",
            level, PAIR + 1, LEVEL_MAX);
    for (int i = 0; i < 4; i++)
        if (part[i] && (part[i] >= h->n_added || h->added[part[i]].level != level - 1))
            return clerror_set(EINVAL, "life_tree_add_square: %u is not a square of level %d",
                               part[i], level - 1);
    struct added *a = new_square(h, level, square);
    if (!a)
        return -1;
    memcpy(a->part, part, sizeof a->part);
    return level < h->leaf_level ? 0 : make_square(h, a, *square);
}

/* Write a square too small for a node as cells. */
static int put_small(struct hashlife *h, uint32_t square, int level)
{
    const size_t side = (size_t)1 << level;
    unsigned char state[STATES_MOST];
    const long long corner = -(long long)side / 2;
    for (size_t at = 0; at < side * side; at++)
        state[at] = state_in(h, square, level, (unsigned)(at % side), (unsigned)(at / side));
    return hash_put(h->lf, &(struct life_window){corner, corner, side, side, NULL, state});
}

int life_tree_set(life *lf, uint32_t square, uint64_t generation)
{
    struct hashlife *h = tree_of(lf, __func__);
    if (!h)
        return -1;
    if (square && square >= h->n_added)
        return clerror_set(EINVAL, "life_tree_set: %u is not a square that was added", square);
    const int level = square ? h->added[square].level : 0;
    int status = hash_clear(h);
    if (status == 0 && square && level <= h->leaf_level) {
        status = put_small(h, square, level);
    } else if (status == 0 && square) {
        h->root = h->added[square].square;
        h->level = level;
        if (hash_empty(hash_worker(h), h->level) == NO_SQUARE)
            status = -1;
        while (status == 0 && h->level < h->leaf_level + 3)
            status = hash_grow(h);
    }
    h->lf->generation = generation;
    free(h->added);
    h->added = NULL;
    h->n_added = h->room_added = 0;
    return status == 0 ? 0 : hash_failed(h);
}

/* ---- The walk. ------------------------------------------------------------------------------- */

/* Numbers given to squares so far: the smallest by their cells, squares of states below the level
 * of leaves by their parts, leaves and nodes by level and square. */
struct walker {
    const struct hashlife *h;
    struct map smallest, halves, small, squares;
    uint32_t last, half;
    int (*leaf)(void *arg, uint64_t cells);
    int (*states)(void *arg, const unsigned char state[4]);
    int (*square)(void *arg, int level, const uint32_t part[4]);
    void *arg;
};

static int squares_no_memory(void)
{
    return clerror_set(ENOMEM, "life_tree_walk: out of memory for the numbers of the squares");
}

/* Number a square that the caller has received. */
static int number_next(struct walker *w, struct map *map, uint64_t key, uint32_t *number)
{
    *number = ++w->last;
    return map_put(map, key, *number) ? 0 : squares_no_memory();
}

static int walk_leaf(struct walker *w, uint64_t cells, uint32_t *number)
{
    *number = 0;
    if (!cells || (*number = map_get(&w->smallest, cells)) != MAP_NONE)
        return 0;
    return w->leaf(w->arg, cells) != 0 ? -1 : number_next(w, &w->smallest, cells, number);
}

/* One of the four parts of a leaf: row y, column x at bit 8 y + x. */
static uint64_t part_of_leaf(const struct leaf *leaf, int i)
{
    uint64_t cells = 0;
    for (int y = 0; y < 8; y++)
        cells |= (uint64_t)(leaf->row[y + 8 * (i / 2)] >> 8 * (i % 2) & 255) << 8 * y;
    return cells;
}

/* 2 x 2 states. */
static int walk_states(struct walker *w, const states_t *leaf, unsigned x, unsigned y,
                       uint32_t *number)
{
    const states_t *north = leaf + (y << w->h->leaf_level) + x, *south = north + hash_side(w->h);
    const unsigned char state[4] = {north[0], north[1], south[0], south[1]};
    uint32_t key;
    memcpy(&key, state, sizeof key);
    *number = 0;
    if (!key || (*number = map_get(&w->smallest, key)) != MAP_NONE)
        return 0;
    return w->states(w->arg, state) != 0 ? -1 : number_next(w, &w->smallest, key, number);
}

/* Map a pair of numbers to a number, equal for equal pairs. False if out of memory. */
static bool half_of(struct walker *w, const uint32_t part[2], uint64_t *half)
{
    const uint64_t key = (uint64_t)part[0] << 32 | part[1];
    *half = map_get(&w->halves, key);
    if (*half == MAP_NONE && !map_put(&w->halves, key, (uint32_t)(*half = ++w->half)))
        return false;
    return true;
}

static int walk_small(struct walker *w, const states_t *leaf, int level, unsigned x, unsigned y,
                      uint32_t *number)
{
    uint32_t part[4];
    uint64_t half[2];
    if (level == PAIR)
        return walk_states(w, leaf, x, y, number);
    for (unsigned i = 0; i < 4; i++)
        if (walk_small(w, leaf, level - 1, x + ((i & 1) << (level - 1)),
                       y + ((i >> 1) << (level - 1)), &part[i]) < 0)
            return -1;
    *number = 0;
    if (!(part[0] | part[1] | part[2] | part[3]))
        return 0;
    if (!half_of(w, part, &half[0]) || !half_of(w, part + 2, &half[1]))
        return squares_no_memory();
    if ((*number = map_get(&w->small, half[0] << 32 | half[1])) != MAP_NONE)
        return 0;
    return w->square(w->arg, level, part) != 0
               ? -1
               : number_next(w, &w->small, half[0] << 32 | half[1], number);
}

static int squares_walk(struct walker *w, square_t square, int level, uint32_t *number);

static int squares_walk_part(struct walker *w, square_t square, int level, int i, uint32_t *number)
{
    const unsigned half = (unsigned)hash_side(w->h) / 2;
    if (level > w->h->leaf_level)
        return squares_walk(w, w->h->node[square].part[i], level - 1, number);
    if (w->h->multistate)
        return walk_small(w, hash_states(w->h, square), level - 1, i & 1 ? half : 0,
                          i & 2 ? half : 0, number);
    return walk_leaf(w, part_of_leaf(hash_leaf(w->h, square), i), number);
}

static int squares_walk(struct walker *w, square_t square, int level, uint32_t *number)
{
    const uint64_t key = (uint64_t)(level == w->h->leaf_level) << 32 | square;
    uint32_t part[4];
    *number = 0;
    if (square == w->h->empty[level] || (*number = map_get(&w->squares, key)) != MAP_NONE)
        return 0;
    for (int i = 0; i < 4; i++)
        if (squares_walk_part(w, square, level, i, &part[i]) < 0)
            return -1;
    return w->square(w->arg, level, part) != 0 ? -1 : number_next(w, &w->squares, key, number);
}

static int squares_walk_all(struct walker *w, int *level)
{
    uint32_t number;
    hash_shrink((struct hashlife *)w->h);
    const int status = squares_walk(w, w->h->root, w->h->level, &number);
    *level = w->h->level;
    map_free(&w->smallest);
    map_free(&w->halves);
    map_free(&w->small);
    map_free(&w->squares);
    return status;
}

int life_tree_walk(life *lf, int *level, int (*bits)(void *arg, uint64_t cells),
                   int (*states)(void *arg, const unsigned char state[4]),
                   int (*square)(void *arg, int level, const uint32_t part[4]), void *arg)
{
    struct hashlife *h = tree_of(lf, __func__);
    if (!h)
        return -1;
    return squares_walk_all(
        &(struct walker){.h = h, .leaf = bits, .states = states, .square = square, .arg = arg},
        level);
}
