/* leaf_rows.h - generations of HashLife's leaves under outer-totalistic rules, with AVX-512
 * (leaf_rows.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LEAF_ROWS_H
#define LIFE_LEAF_ROWS_H

#include "life/hash_pool.h"

/* An outer-totalistic rule for bitwise logic. A block has n live cells, the cell in its middle
 * included. With n = 2 half + odd, the next state is mask[half][0] ^ (mask[half][1] & odd) ^
 * (mask[half][2] & cell) ^ (mask[half][3] & odd & cell). Rows 1 and 3 are the differences to the
 * rows before them. A mask is all ones or 0. */
struct leaf_counts {
    uint32_t mask[5][4];
};

/* Compute the middle 16 x 16 cells of four leaves after 1 to 8 generations. counts[0] is the rule
 * of the first generation and of every other one; counts[0] NULL: B3/S23. */
typedef void leaf_advance(const struct leaf_counts *const counts[2],
                          const struct leaf *const part[4], int generations, struct leaf *out);
leaf_advance leaf_advance_avx512;

#endif
