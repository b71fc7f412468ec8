/* lookback.h - how a group learns the sum over all tiles before its own within one launch:
 * decoupled look-back (Merrill & Garland 2016). It follows tiles.h, before scan.cl and sort.cl.
 *
 * Groups take tiles by tickets, so every earlier tile belongs to a group that has started. A tile
 * has a word in global memory for each sum: nothing yet, the tile's own sum, or its prefix: the sum
 * of that tile and all before it. A group stores its own sum, reads the words of earlier tiles
 * backwards up to the first prefix, and stores its own prefix:
 *
 *     tile      5        6      7      8       tile 8 needs own 7 + own 6 + prefix 5
 *     word    prefix    own    own   nothing
 *
 * A word is written whole, so no fence is needed. OpenCL does not promise that a group which has
 * started goes on: the host tries it first (lookback_test). A group that has read a word POLLS
 * times and found nothing computes the sum itself.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_LOOKBACK_H
#define ARRAYS_LOOKBACK_H

#ifndef POLLS
#define POLLS (1 << 16) /* some 50 ms on a GPU */
#endif

/* Return the number of groups that have called this before, since *counter was 0. All items of the
 * group call it once; `room` is in the kernel's local memory. */
uint take_ticket(volatile __global uint *counter, __local uint *room)
{
    if (get_local_id(0) == 0)
        *room = atomic_inc(counter);
    GROUP_BARRIER();
    return READ(uint, *room);
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lookback_clear(
    __global uint *words, ulong n)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        words[i] = 0;
}

#ifndef TEST_POLLS
#define TEST_POLLS (1 << 18)
#endif

/* Each group waits for an earlier one. words[0]: the counter of tickets; words[1]: the number of
 * groups that have waited too long; words[2 + t]: 1 when the group with ticket t is done. All are 0
 * before the launch. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void lookback_test(
    volatile __global uint *words)
{
    __local uint room;
    const uint t = take_ticket(words, &room);
    if (get_local_id(0) != 0)
        return;
    uint polls = 0;
    while (t > 0 && words[2 + (t - 1) / 2] == 0 && polls < TEST_POLLS)
        polls++;
    if (polls == TEST_POLLS)
        atomic_inc(&words[1]);
    words[2 + t] = 1;
}

#ifdef SUM

/* ---- Sums of tiles, for scan.cl and select.cl. ----------------------------------------------- */

/* SUM is their type, uint or ulong, and FROM the type of the array that they are computed from.
 * Return the sum of tile t, which is full; the file that follows defines it. */
SUM sum_of_tile(__global const FROM *x, uint t);

enum scan_state { OWN = 1, PREFIX = 2 };

/* A tile has one word for its 32-bit sum, two for both halves of a 64-bit one. The upper half of a
 * word is 4 * epoch + state, with the number of this launch: words need not be cleared before. */
void store_word(volatile __global ulong *words, uint t, uint epoch, enum scan_state state, SUM sum)
{
    const ulong top = (ulong)(4 * epoch + state) << 32;
    if (sizeof(SUM) == 4) {
        words[t] = top | sum;
    } else {
        words[2 * t] = top | (uint)sum;
        words[2 * t + 1] = top | (uint)((ulong)sum >> 32);
    }
}

/* Set *sum and return its state, 0 if nothing has been stored in this launch yet. */
uint load_word(volatile __global const ulong *words, uint t, uint epoch, SUM *sum)
{
    const bool wide = sizeof(SUM) == 8;
    const ulong2 both = wide ? ((volatile __global const ulong2 *)words)[t] : (ulong2)(words[t]);
    const ulong low = both.x, high = both.y;
    *sum = wide ? (SUM)((ulong)(uint)high << 32 | (uint)low) : (SUM)low;
    const uint top = (uint)(low >> 32);
    return top >> 2 == epoch && (uint)(high >> 32) == top ? top & 3 : 0;
}

/* As load_word, but waits for the sum. If its group does not run, this item computes it. */
uint await_word(volatile __global const ulong *words, uint t, uint epoch, SUM *sum,
                __global const FROM *x)
{
    uint state = 0;
    for (uint polls = 0; !state && polls < POLLS; polls++)
        state = load_word(words, t, epoch, sum);
    if (state)
        return state;
    const SUM own = sum_of_tile(x, t);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    state = load_word(words, t, epoch, sum);
    if (state)
        return state;
    *sum = own;
    return OWN;
}

#ifdef __NV_CL_C_VERSION
struct window {
    SUM before;
};

/* Return the sum over all tiles before tile t. All items of the group call it; the first warp reads
 * the words of 32 tiles at once, after one item has waited for the nearest, which is usually the
 * last to be stored. Groups that wait take bandwidth of the second-level cache: more items that
 * wait, or more words, are slower. */
SUM sum_before(volatile __global const ulong *words, uint t, uint epoch, __global const FROM *x,
               __local struct window *w)
{
    const uint item = get_local_id(0);
    if (item < 32) {
        SUM before = 0;
        uint prefixes = 0;
        for (uint end = t; !prefixes; end -= 32) {
            SUM sum = 0;
            if (item == 0)
                await_word(words, end - 1, epoch, &sum, x);
            WARP_BARRIER();
            const uint state =
                item < end ? await_word(words, end - 1 - item, epoch, &sum, x) : PREFIX;
            prefixes = warp_ballot(state == PREFIX);
            const uint nearest = popcount((prefixes & -prefixes) - 1); /* 32: none */
            before += item <= nearest ? sum : 0;
        }
#pragma unroll
        for (uint apart = 1; apart < 32; apart *= 2)
            before += warp_exchange(before, apart);
        if (item == 0)
            w->before = before;
    }
    GROUP_BARRIER();
    return w->before;
}
#else
#define WINDOW 32 /* tiles that are looked at together */

struct window {
    SUM sum[WINDOW];
    uint state[WINDOW];
};

/* Return the sum over all tiles before tile t. All items of the group call it. */
SUM sum_before(volatile __global const ulong *words, uint t, uint epoch, __global const FROM *x,
               __local struct window *w)
{
    const uint item = get_local_id(0);
    SUM before = 0;
    bool found = false;
    for (uint end = t; !found; end -= WINDOW) {
        if (item < WINDOW) {
            SUM sum = 0;
            w->state[item] =
                item < end ? await_word(words, end - 1 - item, epoch, &sum, x) : PREFIX;
            w->sum[item] = sum;
        }
        GROUP_BARRIER();
#pragma unroll
        for (uint k = 0; k < WINDOW; k++) {
            before += found ? 0 : READ(SUM, w->sum[k]);
            found = found || READ(uint, w->state[k]) == PREFIX;
        }
        GROUP_BARRIER();
    }
    return before;
}
#endif
#endif

#endif
