/* shape.c - how kernels are launched on a device: rows of data.
 *
 * A row has every number that shapes a launch (see MATMUL_SHAPE_KEYS in engine.h). The tuning store
 * has rows, as words "KEY=NUMBER ...", for kinds of devices (tuning/matmul.json) and for devices
 * that were measured. The caller's own words, with which a benchmark tries many shapes, change the
 * row.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <math.h>
#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, paths, least, most, value, text)                                                    \
    {#key, offsetof(struct matmul_shape, key), least, most, value, paths},
    MATMUL_SHAPE_KEYS(X)
#undef X
        {0}};

/* ---- Numbers that do not go together. -------------------------------------------------------- */

static int threads_of(const struct matmul_shape *s)
{
    return s->bm / s->wm * (s->bn / s->wn) * 32 * s->sets;
}

/* Do all items of a group make equally many copies of a slice, be it of one element or of 16
 * bytes? */
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
    return copies_are_even(s, real) ? NULL
                                    : "bk x bm and bk x bn must be multiples of 16 bytes an item";
}

static const char *contradiction_of_panels(const struct matmul_shape *s)
{
    if (s->width & (s->width - 1))
        return "width must be 2, 4, 8 or 16";
    return s->depth % s->width ? "depth must be a multiple of width" : NULL;
}

static bool is_power(int x)
{
    return (x & (x - 1)) == 0;
}

static const char *contradiction_of_thin(const struct matmul_shape *s)
{
    if (!is_power(s->items) || !is_power(s->line) || !is_power(s->beside))
        return "items, line and beside must be powers of two";
    return s->beside > s->items || s->line > 16 * s->items
               ? "beside and line / 16 must not be more than items"
               : NULL;
}

/* Elements behind a row of a slice in local memory, at most (fma.cl). */
static size_t pad_of(const struct matmul_shape *s, int span, size_t real)
{
    const int copies = s->bk * span / threads_of(s);
    const size_t lanes = copies % 4 == 0 && s->along < 4   ? 2
                         : copies % 2 == 0 && s->along < 8 ? 4
                                                           : 8,
                 pad = 128 / real / lanes;
    return pad > 4 ? pad : 4;
}

static int fit_tiles(const struct matmul_shape *s, const struct share *p, size_t real)
{
    const struct cldev_info *info = &p->info;
    const int capability = p->capability;
    const size_t threads = (size_t)threads_of(s),
                 pad = s->mma ? 0 : pad_of(s, s->bm, real) + pad_of(s, s->bn, real);
    const size_t exchange = s->mma && !capability ? threads * 6 * real : 0; /* see mma.cl */
    const size_t local =
        (size_t)s->stages * (size_t)s->bk * ((size_t)s->bm + (size_t)s->bn + pad) * real + exchange;
    if (capability && (s->mma ? capability < 90 : s->async && capability < 80))
        return clerror_set(
            EINVAL,
            "matmul: shape: %s is of compute capability %d.%d, but mma=1 needs 9.0 and async=1 "
            "needs 8.0",
            info->dev_name, capability / 10, capability % 10);
    if (threads > info->dev_max_wg_sz)
        return clerror_set(EINVAL, "matmul: shape: groups of %zu items, but %s takes at most %zu",
                           threads, info->dev_name, info->dev_max_wg_sz);
    if (local > info->dev_local_mem_sz)
        return clerror_set(EINVAL, "matmul: shape: %zu bytes of local memory, but %s has %llu",
                           local, info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

static int fit_thin(const struct matmul_shape *s, const struct share *p)
{
    const size_t local = (size_t)20 << 10; /* rather more than launches take (skinny.c) */
    if ((size_t)s->items > p->info.dev_max_wg_sz || local > p->info.dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "matmul: shape: groups of %d items and %zu bytes of local memory, but %s takes at most %zu and %llu",
            s->items, local, p->info.dev_name, p->info.dev_max_wg_sz,
            (unsigned long long)p->info.dev_local_mem_sz);
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
    if (stored && place->share->capability < 80)
        s->async = 0; /* what the row offers besides holds */
    const char *reason = s->path != (int)place->path  ? "the row is of another path"
                         : place->path == PATH_PANELS ? contradiction_of_panels(s)
                         : place->path == PATH_THIN   ? contradiction_of_thin(s)
                                                      : contradiction_of_tiles(s, place->real);
    if (reason)
        return clerror_set(EINVAL, "matmul: shape: %s", reason);
    return place->path == PATH_PANELS ? 0
           : place->path == PATH_THIN ? fit_thin(s, place->share)
                                      : fit_tiles(s, place->share, place->real);
}

/* ---- What the rest of the engine calls. ------------------------------------------------------ */

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
    if (path == PATH_THIN)
        return d ? "matmul.thin.double" : "matmul.thin.single";
    if (batch)
        return d ? "matmul.batch.double" : "matmul.batch.single";
    return d ? "matmul.tiles.double" : "matmul.tiles.single";
}

static enum matmul_path path_of(const struct matmul *mm, const struct share *p)
{
    const long path = cltune_value(mm->words, "path", p->is_cpu ? PATH_PANELS : PATH_TILES);
    return path == PATH_PANELS || path == PATH_THIN ? (enum matmul_path)path : PATH_TILES;
}

/* The row for a size of problem, with the caller's words, or without. */
static int choose_row(struct matmul *mm, const struct share *p, enum matmul_path path, size_t size,
                      bool batch, const char *words, struct matmul_shape *shape,
                      struct cltune_row *row)
{
    struct place place = {p, path, mm->real};
    const struct cltune_rules rules = {.name = "matmul",
                                       .keys = keys,
                                       .kind = 1u << path,
                                       .defaults = defaults,
                                       .fit = fit,
                                       .arg = &place};
    return cltune_choose(&rules, mm->ctx, p->dev, kernel_name(mm, place.path, batch), size, words,
                         shape, row);
}

static int choose(struct matmul *mm, struct share *p, size_t size, bool batch)
{
    if (p->row_size == size && p->row_batch == batch)
        return 0;
    p->row_size = 0; /* an error leaves no shape */
    if (choose_row(mm, p, path_of(mm, p), size, batch, mm->words, &p->shape, &p->row) != 0)
        return -1;
    p->shape.rate = (int)cltune_value(mm->words, "rate", 0); /* the row's may be another tile's */
    p->row_size = size;
    p->row_batch = batch;
    return 0;
}

/* The device's rows that can be compared, since they tell their `rate`. Where the caller's words
 * say how large tiles are, there are none. */
static int find_rows(struct matmul *mm, struct share *p)
{
    struct cltune_row rows[MOST_ROWS];
    size_t sizes[MOST_ROWS];
    const bool own = path_of(mm, p) != PATH_TILES || cltune_value(mm->words, "bm", 0) ||
                     cltune_value(mm->words, "bn", 0);
    p->nrows = 0;
    const int n = own ? 0
                      : cltune_rows(mm->ctx, p->dev, kernel_name(mm, PATH_TILES, false), rows,
                                    sizes, MOST_ROWS);
    for (int i = 0; i < n; i++) {
        struct matmul_row *next = p->rows + p->nrows;
        if (cltune_value(rows[i].shape, "rate", 0) == 0)
            continue;
        char words[2 * sizeof rows->shape]; /* all that the row says, then the caller's */
        struct cltune_row row;
        if (snprintf(words, sizeof words, "%s %s", rows[i].shape, mm->words ? mm->words : "") >=
            (int)sizeof words)
            return clerror_set(EINVAL, "matmul: shape: more than %zu letters", sizeof rows->shape);
        if (choose_row(mm, p, PATH_TILES, sizes[i], false, words, &next->shape, &row) != 0)
            continue; /* not for this device, or these words; without any row choose() tells what is
                         wrong */
        next->size = sizes[i];
        memcpy(next->line, row.shape, sizeof next->line);
        p->nrows++;
    }
    p->knows_rows = n >= 0;
    return n < 0 ? -1 : 0;
}

/* A row that was compared with others. */
static void take_row(const struct matmul *mm, struct share *p, const struct matmul_row *row,
                     const struct extent *e)
{
    p->shape = row->shape;
    p->row_size = SIZE_MAX; /* whatever the next one is, it is chosen anew */
    p->row_batch = false;
    snprintf(p->row.shape, sizeof p->row.shape, "%s", row->line);
    snprintf(
        p->row.source, sizeof p->row.source,
        "%s, %zu x %zu x %zu: of %zu rows shipped for such a device that of least predicted time",
        kernel_name(mm, PATH_TILES, false), e->m, e->n, e->k, p->nrows);
}

size_t matmul_units(const struct share *p)
{
    return p->info.dev_max_core ? p->info.dev_max_core : 1;
}

/* Of the mean block of C where ranks multiply: all take the same row. */
static struct extent extent_of(const struct matmul *mm, size_t m, size_t n, size_t k, enum lie lie)
{
    const size_t *as = mm->as, step = 16 / mm->real;
    if (as[0])
        return (struct extent){
            as[0], as[1], as[2], mm->real, as[1] % step || as[2] % step ? LIE_ANYWHERE : LIE_WELL,
            false};
    return (struct extent){m, n, k, mm->real, lie, true};
}

static bool same(const struct extent *a, const struct extent *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->lie == b->lie &&
           a->divisible == b->divisible;
}

const struct matmul_row *matmul_shape_thin(struct matmul *mm, struct share *p, size_t vectors)
{
    const size_t size = matmul_thin_vectors(vectors);
    struct matmul_row *thin = &p->thin[lrint(log2((double)size))];
    struct cltune_row row;
    if (thin->size == 0 && choose_row(mm, p, PATH_THIN, size, false, NULL, &thin->shape, &row) != 0)
        return NULL; /* never: what the store has fits, or else the defaults */
    if (thin->size == 0)
        memcpy(thin->line, row.shape, sizeof thin->line);
    thin->size = size;
    return thin;
}

/* With few rows or columns, behind the choice of a row for tiles: a matrix times a few vectors, if
 * that is predicted to take less time. */
static void consider_thin(struct matmul *mm, struct share *p, const struct extent *e)
{
    const size_t units = matmul_units(p), few = smaller(e->m, e->n);
    const struct matmul_row *thin = few <= THIN_VECTORS ? matmul_shape_thin(mm, p, few) : NULL;
    if (!thin ||
        matmul_plan_thin(&thin->shape, units, e) >=
            fmax(matmul_plan(&p->shape, units, e).cost, matmul_plan_memory(&thin->shape, units, e)))
        return;
    p->shape = thin->shape;
    p->row_size = SIZE_MAX;
    snprintf(p->row.shape, sizeof p->row.shape, "%s", thin->line);
    snprintf(p->row.source, sizeof p->row.source,
             "%s, %zu x %zu x %zu: few rows or columns, of less predicted time than tiles",
             kernel_name(mm, PATH_THIN, false), e->m, e->n, e->k);
}

static const double rest_worth =
    0.975; /* it is left to skinny.cl if that takes less than this part of the time */

/* What a row of tiles costs if it computes whole tiles only, and skinny.cl the rest. INFINITY:
 * there is no rest, or it is too much. */
static double cost_with_rest(struct matmul *mm, struct share *p, const struct matmul_shape *s,
                             const struct extent *e)
{
    const struct extent part = matmul_plan_inner(s, e);
    const size_t rows = e->m - part.m, cols = e->n - part.n;
    const struct matmul_row *below = rows ? matmul_shape_thin(mm, p, rows) : NULL,
                            *beside = cols ? matmul_shape_thin(mm, p, cols) : NULL;
    if ((rows == 0 && cols == 0) || (rows && !below) || (cols && !beside))
        return INFINITY;
    return matmul_plan_with_rest(s, below ? &below->shape : NULL, beside ? &beside->shape : NULL,
                                 matmul_units(p), e);
}

/* Tiles that lack most of their rows or columns take as long as whole ones: where C ends with a few
 * behind whole tiles, skinny.cl may compute them. */
static void consider_rest(struct matmul *mm, struct share *p, const struct extent *e)
{
    const struct matmul_row *best = NULL;
    double least = rest_worth * matmul_plan(&p->shape, matmul_units(p), e).cost;
    for (size_t i = 0; i < p->nrows; i++) {
        const double cost = cost_with_rest(mm, p, &p->rows[i].shape, e);
        if (cost < least) {
            least = cost;
            best = &p->rows[i];
        }
    }
    if (!best)
        return;
    const struct extent part = matmul_plan_inner(&best->shape, e);
    take_row(mm, p, best, e);
    p->rest_rows = e->m - part.m;
    p->rest_cols = e->n - part.n;
    const size_t length = strlen(p->row.source);
    snprintf(p->row.source + length, sizeof p->row.source - length,
             "; the last %zu rows and %zu columns as a matrix times a few vectors", p->rest_rows,
             p->rest_cols);
}

int matmul_shape_choose(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k,
                        enum lie lie)
{
    const struct extent e = extent_of(mm, m, n, k, lie);
    if (p->row_size && !p->row_batch && same(&e, &p->extent))
        return 0;
    if (!p->knows_rows && find_rows(mm, p) != 0)
        return -1;
    const struct matmul_row *row = matmul_plan_row(p->rows, p->nrows, matmul_units(p), &e);
    p->extent = e;
    p->rest_rows = p->rest_cols = 0;
    if (row)
        take_row(mm, p, row, &e);
    else if (choose(mm, p,
                    path_of(mm, p) == PATH_THIN ? matmul_thin_vectors(smaller(m, n))
                                                : size_of(e.m, e.n, e.k),
                    false) != 0)
        return -1;
    /* Neither where ranks multiply, whose bits must not depend on where blocks end, nor with words
     * of the caller's, which are about tiles. */
    if (p->shape.path == PATH_TILES && !mm->words && e.divisible) {
        consider_thin(mm, p, &e);
        if (p->shape.path == PATH_TILES)
            consider_rest(mm, p, &e);
    }
    return 0;
}

int matmul_shape_choose_batch(struct matmul *mm, struct share *p, size_t m, size_t n, size_t k)
{
    return choose(mm, p, size_of(m, n, k), true);
}
