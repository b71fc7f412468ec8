/* ensemble.c - many planetary systems at once, one a work-item (ensemble.cl; ensemble_ias15.cl).
 *
 * The device has democratic heliocentric coordinates, places counted from the star, velocities from
 * the centre of mass; or for ias15 both from the centre of mass, and the star's too. That centre
 * moves along a line, which the host keeps. A launch makes so many steps as end soon (core/pace.h).
 * SPDX-License-Identifier: MIT
 */
#include "core/args.h"
#include "core/device_info.h"
#include "core/embedded.h"
#include "core/handle.h"
#include "core/pace.h"
#include "core/progress.h"
#include "core/reserved.h"
#include "stdcl/nbody.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

EMBEDDED(source, "nbody/ensemble.cl", nbody_ensemble_cl);
EMBEDDED(source_ias15, "nbody/ensemble_ias15.cl", nbody_ensemble_ias15_cl);

enum { MOST_BODIES = 16, GROUP = 64 };
static const size_t MOST_SYSTEMS = (size_t)1 << 30;
static const double OPERATIONS = 300;      /* of a planet in a step, roughly, beside its pairs */
static const double STEPS_OF_IAS15 = 3000; /* that a step of ias15 is worth, roughly: some dozens of
                                              evaluations for each of its own */

/* The systems of a device. */
struct part {
    size_t first, n;
    double *state, *gm; /* as ensemble.cl draws them */
    struct pace pace;
};

struct nbody_ensemble {
    CLCONTEXT *ctx;
    size_t systems, bodies, steps;
    bool ias15;
    double G, dt;
    double (*centre)[6]; /* of mass: where it was at first, and its velocity */
    void *program;
    cl_kernel kernel;
    cl_uint ndev;
    struct part *part;
    int (*progress)(void *arg, double fraction);
    void *arg;
};

/* ---- Checked and placed. --------------------------------------------------------------------- */

static int check(const struct nbody_ensemble_options *o, size_t systems, size_t bodies,
                 const double *mass, const double (*pos)[3], const double (*vel)[3])
{
    if (systems < 1 || systems > MOST_SYSTEMS)
        return clerror_set(EINVAL, "nbody_ensemble_create: %zu systems; there must be 1 to %zu",
                           systems, MOST_SYSTEMS);
    if (bodies < 2 || bodies > MOST_BODIES)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_create: %zu bodies a system; there must be a star and 1 to %d planets",
            bodies, MOST_BODIES - 1);
    if (o->integrator != 0 && o->integrator != NBODY_IAS15)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_create: integrator %d; it must be 0, for steps of Wisdom and Holman, or NBODY_IAS15",
            (int)o->integrator);
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
                "nbody_ensemble_create: system %zu: body %zu has no finite numbers, or a mass of %g; the "
                "first body is the star and has some",
                i / bodies, i % bodies, mass[i]);
    }
    return reserved_check("nbody_ensemble_create", o->reserved);
}

static void find_centre(const double *mass, const double (*pos)[3], const double (*vel)[3],
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

/* The first body that the device has. */
static size_t first_body(const nbody_ensemble *e)
{
    return e->ias15 ? 0 : 1;
}

/* Component c of body b of the i-th system of a part; its velocity stands 3 n numbers behind. */
static double *number_of(const nbody_ensemble *e, const struct part *p, size_t i, size_t b,
                         size_t c)
{
    return p->state + (6 * (b - first_body(e)) + c) * p->n + i;
}

static void write_systems(nbody_ensemble *e, struct part *p, const double *mass,
                          const double (*pos)[3], const double (*vel)[3])
{
    for (size_t i = 0; i < p->n; i++) {
        const size_t star = (p->first + i) * e->bodies;
        double *centre = e->centre[p->first + i];
        find_centre(mass + star, pos + star, vel + star, e->bodies, centre);
        for (size_t b = 0; b < e->bodies; b++)
            p->gm[b * p->n + i] = e->G * mass[star + b];
        for (size_t b = first_body(e); b < e->bodies; b++)
            for (size_t c = 0; c < 3; c++) {
                double *at = number_of(e, p, i, b, c);
                at[0] = pos[star + b][c] - (e->ias15 ? centre[c] : pos[star][c]);
                at[3 * p->n] = vel[star + b][c] - centre[3 + c];
            }
    }
}

static int place(nbody_ensemble *e, cl_uint dev)
{
    struct part *p = &e->part[dev];
    p->pace = pace_of(1e8);
    p->first = e->systems * dev / e->ndev;
    p->n = e->systems * (dev + 1) / e->ndev - p->first;
    if (p->n == 0)
        return 0;
    p->state = clmalloc(e->ctx, 6 * (e->bodies - first_body(e)) * p->n * sizeof *p->state,
                        CL_MEM_ZEROCOPY);
    p->gm = clmalloc(e->ctx, e->bodies * p->n * sizeof *p->gm, CL_MEM_ZEROCOPY);
    return p->state && p->gm ? 0 : -1;
}

static int send(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    return p->n && (clmsync(e->ctx, dev, p->state, CL_MEM_DEVICE) == (cl_event)-1 ||
                    clmsync(e->ctx, dev, p->gm, CL_MEM_DEVICE) == (cl_event)-1)
               ? -1
               : 0;
}

static int has_doubles(const nbody_ensemble *e, cl_uint dev)
{
    cl_uint width = 0;
    if (device_ask(e->ctx, dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width, &width,
                   "nbody_ensemble_create") != 0)
        return -1;
    return width ? 0
                 : clerror_set(ENOTSUP, "nbody_ensemble_create: device %u has no double precision",
                               dev);
}

static int open_kernel(nbody_ensemble *e)
{
    char options[32];
    snprintf(options, sizeof options, "-D PLANETS=%zu", e->bodies - 1);
    e->program = embedded_open(e->ctx, options, e->ias15 ? &source_ias15 : &source, 0, NULL);
    e->kernel = e->program ? clsym(e->ctx, e->program, "ensemble", 0) : NULL;
    return e->kernel ? 0 : -1;
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Operations of a step of a device's systems. */
static double work(const nbody_ensemble *e, const struct part *p)
{
    const double planets = (double)e->bodies - 1;
    return (double)p->n * planets * (OPERATIONS + 20 * planets) * (e->ias15 ? STEPS_OF_IAS15 : 1);
}

static int start(nbody_ensemble *e, cl_uint dev, cl_uint n, cl_uint steps)
{
    struct part *p = &e->part[dev];
    clndrange_t ndr = clndrange_init1d(0, (p->n + GROUP - 1) / GROUP * GROUP, GROUP);
    return clforkv(e->ctx, dev, e->kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                   ARGS(p->state, p->gm, n, e->dt, steps)) == (cl_event)-1
               ? -1
               : clflush(e->ctx, dev, 0);
}

static int launch(nbody_ensemble *e, cl_uint dev, cl_uint steps)
{
    struct part *p = &e->part[dev];
    pace_started(&p->pace, work(e, p) * steps);
    return start(e, dev, (cl_uint)p->n, steps);
}

/* So many steps as all devices make in a slice of time. */
static size_t slice(const nbody_ensemble *e, size_t steps)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        const double fit = p->n ? pace_slice(&p->pace) / work(e, p) : (double)steps;
        steps = fit < 1 ? 1 : fit < (double)steps ? (size_t)fit : steps;
    }
    return steps < (size_t)1 << 30 ? steps : (size_t)1 << 30;
}

static int wait_all(nbody_ensemble *e)
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

/* Once on no systems, since drivers compile at the first launch. */
static int warm(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && start(e, d, 0, 0) != 0)
            return -1;
    return wait_all(e);
}

/* ---- Made and freed. ------------------------------------------------------------------------- */

nbody_ensemble *nbody_ensemble_create(const struct nbody_ensemble_options *o, size_t systems,
                                      size_t bodies, const double *mass, const double (*pos)[3],
                                      const double (*vel)[3])
{
    o = o ? o : &(const struct nbody_ensemble_options){.ctx = NULL};
    if (check(o, systems, bodies, mass, pos, vel) != 0)
        return NULL;
    CLCONTEXT *ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (clgetndev(ctx) == 0)
        return clerror_set(ENODEV, "nbody_ensemble_create: there is no OpenCL device"), NULL;
    nbody_ensemble *e = calloc(1, sizeof *e);
    if (!e)
        return clerror_set(ENOMEM, "nbody_ensemble_create: no memory on the host"), NULL;
    *e = (nbody_ensemble){.ctx = ctx,
                          .systems = systems,
                          .bodies = bodies,
                          .G = o->G > 0 ? o->G : 1,
                          .dt = o->dt,
                          .ias15 = o->integrator == NBODY_IAS15,
                          .ndev = clgetndev(ctx),
                          .progress = o->progress,
                          .arg = o->arg};
    e->part = calloc(e->ndev, sizeof *e->part);
    e->centre = malloc(systems * sizeof *e->centre);
    int status = e->part && e->centre
                     ? 0
                     : clerror_set(ENOMEM, "nbody_ensemble_create: no memory on the host");
    for (cl_uint d = 0; d < e->ndev && status == 0; d++)
        status = has_doubles(e, d) == 0 ? place(e, d) : -1;
    if (status == 0)
        status = open_kernel(e);
    for (cl_uint d = 0; d < e->ndev && status == 0; d++) {
        write_systems(e, &e->part[d], mass, pos, vel);
        status = send(e, d);
    }
    if (status == 0 && warm(e) == 0)
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
        some = slice(e, steps - done);
        for (cl_uint d = 0; d < e->ndev; d++)
            if (e->part[d].n && launch(e, d, (cl_uint)some) != 0)
                return -1;
        if (wait_all(e) != 0)
            return -1;
        e->steps += some;
        if (progress_cancels(e->progress, e->arg, (double)(done + some), (double)steps) &&
            done + some < steps)
            return clerror_set(ECANCELED, "nbody_ensemble_step: stopped after step %zu", e->steps);
    }
    return 0;
}

/* ---- Out. ------------------------------------------------------------------------------------ */

/* A system as the caller had it. */
static void read_all(const nbody_ensemble *e, const struct part *p, size_t i, double (*pos)[3],
                     double (*vel)[3])
{
    const double *centre = e->centre[p->first + i], t = nbody_ensemble_time(e);
    for (size_t b = 0; b < e->bodies; b++)
        for (size_t c = 0; c < 3; c++) {
            const double *at = number_of(e, p, i, b, c);
            pos[b][c] = centre[c] + t * centre[3 + c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
}

/* The same: the star is where the planets leave it, its momentum what they lack. */
static void read_system(const nbody_ensemble *e, const struct part *p, size_t i, double (*pos)[3],
                        double (*vel)[3])
{
    const double *gm = p->gm + i, *centre = e->centre[p->first + i], t = nbody_ensemble_time(e);
    double all = 0;
    if (e->ias15) {
        read_all(e, p, i, pos, vel);
        return;
    }
    for (size_t b = 0; b < e->bodies; b++)
        all += gm[b * p->n];
    for (size_t c = 0; c < 3; c++) {
        double x = 0, v = 0;
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = number_of(e, p, i, b, c);
            x += gm[b * p->n] * at[0];
            v += gm[b * p->n] * at[3 * p->n];
        }
        pos[0][c] = centre[c] + t * centre[3 + c] - x / all;
        vel[0][c] = centre[3 + c] - v / gm[0];
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = number_of(e, p, i, b, c);
            pos[b][c] = pos[0][c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
    }
}

static int fetch(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && clmsync(e->ctx, d, e->part[d].state, CL_MEM_HOST) == (cl_event)-1)
            return -1;
    return wait_all(e);
}

int nbody_ensemble_state(nbody_ensemble *e, double (*pos)[3], double (*vel)[3])
{
    if (no_handle(e, __func__))
        return -1;
    if (fetch(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t i = 0; i < e->part[d].n; i++) {
            double x[MOST_BODIES][3], v[MOST_BODIES][3];
            const size_t star = (e->part[d].first + i) * e->bodies;
            read_system(e, &e->part[d], i, x, v);
            if (pos)
                memcpy(pos + star, x, e->bodies * sizeof *x);
            if (vel)
                memcpy(vel + star, v, e->bodies * sizeof *v);
        }
    return 0;
}

static double energy_of(const struct part *p, size_t i, size_t bodies, double G, double (*x)[3],
                        double (*v)[3])
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
    if (fetch(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t i = 0; i < e->part[d].n; i++) {
            double x[MOST_BODIES][3], v[MOST_BODIES][3];
            read_system(e, &e->part[d], i, x, v);
            energy[e->part[d].first + i] = energy_of(&e->part[d], i, e->bodies, e->G, x, v);
        }
    return 0;
}

/* ---- As bytes. --------------------------------------------------------------------------------
 * The head; the centres of mass; then number by number of the device's state, each of all
 * systems. */

struct saved_head {
    uint64_t systems, bodies, steps, ias15;
    double G, dt;
};

static size_t numbers(const nbody_ensemble *e)
{
    return 6 * (e->bodies - first_body(e));
}

size_t nbody_ensemble_save_bytes(const nbody_ensemble *e)
{
    if (no_handle(e, __func__))
        return 0;
    return sizeof(struct saved_head) +
           e->systems * (sizeof *e->centre + numbers(e) * sizeof(double));
}

static struct saved_head head_of(const nbody_ensemble *e)
{
    return (struct saved_head){e->systems, e->bodies, e->steps, e->ias15, e->G, e->dt};
}

/* Between the devices' images on the host and all systems' numbers. */
static void copy_states(const nbody_ensemble *e, char *all, bool out)
{
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t k = 0; k < numbers(e); k++) {
            const struct part *p = &e->part[d];
            char *const at = all + (k * e->systems + p->first) * sizeof(double);
            double *const own = p->state + k * p->n;
            if (p->n)
                memcpy(out ? (void *)at : own, out ? (const void *)own : at, p->n * sizeof *own);
        }
}

int nbody_ensemble_save(nbody_ensemble *e, void *to)
{
    if (no_handle(e, __func__))
        return -1;
    const struct saved_head h = head_of(e);
    const size_t centres = e->systems * sizeof *e->centre;
    if (fetch(e) != 0)
        return -1;
    memcpy(to, &h, sizeof h);
    memcpy((char *)to + sizeof h, e->centre, centres);
    copy_states(e, (char *)to + sizeof h + centres, true);
    return 0;
}

int nbody_ensemble_load(nbody_ensemble *e, const void *from, size_t size)
{
    if (no_handle(e, __func__))
        return -1;
    struct saved_head h = {.systems = 0};
    const struct saved_head own = head_of(e);
    const size_t centres = e->systems * sizeof *e->centre;
    if (size >= sizeof h)
        memcpy(&h, from, sizeof h);
    if (size != nbody_ensemble_save_bytes(e) || h.systems != own.systems ||
        h.bodies != own.bodies || h.ias15 != own.ias15 || h.G < own.G || h.G > own.G ||
        h.dt < own.dt || h.dt > own.dt)
        return clerror_set(
            EINVAL,
            "nbody_ensemble_load: these bytes were saved by an ensemble with other systems, another integrator, G or step");
    memcpy(e->centre, (const char *)from + sizeof h, centres);
    copy_states(e, (char *)(uintptr_t)from + sizeof h + centres, false);
    e->steps = h.steps;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (send(e, d) != 0)
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
