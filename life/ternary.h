/* ternary.h - any function of three bits, for all bits of a word or a vector at once; in front of kernels that step packed cells.
 *
 * LOGIC(out, a, b, c, t) declares `out`; t is its truth table, whose bit a << 2 | b << 1 | c is the result. Constants fold. The
 * kernel defines WORD, the type of words or vectors; one that has an instruction for this defines LOGIC anew.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TERNARY_H
#define LIFE_TERNARY_H

#define OF2(b, c, t) /* a function of two bits */                                                              \
    ((t) == 0 ? (WORD)0 : (t) == 15 ? ~(WORD)0 : (t) == 12 ? (b) : (t) == 10 ? (c) : (t) == 3 ? ~(b)          \
     : (t) == 5 ? ~(c) : (t) == 6 ? (b) ^ (c) : (t) == 9 ? ~((b) ^ (c)) : (t) == 8 ? (b) & (c)                \
     : (t) == 14 ? (b) | (c) : (t) == 1 ? ~((b) | (c)) : (t) == 7 ? ~((b) & (c))                              \
     : (t) == 2 ? ~(b) & (c) : (t) == 4 ? (b) & ~(c) : (t) == 11 ? ~(b) | (c) : (b) | ~(c))
#define LOGIC(out, a, b, c, t)                                                                                 \
    const WORD out = (t) == 0x96 ? (a) ^ (b) ^ (c)                                                            \
                     : (t) == 0xe8 ? ((a) & (b)) | ((c) & ((a) ^ (b)))                                        \
                     : (t) >> 4 == ((t)&15) ? OF2(b, c, (t)&15)                                               \
                     : ((a) & OF2(b, c, (t) >> 4 & 15)) | (~(a) & OF2(b, c, (t)&15))

#endif
