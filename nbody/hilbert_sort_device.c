/* hilbert_sort_device.c - rows put in order by the devices that make a tree.
 *
 *   order, at the host --> felt          each device has all of it there, and what its bodies felt
 *   in `feel` meanwhile
 *   posm[order] --> body                 positions of a device's new rows: it has those of all
 *   bodies
 *   a plane of state --> posm            up to four at a time; by way of hosts each device gets
 *   those of the others posm[order] --> the plane
 *   body --> posm, feel --> felt
 *
 * Devices need no memory for that, and only what is moved between them goes through the host.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/blocks.h"
#include "nbody/tree.h"

enum { AT_ONCE = 4 }; /* numbers of a row of posm */

/* Numbers of a device's rows: a plane of its state, or what they felt. */
struct numbers {
    void *at;
    cl_ulong from; /* the first row's */
};

static int wait_all(struct nbody *nb)
{
    int status = 0;
    EACH_PART(nb, p)
    if (nbody_device_wait(nb, p) != 0)
        status = -1;
    return status;
}

/* n numbers of `from`, to those of `to`. */
static int move(const struct nbody *nb, const struct nbody_device *p, struct numbers from,
                struct numbers to, cl_uint n)
{
    return nbody_tree_launch_1d(nb, p, TREE_NUMBERS_MOVE, n,
                                ARGS(from.at, from.from, n, to.at, to.from));
}

static int keep_felt(const struct nbody *nb, const struct nbody_device *p, bool back)
{
    const struct numbers felt = {p->tree->felt, p->first}, kept = {p->tree->feel, 0};
    return move(nb, p, back ? kept : felt, back ? felt : kept, (cl_uint)p->count);
}

/* ---- The order. ------------------------------------------------------------------------------ */

struct copying {
    const cl_uint *from;
    cl_uint *to;
};

static void copy_block(void *copying, size_t block, size_t first, size_t end)
{
    const struct copying *c = copying;
    (void)block;
    memcpy(c->to + first, c->from + first, (end - first) * sizeof *c->to);
}

int nbody_hilbert_find_device(struct nbody *nb, struct nbody_device *p, cl_uint *order)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    if (nbody_tree_sort(nb, p) != 0 || keep_felt(nb, p, false) != 0 ||
        nbody_tree_launch_1d(nb, p, TREE_ORDER_OUT, nb->n, ARGS(t->order, n, t->felt)) != 0 ||
        nbody_device_download(nb, p, t->felt, nb->n * sizeof *order) != 0) {
        nb->a_old_valid = false; /* what bodies felt is lost */
        return -1;
    }
    nbody_each_block(nb->n, copy_block, &(struct copying){t->felt, order});
    return keep_felt(nb, p, true);
}

/* The order to a device, and which positions its rows get. */
static int begin(struct nbody *nb, struct nbody_device *p, const cl_uint *order)
{
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count;
    nbody_each_block(nb->n, copy_block, &(struct copying){order, t->felt});
    return keep_felt(nb, p, false) != 0 || clmsyncn(nb->ctx, p->dev, t->felt, nb->n * sizeof *order,
                                                    CL_MEM_DEVICE) == (cl_event)-1
               ? -1
               : nbody_tree_launch_1d(nb, p, TREE_ROWS_PICK, p->count,
                                      ARGS(nb->posm, t->felt, first, count, t->body));
}

/* ---- Numbers of rows. ------------------------------------------------------------------------ */

static struct numbers numbers_of(const struct nbody *nb, const struct nbody_device *p, size_t k)
{
    return k < nb->planes ? (struct numbers){p->state, k * p->rows}
                          : (struct numbers){p->tree->feel, 0};
}

/* All rows' numbers of a place in posm, of which this is the first row's. */
static char *staged(const struct nbody *nb, size_t place, size_t row)
{
    return (char *)nb->posm + (place * nb->n + row) * nb->real;
}

static int copy(struct nbody *nb, const struct nbody_device *p, size_t place, size_t first,
                size_t end, int direction)
{
    return end > first &&
                   clmsyncn(nb->ctx, p->dev, staged(nb, place, first), (end - first) * nb->real,
                            direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED) == (cl_event)-1
               ? -1
               : 0;
}

/* What each device has of `some` numbers, to all others, if there are any; status: of what was
 * started before. */
static int exchange(struct nbody *nb, size_t some, int status)
{
    if (!nb->domains)
        return status;
    for (size_t k = 0; status == 0 && k < some; k++)
        EACH_PART(nb, p)
    status |= copy(nb, p, k, p->first, p->first + p->count, CL_MEM_HOST);
    status |= wait_all(nb);
    if (world_reduce_status(nb->world, status) != 0)
        return -1;
    for (size_t k = 0; k < some; k++)
        if (nbody_ranks_spread(nb, staged(nb, k, 0), nb->real, 1) != 0)
            return -1;
    for (size_t k = 0; k < some; k++)
        EACH_PART(nb, p)
    status |= copy(nb, p, k, 0, p->first, CL_MEM_DEVICE) |
              copy(nb, p, k, p->first + p->count, nb->n, CL_MEM_DEVICE);
    return status;
}

static int pick(const struct nbody *nb, const struct nbody_device *p, size_t place,
                struct numbers to)
{
    const cl_ulong from = place * nb->n;
    const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count;
    return nbody_tree_launch_1d(nb, p, TREE_NUMBERS_PICK, p->count,
                                ARGS(nb->posm, from, p->tree->felt, first, count, to.at, to.from));
}

/* Collective. */
static int move_some(struct nbody *nb, size_t first, size_t some)
{
    int status = 0;
    for (size_t k = 0; k < some; k++)
        EACH_PART(nb, p)
    status |= move(nb, p, numbers_of(nb, p, first + k),
                   (struct numbers){nb->posm, k * nb->n + p->first}, (cl_uint)p->count);
    status = exchange(nb, some, status);
    for (size_t k = 0; status == 0 && k < some; k++)
        EACH_PART(nb, p)
    status |= pick(nb, p, k, numbers_of(nb, p, first + k));
    return world_reduce_status(
        nb->world,
        wait_all(nb) | status); /* devices may share what the next numbers take the place of */
}

int nbody_hilbert_move_device(struct nbody *nb, const cl_uint *order)
{
    const size_t all = nb->planes + nb->a_old_valid;
    int status = 0;
    EACH_PART(nb, p)
    status |= begin(nb, p, order);
    status = world_reduce_status(nb->world, wait_all(nb) | status);
    for (size_t k = 0; status == 0 && k < all; k += AT_ONCE)
        status = move_some(nb, k, all - k < AT_ONCE ? all - k : AT_ONCE);
    EACH_PART(nb, p)
    {
        const cl_uint first = (cl_uint)p->first, count = (cl_uint)p->count;
        p->tree->gathered = false;
        if (status == 0)
            status |= nbody_tree_launch_1d(nb, p, TREE_ROWS_PUT, p->count,
                                           ARGS(p->tree->body, count, nb->posm, first)) |
                      keep_felt(nb, p, true);
    }
    status = world_reduce_status(nb->world, wait_all(nb) | status);
    nb->a_old_valid &= status == 0;
    return status;
}
