/* direct_mixed.cl - accelerations from positions in double precision, with interactions in single.
 *
 *   posm[j] = {x, y, z, G m}, doubles   ->   {x, y, z, G m} and {x', y', z', -}, floats
 *
 * A coordinate relative to the system's centre is a float plus a second float with the remainder:
 * 48 bits. The difference of two coordinates is (x_j - x_i) + (x'_j - x'_i). The first term is
 * exact for neighbouring bodies. Interactions are therefore accurate to single precision even
 * between bodies 1e-8 of the system's size apart, wherever the system lies. This takes six
 * additions more than the 13 instructions of an interaction in single precision. Sums over blocks
 * are added in double.
 *
 * With CLUSTER the bodies are sorted along a curve (hilbert_order.c), and CLUSTER consecutive
 * bodies are neighbours:
 *
 *        ( cluster )    . . . . . . .       coordinates are relative to the middle c of the target
 *       (     c-R-> )   . piece of 32 .     cluster. A piece of 32 bodies, none nearer to c than
 *        (         )    . . . . . . .       3/2 R, is far: its coordinates are at most five times
 *                                           its distances, and it needs no second floats
 *
 * Which pieces are far depends on positions only, not on launch parameters: the bodies of a group
 * belong to one cluster.
 *
 * Groups, chunks and partial sums: pairs.cl. Scalar reference: nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#define MIXED
#include "pairs.cl"
#endif
#ifdef __FAST_RELAXED_MATH__
#error "direct_mixed.cl: not with -cl-fast-relaxed-math: it undoes differences of pairs of floats"
#endif

/* The two floats of a coordinate. */
#define HIGH(x) ((float)(x))
#define LOW(x) ((float)((x) - (double)HIGH(x)))

/* Convert a body to two vectors of floats. */
static inline void split_body(double4 b, double4 centre, float4 *high, float4 *low)
{
    const double4 d = b - centre;
    *high = convert_float4(d);
    *low = convert_float4(d - convert_double4(*high));
}

/* Load component c of WIDTH consecutive bodies. */
static inline void load_split(global const double4 *p, int c, double centre, vec *high, vec *low)
{
    for (int lane = 0; lane < WIDTH; lane++) {
        const double x = LOAD_COHERENT((global const double *)(p + lane) + c) - centre;
        ((float *)high)[lane] = HIGH(x);
        ((float *)low)[lane] = LOW(x);
    }
}

/* ---- Near and far. --------------------------------------------------------------------------- */

#ifndef CLUSTER
#define CLUSTER 0 /* bodies per cluster, a multiple of GROUP_BODIES; 0: all are near */
#endif
#define PIECE (CLUSTER ? 32 : TILE) /* bodies that are near or far together; a divisor of TILE */

/* Flags of pieces with a near body, double-buffered: this tile, next tile. */
#define PIECES (J_SPLIT * TILE / PIECE)
#if CLUSTER && LOCAL
#define FLAGS_BUFFER(name) local int name[2 * PIECES]
#else
#define FLAGS_BUFFER(name) local int *const name = 0
#endif

static inline void clear_flags(const struct pairs *p, uint turn)
{
    for (uint i = get_local_id(0); i < PIECES; i += GROUP)
        p->near[turn * PIECES + i] = 0;
}

#if CLUSTER && GROUP > 1
#define BOUNDS_BUFFER(name) local int name[7]
#else
#define BOUNDS_BUFFER(name) local int *const name = 0
#endif

#if CLUSTER
/* Map floats to integers of the same order, and back. */
static inline int ordered_bits(float x)
{
    return as_int(x) ^ ((as_int(x) >> 31) & 0x7fffffff);
}
static inline float from_ordered_bits(int r)
{
    return as_float(r ^ ((r >> 31) & 0x7fffffff));
}

/* Return the maximum over the items of the group. */
static inline int group_max(int own, local int *all)
{
#if GROUP > 1
    atomic_max(all, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *all;
#else
    return own;
#endif
}

/* Return the middle of the cluster that contains body `row`; *border: 9/4 R^2. n: number of
 * bodies. Minimum and maximum do not depend on the order of evaluation. */
INLINED double4 find_cluster(global const double4 *restrict posm, uint row, uint n, double4 centre,
                             local int *bounds, float *border)
{
    const uint begin = row / CLUSTER * CLUSTER, stop = min(begin + CLUSTER, n);
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY},
          far = 0, middle[3];
#if GROUP > 1
    for (uint i = get_local_id(0); i < 7; i += GROUP)
        bounds[i] = INT_MIN;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(LOAD_COHERENT(posm + i) - centre);
        low[0] = fmin(low[0], p.x), low[1] = fmin(low[1], p.y), low[2] = fmin(low[2], p.z);
        high[0] = fmax(high[0], p.x), high[1] = fmax(high[1], p.y), high[2] = fmax(high[2], p.z);
    }
    for (int c = 0; c < 3; c++) {
        const float least = -from_ordered_bits(group_max(ordered_bits(-low[c]), bounds + c)),
                    most = from_ordered_bits(group_max(ordered_bits(high[c]), bounds + 3 + c));
        middle[c] = begin < stop ? 0.5f * least + 0.5f * most : 0.0f;
    }
    const double4 m = centre + (double4)(middle[0], middle[1], middle[2], 0);
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(LOAD_COHERENT(posm + i) - m);
        far = fmax(far, p.x * p.x + p.y * p.y + p.z * p.z);
    }
    *border = 2.25f * from_ordered_bits(group_max(ordered_bits(far), bounds + 6));
    return m;
}
#endif

/* True if a source body, relative to the middle of the targets' cluster, is near. */
static inline bool is_near(const struct pairs *p, float4 high)
{
    return !CLUSTER || high.x * high.x + high.y * high.y + high.z * high.z < p->border;
}

/* ---- The loop's parts (pairs.cl). --------------------------------------------------------------
 * t->at[0..2]: first floats of the targets' coordinates; t->at[3..5]: second floats. A tile has the
 * source bodies' first floats in row 0, their second floats in row 1. */

INLINED void load_target(SOURCE_PARAMETERS, const struct pairs *p, size_t i, struct target *t)
{
    load_split(posm + p->first + i, 0, p->centre.x, &t->at[0], &t->at[3]);
    load_split(posm + p->first + i, 1, p->centre.y, &t->at[1], &t->at[4]);
    load_split(posm + p->first + i, 2, p->centre.z, &t->at[2], &t->at[5]);
}

INLINED void store_tile(struct pairs *p, number4 (*next)[NEXT])
{
    if (CLUSTER) {
        p->turn = !p->turn;
        clear_flags(p, !p->turn);
    }
    EACH_NEXT(u, t)
    {
        float4 high, low;
        split_body(next[0][u], p->centre, &high, &low);
        p->tile[0][t] = high, p->tile[1][t] = low;
        if (CLUSTER && is_near(p, high))
            p->near[p->turn * PIECES + t / PIECE] = 1;
    }
}

#if LOCAL
typedef local const float4 *piece_body;
#else
typedef const float4 *piece_body;
#endif

/* Add a piece of source bodies. Far bodies need no second floats. */
INLINED void add_piece(const bool near, const struct pairs *p, const struct target *targets,
                       piece_body highs, piece_body lows, vec (*acc)[MOST_PLANES])
{
#pragma unroll UNROLL
    for (uint j = 0; j < PIECE; j++) {
        const float4 b = highs[j], l = near ? lows[j] : (float4)(0);
        EACH_VECTOR(k)
        {
            const struct target *t = &targets[k];
            vec x = b.x - t->at[0], y = b.y - t->at[1], z = b.z - t->at[2];
            if (near)
                x += l.x - t->at[3], y += l.y - t->at[4], z += l.z - t->at[5];
            add_force(separation_of(x, y, z, p->eps2), b.w, acc[k]);
        }
    }
}

/* Add a piece to a sum of its own: neighbours exert similar forces, and a block's sum would lose
 * digits. */
INLINED void add_cluster_piece(const bool near, const struct pairs *p, const struct target *targets,
                               piece_body highs, piece_body lows, vec (*acc)[MOST_PLANES])
{
    vec piece[ITEMS][MOST_PLANES];
    EACH_VECTOR(k) EACH_PLANE(c, p) piece[k][c] = (vec)C(0);
    if (near)
        add_piece(true, p, targets, highs, lows, piece);
    else
        add_piece(false, p, targets, highs, lows, piece);
    EACH_VECTOR(k) EACH_PLANE(c, p) acc[k][c] += piece[k][c];
}

INLINED void add_tile(SOURCE_PARAMETERS, const struct pairs *p, const struct target *targets,
                      uint j, vec (*acc)[MOST_PLANES])
{
    for (uint piece = 0; piece < TILE; piece += PIECE) {
#if LOCAL
        const uint t = SPLIT * TILE + piece;
        const piece_body highs = p->tile[0] + t, lows = p->tile[1] + t;
        const bool near = !CLUSTER || p->near[p->turn * PIECES + t / PIECE];
#else /* convert before the loop: its loads of a body are then broadcast */
        float4 highs[PIECE], lows[PIECE];
        bool near = false;
        for (uint t = 0; t < PIECE; t++) {
            split_body(LOAD_COHERENT(posm + j + piece + t), p->centre, &highs[t], &lows[t]);
            near |= is_near(p, highs[t]);
        }
#endif
        if (CLUSTER)
            add_cluster_piece(near, p, targets, highs, lows, acc);
        else
            add_piece(true, p, targets, highs, lows, acc);
    }
}

/* ---- Kernels. ----------------------------------------------------------------------------------
 * Parameters as in direct.cl; cx, cy, cz: the system's centre; bodies: total number of bodies. */

#define FORCE_SUM ((struct pair_sum){.arrays = 1, .planes = 3, .equal_mass = true})

INLINED void sum_forces(global const double4 *restrict posm, struct pairs *p, uint bodies,
                        local int *bounds)
{
#if CLUSTER
    p->centre = find_cluster(posm, p->first + group_body(p), bodies, p->centre, bounds, &p->border);
#endif
    if (CLUSTER && LOCAL) {
        p->turn = 1; /* the first tile uses half 0 */
        clear_flags(p, 0);
    }
    sum_pairs(posm, 0, 0, p);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const double4 *restrict posm, global double *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, float eps2, double cx, double cy,
    double cz, uint bodies)
{
    TILE_BUFFER(tile, 2);
    REDUCE_BUFFER(reduce);
    FLAGS_BUFFER(near);
    BOUNDS_BUFFER(bounds);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
    p.sum = FORCE_SUM, p.tile = tile, p.reduce = reduce;
    p.near = near, p.centre = (double4)(cx, cy, cz, 0);
    sum_forces(posm, &p, bodies, bounds);
}

#ifdef UPDATE_PARAMETERS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const double4 *restrict posm, global double *partial, uint first, uint rows, uint top,
    uint chunk, uint from, uint until, uint end, float eps2, double cx, double cy, double cz,
    uint bodies, UPDATE_PARAMETERS)
{
    TILE_BUFFER(tile, 2);
    REDUCE_BUFFER(reduce);
    FLAGS_BUFFER(near);
    BOUNDS_BUFFER(bounds);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
    p.sum = FORCE_SUM, p.tile = tile, p.reduce = reduce;
    p.near = near, p.centre = (double4)(cx, cy, cz, 0);
    sum_forces(posm, &p, bodies, bounds);
    update_group(posm, &p, UPDATE_ARGUMENTS);
}

#if FUSED_STEPS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global double4 *posm, global double *partial, uint first, uint rows, uint top, uint chunk,
    uint from, uint until, uint end, float eps2, double cx, double cy, double cz, uint bodies,
    UPDATE_PARAMETERS, MULTI_STEP_PARAMETERS)
{
    TILE_BUFFER(tile, 2);
    REDUCE_BUFFER(reduce);
    FLAGS_BUFFER(near);
    BOUNDS_BUFFER(bounds);
    local uint passed;
    const uint last = phases;
    for (uint left = steps; left > 0; left--, step++) {
        phases = left > 1 ? INNER_PHASES : last;
        struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
        p.sum = FORCE_SUM, p.tile = tile, p.reduce = reduce;
        p.near = near, p.centre = (double4)(cx, cy, cz, 0);
        sum_forces(posm, &p, bodies, bounds);
        update_group(posm, &p, UPDATE_ARGUMENTS);
        if (left > 1 && !pass_barrier(bad, ++barrier_count, max_polls, &passed))
            left = 1;
        global double4 *const was = posm;
        posm = moved, moved = was;
    }
}
#endif
#endif
