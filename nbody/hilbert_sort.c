/* hilbert_sort.c - rows of bodies lie along Hilbert's curve: with the tree, and of many bodies in
 * mixed precision.
 *
 * A device moves the bodies of some rows, and makes the tree of a stretch of the curve. Where rows
 * follow the curve these are nearly the same bodies, so that few go from one device to another for
 * each sum; and on one device rows that are read together lie together. In mixed precision bodies
 * of rows that follow each other are to be near each other (mixed.cl). So rows are sorted when an
 * engine is made, and again after every ORDER_STEPS steps. This is nobody else's business: what
 * callers give and get is in their order. With the tree the first device sorts, and all put rows in
 * order (hilbert_sort_device.c); without, the host does.
 *
 * Sorting what is in order changes nothing, so that it does not matter whether a run was saved
 * before or after.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "arrays/arrays_ref.h"
#include "core/clock.h"

#include "nbody/blocks.h"
#include "nbody/nbody_ref_tree.h"

#include <math.h>
#include <stdatomic.h>

enum { FEW_STEPS = 4 }; /* of a burst while parts of a tree are still made even */

/* ---- Rows to the host and back. -------------------------------------------------------------- */

static char *felt(const struct nbody *nb, const struct nbody_device *p, size_t which)
{
    (void)which;
    return p->tree ? (char *)p->tree->felt + p->first * nb->real : NULL;
}

/* What is moved, between a device and the host: the positions of its rows, their state, and what
 * they felt. */
static int copy_rows(struct nbody *nb, struct nbody_device *p, int direction)
{
    const struct changes c = nbody_task_changes(nb, p);
    for (int i = 0; i <= CHANGES; i++) {
        void *const at = i < CHANGES ? c.at[i] : felt(nb, p, 0);
        const size_t bytes = i < CHANGES ? c.bytes[i] : at ? p->count * nb->real : 0;
        if (bytes && clmsyncn(nb->ctx, p->dev, at, bytes, direction) == (cl_event)-1)
            return -1;
    }
    return nbody_device_wait(nb, p);
}

static int copy_all(struct nbody *nb, int direction)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && copy_rows(nb, p, direction) != 0)
            status = -1;
    return world_reduce_status(nb->world, status);
}

/* ---- The order. ------------------------------------------------------------------------------ */

/* Which of today's rows is which of tomorrow's. The first device that has rows sorts. */
static int sort_by_device(struct nbody *nb, cl_uint *order)
{
    size_t n;
    struct nbody_device *p = nb->device;
    struct holder *holder = nbody_ranks_holders(nb, &n);
    int status = holder ? 0 : clerror_set(ENOMEM, "nbody: no memory on the host"),
        root = holder ? holder->rank : -1;
    free(holder);
    if (root == world_rank(nb->world)) {
        while (!p->tree)
            p++;
        status = nbody_hilbert_find_device(nb, p, order);
    }
    return world_reduce_status(nb->world, status) == 0
               ? world_broadcast(nb->world, root, order, nb->n * sizeof *order)
               : -1;
}

/* A cube around all bodies. */
struct cube {
    double low[3], side;
};

static struct cube cube_of(const struct nbody *nb)
{
    struct cube cube = {.side = 0};
    for (int c = 0; c < 3; c++) {
        double low = real_at(nb, nb->posm, (size_t)c), high = low;
        for (size_t i = 1; i < nb->n; i++) {
            low = fmin(low, real_at(nb, nb->posm, 4 * i + (size_t)c));
            high = fmax(high, real_at(nb, nb->posm, 4 * i + (size_t)c));
        }
        cube.low[c] = low;
        cube.side = fmax(cube.side, high - low);
    }
    return cube;
}

struct placing {
    const struct nbody *nb;
    struct cube cube;
    uint64_t *key;
    cl_uint *row;
};

static void place_block(void *placing, size_t block, size_t first, size_t end)
{
    const struct placing *k = placing;
    const double most = (1 << TREE_LEVELS) - 1;
    (void)block;
    for (size_t i = first; i < end; i++) {
        uint32_t at[3] = {0};
        for (size_t c = 0; c < 3; c++) {
            const double x =
                (real_at(k->nb, k->nb->posm, 4 * i + c) - k->cube.low[c]) / k->cube.side * most;
            at[c] = x > 0 ? x < most ? (uint32_t)x : (uint32_t)most
                          : 0; /* 0 where all are at one place */
        }
        k->key[i] = nbody_ref_hilbert(at[0], at[1], at[2]);
        k->row[i] = (cl_uint)i;
    }
}

/* The same on the host of every rank, which has all positions then. */
static int sort_by_host(struct nbody *nb, cl_uint *order)
{
    const size_t key = sizeof(uint64_t), each = key + sizeof *order;
    char *keys = malloc(nb->n * (key + each)), *work = keys ? keys + nb->n * key : NULL;
    int status =
        keys ? 0
             : clerror_set(ENOMEM, "nbody: no memory on the host for the order of %zu bodies",
                           nb->n);
    if (world_reduce_status(nb->world, status) != 0 || copy_all(nb, CL_MEM_HOST) != 0 ||
        nbody_ranks_spread(nb, nb->posm, 4 * nb->real, 1) != 0)
        status = -1;
    if (status == 0) {
        nbody_each_block(nb->n, place_block,
                         &(struct placing){nb, cube_of(nb), (uint64_t *)(void *)keys, order});
        arrays_ref_sort((int)key, 3 * TREE_LEVELS, keys, order, nb->n,
                        work); /* stable: of equal keys the lower row stays first */
    }
    free(keys);
    return status;
}

static int sort_rows(struct nbody *nb, cl_uint *order)
{
    if (nb->method == NBODY_TREE)
        return nbody_tree_share_positions(nb) == 0 ? sort_by_device(nb, order) : -1;
    return sort_by_host(nb, order);
}

/* The inverse of an order. */
struct inverse {
    size_t n;
    const cl_uint *order;
    cl_uint *place; /* of each row */
    atomic_bool missing;
};

static void clear_block(void *inverse, size_t block, size_t first, size_t end)
{
    (void)block;
    memset(((const struct inverse *)inverse)->place + first, 0xff, (end - first) * sizeof(cl_uint));
}

static void invert_block(void *inverse, size_t block, size_t first, size_t end)
{
    const struct inverse *v = inverse;
    (void)block;
    for (size_t i = first; i < end; i++)
        if (v->order[i] < v->n)
            __atomic_store_n(
                &v->place[v->order[i]], (cl_uint)i,
                __ATOMIC_RELAXED); /* another thread may write there if the order is wrong */
}

static void look_block(void *inverse, size_t block, size_t first, size_t end)
{
    struct inverse *v = inverse;
    bool missing = false;
    (void)block;
    for (size_t i = first; i < end; i++)
        missing |= v->place[i] == (cl_uint)-1;
    if (missing)
        atomic_store(&v->missing, true);
}

/* Whether each row is there once; `place` has room for a number each. Else bodies would be lost,
 * for a driver's defect. */
static int check_order(size_t n, const cl_uint *order, cl_uint *place)
{
    struct inverse v = {.n = n, .order = order, .place = place};
    nbody_each_block(n, clear_block, &v);
    nbody_each_block(n, invert_block, &v);
    nbody_each_block(n, look_block, &v);
    return atomic_load(&v.missing)
               ? clerror_set(
                     EIO, "nbody: a device sorted %zu bodies wrongly: one of them is there twice",
                     n)
               : 0;
}

/* ---- Rows to their new places. --------------------------------------------------------------- */

/* Numbers from[k * step] of rows, or words of 4 bytes; to[i] becomes that of row order[first +
 * i]. */
struct picking {
    const cl_uint *order;
    size_t first, bytes, from_step, to_step;
    const char *from;
    char *to;
};

/* A constant number of bytes is a load and a store. */
static inline void pick(const struct picking *k, size_t first, size_t end, size_t bytes)
{
    for (size_t i = first; i < end; i++) {
        const size_t row = k->order ? k->order[k->first + i] : i;
        memcpy(k->to + i * k->to_step * bytes, k->from + row * k->from_step * bytes, bytes);
    }
}

static void pick_block(void *picking, size_t block, size_t first, size_t end)
{
    const struct picking *k = picking;
    (void)block;
    if (k->bytes == 4)
        pick(k, first, end, 4);
    else if (k->bytes == 8)
        pick(k, first, end, 8);
    else
        pick(k, first, end, k->bytes);
}

/* Where rows begin that devices had, and where they begin that they get; NULL where these are the
 * same. */
struct division {
    const size_t *had, *get;
};

static int divide_as(struct nbody *nb, const size_t *first)
{
    return first ? nbody_ranks_redivide(nb, first) : 0;
}

/* A number of each row. `own`: where the first row of a device has it, and from there on each
 * `step` numbers. */
static int move_numbers(struct nbody *nb, const cl_uint *order, const struct division *d,
                        char *(*own)(const struct nbody *nb, const struct nbody_device *p,
                                     size_t which),
                        size_t which, size_t step, char *all)
{
    if (divide_as(nb, d->had) != 0)
        return -1;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        nbody_each_block(p->count, pick_block,
                         &(struct picking){.bytes = nb->real,
                                           .from_step = step,
                                           .to_step = 1,
                                           .from = own(nb, p, which),
                                           .to = all + p->first * nb->real});
    if (nbody_ranks_spread(nb, all, nb->real, 1) != 0 || divide_as(nb, d->get) != 0)
        return -1;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        nbody_each_block(p->count, pick_block,
                         &(struct picking){.order = order,
                                           .first = p->first,
                                           .bytes = nb->real,
                                           .from_step = 1,
                                           .to_step = step,
                                           .from = order ? all : all + p->first * nb->real,
                                           .to = own(nb, p, which)});
    return 0;
}

static char *position(const struct nbody *nb, const struct nbody_device *p, size_t component)
{
    return (char *)nb->posm + (4 * p->first + component) * nb->real;
}

static char *plane(const struct nbody *nb, const struct nbody_device *p, size_t number)
{
    return (char *)p->state + number * p->rows * nb->real;
}

static int move_rows(struct nbody *nb, const cl_uint *order, const struct division *d, char *all)
{
    if (copy_all(nb, CL_MEM_HOST) != 0)
        return -1;
    for (size_t c = 0; c < 4; c++)
        if (move_numbers(nb, order, d, position, c, 4, all) != 0)
            return -1;
    for (size_t k = 0; k < nb->planes; k++)
        if (move_numbers(nb, order, d, plane, k, 1, all) != 0)
            return -1;
    if (nb->a_old_valid && move_numbers(nb, order, d, felt, 0, 1, all) != 0)
        return -1;
    return copy_all(nb, CL_MEM_DEVICE);
}

/* Whose rows are whose then. */
static void rename_rows(struct nbody *nb, const cl_uint *order, cl_uint *was)
{
    nbody_each_block(nb->n, pick_block,
                     &(struct picking){.bytes = sizeof *was,
                                       .from_step = 1,
                                       .to_step = 1,
                                       .from = (const char *)nb->body,
                                       .to = (char *)was});
    nbody_each_block(nb->n, pick_block,
                     &(struct picking){.order = order,
                                       .bytes = sizeof *was,
                                       .from_step = 1,
                                       .to_step = 1,
                                       .from = (const char *)was,
                                       .to = (char *)nb->body});
    nbody_each_block(nb->n, invert_block,
                     &(struct inverse){.n = nb->n, .order = nb->body, .place = nb->row});
    nb->sort_count++;
}

/* ---- When. ----------------------------------------------------------------------------------- */

int nbody_hilbert_open(struct nbody *nb)
{
    if (!nb->sorted)
        return 0;
    nb->sort_interval = ORDER_STEPS;
    nb->body = malloc(nb->n * sizeof *nb->body);
    nb->row = malloc(nb->n * sizeof *nb->row);
    if (!nb->body || !nb->row)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    for (size_t i = 0; i < nb->n; i++)
        nb->body[i] = nb->row[i] = (cl_uint)i;
    return nbody_hilbert_sort_rows(nb);
}

int nbody_hilbert_sort_rows(struct nbody *nb)
{
    cl_uint *order = malloc(nb->n * sizeof *order);
    char *all = malloc(nb->n * nb->real);
    int status =
        order && all
            ? 0
            : clerror_set(ENOMEM, "nbody: no memory on the host for the order of %zu bodies",
                          nb->n);
    if (world_reduce_status(nb->world, status) != 0 || sort_rows(nb, order) != 0 ||
        check_order(nb->n, order, (cl_uint *)all) != 0 ||
        (nb->method == NBODY_TREE ? nbody_hilbert_move_device(nb, order)
                                  : move_rows(nb, order, &(struct division){0}, all)) != 0)
        status = -1;
    if (status == 0)
        rename_rows(nb, order, (cl_uint *)all);
    free(order);
    free(all);
    nb->positions_current = false;
    return status;
}

/* Where the rows of devices should begin, and where they do: at multiples of what a share begins
 * at. False where one would get more than it has room for, or none, or where too few would move. */
static bool divide_better(const struct nbody *nb, const struct holder *all, size_t n, size_t *had,
                          size_t *get)
{
    const struct domains *s = nb->domains;
    size_t off = 0;
    for (size_t k = 0; k < n; k++) {
        had[k] = all[k].first;
        get[k] = (s->begin[k] + nb->grain / 2) / nb->grain * nb->grain;
        off += get[k] < had[k] ? had[k] - get[k] : get[k] - had[k];
    }
    for (size_t k = 0; k < n; k++) {
        const size_t end = k + 1 < n ? get[k + 1] : nb->n;
        if (end <= get[k] || end - get[k] > all[k].rows)
            return false;
    }
    return off > nb->n / 512;
}

/* When costs are known a little, and when parts are settled; later so seldom that it takes a
 * hundredth of the time, or always with the caller's shares. */
static bool is_due(const struct nbody *nb, double now)
{
    const struct domains *s = nb->domains;
    return s->checks >= 3 &&
           (nb->shares_given || s->dividing <= 0 || (nbody_domain_balanced(nb) && !s->placed) ||
            now - s->divided > 100 * s->dividing);
}

int nbody_hilbert_repartition(struct nbody *nb)
{
    size_t n;
    const double began = seconds_now();
    if (!nb->domains || !nb->a_old_valid)
        return 0;
    int32_t due = !nb->domains->recut && is_due(nb, began);
    if (world_broadcast(nb->world, 0, &due, sizeof due) != 0)
        return -1;
    if (!due)
        return 0;
    nb->domains->placed = nbody_domain_balanced(nb);
    struct holder *all = nbody_ranks_holders(nb, &n);
    size_t *had = calloc(2 * n, sizeof *had), *get = had ? had + n : NULL;
    const bool better = all && had && divide_better(nb, all, n, had, get);
    char *numbers = better ? malloc(nb->n * nb->real) : NULL;
    int status = all && had && (numbers || !better)
                     ? 0
                     : clerror_set(ENOMEM, "nbody: no memory on the host for %zu bodies", nb->n);
    if (world_reduce_status(nb->world, status) != 0 ||
        (better && move_rows(nb, NULL, &(struct division){had, get}, numbers) != 0))
        status = -1;
    for (size_t k = 0; status == 0 && better && k < n; k++) {
        struct owner *o = &nb->domains->owner[k];
        o->first = get[k];
        o->count = (k + 1 < n ? get[k + 1] : nb->n) - get[k];
    }
    free(all);
    free(had);
    free(numbers);
    if (better) {
        nb->positions_current = false;
        nb->domains->divided = seconds_now();
        nb->domains->dividing = nb->domains->divided - began;
    }
    return status;
}

size_t nbody_hilbert_left(const struct nbody *nb)
{
    const size_t left = nb->sorted ? nb->sort_interval - nb->steps % nb->sort_interval : SIZE_MAX;
    return nb->method != NBODY_TREE || nbody_domain_balanced(nb) || left < FEW_STEPS ? left
                                                                                     : FEW_STEPS;
}

bool nbody_hilbert_due(const struct nbody *nb)
{
    return nb->sorted && nb->steps > 0 && nb->steps % nb->sort_interval == 0;
}

int nbody_hilbert_unsort(const struct nbody *nb, double *of, size_t numbers)
{
    if (!nb->sorted)
        return 0;
    char *rows = malloc(nb->n * numbers * sizeof *of);
    if (!rows)
        return clerror_set(ENOMEM, "nbody: no memory on the host for what %zu bodies have", nb->n);
    memcpy(rows, of, nb->n * numbers * sizeof *of);
    nbody_each_block(nb->n, pick_block,
                     &(struct picking){.order = nb->row,
                                       .bytes = numbers * sizeof *of,
                                       .from_step = 1,
                                       .to_step = 1,
                                       .from = rows,
                                       .to = (char *)of});
    free(rows);
    return 0;
}

void nbody_hilbert_free(struct nbody *nb)
{
    free(nb->body);
    free(nb->row);
}
