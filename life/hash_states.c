/* hash_states.c - the lowest level of HashLife for rules of more than two states: 32 x 32 cells of a byte each, up to eight generations on.
 *
 * Of Generations, what lives next is as in hash_leaf.c, 32 cells at a time; the rest is counting up. A rule of a file is looked up in its tree cell by
 * cell, in the first generation of those about what is not 0, then of those about what has changed. Every generation spoils one cell more from the edges inward.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"
#include "life/transitions.h"

#include <string.h>

enum { ROWS = 32 };

static void generations_step(const struct hashlife *h, unsigned char cell[ROWS][ROWS])
{
    const unsigned states = h->rule.states;
    uint32_t next[ROWS];
    for (int y = 0; y < ROWS; y++) {
        next[y] = 0;
        for (int x = 0; x < ROWS; x++)
            next[y] |= (uint32_t)(cell[y][x] == 1) << x;
    }
    hash_leaf_rows(h, next, 1);
    for (int y = 1; y < ROWS - 1; y++)
        for (int x = 0; x < ROWS; x++) {
            const unsigned s = cell[y][x], more = s + 1 < states ? s + 1 : 0, lives = next[y] >> x & 1;
            cell[y][x] = (unsigned char)(s > 1 ? more : lives ? 1 : s ? more : 0);
        }
}

/* Which cells have one of `from` among themselves and their neighbours. */
static void spread(const uint32_t from[ROWS], uint32_t to[ROWS])
{
    uint32_t wide[ROWS];
    for (int y = 0; y < ROWS; y++)
        wide[y] = from[y] | from[y] << 1 | from[y] >> 1;
    for (int y = 1; y < ROWS - 1; y++)
        to[y] = wide[y - 1] | wide[y] | wide[y + 1];
}

/* As life_transit, of the cell in the middle of the block that begins at p; `at`: where the places are from there. */
static inline unsigned transit(const struct life_transitions *t, const unsigned char *p, const unsigned char at[TRANSITIONS_PLACES])
{
    const uint32_t *branch = t->branch;
    uint32_t node = t->root;
    int i = 0;
#define STEP node = branch[node + p[at[i++]]]
    switch (t->places) {
    case 9: STEP; STEP; /* fall through */
    case 7: STEP; STEP; /* fall through */
    case 5: STEP; STEP; /* fall through */
    default: STEP; STEP; STEP;
    }
#undef STEP
    return node;
}

/* One generation of the cells that may change, which those about what changed before are; what did goes to `changed`. */
static void transitions_step(const struct life_transitions *t, unsigned char cell[ROWS][ROWS], int spoilt, uint32_t changed[ROWS])
{
    unsigned char next[ROWS][ROWS], at[TRANSITIONS_PLACES] = {0};
    uint32_t may[ROWS] = {0};
    const uint32_t inside = (uint32_t)0xffffffff << (2 * spoilt + 2) >> (spoilt + 1);
    for (int i = 0; i < t->places; i++)
        at[i] = (unsigned char)(t->place[i] / 3 * ROWS + t->place[i] % 3);
    spread(changed, may);
    memset(changed, 0, ROWS * sizeof *changed);
    for (int y = 1 + spoilt; y < ROWS - 1 - spoilt; y++)
        for (uint32_t left = may[y] & inside; left; left &= left - 1) {
            const int x = __builtin_ctz(left);
            next[y][x] = (unsigned char)transit(t, &cell[y - 1][x - 1], at);
            changed[y] |= (uint32_t)(next[y][x] != cell[y][x]) << x;
        }
    for (int y = 1; y < ROWS - 1; y++)
        for (uint32_t left = changed[y]; left; left &= left - 1) {
            const int x = __builtin_ctz(left);
            cell[y][x] = next[y][x];
        }
}

/* All that is not 0 counts as changed. */
static void transitions_steps(const struct life_transitions *t, unsigned char cell[ROWS][ROWS], int generations)
{
    uint32_t changed[ROWS];
    for (int y = 0; y < ROWS; y++) {
        changed[y] = 0;
        for (int x = 0; x < ROWS; x++)
            changed[y] |= (uint32_t)(cell[y][x] != 0) << x;
    }
    for (int g = 0; g < generations; g++)
        transitions_step(t, cell, g, changed);
}

void hash_states_step(const struct hashlife *h, const struct leaf_states *part[4], int k, struct leaf_states *out)
{
    unsigned char cell[ROWS][ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int i = 0; i < 2; i++)
            memcpy(&cell[y][16 * i], part[y / 16 * 2 + i]->cell[y % 16], 16);
    if (h->rule.transitions)
        transitions_steps(h->rule.transitions, cell, 1 << k);
    for (int g = 0; g < 1 << k && !h->rule.transitions; g++)
        generations_step(h, cell);
    for (int y = 0; y < 16; y++)
        memcpy(out->cell[y], &cell[y + 8][8], 16);
}

void hash_states_middle(const struct leaf_states *part[4], struct leaf_states *out)
{
    for (int y = 0; y < 16; y++)
        for (int i = 0; i < 2; i++)
            memcpy(&out->cell[y][8 * i], &part[y / 8 * 2 + i]->cell[(y + 8) % 16][8 * !i], 8);
}
