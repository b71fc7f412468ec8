/* hash_states.c - the lowest level of HashLife for rules of more than two states: 32 x 32 cells of a byte each, up to eight generations on.
 *
 * Of Generations, what lives next is as in hash_leaf.c, 32 cells at a time; the rest is counting up. A rule of a file is looked up in its tree cell by
 * cell, but where all around is 0. Every generation spoils one cell more from the edges inward.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"
#include "life/transitions.h"

#include <string.h>

enum { ROWS = 32, QUIET = 8 };

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

/* Is all of a row's cells x - 1 ... x + QUIET 0, in three rows? */
static bool is_quiet(unsigned char cell[ROWS][ROWS], int x, int y)
{
    unsigned any = 0;
    for (int j = y - 1; j <= y + 1; j++)
        for (int i = x - 1; i <= x + QUIET && i < ROWS; i++)
            any |= cell[j][i];
    return any == 0;
}

static void transitions_step(const struct life_transitions *t, unsigned char cell[ROWS][ROWS], int spoilt)
{
    unsigned char next[ROWS][ROWS], block[9];
    const int end = ROWS - 1 - spoilt;
    memcpy(next, cell, sizeof next);
    for (int y = 1 + spoilt; y < end; y++)
        for (int x = 1 + spoilt; x < end; x++) {
            if (is_quiet(cell, x, y)) {
                x += QUIET - 1;
                continue;
            }
            for (int stop = x + QUIET < end ? x + QUIET : end; ; x++) {
                memcpy(block, &cell[y - 1][x - 1], 3);
                memcpy(block + 3, &cell[y][x - 1], 3);
                memcpy(block + 6, &cell[y + 1][x - 1], 3);
                next[y][x] = life_transit(t, block);
                if (x + 1 == stop)
                    break;
            }
        }
    memcpy(cell, next, sizeof next);
}

void hash_states_step(const struct hashlife *h, const struct leaf_states *part[4], int k, struct leaf_states *out)
{
    unsigned char cell[ROWS][ROWS];
    for (int y = 0; y < ROWS; y++)
        for (int i = 0; i < 2; i++)
            memcpy(&cell[y][16 * i], part[y / 16 * 2 + i]->cell[y % 16], 16);
    for (int g = 0; g < 1 << k; g++)
        if (h->rule.transitions)
            transitions_step(h->rule.transitions, cell, g);
        else
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
