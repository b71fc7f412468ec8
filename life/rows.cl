/* rows.cl - packed Life for CPUs: a work-item is a core, a vector is 512 cells of a row.
 *
 * A tile is a band of rows, of the whole width or of a column of it. A work-item streams the tile's
 * rows from top to bottom through a pipeline of levels; each level is one generation further than
 * the one before. It takes B rows at a time, a block. A row of a level needs three rows of the
 * level before: the same row, the one above and the one below. The one below comes last, so each
 * level lags behind the level before it by one row:
 *
 *      block j of level 0, from memory        rows  y     .. y + B - 1         y = first - G + B j
 *      block j of level 1                     rows  y - 1 .. y + B - 2         G: generations of
 *      this pass
 *      ...                                                                     first: the band's
 *                                                                              first row
 *      block j of level G, to memory          rows  y - G .. y - G + B - 1
 *
 * Example: B = 8, G = 32 and a band that begins at row 100. Block 5 of level 0 is rows 100 - 32 +
 * 40 = 108 .. 115, that of level 3 rows 105 .. 112, and that of level 32 rows 76 .. 83. These last
 * rows lie above the band and are not stored; they are wrong, since rows above 68 were never
 * loaded. The first block of level 32 that is stored is block 8, rows 100 .. 107.
 *
 * Between two blocks a level has to keep its last two rows only. These live in `carry`, twice,
 * since the old ones are still read while the new ones are written: block j writes those of parity
 * j & 1. The other B - 2 rows of a block pass through `flow`, of which there are two: one that a
 * level reads, one that it writes. In local memory:
 *
 *      | flow 0    | flow 1    | carry of level 0  | carry of level 1  | ... | carry of level G  |
 *      | B - 2     | B - 2     | even 2, odd 2     | even 2, odd 2     |     | even 2, odd 2     |
 *      rows
 *
 * Example, in rows of this memory, with B = 8: block 5 of level 3 has its rows 0 .. 5 in flow 1,
 * which is 6 .. 11, and its rows 6 and 7 in the odd carry of level 3, which is 12 + 4 * 3 + 2 = 26
 * and 27.
 *
 * So a whole pipeline of 32 generations of rows of 1,024 cells fits the first-level cache, and
 * memory is touched once in so many generations.
 *
 * A row in local memory, in words of 64 cells (V vectors of LANES words):
 *
 *      | padding: LANES - 1 words, ghost | word 0 .. LANES - 1 | ... | .. word V LANES - 1 |
 *      padding of the next row ...
 *
 * A cell's neighbours to the left and right are had by funnel shifts with the vector that starts
 * one word before or after. Where the tile has the torus's whole width, the ghosts around a row's
 * cells are set to the opposite ends after every generation. A tile that is a column of the width
 * has one more word of real cells on either side instead; the outermost of their cells is wrong
 * after the first generation, two after the second, and so on.
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
loose; /* at any word; of vload some compilers make a load for each word */
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

/* Each cell's neighbour to the left (a lower bit, or the top bit of the word before) and right. */
#if FUNNEL && LANES == 8 && defined(__AVX512F__)
static inline vec left_of(vec w, vec before)
{
    vec out;
    __asm("vpshldq $1, %2, %1, %0" : "=v"(out) : "v"(w), "v"(before));
    return out;
}
static inline vec right_of(vec w, vec after)
{
    vec out;
    __asm("vpshrdq $1, %2, %1, %0" : "=v"(out) : "v"(w), "v"(after));
    return out;
}
#else
static inline vec left_of(vec w, vec before)
{
    return w << 1 | before >> 63;
}
static inline vec right_of(vec w, vec after)
{
    return w >> 1 | after << 63;
}
#endif

/* A row's cells and the sums 2 m + s of each with its two neighbours. For a rule that looks at the
 * places of neighbours, BLOCK_RULE, which circuit.c writes, s and m are not sums but the neighbours
 * to the left and right. */
struct sums {
    vec cell, s, m;
};

static inline struct sums add_row(__local const ulong *p)
{
    const vec cell = ALIGNED(p), l = left_of(cell, LOOSE(p - 1)), r = right_of(cell, LOOSE(p + 1));
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
static inline vec next_row(struct sums x, struct sums y, struct sums z, vec cell)
{
    NEXT_STATE(next, x.s, x.m, y.s, y.m, z.s, z.m, cell);
    return next;
}
#endif

/* ---- The tile. ------------------------------------------------------------------------------- */

/* What a work-item works on. Rows are counted within the device's share, words within the grid's
 * rows. */
struct tile {
    /* The same for all tiles: */
    int words, width;           /* of a row of the grid, in words and in cells */
    int rows;                   /* of the share */
    int wrap;                   /* rows beyond the share are those at its other end */
    int dead_above, dead_below; /* rows beyond it are dead (a plane's edge) */
    int own_words, own_rows;    /* what a tile stores, at most */
    int stride;                 /* words from row to row in local memory */
    /* Of this tile: */
    int first, end;    /* it stores rows first .. end - 1, */
    int store, stored; /* and of each so many words (`stored`) from word `store` on */
    int column,
        count;   /* it loads `count` words of each row, from word `column` on, which may be -1 */
    int whole;   /* it loads whole rows */
    int vectors; /* so many hold the words of a row */
};

/* Makes t the tile in column x, band y. */
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

/* 64 cells of a row from any place on, the row repeated without end. */
static inline ulong cells_from(__global const ulong *row, long x, int width)
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
    return from + (y < 0 ? 0
                         : (long)(t->rows - 1) *
                               t->words); /* dead, or what is next to it does not count */
}

static inline int is_dead(const struct tile *t, int y)
{
    return (y < 0 && t->dead_above) || (y >= t->rows && t->dead_below);
}

/* Sets what lies around a row's cells to what the next generation needs there. */
static inline void mend_row(const struct tile *t, __local ulong *p, int dead)
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

/* Reads row y of generation 0. */
static inline void load_row(const struct tile *t, __global const ulong *from, int y,
                            __local ulong *p)
{
    __global const ulong *row = row_in_memory(t, from, y);
    const int dead = PLANE && is_dead(t, y);
    /* Whole words of the row: all but those beyond its ends, and the last if it is not full. */
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
                                 : cells_from(row, 64L * (t->column + i), t->width);
    if (!PLANE && first)
        p[0] = cells_from(row, 64L * t->column, t->width);
    mend_row(t, p, dead);
}

/* Writes the words that the tile stores to a row of the grid. */
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

/* Where block j of a level is; odd: j & 1. */
static inline struct block block_of(__local ulong *memory, int level, int odd, int stride)
{
    const struct block b = {memory + (level & 1) * (BLOCK - 2) * stride,
                            memory + (2 * (BLOCK - 2) + 4 * level + 2 * odd) * stride};
    return b;
}

static inline __local ulong *row_of(struct block b, int i, int stride)
{
    return i < BLOCK - 2 ? b.flow + i * stride : b.carry + (i - (BLOCK - 2)) * stride;
}

/* One generation: from the block `in` and the last two rows of the block before it, `old`, to the
 * block `out`. */
static inline void advance(const struct tile *t, __local const ulong *old, struct block in,
                           struct block out)
{
    const int stride = t->stride;
    for (int v = 0; v < t->vectors; v++) {
        const int at = v * LANES;
        struct sums x = add_row(old + at), y = add_row(old + stride + at);
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            struct sums z = add_row(row_of(in, i, stride) + at);
#if IN_ORDER
            ALIGNED(row_of(out, i, stride) + at) = next_in_order(x, y, z);
#else
            /* The three rows may be added in any order. Without three-input instructions, x + y + z
             * is (x + y) + z: rows 2i and 2i + 1 share y + z. */
            ALIGNED(row_of(out, i, stride) + at) =
                i % 2 ? next_row(x, y, z, y.cell) : next_row(y, z, x, y.cell);
#endif
            x = y;
            y = z;
        }
    }
}

/* Takes a tile `generations` generations on. `memory` is aligned, and has a vector's padding before
 * it. */
static inline void advance_tile(const struct tile *t, __global const ulong *from,
                                __global ulong *to, __local ulong *memory, int generations)
{
    const int stride = t->stride;
    const int blocks = (t->end - t->first + 2 * generations + BLOCK - 1) / BLOCK;
    for (int j = 0; j < blocks; j++) {
        const int top = t->first - generations + BLOCK * j, odd = j & 1;
        struct block in = block_of(memory, 0, odd, stride);
        for (int i = 0; i < BLOCK; i++)
            load_row(t, from, top + i, row_of(in, i, stride));
        /* While the pipeline fills, the deep levels have nothing to do yet. */
        const int levels = min(generations, (BLOCK * j + BLOCK - 1) / 2 + 1);
        for (int g = 1; g <= levels; g++) {
            const struct block out = block_of(memory, g, odd, stride);
            advance(t, block_of(memory, g - 1, !odd, stride).carry, in, out);
            for (int i = 0; i < BLOCK; i++)
                mend_row(t, row_of(out, i, stride), PLANE && is_dead(t, top - g + i));
            in = out;
        }
        for (int i = 0; i < BLOCK; i++) {
            const int y = top - generations + i;
            if (y >= t->first && y < t->end)
                store_row(t, row_of(block_of(memory, generations, odd, stride), i, stride),
                          to + (long)y * t->words);
        }
    }
}

/* The rows of local memory, all dead. They begin LANES words into it, aligned; the padding before
 * holds the first row's ghost. What is never loaded, such as padding, is computed with like
 * everything else, and never stored. */
static inline __local ulong *clear_memory(__local ulong *memory, int stride, int generations)
{
    const int words = (2 * (BLOCK - 2) + 4 * (generations + 1)) * stride;
    memory += (-((size_t)memory / sizeof(ulong)) & (LANES - 1)) + LANES;
    for (int i = -LANES; i < words; i++)
        memory[i] = 0;
    return memory;
}

/* ---- The kernels. ---------------------------------------------------------------------------- */

/* A share is columns x bands tiles; each stores own_words words (own_words >= words: the whole
 * width) of own_rows rows. `stride` is a multiple of LANES, at least LANES more than the words that
 * a tile loads. `memory` holds stride * (2 (BLOCK - 2) + 4 (generations + 1)) words and 2 LANES
 * more. generations <= 64 unless the tile has the whole width. Where rows beyond the share are
 * neither wrapped nor dead, as many rows at that end of the result are wrong as it went
 * generations. */

#if !PASSES
/* One pass: item (x, y) takes the tile in column x, band y some generations on. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_rows(
    __global const ulong *from, __global ulong *to, __local ulong *memory, int words, int width,
    int rows, int wrap, int dead_above, int dead_below, int own_words, int own_rows, int stride,
    int generations)
{
    struct tile t = {words, width, rows, wrap, dead_above, dead_below, own_words, own_rows, stride,
                     0,     0,     0,    0,    0,          0,          0,         0};
    place_tile(&t, (int)get_global_id(0), (int)get_global_id(1));
    advance_tile(&t, from, to, clear_memory(memory, stride, generations), generations);
}

#else
/* Many passes in a launch: a launch for each would send cores to sleep and wake them, which takes
 * longer than a pass over a small grid. A pass begins when the one before it is done. Work-items
 * see what others have written because whoever has done a tile counts it with release, and whoever
 * begins a pass has read that count with acquire; a GPU or a compiler without these orders would
 * read old cells.
 *
 * `turns` is what work-items share: how many tiles are done, how many items have left, and of each
 * tile the pass that nobody has taken yet; each in a cache line of its own. All are 0 before a
 * launch, and after it. */
#define DONE 0
#define LEFT 16
#define PASS(tile) (32 + 16 * (tile))

/* Takes a tile in a pass, if nobody else has. */
static inline int take(__global atomic_int *turns, int tile, int pass)
{
    int expected = pass;
    return atomic_load_explicit(turns + PASS(tile), memory_order_relaxed, memory_scope_device) ==
               pass &&
           atomic_compare_exchange_strong_explicit(turns + PASS(tile), &expected, pass + 1,
                                                   memory_order_relaxed, memory_order_relaxed,
                                                   memory_scope_device);
}

/* Waits until so many tiles are done, but not for ever: false after so many looks. */
static inline int await(__global atomic_int *turns, int tiles, long looks)
{
    while (atomic_load_explicit(turns + DONE, memory_order_acquire, memory_scope_device) < tiles)
        if (--looks < 0)
            return 0;
    return 1;
}

/* Leaves; the last item to do so sets everything back to 0. */
static inline void leave(__global atomic_int *turns, int tiles)
{
    if (atomic_fetch_add_explicit(turns + LEFT, 1, memory_order_acq_rel, memory_scope_device) !=
        (int)get_global_size(0) - 1)
        return;
    for (int i = 0; i < tiles; i++)
        atomic_store_explicit(turns + PASS(i), 0, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(turns + DONE, 0, memory_order_relaxed, memory_scope_device);
    atomic_store_explicit(turns + LEFT, 0, memory_order_relaxed, memory_scope_device);
}

/* Takes a share `total` generations on, in passes of `generations` (the last may be less), from
 * `present` to `next` and back. There are as many items as cores. Each takes the same tiles in
 * every pass, which are in its core's cache, and then what others have left. It waits only for
 * tiles that are taken, thus for items at work, so that one which starts late holds nobody up. If
 * that takes as long as dozens of tiles do, it leaves the rest to them: the system may have put
 * both on one core. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_rows_passes(
    __global ulong *present, __global ulong *next, __local ulong *memory, int words, int width,
    int rows, int wrap, int dead_above, int dead_below, int own_words, int own_rows, int stride,
    int generations, __global atomic_int *turns, int columns, int bands, int total)
{
    struct tile t = {words, width, rows, wrap, dead_above, dead_below, own_words, own_rows, stride,
                     0,     0,     0,    0,    0,          0,          0,         0};
    const int tiles = columns * bands, passes = (total + generations - 1) / generations;
    const int mine = (int)((long)get_global_id(0) * tiles / (long)get_global_size(0));
    const long looks =
        64L * own_rows * generations * min(own_words, words) / LANES; /* of some ns each */

    memory = clear_memory(memory, stride, generations);
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < tiles; i++) {
            const int tile = (mine + i) % tiles;
            if (!take(turns, tile, pass))
                continue;
            place_tile(&t, tile % columns, tile / columns);
            advance_tile(&t, pass % 2 ? next : present, pass % 2 ? present : next, memory,
                         min(generations, total - pass * generations));
            atomic_fetch_add_explicit(turns + DONE, 1, memory_order_release, memory_scope_device);
        }
        if (pass + 1 < passes && !await(turns, (pass + 1) * tiles, looks))
            break;
    }
    leave(turns, tiles);
}
#endif
