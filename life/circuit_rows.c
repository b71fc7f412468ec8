/* circuit_rows.c - evaluates a circuit for rows of cells; compiled once for each set of
 * instructions.
 *
 * Each step computes all vectors of a block before the next step begins, so that decoding a step
 * costs little. A block's slots stay in the first-level cache.
 * SPDX-License-Identifier: MIT
 */
#include "life/circuit_rows.h"
#include "life/vectors.h"

#include <stdint.h>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define CIRCUIT_ROWS LIFE_OF_SET(circuit_rows)

typedef uint64_t lanes __attribute__((vector_size(VECTOR_BYTES), aligned(8), may_alias));
typedef uint64_t lanes_in_memory __attribute__((vector_size(VECTOR_BYTES), aligned(1), may_alias));

/* A function of three bits: bit 4 a + 2 b + c of t. */
#ifdef __AVX512F__
#define OF_THREE(a, b, c, t)                                                                       \
    ((lanes)_mm512_ternarylogic_epi64((__m512i)(a), (__m512i)(b), (__m512i)(c), t))
#else
#define OF_THREE(a, b, c, t) of_three(a, b, c, t)
#define OPERATION static inline __attribute__((always_inline)) lanes

/* A function of two bits: bit 2 b + c of t. */
OPERATION of_two(lanes b, lanes c, unsigned t)
{
    switch (t) {
    case 0:
        return b ^ b;
    case 1:
        return ~(b | c);
    case 2:
        return ~b & c;
    case 3:
        return ~b;
    case 4:
        return b & ~c;
    case 5:
        return ~c;
    case 6:
        return b ^ c;
    case 7:
        return ~(b & c);
    case 8:
        return b & c;
    case 9:
        return ~(b ^ c);
    case 10:
        return c;
    case 11:
        return ~b | c;
    case 12:
        return b;
    case 13:
        return b | ~c;
    case 14:
        return b | c;
    default:
        return ~(b ^ b);
    }
}

OPERATION of_three(lanes a, lanes b, lanes c, unsigned t)
{
    return of_two(b, c, t & 15) ^ (a & of_two(b, c, (t ^ t >> 4) & 15));
}
#endif

/* Not checked by UBSan: there is nothing to check, and 256 cases would compile for minutes. */
__attribute__((no_sanitize("undefined"))) static void circuit_step(unsigned table,
                                                                   const lanes_in_memory *a,
                                                                   const lanes_in_memory *b,
                                                                   const lanes_in_memory *c,
                                                                   lanes_in_memory *out, size_t n)
{
#define CASE(t)                                                                                    \
    case t:                                                                                        \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = OF_THREE(a[i], b[i], c[i], t);                                                \
        break;
#define CASES(t) CASE(t) CASE((t) + 1) CASE((t) + 2) CASE((t) + 3)
#define MORE_CASES(t) CASES(t) CASES((t) + 4) CASES((t) + 8) CASES((t) + 12)
#define MOST_CASES(t) MORE_CASES(t) MORE_CASES((t) + 16) MORE_CASES((t) + 32) MORE_CASES((t) + 48)
    switch (table) {
        MOST_CASES(0)
        MOST_CASES(64)
        MOST_CASES(128)
        MOST_CASES(192)
    }
}

void CIRCUIT_ROWS(const struct circuit_code *code, const void *const cell[LIFE_BLOCK_CELLS],
                  void *next, size_t bytes)
{
    enum { VECTORS = CIRCUIT_BLOCK / VECTOR_BYTES };
    lanes slot[LIFE_CIRCUIT_STEPS][VECTORS];
    const lanes_in_memory *from[LIFE_BLOCK_CELLS + LIFE_CIRCUIT_STEPS];
    const size_t n = (bytes + VECTOR_BYTES - 1) / VECTOR_BYTES;
    for (int i = 0; i < LIFE_BLOCK_CELLS; i++)
        from[i] = cell[i];
    for (int i = 0; i < code->slots; i++)
        from[LIFE_BLOCK_CELLS + i] = (const lanes_in_memory *)slot[i];
    for (int i = 0; i < code->steps; i++) {
        const unsigned char *in = code->step[i].in;
        lanes_in_memory *out =
            i + 1 < code->steps ? (lanes_in_memory *)slot[code->step[i].out] : next;
        circuit_step(code->step[i].table, from[in[0]], from[in[1]], from[in[2]], out, n);
    }
}
