/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (see NBODY_SHAPE_KEYS in engine.h). The layer's tuning
 * store has them, as words "KEY=NUMBER ...", for kinds of devices (tuning/nbody.json) and for devices
 * that were measured; the caller's own words, by which a benchmark sweeps, come on top.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <ctype.h>
#include <limits.h>

/* What holds when the store knows nothing of a device: small enough for any. */
static const struct nbody_shape modest = {.group = 1,
                                          .width = 1,
                                          .items = 4,
                                          .tile = 16,
                                          .unroll = 1,
                                          .block = 256,
                                          .fill = 16,
                                          .span = 256,
                                          .chunk = 34,
                                          .flat = 8,
                                          .sums = 16,
                                          .fp64 = 1};

/* ---- Words. ----------------------------------------------------------------------------------- */

static int *member(struct nbody_shape *shape, const char *key, size_t length)
{
#define X(name, text)                                                                                        \
    if (length == strlen(#name) && strncmp(key, #name, length) == 0)                                         \
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
static const char *apply_word(struct nbody_shape *shape, const char *word)
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
    if (end == word + length + 1 || (*end && !isspace((unsigned char)*end)) || value < 0 || value > 1 << 20) {
        clerror_set(EINVAL, "nbody: shape: \"%.*s\": the number must be 0 to %d", (int)strcspn(word, " \t"),
                    word, 1 << 20);
        return NULL;
    }
    *number = (int)value;
    return end;
}

static int apply(struct nbody_shape *shape, const char *words)
{
    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t"))
        if (!(words = apply_word(shape, words)))
            return -1;
    return 0;
}

static void print(const struct nbody_shape *shape, char *text, size_t size)
{
    size_t length = 0;
#define X(key, meaning)                                                                                      \
    if (length < size)                                                                                       \
        length +=                                                                                            \
            (size_t)snprintf(text + length, size - length, "%s" #key "=%d", length ? " " : "", shape->key);
    NBODY_SHAPE_KEYS(X)
#undef X
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

static int check(const struct nbody_shape *s, const struct cldev_info *info, size_t body_bytes)
{
    const size_t tile_bytes = (size_t)s->tile * body_bytes;
    const char *reason = contradiction(s);
    if (reason)
        return clerror_set(EINVAL, "nbody: shape: %s", reason);
    if ((size_t)s->group > info->dev_max_wg_sz || (size_t)s->flat > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "nbody: shape: group=%d and flat=%d, but %s takes groups of at most %zu",
                           s->group, s->flat, info->dev_name, info->dev_max_wg_sz);
    if (s->local && tile_bytes > info->dev_local_mem_sz)
        return clerror_set(EINVAL, "nbody: shape: tile=%d needs %zu bytes of local memory, %s has %llu",
                           s->tile, tile_bytes, info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- What the rest of the engine calls. ------------------------------------------------------- */

static const char *kernel_name(const struct nbody *nb)
{
    if (nb->precision == NBODY_DOUBLE)
        return uses_jerks(nb) ? "nbody.hermite.double" : "nbody.direct.double";
    return uses_jerks(nb) ? "nbody.hermite.single" : "nbody.direct.single";
}

int nbody_shape_choose(const struct nbody *nb, struct part *p, const struct cldev_info *info,
                       const char *words)
{
    const size_t body_bytes = 4 * nb->real * (uses_jerks(nb) ? 2 : 1);
    struct cltune_row row;
    if (cltune_find(nb->ctx, p->dev, kernel_name(nb), nb->n, &row) != 0)
        return -1;
    p->shape = modest;
    if (apply(&p->shape, row.shape) != 0 || check(&p->shape, info, body_bytes) != 0) {
        p->shape = modest; /* a row that does not fit is no reason to stop */
        strcat(strcpy(row.source, kernel_name(nb)), ": the stored row does not fit the device, a modest one");
    }
    snprintf(p->reason, sizeof p->reason, "%s%s", row.source,
             words && *words ? "; then the caller's words" : "");
    if (!info->dev_pref_vec_double)
        p->shape.fp64 = 0;
    if (words && apply(&p->shape, words) != 0)
        return -1;
    print(&p->shape, p->label, sizeof p->label);
    return check(&p->shape, info, body_bytes);
}

void nbody_shape_options(const struct nbody *nb, const struct nbody_shape *s, char *text, size_t size)
{
    snprintf(text, size,
             "-D GROUP=%d -D WIDTH=%d -D ITEMS=%d -D TILE=%d -D LOCAL=%d -D UNROLL=%d -D BLOCK=%d "
             "-D RSQRT=%d -D SUM_GROUP=%d -D UNIFORM=%d%s%s",
             s->group, s->width, s->items, s->tile, s->local, s->unroll, s->block, s->rsqrt, s->flat,
             nb->uniform, s->fp64 ? "" : " -D NO_FP64", nb->precision == NBODY_DOUBLE ? " -D DOUBLE" : "");
}

size_t nbody_shape_rows(const struct nbody_shape *shape)
{
    return (size_t)shape->group * (size_t)shape->width * (size_t)shape->items;
}
