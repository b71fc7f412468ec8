/* hash_pool.h - squares of HashLife: leaves, nodes, and pools of them.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_POOL_H
#define LIFE_HASH_POOL_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t square_t;
#define NO_SQUARE UINT32_MAX

enum { LEAF_LEVEL_MOST = 4, LEAF_LEVEL_OF_FILES = 3, LEVEL_MAX = 120, NODE_LEVELS = LEVEL_MAX + 1 };

/* Cell (x, y) is bit x of row y. */
struct leaf {
    uint16_t row[16];
};

/* A leaf of a rule with more than two states: a byte a cell, row by row, 16 or 8 to a row. A plane
 * has leaves of one kind. Leaves of rule files have one more byte for each row: bit x of byte y is
 * 1 if the inner cell (x, y) changes in the next generation. These bits follow from the cells, and
 * are not part of the content. */
typedef unsigned char states_t;
enum {
    STATES_MOST = 1 << 2 * LEAF_LEVEL_MOST,
    SIDE_OF_FILES = 1 << LEAF_LEVEL_OF_FILES,
    STATES_OF_FILES = SIDE_OF_FILES * SIDE_OF_FILES
};

/* Parts are in the order north-west, north-east, south-west, south-east. `result` is the middle of
 * the node, one level lower, after 2^min(level - 2, k) generations; NO_SQUARE if unknown. A node
 * is half a cache line, and aligned to it. */
enum { NW, NE, SW, SE };
struct node {
    _Alignas(32) square_t part[4];
    _Atomic(square_t) result;
    square_t next; /* next in its list of the table */
    uint8_t level;
    /* Id of a thread that computes the result, or 0; other threads defer the node. */
    _Atomic(uint8_t) busy;
};

/* Leaves or nodes, found by content, in one block of memory that is filled from the front. */
struct pool {
    size_t used, most; /* entries ever used; entries with addresses */
    square_t free;     /* head of the free list */
    size_t n_free;
    _Atomic(square_t)
        *head; /* the table: head of each list, complemented; `places` is a power of two */
    size_t places, most_places;
    void *next; /* `next` of entry 0; those of further entries are `stride` bytes apart */
    size_t stride;
};

#endif
