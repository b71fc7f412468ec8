/* sparse.cl - Life on an unbounded plane: only active tiles are computed.
 *
 * A pass advances tiles (sparse_tiles.h) by eight generations. With a halo of eight cells on each
 * side, a tile is 64 rows of 64 cells, a word each. Cells become invalid from the outside inward,
 * one a generation; after eight generations the tile's own cells are still valid:
 *
 *      | 8: tile to the left | 48: its own | 8: tile to the right |    bits of a word, lowest first
 *
 * The cells are double-buffered. A pass computes the tiles of a list. A tile whose cells have
 * changed is in the list of the next pass, together with each neighbour that has a changed cell
 * within eight cells of its edge. All other tiles sleep: since they and their halos are equal to
 * eight generations ago, they stay equal, and both buffers have their cells. This holds for still
 * lifes and for periods 2, 4 and 8. A missing tile next to a change is requested.
 *
 * If the cells return after two generations, the rest of a pass is skipped: cells at least two
 * away from the edges of the 64 x 64 that are equal then stay so.
 *
 * On CPUs (GROUP 1) an item advances a tile with vectors of eight rows, and a launch may have one
 * item that makes many passes. On other devices a group advances a tile, an item a row.
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
#define LEFT 0x000000000000ff00ul  /* own cells that the tile to the left needs */
#define RIGHT 0x00ff000000000000ul /* and to the right */
enum { SELF = 1 << 8 };            /* the bit after those of the neighbours */

/* The host's arrays of tiles. */
#define POOL_ARGS                                                                                  \
    __global ulong *cells_0, __global ulong *cells_1, __global int *neighbour,                     \
        __global int *place, __global int *mark, __global int *list, __global int *request,        \
        __global int *missing, __global int *table, __global int *control, const int capacity,     \
        const uint mask
#define POOL                                                                                       \
    {                                                                                              \
        {cells_0, cells_1}, neighbour, place, mark, list, request, missing, table, control,        \
            capacity, mask                                                                         \
    }

static inline __global const ulong *sparse_tile_rows(__global const ulong *cells, int tile)
{
    return cells + (size_t)tile * SPARSE_SIDE;
}

/* ---- The next list, and wants. --------------------------------------------------------------- */

/* Add a tile to the next list, once. `single`: no other item is running. */
static inline void sparse_activate_shared(const struct sparse_pool *p, int tile, int next,
                                          int single)
{
    __global int *marked = p->mark + 2 * tile + next;
    if (single)
        sparse_activate(p, tile, next);
    else if (!atomic_xchg(marked, 1))
        p->list[next * p->capacity + atomic_inc(p->control + SPARSE_COUNT + next)] = tile;
}

static inline void sparse_request(const struct sparse_pool *p, int tile, int directions, int single)
{
    p->missing[tile] = directions;
    p->request[single ? p->control[SPARSE_REQUESTS]++ : atomic_inc(p->control + SPARSE_REQUESTS)] =
        tile;
}

/* Activate the tile and its neighbours by the bits of `changed`. Request missing neighbours. */
static inline void activate_neighbours(const struct sparse_pool *p, int tile, int changed, int next,
                                       int single)
{
    int directions = 0;
    if (changed & SELF)
        sparse_activate_shared(p, tile, next, single);
    for (int d = 0; d < SPARSE_NEIGHBOURS; d++)
        if (changed >> d & 1) {
            const int other = p->neighbour[SPARSE_NEIGHBOURS * tile + d];
            if (other)
                sparse_activate_shared(p, other, next, single);
            else
                directions |= 1 << d;
        }
    if (directions)
        sparse_request(p, tile, directions, single);
}

/* Neighbours that have cells of this tile in their halo, a bit each. all, top, bottom: columns
 * with cells in any row, in the first and in the last eight rows. */
static inline int neighbours_of_cells(ulong all, ulong top, ulong bottom)
{
    return (all ? SELF : 0) | (top & LEFT ? 1 : 0) | (top ? 2 : 0) | (top & RIGHT ? 4 : 0) |
           (all & LEFT ? 8 : 0) | (all & RIGHT ? 16 : 0) | (bottom & LEFT ? 32 : 0) |
           (bottom ? 64 : 0) | (bottom & RIGHT ? 128 : 0);
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* A row's cells and the sums 2 m + s of each cell and its two neighbours; with BLOCK_RULE, written
 * by circuit.c, the neighbours themselves. */
struct sums {
    WORD cell, s, m;
};

static inline struct sums sparse_sum_row(WORD cell)
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

static inline WORD sparse_next_row(struct sums above, struct sums here, struct sums below)
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

/* A transposed tile: lane j of vector i is row 8 j + i. The rows above and below are then in other
 * vectors, except for the first and the last vector, which need a shift of lanes. */
struct square {
    ulong8 v[8];
};

/* Transpose: row 8 i + j becomes row 8 j + i. */
static inline void transpose_rows(struct square *q)
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

static inline void sparse_generation(struct square *q)
{
    struct sums a[8];
#pragma unroll
    for (int i = 0; i < 8; i++)
        a[i] = sparse_sum_row(q->v[i]);
    const struct sums first = {lanes_up(a[7].cell), lanes_up(a[7].s), lanes_up(a[7].m)};
    const struct sums last = {lanes_down(a[0].cell), lanes_down(a[0].s), lanes_down(a[0].m)};
#pragma unroll
    for (int i = 0; i < 8; i++)
        q->v[i] = sparse_next_row(i ? a[i - 1] : first, a[i], i < 7 ? a[i + 1] : last);
}

static inline ulong8 sparse_row_with_sides(__global const ulong *left, __global const ulong *own,
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

/* True if two generations have returned to the same cells, at least two cells away from the edges.
 */
static inline int is_back(const struct square *current, const struct square *before)
{
    const ulong8 columns = 0x3ffffffffffffffcul,
                 no_first = (ulong8)(0, 1, 1, 1, 1, 1, 1, 1) * columns,
                 no_last = (ulong8)(1, 1, 1, 1, 1, 1, 1, 0) * columns;
    ulong8 other = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
        other |= (current->v[i] ^ before->v[i]) & (i < 2 ? no_first : i < 6 ? columns : no_last);
    return any_of(other) == 0;
}

/* Advance a tile by 1 to 8 generations. */
static inline void sparse_advance_tile(const struct sparse_pool *p, int tile, int generations,
                                       int current, int single)
{
    __global const ulong *from = p->cells[current];
    __global ulong *to = p->cells[!current] + (size_t)tile * SPARSE_SIDE;
    __global const int *neighbours = p->neighbour + SPARSE_NEIGHBOURS * tile;
    __global const ulong *own = sparse_tile_rows(from, tile),
                         *left = sparse_tile_rows(from, neighbours[3]),
                         *right = sparse_tile_rows(from, neighbours[4]);
    struct square q, start;
    p->mark[2 * tile + current] = 0;
    q.v[0] = sparse_row_with_sides(sparse_tile_rows(from, neighbours[0]),
                                   sparse_tile_rows(from, neighbours[1]),
                                   sparse_tile_rows(from, neighbours[2]), 5);
    q.v[7] = sparse_row_with_sides(sparse_tile_rows(from, neighbours[5]),
                                   sparse_tile_rows(from, neighbours[6]),
                                   sparse_tile_rows(from, neighbours[7]), 0);
#pragma unroll
    for (int i = 0; i < 6; i++)
        q.v[i + 1] = sparse_row_with_sides(left, own, right, i);
    transpose_rows(&q);
    start = q;
    int back = 0;
    for (int g = 0; g < generations && !back; g++) {
        sparse_generation(&q);
        back = g == 1 && generations % 2 == 0 && is_back(&q, &start);
    }
    if (back) {
#pragma unroll
        for (int i = 0; i < 6; i++)
            vstore8(vload8(i, own), i, to);
        return;
    }
    transpose_rows(&q);
    ulong8 changed = 0, top = 0, bottom = 0;
#pragma unroll
    for (int i = 0; i < 6; i++) {
        const ulong8 cells = q.v[i + 1] & OWN, other = cells ^ vload8(i, own);
        vstore8(cells, i, to);
        changed |= other;
        top = i == 0 ? other : top;
        bottom = i == 5 ? other : bottom;
    }
    const int tell = neighbours_of_cells(any_of(changed), any_of(top), any_of(bottom));
    if (tell)
        activate_neighbours(p, tile, tell, !current, single);
}

/* ---- Passes. --------------------------------------------------------------------------------- */

/* A pass over the list, divided among the items of the launch. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_pass(POOL_ARGS,
                                                                              const int generations)
{
    const struct sparse_pool pool = POOL;
    const int current = control[SPARSE_CURRENT],
              n = control[SPARSE_STOP] ? 0 : control[SPARSE_COUNT + current];
    const int first = (int)((long)n * (long)get_global_id(0) / (long)get_global_size(0)),
              end = (int)((long)n * ((long)get_global_id(0) + 1) / (long)get_global_size(0));
    for (int i = first; i < end; i++)
        sparse_advance_tile(&pool, list[current * capacity + i], generations, current, 0);
}

#else

/* A row of 64 cells: of a tile and of those to the left and right. */
static inline ulong sparse_row_with_sides(__global const ulong *cells, int left, int own, int right,
                                          int row)
{
    return sparse_tile_rows(cells, left)[row] >> 48 | sparse_tile_rows(cells, own)[row] |
           sparse_tile_rows(cells, right)[row] << 48;
}

/* A pass: groups take tiles of the list in turn. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_sparse_pass(
    POOL_ARGS, const int generations)
{
    __local struct sums shared[2][GROUP];
    __local int changed;
    const struct sparse_pool pool = POOL;
    const int current = control[SPARSE_CURRENT],
              n = control[SPARSE_STOP] ? 0 : control[SPARSE_COUNT + current],
              y = (int)get_local_id(0);
    const int inner = y >= SPARSE_HALO && y < GROUP - SPARSE_HALO;
    for (int i = (int)get_group_id(0); i < n; i += (int)get_num_groups(0)) {
        const int tile = list[current * capacity + i];
        __global const int *around = neighbour + SPARSE_NEIGHBOURS * tile;
        const int d = y < SPARSE_HALO ? 0
                      : inner ? 3
                              : 5,
                  row = (y + SPARSE_SIDE - SPARSE_HALO) % SPARSE_SIDE;
        const ulong before =
            sparse_row_with_sides(pool.cells[current], around[d], inner ? tile : around[d + 1],
                                  around[inner ? d + 1 : d + 2], row);
        ulong cells = before;
        if (y == 0) {
            mark[2 * tile + current] = 0;
            changed = 0;
        }
        for (int g = 0; g < generations; g++) {
            const struct sums here = sparse_sum_row(cells), none = {0, 0, 0};
            shared[g & 1][y] = here;
            barrier(CLK_LOCAL_MEM_FENCE);
            cells = sparse_next_row(y ? shared[g & 1][y - 1] : none, here,
                                    y < GROUP - 1 ? shared[g & 1][y + 1] : none);
        }
        if (inner) {
            const ulong mine = cells & OWN, other = (cells ^ before) & OWN;
            pool.cells[!current][(size_t)tile * SPARSE_SIDE + row] = mine;
            const int top = row < SPARSE_HALO, bottom = row >= SPARSE_SIDE - SPARSE_HALO;
            if (other)
                atomic_or(&changed,
                          neighbours_of_cells(other, top ? other : 0, bottom ? other : 0));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (y == 0 && changed)
            activate_neighbours(&pool, tile, changed, !current, 0);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

#endif

/* ---- Between passes. ------------------------------------------------------------------------- */

/* End a pass: the next list becomes the current one. */
static inline void end_pass(const struct sparse_pool *p)
{
    const int current = p->control[SPARSE_CURRENT];
    sparse_create_requested(p, !current);
    p->control[SPARSE_WORK] += p->control[SPARSE_COUNT + current];
    p->control[SPARSE_COUNT + current] = 0;
    p->control[SPARSE_CURRENT] = !current;
    p->control[SPARSE_PASSES]++;
}

__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_create_requested(
    POOL_ARGS, const int pass)
{
    const struct sparse_pool pool = POOL;
    if (!pass)
        sparse_create_requested(&pool, control[SPARSE_CURRENT]);
    else if (!control[SPARSE_STOP])
        end_pass(&pool);
}

#if GROUP == 1
/* Many passes by one item, until `work` tiles were computed or the list is empty. */
__attribute__((reqd_work_group_size(1, 1, 1))) __kernel void life_sparse_passes(
    POOL_ARGS, const int generations, const int most, const int work)
{
    const struct sparse_pool pool = POOL;
    while (control[SPARSE_PASSES] < most && control[SPARSE_WORK] < work && !control[SPARSE_STOP]) {
        const int current = control[SPARSE_CURRENT], n = control[SPARSE_COUNT + current];
        if (!n)
            break;
        for (int i = 0; i < n; i++)
            sparse_advance_tile(&pool, list[current * capacity + i], generations, current, 1);
        end_pass(&pool);
    }
}
#endif

/* Put all tiles on the current list, and request missing tiles next to live cells. */
__kernel void life_sparse_activate(POOL_ARGS)
{
    const struct sparse_pool pool = POOL;
    const int current = control[SPARSE_CURRENT], used = control[SPARSE_USED];
    for (int tile = 1 + (int)get_global_id(0); tile < used; tile += (int)get_global_size(0)) {
        __global const ulong *own = sparse_tile_rows(pool.cells[current], tile);
        ulong all = 0, top = 0, bottom = 0;
        for (int i = 0; i < SPARSE_SIDE; i++) {
            all |= own[i];
            top |= i < SPARSE_HALO ? own[i] : 0;
            bottom |= i >= SPARSE_SIDE - SPARSE_HALO ? own[i] : 0;
        }
        activate_neighbours(&pool, tile, SELF | neighbours_of_cells(all, top, bottom), current, 0);
    }
}

/* sums[item] = live cells of every get_global_size(0)-th tile. */
__kernel void life_sparse_count(__global const ulong *cells_0, __global const ulong *cells_1,
                                __global const int *control, __global ulong *sums)
{
    __global const ulong *cells = control[SPARSE_CURRENT] ? cells_1 : cells_0;
    ulong sum = 0;
    for (int tile = 1 + (int)get_global_id(0); tile < control[SPARSE_USED];
         tile += (int)get_global_size(0))
        for (int i = 0; i < SPARSE_SIDE; i++)
            sum += popcount(sparse_tile_rows(cells, tile)[i]);
    sums[get_global_id(0)] = sum;
}
