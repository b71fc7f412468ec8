/* forces.c - the sums over all pairs, on all devices.
 *
 * A device first sums over the bodies it owns, whose positions it has, while the others' positions travel;
 * then over the bodies before and behind its own. A sum is cut into launches of bounded length, so that a
 * device that also drives a screen stays usable.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/clock.h"

#include <math.h>

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

double nbody_forces_softening(const struct nbody *nb, bool *none)
{
    const double tiny = ldexp(1.0, nb->precision == NBODY_DOUBLE ? -500 : -80);
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0);
    *none = eps * eps <= tiny;
    return *none ? tiny : eps * eps;
}

static const struct sum sums[SUMS] = {
    [FORCES] = {.name = {"nbody.direct.single", "nbody.direct.double"},
                .planes = 3,
                .flops = 19,
                .instructions = {13, 16},
                .multiplications = 9},
    [JERKS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .planes = 6,
               .velocities = true,
               .flops = 41,
               .instructions = {27, 32},
               .multiplications = 20},
    [POTENTIALS] = {.planes = 1, .flops = 12},
};

const struct sum *nbody_forces_sum(const struct nbody *nb)
{
    return &sums[nb->integrator->sum];
}

/* One launch: the pull of the bodies from .. to on the rows of p. */
static int launch(const struct nbody *nb, const struct share *p, enum kernel sum, size_t from, size_t to)
{
    const struct nbody_shape *s = &p->shape;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, begin = (cl_uint)from,
                  end = (cl_uint)to, adding = p->adding;
    const cl_uint span = (cl_uint)round_up((to - from + p->splits - 1) / p->splits, (size_t)s->tile);
    const size_t groups = p->rows / nbody_shape_rows(s), group = (size_t)s->group;
    clndrange_t ndr = clndrange_init2d(0, groups * group, group, 0, p->splits, 1);
    bool none;
    REAL_NUMBER(eps2, nbody_forces_softening(nb, &none));
    REAL_NUMBER(zero, none ? eps2 : -1);
    void *out = sum == POTENTIALS ? p->phi : p->partial;
    struct stdcl_arg args[11];
    cl_uint nargs = 0;
#define PUT(arg) args[nargs++] = (struct stdcl_arg)arg
    PUT(BLOCK_ARG(nb->posm));
    if (sums[sum].velocities)
        PUT(BLOCK_ARG(nb->velo));
    PUT(BLOCK_ARG(out));
    PUT(VALUE_ARG(first));
    PUT(VALUE_ARG(rows));
    PUT(VALUE_ARG(begin));
    PUT(VALUE_ARG(end));
    PUT(VALUE_ARG(span));
    PUT(VALUE_ARG(adding));
    PUT(REAL_ARG(nb, eps2));
    if (sum != FORCES)
        PUT(REAL_ARG(nb, zero));
#undef PUT
    if (clprofile_work(p->kernel[sum], sums[sum].flops * (double)p->rows * (double)(to - from), 0,
                       nb->precision == NBODY_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE) != 0)
        return -1;
    cl_event ev = clforkv(nb->ctx, p->dev, p->kernel[sum], &ndr, nb->flags | CL_EVENT_CHECKED, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_forces_warm(const struct nbody *nb, const struct share *p)
{
    return launch(nb, p, nb->integrator->sum, 0, 0);
}

/* The same in launches of at most 2^chunk interactions. */
static int start(const struct nbody *nb, struct share *p, enum kernel sum, size_t from, size_t to)
{
    const size_t most = ((size_t)1 << p->shape.chunk) / p->rows;
    const size_t length = round_up(most ? most : 1, (size_t)p->shape.tile * p->splits);
    for (; from < to; from += length, p->adding = true)
        if (launch(nb, p, sum, from, to - from < length ? to : from + length) != 0)
            return -1;
    return 0;
}

static int start_own(const struct nbody *nb, struct share *p, enum kernel sum)
{
    p->adding = false;
    if (!p->rows)
        return 0;
    if (start(nb, p, sum, p->first, p->first + p->rows) != 0)
        return -1;
    return clflush(nb->ctx, p->dev, 0);
}

static int start_others(const struct nbody *nb, struct share *p, enum kernel sum)
{
    if (!p->rows)
        return 0;
    if (start(nb, p, sum, 0, p->first) != 0)
        return -1;
    return start(nb, p, sum, p->first + p->rows, nb->padded);
}

int nbody_forces_evaluate(struct nbody *nb, enum kernel sum)
{
    struct share *const end = nb->share + nb->ndev;
    const bool travel = !nb->current;
    if (nb->kernel != NBODY_TUNED && sum == FORCES)
        return nbody_ladder_evaluate(nb);
    if (travel && nbody_exchange_begin(nb) != 0)
        return -1;
    for (struct share *p = nb->share; p < end; p++)
        if (start_own(nb, p, sum) != 0)
            return -1;
    if (travel && nbody_exchange_finish(nb) != 0)
        return -1;
    for (struct share *p = nb->share; p < end; p++)
        if (start_others(nb, p, sum) != 0)
            return -1;
    nb->current = true;
    return 0;
}

/* ---- What the caller may ask. ----------------------------------------------------------------- */

int nbody_forces_collect(struct nbody *nb, struct share *p, void *from, cl_uint splits, cl_uint planes,
                         cl_uint wanted, double factor, double *out)
{
    const cl_uint rows = (cl_uint)p->rows;
    void *joined = clmalloc(nb->ctx, planes * p->rows * nb->real, CL_MEM_ZEROCOPY);
    const struct stdcl_arg args[] = {BLOCK_ARG(from), BLOCK_ARG(joined), VALUE_ARG(rows), VALUE_ARG(splits)};
    int status =
        joined ? nbody_device_visit(nb, p, p->kernel[JOIN], p->rows, planes, COUNT_OF(args), args) : -1;
    if (status == 0)
        status = nbody_device_fetch(nb, p, joined, planes * p->rows * nb->real);
    for (size_t i = 0; status == 0 && i < p->count; i++)
        for (cl_uint c = 0; c < wanted; c++)
            out[(p->first + i) * wanted + c] = factor * real_at(nb, joined, c * p->rows + i);
    clfree(joined);
    return status;
}

/* What an integrator that predicts has in `state` was summed at predicted positions, so it is summed anew. */
static int start_accelerations(struct nbody *nb)
{
    return predicts(nb) ? nbody_forces_evaluate(nb, nb->integrator->sum) : nbody_integrate_prime(nb);
}

static int accelerations(struct nbody *nb, struct share *p, double *out)
{
    const double factor = nbody_units_factor(&nb->units, 1, -2);
    if (predicts(nb))
        return nbody_forces_collect(nb, p, p->partial, p->splits, nbody_forces_sum(nb)->planes, 3, factor,
                                    out);
    return nbody_forces_collect(nb, p, p->state, 1, 3, 3, factor, out);
}

int nbody_forces(nbody *nb, double (*acc)[3], double *potential)
{
    if (nbody_integrate_settle(nb) != 0)
        return -1;
    if (acc && start_accelerations(nb) != 0)
        return -1;
    for (struct share *p = nb->share; acc && p < nb->share + nb->ndev; p++)
        if (p->rows && accelerations(nb, p, acc[0]) != 0)
            return -1;
    if (potential && nbody_forces_evaluate(nb, POTENTIALS) != 0)
        return -1;
    for (struct share *p = nb->share; potential && p < nb->share + nb->ndev; p++)
        if (p->rows && nbody_forces_collect(nb, p, p->phi, p->splits, 1, 1,
                                            nbody_units_factor(&nb->units, 2, -2), potential) != 0)
            return -1;
    return 0;
}

static int wait_all(struct nbody *nb)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            return -1;
    return 0;
}

int nbody_measure(nbody *nb, size_t times, double *seconds)
{
    if (nbody_integrate_prime(nb) != 0 || wait_all(nb) != 0)
        return -1;
    const double start = seconds_now();
    for (size_t k = 0; k < times; k++)
        if (nbody_forces_evaluate(nb, nb->integrator->sum) != 0)
            return -1;
    if (wait_all(nb) != 0)
        return -1;
    *seconds = seconds_now() - start;
    return 0;
}
