/* matmul_matrices.c - A, B and C of `stdcl matmul`: random, or from .npy files.
 *
 * A file in Fortran order stores the rows of the transposed matrix. Its elements are not moved:
 * the product takes A or B as a transposed operand. The storage of an operand follows from the
 * file's order and --trans. C is transposed while it is read.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "common.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "ranks_file.h"
#include "matmul_job.h"

#include "formats/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Header of a file. */
struct shape {
    bool given, fortran;
    size_t rows, cols, size;
};

/* Open a file; it stays open until it is read, because it may be a pipe. */
static int open_header(const char *file, struct npy *in, struct shape *s)
{
    memset(s, 0, sizeof *s);
    if (!file)
        return CLI_DONE;
    if (npy_open(in, file) < 0)
        return cli_failed_call(NULL);
    *s = (struct shape){true, in->fortran, in->rows, in->cols, in->size};
    return CLI_DONE;
}

/* Take the precision from a file; fail if a different one was requested. */
static int agree_precision(struct matmul_job *job, const char *file, const struct shape *s)
{
    const int precision = s->size == 8 ? MATMUL_DOUBLE : MATMUL_SINGLE;
    if (!s->given)
        return CLI_DONE;
    if (job->precision >= 0 && job->precision != precision)
        return cli_wrong(
            "%s holds float%zu, but the product is in %s precision; convert it (numpy: x.astype), or give files of equal type",
            file, 8 * s->size, matmul_precision_names[job->precision]);
    job->precision = precision;
    return CLI_DONE;
}

/* Take a dimension from a file; fail if a different one was requested. */
static int agree_size(size_t *size, size_t from_file, const char *file, const char *name)
{
    if (*size && *size != from_file)
        return cli_wrong(
            "%s does not fit: its %s is %zu, but a different file or an option gives %zu", file,
            name, from_file, *size);
    *size = from_file;
    return CLI_DONE;
}

static int agree_sizes(struct matmul_job *job, const struct shape s[3])
{
    const bool ta = job->trans >= MATMUL_TN,
               tb = job->trans == MATMUL_NT || job->trans == MATMUL_TT;
    const struct {
        const char *file, *row_name, *col_name;
        size_t *rows, *cols;
    } of[3] = {{job->file_a, ta ? "K" : "M", ta ? "M" : "K", ta ? &job->k : &job->m,
                ta ? &job->m : &job->k},
               {job->file_b, tb ? "N" : "K", tb ? "K" : "N", tb ? &job->n : &job->k,
                tb ? &job->k : &job->n},
               {job->file_c, "M", "N", &job->m, &job->n}};
    for (int i = 0; i < 3; i++) {
        if (!s[i].given)
            continue;
        if (agree_precision(job, of[i].file, &s[i]) != CLI_DONE ||
            agree_size(of[i].rows, s[i].rows, of[i].file, of[i].row_name) != CLI_DONE ||
            agree_size(of[i].cols, s[i].cols, of[i].file, of[i].col_name) != CLI_DONE)
            return CLI_WRONG;
        if (s[i].rows == 0 || s[i].cols == 0)
            return cli_wrong("%s is empty: its shape is %zu x %zu", of[i].file, s[i].rows,
                             s[i].cols);
    }
    return CLI_DONE;
}

/* Reject a finite nonzero factor that becomes 0 or infinite in single precision. */
static int check_factor(const struct matmul_job *job, const char *name, double factor)
{
    const float single = (float)factor;
    if (job->precision == MATMUL_SINGLE && (!isfinite(single) || (single == 0 && factor != 0)))
        return cli_wrong(
            "--%s: '%g' is %s in single precision; give a different value, or --precision double",
            name, factor, single == 0 ? "zero" : "infinite");
    return CLI_DONE;
}

static void partition_rows(struct matmul_job *job)
{
    const bool ta = job->stored >= MATMUL_TN,
               tb = job->stored == MATMUL_NT || job->stored == MATMUL_TT;
    const size_t rows[3] = {ta ? job->k : job->m, tb ? job->n : job->k, job->m};
    for (int i = 0; i < 3; i++)
        matmul_partition(cli_world, world_rank(cli_world), rows[i], &job->slab[i].first,
                         &job->slab[i].rows);
}

int matmul_job_sizes(struct matmul_job *job)
{
    struct shape s[3];
    const char *const files[3] = {job->file_a, job->file_b, job->file_c};
    int pipes = 0;
    for (int i = 0; i < 3; i++)
        pipes += files[i] && strcmp(files[i], "-") == 0;
    if (pipes > 1)
        return cli_wrong("only one matrix can come from standard input; give a file for the other");
    for (int i = 0; i < 3; i++)
        if (open_header(files[i], &job->in[i], &s[i]) != CLI_DONE)
            return CLI_FAILED;
    for (int i = 0; i < 3; i++)
        if (job->out_of_core && files[i] && job->in[i].begin < 0)
            return cli_wrong("--out-of-core needs matrices in files, and '%s' is a pipe", files[i]);
    if (agree_sizes(job, s) != CLI_DONE)
        return CLI_WRONG;
    const size_t square = job->n ? job->n : job->m ? job->m : job->k ? job->k : 1024;
    job->n = job->n ? job->n : square;
    job->m = job->m ? job->m : square;
    job->k = job->k ? job->k : square;
    job->precision = job->precision < 0 ? MATMUL_SINGLE : job->precision;
    if (check_factor(job, "alpha", job->alpha) != CLI_DONE ||
        check_factor(job, "beta", job->beta) != CLI_DONE)
        return CLI_WRONG;
    job->real = job->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    const bool ta = (job->trans >= MATMUL_TN) != s[0].fortran;
    const bool tb = (job->trans == MATMUL_NT || job->trans == MATMUL_TT) != s[1].fortran;
    job->stored = (enum matmul_trans)(2 * ta + tb);
    job->lda = ta ? job->m : job->k;
    job->ldb = tb ? job->k : job->n;
    partition_rows(job);
    return CLI_DONE;
}

size_t matmul_job_count_nan(const void *x, size_t count, size_t real)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (real == sizeof(double) ? isnan(((const double *)x)[i]) : isnan(((const float *)x)[i]))
            found++;
    return found;
}

size_t matmul_job_cols(const struct matmul_job *job, int which)
{
    return which == 0 ? job->lda : which == 1 ? job->ldb : job->n;
}

/* Rows of a random matrix, filled by all processors. */
struct random_rows {
    const struct matmul_job *job;
    int which;
    size_t first;
    char *x;
};

static void fill_random(void *random_rows, size_t from, size_t to)
{
    const struct random_rows *r = random_rows;
    const size_t cols = matmul_job_cols(r->job, r->which);
    matmul_random_rows((enum matmul_precision)r->job->precision, r->job->seed, (uint32_t)r->which,
                       r->first + from, to - from, cols, r->x + from * cols * r->job->real, cols);
}

int matmul_job_rows(struct matmul_job *job, int which, size_t first, size_t rows, void *x)
{
    enum { LEAST = 1 << 16 };
    struct random_rows random = {job, which, first, x};
    if (job->in[which].fp)
        return npy_read_rows(&job->in[which], first, rows, x);
    parallel_ranges(rows, LEAST / matmul_job_cols(job, which) + 1, fill_random, &random);
    return 0;
}

enum { PIECE = 1 << 22 }; /* elements that are read at once */

/* Transpose `rows` packed rows of `cols` elements into x, in rows of ld elements. */
static void transpose_rows(size_t real, const void *from, size_t rows, size_t cols, char *x,
                           size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            memcpy(x + (j * ld + i) * real, (const char *)from + (i * cols + j) * real, real);
}

static size_t columns_at_once(size_t rows)
{
    return PIECE / (rows + 1) + 1;
}

/* Read a part of a C in Fortran order into x, in rows of ld elements. A pipe has all rows. */
static int read_c_columns(struct matmul_job *job, size_t row, size_t rows, size_t col, size_t cols,
                          char *x, size_t ld)
{
    struct npy *in = &job->in[2];
    const size_t most = columns_at_once(rows), columns = most < cols ? most : cols;
    void *piece = malloc(columns * rows * job->real + 1);
    int status = piece ? 0 : clerror_set(ENOMEM, "%s: out of memory to transpose it", in->name);
    for (size_t j = 0, n; j < cols && status == 0; j += n) {
        n = cols - j < columns ? cols - j : columns;
        status = in->begin < 0 ? npy_read_rows(in, col + j, n, piece)
                               : npy_read_part_of_rows(in, col + j, n, row, rows, piece);
        if (status == 0)
            transpose_rows(job->real, piece, n, rows, x + j * job->real, ld);
    }
    free(piece);
    return status;
}

int matmul_job_read_c(struct matmul_job *job, size_t row, size_t rows, size_t col, size_t cols,
                      void *x)
{
    return job->in[2].fortran ? read_c_columns(job, row, rows, col, cols, x, cols)
                              : npy_read_part_of_rows(&job->in[2], row, rows, col, cols, x);
}

/* Fill this rank's rows of C from a file in Fortran order, some columns at a time. */
static int fill_from_columns(struct matmul_job *job, char *x, double *done, double all)
{
    const struct matmul_partition slab = job->slab[2];
    const size_t most = columns_at_once(slab.rows);
    for (size_t j = 0, n; j < job->n; j += n, *done += (double)n * (double)slab.rows) {
        n = job->n - j < most ? job->n - j : most;
        cli_progress_update(&job->progress, 100 * *done / all, "filling the matrices");
        if (read_c_columns(job, slab.first, slab.rows, j, n, x + j * job->real, job->n) < 0)
            return cli_failed_call(NULL);
    }
    job->nan[2] = matmul_job_count_nan(x, slab.rows * job->n, job->real);
    return CLI_DONE;
}

/* Fill this rank's rows in chunks, from a file or at random, and show the progress: *done of
 * `all` elements. */
static int fill_rows(struct matmul_job *job, int which, char *x, double *done, double all)
{
    const size_t cols = matmul_job_cols(job, which), most = cols < PIECE ? PIECE / cols : 1;
    const struct matmul_partition slab = job->slab[which];
    for (size_t i = 0, n; i < slab.rows; i += n, *done += (double)n * (double)cols) {
        void *piece = x + i * cols * job->real;
        n = slab.rows - i < most ? slab.rows - i : most;
        cli_progress_update(&job->progress, 100 * *done / all, "filling the matrices");
        if (matmul_job_rows(job, which, slab.first + i, n, piece) < 0)
            return cli_failed_call(NULL);
        if (job->in[which].fp)
            job->nan[which] += matmul_job_count_nan(piece, n * cols, job->real);
    }
    return CLI_DONE;
}

static double elements(const struct matmul_job *job, int which)
{
    return (double)job->slab[which].rows * (double)matmul_job_cols(job, which);
}

/* Allocate and fill this rank's rows of a matrix. With several ranks files stay open: some of
 * their rows are read again. */
static int allocate_and_fill(struct matmul_job *job, int which, void **x, double *done, double all)
{
    const size_t bytes = job->slab[which].rows * matmul_job_cols(job, which) * job->real;
    *x = job->context ? clmalloc(job->context, bytes ? bytes : 1, CL_MEM_ZEROCOPY)
                      : malloc(bytes ? bytes : 1);
    if (!*x)
        return job->context ? cli_failed_call("allocating the matrices")
                            : cli_failed("out of memory for the matrices");
    const int status = which == 2 && job->in[which].fortran ? fill_from_columns(job, *x, done, all)
                                                            : fill_rows(job, which, *x, done, all);
    if (world_size(cli_world) == 1)
        npy_close(&job->in[which]);
    return status;
}

int matmul_job_add_nan(struct matmul_job *job)
{
    uint64_t count[3];
    for (int i = 0; i < 3; i++)
        count[i] = job->nan[i];
    if (world_add(cli_world, count, 3) != 0)
        return -1;
    for (int i = 0; i < 3; i++)
        job->nan[i] = (size_t)count[i];
    return 0;
}

int matmul_job_matrices(struct matmul_job *job)
{
    const double all = elements(job, 0) + elements(job, 1) + elements(job, 2),
                 sum = all + (job->beta != 0 ? elements(job, 2) : 0);
    if (sum >= 9e18 ||
        cli_memory_for((size_t)sum, job->real, "elements of the matrices") != CLI_DONE)
        return sum >= 9e18 ? cli_failed("a product of %zu x %zu x %zu is too large for any memory",
                                        job->m, job->n, job->k)
                           : CLI_FAILED;
    void **const matrix[3] = {&job->a, &job->b, &job->c};
    double done = 0;
    int status = CLI_DONE;
    cli_progress_start(&job->progress, "%", 100, job->common.quiet);
    job->progress.partial = true;
    for (int i = 0; i < 3 && status == CLI_DONE; i++)
        status = allocate_and_fill(job, i, matrix[i], &done, all);
    cli_progress_end(&job->progress);
    if (status == CLI_DONE && matmul_job_add_nan(job) != 0)
        status = cli_failed_call(NULL);
    if (status != CLI_DONE || job->beta == 0)
        return status;
    const size_t count = job->slab[2].rows * job->n;
    job->before = cli_alloc(count + 1, job->real);
    memcpy(job->before, job->c, count * job->real);
    return CLI_DONE;
}

void matmul_job_header(FILE *fp, void *arg)
{
    const struct matmul_job *job = arg;
    npy_write_header(fp, job->real, job->m, job->n);
}

int matmul_job_write(struct matmul_job *job)
{
    int status = 0;
    if (job->out_of_core) {
        status = cli_ranks_file_commit(&job->written);
    } else if (job->output && world_size(cli_world) > 1) {
        const size_t row = job->n * job->real;
        status = cli_ranks_file_write(job->output, matmul_job_header, job, job->c,
                                      job->slab[2].first * row, job->slab[2].rows * row);
    } else if (job->output) {
        status = npy_write(job->output, job->real, job->m, job->n, job->c, job->n);
    }
    return status < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

void matmul_job_free(struct matmul_job *job)
{
    void *const arrays[] = {job->a, job->b, job->c};
    for (int i = 0; i < 3; i++)
        npy_close(&job->in[i]);
    cli_ranks_file_discard(&job->written);
    for (int i = 0; i < 3; i++)
        if (job->context)
            clfree(arrays[i]);
        else
            free(arrays[i]);
    free(job->before);
    free(job->outcome);
    cli_interrupt_last_words(NULL);
    free(job->last_words);
    if (job->context)
        clcontext_destroy(job->context);
    cli_strings_free(&job->engines);
    cli_strings_free(&job->figures.names);
    cli_common_free(&job->common);
}
