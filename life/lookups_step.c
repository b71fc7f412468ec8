/* lookups_step.c - generations by tables of bytes, for a vector of cells at a time; compiled once
 * for each set of instructions that shuffles bytes (isa.h).
 *
 * AVX2 shuffles 16 bytes: a larger table takes several shuffles, and the upper bits of the index
 * select among the results. AVX-512 VBMI looks up 64 or 128 bytes in one instruction.
 * SPDX-License-Identifier: MIT
 */
#include "life/lookups.h"
#include "life/vectors.h"

#include <immintrin.h>
#include <string.h>

#define LOOKUPS_ROW LIFE_OF_SET(lookups_row)
#define LOOKUPS_BITS LIFE_OF_SET(lookups_bits)
#define LOOKUPS_STATES LIFE_OF_SET(lookups_states)
#define INLINE static inline __attribute__((always_inline))
enum { LOOKUP_ROWS = 32, TILE_SIDE = 16, TILE = TILE_SIDE * TILE_SIDE };

/* ---- A vector of indices looks up a table of `size` bytes, a constant from 16 to 256. -------- */

#ifdef __AVX512VBMI__
typedef __m512i bytes;

INLINE bytes bytes_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

INLINE void bytes_store(void *p, bytes v)
{
    _mm512_storeu_si512(p, v);
}

INLINE bytes bytes_add(bytes a, bytes b)
{
    return _mm512_add_epi8(a, b);
}

/* Reads 64 bytes of a smaller table. */
INLINE bytes look_up(const uint8_t *table, int size, bytes at)
{
    if (size <= 64)
        return _mm512_permutexvar_epi8(at, bytes_load(table));
    const bytes low = _mm512_permutex2var_epi8(bytes_load(table), at, bytes_load(table + 64));
    if (size == 128)
        return low;
    return _mm512_mask_blend_epi8(
        _mm512_movepi8_mask(at), low,
        _mm512_permutex2var_epi8(bytes_load(table + 128), at, bytes_load(table + 192)));
}

/* Next states, a bit each, of the cells in the middle of columns, a byte each. */
INLINE __mmask64 columns_next(const struct life_columns *columns, bytes left, bytes own,
                              bytes right)
{
    const bytes bit = _mm512_set1_epi64((long long)0x8040201008040201u),
                at = _mm512_or_si512(left, _mm512_slli_epi16(own, 3));
    return _mm512_test_epi8_mask(look_up(columns->next, sizeof columns->next, at),
                                 _mm512_shuffle_epi8(bit, right));
}

INLINE void columns_store(unsigned char *next, const struct life_columns *columns, bytes left,
                          bytes own, bytes right)
{
    bytes_store(next, _mm512_maskz_set1_epi8(columns_next(columns, left, own, right), 1));
}
#else
typedef __m256i bytes;

INLINE bytes bytes_load(const void *p)
{
    return _mm256_loadu_si256(p);
}

INLINE void bytes_store(void *p, bytes v)
{
    _mm256_storeu_si256(p, v);
}

INLINE bytes bytes_add(bytes a, bytes b)
{
    return _mm256_add_epi8(a, b);
}

/* Shuffles look at bits 0 to 3 and 7, and blends at bit 7. */
INLINE bytes look_up_16(const uint8_t *table, bytes at)
{
    return _mm256_shuffle_epi8(
        _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)), at);
}

INLINE bytes look_up_32(const uint8_t *table, bytes at)
{
    return _mm256_blendv_epi8(look_up_16(table, at), look_up_16(table + 16, at),
                              _mm256_slli_epi16(at, 3));
}

INLINE bytes look_up_64(const uint8_t *table, bytes at)
{
    return _mm256_blendv_epi8(look_up_32(table, at), look_up_32(table + 32, at),
                              _mm256_slli_epi16(at, 2));
}

INLINE bytes look_up_128(const uint8_t *table, bytes at)
{
    return _mm256_blendv_epi8(look_up_64(table, at), look_up_64(table + 64, at),
                              _mm256_slli_epi16(at, 1));
}

INLINE bytes look_up(const uint8_t *table, int size, bytes at)
{
    if (size <= 16)
        return look_up_16(table, at);
    if (size <= 32)
        return look_up_32(table, at);
    if (size <= 64)
        return look_up_64(table, at);
    if (size <= 128)
        return look_up_128(table, at);
    const bytes below = _mm256_and_si256(at, _mm256_set1_epi8(127));
    return _mm256_blendv_epi8(look_up_128(table, below), look_up_128(table + 128, below), at);
}

/* Next states, 255 or 0, of the cells in the middle of columns, a byte each. */
INLINE bytes columns_next(const struct life_columns *columns, bytes left, bytes own, bytes right)
{
    const bytes bit = _mm256_set1_epi64x((long long)0x8040201008040201u),
                at = _mm256_or_si256(left, _mm256_slli_epi16(own, 3)),
                mask = _mm256_shuffle_epi8(bit, right),
                next = look_up(columns->next, sizeof columns->next, at);
    return _mm256_cmpeq_epi8(_mm256_and_si256(next, mask), mask);
}

INLINE void columns_store(unsigned char *next, const struct life_columns *columns, bytes left,
                          bytes own, bytes right)
{
    bytes_store(next,
                _mm256_and_si256(columns_next(columns, left, own, right), _mm256_set1_epi8(1)));
}
#endif

/* ---- Two states: columns of three cells. ----------------------------------------------------- */

size_t LOOKUPS_ROW(const struct life_columns *columns, const unsigned char *code, size_t width,
                   unsigned char *next)
{
    size_t x = 0;
    for (; x + sizeof(bytes) <= width; x += sizeof(bytes))
        columns_store(next + x, columns, bytes_load(code + x - 1), bytes_load(code + x),
                      bytes_load(code + x + 1));
    return x;
}

/* Rows from the first to the last with live cells; none if first > last. */
struct lookup_span {
    int first, last;
};

static struct lookup_span lookup_span_of(const uint32_t rows[LOOKUP_ROWS])
{
    uint32_t live = 0; /* a bit for each row */
#ifdef __AVX512VBMI__
    for (int y = 0; y < LOOKUP_ROWS; y += 16)
        live |= (uint32_t)_mm512_test_epi32_mask(bytes_load(rows + y), bytes_load(rows + y)) << y;
#else
    for (int y = 0; y < LOOKUP_ROWS; y += 8) {
        const bytes dead = _mm256_cmpeq_epi32(bytes_load(rows + y), _mm256_setzero_si256());
        live |= (uint32_t)(~_mm256_movemask_ps(_mm256_castsi256_ps(dead)) & 255) << y;
    }
#endif
    return live ? (struct lookup_span){__builtin_ctz(live), 31 - __builtin_clz(live)}
                : (struct lookup_span){LOOKUP_ROWS, -1};
}

#ifdef __AVX512VBMI__

/* Two rows a vector. `above`, `own`, `below`: the rows, and the rows beside them. A cell beyond the
 * edge is a cell of the other row; cells at the edge are invalid anyway. */
INLINE uint64_t two_rows_next(const struct life_columns *columns, uint64_t above, uint64_t own,
                              uint64_t below)
{
    static const uint8_t turned[64 + 2] = {
        63, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
        21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42,
        43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 0};
    const bytes one = _mm512_maskz_set1_epi8(above, 1),
                two = _mm512_mask_add_epi8(one, own, one, _mm512_set1_epi8(2)),
                code = _mm512_mask_add_epi8(two, below, two, _mm512_set1_epi8(4));
    return columns_next(columns, _mm512_permutexvar_epi8(bytes_load(turned), code), code,
                        _mm512_permutexvar_epi8(bytes_load(turned + 2), code));
}

/* Rows y and y + 1 of even y are loaded and stored as a whole: a load of rows from two stores would
 * wait for both. */
INLINE uint64_t two_rows_at(const uint32_t *rows, int y)
{
    uint64_t two;
    memcpy(&two, rows + y, sizeof two);
    return two;
}

INLINE void bits_generation(const struct life_columns *columns, uint32_t *rows, int first, int end)
{
    int y = first & ~1;
    uint64_t before = y > 0 ? two_rows_at(rows, y - 2) : 0, own = two_rows_at(rows, y);
    for (; y < end; y += 2) {
        const uint64_t after = two_rows_at(rows, y + 2),
                       next = two_rows_next(columns, before >> 32 | own << 32, own,
                                            own >> 32 | after << 32);
        memcpy(rows + y, &next, sizeof next);
        before = own;
        own = after;
    }
}

void LOOKUPS_BITS(const struct life_columns *const columns[2], uint32_t rows[LOOKUP_ROWS + 2],
                  int generations)
{
    struct lookup_span span = lookup_span_of(rows);
    rows[LOOKUP_ROWS] = rows[LOOKUP_ROWS + 1] = 0;
    for (int g = 0; g < generations; g++, span.first--, span.last++)
        bits_generation(columns[g & 1], rows, span.first > g + 2 ? span.first - 1 : g + 1,
                        span.last < LOOKUP_ROWS - 3 - g ? span.last + 2 : LOOKUP_ROWS - 1 - g);
}

#else

/* Bits to bytes. */
INLINE bytes bytes_of_bits(uint32_t row)
{
    const bytes bit = _mm256_set1_epi64x((long long)0x8040201008040201u),
                byte = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202,
                                          0x0303030303030303),
                eight = _mm256_shuffle_epi8(_mm256_set1_epi32((int)row), byte);
    return _mm256_cmpeq_epi8(_mm256_and_si256(eight, bit), bit);
}

/* The next row. */
INLINE bytes row_next(const struct life_columns *columns, bytes above, bytes own, bytes below)
{
    const bytes code = _mm256_or_si256(_mm256_or_si256(_mm256_and_si256(above, _mm256_set1_epi8(1)),
                                                       _mm256_and_si256(own, _mm256_set1_epi8(2))),
                                       _mm256_and_si256(below, _mm256_set1_epi8(4)));
    /* The other half of the row, and zeros. */
    const bytes lower = _mm256_permute2x128_si256(code, code, 0x08),
                upper = _mm256_permute2x128_si256(code, code, 0x81);
    return columns_next(columns, _mm256_alignr_epi8(code, lower, 15), code,
                        _mm256_alignr_epi8(upper, code, 1));
}

void LOOKUPS_BITS(const struct life_columns *const columns[2], uint32_t rows[LOOKUP_ROWS + 2],
                  int generations)
{
    struct lookup_span span = lookup_span_of(rows);
    bytes cell[LOOKUP_ROWS];
    for (int y = 0; y < LOOKUP_ROWS; y++)
        cell[y] = bytes_of_bits(rows[y]);
    for (int g = 0; g < generations; g++, span.first--, span.last++) {
        const int first = span.first > g + 2 ? span.first - 1 : g + 1,
                  end = span.last < LOOKUP_ROWS - 3 - g ? span.last + 2 : LOOKUP_ROWS - 1 - g;
        const struct life_columns table = *columns[g & 1];
        bytes above = cell[first - 1];
        for (int y = first; y < end; y++) {
            const bytes own = cell[y];
            cell[y] = row_next(&table, above, own, cell[y + 1]);
            above = own;
        }
    }
    for (int y = 0; y < LOOKUP_ROWS; y++)
        rows[y] = (uint32_t)_mm256_movemask_epi8(cell[y]);
}

#endif

/* ---- Rule files: levels of a tree. ----------------------------------------------------------- */

enum { TILE_VECTORS = TILE / sizeof(bytes), TILE_PAD = TILE_SIDE + 1 };

/* Descend one level with `n` vectors of cells. The states at p select the branches. */
INLINE void level_descend(const struct life_lookups_level *level, int states, int branches,
                          const unsigned char *p, bytes node[TILE_VECTORS], int n)
{
    for (int i = 0; i < n; i++) {
        const bytes kind = look_up(level->kind, states, bytes_load(p + i * (int)sizeof(bytes)));
        node[i] = look_up(level->next, branches, bytes_add(node[i], kind));
    }
}

INLINE void level_descend_states(const struct life_lookups_level *level, int states,
                                 const unsigned char *p, bytes node[TILE_VECTORS], int n)
{
    switch (level->branches) {
    case 16:
        level_descend(level, states, 16, p, node, n);
        break;
    case 32:
        level_descend(level, states, 32, p, node, n);
        break;
    case 64:
        level_descend(level, states, 64, p, node, n);
        break;
    case 128:
        level_descend(level, states, 128, p, node, n);
        break;
    default:
        level_descend(level, states, 256, p, node, n);
    }
}

/* Rows g + 1 to 14 - g of the next generation. The last vector may extend beyond. */
static void states_generation(const struct life_lookups *lookups, const unsigned char *cell,
                              unsigned char *next, int g)
{
    const int first = (g + 1) * TILE_SIDE, cells = TILE - 2 * first,
              n = (cells + (int)sizeof(bytes) - 1) / (int)sizeof(bytes);
    bytes node[TILE_VECTORS];
    memset(node, 0, sizeof node);
    for (int d = 0; d < lookups->levels; d++) {
        const struct life_lookups_level *level = &lookups->level[d];
        const unsigned char *p =
            cell + first + (level->place / 3 - 1) * TILE_SIDE + level->place % 3 - 1;
        if (level->states <= 16)
            level_descend_states(level, 16, p, node, n);
        else if (level->states <= 64)
            level_descend_states(level, 64, p, node, n);
        else
            level_descend_states(level, 256, p, node, n);
    }
    for (int i = 0; i < n; i++)
        bytes_store(next + first + i * (int)sizeof(bytes), node[i]);
}

void LOOKUPS_STATES(const struct life_lookups *lookups, unsigned char cell[TILE], int generations)
{
    unsigned char padded[2][TILE_PAD + TILE + sizeof(bytes)] = {{0}};
    memcpy(padded[0] + TILE_PAD, cell, TILE);
    for (int g = 0; g < generations; g++)
        states_generation(lookups, padded[g & 1] + TILE_PAD, padded[1 - (g & 1)] + TILE_PAD, g);
    memcpy(cell, padded[generations & 1] + TILE_PAD, TILE);
}
