/* lookups.h - rules as tables of bytes, which vectors look up for all their cells at once.
 *
 *   lookups.c       the tables
 *   lookups_step.c  generations by them, compiled for each set of instructions (isa.h)
 *
 * Two-state rules by a table of 512 neighbourhoods have 64 bytes. Rule files' trees have a table
 * for each place of the block of nine, if all of them are small.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LOOKUPS_H
#define LIFE_LOOKUPS_H

#include "life/family.h"
#include "life/transitions.h"

/* A column of three cells is a number of three bits, the upper cell bit 0. Bit `right` of
 * next[left | own << 3] is the next state of the cell in the middle of three columns. */
struct life_columns {
    uint8_t next[64];
};

struct life_columns life_columns_of(const struct life_table *rule);

/* A tree as tables. At each level, states that select equal branches of all its nodes are of one
 * kind. A node is a number of a byte: the place of its branches in the level's table. */
enum { LOOKUPS_MOST = 256 };
struct life_lookups {
    int levels; /* 0: the tree has no tables */
    struct life_lookups_level {
        int place;                  /* of the cell in the block of nine */
        int states, branches;       /* bytes of the tables: powers of two from 16 on */
        uint8_t kind[LOOKUPS_MOST]; /* of a state, from 0 on */
        uint8_t next[LOOKUPS_MOST]; /* [node + kind]: node of the next level, or next state */
    } level[TRANSITIONS_PLACES];
};

/* Convert a tree. `levels` is 0 if a level has more than LOOKUPS_MOST branches. */
void life_lookups_make(const struct life_transitions *t, struct life_lookups *lookups);

/* Look up the next states of a row's first cells, a vector at a time. code[x], -1 <= x <= width, is
 * the number of column x. Return the number of cells; fewer than a vector remain. */
typedef size_t lookups_row(const struct life_columns *columns, const unsigned char *code,
                           size_t width, unsigned char *next);
lookups_row lookups_row_avx2, lookups_row_vbmi;

/* Advance 32 rows of 32 cells, a bit each; columns[0] is the rule of the first generation and of
 * every other one. Each generation invalidates one more cell from the edges inward. rows[32]
 * and rows[33] are scratch memory. */
typedef void lookups_bits(const struct life_columns *const columns[2], uint32_t rows[32 + 2],
                          int generations);
lookups_bits lookups_bits_avx2, lookups_bits_vbmi;

/* Advance 16 x 16 states by a tree, up to four generations; cells at the edges become invalid as
 * above. */
typedef void lookups_states(const struct life_lookups *lookups, unsigned char cell[16 * 16],
                            int generations);
lookups_states lookups_states_avx2, lookups_states_vbmi;

#endif
