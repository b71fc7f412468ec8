/* text_table.c - aligned tables of text that fit a terminal.
 *
 * Cells are kept as text until the table is printed: a column is as wide as its widest cell, and
 * two blanks separate columns.
 * SPDX-License-Identifier: MIT
 */
#include "core/text_table.h"

#include "core/terminal.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    GAP = 2,
    FLEXIBLE = 24, /* columns of text: the flexible column stays as wide while others can go */
    NARROWEST = 4  /* columns of text of the flexible column when no other can go */
};

struct table_row {
    char *heading; /* above the row, or NULL */
    char **cell;   /* [columns], NULL where not yet added */
};

struct table_column {
    bool right, flexible;
    int rank; /* 0: never lost */
    char *name;
};

struct text_table {
    size_t columns, rows, cells;
    struct table_column *column;
    struct table_row *row;
    bool failed; /* out of memory */
};

/* ---- Content. -------------------------------------------------------------------------------- */

static char *format_text(const char *format, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, ap);
    return text;
}

static void read_column(struct table_column *column, const char *text, size_t length)
{
    const char *end = text + length;
    column->right = *text == '>';
    text += column->right;
    column->flexible = *text == '~';
    text += column->flexible;
    column->rank = *text >= '1' && *text <= '9' ? *text++ - '0' : 0;
    column->name = strndup(text, (size_t)(end - text));
}

struct text_table *text_table_create(const char *columns)
{
    struct text_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->columns = 1;
    for (const char *p = columns; *p; p++)
        t->columns += *p == '|';
    t->column = calloc(t->columns, sizeof *t->column);
    t->failed = !t->column;
    for (size_t i = 0; i < t->columns && t->column; i++) {
        const size_t length = strcspn(columns, "|");
        read_column(&t->column[i], columns, length);
        t->failed = t->failed || !t->column[i].name;
        columns += length + 1;
    }
    return t;
}

/* Row of the next cell or heading; NULL if out of memory. */
static struct table_row *open_row(struct text_table *t)
{
    if (!t || t->failed)
        return NULL;
    if (t->rows == t->cells / t->columns) {
        struct table_row *grown = realloc(t->row, (t->rows + 1) * sizeof *grown);
        t->row = grown ? grown : t->row;
        char **cell = grown ? calloc(t->columns, sizeof *cell) : NULL;
        t->failed = !cell;
        if (cell)
            t->row[t->rows++] = (struct table_row){.cell = cell};
    }
    return t->failed ? NULL : &t->row[t->rows - 1];
}

void text_table_add(struct text_table *t, const char *format, ...)
{
    struct table_row *row = open_row(t);
    va_list ap;
    if (!row)
        return;
    va_start(ap, format);
    char *text = format_text(format, ap);
    va_end(ap);
    row->cell[t->cells++ % t->columns] = text;
    t->failed = !text;
}

void text_table_heading(struct text_table *t, const char *format, ...)
{
    struct table_row *row = open_row(t);
    va_list ap;
    if (!row)
        return;
    va_start(ap, format);
    free(row->heading);
    row->heading = format_text(format, ap);
    va_end(ap);
    t->failed = !row->heading;
}

/* ---- Width. ---------------------------------------------------------------------------------- */

static const size_t LOST = SIZE_MAX; /* width of a column that is not printed */

static void measure_columns(const struct text_table *t, size_t *width)
{
    for (size_t i = 0; i < t->columns; i++) {
        width[i] = text_width(t->column[i].name);
        for (size_t r = 0; r < t->rows; r++) {
            const char *text = t->row[r].cell[i];
            const size_t wide = text ? text_width(text) : 0;
            width[i] = wide > width[i] ? wide : width[i];
        }
    }
}

static bool is_flexible(const struct text_table *t, const size_t *width, size_t i)
{
    return t->column[i].flexible && width[i] != LOST;
}

/* Width of a line, with flexible columns at most `flexible` columns wide. */
static size_t line_width(const struct text_table *t, const size_t *width, size_t flexible)
{
    size_t sum = 0;
    for (size_t i = 0; i < t->columns; i++)
        if (width[i] != LOST)
            sum += (sum ? GAP : 0) +
                   (is_flexible(t, width, i) && width[i] > flexible ? flexible : width[i]);
    return sum;
}

/* The column to lose next: the last of the highest rank. SIZE_MAX: none is left. */
static size_t next_lost(const struct text_table *t, const size_t *width)
{
    size_t found = SIZE_MAX;
    int rank = 1;
    for (size_t i = 0; i < t->columns; i++)
        if (width[i] != LOST && t->column[i].rank >= rank) {
            rank = t->column[i].rank;
            found = i;
        }
    return found;
}

static void fit_columns(const struct text_table *t, size_t *width, size_t columns)
{
    size_t flexible = SIZE_MAX;
    while (line_width(t, width, FLEXIBLE) > columns) {
        const size_t lost = next_lost(t, width);
        if (lost == SIZE_MAX)
            break;
        width[lost] = LOST;
    }
    for (size_t i = 0; i < t->columns; i++)
        if (is_flexible(t, width, i))
            flexible = width[i];
    while (flexible != SIZE_MAX && flexible > NARROWEST && line_width(t, width, flexible) > columns)
        flexible--;
    for (size_t i = 0; i < t->columns; i++)
        if (is_flexible(t, width, i) && width[i] > flexible)
            width[i] = flexible;
}

/* ---- Printing. ------------------------------------------------------------------------------- */

/* Print a cell, cut at its column's width with two dots at the cut. */
static void print_cell(FILE *fp, const char *text, size_t width)
{
    if (text_width(text) <= width)
        fputs(text, fp);
    else
        fprintf(fp, "%.*s..", (int)text_fitting(text, width - 2), text);
}

struct cell_view {
    const struct text_table *table;
    const struct table_row *row; /* NULL: the names of the columns */
};

static const char *cell_text(const struct cell_view *view, size_t i)
{
    if (!view->row)
        return view->table->column[i].name;
    return view->row->cell[i] ? view->row->cell[i] : "";
}

static void print_cells(const struct cell_view *view, const size_t *width, FILE *fp)
{
    const struct text_table *t = view->table;
    size_t blanks = 0, printed = 0; /* blanks are pending: a line has no trailing ones */
    for (size_t i = 0; i < t->columns; i++) {
        if (width[i] == LOST)
            continue;
        const char *text = cell_text(view, i);
        const size_t wide = text_width(text), fill = wide < width[i] ? width[i] - wide : 0;
        blanks += (printed++ ? GAP : 0) + (t->column[i].right ? fill : 0);
        if (*text) {
            fprintf(fp, "%*s", (int)blanks, "");
            print_cell(fp, text, width[i]);
            blanks = 0;
        }
        blanks += t->column[i].right ? 0 : fill;
    }
    fputc('\n', fp);
}

/* True if an earlier lost column has the name of column `i`. */
static bool is_named_before(const struct text_table *t, const size_t *width, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (width[k] == LOST && strcmp(t->column[k].name, t->column[i].name) == 0)
            return true;
    return false;
}

static void print_lost(const struct text_table *t, const size_t *width, FILE *fp, size_t columns)
{
    char text[512];
    size_t used = (size_t)snprintf(text, sizeof text, "not shown in %zu columns:", columns);
    bool any = false;
    for (size_t i = 0; i < t->columns && used < sizeof text; i++) {
        if (width[i] != LOST || is_named_before(t, width, i))
            continue;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s", any ? "," : "",
                                 t->column[i].name);
        any = true;
    }
    if (any)
        text_wrap(fp, text, 0, columns);
}

int text_table_print(const struct text_table *t, FILE *fp, size_t columns)
{
    size_t *width = t && !t->failed ? calloc(t->columns, sizeof *width) : NULL;
    if (!width)
        return -1;
    measure_columns(t, width);
    if (columns)
        fit_columns(t, width, columns);
    print_cells(&(struct cell_view){t, NULL}, width, fp);
    for (size_t r = 0; r < t->rows; r++) {
        if (t->row[r].heading)
            text_wrap(fp, t->row[r].heading, 0, columns);
        print_cells(&(struct cell_view){t, &t->row[r]}, width, fp);
    }
    print_lost(t, width, fp, columns);
    free(width);
    return 0;
}

void text_table_free(struct text_table *t)
{
    if (!t)
        return;
    for (size_t r = 0; r < t->rows; r++) {
        for (size_t i = 0; i < t->columns; i++)
            free(t->row[r].cell[i]);
        free(t->row[r].cell);
        free(t->row[r].heading);
    }
    for (size_t i = 0; i < t->columns && t->column; i++)
        free(t->column[i].name);
    free(t->row);
    free(t->column);
    free(t);
}
