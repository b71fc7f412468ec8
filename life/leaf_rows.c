/* leaf_rows.c - generations of 32 x 32 cells in two vectors of AVX-512, compiled for that set
 * (isa.h).
 *
 * A row is a word of 32 cells, as in hash_leaf.c. Lane i of the first vector is row 2 i, lane i of
 * the second vector is row 2 i + 1. Row 2 i has row 2 i - 1 above, in lane i - 1, and row 2 i + 1
 * has row 2 i + 2 below, in lane i + 1.
 * SPDX-License-Identifier: MIT
 */
#include "life/leaf_rows.h"
#include "life/vectors.h"

#include <immintrin.h>

#define INLINE static inline __attribute__((always_inline))
#define LEAF_TERNARY(a, b, c, table) _mm512_ternarylogic_epi32(a, b, c, table)
#define LEAF_SUM(a, b, c) LEAF_TERNARY(a, b, c, 0x96)
#define LEAF_CARRY(a, b, c) LEAF_TERNARY(a, b, c, 0xe8)
#define LEAF_CHOOSE(which, one, zero) LEAF_TERNARY(which, one, zero, 0xca)
#define LEAF_XOR_AND(a, b, c) LEAF_TERNARY(a, b, c, 0x78) /* a ^ (b & c) */

typedef __m512i leaf_vector; /* 16 rows */

/* The 3 x 3 block around each cell has b + 2 k + 2 p + 4 q live cells. */
struct leaf_vector_sums {
    leaf_vector b, k, p, q;
};

/* Add the sums and carries of a vector's rows, of the rows in the same lanes of the second vector,
 * and of the rows in the lanes beside. */
INLINE struct leaf_vector_sums leaf_vectors_add(leaf_vector sum, leaf_vector lane_sum,
                                                leaf_vector beside_sum, leaf_vector carry,
                                                leaf_vector lane_carry, leaf_vector beside_carry)
{
    return (struct leaf_vector_sums){
        LEAF_SUM(sum, lane_sum, beside_sum), LEAF_CARRY(sum, lane_sum, beside_sum),
        LEAF_SUM(carry, lane_carry, beside_carry), LEAF_CARRY(carry, lane_carry, beside_carry)};
}

INLINE leaf_vector leaf_next_of_life(struct leaf_vector_sums of, leaf_vector cell)
{
    const leaf_vector v5 = LEAF_TERNARY(of.b, of.k, of.q, 0x16),
                      v6 = LEAF_TERNARY(of.p, of.q, v5, 0x29);
    return LEAF_TERNARY(v6, of.b, cell, 0xe0);
}

INLINE leaf_vector leaf_next_of_counts(struct leaf_vector_sums of, leaf_vector cell,
                                       const struct leaf_counts *counts)
{
    const leaf_vector two = _mm512_xor_si512(of.k, of.p), carry = _mm512_and_si512(of.k, of.p),
                      four = _mm512_xor_si512(carry, of.q), eight = _mm512_and_si512(carry, of.q),
                      both = _mm512_and_si512(of.b, cell);
    leaf_vector next[5];
    for (int half = 0; half < 5; half++) {
        const uint32_t *mask = counts->mask[half];
        next[half] =
            LEAF_XOR_AND(_mm512_set1_epi32((int)mask[0]), _mm512_set1_epi32((int)mask[1]), of.b);
        next[half] = LEAF_XOR_AND(next[half], _mm512_set1_epi32((int)mask[2]), cell);
        next[half] = LEAF_XOR_AND(next[half], _mm512_set1_epi32((int)mask[3]), both);
    }
    const leaf_vector low = LEAF_XOR_AND(next[0], next[1], two),
                      high = LEAF_XOR_AND(next[2], next[3], two);
    return LEAF_CHOOSE(eight, next[4], LEAF_CHOOSE(four, high, low));
}

INLINE void leaf_vectors_generation(leaf_vector cell[2], const struct leaf_counts *counts)
{
    leaf_vector sum[2], carry[2];
    for (int i = 0; i < 2; i++) {
        const leaf_vector left = _mm512_slli_epi32(cell[i], 1),
                          right = _mm512_srli_epi32(cell[i], 1);
        sum[i] = LEAF_SUM(left, cell[i], right);
        carry[i] = LEAF_CARRY(left, cell[i], right);
    }
    const struct leaf_vector_sums of[2] = {
        leaf_vectors_add(sum[0], sum[1], _mm512_alignr_epi32(sum[1], sum[1], 15), carry[0],
                         carry[1], _mm512_alignr_epi32(carry[1], carry[1], 15)),
        leaf_vectors_add(sum[1], sum[0], _mm512_alignr_epi32(sum[0], sum[0], 1), carry[1], carry[0],
                         _mm512_alignr_epi32(carry[0], carry[0], 1))};
    for (int i = 0; i < 2; i++)
        cell[i] = counts ? leaf_next_of_counts(of[i], cell[i], counts)
                         : leaf_next_of_life(of[i], cell[i]);
}

/* Two rows of a leaf are a word of 32 bits, the even row below. */
INLINE leaf_vector leaf_pairs_of(const struct leaf *north, const struct leaf *south)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const void *)north)),
                              _mm256_loadu_si256((const void *)south), 1);
}

void leaf_advance_avx512(const struct leaf_counts *const counts[2],
                         const struct leaf *const part[4], int generations, struct leaf *out)
{
    const leaf_vector west = leaf_pairs_of(part[NW], part[SW]),
                      east = leaf_pairs_of(part[NE], part[SE]), low = _mm512_set1_epi32(0xffff);
    leaf_vector cell[2] = {LEAF_CHOOSE(low, west, _mm512_slli_epi32(east, 16)),
                           LEAF_CHOOSE(low, _mm512_srli_epi32(west, 16), east)};
    if (!counts[0])
        for (int g = 0; g < generations; g++)
            leaf_vectors_generation(cell, NULL);
    else
        for (int g = 0; g < generations; g++)
            leaf_vectors_generation(cell, counts[g & 1]);
    /* Rows 8 to 23 are lanes 4 to 11, and columns 8 to 23 their middle halves. */
    const leaf_vector pairs =
        LEAF_CHOOSE(low, _mm512_srli_epi32(cell[0], 8), _mm512_slli_epi32(cell[1], 8));
    _mm256_storeu_si256((void *)out, _mm512_castsi512_si256(_mm512_alignr_epi32(pairs, pairs, 4)));
}
