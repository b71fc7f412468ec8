/* tree_buffers.c - the tree's kernels and memory on a device.
 *
 * In single precision, bytes a body: keys, order and the sort's copies of both 24, bodies in the
 * tree's order 16, what bodies felt 4 in this order and 4 in the caller's, room for 0.15 cells 9,
 * or 24 with moments of fourth order. Sums and counts of cells stand where keys and their copies
 * were. With a tree in parts there are in addition sums in the tree's order 16, slots of rows 4 and
 * boxes of groups half a byte: room for all bodies, since a part may have any number of them; and
 * bodies and sums on their way, of which there are few.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "core/round.h"

#include <limits.h>
#include <math.h>

EMBEDDED(root, "nbody/root.cl", nbody_root_cl);
EMBEDDED(multipole, "nbody/multipole.cl", nbody_multipole_cl);
EMBEDDED(moments, "nbody/moments.cl", nbody_moments_cl);
EMBEDDED(curve, "nbody/curve.cl", nbody_curve_cl);
EMBEDDED(tree, "nbody/tree.cl", nbody_tree_cl);
EMBEDDED(walk, "nbody/walk.cl", nbody_walk_cl);
EMBEDDED(walk_cpu, "nbody/walk_cpu.cl", nbody_walk_cpu_cl);
EMBEDDED(walk_gpu, "nbody/walk_gpu.cl", nbody_walk_gpu_cl);
EMBEDDED(in_parts, "nbody/domain.cl", nbody_domain_cl);
EMBEDDED(essential, "nbody/let.cl", nbody_let_cl);

static const char *const names[TREE_KERNELS] = {
    [TREE_BOX] = "box",
    [TREE_FRAME] = "frame",
    [TREE_KEYS] = "keys",
    [TREE_GATHER] = "gather",
    [TREE_COUNT] = "cell_count",
    [TREE_WRITE] = "cell_write",
    [TREE_MOMENTS] = "moments",
    [TREE_MOMENTS_LAST] = "moments_last",
    [TREE_TURNS] = "turns",
    [TREE_SCATTER] = "scatter",
    [TREE_PLANES] = "planes",
    [TREE_SCATTER_POTENTIALS] = "scatter_potentials",
    [TREE_ORDER_OUT] = "order_out",
    [TREE_ROWS_PICK] = "rows_pick",
    [TREE_ROWS_PUT] = "rows_put",
    [TREE_NUMBERS_MOVE] = "numbers_move",
    [TREE_NUMBERS_PICK] = "numbers_pick",
    [TREE_WALK] = "walk",
    [TREE_WALK_AGAIN] = "walk_again",
    [TREE_WALK_JOIN] = "walk_join",
    [TREE_WALK_POTENTIALS] = "walk_potentials",
    [TREE_WALK_POTENTIALS_AGAIN] = "walk_potentials_again",
    [TREE_WALK_POTENTIALS_JOIN] = "walk_potentials_join",
    [TREE_SAMPLE] = "sample",
    [TREE_ROUTE_KEYS] = "route_keys",
    [TREE_ROUTE_WRITE] = "route_write",
    [TREE_STARTS] = "starts",
    [TREE_ARRIVE] = "arrive",
    [TREE_EDGES] = "edges",
    [TREE_BOXES] = "boxes",
    [TREE_HALO] = "halo",
    [TREE_PART_WITH] = "part_with",
    [TREE_TOPS_WRITE] = "tops_write",
    [TREE_ADOPT] = "adopt",
    [TREE_ADOPT_BODIES] = "adopt_bodies",
    [TREE_MOMENTS_OF_BRIDGES] = "moments_of_bridges",
    [TREE_HOME] = "home",
    [TREE_EXPECT] = "expect",
    [TREE_HOME_SLOTS] = "home_slots",
    [TREE_HOME_POTENTIALS] = "home_potentials",
    [TREE_HOME_SLOTS_POTENTIALS] = "home_slots_potentials",
    [TREE_PICK] = "pick",
    [TREE_FORGET] = "forget",
    [TREE_ESSENTIAL] = "essential",
    [TREE_PACK] = "pack",
    [TREE_LOOSEN] = "loosen",
};

/* The program that a kernel is in. */
static int program_of(int kernel)
{
    return kernel >= TREE_FORGET ? 2 : kernel >= TREE_WALK && kernel < TREE_SAMPLE ? 1 : 0;
}

#define WORK_ALIGN 4096 /* blocks in t->work begin at multiples of it */

/* ---- Kernels. -------------------------------------------------------------------------------- */

static int open_programs(struct nbody *nb, struct nbody_device *p)
{
    const struct embedded *const in_tree[] = {&multipole, &moments, &curve, &tree},
                                 *const in_walk[] = {&root, &multipole, &walk};
    const struct nbody_shape *s = &p->shape;
    const char *real = nb->precision == NBODY_DOUBLE ? "-D DOUBLE" : "",
               *deep = p->tree->words > 1 ? " -D WORDS=2" : "";
    char build[128], walks[256], essences[256];
    const char *quiet =
        s->group > 1
            ? ""
            : " -w -D CPU"; /* PoCL's compiler warns of calls with wide vectors, and makes none */
    snprintf(build, sizeof build, "%s%s%s -D FLAT=%d -D LEAF=%u -D MOMENTS=%d", real, quiet, deep,
             s->flat, p->tree->leaf, nb->moments);
    snprintf(walks, sizeof walks,
             "%s%s%s -D GROUP=%d -D WIDTH=%d -D RSQRT=%d -D LEAF=%u -D MOMENTS=%d -D FEW=%d", real,
             quiet, deep, nbody_tree_items(s), s->group > 1 ? 1 : s->width, s->rsqrt, p->tree->leaf,
             nb->moments, s->again);
    snprintf(essences, sizeof essences,
             "%s%s%s -D GROUP=%d -D WIDTH=1 -D RSQRT=%d -D MOMENTS=%d -D FEW=%d", real, quiet, deep,
             nbody_tree_items(s), s->rsqrt, nb->moments, s->group > 1 ? s->again : s->width);
    p->tree->owner = true;
    void **const program = p->tree->program;
    program[0] = nb->domains ? embedded_open(nb->ctx, build, &in_parts, 4, in_tree)
                             : embedded_open(nb->ctx, build, &tree, 3, in_tree);
    program[1] = embedded_open(nb->ctx, walks, s->group > 1 ? &walk_gpu : &walk_cpu,
                               COUNT_OF(in_walk), in_walk);
    program[2] = nb->domains
                     ? embedded_open(nb->ctx, essences, &essential, COUNT_OF(in_walk), in_walk)
                     : NULL;
    return program[0] && program[1] && (program[2] || !nb->domains) ? 0 : -1;
}

static int build_share(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    for (struct nbody_device *q = nb->device; q < p && !t->program[0]; q++)
        if (q->tree && q->tree->owner && strcmp(q->row.shape, p->row.shape) == 0)
            memcpy(t->program, q->tree->program, sizeof t->program);
    if (!t->program[0] && open_programs(nb, p) != 0)
        return -1;
    for (int k = 0; k < (nb->domains ? TREE_KERNELS : TREE_SAMPLE); k++)
        if (!(t->kernel[k] = clsym(nb->ctx, t->program[program_of(k)], names[k], 0)))
            return -1;
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* multipole.cl */
static size_t multipole_bytes(const struct nbody *nb)
{
    return (nb->moments == 2 ? 8 : 32) * nb->real;
}

static size_t cell_bytes(const struct nbody *nb)
{
    return (nb->domains ? 4 : 3) * sizeof(cl_uint) + (4 + 2) * nb->real + multipole_bytes(nb);
}

/* Cells that there are room for at first: as a rule there are 0.23 n with leaves of 16 bodies, and
 * 0.12 n with 32. Where the density is the same everywhere there may be twice as many; then more
 * room is made (nbody_tree_check). */
static size_t first_room(const struct nbody *nb, cl_uint leaf)
{
    return nb->n * 24 / 5 / leaf + 2048;
}

int nbody_tree_grow(struct nbody *nb, struct nbody_device *p, cl_uint room)
{
    struct tree *t = p->tree;
    struct {
        void **block;
        size_t size;
    } const each[] = {
        {&t->link, 2 * sizeof(cl_int)}, {&t->down, sizeof(cl_uint)},
        {&t->com, 4 * nb->real},        {&t->poles, multipole_bytes(nb)},
        {&t->size, 2 * nb->real},       {&t->mark, nb->domains ? sizeof(cl_uint) : 0}};
    p->bytes -= t->cell_bytes;
    t->cell_bytes = 0;
    t->forgot = t->rooted = false;
    for (size_t b = 0; b < COUNT_OF(each); b++) {
        clfree(*each[b].block);
        *each[b].block = NULL;
        if (each[b].size && !(*each[b].block = nbody_device_alloc(
                                  nb, p, (size_t)(room + 1) * each[b].size, CL_MEM_DEVONLY)))
            return -1;
        t->cell_bytes += (size_t)(room + 1) * each[b].size;
    }
    t->room = room;
    return 0;
}

/* What stands in t->work, one after the other: keys with the sort's own memory, or with counts of
 * cells; sums in the tree's order, where one device has them alone. */
struct work {
    size_t keys, sort, counts, sums;
};

static size_t runs_of(const struct nbody *nb)
{
    return (nb->n + TREE_RUN - 1) / TREE_RUN;
}

/* How many are sorted at most. */
static size_t keys_of(const struct nbody *nb)
{
    return nb->n + (nb->domains ? TREE_SPARE : 0);
}

/* Of keys, and in parts those of neighbours before and behind. */
static size_t key_bytes(const struct nbody *nb)
{
    return round_up(keys_of(nb) * sizeof(cl_ulong), WORK_ALIGN) +
           (nb->domains ? 2 * TREE_MARGIN : 0);
}

static struct work work_of(const struct nbody *nb, const struct tree *t)
{
    const struct arrays_sort_job job = {.keys = (void *)(uintptr_t)t,
                                        .values = (cl_uint *)(uintptr_t)t,
                                        .bytes = 8,
                                        .bits = 64,
                                        .most = keys_of(nb)};
    const size_t cells = t->words * TREE_LEVELS + 1, parts = nb->domains ? nb->domains->n : 0;
    return (struct work){.keys = key_bytes(nb),
                         .sort = arrays_sort_workspace(t->sorter, &job),
                         .counts = runs_of(nb) * (cells > parts ? cells : parts) * sizeof(cl_uint),
                         .sums = nb->domains ? 0 : nb->n * 4 * nb->real};
}

static size_t work_bytes(const struct work *w)
{
    const size_t beside = w->keys + (w->sort > w->counts ? w->sort : w->counts);
    return beside > w->sums ? beside : w->sums;
}

static int place_work(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    const struct work w = work_of(nb, t);
    if (w.sort == 0 || !(t->work = nbody_device_alloc(nb, p, work_bytes(&w), CL_MEM_DEVONLY)))
        return -1;
    t->keys = t->seconds = t->work;
    t->key = t->second = (char *)t->work + (nb->domains ? TREE_MARGIN : 0);
    t->sort = t->count = (char *)t->work + w.keys;
    nb->forces_sorted = nb->domains ? nb->domains->pulled : t->work;
    return 0;
}

static int place_tree(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    const size_t n = nb->n, groups = (n + TREE_GROUP - 1) / TREE_GROUP,
                 parts = nb->domains ? nb->domains->n : 0;
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&t->part, t->parts * 8 * nb->real, CL_MEM_ZEROCOPY},
        {&t->cube, 4 * nb->real, CL_MEM_ZEROCOPY},
        {&t->order, keys_of(nb) * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&t->body, nb->padded * 4 * nb->real, CL_MEM_DEVONLY},
        {&t->span, (2 * TREE_LEVELS + 2) * 2 * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&t->bridge, (2 * TREE_LEVELS + 1) * sizeof(cl_uint), CL_MEM_DEVONLY},
        {(void **)&t->add, (2 * TREE_LEVELS + 1) * sizeof(cl_uint), 0},
        {&t->felt, n * nb->real,
         0}, /* which save.c copies; the order goes by way of it (hilbert_sort_device.c) */
        {&t->feel, n * nb->real, CL_MEM_DEVONLY},
        {&t->slot, parts ? n * sizeof(cl_uint) : 1, CL_MEM_DEVONLY},
        {(void **)&t->which, parts * sizeof(cl_uint) + 1, 0},
        {&t->picked, parts * sizeof(cl_ulong) + 1, 0},
        {&t->lone, nb->domains ? nbody_let_split_groups(nb) * sizeof(cl_uint) : 1, CL_MEM_DEVONLY},
        {&t->halo, nb->domains ? nbody_domain_edge_bytes(nb) : 1, 0},
        {&t->info, groups * 4 * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->again, (groups + TREE_AGAIN) * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->shared, nbody_tree_shared(nb, p) * TREE_GROUP * TREE_PARTS * 4 * nb->real + 1,
         CL_MEM_DEVONLY},
        {&t->turn, groups * sizeof(cl_uint), CL_MEM_DEVONLY},
        {(void **)&t->cells, 2 * sizeof(cl_uint), CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++)
        if (!(*each[b].block = nbody_device_alloc(nb, p, each[b].size, each[b].flags)))
            return -1;
    p->phi = t->body; /* potentials leave the tree as sums do */
    t->target.body = t->body;
    t->target.feel = t->feel;
    t->target.n = (cl_uint)n;
    return place_work(nb, p) == 0 ? nbody_tree_grow(nb, p, (cl_uint)first_room(nb, t->leaf)) : -1;
}

/* ---- How many bodies fit. -------------------------------------------------------------------- */

/* Bytes a body on a device, with leaves of so many bodies: of all blocks, of which those of the
 * state are not there yet, and of the largest. */
struct each {
    double all, largest;
};

static struct each bytes_each(const struct nbody *nb, const struct nbody_device *p, cl_uint leaf)
{
    const struct tree *t = p->tree;
    const struct work w = work_of(nb, t);
    const size_t poles = first_room(nb, leaf) * multipole_bytes(nb),
                 four = nb->padded * 4 * nb->real, work = work_bytes(&w);
    const size_t cells = first_room(nb, leaf) * cell_bytes(nb),
                 sums = nb->domains ? nb->n * (4 * nb->real + sizeof(cl_uint)) : 0;
    const size_t groups = nb->n / TREE_GROUP * 6 * sizeof(cl_uint),
                 bodies = nb->n * (6 * nb->real + sizeof(cl_uint));
    const size_t all = nbody_device_bytes_needed(nb, p) + work + cells + sums + groups + bodies;
    const size_t largest = work > four ? work : four;
    return (struct each){(double)all / (double)nb->n,
                         (double)(largest > poles ? largest : poles) / (double)nb->n};
}

/* The largest of any rank's: trees are made of the same parts everywhere. */
static void larger(void *a, const void *b, void *arg)
{
    (void)arg;
    if (*(const int32_t *)b > *(int32_t *)a)
        *(int32_t *)a = *(const int32_t *)b;
}

static int largest(struct nbody *nb, int number, int *all)
{
    int32_t most = number;
    const int status = world_reduce(nb->world, &most, sizeof most, larger, NULL);
    *all = (int)most;
    return status;
}

/* Which groups are put off decides about bits. */
static int choose_limit(struct nbody *nb)
{
    int limit = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree && p->shape.limit > limit)
            limit = p->shape.limit;
    return nb->domains ? largest(nb, limit, &nb->domains->limit) : 0;
}

static int choose_moments(struct nbody *nb)
{
    int order = nbody_tree_needs_order_4(nb) ? 4 : 2;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree && p->shape.moments)
            order = p->shape.moments;
    return largest(nb, order, &nb->moments);
}

/* Leaves of 16 bodies, or of 32 where those would take too much memory; before it is tried, as some
 * drivers promise memory that is not there. */
static int choose_leaf(struct nbody *nb)
{
    struct cldev_info *info = calloc(nb->ndev, sizeof *info);
    int status = info ? clgetdevinfo(nb->ctx, info)
                      : clerror_set(ENOMEM, "nbody_create: no memory on the host");
    cl_uint leaf = TREE_LEAF;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++) {
        if (!p->tree)
            continue;
        const double n = (double)nb->n, has = (double)info[p->dev].dev_global_mem_sz,
                     one = (double)info[p->dev].dev_max_mem_alloc_sz;
        const struct each usual = bytes_each(nb, p, TREE_LEAF),
                          least = bytes_each(nb, p, TREE_LARGE_LEAF);
        if (p->shape.leaf || usual.all * n > has)
            leaf = p->shape.leaf ? (cl_uint)p->shape.leaf : TREE_LARGE_LEAF;
        if (least.all * n > has || least.largest * n > one)
            status = clerror_set(
                ENOMEM,
                "nbody_create: with the tree %zu bodies take %.0f MiB on %s, which has %.0f MiB, and blocks of %.0f MiB "
                "of at most %.0f; about %.0f would fit, or %.0f with leaves of %d bodies, not %d",
                nb->n, least.all * n / 0x1p20, info[p->dev].dev_name, has / 0x1p20,
                least.largest * n / 0x1p20, one / 0x1p20,
                fmin(has / least.all, one / least.largest),
                fmin(has / usual.all, one / usual.largest), TREE_LEAF, TREE_LARGE_LEAF);
    }
    int most = (int)leaf;
    if (world_reduce_status(nb->world, status) != 0 || largest(nb, most, &most) != 0)
        status = -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree)
            p->tree->leaf = (cl_uint)most;
    free(info);
    return status;
}

static int open_tree(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree = calloc(1, sizeof *t);
    if (!t)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    t->words = 1;
    t->bodies = (cl_uint)nb->n;
    t->runs = (cl_uint)runs_of(nb);
    t->groups = (cl_uint)((nb->n + TREE_GROUP - 1) / TREE_GROUP);
    t->parts = 4 * p->units;
    t->sorter =
        arrays_sorter_create(&(struct arrays_sorter_options){.ctx = nb->ctx, .dev = p->dev});
    return t->sorter ? 0 : -1;
}

int nbody_tree_prepare(struct nbody *nb)
{
    if (nb->method != NBODY_TREE)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && open_tree(nb, p) != 0)
            return -1;
    return world_reduce_status(nb->world, nbody_domain_open(nb)) != 0 || choose_moments(nb) != 0 ||
                   choose_limit(nb) != 0 || choose_leaf(nb) != 0
               ? -1
               : 0;
}

int nbody_tree_open(struct nbody *nb)
{
    if (nb->method != NBODY_TREE)
        return 0;
    if (nbody_domain_allocate(nb) != 0 ||
        (nb->domains && (nbody_let_allocate(nb) != 0 || nbody_device_threads_open(nb) != 0)))
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->tree)
            continue;
        if (build_share(nb, p) != 0 || place_tree(nb, p) != 0)
            return -1;
        *p->bad = INT_MAX;
        if (clmsync(nb->ctx, p->dev, p->tree->again, CL_MEM_DEVICE) == (cl_event)-1 ||
            clmsync(nb->ctx, p->dev, p->tree->add, CL_MEM_DEVICE) == (cl_event)-1 ||
            clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    }
    return 0;
}

static void close_programs(struct nbody *nb, struct tree *t)
{
    for (int k = 0; k < TREE_PROGRAMS; k++) {
        if (t->owner && t->program[k])
            clclose(nb->ctx, t->program[k]);
        t->program[k] = NULL;
    }
    t->owner = false;
}

/* Bodies beyond which counts of cells of all levels are too many for a scan. */
static bool too_many(const struct nbody *nb)
{
    return runs_of(nb) * (2 * TREE_LEVELS + 1) > (size_t)1 << 31;
}

/* Memory for second words. The counts of more levels still fit beside keys. */
static int place_second(struct nbody *nb, struct nbody_device *p)
{
    struct tree *t = p->tree;
    t->words = 2;
    const struct work w = work_of(nb, t);
    if (t->seconds != t->keys)
        return 0;
    if (w.keys + w.counts > clsizeofmem(t->work) || too_many(nb))
        return 1;
    void *seconds = nbody_device_alloc(nb, p, key_bytes(nb), CL_MEM_DEVONLY);
    if (!seconds)
        return 1;
    t->seconds = seconds;
    t->second = (char *)seconds + (nb->domains ? TREE_MARGIN : 0);
    return 0;
}

/* With moments of second order: where bodies lie as close beside the whole that their cells'
 * centres are rounded away, those of fourth order, which let cells be nearer, are of no use. */
static int build_again(struct nbody *nb)
{
    int status = 0;
    nb->moments = 2;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->tree ? nbody_tree_grow(nb, p, p->tree->room) : 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->tree)
            close_programs(nb, p->tree);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->tree ? build_share(nb, p) : 0;
    nb->tree_valid = false;
    return status;
}

int nbody_tree_extend_keys(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->tree ? place_second(nb, p) : 0;
    if (nb->domains) { /* where one rank has no memory for it, none does it */
        int all = status < 0 ? 2 : status;
        if (largest(nb, all, &all) != 0 || all > 1)
            return -1;
        status = all;
        nb->domains->cut_known = false;
        nb->domains->words = status == 0 ? 2 : 1;
        nb->domains->shallow = status == 1;
    }
    for (struct nbody_device *p = nb->device; status == 1 && p < nb->device + nb->ndev; p++)
        if (p->tree) {
            p->tree->words = 1;
            p->tree->shallow = true;
        }
    return status == 0 ? build_again(nb) : status;
}

void nbody_tree_free(struct nbody *nb)
{
    if (nb->domains)
        nbody_device_threads_free(nb);
    for (struct nbody_device *p = nb->device; p && p < nb->device + nb->ndev; p++) {
        struct tree *t = p->tree;
        if (!t)
            continue;
        void *const blocks[] = {t->part,   t->cube,  t->order, t->work,  t->body,   t->span,
                                t->bridge, t->add,   t->link,  t->down,  t->com,    t->poles,
                                t->size,   t->felt,  t->feel,  t->info,  t->again,  t->turn,
                                t->shared, t->cells, t->slot,  t->which, t->picked, t->mark,
                                t->halo,   t->lone};
        close_programs(nb, t);
        if (t->seconds != t->keys)
            clfree(t->seconds);
        arrays_sorter_free(t->sorter);
        for (size_t b = 0; b < COUNT_OF(blocks); b++)
            clfree(blocks[b]);
        p->phi = p->partial;
        free(t);
    }
    if (nb->domains)
        nbody_let_free(nb);
    nbody_domain_free(nb);
}
