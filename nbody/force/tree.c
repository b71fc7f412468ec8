/* tree.c - forces by a Barnes-Hut tree (Barnes & Hut 1986, Nature 324, 446), on all devices.
 *
 * One device builds the tree of all bodies. With several devices, each builds the tree of its
 * domain (domain_build.c) and walks the groups of this domain. Forces depend on the tree alone, so
 * the number of devices changes no bit. The tree of one device stays valid until bodies move. The
 * distributed tree is rebuilt for each sum: the imported cells depend on the accelerations of the
 * previous sum.
 *
 * The first sum opens cells by the geometric criterion because no accelerations are known. The sum
 * is then repeated with the relative criterion.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"
#include "nbody/force/tree.h"

/* Trees are valid until positions change. */
static bool tree_is_valid(const struct nbody *nb)
{
    return nb->force.tree_version == nb->particles.version;
}

static void tree_set_valid(struct nbody *nb, bool valid)
{
    nb->force.tree_version = valid ? nb->particles.version : 0;
}

/* ---- Build. ---------------------------------------------------------------------------------- */

/* Rows of bodies. */
struct row_span {
    cl_uint first, n;
};

static int tree_launch_keys(struct nbody *nb, struct nbody_device *p, struct row_span rows,
                            cl_uint word, cl_uint reorder, void *to)
{
    const struct tree *t = p->force.tree;
    return nbody_tree_launch(
        nb, p, TREE_HILBERT_KEYS, nbody_tree_groups(p, rows.n), (size_t)p->shape.group_1d,
        ARGS(nbody_posm(nb, p), rows.first, rows.n, t->cube, word, reorder, to, t->order));
}

/* Compute one word of the bodies' keys and sort `order` by it. The sort is stable. With reorder,
 * the keys follow the present order. */
static int tree_sort_by_key_word(struct nbody *nb, struct nbody_device *p, struct row_span rows,
                                 cl_uint word, cl_uint reorder)
{
    const struct tree *t = p->force.tree;
    const struct arrays_sort_job sort = {.keys = t->key,
                                         .values = t->order,
                                         .bytes = 8,
                                         .bits = 3 * TREE_LEVELS,
                                         .most = rows.n,
                                         .work = t->sort_workspace};
    if (tree_launch_keys(nb, p, rows, word, reorder, t->key) != 0)
        return -1;
    return arrays_sort_start(t->sorter, &sort);
}

/* Radix sort by words: the least significant word first. */
int nbody_tree_sort_rows(struct nbody *nb, struct nbody_device *p, cl_uint first, cl_uint n)
{
    const struct tree *t = p->force.tree;
    const struct row_span rows = {first, n};
    if (t->key_words == 1)
        return tree_sort_by_key_word(nb, p, rows, 0, false);
    if (tree_sort_by_key_word(nb, p, rows, 1, false) != 0)
        return -1;
    if (tree_sort_by_key_word(nb, p, rows, 0, true) != 0)
        return -1;
    return tree_launch_keys(nb, p, rows, 1, true, t->key_lo);
}

int nbody_tree_sort(struct nbody *nb, struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nb->n, first = 0;
    if (nbody_tree_launch(nb, p, TREE_BOUNDING_BOX, t->box_groups, (size_t)p->shape.group_1d,
                          ARGS(nb->particles.posm, first, n, t->box_part)) != 0 ||
        nbody_tree_launch(nb, p, TREE_ROOT_CUBE, 1, (size_t)p->shape.group_1d,
                          ARGS(t->box_part, t->box_groups, t->cube)) != 0)
        return -1;
    return nbody_tree_sort_rows(nb, p, first, n);
}

/* Gather the bodies in tree order; forces overwrote them after the last gather. */
static int tree_gather_bodies(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nb->n;
    t->body_valid = true;
    return nbody_tree_launch_1d(
        nb, p, TREE_GATHER_BODIES, nb->n,
        ARGS(nb->particles.posm, t->a_old, n, t->order, t->begin, t->body, t->a_old_sorted));
}

int nbody_tree_lists(struct nbody *nb, struct nbody_device *p, void *lists, cl_uint room)
{
    if (!p->force.tree->body_valid && tree_gather_bodies(nb, p) != 0)
        return -1;
    return nbody_tree_walk_lists(nb, p, lists, room);
}

static int tree_scatter_sums(struct nbody *nb, struct nbody_device *p, enum sum_kind sum)
{
    struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nb->n, first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  count = (cl_uint)p->count;
    t->body_valid = t->walks_pending = false;
    if (sum != FORCES)
        return nbody_tree_launch_1d(
            nb, p, TREE_SCATTER_POTENTIALS, nb->n,
            ARGS(t->forces_sorted, n, t->order, first, count, p->force.phi, t->deferred));
    if (nbody_tree_launch_1d(nb, p, TREE_SCATTER_FORCES, nb->n,
                             ARGS(t->forces_sorted, n, t->order, t->begin, t->body, t->deferred)) !=
        0)
        return -1;
    return nbody_tree_launch_1d(
        nb, p, TREE_STORE_FORCES, nb->n,
        ARGS(t->body, n, first, rows, count, p->force.partial, t->a_old, p->bad));
}

/* ---- Sums. ----------------------------------------------------------------------------------- */

static int tree_build_on(struct nbody *nb, struct nbody_device *p, bool geometric)
{
    const struct key_range all = {.n = (cl_uint)nb->n, .to = (cl_uint)nb->n};
    if (nbody_tree_sort(nb, p) != 0)
        return -1;
    if (tree_gather_bodies(nb, p) != 0)
        return -1;
    if (nbody_tree_count(nb, p, all) != 0)
        return -1;
    if (nbody_tree_write(nb, p, all) != 0)
        return -1;
    if (nbody_tree_moments(nb, p, geometric) != 0)
        return -1;
    return 0;
}

int nbody_tree_build_device(struct nbody *nb, struct nbody_device *p)
{
    return tree_build_on(nb, p, false);
}

/* Build the tree on the device that has one. A rank without bodies has no tree. */
static int tree_build_single(struct nbody *nb, bool geometric)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree && ((!tree_is_valid(nb) && tree_build_on(nb, p, geometric) != 0) ||
                              (!p->force.tree->body_valid && tree_gather_bodies(nb, p) != 0)))
            return -1;
    tree_set_valid(nb, !geometric);
    return 0;
}

static int tree_sum_once(struct nbody *nb, enum sum_kind sum, bool geometric)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    if (nb->domain.tree ? nbody_domain_build(nb, sum, geometric) != 0
                        : tree_build_single(nb, geometric) != 0)
        return -1;
    if (nbody_tree_walk_all(nb, sum, geometric) != 0)
        return -1;
    if (nb->domain.tree)
        return nbody_domain_return(nb);
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->force.tree && tree_scatter_sums(nb, p, sum) != 0)
            return -1;
    return 0;
}

/* Grow the cell arrays if the tree nearly fills them. Return 1 if the tree did not fit. */
static int tree_check_capacity(struct nbody *nb, struct nbody_device *p, bool *key_overflow)
{
    struct tree *t = p->force.tree;
    if (nbody_device_download(nb, p, t->cells, 2 * sizeof *t->cells) != 0)
        return -1;
    const cl_uint cells = t->cells[0], capacity = t->capacity;
    *key_overflow = t->cells[1] != 0 && t->key_words == 1 && !t->cannot_extend_keys;
    if (cells > capacity - capacity / 8) {
        tree_set_valid(nb, false);
        if (nbody_tree_grow(nb, p, cells + cells / 4) != 0)
            return -1;
    }
    return cells > capacity;
}

int nbody_tree_check(struct nbody *nb)
{
    int status = 0;
    bool key_overflow = false;
    if (nb->domain.tree)
        return nb->force.a_old_valid ? nbody_domain_balance(nb) : 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->force.tree ? tree_check_capacity(nb, p, &key_overflow) : 0;
    if (status >= 0 && key_overflow && nbody_tree_extend_keys(nb) < 0)
        return -1;
    return status;
}

/* Build trees until they fit and no key overflows. Blocks. */
static int tree_build_until_it_fits(struct nbody *nb, bool geometric)
{
    int status = 0;
    tree_set_valid(nb, false);
    while (status >= 0 && !tree_is_valid(nb)) {
        tree_set_valid(nb, true);
        for (struct nbody_device *p = nb->device; status >= 0 && p < nb->device + nb->ndev; p++)
            status = p->force.tree ? tree_build_on(nb, p, geometric) : status;
        status = status >= 0 ? nbody_tree_check(nb) : -1;
    }
    return status;
}

static int tree_first_sum(struct nbody *nb)
{
    const int status = nb->domain.tree || tree_build_until_it_fits(nb, true) == 0
                           ? tree_sum_once(nb, FORCES, true)
                           : -1;
    nb->force.a_old_valid = status == 0;
    return status;
}

int nbody_tree_build_now(struct nbody *nb)
{
    return tree_build_until_it_fits(nb, false) < 0 ? -1 : 0;
}

/* Within a batch the capacity check is deferred to the end of the batch (nbody_step), so that the
 * host need not wait. The distributed tree always checks. */
static int tree_evaluate(struct nbody *nb, enum sum_kind sum)
{
    if (!nb->force.a_old_valid && tree_first_sum(nb) != 0)
        return -1;
    if (!nb->domain.tree && !tree_is_valid(nb) && nb->force.index < 0 &&
        tree_build_until_it_fits(nb, false) != 0)
        return -1;
    return tree_sum_once(nb, sum, false);
}

void nbody_tree_load(struct nbody *nb, bool a_old_valid)
{
    nb->force.a_old_valid = a_old_valid;
}

void nbody_tree_walks_ended(struct nbody_device *p)
{
    p->force.tree->walks_pending = false;
    p->force.tree->body_valid = false; /* |a| in tree order is outdated */
}

static double tree_work(const struct nbody *nb, enum sum_kind sum)
{
    (void)sum;
    return nbody_tree_work(nb, nb->n);
}

const struct force_method nbody_method_tree = {
    .prepare = nbody_tree_prepare,
    .open = nbody_tree_open,
    .evaluate = tree_evaluate,
    .work = tree_work,
    .free = nbody_tree_free,
};
