/* view_tables.c - tables for `stdcl view`: velocities (.npy, rows of three) as a histogram of
 * speeds with Maxwell's distribution at the same temperature; the .csv of `stdcl matmul --sweep`
 * as a map.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "view_job.h"

#include "core/host_memory.h"
#include "formats/npy.h"
#include "stdcl/gas.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Velocities. ----------------------------------------------------------------------------- */

enum { BINS = 120 };

static int show_bars(void *arg, int last)
{
    struct view_job *job = arg;
    view_show_bars(job->window.view, (struct view_moment){.last = last}, job->bars.n, job->bars.top,
                   job->bars.count, job->bars.expected);
    return CLI_DONE;
}

static double npy_number(const struct npy *in, const void *x, size_t k)
{
    return in->size == sizeof(float) ? (double)((const float *)x)[k] : ((const double *)x)[k];
}

static void fill_bins(struct view_job *job, const struct npy *in, const void *x, size_t n)
{
    const size_t row = in->fortran ? 1 : 3, column = in->fortran ? n : 1;
    double sum = 0, below = 0;
    for (size_t k = 0; k < 3 * n; k++)
        sum += npy_number(in, x, k) * npy_number(in, x, k);
    const double variance = n ? sum / (3 * (double)n) : 1,
                 top = 6 * sqrt(variance > 0 ? variance : 1);
    job->bars.n = BINS;
    job->bars.top = top;
    for (size_t i = 0; i < n; i++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square +=
                npy_number(in, x, i * row + c * column) * npy_number(in, x, i * row + c * column);
        const double bin = sqrt(square) / top * BINS;
        job->bars.count[bin < BINS ? (size_t)bin : BINS]++;
    }
    for (int i = 0; i <= BINS; i++) {
        const double next = i == BINS ? 1 : gas_speed_cdf((i + 1) * top / BINS, variance, 1, 1);
        job->bars.expected[i] = (next - below) * (double)n;
        below = next;
    }
}

int view_speeds_open(struct view_job *job)
{
    struct npy in;
    const char *file = job->file.item[0];
    if (npy_open(&in, file) < 0)
        return cli_failed_call(NULL);
    void *x = (double)npy_bytes(&in) <= host_memory_left() ? malloc(npy_bytes(&in) + 1) : NULL;
    job->bars.count = cli_alloc(BINS + 1, sizeof *job->bars.count);
    job->bars.expected = cli_alloc(BINS + 1, sizeof *job->bars.expected);
    const bool read = x && npy_read(&in, x) == 0;
    if (read)
        fill_bins(job, &in, x, in.rows * in.cols / 3);
    npy_close(&in);
    free(x);
    if (!read)
        return x ? cli_failed_call(NULL) : cli_failed("%s: out of memory", file);
    job->frames = 1;
    job->show = show_bars;
    job->about = (struct view_options){
        .program = "gas",
        .title = cli_window_name(file),
        .bars = {.quantity = "speed", .counted = "molecules", .model = "Maxwell"}};
    return CLI_DONE;
}

/* ---- The table of a sweep: block,ENGINE,ENGINE...; a row a block. ---------------------------- */

static int show_grid(void *arg, int last)
{
    struct view_job *job = arg;
    view_show_grid(job->window.view, (struct view_moment){.last = last}, job->table.value);
    return CLI_DONE;
}

/* Engine of a column "ENGINE_seconds". */
static const char *column_engine(char *head)
{
    char *end = strstr(head, "_seconds");
    if (end)
        *end = 0;
    return head;
}

/* Split a line in place; return the number of words. */
static size_t split_line(char *line, char **word, size_t most)
{
    size_t n = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && n < most;) {
        word[n++] = at;
        at = strchr(at, ',');
        if (at)
            *at++ = 0;
    }
    return n;
}

enum { MOST_ENGINES = 64, MOST_BLOCKS = 256 };

/* Read the table transposed: engines are the rows of the map. */
static int read_sweep(struct view_job *job, FILE *fp, const char *file)
{
    size_t room[2] = {0, 0}, rows = 0;
    char *words[MOST_ENGINES + 1];
    static char lines[MOST_BLOCKS][32];
    const size_t n = getline(&job->text[0], &room[0], fp) > 0
                         ? split_line(job->text[0], words, MOST_ENGINES + 1)
                         : 0;
    if (n < 2 || strcmp(words[0], "block") != 0)
        return cli_failed(
            "%s: not a table of 'stdcl matmul --sweep --csv': the first line must be block,ENGINE,...",
            file);
    job->names = cli_alloc(n, sizeof *job->names);
    for (size_t k = 1; k < n; k++)
        job->names[k - 1] = column_engine(words[k]);
    job->heads = cli_alloc(MOST_BLOCKS + 1, sizeof *job->heads);
    job->table.value = cli_alloc(MOST_ENGINES * MOST_BLOCKS, sizeof *job->table.value);
    while (rows < MOST_BLOCKS && getline(&job->text[1], &room[1], fp) > 0) {
        char *row[MOST_ENGINES + 1];
        if (split_line(job->text[1], row, n) != n)
            return cli_failed("%s: line %zu does not have %zu numbers", file, rows + 2, n);
        snprintf(lines[rows], sizeof lines[rows], "%s", row[0]);
        job->heads[rows] = lines[rows];
        for (size_t k = 1; k < n; k++)
            job->table.value[(k - 1) * MOST_BLOCKS + rows] =
                1 / strtof(row[k], NULL); /* NaN stays NaN */
        rows++;
    }
    for (size_t k = 1; k + 1 < n; k++)
        memmove(job->table.value + k * rows, job->table.value + k * MOST_BLOCKS,
                rows * sizeof *job->table.value);
    return rows ? CLI_DONE : cli_failed("%s: no rows", file);
}

int view_sweep_open(struct view_job *job)
{
    const char *file = job->file.item[0];
    FILE *fp = cli_open_text(file, "expected a table of 'stdcl matmul --sweep --csv'");
    if (!fp)
        return CLI_FAILED;
    const int status = read_sweep(job, fp, file);
    fclose(fp);
    job->frames = 1;
    job->show = show_grid;
    job->about = (struct view_options){.program = "matmul",
                                       .title = cli_window_name(file),
                                       .grid = {.row = "engine",
                                                .rows = job->names,
                                                .column = "block",
                                                .columns = job->heads,
                                                .quantity = "rate",
                                                .unit = "per s"}};
    return status;
}
