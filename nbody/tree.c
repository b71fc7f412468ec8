/* tree.c - forces by a tree (Barnes & Hut 1986, Nature 324, 446), on all devices.
 *
 * One device makes the tree of all bodies; of several each makes a part of it (domain_build.c), and
 * sums for the groups of this part. Sums depend on the tree alone, so that the number of devices
 * changes no bit. The tree of one device holds until bodies move; parts are made for each sum,
 * since what a device has of the others' depends on what bodies felt.
 *
 * The first sum opens cells by their angle, since accelerations are not known yet, and is then
 * repeated with them.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

/* ---- The tree. ------------------------------------------------------------------------------- */

static int start_keys(struct nbody *nb, struct nbody_device *p, cl_uint nargs,
                      const struct stdcl_arg *args)
{
    return nbody_tree_launch(nb, p, TREE_KEYS, nbody_tree_groups(p, nb->n), (size_t)p->shape.flat,
                             nargs, args);
}

/* The bodies' keys, a word of them, and the order by this word and what order there was. */
static int start_word(struct nbody *nb, struct nbody_device *p, cl_uint word, cl_uint again)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    const struct arrays_sort_job sort = {.keys = t->key,
                                         .values = t->order,
                                         .bytes = 8,
                                         .bits = 3 * TREE_LEVELS,
                                         .most = nb->n,
                                         .work = t->sort};
    return start_keys(nb, p, ARGS(nb->posm, n, t->cube, word, again, t->key, t->order)) != 0
               ? -1
               : arrays_sort_start(t->sorter, &sort);
}

/* By the last word first. */
int nbody_tree_sort(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, last = 1, again = 1, first = 0;
    if (nbody_tree_launch(nb, p, TREE_BOX, t->parts, (size_t)p->shape.flat,
                          ARGS(nb->posm, first, n, t->part)) != 0 ||
        nbody_tree_launch(nb, p, TREE_FRAME, 1, (size_t)p->shape.flat,
                          ARGS(t->part, t->parts, t->cube)) != 0)
        return -1;
    if (t->words == 1)
        return start_word(nb, p, 0, false);
    return start_word(nb, p, 1, false) != 0 || start_word(nb, p, 0, true) != 0
               ? -1
               : start_keys(nb, p, ARGS(nb->posm, n, t->cube, last, again, t->second, t->order));
}

/* Bodies in the tree's order; sums have taken their place since they were last there. */
static int start_bodies(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n;
    t->gathered = true;
    return nbody_tree_launch_1d(nb, p, TREE_GATHER, nb->n,
                                ARGS(nb->posm, t->felt, n, t->order, t->begin, t->body, t->feel));
}

int nbody_tree_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room)
{
    return !p->tree->gathered && start_bodies(nb, p) != 0
               ? -1
               : nbody_tree_walk_lists(nb, p, lists, room);
}

static int start_scatter(struct nbody *nb, struct nbody_device *p, enum kernel sum)
{
    struct tree *t = p->tree;
    const cl_uint n = (cl_uint)nb->n, first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  count = (cl_uint)p->count;
    t->gathered = t->walking = false;
    if (sum == FORCES)
        return nbody_tree_launch_1d(
                   nb, p, TREE_SCATTER, nb->n,
                   ARGS(nb->forces_sorted, n, t->order, t->begin, t->body, t->again)) == 0
                   ? nbody_tree_launch_1d(
                         nb, p, TREE_PLANES, nb->n,
                         ARGS(t->body, n, first, rows, count, p->partial, t->felt, p->bad))
                   : -1;
    return nbody_tree_launch_1d(
        nb, p, TREE_SCATTER_POTENTIALS, nb->n,
        ARGS(nb->forces_sorted, n, t->order, first, count, p->phi, t->again));
}

/* ---- Sums. ----------------------------------------------------------------------------------- */

static int plant(struct nbody *nb, struct nbody_device *p, bool geometric)
{
    const struct key_range all = {.n = (cl_uint)nb->n, .to = (cl_uint)nb->n};
    return nbody_tree_sort(nb, p) != 0 || start_bodies(nb, p) != 0 ||
                   nbody_tree_count(nb, p, all, 0) != 0 || nbody_tree_write(nb, p, all, 0) != 0 ||
                   nbody_tree_moments(nb, p, geometric) != 0
               ? -1
               : 0;
}

int nbody_tree_build_device(struct nbody *nb, struct nbody_device *p)
{
    return plant(nb, p, false);
}

/* The tree of the device that has one; of none, on a rank without bodies. */
static int plant_alone(struct nbody *nb, bool geometric)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree && ((!nb->tree_valid && plant(nb, p, geometric) != 0) ||
                        (!p->tree->gathered && start_bodies(nb, p) != 0)))
            return -1;
    nb->tree_valid = !geometric;
    return 0;
}

static int sum_once(struct nbody *nb, enum kernel sum, bool geometric)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    if (nb->domains ? nbody_domain_build(nb, sum, geometric) != 0 : plant_alone(nb, geometric) != 0)
        return -1;
    if (nbody_tree_walk_all(nb, sum, geometric) != 0)
        return -1;
    if (nb->domains)
        return nbody_domain_return(nb, sum);
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->tree && start_scatter(nb, p, sum) != 0)
            return -1;
    return 0;
}

/* Room for the cells of a tree: 1 when there was none. */
static int check_room(struct nbody *nb, struct nbody_device *p, bool *crowded)
{
    struct tree *t = p->tree;
    if (nbody_device_download(nb, p, t->cells, 2 * sizeof *t->cells) != 0)
        return -1;
    const cl_uint cells = t->cells[0], room = t->room;
    *crowded = t->cells[1] != 0 && t->words == 1 && !t->shallow;
    if (cells > room - room / 8) {
        nb->tree_valid = false;
        if (nbody_tree_grow(nb, p, cells + cells / 4) != 0)
            return -1;
    }
    return cells > room;
}

int nbody_tree_check(struct nbody *nb)
{
    int status = 0;
    bool crowded = false;
    if (nb->domains)
        return nb->a_old_valid ? nbody_domain_cut(nb) : 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->tree ? check_room(nb, p, &crowded) : 0;
    return status >= 0 && crowded && nbody_tree_extend_keys(nb) < 0 ? -1 : status;
}

/* Trees that have room, and are deep enough. Blocks. */
static int plant_with_room(struct nbody *nb, bool geometric)
{
    int status = 0;
    for (nb->tree_valid = false; status >= 0 && !nb->tree_valid;) {
        nb->tree_valid = true;
        for (struct nbody_device *p = nb->device; status >= 0 && p < nb->device + nb->ndev; p++)
            status = p->tree ? plant(nb, p, geometric) : status;
        status = status >= 0 ? nbody_tree_check(nb) : -1;
    }
    return status;
}

static int first_sum(struct nbody *nb)
{
    const int status =
        nb->domains || plant_with_room(nb, true) == 0 ? sum_once(nb, FORCES, true) : -1;
    nb->a_old_valid = status == 0;
    return status;
}

int nbody_tree_share_positions(struct nbody *nb)
{
    if (!nb->positions_local && nb->positions_current)
        return 0;
    nb->positions_local = false;
    return nbody_exchange_begin(nb) != 0 || nbody_exchange_finish(nb) != 0 ? -1 : 0;
}

int nbody_tree_build_now(struct nbody *nb)
{
    nb->positions_current = true;
    return plant_with_room(nb, false) < 0 ? -1 : 0;
}

/* Within a burst nobody waits to see whether there is room (nbody_step does, at its end); parts
 * always do. */
int nbody_tree_evaluate(struct nbody *nb, enum kernel sum)
{
    if (!nb->positions_current) {
        nb->positions_local = true;
        nb->tree_valid = false;
    }
    nb->positions_current = true;
    if (!nb->a_old_valid && first_sum(nb) != 0)
        return -1;
    if (!nb->domains && !nb->tree_valid && !nb->in_batch && plant_with_room(nb, false) != 0)
        return -1;
    return sum_once(nb, sum, false);
}
