/* ranks.c - partition of the bodies among devices and ranks; exchange of positions between ranks.
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

#include "core/round.h"

#include <math.h>

struct row_range {
    size_t first, rows; /* rows of posm */
};

struct ranks {
    struct row_range *range; /* of each rank */
    struct holder *holder;   /* devices of all ranks that have bodies */
    size_t holders;
    int columns;            /* of the grid; rank r stands in grid row r / columns */
    size_t devices, before; /* devices of all ranks; devices of lower ranks */
    world_request **send_request, **receive_request; /* in flight */
    size_t nsend, nreceive, nreceive_row; /* receives from this rank's grid row, which come first */
};

enum {
    MOST_DEVICES = 64,
    ARRAYS = 3,
    ROUND = 3
}; /* message tags: index of the array, plus ROUND in the second round */

/* ---- Partition of the rows. ------------------------------------------------------------------ */

static void join_common_multiple(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = least_common_multiple(*(uint64_t *)a, *(const uint64_t *)b);
}

int nbody_ranks_multiple(const struct nbody *nb, size_t *number)
{
    uint64_t all = *number;
    const int status = world_reduce(nb->world, &all, sizeof all, join_common_multiple, NULL);
    *number = (size_t)all;
    return status;
}

/* Return the granularity of a device's range: a common multiple of the work-groups and tiles of
 * all devices and of the blocks that energies are summed in. */
static size_t ranks_grain(const struct nbody *nb)
{
    size_t g = nbody_is_clustered(nb) ? CLUSTER : SUM_BLOCK;
    for (cl_uint d = 0; d < nb->ndev; d++) {
        g = least_common_multiple(g, nbody_shape_group_bodies(&nb->device[d].shape));
        g = least_common_multiple(g, (size_t)nb->device[d].shape.tile);
    }
    return g;
}

/* Fill first, rows and count of n devices according to their weights, and nb->padded. */
static int ranks_divide_rows(struct nbody *nb, struct nbody_device *device, cl_uint n,
                             const double *weight)
{
    size_t g = ranks_grain(nb);
    if (nbody_ranks_multiple(nb, &g) != 0)
        return -1;
    const size_t grains = divide_up(nb->n, g);
    double all = 0, below = 0;
    size_t first = 0;
    for (cl_uint d = 0; d < n; d++)
        all += weight[d];
    for (cl_uint d = 0; d < n; d++) {
        struct nbody_device *p = &device[d];
        below += weight[d];
        size_t end = d + 1 == n ? grains : (size_t)floor((double)grains * (below / all) + 0.5);
        end = end > grains ? grains : end;
        p->first = first * g;
        p->rows = (end - first) * g;
        p->count = nb->n < p->first ? 0 : nb->n - p->first < p->rows ? nb->n - p->first : p->rows;
        first = end;
    }
    nb->padded = grains * g;
    nb->domain.grain = g;
    return 0;
}

struct models {
    char name[64];
    int32_t same;
};

static void join_models(void *a, const void *b, void *arg)
{
    struct models *one = a;
    const struct models *two = b;
    (void)arg;
    one->same = one->same && two->same && strcmp(one->name, two->name) == 0;
}

int nbody_ranks_alike(const struct nbody *nb, const struct cldev_info *info, bool *same_model)
{
    struct models m = {.same = *same_model};
    snprintf(m.name, sizeof m.name, "%.48s %u", info->dev_name, (unsigned)info->dev_max_core);
    const int status = world_reduce(nb->world, &m, sizeof m, join_models, NULL);
    *same_model = m.same;
    return status;
}

/* Return the number of columns of the most nearly square grid of `ranks` ranks. */
static int rank_grid_columns(int ranks)
{
    int columns = (int)sqrt((double)ranks);
    while (ranks % columns)
        columns--;
    return columns;
}

static struct ranks *ranks_create(const struct nbody *nb)
{
    const size_t size = (size_t)world_size(nb->world);
    struct ranks *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->columns = rank_grid_columns((int)size);
    r->range = calloc(size, sizeof *r->range);
    r->send_request = calloc(ARRAYS * size, sizeof *r->send_request);
    r->receive_request = calloc(ARRAYS * size, sizeof *r->receive_request);
    r->holder = calloc(MOST_DEVICES * size, sizeof *r->holder);
    return r;
}

/* Return the rows to allocate: domains of equal cost may have different numbers of bodies. Bodies
 * above the capacity migrate for each sum. */
static size_t row_capacity(const struct nbody *nb, size_t rows)
{
    const size_t more = rows + (rows / 8 + nb->domain.grain) / nb->domain.grain * nb->domain.grain;
    return nb->method != NBODY_TREE || rows == nb->padded ? rows
           : more < nb->padded                            ? more
                                                          : nb->padded;
}

/* Record the range of rows of each rank and of each device. */
static void record_rank_ranges(struct nbody *nb, const struct nbody_device *all,
                               const uint64_t *devices)
{
    struct ranks *r = nb->domain.ranks;
    for (int k = 0; k < world_size(nb->world); k++) {
        r->range[k] = (struct row_range){all->first, 0};
        for (uint64_t d = 0; d < devices[k]; d++, all++) {
            r->range[k].rows += all->rows;
            if (all->rows)
                r->holder[r->holders++] =
                    (struct holder){k, all->first, all->count, row_capacity(nb, all->rows)};
        }
    }
}

static void reserve_rows(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        p->rows = p->rows ? row_capacity(nb, p->rows) : 0;
}

int nbody_ranks_divide(struct nbody *nb, const double *weight)
{
    struct {
        uint64_t devices;
        double weight[MOST_DEVICES];
    } own = {.devices = nb->ndev}, *each;
    const size_t ranks = (size_t)world_size(nb->world);
    if (ranks == 1)
        return ranks_divide_rows(nb, nb->device, nb->ndev, weight) == 0 ? reserve_rows(nb), 0 : -1;
    int status =
        nb->ndev <= MOST_DEVICES
            ? 0
            : clerror_set(EINVAL, "nbody_create: a rank has at most %d devices", MOST_DEVICES);
    memcpy(own.weight, weight,
           (nb->ndev < MOST_DEVICES ? nb->ndev : MOST_DEVICES) * sizeof *weight);
    nb->domain.ranks = ranks_create(nb);
    each = calloc(ranks, sizeof *each);
    struct nbody_device *all = calloc(ranks * MOST_DEVICES, sizeof *all);
    double *weights = calloc(ranks * MOST_DEVICES, sizeof *weights);
    uint64_t *devices = calloc(ranks, sizeof *devices);
    if (!each || !all || !weights || !devices || !nb->domain.ranks || !nb->domain.ranks->range ||
        !nb->domain.ranks->send_request || !nb->domain.ranks->receive_request ||
        !nb->domain.ranks->holder)
        status = clerror_set(ENOMEM, "nbody_create: out of memory for %zu ranks", ranks);
    if (world_reduce_status(nb->world, status) == 0 &&
        world_gather(nb->world, &own, sizeof own, each) == 0) {
        size_t n = 0, before = 0;
        for (size_t k = 0; k < ranks; k++) {
            before = k == (size_t)world_rank(nb->world) ? n : before;
            devices[k] = each[k].devices;
            for (uint64_t d = 0; d < each[k].devices; d++)
                weights[n++] = each[k].weight[d];
        }
        status = ranks_divide_rows(nb, all, (cl_uint)n, weights);
        for (cl_uint d = 0; d < nb->ndev; d++) {
            nb->device[d].first = all[before + d].first;
            nb->device[d].rows = all[before + d].rows;
            nb->device[d].count = all[before + d].count;
        }
        record_rank_ranges(nb, all, devices);
        reserve_rows(nb);
    } else {
        status = -1;
    }
    free(each);
    free(all);
    free(weights);
    free(devices);
    return status;
}

void nbody_ranks_cancel(stdcl_world *world, world_request *const *request, size_t *n)
{
    for (; *n > 0; (*n)--) /* after a failed request, here NULL, world_wait cancels the next one */
        world_wait(world, (world_request *[]){NULL, request[*n - 1]}, 2);
}

void nbody_ranks_free(struct nbody *nb)
{
    struct ranks *r = nb->domain.ranks;
    if (!r)
        return;
    if (r->send_request)
        world_wait(nb->world, r->send_request, r->nsend);
    nbody_ranks_cancel(nb->world, r->receive_request, &r->nreceive);
    free(r->range);
    free(r->holder);
    free(r->send_request);
    free(r->receive_request);
    free(r);
}

struct holder *nbody_ranks_holders(const struct nbody *nb, size_t *n)
{
    const struct ranks *r = nb->domain.ranks;
    struct holder *all = calloc(r ? r->holders : nb->ndev, sizeof *all);
    *n = 0;
    if (all && r)
        memcpy(all, r->holder, (*n = r->holders) * sizeof *all);
    for (const struct nbody_device *p = nb->device; all && !r && p < nb->device + nb->ndev; p++)
        if (p->rows)
            all[(*n)++] = (struct holder){0, p->first, p->count, p->rows};
    return all;
}

size_t nbody_ranks_first_row(const struct nbody *nb, int rank)
{
    const struct ranks *r = nb->domain.ranks;
    if (!r)
        return rank ? nb->n : 0;
    while (rank < world_size(nb->world) && r->range[rank].rows == 0)
        rank++;
    const size_t first = rank < world_size(nb->world) ? r->range[rank].first : nb->n;
    return first < nb->n ? first : nb->n;
}

size_t nbody_ranks_own_first(const struct nbody *nb)
{
    return nbody_ranks_first_row(nb, world_rank(nb->world));
}

size_t nbody_ranks_own_rows(const struct nbody *nb)
{
    return nbody_ranks_first_row(nb, world_rank(nb->world) + 1) - nbody_ranks_own_first(nb);
}

int nbody_ranks_redivide(struct nbody *nb, const size_t *first)
{
    struct ranks *r = nb->domain.ranks;
    struct nbody_device *p = nb->device;
    size_t n;
    struct holder *const all = nbody_ranks_holders(nb, &n);
    if (!all)
        return clerror_set(ENOMEM, "nbody: out of memory on the host");
    for (int k = 0; r && k < world_size(nb->world); k++)
        r->range[k].rows = 0;
    for (size_t h = 0; h < n; h++) {
        const size_t end = h + 1 < n ? first[h + 1] : nb->padded,
                     bodies = end < nb->n ? end : nb->n;
        const size_t count = bodies > first[h] ? bodies - first[h] : 0;
        if (all[h].rank == world_rank(nb->world)) {
            while (!p->rows)
                p++;
            p->first = first[h];
            p++->count = count;
        }
        if (!r)
            continue;
        struct row_range *const range = &r->range[all[h].rank];
        range->first = range->rows ? range->first : first[h];
        range->rows += end - first[h];
        r->holder[h].first = first[h];
        r->holder[h].count = count;
    }
    free(all);
    return 0;
}

/* ---- Exchange of positions. ------------------------------------------------------------------ */

/* Return the range of all ranks of a grid row. */
static struct row_range grid_row_range(const struct nbody *nb, int row)
{
    const struct ranks *r = nb->domain.ranks;
    struct row_range p = {r->range[row * r->columns].first, 0};
    for (int c = 0; c < r->columns; c++)
        p.rows += r->range[row * r->columns + c].rows;
    return p;
}

/* Post messages with rows of posm, and of velo and acce if the engine has them. */
static int ranks_post(struct nbody *nb, bool send, int rank, int tag, struct row_range p)
{
    struct ranks *r = nb->domain.ranks;
    void *const arrays[ARRAYS] = {nb->particles.posm, nb->particles.velo, nb->particles.acce};
    const size_t row = 4 * nb->real;
    for (int a = 0; a < ARRAYS && arrays[a] && p.rows; a++) {
        char *at = (char *)arrays[a] + p.first * row;
        world_request *request = send ? world_send(nb->world, rank, tag + a, at, p.rows * row)
                                      : world_receive(nb->world, rank, tag + a, at, p.rows * row);
        if (!request)
            return -1;
        if (send)
            r->send_request[r->nsend++] = request;
        else
            r->receive_request[r->nreceive++] = request;
    }
    return 0;
}

/* Post one round of messages: with all other ranks of this rank's grid row; second: of its grid
 * column. */
static int ranks_exchange_round(struct nbody *nb, bool send, bool second)
{
    const struct ranks *r = nb->domain.ranks;
    const int size = world_size(nb->world), rank = world_rank(nb->world), row = rank / r->columns;
    for (int k = 0; k < size; k++) {
        const bool peer = second ? k % r->columns == rank % r->columns : k / r->columns == row;
        if (k == rank || !peer)
            continue;
        const struct row_range p =
            second ? grid_row_range(nb, send ? row : k / r->columns) : r->range[send ? rank : k];
        if (ranks_post(nb, send, k, second ? ROUND : 0, p) != 0)
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
    const struct row_range own = nb->domain.ranks->range[world_rank(nb->world)];
    const size_t end = own.first + own.rows;
    other[0] = (struct nbody_device){.first = 0, .rows = own.first};
    other[1] = (struct nbody_device){.first = end, .rows = nb->padded - end};
    return 2;
}

/* ---- Results. -------------------------------------------------------------------------------- */

int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes)
{
    for (int k = 0; nb->domain.ranks && k < world_size(nb->world); k++) {
        const size_t first = nbody_ranks_first_row(nb, k),
                     count = nbody_ranks_first_row(nb, k + 1) - first;
        if (count &&
            world_broadcast(nb->world, k, (char *)rows + first * bytes, count * bytes) != 0)
            return -1;
    }
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
