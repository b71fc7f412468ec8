/* shape.c - chooses the launch shape of the packed kernels on a device.
 *
 * Each source overrides the previous ones: defaults that work anywhere; the tuning store's row for
 * the device and the size of the grid; the caller's words. Instructions that the device lacks are
 * then switched off, so that a row measured on one machine works on another.
 * SPDX-License-Identifier: MIT
 */
#include "life/shape.h"
#include "life/engine.h"

#include "core/device_info.h"
#include "core/round.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct cltune_key keys[] = {
#define X(key, kinds, least, most, value, meaning)                                                 \
    {#key, offsetof(struct life_shape, key), least, most, value, kinds},
    LIFE_SHAPE_KEYS(X)
#undef X
        {0}};

/* ---- Capabilities of the device. ------------------------------------------------------------- */

static bool cpu_has_funnel(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

bool life_orders_memory(cl_device_id id, const struct cldev_info *info)
{
    if (vendor_is_nvidia(info->dev_vendor))
        return true; /* by NVIDIA's own instructions */
#if defined(__x86_64__) || defined(__i386__)
    const cl_bitfield needed = CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    cl_bitfield orders = 0;
    return info->dev_type & CL_DEVICE_TYPE_CPU &&
           clGetDeviceInfo(id, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, sizeof orders, &orders,
                           NULL) == CL_SUCCESS &&
           (orders & needed) == needed;
#else
    (void)id;
    return false;
#endif
}

/* True if work-groups can exchange cells within a launch, which rows.cl needs for many passes: the
 * device has OpenCL C with acquire and release across work-groups, and runs all its compute units
 * concurrently, as CPUs do. CPUs other than x86 are untested, and excluded. */
static bool rows_order_memory(cl_device_id id, const struct cldev_info *info)
{
    return info->dev_type & CL_DEVICE_TYPE_CPU && life_orders_memory(id, info);
}

/* Switch off NVIDIA's instructions elsewhere, and AVX-512's on CPUs without it. */
static void shape_drop_unsupported(struct life_shape *s, const struct cldev_info *info)
{
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    const bool nvidia = vendor_is_nvidia(info->dev_vendor);
    if (!nvidia)
        s->shuffle = s->multiply = 0;
    if (s->tile ? !nvidia : !cpu)
        s->ternary = 0;
    if (s->lanes != 8 || !cpu || !cpu_has_funnel())
        s->funnel = 0;
}

static bool is_power_of_two(int n)
{
    return n > 0 && !(n & (n - 1));
}

static const char *shape_contradiction(const struct life_shape *s)
{
    if (!is_power_of_two(s->group))
        return "group must be a power of two";
    if (!s->tile)
        return is_power_of_two(s->lanes) ? NULL : "lanes must be 2, 4 or 8";
    if (s->generations > 32 || s->passes > 1)
        return "generations must be at most 32 and passes 1 with tile=1";
    if (!is_power_of_two(s->items))
        return "items must be 32, 16, 8 or 4";
    if (2 * s->generations >= life_tile_rows(s))
        return "generations must be less than half of rows * warps * 32 / items, or nothing is left of a tile";
    return NULL;
}

int life_tile_rows(const struct life_shape *s)
{
    return s->rows * s->warps * (32 / s->items);
}

int life_rows_stride(const struct life_shape *s, size_t words)
{
    const size_t lanes = (size_t)s->lanes;
    return (int)(round_up(words, lanes) + lanes);
}

size_t life_rows_local(const struct life_shape *s, int stride, int generations)
{
    const size_t rows = 2 * (size_t)(s->block - 2) + 4 * ((size_t)generations + 1);
    return (rows * (size_t)stride + 2 * (size_t)s->lanes) * sizeof(uint64_t);
}

/* Reduce the generations, then the width of a tile, until it fits the device's local memory. */
static int fit_rows(struct life_shape *s, const life *lf, const struct cldev_info *info)
{
    for (;;) {
        const size_t words = lf->words < (size_t)s->span ? lf->words : (size_t)s->span;
        if (lf->words > (size_t)s->span && s->generations > 64)
            s->generations = 64; /* the halo is a word on either side */
        if (life_rows_local(s, life_rows_stride(s, words), s->generations) <=
            info->dev_local_mem_sz)
            return 0;
        if (s->generations > 8)
            s->generations /= 2;
        else if (s->span > 2 * s->lanes)
            s->span = s->span / 2 > 2 * s->lanes ? s->span / 2 : 2 * s->lanes;
        else
            return clerror_set(
                EINVAL,
                "life: shape: block=%d lanes=%d needs more local memory than the %llu "
                "bytes of %s",
                s->block, s->lanes, (unsigned long long)info->dev_local_mem_sz, info->dev_name);
    }
}

static int fit_tile(const struct life_shape *s, const struct cldev_info *info)
{
    const size_t items = 32 * (size_t)s->warps;
    const size_t local =
        4 * (2 * 2 * 2 * items * (size_t)s->words + (s->shuffle ? 0 : 2 * items * (size_t)s->rows));
    if (items > info->dev_max_wg_sz)
        return clerror_set(
            EINVAL, "life: shape: warps=%d makes groups of %zu items, but %s takes at most %zu",
            s->warps, items, info->dev_name, info->dev_max_wg_sz);
    if (local > info->dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "life: shape: words=%d rows=%d warps=%d need %zu bytes of local memory, %s "
            "has %llu",
            s->words, s->rows, s->warps, local, info->dev_name,
            (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- Interface to the engine. ---------------------------------------------------------------- */

/* The grid and device that a shape is for. */
struct place {
    const life *lf;
    const struct cldev_info *info;
    bool tile, many_passes;
};

static void shape_defaults(void *shape, void *arg)
{
    struct life_shape *s = shape;
    const struct place *place = arg;
    s->tile = place->tile;
    if (place->info->dev_type & CL_DEVICE_TYPE_CPU)
        s->group = 1;
    if (place->many_passes && !place->tile)
        s->passes = 1000;
}

static int shape_fit(void *shape, int stored, void *arg)
{
    struct life_shape *s = shape;
    const struct place *place = arg;
    const struct cldev_info *info = place->info;
    shape_drop_unsupported(s, info);
    const char *reason =
        s->tile != place->tile ? "the row is another kernel's" : shape_contradiction(s);
    if (reason)
        return clerror_set(EINVAL, "life: shape: %s", reason);
    if (s->passes > 1 && !place->many_passes)
        return clerror_set(
            EINVAL,
            "life: shape: passes=%d: %s does not order memory between work-groups, or was never tested "
            "with it; take passes=1",
            s->passes, info->dev_name);
    if ((size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "life: shape: group=%d, but %s takes groups of at most %zu",
                           s->group, info->dev_name, info->dev_max_wg_sz);
    (void)stored;
    return s->tile ? fit_tile(s, info) : fit_rows(s, place->lf, info);
}

static struct cltune_rules rules_of(bool tile, struct place *place)
{
    return (struct cltune_rules){.name = "life",
                                 .keys = keys,
                                 .kind = tile ? LIFE_TILE : LIFE_ROWS,
                                 .defaults = shape_defaults,
                                 .fit = shape_fit,
                                 .arg = place};
}

int life_shape_choose(struct life_shape *s, const life *lf, unsigned dev,
                      const struct cldev_info *info, const char *words, struct cltune_row *row)
{
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    struct place place = {lf, info, cltune_value(words, "tile", !cpu) != 0,
                          rows_order_memory(clgetdevice(lf->ctx, dev), info)};
    const struct cltune_rules rules = rules_of(place.tile, &place);
    return cltune_choose(&rules, lf->ctx, dev, place.tile ? "life.tile" : "life.rows",
                         lf->width * lf->height, words, s, row);
}

void life_shape_print(const struct life_shape *s, char *text, size_t size)
{
    const struct cltune_rules rules = rules_of(s->tile, NULL);
    cltune_print(&rules, s, text, size);
}

void life_shape_options(const struct life_shape *s, const life *lf, char *text, size_t size)
{
    if (s->tile)
        snprintf(
            text, size,
            "-D WORDS=%d -D ROWS=%d -D WARPS=%d -D ITEMS=%d -D SHUFFLE=%d -D TERNARY=%d -D MULTIPLY=%d "
            "-D PLANE=%d\n",
            s->words, s->rows, s->warps, s->items, s->shuffle, s->ternary, s->multiply,
            lf->bounds == LIFE_PLANE);
    else
        snprintf(text, size, "-D BLOCK=%d -D LANES=%d -D TERNARY=%d -D FUNNEL=%d -D PLANE=%d%s\n",
                 s->block, s->lanes, s->ternary, s->funnel, lf->bounds == LIFE_PLANE,
                 s->passes > 1 ? " -D PASSES=1 -cl-std=CL3.0" : "");
}
