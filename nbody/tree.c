/* tree.c - forces by a tree (Barnes & Hut 1986, Nature 324, 446), on all devices.
 *
 * Every device makes the tree of all bodies, and sums for its own groups of them; then all get all sums, as with positions
 * in exchange.c, and each keeps those of the bodies that it moves. A tree holds until bodies move. Sums depend on the tree
 * alone, so that the number of devices changes no bit.
 *
 * The first sum opens cells by their angle, since accelerations are not known yet, and is then repeated with them.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include <limits.h>
#include <math.h>

/* ---- Launches. -------------------------------------------------------------------------------- */

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static int launch(const struct nbody *nb, const struct share *p, enum tree_kernel k, size_t groups, size_t group,
                  cl_uint nargs, const struct stdcl_arg *args)
{
    clndrange_t ndr = clndrange_init1d(0, groups * group, group);
    if (groups == 0)
        return 0;
    cl_event ev = clforkv(nb->ctx, p->dev, p->tree->kernel[k], &ndr, nb->flags | CL_EVENT_CHECKED, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

/* An item for each of n. */
static int visit(const struct nbody *nb, const struct share *p, enum tree_kernel k, size_t n, cl_uint nargs,
                 const struct stdcl_arg *args)
{
    const size_t flat = (size_t)p->shape.flat;
    return launch(nb, p, k, round_up(n, flat) / flat, flat, nargs, args);
}

/* ---- The tree. -------------------------------------------------------------------------------- */

/* The bodies' keys, a word of them, and the order by this word and what order there was. */
static int start_word(struct nbody *nb, struct share *p, cl_uint word, cl_uint again)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const struct stdcl_arg keys[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n),      BLOCK_ARG(t->cube), VALUE_ARG(word),
                                     VALUE_ARG(again),    BLOCK_ARG(t->key), BLOCK_ARG(t->order)};
    const struct arrays_sort_job sort = {
        .keys = t->key, .values = t->order, .bytes = 8, .bits = 3 * TREE_LEVELS, .most = nb->n, .work = t->sort};
    return visit(nb, p, TREE_KEYS, nb->n, COUNT_OF(keys), keys) != 0 ? -1 : arrays_sort_start(t->sorter, &sort);
}

/* By the last word first. */
static int start_order(struct nbody *nb, struct share *p)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, last = 1, again = 1;
    const struct stdcl_arg box[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n), BLOCK_ARG(t->part)};
    const struct stdcl_arg frame[] = {BLOCK_ARG(t->part), VALUE_ARG(t->parts), BLOCK_ARG(t->cube)};
    const struct stdcl_arg second[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n),         BLOCK_ARG(t->cube), VALUE_ARG(last),
                                       VALUE_ARG(again),    BLOCK_ARG(t->second), BLOCK_ARG(t->order)};
    if (launch(nb, p, TREE_BOX, t->parts, (size_t)p->shape.flat, COUNT_OF(box), box) != 0 ||
        launch(nb, p, TREE_FRAME, 1, (size_t)p->shape.flat, COUNT_OF(frame), frame) != 0)
        return -1;
    if (t->words == 1)
        return start_word(nb, p, 0, false);
    return start_word(nb, p, 1, false) != 0 || start_word(nb, p, 0, true) != 0
               ? -1
               : visit(nb, p, TREE_KEYS, nb->n, COUNT_OF(second), second);
}

/* Bodies in the tree's order; sums have taken their place since they were last there. */
static int start_bodies(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const struct stdcl_arg gather[] = {BLOCK_ARG(nb->posm), VALUE_ARG(n), BLOCK_ARG(t->order), BLOCK_ARG(t->body)};
    t->gathered = true;
    return visit(nb, p, TREE_GATHER, nb->n, COUNT_OF(gather), gather);
}

static int start_cells(struct nbody *nb, struct share *p)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const cl_int sum = nb->in_burst ? (cl_int)nb->sum : -1;
    const struct stdcl_arg count[] = {BLOCK_ARG(t->key),  BLOCK_ARG(t->second), VALUE_ARG(n), VALUE_ARG(t->runs),
                                      BLOCK_ARG(t->count), BLOCK_ARG(t->cells)};
    const struct stdcl_arg write[] = {BLOCK_ARG(t->key),   BLOCK_ARG(t->second), BLOCK_ARG(t->body),  VALUE_ARG(n),
                                      VALUE_ARG(t->runs),  BLOCK_ARG(t->count),  BLOCK_ARG(t->cells), VALUE_ARG(t->room),
                                      BLOCK_ARG(t->base),  BLOCK_ARG(t->link),   BLOCK_ARG(t->down),
                                      VALUE_ARG(sum),      BLOCK_ARG(p->bad)};
    const struct arrays_scan_job scan = {.x = t->count,
                                         .sums = t->count,
                                         .total = t->cells,
                                         .bytes = 4,
                                         .most = (size_t)t->runs * (t->words * TREE_LEVELS + 1)};
    if (visit(nb, p, TREE_COUNT, t->runs, COUNT_OF(count), count) != 0 || arrays_scan_start(t->sorter, &scan) != 0)
        return -1;
    return visit(nb, p, TREE_WRITE, t->runs, COUNT_OF(write), write);
}

/* Measured for Plummer spheres of 10^4 to 2^17 bodies on a CPU, with moments up to second order: the 99th percentile of errors
 * is 2.9e-3 (theta / 0.75)^4 with the geometric criterion, and 7.2e-4 (alpha / 6.5e-3)^0.79 with the relative one. Two thirds
 * of the accuracy that is asked for is aimed at, for bodies that lie less well. Up to fourth order it is 2.5e-4
 * (alpha / 8.7e-3)^0.8. */
static double relative(const struct nbody *nb, int moments)
{
    const double second = 6.5e-3 * pow(nb->accuracy / 1.1e-3, 1 / 0.79), fourth = 8.7e-3 * pow(nb->accuracy / 4.2e-4, 1 / 0.8);
    return fmin(moments == 2 ? second : fourth, 0.5);
}

/* The first sum, by angle, need not be better than to a thousandth, as it only tells how large accelerations are. */
static double opening(const struct nbody *nb, bool geometric)
{
    return geometric ? fmax(fmin(0.75 * pow(nb->accuracy / 2.9e-3, 0.25), 1), 0.6) : relative(nb, nb->moments);
}

double nbody_tree_blur(const struct nbody *nb)
{
    const double ulp = ldexp(1, nb->precision == NBODY_DOUBLE ? -53 : -24), part = relative(nb, 2);
    const double mass = ldexp(nb->mass, 2 * nb->units.time - 3 * nb->units.length);
    const double off = pow(2 * ulp / part, 2.0 / 3);
    return mass <= 0 ? 0 : nb->moments == 2 ? off * sqrt(part) * pow(mass, -1.0 / 6) : off * cbrt(opening(nb, false) / mass);
}

static int start_moments(struct nbody *nb, struct share *p, cl_uint geometric)
{
    const struct tree *t = p->tree;
    REAL_NUMBER(blur, nbody_tree_blur(nb));
    const size_t flat = (size_t)p->shape.flat, most = round_up(nb->n, flat) / flat, some = 16 * (size_t)p->units;
    const cl_uint last = t->words * TREE_LEVELS;
    for (cl_uint level = last + 1; level-- > 0;) {
        const struct stdcl_arg args[] = {BLOCK_ARG(t->body), BLOCK_ARG(t->cube), VALUE_ARG(level), VALUE_ARG(geometric),
                                         REAL_ARG(nb, blur), BLOCK_ARG(t->base), BLOCK_ARG(t->down), BLOCK_ARG(t->link),
                                         BLOCK_ARG(t->com),  BLOCK_ARG(t->poles), BLOCK_ARG(t->size)};
        if (launch(nb, p, level == last ? TREE_MOMENTS_LAST : TREE_MOMENTS, most < some ? most : some,
                   level == last ? TREE_CROWD_PARTS : flat, COUNT_OF(args), args) != 0)
            return -1;
    }
    return 0;
}

/* ---- Walks. ----------------------------------------------------------------------------------- */

/* So many times what a group usually meets. */
static cl_uint usual(const struct nbody *nb, double times)
{
    const double alpha = opening(nb, false), met = nb->moments == 2 ? 250 * pow(alpha, -0.41) : 500 * pow(alpha, -0.226);
    return (cl_uint)fmin(times * met, 1e9);
}

double nbody_tree_work(const struct nbody *nb, size_t bodies)
{
    const double alpha = opening(nb, false);
    return (nb->moments == 2 ? 15000 * pow(alpha, -0.41) : 90000 * pow(alpha, -0.226)) * (double)bodies;
}

/* The walks of some groups; room: that each has for its lists. The second and third launches are for those that were put
 * off. */
static int walk_some(struct nbody *nb, struct share *p, enum kernel sum, cl_uint geometric, cl_uint from, cl_uint groups,
                     void *lists, cl_uint room, int which)
{
    const struct tree *t = p->tree;
    const enum tree_kernel walk = sum == FORCES ? TREE_WALK : TREE_WALK_POTENTIALS;
    const cl_uint n = (cl_uint)nb->n, shared = (cl_uint)nbody_tree_shared(nb, p), most = usual(nb, 0.1 * p->shape.limit);
    bool none;
    REAL_NUMBER(eps2, nbody_forces_softening(nb, FORCES, &none));
    REAL_NUMBER(zero, none ? eps2 : -1);
    REAL_NUMBER(open, opening(nb, geometric));
    const struct stdcl_arg args[] = {
        BLOCK_ARG(t->body),     VALUE_ARG(n),         BLOCK_ARG(t->order),   BLOCK_ARG(t->link),     BLOCK_ARG(t->com),
        BLOCK_ARG(t->poles),     BLOCK_ARG(t->size),   BLOCK_ARG(t->base),    BLOCK_ARG(t->felt), REAL_ARG(nb, open),
        VALUE_ARG(geometric),   REAL_ARG(nb, eps2),   REAL_ARG(nb, zero),    VALUE_ARG(from),        VALUE_ARG(most),
        BLOCK_ARG(t->turn),     BLOCK_ARG(t->info),   BLOCK_ARG(t->again),   BLOCK_ARG(nb->pulled),  BLOCK_ARG(p->bad),
        BLOCK_ARG(lists),       VALUE_ARG(room),      BLOCK_ARG(t->shared),  VALUE_ARG(shared)};
    const size_t items = (size_t)nbody_tree_items(&p->shape);
    const size_t launched[] = {groups, 32 * (size_t)p->units, shared * TREE_GROUP / items};
    return launch(nb, p, (enum tree_kernel)((int)walk + which), launched[which], items, COUNT_OF(args), args);
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
    const cl_uint much = nb->known ? usual(nb, 1.3) : UINT_MAX;
    const struct stdcl_arg turns[] = {BLOCK_ARG(t->info), VALUE_ARG(t->from),  VALUE_ARG(t->groups),
                                      VALUE_ARG(much),    BLOCK_ARG(t->again), BLOCK_ARG(t->turn)};
    return visit(nb, p, TREE_TURNS, t->groups, COUNT_OF(turns), turns);
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
    if (walk_some(nb, p, sum, geometric, 0, 0, t->info, 0, 1) != 0 ||
        walk_some(nb, p, sum, geometric, 0, 0, t->info, 0, 2) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
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
    const struct stdcl_arg forces[] = {BLOCK_ARG(nb->pulled), VALUE_ARG(n), BLOCK_ARG(t->order), BLOCK_ARG(t->body),
                                       BLOCK_ARG(t->again)};
    const struct stdcl_arg planes[] = {BLOCK_ARG(t->body), VALUE_ARG(n),          VALUE_ARG(first),  VALUE_ARG(rows),
                                       VALUE_ARG(count),   BLOCK_ARG(p->partial), BLOCK_ARG(t->felt),  BLOCK_ARG(p->bad)};
    const struct stdcl_arg potentials[] = {BLOCK_ARG(nb->pulled), VALUE_ARG(n),      BLOCK_ARG(t->order),
                                           VALUE_ARG(first),      VALUE_ARG(count),  BLOCK_ARG(p->phi),
                                           BLOCK_ARG(t->again)};
    t->gathered = t->walking = false;
    if (sum == FORCES)
        return visit(nb, p, TREE_SCATTER, nb->n, COUNT_OF(forces), forces) == 0
                   ? visit(nb, p, TREE_PLANES, nb->n, COUNT_OF(planes), planes)
                   : -1;
    return visit(nb, p, TREE_SCATTER_POTENTIALS, nb->n, COUNT_OF(potentials), potentials);
}

/* ---- Several devices. ------------------------------------------------------------------------- */

static int copy_pulled(struct nbody *nb, const struct share *from, cl_uint dev, int flags)
{
    const struct tree *t = from->tree;
    const size_t first = (size_t)t->from * TREE_GROUP, end = first + (size_t)t->groups * TREE_GROUP;
    const size_t bytes = 4 * nb->real;
    if (!t->groups)
        return 0;
    return clmsyncn(nb->ctx, dev, (char *)nb->pulled + first * bytes, ((end < nb->n ? end : nb->n) - first) * bytes,
                    flags) == (cl_event)-1 ? -1 : 0;
}

/* Each device's sums to all others, by way of the host, whose copy holds until all of them have sent positions again. */
static int exchange(struct nbody *nb)
{
    struct share *const end = nb->share + nb->ndev;
    if (nbody_devices(nb) < 2)
        return 0;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && copy_pulled(nb, p, p->dev, CL_MEM_HOST | CL_EVENT_NOWAIT) != 0)
            return -1;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && nbody_device_wait(nb, p) != 0)
            return -1;
    for (struct share *p = nb->share; p < end; p++)
        for (struct share *q = nb->share; p->tree && q < end; q++)
            if (q != p && q->tree && copy_pulled(nb, q, p->dev, CL_MEM_DEVICE) != 0)
                return -1;
    return 0;
}

/* ---- Sums. ------------------------------------------------------------------------------------ */

static int plant(struct nbody *nb, struct share *p, bool geometric)
{
    return start_order(nb, p) != 0 || start_bodies(nb, p) != 0 || start_cells(nb, p) != 0 ||
                   start_moments(nb, p, geometric) != 0
               ? -1
               : 0;
}

int nbody_tree_plant(struct nbody *nb, struct share *p)
{
    return plant(nb, p, false);
}

static int sum_once(struct nbody *nb, enum kernel sum, bool geometric)
{
    struct share *const end = nb->share + nb->ndev;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && ((!nb->planted && plant(nb, p, geometric) != 0) ||
                        (!p->tree->gathered && start_bodies(nb, p) != 0) || start_walks(nb, p, sum, geometric) != 0))
            return -1;
    nb->planted = !geometric;
    if (exchange(nb) != 0)
        return -1;
    for (struct share *p = nb->share; p < end; p++)
        if (p->tree && start_scatter(nb, p, sum) != 0)
            return -1;
    return 0;
}

int nbody_tree_check(struct nbody *nb)
{
    int status = 0;
    bool crowded = false;
    for (struct share *p = nb->share; status == 0 && p < nb->share + nb->ndev; p++) {
        if (!p->tree)
            continue;
        if (nbody_device_fetch(nb, p, p->tree->cells, 2 * sizeof *p->tree->cells) != 0)
            return -1;
        const cl_uint cells = p->tree->cells[0], room = p->tree->room;
        crowded |= p->tree->cells[1] != 0 && p->tree->words == 1 && !p->tree->shallow;
        if (cells > room)
            status = 1;
        if (cells > room - room / 8 && nbody_tree_grow(nb, p, cells + cells / 4) != 0)
            return -1;
        if (cells > room - room / 8)
            nb->planted = false;
    }
    if (crowded && nbody_tree_deepen(nb) < 0)
        return -1;
    return status == 0 && nb->known ? nbody_tree_divide(nb) : status;
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
    const int status = plant_with_room(nb, true) == 0 ? sum_once(nb, FORCES, true) : -1;
    nb->known = status == 0;
    return status;
}

/* Within a burst nobody waits to see whether there is room (nbody_step does, at its end). */
int nbody_tree_evaluate(struct nbody *nb, enum kernel sum)
{
    if (!nb->current) {
        if (nbody_exchange_begin(nb) != 0 || nbody_exchange_finish(nb) != 0)
            return -1;
        nb->planted = false;
    }
    nb->current = true;
    if ((!nb->known && first_sum(nb) != 0) || (!nb->planted && !nb->in_burst && plant_with_room(nb, false) != 0))
        return -1;
    return sum_once(nb, sum, false);
}
