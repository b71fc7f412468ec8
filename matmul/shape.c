/* shape.c - launch shapes on a device, from tuning entries.
 *
 * An entry has every number that shapes a launch (MATMUL_SHAPE_KEYS in shape.h), as words
 * "KEY=NUMBER ...". The tuning store has entries for kinds of devices (tuning/matmul.json) and for
 * measured devices. The caller's words, with which a benchmark tries many shapes, change the entry.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/plan.h"
#include "matmul/shape.h"

#include <math.h>
#include <stddef.h>

static const struct cltune_key keys[] = {
#define X(key, paths, least, most, value, text)                                                    \
    {#key, offsetof(struct matmul_shape, key), least, most, value, paths},
    MATMUL_SHAPE_KEYS(X)
#undef X
        {0}};

/* ---- Contradictory numbers. ------------------------------------------------------------------ */

static int shape_threads(const struct matmul_shape *s)
{
    return s->bm / s->wm * (s->bn / s->wn) * 32 * s->k_groups;
}

/* True if all items of a group make equally many copies of a slice, of one element or of 16 bytes.
 */
static bool copies_are_even(const struct matmul_shape *s, size_t real)
{
    const int wide = (int)(16 / real), threads = shape_threads(s);
    return s->bk * s->bm / wide % threads == 0 && s->bk * s->bn / wide % threads == 0;
}

static const char *conflict_of_tiles(const struct matmul_shape *s, size_t real)
{
    if (s->wm % 32 || s->wn % 16 || s->bk % 8)
        return "wm must be a multiple of 32, wn of 16 and bk of 8";
    if (s->bm % s->wm || s->bn % s->wn)
        return "bm must be a multiple of wm, and bn of wn";
    if (s->mma && real != sizeof(double))
        return "mma=1 is for double precision";
    if (s->k_groups == 3 || s->bk % (s->k_groups * (s->mma ? 8 : 2)))
        return "k_groups must be 1, 2 or 4, and bk a multiple of 2 k_groups, or of 8 k_groups with mma=1";
    return copies_are_even(s, real) ? NULL
                                    : "bk x bm and bk x bn must be multiples of 16 bytes an item";
}

static const char *conflict_of_panels(const struct matmul_shape *s)
{
    if (s->width & (s->width - 1))
        return "width must be 2, 4, 8 or 16";
    return s->depth % s->width ? "depth must be a multiple of width" : NULL;
}

static bool key_is_power_of_two(int x)
{
    return (x & (x - 1)) == 0;
}

static const char *conflict_of_skinny(const struct matmul_shape *s)
{
    if (!key_is_power_of_two(s->items) || !key_is_power_of_two(s->line_bytes) ||
        !key_is_power_of_two(s->items_across))
        return "items, line_bytes and items_across must be powers of two";
    return s->items_across > s->items || s->line_bytes > 16 * s->items
               ? "items_across and line_bytes / 16 must not exceed items"
               : NULL;
}

/* Maximum padding of a row of a slice in local memory, in elements (fma.cl). */
static size_t slice_padding(const struct matmul_shape *s, int span, size_t real)
{
    const int copies = s->bk * span / shape_threads(s);
    const size_t lanes = copies % 4 == 0 && s->k_lanes < 4   ? 2
                         : copies % 2 == 0 && s->k_lanes < 8 ? 4
                                                             : 8,
                 pad = 128 / real / lanes;
    return pad > 4 ? pad : 4;
}

static int shape_fit_tiles(const struct matmul_shape *s, const struct matmul_device *p, size_t real)
{
    const struct cldev_info *info = &p->info;
    const int capability = p->capability;
    const size_t threads = (size_t)shape_threads(s),
                 pad = s->mma ? 0 : slice_padding(s, s->bm, real) + slice_padding(s, s->bn, real);
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
        return clerror_set(EINVAL, "matmul: shape: %zu work-items in a group, but %s allows %zu",
                           threads, info->dev_name, info->dev_max_wg_sz);
    if (local > info->dev_local_mem_sz)
        return clerror_set(EINVAL, "matmul: shape: %zu bytes of local memory, but %s has %llu",
                           local, info->dev_name, (unsigned long long)info->dev_local_mem_sz);
    return 0;
}

static int shape_fit_skinny(const struct matmul_shape *s, const struct matmul_device *p)
{
    const size_t local = (size_t)20 << 10; /* more than any launch takes (skinny.c) */
    if ((size_t)s->items > p->info.dev_max_wg_sz || local > p->info.dev_local_mem_sz)
        return clerror_set(
            EINVAL,
            "matmul: shape: groups of %d items and %zu bytes of local memory, but %s takes at most %zu and %llu",
            s->items, local, p->info.dev_name, p->info.dev_max_wg_sz,
            (unsigned long long)p->info.dev_local_mem_sz);
    return 0;
}

/* The device, path and precision that a shape must fit. */
struct fit_target {
    const struct matmul_device *device;
    enum matmul_path path;
    size_t real;
};

static void matmul_shape_defaults(void *shape, void *arg)
{
    ((struct matmul_shape *)shape)->path = (int)((const struct fit_target *)arg)->path;
}

static int matmul_shape_fit(void *shape, int stored, void *arg)
{
    struct matmul_shape *s = shape;
    const struct fit_target *target = arg;
    if (stored && target->device->capability < 80)
        s->async = 0; /* an older device uses the entry without cp.async */
    const char *reason = s->path != (int)target->path  ? "the entry is for another path"
                         : target->path == PATH_PANELS ? conflict_of_panels(s)
                         : target->path == PATH_SKINNY ? conflict_of_skinny(s)
                                                       : conflict_of_tiles(s, target->real);
    if (reason)
        return clerror_set(EINVAL, "matmul: shape: %s", reason);
    return target->path == PATH_PANELS   ? 0
           : target->path == PATH_SKINNY ? shape_fit_skinny(s, target->device)
                                         : shape_fit_tiles(s, target->device, target->real);
}

/* ---- Choice of a shape. ---------------------------------------------------------------------- */

/* Side of a cube of equal work, rounded to a power of two. */
static size_t shape_size(size_t m, size_t n, size_t k)
{
    return (size_t)1 << lrint(log2(cbrt((double)m * (double)n * (double)k)));
}

static const char *shape_kernel_name(const struct matmul *mm, enum matmul_path path, bool batch)
{
    const bool d = mm->precision == MATMUL_DOUBLE;
    if (path == PATH_PANELS)
        return d ? "matmul.panels.double" : "matmul.panels.single";
    if (path == PATH_SKINNY)
        return d ? "matmul.skinny.double" : "matmul.skinny.single";
    if (batch)
        return d ? "matmul.batch.double" : "matmul.batch.single";
    return d ? "matmul.tiles.double" : "matmul.tiles.single";
}

static enum matmul_path shape_path(const struct matmul *mm, const struct matmul_device *p)
{
    const long path = cltune_value(mm->shape_words, "path", p->is_cpu ? PATH_PANELS : PATH_TILES);
    return path == PATH_PANELS || path == PATH_SKINNY ? (enum matmul_path)path : PATH_TILES;
}

/* Choose the stored entry for a problem size, changed by `words` (NULL: unchanged). */
static int shape_choose_entry(struct matmul *mm, const struct matmul_device *p,
                              enum matmul_path path, size_t size, bool batch, const char *words,
                              struct matmul_shape *shape, struct cltune_row *row)
{
    struct fit_target target = {p, path, mm->real};
    const struct cltune_rules rules = {.name = "matmul",
                                       .keys = keys,
                                       .kind = 1u << path,
                                       .defaults = matmul_shape_defaults,
                                       .fit = matmul_shape_fit,
                                       .arg = &target};
    return cltune_choose(&rules, mm->ctx, p->dev, shape_kernel_name(mm, target.path, batch), size,
                         words, shape, row);
}

static int shape_choose_stored(struct matmul *mm, struct matmul_device *p, size_t size, bool batch)
{
    if (p->entry_size == size && p->entry_batch == batch)
        return 0;
    p->entry_size = 0; /* after an error there is no shape */
    if (shape_choose_entry(mm, p, shape_path(mm, p), size, batch, mm->shape_words, &p->shape,
                           &p->entry) != 0)
        return -1;
    p->shape.peak_percent = (int)cltune_value(mm->shape_words, "peak_percent",
                                              0); /* the entry's value may be for other tiles */
    p->entry_size = size;
    p->entry_batch = batch;
    return 0;
}

/* Load the device's entries with a known peak_percent: they compete by predicted time. If the
 * caller's words set the size of tiles, there are none. */
static int shape_load_entries(struct matmul *mm, struct matmul_device *p)
{
    struct cltune_row rows[ENTRIES_MAX];
    size_t sizes[ENTRIES_MAX];
    const bool own = shape_path(mm, p) != PATH_TILES || cltune_value(mm->shape_words, "bm", 0) ||
                     cltune_value(mm->shape_words, "bn", 0);
    p->nentries = 0;
    const int n = own ? 0
                      : cltune_rows(mm->ctx, p->dev, shape_kernel_name(mm, PATH_TILES, false), rows,
                                    sizes, ENTRIES_MAX);
    for (int i = 0; i < n; i++) {
        struct matmul_entry *next = p->entries + p->nentries;
        if (cltune_value(rows[i].shape, "peak_percent", 0) == 0)
            continue;
        char words[2 * sizeof rows->shape]; /* all words of the entry, then the caller's */
        struct cltune_row row;
        if (snprintf(words, sizeof words, "%s %s", rows[i].shape,
                     mm->shape_words ? mm->shape_words : "") >= (int)sizeof words)
            return clerror_set(EINVAL, "matmul: shape: longer than %zu characters",
                               sizeof rows->shape);
        if (shape_choose_entry(mm, p, PATH_TILES, sizes[i], false, words, &next->shape, &row) != 0)
            /* Unfit for this device or these words; shape_choose_stored reports it. */
            continue;
        next->size = sizes[i];
        memcpy(next->words, row.shape, sizeof next->words);
        p->nentries++;
    }
    p->entries_known = n >= 0;
    return n < 0 ? -1 : 0;
}

/* Use an entry that won by predicted time. */
static void shape_take_entry(const struct matmul *mm, struct matmul_device *p,
                             const struct matmul_entry *row, const struct problem_size *e)
{
    p->shape = row->shape;
    p->entry_size = SIZE_MAX; /* choose again for the next product */
    p->entry_batch = false;
    snprintf(p->entry.shape, sizeof p->entry.shape, "%s", row->words);
    snprintf(p->entry.source, sizeof p->entry.source,
             "%s, %zu x %zu x %zu: the entry of least predicted time, of %zu for such a device",
             shape_kernel_name(mm, PATH_TILES, false), e->m, e->n, e->k, p->nentries);
}

size_t matmul_compute_units(const struct matmul_device *p)
{
    return p->info.dev_max_core ? p->info.dev_max_core : 1;
}

/* Return the size that entries are compared for: while ranks multiply, the mean block of C, so
 * that all ranks choose the same entry. */
static struct problem_size shape_problem(const struct matmul *mm, size_t m, size_t n, size_t k,
                                         enum alignment alignment)
{
    const size_t *as = mm->shape_mnk, step = 16 / mm->real;
    if (as[0])
        return (struct problem_size){
            as[0], as[1], as[2], mm->real, as[1] % step || as[2] % step ? UNALIGNED : ALIGN_32,
            false};
    return (struct problem_size){m, n, k, mm->real, alignment, true};
}

static bool same_problem(const struct problem_size *a, const struct problem_size *b)
{
    return a->m == b->m && a->n == b->n && a->k == b->k && a->alignment == b->alignment &&
           a->can_split == b->can_split;
}

const struct matmul_entry *matmul_shape_skinny(struct matmul *mm, struct matmul_device *p,
                                               size_t vectors)
{
    const size_t size = matmul_skinny_vectors(vectors);
    struct matmul_entry *skinny = &p->skinny[lrint(log2((double)size))];
    struct cltune_row row;
    if (skinny->size == 0 &&
        shape_choose_entry(mm, p, PATH_SKINNY, size, false, NULL, &skinny->shape, &row) != 0)
        return NULL; /* never: an entry or the defaults fit */
    if (skinny->size == 0)
        memcpy(skinny->words, row.shape, sizeof skinny->words);
    skinny->size = size;
    return skinny;
}

/* Use skinny.cl for few rows or columns, if its predicted time is less than that of tiles. */
static void shape_consider_skinny(struct matmul *mm, struct matmul_device *p,
                                  const struct problem_size *e)
{
    const size_t units = matmul_compute_units(p), few = min_size(e->m, e->n);
    const struct matmul_entry *skinny =
        few <= SKINNY_VECTORS_MAX ? matmul_shape_skinny(mm, p, few) : NULL;
    if (!skinny || matmul_plan_skinny(&skinny->shape, units, e) >=
                       fmax(matmul_plan(&p->shape, units, e).cost,
                            matmul_plan_memory_bound(&skinny->shape, units, e)))
        return;
    p->shape = skinny->shape;
    p->entry_size = SIZE_MAX;
    snprintf(p->entry.shape, sizeof p->entry.shape, "%s", skinny->words);
    snprintf(p->entry.source, sizeof p->entry.source,
             "%s, %zu x %zu x %zu: few rows or columns, less predicted time than tiles",
             shape_kernel_name(mm, PATH_SKINNY, false), e->m, e->n, e->k);
}

/* Edges by skinny.cl must take less than this part of the time. */
static const double edge_ratio_max = 0.975;

/* Cost of an entry with whole tiles only and skinny.cl for the edges. INFINITY if there are no
 * edges, or if they are too large. */
static double shape_cost_with_edges(struct matmul *mm, struct matmul_device *p,
                                    const struct matmul_shape *s, const struct problem_size *e)
{
    const struct problem_size part = matmul_plan_interior(s, e);
    const size_t rows = e->m - part.m, cols = e->n - part.n;
    const struct matmul_entry *below = rows ? matmul_shape_skinny(mm, p, rows) : NULL,
                              *beside = cols ? matmul_shape_skinny(mm, p, cols) : NULL;
    if ((rows == 0 && cols == 0) || (rows && !below) || (cols && !beside))
        return INFINITY;
    return matmul_plan_with_edges(s, below ? &below->shape : NULL, beside ? &beside->shape : NULL,
                                  matmul_compute_units(p), e);
}

/* Let skinny.cl compute the edges of C, if that is faster: a tile that lacks most of its rows or
 * columns takes as long as a whole one. */
static void shape_consider_edges(struct matmul *mm, struct matmul_device *p,
                                 const struct problem_size *e)
{
    const struct matmul_entry *best = NULL;
    double least = edge_ratio_max * matmul_plan(&p->shape, matmul_compute_units(p), e).cost;
    for (size_t i = 0; i < p->nentries; i++) {
        const double cost = shape_cost_with_edges(mm, p, &p->entries[i].shape, e);
        if (cost < least) {
            least = cost;
            best = &p->entries[i];
        }
    }
    if (!best)
        return;
    const struct problem_size part = matmul_plan_interior(&best->shape, e);
    shape_take_entry(mm, p, best, e);
    p->edge_rows = e->m - part.m;
    p->edge_cols = e->n - part.n;
    const size_t length = strlen(p->entry.source);
    snprintf(p->entry.source + length, sizeof p->entry.source - length,
             "; the last %zu rows and %zu columns as a matrix times a few vectors", p->edge_rows,
             p->edge_cols);
}

int matmul_shape_choose(struct matmul *mm, struct matmul_device *p, size_t m, size_t n, size_t k,
                        enum alignment alignment)
{
    const struct problem_size e = shape_problem(mm, m, n, k, alignment);
    if (p->entry_size && !p->entry_batch && same_problem(&e, &p->problem))
        return 0;
    if (!p->entries_known && shape_load_entries(mm, p) != 0)
        return -1;
    const struct matmul_entry *row =
        matmul_plan_entry(p->entries, p->nentries, matmul_compute_units(p), &e);
    p->problem = e;
    p->edge_rows = p->edge_cols = 0;
    if (row)
        shape_take_entry(mm, p, row, &e);
    else if (shape_choose_stored(mm, p,
                                 shape_path(mm, p) == PATH_SKINNY
                                     ? matmul_skinny_vectors(min_size(m, n))
                                     : shape_size(e.m, e.n, e.k),
                                 false) != 0)
        return -1;
    /* Not while ranks multiply, whose bits must not depend on where blocks end, nor with the
     * caller's words, which are for tiles. */
    if (p->shape.path == PATH_TILES && !mm->shape_words && e.can_split) {
        shape_consider_skinny(mm, p, &e);
        if (p->shape.path == PATH_TILES)
            shape_consider_edges(mm, p, &e);
    }
    return 0;
}

int matmul_shape_choose_batch(struct matmul *mm, struct matmul_device *p, size_t m, size_t n,
                              size_t k)
{
    return shape_choose_stored(mm, p, shape_size(m, n, k), true);
}
