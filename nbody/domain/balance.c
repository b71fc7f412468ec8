/* balance.c - load balancing: the domain boundaries move to equal the costs of the walks, which are
 * estimated from their interactions and weighted with the measured speed of each device.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include <math.h>

/* Collective. Set the numbers of 64 bits that other ranks have: each is nonzero on one rank. */
static int domain_spread_numbers(struct nbody *nb, void *numbers)
{
    return world_add(nb->world, numbers, nb->domain.tree->n);
}

/* Return the estimated cost of a group: instructions per body of its walk, plus a constant for the
 * other work per group (a fifth of the total with 2^24 bodies on an H200). */
static double group_cost(const struct nbody *nb, const cl_uint *info)
{
    return (nb->moments == 2 ? 32.0 : 110.0) * info[0] + 13.0 * info[1] + 9000;
}

/* Return the first group that begins in this domain. */
static cl_uint domain_first_group(const struct tree *t)
{
    return (t->begin + TREE_GROUP - 1) / TREE_GROUP;
}

/* Return the group whose beginning is nearest to the accumulated cost `wanted` (never past the last
 * group); before: cost of all lower domains. */
static cl_uint domain_group_at_cost(const struct nbody *nb, const struct tree *t, double wanted,
                                    double before)
{
    const cl_uint(*info)[4] = t->info;
    cl_uint g = domain_first_group(t);
    while (g + 1 < t->first_group + t->groups && before + group_cost(nb, info[g]) / 2 < wanted)
        before += group_cost(nb, info[g++]);
    return g;
}

/* Compute the costs of all domains. */
static int domain_costs(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    memset(s->cost, 0, s->n * sizeof *s->cost);
    EACH_TREE(nb, p)
    {
        const struct tree *t = p->force.tree;
        const cl_uint(*info)[4] = t->info;
        if (t->groups && nbody_device_download(nb, p, (void *)(uintptr_t)(info + t->first_group),
                                               t->groups * sizeof *info) != 0)
            return -1;
        for (cl_uint g = domain_first_group(t); g < t->first_group + t->groups; g++)
            s->cost[p->domain.index] += group_cost(nb, info[g]);
    }
    return domain_spread_numbers(nb, s->cost);
}

/* shorter walks measure the host rather than the device */
static const double LEAST_SECONDS = 4e-3;

/* Update the relative speeds of the devices from cost and duration of the last walks. The new
 * value is smoothed (weight 1/2, later 1/8) and limited to 0.9 to 1.1, because costs are estimates
 * and times vary on a busy machine. Changes nothing until the walks of every domain take more than
 * LEAST_SECONDS each. With shares given by the caller, nothing depends on measured times. */
static int domain_update_speeds(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    double mean = 0;
    bool all = true;
    for (cl_uint k = 0; k < s->n; k++)
        s->rate[k] = !nb->shares_given && s->owner[k].device && s->owner[k].walks &&
                             s->owner[k].walk_seconds > LEAST_SECONDS * s->owner[k].walks
                         ? s->cost[k] * s->owner[k].walks / s->owner[k].walk_seconds
                         : 0;
    if (domain_spread_numbers(nb, s->rate) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++) {
        all &= s->rate[k] > 0;
        mean += s->rate[k] / s->owner[k].fraction / s->n;
    }
    for (cl_uint k = 0; all && k < s->n; k++) {
        const double now = s->rate[k] / s->owner[k].fraction / mean;
        s->owner[k].speed +=
            (fmin(fmax(now, 0.9), 1.1) - s->owner[k].speed) / (nbody_domain_balanced(nb) ? 8 : 2);
        s->owner[k].walk_seconds = 0;
        s->owner[k].walks = 0;
    }
    return 0;
}

/* Return a domain's wanted cost, not normalised. */
static double domain_target(const struct domains *s, cl_uint domain)
{
    return s->owner[domain].fraction * s->owner[domain].speed;
}

/* Return the body (index from t->begin) at which a group's boundary is placed: if possible a
 * multiple of nb->domain.grain, so that a device can integrate just the bodies of its domain. */
static cl_uint domain_boundary_body(const struct nbody *nb, const struct tree *t, cl_uint group)
{
    const cl_uint first = t->base + t->begin;
    const size_t body = t->base + group * TREE_GROUP,
                 even = body / nb->domain.grain * nb->domain.grain;
    return (cl_uint)((t->bodies / 64 > nb->domain.grain && even > first ? even : body) - first);
}

/* Find the keys of the bodies at the boundaries that fall into this domain; unit: cost per unit of
 * domain_target. */
static int domain_find_boundaries(struct nbody *nb, struct nbody_device *p, double unit)
{
    struct tree *t = p->force.tree;
    const struct domains *s = nb->domain.tree;
    double before = 0, target = 0;
    for (cl_uint k = 0; k < p->domain.index; k++)
        before += s->cost[k];
    for (cl_uint k = 0; k < s->n; target += domain_target(s, k++)) {
        const double at = unit * target;
        t->boundary_bodies[k] =
            k == 0 || at < before || at >= before + s->cost[p->domain.index]
                ? (cl_uint)-1
                : domain_boundary_body(nb, t, domain_group_at_cost(nb, t, at, before));
    }
    if (nbody_domain_upload(nb, p, t->boundary_bodies, s->n * sizeof(cl_uint)) != 0 ||
        nbody_tree_launch_1d(
            nb, p, TREE_BOUNDARY_KEYS, s->n,
            ARGS(t->body, t->begin, t->cube, t->boundary_bodies, s->n, t->boundary_keys)) != 0 ||
        nbody_device_download(nb, p, t->boundary_keys, s->n * sizeof(cl_ulong)) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        if (t->boundary_bodies[k] != (cl_uint)-1)
            s->numbers[k] = ((const cl_ulong *)t->boundary_keys)[k];
    return 0;
}

/* True if a domain's cost exceeds its target by more than 0.4 %. */
static bool domains_are_unbalanced(const struct domains *s, double unit)
{
    bool any = false;
    for (cl_uint k = 0; k < s->n; k++)
        any |= s->cost[k] > 1.004 * unit * domain_target(s, k);
    return any;
}

int nbody_domain_balance(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    double all = 0, targets = 0;
    s->balance_checks++;
    if (domain_costs(nb) != 0 || domain_update_speeds(nb) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++) {
        all += s->cost[k];
        targets += domain_target(s, k);
    }
    if (!domains_are_unbalanced(s, all / targets))
        return 0;
    memset(s->numbers, 0, s->n * sizeof *s->numbers);
    EACH_TREE(nb, p)
    if (p->force.tree->groups && domain_find_boundaries(nb, p, all / targets) != 0)
        return -1;
    if (domain_spread_numbers(nb, s->numbers) != 0)
        return -1;
    s->boundaries_changed = s->boundaries_moved = true;
    for (cl_uint k = 1; k < s->n; k++)
        s->boundary[k] = s->numbers[k] > s->boundary[k - 1] ? s->numbers[k] : s->boundary[k - 1];
    return 0;
}

bool nbody_domain_balanced(const struct nbody *nb)
{
    return !nb->domain.tree || nb->domain.tree->balance_checks > 8;
}
