/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (ARRAYS_SHAPE_KEYS in blocks.h). The layer's tuning
 * store has them for kinds of devices (tuning/arrays.json) and for devices that were measured; the
 * caller's own words, by which a benchmark sweeps, come on top. No shape changes a result, but for
 * ARRAYS_TREE.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/blocks.h"

#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, least, most, value, text)                                                           \
    {#key, offsetof(struct arrays_shape, key), least, most, value, 0},
    ARRAYS_SHAPE_KEYS(X)
#undef X
        {0}};

static bool power_of_two(int v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

/* Items of a group at most, so that each has a lane of its own. */
static long most_items(long width)
{
    return BLOCK_STRIPS * BLOCK_LANES / width;
}

static int fit(void *shape, int stored, void *device)
{
    (void)stored;
    const struct arrays_shape *s = shape;
    const struct cldev_info *info = device;
    if (!power_of_two(s->group) || !power_of_two(s->width) || !power_of_two(s->unroll))
        return clerror_set(
            EINVAL,
            "arrays: shape: group=%d width=%d unroll=%d; each of them must be a power of two",
            s->group, s->width, s->unroll);
    if (s->group > most_items(s->width) || (size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(
            EINVAL, "arrays: shape: group=%d; with width=%d it is at most %ld, and %s takes %zu",
            s->group, s->width, most_items(s->width), info->dev_name, info->dev_max_wg_sz);
    return 0;
}

int arrays_shape_choose(struct arrays_shape *shape, struct cltune_row *row, CLCONTEXT *ctx,
                        cl_uint dev, const char *name, size_t n, const char *words)
{
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    if (!info)
        return clerror_set(ENOMEM, "arrays: no memory");
    const struct cltune_rules rules = {
        .name = "arrays", .keys = keys, .fit = fit, .arg = &info[dev]};
    const int status = clgetdevinfo(ctx, info) == 0 &&
                               cltune_choose(&rules, ctx, dev, name, n, words, shape, row) == 0
                           ? 0
                           : -1;
    free(info);
    return status;
}

bool arrays_shape_suits(const char *shape, const struct cldev_info *info)
{
    const long group = cltune_value(shape, "group", 1), width = cltune_value(shape, "width", 1);
    if (group > most_items(width) || (size_t)group > info->dev_max_wg_sz)
        return false;
    return info->dev_type & CL_DEVICE_TYPE_CPU ? group == 1 : group >= 32 && width <= 4;
}
