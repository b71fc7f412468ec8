/* tree_build.c - cells and their moments on one device; launches of the tree's kernels.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

#include <math.h>

/* ---- Launches. ------------------------------------------------------------------------------- */

int nbody_tree_launch(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                      size_t groups, size_t group, cl_uint nargs, const struct stdcl_arg *args)
{
    clndrange_t ndr = clndrange_init1d(0, groups * group, group);
    if (groups == 0)
        return 0;
    cl_event ev = clforkv(nb->ctx, p->dev, p->force.tree->kernel[k], &ndr,
                          nb->flags | CL_EVENT_CHECKED | p->untracked, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_tree_launch_1d(const struct nbody *nb, const struct nbody_device *p, enum tree_kernel k,
                         size_t n, cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t flat = (size_t)p->shape.group_1d;
    return nbody_tree_launch(nb, p, k, divide_up(n, flat), flat, nargs, args);
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

int nbody_tree_count(struct nbody *nb, struct nbody_device *p, struct key_range r)
{
    const struct tree *t = p->force.tree;
    const struct arrays_scan_job scan = {.x = t->counts,
                                         .sums = t->counts,
                                         .total = t->cells,
                                         .bytes = 4,
                                         .most =
                                             (size_t)t->runs * (t->key_words * TREE_LEVELS + 1)};
    if (nbody_tree_launch(nb, p, TREE_COUNT, nbody_tree_groups(p, t->bodies),
                          (size_t)p->shape.group_1d,
                          ARGS(t->keys, t->keys_lo, r.lo, r.n, r.from, r.to, t->runs, t->counts,
                               t->cells, t->shared_node)) != 0)
        return -1;
    return arrays_scan_start(t->sorter, &scan);
}

int nbody_tree_write(struct nbody *nb, struct nbody_device *p, struct key_range r)
{
    const struct tree *t = p->force.tree;
    const cl_int sum = nb->force.index;
    const cl_uint extend_keys = t->key_words == 1 && !t->cannot_extend_keys && !nb->domain.tree;
    return nbody_tree_launch(
        nb, p, TREE_WRITE, nbody_tree_groups(p, t->bodies), (size_t)p->shape.group_1d,
        ARGS(t->keys, t->keys_lo, t->body, r.lo, r.n, r.from, r.to, t->begin, t->runs, t->counts,
             t->cells, t->top_cells, t->capacity, t->span, t->shared_node, t->link, t->child_begin,
             extend_keys, sum, p->bad));
}

/* Return alpha of the relative criterion for the requested accuracy. The 99th percentile of
 * errors, measured for Plummer spheres of 10^4 to 2^17 bodies, is 2.9e-3 (theta / 0.75)^4 with the
 * geometric criterion, 7.2e-4 (alpha / 6.5e-3)^0.79 with the relative criterion and moments up to
 * second order, and 2.5e-4 (alpha / 8.7e-3)^0.8 up to fourth order. The formulas aim at two thirds
 * of the requested accuracy, as a margin for less regular distributions. */
static double tree_opening_alpha(const struct nbody *nb, int moments)
{
    const double second = 6.5e-3 * pow(nb->accuracy / 1.1e-3, 1 / 0.79),
                 fourth = 8.7e-3 * pow(nb->accuracy / 4.2e-4, 1 / 0.8);
    return fmin(moments == 2 ? second : fourth, 0.5);
}

/* The first sum uses the geometric criterion and only estimates |a|, so an accuracy of 1e-3
 * suffices. */
double nbody_tree_opening(const struct nbody *nb, bool geometric)
{
    return geometric ? fmax(fmin(0.75 * pow(nb->accuracy / 2.9e-3, 0.25), 1), 0.6)
                     : tree_opening_alpha(nb, nb->moments);
}

cl_uint nbody_tree_expected_interactions(const struct nbody *nb, double factor)
{
    const double alpha = nbody_tree_opening(nb, false),
                 expected = nb->moments == 2 ? 250 * pow(alpha, -0.41) : 500 * pow(alpha, -0.226);
    return (cl_uint)fmin(factor * expected, 1e9);
}

double nbody_tree_com_margin(const struct nbody *nb)
{
    const double ulp = ldexp(1, nb->precision == NBODY_DOUBLE ? -53 : -24),
                 part = tree_opening_alpha(nb, 2);
    const double mass = ldexp(nb->mass, 2 * nb->units.time - 3 * nb->units.length);
    const double off = pow(2 * ulp / part, 2.0 / 3);
    return mass <= 0          ? 0
           : nb->moments == 2 ? off * sqrt(part) * pow(mass, -1.0 / 6)
                              : off * cbrt(nbody_tree_opening(nb, false) / mass);
}

int nbody_tree_moments(struct nbody *nb, struct nbody_device *p, cl_uint geometric)
{
    const struct tree *t = p->force.tree;
    const double com_margin = nbody_tree_com_margin(nb);
    const size_t flat = (size_t)p->shape.group_1d, most = round_up(t->bodies, flat) / flat,
                 some = 16 * (size_t)p->compute_units;
    const cl_uint last = t->key_words * TREE_LEVELS;
    for (cl_uint level = last + 1; level-- > 0;) {
        if (nb->domain.tree && p->domain.cells_on_level[level] == 0)
            continue;
        if (nbody_tree_launch(nb, p, level == last ? TREE_MOMENTS_LAST : TREE_MOMENTS,
                              most < some ? most : some, level == last ? TREE_OVERFLOW_ITEMS : flat,
                              ARGS(t->body, t->cube, level, geometric, REAL(nb, com_margin),
                                   t->span, t->shared_node, t->child_begin, t->link, t->com,
                                   t->multipoles, t->size)) != 0)
            return -1;
    }
    return 0;
}

void nbody_tree_set_range(const struct nbody *nb, struct nbody_device *p, cl_uint first,
                          cl_uint bodies)
{
    struct tree *t = p->force.tree;
    t->base = nbody_tree_base(first);
    t->begin = first - t->base;
    t->bodies = bodies;
    t->runs = (bodies + TREE_RUN - 1) / TREE_RUN;
    t->first_group = t->begin / TREE_GROUP;
    t->groups = bodies ? (t->begin + bodies - 1) / TREE_GROUP + 1 - t->first_group : 0;
    t->target.n = (cl_uint)nb->n - t->base;
    t->body_valid = true;
}
