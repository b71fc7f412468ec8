/* tree.c - forces by a tree (Barnes & Hut 1986, Nature 324, 446), on all devices.
 *
 * One device makes the tree of all bodies; of several each makes a part of it (tree_plant.c), and sums for the groups of this part.
 * Sums depend on the tree alone, so that the number of devices changes no bit. The tree of one device holds until bodies move;
 * parts are made for each sum, since what a device has of the others' depends on what bodies felt.
 *
 * The first sum opens cells by their angle, since accelerations are not known yet, and is then repeated with them.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/clock.h"

#include <limits.h>
#include <math.h>

/* ---- The tree. --------------------------------------------------------------------------------- */

/* The bodies' keys, a word of them, and the order by this word and what order there was. */
static int start_word(struct nbody *nb, struct share *p, cl_uint word, cl_uint again)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const struct stdcl_arg keys[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n),      BLOCK_ARG(t->cube), VALUE_ARG(word),
                                     VALUE_ARG(again),    BLOCK_ARG(t->key), BLOCK_ARG(t->order)};
    const struct arrays_sort_job sort = {
        .keys = t->key, .values = t->order, .bytes = 8, .bits = 3 * TREE_LEVELS, .most = nb->n, .work = t->sort};
    return nbody_tree_visit(nb, p, TREE_KEYS, nb->n, COUNT_OF(keys), keys) != 0 ? -1 : arrays_sort_start(t->sorter, &sort);
}

/* By the last word first. */
int nbody_tree_order(struct nbody *nb, struct share *p)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, last = 1, again = 1, first = 0;
    const struct stdcl_arg box[] = {BLOCK_ARG(nb->posm), VALUE_ARG(first), VALUE_ARG(n), BLOCK_ARG(t->part)};
    const struct stdcl_arg frame[] = {BLOCK_ARG(t->part), VALUE_ARG(t->parts), BLOCK_ARG(t->cube)};
    const struct stdcl_arg second[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n),         BLOCK_ARG(t->cube), VALUE_ARG(last),
                                       VALUE_ARG(again),    BLOCK_ARG(t->second), BLOCK_ARG(t->order)};
    if (nbody_tree_launch(nb, p, TREE_BOX, t->parts, (size_t)p->shape.flat, COUNT_OF(box), box) != 0 ||
        nbody_tree_launch(nb, p, TREE_FRAME, 1, (size_t)p->shape.flat, COUNT_OF(frame), frame) != 0)
        return -1;
    if (t->words == 1)
        return start_word(nb, p, 0, false);
    return start_word(nb, p, 1, false) != 0 || start_word(nb, p, 0, true) != 0
               ? -1
               : nbody_tree_visit(nb, p, TREE_KEYS, nb->n, COUNT_OF(second), second);
}

/* Bodies in the tree's order; sums have taken their place since they were last there. */
static int start_bodies(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const struct stdcl_arg gather[] = {BLOCK_ARG(nb->posm), BLOCK_ARG(t->felt), VALUE_ARG(n),      BLOCK_ARG(t->order),
                                       VALUE_ARG(t->begin), BLOCK_ARG(t->body), BLOCK_ARG(t->feel)};
    t->gathered = true;
    return nbody_tree_visit(nb, p, TREE_GATHER, nb->n, COUNT_OF(gather), gather);
}

/* ---- Walks. ----------------------------------------------------------------------------------- */

double nbody_tree_work(const struct nbody *nb, size_t bodies)
{
    const double alpha = nbody_tree_opening(nb, false);
    return (nb->moments == 2 ? 15000 * pow(alpha, -0.41) : 90000 * pow(alpha, -0.226)) * (double)bodies;
}

/* The walks of some groups; room: that each has for its lists. The second and third launches are for those that were put
 * off. */
static int walk_some(struct nbody *nb, struct share *p, enum kernel sum, cl_uint geometric, cl_uint from, cl_uint groups,
                     void *lists, cl_uint room, int which)
{
    const struct tree *t = p->tree;
    const enum tree_kernel walk = sum == FORCES ? TREE_WALK : TREE_WALK_POTENTIALS;
    const cl_uint shared = (cl_uint)nbody_tree_shared(nb, p);
    const cl_uint most = nbody_tree_usual(nb, 0.1 * (nb->parts ? nb->parts->limit : p->shape.limit));
    bool none;
    REAL_NUMBER(eps2, nbody_forces_softening(nb, FORCES, &none));
    REAL_NUMBER(zero, none ? eps2 : -1);
    REAL_NUMBER(open, nbody_tree_opening(nb, geometric));
    const struct stdcl_arg args[] = {
        BLOCK_ARG(t->body),     BLOCK_ARG(t->target.body), VALUE_ARG(t->target.n), BLOCK_ARG(t->link),
        BLOCK_ARG(t->com),      BLOCK_ARG(t->poles),  BLOCK_ARG(t->size),    BLOCK_ARG(t->span),
        BLOCK_ARG(t->target.feel), REAL_ARG(nb, open),
        VALUE_ARG(geometric),   REAL_ARG(nb, eps2),   REAL_ARG(nb, zero),    VALUE_ARG(from),        VALUE_ARG(most),
        BLOCK_ARG(t->turn),     BLOCK_ARG(t->info),   BLOCK_ARG(t->again),   BLOCK_ARG(nb->pulled),  BLOCK_ARG(p->bad),
        BLOCK_ARG(lists),       VALUE_ARG(room),      BLOCK_ARG(t->shared),  VALUE_ARG(shared)};
    const size_t items = (size_t)nbody_tree_items(&p->shape);
    const size_t launched[] = {groups, 32 * (size_t)p->units, shared * TREE_GROUP / items};
    return nbody_tree_launch(nb, p, (enum tree_kernel)((int)walk + which), launched[which], items, COUNT_OF(args), args);
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

/* Which group is next: those that met much in the last sum come first. */
static int start_turns(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    if (t->walking && forget_turns(nb, p) != 0)
        return -1;
    t->walking = true;
    const cl_uint much = nb->known ? nbody_tree_usual(nb, 1.3) : UINT_MAX;
    const struct stdcl_arg turns[] = {BLOCK_ARG(t->info), VALUE_ARG(t->from),  VALUE_ARG(t->groups),
                                      VALUE_ARG(much),    BLOCK_ARG(t->again), BLOCK_ARG(t->turn)};
    return nbody_tree_visit(nb, p, TREE_TURNS, t->groups, COUNT_OF(turns), turns);
}

/* In launches of a slice of time each. */
static int start_walks(struct nbody *nb, struct share *p, enum kernel sum, cl_uint geometric)
{
    const struct tree *t = p->tree;
    const cl_uint end = t->groups;
    if (start_turns(nb, p) != 0)
        return -1;
    for (cl_uint from = 0, some; from < end; from += some) {
        const double fit = pace_slice(&p->pace) / nbody_tree_work(nb, TREE_GROUP);
        some = fit < 64 ? 64 : fit < (double)t->groups ? (cl_uint)fit : t->groups;
        some = some < end - from ? some : end - from;
        const double work = nbody_tree_work(nb, (size_t)some * TREE_GROUP);
        if (!pace_has_room(&p->pace, work) && nbody_device_pause(nb) != 0)
            return -1;
        if (walk_some(nb, p, sum, geometric, from, some, t->info, 0, 0) != 0)
            return -1;
        pace_started(&p->pace, work);
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Those that were put off. */
static int start_walks_again(struct nbody *nb, struct share *p, enum kernel sum, cl_uint geometric)
{
    return walk_some(nb, p, sum, geometric, 0, 0, p->tree->info, 0, 1) != 0 || walk_some(nb, p, sum, geometric, 0, 0, p->tree->info, 0, 2) != 0
               ? -1
               : clflush(nb->ctx, p->dev, 0);
}

/* On all devices: the first of each before the second of any, so that none waits for more launches than it must. */
static int start_all_walks(struct nbody *nb, enum kernel sum, bool geometric)
{
    struct share *const end = nb->share + nb->ndev;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && start_walks(nb, p, sum, geometric) != 0)
            return -1;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && start_walks_again(nb, p, sum, geometric) != 0)
            return -1;
    return 0;
}

int nbody_tree_lists(struct nbody *nb, struct share *p, void *lists, cl_uint room)
{
    p->tree->walking = true;
    return !p->tree->gathered && start_bodies(nb, p) != 0
               ? -1
               : walk_some(nb, p, FORCES, false, 0, p->tree->groups, lists, room, 0);
}

static int start_scatter(struct nbody *nb, struct share *p, enum kernel sum)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    const struct stdcl_arg forces[] = {BLOCK_ARG(nb->pulled), VALUE_ARG(n),       BLOCK_ARG(t->order),
                                       VALUE_ARG(t->begin),   BLOCK_ARG(t->body), BLOCK_ARG(t->again)};
    const struct stdcl_arg planes[] = {BLOCK_ARG(t->body), VALUE_ARG(n),          VALUE_ARG(first),  VALUE_ARG(rows),
                                       VALUE_ARG(count),   BLOCK_ARG(p->partial), BLOCK_ARG(t->felt),  BLOCK_ARG(p->bad)};
    const struct stdcl_arg potentials[] = {BLOCK_ARG(nb->pulled), VALUE_ARG(n),      BLOCK_ARG(t->order),
                                           VALUE_ARG(first),      VALUE_ARG(count),  BLOCK_ARG(p->phi),
                                           BLOCK_ARG(t->again)};
    t->gathered = t->walking = false;
    if (sum == FORCES)
        return nbody_tree_visit(nb, p, TREE_SCATTER, nb->n, COUNT_OF(forces), forces) == 0
                   ? nbody_tree_visit(nb, p, TREE_PLANES, nb->n, COUNT_OF(planes), planes)
                   : -1;
    return nbody_tree_visit(nb, p, TREE_SCATTER_POTENTIALS, nb->n, COUNT_OF(potentials), potentials);
}

/* ---- Sums. ------------------------------------------------------------------------------------ */

static int plant(struct nbody *nb, struct share *p, bool geometric)
{
    const struct key_range all = {.n = (cl_uint)nb->n, .to = (cl_uint)nb->n};
    return nbody_tree_order(nb, p) != 0 || start_bodies(nb, p) != 0 || nbody_tree_count(nb, p, all, 0) != 0 ||
                   nbody_tree_write(nb, p, all, 0) != 0 || nbody_tree_moments(nb, p, geometric) != 0
               ? -1
               : 0;
}

int nbody_tree_plant(struct nbody *nb, struct share *p)
{
    return plant(nb, p, false);
}

/* The tree of the device that has one; of none, on a rank without bodies. */
static int plant_alone(struct nbody *nb, bool geometric)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->tree && ((!nb->planted && plant(nb, p, geometric) != 0) || (!p->tree->gathered && start_bodies(nb, p) != 0)))
            return -1;
    nb->planted = !geometric;
    return 0;
}

static int sum_once(struct nbody *nb, enum kernel sum, bool geometric)
{
    struct share *const end = nb->share + nb->ndev;
    if (nb->parts ? nbody_parts_plant(nb, geometric) != 0 : plant_alone(nb, geometric) != 0)
        return -1;
    if (nb->parts)
        nb->parts->walks_began = seconds_now();
    if (start_all_walks(nb, sum, geometric) != 0)
        return -1;
    if (nb->parts)
        return nbody_parts_return(nb, sum);
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && start_scatter(nb, p, sum) != 0)
            return -1;
    return 0;
}

/* Room for the cells of a tree: 1 when there was none. */
static int check_room(struct nbody *nb, struct share *p, bool *crowded)
{
    struct tree *t = p->tree;
    if (nbody_device_fetch(nb, p, t->cells, 2 * sizeof *t->cells) != 0)
        return -1;
    const cl_uint cells = t->cells[0], room = t->room;
    *crowded = t->cells[1] != 0 && t->words == 1 && !t->shallow;
    if (cells > room - room / 8) {
        nb->planted = false;
        if (nbody_tree_grow(nb, p, cells + cells / 4) != 0)
            return -1;
    }
    return cells > room;
}

int nbody_tree_check(struct nbody *nb)
{
    int status = 0;
    bool crowded = false;
    if (nb->parts)
        return nb->known ? nbody_parts_cut(nb) : 0;
    for (struct share *p = nb->share; status == 0 && p < nb->share + nb->ndev; p++)
        status = p->tree ? check_room(nb, p, &crowded) : 0;
    return status >= 0 && crowded && nbody_tree_deepen(nb) < 0 ? -1 : status;
}

/* Trees that have room, and are deep enough. Blocks. */
static int plant_with_room(struct nbody *nb, bool geometric)
{
    int status = 0;
    for (nb->planted = false; status >= 0 && !nb->planted;) {
        nb->planted = true;
        for (struct share *p = nb->share; status >= 0 && p < nb->share + nb->ndev; p++)
            status = p->tree ? plant(nb, p, geometric) : status;
        status = status >= 0 ? nbody_tree_check(nb) : -1;
    }
    return status;
}

static int first_sum(struct nbody *nb)
{
    const int status = nb->parts || plant_with_room(nb, true) == 0 ? sum_once(nb, FORCES, true) : -1;
    nb->known = status == 0;
    return status;
}

int nbody_tree_spread(struct nbody *nb)
{
    if (!nb->scattered && nb->current)
        return 0;
    nb->scattered = false;
    return nbody_exchange_begin(nb) != 0 || nbody_exchange_finish(nb) != 0 ? -1 : 0;
}

int nbody_tree_plant_now(struct nbody *nb)
{
    nb->current = true;
    return plant_with_room(nb, false) < 0 ? -1 : 0;
}

int nbody_tree_walk_some(struct nbody *nb, struct share *p, void *body, void *feel, cl_uint n)
{
    struct tree *t = p->tree;
    const struct tree all = *t;
    t->target.body = body;
    t->target.feel = feel;
    t->target.n = n;
    t->groups = (n + TREE_GROUP - 1) / TREE_GROUP;
    const int status = start_walks(nb, p, FORCES, false) != 0 ? -1 : start_walks_again(nb, p, FORCES, false);
    t->target = all.target;
    t->groups = all.groups;
    t->walking = status != 0; /* `again` is cleared by the caller */
    return status;
}

/* Within a burst nobody waits to see whether there is room (nbody_step does, at its end); parts always do. */
int nbody_tree_evaluate(struct nbody *nb, enum kernel sum)
{
    if (!nb->current) {
        nb->scattered = true;
        nb->planted = false;
    }
    nb->current = true;
    if (!nb->known && first_sum(nb) != 0)
        return -1;
    if (!nb->parts && !nb->planted && !nb->in_burst && plant_with_room(nb, false) != 0)
        return -1;
    return sum_once(nb, sum, false);
}
