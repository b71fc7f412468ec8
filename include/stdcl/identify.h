/* stdcl/identify.h - what a pattern is: still life, oscillator, spaceship, gun, rake or puffer.
 *
 *   life *lf = life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED});
 *   life_put(lf, 0, 0, &pattern);
 *   struct life_identity *id = life_identify(lf, 100000);
 *   printf("%s, period %llu\n", life_kind_name(id->kind), (unsigned long long)id->period);
 *   life_identity_free(id);
 *
 * A pattern is compared with its own past, up to a displacement, cell by cell; periods are exact.
 * Linear growth is confirmed for about a million generations by HashLife, or until 2^21 cells are
 * alive.
 * Pointer functions return NULL with clerrno set and a message in clerror(). NULL may be freed.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_IDENTIFY_H
#define STDCL_IDENTIFY_H

#include <stdcl/census.h>

#ifdef __cplusplus
extern "C" {
#endif

enum life_kind {
    /* Does not repeat or grow regularly within the limit, or has too many cells; with `growth`, a
     * single object that becomes larger. */
    LIFE_UNSETTLED,
    LIFE_EXTINCT,    /* all cells are dead */
    LIFE_STILL,      /* a still life, period 1 */
    LIFE_OSCILLATOR, /* returns to the same cells at the same place */
    LIFE_SPACESHIP,  /* returns to the same cells elsewhere */
    LIFE_OBJECTS,    /* several objects that never influence each other; `object` lists them */
    /* The population grows by `growth` cells in each period. The engine consists of the groups of
     * cells that recur and whose number does not grow. */
    LIFE_GUN,    /* the engine stays; all that leaves it moves on */
    LIFE_RAKE,   /* the engine moves, and all that leaves it moves on */
    LIFE_PUFFER, /* leaves cells or oscillators that stay */
    /* When the time doubles, the growth is 3.5 to 4.5 times the previous one twice in succession,
     * up to generation 2^28. Or there are 2^17 cells or more, at least eight times as many as in
     * the beginning, and the growth in the third and in the last quarter of the time is 1.1 to 4
     * times that in the quarter before. */
    LIFE_QUADRATIC
};

enum { LIFE_SYMMETRY_TEXT = 8 };

/* Owned by the caller, who frees it with life_identity_free. */
struct life_identity {
    enum life_kind kind;
    /* Generations after which the pattern was seen to repeat, to grow or to be extinct; it may have
     * settled earlier. Unsettled: the limit, or the last generation with at most 2^20 cells, or in
     * which more than 2^17 cells have made HashLife compute 2^20 results. */
    uint64_t generation;
    /* Generations; 0 if none. Growth: a common period of the population and of the engine, or of
     * the population if the engine does not recur within eight of its periods; the engine's own may
     * be a divisor. Separate objects: the least common multiple of their periods if all of them
     * move equally, or do not move; 0 if not, or if it is 2^63 or more. */
    uint64_t period;
    /* Displacement in a period, of the engine in case of growth: columns to the right, rows
     * downwards. 0 also if the engine does not recur; of its larger parts if they move
     * differently. */
    long long dx, dy;
    uint64_t growth; /* cells in a period, the mean of its phases */
    /* Of a period above 2^14, the next four are of 250 or more generations at equal distances; of
     * growth with a period above 2^9, of 57 or more. */
    uint64_t least, most; /* population during a period; else that of the last generation */
    double mean;          /* population, mean over a period */
    double heat;          /* cells that change, mean over a period */
    /* Symmetry of a phase, the most symmetric one: C1, C2, C4, D2+, D2x, D4+, D4x, D8, as Catagolue
     * names them without the parity of centres. */
    char symmetry[LIFE_SYMMETRY_TEXT];
    /* apgcode of a still life, oscillator or spaceship of up to 33 columns and rows, under a rule
     * of two states or of Generations without B0; else NULL. Owned. */
    const char *code;
    /* The separate objects of a settled pattern under these rules, the most common first: code,
     * period, displacement and count; other members are 0. As Catagolue's, the code of an object
     * more than 40 cells across is ov_p30 with its period, ov_q96 if it is a spaceship, or ov_s100
     * with the cells of a still life. Growth: the objects emitted in a period, if they are all by
     * which the pattern grows. Owned; 0 objects if they cannot be separated, or if this takes long
     * compared with the search. */
    size_t objects;
    struct life_object *object;
};

/* Identify the pattern on an unbounded plane of engine hashlife, and advance the plane by at most
 * about `limit` generations, or by up to 2^28 if its growth is quadratic; 0: 100,000. Blocks.
 * Periods of up to a fourth of the limit are found, and periods of growth likewise, but none above
 * 8,192. Time is proportional to the live cells times the first 2^15 generations; after them
 * HashLife jumps. Memory: populations, and some copies of the cells. ECANCELED: the plane's
 * progress callback cancelled; ENOTSUP: another engine; ERANGE: more than 2^20 live cells at the
 * beginning; ENOMEM. */
struct life_identity *life_identify(life *lf, uint64_t limit);

/* Name the objects among the cells as they are now: a group of live cells within four columns and
 * rows of each other is an object if it recurs within 1,024 generations by itself, at its place in
 * a box of 224 cells, or elsewhere in one of 33. On a torus, B3/S23:T64,64 of a rectangle of this
 * size, groups may lie across the edges; a group that surrounds the torus is no object. Sets
 * `object`, `objects` and the population; *others: groups that are no object. Time is proportional
 * to the groups, a millisecond or less for most. EINVAL: a rule without apgcodes: of more states,
 * or with B0; a grid of another size; ENOMEM. */
struct life_identity *life_identify_cells(const char *rule, const struct life_cells *cells,
                                          uint64_t *others);
/* Free what life_identify or life_identify_cells returned; NULL is ignored. */
void life_identity_free(struct life_identity *identity);

/* Return the name of a kind, such as "oscillator"; static. */
const char *life_kind_name(enum life_kind kind);

#ifdef __cplusplus
} /* extern "C" */
#endif
#endif /* STDCL_IDENTIFY_H */
