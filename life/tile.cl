/* tile.cl - packed Life for GPUs: a work-group is a tile kept in registers for several generations.
 *
 * A work-group is WARPS lines of 32 work-items. A line (on NVIDIA a warp) holds ROWS rows of cells side
 * by side, item i of it words WORDS i .. WORDS i + WORDS - 1 of 32 cells in each; the lines lie below
 * one another:
 *
 *            item 0     item 1   ...  item 31
 *          +----------+----------+--+----------+
 *   line 0 | WORDS    |          |  |          |  ROWS rows, all in registers
 *          +----------+----------+--+----------+
 *   line 1 |          |          |  |          |
 *          +----------+----------+--+----------+
 *
 * In each generation an item needs, of its neighbours to the left and right, the words that touch its
 * own: had by warp shuffles, elsewhere through local memory. Of the lines above and below it needs the
 * row sums of the rows that touch its own; these pass through local memory, one barrier a generation,
 * and the inner rows are computed between writing and reading them.
 *
 * The tile is loaded with its surroundings, GENERATIONS rows above and below and a word on either side.
 * What is at the tile's outer edge is wrong after the first generation, and the error moves inwards by
 * a cell a generation, so that after GENERATIONS of them (at most 32) the inner part is right, and only
 * that is stored. Where a number of whole periods of the torus fits the width exactly, item 31 and item 0
 * are neighbours, and there is no surrounding to the left and right.
 *
 * Operations for 32 cells and a generation: 2 funnel shifts, 2 logic operations for the sums of three
 * in a row, 4 to add three rows, 3 for the rule B3/S23; and 2 / WORDS shuffles, which run elsewhere.
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
#define WARPS 8 /* lines of 32 items in a group */
#endif
#ifndef SHUFFLE
#define SHUFFLE 0 /* 1: NVIDIA's shfl.sync; 0: through local memory */
#endif
#ifndef TERNARY
#define TERNARY 0 /* 1: NVIDIA's lop3 and shf */
#endif
#ifndef MULTIPLY
#define MULTIPLY 0 /* NVIDIA: 1: shift left by multiply-add, which has units of its own; 2: right, too */
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

#define ITEMS 32
#define TALL (WARPS * ROWS)

/* ---- Logic. ---------------------------------------------------------------------------------- */

/* Any function of three bits; t is its truth table, index a << 2 | b << 1 | c. */
#ifdef __CPU__ /* the loader says so; NVIDIA's instructions are for GPUs */
#undef SHUFFLE
#undef TERNARY
#define SHUFFLE 0
#define TERNARY 0
#endif

#if TERNARY
#define LOGIC(out, a, b, c, t) \
    uint out;                  \
    __asm("lop3.b32 %0, %1, %2, %3, " #t ";" : "=r"(out) : "r"(a), "r"(b), "r"(c))
#else
#define OF2(b, c, t) /* a function of two bits; constants fold */                                  \
    ((t) == 0 ? 0u : (t) == 15 ? ~0u : (t) == 12 ? (b) : (t) == 10 ? (c) : (t) == 3 ? ~(b)         \
     : (t) == 5 ? ~(c) : (t) == 6 ? (b) ^ (c) : (t) == 9 ? ~((b) ^ (c)) : (t) == 8 ? (b) & (c)     \
     : (t) == 14 ? (b) | (c) : (t) == 1 ? ~((b) | (c)) : (t) == 7 ? ~((b) & (c))                   \
     : (t) == 2 ? ~(b) & (c) : (t) == 4 ? (b) & ~(c) : (t) == 11 ? ~(b) | (c) : (b) | ~(c))
#define LOGIC(out, a, b, c, t)                                                              \
    const uint out = (t) == 0x96 ? (a) ^ (b) ^ (c)                                          \
                     : (t) == 0xe8 ? ((a) & (b)) | ((c) & ((a) ^ (b)))                      \
                     : (t) >> 4 == ((t)&15) ? OF2(b, c, (t)&15)                             \
                     : ((a) & OF2(b, c, (t) >> 4 & 15)) | (~(a) & OF2(b, c, (t)&15))
#endif

/* Each cell's neighbour to the left (a lower bit, or the top bit of the word before) and right. `two` is 2
 * and `high` 2^31, from the host, so that the compiler does not turn products back into shifts. */
static inline uint left_of(uint w, uint before, uint two)
{
#if MULTIPLY >= 1
    return w * two + mul_hi(before, two);
#elif TERNARY
    uint out;
    __asm("shf.l.wrap.b32 %0, %1, %2, 1;" : "=r"(out) : "r"(before), "r"(w));
    return out;
#else
    return w << 1 | before >> 31;
#endif
}

static inline uint right_of(uint w, uint after, uint high)
{
#if MULTIPLY >= 2
    return after * high + mul_hi(w, high);
#elif TERNARY
    uint out;
    __asm("shf.r.wrap.b32 %0, %1, %2, 1;" : "=r"(out) : "r"(w), "r"(after));
    return out;
#else
    return w >> 1 | after << 31;
#endif
}

/* The sums 2 m + s of each cell of a row with its two neighbours. */
struct sums {
    uint s[WORDS], m[WORDS];
};

static inline void add_row(struct sums *a, const uint cell[WORDS], uint before, uint after, uint two,
                           uint high)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const uint l = left_of(cell[k], k ? cell[k - 1] : before, two);
        const uint r = right_of(cell[k], k + 1 < WORDS ? cell[k + 1] : after, high);
        LOGIC(s, l, cell[k], r, 0x96);
        LOGIC(m, l, cell[k], r, 0xe8);
        a->s[k] = s;
        a->m[k] = m;
    }
}

/* Replaces `cell`, whose row sums are y, between x and z, by the next generation: bits 0 to 4 are b, k, p, q of
 * the sums and the cell, as logic.c has them; then come those of the steps. */
#define STEP_(o, a, b, c, t) LOGIC(v##o, v##a, v##b, v##c, t)
#define STEP(o, a, b, c, t) STEP_(o, a, b, c, t)
static inline void next_row(uint cell[WORDS], const struct sums *x, const struct sums *y,
                            const struct sums *z)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        LOGIC(v0, x->s[k], y->s[k], z->s[k], 0x96);
        LOGIC(v1, x->s[k], y->s[k], z->s[k], 0xe8);
        LOGIC(v2, x->m[k], y->m[k], z->m[k], 0x96);
        LOGIC(v3, x->m[k], y->m[k], z->m[k], 0xe8);
        const uint v4 = cell[k];
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
        cell[k] = RESULT(STEPS);
    }
}

/* ---- Neighbours to the left and right. ------------------------------------------------------- */

#if SHUFFLE
#define SIDES_SIZE 1
#define PUBLISH_SIDES()
static inline uint from_item(uint w, int item)
{
    uint out;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(out) : "r"(w), "r"(item));
    return out;
}
#define WORD_BEFORE(r) from_item(cell[r][WORDS - 1], item_before)
#define WORD_AFTER(r) from_item(cell[r][0], item_after)
#else
/* sides[0] holds every item's last word of each row, sides[1] its first. */
#define SIDES_SIZE (2 * TALL * ITEMS)
#define SIDE(which, r, i) sides[((which)*TALL + line * ROWS + (r)) * ITEMS + (i)]
#define PUBLISH_SIDES()                          \
    for (int r = 0; r < ROWS; r++) {             \
        SIDE(0, r, item) = cell[r][WORDS - 1];   \
        SIDE(1, r, item) = cell[r][0];           \
    }                                            \
    barrier(CLK_LOCAL_MEM_FENCE)
#define WORD_BEFORE(r) SIDE(0, r, item_before)
#define WORD_AFTER(r) SIDE(1, r, item_after)
#endif

#define ADD_ROW(a, r) add_row(a, cell[r], WORD_BEFORE(r), WORD_AFTER(r), two, high)

/* ---- Memory. --------------------------------------------------------------------------------- */

/* How to make 32 cells that begin anywhere, the row repeated without end: the same for all rows. From 32
 * cells in width up: bits `shift` and up of word i, the bits of word j above them, as far as `mask` goes, and
 * from bit `seam` on the row's first cells again. A narrower row is one word, times `copies`. */
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

static inline uint cells_from(__global const uint *row, const struct source *s)
{
    if (s->copies)
        return (uint)(row[0] * s->copies >> s->shift);
    const uint low = row[s->i] >> s->shift, high = s->shift ? row[s->j] << (32 - s->shift) : 0;
    return ((low | high) & s->mask) | (s->seam < 32 ? row[0] << s->seam : 0);
}

/* Sums of the rows at the top and bottom of every line, for the lines below and above. */
struct edge {
    uint s[WORDS][ITEMS], m[WORDS][ITEMS];
};

static inline void write_edge(__local struct edge *e, const struct sums *a, int item)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        e->s[k][item] = a->s[k];
        e->m[k][item] = a->m[k];
    }
}

static inline void read_edge(struct sums *a, __local const struct edge *e, int item)
{
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        a->s[k] = e->s[k][item];
        a->m[k] = e->m[k][item];
    }
}

/* Group (x, y) stores words own_words x .. and rows own_rows y .. of the device's strip. `from` and `to` are rows
 * of `stride` words of 32 cells. whole: the tile's width is a number of periods of the torus. wrap: rows beyond
 * the strip are those at its other end; dead_above, dead_below: they are dead; where they are neither,
 * `generations` rows at that end of `to` are wrong. two = 2, high = 2^31. */
__attribute__((reqd_work_group_size(ITEMS, WARPS, 1)))
__kernel void life_tile(__global const uint *from, __global uint *to, int stride, int width, int rows,
                        int wrap, int dead_above, int dead_below, int whole, int own_words, int own_rows,
                        int generations, uint two, uint high)
{
    __local struct edge edges[2][WARPS][2]; /* by parity of the generation, line, top or bottom */
#if !SHUFFLE
    __local uint sides[SIDES_SIZE];
#endif
    const int item = (int)get_local_id(0), line = (int)get_local_id(1);
    const int item_before = (item + ITEMS - 1) % ITEMS, item_after = (item + 1) % ITEMS;
    const int first_word = (int)get_group_id(0) * own_words;
    const int first_row = (int)get_group_id(1) * own_rows;
    const int x = first_word + item * WORDS - !whole; /* this item's first word */
    const int y = first_row - generations + line * ROWS;
    uint cell[ROWS][WORDS];

    /* Most tiles lie inside the rows, where an item's words are words of memory. */
    const int left = first_word - !whole, inner = left >= 0 && left + ITEMS * WORDS <= width / 32;
    struct source source[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        source[k] = source_of(x + k, width);

    int at = wrap ? (y % rows + rows) % rows : y; /* row y + r, or where it is found */
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int dead = PLANE && ((at < 0 && dead_above) || (at >= rows && dead_below));
        /* What is beyond the strip and not dead does not count, but must not be read. */
        __global const uint *row = from + (long)clamp(at, 0, rows - 1) * stride;
#pragma unroll
        for (int k = 0; k < WORDS; k++)
            cell[r][k] = dead ? 0 : inner ? row[x + k] : cells_from(row, &source[k]);
        at = at + 1 == rows && wrap ? 0 : at + 1;
    }

#if PLANE
    /* Which words of this item, and which of its rows, can hold cells at all. */
    uint inside[WORDS];
    const int top = dead_above ? -y : 0, bottom = dead_below ? rows - y : ROWS;
    int at_edge = top > 0 || bottom < ROWS;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        const long cells = (long)width - 32L * (x + k);
        inside[k] = x + k < 0 || cells <= 0 ? 0 : cells >= 32 ? ~0u : (1u << cells) - 1;
        at_edge |= inside[k] != ~0u;
    }
#endif

    for (int g = 0; g < generations; g++) {
        __local struct edge(*edge)[2] = edges[g & 1];
        /* Rows g .. TALL - g - 1 are still right. A line without any has nothing to do. */
        const int busy = line * ROWS + ROWS > g && line * ROWS < TALL - g;
        struct sums top0, top1, x0, y0, z0;
        PUBLISH_SIDES();
        if (busy) {
            ADD_ROW(&top0, 0);
            ADD_ROW(&z0, ROWS - 1);
            write_edge(&edge[line][0], &top0, item);
            write_edge(&edge[line][1], &z0, item);
            /* Inner rows: x, y and z are the sums of the rows above, at and below the row. */
            x0 = top0;
            if (ROWS > 2)
                ADD_ROW(&top1, 1);
            else
                top1 = z0;
            y0 = top1;
#pragma unroll
            for (int r = 1; r < ROWS - 1; r++) {
                struct sums z1;
                if (r + 1 < ROWS - 1)
                    ADD_ROW(&z1, r + 1);
                else
                    z1 = z0;
                next_row(cell[r], &x0, &y0, &z1);
                x0 = y0;
                y0 = z1;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (busy) {
            struct sums other;
            read_edge(&other, &edge[max(line - 1, 0)][1], item);
            next_row(cell[0], &other, &top0, &top1);
            read_edge(&other, &edge[min(line + 1, WARPS - 1)][0], item);
            next_row(cell[ROWS - 1], &x0, &z0, &other);
        }
#if PLANE
        if (at_edge)
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int k = 0; k < WORDS; k++)
                    cell[r][k] = r >= top && r < bottom ? cell[r][k] & inside[k] : 0;
#endif
    }

    /* Rows have an even number of words; where the last one has no cells it is 0. */
    const int last = (width - 1) / 32, rest = width % 32;
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int own = line * ROWS + r - generations; /* of the rows this group stores */
        if (own < 0 || own >= own_rows || first_row + own >= rows)
            continue;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const int c = x + k;
            const uint cells = c > last ? 0 : c == last && rest ? ~0u >> (32 - rest) : ~0u;
            if (c >= first_word && c < first_word + own_words && c < stride)
                to[(long)(first_row + own) * stride + c] = cell[r][k] & cells;
        }
    }
}
