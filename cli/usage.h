/* usage.h - parsing of a command line, and --help.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_USAGE_H
#define STDCL_CLI_USAGE_H

#include "combinations.h"
#include "options.h"

#include <stdio.h>

/* Words of a command line that a file holds. The file may come from a stranger: outputs that these
 * words name must lie below its folder, unless the user gives them again. */
struct cli_stored {
    const char *file;
    const char **word;
    size_t n;
};

/* Command line of a command. */
struct cli_usage {
    const char *synopsis; /* after "usage: stdcl NAME" */
    const char *about;    /* one paragraph; wrapped by --help */
    const char *examples; /* lines, printed verbatim; NULL: none */
    struct cli_option *options;
    const struct cli_combination *combinations; /* rows, ended by one without option; or NULL */
    struct cli_condition *conditions;           /* ended by one without name; or NULL */
    struct cli_strings *operands;               /* NULL: none accepted */
    const char *file; /* option that an operand is the value of, or NULL */
    size_t operands_min;
    const char *operand;             /* name of an operand: "FILE" */
    const char *reads;               /* options that name inputs: "input rule"; or NULL */
    const char *writes;              /* options that name outputs, all distinct */
    const struct cli_stored *stored; /* words that a file holds, or NULL */
};

/* Parse the command line: -x, -xVALUE, -x VALUE, --name VALUE, --name=VALUE, operands anywhere;
 * "--" ends the options; of equal options the last wins; whole numbers may be written 16384,
 * 1e6, 2.5e7 or 2^20. Return true to continue; false to exit with *status, after --help or
 * --version (which need no entry) or after a message. */
bool cli_parse(const struct cli_usage *usage, int argc, char **argv, int *status);

/* Print the --help of a command; cli_describe prints it as a table for programs, see describe.c. */
void cli_help(const struct cli_usage *usage, FILE *fp);
void cli_describe(const struct cli_usage *usage, FILE *fp);

/* Append the help text of an option to `text`: its sentence, its choices and its default. */
void cli_help_text(const struct cli_option *option, char *text, size_t size);

/* Parse a whole number, also one written as 1e6, 2.5e7 or 2^20. Return 0; EINVAL if `text` is no
 * whole number; ERANGE if it exceeds 64 bits. */
int cli_read_natural(const char *text, uint64_t *value);

/* Parse WIDTHxHEIGHT, or one number for both, each from `min` to `max`. */
bool cli_read_sides(const char *text, uint64_t min, uint64_t max, size_t side[2]);

/* Closest of the offered names to `word`, for "did you mean". Initialise as {.word = typed}; best
 * stays NULL if no name is close. */
struct cli_guess {
    const char *word;
    const char *best;
    size_t distance;
};
void cli_guess_offer(struct cli_guess *guess, const char *name);

/* Set outputs that are standard output, such as /dev/stdout, to "-". Check that no two outputs name
 * one file, that no output replaces an input or is the file of standard output, and that stored
 * words name no output elsewhere, by usage->reads, writes and stored. CLI_DONE or CLI_WRONG. Called
 * by cli_parse. */
int cli_check_files(const struct cli_usage *usage);

#endif
