/* cmd_cluster_model.c - `stdcl cluster-model`: how fast the programs would be on so many GPUs.
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"
#include "cluster_model.h"

#include "formats/plot.h"

#include <jansson.h>
#include <math.h>

enum { MOST_POINTS = 64, LINES = 5 };
static const char *const program_names[] = {"nbody", "life", "matmul", "gas", NULL};

/* What one H200 does alone, and usual sizes. */
static const struct {
    double rate, n;
    const char *unit, *what, *step;
} usual[CLUSTER_PROGRAMS] = {
    [CLUSTER_NBODY] = {2.025e12, 0x1p22, "interactions/s", "bodies, direct sums", "a step"},
    [CLUSTER_LIFE] = {33.1e12, 0x1p20, "cells/s", "cells a side, in strips or blocks",
                      "a generation"},
    [CLUSTER_MATMUL] = {54e12, 0x1p19, "FLOP/s", "rows and columns, double precision", "a product"},
    [CLUSTER_GAS] = {133e9, 1e12, "molecules/s", "molecules", "a sum"},
};

struct model_job {
    int program;
    double n, of_host, rate, pcie, network, latency;
    struct cli_strings gpus;
    const char *plot;
    bool json;
    double point[MOST_POINTS];
    size_t points;
};

static struct cluster cluster_of(const struct model_job *job, double n, double gpus)
{
    return (struct cluster){.program = (enum cluster_program)job->program,
                            .n = n,
                            .gpus = gpus,
                            .of_host = job->of_host,
                            .rate = job->rate,
                            .pcie = job->pcie,
                            .network = job->network,
                            .latency = job->latency};
}

/* The numbers of GPUs; without --gpus some of one host, and of many. */
static int read_points(struct model_job *job)
{
    static const double some[] = {1, 2, 8, 16, 64, 512, 1000, 10000};
    for (size_t i = 0; job->gpus.n == 0 && i < sizeof some / sizeof *some; i++)
        job->point[job->points++] = some[i];
    for (size_t i = 0; i < job->gpus.n; i++) {
        uint64_t value;
        if (cli_read_natural(job->gpus.item[i], &value) || value < 1 || value > 1000000)
            return cli_wrong("--gpus: '%s' is not a number from 1 to 1000000", job->gpus.item[i]);
        if (job->points == MOST_POINTS)
            return cli_wrong("--gpus may be given %d times", MOST_POINTS);
        job->point[job->points++] = (double)value;
    }
    return CLI_DONE;
}

static void add_time(struct cli_table *table, double seconds)
{
    if (seconds >= 1)
        cli_table_add(table, "%.4g s", seconds);
    else
        cli_table_add(table, "%.4g ms", 1e3 * seconds);
}

static void report_table(const struct model_job *job)
{
    struct cli_text text;
    struct cli_table *table =
        cli_table_create(">GPUs|>hosts|>time|>speed|>of a GPU's|>network alone");
    printf("%s: %.9g %s; a GPU alone does %s\n", program_names[job->program], job->n,
           usual[job->program].what, cli_text_rate(&text, job->rate, usual[job->program].unit));
    printf("%g GPUs a host, PCIe %s a GPU", job->of_host, cli_text_rate(&text, job->pcie, "B/s"));
    printf(", network %s a host, %g us a message\n\n", cli_text_rate(&text, job->network, "B/s"),
           1e6 * job->latency);
    for (size_t i = 0; i < job->points; i++) {
        const struct cluster c = cluster_of(job, job->n, job->point[i]);
        struct cluster_time t;
        const bool fits = cluster_predict(&c, &t) == 0;
        cli_table_add(table, "%g", c.gpus);
        cli_table_add(table, "%g", ceil(c.gpus / c.of_host));
        if (!fits) {
            for (int k = 0; k < 4; k++)
                cli_table_add(table, "%s", k == 0 ? "too few rows" : "-");
            continue;
        }
        add_time(table, t.seconds);
        cli_table_add(table, "%s",
                      cli_text_rate(&text, cluster_work(&c) / t.seconds, usual[job->program].unit));
        cli_table_add(table, "%.1f %%", 100 * t.efficiency);
        add_time(table, t.mail);
    }
    cli_table_print(table, stdout);
    cli_table_free(table);
    printf("\ntime: of %s; network alone: what goes between hosts, if nothing of it were hidden\n",
           usual[job->program].step);
}

static int report_json(const struct model_job *job)
{
    json_t *points = json_array();
    for (size_t i = 0; i < job->points; i++) {
        const struct cluster c = cluster_of(job, job->n, job->point[i]);
        struct cluster_time t;
        const bool fits = cluster_predict(&c, &t) == 0;
        json_array_append_new(
            points, json_pack("{s:f, s:o, s:o, s:o, s:o}", "gpus", c.gpus, "seconds",
                              cli_json_real(fits ? t.seconds : NAN), "rate",
                              cli_json_real(fits ? cluster_work(&c) / t.seconds : NAN),
                              "efficiency_percent", cli_json_real(fits ? 100 * t.efficiency : NAN),
                              "network_seconds", cli_json_real(fits ? t.mail : NAN)));
    }
    json_t *report =
        json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "program", "cluster-model", "of",
                  program_names[job->program], "n", job->n, "gpus_a_host", job->of_host,
                  "rate_of_a_gpu", job->rate, "pcie_bytes_per_s", job->pcie, "network_bytes_per_s",
                  job->network, "latency_seconds", job->latency, "points", points);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

/* Lines of this size, and of smaller and larger ones: per cent of a GPU's speed on 1 to 16,384
 * GPUs. */
static int draw(const struct model_job *job)
{
    enum { POINTS = 15 };
    double x[LINES][POINTS], y[LINES][POINTS];
    char name[LINES][32], title[128];
    struct plot_line line[LINES];
    const double factor = job->program == CLUSTER_GAS ? 10 : 4;
    size_t lines = 0;
    for (int k = 0; k < LINES; k++) {
        const double n = floor(job->n * pow(factor, k - LINES / 2));
        size_t points = 0;
        for (int i = 0; i < POINTS && n >= 1; i++) {
            const struct cluster c = cluster_of(job, n, ldexp(1, i));
            struct cluster_time t;
            if (cluster_predict(&c, &t) != 0)
                break;
            x[lines][points] = c.gpus;
            y[lines][points++] = fmax(100 * t.efficiency, 0.1);
        }
        snprintf(name[lines], sizeof name[lines], "%.4g", n);
        line[lines] = (struct plot_line){name[lines], points, x[lines], y[lines]};
        lines += points > 0;
    }
    snprintf(title, sizeof title, "%s, %s: speed of a GPU among many, predicted",
             program_names[job->program], usual[job->program].what);
    const struct plot plot = {.title = title,
                              .x_label = "GPUs",
                              .y_label = "per cent of a GPU alone",
                              .lines = lines,
                              .line = line};
    return plot_write(job->plot, &plot) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int check(struct model_job *job)
{
    job->n = job->n > 0 ? job->n : usual[job->program].n;
    job->rate = job->rate > 0 ? job->rate : usual[job->program].rate;
    if (job->plot && plot_check(job->plot) < 0)
        return cli_refused_call();
    return read_points(job);
}

static int run(int argc, char **argv)
{
    struct model_job job = {.of_host = 8, .pcie = 55e9, .network = 45e9, .latency = 3e-6};
    int status;
    struct cli_option options[] = {
        CLI_CHOICE(0, "of", "PROGRAM", &job.program, program_names, "which program"),
        CLI_REAL(
            'n', "size", "N", &job.n, CLI_ABOVE_0, 1e18,
            "bodies, cells of a side, rows of square matrices, or molecules (default: 2^22, 2^20, 2^19, 1e12)"),
        CLI_STRINGS(0, "gpus", "P", &job.gpus,
                    "how many GPUs in all; may be repeated (default: some from 1 to 10000)"),
        CLI_GROUP("The machines"),
        CLI_REAL(0, "gpus-a-host", "D", &job.of_host, 1, 1024, "GPUs of a host, which is one rank"),
        CLI_REAL(
            0, "rate", "NUMBER", &job.rate, CLI_ABOVE_0, DBL_MAX,
            "what one GPU does alone at this size, a second: interactions, cells, operations or molecules (default: an H200)"),
        CLI_REAL(0, "pcie", "BYTES", &job.pcie, CLI_ABOVE_0, DBL_MAX,
                 "bytes a second between a host and each of its GPUs, each way"),
        CLI_REAL(0, "network", "BYTES", &job.network, CLI_ABOVE_0, DBL_MAX,
                 "bytes a second that a host receives"),
        CLI_REAL(0, "latency", "SECONDS", &job.latency, 0, 1, "of a message between hosts"),
        CLI_GROUP("Output"),
        CLI_STRING(0, "plot", "FILE", &job.plot,
                   "draw this size, and smaller and larger ones, as .svg or .png"),
        CLI_FLAG(0, "json", &job.json, "report as one JSON object on standard output"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Predicts how fast a program would be on many hosts, by figures of the machine: what one GPU does alone, PCIe, and the network, "
            "which bench_world measures. docs/cluster.md says what was measured of it and what is assumed.",
        .examples =
            "  stdcl cluster-model --of nbody -n 2^22 --gpus 64 --gpus 512\n"
            "  stdcl cluster-model --of life -n 2^18 --gpus-a-host 4 --network 12.5e9 --rate 20e12\n"
            "  stdcl cluster-model --of matmul -n 131072 --plot matmul.svg\n",
        .options = options,
    };
    if (cli_parse(&usage, argc, argv, &status))
        status = check(&job);
    else
        return cli_strings_free(&job.gpus), status;
    if (status == CLI_DONE && job.plot)
        status = draw(&job);
    if (status == CLI_DONE && job.json)
        status = report_json(&job);
    else if (status == CLI_DONE)
        report_table(&job);
    cli_strings_free(&job.gpus);
    return status;
}

const struct cli_command cmd_cluster_model = {
    "cluster-model", "predict how fast programs are on many GPUs", run, CLI_RANKS_APART};
