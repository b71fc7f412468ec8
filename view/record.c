/* record.c - writes recordings: the frames sent to viewers, in a file with an index at its end
 * (WIRE.md).
 *
 * The server's thread writes to a temporary file, which replaces the named file when the recording
 * is complete; without a picture the named file stays. When a write fails (a full disk), the
 * recording is given up, and the run continues.
 * SPDX-License-Identifier: MIT
 */
#include "view/recording.h"

#include "core/outfile.h"

#include <errno.h>

enum { KEY_EVERY = 64, RECORDED_BODIES = 200000 };

struct recording {
    struct outfile out;
    const struct about *about;
    uint64_t at; /* bytes so far */
    uint32_t pictures;
    uint64_t rows_thinned;
    size_t rows;
    struct bytes index, frame;
    struct quantised *was[2];
    struct previous_cells cells;
    bool failed; /* a write, or out of memory */
};

static void recording_put(struct recording *r, const void *bytes, size_t n)
{
    if (!r->failed && fwrite(bytes, 1, n, r->out.fp) != n)
        r->failed = true;
    r->at += n;
}

static void put_record(struct recording *r, const void *bytes, size_t n)
{
    unsigned char length[4];
    bytes_at(length, n, 4);
    recording_put(r, length, sizeof length);
    recording_put(r, bytes, n);
}

static void recording_free(struct recording *r)
{
    outfile_discard(&r->out);
    for (int i = 0; i < 2; i++)
        quantised_drop(r->was[i]);
    bytes_free(&r->cells.body);
    bytes_free(&r->index);
    bytes_free(&r->frame);
    free(r);
}

static int recording_begin(struct recording *r)
{
    char *hello = hello_text(r->about, false, false);
    if (!hello)
        return clerror_set(ENOMEM, "view_open: out of memory for the recording");
    if (outfile_open(&r->out, r->about->options.record) < 0) {
        free(hello);
        return -1;
    }
    outfile_keep(&r->out); /* an interrupted run has a recording, too */
    recording_put(r, "STDCLVW1", 8);
    put_record(r, hello, strlen(hello));
    free(hello);
    return 0;
}

struct recording *recording_open(const struct about *about)
{
    struct recording *r = calloc(1, sizeof *r);
    if (!r) {
        clerror_set(ENOMEM, "view_open: out of memory for the recording");
        return NULL;
    }
    r->about = about;
    if (recording_begin(r) == 0)
        return r;
    recording_free(r);
    return NULL;
}

void recording_text(struct recording *r, const char *text)
{
    if (text && !r->failed)
        put_record(r, text, strlen(text));
}

/* Start a picture that needs none before it, now and then, so that a player can start there. */
static void recording_forget(struct recording *r)
{
    for (int i = 0; i < 2; i++) {
        quantised_drop(r->was[i]);
        r->was[i] = NULL;
    }
    r->cells.body.used = 0;
}

static bool recording_make(struct recording *r, const struct shown *shown, enum kind kind,
                           struct frame_box *box)
{
    const struct want want = {
        .count = RECORDED_BODIES, .coding = DIFFERENCES_PACKED, .colour = about_recorded(r->about)};
    if (kind == POINTS)
        return frame_points(&r->frame, shown, r->about, &want, box, r->was);
    if (kind == CELLS)
        return frame_cells(&r->frame, shown, 0, DIFFERENCES_PACKED, &r->cells);
    return kind == BARS ? frame_bars(&r->frame, shown) : frame_grid(&r->frame, shown, r->about);
}

void recording_frame(struct recording *r, const struct shown *shown, enum kind kind,
                     struct frame_box *box)
{
    if (r->failed)
        return;
    if (r->pictures++ % KEY_EVERY == 0)
        recording_forget(r);
    r->frame.used = 0;
    bytes_u(&r->index, r->at, 8);
    bytes_f64(&r->index, shown->at.time);
    if (!recording_make(r, shown, kind, box) || r->index.failed)
        r->failed = true;
    else
        put_record(r, r->frame.at, r->frame.used);
}

void recording_rows(struct recording *r, const struct rows *rows)
{
    const bool again = rows->thinned != r->rows_thinned;
    if (r->failed || (!again && rows->n == r->rows))
        return;
    r->frame.used = 0;
    if (frame_rows(&r->frame, rows, again ? 0 : r->rows, again))
        put_record(r, r->frame.at, r->frame.used);
    r->rows = rows->n;
    r->rows_thinned = rows->thinned;
}

bool recording_failed(const struct recording *r)
{
    return r->failed;
}

static void put_index(struct recording *r)
{
    struct bytes b = {0};
    const uint64_t at = r->at;
    bytes_u(&b, 0, 4);
    bytes_u(&b, r->pictures, 4);
    bytes_put(&b, r->index.at, r->index.used);
    put_record(r, b.at, b.used);
    b.used = 0;
    bytes_u(&b, at, 8);
    bytes_put(&b, "STDCLEND", 8);
    recording_put(r, b.at, b.used);
    r->failed |= b.failed;
    bytes_free(&b);
}

int recording_close(struct recording *r)
{
    int status;
    if (!r->failed && r->pictures > 0)
        put_index(r);
    if (outfile_check(&r->out) < 0)
        status = -1;
    else if (r->failed)
        status = clerror_set(ENOMEM, "%s: out of memory for a picture; nothing was written",
                             r->about->options.record);
    else if (r->pictures == 0)
        status = clerror_set(ENODATA, "%s: no picture was shown; nothing was written",
                             r->about->options.record);
    else
        status = outfile_commit(&r->out);
    recording_free(r);
    return status;
}
