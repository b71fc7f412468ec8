/* walk_cpu.cl - tree walk on a CPU: a work-group is one work-item, with the group's bodies in SIMD
 * vectors. The host puts walk.cl in front.
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#include "walk.cl"
#endif

#define LANE(v, lane) (((real *)&(v))[lane])

/* Load bodies first .. first + count - 1 into vectors; the last body pads the last vector. Set the
 * bounding box and return the least |a| of the last sum. */
static inline real targets_load(global const real4 *target, uint first, uint count, const int items,
                                struct targets *h, struct box *box, global const real *a_old_sorted)
{
    real least = a_old_sorted[first];
    box->lo = box->hi = target[first];
    for (int k = 0; k < items; k++)
        for (uint lane = 0; lane < WIDTH; lane++) {
            const uint i = first + min(k * WIDTH + lane, count - 1);
            const real4 b = target[i];
            LANE(h->x[k], lane) = b.x, LANE(h->y[k], lane) = b.y, LANE(h->z[k], lane) = b.z;
            LANE(h->m[k], lane) = b.w, ((integer *)&h->self[k])[lane] = i;
            box->lo = fmin(box->lo, b);
            box->hi = fmax(box->hi, b);
            least = fmin(least, a_old_sorted[i]);
        }
    EACH(k, items) h->ax[k] = h->ay[k] = h->az[k] = h->sx[k] = h->sy[k] = h->sz[k] = (vec)C(0);
    return least;
}

/* Walk the tree. Return false if there were more than `limit` interactions. lists_room > 0: record
 * the interaction lists, bodies from lists[lists_room / 2] on. */
static inline bool walk_targets(const struct tree *t, const struct box *box, struct targets *h,
                                const int items, const bool potentials, uint limit, real eps2,
                                real zero, struct interactions *met, global uint *lists,
                                uint lists_room)
{
    uint stack[STACK], size = 1, since = 0;
    stack[0] = 0;
    *met = (struct interactions){0, 0};
    while (size > 0) {
        const uint k = stack[--size];
        const int2 link = t->link[k];
        const real4 com = t->com[k];
        const enum cell_action action = cell_action(box, com, t->size[k], link);
        if (action == USE_CELL) {
            add_cell_force(h, items, potentials, com, t->multipoles[k], eps2);
            if (lists_room)
                lists[met->cells] = k;
            met->cells++, since++;
        } else if (action == USE_POINT) {
            add_body_force(h, items, potentials, com, POINT, eps2, zero);
            if (lists_room)
                lists[lists_room / 2 + met->bodies] = k | POINT;
            met->bodies++, since++;
        } else if (action == USE_BODIES) {
            for (int j = link.x; j < link.x - link.y; j++) {
                add_body_force(h, items, potentials, t->body[j], j, eps2, zero);
                if (lists_room)
                    lists[lists_room / 2 + met->bodies + j - link.x] = j;
            }
            met->bodies -= link.y, since -= link.y;
        } else if (action == OPEN_CELL)
            for (int c = link.y; c-- > 0;)
                stack[size++] = link.x + c;
        if (since >= BLOCK) {
            if (met->cells + met->bodies > limit)
                return false;
            targets_end_block(h, items);
            since = 0;
        }
    }
    targets_end_block(h, items);
    return true;
}

static inline void targets_store(uint first, uint count, const int items, struct targets *h,
                                 const bool potentials, global real4 *forces_sorted)
{
    for (int k = 0; k < items; k++)
        for (uint lane = 0; lane < WIDTH && k * WIDTH + lane < count; lane++)
            forces_sorted[first + k * WIDTH + lane] = target_result(
                LANE(h->sx[k], lane), LANE(h->sy[k], lane), LANE(h->sz[k], lane), potentials);
}

static inline void walk_group(WALK_PARAMETERS, const bool potentials)
{
    const uint next = schedule[from + get_group_id(0)], g = next & ~DEFERRED, first = g * BODIES,
               count = min((uint)BODIES, n - first);
    const struct tree t = {body, link, com, multipoles, size};
    struct targets h;
    struct box box;
    struct interactions met;
    if (span[LEVELS + 1].x == 0 || *bad != INT_MAX)
        return;
    if (next & DEFERRED) {
        DEFER_GROUP(g);
        return;
    }
    box.g2 = group_criterion(&t, targets_load(target, first, count, ITEMS, &h, &box, a_old_sorted),
                             &box, opening, geometric, eps2);
    lists += (size_t)g * lists_room;
    const bool done =
        walk_targets(&t, &box, &h, ITEMS, potentials, limit, eps2, zero, &met, lists, lists_room);
    if (done)
        targets_store(first, count, ITEMS, &h, potentials, forces_sorted);
    else
        deferred[DEFERRED_HEAD + atomic_inc(deferred)] =
            g; /* the order is irrelevant: each group has its own sums */
    info[g] = (uint4)(met.cells, met.bodies, as_uint((float)box.g2), !done);
}

/* Walk deferred groups, one vector of bodies at a time. */
static inline void walk_deferred_groups(WALK_PARAMETERS, const bool potentials)
{
    const struct tree t = {body, link, com, multipoles, size};
    for (uint k = get_group_id(0); k < deferred[0] * ITEMS; k += get_num_groups(0)) {
        const uint g = deferred[DEFERRED_HEAD + k / ITEMS], first = g * BODIES + k % ITEMS * WIDTH;
        struct targets h;
        struct box box;
        struct interactions met;
        if (first >= n)
            continue;
        const uint count = min((uint)WIDTH, n - first);
        box.g2 = group_criterion(&t, targets_load(target, first, count, 1, &h, &box, a_old_sorted),
                                 &box, opening, geometric, eps2);
        walk_targets(&t, &box, &h, 1, potentials, UINT_MAX, eps2, zero, &met, lists, 0);
        targets_store(first, count, 1, &h, potentials, forces_sorted);
        atomic_add((global uint *)&info[g] + 0, met.cells);
        atomic_add((global uint *)&info[g] + 1, met.bodies);
    }
}

#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))

kernel ONE_ITEM void walk(WALK_PARAMETERS)
{
    walk_group(WALK_ARGUMENTS, false);
}
kernel ONE_ITEM void walk_deferred(WALK_PARAMETERS)
{
    walk_deferred_groups(WALK_ARGUMENTS, false);
}
kernel ONE_ITEM void walk_potentials(WALK_PARAMETERS)
{
    walk_group(WALK_ARGUMENTS, true);
}
kernel ONE_ITEM void walk_potentials_deferred(WALK_PARAMETERS)
{
    walk_deferred_groups(WALK_ARGUMENTS, true);
}
kernel ONE_ITEM void walk_reduce(WALK_PARAMETERS)
{
} /* CPUs do not share walks */
kernel ONE_ITEM void walk_potentials_reduce(WALK_PARAMETERS)
{
}
