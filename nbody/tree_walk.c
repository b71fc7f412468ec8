/* tree_walk.c - the walks of a device's groups (walk.cl): whose turn it is, launches, and groups that must wait or are put off.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include <limits.h>
#include <math.h>

double nbody_tree_work(const struct nbody *nb, size_t bodies)
{
    const double alpha = nbody_tree_opening(nb, false);
    return (nb->moments == 2 ? 15000 * pow(alpha, -0.41) : 90000 * pow(alpha, -0.226)) * (double)bodies;
}

size_t nbody_tree_shared(const struct nbody *nb, const struct share *p)
{
    const size_t groups = (nb->n + TREE_GROUP - 1) / TREE_GROUP;
    return nbody_tree_items(&p->shape) == 1 ? 0 : groups < TREE_SHARED ? groups : TREE_SHARED;
}

/* The walks of some groups; room: that each has for its lists. */
struct walk {
    enum kernel sum;
    cl_uint geometric, from, groups;
    void *lists;
    cl_uint room;
    cl_uint early;
    void *late; /* with LATE: a list of groups, of which again[late_count] and the next tell the numbers */
    cl_uint late_count, late_room;
};
enum { USUAL, PUT_OFF, JOINED, LATE };

static int walk_some(struct nbody *nb, struct share *p, struct walk w, int which)
{
    const struct tree *t = p->tree;
    const enum tree_kernel walk = which == LATE ? TREE_WALK_LATE : (w.sum == FORCES ? TREE_WALK : TREE_WALK_POTENTIALS) + which;
    const cl_uint shared = (cl_uint)nbody_tree_shared(nb, p);
    const cl_uint most = nbody_tree_usual(nb, 0.1 * (nb->parts ? nb->parts->limit : p->shape.limit));
    bool none;
    REAL_NUMBER(eps2, nbody_forces_softening(nb, FORCES, &none));
    REAL_NUMBER(zero, none ? eps2 : -1);
    REAL_NUMBER(open, nbody_tree_opening(nb, w.geometric));
    const struct stdcl_arg args[] = {
        BLOCK_ARG(t->body),        BLOCK_ARG(t->target.body), VALUE_ARG(t->target.n), BLOCK_ARG(t->link), BLOCK_ARG(t->com),
        BLOCK_ARG(t->poles),       BLOCK_ARG(t->size),        BLOCK_ARG(t->span),     BLOCK_ARG(t->target.feel), REAL_ARG(nb, open),
        VALUE_ARG(w.geometric),    REAL_ARG(nb, eps2),        REAL_ARG(nb, zero),     VALUE_ARG(w.from),  VALUE_ARG(most),
        BLOCK_ARG(t->turn),        BLOCK_ARG(t->info),        BLOCK_ARG(t->again),    BLOCK_ARG(nb->pulled), BLOCK_ARG(p->bad),
        BLOCK_ARG(w.lists),        VALUE_ARG(w.room),         BLOCK_ARG(t->shared),   VALUE_ARG(shared),  VALUE_ARG(w.early),
        BLOCK_ARG(t->missed),      BLOCK_ARG(w.late),         VALUE_ARG(w.late_room),   VALUE_ARG(w.late_count)};
    const size_t items = (size_t)nbody_tree_items(&p->shape), some = 32 * (size_t)p->units;
    const size_t launched[] = {w.groups, 32 * (size_t)p->units, shared * TREE_GROUP / items, w.groups > some ? w.groups : some};
    return nbody_tree_launch(nb, p, walk, launched[which], items, COUNT_OF(args) - (which == LATE ? 0 : 3), args);
}

/* Of a sum that was stopped. */
static int forget_turns(struct nbody *nb, struct share *p)
{
    const size_t size = TREE_AGAIN * sizeof(cl_uint);
    if (nbody_device_wait(nb, p) != 0)
        return -1;
    memset(p->tree->again, 0, size);
    return clmsyncn(nb->ctx, p->dev, p->tree->again, size, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

static size_t all_groups(const struct nbody *nb)
{
    return (nb->n + TREE_GROUP - 1) / TREE_GROUP;
}

/* Which group is next: those that met much in the last sum come first. */
int nbody_tree_turns(struct nbody *nb, struct share *p, cl_uint early)
{
    struct tree *t = p->tree;
    if (t->walking && forget_turns(nb, p) != 0)
        return -1;
    t->walking = true;
    const cl_uint much = nb->known ? nbody_tree_usual(nb, 1.3) : UINT_MAX, all = (cl_uint)all_groups(nb);
    const struct stdcl_arg turns[] = {BLOCK_ARG(t->info), VALUE_ARG(t->from),  VALUE_ARG(t->groups), VALUE_ARG(much),
                                      BLOCK_ARG(t->again), BLOCK_ARG(t->turn), VALUE_ARG(early),     VALUE_ARG(all), BLOCK_ARG(t->late)};
    return nbody_tree_visit(nb, p, TREE_TURNS, t->groups, COUNT_OF(turns), turns);
}

static int walk_put_off(struct nbody *nb, struct share *p, struct walk w)
{
    return walk_some(nb, p, w, PUT_OFF) != 0 || walk_some(nb, p, w, JOINED) != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

/* In launches of a slice of time each. */
int nbody_tree_walk(struct nbody *nb, struct share *p, enum kernel sum, cl_uint geometric)
{
    const struct tree *t = p->tree;
    const cl_uint end = t->groups;
    struct walk w = {.sum = sum, .geometric = geometric, .lists = t->info};
    if (nbody_tree_turns(nb, p, false) != 0)
        return -1;
    for (; w.from < end; w.from += w.groups) {
        const double fit = pace_slice(&p->pace) / nbody_tree_work(nb, TREE_GROUP);
        w.groups = fit < 64 ? 64 : fit < (double)t->groups ? (cl_uint)fit : t->groups;
        w.groups = w.groups < end - w.from ? w.groups : end - w.from;
        const double work = nbody_tree_work(nb, (size_t)w.groups * TREE_GROUP);
        if (!pace_has_room(&p->pace, work) && nbody_device_pause(nb) != 0)
            return -1;
        if (walk_some(nb, p, w, USUAL) != 0)
            return -1;
        pace_started(&p->pace, work);
    }
    return walk_put_off(nb, p, w);
}

/* In two launches: when all groups of the first have begun, there is room for what others need of this part. */
int nbody_tree_walk_early(struct nbody *nb, struct share *p)
{
    const struct tree *t = p->tree;
    struct walk w = {.sum = FORCES, .groups = (t->groups + 7) / 8, .lists = t->info, .early = true};
    if (walk_some(nb, p, w, USUAL) != 0)
        return -1;
    w.from = w.groups;
    w.groups = t->groups - w.from;
    pace_started(&p->pace, nbody_tree_work(nb, (size_t)t->groups * TREE_GROUP));
    return walk_some(nb, p, w, USUAL) != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

int nbody_tree_walk_late(struct nbody *nb, struct share *p)
{
    const struct tree *t = p->tree;
    const cl_uint *again = t->again; /* as nbody_tree_turns left it */
    const struct walk w = {.sum = FORCES, .lists = t->info, .groups = again[3] + again[4], .late = t->late, .late_count = 3,
                           .late_room = (cl_uint)all_groups(nb)};
    return walk_some(nb, p, w, LATE) != 0 ? -1 : clflush(nb->ctx, p->dev, 0);
}

/* Groups that missed what came late, and those that were put off. */
int nbody_tree_walk_rest(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    const struct walk w = {.sum = FORCES, .lists = t->info, .late = t->missed, .late_count = 5};
    t->queue = CL_EVENT_AFTER;
    return walk_some(nb, p, w, LATE) != 0 ? -1 : walk_put_off(nb, p, w);
}

int nbody_tree_walk_lists(struct nbody *nb, struct share *p, void *lists, cl_uint room)
{
    return walk_some(nb, p, (struct walk){.sum = FORCES, .groups = p->tree->groups, .lists = lists, .room = room}, USUAL);
}
