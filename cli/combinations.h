/* combinations.h - which options of a command go together: one table for --help and for refusals.
 *
 * A row lists terms, separated by blanks. A term is made of parts, joined by "+", which must all
 * hold:
 *   name          an option was given (one without a name: its letter), or a condition holds
 *   name=value    an option's value, typed or default, is this one
 *   name!value    an option was given with a different value
 * Names and values that do not exist abort every call of the command, so that the build, which
 * calls `stdcl --help=table`, fails.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMBINATIONS_H
#define STDCL_CLI_COMBINATIONS_H

#include "options.h"

#include <stdbool.h>
#include <stddef.h>

/* A row: what it demands of each term of `option` that holds. */
struct cli_combination {
    const char *option;
    const char *requires; /* terms of which one must hold */
    const char *excludes; /* terms of which none may hold */
    const char *only;     /* names of the only other options that may be given */
    const char *reason;   /* what the message adds after a colon; or NULL */
};

/* A fact that rows refer to like an option: "-o names a picture". */
struct cli_condition {
    const char *name;
    const char *text;   /* its name in messages: "-o FILE.png" */
    const char *option; /* name it as this option with its value instead; or NULL */
    bool holds;         /* set by cli_condition_set, after cli_parse */
};

/* Rows of the table, which ends with an empty one. `reason` may be NULL. */
#define CLI_REQUIRES(option_, terms_, reason_)                                                     \
    {                                                                                              \
        .option = (option_), .requires = (terms_), .reason = (reason_)                             \
    }
#define CLI_EXCLUDES(option_, terms_, reason_)                                                     \
    {                                                                                              \
        .option = (option_), .excludes = (terms_), .reason = (reason_)                             \
    }
#define CLI_ALLOWS_ONLY(option_, names_, reason_)                                                  \
    {                                                                                              \
        .option = (option_), .only = (names_), .reason = (reason_)                                 \
    }

struct cli_usage;

/* Set whether a condition of the table holds. */
void cli_condition_set(const struct cli_usage *usage, const char *name, bool holds);

/* CLI_DONE, or CLI_WRONG after the message of the first row that the command line violates. Call
 * it after cli_parse, once defaults that depend on other options are set. */
int cli_combinations_check(const struct cli_usage *usage);

/* False if a row, or usage->reads or writes, names what does not exist: `term` is the first. */
bool cli_combinations_exist(const struct cli_usage *usage, char term[64]);

/* Write a row as a sentence for --help. */
void cli_combination_text(const struct cli_usage *usage, const struct cli_combination *row,
                          char *text, size_t size);

/* Number of occurrences of --name (or of -letter, for "n"). `name` must be in the table. */
unsigned cli_given(const struct cli_option *options, const char *name);

/* The option as the user last typed it, "-n" or "--bodies", for messages; an option not given by
 * its letter, if any. Valid until the fourth following call. */
const char *cli_typed(const struct cli_option *options, const char *name);

/* True if a list of names separated by blanks, or NULL, has this one. */
bool cli_list_has(const char *list, const char *name);

#endif
