/* force_check.c - errors of forces: accelerations of a sample of bodies against direct sums in
 * double precision.
 *
 * The device sums over positions as it stores them, so that the check measures the engine's sums
 * and not the rounding of positions.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/device_info.h"
#include "core/handle.h"

#include <math.h>

#include "nbody/initial/draw.h"
#include "nbody/reference/nbody_ref.h"

EMBEDDED(judge, "nbody/force/force_check.cl", nbody_force_force_check_cl);

enum { GROUP = 16 };

/* Number of parts of the source bodies, one per item: enough items for a GPU, none of them long. */
static cl_uint force_check_splits(size_t n)
{
    const size_t splits = n >> 16;
    return splits < 16 ? 16 : splits > 1024 ? 1024 : (cl_uint)splits;
}

/* Draw the sample; all bodies if it is as large as n. */
static void force_check_choose(const struct nbody *nb, size_t samples, uint64_t seed,
                               cl_uint *which)
{
    struct stream s = draw_stream(seed, 0x4a554447, 0); /* "JUDG", the stream's purpose */
    for (size_t k = 0; k < samples; k++)
        which[k] = samples == nb->n ? (cl_uint)k : (cl_uint)((double)nb->n * draw_uniform(&s));
}

static int force_check_sum(struct nbody *nb, struct nbody_device *p, cl_kernel kernel,
                           const cl_uint *which, cl_uint samples, const double (*part)[4])
{
    const cl_uint n = (cl_uint)nb->n, splits = force_check_splits(nb->n),
                  span = (n + splits - 1) / splits;
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0), eps2 = eps * eps;
    const cl_uint softened = nb->particles.soft != NULL;
    void *const soft = nb->particles.soft ? nb->particles.soft : nb->particles.posm;
    clndrange_t ndr =
        clndrange_init2d(0, (samples + GROUP - 1) / GROUP * GROUP, GROUP, 0, splits, 1);
    if (clmsync(nb->ctx, p->dev, (void *)(uintptr_t)which, CL_MEM_DEVICE) == (cl_event)-1 ||
        clforkv(nb->ctx, p->dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(nb->particles.posm, n, which, samples, span, eps2, soft, softened, part)) ==
            (cl_event)-1)
        return -1;
    return nbody_device_download(nb, p, (void *)(uintptr_t)part, splits * samples * sizeof *part);
}

static int force_check_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Add the external fields to a body's acceleration, in engine units. */
static void force_check_add_fields(const struct nbody *nb, const double pos[3], double right[3])
{
    const struct nbody_ref_system s = {.G = 1, .fields = nb->force.fields, .nfields = nb->nfields};
    const double length = nbody_units_factor(&nb->units, -1, 0);
    const double x[3] = {length * pos[0], length * pos[1], length * pos[2]};
    (void)nbody_ref_field(&s, x, NULL, right, NULL);
}

/* Compute |a - right| / |right| of each sample, and the worst. pos is NULL without fields. */
static void force_check_compare(const struct nbody *nb, const double (*acc)[3],
                                const double (*pos)[3], const cl_uint *which, size_t samples,
                                const double (*part)[4], double *error,
                                struct nbody_force_errors *e)
{
    const double factor = nbody_units_factor(&nb->units, 1, -2);
    const cl_uint splits = force_check_splits(nb->n);
    *e = (struct nbody_force_errors){.bodies = samples, .most = -1};
    for (size_t s = 0; s < samples; s++) {
        double off = 0, size = 0, right[3] = {0};
        for (size_t k = 0; k < splits; k++)
            for (int c = 0; c < 3; c++)
                right[c] += part[k * samples + s][c];
        if (pos)
            force_check_add_fields(nb, pos[which[s]], right);
        for (int c = 0; c < 3; c++) {
            const double d = acc[which[s]][c] - factor * right[c];
            off += d * d;
            size += factor * right[c] * (factor * right[c]);
        }
        error[s] = size > 0 ? sqrt(off / size) : off > 0 ? INFINITY : 0;
        if (!(error[s] <= e->most)) {
            e->most = error[s];
            e->worst = which[s];
        }
    }
    qsort(error, samples, sizeof *error, force_check_ascending);
#define PART(p) error[(size_t)((double)(samples - 1) * (p) + 0.5)]
    e->median = PART(0.5);
    e->p90 = PART(0.9);
    e->p99 = PART(0.99);
    e->p999 = PART(0.999);
#undef PART
}

int nbody_check_forces(nbody *nb, size_t samples, uint64_t seed, struct nbody_force_errors *errors)
{
    if (no_handle(nb, __func__) || nbody_need_device(nb, "nbody_check_forces") != 0)
        return -1;
    struct nbody_device *p = nb->device;
    cl_uint width = 0;
    while (!p->rows)
        p++;
    samples = samples < nb->n ? samples : nb->n;
    if (samples < 1)
        return clerror_set(EINVAL, "nbody_check_forces: 0 bodies; there must be at least 1");
    if (device_ask(nb->ctx, p->dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width, &width,
                   "nbody_check_forces") != 0)
        return -1;
    if (width == 0)
        return clerror_set(ENOTSUP, "nbody_check_forces: the device has no double precision");
    if (nb->nforces)
        return clerror_set(ENOTSUP, "nbody_check_forces: there is no reference for added forces");
    if (nb->domain.slice)
        return clerror_set(ENOTSUP, "nbody_check_forces: slices of bodies are not supported; let "
                                    "all ranks pass all bodies");
    double(*acc)[3] = malloc(nb->n * sizeof *acc),
    (*pos)[3] = nb->nfields ? malloc(nb->n * sizeof *pos) : NULL,
    *error = malloc(samples * sizeof *error);
    cl_uint *which = clmalloc(nb->ctx, samples * sizeof *which, CL_MEM_ZEROCOPY);
    double(*part)[4] =
        clmalloc(nb->ctx, force_check_splits(nb->n) * samples * sizeof *part, CL_MEM_ZEROCOPY);
    void *program =
        embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &judge, 0, NULL);
    cl_kernel kernel = program ? clsym(nb->ctx, program, "force_check", 0) : NULL;
    int status = kernel && acc && error && which && part && (pos || !nb->nfields)
                     ? nbody_forces(nb, acc, NULL)
                     : -1;
    if (status == 0)
        status = nbody_tree_share_positions(nb);
    if (status == 0 && pos)
        status = nbody_state(nb, pos, NULL);
    if (!acc || !error || (!pos && nb->nfields))
        clerror_set(ENOMEM, "nbody_check_forces: out of memory on the host");
    if (status == 0) {
        force_check_choose(nb, samples, seed, which);
        for (size_t k = 0; nb->particles.row && k < samples; k++)
            which[k] = nb->particles.row[which[k]];
        status = force_check_sum(nb, p, kernel, which, (cl_uint)samples, (const double(*)[4])part);
        for (size_t k = 0; nb->particles.row && k < samples; k++)
            which[k] = nb->particles.body[which[k]];
    }
    if (status == 0)
        force_check_compare(nb, (const double(*)[3])acc, (const double(*)[3])pos, which, samples,
                            (const double(*)[4])part, error, errors);
    if (program)
        clclose(nb->ctx, program);
    clfree(part);
    clfree(which);
    free(error);
    free(pos);
    free(acc);
    return status;
}
