/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (see NBODY_SHAPE_KEYS in engine.h). The layer's
 * tuning store has them, as words "KEY=NUMBER ...", for kinds of devices (tuning/nbody.json) and
 * for devices that were measured; the caller's own words, by which a benchmark sweeps, come on top.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/round.h"

#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, least, most, value, text)                                                           \
    {#key, offsetof(struct nbody_shape, key), least, most, value, 0},
    NBODY_SHAPE_KEYS(X)
#undef X
        {0}};

/* ---- Numbers that do not go together. -------------------------------------------------------- */

static bool power_of_two(int n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static const char *contradiction(const struct nbody_shape *s)
{
    if (!power_of_two(s->width))
        return "width must be 1, 2, 4, 8 or 16";
    if (s->local && s->deep * s->tile % s->group)
        return "with local=1 deep times tile must be a multiple of group";
    if (s->block % s->tile)
        return "block must be a multiple of tile";
    if (s->moments != 0 && s->moments != 2 && s->moments != 4)
        return "moments must be 0, 2 or 4";
    if (!power_of_two(s->again))
        return "again must be a power of two up to 32";
    return power_of_two(s->flat) ? NULL : "flat must be a power of two from 8 up";
}

struct device {
    const struct cldev_info *info;
    size_t body_bytes; /* of an attracting body */
    size_t real;       /* of a number that is summed */
    size_t n;          /* bodies */
    bool tree;
};

enum { MOST_ITEMS = 64 };

/* Local memory of `flat` items that find cells, as cell_write in tree.cl. */
static size_t local_bytes_of_cells(const struct nbody_shape *s)
{
    return (size_t)s->flat * (4 * (TREE_RUN + 1) + 2 * TREE_LEVELS + 1);
}

static int fit(void *shape, int stored, void *device)
{
    (void)stored;
    struct nbody_shape *s = shape;
    const struct device *d = device;
    const struct cldev_info *info = d->info;
    if (s->group % s->deep) /* of a row, and the group the caller's */
        s->deep = 1;
    if (s->meet) { /* as few rows as `meet` groups need to have all bodies */
        const size_t each = (size_t)s->meet * (size_t)(s->group / s->deep) * (size_t)s->width,
                     items = divide_up(d->n, each);
        s->items = items < MOST_ITEMS ? (int)items : MOST_ITEMS;
    }
    const size_t plane = s->deep > 1 ? (size_t)s->deep * nbody_shape_rows(s) * d->real : 0,
                 joint = 3 * plane <= 24576 ? 3 * plane : plane; /* JOINT_OF in pairs.cl */
    const size_t bytes = joint + (s->local ? (size_t)s->deep * (size_t)s->tile * d->body_bytes : 0);
    const char *reason = contradiction(s);
    if (!info->dev_pref_vec_double)
        s->fp64 = 0;
    if (reason)
        return clerror_set(EINVAL, "nbody: shape: %s", reason);
    if ((size_t)s->group > info->dev_max_wg_sz || (size_t)s->flat > info->dev_max_wg_sz)
        return clerror_set(EINVAL,
                           "nbody: shape: group=%d and flat=%d, but %s takes groups of at most %zu",
                           s->group, s->flat, info->dev_name, info->dev_max_wg_sz);
    if (bytes > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL, "nbody: shape: tile=%d and deep=%d need %zu bytes of local memory, %s has %llu",
            s->tile, s->deep, bytes, info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    if (d->tree && local_bytes_of_cells(s) > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "nbody: shape: flat=%d needs %zu bytes of local memory with the tree, %s has %llu",
            s->flat, local_bytes_of_cells(s), info->dev_name,
            (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- What the rest of the engine calls. ------------------------------------------------------ */

/* The tree's in the tuning store: where moments of cells go up to fourth order cells are most of
 * the work. */
static const char *tree_name(const struct nbody *nb)
{
    const bool single = nb->precision == NBODY_SINGLE; /* there is none for mixed */
    if (nbody_tree_needs_order_4(nb))
        return single ? "nbody.cells.single" : "nbody.cells.double";
    return single ? "nbody.walk.single" : "nbody.walk.double";
}

enum { LEAST = 40000 }; /* without a row */

size_t nbody_shape_crossover(const struct nbody *nb)
{
    struct cltune_row row;
    if (cltune_find(nb->ctx, 0, tree_name(nb), nb->n, &row) != 0)
        return 0;
    return (size_t)cltune_value(row.shape, "least", LEAST);
}

/* Whether there is a row of that name, and whether it was measured by the user, not shipped. */
static bool has_row(const struct nbody *nb, cl_uint dev, const char *name, bool *own)
{
    struct cltune_row row;
    if (cltune_find(nb->ctx, dev, name, nb->n, &row) != 0 || !*row.shape)
        return false;
    *own = strstr(row.source, ", measured on this device") != NULL;
    return true;
}

/* Whether there is one for launches of many steps, and the engine makes such. */
static bool has_many(const struct nbody *nb, cl_uint dev, const char *name, bool *own)
{
    struct cltune_row row;
    return name && !nb->fused_disabled && nbody_forces_can_fuse_steps(nb) &&
           has_row(nb, dev, name, own) && cltune_find(nb->ctx, dev, name, nb->n, &row) == 0 &&
           cltune_value(row.shape, "meet", 0) > 0;
}

/* The sum's in the tuning store. Launches of many steps, and equal masses, which leave a product
 * out of it, want rows of their own on some devices; one of the user's for the sum comes before
 * those that are shipped. */
static const char *sum_name(const struct nbody *nb, cl_uint dev)
{
    static const char *const equal = "nbody.equal.single", *const many[] = {"nbody.many.single",
                                                                            NULL,
                                                                            "nbody.many.mixed"};
    const struct sum *sum = nbody_forces_sum(nb);
    const char *usual = sum->name[nb->precision];
    bool own, usual_is_own = false;
    has_row(nb, dev, usual, &usual_is_own);
    if (has_many(nb, dev, many[nb->precision], &own) && (own || !usual_is_own))
        return many[nb->precision];
    if (!nb->uniform || sum != nbody_forces_sum_of(FORCES) || nb->precision != NBODY_SINGLE ||
        !has_row(nb, dev, equal, &own))
        return usual;
    return own || !usual_is_own ? equal : usual;
}

int nbody_shape_choose(const struct nbody *nb, struct nbody_device *p,
                       const struct cldev_info *info, const char *words)
{
    const struct sum *sum = nbody_forces_sum(nb);
    struct device device = {info, 4 * nb->real * (size_t)(1 + sum->velocities + sum->accelerations),
                            nb->real, nb->n, nb->method == NBODY_TREE};
    const struct cltune_rules rules = {.name = "nbody", .keys = keys, .fit = fit, .arg = &device};
    const char *name = nb->method == NBODY_TREE ? tree_name(nb) : sum_name(nb, p->dev);
    p->for_many = strncmp(name, "nbody.many.", 11) == 0;
    return cltune_choose(&rules, nb->ctx, p->dev, name, nb->n, words, &p->shape, &p->row);
}

void nbody_shape_options(const struct nbody *nb, const struct nbody_device *p, bool doubles,
                         char *text, size_t size)
{
    const struct nbody_shape *s = &p->shape;
    snprintf(
        text, size,
        "-D GROUP=%d -D WIDTH=%d -D ITEMS=%d -D TILE=%d -D LOCAL=%d -D AHEAD=%d -D DEEP=%d -D UNROLL=%d -D BLOCK=%d "
        "-D RSQRT=%d -D CHAIN=%d -D UNIFORM=%d%s",
        s->group, s->width, s->items, s->tile, s->local, s->ahead, s->deep, s->unroll, s->block,
        s->rsqrt, p->chain, nb->uniform,
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
    while (s->group / s->deep * s->width > CLUSTER && s->group % 2 == 0 &&
           s->group / 2 % s->deep == 0)
        s->group /= 2;
    const int lanes = s->group / s->deep * s->width;
    while (s->items > 1 && CLUSTER % (lanes * s->items))
        s->items--;
    s->tile = (int)common_multiple((size_t)s->tile, CLUSTER_PIECE);
    if (CLUSTER % (lanes * s->items) == 0 && s->block % s->tile == 0)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody: shape: in mixed precision, from %d bodies on, group / deep times width must divide %d, and block "
        "must be a multiple of tile=%d",
        s->near, CLUSTER, s->tile);
}

size_t nbody_shape_rows(const struct nbody_shape *shape)
{
    return (size_t)(shape->group / shape->deep) * (size_t)shape->width * (size_t)shape->items;
}
