/* pairs.cl - which bodies a work-item holds and how a group meets the others; the host puts it in
 * front of the kernels that sum over all pairs, behind root.cl.
 *
 *              bodies j that attract, in stretches: group_id(1)
 *            +---------------+---------------+--
 *   bodies i | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   that     +---------------+---------------+--   registers, and meets every j of its group's
 *            stretch
 *   are      | group (1, 0)  | group (1, 1)  |
 *   pulled   +---------------+---------------+--   partial[stretch][component][row]: a later kernel
 *            adds
 *            :               :               :     the stretches in order
 *
 * The order of additions depends on the number of bodies alone: where stretches begin does
 * (forces_sum.c), each is summed in blocks, in the order of bodies, and the sums of stretches are
 * added in their order, from 0 on. Where rows alone make enough groups, one group meets all
 * stretches and adds their sums itself (CHAIN): partial then has one slot, and the bits are the
 * same. Launches, devices and group sizes change nothing. For that, products and sums are fused
 * where fma is written, and nowhere else.
 *
 * Where rows do not make enough groups, but sums should not leave their group, DEEP items each have
 * the same rows and a stretch of their own, and the group adds what they found by way of local
 * memory, in the same order again.
 *
 * On a GPU a "vector" is one number, and a group copies TILE bodies j at a time to local memory; on
 * a CPU a group is one item, and its vectors are SIMD registers.
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
#ifndef AHEAD
#define AHEAD 0 /* 1: with LOCAL, the next tile is on its way to registers while one is summed */
#endif
#ifndef DEEP
#define DEEP 1 /* stretches that a group sums at a time; more than 1 only with CHAIN */
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
#ifndef MEETS /* 1: groups meet after each step, and a launch makes many; core/grid_barrier.cl is  \
                 in front then */
#define MEETS 0
#define LOAD_COHERENT(p) (*(p))
#endif

/* ---- Which bodies an item holds, and how a group meets the others. --------------------------- */

/* Items that differ in their rows, rows of a group, and the place of vector k among these. */
#define LANES (GROUP / DEEP)
#define ROWS (LANES * ITEMS * WIDTH)
#if DEEP == 1
#define DEPTH 0u
#define PLACE(k) (((k)*LANES + get_local_id(0)) * WIDTH)
#else
#define DEPTH ((uint)get_local_id(0) / LANES)
#define PLACE(k) (((k)*LANES + get_local_id(0) % LANES) * WIDTH)
#endif

/* The group's first row, and that of the first body of vector k; a launch begins at row `top`. */
#define FIRST_ROW (top + get_group_id(0) * ROWS)
#define ROW(k) (FIRST_ROW + PLACE(k))

/* Component c (0..3) of WIDTH bodies that follow each other. */
static inline vec load_component(global const real4 *p, int c)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = LOAD_COHERENT((global const real *)(p + lane) + c);
    return v;
}

/* The stretches that a group sums, n its number: one of from .. until - 1, or with CHAIN one after
 * another, DEEP at a time. A stretch has `stretch` bodies, a multiple of TILE; the last one ends
 * with the bodies, at `end`. All items of a group go through as many bodies, so that they meet at
 * barriers; HAS(n, j) says whether body j is one of stretch n. */
#define START(n) ((n)*stretch)
#if DEEP > 1
#define EACH_STRETCH(n) for (uint n = from + DEPTH; n - DEPTH < until; n += DEEP)
#define LENGTH(n) stretch
#define HAS(n, j) ((n) < until && (j) < end)
#elif CHAIN
#define EACH_STRETCH(n) for (uint n = from; n < until; n++)
#else
#define EACH_STRETCH(n)                                                                            \
    for (uint n = from + (uint)get_group_id(1), once_ = n < until; once_; once_ = 0)
#endif
#if DEEP == 1
#define LENGTH(n) (min(START(n) + stretch, end) - START(n))
#define HAS(n, j) 1
#endif
#define SLOT(n) (CHAIN ? (size_t)0 : (size_t)(n))
#define EACH_BLOCK(block, n) for (uint block = 0; block < LENGTH(n); block += BLOCK)
#define EACH_TILE(off, block, n)                                                                   \
    for (uint off = block; off < min(block + BLOCK, LENGTH(n)); off += TILE)

/* Tiles: TILE bodies of each of DEEP stretches in local memory. */
#if LOCAL
#define TILE_OF(type, name) local type name[DEEP * TILE]
#define FETCHED(tile, source, j, t) tile[DEPTH * TILE + (t)]
#else
#define TILE_OF(type, name) local type *const name = 0
#define FETCHED(tile, source, j, t) source[(j) + (t)]
#endif

#if LOCAL
#if DEEP == 1
#define BODY_OF(n, off, t) (START(n) + (off) + (t))
#else
#define BODY_OF(n, off, t) min(START((n)-DEPTH + (t) / TILE) + (off) + (t) % TILE, end - 1)
#endif
/* An item's part of a tile, which it takes from memory to registers, and from there to local
 * memory. */
#define NEXT ((DEEP * TILE + GROUP - 1) / GROUP)
#define EACH_NEXT(u, t)                                                                            \
    UNROLLED for (uint u = 0, t = get_local_id(0); u < NEXT;                                       \
                  u++, t += GROUP) if (NEXT * GROUP == DEEP * TILE || t < DEEP * TILE)
#define LOOK(next, source, n, off)                                                                 \
    EACH_NEXT(u_, t_) next[u_] = LOAD_COHERENT(source + BODY_OF(n, off, t_))
#define TAKE(tile, next) EACH_NEXT(u_, t_) tile[t_] = next[u_]
/* Before the first tile of a stretch, and for each: look(n, off) and take are the two halves. */
#define FETCH_FIRST(n, look)                                                                       \
    if (AHEAD)                                                                                     \
    look(n, 0)
#define FETCH(n, off, look, take)                                                                  \
    do {                                                                                           \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (!AHEAD)                                                                                \
            look(n, off);                                                                          \
        take;                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        if (AHEAD && (off) + TILE < LENGTH(n))                                                     \
            look(n, (off) + TILE);                                                                 \
    } while (0)
#else
#define NEXT 1
#define FETCH_FIRST(n, look) ((void)0)
#define FETCH(n, off, look, take) ((void)0)
#endif

/* ---- What becomes of sums. ------------------------------------------------------------------- */

/* STORE takes the sums over stretch n, value[c][k] of component c and vector k, to planes of `rows`
 * numbers at `to`: there they are added to those of earlier stretches, where there are any in this
 * slot. */
#if DEEP == 1
#define JOINT_OF(type, name) local type *const name = 0
#define STORE(type, to, value, planes, n, joint)                                                   \
    UNROLLED for (int c_ = 0; c_ < (planes); c_++)                                                 \
        UNROLLED for (int k = 0; k < ITEMS; k++) for (int lane = 0; lane < WIDTH; lane++)          \
    {                                                                                              \
        global type *const to_ = (to) + c_ * (size_t)rows + ROW(k) + lane;                         \
        *to_ = ((type *)&(value)[c_][k])[lane] + (CHAIN && (n) > 0 ? *to_ : (type)0);              \
    }
#else
/* Planes that local memory has room for at a time. */
#define JOINED(type) (3 * DEEP * ROWS * (int)sizeof(type) <= 24576 ? 3 : 1)
#define JOINT_OF(type, name) local type name[JOINED(type) * DEEP * ROWS]
#define STORE(type, to, value, planes, n, joint)                                                   \
    UNROLLED for (int c_ = 0; c_ < (planes); c_ += JOINED(type))                                   \
    {                                                                                              \
        const uint n_ = (n)-DEPTH, deep_ = min((uint)DEEP, until - n_);                            \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        UNROLLED for (int d_ = 0; d_ < JOINED(type) && c_ + d_ < (planes); d_++)                   \
            UNROLLED for (int k = 0; k < ITEMS; k++) for (int lane = 0; lane < WIDTH; lane++)      \
                joint[(d_ * DEEP + DEPTH) * ROWS + PLACE(k) + lane] =                              \
                    ((type *)&(value)[c_ + d_][k])[lane];                                          \
        barrier(CLK_LOCAL_MEM_FENCE);                                                              \
        for (uint r = get_local_id(0); r < min(JOINED(type), (planes)-c_) * ROWS; r += GROUP) {    \
            global type *const to_ = (to) + (c_ + r / ROWS) * (size_t)rows + FIRST_ROW + r % ROWS; \
            local const type *const part_ = joint + (r / ROWS * DEEP) * ROWS + r % ROWS;           \
            type sum_ = part_[0] + (n_ > 0 ? *to_ : (type)0);                                      \
            if (deep_ == DEEP) {                                                                   \
                UNROLLED for (int d_ = 1; d_ < DEEP; d_++) sum_ += part_[d_ * ROWS];               \
            } else                                                                                 \
                for (uint d_ = 1; d_ < deep_; d_++)                                                \
                    sum_ += part_[d_ * ROWS];                                                      \
            *to_ = sum_;                                                                           \
        }                                                                                          \
    }
#endif
#define UNROLLED _Pragma("unroll")

/* For functions that groups meet in: PoCL 3.1 leaves large ones calls, and mixes up the local
 * memory of groups then. */
#define INLINED __attribute__((always_inline))

/* After that: each component c of each row i of the group once, when the group has stored all of
 * its sums. */
#define EACH_OF_GROUP(i, c, components)                                                            \
    if (GROUP > 1)                                                                                 \
        barrier(CLK_GLOBAL_MEM_FENCE);                                                             \
    for (uint t_ = get_local_id(0), i, c;                                                          \
         i = FIRST_ROW + t_ % ROWS, c = t_ / ROWS, c < (components); t_ += GROUP)

#if MEETS
/* A launch of several steps: `steps` of them, whose last has the phases of the launch. After each
 * but the last all groups meet, in place number MEET_PLACE of `bad`; `met` is how often they have
 * until now. Bodies go from one array to the other, and back in the next step. */
#define MEET_PLACE 32
#define STEPS_PARAMETERS uint steps, uint met, uint patience
#define EACH_STEP                                                                                  \
    for (uint last_ = phases, left_ = steps;                                                       \
         left_ > 0 && (phases = left_ > 1 ? SUM | FINISH | BEGIN : last_, true); left_--, step++)
#define MEET_AFTER(told)                                                                           \
    if (left_ > 1) {                                                                               \
        if (!grid_barrier((volatile global uint *)bad + MEET_PLACE, get_num_groups(0) * ++met,     \
                          patience, told))                                                         \
            left_ = 1;                                                                             \
        global number4 *const was_ = posm;                                                         \
        posm = moved, moved = was_;                                                                \
    }
#endif

/* A comparison as select() wants it: scalar comparisons give int whatever is compared. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

#endif
