/* sums.h - precedes kernels that keep rows of WORDS words of 32 cells in registers (tile.cl,
 * persistent.cl): sums of a row, and a row's next generation from the sums of three rows.
 *
 * Operations for 32 cells and a generation: 2 funnel shifts, 2 logic operations for the sums of
 * three in a row, 6 for the rule B3/S23 from the sums of three rows.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SUMS_H
#define LIFE_SUMS_H

#ifndef WORDS
#define WORDS 1 /* of a row of an item */
#endif
#ifndef TERNARY
#define TERNARY 0 /* 1: NVIDIA's lop3 and shf */
#endif
#ifndef MULTIPLY
#define MULTIPLY                                                                                   \
    0 /* NVIDIA: 1: left shifts by multiply-add, in a unit of its own; 2: right shifts, too */
#endif

#ifdef __CPU__ /* set by the loader; NVIDIA's instructions are for GPUs */
#undef TERNARY
#define TERNARY 0
#endif

#ifndef LIFE_TERNARY_H
#include "ternary.h"
#endif
#define WORD uint
#if TERNARY
#undef LOGIC
#define LOGIC(out, a, b, c, t)                                                                     \
    uint out;                                                                                      \
    __asm("lop3.b32 %0, %1, %2, %3, " #t ";" : "=r"(out) : "r"(a), "r"(b), "r"(c))
#endif
#define PARITY(out, a, b, c) LOGIC(out, a, b, c, 0x96)   /* the low bit of a + b + c */
#define MAJORITY(out, a, b, c) LOGIC(out, a, b, c, 0xe8) /* the high bit */

/* Each cell's neighbour to the left (a lower bit, or the top bit of the word before) and right.
 * `two` is 2 and `high` 2^31, from the host, so that the compiler does not turn products back into
 * shifts. */
static inline uint left_of(uint w, uint before, uint two)
{
#if MULTIPLY >= 1
    return w * two + mul_hi(before, two);
#elif TERNARY
    uint out;
    __asm("shf.l.wrap.b32 %0, %1, %2, 1;" : "=r"(out) : "r"(before), "r"(w));
    return out;
#else
    return w << 1 | before >> 31;
#endif
}

static inline uint right_of(uint w, uint after, uint high)
{
#if MULTIPLY >= 2
    return after * high + mul_hi(w, high);
#elif TERNARY
    uint out;
    __asm("shf.r.wrap.b32 %0, %1, %2, 1;" : "=r"(out) : "r"(w), "r"(after));
    return out;
#else
    return w >> 1 | after << 31;
#endif
}

/* The sums 2 m + s of each cell of a row and its two neighbours. With BLOCK_RULE, a circuit of the
 * nine cells written by circuit.c, s and m are the left and right neighbours instead, and c the
 * cells. */
struct sums {
    uint s[WORDS], m[WORDS];
#ifdef BLOCK_RULE
    uint c[WORDS];
#endif
};

static inline void sum_row(struct sums *a, const uint cell[WORDS], uint before, uint after,
                           uint two, uint high)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const uint l = left_of(cell[k], k ? cell[k - 1] : before, two);
        const uint r = right_of(cell[k], k + 1 < WORDS ? cell[k + 1] : after, high);
#ifdef BLOCK_RULE
        a->s[k] = l;
        a->m[k] = r;
        a->c[k] = cell[k];
#else
        PARITY(s, l, cell[k], r);
        MAJORITY(m, l, cell[k], r);
        a->s[k] = s;
        a->m[k] = m;
#endif
    }
}

/* Replace a row of cells by its next generation, given the sums of the row above, of the row and
 * of the row below. */
static inline void next_row(uint cell[WORDS], const struct sums *above, const struct sums *here,
                            const struct sums *below)
{
#pragma unroll
    for (int i = 0; i < WORDS; i++) {
#ifdef BLOCK_RULE
        BLOCK_RULE(next, above->s[i], above->c[i], above->m[i], here->s[i], here->c[i], here->m[i],
                   below->s[i], below->c[i], below->m[i]);
#else
        NEXT_STATE(next, above->s[i], above->m[i], here->s[i], here->m[i], below->s[i], below->m[i],
                   cell[i]);
#endif
        cell[i] = next;
    }
}

#endif
