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

#define TEST_POLLS (1 << 18)

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

#endif
