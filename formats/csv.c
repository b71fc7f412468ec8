/* csv.c - tables of numbers over time, as comma-separated values (RFC 4180, with "\n" line ends).
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/csv.h"

#include "formats/number.h"

#include <string.h>

static void csv_put_name(FILE *fp, const char *name)
{
    if (!strpbrk(name, ",\"\r\n")) {
        fputs(name, fp);
        return;
    }
    putc('"', fp);
    for (; *name; name++) {
        if (*name == '"')
            putc('"', fp);
        putc(*name, fp);
    }
    putc('"', fp);
}

int csv_open(struct csv *csv, const char *file, size_t columns, const char *const names[])
{
    csv->columns = columns;
    if (outfile_open(&csv->out, file) < 0)
        return -1;
    for (size_t i = 0; i < columns; i++) {
        if (i)
            putc(',', csv->out.fp);
        csv_put_name(csv->out.fp, names[i]);
    }
    putc('\n', csv->out.fp);
    return 0;
}

static void csv_put_numbers(struct csv *csv, const double *values, size_t n)
{
    char text[NUMBER_SIZE];
    for (size_t i = 0; i < n; i++) {
        size_t length = number_print(text, values[i]);
        if (i)
            putc(',', csv->out.fp);
        fwrite(text, 1, length, csv->out.fp);
    }
}

int csv_row(struct csv *csv, const double *values)
{
    csv_put_numbers(csv, values, csv->columns);
    putc('\n', csv->out.fp);
    return outfile_check(&csv->out);
}

int csv_row_text(struct csv *csv, const double *values, const char *text)
{
    csv_put_numbers(csv, values, csv->columns - 1);
    putc(',', csv->out.fp);
    csv_put_name(csv->out.fp, text);
    putc('\n', csv->out.fp);
    return outfile_check(&csv->out);
}

int csv_close(struct csv *csv)
{
    return outfile_commit(&csv->out);
}

void csv_discard(struct csv *csv)
{
    outfile_discard(&csv->out);
}
