/* ensemble.c - many planetary systems at once, one per work-item (ensemble.cl, ensemble_ias15.cl,
 * ensemble_whfast.cl).
 *
 * The device has democratic heliocentric coordinates: positions relative to the star, velocities
 * relative to the centre of mass. For IAS15 both are relative to the centre of mass, and include
 * the star. The centre of mass moves uniformly; the host keeps it. The number of steps per launch
 * is limited by a slice of time (core/pace.h).
 *
 * For WHFAST positions and velocities are inertial, and include the star. Unless in safe mode,
 * steps change the slots (whfast_steps.h), and queries compute positions and velocities from them.
 * SPDX-License-Identifier: MIT
 */
#include "core/args.h"
#include "core/device_info.h"
#include "core/embedded.h"
#include "core/handle.h"
#include "core/pace.h"
#include "core/progress.h"
#include "core/reserved.h"
#include "nbody/integrator/integrator.h"
#include "stdcl/nbody.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

EMBEDDED(source, "nbody/ensemble/ensemble.cl", nbody_ensemble_ensemble_cl);
EMBEDDED(source_ias15, "nbody/ensemble/ensemble_ias15.cl", nbody_ensemble_ensemble_ias15_cl);
EMBEDDED(source_whfast, "nbody/ensemble/ensemble_whfast.cl", nbody_ensemble_ensemble_whfast_cl);
EMBEDDED(source_lanes, "nbody/ensemble/ensemble_lanes.cl", nbody_ensemble_ensemble_lanes_cl);
EMBEDDED(source_kepler, "nbody/integrator/kepler_solver.h", nbody_integrator_kepler_solver_h);
EMBEDDED(source_slots, "nbody/integrator/heliocentric_slots.h",
         nbody_integrator_heliocentric_slots_h);
EMBEDDED(source_steps, "nbody/integrator/whfast_steps.h", nbody_integrator_whfast_steps_h);

enum { MAX_BODIES_PER_SYSTEM = 16, GROUP = 64, MAX_WIDTH = 8 };
static const size_t MAX_SYSTEMS = (size_t)1 << 30;
static const double PLANET_OPERATIONS = 300; /* rough, per planet and step, without its pairs */
static const double IAS15_STEP_FACTOR =
    3000; /* rough cost of an IAS15 step in steps of Wisdom and Holman */

/* The systems of a device. */
struct part {
    size_t first, n;
    double *state, *gm; /* layout: ensemble.cl, ensemble_ias15.cl, ensemble_whfast.cl */
    double *slots;      /* whfast, not in safe mode; else NULL */
    struct pace pace;
};

struct nbody_ensemble {
    CLCONTEXT *ctx;
    size_t systems, bodies, steps;
    enum nbody_integrator integrator; /* 0: Wisdom and Holman */
    struct nbody_whfast_options whfast;
    bool megno;   /* slots have a tangent vector */
    size_t width; /* systems of a work-item */
    bool current; /* the slots, if any, have the state */
    double G, dt;
    double (*centre)[6]; /* initial centre of mass, and its velocity */
    void *program;
    cl_kernel kernel, begin, synchronize; /* the last two with slots */
    cl_uint ndev;
    struct part *part;
    int (*progress)(void *arg, double fraction);
    void *arg;
};

/* ---- Checks and memory. ---------------------------------------------------------------------- */

static int ensemble_check(const struct nbody_ensemble_options *o, size_t systems, size_t bodies,
                          const double *mass, const double (*pos)[3], const double (*vel)[3])
{
    if (systems < 1 || systems > MAX_SYSTEMS)
        return clerror_set(EINVAL, "nbody_ensemble_create: %zu systems; there must be 1 to %zu",
                           systems, MAX_SYSTEMS);
    if (bodies < 2 || bodies > MAX_BODIES_PER_SYSTEM)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_create: %zu bodies a system; there must be a star and 1 to %d planets",
            bodies, MAX_BODIES_PER_SYSTEM - 1);
    if (o->integrator != 0 && o->integrator != NBODY_IAS15 && o->integrator != NBODY_WHFAST)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_create: integrator %d; it must be 0, for steps of Wisdom and Holman, NBODY_WHFAST or NBODY_IAS15",
            (int)o->integrator);
    if (nbody_whfast_check(&o->whfast, o->megno, "nbody_ensemble_create") != 0 ||
        reserved_check("nbody_ensemble_create", o->whfast.reserved) != 0)
        return -1;
    if (o->megno && o->integrator != NBODY_WHFAST)
        return clerror_set(EINVAL,
                           "nbody_ensemble_create: MEGNO needs the integrator NBODY_WHFAST");
    if (!isfinite(o->dt) || o->dt == 0)
        return clerror_set(
            EINVAL, "nbody_ensemble_create: a time step of %g; it must be a number other than 0",
            o->dt);
    if (!isfinite(o->G) || o->G < 0)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_create: a gravitational constant of %g; it must be a number > 0", o->G);
    if (!mass || !pos || !vel)
        return clerror_set(EINVAL, "nbody_ensemble_create: mass, pos or vel is NULL");
    for (size_t i = 0; i < systems * bodies; i++) {
        bool good = isfinite(mass[i]) && mass[i] >= 0 && (i % bodies != 0 || mass[i] > 0);
        for (int c = 0; c < 3; c++)
            good = good && isfinite(pos[i][c]) && isfinite(vel[i][c]);
        if (!good)
            return clerror_set(
                EINVAL,
                "nbody_ensemble_create: system %zu: body %zu (mass %g): all numbers must be finite and "
                "masses >= 0; the first body is the star, with a mass > 0",
                i / bodies, i % bodies, mass[i]);
    }
    return reserved_check("nbody_ensemble_create", o->reserved);
}

static void ensemble_find_centre(const double *mass, const double (*pos)[3], const double (*vel)[3],
                                 size_t bodies, double centre[6])
{
    double all = 0;
    memset(centre, 0, 6 * sizeof *centre);
    for (size_t b = 0; b < bodies; b++) {
        all += mass[b];
        for (int c = 0; c < 3; c++) {
            centre[c] += mass[b] * pos[b][c];
            centre[3 + c] += mass[b] * vel[b][c];
        }
    }
    for (int c = 0; c < 6; c++)
        centre[c] /= all;
}

/* First body that the device stores. */
static size_t ensemble_first_body(const nbody_ensemble *e)
{
    return e->integrator ? 0 : 1;
}

/* First sum of a tangent vector in the slots; numbers of a system in the slots. */
static size_t ensemble_sums(const nbody_ensemble *e)
{
    return (e->megno ? 18 : 12) * e->bodies;
}
static size_t ensemble_slots(const nbody_ensemble *e)
{
    return ensemble_sums(e) + (e->megno ? NBODY_TANGENT_PLANES - 6 : 0);
}

static bool ensemble_has_slots(const nbody_ensemble *e)
{
    return e->integrator == NBODY_WHFAST && !e->whfast.safe;
}

/* Component c of body b of the i-th system of a part; its velocity is 3 n numbers further. */
static double *ensemble_component(const nbody_ensemble *e, const struct part *p, size_t i, size_t b,
                                  size_t c)
{
    return p->state + (6 * (b - ensemble_first_body(e)) + c) * p->n + i;
}

static void ensemble_write_systems(nbody_ensemble *e, struct part *p, const double *mass,
                                   const double (*pos)[3], const double (*vel)[3])
{
    for (size_t i = 0; i < p->n; i++) {
        const size_t star = (p->first + i) * e->bodies;
        double *centre = e->centre[p->first + i];
        if (e->integrator == NBODY_WHFAST)
            memset(centre, 0, sizeof *e->centre);
        else
            ensemble_find_centre(mass + star, pos + star, vel + star, e->bodies, centre);
        for (size_t b = 0; b < e->bodies; b++)
            p->gm[b * p->n + i] = e->G * mass[star + b];
        for (size_t b = ensemble_first_body(e); b < e->bodies; b++)
            for (size_t c = 0; c < 3; c++) {
                double *at = ensemble_component(e, p, i, b, c);
                at[0] = pos[star + b][c] - (e->integrator ? centre[c] : pos[star][c]);
                at[3 * p->n] = vel[star + b][c] - centre[3 + c];
            }
    }
}

static int ensemble_allocate(nbody_ensemble *e, cl_uint dev)
{
    struct part *p = &e->part[dev];
    p->pace = pace_of(1e8);
    p->first = e->systems * dev / e->ndev;
    p->n = e->systems * (dev + 1) / e->ndev - p->first;
    if (p->n == 0)
        return 0;
    p->state = clmalloc(e->ctx, 6 * (e->bodies - ensemble_first_body(e)) * p->n * sizeof *p->state,
                        CL_MEM_ZEROCOPY);
    p->gm = clmalloc(e->ctx, e->bodies * p->n * sizeof *p->gm, CL_MEM_ZEROCOPY);
    if (ensemble_has_slots(e))
        p->slots = clmalloc(e->ctx, ensemble_slots(e) * p->n * sizeof *p->slots, CL_MEM_ZEROCOPY);
    return p->state && p->gm && (p->slots || !ensemble_has_slots(e)) ? 0 : -1;
}

static int ensemble_upload(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    if (p->n && (clmsync(e->ctx, dev, p->state, CL_MEM_DEVICE) == (cl_event)-1 ||
                 clmsync(e->ctx, dev, p->gm, CL_MEM_DEVICE) == (cl_event)-1 ||
                 (p->slots && clmsync(e->ctx, dev, p->slots, CL_MEM_DEVICE) == (cl_event)-1)))
        return -1;
    return 0;
}

/* Check that a device has doubles. Limit the width of whfast's vectors to the preferred width of
 * each device. */
static int ensemble_check_doubles(nbody_ensemble *e, cl_uint dev)
{
    cl_uint width = 0;
    if (device_ask(e->ctx, dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width, &width,
                   "nbody_ensemble_create") != 0)
        return -1;
    while (e->width > 1 && e->width > width)
        e->width /= 2;
    return width ? 0
                 : clerror_set(ENOTSUP, "nbody_ensemble_create: device %u has no double precision",
                               dev);
}

static int ensemble_open_whfast(nbody_ensemble *e)
{
    static const struct embedded *const front[] = {&source_lanes, &source_kepler, &source_slots,
                                                   &source_steps};
    char options[128];
    snprintf(
        options, sizeof options,
        "-D PLANETS=%zu -D WIDTH=%zu -D HELIOCENTRIC=%d -D CORRECTOR=%d -D SAFE=%d -D MEGNO=%d",
        e->bodies - 1, e->width, (int)e->whfast.coordinates, nbody_whfast_corrector(&e->whfast),
        e->whfast.safe != 0, e->megno);
    e->program = embedded_open(e->ctx, options, &source_whfast, COUNT_OF(front), front);
    e->kernel = e->program ? clsym(e->ctx, e->program, "ensemble_whfast", 0) : NULL;
    if (!e->kernel || !ensemble_has_slots(e))
        return e->kernel ? 0 : -1;
    e->begin = clsym(e->ctx, e->program, "ensemble_whfast_begin", 0);
    e->synchronize = clsym(e->ctx, e->program, "ensemble_whfast_synchronize", 0);
    return e->begin && e->synchronize ? 0 : -1;
}

static int ensemble_open_kernel(nbody_ensemble *e)
{
    char options[32];
    if (e->integrator == NBODY_WHFAST)
        return ensemble_open_whfast(e);
    e->width = 1;
    snprintf(options, sizeof options, "-D PLANETS=%zu", e->bodies - 1);
    e->program = embedded_open(e->ctx, options, e->integrator ? &source_ias15 : &source, 0, NULL);
    e->kernel = e->program ? clsym(e->ctx, e->program,
                                   e->integrator ? "ensemble_ias15" : "ensemble_wisdom_holman", 0)
                           : NULL;
    return e->kernel ? 0 : -1;
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Operations per step of a device's systems. */
static double ensemble_work(const nbody_ensemble *e, const struct part *p)
{
    const double planets = (double)e->bodies - 1;
    return (double)p->n * planets * (PLANET_OPERATIONS + 20 * planets) *
           (e->integrator == NBODY_IAS15 ? IAS15_STEP_FACTOR : 1);
}

/* A work-group has GROUP systems. */
static clndrange_t ensemble_range(const nbody_ensemble *e, const struct part *p)
{
    const size_t local = GROUP / e->width;
    return (clndrange_t)clndrange_init1d(0, (p->n + GROUP - 1) / GROUP * local, local);
}

static int ensemble_start(nbody_ensemble *e, cl_uint dev, cl_uint n, cl_uint steps)
{
    struct part *p = &e->part[dev];
    clndrange_t ndr = ensemble_range(e, p);
    double *const own = p->slots ? p->slots : p->state;
    return clforkv(e->ctx, dev, e->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                   ARGS(own, p->gm, n, e->dt, steps)) == (cl_event)-1
               ? -1
               : clflush(e->ctx, dev, 0);
}

/* Compute slots from states (begin), or states from slots (synchronize), of all systems. */
static int ensemble_convert(nbody_ensemble *e, cl_kernel kernel)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        clndrange_t ndr = ensemble_range(e, p);
        if (p->n && clforkv(e->ctx, d, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                            ARGS(p->state, p->slots, p->gm, (cl_uint)p->n, e->dt)) == (cl_event)-1)
            return -1;
    }
    return 0;
}

static int ensemble_launch_steps(nbody_ensemble *e, cl_uint dev, cl_uint steps)
{
    struct part *p = &e->part[dev];
    pace_started(&p->pace, ensemble_work(e, p) * steps);
    return ensemble_start(e, dev, (cl_uint)p->n, steps);
}

/* Number of steps that every device makes within a slice of time. */
static size_t ensemble_steps_in_slice(const nbody_ensemble *e, size_t steps)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        const double fit = p->n ? pace_slice(&p->pace) / ensemble_work(e, p) : (double)steps;
        steps = fit < 1 ? 1 : fit < (double)steps ? (size_t)fit : steps;
    }
    return steps < (size_t)1 << 30 ? steps : (size_t)1 << 30;
}

static int ensemble_wait_all(nbody_ensemble *e)
{
    int status = 0;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n) {
            if (clwait(e->ctx, d, CL_ALL_EVENT) == (cl_event)-1)
                status = -1;
            pace_waited(&e->part[d].pace);
        }
    return status;
}

/* Launch once over no systems, since drivers compile at the first launch. */
static int ensemble_warm_up(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && ensemble_start(e, d, 0, 0) != 0)
            return -1;
    return ensemble_wait_all(e);
}

/* ---- Creation. ------------------------------------------------------------------------------- */

nbody_ensemble *nbody_ensemble_create(const struct nbody_ensemble_options *o, size_t systems,
                                      size_t bodies, const double *mass, const double (*pos)[3],
                                      const double (*vel)[3])
{
    o = o ? o : &(const struct nbody_ensemble_options){.ctx = NULL};
    if (ensemble_check(o, systems, bodies, mass, pos, vel) != 0)
        return NULL;
    CLCONTEXT *ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (clgetndev(ctx) == 0)
        return clerror_set(ENODEV, "nbody_ensemble_create: there is no OpenCL device"), NULL;
    nbody_ensemble *e = calloc(1, sizeof *e);
    if (!e)
        return clerror_set(ENOMEM, "nbody_ensemble_create: out of memory on the host"), NULL;
    *e = (nbody_ensemble){.ctx = ctx,
                          .systems = systems,
                          .bodies = bodies,
                          .G = o->G > 0 ? o->G : 1,
                          .dt = o->dt,
                          .integrator = o->integrator,
                          .whfast = o->whfast,
                          .megno = o->megno != 0,
                          .width = MAX_WIDTH,
                          .current = true,
                          .ndev = clgetndev(ctx),
                          .progress = o->progress,
                          .arg = o->arg};
    e->part = calloc(e->ndev, sizeof *e->part);
    e->centre = malloc(systems * sizeof *e->centre);
    int status = e->part && e->centre
                     ? 0
                     : clerror_set(ENOMEM, "nbody_ensemble_create: out of memory on the host");
    for (cl_uint d = 0; d < e->ndev && status == 0; d++)
        status = ensemble_check_doubles(e, d) == 0 ? ensemble_allocate(e, d) : -1;
    if (status == 0)
        status = ensemble_open_kernel(e);
    for (cl_uint d = 0; d < e->ndev && status == 0; d++) {
        ensemble_write_systems(e, &e->part[d], mass, pos, vel);
        status = ensemble_upload(e, d);
    }
    if (status == 0 && ensemble_has_slots(e))
        status = ensemble_convert(e, e->begin);
    if (status == 0 && ensemble_warm_up(e) == 0)
        return e;
    nbody_ensemble_free(e);
    return NULL;
}

void nbody_ensemble_free(nbody_ensemble *e)
{
    if (!e)
        return;
    if (e->program)
        clclose(e->ctx, e->program);
    for (cl_uint d = 0; e->part && d < e->ndev; d++) {
        clfree(e->part[d].state);
        clfree(e->part[d].slots);
        clfree(e->part[d].gm);
    }
    free(e->part);
    free(e->centre);
    free(e);
}

int nbody_ensemble_step(nbody_ensemble *e, size_t steps)
{
    if (no_handle(e, __func__))
        return -1;
    for (size_t done = 0, some; done < steps; done += some) {
        some = ensemble_steps_in_slice(e, steps - done);
        e->current = !ensemble_has_slots(e);
        for (cl_uint d = 0; d < e->ndev; d++)
            if (e->part[d].n && ensemble_launch_steps(e, d, (cl_uint)some) != 0)
                return -1;
        if (ensemble_wait_all(e) != 0)
            return -1;
        e->steps += some;
        if (progress_cancels(e->progress, e->arg, (double)(done + some), (double)steps) &&
            done + some < steps)
            return clerror_set(ECANCELED, "nbody_ensemble_step: stopped after step %zu", e->steps);
    }
    return 0;
}

/* ---- Download. ------------------------------------------------------------------------------- */

/* Convert a system with its star to the caller's frame. */
static void ensemble_read_bodies(const nbody_ensemble *e, const struct part *p, size_t i,
                                 double (*pos)[3], double (*vel)[3])
{
    const double *centre = e->centre[p->first + i], t = nbody_ensemble_time(e);
    for (size_t b = 0; b < e->bodies; b++)
        for (size_t c = 0; c < 3; c++) {
            const double *at = ensemble_component(e, p, i, b, c);
            pos[b][c] = centre[c] + t * centre[3 + c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
}

/* Convert a system to the caller's frame. The star follows from the centre of mass and the
 * planets. */
static void ensemble_read_system(const nbody_ensemble *e, const struct part *p, size_t i,
                                 double (*pos)[3], double (*vel)[3])
{
    const double *gm = p->gm + i, *centre = e->centre[p->first + i], t = nbody_ensemble_time(e);
    double all = 0;
    if (e->integrator) {
        ensemble_read_bodies(e, p, i, pos, vel);
        return;
    }
    for (size_t b = 0; b < e->bodies; b++)
        all += gm[b * p->n];
    for (size_t c = 0; c < 3; c++) {
        double x = 0, v = 0;
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = ensemble_component(e, p, i, b, c);
            x += gm[b * p->n] * at[0];
            v += gm[b * p->n] * at[3 * p->n];
        }
        pos[0][c] = centre[c] + t * centre[3 + c] - x / all;
        vel[0][c] = centre[3 + c] - v / gm[0];
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = ensemble_component(e, p, i, b, c);
            pos[b][c] = pos[0][c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
    }
}

static int ensemble_download(nbody_ensemble *e)
{
    if (!e->current && ensemble_convert(e, e->synchronize) != 0)
        return -1;
    e->current = true;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && clmsync(e->ctx, d, e->part[d].state, CL_MEM_HOST) == (cl_event)-1)
            return -1;
    return ensemble_wait_all(e);
}

int nbody_ensemble_state(nbody_ensemble *e, double (*pos)[3], double (*vel)[3])
{
    if (no_handle(e, __func__))
        return -1;
    if (ensemble_download(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t i = 0; i < e->part[d].n; i++) {
            double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
            const size_t star = (e->part[d].first + i) * e->bodies;
            ensemble_read_system(e, &e->part[d], i, x, v);
            if (pos)
                memcpy(pos + star, x, e->bodies * sizeof *x);
            if (vel)
                memcpy(vel + star, v, e->bodies * sizeof *v);
        }
    return 0;
}

static double ensemble_system_energy(const struct part *p, size_t i, size_t bodies, double G,
                                     double (*x)[3], double (*v)[3])
{
    double energy = 0;
    for (size_t b = 0; b < bodies; b++) {
        const double gm = p->gm[b * p->n + i];
        energy += gm / 2 * (v[b][0] * v[b][0] + v[b][1] * v[b][1] + v[b][2] * v[b][2]);
        for (size_t c = 0; c < b; c++) {
            const double d[3] = {x[b][0] - x[c][0], x[b][1] - x[c][1], x[b][2] - x[c][2]};
            energy -= gm * p->gm[c * p->n + i] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
    return energy / G;
}

int nbody_ensemble_energies(nbody_ensemble *e, double *energy)
{
    if (no_handle(e, __func__))
        return -1;
    if (ensemble_download(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t i = 0; i < e->part[d].n; i++) {
            double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
            ensemble_read_system(e, &e->part[d], i, x, v);
            energy[e->part[d].first + i] =
                ensemble_system_energy(&e->part[d], i, e->bodies, e->G, x, v);
        }
    return 0;
}

/* Download the numbers that steps change. */
static int ensemble_download_own(nbody_ensemble *e)
{
    if (!ensemble_has_slots(e))
        return ensemble_download(e);
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && clmsync(e->ctx, d, e->part[d].slots, CL_MEM_HOST) == (cl_event)-1)
            return -1;
    return ensemble_wait_all(e);
}

int nbody_ensemble_find_chaos(nbody_ensemble *e, struct nbody_chaos *chaos)
{
    if (no_handle(e, __func__))
        return -1;
    if (!e->megno)
        return clerror_set(EINVAL,
                           "nbody_ensemble_find_chaos: the ensemble has no tangent vectors; "
                           "create it with nbody_ensemble_options.megno");
    if (ensemble_download_own(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        for (size_t i = 0; i < p->n; i++)
            chaos[p->first + i] = nbody_whfast_chaos(p->slots + ensemble_sums(e) * p->n + i, p->n);
    }
    return 0;
}

/* ---- Save and load. -----------------------------------------------------------------------------
 * Header; centres of mass; then the components of the device's state or slots, each of all
 * systems. */

struct saved_head {
    uint64_t systems, bodies, steps, integrator, coordinates, safe, megno;
    int64_t corrector;
    double G, dt;
};

static size_t ensemble_components(const nbody_ensemble *e)
{
    return ensemble_has_slots(e) ? ensemble_slots(e) : 6 * (e->bodies - ensemble_first_body(e));
}

size_t nbody_ensemble_save_bytes(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return sizeof(struct saved_head) +
           e->systems * (sizeof *e->centre + ensemble_components(e) * sizeof(double));
}

static struct saved_head ensemble_header(const nbody_ensemble *e)
{
    return (struct saved_head){.systems = e->systems,
                               .bodies = e->bodies,
                               .steps = e->steps,
                               .integrator = e->integrator,
                               .coordinates = e->whfast.coordinates,
                               .safe = e->whfast.safe != 0,
                               .megno = e->megno,
                               .corrector = nbody_whfast_corrector(&e->whfast),
                               .G = e->G,
                               .dt = e->dt};
}

/* Copy between the devices' images on the host and the components of all systems. */
static void ensemble_copy_states(const nbody_ensemble *e, char *all, bool out)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t k = 0; k < ensemble_components(e); k++) {
            const struct part *p = &e->part[d];
            char *const at = all + (k * e->systems + p->first) * sizeof(double);
            double *const own = (p->slots ? p->slots : p->state) + k * p->n;
            if (p->n)
                memcpy(out ? (void *)at : own, out ? (const void *)own : at, p->n * sizeof *own);
        }
}

int nbody_ensemble_save(nbody_ensemble *e, void *to)
{
    if (no_handle(e, __func__))
        return -1;
    const struct saved_head h = ensemble_header(e);
    const size_t centres = e->systems * sizeof *e->centre;
    if (ensemble_download_own(e) != 0)
        return -1;
    memcpy(to, &h, sizeof h);
    memcpy((char *)to + sizeof h, e->centre, centres);
    ensemble_copy_states(e, (char *)to + sizeof h + centres, true);
    return 0;
}

int nbody_ensemble_load(nbody_ensemble *e, const void *from, size_t size)
{
    if (no_handle(e, __func__))
        return -1;
    struct saved_head h = {.systems = 0};
    struct saved_head own = ensemble_header(e);
    const size_t centres = e->systems * sizeof *e->centre;
    if (size >= sizeof h)
        memcpy(&h, from, sizeof h);
    own.steps = h.steps;
    if (size != nbody_ensemble_save_bytes(e) || memcmp(&h, &own, sizeof h) != 0)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_load: these bytes were saved by an ensemble with other systems, another integrator or its options, G or step");
    memcpy(e->centre, (const char *)from + sizeof h, centres);
    ensemble_copy_states(e, (char *)(uintptr_t)from + sizeof h + centres, false);
    e->steps = h.steps;
    e->current = !ensemble_has_slots(e);
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_upload(e, d) != 0)
            return -1;
    return 0;
}

double nbody_ensemble_time(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return e->dt * (double)e->steps;
}

size_t nbody_ensemble_steps(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return e->steps;
}
