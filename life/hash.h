/* hash.h - internals of HashLife.
 *
 *   hash_leaf.c    leaves of two states: generations of 32 x 32 cells, 32 cells at a time
 *   hash_states.c  leaves of more than two states
 *   hash_nodes.c   memory of nodes and leaves: hash table, creation, garbage collection
 *   hash_result.c  results of nodes
 *   hash_step.c    steps of the plane, by one or several threads
 *   hash_tree.c    the tree as a plane of cells: put, get, count
 *   hash_runs.c    its live cells in rows
 *   hash_squares.c the tree as in macrocell files: numbered squares
 *   hashlife.c     options, steps; the engine's functions
 *
 * The tree ends in leaves, squares of 16 x 16 cells (level 4), or 8 x 8 (level 3) for rule files.
 * Nodes begin one level above. Equal squares are one leaf or one node, so a number identifies a
 * square: `square_t` is a leaf at the level of leaves, and a node above. Leaf 0 is empty.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_H
#define LIFE_HASH_H

#include "life/engine.h"
#include "life/hash_worker.h"
#include "life/isa.h"

struct hashlife {
    life *lf;                                   /* rule, generation, progress */
    const struct life_transitions *transitions; /* of the rule; or NULL */
    bool alternates;                            /* rules of generations differ: hashlife.c */
    struct leaf_counts counts[2]; /* outer-totalistic rules, from even and from odd generations */
    const struct life_isa *isa;
    struct life_columns columns[2]; /* other rules, if `isa` looks up bits */
    uint8_t *middle[2]; /* other rules, if not: middle 2 x 2 of 4 x 4 cells after a generation */
    struct life_lookups lookups; /* of `transitions`, if small, and if `isa` looks up states */
    bool lookups_tried;
    bool conway;
    bool multistate; /* more than two states: leaves have a byte a cell */
    int leaf_level;
    size_t memory;
    unsigned threads;

    struct pool nodes, leaves;
    struct node *node;
    unsigned char *leaf; /* leaves of leaf_bytes each, leaf_content bytes of which are compared */
    size_t leaf_bytes, leaf_content;
    square_t *leaf_next;
    square_t empty[NODE_LEVELS]; /* by level */
    uint64_t collections;
    bool large_pages; /* the system has been told to use them */

    square_t root;
    int level;
    int k;   /* results are after 2^min(level - 2, k) generations */
    int odd; /* parity of the generation that results start from; matters if `alternates` */

    /* Squares added from a file, not yet part of the plane; entry 0 is empty. */
    struct added {
        int level;
        bool bits;       /* at level 3: `cells` is valid */
        square_t square; /* at the level of leaves and above */
        union {
            uint64_t cells;
            uint32_t part[4]; /* states at level 1, squares at levels 2 and 3 */
        };
    } * added;
    size_t n_added, room_added;

    /* Running threads. A thread that changes the tables or collects garbage suspends all others. */
    pthread_mutex_t lock;
    pthread_cond_t change;
    atomic_int stop; /* a thread wants the others to pause or to leave */
    int working, waiting;
    unsigned helpers;        /* threads besides the calling one */
    bool abandon, suspended; /* abandon the work; a thread has suspended the others */
    int error;               /* errno of the failure, 0 if the work is complete */
    size_t needed;           /* for ENOMEM: bytes needed, at least */
    double began;            /* start time of the step */
    double last_progress;    /* time of the last progress report */
    double helper_delay; /* seconds before helpers start: shorter steps may be one long chain, which
                     helpers would only slow down */
    struct worker *worker; /* one for each thread */
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

/* Non-zero cells of a leaf's row, a bit each. */
static inline unsigned hash_row(const struct hashlife *h, square_t square, int y)
{
    unsigned bits = 0;
    if (!h->multistate)
        return hash_leaf(h, square)->row[y];
    const states_t *cell = hash_states(h, square) + (y << h->leaf_level);
    for (int x = 0; x < hash_side(h); x++)
        bits |= (unsigned)(cell[x] != 0) << x;
    return bits;
}

/* hash_result.c. Compute the result of the plane's root. False if this thread must leave. `poll`,
 * or NULL, is called every few thousand squares and returns false to stop. */
bool hash_result(struct worker *w, bool (*poll)(struct worker *w));

/* hash_step.c. Advance the plane by 2^k generations. */
int hash_step(struct hashlife *h, int k);

/* hash_tree.c: the functions of struct life_backend. */
int hash_put(life *lf, const struct life_window *v);
int hash_get(life *lf, const struct life_window *v);
int hash_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells);
int hash_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                 uint64_t *live);
int hash_population(life *lf, struct life_tally *population);
int hash_bounding_box(life *lf, struct life_box *box);
int hash_runs(life *lf, int (*run)(void *arg, long long x, long long y, uint64_t n, unsigned state),
              void *arg);

/* Double the plane around its middle. Fails with h->error set. */
int hash_grow(struct hashlife *h);

/* True if all live cells are within the inner quarter of the plane's width and height, so that
 * none leaves its middle within 2^(level - 3) generations. */
bool hash_has_room(const struct hashlife *h);

/* Results of nodes computed since the plane was created: the work that no repetition has saved. */
uint64_t hash_results(const life *lf);

/* Reset to an empty plane. */
int hash_clear(struct hashlife *h);

/* Reduce the plane to its smallest square, so that equal planes have equal roots. */
void hash_shrink(struct hashlife *h);

/* The calling thread's worker, with an empty stack. */
struct worker *hash_worker(struct hashlife *h);

/* Set the error for h->error and return -1. */
int hash_failed(const struct hashlife *h);

#endif
