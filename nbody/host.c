/* host.c - steps on the host, by an integrator that has no kernels for them: for few bodies.
 *
 * The state comes from the devices and goes back, so that questions find it there, and after every
 * step it is rounded to the engine's precision: where calls end changes no bit.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <math.h>

enum { MOST_BODIES = 4096 };

int nbody_host_check(const struct nbody *nb)
{
    if (!nb->integrator->host || nb->n <= MOST_BODIES)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody_create: %zu bodies; the integrator %s computes on the host, and takes at most %d",
        nb->n, nb->integrator->info.name, MOST_BODIES);
}

/* Positions, velocities, G m, the first two again as they were before a step, and what the
 * integrator needs: in the engine's units. */
struct host_state {
    double *x, *v, *mass, *old_x, *old_v, *memory;
    double *eps; /* of each body; NULL: one for all */
};

static int make(const struct nbody *nb, struct host_state *h)
{
    const size_t m = 3 * nb->n;
    *h = (struct host_state){
        .x = calloc((6 + (size_t)nb->integrator->host_planes) * m, sizeof(double))};
    if (!h->x)
        return clerror_set(ENOMEM, "nbody_step: no memory on the host for %zu bodies", nb->n);
    h->v = h->x + m;
    h->mass = h->v + m;
    h->old_x = h->mass + m;
    h->old_v = h->old_x + m;
    h->memory = h->old_v + m;
    h->eps = nb->own_eps ? h->memory + (size_t)nb->integrator->host_planes * m : NULL;
    for (size_t i = 0; h->eps && i < nb->n; i++)
        h->eps[i] = nb->own_eps[i] * nbody_units_factor(&nb->units, -1, 0);
    return 0;
}

static size_t plane_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return p->rows * nb->real;
}

static void *velocities(const struct nbody *nb, const struct nbody_device *p)
{
    return (char *)p->state + STATE_VEL * plane_bytes(nb, p);
}

static int fetch(struct nbody *nb, struct nbody_device *p, struct host_state *h)
{
    void *const own = (char *)nb->posm + p->first * 4 * nb->real;
    if (nbody_device_download(nb, p, own, 4 * plane_bytes(nb, p)) != 0 ||
        nbody_device_download(nb, p, velocities(nb, p), 3 * plane_bytes(nb, p)) != 0)
        return -1;
    for (size_t row = 0; row < p->count; row++) {
        const size_t i = p->first + row;
        h->mass[i] = real_at(nb, nb->posm, 4 * i + 3);
        for (size_t c = 0; c < 3; c++) {
            h->x[3 * i + c] = real_at(nb, nb->posm, 4 * i + c);
            h->v[3 * i + c] = real_at(nb, p->state, (STATE_VEL + c) * p->rows + row);
        }
    }
    return 0;
}

static int send(struct nbody *nb, const struct host_state *h)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (size_t k = 0; k < 3 * nb->n; k++)
        real_put(nb, nb->posm, 4 * (k / 3) + k % 3, h->x[k]);
    for (struct nbody_device *p = nb->device; p < end; p++) {
        for (size_t k = 0; k < 3 * p->count; k++)
            real_put(nb, p->state, (STATE_VEL + k % 3) * p->rows + k / 3, h->v[3 * p->first + k]);
        if (p->rows && (clmsync(nb->ctx, p->dev, nb->posm, CL_MEM_DEVICE) == (cl_event)-1 ||
                        clmsyncn(nb->ctx, p->dev, velocities(nb, p), 3 * plane_bytes(nb, p),
                                 CL_MEM_DEVICE) == (cl_event)-1))
            return -1;
    }
    nb->positions_current = nb->synchronized = true;
    nb->forces_valid = nb->tree_valid = false;
    return 0;
}

static void copy(double *to, const double *from, size_t m)
{
    memcpy(to, from, m * sizeof *to);
}

/* -1 when a number does not fit the precision. */
static int round_state(const struct nbody *nb, double *x, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        x[k] = nb->real == sizeof(float) ? (double)(float)x[k] : x[k];
        if (!isfinite(x[k]))
            return -1;
    }
    return 0;
}

void nbody_host_closest(size_t n, const double *x, size_t *a, size_t *b)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double d = hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]),
                                   x[3 * i + 2] - x[3 * j + 2]);
            if (d < least) {
                least = d;
                *a = j;
                *b = i;
            }
        }
}

static int failed(const struct nbody *nb, const struct host_state *h, enum host_end end)
{
    size_t a = 0, b = 0;
    if (end == HOST_NOT_FINITE)
        return clerror_set(
            EDOM,
            "nbody_step: a position or velocity became NaN or infinite in step %zu (time %g); a smaller time "
            "step or a larger softening may help",
            nb->steps + 1, nbody_time(nb) + nb->dt);
    nbody_host_closest(nb->n, h->x, &a, &b);
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, bodies %zu and %zu (from 0 on) come so close that steps "
        "vanish; a softening helps",
        nb->steps + 1, nbody_time(nb), a, b);
}

/* One step; where it fails, the state is that before it. */
static int one_step(struct nbody *nb, struct host_state *h)
{
    const struct nbody_ref_system s = {
        nb->n,       1,     nb->eps * nbody_units_factor(&nb->units, -1, 0), h->mass, nb->fields,
        nb->nfields, h->eps};
    const size_t m = 3 * nb->n;
    copy(h->old_x, h->x, m);
    copy(h->old_v, h->v, m);
    enum host_end end = nb->integrator->host(&s, nb->dt * nbody_units_factor(&nb->units, 0, -1),
                                             h->x, h->v, h->memory, &nb->evaluations);
    if (end == HOST_DONE && (round_state(nb, h->x, m) != 0 || round_state(nb, h->v, m) != 0))
        end = HOST_NOT_FINITE;
    if (end == HOST_DONE)
        return 0;
    const int status = failed(nb, h, end);
    copy(h->x, h->old_x, m);
    copy(h->v, h->old_v, m);
    return status;
}

int nbody_host_step(struct nbody *nb, size_t steps)
{
    struct host_state h;
    int status = make(nb, &h);
    nbody_task_begin(nb, "nbody_step", (double)steps);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->rows)
            status = fetch(nb, p, &h);
    nb->task.done = 0; /* fetching is no part of it */
    for (size_t k = 0; status == 0 && k < steps; k++) {
        status = one_step(nb, &h);
        nb->steps += status == 0;
        nb->task.done = (double)(k + 1);
        nb->task.stoppable = k + 1 < steps;
        if (status == 0)
            status = nbody_task_tell(nb);
    }
    if (h.x && (status == 0 || nb->task.stopped || clerrno == EDOM) && send(nb, &h) != 0)
        status = -1;
    free(h.x);
    return status;
}
