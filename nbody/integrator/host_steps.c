/* host_steps.c - fixed and adaptive steps of few bodies on the host, by one thread in doubles.
 *
 * A copy of the numbers before some steps, or before a step of adaptive length, serves to find the
 * step that failed, and to undo it.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host_state.h"

#include "core/handle.h"

#include <math.h>

enum {
    MAX_BODIES = 4096,
    CHUNK_STEPS = 256 /* steps between checks for numbers that are not finite */
};
static const double CHUNK_PAIRS = 1e7; /* pairs summed between progress reports */

/* ---- Choice. --------------------------------------------------------------------------------- */

/* Return the option that steps on the host do not support, or NULL. */
static const char *host_obstacle(const struct nbody *nb, const struct nbody_options *o)
{
    if (!nb->integrator->few)
        return "this integrator";
    if (nb->stepping == NBODY_BLOCK)
        return "block steps";
    if (!nbody_has_doubles(nb))
        return "single precision";
    if (nb->kernel != NBODY_TUNED)
        return "baseline kernels";
    if (nb->method != NBODY_DIRECT)
        return "tree";
    if (world_size(o->world) > 1)
        return "several ranks";
    return nb->n > MAX_BODIES ? "more than 4096 bodies" : NULL;
}

static int host_refuse(const struct nbody *nb, const char *obstacle)
{
    return nb->integrator->few_only
               ? clerror_set(EINVAL,
                             "nbody_create: the integrator %s computes on the host, which does not "
                             "support %s",
                             nb->integrator->info.name, obstacle)
               : clerror_set(
                     EINVAL,
                     "nbody_create: NBODY_ON_HOST does not support %s; use NBODY_ON_DEVICES",
                     obstacle);
}

static bool host_is_required(const struct nbody *nb, const struct nbody_options *o)
{
    return nb->integrator->few_only || o->place == NBODY_ON_HOST;
}

/* Forces from files are the kernels of a device. */
bool nbody_host_decided(const struct nbody *nb, const struct nbody_options *o)
{
    if (nbody_added_from_files(nb))
        return false;
    if (nb->integrator->host || host_is_required(nb, o))
        return true;
    return o->place == NBODY_ON_FASTER && o->method != NBODY_TREE && nb->n <= NBODY_FEW &&
           !host_obstacle(nb, o);
}

int nbody_host_choose(struct nbody *nb, const struct nbody_options *o, const double *mass)
{
    const struct host_scheme *const few = nb->integrator->few;
    const char *const obstacle = host_obstacle(nb, o);
    const bool required = host_is_required(nb, o);
    nb->whfast = o->whfast;
    nb->trace = o->trace;
    if (nb->integrator->host_check && nb->integrator->host_check(nb, mass[0]) != 0)
        return -1;
    if (nb->integrator->host || (o->place == NBODY_ON_DEVICES && !required))
        return 0;
    if (required && obstacle)
        return host_refuse(nb, obstacle);
    nb->on_host = required || (!obstacle && nb->n <= NBODY_FEW && !nbody_added_from_files(nb));
    if (!nb->on_host)
        return 0;
    const size_t used = strlen(nb->method_text);
    snprintf(nb->method_text + used, sizeof nb->method_text - used,
             "; steps on the host%s, in double precision",
             required ? ", as requested" : "; the bodies are few");
    return few->check ? few->check(nb, mass[0]) : 0;
}

enum nbody_place nbody_place(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return NBODY_ON_DEVICES;
    return nbody_runs_on_host(nb) ? NBODY_ON_HOST : NBODY_ON_DEVICES;
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

static bool host_is_finite(const struct few_state *h)
{
    double all = 0; /* NaN if a number is infinite or NaN */
    for (size_t k = 0; k < h->changing; k++)
        all += 0 * h->plane[k];
    return all == 0;
}

static void host_keep_old(struct few_state *h)
{
    memcpy(h->old, h->plane, h->changing * sizeof *h->old);
}

static void host_restore_old(struct few_state *h)
{
    memcpy(h->plane, h->old, h->changing * sizeof *h->old);
}

static void host_advance(struct nbody *nb, struct few_state *h, size_t steps)
{
    nb->integrator->few->steps(&h->b, nbody_engine_dt(nb), steps);
}

/* Make a step of fixed length with forces of the caller. If one fails, the state before the step
 * remains. */
static int host_run_added(struct nbody *nb, struct few_state *h)
{
    host_keep_old(h);
    nbody_few_set_time(nb, nbody_engine_time(nb));
    host_advance(nb, h, 1);
    const bool failed = nbody_added_failed(nb);
    if (failed || !host_is_finite(h)) {
        host_restore_old(h);
        nbody_added_begin(nb); /* the state is a good one again */
        return failed ? -1 : nbody_step_not_finite(nb, "time step");
    }
    nb->integration.steps++;
    nb->integration.evaluations += integrator_stages(nb);
    return 0;
}

/* Make steps of fixed length. If one fails, the state before it remains. */
static int host_run_fixed(struct nbody *nb, struct few_state *h, size_t steps)
{
    host_keep_old(h);
    host_advance(nb, h, steps);
    if (!host_is_finite(h)) {
        host_restore_old(h);
        for (size_t k = 0; k < steps; k++) {
            host_keep_old(h);
            host_advance(nb, h, 1);
            if (!host_is_finite(h)) {
                host_restore_old(h);
                return nbody_step_not_finite(nb, "time step");
            }
            nb->integration.steps++;
        }
        return 0;
    }
    nb->integration.steps += steps;
    nb->integration.evaluations += (double)(steps * (size_t)integrator_stages(nb));
    return 0;
}

static int host_read_rows(struct nbody *nb, double (*x)[3], double (*v)[3])
{
    const struct host_bodies *const b = &nb->integration.few->b;
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < 3; c++) {
            x[i][c] = b->x[c * b->stride + i];
            v[i][c] = b->v[c * b->stride + i];
        }
    return 0;
}

static int host_vanished(struct nbody *nb)
{
    double(*const x)[3] = malloc(2 * nb->n * sizeof *x);
    if (!x)
        return clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    host_read_rows(nb, x, x + nb->n);
    const int status = nbody_step_vanished(nb, x[0]);
    free(x);
    return status;
}

/* Return the level of the step that begins at tick `now`; above DEEPEST if its length vanishes. */
static int host_level(const struct nbody *nb, const struct few_state *h, cl_ulong now)
{
    const double longest = fabs(nbody_engine_dt(nb));
    int level = 0;
    if (!nb->integrator->few->wanted)
        return nbody_adaptive_level(nb, nbody_host_criterion(&h->b), now);
    const double wanted = nb->integrator->few->wanted(&h->b, longest);
    while (level <= DEEPEST && !(ldexp(longest, -level) <= wanted))
        level++;
    return nbody_adaptive_align(level, now);
}

/* Make the steps dt / 2^k within the call's step number `done` of the engine from *tick on, up to a
 * contact. Return their number; -1 on error. */
static double host_run_inner(struct nbody *nb, struct few_state *h, struct watch_path *path,
                             double done, cl_ulong *tick)
{
    const double dt = nb->integration.dt;
    double blocks = 0;
    int contact = 0;
    while (*tick < TICKS && !contact) {
        const int level = host_level(nb, h, *tick);
        if (level > DEEPEST)
            return host_vanished(nb);
        nb->integration.dt = ldexp(dt, -level);
        host_advance(nb, h, 1);
        nb->integration.dt = dt;
        *tick += TICKS >> level;
        contact = nbody_watch_inner_step(nb, path, ldexp(nbody_engine_dt(nb), -level));
        nbody_progress_set_done(nb, done + (double)*tick / (double)TICKS);
        if (contact < 0 ||
            (fmod(++blocks, CHUNK_STEPS) == 0 && !contact && nbody_progress_report(nb) != 0))
            return -1;
    }
    return blocks;
}

/* Make a step of the engine, or complete it, up to a contact. */
static int host_run_adaptive(struct nbody *nb, struct few_state *h, double done)
{
    struct watch_path path;
    cl_ulong tick = nbody_watch_tick(nb);
    if (nbody_watch_open(nb, &path, host_read_rows) != 0)
        return -1;
    const double blocks = host_run_inner(nb, h, &path, done, &tick);
    nbody_watch_close(&path);
    if (blocks < 0)
        return -1;
    if (!host_is_finite(h))
        return nbody_step_not_finite(nb, "eta");
    nb->integration.counts.blocks += blocks;
    nb->integration.counts.steps += blocks * (double)nb->n;
    nb->integration.evaluations += blocks * integrator_stages(nb);
    nbody_watch_set_tick(nb, tick);
    return 0;
}

/* As host_run_adaptive; a step that fails or is cancelled is undone. */
static int host_try_adaptive(struct nbody *nb, struct few_state *h, double done)
{
    host_keep_old(h);
    const int status = host_run_adaptive(nb, h, done);
    if (status != 0)
        host_restore_old(h);
    return status;
}

/* Steps between two progress reports. */
static size_t host_chunk(const struct nbody *nb, size_t left)
{
    const double pairs = (double)nb->n * (double)nb->n / 2 * integrator_stages(nb),
                 fitting = fmax(1, fmin(CHUNK_STEPS, CHUNK_PAIRS / pairs));
    const bool by_step = nb->stepping != NBODY_FIXED || nbody_added_apply(nb);
    const size_t most = by_step ? 1 : (size_t)fitting;
    return left < most ? left : most;
}

static int host_run_steps(struct nbody *nb, struct few_state *h, size_t steps)
{
    for (size_t done = 0; done < steps && !nbody_watch_ends(nb);) {
        const size_t chunk = host_chunk(nb, steps - done);
        const int status = h->b.added                    ? host_run_added(nb, h)
                           : nb->stepping == NBODY_FIXED ? host_run_fixed(nb, h, chunk)
                                                         : host_try_adaptive(nb, h, (double)done);
        if (status != 0)
            return status;
        done += chunk;
        nbody_progress_set_done(nb, (double)done);
        nbody_progress_set_stoppable(nb, done < steps);
        if (!nbody_watch_ends(nb) && nbody_progress_report(nb) != 0)
            return -1; /* the caller sees contacts first */
    }
    return 0;
}

static int host_steps_run(struct nbody *nb, size_t steps)
{
    struct few_state *const h = nb->integration.few;
    nbody_progress_begin(nb, "nbody_step", (double)steps);
    if (steps == 0)
        return 0;
    if (nbody_few_download(nb) != 0)
        return -1;
    const int status = host_run_steps(nb, h, steps); /* the steps before a failure count */
    nbody_few_stepped(nb);
    return status != 0 && nb->task.stopped
               ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->integration.steps)
               : status;
}

static bool host_steps_apply(const struct nbody *nb)
{
    return nb->on_host;
}

static bool host_steps_watch(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE;
}

const struct stepper nbody_stepper_few = {
    .applies = host_steps_apply,
    .open = nbody_few_open,
    .run = host_steps_run,
    .free = nbody_few_free,
    .watches = host_steps_watch,
};
