/* pairs.cl - tiling of the sums over all pairs: bodies per work-item, source chunks per group,
 * reduction. The host prepends root.cl, and this file to the kernels.
 *
 *              source bodies j, in chunks: group_id(1)
 *            +---------------+---------------+--
 *   target   | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   bodies i +---------------+---------------+--   registers, and loops over all j of its chunk
 *            | group (1, 0)  | group (1, 1)  |
 *            +---------------+---------------+--   partial[chunk][component][body]: a later kernel
 *            :               :               :     adds the chunks in order
 *
 * The order of additions depends on the number of bodies only. Chunk boundaries do (forces_sum.c);
 * each chunk is summed in blocks, in the order of bodies; and the sums of chunks are added in
 * order, from 0 on. Where the bodies alone make enough groups, one group sums all chunks and adds
 * their sums itself (CHAIN): there is one partial sum per body, and the bits are the same. The
 * number of launches, devices and group sizes changes nothing. For this, products and sums are
 * fused only where fma is written.
 *
 * Where the bodies make too few groups, but sums should stay within their group, J_SPLIT items
 * share the same bodies with a chunk each, and the group adds their sums through local memory, in
 * the same order.
 *
 * On a GPU a vector is one number, and a group copies TILE bodies j at a time to local memory. On a
 * CPU a group is one item, and its vectors are SIMD registers.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL
#define NBODY_PAIRS_CL

#ifndef NBODY_ROOT_CL /* prepended by the host */
#include "root.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items per group */
#endif
#ifndef ITEMS
#define ITEMS 4 /* vectors per item */
#endif
#ifndef TILE
#define TILE 16 /* bodies j loaded at once; with LOCAL a multiple of GROUP */
#endif
#ifndef LOCAL
#define LOCAL 0 /* 1: the group loads tiles into local memory */
#endif
#ifndef PREFETCH
#define PREFETCH 0 /* 1: with LOCAL, load the next tile into registers early */
#endif
#ifndef J_SPLIT
#define J_SPLIT 1 /* chunks that a group sums at a time; above 1 only with CHAIN */
#endif
#ifndef UNROLL
#define UNROLL 1 /* of the loop over a tile */
#endif
#ifndef CHAIN
#define CHAIN 0 /* 1: a group sums all chunks; one partial sum per body */
#endif
#ifndef BLOCK
#define BLOCK 256 /* bodies j per block, added before the total; a multiple of TILE */
#endif
#ifndef FUSED_STEPS /* 1: several steps per launch, after core/grid_barrier.cl */
#define FUSED_STEPS 0
#define LOAD_COHERENT(p) (*(p))
#endif

/* ---- Bodies of an item, chunks of a group. --------------------------------------------------- */

/* Items with different bodies; bodies of a group; offset of vector k among them. */
#define LANES (GROUP / J_SPLIT)
#define GROUP_BODIES (LANES * ITEMS * WIDTH)
#if J_SPLIT == 1
#define SPLIT 0u
#define LANE_OFFSET(k) (((k)*LANES + get_local_id(0)) * WIDTH)
#else
#define SPLIT ((uint)get_local_id(0) / LANES)
#define LANE_OFFSET(k) (((k)*LANES + get_local_id(0) % LANES) * WIDTH)
#endif

/* The group's first body, and the first body of vector k. A launch begins at body `top`. */
#define FIRST_BODY (top + get_group_id(0) * GROUP_BODIES)
#define BODY(k) (FIRST_BODY + LANE_OFFSET(k))

/* Load component c (0..3) of WIDTH consecutive bodies. */
static inline vec load_component(global const real4 *p, int c)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = LOAD_COHERENT((global const real *)(p + lane) + c);
    return v;
}

/* Loop over the chunks n of a group: one of from .. until - 1, or with CHAIN one after another,
 * J_SPLIT at a time. A chunk has `chunk` bodies, a multiple of TILE; the last one ends at `end`.
 * All items of a group make the same number of iterations, as barriers require; CHUNK_HAS(n, j) is
 * true if body j exists in chunk n. */
#define CHUNK_START(n) ((n)*chunk)
#if J_SPLIT > 1
#define EACH_CHUNK(n) for (uint n = from + SPLIT; n - SPLIT < until; n += J_SPLIT)
#define CHUNK_LENGTH(n) chunk
#define CHUNK_HAS(n, j) ((n) < until && (j) < end)
#elif CHAIN
#define EACH_CHUNK(n) for (uint n = from; n < until; n++)
#else
#define EACH_CHUNK(n)                                                                              \
    for (uint n = from + (uint)get_group_id(1), once_ = n < until; once_; once_ = 0)
#endif
#if J_SPLIT == 1
#define CHUNK_LENGTH(n) (min(CHUNK_START(n) + chunk, end) - CHUNK_START(n))
#define CHUNK_HAS(n, j) 1
#endif
#define PARTIAL(n) (CHAIN ? (size_t)0 : (size_t)(n))
#define EACH_BLOCK(block, n) for (uint block = 0; block < CHUNK_LENGTH(n); block += BLOCK)
#define EACH_TILE(off, block, n)                                                                   \
    for (uint off = block; off < min(block + BLOCK, CHUNK_LENGTH(n)); off += TILE)

/* Tiles: TILE bodies of each of J_SPLIT chunks in local memory. */
#if LOCAL
#define TILE_BUFFER(type, name) local type name[J_SPLIT * TILE]
#define TILE_BODY(tile, source, j, t) tile[SPLIT * TILE + (t)]
#else
#define TILE_BUFFER(type, name) local type *const name = 0
#define TILE_BODY(tile, source, j, t) source[(j) + (t)]
#endif

#if LOCAL
#if J_SPLIT == 1
#define TILE_SOURCE(n, off, t) (CHUNK_START(n) + (off) + (t))
#else
#define TILE_SOURCE(n, off, t)                                                                     \
    min(CHUNK_START((n)-SPLIT + (t) / TILE) + (off) + (t) % TILE, end - 1)
#endif
/* An item's part of a tile, loaded from global memory into registers, then stored to local memory.
 */
#define NEXT ((J_SPLIT * TILE + GROUP - 1) / GROUP)
#define EACH_NEXT(u, t)                                                                            \
    UNROLLED for (uint u = 0, t = get_local_id(0); u < NEXT;                                       \
                  u++, t += GROUP) if (NEXT * GROUP == J_SPLIT * TILE || t < J_SPLIT * TILE)
#define LOAD_NEXT(next, source, n, off)                                                            \
    EACH_NEXT(u_, t_) next[u_] = LOAD_COHERENT(source + TILE_SOURCE(n, off, t_))
#define STORE_NEXT(tile, next) EACH_NEXT(u_, t_) tile[t_] = next[u_]
/* PREFETCH_FIRST precedes the first tile of a chunk, LOAD_TILE each tile: look(n, off) loads the
 * item's part into registers, take stores it. */
#define PREFETCH_FIRST(n, look)                                                                    \
    if (PREFETCH)                                                                                  \
    look(n, 0)
#define LOAD_TILE(n, off, look, take)                                                              \
    do {                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (!PREFETCH)                                                                             \
            look(n, off);                                                                          \
        take;                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (PREFETCH && (off) + TILE < CHUNK_LENGTH(n))                                            \
            look(n, (off) + TILE);                                                                 \
    } while (0)
#else
#define NEXT 1
#define PREFETCH_FIRST(n, look) ((void)0)
#define LOAD_TILE(n, off, look, take) ((void)0)
#endif

/* ---- Reduction. ------------------------------------------------------------------------------ */

/* STORE adds the sums over chunk n, value[c][k] of component c and vector k, to planes of `rows`
 * numbers at `to`: to the sums of earlier chunks if these share the partial sum. */
#if J_SPLIT == 1
#define REDUCE_BUFFER(type, name) local type *const name = 0
#define STORE(type, to, value, planes, n, reduce_buffer)                                           \
    UNROLLED for (int c_ = 0; c_ < (planes); c_++)                                                 \
        UNROLLED for (int k = 0; k < ITEMS; k++) for (int lane = 0; lane < WIDTH; lane++)          \
    {                                                                                              \
        global type *const to_ = (to) + c_ * (size_t)rows + BODY(k) + lane;                        \
        *to_ = ((type *)&(value)[c_][k])[lane] + (CHAIN && (n) > 0 ? *to_ : (type)0);              \
    }
#else
/* Planes that fit into local memory at a time. */
#define REDUCE_PLANES(type) (3 * J_SPLIT * GROUP_BODIES * (int)sizeof(type) <= 24576 ? 3 : 1)
#define REDUCE_BUFFER(type, name) local type name[REDUCE_PLANES(type) * J_SPLIT * GROUP_BODIES]
#define STORE(type, to, value, planes, n, reduce_buffer)                                           \
    UNROLLED for (int c_ = 0; c_ < (planes); c_ += REDUCE_PLANES(type))                            \
    {                                                                                              \
        const uint n_ = (n)-SPLIT, deep_ = min((uint)J_SPLIT, until - n_);                         \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        UNROLLED for (int d_ = 0; d_ < REDUCE_PLANES(type) && c_ + d_ < (planes); d_++)            \
            UNROLLED for (int k = 0; k < ITEMS; k++) for (int lane = 0; lane < WIDTH; lane++)      \
                reduce_buffer[(d_ * J_SPLIT + SPLIT) * GROUP_BODIES + LANE_OFFSET(k) + lane] =     \
                    ((type *)&(value)[c_ + d_][k])[lane];                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint r = get_local_id(0); r < min(REDUCE_PLANES(type), (planes)-c_) * GROUP_BODIES;   \
             r += GROUP) {                                                                         \
            global type *const to_ =                                                               \
                (to) + (c_ + r / GROUP_BODIES) * (size_t)rows + FIRST_BODY + r % GROUP_BODIES;     \
            local const type *const part_ =                                                        \
                reduce_buffer + (r / GROUP_BODIES * J_SPLIT) * GROUP_BODIES + r % GROUP_BODIES;    \
            type sum_ = part_[0] + (n_ > 0 ? *to_ : (type)0);                                      \
            if (deep_ == J_SPLIT) {                                                                \
                UNROLLED for (int d_ = 1; d_ < J_SPLIT; d_++) sum_ += part_[d_ * GROUP_BODIES];    \
            } else                                                                                 \
                for (uint d_ = 1; d_ < deep_; d_++)                                                \
                    sum_ += part_[d_ * GROUP_BODIES];                                              \
            *to_ = sum_;                                                                           \
        }                                                                                          \
    }
#endif
#define UNROLLED _Pragma("unroll")

/* For functions with barriers: PoCL 3.1 does not inline large ones and then mixes up the local
 * memory of groups. */
#define INLINED __attribute__((always_inline))

/* Loop over each component c of each body i of the group, once the group has stored its sums. */
#define EACH_BODY_OF_GROUP(i, c, components)                                                       \
    if (GROUP > 1)                                                                                 \
        barrier(CLK_GLOBAL_MEM_FENCE);                                                             \
    for (uint t_ = get_local_id(0), i, c;                                                          \
         i = FIRST_BODY + t_ % GROUP_BODIES, c = t_ / GROUP_BODIES, c < (components); t_ += GROUP)

#if FUSED_STEPS
/* A launch of `steps` steps, the last of which has the phases of the launch. After each step but
 * the last all groups pass the grid barrier at word BARRIER_WORD of `bad`; `barrier_count` is the
 * number of barriers passed so far. Bodies move to the other array, and back in the next step. */
#define BARRIER_WORD 32
#define MULTI_STEP_PARAMETERS uint steps, uint barrier_count, uint max_polls
#define EACH_STEP                                                                                  \
    for (uint last_ = phases, left_ = steps;                                                       \
         left_ > 0 && (phases = left_ > 1 ? REDUCE | KICK_CLOSE | KICK_DRIFT : last_, true);       \
         left_--, step++)
#define BARRIER_AFTER_STEP(barrier_flag)                                                           \
    if (left_ > 1) {                                                                               \
        if (!grid_barrier((volatile global uint *)bad + BARRIER_WORD,                              \
                          get_num_groups(0) * ++barrier_count, max_polls, barrier_flag))           \
            left_ = 1;                                                                             \
        global number4 *const was_ = posm;                                                         \
        posm = moved, moved = was_;                                                                \
    }
#endif

/* Convert a comparison to the type that select() takes: scalar comparisons give int for any type.
 */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

#endif
