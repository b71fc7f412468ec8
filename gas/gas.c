/* gas.c - a gas: made, measured, freed.
 *
 * Inside, velocities are in units of `unit`: sqrt(k_B T / m) for those drawn, so that neither
 * kilogrammes nor metres reach single precision; 1 for those given.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#include "core/handle.h"
#include "core/reserved.h"

#include <math.h>

EMBEDDED(fused_file, "gas/fused.cl", gas_fused_cl);

/* ---- Checking what the caller gives. --------------------------------------------------------- */

static int check_positive(double value, const char *what)
{
    if (!isfinite(value) || value < 0)
        return clerror_set(EINVAL, "gas_create: a %s of %g; it must be a number > 0", what, value);
    return 0;
}

static int check(const struct gas_options *o)
{
    if (o->n < 1 || o->n > (uint64_t)1 << 53)
        return clerror_set(EINVAL, "gas_create: %llu molecules; there must be 1 to 2^53",
                           (unsigned long long)o->n);
    if (check_positive(o->temperature, "temperature") != 0 ||
        check_positive(o->mass, "mass") != 0 ||
        check_positive(o->boltzmann, "Boltzmann constant") != 0)
        return -1;
    if ((unsigned)o->storage > GAS_STORED || (unsigned)o->source > GAS_GIVEN ||
        (unsigned)o->type > ARRAYS_DOUBLE)
        return clerror_set(EINVAL,
                           "gas_create: storage %d, source %d, type %d: one of them does not exist",
                           (int)o->storage, (int)o->source, (int)o->type);
    if (o->storage == GAS_FUSED && (o->source != GAS_DEVICE || o->method == ARRAYS_TREE))
        return clerror_set(
            EINVAL, "gas_create: a gas that is not stored is drawn and summed by the devices in "
                    "one kernel; velocities from elsewhere and ARRAYS_TREE need GAS_STORED");
    if (o->storage == GAS_STORED && o->n > SIZE_MAX / 32)
        return clerror_set(ENOMEM, "gas_create: %llu molecules are too many to store",
                           (unsigned long long)o->n);
    if (o->method == ARRAYS_TREE && world_size(o->world) > 1)
        return clerror_set(
            ENOTSUP,
            "gas_create: the sum of ARRAYS_TREE cannot be divided among ranks; ARRAYS_TUNED can");
    return reserved_check("gas_create", o->reserved);
}

/* ---- Making. --------------------------------------------------------------------------------- */

static int tell(void *arg, uint64_t done)
{
    gas *g = arg;
    g->asked |= g->progress(g->arg, g->before + done) != 0;
    return g->asked;
}

/* Sums of v^2 of some blocks of n molecules of a gas that is not stored. */
static int sum_blocks(gas *g, struct order_forest *part, uint64_t n, uint64_t first,
                      uint64_t blocks, bool telling)
{
    const struct stdcl_arg rest[] = {ARG(g->key[0]), ARG(g->key[1])};
    const struct order_job job = {.kernels = &g->fused,
                                  .kind = g->kind,
                                  .n = n,
                                  .first = first,
                                  .blocks = blocks,
                                  .limit = (uint64_t)1 << g->fused.on[0].shape.chunk,
                                  .partial = g->partial,
                                  .nrest = 2,
                                  .rest = rest,
                                  .progress = telling && g->progress ? tell : NULL,
                                  .arg = g,
                                  .caller = "gas",
                                  .elements = "molecules"};
    return arrays_order_part(&job, part);
}

static void join_parts(void *whole, const void *part, void *kind)
{
    arrays_order_join(*(const struct arrays_partial *)kind, whole, part);
}

/* ---- Ranks. ---------------------------------------------------------------------------------- */

/* Where rank `rank` begins, of so many bunches: by the speeds, or all alike. */
static uint64_t bunch_of(int ranks, int rank, const double *speed, uint64_t bunches)
{
    double below = 0, all = 0;
    if (!speed)
        return bunches / (uint64_t)ranks * (uint64_t)rank +
               bunches % (uint64_t)ranks * (uint64_t)rank / (uint64_t)ranks;
    for (int r = 0; r < ranks; r++) {
        all += speed[r];
        below += r < rank ? speed[r] : 0;
    }
    return rank == ranks ? bunches : (uint64_t)((double)bunches * (below / all) + 0.5);
}

struct run {
    uint64_t first, count;
};

/* A rank's part of so many blocks. Whole bunches of blocks for each rank, where there are so many,
 * are summed fastest (arrays/fixed_reduce.c). */
static struct run part_of(int ranks, int rank, const double *speed, uint64_t blocks)
{
    const uint64_t bunch = blocks / (uint64_t)ranks < 256 ? 1 : 256,
                   bunches = (blocks + bunch - 1) / bunch;
    const uint64_t from = bunch_of(ranks, rank, speed, bunches) * bunch,
                   to = bunch_of(ranks, rank + 1, speed, bunches) * bunch;
    const uint64_t first = from < blocks ? from : blocks,
                   end = to < blocks ? to : blocks; /* the last bunch may be a short one */
    return (struct run){first, end - first};
}

/* This rank's part of blocks first ... first + blocks - 1. */
static void take_share(gas *g, uint64_t first, uint64_t blocks)
{
    const struct run part = part_of(world_size(g->world), world_rank(g->world), g->speed, blocks);
    g->first = first + part.first;
    g->blocks = part.count;
    g->own = !part.count                               ? 0
             : g->first + part.count < blocks_of(g->n) ? part.count * BLOCK
                                                       : g->n - g->first * BLOCK;
}

/* Of a rank in a round. */
struct work {
    double blocks, seconds;
};
static const double CLEAR_SECONDS = 0.1, LEAST_GAIN = 0.03;

/* Ranks have shares by how fast they were, where that saves more than a little: all wait for the
 * slowest. */
static int revise(gas *g, double seconds)
{
    const int ranks = world_size(g->world);
    struct work own = {(double)g->blocks, seconds}, *each = calloc((size_t)ranks, sizeof *each);
    double *speed = g->speed ? g->speed : calloc((size_t)ranks, sizeof *speed), sum = 0, blocks = 0,
           longest = 0;
    int status = world_reduce_status(
        g->world,
        each && speed ? 0 : clerror_set(ENOMEM, "gas_measure: no memory for a list of ranks"));
    if (status == 0)
        status = world_gather(g->world, &own, sizeof own, each);
    bool measured = status == 0;
    for (int r = 0; r < ranks && measured; r++) {
        measured = each[r].blocks > 0 && each[r].seconds > 0;
        sum += measured ? each[r].blocks / each[r].seconds : 0;
        blocks += each[r].blocks;
        longest = each[r].seconds > longest ? each[r].seconds : longest;
    }
    const bool gains = measured && longest > CLEAR_SECONDS * g->fused.pace.seconds / PACE_SECONDS &&
                       1 - blocks / sum / longest > LEAST_GAIN;
    for (int r = 0; r < ranks && gains; r++)
        speed[r] = each[r].blocks / each[r].seconds;
    if (gains)
        g->speed = speed;
    if (speed != g->speed)
        free(speed);
    free(each);
    return status;
}

static void join_least(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = *(const uint64_t *)b < *(uint64_t *)a ? *(const uint64_t *)b : *(uint64_t *)a;
}

/* How many blocks are summed before shares are looked at: those of some seconds, by the slowest
 * rank. */
static int first_round(gas *g, uint64_t *blocks)
{
    enum { SLICES = 8 };
    const double slices = fmax(pace_slice(&g->fused.pace), 1) * SLICES * g->ndev;
    *blocks = slices < 1e14 ? (uint64_t)slices : (uint64_t)1e14;
    if (world_reduce(g->world, blocks, sizeof *blocks, join_least, NULL) != 0)
        return -1;
    *blocks *= (uint64_t)world_size(g->world);
    return 0;
}

/* Each rank sums its part of some blocks, and parts are joined in the order of ranks, which is that
 * of blocks. */
static int sum_round(gas *g, struct order_forest *whole, uint64_t first, uint64_t blocks, bool more)
{
    struct order_forest part;
    take_share(g, first, blocks);
    const double start = seconds_now();
    int status = sum_blocks(g, &part, g->n, g->first, g->blocks, true);
    const double seconds = seconds_now() - start;
    if (status == 0 && more && g->asked)
        status =
            clerror_set(ECANCELED, "gas: stopped after %llu of %llu molecules",
                        (unsigned long long)((first + blocks) * BLOCK), (unsigned long long)g->n);
    g->before += g->blocks * BLOCK;
    if (world_reduce_status(g->world, status) != 0 ||
        world_reduce(g->world, &part, sizeof part, join_parts, &g->kind) != 0)
        return -1;
    arrays_order_join(g->kind, whole, &part);
    return more ? revise(g, seconds) : 0;
}

/* Alone all blocks at once; ranks in rounds, each twice as long as the one before, after which
 * shares are revised. Any shares have the same bits. */
static int measure_fused(gas *g, double *sum)
{
    const uint64_t all = blocks_of(g->n);
    struct order_forest whole = {.next = 0};
    uint64_t round = all;
    if (world_size(g->world) > 1 && first_round(g, &round) != 0)
        return -1;
    g->before = 0;
    g->asked = false;
    for (uint64_t at = 0, some; at < all; at += some, round *= 2) {
        some = all - at < round + round / 2 ? all - at : round;
        if (sum_round(g, &whole, at, some, at + some < all) != 0)
            return -1;
    }
    take_share(g, 0, all); /* for histograms */
    const struct arrays_total total = arrays_order_total(g->kind, &whole);
    *sum = arrays_total_value(g->kind, &total);
    return 0;
}

/* ---- Made. ----------------------------------------------------------------------------------- */

enum { WARM = 64 };

/* Some OpenCL devices finish the compilation when a kernel first runs: it runs once on a block. */
static int make_fused(gas *g, const char *words)
{
    struct order_forest part;
    const struct embedded *const front[] = {&order_text, &maxwell_text};
    bool doubles = false;
    if (arrays_have_doubles(g->ctx, &doubles) != 0)
        return -1;
    g->kind = doubles ? (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}
                      : (struct arrays_partial){WIDE_FLOAT, JOIN_PAIRS};
    g->fused.keep = words ? 0 : CLLD_CACHE; /* a search tries many shapes */
    if (arrays_kernels_shape(&g->fused, g->ctx, "gas.fused", 0, words) != 0 ||
        arrays_kernels_open(&g->fused, "fused",
                            doubles ? "-D MW_WIDTH=WIDTH -D WIDE=double -D PAIRED=0"
                                    : "-D MW_WIDTH=WIDTH -D WIDE=float -D PAIRED=1",
                            &fused_file, 2, front, NULL) != 0)
        return -1;
    /* Once more, on so much that the time tells how fast the devices are. */
    for (uint64_t blocks = g->ndev; blocks <= (uint64_t)WARM * g->ndev; blocks *= WARM)
        if (sum_blocks(g, &part, g->n, 0, blocks < blocks_of(g->n) ? blocks : blocks_of(g->n),
                       false) != 0)
            return -1;
    return 0;
}

/* Of many ranks, which join their parts: the kernels of arrays_sum_squares, whose bits they have.
 */
static int make_sum(gas *g, const struct gas_options *o)
{
    char row[64];
    bool doubles = false;
    if (arrays_have_doubles(g->ctx, &doubles) != 0)
        return -1;
    g->kind = arrays_reduce_kind(o->type, o->accumulator, doubles, OP_SQUARES);
    arrays_reduce_row(o->type, OP_SQUARES, row);
    return arrays_kernels_shape(&g->sum, g->ctx, row, 0, o->shape) == 0
               ? arrays_reduce_open(&g->sum, o->type, g->kind, OP_SQUARES)
               : -1;
}

static int make(gas *g, const struct gas_options *o)
{
    g->partial = calloc(g->ndev, sizeof *g->partial);
    if (!g->partial)
        return clerror_set(ENOMEM, "gas_create: no memory");
    if (g->storage == GAS_FUSED)
        return make_fused(g, o->shape);
    g->arrays = arrays_create(&(struct arrays_options){.ctx = g->ctx,
                                                       .type = o->type,
                                                       .accumulator = o->accumulator,
                                                       .method = o->method,
                                                       .shape = o->shape,
                                                       .progress = o->progress,
                                                       .arg = o->arg});
    if (!g->arrays || (world_size(g->world) > 1 && make_sum(g, o) != 0))
        return -1;
    return gas_draw_place(g);
}

static gas *create(const struct gas_options *o)
{
    CLCONTEXT *ctx = check(o) == 0 ? arrays_context(o->ctx) : NULL;
    gas *g = ctx ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        if (ctx)
            clerror_set(ENOMEM, "gas_create: no memory");
        return NULL;
    }
    *g = (gas){.ctx = ctx,
               .ndev = clgetndev(ctx),
               .n = o->n,
               .storage = o->storage,
               .source = o->source,
               .type = o->type,
               .method = o->method,
               .key = {(cl_uint)o->seed, (cl_uint)(o->seed >> 32)},
               .progress = o->progress,
               .arg = o->arg,
               .world = o->world};
    take_share(g, 0, blocks_of(g->n));
    g->temperature = o->temperature > 0 ? o->temperature : 1;
    g->mass = o->mass > 0 ? o->mass : 1;
    g->boltzmann = o->boltzmann > 0 ? o->boltzmann : 1;
    g->unit = o->source == GAS_GIVEN ? 1 : sqrt(g->boltzmann * g->temperature / g->mass);
    return g;
}

gas *gas_create(const struct gas_options *o)
{
    o = o ? o : &(const struct gas_options){.n = 0};
    gas *g = create(o);
    if (world_reduce_status(o->world, g && make(g, o) == 0 ? 0 : -1) == 0)
        return g;
    gas_free(g);
    return NULL;
}

void gas_free(gas *g)
{
    if (!g)
        return;
    gas_draw_free(g);
    arrays_kernels_close(&g->fused);
    arrays_kernels_close(&g->sum);
    arrays_free(g->arrays);
    for (cl_uint dev = 0; g->partial && dev < g->ndev; dev++)
        if (g->partial[dev])
            clfree(g->partial[dev]);
    free(g->partial);
    free(g->speed);
    free(g);
}

/* ---- Measuring. ------------------------------------------------------------------------------ */

/* Each rank sums what it has stored, whatever its speed. */
static int measure_parts(gas *g, double *sum)
{
    struct order_forest part = {.next = g->first};
    struct order_job job = {.kernels = &g->sum,
                            .kind = g->kind,
                            .n = g->own,
                            .before = g->first,
                            .partial = g->partial,
                            .progress = g->progress,
                            .arg = g->arg,
                            .caller = "gas",
                            .elements = "molecules"};
    int status =
        g->ready ? 0
                 : clerror_set(
                       EINVAL,
                       "gas_measure: no velocities were given yet; gas_set_velocities gives them");
    if (status == 0 && g->own > 0)
        status = arrays_reduce_part(&job, g->plane[0], g->plane[1], g->plane[2], 0, &part);
    if (world_reduce_status(g->world, status) != 0 ||
        world_reduce(g->world, &part, sizeof part, join_parts, &g->kind) != 0)
        return -1;
    const struct arrays_total total = arrays_order_total(g->kind, &part);
    *sum = arrays_total_value(g->kind, &total);
    return 0;
}

static int measure_stored(gas *g, double *sum)
{
    if (!g->ready)
        return clerror_set(
            EINVAL, "gas_measure: no velocities were given yet; gas_set_velocities gives them");
    return arrays_sum_squares(g->arrays, g->plane[0], g->plane[1], g->plane[2], (size_t)g->n, sum);
}

/* The sum of (v / unit)^2. */
static int sum_squares(gas *g, double *squares)
{
    return g->storage == GAS_FUSED    ? measure_fused(g, squares)
           : world_size(g->world) > 1 ? measure_parts(g, squares)
                                      : measure_stored(g, squares);
}

int gas_measure(gas *g, struct gas_energy *e)
{
    if (no_handle(g, __func__))
        return -1;
    const double kt = g->boltzmann * g->temperature, n = (double)g->n;
    double squares;
    if (sum_squares(g, &squares) != 0)
        return -1;
    squares /= n; /* the mean */
    e->mean_energy = g->source == GAS_GIVEN ? 0.5 * g->mass * squares : 0.5 * kt * squares;
    e->expected = 1.5 * kt;
    e->standard_error = kt * sqrt(1.5 / n);
    e->sigmas = (e->mean_energy - e->expected) / e->standard_error;
    e->temperature = e->mean_energy / (1.5 * g->boltzmann);
    if (!isfinite(e->mean_energy) || !isfinite(e->sigmas) || !isfinite(e->temperature))
        return clerror_set(
            ERANGE,
            "gas_measure: the energy is not within 1e-308 and 1.8e308, as numbers are; take other units");
    return 0;
}

double gas_pressure(uint64_t n, double mean_energy, double volume)
{
    return 2.0 / 3.0 * (double)n * mean_energy / volume;
}

/* With a = v / sqrt(2 k_B T / m): erf(a) - 2 / sqrt(pi) a exp(-a^2). */
double gas_speed_cdf(double speed, double temperature, double mass, double boltzmann)
{
    const double a = speed / sqrt(2 * boltzmann * temperature / mass);
    return speed > 0 ? erf(a) - 2 / sqrt(acos(-1)) * a * exp(-a * a) : 0;
}

uint64_t gas_molecules(const gas *g)
{
    if (no_handle(g, __func__))
        return 0;
    return g->n;
}

void gas_partition(const stdcl_world *world, int rank, uint64_t n, uint64_t *first, uint64_t *count)
{
    const uint64_t blocks = blocks_of(n);
    const struct run p = part_of(world_size(world), rank, NULL, blocks);
    *first = p.first * BLOCK < n ? p.first * BLOCK : n;
    *count = (p.first + p.count < blocks ? (p.first + p.count) * BLOCK : n) - *first;
}

double gas_bytes(const gas *g)
{
    if (no_handle(g, __func__))
        return 0;
    return g->storage == GAS_FUSED ? 0 : 3.0 * (double)g->n * (double)type_bytes(g->type);
}

const char *gas_shape(const gas *g, cl_uint dev)
{
    if (no_handle(g, __func__))
        return "";
    if (g->storage == GAS_STORED)
        return arrays_shape(g->arrays, dev);
    return dev < g->ndev ? g->fused.on[dev].row.shape : "";
}

const char *gas_explain(const gas *g, cl_uint dev)
{
    if (no_handle(g, __func__))
        return "";
    if (g->storage == GAS_STORED)
        return arrays_explain(g->arrays, dev);
    return dev < g->ndev ? g->fused.on[dev].row.source : "";
}

/* ---- Gases of the real world. ---------------------------------------------------------------- */

const struct gas_species *gas_species_list(void)
{
    static const struct gas_species list[] = {
        {"he", "He", 4.0026 * GAS_DALTON},     {"ne", "Ne", 20.180 * GAS_DALTON},
        {"ar", "Ar", 39.95 * GAS_DALTON},      {"n2", "N2", 2 * 14.007 * GAS_DALTON},
        {"o2", "O2", 2 * 15.999 * GAS_DALTON}, {NULL, NULL, 0},
    };
    return list;
}
