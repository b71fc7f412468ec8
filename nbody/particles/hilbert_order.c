/* hilbert_order.c - rows of bodies sorted along the Hilbert curve: with the tree, and for many
 * bodies in mixed precision.
 *
 * A device integrates a range of rows and builds the tree of a range of the curve. If rows follow
 * the curve, these are nearly the same bodies: few bodies migrate for a sum, and rows that are read
 * together lie together. Mixed precision needs consecutive rows that are close in space
 * (direct_mixed.cl). Rows are sorted when an engine is created and after every ORDER_STEPS steps.
 * Callers do not see the order: all arrays of the interface are in the caller's order. The device
 * of a tree sorts and permutes the rows (force/tree_order.c). With domains each device sorts its
 * own rows, and the hosts merge (domain/row_order.c) and permute. Otherwise the host does both.
 *
 * Sorting a sorted state changes nothing, so a run may be saved before or after a sort.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

#include "arrays/arrays_ref.h"

#include "nbody/particles/body_blocks.h"
#include "nbody/reference/nbody_ref_tree.h"

#include <math.h>
#include <stdatomic.h>

enum { UNBALANCED_STEPS = 4 }; /* steps of a batch until the domains are balanced */

/* ---- Host copies. ---------------------------------------------------------------------------- */

static char *row_a_old(const struct nbody *nb, const struct nbody_device *p, size_t which)
{
    (void)which;
    return p->force.tree ? (char *)p->force.tree->a_old + nbody_posm_first(p) * nb->real : NULL;
}

/* Copy a device's positions, state and a_old to or from the host. Blocks. */
static int sort_copy_rows(struct nbody *nb, struct nbody_device *p, int direction)
{
    const struct changes c = nbody_particles_changes(nb, p);
    for (int i = 0; i <= CHANGES; i++) {
        void *const at = i < CHANGES ? c.at[i] : row_a_old(nb, p, 0);
        const size_t bytes = i < CHANGES ? c.bytes[i] : at ? p->count * nb->real : 0;
        if (bytes && clmsyncn(nb->ctx, p->dev, at, bytes, direction) == (cl_event)-1)
            return -1;
    }
    return nbody_device_wait(nb, p);
}

static int sort_copy_all(struct nbody *nb, int direction)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && sort_copy_rows(nb, p, direction) != 0)
            status = -1;
    return world_reduce_status(nb->world, status);
}

/* ---- Order. ---------------------------------------------------------------------------------- */

/* Sort on the device that has all rows, and broadcast: new row i is old row order[i]. */
static int sort_by_device(struct nbody *nb, cl_uint *order)
{
    size_t n;
    struct nbody_device *p = nb->device;
    struct holder *holder = nbody_ranks_holders(nb, &n);
    int status = holder ? 0 : clerror_set(ENOMEM, "nbody: out of memory on the host"),
        root = holder ? holder->rank : -1;
    free(holder);
    if (root == world_rank(nb->world)) {
        while (!p->force.tree)
            p++;
        status = nbody_hilbert_find_device(nb, p, order);
    }
    return world_reduce_status(nb->world, status) == 0
               ? world_broadcast(nb->world, root, order, nb->n * sizeof *order)
               : -1;
}

/* Cube that contains all bodies. */
struct cube {
    double low[3], side;
};

static struct cube bounding_cube(const struct nbody *nb)
{
    struct cube cube = {.side = 0};
    for (int c = 0; c < 3; c++) {
        double low = nbody_real_get(nb, nb->particles.posm, (size_t)c), high = low;
        for (size_t i = 1; i < nb->n; i++) {
            low = fmin(low, nbody_real_get(nb, nb->particles.posm, 4 * i + (size_t)c));
            high = fmax(high, nbody_real_get(nb, nb->particles.posm, 4 * i + (size_t)c));
        }
        cube.low[c] = low;
        cube.side = fmax(cube.side, high - low);
    }
    return cube;
}

struct key_job {
    const struct nbody *nb;
    struct cube cube;
    uint64_t *key;
    cl_uint *row;
};

static void key_block(void *job, size_t block, size_t first, size_t end)
{
    const struct key_job *k = job;
    const double most = (1 << TREE_LEVELS) - 1;
    (void)block;
    for (size_t i = first; i < end; i++) {
        uint32_t at[3] = {0};
        for (size_t c = 0; c < 3; c++) {
            const double x =
                (nbody_real_get(k->nb, k->nb->particles.posm, 4 * i + c) - k->cube.low[c]) /
                k->cube.side * most;
            at[c] =
                x > 0 ? x < most ? (uint32_t)x : (uint32_t)most : 0; /* 0 if all bodies coincide */
        }
        k->key[i] = nbody_ref_hilbert(at[0], at[1], at[2]);
        k->row[i] = (cl_uint)i;
    }
}

/* Sort on the host of every rank, after gathering all positions. */
static int sort_by_host(struct nbody *nb, cl_uint *order)
{
    const size_t key = sizeof(uint64_t), each = key + sizeof *order;
    char *keys = malloc(nb->n * (key + each)), *work = keys ? keys + nb->n * key : NULL;
    int status =
        keys ? 0
             : clerror_set(ENOMEM, "nbody: out of memory on the host to sort %zu bodies", nb->n);
    if (world_reduce_status(nb->world, status) != 0 || sort_copy_all(nb, CL_MEM_HOST) != 0 ||
        nbody_ranks_spread(nb, nb->particles.posm, 4 * nb->real, 1) != 0)
        status = -1;
    if (status == 0) {
        nbody_each_block(nb->n, key_block,
                         &(struct key_job){nb, bounding_cube(nb), (uint64_t *)(void *)keys, order});
        arrays_ref_sort((int)key, 3 * TREE_LEVELS, keys, order, nb->n,
                        work); /* stable: equal keys keep the order of their rows */
    }
    free(keys);
    return status;
}

static int find_row_order(struct nbody *nb, cl_uint *order)
{
    if (nb->method != NBODY_TREE)
        return sort_by_host(nb, order);
    return nb->domain.tree ? nbody_domain_sort_rows(nb, order) : sort_by_device(nb, order);
}

/* Inverse of a permutation. */
struct inverse {
    size_t n;
    const cl_uint *order;
    cl_uint *place; /* new index of each row */
    atomic_bool missing;
};

static void inverse_clear_block(void *inverse, size_t block, size_t first, size_t end)
{
    (void)block;
    memset(((const struct inverse *)inverse)->place + first, 0xff, (end - first) * sizeof(cl_uint));
}

static void inverse_fill_block(void *inverse, size_t block, size_t first, size_t end)
{
    const struct inverse *v = inverse;
    (void)block;
    for (size_t i = first; i < end; i++)
        if (v->order[i] < v->n)
            __atomic_store_n(
                &v->place[v->order[i]], (cl_uint)i,
                __ATOMIC_RELAXED); /* with a wrong order, two threads may write the same entry */
}

static void inverse_check_block(void *inverse, size_t block, size_t first, size_t end)
{
    struct inverse *v = inverse;
    bool missing = false;
    (void)block;
    for (size_t i = first; i < end; i++)
        missing |= v->place[i] == (cl_uint)-1;
    if (missing)
        atomic_store(&v->missing, true);
}

/* Fail with EIO unless `order` contains each row once; place: workspace of n entries. A driver
 * that sorts wrongly would otherwise lose bodies. */
static int check_permutation(size_t n, const cl_uint *order, cl_uint *place)
{
    struct inverse v = {.n = n, .order = order, .place = place};
    nbody_each_block(n, inverse_clear_block, &v);
    nbody_each_block(n, inverse_fill_block, &v);
    nbody_each_block(n, inverse_check_block, &v);
    return atomic_load(&v.missing)
               ? clerror_set(
                     EIO,
                     "nbody: a device sorted %zu bodies wrongly: the order is not a permutation; "
                     "the driver may be defective",
                     n)
               : 0;
}

/* ---- Permutation. ---------------------------------------------------------------------------- */

/* Gather elements of `bytes` bytes: to[i * to_step] = from[order[first + i] * from_step]; order ==
 * NULL: from[i * from_step]. */
struct gather_job {
    const cl_uint *order;
    size_t first, bytes, from_step, to_step;
    const char *from;
    char *to;
};

/* With a constant size, memcpy compiles to a load and a store. */
static inline void gather_elements(const struct gather_job *k, size_t first, size_t end,
                                   size_t bytes)
{
    for (size_t i = first; i < end; i++) {
        const size_t row = k->order ? k->order[k->first + i] : i;
        memcpy(k->to + i * k->to_step * bytes, k->from + row * k->from_step * bytes, bytes);
    }
}

static void gather_block(void *job, size_t block, size_t first, size_t end)
{
    const struct gather_job *k = job;
    (void)block;
    if (k->bytes == 4)
        gather_elements(k, first, end, 4);
    else if (k->bytes == 8)
        gather_elements(k, first, end, 8);
    else
        gather_elements(k, first, end, k->bytes);
}

/* First row of each device before and after a repartition; NULL if they do not change. */
struct repartition {
    const size_t *old_first, *new_first;
};

static int set_first_rows(struct nbody *nb, const size_t *first)
{
    return first ? nbody_ranks_redivide(nb, first) : 0;
}

/* Permute one component of each row. own(): the component of a device's first row; the next rows
 * follow at distance `step`. all: workspace of n numbers. */
static int permute_component(struct nbody *nb, const cl_uint *order, const struct repartition *d,
                             char *(*own)(const struct nbody *nb, const struct nbody_device *p,
                                          size_t which),
                             size_t which, size_t step, char *all)
{
    if (set_first_rows(nb, d->old_first) != 0)
        return -1;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        nbody_each_block(p->count, gather_block,
                         &(struct gather_job){.bytes = nb->real,
                                              .from_step = step,
                                              .to_step = 1,
                                              .from = own(nb, p, which),
                                              .to = all + p->first * nb->real});
    if (nbody_ranks_spread(nb, all, nb->real, 1) != 0 || set_first_rows(nb, d->new_first) != 0)
        return -1;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        nbody_each_block(p->count, gather_block,
                         &(struct gather_job){.order = order,
                                              .first = p->first,
                                              .bytes = nb->real,
                                              .from_step = 1,
                                              .to_step = step,
                                              .from = order ? all : all + p->first * nb->real,
                                              .to = own(nb, p, which)});
    return 0;
}

static char *row_position(const struct nbody *nb, const struct nbody_device *p, size_t component)
{
    return (char *)nbody_posm(nb, p) + (4 * (size_t)nbody_posm_first(p) + component) * nb->real;
}

static char *row_plane(const struct nbody *nb, const struct nbody_device *p, size_t number)
{
    return (char *)p->state + number * p->rows * nb->real;
}

int nbody_particles_permute(struct nbody *nb, const cl_uint *order, const size_t *old_first,
                            const size_t *new_first, char *all)
{
    const struct repartition *const d = &(struct repartition){old_first, new_first};
    if (sort_copy_all(nb, CL_MEM_HOST) != 0)
        return -1;
    for (size_t c = 0; c < 4; c++)
        if (permute_component(nb, order, d, row_position, c, 4, all) != 0)
            return -1;
    for (size_t k = 0; k < nb->planes; k++)
        if (permute_component(nb, order, d, row_plane, k, 1, all) != 0)
            return -1;
    if (nb->force.a_old_valid && permute_component(nb, order, d, row_a_old, 0, 1, all) != 0)
        return -1;
    return sort_copy_all(nb, CL_MEM_DEVICE);
}

/* Update nb->particles.body and nb->particles.row for the new order. */
static void update_row_maps(struct nbody *nb, const cl_uint *order, cl_uint *was)
{
    nbody_each_block(nb->n, gather_block,
                     &(struct gather_job){.bytes = sizeof *was,
                                          .from_step = 1,
                                          .to_step = 1,
                                          .from = (const char *)nb->particles.body,
                                          .to = (char *)was});
    nbody_each_block(nb->n, gather_block,
                     &(struct gather_job){.order = order,
                                          .bytes = sizeof *was,
                                          .from_step = 1,
                                          .to_step = 1,
                                          .from = (const char *)was,
                                          .to = (char *)nb->particles.body});
    nbody_each_block(
        nb->n, inverse_fill_block,
        &(struct inverse){.n = nb->n, .order = nb->particles.body, .place = nb->particles.row});
    nb->particles.sort_count++;
}

void nbody_hilbert_load(struct nbody *nb, const void *body)
{
    memcpy(nb->particles.body, body, nb->n * sizeof *nb->particles.body);
    for (size_t i = 0; i < nb->n; i++)
        nb->particles.row[nb->particles.body[i]] = (cl_uint)i;
    nb->particles.sort_count++;
}

/* ---- Schedule. ------------------------------------------------------------------------------- */

int nbody_hilbert_open(struct nbody *nb)
{
    if (!nb->particles.sorted)
        return 0;
    nb->particles.sort_interval = ORDER_STEPS;
    nb->particles.body = malloc(nb->n * sizeof *nb->particles.body);
    nb->particles.row = malloc(nb->n * sizeof *nb->particles.row);
    if (!nb->particles.body || !nb->particles.row)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    for (size_t i = 0; i < nb->n; i++)
        nb->particles.body[i] = nb->particles.row[i] = (cl_uint)i;
    return nbody_hilbert_sort_rows(nb);
}

int nbody_hilbert_sort_rows(struct nbody *nb)
{
    cl_uint *order = malloc(nb->n * sizeof *order);
    char *all = malloc(nb->n * nb->real);
    int status =
        order && all
            ? 0
            : clerror_set(ENOMEM, "nbody: out of memory on the host to sort %zu bodies", nb->n);
    if (world_reduce_status(nb->world, status) != 0 || find_row_order(nb, order) != 0 ||
        check_permutation(nb->n, order, (cl_uint *)all) != 0 ||
        (nb->method == NBODY_TREE && !nb->domain.tree
             ? nbody_hilbert_move_device(nb, order)
             : nbody_particles_permute(nb, order, NULL, NULL, all)) != 0)
        status = -1;
    if (status == 0)
        update_row_maps(nb, order, (cl_uint *)all);
    free(order);
    free(all);
    nbody_particles_moved(nb);
    return status;
}

size_t nbody_hilbert_left(const struct nbody *nb)
{
    const size_t left =
        nb->particles.sorted
            ? nb->particles.sort_interval - nb->integration.steps % nb->particles.sort_interval
            : SIZE_MAX;
    return nb->method != NBODY_TREE || nbody_domain_balanced(nb) || left < UNBALANCED_STEPS
               ? left
               : UNBALANCED_STEPS;
}

bool nbody_hilbert_due(const struct nbody *nb)
{
    return nb->particles.sorted && nb->integration.steps > 0 &&
           nb->integration.steps % nb->particles.sort_interval == 0;
}

/* Reorder of[n][numbers] from storage order to the order of bodies. */
static int hilbert_unsort(const struct nbody *nb, double *of, size_t numbers)
{
    if (!nb->particles.sorted)
        return 0;
    char *rows = malloc(nb->n * numbers * sizeof *of);
    if (!rows)
        return clerror_set(
            ENOMEM, "nbody: out of memory on the host to reorder the data of %zu bodies", nb->n);
    memcpy(rows, of, nb->n * numbers * sizeof *of);
    nbody_each_block(nb->n, gather_block,
                     &(struct gather_job){.order = nb->particles.row,
                                          .bytes = numbers * sizeof *of,
                                          .from_step = 1,
                                          .to_step = 1,
                                          .from = rows,
                                          .to = (char *)of});
    free(rows);
    return 0;
}

int nbody_particles_return(struct nbody *nb, size_t numbers, const double *rows, double *out)
{
    const cl_uint *body = nb->particles.body;
    if (nb->domain.slice)
        return nbody_slices_from_rows(nb, numbers, body ? body + nbody_slices_row_base(nb) : NULL,
                                      rows, out);
    return nbody_ranks_spread(nb, out, numbers * sizeof *out, 1) == 0
               ? hilbert_unsort(nb, out, numbers)
               : -1;
}

void nbody_hilbert_free(struct nbody *nb)
{
    free(nb->particles.body);
    free(nb->particles.row);
}
