/* files.h - checks of file names before anything is read or written.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_FILES_H
#define STDCL_CLI_FILES_H

#include <stdbool.h>
#include <stdio.h>

/* Check before a long run that a file at `path` can be created: its directory exists and is
 * writable, and `path` is no directory. CLI_DONE, CLI_WRONG or CLI_FAILED. */
int cli_check_output(const char *path);

/* Reject the file of an option if its suffix belongs to a different kind of file. `what`: the
 * option's kind, such as "a timeline"; `suffix`: its suffix. */
int cli_check_suffix(const char *option, const char *file, const char *what, const char *suffix);

/* cli_check_suffix for a table of text, .csv. */
int cli_check_table(const char *option, const char *file);

/* Open a text file for reading by lines. NULL after a message that ends with `wanted`; directories
 * are refused, and devices other than a terminal: /dev/zero has no end of line. */
FILE *cli_open_text(const char *file, const char *wanted);

/* True if two names denote one file, existing or not: "x.tab" and "./x.tab". Devices and pipes are
 * not files. */
bool cli_same_file(const char *a, const char *b);

/* True if `path` is written under a temporary name and renamed when complete; false for standard
 * output, pipes and devices. */
bool cli_output_is_regular(const char *path);

/* True if an output of the command goes to standard output, which then holds nothing else: the
 * report goes to standard error. Valid after cli_parse. */
bool cli_stdout_is_taken(void);

/* True if `path` ends in `suffix` (".png"). Case does not matter. */
bool cli_has_suffix(const char *path, const char *suffix);

#endif
