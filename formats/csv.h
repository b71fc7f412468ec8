/* csv.h - tables of numbers over time, as comma-separated values.
 *
 * One line of names, then one line a row. Numbers have a decimal point in every locale and as many
 * digits as it takes to read the same double back. The file appears when it is closed (outfile.h).
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_CSV_H
#define FORMATS_CSV_H

#include "core/outfile.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csv {
    struct outfile out;
    size_t columns;
};

/* Start a table of `columns` columns; a name with a comma, quote or line break is quoted (RFC
 * 4180). */
int csv_open(struct csv *csv, const char *file, size_t columns, const char *const names[]);

/* Add a row of csv->columns values; NaN and infinity are written as nan, inf and -inf. */
int csv_row(struct csv *csv, const double *values);

/* Add a row of csv->columns - 1 values and a text, which is quoted if necessary. */
int csv_row_text(struct csv *csv, const double *values, const char *text);

/* Finish the file and give it its name; -1 if it could not be written, and nothing is left. */
int csv_close(struct csv *csv);

/* Discard the file. Does nothing for a zeroed struct. */
void csv_discard(struct csv *csv);

#ifdef __cplusplus
}
#endif
#endif
