/* baseline.c - the forces by the kernels of baseline.cl, simple ones that show what tuning is
 * worth.
 *
 * They replace the tuned sum over pairs and nothing else: they read bodies from posm and write sums
 * to the planes of `partial`, so that steps, energies and output are the same whichever kernel
 * adds. For those that work on an array of structures, one launch makes that array from posm, and
 * another takes the sums out of it; with N pulls a body, these two cost little.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "nbody/baseline.h"

#include "core/round.h"

#include <math.h>

/* ---- What the ladder cannot do. -------------------------------------------------------------- */

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

/* The kernels stand behind the header that they share with this file. */
EMBEDDED(header, "nbody/baseline.h", nbody_baseline_h);
EMBEDDED(kernels, "nbody/baseline.cl", nbody_baseline_cl);

static int open_kernels(struct nbody *nb)
{
    struct baseline *l = &nb->ladder;
    const struct embedded *const front = &header;
    l->program = embedded_open(nb->ctx, nb->precision == NBODY_DOUBLE ? "-D DOUBLE" : "", &kernels,
                               1, &front);
    if (!l->program)
        return -1;
    l->pack = clsym(nb->ctx, l->program, "pack", 0);
    l->force = clsym(nb->ctx, l->program, kernel_name[nb->kernel], 0);
    l->unpack = clsym(nb->ctx, l->program, "unpack", 0);
    return l->pack && l->force && l->unpack ? 0 : -1;
}

static size_t body_bytes(const struct nbody *nb)
{
    return nb->precision == NBODY_DOUBLE ? sizeof(struct ladder_double)
                                         : sizeof(struct ladder_single);
}

int nbody_baseline_open(struct nbody *nb)
{
    struct nbody_device *p = &nb->device[0];
    if (nb->kernel == NBODY_TUNED)
        return 0;
    if (open_kernels(nb) != 0)
        return -1;
    if (nb->kernel == NBODY_TILED)
        return 0;
    nb->ladder.bodies = clmalloc(nb->ctx, nb->n * body_bytes(nb), CL_MEM_DEVONLY);
    if (!nb->ladder.bodies || !clgetbuffer(nb->ctx, p->dev, nb->ladder.bodies))
        return -1;
    p->bytes += nb->n * body_bytes(nb);
    return 0;
}

void nbody_baseline_free(struct nbody *nb)
{
    if (nb->ladder.program)
        clclose(nb->ctx, nb->ladder.program);
    clfree(nb->ladder.bodies);
    nb->ladder = (struct baseline){0};
}

/* ---- The sum. -------------------------------------------------------------------------------- */

/* Starts a kernel for the bodies from `first` on, `count` of them, in groups of shape.flat items;
 * there are more items than bodies when that does not divide. */
static int start(const struct nbody *nb, cl_kernel kernel, size_t first, size_t count,
                 cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t group = (size_t)nb->device[0].shape.flat;
    clndrange_t ndr = clndrange_init1d(first, round_up(count, group), group);
    return clforkv(nb->ctx, 0, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED, nargs, args) ==
                   (cl_event)-1
               ? -1
               : 0;
}

/* The pull of all bodies on those from `first` on, `count` of them. */
static int start_force(const struct nbody *nb, size_t first, size_t count)
{
    struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    bool none;
    const double eps = sqrt(nbody_forces_softening(nb, FORCES, &none));
    const double work = nbody_forces_sum(nb)->flops * (double)nb->n * (double)count;
    if (clprofile_work(nb->ladder.force, work, 0,
                       nb->precision == NBODY_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE) != 0)
        return -1;
    pace_started(&p->pace, work);
    if (nb->kernel == NBODY_TILED)
        return start(nb, nb->ladder.force, first, count,
                     ARGS(nb->posm, p->partial, clarg_local((size_t)p->shape.flat * 4 * nb->real),
                          n, rows, REAL(nb, eps)));
    return start(nb, nb->ladder.force, first, count, ARGS(nb->ladder.bodies, n, REAL(nb, eps)));
}

/* In launches of a slice, as the tuned kernel's are, but at least one group each. */
static int start_forces(struct nbody *nb)
{
    struct nbody_device *p = &nb->device[0];
    const double row = nbody_forces_sum(nb)->flops * (double)nb->n;
    const size_t group = (size_t)p->shape.flat;
    for (size_t first = 0, count; first < nb->n; first += count) {
        const double most = fmin(pace_slice(&p->pace) / row, (double)nb->n);
        count = most < (double)group ? group : (size_t)most / group * group;
        count = count < nb->n - first ? count : nb->n - first;
        if (!pace_has_room(&p->pace, row * (double)count) && nbody_device_wait_all(nb) != 0)
            return -1;
        if (start_force(nb, first, count) != 0)
            return -1;
    }
    return 0;
}

static int start_pack(const struct nbody *nb)
{
    const struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    return start(nb, nb->ladder.pack, 0, nb->n,
                 ARGS(nb->posm, p->state, nb->ladder.bodies, n, rows));
}

static int start_unpack(const struct nbody *nb)
{
    const struct nbody_device *p = &nb->device[0];
    const cl_uint n = (cl_uint)nb->n, rows = (cl_uint)p->rows;
    return start(nb, nb->ladder.unpack, 0, nb->n, ARGS(nb->ladder.bodies, p->partial, n, rows));
}

int nbody_baseline_evaluate(struct nbody *nb)
{
    const bool structures = nb->kernel != NBODY_TILED;
    if (structures && start_pack(nb) != 0)
        return -1;
    if (start_forces(nb) != 0 || (structures && start_unpack(nb) != 0))
        return -1;
    nb->positions_current = true;
    return clflush(nb->ctx, 0, 0);
}
