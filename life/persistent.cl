/* persistent.cl - packed Life for small tori on GPUs: a persistent kernel that keeps all cells in
 * registers for a whole launch, while tiles exchange halos through a mailbox.
 *
 * A tile is a warp of 32 work-items. Item i holds ROWS rows of WORDS words of 32 cells: rows ROWS
 * i .. ROWS i + ROWS - 1. A word's left and right neighbours are in the same item. Sums of the
 * rows above and below come from items i - 1 and i + 1 by shuffles:
 *
 *               half a word        own: SPAN words       half a word
 *               +--------+-------------------------------+--------+
 *      item 0   |                                                 |  DEPTH rows above
 *               |        +-------------------------------+        |
 *               |        |   OWN_ROWS rows               |        |
 *               |        +-------------------------------+        |
 *      item 31  |                                                 |  DEPTH rows below
 *               +--------+-------------------------------+--------+
 *
 * An epoch is DEPTH generations, after which only the tile's own cells are valid. Then the tile
 * sends the edges of its own cells, and receives its halo from the eight tiles around it. It waits
 * for no other tiles.
 *
 * A halo word has 64 bits: 32 cells in the low half and the epoch in the high half. Loads and
 * stores of halo words are atomic. A tile that finds the expected epoch therefore has the cells
 * too, without a fence and without a separate flag. The mailbox has two halo words for every word
 * of the grid, for even and odd epochs. Double buffering suffices: a tile sends epoch e + 2 after
 * it has received epoch e + 1 from all neighbours, and a neighbour that has sent e + 1 has read e.
 *
 * All tiles must be resident at once, which OpenCL does not guarantee: the host runs a start-up
 * test first. A tile that polls more than `max_polls` times sets `timed_out`, and all tiles
 * return.
 * SPDX-License-Identifier: MIT
 */

/* ---- Knobs (a tuning row, and packed_persistent.c). ------------------------------------------ */

#ifndef WORDS
#define WORDS 3 /* words of 32 cells across, per tile: 1 + an even number */
#endif
#ifndef ROWS
#define ROWS 2 /* rows per item; 2 or more */
#endif
#ifndef WARPS
#define WARPS 4 /* tiles of a group; they are independent */
#endif
#ifndef SHUFFLE
#define SHUFFLE 0 /* 1: NVIDIA's shfl.sync; 0: through local memory */
#endif

#define WARP 32
#define DEPTH 16         /* generations of an epoch: half a word's cells */
#define SPAN (WORDS - 1) /* own words across */
#define OWN_ROWS (WARP * ROWS - 2 * DEPTH)

#ifdef __CPU__ /* set by the loader; NVIDIA's instructions are for GPUs */
#undef SHUFFLE
#define SHUFFLE 0
#endif

#ifndef LIFE_SUMS_H
#include "sums.h"
#endif

/* ---- The mailbox. ---------------------------------------------------------------------------- */

#define HALO_WORD(cells, epoch) ((ulong)(epoch) << 32 | (cells))
#if SHUFFLE /* NVIDIA: atomic, and bypassing the first-level cache */
static inline void halo_word_store(__global ulong *at, uint cells, uint epoch)
{
    __asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(HALO_WORD(cells, epoch))
                   : "memory");
}

static inline ulong halo_word_load(__global const ulong *at)
{
    ulong v;
    __asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(at) : "memory");
    return v;
}

static inline bool has_timed_out(volatile __global const uint *timed_out)
{
    uint v;
    __asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(timed_out) : "memory");
    return v;
}
#elif __OPENCL_C_VERSION__ >= 300
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable
static inline void halo_word_store(__global ulong *at, uint cells, uint epoch)
{
    atomic_store_explicit((volatile __global atomic_ulong *)at, HALO_WORD(cells, epoch),
                          memory_order_relaxed, memory_scope_device);
}

static inline ulong halo_word_load(__global const ulong *at)
{
    return atomic_load_explicit((volatile __global atomic_ulong *)at, memory_order_relaxed,
                                memory_scope_device);
}

static inline bool has_timed_out(volatile __global const uint *timed_out)
{
    return atomic_load_explicit((volatile __global atomic_uint *)timed_out, memory_order_relaxed,
                                memory_scope_device);
}
#else /* for editors, and for a single tile */
static inline void halo_word_store(__global ulong *at, uint cells, uint epoch)
{
    *(volatile __global ulong *)at = HALO_WORD(cells, epoch);
}

static inline ulong halo_word_load(__global const ulong *at)
{
    return *(volatile __global const ulong *)at;
}

static inline bool has_timed_out(volatile __global const uint *timed_out)
{
    return *(volatile __global const uint *)timed_out;
}
#endif

/* ---- Position of an item. -------------------------------------------------------------------- */

struct tile_place {
    int lane;
    int word, row;   /* the tile's first own word and row in the grid */
    int words, rows; /* of the grid */
    uint two, high;  /* see sums.h */
#if !SHUFFLE
    __local uint *scratch; /* a word of each item */
#endif
};

static inline int wrap_index(int i, int n) /* i from -n to 2 n - 1 */
{
    return i < 0 ? i + n : i >= n ? i - n : i;
}

/* True if row t of the tile is its own: DEPTH <= t < DEPTH + OWN_ROWS. */
static inline bool is_own(int t)
{
    return t >= DEPTH && t < DEPTH + OWN_ROWS;
}

static inline int grid_row_of(const struct tile_place *me, int t)
{
    return wrap_index(me->row - DEPTH + t, me->rows);
}

/* Convert two neighbouring words of the grid to the tile's word between them, or two of the tile
 * to the grid's word: the two layouts are half a word apart. */
static inline uint shift_half_word(uint left, uint right)
{
    return left >> 16 | right << 16;
}

/* ---- Exchange between items. ------------------------------------------------------------- */

#if SHUFFLE
#define tile_barrier() __asm volatile("bar.warp.sync -1;" ::: "memory")

static inline uint value_of_item(uint w, int item, const struct tile_place *me)
{
    uint out;
    (void)me;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, -1;" : "=r"(out) : "r"(w), "r"(item));
    return out;
}

static inline bool any_of_tile(bool yes, const struct tile_place *me)
{
    uint out;
    (void)me;
    __asm volatile(
        "{ .reg .pred p, q; setp.ne.u32 p, %1, 0; vote.sync.any.pred q, p, -1; selp.u32 %0, 1, 0, q; }"
        : "=r"(out)
        : "r"((uint)yes));
    tile_barrier();
    return out;
}
#else /* slow, for start-up tests; a group is one tile */
#define tile_barrier() barrier(CLK_LOCAL_MEM_FENCE)

static inline uint value_of_item(uint w, int item, const struct tile_place *me)
{
    me->scratch[me->lane] = w;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint out = me->scratch[item];
    barrier(CLK_LOCAL_MEM_FENCE);
    return out;
}

static inline bool any_of_tile(bool yes, const struct tile_place *me)
{
    bool any = false;
    for (int i = 0; i < WARP; i++)
        any |= value_of_item(yes, i, me);
    return any;
}
#endif

static inline struct sums sums_of_item(const struct sums *own, int item,
                                       const struct tile_place *me)
{
    struct sums out;
#pragma unroll
    for (int k = 0; k < WORDS; k++) {
        out.s[k] = value_of_item(own->s[k], item, me);
        out.m[k] = value_of_item(own->m[k], item, me);
#ifdef BLOCK_RULE
        out.c[k] = value_of_item(own->c[k], item, me);
#endif
    }
    return out;
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* Advance one generation. Rows are processed from the first to the last, or with `up` from the
 * last to the first; the caller alternates. The sums that are sent first then belong to the row
 * that was computed first a generation ago, and the other rows' sums overlap with the shuffles. */
static inline void persistent_generation(uint cell[ROWS][WORDS], const bool up,
                                         const struct tile_place *me)
{
    const int next_item = (me->lane + 1) % WARP, last_item = (me->lane + WARP - 1) % WARP;
    struct sums far, before, here, beyond;
    sum_row(&far, cell[up ? 0 : ROWS - 1], 0, 0, me->two, me->high);
    before = sums_of_item(&far, up ? next_item : last_item, me);
    sum_row(&here, cell[up ? ROWS - 1 : 0], 0, 0, me->two, me->high);
    beyond = sums_of_item(&here, up ? last_item : next_item, me);
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        const int r = up ? ROWS - 1 - i : i;
        struct sums after;
        if (i < ROWS - 2)
            sum_row(&after, cell[up ? r - 1 : r + 1], 0, 0, me->two, me->high);
        else
            after = i == ROWS - 2 ? far : beyond;
        next_row(cell[r], up ? &after : &before, &here, up ? &before : &after);
        before = here;
        here = after;
    }
}

/* ---- Load and store. ----------------------------------------------------------------- */

static inline void load_persistent_tile(uint cell[ROWS][WORDS], __global const uint *from,
                                        const struct tile_place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        __global const uint *row = from + (long)grid_row_of(me, me->lane * ROWS + r) * me->words;
        uint left = row[wrap_index(me->word - 1, me->words)];
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const uint right = row[wrap_index(me->word + k, me->words)];
            cell[r][k] = shift_half_word(left, right);
            left = right;
        }
    }
}

static inline void store_persistent_tile(uint cell[ROWS][WORDS], __global uint *to,
                                         const struct tile_place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        if (is_own(t))
#pragma unroll
            for (int k = 0; k < SPAN; k++)
                to[(long)grid_row_of(me, t) * me->words + me->word + k] =
                    shift_half_word(cell[r][k], cell[r][k + 1]);
    }
}

/* ---- Halos. ------------------------------------------------------------------------- */

/* Index of a word in the mailbox, which is column-major, as the items that access it: a row-major
 * access by 32 items would touch 32 cache lines instead of two. */
static inline long mailbox_index(const struct tile_place *me, int word, int row)
{
    return (long)word * me->rows + row;
}

/* Send the tile's edges: whole rows at the upper and lower edge, and the words at both sides of
 * the rows in between. */
static inline void halo_send(uint cell[ROWS][WORDS], __global ulong *mailbox, uint epoch,
                             const struct tile_place *me)
{
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        const bool edge = t < 2 * DEPTH || t >= OWN_ROWS;
        const int y = grid_row_of(me, t);
#pragma unroll
        for (int k = 0; k < SPAN; k++)
            if (is_own(t) && (edge || k == 0 || k == SPAN - 1))
                halo_word_store(mailbox + mailbox_index(me, me->word + k, y),
                                shift_half_word(cell[r][k], cell[r][k + 1]), epoch);
    }
}

/* The halo words that an item receives: a row above or below the tile, and the words to the left
 * and right of its own rows. */
struct halo {
    uint row[WORDS + 1];
    uint left[ROWS], right[ROWS];
};

static inline bool halo_word_arrived(uint *cells, __global const ulong *at, uint epoch)
{
    const ulong word = halo_word_load(at);
    *cells = (uint)word;
    return (uint)(word >> 32) == epoch;
}

/* True if all halo words of the epoch have arrived. For rows that are not the tile's own, the item
 * polls the row that it polls anyway. */
static inline bool halo_poll(struct halo *halo, __global const ulong *mailbox, uint epoch,
                             const struct tile_place *me)
{
    const int before = wrap_index(me->word - 1, me->words),
              after = wrap_index(me->word + SPAN, me->words);
    const int t = me->lane < DEPTH ? me->lane : me->lane + OWN_ROWS;
    const int beside = grid_row_of(me, t);
    bool all = halo_word_arrived(&halo->row[0], mailbox + mailbox_index(me, before, beside), epoch);
#pragma unroll
    for (int k = 0; k < SPAN; k++)
        all &= halo_word_arrived(&halo->row[k + 1],
                                 mailbox + mailbox_index(me, me->word + k, beside), epoch);
    all &= halo_word_arrived(&halo->row[WORDS], mailbox + mailbox_index(me, after, beside), epoch);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int mine = me->lane * ROWS + r;
        const int y = is_own(mine) ? grid_row_of(me, mine) : beside;
        all &= halo_word_arrived(&halo->left[r], mailbox + mailbox_index(me, before, y), epoch);
        all &= halo_word_arrived(&halo->right[r], mailbox + mailbox_index(me, after, y), epoch);
    }
    return all;
}

static inline void halo_unpack(uint cell[ROWS][WORDS], const struct halo *halo,
                               const struct tile_place *me)
{
    uint outer[WORDS];
#pragma unroll
    for (int k = 0; k < WORDS; k++)
        outer[k] = shift_half_word(halo->row[k], halo->row[k + 1]);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int t = me->lane * ROWS + r;
        const bool own = is_own(t);
        const int holder = own ? 0 : t < DEPTH ? t : t - OWN_ROWS;
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const uint other = value_of_item(outer[k], holder, me);
            cell[r][k] = own ? cell[r][k] : other;
        }
        if (own) {
            cell[r][0] = halo->left[r] >> 16 | (cell[r][0] & 0xffff0000u);
            cell[r][WORDS - 1] = (cell[r][WORDS - 1] & 0xffffu) | halo->right[r] << 16;
        }
    }
}

/* Block until the halo of an epoch has arrived, and store it around the tile's own cells. Return
 * false on timeout. */
static inline bool halo_receive(uint cell[ROWS][WORDS], __global const ulong *mailbox, uint epoch,
                                uint max_polls, volatile __global uint *timed_out,
                                const struct tile_place *me)
{
    struct halo halo;
    bool all = halo_poll(&halo, mailbox, epoch, me);
    for (uint polls = 1;
         !all && polls < max_polls && !(polls % 1024 == 0 && has_timed_out(timed_out)); polls++)
        all = halo_poll(&halo, mailbox, epoch, me);
    if (!all)
        atomic_or(timed_out, 1u);
    if (any_of_tile(!all, me))
        return false;
    halo_unpack(cell, &halo, me);
    return true;
}

/* ---- The kernel. ----------------------------------------------------------------------------- */

/* Advance a torus of rows x words by `generations` from `from` to `to`. columns: tiles across.
 * mailbox: two halo words for each word of the grid. This launch has epochs epoch + 1 .. epoch +
 * (generations - 1) / DEPTH; numbers continue from launch to launch. *timed_out becomes 1 if tiles
 * timed out waiting for each other; `to` is invalid then. two = 2, high = 2^31. */
__attribute__((reqd_work_group_size(WARP, WARPS, 1))) __kernel void life_persistent(
    __global const uint *from, __global uint *to, __global ulong *mailbox,
    volatile __global uint *timed_out, int words, int rows, int columns, int generations,
    uint epoch, uint max_polls, uint two, uint high)
{
    const int tile = (int)get_group_id(0) * WARPS + (int)get_local_id(1);
    struct tile_place me;
    me.lane = (int)get_local_id(0);
    me.word = tile % columns * SPAN;
    me.row = tile / columns * OWN_ROWS;
    me.words = words;
    me.rows = rows;
    me.two = two;
    me.high = high;
#if !SHUFFLE
    __local uint scratch[WARP];
    me.scratch = scratch;
#endif
    uint cell[ROWS][WORDS];
    load_persistent_tile(cell, from, &me);
    while (generations > DEPTH) {
        for (int g = 0; g < DEPTH; g += 2) {
            persistent_generation(cell, false, &me);
            persistent_generation(cell, true, &me);
        }
        generations -= DEPTH;
        epoch++;
        __global ulong *buffer = mailbox + (epoch & 1) * (long)rows * words;
        halo_send(cell, buffer, epoch, &me);
        tile_barrier();
        if (!halo_receive(cell, buffer, epoch, max_polls, timed_out, &me))
            return;
    }
    for (int g = 0; g < generations; g++)
        persistent_generation(cell, false, &me);
    store_persistent_tile(cell, to, &me);
}
