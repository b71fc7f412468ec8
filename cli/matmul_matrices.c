/* matmul_matrices.c - A, B and C of `stdcl matmul`: random, or from .npy files.
 *
 * A file in Fortran order has the columns of its matrix one after the other, which are the rows of the transposed matrix.
 * So its numbers are not moved: the product takes them as a transposed operand. How an operand is stored follows from
 * that and from --trans.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

#include <math.h>
#include <string.h>

/* What the header of a file says. */
struct shape {
    bool given, fortran;
    size_t rows, cols, size;
};

/* Opens a file, which stays open until it is read: it may be a pipe. */
static int look(const char *file, struct npy *in, struct shape *s)
{
    memset(s, 0, sizeof *s);
    if (!file)
        return CLI_DONE;
    if (npy_open(in, file) < 0)
        return cli_failed_call(NULL);
    *s = (struct shape){true, in->fortran, in->rows, in->cols, in->size};
    return CLI_DONE;
}

/* Takes the precision from a file, or says that another one was asked for. */
static int agree_precision(struct matmul_job *job, const char *file, const struct shape *s)
{
    const int precision = s->size == 8 ? MATMUL_DOUBLE : MATMUL_SINGLE;
    if (!s->given)
        return CLI_DONE;
    if (job->precision >= 0 && job->precision != precision)
        return cli_wrong("%s holds float%zu, but the product is in %s precision; convert it (numpy: x.astype), or give "
                         "files of one type", file, 8 * s->size, matmul_precision_names[job->precision]);
    job->precision = precision;
    return CLI_DONE;
}

/* Takes a dimension from a file, or says that another one was asked for. */
static int agree_size(size_t *size, size_t from_file, const char *file, const char *name)
{
    if (*size && *size != from_file)
        return cli_wrong("%s does not fit: it makes %s %zu, but another file or an option makes it %zu", file, name,
                         from_file, *size);
    *size = from_file;
    return CLI_DONE;
}

static int agree_sizes(struct matmul_job *job, const struct shape s[3])
{
    const bool ta = job->trans >= MATMUL_TN, tb = job->trans == MATMUL_NT || job->trans == MATMUL_TT;
    const struct {
        const char *file, *row_name, *col_name;
        size_t *rows, *cols;
    } of[3] = {{job->file_a, ta ? "K" : "M", ta ? "M" : "K", ta ? &job->k : &job->m, ta ? &job->m : &job->k},
               {job->file_b, tb ? "N" : "K", tb ? "K" : "N", tb ? &job->n : &job->k, tb ? &job->k : &job->n},
               {job->file_c, "M", "N", &job->m, &job->n}};
    for (int i = 0; i < 3; i++) {
        if (!s[i].given)
            continue;
        if (agree_precision(job, of[i].file, &s[i]) != CLI_DONE ||
            agree_size(of[i].rows, s[i].rows, of[i].file, of[i].row_name) != CLI_DONE ||
            agree_size(of[i].cols, s[i].cols, of[i].file, of[i].col_name) != CLI_DONE)
            return CLI_WRONG;
        if (s[i].rows == 0 || s[i].cols == 0)
            return cli_wrong("%s is empty: its shape is %zu x %zu", of[i].file, s[i].rows, s[i].cols);
    }
    return CLI_DONE;
}

int matmul_job_sizes(struct matmul_job *job)
{
    struct shape s[3];
    const char *const files[3] = {job->file_a, job->file_b, job->file_c};
    int pipes = 0;
    for (int i = 0; i < 3; i++)
        pipes += files[i] && strcmp(files[i], "-") == 0;
    if (pipes > 1)
        return cli_wrong("only one matrix can come from the standard input; give a file for the other");
    for (int i = 0; i < 3; i++)
        if (look(files[i], &job->in[i], &s[i]) != CLI_DONE)
            return CLI_FAILED;
    if (agree_sizes(job, s) != CLI_DONE)
        return CLI_WRONG;
    if (s[2].fortran)
        return cli_wrong("%s is in Fortran order; C must be in C order (numpy: numpy.ascontiguousarray)", job->file_c);
    const size_t square = job->n ? job->n : job->m ? job->m : job->k ? job->k : 1024;
    job->n = job->n ? job->n : square;
    job->m = job->m ? job->m : square;
    job->k = job->k ? job->k : square;
    job->precision = job->precision < 0 ? MATMUL_SINGLE : job->precision;
    job->real = job->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    const bool ta = (job->trans >= MATMUL_TN) != s[0].fortran;
    const bool tb = (job->trans == MATMUL_NT || job->trans == MATMUL_TT) != s[1].fortran;
    job->stored = (enum matmul_trans)(2 * ta + tb);
    job->lda = ta ? job->m : job->k;
    job->ldb = tb ? job->k : job->n;
    return CLI_DONE;
}

static size_t count_nan(const void *x, size_t count, size_t real)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++)
        if (real == sizeof(double) ? isnan(((const double *)x)[i]) : isnan(((const float *)x)[i]))
            found++;
    return found;
}

/* Fills an array of rows x cols piece by piece, from a file or at random, and shows how far it is: `*done` of the job's
 * elements are made, of `all`. */
static int fill(struct matmul_job *job, int which, size_t rows, size_t cols, char *x, double *done, double all)
{
    enum { PIECE = 1 << 20 };
    struct npy *in = &job->in[which];
    const size_t most = cols < PIECE ? PIECE / cols : 1;
    for (size_t i = 0, n; i < rows; i += n, *done += (double)n * (double)cols) {
        void *piece = x + i * cols * job->real;
        n = rows - i < most ? rows - i : most;
        cli_progress_update(&job->progress, 100 * *done / all, "making the matrices");
        if (!in->fp)
            matmul_random_rows((enum matmul_precision)job->precision, job->seed, (uint32_t)which, i, n, cols, piece, cols);
        else if (npy_read_part(in, piece, n * cols) < 0)
            return cli_failed_call(NULL);
        else
            job->nan[which] += count_nan(piece, n * cols, job->real);
    }
    return CLI_DONE;
}

/* An array of rows x cols as stored. */
static int make(struct matmul_job *job, int which, size_t rows, size_t cols, void **x, double *done, double all)
{
    *x = job->context ? clmalloc(job->context, rows * cols * job->real, CL_MEM_ZEROCOPY) : malloc(rows * cols * job->real);
    if (!*x)
        return job->context ? cli_failed_call("making room for the matrices") : cli_failed("no memory for the matrices");
    const int status = fill(job, which, rows, cols, *x, done, all);
    npy_close(&job->in[which]);
    return status;
}

int matmul_job_matrices(struct matmul_job *job)
{
    const bool ta = job->stored >= MATMUL_TN, tb = job->stored == MATMUL_NT || job->stored == MATMUL_TT;
    const double sum = (double)job->m * (double)job->k + (double)job->k * (double)job->n +
                       (job->beta != 0 ? 2 : 1) * (double)job->m * (double)job->n;
    if (sum >= 9e18 || cli_memory_for((size_t)sum, job->real, "elements of the matrices") != CLI_DONE)
        return sum >= 9e18 ? cli_failed("a product of %zu x %zu x %zu is too large for any memory", job->m, job->n, job->k) : CLI_FAILED;
    const double all = sum - (job->beta != 0 ? (double)job->m * (double)job->n : 0);
    double done = 0;
    cli_progress_start(&job->progress, "%", 100, job->common.quiet);
    job->progress.partial = true;
    int status = make(job, 0, ta ? job->k : job->m, ta ? job->m : job->k, &job->a, &done, all);
    if (status == CLI_DONE)
        status = make(job, 1, tb ? job->n : job->k, tb ? job->k : job->n, &job->b, &done, all);
    if (status == CLI_DONE)
        status = make(job, 2, job->m, job->n, &job->c, &done, all);
    cli_progress_end(&job->progress);
    if (status == CLI_DONE && job->beta != 0) {
        job->before = cli_alloc(job->m * job->n, job->real);
        memcpy(job->before, job->c, job->m * job->n * job->real);
    }
    return status;
}

int matmul_job_write(const struct matmul_job *job)
{
    if (job->output && npy_write(job->output, job->real, job->m, job->n, job->c, job->n) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

void matmul_job_free(struct matmul_job *job)
{
    void *const arrays[] = {job->a, job->b, job->c};
    for (int i = 0; i < 3; i++)
        npy_close(&job->in[i]);
    for (int i = 0; i < 3; i++)
        if (job->context)
            clfree(arrays[i]);
        else
            free(arrays[i]);
    free(job->before);
    free(job->outcome);
    if (job->context)
        clcontext_destroy(job->context);
    cli_strings_free(&job->engines);
    cli_common_free(&job->common);
}
