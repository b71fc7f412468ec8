/* tree.cl - octree of all bodies, built for each sum of forces.
 *
 *   posm --bounding_box, root_cube--> cube --hilbert_keys--> keys --sort (arrays)--> order
 *        --gather_bodies--> body
 *
 *   key      | body 0 | body 1 | ...     ascending: a cell of any level is a range of bodies
 *            '-- a cell of level l begins where the first l octal digits change, if its
 *                parent has > LEAF bodies --'
 *   count    [level][run]   cells that begin in a run of bodies
 *            --scan (arrays)--> number of the first of these cells
 *   cells    | level 0 | level 1 ...     by level, then in the order of their bodies:
 *                                        children are consecutive
 *
 *   link[k]         {first child, children}; leaf: {first body, -bodies}
 *   child_begin[k]  number of cell k's first child; child_begin[k + 1] ends its children
 *   com[k]          {centre of mass, G M}
 *   multipoles[k]   moments about the centre of mass (multipole.cl)
 *   size[k]         opening size (walk.cl); moments.cl computes com, multipoles and size
 *
 * Level 21 is the deepest of a key of one word: a cell there is a leaf of any number of bodies.
 * Keys of two words have 42 levels.
 *
 * Integers, minima and maxima are exact in any order. All other sums run in the order of bodies or
 * children, so a tree depends on nothing but the bodies. The scalar reference is
 * nbody_ref_tree_build.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_HILBERT_KEYS_CL /* the host puts it in front */
#include "hilbert_keys.cl"
#endif
#ifndef LEAF
#define LEAF 16 /* bodies of a leaf, at most */
#endif
#define RUN 16 /* bodies of a work-item; TREE_RUN in tree.h */
#define GROUP_BODIES (GROUP_1D * RUN)
#define LEVEL_COUNT (LEVELS + 1)
#define NONE 0xffffffffu     /* no cell */
#define DEFERRED 0x80000000u /* as in walk.cl */
/* Bodies of a leaf of the last level above which a key overflows, unless they coincide. */
#define OVERFLOW_BODIES 128

#ifdef DOUBLE
#define LEAST_EXPONENT -1000
#else
#define LEAST_EXPONENT -100
#endif

/* ---- Root cube. ------------------------------------------------------------------------------ */

/* part[group] = {least x, y, z, -; greatest x, y, z, -} of the bodies [first, end) that the
 * group's work-items stride over. */
kernel GROUP_OF_ITEMS void bounding_box(global const real4 *posm, uint first, uint end,
                                        global real8 *part)
{
    local real8 found[GROUP_1D];
    const uint lid = get_local_id(0);
    const size_t items = get_global_size(0);
    real4 lo = posm[first], hi = lo;
    for (size_t i = first + get_global_id(0); i < end;
         i += 4 * items) { /* four independent loads hide memory latency */
        const size_t last = end - 1;
        const real4 a = posm[i], b = posm[min(i + items, last)], c = posm[min(i + 2 * items, last)],
                    d = posm[min(i + 3 * items, last)];
        lo = fmin(fmin(lo, fmin(a, b)), fmin(c, d));
        hi = fmax(fmax(hi, fmax(a, b)), fmax(c, d));
    }
    found[lid] = (real8)(lo, hi);
    for (uint half_ = GROUP_1D / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_)
            found[lid] = (real8)(fmin(found[lid].lo, found[lid + half_].lo),
                                 fmax(found[lid].hi, found[lid + half_].hi));
    }
    if (lid == 0)
        part[get_group_id(0)] = found[0];
}

#define CUBE_STEPS 8 /* a power of two */

static inline real root_cube_side(real extent)
{
    return ldexp(C(1), max(ilogb(extent), LEAST_EXPONENT) + 1);
}

/* cube = {x, y, z, side}. The side is a power of two above the extent of all bodies. The corner is
 * their least coordinates, rounded down to side / CUBE_STEPS, so that the cube seldom changes
 * between steps. One work-group. */
kernel GROUP_OF_ITEMS void root_cube(global const real8 *part, uint parts, global real4 *cube)
{
    local real8 found[GROUP_1D];
    const uint lid = get_local_id(0);
    real8 own = part[min(lid, parts - 1)];
    for (uint k = lid; k < parts; k += GROUP_1D)
        own = (real8)(fmin(own.lo, part[k].lo), fmax(own.hi, part[k].hi));
    found[lid] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid > 0)
        return;
    for (uint k = 1; k < GROUP_1D; k++)
        own = (real8)(fmin(own.lo, found[k].lo), fmax(own.hi, found[k].hi));
    const real4 d = own.hi - own.lo;
    const real extent = fmax(d.x, fmax(d.y, d.z));
    *cube = (real4)(own.lo.xyz, C(1));
    if (!(extent > 0))
        return;
    const real step = root_cube_side(extent) / CUBE_STEPS;
    const real4 low = floor(own.lo / step) * step, e = own.hi - low;
    *cube = (real4)(low.xyz, root_cube_side(fmax(extent, fmax(e.x, fmax(e.y, e.z)))));
}

/* ---- Keys. ----------------------------------------------------------------------------------- */

/* Compute one word of the keys of n bodies, from row `first` on; reorder: in the present order. */
kernel GROUP_OF_ITEMS void hilbert_keys(global const real4 *posm, uint first, uint n,
                                        global const real4 *cube, uint word, uint reorder,
                                        global ulong *key, global uint *order)
{
    local struct curve c;
    const size_t begin = get_group_id(0) * (size_t)GROUP_BODIES,
                 end = min(begin + GROUP_BODIES, (size_t)n);
    const real4 f = *cube;
    curve_load(&c);
    for (size_t i = begin + get_local_id(0); i < end; i += GROUP_1D) {
        const uint body = reorder ? order[i] : first + (uint)i;
        key[i] = curve_key(&c, posm[body], f, word);
        if (!reorder)
            order[i] = body;
    }
}

/* Gather n bodies of the tree from number `begin` on, and their |a| of the last sum. */
kernel void gather_bodies(global const real4 *posm, global const real *a_old, uint n,
                          global const uint *order, uint begin, global real4 *body,
                          global real *a_old_sorted)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    body[begin + i] = posm[order[i]];
    a_old_sorted[begin + i] = a_old[order[i]];
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* Sorted keys [begin, end); lo: their second words, if KEY_WORDS > 1. */
struct keys {
    global const ulong *hi, *lo;
    uint begin, end;
};

struct key {
    ulong hi, lo;
};

static inline struct key key_at(struct keys k, uint i)
{
    return (struct key){k.hi[i], KEY_WORDS > 1 ? k.lo[i] : 0};
}

static inline int common_digits(ulong a, ulong b)
{
    return a == b ? DIGITS : (int)(clz(a ^ b) - 1) / 3;
}

/* Number of leading octal digits that two keys have in common. */
static inline int key_common_digits(struct key a, struct key b)
{
    const int first = common_digits(a.hi, b.hi);
    return KEY_WORDS > 1 && first == DIGITS ? DIGITS + common_digits(a.lo, b.lo) : first;
}

/* True if the first `digits` digits of two keys agree. */
static inline bool keys_agree(struct key a, struct key b, int digits)
{
    if (KEY_WORDS > 1 && digits > DIGITS)
        return a.hi == b.hi && (a.lo ^ b.lo) >> 3 * (2 * DIGITS - digits) == 0;
    return (a.hi ^ b.hi) >> 3 * (DIGITS - digits) == 0;
}

/* Return the levels {first, last} of the cells that begin at body i, or (1, 0) if none. Cells of
 * higher levels begin before i. Cells exist down to the level at which at most LEAF bodies from i
 * on share the digits. The parent of the first cell needs more than LEAF bodies, before and after
 * i; at most LEAF bodies before i are examined. */
static inline int2 cell_levels_at(struct keys key, uint i)
{
    const struct key own = key_at(key, i);
    const int before = i > key.begin ? key_common_digits(key_at(key, i - 1), own) : -1;
    const int after = i + LEAF < key.end ? key_common_digits(own, key_at(key, i + LEAF)) : -1;
    if (before == LEVELS)
        return (int2)(1, 0);
    if (i == key.begin || after >= before)
        return (int2)(before + 1, min(max(after, before) + 1, LEVELS));
    uint some = 1,
         many = min((uint)LEAF, i - key.begin) +
                1; /* bisection: body i - some is in the parent, i - many is not or is too far */
    while (many - some > 1) {
        const uint half_ = (some + many) / 2;
        if (keys_agree(key_at(key, i - half_), own, before))
            some = half_;
        else
            many = half_;
    }
    const uint last = i - some + LEAF;
    return last < key.end && keys_agree(own, key_at(key, last), before)
               ? (int2)(before + 1, before + 1)
               : (int2)(1, 0);
}

/* Cells that begin at a body: {first level, last level, bodies, crossing}. The last level has a
 * leaf; (1, 0) if no cell begins. bodies: number of bodies of this leaf; unset on level LEVELS.
 * crossing: number of levels on which the cell of this body extends past the end of the domain. */
typedef uchar4 cell_start;

/* A work-group first finds the cell starts of all its bodies; on GPUs neighbouring work-items read
 * neighbouring keys. Then each work-item processes its own run. */
#define BANKED(j) ((j) + (j) / RUN) /* avoid bank conflicts between runs */
#ifdef CPU /* RUN_ITEM: index in the group of the k-th body that a work-item examines */
#define RUN_ITEM(k, lid) ((lid)*RUN + (k))
#define RUN_BARRIER()
#else
#define RUN_ITEM(k, lid) ((lid) + (k)*GROUP_1D)
#define RUN_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* Count cells: count[level * runs + run] = cells of a level that begin in a run of RUN bodies.
 * Keys [lo, n) belong to bodies; this device owns the cells that begin in [from, to). Initialises
 * cells[1] (key overflow) to 0 and shared_node[] to NONE. */
kernel GROUP_OF_ITEMS void cell_count(global const ulong *keys_hi, global const ulong *keys_lo,
                                      uint lo, uint n, uint from, uint to, uint runs,
                                      global uint *count, global uint *cells,
                                      global uint *shared_node)
{
    local cell_start begin[GROUP_1D * (RUN + 1)];
    local uchar own[LEVEL_COUNT * GROUP_1D]; /* [level][work-item] */
    const uint lid = get_local_id(0), group = get_group_id(0), run = group * GROUP_1D + lid;
    const struct keys key = {keys_hi, keys_lo, lo, n};
    if (run == 0)
        cells[1] = 0;
    for (int l = 0; l < LEVEL_COUNT && run == 0; l++)
        shared_node[l] = NONE;
    for (uint k = 0; k < RUN; k++) {
        const uint j = RUN_ITEM(k, lid), i = from + group * GROUP_BODIES + j;
        const int2 levels = i < to ? cell_levels_at(key, i) : (int2)(1, 0);
        begin[BANKED(j)] = (cell_start)(levels.x, levels.y, 0, 0);
    }
    for (int l = 0; l < LEVEL_COUNT; l++)
        own[l * GROUP_1D + lid] = 0;
    RUN_BARRIER();
    for (uint j = lid * RUN; j < (lid + 1) * RUN; j++) {
        const cell_start b = begin[BANKED(j)];
        for (int l = b.x; l <= b.y; l++)
            own[l * GROUP_1D + lid]++;
    }
    for (int l = 0; l < LEVEL_COUNT && run < runs; l++)
        count[l * (size_t)runs + run] = own[l * GROUP_1D + lid];
}

/* Return the number of bodies of the leaf of `level` that begins at i; on the last level there may
 * be any number. */
static inline uint leaf_bodies(struct keys key, uint i, int level)
{
    const struct key own = key_at(key, i);
    const uint n = key.end;
    uint some = 1, many = LEAF + 1; /* bisection: `some` bodies share the digits, `many` do not */
    if (level == LEVELS)
        while (i + many < n && keys_agree(own, key_at(key, i + many), LEVELS))
            some = many, many *= 2;
    many = min(many, n - i);
    while (many - some > 1) {
        const uint half_ = some + (many - some) / 2;
        if (keys_agree(own, key_at(key, i + half_ - 1), level))
            some = half_;
        else
            many = half_;
    }
    return keys_agree(own, key_at(key, i + many - 1), level) ? many : some;
}

/* True if a leaf of the last level has many bodies that do not coincide; 32 bodies are examined. */
static inline bool leaf_overflows_key(global const real4 *body, uint first, uint bodies)
{
    bool apart = false;
    for (uint k = 1; k <= 32 && bodies > OVERFLOW_BODIES; k++) {
        const real4 d = body[first + (ulong)(bodies - 1) * k / 32] - body[first];
        apart |= d.x != 0 || d.y != 0 || d.z != 0;
    }
    return apart;
}

/* Write the first and end cell of this device on each level; span[LEVEL_COUNT]: end of all cells.
 */
static inline void write_spans(global const uint *at, uint runs, uint own, uint all, uint top,
                               global uint2 *span)
{
    for (int l = 0; l < LEVEL_COUNT; l++) {
        const uint behind = l < LEVELS ? at[(l + 1) * (size_t)runs] : own;
        span[l] = all > 0 ? (uint2)(at[l * (size_t)runs], behind) + top : (uint2)(0);
    }
    span[LEVEL_COUNT] = (uint2)(all, 0);
}

/* Stop the batch before sum number `sum` (-1: not in a batch): *bad becomes INT_MIN + sum, and
 * later kernels do nothing. */
static inline void tree_stop_batch(int sum, global int *bad)
{
    if (sum >= 0)
        atomic_cmpxchg(bad, INT_MAX, INT_MIN + sum);
}

/* Write the cells, from number `top` on. at: scanned counts, the number of the first cell of each
 * level and run. If the cells exceed `room`, all spans become 0 and the batch stops; it also stops
 * if a key overflows and extend_keys is set. Key number `from` belongs to body `begin`. link[k] of
 * a cell with children is {first child, first body} until its moments are computed.
 * shared_node[level]: the cell that begins here and extends into another domain. */
kernel GROUP_OF_ITEMS void cell_write(global const ulong *keys_hi, global const ulong *keys_lo,
                                      global const real4 *body, uint lo, uint n, uint from, uint to,
                                      uint begin, uint runs, global const uint *at,
                                      global uint *cells, uint top, uint room, global uint2 *span,
                                      global uint *shared_node, global int2 *link,
                                      global uint *child_begin, uint extend_keys, int sum,
                                      global int *bad)
{
    local cell_start found[GROUP_1D * (RUN + 1)];
    local uchar own[LEVEL_COUNT * GROUP_1D]; /* [level][work-item]: cells so far */
    const uint lid = get_local_id(0), group = get_group_id(0), run = group * GROUP_1D + lid;
    const struct keys key = {keys_hi, keys_lo, lo, n};
    const uint all = top + *cells;
    if (run == 0)
        write_spans(at, runs, *cells, all > room ? 0 : all, top, span);
    if (run == 0 && all > room)
        tree_stop_batch(sum, bad);
    if (all > room)
        return;
    if (run == 0)
        child_begin[all] = all;
    for (uint k = 0; k < RUN; k++) {
        const uint j = RUN_ITEM(k, lid), i = from + group * GROUP_BODIES + j;
        const int2 levels = i < to ? cell_levels_at(key, i) : (int2)(1, 0);
        const bool any = levels.x <= levels.y;
        const uint bodies = any && levels.y < LEVELS ? leaf_bodies(key, i, levels.y) : 0;
        const int across = any && to < n ? key_common_digits(key_at(key, i), key_at(key, to)) : -1;
        found[BANKED(j)] = (cell_start)(levels.x, levels.y, bodies, across + 1);
    }
    for (int l = 0; l < LEVEL_COUNT; l++)
        own[l * GROUP_1D + lid] = 0;
    RUN_BARRIER();
    for (uint j = lid * RUN; j < (lid + 1) * RUN; j++) {
        const cell_start b = found[BANKED(j)];
        const uint i = group * GROUP_BODIES + j;
        for (int l = b.x; l <= b.y; l++) {
            const uint k = at[l * (size_t)runs + run] + own[l * GROUP_1D + lid]++ + top;
            const uint child =
                l < LEVELS ? at[(l + 1) * (size_t)runs + run] + own[(l + 1) * GROUP_1D + lid] + top
                           : all;
            child_begin[k] = child;
            if (l < b.y) {
                link[k] = (int2)(child, begin + i);
                if (b.w > l)
                    shared_node[l] = k;
                continue;
            }
            const uint bodies = l < LEVELS ? b.z : leaf_bodies(key, from + i, l);
            link[k] = (int2)(begin + i, -(int)bodies);
            if (l == LEVELS && leaf_overflows_key(body, begin + i, bodies)) {
                cells[1] = 1;
                if (extend_keys)
                    tree_stop_batch(sum, bad);
            }
        }
    }
}

/* ---- Row permutation (tree_order.c). ----------------------------------------------- */

kernel void copy_order(global const uint *order, uint n, global uint *out)
{
    if (get_global_id(0) < n)
        out[get_global_id(0)] = order[get_global_id(0)];
}

kernel void gather_rows(global const real4 *posm, global const uint *order, uint first, uint n,
                        global real4 *to)
{
    if (get_global_id(0) < n)
        to[get_global_id(0)] = posm[order[first + get_global_id(0)]];
}

kernel void store_rows(global const real4 *from, uint n, global real4 *posm, uint first)
{
    if (get_global_id(0) < n)
        posm[first + get_global_id(0)] = from[get_global_id(0)];
}

/* copy: to[begin + k] = from[at + k] for n numbers. gather: the same by rows, to[begin + k] =
 * from[at + order[first + k]]. */
kernel void copy_column(global const real *from, ulong at, uint n, global real *to, ulong begin)
{
    if (get_global_id(0) < n)
        to[begin + get_global_id(0)] = from[at + get_global_id(0)];
}

kernel void gather_column(global const real *from, ulong at, global const uint *order, uint first,
                          uint n, global real *to, ulong begin)
{
    if (get_global_id(0) < n)
        to[begin + get_global_id(0)] = from[at + order[first + get_global_id(0)]];
}

/* ---- Schedule of groups. --------------------------------------------------------------------- */

/* Schedule groups from .. from + groups - 1: schedule[] begins with the groups that had more than
 * long_walk interactions in the last sum, so that no long walk starts last. Work-items fill the
 * front and the back in any order; forces do not depend on it. deferred[1], deferred[2]: number of
 * groups in front and back. info[].w == 2 (let.cl): the group is deferred at once, and its entry
 * has the bit DEFERRED. */
kernel GROUP_OF_ITEMS void schedule_groups(global uint4 *info, uint from, uint groups,
                                           uint long_walk, global uint *deferred,
                                           global uint *schedule)
{
    local uint here[2], start[2];
    const uint lid = get_local_id(0), k = get_global_id(0);
    if (lid < 2)
        here[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint g = from + min(k, groups - 1),
               back = k < groups && info[g].x + info[g].y <= long_walk;
    const uint place = k < groups ? atomic_inc(&here[back]) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 2)
        start[lid] = atomic_add(&deferred[1 + lid], here[lid]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k >= groups)
        return;
    schedule[back ? groups - 1 - start[1] - place : start[0] + place] =
        g | (info[g].w == 2 ? DEFERRED : 0);
    info[g].w = 0;
}

/* ---- Forces by row. -------------------------------------------------------------------------- */

/* forces_sorted[begin + i] = {a, |a|} of body i; sums[] = these in the order of rows. One float4
 * store per body, as devices access whole sectors of memory. Resets the deferred groups and the
 * schedule. */
kernel void scatter_forces(global const real4 *forces_sorted, uint n, global const uint *order,
                           uint begin, global real4 *sums, global uint *deferred)
{
    const size_t i = get_global_id(0);
    if (i == 0)
        deferred[0] = deferred[1] = deferred[2] = 0;
    if (i < n)
        sums[order[i]] = forces_sorted[begin + i];
}

/* Store accelerations as planes of `rows` numbers for the bodies first .. first + count - 1;
 * a_old[] = |a| of all bodies. Does nothing for a tree that did not fit. */
kernel void store_forces(global const real4 *sums, uint n, uint first, uint rows, uint count,
                         global real *plane, global real *a_old, global const int *bad)
{
    const size_t i = get_global_id(0), row = i - first;
    if (i >= n || *bad < 0)
        return;
    const real4 a = sums[i];
    a_old[i] = a.w;
    if (i < first || row >= count)
        return;
    plane[row] = a.x;
    plane[rows + row] = a.y;
    plane[2 * (size_t)rows + row] = a.z;
}

/* Store potentials, which are forces_sorted[i].x. */
kernel void scatter_potentials(global const real4 *forces_sorted, uint n, global const uint *order,
                               uint first, uint count, global real *plane, global uint *deferred)
{
    const size_t i = get_global_id(0);
    if (i == 0)
        deferred[0] = deferred[1] = deferred[2] = 0;
    if (i < n && order[i] >= first && order[i] - first < count)
        plane[order[i] - first] = forces_sorted[i].x;
}
