/* stdcl/hashlife.h - Life on a plane without edges: HashLife, on the host.
 *
 *   hashlife *h = hashlife_create(&(struct hashlife_options){.rule = "B3/S23"});
 *   hashlife_put(h, -1, -1, &cells);                 a pattern, its top left corner at (-1, -1)
 *   hashlife_step(h, (uint64_t)1 << 40);             a million million generations
 *   hashlife_population(h, &alive);                  exact
 *   hashlife_free(h);
 *
 * The plane is a quadtree in which equal squares are one node, and a node remembers what its middle
 * becomes. So what repeats in space or time is computed once. Patterns of guns, ships and machines
 * gain by it without limit; random cells do not, and are work for the engines of stdcl/life.h. No
 * OpenCL is used. R. W. Gosper, "Exploiting regularities in large cellular spaces", Physica D 10
 * (1984) 75-80.
 *
 * Cell (x, y) is column x, to the right, of row y, downwards; both may be negative. int functions
 * return 0, or -1 with clerrno set and a sentence in clerror(). A function that returns a pointer
 * fails with NULL in the same way. Only one thread at a time may use a plane; it uses threads of
 * its own. Results do not depend on their number, nor on the memory. A handle of NULL, which is
 * what a call that failed returns, is EINVAL: what is given back is -1, NULL, 0 or, of a text, "".
 * It may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_HASHLIFE_H
#define STDCL_HASHLIFE_H

#include <stdcl/life.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hashlife hashlife;

/* Zero means the default. */
struct hashlife_options {
    const char *rule; /* as life_rule_normal; NULL = "B3/S23". A rule with B0 makes all of an empty
                         plane alive. So with B0 and S8 cells mean the opposite, 1 is dead, and with
                         B0 alone they do so in odd generations; of more than two states it is
                         refused (EINVAL), and so is Larger than Life */
    size_t memory; /* bytes for the tree at most, from 16 MiB up; 0: half of what the machine has */
    unsigned threads; /* that compute; 0: one a processor */
    /* Told now and then, in the calling thread, what fraction of a call of hashlife_step is done, 0
     * to 1, as far as that is known. It returns 0, or something else to end the call soon, with
     * ECANCELED. May be NULL. */
    int (*progress)(void *arg, double fraction);
    void *arg;
    const life_transitions
        *transitions;      /* the rule, where `rule` is NULL; not owned; NULL: `rule` */
    uintptr_t reserved[8]; /* must be 0 */
};

/* A whole number of 128 bits, high * 2^64 + low. */
struct hashlife_number {
    uint64_t low;
    int64_t high;
};

/* Writes the number in decimal into text[48], which it returns. */
char *hashlife_number_string(struct hashlife_number number, char *text);
double hashlife_number_double(struct hashlife_number number);

/* An empty plane at generation 0; the caller frees it with hashlife_free, NULL is fine there.
 * EINVAL: a wrong rule or option; ENOMEM. */
hashlife *hashlife_create(const struct hashlife_options *options);
void hashlife_free(hashlife *h);

/* Adds the live cells of a rectangle to the plane, its top left corner at (x, y). ENOMEM: the
 * memory of the options does not suffice. ERANGE: more than 2^62 cells from (0, 0). */
int hashlife_put(hashlife *h, long long x, long long y, const struct life_cells *cells);

/* Copies a rectangle of the plane into cells->word; the caller has set width, height and stride. */
int hashlife_get(hashlife *h, long long x, long long y, struct life_cells *cells);

/* The same of states, width x height bytes row by row, for rules of more than two: what is 0 is not
 * put. In all other functions a cell lives if it is not 0. EINVAL: a state is none of the rule's
 * (the sentence says which cell). */
int hashlife_put_states(hashlife *h, long long x, long long y, size_t width, size_t height,
                        const unsigned char *state);
int hashlife_get_states(hashlife *h, long long x, long long y, size_t width, size_t height,
                        unsigned char *state);

/* Counts the live cells of squares of 2^zoom x 2^zoom cells (zoom 0 to 24), width x height of them,
 * the first with its top left corner at (x, y), which are multiples of 2^zoom: live[j * width + i].
 * EINVAL: they are not, or zoom is larger; ENOMEM. */
int hashlife_density(hashlife *h, long long x, long long y, size_t width, size_t height,
                     unsigned zoom, uint64_t *live);

/* The same zoomed out: a bit is a square of 2^zoom cells a side, zoom 0 to 60, and 1 if any of them
 * lives; x and y are in such squares, too. */
int hashlife_get_zoomed(hashlife *h, unsigned zoom, long long x, long long y,
                        struct life_cells *cells);

/* Advances and blocks until it is done: a step of 2^k for each bit k of `generations`. After an
 * error the plane is where the last whole one of these steps left it; hashlife_generation tells
 * where. ECANCELED: `progress` ended it. ENOMEM: the memory of the options does not suffice; the
 * sentence says how much was in use. ERANGE: the plane would be more than 2^120 cells across, or
 * the generation more than 2^64 - 1. */
int hashlife_step(hashlife *h, uint64_t generations);

/* Counts the live cells. */
int hashlife_population(hashlife *h, struct hashlife_number *population);

/* The smallest rectangle that holds all live cells, right and bottom excluded. Returns 1, or 0
 * where there are none; -1 with ENOMEM. */
struct hashlife_box {
    struct hashlife_number left, top, right, bottom;
};
int hashlife_bounding_box(hashlife *h, struct hashlife_box *box);

/* The generations done, and the rule, as life_rule_of tells it. */
uint64_t hashlife_generation(const hashlife *h);
struct life_rule hashlife_rule(const hashlife *h);
unsigned hashlife_states(const hashlife *h);

/* What the work took: the bytes of the tree now, and how often what is not needed was thrown away
 * to make room. */
size_t hashlife_bytes(const hashlife *h);
uint64_t hashlife_collections(const hashlife *h);

/* ---- The tree itself, as files of macrocells have it. ---------------------------------------- */

/* A square has 2^level cells on each side. It is named by a number, from 1 up in the order in which
 * squares are added; 0 is an empty square of any level. Squares are kept until hashlife_set_square.
 * All fail with EINVAL or ENOMEM. */

/* Adds a square of level 3: row y, column x is bit 8 y + x of `cells`. */
int hashlife_add_leaf(hashlife *h, uint64_t cells, uint32_t *square);

/* Adds one of level 1 by the states of its cells: north-west, north-east, south-west, south-east.
 * EINVAL: a state is none of the rule's. */
int hashlife_add_states(hashlife *h, const unsigned char state[4], uint32_t *square);

/* Adds a square of a level from 2 to 120 made of four of the level below, in that order. */
int hashlife_add_square(hashlife *h, int level, const uint32_t part[4], uint32_t *square);

/* Makes a square the whole plane, its middle at (0, 0), at that generation; all others are
 * forgotten. */
int hashlife_set_square(hashlife *h, uint32_t square, uint64_t generation);

/* Calls `leaf` and `square` once for each different square of the plane that has live cells, parts
 * before the whole; they number them 1, 2, ... in that order, and `part` has these numbers, 0 for
 * empty squares. *level is that of the last one, whose middle is (0, 0). A call that does not
 * return 0 ends the walk, which then returns -1 and leaves clerror as the call has set it. An empty
 * plane has no squares. `leaf` is called for squares of level 3 of rules of two states, `states`
 * for those of level 1 of others; the other function fails with ENOTSUP. */
int hashlife_walk(hashlife *h, int *level, int (*leaf)(void *arg, uint64_t cells),
                  int (*square)(void *arg, int level, const uint32_t part[4]), void *arg);
int hashlife_walk_states(hashlife *h, int *level,
                         int (*states)(void *arg, const unsigned char state[4]),
                         int (*square)(void *arg, int level, const uint32_t part[4]), void *arg);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_HASHLIFE_H */
