/* shape.c - chooses how the packed kernels are launched on a device.
 *
 * In this order, later wins: numbers that work anywhere; the tuning store's row for the device and the
 * size of the grid; the caller's words; and then what the device cannot do is taken back, so that a row
 * measured on one machine is safe on the next.
 * SPDX-License-Identifier: MIT
 */
#include "life/shape.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- Words KEY=NUMBER. ----------------------------------------------------------------------- */

static int *member(struct life_shape *shape, const char *key, size_t length)
{
#define X(name, meaning)                                                                                     \
    if (length == strlen(#name) && strncmp(key, #name, length) == 0)                                         \
        return &shape->name;
    LIFE_SHAPE_KEYS(X)
#undef X
    return NULL;
}

static int apply(struct life_shape *shape, const char *words)
{
    for (const char *w = words + strspn(words, " \t"); *w; w += strspn(w, " \t")) {
        const size_t length = strcspn(w, "= \t"), whole = strcspn(w, " \t");
        int *number = member(shape, w, length);
        if (!number || w[length] != '=') {
#define X(name, meaning) " " #name
            return clerror_set(
                EINVAL, "life: shape: '%.*s' is not KEY=NUMBER with one of the keys" LIFE_SHAPE_KEYS(X),
                (int)whole, w);
#undef X
        }
        char *end;
        long value = strtol(w + length + 1, &end, 10);
        if (end != w + whole || end == w + length + 1 || value < 0 || value > 1 << 20)
            return clerror_set(EINVAL, "life: shape: '%.*s': the number must be 0 to %d", (int)whole, w,
                               1 << 20);
        *number = (int)value;
        w = end;
    }
    return 0;
}

/* ---- Defaults, and what the device can do. --------------------------------------------------- */

static bool cpu_has_funnel(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512vbmi2");
#else
    return false;
#endif
}

/* What works anywhere. */
static struct life_shape modest(const struct cldev_info *info)
{
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    return (struct life_shape){.tile = !cpu,
                               .generations = 8,
                               .exchange = 4,
                               .block = 8,
                               .lanes = 2,
                               .span = 128,
                               .bands = 1,
                               .words = 1,
                               .rows = 4,
                               .warps = 8,
                               .group = cpu ? 1 : 64,
                               .groups = 4};
}

/* NVIDIA's instructions on NVIDIA only, and those of AVX-512 on a CPU with them only. */
static void take_back(struct life_shape *s, const struct cldev_info *info)
{
    const bool cpu = info->dev_type & CL_DEVICE_TYPE_CPU;
    const bool nvidia = strstr(info->dev_vendor, "NVIDIA") != NULL;
    if (!nvidia)
        s->shuffle = s->multiply = 0;
    if (s->tile ? !nvidia : !cpu)
        s->ternary = 0;
    if (s->lanes != 8 || !cpu || !cpu_has_funnel())
        s->funnel = 0;
}

static bool power_of_two(int n)
{
    return n > 0 && !(n & (n - 1));
}

static const char *contradiction(const struct life_shape *s)
{
    if (s->generations < 1 || s->exchange < 1)
        return "generations and exchange must be at least 1";
    if (!power_of_two(s->group) || s->groups < 1)
        return "group must be a power of two, and groups at least 1";
    if (!s->tile) {
        if (s->lanes != 2 && s->lanes != 4 && s->lanes != 8)
            return "lanes must be 2, 4 or 8";
        if (s->block < 3 || s->block > 64)
            return "block must be 3 to 64";
        if (s->span < 3 || s->bands < 1)
            return "span must be at least 3, and bands at least 1";
        return NULL;
    }
    if (s->words < 1 || s->words > 8 || s->rows < 2 || s->rows > 128 || s->warps < 1)
        return "words must be 1 to 8, rows 2 to 128 and warps at least 1";
    if (s->generations > 32)
        return "generations must be at most 32 with tile=1";
    if (2 * s->generations >= s->rows * s->warps)
        return "generations must be less than half of rows * warps, or nothing is left of a tile";
    return NULL;
}

int life_rows_stride(const struct life_shape *s, size_t words)
{
    const size_t lanes = (size_t)s->lanes;
    return (int)((words + lanes - 1) / lanes * lanes + lanes);
}

size_t life_rows_local(const struct life_shape *s, int stride, int generations)
{
    const size_t rows = 2 * (size_t)(s->block - 2) + 4 * ((size_t)generations + 1);
    return (rows * (size_t)stride + 2 * (size_t)s->lanes) * sizeof(uint64_t);
}

/* Fewer generations, then a narrower tile, until the device's local memory holds it. */
static int fit_rows(struct life_shape *s, const life *lf, const struct cldev_info *info)
{
    for (;;) {
        const size_t words = lf->words < (size_t)s->span ? lf->words : (size_t)s->span;
        if (lf->words > (size_t)s->span && s->generations > 64)
            s->generations = 64; /* the word of surroundings on either side */
        if (life_rows_local(s, life_rows_stride(s, words), s->generations) <= info->dev_local_mem_sz)
            return 0;
        if (s->generations > 8)
            s->generations /= 2;
        else if (s->span > 2 * s->lanes)
            s->span = s->span / 2 > 2 * s->lanes ? s->span / 2 : 2 * s->lanes;
        else
            return clerror_set(EINVAL,
                               "life: shape: block=%d lanes=%d needs more local memory than the %llu "
                               "bytes of %s",
                               s->block, s->lanes, (unsigned long long)info->dev_local_mem_sz,
                               info->dev_name);
    }
}

static int fit_tile(const struct life_shape *s, const struct cldev_info *info)
{
    const size_t items = 32 * (size_t)s->warps;
    const size_t local =
        4 * (2 * 2 * 2 * items * (size_t)s->words + (s->shuffle ? 0 : 2 * items * (size_t)s->rows));
    if (items > info->dev_max_wg_sz)
        return clerror_set(EINVAL,
                           "life: shape: warps=%d makes groups of %zu items, but %s takes at most %zu",
                           s->warps, items, info->dev_name, info->dev_max_wg_sz);
    if (local > info->dev_local_mem_sz)
        return clerror_set(EINVAL,
                           "life: shape: words=%d rows=%d warps=%d need %zu bytes of local memory, %s "
                           "has %llu",
                           s->words, s->rows, s->warps, local, info->dev_name,
                           (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- What the engine calls. ------------------------------------------------------------------ */

static int check(struct life_shape *s, const life *lf, const struct cldev_info *info)
{
    const char *reason = contradiction(s);
    if (reason)
        return clerror_set(EINVAL, "life: shape: %s", reason);
    if ((size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "life: shape: group=%d, but %s takes groups of at most %zu", s->group,
                           info->dev_name, info->dev_max_wg_sz);
    return s->tile ? fit_tile(s, info) : fit_rows(s, lf, info);
}

int life_shape_choose(struct life_shape *s, const life *lf, unsigned dev, const struct cldev_info *info,
                      const char *words, char source[LIFE_SHAPE_TEXT])
{
    struct cltune_row row;
    struct life_shape asked = modest(info);
    if (words && apply(&asked, words) < 0) /* which of the kernels is it? */
        return -1;
    const char *kernel = asked.tile ? "life.tile" : "life.rows";
    if (cltune_find(lf->ctx, dev, kernel, lf->width * lf->height, &row) < 0)
        return -1;
    *s = modest(info);
    s->tile = asked.tile;
    if (apply(s, row.shape) < 0 || s->tile != asked.tile || check(s, lf, info) < 0) {
        *s = modest(info); /* a row that does not fit is no reason to stop */
        s->tile = asked.tile;
        snprintf(row.source, sizeof row.source, "%s: the stored row does not fit the device; a modest one",
                 kernel);
    }
    snprintf(source, LIFE_SHAPE_TEXT, "%.200s%s", row.source,
             words && *words ? "; then the caller's words" : "");
    if (words && apply(s, words) < 0)
        return -1;
    take_back(s, info);
    return check(s, lf, info);
}

void life_shape_print(const struct life_shape *s, char text[LIFE_SHAPE_TEXT])
{
    if (s->tile)
        snprintf(text, LIFE_SHAPE_TEXT,
                 "tile=1 generations=%d exchange=%d words=%d rows=%d warps=%d shuffle=%d ternary=%d multiply=%d "
                 "group=%d groups=%d",
                 s->generations, s->exchange, s->words, s->rows, s->warps, s->shuffle, s->ternary, s->multiply, s->group,
                 s->groups);
    else
        snprintf(text, LIFE_SHAPE_TEXT,
                 "tile=0 generations=%d exchange=%d block=%d lanes=%d ternary=%d funnel=%d span=%d bands=%d group=%d "
                 "groups=%d",
                 s->generations, s->exchange, s->block, s->lanes, s->ternary, s->funnel, s->span, s->bands, s->group,
                 s->groups);
}

void life_shape_options(const struct life_shape *s, const life *lf, char *text, size_t size)
{
    if (s->tile)
        snprintf(text, size,
                 "-D WORDS=%d -D ROWS=%d -D WARPS=%d -D SHUFFLE=%d -D TERNARY=%d -D MULTIPLY=%d "
                 "-D PLANE=%d",
                 s->words, s->rows, s->warps, s->shuffle, s->ternary, s->multiply, lf->bounds == LIFE_PLANE);
    else
        snprintf(text, size, "-D BLOCK=%d -D LANES=%d -D TERNARY=%d -D FUNNEL=%d -D PLANE=%d", s->block,
                 s->lanes, s->ternary, s->funnel, lf->bounds == LIFE_PLANE);
}
