/* let.cl - which cells and bodies of a device's part of the tree the walks of another part
 * meet; the host puts root.cl, multipole.cl and walk.cl in front.
 *
 *   boxes of the other part's groups --essential--> children of the cells that groups open, bodies
 *   of the leaves that they meet --pack--> what is sent
 *                                               \-> groups that surely meet too much: flags
 *   flags --loosen, at the other part--> boxes of few of their bodies --essential--> what these
 *   open and meet
 *
 * Each group of another part walks this part's cells as it will at home, with the same box and a
 * criterion that is as strict or stricter, but sums nothing; the cell of all bodies, of which the
 * criterion asks, is that of the sum before (domain.cl). Cells that lie across a cut, bridges, are
 * taken for opened. A group that meets more than `limit` here alone is put off in any case
 * (walk.cl): its box, which may reach from one side of the system to the other, opens nothing any
 * more, and its bodies walk few by few, there and here.
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define WIDTH 1
#include "walk.cl"
#endif
#ifndef FEW
#define FEW 1 /* bodies that walk together when their group is put off */
#endif
#define FLAGS                                                                                      \
    2048 /* groups that are flagged at most; others are walked for as they are. TREE_FLAGS in      \
            tree.h */
#define NONE 0xffffffffu /* no cell */
#if GROUP == 1
#define JOIN() /* an item alone waits for nobody; and PoCL 5 cannot compile such a loop with       \
                  barriers, and ends the program */
#else
#define JOIN() barrier(CLK_LOCAL_MEM_FENCE)
#endif

/* No cell was opened yet, and no leaf met; nothing was found. */
kernel void forget(global uint *mark, uint cells, global uint *counts, uint from, uint all)
{
    if (get_global_id(0) < cells)
        mark[get_global_id(0)] = 0;
    if (get_global_id(0) < all)
        counts[from + get_global_id(0)] = 0;
}

/* What is found for a part: counts = {cells, bodies, flags, boxes of several groups that met too
 * much}, and room for them. */
struct found {
    global uint *counts, *mark;
    uint stamp, cells_room,
        bodies_room; /* mark[cell] == stamp: it was opened, or met body by body, before */
    global real *cells, *bodies;
};

/* Most cells are met many times, and a look costs less than an exchange. What is read while others
 * write is only defined if it is read as a whole: by an atomic function, or, on NVIDIA's cards, by
 * any aligned read. */
static inline uint look(global uint *mark)
{
#ifdef __NV_CL_C_VERSION
    return *mark;
#else
    return atomic_or(mark, 0);
#endif
}

/* `seen`: what a look at its mark told. */
static inline bool first_time(const struct found *f, uint cell, uint seen)
{
    return seen != f->stamp && atomic_xchg(&f->mark[cell], f->stamp) != f->stamp;
}

/* Their numbers; pack() puts there what else is to be sent. */
static inline void add_cells(const struct found *f, uint from, uint end)
{
    uint at = atomic_add(&f->counts[0], end - from);
    for (uint c = from; c < end && at < f->cells_room; c++, at++)
        *(global uint *)(f->cells + at * (size_t)SENT_CELL) = c;
}

static inline void add_bodies(const struct found *f, uint from, uint count)
{
    uint at = atomic_add(&f->counts[1], count);
    for (uint b = from; b < from + count && at < f->bodies_room; b++, at++)
        f->bodies[at * (size_t)SENT_BODY + 4] = WHOLE_TO_REAL(b);
}

/* The walk of a box, as that of a group; local memory of it. */
struct course {
    uint stack[STACK], size, met, flag;
};

static inline void push(local struct course *w, uint from, uint end, uint but)
{
    uint at = atomic_add(&w->size, end - from - (but >= from && but < end));
    for (uint c = from; c < end; c++)
        if (c != but)
            w->stack[at++] = c;
}

/* Where a walk begins: children of bridges that are cells of this part, and no bridges themselves.
 * Those of a bridge that begins before the part are the first of their level, up to the first child
 * of the part's own first cell; those of the part's own bridge are the last. All others have them,
 * too (tops in domain.cl). */
static inline void push_first(const struct tree *t, global const uint *down,
                              global const uint2 *span, global const uint *own,
                              local struct course *w)
{
    for (uint level = get_local_id(0); level < LEVELS; level += GROUP) {
        const uint2 above = span[level], here = span[level + 1];
        const uint bridge = own[level], but = own[level + 1];
        push(w, here.x, above.x < above.y ? down[above.x] : here.y, but);
        if (bridge != NONE)
            push(w, t->link[bridge].x, here.y, but);
    }
}

static inline void visit(const struct found *f, const struct tree *t, const struct box *b, uint k,
                         local struct course *w)
{
    const int2 link = t->link[k];
    const uint seen = look(&f->mark[k]); /* on its way beside what tells the cell's fate */
    const enum fate fate = fate_of(b, t->com[k], t->size[k], link);
    if (fate == WHOLE || fate == ONE_BODY)
        atomic_inc(&w->met);
    if (fate == BODY_BY_BODY) {
        atomic_add(&w->met, (uint)-link.y);
        if (first_time(f, k, seen))
            add_bodies(f, link.x, -link.y);
    }
    if (fate == OPEN) {
        if (first_time(f, k, seen))
            add_cells(f, link.x, link.x + link.y);
        push(w, link.x, link.x + link.y, NONE);
    }
}

/* The strictest criterion that any of the bodies in a box may have: groups may be put off at home,
 * and walk by boxes of few bodies then. It is that in the box's nearest or its farthest place, as
 * between these what is usual is not less than at both. */
static inline real strictest(const struct tree *t, real8 around, real opening, uint geometric,
                             real eps2)
{
    const struct box b = {around.lo, around.hi, 0};
    const real4 c = t->com[0], corner = (real4)(c.x - b.lo.x > b.hi.x - c.x ? b.lo.x : b.hi.x,
                                                c.y - b.lo.y > b.hi.y - c.y ? b.lo.y : b.hi.y,
                                                c.z - b.lo.z > b.hi.z - c.z ? b.lo.z : b.hi.z, 0);
    const struct box last = {corner, corner, 0};
    return fmax(criterion(t, around.s3, &b, opening, geometric, eps2),
                criterion(t, around.s3, &last, opening, geometric, eps2));
}

/* A work-group's box: from number `first` on stand `united` boxes of several groups each, and then
 * those of single groups. The even ones of several are walked for by one launch, and by another,
 * with `odd`, all others, single ones first, as they may take long: neighbours need nearly the
 * same, so the first launch finds most. A single group is flagged where it meets more than `limit`,
 * unless that is 0; those of several too, and must be walked for one by one. counts: from number
 * `to` on; flags: from `flags_to` on, the numbers of groups in their part, and FLAGS behind them
 * those of boxes of several. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void essential(
    global const real4 *body, global const int2 *link, global const uint *down,
    global const real4 *com, global const multipole *poles, global const real2 *size,
    global const uint2 *span, global const uint *own, global const real8 *box, uint first,
    uint united, uint odd, real opening, uint geometric, real eps2, uint limit, uint stamp,
    global uint *mark, global uint *counts, uint to, uint cells_to, uint cells_room, uint bodies_to,
    uint bodies_room, global real *cells, global real *bodies, global uint *flags, uint flags_to)
{
    local struct course w;
    const uint lid = get_local_id(0);
    const uint single = get_num_groups(0) - (united + !odd) / 2, id = get_group_id(0);
    const bool several = id >= single;
    const uint number = several ? 2 * (id - single) + odd : united + id;
    const real8 around = box[first + number];
    const struct tree t = {body, link, com, poles, size};
    const struct found f = {counts + to,
                            mark,
                            stamp,
                            cells_room,
                            bodies_room,
                            cells + cells_to * (size_t)SENT_CELL,
                            bodies + bodies_to * (size_t)SENT_BODY};
    struct box b = {around.lo, around.hi, 0};
    if (around.s0 > around.s4)
        return; /* empty */
    /* The hundredth makes up for how far the cell of all bodies may have moved since the last sum:
     * `alike` in domain.cl. */
    b.g2 = C(1.01) * strictest(&t, around, opening, geometric, eps2);
    if (lid == 0)
        w.size = 0, w.met = 0, w.flag = FLAGS;
    JOIN();
    push_first(&t, down, span, own, &w);
    JOIN();
    while (w.size > 0) {
        const uint n = w.size, k = taken(n), cell = lid < k ? w.stack[n - 1 - lid] : 0;
        const bool much = limit > 0 && w.met > limit;
        JOIN();
        if (lid == 0 && much)
            w.flag = atomic_inc(&f.counts[several ? 3 : 2]);
        if (lid == 0)
            w.size = n - k;
        JOIN();
        if (much && w.flag < FLAGS)
            break;
        if (much)
            limit = 0;
        if (lid < k)
            visit(&f, &t, &b, cell, &w);
        JOIN();
    }
    if (lid == 0 && w.flag < FLAGS)
        flags[flags_to + (several ? FLAGS : 0) + w.flag] = several ? number : (uint)around.s7;
}

/* What was found for a part, as it is sent: all so far, which is noted; or with `more`, what came
 * since then. counts: {cells, bodies} from number `to` on, and what was noted of them from `noted`
 * on. Items visit what there is by turns. */
kernel void pack(global const real4 *body, global const int2 *link, global const uint *down,
                 global const real4 *com, global const multipole *poles, global const real2 *size,
                 uint more, global uint *counts, uint to, uint noted, uint cells_to,
                 uint cells_room, uint bodies_to, uint bodies_room, global real *cells,
                 global real *bodies)
{
    const uint id = get_global_id(0), items = get_global_size(0);
    for (uint i = (more ? counts[noted] : 0) + id; i < min(counts[to], cells_room); i += items) {
        global real *at = cells + (cells_to + i) * (size_t)SENT_CELL;
        const uint k = *(global const uint *)at;
        send_cell(at, (uint4)(k, as_uint2(link[k]), down[k]), com[k], size[k], &poles[k]);
    }
    for (uint i = (more ? counts[noted + 1] : 0) + id; i < min(counts[to + 1], bodies_room);
         i += items) {
        global real *at = bodies + (bodies_to + i) * (size_t)SENT_BODY;
        vstore4(body[REAL_TO_WHOLE(at[4])], 0, at);
    }
    if (!more && id < 2)
        counts[noted + id] = counts[to + id];
}

/* Of `count` groups that another part flagged, the boxes of FEW bodies each, in order from number
 * `to` on: 64 a group, of which some are empty. The part's first group is `from`. info[group].w =
 * 2: it is put off at once. */
kernel void loosen(global const real4 *body, global const real *feel, uint n,
                   global const uint *flags, uint flags_from, uint count, uint from,
                   global real8 *loose, uint to, global uint4 *info)
{
    const uint id = get_global_id(0), b = id % BODIES;
    if (id / BODIES >= count)
        return;
    const uint g = from + flags[flags_from + id / BODIES], first = g * BODIES + b;
    real4 lo = (real4)(INFINITY), hi = (real4)(-INFINITY);
    for (uint i = first; b % FEW == 0 && i < min(n, first + FEW); i++) {
        lo = fmin(lo, (real4)(body[i].xyz, feel[i]));
        hi = fmax(hi, body[i]);
    }
    loose[to + id] = (real8)(lo, hi);
    if (b == 0)
        info[g] = (uint4)(0, 0, 0, 2);
}
