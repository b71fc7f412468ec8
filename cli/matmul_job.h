/* matmul_job.h - types and functions of `stdcl matmul`.
 *
 *   cmd_matmul.c         options and order of events
 *   matmul_names.c       names of precisions and of transpositions
 *   matmul_matrices.c    A, B and C: random or from .npy files
 *   matmul_run.c         one engine: verified, timed
 *   matmul_out_of_core.c products of matrices that stay in their files
 *   matmul_ranks.c       error of a product computed by several ranks
 *   matmul_view.c        the view in a browser
 *   matmul_figure.c      bars of a comparison
 *   matmul_report.c      reports of one engine, of all, of a sweep; tables and plots
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_MATMUL_JOB_H
#define STDCL_CLI_MATMUL_JOB_H

#include "common.h"
#include "figures.h"
#include "progress.h"
#include "ranks_file.h"
#include "window.h"

#include "formats/npy.h"
#include "stdcl/matmul.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Names of the enumerations in stdcl/matmul.h, in their order, ended by NULL. */
extern const char *const matmul_precision_names[];
extern const char *const matmul_trans_names[];

/* Result of one engine. */
struct matmul_outcome {
    enum matmul_kind kind;
    size_t block;                       /* block size; 0 for kinds without blocks */
    double seconds;                     /* per product, by the host's clock */
    double device_seconds;              /* kernel time by the devices' clocks; 0: unknown */
    double gflops, peak_percent, error; /* NAN: unknown */
    bool streamed;                      /* time includes transfers of the operands */
    char why[256];                      /* "": done; otherwise the reason for failing */
    bool wrong;                         /* an option is invalid */
    bool failed;                        /* a run-time failure */
    bool ended;                         /* cancelled on all ranks, by a signal or the time limit */
};

struct matmul_job {
    /* From the command line. */
    struct cli_common common;
    size_t m, n, k, block, memory, repeat;
    int precision, trans; /* -1: not given */
    struct cli_strings engines;
    double alpha, beta, limit;
    uint64_t seed;
    const char *file_a, *file_b, *file_c, *output, *shape, *csv, *plot;
    bool compare, sweep, all, out_of_core;
    struct cli_figures figures;
    struct cli_window window;

    /* Results and state of the run. */
    struct npy in[3]; /* files of A, B and C, open until read */
    size_t real, lda, ldb;
    struct matmul_partition {
        size_t first, rows;
    } slab[3];                     /* this rank's rows of A, B and C as stored; without ranks all */
    enum matmul_trans stored;      /* transposition of the operands as stored */
    void *a, *b, *c, *before;      /* C has rows of n; before: copy of C if beta is not 0 */
    struct cli_ranks_file written; /* out of core: file of C */
    size_t nan[3];                 /* NaN elements in the files of A, B and C */
    CLCONTEXT *context;            /* NULL if no device is used */
    struct cli_progress progress;
    /* progress of the current run: the first nonzero fraction (-1: none yet) and its time */
    double begun, begun_at;
    size_t runs;                         /* completed runs of the current engine */
    bool interrupted, timed_out, failed; /* failed: an engine failed */
    bool output_done;                    /* -o is written */
    char *last_words;                    /* JSON of a product that cannot be cancelled */
    int unwritten;                       /* exit status of the first file that failed */
    struct matmul_outcome *outcome;
    size_t outcomes;
    enum matmul_kind kinds[MATMUL_KINDS]; /* engines to run */
    size_t nkinds;
};

/* Functions that return int return an exit status, after printing a message. */

/* matmul_matrices.c: take sizes and precision from files and options; fill the arrays; write C. */
int matmul_job_sizes(struct matmul_job *job);
int matmul_job_matrices(struct matmul_job *job);
int matmul_job_write(struct matmul_job *job);
void matmul_job_free(struct matmul_job *job);

/* matmul_run.c: run one engine and append its outcome. With several engines, a missing, too slow
 * or incapable one is no failure; a failed one is reported and the others run. */
int matmul_job_run(struct matmul_job *job, enum matmul_kind kind, size_t block);

/* matmul_matrices.c: fill rows from `first` on of A (0), B (1) or C (2) as stored, at random or
 * from its file. */
int matmul_job_rows(struct matmul_job *job, int which, size_t first, size_t rows, void *x);
size_t matmul_job_cols(const struct matmul_job *job, int which);
/* matmul_matrices.c: read a part of the input C from its file, in either order, into packed rows.
 * Needs a seekable file; -1 after clerror_set. */
int matmul_job_read_c(struct matmul_job *job, size_t row, size_t rows, size_t col, size_t cols,
                      void *x);

/* matmul_matrices.c: number of NaN among `count` elements of `real` bytes; collective: add up the
 * ranks' job->nan, -1 after clerror_set. */
size_t matmul_job_count_nan(const void *x, size_t count, size_t real);
int matmul_job_add_nan(struct matmul_job *job);

/* matmul_out_of_core.c: multiply A and B from their files into the file of C, and compute the
 * error; -1 after clerror_set. */
int matmul_out_of_core_run(struct matmul_job *job, matmul *mm, struct matmul_outcome *o);
/* matmul_matrices.c: write the header of the file of C; `arg` is the job. */
void matmul_job_header(FILE *fp, void *arg);

/* matmul_ranks.c: collective; error of some rows of C per rank; -1 after clerror_set. */
int matmul_job_error(struct matmul_job *job, double *error);

/* matmul_report.c: prepare the JSON object of a run that is killed in its next product. */
void matmul_job_prepare_report(struct matmul_job *job);

/* matmul_view.c. open: open the view, if wanted; visit: after an outcome; end: the last frame. */
int matmul_view_open(struct matmul_job *job);
int matmul_view_visit(struct matmul_job *job);
int matmul_view_end(struct matmul_job *job);
int matmul_view_stay(struct matmul_job *job);

/* matmul_report.c */
int matmul_job_report(const struct matmul_job *job);
int matmul_job_files(const struct matmul_job *job);

#endif
