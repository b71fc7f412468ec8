/* repartition.c - rows move to the devices whose domains of the tree they lie in. Rows are numbered
 * along the curve, so a device loses or gets its first or last rows, and its other rows move within
 * the device, all by one distance.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

/* Compute each device's preferred first row, and n: the first of its domain, as far as the devices
 * have room, and a multiple of domain.grain. Return false if a device would get no rows, or if too
 * few rows would move. */
static bool repartition_helps(const struct nbody *nb, size_t *get)
{
    const struct domains *s = nb->domain.tree;
    const struct holder *const all = nb->domain.holder;
    size_t off = 0, end = nb->padded;
    get[s->n] = nb->n;
    for (size_t k = 0; k < s->n; k++) {
        const size_t most = k ? get[k - 1] + all[k - 1].rows : 0;
        get[k] = (s->begin[k] + nb->domain.grain / 2) / nb->domain.grain * nb->domain.grain;
        get[k] = get[k] < most ? get[k] : most;
    }
    for (size_t k = s->n; k-- > 0; end = get[k]) {
        get[k] = end > get[k] + all[k].rows ? end - all[k].rows : get[k];
        off += get[k] < all[k].first ? all[k].first - get[k] : get[k] - all[k].first;
        if ((end < nb->n ? end : nb->n) <= get[k])
            return false;
    }
    return off > nb->n / 4096;
}

/* True once costs are known roughly, and again once the domains are balanced; later so rarely that
 * repartitions take 1 % of the time. With shares given by the caller, always true. */
static bool repartition_is_due(const struct nbody *nb, double now)
{
    const struct domains *s = nb->domain.tree;
    return s->balance_checks >= 2 && (nb->shares_given || s->repartition_seconds <= 0 ||
                                      (nbody_domain_balanced(nb) && !s->repartitioned) ||
                                      now - s->repartitioned_at > 100 * s->repartition_seconds);
}

/* ---- Move. ----------------------------------------------------------------------------------- */

/* Rows that move from one device to another one, each on any rank. */
struct moving {
    cl_uint from, to; /* domains */
    size_t first, count;
    char *numbers; /* packed rows: by part, then by row */
};

/* A part of a device's rows: positions and masses, a plane of the state, or |a|. */
struct row_part {
    void *block;
    size_t from, width; /* index of the first row's numbers; numbers per row */
};

static size_t row_parts(const struct nbody *nb)
{
    return nb->planes + 2;
}

static struct row_part row_part(const struct nbody *nb, const struct nbody_device *p, size_t k)
{
    return k == 0            ? (struct row_part){p->posm, 0, 4}
           : k <= nb->planes ? (struct row_part){p->state, (k - 1) * p->rows, 1}
                             : (struct row_part){p->force.tree->a_old, 0, 1};
}

/* Rows leave a device by a download to its host images, then packed into `numbers`; they reach a
 * device by an upload from `numbers`. */
enum move_step { DOWNLOAD, PACK, UPLOAD };

/* Enqueue a step, or do it on the host, for rows of a device. */
static int copy_moving(struct nbody *nb, const struct nbody_device *p, const struct moving *m,
                       enum move_step step)
{
    const int direction = step == UPLOAD ? CL_MEM_DEVICE : CL_MEM_HOST;
    char *numbers = m->numbers;
    for (size_t k = 0; k < row_parts(nb); k++) {
        const struct row_part part = row_part(nb, p, k);
        const size_t at = part.from + (m->first - p->first) * part.width,
                     bytes = m->count * part.width * nb->real;
        char *const rows = (char *)part.block + at * nb->real;
        if (step == UPLOAD)
            memcpy(rows, numbers, bytes);
        if (step == PACK)
            memcpy(numbers, rows, bytes);
        else if (clmsyncn(nb->ctx, p->dev, rows, bytes, direction | CL_EVENT_NOWAIT) ==
                 (cl_event)-1)
            return -1;
        numbers += bytes;
    }
    return 0;
}

/* Do a step for the rows that leave this rank's devices, or reach them. Blocks. */
static int copy_movings(struct nbody *nb, const struct moving *list, int count, enum move_step step)
{
    const struct owner *const owner = nb->domain.tree->owner;
    int status = 0;
    for (int k = 0; k < count; k++) {
        struct nbody_device *const p = owner[step == UPLOAD ? list[k].to : list[k].from].device;
        if (p)
            status |= copy_moving(nb, p, &list[k], step);
    }
    EACH_TREE(nb, p)
    status |= nbody_device_wait(nb, p);
    return status;
}

static size_t moving_bytes(const struct nbody *nb, const struct moving *m)
{
    return m->count * (5 + (size_t)nb->planes) * nb->real;
}

static int no_memory_to_move(const struct nbody *nb)
{
    return clerror_set(ENOMEM, "nbody: out of memory on the host for %zu bodies", nb->n);
}

/* List the rows that leave or reach this rank's devices. Return their number; -1: out of memory. */
static int list_movings(const struct nbody *nb, const size_t *get, struct moving *list)
{
    const struct domains *s = nb->domain.tree;
    const struct holder *const had = nb->domain.holder;
    int count = 0;
    for (size_t row = 0, end, from = 0, to = 0; row < nb->n; row = end) {
        while (had[from].first + had[from].count <= row)
            from++;
        while (get[to + 1] <= row)
            to++;
        end = had[from].first + had[from].count;
        end = get[to + 1] < end ? get[to + 1] : end;
        if (from == to || (!s->owner[from].device && !s->owner[to].device))
            continue;
        struct moving *m = &list[count++];
        *m = (struct moving){(cl_uint)from, (cl_uint)to, row, end - row, NULL};
        m->numbers = malloc(moving_bytes(nb, m));
        if (!m->numbers)
            return no_memory_to_move(nb);
    }
    return count;
}

/* Send rows to other ranks, and receive rows from them. */
static int exchange_movings(struct nbody *nb, const struct moving *list, int count)
{
    struct domains *s = nb->domain.tree;
    world_request **const request = malloc(((size_t)count + 1) * sizeof *request);
    size_t posted = 0;
    int status = world_reduce_status(nb->world, request ? 0 : no_memory_to_move(nb));
    for (int k = 0; k < count && status == 0; k++) {
        const struct moving *const m = &list[k];
        const struct owner *from = &s->owner[m->from], *to = &s->owner[m->to];
        if (from->rank == to->rank)
            continue;
        const int tag = 16 + (int)from->number;
        request[posted++] =
            from->device
                ? world_send(nb->world, to->rank, tag, m->numbers, moving_bytes(nb, m))
                : world_receive(nb->world, from->rank, tag, m->numbers, moving_bytes(nb, m));
    }
    if (status == 0)
        status = world_wait(nb->world, request, posted);
    free(request);
    return status;
}

/* Move the rows that stay on a device to their new places there. */
static int shift_rows(const struct nbody *nb, const struct nbody_device *p, size_t first,
                      size_t count)
{
    const size_t had = p->first + p->count, get = first + count,
                 from = p->first > first ? p->first : first, end = had < get ? had : get;
    int status = 0;
    for (size_t k = 0; from < end && p->first != first && k < row_parts(nb); k++) {
        const struct row_part part = row_part(nb, p, k);
        status |=
            nbody_tree_shift(nb, p, part.block, part.from + (from - p->first) * part.width,
                             part.from + (from - first) * part.width, (end - from) * part.width);
    }
    return status;
}

/* Collective. Move the numbers of the rows' bodies, which are on the hosts, to the ranks that get
 * the rows. */
static int move_bodies(struct nbody *nb, const size_t *get)
{
    struct route r = {.begin = NULL};
    size_t *const first = malloc(((size_t)world_size(nb->world) + 1) * sizeof *first);
    int status = world_reduce_status(nb->world, first ? 0 : no_memory_to_move(nb));
    if (status == 0) {
        nbody_ranks_first_rows(nb, get, first);
        status =
            nbody_route_ranges(nb, &r, nbody_ranks_own_first(nb), nbody_ranks_own_rows(nb), first);
    }
    if (status == 0)
        status = nbody_particles_permute_bodies(nb, &r);
    nbody_route_free(&r);
    free(first);
    return status;
}

/* Give all devices their new rows: shift the rows that stay, then upload the rows that come. */
static int put_rows(struct nbody *nb, const size_t *get, const struct moving *list, int count)
{
    int status = 0;
    EACH_TREE(nb, p)
    {
        const size_t *const first = get + p->domain.index;
        status |= shift_rows(nb, p, first[0], first[1] - first[0]);
    }
    EACH_TREE(nb, p)
    status |= nbody_device_wait(nb, p); /* a CPU's rows are the host's */
    nbody_ranks_redivide(nb, get);
    return status == 0 ? copy_movings(nb, list, count, UPLOAD) : -1;
}

/* Collective. Rows keep their numbers and move to the devices that get them. A failure before any
 * device has changed changes nothing; afterwards the state is lost. */
static int repartition_move(struct nbody *nb, const size_t *get)
{
    const size_t most = 2 * (size_t)nb->domain.tree->n;
    struct moving *const list = calloc(most, sizeof *list);
    const int count = list ? list_movings(nb, get, list) : no_memory_to_move(nb);
    int status = count < 0 ? -1 : 0;
    if (status == 0)
        status = copy_movings(nb, list, count, DOWNLOAD);
    if (status == 0)
        status = copy_movings(nb, list, count, PACK);
    status = world_reduce_status(nb->world, status);
    bool kept = false; /* a transport may read the bytes of a failed send */
    if (status == 0) {
        status = world_reduce_status(nb->world, exchange_movings(nb, list, count));
        kept = status != 0;
    }
    if (status == 0)
        status = world_reduce_status(nb->world, move_bodies(nb, get));
    if (status == 0)
        status = world_reduce_status(nb->world, put_rows(nb, get, list, count));
    for (size_t k = 0; list && !kept && k < most; k++)
        free(list[k].numbers);
    free(list);
    return status;
}

int nbody_domain_repartition(struct nbody *nb)
{
    const double began = seconds_now();
    if (!nb->domain.tree || !nb->force.a_old_valid)
        return 0;
    int32_t due = !nb->domain.tree->boundaries_changed && repartition_is_due(nb, began);
    if (world_broadcast(nb->world, 0, &due, sizeof due) != 0)
        return -1;
    if (!due)
        return 0;
    nb->domain.tree->repartitioned = nbody_domain_balanced(nb);
    size_t *const get = calloc(nb->domain.tree->n + 1, sizeof *get);
    const bool better = get && repartition_helps(nb, get);
    int status = world_reduce_status(nb->world, get ? 0 : no_memory_to_move(nb));
    if (status == 0 && better)
        status = repartition_move(nb, get);
    free(get);
    if (better) {
        nbody_particles_moved(nb);
        nb->domain.tree->repartitioned_at = seconds_now();
        nb->domain.tree->repartition_seconds = nb->domain.tree->repartitioned_at - began;
    }
    return status;
}
