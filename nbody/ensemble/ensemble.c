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
 * For IAS15 with MEGNO the slots are the tangent vector and its sums, beside the state.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/args.h"
#include "core/device_info.h"
#include "core/embedded.h"
#include "core/handle.h"
#include "core/no_device.h"
#include "core/progress.h"
#include "core/reserved.h"

#include <math.h>
#include <string.h>

EMBEDDED(source, "nbody/ensemble/ensemble.cl", nbody_ensemble_ensemble_cl);
EMBEDDED(source_ias15, "nbody/ensemble/ensemble_ias15.cl", nbody_ensemble_ensemble_ias15_cl);
EMBEDDED(source_whfast, "nbody/ensemble/ensemble_whfast.cl", nbody_ensemble_ensemble_whfast_cl);
EMBEDDED(source_lanes, "nbody/ensemble/ensemble_lanes.cl", nbody_ensemble_ensemble_lanes_cl);
EMBEDDED(source_kepler, "nbody/integrator/kepler_solver.h", nbody_integrator_kepler_solver_h);
EMBEDDED(source_slots, "nbody/integrator/heliocentric_slots.h",
         nbody_integrator_heliocentric_slots_h);
EMBEDDED(source_sums, "nbody/integrator/tangent_sums.h", nbody_integrator_tangent_sums_h);
EMBEDDED(source_steps, "nbody/integrator/whfast_steps.h", nbody_integrator_whfast_steps_h);
EMBEDDED(watch, "nbody/ensemble/ensemble_watch.cl", nbody_ensemble_ensemble_watch_cl);

enum { MAX_WIDTH = 8 };
static const size_t MAX_SYSTEMS = (size_t)1 << 30;
static const double PLANET_OPERATIONS = 300; /* rough, per planet and step, without its pairs */
static const double IAS15_STEP_FACTOR =
    3000; /* rough cost of an IAS15 step in steps of Wisdom and Holman */

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
    if (o->megno && !o->integrator)
        return clerror_set(EINVAL, "nbody_ensemble_create: MEGNO needs the integrator NBODY_WHFAST "
                                   "or NBODY_IAS15");
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

/* Begin the tangent vectors of ias15, which single runs begin in the caller's frame, too. */
static void ensemble_write_tangents(nbody_ensemble *e, struct part *p, const double (*pos)[3],
                                    const double (*vel)[3])
{
    enum { MOST = 3 * MAX_BODIES_PER_SYSTEM };
    const size_t three = 3 * e->bodies;
    for (size_t i = 0; i < p->n; i++) {
        double x[MOST], v[MOST], slots[2 * MOST + NBODY_TANGENT_PLANES - 6];
        const size_t star = (p->first + i) * e->bodies;
        const struct tangent t = {e->bodies, x, v, slots, slots + three, slots + 2 * three};
        memcpy(x, pos + star, three * sizeof *x);
        memcpy(v, vel + star, three * sizeof *v);
        nbody_tangent_begin(&t);
        for (size_t k = 0; k < ensemble_slots(e); k++)
            p->slots[k * p->n + i] = slots[k];
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
    p->state =
        clmalloc(e->ctx, ensemble_state_numbers(e) * p->n * sizeof *p->state, CL_MEM_ZEROCOPY);
    p->gm = clmalloc(e->ctx, e->bodies * p->n * sizeof *p->gm, CL_MEM_ZEROCOPY);
    if (ensemble_has_slots(e))
        p->slots = clmalloc(e->ctx, ensemble_slots(e) * p->n * sizeof *p->slots, CL_MEM_ZEROCOPY);
    return p->state && p->gm && (p->slots || !ensemble_has_slots(e)) ? 0 : -1;
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

/* common: options of all kernels. */
static int ensemble_open_whfast(nbody_ensemble *e, const char *common)
{
    const struct embedded *front[] = {&source_lanes, &source_kepler, &source_slots,
                                      &source_sums,  &source_steps,  &watch};
    char options[256];
    e->width = e->watched ? 1 : e->width;
    snprintf(options, sizeof options,
             "%s -D WIDTH=%zu -D HELIOCENTRIC=%d -D CORRECTOR=%d -D SAFE=%d", common, e->width,
             (int)e->whfast.coordinates, nbody_whfast_corrector(&e->whfast), e->whfast.safe != 0);
    e->program = embedded_open(e->ctx, options, &source_whfast,
                               COUNT_OF(front) - (e->watched ? 0 : 1), front);
    e->kernel = e->program ? clsym(e->ctx, e->program,
                                   e->watched ? "ensemble_whfast_watched" : "ensemble_whfast", 0)
                           : NULL;
    if (!e->kernel || !ensemble_steps_slots(e))
        return e->kernel ? 0 : -1;
    e->begin = clsym(e->ctx, e->program, "ensemble_whfast_begin", 0);
    e->synchronize = clsym(e->ctx, e->program, "ensemble_whfast_synchronize", 0);
    return e->begin && e->synchronize ? 0 : -1;
}

/* Open the kernel, which looks for contacts and distant bodies if the ensemble is watched. */
static int ensemble_open_kernel(nbody_ensemble *e)
{
    const struct embedded *front[3];
    size_t nfront = 0;
    const char *const scheme = e->integrator ? "ensemble_ias15" : "ensemble_wisdom_holman";
    char options[128], name[64];
    const int length =
        snprintf(options, sizeof options, "-D PLANETS=%zu -D MEGNO=%d", e->bodies - 1, e->megno);
    if (e->watched)
        snprintf(options + length, sizeof options - (size_t)length,
                 " -D WATCH=1 -D CONTACTS=%d -D MERGE=%d", e->contacts, e->merges);
    if (e->integrator == NBODY_WHFAST)
        return ensemble_open_whfast(e, options);
    if (e->megno) {
        front[nfront++] = &source_lanes;
        front[nfront++] = &source_sums;
    }
    if (e->watched)
        front[nfront++] = &watch;
    e->width = 1;
    snprintf(name, sizeof name, "%s%s", scheme, e->watched ? "_watched" : "");
    e->program =
        embedded_open(e->ctx, options, e->integrator ? &source_ias15 : &source, nfront, front);
    e->kernel = e->program ? clsym(e->ctx, e->program, name, 0) : NULL;
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

static int ensemble_start(nbody_ensemble *e, cl_uint dev, cl_uint n, cl_uint steps)
{
    struct part *p = &e->part[dev];
    const int flags = CL_EVENT_NOWAIT | CL_EVENT_CHECKED;
    const cl_ulong before = e->steps - e->base_steps;
    clndrange_t ndr = ensemble_range(e, p);
    double *const own = ensemble_steps_slots(e) ? p->slots : p->state;
    struct stdcl_arg arg[12] = {ARG(own), ARG(p->gm), ARG(n), ARG(e->dt), ARG(steps)};
    cl_uint count = 5;
    if (e->watched) {
        arg[count++] = ARG_AT(p->record);
        arg[count++] = ARG_AT(e->distance);
        arg[count++] = ARG_AT(before);
        arg[count++] = ARG_AT(e->base_time);
    }
    if (p->slots && own != p->slots)
        arg[count++] = ARG_AT(p->slots);
    const cl_event event = clforkv(e->ctx, dev, e->kernel, &ndr, flags, count, arg);
    return event == (cl_event)-1 ? -1 : clflush(e->ctx, dev, 0);
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

/* Launch once over no systems, since drivers compile at the first launch. */
static int ensemble_warm_up(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && ensemble_start(e, d, 0, 0) != 0)
            return -1;
    return ensemble_wait_all(e);
}

int ensemble_watch_kernel(nbody_ensemble *e)
{
    clclose(e->ctx, e->program);
    e->program = NULL;
    return ensemble_open_kernel(e) == 0 ? ensemble_warm_up(e) : -1;
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
        return clerror_set(ENODEV,
                           "nbody_ensemble_create: there is no OpenCL device; " NO_DEVICE_REMEDY),
               NULL;
    nbody_ensemble *e = calloc(1, sizeof *e);
    if (!e)
        return clerror_set(ENOMEM, "nbody_ensemble_create: out of memory on the host"), NULL;
    *e = (nbody_ensemble){.ctx = ctx,
                          .systems = systems,
                          .bodies = bodies,
                          .G = o->G > 0 ? o->G : 1,
                          .dt = o->dt,
                          .first_dt = o->dt,
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
        if (e->megno && !ensemble_steps_slots(e))
            ensemble_write_tangents(e, &e->part[d], pos, vel);
        status = ensemble_upload(e, d);
    }
    if (status == 0 && ensemble_steps_slots(e))
        status = ensemble_begin_slots(e, 0, 0);
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
        clfree(e->part[d].record);
    }
    ensemble_sample_free(e);
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
        e->current = !ensemble_steps_slots(e);
        e->downloaded = false;
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

int nbody_ensemble_set_dt(nbody_ensemble *e, double dt)
{
    if (no_handle(e, __func__))
        return -1;
    if (!isfinite(dt) || dt == 0)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_set_dt: a time step of %g; it must be a finite number other than 0",
            dt);
    if (ensemble_synchronize(e) != 0)
        return -1;
    const double ahead = e->dt / 2;
    e->base_time = ensemble_time(e);
    e->base_steps = e->steps;
    e->dt = dt;
    return ensemble_steps_slots(e) ? ensemble_begin_slots(e, e->megno && e->steps > 0, ahead) : 0;
}

/* ---- Save and load. -----------------------------------------------------------------------------
 * Header; centres of mass; then the components of the device's state and slots, without a state
 * that follows from the slots, each of all systems. A watched ensemble adds the components of G m
 * and of the record. */

struct saved_head {
    uint64_t systems, bodies, integrator, coordinates, safe, megno, watch;
    int64_t corrector;
    double G, first_dt;
    struct saved_clock { /* restored; all other members must be equal */
        uint64_t steps, base_steps;
        double dt, base_time;
    } clock;
};

/* Components of the state, the slots, G m and the record that are saved. */
static size_t ensemble_saved_states(const nbody_ensemble *e)
{
    return ensemble_steps_slots(e) ? 0 : ensemble_state_numbers(e);
}

static size_t ensemble_saved_slots(const nbody_ensemble *e)
{
    return ensemble_has_slots(e) ? ensemble_slots(e) : 0;
}

static size_t ensemble_saved_masses(const nbody_ensemble *e)
{
    return e->watched ? e->bodies : 0;
}

size_t nbody_ensemble_save_bytes(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    const size_t numbers = ensemble_saved_states(e) + ensemble_saved_slots(e) +
                           ensemble_saved_masses(e) + ensemble_record_size(e);
    return sizeof(struct saved_head) + e->systems * (sizeof *e->centre + numbers * sizeof(double));
}

static struct saved_head ensemble_header(const nbody_ensemble *e)
{
    return (struct saved_head){.systems = e->systems,
                               .bodies = e->bodies,
                               .integrator = e->integrator,
                               .coordinates = e->whfast.coordinates,
                               .safe = e->whfast.safe != 0,
                               .megno = e->megno,
                               .watch = (uint64_t)e->watched + 2 * (uint64_t)e->contacts +
                                        4 * (uint64_t)e->merges,
                               .corrector = nbody_whfast_corrector(&e->whfast),
                               .G = e->G,
                               .first_dt = e->first_dt,
                               .clock = {.steps = e->steps,
                                         .base_steps = e->base_steps,
                                         .dt = e->dt,
                                         .base_time = e->base_time}};
}

/* Copy `components` numbers of each of a part's systems to or from the components of all systems.
 * Return the end of these. */
static char *ensemble_copy_part(const nbody_ensemble *e, const struct part *p, double *own,
                                size_t components, char *all, bool out)
{
    for (size_t k = 0; k < components; k++) {
        char *const at = all + (k * e->systems + p->first) * sizeof(double);
        double *const numbers = own + k * p->n;
        if (p->n)
            memcpy(out ? (void *)at : numbers, out ? (const void *)numbers : at,
                   p->n * sizeof *numbers);
    }
    return all + components * e->systems * sizeof(double);
}

/* Copy between the devices' images on the host and the components of all systems. */
static void ensemble_copy_states(const nbody_ensemble *e, char *all, bool out)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        char *at = ensemble_copy_part(e, p, p->state, ensemble_saved_states(e), all, out);
        at = ensemble_copy_part(e, p, p->slots, ensemble_saved_slots(e), at, out);
        at = ensemble_copy_part(e, p, p->gm, ensemble_saved_masses(e), at, out);
        ensemble_copy_part(e, p, p->record, ensemble_record_size(e), at, out);
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
    own.clock = h.clock;
    if (size != nbody_ensemble_save_bytes(e) || memcmp(&h, &own, sizeof h) != 0)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_load: these bytes were saved by an ensemble with other systems, another integrator or its options, G, step or watch");
    memcpy(e->centre, (const char *)from + sizeof h, centres);
    ensemble_copy_states(e, (char *)(uintptr_t)from + sizeof h + centres, false);
    e->steps = h.clock.steps;
    e->base_steps = h.clock.base_steps;
    e->base_time = h.clock.base_time;
    e->dt = h.clock.dt;
    e->current = !ensemble_steps_slots(e);
    e->downloaded = false;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_upload(e, d) != 0)
            return -1;
    return 0;
}

double nbody_ensemble_time(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return ensemble_time(e);
}

size_t nbody_ensemble_steps(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return e->steps;
}
