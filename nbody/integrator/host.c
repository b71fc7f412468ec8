/* host.c - steps on the host, by an integrator without kernels, for few bodies.
 *
 * The state is downloaded before the first step and uploaded after the last, so that queries find
 * it on the devices. After every step it is rounded to the engine's precision, so that the number
 * of steps per call changes no bit.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host.h"
#include "nbody/integrator/stepping.h"
#include "nbody/structure/contacts.h"

#include "core/round.h"

#include <math.h>

enum { MAX_BODIES = 4096 };
static const double REPORT_PAIRS = 1e5; /* between progress reports of short steps */

int nbody_host_check(const struct nbody *nb)
{
    if (!nb->integrator->host || nb->n <= MAX_BODIES)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody_create: %zu bodies; the integrator %s computes on the host, and takes at most %d",
        nb->n, nb->integrator->info.name, MAX_BODIES);
}

/* Positions, velocities, G m, positions and velocities before the step, and the integrator's
 * memory, in engine units. */
struct host_state {
    double *x, *v, *mass, *old_x, *old_v, *memory;
    double sums[NBODY_TANGENT_PLANES - 6]; /* of the tangent vector, which follows x and v */
    double *eps;                           /* softening of each body; NULL: one for all */
};

/* Numbers of x: bodies, and a tangent vector. */
static size_t host_numbers(const struct nbody *nb)
{
    return (nb->megno ? 6 : 3) * nb->n;
}

static int host_allocate(const struct nbody *nb, struct host_state *h)
{
    const size_t m = host_numbers(nb), planes = (size_t)nb->integrator->host_planes,
                 all = 6 * m + planes * (m / nb->n) * round_up(nb->n, HOST_LANES);
    *h = (struct host_state){.x = calloc(all, sizeof(double))};
    if (!h->x)
        return clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    h->v = h->x + m;
    h->mass = h->v + m;
    h->old_x = h->mass + m;
    h->old_v = h->old_x + m;
    h->memory = h->old_v + m;
    h->eps = nb->particles.own_eps ? h->x + all - nb->n : NULL;
    for (size_t i = 0; h->eps && i < nb->n; i++)
        h->eps[i] = nb->particles.own_eps[i] * nbody_units_factor(&nb->units, -1, 0);
    return 0;
}

static size_t host_plane_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return p->rows * nb->real;
}

static void *host_velocities(const struct nbody *nb, const struct nbody_device *p)
{
    return (char *)p->state + STATE_VEL * host_plane_bytes(nb, p);
}

/* Bytes of the planes that the host has: velocities, and the planes of a tangent vector. */
static size_t host_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return (3 + (nb->megno ? (size_t)NBODY_TANGENT_PLANES : 0)) * host_plane_bytes(nb, p);
}

/* Address of number c of a tangent vector's position, velocity at c + 3, or sum at c + 6. */
static double *host_tangent(const struct nbody_device *p, size_t c, size_t row)
{
    return (double *)p->state + (STATE_POS + c) * p->rows + row;
}

/* Copy the tangent vector of a device's bodies from or to its planes, the sums with body 0. */
static void host_copy_tangent(const struct nbody *nb, const struct nbody_device *p,
                              struct host_state *h, bool out)
{
    for (size_t row = 0; nb->megno && row < p->count; row++)
        for (size_t c = 0; c < NBODY_TANGENT_PLANES; c++) {
            const size_t at = 3 * (nb->n + p->first + row) + c % 3;
            double *const own = c < 3 ? h->x + at : c < 6 ? h->v + at : h->sums + c - 6;
            if (c < 6 || p->first + row == 0)
                *(out ? host_tangent(p, c, row) : own) = *(out ? own : host_tangent(p, c, row));
        }
}

static int host_download(struct nbody *nb, struct nbody_device *p, struct host_state *h)
{
    void *const own = (char *)nb->particles.posm + p->first * 4 * nb->real;
    if (nbody_device_download(nb, p, own, 4 * host_plane_bytes(nb, p)) != 0 ||
        nbody_device_download(nb, p, host_velocities(nb, p), host_bytes(nb, p)) != 0)
        return -1;
    host_copy_tangent(nb, p, h, false);
    for (size_t row = 0; row < p->count; row++) {
        const size_t i = p->first + row;
        h->mass[i] = nbody_real_get(nb, nb->particles.posm, 4 * i + 3);
        for (size_t c = 0; c < 3; c++) {
            h->x[3 * i + c] = nbody_real_get(nb, nb->particles.posm, 4 * i + c);
            h->v[3 * i + c] = nbody_real_get(nb, p->state, (STATE_VEL + c) * p->rows + row);
        }
    }
    return 0;
}

int nbody_host_tangent_sums(struct nbody *nb, double *sums)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (p->first || !p->count)
            continue;
        if (nbody_device_download(nb, p, host_velocities(nb, p), host_bytes(nb, p)) != 0)
            return -1;
        for (size_t k = 0; k < NBODY_TANGENT_PLANES - 6; k++)
            sums[k] = *host_tangent(p, 6 + k, 0);
    }
    return 0;
}

/* A device that shares the host's memory may still copy it for a snapshot, so wait first. */
static int host_upload(struct nbody *nb, struct host_state *h)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            return -1;
    for (size_t k = 0; k < 3 * nb->n; k++)
        nbody_real_put(nb, nb->particles.posm, 4 * (k / 3) + k % 3, h->x[k]);
    for (struct nbody_device *p = nb->device; p < end; p++) {
        for (size_t k = 0; k < 3 * p->count; k++)
            nbody_real_put(nb, p->state, (STATE_VEL + k % 3) * p->rows + k / 3,
                           h->v[3 * p->first + k]);
        host_copy_tangent(nb, p, h, true);
        if (p->rows && (nbody_device_upload(nb, p, nb->particles.posm, 0) != 0 ||
                        nbody_device_upload(nb, p, host_velocities(nb, p), host_bytes(nb, p)) != 0))
            return -1;
    }
    nbody_particles_moved(nb);
    nbody_domain_set_shared(nb);
    nb->integration.valid = (struct sum_validity){.synchronized = true};
    return 0;
}

static void host_copy(double *to, const double *from, size_t m)
{
    memcpy(to, from, m * sizeof *to);
}

/* Round x to the engine's precision; -1 if a number is out of range. */
static int host_round_state(const struct nbody *nb, double *x, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        x[k] = nb->real == sizeof(float) ? (double)(float)x[k] : x[k];
        if (!isfinite(x[k]))
            return -1;
    }
    return 0;
}

static int host_failed(const struct nbody *nb, const struct host_state *h,
                       const struct host_watch *watch, enum host_end end)
{
    return end == HOST_NOT_FINITE ? nbody_step_not_finite(nb, "time step")
                                  : nbody_step_vanished_at(nb, watch->vanishing, h->x);
}

bool nbody_host_stops(const struct host_watch *watch, double part)
{
    if (!watch)
        return false;
    if (watch->events_only)
        return false;
    nbody_progress_set_done(watch->nb, (double)watch->step + part);
    nbody_progress_set_stoppable(watch->nb, true);
    return nbody_progress_report(watch->nb) != 0;
}

bool nbody_host_has_tangent(const struct host_watch *watch)
{
    return watch && watch->nb->megno && !watch->events_only;
}

bool nbody_host_watches(const struct host_watch *watch)
{
    if (!watch)
        return false;
    const bool events = watch->nb->integration.events.rule && watch->nb->integrator->host_adapts;
    return watch->events_only || watch->nb->integration.watch.radius || events;
}

int nbody_host_contact(const struct host_watch *watch, double done,
                       const struct contact_paths *paths, double *h)
{
    *h = 1;
    if (watch->body)
        return nbody_watch_part(watch->nb, paths, watch->body,
                                fabs(watch->span) - fabs(done + paths->span));
    const int contact = watch->events_only ? 0 : nbody_watch_paths(watch->nb, paths, true, h);
    if (contact < 0)
        return -1;
    const double start = watch->events_only ? watch->time : nbody_time(watch->nb),
                 before = done / nbody_units_factor(&watch->nb->units, 0, -1);
    const int stop = nbody_events_search(watch->nb, paths, start + before, !watch->events_only, h);
    return stop != 0 && !watch->events_only ? stop : stop < 0 ? -1 : contact;
}

/* Account for a step that ended with `end`. */
static void host_advance_clock(struct nbody *nb, enum host_end end, const struct host_watch *watch)
{
    if (end == HOST_CONTACT) {
        nb->integration.elapsed += watch->reached / nbody_units_factor(&nb->units, 0, -1);
        return;
    }
    nb->integration.elapsed = 0;
    nb->integration.steps++;
}

/* Make step number `step` of the call, or complete an interrupted one. On failure the state is
 * restored. */
static int host_one_step(struct nbody *nb, struct host_state *h, size_t step)
{
    struct host_watch watch = {.nb = nb, .step = step};
    const double rest = nb->integration.dt - nb->integration.elapsed;
    const struct nbody_ref_system s = {nb->n,
                                       1,
                                       nb->eps * nbody_units_factor(&nb->units, -1, 0),
                                       h->mass,
                                       nb->force.fields,
                                       nb->nfields,
                                       h->eps,
                                       &watch};
    const size_t m = host_numbers(nb);
    const struct tangent tangent = {nb->n, h->x, h->v, h->x + 3 * nb->n, h->v + 3 * nb->n, h->sums};
    if (nb->megno && !nbody_tangent_has_begun(h->sums))
        nbody_tangent_begin(&tangent);
    host_copy(h->old_x, h->x, m);
    host_copy(h->old_v, h->v, m);
    enum host_end end = nb->integrator->host(&s, rest * nbody_units_factor(&nb->units, 0, -1), h->x,
                                             h->v, h->memory, &nb->integration.evaluations);
    if (end <= HOST_CONTACT &&
        (host_round_state(nb, h->x, m) != 0 || host_round_state(nb, h->v, m) != 0))
        end = HOST_NOT_FINITE;
    if (end <= HOST_CONTACT) {
        if (nb->megno)
            nbody_tangent_record(&tangent, end == HOST_CONTACT
                                               ? watch.reached
                                               : rest * nbody_units_factor(&nb->units, 0, -1));
        host_advance_clock(nb, end, &watch);
        return 0;
    }
    const int status = end == HOST_STOPPED ? -1 : host_failed(nb, h, &watch, end);
    host_copy(h->x, h->old_x, m);
    host_copy(h->v, h->old_v, m);
    return status;
}

/* Report progress after a step of the call, seldom if steps are short. reported: evaluations at the
 * last report. */
static int host_report(struct nbody *nb, bool last, double *reported)
{
    const double more = nb->integration.evaluations - *reported;
    if (!last && !nb->integrator->host_adapts &&
        more * (double)nb->n * (double)nb->n < REPORT_PAIRS)
        return 0;
    *reported = nb->integration.evaluations;
    return nbody_progress_report(nb);
}

static int host_run(struct nbody *nb, size_t steps)
{
    struct host_state h;
    double reported = nb->integration.evaluations;
    int status = host_allocate(nb, &h);
    nbody_added_begin(nb);
    nbody_progress_begin(nb, "nbody_step", (double)steps);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->rows)
            status = host_download(nb, p, &h);
    nbody_progress_set_done(nb, 0); /* the download does not count */
    for (size_t k = 0; status == 0 && k < steps && !nbody_watch_ends(nb); k++) {
        status = host_one_step(nb, &h, k);
        nbody_progress_set_done(nb, (double)(k + 1));
        nbody_progress_set_stoppable(nb, k + 1 < steps);
        if (status == 0 && !nbody_watch_ends(nb)) /* the caller sees contacts first */
            status = host_report(nb, k + 1 == steps, &reported);
    }
    if (h.x && (status == 0 || nb->task.stopped || nbody_added_failed(nb) || clerrno == EDOM) &&
        host_upload(nb, &h) != 0)
        status = -1;
    nbody_added_begin(nb); /* the state is a good one again */
    free(h.x);
    return status;
}

static bool host_applies(const struct nbody *nb)
{
    return nb->integrator->host != NULL;
}

const struct stepper nbody_stepper_host = {
    .applies = host_applies,
    .run = host_run,
    .watches = host_applies,
};
