/* tune_job.h - types and functions of `stdcl tune`.
 *
 *   cmd_tune.c      options; kernels, devices and sizes; the searches
 *   tune_report.c   list, results, JSON
 *   tune_export.c   a file of entries in the format of tuning/
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_TUNE_JOB_H
#define STDCL_CLI_TUNE_JOB_H

#include "common.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

enum tune_outcome { TUNE_WAITING, TUNE_FOUND, TUNE_IMPOSSIBLE };

/* A search: one kernel on one device for one size. */
struct tune_search {
    const struct cltune_kernel *kernel;
    unsigned dev;
    size_t size;
    enum tune_outcome outcome;
    struct cltune_row before, after;
    double rate_before, rate_after; /* in the kernel's unit; before: 0 if that shape did not run */
    size_t tried, refused, wrong;
    double seconds;
    char *why; /* reason if impossible */
};

struct tune_job {
    /* From the command line. */
    struct cli_common common;
    struct cli_strings names, size_texts;
    double minutes;
    uint64_t seed;
    bool list, dry_run;
    const char *export_file, *export_as;

    /* Results and state of the run. */
    CLCONTEXT *context;
    struct cldev_info *info; /* of the context's devices */
    struct tune_search *search;
    size_t searches;
    struct json_t *exported; /* entries of the export file so far */
    bool interrupted, stored;
};

/* ---- tune_report.c --------------------------------------------------------------------------- */

/* --list: every planned search, and the entry in use. */
int tune_report_list(const struct tune_job *job);

/* Report one search; report all. */
void tune_report_result(const struct tune_job *job, const struct tune_search *s);
int tune_report_end(const struct tune_job *job);

/* ---- tune_export.c --------------------------------------------------------------------------- */

/* Read the existing entries of the file before searching; CLI_WRONG for a different kind of
 * file. */
int tune_export_open(struct tune_job *job);

/* Add an entry, replacing one for the same kernel, device and power of two of the size. */
void tune_export_add(struct tune_job *job, const struct tune_search *s);

int tune_export_write(const struct tune_job *job);

#endif
