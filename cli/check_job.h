/* check_job.h - the parts of `stdcl check`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_CHECK_JOB_H
#define STDCL_CLI_CHECK_JOB_H

#include "options.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>

/* ---- check_kernels.c: kernel files are compiled for every device. ---- */

struct check_files {
    struct cli_strings device, defines, folders, file;
    bool quiet;
};
int check_kernels(const struct check_files *job);

/* ---- check_program.c: a program runs under Oclgrind. ---- */

/* Run a program, given by its name and arguments, ended by NULL. Return 1 after findings, else
 * the program's status; 128 + n if signal n killed it. */
int check_program(char **argv, bool quiet);

/* ---- check_log.c: what Oclgrind writes, as sentences. ---- */

/* Read a log line by line; print each distinct finding once to stderr. */
struct check_log;
struct check_log *check_log_create(void);
void check_log_line(struct check_log *log, const char *line);

/* Complete the last finding. Return the number of distinct findings; *seen: number of
 * occurrences. */
size_t check_log_end(struct check_log *log, size_t *seen);
void check_log_free(struct check_log *log);

#endif
