/* direct.c - enqueue sums over all pairs on all devices.
 *
 * Source bodies are cut into chunks that depend on n only (sums.c), and the partial sums of
 * chunks are added in order. Results therefore have the same bits for any number of devices and any
 * order of launches. While the positions of other devices' bodies are in flight, a device sums over
 * the chunks of its own bodies; then over the remaining chunks.
 *
 * A sum is cut into launches of at most a quarter of a second (core/pace.h). A device that also
 * drives a screen stays responsive, and progress can be reported between launches.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"

#include "core/round.h"

/* Number of bodies in the chunks from .. until - 1. */
static size_t chunk_bodies(const struct nbody *nb, size_t from, size_t until)
{
    const size_t first = from * nb->force.chunk,
                 end = until * nb->force.chunk < nb->n ? until * nb->force.chunk : nb->n;
    return first < end ? end - first : 0;
}

/* Enqueue one launch: the sum over the source chunks from .. until - 1 for `launched` bodies of
 * p, from `top_body` on. With u, whose arguments are `step`, it also makes u->fused_steps steps. */
static int forces_launch(const struct nbody *nb, struct nbody_device *p, enum sum_kind sum,
                         size_t from_chunk, size_t until_chunk, size_t top_body, size_t launched,
                         const struct update *u, cl_uint nstep, const struct stdcl_arg *step)
{
    const struct nbody_shape *s = &p->shape;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, top = (cl_uint)top_body,
                  chunk = (cl_uint)nb->force.chunk, all = (cl_uint)nb->n,
                  from = (cl_uint)from_chunk, until = (cl_uint)until_chunk,
                  end =
                      (cl_uint)((nb->n + (size_t)s->tile - 1) / (size_t)s->tile) * (cl_uint)s->tile;
    const size_t groups = launched / nbody_shape_group_bodies(s), group = (size_t)s->group;
    const size_t chunk_groups = p->force.all_chunks || from == until ? 1 : until - from;
    clndrange_t ndr = clndrange_init2d(0, groups * group, group, 0, chunk_groups, 1);
    bool none;
    const double softening = nbody_forces_softening(nb, sum, &none);
    const float eps2_single = (float)softening;
    const struct arg_real eps2 = REAL(nb, softening);
    /* softened bodies have no eps, but a minimum softening too */
    const struct arg_real zero = REAL(nb, none ? softening : -1);
    void *out = nbody_forces_sum_of(sum)->planes == 1 ? p->force.phi : p->force.partial;
    const bool multi_step = u && u->fused_steps > 1;
    const cl_uint steps = multi_step ? (cl_uint)u->fused_steps : 1;
    const cl_kernel kernel = multi_step ? p->force.multi_step_kernel
                             : u        ? p->force.fused_kernel
                                        : p->force.kernel[sum];
    struct stdcl_arg args[28];
    cl_uint nargs = 0;
#define PUT(v) args[nargs++] = ARG_AT(v)
    PUT(nb->particles.posm);
    if (nbody_forces_sum_of(sum)->velocities)
        PUT(nb->particles.velo);
    if (nbody_forces_sum_of(sum)->accelerations)
        PUT(nb->particles.acce);
    PUT(out);
    PUT(first);
    PUT(rows);
    PUT(top);
    PUT(chunk);
    PUT(from);
    PUT(until);
    PUT(end);
    const bool mixed = nb->precision == NBODY_MIXED && sum == FORCES;
    if (mixed)
        PUT(eps2_single);
    else
        PUT(eps2);
    if (sum != FORCES)
        PUT(zero);
    for (int c = 0; mixed && c < 3; c++)
        PUT(nb->centre[c]);
    if (mixed)
        PUT(all);
    if (nb->particles.soft)
        PUT(nb->particles.soft);
    for (cl_uint a = 0; a < nstep; a++)
        args[nargs++] = step[a];
    if (multi_step) {
        PUT(steps);
        PUT(u->barriers);
        PUT(p->max_polls);
    }
#undef PUT
    const double work = steps * nbody_forces_sum_of(sum)->flops * (double)launched *
                        (double)chunk_bodies(nb, from, until);
    if (clprofile_work(kernel, work, 0,
                       nbody_forces_in_doubles(nb, sum) ? CLPROF_DOUBLE : CLPROF_SINGLE) != 0)
        return -1;
    pace_started(&p->pace, work);
    cl_event ev = clforkv(nb->ctx, p->dev, kernel, &ndr, nb->flags | CL_EVENT_CHECKED, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_forces_warm_up(const struct nbody *nb, struct nbody_device *p)
{
    return forces_launch(nb, p, nb->integrator->sum, 0, 0, 0, p->rows, NULL, 0, NULL);
}

double nbody_direct_work(const struct nbody *nb, enum sum_kind sum)
{
    return nbody_forces_sum_of(sum)->flops * (double)nb->padded * (double)nb->n;
}

size_t nbody_forces_steps_that_fit(const struct nbody *nb, size_t left)
{
    const struct nbody_device *p = nb->device;
    const double work = nbody_direct_work(nb, nb->integrator->sum);
    while (p < nb->device + nb->ndev && !p->force.fused_kernel)
        p++;
    if (p == nb->device + nb->ndev || work > pace_slice(&p->pace) || !pace_has_room(&p->pace, work))
        return 0;
    const double most = (pace_slice(&p->pace) - p->pace.queued) / work;
    return !p->force.multi_step_kernel || most < 2 ? 1 : most < (double)left ? (size_t)most : left;
}

int nbody_forces_step(const struct nbody *nb, struct nbody_device *p, bool all,
                      const struct update *u, cl_uint nargs, const struct stdcl_arg *args)
{
    return forces_launch(nb, p, nb->integrator->sum, 0, all ? nb->force.chunks : 0, 0, p->rows, u,
                         nargs, args);
}

/* ---- Slices. ------------------------------------------------------------------------------------
 * A launch of a long sum covers some of the device's bodies, which changes no sum. */

static void pending_set(struct nbody_device *p, size_t from, size_t to, size_t later_from,
                        size_t later_to)
{
    p->force.pending = (struct pending_sum){{from, later_from}, {to, later_to}, 0};
    if (from >= to)
        p->force.pending = (struct pending_sum){{later_from, 0}, {later_to, 0}, 0};
}

static bool pending_any(const struct nbody_device *p)
{
    return p->rows && p->force.pending.from[0] < p->force.pending.to[0];
}

/* Mark the next `rows` bodies of the pending sum as enqueued. */
static void pending_advance(struct nbody_device *p, size_t rows)
{
    struct pending_sum *t = &p->force.pending;
    t->top += rows;
    if (t->top == p->rows)
        pending_set(p, t->from[1], t->to[1], 0, 0);
}

/* Enqueue the part of the pending sum that fits into a slice of time. */
static int forces_start_slice(const struct nbody *nb, struct nbody_device *p, enum sum_kind sum)
{
    const size_t group = nbody_shape_group_bodies(&p->shape);
    while (pending_any(p)) {
        const struct pending_sum *t = &p->force.pending;
        const double row = nbody_forces_sum_of(sum)->flops *
                           (double)chunk_bodies(nb, t->from[0], t->to[0]),
                     fit = pace_slice(&p->pace) / row;
        size_t rows = p->rows - t->top;
        if (fit < (double)rows)
            rows = fit < (double)group ? group : (size_t)fit / group * group;
        if (!pace_has_room(&p->pace, row * (double)rows))
            break;
        if (forces_launch(nb, p, sum, t->from[0], t->to[0], t->top, rows, NULL, 0, NULL) != 0)
            return -1;
        pending_advance(p, rows);
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Wait for the device that will finish first, among those with pending work. Waiting for all
 * devices would leave it idle. */
static int forces_wait_for_one(struct nbody *nb)
{
    struct nbody_device *first = NULL;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (pending_any(p) && (!first || pace_time(&p->pace, p->pace.queued) <
                                             pace_time(&first->pace, first->pace.queued)))
            first = p;
    if (nbody_device_wait(nb, first) == 0 && nbody_progress_report(nb) == 0)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev;
         p++) /* no kernel may still run after a cancelled sum */
        if (p->rows)
            nbody_device_wait(nb, p);
    return -1;
}

/* Enqueue the pending sums of all devices, slice by slice. */
static int forces_start_pending(struct nbody *nb, enum sum_kind sum)
{
    for (bool left = true; left;) {
        left = false;
        for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
            if (pending_any(p) && forces_start_slice(nb, p, sum) != 0)
                return -1;
            left |= pending_any(p);
        }
        if (left && forces_wait_for_one(nb) != 0)
            return -1;
    }
    return 0;
}

/* The chunks that consist of p's own bodies only. None if p adds the sums of all chunks itself,
 * since it adds them in order. */
static void forces_own_chunks(const struct nbody *nb, const struct nbody_device *p, size_t *from,
                              size_t *to)
{
    const size_t end = p->first + p->rows;
    *from = divide_up(p->first, nb->force.chunk);
    *to = end >= nb->n ? nb->force.chunks : end / nb->force.chunk;
    if (*from >= *to || (p->force.all_chunks && *to - *from < nb->force.chunks))
        *from = *to = 0;
}

int nbody_direct_evaluate(struct nbody *nb, enum sum_kind sum)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    const bool exchange = !nbody_domain_is_shared(nb);
    size_t from, to;
    if (exchange && nbody_allgather_begin(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++) {
        forces_own_chunks(nb, p, &from, &to);
        pending_set(p, from, to, 0, 0);
    }
    if (forces_start_pending(nb, sum) != 0 || (exchange && nbody_allgather_finish(nb) != 0))
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++) {
        forces_own_chunks(nb, p, &from, &to);
        pending_set(p, 0, from, to, nb->force.chunks);
    }
    if (forces_start_pending(nb, sum) != 0)
        return -1;
    nbody_domain_set_shared(nb);
    return 0;
}

const struct force_method nbody_method_direct = {
    .evaluate = nbody_direct_evaluate,
    .work = nbody_direct_work,
};
