/* walk_gpu.cl - tree walk on a GPU: work-items test cells and hold bodies. The host puts walk.cl in
 * front.
 *
 *   stack   | ... | GROUP cells |    one round: each work-item tests one cell; a prefix sum
 *                        |           over the group's results places them in order
 *       +----------------+-------------+
 *   children          far cells     bodies of leaves
 *   to the stack      to cells[]    to bodies[]       then every work-item adds the forces of all
 *                                                     cells and bodies to its own bodies
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#define GROUP 32
#define WIDTH 1
#include "walk.cl"
#endif
#ifndef LEAF
#define LEAF 16 /* bodies of a leaf, except on the last level */
#endif
#define TILE 128 /* bodies fetched at once */
#ifndef SECOND_GROUP
#define SECOND_GROUP 1 /* bodies that walk together in the second pass */
#endif
#define WALK_PARTS 16 /* parts of a second-pass walk; TREE_WALK_PARTS in tree.h */
/* Sets of work-items that hold the same bodies and divide the interactions. */
#define SLICES (GROUP / SECOND_GROUP)

struct shared {
    uint stack[STACK];
    uint found[GROUP];           /* per work-item */
    real4 cells[GROUP];          /* far cells of this round */
    multipole multipoles[GROUP]; /* and their moments */
    uint index[GROUP * LEAF];    /* bodies of this round */
    real4 bodies[TILE];          /* a tile of these bodies */
    uint large_leaves[GROUP]; /* leaves of more than LEAF bodies, and cells of coincident bodies */
};

/* Results of a round and their prefix sums in one word: far cells, children, bodies, large leaves;
 * at most 32, 256, 1024, 32. */
#define FOUND(cells, children, bodies, large_leaves)                                               \
    ((cells) | (children) << 6 | (bodies) << 15 | (uint)(large_leaves) << 26)
#define CELLS(f) ((f)&63)
#define CHILDREN(f) ((f) >> 6 & 511)
#define LARGE_LEAVES(f) ((f) >> 26)
#define FOUND_BODIES(f) ((f) >> 15 & 2047)

/* Exclusive prefix sum over the group; *all: the total. A barrier inside separates the round from
 * the previous one. */
#if defined(__NV_CL_C_VERSION) && GROUP == 32
static inline uint scan_before(uint own, uint *all, local struct shared *s)
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
static inline uint scan_before(uint own, uint *all, local struct shared *s)
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

/* Load bodies first .. first + count - 1: a work-item holds every GROUP-th body; with
 * `second_pass`, every SECOND_GROUP-th. Set the bounding box of all bodies and return the least |a|
 * of the last sum. */
static inline real targets_load(global const real4 *target, uint first, uint count,
                                const bool second_pass, struct targets *h, struct box *box,
                                global const real *a_old_sorted, local struct shared *s)
{
    const uint lid = get_local_id(0), lane = second_pass ? lid % SECOND_GROUP : lid;
    real4 lo = (real4)(INFINITY), hi = (real4)(-INFINITY);
    EACH(k, second_pass ? 1 : ITEMS)
    {
        const uint i = first + min(k * GROUP + lane, count - 1);
        const real4 b = target[i];
        h->x[k] = b.x, h->y[k] = b.y, h->z[k] = b.z, h->m[k] = b.w, h->self[k] = i;
        h->ax[k] = h->ay[k] = h->az[k] = h->sx[k] = h->sy[k] = h->sz[k] = 0;
        lo = fmin(lo, (real4)(b.xyz, a_old_sorted[i]));
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

/* Add the forces of this round. With `second_pass`, each of the SLICES that hold the same bodies
 * adds its part. */
static inline void interact_round(const struct tree *t, struct targets *h, const bool second_pass,
                                  const bool potentials, uint all, real eps2, real zero,
                                  local struct shared *s)
{
    const int items = second_pass ? 1 : ITEMS;
    const uint lid = get_local_id(0), first = second_pass ? lid / SECOND_GROUP : 0,
               step = second_pass ? SLICES : 1, bodies = FOUND_BODIES(all);
    for (uint k = first; k < CELLS(all); k += step)
        add_cell_force(h, items, potentials, s->cells[k], s->multipoles[k], eps2);
    for (uint b = 0; b < bodies; b += TILE) {
        const uint some = min((uint)TILE, bodies - b);
        for (uint k = lid; k < some; k += GROUP) {
            s->bodies[k] = t->body[s->index[b + k]];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = first; k < some; k += step)
            add_body_force(h, items, potentials, s->bodies[k], potentials ? s->index[b + k] : 0,
                           eps2, zero);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint c = 0; c < LARGE_LEAVES(all); c++) {
        const uint cell = s->large_leaves[c];
        const int2 leaf = t->link[cell];
        if (t->size[cell].y == 0) {
            if (first == 0)
                add_body_force(h, items, potentials, t->com[cell], POINT, eps2, zero);
            continue;
        }
        for (int j = leaf.x + (int)first; j < leaf.x - leaf.y; j += step)
            add_body_force(h, items, potentials, t->body[j], j, eps2, zero);
    }
    targets_end_block(h, items);
}

/* Keep every WALK_PARTS-th cell of the stack, from number `part` on. Return the number of cells
 * kept. */
static inline uint stack_keep_part(uint size, uint part, local struct shared *s)
{
    const uint kept = size > part ? (size - part + WALK_PARTS - 1) / WALK_PARTS : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < kept; k += GROUP) {
        const uint at = k + get_local_id(0),
                   cell = at < kept ? s->stack[at * WALK_PARTS + part] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (at < kept)
            s->stack[at] = cell;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return kept;
}

static inline void targets_clear(struct targets *h, const int items, struct interactions *met)
{
    EACH(k, items) h->sx[k] = h->sy[k] = h->sz[k] = 0;
    *met = (struct interactions){0, 0};
}

/* Walk the tree until done, or until there are more than `limit` interactions. With `second_pass`,
 * walk only one part: the stack is dealt out among the parts once it is half full; interactions
 * before that belong to part 0. */
static inline void walk_targets(const struct tree *t, const struct box *box, struct targets *h,
                                const bool second_pass, uint part, const bool potentials,
                                uint limit, real eps2, real zero, struct interactions *met,
                                global uint *lists, uint lists_room, local struct shared *s)
{
    const uint lid = get_local_id(0);
    bool dealt = !second_pass;
    uint size = 1;
    *met = (struct interactions){0, 0};
    while (size > 0 && met->cells + met->bodies <= limit) {
        const uint k = cells_taken(size), cell = lid < k ? s->stack[size - 1 - lid] : 0;
        const int2 link = t->link[cell];
        const real4 com = t->com[cell];
        const enum cell_action action =
            lid < k ? cell_action(box, com, t->size[cell], link) : SKIP_CELL;
        const bool is_large = action == USE_POINT || (action == USE_BODIES && -link.y > LEAF);
        const uint own = action == USE_BODIES && !is_large ? -link.y : 0;
        uint all;
        const uint at = scan_before(
            FOUND(action == USE_CELL, action == OPEN_CELL ? link.y : 0, own, is_large), &all, s);
        size += CHILDREN(all) - k;
        if (action == USE_CELL)
            s->cells[CELLS(at)] = com, s->multipoles[CELLS(at)] = t->multipoles[cell];
        if (action == OPEN_CELL)
            for (int c = 0; c < link.y; c++)
                s->stack[size - 1 - CHILDREN(at) - c] = link.x + c;
        for (uint j = 0; j < own; j++)
            s->index[FOUND_BODIES(at) + j] = link.x + j;
        if (is_large)
            s->large_leaves[LARGE_LEAVES(at)] = cell;
        if (lists_room) {
            if (action == USE_CELL)
                lists[met->cells + CELLS(at)] = cell;
            for (uint j = 0; j < own; j++)
                lists[lists_room / 2 + met->bodies + FOUND_BODIES(at) + j] = link.x + j;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        met->cells += CELLS(all), met->bodies += FOUND_BODIES(all);
        for (uint c = 0; c < LARGE_LEAVES(all); c++)
            met->bodies += max(1, -t->link[s->large_leaves[c]].y);
        interact_round(t, h, second_pass, potentials, all, eps2, zero, s);
        if (!dealt && size >= STACK / 2) {
            size = stack_keep_part(size, part, s);
            if (part > 0)
                targets_clear(h, 1, met);
            dealt = true;
        }
    }
    if (!dealt && part > 0)
        targets_clear(h, 1, met);
}

static inline void walk_group(WALK_PARAMETERS, const bool potentials, local struct shared *s)
{
    const uint lid = get_local_id(0);
    const uint next = schedule[from + get_group_id(0)], g = next & ~DEFERRED, first = g * BODIES,
               count = min((uint)BODIES, n - first);
    const struct tree t = {body, link, com, multipoles, size};
    struct targets h;
    struct box box;
    struct interactions met;
    if (span[LEVELS + 1].x == 0 || *bad != INT_MAX)
        return;
    if (next & DEFERRED) {
        if (lid == 0)
            DEFER_GROUP(g);
        return;
    }
    box.g2 =
        group_criterion(&t, targets_load(target, first, count, false, &h, &box, a_old_sorted, s),
                        &box, opening, geometric, eps2);
    lists += (size_t)g * lists_room;
    walk_targets(&t, &box, &h, false, 0, potentials, limit, eps2, zero, &met, lists, lists_room, s);
    const bool done = met.cells + met.bodies <= limit;
    if (lid == 0) {
        if (!done)
            deferred[DEFERRED_HEAD + atomic_inc(deferred)] =
                g; /* the order is irrelevant: each group has its own sums */
        info[g] = (uint4)(met.cells, met.bodies, as_uint((float)box.g2), !done);
    }
    EACH(k, ITEMS)
    if (done && k * GROUP + lid < count) {
        const uint i = first + k * GROUP + lid;
        forces_sorted[i] = target_result(h.sx[k], h.sy[k], h.sz[k], potentials);
    }
}

/* Walk one part of a second-pass walk of `count` bodies; work-item k < count returns the sum of
 * body first + k. */
static inline real4 walk_deferred_part(WALK_PARAMETERS, const struct tree *t, uint g, uint first,
                                       uint count, uint part, const bool potentials,
                                       local struct shared *s)
{
    const uint lid = get_local_id(0);
    struct targets h;
    struct box box;
    struct interactions met;
    real4 sum = 0;
    box.g2 = group_criterion(t, targets_load(target, first, count, true, &h, &box, a_old_sorted, s),
                             &box, opening, geometric, eps2);
    walk_targets(t, &box, &h, true, part, potentials, UINT_MAX, eps2, zero, &met, lists, 0, s);
    barrier(CLK_LOCAL_MEM_FENCE);
    s->cells[lid] = (real4)(h.sx[0], h.sy[0], h.sz[0], 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint slice = 0; slice < SLICES; slice++)
        sum += s->cells[slice * SECOND_GROUP + lid % SECOND_GROUP];
    if (lid == 0) {
        atomic_add((global uint *)&info[g] + 0, met.cells);
        atomic_add((global uint *)&info[g] + 1, met.bodies);
    }
    return sum;
}

/* Walk deferred groups, SECOND_GROUP bodies at a time. For the first shared_groups groups each
 * work-group walks one part and stores it in shared_sum[(64 k + body) * WALK_PARTS + part], for
 * group number k. For the other groups a work-group walks all parts and adds them in order. */
static inline void walk_deferred_groups(WALK_PARAMETERS, const bool potentials,
                                        local struct shared *s)
{
    const uint lid = get_local_id(0), sets = BODIES / SECOND_GROUP;
    const uint all = deferred[0], shared = min(all, shared_groups),
               units = shared * sets * WALK_PARTS;
    const struct tree t = {body, link, com, multipoles, size};
    for (uint u = get_group_id(0); u < units + (all - shared) * sets; u += get_num_groups(0)) {
        const bool one = u < units;
        const uint k = one ? u / WALK_PARTS : shared * sets + u - units; /* index of these bodies */
        const uint g = deferred[DEFERRED_HEAD + k / sets],
                   own = g * BODIES + k % sets * SECOND_GROUP, first = min(own, n - 1);
        const uint count = min((uint)SECOND_GROUP, n - first);
        real4 sum = 0;
        for (uint part = one ? u % WALK_PARTS : 0; part < (one ? u % WALK_PARTS + 1 : WALK_PARTS);
             part++) {
            const real4 some =
                walk_deferred_part(WALK_ARGUMENTS, &t, g, first, count, part, potentials, s);
            sum = one ? some : sum + some;
        }
        if (own >= n || lid >= count)
            continue;
        if (one)
            shared_sum[(k * SECOND_GROUP + lid) * WALK_PARTS + u % WALK_PARTS] = sum;
        else
            forces_sorted[first + lid] = target_result(sum.x, sum.y, sum.z, potentials);
    }
}

/* Add the parts of a body in order. */
static inline void reduce_walk_parts(WALK_PARAMETERS, const bool potentials)
{
    const uint k = get_global_id(0), g = k / BODIES;
    if (g >= min(deferred[0], shared_groups))
        return;
    const uint i = deferred[DEFERRED_HEAD + g] * BODIES + k % BODIES;
    if (i >= n)
        return;
    real4 sum = 0;
    for (uint part = 0; part < WALK_PARTS; part++)
        sum += shared_sum[k * WALK_PARTS + part];
    forces_sorted[i] = target_result(sum.x, sum.y, sum.z, potentials);
}

#define ITEMS_OF_GROUP __attribute__((reqd_work_group_size(GROUP, 1, 1)))

kernel ITEMS_OF_GROUP void walk(WALK_PARAMETERS)
{
    local struct shared s;
    walk_group(WALK_ARGUMENTS, false, &s);
}

kernel ITEMS_OF_GROUP void walk_deferred(WALK_PARAMETERS)
{
    local struct shared s;
    walk_deferred_groups(WALK_ARGUMENTS, false, &s);
}

kernel ITEMS_OF_GROUP void walk_potentials(WALK_PARAMETERS)
{
    local struct shared s;
    walk_group(WALK_ARGUMENTS, true, &s);
}

kernel ITEMS_OF_GROUP void walk_potentials_deferred(WALK_PARAMETERS)
{
    local struct shared s;
    walk_deferred_groups(WALK_ARGUMENTS, true, &s);
}

kernel ITEMS_OF_GROUP void walk_reduce(WALK_PARAMETERS)
{
    reduce_walk_parts(WALK_ARGUMENTS, false);
}
kernel ITEMS_OF_GROUP void walk_potentials_reduce(WALK_PARAMETERS)
{
    reduce_walk_parts(WALK_ARGUMENTS, true);
}
