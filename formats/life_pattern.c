/* life_pattern.c - reading and writing patterns: everything that does not depend on the format.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_private.h"

#include "stdcl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Live cells. ----------------------------------------------------------------------------- */

static void set_bits(uint64_t *word, size_t at, size_t n)
{
    for (; n && at % 64; at++, n--)
        word[at / 64] |= (uint64_t)1 << at % 64;
    for (; n >= 64; at += 64, n -= 64)
        word[at / 64] = ~(uint64_t)0;
    if (n)
        word[at / 64] |= ((uint64_t)1 << n) - 1;
}

void life_sink_run(struct life_sink *s, long long x, long long y, long long n)
{
    if (s->filling) {
        set_bits(s->p->word + (size_t)(y - s->top) * s->p->stride, (size_t)(x - s->left), (size_t)n);
        return;
    }
    if (!s->any || x < s->left)
        s->left = x;
    if (!s->any || x + n > s->right)
        s->right = x + n;
    if (!s->any || y < s->top)
        s->top = y;
    if (!s->any || y + 1 > s->bottom)
        s->bottom = y + 1;
    s->any = true;
}

bool life_next_run(const struct life_pattern *p, size_t y, size_t *x, size_t *end)
{
    const uint64_t *row = p->word + y * p->stride;
    size_t i = *x > p->left ? *x - p->left : 0;
    for (int value = 1; value >= 0; value--) { /* first a live cell, then a dead one */
        while (i < p->columns) {
            uint64_t rest = (value ? row[i / 64] : ~row[i / 64]) >> i % 64;
            if (rest) {
                i += (size_t)__builtin_ctzll(rest);
                break;
            }
            i = (i / 64 + 1) * 64;
        }
        i = i < p->columns ? i : p->columns;
        if (value) {
            if (i == p->columns)
                return false;
            *x = p->left + i;
        }
    }
    *end = p->left + i;
    return true;
}

void life_pattern_free(struct life_pattern *p)
{
    free(p->word);
    *p = (struct life_pattern){0};
}

/* ---- Text. ----------------------------------------------------------------------------------- */

int life_text_error(const struct life_text *t, const char *at, const char *format, ...)
{
    char what[400];
    size_t line = 1;
    const char *start = t->begin;
    for (const char *p = t->begin; p < at; p++)
        if (*p == '\n') {
            line++;
            start = p + 1;
        }
    va_list ap;
    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return clerror_set(EINVAL, "%s: line %zu, column %zu: %s", t->name, line, (size_t)(at - start) + 1, what);
}

const char *life_text_line_end(const struct life_text *t, const char *at)
{
    const char *end = memchr(at, '\n', (size_t)(t->end - at));
    return end ? end : t->end;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

int life_text_rule(const struct life_text *t, const char *from, const char *to, struct life_pattern *p)
{
    while (from < to && is_blank(*from))
        from++;
    while (to > from && is_blank(to[-1]))
        to--;
    const char *colon = memchr(from, ':', (size_t)(to - from));
    const char *end = colon ? colon : to, *rest = colon ? colon + 1 : to;
    if ((size_t)(end - from) >= sizeof p->rule || (size_t)(to - rest) >= sizeof p->bounds)
        return life_text_error(t, from, "the rule has more than %zu characters", sizeof p->rule - 1);
    for (const char *c = from; c < to; c++)
        if ((unsigned char)*c < ' ')
            return life_text_error(t, c, "a rule has no control characters (code %d)", (unsigned char)*c);
    memset(p->rule, 0, sizeof p->rule);
    memset(p->bounds, 0, sizeof p->bounds);
    memcpy(p->rule, from, (size_t)(end - from));
    memcpy(p->bounds, rest, (size_t)(to - rest));
    return 0;
}

/* ---- Reading. -------------------------------------------------------------------------------- */

typedef int reader(const struct life_text *t, struct life_sink *sink);

/* A line of nothing but cells in the way of .cells files. */
static bool line_of_cells(const char *p, const char *end)
{
    const char *first = p;
    while (p < end && (*p == '.' || *p == 'O' || *p == '*' || is_blank(*p)))
        p++;
    return p == end && p > first;
}

/* By content; NULL after an error. */
static reader *recognise(const struct life_text *t)
{
    const size_t size = (size_t)(t->end - t->begin);
    if (size >= 2 && memcmp(t->begin, "\x1f\x8b", 2) == 0) {
        clerror_set(EINVAL, "%s: is compressed; unpack it with gunzip first", t->name);
        return NULL;
    }
    if (size >= 4 && memcmp(t->begin, "[M2]", 4) == 0)
        return life_read_macrocell;
    if (size >= 7 && strncasecmp(t->begin, "#Life 1", 7) == 0) {
        clerror_set(EINVAL,
                    "%s: is a file of the old formats Life 1.05 or 1.06, which are not supported; save "
                    "it as RLE",
                    t->name);
        return NULL;
    }
    for (const char *p = t->begin; p < t->end;) {
        const char *end = life_text_line_end(t, p);
        if (*p == '!')
            return life_read_cells;
        if (*p != '#' && *p != '\n' && *p != '\r')
            return line_of_cells(p, end) ? life_read_cells : life_read_rle;
        p = end < t->end ? end + 1 : end;
    }
    clerror_set(EINVAL, "%s: has no cells: it is empty or has nothing but comments", t->name);
    return NULL;
}

size_t life_pattern_limit;

/* A system promises more memory than it has, and takes the program's life when it is used. */
static double memory_there_is(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return life_pattern_limit      ? (double)life_pattern_limit
           : pages > 0 && page > 0 ? (double)pages * (double)page
                                   : 0x1p46;
}

/* Between the two passes: room for the rectangle of live cells. */
static int make_room(struct life_sink *s, const char *name)
{
    struct life_pattern *p = s->p;
    if (!s->any)
        return 0;
    p->left = (size_t)s->left;
    p->top = (size_t)s->top;
    p->columns = (size_t)(s->right - s->left);
    p->rows = (size_t)(s->bottom - s->top);
    p->stride = (p->columns + 63) / 64;
    const double bytes = (double)p->rows * (double)p->stride * 8;
    if (bytes <= memory_there_is())
        p->word = calloc(p->rows * p->stride, sizeof *p->word);
    if (!p->word)
        return clerror_set(ENOMEM,
                           "%s: the live cells span %zu x %zu, which takes %.4g MB of memory; there are "
                           "%.4g",
                           name, p->columns, p->rows, bytes / 1e6, memory_there_is() / 1e6);
    return 0;
}

static int read_text(const struct life_text *t, struct life_pattern *p)
{
    struct life_sink sink = {.p = p};
    memset(p, 0, sizeof *p);
    reader *read = recognise(t);
    int status = read ? read(t, &sink) : -1;
    if (status == 0)
        status = make_room(&sink, t->name);
    if (status == 0 && sink.any) {
        sink.filling = true;
        status = read(t, &sink);
    }
    if (status == 0 && read == life_read_macrocell) { /* it has no corner; take that of the live cells */
        p->x = sink.left;
        p->y = sink.top;
        p->left = p->top = 0;
        p->width = p->columns;
        p->height = p->rows;
        p->placed = true;
    }
    if (status < 0)
        life_pattern_free(p);
    return status;
}

int life_pattern_read_memory(const char *name, const void *data, size_t size, struct life_pattern *p)
{
    const char *begin = size ? data : "";
    return read_text(&(struct life_text){name, begin, begin + size}, p);
}

static int explain(const char *name, int code)
{
    return code == ENOENT   ? clerror_set(code, "%s: no such file", name)
           : code == EACCES ? clerror_set(code, "%s: no permission to read it", name)
           : code == EISDIR ? clerror_set(code, "%s: is a folder, not a pattern", name)
                            : clerror_set(code, "%s: cannot be read: %s", name, strerror(code));
}

/* The whole content, for the caller to free; NULL after an error. */
static char *slurp(FILE *fp, const char *name, size_t *size)
{
    char *data = NULL;
    size_t room = 0;
    struct stat info;
    *size = 0;
    if (fstat(fileno(fp), &info) == 0 && S_ISDIR(info.st_mode)) {
        explain(name, EISDIR);
        return NULL;
    }
    do {
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            char *more = realloc(data, room);
            if (!more) {
                clerror_set(ENOMEM, "%s: no memory for a file of more than %zu bytes", name, *size);
                free(data);
                return NULL;
            }
            data = more;
        }
        *size += fread(data + *size, 1, room - *size, fp);
    } while (!feof(fp) && !ferror(fp));
    if (ferror(fp)) {
        explain(name, errno);
        free(data);
        return NULL;
    }
    return data;
}

int life_pattern_read(const char *file, struct life_pattern *p)
{
    const bool standard = strcmp(file, "-") == 0;
    const char *name = standard ? "standard input" : file;
    memset(p, 0, sizeof *p);
    FILE *fp = standard ? stdin : fopen(file, "rb");
    if (!fp)
        return explain(name, errno);
    size_t size;
    char *data = slurp(fp, name, &size);
    if (!standard)
        fclose(fp);
    int status = data ? life_pattern_read_memory(name, data, size, p) : -1;
    free(data);
    return status;
}

/* ---- Writing. -------------------------------------------------------------------------------- */

enum life_format life_format_of(const char *file)
{
    static const struct {
        const char *suffix;
        enum life_format format;
    } suffixes[] = {{".cells", LIFE_FORMAT_CELLS}, {".mc", LIFE_FORMAT_MACROCELL}, {".png", LIFE_FORMAT_PNG}};
    const char *dot = strrchr(file, '.');
    for (size_t i = 0; dot && i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcasecmp(dot, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    return LIFE_FORMAT_RLE;
}

int life_pattern_write(const char *file, const struct life_pattern *p, enum life_format format)
{
    struct outfile out;
    if (format == LIFE_FORMAT_AUTO)
        format = life_format_of(file);
    if (format == LIFE_FORMAT_PNG)
        return life_pattern_write_png(file, p, 1);
    if (outfile_open(&out, file) < 0)
        return -1;
    int status = format == LIFE_FORMAT_CELLS       ? life_write_cells(&out, p)
                 : format == LIFE_FORMAT_MACROCELL ? life_write_macrocell(&out, p)
                                                   : life_write_rle(&out, p);
    if (status == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}
