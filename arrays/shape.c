/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (ARRAYS_SHAPE_KEYS in blocks.h). The layer's tuning store has
 * them for kinds of devices (tuning/arrays.json) and for devices that were measured; the caller's own words,
 * by which a benchmark sweeps, come on top. No shape changes a result, but for ARRAYS_TREE.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/blocks.h"

#include <ctype.h>

/* What holds when the store knows nothing of a device: small enough for any. */
static const struct arrays_shape modest = {.group = 1, .width = 4, .unroll = 1, .chunk = 8, .groups = 64};

static int *member(struct arrays_shape *shape, const char *key, size_t length)
{
#define X(name, text)                                                                                        \
    if (length == strlen(#name) && strncmp(key, #name, length) == 0)                                         \
        return &shape->name;
    ARRAYS_SHAPE_KEYS(X)
#undef X
    return NULL;
}

static int apply_word(struct arrays_shape *shape, const char *word, size_t length)
{
    const size_t key = strcspn(word, "= \t");
    int *number = member(shape, word, key);
    char *end = NULL;
    const long value = number && word[key] == '=' ? strtol(word + key + 1, &end, 10) : -1;
    if (!end || end == word + key + 1 || (*end && !isspace((unsigned char)*end)) || value < 0 ||
        value > 1 << 20) {
#define X(name, text) #name " "
        return clerror_set(EINVAL,
                           "arrays: shape: \"%.*s\" is not KEY=NUMBER with a number of 0 to %d and one of "
                           "the keys " ARRAYS_SHAPE_KEYS(X),
                           (int)length, word, 1 << 20);
#undef X
    }
    *number = (int)value;
    return 0;
}

static int apply(struct arrays_shape *shape, const char *words)
{
    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t")) {
        const size_t length = strcspn(words, " \t");
        if (apply_word(shape, words, length) != 0)
            return -1;
        words += length;
    }
    return 0;
}

static bool power_of_two(int v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static int check(const struct arrays_shape *s, const struct cldev_info *info)
{
    if (!power_of_two(s->group) || !power_of_two(s->width) || !power_of_two(s->unroll))
        return clerror_set(EINVAL, "arrays: shape: group, width and unroll must be powers of two");
    if (s->width > 16 || s->unroll > BLOCK_ROWS || s->chunk > 24 || s->groups < 1)
        return clerror_set(
            EINVAL, "arrays: shape: width is at most 16, unroll %d, chunk 24, groups at least 1", BLOCK_ROWS);
    if (s->group > BLOCK_STRIPS * BLOCK_LANES / s->width || (size_t)s->group > info->dev_max_wg_sz)
        return clerror_set(
            EINVAL, "arrays: shape: group=%d; with width=%d it is at most %d, and %s takes %zu", s->group,
            s->width, BLOCK_STRIPS * BLOCK_LANES / s->width, info->dev_name, info->dev_max_wg_sz);
    return 0;
}

int arrays_shape_choose(struct arrays_shape *shape, char label[256], char reason[320], CLCONTEXT *ctx,
                        cl_uint dev, const char *name, size_t n, const char *words)
{
    struct cltune_row row;
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    if (!info)
        return clerror_set(ENOMEM, "arrays: no memory");
    int status = clgetdevinfo(ctx, info) == 0 && cltune_find(ctx, dev, name, n, &row) == 0 ? 0 : -1;
    *shape = modest;
    if (status == 0 && (apply(shape, row.shape) != 0 || check(shape, &info[dev]) != 0)) {
        *shape = modest; /* a row that does not fit is no reason to stop */
        snprintf(row.source, sizeof row.source, "%s: the stored row does not fit the device, a modest one",
                 name);
    }
    if (status == 0 && words && (apply(shape, words) != 0 || check(shape, &info[dev]) != 0))
        status = -1;
    free(info);
    if (status != 0)
        return -1;
    snprintf(reason, 320, "%s%s", row.source, words && *words ? "; then the caller's words" : "");
    snprintf(label, 256, "group=%d width=%d unroll=%d chunk=%d groups=%d", shape->group, shape->width,
             shape->unroll, shape->chunk, shape->groups);
    return 0;
}
