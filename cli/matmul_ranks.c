/* matmul_ranks.c - the error of a product that ranks have computed together.
 *
 * No rank has all of A and B. So each takes some rows of its slab of C, and makes or reads again
 * what they depend on: those rows of op(A), and B piece by piece. What is summed up is as in
 * matmul_error, in higher precision.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

#include "formats/parallel.h"

#include <math.h>
#include <string.h>

enum { SAMPLE = 4, PIECE = 1 << 22, LEAST = 64 };

/* The rows that are checked. */
struct check {
    struct matmul_job *job;
    size_t row[SAMPLE], n;
    double *a;               /* of op(A), n x k */
    long double *sum, *size; /* n x columns of C: the product, and that of absolute values */
    char *c, *before;        /* n rows of C, and as they were */
    void *piece;
};

static double number(const struct matmul_job *job, const void *x, size_t i)
{
    return job->real == sizeof(double) ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static size_t piece_rows(size_t cols)
{
    return cols < PIECE ? PIECE / cols : 1;
}

/* Reads A: its rows are those of op(A), or of the depth. */
static int read_a(struct check *c)
{
    struct matmul_job *job = c->job;
    const bool ta = job->stored >= MATMUL_TN;
    const size_t most = piece_rows(job->lda);
    for (size_t r = 0; r < c->n && !ta; r++) {
        if (matmul_job_rows(job, 0, c->row[r], 1, c->piece) < 0)
            return -1;
        for (size_t l = 0; l < job->k; l++)
            c->a[r * job->k + l] = number(job, c->piece, l);
    }
    for (size_t l0 = 0, n; l0 < job->k && ta; l0 += n) {
        n = job->k - l0 < most ? job->k - l0 : most;
        if (matmul_job_rows(job, 0, l0, n, c->piece) < 0)
            return -1;
        for (size_t l = 0; l < n; l++)
            for (size_t r = 0; r < c->n; r++)
                c->a[r * job->k + l0 + l] = number(job, c->piece, l * job->lda + c->row[r]);
    }
    return 0;
}

/* Element (l, j) of op(B), for all rows. */
static void add(struct check *c, size_t l, size_t j, double b)
{
    const struct matmul_job *job = c->job;
    for (size_t r = 0; r < c->n; r++) {
        const long double x = (long double)c->a[r * job->k + l] * b;
        c->sum[r * job->n + j] += x;
        c->size[r * job->n + j] += fabsl(x);
    }
}

/* Rows of B as it is stored, which are in `piece`. */
struct rows_of_b {
    struct check *c;
    size_t first, rows;
};

/* Some columns of op(B), which are rows of B where it is transposed. */
static void add_columns(void *rows_of_b, size_t from, size_t to)
{
    const struct rows_of_b *b = rows_of_b;
    const struct matmul_job *job = b->c->job;
    for (size_t i = 0; i < b->rows; i++)
        for (size_t j = from; j < to; j++)
            add(b->c, b->first + i, j, number(job, b->c->piece, i * job->ldb + j));
}

static void add_rows(void *rows_of_b, size_t from, size_t to)
{
    const struct rows_of_b *b = rows_of_b;
    const struct matmul_job *job = b->c->job;
    for (size_t i = from; i < to; i++)
        for (size_t l = 0; l < job->ldb; l++)
            add(b->c, l, b->first + i, number(job, b->c->piece, i * job->ldb + l));
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
        parallel_ranges(tb ? b.rows : job->n, LEAST, tb ? add_rows : add_columns, &b);
    }
    return 0;
}

/* A row of C, or of that before: from memory, or from the file. */
static int read_row(const struct matmul_job *job, const void *memory, const struct npy *file,
                    size_t row, char *to)
{
    const size_t bytes = job->n * job->real;
    if (!memory)
        return npy_read_part_of_rows(file, row, 1, 0, job->n, to);
    memcpy(to, (const char *)memory + (row - job->slab[2].first) * bytes, bytes);
    return 0;
}

static int read_c(struct check *c)
{
    const struct matmul_job *job = c->job;
    const size_t bytes = job->n * job->real;
    struct npy written = {0};
    int status = job->c || npy_open(&written, job->written.name) == 0 ? 0 : -1;
    for (size_t r = 0; r < c->n && status == 0; r++) {
        status = read_row(job, job->c, &written, c->row[r], c->c + r * bytes);
        if (status == 0 && job->beta != 0)
            status = read_row(job, job->before, &job->in[2], c->row[r], c->before + r * bytes);
    }
    npy_close(&written);
    return status;
}

/* Sums of squares: of differences from C, and of sizes. A number that is NaN where the right one is
 * makes no difference. */
static void compare(const struct check *c, double error[2])
{
    const struct matmul_job *job = c->job;
    for (size_t r = 0; r < c->n; r++)
        for (size_t j = 0; j < job->n; j++) {
            const size_t here = r * job->n + j;
            const double is = number(job, c->c, here);
            const long double before =
                job->beta != 0 ? (long double)number(job, c->before, here) * job->beta : 0;
            const long double right = job->alpha * c->sum[here] + before,
                              size = fabsl((long double)job->alpha) * c->size[here] + fabsl(before);
            const long double difference = is - right;
            if (isnan(right) && isnan(is))
                continue;
            error[0] += (double)(difference * difference);
            error[1] += (double)(size * size);
        }
}

static int check_rows(struct check *c, double error[2])
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
                     : clerror_set(ENOMEM, "no memory to check the result");
    if (status == 0 && c->n)
        status = read_a(c) == 0 && add_b(c) == 0 && read_c(c) == 0 ? 0 : -1;
    if (status == 0)
        compare(c, error);
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
    int status = world_reduce_status(cli_world, check_rows(&c, own));
    if (status == 0)
        status = world_gather(cli_world, own, sizeof own, all);
    for (int r = 0; r < world_size(cli_world) && status == 0; r++)
        for (int i = 0; i < 2; i++)
            sum[i] += all[2 * r + i];
    free(all);
    *error = sum[1] > 0 ? sqrt(sum[0] / sum[1]) : sqrt(sum[0]);
    return status;
}
