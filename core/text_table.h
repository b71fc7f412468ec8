/* text_table.h - aligned tables of text that fit a terminal.
 *
 * A table wider than the terminal first shortens its flexible column, then loses columns, the
 * highest rank first, and names the lost columns below.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_TEXT_TABLE_H
#define CORE_TEXT_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct text_table;

/* Create a table; NULL if out of memory, which all functions here accept. `columns` holds the names
 * of the columns, separated by '|'. Before a name may stand, in this order: '>' for alignment to
 * the right; '~' for the flexible column, whose cells may be cut; a digit 1 to 9, the rank. A
 * column without a rank is never lost. */
struct text_table *text_table_create(const char *columns);

/* Add the next cell, left to right and row by row. */
void text_table_add(struct text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Add a line above the next row; it does not widen the columns. */
void text_table_heading(struct text_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print the table in at most `columns` columns, see terminal_columns(); 0: no limit. Return -1 if
 * memory did not suffice for the table or a cell; then nothing is printed. */
int text_table_print(const struct text_table *table, FILE *fp, size_t columns);
void text_table_free(struct text_table *table);

#endif
