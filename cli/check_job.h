/* check_job.h - what the parts of `stdcl check` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_CHECK_JOB_H
#define STDCL_CLI_CHECK_JOB_H

#include "cli.h"

/* ---- check_kernels.c: kernel files are compiled for every device. ---- */

struct check_files {
    struct cli_strings device, defines, folders, file;
    bool quiet;
};
int check_kernels(const struct check_files *job);

/* ---- check_program.c: a program runs under Oclgrind. ---- */

/* The program's name and its arguments, ended by NULL. The status: 1 when there were findings, else
 * the program's own, 128 + n when signal n ended it. */
int check_program(char **argv, bool quiet);

/* ---- check_log.c: what Oclgrind writes, as sentences. ---- */

/* Takes a log piece by piece and prints each finding to stderr when it is seen for the first
 * time. */
struct check_log;
struct check_log *check_log_create(void);
void check_log_line(struct check_log *log, const char *line);

/* The last finding is complete. Returns how many there were, and in *seen how often any was
 * seen. */
size_t check_log_end(struct check_log *log, size_t *seen);
void check_log_free(struct check_log *log);

#endif
