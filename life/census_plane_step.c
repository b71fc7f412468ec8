/* census_plane_step.c - a step of the plane, compiled once for each set of instructions.
 *
 * Runs of dirty tiles are gathered into a batch of rows, each run with four rows of its neighbours
 * above and below, and each word with four cells of the strips to the west and the east. The batch
 * advances as a whole, one generation after another. Wrong cells enter each run from its ends, a
 * cell a generation, and reach no tile within a step. The tiles are then compared with their
 * previous cells, and stored.
 * SPDX-License-Identifier: MIT
 */
#include "life/census_plane.h"
#include "life/vectors.h"

#include <string.h>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#define CENSUS_PLANE_STEP LIFE_OF_SET(census_plane_step)

enum {
    LANES = VECTOR_BYTES / 4,
    MOST_RUN = 62, /* tiles: masks of a run have a bit for a tile above and one below */
    MOST_RUNS = PLANE_BATCH / (2 * PLANE_TILE)
};
typedef uint32_t rows __attribute__((vector_size(VECTOR_BYTES)));
typedef uint32_t rows_in_memory
    __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(uint32_t)), may_alias));
typedef uint64_t tile_in_memory
    __attribute__((vector_size(4 * PLANE_TILE), aligned(sizeof(uint32_t)), may_alias));

static inline rows rows_load(const uint32_t *p)
{
    return *(const rows_in_memory *)p;
}

static inline void rows_store(uint32_t *p, rows r)
{
    *(rows_in_memory *)p = r;
}

/* ---- A generation. --------------------------------------------------------------------------- */

#ifdef __AVX512F__
#define TERNARY(a, b, c, table)                                                                    \
    ((rows)_mm512_ternarylogic_epi32((__m512i)(a), (__m512i)(b), (__m512i)(c), table))
#define SUM(a, b, c) TERNARY(a, b, c, 0x96)
#define CARRY(a, b, c) TERNARY(a, b, c, 0xe8)
#define CHOOSE(which, one, zero) TERNARY(which, one, zero, 0xca)
#else
#define SUM(a, b, c) ((a) ^ (b) ^ (c))
#define CARRY(a, b, c) (((a) & (b)) | ((c) & ((a) ^ (b))))
#define CHOOSE(which, one, zero) ((zero) ^ ((which) & ((one) ^ (zero))))
#endif

/* The sums of blocks of 3 x 3: bit + 2 (carry + low) + 4 high, where low + 2 high is the sum of the
 * three columns' carries. */
struct block_sums {
    rows bit, carry, low, high, cell;
};

static inline struct block_sums sum_blocks(const uint32_t *row)
{
    const rows above = rows_load(row - 1), cell = rows_load(row), below = rows_load(row + 1);
    const rows s = SUM(above, cell, below), m = CARRY(above, cell, below);
    const rows sw = s << 1, se = s >> 1, mw = m << 1, me = m >> 1;
    return (struct block_sums){SUM(sw, s, se), CARRY(sw, s, se), SUM(mw, m, me), CARRY(mw, m, me),
                               cell};
}

/* B3/S23: blocks of three cells, and live cells in blocks of four. */
static inline rows next_of_life(struct block_sums b)
{
#ifdef __AVX512F__
    const rows three = TERNARY(b.carry, b.low, b.high, 0x14), /* one of the twos */
        four = TERNARY(b.carry, b.low, b.high, 0x42);         /* two of them */
    return CHOOSE(b.bit, three, b.cell & four);
#else
    const rows odd = b.carry ^ b.low, three = odd & ~b.high, four = ~odd & (b.carry ^ b.high);
    return CHOOSE(b.bit, three, b.cell & four);
#endif
}

static inline rows next_of_rule(struct block_sums b, const struct plane_rule *rule)
{
    const rows two = b.carry ^ b.low, both = b.carry & b.low, four = both ^ b.high,
               eight = both & b.high;
    rows pair[5];
    for (int i = 0; i < 5; i++) {
        const uint32_t(*next)[2] = rule->next + 2 * i;
        pair[i] = CHOOSE(b.bit, CHOOSE(b.cell, (rows){0} + next[1][1], (rows){0} + next[1][0]),
                         CHOOSE(b.cell, (rows){0} + next[0][1], (rows){0} + next[0][0]));
    }
    const rows low = CHOOSE(two, pair[1], pair[0]), high = CHOOSE(two, pair[3], pair[2]);
    return CHOOSE(eight, pair[4], CHOOSE(four, high, low));
}

/* Advance rows by the rule's circuit, a block at a time. */
static void advance_circuit(const uint32_t *from, uint32_t *to, size_t n,
                            const struct plane_rule *rule)
{
    enum { BLOCK = CIRCUIT_BLOCK / sizeof(uint32_t) };
    uint32_t left[BLOCK + 2 * LANES], right[BLOCK + 2 * LANES]; /* rows from i - 1 on */
    for (size_t i = 0; i < n; i += BLOCK) {
        const size_t rest = n - i < BLOCK ? n - i : BLOCK;
        for (size_t j = 0; j < rest + 2; j += LANES) {
            const rows cell = rows_load(from + i + j - 1);
            rows_store(left + j, cell << 1);
            rows_store(right + j, cell >> 1);
        }
        const uint32_t *const cell = from + i;
        rule->rows(rule->code,
                   (const void *const[]){left, cell - 1, right, left + 1, cell, right + 1, left + 2,
                                         cell + 1, right + 2},
                   to + i, rest * sizeof *to);
    }
}

static void advance_rows(const uint32_t *from, uint32_t *to, size_t n,
                         const struct plane_rule *rule)
{
    if (rule->code)
        advance_circuit(from, to, n, rule);
    else if (rule->life)
        for (size_t i = 0; i < n; i += LANES)
            rows_store(to + i, next_of_life(sum_blocks(from + i)));
    else
        for (size_t i = 0; i < n; i += LANES)
            rows_store(to + i, next_of_rule(sum_blocks(from + i), rule));
}

/* ---- Batches. -------------------------------------------------------------------------------- */

struct plane_run {
    int strip, first, tiles;
    size_t row; /* of the batch */
};
struct plane_batch {
    struct plane_run run[MOST_RUNS];
    size_t runs, rows;
};

static void batch_gather(struct census_plane *p, struct plane_batch *b, int strip, int first,
                         int tiles)
{
    const uint32_t *from = p->copy[PLANE_NOW] + (size_t)strip * PLANE_STRIDE +
                           (size_t)(first * PLANE_TILE - PLANE_STEP);
    uint32_t *to = p->batch[0] + PLANE_PAD + b->rows;
    const size_t n = (size_t)(tiles + 1) * PLANE_TILE;
    for (size_t i = 0; i < n; i += LANES) {
        const rows west = rows_load(from + i - PLANE_STRIDE) >> PLANE_COLUMNS,
                   east = rows_load(from + i + PLANE_STRIDE) << PLANE_COLUMNS;
        rows_store(to + i, rows_load(from + i) | west | east);
    }
    b->run[b->runs++] = (struct plane_run){strip, first, tiles, b->rows};
    b->rows += n;
}

/* Add tiles of a strip: bit i of `tiles` is tile first - 1 + i. */
static void add_tiles(plane_tiles *to, int strip, int first, uint64_t tiles)
{
    const unsigned base = (unsigned)first - 1, shift = base % 64;
    uint64_t *mask = (*to)[strip] + base / 64;
    mask[0] |= tiles << shift;
    if (shift && tiles >> (64 - shift))
        mask[1] |= tiles >> (64 - shift);
}

static void add_dirty(struct census_plane *p, int strip, int first, uint64_t tiles)
{
    if (!tiles)
        return;
    add_tiles(p->dirty_next, strip, first, tiles);
    p->busy[strip / 64] |= (uint64_t)1 << strip % 64;
}

/* Places of a tile's changed cells: anywhere, in its upper or lower four rows, in its four western
 * or eastern columns. */
struct tile_changes {
    bool any, above, below, west, east;
};

#ifdef __AVX2__
/* A bit for each row of a tile that has one of the bits of `cells`. */
static inline unsigned rows_with(tile_in_memory tile, uint32_t cells)
{
    const __m256i mask = _mm256_set1_epi32((int)cells);
#ifdef __AVX512F__
    return _mm256_test_epi32_mask((__m256i)tile, mask);
#else
    const __m256i none = _mm256_cmpeq_epi32((__m256i)tile & mask, _mm256_setzero_si256());
    return 255 & ~(unsigned)_mm256_movemask_ps((__m256)none);
#endif
}

static inline struct tile_changes find_changes(tile_in_memory d)
{
    const unsigned any = rows_with(d, PLANE_CELLS);
    return (struct tile_changes){any != 0, (any & 0x0f) != 0, (any & 0xf0) != 0,
                                 rows_with(d, 15u << PLANE_STEP) != 0,
                                 rows_with(d, 15u << PLANE_COLUMNS) != 0};
}
#else
static inline struct tile_changes find_changes(tile_in_memory d)
{
    const uint64_t pair = (uint64_t)1 << 32 | 1, top = d[0] | d[1], bottom = d[2] | d[3],
                   any = top | bottom;
    return (struct tile_changes){any != 0, top != 0, bottom != 0,
                                 (any & (15 * pair << PLANE_STEP)) != 0,
                                 (any & (15 * pair << PLANE_COLUMNS)) != 0};
}
#endif

/* Store a run's tiles, and make dirty what its changed cells reach. A branch on a changed tile is
 * often mispredicted, so the code for AVX2 has none. Without AVX2 the masks cost more than the
 * branch. */
static void batch_scatter(struct census_plane *p, const uint32_t *batch,
                          const struct plane_run *run)
{
    const uint64_t cells = (uint64_t)PLANE_CELLS << 32 | PLANE_CELLS;
    const size_t at = (size_t)run->strip * PLANE_STRIDE + (size_t)(run->first * PLANE_TILE);
    const uint32_t *from = batch + run->row + PLANE_STEP, *now = p->copy[PLANE_NOW] + at;
    uint32_t *to = p->copy[PLANE_NEXT] + at;
    uint64_t changed = 0, above = 0, below = 0, westwards = 0, eastwards = 0;
    for (int i = 0; i < run->tiles; i++) {
        const tile_in_memory tile = *(const tile_in_memory *)(from + i * PLANE_TILE) & cells,
                             d = tile ^ *(const tile_in_memory *)(now + i * PLANE_TILE);
        *(tile_in_memory *)(to + i * PLANE_TILE) = tile;
        const struct tile_changes c = find_changes(d);
        const int bit = i + 1;
#ifndef __AVX2__
        if (!c.any)
            continue;
#endif
        changed |= (uint64_t)c.any << bit;
        above |= (uint64_t)c.above << bit;
        below |= (uint64_t)c.below << bit;
        westwards |= (uint64_t)c.west << bit;
        eastwards |= (uint64_t)c.east << bit;
    }
    if (!changed)
        return;
    add_tiles(&p->used, run->strip, run->first, changed);
    add_dirty(p, run->strip, run->first, changed | above >> 1 | below << 1);
    add_dirty(p, run->strip - 1, run->first,
              westwards | (westwards & above) >> 1 | (westwards & below) << 1);
    add_dirty(p, run->strip + 1, run->first,
              eastwards | (eastwards & above) >> 1 | (eastwards & below) << 1);
    p->touched |= run->strip <= p->strip_low || run->strip >= p->strip_high ||
                  run->first <= p->tile_low || run->first + run->tiles > p->tile_high;
}

static void batch_compute(struct census_plane *p, struct plane_batch *b,
                          const struct plane_rule *rule, int generations)
{
    uint32_t *from = p->batch[0] + PLANE_PAD, *to = p->batch[1] + PLANE_PAD;
    for (int g = 0; g < generations; g++) {
        advance_rows(from, to, b->rows, rule);
        uint32_t *t = from;
        from = to;
        to = t;
    }
    for (size_t i = 0; i < b->runs; i++)
        batch_scatter(p, from, &b->run[i]);
    b->runs = b->rows = 0;
}

bool CENSUS_PLANE_STEP(struct census_plane *p, const struct plane_rule *rule, int generations)
{
    struct plane_batch b = {.runs = 0};
    const uint64_t busy[2] = {p->busy[0], p->busy[1]};
    p->busy[0] = p->busy[1] = 0;
    for (int half = 0; half < 2; half++)
        for (uint64_t strips = busy[half]; strips; strips &= strips - 1) {
            const int strip = 64 * half + __builtin_ctzll(strips);
            uint64_t *masks = (*p->dirty)[strip];
            for (int m = p->mask_low; m <= p->mask_high; m++)
                while (masks[m]) {
                    const int first = __builtin_ctzll(masks[m]);
                    const uint64_t ends = ~(masks[m] >> first);
                    int tiles = ends ? __builtin_ctzll(ends) : 64;
                    tiles = tiles > MOST_RUN ? MOST_RUN : tiles;
                    masks[m] &= ~((((uint64_t)1 << tiles) - 1) << first);
                    if (b.rows + (size_t)(tiles + 1) * PLANE_TILE > PLANE_BATCH)
                        batch_compute(p, &b, rule, generations);
                    batch_gather(p, &b, strip, 64 * m + first, tiles);
                }
        }
    batch_compute(p, &b, rule, generations);
    uint32_t *now = p->copy[PLANE_NOW];
    p->copy[PLANE_NOW] = p->copy[PLANE_NEXT];
    p->copy[PLANE_NEXT] = now;
    plane_tiles *dirty = p->dirty;
    p->dirty = p->dirty_next;
    p->dirty_next = dirty;
    return p->busy[0] || p->busy[1];
}
