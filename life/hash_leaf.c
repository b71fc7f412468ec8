/* hash_leaf.c - the lowest level of HashLife: 32 x 32 cells, up to eight generations.
 *
 * A row is a word. Neighbours are summed bit by bit (README.md, "32 cells at a time"), and
 * compilers vectorize the loops over rows. Each generation invalidates one more cell from the
 * edges inward; after eight generations the middle 16 x 16 cells are valid.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_leaf.h"
#include "life/logic.h"
#include "life/vectors.h"

#include <string.h>

enum { ROWS = 32 };

static inline uint32_t leaf_majority(uint32_t a, uint32_t b, uint32_t c)
{
    return (a & b) | (c & (a ^ b));
}

/* Sum the columns: the 3 x 3 block around each cell has b + 2 k + 2 p + 4 q live cells. */
static inline void leaf_add(const uint32_t *restrict cell, uint32_t *restrict b,
                            uint32_t *restrict k, uint32_t *restrict p, uint32_t *restrict q)
{
    uint32_t s[ROWS], m[ROWS];
    for (int y = 0; y < ROWS; y++) {
        const uint32_t c = cell[y], l = c << 1, r = c >> 1;
        s[y] = l ^ c ^ r;
        m[y] = leaf_majority(l, c, r);
    }
    for (int y = 1; y < ROWS - 1; y++) {
        b[y] = s[y - 1] ^ s[y] ^ s[y + 1];
        k[y] = leaf_majority(s[y - 1], s[y], s[y + 1]);
        p[y] = m[y - 1] ^ m[y] ^ m[y + 1];
        q[y] = leaf_majority(m[y - 1], m[y], m[y + 1]);
    }
}

/* B3/S23: alive with three in the block, or with four including the cell. */
LIFE_VECTORS static void step_conway(uint32_t *restrict cell, int generations)
{
    uint32_t b[ROWS], k[ROWS], p[ROWS], q[ROWS];
    for (int g = 0; g < generations; g++) {
        leaf_add(cell, b, k, p, q);
        for (int y = 1; y < ROWS - 1; y++) {
            const uint32_t one = k[y] ^ p[y], two = k[y] | p[y];
            cell[y] = ~(b[y] ^ one) & (two ^ q[y]) & (b[y] | cell[y]);
        }
    }
}

/* Any outer-totalistic rule, by its circuit (logic.c): bit a << 2 | b << 1 | c of a step's table
 * is its value. */
LIFE_VECTORS static void step_chain(const struct hashlife *h, uint32_t *restrict cell, int odd,
                                    int generations)
{
    uint32_t value[LIFE_INPUTS + LIFE_STEPS_MAX][ROWS];
    for (int g = 0; g < generations; g++) {
        const struct life_logic *logic = &h->logic[(odd + g) & 1];
        leaf_add(cell, value[LIFE_IN_B], value[LIFE_IN_K], value[LIFE_IN_P], value[LIFE_IN_Q]);
        memcpy(value[LIFE_IN_CELL], cell, sizeof value[LIFE_IN_CELL]);
        for (int i = 0; i < logic->steps; i++) {
            const uint32_t *a = value[logic->step[i].in[0]], *b = value[logic->step[i].in[1]],
                           *c = value[logic->step[i].in[2]];
            const unsigned table = logic->step[i].table;
            uint32_t on[8], *to = value[LIFE_INPUTS + i];
            for (int t = 0; t < 8; t++)
                on[t] = 0 - (table >> t & 1);
            for (int y = 1; y < ROWS - 1; y++) {
                const uint32_t c0 = (on[0] & ~c[y]) | (on[1] & c[y]),
                               c1 = (on[2] & ~c[y]) | (on[3] & c[y]),
                               c2 = (on[4] & ~c[y]) | (on[5] & c[y]),
                               c3 = (on[6] & ~c[y]) | (on[7] & c[y]),
                               b0 = (c0 & ~b[y]) | (c1 & b[y]), b1 = (c2 & ~b[y]) | (c3 & b[y]);
                to[y] = (b0 & ~a[y]) | (b1 & a[y]);
            }
        }
        memcpy(cell + 1, value[LIFE_INPUTS + logic->steps - 1] + 1, (ROWS - 2) * sizeof *cell);
    }
}

/* Next middle of each block of 4 x 4 cells, with cell (x, y) in bit 4 y + x. */
void hash_leaf_table(const struct life_table *rule, uint8_t middle[1 << 16])
{
    static const unsigned rows = 1 << 12; /* contents of three rows of four cells */
    uint8_t two[1 << 12];                 /* next states of the two cells in the middle */
    for (unsigned cells = 0; cells < rows; cells++) {
        two[cells] = 0;
        for (unsigned i = 0; i < 2; i++) {
            const unsigned block =
                (cells >> i & 7) | (cells >> (4 + i) & 7) << 3 | (cells >> (8 + i) & 7) << 6;
            two[cells] |= (uint8_t)(life_table_next(rule, block) << i);
        }
    }
    for (unsigned cells = 0; cells < 1 << 16; cells++)
        middle[cells] = (uint8_t)(two[cells & (rows - 1)] | two[cells >> 4] << 2);
}

/* Other rules, by the table of 4 x 4 cells. */
static void step_table(const struct hashlife *h, uint32_t *cell, int odd, int generations)
{
    for (int g = 0; g < generations; g++) {
        const uint8_t *middle = h->middle[(odd + g) & 1];
        uint32_t next[ROWS];
        for (int y = g + 1; y < ROWS - 1 - g; y += 2) {
            next[y] = next[y + 1] = 0;
            for (int x = g + 1; x < ROWS - 1 - g; x += 2) {
                const int at = x - 1;
                const unsigned out =
                    middle[(cell[y - 1] >> at & 15) | (cell[y] >> at & 15) << 4 |
                           (cell[y + 1] >> at & 15) << 8 | (cell[y + 2] >> at & 15) << 12];
                next[y] |= (uint32_t)(out & 3) << x;
                next[y + 1] |= (uint32_t)(out >> 2) << x;
            }
        }
        memcpy(cell + g + 1, next + g + 1, (size_t)(ROWS - 2 - 2 * g) * sizeof *cell);
    }
}

void hash_leaf_rows(const struct hashlife *h, uint32_t cell[ROWS], int odd, int generations)
{
    if (h->conway)
        step_conway(cell, generations);
    else if (h->middle[0])
        step_table(h, cell, odd, generations);
    else
        step_chain(h, cell, odd, generations);
}

void hash_leaf_step(const struct hashlife *h, const struct leaf *part[4], int k, struct leaf *out)
{
    uint32_t cell[ROWS];
    for (int y = 0; y < 16; y++) {
        cell[y] = part[NW]->row[y] | (uint32_t)part[NE]->row[y] << 16;
        cell[y + 16] = part[SW]->row[y] | (uint32_t)part[SE]->row[y] << 16;
    }
    hash_leaf_rows(h, cell, h->odd, 1 << k);
    for (int y = 0; y < 16; y++)
        out->row[y] = (uint16_t)(cell[y + 8] >> 8);
}

void hash_leaf_middle(const struct leaf *part[4], struct leaf *out)
{
    for (int y = 0; y < 8; y++) {
        out->row[y] = (uint16_t)(part[NW]->row[y + 8] >> 8 | part[NE]->row[y + 8] << 8);
        out->row[y + 8] = (uint16_t)(part[SW]->row[y] >> 8 | part[SE]->row[y] << 8);
    }
}
