/* pairs.cl - which bodies a work-item holds and how a group meets the others; the host puts it in front of the kernels that
 * sum over all pairs, behind root.cl.
 *
 *              bodies j that attract, in stretches: group_id(1)
 *            +---------------+---------------+--
 *   bodies i | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   that     +---------------+---------------+--   registers, and meets every j of its group's stretch
 *   are      | group (1, 0)  | group (1, 1)  |
 *   pulled   +---------------+---------------+--   partial[stretch][component][row]: a later kernel adds
 *            :               :               :     the stretches in order
 *
 * The order of additions depends on the number of bodies alone: where stretches begin does (forces_sum.c), each is
 * summed in blocks, in the order of bodies, and the sums of stretches are added in their order, from 0 on. Where rows
 * alone make enough groups, one group meets all stretches and adds their sums itself (CHAIN): partial then has one
 * slot, and the bits are the same. Launches, devices and group sizes change nothing. For that, products and sums are
 * fused where fma is written, and nowhere else.
 *
 * On a GPU a "vector" is one number, and a group copies TILE bodies j at a time to local memory; on a CPU a group is one
 * item, and its vectors are SIMD registers.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL
#define NBODY_PAIRS_CL

#ifndef NBODY_ROOT_CL /* the host puts it in front */
#include "root.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group */
#endif
#ifndef ITEMS
#define ITEMS 4 /* vectors of an item */
#endif
#ifndef TILE
#define TILE 16 /* bodies j fetched at once; with LOCAL a multiple of GROUP */
#endif
#ifndef LOCAL
#define LOCAL 0 /* 1: fetched into local memory by the whole group */
#endif
#ifndef UNROLL
#define UNROLL 1 /* of the loop over a tile */
#endif
#ifndef CHAIN
#define CHAIN 0 /* 1: a group meets all stretches, and `partial` has one slot */
#endif
#ifndef BLOCK
#define BLOCK 256 /* bodies j summed before they join the total; a multiple of TILE */
#endif

/* ---- Which bodies an item holds, and how a group meets the others. --------------------------- */

/* The row of the first body of vector k; a launch begins at row `top`. */
#define ROW(k) (top + ((get_group_id(0) * ITEMS + (k)) * GROUP + get_local_id(0)) * WIDTH)

/* Component c (0..3) of WIDTH bodies that follow each other. */
static inline vec load_component(global const real4 *p, int c)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = ((global const real *)(p + lane))[c];
    return v;
}

/* Stores a vector of one component, or with `add` adds it to what an earlier launch found. */
static inline void store(global real *to, vec v, uint add)
{
    for (int lane = 0; lane < WIDTH; lane++)
        to[lane] = ((real *)&v)[lane] + (add ? to[lane] : C(0));
}

#if LOCAL
#define TILE_OF(name) local real4 name[TILE]
#define COPY_TILE(tile, source, j)                              \
    for (uint t_ = get_local_id(0); t_ < TILE; t_ += GROUP)     \
        tile[t_] = source[(j) + t_];
#define FETCH2(tile1, source1, tile2, source2, j)               \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile1, source1, j)                            \
        COPY_TILE(tile2, source2, j)                            \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCH(tile, source, j)                                  \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile, source, j)                              \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCHED(tile, source, j, t) tile[t]
#else
#define TILE_OF(name)
#define FETCH(tile, source, j) ((void)0)
#define FETCH2(tile1, source1, tile2, source2, j) ((void)0)
#define FETCHED(tile, source, j, t) source[(j) + (t)]
#endif

/* The stretches that a group sums: one of from .. until - 1, or with CHAIN one after another. A stretch has `stretch`
 * bodies, a multiple of TILE; the last one ends with the bodies, at `end`. */
#if CHAIN
#define EACH_STRETCH(s) for (uint s = from; s < until; s++)
#define SLOT(s) ((size_t)0)
#define ADD(s) ((s) > 0)
#else
#define EACH_STRETCH(s) for (uint s = from + (uint)get_group_id(1), once_ = s < until; once_; once_ = 0)
#define SLOT(s) ((size_t)(s))
#define ADD(s) 0
#endif
#define STRETCH_END(s) min((s) * stretch + stretch, end)
#define UNROLLED _Pragma("unroll")

/* A comparison as select() wants it: scalar comparisons give int whatever is compared. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

#endif
