/* nbody.c - create and free an engine; upload of bodies.
 *
 * Numbers are converted from the caller's units to the engine's here, and back in state.c,
 * simulation/forces.c and diagnose.c. The other files are listed in engine.h.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/clock.h"
#include "core/grid_barrier.h"
#include "core/no_device.h"
#include "core/reserved.h"

#include "nbody/particles/body_blocks.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>

/* In mixed precision r^-3 is a float. Lengths up to 2^24 keep it in range for bodies 1e-12 of the
 * system's size apart. */
enum { MIXED_LENGTH_BITS = UNITS_MOST_BITS };

/* In mixed precision, coordinates are counted from the centre of mass, rounded to this grid. A run
 * and one that restarts from its bodies mostly use the same centre. */
static const double MIXED_GRID = 0x1p10;

/* Rows, and numbers of bodies in the tree, have 32 bits. */
#define MAX_BODIES ((size_t)UINT32_MAX - 65535)

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
    if ((unsigned)o->place > NBODY_ON_FASTER)
        return clerror_set(EINVAL, "nbody_create: there is no place %d", (int)o->place);
    if ((unsigned)o->stepping > NBODY_BLOCK)
        return clerror_set(EINVAL, "nbody_create: there is no stepping %d", (int)o->stepping);
    if (o->first_number != 0 && o->first_number != 1)
        return clerror_set(EINVAL,
                           "nbody_create: the first body has the number %d; it must be 0 or 1",
                           o->first_number);
    if (!(o->eta >= 0 && o->eta <= 1))
        return clerror_set(EINVAL,
                           "nbody_create: an eta of %g; it must be a number above 0 and at most 1",
                           o->eta);
    if (o->megno && ((o->integrator != NBODY_WHFAST && o->integrator != NBODY_IAS15) ||
                     o->precision == NBODY_SINGLE))
        return clerror_set(EINVAL, "nbody_create: MEGNO needs the integrator NBODY_WHFAST or "
                                   "NBODY_IAS15, and double or mixed precision");
    if (o->megno && n < 2)
        return clerror_set(EINVAL, "nbody_create: MEGNO needs at least 2 bodies; there is 1");
    if (o->megno && (o->nfields || (o->forces && o->forces[strspn(o->forces, "\n")])))
        return clerror_set(EINVAL,
                           "nbody_create: MEGNO supports no fields or forces beside gravity");
    if (reserved_check("nbody_create", o->whfast.reserved) != 0 ||
        reserved_check("nbody_create", o->trace.reserved) != 0)
        return -1;
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

/* Check this rank's slice, or all bodies. */
static int nbody_check_bodies(const struct nbody *nb, const double *mass, const double (*pos)[3],
                              const double (*vel)[3])
{
    if (!mass || !pos || !vel)
        return clerror_set(EINVAL, "nbody_create: mass, pos or vel is NULL");
    struct given g = {mass, pos, vel, NULL, false};
    nbody_each_block(nbody_slices_count(nb), check_body_block, &g);
    if (!g.wrong)
        return 0;
    size_t i = 0;
    int c = 0;
    while (body_is_valid(mass[i], pos[i], vel[i]))
        i++;
    const size_t number = nbody_number(nb, nbody_slices_first(nb) + i);
    if (!isfinite(mass[i]) || mass[i] < 0)
        return clerror_set(EINVAL,
                           "nbody_create: body %zu has the mass %g; it must be a number >= 0",
                           number, mass[i]);
    while (isfinite(pos[i][c]) && isfinite(vel[i][c]))
        c++;
    return clerror_set(EINVAL, "nbody_create: body %zu: %s %c is %g; it must be a finite number",
                       number, isfinite(pos[i][c]) ? "velocity" : "position", "xyz"[c],
                       isfinite(pos[i][c]) ? vel[i][c] : pos[i][c]);
}

/* ---- Sums over the caller's bodies. ---------------------------------------------------------- */

/* The bodies of this rank's slice, or all, for sums in the bodies' order: each rank adds its bodies
 * to the sums of the ranks before. */
struct summing {
    size_t count, n; /* bodies here; all */
    double G;
    const double *mass, (*pos)[3], *origin;
    double all;            /* total mass / n */
    double first;          /* mass of the first body */
    atomic_bool different; /* a mass differs from it */
    bool equal;            /* all masses of all ranks are equal */
};

static int sum_bodies(const struct nbody *nb, struct summing *s, size_t sums, double *sum,
                      void (*add)(void *sum, void *summing))
{
    stdcl_world *const world = nb->domain.slice ? nb->world : NULL;
    return nbody_slices_in_turn(world, sum, sums * sizeof *sum, add, s);
}

/* Add x >= 0 to a sum k times, with the rounding of k additions, in O(log k). Between two powers of
 * two each addition changes the sum by one amount, once a tie has made the sum even. */
static double add_repeatedly(double sum, double x, size_t k)
{
    while (k-- > 0) {
        const int exponent = ilogb(sum);
        sum += x;
        const double step = sum + x - sum;
        if (ilogb(sum) != exponent)
            continue;
        if (!(step > 0))
            return sum;
        const double fit = (ldexp(1, exponent + 1) - sum) / step;
        const size_t some = fit < 2 ? 0 : fit - 1 < (double)k ? (size_t)fit - 1 : k;
        sum += (double)some * step;
        k -= some;
    }
    return sum;
}

static void add_masses(void *sum, void *summing)
{
    const struct summing *s = summing;
    double *const all = sum;
    if (s->equal)
        *all = add_repeatedly(*all, s->G * s->mass[0], s->count);
    for (size_t i = 0; !s->equal && i < s->count; i++)
        *all += s->G * s->mass[i];
}

static void add_mean_masses(void *sum, void *summing)
{
    const struct summing *s = summing;
    for (size_t i = 0; i < s->count; i++)
        *(double *)sum += s->mass[i] / (double)s->n;
}

static void add_weighted_positions(void *sum, void *summing)
{
    const struct summing *s = summing;
    double *centre = sum;
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < s->count; i++)
            centre[c] += s->mass[i] / (double)s->n / s->all * (s->pos[i][c] - s->origin[c]);
}

/* Set nb->mass to the power of two at or below G times the total mass; 0 without mass. */
static int find_mass(struct nbody *nb, struct summing *s)
{
    double sum = 0;
    s->G = nb->G;
    s->equal = nb->uniform;
    if (sum_bodies(nb, s, 1, &sum, add_masses) != 0)
        return -1;
    nb->mass = sum > 0 ? ldexp(1, ilogb(sum)) : 0;
    return 0;
}

static void compare_mass_block(void *summing, size_t block, size_t first, size_t end)
{
    struct summing *s = summing;
    bool equal = true;
    (void)block;
    for (size_t i = first; i < end; i++)
        equal &= s->mass[i] == s->first;
    if (!equal)
        s->different = true;
}

static int find_equal_masses(struct nbody *nb, struct summing *s)
{
    s->first = s->mass[0];
    if (nb->domain.slice && world_broadcast(nb->world, 0, &s->first, sizeof s->first) != 0)
        return -1;
    nbody_each_block(s->count, compare_mass_block, s);
    uint64_t different = s->different;
    if (nb->domain.slice && world_add(nb->world, &different, 1) != 0)
        return -1;
    nb->uniform = !different && s->first > 0;
    return 0;
}

/* Find the centre of mass; without mass, the first body. */
static int nbody_find_centre(struct nbody *nb, struct summing *s)
{
    double origin[3];
    memcpy(origin, s->pos[0], sizeof origin);
    if (nb->domain.slice && world_broadcast(nb->world, 0, origin, sizeof origin) != 0)
        return -1;
    memcpy(nb->centre, origin, sizeof origin);
    s->origin = origin;
    s->all = 0;
    if (sum_bodies(nb, s, 1, &s->all, add_mean_masses) != 0)
        return -1;
    const int status = s->all > 0 && isfinite(s->all)
                           ? sum_bodies(nb, s, 3, nb->centre, add_weighted_positions)
                           : 0;
    s->origin = NULL;
    return status;
}

/* ---- Devices and memory. --------------------------------------------------------------------- */

/* Decide whether bodies are stored along a curve: with the tree, and from cluster_min bodies on in
 * mixed precision. All ranks use rank 0's cluster_min. */
static int nbody_choose_sorting(struct nbody *nb)
{
    uint64_t least = (uint64_t)nb->device[0].shape.cluster_min;
    if (world_broadcast(nb->world, 0, &least, sizeof least) != 0)
        return -1;
    nb->particles.sorted =
        nb->method == NBODY_TREE || (nb->precision == NBODY_MIXED && nb->stepping == NBODY_FIXED &&
                                     nb->n >= least && !nbody_runs_on_host(nb));
    for (cl_uint d = 0; nbody_is_clustered(nb) && d < nb->ndev; d++)
        if (nbody_shape_cluster(&nb->device[d].shape) != 0)
            return -1;
    return 0;
}

static int allocate_bodies(struct nbody *nb)
{
    if (nbody_particles_allocate(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows &&
            (nbody_particles_allocate_device(nb, p) != 0 || nbody_device_allocate(nb, p) != 0))
            return -1;
    return 0;
}

static int allocate_sums(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && (nbody_forces_allocate(nb, p) != 0 || nbody_diagnose_allocate(nb, p) != 0))
            return -1;
    return nbody_method_open(nb);
}

/* ---- Kernels of sums and updates. ------------------------------------------------------------ */

/* Collective. Agree on a part of the creation that each rank does by itself: all ranks leave
 * nbody_create at the same place, so that no rank waits for one that has left. */
static int agree(const struct nbody *nb, bool done)
{
    return world_reduce_status(nb->world, done ? 0 : -1);
}

static int build(struct nbody *nb)
{
    const bool done = nbody_forces_open(nb) == 0 && nbody_integrator_open(nb) == 0 &&
                      nbody_field_open(nb) == 0 && nbody_diagnose_open(nb) == 0;
    return agree(nb, done) == 0 ? nbody_method_prepare(nb) : -1;
}

/* EINVAL if a device has more bodies than it can number. */
static int check_division(const struct nbody *nb)
{
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if ((nb->domain.tree ? p->count : nb->n) > NBODY_DEVICE_BODIES)
            return clerror_set(EINVAL,
                               "nbody_create: %zu bodies; a device has at most %zu, and only the "
                               "tree divides them among devices; use NBODY_TREE on more devices",
                               nb->n, NBODY_DEVICE_BODIES);
    return 0;
}

/* Upload the bodies and sort them. With domains of the tree the sort finds the order only, and the
 * bodies are then written in it: a permutation of rows moves each number several times. */
static int upload_bodies(struct nbody *nb, const double *mass, const double (*pos)[3],
                         const double (*vel)[3])
{
    const bool again = nb->domain.tree && !nb->domain.slice;
    int status = world_reduce_status(nb->world, nbody_particles_upload(nb, mass, pos, vel, again));
    if (status == 0)
        status = nbody_hilbert_open(nb, !again);
    if (status == 0 && again)
        status = world_reduce_status(nb->world, nbody_particles_upload_sorted(nb, mass, pos, vel));
    return status;
}

/* The last step of opening: the bodies have been uploaded. */
static int warm_up(struct nbody *nb)
{
    if (nbody_integrate_warm_up(nb) != 0)
        return -1;
    nb->simulation.sums_are_open = true;
    return 0;
}

int nbody_simulation_open_sums(struct nbody *nb)
{
    if (nb->simulation.sums_are_open)
        return 0;
    return build(nb) == 0 && allocate_sums(nb) == 0 && nbody_added_open(nb, true) == 0 &&
                   nbody_added_upload(nb) == 0
               ? warm_up(nb)
               : -1;
}

/* ---- Division. ------------------------------------------------------------------------------- */

/* What nbody_create was called with. */
struct trial {
    const struct nbody_options *options;
    const double *mass, (*pos)[3], (*vel)[3];
};

/* Bodies of the smallest slice of all ranks; all bodies without slices. */
static size_t smallest_slice(const struct nbody *nb)
{
    const size_t *first = nb->domain.slice;
    size_t least = nb->n;
    for (int k = 0; first && k < world_size(nb->world); k++)
        least = first[k + 1] - first[k] < least ? first[k + 1] - first[k] : least;
    return least;
}

/* Return the interactions per second of one device alone, from the second of two evaluations for
 * up to 16,384 bodies, an equal number on all ranks; 0 on error. */
static double measure_device_rate(struct nbody *nb, cl_uint dev, const void *arg)
{
    const struct trial *t = arg;
    const size_t least = smallest_slice(nb), n = least < 16384 ? least : 16384;
    struct nbody_options trial = *t->options;
    double rate = 0, *shares = calloc(nb->ndev, sizeof *shares);
    if (!shares)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host"), 0;
    shares[dev] = 1;
    trial.ctx = nb->ctx;
    trial.shares = shares;
    trial.world = NULL;
    trial.first = trial.count = 0;
    trial.progress = NULL;
    trial.integrator = NBODY_TAYLOR;
    trial.stepping = NBODY_FIXED;
    trial.place = NBODY_ON_DEVICES;
    trial.forces = NULL;
    trial.dt = DBL_MIN; /* nothing moves, so that no position overflows */
    nbody *one = nbody_create(&trial, n, t->mass, t->pos, t->vel);
    if (one && nbody_step(one, 1) == 0) {
        const double start = seconds_now();
        if (nbody_step(one, 1) == 0)
            rate = (double)n * (double)n / (seconds_now() - start);
    }
    nbody_free(one);
    free(shares);
    return rate;
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
    if (status == 0 && nb->ctx)
        status = clgetdevinfo(nb->ctx, info);
    if (status == 0)
        status = nbody_device_open(nb, info, o->shape);
    status = world_reduce_status(nb->world, status);
    if (status == 0)
        status = world_reduce_status(nb->world, nbody_choose_sorting(nb));
    if (status == 0)
        status = nbody_domain_divide(nb, info, o, measure_device_rate,
                                     &(struct trial){o, mass, pos, vel});
    free(info);
    return status;
}

/* ENOTSUP for options that several ranks do not support. */
static int nbody_check_ranks(const struct nbody_options *o)
{
    if (world_size(o->world) == 1)
        return 0;
    if (o->stepping != NBODY_FIXED ||
        integrator_is_host_only(nbody_integrator_find(o->integrator)) || o->kernel != NBODY_TUNED)
        return clerror_set(
            ENOTSUP,
            "nbody_create: several ranks support only fixed steps on devices, with the tuned kernel");
    if (o->count && (o->softening || (o->forces && o->forces[strspn(o->forces, "\n")])))
        return clerror_set(
            ENOTSUP, "nbody_create: slices of bodies support no softenings of single bodies "
                     "and no forces beside gravity and fields; let all ranks pass all bodies");
    return 0;
}

/* Choose units by bodies, fields and forces. */
static int choose_units(struct nbody *nb, const struct nbody_options *o, const double *mass,
                        const double (*pos)[3])
{
    enum { MOST = 128 }; /* fields and forces */
    struct nbody_field all[MOST];
    const size_t forces = nbody_added_fields(nb, all);
    for (size_t k = 0; k < o->nfields; k++)
        all[forces + k] = o->fields[k];
    return nbody_units_choose(
        nb->domain.slice ? nb->world : NULL, nb->G, nbody_slices_count(nb), mass, pos, nb->centre,
        nb->precision == NBODY_MIXED ? MIXED_LENGTH_BITS : 0, all, forces + o->nfields, &nb->units);
}

/* Find the centre, the units and what is to be known of the masses. */
static int examine_bodies(struct nbody *nb, const struct nbody_options *o, const double *mass,
                          const double (*pos)[3])
{
    struct summing s = {.count = nbody_slices_count(nb), .n = nb->n, .mass = mass, .pos = pos};
    if ((nb->precision == NBODY_MIXED && nbody_find_centre(nb, &s) != 0) ||
        choose_units(nb, o, mass, pos) != 0)
        return -1;
    for (int c = 0; c < 3; c++)
        nb->centre[c] = MIXED_GRID * rint(ldexp(nb->centre[c], -nb->units.length) / MIXED_GRID);
    if (find_equal_masses(nb, &s) != 0 || find_mass(nb, &s) != 0)
        return -1;
    return nbody_units_check(nb, pos);
}

/* Choose the devices. Without a context of the caller, an engine for the host opens none. */
static int choose_devices(struct nbody *nb, const struct nbody_options *o)
{
    if (!o->ctx && nbody_host_decided(nb, o)) {
        nb->ndev = 1;
        return 0;
    }
    nb->ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    nb->ndev = clgetndev(nb->ctx);
    return nb->ndev
               ? 0
               : clerror_set(ENODEV, "nbody_create: there is no OpenCL device; " NO_DEVICE_REMEDY);
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
    struct nbody *nb = calloc(1, sizeof *nb);
    if (checked == 0 && !nb)
        checked = clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    if (world_reduce_status(o->world, checked) != 0)
        return free(nb), NULL;
    *nb = (struct nbody){.ctx = o->ctx,
                         .integrator = nbody_integrator_find(o->integrator),
                         .precision = o->precision,
                         .kernel = o->kernel,
                         .accuracy = o->accuracy > 0 ? o->accuracy : 1e-3,
                         .stepping = o->stepping,
                         .real = o->precision == NBODY_SINGLE ? sizeof(float) : sizeof(double),
                         .G = o->G > 0 ? o->G : 1,
                         .eps = o->eps,
                         .integration = {.dt = o->dt, .valid.synchronized = true},
                         .n = n,
                         .batch = o->burst ? o->burst : MAX_BATCH,
                         .shares_given = o->shares != NULL,
                         .flags = CL_EVENT_NOWAIT,
                         .task = {.progress = o->progress, .arg = o->arg},
                         .world = o->world,
                         .first_number = o->first_number,
                         .fused_disabled = fused_disabled};
    const bool by_body = nb->stepping != NBODY_FIXED && nb->integrator->block_steps;
    nb->eta = nb->stepping == NBODY_FIXED ? 0 : o->eta > 0 ? o->eta : default_eta(nb);
    nb->megno = o->megno != 0;
    nb->planes = nb->integrator->planes + by_body + (nb->megno ? NBODY_TANGENT_PLANES : 0);
    nb->batch = nb->batch < MAX_BATCH ? nb->batch : MAX_BATCH;
    if (nbody_slices_open(nb, o) == 0 &&
        agree(nb, nbody_check_bodies(nb, mass, pos, vel) == 0 && nbody_added_copy(nb, o) == 0 &&
                      choose_devices(nb, o) == 0) == 0 &&
        agree(nb, examine_bodies(nb, o, mass, pos) == 0 && nbody_field_copy(nb, o) == 0 &&
                      nbody_softening_copy(nb, o->softening) == 0 && nbody_mixed_check(nb) == 0 &&
                      nbody_host_check(nb) == 0 && nbody_stepping_check(nb) == 0 &&
                      nbody_baseline_check(nb) == 0) == 0 &&
        agree(nb, nbody_method_choose(nb, o->method) == 0 && nbody_host_choose(nb, o, mass) == 0 &&
                      nbody_softening_check(nb) == 0 && nbody_added_check(nb, mass) == 0) == 0 &&
        nbody_prepare(nb, o, mass, pos, vel) == 0 &&
        agree(nb, nbody_added_check_devices(nb) == 0) == 0 &&
        (nbody_runs_on_host(nb) || build(nb) == 0) &&
        agree(nb, check_division(nb) == 0 && allocate_bodies(nb) == 0 &&
                      nbody_added_open(nb, !nbody_runs_on_host(nb)) == 0 &&
                      nbody_field_upload(nb) == 0 && nbody_added_upload(nb) == 0 &&
                      nbody_softening_upload(nb) == 0 &&
                      (nbody_runs_on_host(nb) || allocate_sums(nb) == 0) &&
                      nbody_stepper_open(nb) == 0) == 0 &&
        upload_bodies(nb, mass, pos, vel) == 0 &&
        agree(nb, nbody_runs_on_host(nb) || warm_up(nb) == 0) == 0)
        return nb;
    nbody_free(nb);
    return NULL;
}

nbody *nbody_create(const struct nbody_options *o, size_t n, const double *mass,
                    const double (*pos)[3], const double (*vel)[3])
{
    o = o ? o : &(const struct nbody_options){.ctx = NULL};
    nbody *nb = nbody_create_engine(o, n, mass, pos, vel, false);
    /* the shape is tuned for multi-step launches only */
    if (nb && !nbody_runs_on_host(nb) && nb->device[0].fused_entry &&
        !nb->device[0].force.multi_step_kernel) {
        nbody_free(nb);
        nb = nbody_create_engine(o, n, mass, pos, vel, true);
    }
    return nb;
}

void nbody_free(nbody *nb)
{
    if (!nb)
        return;
    nbody_sample_free(nb);
    nbody_save_free(nb);
    nbody_stepper_free(nb);
    nbody_method_free(nb);
    nbody_hilbert_free(nb);
    nbody_allgather_free(nb);
    nbody_ranks_free(nb);
    nbody_integrator_free(nb);
    nbody_diagnose_free(nb);
    nbody_forces_free(nb);
    nbody_particles_free(nb);
    nbody_added_free(nb);
    nbody_device_free(nb);
    nbody_field_free(nb);
    nbody_softening_free(nb);
    free(nb);
}
