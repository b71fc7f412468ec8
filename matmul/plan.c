/* plan.c - predicted cost of a product: how tiles are split along K, and which tuning entry takes
 * the least time.
 *
 * The unit of cost is one multiply-add of a compute unit at its peak.
 *
 *     a group         bm bn (depth + prologue_steps)
 *     a compute unit  groups_per_unit groups reach peak_percent of its peak; fewer groups reach
 *                     peak_percent_one each, as long as the sum is no more
 *     unaligned       unaligned_percent of that speed, or the cost of packing; ALIGN_16 loses half
 *                     of the difference
 *     split-K         splitk_steps more for each group, PARTIAL_STEPS for each of at most
 *                     REDUCE_FANIN partials; independent of depth, ARRIVE_COST, and for each
 *                     further level of the reduction tree (tile.cl) LEVEL_COST +
 *                     LEVEL_BYTE_COST a byte
 *     splitk_reduce   instead, with a separate kernel: REDUCE_COST + REDUCE_BYTE_COST for each
 *                     byte of a unit's partials
 *     edges           LAUNCH_COST and the bytes read, by skinny.cl
 *
 * The constants were fitted to products of 300 to 4,096 and skinny ones on an H200
 * (bench/studies/nvidia-h200-plans.json, nvidia-h200-parts.json and nvidia-h200-slices.json). The
 * keys of an entry are in tuning/matmul.json. An entry without peak_percent is for its own size,
 * and its groups are taken for equally fast.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/plan.h"

#include <math.h>

enum {
    SPLITS_MAX = 64,
    PARTIAL_STEPS = 2,
    REDUCE_FANIN = 4,          /* partials that a group adds at a time */
    REDUCE_TILE_BYTES = 16384, /* groups reduce any number of partials of smaller tiles */
    ARRIVE_COST = 200000,
    LEVEL_COST = 300000,
    LEVEL_BYTE_COST = 25,
    REDUCE_COST = 1000000,
    REDUCE_BYTE_COST = 6,
    MIN_GAIN = 100000, /* 0.4 microseconds */
    /* 8 microseconds: a further kernel starts with cold caches and ends. */
    LAUNCH_COST = 2000000,
    MEMORY_LATENCY = 245000, /* 1 microsecond: latency of memory */
    CACHE_BYTES = 48 << 20,  /* of the last-level cache */
};
/* A split is chosen only if its cost is below split_ratio_max times the unsplit cost, less
 * MIN_GAIN. */
static const double split_ratio_max = 0.985;

/* Steps of depth that starting a group costs; twice as many if a unit runs one group, since nothing
 * hides them. */
static double prologue_steps(const struct matmul_shape *s, const struct problem_size *e)
{
    return (s->groups_per_unit == 1 ? 8 : 4) * (double)e->real;
}

/* Further steps of a part of a split tile. */
static double splitk_steps(const struct problem_size *e)
{
    return 9 * (double)e->real;
}

/* Relative speed of the split-K kernel: it needs a few more registers, which matters where a unit
 * has several groups. */
static double splitk_speed(const struct matmul_shape *s)
{
    return s->groups_per_unit == 1 ? 1 : 0.95;
}

/* Fraction of peak that a compute unit reaches with `groups` resident groups, at most
 * groups_per_unit. */
static double unit_speed(const struct matmul_shape *s, size_t groups)
{
    if (s->peak_percent == 0)
        return (double)groups / s->groups_per_unit;
    return (groups == (size_t)s->groups_per_unit
                ? s->peak_percent
                : fmin((double)groups * s->peak_percent_one,
                       fmax(s->peak_percent, s->peak_percent_one))) /
           100;
}

/* True if a separate kernel reduces the split-K partials, rather than the last-arriving group. It
 * is faster for many partials of large tiles, which exceed what the last group's unit can read at
 * a time. It is slower where `whole` tiles take longer than parts and hide the reduction. */
static bool needs_splitk_reduce(const struct matmul_shape *s, const struct problem_size *e,
                                size_t whole, size_t splits)
{
    return whole == 0 && splits > REDUCE_FANIN &&
           (size_t)s->bm * (size_t)s->bn * e->real > REDUCE_TILE_BYTES;
}

/* Cost of reducing `splits` partials of each of the `rest` shared tiles, independent of the depth.
 */
static double splitk_cost(const struct matmul_shape *s, size_t units, const struct problem_size *e,
                          size_t whole, size_t rest, size_t splits)
{
    const double bytes = (double)s->bm * (double)s->bn * (double)e->real;
    const int levels = splits <= REDUCE_FANIN                  ? 0
                       : splits <= REDUCE_FANIN * REDUCE_FANIN ? 1
                                                               : 2; /* beyond the first */
    if (needs_splitk_reduce(s, e, whole, splits))
        return REDUCE_COST + REDUCE_BYTE_COST * bytes * (double)(rest * splits) / (double)units;
    return ARRIVE_COST + levels * (LEVEL_COST + LEVEL_BYTE_COST * bytes);
}

/* Cost of one step of depth of all `groups` resident groups together, at most groups_per_unit.
 * Operands that exceed the cache come from memory: each access takes MEMORY_LATENCY, and a group
 * has requested all but one of its slices by then. */
static double step_cost(const struct matmul_shape *s, const struct problem_size *e, size_t groups)
{
    const double busy = (double)groups * (double)s->bm * (double)s->bn / unit_speed(s, groups),
                 bytes = (double)e->k * (double)(e->m + e->n) * (double)e->real;
    return bytes < CACHE_BYTES ? busy
                               : fmax(busy, MEMORY_LATENCY / (double)((s->stages - 1) * s->bk));
}

/* Cost of a unit that runs `groups` groups of a depth, groups_per_unit at a time. */
static double unit_cost(const struct matmul_shape *s, const struct problem_size *e, size_t groups,
                        double depth)
{
    const size_t fill = (size_t)s->groups_per_unit, rest = groups % fill;
    return depth *
           ((double)(groups / fill) * step_cost(s, e, fill) + (rest ? step_cost(s, e, rest) : 0));
}

/* Cost of a unit with `tiles` tiles of the whole depth and `parts` parts of depth `part`. */
static double unit_cost_with_parts(const struct matmul_shape *s, const struct problem_size *e,
                                   size_t tiles, double depth, size_t parts, double part)
{
    if (tiles == 0)
        return unit_cost(s, e, parts, part);
    const size_t groups = min_size(tiles + parts, (size_t)s->groups_per_unit);
    return ((double)tiles * depth + (double)parts * part) / (double)groups *
           step_cost(s, e, groups);
}

/* Maximum of parts of a tile. If a unit has room for a group besides its whole tiles, there must
 * be fewer parts than units: with one part for each unit NVIDIA's devices place groups unevenly,
 * and some units get two whole tiles and others none. */
static size_t max_splits(const struct matmul_shape *s, size_t units, size_t whole, size_t rest,
                         size_t k)
{
    const size_t most =
        rest ? min_size(k / (size_t)s->split_k_min, min_size(SPLITS_MAX, SPLITK_PARTS_MAX / rest))
             : 1;
    return rest && whole && whole / units < (size_t)s->groups_per_unit
               ? min_size(most, (units - 1) / rest)
               : most;
}

/* Split the tiles after the first `whole`, if that takes less time than `best`. */
static void try_split(struct tile_plan *best, const struct matmul_shape *s, size_t units,
                      size_t whole, const struct problem_size *e)
{
    const size_t rest = best->tiles - whole, most = max_splits(s, units, whole, rest, e->k);
    for (size_t splits = 2; rest && splits <= most; splits++) {
        const double part = (double)divide_up(e->k, splits) + prologue_steps(s, e) +
                            splitk_steps(e) +
                            PARTIAL_STEPS * (double)min_size(splits, REDUCE_FANIN);
        const double busy =
            unit_cost_with_parts(s, e, whole / units, (double)e->k + prologue_steps(s, e),
                                 divide_up(rest * splits, units), part);
        const double cost = busy / splitk_speed(s) + splitk_cost(s, units, e, whole, rest, splits);
        if (cost < (best->splits > 1 ? best->cost : split_ratio_max * best->cost - MIN_GAIN)) {
            best->whole = whole;
            best->splits = splits;
            best->splitk_reduce = needs_splitk_reduce(s, e, whole, splits);
            best->cost = cost;
        }
    }
}

/* Cost with unaligned or half-aligned rows, or with packing: a launch, and memory traffic. */
static double cost_with_alignment(const struct matmul_shape *s, const struct problem_size *e,
                                  double cost)
{
    const double copies = 1e6 + 0.09 * (double)e->real * (double)(e->m + e->n) * (double)e->k;
    const bool packed = s->pack && min_size(e->m, e->n) >= (size_t)s->pack;
    if (e->alignment == ALIGN_16)
        return cost * 200 / (100 + s->unaligned_percent);
    return e->alignment == ALIGN_32 ? cost
           : packed                 ? cost + copies
                                    : cost * 100 / s->unaligned_percent;
}

struct tile_plan matmul_plan(const struct matmul_shape *s, size_t units,
                             const struct problem_size *e)
{
    const size_t tiles = divide_up(e->m, (size_t)s->bm) * divide_up(e->n, (size_t)s->bn),
                 full = units * (size_t)s->groups_per_unit;
    struct tile_plan plan = {
        tiles, tiles, 1, false,
        unit_cost(s, e, divide_up(tiles, units), (double)e->k + prologue_steps(s, e))};
    if (e->can_split && s->split_k_min) {
        try_split(&plan, s, units, tiles - tiles % units, e);
        if (tiles < full)
            try_split(&plan, s, units, 0, e);
    }
    plan.cost = cost_with_alignment(s, e, plan.cost);
    return plan;
}

const struct matmul_entry *matmul_plan_entry(const struct matmul_entry *rows, size_t count,
                                             size_t units, const struct problem_size *e)
{
    const struct matmul_entry *best = NULL;
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

size_t matmul_skinny_line(const struct matmul_shape *s, size_t depth)
{
    size_t line = (size_t)s->line_bytes;
    while (line > 16 && line * (size_t)s->steps > depth)
        line /= 2;
    return line;
}

size_t matmul_skinny_vectors(size_t few)
{
    size_t vectors = 1;
    while (vectors < few && vectors < SKINNY_VECTORS_MAX)
        vectors *= 2;
    return vectors;
}

static double read_cost(const struct matmul_shape *skinny, size_t units,
                        const struct problem_size *e, double elements)
{
    return elements * (double)e->real * skinny->fma_per_byte / (double)units;
}

/* Cost of the bytes of X that groups read, or could have read: partly filled blocks of rows and
 * steps of depth take as long as full ones. */
double matmul_plan_skinny(const struct matmul_shape *skinny, size_t units,
                          const struct problem_size *e)
{
    const size_t few = min_size(e->m, e->n), many = e->m + e->n - few;
    const size_t rows = round_up(many, (size_t)skinny->items_across * 16 / e->real),
                 depth = round_up(e->k, matmul_skinny_line(skinny, e->k * e->real) *
                                            (size_t)skinny->steps / e->real);
    return few > (size_t)skinny->vectors_max
               ? INFINITY
               : read_cost(skinny, units, e, (double)rows * (double)depth);
}

/* Mostly empty tiles reached 0.2 to 0.65 of the bandwidth of skinny.cl in single precision and 0.7
 * to 0.9 in double on an H200 (bench/studies/nvidia-h200-thin.json). The bound assumes 0.8. */
double matmul_plan_memory_bound(const struct matmul_shape *skinny, size_t units,
                                const struct problem_size *e)
{
    const double m = (double)e->m, n = (double)e->n, k = (double)e->k;
    return 1.25 * read_cost(skinny, units, e, m * k + n * k + m * n);
}

/* ---- Tiles, and edges by skinny.cl. ---------------------------------------------------------- */

/* Rows or columns that whole tiles cover, if the remainder is small; else all of them. */
static size_t whole_tiles(size_t n, size_t tile)
{
    return n > tile && n % tile <= SKINNY_VECTORS_MAX ? n - n % tile : n;
}

struct problem_size matmul_plan_interior(const struct matmul_shape *s, const struct problem_size *e)
{
    /* Unaligned rows without packing were not measured. */
    const bool packed = s->pack && min_size(e->m, e->n) >= (size_t)s->pack;
    struct problem_size part = *e;
    if (e->can_split && (packed || e->alignment != UNALIGNED) && e->m <= TILES_SIDE_MAX &&
        e->n <= TILES_SIDE_MAX) {
        part.m = whole_tiles(e->m, (size_t)s->bm);
        part.n = whole_tiles(e->n, (size_t)s->bn);
    }
    return part;
}

double matmul_plan_with_edges(const struct matmul_shape *s, const struct matmul_shape *below,
                              const struct matmul_shape *beside, size_t units,
                              const struct problem_size *e)
{
    const struct problem_size part = matmul_plan_interior(s, e);
    struct problem_size rows = *e, cols = *e;
    rows.m -= part.m;
    cols.m = part.m;
    cols.n -= part.n;
    return matmul_plan(s, units, &part).cost +
           (rows.m ? LAUNCH_COST + matmul_plan_skinny(below, units, &rows) : 0) +
           (cols.n ? LAUNCH_COST + matmul_plan_skinny(beside, units, &cols) : 0);
}
