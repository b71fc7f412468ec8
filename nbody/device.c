/* device.c - a device's share of the bodies: its kernels and its memory.
 *
 * Devices of the same shape share programs, since a stdcl kernel serves every device of its
 * context. Memory on a device, in numbers of the engine's precision: 4 a body for {x, y, z, G m} of
 * all bodies (4 more for velocities, where the integrator's sum needs them), and for each of its
 * own rows the planes of `state`, plus work space for the sums over pairs: none or 1 a row when
 * rows make enough work-groups, and when they do not a slot for each stretch, of which forces_sum.c
 * makes 2^24 rows at most.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/round.h"

/* ---- Kernels. -------------------------------------------------------------------------------- */

EMBEDDED(grid_barrier, "core/grid_barrier.cl", core_grid_barrier_cl);
EMBEDDED(root, "nbody/root.cl", nbody_root_cl);
EMBEDDED(pairs, "nbody/pairs.cl", nbody_pairs_cl);
EMBEDDED(direct, "nbody/direct.cl", nbody_direct_cl);
EMBEDDED(mixed, "nbody/mixed.cl", nbody_mixed_cl);
EMBEDDED(step, "nbody/step.cl", nbody_step_cl);
EMBEDDED(field, "nbody/external_field.cl", nbody_external_field_cl);
EMBEDDED(snaps, "nbody/snaps.cl", nbody_snaps_cl);
EMBEDDED(tides, "nbody/timestep_criterion.cl", nbody_timestep_criterion_cl);
EMBEDDED(diagnose, "nbody/diagnose.cl", nbody_diagnose_cl);

enum { DIRECT, STEP, DIAGNOSES, MIXED, OF_SNAPS, OF_TIDES, PROGRAMS };

static const struct {
    int program;
    const char *name;
} kernel_name[KERNELS] = {
    [FORCES] = {DIRECT, "forces"},         [JERKS] = {DIRECT, "jerks"},
    [POTENTIALS] = {DIRECT, "potentials"}, [JOIN] = {STEP, "join"},
    [DIAGNOSE] = {DIAGNOSES, "diagnose"},  [FIELD] = {DIAGNOSES, "field"},
    [SNAPS] = {OF_SNAPS, "snaps"},         [TIDES] = {OF_TIDES, "tides"},
    [LARGEST] = {DIAGNOSES, "largest"},
};

/* Sums over pairs that few engines need: second derivatives, and what adaptive.c chooses steps
 * by. */
static bool needs_snaps(const struct nbody *nb)
{
    return nb->integrator->sum == SNAPS;
}

static bool needs_tides(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE && !nb->integrator->block_steps;
}

/* Whether a launch sums and makes a step, too: where one device has all bodies, and its groups all
 * sums of their rows. With ranks, those without bodies wait for positions of each sum. */
static bool makes_steps(const struct nbody *nb, const struct nbody_device *p)
{
    return nbody_forces_can_fuse(nb) && p->chain && p->rows == nb->padded;
}

static bool makes_many(const struct nbody *nb, const struct nbody_device *p)
{
    return p->shape.meet && p->meets && makes_steps(nb, p) && nbody_forces_can_fuse_steps(nb);
}

/* Each program is told what it depends on, no more, so that drivers find the others compiled. Fast
 * mathematics is for the sums over pairs alone: with it a compiler may take isfinite() for true. */
static int open_programs(struct nbody *nb, struct nbody_device *p)
{
    const struct embedded
        *const before[] = {&grid_barrier, &step, nb->integrator->source, &root, &pairs},
               *const *const before_sums = before + 3, *const before_diagnose[] = {&step, &field};
    const bool mixed_too = nb->precision == NBODY_MIXED, steps = makes_steps(nb, p),
               many = makes_many(nb, p);
    const struct embedded *const *const before_steps =
        before + !many; /* where groups do not meet, all but the first */
    const size_t nbefore = many ? 5 : 4;
    const char *real = nbody_has_doubles(nb) ? "-D DOUBLE" : "";
    char sums[512], floats[512], diagnosis[64];
    nbody_shape_options(nb, p, nbody_has_doubles(nb), sums, sizeof sums);
    if (many && !mixed_too)
        snprintf(sums + strlen(sums), sizeof sums - strlen(sums), " -D MEETS=1%s", p->meets);
    if (nb->own_eps)
        strncat(sums, " -D SOFTENED", sizeof sums - strlen(sums) - 1);
    nbody_shape_options(nb, p, false, floats, sizeof floats);
    if (many)
        snprintf(floats + strlen(floats), sizeof floats - strlen(floats), " -D MEETS=1%s",
                 p->meets);
    snprintf(diagnosis, sizeof diagnosis, "%s -D SUM_GROUP=%d%s", real, p->shape.flat,
             p->shape.fp64 ? "" : " -D NO_FP64");
    p->owner = true;
    if (!(p->program[DIRECT] = steps && !mixed_too
                                   ? embedded_open(nb->ctx, sums, &direct, nbefore, before_steps)
                                   : embedded_open(nb->ctx, sums, &direct, 2, before_sums)) ||
        !(p->program[STEP] =
              embedded_open(nb->ctx, real, nb->integrator->source, 1, before_diagnose)) ||
        !(p->program[DIAGNOSES] =
              embedded_open(nb->ctx, diagnosis, &diagnose, 2, before_diagnose)) ||
        (needs_snaps(nb) &&
         !(p->program[OF_SNAPS] = embedded_open(nb->ctx, sums, &snaps, 2, before_sums))) ||
        (needs_tides(nb) &&
         !(p->program[OF_TIDES] = embedded_open(nb->ctx, sums, &tides, 2, before_sums))) ||
        (mixed_too &&
         !(p->program[MIXED] = steps ? embedded_open(nb->ctx, floats, &mixed, nbefore, before_steps)
                                     : embedded_open(nb->ctx, floats, &mixed, 2, before_sums))))
        return -1;
    return 0;
}

/* Kernels that no step and no question of this engine needs are not built. */
static bool is_needed(const struct nbody *nb, int kernel)
{
    if (kernel == TIDES)
        return needs_tides(nb);
    return (kernel != JERKS && kernel != SNAPS) || nb->integrator->sum == (enum kernel)kernel;
}

static int build_share(struct nbody *nb, struct nbody_device *p)
{
    for (struct nbody_device *q = nb->device; q < p && !p->program[0]; q++)
        if (q->owner && q->chain == p->chain && strcmp(q->row.shape, p->row.shape) == 0)
            memcpy(p->program, q->program, sizeof p->program);
    if (!p->program[0] && open_programs(nb, p) != 0)
        return -1;
    for (int k = 0; k < KERNELS; k++) {
        const int program =
            k == FORCES && nb->precision == NBODY_MIXED ? MIXED : kernel_name[k].program;
        p->kernel[k] =
            is_needed(nb, k) ? clsym(nb->ctx, p->program[program], kernel_name[k].name, 0) : NULL;
        if (is_needed(nb, k) && !p->kernel[k])
            return -1;
    }
    for (int k = 0; k < OWN_KERNELS && nb->integrator->kernels[k]; k++) {
        p->own[k] = clsym(nb->ctx, p->program[STEP], nb->integrator->kernels[k], 0);
        if (!p->own[k])
            return -1;
    }
    void *const sums = p->program[nb->precision == NBODY_MIXED ? MIXED : DIRECT];
    if (makes_steps(nb, p) && !(p->step = clsym(nb->ctx, sums, "forces_step", 0)))
        return -1;
    return makes_many(nb, p) && !(p->steps = clsym(nb->ctx, sums, "forces_steps", 0)) ? -1 : 0;
}

/* A group meets one stretch of attracting bodies where rows alone do not make enough groups, and
 * its items do not divide stretches. */
static void choose_slots(const struct nbody *nb, struct nbody_device *p)
{
    const size_t groups = p->rows / nbody_shape_rows(&p->shape);
    p->chain = nb->kernel != NBODY_TUNED || p->shape.deep > 1 ||
               groups >= (size_t)p->shape.fill * p->units;
    p->slots = (p->chain || nb->method == NBODY_TREE ? 1 : (cl_uint)nb->chunks) + (nb->nfields > 0);
}

int nbody_device_build(struct nbody *nb)
{
    for (cl_uint d = 0; d < nb->ndev; d++)
        choose_slots(nb, &nb->device[d]);
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].rows && build_share(nb, &nb->device[d]) != 0)
            return -1;
    return 0;
}

int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args)
{
    const size_t flat = (size_t)p->shape.flat;
    clndrange_t ndr = clndrange_init2d(0, round_up(rows, flat), flat, 0, components, 1);
    cl_event ev =
        clforkv(nb->ctx, p->dev, kernel, &ndr, nb->flags | CL_EVENT_CHECKED | p->bare, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

void nbody_device_mark_idle(struct nbody *nb, struct nbody_device *p)
{
    nb->task.done += p->pace.queued;
    pace_waited(&p->pace);
}

int nbody_device_wait(struct nbody *nb, struct nbody_device *p)
{
    const cl_event ev = clwait(nb->ctx, p->dev, CL_ALL_EVENT);
    nbody_device_mark_idle(nb, p);
    p->incoming = p->outgoing = NULL; /* waited for, and forgotten */
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_device_wait_all(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            status = -1;
    return status == 0 ? nbody_task_tell(nb) : -1;
}

int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size)
{
    if (clmsyncn(nb->ctx, p->dev, from, size, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    return nbody_device_wait(nb, p);
}

/* ---- Memory. --------------------------------------------------------------------------------- */

void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags)
{
    void *block = clmalloc(nb->ctx, size, flags);
    if (!block || !clgetbuffer(nb->ctx, p->dev, block))
        return clfree(block), NULL;
    p->bytes += size;
    return block;
}

size_t nbody_device_bytes_needed(const struct nbody *nb, const struct nbody_device *p)
{
    const size_t four = nb->padded * 4 * nb->real, plane = p->rows * nb->real;
    const size_t partial = nb->integrator->keeps_sums || p->slots > 1
                               ? p->slots * nbody_forces_sum(nb)->planes * plane
                               : 0;
    return four + nb->planes * plane + partial + p->rows / SUM_BLOCK * SUM_TERMS * sizeof(double);
}

int nbody_device_allocate(struct nbody *nb, struct nbody_device *p)
{
    const size_t plane = p->rows * nb->real;
    p->bytes = nb->padded * 4 * nb->real *
               (1u + (nb->velo != NULL) + (nb->acce != NULL) + (nb->moved != NULL));
    p->state = nbody_device_alloc(nb, p, nb->planes * plane, CL_MEM_ZEROCOPY);
    p->partial = p->state;
    if (p->state && (nb->integrator->keeps_sums || p->slots > 1))
        p->partial = nbody_device_alloc(nb, p, p->slots * nbody_forces_sum(nb)->planes * plane,
                                        CL_MEM_DEVONLY);
    p->phi = p->partial;
    if (p->partial && p->partial == p->state &&
        nb->method != NBODY_TREE) /* which has room for them */
        p->phi = nbody_device_alloc(nb, p, plane, CL_MEM_DEVONLY);
    p->sums = nbody_device_alloc(
        nb, p, (p->rows + SUM_BLOCK - 1) / SUM_BLOCK * SUM_TERMS * sizeof(double), CL_MEM_ZEROCOPY);
    p->bad = nbody_device_alloc(nb, p, BAD_WORDS * sizeof *p->bad, CL_MEM_ZEROCOPY);
    return p->state && p->partial && p->phi && p->sums && p->bad ? 0 : -1;
}

void nbody_device_free(struct nbody *nb)
{
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++) {
        struct nbody_device *p = &nb->device[d];
        for (int s = 0; p->owner && s < PROGRAMS; s++)
            if (p->program[s])
                clclose(nb->ctx, p->program[s]);
        if (p->phi != p->partial)
            clfree(p->phi);
        if (p->partial != p->state)
            clfree(p->partial);
        clfree(p->state);
        free(p->saved);
        clfree(p->sums);
        clfree(p->bad);
    }
    clfree(nb->posm);
    clfree(nb->velo);
    clfree(nb->moved);
    clfree(nb->acce);
}
