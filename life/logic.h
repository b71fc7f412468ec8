/* logic.h - outer-totalistic rules as bitwise logic (logic.c, pairs.c, whole.c).
 *
 * A circuit is a sequence of three-input operations on bit vectors. Variables 0 .. 4 are the inputs
 * below, step i sets variable 5 + i, and the last step is the next state of the cell. Bit
 * (a << 2 | b << 1 | c) of a step's truth table is its result for inputs a, b, c: the encoding of
 * NVIDIA's lop3 and AVX-512's vpternlog.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_LOGIC_H
#define LIFE_LOGIC_H

#include "stdcl/life.h"

#include <stdbool.h>

/* Inputs, from the 3 x 3 block around a cell, including the cell. Full adders reduce each row to a
 * two-bit number 2 m + s. Two more adders reduce the three s to 2 k + b and the three m to 2 q + p.
 * The block has b + 2 k + 2 p + 4 q live cells. */
enum { LIFE_IN_B, LIFE_IN_K, LIFE_IN_P, LIFE_IN_Q, LIFE_IN_CELL, LIFE_INPUTS };
enum { LIFE_STEPS_MAX = 14 };

struct life_step {
    unsigned char in[3], table; /* variables; truth table */
};
struct life_logic {
    int steps;
    struct life_step step[LIFE_STEPS_MAX];
};

/* Find a short circuit of three-input steps: the shortest one if three steps suffice, else one of
 * at most seven. Takes about 10 ms. Never fails. */
void life_logic_find(const struct life_rule *rule, struct life_logic *logic);

/* Find a short circuit of two-input steps, for devices without three-input instructions. A step is
 * an operation whose table ignores its first input, or a selection (a ? b : c), which costs three
 * operations. B3/S23 takes seven. Takes some 10 ms. Never fails. */
void life_logic_pairs(const struct life_rule *rule, struct life_logic *logic);

/* The rule as a truth table of the five inputs. Bit i of *value is the next state for inputs i; bit
 * i of *care is 1 if the inputs can have these values. */
void life_logic_target(const struct life_rule *rule, uint32_t *value, uint32_t *care);

/* Evaluate the circuit for the inputs in bits 0 .. 4 (b, k, p, q, cell). For tests. */
int life_logic_next(const struct life_logic *logic, unsigned inputs);

/* Write the circuit as the macro that rows.cl and tile.cl use, one LOGIC(out, a, b, c, table) a
 * step: "#define RULE(next, b, k, p, q, cell) LOGIC(v5, b, k, q, 0x16); ... LOGIC(next, v6, b,
 * cell, 0xe0)". */
enum { LIFE_LOGIC_TEXT = 64 + 96 * LIFE_STEPS_MAX };
void life_logic_text(const struct life_logic *logic, char text[LIFE_LOGIC_TEXT]);

/* A circuit from the row sums to the next state. It replaces the last two adders (four steps) and
 * the circuit above where a shorter one is known: B3/S23 takes six steps instead of seven. Inputs
 * are the row sums above the cell, in its row and below it, and the cell: s0 m0 s1 m1 s2 m2 cell.
 */
enum { LIFE_WHOLE_INPUTS = 7, LIFE_WHOLE_STEPS = 6 };
struct life_whole {
    struct life_rule rule;
    struct life_step step[LIFE_WHOLE_STEPS];
};

/* Return the known circuit of a rule, or NULL. */
const struct life_whole *life_logic_whole(const struct life_rule *rule);

/* Evaluate it for the inputs in bits 0 .. 6. For tests. */
int life_whole_next(const struct life_whole *whole, unsigned inputs);

/* Write the macros that precede a kernel for an outer-totalistic rule: RULE in three-input or
 * two-input steps and, with `ternary` and a known circuit, WHOLE_RULE(next, s0, m0, s1, m1, s2, m2,
 * cell). */
enum { LIFE_RULE_MACROS = LIFE_LOGIC_TEXT + 64 + 96 * LIFE_WHOLE_STEPS };
void life_rule_macros(const struct life_rule *rule, bool ternary, char text[LIFE_RULE_MACROS]);

#endif
