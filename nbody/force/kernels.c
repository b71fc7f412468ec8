/* kernels.c - programs, kernels and memory of direct sums on a device.
 *
 * Devices of equal shape share programs, since a stdcl kernel serves every device of its context.
 * Each program gets only the options that it depends on, so that drivers find other programs in
 * their caches. Fast mathematics is limited to the sums over pairs, because it allows a compiler to
 * assume that isfinite() is true.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

EMBEDDED(grid_barrier, "core/grid_barrier.cl", core_grid_barrier_cl);
EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(root, "nbody/force/root.cl", nbody_force_root_cl);
EMBEDDED(pairs, "nbody/force/pairs.cl", nbody_force_pairs_cl);
EMBEDDED(mixed, "nbody/force/direct_mixed.cl", nbody_force_direct_mixed_cl);

/* True if one launch can make the sum and the update: one device has all bodies, and each group
 * sums all chunks. With ranks, ranks without bodies take part in the exchange of each sum. */
static bool device_can_fuse(const struct nbody *nb, const struct nbody_device *p)
{
    return nbody_forces_can_fuse(nb) && p->force.all_chunks && p->rows == nb->padded;
}

static bool device_can_fuse_steps(const struct nbody *nb, const struct nbody_device *p)
{
    return p->shape.fused_groups && p->barrier_options && device_can_fuse(nb, p) &&
           nbody_forces_can_fuse_steps(nb);
}

static bool sum_is_mixed(const struct nbody *nb, enum sum_kind sum)
{
    return nb->precision == NBODY_MIXED && sum == FORCES;
}

static const struct embedded *sum_source(const struct nbody *nb, enum sum_kind sum)
{
    return sum_is_mixed(nb, sum) ? &mixed : nbody_forces_sum_of(sum)->source;
}

/* Kernels that neither steps nor queries of this engine need are not built. The tree has its own
 * sums. */
static bool sum_is_needed(const struct nbody *nb, enum sum_kind sum)
{
    if (nb->method == NBODY_TREE)
        return false;
    if (sum == CRITERION)
        return nbody_stepping_needs_criterion(nb);
    return sum == FORCES || sum == POTENTIALS || sum == nb->integrator->sum;
}

/* Build the program of a sum. That of FORCES contains the fused steps, too, whose text precedes the
 * sum's: grid_barrier.cl only for multi-step launches. */
static void *sum_build_program(struct nbody *nb, struct nbody_device *p, enum sum_kind sum)
{
    const struct embedded *const before[] = {&grid_barrier, &step, nb->integrator->source, &root,
                                             &pairs};
    const bool is_fused = sum == FORCES && device_can_fuse(nb, p),
               many = is_fused && device_can_fuse_steps(nb, p), is_mixed = sum_is_mixed(nb, sum);
    const size_t first = many ? 0 : is_fused ? 1 : 3;
    char options[512];
    nbody_shape_options(nb, p, nbody_has_doubles(nb) && !is_mixed, options, sizeof options);
    const size_t used = strlen(options);
    snprintf(options + used, sizeof options - used, "%s%s%s%s", many ? " -D FUSED_STEPS=1" : "",
             many ? p->barrier_options : "",
             nb->particles.own_eps && !is_mixed ? " -D SOFTENED" : "",
             sum == POTENTIALS && sum_is_mixed(nb, FORCES) ? " -D POTENTIALS_ONLY" : "");
    return embedded_open(nb->ctx, options, sum_source(nb, sum), COUNT_OF(before) - first,
                         before + first);
}

/* Find the program of a sum: that of an earlier sum with the same source, or of the device's twin;
 * otherwise build it. */
static void *sum_find_program(struct nbody *nb, struct nbody_device *p,
                              const struct nbody_device *twin, enum sum_kind sum)
{
    for (enum sum_kind earlier = 0; earlier < sum; earlier++)
        if (p->force.program[earlier] && sum_source(nb, earlier) == sum_source(nb, sum))
            return p->force.program[earlier];
    return twin ? twin->force.program[sum] : sum_build_program(nb, p, sum);
}

static int device_open_sums(struct nbody *nb, struct nbody_device *p)
{
    const struct nbody_device *twin = nbody_device_twin(nb, p);
    struct device_force *const f = &p->force;
    f->owns_programs = !twin;
    for (enum sum_kind sum = 0; sum < SUMS; sum++) {
        if (!sum_is_needed(nb, sum))
            continue;
        f->program[sum] = sum_find_program(nb, p, twin, sum);
        if (!f->program[sum] || !(f->kernel[sum] = clsym(nb->ctx, f->program[sum],
                                                         nbody_forces_sum_of(sum)->kernel, 0)))
            return -1;
    }
    if (device_can_fuse(nb, p) &&
        !(f->fused_kernel = clsym(nb->ctx, f->program[FORCES], "forces_step", 0)))
        return -1;
    if (device_can_fuse_steps(nb, p) &&
        !(f->multi_step_kernel = clsym(nb->ctx, f->program[FORCES], "forces_steps", 0)))
        return -1;
    return 0;
}

void nbody_forces_disable_multi_step(struct nbody_device *p)
{
    p->force.multi_step_kernel = NULL;
}

/* A group sums one chunk if the bodies alone make too few groups, and its items do not split
 * chunks (j_split). */
static void device_choose_partials(const struct nbody *nb, struct nbody_device *p)
{
    const size_t groups = p->rows / nbody_shape_group_bodies(&p->shape);
    p->force.all_chunks = nb->kernel != NBODY_TUNED || p->shape.j_split > 1 ||
                          groups >= (size_t)p->shape.groups_per_unit * p->compute_units;
    p->force.npartial =
        (p->force.all_chunks || nb->method == NBODY_TREE ? 1 : (cl_uint)nb->force.chunks) +
        nbody_has_outer_sum(nb);
}

int nbody_forces_open(struct nbody *nb)
{
    for (cl_uint d = 0; d < nb->ndev; d++)
        device_choose_partials(nb, &nb->device[d]);
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].rows && device_open_sums(nb, &nb->device[d]) != 0)
            return -1;
    return 0;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

size_t nbody_forces_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return nb->integrator->keeps_sums || p->force.npartial > 1
               ? p->force.npartial * nbody_forces_sum(nb)->planes * p->rows * nb->real
               : 0;
}

int nbody_forces_allocate(struct nbody *nb, struct nbody_device *p)
{
    const size_t bytes = nbody_forces_bytes(nb, p);
    p->force.partial = bytes ? nbody_device_alloc(nb, p, bytes, CL_MEM_DEVONLY) : p->state;
    p->force.phi = p->force.partial;
    if (!bytes && nb->method != NBODY_TREE) /* the tree has memory for them */
        p->force.phi = nbody_device_alloc(nb, p, p->rows * nb->real, CL_MEM_DEVONLY);
    return p->force.partial && p->force.phi ? 0 : -1;
}

void nbody_forces_free(struct nbody *nb)
{
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++) {
        struct nbody_device *p = &nb->device[d];
        struct device_force *const f = &p->force;
        for (enum sum_kind sum = 0; f->owns_programs && sum < SUMS; sum++) {
            bool shared = !f->program[sum];
            for (enum sum_kind earlier = 0; earlier < sum; earlier++)
                shared |= f->program[earlier] == f->program[sum];
            if (!shared)
                clclose(nb->ctx, f->program[sum]);
        }
        if (f->phi != f->partial)
            clfree(f->phi);
        if (f->partial != p->state)
            clfree(f->partial);
    }
}
