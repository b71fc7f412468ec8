/* cell_list_rle.c - lists of live cells as run-length encoded text.
 * SPDX-License-Identifier: MIT
 */
#include "life/cell_list.h"

#include "core/handle.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading. -------------------------------------------------------------------------------- */

struct list_reader {
    life_list *list;
    struct life_cell corner, at;
    size_t line;
};

/* Read a count; 1 if there is none. False if it is not below 2^62. */
static bool read_run(const char **p, long long *count)
{
    const bool given = isdigit((unsigned char)**p);
    *count = given ? 0 : 1;
    for (; isdigit((unsigned char)**p); ++*p)
        if (*count > (1LL << 62) / 10 - 1)
            return false;
        else
            *count = 10 * *count + (**p - '0');
    return true;
}

static int list_reader_refuse(const struct list_reader *r, char c)
{
    if (c == 'x' && r->list->n == 0)
        clerror_set(EINVAL, "line %zu: 'x' begins no header, such as x = 3, y = 3", r->line);
    else if (isupper((unsigned char)c) || (c >= 'p' && c <= 'y'))
        clerror_set(EINVAL, "line %zu: '%c' is a state above 1; a list has live cells only",
                    r->line, c);
    else if (isgraph((unsigned char)c))
        clerror_set(EINVAL, "line %zu: '%c' is not one of b, o, . A, $ and !", r->line, c);
    else
        clerror_set(EINVAL, "line %zu: a run should go on with b, o or $", r->line);
    return -1;
}

/* Take a run of `count` cells or row ends. */
static int list_reader_take(struct list_reader *r, long long count, char tag)
{
    if (tag == '$') {
        r->at = (struct life_cell){r->corner.x, r->at.y + count};
    } else if (tag == 'b' || tag == '.') {
        r->at.x += count;
    } else if (tag == 'o' || tag == 'A') {
        if (!cell_list_append(&r->list, r->at, (uint64_t)count))
            return -1;
        r->at.x += count;
    } else {
        return list_reader_refuse(r, tag);
    }
    if (cell_in_range(r->at))
        return 0;
    clerror_set(ERANGE, "line %zu: the cells are not within 2^62 columns and rows of (0, 0)",
                r->line);
    return -1;
}

/* True for the header, x = ... */
static bool list_header_is(const char *p)
{
    return *p == 'x' && p[1 + strspn(p + 1, " \t")] == '=';
}

/* Skip a comment or the header; take the corner from #CXRLE. NULL: it is out of range. */
static const char *list_reader_skip_line(struct list_reader *r, const char *p)
{
    const char *const end = p + strcspn(p, "\n");
    const char *const pos = strncmp(p, "#CXRLE", 6) == 0 ? strstr(p, "Pos=") : NULL;
    char *comma;
    if (!pos || pos >= end)
        return end;
    const long long x = strtoll(pos + 4, &comma, 10);
    if (*comma == ',')
        r->corner = r->at = (struct life_cell){x, strtoll(comma + 1, NULL, 10)};
    if (cell_in_range(r->corner))
        return end;
    clerror_set(ERANGE, "line %zu: Pos is not within 2^62 columns and rows of (0, 0)", r->line);
    return NULL;
}

static int list_reader_text(struct list_reader *r, const char *p)
{
    long long count;
    for (bool first = true; *p && *p != '!';) {
        if (first && (*p == '#' || list_header_is(p))) {
            if (!(p = list_reader_skip_line(r, p)))
                return -1;
            continue;
        }
        if (isspace((unsigned char)*p)) {
            first = *p == '\n';
            r->line += first;
            p++;
            continue;
        }
        first = false;
        if (!read_run(&p, &count))
            return clerror_set(ERANGE, "line %zu: a count of 2^62 or more", r->line);
        if (list_reader_take(r, count, *p) < 0)
            return -1;
        p++;
    }
    return 0;
}

life_list *life_list_read_rle(const char *text)
{
    struct list_reader r = {.list = cell_list_alloc(64), .line = 1};
    if (no_handle(text, __func__) || !r.list || list_reader_text(&r, text) < 0) {
        free(r.list);
        return NULL;
    }
    return cell_list_finish(r.list);
}

/* ---- Writing. -------------------------------------------------------------------------------- */

/* Text so far: its length, of which the first `size` - 1 bytes are stored. */
struct list_writer {
    char *text;
    size_t size, length, line; /* `line`: characters on the line */
};

static void list_put(struct list_writer *w, const char *what)
{
    for (; *what; what++, w->length++)
        if (w->length + 1 < w->size)
            w->text[w->length] = *what;
}

static void list_put_run(struct list_writer *w, uint64_t count, char tag)
{
    char run[32];
    if (!count)
        return;
    const int n = count > 1 ? snprintf(run, sizeof run, "%" PRIu64 "%c", count, tag)
                            : snprintf(run, sizeof run, "%c", tag);
    if (w->line + (size_t)n > 70) {
        list_put(w, "\n");
        w->line = 0;
    }
    w->line += (size_t)n;
    list_put(w, run);
}

static void list_put_cells(struct list_writer *w, const life_list *list, struct life_cell at)
{
    const long long left = at.x;
    for (size_t i = 0, end; i < list->n; i = end) {
        const struct life_cell c = list->cell[i];
        for (end = i + 1; end < list->n && list->cell[end].y == c.y &&
                          list->cell[end].x == c.x + (long long)(end - i);)
            end++;
        if (c.y > at.y)
            at.x = left;
        list_put_run(w, (uint64_t)c.y - (uint64_t)at.y, '$');
        list_put_run(w, (uint64_t)c.x - (uint64_t)at.x, 'b');
        list_put_run(w, end - i, 'o');
        at = (struct life_cell){c.x + (long long)(end - i), c.y};
    }
    list_put_run(w, 1, '!');
    list_put(w, "\n");
}

size_t life_list_rle(const life_list *list, const char *rule, char *text, size_t size)
{
    struct list_writer w = {text, size, 0, 0};
    struct life_cell corner = {0, 0};
    uint64_t width = 0, height = 0;
    char head[160];
    if (no_handle(list, __func__))
        return 0;
    life_list_box(list, &corner, &width, &height);
    snprintf(head, sizeof head,
             "#CXRLE Pos=%lld,%lld\nx = %" PRIu64 ", y = %" PRIu64 ", rule = ", corner.x, corner.y,
             width, height);
    list_put(&w, head);
    list_put(&w, rule ? rule : "B3/S23");
    list_put(&w, "\n");
    list_put_cells(&w, list, corner);
    if (size)
        text[w.length < size ? w.length : size - 1] = '\0';
    return w.length;
}
