/* hash_nodes.h - memory of squares: find, create, collect (hash_nodes.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_NODES_H
#define LIFE_HASH_NODES_H

#include "life/hash.h"

#include <string.h>

int hash_nodes_open(struct hashlife *h);
void hash_nodes_close(struct hashlife *h);

/* Find or create the square with this content, and push it on the worker's stack. Parts must be on
 * a stack. NO_SQUARE: out of memory, or the work was abandoned (h->error). */
square_t hash_leaf_find(struct worker *w, const void *leaf);
square_t hash_leaf_find_at(struct worker *w, const void *leaf, uint32_t hash);
square_t hash_node_find(struct worker *w, int level, square_t nw, square_t ne, square_t sw,
                        square_t se);
square_t hash_empty(struct worker *w, int level);

/* Create a node after a failed search of the list that began with `first`. The node is not pushed
 * on the stack. */
square_t hash_node_add(struct worker *w, int level, const square_t part[4], size_t place,
                       square_t first);

/* Hash of a leaf, for hash_leaf_find_at; cut to the size of the table when it is used. */
uint32_t hash_leaf_place(const struct hashlife *h, const void *leaf);

static inline uint32_t hash_place(const square_t part[4])
{
    uint64_t half[2];
    memcpy(half, part, sizeof half);
    return (
        uint32_t)((half[0] * ((uint64_t)5 << 32 | 17) + half[1] * ((uint64_t)257 << 32 | 65537)) >>
                  32);
}

/* First square of a list. Table entries are complemented, so untouched memory is an empty list. */
static inline square_t hash_first(const struct pool *pool, size_t place)
{
    return ~atomic_load_explicit(&pool->head[place & (pool->places - 1)], memory_order_acquire);
}

/* Find the node with these parts in the list that begins with `first`, nearly always as its first
 * entry; NO_SQUARE if there is none. One branch for the whole comparison reduces mispredictions. */
static inline square_t hash_find(const struct hashlife *h, int level, const square_t part[4],
                                 square_t first)
{
    square_t i = first;
    for (; i != NO_SQUARE; i = h->node[i].next) {
        const struct node *n = &h->node[i];
        uint64_t its[2], ours[2];
        memcpy(its, n->part, sizeof its);
        memcpy(ours, part, sizeof ours);
        if (!((its[0] ^ ours[0]) | (its[1] ^ ours[1]) | (uint64_t)(n->level ^ level)))
            break;
    }
    return i;
}

static inline void hash_keep(struct worker *w, square_t square, int level)
{
    w->stack[w->depth++] = (struct stacked){square, level};
}

/* Safe point: let a thread that has suspended the others proceed. False if this thread must leave.
 */
bool hash_pause(struct worker *w);

/* Abandon the work, with the errno to report. */
void hash_give_up(struct hashlife *h, int error);

/* Set k. Forget the results of levels that depend on it, and all results if the parity of their
 * generation changes. */
void hash_set_k(struct hashlife *h, int k);

size_t hash_bytes(const struct hashlife *h);

#endif
