/* migrate.c - bodies migrate to the domains they lie in, for a sum; their forces return.
 *
 *   migrate   count, pack, exchange; unpack before the sort
 *   walks     (let.c, tree_walks.c)
 *   return    pack, exchange, receive
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

/* ---- Migration. ------------------------------------------------------------------------------ */

/* Number of work-groups that process a device's rows. */
static cl_uint migrate_groups(const struct nbody_device *p)
{
    return p->count ? nbody_tree_groups(p, p->count) : 1;
}

/* Compute the keys of a device's rows and count the rows that migrate to each domain. */
static int migrate_launch_count(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const size_t room = t->key_room - p->count;
    p->domain.nkeys_lower = p->domain.nkeys_lower < room ? p->domain.nkeys_lower : (cl_uint)room;
    const cl_uint count = (cl_uint)p->count, n = s->n, groups = migrate_groups(p);
    const struct arrays_scan_job scan = {.x = t->counts,
                                         .sums = t->counts,
                                         .total = t->cells,
                                         .bytes = 4,
                                         .most = (size_t)groups * n};
    if (nbody_tree_launch(nb, p, TREE_MIGRATE_COUNT, groups, (size_t)p->shape.group_1d,
                          ARGS(p->posm, count, p->domain.nkeys_lower, t->cube, s->boundary, n,
                               p->domain.index, t->key, t->order, groups, t->counts)) != 0)
        return -1;
    if (arrays_scan_start(t->sorter, &scan) != 0)
        return -1;
    if (nbody_tree_launch_1d(nb, p, TREE_SCAN_OFFSETS, n + 1,
                             ARGS(t->counts, groups, n, t->cells, p->domain.counts)) != 0)
        return -1;
    return 0;
}

static int migrate_start(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    if (s->boundaries_moved &&
        nbody_domain_upload(nb, p, s->boundary, s->n * sizeof *s->boundary) != 0)
        return -1;
    return migrate_launch_count(nb, p);
}

/* Pack the migrating rows. */
static int migrate_launch_pack(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint count = (cl_uint)p->count, n = s->n, groups = migrate_groups(p);
    for (cl_uint to = 0; to < n; to++) {
        const struct pair *const e = nbody_domain_pair(s, p->domain.index, to);
        if (e->migrants &&
            nbody_tree_launch(nb, p, TREE_MIGRATE_PACK, groups, (size_t)p->shape.group_1d,
                              ARGS(p->posm, t->a_old, count, p->domain.nkeys_lower, t->cube,
                                   s->boundary, n, t->order, groups, t->counts, to,
                                   e->block[MIGRANTS])) != 0)
            return -1;
    }
    return clflush(nb->ctx, p->dev, 0);
}

int nbody_domain_unpack_migrants(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    size_t low = 0, high = 0;
    cl_uint first = 0;
    for (cl_uint from = 0; from < s->n; from++)
        *(from < p->domain.index ? &low : &high) +=
            nbody_domain_pair(s, from, p->domain.index)->migrants;
    const size_t more = low + low / 2 + 64, own = p->count + high;
    const int grown = nbody_tree_reserve_keys(nb, p, own + more);
    if (grown < 0 || nbody_domain_reserve_received(nb, p, low + high) != 0)
        return -1;
    const size_t most = t->key_room - own;
    if (grown || low > p->domain.nkeys_lower || p->domain.nkeys_lower > most) {
        p->domain.nkeys_lower = (cl_uint)(more < most ? more : most);
        if (migrate_launch_count(nb, p) != 0)
            return -1;
    }
    if (nbody_domain_barrier(nb, p) != 0)
        return -1;
    cl_uint before = p->domain.nkeys_lower - (cl_uint)low,
            behind = p->domain.nkeys_lower + (cl_uint)p->count;
    for (cl_uint from = 0; from < s->n; from++) {
        const struct pair *const e = nbody_domain_pair(s, from, p->domain.index);
        const cl_uint count = e->migrants, to = from < p->domain.index ? before : behind;
        if (nbody_tree_launch_1d(nb, p, TREE_MIGRATE_UNPACK, count,
                                 ARGS(e->block[MIGRANTS], count, first, to, t->cube,
                                      p->domain.received, t->key, t->order)) != 0)
            return -1;
        first += count;
        *(from < p->domain.index ? &before : &behind) += count;
    }
    p->domain.nkeys = behind;
    return 0;
}

/* Compute the range of each domain from its rows and migrants, on all ranks. */
static int migrate_set_ranges(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    memset(s->numbers, 0, s->n * sizeof *s->numbers);
    EACH_TREE(nb, p)
    s->numbers[p->domain.index] = p->count;
    EACH_PAIR(s, e)
    {
        if (s->owner[e->to].device)
            s->numbers[e->to] += e->migrants;
        if (s->owner[e->from].device)
            s->numbers[e->from] -= e->migrants;
    }
    if (world_add(nb->world, s->numbers, s->n) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        s->begin[k + 1] = s->begin[k] + (cl_uint)s->numbers[k];
    return 0;
}

int nbody_domain_migrate(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (nbody_device_threads_all(nb, migrate_start) != 0)
        return -1;
    s->boundaries_moved = false;
    if (nbody_domain_exchange_counts(nb, TO_PAIRS, 1) != 0)
        return -1;
    EACH_PAIR(s, e)
    {
        const cl_uint *const begin = nbody_domain_pair_counts(s, e);
        e->migrants = begin[1] - begin[0];
        if (nbody_domain_reserve(nb, e, MIGRANTS, e->migrants) != 0 ||
            nbody_domain_reserve(nb, e, FORCE_SUMS, e->migrants) != 0)
            return -1;
        nbody_domain_add_block(nb, e, MIGRANTS, 0, e->migrants);
    }
    if (nbody_device_threads_all(nb, migrate_launch_pack) != 0 || migrate_set_ranges(nb) != 0)
        return -1;
    return nbody_domain_exchange(nb, NULL);
}

/* ---- Return of forces. ----------------------------------------------------------------------- */

/* Store the sums of the device's own rows, and pack the sums of migrated rows for their devices. */
static int return_launch_pack(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint rows = (cl_uint)p->rows, potentials = s->sum != FORCES;
    cl_uint first = 0;
    nbody_tree_scattered(p);
    if (nbody_tree_launch_1d(nb, p, TREE_RETURN_FORCES, t->bodies,
                             ARGS(t->forces_sorted, t->bodies, t->order, t->begin, rows, potentials,
                                  potentials ? p->force.phi : p->force.partial, t->a_old,
                                  p->domain.received, t->deferred, p->bad)) != 0)
        return -1;
    for (cl_uint from = 0; from < s->n; from++) {
        const struct pair *const e = nbody_domain_pair(s, from, p->domain.index);
        if (nbody_tree_launch_1d(
                nb, p, TREE_RETURN_PACK, e->migrants,
                ARGS(p->domain.received, first, e->migrants, e->block[FORCE_SUMS])) != 0)
            return -1;
        first += e->migrants;
    }
    return 0;
}

/* Store the returned sums of the device's migrated rows. */
static int return_launch_receive(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    const cl_uint rows = (cl_uint)p->rows, potentials = s->sum != FORCES;
    if (nbody_domain_barrier(nb, p) != 0)
        return -1;
    for (cl_uint to = 0; to < s->n; to++) {
        const struct pair *const e = nbody_domain_pair(s, p->domain.index, to);
        if (nbody_tree_launch_1d(nb, p, TREE_RECEIVE_FORCES, e->migrants,
                                 ARGS(e->block[FORCE_SUMS], e->migrants, e->block[MIGRANTS], rows,
                                      potentials, potentials ? p->force.phi : p->force.partial,
                                      p->force.tree->a_old, p->bad)) != 0)
            return -1;
    }
    return 0;
}

int nbody_domain_return(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    if (nbody_device_threads_all(nb, return_launch_pack) != 0)
        return -1;
    EACH_PAIR(s, e)
    nbody_domain_add_block(nb, e, FORCE_SUMS, 0, e->migrants);
    if (nbody_domain_exchange_return(nb) != 0)
        return -1;
    return nbody_device_threads_all(nb, return_launch_receive);
}
