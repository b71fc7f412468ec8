/* essential.cl - which cells and bodies of a device's part of the tree the walks of another part meet; the host puts root.cl,
 * multipole.cl and walk.cl in front.
 *
 *   boxes of the other part's groups --essential--> children of the cells that groups open, bodies of the leaves that they meet
 *                                               \-> groups that surely meet too much: flags
 *   flags --loosen, at the other part--> boxes of few of their bodies --essential--> what these open and meet
 *
 * Each group of another part walks this part's cells as it will at home, with the same box and a criterion that is as strict or
 * stricter, but sums nothing. A group that meets more than `limit` here alone is put off in any case (walk.cl): its box, which may reach from one
 * side of the system to the other, opens nothing any more, and its bodies walk few by few, there and here. Cells that others
 * have, too, are bridges; these come first:
 *
 *   bridges[i] = {cell, first bridge among its children, how many of them are, level}
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define WIDTH 1
#include "walk.cl"
#endif
#ifndef FEW
#define FEW 1 /* bodies that walk together when their group is put off */
#endif
#define FLAGS 2048 /* groups that are flagged at most; others are walked for as they are. TREE_FLAGS in tree.h */
#define BRIDGE 0x80000000u
#if GROUP == 1
#define JOIN() /* an item alone waits for nobody; and PoCL 5 cannot compile such a loop with barriers, and ends the program */
#else
#define JOIN() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* No cell was opened yet, and no leaf met; nothing was found. */
kernel void forget(global uint *mark, uint cells, global uint *counts, uint from, uint all)
{
    if (get_global_id(0) < cells) mark[get_global_id(0)] = 0;
    if (get_global_id(0) < all) counts[from + get_global_id(0)] = 0;
}

/* What is found for a part: counts = {cells, bodies, flags, boxes of several groups that met too much}, and room for them. */
struct found {
    global uint *counts, *mark;
    uint stamp, cells_room, bodies_room; /* mark[cell] == stamp: it was opened, or met body by body, before */
    global real *cells, *bodies;
};

/* Most cells are met many times, and a look costs less than an exchange. What is read while others write is only defined if it is read as a
 * whole: by an atomic function, or, on NVIDIA's cards, by any aligned read. */
static inline uint look(global uint *mark)
{
#ifdef __NV_CL_C_VERSION
    return *mark;
#else
    return atomic_or(mark, 0);
#endif
}

static inline bool first_time(const struct found *f, uint cell)
{
    return look(&f->mark[cell]) != f->stamp && atomic_xchg(&f->mark[cell], f->stamp) != f->stamp;
}

static inline void add_cells(const struct found *f, const struct tree *t, global const uint *down, uint from, uint end)
{
    uint at = atomic_add(&f->counts[0], end - from);
    for (uint c = from; c < end && at < f->cells_room; c++, at++)
        send_cell(f->cells + at * (size_t)SENT_CELL, (uint4)(c, as_uint2(t->link[c]), down[c]), t->com[c], t->size[c], &t->poles[c]);
}

static inline void add_bodies(const struct found *f, const struct tree *t, uint from, uint count)
{
    uint at = atomic_add(&f->counts[1], count);
    for (uint b = from; b < from + count && at < f->bodies_room; b++, at++) {
        vstore4(t->body[b], 0, f->bodies + at * (size_t)SENT_BODY);
        f->bodies[at * (size_t)SENT_BODY + 4] = WHOLE_TO_REAL(b);
    }
}

/* The walk of a box, as that of a group; local memory of it. */
struct course {
    uint stack[STACK], size, met, flag;
};

static inline void push(local struct course *w, uint from, uint end, uint but)
{
    uint at = atomic_add(&w->size, end - from - (but >= from && but < end));
    for (uint c = from; c < end; c++)
        if (c != but) w->stack[at++] = c;
}

/* A cell that lies across a cut: only its children in this part are looked at here. */
static inline void visit_bridge(const struct found *f, const struct tree *t, const struct box *b, uint4 bridge,
                                global const uint *down, global const uint2 *span, global const uint *own, local struct course *w)
{
    const uint k = bridge.x, below = bridge.w + 1;
    const int2 link = t->link[k];
    if (fate_of(b, t->com[k], t->size[k], link) != OPEN) return;
    const uint from = max((uint)link.x, span[below].x), end = min((uint)(link.x + link.y), span[below].y);
    if (bridge.z > 0) push(w, bridge.y | BRIDGE, (bridge.y + bridge.z) | BRIDGE, 0);
    if (from >= end) return;
    if (first_time(f, k)) add_cells(f, t, down, from, end);
    push(w, from, end, own[below]);
}

static inline void visit(const struct found *f, const struct tree *t, const struct box *b, uint k, global const uint *down,
                         local struct course *w)
{
    const int2 link = t->link[k];
    const enum fate fate = fate_of(b, t->com[k], t->size[k], link);
    if (fate == WHOLE || fate == ONE_BODY) atomic_inc(&w->met);
    if (fate == BODY_BY_BODY) {
        atomic_add(&w->met, (uint)-link.y);
        if (first_time(f, k)) add_bodies(f, t, link.x, -link.y);
    }
    if (fate == OPEN) {
        if (first_time(f, k)) add_cells(f, t, down, link.x, link.x + link.y);
        push(w, link.x, link.x + link.y, BRIDGE);
    }
}

/* The strictest criterion that any of the bodies in a box may have: groups may be put off at home, and walk by boxes of few bodies then.
 * It is that in the box's nearest or its farthest place, as between these what is usual is not less than at both. */
static inline real strictest(const struct tree *t, real8 around, real opening, uint geometric, real eps2)
{
    const struct box b = {around.lo, around.hi, 0};
    const real4 c = t->com[0], corner = (real4)(c.x - b.lo.x > b.hi.x - c.x ? b.lo.x : b.hi.x, c.y - b.lo.y > b.hi.y - c.y ? b.lo.y : b.hi.y,
                                                c.z - b.lo.z > b.hi.z - c.z ? b.lo.z : b.hi.z, 0);
    const struct box last = {corner, corner, 0};
    return fmax(criterion(t, around.s3, &b, opening, geometric, eps2), criterion(t, around.s3, &last, opening, geometric, eps2));
}

/* Box first + i is work-group i's; the first `united` are of several groups each, from `number` on. One of a single group is flagged where it meets more than
 * `limit`, unless that is 0; those of several too, and must be walked for one by one. counts: from number `to` on; flags: from `flags_to` on, the numbers of groups in their part, and FLAGS behind them those of boxes of several. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void essential(global const real4 *body, global const int2 *link, global const uint *down, global const real4 *com,
               global const multipole *poles, global const real2 *size, global const uint2 *span, global const uint *own,
               global const uint4 *bridges, global const real8 *box, uint first, uint united, uint number, real opening, uint geometric, real eps2,
               uint limit, uint stamp, global uint *mark, global uint *counts, uint to, uint cells_to, uint cells_room,
               uint bodies_to, uint bodies_room, global real *cells, global real *bodies,
               global uint *flags, uint flags_to)
{
    local struct course w;
    const uint lid = get_local_id(0);
    const real8 around = box[first + get_group_id(0)];
    const struct tree t = {body, link, com, poles, size};
    const struct found f = {counts + to, mark, stamp, cells_room, bodies_room, cells + cells_to * (size_t)SENT_CELL,
                            bodies + bodies_to * (size_t)SENT_BODY};
    struct box b = {around.lo, around.hi, 0};
    if (around.s0 > around.s4) return; /* empty */
    const bool several = get_group_id(0) < united;
    b.g2 = C(1.0001) * strictest(&t, around, opening, geometric, eps2);
    if (lid == 0) w.stack[0] = BRIDGE, w.size = 1, w.met = 0, w.flag = FLAGS;
    JOIN();
    while (w.size > 0) {
        const uint n = w.size, k = taken(n), cell = lid < k ? w.stack[n - 1 - lid] : 0;
        const bool much = limit > 0 && w.met > limit;
        JOIN();
        if (lid == 0 && much) w.flag = atomic_inc(&f.counts[several ? 3 : 2]);
        if (lid == 0) w.size = n - k;
        JOIN();
        if (much && w.flag < FLAGS) break;
        if (much) limit = 0;
        if (lid < k && cell & BRIDGE) visit_bridge(&f, &t, &b, bridges[cell & ~BRIDGE], down, span, own, &w);
        if (lid < k && !(cell & BRIDGE)) visit(&f, &t, &b, cell, down, &w); /* with an `else` PoCL 5 cannot compile it, and ends the program */
        JOIN();
    }
    if (lid == 0 && w.flag < FLAGS) flags[flags_to + (several ? FLAGS : 0) + w.flag] = several ? number + get_group_id(0) : (uint)around.s7;
}

/* What was found so far for each of `parts` parts: {cells, bodies} of each, behind the counts. */
kernel void note(global uint *counts, uint from, uint parts)
{
    const uint k = get_global_id(0);
    if (k < 2 * parts) counts[from + 4 * parts + k] = counts[from + 4 * (k / 2) + k % 2];
}

/* Of `count` groups that another part flagged, the boxes of FEW bodies each, in order from number `to` on: 64 a group, of which
 * some are empty. The part's first group is `from`. info[group].w = 2: it is put off at once. */
kernel void loosen(global const real4 *body, global const real *feel, uint n, global const uint *flags, uint flags_from,
                   uint count, uint from, global real8 *loose, uint to, global uint4 *info)
{
    const uint id = get_global_id(0), b = id % BODIES;
    if (id / BODIES >= count) return;
    const uint g = from + flags[flags_from + id / BODIES], first = g * BODIES + b;
    real4 lo = (real4)(INFINITY), hi = (real4)(-INFINITY);
    for (uint i = first; b % FEW == 0 && i < min(n, first + FEW); i++) {
        lo = fmin(lo, (real4)(body[i].xyz, feel[i]));
        hi = fmax(hi, body[i]);
    }
    loose[to + id] = (real8)(lo, hi);
    if (b == 0) info[g] = (uint4)(0, 0, 0, 2);
}
