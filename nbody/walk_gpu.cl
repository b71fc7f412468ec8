/* walk_gpu.cl - the walk on a GPU: an item tests cells, and holds bodies; see walk.cl, which the
 * host puts in front.
 *
 *   stack   | ... | GROUP cells |   a round: each item takes one; from what becomes of all of them,
 *           in their order,
 *                       |           follows where what becomes of its own goes
 *      +----------------+-------------+
 *   children          far ones      bodies of leaves
 *   to the stack      to cells[]    to bodies[]      of which every item then has each pull its
 *   bodies
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define GROUP 32
#define WIDTH 1
#include "walk.cl"
#endif
#ifndef LEAF
#define LEAF 16 /* bodies of a leaf, but for those of the last level */
#endif
#define TILE 128 /* bodies fetched at once */
#ifndef FEW
#define FEW 1 /* bodies of a group in walk_again: one alone never meets much */
#endif
#define PARTS 16 /* of a walk of FEW; TREE_PARTS in tree.h */
#define SLICES                                                                                     \
    (GROUP / FEW) /* of the items then hold the same bodies, and share what these meet             \
                   */

struct shared {
    uint stack[STACK];
    uint found[GROUP];        /* by each item */
    real4 cells[GROUP];       /* met in this round, with */
    multipole poles[GROUP];   /* their moments */
    uint index[GROUP * LEAF]; /* bodies met in this round, of which */
    real4 bodies[TILE];       /* some are here */
    uint crowds[GROUP]; /* leaves of more than LEAF bodies, and cells whose bodies are at one place
                         */
};

/* What items find in a round, and sums of that: cells that are met, children, bodies, crowds; at
 * most 32, 256, 1024, 32. */
#define FOUND(cells, children, bodies, crowds)                                                     \
    ((cells) | (children) << 6 | (bodies) << 15 | (uint)(crowds) << 26)
#define CELLS(f) ((f)&63)
#define CHILDREN(f) ((f) >> 6 & 511)
#define CROWDS(f) ((f) >> 26)
#define FOUND_BODIES(f) ((f) >> 15 & 2047)

/* Returns what the items before this one found, and in *all what all did. Passed by all when all
 * are done with the round before. */
#if defined(__NV_CL_C_VERSION) && GROUP == 32
static inline uint before(uint own, uint *all, local struct shared *s)
{
    uint sum = own;
    for (uint d = 1; d < GROUP; d *= 2) {
        uint lower;
        asm volatile("shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;"
                     : "=r"(lower)
                     : "r"(sum), "r"(d));
        sum += get_local_id(0) >= d ? lower : 0;
    }
    asm volatile("shfl.sync.idx.b32 %0, %1, 31, 31, 0xffffffff;" : "=r"(*all) : "r"(sum));
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - own;
}
#else
static inline uint before(uint own, uint *all, local struct shared *s)
{
    const uint lid = get_local_id(0);
    uint sum = 0, at = 0;
    s->found[lid] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < GROUP; i++) {
        at = i == lid ? sum : at;
        sum += s->found[i];
    }
    *all = sum;
    return at;
}
#endif

/* Bodies first .. first + count - 1: an item has one in GROUP of them; with `few`, one in FEW. The
 * box of all, and the least of their accelerations. */
static inline real hold(global const real4 *target, uint first, uint count, const bool few,
                        struct held *h, struct box *box, global const real *feel,
                        local struct shared *s)
{
    const uint lid = get_local_id(0), lane = few ? lid % FEW : lid;
    real4 lo = (real4)(INFINITY), hi = (real4)(-INFINITY);
    EACH(k, few ? 1 : ITEMS)
    {
        const uint i = first + min(k * GROUP + lane, count - 1);
        const real4 b = target[i];
        h->x[k] = b.x, h->y[k] = b.y, h->z[k] = b.z, h->m[k] = b.w, h->self[k] = i;
        h->ax[k] = h->ay[k] = h->az[k] = h->sx[k] = h->sy[k] = h->sz[k] = 0;
        lo = fmin(lo, (real4)(b.xyz, feel[i]));
        hi = fmax(hi, b);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    s->cells[lid] = lo, s->bodies[lid] = hi;
    if (lid == 0)
        s->stack[0] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < GROUP; k++)
        lo = fmin(lo, s->cells[k]), hi = fmax(hi, s->bodies[k]);
    box->lo = lo;
    box->hi = hi;
    return lo.w;
}

/* What this round found, by all items; with `few` each of the SLICES that hold the same bodies has
 * its part. */
static inline void meet(const struct tree *t, struct held *h, const bool few, const bool potentials,
                        uint all, real eps2, real zero, local struct shared *s)
{
    const int items = few ? 1 : ITEMS;
    const uint lid = get_local_id(0), first = few ? lid / FEW : 0, step = few ? SLICES : 1,
               bodies = FOUND_BODIES(all);
    for (uint k = first; k < CELLS(all); k += step)
        pull_cell(h, items, potentials, s->cells[k], s->poles[k], eps2);
    for (uint b = 0; b < bodies; b += TILE) {
        const uint some = min((uint)TILE, bodies - b);
        for (uint k = lid; k < some; k += GROUP) {
            s->bodies[k] = t->body[s->index[b + k]];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = first; k < some; k += step)
            pull_body(h, items, potentials, s->bodies[k], potentials ? s->index[b + k] : 0, eps2,
                      zero);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint c = 0; c < CROWDS(all); c++) {
        const uint crowd = s->crowds[c];
        const int2 leaf = t->link[crowd];
        if (t->size[crowd].y == 0) {
            if (first == 0)
                pull_body(h, items, potentials, t->com[crowd], POINT, eps2, zero);
            continue;
        }
        for (int j = leaf.x + (int)first; j < leaf.x - leaf.y; j += step)
            pull_body(h, items, potentials, t->body[j], j, eps2, zero);
    }
    end_block(h, items);
}

/* Every PARTS-th cell of the stack, from number `part` on; returns how many that are. */
static inline uint keep_part(uint size, uint part, local struct shared *s)
{
    const uint kept = size > part ? (size - part + PARTS - 1) / PARTS : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < kept; k += GROUP) {
        const uint at = k + get_local_id(0), cell = at < kept ? s->stack[at * PARTS + part] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (at < kept)
            s->stack[at] = cell;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return kept;
}

static inline void forget(struct held *h, const int items, struct met *met)
{
    EACH(k, items) h->sx[k] = h->sy[k] = h->sz[k] = 0;
    *met = (struct met){0, 0};
}

/* Stops when there was more than `limit` to meet. With `few` only a part of the walk is made: the
 * stack is dealt out when it is long for the first time; what was met before is the first
 * part's. */
static inline void walk_bodies(const struct tree *t, const struct box *box, struct held *h,
                               const bool few, uint part, const bool potentials, uint limit,
                               real eps2, real zero, struct met *met, global uint *lists,
                               uint lists_room, local struct shared *s)
{
    const uint lid = get_local_id(0);
    bool dealt = !few;
    uint size = 1;
    *met = (struct met){0, 0};
    while (size > 0 && met->cells + met->bodies <= limit) {
        const uint k = taken(size), cell = lid < k ? s->stack[size - 1 - lid] : 0;
        const int2 link = t->link[cell];
        const real4 com = t->com[cell];
        const enum fate fate = lid < k ? fate_of(box, com, t->size[cell], link) : NOTHING;
        const bool crowd = fate == ONE_BODY || (fate == BODY_BY_BODY && -link.y > LEAF);
        const uint own = fate == BODY_BY_BODY && !crowd ? -link.y : 0;
        uint all;
        const uint at =
            before(FOUND(fate == WHOLE, fate == OPEN ? link.y : 0, own, crowd), &all, s);
        size += CHILDREN(all) - k;
        if (fate == WHOLE)
            s->cells[CELLS(at)] = com, s->poles[CELLS(at)] = t->poles[cell];
        if (fate == OPEN)
            for (int c = 0; c < link.y; c++)
                s->stack[size - 1 - CHILDREN(at) - c] = link.x + c;
        for (uint j = 0; j < own; j++)
            s->index[FOUND_BODIES(at) + j] = link.x + j;
        if (crowd)
            s->crowds[CROWDS(at)] = cell;
        if (lists_room) {
            if (fate == WHOLE)
                lists[met->cells + CELLS(at)] = cell;
            for (uint j = 0; j < own; j++)
                lists[lists_room / 2 + met->bodies + FOUND_BODIES(at) + j] = link.x + j;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        met->cells += CELLS(all), met->bodies += FOUND_BODIES(all);
        for (uint c = 0; c < CROWDS(all); c++)
            met->bodies += max(1, -t->link[s->crowds[c]].y);
        meet(t, h, few, potentials, all, eps2, zero, s);
        if (!dealt && size >= STACK / 2) {
            size = keep_part(size, part, s);
            if (part > 0)
                forget(h, 1, met);
            dealt = true;
        }
    }
    if (!dealt && part > 0)
        forget(h, 1, met);
}

static inline void walk_all(ARGUMENTS, const bool potentials, local struct shared *s)
{
    const uint lid = get_local_id(0);
    const uint next = turn[from + get_group_id(0)], g = next & ~PUT_OFF, first = g * BODIES,
               count = min((uint)BODIES, n - first);
    const struct tree t = {body, link, com, poles, size};
    struct held h;
    struct box box;
    struct met met;
    if (span[LEVELS + 1].x == 0 || *bad != INT_MAX)
        return;
    if (next & PUT_OFF) {
        if (lid == 0)
            PUT_OFF_AT_ONCE(g);
        return;
    }
    box.g2 = criterion(&t, hold(target, first, count, false, &h, &box, feel, s), &box, opening,
                       geometric, eps2);
    lists += (size_t)g * lists_room;
    walk_bodies(&t, &box, &h, false, 0, potentials, limit, eps2, zero, &met, lists, lists_room, s);
    const bool done = met.cells + met.bodies <= limit;
    if (lid == 0) {
        if (!done)
            again[AGAIN + atomic_inc(again)] = g; /* in any order: each has its own sums */
        info[g] = (uint4)(met.cells, met.bodies, as_uint((float)box.g2), !done);
    }
    EACH(k, ITEMS)
    if (done && k * GROUP + lid < count) {
        const uint i = first + k * GROUP + lid;
        pulled[i] = result(h.sx[k], h.sy[k], h.sz[k], potentials);
    }
}

/* A part of what FEW bodies meet: item k < count has the sum of body first + k. */
static inline real4 walk_part(ARGUMENTS, const struct tree *t, uint g, uint first, uint count,
                              uint part, const bool potentials, local struct shared *s)
{
    const uint lid = get_local_id(0);
    struct held h;
    struct box box;
    struct met met;
    real4 sum = 0;
    box.g2 = criterion(t, hold(target, first, count, true, &h, &box, feel, s), &box, opening,
                       geometric, eps2);
    walk_bodies(t, &box, &h, true, part, potentials, UINT_MAX, eps2, zero, &met, lists, 0, s);
    barrier(CLK_LOCAL_MEM_FENCE);
    s->cells[lid] = (real4)(h.sx[0], h.sy[0], h.sz[0], 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slice = 0; slice < SLICES; slice++)
        sum += s->cells[slice * FEW + lid % FEW];
    if (lid == 0) {
        atomic_add((global uint *)&info[g] + 0, met.cells);
        atomic_add((global uint *)&info[g] + 1, met.bodies);
    }
    return sum;
}

/* FEW bodies at a time of the groups that were put off. Of the first shared_groups of these a
 * work-group walks one part, and leaves it in shared_sum[(64 k + body) * PARTS + part], for group k
 * of them; of the others all parts, and adds them in the same order. */
static inline void walk_rest(ARGUMENTS, const bool potentials, local struct shared *s)
{
    const uint lid = get_local_id(0), fews = BODIES / FEW;
    const uint all = again[0], shared = min(all, shared_groups), units = shared * fews * PARTS;
    const struct tree t = {body, link, com, poles, size};
    for (uint u = get_group_id(0); u < units + (all - shared) * fews; u += get_num_groups(0)) {
        const bool one = u < units;
        const uint k = one ? u / PARTS : shared * fews + u - units; /* of all FEWs */
        const uint g = again[AGAIN + k / fews], own = g * BODIES + k % fews * FEW,
                   first = min(own, n - 1);
        const uint count = min((uint)FEW, n - first);
        real4 sum = 0;
        for (uint part = one ? u % PARTS : 0; part < (one ? u % PARTS + 1 : PARTS); part++) {
            const real4 some = walk_part(PASSED, &t, g, first, count, part, potentials, s);
            sum = one ? some : sum + some;
        }
        if (own >= n || lid >= count)
            continue;
        if (one)
            shared_sum[(k * FEW + lid) * PARTS + u % PARTS] = sum;
        else
            pulled[first + lid] = result(sum.x, sum.y, sum.z, potentials);
    }
}

/* Adds up the parts of a body. */
static inline void join_parts(ARGUMENTS, const bool potentials)
{
    const uint k = get_global_id(0), g = k / BODIES;
    if (g >= min(again[0], shared_groups))
        return;
    const uint i = again[AGAIN + g] * BODIES + k % BODIES;
    if (i >= n)
        return;
    real4 sum = 0;
    for (uint part = 0; part < PARTS; part++)
        sum += shared_sum[k * PARTS + part];
    pulled[i] = result(sum.x, sum.y, sum.z, potentials);
}

#define ITEMS_OF_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

kernel ITEMS_OF_GROUP void walk(ARGUMENTS)
{
    local struct shared s;
    walk_all(PASSED, false, &s);
}

kernel ITEMS_OF_GROUP void walk_again(ARGUMENTS)
{
    local struct shared s;
    walk_rest(PASSED, false, &s);
}

kernel ITEMS_OF_GROUP void walk_potentials(ARGUMENTS)
{
    local struct shared s;
    walk_all(PASSED, true, &s);
}

kernel ITEMS_OF_GROUP void walk_potentials_again(ARGUMENTS)
{
    local struct shared s;
    walk_rest(PASSED, true, &s);
}

kernel ITEMS_OF_GROUP void walk_join(ARGUMENTS)
{
    join_parts(PASSED, false);
}
kernel ITEMS_OF_GROUP void walk_potentials_join(ARGUMENTS)
{
    join_parts(PASSED, true);
}
