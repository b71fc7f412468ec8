/* hash_leaf.h - generations of leaves (hash_leaf.c, hash_states.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_LEAF_H
#define LIFE_HASH_LEAF_H

#include "life/hash.h"

/* Compute the middle 16 x 16 cells of four leaves after 2^k generations, 0 <= k <= 3. */
void hash_leaf_step(const struct hashlife *h, const struct leaf *part[4], int k, struct leaf *out);

/* Advance 32 rows of 32 cells from a generation of parity `odd`; row y is rows[LEAF_ROW(y)]. Each
 * generation invalidates one more cell from the edges inward. */
#define LEAF_ROW(y) ((y) % 4 * 8 + (y) / 4)
void hash_leaf_rows(const struct hashlife *h, uint32_t rows[32], int odd, int generations);

/* Build the masks of an outer-totalistic rule for `counts` of struct hashlife. */
void hash_leaf_counts(const struct life_rule *rule, struct leaf_counts *counts);

/* Build a rule's table for `middle` of struct hashlife. */
void hash_leaf_table(const struct life_table *rule, uint8_t middle[1 << 16]);

/* Copy the middle of four leaves. */
void hash_leaf_middle(const struct leaf *part[4], struct leaf *out);

/* hash_states.c: leaves of more than two states. Advance four leaves by 2^k generations, with
 * a thread's cache of STATES_BLOCKS entries; set the bits of cells that change; copy the middle. */
void hash_states_step(const struct hashlife *h, const states_t *part[4], int k, states_t *out,
                      struct states_block *cache);
void hash_states_find_moves(const struct hashlife *h, states_t *leaf, struct states_block *cache);
void hash_states_middle(const struct hashlife *h, const states_t *part[4], states_t *out);

#endif
