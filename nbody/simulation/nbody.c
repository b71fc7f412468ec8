/* nbody.c - create and free an engine; upload of bodies.
 *
 * Numbers are converted from the caller's units to the engine's here, and back in state.c,
 * forces_out.c and diagnose.c. The other files are listed in engine.h.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

#include "core/untracked.h"
#include "core/clock.h"
#include "core/grid_barrier.h"
#include "core/reserved.h"

#include "nbody/particles/body_blocks.h"
#include "nbody/domain/ranks.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdatomic.h>

/* In mixed precision r^-3 is a float. Lengths up to 2^24 keep it in range for bodies 1e-12 of the
 * system's size apart. */
enum { MIXED_LENGTH_BITS = 24 };

/* In mixed precision, coordinates are counted from the centre of mass, rounded to this grid. A run
 * and one that restarts from its bodies mostly use the same centre. */
static const double MIXED_GRID = 0x1p10;

#define MAX_BODIES ((size_t)1 << 30)

/* ---- Checks of the caller's data. ------------------------------------------------------------ */

static int nbody_check_options(const struct nbody_options *o, size_t n)
{
    if (n < 1 || n > MAX_BODIES)
        return clerror_set(EINVAL, "nbody_create: %zu bodies; there must be 1 to %zu", n,
                           MAX_BODIES);
    if (!isfinite(o->G) || o->G < 0)
        return clerror_set(
            EINVAL, "nbody_create: a gravitational constant of %g; it must be a number > 0", o->G);
    if (!isfinite(o->eps) || o->eps < 0)
        return clerror_set(
            EINVAL, "nbody_create: a softening length of %g; it must be a number >= 0", o->eps);
    if (!isfinite(o->dt) || o->dt == 0)
        return clerror_set(
            EINVAL, "nbody_create: a time step of %g; it must be a number other than 0", o->dt);
    if (!nbody_integrator_find(o->integrator))
        return clerror_set(EINVAL, "nbody_create: there is no integrator %d", (int)o->integrator);
    if ((unsigned)o->precision > NBODY_MIXED)
        return clerror_set(EINVAL, "nbody_create: there is no precision %d", (int)o->precision);
    if ((unsigned)o->kernel > NBODY_TILED)
        return clerror_set(EINVAL, "nbody_create: there is no kernel %d", (int)o->kernel);
    if ((unsigned)o->method > NBODY_AUTO)
        return clerror_set(EINVAL, "nbody_create: there is no method %d", (int)o->method);
    if (!(o->accuracy >= 0 && o->accuracy <= 0.5))
        return clerror_set(
            EINVAL, "nbody_create: an accuracy of %g; it must be a number above 0 and at most 0.5",
            o->accuracy);
    if (nbody_field_check(o) != 0)
        return -1;
    if ((unsigned)o->stepping > NBODY_BLOCK)
        return clerror_set(EINVAL, "nbody_create: there is no stepping %d", (int)o->stepping);
    if (!(o->eta >= 0 && o->eta <= 1))
        return clerror_set(EINVAL,
                           "nbody_create: an eta of %g; it must be a number above 0 and at most 1",
                           o->eta);
    return reserved_check("nbody_create", o->reserved);
}

/* The caller's bodies, and whether any thread found an invalid one. */
struct given {
    const double *mass, (*pos)[3], (*vel)[3];
    struct nbody *nb;
    atomic_bool wrong;
};

static bool body_is_valid(double mass, const double pos[3], const double vel[3])
{
    bool all = isfinite(mass) && mass >= 0;
    for (int c = 0; c < 3; c++)
        all &= isfinite(pos[c]) && isfinite(vel[c]);
    return all;
}

static void check_body_block(void *given, size_t block, size_t first, size_t end)
{
    struct given *g = given;
    bool all = true;
    (void)block;
    for (size_t i = first; i < end; i++)
        all &= body_is_valid(g->mass[i], g->pos[i], g->vel[i]);
    if (!all)
        g->wrong = true;
}

static int nbody_check_bodies(size_t n, const double *mass, const double (*pos)[3],
                              const double (*vel)[3])
{
    if (!mass || !pos || !vel)
        return clerror_set(EINVAL, "nbody_create: mass, pos or vel is NULL");
    struct given g = {mass, pos, vel, NULL, false};
    nbody_each_block(n, check_body_block, &g);
    if (!g.wrong)
        return 0;
    size_t i = 0;
    int c = 0;
    while (body_is_valid(mass[i], pos[i], vel[i]))
        i++;
    if (!isfinite(mass[i]) || mass[i] < 0)
        return clerror_set(
            EINVAL, "nbody_create: body %zu has the mass %g; it must be a number >= 0", i, mass[i]);
    while (isfinite(pos[i][c]) && isfinite(vel[i][c]))
        c++;
    return clerror_set(EINVAL, "nbody_create: body %zu: %s %c is %g; it must be a finite number", i,
                       isfinite(pos[i][c]) ? "velocity" : "position", "xyz"[c],
                       isfinite(pos[i][c]) ? vel[i][c] : pos[i][c]);
}

/* Return the power of two at or below G times the total mass; 0 without mass. */
static double mass_power_of_two(size_t n, double G, const double *mass)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += G * mass[i];
    return sum > 0 ? ldexp(1, ilogb(sum)) : 0;
}

static bool masses_are_equal(size_t n, const double *mass)
{
    size_t i = 1;
    while (i < n && mass[i] == mass[0])
        i++;
    return i == n && mass[0] > 0;
}

/* Find the centre of mass; without mass, the first body. */
static void nbody_find_centre(size_t n, const double *mass, const double (*pos)[3],
                              double centre[3])
{
    double all = 0;
    for (size_t i = 0; i < n; i++)
        all += mass[i] / (double)n;
    for (int c = 0; c < 3; c++) {
        centre[c] = pos[0][c];
        for (size_t i = 0; i < n && all > 0 && isfinite(all); i++)
            centre[c] += mass[i] / (double)n / all * (pos[i][c] - pos[0][c]);
    }
}

/* ---- Devices and memory. --------------------------------------------------------------------- */

static int nbody_choose_shapes(struct nbody *nb, const struct cldev_info *info, const char *words)
{
    for (cl_uint d = 0; d < nb->ndev; d++) {
        struct nbody_device *p = &nb->device[d];
        if (nbody_has_doubles(nb) && !info[d].dev_pref_vec_double)
            return clerror_set(ENOTSUP, "nbody_create: %s has no double precision",
                               info[d].dev_name);
        p->dev = d;
        p->pace = pace_of(1e8);
        p->compute_units = info[d].dev_max_core ? info[d].dev_max_core : 1;
        p->untracked = untracked_flag(nb->ctx, d);
        p->barrier_options = grid_barrier_options(nb->ctx, d, &info[d]);
        p->max_polls = grid_barrier_max_polls(&info[d]);
        if (nbody_shape_choose(nb, p, &info[d], words) != 0)
            return -1;
    }
    return 0;
}

/* Decide whether bodies are stored along a curve: with the tree, and from cluster_min bodies on in
 * mixed precision. All ranks use rank 0's cluster_min. */
static int nbody_choose_sorting(struct nbody *nb)
{
    uint64_t least = (uint64_t)nb->device[0].shape.cluster_min;
    if (world_broadcast(nb->world, 0, &least, sizeof least) != 0)
        return -1;
    nb->sorted = nb->method == NBODY_TREE ||
                 (nb->precision == NBODY_MIXED && nb->stepping == NBODY_FIXED && nb->n >= least);
    for (cl_uint d = 0; nbody_is_clustered(nb) && d < nb->ndev; d++)
        if (nbody_shape_cluster(&nb->device[d].shape) != 0)
            return -1;
    return 0;
}

/* Allocate four numbers per body, including padding. If a CPU is the only device, it uses the
 * host's copy. */
static void *alloc_four_per_body(struct nbody *nb)
{
    cl_uint owners = 0;
    for (cl_uint d = 0; d < nb->ndev; d++)
        owners += nb->device[d].rows > 0;
    return clmalloc(nb->ctx, nb->padded * 4 * nb->real,
                    owners == 1 && !nb->ranks ? CL_MEM_ZEROCOPY : 0);
}

static int nbody_allocate_all(struct nbody *nb)
{
    nb->posm = alloc_four_per_body(nb);
    if (!nb->posm)
        return -1;
    if (nbody_forces_sum(nb)->velocities && !(nb->velo = alloc_four_per_body(nb)))
        return -1;
    if (nbody_forces_sum(nb)->accelerations && !(nb->acce = alloc_four_per_body(nb)))
        return -1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].fused_kernel && !(nb->moved = alloc_four_per_body(nb)))
            return -1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        if (nb->device[d].rows && nbody_device_allocate(nb, &nb->device[d]) != 0)
            return -1;
    return 0;
}

/* Write body i to the host images, in engine units. p: its device; NULL if a different rank owns
 * it. */
static void write_body(struct nbody *nb, struct nbody_device *p, size_t i, double gm,
                       const double *pos, const double *vel)
{
    for (size_t c = 0; c < 3; c++) {
        const double x = ldexp(pos[c], -nb->units.length);
        const double v = ldexp(vel[c], nb->units.time - nb->units.length);
        nbody_real_put(nb, nb->posm, 4 * i + c, x);
        if (p)
            nbody_real_put(nb, p->state, (STATE_VEL + c) * p->rows + i - p->first, v);
        if (nb->velo)
            nbody_real_put(nb, nb->velo, 4 * i + c, v);
        if (p && integrator_predicts(nb))
            nbody_real_put(nb, p->state, (STATE_POS + c) * p->rows + i - p->first, x);
    }
    nbody_real_put(nb, nb->posm, 4 * i + 3, ldexp(gm, 2 * nb->units.time - 3 * nb->units.length));
}

/* Padding has no mass and lies so far away that r^-3 is 0 while r^2 is finite. */
static void write_padding(struct nbody *nb)
{
    const double far = nb->precision == NBODY_DOUBLE ? 1e150 : 1e18;
    for (size_t i = nb->n; i < nb->padded; i++)
        for (size_t c = 0; c < 3; c++)
            nbody_real_put(nb, nb->posm, 4 * i + c, far);
}

/* True if a velocity is out of range in engine units. */
static bool too_fast(const struct nbody *nb, const double vel[3])
{
    const double most = nbody_has_doubles(nb) ? DBL_MAX : (double)FLT_MAX;
    bool any = false;
    for (int c = 0; c < 3; c++)
        any |= fabs(ldexp(vel[c], nb->units.time - nb->units.length)) > most;
    return any;
}

static void write_block_of_bodies(void *given, size_t block, size_t first, size_t end)
{
    struct given *g = given;
    (void)block;
    for (size_t i = first; i < end; i++) {
        struct nbody_device *p = g->nb->device, *const last = p + g->nb->ndev;
        while (p < last && (i < p->first || i - p->first >= p->count))
            p++;
        if (too_fast(g->nb, g->vel[i]))
            g->wrong = true;
        write_body(g->nb, p < last ? p : NULL, i, g->nb->G * g->mass[i], g->pos[i], g->vel[i]);
    }
}

static int write_bodies(struct nbody *nb, const double *mass, const double (*pos)[3],
                        const double (*vel)[3])
{
    struct given g = {mass, pos, vel, nb, false};
    nbody_each_block(nb->n, write_block_of_bodies, &g);
    write_padding(nb);
    if (nb->moved)
        memcpy(nb->moved, nb->posm, nb->padded * 4 * nb->real);
    if (!g.wrong)
        return 0;
    size_t i = 0;
    int c = 0;
    while (!too_fast(nb, vel[i]))
        i++;
    while (fabs(vel[i][c]) < fmax(fabs(vel[i][0]), fmax(fabs(vel[i][1]), fabs(vel[i][2]))))
        c++;
    return clerror_set(
        EINVAL, "nbody_create: the velocity of body %zu, %g, is out of range in %s precision", i,
        vel[i][c], nbody_has_doubles(nb) ? "double" : "single");
}

static int nbody_upload_all(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        void *const blocks[] = {nb->posm, p->state, p->bad, nb->velo, nb->acce, nb->moved};
        if (p->rows)
            *p->bad = INT_MAX; /* sums before the first batch read it, too */
        for (size_t b = 0; p->rows && b < COUNT_OF(blocks); b++)
            if (blocks[b] && clmsync(nb->ctx, p->dev, blocks[b], CL_MEM_DEVICE) == (cl_event)-1)
                return -1;
    }
    nb->positions_current = nb->synchronized = true;
    return 0;
}

/* ---- Distribution to devices. ---------------------------------------------------------------- */

static bool devices_are_equal(const struct cldev_info *info, cl_uint ndev)
{
    for (cl_uint d = 1; d < ndev; d++)
        if (strcmp(info[d].dev_name, info[0].dev_name) != 0 ||
            info[d].dev_max_core != info[0].dev_max_core)
            return false;
    return true;
}

/* Return the interactions per second of one device alone, from the second of two evaluations for
 * up to 16,384 bodies; 0 on error. */
static double measure_device_rate(struct nbody *nb, cl_uint dev,
                                  const struct nbody_options *options, const double *mass,
                                  const double (*pos)[3], const double (*vel)[3])
{
    const size_t n = nb->n < 16384 ? nb->n : 16384;
    struct nbody_options trial = *options;
    double rate = 0, *shares = calloc(nb->ndev, sizeof *shares);
    if (!shares)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host"), 0;
    shares[dev] = 1;
    trial.ctx = nb->ctx;
    trial.shares = shares;
    trial.world = NULL;
    trial.progress = NULL;
    trial.integrator = NBODY_TAYLOR;
    trial.stepping = NBODY_FIXED;
    trial.dt = DBL_MIN; /* nothing moves, so that no position overflows */
    nbody *one = nbody_create(&trial, n, mass, pos, vel);
    if (one && nbody_step(one, 1) == 0) {
        const double start = seconds_now();
        if (nbody_step(one, 1) == 0)
            rate = (double)n * (double)n / (seconds_now() - start);
    }
    nbody_free(one);
    free(shares);
    return rate;
}

static int nbody_check_weights(const double *weight, cl_uint ndev)
{
    double all = 0;
    for (cl_uint d = 0; d < ndev; d++) {
        if (!(weight[d] >= 0) || isinf(weight[d]))
            return clerror_set(EINVAL,
                               "nbody_create: the share of device %u is %g; shares must be numbers "
                               ">= 0",
                               d, weight[d]);
        all += weight[d];
    }
    return all > 0 && !isinf(all)
               ? 0
               : clerror_set(EINVAL, "nbody_create: the shares add up to %g", all);
}

/* True if the kind of time steps is limited to one device. */
static bool stepping_needs_one_device(const struct nbody *nb)
{
    return nb->stepping == NBODY_BLOCK ||
           (nb->stepping == NBODY_ADAPTIVE && nb->integrator->block_steps);
}

/* Round to two significant digits. */
static double round_to_two_digits(double x)
{
    const double unit = x > 0 ? pow(10, floor(log10(x)) - 1) : 1;
    return unit * floor(x / unit + 0.5);
}

/* True if N is so small that one of several equal devices is faster than a distributed tree. Adds
 * the reason to nb->method_text. */
static bool single_device_is_faster(struct nbody *nb, const struct nbody_options *options)
{
    const double least = nb->device[0].shape.single_device_max * sqrt(nb->accuracy / 1e-3);
    if (options->shares || nb->ndev == 1 || world_size(nb->world) > 1 || nb->method != NBODY_TREE ||
        (double)nb->n >= least)
        return false;
    const size_t used = strlen(nb->method_text);
    snprintf(nb->method_text + used, sizeof nb->method_text - used,
             "; on one device, as several are faster from about %.0f bodies on",
             round_to_two_digits(least));
    return true;
}

/* Distribute the bodies by the caller's shares, or by the speed of the devices. */
static int nbody_divide(struct nbody *nb, const struct cldev_info *info,
                        const struct nbody_options *options, const double *mass,
                        const double (*pos)[3], const double (*vel)[3])
{
    const bool given = options->shares != NULL, alike = devices_are_equal(info, nb->ndev);
    const bool by_one =
        stepping_needs_one_device(nb) || (alike && single_device_is_faster(nb, options));
    bool equal = alike || by_one;
    if (nbody_ranks_alike(nb, info, &equal) != 0)
        return -1;
    double *weight = calloc(nb->ndev, sizeof *weight);
    if (!weight)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    int status = 0;
    bool taken = false; /* by the single device */
    for (cl_uint d = 0; d < nb->ndev && status == 0; d++) {
        weight[d] = taken   ? 0
                    : given ? options->shares[d]
                    : equal ? 1
                            : measure_device_rate(nb, d, options, mass, pos, vel);
        if (!given && weight[d] == 0 && !taken)
            status = -1;
        taken |= by_one && weight[d] > 0;
    }
    if (status == 0)
        status = nbody_check_weights(weight, nb->ndev);
    size_t tiles = 1;
    for (cl_uint d = 0; d < nb->ndev; d++)
        tiles = least_common_multiple(tiles, (size_t)nb->device[d].shape.tile);
    if (world_reduce_status(nb->world, status) != 0 || nbody_ranks_divide(nb, weight) != 0 ||
        nbody_ranks_multiple(nb, &tiles) != 0)
        status = -1;
    if (status == 0)
        nbody_forces_chunk(nb, tiles);
    free(weight);
    return status;
}

/* ---- Creation. ------------------------------------------------------------------------------- */

/* Choose shapes and distribute the bodies; kernels and device memory follow later. */
static int nbody_prepare(struct nbody *nb, const struct nbody_options *o, const double *mass,
                         const double (*pos)[3], const double (*vel)[3])
{
    struct cldev_info *info = calloc(nb->ndev, sizeof *info);
    nb->device = calloc(nb->ndev, sizeof *nb->device);
    int status =
        info && nb->device ? 0 : clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    if (status == 0)
        status = clgetdevinfo(nb->ctx, info);
    if (status == 0)
        status = nbody_choose_shapes(nb, info, o->shape);
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = world_reduce_status(nb->world, nbody_choose_sorting(nb));
    if (status == 0)
        status = nbody_divide(nb, info, o, mass, pos, vel);
    free(info);
    return status;
}

/* ENOTSUP for options that several ranks do not support. */
static int nbody_check_ranks(const struct nbody_options *o)
{
    if (world_size(o->world) == 1)
        return 0;
    if (o->stepping != NBODY_FIXED || nbody_integrator_find(o->integrator)->host ||
        o->kernel != NBODY_TUNED)
        return clerror_set(
            ENOTSUP,
            "nbody_create: several ranks support only fixed steps on devices, with the tuned kernel");
    return 0;
}

static double default_eta(const struct nbody *nb)
{
    return nb->integrator->block_steps ? 0.01 : nb->stepping == NBODY_BLOCK ? 0.025 : 0.001;
}

static nbody *nbody_create_engine(const struct nbody_options *o, size_t n, const double *mass,
                                  const double (*pos)[3], const double (*vel)[3],
                                  bool fused_disabled)
{
    int checked = nbody_check_options(o, n);
    if (checked == 0)
        checked = nbody_check_ranks(o);
    if (checked == 0)
        checked = nbody_check_bodies(n, mass, pos, vel);
    if (world_reduce_status(o->world, checked) != 0)
        return NULL;
    CLCONTEXT *ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (clgetndev(ctx) == 0)
        return clerror_set(ENODEV, "nbody_create: there is no OpenCL device"), NULL;
    struct nbody *nb = calloc(1, sizeof *nb);
    if (!nb)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host"), NULL;
    *nb = (struct nbody){.ctx = ctx,
                         .integrator = nbody_integrator_find(o->integrator),
                         .precision = o->precision,
                         .kernel = o->kernel,
                         .accuracy = o->accuracy > 0 ? o->accuracy : 1e-3,
                         .stepping = o->stepping,
                         .real = o->precision == NBODY_SINGLE ? sizeof(float) : sizeof(double),
                         .G = o->G > 0 ? o->G : 1,
                         .eps = o->eps,
                         .dt = o->dt,
                         .n = n,
                         .batch = o->burst ? o->burst : MAX_BATCH,
                         .shares_given = o->shares != NULL,
                         .flags = CL_EVENT_NOWAIT,
                         .progress = o->progress,
                         .arg = o->arg,
                         .world = o->world,
                         .fused_disabled = fused_disabled,
                         .ndev = clgetndev(ctx)};
    const bool by_body = nb->stepping != NBODY_FIXED && nb->integrator->block_steps;
    nb->eta = nb->stepping == NBODY_FIXED ? 0 : o->eta > 0 ? o->eta : default_eta(nb);
    nb->planes = nb->integrator->planes + by_body;
    nb->batch = nb->batch < MAX_BATCH ? nb->batch : MAX_BATCH;
    if (nb->precision == NBODY_MIXED)
        nbody_find_centre(n, mass, pos, nb->centre);
    nb->units = nbody_units_choose(nb->G, n, mass, pos, nb->centre,
                                   nb->precision == NBODY_MIXED ? MIXED_LENGTH_BITS : 0, o->fields,
                                   o->nfields);
    for (int c = 0; c < 3; c++)
        nb->centre[c] = MIXED_GRID * rint(ldexp(nb->centre[c], -nb->units.length) / MIXED_GRID);
    nb->uniform = masses_are_equal(n, mass);
    nb->mass = mass_power_of_two(n, nb->G, mass);
    if (nbody_units_check(nb, n, pos) == 0 && nbody_field_copy(nb, o) == 0 &&
        nbody_softening_copy(nb, o->softening) == 0 && nbody_mixed_check(nb) == 0 &&
        nbody_host_check(nb) == 0 && nbody_stepping_check(nb) == 0 &&
        nbody_baseline_check(nb) == 0 && nbody_method_choose(nb, o->method) == 0 &&
        nbody_softening_check(nb) == 0 && nbody_prepare(nb, o, mass, pos, vel) == 0 &&
        nbody_device_build(nb) == 0 && nbody_tree_prepare(nb) == 0 && nbody_allocate_all(nb) == 0 &&
        nbody_field_upload(nb) == 0 && nbody_softening_upload(nb) == 0 &&
        nbody_baseline_open(nb) == 0 && nbody_tree_open(nb) == 0 &&
        nbody_block_steps_open(nb) == 0 && nbody_rungs_open(nb) == 0 &&
        write_bodies(nb, mass, pos, vel) == 0 && nbody_upload_all(nb) == 0 &&
        nbody_hilbert_open(nb) == 0 && nbody_integrate_warm_up(nb) == 0)
        return nb;
    nbody_free(nb);
    return NULL;
}

nbody *nbody_create(const struct nbody_options *o, size_t n, const double *mass,
                    const double (*pos)[3], const double (*vel)[3])
{
    o = o ? o : &(const struct nbody_options){.ctx = NULL};
    nbody *nb = nbody_create_engine(o, n, mass, pos, vel, false);
    if (nb && nb->device[0].fused_entry &&
        !nb->device[0].multi_step_kernel) { /* the shape is tuned for multi-step launches only */
        nbody_free(nb);
        nb = nbody_create_engine(o, n, mass, pos, vel, true);
    }
    if (world_reduce_status(o->world, nb ? 0 : -1) == 0)
        return nb;
    nbody_free(nb);
    return NULL;
}

void nbody_free(nbody *nb)
{
    if (!nb)
        return;
    nbody_sample_free(nb);
    nbody_save_free(nb);
    nbody_baseline_free(nb);
    nbody_block_steps_free(nb);
    nbody_rungs_free(nb);
    nbody_tree_free(nb);
    nbody_hilbert_free(nb);
    nbody_ranks_free(nb);
    nbody_device_free(nb);
    nbody_field_free(nb);
    nbody_softening_free(nb);
    free(nb->device);
    free(nb);
}
