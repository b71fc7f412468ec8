/* life_rle.c - run-length encoded patterns, as Golly and LifeWiki have them.
 *
 * Lines that begin with # are comments, two of which mean something: `#CXRLE Pos=x,y Gen=n` and `#r
 * RULE`. The line `x = W, y = H, rule = R` is optional, and so is the ! at the end. Between them,
 * an optional count and a letter: b or . dead, o or A alive, $ the end of a row. Rules of more
 * states have B to X for 2 to 24, and pA to yO for 25 to 255; a letter p to y
 * alone is a live cell, as xlife wrote them. A rule file may follow the !, from @RULE on.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "stdcl.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

/* ---- Reading. -------------------------------------------------------------------------------- */

static void rle_skip_blanks(const char **p, const char *end)
{
    while (*p < end && (**p == ' ' || **p == '\t' || **p == '\r'))
        ++*p;
}

/* Read digits; false if there are none or the number is not below LIFE_FAR. */
static bool rle_read_number(const char **p, const char *end, long long *value)
{
    const char *start = *p;
    *value = 0;
    for (; *p < end && isdigit((unsigned char)**p); ++*p)
        if ((*value = *value * 10 + (**p - '0')) >= LIFE_FAR)
            return false;
    return *p > start;
}

static bool read_signed(const char **p, const char *end, long long *value)
{
    const bool minus = *p < end && **p == '-';
    *p += minus;
    if (!rle_read_number(p, end, value))
        return false;
    *value = minus ? -*value : *value;
    return true;
}

/* Read position and generation; other content of the line is ignored. */
static int rle_read_comment(const struct life_text *t, const char *p, const char *end,
                            struct life_pattern *out)
{
    if (end - p > 2 && p[1] == 'r' && (p[2] == ' ' || p[2] == '\t') && !out->rule[0])
        return life_text_rule(t, p + 2, end, out);
    if (end - p < 6 || strncmp(p, "#CXRLE", 6) != 0)
        return 0;
    for (p += 6; p < end; p++) {
        if (end - p > 4 && strncmp(p, "Pos=", 4) == 0) {
            const char *at = p += 4;
            if (!read_signed(&p, end, &out->x) || p == end || *p++ != ',' ||
                !read_signed(&p, end, &out->y))
                return life_text_error(t, at, "Pos= needs two whole numbers, as in Pos=-3,17");
            out->placed = true;
        } else if (end - p > 4 && strncmp(p, "Gen=", 4) == 0) {
            p += 4;
            if (life_text_generation(t, &p, end, &out->generation) < 0)
                return -1;
        }
        if (p == end)
            break;
    }
    return 0;
}

/* Read "name = number" of the header. */
static int rle_read_side(const struct life_text *t, const char **p, const char *end, char name,
                         size_t *side)
{
    long long value;
    rle_skip_blanks(p, end);
    const char *at = *p;
    if (*p < end && **p == name) {
        ++*p;
        rle_skip_blanks(p, end);
        if (*p < end && **p == '=') {
            ++*p;
            rle_skip_blanks(p, end);
            at = *p;
            if (rle_read_number(p, end, &value)) {
                *side = (size_t)value;
                rle_skip_blanks(p, end);
                return 0;
            }
        }
    }
    return life_text_error(t, at,
                           "the header should go on with '%c = ' and a number below 2^40, as in "
                           "x = 3, y = 3, rule = B3/S23",
                           name);
}

/* A comma before a blank or at the end of the line ends the rule, unlike the commas inside one. */
static const char *end_of_rule(const char *p, const char *end)
{
    for (; p < end; p++)
        if (*p == ',' && (p + 1 == end || life_text_is_blank(p[1])))
            break;
    return p;
}

static int rle_read_header(const struct life_text *t, const char *p, const char *end,
                           struct life_pattern *out)
{
    if (rle_read_side(t, &p, end, 'x', &out->width) < 0)
        return -1;
    if (p < end && *p == ',')
        p++;
    if (rle_read_side(t, &p, end, 'y', &out->height) < 0)
        return -1;
    if (p < end && *p == ',')
        p++;
    rle_skip_blanks(&p, end);
    if (p == end)
        return 0;
    if (end - p < 4 || strncmp(p, "rule", 4) != 0)
        return life_text_error(t, p, "the header should end, or go on with 'rule = ' and a rule");
    p += 4;
    rle_skip_blanks(&p, end);
    if (p == end || *p != '=')
        return life_text_error(t, p, "after 'rule' there should be '='");
    return life_text_rule(t, p + 1, end_of_rule(p + 1, end), out);
}

/* Position of the next cell. */
struct pen {
    long long x, y, count; /* count 0: none was given */
    const char *number;    /* start of the count */
    unsigned prefix;       /* of a state above 24: p is 24, q 48 ... */
};

/* n cells of a state. */
static void put_cells_of(struct pen *pen, struct life_sink *sink, long long n, unsigned state)
{
    if (state)
        life_sink_state(sink, pen->x, pen->y, n, state);
    pen->x += n;
}

/* Read the letter of a state, or the first of two. */
static int rle_read_letter(const struct life_text *t, const char *at, struct pen *pen,
                           struct life_sink *sink, long long n)
{
    if (*at >= 'p' && *at <= 'y') {
        pen->prefix = 24 * (unsigned)(*at - 'p' + 1);
        pen->count = n;
        return 0;
    }
    const unsigned state = pen->prefix + (unsigned)(*at - 'A' + 1);
    pen->prefix = 0;
    if (*at > 'X' || state > 255)
        return life_text_error(
            t, at,
            "'%c' is no state; states are . for 0, A to X for 1 to 24, and pA to yO for 25 to 255",
            *at);
    put_cells_of(pen, sink, n, state);
    return 0;
}

/* p to y that no letter A to X follows are live cells, as in xlife. */
static void rle_end_prefix(struct pen *pen, struct life_sink *sink)
{
    if (!pen->prefix)
        return;
    put_cells_of(pen, sink, pen->count, 1);
    pen->prefix = 0;
    pen->count = 0;
}

/* Read one character of cell data. 1 if it ends the pattern. */
static int rle_read_item(const struct life_text *t, const char *at, struct pen *pen,
                         struct life_sink *sink)
{
    if (pen->prefix && !isupper((unsigned char)*at))
        rle_end_prefix(pen, sink);
    const long long n = pen->count ? pen->count : 1;
    const bool letter = isupper((unsigned char)*at) || (*at >= 'p' && *at <= 'y');
    pen->count = 0;
    if (*at == 'o')
        put_cells_of(pen, sink, n, 1);
    else if (*at == 'b' || *at == '.')
        put_cells_of(pen, sink, n, 0);
    else if (letter && rle_read_letter(t, at, pen, sink, n) < 0)
        return -1;
    else if (*at == '$') {
        pen->y += n;
        pen->x = 0;
    } else if (*at == '!')
        return 1;
    else if (!letter && *at > ' ' && *at < 127)
        return life_text_error(t, at, "'%c' is not one of b, o, $ and !", *at);
    else if (!letter)
        return life_text_error(t, at, "a byte of value %d is not one of b, o, $ and !",
                               (unsigned char)*at);
    if (pen->x >= LIFE_FAR || pen->y >= LIFE_FAR)
        return life_text_error(t, at, "the pattern is larger than 2^40 cells across");
    return 0;
}

/* Read the cells of one line. 1 if the pattern has ended. */
static int rle_read_line(const struct life_text *t, const char *p, const char *end, struct pen *pen,
                         struct life_sink *sink)
{
    while (p < end) {
        if (*p == ' ' || *p == '\t' || *p == '\r') {
            p++;
        } else if (isdigit((unsigned char)*p)) {
            rle_end_prefix(pen, sink);
            pen->number = p;
            if (!rle_read_number(&p, end, &pen->count) || pen->count == 0)
                return life_text_error(t, pen->number, "a count must be from 1 to 2^40 - 1");
        } else {
            const int status = rle_read_item(t, p++, pen, sink);
            if (status)
                return status;
        }
    }
    return 0;
}

/* True for any text with a line that is not a comment. */
static bool rle_sniff(const struct life_text *t)
{
    for (const char *p = t->begin; p < t->end;) {
        const char *end = life_text_line_end(t, p);
        if (*p != '#' && *p != '\n' && *p != '\r')
            return true;
        p = end < t->end ? end + 1 : end;
    }
    return false;
}

/* Keep a rule file that follows the cells. */
static int keep_rule_file(const struct life_text *t, const char *p, struct life_pattern *out)
{
    static const char head[] = "@RULE";
    for (; p < t->end; p = life_text_line_end(t, p), p += p < t->end)
        if ((size_t)(t->end - p) > strlen(head) && memcmp(p, head, strlen(head)) == 0) {
            out->rule_file = strndup(p, (size_t)(t->end - p));
            return out->rule_file ? 0
                                  : clerror_set(ENOMEM, "%s: out of memory for its rule", t->name);
        }
    return 0;
}

/* True for a pattern of Golly's script 3D.lua (.rle3), whose rows are planes of cubes. */
static bool rle_has_three_dimensions(const struct life_text *t)
{
    static const char head[] = "3D version=";
    return (size_t)(t->end - t->begin) > strlen(head) && memcmp(t->begin, head, strlen(head)) == 0;
}

static int read_rle(const struct life_text *t, struct life_sink *sink)
{
    if (rle_has_three_dimensions(t))
        return life_text_error(t, t->begin,
                               "the pattern has three dimensions (Golly's 3D.lua), and patterns of "
                               "two are read");
    struct life_pattern *out = sink->p;
    struct pen pen = {.count = 0};
    bool header = false;
    int status = 0;
    for (const char *p = t->begin; p < t->end && status == 0;) {
        const char *end = life_text_line_end(t, p);
        if (*p == '#') {
            if (!sink->filling)
                status = rle_read_comment(t, p, end, out);
        } else if (*p == 'x' && !header) {
            header = true;
            if (!sink->filling)
                status = rle_read_header(t, p, end, out);
        } else {
            status = rle_read_line(t, p, end, &pen, sink);
        }
        p = end < t->end ? end + 1 : end;
        if (status > 0 && !sink->filling && keep_rule_file(t, p, out) < 0)
            return -1;
    }
    if (status < 0)
        return -1;
    rle_end_prefix(&pen, sink);
    if (status == 0 && pen.count)
        return life_text_error(t, pen.number, "the file ends after a count");
    /* the header's size is only a hint: some files have it wrong */
    if (sink->any && (long long)out->width < sink->right)
        out->width = (size_t)sink->right;
    if (sink->any && (long long)out->height < sink->bottom)
        out->height = (size_t)sink->bottom;
    return 0;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* Number of characters on the line, kept below 71. */
struct line {
    FILE *fp;
    int used;
};

static void put_words(struct line *line, size_t count, const char *tag)
{
    char text[32];
    const int length = count > 1 ? snprintf(text, sizeof text, "%zu%s", count, tag)
                                 : snprintf(text, sizeof text, "%s", tag);
    if (line->used + length > 70) {
        putc('\n', line->fp);
        line->used = 0;
    }
    fwrite(text, 1, (size_t)length, line->fp);
    line->used += length;
}

static void put_item(struct line *line, size_t count, char tag)
{
    const char text[2] = {tag, '\0'};
    put_words(line, count, text);
}

static void put_state(struct line *line, size_t count, unsigned state)
{
    char text[3] = ".";
    if (state > 24)
        snprintf(text, sizeof text, "%c%c", 'p' + (int)((state - 25) / 24),
                 'A' + (int)((state - 1) % 24));
    else if (state)
        text[0] = (char)('A' + (int)state - 1);
    put_words(line, count, text);
}

/* The position after the cells written so far. */
struct rle_writer {
    struct line line;
    struct outfile *out;
    bool states; /* . and A to X instead of b and o */
    size_t x, y, runs;
};

static int rle_put_run(void *to, size_t x, size_t y, size_t n, unsigned state)
{
    struct rle_writer *w = to;
    if (y > w->y) {
        put_item(&w->line, y - w->y, '$');
        w->x = 0;
    }
    w->y = y;
    if (x > w->x && w->states)
        put_state(&w->line, x - w->x, 0);
    else if (x > w->x)
        put_item(&w->line, x - w->x, 'b');
    if (w->states)
        put_state(&w->line, n, state);
    else
        put_item(&w->line, n, 'o');
    w->x = x + n;
    /* now and then, whether the file is still wanted */
    return ++w->runs % 65536 == 0 ? outfile_check(w->out) : 0;
}

static bool is_far(long long at)
{
    return at <= -LIFE_FAR || at >= LIFE_FAR;
}

/* Refuse numbers that rle_read_number does not accept. */
static int check_numbers(const struct outfile *out, const struct life_pattern *p)
{
    if (p->placed && (is_far(p->x) || is_far(p->y)))
        return clerror_set(EINVAL,
                           "%s: the cells are at %lld,%lld, but coordinates of an RLE file are "
                           "below 2^40; write a macrocell file, .mc",
                           out->name, p->x, p->y);
    if (p->width >= (size_t)LIFE_FAR || p->height >= (size_t)LIFE_FAR)
        return clerror_set(EINVAL,
                           "%s: %zu x %zu cells, but an RLE file has less than 2^40 a side; write "
                           "a macrocell file, .mc",
                           out->name, p->width, p->height);
    return 0;
}

static int write_rle(struct outfile *out, const struct life_pattern *p)
{
    struct rle_writer w = {.line = {out->fp, 0}, .out = out, .states = p->states > 2};
    char generation[LIFE_GENERATION_TEXT];
    if (check_numbers(out, p) < 0)
        return -1;
    if (p->placed || p->generation) {
        fprintf(out->fp, "#CXRLE");
        if (p->placed)
            fprintf(out->fp, " Pos=%lld,%lld", p->x, p->y);
        if (p->generation)
            fprintf(out->fp, " Gen=%s", life_generation_text(p->generation, generation));
        fprintf(out->fp, "\n");
    }
    fprintf(out->fp, "x = %zu, y = %zu, rule = %s%s%s\n", p->width, p->height,
            p->rule[0] ? p->rule : "B3/S23", p->bounds[0] ? ":" : "", p->bounds);
    if (life_pattern_walk(p, rle_put_run, &w) < 0)
        return -1;
    put_item(&w.line, 1, '!');
    putc('\n', out->fp);
    return outfile_check(out);
}

const struct life_format life_rle = {
    .label = {.name = "rle", .title = "RLE", .suffixes = ".rle", .bare = true},
    .sniff = rle_sniff,
    .read = read_rle,
    .write = write_rle,
};
