/* tiles.h - how work-groups share an array, and a scan within a group; in front of scan.cl and
 * sort.cl.
 *
 *   a tile    GROUP * ITEMS consecutive elements, which a group has in hand at once
 *   a share   the consecutive tiles of one group, one after the other; shares differ by one tile at
 *             most
 *
 *     | tile 0 | tile 1 | tile 2 | tile 3 | tile 4 |      three groups: shares of 1, 2 and 2 tiles;
 *     | share 0|     share 1     |  share 2   .....|      only the last tile may be short
 *
 * The number of elements may be known on the device alone. The host then launches groups for the
 * most there may be, and those without a tile end at once. No group waits for another: what one
 * needs of the others comes from an earlier launch.
 *
 * Included in front of kernels by the host (sorter.c), which sets the knobs below.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#define ARRAYS_TILES_H

#ifndef GROUP
#define GROUP 256 /* work-items of a group, a power of two from 32 on; 1 on CPUs */
#endif
#ifndef ITEMS
#define ITEMS 8 /* elements of a tile that an item has */
#endif
#ifndef NUMBER
#define NUMBER uint /* what is added up, or sorted */
#endif

#define TILE (GROUP * ITEMS)
#if GROUP == 1
#define JOIN_GROUP()
#else
#define JOIN_GROUP() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* What stands at a place of local memory, for use behind a barrier after which others write there.
 * PoCL 7.0 and 7.1 read such a place again behind the barrier (tests/drivers/reread.cl), unless it
 * is volatile. */
#ifdef __CPU__
#define READ(type, place) (*(volatile __local type *)&(place))
#else
#define READ(type, place) (place)
#endif

/* How many elements there are: *count where the device alone knows. */
uint number_of(uint most, int counted, __global const uint *count)
{
    return counted ? min(*count, most) : most;
}

/* How many of `groups` groups have a share of n elements. */
uint shares_of(uint n, uint groups)
{
    return min((n + (TILE - 1)) / TILE, groups);
}

/* Where the share of group g of `shares` begins; that of group `shares` begins at the end, n. */
uint share_start(uint n, uint shares, uint g)
{
    const ulong tiles = (n + (TILE - 1)) / TILE;
    return (uint)min(tiles * g / shares * TILE, (ulong)n);
}

/* The share that tile t is in. */
uint share_of(uint n, uint shares, uint t)
{
    const ulong tiles = (n + (TILE - 1)) / TILE;
    return (uint)(((ulong)(t + 1) * shares - 1) / tiles);
}

/* The sum of `mine` over the items before this one; *all: over all items of the group. `room` has 2
 * GROUP numbers. Each round adds up four neighbours of the round before (Hillis & Steele 1986, with
 * fours for twos). */
#define SCAN_GROUP(type)                                                                           \
    type scan_##type(__local type *room, type mine, type *all)                                     \
    {                                                                                              \
        const uint item = get_local_id(0);                                                         \
        uint now = 0;                                                                              \
        room[item] = mine;                                                                         \
        JOIN_GROUP();                                                                              \
        for (uint apart = 1; apart < GROUP; apart *= 4, now ^= GROUP) {                            \
            type sum = room[now + item];                                                           \
            for (uint k = 1; k < 4; k++)                                                           \
                sum += item >= k * apart ? room[now + item - k * apart] : 0;                       \
            room[(now ^ GROUP) + item] = sum;                                                      \
            JOIN_GROUP();                                                                          \
        }                                                                                          \
        *all = READ(type, room[now + GROUP - 1]);                                                  \
        const type before = READ(type, room[now + item]) - mine;                                   \
        JOIN_GROUP();                                                                              \
        return before;                                                                             \
    }

#endif
