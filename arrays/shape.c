/* shape.c - launch shapes of reductions on a device, from tuning entries.
 *
 * An entry has every number that shapes a launch (ARRAYS_SHAPE_KEYS in shape.h). The tuning store
 * has entries for kinds of devices (tuning/arrays.json) and for measured devices. The caller's
 * words, with which a benchmark tries many shapes, change the entry. No shape changes a result,
 * except of ARRAYS_TREE.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/shape.h"

#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, least, most, value, text)                                                           \
    {#key, offsetof(struct arrays_shape, key), least, most, value, 0},
    ARRAYS_SHAPE_KEYS(X)
#undef X
        {0}};

static bool shape_power_of_two(int v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

/* Maximum of items in a group: each has a lane of its own. */
static long shape_max_group(long width)
{
    return BLOCK_STRIPS * BLOCK_LANES / width;
}

static int arrays_shape_fit(void *shape, int stored, void *device)
{
    (void)stored;
    const struct arrays_shape *s = shape;
    const struct cldev_info *info = device;
    if (!shape_power_of_two(s->group) || !shape_power_of_two(s->width) ||
        !shape_power_of_two(s->unroll))
        return clerror_set(
            EINVAL, "arrays: shape: group=%d width=%d unroll=%d; each must be a power of two",
            s->group, s->width, s->unroll);
    if (s->group > shape_max_group(s->width) || (size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(
            EINVAL,
            "arrays: shape: group=%d is too large; with width=%d the maximum is %ld, and %s allows %zu",
            s->group, s->width, shape_max_group(s->width), info->dev_name, info->dev_max_wg_sz);
    return 0;
}

int arrays_shape_choose(struct arrays_shape *shape, struct cltune_row *row, CLCONTEXT *ctx,
                        cl_uint dev, const char *name, size_t n, const char *words)
{
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    if (!info)
        return clerror_set(ENOMEM, "arrays: out of memory");
    const struct cltune_rules rules = {
        .name = "arrays", .keys = keys, .fit = arrays_shape_fit, .arg = &info[dev]};
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
    if (group > shape_max_group(width) || (size_t)group > info->dev_max_wg_sz)
        return false;
    return info->dev_type & CL_DEVICE_TYPE_CPU ? group == 1 : group >= 32 && width <= 4;
}
