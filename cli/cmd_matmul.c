/* cmd_matmul.c - `stdcl matmul`: matrix products, by any engine, compared and swept. */
/* SPDX-License-Identifier: MIT */
#include "matmul_job.h"

#include "formats/plot.h"

#include <math.h>
#include <string.h>

enum { MOST_BLOCK = 1024 };

/* Does a name have a suffix, and another than .npy? */
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

static int check(struct matmul_job *job, const struct cli_option *options)
{
    if (job->compare && job->sweep)
        return cli_wrong("--compare and --sweep cannot be combined");
    if ((job->limit > 0 || job->all) && !job->compare && !job->sweep)
        return cli_wrong("--%s needs --compare or --sweep", job->all ? "all" : "limit");
    if (job->limit > 0 && job->all)
        return cli_wrong("--all runs what --limit leaves out; leave one of them out");
    if (cli_given(options, "block") && job->sweep)
        return cli_wrong("--sweep takes one block after the other; leave --block out");
    if (cli_given(options, "block") && !job->compare && !has_blocks(job))
        return cli_wrong(
            "--block is for engines that have blocks: add --engine blocked or --engine cpu-blocked");
    if (cli_given(options, "seed") && job->file_a && job->file_b && (job->beta == 0 || job->file_c))
        return cli_wrong("--seed is for random matrices, and these are files; leave it out");
    if ((job->csv || job->plot) && !job->sweep)
        return cli_wrong("--%s needs --sweep", job->csv ? "csv" : "plot");
    if (job->out_of_core &&
        (!job->file_a || !job->file_b || !job->output || (job->beta != 0 && !job->file_c)))
        return cli_wrong("--out-of-core is for matrices in files: give -a, -b and -o%s",
                         job->beta != 0 ? ", and -c" : "");
    if (job->out_of_core &&
        (job->compare || job->sweep || job->repeat || job->window.wanted || job->window.record))
        return cli_wrong(
            "--out-of-core multiplies once; leave --compare, --sweep, --repeat, --view and --record out");
    if (job->output && (job->compare || job->sweep))
        return cli_wrong("-o writes the product of one engine; leave --compare and --sweep out");
    if (job->plot && !cli_has_suffix(job->plot, ".svg") && !cli_has_suffix(job->plot, ".png"))
        return cli_wrong("--plot: a plot's name must end in .svg or .png, and '%s' does not",
                         job->plot);
    if (job->output && names_other_format(job->output))
        return cli_wrong(
            "-o: matrices are written as .npy; give a name that ends in .npy instead of '%s'",
            job->output);
    const char *const taken = job->output && !strcmp(job->output, "-") ? "-o"
                              : job->csv && !strcmp(job->csv, "-")     ? "--csv"
                                                                       : NULL;
    if (taken && job->common.json)
        return cli_wrong("%s - and --json would both write to the standard output; name a file",
                         taken);
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
    return job->plot && plot_check(job->plot) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* Which kinds are to run: those that were named, else all with --compare, two with --sweep, or
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

static bool parse(struct matmul_job *job, int argc, char **argv, int *status)
{
    struct cli_option options[] = {
        CLI_GROUP("Product: C = alpha op(A) op(B) + beta C, C of M x N, depth K"),
        CLI_SIZE('n', "columns", "N", &job->n, 1, (uint64_t)1 << 31,
                 "columns of C; without -m and -k: of a square product (default 1024)"),
        CLI_SIZE('m', "rows", "M", &job->m, 1, (uint64_t)1 << 31, "rows of C (default: N)"),
        CLI_SIZE('k', "depth", "K", &job->k, 1, (uint64_t)1 << 31, "columns of op(A) (default: N)"),
        CLI_CHOICE(0, "precision", "NAME", &job->precision, matmul_precision_names,
                   "of all matrices: {} (default: the files', else single)"),
        CLI_CHOICE(0, "trans", "XY", &job->trans, matmul_trans_names,
                   "which of A and B, in this order, are transposed"),
        CLI_REAL(0, "alpha", "NUMBER", &job->alpha, -DBL_MAX, DBL_MAX, "the factor of the product"),
        CLI_REAL(0, "beta", "NUMBER", &job->beta, -DBL_MAX, DBL_MAX, "the factor of C"),
        CLI_GROUP("Matrices"),
        CLI_STRING('a', "a", "FILE", &job->file_a,
                   "A from a .npy file (default: random in [-1, 1))"),
        CLI_STRING('b', "b", "FILE", &job->file_b, "B from a .npy file"),
        CLI_STRING('c', "c", "FILE", &job->file_c, "the C that is added to, from a .npy file"),
        CLI_STRING('o', "output", "FILE", &job->output, "write C as .npy"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
                "seed of random matrices, which are the same on every machine"),
        CLI_GROUP("Engines"),
        CLI_STRINGS(
            0, "engine", "NAME", &job->engines,
            "tuned (default), naive, blocked, cpu-naive, cpu-blocked, openblas, sycl or clblast; "
            "may be repeated with --compare"),
        CLI_SIZE(0, "block", "N", &job->block, 1, 65536,
                 "side of a block of blocked (default 16) and cpu-blocked (64)"),
        CLI_STRING(0, "shape", "WORDS", &job->shape,
                   "words KEY=NUMBER that change how tuned is launched"),
        CLI_SIZE(0, "memory", "BYTES", &job->memory, 1, SIZE_MAX,
                 "how much of each device's memory may be used; larger matrices travel in panels"),
        CLI_FLAG(
            0, "out-of-core", &job->out_of_core,
            "A and B are read from their files while they are multiplied, and C is written as it is made: for matrices larger than memory"),
        CLI_SIZE(
            0, "repeat", "N", &job->repeat, 1, 1000000,
            "how many runs are timed; the shortest counts (default: as many as take half a second)"),
        CLI_FLAG(0, "compare", &job->compare, "run every engine on the same matrices"),
        CLI_FLAG(0, "sweep", &job->sweep,
                 "run cpu-blocked and blocked with blocks of 1, 2, 4 ... 1024"),
        CLI_STRING(0, "csv", "FILE", &job->csv, "write the sweep as a table of numbers"),
        CLI_STRING(0, "plot", "FILE", &job->plot, "write the sweep as a picture, .svg or .png"),
        CLI_REAL(0, "limit", "SECONDS", &job->limit, CLI_ABOVE_0, DBL_MAX,
                 "with --compare and --sweep, leave out what would take longer (default 10)"),
        CLI_FLAG(0, "all", &job->all,
                 "with --compare and --sweep, run all, however long they take"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Multiplies matrices on OpenCL devices or the host, checks the result against higher precision, and "
            "reports the speed.",
        .examples = "  stdcl matmul -n 4096 --precision double\n"
                    "  stdcl matmul --compare -n 1024\n"
                    "  stdcl matmul --sweep -n 512 --plot sweep.svg\n"
                    "  stdcl matmul -a a.npy -b b.npy -o c.npy\n"
                    "  stdcl matmul -a a.npy -b b.npy -o c.npy --out-of-core\n",
        .options = options,
        .reads = "a b c",
        .writes = "output csv plot trace record",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    *status = check(job, options);
    if (*status == CLI_DONE)
        *status = cli_window_check(&job->window, options);
    if (*status == CLI_DONE)
        *status = choose_kinds(job);
    return *status == CLI_DONE;
}

/* The devices, when one is needed or asked for; the host's engines do without. */
static int open_devices(struct matmul_job *job)
{
    bool needed = job->common.device.n > 0;
    for (size_t i = 0; i < job->nkinds; i++)
        needed |= !matmul_kind_is_host(job->kinds[i]);
    if (!needed)
        return CLI_DONE;
    const int status = cli_devices_open(&job->common.device, &job->context);
    return status == CLI_DONE ? cli_profile_start(&job->common, job->context) : status;
}

static int run_all(struct matmul_job *job)
{
    int status = CLI_DONE;
    for (size_t i = 0; status == CLI_DONE && i < job->nkinds && !job->interrupted; i++) {
        const bool blocks = job->kinds[i] == MATMUL_BLOCKED ||
                            job->kinds[i] == MATMUL_CPU_BLOCKED || job->kinds[i] == MATMUL_SYCL;
        size_t block = job->sweep && blocks ? 1 : job->block;
        do {
            if (job->sweep && job->kinds[i] == MATMUL_BLOCKED &&
                block > matmul_block_limit(job->context, (enum matmul_precision)job->precision))
                break;
            status = matmul_job_run(job, job->kinds[i], block);
            if (status == CLI_DONE)
                status = matmul_view_visit(job);
            block *= 2;
        } while (status == CLI_DONE && job->sweep && blocks && block <= MOST_BLOCK &&
                 !job->interrupted);
    }
    return status;
}

/* What ranks cannot do together. */
static int check_ranks(const struct matmul_job *job)
{
    const char *const files[3] = {job->file_a, job->file_b, job->file_c};
    if (world_size(cli_world) == 1)
        return CLI_DONE;
    if (job->compare || job->sweep)
        return cli_wrong("--compare and --sweep are for one rank");
    if (job->output && strcmp(job->output, "-") == 0)
        return cli_wrong("-o - is for one rank; name a file that all ranks can write");
    for (int i = 0; i < 3; i++) {
        const int status = files[i] ? cli_ranks_same_file(files[i]) : CLI_DONE;
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

static int work(struct matmul_job *job)
{
    int status = check_ranks(job);
    if (status == CLI_DONE)
        status = matmul_job_sizes(job);
    if (status == CLI_DONE)
        status = open_devices(job);
    if (status == CLI_DONE && !job->out_of_core)
        status = matmul_job_matrices(job);
    cli_interrupt_catch();
    if (status == CLI_DONE)
        status = matmul_view_open(job);
    if (status == CLI_DONE)
        status = run_all(job);
    if (status == CLI_DONE)
        matmul_view_end(job);
    if (status == CLI_DONE && !job->interrupted)
        status = matmul_job_write(job);
    if (status == CLI_DONE)
        status = matmul_job_files(job);
    if (status == CLI_DONE && (job->outcomes || !job->interrupted))
        status = matmul_job_report(job);
    if (status == CLI_DONE && job->context)
        status = cli_profile_report(&job->common, job->context);
    if (status == CLI_DONE && job->failed)
        return CLI_FAILED;
    return status == CLI_DONE && job->interrupted ? cli_interrupt_status(CLI_DONE) : status;
}

static int run(int argc, char **argv)
{
    struct matmul_job job = {.precision = -1, .trans = MATMUL_NN, .alpha = 1, .limit = 0};
    int status;
    if (parse(&job, argc, argv, &status)) {
        if ((job.compare || job.sweep) && job.limit <= 0 && !job.all)
            job.limit = 10;
        status = work(&job);
    }
    const int closed = cli_window_close(&job.window);
    status = status == CLI_DONE ? closed : status;
    matmul_job_free(&job);
    return status;
}

const struct cli_command cmd_matmul = {"matmul", "multiply matrices, compare engines", run,
                                       CLI_RANKS_TOGETHER};
