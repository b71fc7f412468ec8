/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (see NBODY_SHAPE_KEYS in engine.h). The table has one for
 * each kind of device, precision and sum over pairs; a caller may change single numbers of it by words
 * "KEY=NUMBER", which is how a benchmark sweeps them.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <ctype.h>
#include <limits.h>

/* ---- The rows. -------------------------------------------------------------------------------- */

enum family { NVIDIA, GPU, CPU512, CPU256, CPU128 };

/* Measured on an NVIDIA H200 and on an AVX-512 Xeon through PoCL; the others are derived from these. */
static const struct row {
    enum family family;
    enum nbody_precision precision;
    bool jerks;
    struct nbody_shape shape;
} rows[] = {
    /*                      name         group width items tile local unroll block rsqrt fast
                            fill span split chunk flat sums fp64 */
    {NVIDIA, NBODY_SINGLE, 0, {"nvidia", 128, 1, 4, 128, 1, 32, 1024, 2, 0, 62, 256, 0, 38, 64, 64, 1}},
    {NVIDIA, NBODY_DOUBLE, 0, {"nvidia", 128, 1, 2, 128, 1, 8, 1024, 2, 0, 62, 256, 0, 38, 64, 64, 1}},
    {NVIDIA, NBODY_SINGLE, 1, {"nvidia", 128, 1, 2, 128, 1, 8, 1024, 2, 0, 62, 256, 0, 38, 64, 64, 1}},
    {NVIDIA, NBODY_DOUBLE, 1, {"nvidia", 128, 1, 1, 128, 1, 4, 1024, 2, 0, 62, 256, 0, 38, 64, 64, 1}},
    {GPU, NBODY_SINGLE, 0, {"gpu", 64, 1, 4, 64, 1, 8, 1024, 0, 0, 64, 256, 0, 34, 64, 64, 1}},
    {GPU, NBODY_DOUBLE, 0, {"gpu", 64, 1, 2, 64, 1, 4, 1024, 0, 0, 64, 256, 0, 34, 64, 64, 1}},
    {GPU, NBODY_SINGLE, 1, {"gpu", 64, 1, 2, 64, 1, 4, 1024, 0, 0, 64, 256, 0, 34, 64, 64, 1}},
    {GPU, NBODY_DOUBLE, 1, {"gpu", 64, 1, 1, 64, 1, 4, 1024, 0, 0, 64, 256, 0, 34, 64, 64, 1}},
    {CPU512, NBODY_SINGLE, 0, {"cpu-512", 1, 16, 4, 16, 0, 4, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU512, NBODY_DOUBLE, 0, {"cpu-512", 1, 8, 4, 16, 0, 1, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU512, NBODY_SINGLE, 1, {"cpu-512", 1, 16, 2, 16, 0, 1, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU512, NBODY_DOUBLE, 1, {"cpu-512", 1, 8, 2, 16, 0, 1, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU256, NBODY_SINGLE, 0, {"cpu-256", 1, 8, 4, 16, 0, 1, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU256, NBODY_DOUBLE, 0, {"cpu-256", 1, 4, 4, 16, 0, 1, 256, 0, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU256, NBODY_SINGLE, 1, {"cpu-256", 1, 8, 1, 16, 0, 1, 256, 2, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU256, NBODY_DOUBLE, 1, {"cpu-256", 1, 4, 1, 16, 0, 1, 256, 0, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU128, NBODY_SINGLE, 0, {"cpu-128", 1, 4, 4, 16, 0, 1, 256, 2, 1, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU128, NBODY_DOUBLE, 0, {"cpu-128", 1, 2, 4, 16, 0, 1, 256, 0, 0, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU128, NBODY_SINGLE, 1, {"cpu-128", 1, 4, 2, 16, 0, 1, 256, 2, 1, 4, 1024, 0, 36, 64, 8, 1}},
    {CPU128, NBODY_DOUBLE, 1, {"cpu-128", 1, 2, 2, 16, 0, 1, 256, 0, 0, 4, 1024, 0, 36, 64, 8, 1}},
};

/* How wide a CPU's registers are shows in the vectors its runtime prefers. */
static enum family family_of(const struct cldev_info *info)
{
    if (info->dev_type & CL_DEVICE_TYPE_CPU)
        return info->dev_pref_vec_float >= 16 ? CPU512 : info->dev_pref_vec_float >= 8 ? CPU256 : CPU128;
    return strstr(info->dev_vendor, "NVIDIA") ? NVIDIA : GPU;
}

/* ---- The caller's words. ---------------------------------------------------------------------- */

static int *member(struct nbody_shape *shape, const char *key, size_t length)
{
#define X(name, text)                                              \
    if (length == strlen(#name) && strncmp(key, #name, length) == 0) \
        return &shape->name;
    NBODY_SHAPE_KEYS(X)
#undef X
    return NULL;
}

static const char *known_keys(void)
{
#define X(name, text) #name " "
    return NBODY_SHAPE_KEYS(X);
#undef X
}

/* Applies one word; returns what follows it, or NULL after an error. */
static const char *apply(struct nbody_shape *shape, const char *word)
{
    size_t length = strcspn(word, "= \t");
    int *number = member(shape, word, length);
    char *end;
    if (!number || word[length] != '=') {
        clerror_set(EINVAL, "nbody: shape: \"%.*s\" is not KEY=NUMBER with one of the keys %s",
                    (int)strcspn(word, " \t"), word, known_keys());
        return NULL;
    }
    long value = strtol(word + length + 1, &end, 10);
    if (end == word + length + 1 || (*end && !isspace((unsigned char)*end)) || value < 0 ||
        value > 1 << 20) {
        clerror_set(EINVAL, "nbody: shape: \"%.*s\": the number must be 0 to %d",
                    (int)strcspn(word, " \t"), word, 1 << 20);
        return NULL;
    }
    *number = (int)value;
    return end;
}

/* ---- Numbers that do not go together. --------------------------------------------------------- */

static const char *contradiction(const struct nbody_shape *s)
{
    if (s->group < 1 || s->items < 1 || s->tile < 1 || s->unroll < 1 || s->block < 1 || s->fill < 1 ||
        s->span < 1 || s->flat < 1 || s->sums < 1)
        return "group, items, tile, unroll, block, fill, span, flat and sums must be at least 1";
    if (s->width != 1 && s->width != 2 && s->width != 4 && s->width != 8 && s->width != 16)
        return "width must be 1, 2, 4, 8 or 16";
    if (s->items > 64)
        return "items must be at most 64";
    if (s->local && s->tile % s->group)
        return "with local=1 tile must be a multiple of group";
    if (s->block % s->tile)
        return "block must be a multiple of tile";
    if (s->flat < SUM_TERMS || s->flat & (s->flat - 1))
        return "flat must be a power of two from 8 up";
    if (s->chunk < 20 || s->chunk > 60)
        return "chunk must be 20 to 60";
    return NULL;
}

static int check(const struct nbody_shape *s, const struct cldev_info *info, size_t tile_bytes)
{
    const char *reason = contradiction(s);
    if (reason)
        return clerror_set(EINVAL, "nbody: shape: %s", reason);
    if ((size_t)s->group > info->dev_max_wg_sz || (size_t)s->flat > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "nbody: shape: group=%d and flat=%d, but %s takes groups of at most %zu",
                           s->group, s->flat, info->dev_name, info->dev_max_wg_sz);
    if (s->local && tile_bytes > info->dev_local_mem_sz)
        return clerror_set(EINVAL, "nbody: shape: tile=%d needs %zu bytes of local memory, %s has %llu",
                           s->tile, tile_bytes, info->dev_name,
                           (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- What the rest of the engine calls. ------------------------------------------------------- */

int shape_choose(struct nbody_shape *shape, const struct cldev_info *info, enum nbody_precision precision,
                 bool jerks, const char *words)
{
    const enum family family = family_of(info);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].family == family && rows[i].precision == precision && rows[i].jerks == jerks)
            *shape = rows[i].shape;
    if (!info->dev_pref_vec_double)
        shape->fp64 = 0;
    if (words)
        for (words += strspn(words, " \t"); *words; words += strspn(words, " \t"))
            if (!(words = apply(shape, words)))
                return -1;
    size_t number = precision == NBODY_DOUBLE ? sizeof(double) : sizeof(float);
    return check(shape, info, (size_t)shape->tile * 4 * number * (jerks ? 2 : 1));
}

void shape_print(const struct nbody_shape *shape, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "%s:", shape->name);
#define X(key, meaning)   \
    if (length < size)    \
        length += (size_t)snprintf(text + length, size - length, " " #key "=%d", shape->key);
    NBODY_SHAPE_KEYS(X)
#undef X
}

void shape_options(const struct nbody_shape *s, enum nbody_precision precision, char *text, size_t size)
{
    snprintf(text, size,
             "-D GROUP=%d -D WIDTH=%d -D ITEMS=%d -D TILE=%d -D LOCAL=%d -D UNROLL=%d -D BLOCK=%d "
             "-D RSQRT=%d -D SUM_GROUP=%d%s%s",
             s->group, s->width, s->items, s->tile, s->local, s->unroll, s->block, s->rsqrt, s->flat,
             s->fp64 ? "" : " -D NO_FP64", precision == NBODY_DOUBLE ? " -D DOUBLE" : "");
}

size_t shape_rows(const struct nbody_shape *shape)
{
    return (size_t)shape->group * (size_t)shape->width * (size_t)shape->items;
}
