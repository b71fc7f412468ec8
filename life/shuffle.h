/* shuffle.h - rules by a table of 512 neighbourhoods, 32 cells at a time, by AVX2's shuffles.
 *
 * A column of three cells is a number of three bits, the upper cell bit 0. Bit `right` of
 * columns[left | own << 3] is the next state of the cell in the middle of three columns.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SHUFFLE_H
#define LIFE_SHUFFLE_H

#include "life/family.h"
#include "life/vectors.h"

#ifdef LIFE_AVX2
#include <immintrin.h>
#endif

struct life_columns {
    uint8_t next[64];
};

static inline struct life_columns life_columns_of(const struct life_table *rule)
{
    static const unsigned column[8] = {0, 1, 8, 9, 64, 65, 72, 73}; /* bits 0, 3, 6 of a block */
    struct life_columns columns = {{0}};
    for (unsigned at = 0; at < 64; at++)
        for (unsigned right = 0; right < 8; right++)
            columns.next[at] |=
                (uint8_t)(life_table_next(rule,
                                          column[at % 8] | column[at / 8] << 1 | column[right] << 2)
                          << right);
    return columns;
}

/* True if this CPU has the vectors. */
static inline bool life_has_shuffles(void)
{
#ifdef LIFE_AVX2
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

#ifdef LIFE_AVX2
struct life_shuffles {
    __m256i of[4];
};

LIFE_AVX2 static inline struct life_shuffles life_shuffles_of(const struct life_columns *columns)
{
    struct life_shuffles table;
    for (size_t i = 0; i < 4; i++)
        table.of[i] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128((const __m128i *)(const void *)(columns->next + 16 * i)));
    return table;
}

/* Next states, 255 or 0, of the cells in the middle of columns, a byte each. */
LIFE_AVX2 static inline __m256i life_shuffle_next(const struct life_shuffles *table, __m256i left,
                                                  __m256i own, __m256i right)
{
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u),
                  at = _mm256_or_si256(left, _mm256_slli_epi16(own, 3));
    /* Bits 4 and 5 of `at`, moved to bit 7, select one of the four tables. */
    const __m256i bit4 = _mm256_slli_epi16(at, 3), bit5 = _mm256_slli_epi16(at, 2),
                  low = _mm256_blendv_epi8(_mm256_shuffle_epi8(table->of[0], at),
                                           _mm256_shuffle_epi8(table->of[1], at), bit4),
                  high = _mm256_blendv_epi8(_mm256_shuffle_epi8(table->of[2], at),
                                            _mm256_shuffle_epi8(table->of[3], at), bit4),
                  mask = _mm256_shuffle_epi8(bit, right);
    return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_blendv_epi8(low, high, bit5), mask), mask);
}
#endif

#endif
