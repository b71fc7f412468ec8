/* circuit_rows.h - circuits as data: rows of cells advance under a rule by a table, without a
 * compiler (circuit_rows.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CIRCUIT_ROWS_H
#define LIFE_CIRCUIT_ROWS_H

#include "life/circuit.h"

#include <stddef.h>

/* A circuit as data. Steps write their results to slots of scratch memory, and reuse slots.
 * Variables 0 to 8 are the nine cells, variable 9 + i is slot i. */
struct circuit_code {
    int steps, slots;
    struct {
        unsigned char in[3], out, table;
    } step[LIFE_CIRCUIT_STEPS];
};
void circuit_code_make(const struct life_circuit *circuit, struct circuit_code *code);

/* Compute the next states of `bytes` bytes of cells, at most CIRCUIT_BLOCK. cell[i]: the cells'
 * neighbours at place i of the block, 4 the cells themselves, bit by bit. Reads and writes whole
 * vectors of up to 64 bytes; `next` must not overlap the cells. */
enum { CIRCUIT_BLOCK = 512 };
typedef void circuit_rows(const struct circuit_code *code, const void *const cell[LIFE_BLOCK_CELLS],
                          void *next, size_t bytes);
circuit_rows circuit_rows_any, circuit_rows_avx2, circuit_rows_avx512;

#endif
