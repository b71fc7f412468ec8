/* ranks.h - the ranks of a job under mpirun or srun.
 *
 * Collective functions must be called by all ranks.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_RANKS_H
#define STDCL_CLI_RANKS_H

#include <stdcl/world.h>

#include <stdbool.h>

/* The ranks of this run; NULL without a launcher. */
extern stdcl_world *cli_world;

/* If a launcher started several processes: join them, check that their command lines and STDCL_
 * variables are equal, and silence standard output on all but rank 0. `argv` as of cli_command.run.
 * CLI_DONE, also without a launcher; otherwise after a message. */
int cli_ranks_join(int argc, char **argv);

/* Leave the world with this rank's status, or abort it if the status is a failure. Return the
 * status of the job. */
int cli_ranks_end(int status);

/* Exit all ranks if `status` is CLI_FAILED and there are several; otherwise return. Call it after
 * discarding output files and before freeing an engine that may have failed: messages of other
 * ranks may be in flight to its memory. */
void cli_ranks_fail(int status);

/* True on the rank that prints the report and writes the files. */
bool cli_ranks_first(void);

/* Return the number of ranks on this rank's host. */
int cli_ranks_here(void);

/* True if several ranks may use one device (--share). */
bool cli_ranks_share(void);

/* Collective. CLI_DONE if a file that all ranks read is equal on all hosts, by its size and a hash
 * of its first 64 KiB; also for NULL. CLI_WRONG for "-", CLI_FAILED for pipes and
 * devices; these are not opened. */
int cli_ranks_same_file(const char *file);

/* True if any rank was interrupted. Collective, except on a rank that has `failed`: the others may
 * be waiting for a different message from it. */
bool cli_ranks_interrupted(bool failed);

/* Collective. Status of a file after each rank has tried to write it: CLI_DONE if none failed. Else
 * rank 0 prints one rank's failure now, because the run continues with other files. */
int cli_ranks_file_status(int status);

/* Collective. Concatenate the texts of all ranks, each with its terminating 0. The caller frees the
 * result. NULL if a rank failed. */
char *cli_ranks_gather(const char *text);

#endif
