/* rows.cl - packed Life for CPUs: a work-item is a core, a vector is 512 cells of a row.
 *
 * A tile is a band of rows, of the whole width or of a column of it. A work-item streams the
 * tile's rows from top to bottom through a pipeline of levels, one level a generation. It takes B
 * rows at a time, a block. A row of a level needs three rows of the previous level: the row
 * itself, the one above and the one below. The row below arrives last, so each level lags behind
 * the previous one by one row:
 *
 *      block j of level 0, from memory      rows  y     .. y + B - 1      y = first - G + B j
 *      block j of level 1                   rows  y - 1 .. y + B - 2      G: generations of a pass
 *      ...                                                                first: row of the band
 *      block j of level G, to memory        rows  y - G .. y - G + B - 1
 *
 * Example: B = 8, G = 32 and a band that begins at row 100. Block 5 of level 0 is rows 100 - 32 +
 * 40 = 108 .. 115, block 5 of level 3 is rows 105 .. 112, and block 5 of level 32 is rows 76 ..
 * 83. These last rows lie above the band and are not stored; they are invalid, since rows above 68
 * were never loaded. The first block of level 32 that is stored is block 8, rows 100 .. 107.
 *
 * Between two blocks a level keeps its last two rows. They live in `carry`, which is double-
 * buffered: block j writes the rows of parity j & 1 while the other two are read. The first B - 2
 * rows of a block pass through one of two `flow` buffers: a level reads one and writes the other.
 * In local memory:
 *
 *      | flow 0     | flow 1     | carry, level 0  | carry, level 1  | ... | carry, level G  |
 *      | B - 2 rows | B - 2 rows | even 2, odd 2   | even 2, odd 2   |     | even 2, odd 2   |
 *
 * Example, in rows of this memory, with B = 8: block 5 of level 3 has its rows 0 .. 5 in flow 1,
 * which is 6 .. 11, and its rows 6 and 7 in the odd carry of level 3, which is 12 + 4 * 3 + 2 = 26
 * and 27.
 *
 * A whole pipeline of 32 generations of rows of 1,024 cells fits the first-level cache, and memory
 * is accessed once in 32 generations.
 *
 * A row in local memory, in words of 64 cells (V vectors of LANES words):
 *
 *      | padding: LANES - 1 words, ghost | word 0 .. LANES - 1 | ... | .. word V LANES - 1 |
 *
 * Funnel shifts with the vector that starts one word before or after give a cell's neighbours to
 * the left and right. Where the tile has the torus's whole width, the ghosts around a row's cells
 * are set to the opposite ends after every generation. A tile that is a column of the width has
 * one more word of real cells on either side instead; the outermost of their cells becomes invalid
 * in the first generation, the next one in the second, and so on.
 * SPDX-License-Identifier: MIT
 */

/* ---- Knobs (a tuning row). ------------------------------------------------------------------- */

#ifndef BLOCK
#define BLOCK 8 /* B: rows a level takes at a time; 3 or more */
#endif
#ifndef LANES
#define LANES 8 /* words in a vector: 8 for AVX-512, 4 for AVX2, 2 for 128-bit units */
#endif
#ifndef TERNARY
#define TERNARY 0 /* 1: AVX-512's vpternlog, by the compiler's builtin */
#endif
#ifndef FUNNEL
#define FUNNEL 0 /* 1: AVX-512 VBMI2's vpshld, by inline assembly */
#endif
#ifndef PLANE
#define PLANE 0 /* 0: torus; 1: beyond the edge all is dead */
#endif
#ifndef PASSES
#define PASSES                                                                                     \
    0 /* 1: life_rows_passes instead of life_rows; needs OpenCL C with acquire and release */
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(ulong, LANES) vec;
typedef vec __attribute__((aligned(8)))
loose; /* unaligned; some compilers turn vload into a load for each word */
#define ALIGNED(p) (*(__local vec *)(p))
#define LOOSE(p) (*(__local const loose *)(p))
#define LOOSE_GLOBAL(p) (*(__global const loose *)(p))

/* ---- Logic on vectors. ----------------------------------------------------------------------- */

#ifndef LIFE_TERNARY_H
#include "ternary.h"
#endif
#define WORD vec
#if TERNARY && LANES == 8 && defined(__AVX512F__)
#undef LOGIC
#define LOGIC(out, a, b, c, t)                                                                     \
    const vec out = as_ulong8(                                                                     \
        __builtin_ia32_pternlogq512_mask(as_long8(a), as_long8(b), as_long8(c), t, (uchar)255))
#endif
#define PARITY(out, a, b, c) LOGIC(out, a, b, c, 0x96)   /* the low bit of a + b + c */
#define MAJORITY(out, a, b, c) LOGIC(out, a, b, c, 0xe8) /* the high bit */

/* Each cell's neighbour to the left (a lower bit, or the top bit of the word before) and to the
 * right. */
#if FUNNEL && LANES == 8 && defined(__AVX512F__)
static inline vec rows_left(vec w, vec before)
{
    vec out;
    __asm("vpshldq $1, %2, %1, %0" : "=v"(out) : "v"(w), "v"(before));
    return out;
}
static inline vec rows_right(vec w, vec after)
{
    vec out;
    __asm("vpshrdq $1, %2, %1, %0" : "=v"(out) : "v"(w), "v"(after));
    return out;
}
#else
static inline vec rows_left(vec w, vec before)
{
    return w << 1 | before >> 63;
}
static inline vec rows_right(vec w, vec after)
{
    return w >> 1 | after << 63;
}
#endif

/* A row's cells and the sums 2 m + s of each cell and its two neighbours. With BLOCK_RULE, a
 * circuit of the nine cells written by circuit.c, s and m are the left and right neighbours
 * instead. */
struct sums {
    vec cell, s, m;
};

static inline struct sums rows_sum(__local const ulong *p)
{
    const vec cell = ALIGNED(p), l = rows_left(cell, LOOSE(p - 1)),
              r = rows_right(cell, LOOSE(p + 1));
#ifdef BLOCK_RULE
    const struct sums a = {cell, l, r};
#else
    PARITY(s, l, cell, r);
    MAJORITY(m, l, cell, r);
    const struct sums a = {cell, s, m};
#endif
    return a;
}

/* The next generation of a row of cells from the sums of its three rows. */
#if defined(BLOCK_RULE) || defined(WHOLE_RULE)
#define IN_ORDER 1
static inline vec next_in_order(struct sums above, struct sums here, struct sums below)
{
#ifdef BLOCK_RULE
    BLOCK_RULE(next, above.s, above.cell, above.m, here.s, here.cell, here.m, below.s, below.cell,
               below.m);
#else
    WHOLE_RULE(next, above.s, above.m, here.s, here.m, below.s, below.m, here.cell);
#endif
    return next;
}
#else
#define IN_ORDER 0
static inline vec rows_next(struct sums x, struct sums y, struct sums z, vec cell)
{
    NEXT_STATE(next, x.s, x.m, y.s, y.m, z.s, z.m, cell);
    return next;
}
#endif

/* ---- The tile. ------------------------------------------------------------------------------- */

/* The tile of a work-item. Rows are numbered within the device's partition, words within the
 * grid's rows. */
struct tile {
    /* Equal for all tiles: */
    int words, width;           /* of a row of the grid, in words and in cells */
    int rows;                   /* of the partition */
    int wrap;                   /* rows beyond the partition wrap around */
    int dead_above, dead_below; /* rows beyond it are dead (a plane's edge) */
    int own_words, own_rows;    /* stored by a tile, at most */
    int stride;                 /* words from row to row in local memory */
    /* Different for each tile: */
    int first, end;    /* it stores rows first .. end - 1, */
    int store, stored; /* `stored` words of each, from word `store` on */
    int column,
        count;   /* it loads `count` words of each row, from word `column` on, which may be -1 */
    int whole;   /* it loads whole rows */
    int vectors; /* vectors of a row */
};

/* Set t to the tile in column x, band y. */
static inline void place_tile(struct tile *t, int x, int y)
{
    t->whole = t->own_words >= t->words;
    t->first = y * t->own_rows;
    t->end = min(t->first + t->own_rows, t->rows);
    t->store = x * t->own_words;
    t->stored = min(t->own_words, t->words - t->store);
    t->column = t->whole ? 0 : t->store - 1;
    t->count = t->whole ? t->words : t->stored + 2;
    t->vectors = (t->count + LANES - 1) / LANES;
}

/* ---- Rows between the grid and local memory. ------------------------------------------------- */

/* 64 cells of a row from column x on, with the row repeated endlessly. */
static inline ulong rows_cells_from(__global const ulong *row, long x, int width)
{
    ulong out = 0;
    int at = (int)((x % width + width) % width);
    for (int got = 0; got < 64;) {
        int n = min(min(64 - at % 64, width - at), 64 - got);
        ulong piece = row[at / 64] >> (at % 64);
        if (n < 64)
            piece &= ((ulong)1 << n) - 1;
        out |= piece << got;
        got += n;
        at = at + n == width ? 0 : at + n;
    }
    return out;
}

static inline __global const ulong *row_in_memory(const struct tile *t, __global const ulong *from,
                                                  int y)
{
    if (y >= 0 && y < t->rows)
        return from + (long)y * t->words;
    if (t->wrap)
        return from + (long)((y % t->rows + t->rows) % t->rows) * t->words;
    return from +
           (y < 0 ? 0 : (long)(t->rows - 1) * t->words); /* dead, or next to it and ignored */
}

static inline int is_dead(const struct tile *t, int y)
{
    return (y < 0 && t->dead_above) || (y >= t->rows && t->dead_below);
}

/* Set the ghosts around a row's cells for the next generation. */
static inline void rows_fill_ghosts(const struct tile *t, __local ulong *p, int dead)
{
    const int rest = t->width % 64,
              last = t->words - 1 - t->column; /* the word of the last cells */
    const ulong mask = rest ? ((ulong)1 << rest) - 1 : ~(ulong)0;
    if (PLANE) {
        if (dead)
            for (int i = 0; i < t->vectors; i++)
                ALIGNED(p + i * LANES) = 0;
        if (t->column <= 0)
            p[-1 - t->column] = 0;
        if (last < t->vectors * LANES) {
            p[last] &= mask;
            p[last + 1] = 0;
        }
    } else if (t->whole) {
        p[last + 1] = p[0];
        if (rest)
            p[last] = (p[last] & mask) | p[0] << rest;
        p[-1] = rest ? p[last] << (64 - rest) : p[last];
    }
}

/* Read row y of generation 0. */
static inline void load_row(const struct tile *t, __global const ulong *from, int y,
                            __local ulong *p)
{
    __global const ulong *row = row_in_memory(t, from, y);
    const int dead = PLANE && is_dead(t, y);
    /* Whole words of the row: all except those beyond its ends and a partial last one. */
    const int first = max(0, -t->column), full = min(t->count, t->width / 64 - t->column);
    int i = first;
    if (dead)
        i = t->count;
    for (; i + LANES <= full; i += LANES)
        JOIN(vstore, LANES)(LOOSE_GLOBAL(row + t->column + i), 0, p + i);
    for (; i < full; i++)
        p[i] = row[t->column + i];
    for (; i < t->count; i++)
        p[i] = t->whole || PLANE ? (t->column + i < t->words ? row[t->column + i] : 0)
                                 : rows_cells_from(row, 64L * (t->column + i), t->width);
    if (!PLANE && first)
        p[0] = rows_cells_from(row, 64L * t->column, t->width);
    rows_fill_ghosts(t, p, dead);
}

/* Write the tile's own words to a row of the grid. */
static inline void store_row(const struct tile *t, __local const ulong *p, __global ulong *row)
{
    const int rest = t->width % 64,
              last = t->words - 1 - t->column; /* the word of the last cells */
    int i = t->store - t->column;
    const int end = i + t->stored;
    const int has_last = rest && last >= i && last < end;
    for (; i + LANES <= end; i += LANES)
        JOIN(vstore, LANES)(LOOSE(p + i), 0, row + t->column + i);
    for (; i < end; i++)
        row[t->column + i] = p[i];
    if (has_last)
        row[t->words - 1] = p[last] & (((ulong)1 << rest) - 1);
}

/* ---- The pipeline. --------------------------------------------------------------------------- */

/* The rows of a level's block: the first B - 2 and the last two. */
struct block {
    __local ulong *flow, *carry;
};

/* Block j of a level; odd: j & 1. */
static inline struct block level_block(__local ulong *memory, int level, int odd, int stride)
{
    const struct block b = {memory + (level & 1) * (BLOCK - 2) * stride,
                            memory + (2 * (BLOCK - 2) + 4 * level + 2 * odd) * stride};
    return b;
}

static inline __local ulong *block_row(struct block b, int i, int stride)
{
    return i < BLOCK - 2 ? b.flow + i * stride : b.carry + (i - (BLOCK - 2)) * stride;
}

/* Compute one generation: from the block `in` and the last two rows `old` of the previous block to
 * the block `out`. */
static inline void pipeline_level(const struct tile *t, __local const ulong *old, struct block in,
                                  struct block out)
{
    const int stride = t->stride;
    for (int v = 0; v < t->vectors; v++) {
        const int at = v * LANES;
        struct sums x = rows_sum(old + at), y = rows_sum(old + stride + at);
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            struct sums z = rows_sum(block_row(in, i, stride) + at);
#if IN_ORDER
            ALIGNED(block_row(out, i, stride) + at) = next_in_order(x, y, z);
#else
            /* The three rows may be added in any order. Without three-input instructions, x + y + z
             * is (x + y) + z: rows 2i and 2i + 1 share y + z. */
            ALIGNED(block_row(out, i, stride) + at) =
                i % 2 ? rows_next(x, y, z, y.cell) : rows_next(y, z, x, y.cell);
#endif
            x = y;
            y = z;
        }
    }
}

/* Advance a tile. `memory` is aligned, with a vector of padding before it. */
static inline void pipeline_tile(const struct tile *t, __global const ulong *from,
                                 __global ulong *to, __local ulong *memory, int generations)
{
    const int stride = t->stride;
    const int blocks = (t->end - t->first + 2 * generations + BLOCK - 1) / BLOCK;
    for (int j = 0; j < blocks; j++) {
        const int top = t->first - generations + BLOCK * j, odd = j & 1;
        struct block in = level_block(memory, 0, odd, stride);
        for (int i = 0; i < BLOCK; i++)
            load_row(t, from, top + i, block_row(in, i, stride));
        /* While the pipeline fills, the deep levels have no input yet. */
        const int levels = min(generations, (BLOCK * j + BLOCK - 1) / 2 + 1);
        for (int g = 1; g <= levels; g++) {
            const struct block out = level_block(memory, g, odd, stride);
            pipeline_level(t, level_block(memory, g - 1, !odd, stride).carry, in, out);
            for (int i = 0; i < BLOCK; i++)
                rows_fill_ghosts(t, block_row(out, i, stride), PLANE && is_dead(t, top - g + i));
            in = out;
        }
        for (int i = 0; i < BLOCK; i++) {
            const int y = top - generations + i;
            if (y >= t->first && y < t->end)
                store_row(t, block_row(level_block(memory, generations, odd, stride), i, stride),
                          to + (long)y * t->words);
        }
    }
}

/* Clear the rows of local memory. They begin LANES words into it, aligned; the padding before
 * holds the first row's ghost. Padding is computed like cells, but never stored. */
static inline __local ulong *clear_memory(__local ulong *memory, int stride, int generations)
{
    const int words = (2 * (BLOCK - 2) + 4 * (generations + 1)) * stride;
    memory += (-((size_t)memory / sizeof(ulong)) & (LANES - 1)) + LANES;
    for (int i = -LANES; i < words; i++)
        memory[i] = 0;
    return memory;
}

/* ---- The kernels. ---------------------------------------------------------------------------- */

/* A partition is columns x bands tiles, each of which stores own_words words (own_words >= words:
 * the whole width) of own_rows rows. `stride` is a multiple of LANES, and at least LANES more than
 * the words that a tile loads. `memory` holds stride * (2 (BLOCK - 2) + 4 (generations + 1)) + 2
 * LANES words. generations <= 64 unless the tile has the whole width. Where rows beyond the
 * partition are neither wrapped nor dead, `generations` rows at that end of the result are
 * invalid. */

#if !PASSES
/* One pass: item (x, y) advances the tile in column x, band y. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_rows(
    __global const ulong *from, __global ulong *to, __local ulong *memory, int words, int width,
    int rows, int wrap, int dead_above, int dead_below, int own_words, int own_rows, int stride,
    int generations)
{
    struct tile t = {words, width, rows, wrap, dead_above, dead_below, own_words, own_rows, stride,
                     0,     0,     0,    0,    0,          0,          0,         0};
    place_tile(&t, (int)get_global_id(0), (int)get_global_id(1));
    pipeline_tile(&t, from, to, clear_memory(memory, stride, generations), generations);
}

#else
/* Many passes in a launch. A launch for each pass would send cores to sleep and wake them, which
 * takes longer than a pass over a small grid. A pass begins when the previous one is done. An item
 * that has done a tile counts it with release order, and an item that begins a pass has read the
 * count with acquire order, which makes the cells visible; a device or compiler without these
 * orders would read old cells.
 *
 * pass_state is shared by the work-items: the number of tiles done, the number of items that have
 * left, and for each tile its next pass, each in a cache line of its own. All are 0 before and
 * after a launch. */
#define DONE 0
#define LEFT 16
#define PASS(tile) (32 + 16 * (tile))

/* Claim a tile for a pass. False if another item has claimed it. */
static inline int pass_take(__global atomic_int *pass_state, int tile, int pass)
{
    int expected = pass;
    return atomic_load_explicit(pass_state + PASS(tile), memory_order_relaxed,
                                memory_scope_device) == pass &&
           atomic_compare_exchange_strong_explicit(pass_state + PASS(tile), &expected, pass + 1,
                                                   memory_order_relaxed, memory_order_relaxed,
                                                   memory_scope_device);
}

/* Block until `tiles` tiles are done. False on timeout, after `polls` polls. */
static inline int pass_wait(__global atomic_int *pass_state, int tiles, long polls)
{
    while (atomic_load_explicit(pass_state + DONE, memory_order_acquire, memory_scope_device) <
           tiles)
        if (--polls < 0)
            return 0;
    return 1;
}

/* Leave; the last item to leave resets the state to 0. */
static inline void pass_leave(__global atomic_int *pass_state, int tiles)
{
    if (atomic_fetch_add_explicit(pass_state + LEFT, 1, memory_order_acq_rel,
                                  memory_scope_device) != (int)get_global_size(0) - 1)
        return;
    for (int i = 0; i < tiles; i++)
        atomic_store_explicit(pass_state + PASS(i), 0, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(pass_state + DONE, 0, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(pass_state + LEFT, 0, memory_order_relaxed, memory_scope_device);
}

/* Advance a partition by `total` generations, in passes of `generations` (the last may have
 * fewer), from `present` to `next` and back. There are as many items as cores. Each item takes its
 * own tiles first in every pass, which are in its core's cache, and then any that are left. It
 * waits only for claimed tiles, thus for running items, so an item that starts late delays none.
 * An item that has waited as long as dozens of tiles take leaves the rest to the others: the
 * system may have put two items on one core. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_rows_passes(
    __global ulong *present, __global ulong *next, __local ulong *memory, int words, int width,
    int rows, int wrap, int dead_above, int dead_below, int own_words, int own_rows, int stride,
    int generations, __global atomic_int *pass_state, int columns, int bands, int total)
{
    struct tile t = {words, width, rows, wrap, dead_above, dead_below, own_words, own_rows, stride,
                     0,     0,     0,    0,    0,          0,          0,         0};
    const int tiles = columns * bands, passes = (total + generations - 1) / generations;
    const int mine = (int)((long)get_global_id(0) * tiles / (long)get_global_size(0));
    const long polls =
        64L * own_rows * generations * min(own_words, words) / LANES; /* some ns each */

    memory = clear_memory(memory, stride, generations);
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < tiles; i++) {
            const int tile = (mine + i) % tiles;
            if (!pass_take(pass_state, tile, pass))
                continue;
            place_tile(&t, tile % columns, tile / columns);
            pipeline_tile(&t, pass % 2 ? next : present, pass % 2 ? present : next, memory,
                          min(generations, total - pass * generations));
            atomic_fetch_add_explicit(pass_state + DONE, 1, memory_order_release,
                                      memory_scope_device);
        }
        if (pass + 1 < passes && !pass_wait(pass_state, (pass + 1) * tiles, polls))
            break;
    }
    pass_leave(pass_state, tiles);
}
#endif
