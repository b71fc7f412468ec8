/* ranks.c - partition of the rows among devices and ranks; results of all ranks.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

/* ---- Partition of the rows. ------------------------------------------------------------------ */

void nbody_ranks_first_rows(const struct nbody *nb, const size_t *first, size_t *first_row)
{
    size_t h = nb->domain.holders;
    for (int rank = world_size(nb->world); rank >= 0; rank--) {
        while (h > 0 && nb->domain.holder[h - 1].rank >= rank)
            h--;
        first_row[rank] = first[h];
    }
}

void nbody_ranks_redivide(struct nbody *nb, const size_t *first)
{
    struct nbody_device *p = nb->device;
    for (size_t h = 0; h < nb->domain.holders; h++) {
        struct holder *const o = &nb->domain.holder[h];
        o->first = first[h];
        o->count = first[h + 1] - first[h];
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

void nbody_ranks_free(struct nbody *nb)
{
    free(nb->domain.holder);
    free(nb->domain.first_row);
    free(nb->domain.slice);
}

/* ---- Messages and results. ------------------------------------------------------------------- */

void nbody_ranks_cancel(stdcl_world *world, world_request *const *request, size_t *n)
{
    for (; *n > 0; (*n)--) /* after a failed request, here NULL, world_wait cancels the next one */
        world_wait(world, (world_request *[]){NULL, request[*n - 1]}, 2);
}

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

static void join_min(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        if (((const int64_t *)b)[k] < ((int64_t *)a)[k])
            ((int64_t *)a)[k] = ((const int64_t *)b)[k];
}

int nbody_ranks_min(const struct nbody *nb, int64_t *numbers, size_t n)
{
    return world_reduce(nb->world, numbers, n * sizeof *numbers, join_min, &n);
}
