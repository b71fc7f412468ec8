/* fuzz_record.c - arbitrary bytes as a recording; for libFuzzer or for driver.c.
 *
 * An accepted recording has pictures; each is complete or rejected with a message, and never
 * larger than its kind allows.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "view/recording.h"

static void take_bytes(void *arg, const double *row)
{
    double *sum = arg;
    *sum += row[0];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double sum = 0;
    view_recording *r = recording_read(data, size);
    if (!r) {
        promise(strlen(clerror()) > 10);
        return 0;
    }
    promise(view_recording_frames(r) > 0);
    for (size_t k = 0; k < view_recording_frames(r) && k < 64; k++) {
        const struct bytes *p = recording_picture(r, k);
        promise(p ? p->used >= FRAME_HEAD && p->at[1] == RAW && p->at[0] >= POINTS &&
                        p->at[0] <= GRID
                  : strlen(clerror()) > 10);
    }
    if (recording_columns(r))
        recording_each_row(r, take_bytes, &sum);
    view_recording_close(r);
    return 0;
}
