/* slices.c - slices of the bodies: each rank passes and receives a range of bodies only.
 *
 *   rank             0          1         2
 *   slices      |---------|---------|---------|     bodies in the caller's order
 *   rows        |------|------------|---------|     bodies in storage order, by device
 *
 * Bodies travel directly to the rank that needs them (route.c).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

/* Message tag, beyond the tags of allgather.c, exchange.c and route.c. */
enum { TAG_IN_TURN = 9000 };

/* ---- Slices. --------------------------------------------------------------------------------- */

/* EINVAL unless the slices follow one another and are all bodies. */
static int slices_check_order(const char *call, size_t n, int ranks, const uint64_t (*each)[2],
                              size_t *first)
{
    uint64_t next = 0;
    for (int k = 0; k < ranks; k++) {
        if (each[k][1] == 0 || each[k][0] != next)
            return clerror_set(EINVAL,
                               "%s: rank %d passes %llu bodies from %llu on; slices follow one "
                               "another in the order of ranks, and this one begins at %llu",
                               call, k, (unsigned long long)each[k][1],
                               (unsigned long long)each[k][0], (unsigned long long)next);
        first[k] = next;
        next += each[k][1];
    }
    first[ranks] = n;
    return next == n ? 0
                     : clerror_set(EINVAL, "%s: the slices have %llu bodies in total, not %zu",
                                   call, (unsigned long long)next, n);
}

int nbody_slices_check(stdcl_world *world, const char *call, size_t n, size_t first, size_t count,
                       size_t **firsts)
{
    const int ranks = world_size(world);
    const uint64_t own[2] = {first, count};
    uint64_t(*each)[2] = calloc((size_t)ranks, sizeof *each);
    *firsts = calloc((size_t)ranks + 1, sizeof **firsts);
    int status =
        each && *firsts ? 0 : clerror_set(ENOMEM, "%s: out of memory for %d ranks", call, ranks);
    if (world_reduce_status(world, status) != 0 ||
        world_gather(world, own, sizeof own, each) != 0 ||
        slices_check_order(call, n, ranks, (const uint64_t(*)[2])each, *firsts) != 0) {
        free(*firsts);
        *firsts = NULL;
        status = -1;
    }
    free(each);
    return status;
}

int nbody_slices_open(struct nbody *nb, const struct nbody_options *o)
{
    uint64_t sliced = o->count > 0;
    if (world_size(nb->world) == 1 && (!sliced || (o->first == 0 && o->count == nb->n)))
        return 0;
    if (world_add(nb->world, &sliced, 1) != 0)
        return -1;
    return sliced ? nbody_slices_check(nb->world, "nbody_create", nb->n, o->first, o->count,
                                       &nb->domain.slice)
                  : 0;
}

/* ---- In the order of ranks. ------------------------------------------------------------------ */

static int slices_wait(stdcl_world *world, world_request *request)
{
    return world_wait(world, &request, 1);
}

int nbody_slices_in_turn(stdcl_world *world, void *value, size_t bytes,
                         void (*work)(void *value, void *arg), void *arg)
{
    const int rank = world_rank(world), last = world_size(world) - 1;
    if (rank > 0 &&
        slices_wait(world, world_receive(world, rank - 1, TAG_IN_TURN, value, bytes)) != 0)
        return -1;
    work(value, arg);
    if (rank < last &&
        slices_wait(world, world_send(world, rank + 1, TAG_IN_TURN, value, bytes)) != 0)
        return -1;
    return world_broadcast(world, last, value, bytes);
}
