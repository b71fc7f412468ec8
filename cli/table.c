/* table.c - aligned tables.
 *
 * Cells are kept as text until the table is printed: a column is as wide as its widest cell.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "table.h"
#include "text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    char *heading; /* above the row, or NULL */
    char **cell;   /* [columns], NULL where not yet added */
};

struct cli_table {
    size_t columns, rows, cells;
    bool *right;
    struct row names, *row;
};

static char *format_text(const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = cli_alloc((size_t)length + 1, 1);
    vsnprintf(text, (size_t)length + 1, format, ap);
    return text;
}

struct cli_table *cli_table_create(const char *columns)
{
    struct cli_table *t = cli_alloc(1, sizeof *t);
    t->columns = 1;
    for (const char *p = columns; *p; p++)
        t->columns += *p == '|';
    t->right = cli_alloc(t->columns, sizeof *t->right);
    t->names.cell = cli_alloc(t->columns, sizeof *t->names.cell);
    for (size_t i = 0; i < t->columns; i++) {
        const size_t length = strcspn(columns, "|");
        t->right[i] = *columns == '>';
        t->names.cell[i] = cli_alloc(length + 1, 1);
        memcpy(t->names.cell[i], columns + t->right[i], length - t->right[i]);
        columns += length + 1;
    }
    return t;
}

/* Row of the next cell or heading. */
static struct row *open_row(struct cli_table *t)
{
    const size_t needed = t->cells / t->columns + 1;
    if (t->rows < needed) {
        t->row = cli_realloc(t->row, needed, sizeof *t->row);
        t->row[t->rows++] = (struct row){.cell = cli_alloc(t->columns, sizeof(char *))};
    }
    return &t->row[t->rows - 1];
}

void cli_table_add(struct cli_table *t, const char *format, ...)
{
    va_list ap;
    struct row *row = open_row(t);
    va_start(ap, format);
    row->cell[t->cells++ % t->columns] = format_text(format, ap);
    va_end(ap);
}

void cli_table_heading(struct cli_table *t, const char *format, ...)
{
    va_list ap;
    struct row *row = open_row(t);
    va_start(ap, format);
    free(row->heading);
    row->heading = format_text(format, ap);
    va_end(ap);
}

static void print_row(const struct cli_table *t, const struct row *row, const size_t *width,
                      FILE *fp)
{
    size_t blanks = 0; /* pending; a line has no trailing blanks */
    if (row->heading)
        fprintf(fp, "%s\n", row->heading);
    for (size_t i = 0; i < t->columns; i++) {
        const char *text = row->cell[i] ? row->cell[i] : "";
        const size_t fill = width[i] - cli_text_width(text);
        blanks += (i ? 2 : 0) + (t->right[i] ? fill : 0);
        if (*text) {
            fprintf(fp, "%*s%s", (int)blanks, "", text);
            blanks = 0;
        }
        blanks += t->right[i] ? 0 : fill;
    }
    fputc('\n', fp);
}

void cli_table_print(const struct cli_table *t, FILE *fp)
{
    size_t *width = cli_alloc(t->columns, sizeof *width);
    for (size_t i = 0; i < t->columns; i++) {
        width[i] = cli_text_width(t->names.cell[i]);
        for (size_t r = 0; r < t->rows; r++) {
            const char *text = t->row[r].cell[i];
            const size_t wide = text ? cli_text_width(text) : 0;
            width[i] = wide > width[i] ? wide : width[i];
        }
    }
    print_row(t, &t->names, width, fp);
    for (size_t r = 0; r < t->rows; r++)
        print_row(t, &t->row[r], width, fp);
    free(width);
}

static void free_row(const struct cli_table *t, struct row *row)
{
    for (size_t i = 0; i < t->columns; i++)
        free(row->cell[i]);
    free(row->cell);
    free(row->heading);
}

void cli_table_free(struct cli_table *t)
{
    if (!t)
        return;
    for (size_t r = 0; r < t->rows; r++)
        free_row(t, &t->row[r]);
    free_row(t, &t->names);
    free(t->row);
    free(t->right);
    free(t);
}
