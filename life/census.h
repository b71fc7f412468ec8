/* census.h - what the files of the census share.
 *
 *   census.c        soups on devices, box by box, until they repeat themselves
 *   census_ash.c    what is left of a soup, taken apart into objects
 *   census_name.c   objects' names
 *   census_ship.c   what has left a box
 *   census_rule.c   a generation in plain C, 64 cells at a time
 *
 * A box is a square of `words` words of 64 cells across and 64 * words rows, as census.cl has it; a
 * patch is a box of one word.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CENSUS_H
#define LIFE_CENSUS_H

#include "life/internal.h"
#include "stdcl/census.h"

enum { CENSUS_PATCH = 64, CENSUS_NAME = 400, CENSUS_EDGE = 4, CENSUS_CLEAR = 16 };

/* ---- census_rule.c ---- */

struct census_rule {
    struct life_family family;
    struct life_circuit circuit; /* of one that does not only count */
    int terms; /* else: alive next are those of so many live cells in their block that are alive, or
                  dead, now */
    struct {
        unsigned char total;
        bool alive;
    } term[18];
    bool gliders; /* it has the glider of B3/S23, in the same forms */
};
int census_rule_make(struct census_rule *rule, const char *text);

/* A generation; beyond the edge all is dead. */
void census_step(const struct census_rule *rule, size_t words, const uint64_t *from, uint64_t *to);

/* Whether there is a live cell; its rectangle. */
struct census_rectangle {
    int left, top, right, bottom; /* right and bottom excluded */
};
bool census_bounds(size_t words, const uint64_t *box, struct census_rectangle *r);

static inline bool census_cell(size_t words, const uint64_t *box, int x, int y)
{
    const int side = 64 * (int)words;
    return x >= 0 && y >= 0 && x < side && y < side &&
           (box[(size_t)y * words + (size_t)x / 64] >> x % 64 & 1);
}

/* ---- census_name.c ---- */

/* What moves on, or returns, after `period` generations. */
struct census_motion {
    unsigned period;
    int dx, dy;
};

/* The motion of what lives in a patch, alone, and its apgcode; -1: it does not come back within
 * `most` generations, or outgrows a patch. The cells lie anywhere in it. */
int census_name(const struct census_rule *rule, const uint64_t patch[CENSUS_PATCH], unsigned most,
                struct census_motion *motion, char name[CENSUS_NAME]);

/* ---- census_ash.c ---- */

/* Counts of one thread, and what it has met before. */
struct census_object {
    char *name;
    struct census_motion motion;
    uint64_t count, first; /* in all; the soup with the lowest number that has it */
    double squares,
        products;  /* sums over soups: of its count there, squared, and times all objects there */
    uint32_t here; /* in this soup */
};
struct census_sorter {
    const struct census_rule *rule;
    struct census_object *object;
    size_t objects, room;
    double squares; /* the sum over soups of all objects, squared */
    uint32_t *seen; /* objects of this soup */
    size_t seen_n;
    struct {
        uint64_t key[2];
        uint32_t first, n; /* objects part[first ...]; n is 0 in an empty place */
    } * known;
    size_t known_n, places;
    uint32_t *part;
    size_t part_n, part_room;
    uint64_t *scratch; /* three boxes of the largest kind */
    bool no_memory;
};
enum { CENSUS_MOST_WORDS = 32 };
int census_sorter_make(struct census_sorter *sorter, const struct census_rule *rule);
void census_sorter_free(struct census_sorter *sorter);

/* Adds the objects in a box whose cells repeat themselves to those of the soup. false: it cannot be
 * taken apart (it does not repeat itself within `most` generations, or an object is larger than a
 * patch). */
bool census_sort(struct census_sorter *sorter, size_t words, const uint64_t *box, uint64_t most);

/* Adds what lives in a patch, alone. */
bool census_add(struct census_sorter *sorter, const uint64_t patch[CENSUS_PATCH]);

/* The soup is done: its objects count, or are forgotten. */
void census_soup_counts(struct census_sorter *sorter, uint64_t soup);
void census_soup_forgotten(struct census_sorter *sorter);

/* ---- census_ship.c ---- */

/* A spaceship on its way to infinity, as it was at a generation; places are counted from the middle
 * of the boxes. */
struct census_ship {
    uint64_t at;
    int x, y, width, height;
    struct census_motion motion;
    uint64_t row[CENSUS_CLEAR];
};
struct census_ships {
    size_t n, room;
    struct census_ship *ship;
};
bool census_ships_add(struct census_ships *ships, const struct census_ship *ship);

/* A glider as census.cl writes it. `began`: the generation when its box was started. */
struct census_ship census_glider(size_t words, uint64_t glider, uint64_t began);

/* The ship near the box's edge, alone and on its way out, is taken from the box. false: there is
 * none. */
bool census_take_ship(const struct census_rule *rule, size_t words, uint64_t *box,
                      uint64_t generation, struct census_ship *ship);
bool census_touches(size_t words, const uint64_t *box, int *x, int *y);

/* Whether two of them meet out there. */
bool census_ships_meet(const struct census_ships *ships);

/* Puts the ships that are wholly in the box at that generation into it, and takes them from the
 * list. */
void census_ships_return(const struct census_rule *rule, struct census_ships *ships, size_t words,
                         uint64_t *box, uint64_t generation);

/* Its cells in the middle of a patch. */
void census_ship_patch(const struct census_ship *ship, uint64_t patch[CENSUS_PATCH]);

#endif
