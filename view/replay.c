/* replay.c - reads recordings: an index of the complete records, and pictures.
 *
 * The index in the file is not trusted. It is rebuilt by walking the records, which reads a few
 * bytes of each, so a truncated file plays up to the cut.
 * SPDX-License-Identifier: MIT
 */
#include "view/recording.h"

#include "core/handle.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_RECORD = 1 << 28 };

struct record {
    struct span span;
    bool builds;
};

struct view_recording {
    struct span file;
    bool mapped;
    json_t *hello;
    struct record *picture, *table; /* kinds 1 to 4; rows */
    size_t pictures, tables, columns;
    size_t next; /* picture after the one in `now`; SIZE_MAX: none */
    struct bytes now, was[2];
};

static double replay_time_of(const struct record *r)
{
    return bytes_read_f64(r->span.at + 8);
}

/* ---- The index. ------------------------------------------------------------------------------ */

static int replay_add(struct record **list, size_t *n, struct span span)
{
    if ((*n & (*n - 1)) == 0) {
        struct record *more = realloc(*list, (*n ? 2 * *n : 1) * sizeof *more);
        if (!more)
            return clerror_set(ENOMEM, "out of memory for an index of the recording");
        *list = more;
    }
    (*list)[(*n)++] = (struct record){span, frame_is_difference(&span)};
    return 0;
}

static int take_record(view_recording *r, struct span s)
{
    if (s.size >= FRAME_HEAD && s.at[0] >= POINTS && s.at[0] <= GRID)
        return replay_add(&r->picture, &r->pictures, s);
    return s.size >= 40 && s.at[0] == ROWS ? replay_add(&r->table, &r->tables, s) : 0;
}

static int make_index(view_recording *r, const char *name)
{
    const unsigned char *p = r->file.at + 8, *const end = r->file.at + r->file.size;
    for (size_t n = 0; (size_t)(end - p) >= 4; p += 4 + n) {
        n = bytes_read(p, 4);
        if (n == 0 || n > MOST_RECORD || (size_t)(end - p) - 4 < n || p[4] == 0)
            break; /* the index, or the cut */
        if (!r->hello) {
            r->hello = p[4] == '{' ? json_loadb((const char *)p + 4, n, 0, NULL) : NULL;
            if (!r->hello)
                break;
        } else if (take_record(r, (struct span){p + 4, n}) < 0)
            return -1;
    }
    if (!r->hello)
        return clerror_set(EINVAL, "%s: is no recording, or was cut before anything was kept",
                           name);
    r->columns = json_array_size(json_object_get(json_object_get(r->hello, "rows"), "columns"));
    return r->pictures
               ? 0
               : clerror_set(EINVAL, "%s: has no picture; it was cut before the first", name);
}

/* ---- Opening. -------------------------------------------------------------------------------- */

static view_recording *replay_begin(struct span file, const char *name)
{
    view_recording *r = calloc(1, sizeof *r);
    if (!r) {
        clerror_set(ENOMEM, "%s: out of memory", name);
        return NULL;
    }
    r->file = file;
    r->next = SIZE_MAX;
    if (file.size < 8 || memcmp(file.at, "STDCLVW1", 8) != 0)
        clerror_set(EINVAL, "%s: is no recording of stdcl: it does not begin with STDCLVW1", name);
    else if (make_index(r, name) == 0)
        return r;
    view_recording_close(r);
    return NULL;
}

view_recording *recording_read(const void *bytes, size_t size)
{
    return replay_begin((struct span){bytes, size}, "recording");
}

view_recording *view_recording_open(const char *file)
{
    struct stat st;
    const int fd =
        open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: opening a pipe would block */
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    const int error = fd < 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED) {
        clerror_set(error ? error : EINVAL, "%s: %s", file,
                    error ? strerror(error) : "is empty or no file that can be read");
        return NULL;
    }
    view_recording *r = replay_begin((struct span){bytes, (size_t)st.st_size}, file);
    if (r)
        r->mapped = true;
    else
        munmap(bytes, (size_t)st.st_size);
    return r;
}

void view_recording_close(view_recording *r)
{
    if (!r)
        return;
    if (r->mapped)
        munmap((void *)(uintptr_t)r->file.at, r->file.size);
    json_decref(r->hello);
    free(r->picture);
    free(r->table);
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
    return frame < r->pictures ? replay_time_of(&r->picture[frame]) : 0;
}

/* ---- Playing. -------------------------------------------------------------------------------- */

/* Decode picture `i`; the two before it are decoded. */
static bool step_to(view_recording *r, size_t i)
{
    const struct bytes oldest = r->was[1];
    r->was[1] = r->was[0];
    r->was[0] = r->now;
    r->now = oldest;
    r->next = i + 1;
    return frame_decode(&r->now, &r->picture[i].span, r->was);
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
    for (size_t i = from; i <= frame; i++)
        if (!step_to(r, i)) {
            r->next = SIZE_MAX;
            r->now.used = 0;
            clerror_set(EINVAL, "the recording is damaged in picture %zu", i);
            return NULL;
        }
    return &r->now;
}

size_t recording_columns(const view_recording *r)
{
    return r->columns;
}

/* Call `take` for each row in order. */
void recording_each_row(const view_recording *r, void (*take)(void *arg, const double *row),
                        void *arg)
{
    double *row = calloc(r->columns + 1, sizeof *row);
    for (size_t t = 0; row && t < r->tables; t++) {
        const struct span *s = &r->table[t].span;
        const size_t count = bytes_read(s->at + 28, 4), columns = bytes_read(s->at + 32, 4);
        if (columns != r->columns || s->size != 40 + 8 * (uint64_t)count * columns ||
            bytes_read(s->at + 2, 2) & FORGET)
            continue;
        for (size_t k = 0; k < count; k++) {
            for (size_t c = 0; c < columns; c++)
                row[c] = bytes_read_f64(s->at + 40 + 8 * (k * columns + c));
            take(arg, row);
        }
    }
    free(row);
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
