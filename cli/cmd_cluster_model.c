/* cmd_cluster_model.c - `stdcl cluster-model`: predicted speed of the programs on many GPUs.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "usage.h"
#include "cluster_model.h"

#include "formats/plot.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MOST_POINTS = 64, LINES = 5 };
static const char *const program_names[] = {"nbody", "tree", "life", "matmul", "gas", NULL};

/* Speed of one H200 alone, and default sizes. */
static const struct {
    double rate, n;
    const char *unit, *what, *step;
} default_figures[CLUSTER_PROGRAMS] = {
    [CLUSTER_NBODY] = {2.025e12, 0x1p22, "interactions/s", "bodies, direct sums", "step"},
    [CLUSTER_TREE] = {504e6, 0x1p30, "bodies/s", "bodies, tree", "step"},
    [CLUSTER_LIFE] = {33.1e12, 0x1p20, "cells/s", "cells per side, in strips or blocks",
                      "generation"},
    [CLUSTER_MATMUL] = {54e12, 0x1p19, "FLOP/s", "rows and columns, double precision", "product"},
    [CLUSTER_GAS] = {133e9, 1e12, "molecules/s", "molecules", "sum"},
};

struct model_job {
    int program;
    double n, gpus_per_host, rate, memory, pcie, network, latency;
    struct cli_strings gpus;
    const char *plot;
    bool json;
    double point[MOST_POINTS];
    size_t points;
};

static struct cluster make_cluster(const struct model_job *job, double n, double gpus)
{
    return (struct cluster){.program = (enum cluster_program)job->program,
                            .n = n,
                            .gpus = gpus,
                            .gpus_per_host = job->gpus_per_host,
                            .rate = job->rate,
                            .memory = job->memory,
                            .pcie = job->pcie,
                            .network = job->network,
                            .latency = job->latency};
}

/* Parse the numbers of GPUs; without --gpus use a default selection. */
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
            return cli_wrong("--gpus may be given at most %d times", MOST_POINTS);
        job->point[job->points++] = (double)value;
    }
    return CLI_DONE;
}

static void add_duration(struct text_table *table, double seconds)
{
    if (seconds >= 1)
        text_table_add(table, "%.4g s", seconds);
    else
        text_table_add(table, "%.4g ms", 1e3 * seconds);
}

/* Smallest number of GPUs that hold the bodies of a tree. */
static double least_gpus(const struct model_job *job)
{
    return job->n * cluster_tree_bytes(1) <= job->memory
               ? 1
               : ceil(job->n * cluster_tree_bytes(2) / job->memory);
}

static void model_report_table(const struct model_job *job)
{
    struct cli_text text;
    struct text_table *table =
        text_table_create(">GPUs|>3hosts|>time|>speed|>1efficiency|>2network alone");
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, stdout, 0);
    fprintf(fp, "%s: %.9g %s; one GPU alone: %s\n", program_names[job->program], job->n,
            default_figures[job->program].what,
            cli_text_rate(&text, job->rate, default_figures[job->program].unit));
    fprintf(fp, "%g GPUs per host, PCIe %s per GPU", job->gpus_per_host,
            cli_text_rate(&text, job->pcie, "B/s"));
    fprintf(fp, ", network %s per host, %g us per message\n",
            cli_text_rate(&text, job->network, "B/s"), 1e6 * job->latency);
    cli_report_end(&report, fp);
    printf("\n");
    for (size_t i = 0; i < job->points; i++) {
        const struct cluster c = make_cluster(job, job->n, job->point[i]);
        struct cluster_time t;
        const bool fits = cluster_predict(&c, &t) == 0;
        text_table_add(table, "%g", c.gpus);
        text_table_add(table, "%g", ceil(c.gpus / c.gpus_per_host));
        if (!fits) {
            for (int k = 0; k < 4; k++)
                text_table_add(table, "%s",
                               k > 0                       ? "-"
                               : c.program == CLUSTER_LIFE ? "too few rows"
                               : c.n < c.gpus              ? "too small"
                                                           : "too large");
            continue;
        }
        add_duration(table, t.seconds);
        text_table_add(
            table, "%s",
            cli_text_rate(&text, cluster_work(&c) / t.seconds, default_figures[job->program].unit));
        text_table_add(table, "%.1f %%", 100 * t.efficiency);
        add_duration(table, t.mail);
    }
    cli_table_end(table, stdout, terminal_columns(stdout));
    printf("\n");
    fp = cli_report_begin(&report, stdout, 0);
    fprintf(fp, "time: per %s; network alone: traffic between hosts, without overlap\n",
            default_figures[job->program].step);
    if (job->program == CLUSTER_TREE)
        fprintf(
            fp,
            "memory: one GPU of %.4g GB holds %.3g bodies; least number of GPUs for %.3g: %.0f\n",
            job->memory / 1e9, floor(job->memory / cluster_tree_bytes(1)), job->n, least_gpus(job));
    cli_report_end(&report, fp);
}

static int model_report_json(const struct model_job *job)
{
    json_t *points = json_array();
    for (size_t i = 0; i < job->points; i++) {
        const struct cluster c = make_cluster(job, job->n, job->point[i]);
        struct cluster_time t;
        const bool fits = cluster_predict(&c, &t) == 0;
        json_array_append_new(
            points, json_pack("{s:f, s:o, s:o, s:o, s:o}", "gpus", c.gpus, "seconds",
                              cli_json_real(fits ? t.seconds : NAN), "rate",
                              cli_json_real(fits ? cluster_work(&c) / t.seconds : NAN),
                              "efficiency_percent", cli_json_real(fits ? 100 * t.efficiency : NAN),
                              "network_seconds", cli_json_real(fits ? t.mail : NAN)));
    }
    json_t *report = json_pack(
        "{s:s, s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "program", "cluster-model", "of",
        program_names[job->program], "n", job->n, "gpus_per_host", job->gpus_per_host,
        "rate_per_gpu", job->rate, "memory_bytes", job->memory, "pcie_bytes_per_s", job->pcie,
        "network_bytes_per_s", job->network, "latency_seconds", job->latency, "points", points);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

/* Plot the efficiency in per cent on 1 to 16,384 GPUs, a line each for this size and for smaller
 * and larger ones. */
static int draw_efficiency(const struct model_job *job)
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
            const struct cluster c = make_cluster(job, n, ldexp(1, i));
            struct cluster_time t;
            if (cluster_predict(&c, &t) != 0)
                continue;
            x[lines][points] = c.gpus;
            y[lines][points++] = fmax(100 * t.efficiency, 0.1);
        }
        snprintf(name[lines], sizeof name[lines], "%.4g", n);
        line[lines] = (struct plot_line){name[lines], points, x[lines], y[lines]};
        lines += points > 0;
    }
    snprintf(title, sizeof title, "%s, %s: predicted efficiency per GPU",
             program_names[job->program], default_figures[job->program].what);
    const struct plot plot = {.title = title,
                              .x_label = "GPUs",
                              .y_label = "per cent of one GPU alone",
                              .lines = lines,
                              .line = line};
    return plot_write(job->plot, &plot) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int report_model(struct model_job *job)
{
    int status;
    if (job->n != floor(job->n))
        return cli_wrong("--size: %g is not a whole number", job->n);
    job->n = job->n > 0 ? job->n : default_figures[job->program].n;
    job->rate = job->rate > 0 ? job->rate : default_figures[job->program].rate;
    if (job->plot && plot_check(job->plot) < 0)
        return cli_refused_call();
    if ((status = read_points(job)) != CLI_DONE)
        return status;
    if (job->plot && (status = draw_efficiency(job)) != CLI_DONE)
        return status;
    if (job->json)
        return model_report_json(job);
    model_report_table(job);
    return CLI_DONE;
}

static int cmd_cluster_model_run(int argc, char **argv)
{
    struct model_job job = {
        .gpus_per_host = 8, .memory = 141e9, .pcie = 55e9, .network = 45e9, .latency = 3e-6};
    int status;
    struct cli_option options[] = {
        CLI_CHOICE(0, "of", "PROGRAM", &job.program, program_names, "program to predict"),
        CLI_REAL(
            'n', "size", "N", &job.n, 1, 1e18,
            "problem size: bodies (of direct sums, of the tree), cells per side, rows of square matrices, or molecules (default: 2^22, 2^30, 2^20, 2^19, 1e12)"),
        CLI_STRINGS(0, "gpus", "P", &job.gpus,
                    "total number of GPUs, repeatable (default: several from 1 to 10000)"),
        CLI_GROUP("Machines"),
        CLI_REAL(0, "gpus-per-host", "D", &job.gpus_per_host, 1, 1024,
                 "GPUs per host, which is one rank"),
        CLI_REAL(
            0, "rate", "NUMBER", &job.rate, 1, 1e24,
            "speed of one GPU alone at this size, per second: interactions, bodies (of the tree), cells, operations or molecules (default: an H200)"),
        CLI_REAL(0, "memory", "BYTES", &job.memory, 1e6, 1e18,
                 "memory of a GPU, in bytes, which bounds the tree"),
        CLI_REAL(0, "pcie", "BYTES", &job.pcie, 1, 1e18,
                 "bandwidth between a host and each of its GPUs, each way, in bytes/s"),
        CLI_REAL(0, "network", "BYTES", &job.network, 1, 1e18,
                 "receive bandwidth of a host, in bytes/s"),
        CLI_REAL(0, "latency", "SECONDS", &job.latency, 0, 1,
                 "latency of a message between hosts, in s"),
        CLI_GROUP("Output"),
        CLI_STRING(0, "plot", "FILE", &job.plot,
                   "plot of this size and of smaller and larger ones, as .svg, .png or .pdf"),
        CLI_FLAG(0, "json", &job.json, "report as one JSON object on standard output"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]",
        .about =
            "Predicts the speed of a program on many hosts from figures of the machine: the speed of one GPU, PCIe, and the network, which bench_world measures. docs/cluster.md lists what was measured and what is assumed.",
        .examples =
            "  stdcl cluster-model --of nbody -n 2^22 --gpus 64 --gpus 512\n"
            "  stdcl cluster-model --of tree -n 1e12 --gpus 10000\n"
            "  stdcl cluster-model --of life -n 2^18 --gpus-per-host 4 --network 12.5e9 --rate 20e12\n"
            "  stdcl cluster-model --of matmul -n 131072 --plot matmul.svg\n",
        .options = options,
    };
    if (cli_parse(&usage, argc, argv, &status))
        status = report_model(&job);
    cli_strings_free(&job.gpus);
    return status;
}

const struct cli_command cmd_cluster_model = {"cluster-model",
                                              "predict how fast programs are on many GPUs",
                                              cmd_cluster_model_run, CLI_RANKS_INDEPENDENT};
