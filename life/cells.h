/* cells.h - cells in host memory (cells.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CELLS_H
#define LIFE_CELLS_H

#include "stdcl/life.h"

/* Copy the states of n cells of row y, from column x on, out of the host's bit planes and into
 * them. */
void life_states_of_planes(life *lf, size_t x, size_t y, size_t n, unsigned char *state);
void life_states_to_planes(life *lf, size_t x, size_t y, size_t n, const unsigned char *state);

/* Copy n bits from bit `start` of `from` to bit `at` of `to`. */
void life_bits_copy(uint64_t *to, size_t at, const uint64_t *from, size_t start, size_t n);

/* Fill the host's rows with a soup; see life_soup. */
int life_soup_rand(life *lf, unsigned seed);
int life_soup_density(life *lf, double density, uint64_t seed);

/* Cells 64 x ... 64 x + 63 of row y of a soup; density in units of 2^-32. */
uint64_t life_random_word(uint64_t density, size_t x, size_t y, uint64_t seed);

/* Bytes of physical memory. Engines check it, since an overcommitting system would grant more and
 * then kill the process. */
double life_host_memory(void);

#endif
