/* recording.h - writing and replaying recordings.
 * SPDX-License-Identifier: MIT
 */
#ifndef VIEW_RECORDING_H
#define VIEW_RECORDING_H

#include "view/messages.h"

/* ---- record.c ---- */

struct recording;
struct recording *recording_open(const struct about *about);
/* Append a record. After a failure nothing more is written, and recording_close reports it. */
void recording_text(struct recording *r, const char *text);
void recording_frame(struct recording *r, const struct shown *shown, enum kind kind,
                     struct frame_box *box);
void recording_rows(struct recording *r, const struct rows *rows);
bool recording_failed(const struct recording *r);
int recording_close(struct recording *r);

/* ---- decode.c ---- */

/* Decode a frame to coding 0; `was`: the two frames before it, the newer first. False: the frame
 * is damaged. */
bool frame_decode(struct bytes *out, const struct span *frame, const struct bytes was[2]);
/* True if decoding needs the frames before. */
bool frame_is_difference(const struct span *frame);

/* Open a recording in memory, which the caller keeps. */
view_recording *recording_read(const void *bytes, size_t size);
/* A decoded picture; NULL with EINVAL: damaged. Valid until the next call. */
const struct bytes *recording_picture(view_recording *r, size_t frame);
/* The message of the distributions that a frame shows, to be freed; NULL: none, the message of the
 * last call, or damaged. *shown: its number in the recording, 0 before the first call. */
char *recording_profiles(view_recording *r, size_t frame, size_t *shown);
/* Columns of the plots; all rows in order, NAN in the columns of the other recording. The rows of
 * an overlaid recording come last. */
size_t recording_columns(const view_recording *r);
void recording_each_row(view_recording *r, void (*take)(void *arg, const double *row), void *arg);
json_t *recording_hello(const view_recording *r);

#endif
