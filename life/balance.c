/* balance.c - load balancing: divide the rows again by the ranks' speeds, create a new engine
 * and move the cells to the ranks that have their rows.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/handle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_ROWS = 4 };

struct run { /* a run of rows */
    uint64_t first, rows;
};

/* Intersect two runs of rows. */
static struct run run_intersect(struct run a, struct run b)
{
    const uint64_t first = a.first > b.first ? a.first : b.first;
    const uint64_t end = a.first + a.rows < b.first + b.rows ? a.first + a.rows : b.first + b.rows;
    return (struct run){first, end > first ? end - first : 0};
}

/* Send the rows that this rank had to the ranks that have them now, and receive this rank's rows.
 * Ranks in one column of blocks have the same words of a row. */
static int transfer_rows(const life *lf, const struct run (*cut)[2], const uint64_t *had,
                         uint64_t *get)
{
    const struct packed *p = lf->state;
    const size_t own = (size_t)world_rank(lf->world), words = lf->own;
    const struct run mine_then = cut[own][0], mine_now = cut[own][1];
    world_request **mail = calloc(2 * p->down, sizeof *mail);
    size_t n = 0;
    if (world_reduce_status(
            lf->world,
            mail ? 0 : clerror_set(ENOMEM, "life: out of memory for the transfer of rows")) != 0)
        return free(mail), -1;
    for (size_t k = 0; k < p->down; k++) {
        const size_t peer = k * p->across + own % p->across;
        const struct run out = run_intersect(mine_then, cut[peer][1]),
                         in = run_intersect(cut[peer][0], mine_now);
        const uint64_t *from = had + (out.first - mine_then.first) * words;
        uint64_t *to = get + (in.first - mine_now.first) * words;
        if (peer == own) {
            memcpy(to, from, in.rows * words * sizeof *to);
            continue;
        }
        if (in.rows)
            mail[n++] =
                world_receive(lf->world, (int)peer, TAG_ROWS, to, in.rows * words * sizeof *to);
        if (out.rows)
            mail[n++] =
                world_send(lf->world, (int)peer, TAG_ROWS, from, out.rows * words * sizeof *from);
    }
    const int status = world_wait(lf->world, mail, n);
    free(mail);
    return status;
}

/* Store the cells `had` of the rows `then` in the new engine. */
static int restore_rows(life *lf, struct run then, const uint64_t *had)
{
    const struct run own[2] = {then, {lf->first, lf->rows}};
    struct run(*cut)[2] = calloc((size_t)world_size(lf->world), sizeof *cut);
    uint64_t *get = malloc(lf->rows * lf->own * sizeof *get);
    int status = world_reduce_status(
        lf->world,
        cut && get ? 0 : clerror_set(ENOMEM, "life: out of memory for %zu rows", lf->rows));
    if (status == 0 && world_gather(lf->world, own, sizeof own, cut) == 0)
        status = transfer_rows(lf, (const struct run(*)[2])cut, had, get);
    for (size_t y = 0; y < lf->rows && status == 0; y++)
        memcpy(lf->backend->row(lf, lf->first + y), get + y * lf->own, lf->own * sizeof *get);
    free(cut);
    free(get);
    return status;
}

int life_set_weight(life *lf, double weight)
{
    if (no_handle(lf, __func__))
        return -1;
    const struct run then = {lf->first, lf->rows};
    if (!isfinite(weight) || weight <= 0)
        return clerror_set(EINVAL, "life_set_weight: weight %g is not a number > 0", weight);
    if (world_size(lf->world) == 1 || lf->backend != &life_packed_backend)
        return 0;
    uint64_t *rows = malloc(lf->rows * lf->own * sizeof *rows);
    int status = rows
                     ? life_to_host(lf)
                     : clerror_set(ENOMEM, "life_set_weight: out of memory for %zu rows", lf->rows);
    if (world_reduce_status(lf->world, status) != 0)
        return free(rows), -1;
    for (size_t y = 0; y < lf->rows; y++)
        memcpy(rows + y * lf->own, lf->backend->row(lf, lf->first + y), lf->own * sizeof *rows);
    lf->backend->free(lf);
    lf->weight = weight;
    status = world_reduce_status(
        lf->world, lf->backend->create(lf, &(struct life_options){.shape = lf->shape}));
    if (status == 0)
        status = restore_rows(lf, then, rows);
    free(rows);
    lf->host_stale = false;
    lf->device_stale = true;
    return status;
}
