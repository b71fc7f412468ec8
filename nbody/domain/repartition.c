/* repartition.c - rows move to the devices whose domains of the tree they lie in. Rows are numbered
 * along the curve, so a device loses or gets its first or last rows, and its other rows move within
 * the device, all by one distance.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

#include "core/clock.h"

/* Compute each device's present and preferred first row, both multiples of domain.grain: the first
 * of its domain, as far as the devices have room. Return false if a device would get no rows, or if
 * too few rows would move. */
static bool repartition_helps(const struct nbody *nb, size_t *had, size_t *get)
{
    const struct domains *s = nb->domain.tree;
    const struct holder *const all = nb->domain.holder;
    size_t off = 0, end = nb->padded;
    for (size_t k = 0; k < s->n; k++) {
        const size_t most = k ? get[k - 1] + all[k - 1].rows : 0;
        had[k] = all[k].first;
        get[k] = (s->begin[k] + nb->domain.grain / 2) / nb->domain.grain * nb->domain.grain;
        get[k] = get[k] < most ? get[k] : most;
    }
    for (size_t k = s->n; k-- > 0; end = get[k]) {
        get[k] = end > get[k] + all[k].rows ? end - all[k].rows : get[k];
        off += get[k] < had[k] ? had[k] - get[k] : get[k] - had[k];
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
    char *numbers; /* of the rows: by part, then by row */
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

/* Return the host image of a part of the moving rows, which are the device's, and its size. */
static char *moving_part(const struct nbody *nb, const struct nbody_device *p,
                         const struct moving *m, size_t k, size_t *bytes)
{
    const struct row_part part = row_part(nb, p, k);
    *bytes = m->count * part.width * nb->real;
    return (char *)part.block + (part.from + (m->first - p->first) * part.width) * nb->real;
}

/* Enqueue copies of rows between a device and its host images. */
static int copy_moving(struct nbody *nb, const struct nbody_device *p, const struct moving *m,
                       int direction)
{
    for (size_t k = 0; k < row_parts(nb); k++) {
        size_t bytes;
        char *const rows = moving_part(nb, p, m, k, &bytes);
        if (clmsyncn(nb->ctx, p->dev, rows, bytes, direction | CL_EVENT_NOWAIT) == (cl_event)-1)
            return -1;
    }
    return 0;
}

/* Copy rows between the host images of a device and m->numbers. */
static void pack_moving(const struct nbody *nb, const struct nbody_device *p,
                        const struct moving *m, bool pack)
{
    char *numbers = m->numbers;
    for (size_t k = 0; k < row_parts(nb); k++) {
        size_t bytes;
        char *const rows = moving_part(nb, p, m, k, &bytes);
        memcpy(pack ? numbers : rows, pack ? rows : numbers, bytes);
        numbers += bytes;
    }
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
static int list_movings(const struct nbody *nb, const size_t *had, const size_t *get,
                        struct moving *list)
{
    const struct domains *s = nb->domain.tree;
    int count = 0;
    for (size_t row = 0, end, from = 0, to = 0; row < nb->n; row = end) {
        while (from + 1 < s->n && had[from + 1] <= row)
            from++;
        while (to + 1 < s->n && get[to + 1] <= row)
            to++;
        end = from + 1 < s->n && had[from + 1] < nb->n ? had[from + 1] : nb->n;
        end = to + 1 < s->n && get[to + 1] < end ? get[to + 1] : end;
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

/* Download and pack the rows that leave this rank's devices. Blocks. */
static int take_movings(struct nbody *nb, const struct moving *list, int count)
{
    const struct owner *const owner = nb->domain.tree->owner;
    int status = 0;
    for (int k = 0; k < count; k++)
        if (owner[list[k].from].device)
            status |= copy_moving(nb, owner[list[k].from].device, &list[k], CL_MEM_HOST);
    EACH_TREE(nb, p)
    status |= nbody_device_wait(nb, p);
    for (int k = 0; k < count && status == 0; k++)
        if (owner[list[k].from].device)
            pack_moving(nb, owner[list[k].from].device, &list[k], true);
    return status;
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

/* Unpack and upload the rows that reach this rank's devices. Blocks. */
static int put_movings(struct nbody *nb, const struct moving *list, int count)
{
    const struct owner *const owner = nb->domain.tree->owner;
    int status = 0;
    for (int k = 0; k < count; k++) {
        const struct nbody_device *p = owner[list[k].to].device;
        if (!p)
            continue;
        pack_moving(nb, p, &list[k], false);
        status |= copy_moving(nb, p, &list[k], CL_MEM_DEVICE);
    }
    EACH_TREE(nb, p)
    status |= nbody_device_wait(nb, p);
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
    struct domains *s = nb->domain.tree;
    int status = 0;
    for (cl_uint k = 0; k < s->n; k++) {
        struct owner *const o = &s->owner[k];
        o->first = get[k];
        o->count = (k + 1 < s->n ? get[k + 1] : nb->n) - get[k];
        if (o->device)
            status |= shift_rows(nb, o->device, o->first, o->count);
    }
    EACH_TREE(nb, p)
    status |= nbody_device_wait(nb, p); /* a CPU's rows are the host's */
    nbody_ranks_redivide(nb, get);
    return status == 0 ? put_movings(nb, list, count) : -1;
}

/* Collective. Rows keep their numbers and move to the devices that get them. A failure before any
 * device has changed changes nothing; afterwards the state is lost. */
static int repartition_move(struct nbody *nb, const size_t *had, const size_t *get)
{
    const size_t most = 2 * (size_t)nb->domain.tree->n;
    struct moving *const list = calloc(most, sizeof *list);
    const int count = list ? list_movings(nb, had, get, list) : no_memory_to_move(nb);
    int status = world_reduce_status(nb->world, count < 0 ? -1 : 0);
    if (status == 0)
        status = world_reduce_status(nb->world, take_movings(nb, list, count));
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
    const size_t n = nb->domain.tree->n;
    size_t *had = calloc(2 * n, sizeof *had), *get = had ? had + n : NULL;
    const bool better = had && repartition_helps(nb, had, get);
    int status = had ? 0 : no_memory_to_move(nb);
    if (world_reduce_status(nb->world, status) != 0 ||
        (better && repartition_move(nb, had, get) != 0))
        status = -1;
    free(had);
    if (better) {
        nbody_particles_moved(nb);
        nb->domain.tree->repartitioned_at = seconds_now();
        nb->domain.tree->repartition_seconds = nb->domain.tree->repartitioned_at - began;
    }
    return status;
}
