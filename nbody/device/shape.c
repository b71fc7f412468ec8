/* shape.c - launch parameters of a device, from the tuning store.
 *
 * A tuning entry is a text "KEY=NUMBER ..." with the keys of NBODY_SHAPE_KEYS (engine.h). The
 * layer's tuning store has entries for device families (tuning/nbody.json) and for devices that the
 * user has tuned. The caller's own words override the entry; a benchmark uses them for sweeps.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

#include "core/grid_barrier.h"
#include "core/round.h"
#include "core/untracked.h"

#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, least, most, value, text)                                                           \
    {#key, offsetof(struct nbody_shape, key), least, most, value, 0},
    NBODY_SHAPE_KEYS(X)
#undef X
        {0}};

/* ---- Checks. --------------------------------------------------------------------------------- */

static bool shape_power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static const char *shape_contradiction(const struct nbody_shape *s)
{
    if (!shape_power_of_two(s->width))
        return "width must be 1, 2, 4, 8 or 16";
    if (s->local && s->j_split * s->tile % s->group)
        return "with local=1 j_split times tile must be a multiple of group";
    if (s->block % s->tile)
        return "block must be a multiple of tile";
    if (s->moments != 0 && s->moments != 2 && s->moments != 4)
        return "moments must be 0, 2 or 4";
    if (!shape_power_of_two(s->second_group))
        return "second_group must be a power of two up to 32";
    return shape_power_of_two(s->group_1d) ? NULL : "group_1d must be a power of two from 8 up";
}

/* Properties that a shape must fit. */
struct shape_target {
    const struct cldev_info *info;
    size_t body_bytes; /* of a source body */
    size_t real;       /* of a number of the sums */
    size_t n;          /* bodies */
    bool tree;
};

enum { MAX_ITEMS = 64 };

/* Bytes of local memory that cell_write (tree.cl) takes with groups of `group_1d` items. */
static size_t cell_write_local_bytes(const struct nbody_shape *s)
{
    return (size_t)s->group_1d * (4 * (TREE_RUN + 1) + 2 * TREE_LEVELS + 1);
}

/* Complete a shape and check it against the device; the `fit` of cltune_choose. */
static int shape_fit(void *shape, int stored, void *device)
{
    (void)stored;
    struct nbody_shape *s = shape;
    const struct shape_target *d = device;
    const struct cldev_info *info = d->info;
    if (s->group % s->j_split) /* j_split of the entry, group of the caller */
        s->j_split = 1;
    if (s->fused_groups) { /* the fewest bodies per item with which these groups hold all */
        const size_t each = (size_t)s->fused_groups * (size_t)(s->group / s->j_split) *
                            (size_t)s->width,
                     items = divide_up(d->n, each);
        s->items = items < MAX_ITEMS ? (int)items : MAX_ITEMS;
    }
    const size_t plane = s->j_split > 1 ? (size_t)s->j_split * nbody_shape_group_bodies(s) * d->real
                                        : 0,
                 joint = 3 * plane <= 24576 ? 3 * plane : plane; /* REDUCE_PLANES in pairs.cl */
    const size_t bytes =
        joint + (s->local ? (size_t)s->j_split * (size_t)s->tile * d->body_bytes : 0);
    const char *reason = shape_contradiction(s);
    if (!info->dev_pref_vec_double)
        s->fp64 = 0;
    if (reason)
        return clerror_set(EINVAL, "nbody: shape: %s", reason);
    if ((size_t)s->group > info->dev_max_wg_sz || (size_t)s->group_1d > info->dev_max_wg_sz)
        return clerror_set(
            EINVAL, "nbody: shape: group=%d and group_1d=%d, but %s takes groups of at most %zu",
            s->group, s->group_1d, info->dev_name, info->dev_max_wg_sz);
    if (bytes > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "nbody: shape: tile=%d and j_split=%d need %zu bytes of local memory, %s has %llu",
            s->tile, s->j_split, bytes, info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    if (d->tree && cell_write_local_bytes(s) > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "nbody: shape: group_1d=%d needs %zu bytes of local memory with the tree, %s has %llu",
            s->group_1d, cell_write_local_bytes(s), info->dev_name,
            (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- Choice of an entry. --------------------------------------------------------------------- */

/* Name of the tree's kernel in the tuning store. With moments of fourth order most of the work is
 * done by cells, so it has entries of its own. */
static const char *shape_tree_kernel(const struct nbody *nb)
{
    const bool single = nb->precision == NBODY_SINGLE; /* the tree has no mixed precision */
    if (nbody_tree_needs_order_4(nb))
        return single ? "nbody.cells.single" : "nbody.cells.double";
    return single ? "nbody.walk.single" : "nbody.walk.double";
}

enum { DEFAULT_TREE_MIN = 40000 }; /* without an entry */

size_t nbody_shape_crossover(const struct nbody *nb)
{
    struct cltune_row row;
    if (!nb->ctx)
        return DEFAULT_TREE_MIN;
    if (cltune_find(nb->ctx, 0, shape_tree_kernel(nb), nb->n, &row) != 0)
        return 0;
    return (size_t)cltune_value(row.shape, "tree_min", DEFAULT_TREE_MIN);
}

/* True if the store has an entry of this name; *own: the user has tuned it, it is not shipped. */
static bool shape_has_entry(const struct nbody *nb, cl_uint dev, const char *name, bool *own)
{
    struct cltune_row row;
    if (cltune_find(nb->ctx, dev, name, nb->n, &row) != 0 || !*row.shape)
        return false;
    *own = strstr(row.source, ", measured on this device") != NULL;
    return true;
}

/* True if the store has an entry for multi-step launches and the engine can use them. */
static bool shape_has_fused_entry(const struct nbody *nb, cl_uint dev, const char *name, bool *own)
{
    struct cltune_row row;
    return name && !nb->fused_disabled && nbody_forces_can_fuse_steps(nb) &&
           shape_has_entry(nb, dev, name, own) &&
           cltune_find(nb->ctx, dev, name, nb->n, &row) == 0 &&
           cltune_value(row.shape, "fused_groups", 0) > 0;
}

/* Name of the sum's kernel in the tuning store. On some devices multi-step launches have entries of
 * their own, and so have equal masses, where the sum has no multiplication by the mass. An entry
 * that the user has tuned for the plain sum takes precedence over shipped entries of these. */
static const char *shape_sum_kernel(const struct nbody *nb, cl_uint dev)
{
    static const char *const equal = "nbody.equal.single", *const many[] = {"nbody.many.single",
                                                                            NULL,
                                                                            "nbody.many.mixed"};
    const struct sum *sum = nbody_forces_sum(nb);
    const char *usual = sum->name[nb->precision];
    bool own, usual_is_own = false;
    shape_has_entry(nb, dev, usual, &usual_is_own);
    if (shape_has_fused_entry(nb, dev, many[nb->precision], &own) && (own || !usual_is_own))
        return many[nb->precision];
    if (!nb->uniform || sum != nbody_forces_sum_of(FORCES) || nb->precision != NBODY_SINGLE ||
        !shape_has_entry(nb, dev, equal, &own))
        return usual;
    return own || !usual_is_own ? equal : usual;
}

int nbody_shape_choose(const struct nbody *nb, struct nbody_device *p,
                       const struct cldev_info *info, const char *words)
{
    const struct sum *sum = nbody_forces_sum(nb);
    struct shape_target device = {info,
                                  4 * nb->real * (size_t)(1 + sum->velocities + sum->accelerations),
                                  nb->real, nb->n, nb->method == NBODY_TREE};
    const struct cltune_rules rules = {
        .name = "nbody", .keys = keys, .fit = shape_fit, .arg = &device};
    const char *name =
        nb->method == NBODY_TREE ? shape_tree_kernel(nb) : shape_sum_kernel(nb, p->dev);
    p->fused_entry = strncmp(name, "nbody.many.", 11) == 0;
    return cltune_choose(&rules, nb->ctx, p->dev, name, nb->n, words, &p->shape, &p->tuning);
}

void nbody_shape_options(const struct nbody *nb, const struct nbody_device *p, bool doubles,
                         char *text, size_t size)
{
    const struct nbody_shape *s = &p->shape;
    snprintf(
        text, size,
        "-D GROUP=%d -D WIDTH=%d -D ITEMS=%d -D TILE=%d -D LOCAL=%d -D PREFETCH=%d -D J_SPLIT=%d -D UNROLL=%d -D BLOCK=%d "
        "-D RSQRT=%d -D CHAIN=%d -D UNIFORM=%d%s",
        s->group, s->width, s->items, s->tile, s->local, s->prefetch, s->j_split, s->unroll,
        s->block, s->rsqrt, p->force.all_chunks, nb->uniform,
        doubles                 ? " -D DOUBLE"
        : nbody_has_doubles(nb) ? " -D MIXED"
                                : "");
    if (nbody_is_clustered(nb) && !doubles)
        snprintf(text + strlen(text), size - strlen(text), " -D CLUSTER=%d", CLUSTER);
    if (nbody_forces_sum(nb)->velocities)
        strncat(text, " -D VELOCITIES", size - strlen(text) - 1);
}

int nbody_shape_cluster(struct nbody_shape *s)
{
    while (s->group / s->j_split * s->width > CLUSTER && s->group % 2 == 0 &&
           s->group / 2 % s->j_split == 0)
        s->group /= 2;
    const int lanes = s->group / s->j_split * s->width;
    while (s->items > 1 && CLUSTER % (lanes * s->items))
        s->items--;
    s->tile = (int)least_common_multiple((size_t)s->tile, CLUSTER_PIECE);
    if (CLUSTER % (lanes * s->items) == 0 && s->block % s->tile == 0)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody: shape: in mixed precision, from %d bodies on, group / j_split times width must divide %d, and block "
        "must be a multiple of tile=%d",
        s->cluster_min, CLUSTER, s->tile);
}

size_t nbody_shape_group_bodies(const struct nbody_shape *shape)
{
    return (size_t)(shape->group / shape->j_split) * (size_t)shape->width * (size_t)shape->items;
}

/* Describe the memory of an engine without devices. */
static void shape_open_host(struct nbody_device *p)
{
    p->shape = (struct nbody_shape){
#define X(key, least, most, value, text) .key = value,
        NBODY_SHAPE_KEYS(X)
#undef X
    };
    p->pace = pace_of(1e8);
    p->compute_units = 1;
}

int nbody_device_open(struct nbody *nb, const struct cldev_info *info, const char *words)
{
    if (!nb->ctx)
        return shape_open_host(nb->device), 0;
    for (cl_uint d = 0; d < nb->ndev; d++) {
        struct nbody_device *p = &nb->device[d];
        if (nbody_has_doubles(nb) && !info[d].dev_pref_vec_double)
            return clerror_set(ENOTSUP, "nbody_create: %s has no double precision",
                               info[d].dev_name);
        p->dev = d;
        p->pace = pace_of(1e8);
        p->compute_units = info[d].dev_max_core ? info[d].dev_max_core : 1;
        p->untracked = untracked_flag(nb->ctx, d);
        p->barrier_options = grid_barrier_options(nb->ctx, d, &info[d]);
        p->max_polls = grid_barrier_max_polls(&info[d]);
        if (nbody_shape_choose(nb, p, &info[d], words) != 0)
            return -1;
    }
    return 0;
}
