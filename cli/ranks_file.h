/* ranks_file.h - one output file that all ranks write, each at its own offsets.
 *
 * All but write_at and discard are collective: if one rank fails, all return -1 after clerror_set.
 * A single rank may use them, too.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_RANKS_FILE_H
#define STDCL_CLI_RANKS_FILE_H

#include "core/outfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_RANKS_NAME = 4096 };
struct cli_ranks_file {
    struct outfile out;
    char name[CLI_RANKS_NAME]; /* temporary name, until committed */
    uint64_t begin;            /* bytes of the header */
};

/* Create the file. Rank 0 writes the header that `before` prints (NULL: none); offsets count from
 * its end. */
int cli_ranks_file_open(struct cli_ranks_file *f, const char *name,
                        void (*before)(FILE *fp, void *arg), void *arg);
int cli_ranks_file_write_at(const struct cli_ranks_file *f, uint64_t at, const void *bytes,
                            size_t size);

/* Flush to the disk the bytes of all ranks; after it any rank may read them. `status`: -1 if this
 * rank has failed. */
int cli_ranks_file_sync(const struct cli_ranks_file *f, int status);
int cli_ranks_file_commit(struct cli_ranks_file *f);
void cli_ranks_file_discard(struct cli_ranks_file *f);

/* Open, write one block of bytes at offset `at`, and commit. */
int cli_ranks_file_write(const char *name, void (*before)(FILE *fp, void *arg), void *arg,
                         const void *bytes, size_t at, size_t size);

/* cli_check_output for a file that all ranks write. CLI_DONE or CLI_FAILED. */
int cli_ranks_check_output(const char *name);

/* While `on`: outfile_open creates files that all ranks write in common (core/outfile.h). */
void cli_ranks_shared_files(bool on);

#endif
