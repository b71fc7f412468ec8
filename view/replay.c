/* replay.c - reads recordings: an index of the complete records, and pictures.
 *
 * The index in the file is not trusted. It is rebuilt by walking the records, which reads a few
 * bytes of each, so a truncated file plays up to the cut. Records are read when they are needed,
 * not mapped: another program may truncate the file while it plays.
 * SPDX-License-Identifier: MIT
 */
#include "view/recording.h"

#include "core/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_RECORD = 1 << 28, MOST_TEXT = 1 << 24, RECORD_START = 40 };

struct record {
    uint64_t at; /* position of its first byte after the length */
    size_t size;
    double time;
    bool builds;
};

struct view_recording {
    int fd;             /* -1: `memory` */
    struct span memory; /* not owned */
    uint64_t size;      /* of the file when it was opened */
    json_t *hello;
    struct record *picture, *table, *profile; /* kinds 1 to 4; rows; distributions */
    size_t pictures, tables, profiles, columns;
    view_recording *other; /* overlaid: its rows are shown, too; NULL: none; not owned */
    size_t next;           /* picture after the one in `now`; SIZE_MAX: none */
    struct bytes record;   /* bytes of the record that was read last */
    struct bytes now, was[2];
};

/* ---- Bytes of the file. ---------------------------------------------------------------------- */

/* Read `size` bytes at a position; false if the file does not have as many now. */
static bool recording_fetch(const view_recording *r, uint64_t at, void *to, size_t size)
{
    unsigned char *next = to;
    if (at > r->size || size > r->size - at)
        return false;
    if (r->fd < 0)
        return memcpy(to, r->memory.at + at, size);
    while (size > 0) {
        const ssize_t n = pread(r->fd, next, size, (off_t)at);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        next += n > 0 ? n : 0;
        at += n > 0 ? (uint64_t)n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Read a record into r->record. */
static bool record_fetch(view_recording *r, const struct record *record, struct span *span)
{
    r->record.used = 0;
    r->record.failed = false;
    unsigned char *to = bytes_more(&r->record, record->size);
    *span = (struct span){to, record->size};
    return to && recording_fetch(r, record->at, to, record->size);
}

/* ---- The index. ------------------------------------------------------------------------------ */

static int replay_add(struct record **list, size_t *n, struct record record)
{
    if ((*n & (*n - 1)) == 0) {
        struct record *more = realloc(*list, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "out of memory for an index of the recording");
        *list = more;
    }
    (*list)[(*n)++] = record;
    return 0;
}

static const char PROFILES_START[] = "{\"type\":\"profiles\"";

/* `start`: the first bytes of the record. */
static int take_record(view_recording *r, uint64_t at, size_t size, const struct span *start)
{
    if (size < FRAME_HEAD)
        return 0;
    const struct record record = {at, size, bytes_read_f64(start->at + 8),
                                  frame_is_difference(start)};
    if (size > sizeof PROFILES_START &&
        memcmp(start->at, PROFILES_START, sizeof PROFILES_START - 1) == 0)
        return replay_add(&r->profile, &r->profiles, record);
    if (start->at[0] >= POINTS && start->at[0] <= GRID)
        return replay_add(&r->picture, &r->pictures, record);
    return size >= RECORD_START && start->at[0] == ROWS ? replay_add(&r->table, &r->tables, record)
                                                        : 0;
}

static json_t *fetch_text(view_recording *r, uint64_t at, size_t size)
{
    const struct record record = {.at = at, .size = size};
    struct span span;
    if (size > MOST_TEXT || !record_fetch(r, &record, &span) || span.at[0] != '{')
        return NULL;
    return json_loadb((const char *)span.at, size, 0, NULL);
}

static int walk_records(view_recording *r)
{
    unsigned char start[4 + RECORD_START];
    for (uint64_t at = 8; recording_fetch(r, at, start, 4);) {
        const size_t n = bytes_read(start, 4), few = n < RECORD_START ? n : RECORD_START;
        at += 4;
        if (n == 0 || n > MOST_RECORD || n > r->size - at ||
            !recording_fetch(r, at, start + 4, few) || start[4] == 0)
            return 0; /* the index, or the cut */
        if (!r->hello && !(r->hello = fetch_text(r, at, n)))
            return 0;
        if (take_record(r, at, n, &(struct span){start + 4, few}) < 0)
            return -1;
        at += n;
    }
    return 0;
}

static int make_index(view_recording *r, const char *name)
{
    char magic[8];
    if (!recording_fetch(r, 0, magic, sizeof magic) || memcmp(magic, "STDCLVW1", 8) != 0)
        return clerror_set(EINVAL, "%s: is no recording of stdcl: it does not begin with STDCLVW1",
                           name);
    if (walk_records(r) < 0)
        return -1;
    if (!r->hello)
        return clerror_set(EINVAL, "%s: is no recording, or was cut before anything was kept",
                           name);
    r->columns = json_array_size(json_object_get(json_object_get(r->hello, "rows"), "columns"));
    return r->pictures
               ? 0
               : clerror_set(EINVAL, "%s: has no picture; it was cut before the first", name);
}

/* ---- Opening. -------------------------------------------------------------------------------- */

/* Takes over the descriptor, also on failure. */
static view_recording *replay_begin(struct view_recording begun, const char *name)
{
    view_recording *r = malloc(sizeof *r);
    if (!r) {
        if (begun.fd >= 0)
            close(begun.fd);
        clerror_set(ENOMEM, "%s: out of memory", name);
        return NULL;
    }
    *r = begun;
    if (make_index(r, name) == 0)
        return r;
    view_recording_close(r);
    return NULL;
}

view_recording *recording_read(const void *bytes, size_t size)
{
    return replay_begin(
        (view_recording){.fd = -1, .memory = {bytes, size}, .size = size, .next = SIZE_MAX},
        "recording");
}

view_recording *view_recording_open(const char *file)
{
    struct stat st;
    const int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: opening a pipe would block */
    if (fd < 0) {
        clerror_set(errno, "%s: %s", file, strerror(errno));
        return NULL;
    }
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        return replay_begin(
            (view_recording){.fd = fd, .size = (uint64_t)st.st_size, .next = SIZE_MAX}, file);
    close(fd);
    clerror_set(EINVAL, "%s: is empty or no file that can be read", file);
    return NULL;
}

void view_recording_close(view_recording *r)
{
    if (!r)
        return;
    if (r->fd >= 0)
        close(r->fd);
    json_decref(r->hello);
    free(r->picture);
    free(r->table);
    free(r->profile);
    bytes_free(&r->record);
    bytes_free(&r->now);
    bytes_free(&r->was[0]);
    bytes_free(&r->was[1]);
    free(r);
}

size_t view_recording_frames(const view_recording *r)
{
    if (no_handle(r, __func__))
        return 0;
    return r->pictures;
}

double view_recording_time(const view_recording *r, size_t frame)
{
    if (no_handle(r, __func__))
        return 0;
    return frame < r->pictures ? r->picture[frame].time : 0;
}

/* ---- Playing. -------------------------------------------------------------------------------- */

/* Decode picture `i`; the two before it are decoded. */
static bool step_to(view_recording *r, size_t i)
{
    const struct bytes oldest = r->was[1];
    struct span span;
    r->was[1] = r->was[0];
    r->was[0] = r->now;
    r->now = oldest;
    r->next = i + 1;
    return record_fetch(r, &r->picture[i], &span) && frame_decode(&r->now, &span, r->was);
}

const struct bytes *recording_picture(view_recording *r, size_t frame)
{
    size_t from = frame;
    if (r->next == frame + 1 && r->now.used)
        return &r->now;
    while (from > 0 && r->picture[from].builds)
        from--;
    if (r->next != SIZE_MAX && r->next > from && r->next <= frame)
        from = r->next;
    else
        r->now.used = r->was[0].used = 0; /* pictures of another place */
    for (size_t i = from; i <= frame; i++)
        if (!step_to(r, i)) {
            r->next = SIZE_MAX;
            r->now.used = 0;
            clerror_set(EINVAL, "the recording is damaged or was cut in picture %zu", i);
            return NULL;
        }
    return &r->now;
}

/* True for a list of distributions that a page can draw. */
static bool are_profiles(const json_t *text)
{
    const json_t *list = json_object_get(text, "list"), *profile;
    size_t i;
    if (!json_is_number(json_object_get(text, "time")) || !json_is_array(list) ||
        json_array_size(list) > VIEW_PROFILES)
        return false;
    json_array_foreach(list, i, profile)
    {
        const json_t *edge = json_object_get(profile, "edge"),
                     *value = json_object_get(profile, "value");
        if (!json_is_string(json_object_get(profile, "title")) ||
            !json_is_string(json_object_get(profile, "x")) ||
            !json_is_string(json_object_get(profile, "unit")) || !json_is_array(edge) ||
            !json_is_array(value) || json_array_size(value) > VIEW_PROFILE_BINS ||
            json_array_size(edge) != json_array_size(value) + 1)
            return false;
    }
    return true;
}

char *recording_profiles(view_recording *r, size_t frame, size_t *shown)
{
    size_t k = 0;
    while (k < r->profiles &&
           (frame + 1 >= r->pictures || r->profile[k].at < r->picture[frame + 1].at))
        k++;
    if (k == 0 || k == *shown)
        return NULL;
    *shown = k;
    json_t *text = fetch_text(r, r->profile[k - 1].at, r->profile[k - 1].size);
    char *copy = are_profiles(text) ? strndup((const char *)r->record.at, r->record.used) : NULL;
    json_decref(text);
    return copy;
}

size_t recording_columns(const view_recording *r)
{
    return r->other ? 2 * r->columns - 1 : r->columns;
}

/* The rows of a table; 0: another table, or a damaged one. */
static size_t table_rows(const view_recording *r, const struct span *s)
{
    const size_t count = bytes_read(s->at + 28, 4), columns = bytes_read(s->at + 32, 4),
                 numbers = (s->size - 40) / 8;
    return columns != r->columns || columns == 0 || (s->size - 40) % 8 != 0 ||
                   numbers % columns != 0 || numbers / columns != count ||
                   bytes_read(s->at + 2, 2) & FORGET
               ? 0
               : count;
}

/* Call `take` with each row of a recording, in `row`: the first column, which both recordings
 * share, in row[0], the further columns from row[first] on. */
static void each_row_of(view_recording *r, double *row, size_t first,
                        void (*take)(void *arg, const double *row), void *arg)
{
    for (size_t t = 0; t < r->tables; t++) {
        struct span s;
        if (!record_fetch(r, &r->table[t], &s))
            return;
        const size_t count = table_rows(r, &s);
        for (size_t k = 0; k < count; k++) {
            for (size_t c = 0; c < r->columns; c++)
                row[c ? first + c - 1 : 0] = bytes_read_f64(s.at + 40 + 8 * (k * r->columns + c));
            take(arg, row);
        }
    }
}

void recording_each_row(view_recording *r, void (*take)(void *arg, const double *row), void *arg)
{
    const size_t columns = recording_columns(r);
    double *row = malloc((columns + 1) * sizeof *row);
    if (!row)
        return;
    for (view_recording *of = r; of; of = of == r ? r->other : NULL) {
        for (size_t c = 0; c < columns; c++)
            row[c] = NAN;
        each_row_of(of, row, of == r ? 1 : r->columns, take, arg);
    }
    free(row);
}

/* ---- Two recordings. ------------------------------------------------------------------------- */

static json_t *columns_of(const view_recording *r)
{
    return json_object_get(json_object_get(r->hello, "rows"), "columns");
}

/* The columns but the first, each with the name of its recording. */
static json_t *named_columns(const json_t *columns, const char *name)
{
    json_t *named = json_array();
    for (size_t c = 1; c < json_array_size(columns); c++) {
        json_t *column = json_deep_copy(json_array_get(columns, c));
        json_object_set_new(column, "run", json_string(name));
        json_array_append_new(named, column);
    }
    return named;
}

int view_recording_overlay(view_recording *r, view_recording *other, const char *const name[2])
{
    if (no_handle(r, __func__) || no_handle(other, __func__))
        return -1;
    json_t *const columns = columns_of(r);
    if (r->other || r == other || r->columns < 2 || !json_equal(columns, columns_of(other)))
        return clerror_set(EINVAL, "%s and %s: only recordings with the same plots can be overlaid",
                           name[0], name[1]);
    json_t *own = named_columns(columns, name[0]), *more = named_columns(columns, name[1]),
           *all = json_array();
    const bool made = own && more && all &&
                      json_array_append(all, json_array_get(columns, 0)) == 0 &&
                      json_array_extend(all, own) == 0 && json_array_extend(all, more) == 0 &&
                      json_object_set(json_object_get(r->hello, "rows"), "columns", all) == 0;
    json_decref(own);
    json_decref(more);
    json_decref(all);
    if (!made)
        return clerror_set(ENOMEM, "%s and %s: out of memory", name[0], name[1]);
    r->other = other;
    return 0;
}

static const char *of_hello(const view_recording *r, const char *name)
{
    const char *text = json_string_value(json_object_get(r->hello, name));
    return text ? text : "";
}

const char *view_recording_title(const view_recording *r)
{
    if (no_handle(r, __func__))
        return "";
    return of_hello(r, "title");
}

json_t *recording_hello(const view_recording *r)
{
    return json_deep_copy(r->hello);
}
