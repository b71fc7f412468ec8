/* matmul_disk.c - `stdcl matmul --out-of-core`: matrices that stay in their files while they are
 * multiplied.
 *
 * A and B are read part by part, each rank its rows of them, and blocks of C are written where they
 * belong. The file of C gets its name after some of its rows were checked.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

static int read_part(void *npy, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    return npy_read_part_of_rows(npy, row, rows, col, cols, x);
}

static int write_part(void *arg, size_t row, size_t rows, size_t col, size_t cols, const void *x)
{
    const struct matmul_job *job = arg;
    const size_t bytes = cols * job->real, at = job->n * job->real;
    if (cols == job->n)
        return cli_ranks_put(&job->written, row * at, x, rows * bytes);
    for (size_t i = 0; i < rows; i++)
        if (cli_ranks_put(&job->written, (row + i) * at + col * job->real,
                          (const char *)x + i * bytes, bytes) != 0)
            return -1;
    return 0;
}

/* Of C, which may be read from one file and is written to another. */
static int read_before(void *arg, size_t row, size_t rows, size_t col, size_t cols, void *x)
{
    const struct matmul_job *job = arg;
    return npy_read_part_of_rows(&job->in[2], row, rows, col, cols, x);
}

int matmul_disk_run(struct matmul_job *job, matmul *mm, struct matmul_outcome *o)
{
    const struct matmul_far a = {.read = read_part, .arg = &job->in[0]},
                            b = {.read = read_part, .arg = &job->in[1]};
    const struct matmul_far c = {.read = read_before, .write = write_part, .arg = job};
    if (cli_ranks_open(&job->written, job->output, matmul_job_header, job) != 0)
        return -1;
    const double start = seconds_now();
    job->begun = -1;
    const int status = matmul_multiply_out_of_core(mm, job->stored, job->m, job->n, job->k,
                                                   job->alpha, &a, &b, job->beta, &c);
    if (cli_ranks_settle(&job->written, status) != 0)
        return -1;
    o->seconds = seconds_now() - start;
    return matmul_job_error(job, &o->error);
}
