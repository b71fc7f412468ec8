/* ternary.h - precedes kernels that step packed cells: any function of three bits, for all bits of
 * a word or a vector at once, and the next state of cells by such functions.
 *
 * LOGIC(out, a, b, c, t) declares `out`. Bit a << 2 | b << 1 | c of the truth table t is the
 * result. Constants fold. The kernel defines WORD, the type of words or vectors, and redefines
 * LOGIC where the device has an instruction for it.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TERNARY_H
#define LIFE_TERNARY_H

#define OF2(b, c, t) /* a function of two bits */                                                  \
    ((t) == 0    ? (WORD)0                                                                         \
     : (t) == 15 ? ~(WORD)0                                                                        \
     : (t) == 12 ? (b)                                                                             \
     : (t) == 10 ? (c)                                                                             \
     : (t) == 3  ? ~(b)                                                                            \
     : (t) == 5  ? ~(c)                                                                            \
     : (t) == 6  ? (b) ^ (c)                                                                       \
     : (t) == 9  ? ~((b) ^ (c))                                                                    \
     : (t) == 8  ? (b) & (c)                                                                       \
     : (t) == 14 ? (b) | (c)                                                                       \
     : (t) == 1  ? ~((b) | (c))                                                                    \
     : (t) == 7  ? ~((b) & (c))                                                                    \
     : (t) == 2  ? ~(b) & (c)                                                                      \
     : (t) == 4  ? (b) & ~(c)                                                                      \
     : (t) == 11 ? ~(b) | (c)                                                                      \
                 : (b) | ~(c))
#define LOGIC(out, a, b, c, t)                                                                     \
    const WORD out = (t) == 0x96   ? (a) ^ (b) ^ (c)                                               \
                     : (t) == 0xe8 ? ((a) & (b)) | ((c) & ((a) ^ (b)))                             \
                     : (t) >> 4 == ((t)&15)                                                        \
                         ? OF2(b, c, (t)&15)                                                       \
                         : ((a)&OF2(b, c, (t) >> 4 & 15)) | (~(a)&OF2(b, c, (t)&15))

/* The rule, written by logic.c: b + 2 k + 2 p + 4 q cells of a block of 3 x 3 are alive. The
 * default is B3/S23. */
#if !defined(RULE) && !defined(BLOCK_RULE)
#define RULE(next, b, k, p, q, cell)                                                               \
    LOGIC(v5, b, k, q, 0x16);                                                                      \
    LOGIC(v6, p, q, v5, 0x29);                                                                     \
    LOGIC(next, v6, b, cell, 0xe0)
#endif

/* Next state of a cell from the row sums 2 m + s above it, in its row and below it. For some rules
 * whole.c has a circuit shorter than the two adders (four operations) and the rule. */
#ifdef WHOLE_RULE
#define NEXT_STATE WHOLE_RULE
#else
#define NEXT_STATE(next, s0, m0, s1, m1, s2, m2, cell)                                             \
    LOGIC(b, s0, s1, s2, 0x96);                                                                    \
    LOGIC(k, s0, s1, s2, 0xe8);                                                                    \
    LOGIC(p, m0, m1, m2, 0x96);                                                                    \
    LOGIC(q, m0, m1, m2, 0xe8);                                                                    \
    RULE(next, b, k, p, q, cell)
#endif

#endif
