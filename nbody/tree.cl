/* tree.cl - an octree of all bodies, anew for each sum of forces.
 *
 *   posm --box, frame--> the cube --keys--> places on Hilbert's curve --sort (arrays)--> order
 *   --gather--> body
 *
 *   key      | body 0 | body 1 | ...        ascending: a cell of any level is a run of bodies
 *            '-- a cell of level l begins where the first l octal digits change, if its parent has
 *            > LEAF bodies --'
 *   count    [level][run]  cells that begin in a run of bodies --scan (arrays)--> the place of the
 *            first of them
 *   cells    | level 0 | level 1 ...        by level, then as their bodies lie: children lie
 *            together
 *
 *   link[k] = {first child, children}, or of a leaf {first body, -bodies};  down[k]: cells of its
 *   level's children's
 *   level before its own.  com[k] = {centre of mass, G M};  poles[k]: how mass lies about it
 *   (multipole.cl); size[k]: what squares of distances are compared with (walk.cl). moments.cl
 *   finds these three.
 *
 * Below level 21 all bodies of a cell are a leaf, or have a second word of their keys: 42 levels.
 *
 * Whole numbers, minima and maxima are exact in any order, and all other sums run in the order of
 * bodies or children, so that a tree depends on the bodies and nothing else. The plain-C twin is
 * nbody_ref_tree_build.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_CURVE_CL /* the host puts it in front */
#include "curve.cl"
#endif
#ifndef LEAF
#define LEAF 16 /* the most bodies of a cell that is not divided */
#endif
#define RUN 16 /* bodies that an item looks at */
#define GROUP_BODIES (FLAT * RUN)
#define LEVEL_COUNT (LEVELS + 1)
#define NONE 0xffffffffu    /* no cell */
#define PUT_OFF 0x80000000u /* as in walk.cl */
#define CROWD                                                                                      \
    128 /* bodies of a leaf of the last level that call for a second word, unless they are all at  \
           one place */

#ifdef DOUBLE
#define LEAST_EXPONENT -1000
#else
#define LEAST_EXPONENT -100
#endif

/* ---- The cube. ------------------------------------------------------------------------------- */

/* part[group] = {least x, y, z, -; greatest x, y, z, -} of the bodies first .. end - 1 that the
 * group's items stride over. */
kernel GROUP_OF_ITEMS void box(global const real4 *posm, uint first, uint end, global real8 *part)
{
    local real8 found[FLAT];
    const uint lid = get_local_id(0);
    const size_t items = get_global_size(0);
    real4 lo = posm[first], hi = lo;
    for (size_t i = first + get_global_id(0); i < end;
         i += 4 * items) { /* four at once, for more bytes under way */
        const size_t last = end - 1;
        const real4 a = posm[i], b = posm[min(i + items, last)], c = posm[min(i + 2 * items, last)],
                    d = posm[min(i + 3 * items, last)];
        lo = fmin(fmin(lo, fmin(a, b)), fmin(c, d));
        hi = fmax(fmax(hi, fmax(a, b)), fmax(c, d));
    }
    found[lid] = (real8)(lo, hi);
    for (uint half_ = FLAT / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_)
            found[lid] = (real8)(fmin(found[lid].lo, found[lid + half_].lo),
                                 fmax(found[lid].hi, found[lid + half_].hi));
    }
    if (lid == 0)
        part[get_group_id(0)] = found[0];
}

#define CUBE_STEPS 8 /* a power of two */

static inline real side_of(real extent)
{
    return ldexp(C(1), max(ilogb(extent), LEAST_EXPONENT) + 1);
}

/* cube = {x, y, z, side}: a power of two above the extent of all bodies, from its least coordinates
 * on, which are rounded down, so that it is seldom another in the next step. One group. */
kernel GROUP_OF_ITEMS void frame(global const real8 *part, uint parts, global real4 *cube)
{
    local real8 found[FLAT];
    const uint lid = get_local_id(0);
    real8 own = part[min(lid, parts - 1)];
    for (uint k = lid; k < parts; k += FLAT)
        own = (real8)(fmin(own.lo, part[k].lo), fmax(own.hi, part[k].hi));
    found[lid] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid > 0)
        return;
    for (uint k = 1; k < FLAT; k++)
        own = (real8)(fmin(own.lo, found[k].lo), fmax(own.hi, found[k].hi));
    const real4 d = own.hi - own.lo;
    const real extent = fmax(d.x, fmax(d.y, d.z));
    *cube = (real4)(own.lo.xyz, C(1));
    if (!(extent > 0))
        return;
    const real step = side_of(extent) / CUBE_STEPS;
    const real4 low = floor(own.lo / step) * step, e = own.hi - low;
    *cube = (real4)(low.xyz, side_of(fmax(extent, fmax(e.x, fmax(e.y, e.z)))));
}

/* ---- Keys. ----------------------------------------------------------------------------------- */

/* A word of each body's key; `again` follows the order that there is, in which NONE comes last. */
kernel GROUP_OF_ITEMS void keys(global const real4 *posm, uint n, global const real4 *cube,
                                uint word, uint again, global ulong *key, global uint *order)
{
    local struct curve c;
    const size_t begin = get_group_id(0) * (size_t)GROUP_BODIES,
                 end = min(begin + GROUP_BODIES, (size_t)n);
    const real4 f = *cube;
    learn(&c);
    for (size_t i = begin + get_local_id(0); i < end; i += FLAT) {
        const uint body = again ? order[i] : (uint)i;
        key[i] = body == NONE ? ~0UL : place(&c, posm[body], f, word);
        if (!again)
            order[i] = i;
    }
}

/* n bodies of the tree, from number `begin` on, and what they felt. */
kernel void gather(global const real4 *posm, global const real *felt, uint n,
                   global const uint *order, uint begin, global real4 *body, global real *feel)
{
    const size_t i = get_global_id(0);
    if (i >= n)
        return;
    body[begin + i] = posm[order[i]];
    feel[begin + i] = felt[order[i]];
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* Keys in order, those of `lo` .. n - 1; `second` has their second words, if there are any. */
struct keys {
    global const ulong *first, *second;
    uint lo, n;
};

struct key {
    ulong first, second;
};

static inline struct key key_at(struct keys k, uint i)
{
    return (struct key){k.first[i], WORDS > 1 ? k.second[i] : 0};
}

static inline int agreeing(ulong a, ulong b)
{
    return a == b ? DIGITS : (int)(clz(a ^ b) - 1) / 3;
}

/* How many octal digits of two keys agree, from the first on. */
static inline int common(struct key a, struct key b)
{
    const int first = agreeing(a.first, b.first);
    return WORDS > 1 && first == DIGITS ? DIGITS + agreeing(a.second, b.second) : first;
}

/* Whether so many do. */
static inline bool agree(struct key a, struct key b, int digits)
{
    if (WORDS > 1 && digits > DIGITS)
        return a.first == b.first && (a.second ^ b.second) >> 3 * (2 * DIGITS - digits) == 0;
    return (a.first ^ b.first) >> 3 * (DIGITS - digits) == 0;
}

/* The levels of the cells that begin at body i: first .. last. Those above the first began before;
 * there are more levels as long as more than LEAF bodies from i on agree. The parent of the first
 * has a cell begin at i if it has more than LEAF bodies: as many as that from the first on of those
 * before i that are in it, at most LEAF of which are looked at. */
static inline int2 levels_at(struct keys key, uint i)
{
    const struct key own = key_at(key, i);
    const int before = i > key.lo ? common(key_at(key, i - 1), own) : -1;
    const int after = i + LEAF < key.n ? common(own, key_at(key, i + LEAF)) : -1;
    if (before == LEVELS)
        return (int2)(1, 0);
    if (i == key.lo || after >= before)
        return (int2)(before + 1, min(max(after, before) + 1, LEVELS));
    uint some = 1, many = min((uint)LEAF, i - key.lo) +
                          1; /* some before i are in it, `many` are not, or too many */
    while (many - some > 1) {
        const uint half_ = (some + many) / 2;
        if (agree(key_at(key, i - half_), own, before))
            some = half_;
        else
            many = half_;
    }
    const uint last = i - some + LEAF;
    return last < key.n && agree(own, key_at(key, last), before) ? (int2)(before + 1, before + 1)
                                                                 : (int2)(1, 0);
}

/* What is known of the cells that begin at a body: their first level, and their last, where a leaf
 * is, or (1, 0); how many bodies the leaf has, if it is not of the last level of all; and down to
 * which level, counted from 1, the body's cells reach over the end of a part. */
typedef uchar4 beginning;

/* A work-group finds that out for the bodies of its items' runs: on GPUs side by side, so that
 * neighbours read neighbouring keys. Then each item goes along its run. */
#define PLACE(j) ((j) + (j) / RUN) /* runs begin in different banks of local memory */
#ifdef CPU /* LOOKS_AT: number k of the bodies that an item looks at, in its group */
#define LOOKS_AT(k, lid) ((lid)*RUN + (k))
#define JOIN_RUNS()
#else
#define LOOKS_AT(k, lid) ((lid) + (k)*FLAT)
#define JOIN_RUNS() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* The keys lo .. n - 1 are those of bodies; cells that begin at from .. to - 1 are this device's,
 * RUN bodies an item. count[level * runs + run] = cells of a level that begin in a run. Of the runs
 * of all work-groups, a gap of so many groups is left out after the first `before`. cells[1]: not
 * crowded, so far; bridge[level]: none, so far. */
kernel GROUP_OF_ITEMS void cell_count(global const ulong *first, global const ulong *second,
                                      uint lo, uint n, uint from, uint to, uint runs, uint before,
                                      uint gap, global uint *count, global uint *cells,
                                      global uint *bridge)
{
    local beginning begin[FLAT * (RUN + 1)];
    local uchar own[LEVEL_COUNT * FLAT]; /* by levels: of each item */
    const uint lid = get_local_id(0),
               group = get_group_id(0) + (get_group_id(0) < before ? 0 : gap),
               run = group * FLAT + lid;
    const struct keys key = {first, second, lo, n};
    if (run == 0)
        cells[1] = 0;
    for (int l = 0; l < LEVEL_COUNT && run == 0; l++)
        bridge[l] = NONE;
    for (uint k = 0; k < RUN; k++) {
        const uint j = LOOKS_AT(k, lid), i = from + group * GROUP_BODIES + j;
        const int2 levels = i < to ? levels_at(key, i) : (int2)(1, 0);
        begin[PLACE(j)] = (beginning)(levels.x, levels.y, 0, 0);
    }
    for (int l = 0; l < LEVEL_COUNT; l++)
        own[l * FLAT + lid] = 0;
    JOIN_RUNS();
    for (uint j = lid * RUN; j < (lid + 1) * RUN; j++) {
        const beginning b = begin[PLACE(j)];
        for (int l = b.x; l <= b.y; l++)
            own[l * FLAT + lid]++;
    }
    for (int l = 0; l < LEVEL_COUNT && run < runs; l++)
        count[l * (size_t)runs + run] = own[l * FLAT + lid];
}

/* Bodies of the leaf of a level that begins at i. Below the last level there may be any number. */
static inline uint leaf_bodies(struct keys key, uint i, int level)
{
    const struct key own = key_at(key, i);
    const uint n = key.n;
    uint some = 1, many = LEAF + 1; /* some agree, `many` do not */
    if (level == LEVELS)
        while (i + many < n && agree(own, key_at(key, i + many), LEVELS))
            some = many, many *= 2;
    many = min(many, n - i);
    while (many - some > 1) {
        const uint half_ = some + (many - some) / 2;
        if (agree(own, key_at(key, i + half_ - 1), level))
            some = half_;
        else
            many = half_;
    }
    return agree(own, key_at(key, i + many - 1), level) ? many : some;
}

/* Whether many bodies are in one leaf, but not at one place; 32 of them tell. */
static inline bool crowded(global const real4 *body, uint first, uint bodies)
{
    bool apart = false;
    for (uint k = 1; k <= 32 && bodies > CROWD; k++) {
        const real4 d = body[first + (ulong)(bodies - 1) * k / 32] - body[first];
        apart |= d.x != 0 || d.y != 0 || d.z != 0;
    }
    return apart;
}

/* The first cell of each level that is this device's, and that behind them. span[LEVEL_COUNT]: the
 * number of all cells. */
static inline void write_spans(global const uint *at, uint runs, uint own, uint all,
                               global const uint *add, global uint2 *span)
{
    for (int l = 0; l < LEVEL_COUNT; l++) {
        const uint behind = l < LEVELS ? at[(l + 1) * (size_t)runs] : own;
        span[l] = all > 0 ? (uint2)(at[l * (size_t)runs] + add[l], behind + add[l]) : (uint2)(0);
    }
    span[LEVEL_COUNT] = (uint2)(all, 0);
}

/* Stops the burst before `sum`, the number of a sum in it, or -1 outside of bursts: bad is INT_MIN
 * + sum, and nothing is done any more. */
static inline void stop(int sum, global int *bad)
{
    if (sum >= 0)
        atomic_cmpxchg(bad, INT_MAX, INT_MIN + sum);
}

/* at: the scanned counts, the place of the first cell of each level and run; add[level]: what its
 * cells' numbers are more, as other devices' stand before them; total: of all devices, or 0 where
 * this one is alone. All spans are 0 when there are more than have room, and the burst stops; also
 * when bodies are crowded and `deepen`. Body `from` of the keys is body `begin` of the tree.
 * link[k] of a cell with children is {first child, first body} until its moments are made.
 * bridge[level]: the cell whose bodies are this device's and others', of which the first is. */
kernel GROUP_OF_ITEMS void cell_write(global const ulong *first, global const ulong *second,
                                      global const real4 *body, uint lo, uint n, uint from, uint to,
                                      uint begin, uint runs, global const uint *at,
                                      global uint *cells, uint total, global const uint *add,
                                      uint room, global uint2 *span, global uint *bridge,
                                      global int2 *link, global uint *down, uint deepen, int sum,
                                      global int *bad)
{
    local beginning found[FLAT * (RUN + 1)];
    local uchar own[LEVEL_COUNT * FLAT]; /* by levels: cells of each item, so far */
    const uint lid = get_local_id(0), group = get_group_id(0), run = group * FLAT + lid;
    const struct keys key = {first, second, lo, n};
    const uint all = total ? total : *cells;
    if (run == 0)
        write_spans(at, runs, *cells, all > room ? 0 : all, add, span);
    if (run == 0 && all > room)
        stop(sum, bad);
    if (all > room)
        return;
    if (run == 0)
        down[all] = all;
    for (uint k = 0; k < RUN; k++) {
        const uint j = LOOKS_AT(k, lid), i = from + group * GROUP_BODIES + j;
        const int2 levels = i < to ? levels_at(key, i) : (int2)(1, 0);
        const bool any = levels.x <= levels.y;
        const uint bodies = any && levels.y < LEVELS ? leaf_bodies(key, i, levels.y) : 0;
        const int across = any && to < n ? common(key_at(key, i), key_at(key, to)) : -1;
        found[PLACE(j)] = (beginning)(levels.x, levels.y, bodies, across + 1);
    }
    for (int l = 0; l < LEVEL_COUNT; l++)
        own[l * FLAT + lid] = 0;
    JOIN_RUNS();
    for (uint j = lid * RUN; j < (lid + 1) * RUN; j++) {
        const beginning b = found[PLACE(j)];
        const uint i = group * GROUP_BODIES + j;
        for (int l = b.x; l <= b.y; l++) {
            const uint k = at[l * (size_t)runs + run] + own[l * FLAT + lid]++ + add[l];
            const uint child = l < LEVELS ? at[(l + 1) * (size_t)runs + run] +
                                                own[(l + 1) * FLAT + lid] + add[l + 1]
                                          : all;
            down[k] = child;
            if (l < b.y) {
                link[k] = (int2)(child, begin + i);
                if (b.w > l)
                    bridge[l] = k;
                continue;
            }
            const uint bodies = l < LEVELS ? b.z : leaf_bodies(key, from + i, l);
            link[k] = (int2)(begin + i, -(int)bodies);
            if (l == LEVELS && crowded(body, begin + i, bodies)) {
                cells[1] = 1;
                if (deepen)
                    stop(sum, bad);
            }
        }
    }
}

/* ---- Rows in order, as hilbert_sort_device.c draws it.
 * -------------------------------------------------- */

kernel void order_out(global const uint *order, uint n, global uint *out)
{
    if (get_global_id(0) < n)
        out[get_global_id(0)] = order[get_global_id(0)];
}

kernel void rows_pick(global const real4 *posm, global const uint *order, uint first, uint n,
                      global real4 *to)
{
    if (get_global_id(0) < n)
        to[get_global_id(0)] = posm[order[first + get_global_id(0)]];
}

kernel void rows_put(global const real4 *from, uint n, global real4 *posm, uint first)
{
    if (get_global_id(0) < n)
        posm[first + get_global_id(0)] = from[get_global_id(0)];
}

/* Numbers from number `at` on, to those from number `begin` on; and of all rows those of a
 * device's. */
kernel void numbers_move(global const real *from, ulong at, uint n, global real *to, ulong begin)
{
    if (get_global_id(0) < n)
        to[begin + get_global_id(0)] = from[at + get_global_id(0)];
}

kernel void numbers_pick(global const real *from, ulong at, global const uint *order, uint first,
                         uint n, global real *to, ulong begin)
{
    if (get_global_id(0) < n)
        to[begin + get_global_id(0)] = from[at + order[first + get_global_id(0)]];
}

/* ---- Turns. ---------------------------------------------------------------------------------- */

/* turn[] = the groups from .. from + groups - 1 of bodies, those before the others that met more
 * than `much` in the last sum, so that none of them is still under way when all the others have
 * ended. Items leave theirs as they come, from the front or the back: sums do not depend on who is
 * first. again[1], again[2]: how many there are in the front and the back. Of one that is put off
 * in any case, info[].w is 2 (let.cl), and its turn has PUT_OFF. */
kernel GROUP_OF_ITEMS void turns(global uint4 *info, uint from, uint groups, uint much,
                                 global uint *again, global uint *turn)
{
    local uint here[2], start[2];
    const uint lid = get_local_id(0), k = get_global_id(0);
    if (lid < 2)
        here[lid] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint g = from + min(k, groups - 1), back = k < groups && info[g].x + info[g].y <= much;
    const uint place = k < groups ? atomic_inc(&here[back]) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 2)
        start[lid] = atomic_add(&again[1 + lid], here[lid]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (k >= groups)
        return;
    turn[back ? groups - 1 - start[1] - place : start[0] + place] =
        g | (info[g].w == 2 ? PUT_OFF : 0);
    info[g].w = 0;
}

/* ---- Out of the tree. ------------------------------------------------------------------------ */

/* pulled[i] = {a, |a|} of body i of the tree; sums[] = these of n bodies from `begin` on, in the
 * caller's order, all at once, since devices fetch and store whole sectors of memory. No group is
 * put off any more, and none has its turn. */
kernel void scatter(global const real4 *pulled, uint n, global const uint *order, uint begin,
                    global real4 *sums, global uint *again)
{
    const size_t i = get_global_id(0);
    if (i == 0)
        again[0] = again[1] = again[2] = 0;
    if (i < n)
        sums[order[i]] = pulled[begin + i];
}

/* Planes of `rows` numbers for the bodies first .. first + count - 1; felt[] = |a| of all bodies.
 * Not of a tree that had no room. */
kernel void planes(global const real4 *sums, uint n, uint first, uint rows, uint count,
                   global real *plane, global real *felt, global const int *bad)
{
    const size_t i = get_global_id(0), row = i - first;
    if (i >= n || *bad < 0)
        return;
    const real4 a = sums[i];
    felt[i] = a.w;
    if (i < first || row >= count)
        return;
    plane[row] = a.x;
    plane[rows + row] = a.y;
    plane[2 * (size_t)rows + row] = a.z;
}

/* Potentials are pulled[i].x. */
kernel void scatter_potentials(global const real4 *pulled, uint n, global const uint *order,
                               uint first, uint count, global real *plane, global uint *again)
{
    const size_t i = get_global_id(0);
    if (i == 0)
        again[0] = again[1] = again[2] = 0;
    if (i < n && order[i] >= first && order[i] - first < count)
        plane[order[i] - first] = pulled[i].x;
}
