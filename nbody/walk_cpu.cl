/* walk_cpu.cl - the walk on a CPU: a work-group is one item, whose bodies lie in SIMD vectors; see
 * walk.cl, which the host puts in front.
 * SPDX-License-Identifier: MIT
 */
#ifndef BODIES
#include "walk.cl"
#endif

#define PART(v, lane) (((real *)&(v))[lane])

/* Bodies first .. first + count - 1 into vectors; the last one fills them. Their box, and the least
 * of their accelerations. */
static inline real hold(global const real4 *target, uint first, uint count, const int items,
                        struct held *h, struct box *box, global const real *feel)
{
    real least = feel[first];
    box->lo = box->hi = target[first];
    for (int k = 0; k < items; k++)
        for (uint lane = 0; lane < WIDTH; lane++) {
            const uint i = first + min(k * WIDTH + lane, count - 1);
            const real4 b = target[i];
            PART(h->x[k], lane) = b.x, PART(h->y[k], lane) = b.y, PART(h->z[k], lane) = b.z;
            PART(h->m[k], lane) = b.w, ((integer *)&h->self[k])[lane] = i;
            box->lo = fmin(box->lo, b);
            box->hi = fmax(box->hi, b);
            least = fmin(least, feel[i]);
        }
    EACH(k, items) h->ax[k] = h->ay[k] = h->az[k] = h->sx[k] = h->sy[k] = h->sz[k] = (vec)C(0);
    return least;
}

/* False when there was more than `limit` to meet. lists: NULL, or room for what is met: bodies from
 * lists_room / 2 on. */
static inline bool walk_bodies(const struct tree *t, const struct box *box, struct held *h,
                               const int items, const bool potentials, uint limit, real eps2,
                               real zero, struct met *met, global uint *lists, uint lists_room)
{
    uint stack[STACK], size = 1, since = 0;
    stack[0] = 0;
    *met = (struct met){0, 0};
    while (size > 0) {
        const uint k = stack[--size];
        const int2 link = t->link[k];
        const real4 com = t->com[k];
        const enum fate fate = fate_of(box, com, t->size[k], link);
        if (fate == WHOLE) {
            pull_cell(h, items, potentials, com, t->poles[k], eps2);
            if (lists_room)
                lists[met->cells] = k;
            met->cells++, since++;
        } else if (fate == ONE_BODY) {
            pull_body(h, items, potentials, com, POINT, eps2, zero);
            if (lists_room)
                lists[lists_room / 2 + met->bodies] = k | POINT;
            met->bodies++, since++;
        } else if (fate == BODY_BY_BODY) {
            for (int j = link.x; j < link.x - link.y; j++) {
                pull_body(h, items, potentials, t->body[j], j, eps2, zero);
                if (lists_room)
                    lists[lists_room / 2 + met->bodies + j - link.x] = j;
            }
            met->bodies -= link.y, since -= link.y;
        } else if (fate == OPEN)
            for (int c = link.y; c-- > 0;)
                stack[size++] = link.x + c;
        if (since >= BLOCK) {
            if (met->cells + met->bodies > limit)
                return false;
            end_block(h, items);
            since = 0;
        }
    }
    end_block(h, items);
    return true;
}

static inline void leave(uint first, uint count, const int items, struct held *h,
                         const bool potentials, global real4 *pulled)
{
    for (int k = 0; k < items; k++)
        for (uint lane = 0; lane < WIDTH && k * WIDTH + lane < count; lane++)
            pulled[first + k * WIDTH + lane] = result(PART(h->sx[k], lane), PART(h->sy[k], lane),
                                                      PART(h->sz[k], lane), potentials);
}

static inline void walk_all(ARGUMENTS, const bool potentials)
{
    const uint next = turn[from + get_group_id(0)], g = next & ~PUT_OFF, first = g * BODIES,
               count = min((uint)BODIES, n - first);
    const struct tree t = {body, link, com, poles, size};
    struct held h;
    struct box box;
    struct met met;
    if (span[LEVELS + 1].x == 0 || *bad != INT_MAX)
        return;
    if (next & PUT_OFF) {
        PUT_OFF_AT_ONCE(g);
        return;
    }
    box.g2 = criterion(&t, hold(target, first, count, ITEMS, &h, &box, feel), &box, opening,
                       geometric, eps2);
    lists += (size_t)g * lists_room;
    const bool done =
        walk_bodies(&t, &box, &h, ITEMS, potentials, limit, eps2, zero, &met, lists, lists_room);
    if (done)
        leave(first, count, ITEMS, &h, potentials, pulled);
    else
        again[AGAIN + atomic_inc(again)] = g; /* in any order: each has its own sums */
    info[g] = (uint4)(met.cells, met.bodies, as_uint((float)box.g2), !done);
}

/* One vector at a time of the groups that were put off. */
static inline void walk_rest(ARGUMENTS, const bool potentials)
{
    const struct tree t = {body, link, com, poles, size};
    for (uint k = get_group_id(0); k < again[0] * ITEMS; k += get_num_groups(0)) {
        const uint g = again[AGAIN + k / ITEMS], first = g * BODIES + k % ITEMS * WIDTH;
        struct held h;
        struct box box;
        struct met met;
        if (first >= n)
            continue;
        const uint count = min((uint)WIDTH, n - first);
        box.g2 = criterion(&t, hold(target, first, count, 1, &h, &box, feel), &box, opening,
                           geometric, eps2);
        walk_bodies(&t, &box, &h, 1, potentials, UINT_MAX, eps2, zero, &met, lists, 0);
        leave(first, count, 1, &h, potentials, pulled);
        atomic_add((global uint *)&info[g] + 0, met.cells);
        atomic_add((global uint *)&info[g] + 1, met.bodies);
    }
}

#define ONE_ITEM __attribute__((reqd_work_group_size(1, 1, 1)))

kernel ONE_ITEM void walk(ARGUMENTS)
{
    walk_all(PASSED, false);
}
kernel ONE_ITEM void walk_again(ARGUMENTS)
{
    walk_rest(PASSED, false);
}
kernel ONE_ITEM void walk_potentials(ARGUMENTS)
{
    walk_all(PASSED, true);
}
kernel ONE_ITEM void walk_potentials_again(ARGUMENTS)
{
    walk_rest(PASSED, true);
}
kernel ONE_ITEM void walk_join(ARGUMENTS)
{
} /* nothing is shared */
kernel ONE_ITEM void walk_potentials_join(ARGUMENTS)
{
}
