/* census_states.c - runs a soup of Generations on the host, and separates its ash.
 *
 * The soup lives in a box that doubles when anything but an outbound ship is at its edge, as on
 * devices (census.c). All cells of the box are computed, 64 at a time. Every 120 generations they
 * are compared with a copy, which is replaced after 1, 2, 4, 8, ... rounds (R. P. Brent, BIT 20
 * (1980) 176-184).
 * SPDX-License-Identifier: MIT
 */
#include "life/census.h"
#include "life/cells.h"

#include <stdlib.h>
#include <string.h>

enum {
    STATES_ROUND = 120,
    STATES_CHECK = CENSUS_EDGE, /* generations between two looks at the edge */
    STATES_PERIOD = 100000
};

struct census_states {
    const struct census_rule *rule;
    uint64_t *now, *next, *mark; /* boxes, for the largest one */
    size_t words;                /* of the present box */
    struct census_ships ships;
    uint64_t generation;
    bool repeat; /* ships met outside the box: repeat the soup in a larger one */
};

struct census_states *census_states_create(const struct census_rule *rule)
{
    struct census_states *s = calloc(1, sizeof *s);
    const size_t bytes = census_bytes(rule, CENSUS_MOST_WORDS);
    if (s && (s->now = malloc(bytes)) && (s->next = malloc(bytes)) && (s->mark = malloc(bytes))) {
        s->rule = rule;
        return s;
    }
    census_states_free(s);
    return NULL;
}

void census_states_free(struct census_states *s)
{
    if (!s)
        return;
    free(s->now);
    free(s->next);
    free(s->mark);
    free(s->ships.ship);
    free(s);
}

static void states_swap(struct census_states *s)
{
    uint64_t *t = s->now;
    s->now = s->next;
    s->next = t;
}

/* Double the box, and put ships inside the new one back. */
static void states_grow(struct census_states *s)
{
    const size_t from = s->words, to = 2 * from, rows = 64 * from;
    memset(s->next, 0, census_bytes(s->rule, to));
    for (size_t k = 0; k < s->rule->planes; k++)
        for (size_t y = 0; y < rows; y++)
            life_bits_copy(s->next + k * 64 * to * to, (rows / 2 + y) * 64 * to + rows / 2,
                           s->now + (k * rows + y) * from, 0, rows);
    states_swap(s);
    s->words = to;
    census_ships_return(s->rule, &s->ships, to, s->now, s->generation);
}

/* Remove ships at the edge, and enlarge the box until the edge is clear. Return false if the soup
 * outgrows the largest box, or must be repeated in a larger one. */
static bool states_clear_edge(struct census_states *s, struct census_sorter *sorter)
{
    struct census_ship ship;
    int x, y;
    while (census_touches(s->rule->planes, s->words, s->now, &x, &y)) {
        if (census_take_ship(s->rule, s->words, s->now, s->generation, &ship)) {
            sorter->no_memory |= !census_ships_add(&s->ships, &ship);
            continue;
        }
        s->repeat = census_ships_meet(&s->ships);
        if (s->repeat || s->words == CENSUS_MOST_WORDS)
            return false;
        states_grow(s);
    }
    return true;
}

static void states_start(struct census_states *s, const struct census_soup *soup, size_t words)
{
    const size_t x = 32 * words - soup->width / 2, y = 32 * words - soup->height / 2;
    memset(s->now, 0, census_bytes(s->rule, words));
    for (size_t j = 0; j < soup->height; j++)
        life_bits_copy(s->now, (y + j) * words * 64 + x, &soup->row[j], 0, soup->width);
    s->words = words;
    s->ships.n = 0;
    s->generation = 0;
    s->repeat = false;
}

/* Compute a round. Return false if the soup outgrows its box. */
static bool states_round(struct census_states *s, struct census_sorter *sorter)
{
    for (int g = 1; g <= STATES_ROUND; g++) {
        census_step(s->rule, s->words, s->now, s->next);
        states_swap(s);
        s->generation++;
        if (g % STATES_CHECK == 0 && !states_clear_edge(s, sorter))
            return false;
    }
    return true;
}

/* Run the soup until it is periodic. */
static enum census_end states_evolve(struct census_states *s, struct census_sorter *sorter,
                                     const struct census_soup *soup)
{
    uint64_t left = 1, lap = 1;
    size_t marked = 0; /* words of the copy; 0: none */
    while (s->generation <= soup->most) {
        if (!states_round(s, sorter))
            return CENSUS_UNDECIDED;
        const size_t bytes = census_bytes(s->rule, s->words);
        if (marked == s->words && memcmp(s->now, s->mark, bytes) == 0)
            return CENSUS_DECIDED;
        if (--left == 0) {
            memcpy(s->mark, s->now, bytes);
            marked = s->words;
            left = lap *= 2;
        }
        if (soup->stop && soup->stop(soup->arg))
            return CENSUS_STOPPED;
    }
    return CENSUS_UNDECIDED;
}

enum census_end census_states_soup(struct census_states *s, struct census_sorter *sorter,
                                   const struct census_soup *soup, uint64_t *generations)
{
    const size_t side = soup->width > soup->height ? soup->width : soup->height;
    for (size_t words = side <= 24 ? 1 : 2;; words = 2 * s->words) {
        states_start(s, soup, words);
        const enum census_end end = states_evolve(s, sorter, soup);
        *generations = s->generation;
        if (end != CENSUS_DECIDED && !s->repeat)
            return end;
        if (!s->repeat && !census_ships_meet(&s->ships))
            break;
        if (s->words == CENSUS_MOST_WORDS)
            return CENSUS_UNDECIDED;
    }
    if (!census_sort(sorter, s->words, s->now, STATES_PERIOD))
        return CENSUS_UNDECIDED;
    for (size_t i = 0; i < s->ships.n; i++)
        if (!census_add_ship(sorter, &s->ships.ship[i]))
            return CENSUS_UNDECIDED;
    return CENSUS_DECIDED;
}
