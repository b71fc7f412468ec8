/* sparse.cl - Life on a plane without edges of which only tiles with something going on are
 * computed.
 *
 * A tile (sparse_tiles.h) is taken eight generations on at a time, a pass. With the cells around
 * it, eight on each side, it is 64 rows of 64 cells, a word each. What lies beyond is not known, so
 * words become wrong from the outside in by a cell a generation, and after eight of them the tile's
 * own cells are right:
 *
 *      | 8: tile to the left | 48: its own | 8: tile to the right |    bits of a word, from the
 *      lowest
 *
 * There are two sets of cells, by turns. A pass computes the tiles of a list. One whose cells have
 * become others is in the list of the next pass, and so is each neighbour next to whose edge, up to
 * eight cells away, something is different. All others sleep: what they and their neighbours have
 * is what they had eight generations ago, so it will be eight generations on, and both sets have
 * it. Still lives do so, and all that has a period of 2, 4 or 8. Where something has changed near
 * an edge and there is no tile beyond, one is wanted.
 *
 * Generations that go back to the same cells after two need not go on: what is the same two cells
 * within the edges of the 64 x 64 stays so.
 *
 * On CPUs (GROUP 1) an item takes a tile with vectors of eight rows, and a launch may have one item
 * that makes many passes. On others a group takes a tile, an item a row.
 * SPDX-License-Identifier: MIT
 */

#ifndef GROUP
#define GROUP 1 /* items that compute a tile: 1, or 64 */
#endif
#ifndef TERNARY
#define TERNARY 0 /* 1: AVX-512's vpternlog, by the compiler's builtin */
#endif

#ifndef LIFE_SPARSE_TILES_H
#include "sparse_tiles.h"
#endif
#ifndef LIFE_TERNARY_H
#include "ternary.h"
#endif
#if GROUP == 1
#define WORD ulong8
#else
#define WORD ulong
#endif
#if TERNARY && GROUP == 1 && defined(__AVX512F__)
#undef LOGIC
#define LOGIC(out, a, b, c, t)                                                                     \
    const WORD out = as_ulong8(                                                                    \
        __builtin_ia32_pternlogq512_mask(as_long8(a), as_long8(b), as_long8(c), t, (uchar)255))
#endif
#define PARITY(out, a, b, c) LOGIC(out, a, b, c, 0x96)   /* the low bit of a + b + c */
#define MAJORITY(out, a, b, c) LOGIC(out, a, b, c, 0xe8) /* the high bit */

#define OWN 0x00ffffffffffff00ul
#define LEFT 0x000000000000ff00ul  /* those of its own that the tile to the left needs */
#define RIGHT 0x00ff000000000000ul /* and to the right */
enum { SELF = 1 << 8 };            /* behind a bit for each neighbour */

/* What the host has made for the tiles. */
#define POOL_ARGS                                                                                  \
    __global ulong *cells_0, __global ulong *cells_1, __global int *near, __global int *place,     \
        __global int *mark, __global int *list, __global int *want, __global int *missing,         \
        __global int *table, __global int *control, const int capacity, const uint mask
#define POOL                                                                                       \
    {                                                                                              \
        {cells_0, cells_1}, near, place, mark, list, want, missing, table, control, capacity, mask \
    }

static inline __global const ulong *rows_of(__global const ulong *cells, int tile)
{
    return cells + (size_t)tile * SPARSE_SIDE;
}

/* ---- The next list, and wants. --------------------------------------------------------------- */

/* Puts a tile on the next list, once. `alone`: no other item is at work. */
static inline void wake(const struct sparse_pool *p, int tile, int next, int alone)
{
    __global int *marked = p->mark + 2 * tile + next;
    if (alone)
        sparse_wake(p, tile, next);
    else if (!atomic_xchg(marked, 1))
        p->list[next * p->capacity + atomic_inc(p->control + SPARSE_COUNT + next)] = tile;
}

static inline void want(const struct sparse_pool *p, int tile, int directions, int alone)
{
    p->missing[tile] = directions;
    p->want[alone ? p->control[SPARSE_WANTS]++ : atomic_inc(p->control + SPARSE_WANTS)] = tile;
}

/* Wakes the tile and its neighbours as `changed` says, bits by number. Those that there are not are
 * wanted. */
static inline void tell_neighbours(const struct sparse_pool *p, int tile, int changed, int next,
                                   int alone)
{
    int directions = 0;
    if (changed & SELF)
        wake(p, tile, next, alone);
    for (int d = 0; d < SPARSE_NEAR; d++)
        if (changed >> d & 1) {
            const int other = p->near[SPARSE_NEAR * tile + d];
            if (other)
                wake(p, other, next, alone);
            else
                directions |= 1 << d;
        }
    if (directions)
        want(p, tile, directions, alone);
}

/* Which neighbours cells concern, of which `all` has the columns, and `top` and `bottom` those of
 * the first and last eight rows. */
static inline int concerned(ulong all, ulong top, ulong bottom)
{
    return (all ? SELF : 0) | (top & LEFT ? 1 : 0) | (top ? 2 : 0) | (top & RIGHT ? 4 : 0) |
           (all & LEFT ? 8 : 0) | (all & RIGHT ? 16 : 0) | (bottom & LEFT ? 32 : 0) |
           (bottom ? 64 : 0) | (bottom & RIGHT ? 128 : 0);
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* A row's cells and the sums 2 m + s of each with its two neighbours; for BLOCK_RULE, which
 * circuit.c writes, the neighbours themselves. */
struct sums {
    WORD cell, s, m;
};

static inline struct sums add_row(WORD cell)
{
    const WORD l = cell << 1, r = cell >> 1;
#ifdef BLOCK_RULE
    const struct sums a = {cell, l, r};
#else
    PARITY(s, l, cell, r);
    MAJORITY(m, l, cell, r);
    const struct sums a = {cell, s, m};
#endif
    return a;
}

static inline WORD next_row(struct sums above, struct sums here, struct sums below)
{
#ifdef BLOCK_RULE
    BLOCK_RULE(next, above.s, above.cell, above.m, here.s, here.cell, here.m, below.s, below.cell,
               below.m);
#else
    NEXT_STATE(next, above.s, above.m, here.s, here.m, below.s, below.m, here.cell);
#endif
    return next;
}

#if GROUP == 1

/* While generations are computed, lane j of vector i is row 8 j + i: rows above and below are other
 * vectors, but for the first and the last. */
struct square {
    ulong8 v[8];
};

/* Row 8 i + j becomes row 8 j + i. */
static inline void turn(struct square *q)
{
    struct square a, b;
#pragma unroll
    for (int i = 0; i < 8; i += 2) {
        const ulong8 x = q->v[i], y = q->v[i + 1];
        a.v[i] = (ulong8)(x.s0, y.s0, x.s2, y.s2, x.s4, y.s4, x.s6, y.s6);
        a.v[i + 1] = (ulong8)(x.s1, y.s1, x.s3, y.s3, x.s5, y.s5, x.s7, y.s7);
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
        const int i = (k & 1) + 4 * (k >> 1);
        const ulong8 x = a.v[i], y = a.v[i + 2];
        b.v[i] = (ulong8)(x.s01, y.s01, x.s45, y.s45);
        b.v[i + 2] = (ulong8)(x.s23, y.s23, x.s67, y.s67);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const ulong8 x = b.v[i], y = b.v[i + 4];
        q->v[i] = (ulong8)(x.s0123, y.s0123);
        q->v[i + 4] = (ulong8)(x.s4567, y.s4567);
    }
}

static inline ulong8 lanes_up(ulong8 x)
{
    return (ulong8)(0, x.s0123, x.s456);
}

static inline ulong8 lanes_down(ulong8 x)
{
    return (ulong8)(x.s1234, x.s567, 0);
}

static inline void generation(struct square *q)
{
    struct sums a[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] = add_row(q->v[i]);
    const struct sums first = {lanes_up(a[7].cell), lanes_up(a[7].s), lanes_up(a[7].m)};
    const struct sums last = {lanes_down(a[0].cell), lanes_down(a[0].s), lanes_down(a[0].m)};
#pragma unroll
    for (int i = 0; i < 8; i++)
        q->v[i] = next_row(i ? a[i - 1] : first, a[i], i < 7 ? a[i + 1] : last);
}

static inline ulong8 beside(__global const ulong *left, __global const ulong *own,
                            __global const ulong *right, int i)
{
    return vload8(i, left) >> 48 | vload8(i, own) | vload8(i, right) << 48;
}

static inline ulong any_of(ulong8 x)
{
    const ulong4 a = x.lo | x.hi;
    const ulong2 b = a.lo | a.hi;
    return b.x | b.y;
}

/* Whether two generations have brought back the same, two cells within the edges. */
static inline int is_back(const struct square *now, const struct square *before)
{
    const ulong8 columns = 0x3ffffffffffffffcul,
                 no_first = (ulong8)(0, 1, 1, 1, 1, 1, 1, 1) * columns,
                 no_last = (ulong8)(1, 1, 1, 1, 1, 1, 1, 0) * columns;
    ulong8 other = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        other |= (now->v[i] ^ before->v[i]) & (i < 2 ? no_first : i < 6 ? columns : no_last);
    return any_of(other) == 0;
}

/* Takes a tile some generations on, 1 to 8. */
static inline void advance_tile(const struct sparse_pool *p, int tile, int generations, int now,
                                int alone)
{
    __global const ulong *from = p->cells[now];
    __global ulong *to = p->cells[!now] + (size_t)tile * SPARSE_SIDE;
    __global const int *near = p->near + SPARSE_NEAR * tile;
    __global const ulong *own = rows_of(from, tile), *left = rows_of(from, near[3]),
                         *right = rows_of(from, near[4]);
    struct square q, start;
    p->mark[2 * tile + now] = 0;
    q.v[0] = beside(rows_of(from, near[0]), rows_of(from, near[1]), rows_of(from, near[2]), 5);
    q.v[7] = beside(rows_of(from, near[5]), rows_of(from, near[6]), rows_of(from, near[7]), 0);
#pragma unroll
    for (int i = 0; i < 6; i++)
        q.v[i + 1] = beside(left, own, right, i);
    turn(&q);
    start = q;
    int back = 0;
    for (int g = 0; g < generations && !back; g++) {
        generation(&q);
        back = g == 1 && generations % 2 == 0 && is_back(&q, &start);
    }
    if (back) {
#pragma unroll
        for (int i = 0; i < 6; i++)
            vstore8(vload8(i, own), i, to);
        return;
    }
    turn(&q);
    ulong8 changed = 0, top = 0, bottom = 0;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const ulong8 cells = q.v[i + 1] & OWN, other = cells ^ vload8(i, own);
        vstore8(cells, i, to);
        changed |= other;
        top = i == 0 ? other : top;
        bottom = i == 5 ? other : bottom;
    }
    const int tell = concerned(any_of(changed), any_of(top), any_of(bottom));
    if (tell)
        tell_neighbours(p, tile, tell, !now, alone);
}

/* ---- Passes. --------------------------------------------------------------------------------- */

/* A pass over the list, by the items of the launch. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_pass(POOL_ARGS,
                                                                              const int generations)
{
    const struct sparse_pool pool = POOL;
    const int now = control[SPARSE_TURN],
              n = control[SPARSE_STOP] ? 0 : control[SPARSE_COUNT + now];
    const int first = (int)((long)n * (long)get_global_id(0) / (long)get_global_size(0)),
              end = (int)((long)n * ((long)get_global_id(0) + 1) / (long)get_global_size(0));
    for (int i = first; i < end; i++)
        advance_tile(&pool, list[now * capacity + i], generations, now, 0);
}

#else

/* A row of a tile with what is beside it, of the 64; of tiles in one row of three. */
static inline ulong beside(__global const ulong *cells, int left, int own, int right, int row)
{
    return rows_of(cells, left)[row] >> 48 | rows_of(cells, own)[row] |
           rows_of(cells, right)[row] << 48;
}

/* A pass: groups take tiles of the list by turns. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_sparse_pass(
    POOL_ARGS, const int generations)
{
    __local struct sums shared[2][GROUP];
    __local int changed;
    const struct sparse_pool pool = POOL;
    const int now = control[SPARSE_TURN],
              n = control[SPARSE_STOP] ? 0 : control[SPARSE_COUNT + now], y = (int)get_local_id(0);
    const int inner = y >= SPARSE_HALO && y < GROUP - SPARSE_HALO;
    for (int i = (int)get_group_id(0); i < n; i += (int)get_num_groups(0)) {
        const int tile = list[now * capacity + i];
        __global const int *around = near + SPARSE_NEAR * tile;
        const int d = y < SPARSE_HALO ? 0
                      : inner ? 3
                              : 5,
                  row = (y + SPARSE_SIDE - SPARSE_HALO) % SPARSE_SIDE;
        const ulong before = beside(pool.cells[now], around[d], inner ? tile : around[d + 1],
                                    around[inner ? d + 1 : d + 2], row);
        ulong cells = before;
        if (y == 0) {
            mark[2 * tile + now] = 0;
            changed = 0;
        }
        for (int g = 0; g < generations; g++) {
            const struct sums here = add_row(cells), none = {0, 0, 0};
            shared[g & 1][y] = here;
            barrier(CLK_LOCAL_MEM_FENCE);
            cells = next_row(y ? shared[g & 1][y - 1] : none, here,
                             y < GROUP - 1 ? shared[g & 1][y + 1] : none);
        }
        if (inner) {
            const ulong mine = cells & OWN, other = (cells ^ before) & OWN;
            pool.cells[!now][(size_t)tile * SPARSE_SIDE + row] = mine;
            const int top = row < SPARSE_HALO, bottom = row >= SPARSE_SIDE - SPARSE_HALO;
            if (other)
                atomic_or(&changed, concerned(other, top ? other : 0, bottom ? other : 0));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y == 0 && changed)
            tell_neighbours(&pool, tile, changed, !now, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#endif

/* ---- Between passes. ------------------------------------------------------------------------- */

/* A pass is done: the next list is the present one. */
static inline void end_pass(const struct sparse_pool *p)
{
    const int now = p->control[SPARSE_TURN];
    sparse_settle(p, !now);
    p->control[SPARSE_WORK] += p->control[SPARSE_COUNT + now];
    p->control[SPARSE_COUNT + now] = 0;
    p->control[SPARSE_TURN] = !now;
    p->control[SPARSE_PASSES]++;
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_settle(POOL_ARGS,
                                                                                const int pass)
{
    const struct sparse_pool pool = POOL;
    if (!pass)
        sparse_settle(&pool, control[SPARSE_TURN]);
    else if (!control[SPARSE_STOP])
        end_pass(&pool);
}

#if GROUP == 1
/* Many passes by one item, until it has computed about so many tiles, or none is left to be. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_passes(
    POOL_ARGS, const int generations, const int most, const int work)
{
    const struct sparse_pool pool = POOL;
    while (control[SPARSE_PASSES] < most && control[SPARSE_WORK] < work && !control[SPARSE_STOP]) {
        const int now = control[SPARSE_TURN], n = control[SPARSE_COUNT + now];
        if (!n)
            break;
        for (int i = 0; i < n; i++)
            advance_tile(&pool, list[now * capacity + i], generations, now, 1);
        end_pass(&pool);
    }
}
#endif

/* Puts all tiles on the present list, and wants those that are missing next to live cells. */
__kernel void life_sparse_wake(POOL_ARGS)
{
    const struct sparse_pool pool = POOL;
    const int now = control[SPARSE_TURN], used = control[SPARSE_USED];
    for (int tile = 1 + (int)get_global_id(0); tile < used; tile += (int)get_global_size(0)) {
        __global const ulong *own = rows_of(pool.cells[now], tile);
        ulong all = 0, top = 0, bottom = 0;
        for (int i = 0; i < SPARSE_SIDE; i++) {
            all |= own[i];
            top |= i < SPARSE_HALO ? own[i] : 0;
            bottom |= i >= SPARSE_SIDE - SPARSE_HALO ? own[i] : 0;
        }
        tell_neighbours(&pool, tile, SELF | concerned(all, top, bottom), now, 0);
    }
}

/* sums[item] = live cells of each get_global_size(0)-th tile. */
__kernel void life_sparse_count(__global const ulong *cells_0, __global const ulong *cells_1,
                                __global const int *control, __global ulong *sums)
{
    __global const ulong *cells = control[SPARSE_TURN] ? cells_1 : cells_0;
    ulong sum = 0;
    for (int tile = 1 + (int)get_global_id(0); tile < control[SPARSE_USED];
         tile += (int)get_global_size(0))
        for (int i = 0; i < SPARSE_SIDE; i++)
            sum += popcount(rows_of(cells, tile)[i]);
    sums[get_global_id(0)] = sum;
}
