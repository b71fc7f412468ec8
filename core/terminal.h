/* terminal.h - text for people: the width of a terminal and of text on it, and numbers.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_TERMINAL_H
#define CORE_TERMINAL_H

#include <stddef.h>
#include <stdio.h>

/* Columns of a stream's terminal: $COLUMNS, or the terminal's own answer. 0 if the stream is no
 * terminal, or one without a size: its lines have no limit. */
size_t terminal_columns(FILE *fp);

/* Columns that a UTF-8 text takes; each invalid byte counts as one. */
size_t text_width(const char *text);

/* Format a number with `digits` significant digits, 1 to 6, and with all digits before the point:
 * "0.0123", "1235", but below 1e-3 and from 1e6 on "3.3e-4"; "-" for NaN. */
void text_number(char text[32], int digits, double value);

/* Number of bytes of the longest beginning of a text that takes at most `columns` columns and ends
 * between two characters. */
size_t text_fitting(const char *text, size_t columns);

/* Print words on lines of at most `columns` columns; 0: no limit. The first line begins at the
 * column `indent`, which the caller has reached, and further lines are indented by `indent`. */
void text_wrap(FILE *fp, const char *text, size_t indent, size_t columns);

#endif
