/* generation.c - generations of the engines that step rows of the whole grid on the context's
 * first device, in a launch for each slice.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"
#include "life/generation.h"

enum { BACKLOG = 256, DEVICE = 0 }; /* BACKLOG: generations enqueued before the host waits */

int life_rows_wait(life *lf, struct pace *pace)
{
    if (clwait(lf->ctx, DEVICE, CL_ALL_EVENT) == (cl_event)-1)
        return -1;
    pace_waited(pace);
    return 0;
}

int life_rows_generation(life *lf, struct pace *pace, size_t group,
                         int (*start)(life *lf, size_t y, size_t rows))
{
    for (size_t y = 0, rows; y < lf->height; y += rows) {
        const double fit = pace_slice(pace) / (double)lf->width;
        const size_t left = lf->height - y, whole = fit >= (double)left ? left
                                                    : fit < (double)group
                                                        ? group
                                                        : (size_t)fit / group * group;
        rows = whole < left ? whole : left;
        const double cells = (double)rows * (double)lf->width;
        if (!pace_has_room(pace, cells) && (life_rows_wait(lf, pace) < 0 ||
                                            life_call_tell(lf, (double)y / (double)lf->height) < 0))
            return -1;
        if (start(lf, y, rows) < 0)
            return -1;
        pace_started(pace, cells);
        lf->launches++;
    }
    lf->call.done++;
    return 0;
}

int life_rows_advance(life *lf, struct pace *pace, uint64_t generations,
                      int (*generation)(life *lf))
{
    int status = 0;
    for (uint64_t g = 1; g <= generations && status == 0; g++) {
        status = generation(lf);
        if (status == 0 && g % BACKLOG == 0)
            status = life_rows_wait(lf, pace);
    }
    return status;
}
