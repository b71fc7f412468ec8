/* tile.cl - packed Life for GPUs: a work-group keeps a tile of the grid in registers for several
 * generations.
 *
 * A work-group is WARPS warps of 32 work-items (warps as on NVIDIA; other devices need not have
 * them). A warp holds ROWS rows of cells. Each row is divided among its items: item i has words
 * WORDS i .. WORDS i + WORDS - 1, of 32 cells each. The warps lie below one another:
 *
 *            item 0     item 1   ...  item 31
 *          +----------+----------+--+----------+
 *   warp 0 | WORDS    |          |  |          |  ROWS rows, all in registers
 *          +----------+----------+--+----------+
 *   warp 1 |          |          |  |          |
 *          +----------+----------+--+----------+
 *
 * A tile is loaded with a halo, and only its inner part is stored. Cells beyond the tile are
 * unknown, so its outermost cells become invalid in the first generation, the next ones in the
 * second, and so on: the halo is as wide as a launch has generations.
 *
 *                 1 word       own_words        1 word
 *               +--------+---------------------+--------+
 *               |  invalid at the end                   |  generations rows, at most 32:
 *               |        +---------------------+        |  the cells of a word
 *               |        |  valid, and stored  |        |  own_rows rows
 *               |        +---------------------+        |
 *               |                                       |  generations rows
 *               +--------+---------------------+--------+
 *
 * With ITEMS 16, 8 or 4 a warp has 2, 4 or 8 parts below one another, each of ITEMS items. Tiles
 * are narrower and taller, with a smaller fraction of halo, which suits small grids on many
 * processors.
 *
 * Where the tile's width is a multiple of the torus's (`whole`), the last item and item 0 are
 * neighbours, and the tile has no halo to the left and right.
 *
 * Example: WORDS 1, ROWS 4, WARPS 8 and 8 generations make a tile of 32 words and 32 rows that
 * stores 30 words and 16 rows. Group (2, 3) stores words 60 .. 89 of rows 48 .. 63 (2 * 30 = 60, 3
 * * 16 = 48). Its tile begins at word 60 - 1 = 59 and row 48 - 8 = 40. Item 5 of warp 2 holds word
 * 59 + 5 * 1 = 64, cells 2048 .. 2079, of rows 40 + 2 * 4 = 48 .. 51, and stores all four. Warp 1
 * above it holds rows 44 .. 47, and stores none.
 *
 * A generation has these stages:
 *
 *      publish_sides   the words at an item's sides, for the items next to it (without SHUFFLE)
 *      inner_rows      sums of all rows; sums of the first and last row go to `edges`; rows 1 ..
 *                      ROWS - 2 advance
 *      barrier
 *      outer_rows      the first and last row advance, with sums from the warps above and below
 *      kill_outside    on a plane only: clear the cells beyond its edge
 *
 * `edges` is double-buffered by the parity of the generation. One barrier a generation is
 * therefore enough: a warp that is ahead does not overwrite sums that another warp still reads.
 *
 * Shuffles add 2 / WORDS instructions to the operations of sums.h for 32 cells and a generation,
 * in a unit of their own.
 * SPDX-License-Identifier: MIT
 */

/* ---- Knobs (a tuning row). ------------------------------------------------------------------- */

#ifndef WORDS
#define WORDS 1 /* words of 32 cells across, per item */
#endif
#ifndef ROWS
#define ROWS 16 /* rows per item; 2 or more */
#endif
#ifndef WARPS
#define WARPS 8 /* warps in a group */
#endif
#ifndef ITEMS
#define ITEMS 32 /* of a row of a tile: 32, 16, 8 or 4 */
#endif
#ifndef SHUFFLE
#define SHUFFLE 0 /* 1: NVIDIA's shfl.sync; 0: through local memory */
#endif
#ifndef PLANE
#define PLANE 0 /* 0: torus; 1: beyond the edge all is dead */
#endif

#define WARP 32               /* items of a warp */
#define PARTS (WARP / ITEMS)  /* of a warp, below one another */
#define BANDS (WARPS * PARTS) /* of a tile */
#define TALL (BANDS * ROWS)   /* rows of a tile */

#ifdef __CPU__ /* set by the loader; NVIDIA's instructions are for GPUs */
#undef SHUFFLE
#define SHUFFLE 0
#endif

#ifndef LIFE_SUMS_H
#include "sums.h"
#endif

/* ---- Where a work-item is, and the items next to it. ----------------------------------------- */

struct place {
    int item, band;
    int before, after; /* the items to the left and right, cyclic within the band; with SHUFFLE,
                          their numbers within the warp */
    int word, row;     /* its first cell in the partition; may lie beyond the ends */
#if !SHUFFLE
    __local uint *sides; /* the last word of each row of every item, then the first */
#endif
};

#if SHUFFLE
static inline uint tile_item_value(uint w, int item)
{
    uint out;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(out) : "r"(w), "r"(item));
    return out;
}

/* The words to the left and right of row r of an item's cells. */
static inline uint word_before(uint cell[ROWS][WORDS], int r, const struct place *me)
{
    return tile_item_value(cell[r][WORDS - 1], me->before);
}

static inline uint word_after(uint cell[ROWS][WORDS], int r, const struct place *me)
{
    return tile_item_value(cell[r][0], me->after);
}
#else
#define SIDES (TALL * ITEMS) /* words on one side of all items */

static inline __local uint *tile_side(const struct place *me, int r, int item)
{
    return me->sides + (me->band * ROWS + r) * ITEMS + item;
}

static inline void publish_sides(uint cell[ROWS][WORDS], const struct place *me)
{
    for (int r = 0; r < ROWS; r++) {
        tile_side(me, r, me->item)[0] = cell[r][WORDS - 1];
        tile_side(me, r, me->item)[SIDES] = cell[r][0];
    }
}

/* The words to the left and right of row r of an item's cells. */
static inline uint word_before(uint cell[ROWS][WORDS], int r, const struct place *me)
{
    return tile_side(me, r, me->before)[0];
}

static inline uint word_after(uint cell[ROWS][WORDS], int r, const struct place *me)
{
    return tile_side(me, r, me->after)[SIDES];
}
#endif

/* ---- Loading. -------------------------------------------------------------------------------- */

/* The rows of this device. wrap: rows beyond the partition wrap around; dead_above, dead_below:
 * they are dead. */
struct partition {
    __global const uint *from;
    int stride, width, rows; /* words from row to row, cells, rows */
    int wrap, dead_above, dead_below;
};

/* How to assemble 32 cells from any column on, with the row repeated endlessly; equal for all
 * rows. Rows of 32 cells and more: bits `shift` and up of word i, then bits of word j as far as
 * `mask` goes, and from bit `seam` on the row's first cells again. A narrower row is one word,
 * times `copies`. */
struct source {
    int i, j;
    uint shift, mask, seam;
    ulong copies;
};

static inline struct source source_of(int c, int width)
{
    struct source s = {0, 0, 0, 0, 32, 0};
    if (PLANE) {
        s.i = s.j = clamp(c, 0, (width - 1) / 32);
        s.mask = s.i == c ? ~0u : 0;
        return s;
    }
    const int at = (int)(((32L * c) % width + width) % width), rest = width - at;
    if (width < 32) {
        s.shift = (uint)at;
        for (int n = 0; n < 64; n += width)
            s.copies |= (ulong)1 << n;
        return s;
    }
    s.i = at / 32;
    s.j = min(s.i + 1, (width - 1) / 32);
    s.shift = (uint)at % 32;
    s.mask = rest < 32 ? (1u << rest) - 1 : ~0u;
    s.seam = (uint)min(rest, 32);
    return s;
}

static inline uint tile_cells_from(__global const uint *row, const struct source *s)
{
    if (s->copies)
        return (uint)(row[0] * s->copies >> s->shift);
    const uint low = row[s->i] >> s->shift, high = s->shift ? row[s->j] << (32 - s->shift) : 0;
    return ((low | high) & s->mask) | (s->seam < 32 ? row[0] << s->seam : 0);
}

/* Load an item's cells. inner: the tile lies inside the rows, so its words are words of memory, as
 * in most tiles. */
static inline void load_cells(uint cell[ROWS][WORDS], const struct partition *s,
                              const struct place *me, int inner)
{
    struct source source[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        source[k] = source_of(me->word + k, s->width);

    int at =
        s->wrap ? (me->row % s->rows + s->rows) % s->rows : me->row; /* source of row me->row + r */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int dead = PLANE && ((at < 0 && s->dead_above) || (at >= s->rows && s->dead_below));
        /* Rows beyond the partition that are not dead are ignored, but must not be read. */
        __global const uint *row = s->from + (long)clamp(at, 0, s->rows - 1) * s->stride;
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            cell[r][k] = dead ? 0 : inner ? row[me->word + k] : tile_cells_from(row, &source[k]);
        at = at + 1 == s->rows && s->wrap ? 0 : at + 1;
    }
}

/* ---- A plane's edge. ------------------------------------------------------------------------- */

/* The item's cells on the plane: those in `mask`, of rows first .. end - 1. */
struct inside {
    uint mask[WORDS];
    int first, end;
    int all; /* all cells of this item lie inside */
};

static inline struct inside cells_inside(const struct partition *s, const struct place *me)
{
    struct inside in;
    in.first = s->dead_above ? -me->row : 0;
    in.end = s->dead_below ? s->rows - me->row : ROWS;
    in.all = in.first <= 0 && in.end >= ROWS;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const long cells = (long)s->width - 32L * (me->word + k); /* from this word on */
        in.mask[k] = me->word + k < 0 || cells <= 0 ? 0 : cells >= 32 ? ~0u : (1u << cells) - 1;
        in.all &= in.mask[k] == ~0u;
    }
    return in;
}

static inline void kill_outside(uint cell[ROWS][WORDS], const struct inside *in)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++)
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            cell[r][k] = r >= in->first && r < in->end ? cell[r][k] & in->mask[k] : 0;
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* The sums of a row, for the bands above and below. */
struct edge {
    uint s[WORDS][ITEMS], m[WORDS][ITEMS];
#ifdef BLOCK_RULE
    uint c[WORDS][ITEMS];
#endif
};

static inline void write_edge(__local struct edge *e, const struct sums *a, int item)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        e->s[k][item] = a->s[k];
        e->m[k][item] = a->m[k];
#ifdef BLOCK_RULE
        e->c[k][item] = a->c[k];
#endif
    }
}

static inline void read_edge(struct sums *a, __local const struct edge *e, int item)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        a->s[k] = e->s[k][item];
        a->m[k] = e->m[k][item];
#ifdef BLOCK_RULE
        a->c[k] = e->c[k][item];
#endif
    }
}

/* Sums of an item's rows that its first and last row need after the barrier. With ROWS 2, `second`
 * is `last` and `last_but_one` is `first`. */
struct ends {
    struct sums first, second, last_but_one, last;
};

/* edge: [0] receives the sums of this band's first row, [1] of its last. */
static inline void inner_rows(uint cell[ROWS][WORDS], struct ends *e, __local struct edge *edge,
                              const struct place *me, uint two, uint high)
{
#define ADD_ROW(a, r)                                                                              \
    sum_row(a, cell[r], word_before(cell, r, me), word_after(cell, r, me), two, high)
    ADD_ROW(&e->first, 0);
    ADD_ROW(&e->last, ROWS - 1);
    write_edge(&edge[0], &e->first, me->item);
    write_edge(&edge[1], &e->last, me->item);
    if (ROWS > 2)
        ADD_ROW(&e->second, 1);
    else
        e->second = e->last;
    struct sums above = e->first, here = e->second;
#pragma unroll
    for (int r = 1; r < ROWS - 1; r++) {
        struct sums below;
        if (r + 1 < ROWS - 1)
            ADD_ROW(&below, r + 1);
        else
            below = e->last;
        next_row(cell[r], &above, &here, &below);
        above = here;
        here = below;
    }
    e->last_but_one = above;
#undef ADD_ROW
}

/* above: sums of the last row of the band above; below: sums of the first row of the band below. */
static inline void outer_rows(uint cell[ROWS][WORDS], const struct ends *e,
                              __local const struct edge *above, __local const struct edge *below,
                              int item)
{
    struct sums other;
    read_edge(&other, above, item);
    next_row(cell[0], &other, &e->first, &e->second);
    read_edge(&other, below, item);
    next_row(cell[ROWS - 1], &e->last_but_one, &e->last, &other);
}

/* ---- Storing. -------------------------------------------------------------------------------- */

/* Store an item's cells that are the tile's own: words own_word .. own_word + own_words - 1 of
 * own_rows rows from own_row on. Rows have an even number of words; a last word without cells is
 * 0. */
static inline void store_cells(uint cell[ROWS][WORDS], const struct partition *s,
                               const struct place *me, __global uint *to, int own_word,
                               int own_words, int own_row, int own_rows)
{
    const int last = (s->width - 1) / 32, rest = s->width % 32;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int y = me->row + r, own = y - own_row;
        if (own < 0 || own >= own_rows || y >= s->rows)
            continue;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const int x = me->word + k;
            const uint cells = x > last ? 0 : x == last && rest ? ~0u >> (32 - rest) : ~0u;
            if (x >= own_word && x < own_word + own_words && x < s->stride)
                to[(long)y * s->stride + x] = cell[r][k] & cells;
        }
    }
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

/* Group (x, y), with y counted from the partition's first band, stores words own_words x .. and
 * rows own_rows y .. of the device's partition. `from` and `to` have rows of `stride` words of 32
 * cells. Where rows beyond the partition are neither wrapped nor dead, `generations` rows at that
 * end of `to` are invalid. whole: the tile's width is a multiple of the torus's. two = 2, high =
 * 2^31. */
__attribute__((reqd_work_group_size(WARP, WARPS, 1))) __kernel void life_tile(
    __global const uint *from, __global uint *to, int stride, int width, int rows, int wrap,
    int dead_above, int dead_below, int whole, int own_words, int own_rows, int generations,
    uint two, uint high)
{
    __local struct edge edges[2][BANDS]
                             [2]; /* by parity of the generation, band, first or last row */
    const struct partition s = {from, stride, width, rows, wrap, dead_above, dead_below};
    const int tile = (int)get_global_id(1) / WARPS; /* a launch may begin at any */
    const int own_word = (int)get_group_id(0) * own_words, own_row = tile * own_rows;
    const int left = own_word - !whole; /* the tile's first word */
    const int warp = (int)get_local_id(1), lane = (int)get_local_id(0);
    struct place me;
    me.item = lane % ITEMS;
    me.band = warp * PARTS + lane / ITEMS;
    me.before = (me.item + ITEMS - 1) % ITEMS + SHUFFLE * (lane - me.item);
    me.after = (me.item + 1) % ITEMS + SHUFFLE * (lane - me.item);
    me.word = left + me.item * WORDS;
    me.row = own_row - generations + me.band * ROWS;
#if !SHUFFLE
    __local uint sides[2 * SIDES];
    me.sides = sides;
#endif

    uint cell[ROWS][WORDS];
    load_cells(cell, &s, &me, left >= 0 && left + ITEMS * WORDS <= width / 32);
#if PLANE
    const struct inside inside = cells_inside(&s, &me);
#endif
    for (int g = 0; g < generations; g++) {
        __local struct edge(*edge)[2] = edges[g & 1];
        /* Rows g .. TALL - g - 1 are still valid. A warp without valid rows idles. */
        const int busy = (warp + 1) * PARTS * ROWS > g && warp * PARTS * ROWS < TALL - g;
        struct ends ends;
#if !SHUFFLE
        publish_sides(cell, &me);
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (busy)
            inner_rows(cell, &ends, edge[me.band], &me, two, high);
        barrier(CLK_LOCAL_MEM_FENCE);
        if (busy)
            outer_rows(cell, &ends, &edge[max(me.band - 1, 0)][1],
                       &edge[min(me.band + 1, BANDS - 1)][0], me.item);
#if PLANE
        if (!inside.all)
            kill_outside(cell, &inside);
#endif
    }
    store_cells(cell, &s, &me, to, own_word, own_words, own_row, own_rows);
}
