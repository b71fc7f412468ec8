/* domain_build.c - the distributed tree, step by step, as domain.cl draws it.
 *
 *   cube        bounding box of all bodies; boundaries from sampled keys the first time
 *   (migrate.c) bodies to the domains they lie in
 *   sort        keys and bodies of each domain in order
 *   halo        64 bodies of each neighbour
 *   cells       counted, numbered across domains, written, moments
 *   top tree    cells that all domains hold; moments of shared nodes
 *   (let.c)     locally essential trees and walks
 *
 * After each phase whose output other domains need, an exchange (exchange.c) brings it to them:
 * first the counts, then the counted bytes.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"
#include "nbody/domain/tree_domain.h"

#include <math.h>

enum { KEY_MARGIN = TREE_KEY_MARGIN / sizeof(cl_ulong), NONE = -1 };

/* ---- Root cube and boundaries. --------------------------------------------------------------- */

static int domain_launch_box(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    const cl_uint first = 0, end = (cl_uint)p->count;
    if (nbody_tree_launch(nb, p, TREE_BOUNDING_BOX, t->box_groups, (size_t)p->shape.group_1d,
                          ARGS(p->posm, first, end, t->box_part)) != 0)
        return -1;
    if (nbody_domain_download(nb, p, t->box_part, clsizeofmem(t->box_part), false,
                              &p->domain.ev_box) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

struct corners {
    double lo[3], hi[3];
    double failed; /* 1 if a device of a rank has no box */
};

static void join_bounding_boxes(void *a, const void *b, void *arg)
{
    struct corners *one = a;
    const struct corners *two = b;
    (void)arg;
    for (int c = 0; c < 3; c++) {
        one->lo[c] = fmin(one->lo[c], two->lo[c]);
        one->hi[c] = fmax(one->hi[c], two->hi[c]);
    }
    one->failed = fmax(one->failed, two->failed);
}

enum { CUBE_STEPS = 8 }; /* as in tree.cl */

static double root_cube_side_host(const struct nbody *nb, double extent)
{
    const int least = nb->precision == NBODY_DOUBLE ? -1000 : -100,
              power = extent > 0 && isfinite(extent) ? ilogb(extent) : 0;
    return extent > 0 ? ldexp(1, (power > least ? power : least) + 1) : 1;
}

/* Compute the root cube on the host, bit for bit as kernel root_cube in tree.cl. */
static void root_cube_host(const struct nbody *nb, const struct corners *all, double cube[4])
{
    double extent = 0;
    for (int c = 0; c < 3; c++) {
        const double d = all->hi[c] - all->lo[c];
        extent = fmax(extent, nb->real == sizeof(float) ? (float)d : d);
        cube[c] = all->lo[c];
    }
    cube[3] = root_cube_side_host(nb, extent);
    if (!(extent > 0))
        return;
    const double step = cube[3] / CUBE_STEPS;
    for (int c = 0; c < 3; c++) {
        cube[c] = floor(all->lo[c] / step) * step;
        const double d = all->hi[c] - cube[c];
        extent = fmax(extent, nb->real == sizeof(float) ? (float)d : d);
    }
    cube[3] = root_cube_side_host(nb, extent);
}

/* Reduce the bounding boxes of all ranks to the root cube, once they are downloaded. status: of
 * their launches. A rank that has failed takes part, so that all ranks fail. */
static int domain_root_cube(struct nbody *nb, int status, double cube[4])
{
    struct corners all = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0};
    EACH_TREE(nb, p)
    {
        if (status == 0)
            status = nbody_domain_wait_event(nb, p, &p->domain.ev_box);
        for (size_t k = 0; status == 0 && k < p->force.tree->box_groups; k++) {
            struct corners some = {.failed = 0};
            for (size_t c = 0; c < 3; c++) {
                some.lo[c] = nbody_real_get(nb, p->force.tree->box_part, 8 * k + c);
                some.hi[c] = nbody_real_get(nb, p->force.tree->box_part, 8 * k + 4 + c);
            }
            join_bounding_boxes(&all, &some, NULL);
        }
    }
    all.failed = status != 0;
    if (world_reduce(nb->world, &all, sizeof all, join_bounding_boxes, NULL) != 0 || status != 0)
        return -1;
    if (all.failed > 0)
        return clerror_set(EIO, "nbody: a device of another rank failed");
    root_cube_host(nb, &all, cube);
    return 0;
}

int nbody_domain_find_cube(struct nbody *nb)
{
    double cube[4] = {0};
    int status = 0;
    EACH_TREE(nb, p)
    if (status == 0) /* there are no keys after a failed allocation */
        status = nbody_tree_reserve_keys(nb, p, p->count) < 0 ? -1 : domain_launch_box(nb, p);
    if (domain_root_cube(nb, status, cube) != 0)
        return -1;
    nb->domain.tree->cube_side = cube[3];
    EACH_TREE(nb, p)
    {
        for (size_t c = 0; c < 4; c++)
            nbody_real_put(nb, p->force.tree->cube, c, cube[c]);
        if (nbody_domain_upload(nb, p, p->force.tree->cube, 4 * nb->real) != 0)
            return -1;
    }
    return 0;
}

struct sampled {
    cl_ulong key;
    double weight;
};

static int compare_sampled_keys(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Choose boundaries such that each domain has about the number of bodies that its device
 * integrates. */
static int domain_boundaries_from_samples(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    const size_t n = (size_t)s->n * TREE_SAMPLES;
    struct sampled *all = malloc(n * sizeof *all);
    if (!all)
        return clerror_set(ENOMEM, "nbody: out of memory on the host");
    for (size_t k = 0; k < n; k++)
        all[k] = (struct sampled){s->samples[k],
                                  (double)nb->domain.holder[k / TREE_SAMPLES].count / TREE_SAMPLES};
    qsort(all, n, sizeof *all, compare_sampled_keys);
    double before = 0;
    s->boundary[0] = 0;
    for (size_t domain = 1, k = 0; domain < s->n; domain++) {
        for (; k + 1 < n && before < (double)nb->domain.holder[domain].first; k++)
            before += all[k].weight;
        s->boundary[domain] = all[k].key;
    }
    s->boundaries_moved = true;
    free(all);
    return 0;
}

/* Sample new boundaries if the side of the cube has changed: keys of two cubes are not comparable.
 */
static int domain_sample_boundaries(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (!(s->cube_side < s->side) && !(s->cube_side > s->side))
        return 0;
    EACH_TREE(nb, p)
    {
        const cl_uint count = (cl_uint)p->count, some = TREE_SAMPLES, at = some * p->domain.index;
        if (nbody_tree_launch_1d(nb, p, TREE_SAMPLE_KEYS, some,
                                 ARGS(p->posm, count, p->force.tree->cube, some, at, s->samples)) !=
            0)
            return -1;
    }
    const size_t bytes = TREE_SAMPLES * sizeof *s->samples;
    if (nbody_domain_gather(nb, s->samples, bytes) != 0 || domain_boundaries_from_samples(nb) != 0)
        return -1;
    s->side = s->cube_side;
    return 0;
}

/* ---- Sort. ----------------------------------------------------------------------------------- */

/* Compute one word of the keys of the domain's bodies, in their present order. */
static int domain_launch_key_word(struct nbody *nb, struct nbody_device *p, cl_uint word, cl_uint n,
                                  void *to)
{
    struct tree *t = p->force.tree;
    return nbody_tree_launch(nb, p, TREE_DOMAIN_KEYS, nbody_tree_groups(p, n),
                             (size_t)p->shape.group_1d,
                             ARGS(p->posm, p->domain.received, n, t->cube, word, to, t->order));
}

static int domain_sort(const struct nbody_device *p)
{
    const struct tree *t = p->force.tree;
    const struct arrays_sort_job sort = {.keys = t->key,
                                         .values = t->order,
                                         .bytes = 8,
                                         .bits = 64,
                                         .most = p->domain.nkeys,
                                         .work = t->sort_workspace};
    return arrays_sort_start(t->sorter, &sort);
}

static int domain_sort_and_gather(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint from = KEY_MARGIN;
    if (nbody_domain_unpack_migrants(nb, p) != 0)
        return -1;
    if (t->bodies == 0)
        return 0;
    if ((t->key_words > 1 &&
         (domain_launch_key_word(nb, p, 1, p->domain.nkeys, t->key) != 0 || domain_sort(p) != 0 ||
          domain_launch_key_word(nb, p, 0, p->domain.nkeys, t->key) != 0)) ||
        domain_sort(p) != 0 ||
        (t->key_words > 1 && domain_launch_key_word(nb, p, 1, t->bodies, t->key_lo) != 0))
        return -1;
    if (nbody_tree_launch_1d(nb, p, TREE_DOMAIN_GATHER, t->bodies,
                             ARGS(p->posm, t->a_old, p->domain.received, t->bodies, t->order,
                                  t->begin, t->body, t->a_old_sorted)) != 0)
        return -1;
    if (nbody_tree_launch_1d(nb, p, TREE_HALO_PACK, 2 * TREE_GROUP,
                             ARGS(t->keys, t->keys_lo, from, t->bodies, t->body, t->a_old_sorted,
                                  t->begin, p->domain.index, s->edge)) != 0)
        return -1;
    return 0;
}

/* ---- Halo. ----------------------------------------------------------------------------------- */

/* Return the index in a domain's struct edge of a body near that domain's end. */
static size_t halo_body_index(const struct domains *s, cl_uint body, cl_uint *domain)
{
    cl_uint k = 0;
    while (body >= s->begin[k + 1])
        k++;
    const cl_uint j = body - s->begin[k];
    *domain = k;
    return j < TREE_GROUP ? j : TREE_GROUP + (s->begin[k + 1] - 1 - body);
}

/* Assemble the halo of a domain from its neighbours' edges, nearest body first, and upload it. */
static int halo_upload(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const cl_uint n = (cl_uint)nb->n, begin = t->base + t->begin, end = begin + t->bodies,
                  from = KEY_MARGIN;
    const cl_uint before = begin < TREE_GROUP ? begin : TREE_GROUP,
                  after = n - end < TREE_GROUP ? n - end : TREE_GROUP;
    const cl_uint counter = (cl_uint)nbody_let_box_counter(nb, p->domain.index);
    const size_t body = 8 * nb->real, key = 2 * sizeof(cl_ulong), bodies = TREE_EDGE_BODIES * key,
                 edge = nbody_domain_edge_bytes(nb);
    if (t->bodies == 0)
        return 0;
    for (cl_uint j = 0; j < before + after; j++) {
        cl_uint domain;
        const size_t to = j < before ? j : TREE_GROUP + (j - before);
        const size_t at =
            halo_body_index(s, j < before ? begin - 1 - j : end + (j - before), &domain);
        const char *const its = (char *)s->edge + domain * edge;
        memcpy((char *)t->halo + to * key, its + at * key, key);
        memcpy((char *)t->halo + bodies + to * body, its + bodies + at * body, body);
    }
    if (nbody_domain_upload(nb, p, t->halo, edge) != 0)
        return -1;
    return nbody_tree_launch_1d(nb, p, TREE_HALO_UNPACK, TREE_EDGE_BODIES,
                                ARGS(t->halo, before, after, from, t->bodies, t->begin, t->keys,
                                     t->keys_lo, t->body, t->a_old_sorted, s->group_box, counter));
}

static struct key_range domain_key_range(const struct nbody *nb, const struct tree *t)
{
    const cl_uint n = (cl_uint)nb->n, begin = t->base + t->begin, end = begin + t->bodies,
                  from = KEY_MARGIN, to = from + t->bodies;
    return (struct key_range){.lo = from - (begin < TREE_GROUP ? begin : TREE_GROUP),
                              .n = to + (n - end < TREE_GROUP ? n - end : TREE_GROUP),
                              .from = from,
                              .to = to};
}

/* Sort all domains and exchange the halos. */
static int domain_sort_all(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    EACH_TREE(nb, p)
    {
        const cl_uint begin = s->begin[p->domain.index];
        nbody_tree_set_range(nb, p, begin, s->begin[p->domain.index + 1] - begin);
        if (nbody_tree_reserve_bodies(nb, p, p->force.tree->bodies) != 0)
            return -1;
    }
    if (nbody_device_threads_all(nb, domain_sort_and_gather) != 0)
        return -1;
    return nbody_domain_gather(nb, s->edge, nbody_domain_edge_bytes(nb));
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

static cl_uint domain_levels(const struct nbody *nb)
{
    return nb->domain.key_words * TREE_LEVELS + 1;
}

/* Number of a domain's cells on a level; 0 for a domain without bodies. */
static cl_uint domain_cells(const struct domains *s, cl_uint domain, cl_uint level)
{
    const cl_uint *at = nbody_domain_counts(s, domain) + level;
    return s->begin[domain] == s->begin[domain + 1] ? 0 : at[1] - at[0];
}

/* Number the top cells by level and domain: top_begin[level * domains + domain], then the number of
 * all. They are the first and last cells of a level of each domain. */
static cl_uint domain_number_top_cells(const struct domains *s, cl_uint all_levels,
                                       cl_uint *top_begin)
{
    cl_uint all = 0;
    for (cl_uint k = 0; k < all_levels * s->n; k++) {
        const cl_uint cells = domain_cells(s, k % s->n, k / s->n);
        top_begin[k] = all;
        all += cells < TREE_TOP_CELLS ? cells : TREE_TOP_CELLS - 1;
    }
    return top_begin[all_levels * s->n] = all;
}

static size_t toptree_bytes(const struct nbody *nb)
{
    return (size_t)domain_levels(nb) * TREE_TOP_CELLS * nbody_domain_cell_bytes(nb);
}

static int toptree_launch_pack(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    if (nbody_tree_launch_1d(nb, p, TREE_TOPTREE_PACK, (size_t)domain_levels(nb) * TREE_TOP_CELLS,
                             ARGS(t->bodies, t->span, t->shared_node, t->cells, t->child_begin,
                                  t->link, t->com, t->multipoles, t->size, t->body, p->domain.index,
                                  s->n, t->top_begin, t->place, s->toptree)) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

static int domain_write_cells(struct nbody *nb, struct nbody_device *p)
{
    const struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    cl_uint all = t->top_cells = domain_number_top_cells(s, domain_levels(nb), t->top_begin);
    for (cl_uint l = 0; l < domain_levels(nb); l++)
        all += p->domain.cells_on_level[l] = domain_cells(s, p->domain.index, l);
    t->imports_begin = all;
    if (all > t->capacity && nbody_tree_grow(nb, p, all + all / 4) != 0)
        return -1;
    if (nbody_domain_upload(nb, p, t->top_begin,
                            (domain_levels(nb) * s->n + 1) * sizeof(cl_uint)) != 0)
        return -1;
    if (t->bodies == 0)
        return toptree_launch_pack(nb, p);
    if (nbody_tree_write(nb, p, domain_key_range(nb, t)) != 0)
        return -1;
    if (nbody_tree_moments(nb, p, s->geometric) != 0)
        return -1;
    return toptree_launch_pack(nb, p);
}

static bool any_shared_node(const struct nbody *nb, cl_uint level)
{
    bool any = false;
    for (cl_uint k = 0; k < nb->domain.tree->n; k++)
        any |= nbody_domain_shared_node(nb, k, level, 0) != (cl_uint)NONE;
    return any;
}

/* Exchange the top cells while the export walks run. */
static int toptree_exchange(struct nbody *nb)
{
    const struct domains *s = nb->domain.tree;
    for (cl_uint k = 0; k < s->n; k++)
        nbody_domain_add(nb, k, TO_DOMAINS, (char *)s->toptree + k * toptree_bytes(nb),
                         toptree_bytes(nb));
    return nbody_domain_exchange(nb, nbody_let_walk);
}

/* Import the top cells of all domains, then compute the moments of shared nodes from the deepest
 * level up. */
static int toptree_join(struct nbody *nb, struct nbody_device *p)
{
    struct domains *s = nb->domain.tree;
    struct tree *t = p->force.tree;
    const size_t each = (size_t)domain_levels(nb) * TREE_TOP_CELLS;
    if (nbody_domain_wait_uploads(nb, p) != 0)
        return -1;
    for (cl_uint k = 0; k < s->n; k++)
        if (nbody_let_import_nodes(nb, p, k, s->toptree, k * each, each, (cl_uint)NONE) != 0)
            return -1;
    cl_uint deepest = domain_levels(nb), stale = TREE_COUNTS * s->n;
    while (deepest > 0 && !any_shared_node(nb, deepest - 1))
        deepest--;
    return nbody_tree_launch(nb, p, TREE_SHARED_NODE_MOMENTS, 1, (size_t)p->shape.group_1d,
                             ARGS(t->body, t->cube, deepest, s->geometric,
                                  REAL(nb, nbody_tree_com_margin(nb)), s->toptree, s->n,
                                  t->top_begin, t->link, t->com, t->multipoles, t->size,
                                  p->domain.counts, stale));
}

/* Unpack the halo and count the domain's cells. */
static int domain_count_cells(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    const cl_uint n = domain_levels(nb);
    if (halo_upload(nb, p) != 0)
        return -1;
    if (t->bodies == 0)
        return 0;
    if (nbody_tree_count(nb, p, domain_key_range(nb, t)) != 0)
        return -1;
    return nbody_tree_launch_1d(nb, p, TREE_SCAN_OFFSETS, n + 1,
                                ARGS(t->counts, t->runs, n, t->cells, p->domain.counts));
}

/* Build the cells of all domains. Return 1 if keys overflowed and now have a second word. */
static int domain_build_cells(struct nbody *nb)
{
    struct domains *s = nb->domain.tree;
    if (nbody_device_threads_all(nb, domain_count_cells) != 0 ||
        nbody_domain_exchange_counts(nb, TO_HOSTS, domain_levels(nb) + 1) != 0 ||
        nbody_device_threads_all(nb, nbody_let_launch_boxes) != 0)
        return -1;
    nbody_let_add_boxes(nb);
    if (nbody_domain_exchange(nb, domain_write_cells) != 0 || toptree_exchange(nb) != 0)
        return -1;
    bool key_overflow = false;
    for (cl_uint k = 0; k < s->n; k++)
        key_overflow |= nbody_domain_shared_node(nb, k, 0, 2) != 0;
    if (key_overflow && nb->domain.key_words == 1 && !s->cannot_extend_keys)
        return nbody_tree_extend_keys(nb) < 0 ? -1 : 1;
    return 0;
}

/* ---- Build. ---------------------------------------------------------------------------------- */

int nbody_domain_build(struct nbody *nb, enum sum_kind sum, bool geometric)
{
    nb->domain.tree->boundaries_changed = false;
    struct domains *s = nb->domain.tree;
    int status = 1;
    s->sum = sum;
    s->geometric = geometric;
    nbody_domain_clear_list(s);
    EACH_TREE(nb, p)
    if (nbody_tree_begin_walks(nb, p) != 0)
        return -1;
    if (nbody_domain_find_cube(nb) != 0)
        return -1;
    while (status == 1) {
        if (domain_sample_boundaries(nb) != 0 || nbody_domain_migrate(nb) != 0 ||
            domain_sort_all(nb) != 0)
            return -1;
        status = domain_build_cells(nb);
    }
    if (status != 0 || nbody_device_threads_all(nb, toptree_join) != 0)
        return -1;
    return nbody_let_find(nb);
}
