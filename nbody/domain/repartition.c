/* repartition.c - rows move to the devices whose domains of the tree they lie in.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

/* Compute each device's present and preferred first row, both multiples of domain.grain: the first
 * of its domain, as far as the devices have room. Return false if a device would get no rows, or if
 * too few rows would move. */
static bool repartition_helps(const struct nbody *nb, const struct holder *all, size_t n,
                              size_t *had, size_t *get)
{
    const struct domains *s = nb->domain.tree;
    size_t off = 0, end = nb->padded;
    for (size_t k = 0; k < n; k++) {
        const size_t most = k ? get[k - 1] + all[k - 1].rows : 0;
        had[k] = all[k].first;
        get[k] = (s->begin[k] + nb->domain.grain / 2) / nb->domain.grain * nb->domain.grain;
        get[k] = get[k] < most ? get[k] : most;
    }
    for (size_t k = n; k-- > 0; end = get[k]) {
        get[k] = end > get[k] + all[k].rows ? end - all[k].rows : get[k];
        off += get[k] < had[k] ? had[k] - get[k] : get[k] - had[k];
        if ((end < nb->n ? end : nb->n) <= get[k])
            return false;
    }
    return off > nb->n / 512;
}

/* True once costs are known roughly, and again once the domains are balanced; later so rarely that
 * repartitions take 1 % of the time. With shares given by the caller, always true. */
static bool repartition_is_due(const struct nbody *nb, double now)
{
    const struct domains *s = nb->domain.tree;
    return s->balance_checks >= 3 && (nb->shares_given || s->repartition_seconds <= 0 ||
                                      (nbody_domain_balanced(nb) && !s->repartitioned) ||
                                      now - s->repartitioned_at > 100 * s->repartition_seconds);
}

/* Collective. Rows keep their numbers and move to the ranks that get them. */
static int repartition_move(struct nbody *nb, const size_t *had, const size_t *get)
{
    const size_t first = nbody_ranks_own_first(nb), count = nbody_ranks_own_rows(nb);
    struct route r = {.begin = NULL};
    int status = nbody_ranks_redivide(nb, get);
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = nbody_route_ranges(nb, &r, first, count, NULL);
    if (status == 0)
        status = world_reduce_status(nb->world, nbody_ranks_redivide(nb, had));
    if (status == 0)
        status = nbody_particles_permute(nb, &r, had, get);
    nbody_route_free(&r);
    return status;
}

int nbody_domain_repartition(struct nbody *nb)
{
    size_t n;
    const double began = seconds_now();
    if (!nb->domain.tree || !nb->force.a_old_valid)
        return 0;
    int32_t due = !nb->domain.tree->boundaries_changed && repartition_is_due(nb, began);
    if (world_broadcast(nb->world, 0, &due, sizeof due) != 0)
        return -1;
    if (!due)
        return 0;
    nb->domain.tree->repartitioned = nbody_domain_balanced(nb);
    struct holder *all = nbody_ranks_holders(nb, &n);
    size_t *had = calloc(2 * n, sizeof *had), *get = had ? had + n : NULL;
    const bool better = all && had && repartition_helps(nb, all, n, had, get);
    int status =
        all && had ? 0
                   : clerror_set(ENOMEM, "nbody: out of memory on the host for %zu bodies", nb->n);
    if (world_reduce_status(nb->world, status) != 0 ||
        (better && repartition_move(nb, had, get) != 0))
        status = -1;
    for (size_t k = 0; status == 0 && better && k < n; k++) {
        struct owner *o = &nb->domain.tree->owner[k];
        o->first = get[k];
        o->count = (k + 1 < n ? get[k + 1] : nb->n) - get[k];
    }
    free(all);
    free(had);
    if (better) {
        nbody_particles_moved(nb);
        nb->domain.tree->repartitioned_at = seconds_now();
        nb->domain.tree->repartition_seconds = nb->domain.tree->repartitioned_at - began;
    }
    return status;
}
