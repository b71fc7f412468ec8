/* census.h - internals of the census.
 *
 *   census.c        soups on devices, box by box, until they are periodic
 *   census_ash.c    separates ash into objects
 *   census_name.c   names of objects
 *   census_ship.c   ships that leave a box
 *   census_soup.c   the cells of a soup
 *   census_rule.c   a generation in plain C, 64 cells at a time
 *   census_host.c   a soup of two states on the host, on the plane of census_plane.h
 *   census_states.c a soup of Generations on the host, box by box
 *
 * A box is a square of `words` words of 64 cells across and 64 * words rows (census.cl). A patch
 * is a box of one word. Under Generations a box has several planes of such bits, one after the
 * other, as in lifelib: live cells; dying cells; and the binary digits, lowest first, of the
 * generations that a dying cell has left after this one.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CENSUS_H
#define LIFE_CENSUS_H

#include "life/census_plane.h"
#include "life/family.h"
#include "stdcl/census.h"

enum {
    CENSUS_PATCH = 64,
    CENSUS_PLANES = 10, /* of 256 states */
    CENSUS_CELLS = CENSUS_PLANES * CENSUS_PATCH,
    CENSUS_CODE = 900, /* characters for 64 x 64 cells of a plane */
    CENSUS_NAME = CENSUS_PLANES * CENSUS_CODE,
    CENSUS_EDGE = 4,
    CENSUS_CLEAR = 16,
    CENSUS_MARGIN = 3,
    CENSUS_WAYS = 40 /* matrices with entries -1, 0, 1 and determinant 1 or -1 */
};

/* ---- census_soup.c ---- */

struct census_symmetry;
struct census_soups {
    size_t width, height;           /* of a soup */
    size_t part_width, part_height; /* of the random cells, without their images */
    size_t left, above;             /* columns and rows of the soup before the random cells */
    uint64_t density, seed;         /* density in units of 2^-32 */
    char root[65];                  /* apgsearch's; "" for random soups */
    const struct census_symmetry *symmetry;
};
int census_soups_make(struct census_soups *soups, const struct life_census_options *options);
void census_soup_rows(const struct census_soups *soups, uint64_t number,
                      uint64_t row[CENSUS_PATCH]);

/* ---- census_rule.c ---- */

/* Moves the cell (x, y) to (xx x + xy y, yx x + yy y). */
struct census_way {
    signed char xx, xy, yx, yy;
};
struct census_rule {
    struct life_family family;
    /* Rotations and reflections under which the rule is symmetric: 8 of an isotropic rule, 12 of a
     * hexagonal one, of which 8 are shears here. */
    struct census_way way[CENSUS_WAYS];
    int ways;
    /* Of rules that are not outer-totalistic; `rows` evaluates `code`, and is NULL otherwise. */
    struct life_circuit circuit;
    struct circuit_code code;
    circuit_rows *rows;
    int terms; /* of outer-totalistic rules: a cell lives next if its block has `total` live cells
                  and the cell is `alive` now, for one of the terms */
    struct {
        unsigned char total;
        bool alive;
    } term[18];
    bool gliders; /* gliders of B3/S23 work, in the same phases */
    unsigned states;
    size_t planes;
};
int census_rule_make(struct census_rule *rule, const char *text);

/* Find the orientations of the rule's objects: rule->way. */
void census_rule_ways(struct census_rule *rule);

/* Set the state of a dead cell of a box. */
void census_set_state(const struct census_rule *rule, size_t words, uint64_t *box, size_t x,
                      size_t y, unsigned state);

/* Compute a generation; cells beyond the edge are dead. */
void census_step(const struct census_rule *rule, size_t words, const uint64_t *from, uint64_t *to);

/* Bounding box of the live and dying cells. census_bounds returns false if there are none. */
struct census_rectangle {
    int left, top, right, bottom; /* right and bottom excluded */
};
bool census_bounds(size_t planes, size_t words, const uint64_t *box, struct census_rectangle *r);

/* Live and dying cells of word i of a box. */
static inline uint64_t census_word(size_t planes, size_t words, const uint64_t *box, size_t i)
{
    return planes > 1 ? box[i] | box[64 * words * words + i] : box[i];
}

/* True for a live or dying cell. */
static inline bool census_cell(size_t planes, size_t words, const uint64_t *box, int x, int y)
{
    const int side = 64 * (int)words;
    return x >= 0 && y >= 0 && x < side && y < side &&
           (census_word(planes, words, box, (size_t)y * words + (size_t)x / 64) >> x % 64 & 1);
}

/* Bytes of a box. */
static inline size_t census_bytes(const struct census_rule *rule, size_t words)
{
    return rule->planes * 64 * words * words * sizeof(uint64_t);
}

/* ---- census_name.c ---- */

/* Displacement after `period` generations; 0 for still lifes and oscillators. */
struct census_motion {
    unsigned period;
    int dx, dy;
};

/* Find the motion and the apgcode of the pattern in a patch; `name` has CENSUS_NAME bytes, or is
 * NULL if only the motion is wanted. Return -1 if the pattern does not recur within `most`
 * generations or outgrows a patch. It may be anywhere in the patch. */
int census_name(const struct census_rule *rule, const uint64_t *patch, unsigned most,
                struct census_motion *motion, char *name);

/* ---- census_ash.c ---- */

/* Counts of one thread, and the clusters it knows. */
struct census_object {
    char *name;
    struct census_motion motion;
    uint64_t count, first;    /* total; the lowest number of a soup that has it */
    double squares, products; /* sums over soups: of its count squared, and of its count times all
                                 objects of the soup */
    uint32_t here;            /* count in this soup */
};
struct census_sorter {
    const struct census_rule *rule;
    struct census_object *object;
    size_t objects, room;
    double squares; /* sum over soups of the squared number of objects */
    uint32_t *seen; /* objects of this soup */
    size_t seen_n;
    struct {
        uint64_t key[2];
        uint32_t first, n; /* objects part[first ...]; n is 0 in a free entry */
    } * known;
    size_t known_n, places;
    uint32_t *part;
    size_t part_n, part_room;
    uint64_t *scratch; /* a plane and two boxes of the largest size */
    bool no_memory;
};
enum { CENSUS_MOST_WORDS = 32 };
int census_sorter_make(struct census_sorter *sorter, const struct census_rule *rule);
void census_sorter_free(struct census_sorter *sorter);

/* Add the objects in a periodic box to the soup's. Return false if the box cannot be separated: it
 * is not periodic within `most` generations, or an object exceeds a patch. */
bool census_sort(struct census_sorter *sorter, size_t words, const uint64_t *box, uint64_t most);

/* The second part of census_sort: separate a box with this period, given the cells that are ever
 * alive, which are cleared. */
bool census_sort_clusters(struct census_sorter *sorter, size_t words, uint64_t *ever,
                          const uint64_t *now, uint64_t period);

/* Add the spaceships in a patch, which have one velocity. They are in its middle. */
bool census_add(struct census_sorter *sorter, const uint64_t *patch);

/* Add the objects of a cluster. Its bounding box over a period begins at CENSUS_MARGIN. */
bool census_see(struct census_sorter *sorter, const uint64_t *patch, unsigned period);

/* Count an object that is known by its name. */
void census_count(struct census_sorter *sorter, const char *name,
                  const struct census_motion *motion, uint64_t times);

/* End the soup: count its objects, or discard them. */
void census_soup_counts(struct census_sorter *sorter, uint64_t soup);
void census_soup_forgotten(struct census_sorter *sorter);

/* ---- census_ship.c ---- */

/* A spaceship that has left, as it was at generation `at`. Coordinates are relative to the middle
 * of the boxes. */
struct census_ship {
    uint64_t at;
    int x, y, width, height;
    struct census_motion motion;
    uint16_t row[CENSUS_PLANES][CENSUS_CLEAR];
};
struct census_ships {
    size_t n, room;
    struct census_ship *ship;
};
bool census_ships_add(struct census_ships *ships, const struct census_ship *ship);

/* Add a ship to the soup's objects. */
bool census_add_ship(struct census_sorter *sorter, const struct census_ship *ship);

/* Decode a glider of census.cl. `began`: the generation at which its box was started. */
struct census_ship census_glider(size_t words, uint64_t glider, uint64_t began);

/* True if 3 x 3 cells, bit 3 y + x each, are a glider. Then set the ship's cells, size, motion. */
bool census_is_glider(unsigned cells, struct census_ship *ship);

/* True if a ship is within CENSUS_EDGE cells of an edge that it flies to. The edges are `half`
 * cells from the middle. */
bool census_ship_leaves(const struct census_ship *ship, int half);

/* Remove an outbound ship near the box's edge that is alone. Return false if there is none. */
bool census_take_ship(const struct census_rule *rule, size_t words, uint64_t *box,
                      uint64_t generation, struct census_ship *ship);
bool census_touches(size_t planes, size_t words, const uint64_t *box, int *x, int *y);

/* True if the paths of two ships intersect at the same time. */
bool census_ships_meet(const struct census_ships *ships);

/* Find a ship that census_ships_return would put back, from number *i on. Advance it to
 * `generation` and remove it from the list. Return false if there is none. */
bool census_ships_inside(const struct census_rule *rule, struct census_ships *ships, size_t *i,
                         int half, uint64_t generation, struct census_ship *ship);

/* Put ships that are inside the box at `generation` back into it, and remove them from the list. A
 * ship within CENSUS_EDGE cells of the edge stays out: it would be beyond the edge before the next
 * check. */
void census_ships_return(const struct census_rule *rule, struct census_ships *ships, size_t words,
                         uint64_t *box, uint64_t generation);

/* Draw the ship in the middle of a patch of some planes. */
void census_ship_patch(size_t planes, const struct census_ship *ship, uint64_t *patch);

/* ---- census_host.c, census_states.c ---- */

struct census_soup {
    size_t width, height;
    const uint64_t *row;
    uint64_t most;           /* limit of generations */
    bool (*stop)(void *arg); /* polled every 120 generations; true discards the soup. NULL: never */
    void *arg;
};
enum census_end { CENSUS_DECIDED, CENSUS_UNDECIDED, CENSUS_STOPPED };

/* The rule's next states for a step of the plane. */
struct plane_rule census_plane_rule(const struct census_rule *rule);

/* The memory of a thread for rules of two states or of Generations; NULL: out of memory. */
struct census_host;
struct census_states;
struct census_host *census_host_create(const struct census_rule *rule);
void census_host_free(struct census_host *host);

/* Run a soup to its end. If it is decided, its objects are the sorter's; else the caller calls
 * census_soup_forgotten. *generations: computed until the soup was found periodic. */
enum census_end census_host_soup(struct census_host *host, struct census_sorter *sorter,
                                 const struct census_soup *soup, uint64_t *generations);

struct census_states *census_states_create(const struct census_rule *rule);
void census_states_free(struct census_states *states);
enum census_end census_states_soup(struct census_states *states, struct census_sorter *sorter,
                                   const struct census_soup *soup, uint64_t *generations);

#endif
