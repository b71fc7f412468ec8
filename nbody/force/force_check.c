/* force_check.c - errors of forces: accelerations of a sample of bodies against direct sums in
 * double precision.
 *
 * Each device sums over the positions of its own rows as it stores them, so that the check measures
 * the engine's sums and not the rounding of positions.
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

/* Number of parts of a device's source bodies, one per item: enough items for a GPU, none of them
 * long. */
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

/* A check; at, part: blocks (force_check.cl). */
struct force_check {
    size_t samples;
    cl_uint *which, *row; /* the sample's bodies, and their rows if this rank has them */
    double (*at)[4], (*part)[4];
    double (*sum)[3], *error; /* of all devices, in engine units; relative errors */
    void *program;
    cl_kernel kernel;
};

static int force_check_open(struct nbody *nb, struct force_check *f, size_t samples)
{
    f->samples = samples;
    f->which = malloc(samples * sizeof *f->which);
    f->row = malloc(samples * sizeof *f->row);
    f->at = clmalloc(nb->ctx, samples * sizeof *f->at, CL_MEM_ZEROCOPY);
    f->part =
        clmalloc(nb->ctx, force_check_splits(nb->n) * samples * sizeof *f->part, CL_MEM_ZEROCOPY);
    f->sum = calloc(samples, sizeof *f->sum);
    f->error = malloc(samples * sizeof *f->error);
    if (!f->which || !f->row || !f->at || !f->part || !f->sum || !f->error)
        return clerror_set(ENOMEM, "nbody_check_forces: out of memory on the host");
    f->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &judge, 0, NULL);
    f->kernel = f->program ? clsym(nb->ctx, f->program, "force_check", 0) : NULL;
    return f->kernel ? 0 : -1;
}

static void force_check_close(struct nbody *nb, struct force_check *f)
{
    if (f->program)
        clclose(nb->ctx, f->program);
    clfree(f->part);
    clfree(f->at);
    free(f->which);
    free(f->row);
    free(f->sum);
    free(f->error);
}

static void force_check_join(void *a, const void *b, void *arg)
{
    for (size_t k = 0; k < *(const size_t *)arg; k++)
        ((double *)a)[k] += ((const double *)b)[k];
}

/* Collective. Add `count` numbers of all ranks. */
static int force_check_add_ranks(const struct nbody *nb, double *numbers, size_t count)
{
    return world_reduce(nb->world, numbers, count * sizeof *numbers, force_check_join, &count);
}

/* Fill f->at[] of the bodies that this rank's devices move. */
static int force_check_find(struct nbody *nb, struct nbody_device *p, struct force_check *f)
{
    char *const own = (char *)nbody_posm(nb, p) + nbody_posm_first(p) * 4 * nb->real;
    if (nbody_device_download(nb, p, own, p->count * 4 * nb->real) != 0)
        return -1;
    for (size_t s = 0; s < f->samples; s++) {
        const size_t row = f->row[s];
        if (row < p->first || row - p->first >= p->count)
            continue;
        for (size_t c = 0; c < 3; c++)
            f->at[s][c] = nbody_real_get(nb, own, 4 * (row - p->first) + c);
        f->at[s][3] = nb->particles.soft ? nbody_real_get(nb, nb->particles.soft, row) : 0;
    }
    return 0;
}

/* Add the accelerations by a device's rows to f->sum[]. */
static int force_check_sum(struct nbody *nb, struct nbody_device *p, struct force_check *f)
{
    const cl_uint count = (cl_uint)p->count, splits = force_check_splits(p->count),
                  span = (count + splits - 1) / splits, samples = (cl_uint)f->samples;
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0), eps2 = eps * eps;
    const cl_uint softened = nb->particles.soft != NULL, first = nbody_posm_first(p);
    void *const posm = nbody_posm(nb, p), *const soft = softened ? nb->particles.soft : posm;
    clndrange_t ndr =
        clndrange_init2d(0, (samples + GROUP - 1) / GROUP * GROUP, GROUP, 0, splits, 1);
    if (clmsync(nb->ctx, p->dev, f->at, CL_MEM_DEVICE) == (cl_event)-1 ||
        clforkv(nb->ctx, p->dev, f->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                ARGS(posm, first, count, f->at, samples, span, eps2, soft, softened, f->part)) ==
            (cl_event)-1 ||
        nbody_device_download(nb, p, f->part, splits * f->samples * sizeof *f->part) != 0)
        return -1;
    for (size_t k = 0; k < splits * f->samples; k++)
        for (size_t c = 0; c < 3; c++)
            f->sum[k % f->samples][c] += f->part[k][c];
    return 0;
}

/* Collective. Sum the accelerations of the sample by all bodies. */
static int force_check_sum_all(struct nbody *nb, struct force_check *f)
{
    int status = nbody_particles_find(nb, f->samples, f->which, f->row);
    memset(f->at, 0, f->samples * sizeof *f->at);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->count ? force_check_find(nb, p, f) : 0;
    status |= force_check_add_ranks(nb, f->at[0], 4 * f->samples);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        status = p->count ? force_check_sum(nb, p, f) : 0;
    status |= force_check_add_ranks(nb, f->sum[0], 3 * f->samples);
    return world_reduce_status(nb->world, status == 0 ? 0 : -1);
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
                                const double (*pos)[3], struct force_check *f,
                                struct nbody_force_errors *e)
{
    const double factor = nbody_units_factor(&nb->units, 1, -2);
    const size_t samples = f->samples;
    double *const error = f->error;
    *e = (struct nbody_force_errors){.bodies = samples, .most = -1};
    for (size_t s = 0; s < samples; s++) {
        double off = 0, size = 0, *const right = f->sum[s];
        if (pos)
            force_check_add_fields(nb, pos[f->which[s]], right);
        for (int c = 0; c < 3; c++) {
            const double d = acc[f->which[s]][c] - factor * right[c];
            off += d * d;
            size += factor * right[c] * (factor * right[c]);
        }
        error[s] = size > 0 ? sqrt(off / size) : off > 0 ? INFINITY : 0;
        if (!(error[s] <= e->most)) {
            e->most = error[s];
            e->worst = f->which[s];
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
    cl_uint width = 0;
    samples = samples < nb->n ? samples : nb->n;
    if (samples < 1)
        return clerror_set(EINVAL, "nbody_check_forces: 0 bodies; there must be at least 1");
    int status = 0;
    for (const struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++) {
        if (p->rows)
            status = device_ask(nb->ctx, p->dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
                                sizeof width, &width, "nbody_check_forces");
        if (p->rows && status == 0 && width == 0)
            status = clerror_set(ENOTSUP, "nbody_check_forces: the device has no double precision");
    }
    if (world_reduce_status(nb->world, status) != 0)
        return -1;
    if (nb->nforces)
        return clerror_set(ENOTSUP, "nbody_check_forces: there is no reference for added forces");
    if (nb->domain.slice)
        return clerror_set(ENOTSUP, "nbody_check_forces: slices of bodies are not supported; let "
                                    "all ranks pass all bodies");
    struct force_check f = {.which = NULL};
    double(*acc)[3] = malloc(nb->n * sizeof *acc),
    (*pos)[3] = nb->nfields ? malloc(nb->n * sizeof *pos) : NULL;
    status = acc && (pos || !nb->nfields)
                 ? force_check_open(nb, &f, samples)
                 : clerror_set(ENOMEM, "nbody_check_forces: out of memory on the host");
    if (world_reduce_status(nb->world, status) != 0)
        status = -1;
    if (status == 0)
        status = nbody_forces(nb, acc, NULL);
    if (status == 0 && pos)
        status = nbody_state(nb, pos, NULL);
    if (status == 0) {
        force_check_choose(nb, samples, seed, f.which);
        status = force_check_sum_all(nb, &f);
    }
    if (status == 0)
        force_check_compare(nb, (const double(*)[3])acc, (const double(*)[3])pos, &f, errors);
    force_check_close(nb, &f);
    free(pos);
    free(acc);
    return status;
}
