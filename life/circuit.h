/* circuit.h - rules given by a table of 512 neighbourhoods, as bitwise logic (circuit.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CIRCUIT_H
#define LIFE_CIRCUIT_H

#include <stdint.h>

/* Next state of a cell by its 3 x 3 block: bit block % 64 of on[block / 64]. family.c says which
 * bit of `block` is which cell. */
struct life_table {
    uint64_t on[8];
};

static inline unsigned life_table_next(const struct life_table *t, unsigned block)
{
    return (unsigned)(t->on[block / 64] >> block % 64 & 1);
}

/* Write the table as 16 words of 32 bits for a kernel; return text. */
enum { LIFE_TABLE_TEXT = 16 * 12 };
char *life_table_text(const struct life_table *table, char text[LIFE_TABLE_TEXT]);

/* A circuit as in logic.h, whose inputs are the nine cells; steps set variables 9, 10, ... */
enum { LIFE_BLOCK_CELLS = 9, LIFE_CIRCUIT_STEPS = 130 };
struct life_circuit {
    int steps;
    struct {
        unsigned char in[3], table;
    } step[LIFE_CIRCUIT_STEPS];
};

/* Find a circuit of at most 127 steps for a table; most rules in use take 20 to 80. Takes some
 * milliseconds. Never fails. */
void life_circuit_find(const struct life_table *table, struct life_circuit *circuit);

/* Find a circuit in less time: try only some orders of the cells, at least one. */
void life_circuit_search(const struct life_table *table, int orders, struct life_circuit *circuit);

/* Evaluate the circuit for a block. For tests. */
int life_circuit_next(const struct life_circuit *circuit, unsigned block);

/* Write the circuit as the macro BLOCK_RULE(next, nw, n, ne, w, cell, e, sw, s, se) for rows.cl and
 * tile.cl. */
enum { LIFE_CIRCUIT_TEXT = 80 + 56 * LIFE_CIRCUIT_STEPS };
void life_circuit_text(const struct life_circuit *circuit, char text[LIFE_CIRCUIT_TEXT]);

#endif
