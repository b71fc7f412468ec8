/* tree_walks.c - walks of groups through a tree, which leave sums in its order: those of a device
 * in a launch, or in slices of time.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

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

/* The walks of some groups; room: that each has for its lists. The second and third launches are
 * for those that were put off. */
static int walk_some(struct nbody *nb, struct nbody_device *p, enum kernel sum, cl_uint geometric,
                     cl_uint from, cl_uint groups, void *lists, cl_uint room, int which)
{
    const struct tree *t = p->tree;
    const enum tree_kernel walk = sum == FORCES ? TREE_WALK : TREE_WALK_POTENTIALS;
    const cl_uint shared = (cl_uint)nbody_tree_shared(nb, p);
    const cl_uint most = nbody_tree_expected_interactions(
        nb, 0.1 * (nb->domains ? nb->domains->limit : p->shape.limit));
    bool none;
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    const size_t items = (size_t)nbody_tree_items(&p->shape);
    const size_t launched[] = {groups, 32 * (size_t)p->units, shared * TREE_GROUP / items};
    return nbody_tree_launch(
        nb, p, (enum tree_kernel)((int)walk + which), launched[which], items,
        ARGS(t->body, t->target.body, t->target.n, t->link, t->com, t->poles, t->size, t->span,
             t->target.feel, REAL(nb, nbody_tree_opening(nb, geometric)), geometric, REAL(nb, eps2),
             REAL(nb, none ? eps2 : -1), from, most, t->turn, t->info, t->again, nb->forces_sorted,
             p->bad, lists, room, t->shared, shared));
}

int nbody_tree_discard_deferred(struct nbody *nb, struct nbody_device *p)
{
    const size_t size = TREE_AGAIN * sizeof(cl_uint);
    if (!p->tree->walking)
        return 0;
    if (nbody_device_wait(nb, p) != 0)
        return -1;
    p->tree->walking = false;
    memset(p->tree->again, 0, size);
    return clmsyncn(nb->ctx, p->dev, p->tree->again, size, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

/* Which group is next: those that met much in the last sum come first. */
static int start_turns(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    if (nbody_tree_discard_deferred(nb, p) != 0)
        return -1;
    t->walking = true;
    const cl_uint much = nb->a_old_valid ? nbody_tree_expected_interactions(nb, 1.3) : UINT_MAX;
    return nbody_tree_launch_1d(nb, p, TREE_TURNS, t->groups,
                                ARGS(t->info, t->from, t->groups, much, t->again, t->turn));
}

/* Groups of a launch that takes a slice of time. */
static cl_uint groups_at_once(const struct nbody *nb, const struct nbody_device *p)
{
    const double fit = pace_slice(&p->pace) / nbody_tree_work(nb, TREE_GROUP);
    return fit < 64 ? 64 : fit < (double)p->tree->groups ? (cl_uint)fit : p->tree->groups;
}

/* In launches of a slice of time each. */
static int start_walks(struct nbody *nb, struct nbody_device *p, enum kernel sum, cl_uint geometric)
{
    const struct tree *t = p->tree;
    const cl_uint end = t->groups;
    if (start_turns(nb, p) != 0)
        return -1;
    for (cl_uint from = 0, some; from < end; from += some) {
        some = groups_at_once(nb, p);
        some = some < end - from ? some : end - from;
        const double work = nbody_tree_work(nb, (size_t)some * TREE_GROUP);
        if (!pace_has_room(&p->pace, work) && nbody_device_wait_all(nb) != 0)
            return -1;
        if (walk_some(nb, p, sum, geometric, from, some, t->info, 0, 0) != 0)
            return -1;
        pace_started(&p->pace, work);
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Those that were put off. */
static int start_walks_again(struct nbody *nb, struct nbody_device *p, enum kernel sum,
                             cl_uint geometric)
{
    return walk_some(nb, p, sum, geometric, 0, 0, p->tree->info, 0, 1) != 0 ||
                   walk_some(nb, p, sum, geometric, 0, 0, p->tree->info, 0, 2) != 0
               ? -1
               : clflush(nb->ctx, p->dev, 0);
}

int nbody_tree_walk_now(struct nbody *nb, struct nbody_device *p, enum kernel sum,
                        cl_uint geometric)
{
    struct tree *t = p->tree;
    t->walked = t->groups <= groups_at_once(nb, p) &&
                pace_has_room(&p->pace, nbody_tree_work(nb, (size_t)t->groups * TREE_GROUP));
    return !t->walked || (start_walks(nb, p, sum, geometric) == 0 &&
                          start_walks_again(nb, p, sum, geometric) == 0)
               ? 0
               : -1;
}

int nbody_tree_walk_all(struct nbody *nb, enum kernel sum, bool geometric)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->tree && !p->tree->walked && start_walks(nb, p, sum, geometric) != 0)
            return -1;
    for (struct nbody_device *p = nb->device; p < end; p++) {
        if (p->tree && !p->tree->walked && start_walks_again(nb, p, sum, geometric) != 0)
            return -1;
        if (p->tree)
            p->tree->walked = false;
    }
    return 0;
}

int nbody_tree_walk_some(struct nbody *nb, struct nbody_device *p, void *body, void *feel,
                         cl_uint n)
{
    struct tree *t = p->tree;
    const struct tree all = *t;
    t->target.body = body;
    t->target.feel = feel;
    t->target.n = n;
    t->groups = (n + TREE_GROUP - 1) / TREE_GROUP;
    const int status =
        start_walks(nb, p, FORCES, false) != 0 ? -1 : start_walks_again(nb, p, FORCES, false);
    t->target = all.target;
    t->groups = all.groups;
    t->walking = status != 0; /* `again` is cleared by the caller */
    return status;
}

int nbody_tree_walk_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room)
{
    p->tree->walking = true;
    return walk_some(nb, p, FORCES, false, 0, p->tree->groups, lists, room, 0);
}
