/* persistent.cl - packed Life for small tori on GPUs: all cells stay in registers for as many
 * generations as a launch has, and tiles send each other their edges meanwhile.
 *
 * A tile is a warp of 32 work-items. Item i holds ROWS rows of WORDS words of 32 cells: rows ROWS i
 * .. ROWS i + ROWS - 1. So a word's neighbours to the left and right are the item's own, and rows
 * above and below come from items i - 1 and i + 1, as sums, by shuffles:
 *
 *               half a word        own: SPAN words       half a word
 *               +--------+-------------------------------+--------+
 *      item 0   |                                                 |   DEPTH rows of the tiles above
 *               |        +-------------------------------+        |
 *               |        |   OWN_ROWS rows               |        |
 *               |        +-------------------------------+        |
 *      item 31  |                                                 |   DEPTH rows of the tiles below
 *               +--------+-------------------------------+--------+
 *
 * A round is DEPTH generations, after which only the tile's own cells are right. Then it posts the
 * edge of its own cells, and takes what surrounds them from what the eight tiles around it have
 * posted. Nobody waits for others than these.
 *
 * A word in the post is 64 bits: 32 cells, and above them the number of the round. They are written
 * and read in one piece, so whoever finds his round there has the cells, too: nothing orders other
 * memory, and no word is read in vain. There are two words for every word of the grid, for even and
 * odd rounds. A tile posts round r + 2 after it has had round r + 1 from all around, and who has
 * posted that has read round r.
 *
 * All tiles must be at work at once, which OpenCL does not promise: the host tries it first. Who
 * waits for more than `patience` looks sets `lost`, and all leave.
 * SPDX-License-Identifier: MIT
 */

/* ---- Knobs (a tuning row, and packed_held.c). ------------------------------------------------ */

#ifndef WORDS
#define WORDS 3 /* words of 32 cells across, per tile: 1 + an even number */
#endif
#ifndef ROWS
#define ROWS 2 /* rows per item; 2 or more */
#endif
#ifndef WARPS
#define WARPS 4 /* tiles of a group; they have nothing to do with each other */
#endif
#ifndef SHUFFLE
#define SHUFFLE 0 /* 1: NVIDIA's shfl.sync; 0: through local memory */
#endif

#define WARP 32
#define DEPTH 16         /* generations of a round: half a word's cells */
#define SPAN (WORDS - 1) /* own words across */
#define OWN_ROWS (WARP * ROWS - 2 * DEPTH)

#ifdef __CPU__ /* the loader says so; NVIDIA's instructions are for GPUs */
#undef SHUFFLE
#define SHUFFLE 0
#endif

#ifndef LIFE_SUMS_H
#include "sums.h"
#endif

/* ---- The post. ------------------------------------------------------------------------------- */

#define LETTER(cells, round) ((ulong)(round) << 32 | (cells))
#if SHUFFLE /* NVIDIA: written in one piece, and read past the first-level cache */
static inline void post_one(__global ulong *at, uint cells, uint round)
{
    __asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(LETTER(cells, round))
                   : "memory");
}

static inline ulong look(__global const ulong *at)
{
    ulong v;
    __asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}

static inline bool is_lost(volatile __global const uint *lost)
{
    uint v;
    __asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(lost) : "memory");
    return v;
}
#elif __OPENCL_C_VERSION__ >= 300
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
static inline void post_one(__global ulong *at, uint cells, uint round)
{
    atomic_store_explicit((volatile __global atomic_ulong *)at, LETTER(cells, round),
                          memory_order_relaxed, memory_scope_device);
}

static inline ulong look(__global const ulong *at)
{
    return atomic_load_explicit((volatile __global atomic_ulong *)at, memory_order_relaxed,
                                memory_scope_device);
}

static inline bool is_lost(volatile __global const uint *lost)
{
    return atomic_load_explicit((volatile __global atomic_uint *)lost, memory_order_relaxed,
                                memory_scope_device);
}
#else /* for editors, and for one tile that is its own neighbour */
static inline void post_one(__global ulong *at, uint cells, uint round)
{
    *(volatile __global ulong *)at = LETTER(cells, round);
}

static inline ulong look(__global const ulong *at)
{
    return *(volatile __global const ulong *)at;
}

static inline bool is_lost(volatile __global const uint *lost)
{
    return *(volatile __global const uint *)lost;
}
#endif

/* ---- Where an item is. ----------------------------------------------------------------------- */

struct place {
    int lane;
    int word, row;   /* of the grid: its tile's first own word and row */
    int words, rows; /* the grid */
    uint two, high;  /* see sums.h */
#if !SHUFFLE
    __local uint *hand; /* a word of each item */
#endif
};

static inline int around(int i, int n) /* i from -n to 2 n - 1 */
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* Row t of the tile, of which DEPTH .. DEPTH + OWN_ROWS - 1 are its own; its place in the grid. */
static inline bool is_own(int t)
{
    return t >= DEPTH && t < DEPTH + OWN_ROWS;
}

static inline int row_of(const struct place *me, int t)
{
    return around(me->row - DEPTH + t, me->rows);
}

/* A word of the tile from two of the grid, and back. */
static inline uint outward(uint left, uint right)
{
    return left >> 16 | right << 16;
}

/* ---- What items hand each other. ------------------------------------------------------------- */

#if SHUFFLE
#define together() __asm volatile("bar.warp.sync -1;" ::: "memory")

static inline uint from_item(uint w, int item, const struct place *me)
{
    uint out;
    (void)me;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(out) : "r"(w), "r"(item));
    return out;
}

static inline bool any_of_tile(bool yes, const struct place *me)
{
    uint out;
    (void)me;
    __asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
        : "=r"(out)
        : "r"((uint)yes));
    together();
    return out;
}
#else /* slow, for devices where this is tried only; a group is one tile then */
#define together() barrier(CLK_LOCAL_MEM_FENCE)

static inline uint from_item(uint w, int item, const struct place *me)
{
    me->hand[me->lane] = w;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint out = me->hand[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    return out;
}

static inline bool any_of_tile(bool yes, const struct place *me)
{
    bool any = false;
    for (int i = 0; i < WARP; i++)
        any |= from_item(yes, i, me);
    return any;
}
#endif

static inline struct sums sums_from(const struct sums *own, int item, const struct place *me)
{
    struct sums out;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        out.s[k] = from_item(own->s[k], item, me);
        out.m[k] = from_item(own->m[k], item, me);
#ifdef BLOCK_RULE
        out.c[k] = from_item(own->c[k], item, me);
#endif
    }
    return out;
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* Rows advance from the first to the last, or, `up`, from the last to the first, by turns: so the
 * sums that set out first are of the row that was there first a generation ago, and those of other
 * rows are added meanwhile. */
static inline void advance(uint cell[ROWS][WORDS], const bool up, const struct place *me)
{
    const int next_item = (me->lane + 1) % WARP, last_item = (me->lane + WARP - 1) % WARP;
    struct sums far, before, here, beyond;
    add_row(&far, cell[up ? 0 : ROWS - 1], 0, 0, me->two, me->high);
    before = sums_from(&far, up ? next_item : last_item, me);
    add_row(&here, cell[up ? ROWS - 1 : 0], 0, 0, me->two, me->high);
    beyond = sums_from(&here, up ? last_item : next_item, me);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int r = up ? ROWS - 1 - i : i;
        struct sums after;
        if (i < ROWS - 2)
            add_row(&after, cell[up ? r - 1 : r + 1], 0, 0, me->two, me->high);
        else
            after = i == ROWS - 2 ? far : beyond;
        next_row(cell[r], up ? &after : &before, &here, up ? &before : &after);
        before = here;
        here = after;
    }
}

/* ---- From the grid and back. ----------------------------------------------------------------- */

static inline void load(uint cell[ROWS][WORDS], __global const uint *from, const struct place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        __global const uint *row = from + (long)row_of(me, me->lane * ROWS + r) * me->words;
        uint left = row[around(me->word - 1, me->words)];
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const uint right = row[around(me->word + k, me->words)];
            cell[r][k] = outward(left, right);
            left = right;
        }
    }
}

static inline void store(uint cell[ROWS][WORDS], __global uint *to, const struct place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        if (is_own(t))
#pragma unroll
            for (int k = 0; k < SPAN; k++)
                to[(long)row_of(me, t) * me->words + me->word + k] =
                    outward(cell[r][k], cell[r][k + 1]);
    }
}

/* ---- A round's post. ------------------------------------------------------------------------- */

/* Words of a column lie side by side, as the items do that read and write them: 32 of them in a row
 * take a processor as long as two. */
static inline long place_of(const struct place *me, int word, int row)
{
    return (long)word * me->rows + row;
}

/* Whole rows at the upper and lower edge, and the words at both sides of those between. */
static inline void post(uint cell[ROWS][WORDS], __global ulong *box, uint round,
                        const struct place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        const bool edge = t < 2 * DEPTH || t >= OWN_ROWS;
        const int y = row_of(me, t);
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            if (is_own(t) && (edge || k == 0 || k == SPAN - 1))
                post_one(box + place_of(me, me->word + k, y), outward(cell[r][k], cell[r][k + 1]),
                         round);
    }
}

/* What comes in a round: each item takes a row of the surroundings, and what is beside its own
 * rows. */
struct mail {
    uint row[WORDS + 1];
    uint left[ROWS], right[ROWS];
};

static inline bool has_come(uint *cells, __global const ulong *at, uint round)
{
    const ulong letter = look(at);
    *cells = (uint)letter;
    return (uint)(letter >> 32) == round;
}

/* Whether all has come. Of rows that are not the tile's own the item looks at what it looks at
 * anyway. */
static inline bool look_at_all(struct mail *mail, __global const ulong *box, uint round,
                               const struct place *me)
{
    const int before = around(me->word - 1, me->words), after = around(me->word + SPAN, me->words);
    const int t = me->lane < DEPTH ? me->lane : me->lane + OWN_ROWS;
    const int beside = row_of(me, t);
    bool all = has_come(&mail->row[0], box + place_of(me, before, beside), round);
#pragma unroll
    for (int k = 0; k < SPAN; k++)
        all &= has_come(&mail->row[k + 1], box + place_of(me, me->word + k, beside), round);
    all &= has_come(&mail->row[WORDS], box + place_of(me, after, beside), round);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int mine = me->lane * ROWS + r;
        const int y = is_own(mine) ? row_of(me, mine) : beside;
        all &= has_come(&mail->left[r], box + place_of(me, before, y), round);
        all &= has_come(&mail->right[r], box + place_of(me, after, y), round);
    }
    return all;
}

static inline void open_mail(uint cell[ROWS][WORDS], const struct mail *mail,
                             const struct place *me)
{
    uint held[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        held[k] = outward(mail->row[k], mail->row[k + 1]);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        const bool own = is_own(t);
        const int holder = own ? 0 : t < DEPTH ? t : t - OWN_ROWS;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const uint other = from_item(held[k], holder, me);
            cell[r][k] = own ? cell[r][k] : other;
        }
        if (own) {
            cell[r][0] = mail->left[r] >> 16 | (cell[r][0] & 0xffff0000u);
            cell[r][WORDS - 1] = (cell[r][WORDS - 1] & 0xffffu) | mail->right[r] << 16;
        }
    }
}

/* Waits for the mail of a round, and puts it around the tile's own cells. False when it does not
 * come. */
static inline bool receive(uint cell[ROWS][WORDS], __global const ulong *box, uint round,
                           uint patience, volatile __global uint *lost, const struct place *me)
{
    struct mail mail;
    bool all = look_at_all(&mail, box, round, me);
    for (uint looks = 1; !all && looks < patience && !(looks % 1024 == 0 && is_lost(lost)); looks++)
        all = look_at_all(&mail, box, round, me);
    if (!all)
        atomic_or(lost, 1u);
    if (any_of_tile(!all, me))
        return false;
    open_mail(cell, &mail, me);
    return true;
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

/* Takes a torus of rows x words from `from` so many generations on, and writes it to `to`. columns:
 * tiles side by side. box: two words of post for each word of the grid; the post of this launch has
 * rounds round + 1 .. round + (generations - 1) / DEPTH, which go on from launch to launch. *lost
 * becomes 1 when tiles waited in vain: `to` is wrong then. two = 2, high = 2^31. */
__attribute__((reqd_work_group_size(WARP, WARPS, 1))) __kernel void life_held(
    __global const uint *from, __global uint *to, __global ulong *box, volatile __global uint *lost,
    int words, int rows, int columns, int generations, uint round, uint patience, uint two,
    uint high)
{
    const int tile = (int)get_group_id(0) * WARPS + (int)get_local_id(1);
    struct place me;
    me.lane = (int)get_local_id(0);
    me.word = tile % columns * SPAN;
    me.row = tile / columns * OWN_ROWS;
    me.words = words;
    me.rows = rows;
    me.two = two;
    me.high = high;
#if !SHUFFLE
    __local uint hand[WARP];
    me.hand = hand;
#endif
    uint cell[ROWS][WORDS];
    load(cell, from, &me);
    while (generations > DEPTH) {
        for (int g = 0; g < DEPTH; g += 2) {
            advance(cell, false, &me);
            advance(cell, true, &me);
        }
        generations -= DEPTH;
        round++;
        __global ulong *turn = box + (round & 1) * (long)rows * words;
        post(cell, turn, round, &me);
        together();
        if (!receive(cell, turn, round, patience, lost, &me))
            return;
    }
    for (int g = 0; g < generations; g++)
        advance(cell, false, &me);
    store(cell, to, &me);
}
