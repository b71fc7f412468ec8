/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row has every number that shapes a launch (see MATMUL_SHAPE_KEYS in engine.h). The tuning store has rows, as words
 * "KEY=NUMBER ...", for kinds of devices (tuning/matmul.json) and for devices that were measured. The caller's own words,
 * with which a benchmark tries many shapes, change the row.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <math.h>
#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, paths, least, most, value, text) \
    {#key, offsetof(struct matmul_shape, key), least, most, value, paths},
    MATMUL_SHAPE_KEYS(X)
#undef X
    {0}};

/* ---- Numbers that do not go together. --------------------------------------------------------- */

static int threads_of(const struct matmul_shape *s) { return s->bm / s->wm * (s->bn / s->wn) * 32 * s->sets; }

/* Do all items of a group make equally many copies of a slice, be it of one element or of 16 bytes? */
static bool copies_are_even(const struct matmul_shape *s, size_t real)
{
    const int wide = (int)(16 / real), threads = threads_of(s);
    return s->bk * s->bm / wide % threads == 0 && s->bk * s->bn / wide % threads == 0;
}

static const char *contradiction_of_tiles(const struct matmul_shape *s, size_t real)
{
    if (s->wm % 32 || s->wn % 16 || s->bk % 8)
        return "wm must be a multiple of 32, wn of 16 and bk of 8";
    if (s->bm % s->wm || s->bn % s->wn)
        return "bm must be a multiple of wm, and bn of wn";
    if (s->mma && real != sizeof(double))
        return "mma=1 is for double precision";
    if (s->sets == 3 || s->bk % (s->sets * (s->mma ? 8 : 2)))
        return "sets must be 1, 2 or 4, and bk a multiple of 2 sets, or of 8 sets with mma=1";
    return copies_are_even(s, real) ? NULL : "bk x bm and bk x bn must be multiples of 16 bytes an item";
}

static const char *contradiction_of_panels(const struct matmul_shape *s)
{
    if (s->width & (s->width - 1))
        return "width must be 2, 4, 8 or 16";
    return s->depth % s->width ? "depth must be a multiple of width" : NULL;
}

/* Elements behind a row of a slice in local memory, at most (fma.cl). */
static size_t pad_of(const struct matmul_shape *s, int span, size_t real)
{
    const int copies = s->bk * span / threads_of(s);
    const size_t lanes = copies % 4 == 0 && s->along < 4 ? 2 : copies % 2 == 0 && s->along < 8 ? 4 : 8, pad = 128 / real / lanes;
    return pad > 4 ? pad : 4;
}

static int fit_tiles(const struct matmul_shape *s, const struct share *p, size_t real)
{
    const struct cldev_info *info = &p->info;
    const int capability = p->capability;
    const size_t threads = (size_t)threads_of(s), pad = s->mma ? 0 : pad_of(s, s->bm, real) + pad_of(s, s->bn, real);
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

/* A shape for a device. */
struct place {
    const struct share *share;
    enum matmul_path path;
    size_t real;
};

static void defaults(void *shape, void *arg)
{
    ((struct matmul_shape *)shape)->path = (int)((const struct place *)arg)->path;
}

static int fit(void *shape, int stored, void *arg)
{
    struct matmul_shape *s = shape;
    const struct place *place = arg;
    const bool panels = place->path == PATH_PANELS;
    if (stored && place->share->capability < 80)
        s->async = 0; /* what the row offers besides holds */
    const char *reason = s->path != (int)place->path ? "the row is of another path"
                         : panels                    ? contradiction_of_panels(s)
                                                     : contradiction_of_tiles(s, place->real);
    if (reason)
        return clerror_set(EINVAL, "matmul: shape: %s", reason);
    return panels ? 0 : fit_tiles(s, place->share, place->real);
}

/* ---- What the rest of the engine calls. ------------------------------------------------------- */

/* The power of two nearest to the edge of a cube of as much work. */
static size_t size_of(size_t m, size_t n, size_t k)
{
    return (size_t)1 << lrint(log2(cbrt((double)m * (double)n * (double)k)));
}

static const char *kernel_name(const struct matmul *mm, enum matmul_path path, bool batch)
{
    const bool d = mm->precision == MATMUL_DOUBLE;
    if (path == PATH_PANELS)
        return d ? "matmul.panels.double" : "matmul.panels.single";
    if (batch)
        return d ? "matmul.batch.double" : "matmul.batch.single";
    return d ? "matmul.tiles.double" : "matmul.tiles.single";
}

static int choose(struct matmul *mm, struct share *p, size_t size, bool batch)
{
    if (p->row_size == size && p->row_batch == batch)
        return 0;
    const long usual = p->is_cpu ? PATH_PANELS : PATH_TILES, asked = cltune_value(mm->words, "path", usual);
    struct place place = {p, asked == PATH_PANELS ? PATH_PANELS : PATH_TILES, mm->real};
    const struct cltune_rules rules = {.name = "matmul",
                                       .keys = keys,
                                       .kind = place.path == PATH_PANELS ? OF_PANELS : OF_TILES,
                                       .defaults = defaults,
                                       .fit = fit,
                                       .arg = &place};
    p->row_size = 0; /* an error leaves no shape */
    if (cltune_choose(&rules, mm->ctx, p->dev, kernel_name(mm, place.path, batch), size, mm->words, &p->shape, &p->row) != 0)
        return -1;
    p->row_size = size;
    p->row_batch = batch;
    return 0;
}

int matmul_shape_choose(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k)
{
    const size_t *as = mm->as;
    return choose(mm, p, as[0] ? size_of(as[0], as[1], as[2]) : size_of(m, n, k), false);
}

int matmul_shape_choose_batch(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k)
{
    return choose(mm, p, size_of(m, n, k), true);
}
