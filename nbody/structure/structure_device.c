/* structure_device.c - structure of a cluster, as structure.c, on a device with double precision
 * (structure.cl).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/particles/body_blocks.h"
#include "nbody/structure/neighbours.h"
#include "nbody/structure/structure.h"

#include "core/args.h"
#include "core/embedded.h"
#include "stdcl/arrays.h"

#include <errno.h>
#include <math.h>

EMBEDDED(structure, "nbody/structure/structure.cl", nbody_structure_structure_cl);

/* As in structure.cl. */
enum { LEAF = 16, FAN = 8, GROUP = 64, BLOCK = 1024, TERMS = 7, LEVELS = 12 };

enum sum_kind {
    CURVE,
    LOWEST,
    UPPER,
    NEIGHBOURS_OF,
    WEIGH,
    RADII,
    MASSES,
    COUNTS,
    SHELLS,
    ESCAPERS,
    PAIRS,
    KERNELS
};
static const char *const names[KERNELS] = {
    "structure_curve", "lowest_boxes",     "upper_boxes", "neighbours", "weigh",          "radii",
    "masses",          "structure_counts", "shells",      "escapers",   "structure_pairs"};

struct vector {
    double at[4];
};

/* Device memory; blocks that the host reads or writes have an image there. */
/* clang-format off */
#define BLOCKS(X)                                                             \
    X(posm) X(velp) X(at) X(lo) X(hi) X(level) X(key) X(order) X(near)        \
    X(second) X(density) X(sums) X(total) X(fraction) X(count) X(radius)      \
    X(pair) X(third)
/* clang-format on */

struct work {
    CLCONTEXT *ctx;
    cl_uint dev, n, boxes, levels;
    cl_uint first[LEVELS], has[LEVELS]; /* boxes of each level */
    double G;
    size_t blocks;
    void *program;
    cl_kernel kernel[KERNELS];
    arrays_sorter *sorter;
#define X(name) void *name;
    BLOCKS(X)
#undef X
};

/* ---- Memory and kernels. --------------------------------------------------------------------- */

static void work_count_boxes(struct work *w)
{
    cl_uint has = (w->n + LEAF - 1) / LEAF;
    for (w->boxes = w->levels = 0;; has = (has + FAN - 1) / FAN) {
        w->first[w->levels] = w->boxes;
        w->has[w->levels++] = has;
        w->boxes += has;
        if (has == 1)
            break;
    }
}

static int work_open(struct work *w, size_t fractions)
{
    const size_t n = w->n, image = CL_MEM_PER_DEVICE, own = CL_MEM_DEVONLY;
    const struct {
        void **block;
        size_t bytes, flags;
    } all[] = {{&w->posm, n * 32, image},
               {&w->velp, n * 32, image},
               {&w->at, n * 32, own},
               {&w->lo, w->boxes * 32ul, own},
               {&w->hi, w->boxes * 32ul, own},
               {&w->level, LEVELS * sizeof(cl_uint2), image},
               {&w->key, n * 8, own},
               {&w->order, n * 4, own},
               {&w->near, n * 4, own},
               {&w->second, n * 8, own},
               {&w->density, n * 8, own},
               {&w->sums, (w->blocks + fractions) * TERMS * 8, image},
               {&w->total, 8, own},
               {&w->fraction, fractions * 8, image},
               {&w->count, fractions * 4, image},
               {&w->radius, fractions * 8, image},
               {&w->pair, (n / 2 + 1) * sizeof(cl_uint2), image},
               {&w->third, (n / 2 + 1) * 8, image}};
    for (size_t b = 0; b < sizeof all / sizeof *all; b++)
        if (!(*all[b].block = clmalloc(w->ctx, all[b].bytes, (int)all[b].flags)))
            return -1;
    w->sorter = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = w->ctx, .dev = w->dev});
    w->program = w->sorter ? embedded_open(w->ctx, "", &structure, 0, NULL) : NULL;
    for (int k = 0; k < KERNELS; k++)
        if (!w->program || !(w->kernel[k] = clsym(w->ctx, w->program, names[k], 0)))
            return -1;
    return 0;
}

static void work_close(struct work *w)
{
#define X(name) clfree(w->name);
    BLOCKS(X)
#undef X
    arrays_sorter_free(w->sorter);
    if (w->program)
        clclose(w->ctx, w->program);
}

/* ---- Launches and copies. -------------------------------------------------------------------- */

static int work_launch(struct work *w, enum sum_kind k, size_t items, cl_uint nargs,
                       const struct stdcl_arg *args)
{
    clndrange_t ndr = clndrange_init1d(0, (items + GROUP - 1) / GROUP * GROUP, GROUP);
    return clforkv(w->ctx, w->dev, w->kernel[k], &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED, nargs,
                   args) == (cl_event)-1
               ? -1
               : 0;
}

static int work_copy(struct work *w, void *block, size_t bytes, int direction)
{
    return clmsyncn(w->ctx, w->dev, block, bytes, direction) == (cl_event)-1 ? -1 : 0;
}

static size_t structure_blocks(size_t bodies)
{
    return (bodies + BLOCK - 1) / BLOCK;
}

/* Add the blocks from index `from` on. */
static void work_add_blocks(const struct work *w, size_t from, size_t blocks, int terms,
                            double *sum)
{
    const double *const all = w->sums;
    for (int t = 0; t < terms; t++)
        sum[t] = 0;
    for (size_t b = from; b < from + blocks; b++)
        for (int t = 0; t < terms; t++)
            sum[t] += all[b * TERMS + (size_t)t];
}

/* Download the blocks and add them. */
static int work_download_sums(struct work *w, int terms, double *sum)
{
    if (work_copy(w, w->sums, w->blocks * TERMS * sizeof(double), CL_MEM_HOST) != 0)
        return -1;
    work_add_blocks(w, 0, w->blocks, terms, sum);
    return 0;
}

/* ---- Bodies to the device. ------------------------------------------------------------------- */

struct bodies {
    const double *mass, (*pos)[3], (*vel)[3], *potential;
    struct vector *posm, *velp;
};

static void work_write_block(void *bodies, size_t block, size_t first, size_t end)
{
    const struct bodies *b = bodies;
    (void)block;
    for (size_t i = first; i < end; i++) {
        b->posm[i] = (struct vector){{b->pos[i][0], b->pos[i][1], b->pos[i][2], b->mass[i]}};
        b->velp[i] = (struct vector){
            {b->vel[i][0], b->vel[i][1], b->vel[i][2], b->potential ? b->potential[i] : 0}};
    }
}

/* Minimum of each coordinate; at[3]: the factor that scales the longest side to 2^21. */
static struct vector work_corner(size_t n, const double (*pos)[3])
{
    struct vector corner = {{pos[0][0], pos[0][1], pos[0][2], 0}};
    double side = 0;
    for (int c = 0; c < 3; c++) {
        double most = pos[0][c];
        for (size_t i = 1; i < n; i++) {
            corner.at[c] = fmin(corner.at[c], pos[i][c]);
            most = fmax(most, pos[i][c]);
        }
        side = fmax(side, most - corner.at[c]);
    }
    corner.at[3] = side > 0 && isfinite(side) ? 2097152 / side : 0;
    return corner;
}

static int work_upload(struct work *w, struct bodies *b)
{
    cl_uint2 *const level = w->level;
    for (cl_uint l = 0; l < w->levels; l++)
        level[l] = (cl_uint2){{w->first[l], w->has[l]}};
    b->posm = w->posm;
    b->velp = w->velp;
    nbody_each_block(w->n, work_write_block, b);
    return work_copy(w, w->posm, w->n * sizeof *b->posm, CL_MEM_DEVICE) == 0 &&
                   work_copy(w, w->velp, w->n * sizeof *b->velp, CL_MEM_DEVICE) == 0
               ? work_copy(w, w->level, LEVELS * sizeof *level, CL_MEM_DEVICE)
               : -1;
}

/* ---- Neighbours and the centre. -------------------------------------------------------------- */

static int work_find_neighbours(struct work *w, struct vector corner)
{
    const struct arrays_sort_job sort = {
        .keys = w->key, .values = w->order, .most = w->n, .bytes = 8, .bits = 63};
    if (work_launch(w, CURVE, w->n, ARGS(w->posm, w->n, AS("double4", corner), w->key, w->order)) !=
            0 ||
        arrays_sort_start(w->sorter, &sort) != 0 ||
        work_launch(w, LOWEST, w->has[0], ARGS(w->posm, w->order, w->n, w->at, w->lo, w->hi)) != 0)
        return -1;
    for (cl_uint l = 1; l < w->levels; l++)
        if (work_launch(
                w, UPPER, w->has[l],
                ARGS(w->first[l - 1], w->has[l - 1], w->first[l], w->has[l], w->lo, w->hi)) != 0)
            return -1;
    return work_launch(w, NEIGHBOURS_OF, w->n,
                       ARGS(w->at, w->order, w->n, w->lo, w->hi, w->level, w->levels, w->near,
                            w->second, w->density));
}

static int work_find_centre(struct work *w, struct nbody_structure *s)
{
    double sum[TERMS], core[2];
    const cl_uint dense = w->n > NEIGHBOURS;
    struct vector centre = {{0}};
    if (work_launch(w, WEIGH, w->blocks * GROUP,
                    ARGS(w->posm, w->velp, w->density, w->n, dense, w->sums)) != 0 ||
        work_download_sums(w, TERMS, sum) != 0)
        return -1;
    for (int c = 0; c < 3; c++) {
        s->centre[c] = centre.at[c] = sum[1 + c] / sum[0];
        s->velocity[c] = sum[4 + c] / sum[0];
    }
    if (work_launch(w, RADII, w->blocks * GROUP,
                    ARGS(w->posm, w->density, w->n, AS("double4", centre), w->key, w->order,
                         w->sums)) != 0 ||
        work_download_sums(w, 2, core) != 0)
        return -1;
    s->core_radius = dense && core[0] > 0 ? sqrt(core[1] / core[0]) : 0;
    return 0;
}

/* ---- Shells. --------------------------------------------------------------------------------- */

/* Sort by radius and find how many bodies hold each fraction of the mass; the last fraction is one
 * half. */
static int work_find_counts(struct work *w, double total, cl_uint fractions)
{
    const double scale = 0x1p62 / total;
    const struct arrays_sort_job sort = {
        .keys = w->key, .values = w->order, .most = w->n, .bytes = 8, .bits = 63};
    const struct arrays_scan_job scan = {
        .x = w->second, .sums = w->second, .total = w->total, .bytes = 8, .most = w->n};
    if (arrays_sort_start(w->sorter, &sort) != 0 ||
        work_launch(w, MASSES, w->n, ARGS(w->posm, w->order, w->n, scale, w->second)) != 0 ||
        arrays_scan_start(w->sorter, &scan) != 0 ||
        work_copy(w, w->fraction, fractions * sizeof(double), CL_MEM_DEVICE) != 0 ||
        work_launch(w, COUNTS, fractions,
                    ARGS(w->second, w->total, w->key, w->n, w->fraction, fractions, w->count,
                         w->radius)) != 0)
        return -1;
    return work_copy(w, w->count, fractions * sizeof(cl_uint), CL_MEM_HOST) == 0
               ? work_copy(w, w->radius, fractions * sizeof(double), CL_MEM_HOST)
               : -1;
}

static int work_start_shell(struct work *w, cl_uint from, cl_uint end,
                            const struct nbody_structure *s, cl_uint block)
{
    const struct vector centre = {{s->centre[0], s->centre[1], s->centre[2], 0}},
                        velocity = {{s->velocity[0], s->velocity[1], s->velocity[2], 0}};
    return from == end
               ? 0
               : work_launch(w, SHELLS, structure_blocks(end - from) * GROUP,
                             ARGS(w->posm, w->velp, w->key, w->order, from, end,
                                  AS("double4", centre), AS("double4", velocity), w->sums, block));
}

static int work_measure_shells(struct work *w, size_t shells, struct nbody_shell *shell,
                               const struct nbody_structure *s)
{
    const cl_uint *const count = w->count;
    const double *const radius = w->radius;
    size_t blocks = 0;
    double sum[4];
    for (size_t k = 0; k < shells;
         blocks += structure_blocks(count[k] - (k ? count[k - 1] : 0)), k++)
        if (work_start_shell(w, k ? count[k - 1] : 0, count[k], s, (cl_uint)blocks) != 0)
            return -1;
    if (blocks && work_copy(w, w->sums, blocks * TERMS * sizeof(double), CL_MEM_HOST) != 0)
        return -1;
    blocks = 0;
    for (size_t k = 0; k < shells; k++) {
        const size_t bodies = count[k] - (k ? count[k - 1] : 0);
        work_add_blocks(w, blocks, structure_blocks(bodies), 4, sum);
        structure_shell(&shell[k], bodies, sum[0], sum[1], sum[2], sum[3]);
        shell[k].radius = radius[k];
        blocks += structure_blocks(bodies);
    }
    return 0;
}

static int work_find_shells(struct work *w, double total, size_t shells, struct nbody_shell *shell,
                            struct nbody_structure *s)
{
    double *const fraction = w->fraction;
    for (size_t k = 0; k < shells; k++)
        fraction[k] = shell[k].fraction;
    fraction[shells] = 0.5;
    if (work_find_counts(w, total, (cl_uint)shells + 1) != 0)
        return -1;
    s->half_mass_radius = ((double *)w->radius)[shells];
    s->relaxation_time = structure_relaxation(w->n, w->G * total, s->half_mass_radius);
    return work_measure_shells(w, shells, shell, s);
}

/* ---- Escapers and binaries. ------------------------------------------------------------------ */

static int work_count_escapers(struct work *w, struct nbody_structure *s)
{
    const struct vector velocity = {{s->velocity[0], s->velocity[1], s->velocity[2], 0}};
    double count;
    if (work_launch(w, ESCAPERS, w->blocks * GROUP,
                    ARGS(w->velp, w->key, w->order, w->n, AS("double4", velocity),
                         s->half_mass_radius, w->sums)) != 0 ||
        work_download_sums(w, 1, &count) != 0)
        return -1;
    s->escapers = (size_t)count;
    return 0;
}

/* The device lists candidates. Must precede the scan of masses, which overwrites `second`. */
static int work_find_binaries(struct work *w, const struct bodies *b, struct nbody_structure *s)
{
    cl_uint *const count = w->count;
    *count = 0;
    if (work_copy(w, count, sizeof *count, CL_MEM_DEVICE) != 0 ||
        work_launch(w, PAIRS, w->n,
                    ARGS(w->posm, w->velp, w->n, w->G, w->near, w->second, w->count, w->pair,
                         w->third)) != 0 ||
        work_copy(w, count, sizeof *count, CL_MEM_HOST) != 0)
        return -1;
    const cl_uint found = *count;
    if (found && (work_copy(w, w->pair, found * sizeof(cl_uint2), CL_MEM_HOST) != 0 ||
                  work_copy(w, w->third, found * sizeof(double), CL_MEM_HOST) != 0))
        return -1;
    for (cl_uint k = 0; k < found; k++) {
        const cl_uint2 pair = ((cl_uint2 *)w->pair)[k];
        struct nbody_binary one;
        if (structure_binary(w->G, b->mass, b->pos, b->vel, pair.s[0], pair.s[1],
                             ((double *)w->third)[k], &one) &&
            structure_add(s, &one) != 0)
            return -1;
    }
    structure_sort(s);
    return 0;
}

/* ---- All of it. ------------------------------------------------------------------------------ */

int nbody_find_structure_device(CLCONTEXT *ctx, cl_uint dev, size_t n, double G, const double *mass,
                                const double (*pos)[3], const double (*vel)[3],
                                const double *potential, size_t shells, struct nbody_shell *shell,
                                struct nbody_structure *s)
{
    struct work w = {
        .ctx = ctx, .dev = dev, .n = (cl_uint)n, .G = G, .blocks = structure_blocks(n)};
    struct bodies b = {mass, pos, vel, potential, NULL, NULL};
    double total = 0;
    *s = (struct nbody_structure){.binary = NULL};
    for (size_t i = 0; i < n; i++)
        total += mass[i];
    if (n > 1u << 30)
        return clerror_set(
            EINVAL, "nbody_find_structure_device: %zu bodies; there must be at most 2^30", n);
    if (structure_check(n, total, shells, shell) != 0)
        return -1;
    work_count_boxes(&w);
    int status = work_open(&w, shells + 1);
    if (status == 0 && work_upload(&w, &b) == 0 &&
        work_find_neighbours(&w, work_corner(n, pos)) == 0 && work_find_binaries(&w, &b, s) == 0 &&
        work_find_centre(&w, s) == 0 && work_find_shells(&w, total, shells, shell, s) == 0)
        status = potential ? work_count_escapers(&w, s) : 0;
    else
        status = -1;
    work_close(&w);
    if (status != 0) {
        free(s->binary);
        s->binary = NULL;
        s->binaries = 0;
    }
    return status;
}
