/* data_files.h - the patterns, systems and examples that ship with the command, by name.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_DATA_FILES_H
#define STDCL_CLI_DATA_FILES_H

#include "usage.h"

#include <limits.h>
#include <stdio.h>

/* Path of share/stdcl/data/NAME + suffix, valid until the next call; NULL if there is no such
 * file, or if NAME has a '/'. */
const char *cli_data_file(const char *name, const char *suffix);

/* Offer the name of each file with the suffix. The best one is copied to `name`, which must live as
 * long as the guess. */
void cli_data_guess(struct cli_guess *guess, const char *suffix, char name[NAME_MAX + 1]);

/* Print the name and the title of each file with the suffix, sorted. A title is the rest of the
 * file's first line that begins with `mark`, such as "#C ". CLI_DONE, or CLI_FAILED after a
 * message if the folder cannot be read. */
int cli_data_list(FILE *fp, const char *suffix, const char *mark);

#endif
