/* cmd_matmul.c - `stdcl matmul`: matrix products, by any engine, compared and swept. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "device.h"
#include "files.h"
#include "interrupt.h"
#include "message.h"
#include "ranks.h"
#include "ranks_file.h"
#include "usage.h"
#include "matmul_figure.h"
#include "matmul_job.h"

#include "formats/plot.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { MOST_BLOCK = 1024 };

/* True if a name has a suffix other than .npy. */
static bool names_other_format(const char *file)
{
    const char *folder = strrchr(file, '/'), *name = folder ? folder + 1 : file;
    return strchr(name, '.') && !cli_has_suffix(name, ".npy");
}

static bool has_blocks(const struct matmul_job *job)
{
    for (size_t i = 0; i < job->engines.n; i++) {
        const int kind = matmul_kind_by_name(job->engines.item[i]);
        if (kind == MATMUL_BLOCKED || kind == MATMUL_CPU_BLOCKED || kind == MATMUL_SYCL)
            return true;
    }
    return false;
}

static const struct cli_combination matmul_combinations[] = {
    CLI_EXCLUDES("compare", "sweep", NULL),
    CLI_REQUIRES("limit all", "compare sweep", NULL),
    CLI_EXCLUDES("limit", "all", NULL),
    CLI_EXCLUDES("block", "sweep", "a sweep runs all block sizes; omit --block"),
    CLI_REQUIRES("block", "blocks compare", NULL),
    CLI_REQUIRES("seed", "random", "all matrices come from files; omit --seed"),
    CLI_REQUIRES("csv plot", "sweep", NULL),
    CLI_REQUIRES("figure", "compare", "it shows the speeds of engines; a sweep has --plot"),
    CLI_REQUIRES("paper", "figure", NULL),
    CLI_REQUIRES("out-of-core", "a+b+output", "matrices out of core are in files"),
    CLI_REQUIRES("out-of-core+beta!0", "c", "matrices out of core are in files"),
    CLI_EXCLUDES("out-of-core", "compare sweep repeat view view-wait record",
                 "a product out of core is computed once"),
    CLI_EXCLUDES("output", "compare sweep", "-o writes the product of one engine"),
    CLI_EXCLUDES("json", "output=- csv=-", "both would write to standard output; give a file name"),
    CLI_EXCLUDES("compare sweep", "ranks", "start one rank only"),
    CLI_EXCLUDES("output=-", "ranks", "give a file that all ranks can write"),
    CLI_WINDOW_COMBINATIONS,
    {NULL},
};

/* Check the names of files. */
static int check_matmul_files(const struct matmul_job *job)
{
    if (job->plot && !cli_has_suffix(job->plot, ".svg") && !cli_has_suffix(job->plot, ".png") &&
        !cli_has_suffix(job->plot, ".pdf"))
        return cli_wrong("--plot: '%s' must end in .svg, .png or .pdf", job->plot);
    if (job->output && names_other_format(job->output))
        return cli_wrong("-o: '%s' must end in .npy", job->output);
    if (job->out_of_core && !cli_output_is_regular(job->output))
        return cli_wrong(
            "-o: --out-of-core writes the parts of C in any order, which '%s' does not "
            "allow; give a regular file",
            job->output);
    if (job->csv && cli_check_table("--csv", job->csv) != CLI_DONE)
        return CLI_WRONG;
    const char *const outputs[] = {job->output, job->csv, job->plot};
    for (int i = 0; i < 3; i++)
        if (outputs[i] && strcmp(outputs[i], "-") != 0) {
            const int status =
                i == 0 ? cli_ranks_check_output(outputs[i]) : cli_check_output(outputs[i]);
            if (status != CLI_DONE)
                return status;
        }
    if (job->plot && plot_check(job->plot) < 0)
        return cli_failed_call(NULL);
    return cli_figures_check(&job->figures.names);
}

/* Choose the engines: the named ones; otherwise all with --compare, two with --sweep, else
 * tuned. */
static int choose_kinds(struct matmul_job *job)
{
    static const enum matmul_kind swept[] = {MATMUL_CPU_BLOCKED, MATMUL_BLOCKED};
    for (size_t i = 0; i < job->engines.n; i++) {
        const int kind = matmul_kind_by_name(job->engines.item[i]);
        if (kind < 0) {
            cli_failed_call(NULL);
            return CLI_WRONG;
        }
        if (job->nkinds < MATMUL_KINDS)
            job->kinds[job->nkinds++] = (enum matmul_kind)kind;
    }
    if (job->nkinds > 1 && !job->compare && !job->sweep)
        return cli_wrong("several engines need --compare");
    for (int k = 0; job->engines.n == 0 && job->compare && k < MATMUL_KINDS; k++)
        job->kinds[job->nkinds++] = (enum matmul_kind)k;
    for (int k = 0; job->engines.n == 0 && job->sweep && k < 2; k++)
        job->kinds[job->nkinds++] = swept[k];
    if (job->nkinds == 0)
        job->kinds[job->nkinds++] = MATMUL_TUNED;
    return CLI_DONE;
}

static bool parse_matmul_options(struct matmul_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_GROUP("Product: C = alpha op(A) op(B) + beta C, C of M x N, depth K"),
        CLI_SIZE('n', "columns", "N", &job->n, 1, (uint64_t)1 << 31,
                 "columns of C; without -m and -k the size of a square product (default 1024)"),
        CLI_SIZE('m', "rows", "M", &job->m, 1, (uint64_t)1 << 31, "rows of C (default: N)"),
        CLI_SIZE('k', "depth", "K", &job->k, 1, (uint64_t)1 << 31, "columns of op(A) (default: N)"),
        CLI_CHOICE(0, "precision", "NAME", &job->precision, matmul_precision_names,
                   "precision of all matrices: {} (default: the files', else single)"),
        CLI_CHOICE(0, "trans", "XY", &job->trans, matmul_trans_names,
                   "transposition of A and of B"),
        CLI_REAL(0, "alpha", "NUMBER", &job->alpha, -DBL_MAX, DBL_MAX, "factor of the product"),
        CLI_REAL(0, "beta", "NUMBER", &job->beta, -DBL_MAX, DBL_MAX, "factor of the input C"),
        CLI_GROUP("Matrices"),
        CLI_STRING('a', "a", "FILE", &job->file_a,
                   "A from a .npy file (default: random in [-1, 1))"),
        CLI_STRING('b', "b", "FILE", &job->file_b, "B from a .npy file"),
        CLI_STRING('c', "c", "FILE", &job->file_c, "input C from a .npy file"),
        CLI_STRING('o', "output", "FILE", &job->output, "output C as .npy"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
                "seed of random matrices, which are equal on every machine"),
        CLI_GROUP("Engines"),
        CLI_STRINGS(
            0, "engine", "NAME", &job->engines,
            "engine, repeatable with --compare: tuned (default), naive, blocked, cpu-naive, cpu-blocked, openblas, sycl or clblast"),
        CLI_SIZE(0, "block", "N", &job->block, 1, 65536,
                 "block size of blocked (default 16) and cpu-blocked (default 64)"),
        CLI_STRING(0, "shape", "WORDS", &job->shape, "launch shape of tuned, as words KEY=NUMBER"),
        CLI_SIZE(0, "memory", "BYTES", &job->memory, 1, SIZE_MAX,
                 "memory limit per device; larger matrices are streamed in panels"),
        CLI_FLAG(
            0, "out-of-core", &job->out_of_core,
            "stream A and B from their files and C to its file, for matrices larger than memory"),
        CLI_SIZE(
            0, "repeat", "N", &job->repeat, 1, 1000000,
            "number of timed runs, of which the shortest counts (default: half a second of runs)"),
        CLI_FLAG(0, "compare", &job->compare, "comparison of all engines on the same matrices"),
        CLI_FLAG(0, "sweep", &job->sweep,
                 "comparison of block sizes 1, 2, 4 ... 1024 for cpu-blocked and blocked"),
        CLI_STRING(0, "csv", "FILE", &job->csv, "table of the sweep"),
        CLI_STRING(0, "plot", "FILE", &job->plot, "plot of the sweep, .svg, .png or .pdf"),
        CLI_FIGURE_OPTIONS(
            &job->figures,
            "figure of a comparison, speeds as bars on a logarithmic axis, drawn by gnuplot, repeatable, as .svg, .png or .pdf"),
        CLI_REAL(0, "limit", "SECONDS", &job->limit, CLI_ABOVE_0, DBL_MAX,
                 "time limit per product with --compare and --sweep (default 10)"),
        CLI_FLAG(0, "all", &job->all, "no time limit with --compare and --sweep"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    struct cli_condition conditions[] = {
        {"blocks", .text = "a blocked engine (--engine blocked, cpu-blocked or sycl)"},
        {"random", .text = "a random matrix"},
        {"ranks", "several ranks", .holds = world_size(cli_world) > 1},
        {NULL},
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Multiplies matrices on OpenCL devices or the host, checks the result in higher precision and reports the speed.",
        .examples = "  stdcl matmul -n 4096 --precision double\n"
                    "  stdcl matmul --compare -n 1024 --figure engines.pdf\n"
                    "  stdcl matmul --sweep -n 512 --plot sweep.svg\n"
                    "  stdcl matmul -a a.npy -b b.npy -o c.npy\n"
                    "  stdcl matmul -a a.npy -b b.npy -o c.npy --out-of-core\n",
        .options = options,
        .combinations = matmul_combinations,
        .conditions = conditions,
        .reads = "a b c",
        .writes = "output csv plot figure trace record",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    cli_condition_set(&usage, "blocks", has_blocks(job));
    cli_condition_set(&usage, "random",
                      !job->file_a || !job->file_b || (job->beta != 0 && !job->file_c));
    if ((*status = cli_combinations_check(&usage)) != CLI_DONE)
        return false;
    if (job->beta == 0)
        job->file_c = NULL; /* the product does not depend on it */
    if ((*status = check_matmul_files(job)) != CLI_DONE)
        return false;
    if ((*status = cli_window_check(&job->window, job->common.quiet)) != CLI_DONE)
        return false;
    return (*status = choose_kinds(job)) == CLI_DONE;
}

/* Open the devices, if an engine or --device needs one. */
static int open_matmul_devices(struct matmul_job *job)
{
    bool needed = job->common.device.n > 0;
    for (size_t i = 0; i < job->nkinds; i++)
        needed |= !matmul_kind_is_host(job->kinds[i]);
    if (!needed)
        return CLI_DONE;
    const int status = cli_devices_open(&job->common.device, &job->context);
    if (status != CLI_DONE)
        return status;
    return cli_profile_start(&job->common, job->context);
}

static int run_engines(struct matmul_job *job)
{
    int status;
    for (size_t i = 0; i < job->nkinds && !job->interrupted; i++) {
        const bool blocks = job->kinds[i] == MATMUL_BLOCKED ||
                            job->kinds[i] == MATMUL_CPU_BLOCKED || job->kinds[i] == MATMUL_SYCL;
        size_t block = job->sweep && blocks ? 1 : job->block;
        do {
            if (job->sweep && job->kinds[i] == MATMUL_BLOCKED &&
                block > matmul_block_limit(job->context, (enum matmul_precision)job->precision))
                break;
            if ((status = matmul_job_run(job, job->kinds[i], block)) != CLI_DONE)
                return status;
            if ((status = matmul_view_visit(job)) != CLI_DONE)
                return status;
            block *= 2;
        } while (job->sweep && blocks && block <= MOST_BLOCK && !job->interrupted);
    }
    return CLI_DONE;
}

/* Open the view. A wait for a viewer that is interrupted ends the run before its first product;
 * --json reports such a run, too. */
static int open_matmul_view(struct matmul_job *job)
{
    const int status = matmul_view_open(job);
    if (status == CLI_DONE || !job->common.json || !cli_interrupted())
        return status;
    job->interrupted = true;
    return cli_first_failure(status, matmul_job_report(job));
}

/* Write all files. The status of one that fails is kept for the end, after the report. */
static void write_matmul_files(struct matmul_job *job)
{
    const int output = job->interrupted ? CLI_DONE : cli_ranks_file_status(matmul_job_write(job));
    job->output_done = job->output && !job->interrupted && output == CLI_DONE;
    job->unwritten = cli_first_failure(output, matmul_job_files(job));
    if (!job->interrupted || job->outcomes)
        job->unwritten =
            cli_first_failure(job->unwritten, cli_ranks_file_status(matmul_figures_draw(job)));
}

static int multiply_and_report(struct matmul_job *job)
{
    int status;
    if ((status = cli_ranks_same_file(job->file_a)) != CLI_DONE)
        return status;
    if ((status = cli_ranks_same_file(job->file_b)) != CLI_DONE)
        return status;
    if ((status = cli_ranks_same_file(job->file_c)) != CLI_DONE)
        return status;
    if ((status = matmul_job_sizes(job)) != CLI_DONE)
        return status;
    if ((status = open_matmul_devices(job)) != CLI_DONE)
        return status;
    if (!job->out_of_core && (status = matmul_job_matrices(job)) != CLI_DONE)
        return status;
    cli_interrupt_catch();
    if ((status = open_matmul_view(job)) != CLI_DONE)
        return status;
    if ((status = run_engines(job)) != CLI_DONE)
        return status;
    if ((status = matmul_view_end(job)) != CLI_DONE)
        return status;
    write_matmul_files(job);
    if ((status = matmul_job_report(job)) != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    if ((status = matmul_view_stay(job)) != CLI_DONE)
        return status;
    if (job->unwritten != CLI_DONE)
        return job->unwritten;
    if (job->failed)
        return CLI_FAILED;
    return job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE;
}

static int cmd_matmul_run(int argc, char **argv)
{
    struct matmul_job job = {.precision = -1,
                             .trans = MATMUL_NN,
                             .alpha = 1,
                             .limit = 0,
                             .figures = {.argc = argc, .argv = argv}};
    int status;
    if (parse_matmul_options(&job, argc, argv, &status)) {
        if ((job.compare || job.sweep) && job.limit <= 0 && !job.all)
            job.limit = 10;
        status = multiply_and_report(&job);
    }
    status = cli_first_failure(status, cli_window_close(&job.window));
    matmul_job_free(&job);
    return status;
}

const struct cli_command cmd_matmul = {"matmul", "multiply matrices, compare engines",
                                       cmd_matmul_run, CLI_RANKS_COLLECTIVE};
