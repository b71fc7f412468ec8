/* cmd_gas.c - `stdcl gas`: the mean kinetic energy of a gas, compared with theory. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "text.h"
#include "usage.h"
#include "gas_job.h"

#include "core/clock.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static const char *const source_names[] = {"device", "host", NULL};
static const char *const sum_names[] = {"tuned", "tree", NULL};
static const char *const precision_names[] = {"single", "double", NULL};
static const char *const accumulate_names[] = {"double", "compensated", NULL};
static const char *const species_names[] = {"he", "ne", "ar",
                                            "n2", "o2", NULL}; /* as gas_species_list */

static const struct cli_combination gas_combinations[] = {
    CLI_EXCLUDES("fused", "stored", NULL),
    CLI_EXCLUDES("input", "molecules source seed", "the velocities come from the file"),
    CLI_EXCLUDES("fused", "input source=host sum=tree precision=double accumulate=compensated",
                 "a fused sum stores no velocities; use --stored"),
    CLI_EXCLUDES("sum=tree", "accumulate=compensated",
                 "the tree sums plain doubles, as in the tutorial; use --sum tuned"),
    CLI_EXCLUDES("sum=tree", "ranks",
                 "the tree depends on the division between devices; omit --sum tree"),
    CLI_EXCLUDES("gas", "mass", "the gas determines the mass of its molecules"),
    CLI_REQUIRES("dataset", "input", NULL),
    CLI_REQUIRES("bins", "histogram figure view view-wait record", NULL),
    CLI_REQUIRES("paper", "figure", NULL),
    CLI_WINDOW_COMBINATIONS,
    {NULL},
};

/* Set the defaults. */
static void set_gas_defaults(struct gas_job *job)
{
    const bool si = job->species >= 0;
    job->boltzmann = si ? GAS_BOLTZMANN : 1;
    if (si)
        job->mass = gas_species_list()[job->species].mass;
    if (!(job->temperature > 0))
        job->temperature = si ? 300 : 1;
    if (job->precision < 0 && !job->input)
        job->precision = ARRAYS_FLOAT;
    if (!job->stored)
        job->stored = job->input || job->source == GAS_HOST || job->method == ARRAYS_TREE ||
                      job->precision == ARRAYS_DOUBLE || job->accumulator;
}

static bool parse_gas_options(struct gas_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_GROUP("Gas"),
        CLI_U64('n', "molecules", "N", &job->n, 1, (uint64_t)1 << 53, "number of molecules"),
        CLI_CHOICE(0, "gas", "NAME", &job->species, species_names,
                   "real gas, in SI units: {} (default: reduced units, k_B = 1)"),
        CLI_REAL('T', "temperature", "T", &job->temperature, CLI_ABOVE_0, DBL_MAX,
                 "temperature of the gas (default 1; with --gas 300 K)"),
        CLI_REAL('m', "mass", "M", &job->mass, CLI_ABOVE_0, DBL_MAX,
                 "mass of a molecule, in reduced units"),
        CLI_REAL(0, "volume", "V", &job->volume, CLI_ABOVE_0, DBL_MAX,
                 "volume whose pressure to report, with --gas in cubic metres"),
        CLI_U64(
            0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
            "seed of the random velocities; equal seeds give equal velocities on every machine"),
        CLI_STRING('i', "input", "FILE", &job->input,
                   "file of velocities, N rows of 3, in .npy or HDF5"),
        CLI_STRING(
            0, "dataset", "NAME", &job->dataset,
            "array in an HDF5 file (default: the first present of velocities, Velocities, PartType1/Velocities, PartType0/Velocities)"),
        CLI_GROUP("Sum"),
        CLI_FLAG(0, "fused", &job->fused, "draw and sum in one kernel without storing (default)"),
        CLI_FLAG(0, "stored", &job->stored,
                 "store the velocities in the devices' memory, then sum"),
        CLI_CHOICE(0, "source", "NAME", &job->source, source_names,
                   "generator of stored velocities"),
        CLI_CHOICE(0, "sum", "NAME", &job->method, sum_names,
                   "reduction of stored velocities: {}; tree is that of the classic tutorial"),
        CLI_CHOICE(0, "precision", "NAME", &job->precision, precision_names,
                   "precision of stored velocities: {} (default: the file's, else single)"),
        CLI_CHOICE(
            0, "accumulate", "NAME", &job->accumulator, accumulate_names,
            "accumulator of stored velocities: {}; compensated is a pair of numbers of their own precision"),
        CLI_INT(0, "repeat", "N", &job->repeat, 1, 1000000,
                "number of sums; the fastest is reported"),
        CLI_STRING(0, "shape", "WORDS", &job->shape,
                   "launch shape of the kernels, as words KEY=NUMBER"),
        CLI_GROUP("Output"),
        CLI_STRINGS(
            0, "histogram", "FILE", &job->histogram,
            "histogram of speeds with Maxwell's distribution, repeatable: .csv is a table, .svg a plot"),
        CLI_FIGURE_OPTIONS(
            &job->figures,
            "figure of the speeds, Maxwell's distribution and their difference in standard deviations, drawn by gnuplot, repeatable, as .svg, .png or .pdf"),
        CLI_INT(0, "bins", "N", &job->bins, 1, 4096,
                "number of bins of the histogram, up to six times the thermal speed"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    struct cli_condition conditions[] = {
        {"ranks", "several ranks", .holds = world_size(cli_world) > 1}, {NULL}};
    const struct cli_usage usage = {
        .synopsis = "[FILE] [options]",
        .about =
            "Draws velocities of molecules in equilibrium, sums their kinetic energy and compares the mean with 3/2 k_B T.",
        .examples = "  stdcl gas -n 1e9\n"
                    "  stdcl gas -n 1e8 --stored --precision double --histogram speeds.svg\n"
                    "  stdcl gas --gas ar -T 293.15 -n 2.5e7 --volume 1e-18\n"
                    "  stdcl gas --gas ar -n 1e7 --figure speeds.pdf\n",
        .options = options,
        .combinations = gas_combinations,
        .conditions = conditions,
        .file = "input",
        .reads = "input",
        .writes = "histogram figure trace record",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    if ((*status = cli_combinations_check(&usage)) != CLI_DONE)
        return false;
    if ((*status = cli_window_check(&job->window, job->common.quiet)) != CLI_DONE)
        return false;
    set_gas_defaults(job);
    return true;
}

/* ---- Work. ----------------------------------------------------------------------------------- */

static int gas_progress(void *arg, uint64_t done_of_one)
{
    struct gas_job *job = arg;
    const double done =
        (double)job->passes_done * (double)job->n + (double)done_of_one * world_size(cli_world);
    job->done = done;
    cli_progress_update(&job->progress, done, NULL);
    cli_window_listen(&job->window);
    cli_window_progress(&job->window, done / job->progress.total);
    return cli_interrupted();
}

static int create_gas(struct gas_job *job)
{
    const struct gas_options options = {.ctx = job->context,
                                        .n = job->n,
                                        .temperature = job->temperature,
                                        .mass = job->mass,
                                        .boltzmann = job->boltzmann,
                                        .seed = job->seed,
                                        .storage = job->stored ? GAS_STORED : GAS_FUSED,
                                        .source =
                                            job->input ? GAS_GIVEN : (enum gas_source)job->source,
                                        .type = (enum arrays_type)job->precision,
                                        .accumulator = (enum arrays_accumulator)job->accumulator,
                                        .method = (enum arrays_method)job->method,
                                        .shape = job->shape,
                                        .progress = gas_progress,
                                        .arg = job,
                                        .world = cli_world};
    const double bytes = job->precision == ARRAYS_DOUBLE ? 24 : 12;
    uint64_t first, own;
    gas_partition(cli_world, world_rank(cli_world), job->n, &first, &own);
    if (job->stored && cli_memory_for((size_t)own, (size_t)bytes, "molecules") != CLI_DONE)
        return CLI_FAILED;
    job->gas = gas_create(&options);
    if (!job->gas)
        return gas_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_refused_call();
    job->passes_done += job->stored && !job->input;
    return CLI_DONE;
}

/* Sum over all molecules. An interruption reported at the very end of a pass does not cancel it,
 * so check before each. */
static int sum_all_molecules(struct gas_job *job)
{
    if (cli_ranks_interrupted(false))
        return cli_interrupt_status(CLI_FAILED);
    if (gas_measure(job->gas, &job->energy) != 0)
        return gas_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_failed_call(NULL);
    job->passes_done++;
    return CLI_DONE;
}

static void explain_gas(const struct gas_job *job)
{
    for (cl_uint dev = 0; dev < clgetndev(job->context); dev++)
        cli_explain(&job->common, job->context, dev, gas_explain(job->gas, dev),
                    gas_shape(job->gas, dev));
}

/* Sum `repeat` times; the energy is equal each time. A stored sum is warmed up, because
 * compiling at the first launch would dominate its time. */
static int time_sums(struct gas_job *job)
{
    int status = job->stored ? sum_all_molecules(job) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    for (int k = 0; k < job->repeat; k++) {
        const double start = seconds_now();
        status = sum_all_molecules(job);
        if (status != CLI_DONE)
            return status;
        job->seconds = fmin(job->seconds, seconds_now() - start);
        if ((status = gas_view_visit(job)) != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* Checks come before computing, the cheapest first. */
static int prepare_gas(struct gas_job *job)
{
    int status = gas_output_plan(job);
    if (status != CLI_DONE)
        return status;
    if ((status = cli_ranks_same_file(job->input)) != CLI_DONE)
        return status;
    if (job->input && (status = gas_input_read(job)) != CLI_DONE)
        return status;
    if ((status = cli_devices_open(&job->common.device, &job->context)) != CLI_DONE)
        return status;
    return cli_profile_start(&job->common, job->context);
}

static int sum_with_outputs(struct gas_job *job)
{
    int status = create_gas(job);
    if (status != CLI_DONE)
        return status;
    if (job->input && (status = gas_input_give(job)) != CLI_DONE)
        return status;
    if ((status = gas_view_open(job)) != CLI_DONE)
        return status;
    if ((status = time_sums(job)) != CLI_DONE)
        return status;
    if ((status = gas_view_end(job)) != CLI_DONE)
        return status;
    explain_gas(job);
    return gas_output_finish(job);
}

static int sum_and_report(struct gas_job *job)
{
    int status = prepare_gas(job);
    if (status != CLI_DONE)
        return status;
    cli_interrupt_catch();
    const int passes = job->repeat + (job->stored ? 1 : 0) + (job->stored && !job->input) +
                       (job->histogram.n + job->figures.names.n > 0);
    cli_progress_start(&job->progress, "molecules", (double)job->n * passes, job->common.quiet);
    status = sum_with_outputs(job);
    cli_progress_end(&job->progress);
    if (status != CLI_DONE && cli_interrupted())
        gas_job_report_interrupted(job);
    if (status != CLI_DONE)
        return status;
    if ((status = gas_job_report(job)) != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    return cli_first_failure(job->unwritten, gas_view_stay(job));
}

static int cmd_gas_run(int argc, char **argv)
{
    struct gas_job job = {.n = 1000000000,
                          .species = -1,
                          .precision = -1,
                          .mass = 1,
                          .temperature = NAN,
                          .volume = NAN,
                          .seconds = INFINITY,
                          .repeat = 1,
                          .bins = 120,
                          .figures = {.argc = argc, .argv = argv}};
    int status;
    if (parse_gas_options(&job, argc, argv, &status))
        status = sum_and_report(&job);
    status = cli_first_failure(status, cli_window_close(&job.window));
    free(job.count);
    gas_free(job.gas);
    if (job.context)
        clcontext_destroy(job.context);
    gas_input_free(&job);
    cli_strings_free(&job.histogram);
    cli_strings_free(&job.figures.names);
    cli_common_free(&job.common);
    return status;
}

const struct cli_command cmd_gas = {"gas", "add up the kinetic energy of a gas", cmd_gas_run,
                                    CLI_RANKS_COLLECTIVE};
