/* report.c - reports of the command on a terminal: lines with a label, and tables.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

FILE *cli_report_begin(struct cli_report *report, FILE *to, size_t indent)
{
    *report = (struct cli_report){.to = to, .indent = indent};
    FILE *fp = terminal_columns(to) ? open_memstream(&report->text, &report->size) : NULL;
    return fp ? fp : to;
}

/* Print a line; the text after the label is wrapped if the line is too long. */
static void print_report_line(const struct cli_report *report, const char *line)
{
    const size_t indent = report->indent, columns = terminal_columns(report->to);
    if (text_width(line) <= columns || strlen(line) < indent) {
        fprintf(report->to, "%s\n", line);
        return;
    }
    fprintf(report->to, "%.*s", (int)indent, line);
    text_wrap(report->to, line + indent, indent, columns);
}

void cli_report_end(struct cli_report *report, FILE *fp)
{
    char *rest = NULL;
    if (fp == report->to)
        return;
    if (fclose(fp) != 0 || !report->text)
        cli_out_of_memory("the report");
    for (char *line = strtok_r(report->text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        print_report_line(report, line);
    free(report->text);
}

void cli_named_line(FILE *fp, const char *name, const char *text)
{
    fprintf(fp, "%s: ", name);
    text_wrap(fp, text, text_width(name) + 2, terminal_columns(fp));
}

void cli_table_end(struct text_table *table, FILE *fp, size_t columns)
{
    if (text_table_print(table, fp, columns) < 0)
        cli_out_of_memory("a table");
    text_table_free(table);
}
