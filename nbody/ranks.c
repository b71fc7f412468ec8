/* ranks.c - which device of which rank moves which bodies, and how all ranks have all positions.
 *
 * Every rank has all positions, as every device does, and its devices move a run of the bodies.
 * After a step each rank sends its own, from the host's image to that of the others, in two rounds:
 * ranks stand in a grid of rows and columns, in which first those of a row exchange what is theirs,
 * and then those of a column whole rows. So a rank of M sends 2 (M^1/2 - 1) messages, not M - 1.
 * Mail moves while devices sum over the bodies that they have.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ranks.h"

#include "core/round.h"

#include <math.h>

struct part {
    size_t first, rows; /* of posm */
};

struct ranks {
    struct part *part;     /* of each rank */
    struct holder *holder; /* devices of all ranks that have bodies */
    size_t holders;
    int columns;                  /* of the grid; rank r stands in row r / columns */
    size_t devices, before;       /* of all ranks; of those before this one */
    world_request **sent, **come; /* under way */
    size_t nsent, ncome, of_row;  /* of_row: those that come from one's row, which are first */
};

enum {
    MOST_DEVICES = 64,
    ARRAYS = 3,
    ROUND = 3,
    COLLECTED = 2 * ROUND
}; /* tags: an array's number, plus ROUND in the second round */

/* ---- Who moves which. ------------------------------------------------------------------------ */

static void join_multiple(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = common_multiple(*(uint64_t *)a, *(const uint64_t *)b);
}

int nbody_ranks_multiple(const struct nbody *nb, size_t *number)
{
    uint64_t all = *number;
    const int status = world_reduce(nb->world, &all, sizeof all, join_multiple, NULL);
    *number = (size_t)all;
    return status;
}

/* A share is a whole number of these: work-groups and tiles of any device begin and end there, and
 * blocks of energies. */
static size_t grain(const struct nbody *nb)
{
    size_t g = nbody_is_clustered(nb) ? CLUSTER : SUM_BLOCK;
    for (cl_uint d = 0; d < nb->ndev; d++) {
        g = common_multiple(g, nbody_shape_rows(&nb->device[d].shape));
        g = common_multiple(g, (size_t)nb->device[d].shape.tile);
    }
    return g;
}

/* Fills first, rows and count of n shares, by their weights, and nb->padded. */
static int divide(struct nbody *nb, struct nbody_device *share, cl_uint n, const double *weight)
{
    size_t g = grain(nb);
    if (nbody_ranks_multiple(nb, &g) != 0)
        return -1;
    const size_t grains = divide_up(nb->n, g);
    double all = 0, below = 0;
    size_t first = 0;
    for (cl_uint d = 0; d < n; d++)
        all += weight[d];
    for (cl_uint d = 0; d < n; d++) {
        struct nbody_device *p = &share[d];
        below += weight[d];
        size_t end = d + 1 == n ? grains : (size_t)floor((double)grains * (below / all) + 0.5);
        end = end > grains ? grains : end;
        p->first = first * g;
        p->rows = (end - first) * g;
        p->count = nb->n < p->first ? 0 : nb->n - p->first < p->rows ? nb->n - p->first : p->rows;
        first = end;
    }
    nb->padded = grains * g;
    nb->grain = g;
    return 0;
}

struct models {
    char name[64];
    int32_t alike;
};

static void join_models(void *a, const void *b, void *arg)
{
    struct models *one = a;
    const struct models *two = b;
    (void)arg;
    one->alike = one->alike && two->alike && strcmp(one->name, two->name) == 0;
}

int nbody_ranks_alike(const struct nbody *nb, const struct cldev_info *info, bool *alike)
{
    struct models m = {.alike = *alike};
    snprintf(m.name, sizeof m.name, "%.48s %u", info->dev_name, (unsigned)info->dev_max_core);
    const int status = world_reduce(nb->world, &m, sizeof m, join_models, NULL);
    *alike = m.alike;
    return status;
}

/* As square a grid as the number of ranks allows. */
static int columns_of(int ranks)
{
    int columns = (int)sqrt((double)ranks);
    while (ranks % columns)
        columns--;
    return columns;
}

static struct ranks *make(const struct nbody *nb)
{
    const size_t size = (size_t)world_size(nb->world);
    struct ranks *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->columns = columns_of((int)size);
    r->part = calloc(size, sizeof *r->part);
    r->sent = calloc(ARRAYS * size, sizeof *r->sent);
    r->come = calloc(ARRAYS * size, sizeof *r->come);
    r->holder = calloc(MOST_DEVICES * size, sizeof *r->holder);
    return r;
}

/* Parts of a tree that cost as much may have other numbers of bodies. */
static size_t room_for(const struct nbody *nb, size_t rows)
{
    const size_t more = rows + (rows / 4 + nb->grain) / nb->grain * nb->grain;
    return nb->method != NBODY_TREE || rows == nb->padded ? rows
           : more < nb->padded                            ? more
                                                          : nb->padded;
}

/* The runs that the devices of each rank have together, and each of them. */
static void add_up(struct nbody *nb, const struct nbody_device *all, const uint64_t *devices)
{
    struct ranks *r = nb->ranks;
    for (int k = 0; k < world_size(nb->world); k++) {
        r->part[k] = (struct part){all->first, 0};
        for (uint64_t d = 0; d < devices[k]; d++, all++) {
            r->part[k].rows += all->rows;
            if (all->rows)
                r->holder[r->holders++] =
                    (struct holder){k, all->first, all->count, room_for(nb, all->rows)};
        }
    }
}

static void make_room(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        p->rows = p->rows ? room_for(nb, p->rows) : 0;
}

int nbody_ranks_divide(struct nbody *nb, const double *weight)
{
    struct {
        uint64_t devices;
        double weight[MOST_DEVICES];
    } own = {.devices = nb->ndev}, *each;
    const size_t ranks = (size_t)world_size(nb->world);
    if (ranks == 1)
        return divide(nb, nb->device, nb->ndev, weight) == 0 ? make_room(nb), 0 : -1;
    int status =
        nb->ndev <= MOST_DEVICES
            ? 0
            : clerror_set(EINVAL, "nbody_create: a rank has at most %d devices", MOST_DEVICES);
    memcpy(own.weight, weight,
           (nb->ndev < MOST_DEVICES ? nb->ndev : MOST_DEVICES) * sizeof *weight);
    nb->ranks = make(nb);
    each = calloc(ranks, sizeof *each);
    struct nbody_device *all = calloc(ranks * MOST_DEVICES, sizeof *all);
    double *weights = calloc(ranks * MOST_DEVICES, sizeof *weights);
    uint64_t *devices = calloc(ranks, sizeof *devices);
    if (!each || !all || !weights || !devices || !nb->ranks || !nb->ranks->part ||
        !nb->ranks->sent || !nb->ranks->come || !nb->ranks->holder)
        status = clerror_set(ENOMEM, "nbody_create: no memory for %zu ranks", ranks);
    if (world_reduce_status(nb->world, status) == 0 &&
        world_gather(nb->world, &own, sizeof own, each) == 0) {
        size_t n = 0, before = 0;
        for (size_t k = 0; k < ranks; k++) {
            before = k == (size_t)world_rank(nb->world) ? n : before;
            devices[k] = each[k].devices;
            for (uint64_t d = 0; d < each[k].devices; d++)
                weights[n++] = each[k].weight[d];
        }
        status = divide(nb, all, (cl_uint)n, weights);
        for (cl_uint d = 0; d < nb->ndev; d++) {
            nb->device[d].first = all[before + d].first;
            nb->device[d].rows = all[before + d].rows;
            nb->device[d].count = all[before + d].count;
        }
        add_up(nb, all, devices);
        make_room(nb);
    } else {
        status = -1;
    }
    free(each);
    free(all);
    free(weights);
    free(devices);
    return status;
}

void nbody_ranks_free(struct nbody *nb)
{
    struct ranks *r = nb->ranks;
    if (!r)
        return;
    if (r->sent)
        world_wait(nb->world, r->sent, r->nsent);
    free(r->part);
    free(r->holder);
    free(r->sent);
    free(r->come);
    free(r);
}

struct holder *nbody_ranks_holders(const struct nbody *nb, size_t *n)
{
    const struct ranks *r = nb->ranks;
    struct holder *all = calloc(r ? r->holders : nb->ndev, sizeof *all);
    *n = 0;
    if (all && r)
        memcpy(all, r->holder, (*n = r->holders) * sizeof *all);
    for (const struct nbody_device *p = nb->device; all && !r && p < nb->device + nb->ndev; p++)
        if (p->rows)
            all[(*n)++] = (struct holder){0, p->first, p->count, p->rows};
    return all;
}

int nbody_ranks_redivide(struct nbody *nb, const size_t *first)
{
    struct ranks *r = nb->ranks;
    struct nbody_device *p = nb->device;
    size_t n;
    struct holder *const all = nbody_ranks_holders(nb, &n);
    if (!all)
        return clerror_set(ENOMEM, "nbody: no memory on the host");
    for (int k = 0; r && k < world_size(nb->world); k++)
        r->part[k].rows = 0;
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
        struct part *const part = &r->part[all[h].rank];
        part->first = part->rows ? part->first : first[h];
        part->rows += end - first[h];
        r->holder[h].first = first[h];
        r->holder[h].count = count;
    }
    free(all);
    return 0;
}

/* ---- Positions to all ranks. ----------------------------------------------------------------- */

/* All that the ranks of a row of the grid have. */
static struct part row_of(const struct nbody *nb, int row)
{
    const struct ranks *r = nb->ranks;
    struct part p = {r->part[row * r->columns].first, 0};
    for (int c = 0; c < r->columns; c++)
        p.rows += r->part[row * r->columns + c].rows;
    return p;
}

/* Posts mail of some rows of posm, and of velo and acce if there are any. */
static int post(struct nbody *nb, bool send, int rank, int tag, struct part p)
{
    struct ranks *r = nb->ranks;
    void *const arrays[ARRAYS] = {nb->posm, nb->velo, nb->acce};
    const size_t row = 4 * nb->real;
    for (int a = 0; a < ARRAYS && arrays[a] && p.rows; a++) {
        char *at = (char *)arrays[a] + p.first * row;
        world_request *mail = send ? world_send(nb->world, rank, tag + a, at, p.rows * row)
                                   : world_receive(nb->world, rank, tag + a, at, p.rows * row);
        if (!mail)
            return -1;
        if (send)
            r->sent[r->nsent++] = mail;
        else
            r->come[r->ncome++] = mail;
    }
    return 0;
}

/* One round: with all others of one's row, or with all others of one's column. */
static int round_of(struct nbody *nb, bool send, bool second)
{
    const struct ranks *r = nb->ranks;
    const int size = world_size(nb->world), rank = world_rank(nb->world), row = rank / r->columns;
    for (int k = 0; k < size; k++) {
        const bool peer = second ? k % r->columns == rank % r->columns : k / r->columns == row;
        if (k == rank || !peer)
            continue;
        const struct part p =
            second ? row_of(nb, send ? row : k / r->columns) : r->part[send ? rank : k];
        if (post(nb, send, k, second ? ROUND : 0, p) != 0)
            return -1;
    }
    return 0;
}

int nbody_ranks_receive(struct nbody *nb)
{
    struct ranks *r = nb->ranks;
    if (!r)
        return 0;
    const size_t sent = r->nsent;
    r->nsent = r->ncome = 0;
    if (world_wait(nb->world, r->sent, sent) != 0 || round_of(nb, false, false) != 0)
        return -1;
    r->of_row = r->ncome;
    return round_of(nb, false, true);
}

int nbody_ranks_send(struct nbody *nb)
{
    return nb->ranks ? round_of(nb, true, false) : 0;
}

int nbody_ranks_finish(struct nbody *nb)
{
    struct ranks *r = nb->ranks;
    if (!r)
        return 0;
    const size_t come = r->ncome, of_row = r->of_row;
    r->ncome = 0;
    if (world_wait(nb->world, r->come, of_row) != 0 || round_of(nb, true, true) != 0)
        return -1;
    return world_wait(nb->world, r->come + of_row, come - of_row);
}

size_t nbody_ranks_others(const struct nbody *nb, struct nbody_device others[2])
{
    if (!nb->ranks)
        return 0;
    const struct part own = nb->ranks->part[world_rank(nb->world)];
    const size_t end = own.first + own.rows;
    others[0] = (struct nbody_device){.first = 0, .rows = own.first};
    others[1] = (struct nbody_device){.first = end, .rows = nb->padded - end};
    return 2;
}

/* ---- Results to all ranks. ------------------------------------------------------------------- */

int nbody_ranks_spread(struct nbody *nb, void *rows, size_t bytes, size_t bodies)
{
    for (int k = 0; nb->ranks && k < world_size(nb->world); k++) {
        const struct part p = nb->ranks->part[k];
        const size_t from = p.first < nb->n ? p.first : nb->n,
                     to = p.first + p.rows < nb->n ? p.first + p.rows : nb->n;
        const size_t first = from / bodies, end = divide_up(to, bodies);
        if (end > first && to > from &&
            world_broadcast(nb->world, k, (char *)rows + first * bytes, (end - first) * bytes) != 0)
            return -1;
    }
    return 0;
}

/* Of some rows those that a rank has: packs them into `own`, or takes them from there; how many
 * there are. */
static size_t rows_of(struct part p, size_t count, const cl_uint *row, float (*x)[3],
                      float (*own)[3], bool take)
{
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        if (row[k] - p.first < p.rows) {
            memcpy(take ? x[k] : own[n], take ? own[n] : x[k], sizeof *x);
            n++;
        }
    return n;
}

static int collect_of(struct nbody *nb, int rank, size_t count, const cl_uint *row, float (*x)[3],
                      float (*own)[3])
{
    const struct part p = nb->ranks->part[rank];
    size_t n = 0;
    for (size_t k = 0; k < count; k++)
        n += row[k] - p.first < p.rows;
    world_request *mail =
        n ? world_receive(nb->world, rank, COLLECTED, own, n * sizeof *own) : NULL;
    if (n && world_wait(nb->world, &mail, 1) != 0)
        return -1;
    rows_of(p, count, row, x, own, true);
    return 0;
}

int nbody_ranks_collect(struct nbody *nb, size_t count, const cl_uint *row, float (*x)[3])
{
    const int ranks = nb->ranks ? world_size(nb->world) : 1, rank = world_rank(nb->world);
    float(*own)[3] = ranks > 1 ? malloc((count + 1) * sizeof *own) : NULL;
    int status = 0;
    if (ranks == 1)
        return 0;
    if (!own)
        return clerror_set(ENOMEM, "nbody_positions: no memory for %zu bodies", count);
    for (int k = 1; rank == 0 && k < ranks && status == 0; k++)
        status = collect_of(nb, k, count, row, x, own);
    const size_t n = rank ? rows_of(nb->ranks->part[rank], count, row, x, own, false) : 0;
    if (n) {
        world_request *mail = world_send(nb->world, 0, COLLECTED, own, n * sizeof *own);
        status = world_wait(nb->world, &mail, 1);
    }
    free(own);
    return status;
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
