/* tree_order.c - rows sorted along the Hilbert curve by devices; their permutation on the device of
 * a tree of all bodies. Numbers moved within a block of a device.
 *
 *   order on the host --> a_old    a_old waits in a_old_sorted meanwhile
 *   posm[order]  --> body
 *   state column --> posm          up to four columns at a time
 *   posm[order]  --> state column
 *   body --> posm, a_old_sorted --> a_old
 *
 * The device needs no additional memory.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/particles/body_blocks.h"
#include "nbody/force/tree.h"

enum { COLUMNS_AT_ONCE = 4 }; /* numbers per row of posm */

/* One number per row of a device: a plane of its state, or a_old. */
struct column {
    void *at;
    cl_ulong from; /* index of the first row's number */
};

/* Copy n numbers between columns. */
static int launch_copy_column(const struct nbody *nb, const struct nbody_device *p,
                              struct column from, struct column to, cl_uint n)
{
    return nbody_tree_launch_1d(nb, p, TREE_COPY_COLUMN, n,
                                ARGS(from.at, from.from, n, to.at, to.from));
}

static int save_a_old(const struct nbody *nb, const struct nbody_device *p, bool back)
{
    const struct column a_old = {p->force.tree->a_old, 0}, saved = {p->force.tree->a_old_sorted, 0};
    return launch_copy_column(nb, p, back ? saved : a_old, back ? a_old : saved, (cl_uint)p->count);
}

/* ---- Order. ---------------------------------------------------------------------------------- */

struct copy_job {
    const cl_uint *from;
    cl_uint *to;
    cl_uint add; /* to each number */
};

static void sort_copy_block(void *job, size_t block, size_t first, size_t end)
{
    const struct copy_job *c = job;
    (void)block;
    memcpy(c->to + first, c->from + first, (end - first) * sizeof *c->to);
    for (size_t i = first; c->add && i < end; i++)
        c->to[i] += c->add;
}

int nbody_hilbert_find_device(struct nbody *nb, struct nbody_device *p, cl_uint *order)
{
    struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nb->n;
    if (nbody_tree_sort(nb, p) != 0 || save_a_old(nb, p, false) != 0 ||
        nbody_tree_launch_1d(nb, p, TREE_COPY_ORDER, nb->n, ARGS(t->order, n, t->a_old)) != 0 ||
        nbody_device_download(nb, p, t->a_old, nb->n * sizeof *order) != 0) {
        nb->force.a_old_valid = false; /* a_old is lost */
        return -1;
    }
    nbody_each_block(nb->n, sort_copy_block, &(struct copy_job){t->a_old, order, 0});
    return save_a_old(nb, p, true);
}

/* Download `count` keys from a device's workspace to the host, through a_old. */
static int sort_download(struct nbody *nb, struct nbody_device *p, void *from, size_t count,
                         uint64_t *to)
{
    void *const a_old = p->force.tree->a_old;
    const size_t numbers = count * (sizeof *to / nb->real);
    for (size_t at = 0; at < numbers; at += p->count) {
        const size_t some = numbers - at < p->count ? numbers - at : p->count;
        if (launch_copy_column(nb, p, (struct column){from, at}, (struct column){a_old, 0},
                               (cl_uint)some) != 0 ||
            nbody_device_download(nb, p, a_old, some * nb->real) != 0)
            return -1;
        nbody_each_block(
            some * nb->real / sizeof(cl_uint), sort_copy_block,
            &(struct copy_job){a_old, (cl_uint *)to + at * nb->real / sizeof(cl_uint), 0});
    }
    return 0;
}

int nbody_hilbert_sort_own(struct nbody *nb, struct nbody_device *p, struct sorted_rows *own)
{
    struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)p->count;
    const size_t first = p->first - nbody_ranks_own_first(nb);
    void *const word[] = {t->key, t->key_lo};
    int status = nbody_tree_sort_rows(nb, p, nbody_posm_first(p), n);
    if (status == 0)
        status = save_a_old(nb, p, false);
    if (status == 0)
        status = nbody_tree_launch_1d(nb, p, TREE_COPY_ORDER, n, ARGS(t->order, n, t->a_old));
    if (status == 0)
        status = nbody_device_download(nb, p, t->a_old, n * sizeof *own->row);
    if (status == 0)
        nbody_each_block(n, sort_copy_block,
                         &(struct copy_job){t->a_old, own->row + first, (cl_uint)first});
    for (cl_uint w = 0; w < t->key_words && status == 0; w++)
        status = sort_download(nb, p, word[w], n, own->keys + w * own->n + first);
    if (status != 0) {
        nb->force.a_old_valid = false; /* a_old is lost */
        return -1;
    }
    return save_a_old(nb, p, true);
}

/* Upload the order and gather the positions in the new order. */
static int sort_begin_device(struct nbody *nb, struct nbody_device *p, const cl_uint *order)
{
    struct tree *t = p->force.tree;
    const cl_uint first = 0, n = (cl_uint)nb->n;
    if (save_a_old(nb, p, false) != 0 || nbody_device_wait(nb, p) != 0)
        return -1; /* a CPU's a_old is the host's */
    nbody_each_block(nb->n, sort_copy_block, &(struct copy_job){order, t->a_old, 0});
    if (clmsyncn(nb->ctx, p->dev, t->a_old, nb->n * sizeof *order, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    return nbody_tree_launch_1d(nb, p, TREE_GATHER_ROWS, nb->n,
                                ARGS(nb->particles.posm, t->a_old, first, n, t->body));
}

/* ---- Columns. -------------------------------------------------------------------------------- */

static struct column column_of(const struct nbody *nb, const struct nbody_device *p, size_t k)
{
    return k < nb->planes ? (struct column){p->state, k * p->rows}
                          : (struct column){p->force.tree->a_old_sorted, 0};
}

/* Permute `some` columns, from column `first` on. */
static int permute_columns(struct nbody *nb, struct nbody_device *p, size_t first, size_t some)
{
    const cl_uint begin = 0, n = (cl_uint)nb->n;
    int status = 0;
    for (size_t k = 0; k < some; k++)
        status |= launch_copy_column(nb, p, column_of(nb, p, first + k),
                                     (struct column){nb->particles.posm, k * nb->n}, n);
    for (size_t k = 0; status == 0 && k < some; k++) {
        const struct column to = column_of(nb, p, first + k);
        const cl_ulong from = k * nb->n;
        status = nbody_tree_launch_1d(
            nb, p, TREE_GATHER_COLUMN, nb->n,
            ARGS(nb->particles.posm, from, p->force.tree->a_old, begin, n, to.at, to.from));
    }
    return status;
}

static int sort_move_rows(struct nbody *nb, struct nbody_device *p, const cl_uint *order)
{
    const size_t all = nb->planes + nb->force.a_old_valid;
    const cl_uint first = 0, n = (cl_uint)nb->n;
    int status = sort_begin_device(nb, p, order);
    for (size_t k = 0; status == 0 && k < all; k += COLUMNS_AT_ONCE)
        status = permute_columns(nb, p, k, all - k < COLUMNS_AT_ONCE ? all - k : COLUMNS_AT_ONCE);
    p->force.tree->body_valid = false;
    if (status == 0)
        status = nbody_tree_launch_1d(nb, p, TREE_STORE_ROWS, nb->n,
                                      ARGS(p->force.tree->body, n, nb->particles.posm, first)) |
                 save_a_old(nb, p, true);
    return nbody_device_wait(nb, p) | status;
}

int nbody_hilbert_move_device(struct nbody *nb, const cl_uint *order)
{
    int status = 0;
    EACH_TREE(nb, p)
    status |= sort_move_rows(nb, p, order);
    status = world_reduce_status(nb->world, status);
    nb->force.a_old_valid &= status == 0;
    return status;
}

/* ---- Shift. ---------------------------------------------------------------------------------- */

int nbody_tree_shift(const struct nbody *nb, const struct nbody_device *p, void *block, size_t from,
                     size_t to, size_t n)
{
    const struct tree *t = p->force.tree;
    const struct column piece = {t->key, 0}; /* nothing reads the keys between sums */
    const size_t room = t->key_room * sizeof(cl_ulong) / nb->real;
    for (size_t done = 0, some; done < n; done += some) {
        some = n - done < room ? n - done : room;
        some = some < 1u << 30 ? some : 1u << 30;
        const size_t at = to < from ? done : n - done - some;
        if (launch_copy_column(nb, p, (struct column){block, from + at}, piece, (cl_uint)some) !=
                0 ||
            launch_copy_column(nb, p, piece, (struct column){block, to + at}, (cl_uint)some) != 0)
            return -1;
    }
    return 0;
}
