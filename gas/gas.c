/* gas.c - a gas: made, measured, freed.
 *
 * Inside, velocities are in units of `unit`: sqrt(k_B T / m) for those drawn, so that neither kilogrammes nor
 * metres reach single precision; 1 for those given.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#include "core/reserved.h"

#include <math.h>

EMBEDDED(fused_file, "gas/fused.cl", gas_fused_cl);

/* ---- Checking what the caller gives. ---------------------------------------------------------- */

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
    if (check_positive(o->temperature, "temperature") != 0 || check_positive(o->mass, "mass") != 0 ||
        check_positive(o->boltzmann, "Boltzmann constant") != 0)
        return -1;
    if ((unsigned)o->storage > GAS_STORED || (unsigned)o->source > GAS_GIVEN ||
        (unsigned)o->type > ARRAYS_DOUBLE)
        return clerror_set(EINVAL, "gas_create: storage %d, source %d, type %d: one of them does not exist",
                           (int)o->storage, (int)o->source, (int)o->type);
    if (o->storage == GAS_FUSED && (o->source != GAS_DEVICE || o->method == ARRAYS_TREE))
        return clerror_set(EINVAL,
                           "gas_create: a gas that is not stored is drawn and summed by the devices in "
                           "one kernel; velocities from elsewhere and ARRAYS_TREE need GAS_STORED");
    if (o->storage == GAS_STORED && o->n > SIZE_MAX / 32)
        return clerror_set(ENOMEM, "gas_create: %llu molecules are too many to store",
                           (unsigned long long)o->n);
    if (o->storage == GAS_STORED && world_size(o->world) > 1)
        return clerror_set(ENOTSUP, "gas_create: stored velocities cannot be divided among ranks; drawn and summed in one kernel "
                                    "(GAS_FUSED) a gas of any size needs no memory");
    return reserved_check("gas_create", o->reserved);
}

/* ---- Making. ---------------------------------------------------------------------------------- */

/* Sums of v^2 of some blocks of n molecules of a gas that is not stored. */
static int sum_blocks(gas *g, struct order_forest *part, uint64_t n, uint64_t first, uint64_t blocks, bool telling)
{
    const struct stdcl_arg rest[] = {VALUE_ARG(g->key[0]), VALUE_ARG(g->key[1])};
    const struct order_job job = {.kernels = &g->fused,
                                  .kind = g->kind,
                                  .n = n,
                                  .first = first,
                                  .blocks = blocks,
                                  .limit = (uint64_t)1 << g->fused.on[0].shape.chunk,
                                  .partial = g->partial,
                                  .nrest = 2,
                                  .rest = rest,
                                  .progress = telling ? g->progress : NULL,
                                  .arg = g->arg,
                                  .caller = "gas",
                                  .elements = "molecules"};
    return arrays_order_part(&job, part);
}

static void join_parts(void *whole, const void *part, void *kind)
{
    arrays_order_join(*(const struct arrays_partial *)kind, whole, part);
}

/* Each rank sums its blocks, and parts are joined in the order of ranks, which is that of blocks. */
static int measure_fused(gas *g, double *sum)
{
    struct order_forest whole;
    if (world_agree(g->world, sum_blocks(g, &whole, g->n, g->first, g->blocks, true)) != 0 ||
        world_reduce(g->world, &whole, sizeof whole, join_parts, &g->kind) != 0)
        return -1;
    const struct arrays_total total = arrays_order_total(g->kind, &whole);
    *sum = arrays_total_value(g->kind, &total);
    return 0;
}

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
    if (arrays_kernels_shape(&g->fused, g->ctx, "gas.fused", 0, words) != 0 ||
        arrays_kernels_open(&g->fused, "fused",
                            doubles ? "-D MW_WIDTH=WIDTH -D WIDE=double -D PAIRED=0"
                                    : "-D MW_WIDTH=WIDTH -D WIDE=float -D PAIRED=1",
                            &fused_file, 2, front, NULL) != 0)
        return -1;
    /* Once more, on so much that the time tells how fast the devices are. */
    for (uint64_t blocks = g->ndev; blocks <= (uint64_t)WARM * g->ndev; blocks *= WARM)
        if (sum_blocks(g, &part, g->n, 0, blocks < blocks_of(g->n) ? blocks : blocks_of(g->n), false) != 0)
            return -1;
    return 0;
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
    return g->arrays && gas_draw_place(g) == 0 ? 0 : -1;
}

/* Whole bunches of blocks for each rank, where there are so many, are summed fastest (arrays/order.c). */
static void take_share(gas *g)
{
    const uint64_t blocks = blocks_of(g->n), rank = (uint64_t)world_rank(g->world), ranks = (uint64_t)world_size(g->world);
    const uint64_t bunch = blocks / ranks < 256 ? 1 : 256, bunches = (blocks + bunch - 1) / bunch;
    const uint64_t end = (bunches / ranks * (rank + 1) + bunches % ranks * (rank + 1) / ranks) * bunch;
    g->first = (bunches / ranks * rank + bunches % ranks * rank / ranks) * bunch;
    g->blocks = (end < blocks ? end : blocks) - g->first;
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
    take_share(g);
    g->temperature = o->temperature > 0 ? o->temperature : 1;
    g->mass = o->mass > 0 ? o->mass : 1;
    g->boltzmann = o->boltzmann > 0 ? o->boltzmann : 1;
    g->unit = o->source == GAS_GIVEN ? 1 : sqrt(g->boltzmann * g->temperature / g->mass);
    return g;
}

gas *gas_create(const struct gas_options *o)
{
    gas *g = create(o);
    if (world_agree(o->world, g && make(g, o) == 0 ? 0 : -1) == 0)
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
    arrays_free(g->arrays);
    for (cl_uint dev = 0; g->partial && dev < g->ndev; dev++)
        if (g->partial[dev])
            clfree(g->partial[dev]);
    free(g->partial);
    free(g);
}

/* ---- Measuring. ------------------------------------------------------------------------------- */

/* The sum of (v / unit)^2. */
static int sum_squares(gas *g, double *squares)
{
    if (g->storage == GAS_FUSED)
        return measure_fused(g, squares);
    if (!g->ready)
        return clerror_set(EINVAL,
                           "gas_measure: no velocities were given yet; gas_set_velocities gives them");
    return arrays_squares(g->arrays, g->plane[0], g->plane[1], g->plane[2], (size_t)g->n, squares);
}

int gas_measure(gas *g, struct gas_energy *e)
{
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
    return 0;
}

double gas_pressure(uint64_t n, double mean_energy, double volume)
{
    return 2.0 / 3.0 * (double)n * mean_energy / volume;
}

/* With a = v / sqrt(2 k_B T / m): erf(a) - 2 / sqrt(pi) a exp(-a^2). */
double gas_slower(double speed, double temperature, double mass, double boltzmann)
{
    const double a = speed / sqrt(2 * boltzmann * temperature / mass);
    return speed > 0 ? erf(a) - 2 / sqrt(acos(-1)) * a * exp(-a * a) : 0;
}

uint64_t gas_molecules(const gas *g)
{
    return g->n;
}

double gas_bytes(const gas *g)
{
    return g->storage == GAS_FUSED ? 0 : 3.0 * (double)g->n * (double)type_bytes(g->type);
}

const char *gas_shape(const gas *g, cl_uint dev)
{
    if (g->storage == GAS_STORED)
        return arrays_shape(g->arrays, dev);
    return dev < g->ndev ? g->fused.on[dev].row.shape : "";
}

const char *gas_explain(const gas *g, cl_uint dev)
{
    if (g->storage == GAS_STORED)
        return arrays_explain(g->arrays, dev);
    return dev < g->ndev ? g->fused.on[dev].row.source : "";
}

/* ---- Gases of the real world. ----------------------------------------------------------------- */

const struct gas_species *gas_species_list(void)
{
    static const struct gas_species list[] = {
        {"he", "He", 4.0026 * GAS_DALTON},     {"ne", "Ne", 20.180 * GAS_DALTON},
        {"ar", "Ar", 39.95 * GAS_DALTON},      {"n2", "N2", 2 * 14.007 * GAS_DALTON},
        {"o2", "O2", 2 * 15.999 * GAS_DALTON}, {NULL, NULL, 0},
    };
    return list;
}
