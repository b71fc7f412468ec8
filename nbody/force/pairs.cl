/* pairs.cl - the loop over pairs of bodies, which all sums over pairs share; the host prepends
 * root.cl and this file to the file of a sum.
 *
 *              source bodies j, in chunks: group_id(1)
 *            +---------------+---------------+--
 *   target   | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   bodies i +---------------+---------------+--   registers, and loops over all j of its chunk
 *            | group (1, 0)  | group (1, 1)  |
 *            +---------------+---------------+--   partial[chunk][plane][body]: a later kernel adds
 *            :               :               :     the chunks in order
 *
 *   sum_pairs          load_target; then for each chunk of the group:
 *     sum_chunk          for each block of the chunk, for each tile of the block:
 *       load_tile          copy the tile's source bodies to local memory, if LOCAL
 *       add_tile           for each source body of the tile, for each target vector:
 *         add_pair           what the pair adds
 *     store_partial      store the chunk's sum, or add it to those of earlier chunks
 *
 * The file of a sum (direct.cl, direct_snaps.cl, timestep_criterion.cl, block_forces.cl) defines
 * add_pair, and kernels that fill `struct pairs` and call sum_pairs. direct_mixed.cl (MIXED), which
 * sums near and far bodies differently, defines load_target, store_tile and add_tile instead. All
 * functions are inlined, so that the compiler makes a loop for each sum.
 *
 * The order of additions depends on the number of bodies only. Chunk boundaries do (sums.c);
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
#ifndef FUSED_STEPS
#define FUSED_STEPS 0 /* 1: several steps per launch, after core/grid_barrier.cl */
#define LOAD_COHERENT(p) (*(p))
#endif

/* ---- The contract. --------------------------------------------------------------------------- */

enum { MOST_ARRAYS = 3, MOST_PLANES = 9 };

/* A sum over pairs; constant in each kernel. */
struct pair_sum {
    int kind;         /* distinguishes the sums of a file */
    int arrays;       /* arrays of source bodies: 1 posm, 2 posm and velo, 3 posm, velo and acce */
    int planes;       /* numbers per target body that a pair adds to */
    bool target_mass; /* add_pair reads the target's mass */
    bool equal_mass; /* if UNIFORM, add_pair leaves out the mass, and the sum is multiplied by it */
    bool one_block;  /* a chunk is one block */
};

/* A launch (direct.c), its sum, and local memory of the group. */
struct pairs {
    global number *partial;
    uint first;       /* index in posm of the device's first body */
    uint rows;        /* length of a plane of `partial` */
    uint top;         /* first target body of the launch, counted from `first` */
    uint chunk;       /* source bodies per chunk, a multiple of TILE */
    uint from, until; /* the launch's chunks: from .. until - 1 */
    uint end;         /* end of the source bodies, a multiple of TILE */
    real eps2;        /* square of the softening, above 0 */
    real zero;        /* pairs with this r2 do not interact; negative: all do */
    struct pair_sum sum;
    global const real *soft;             /* SOFTENED: half the square of each body's softening */
    local real4 (*tile)[J_SPLIT * TILE]; /* by TILE_BUFFER: TILE bodies of each of J_SPLIT chunks */
    local number *reduce;                /* by REDUCE_BUFFER */
#ifdef MIXED
    number4 centre;  /* origin of coordinates in floats */
    real border;     /* source bodies whose squares are below are near */
    local int *near; /* flags of pieces with a near body: */
    uint turn;       /* half `turn` is for this tile */
#endif
};

/* The arrays of source bodies: {x, y, z, G m}, first and second derivatives; an unused array is 0.
 * They are arguments, not members of `struct pairs`: once a pointer has been stored, compilers do
 * not load through the read-only cache. */
#define SOURCE_PARAMETERS                                                                          \
    global const number4 *restrict posm, global const number4 *restrict velo,                      \
        global const number4 *restrict acce
#define SOURCE_ARGUMENTS posm, velo, acce

static inline global const number4 *source_array(int s, SOURCE_PARAMETERS)
{
    return s == 0 ? posm : s == 1 ? velo : acce;
}

/* WIDTH target bodies. */
struct target {
    vec at[3 * MOST_ARRAYS]; /* x, y, z of each array */
    vec mass, soft;
    ivec self; /* indices in posm */
};

/* A source body: what each array holds of it, its softening, its index in posm. */
struct source {
    real4 in[MOST_ARRAYS];
    real soft;
    uint self;
};

/* Add what source body b exerts on the targets to acc[plane]. */
INLINED void add_pair(const struct pairs *p, const struct target *t, const struct source *b,
                      vec *acc);

/* Loops over vectors of an item, arrays and planes of a sum. Their lengths are literals, because
 * compilers unroll loops of a function before they inline it. */
#define EACH_VECTOR(k) UNROLLED for (int k = 0; k < ITEMS; k++)
#define EACH_ARRAY(s, p) UNROLLED for (int s = 0; s < MOST_ARRAYS; s++) if (s < (p)->sum.arrays)
#define EACH_PLANE(c, p) UNROLLED for (int c = 0; c < MOST_PLANES; c++) if (c < (p)->sum.planes)

/* ---- Targets of an item, chunks of a group. -------------------------------------------------- */

/* Items with different bodies; bodies of a group; the item's chunk among the group's. */
#define COLUMNS (GROUP / J_SPLIT)
#define GROUP_BODIES (COLUMNS * ITEMS * WIDTH)
#define SPLIT (J_SPLIT == 1 ? 0u : (uint)get_local_id(0) / COLUMNS)

/* First body of the group, counted from p->first. */
static inline size_t group_body(const struct pairs *p)
{
    return p->top + get_group_id(0) * GROUP_BODIES;
}

/* First body of vector k, counted from the group's. */
static inline size_t vector_body(int k)
{
    return (k * COLUMNS + (J_SPLIT == 1 ? get_local_id(0) : get_local_id(0) % COLUMNS)) * WIDTH;
}

/* First body of vector k, counted from p->first. */
static inline size_t target_body(const struct pairs *p, int k)
{
    return group_body(p) + vector_body(k);
}

/* Load component c (0..3) of WIDTH consecutive bodies. */
static inline wide load_component(global const number4 *body, int c)
{
    wide v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((number *)&v)[lane] = LOAD_COHERENT((global const number *)(body + lane) + c);
    return v;
}

/* Number of source bodies of chunk n. With J_SPLIT all items make the same number of iterations, as
 * barriers require, and chunk_has(p, n, j) is true if body j exists in chunk n. */
static inline uint chunk_length(const struct pairs *p, uint n)
{
    return J_SPLIT > 1 ? p->chunk : min(n * p->chunk + p->chunk, p->end) - n * p->chunk;
}

static inline bool chunk_has(const struct pairs *p, uint n, uint j)
{
    return J_SPLIT == 1 || (n < p->until && j < p->end);
}

/* ---- A tile. --------------------------------------------------------------------------------- */

#if LOCAL
#define TILE_BUFFER(name, arrays) local real4 name[arrays][J_SPLIT * TILE]
#else
#define TILE_BUFFER(name, arrays) local real4(*const name)[J_SPLIT * TILE] = 0
#endif

/* Loop over an item's share of a tile: bodies t, registers u. */
#define NEXT ((J_SPLIT * TILE + GROUP - 1) / GROUP)
#define EACH_NEXT(u, t)                                                                            \
    UNROLLED for (uint u = 0, t = get_local_id(0); u < NEXT;                                       \
                  u++, t += GROUP) if (NEXT * GROUP == J_SPLIT * TILE || t < J_SPLIT * TILE)

/* Load the item's share of the tile at `off` of chunk n into registers. */
INLINED void load_next(SOURCE_PARAMETERS, const struct pairs *p, uint n, uint off,
                       number4 (*next)[NEXT])
{
    EACH_ARRAY(s, p) EACH_NEXT(u, t)
    {
        const uint j = J_SPLIT == 1
                           ? n * p->chunk + off + t
                           : min((n - SPLIT + t / TILE) * p->chunk + off + t % TILE, p->end - 1);
        next[s][u] = LOAD_COHERENT(source_array(s, SOURCE_ARGUMENTS) + j);
    }
}

#ifdef MIXED
INLINED void load_target(SOURCE_PARAMETERS, const struct pairs *p, size_t i, struct target *t);
INLINED void store_tile(struct pairs *p, number4 (*next)[NEXT]);
INLINED void add_tile(SOURCE_PARAMETERS, const struct pairs *p, const struct target *targets,
                      uint j, vec (*acc)[MOST_PLANES]);
#else
/* Load the targets i .. i + WIDTH - 1, counted from p->first. */
INLINED void load_target(SOURCE_PARAMETERS, const struct pairs *p, size_t i, struct target *t)
{
    EACH_ARRAY(s, p)
    UNROLLED for (int c = 0; c < 3; c++) t->at[3 * s + c] =
        load_component(source_array(s, SOURCE_ARGUMENTS) + p->first + i, c);
    if (p->sum.target_mass)
        t->mass = load_component(posm + p->first + i, 3);
    for (int lane = 0; lane < WIDTH; lane++) {
        ((integer *)&t->self)[lane] = p->first + i + lane;
#ifdef SOFTENED
        ((real *)&t->soft)[lane] = (p->soft + p->first + i)[lane];
#endif
    }
}

INLINED void store_tile(struct pairs *p, number4 (*next)[NEXT])
{
    EACH_ARRAY(s, p) EACH_NEXT(u, t) p->tile[s][t] = next[s][u];
}

/* Add TILE source bodies, from j on, to acc[vector][plane]. */
INLINED void add_tile(SOURCE_PARAMETERS, const struct pairs *p, const struct target *targets,
                      uint j, vec (*acc)[MOST_PLANES])
{
#pragma unroll UNROLL
    for (uint t = 0; t < TILE; t++) {
        struct source b = {.self = j + t};
        EACH_ARRAY(s, p)
        b.in[s] = LOCAL ? p->tile[s][SPLIT * TILE + t] : source_array(s, SOURCE_ARGUMENTS)[j + t];
#ifdef SOFTENED
        b.soft = p->soft[j + t];
#endif
        EACH_VECTOR(k) add_pair(p, &targets[k], &b, acc[k]);
    }
}

static inline struct separation separate(const struct pairs *p, const struct target *t,
                                         const struct source *b)
{
#ifdef SOFTENED
    const vec eps2 = t->soft + b->soft;
#else
    const vec eps2 = p->eps2;
#endif
    const real4 at = b->in[0];
    return separation_of(at.x - t->at[0], at.y - t->at[1], at.z - t->at[2], eps2);
}
#endif

/* Copy the tile at `off` of chunk n to local memory. With PREFETCH `next` holds it already; then
 * load the following tile. */
INLINED void load_tile(SOURCE_PARAMETERS, struct pairs *p, uint n, uint off, number4 (*next)[NEXT])
{
    barrier(CLK_LOCAL_MEM_FENCE);
    if (!PREFETCH)
        load_next(SOURCE_ARGUMENTS, p, n, off, next);
    store_tile(p, next);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (PREFETCH && off + TILE < chunk_length(p, n))
        load_next(SOURCE_ARGUMENTS, p, n, off + TILE, next);
}

/* ---- A chunk. -------------------------------------------------------------------------------- */

/* Sum over chunk n: total[plane][vector]. */
INLINED void sum_chunk(SOURCE_PARAMETERS, struct pairs *p, const struct target *targets, uint n,
                       wide (*total)[ITEMS])
{
    const uint start = n * p->chunk, length = chunk_length(p, n),
               block_length = p->sum.one_block ? p->chunk : BLOCK;
    number4 next[MOST_ARRAYS][NEXT];
    if (LOCAL && PREFETCH)
        load_next(SOURCE_ARGUMENTS, p, n, 0, next);
    EACH_VECTOR(k) EACH_PLANE(c, p) total[c][k] = (wide)(0);
    for (uint block = 0; block < length; block += block_length) {
        vec acc[ITEMS][MOST_PLANES];
        EACH_VECTOR(k) EACH_PLANE(c, p) acc[k][c] = (vec)C(0);
        for (uint off = block; off < min(block + block_length, length); off += TILE) {
            if (LOCAL)
                load_tile(SOURCE_ARGUMENTS, p, n, off, next);
            if (chunk_has(p, n, start + off))
                add_tile(SOURCE_ARGUMENTS, p, targets, start + off, acc);
        }
        EACH_VECTOR(k) EACH_PLANE(c, p) total[c][k] += WIDEN(acc[k][c]);
    }
}

/* Add the sums over chunk n to `partial`: to the sums of earlier chunks if these share the partial
 * sum. */
#if J_SPLIT == 1
#define REDUCE_BUFFER(name) local number *const name = 0

INLINED void store_partial(const struct pairs *p, uint n, wide (*total)[ITEMS])
{
    global number *const partial =
        p->partial + (CHAIN ? (size_t)0 : (size_t)n) * p->sum.planes * p->rows;
    EACH_PLANE(c, p) EACH_VECTOR(k) for (int lane = 0; lane < WIDTH; lane++)
    {
        global number *const to = partial + c * (size_t)p->rows + target_body(p, k) + lane;
        *to = ((number *)&total[c][k])[lane] + (CHAIN && n > 0 ? *to : (number)0);
    }
}
#else
/* Planes that fit into local memory at a time. */
#define REDUCE_PLANES (3 * J_SPLIT * GROUP_BODIES * (int)sizeof(number) <= 24576 ? 3 : 1)
#define REDUCE_BUFFER(name) local number name[REDUCE_PLANES * J_SPLIT * GROUP_BODIES]

/* Return `earlier` plus the sums of one body over `chunks` chunks, in order. */
static inline number add_splits(number earlier, local const number *part, uint chunks)
{
    number sum = part[0] + earlier;
    if (chunks == J_SPLIT) {
        UNROLLED for (int d = 1; d < J_SPLIT; d++) sum += part[d * GROUP_BODIES];
    } else
        for (uint d = 1; d < chunks; d++)
            sum += part[d * GROUP_BODIES];
    return sum;
}

/* Add planes from c on, through local memory. */
INLINED void store_planes(const struct pairs *p, uint n, int c, wide (*total)[ITEMS])
{
    const uint first = n - SPLIT, chunks = min((uint)J_SPLIT, p->until - first);
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLLED for (int d = 0; d < REDUCE_PLANES; d++) if (c + d < p->sum.planes)
        EACH_VECTOR(k) for (int lane = 0; lane < WIDTH; lane++)
            p->reduce[(d * J_SPLIT + SPLIT) * GROUP_BODIES + vector_body(k) + lane] =
        ((number *)&total[c + d][k])[lane];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = get_local_id(0); r < min(REDUCE_PLANES, p->sum.planes - c) * GROUP_BODIES;
         r += GROUP) {
        const uint plane = r / GROUP_BODIES, body = r % GROUP_BODIES;
        global number *const to = p->partial + (c + plane) * (size_t)p->rows + group_body(p) + body;
        *to = add_splits(first > 0 ? *to : (number)0,
                         p->reduce + plane * J_SPLIT * GROUP_BODIES + body, chunks);
    }
}

INLINED void store_partial(const struct pairs *p, uint n, wide (*total)[ITEMS])
{
    UNROLLED for (int c = 0; c < MOST_PLANES; c += REDUCE_PLANES) if (c < p->sum.planes)
        store_planes(p, n, c, total);
}
#endif

/* ---- All chunks of a group. ------------------------------------------------------------------ */

/* Multiply the sum by the targets' masses, which are equal to those of the source bodies. */
INLINED void multiply_by_mass(global const number4 *restrict posm, const struct pairs *p,
                              wide (*total)[ITEMS])
{
    EACH_VECTOR(k)
    {
        const wide m = load_component(posm + p->first + target_body(p, k), 3);
        EACH_PLANE(c, p) total[c][k] *= m;
    }
}

/* Sum over one chunk of from .. until - 1, or with CHAIN over all of them, J_SPLIT at a time. */
INLINED void sum_pairs(SOURCE_PARAMETERS, struct pairs *p)
{
    struct target targets[ITEMS];
    EACH_VECTOR(k) load_target(SOURCE_ARGUMENTS, p, target_body(p, k), &targets[k]);
    for (uint n = p->from + (CHAIN ? SPLIT : (uint)get_group_id(1)); n - SPLIT < p->until;
         n += J_SPLIT) {
        wide total[MOST_PLANES][ITEMS];
        sum_chunk(SOURCE_ARGUMENTS, p, targets, n, total);
        if (UNIFORM && p->sum.equal_mass)
            multiply_by_mass(posm, p, total);
        store_partial(p, n, total);
        if (!CHAIN)
            break;
    }
}

/* ---- Sum and update in one launch. -------------------------------------------------------------
 * An integrator's file before this one may define update_component, its UPDATE_PARAMETERS, and
 * their names, UPDATE_ARGUMENTS. The group that has all sums of its bodies then also ends their
 * step and begins the next. */

#ifdef UPDATE_PARAMETERS
INLINED void update_group(global const number4 *posm, const struct pairs *p, UPDATE_PARAMETERS)
{
    if (GROUP > 1)
        barrier(CLK_GLOBAL_MEM_FENCE); /* the group has stored its sums */
    for (uint t = get_local_id(0); t < 3 * GROUP_BODIES; t += GROUP)
        update_component(posm, p->partial, p->first, p->rows, group_body(p) + t % GROUP_BODIES,
                         t / GROUP_BODIES, UPDATE_ARGUMENTS);
}
#endif

#if FUSED_STEPS
/* A launch of `steps` steps, the last of which has the launch's phases. After each step but the
 * last all groups pass the grid barrier at word BARRIER_WORD of `bad`; `barrier_count` is the
 * number of barriers passed so far. Bodies move to the other array, and back in the next step. */
#define BARRIER_WORD 32
#define MULTI_STEP_PARAMETERS uint steps, uint barrier_count, uint max_polls
#define INNER_PHASES (REDUCE | KICK_CLOSE | KICK_DRIFT)

/* Wait until all groups have made the step. False after a timeout. */
static inline bool pass_barrier(global int *bad, uint barrier_count, uint max_polls,
                                local uint *passed)
{
    return grid_barrier((volatile global uint *)bad + BARRIER_WORD,
                        get_num_groups(0) * barrier_count, max_polls, passed);
}
#endif

#endif
