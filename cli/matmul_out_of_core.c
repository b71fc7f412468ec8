/* matmul_out_of_core.c - `stdcl matmul --out-of-core`: products of matrices that stay in their
 * files.
 *
 * A and B are read block by block, each rank its rows, and blocks of C are written at their
 * offsets. The file of C gets its final name after a check of some rows.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "ranks_file.h"
#include "matmul_job.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Rows and columns of a matrix as stored; the ends are outside. */
struct block {
    size_t row, row_end, col, col_end;
};

/* An input matrix, and its blocks with counted NaN: a block may be read several times. */
struct source {
    struct matmul_job *job;
    int which;
    struct block *counted;
    size_t n;
};

static size_t count_in_block(const struct source *s, const struct block *read, const void *x,
                             struct block b)
{
    const size_t real = s->job->real, cols = read->col_end - read->col;
    size_t found = 0;
    for (size_t row = b.row; row < b.row_end; row++)
        found += matmul_job_count_nan((const char *)x +
                                          ((row - read->row) * cols + b.col - read->col) * real,
                                      b.col_end - b.col, real);
    return found;
}

static size_t min_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t max_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Count the NaN in the part b of a block that was read into x, except in the counted blocks from
 * number k on: the parts above, below, left and right of a counted block remain. */
static size_t count_new_nan(const struct source *s, const struct block *read, const void *x,
                            struct block b, size_t k)
{
    for (; k < s->n; k++) {
        const struct block *c = &s->counted[k],
                           both = {max_of(b.row, c->row), min_of(b.row_end, c->row_end),
                                   max_of(b.col, c->col), min_of(b.col_end, c->col_end)};
        if (both.row >= both.row_end || both.col >= both.col_end)
            continue;
        const struct block rest[] = {{b.row, both.row, b.col, b.col_end},
                                     {both.row_end, b.row_end, b.col, b.col_end},
                                     {both.row, both.row_end, b.col, both.col},
                                     {both.row, both.row_end, both.col_end, b.col_end}};
        size_t found = 0;
        for (int i = 0; i < 4; i++)
            if (rest[i].row < rest[i].row_end && rest[i].col < rest[i].col_end)
                found += count_new_nan(s, read, x, rest[i], k + 1);
        return found;
    }
    return count_in_block(s, read, x, b);
}

static bool is_counted(const struct source *s, const struct block *b)
{
    bool found = false;
    for (size_t k = 0; k < s->n && !found; k++)
        found = memcmp(&s->counted[k], b, sizeof *b) == 0;
    return found;
}

/* Read a block of A, B or the input C, which may come from a file other than the output. */
static int read_file_block(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    struct source *s = arg;
    struct matmul_job *job = s->job;
    const struct block read = {row, row + rows, col, col + cols};
    if ((s->which == 2 ? matmul_job_read_c(job, row, rows, col, cols, x)
                       : npy_read_part_of_rows(&job->in[s->which], row, rows, col, cols, x)) != 0)
        return -1;
    if (is_counted(s, &read))
        return 0;
    job->nan[s->which] += count_new_nan(s, &read, x, read, 0);
    s->counted = cli_realloc(s->counted, s->n + 1, sizeof *s->counted);
    s->counted[s->n++] = read;
    return 0;
}

static int write_file_block(void *arg, size_t row, size_t rows, size_t col, size_t cols,
                            const void *x)
{
    const struct matmul_job *job = ((const struct source *)arg)->job;
    const size_t bytes = cols * job->real, at = job->n * job->real;
    if (cols == job->n)
        return cli_ranks_file_write_at(&job->written, row * at, x, rows * bytes);
    for (size_t i = 0; i < rows; i++)
        if (cli_ranks_file_write_at(&job->written, (row + i) * at + col * job->real,
                                    (const char *)x + i * bytes, bytes) != 0)
            return -1;
    return 0;
}

int matmul_out_of_core_run(struct matmul_job *job, matmul *mm, struct matmul_outcome *o)
{
    struct source s[3] = {{.job = job}, {.job = job, .which = 1}, {.job = job, .which = 2}};
    const struct matmul_out_of_core a = {.read = read_file_block, .arg = &s[0]},
                                    b = {.read = read_file_block, .arg = &s[1]};
    const struct matmul_out_of_core c = {
        .read = read_file_block, .write = write_file_block, .arg = &s[2]};
    if (cli_ranks_file_open(&job->written, job->output, matmul_job_header, job) != 0)
        return -1;
    const double start = seconds_now();
    job->begun = -1;
    const int status = matmul_multiply_out_of_core(mm, job->stored, job->m, job->n, job->k,
                                                   job->alpha, &a, &b, job->beta, &c);
    for (int i = 0; i < 3; i++)
        free(s[i].counted);
    if (cli_ranks_file_sync(&job->written, status) != 0)
        return -1;
    o->seconds = seconds_now() - start;
    return matmul_job_add_nan(job) == 0 ? matmul_job_error(job, &o->error) : -1;
}
