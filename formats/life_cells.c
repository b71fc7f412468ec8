/* life_cells.c - plaintext patterns (.cells): a character a cell, a line a row.
 *
 * Lines that begin with ! are comments. A dot is a dead cell, O or * a live one; dead cells at the
 * end of a row may be left out, and an empty line is an empty row. We write the rule as a comment
 * `!Rule: B3/S23`, and read it back from there.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static int cells_read_row(const struct life_text *t, const char *p, const char *end, long long y,
                          struct life_sink *sink)
{
    const char *start = p;
    while (p < end) {
        const char *run = p;
        while (p < end && (*p == 'O' || *p == '*'))
            p++;
        if (p > run) {
            life_sink_run(sink, run - start, y, p - run);
        } else if (*p == '.') {
            p++;
        } else if (isspace((unsigned char)*p)) { /* at the end of the line only */
            while (p < end && isspace((unsigned char)*p))
                p++;
            if (p < end)
                return life_text_error(
                    t, p, "there is something after a blank; a row has no blanks in it");
            end = run;
        } else if (*p > ' ' && *p < 127) {
            return life_text_error(
                t, p, "'%c' is not a cell; write . for a dead and O for a live one", *p);
        } else {
            return life_text_error(t, p, "a byte of value %d is not a cell", (unsigned char)*p);
        }
    }
    if ((size_t)(end - start) > sink->p->width)
        sink->p->width = (size_t)(end - start);
    return 0;
}

/* True for a line of cells only. */
static bool is_row(const char *p, const char *end)
{
    const char *first = p;
    while (p < end && (*p == '.' || *p == 'O' || *p == '*' || life_text_is_blank(*p)))
        p++;
    return p == end && p > first;
}

/* Decided by the first line that is neither empty nor an RLE comment. */
static bool cells_sniff(const struct life_text *t)
{
    for (const char *p = t->begin; p < t->end;) {
        const char *end = life_text_line_end(t, p);
        if (*p != '#' && *p != '\n' && *p != '\r')
            return *p == '!' || is_row(p, end);
        p = end < t->end ? end + 1 : end;
    }
    return false;
}

static int cells_read_cells(const struct life_text *t, struct life_sink *sink)
{
    long long y = 0;
    for (const char *p = t->begin; p < t->end;) {
        const char *end = life_text_line_end(t, p);
        const bool rule = end - p > 6 && strncmp(p, "!Rule:", 6) == 0;
        if (rule && life_text_rule(t, p + 6, end, sink->p) < 0)
            return -1;
        if (*p != '!' && cells_read_row(t, p, end, y++, sink) < 0)
            return -1;
        p = end < t->end ? end + 1 : end;
    }
    if (y >= LIFE_FAR)
        return life_text_error(t, t->end, "the pattern has too many rows");
    sink->p->height = (size_t)y;
    return 0;
}

/* The position after the cells written so far. Rows of a sparse pattern are not padded. */
struct cells_writer {
    struct outfile *out;
    size_t x, y, padded; /* padded: columns of a row */
};

static void put_cells(struct cells_writer *w, size_t end, char cell)
{
    for (; w->x < end; w->x++)
        putc(cell, w->out->fp);
}

/* End rows up to row y. */
static int cells_end_rows(struct cells_writer *w, size_t y)
{
    for (; w->y < y; w->y++) {
        put_cells(w, w->padded, '.');
        putc('\n', w->out->fp);
        w->x = 0;
        if (w->y % 256 == 0 && outfile_check(w->out) < 0)
            return -1;
    }
    return 0;
}

static int cells_put_run(void *to, size_t x, size_t y, size_t n, unsigned state)
{
    struct cells_writer *w = to;
    (void)state;
    if (cells_end_rows(w, y) < 0)
        return -1;
    put_cells(w, x, '.');
    put_cells(w, x + n, 'O');
    return 0;
}

static int write_cells(struct outfile *out, const struct life_pattern *p)
{
    const size_t most = (size_t)1 << 32;
    char generation[LIFE_GENERATION_TEXT];
    struct cells_writer w = {.out = out, .padded = p->runs ? 0 : p->width};
    if (p->runs && (p->width > most || p->height > most))
        return clerror_set(ENOTSUP,
                           "%s: plain text has a character for each cell to the left of a live one "
                           "and a line for each row, here %zu x %zu; write RLE, .rle",
                           out->name, p->width, p->height);
    fprintf(out->fp, "!Rule: %s%s%s\n", p->rule[0] ? p->rule : "B3/S23", p->bounds[0] ? ":" : "",
            p->bounds);
    fprintf(out->fp, "!%zu x %zu cells, generation %s\n", p->width, p->height,
            life_generation_text(p->generation, generation));
    if (life_pattern_walk(p, cells_put_run, &w) < 0 || cells_end_rows(&w, p->height) < 0)
        return -1;
    return outfile_check(out);
}

const struct life_format life_cells = {
    .label = {.name = "cells", .title = "plain text", .suffixes = ".cells"},
    .sniff = cells_sniff,
    .read = cells_read_cells,
    .write = write_cells,
};
