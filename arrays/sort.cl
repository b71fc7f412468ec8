/* sort.cl - one pass of a stable radix sort: by 8 bits of the keys, from `shift` on. Three
 * launches.
 *
 *     keys      | share 0 | share 1 | share 2 |                   shares and tiles: tiles.h
 *     table     share 0: c00 c01 ...; share 1: c10 c11 ...        1. sort_count: each group counts
 *               its share's digits
 *               share 0: 0 0 ...;     share 1: c00 c01 ...;       2. sort_scan: a group scans a
 *               digit's counts over the
 *               totals: t0 t1 ...                                    shares, and leaves its total
 *     to        | all of digit 0 | all of digit 1 | ...           3. sort_scatter: each tile is put
 *               into its places
 *
 * On CPUs a group is one item, and goes through its share. On GPUs each tile has a group of its own
 * in the scatter, and sort_count has left in the table what the share's tiles before have of each
 * digit. So tiles that are neighbours are written at about the same time: in each digit's place
 * they are neighbours too, and what two of them leave in one line of the cache goes to memory once.
 * (A group that goes through a share comes back to such a line late: on an H200 that moved 1.2
 * TB/s.)
 *
 * Keys of one digit keep their order: shares and tiles stand in order, and within a tile each key's
 * rank among those of its digit is found:
 *
 *   a team    32 items; a team has 32 ITEMS consecutive keys, in ITEMS rows of 32
 *   a row     the items of a team that have the same digit find each other by a word of bits, one
 *             an item; the
 *             bits below one's own tell how many of them come first (match)
 *   before    count[team][digit] holds how many the team had in its rows before
 *
 * The tile is then put in order in local memory, so that what goes to one digit's place is written
 * side by side.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

#ifndef MATCH
#define MATCH 0 /* 1: teams are NVIDIA's warps, and match by ballots, in PTX */
#endif
#ifndef STREAM
#define STREAM                                                                                     \
    21 /* of one item: log2 of the keys from which on results are written past the caches */
#endif

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#define DIGITS 256
#define DIGIT(key) ((uint)((key) >> shift) & mask)

SCAN_GROUP(uint)

/* Rows of the table, DIGITS counts each: of share g, of all, of tile t. `groups` is how many
 * sort_count has. */
#define SHARE(g) (table + (g)*DIGITS)
#define TOTALS (table + groups * DIGITS)
#define OF_TILE(t) (table + (ulong)(groups + 1 + (t)) * DIGITS)

#if GROUP == 1
/* ---- One item: what a processor's core does. ------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sort_count(__global uint *table,
                                                                        __global const NUMBER *keys,
                                                                        uint shift, uint mask,
                                                                        uint most, int counted,
                                                                        __global const uint *count)
{
    const uint n = number_of(most, counted, count), groups = get_num_groups(0),
               shares = shares_of(n, groups), g = get_group_id(0);
    if (g >= shares)
        return;
    uint bins[DIGITS];
    for (uint d = 0; d < DIGITS; d++)
        bins[d] = 0;
    const uint end = share_start(n, shares, g + 1);
    for (uint i = share_start(n, shares, g); i < end; i++)
        bins[DIGIT(keys[i])]++;
    for (uint d = 0; d < DIGITS; d++)
        SHARE(g)[d] = bins[d];
}

/* What goes to one digit's place is held back until it fills whole lines of the cache, which are
 * then written past it. */
#define LINE 16
typedef GLUE(NUMBER, LINE) key_line;
#if defined(__CPU__) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE(line, to) __builtin_nontemporal_store(line, to)
#endif
#endif
#ifndef STORE
#define STORE(line, to) (*(to) = (line))
#endif

struct held {
    key_line keys[DIGITS];
    uint16 values[DIGITS];
};

/* Writes what is held of a digit: places from ... to - 1, all in one line. */
void put_held(const struct held *held, uint digit, uint from, uint end, __global NUMBER *to,
              int paired, __global uint *to_values)
{
    for (uint p = from; p < end; p++)
        to[p] = ((const NUMBER *)&held->keys[digit])[p % LINE];
    if (paired)
        for (uint p = from; p < end; p++)
            to_values[p] = ((const uint *)&held->values[digit])[p % LINE];
}

/* Puts keys first ... end - 1 into their places; place[] goes on with them. */
void stream(__global NUMBER *to, __global const NUMBER *keys, int paired, __global uint *to_values,
            __global const uint *values, uint *place, uint shift, uint mask, uint first, uint end)
{
    struct held held;
    uint start[DIGITS]; /* the share's first place of each digit: before it in a line are others'
                           keys */
    for (uint d = 0; d < DIGITS; d++)
        start[d] = place[d];
    for (uint i = first; i < end; i++) {
        const uint digit = DIGIT(keys[i]), p = place[digit]++;
        ((NUMBER *)&held.keys[digit])[p % LINE] = keys[i];
        if (paired)
            ((uint *)&held.values[digit])[p % LINE] = values[i];
        if (p % LINE != LINE - 1)
            continue;
        const uint line = p - (LINE - 1);
        if (line < start[digit]) {
            put_held(&held, digit, start[digit], p + 1, to, paired, to_values);
            continue;
        }
        STORE(held.keys[digit], (__global key_line *)(to + line));
        if (paired)
            STORE(held.values[digit], (__global uint16 *)(to_values + line));
    }
    for (uint d = 0; d < DIGITS; d++)
        put_held(&held, d, max(start[d], place[d] / LINE * LINE), place[d], to, paired, to_values);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sort_scatter(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global uint *to_values,
    __global const uint *values, __global const uint *table, uint groups, uint shift, uint mask,
    uint most, int counted, __global const uint *count)
{
    const uint n = number_of(most, counted, count), shares = shares_of(n, groups),
               g = get_group_id(0);
    if (g >= shares)
        return;
    uint place[DIGITS];
    ulong before = 0;
    bool fits = true;
    for (uint d = 0; d < DIGITS; d++) {
        place[d] = before + SHARE(g)[d];
        fits = fits && SHARE(g)[d] <= TOTALS[d];
        before += TOTALS[d];
    }
    if (!fits || before != n) /* what was to count them has failed */
        return;
    const uint first = share_start(n, shares, g), end = share_start(n, shares, g + 1);
    if (n >> STREAM)
        stream(to, keys, paired, to_values, values, place, shift, mask, first, end);
    else
        for (uint i = first; i < end; i++) {
            const uint p = place[DIGIT(keys[i])]++;
            to[p] = keys[i];
            if (paired)
                to_values[p] = values[i];
        }
}

#else
/* ---- Groups of teams. ------------------------------------------------------------------------ */

#define TEAM 32
#define TEAMS (GROUP / TEAM)
#define OWN_DIGITS ((DIGITS + GROUP - 1) / GROUP) /* of an item */
#if MATCH == 1 && defined(__NV_CL_C_VERSION)
#define WARPS 1
#else
#define WARPS 0
#endif
#define INLINE __attribute__((always_inline)) /* arrays of an item are registers then */
#define EACH_DIGIT(d) for (uint d = get_local_id(0); d < DIGITS; d += GROUP)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_count(
    __global uint *table, __global const NUMBER *keys, uint shift, uint mask, uint most,
    int counted, __global const uint *count)
{
    __local uint bins[DIGITS];
    const uint n = number_of(most, counted, count), groups = get_num_groups(0),
               shares = shares_of(n, groups), g = get_group_id(0);
    if (g >= shares)
        return;
    EACH_DIGIT(d)
    bins[d] = 0;
    JOIN_GROUP();
    const uint end = share_start(n, shares, g + 1);
    for (uint tile = share_start(n, shares, g); tile < end; tile += TILE) {
        NUMBER own[ITEMS]; /* all on their way before the first is counted */
        const uint first = tile + get_local_id(0);
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            own[k] = first + k * GROUP < end ? keys[first + k * GROUP] : 0;
        EACH_DIGIT(d)
        OF_TILE(tile / TILE)[d] = bins[d];
        JOIN_GROUP();
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            if (first + k * GROUP < end)
                atomic_inc(&bins[DIGIT(own[k])]);
        JOIN_GROUP();
    }
    EACH_DIGIT(d)
    SHARE(g)[d] = bins[d];
}

/* Exclusive scan of DIGITS pairs of numbers, in place; `room` has as many. */
void scan_digits(__local uint2 *v, __local uint2 *room)
{
    __local uint2 *now = v, *next = room;
    uint2 own[OWN_DIGITS];
    uint k = 0;
    EACH_DIGIT(d)
    own[k++] = v[d];
    for (uint apart = 1; apart < DIGITS; apart *= 4) {
        EACH_DIGIT(d)
        {
            uint2 sum = now[d];
            for (uint j = 1; j < 4; j++)
                sum += d >= j * apart ? now[d - j * apart] : (uint2)(0, 0);
            next[d] = sum;
        }
        JOIN_GROUP();
        __local uint2 *other = now;
        now = next;
        next = other;
    }
    k = 0; /* four rounds: the sums are in v again */
    EACH_DIGIT(d)
    v[d] -= own[k++];
    JOIN_GROUP();
}

/* How many keys of each digit a team has had so far; and, where teams match by local memory, who
 * has which, in the row at hand and the one after. */
struct teams {
    uint count[TEAMS][DIGITS];
#if !WARPS
    uint with[2][TEAMS][DIGITS];
#endif
};

/* The items of the team that have this digit in row `row`, a bit each. All items of the group call
 * it, and what they wrote to local memory before is seen by their team after it. */
#if WARPS
#define JOIN_TEAM() __asm volatile("bar.warp.sync 0xffffffff;" ::: "memory")
uint match(__local struct teams *t, uint team, uint lane, uint digit, uint row)
{
    uint with = ~0u;
    JOIN_TEAM();
#pragma unroll
    for (uint b = 0; b < 8; b++) {
        const uint bit = digit >> b & 1;
        uint vote;
        __asm volatile(
            "{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
            : "=r"(vote)
            : "r"(bit));
        with &= vote ^ (bit - 1);
    }
    return with;
}
#else
#define JOIN_TEAM() JOIN_GROUP()
uint match(__local struct teams *t, uint team, uint lane, uint digit, uint row)
{
    atomic_or(&t->with[row % 2][team][digit], 1u << lane);
    JOIN_TEAM();
    return READ(uint, t->with[row % 2][team][digit]);
}
#endif

/* The rank of an item's key among those of its digit that the team had so far, in order. */
uint rank(__local struct teams *t, uint team, uint lane, uint digit, uint row)
{
    const uint with = match(t, team, lane, digit, row), before = READ(uint, t->count[team][digit]);
    const uint first = popcount(with & ((1u << lane) - 1));
    JOIN_TEAM();
    if (first == 0) {
        t->count[team][digit] = before + popcount(with);
#if !WARPS
        t->with[row % 2][team][digit] = 0; /* next used two rows from here, behind barriers */
#endif
    }
    return before + first;
}

/* Where the items' keys go in the tile: at[]. What is to be added there for their place in the
 * result: off[digit]. Of an item's own digits, total[] is how many keys have them, before[] how
 * many of those stand before the tile. */
INLINE void rank_tile(__local struct teams *t, const NUMBER *own, uint *at, const uint *total,
                      const uint *before, __local uint2 *start, __local uint2 *room,
                      __local uint *off, uint shift, uint mask)
{
    const uint team = get_local_id(0) / TEAM, lane = get_local_id(0) % TEAM;
    EACH_DIGIT(d)
    for (uint w = 0; w < TEAMS; w++) {
        t->count[w][d] = 0;
#if !WARPS
        t->with[0][w][d] = t->with[1][w][d] = 0;
#endif
    }
    JOIN_GROUP();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        at[k] = rank(t, team, lane, DIGIT(own[k]), k);
    JOIN_GROUP();
    uint j = 0;
    EACH_DIGIT(d)
    {
        uint sum = 0;
        for (uint w = 0; w < TEAMS; w++) { /* count[w][d] becomes that of the teams before w */
            const uint count = t->count[w][d];
            t->count[w][d] = sum;
            sum += count;
        }
        start[d] = (uint2)(sum, total[j++]); /* in the tile; in the result */
    }
    JOIN_GROUP();
    scan_digits(start, room);
    j = 0;
    EACH_DIGIT(d)
    off[d] = start[d].y + before[j++] - start[d].x;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        at[k] += start[DIGIT(own[k])].x + t->count[team][DIGIT(own[k])];
    JOIN_GROUP();
}

/* Puts the tile's keys in order in local memory, and from there into their places, goal[]. */
INLINE void put_keys(__local NUMBER *room, const NUMBER *own, const uint *at, uint *goal,
                     __local const uint *off, uint filled, __global NUMBER *to, uint shift,
                     uint mask)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        room[at[k]] = own[k];
    JOIN_GROUP();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint p = get_local_id(0) + k * GROUP;
        const NUMBER key = room[p];
        goal[k] = off[DIGIT(key)] + p;
        if (p < filled)
            to[goal[k]] = key;
    }
    JOIN_GROUP();
}

INLINE void put_values(__local uint *room, const uint *own, const uint *at, const uint *goal,
                       uint filled, __global uint *to)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        room[at[k]] = own[k];
    JOIN_GROUP();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint p = get_local_id(0) + k * GROUP;
        if (p < filled)
            to[goal[k]] = room[p];
    }
    JOIN_GROUP(); /* no need of ours: PoCL 3.1 writes for all items, where some must not, if the
                     kernel ends here */
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_scatter(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global uint *to_values,
    __global const uint *values, __global const uint *table, uint groups, uint shift, uint mask,
    uint most, int counted, __global const uint *count)
{
    __local union {
        struct teams teams;
        NUMBER keys[TILE];
        uint values[TILE];
    } room;
    __local uint2 start[DIGITS], scanned[DIGITS];
    __local uint off[DIGITS];
    const uint n = number_of(most, counted, count), tiles = (n + (TILE - 1)) / TILE,
               t = get_group_id(0);
    if (t >= tiles)
        return;
    const uint item = get_local_id(0),
               first = t * TILE + item / TEAM * (TEAM * ITEMS) + item % TEAM;
    NUMBER own[ITEMS];
    uint own_values[ITEMS], at[ITEMS], goal[ITEMS], total[OWN_DIGITS], before[OWN_DIGITS], j = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS;
         k++) /* beyond the end the greatest: behind all others of the tile */
        own[k] = first + k * TEAM < n ? keys[first + k * TEAM] : ~(NUMBER)0;
    const uint g = share_of(n, shares_of(n, groups), t);
    EACH_DIGIT(d)
    {
        total[j] = TOTALS[d];
        before[j++] = SHARE(g)[d] + OF_TILE(t)[d];
    }
    rank_tile(&room.teams, own, at, total, before, start, scanned, off, shift, mask);
    if (paired)
#pragma unroll
        for (uint k = 0; k < ITEMS; k++) /* on their way while the keys are put */
            own_values[k] = first + k * TEAM < n ? values[first + k * TEAM] : 0;
    const uint filled = min(n - t * TILE, (uint)TILE);
    put_keys(room.keys, own, at, goal, off, filled, to, shift, mask);
    if (paired)
        put_values(room.values, own_values, at, goal, filled, to_values);
}
#endif

/* ---- Both. ----------------------------------------------------------------------------------- */

/* DIGITS groups, one a digit. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_scan(
    __global uint *table, uint groups, uint most, int counted, __global const uint *count)
{
    __local uint room[2 * GROUP];
    const uint shares = shares_of(number_of(most, counted, count), groups), digit = get_group_id(0);
    uint before = 0, all;
    for (uint first = 0; first < shares; first += GROUP) {
        const uint g = first + get_local_id(0);
        const uint sum = scan_uint(room, g < shares ? SHARE(g)[digit] : 0, &all);
        if (g < shares)
            SHARE(g)[digit] = before + sum;
        before += all;
    }
    if (get_local_id(0) == 0)
        TOTALS[digit] = before;
}

/* Back to where the keys were, after an odd number of passes. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_copy(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global uint *to_values,
    __global const uint *values, uint most, int counted, __global const uint *count)
{
    const uint n = number_of(most, counted, count), shares = shares_of(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= shares)
        return;
    const uint first = share_start(n, shares, g) + get_local_id(0),
               end = share_start(n, shares, g + 1);
    for (uint i = first; i < end; i += GROUP)
        to[i] = keys[i];
    if (paired)
        for (uint i = first; i < end; i += GROUP)
            to_values[i] = values[i];
}
