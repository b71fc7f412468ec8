/* sort.cl - one pass of a stable radix sort, by 8 bits of the keys from `shift` on: three launches.
 *
 *     keys      | chunk 0 | chunk 1 | chunk 2 |               chunks and tiles: tiles.h
 *     table     chunk 0: c00 c01 ...; chunk 1: c10 c11 ...    1. sort_count: each group counts the
 *                                                                digits of its chunk
 *               chunk 0: 0 0 ...;     chunk 1: c00 c01 ...;   2. sort_scan: one group per digit
 *               totals: t0 t1 ...                                scans its counts, stores the total
 *     to        | all of digit 0 | all of digit 1 | ...       3. sort_scatter: each tile is
 *                                                                scattered
 *
 * On CPUs a group is one item and processes its chunk. On GPUs the scatter has one group for each
 * tile, and sort_count stores in the table how often each digit occurs in the chunk's earlier
 * tiles. So neighbouring tiles are written at about the same time: their keys of a digit are
 * neighbours, too, and a cache line that two tiles share goes to memory once. (A group that
 * processes a whole chunk returns to such a line late.)
 *
 * Keys of one digit keep their order: chunks and tiles are in order, and within a tile the rank of
 * each key among those of its digit is found:
 *
 *   a team    32 items; a team has 32 ITEMS consecutive keys, in ITEMS rows of 32
 *   a row     the items of a team with equal digits find each other by a word with one bit for each
 *             item; the bits below an item's own give the number of earlier ones (match)
 *   before    count[team][digit] is the number in the team's earlier rows
 *
 * The tile is then sorted in local memory, so that keys of one digit are written side by side.
 *
 * With LOOK_BACK, where groups may wait for earlier ones, one launch counts the digits of all
 * passes, and then a pass is one launch that reads the keys once (Adinets & Merrill 2022):
 *
 *     table     totals of pass 0, 1, ...; counters of tickets    sort_digits
 *               tile 0: w00 w01 ...; tile 1: w10 w11 ...         sort_sweep: for each digit a word
 *                                                                of lookback.h, the number of keys
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#include "lookback.h"
#endif

#ifndef MATCH
/* 1: teams are NVIDIA's warps and match by ballots; 2: they are, and match in local memory. */
#define MATCH 0
#endif
#ifndef ORDER
#define ORDER 0 /* keys are 0 unsigned, 1 signed, 2 floating-point numbers */
#endif
#ifndef DESCENDING
#define DESCENDING 0
#endif
#ifndef VALUE
#define VALUE uint /* type of values */
#endif
#ifndef STREAM
/* With one item: log2 of the keys from which on results bypass the caches. */
#define STREAM 21
#endif

#define GLUE_(a, b) a##b
#define GLUE(a, b) GLUE_(a, b)

#define DIGITS 256
#define DIGIT(key) ((uint)(ordered(key) >> shift) & mask)

#define TOP_BIT ((NUMBER)1 << (8 * sizeof(NUMBER) - 1))
#define TWICE_INFINITY (sizeof(NUMBER) == 4 ? (NUMBER)0xff000000 : (NUMBER)0xffe0000000000000)

/* Return an unsigned number that compares as the key does in the order of the sort. NaN is the
 * greatest; no other floating-point number becomes the greatest. */
INLINE NUMBER ordered(NUMBER key)
{
#if ORDER == 2
    if ((NUMBER)(key << 1) > TWICE_INFINITY)
        return ~(NUMBER)0;
    key ^= key & TOP_BIT ? ~(NUMBER)0 : TOP_BIT;
#elif ORDER == 1
    key ^= TOP_BIT;
#endif
    return DESCENDING ? ~key : key;
}

/* A key that sorts last: for floating-point numbers NaN. */
#if ORDER == 2
#define LAST_KEY (~(NUMBER)0)
#elif ORDER == 1
#define LAST_KEY (DESCENDING ? TOP_BIT : (NUMBER)~TOP_BIT)
#else
#define LAST_KEY (DESCENDING ? (NUMBER)0 : ~(NUMBER)0)
#endif

SCAN_GROUP(uint)

/* Move to the first elements of the arrays; `start` has their numbers. */
#define PLACE_ARRAYS                                                                               \
    keys += start.x;                                                                               \
    values += start.y;                                                                             \
    to += start.z;                                                                                 \
    to_values += start.w;

/* Rows of the table, DIGITS counts each: of chunk g, of all chunks, of tile t. `groups`: number of
 * groups of sort_count. */
#define CHUNK_ROW(g) (table + (g)*DIGITS)
#define TOTALS_ROW (table + groups * DIGITS)
#define TILE_ROW(t) (table + (ulong)(groups + 1 + (t)) * DIGITS)

#if GROUP == 1
/* ---- CPUs: a group is one item. -------------------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sort_count(
    __global uint *table, __global const NUMBER *keys, uint start, uint shift, uint mask, uint most,
    int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count), groups = get_num_groups(0),
               chunks = chunk_count(n, groups), g = get_group_id(0);
    if (g >= chunks)
        return;
    uint bins[DIGITS];
    keys += start;
    for (uint d = 0; d < DIGITS; d++)
        bins[d] = 0;
    const uint end = chunk_start(n, chunks, g + 1);
    for (uint i = chunk_start(n, chunks, g); i < end; i++)
        bins[DIGIT(keys[i])]++;
    for (uint d = 0; d < DIGITS; d++)
        CHUNK_ROW(g)[d] = bins[d];
}

/* Keys of a digit are buffered until they fill a cache line, which is written by non-temporal
 * stores. */
#define LINE 16
typedef GLUE(NUMBER, LINE) key_line;
#if defined(__CPU__) && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define STORE_LINE(line, to) __builtin_nontemporal_store(line, to)
#endif
#endif
#ifndef STORE_LINE
#define STORE_LINE(line, to) (*(to) = (line))
#endif

struct line_buffer {
    key_line keys[DIGITS];
    GLUE(VALUE, LINE) values[DIGITS];
};

/* Write buffered keys of a digit: places from ... end - 1, all in one line. */
void flush_line(const struct line_buffer *lines, uint digit, uint from, uint end,
                __global NUMBER *to, int paired, __global VALUE *to_values)
{
    for (uint p = from; p < end; p++)
        to[p] = ((const NUMBER *)&lines->keys[digit])[p % LINE];
    if (paired)
        for (uint p = from; p < end; p++)
            to_values[p] = ((const VALUE *)&lines->values[digit])[p % LINE];
}

/* Scatter keys first ... end - 1 and advance place[]. */
void scatter_streaming(__global NUMBER *to, __global const NUMBER *keys, int paired,
                       __global VALUE *to_values, __global const VALUE *values, uint *place,
                       uint shift, uint mask, uint first, uint end)
{
    struct line_buffer lines;
    /* The chunk's first place of each digit: earlier places of its line are other chunks'. */
    uint start[DIGITS];
    for (uint d = 0; d < DIGITS; d++)
        start[d] = place[d];
    for (uint i = first; i < end; i++) {
        const uint digit = DIGIT(keys[i]), p = place[digit]++;
        ((NUMBER *)&lines.keys[digit])[p % LINE] = keys[i];
        if (paired)
            ((VALUE *)&lines.values[digit])[p % LINE] = values[i];
        if (p % LINE != LINE - 1)
            continue;
        const uint line = p - (LINE - 1);
        if (line < start[digit]) {
            flush_line(&lines, digit, start[digit], p + 1, to, paired, to_values);
            continue;
        }
        STORE_LINE(lines.keys[digit], (__global key_line *)(to + line));
        if (paired)
            STORE_LINE(lines.values[digit], (__global GLUE(VALUE, LINE) *)(to_values + line));
    }
    for (uint d = 0; d < DIGITS; d++)
        flush_line(&lines, d, max(start[d], place[d] / LINE * LINE), place[d], to, paired,
                   to_values);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void sort_scatter(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global VALUE *to_values,
    __global const VALUE *values, uint4 start, __global const uint *table, uint groups, uint shift,
    uint mask, uint most, int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count), chunks = chunk_count(n, groups),
               g = get_group_id(0);
    if (g >= chunks)
        return;
    PLACE_ARRAYS
    uint place[DIGITS];
    ulong before = 0;
    bool fits = true;
    for (uint d = 0; d < DIGITS; d++) {
        place[d] = before + CHUNK_ROW(g)[d];
        fits = fits && CHUNK_ROW(g)[d] <= TOTALS_ROW[d];
        before += TOTALS_ROW[d];
    }
    if (!fits || before != n) /* the counting kernel has failed */
        return;
    const uint first = chunk_start(n, chunks, g), end = chunk_start(n, chunks, g + 1);
    if (n >> STREAM && start.z % LINE == 0 && start.w % LINE == 0)
        scatter_streaming(to, keys, paired, to_values, values, place, shift, mask, first, end);
    else
        for (uint i = first; i < end; i++) {
            const uint p = place[DIGIT(keys[i])]++;
            to[p] = keys[i];
            if (paired)
                to_values[p] = values[i];
        }
}

#else
/* ---- GPUs: groups of teams. ------------------------------------------------------------------ */

#define TEAM 32
#define TEAMS (GROUP / TEAM)
#define OWN_DIGITS ((DIGITS + GROUP - 1) / GROUP) /* digits of an item */
#ifdef __NV_CL_C_VERSION
#define WARPS MATCH
#else
#define WARPS 0
#endif
#define EACH_DIGIT(d) for (uint d = get_local_id(0); d < DIGITS; d += GROUP)

#if !LOOK_BACK
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_count(
    __global uint *table, __global const NUMBER *keys, uint start, uint shift, uint mask, uint most,
    int counted, __global const uint *count)
{
    __local uint bins[DIGITS];
    const uint n = element_count(most, counted, count), groups = get_num_groups(0),
               chunks = chunk_count(n, groups), g = get_group_id(0);
    if (g >= chunks)
        return;
    keys += start;
    EACH_DIGIT(d)
    bins[d] = 0;
    GROUP_BARRIER();
    const uint end = chunk_start(n, chunks, g + 1);
    for (uint tile = chunk_start(n, chunks, g); tile < end; tile += TILE) {
        NUMBER own[ITEMS]; /* all loads in flight before the first is counted */
        const uint first = tile + get_local_id(0);
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            own[k] = first + k * GROUP < end ? keys[first + k * GROUP] : 0;
        EACH_DIGIT(d)
        TILE_ROW(tile / TILE)[d] = bins[d];
        GROUP_BARRIER();
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            if (first + k * GROUP < end)
                atomic_inc(&bins[DIGIT(own[k])]);
        GROUP_BARRIER();
    }
    EACH_DIGIT(d)
    CHUNK_ROW(g)[d] = bins[d];
}
#endif

/* Exclusive scan of DIGITS pairs of numbers, in place; `room` has the same size. */
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
        GROUP_BARRIER();
        __local uint2 *other = now;
        now = next;
        next = other;
    }
    k = 0; /* after four rounds the sums are in v again */
    EACH_DIGIT(d)
    v[d] -= own[k++];
    GROUP_BARRIER();
}

#if WARPS
#define MASKS 1
#else
#define MASKS 2 /* for this row and the next, since teams share barriers */
#endif

/* count: the place in the sorted tile of a team's next key of each digit. mask: if teams match
 * through local memory, the items that have each digit in a row. */
struct teams {
    uint count[TEAMS][DIGITS];
    uint mask[MASKS][TEAMS][DIGITS];
};

/* Set at[] to the places of the items' keys in the sorted tile. All items of the group call it. */
#if WARPS == 2
/* Add n to *count and return the previous number. Only one item of the warp accesses *count, so
 * either way is right; each is 3 to 8 % faster than the other for its keys, on an H200. */
uint advance(volatile __local uint *count, uint n)
{
    if (sizeof(NUMBER) == 4)
        return atomic_add(count, n);
    const uint before = *count;
    *count = before + n;
    return before;
}

INLINE void rank_keys(__local struct teams *t, const NUMBER *own, uint *at, uint shift, uint mask)
{
    const uint team = get_local_id(0) / TEAM, lane = get_local_id(0) % TEAM;
#pragma unroll
    for (uint row = 0; row < ITEMS; row++) {
        const uint digit = DIGIT(own[row]);
        volatile __local uint *items = &t->mask[0][team][digit];
        atomic_or(items, 1u << lane);
        WARP_BARRIER();
        const uint peers = *items, last = 31 - clz(peers);
        uint before = 0;
        WARP_BARRIER();
        if (lane == last) {
            before = advance(&t->count[team][digit], popcount(peers));
            *items = 0;
        }
        WARP_BARRIER();
        at[row] = warp_take(before, last) + popcount(peers & ((1u << lane) - 1));
    }
}
#else
/* Return a mask of the team's items with this digit. Earlier writes to local memory are visible to
 * the team after it. */
#if WARPS == 1
#define TEAM_BARRIER() WARP_BARRIER()
uint match(__local struct teams *t, uint team, uint lane, uint digit, uint row)
{
    uint mask = ~0u;
    TEAM_BARRIER();
#pragma unroll
    for (uint b = 0; b < 8; b++) {
        const uint bit = digit >> b & 1;
        mask &= warp_ballot(bit) ^ (bit - 1);
    }
    return mask;
}
#else
#define TEAM_BARRIER() GROUP_BARRIER()
uint match(__local struct teams *t, uint team, uint lane, uint digit, uint row)
{
    atomic_or(&t->mask[row % 2][team][digit], 1u << lane);
    TEAM_BARRIER();
    return READ(uint, t->mask[row % 2][team][digit]);
}
#endif

INLINE void rank_keys(__local struct teams *t, const NUMBER *own, uint *at, uint shift, uint mask)
{
    const uint team = get_local_id(0) / TEAM, lane = get_local_id(0) % TEAM;
#pragma unroll
    for (uint row = 0; row < ITEMS; row++) {
        const uint digit = DIGIT(own[row]), peers = match(t, team, lane, digit, row),
                   before = READ(uint, t->count[team][digit]),
                   first = popcount(peers & ((1u << lane) - 1));
        TEAM_BARRIER();
        if (first == 0) {
            t->count[team][digit] = before + popcount(peers);
#if WARPS == 0
            t->mask[row % 2][team][digit] = 0; /* next used two rows from here, after barriers */
#endif
        }
        at[row] = before + first;
    }
}
#endif

/* Set t->count[w][d] to the number of keys of digit d of the teams before w, and counts[] to those
 * of the tile, for an item's digits. */
INLINE void count_tile(__local struct teams *t, const NUMBER *own, uint *counts, uint shift,
                       uint mask)
{
    const uint team = get_local_id(0) / TEAM;
    uint j = 0;
    EACH_DIGIT(d)
    for (uint w = 0; w < TEAMS; w++) {
        t->count[w][d] = 0;
#if WARPS != 1
        for (uint i = 0; i < MASKS; i++)
            t->mask[i][w][d] = 0;
#endif
    }
    GROUP_BARRIER();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        atomic_inc(&t->count[team][DIGIT(own[k])]);
    GROUP_BARRIER();
    EACH_DIGIT(d)
    {
        uint sum = 0;
        for (uint w = 0; w < TEAMS; w++) {
            const uint count = t->count[w][d];
            t->count[w][d] = sum;
            sum += count;
        }
        counts[j++] = sum;
    }
}

/* Set at[] to the keys' places in the sorted tile. Before, start[d] is the number of keys of a
 * digit in the tile and in the array; after, where they start in the sorted tile and in the
 * result. */
INLINE void place_tile(__local struct teams *t, const NUMBER *own, uint *at, __local uint2 *start,
                       __local uint2 *room, uint shift, uint mask)
{
    GROUP_BARRIER();
    scan_digits(start, room);
    EACH_DIGIT(d)
    for (uint w = 0; w < TEAMS; w++)
        t->count[w][d] += start[d].x;
    GROUP_BARRIER();
    rank_keys(t, own, at, shift, mask);
    GROUP_BARRIER();
}

/* Sort the tile's keys in local memory. */
INLINE void sort_in_room(__local NUMBER *room, const NUMBER *own, const uint *at)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        room[at[k]] = own[k];
}

/* Load the tile's keys, and keys that sort last for places past the end. first: an item's first
 * place. Places count from the buffer's start: pointers that are no arguments of the kernel would
 * take registers. */
INLINE void load_keys(NUMBER *own, __global const NUMBER *keys, uint first, uint end)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        own[k] = first + k * TEAM < end ? keys[first + k * TEAM] : LAST_KEY;
}
INLINE void load_values(VALUE *own, __global const VALUE *values, uint first, uint end)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        own[k] = first + k * TEAM < end ? values[first + k * TEAM] : 0;
}
uint first_place(uint tile)
{
    const uint item = get_local_id(0);
    return tile * TILE + item / TEAM * (TEAM * ITEMS) + item % TEAM;
}

/* Write the keys of the sorted tile to their places, destination[]. off[digit]: the distance from
 * places in the tile to those in the result. */
INLINE void scatter_keys(__local const NUMBER *room, uint *destination, __local const uint *off,
                         uint filled, __global NUMBER *to, uint shift, uint mask)
{
    GROUP_BARRIER();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint p = get_local_id(0) + k * GROUP;
        const NUMBER key = room[p];
        destination[k] = off[DIGIT(key)] + p;
        if (p < filled)
            to[destination[k]] = key;
    }
    GROUP_BARRIER();
}

INLINE void scatter_values(__local VALUE *room, const VALUE *own, const uint *at,
                           const uint *destination, uint filled, __global VALUE *to, uint beyond)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        room[at[k]] = own[k];
    GROUP_BARRIER();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint p = get_local_id(0) + k * GROUP;
        if (p < filled)
            to[destination[k] + beyond] = room[p];
    }
    /* Works around PoCL 3.1, which ignores `if (p < filled)` where the kernel ends here. */
    GROUP_BARRIER();
}

union tile_room {
    struct teams teams;
    NUMBER keys[TILE];
    VALUE values[TILE];
};

#if LOOK_BACK
#define PASSES ((uint)sizeof(NUMBER))
/* The table. */
#define PASS_TOTALS(pass) (table + (pass)*DIGITS)
#define PASS_COUNTERS (table + PASSES * DIGITS)
#define TILE_WORDS (table + (PASSES + 1) * DIGITS)

/* Count the digits of all passes. The table is 0. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_digits(
    __global uint *table, __global const NUMBER *keys, uint start, uint first_bit, uint bits,
    uint most, int counted, __global const uint *count)
{
    __local uint bins[PASSES][DIGITS];
    keys += start;
    const uint n = element_count(most, counted, count), tiles = (n + (TILE - 1)) / TILE;
    const NUMBER used = ~(NUMBER)0 >> (8 * PASSES - bits);
    for (uint p = 0; p < PASSES; p++)
        EACH_DIGIT(d)
    bins[p][d] = 0;
    GROUP_BARRIER();
    for (uint t = get_group_id(0); t < tiles; t += get_num_groups(0)) {
        NUMBER own[ITEMS];
        const uint first = t * TILE + get_local_id(0);
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            own[k] =
                first + k * GROUP < n ? ordered(keys[first + k * GROUP]) >> first_bit & used : 0;
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            if (first + k * GROUP < n)
                for (uint p = 0; 8 * p < bits; p++)
                    atomic_inc(&bins[p][own[k] >> 8 * p & (DIGITS - 1)]);
    }
    GROUP_BARRIER();
    for (uint p = 0; 8 * p < bits; p++)
        EACH_DIGIT(d)
    if (bins[p][d])
        atomic_add(&PASS_TOTALS(p)[d], bins[p][d]);
}

/* States of a word in its upper two bits; the others are a number of keys. The last state of a pass
 * is the first of the next: words need not be cleared between passes. */
enum { STATE = 30, NUMBER_OF_KEYS = (1 << STATE) - 1 };
struct states {
    uint nothing, own, prefix;
};
struct states states_of(uint pass)
{
    const struct states even = {0u << STATE, 1u << STATE, 2u << STATE},
                        odd = {2u << STATE, 3u << STATE, 0u << STATE};
    return pass & 1 ? odd : even;
}

/* Return the word of a digit of tile t. A tile whose group does not run is counted here: its keys
 * are not overwritten in this pass. */
uint await_keys(volatile __global const uint *words, __global const NUMBER *keys,
                const struct states s, uint t, uint digit, uint shift, uint mask)
{
    uint word = s.nothing, n = 0;
    for (uint polls = 0; (word & ~NUMBER_OF_KEYS) == s.nothing && polls < POLLS; polls++)
        word = words[t * DIGITS + digit];
    if ((word & ~NUMBER_OF_KEYS) != s.nothing)
        return word;
    for (uint i = 0; i < TILE; i++)
        n += DIGIT(keys[(ulong)t * TILE + i]) == digit;
    return s.own | n;
}

#ifndef DEPTH
#define DEPTH 4 /* words that an item reads at once */
#endif

/* Return how many keys of a digit are in the tiles before t. */
uint keys_before(volatile __global const uint *words, __global const NUMBER *keys,
                 const struct states s, uint t, uint digit, uint shift, uint mask)
{
    uint before = 0;
    for (; t > 0; t -= min(t, (uint)DEPTH)) {
        uint word[DEPTH];
#pragma unroll
        for (uint k = 0; k < DEPTH; k++)
            word[k] = POLLS && k < t ? words[(t - 1 - k) * DIGITS + digit] : s.nothing;
#pragma unroll
        for (uint k = 0; k < DEPTH; k++) {
            if (k >= t)
                return before;
            if ((word[k] & ~NUMBER_OF_KEYS) == s.nothing)
                word[k] = await_keys(words, keys, s, t - 1 - k, digit, shift, mask);
            before += word[k] & NUMBER_OF_KEYS;
            if ((word[k] & ~NUMBER_OF_KEYS) == s.prefix)
                return before;
        }
    }
    return before;
}

#ifndef PAIRED
#define PAIRED 1 /* keys have values; without them a group needs fewer registers */
#endif

/* One pass, for fewer than 2^30 keys: as many groups as `most` keys have tiles. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_sweep(
    __global NUMBER *to, __global const NUMBER *keys, __global VALUE *to_values,
    __global const VALUE *values, uint4 start, __global uint *table, uint pass, uint shift,
    uint mask, uint most, int counted, __global const uint *count)
{
    __local union tile_room room;
    __local uint2 tile_start[DIGITS], scanned[DIGITS];
    __local uint off[DIGITS], ticket;
    const uint n = element_count(most, counted, count), tiles = (n + (TILE - 1)) / TILE,
               t = take_ticket(&PASS_COUNTERS[pass], &ticket);
    const struct states s = states_of(pass);
    volatile __global uint *words = TILE_WORDS;
    if (t >= tiles)
        return;
    const uint first = first_place(t), filled = min(n - t * TILE, (uint)TILE);
    NUMBER own[ITEMS];
    VALUE own_values[ITEMS];
    uint at[ITEMS], destination[ITEMS], in_tile[OWN_DIGITS], j = 0;
    load_keys(own, keys, start.x + first, start.x + n);
    count_tile(&room.teams, own, in_tile, shift, mask);
    EACH_DIGIT(d)
    {
        tile_start[d] = (uint2)(in_tile[j], PASS_TOTALS(pass)[d]);
        in_tile[j] -= d == mask ? TILE - filled : 0; /* without those past the end */
        words[t * DIGITS + d] = (t ? s.own : s.prefix) | in_tile[j++];
    }
    place_tile(&room.teams, own, at, tile_start, scanned, shift, mask);
    sort_in_room(room.keys, own, at);
    j = 0;
    EACH_DIGIT(d)
    {
        const uint before = keys_before(words, keys + start.x, s, t, d, shift, mask);
        if (t)
            words[t * DIGITS + d] = s.prefix | (before + in_tile[j]);
        j++;
        off[d] = start.z + tile_start[d].y + before - tile_start[d].x;
    }
    scatter_keys(room.keys, destination, off, filled, to, shift, mask);
    if (!PAIRED)
        return;
    /* Loaded no earlier, values need no registers while the group looks back. */
    load_values(own_values, values, start.y + first, start.y + n);
    scatter_values(room.values, own_values, at, destination, filled, to_values, start.w - start.z);
}
#else
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_scatter(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global VALUE *to_values,
    __global const VALUE *values, uint4 start, __global const uint *table, uint groups, uint shift,
    uint mask, uint most, int counted, __global const uint *count)
{
    __local union tile_room room;
    __local uint2 tile_start[DIGITS], scanned[DIGITS];
    __local uint off[DIGITS];
    const uint n = element_count(most, counted, count), tiles = (n + (TILE - 1)) / TILE,
               t = get_group_id(0);
    if (t >= tiles)
        return;
    const uint first = first_place(t), filled = min(n - t * TILE, (uint)TILE);
    NUMBER own[ITEMS];
    VALUE own_values[ITEMS];
    uint at[ITEMS], destination[ITEMS], counts[OWN_DIGITS], before[OWN_DIGITS], j = 0;
    load_keys(own, keys, start.x + first, start.x + n);
    const uint g = chunk_of_tile(n, chunk_count(n, groups), t);
    count_tile(&room.teams, own, counts, shift, mask);
    EACH_DIGIT(d)
    {
        tile_start[d] = (uint2)(counts[j], TOTALS_ROW[d]);
        before[j++] = CHUNK_ROW(g)[d] + TILE_ROW(t)[d];
    }
    place_tile(&room.teams, own, at, tile_start, scanned, shift, mask);
    j = 0;
    EACH_DIGIT(d)
    off[d] = start.z + tile_start[d].y + before[j++] - tile_start[d].x;
    sort_in_room(room.keys, own, at);
    if (paired)
        load_values(own_values, values, start.y + first, start.y + n); /* in flight meanwhile */
    scatter_keys(room.keys, destination, off, filled, to, shift, mask);
    if (paired)
        scatter_values(room.values, own_values, at, destination, filled, to_values,
                       start.w - start.z);
}
#endif
#endif

/* ---- CPUs and GPUs. -------------------------------------------------------------------------- */

#if !LOOK_BACK
/* DIGITS groups, one for each digit. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_scan(
    __global uint *table, uint groups, uint most, int counted, __global const uint *count)
{
    __local uint room[2 * GROUP];
    const uint chunks = chunk_count(element_count(most, counted, count), groups),
               digit = get_group_id(0);
    uint before = 0, all;
    for (uint first = 0; first < chunks; first += GROUP) {
        const uint g = first + get_local_id(0);
        const uint sum = scan_uint(room, g < chunks ? CHUNK_ROW(g)[digit] : 0, &all);
        if (g < chunks)
            CHUNK_ROW(g)[digit] = before + sum;
        before += all;
    }
    if (get_local_id(0) == 0)
        TOTALS_ROW[digit] = before;
}
#endif

/* Copy back to the caller's memory, after an odd number of passes. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void sort_copy(
    __global NUMBER *to, __global const NUMBER *keys, int paired, __global VALUE *to_values,
    __global const VALUE *values, uint4 start, uint most, int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count), chunks = chunk_count(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= chunks)
        return;
    PLACE_ARRAYS
    const uint first = chunk_start(n, chunks, g) + get_local_id(0),
               end = chunk_start(n, chunks, g + 1);
    for (uint i = first; i < end; i += GROUP)
        to[i] = keys[i];
    if (paired)
        for (uint i = first; i < end; i += GROUP)
            to_values[i] = values[i];
}
