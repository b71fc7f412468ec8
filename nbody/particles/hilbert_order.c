/* hilbert_order.c - rows of bodies sorted along the Hilbert curve: with the tree, and for many
 * bodies in mixed precision.
 *
 * A device integrates a range of rows and builds the tree of a range of the curve. If rows follow
 * the curve, these are nearly the same bodies: few bodies migrate for a sum, and rows that are read
 * together lie together. Mixed precision needs consecutive rows that are close in space
 * (direct_mixed.cl). Rows are sorted when an engine is created and after every ORDER_STEPS steps.
 * Callers do not see the order: all arrays of the interface are in the caller's order.
 *
 * The device of a tree of all bodies sorts and permutes the rows (force/tree_order.c). With domains
 * each device sorts its own rows; otherwise each rank's host does. Then the ranks merge their rows
 * (domain/row_order.c) and exchange the bodies (domain/route.c). For the first sort with domains,
 * without slices, the bodies are written in order instead (nbody_particles_upload_sorted).
 *
 * A rank knows the bodies of its own rows only. Arrays in the caller's order pass through the ranks
 * that have ranges of body numbers, and listed bodies are looked up in a table of the list.
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

static int sort_no_memory(size_t n)
{
    return clerror_set(ENOMEM, "nbody: out of memory on the host to order %zu bodies", n);
}

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

/* Sort on the device that has all rows. */
static int sort_by_device(struct nbody *nb, struct route *route)
{
    const size_t n = nbody_ranks_own_rows(nb);
    int status = nbody_route_open(nb, route, n);
    route->order = route->memory[0] = malloc((n + 1) * sizeof *route->order);
    if (status == 0 && !route->order)
        status = sort_no_memory(n);
    EACH_TREE(nb, p)
    if (status == 0)
        status = nbody_hilbert_find_device(nb, p, route->memory[0]);
    return world_reduce_status(nb->world, status);
}

/* Cube that contains all bodies. */
struct cube {
    double low[3], side;
};

static void join_cubes(void *a, const void *b, void *arg)
{
    double *one = a;
    const double *two = b;
    (void)arg;
    for (int c = 0; c < 3; c++) {
        one[c] = fmin(one[c], two[c]);
        one[3 + c] = fmax(one[3 + c], two[3 + c]);
    }
}

/* Collective. */
static int find_bounding_cube(const struct nbody *nb, struct cube *cube)
{
    const size_t first = nbody_ranks_own_first(nb), end = first + nbody_ranks_own_rows(nb);
    double box[2][3]; /* low, high */
    for (size_t c = 0; c < 3; c++) {
        box[0][c] = INFINITY;
        box[1][c] = -INFINITY;
        for (size_t i = first; i < end; i++) {
            const double x = nbody_real_get(nb, nb->particles.posm, 4 * i + c);
            box[0][c] = fmin(box[0][c], x);
            box[1][c] = fmax(box[1][c], x);
        }
    }
    if (world_reduce(nb->world, box, sizeof box, join_cubes, NULL) != 0)
        return -1;
    cube->side = 0;
    for (int c = 0; c < 3; c++) {
        cube->low[c] = box[0][c];
        cube->side = fmax(cube->side, box[1][c] - box[0][c]);
    }
    return 0;
}

struct key_job {
    const struct nbody *nb;
    struct cube cube;
    size_t first; /* row of this rank */
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
            const double x = (nbody_real_get(k->nb, k->nb->particles.posm, 4 * (k->first + i) + c) -
                              k->cube.low[c]) /
                             k->cube.side * most;
            at[c] =
                x > 0 ? x < most ? (uint32_t)x : (uint32_t)most : 0; /* 0 if all bodies coincide */
        }
        k->key[i] = nbody_ref_hilbert(at[0], at[1], at[2]);
        k->row[i] = (cl_uint)i;
    }
}

/* Sort on the host of every rank. */
static int sort_by_host(struct nbody *nb, struct route *route)
{
    struct sorted_rows s = {.n = nbody_ranks_own_rows(nb), .words = 1};
    struct key_job k = {.nb = nb, .first = nbody_ranks_own_first(nb)};
    k.row = s.row = malloc((s.n + 1) * sizeof *s.row);
    k.key = s.keys = malloc((s.n + 1) * sizeof *s.keys);
    char *work = malloc(s.n * (sizeof *s.row + sizeof *s.keys) + 1);
    int status = s.row && s.keys && work ? 0 : sort_no_memory(s.n);
    *route = (struct route){.begin = NULL};
    if (world_reduce_status(nb->world, status) != 0 || sort_copy_all(nb, CL_MEM_HOST) != 0 ||
        find_bounding_cube(nb, &k.cube) != 0) {
        free(s.row);
        free(s.keys);
        free(work);
        return -1;
    }
    nbody_each_block(s.n, key_block, &k);
    arrays_ref_sort((int)sizeof *s.keys, 3 * TREE_LEVELS, s.keys, s.row, s.n,
                    work); /* stable: equal keys keep the order of their rows */
    free(work);
    return nbody_domain_merge_rows(nb, &s, route);
}

static int find_row_order(struct nbody *nb, struct route *route)
{
    if (nb->method != NBODY_TREE)
        return sort_by_host(nb, route);
    return nb->domain.tree ? nbody_domain_sort_rows(nb, route) : sort_by_device(nb, route);
}

/* Numbers of a list that have been seen. */
struct listed {
    size_t n;
    const cl_uint *list;
    bool *seen;
    atomic_bool missing;
};

static void listed_mark_block(void *listed, size_t block, size_t first, size_t end)
{
    const struct listed *l = listed;
    (void)block;
    for (size_t i = first; i < end; i++)
        if (l->list[i] < l->n)
            __atomic_store_n(&l->seen[l->list[i]], true,
                             __ATOMIC_RELAXED); /* two threads may write the same entry */
}

static void listed_check_block(void *listed, size_t block, size_t first, size_t end)
{
    struct listed *l = listed;
    bool missing = false;
    (void)block;
    for (size_t i = first; i < end; i++)
        missing |= !l->seen[i];
    if (missing)
        atomic_store(&l->missing, true);
}

int nbody_is_permutation(size_t n, const cl_uint *list)
{
    struct listed l = {.n = n, .list = list, .seen = calloc(n + 1, sizeof *l.seen)};
    if (!l.seen)
        return sort_no_memory(n);
    nbody_each_block(n, listed_mark_block, &l);
    nbody_each_block(n, listed_check_block, &l);
    free(l.seen);
    return !atomic_load(&l.missing);
}

/* ---- Permutation. ---------------------------------------------------------------------------- */

/* Numbers of each row that move together: 4 or 8 bytes. */
struct component {
    char *(*own)(const struct nbody *nb, const struct nbody_device *p, size_t which);
    size_t which, bytes, step; /* own(which): in a device's first row; step: bytes between rows */
};

/* Copy a component between devices and the array of this rank's rows. */
struct component_job {
    const struct nbody *nb;
    const struct component *c;
    char *array;
    const cl_uint *order;         /* gather: row of each element; NULL: 0, 1, ... */
    const struct nbody_device *p; /* scatter: device of the rows */
};

/* With a constant size, memcpy compiles to a load and a store. */
static inline void gather_rows(const struct component_job *j, size_t first, size_t end,
                               size_t bytes)
{
    const size_t own_first = nbody_ranks_own_first(j->nb), step = j->c->step;
    const cl_uint *const order = j->order;
    char *const array = j->array;
    const char *own = NULL;
    size_t begin = 0, count = 0; /* rows of the device of `own` */
    for (size_t i = first; i < end; i++) {
        const size_t row = own_first + (order ? order[i] : i);
        if (row - begin >= count) {
            const struct nbody_device *p = j->nb->device;
            while (row - p->first >= p->count)
                p++;
            begin = p->first;
            count = p->count;
            own = j->c->own(j->nb, p, j->c->which);
        }
        memcpy(array + i * bytes, own + (row - begin) * step, bytes);
    }
}

static void gather_block(void *job, size_t block, size_t first, size_t end)
{
    const struct component_job *j = job;
    (void)block;
    if (j->c->bytes == 4)
        gather_rows(j, first, end, 4);
    else
        gather_rows(j, first, end, 8);
}

static inline void scatter_rows(const struct component_job *j, size_t first, size_t end,
                                size_t bytes)
{
    char *const own = j->c->own(j->nb, j->p, j->c->which);
    const char *const array = j->array;
    const size_t step = j->c->step;
    for (size_t i = first; i < end; i++)
        memcpy(own + i * step, array + i * bytes, bytes);
}

static void scatter_block(void *job, size_t block, size_t first, size_t end)
{
    const struct component_job *j = job;
    (void)block;
    if (j->c->bytes == 4)
        scatter_rows(j, first, end, 4);
    else
        scatter_rows(j, first, end, 8);
}

/* Copy the array to the devices. */
static void scatter_component(const struct nbody *nb, const struct component *c, char *array)
{
    const size_t own_first = nbody_ranks_own_first(nb);
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count)
            nbody_each_block(
                p->count, scatter_block,
                &(struct component_job){
                    .nb = nb, .c = c, .array = array + (p->first - own_first) * c->bytes, .p = p});
}

/* A component of this rank's rows before and after a permutation; a single rank reads it from its
 * devices: from is NULL. */
struct permuted {
    char *from, *to;
};

static int permute_component(struct nbody *nb, const struct route *route,
                             const struct permuted *rows, const struct component *c)
{
    nbody_each_block(nbody_ranks_own_rows(nb), gather_block,
                     &(struct component_job){.nb = nb,
                                             .c = c,
                                             .array = rows->from ? rows->from : rows->to,
                                             .order = rows->from ? NULL : route->order});
    if (rows->from && nbody_route_move(nb, route, c->bytes, rows->from, rows->to) != 0)
        return -1;
    scatter_component(nb, c, rows->to);
    return 0;
}

static char *row_position(const struct nbody *nb, const struct nbody_device *p, size_t byte)
{
    return (char *)nbody_posm(nb, p) + 4 * (size_t)nbody_posm_first(p) * nb->real + byte;
}

static char *row_plane(const struct nbody *nb, const struct nbody_device *p, size_t number)
{
    return (char *)p->state + number * p->rows * nb->real;
}

/* True for a plane that is 0 for all bodies: the first sort has positions and velocities only. */
static bool plane_is_empty(const struct nbody *nb, size_t k)
{
    return nb->particles.sort_count == 0 && k - STATE_VEL >= 3 &&
           !(integrator_predicts(nb) && k - STATE_POS < 3);
}

static int permute_components(struct nbody *nb, const struct route *route,
                              const struct permuted *rows)
{
    struct component c = {row_position, 0, rows->from ? nb->real : sizeof(double), 4 * nb->real};
    for (; c.which < c.step; c.which += c.bytes)
        if (permute_component(nb, route, rows, &c) != 0)
            return -1;
    c = (struct component){row_plane, 0, nb->real, nb->real};
    for (; c.which < nb->planes; c.which++)
        if (!plane_is_empty(nb, c.which) && permute_component(nb, route, rows, &c) != 0)
            return -1;
    c.own = row_a_old;
    return nb->force.a_old_valid ? permute_component(nb, route, rows, &c) : 0;
}

int nbody_particles_permute_bodies(struct nbody *nb, const struct route *route)
{
    const size_t rows = route->came[world_size(nb->world)];
    nb->particles.sort_count++;
    if (world_size(nb->world) == 1 && !route->order && !route->place)
        return 0;
    cl_uint *const body = malloc((rows + 1) * sizeof *body);
    int status = world_reduce_status(nb->world, body ? 0 : sort_no_memory(rows));
    if (status == 0)
        status = world_reduce_status(
            nb->world, nbody_route_move(nb, route, sizeof *body, nb->particles.body, body));
    free(status == 0 ? nb->particles.body : body);
    nb->particles.body = status == 0 ? body : nb->particles.body;
    return status;
}

/* Collective. Permute positions, state, |a| and `body` along a route. Blocks. */
static int permute_rows(struct nbody *nb, const struct route *route)
{
    const int ranks = world_size(nb->world);
    const struct permuted rows = {
        ranks > 1 ? malloc((route->begin[ranks] + 1) * nb->real) : NULL,
        malloc((route->came[ranks] + 1) * (ranks > 1 ? nb->real : sizeof(double)))};
    int status = (rows.from || ranks == 1) && rows.to ? 0 : sort_no_memory(route->begin[ranks]);
    if (world_reduce_status(nb->world, status) != 0 || sort_copy_all(nb, CL_MEM_HOST) != 0 ||
        permute_components(nb, route, &rows) != 0 || sort_copy_all(nb, CL_MEM_DEVICE) != 0)
        status = -1;
    free(rows.from);
    free(rows.to);
    return status == 0 ? nbody_particles_permute_bodies(nb, route) : -1;
}

void nbody_hilbert_load(struct nbody *nb, const void *body)
{
    const size_t rows = nbody_ranks_own_rows(nb);
    memcpy(nb->particles.body,
           (const char *)body + nbody_ranks_own_first(nb) * sizeof *nb->particles.body,
           rows * sizeof *nb->particles.body);
    nb->particles.sort_count++;
}

/* ---- Schedule. ------------------------------------------------------------------------------- */

/* Collective. EIO unless each rank's sorted rows are a permutation: a driver that sorts wrongly
 * would otherwise lose bodies. */
static int check_order(struct nbody *nb, const struct route *route)
{
    const size_t rows = route->begin[world_size(nb->world)];
    int status = nbody_is_permutation(rows, route->order);
    if (status == 0)
        status = clerror_set(
            EIO,
            "nbody: a device sorted %zu bodies wrongly: the order is not a permutation; the "
            "driver may be defective",
            rows);
    return world_reduce_status(nb->world, status < 0 ? -1 : 0);
}

/* True if the hosts permute the rows; the device of a tree of all bodies does it otherwise. */
static bool hosts_permute(const struct nbody *nb)
{
    return nb->method != NBODY_TREE || nb->domain.tree;
}

/* The order is the bodies of the rows, which were bodies 0, 1, ... */
static void take_order(struct nbody *nb, struct route *route)
{
    nb->particles.body = route->memory[0];
    route->memory[0] = NULL;
    nb->particles.sort_count++;
}

/* Sort the bodies along the curve; with `move` false only their numbers. */
static int hilbert_sort(struct nbody *nb, bool move)
{
    struct route route;
    int status = find_row_order(nb, &route);
    if (status == 0)
        status = check_order(nb, &route);
    if (status == 0 && move && !hosts_permute(nb))
        status = nbody_hilbert_move_device(nb, route.order);
    if (status == 0 && move && hosts_permute(nb))
        status = permute_rows(nb, &route);
    else if (status == 0 && nb->particles.body)
        status = nbody_particles_permute_bodies(nb, &route);
    else if (status == 0)
        take_order(nb, &route);
    nbody_route_free(&route);
    nbody_particles_moved(nb);
    return status;
}

int nbody_hilbert_sort_rows(struct nbody *nb)
{
    return hilbert_sort(nb, true);
}

static void number_block(void *engine, size_t block, size_t first, size_t end)
{
    const struct nbody *nb = engine;
    const size_t own = nbody_ranks_own_first(nb);
    (void)block;
    for (size_t i = first; i < end; i++)
        nb->particles.body[i] = (cl_uint)(own + i);
}

int nbody_hilbert_open(struct nbody *nb, bool move)
{
    if (!nb->particles.sorted)
        return 0;
    nb->particles.sort_interval = ORDER_STEPS;
    if (world_size(nb->world) == 1 && !(move && hosts_permute(nb)))
        return hilbert_sort(nb, move); /* takes over its order */
    const size_t rows = nbody_ranks_own_rows(nb);
    nb->particles.body = malloc((rows + 1) * sizeof *nb->particles.body);
    if (world_reduce_status(nb->world, nb->particles.body ? 0 : sort_no_memory(rows)) != 0)
        return -1;
    nbody_each_block(rows, number_block, nb);
    return hilbert_sort(nb, move);
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

/* ---- The caller's order. --------------------------------------------------------------------- */

double *nbody_particles_rows(const struct nbody *nb, size_t numbers, double *out)
{
    const size_t rows = nbody_ranks_own_rows(nb);
    if (!nb->domain.slice && !nb->particles.sorted)
        return out + nbody_ranks_own_first(nb) * numbers;
    double *const own = malloc((rows + 1) * numbers * sizeof *own);
    if (!own)
        sort_no_memory(rows);
    return own;
}

int nbody_particles_return(struct nbody *nb, int status, size_t numbers, double *rows, double *out)
{
    const size_t *const slice = nb->domain.slice;
    const size_t *const part = slice ? slice : nb->domain.first_row;
    const size_t first = nbody_ranks_own_first(nb), count = nbody_ranks_own_rows(nb);
    double *const to = slice ? out : out + first * numbers;
    struct route r = {.begin = NULL};
    status = world_reduce_status(nb->world, status);
    if (status == 0 && rows != to)
        status = nb->particles.sorted ? nbody_route_numbers(nb, &r, count, nb->particles.body, part)
                                      : nbody_route_ranges(nb, &r, first, count, part);
    if (status == 0 && rows != to)
        status = nbody_route_move(nb, &r, numbers * sizeof *to, rows, to);
    nbody_route_free(&r);
    if (rows != to)
        free(rows);
    return status == 0 && !slice ? nbody_ranks_spread(nb, out, numbers * sizeof *out) : status;
}

/* The rows of listed bodies. Bodies low .. low + n - 1 are divided into `buckets` ranges; bucket b
 * has the entries entry[begin[b]] .. entry[begin[b + 1] - 1] of the list. */
struct finding {
    const struct nbody *nb;
    size_t low, n, buckets, first;
    const uint32_t *which;
    cl_uint *begin, *entry, *row;
};

static size_t find_bucket(const struct finding *f, size_t body)
{
    return (size_t)((uint64_t)(body - f->low) * f->buckets / f->n);
}

static void find_row_block(void *finding, size_t block, size_t first, size_t end)
{
    const struct finding *f = finding;
    (void)block;
    for (size_t i = first; i < end; i++) {
        const size_t body = f->nb->particles.body[i];
        if (body < f->low || body - f->low >= f->n)
            continue;
        const cl_uint *const begin = f->begin + find_bucket(f, body);
        for (cl_uint e = begin[0]; e < begin[1]; e++)
            if (f->which[f->entry[e]] == body)
                f->row[f->entry[e]] = (cl_uint)(f->first + i);
    }
}

/* Sort the list into buckets: a counting sort. */
static void find_fill_buckets(struct finding *f)
{
    const size_t count = f->buckets;
    for (size_t k = 0; k < count; k++)
        f->begin[find_bucket(f, f->which[k]) + 1]++;
    for (size_t b = 0; b < count; b++)
        f->begin[b + 1] += f->begin[b];
    for (size_t k = count; k-- > 0;)
        f->entry[--f->begin[find_bucket(f, f->which[k]) + 1]] = (cl_uint)k;
    memmove(f->begin, f->begin + 1, count * sizeof *f->begin);
    f->begin[count] = (cl_uint)count;
}

int nbody_particles_find(const struct nbody *nb, size_t count, const uint32_t *which, cl_uint *row)
{
    if (count == 0)
        return 0;
    if (!nb->particles.sorted) {
        memcpy(row, which, count * sizeof *row);
        return 0;
    }
    struct finding f = {.nb = nb,
                        .low = which[0],
                        .buckets = count,
                        .first = nbody_ranks_own_first(nb),
                        .which = which,
                        .begin = calloc(count + 1, sizeof *f.begin),
                        .entry = malloc(count * sizeof *f.entry),
                        .row = row};
    size_t high = which[0];
    for (size_t k = 0; k < count; k++) {
        f.low = which[k] < f.low ? which[k] : f.low;
        high = which[k] > high ? which[k] : high;
        row[k] = NO_ROW;
    }
    f.n = high - f.low + 1;
    if (f.begin && f.entry) {
        find_fill_buckets(&f);
        nbody_each_block(nbody_ranks_own_rows(nb), find_row_block, &f);
    }
    const int status = f.begin && f.entry ? 0 : sort_no_memory(count);
    free(f.begin);
    free(f.entry);
    return status;
}

void nbody_hilbert_free(struct nbody *nb)
{
    free(nb->particles.body);
}
