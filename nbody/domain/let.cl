/* let.cl - locally essential tree: export of the cells and bodies of a domain that another domain's
 * walks open; the host puts root.cl, multipole.cl and walk.cl in front.
 *
 *   bounding boxes of the other domain's groups
 *       --let_export--> children of the cells that groups open, bodies of the leaves they use
 *                       --let_pack--> packed cells and bodies, to the other domain
 *
 *                   \-> boxes with too many interactions: flags, to the other domain
 *   flags --refine_boxes, there--> smaller boxes --let_export--> as above
 *
 *   mark[cell]   the last domain that the cell's children, or the leaf's bodies, were exported to
 *   place[cell]  its place in that export, or its number in the top region (domain.cl)
 *
 * Each group of another domain walks this domain's cells as it will at home, with the same box and
 * a criterion at least as strict, but computes no forces. The criterion uses the root cell of the
 * previous sum (domain.cl). Shared nodes count as opened. A group with more than `limit`
 * interactions in this domain alone is certain to be deferred (walk.cl). Its box, which may span
 * the whole system, then opens no further cells; its bodies walk in small sets instead, there and
 * here. A merged box of MERGED groups with that many interactions is replaced by the boxes of its
 * groups.
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define WIDTH 1
#include "../force/walk.cl"
#endif
#ifndef SECOND_GROUP
#define SECOND_GROUP 1 /* bodies that walk together in the second pass */
#endif
/* Flagged boxes, at most; further ones are walked as they are. TREE_FLAGS in tree_domain.h. */
#define FLAGS 2048
#define NONE 0xffffffffu /* no cell */
#if GROUP == 1
/* A single work-item needs no barrier, and PoCL 5 crashes on such a loop with barriers. */
#define WALK_BARRIER()
#else
#define WALK_BARRIER() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* Clear the export marks and counters. */
kernel void let_clear(global uint *mark, uint cells, global uint *counts, uint all)
{
    if (get_global_id(0) < cells)
        mark[get_global_id(0)] = 0;
    if (get_global_id(0) < all)
        counts[get_global_id(0)] = 0;
}

/* The export for one domain: counts = {cells, bodies, flagged boxes}, and the capacity for cells
 * and bodies. */
struct let_output {
    global uint *counts, *mark;
    uint stamp, cells_room, bodies_room; /* mark[cell] == stamp: exported to this domain before */
    global real *cells, *bodies;
};

/* Read a mark. Most cells are opened many times, and a read costs less than an exchange. A read
 * concurrent with writes is defined only if it is atomic; on NVIDIA GPUs any aligned read is. */
static inline uint mark_load(global uint *mark)
{
#ifdef __NV_CL_C_VERSION
    return *mark;
#else
    return atomic_or(mark, 0);
#endif
}

/* True if this call is the first to mark the cell; seen: the mark as read before. */
static inline bool mark_first(const struct let_output *f, uint cell, uint seen)
{
    return seen != f->stamp && atomic_xchg(&f->mark[cell], f->stamp) != f->stamp;
}

/* Append the children of a cell with their numbers, the first child also with the number of its
 * parent. Append the bodies of a leaf: the number of a body as fifth number, and the leaf as first
 * number of its first body. let_pack adds their data. */
static inline void let_add_cells(const struct let_output *f, uint parent, uint from, uint end)
{
    uint at = atomic_add(&f->counts[0], end - from);
    for (uint c = from; c < end && at < f->cells_room; c++, at++)
        vstore4((uint4)(c == from ? parent : NONE, 0, 0, c), 0,
                (global uint *)(f->cells + at * (size_t)PACKED_CELL));
}

static inline void let_add_bodies(const struct let_output *f, uint leaf, uint from, uint count)
{
    uint at = atomic_add(&f->counts[1], count);
    for (uint b = from; b < from + count && at < f->bodies_room; b++, at++) {
        global real *to = f->bodies + at * (size_t)PACKED_BODY;
        to[0] = UINT_TO_REAL(b == from ? leaf : NONE);
        to[4] = UINT_TO_REAL(b);
    }
}

/* State in local memory of the walk of a box. */
struct box_walk {
    uint stack[STACK], size, interactions, flag;
};

static inline void box_walk_push(local struct box_walk *w, uint from, uint end, uint except)
{
    uint at = atomic_add(&w->size, end - from - (except >= from && except < end));
    for (uint c = from; c < end; c++)
        if (c != except)
            w->stack[at++] = c;
}

/* Push the first cells of a walk: children of shared nodes that are cells of this domain
 * and not shared themselves. Children of a shared node that begins before the domain are the first
 * of their level, up to the first child of the domain's own first cell. Children of the domain's
 * own shared node are the last. All domains hold these cells (toptree in domain.cl). */
static inline void box_walk_start(const struct tree *t, global const uint *child_begin,
                                  global const uint2 *span, global const uint *own,
                                  local struct box_walk *w)
{
    for (uint level = get_local_id(0); level < LEVELS; level += GROUP) {
        const uint2 above = span[level], here = span[level + 1];
        const uint shared_node = own[level], except = own[level + 1];
        box_walk_push(w, here.x, above.x < above.y ? child_begin[above.x] : here.y, except);
        if (shared_node != NONE)
            box_walk_push(w, t->link[shared_node].x, here.y, except);
    }
}

static inline void box_walk_visit(const struct let_output *f, const struct tree *t,
                                  const struct box *b, uint k, local struct box_walk *w)
{
    const int2 link = t->link[k];
    const uint seen = mark_load(&f->mark[k]); /* issued early, concurrently with the other loads */
    const enum cell_action action = cell_action(b, t->com[k], t->size[k], link);
    if (action == USE_CELL || action == USE_POINT)
        atomic_inc(&w->interactions);
    if (action == USE_BODIES) {
        atomic_add(&w->interactions, (uint)-link.y);
        if (mark_first(f, k, seen))
            let_add_bodies(f, k, link.x, -link.y);
    }
    if (action == OPEN_CELL) {
        if (mark_first(f, k, seen))
            let_add_cells(f, k, link.x, link.x + link.y);
        box_walk_push(w, link.x, link.x + link.y, NONE);
    }
}

/* Return the strictest criterion that any body in a box may have: deferred groups walk at home by
 * boxes of few bodies. The criterion is evaluated at the box's nearest and farthest corner; the
 * expected acceleration between them is not less than the lesser of both. */
static inline real strictest_criterion(const struct tree *t, real8 around, real opening,
                                       uint geometric, real eps2)
{
    const struct box b = {around.lo, around.hi, 0};
    const real4 c = t->com[0], corner = (real4)(c.x - b.lo.x > b.hi.x - c.x ? b.lo.x : b.hi.x,
                                                c.y - b.lo.y > b.hi.y - c.y ? b.lo.y : b.hi.y,
                                                c.z - b.lo.z > b.hi.z - c.z ? b.lo.z : b.hi.z, 0);
    const struct box last = {corner, corner, 0};
    return fmax(group_criterion(t, around.s3, &b, opening, geometric, eps2),
                group_criterion(t, around.s3, &last, opening, geometric, eps2));
}

/* Walk a box per work-group. With `merged`, box[first] is the number of boxes of single groups; the
 * merged boxes follow, then the single groups, which are walked first because they may take long.
 * Without, the boxes begin at box[first]. A box with a number and more than `limit` interactions is
 * flagged. Counters begin at counts[to]. flags[]: FLAGS numbers. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void let_export(
    global const real4 *body, global const int2 *link, global const uint *child_begin,
    global const real4 *com, global const multipole *multipoles, global const real2 *size,
    global const uint2 *span, global const uint *own, global const real8 *box, uint first,
    uint merged, real opening, uint geometric, real eps2, uint limit, uint stamp, global uint *mark,
    global uint *counts, uint to, uint cells_room, uint bodies_room, global real *cells,
    global real *bodies, global uint *flags)
{
    local struct box_walk w;
    const uint lid = get_local_id(0), id = get_group_id(0), single = get_num_groups(0) - merged;
    if (merged > 0 && id < single && id >= *(global const uint *)(box + first))
        return;
    const real8 around = box[first + (merged == 0   ? id
                                      : id < single ? 1 + merged + id
                                                    : 1 + id - single)];
    const struct tree t = {body, link, com, multipoles, size};
    const struct let_output f = {counts + to, mark, stamp, cells_room, bodies_room, cells, bodies};
    struct box b = {around.lo, around.hi, 0};
    if (around.s0 > around.s4)
        return; /* empty */
    const uint number = REAL_TO_UINT(around.s7);
    /* 1 % covers the motion of the root cell since the previous sum: root_is_similar in domain.cl.
     */
    b.g2 = C(1.01) * strictest_criterion(&t, around, opening, geometric, eps2);
    if (lid == 0)
        w.size = 0, w.interactions = 0, w.flag = FLAGS;
    WALK_BARRIER();
    box_walk_start(&t, child_begin, span, own, &w);
    WALK_BARRIER();
    while (w.size > 0) {
        const uint n = w.size, k = cells_taken(n), cell = lid < k ? w.stack[n - 1 - lid] : 0;
        const bool too_long = number != NONE && w.interactions > limit;
        WALK_BARRIER();
        if (lid == 0 && too_long)
            w.flag = atomic_inc(&f.counts[2]);
        if (lid == 0)
            w.size = n - k;
        WALK_BARRIER();
        if (too_long && w.flag < FLAGS)
            break;
        if (too_long)
            limit = UINT_MAX;
        if (lid < k)
            box_walk_visit(&f, &t, &b, cell, &w);
        WALK_BARRIER();
    }
    if (lid == 0 && w.flag < FLAGS)
        flags[w.flag] = number;
}

/* Set mark[] and place[] of an export: walks for further domains have used both arrays. Counters
 * {cells, bodies} begin at counts[to]. */
kernel void let_place(global const uint *counts, uint to, global const real *cells,
                      global const real *bodies, uint stamp, global uint *mark, global uint *place)
{
    const uint id = get_global_id(0), items = get_global_size(0);
    for (uint i = id; i < counts[to]; i += items) {
        const uint4 head = vload4(0, (global const uint *)(cells + i * (size_t)PACKED_CELL));
        place[head.w] = i;
        if (head.x != NONE)
            mark[head.x] = stamp;
    }
    for (uint i = id; i < counts[to + 1]; i += items) {
        const uint leaf = REAL_TO_UINT(bodies[i * (size_t)PACKED_BODY]);
        if (leaf != NONE)
            mark[leaf] = stamp;
    }
}

/* Pack the exported cells and bodies; place[] is of this export. Counters {cells, bodies} begin at
 * counts[to]. */
kernel void let_pack(global const real4 *body, global const int2 *link, global const uint *place,
                     global const real4 *com, global const multipole *multipoles,
                     global const real2 *size, global const uint *counts, uint to,
                     global real *cells, global real *bodies)
{
    const uint id = get_global_id(0), items = get_global_size(0);
    for (uint i = id; i < counts[to]; i += items) {
        global real *at = cells + i * (size_t)PACKED_CELL;
        const uint4 head = vload4(0, (global const uint *)at);
        const uint k = head.w;
        pack_cell(at, (uint4)(head.x == NONE ? NONE : place[head.x], as_uint2(link[k]), k), com[k],
                  size[k], &multipoles[k]);
    }
    for (uint i = id; i < counts[to + 1]; i += items) {
        global real *at = bodies + i * (size_t)PACKED_BODY;
        const uint leaf = REAL_TO_UINT(at[0]), b = REAL_TO_UINT(at[4]);
        vstore4(body[b], 0, at);
        at[4] = UINT_TO_REAL(leaf == NONE ? NONE : place[leaf]);
    }
}

/* Compute smaller boxes for `count` flagged boxes, 64 a flag, some of them empty. A merged box is
 * replaced by the boxes of its groups. A group is replaced by boxes of SECOND_GROUP bodies, which
 * have no number, and deferred at once: info[group].w = 2. The domain has `groups` groups from
 * `first` on. */
kernel void refine_boxes(global const real4 *body, global const real *a_old_sorted, uint n,
                         global const uint *flags, uint from, uint count, uint first, uint groups,
                         global real8 *box, global uint4 *info, global uint *split_groups)
{
    const uint id = get_global_id(0), b = id % BODIES;
    if (id / BODIES >= count)
        return;
    const uint flag = flags[from + id / BODIES], some = flag & ~MERGED_BOX;
    const bool merged = flag & MERGED_BOX;
    const uint g = merged ? some * MERGED + b : some, each = merged ? BODIES : SECOND_GROUP,
               begin = (first + g) * BODIES + (merged ? 0 : b);
    const bool any = merged ? b < MERGED && g < groups : b % SECOND_GROUP == 0;
    real4 lo = (real4)(INFINITY), hi = (real4)(-INFINITY);
    for (uint i = begin; any && i < min(n, begin + each); i++) {
        lo = fmin(lo, (real4)(body[i].xyz, a_old_sorted[i]));
        hi = fmax(hi, body[i]);
    }
    box[id] = (real8)(lo, hi.xyz, UINT_TO_REAL(merged ? g : NONE));
    if (b == 0 && merged)
        split_groups[some] = SPLIT_SUMS;
    else if (b == 0)
        info[first + g] = (uint4)(0, 0, 0, 2);
}
