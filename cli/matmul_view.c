/* matmul_view.c - the view of `stdcl matmul`: a map of rates that fills up, one row per engine
 * and one column per block size. A sweep also has a plot over block sizes.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "alloc.h"
#include "matmul_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { SIDES = 11 }; /* block sizes of a sweep: 1, 2, 4 ... 1024 */
static const char *const sides[SIDES + 1] = {"1",  "2",   "4",   "8",   "16",   "32",
                                             "64", "128", "256", "512", "1024", NULL};
static const char *const one[] = {"", NULL};

int matmul_view_open(struct matmul_job *job)
{
    const char *names[MATMUL_KINDS + 1] = {NULL}, *columns[2 * MATMUL_KINDS + 3] = {"block", ""};
    char title[160];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    for (size_t i = 0; i < job->nkinds; i++) {
        names[i] = columns[2 + 2 * i] = matmul_kind_name(job->kinds[i]);
        columns[3 + 2 * i] = "GFLOP/s";
    }
    char *device = job->context ? cli_devices_name(job->context) : NULL;
    const char *const facts[] = {"precision", matmul_precision_names[job->precision], "device",
                                 device ? device : "none", NULL};
    snprintf(title, sizeof title, "%zu × %zu × %zu, %s precision", job->m, job->n, job->k,
             matmul_precision_names[job->precision]);
    struct view_options about = {.program = "matmul",
                                 .title = title,
                                 .step = "engine",
                                 .time = "engine",
                                 .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_QUIT,
                                 .facts = facts,
                                 .rows = job->sweep ? columns : NULL,
                                 .grid = {.row = "engine",
                                          .rows = names,
                                          .column = job->sweep ? "block" : "",
                                          .columns = job->sweep ? sides : one,
                                          .quantity = "rate",
                                          .unit = "GFLOP/s"}};
    const int status = cli_window_open(&job->window, &about);
    free(device);
    return status;
}

/* Position of an outcome in the map; false if it has none. */
static bool map_position(const struct matmul_job *job, const struct matmul_outcome *o, size_t *row,
                         size_t *column)
{
    for (*row = 0; *row < job->nkinds && job->kinds[*row] != o->kind;)
        ++*row;
    for (*column = 0; job->sweep && o->block > (size_t)1 << *column;)
        ++*column;
    return *row < job->nkinds && *column < SIDES;
}

static int show_map(void *arg, int last)
{
    const struct matmul_job *job = arg;
    const size_t width = job->sweep ? SIDES : 1, done = job->outcomes;
    float *value = cli_alloc(job->nkinds * width, sizeof *value);
    size_t row, column;
    for (size_t i = 0; i < job->nkinds * width; i++)
        value[i] = NAN;
    for (size_t i = 0; i < done; i++)
        if (map_position(job, &job->outcome[i], &row, &column))
            value[row * width + column] = (float)job->outcome[i].gflops;
    view_show_grid(job->window.view, (struct view_moment){(double)done, done, last}, value);
    free(value);
    return CLI_DONE;
}

/* Show the map after an outcome. Visits are rare, so every picture is sent. */
int matmul_view_visit(struct matmul_job *job)
{
    double value[MATMUL_KINDS + 1];
    size_t row, column;
    if (!job->window.open)
        return CLI_DONE;
    const struct matmul_outcome *o = job->outcomes ? &job->outcome[job->outcomes - 1] : NULL;
    for (size_t i = 0; i <= job->nkinds; i++)
        value[i] = NAN;
    if (o && map_position(job, o, &row, &column)) {
        value[0] = (double)o->block;
        value[row + 1] = o->gflops;
        view_add_row(job->window.view, value);
    }
    show_map(job, 0);
    return cli_window_visit(&job->window, job->outcomes, NAN, show_map, job);
}

int matmul_view_end(struct matmul_job *job)
{
    return cli_window_end(&job->window, "all products are done", show_map, job);
}

int matmul_view_stay(struct matmul_job *job)
{
    return cli_window_stay(&job->window, show_map, job);
}
