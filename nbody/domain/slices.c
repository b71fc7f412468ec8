/* slices.c - slices of the bodies: each rank passes and receives a range of bodies only.
 *
 *   rank             0          1         2
 *   slices      |---------|---------|---------|     bodies in the caller's order
 *   rows        |------|------------|---------|     bodies in storage order, by device
 *
 * A rank exchanges each body directly with the rank that needs it, in rounds: in round s it sends
 * to rank + s and receives from rank - s. Its memory is proportional to its slice and its rows.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/ranks.h"

/* Message tags, beyond the tags of ranks.c and domain.c. */
enum { TAG_IN_TURN = 9000, TAG_COUNT, TAG_BODY, TAG_VALUES };

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

/* ---- Exchange. ------------------------------------------------------------------------------- */

enum { MAX_COLUMNS = 3 };

/* Values of bodies, in flight to the ranks of a partition: rank r needs the bodies first[r] ..
 * first[r + 1] - 1. */
struct delivery {
    struct nbody *nb;
    const size_t *first;
    size_t count;        /* bodies that this rank has */
    const cl_uint *body; /* their numbers; NULL: they follow body `base` */
    size_t base;
    struct slice_column column[MAX_COLUMNS]; /* from [count], to [first[rank + 1] - first[rank]] */
    size_t columns, numbers;                 /* numbers: of all columns */
    cl_uint *order;       /* bodies by destination, and where each destination begins */
    size_t *begin;        /* [ranks + 1] */
    uint64_t *came_count; /* [ranks] bodies that each rank sends to this one */
    /* Messages: bodies, counted from the receiver's first, and values; room for the largest. */
    cl_uint *sent, *came;
    double *values, *come;
};

static size_t delivery_body(const struct delivery *d, size_t k)
{
    return d->body ? d->body[k] : d->base + k;
}

static int delivery_destination(const struct delivery *d, size_t body)
{
    int low = 0, high = world_size(d->nb->world);
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (d->first[middle] <= body)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A counting sort. */
static void delivery_sort(struct delivery *d)
{
    const int ranks = world_size(d->nb->world);
    for (size_t k = 0; k < d->count; k++)
        d->begin[delivery_destination(d, delivery_body(d, k)) + 1]++;
    for (int r = 0; r < ranks; r++)
        d->begin[r + 1] += d->begin[r];
    for (size_t k = d->count; k-- > 0;)
        d->order[--d->begin[delivery_destination(d, delivery_body(d, k)) + 1]] = (cl_uint)k;
    for (int r = 0; r < ranks; r++)
        d->begin[r] = d->begin[r + 1];
    d->begin[ranks] = d->count;
}

static size_t delivery_sends(const struct delivery *d, int to)
{
    return d->begin[to + 1] - d->begin[to];
}

static void delivery_unpack(const struct delivery *d, size_t n)
{
    const double *value = d->come;
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < d->columns; value += d->column[c++].numbers)
            memcpy(d->column[c].to + d->came[k] * d->column[c].numbers, value,
                   d->column[c].numbers * sizeof *value);
}

static void delivery_pack(const struct delivery *d, int to)
{
    double *value = d->values;
    for (size_t k = 0; k < delivery_sends(d, to); k++) {
        const size_t i = d->order[d->begin[to] + k];
        d->sent[k] = (cl_uint)(delivery_body(d, i) - d->first[to]);
        for (size_t c = 0; c < d->columns; value += d->column[c++].numbers)
            memcpy(value, d->column[c].from + i * d->column[c].numbers,
                   d->column[c].numbers * sizeof *value);
    }
}

/* Copy the bodies that this rank itself needs. */
static void delivery_copy_own(const struct delivery *d)
{
    const int rank = world_rank(d->nb->world);
    for (size_t k = d->begin[rank]; k < d->begin[rank + 1]; k++) {
        const size_t i = d->order[k], at = delivery_body(d, i) - d->first[rank];
        for (size_t c = 0; c < d->columns; c++)
            memcpy(d->column[c].to + at * d->column[c].numbers,
                   d->column[c].from + i * d->column[c].numbers,
                   d->column[c].numbers * sizeof *d->column[c].to);
    }
}

static int delivery_run_round(const struct delivery *d, int to, int from)
{
    stdcl_world *const world = d->nb->world;
    const size_t sent = delivery_sends(d, to), came = (size_t)d->came_count[from],
                 bytes = d->numbers * sizeof *d->values;
    world_request *bodies[4];
    size_t n = 0;
    delivery_pack(d, to);
    if (came) {
        bodies[n++] = world_receive(world, from, TAG_BODY, d->came, came * sizeof *d->came);
        bodies[n++] = world_receive(world, from, TAG_VALUES, d->come, came * bytes);
    }
    if (sent) {
        bodies[n++] = world_send(world, to, TAG_BODY, d->sent, sent * sizeof *d->sent);
        bodies[n++] = world_send(world, to, TAG_VALUES, d->values, sent * bytes);
    }
    if (n && world_wait(world, bodies, n) != 0)
        return -1;
    delivery_unpack(d, came);
    return 0;
}

static int delivery_exchange_counts(struct delivery *d, int to, int from)
{
    stdcl_world *const world = d->nb->world;
    const uint64_t sent = delivery_sends(d, to);
    world_request *count[] = {
        world_receive(world, from, TAG_COUNT, &d->came_count[from], sizeof *d->came_count),
        world_send(world, to, TAG_COUNT, &sent, sizeof sent)};
    return world_wait(world, count, 2);
}

static int delivery_failed(const struct delivery *d)
{
    return clerror_set(ENOMEM, "nbody: out of memory to exchange %zu bodies", d->count);
}

/* Allocate messages of the largest numbers of bodies that pass in a round. */
static int delivery_allocate(struct delivery *d)
{
    const int ranks = world_size(d->nb->world), rank = world_rank(d->nb->world);
    const size_t bytes = d->numbers * sizeof *d->values;
    size_t sends = 1, receives = 1;
    for (int r = 0; r < ranks; r++)
        if (r != rank) {
            sends = delivery_sends(d, r) > sends ? delivery_sends(d, r) : sends;
            receives = d->came_count[r] > receives ? (size_t)d->came_count[r] : receives;
        }
    d->sent = malloc(sends * sizeof *d->sent);
    d->came = malloc(receives * sizeof *d->came);
    d->values = malloc(sends * bytes);
    d->come = malloc(receives * bytes);
    return d->sent && d->came && d->values && d->come ? 0 : delivery_failed(d);
}

static int delivery_run_rounds(struct delivery *d)
{
    const int ranks = world_size(d->nb->world), rank = world_rank(d->nb->world);
    delivery_sort(d);
    for (int s = 1; s < ranks; s++)
        if (delivery_exchange_counts(d, (rank + s) % ranks, (rank + ranks - s) % ranks) != 0)
            return -1;
    if (world_reduce_status(d->nb->world, delivery_allocate(d)) != 0)
        return -1;
    delivery_copy_own(d);
    for (int s = 1; s < ranks; s++)
        if (delivery_run_round(d, (rank + s) % ranks, (rank + ranks - s) % ranks) != 0)
            return -1;
    return 0;
}

/* Collective. */
static int delivery_run(struct delivery *d, const struct slice_column *column, size_t columns)
{
    const size_t ranks = (size_t)world_size(d->nb->world);
    d->columns = columns;
    for (size_t c = 0; c < columns; c++) {
        d->column[c] = column[c];
        d->numbers += column[c].numbers;
    }
    d->order = malloc((d->count + 1) * sizeof *d->order);
    d->begin = calloc(ranks + 1, sizeof *d->begin);
    d->came_count = calloc(ranks, sizeof *d->came_count);
    int status = d->order && d->begin && d->came_count ? 0 : delivery_failed(d);
    status = world_reduce_status(d->nb->world, status);
    if (status == 0)
        status = delivery_run_rounds(d);
    free(d->order);
    free(d->begin);
    free(d->came_count);
    free(d->sent);
    free(d->came);
    free(d->values);
    free(d->come);
    return status;
}

/* ---- Between slices and rows. ---------------------------------------------------------------- */

/* First row of each rank, and n; the caller frees it. NULL: out of memory. */
static size_t *slices_first_rows(const struct nbody *nb)
{
    const int ranks = world_size(nb->world);
    size_t *first = malloc(((size_t)ranks + 1) * sizeof *first);
    for (int k = 0; first && k <= ranks; k++)
        first[k] = nbody_ranks_first_row(nb, k);
    return first;
}

size_t nbody_slices_row_base(const struct nbody *nb)
{
    return nb->domain.slice ? nbody_ranks_first_row(nb, world_rank(nb->world)) : 0;
}

size_t nbody_slices_rows(const struct nbody *nb)
{
    return nb->domain.slice
               ? nbody_ranks_first_row(nb, world_rank(nb->world) + 1) - nbody_slices_row_base(nb)
               : nb->n;
}

int nbody_slices_to_rows(struct nbody *nb, const struct slice_column *column, size_t columns)
{
    size_t *first = slices_first_rows(nb);
    int status = first ? 0 : clerror_set(ENOMEM, "nbody: out of memory on the host");
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = delivery_run(&(struct delivery){.nb = nb,
                                                 .first = first,
                                                 .count = nbody_slices_count(nb),
                                                 .base = nbody_slices_first(nb)},
                              column, columns);
    free(first);
    return status;
}

double *nbody_slices_allocate(const struct nbody *nb, size_t numbers, double *out)
{
    if (!nb->domain.slice || !out)
        return out;
    double *rows = malloc((nbody_slices_rows(nb) + 1) * numbers * sizeof *rows);
    if (!rows)
        clerror_set(ENOMEM, "nbody: out of memory on the host for %zu bodies",
                    nbody_slices_rows(nb));
    return rows;
}

int nbody_slices_from_rows(struct nbody *nb, size_t numbers, const cl_uint *body,
                           const double *rows, double *slice)
{
    return delivery_run(&(struct delivery){.nb = nb,
                                           .first = nb->domain.slice,
                                           .count = nbody_slices_rows(nb),
                                           .body = body,
                                           .base = nbody_slices_row_base(nb)},
                        &(const struct slice_column){rows, slice, numbers}, 1);
}

void nbody_slices_free(struct nbody *nb)
{
    free(nb->domain.slice);
}
