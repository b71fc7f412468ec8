/* route.c - numbers of bodies to the ranks that need them.
 *
 *   this rank's entries, by destination     begin[]   |--- rank 0 ---|- rank 1 -|--- rank 2 ---|
 *   arrivals at this rank, by source        came[]    |- rank 0 -|--- rank 1 ---|--- rank 2 ---|
 *
 * Ranks exchange in rounds: in round s a rank sends to rank + s and receives from rank - s. Memory
 * is proportional to this rank's entries and arrivals.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "nbody/particles/body_blocks.h"

/* Message tags, beyond the tags of allgather.c, exchange.c and slices.c. */
enum { TAG_COUNT = 9001, TAG_VALUES };

static int route_no_memory(size_t count)
{
    return clerror_set(ENOMEM, "nbody: out of memory to exchange %zu bodies", count);
}

int nbody_route_open(const struct nbody *nb, struct route *r, size_t count)
{
    const size_t ranks = (size_t)world_size(nb->world);
    *r = (struct route){.begin = calloc(ranks + 1, sizeof *r->begin),
                        .came = calloc(ranks + 1, sizeof *r->came)};
    for (size_t k = (size_t)world_rank(nb->world) + 1; r->begin && r->came && k <= ranks; k++)
        r->begin[k] = r->came[k] = count;
    return r->begin && r->came ? 0 : route_no_memory(count);
}

void nbody_route_free(struct route *r)
{
    free(r->begin);
    free(r->came);
    free(r->memory[0]);
    free(r->memory[1]);
    *r = (struct route){.begin = NULL};
}

/* Send bytes to one rank while bytes from another one arrive. Zero bytes are no message. Blocks. */
static int route_sendrecv(const struct nbody *nb, int tag, int to, const void *out, size_t sent,
                          int from, void *in, size_t came)
{
    world_request *request[2];
    size_t n = 0;
    if (came)
        request[n++] = world_receive(nb->world, from, tag, in, came);
    if (sent)
        request[n++] = world_send(nb->world, to, tag, out, sent);
    return world_wait(nb->world, request, n);
}

/* ---- Move. ----------------------------------------------------------------------------------- */

/* Copy elements: element place[came + k] of `to` is element order[sent + k] of `from`. A list that
 * is NULL is the identity. */
struct route_copy {
    const cl_uint *order, *place;
    size_t sent, came, bytes;
    const char *from;
    char *to;
};

/* With a constant size, memcpy compiles to a load and a store. */
static inline void route_copy_elements(const struct route_copy *c, size_t first, size_t end,
                                       size_t bytes)
{
    for (size_t k = first; k < end; k++) {
        const size_t from = c->order ? c->order[c->sent + k] : c->sent + k,
                     to = c->place ? c->place[c->came + k] : c->came + k;
        memcpy(c->to + to * bytes, c->from + from * bytes, bytes);
    }
}

static void route_copy_block(void *job, size_t block, size_t first, size_t end)
{
    const struct route_copy *c = job;
    (void)block;
    if (c->bytes == 4)
        route_copy_elements(c, first, end, 4);
    else if (c->bytes == 8)
        route_copy_elements(c, first, end, 8);
    else
        route_copy_elements(c, first, end, c->bytes);
}

static size_t route_part(const size_t *begin, int rank)
{
    return begin[rank + 1] - begin[rank];
}

static size_t largest_other_part(const struct nbody *nb, const size_t *begin)
{
    size_t most = 0;
    for (int k = 0; k < world_size(nb->world); k++)
        if (k != world_rank(nb->world) && route_part(begin, k) > most)
            most = route_part(begin, k);
    return most;
}

/* Copies of messages; NULL if they are sent from, or received at, their places. */
struct messages {
    char *sent, *came;
};

static int route_run_round(const struct nbody *nb, const struct route *r,
                           const struct messages *copy, const struct route_copy *all, int to,
                           int from)
{
    const size_t bytes = all->bytes, sent = route_part(r->begin, to),
                 came = route_part(r->came, from);
    const char *out = copy->sent ? copy->sent : all->from + r->begin[to] * bytes;
    char *in = copy->came ? copy->came : all->to + r->came[from] * bytes;
    if (copy->sent)
        nbody_each_block(sent, route_copy_block,
                         &(struct route_copy){.order = r->order,
                                              .sent = r->begin[to],
                                              .bytes = bytes,
                                              .from = all->from,
                                              .to = copy->sent});
    if (route_sendrecv(nb, TAG_VALUES, to, out, sent * bytes, from, in, came * bytes) != 0)
        return -1;
    if (copy->came)
        nbody_each_block(came, route_copy_block,
                         &(struct route_copy){.place = r->place,
                                              .came = r->came[from],
                                              .bytes = bytes,
                                              .from = copy->came,
                                              .to = all->to});
    return 0;
}

int nbody_route_move(const struct nbody *nb, const struct route *r, size_t bytes, const void *from,
                     void *to)
{
    const int ranks = world_size(nb->world), rank = world_rank(nb->world);
    struct route_copy own = {r->order, r->place, r->begin[rank], r->came[rank], bytes, from, to};
    const size_t sent = r->order ? largest_other_part(nb, r->begin) : 0,
                 came = r->place ? largest_other_part(nb, r->came) : 0;
    const struct messages copy = {sent ? malloc(sent * bytes) : NULL,
                                  came ? malloc(came * bytes) : NULL};
    int status =
        (copy.sent || !sent) && (copy.came || !came) ? 0 : route_no_memory(r->begin[ranks]);
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        nbody_each_block(route_part(r->begin, rank), route_copy_block, &own);
    for (int s = 1; status == 0 && s < ranks; s++)
        status =
            route_run_round(nb, r, &copy, &own, (rank + s) % ranks, (rank + ranks - s) % ranks);
    free(copy.sent);
    free(copy.came);
    return status;
}

/* ---- Make. ----------------------------------------------------------------------------------- */

int nbody_route_exchange_counts(const struct nbody *nb, struct route *r)
{
    const int ranks = world_size(nb->world), rank = world_rank(nb->world);
    for (int s = 0; s < ranks; s++) {
        const int to = (rank + s) % ranks, from = (rank + ranks - s) % ranks;
        const uint64_t sent = route_part(r->begin, to);
        uint64_t came = sent;
        if (s && route_sendrecv(nb, TAG_COUNT, to, &sent, sizeof sent, from, &came, sizeof came))
            return -1;
        r->came[from + 1] = (size_t)came;
    }
    for (int k = 0; k < ranks; k++)
        r->came[k + 1] += r->came[k];
    return 0;
}

/* Return the rank of a partition that has a number. */
static int route_destination(int ranks, const size_t *first, size_t number)
{
    int low = 0, high = ranks;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        *(first[middle] <= number ? &low : &high) = middle;
    }
    return low;
}

/* Order the entries by destination: a counting sort. */
static void route_sort(const struct nbody *nb, struct route *r, size_t count, const cl_uint *number,
                       const size_t *first)
{
    const int ranks = world_size(nb->world);
    memset(r->begin, 0, ((size_t)ranks + 1) * sizeof *r->begin);
    for (size_t k = 0; k < count; k++)
        r->begin[route_destination(ranks, first, number[k]) + 1]++;
    for (int k = 0; k < ranks; k++)
        r->begin[k + 1] += r->begin[k];
    for (size_t k = count; k-- > 0;)
        r->memory[0][--r->begin[route_destination(ranks, first, number[k]) + 1]] = (cl_uint)k;
    memmove(r->begin, r->begin + 1, (size_t)ranks * sizeof *r->begin);
    r->begin[ranks] = count;
}

int nbody_route_ranges(const struct nbody *nb, struct route *r, size_t base, size_t count,
                       const size_t *first)
{
    const int ranks = world_size(nb->world);
    if (world_reduce_status(nb->world, nbody_route_open(nb, r, count)) != 0)
        return -1;
    for (int k = 0; k < ranks; k++)
        r->begin[k] = first[k] <= base ? 0 : first[k] - base < count ? first[k] - base : count;
    r->begin[ranks] = count;
    return nbody_route_exchange_counts(nb, r);
}

int nbody_route_numbers(const struct nbody *nb, struct route *r, size_t count,
                        const cl_uint *number, const size_t *first)
{
    const int ranks = world_size(nb->world);
    int status = nbody_route_open(nb, r, count);
    if (ranks == 1) {
        r->place = number;
        return status;
    }
    r->order = r->memory[0] = malloc((count + 1) * sizeof *r->order);
    status = status == 0 && r->order ? 0 : route_no_memory(count);
    if (world_reduce_status(nb->world, status) != 0)
        return -1;
    route_sort(nb, r, count, number, first);
    if (nbody_route_exchange_counts(nb, r) != 0)
        return -1;
    cl_uint *const place = r->memory[1] = malloc((r->came[ranks] + 1) * sizeof *place);
    if (world_reduce_status(nb->world, place ? 0 : route_no_memory(count)) != 0 ||
        nbody_route_move(nb, r, sizeof *place, number, place) != 0)
        return -1;
    for (size_t k = 0; k < r->came[ranks]; k++)
        place[k] -= (cl_uint)first[world_rank(nb->world)];
    r->place = place;
    return 0;
}
