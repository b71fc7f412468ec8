/* matmul_job.h - what the files of `stdcl matmul` share.
 *
 *   cmd_matmul.c       the options, and the order in which things happen
 *   matmul_names.c     names of precisions, and of what is transposed
 *   matmul_matrices.c  A, B and C: random or from .npy files
 *   matmul_run.c       one engine on them: verified, timed
 *   matmul_disk.c      the same of matrices that stay in their files
 *   matmul_ranks.c     the error of a product that ranks have computed together
 *   matmul_report.c    the report of one, of all, of a sweep; tables and plots as files
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_MATMUL_JOB_H
#define STDCL_CLI_MATMUL_JOB_H

#include "window.h"

#include "formats/npy.h"
#include "stdcl/matmul.h"

/* The names of the enumerations in stdcl/matmul.h, in their order, ended by NULL. */
extern const char *const matmul_precision_names[];
extern const char *const matmul_trans_names[];

/* The result of one engine. */
struct matmul_outcome {
    enum matmul_kind kind;
    size_t block;                       /* of kinds that have one, else 0 */
    double seconds;                     /* of a product, by the host's clock */
    double device_seconds;              /* of its kernels, by the devices' clocks; 0: not known */
    double gflops, peak_percent, error; /* NAN: not known */
    bool streamed;                      /* operands travelled meanwhile */
    char why[256];                      /* "": done; else why not */
    bool wrong;                         /* not done: an option is wrong */
    bool failed;                        /* not done, though it could have been */
    bool ended; /* on all ranks, by a signal or because it would take too long */
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
    struct cli_window window;

    /* Results, and what is needed meanwhile. */
    struct npy in[3]; /* the files of A, B and C, open until they are read */
    size_t real, lda, ldb;
    struct matmul_partition {
        size_t first, rows;
    } slab[3]; /* of A, B and C as they are stored: the rows that this rank has; alone all */
    enum matmul_trans stored;      /* trans, seen with the order in which files store */
    void *a, *b, *c, *before;      /* C: rows of n; before: a copy of it when beta is not 0 */
    struct cli_ranks_file written; /* out of core: the file of C */
    size_t nan[3];                 /* how many elements of the files of A, B and C are NaN */
    CLCONTEXT *context;            /* NULL when only the host computes, and there is no device */
    struct cli_progress progress;
    double begun, begun_at; /* of the run at hand: the fraction that was done when anything was, -1:
                               none was told yet, and when */
    size_t runs;            /* of the engine at hand, done */
    bool interrupted, timed_out, failed; /* failed: some engine */
    struct matmul_outcome *outcome;
    size_t outcomes;
    enum matmul_kind kinds[MATMUL_KINDS]; /* those to run */
    size_t nkinds;
};

/* All return an exit status, after printing what is wrong. */

/* matmul_matrices.c: sizes and precision from files and options; then the arrays. */
int matmul_job_sizes(struct matmul_job *job);
int matmul_job_matrices(struct matmul_job *job);
int matmul_job_write(struct matmul_job *job);
void matmul_job_free(struct matmul_job *job);

/* matmul_run.c: adds an outcome. When several kinds run, it is no failure that one is missing,
 * takes too long or cannot do it; when one fails, it is said, and the others run. */
int matmul_job_run(struct matmul_job *job, enum matmul_kind kind, size_t block);

/* matmul_matrices.c: fills rows from `first` on of A (0), B (1) or C (2) as it is stored: at
 * random, or from its file. */
int matmul_job_rows(struct matmul_job *job, int which, size_t first, size_t rows, void *x);
size_t matmul_job_cols(const struct matmul_job *job, int which);

/* matmul_disk.c: the product of A and B in their files, into that of C, and its error; -1 after
 * clerror_set. */
int matmul_disk_run(struct matmul_job *job, matmul *mm, struct matmul_outcome *o);
/* matmul_matrices.c: what stands before C in its file; `arg` is the job. */
void matmul_job_header(FILE *fp, void *arg);

/* matmul_ranks.c: collective; -1 after clerror_set. Of some rows of C on every rank. */
int matmul_job_error(struct matmul_job *job, double *error);

/* matmul_view.c: opens the window, if one is wanted; after an outcome; the last picture. */
int matmul_view_open(struct matmul_job *job);
int matmul_view_visit(struct matmul_job *job);
void matmul_view_end(struct matmul_job *job);

/* matmul_report.c */
int matmul_job_report(const struct matmul_job *job);
int matmul_job_files(const struct matmul_job *job);

#endif
