/* report.h - reports of the command on a terminal: lines with a label, and tables.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_REPORT_H
#define STDCL_CLI_REPORT_H

#include "core/terminal.h"
#include "core/text_table.h"

#include <stddef.h>
#include <stdio.h>

/* A report of lines "LABEL         text", where all texts begin in one column, mostly
 * REPORT_INDENT. On a terminal, longer lines are wrapped between words. */
enum { REPORT_INDENT = 14 };

struct cli_report {
    FILE *to;
    size_t indent;
    char *text; /* the report so far, if it will be wrapped */
    size_t size;
};

/* Begin a report on `to`, with texts in column `indent`. Return the stream for the caller's
 * lines. */
FILE *cli_report_begin(struct cli_report *report, FILE *to, size_t indent);

/* End the report: `fp` is what cli_report_begin returned. */
void cli_report_end(struct cli_report *report, FILE *fp);

/* Print "NAME: TEXT", wrapped on a terminal. */
void cli_named_line(FILE *fp, const char *name, const char *text);

/* Print a table in at most `columns` columns (0: no limit), and free it. Exit if memory did not
 * suffice for it. */
void cli_table_end(struct text_table *table, FILE *fp, size_t columns);

#endif
