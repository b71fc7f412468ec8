/* ranks.c - partition of the rows among devices and ranks; exchange of positions between ranks.
 *
 * Every rank holds all positions, as every device does, and its devices integrate a contiguous
 * range of rows. After a step the ranks exchange positions between their host images in two rounds:
 * in a grid of ranks, first all ranks of a grid row exchange their own rows, then all ranks of a
 * grid column exchange the ranges of whole grid rows. Each of M ranks sends 2 (M^1/2 - 1) messages
 * instead of M - 1. Messages travel while the devices compute forces of the bodies that they
 * already have.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/ranks.h"

#include <math.h>

struct ranks {
    world_request **send_request, **receive_request; /* in flight */
    size_t nsend, nreceive, nreceive_row; /* receives from this rank's grid row, which come first */
};

enum { ARRAYS = 3, ROUND = 3 }; /* message tags: index of the array, plus ROUND in round two */

/* ---- Partition of the rows. ------------------------------------------------------------------ */

void nbody_ranks_first_rows(const struct nbody *nb, const size_t *first, size_t *first_row)
{
    size_t h = nb->domain.holders;
    for (int rank = world_size(nb->world); rank >= 0; rank--) {
        while (h > 0 && nb->domain.holder[h - 1].rank >= rank)
            h--;
        first_row[rank] = h < nb->domain.holders ? first[h] : nb->n;
    }
}

void nbody_ranks_redivide(struct nbody *nb, const size_t *first)
{
    struct nbody_device *p = nb->device;
    for (size_t h = 0; h < nb->domain.holders; h++) {
        struct holder *const o = &nb->domain.holder[h];
        o->first = first[h];
        o->count = (h + 1 < nb->domain.holders ? first[h + 1] : nb->n) - first[h];
        if (o->rank != world_rank(nb->world))
            continue;
        while (!p->rows)
            p++;
        p->first = o->first;
        p++->count = o->count;
    }
    nbody_ranks_first_rows(nb, first, nb->domain.first_row);
}

size_t nbody_ranks_own_first(const struct nbody *nb)
{
    return nb->domain.first_row[world_rank(nb->world)];
}

size_t nbody_ranks_own_rows(const struct nbody *nb)
{
    return nb->domain.first_row[world_rank(nb->world) + 1] - nbody_ranks_own_first(nb);
}

struct holder *nbody_ranks_holders(const struct nbody *nb, size_t *n)
{
    const size_t bytes = nb->domain.holders * sizeof *nb->domain.holder;
    struct holder *const all = malloc(bytes);
    *n = nb->domain.holders;
    return all ? memcpy(all, nb->domain.holder, bytes) : NULL;
}

int nbody_ranks_open(struct nbody *nb)
{
    const size_t ranks = (size_t)world_size(nb->world);
    struct ranks *const r = ranks > 1 ? calloc(1, sizeof *r) : NULL;
    nb->domain.ranks = r;
    if (r) {
        r->send_request = calloc(ARRAYS * ranks, sizeof *r->send_request);
        r->receive_request = calloc(ARRAYS * ranks, sizeof *r->receive_request);
    }
    return ranks == 1 || (r && r->send_request && r->receive_request)
               ? 0
               : clerror_set(ENOMEM, "nbody_create: out of memory for %zu ranks", ranks);
}

void nbody_ranks_cancel(stdcl_world *world, world_request *const *request, size_t *n)
{
    for (; *n > 0; (*n)--) /* after a failed request, here NULL, world_wait cancels the next one */
        world_wait(world, (world_request *[]){NULL, request[*n - 1]}, 2);
}

void nbody_ranks_free(struct nbody *nb)
{
    struct ranks *r = nb->domain.ranks;
    free(nb->domain.holder);
    free(nb->domain.first_row);
    if (!r)
        return;
    if (r->send_request)
        world_wait(nb->world, r->send_request, r->nsend);
    nbody_ranks_cancel(nb->world, r->receive_request, &r->nreceive);
    free(r->send_request);
    free(r->receive_request);
    free(r);
}

/* ---- Exchange of positions. ------------------------------------------------------------------ */

/* Return the number of columns of the most nearly square grid of `ranks` ranks; rank r stands in
 * grid row r / columns. */
static int rank_grid_columns(int ranks)
{
    int columns = (int)sqrt((double)ranks);
    while (ranks % columns)
        columns--;
    return columns;
}

/* Post messages with rows first .. end - 1 of posm, and of velo and acce if the engine has them. */
static int ranks_post(struct nbody *nb, bool send, int rank, int tag, size_t first, size_t end)
{
    struct ranks *r = nb->domain.ranks;
    void *const arrays[ARRAYS] = {nb->particles.posm, nb->particles.velo, nb->particles.acce};
    const size_t row = 4 * nb->real, bytes = (end - first) * row;
    for (int a = 0; a < ARRAYS && arrays[a] && bytes; a++) {
        char *at = (char *)arrays[a] + first * row;
        world_request *request = send ? world_send(nb->world, rank, tag + a, at, bytes)
                                      : world_receive(nb->world, rank, tag + a, at, bytes);
        if (!request)
            return -1;
        if (send)
            r->send_request[r->nsend++] = request;
        else
            r->receive_request[r->nreceive++] = request;
    }
    return 0;
}

/* Post one round of messages: with all other ranks of this rank's grid row, which have their own
 * rows; second: of its grid column, which have the rows of their whole grid row. */
static int ranks_exchange_round(struct nbody *nb, bool send, bool second)
{
    const int size = world_size(nb->world), rank = world_rank(nb->world),
              columns = rank_grid_columns(size), column = rank % columns,
              begin = second ? column : rank - column, end = second ? size : begin + columns,
              span = second ? columns : 1; /* ranks whose rows are in a message */
    for (int k = begin; k < end; k += span) {
        const size_t *const first = nb->domain.first_row + (send ? rank : k) / span * span;
        if (k != rank && ranks_post(nb, send, k, second ? ROUND : 0, first[0], first[span]) != 0)
            return -1;
    }
    return 0;
}

int nbody_ranks_receive(struct nbody *nb)
{
    struct ranks *r = nb->domain.ranks;
    if (!r)
        return 0;
    const size_t sent = r->nsend;
    r->nsend = 0;
    nbody_ranks_cancel(nb->world, r->receive_request, &r->nreceive); /* of a failed exchange */
    if (world_wait(nb->world, r->send_request, sent) != 0 ||
        ranks_exchange_round(nb, false, false) != 0)
        return -1;
    r->nreceive_row = r->nreceive;
    return ranks_exchange_round(nb, false, true);
}

int nbody_ranks_send(struct nbody *nb)
{
    return nb->domain.ranks ? ranks_exchange_round(nb, true, false) : 0;
}

int nbody_ranks_finish(struct nbody *nb)
{
    struct ranks *r = nb->domain.ranks;
    if (!r)
        return 0;
    world_request **const second = r->receive_request + r->nreceive_row;
    size_t left = r->nreceive - r->nreceive_row;
    r->nreceive = 0;
    if (world_wait(nb->world, r->receive_request, r->nreceive_row) == 0 &&
        ranks_exchange_round(nb, true, true) == 0)
        return world_wait(nb->world, second, left);
    nbody_ranks_cancel(nb->world, second, &left);
    return -1;
}

size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device *other)
{
    if (!nb->domain.ranks)
        return 0;
    const size_t first = nbody_ranks_own_first(nb), end = first + nbody_ranks_own_rows(nb);
    other[0] = (struct nbody_device){.first = 0, .rows = first};
    other[1] = (struct nbody_device){.first = end, .rows = nb->n - end};
    return 2;
}

/* ---- Results. -------------------------------------------------------------------------------- */

int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes)
{
    const size_t *const first = nb->domain.first_row;
    for (int k = 0; k < world_size(nb->world); k++)
        if (first[k + 1] > first[k] &&
            world_broadcast(nb->world, k, (char *)rows + first[k] * bytes,
                            (first[k + 1] - first[k]) * bytes) != 0)
            return -1;
    return 0;
}

static void join_words(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        ((cl_uint *)a)[k] |= ((const cl_uint *)b)[k];
}

int nbody_ranks_reduce_or(const struct nbody *nb, cl_uint *words, size_t n)
{
    return world_reduce(nb->world, words, n * sizeof *words, join_words, &n);
}

static void join_asked(void *a, const void *b, void *arg)
{
    struct nbody_asked *one = a;
    const struct nbody_asked *two = b;
    (void)arg;
    one->steps = two->steps < one->steps ? two->steps : one->steps;
    one->bad = two->bad < one->bad ? two->bad : one->bad;
    one->stop |= two->stop;
}

int nbody_ranks_ask(const struct nbody *nb, struct nbody_asked *asked)
{
    return world_reduce(nb->world, asked, sizeof *asked, join_asked, NULL);
}
