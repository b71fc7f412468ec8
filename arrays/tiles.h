/* tiles.h - how work-groups divide an array, a scan within a group, and warps; it precedes scan.cl
 * and sort.cl.
 *
 *   a tile    GROUP * ITEMS consecutive elements, which a group processes at once
 *   a chunk   the consecutive tiles of one group; sizes of chunks differ by one tile at most
 *
 *     | tile 0 | tile 1 | tile 2 | tile 3 | tile 4 |      three groups: chunks of 1, 2 and 2 tiles;
 *     | chunk 0|     chunk 1     |  chunk 2   .....|      only the last tile may be short
 *
 * The number of elements may be known on the device only. The host then launches groups for the
 * maximum, and groups without a tile return at once. Data of other groups comes from earlier
 * launches, unless groups look back (lookback.h).
 *
 * Arrays may start at any element, and buffers only at multiples of the device's alignment: `start`
 * has the number of each array's first element in its buffer (arrays_start_of).
 *
 * The host puts this file before the kernels (sorter.c) and sets the knobs below.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#define ARRAYS_TILES_H

#ifndef GROUP
/* Work-items of a group, a power of two from 32 on; 1 on CPUs. */
#define GROUP 256
#endif
#ifndef ITEMS
#define ITEMS 8 /* elements of a tile for each item */
#endif
#ifndef NUMBER
#define NUMBER uint /* type of elements */
#endif

#define TILE (GROUP * ITEMS)
#define INLINE __attribute__((always_inline)) /* arrays of an item stay in registers */
#if GROUP == 1
#define GROUP_BARRIER()
#else
#define GROUP_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* Order an item's accesses to global memory for other groups. OpenCL 1.2 has no such fence, and the
 * test of lookback.h does not test one: mem_fence is assumed to do it on devices other than
 * NVIDIA's. */
#ifdef __NV_CL_C_VERSION
#define DEVICE_FENCE() __asm volatile("membar.gl;" ::: "memory")
#else
#define DEVICE_FENCE() mem_fence(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE)
#endif

/* Read local memory before a barrier after which other items write to it. PoCL 7.0 and 7.1 read
 * the place again after the barrier (tests/drivers/reread.cl), unless it is volatile. */
#ifdef __CPU__
#define READ(type, place) (*(volatile __local type *)&(place))
#else
#define READ(type, place) (place)
#endif

/* Return the number of elements. If only the device knows it, `counted` is 1 plus the place of the
 * number in count[]; else 0. */
uint element_count(uint most, int counted, __global const uint *count)
{
    return counted ? min(count[counted - 1], most) : most;
}

/* Return how many of `groups` groups have a chunk of n elements. */
uint chunk_count(uint n, uint groups)
{
    return min((n + (TILE - 1)) / TILE, groups);
}

/* Return the start of chunk g of `chunks`; for g = chunks the end, n. */
uint chunk_start(uint n, uint chunks, uint g)
{
    const ulong tiles = (n + (TILE - 1)) / TILE;
    return (uint)min(tiles * g / chunks * TILE, (ulong)n);
}

/* Return the chunk of tile t. */
uint chunk_of_tile(uint n, uint chunks, uint t)
{
    const ulong tiles = (n + (TILE - 1)) / TILE;
    return (uint)(((ulong)(t + 1) * chunks - 1) / tiles);
}

/* Return the sum of `mine` over the items before this one (read, since a difference would lose
 * digits of floats), and set *all to the sum over all items
 * of the group. `room` has 2 GROUP numbers. Each round adds four neighbours of the round before
 * (Hillis & Steele 1986, with fours for twos). */
#define SCAN_GROUP(type)                                                                           \
    type scan_##type(__local type *room, type mine, type *all)                                     \
    {                                                                                              \
        const uint item = get_local_id(0);                                                         \
        uint now = 0;                                                                              \
        room[item] = mine;                                                                         \
        GROUP_BARRIER();                                                                           \
        for (uint apart = 1; apart < GROUP; apart *= 4, now ^= GROUP) {                            \
            type sum = room[now + item];                                                           \
            for (uint k = 1; k < 4; k++)                                                           \
                sum += item >= k * apart ? room[now + item - k * apart] : 0;                       \
            room[(now ^ GROUP) + item] = sum;                                                      \
            GROUP_BARRIER();                                                                       \
        }                                                                                          \
        *all = READ(type, room[now + GROUP - 1]);                                                  \
        const type before = item ? READ(type, room[now + item - 1]) : 0;                           \
        GROUP_BARRIER();                                                                           \
        return before;                                                                             \
    }

#ifdef __NV_CL_C_VERSION
/* A warp: 32 items that start at a multiple of 32. All of them call these together. */
#define WARP_BARRIER() __asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")

/* Return a mask of the items for which `is` is true. */
uint warp_ballot(bool is)
{
    uint vote;
    __asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                   : "=r"(vote)
                   : "r"((uint)is));
    return vote;
}

/* Return what item `from` of the warp passes. */
uint __attribute__((overloadable)) warp_take(uint mine, uint from)
{
    uint theirs;
    __asm volatile("shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;"
                   : "=r"(theirs)
                   : "r"(mine), "r"(from));
    return theirs;
}

ulong __attribute__((overloadable)) warp_take(ulong mine, uint from)
{
    return (ulong)warp_take((uint)(mine >> 32), from) << 32 | warp_take((uint)mine, from);
}

uint __attribute__((overloadable)) warp_exchange(uint mine, uint apart)
{
    uint theirs;
    __asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 31, 0xffffffff;"
                   : "=r"(theirs)
                   : "r"(mine), "r"(apart));
    return theirs;
}
ulong __attribute__((overloadable)) warp_exchange(ulong mine, uint apart)
{
    return (ulong)warp_exchange((uint)(mine >> 32), apart) << 32 | warp_exchange((uint)mine, apart);
}

/* Load and store elements that leave the caches first. The compiler does not know that they
 * access memory: a kernel must not read an element after it has stored it with store_once. */
uint __attribute__((overloadable)) load_once(__global const uint *x)
{
    uint value;
    __asm volatile("ld.global.cs.u32 %0, [%1];" : "=r"(value) : "l"(x));
    return value;
}
ulong __attribute__((overloadable)) load_once(__global const ulong *x)
{
    ulong value;
    __asm volatile("ld.global.cs.u64 %0, [%1];" : "=l"(value) : "l"(x));
    return value;
}
void __attribute__((overloadable)) store_once(__global uint *x, uint value)
{
    __asm volatile("st.global.cs.u32 [%0], %1;" ::"l"(x), "r"(value));
}
void __attribute__((overloadable)) store_once(__global ulong *x, ulong value)
{
    __asm volatile("st.global.cs.u64 [%0], %1;" ::"l"(x), "l"(value));
}
#endif

#if defined(__NV_CL_C_VERSION) && LOOK_BACK
#define LOAD(place) load_once(&(place))
#define STORE(place, value) store_once(&(place), value)
#else
#define LOAD(place) (place)
#define STORE(place, value) ((place) = (value))
#endif

#endif
