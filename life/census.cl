/* census.cl - many small universes at once: a work-group runs one box of cells until it becomes
 * periodic.
 *
 * A box is a square of SIDE = 64 WORDS cells a side, a bit each, in local memory; FAR boxes are
 * too large for local memory and are double-buffered in global memory. A box has a dead row above
 * and below; all cells beyond its edge are dead. It stands for an unbounded plane as long as no
 * cell lives near the edge. Every four generations a group therefore checks the outermost four
 * cells (nothing moves faster than a cell a generation). A glider there that is alone and outbound
 * is removed and recorded; for anything else the box stops until the host has processed it.
 *
 *                  WORDS words
 *          +-----------------------------+          An item has STRIP words below one another:
 *          | 4 cells                     |
 *          |   +---------------------+   |          item % WORDS            the column of words
 *          |   |                     |   |          item / WORDS * STRIP    the first row
 *          |   |                     |   | SIDE
 *          |   |                     |   |          In a generation all items compute their words
 *          |   +---------------------+   |          in registers; barrier; they store the words;
 *          |                             |          barrier.
 *          +-----------------------------+
 *
 * Every PERIOD = 120 generations, a round, the cells are hashed, and the hash is compared with a
 * saved one, which is replaced after 1, 2, 4, 8, ... rounds (R. P. Brent, BIT 20 (1980) 176-184).
 * This finds any period; periods that divide 120, nearly all, within two rounds.
 *
 * A launch runs the boxes of a list. The host has HEAD words for each box: its state, the
 * generations done, the three words of the period search, and gliders:
 *     generation << 33 | top row << 22 | left column << 11 | south << 10 | east << 9 | 3 x 3 cells
 * SPDX-License-Identifier: MIT
 */

#ifndef WORDS
#define WORDS 1 /* of 64 cells, across a box */
#endif
#ifndef ITEMS
#define ITEMS 32 /* of a group; STRIP, defined below, must divide SIDE */
#endif
#ifndef GLIDERS
#define GLIDERS 1 /* 1: the rule has the glider of B3/S23 */
#endif
#ifndef FAR
#define FAR 0 /* 1: boxes stay in global memory */
#endif

#define SIDE (64 * WORDS)
#define SIZE (SIDE * WORDS)
#define PADDED (SIZE + 2 * WORDS)
#define STRIP (SIZE / ITEMS)
#if FAR
#define SPACE __global
#define TARGET __global
#define FENCE (CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#else
#define SPACE __local
#define TARGET __private
#define FENCE CLK_LOCAL_MEM_FENCE
#endif
#define EDGE 4
#define PERIOD 120
#define CLEAR 16 /* dead cells required around a glider that is removed */

enum { RUNNING = 1, SETTLED = 2, TOUCHED = 3 };
enum { STATE, GENERATION, MARK, LEFT, LAP, FOUND, GLIDER, HEAD = 16, MOST_GLIDERS = HEAD - GLIDER };

/* ---- A generation. --------------------------------------------------------------------------- */

#ifndef LIFE_TERNARY_H
#include "ternary.h"
#endif
#ifndef LIFE_MIX_H
#include "mix.h"
#endif
#define WORD ulong

/* A word of a row: its cells, their neighbours to the left and right, and the sums 2 m + s of all
 * three. */
struct row {
    ulong cell, left, right, s, m;
};

static struct row census_row(SPACE const ulong *word, const uint column)
{
    struct row r;
    r.cell = *word;
    r.left = r.cell << 1;
    r.right = r.cell >> 1;
#if WORDS > 1
    r.left |= column > 0 ? word[-1] >> 63 : 0;
    r.right |= column < WORDS - 1 ? word[1] << 63 : 0;
#endif
    r.s = r.left ^ r.cell ^ r.right;
    r.m = (r.left & r.cell) | (r.right & (r.left ^ r.cell));
    return r;
}

static ulong census_next(const struct row above, const struct row here, const struct row below)
{
#ifdef BLOCK_RULE
    BLOCK_RULE(next, above.left, above.cell, above.right, here.left, here.cell, here.right,
               below.left, below.cell, below.right);
#else
    NEXT_STATE(next, above.s, above.m, here.s, here.m, below.s, below.m, here.cell);
#endif
    return next;
}

/* Compute a strip's next generation into words `stride` apart. */
static void census_generation(SPACE const ulong *strip, const uint column, TARGET ulong *next,
                              const int stride)
{
    struct row above = census_row(strip - WORDS, column), here = census_row(strip, column);
    for (int i = 0; i < STRIP; i++) {
        const struct row below = census_row(strip + (i + 1) * WORDS, column);
        next[i * stride] = census_next(above, here, below);
        above = here;
        here = below;
    }
}

/* ---- The edge. ------------------------------------------------------------------------------- */

/* The cells of word `column` of row y that are near an edge. */
static ulong edge_mask(const int y, const int column)
{
    const ulong low = (1ul << EDGE) - 1;
    return y < EDGE || y >= SIDE - EDGE
               ? ~0ul
               : (column == 0 ? low : 0) | (column == WORDS - 1 ? low << (64 - EDGE) : 0);
}

/* Bits x .. x + n - 1 of a row that are in word `column`. */
static ulong span_mask(const int x, const int n, const int column)
{
    const int from = max(x - 64 * column, 0), to = min(x + n - 64 * column, 64);
    return to <= from ? 0 : (to - from == 64 ? ~0ul : (1ul << (to - from)) - 1) << from;
}

#ifdef __CPU__
#define SELDOM                                                                                     \
    __attribute__((                                                                                \
        noinline)) /* the compiler of PoCL 7.1 crashes where it is inlined              \
                               */
#else
#define SELDOM
#endif

/* Number of live cells in a rectangle; cells outside the box are dead. `box` begins with its dead
 * row. */
SELDOM static int count_cells(SPACE const ulong *box, const int x, const int y, const int width,
                              const int height)
{
    int n = 0;
    for (int j = max(y, 0); j < min(y + height, SIDE); j++)
        for (int i = max(x, 0) / 64; i < WORDS && 64 * i < x + width; i++)
            n += (int)popcount(box[(j + 1) * WORDS + i] & span_mask(x, width, i));
    return n;
}

/* Find the first live cell near an edge. False if there is none. */
static bool find_touching(SPACE const ulong *box, int *x, int *y)
{
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i<WORDS; i += WORDS> 1 && j >= EDGE && j < SIDE - EDGE ? WORDS - 1 : 1) {
            const ulong live = box[(j + 1) * WORDS + i] & edge_mask(j, i);
            if (live) {
                *x = 64 * i + (int)popcount((live & (0 - live)) - 1);
                *y = j;
                return true;
            }
        }
    return false;
}

/* The glider at a cell, encoded for the host without the generation; 0 if it is no glider, not
 * alone or not outbound. */
static ulong find_glider(SPACE const ulong *box, const int x, const int y)
{
    /* The glider's 16 forms, by direction: bit 0 east, bit 1 south. */
    const ushort form[4][4] = {{0x06b, 0x08f, 0x11e, 0x15a},
                               {0x073, 0x0a7, 0x12e, 0x172},
                               {0x09d, 0x0e9, 0x19c, 0x1ca},
                               {0x0b5, 0x0f1, 0x1ac, 0x1e2}};
    int left = x, top = y;
    for (int d = 1; d <= 2; d++) {
        left = count_cells(box, x - d, y - 2, 1, 5) ? x - d : left;
        top = count_cells(box, x - 2, y - d, 5, 1) ? y - d : top;
    }
    uint cells = 0;
    for (int i = 0; i < 9; i++)
        cells |= (uint)count_cells(box, left + i % 3, top + i / 3, 1, 1) << i;
    for (int way = 0; way < 4; way++)
        for (int i = 0; i < 4; i++) {
            const bool leaves = (way & 1 ? left + 2 >= SIDE - EDGE : left < EDGE) ||
                                (way & 2 ? top + 2 >= SIDE - EDGE : top < EDGE);
            if (form[way][i] == cells && leaves && left >= 0 && top >= 0 &&
                count_cells(box, left - CLEAR, top - CLEAR, 2 * CLEAR + 3, 2 * CLEAR + 3) == 5)
                return (ulong)top << 22 | (ulong)left << 11 | (ulong)way << 9 | cells;
        }
    return 0;
}

/* Remove all outbound gliders, and return the new state of the box. Called by one item. */
static uint look_at_edge(SPACE ulong *box, const ulong generation, __global ulong *head)
{
    int x, y;
    if (!GLIDERS)
        return TOUCHED;
    while (find_touching(box, &x, &y)) {
        const ulong glider = head[FOUND] < MOST_GLIDERS ? find_glider(box, x, y) : 0;
        if (!glider)
            return TOUCHED;
        const int left = (int)(glider >> 11 & 2047), top = (int)(glider >> 22 & 2047);
        for (int j = top; j < top + 3; j++)
            for (int i = 0; i < WORDS; i++)
                box[(j + 1) * WORDS + i] &= ~span_mask(left, 3, i);
        head[GLIDER + head[FOUND]++] = generation << 33 | glider;
    }
    return RUNNING;
}

/* ---- Repetition. ----------------------------------------------------------------------------- */

static ulong hash_strip(SPACE const ulong *strip, const uint first)
{
    ulong sum = 0;
    for (int i = 0; i < STRIP; i++)
        if (strip[i * WORDS])
            sum += mix64(strip[i * WORDS] + (first + i * WORDS + 1) * 0x9e3779b97f4a7c15ul);
    return sum;
}

/* End a round: compare with the saved hash. Called by one item. */
static uint look_back(__local const ulong *sums, __global ulong *head)
{
    ulong hash = 0;
    for (int i = 0; i < ITEMS; i++)
        hash += sums[i];
    if (hash == head[MARK])
        return SETTLED;
    if (--head[LEFT] == 0) {
        head[MARK] = hash;
        head[LEFT] = head[LAP] *= 2;
    }
    return RUNNING;
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void census(__global ulong *boxes,
                                                                        __global ulong *spare,
                                                                        __global ulong *heads,
                                                                        __global const uint *list,
                                                                        const uint rounds)
{
    __local ulong sums[ITEMS];
    __local uint state, touched;
    const uint item = get_local_id(0), column = item % WORDS, first = item / WORDS * STRIP,
               slot = list[get_group_id(0)], begin = (first + 1) * WORDS + column;
    __global ulong *head = heads + (size_t)slot * HEAD;
#if FAR
    __global ulong *box = boxes + (size_t)slot * PADDED, *other = spare + (size_t)slot * PADDED;
    __global ulong *strip = box + begin, *next = other + begin;
    for (uint i = item; i < 2 * WORDS; i += ITEMS)
        other[i < WORDS ? i : SIZE + i] = 0;
#else
    __local ulong box[PADDED];
    __local ulong *strip = box + begin;
    __global ulong *own = boxes + (size_t)slot * PADDED + begin;
    for (int i = 0; i < STRIP; i++)
        strip[i * WORDS] = own[i * WORDS];
    if (item < WORDS)
        box[item] = box[(SIDE + 1) * WORDS + item] = 0;
#endif
    if (item == 0) {
        state = (uint)head[STATE];
        touched = 0;
    }
    barrier(FENCE);
    for (uint look = 1; look <= rounds * (PERIOD / EDGE); look++) {
        const uint runs = state == RUNNING, round = look % (PERIOD / EDGE) == 0;
        for (int g = 0; g < EDGE; g++) {
#if FAR
            if (runs)
                census_generation(g % 2 ? next : strip, column, g % 2 ? strip : next, WORDS);
            barrier(FENCE);
#else
            ulong next[STRIP];
            if (runs)
                census_generation(strip, column, next, 1);
            barrier(FENCE);
            for (int i = 0; i < STRIP && runs; i++)
                strip[i * WORDS] = next[i];
            barrier(FENCE);
#endif
        }
        ulong near = 0;
        for (int i = 0; i < STRIP && runs; i++)
            near |= strip[i * WORDS] & edge_mask((int)first + i, (int)column);
        if (near)
            touched = 1;
        if (round && runs)
            sums[item] = hash_strip(strip, first * WORDS + column);
        barrier(FENCE);
        if (item == 0 && runs) {
            head[GENERATION] += EDGE;
            if (touched)
                state = look_at_edge(box, head[GENERATION], head);
            else if (round)
                state = look_back(sums, head);
            touched = 0;
        }
        barrier(FENCE);
    }
#if !FAR
    for (int i = 0; i < STRIP; i++)
        own[i * WORDS] = strip[i * WORDS];
#endif
    if (item == 0)
        head[STATE] = state;
}
