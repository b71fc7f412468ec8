/* persistent.h - a small torus that stays in a GPU's registers for a whole launch
 * (packed_persistent.c, persistent.cl).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_PERSISTENT_H
#define LIFE_PERSISTENT_H

#include "life/packed.h"

struct persistent {
    int words, rows;       /* of a work-item */
    int warps;             /* tiles of a work-group */
    size_t columns, tiles; /* tiles across; in all */
    cl_ulong *mailbox;     /* halo words, double-buffered by epoch */
    cl_uint *timed_out;    /* 1 after tiles timed out waiting for each other */
    cl_uint epoch;         /* halo exchanges so far */
    cl_uint max_polls;     /* timeout of a tile, in polls of the mailbox */
    void *program;
    cl_kernel step;
};

/* Set p->persistent if the shape asks for it and the start-up test passes; else append the reason
 * to the source of the tuning row. */
int packed_persistent_open(life *lf, const struct cldev_info *info);
void packed_persistent_free(life *lf);

/* Enqueue at most packed_persistent_max_generations() generations. */
int packed_persistent_launch(life *lf, int generations);
int packed_persistent_max_generations(const life *lf);

/* Enqueue the download of `timed_out`; fail if tiles timed out, once it has arrived. */
int packed_persistent_check(life *lf);
int packed_persistent_status(const life *lf);

/* Block until all devices are idle. Fails if a persistent kernel timed out. */
static inline int packed_wait(life *lf)
{
    struct packed *p = lf->state;
    int status = packed_persistent_check(lf);
    for (size_t i = 0; i < p->n; i++) {
        const double began = seconds_now();
        if (life_event_status(clwait(lf->ctx, (cl_uint)i, CL_ALL_EVENT)))
            status = -1;
        else
            pace_waited_after(&p->part[i].pace, seconds_now() - began);
    }
    return status < 0 ? -1 : packed_persistent_status(lf);
}

#endif
