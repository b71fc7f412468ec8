/* baseline.c - sums over pairs by the baseline kernels (baseline.cl), which show the gain of
 * tuning.
 *
 * They replace the tuned sum and nothing else: they read bodies from posm and write sums to the
 * planes of `partial`, so that steps, energies and output do not depend on the kernel. For kernels
 * that work on an array of structures, one launch makes the array from posm and another copies the
 * sums out of it; beside N interactions per body, these two cost little.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"

#include "nbody/force/baseline.h"

#include "core/round.h"

#include <math.h>

/* ---- Checks. --------------------------------------------------------------------------------- */

static const char *const kernel_name[] = {
    [NBODY_TUNED] = "tuned",
    [NBODY_NAIVE] = "naive",
    [NBODY_BRANCHLESS] = "branchless",
    [NBODY_TILED] = "tiled",
};

int nbody_baseline_check(const struct nbody *nb)
{
    if (nb->kernel == NBODY_TUNED)
        return 0;
    if (nb->integrator->sum != FORCES)
        return clerror_set(
            EINVAL,
            "nbody_create: the %s kernel has no derivatives of forces, which %s needs; "
            "take another integrator or the tuned kernel",
            kernel_name[nb->kernel], nb->integrator->info.name);
    if (nb->ndev > 1)
        return clerror_set(
            EINVAL,
            "nbody_create: the %s kernel runs on one device, and the context has %u; give it "
            "one, or take the tuned kernel",
            kernel_name[nb->kernel], nb->ndev);
    return 0;
}

/* ---- Opening. -------------------------------------------------------------------------------- */

/* The header shared with this file precedes the kernels. */
EMBEDDED(header, "nbody/force/baseline.h", nbody_force_baseline_h);
EMBEDDED(kernels, "nbody/force/baseline.cl", nbody_force_baseline_cl);

static int baseline_open_kernels(struct nbody *nb)
{
    struct baseline *l = nb->force.baseline = calloc(1, sizeof *l);
    if (!l)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    const struct embedded *const front = &header;
    l->program = embedded_open(nb->ctx, nb->precision == NBODY_DOUBLE ? "-D DOUBLE" : "", &kernels,
                               1, &front);
    if (!l->program)
        return -1;
    l->pack = clsym(nb->ctx, l->program, "baseline_pack", 0);
    l->force = clsym(nb->ctx, l->program, kernel_name[nb->kernel], 0);
    l->unpack = clsym(nb->ctx, l->program, "baseline_unpack", 0);
    return l->pack && l->force && l->unpack ? 0 : -1;
}

static size_t baseline_body_bytes(const struct nbody *nb)
{
    return nb->precision == NBODY_DOUBLE ? sizeof(struct baseline_double)
                                         : sizeof(struct baseline_single);
}

static int baseline_open(struct nbody *nb)
{
    struct nbody_device *p = &nb->device[0];
    if (baseline_open_kernels(nb) != 0)
        return -1;
    if (nb->kernel == NBODY_TILED)
        return 0;
    nb->force.baseline->bodies = clmalloc(nb->ctx, nb->n * baseline_body_bytes(nb), CL_MEM_DEVONLY);
    if (!nb->force.baseline->bodies || !clgetbuffer(nb->ctx, p->dev, nb->force.baseline->bodies))
        return -1;
    nbody_device_add_bytes(p, nb->n * baseline_body_bytes(nb));
    return 0;
}

static void baseline_free(struct nbody *nb)
{
    struct baseline *l = nb->force.baseline;
    if (!l)
        return;
    if (l->program)
        clclose(nb->ctx, l->program);
    clfree(l->bodies);
    free(l);
}

/* ---- The sum. -------------------------------------------------------------------------------- */

/* Enqueue a kernel for the bodies first .. first + count - 1, in groups of shape.group_1d items.
 * The last group may have more items than bodies. */
static int baseline_launch(const struct nbody *nb, cl_kernel kernel, size_t first, size_t count,
                           cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t group = (size_t)nb->device[0].shape.group_1d;
    clndrange_t ndr = clndrange_init1d(first, round_up(count, group), group);
    return clforkv(nb->ctx, 0, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED, nargs, args) ==
                   (cl_event)-1
               ? -1
               : 0;
}

/* Enqueue the sum over all bodies for the bodies first .. first + count - 1. */
static int baseline_start_slice(const struct nbody *nb, size_t first, size_t count)
{
    struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    bool none;
    const double eps = sqrt(nbody_forces_softening(nb, FORCES, &none));
    const double work = nbody_forces_sum(nb)->flops * (double)nb->n * (double)count;
    if (clprofile_work(nb->force.baseline->force, work, 0,
                       nb->precision == NBODY_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE) != 0)
        return -1;
    pace_started(&p->pace, work);
    if (nb->kernel == NBODY_TILED)
        return baseline_launch(nb, nb->force.baseline->force, first, count,
                               ARGS(nb->particles.posm, p->force.partial,
                                    clarg_local((size_t)p->shape.group_1d * 4 * nb->real), n, rows,
                                    REAL(nb, eps)));
    return baseline_launch(nb, nb->force.baseline->force, first, count,
                           ARGS(nb->force.baseline->bodies, n, REAL(nb, eps)));
}

/* Enqueue slices of time as for the tuned kernel, of at least one group each. */
static int baseline_start_forces(struct nbody *nb)
{
    struct nbody_device *p = &nb->device[0];
    const double row = nbody_forces_sum(nb)->flops * (double)nb->n;
    const size_t group = (size_t)p->shape.group_1d;
    for (size_t first = 0, count; first < nb->n; first += count) {
        const double most = fmin(pace_slice(&p->pace) / row, (double)nb->n);
        count = most < (double)group ? group : (size_t)most / group * group;
        count = count < nb->n - first ? count : nb->n - first;
        if (!pace_has_room(&p->pace, row * (double)count) && nbody_device_wait_all(nb) != 0)
            return -1;
        if (baseline_start_slice(nb, first, count) != 0)
            return -1;
    }
    return 0;
}

static int baseline_start_pack(const struct nbody *nb)
{
    const struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    return baseline_launch(nb, nb->force.baseline->pack, 0, nb->n,
                           ARGS(nb->particles.posm, p->state, nb->force.baseline->bodies, n, rows));
}

static int baseline_start_unpack(const struct nbody *nb)
{
    const struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    return baseline_launch(nb, nb->force.baseline->unpack, 0, nb->n,
                           ARGS(nb->force.baseline->bodies, p->force.partial, n, rows));
}

static int baseline_evaluate(struct nbody *nb, enum sum_kind sum)
{
    const bool structures = nb->kernel != NBODY_TILED;
    if (sum != FORCES)
        return nbody_direct_evaluate(nb, sum);
    if (structures && baseline_start_pack(nb) != 0)
        return -1;
    if (baseline_start_forces(nb) != 0 || (structures && baseline_start_unpack(nb) != 0))
        return -1;
    nbody_domain_set_shared(nb);
    return clflush(nb->ctx, 0, 0);
}

const struct force_method nbody_method_baseline = {
    .open = baseline_open,
    .evaluate = baseline_evaluate,
    .work = nbody_direct_work,
    .free = baseline_free,
};
