/* matmul_ranks.c - error of a product computed by several ranks.
 *
 * No rank holds all of A and B. Each rank checks some rows of its slab of C: it regenerates or
 * rereads its rows of op(A), and B in chunks. The sums are computed as in matmul_error, in higher
 * precision.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "ranks.h"
#include "matmul_job.h"

#include "formats/parallel.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 4, PIECE = 1 << 22, LEAST = 64 };

/* Rows to check. */
struct check {
    struct matmul_job *job;
    size_t row[SAMPLE], n;
    double *a; /* rows of op(A), n x k */
    /* n x columns of C: the product; the product of absolute values */
    long double *sum, *size;
    char *c, *before; /* n rows of the output and of the input C */
    void *piece;
};

static double element_of(const struct matmul_job *job, const void *x, size_t i)
{
    return job->real == sizeof(double) ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static size_t piece_rows(size_t cols)
{
    return cols < PIECE ? PIECE / cols : 1;
}

/* Read A, whose rows are rows of op(A), or steps of the depth if transposed. */
static int read_a(struct check *c)
{
    struct matmul_job *job = c->job;
    const bool ta = job->stored >= MATMUL_TN;
    const size_t most = piece_rows(job->lda);
    for (size_t r = 0; r < c->n && !ta; r++) {
        if (matmul_job_rows(job, 0, c->row[r], 1, c->piece) < 0)
            return -1;
        for (size_t l = 0; l < job->k; l++)
            c->a[r * job->k + l] = element_of(job, c->piece, l);
    }
    for (size_t l0 = 0, n; l0 < job->k && ta; l0 += n) {
        n = job->k - l0 < most ? job->k - l0 : most;
        if (matmul_job_rows(job, 0, l0, n, c->piece) < 0)
            return -1;
        for (size_t l = 0; l < n; l++)
            for (size_t r = 0; r < c->n; r++)
                c->a[r * job->k + l0 + l] = element_of(job, c->piece, l * job->lda + c->row[r]);
    }
    return 0;
}

/* Add element (l, j) of op(B) to all rows. */
static void add_element(struct check *c, size_t l, size_t j, double b)
{
    const struct matmul_job *job = c->job;
    for (size_t r = 0; r < c->n; r++) {
        const long double x = (long double)c->a[r * job->k + l] * b;
        c->sum[r * job->n + j] += x;
        c->size[r * job->n + j] += fabsl(x);
    }
}

/* Rows of B as stored, held in `piece`. */
struct rows_of_b {
    struct check *c;
    size_t first, rows;
};

/* Add some columns of op(B); add_b_rows does so if B is transposed. */
static void add_b_columns(void *rows_of_b, size_t from, size_t to)
{
    const struct rows_of_b *b = rows_of_b;
    const struct matmul_job *job = b->c->job;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = from; j < to; j++)
            add_element(b->c, b->first + i, j, element_of(job, b->c->piece, i * job->ldb + j));
}

static void add_b_rows(void *rows_of_b, size_t from, size_t to)
{
    const struct rows_of_b *b = rows_of_b;
    const struct matmul_job *job = b->c->job;
    for (size_t i = from; i < to; i++)
        for (size_t l = 0; l < job->ldb; l++)
            add_element(b->c, l, b->first + i, element_of(job, b->c->piece, i * job->ldb + l));
}

static int add_b(struct check *c)
{
    struct matmul_job *job = c->job;
    const bool tb = job->stored == MATMUL_NT || job->stored == MATMUL_TT;
    const size_t rows = tb ? job->n : job->k, most = piece_rows(job->ldb);
    struct rows_of_b b = {.c = c};
    for (; b.first < rows; b.first += b.rows) {
        b.rows = rows - b.first < most ? rows - b.first : most;
        if (matmul_job_rows(job, 1, b.first, b.rows, c->piece) < 0)
            return -1;
        parallel_ranges(tb ? b.rows : job->n, LEAST, tb ? add_b_rows : add_b_columns, &b);
    }
    return 0;
}

/* Copy a row of C from memory. */
static void copy_c_row(const struct matmul_job *job, const void *memory, size_t row, char *to)
{
    const size_t bytes = job->n * job->real;
    memcpy(to, (const char *)memory + (row - job->slab[2].first) * bytes, bytes);
}

/* Read a row of the output C into c->c, and of the input C into c->before. */
static int read_c_row(struct check *c, const struct npy *written, size_t r)
{
    struct matmul_job *job = c->job;
    const size_t at = r * job->n * job->real;
    if (job->c)
        copy_c_row(job, job->c, c->row[r], c->c + at);
    else if (npy_read_part_of_rows(written, c->row[r], 1, 0, job->n, c->c + at) != 0)
        return -1;
    if (job->before)
        copy_c_row(job, job->before, c->row[r], c->before + at);
    else if (job->beta != 0)
        return matmul_job_read_c(job, c->row[r], 1, 0, job->n, c->before + at);
    return 0;
}

static int read_c(struct check *c)
{
    const struct matmul_job *job = c->job;
    struct npy written = {0};
    int status = job->c || npy_open(&written, job->written.name) == 0 ? 0 : -1;
    for (size_t r = 0; r < c->n && status == 0; r++)
        status = read_c_row(c, &written, r);
    npy_close(&written);
    return status;
}

/* Add the squares of differences from C and of magnitudes. NaN where NaN is expected is no
 * difference. */
static void add_squared_errors(const struct check *c, double error[2])
{
    const struct matmul_job *job = c->job;
    for (size_t r = 0; r < c->n; r++)
        for (size_t j = 0; j < job->n; j++) {
            const size_t here = r * job->n + j;
            const double is = element_of(job, c->c, here);
            const long double before =
                job->beta != 0 ? (long double)element_of(job, c->before, here) * job->beta : 0;
            const long double right = job->alpha * c->sum[here] + before,
                              size = fabsl((long double)job->alpha) * c->size[here] + fabsl(before);
            const long double difference = is - right;
            if (isnan(right) && isnan(is))
                continue;
            error[0] += (double)(difference * difference);
            error[1] += (double)(size * size);
        }
}

static int find_row_errors(struct check *c, double error[2])
{
    const struct matmul_job *job = c->job;
    const size_t longest = job->lda > job->ldb ? job->lda : job->ldb,
                 piece = longest < PIECE ? PIECE : longest;
    c->a = malloc(c->n * job->k * sizeof *c->a + 1);
    c->sum = calloc(c->n * job->n + 1, sizeof *c->sum);
    c->size = calloc(c->n * job->n + 1, sizeof *c->size);
    c->piece = malloc(piece * job->real);
    c->c = malloc(c->n * job->n * job->real + 1);
    c->before = malloc(c->n * job->n * job->real + 1);
    int status = c->a && c->sum && c->size && c->piece && c->c && c->before
                     ? 0
                     : clerror_set(ENOMEM, "out of memory to check the result");
    if (status == 0 && c->n)
        status = read_a(c) == 0 && add_b(c) == 0 && read_c(c) == 0 ? 0 : -1;
    if (status == 0)
        add_squared_errors(c, error);
    free(c->a);
    free(c->sum);
    free(c->size);
    free(c->piece);
    free(c->c);
    free(c->before);
    return status;
}

int matmul_job_error(struct matmul_job *job, double *error)
{
    struct check c = {.job = job};
    double own[2] = {0}, sum[2] = {0}, *all = cli_alloc((size_t)world_size(cli_world), sizeof own);
    const size_t rows = job->slab[2].rows;
    c.n = rows < SAMPLE ? rows : SAMPLE;
    for (size_t r = 0; r < c.n; r++)
        c.row[r] = job->slab[2].first + (c.n == 1 ? 0 : r * (rows - 1) / (c.n - 1));
    int status = world_reduce_status(cli_world, find_row_errors(&c, own));
    if (status == 0)
        status = world_gather(cli_world, own, sizeof own, all);
    for (int r = 0; r < world_size(cli_world) && status == 0; r++)
        for (int i = 0; i < 2; i++)
            sum[i] += all[2 * r + i];
    free(all);
    *error = sum[1] > 0 ? sqrt(sum[0] / sum[1]) : sqrt(sum[0]);
    return status;
}
