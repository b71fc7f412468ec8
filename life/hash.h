/* hash.h - what the files of HashLife share.
 *
 *   hash_leaf.c    squares of 32 x 32 cells: some generations of them, 32 cells at a time
 *   hash_states.c  the same of rules of more than two states
 *   hash_nodes.c   where nodes live: found by their parts, made, thrown away
 *   hash_result.c  what the middle of a node becomes
 *   hash_step.c    that of the plane, by one thread or several
 *   hash_tree.c    the tree as a plane of cells: put, get, count
 *   hash_squares.c the tree as files have it: squares by number
 *   hashlife.c     the functions of stdcl/hashlife.h
 *
 * The tree ends in leaves, squares of 16 x 16 cells, level 4; of rules of files 8 x 8, level 3.
 * Nodes begin a level above. Equal squares are one leaf or one node, so a square is known by a
 * number: `square_t`, of a leaf at the level of leaves and of a node above. Leaf 0 is the empty
 * one.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_H
#define LIFE_HASH_H

#include "life/internal.h"
#include "stdcl/hashlife.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

typedef uint32_t square_t;
#define NO_SQUARE UINT32_MAX

enum { LEAF_LEVEL_MOST = 4, LEAF_LEVEL_OF_FILES = 3, LEVEL_MAX = 120, NODE_LEVELS = LEVEL_MAX + 1 };

/* Row y's bit x is cell (x, y). */
struct leaf {
    uint16_t row[16];
};

/* The same of a rule of more than two states: a byte a cell, row after row, 16 or 8 in a row. A
 * plane has leaves of either kind. Rules of files have a byte more for each row: bit x of byte y
 * says that cell (x, y), not at an edge, is another after a generation. It follows from the cells,
 * and is no part of the content. */
typedef unsigned char states_t;
enum {
    STATES_MOST = 1 << 2 * LEAF_LEVEL_MOST,
    SIDE_OF_FILES = 1 << LEAF_LEVEL_OF_FILES,
    STATES_OF_FILES = SIDE_OF_FILES * SIDE_OF_FILES
};

/* Parts are in the order north-west, north-east, south-west, south-east. `result` is the middle of
 * the node, one level lower, after 2^min(level - 2, k) generations, NO_SQUARE while nobody knows
 * it. Half a cache line, and never a part of two. */
enum { NW, NE, SW, SE };
struct node {
    _Alignas(32) square_t part[4];
    _Atomic(square_t) result;
    square_t next; /* of the same place in the table */
    uint8_t level;
    _Atomic(uint8_t) busy; /* the number of a thread, from 1 on, that is at work on the result:
                              others take something else first */
};

/* Leaves or nodes: found by content, kept in one block of memory that is used from the front. */
struct pool {
    size_t used, most; /* entries that were ever in use, and for which there are addresses */
    square_t free;     /* first of a list of entries that were thrown away */
    size_t n_free;
    _Atomic(square_t) *head; /* the table: for each place the first of a list of entries, as its
                                complement; places are a power of two */
    size_t places, most_places;
    void *next; /* where entry 0 keeps the next of its list; that of others is `stride` bytes
                   further each */
    size_t stride;
};

/* Nodes of one level whose results a thread finds together (hash_result.c). */
enum { BATCH = 64, WANTED_MOST = 9 * BATCH };
struct batch {
    unsigned own, taken; /* how many are wanted: from the front those that this thread came to
                            first, from the end those that another has begun */
    unsigned n;          /* items, those of them that are at work */
    square_t wanted[WANTED_MOST], result[WANTED_MOST];
    struct item {
        square_t square;
        unsigned at, left; /* where it is in `wanted`; of the nine or four results that it needs
                              those not known, a bit each */
        struct {
            square_t wanted[9], result[9], four[4]; /* of one level less, and two and two less */
        } held;
    } item[BATCH];
};

/* What a thread is at. Squares in its batches and on its stack are not thrown away. */
enum { STACK = 32 * NODE_LEVELS };
struct worker {
    struct hashlife *h;
    uint8_t of;     /* the number of its thread, from 1 on */
    bool back;      /* takes what is wanted from the last to the first */
    unsigned items; /* that were begun since `look` was called */
    bool (*look)(struct worker *w);
    pthread_t thread;
    struct spare {
        square_t first; /* of a list of entries taken from a pool for this thread alone */
        unsigned n;
    } nodes, leaves;
    _Alignas(64) square_t part[BATCH][5][4]; /* of the nodes that are looked for; the items hold
                                                what they are parts of */
    uint32_t place[BATCH][5];        /* and what says where they are; the table may be another one
                                        meanwhile, and they are cut to its size when they are used */
    struct batch batch[NODE_LEVELS]; /* by level */
    size_t depth;
    struct held {
        square_t square;
        int level;
    } stack[STACK];
};

struct hashlife {
    struct life_family rule;
    bool alternates;            /* the rule has B0: see hashlife.c */
    struct life_logic logic[2]; /* of a step from an even generation, and from an odd one */
    uint8_t *middle[2]; /* for other rules: the middle 2 x 2 of 4 x 4 cells a generation on; NULL */
    bool conway;
    bool many; /* states: leaves have a byte a cell */
    int leaf_level;
    size_t memory;
    unsigned threads;
    int (*progress)(void *arg, double fraction);
    void *arg;

    struct pool nodes, leaves;
    struct node *node;
    unsigned char *leaf; /* leaves of leaf_bytes each, of which so many are content */
    size_t leaf_bytes, leaf_content;
    square_t *leaf_next;
    square_t empty[NODE_LEVELS]; /* by level */
    uint64_t collections;

    square_t root;
    int level;
    uint64_t generation;
    int k;   /* results are of 2^min(level - 2, k) generations */
    int odd; /* and from a generation that is even, 0, or odd, 1; it matters where rules alternate
              */

    /* Squares that were added and not yet made the plane; entry 0 is empty. */
    struct added {
        int level;
        bool bits;       /* of level 3, `cells` has it */
        square_t square; /* from the level of leaves up */
        union {
            uint64_t cells;
            uint32_t part[4]; /* of levels 1, states; 2 and 3, squares */
        };
    } * added;
    size_t n_added, room_added;

    /* Threads at work. Those that change the tables, or throw away, let all others wait. */
    pthread_mutex_t lock;
    pthread_cond_t change;
    atomic_int stop; /* somebody wants all others to wait, or to leave */
    int working, waiting;
    unsigned helpers;    /* threads beside the calling one */
    bool leave, holding; /* give up what you do; somebody holds all others */
    int error;           /* why, 0 when the work is done */
    size_t needed;       /* bytes, at least, if that is ENOMEM */
    double done, total;  /* generations of the call */
    double began;        /* when the step did */
    double told;         /* when progress was told last */
    double alone; /* seconds before others help: what is done sooner may be one long chain, at which
                     they would only be in the way */
    struct worker *worker; /* one a thread */
};

static inline const struct leaf *hash_leaf(const struct hashlife *h, square_t square)
{
    return (const struct leaf *)(h->leaf + square * sizeof(struct leaf));
}

static inline const states_t *hash_states(const struct hashlife *h, square_t square)
{
    return h->leaf + square * h->leaf_bytes;
}

/* Cells in a row of a leaf. */
static inline int hash_side(const struct hashlife *h)
{
    return 1 << h->leaf_level;
}

/* Which cells of a leaf's row are not 0, a bit each. */
static inline unsigned hash_row(const struct hashlife *h, square_t square, int y)
{
    unsigned bits = 0;
    if (!h->many)
        return hash_leaf(h, square)->row[y];
    const states_t *cell = hash_states(h, square) + (y << h->leaf_level);
    for (int x = 0; x < hash_side(h); x++)
        bits |= (unsigned)(cell[x] != 0) << x;
    return bits;
}

/* ---- hash_leaf.c ---- */

/* The middle 16 x 16 cells of four leaves after 2^k generations, k from 0 to 3. */
void hash_leaf_step(const struct hashlife *h, const struct leaf *part[4], int k, struct leaf *out);

/* Rows of 32 cells some generations on; with each, one cell more from the edges inward is wrong. */
void hash_leaf_rows(const struct hashlife *h, uint32_t cell[32], int generations);

/* The table of a rule, for hashlife's `middle`. */
void hash_leaf_table(const struct life_table *rule, uint8_t middle[1 << 16]);

/* The middle of four leaves, as it is. */
void hash_leaf_middle(const struct leaf *part[4], struct leaf *out);

/* ---- hash_states.c: the same two ---- */

void hash_states_step(const struct hashlife *h, const states_t *part[4], int k, states_t *out);
void hash_states_find_moves(const struct hashlife *h, states_t *leaf);
void hash_states_middle(const struct hashlife *h, const states_t *part[4], states_t *out);

/* ---- hash_nodes.c ---- */

int hash_nodes_open(struct hashlife *h);
void hash_nodes_close(struct hashlife *h);

/* The square of this content, found or made; it is put on the worker's stack. Parts must be on some
 * stack. NO_SQUARE: there is no memory left, or the work was given up (h->error). */
square_t hash_leaf_find(struct worker *w, const void *leaf);
square_t hash_node_find(struct worker *w, int level, square_t nw, square_t ne, square_t sw,
                        square_t se);
square_t hash_empty(struct worker *w, int level);

/* The same of a node that is not in the list of a place, which began with `first`; put on no
 * stack. */
square_t hash_node_add(struct worker *w, int level, const square_t part[4], size_t place,
                       square_t first);

static inline uint32_t hash_place(const square_t part[4])
{
    uint64_t half[2];
    memcpy(half, part, sizeof half);
    return (
        uint32_t)((half[0] * ((uint64_t)5 << 32 | 17) + half[1] * ((uint64_t)257 << 32 | 65537)) >>
                  32);
}

/* The first square of a list. A place has its complement, so that what was never written to is an
 * empty list. */
static inline square_t hash_first(const struct pool *pool, size_t place)
{
    return ~atomic_load_explicit(&pool->head[place & (pool->places - 1)], memory_order_acquire);
}

/* The node of these parts in the list that begins with `first`, where it is nearly always the
 * first; NO_SQUARE. Of what is compared one branch is made, which is hard to foretell. */
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
    w->stack[w->depth++] = (struct held){square, level};
}

/* Where a thread lets others do what they cannot do beside it; false: it is to leave. */
bool hash_pause(struct worker *w);

/* Gives the work up, for a reason that clerror will tell. */
void hash_give_up(struct hashlife *h, int error);

/* Results of levels that another k changes are forgotten, and all results if from now on they are
 * of odd generations, not even ones. */
void hash_set_k(struct hashlife *h, int k);

size_t hash_bytes(const struct hashlife *h);

/* ---- hash_result.c ---- */

/* Finds the result of the plane's root; false: this thread is to leave. `look`, or NULL, is called
 * every some thousand squares, and says whether to go on. */
bool hash_result(struct worker *w, bool (*look)(struct worker *w));

/* ---- hash_step.c ---- */

/* The plane 2^k generations on. */
int hash_step(struct hashlife *h, int k);

/* ---- hash_tree.c ---- */

/* MiB that the tree needs at least, where h->error is ENOMEM. */
static inline size_t hash_needed(const struct hashlife *h)
{
    return ((h->needed > h->memory ? h->needed : h->memory) >> 20) + 1;
}

/* A twice as large plane around the same middle; -1 with h->error set. */
int hash_grow(struct hashlife *h);

/* Are all live cells within the inner quarter of the plane's width and height, so that nothing
 * leaves its middle in 2^(level - 3) generations? */
bool hash_has_room(const struct hashlife *h);

/* Begins with an empty plane. */
int hash_clear(struct hashlife *h);

/* The plane by its smallest square, whatever steps it has come by, so that equal planes have the
 * same squares. */
void hash_shrink(struct hashlife *h);

/* The worker of the caller, with an empty stack; -1 with a sentence about why `call` found no
 * square. */
struct worker *hash_worker(struct hashlife *h);
int hash_failed(const struct hashlife *h, const char *call);

#endif
