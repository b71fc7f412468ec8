/* large_rule.h - a rule of the family Larger than Life: its notation and its neighbourhood.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LARGE_RULE_H
#define LIFE_LARGE_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LARGE_RANGE_MAX = 500, LARGE_INTERVALS = 256 };

/* Numbers of live cells: n intervals from least to most, both included, in ascending order. */
struct large_counts {
    unsigned n;
    struct large_interval {
        int least, most;
    } of[LARGE_INTERVALS];
};

struct life_large {
    unsigned range; /* columns and rows; of triangles 2 * range columns */
    unsigned states;
    bool lists;                          /* written as R3,C2,S0,7-12,B8,NM: HROT */
    unsigned middle;                     /* 1: the cell itself counts */
    struct large_counts survival, birth; /* of a live cell; of a dead cell */
    char shape;                          /* of the neighbourhood, as in N2: '2'; see large_rule.c */
    char tiling; /* 'H' or 'L' after the weights: hexagons, triangles; else 0 */
    /* Hexadecimal digits of the shapes W and @, and of a weight for each state (NULL: only state 1
     * counts, once); point into the parsed text. */
    const char *digits, *state_digits;
    size_t digits_n;
};

/* Parse a rule without blanks: 0; 1, the text is of another family; or -1, and *why says what is
 * wrong (static, or of this thread until the next call). `text` must outlive `l`. */
int large_rule_read(const char *text, struct life_large *l, const char **why);

/* Rewrite a rule of triangular cells, such as B45/S456L (triangles.c), as Larger than Life: 0; 1,
 * the text is of another family; or -1 with EINVAL. */
int large_triangles_read(const char *text, char *large, size_t size);

/* Write the rule in canonical form. False if it is too long. */
bool large_rule_write(const struct life_large *l, char *text, size_t size);

/* Weight of a live cell dx columns and dy rows away; `odd`: of a cell whose column and row have an
 * odd sum, which differs for triangles only. */
int large_weight(const struct life_large *l, int dx, int dy, bool odd);

/* Weight of a state: 1 or 0, or as the rule says. */
unsigned large_state_weight(const struct life_large *l, unsigned state);

/* Columns to either side that the neighbourhood reaches. */
unsigned large_columns(const struct life_large *l);

/* True if neighbourhoods of even and of odd cells differ. */
bool large_has_parity(const struct life_large *l);

/* Count of a cell all of whose neighbours are in state 1; and the greatest possible count. */
int large_total(const struct life_large *l);
int large_most(const struct life_large *l);

/* The least possible count: 0, or less with negative weights. */
int large_least(const struct life_large *l);

/* Neighbours of equal weight in a row: columns first ... last, `dy` rows away. */
struct large_run {
    short dy, first, last, weight;
};

/* List the runs around even or odd cells into run[], unless it is NULL; return their number. */
size_t large_runs(const struct life_large *l, bool odd, struct large_run *run);

/* True if the counts include n. */
bool large_counts_have(const struct large_counts *counts, int n);

/* How cells are stored in generations with even and with odd numbers: rules of two states with B0
 * invert them, as in Golly, so that an empty background stays empty. */
enum large_inverted { LARGE_PLAIN, LARGE_INVERTED, LARGE_ALTERNATING };
enum large_inverted large_inversion(const struct life_large *l);

/* True if the cells of a generation are stored inverted. */
bool large_is_inverted(enum large_inverted how, uint64_t generation);

#endif
