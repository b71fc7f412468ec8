/* tree_room.c - the tree's kernels and memory on a device.
 *
 * In single precision, bytes a body: keys, order and the sort's copies of both 24, bodies in the tree's order 16, sums 16,
 * what bodies felt 16, counts 6, room for 0.3 cells 20.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include <limits.h>

EMBEDDED(root, "nbody/root.cl", nbody_root_cl);
EMBEDDED(tree, "nbody/tree.cl", nbody_tree_cl);
EMBEDDED(walk, "nbody/walk.cl", nbody_walk_cl);
EMBEDDED(walk_cpu, "nbody/walk_cpu.cl", nbody_walk_cpu_cl);
EMBEDDED(walk_gpu, "nbody/walk_gpu.cl", nbody_walk_gpu_cl);

static const char *const names[TREE_KERNELS] = {
    [TREE_BOX] = "box",
    [TREE_FRAME] = "frame",
    [TREE_KEYS] = "keys",
    [TREE_GATHER] = "gather",
    [TREE_COUNT] = "cell_count",
    [TREE_WRITE] = "cell_write",
    [TREE_MOMENTS] = "moments",
    [TREE_SCATTER] = "scatter",
    [TREE_PLANES] = "planes",
    [TREE_SCATTER_POTENTIALS] = "scatter_potentials",
    [TREE_WALK] = "walk",
    [TREE_WALK_AGAIN] = "walk_again",
    [TREE_WALK_POTENTIALS] = "walk_potentials",
    [TREE_WALK_POTENTIALS_AGAIN] = "walk_potentials_again",
};

/* ---- Kernels. --------------------------------------------------------------------------------- */

static int open_programs(struct nbody *nb, struct share *p)
{
    const struct embedded *const front[] = {&root, &walk};
    const struct nbody_shape *s = &p->shape;
    const char *real = nb->precision == NBODY_DOUBLE ? "-D DOUBLE" : "";
    char build[128], walks[256];
    const char *quiet = s->group > 1 ? "" : " -w"; /* PoCL's compiler warns of calls with wide vectors, and makes none */
    snprintf(build, sizeof build, "%s%s -D FLAT=%d", real, quiet, s->flat);
    snprintf(walks, sizeof walks, "%s%s -D GROUP=%d -D WIDTH=%d -D RSQRT=%d", real, quiet, nbody_tree_items(s),
             s->group > 1 ? 1 : s->width, s->rsqrt);
    p->tree->owner = true;
    p->tree->program[0] = embedded_open(nb->ctx, build, &tree, 0, NULL);
    p->tree->program[1] = embedded_open(nb->ctx, walks, s->group > 1 ? &walk_gpu : &walk_cpu, 2, front);
    return p->tree->program[0] && p->tree->program[1] ? 0 : -1;
}

static int build_share(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    for (struct share *q = nb->share; q < p && !t->program[0]; q++)
        if (q->tree && q->tree->owner && strcmp(q->row.shape, p->row.shape) == 0)
            memcpy(t->program, q->tree->program, sizeof t->program);
    if (!t->program[0] && open_programs(nb, p) != 0)
        return -1;
    for (int k = 0; k < TREE_KERNELS; k++)
        if (!(t->kernel[k] = clsym(nb->ctx, t->program[k >= TREE_WALK], names[k], 0)))
            return -1;
    return 0;
}

/* ---- Memory. ---------------------------------------------------------------------------------- */

static size_t cell_bytes(const struct nbody *nb)
{
    return 3 * sizeof(cl_uint) + (4 + 8 + 2) * nb->real;
}

int nbody_tree_grow(struct nbody *nb, struct share *p, cl_uint room)
{
    struct tree *t = p->tree;
    struct {
        void **block;
        size_t size;
    } const each[] = {{&t->link, 2 * sizeof(cl_int)}, {&t->down, sizeof(cl_uint)}, {&t->com, 4 * nb->real},
                      {&t->quad, 8 * nb->real},       {&t->size, 2 * nb->real}};
    for (size_t b = 0; b < COUNT_OF(each); b++) {
        clfree(*each[b].block);
        if (!(*each[b].block = nbody_device_block(nb, p, (size_t)(room + 1) * each[b].size, CL_MEM_DEVONLY)))
            return -1;
    }
    p->bytes -= (size_t)t->room * cell_bytes(nb);
    t->room = room;
    return 0;
}

static int place_tree(struct nbody *nb, struct share *p)
{
    struct tree *t = p->tree;
    const size_t n = nb->n, groups = (n + TREE_GROUP - 1) / TREE_GROUP;
    t->runs = (cl_uint)((n + TREE_RUN - 1) / TREE_RUN);
    t->parts = 4 * p->units;
    const struct arrays_sort_job sort = {.keys = t, .values = (cl_uint *)t, .bytes = 8, .bits = 63, .most = n};
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&t->part, t->parts * 8 * nb->real, CL_MEM_DEVONLY},
        {&t->cube, 4 * nb->real, CL_MEM_ZEROCOPY},
        {&t->key, n * sizeof(cl_ulong), CL_MEM_ZEROCOPY},
        {&t->order, n * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->work, arrays_sort_work(t->sorter, &sort), CL_MEM_DEVONLY},
        {&t->body, n * 4 * nb->real, CL_MEM_DEVONLY},
        {&t->count, (size_t)t->runs * (TREE_LEVELS + 1) * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&t->base, (TREE_LEVELS + 2) * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->felt, n * 4 * nb->real, CL_MEM_DEVONLY},
        {&t->info, groups * 4 * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {&t->again, (groups + 1) * sizeof(cl_uint), CL_MEM_ZEROCOPY},
        {(void **)&t->cells, sizeof(cl_uint), CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++)
        if (!(*each[b].block = nbody_device_block(nb, p, each[b].size, each[b].flags)))
            return -1;
    return nbody_tree_grow(nb, p, (cl_uint)(n / 10 * 3 + 2048)); /* there are 0.23 n, as a rule */
}

/* Whether a device can hold it all, before it is tried: some drivers promise memory that is not there. */
static int check_room(const struct nbody *nb, const struct share *p)
{
    struct cldev_info *info = calloc(nb->ndev, sizeof *info);
    if (!info || clgetdevinfo(nb->ctx, info) != 0) {
        free(info);
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    }
    const double each = 8 + 4 + 12 + 4 * (TREE_LEVELS + 1) / (double)TREE_RUN + 12 * (double)nb->real +
                        0.3 * (double)cell_bytes(nb);
    const double own = (double)p->bytes / (double)nb->n, has = (double)info[p->dev].dev_global_mem_sz;
    const int status = (each + own) * (double)nb->n <= has
                           ? 0
                           : clerror_set(ENOMEM, "nbody_create: with the tree %zu bodies take %.0f MiB on %s, which has %.0f "
                                                 "MiB; about %.0f would fit", nb->n,
                                         (each + own) * (double)nb->n / 0x1p20, info[p->dev].dev_name, has / 0x1p20,
                                         has / (each + own));
    free(info);
    return status;
}

int nbody_tree_open(struct nbody *nb)
{
    if (nb->method != NBODY_TREE)
        return 0;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->rows && check_room(nb, p) != 0)
            return -1;
    if (!(nb->pulled = clmalloc(nb->ctx, nb->n * 4 * nb->real, nbody_devices(nb) > 1 ? CL_MEM_APART : CL_MEM_DEVONLY)))
        return -1;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        if (!p->rows)
            continue;
        if (!(p->tree = calloc(1, sizeof *p->tree)))
            return clerror_set(ENOMEM, "nbody_create: no memory on the host");
        p->tree->sorter = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = nb->ctx, .dev = p->dev});
        if (!p->tree->sorter || build_share(nb, p) != 0 || place_tree(nb, p) != 0)
            return -1;
        p->bytes += nb->n * 4 * nb->real;
        *p->bad = INT_MAX;
        if (clmsync(nb->ctx, p->dev, p->tree->again, CL_MEM_DEVICE) == (cl_event)-1 ||
            clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    }
    return nbody_tree_divide(nb);
}

void nbody_tree_free(struct nbody *nb)
{
    for (struct share *p = nb->share; p && p < nb->share + nb->ndev; p++) {
        struct tree *t = p->tree;
        if (!t)
            continue;
        void *const blocks[] = {t->part, t->cube, t->key,  t->order, t->work,     t->body, t->count, t->base, t->link,
                                t->down, t->com,  t->quad, t->size,  t->felt,  t->info, t->again, t->cells};
        for (int k = 0; k < 2 && t->owner; k++)
            if (t->program[k])
                clclose(nb->ctx, t->program[k]);
        arrays_sorter_free(t->sorter);
        for (size_t b = 0; b < COUNT_OF(blocks); b++)
            clfree(blocks[b]);
        free(t);
    }
    clfree(nb->pulled);
}
