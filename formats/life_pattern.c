/* life_pattern.c - files of Life patterns: recognition of the format, and code common to all
 * formats.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life.h"

#include "formats/unsupported.h"
#include "formats/gunzip.h"
#include "formats/gzip.h"
#include "formats/life_format.h"
#include "formats/suffix.h"
#include "formats/unzip.h"

#include "core/host_memory.h"
#include "stdcl.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define POINTER(name) &life_##name,
#define LABEL(name) &life_##name.label,
static const struct life_format *const formats[] = {LIFE_FORMATS(POINTER)};
static const struct format_label *const labels[] = {LIFE_FORMATS(LABEL)};
enum { FORMATS = sizeof formats / sizeof *formats };

const char *life_formats(void)
{
    static _Thread_local char text[256];
    const struct format_label *written[FORMATS];
    size_t n = 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->write)
            written[n++] = labels[i];
    format_list(written, n, text, sizeof text);
    return text;
}

/* List the formats that can be read. */
static void list_readable(char *text, size_t size)
{
    const struct format_label *all[FORMATS];
    size_t n = 0;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->read)
            all[n++] = labels[i];
    format_list(all, n, text, size);
}

/* Find a format by name, or by the suffix if the name is NULL, ignoring a final .gz; NULL after an
 * error. */
static const struct life_format *pattern_find(const char *file, const char *name)
{
    static const struct format_table table = {labels, FORMATS, "patterns", life_formats};
    char *inner =
        !name && gzip_is_wanted(file) ? strndup(file, strlen(file) - strlen(".gz")) : NULL;
    const struct format_label *format = format_find(&table, inner ? inner : file, name);
    if (inner && (!format || format == &life_png.label)) /* no pictures and no unknown suffixes */
        format = format_find(&table, file, NULL);
    free(inner);
    return (const struct life_format *)format;
}

bool life_pattern_is_named(const char *name)
{
    char *inner = gzip_is_wanted(name) ? strndup(name, strlen(name) - strlen(".gz")) : NULL;
    const char *suffix = suffix_of(inner ? inner : name);
    bool found = suffix_is_in(suffix, ".mcl .life") || life_apgcode_is(name);
    for (size_t i = 0; i < FORMATS; i++)
        found |= formats[i]->read && suffix_is_in(suffix, formats[i]->label.suffixes);
    free(inner);
    return found;
}

void life_pattern_free(struct life_pattern *p)
{
    free(p->word);
    free(p->state);
    free(p->rule_file);
    *p = (struct life_pattern){0};
}

/* ---- Reading. -------------------------------------------------------------------------------- */

/* Golly's scripts generate patterns and cannot be read. */
static int refuse_scripts(const struct life_text *t, const char *known)
{
    static const char start[] = "--";
    if ((size_t)(t->end - t->begin) >= strlen(start) &&
        strncmp(t->begin, start, strlen(start)) == 0)
        return clerror_set(EINVAL, "%s: is a script in Lua, not a pattern; %s", t->name, known);
    return 0;
}

/* Find the format by content; NULL after an error. */
static const struct life_format *pattern_recognise(const struct life_text *t)
{
    char list[300], known[350];
    list_readable(list, sizeof list);
    snprintf(known, sizeof known, "patterns are read as %s", list);
    if (unsupported_refuse(t->name, t->begin, (size_t)(t->end - t->begin), known) < 0 ||
        refuse_scripts(t, known) < 0)
        return NULL;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->sniff && formats[i]->sniff(t))
            return formats[i];
    clerror_set(EINVAL, "%s: has no cells: it is empty or has nothing but comments; %s", t->name,
                known);
    return NULL;
}

/* True if a line begins with x, as the header of RLE does. */
static bool has_rle_header(const struct life_text *t)
{
    for (const char *p = t->begin; p < t->end; p = life_text_line_end(t, p) + 1)
        if (*p == 'x')
            return true;
    return false;
}

/* Read for the first time. A text in no format is taken for RLE: if it cannot be RLE, the message
 * says which formats there are. */
static int read_first(const struct life_format *format, const struct life_text *t,
                      struct life_sink *sink)
{
    char list[300], why[600];
    const int status = format->read(t, sink);
    if (status >= 0 || clerrno != EINVAL || format != &life_rle || has_rle_header(t))
        return status;
    list_readable(list, sizeof list);
    snprintf(why, sizeof why, "%s", clerror());
    return clerror_set(EINVAL, "%s; patterns are read as %s", why, list);
}

size_t life_pattern_limit;

static double memory_there_is(void)
{
    const double left = host_memory_left();
    return life_pattern_limit ? fmin((double)life_pattern_limit, left) : left;
}

/* Between the two passes: allocate the bounding box. */
static int pattern_make_room(struct life_sink *s, const char *name)
{
    struct life_pattern *p = s->p;
    if (!s->any)
        return 0;
    p->left = (size_t)s->left;
    p->top = (size_t)s->top;
    p->columns = (size_t)(s->right - s->left);
    p->rows = (size_t)(s->bottom - s->top);
    p->stride = (p->columns + 63) / 64;
    const bool bytewise = s->most > 1;
    const double bytes = (double)p->rows * ((double)p->stride * 8 + bytewise * (double)p->columns),
                 room = memory_there_is();
    p->states = bytewise ? s->most + 1 : 2;
    if (s->tiles) {
        s->tiles->states = bytewise;
        return 0;
    }
    if (bytes <= room) {
        p->word = calloc(p->rows * p->stride, sizeof *p->word);
        p->state = bytewise ? calloc(p->rows, p->columns) : NULL;
    }
    if (!p->word || (bytewise && !p->state))
        return clerror_set(
            ENOMEM,
            "%s: the live cells span %zu x %zu, which takes %.4g MB of memory; there are "
            "%.4g",
            name, p->columns, p->rows, bytes / 1e6, room / 1e6);
    return 0;
}

static int read_unpacked(const struct life_text *t, struct life_pattern *p,
                         struct life_tiles *tiles)
{
    struct life_sink sink = {.p = p};
    memset(p, 0, sizeof *p);
    const struct life_format *format = pattern_recognise(t);
    int status = format ? read_first(format, t, &sink) : -1;
    sink.tiles = p->bounds[0] ? NULL : tiles;
    if (status == 0)
        status = pattern_make_room(&sink, t->name);
    if (status == 0 && sink.any) {
        sink.filling = true;
        status = format->read(t, &sink);
    }
    if (status == 0 && sink.boundless) { /* the pattern's size is its bounding box */
        p->x = sink.left;
        p->y = sink.top;
        p->left = p->top = 0;
        p->width = p->columns;
        p->height = p->rows;
        p->placed = true;
    }
    if (status == 0 && tiles && tiles->full)
        status = clerror_set(
            ENOMEM,
            "%s: its live cells need more tiles of 64 x 64 cells than there is memory for, %.0f MB",
            t->name, tiles->most / 1e6);
    if (status < 0)
        life_pattern_free(p);
    return status;
}

/* True if the text has lines that end in a carriage return alone. */
static bool has_lone_returns(const struct life_text *t)
{
    for (const char *p = t->begin; (p = memchr(p, '\r', (size_t)(t->end - p))); p++)
        if (p + 1 < t->end && p[1] != '\n')
            return true;
    return false;
}

/* Skip a UTF-8 mark, and end lines by newlines; the caller frees *data. */
static int pattern_clean(struct life_text *t, char **data)
{
    static const char mark[] = "\357\273\277";
    if ((size_t)(t->end - t->begin) >= strlen(mark) && memcmp(t->begin, mark, strlen(mark)) == 0)
        t->begin += strlen(mark);
    if (!has_lone_returns(t))
        return 0;
    const size_t size = (size_t)(t->end - t->begin);
    char *copy = malloc(size + 1);
    if (!copy)
        return clerror_set(ENOMEM, "%s: out of memory for %zu bytes", t->name, size);
    for (size_t i = 0; i < size; i++) {
        const bool lone = t->begin[i] == '\r' && (i + 1 == size || t->begin[i + 1] != '\n');
        copy[i] = (char)(lone ? '\n' : t->begin[i]);
    }
    free(*data);
    *data = copy;
    t->begin = copy;
    t->end = copy + size;
    return 0;
}

/* Decompress and clean the text if necessary; the caller frees *data, also after an error. */
static int pattern_unpack(struct life_text *t, char **data)
{
    const size_t packed = (size_t)(t->end - t->begin);
    const bool zip = unzip_is(t->begin, packed);
    size_t size;
    *data = NULL;
    if (zip || gunzip_is(t->begin, packed)) {
        if ((zip ? unzip : gunzip)(t->name, t->begin, packed, memory_there_is(), data, &size) < 0)
            return -1;
        t->begin = *data;
        t->end = *data + size;
    }
    return pattern_clean(t, data);
}

int life_pattern_read_memory(const char *name, const void *data, size_t size,
                             struct life_pattern *p)
{
    const char *begin = size ? data : "";
    struct life_text t = {name, begin, begin + size};
    char *unpacked;
    memset(p, 0, sizeof *p);
    const int status = pattern_unpack(&t, &unpacked) < 0 ? -1 : read_unpacked(&t, p, NULL);
    free(unpacked);
    return status;
}

static int pattern_explain(const char *name, int code)
{
    return code == ENOENT   ? clerror_set(code, "%s: no such file", name)
           : code == EACCES ? clerror_set(code, "%s: no permission to read it", name)
           : code == EISDIR ? clerror_set(code, "%s: is a folder, not a pattern", name)
                            : clerror_set(code, "%s: cannot be read: %s", name, strerror(code));
}

/* Limit for terminals and devices; /dev/zero never ends. */
enum { DEVICE_MOST = 1 << 24 };

/* Read the whole content; the caller frees it; NULL after an error. */
static char *pattern_slurp(FILE *fp, const char *name, size_t *size)
{
    char *data = NULL;
    size_t room = 0;
    struct stat info;
    const int known = fstat(fileno(fp), &info);
    const size_t most = known == 0 && S_ISCHR(info.st_mode) ? DEVICE_MOST : SIZE_MAX;
    *size = 0;
    if (known == 0 && S_ISDIR(info.st_mode)) {
        pattern_explain(name, EISDIR);
        return NULL;
    }
    do {
        if (*size >= most) {
            clerror_set(EFBIG, "%s: is a device that does not end, not a pattern", name);
            free(data);
            return NULL;
        }
        if (*size == room) {
            room = room ? 2 * room : 1 << 16;
            char *more = (double)(room / 2) <= memory_there_is() ? realloc(data, room) : NULL;
            if (!more) {
                clerror_set(ENOMEM, "%s: out of memory for a file of more than %zu bytes", name,
                            *size);
                free(data);
                return NULL;
            }
            data = more;
        }
        *size += fread(data + *size, 1, room - *size, fp);
    } while (!feof(fp) && !ferror(fp));
    if (ferror(fp)) {
        pattern_explain(name, errno);
        free(data);
        return NULL;
    }
    return data;
}

/* Read the text of a file; the caller frees its data. */
static int open_text(const char *file, struct life_text *t, char **data)
{
    const bool standard = strcmp(file, "-") == 0;
    size_t size;
    t->name = standard ? "standard input" : file;
    FILE *fp = standard ? stdin : fopen(file, "rb");
    if (!fp && (errno == ENOENT || errno == ENAMETOOLONG) && life_apgcode_is(file)) {
        *data = NULL;
        t->begin = file;
        t->end = file + strlen(file);
        return 0;
    }
    if (!fp)
        return pattern_explain(t->name, errno);
    *data = pattern_slurp(fp, t->name, &size);
    if (!standard)
        fclose(fp);
    if (!*data)
        return -1;
    t->begin = *data;
    t->end = *data + size;
    char *unpacked;
    const int status = pattern_unpack(t, &unpacked);
    if (unpacked || status < 0) {
        free(*data);
        *data = unpacked;
    }
    return status;
}

int life_pattern_read(const char *file, struct life_pattern *p)
{
    struct life_text t;
    char *data;
    memset(p, 0, sizeof *p);
    if (open_text(file, &t, &data) < 0)
        return -1;
    const int status = read_unpacked(&t, p, NULL);
    free(data);
    return status;
}

static int read_plane(const struct life_text *t, struct life_plane *plane)
{
    struct life_tiles tiles = {.most = memory_there_is()};
    int status = 0;
    if (life_macrocell.sniff(t))
        status = life_macrocell_squares(t, &plane->squares);
    if (status == 0 && (!plane->squares.n || plane->squares.bounds[0])) {
        life_squares_free(&plane->squares);
        status = read_unpacked(t, &plane->p, &tiles);
    }
    if (status == 0) {
        plane->tiles = tiles.n;
        plane->tile = tiles.tile;
        tiles.tile = NULL;
        tiles.n = 0;
    }
    life_tiles_free(&tiles);
    return status;
}

int life_plane_read(const char *file, struct life_plane *plane)
{
    struct life_text t;
    char *data;
    memset(plane, 0, sizeof *plane);
    if (open_text(file, &t, &data) < 0)
        return -1;
    const int status = read_plane(&t, plane);
    free(data);
    return status;
}

int life_plane_read_memory(const char *name, const void *data, size_t size,
                           struct life_plane *plane)
{
    const char *begin = size ? data : "";
    struct life_text t = {name, begin, begin + size};
    char *unpacked;
    memset(plane, 0, sizeof *plane);
    const int status = pattern_unpack(&t, &unpacked) < 0 ? -1 : read_plane(&t, plane);
    free(unpacked);
    return status;
}

void life_plane_free(struct life_plane *plane)
{
    life_squares_free(&plane->squares);
    life_pattern_free(&plane->p);
    for (size_t i = 0; i < plane->tiles; i++)
        free(plane->tile[i].state);
    free(plane->tile);
    *plane = (struct life_plane){.tiles = 0};
}

/* ---- Writing. -------------------------------------------------------------------------------- */

const char *life_format_of(const char *file)
{
    const struct life_format *format = pattern_find(file, NULL);
    return format ? format->label.name : NULL;
}

int life_pattern_write(const char *file, const struct life_pattern *p, const char *name)
{
    struct outfile out;
    const struct life_format *format = pattern_find(file, name);
    if (format && p->states > 2 && format != &life_rle && format != &life_macrocell &&
        format != &life_png)
        return clerror_set(
            ENOTSUP,
            "%s: %s has no more than two states, and the cells have %u; write RLE, .rle, or macrocells, .mc",
            file, format->label.title, p->states);
    assert(!p->runs || (format != &life_macrocell && format != &life_png));
    if (!format || outfile_open(&out, file) < 0)
        return -1;
    FILE *plain = gzip_begin(&out);
    const bool written = plain && format->write(&out, p) == 0 && !(p->band && p->band->failed);
    if (plain)
        gzip_end(&out, plain);
    if (written)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}
