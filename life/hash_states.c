/* hash_states.c - the lowest level of HashLife for rules of more than two states: 32 x 32 cells of a byte each, up to eight generations on.
 *
 * Of Generations, what lives next is as in hash_leaf.c, 32 cells at a time; the rest is counting up. A rule of a file is looked up in its tree cell by
 * cell: in the first generation of those that change, which leaves know of all but their edges, and then of those about what has changed. Every generation spoils one cell
 * more from the edges inward.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"
#include "life/transitions.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

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

/* As life_transit, of the cell in the middle of the block that begins at p; `at`: where the places are from there. How many there are the compiler knows. */
INLINE unsigned transit(const struct life_transitions *t, int places, const unsigned char *p, const unsigned char at[TRANSITIONS_PLACES])
{
    uint32_t node = t->root;
    for (int i = 0; i < places; i++)
        node = t->branch[node + p[at[i]]];
    return node;
}

static void find_places(const struct life_transitions *t, int stride, unsigned char at[TRANSITIONS_PLACES])
{
    memset(at, 0, TRANSITIONS_PLACES);
    for (int i = 0; i < t->places; i++)
        at[i] = (unsigned char)(t->place[i] / 3 * stride + t->place[i] % 3);
}

INLINE void find_moves(const struct life_transitions *t, int places, struct leaf_states *leaf)
{
    unsigned char at[TRANSITIONS_PLACES];
    find_places(t, 16, at);
    for (int y = 1; y < 15; y++)
        for (int x = 1; x < 15; x++)
            leaf->moves[y] |= (uint16_t)((transit(t, places, &leaf->cell[y - 1][x - 1], at) != leaf->cell[y][x]) << x);
}

void hash_states_find_moves(const struct hashlife *h, struct leaf_states *leaf)
{
    const struct life_transitions *t = h->rule.transitions;
    memset(leaf->moves, 0, sizeof leaf->moves);
    switch (t->places) {
    case 9: find_moves(t, 9, leaf); break;
    case 7: find_moves(t, 7, leaf); break;
    case 5: find_moves(t, 5, leaf); break;
    default: find_moves(t, 3, leaf);
    }
}

/* A bit for each of eight cells that is not 0. */
static uint32_t alive_of(const unsigned char cell[8])
{
    uint32_t bits = 0;
    for (int i = 0; i < 8; i++)
        bits |= (uint32_t)(cell[i] != 0) << i;
    return bits;
}

/* The cells that may change first: those that leaves say, and where leaves meet all that are alive or have such a neighbour; what is empty stays so. */
static void find_first(const struct leaf_states *part[4], unsigned char cell[ROWS][ROWS], uint32_t may[ROWS])
{
    unsigned char across[ROWS];
    uint32_t along[ROWS + 2] = {0}, alive = 0;
    for (int y = 0; y < ROWS; y++)
        memcpy(&along[y + 1], &cell[y][14], sizeof along[0]);
    for (int x = 0; x < ROWS; x++)
        across[x] = cell[14][x] | cell[15][x] | cell[16][x] | cell[17][x];
    for (int x = 0; x < ROWS; x += 8)
        alive |= alive_of(across + x) << x;
    for (int y = 0; y < ROWS; y++)
        may[y] = part[y / 16 * 2]->moves[y % 16] | (uint32_t)part[y / 16 * 2 + 1]->moves[y % 16] << 16 | (along[y] | along[y + 1] | along[y + 2] ? 3u << 15 : 0);
    for (int y = 15; y <= 16; y++)
        may[y] |= alive | alive << 1 | alive >> 1;
}

/* Those that have a cell that has changed among themselves and their neighbours. */
static void find_next(const uint32_t changed[ROWS], uint32_t may[ROWS])
{
    uint32_t wide[ROWS];
    for (int y = 0; y < ROWS; y++)
        wide[y] = changed[y] | changed[y] << 1 | changed[y] >> 1;
    for (int y = 1; y < ROWS - 1; y++)
        may[y] = wide[y - 1] | wide[y] | wide[y + 1];
}

/* One generation of the cells that may change; what does is in `changed`. Two rows at a time, and what changes in a list: a processor foretells few ends of short loops. */
INLINE void transitions_step(const struct life_transitions *t, int places, const unsigned char at[TRANSITIONS_PLACES], unsigned char cell[ROWS * ROWS], int spoilt,
                             const uint32_t may[ROWS], uint32_t changed[ROWS])
{
    unsigned char next[ROWS * ROWS];
    uint16_t where[ROWS * ROWS];
    unsigned n = 0;
    const int first = 1 + spoilt, end = ROWS - 1 - spoilt;
    const uint32_t inside = (uint32_t)0xffffffff << (2 * spoilt + 2) >> (spoilt + 1);
    for (int y = first / 2 * 2; y < end; y += 2)
        for (uint64_t left = (y >= first ? may[y] & inside : 0) | (uint64_t)(y + 1 < end ? may[y + 1] & inside : 0) << 32; left; left &= left - 1) {
            const int i = y * ROWS + __builtin_ctzll(left);
            next[n] = (unsigned char)transit(t, places, &cell[i - ROWS - 1], at);
            where[n] = (uint16_t)i;
            n += next[n] != cell[i];
        }
    memset(changed, 0, ROWS * sizeof *changed);
    for (unsigned i = 0; i < n; i++) {
        cell[where[i]] = next[i];
        changed[where[i] / ROWS] |= (uint32_t)1 << where[i] % ROWS;
    }
}

INLINE void transitions_steps(const struct life_transitions *t, int places, const struct leaf_states *part[4], unsigned char cell[ROWS][ROWS], int generations)
{
    uint32_t may[ROWS] = {0}, changed[ROWS];
    unsigned char at[TRANSITIONS_PLACES];
    find_places(t, ROWS, at);
    find_first(part, cell, may);
    for (int g = 0; g < generations; g++) {
        transitions_step(t, places, at, cell[0], g, may, changed);
        find_next(changed, may);
    }
}

static void all_transitions(const struct life_transitions *t, const struct leaf_states *part[4], unsigned char cell[ROWS][ROWS], int generations)
{
    switch (t->places) {
    case 9: transitions_steps(t, 9, part, cell, generations); break;
    case 7: transitions_steps(t, 7, part, cell, generations); break;
    case 5: transitions_steps(t, 5, part, cell, generations); break;
    default: transitions_steps(t, 3, part, cell, generations);
    }
}

void hash_states_step(const struct hashlife *h, const struct leaf_states *part[4], int k, struct leaf_states *out)
{
    unsigned char cell[ROWS][ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int i = 0; i < 2; i++)
            memcpy(&cell[y][16 * i], part[y / 16 * 2 + i]->cell[y % 16], 16);
    if (h->rule.transitions)
        all_transitions(h->rule.transitions, part, cell, 1 << k);
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
