/* table.h - aligned tables of text.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_TABLE_H
#define STDCL_CLI_TABLE_H

#include <stdio.h>

struct cli_table;

/* Create a table. `columns` holds the column names, separated by '|'; a leading '>' right-aligns a
 * column. */
struct cli_table *cli_table_create(const char *columns);

/* Add the next cell, left to right and row by row. */
void cli_table_add(struct cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a line above the next row; it does not widen the columns. */
void cli_table_heading(struct cli_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cli_table_print(const struct cli_table *table, FILE *fp);
void cli_table_free(struct cli_table *table);

#endif
