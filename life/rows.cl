/* rows.cl - packed Life for CPUs: a work-item is a core, a vector is 512 cells of a row.
 *
 * A work-item owns a tile: a band of rows, all columns or a stretch of them. It streams its rows from
 * the top through a pipeline of GENERATIONS levels, B rows at a time, and every level is one
 * generation further. A row of a level depends on three rows of the level before, so level g trails by
 * g rows:
 *
 *      block j of level 0 = from memory      rows  a .. a+B-1        a = first - GENERATIONS + B j
 *      block j of level 1                    rows  a-1 .. a+B-2
 *      ...
 *      block j of level G -> to memory       rows  a-G .. a-G+B-1
 *
 * Between blocks a level must remember its last two rows only. These live in `carry`, twice, since the
 * old ones are still read while the new ones are written; the other B - 2 rows pass through `flow`,
 * which two neighbouring levels share. So a whole pipeline of 32 generations of a row of 1,024 cells
 * fits the first-level cache, and memory is touched once in so many generations.
 *
 * A row in the tile, in words of 64 cells:
 *
 *      | pad: 7 words, ghost | word 0 .. 7 | ... | word 8 V - 8 .. 8 V - 1 | pad of the next row ...
 *
 * A cell's neighbours to the left and right are had by funnel shifts with the vector that starts one
 * word before or after. On a torus whose whole width is in the tile, the ghosts around the row's cells are
 * set to the opposite ends after every generation; a tile that is a stretch of the width has instead
 * a word of real cells more on either side, which decays by one cell a generation from its outer end.
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
#ifndef STEPS /* the rule as a chain of logic operations, from logic.c: step i makes a bit of bits Ai, Bi
                 and Ci by the truth table Ti; this is B3/S23 */
#define STEPS 3
#define A0 0
#define B0 1
#define C0 3
#define T0 0x16
#define A1 2
#define B1 3
#define C1 5
#define T1 0x29
#define A2 6
#define B2 0
#define C2 4
#define T2 0xe0
#endif

/* The bit that the last step made. */
#define LAST_1 v5
#define LAST_2 v6
#define LAST_3 v7
#define LAST_4 v8
#define LAST_5 v9
#define LAST_6 v10
#define LAST_7 v11
#define LAST_8 v12
#define LAST_9 v13
#define LAST_10 v14
#define LAST_11 v15
#define LAST_12 v16
#define LAST_13 v17
#define LAST_14 v18
#define RESULT_(n) LAST_##n
#define RESULT(n) RESULT_(n)

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
typedef JOIN(ulong, LANES) vec;
typedef vec __attribute__((aligned(8))) loose; /* at any word: vload would be taken apart by some compilers */
#define ALIGNED(p) (*(__local vec *)(p))
#define LOOSE(p) (*(__local const loose *)(p))
#define LOOSE_GLOBAL(p) (*(__global const loose *)(p))

/* ---- Logic on vectors. ----------------------------------------------------------------------- */

/* Any function of three bits; t is its truth table, index a << 2 | b << 1 | c. */
#if TERNARY && LANES == 8 && defined(__AVX512F__)
#define LOGIC(a, b, c, t) \
    as_ulong8(__builtin_ia32_pternlogq512_mask(as_long8(a), as_long8(b), as_long8(c), t, (uchar)255))
#else
#define BIT(t, i) ((vec)(ulong)(-(long)((t) >> (i)&1)))
#define OF2(b, c, t) /* a function of two bits; constants fold */ \
    ((t) == 0 ? (vec)0 : (t) == 15 ? ~(vec)0 : (t) == 12 ? (b) : (t) == 10 ? (c) : (t) == 3 ? ~(b) \
     : (t) == 5 ? ~(c) : (t) == 6 ? (b) ^ (c) : (t) == 9 ? ~((b) ^ (c)) : (t) == 8 ? (b) & (c)     \
     : (t) == 14 ? (b) | (c) : (t) == 1 ? ~((b) | (c)) : (t) == 7 ? ~((b) & (c))                   \
     : (t) == 2 ? ~(b) & (c) : (t) == 4 ? (b) & ~(c) : (t) == 11 ? ~(b) | (c) : (b) | ~(c))
#define LOGIC(a, b, c, t)                                                        \
    ((t) == 0x96 ? (a) ^ (b) ^ (c) : (t) == 0xe8 ? ((a) & (b)) | ((c) & ((a) ^ (b))) \
     : (t) >> 4 == ((t)&15) ? OF2(b, c, (t)&15) \
     : ((a) & OF2(b, c, (t) >> 4 & 15)) | (~(a) & OF2(b, c, (t)&15)))
#endif

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
static inline vec left_of(vec w, vec before) { return w << 1 | before >> 63; }
static inline vec right_of(vec w, vec after) { return w >> 1 | after << 63; }
#endif

/* A row's cells and the sums 2 m + s of each with its two neighbours. */
struct sums {
    vec cell, s, m;
};

static inline struct sums add_row(__local const ulong *p)
{
    struct sums a;
    a.cell = ALIGNED(p);
    vec l = left_of(a.cell, LOOSE(p - 1)), r = right_of(a.cell, LOOSE(p + 1));
    a.s = LOGIC(l, a.cell, r, 0x96);
    a.m = LOGIC(l, a.cell, r, 0xe8);
    return a;
}

/* The next generation of a row of cells from the sums x, y and z of its three rows, in any order: bits 0 to 4
 * are b, k, p, q of the sums and the cell, as logic.c has them; then come those of the steps. */
#define STEP_(o, a, b, c, t) const vec v##o = LOGIC(v##a, v##b, v##c, t)
#define STEP(o, a, b, c, t) STEP_(o, a, b, c, t)
static inline vec next_row(struct sums x, struct sums y, struct sums z, vec cell)
{
    const vec v0 = LOGIC(x.s, y.s, z.s, 0x96), v1 = LOGIC(x.s, y.s, z.s, 0xe8);
    const vec v2 = LOGIC(x.m, y.m, z.m, 0x96), v3 = LOGIC(x.m, y.m, z.m, 0xe8);
    const vec v4 = cell;
    STEP(5, A0, B0, C0, T0);
#if STEPS > 1
    STEP(6, A1, B1, C1, T1);
#endif
#if STEPS > 2
    STEP(7, A2, B2, C2, T2);
#endif
#if STEPS > 3
    STEP(8, A3, B3, C3, T3);
#endif
#if STEPS > 4
    STEP(9, A4, B4, C4, T4);
#endif
#if STEPS > 5
    STEP(10, A5, B5, C5, T5);
#endif
#if STEPS > 6
    STEP(11, A6, B6, C6, T6);
#endif
#if STEPS > 7
    STEP(12, A7, B7, C7, T7);
#endif
#if STEPS > 8
    STEP(13, A8, B8, C8, T8);
#endif
#if STEPS > 9
    STEP(14, A9, B9, C9, T9);
#endif
#if STEPS > 10
    STEP(15, A10, B10, C10, T10);
#endif
#if STEPS > 11
    STEP(16, A11, B11, C11, T11);
#endif
#if STEPS > 12
    STEP(17, A12, B12, C12, T12);
#endif
#if STEPS > 13
    STEP(18, A13, B13, C13, T13);
#endif
    return RESULT(STEPS);
}

/* ---- The tile. ------------------------------------------------------------------------------- */

/* Where a work-item works. Rows are counted within the device's strip, words within the grid's rows. */
struct tile {
    __global const ulong *from;
    int words, width;      /* of the grid */
    int rows;              /* of the strip */
    int wrap;              /* rows beyond the strip are those at its other end */
    int dead_above, dead_below; /* rows beyond it are dead (a plane's edge) */
    int column, count;     /* first word (may be -1), words */
    int whole;             /* the tile spans the torus: its ghosts are its own cells */
    int stride, vectors;   /* of a row in local memory */
};

/* A row in the tile: row i of a block whose first B - 2 rows are in flow and the last two in carry. */
static inline __local ulong *block_row(__local ulong *flow, __local ulong *carry, int i, int stride)
{
    return i < BLOCK - 2 ? flow + i * stride : carry + (i - (BLOCK - 2)) * stride;
}

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

static inline __global const ulong *row_in_memory(const struct tile *t, int y)
{
    if (y >= 0 && y < t->rows)
        return t->from + (long)y * t->words;
    if (t->wrap)
        return t->from + (long)((y % t->rows + t->rows) % t->rows) * t->words;
    return t->from + (y < 0 ? 0 : (long)(t->rows - 1) * t->words); /* dead, or what is next to it does not count */
}

static inline int is_dead(const struct tile *t, int y)
{
    return (y < 0 && t->dead_above) || (y >= t->rows && t->dead_below);
}

/* Makes what lies around a row's cells right for the next generation. */
static inline void mend_row(const struct tile *t, __local ulong *p, int dead)
{
    const int rest = t->width % 64, last = t->words - 1 - t->column; /* the word of the last cells */
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
static inline void load_row(const struct tile *t, int y, __local ulong *p)
{
    __global const ulong *row = row_in_memory(t, y);
    const int dead = PLANE && is_dead(t, y);
    /* Words that need no thought: all but those beyond the ends, and the last if it is not full. */
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

/* Writes words first .. first + count - 1 of the tile's row to row y of `to`. */
static inline void store_row(const struct tile *t, __local const ulong *p, __global ulong *row,
                             int first, int count)
{
    const int rest = t->width % 64;
    int i = first, end = first + count, last = t->words - 1 - t->column;
    for (; i + LANES <= end; i += LANES)
        JOIN(vstore, LANES)(LOOSE(p + i), 0, row + t->column + i);
    for (; i < end; i++)
        row[t->column + i] = p[i];
    if (rest && last >= first && last < end)
        row[t->words - 1] = p[last] & (((ulong)1 << rest) - 1);
}

/* One generation of a block: reads its rows and the two before it, writes as many, one row higher. */
static inline void advance(const struct tile *t, __local const ulong *old, __local ulong *in,
                           __local ulong *carry_in, __local ulong *out, __local ulong *carry_out)
{
    const int stride = t->stride;
    for (int v = 0; v < t->vectors; v++) {
        const int at = v * LANES;
        struct sums x = add_row(old + at), y = add_row(old + stride + at);
#pragma unroll
        for (int i = 0; i < BLOCK; i++) {
            struct sums z = add_row(block_row(in, carry_in, i, stride) + at);
            /* Without three-input instructions, x + y + z is (x + y) + z: rows 2i and 2i + 1 share y + z. */
            ALIGNED(block_row(out, carry_out, i, stride) + at) =
                i % 2 ? next_row(x, y, z, y.cell) : next_row(y, z, x, y.cell);
            x = y;
            y = z;
        }
    }
}

/* Takes one tile `generations` generations on. `memory` as life_rows has it, aligned. */
static inline void advance_tile(const struct tile *t, __global ulong *to, __local ulong *memory, int first, int end,
                                int own, int own_words, int generations)
{
    const int stride = t->stride;
    __local ulong *flow[2] = {memory, memory + (BLOCK - 2) * stride};
    __local ulong *carry = memory + 2 * (BLOCK - 2) * stride;
#define CARRY(g, parity) (carry + (4 * (g) + 2 * (parity)) * stride)

    const int blocks = (end - first + 2 * generations + BLOCK - 1) / BLOCK;
    for (int j = 0; j < blocks; j++) {
        const int top = first - generations + BLOCK * j, odd = j & 1;
        for (int i = 0; i < BLOCK; i++)
            load_row(t, top + i, block_row(flow[0], CARRY(0, odd), i, stride));
        /* While the pipeline fills, the deep levels have nothing to do yet. */
        const int levels = min(generations, (BLOCK * j + BLOCK - 1) / 2 + 1);
        for (int g = 1; g <= levels; g++) {
            __local ulong *out = flow[g & 1];
            advance(t, CARRY(g - 1, !odd), flow[~g & 1], CARRY(g - 1, odd), out, CARRY(g, odd));
            for (int i = 0; i < BLOCK; i++)
                mend_row(t, block_row(out, CARRY(g, odd), i, stride), PLANE && is_dead(t, top - g + i));
        }
        for (int i = 0; i < BLOCK; i++) {
            const int y = top - generations + i;
            if (y >= first && y < end)
                store_row(t, block_row(flow[generations & 1], CARRY(generations, odd), i, stride),
                          to + (long)y * t->words, own - t->column, own_words);
        }
    }
}

/* ---- Turns. ---------------------------------------------------------------------------------- */

/* What work-items share: how many tiles are done, how many items have left, and of each tile the pass that nobody has
 * taken yet; each in a cache line of its own. All are 0 before a launch, and after it. */
#define DONE 0
#define LEFT 16
#define PASS(tile) (32 + 16 * (tile))

/* Takes a tile in a pass, if nobody else has. */
static inline int take(__global volatile int *turns, int tile, int pass)
{
    return turns[PASS(tile)] == pass && atomic_cmpxchg(turns + PASS(tile), pass, pass + 1) == pass;
}

/* Waits until so many tiles are done, but not for ever: false after so many looks. */
static inline int await(__global volatile int *turns, int tiles, long looks)
{
    while (turns[DONE] < tiles)
        if (--looks < 0)
            return 0;
    atomic_or(turns + DONE, 0);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return 1;
}

/* Takes a strip `total` generations on, in passes of `generations` (the last may be less), from `present` to `next`
 * and back. Each pass is columns x lines tiles, and begins when the one before is done: a launch for each would send
 * cores to sleep and wake them, which takes longer than a pass of a small grid. Of the items, as many as cores, each
 * takes the same tiles in every pass, which are in its core's cache, and then what others have left. It waits only
 * for tiles that are taken, thus for items at work, so that one which starts late holds nobody up; and if that takes
 * as long as dozens of tiles do, it leaves the rest to them: the system may have put both on one core.
 * `tile_rows` rows of the strip belong to a line, `tile_words` words of a row to a column;
 * tile_words >= words: the whole width. `stride` is a multiple of LANES, at least LANES more than the
 * words of a tile. `memory` holds stride * (2 (BLOCK - 2) + 4 (generations + 1)) words and 2 LANES more.
 * generations <= 64 unless the tile spans the width. Rows beyond the strip are those at its other end (wrap) or
 * dead; where they are neither, `total` rows at that end of the result are wrong. */
__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void life_rows(__global ulong *present, __global ulong *next, __global volatile int *turns,
                        __local ulong *memory, int words, int width, int rows, int wrap, int dead_above,
                        int dead_below, int tile_words, int tile_rows, int columns, int lines, int stride,
                        int generations, int total)
{
    const int tiles = columns * lines, passes = (total + generations - 1) / generations;
    const int whole = tile_words >= words;
    const long looks = 64L * tile_rows * generations * min(tile_words, words) / LANES; /* of some ns each */

    /* Rows begin LANES words into the memory, aligned; the pad before holds the first row's ghost. */
    memory += (-((size_t)memory / sizeof(ulong)) & (LANES - 1)) + LANES;
    const int items = (int)get_global_size(0), mine = (int)((long)get_global_id(0) * tiles / items);
    for (int pass = 0; pass < passes; pass++) {
        for (int i = 0; i < tiles; i++) {
            const int tile = (mine + i) % tiles, column = tile % columns, line = tile / columns;
            if (!take(turns, tile, pass))
                continue;
            const int first = line * tile_rows, end = min(first + tile_rows, rows);
            const int own = column * tile_words; /* first word of its own */
            const int own_words = min(tile_words, words - own);
            const struct tile t = {pass % 2 ? next : present, words, width, rows, wrap, dead_above, dead_below,
                                   whole ? 0 : own - 1, whole ? words : own_words + 2, whole, stride,
                                   ((whole ? words : own_words + 2) + LANES - 1) / LANES};
            advance_tile(&t, pass % 2 ? present : next, memory, first, end, own, own_words,
                         min(generations, total - pass * generations));
            mem_fence(CLK_GLOBAL_MEM_FENCE);
            atomic_inc(turns + DONE);
        }
        if (pass + 1 < passes && !await(turns, (pass + 1) * tiles, looks))
            break;
    }
    if (atomic_inc(turns + LEFT) == items - 1) {
        for (int i = 0; i < tiles; i++)
            turns[PASS(i)] = 0;
        turns[DONE] = turns[LEFT] = 0;
    }
}
