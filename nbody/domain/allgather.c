/* allgather.c - allgather of positions among the devices of all ranks, for direct sums.
 *
 * Every device holds the positions of all bodies and integrates a range of rows that begins and
 * ends at work-group boundaries. After a step the positions pass through the host: each device
 * downloads its own (nbody_allgather_begin), computes meanwhile, and uploads all other rows
 * (nbody_allgather_finish). The in-order queues synchronise the devices' commands. One hazard
 * remains: the host image of a range must not be overwritten before all other devices have read it.
 * Therefore `ev_upload` is waited for.
 *
 * Ranks exchange their rows between host images in two rounds: in a grid of ranks, first all ranks
 * of a grid row exchange their own rows, then all ranks of a grid column exchange the rows of whole
 * grid rows. Each of M ranks sends 2 (M^1/2 - 1) messages instead of M - 1. Messages travel while
 * the devices compute forces of the bodies that they already have.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

enum { ARRAYS = 3, ROUND = 3 }; /* message tags: index of the array, plus ROUND in round two */

struct allgather {
    size_t nsend, nreceive, nreceive_row; /* receives from this rank's grid row, which come first */
    world_request **receive_request;      /* in flight; they follow the sends */
    world_request *send_request[];
};

int nbody_allgather_open(struct nbody *nb)
{
    const size_t ranks = (size_t)world_size(nb->world), most = ARRAYS * ranks;
    if (ranks == 1)
        return 0;
    struct allgather *const r = calloc(1, sizeof *r + 2 * most * sizeof *r->send_request);
    nb->domain.allgather = r;
    if (!r)
        return clerror_set(ENOMEM, "nbody_create: out of memory for %zu ranks", ranks);
    r->receive_request = r->send_request + most;
    return 0;
}

void nbody_allgather_free(struct nbody *nb)
{
    struct allgather *r = nb->domain.allgather;
    if (!r)
        return;
    world_wait(nb->world, r->send_request, r->nsend);
    nbody_ranks_cancel(nb->world, r->receive_request, &r->nreceive);
    free(r);
}

/* Rows first .. end - 1 of an array that the devices exchange: posm, and velo and acce if the
 * engine has them. Without the array or rows, bytes is 0. */
struct rows {
    char *at;
    size_t bytes;
};

static struct rows rows_of(const struct nbody *nb, int array, size_t first, size_t end)
{
    void *const arrays[ARRAYS] = {nb->particles.posm, nb->particles.velo, nb->particles.acce};
    const size_t row = 4 * nb->real;
    return arrays[array] && first < end
               ? (struct rows){(char *)arrays[array] + first * row, (end - first) * row}
               : (struct rows){NULL, 0};
}

/* ---- Between ranks. -------------------------------------------------------------------------- */

/* Return the number of columns of the most nearly square grid of `ranks` ranks; rank r stands in
 * grid row r / columns. */
static int rank_grid_columns(int ranks)
{
    int columns = (int)sqrt((double)ranks);
    while (ranks % columns)
        columns--;
    return columns;
}

/* Post messages with rows first .. end - 1. */
static int allgather_post(struct nbody *nb, bool send, int rank, int tag, size_t first, size_t end)
{
    struct allgather *r = nb->domain.allgather;
    for (int a = 0; a < ARRAYS; a++) {
        const struct rows b = rows_of(nb, a, first, end);
        if (b.bytes == 0)
            continue;
        world_request *request = send ? world_send(nb->world, rank, tag + a, b.at, b.bytes)
                                      : world_receive(nb->world, rank, tag + a, b.at, b.bytes);
        if (!request)
            return -1;
        if (send)
            r->send_request[r->nsend++] = request;
        else
            r->receive_request[r->nreceive++] = request;
    }
    return 0;
}

/* Post one round of messages. In the first round, the ranks of a grid row exchange the rows of one
 * rank; in the second round, the ranks of a grid column exchange the rows of a grid row. */
static int allgather_post_round(struct nbody *nb, bool send, bool second)
{
    const int size = world_size(nb->world), rank = world_rank(nb->world),
              columns = rank_grid_columns(size), column = rank % columns,
              begin = second ? column : rank - column, end = second ? size : begin + columns,
              span = second ? columns : 1; /* ranks with rows in a message */
    for (int k = begin; k < end; k += span) {
        const size_t *const first = nb->domain.first_row + (send ? rank : k) / span * span;
        if (k != rank &&
            allgather_post(nb, send, k, second ? ROUND : 0, first[0], first[span]) != 0)
            return -1;
    }
    return 0;
}

/* Post the receives. */
static int allgather_receive(struct nbody *nb)
{
    struct allgather *r = nb->domain.allgather;
    if (!r)
        return 0;
    const size_t sent = r->nsend;
    r->nsend = 0;
    nbody_ranks_cancel(nb->world, r->receive_request, &r->nreceive); /* of a failed exchange */
    if (world_wait(nb->world, r->send_request, sent) != 0 ||
        allgather_post_round(nb, false, false) != 0)
        return -1;
    r->nreceive_row = r->nreceive;
    return allgather_post_round(nb, false, true);
}

/* Block until all rows of other ranks have arrived. */
static int allgather_wait_ranks(struct nbody *nb)
{
    struct allgather *r = nb->domain.allgather;
    if (!r)
        return 0;
    world_request **const second = r->receive_request + r->nreceive_row;
    size_t left = r->nreceive - r->nreceive_row;
    r->nreceive = 0;
    if (world_wait(nb->world, r->receive_request, r->nreceive_row) == 0 &&
        allgather_post_round(nb, true, true) == 0)
        return world_wait(nb->world, second, left);
    nbody_ranks_cancel(nb->world, second, &left);
    return -1;
}

/* ---- Between devices and the host. ----------------------------------------------------------- */

/* Enqueue copies of rows first .. end - 1 between the host and a device; *ev: event of the last
 * copy, unless there are no rows. */
static int copy_rows(struct nbody *nb, const struct nbody_device *p, size_t first, size_t end,
                     int direction, cl_event *ev)
{
    for (int a = 0; a < ARRAYS; a++) {
        const struct rows rows = rows_of(nb, a, first, end);
        if (rows.bytes == 0)
            continue;
        *ev = clmsyncn(nb->ctx, p->dev, rows.at, rows.bytes,
                       direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
        if (*ev == (cl_event)-1)
            return *ev = NULL, -1;
    }
    return 0;
}

static int allgather_wait_event(struct nbody *nb, cl_uint dev, cl_event *ev)
{
    cl_event waited = *ev;
    *ev = NULL;
    return waited && clwaitev(nb->ctx, dev, waited, 0) == (cl_event)-1 ? -1 : 0;
}

int nbody_allgather_begin(struct nbody *nb)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (allgather_wait_event(nb, p->dev, &p->ev_upload) != 0)
            return -1;
    if (allgather_receive(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->count && p->count < nb->n &&
            (copy_rows(nb, p, p->first, p->first + p->count, CL_MEM_HOST, &p->ev_download) != 0 ||
             clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* Upload rows first .. end - 1 but for rows own_first .. own_end - 1. */
static int upload_around(struct nbody *nb, struct nbody_device *p, size_t first, size_t own_first,
                         size_t own_end, size_t end)
{
    return copy_rows(nb, p, first, own_first, CL_MEM_DEVICE, &p->ev_upload) == 0
               ? copy_rows(nb, p, own_end, end, CL_MEM_DEVICE, &p->ev_upload)
               : -1;
}

int nbody_allgather_finish(struct nbody *nb)
{
    const size_t first = nbody_ranks_own_first(nb), last = first + nbody_ranks_own_rows(nb);
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (allgather_wait_event(nb, p->dev, &p->ev_download) != 0)
            return -1;
    if (allgather_post_round(nb, true, false) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->count && upload_around(nb, p, first, p->first, p->first + p->count, last) != 0)
            return -1;
    if (allgather_wait_ranks(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->count && upload_around(nb, p, 0, first, last, nb->n) != 0)
            return -1;
    return 0;
}

bool nbody_domain_is_shared(const struct nbody *nb)
{
    return nb->domain.shared_version == nb->particles.version;
}

void nbody_domain_set_shared(struct nbody *nb)
{
    nb->domain.shared_version = nb->particles.version;
}
