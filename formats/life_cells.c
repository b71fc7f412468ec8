/* life_cells.c - plaintext patterns (.cells): a character a cell, a line a row.
 *
 * Lines that begin with ! are comments. A dot is a dead cell, O or * a live one; dead cells at the
 * end of a row may be left out, and an empty line is an empty row. We write the rule as a comment
 * `!Rule: B3/S23`, and read it back from there.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include <ctype.h>
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

static int write_cells(struct outfile *out, const struct life_pattern *p)
{
    fprintf(out->fp, "!Rule: %s%s%s\n", p->rule[0] ? p->rule : "B3/S23", p->bounds[0] ? ":" : "",
            p->bounds);
    char generation[LIFE_GENERATION_TEXT];
    fprintf(out->fp, "!%zu x %zu cells, generation %s\n", p->width, p->height,
            life_generation_text(p->generation, generation));
    for (size_t y = 0; y < p->height; y++) {
        size_t x = 0, end, at = 0;
        if (y >= p->top && y < p->top + p->rows)
            for (; life_next_run(p, y - p->top, &x, &end); x = end) {
                for (; at < x; at++)
                    putc('.', out->fp);
                for (; at < end; at++)
                    putc('O', out->fp);
            }
        for (; at < p->width; at++)
            putc('.', out->fp);
        putc('\n', out->fp);
        if (y % 256 == 0 && outfile_check(out) < 0)
            return -1;
    }
    return outfile_check(out);
}

const struct life_format life_cells = {
    .label = {.name = "cells", .title = "plain text", .suffixes = ".cells"},
    .sniff = cells_sniff,
    .read = cells_read_cells,
    .write = write_cells,
};
