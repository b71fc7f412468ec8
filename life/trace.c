/* trace.c - population and hash of each of n generations, for engines on devices. Steps and counts
 * of many generations are enqueued before the host waits.
 * SPDX-License-Identifier: MIT
 */
#include "life/counting.h"
#include "life/engine.h"

#include "core/progress.h"

#include <errno.h>

int life_trace_slots(life *lf, const struct life_counting *by, size_t n, struct life_sample *sample)
{
    if (!n)
        return by->count(lf, 0) < 0 ? -1 : by->collect(lf, 1, sample);
    for (size_t done = 0; done < n;) {
        const size_t slots = n - done < LIFE_SLOTS ? n - done : LIFE_SLOTS;
        for (size_t slot = 0; slot < slots; slot++)
            if (by->advance(lf, 1) < 0 || by->count(lf, slot) < 0) {
                const bool stopped = clerrno == ECANCELED;
                for (cl_uint dev = 0; dev < clgetndev(lf->ctx); dev++)
                    clwait(lf->ctx, dev, CL_ALL_EVENT);
                if (!stopped || (slot > 0 && by->collect(lf, slot, sample + done) < 0))
                    return -1;
                return progress_cancelled("life_trace");
            }
        if (by->collect(lf, slots, sample + done) < 0)
            return -1;
        done += slots;
    }
    return 0;
}

void life_sample_add(struct life_sample *sample, const uint64_t *sums, size_t groups)
{
    for (size_t g = 0; g < groups; g++) {
        sample->population += sums[2 * g];
        sample->hash += sums[2 * g + 1];
    }
}
