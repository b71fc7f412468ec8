/* tree_walks.c - tree walks of groups of bodies: one launch, or launches of a slice of time each.
 * Forces are left in tree order.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

#include <limits.h>
#include <math.h>

double nbody_tree_work(const struct nbody *nb, size_t bodies)
{
    const double alpha = nbody_tree_opening(nb, false);
    return (nb->moments == 2 ? 15000 * pow(alpha, -0.41) : 90000 * pow(alpha, -0.226)) *
           (double)bodies;
}

size_t nbody_tree_shared(const struct nbody *nb, const struct nbody_device *p)
{
    const size_t groups = (nb->n + TREE_GROUP - 1) / TREE_GROUP;
    return nbody_tree_items(&p->shape) == 1 ? 0 : groups < TREE_SHARED ? groups : TREE_SHARED;
}

/* Launch walks of `groups` groups. which: 0 walks groups, 1 walks deferred groups again by few
 * bodies, 2 reduces their partial sums. room: numbers per group in `lists`; 0 records no
 * interaction lists. */
static int walk_launch(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                       cl_uint geometric, cl_uint from, cl_uint groups, void *lists, cl_uint room,
                       int which)
{
    const struct tree *t = p->force.tree;
    const enum tree_kernel walk = sum == FORCES ? TREE_WALK : TREE_WALK_POTENTIALS;
    const cl_uint shared = (cl_uint)nbody_tree_shared(nb, p);
    const cl_uint most = nbody_tree_expected_interactions(
        nb, 0.1 * (nb->domain.tree ? nb->force.defer_factor : p->shape.defer_factor));
    bool none;
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    const size_t items = (size_t)nbody_tree_items(&p->shape);
    const size_t launched[] = {groups, 32 * (size_t)p->compute_units, shared * TREE_GROUP / items};
    return nbody_tree_launch(
        nb, p, (enum tree_kernel)((int)walk + which), launched[which], items,
        ARGS(t->body, t->target.body, t->target.n, t->link, t->com, t->multipoles, t->size, t->span,
             t->target.a_old, REAL(nb, nbody_tree_opening(nb, geometric)), geometric,
             REAL(nb, eps2), REAL(nb, none ? eps2 : -1), from, most, t->schedule, t->info,
             t->deferred, t->forces_sorted, p->bad, lists, room, t->shared_sum, shared));
}

int nbody_tree_discard_deferred(struct nbody *nb, struct nbody_device *p)
{
    const size_t size = TREE_DEFERRED_HEAD * sizeof(cl_uint);
    if (!p->force.tree->walks_pending)
        return 0;
    if (nbody_device_wait(nb, p) != 0)
        return -1;
    p->force.tree->walks_pending = false;
    memset(p->force.tree->deferred, 0, size);
    return clmsyncn(nb->ctx, p->dev, p->force.tree->deferred, size, CL_MEM_DEVICE) == (cl_event)-1
               ? -1
               : 0;
}

/* Schedule the groups; groups with many interactions in the last sum come first. */
static int walk_schedule(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    if (nbody_tree_discard_deferred(nb, p) != 0)
        return -1;
    t->walks_pending = true;
    t->walked = 0;
    const cl_uint long_walk =
        nb->force.a_old_valid ? nbody_tree_expected_interactions(nb, 1.3) : UINT_MAX;
    return nbody_tree_launch_1d(
        nb, p, TREE_SCHEDULE_GROUPS, t->groups,
        ARGS(t->info, t->first_group, t->groups, long_walk, t->deferred, t->schedule));
}

/* Return the number of groups that one slice of time walks. */
static cl_uint walk_groups_per_launch(const struct nbody *nb, const struct nbody_device *p)
{
    const double fit = pace_slice(&p->pace) / nbody_tree_work(nb, TREE_GROUP);
    return fit < 64                              ? 64
           : fit < (double)p->force.tree->groups ? (cl_uint)fit
                                                 : p->force.tree->groups;
}

/* Launch the walks of the next slice of time. Wait first if the device has enough work. */
static int walk_slice(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                      cl_uint geometric)
{
    struct tree *t = p->force.tree;
    const cl_uint most = walk_groups_per_launch(nb, p), left = t->groups - t->walked,
                  some = most < left ? most : left, from = t->walked;
    const double work = nbody_tree_work(nb, (size_t)some * TREE_GROUP);
    if (!pace_has_room(&p->pace, work) && nbody_device_wait_all(nb) != 0)
        return -1;
    pace_started(&p->pace, work);
    t->walked += some;
    if (walk_launch(nb, p, sum, geometric, from, some, t->info, 0, 0) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

/* Launch the walks of a device. */
static int walk_start(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                      cl_uint geometric)
{
    const struct tree *t = p->force.tree;
    int status = walk_schedule(nb, p);
    while (status == 0 && t->walked < t->groups)
        status = walk_slice(nb, p, sum, geometric);
    return status;
}

/* Launch the second pass over deferred groups. */
static int walk_start_deferred(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                               cl_uint geometric)
{
    if (walk_launch(nb, p, sum, geometric, 0, 0, p->force.tree->info, 0, 1) != 0)
        return -1;
    if (walk_launch(nb, p, sum, geometric, 0, 0, p->force.tree->info, 0, 2) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

int nbody_tree_walk_now(struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                        cl_uint geometric)
{
    struct tree *t = p->force.tree;
    t->walks_started = t->groups <= walk_groups_per_launch(nb, p) &&
                       pace_has_room(&p->pace, nbody_tree_work(nb, (size_t)t->groups * TREE_GROUP));
    if (!t->walks_started)
        return 0;
    if (walk_start(nb, p, sum, geometric) != 0)
        return -1;
    return walk_start_deferred(nb, p, sum, geometric);
}

/* The devices' slices take turns: otherwise a device would wait for all walks of another device. */
int nbody_tree_walk_all(struct nbody *nb, enum sum_kind sum, bool geometric)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->force.tree && !p->force.tree->walks_started && walk_schedule(nb, p) != 0)
            return -1;
    for (bool any = true; any;) {
        any = false;
        for (struct nbody_device *p = nb->device; p < end; p++) {
            const struct tree *t = p->force.tree;
            if (!t || t->walks_started || t->walked == t->groups)
                continue;
            if (walk_slice(nb, p, sum, geometric) != 0)
                return -1;
            any = true;
        }
    }
    for (struct nbody_device *p = nb->device; p < end; p++) {
        if (p->force.tree && !p->force.tree->walks_started &&
            walk_start_deferred(nb, p, sum, geometric) != 0)
            return -1;
        if (p->force.tree)
            p->force.tree->walks_started = false;
    }
    return 0;
}

int nbody_tree_walk_some(struct nbody *nb, struct nbody_device *p, void *body, void *a_old,
                         cl_uint n)
{
    struct tree *t = p->force.tree;
    const struct tree all = *t;
    t->target.body = body;
    t->target.a_old = a_old;
    t->target.n = n;
    t->groups = (n + TREE_GROUP - 1) / TREE_GROUP;
    const int status =
        walk_start(nb, p, FORCES, false) != 0 ? -1 : walk_start_deferred(nb, p, FORCES, false);
    t->target = all.target;
    t->groups = all.groups;
    t->walks_pending = status != 0; /* the caller clears `deferred` */
    return status;
}

int nbody_tree_walk_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room)
{
    p->force.tree->walks_pending = true;
    return walk_launch(nb, p, FORCES, false, 0, p->force.tree->groups, lists, room, 0);
}

int nbody_tree_begin_walks(struct nbody *nb, struct nbody_device *p)
{
    p->force.tree->walks_started = false;
    return nbody_tree_discard_deferred(nb, p);
}

void nbody_tree_scattered(struct nbody_device *p)
{
    p->force.tree->walks_pending = false;
}
