/* forces.c - the sums over all pairs, on all devices.
 *
 * Attracting bodies come in stretches that depend on their number alone (forces_sum.c), and the
 * sums of stretches are added in their order: so bits depend neither on how many devices there are
 * nor on which stretch was summed first. A device first sums over the stretches of its own bodies,
 * whose positions it has, while the others' positions travel; then over those before and behind. A
 * sum is cut into launches that each take a quarter of a second at most, so that a device that also
 * drives a screen stays usable, and so that the caller hears how far it is.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/round.h"

/* Bodies of so many stretches. */
static size_t bodies(const struct nbody *nb, size_t from, size_t until)
{
    const size_t first = from * nb->chunk,
                 end = until * nb->chunk < nb->n ? until * nb->chunk : nb->n;
    return first < end ? end - first : 0;
}

/* One launch: the pull of the stretches from .. until - 1 on `rows` rows of p from `top` on. With
 * arguments of a step, it is also made. */
static int launch(const struct nbody *nb, struct nbody_device *p, enum kernel sum,
                  size_t from_stretch, size_t until_stretch, size_t top_row, size_t rows_of_launch,
                  cl_uint nstep, const struct stdcl_arg *step)
{
    const struct nbody_shape *s = &p->shape;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, top = (cl_uint)top_row,
                  stretch = (cl_uint)nb->chunk, all = (cl_uint)nb->n, from = (cl_uint)from_stretch,
                  until = (cl_uint)until_stretch,
                  end =
                      (cl_uint)((nb->n + (size_t)s->tile - 1) / (size_t)s->tile) * (cl_uint)s->tile;
    const size_t groups = rows_of_launch / nbody_shape_rows(s), group = (size_t)s->group;
    const size_t deep = p->chain || from == until ? 1 : until - from;
    clndrange_t ndr = clndrange_init2d(0, groups * group, group, 0, deep, 1);
    bool none;
    const double softening = nbody_forces_softening(nb, sum, &none);
    const float eps2_single = (float)softening;
    const struct arg_real eps2 = REAL(nb, softening);
    /* with softenings of single bodies, which have no other eps, too */
    const struct arg_real zero = REAL(nb, none ? softening : -1);
    void *out = nbody_forces_sum_of(sum)->planes == 1 ? p->phi : p->partial;
    const bool many = nstep && nb->fused_steps > 1;
    const cl_uint together = many ? (cl_uint)nb->fused_steps : 1;
    const cl_kernel kernel = many ? p->steps : nstep ? p->step : p->kernel[sum];
    struct stdcl_arg args[28];
    cl_uint nargs = 0;
#define PUT(v) args[nargs++] = ARG_AT(v)
    PUT(nb->posm);
    if (nbody_forces_sum_of(sum)->velocities)
        PUT(nb->velo);
    if (nbody_forces_sum_of(sum)->accelerations)
        PUT(nb->acce);
    PUT(out);
    PUT(first);
    PUT(rows);
    PUT(top);
    PUT(stretch);
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
    if (nb->soft)
        PUT(nb->soft);
    for (cl_uint a = 0; a < nstep; a++)
        args[nargs++] = step[a];
    if (many) {
        PUT(together);
        PUT(nb->barrier_count);
        PUT(p->patience);
    }
#undef PUT
    const double work = together * nbody_forces_sum_of(sum)->flops * (double)rows_of_launch *
                        (double)bodies(nb, from, until);
    if (clprofile_work(kernel, work, 0,
                       nbody_forces_in_doubles(nb, sum) ? CLPROF_DOUBLE : CLPROF_SINGLE) != 0)
        return -1;
    cl_event ev = clforkv(nb->ctx, p->dev, kernel, &ndr, nb->flags | CL_EVENT_CHECKED, nargs, args);
    if (ev == (cl_event)-1)
        return -1;
    pace_started(&p->pace, work);
    return 0;
}

int nbody_forces_warm(const struct nbody *nb, struct nbody_device *p)
{
    return launch(nb, p, nb->integrator->sum, 0, 0, 0, p->rows, 0, NULL);
}

size_t nbody_forces_steps_that_fit(const struct nbody *nb, size_t left)
{
    const struct nbody_device *p = nb->device;
    const double work = nbody_forces_work(nb, nb->integrator->sum);
    while (p < nb->device + nb->ndev && !p->step)
        p++;
    if (p == nb->device + nb->ndev || work > pace_slice(&p->pace) || !pace_has_room(&p->pace, work))
        return 0;
    const double most = (pace_slice(&p->pace) - p->pace.queued) / work;
    return !p->steps || most < 2 ? 1 : most < (double)left ? (size_t)most : left;
}

int nbody_forces_step(const struct nbody *nb, struct nbody_device *p, bool all, cl_uint nargs,
                      const struct stdcl_arg *args)
{
    return launch(nb, p, nb->integrator->sum, 0, all ? nb->chunks : 0, 0, p->rows, nargs, args);
}

/* ---- In pieces. -------------------------------------------------------------------------------
 * Of a sum that would take long a launch does some of the rows, which changes no sum. */

static void plan(struct nbody_device *p, size_t from, size_t to, size_t later_from, size_t later_to)
{
    p->todo = (struct todo){{from, later_from}, {to, later_to}, 0};
    if (from >= to)
        p->todo = (struct todo){{later_from, 0}, {later_to, 0}, 0};
}

static bool is_left(const struct nbody_device *p)
{
    return p->rows && p->todo.from[0] < p->todo.to[0];
}

/* Takes the first rows of what is left as done. */
static void advance(struct nbody_device *p, size_t rows)
{
    struct todo *t = &p->todo;
    t->top += rows;
    if (t->top == p->rows)
        plan(p, t->from[1], t->to[1], 0, 0);
}

/* Starts as much of what is left as a slice holds. */
static int start_slice(const struct nbody *nb, struct nbody_device *p, enum kernel sum)
{
    const size_t group = nbody_shape_rows(&p->shape);
    while (is_left(p)) {
        const struct todo *t = &p->todo;
        const double row =
                         nbody_forces_sum_of(sum)->flops * (double)bodies(nb, t->from[0], t->to[0]),
                     fit = pace_slice(&p->pace) / row;
        size_t rows = p->rows - t->top;
        if (fit < (double)rows)
            rows = fit < (double)group ? group : (size_t)fit / group * group;
        if (!pace_has_room(&p->pace, row * (double)rows))
            break;
        if (launch(nb, p, sum, t->from[0], t->to[0], t->top, rows, 0, NULL) != 0)
            return -1;
        advance(p, rows);
    }
    return clflush(nb->ctx, p->dev, 0);
}

/* Waits for the device that has least to do of those with more to start, since a wait for all would
 * leave it idle. */
static int wait_for_one(struct nbody *nb)
{
    struct nbody_device *first = NULL;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (is_left(p) && (!first || pace_time(&p->pace, p->pace.queued) <
                                         pace_time(&first->pace, first->pace.queued)))
            first = p;
    if (nbody_device_wait(nb, first) == 0 && nbody_task_tell(nb) == 0)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev;
         p++) /* nothing runs on when a sum is given up */
        if (p->rows)
            nbody_device_wait(nb, p);
    return -1;
}

/* Starts what is planned on all devices, each with a slice at a time, if that is not all of it. */
static int start_planned(struct nbody *nb, enum kernel sum)
{
    for (bool left = true; left;) {
        left = false;
        for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
            if (is_left(p) && start_slice(nb, p, sum) != 0)
                return -1;
            left |= is_left(p);
        }
        if (left && wait_for_one(nb) != 0)
            return -1;
    }
    return 0;
}

/* The stretches whose bodies are all p's own, before any others arrive; none where sums of
 * stretches are chained, since these are added in order. */
static void own_stretches(const struct nbody *nb, const struct nbody_device *p, size_t *from,
                          size_t *to)
{
    const size_t end = p->first + p->rows;
    *from = divide_up(p->first, nb->chunk);
    *to = end >= nb->n ? nb->chunks : end / nb->chunk;
    if (*from >= *to || (p->chain && *to - *from < nb->chunks))
        *from = *to = 0;
}

static int sum_pairs(struct nbody *nb, enum kernel sum)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    const bool travel = !nb->positions_current;
    size_t from, to;
    if (nb->method == NBODY_TREE)
        return nbody_tree_evaluate(nb, sum);
    if (nb->kernel != NBODY_TUNED && sum == FORCES)
        return nbody_baseline_evaluate(nb);
    if (travel && nbody_exchange_begin(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++) {
        own_stretches(nb, p, &from, &to);
        plan(p, from, to, 0, 0);
    }
    if (start_planned(nb, sum) != 0 || (travel && nbody_exchange_finish(nb) != 0))
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++) {
        own_stretches(nb, p, &from, &to);
        plan(p, 0, from, to, nb->chunks);
    }
    if (start_planned(nb, sum) != 0)
        return -1;
    nb->positions_current = true;
    return 0;
}

int nbody_forces_evaluate(struct nbody *nb, enum kernel sum)
{
    if (sum_pairs(nb, sum) != 0)
        return -1;
    return sum == TIDES ? 0 : nbody_field_start(nb, sum); /* `largest` adds fields' */
}

double nbody_forces_work(const struct nbody *nb, enum kernel sum)
{
    if (nb->method == NBODY_TREE)
        return nbody_tree_work(nb, nb->n);
    return nbody_forces_sum_of(sum)->flops * (double)nb->padded * (double)nb->n;
}
