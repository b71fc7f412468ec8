/* matmul_out_of_core.c - `stdcl matmul --out-of-core`: products of matrices that stay in their
 * files.
 *
 * A and B are read block by block, each rank its rows, and blocks of C are written at their
 * offsets. The file of C gets its final name after a check of some rows.
 * SPDX-License-Identifier: MIT
 */
#include "ranks_file.h"
#include "matmul_job.h"

#include "core/clock.h"

#include <stddef.h>

static int read_file_block(void *npy, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    return npy_read_part_of_rows(npy, row, rows, col, cols, x);
}

static int write_file_block(void *arg, size_t row, size_t rows, size_t col, size_t cols,
                            const void *x)
{
    const struct matmul_job *job = arg;
    const size_t bytes = cols * job->real, at = job->n * job->real;
    if (cols == job->n)
        return cli_ranks_file_write_at(&job->written, row * at, x, rows * bytes);
    for (size_t i = 0; i < rows; i++)
        if (cli_ranks_file_write_at(&job->written, (row + i) * at + col * job->real,
                                    (const char *)x + i * bytes, bytes) != 0)
            return -1;
    return 0;
}

/* Read the input C, which may come from a file other than the output. */
static int read_input_block(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    return matmul_job_read_c(arg, row, rows, col, cols, x);
}

int matmul_out_of_core_run(struct matmul_job *job, matmul *mm, struct matmul_outcome *o)
{
    const struct matmul_out_of_core a = {.read = read_file_block, .arg = &job->in[0]},
                                    b = {.read = read_file_block, .arg = &job->in[1]};
    const struct matmul_out_of_core c = {
        .read = read_input_block, .write = write_file_block, .arg = job};
    if (cli_ranks_file_open(&job->written, job->output, matmul_job_header, job) != 0)
        return -1;
    const double start = seconds_now();
    job->begun = -1;
    const int status = matmul_multiply_out_of_core(mm, job->stored, job->m, job->n, job->k,
                                                   job->alpha, &a, &b, job->beta, &c);
    if (cli_ranks_file_sync(&job->written, status) != 0)
        return -1;
    o->seconds = seconds_now() - start;
    return matmul_job_error(job, &o->error);
}
