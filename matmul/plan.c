/* plan.c - how groups share a product, and which row of shapes takes the least time for it.
 *
 * Time is reckoned in multiply-adds that a compute unit could do meanwhile. A group does bm x bn of
 * them for each step of the depth, and takes as long as `started` steps more to begin and to store.
 * A unit that has `fill` groups at a time does `rate` percent of what it could; with fewer each
 * does `alone` percent, as long as that is not more in all. Where rows of A or B begin anywhere
 * that is `narrow` percent as much, or they are copied first; where those of both begin beside
 * sectors, half of that is lost: 702, 1,022 and 2,046 did 0.80 to 0.95 of sizes that lie well, and
 * 0.82 to 0.99 is reckoned. A tile that several groups share costs each of them `joined` steps
 * more, and JOINED_EACH for each of FAN of them; whatever the depth it costs FIRST, for each
 * further level of their tree (tile.cl) LEVEL and LEVEL_BYTE a byte, or, where a kernel of its own
 * adds up, LATER and LATER_BYTE for each byte of the parts that a unit left. A few rows or columns
 * behind whole tiles may be left to skinny.cl, which costs BEGINS and what it reads.
 *
 * The numbers were fitted to products of 300 to 4,096 and thin ones on an H200
 * (bench/studies/nvidia-h200-plans.json, nvidia-h200-parts.json and nvidia-h200-slices.json); those
 * of a row are in tuning/matmul.json. A row without `rate` is for its own size, and all its groups
 * are taken for equally fast.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <math.h>

enum {
    MOST_SPLITS = 64,
    JOINED_EACH = 2,
    FAN = 4,               /* parts that a group adds up at a time */
    JOINED_INSIDE = 16384, /* bytes of a tile of which groups add up more of them */
    FIRST = 200000,
    LEVEL = 300000,
    LEVEL_BYTE = 25,
    LATER = 1000000,
    LATER_BYTE = 6,
    SAVED = 100000,   /* what a unit could do in 0.4 microseconds */
    BEGINS = 2000000, /* what a unit could do while one more kernel begins, finds nothing in caches,
                         and ends: 8 microseconds */
    FAR = 245000,     /* what a unit could do while a number comes from memory: 1 microsecond */
    CACHE = 48 << 20, /* bytes that the cache of all units holds */
};
static const double worth =
    0.985; /* tiles are shared if that takes less than this part of the time, and SAVED less */

/* While the only group of a unit begins, nothing else goes on there. */
static double started(const struct matmul_shape *s, const struct extent *e)
{
    return (s->fill == 1 ? 8 : 4) * (double)e->real;
}
static double joined(const struct extent *e)
{
    return 9 * (double)e->real;
}

/* Of the kernel that can share tiles: it needs a few more registers, which matters where a unit has
 * several groups. */
static double shared_speed(const struct matmul_shape *s)
{
    return s->fill == 1 ? 1 : 0.95;
}

/* How much of what a unit could do it does with so many groups, `fill` at most. */
static double speed(const struct matmul_shape *s, size_t groups)
{
    if (s->rate == 0)
        return (double)groups / s->fill;
    return (groups == (size_t)s->fill ? s->rate
                                      : fmin((double)groups * s->alone, fmax(s->rate, s->alone))) /
           100;
}

/* Does a kernel behind them add up so many parts, and not the groups themselves? That is faster for
 * many parts of large tiles, which are more than the last group's unit can read at a time; but not
 * where `whole` tiles take longer than parts, and hide what these cost. */
static bool joins_later(const struct matmul_shape *s, const struct extent *e, size_t whole,
                        size_t splits)
{
    return whole == 0 && splits > FAN && (size_t)s->bm * (size_t)s->bn * e->real > JOINED_INSIDE;
}

/* What adding up so many parts of each tile behind the first `whole` costs besides, whatever the
 * depth. */
static double join_cost(const struct matmul_shape *s, size_t units, const struct extent *e,
                        size_t whole, size_t rest, size_t splits)
{
    const double bytes = (double)s->bm * (double)s->bn * (double)e->real;
    const int levels = splits <= FAN ? 0 : splits <= FAN * FAN ? 1 : 2; /* beyond the first */
    if (joins_later(s, e, whole, splits))
        return LATER + LATER_BYTE * bytes * (double)(rest * splits) / (double)units;
    return FIRST + levels * (LEVEL + LEVEL_BYTE * bytes);
}

/* While so many groups run on a unit, `fill` at most, each does a step of depth in this time.
 * Operands that the cache does not hold come from memory, which takes FAR, and a group has asked
 * for all but one of its slices by then. */
static double step(const struct matmul_shape *s, const struct extent *e, size_t groups)
{
    const double busy = (double)groups * (double)s->bm * (double)s->bn / speed(s, groups),
                 bytes = (double)e->k * (double)(e->m + e->n) * (double)e->real;
    return bytes < CACHE ? busy : fmax(busy, FAR / (double)((s->stages - 1) * s->bk));
}

/* How long a unit takes for so many groups of that depth, `fill` at a time. */
static double busy(const struct matmul_shape *s, const struct extent *e, size_t groups,
                   double depth)
{
    const size_t fill = (size_t)s->fill, rest = groups % fill;
    return depth * ((double)(groups / fill) * step(s, e, fill) + (rest ? step(s, e, rest) : 0));
}

/* The same of a unit with `tiles` of the whole depth and `parts` of a depth. */
static double busy_with_parts(const struct matmul_shape *s, const struct extent *e, size_t tiles,
                              double depth, size_t parts, double part)
{
    if (tiles == 0)
        return busy(s, e, parts, part);
    const size_t groups = smaller(tiles + parts, (size_t)s->fill);
    return ((double)tiles * depth + (double)parts * part) / (double)groups * step(s, e, groups);
}

/* The most parts of a tile. Where a unit has room for another group than its whole tiles', there
 * are fewer parts than units: NVIDIA's devices place groups otherwise when there is one more for
 * each unit, and some units have two whole tiles and others none. */
static size_t most_splits(const struct matmul_shape *s, size_t units, size_t whole, size_t rest,
                          size_t k)
{
    const size_t most =
        rest ? smaller(k / (size_t)s->span, smaller(MOST_SPLITS, PLAN_SHARED / rest)) : 1;
    return rest && whole && whole / units < (size_t)s->fill ? smaller(most, (units - 1) / rest)
                                                            : most;
}

/* With the tiles behind the first `whole` shared by groups, if that takes less time than `best`. */
static void share_tiles(struct tile_plan *best, const struct matmul_shape *s, size_t units,
                        size_t whole, const struct extent *e)
{
    const size_t rest = best->tiles - whole, most = most_splits(s, units, whole, rest, e->k);
    for (size_t splits = 2; rest && splits <= most; splits++) {
        const double part = (double)divide_up(e->k, splits) + started(s, e) + joined(e) +
                            JOINED_EACH * (double)smaller(splits, FAN);
        const double busy = busy_with_parts(s, e, whole / units, (double)e->k + started(s, e),
                                            divide_up(rest * splits, units), part);
        const double cost = busy / shared_speed(s) + join_cost(s, units, e, whole, rest, splits);
        if (cost < (best->splits > 1 ? best->cost : worth * best->cost - SAVED)) {
            best->whole = whole;
            best->splits = splits;
            best->later = joins_later(s, e, whole, splits);
            best->cost = cost;
        }
    }
}

/* What rows that begin beside sectors or anywhere cost, or, of these, copies of A and B: a launch,
 * and memory. */
static double with_lie(const struct matmul_shape *s, const struct extent *e, double cost)
{
    const double copies = 1e6 + 0.09 * (double)e->real * (double)(e->m + e->n) * (double)e->k;
    const bool packed = s->pack && smaller(e->m, e->n) >= (size_t)s->pack;
    if (e->lie == LIE_BESIDE)
        return cost * 200 / (100 + s->narrow);
    return e->lie == LIE_WELL ? cost : packed ? cost + copies : cost * 100 / s->narrow;
}

struct tile_plan matmul_plan(const struct matmul_shape *s, size_t units, const struct extent *e)
{
    const size_t tiles = divide_up(e->m, (size_t)s->bm) * divide_up(e->n, (size_t)s->bn),
                 full = units * (size_t)s->fill;
    struct tile_plan plan = {tiles, tiles, 1, false,
                             busy(s, e, divide_up(tiles, units), (double)e->k + started(s, e))};
    if (e->divisible && s->span) {
        share_tiles(&plan, s, units, tiles - tiles % units, e);
        if (tiles < full)
            share_tiles(&plan, s, units, 0, e);
    }
    plan.cost = with_lie(s, e, plan.cost);
    return plan;
}

const struct matmul_row *matmul_plan_row(const struct matmul_row *rows, size_t count, size_t units,
                                         const struct extent *e)
{
    const struct matmul_row *best = NULL;
    const double size = cbrt((double)e->m * (double)e->n * (double)e->k);
    double least = INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double cost = matmul_plan(&rows[i].shape, units, e).cost;
        if (cost < least || (cost == least && (double)rows[i].size <= size)) {
            least = cost;
            best = rows + i;
        }
    }
    return best;
}

/* ---- A matrix times a few vectors. ----------------------------------------------------------- */

size_t matmul_thin_line(const struct matmul_shape *s, size_t deep)
{
    size_t line = (size_t)s->line;
    while (line > 16 && line * (size_t)s->steps > deep)
        line /= 2;
    return line;
}

size_t matmul_thin_vectors(size_t few)
{
    size_t vectors = 1;
    while (vectors < few && vectors < THIN_VECTORS)
        vectors *= 2;
    return vectors;
}

static double reading(const struct matmul_shape *thin, size_t units, const struct extent *e,
                      double elements)
{
    return elements * (double)e->real * thin->byte / (double)units;
}

/* Of X what groups read or might have read: blocks of rows and steps of depth that are not full
 * take as long as those that are. */
double matmul_plan_thin(const struct matmul_shape *thin, size_t units, const struct extent *e)
{
    const size_t few = smaller(e->m, e->n), many = e->m + e->n - few;
    const size_t rows = round_up(many, (size_t)thin->beside * 16 / e->real),
                 deep = round_up(e->k, matmul_thin_line(thin, e->k * e->real) *
                                           (size_t)thin->steps / e->real);
    return few > (size_t)thin->few ? INFINITY
                                   : reading(thin, units, e, (double)rows * (double)deep);
}

/* Tiles most of which does not exist had 0.2 to 0.65 of the bandwidth of skinny.cl with 1 to 8
 * vectors in single precision on an H200, but for 8 rows, and 0.7 to 0.9 with one in double
 * (bench/studies/nvidia-h200-thin.json); they are given 0.8. */
double matmul_plan_memory(const struct matmul_shape *thin, size_t units, const struct extent *e)
{
    const double m = (double)e->m, n = (double)e->n, k = (double)e->k;
    return 1.25 * reading(thin, units, e, m * k + n * k + m * n);
}

/* ---- Tiles, and a few rows and columns behind them. ------------------------------------------ */

/* Of so many rows or columns those that are whole tiles, if the others are few. */
static size_t inner(size_t n, size_t tile)
{
    return n > tile && n % tile <= THIN_VECTORS ? n - n % tile : n;
}

struct extent matmul_plan_inner(const struct matmul_shape *s, const struct extent *e)
{
    const bool packed =
        s->pack &&
        smaller(e->m, e->n) >=
            (size_t)s->pack; /* where rows begin anywhere and are not it was not measured */
    struct extent part = *e;
    if (e->divisible && (packed || e->lie != LIE_ANYWHERE) && e->m <= TILES_SIDE &&
        e->n <= TILES_SIDE) {
        part.m = inner(e->m, (size_t)s->bm);
        part.n = inner(e->n, (size_t)s->bn);
    }
    return part;
}

double matmul_plan_with_rest(const struct matmul_shape *s, const struct matmul_shape *below,
                             const struct matmul_shape *beside, size_t units,
                             const struct extent *e)
{
    const struct extent part = matmul_plan_inner(s, e);
    struct extent rows = *e, cols = *e;
    rows.m -= part.m;
    cols.m = part.m;
    cols.n -= part.n;
    return matmul_plan(s, units, &part).cost +
           (rows.m ? BEGINS + matmul_plan_thin(below, units, &rows) : 0) +
           (cols.n ? BEGINS + matmul_plan_thin(beside, units, &cols) : 0);
}
