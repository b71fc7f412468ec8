/* device.c - a device's programs, kernels and memory.
 *
 * Devices of equal shape share programs, since a stdcl kernel serves every device of its context.
 * Memory on a device, in numbers of the engine's precision: 4 per body for {x, y, z, G m} of all
 * bodies (4 more for velocities if the integrator's sum needs them); the planes of `state` for each
 * of its own bodies; and partial sums: none or one per body if the device's bodies make enough
 * work-groups, otherwise one per chunk, at most 2^24 in total (forces_sum.c).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

#include "core/round.h"

/* ---- Kernels. -------------------------------------------------------------------------------- */

EMBEDDED(grid_barrier, "core/grid_barrier.cl", core_grid_barrier_cl);
EMBEDDED(root, "nbody/force/root.cl", nbody_force_root_cl);
EMBEDDED(pairs, "nbody/force/pairs.cl", nbody_force_pairs_cl);
EMBEDDED(direct, "nbody/force/direct.cl", nbody_force_direct_cl);
EMBEDDED(mixed, "nbody/force/direct_mixed.cl", nbody_force_direct_mixed_cl);
EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);
EMBEDDED(snaps, "nbody/force/direct_snaps.cl", nbody_force_direct_snaps_cl);
EMBEDDED(criterion, "nbody/force/timestep_criterion.cl", nbody_force_timestep_criterion_cl);
EMBEDDED(diagnose, "nbody/simulation/diagnose.cl", nbody_simulation_diagnose_cl);

enum {
    DIRECT_PROGRAM,
    STEP_PROGRAM,
    DIAGNOSE_PROGRAM,
    MIXED_PROGRAM,
    SNAP_PROGRAM,
    CRITERION_PROGRAM,
    PROGRAMS
};

static const struct {
    int program;
    const char *name;
} kernel_name[KERNELS] = {
    [FORCES] = {DIRECT_PROGRAM, "forces"},
    [JERKS] = {DIRECT_PROGRAM, "jerks"},
    [POTENTIALS] = {DIRECT_PROGRAM, "potentials"},
    [REDUCE_PARTIALS] = {STEP_PROGRAM, "reduce_partials"},
    [DIAGNOSE] = {DIAGNOSE_PROGRAM, "diagnose"},
    [FIELD] = {DIAGNOSE_PROGRAM, "field"},
    [SNAPS] = {SNAP_PROGRAM, "snaps"},
    [CRITERION] = {CRITERION_PROGRAM, "timestep_criterion"},
    [CRITERION_MAX] = {DIAGNOSE_PROGRAM, "timestep_criterion_max"},
};

/* Sums that few engines need: second derivatives, and the time-step criterion of adaptive.c. */
static bool device_needs_snaps(const struct nbody *nb)
{
    return nb->integrator->sum == SNAPS;
}

static bool device_needs_criterion(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE && !nb->integrator->block_steps;
}

/* True if one launch can make the sum and the update: one device has all bodies, and each group
 * sums all chunks. With ranks, ranks without bodies take part in the exchange of each sum. */
static bool device_can_fuse(const struct nbody *nb, const struct nbody_device *p)
{
    return nbody_forces_can_fuse(nb) && p->all_chunks && p->rows == nb->padded;
}

static bool device_can_fuse_steps(const struct nbody *nb, const struct nbody_device *p)
{
    return p->shape.fused_groups && p->barrier_options && device_can_fuse(nb, p) &&
           nbody_forces_can_fuse_steps(nb);
}

/* Pass each program only the options it depends on, so that drivers find other programs in their
 * caches. Fast mathematics is limited to the sums over pairs, because it allows a compiler to
 * assume that isfinite() is true. */
static int device_open_programs(struct nbody *nb, struct nbody_device *p)
{
    const struct embedded
        *const before[] = {&grid_barrier, &step, nb->integrator->source, &root, &pairs},
               *const *const before_sums = before + 3, *const before_diagnose[] = {&step, &field};
    const bool is_mixed = nb->precision == NBODY_MIXED, steps = device_can_fuse(nb, p),
               many = device_can_fuse_steps(nb, p);
    const struct embedded *const *const before_steps =
        before + !many; /* grid_barrier.cl only for multi-step launches */
    const size_t nbefore = many ? 5 : 4;
    const char *real = nbody_has_doubles(nb) ? "-D DOUBLE" : "";
    char sums[512], floats[512], diagnosis[64];
    nbody_shape_options(nb, p, nbody_has_doubles(nb), sums, sizeof sums);
    if (many && !is_mixed)
        snprintf(sums + strlen(sums), sizeof sums - strlen(sums), " -D FUSED_STEPS=1%s",
                 p->barrier_options);
    if (nb->own_eps)
        strncat(sums, " -D SOFTENED", sizeof sums - strlen(sums) - 1);
    nbody_shape_options(nb, p, false, floats, sizeof floats);
    if (many)
        snprintf(floats + strlen(floats), sizeof floats - strlen(floats), " -D FUSED_STEPS=1%s",
                 p->barrier_options);
    snprintf(diagnosis, sizeof diagnosis, "%s -D SUM_GROUP=%d%s", real, p->shape.group_1d,
             p->shape.fp64 ? "" : " -D NO_FP64");
    p->owns_programs = true;
    if (!(p->program[DIRECT_PROGRAM] =
              steps && !is_mixed ? embedded_open(nb->ctx, sums, &direct, nbefore, before_steps)
                                 : embedded_open(nb->ctx, sums, &direct, 2, before_sums)) ||
        !(p->program[STEP_PROGRAM] =
              embedded_open(nb->ctx, real, nb->integrator->source, 1, before_diagnose)) ||
        !(p->program[DIAGNOSE_PROGRAM] =
              embedded_open(nb->ctx, diagnosis, &diagnose, 2, before_diagnose)) ||
        (device_needs_snaps(nb) &&
         !(p->program[SNAP_PROGRAM] = embedded_open(nb->ctx, sums, &snaps, 2, before_sums))) ||
        (device_needs_criterion(nb) && !(p->program[CRITERION_PROGRAM] = embedded_open(
                                             nb->ctx, sums, &criterion, 2, before_sums))) ||
        (is_mixed && !(p->program[MIXED_PROGRAM] =
                           steps ? embedded_open(nb->ctx, floats, &mixed, nbefore, before_steps)
                                 : embedded_open(nb->ctx, floats, &mixed, 2, before_sums))))
        return -1;
    return 0;
}

/* Kernels that neither steps nor queries of this engine need are not built. */
static bool device_needs_kernel(const struct nbody *nb, int kernel)
{
    if (kernel == CRITERION)
        return device_needs_criterion(nb);
    return (kernel != JERKS && kernel != SNAPS) || nb->integrator->sum == (enum kernel)kernel;
}

static int device_open_kernels(struct nbody *nb, struct nbody_device *p)
{
    for (struct nbody_device *q = nb->device; q < p && !p->program[0]; q++)
        if (q->owns_programs && q->all_chunks == p->all_chunks &&
            strcmp(q->tuning.shape, p->tuning.shape) == 0)
            memcpy(p->program, q->program, sizeof p->program);
    if (!p->program[0] && device_open_programs(nb, p) != 0)
        return -1;
    for (int k = 0; k < KERNELS; k++) {
        const int program =
            k == FORCES && nb->precision == NBODY_MIXED ? MIXED_PROGRAM : kernel_name[k].program;
        p->kernel[k] = device_needs_kernel(nb, k)
                           ? clsym(nb->ctx, p->program[program], kernel_name[k].name, 0)
                           : NULL;
        if (device_needs_kernel(nb, k) && !p->kernel[k])
            return -1;
    }
    for (int k = 0; k < UPDATE_KERNELS && nb->integrator->kernels[k]; k++) {
        p->update[k] = clsym(nb->ctx, p->program[STEP_PROGRAM], nb->integrator->kernels[k], 0);
        if (!p->update[k])
            return -1;
    }
    void *const sums = p->program[nb->precision == NBODY_MIXED ? MIXED_PROGRAM : DIRECT_PROGRAM];
    if (device_can_fuse(nb, p) && !(p->fused_kernel = clsym(nb->ctx, sums, "forces_step", 0)))
        return -1;
    if (device_can_fuse_steps(nb, p) &&
        !(p->multi_step_kernel = clsym(nb->ctx, sums, "forces_steps", 0)))
        return -1;
    return 0;
}

/* A group sums one chunk if the bodies alone make too few groups, and its items do not split
 * chunks (j_split). */
static void device_choose_partials(const struct nbody *nb, struct nbody_device *p)
{
    const size_t groups = p->rows / nbody_shape_group_bodies(&p->shape);
    p->all_chunks = nb->kernel != NBODY_TUNED || p->shape.j_split > 1 ||
                    groups >= (size_t)p->shape.groups_per_unit * p->compute_units;
    p->npartial =
        (p->all_chunks || nb->method == NBODY_TREE ? 1 : (cl_uint)nb->chunks) + (nb->nfields > 0);
}

int nbody_device_build(struct nbody *nb)
{
    for (cl_uint d = 0; d < nb->ndev; d++)
        device_choose_partials(nb, &nb->device[d]);
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].rows && device_open_kernels(nb, &nb->device[d]) != 0)
            return -1;
    return 0;
}

int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args)
{
    const size_t flat = (size_t)p->shape.group_1d;
    clndrange_t ndr = clndrange_init2d(0, round_up(rows, flat), flat, 0, components, 1);
    cl_event ev = clforkv(nb->ctx, p->dev, kernel, &ndr,
                          nb->flags | CL_EVENT_CHECKED | p->untracked, nargs, args);
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
    p->ev_upload = p->ev_download = NULL; /* released by the wait */
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_device_wait_all(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            status = -1;
    return status == 0 ? nbody_progress_report(nb) : -1;
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
    const size_t partial = nb->integrator->keeps_sums || p->npartial > 1
                               ? p->npartial * nbody_forces_sum(nb)->planes * plane
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
    if (p->state && (nb->integrator->keeps_sums || p->npartial > 1))
        p->partial = nbody_device_alloc(nb, p, p->npartial * nbody_forces_sum(nb)->planes * plane,
                                        CL_MEM_DEVONLY);
    p->phi = p->partial;
    if (p->partial && p->partial == p->state &&
        nb->method != NBODY_TREE) /* the tree has memory for them */
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
        for (int s = 0; p->owns_programs && s < PROGRAMS; s++)
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
