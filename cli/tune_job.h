/* tune_job.h - what the files of `stdcl tune` share.
 *
 *   cmd_tune.c      the options; which kernels, devices and sizes; the searches, one after the
 *                   other
 *   tune_report.c   what is said: the list, the progress, the results, JSON
 *   tune_export.c   a file of rows as tuning/ has them
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_TUNE_JOB_H
#define STDCL_CLI_TUNE_JOB_H

#include "cli.h"

enum tune_outcome { TUNE_WAITING, TUNE_FOUND, TUNE_IMPOSSIBLE };

/* One search: a kernel on a device for a size. */
struct tune_search {
    const struct cltune_kernel *kernel;
    unsigned dev;
    size_t size;
    enum tune_outcome outcome;
    struct cltune_row before, after;
    double rate_before, rate_after; /* in the kernel's unit; before 0: that shape did not run */
    size_t tried, refused, wrong;
    double seconds;
    char *why; /* it is impossible */
};

struct tune_job {
    /* From the command line. */
    struct cli_common common;
    struct cli_strings names, size_texts;
    double minutes;
    uint64_t seed;
    bool list, dry_run;
    const char *export_file, *export_as;

    /* Results, and what is needed meanwhile. */
    CLCONTEXT *context;
    struct cldev_info *info; /* of its devices */
    struct tune_search *search;
    size_t searches;
    struct json_t *exported; /* the rows of the export file so far */
    bool interrupted, stored;
};

/* ---- tune_report.c --------------------------------------------------------------------------- */

/* --list: every search that would be made, and the row that holds now. */
int tune_report_list(const struct tune_job *job);

/* A search ended; all of them did. */
void tune_report_result(const struct tune_job *job, const struct tune_search *s);
int tune_report_end(const struct tune_job *job);

/* ---- tune_export.c --------------------------------------------------------------------------- */

/* Reads the rows that the file has already, before anything is searched; CLI_WRONG when it is
 * another kind of file. */
int tune_export_open(struct tune_job *job);

/* Adds a row, in place of one for the same kernel, device and power of two of the size. */
void tune_export_add(struct tune_job *job, const struct tune_search *s);

int tune_export_write(const struct tune_job *job);

#endif
