/* gas.c - the gas object: create, measure, free.
 *
 * Internal velocities are in units of `unit`: sqrt(k_B T / m) for drawn velocities, so that neither
 * kilogrammes nor metres reach single precision; a power of two for velocities that the caller
 * sets, mostly 1 (draw.c).
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#include "core/handle.h"
#include "core/reserved.h"

#include <math.h>

EMBEDDED(fused_file, "gas/fused.cl", gas_fused_cl);

/* ---- Checks of the options. ------------------------------------------------------------------ */

static int check_positive(double value, const char *what)
{
    if (!isfinite(value) || value < 0)
        return clerror_set(EINVAL, "gas_create: %s %g must be a number > 0", what, value);
    return 0;
}

static int gas_check_options(const struct gas_options *o)
{
    if (o->n < 1 || o->n > (uint64_t)1 << 53)
        return clerror_set(EINVAL, "gas_create: %llu molecules; the number must be 1 to 2^53",
                           (unsigned long long)o->n);
    if (check_positive(o->temperature, "temperature") != 0 ||
        check_positive(o->mass, "mass") != 0 ||
        check_positive(o->boltzmann, "Boltzmann constant") != 0)
        return -1;
    if ((unsigned)o->storage > GAS_STORED || (unsigned)o->source > GAS_GIVEN ||
        (unsigned)o->type > ARRAYS_DOUBLE)
        return clerror_set(EINVAL, "gas_create: storage %d, source %d or type %d does not exist",
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
            ENOTSUP, "gas_create: ARRAYS_TREE does not work with several ranks; use ARRAYS_TUNED");
    return reserved_check("gas_create", o->reserved);
}

/* ---- Fused sum. ------------------------------------------------------------------------------ */

static int fused_report(void *arg, uint64_t done)
{
    gas *g = arg;
    g->cancel_requested |= g->progress(g->arg, g->done_before + done) != 0;
    return g->cancel_requested;
}

/* Sum v^2 of blocks first ... first + blocks - 1 of n molecules that are not stored. */
static int fused_sum_blocks(gas *g, struct reduce_forest *part, uint64_t n, uint64_t first,
                            uint64_t blocks, bool telling)
{
    const struct stdcl_arg rest[] = {ARG(g->key[0]), ARG(g->key[1])};
    const struct reduce_job job = {.kernels = &g->fused,
                                   .kind = g->kind,
                                   .n = n,
                                   .first = first,
                                   .blocks = blocks,
                                   .limit = (uint64_t)1 << g->fused.device[0].shape.launch_blocks,
                                   .partial = g->partial,
                                   .nrest = 2,
                                   .rest = rest,
                                   .progress = telling && g->progress ? fused_report : NULL,
                                   .arg = g,
                                   .caller = "gas",
                                   .elements = "molecules"};
    return arrays_fixed_reduce_part(&job, part);
}

static void forest_join(void *whole, const void *part, void *kind)
{
    arrays_fixed_reduce_join(*(const struct arrays_partial *)kind, whole, part);
}

/* ---- Load balance among ranks. --------------------------------------------------------------- */

/* Return the first bunch of a rank: in proportion to the speeds, or (NULL) in equal parts. */
static uint64_t rank_first_bunch(int ranks, int rank, const double *speed, uint64_t bunches)
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

struct block_range {
    uint64_t first, count;
};

/* Return the range of blocks of a rank. If there are enough, a rank has whole bunches of blocks,
 * which are summed fastest (arrays/fixed_reduce.c). */
static struct block_range rank_blocks(int ranks, int rank, const double *speed, uint64_t blocks)
{
    const uint64_t bunch = blocks / (uint64_t)ranks < 256 ? 1 : 256,
                   bunches = (blocks + bunch - 1) / bunch;
    const uint64_t from = rank_first_bunch(ranks, rank, speed, bunches) * bunch,
                   to = rank_first_bunch(ranks, rank + 1, speed, bunches) * bunch;
    const uint64_t first = from < blocks ? from : blocks,
                   end = to < blocks ? to : blocks; /* the last bunch may be short */
    return (struct block_range){first, end - first};
}

/* Set this rank's range among blocks first ... first + blocks - 1. */
static void gas_set_range(gas *g, uint64_t first, uint64_t blocks)
{
    const struct block_range part =
        rank_blocks(world_size(g->world), world_rank(g->world), g->speed, blocks);
    g->first = first + part.first;
    g->blocks = part.count;
    g->own = !part.count                                 ? 0
             : g->first + part.count < block_count(g->n) ? part.count * BLOCK
                                                         : g->n - g->first * BLOCK;
}

/* A rank's work in a round. */
struct rank_work {
    double blocks, seconds;
};
static const double CLEAR_SECONDS = 0.1, LEAST_GAIN = 0.03;

/* Rebalance the ranks by their measured speeds, if that saves more than LEAST_GAIN: all ranks wait
 * for the slowest. */
static int rebalance(gas *g, double seconds)
{
    const int ranks = world_size(g->world);
    struct rank_work own = {(double)g->blocks, seconds},
                     *each = calloc((size_t)ranks, sizeof *each);
    double *speed = g->speed ? g->speed : calloc((size_t)ranks, sizeof *speed), sum = 0, blocks = 0,
           longest = 0;
    int status = world_reduce_status(
        g->world,
        each && speed ? 0 : clerror_set(ENOMEM, "gas_measure: out of memory for a list of ranks"));
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

static void gas_reduce_min(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = *(const uint64_t *)b < *(uint64_t *)a ? *(const uint64_t *)b : *(uint64_t *)a;
}

/* Return the blocks of the first round: several slices of the slowest rank, long enough to
 * measure. */
static int first_round_blocks(gas *g, uint64_t *blocks)
{
    enum { SLICES = 8 };
    const double slices = fmax(pace_slice(&g->fused.pace), 1) * SLICES * g->ndev;
    *blocks = slices < 1e14 ? (uint64_t)slices : (uint64_t)1e14;
    if (world_reduce(g->world, blocks, sizeof *blocks, gas_reduce_min, NULL) != 0)
        return -1;
    *blocks *= (uint64_t)world_size(g->world);
    return 0;
}

/* Sum some blocks: each rank sums its range, and the parts are joined in the order of ranks, which
 * is that of blocks. */
static int sum_round(gas *g, struct reduce_forest *whole, uint64_t first, uint64_t blocks,
                     bool more)
{
    struct reduce_forest part;
    gas_set_range(g, first, blocks);
    const double start = seconds_now();
    int status = fused_sum_blocks(g, &part, g->n, g->first, g->blocks, true);
    const double seconds = seconds_now() - start;
    if (status == 0 && more && g->cancel_requested)
        status =
            clerror_set(ECANCELED, "gas: stopped after %llu of %llu molecules",
                        (unsigned long long)((first + blocks) * BLOCK), (unsigned long long)g->n);
    g->done_before += g->blocks * BLOCK;
    if (world_reduce_status(g->world, status) != 0 ||
        world_reduce(g->world, &part, sizeof part, forest_join, &g->kind) != 0)
        return -1;
    arrays_fixed_reduce_join(g->kind, whole, &part);
    return more ? rebalance(g, seconds) : 0;
}

/* Sum all blocks: at once without ranks; with ranks in rounds, each twice as long as the last, and
 * rebalance after each. Any balance gives the same bits. */
static int measure_fused(gas *g, double *sum)
{
    const uint64_t all = block_count(g->n);
    struct reduce_forest whole = {.next = 0};
    uint64_t round = all;
    if (world_size(g->world) > 1 && first_round_blocks(g, &round) != 0)
        return -1;
    g->done_before = 0;
    g->cancel_requested = false;
    for (uint64_t at = 0, some; at < all; at += some, round *= 2) {
        some = all - at < round + round / 2 ? all - at : round;
        if (sum_round(g, &whole, at, some, at + some < all) != 0)
            return -1;
    }
    gas_set_range(g, 0, all); /* for histograms */
    const struct arrays_total total = arrays_fixed_reduce_total(g->kind, &whole);
    *sum = arrays_total_value(g->kind, &total);
    return 0;
}

/* ---- Create and free. ------------------------------------------------------------------------ */

enum { WARM = 64 };

/* Open the fused kernel and run it once on a block: some OpenCL devices finish the compilation at
 * the first run. */
static int make_fused(gas *g, const char *words)
{
    struct reduce_forest part;
    const struct embedded *const front[] = {&fixed_reduce_text, &maxwell_text};
    bool doubles = false;
    if (arrays_have_doubles(g->ctx, 0, g->ndev, &doubles) != 0)
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
    /* The second run is long enough to measure the devices' speed. */
    for (uint64_t blocks = g->ndev; blocks <= (uint64_t)WARM * g->ndev; blocks *= WARM)
        if (fused_sum_blocks(g, &part, g->n, 0,
                             blocks < block_count(g->n) ? blocks : block_count(g->n), false) != 0)
            return -1;
    return 0;
}

/* Open the kernels of arrays_sum_squares for several ranks, which join their parts: they give the
 * same bits. */
static int make_sum(gas *g, const struct gas_options *o)
{
    char row[64];
    bool doubles = false;
    if (arrays_have_doubles(g->ctx, 0, g->ndev, &doubles) != 0)
        return -1;
    g->kind = arrays_reduce_kind(o->type, o->accumulator, doubles, OP_SQUARES);
    arrays_reduce_row(o->type, OP_SQUARES, row);
    return arrays_kernels_shape(&g->sum, g->ctx, row, 0, o->shape) == 0
               ? arrays_reduce_open(&g->sum, o->type, g->kind, doubles, OP_SQUARES)
               : -1;
}

static int gas_init(gas *g, const struct gas_options *o)
{
    g->partial = calloc(g->ndev, sizeof *g->partial);
    if (!g->partial)
        return clerror_set(ENOMEM, "gas_create: out of memory");
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

static gas *gas_alloc(const struct gas_options *o)
{
    CLCONTEXT *ctx = gas_check_options(o) == 0 ? arrays_context(o->ctx) : NULL;
    gas *g = ctx ? calloc(1, sizeof *g) : NULL;
    if (!g) {
        if (ctx)
            clerror_set(ENOMEM, "gas_create: out of memory");
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
    gas_set_range(g, 0, block_count(g->n));
    g->temperature = o->temperature > 0 ? o->temperature : 1;
    g->mass = o->mass > 0 ? o->mass : 1;
    g->boltzmann = o->boltzmann > 0 ? o->boltzmann : 1;
    g->unit = o->source == GAS_GIVEN ? 1 : sqrt(g->boltzmann * g->temperature / g->mass);
    return g;
}

gas *gas_create(const struct gas_options *o)
{
    o = o ? o : &(const struct gas_options){.n = 0};
    gas *g = gas_alloc(o);
    if (world_reduce_status(o->world, g && gas_init(g, o) == 0 ? 0 : -1) == 0)
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

/* ---- Measure. -------------------------------------------------------------------------------- */

/* Each rank sums the velocities that it stores, whatever its speed. */
static int measure_parts(gas *g, double *sum)
{
    struct reduce_forest part = {.next = g->first};
    struct reduce_job job = {.kernels = &g->sum,
                             .type = g->type,
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
                 : clerror_set(EINVAL,
                               "gas_measure: no velocities are set; call gas_set_velocities first");
    if (status == 0 && g->own > 0)
        status = arrays_reduce_part(
            &job,
            &(const struct reduce_input){
                .x = g->plane[0], .y = g->plane[1], .z = g->plane[2], .n = (size_t)g->own},
            &part);
    if (world_reduce_status(g->world, status) != 0 ||
        world_reduce(g->world, &part, sizeof part, forest_join, &g->kind) != 0)
        return -1;
    const struct arrays_total total = arrays_fixed_reduce_total(g->kind, &part);
    *sum = arrays_total_value(g->kind, &total);
    return 0;
}

static int measure_stored(gas *g, double *sum)
{
    if (!g->ready)
        return clerror_set(EINVAL,
                           "gas_measure: no velocities are set; call gas_set_velocities first");
    return arrays_sum_squares(g->arrays, g->plane[0], g->plane[1], g->plane[2], (size_t)g->n, sum);
}

/* Return the sum of (v / unit)^2. */
static int sum_squares(gas *g, double *squares)
{
    return g->storage == GAS_FUSED    ? measure_fused(g, squares)
           : world_size(g->world) > 1 ? measure_parts(g, squares)
                                      : measure_stored(g, squares);
}

/* Return m v^2 / 2 from the mean of (v / unit)^2, without overflow in between. */
static double given_energy(const gas *g, double squares)
{
    int mass_exponent, unit_exponent;
    const double mass = frexp(g->mass, &mass_exponent), one = frexp(g->unit, &unit_exponent);
    return ldexp(0.5 * mass * one * one * squares, mass_exponent + 2 * unit_exponent);
}

/* True for finite numbers of full precision, and for 0. */
static bool is_precise(double x)
{
    return x == 0 || isnormal(x);
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
    e->mean_energy = g->source == GAS_GIVEN ? given_energy(g, squares) : 0.5 * kt * squares;
    e->expected = 1.5 * kt;
    e->standard_error = kt * sqrt(1.5 / n);
    e->sigmas = (e->mean_energy - e->expected) / e->standard_error;
    e->temperature = e->mean_energy / (1.5 * g->boltzmann);
    const bool lost = e->mean_energy == 0 && squares != 0;
    if (lost || !is_precise(e->mean_energy) || !isnormal(e->expected) ||
        !isnormal(e->standard_error) || !isfinite(e->sigmas) || !is_precise(e->temperature))
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
    const uint64_t blocks = block_count(n);
    const struct block_range p = rank_blocks(world_size(world), rank, NULL, blocks);
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
    return dev < g->ndev ? g->fused.device[dev].row.shape : "";
}

const char *gas_explain(const gas *g, cl_uint dev)
{
    if (no_handle(g, __func__))
        return "";
    if (g->storage == GAS_STORED)
        return arrays_explain(g->arrays, dev);
    return dev < g->ndev ? g->fused.device[dev].row.source : "";
}

/* ---- Real gases. ----------------------------------------------------------------------------- */

const struct gas_species *gas_species_list(void)
{
    static const struct gas_species list[] = {
        {"he", "He", 4.0026 * GAS_DALTON},     {"ne", "Ne", 20.180 * GAS_DALTON},
        {"ar", "Ar", 39.95 * GAS_DALTON},      {"n2", "N2", 2 * 14.007 * GAS_DALTON},
        {"o2", "O2", 2 * 15.999 * GAS_DALTON}, {NULL, NULL, 0},
    };
    return list;
}
