/* life_lif.c - the old formats Life 1.05 and 1.06.
 *
 *   #Life 1.05              #Life 1.06
 *   #D a comment            0 -1
 *   #R 23/3                 1 0
 *   #P -1 -1                -1 1
 *   .*                      0 1
 *   ..*                     1 1
 *
 * Life 1.05 has blocks of rows, each with its top left corner after #P, or 0,0; * is alive, and #N
 * stands for B3/S23. A file may also begin with #P. Life 1.06 has the column and row of each live
 * cell, and no rule. The middle of a universe is 0,0. We write 1.06.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool lif_begins(const char *p, const char *end, const char *words)
{
    return (size_t)(end - p) >= strlen(words) && strncasecmp(p, words, strlen(words)) == 0;
}

static bool lif_sniff(const struct life_text *t)
{
    return lif_begins(t->begin, t->end, "#Life 1.0") || lif_begins(t->begin, t->end, "#P ");
}

static const char *lif_skip_blanks(const char *p, const char *end)
{
    while (p < end && life_text_is_blank(*p))
        p++;
    return p;
}

/* Two whole numbers, and nothing after them. */
static int lif_read_place(const struct life_text *t, const char *p, const char *end,
                          long long place[2])
{
    for (int i = 0; i < 2; i++) {
        const char *start = p = lif_skip_blanks(p, end);
        const bool minus = p < end && *p == '-';
        p += minus || (p < end && *p == '+');
        if (p == end || !isdigit((unsigned char)*p))
            return life_text_error(t, start,
                                   "here two whole numbers should stand, a column and a row");
        for (place[i] = 0; p < end && isdigit((unsigned char)*p); p++)
            if ((place[i] = place[i] * 10 + (*p - '0')) >= LIFE_FAR)
                return life_text_error(t, start, "the number is not below 2^40");
        place[i] = minus ? -place[i] : place[i];
    }
    p = lif_skip_blanks(p, end);
    return p == end ? 0 : life_text_error(t, p, "there is something after the second number");
}

/* A row of a block of 1.05. */
static int lif_read_row(const struct life_text *t, const char *p, const char *end,
                        const long long at[2], struct life_sink *sink)
{
    const char *start = p;
    while (p < end && !life_text_is_blank(*p)) {
        const char *run = p;
        while (p < end && *p == '*')
            p++;
        if (p > run)
            life_sink_run(sink, at[0] + (run - start), at[1], p - run);
        else if (*p == '.')
            p++;
        else
            return life_text_error(t, p, "a row is written with . and *, not with '%c'",
                                   *p > ' ' && *p < 127 ? *p : '?');
    }
    p = lif_skip_blanks(p, end);
    return p == end ? 0
                    : life_text_error(
                          t, p, "there is something after a blank; a row has no blanks in it");
}

static int lif_read_remark(const struct life_text *t, const char *p, const char *end,
                           long long at[2], struct life_sink *sink)
{
    if (lif_begins(p, end, "#P") && lif_skip_blanks(p + 2, end) == end)
        at[0] = at[1] = 0;
    else if (lif_begins(p, end, "#P"))
        return lif_read_place(t, p + 2, end, at);
    if (lif_begins(p, end, "#R") && !sink->filling)
        return life_text_rule(t, p + 2, end, sink->p);
    if (lif_begins(p, end, "#N") && !sink->filling)
        strcpy(sink->p->rule, "B3/S23");
    return 0;
}

static int read_lif(const struct life_text *t, struct life_sink *sink)
{
    const bool places = lif_begins(t->begin, t->end, "#Life 1.06");
    long long at[2] = {0, 0};
    sink->boundless = true;
    for (const char *p = t->begin, *end; p < t->end; p = end < t->end ? end + 1 : end) {
        end = life_text_line_end(t, p);
        if (*p == '#'
                ? lif_read_remark(t, p, end, at, sink) < 0
                : lif_skip_blanks(p, end) < end && places && lif_read_place(t, p, end, at) < 0)
            return -1;
        if (*p == '#' || (places && lif_skip_blanks(p, end) == end))
            continue;
        if (places)
            life_sink_run(sink, at[0], at[1], 1);
        else if (lif_read_row(t, p, end, at, sink) < 0)
            return -1;
        else if (++at[1] >= LIFE_FAR)
            return life_text_error(t, p, "the pattern is larger than 2^40 cells across");
    }
    return 0;
}

struct lif_writer {
    struct outfile *out;
    long long left, top;
    size_t runs;
};

static int lif_put_run(void *to, size_t x, size_t y, size_t n, unsigned state)
{
    struct lif_writer *w = to;
    (void)state;
    for (size_t end = x + n; x < end; x++)
        fprintf(w->out->fp, "%lld %lld\n", w->left + (long long)x, w->top + (long long)y);
    return ++w->runs % 65536 == 0 ? outfile_check(w->out) : 0;
}

static int write_lif(struct outfile *out, const struct life_pattern *p)
{
    struct lif_writer w = {.out = out,
                           .left = p->placed ? p->x : -(long long)(p->width / 2),
                           .top = p->placed ? p->y : -(long long)(p->height / 2)};
    fprintf(out->fp, "#Life 1.06\n");
    return life_pattern_walk(p, lif_put_run, &w) < 0 ? -1 : outfile_check(out);
}

const struct life_format life_lif = {
    .label = {.name = "lif", .title = "Life 1.06", .suffixes = ".lif"},
    .sniff = lif_sniff,
    .read = read_lif,
    .write = write_lif,
};
