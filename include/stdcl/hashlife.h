/* stdcl/hashlife.h - HashLife: Life on an unbounded plane, on the host.
 *
 *   hashlife *h = hashlife_create(&(struct hashlife_options){.rule = "B3/S23"});
 *   hashlife_put(h, -1, -1, &cells);                 a pattern, top left corner at (-1, -1)
 *   hashlife_step(h, (uint64_t)1 << 40);             a million million generations
 *   hashlife_population(h, &alive);                  exact
 *   hashlife_free(h);
 *
 * The plane is a quadtree with hash-consed nodes: equal squares are one node, and each node caches
 * the future of its centre. Regions that repeat in space or time are computed once. Guns, ships and
 * machines gain without limit; random cells do not: use the engines of stdcl/life.h for those. No
 * OpenCL is used. R. W. Gosper, "Exploiting regularities in large cellular spaces", Physica D 10
 * (1984) 75-80.
 *
 * Cell (x, y) is column x, to the right, of row y, downwards; both may be negative. int functions
 * return 0, or -1 with clerrno set and a message in clerror(); pointer functions return NULL
 * likewise. One plane is used by one thread at a time; it has its own worker threads. Results
 * depend neither on the number of threads nor on the memory limit. A NULL handle gives EINVAL, and
 * the function returns -1, NULL, 0 or "". NULL may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_HASHLIFE_H
#define STDCL_HASHLIFE_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hashlife hashlife;

/* Options of hashlife_create. Zero means the default. */
struct hashlife_options {
    /* As for life_rule_normal; NULL = "B3/S23". A rule with B0 would make an empty plane alive, so
     * cells are stored inverted: in every generation with B0 and S8, in odd generations with B0
     * alone. EINVAL: B0 with more than two states, or Larger than Life. */
    const char *rule;
    /* Limit of the tree's memory in bytes, at least 16 MiB; 0: half of the machine's memory. */
    size_t memory;
    unsigned threads; /* worker threads; 0: one per processor */
    /* Progress callback of hashlife_step, in the calling thread, with an estimate of the fraction
     * done, 0 to 1. A nonzero return value cancels the call soon, with ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    const life_transitions *transitions; /* Rule from a file, used if `rule` is NULL; not owned. */
    uintptr_t reserved[8];               /* must be 0 */
};

/* A 128-bit integer, high * 2^64 + low. */
struct hashlife_number {
    uint64_t low;
    int64_t high;
};

/* Print the number in decimal into text[48] and return text; convert the number to double. */
char *hashlife_number_string(struct hashlife_number number, char *text);
double hashlife_number_double(struct hashlife_number number);

/* Create an empty plane at generation 0; the caller frees it with hashlife_free (NULL is allowed).
 * EINVAL: an invalid rule or option; ENOMEM. */
hashlife *hashlife_create(const struct hashlife_options *options);
void hashlife_free(hashlife *h);

/* Add the live cells of a rectangle to the plane, its top left corner at (x, y). ENOMEM: the memory
 * limit is exceeded. ERANGE: more than 2^62 cells from (0, 0). */
int hashlife_put(hashlife *h, long long x, long long y, const struct life_cells *cells);

/* Copy a rectangle of the plane into cells->word; the caller sets width, height and stride. */
int hashlife_get(hashlife *h, long long x, long long y, struct life_cells *cells);

/* Copy a rectangle of states to or from the plane, width x height bytes row by row, for rules with
 * more than two states. State 0 is not put. All other functions count nonzero cells as alive.
 * EINVAL: a state is not one of the rule's (the message names the cell). */
int hashlife_put_states(hashlife *h, long long x, long long y, size_t width, size_t height,
                        const unsigned char *state);
int hashlife_get_states(hashlife *h, long long x, long long y, size_t width, size_t height,
                        unsigned char *state);

/* Count the live cells in squares of 2^zoom x 2^zoom cells, zoom 0 to 24: live[j * width + i] for
 * width x height squares, the first with its top left corner at (x, y), multiples of 2^zoom.
 * EINVAL: not multiples, or zoom out of range; ENOMEM. */
int hashlife_density(hashlife *h, long long x, long long y, size_t width, size_t height,
                     unsigned zoom, uint64_t *live);

/* Copy a rectangle at reduced resolution: a bit stands for a square of 2^zoom cells a side, zoom 0
 * to 60, and is 1 if any cell in the square is alive; x and y count such squares. */
int hashlife_get_zoomed(hashlife *h, unsigned zoom, long long x, long long y,
                        struct life_cells *cells);

/* Advance by `generations` and block until done, in one step of 2^k for each set bit k. After an
 * error the plane is at the end of the last whole step; hashlife_generation returns its generation.
 * ECANCELED: `progress` cancelled. ENOMEM: the memory limit is exceeded; the message gives the
 * memory in use. ERANGE: the plane would exceed 2^120 cells across, or the generation 2^64 - 1. */
int hashlife_step(hashlife *h, uint64_t generations);

/* Count the live cells. */
int hashlife_population(hashlife *h, struct hashlife_number *population);

/* Find the bounding box of the live cells, right and bottom excluded. Return 1, or 0 if no cell is
 * alive; -1 with ENOMEM. */
struct hashlife_box {
    struct hashlife_number left, top, right, bottom;
};
int hashlife_bounding_box(hashlife *h, struct hashlife_box *box);

/* Return the generations done; the rule, as life_rule_of does; and the number of states. */
uint64_t hashlife_generation(const hashlife *h);
struct life_rule hashlife_rule(const hashlife *h);
unsigned hashlife_states(const hashlife *h);

/* Return the bytes of the tree; and the number of garbage collections so far. */
size_t hashlife_bytes(const hashlife *h);
uint64_t hashlife_collections(const hashlife *h);

/* ---- The quadtree, for macrocell files. ------------------------------------------------------ */

/* A square has 2^level cells on each side. Squares are numbered from 1 in the order of their
 * addition; 0 is an empty square of any level. They are kept until hashlife_set_square. All
 * functions fail with EINVAL or ENOMEM. */

/* Add a square of level 3: bit 8 y + x of `cells` is row y, column x. */
int hashlife_add_leaf(hashlife *h, uint64_t cells, uint32_t *square);

/* Add a square of level 1 by the states of its cells: north-west, north-east, south-west,
 * south-east. EINVAL: a state is not one of the rule's. */
int hashlife_add_states(hashlife *h, const unsigned char state[4], uint32_t *square);

/* Add a square of level 2 to 120 from four squares of the level below: north-west, north-east,
 * south-west, south-east. */
int hashlife_add_square(hashlife *h, int level, const uint32_t part[4], uint32_t *square);

/* Make a square the whole plane, with its centre at (0, 0), at `generation`; all other squares are
 * discarded. */
int hashlife_set_square(hashlife *h, uint32_t square, uint64_t generation);

/* Walk the tree: call `leaf` and `square` once for each distinct square with live cells, children
 * before parents. Squares are numbered 1, 2, ... in the order of the calls; `part` holds the
 * numbers of the children, 0 for empty ones. *level is the level of the last square, whose centre
 * is (0, 0). An empty plane has no squares. A nonzero return value of a callback ends the walk,
 * which then returns -1 and leaves clerror as the callback set it.
 *
 * hashlife_walk calls `leaf` for squares of level 3 and needs a rule of two states;
 * hashlife_walk_states calls `states` for squares of level 1 and needs more than two states; else
 * ENOTSUP. */
int hashlife_walk(hashlife *h, int *level, int (*leaf)(void *arg, uint64_t cells),
                  int (*square)(void *arg, int level, const uint32_t part[4]), void *arg);
int hashlife_walk_states(hashlife *h, int *level,
                         int (*states)(void *arg, const unsigned char state[4]),
                         int (*square)(void *arg, int level, const uint32_t part[4]), void *arg);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_HASHLIFE_H */
