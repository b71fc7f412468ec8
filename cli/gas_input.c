/* gas_input.c - velocities from files: rows of three numbers, from .npy or HDF5. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "gas_job.h"

#include "formats/hdf5.h"
#include "formats/npy.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- .npy ------------------------------------------------------------------------------------ */

/* Convert three planes in Fortran order to rows. */
#define PLANES_TO_ROWS(type, to, from, n)                                                          \
    for (size_t i = 0; i < (n); i++)                                                               \
        for (size_t c = 0; c < 3; c++)                                                             \
    ((type *)(to))[3 * i + c] = ((const type *)(from))[c * (n) + i]

static void *planes_to_rows(void *planes, size_t n, size_t size)
{
    void *rows = cli_alloc(n, 3 * size);
    if (size == 8)
        PLANES_TO_ROWS(double, rows, planes, n);
    else
        PLANES_TO_ROWS(float, rows, planes, n);
    free(planes);
    return rows;
}

/* This rank's part of n rows. */
static void take_part(struct gas_job *job, size_t n, size_t *first, size_t *count)
{
    uint64_t begin, rows;
    gas_partition(cli_world, world_rank(cli_world), n, &begin, &rows);
    job->n = n;
    job->rows = *count = (size_t)rows;
    *first = (size_t)begin;
}

static int read_npy_rows(struct npy *in, struct gas_job *job)
{
    size_t first, rows;
    if (in->cols != 3 || in->rows == 0)
        return cli_failed("'%s' has the shape (%zu, %zu); velocities need shape (N, 3) with N > 0",
                          in->name, in->rows, in->cols);
    take_part(job, in->rows, &first, &rows);
    const bool whole = in->fortran || rows == in->rows;
    if (cli_memory_for(whole ? in->rows : rows, (in->fortran ? 6 : 3) * in->size, "velocities") !=
        CLI_DONE)
        return CLI_FAILED;
    job->precision = in->size == 8 ? ARRAYS_DOUBLE : ARRAYS_FLOAT;
    job->velocity = cli_alloc(whole ? in->rows : rows, 3 * in->size);
    if ((whole ? npy_read(in, job->velocity)
               : npy_read_part_of_rows(in, first, rows, 0, 3, job->velocity)) != 0)
        return cli_failed_call(NULL);
    if (in->fortran)
        job->velocity = planes_to_rows(job->velocity, in->rows, in->size);
    if (whole)
        memmove(job->velocity, (const char *)job->velocity + first * 3 * in->size,
                rows * 3 * in->size);
    return CLI_DONE;
}

static int read_npy_velocities(struct gas_job *job)
{
    struct npy in;
    if (npy_open(&in, job->input) != 0)
        return cli_failed_call(NULL);
    const int status = read_npy_rows(&in, job);
    npy_close(&in);
    return status;
}

/* ---- HDF5. ----------------------------------------------------------------------------------- */

static int read_hdf5_velocities(struct gas_job *job)
{
    static const char *const usual[] = {"velocities", "Velocities", "PartType1/Velocities",
                                        "PartType0/Velocities", NULL};
    const char *const asked[] = {job->dataset, NULL};
    struct hdf5_rows rows;
    if (hdf5_read_rows(job->input, job->dataset ? asked : usual, 3, &rows) != 0)
        return cli_failed_call(NULL);
    size_t first, own;
    const size_t row = 3 * (rows.wide ? sizeof(double) : sizeof(float));
    take_part(job, rows.n, &first, &own);
    job->precision = rows.wide ? ARRAYS_DOUBLE : ARRAYS_FLOAT;
    job->velocity = memmove(rows.data, (const char *)rows.data + first * row, own * row);
    return CLI_DONE;
}

/* ---- Either. --------------------------------------------------------------------------------- */

int gas_input_read(struct gas_job *job)
{
    const bool hdf5 = hdf5_is(job->input);
    const int asked = job->precision;
    if (!hdf5 && job->dataset)
        return cli_wrong("--dataset: '%s' is not an HDF5 file", job->input);
    const int status = hdf5 ? read_hdf5_velocities(job) : read_npy_velocities(job);
    if (status != CLI_DONE || asked < 0 || asked == job->precision)
        return status;
    if (asked == ARRAYS_FLOAT)
        return cli_wrong("'%s' is read in double precision, not in single; convert it (numpy: "
                         "x.astype), or omit --precision",
                         job->input);
    const float *from = job->velocity; /* convert floats to doubles */
    double *to = cli_alloc(job->rows * 3, sizeof *to);
    for (size_t i = 0; i < job->rows * 3; i++)
        to[i] = (double)from[i];
    free(job->velocity);
    job->velocity = to;
    job->precision = ARRAYS_DOUBLE;
    return CLI_DONE;
}

int gas_input_give(struct gas_job *job)
{
    const int failed = job->precision == ARRAYS_DOUBLE
                           ? gas_set_velocities(job->gas, job->velocity)
                           : gas_set_velocities_single(job->gas, job->velocity);
    gas_input_free(job);
    return failed ? cli_failed("%s: %s", job->input, cli_reason()) : CLI_DONE;
}

void gas_input_free(struct gas_job *job)
{
    free(job->velocity);
    job->velocity = NULL;
}
