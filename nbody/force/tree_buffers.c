/* tree_buffers.c - programs, kernels and device buffers of the tree.
 *
 * Bytes per body in single precision:
 *
 *   24  keys, order and the sort's copies of both
 *   16  bodies in tree order
 *    8  |a| of the last sum, by row and in tree order
 *    9  0.15 cells; 24 with moments of fourth order
 *
 * Forces and cell counts reuse the memory of the keys and of their copies. With domains, arrays
 * have room for the bodies of a domain, and `body` and cells for imports, too. They grow
 * (nbody_tree_reserve_keys, ..._bodies, ..._imports, nbody_tree_grow). Cells then need 8 bytes more
 * each, and the bounding boxes of the groups of all domains 0.06 bytes per body of all. Buffers of
 * migrating bodies are small.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"
#include "nbody/force/tree.h"

#include "core/round.h"

#include <limits.h>
#include <math.h>

EMBEDDED(root, "nbody/force/root.cl", nbody_force_root_cl);
EMBEDDED(multipole, "nbody/force/multipole.cl", nbody_force_multipole_cl);
EMBEDDED(moments, "nbody/force/moments.cl", nbody_force_moments_cl);
EMBEDDED(curve, "nbody/force/hilbert_keys.cl", nbody_force_hilbert_keys_cl);
EMBEDDED(tree, "nbody/force/tree.cl", nbody_force_tree_cl);
EMBEDDED(walk, "nbody/force/walk.cl", nbody_force_walk_cl);
EMBEDDED(walk_cpu, "nbody/force/walk_cpu.cl", nbody_force_walk_cpu_cl);
EMBEDDED(walk_gpu, "nbody/force/walk_gpu.cl", nbody_force_walk_gpu_cl);
EMBEDDED(domain, "nbody/domain/domain.cl", nbody_domain_domain_cl);
EMBEDDED(let, "nbody/domain/let.cl", nbody_domain_let_cl);

static const char *const tree_kernel_name[TREE_KERNELS] = {
    [TREE_BOUNDING_BOX] = "bounding_box",
    [TREE_ROOT_CUBE] = "root_cube",
    [TREE_HILBERT_KEYS] = "hilbert_keys",
    [TREE_GATHER_BODIES] = "gather_bodies",
    [TREE_COUNT] = "cell_count",
    [TREE_WRITE] = "cell_write",
    [TREE_MOMENTS] = "level_moments",
    [TREE_MOMENTS_LAST] = "moments_last",
    [TREE_SCHEDULE_GROUPS] = "schedule_groups",
    [TREE_SCATTER_FORCES] = "scatter_forces",
    [TREE_STORE_FORCES] = "store_forces",
    [TREE_SCATTER_POTENTIALS] = "scatter_potentials",
    [TREE_COPY_ORDER] = "copy_order",
    [TREE_GATHER_ROWS] = "gather_rows",
    [TREE_STORE_ROWS] = "store_rows",
    [TREE_COPY_COLUMN] = "copy_column",
    [TREE_GATHER_COLUMN] = "gather_column",
    [TREE_WALK] = "walk",
    [TREE_WALK_DEFERRED] = "walk_deferred",
    [TREE_WALK_REDUCE] = "walk_reduce",
    [TREE_WALK_POTENTIALS] = "walk_potentials",
    [TREE_WALK_POTENTIALS_DEFERRED] = "walk_potentials_deferred",
    [TREE_WALK_POTENTIALS_REDUCE] = "walk_potentials_reduce",
    [TREE_SAMPLE_KEYS] = "sample_keys",
    [TREE_MIGRATE_COUNT] = "migrate_count",
    [TREE_MIGRATE_PACK] = "migrate_pack",
    [TREE_SCAN_OFFSETS] = "scan_offsets",
    [TREE_MIGRATE_UNPACK] = "migrate_unpack",
    [TREE_DOMAIN_KEYS] = "domain_keys",
    [TREE_DOMAIN_GATHER] = "domain_gather",
    [TREE_HALO_PACK] = "halo_pack",
    [TREE_GROUP_BOXES] = "group_boxes",
    [TREE_HALO_UNPACK] = "halo_unpack",
    [TREE_TOPTREE_PACK] = "toptree_pack",
    [TREE_IMPORT_NODES] = "import_nodes",
    [TREE_IMPORT_BODIES] = "import_bodies",
    [TREE_SHARED_NODE_MOMENTS] = "shared_node_moments",
    [TREE_RETURN_FORCES] = "return_forces",
    [TREE_RETURN_PACK] = "return_pack",
    [TREE_RECEIVE_FORCES] = "receive_forces",
    [TREE_BOUNDARY_KEYS] = "boundary_keys",
    [TREE_LET_CLEAR] = "let_clear",
    [TREE_LET_EXPORT] = "let_export",
    [TREE_LET_PLACE] = "let_place",
    [TREE_LET_PACK] = "let_pack",
    [TREE_REFINE_BOXES] = "refine_boxes",
};

/* Return the index of the program that contains a kernel. */
static int tree_program_of(int kernel)
{
    return kernel >= TREE_LET_CLEAR ? 2 : kernel >= TREE_WALK && kernel < TREE_SAMPLE_KEYS ? 1 : 0;
}

#define WORK_ALIGN 4096 /* alignment of blocks in t->workspace */

/* ---- Kernels. -------------------------------------------------------------------------------- */

static int tree_open_programs(struct nbody *nb, struct nbody_device *p)
{
    const struct embedded *const in_tree[] = {&multipole, &moments, &curve, &tree},
                                 *const in_walk[] = {&root, &multipole, &walk};
    const struct nbody_shape *s = &p->shape;
    const char *real = nb->precision == NBODY_DOUBLE ? "-D DOUBLE" : "",
               *two_words = p->force.tree->key_words > 1 ? " -D KEY_WORDS=2" : "";
    char build[128], walks[256], exports[256];
    const char *quiet = s->group > 1 ? "" : " -w -D CPU"; /* PoCL's compiler warns of calls with
                                                             wide vectors although none remain */
    snprintf(build, sizeof build, "%s%s%s -D GROUP_1D=%d -D LEAF=%u -D MOMENTS=%d", real, quiet,
             two_words, s->group_1d, p->force.tree->leaf, nb->moments);
    snprintf(
        walks, sizeof walks,
        "%s%s%s -D GROUP=%d -D WIDTH=%d -D RSQRT=%d -D LEAF=%u -D MOMENTS=%d -D SECOND_GROUP=%d",
        real, quiet, two_words, nbody_tree_items(s), s->group > 1 ? 1 : s->width, s->rsqrt,
        p->force.tree->leaf, nb->moments, s->second_group);
    snprintf(exports, sizeof exports,
             "%s%s%s -D GROUP=%d -D WIDTH=1 -D RSQRT=%d -D MOMENTS=%d -D SECOND_GROUP=%d", real,
             quiet, two_words, nbody_tree_items(s), s->rsqrt, nb->moments,
             s->group > 1 ? s->second_group : s->width);
    p->force.tree->owns_programs = true;
    void **const program = p->force.tree->program;
    program[0] = nb->domain.tree ? embedded_open(nb->ctx, build, &domain, 4, in_tree)
                                 : embedded_open(nb->ctx, build, &tree, 3, in_tree);
    program[1] = embedded_open(nb->ctx, walks, s->group > 1 ? &walk_gpu : &walk_cpu,
                               COUNT_OF(in_walk), in_walk);
    program[2] =
        nb->domain.tree ? embedded_open(nb->ctx, exports, &let, COUNT_OF(in_walk), in_walk) : NULL;
    return program[0] && program[1] && (program[2] || !nb->domain.tree) ? 0 : -1;
}

static int tree_build_kernels(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    for (struct nbody_device *q = nb->device; q < p && !t->program[0]; q++)
        if (q->force.tree && q->force.tree->owns_programs &&
            strcmp(q->tuning.shape, p->tuning.shape) == 0)
            memcpy(t->program, q->force.tree->program, sizeof t->program);
    if (!t->program[0] && tree_open_programs(nb, p) != 0)
        return -1;
    for (int k = 0; k < (nb->domain.tree ? TREE_KERNELS : TREE_SAMPLE_KEYS); k++)
        if (!(t->kernel[k] =
                  clsym(nb->ctx, t->program[tree_program_of(k)], tree_kernel_name[k], 0)))
            return -1;
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Room for the bodies of a domain. The index of its first body is below 2 TREE_GROUP, and its halo
 * ends TREE_GROUP bodies after its last body. */
enum { SORTED_MARGIN = 3 * TREE_GROUP };

static size_t tree_cell_bytes(const struct nbody *nb)
{
    return (nb->domain.tree ? 5 : 3) * sizeof(cl_uint) + (4 + 2) * nb->real +
           nbody_tree_multipole_bytes(nb);
}

/* Bodies of the tree on a device, without imports: at first, with domains. */
static size_t tree_bodies(const struct nbody *nb, const struct nbody_device *p)
{
    return nb->domain.tree ? p->rows : nb->n;
}

/* Return the initial capacity in cells. A tree usually has 0.23 n cells with leaves of 16 bodies,
 * and 0.12 n with leaves of 32. A uniform density may need twice that number; nbody_tree_check then
 * grows the arrays. */
static size_t tree_initial_capacity(const struct nbody *nb, const struct nbody_device *p,
                                    cl_uint leaf)
{
    return tree_bodies(nb, p) * 24 / 5 / leaf + 2048;
}

/* Bytes of the blocks that share t->workspace: keys followed by the sort's workspace or by cell
 * counts; forces in tree order, over both. */
struct workspace {
    size_t keys, sort, counts, sums;
};

/* Runs of a device's bodies, at most. */
static size_t tree_runs(const struct tree *t)
{
    return divide_up(t->key_room, TREE_RUN);
}

/* Bytes of the keys; with domains, including the keys of both halos. */
static size_t tree_key_bytes(const struct nbody *nb, const struct tree *t)
{
    return round_up(t->key_room * sizeof(cl_ulong), WORK_ALIGN) +
           (nb->domain.tree ? 2 * TREE_KEY_MARGIN : 0);
}

static struct workspace tree_workspace(const struct nbody *nb, const struct tree *t)
{
    const struct arrays_sort_job job = {.keys = (void *)(uintptr_t)t,
                                        .values = (cl_uint *)(uintptr_t)t,
                                        .bytes = 8,
                                        .bits = 64,
                                        .most = t->key_room};
    /* cells of each level by runs; migrating rows for each domain by groups of 8 runs or more */
    const size_t levels = tree_runs(t) * (t->key_words * TREE_LEVELS + 1),
                 rows = (tree_runs(t) / 8 + 1) * nb->domain.ndomains;
    return (struct workspace){.keys = tree_key_bytes(nb, t),
                              .sort = arrays_sort_workspace(t->sorter, &job),
                              .counts = (levels > rows ? levels : rows) * sizeof(cl_uint),
                              .sums = (t->key_room + (nb->domain.tree ? SORTED_MARGIN : 0)) * 4 *
                                      nb->real};
}

static size_t tree_workspace_bytes(const struct workspace *w)
{
    const size_t beside = w->keys + (w->sort > w->counts ? w->sort : w->counts);
    return beside > w->sums ? beside : w->sums;
}

static void tree_free_block(struct nbody_device *p, void **block)
{
    if (*block)
        nbody_device_drop_bytes(p, clsizeofmem(*block));
    clfree(*block);
    *block = NULL;
}

/* Allocate second key words. */
static int tree_allocate_seconds(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    void *seconds = nbody_device_alloc(nb, p, tree_key_bytes(nb, t), CL_MEM_DEVONLY);
    if (!seconds)
        return -1;
    t->keys_lo = seconds;
    t->key_lo = (char *)seconds + (nb->domain.tree ? TREE_KEY_MARGIN : 0);
    return 0;
}

/* Allocate `order` and the workspace for key_room keys, again. */
static int tree_allocate_keys(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    const struct workspace w = tree_workspace(nb, t);
    if (t->keys_lo != t->keys)
        tree_free_block(p, &t->keys_lo);
    tree_free_block(p, &t->order);
    tree_free_block(p, &t->workspace);
    t->keys = t->keys_lo = t->key = t->key_lo = NULL;
    t->sort_workspace = t->counts = t->forces_sorted = NULL;
    if (w.sort == 0 ||
        !(t->order = nbody_device_alloc(nb, p, t->key_room * sizeof(cl_uint), CL_MEM_DEVONLY)) ||
        !(t->workspace = nbody_device_alloc(nb, p, tree_workspace_bytes(&w), CL_MEM_DEVONLY)))
        return -1;
    t->keys = t->keys_lo = t->workspace;
    t->key = t->key_lo = (char *)t->workspace + (nb->domain.tree ? TREE_KEY_MARGIN : 0);
    t->sort_workspace = t->counts = (char *)t->workspace + w.keys;
    t->forces_sorted = t->workspace;
    return t->key_words > 1 ? tree_allocate_seconds(nb, p) : 0;
}

int nbody_tree_reserve_keys(struct nbody *nb, struct nbody_device *p, size_t keys)
{
    struct tree *t = p->force.tree;
    if (keys <= t->key_room)
        return 0;
    t->key_room = keys + keys / 8;
    if (tree_allocate_keys(nb, p) == 0)
        return 1;
    t->key_room = 0;
    return -1;
}

/* ---- Arrays in tree order. ------------------------------------------------------------------- */

static size_t tree_sorted_room(const struct nbody *nb, const struct nbody_device *p)
{
    return tree_bodies(nb, p) + (nb->domain.tree ? SORTED_MARGIN : 0);
}

static size_t tree_body_room(const struct nbody *nb, size_t sorted_room)
{
    return nb->domain.tree ? nbody_tree_import_room(nb, sorted_room) : nb->padded;
}

static void tree_set_body(struct nbody_device *p, void *body, size_t room)
{
    p->force.tree->body = p->force.tree->target.body = body;
    p->force.tree->body_room = room;
    p->force.phi = body; /* potentials are returned through the same buffer as forces */
}

/* Allocate the arrays in tree order again, for `room` bodies. */
static int tree_allocate_sorted(struct nbody *nb, struct nbody_device *p, size_t room)
{
    struct tree *t = p->force.tree;
    const size_t groups = divide_up(room, TREE_GROUP), body_room = tree_body_room(nb, room);
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&t->body, body_room * 4 * nb->real, CL_MEM_DEVONLY},
        {&t->a_old_sorted, room * nb->real, CL_MEM_DEVONLY},
        {&t->info, groups * 4 * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->deferred, (groups + TREE_DEFERRED_HEAD) * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->schedule, groups * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&t->split_groups, nb->domain.tree ? nbody_let_max_merged_boxes(room) * sizeof(cl_uint) : 1,
         CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++) {
        tree_free_block(p, each[b].block);
        if (!(*each[b].block = nbody_device_alloc(nb, p, each[b].size, each[b].flags)))
            return -1;
    }
    tree_set_body(p, t->body, body_room);
    t->target.a_old = t->a_old_sorted;
    t->sorted_room = room;
    void *const cleared[] = {t->info, t->deferred, t->split_groups};
    for (size_t b = 0; b < COUNT_OF(cleared); b++) {
        memset(cleared[b], 0, clsizeofmem(cleared[b]));
        if (clmsync(nb->ctx, p->dev, cleared[b], CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    }
    return 0;
}

int nbody_tree_reserve_bodies(struct nbody *nb, struct nbody_device *p, size_t bodies)
{
    const size_t need = bodies + SORTED_MARGIN;
    if (need <= p->force.tree->sorted_room)
        return 0;
    return tree_allocate_sorted(nb, p, need + need / 8);
}

/* Entries of top_begin. */
static size_t tree_top_entries(const struct nbody *nb)
{
    return (2 * TREE_LEVELS + 1) * (size_t)nb->domain.ndomains + 1;
}

static int tree_allocate(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    const size_t domains = nb->domain.ndomains;
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&t->box_part, t->box_groups * 8 * nb->real, CL_MEM_ZEROCOPY},
        {&t->cube, 4 * nb->real, CL_MEM_ZEROCOPY},
        {&t->span, (2 * TREE_LEVELS + 2) * 2 * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&t->shared_node, (2 * TREE_LEVELS + 1) * sizeof(cl_uint), CL_MEM_DEVONLY},
        {(void **)&t->top_begin, tree_top_entries(nb) * sizeof(cl_uint), 0},
        /* save.c copies a_old; the sort passes its order through it (tree_order.c). */
        {&t->a_old, tree_bodies(nb, p) * nb->real, CL_MEM_ZEROCOPY},
        {(void **)&t->boundary_bodies, domains * sizeof(cl_uint) + 1, 0},
        {&t->boundary_keys, domains * sizeof(cl_ulong) + 1, 0},
        {&t->halo, nb->domain.tree ? nbody_domain_edge_bytes(nb) : 1, 0},
        {&t->shared_sum, nbody_tree_shared(nb, p) * TREE_GROUP * TREE_WALK_PARTS * 4 * nb->real + 1,
         CL_MEM_DEVONLY},
        {(void **)&t->cells, 2 * sizeof(cl_uint), CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++)
        if (!(*each[b].block = nbody_device_alloc(nb, p, each[b].size, each[b].flags)))
            return -1;
    t->target.n = (cl_uint)nb->n;
    if (tree_allocate_sorted(nb, p, tree_sorted_room(nb, p)) != 0 || tree_allocate_keys(nb, p) != 0)
        return -1;
    return nbody_tree_grow(nb, p, (cl_uint)tree_initial_capacity(nb, p, t->leaf));
}

/* ---- Memory estimate; creation. -------------------------------------------------------------- */

/* Bytes per body on a device with leaves of `leaf` bodies. all: sum of all buffers, including the
 * state, which is not allocated yet. largest: the largest buffer. */
struct body_bytes {
    double all, largest;
};

static struct body_bytes tree_bytes_per_body(const struct nbody *nb, const struct nbody_device *p,
                                             cl_uint leaf)
{
    const struct tree *t = p->force.tree;
    const struct workspace w = tree_workspace(nb, t);
    const size_t capacity = nbody_tree_import_room(nb, tree_initial_capacity(nb, p, leaf)),
                 multipoles = capacity * nbody_tree_multipole_bytes(nb),
                 four = (nb->domain.tree ? p->rows : nb->padded) * 4 * nb->real,
                 work = tree_workspace_bytes(&w);
    const size_t cells = capacity * tree_cell_bytes(nb), room = tree_sorted_room(nb, p),
                 rows = tree_bodies(nb, p) * nb->real + t->key_room * sizeof(cl_uint);
    const size_t boxes = nb->domain.tree ? nb->n / TREE_GROUP * 2 * nb->real : 0,
                 groups = room / TREE_GROUP * 6 * sizeof(cl_uint) + boxes,
                 sorted = room * nb->real + tree_body_room(nb, room) * 4 * nb->real;
    const size_t all = nbody_particles_bytes(nb, p) + nbody_forces_bytes(nb, p) +
                       nbody_diagnose_bytes(p->rows) + work + cells + rows + groups + sorted;
    const size_t largest = work > four ? work : four;
    return (struct body_bytes){(double)all / (double)nb->n,
                               (double)(largest > multipoles ? largest : multipoles) /
                                   (double)nb->n};
}

/* Maximum over all ranks: every rank must build the same tree. */
static void join_int32_max(void *a, const void *b, void *arg)
{
    (void)arg;
    if (*(const int32_t *)b > *(int32_t *)a)
        *(int32_t *)a = *(const int32_t *)b;
}

static int tree_max_of_ranks(struct nbody *nb, int number, int *all)
{
    int32_t most = number;
    const int status = world_reduce(nb->world, &most, sizeof most, join_int32_max, NULL);
    *all = (int)most;
    return status;
}

/* Deferring a group changes rounding, so all ranks must use the same limit. */
static int tree_choose_defer_factor(struct nbody *nb)
{
    int limit = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree && p->shape.defer_factor > limit)
            limit = p->shape.defer_factor;
    return nb->domain.tree ? tree_max_of_ranks(nb, limit, &nb->force.defer_factor) : 0;
}

static int tree_choose_moments(struct nbody *nb)
{
    int order = nbody_tree_needs_order_4(nb) ? 4 : 2;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree && p->shape.moments)
            order = p->shape.moments;
    return tree_max_of_ranks(nb, order, &nb->moments);
}

/* A device's memory and largest buffer, in bytes; number of devices. */
struct memory_limits {
    double all, largest, devices;
};

/* Bodies that fit if the devices hold their part of n bodies with `b` bytes per body of all. */
static double tree_bodies_that_fit(struct body_bytes b, struct memory_limits most)
{
    return fmin(fmin(most.all / b.all, most.largest / b.largest),
                most.devices * (double)NBODY_DEVICE_BODIES);
}

/* ENOMEM: the tree does not fit on a device, even with large leaves. */
static int tree_too_large(const struct nbody *nb, const char *device, struct body_bytes usual,
                          struct body_bytes least, struct memory_limits most)
{
    /* bytes per body with domains over those on one device, about */
    const double n = (double)nb->n, more = nb->domain.tree ? 1 : 1.3;
    return clerror_set(
        ENOMEM,
        "nbody_create: the tree of %zu bodies needs %.0f MiB on %s, which has %.0f MiB, "
        "and a buffer of %.0f MiB, of at most %.0f; about %.0f bodies fit on %.0f of these "
        "devices, or %.0f with leaves of %d bodies, not %d; %.0f devices hold all",
        nb->n, least.all * n / 0x1p20, device, most.all / 0x1p20, least.largest * n / 0x1p20,
        most.largest / 0x1p20, tree_bodies_that_fit(least, most), most.devices,
        tree_bodies_that_fit(usual, most), TREE_LEAF, TREE_LARGE_LEAF,
        ceil(most.devices * more * n / tree_bodies_that_fit(least, most)));
}

/* Choose leaves of 16 bodies, or of 32 if the tree would exceed the device memory. The choice
 * precedes the allocation: some drivers grant memory that does not exist. */
static int tree_choose_leaf(struct nbody *nb)
{
    struct cldev_info *info = calloc(nb->ndev, sizeof *info);
    int status = info ? clgetdevinfo(nb->ctx, info)
                      : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    cl_uint leaf = TREE_LEAF;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++) {
        if (!p->force.tree)
            continue;
        const double n = (double)nb->n;
        const struct memory_limits most = {(double)info[p->dev].dev_global_mem_sz,
                                           (double)info[p->dev].dev_max_mem_alloc_sz,
                                           nb->domain.tree ? nb->domain.ndomains : 1};
        const struct body_bytes usual = tree_bytes_per_body(nb, p, TREE_LEAF),
                                least = tree_bytes_per_body(nb, p, TREE_LARGE_LEAF);
        if (p->shape.leaf || usual.all * n > most.all)
            leaf = p->shape.leaf ? (cl_uint)p->shape.leaf : TREE_LARGE_LEAF;
        if (tree_bodies_that_fit(least, most) < n)
            status = tree_too_large(nb, info[p->dev].dev_name, usual, least, most);
    }
    int largest = (int)leaf;
    if (world_reduce_status(nb->world, status) != 0 ||
        tree_max_of_ranks(nb, largest, &largest) != 0)
        status = -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree)
            p->force.tree->leaf = (cl_uint)largest;
    free(info);
    return status;
}

static int tree_create(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree = calloc(1, sizeof *t);
    if (!t)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    t->key_words = 1;
    t->bodies = (cl_uint)nb->n;
    t->runs = (cl_uint)divide_up(nb->n, TREE_RUN);
    t->groups = (cl_uint)((nb->n + TREE_GROUP - 1) / TREE_GROUP);
    t->box_groups = 4 * p->compute_units;
    t->sorter =
        arrays_sorter_create(&(struct arrays_sorter_options){.ctx = nb->ctx, .dev = p->dev});
    return t->sorter ? 0 : -1;
}

int nbody_tree_prepare(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->rows)
            status = tree_create(nb, p);
    if (world_reduce_status(nb->world, status) != 0 || nbody_domain_open(nb) != 0)
        return -1;
    EACH_TREE(nb, p)
    p->force.tree->key_room = nb->domain.tree ? p->rows + TREE_SPARE_KEYS : nb->n;
    if (tree_choose_moments(nb) != 0)
        return -1;
    if (tree_choose_defer_factor(nb) != 0)
        return -1;
    if (tree_choose_leaf(nb) != 0)
        return -1;
    return 0;
}

int nbody_tree_open(struct nbody *nb)
{
    if (nbody_domain_allocate(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->force.tree)
            continue;
        if (tree_build_kernels(nb, p) != 0 || tree_allocate(nb, p) != 0)
            return -1;
    }
    return 0;
}

static void tree_close_programs(struct nbody *nb, struct tree *t)
{
    for (int k = 0; k < TREE_PROGRAMS; k++) {
        if (t->owns_programs && t->program[k])
            clclose(nb->ctx, t->program[k]);
        t->program[k] = NULL;
    }
    t->owns_programs = false;
}

/* True if the cell counts of all levels are too many for a scan. */
static bool tree_counts_overflow(const struct tree *t)
{
    return tree_runs(t) * (2 * TREE_LEVELS + 1) > (size_t)1 << 31;
}

/* Allocate second key words. The cell counts of 42 levels must still fit after the keys. Return 1
 * if they do not, or if memory is short. */
static int tree_allocate_key_lo(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->force.tree;
    t->key_words = 2;
    const struct workspace w = tree_workspace(nb, t);
    if (t->keys_lo != t->keys)
        return 0;
    if (w.keys + w.counts > clsizeofmem(t->workspace) || tree_counts_overflow(t))
        return 1;
    return tree_allocate_seconds(nb, p) == 0 ? 0 : 1;
}

/* Rebuild with moments of second order. Bodies whose keys need two words lie so close that their
 * cells' centres of mass are rounded away. Moments of fourth order, which allow nearer cells, gain
 * nothing there. */
static int tree_rebuild_order_2(struct nbody *nb)
{
    int status = 0;
    nb->moments = 2;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->force.tree ? nbody_tree_grow(nb, p, p->force.tree->capacity) : 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree)
            tree_close_programs(nb, p->force.tree);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->force.tree ? tree_build_kernels(nb, p) : 0;
    nb->force.tree_version = 0;
    return status;
}

int nbody_tree_extend_keys(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->force.tree ? tree_allocate_key_lo(nb, p) : 0;
    if (nb->domain.tree) { /* if one rank has no memory for second words, no rank uses them */
        int all = status < 0 ? 2 : status;
        if (tree_max_of_ranks(nb, all, &all) != 0 || all > 1)
            return -1;
        status = all;
        nbody_domain_set_key_words(nb, status == 0 ? 2 : 1);
    }
    for (struct nbody_device *p = nb->device; status == 1 && p < nb->device + nb->ndev; p++)
        if (p->force.tree) {
            p->force.tree->key_words = 1;
            p->force.tree->cannot_extend_keys = true;
        }
    return status == 0 ? tree_rebuild_order_2(nb) : status;
}

void nbody_tree_free(struct nbody *nb)
{
    nbody_domain_stop_threads(nb);
    for (struct nbody_device *p = nb->device; p && p < nb->device + nb->ndev; p++) {
        struct tree *t = p->force.tree;
        if (!t)
            continue;
        void *const blocks[] = {t->box_part,      t->cube,        t->order,
                                t->workspace,     t->body,        t->span,
                                t->shared_node,   t->top_begin,   t->link,
                                t->child_begin,   t->com,         t->multipoles,
                                t->size,          t->a_old,       t->a_old_sorted,
                                t->info,          t->deferred,    t->schedule,
                                t->shared_sum,    t->cells,       t->boundary_bodies,
                                t->boundary_keys, t->mark,        t->place,
                                t->halo,          t->split_groups};
        tree_close_programs(nb, t);
        if (t->keys_lo != t->keys)
            clfree(t->keys_lo);
        arrays_sorter_free(t->sorter);
        for (size_t b = 0; b < COUNT_OF(blocks); b++)
            clfree(blocks[b]);
        p->force.phi = p->force.partial;
        free(t);
    }
    nbody_domain_free(nb);
}
