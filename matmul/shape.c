/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row holds every number that shapes a launch (see MATMUL_SHAPE_KEYS in engine.h). The layer's tuning
 * store has them, as words "KEY=NUMBER ...", for kinds of devices (tuning/matmul.json) and for devices
 * that were measured; the caller's own words, by which a benchmark sweeps, come on top.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <ctype.h>
#include <math.h>

/* What holds when the store knows nothing of a device: small enough for any. */
static const struct matmul_shape modest_tiles = {.path = 1, .bm = 32, .bn = 32, .bk = 8, .wm = 32, .wn = 16,
                                                 .stages = 2, .raster = 8, .pack = 256, .fill = 8};
static const struct matmul_shape modest_panels = {.path = 2, .width = 4, .rows = 6, .vectors = 2, .depth = 256,
                                                  .high = 16, .unroll = 1};

/* ---- Words. ----------------------------------------------------------------------------------- */

static int *member(struct matmul_shape *shape, const char *key, size_t length)
{
#define X(name, text)                                                \
    if (length == strlen(#name) && strncmp(key, #name, length) == 0) \
        return &shape->name;
    MATMUL_SHAPE_KEYS(X)
#undef X
    return NULL;
}

static const char *known_keys(void)
{
#define X(name, text) #name " "
    return MATMUL_SHAPE_KEYS(X);
#undef X
}

/* Applies one word; returns what follows it, or NULL after an error. */
static const char *apply_word(struct matmul_shape *shape, const char *word)
{
    size_t length = strcspn(word, "= \t");
    int *number = member(shape, word, length);
    char *end;
    if (!number || word[length] != '=') {
        clerror_set(EINVAL, "matmul: shape: \"%.*s\" is not KEY=NUMBER with one of the keys %s",
                    (int)strcspn(word, " \t"), word, known_keys());
        return NULL;
    }
    long value = strtol(word + length + 1, &end, 10);
    if (end == word + length + 1 || (*end && !isspace((unsigned char)*end)) || value < 0 || value > 1 << 20) {
        clerror_set(EINVAL, "matmul: shape: \"%.*s\": the number must be 0 to %d", (int)strcspn(word, " \t"), word,
                    1 << 20);
        return NULL;
    }
    *number = (int)value;
    return end;
}

static int apply(struct matmul_shape *shape, const char *words)
{
    for (words += strspn(words, " \t"); *words; words += strspn(words, " \t"))
        if (!(words = apply_word(shape, words)))
            return -1;
    return 0;
}

/* Only the keys that count on the shape's path. */
static void print(const struct matmul_shape *shape, char *text, size_t size)
{
    bool panels = false;
    size_t length = 0;
#define X(key, meaning)                                                                                            \
    panels |= strcmp(#key, "width") == 0;                                                                          \
    if (length < size && (strcmp(#key, "path") == 0 || panels == (shape->path == 2)))                              \
        length += (size_t)snprintf(text + length, size - length, "%s" #key "=%d", length ? " " : "", shape->key);
    MATMUL_SHAPE_KEYS(X)
#undef X
}

/* ---- Numbers that do not go together. --------------------------------------------------------- */

static int threads_of(const struct matmul_shape *s) { return s->bm / s->wm * (s->bn / s->wn) * 32; }

/* A group's items share out the copies of a slice evenly, one element at a time or 16 bytes. */
static bool copies_come_out(const struct matmul_shape *s, size_t real)
{
    const int wide = (int)(16 / real), threads = threads_of(s);
    return s->bk * s->bm / wide % threads == 0 && s->bk * s->bn / wide % threads == 0;
}

static const char *contradiction_of_tiles(const struct matmul_shape *s, size_t real)
{
    if (s->bm < 1 || s->bn < 1 || s->bk < 1 || s->wm < 1 || s->wn < 1 || s->raster < 1 || s->fill < 1)
        return "bm, bn, bk, wm, wn, raster and fill must be at least 1";
    if (s->bm > 256 || s->bn > 256 || s->bk > 64)
        return "bm and bn must be at most 256, and bk 64";
    if (s->wm % 32 || s->wn % 16 || s->bk % 8)
        return "wm must be a multiple of 32, wn of 16 and bk of 8";
    if (s->bm % s->wm || s->bn % s->wn)
        return "bm must be a multiple of wm, and bn of wn";
    if (s->stages < 2 || s->stages > 8)
        return "stages must be 2 to 8";
    if (s->lanes > 2)
        return "lanes must be 0, 1 or 2";
    if (s->mma && real != sizeof(double))
        return "mma=1 is for double precision";
    return copies_come_out(s, real) ? NULL : "bk x bm and bk x bn must be multiples of 16 bytes an item";
}

static const char *contradiction_of_panels(const struct matmul_shape *s)
{
    if (s->width != 2 && s->width != 4 && s->width != 8 && s->width != 16)
        return "width must be 2, 4, 8 or 16";
    if (s->rows < 1 || s->rows > 32 || s->vectors < 1 || s->vectors > 8)
        return "rows must be 1 to 32, and vectors 1 to 8";
    if (s->depth < 1 || s->depth % s->width)
        return "depth must be a multiple of width";
    if (s->high < 1 || s->unroll < 1 || s->unroll > 64)
        return "high must be at least 1, and unroll 1 to 64";
    return NULL;
}

static int check(const struct matmul_shape *s, const struct part *p, size_t real)
{
    const struct cldev_info *info = &p->info;
    const int capability = p->capability;
    const char *reason = s->path == 1   ? contradiction_of_tiles(s, real)
                         : s->path == 2 ? contradiction_of_panels(s)
                                        : "path must be 1 or 2";
    if (reason)
        return clerror_set(EINVAL, "matmul: shape: %s", reason);
    if (s->path == 2)
        return 0;
    const size_t threads = (size_t)threads_of(s), pad = s->mma ? 0 : 8;
    const size_t exchange = s->mma && !capability ? threads * 6 * real : 0; /* see mma.cl */
    const size_t local = (size_t)s->stages * (size_t)s->bk * ((size_t)s->bm + (size_t)s->bn + pad) * real + exchange;
    if (capability && (s->mma ? capability < 90 : s->async && capability < 80))
        return clerror_set(EINVAL, "matmul: shape: %s is of compute capability %d.%d, but mma=1 needs 9.0 and async=1 "
                           "needs 8.0", info->dev_name, capability / 10, capability % 10);
    if (threads > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "matmul: shape: groups of %zu items, but %s takes at most %zu", threads,
                           info->dev_name, info->dev_max_wg_sz);
    if (local > info->dev_local_mem_sz)
        return clerror_set(EINVAL, "matmul: shape: %zu bytes of local memory, but %s has %llu", local,
                           info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

/* ---- What the rest of the engine calls. ------------------------------------------------------- */

/* The power of two nearest to the edge of a cube of as much work. */
static size_t size_of(size_t m, size_t n, size_t k)
{
    return (size_t)1 << lrint(log2(cbrt((double)m * (double)n * (double)k)));
}

static const char *kernel_name(const struct matmul *mm, bool panels)
{
    static const char *const names[2][2] = {{"matmul.tiles.single", "matmul.tiles.double"},
                                            {"matmul.panels.single", "matmul.panels.double"}};
    return names[panels][mm->precision == MATMUL_DOUBLE];
}

int matmul_shape_choose(struct matmul *mm, struct part *p, size_t m, size_t n, size_t k)
{
    const size_t size = size_of(m, n, k);
    if (p->label_size == size)
        return 0;
    const int asked = mm->words ? (int)cltune_value(mm->words, "path", 0) : 0;
    const bool panels = asked ? asked == 2 : p->is_cpu;
    struct cltune_row row;
    if (cltune_find(mm->ctx, p->dev, kernel_name(mm, panels), size, &row) != 0)
        return -1;
    p->shape = panels ? modest_panels : modest_tiles;
    const int status = apply(&p->shape, row.shape);
    if (p->capability < 80)
        p->shape.async = 0; /* what the row offers besides holds */
    if (status != 0 || check(&p->shape, p, mm->real) != 0) {
        p->shape = panels ? modest_panels : modest_tiles; /* a row that does not fit is no reason to stop */
        snprintf(row.source, sizeof row.source, "%s: the stored row does not fit the device, a modest one",
                 kernel_name(mm, panels));
    }
    snprintf(p->reason, sizeof p->reason, "%s%s", row.source, mm->words ? "; then the caller's words" : "");
    if (mm->words && apply(&p->shape, mm->words) != 0)
        return -1;
    print(&p->shape, p->label, sizeof p->label);
    if (check(&p->shape, p, mm->real) != 0)
        return -1;
    p->label_size = size;
    return 0;
}
