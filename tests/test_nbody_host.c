/* Steps of few bodies on the host: compared with the scalar references, with extrapolation in long
 * double and with Kepler's equation; equal bits for all call boundaries and vector lengths.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"
#include "nbody/reference/nbody_ref.h"

/* The sums over pairs once more, without vector instructions. */
#define HOST_LANES_PLAIN
#define nbody_host_accelerate plain_accelerate
#define nbody_host_add_pairs plain_add_pairs
#define nbody_host_criterion plain_criterion
#define nbody_host_kick_drift plain_kick_drift
#define nbody_host_leapfrog plain_leapfrog
#define nbody_host_begin plain_begin
#define nbody_host_add_fields plain_add_fields
#define nbody_host_derive plain_derive
#define nbody_host_potentials plain_potentials
#define nbody_host_field_potential plain_field_potential
#include "nbody/integrator/host_pairs.c"
#undef nbody_host_accelerate
#undef nbody_host_add_pairs
#undef nbody_host_criterion
#undef nbody_host_kick_drift
#undef nbody_host_leapfrog
#undef nbody_host_begin
#undef nbody_host_add_fields
#undef nbody_host_derive
#undef nbody_host_potentials
#undef nbody_host_field_potential
void nbody_host_accelerate(const struct host_bodies *b);
double nbody_host_criterion(const struct host_bodies *b);
void nbody_host_leapfrog(const struct host_bodies *b, double dt);

#define PI 3.14159265358979323846

enum { MOST = 4100 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], softening[MOST];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

static nbody *host_engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.precision = o.precision ? o.precision : NBODY_DOUBLE;
    o.place = NBODY_ON_HOST;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    assert_int_equal(nbody_place(nb), NBODY_ON_HOST);
    return nb;
}

/* True if the scheme needs one softening, and the options have several. */
static bool options_are_refused(enum nbody_integrator integrator, size_t options)
{
    return integrator == NBODY_HERMITE6 && options == 2;
}

/* Twenty steps with every feature of the forces, in units far from 1. */
static void host_matches_reference(void **state)
{
    static const enum nbody_integrator integrators[] = {
        NBODY_LEAPFROG, NBODY_YOSHIDA4, NBODY_TAYLOR, NBODY_HERMITE4, NBODY_HERMITE6};
    static const size_t counts[] = {1, 3, 9, 100};
    static const struct nbody_field fields[] = {{NBODY_FIELD_POINT, 0.7, 0},
                                                {NBODY_FIELD_PLUMMER, 2, 0.5},
                                                {NBODY_FIELD_LOGARITHMIC, 1e-3, 20}};
    (void)state;
    for (size_t k = 0; k < 4 * 5 * 4; k++) {
        if (options_are_refused(integrators[k / 4 % 5], k / 20))
            continue;
        const size_t n = counts[k % 4], options = k / 20;
        const enum nbody_integrator integrator = integrators[k / 4 % 5];
        struct nbody_options o = {.integrator = integrator, .G = 1e-6, .eps = 3, .dt = 300};
        works(nbody_initial(NBODY_PLUMMER, n > 1 ? n : 2, k, mass, pos, vel));
        for (size_t i = 0; i < n; i++) {
            softening[i] = 1 + (double)i / 7;
            mass[i] = i == 2 ? 0 : mass[i];
            for (int c = 0; c < 3; c++) {
                pos[i][c] *= 100;
                vel[i][c] *= 1e-4;
            }
        }
        o.eps = options == 1 ? 0 : o.eps;
        o.softening = options == 2 ? softening : NULL;
        o.fields = fields;
        o.nfields = options == 3 ? 3 : 0;
        const struct nbody_ref_system s = {n,        o.G,       o.eps,       mass,
                                           o.fields, o.nfields, o.softening, NULL};
        memcpy(pos2, pos, sizeof pos2);
        memcpy(vel2, vel, sizeof vel2);
        works(nbody_ref_run_in(&s, integrator, o.dt, 20, pos2, vel2));
        nbody *nb = host_engine(o, n);
        works(nbody_step(nb, 20));
        works(nbody_state(nb, pos1, vel1));
        assert_true(largest_difference(n, pos1, pos2) < 1e-11);
        assert_true(largest_difference(n, vel1, vel2) < 1e-15);
        nbody_free(nb);
    }
}

/* Adaptive steps follow an eccentric orbit, which the devices' steps follow as well. */
static void host_adaptive_steps_follow_an_ellipse(void **state)
{
    static const enum nbody_integrator integrators[] = {NBODY_LEAPFROG, NBODY_YOSHIDA4,
                                                        NBODY_HERMITE4, NBODY_HERMITE6};
    static const double eta[] = {1e-4, 1e-4, 0.005, 1e-3};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(integrators); k++) {
        const double e = 0.9;
        memset(pos, 0, sizeof pos);
        memset(vel, 0, sizeof vel);
        mass[0] = 1;
        mass[1] = 1e-3;
        pos[1][0] = 1 + e;
        vel[1][1] = sqrt(1.001 * (1 - e) / (1 + e));
        struct nbody_options o = {.integrator = integrators[k],
                                  .stepping = NBODY_ADAPTIVE,
                                  .eta = eta[k],
                                  .dt = PI / sqrt(1.001)};
        double blocks, device_blocks;
        nbody *nb = host_engine(o, 2);
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos1, NULL));
        nbody_block_counts(nb, &blocks, NULL);
        nbody_free(nb);
        const double error = k % 2 ? 1e-8 : 1e-5;
        assert_true(hypot(pos1[1][0] - pos1[0][0] + 1 - e, pos1[1][1] - pos1[0][1]) < error);
        o.ctx = stddev;
        o.precision = NBODY_DOUBLE;
        nb = nbody_create(&o, 2, mass, (rows)pos, (rows)vel);
        ready(nb);
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos2, NULL));
        nbody_block_counts(nb, &device_blocks, NULL);
        assert_true(largest_difference(2, pos1, pos2) < 1e-12);
        assert_true(fabs(blocks - device_blocks) <= 2 && blocks > 100);
        nbody_free(nb);
    }
}

/* Neither call boundaries nor queries nor a saved state change a bit; a run can go back. */
static void host_call_boundaries_change_no_bit(void **state)
{
    static const enum nbody_integrator integrators[] = {
        NBODY_LEAPFROG, NBODY_YOSHIDA4, NBODY_TAYLOR, NBODY_HERMITE4, NBODY_HERMITE6};
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    for (size_t k = 0; k < 2 * COUNT_OF(integrators); k++) {
        const struct nbody_options o = {.integrator = integrators[k / 2],
                                        .stepping = k % 2 ? NBODY_ADAPTIVE : NBODY_FIXED,
                                        .precision = k % 2 || k > 4 ? NBODY_DOUBLE : NBODY_MIXED,
                                        .dt = 1. / 64,
                                        .eps = 0.01};
        nbody *whole = host_engine(o, 20), *parts = host_engine(o, 20);
        for (int i = 0; i < 20; i++) /* other units, which loading replaces */
            pos[i][0] *= 64;
        nbody *loaded = host_engine(o, 20);
        for (int i = 0; i < 20; i++)
            pos[i][0] /= 64;
        double seconds;
        works(nbody_step(whole, 12));
        works(nbody_time_forces(parts, 1, &seconds));
        for (int i = 0; i < 4; i++) {
            (void)total_energy(parts);
            works(nbody_step(parts, 2));
            works(nbody_forces(parts, pos1, NULL));
        }
        const size_t size = nbody_save_bytes(parts);
        char *bytes = malloc(size);
        assert_non_null(bytes);
        works(nbody_save(parts, bytes));
        works(nbody_load(loaded, bytes, size));
        free(bytes);
        works(nbody_step(loaded, 4));
        works(nbody_state(whole, pos1, vel1));
        works(nbody_state(loaded, pos2, vel2));
        assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 20 * sizeof *vel1);
        assert_true(nbody_time(loaded) == 12. / 64 && nbody_steps(loaded) == 12);
        works(nbody_set_dt(loaded, -1. / 64));
        works(nbody_step(loaded, 12));
        works(nbody_state(loaded, pos2, NULL));
        if (k % 2 == 0 && k < 4) /* leapfrog and yoshida4 */
            assert_true(largest_difference(20, pos, pos2) < 1e-12);
        nbody_free(whole);
        nbody_free(parts);
        nbody_free(loaded);
    }
}

/* A snapshot holds the state of its time, whatever steps follow before it is read. */
static void host_snapshot_is_not_overwritten(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    for (int k = 0; k < 20; k++) {
        nbody *nb = host_engine(
            (struct nbody_options){
                .dt = 1. / 64, .eps = 0.01, .integrator = k % 2 ? NBODY_IAS15 : NBODY_LEAPFROG},
            20);
        const size_t size = nbody_save_bytes(nb);
        char *saved = malloc(size), *snapshot = malloc(size);
        assert_true(saved && snapshot);
        works(nbody_step(nb, 1));
        works(nbody_save(nb, saved));
        works(nbody_snapshot_begin(nb));
        works(nbody_step(nb, 1));
        works(nbody_snapshot_read(nb, snapshot));
        assert_memory_equal(saved, snapshot, size);
        free(saved);
        free(snapshot);
        nbody_free(nb);
    }
}

/* Pictures, which devices sample, show the state of the host. */
static void host_positions_are_current(void **state)
{
    static float at[20][3], with[20][3];
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    nbody *nb = host_engine((struct nbody_options){.dt = 1. / 64, .eps = 0.01}, 20);
    for (int k = 0; k < 3; k++) {
        works(nbody_step(nb, 1));
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos1, vel1));
        works(nbody_positions(nb, 20, NULL, at, with));
        works(nbody_state(nb, pos2, vel2));
        assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 20 * sizeof *vel1);
        for (int i = 0; i < 60; i++)
            assert_true(at[i / 3][i % 3] == (float)pos1[i / 3][i % 3] &&
                        with[i / 3][i % 3] == (float)vel1[i / 3][i % 3]);
    }
    nbody_free(nb);
}

static void host_bits_do_not_depend_on_vectors(void **state)
{
    static double number[2][24 * 104] __attribute__((aligned(64)));
    struct host_bodies b[2];
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 100, 5, mass, pos, vel));
    for (int k = 0; k < 2; k++) {
        double *p = number[k];
        for (size_t i = 0; i < 100; i++) {
            p[12 * 104 + i] = mass[i];
            for (size_t c = 0; c < 3; c++) {
                p[c * 104 + i] = pos[i][c];
                p[(3 + c) * 104 + i] = vel[i][c];
            }
        }
        for (size_t i = 0; i < 104; i++)
            p[13 * 104 + i] = i < 100 ? 1e-5 : 1;
        b[k] = (struct host_bodies){.n = 100,
                                    .stride = 104,
                                    .x = p,
                                    .v = p + 3 * 104,
                                    .a = p + 6 * 104,
                                    .gm = p + 12 * 104,
                                    .e2 = p + 13 * 104,
                                    .work = p + 14 * 104};
    }
    nbody_host_accelerate(&b[0]);
    plain_accelerate(&b[1]);
    for (int step = 0; step < 100; step++) {
        nbody_host_leapfrog(&b[0], 1. / 64);
        plain_leapfrog(&b[1], 1. / 64);
    }
    assert_true(nbody_host_criterion(&b[0]) == plain_criterion(&b[1]));
    assert_memory_equal(number[0], number[1], sizeof number[0]);
}

static int host_stop_at(void *share, double done)
{
    return done >= *(double *)share;
}

static void host_cancelled_steps_are_undone(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    for (int k = 0; k < 2; k++) {
        double share = 0.51;
        struct nbody_options o = {.stepping = k ? NBODY_ADAPTIVE : NBODY_FIXED,
                                  .dt = k ? 0.125 : 1. / 1024,
                                  .eps = 0.01,
                                  .progress = host_stop_at,
                                  .arg = &share};
        const size_t all = k ? 9 : 1000;
        nbody *nb = host_engine(o, 20);
        fails(ECANCELED, nbody_step(nb, all));
        const size_t done = nbody_steps(nb);
        assert_true(done >= all / 3 && done < all);
        share = 2;
        works(nbody_step(nb, all - done));
        works(nbody_state(nb, pos1, vel1));
        nbody_free(nb);
        o.progress = NULL;
        nb = host_engine(o, 20);
        works(nbody_step(nb, all));
        works(nbody_state(nb, pos2, vel2));
        assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 20 * sizeof *vel1);
        nbody_free(nb);
    }
}

/* A failure is named, with the state before the step that failed. */
static void host_failures_are_named(void **state)
{
    (void)state;
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = mass[1] = mass[2] = 1;
    pos[0][0] = 50;
    pos[1][0] = 1;
    nbody *nb = host_engine((struct nbody_options){.stepping = NBODY_ADAPTIVE, .dt = 0.5}, 3);
    assert_int_equal(nbody_step(nb, 10), -1);
    assert_int_equal(clerrno, EDOM);
    assert_non_null(
        strstr(clerror(), "bodies 1 and 2 (from 0 on) come so close that the time step vanishes"));
    works(nbody_state(nb, pos1, NULL));
    assert_true(nbody_steps(nb) < 3 && pos1[1][0] > pos1[2][0]);
    nbody_free(nb);

    char sentence[80];
    vel[0][1] = 1e300;
    nb = host_engine((struct nbody_options){.dt = 1e6, .eps = 1}, 3);
    assert_int_equal(nbody_step(nb, 20000), -1);
    assert_int_equal(clerrno, EDOM);
    snprintf(sentence, sizeof sentence, "became NaN or infinite in step %zu ", nbody_steps(nb) + 1);
    assert_non_null(strstr(clerror(), sentence));
    works(nbody_state(nb, pos1, NULL));
    assert_true(nbody_steps(nb) > 100 && pos1[0][1] > 1e307 && !isnan(pos1[1][0]));
    nbody_free(nb);
}

/* Two bodies at one place do not attract each other. */
static void host_coincident_bodies_do_not_attract(void **state)
{
    (void)state;
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = mass[1] = mass[2] = 1;
    pos[0][0] = 1;
    for (int k = 0; k < 2; k++) {
        nbody *nb = host_engine(
            (struct nbody_options){.stepping = k ? NBODY_ADAPTIVE : NBODY_FIXED, .dt = 1e-3}, 3);
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos1, vel1));
        assert_true(vel1[1][0] == vel1[2][0] && fabs(vel1[1][0] - 1e-3) < 1e-8);
        assert_true(fabs(vel1[0][0] + 2e-3) < 1e-8);
        nbody_free(nb);
    }
}

static enum nbody_place place_of(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.place = NBODY_ON_FASTER;
    o.dt = 0.01;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    const enum nbody_place place = nbody_place(nb);
    assert_true((place == NBODY_ON_HOST) == (strstr(nbody_explain_method(nb), "host") != NULL));
    nbody_free(nb);
    return place;
}

/* Compare numbers with those of the devices, relative to the largest. */
static void assert_all_near(size_t n, const double *host, const double *device)
{
    double size = 0, off = 0;
    for (size_t k = 0; k < n; k++) {
        size = fmax(size, fabs(device[k]));
        off = fmax(off, fabs(host[k] - device[k]));
    }
    assert_true(off <= 1e-13 * size);
}

static void query_both(struct nbody_options o, size_t n)
{
    struct nbody_diagnostics d[2];
    const int built = builds_called;
    nbody *nb = host_engine(o, n);
    works(nbody_forces(nb, pos1, pos1[n]));
    works(nbody_diagnose(nb, &d[0]));
    assert_int_equal(builds_called, built);
    nbody_free(nb);
    o.ctx = stddev;
    o.precision = NBODY_DOUBLE;
    nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    works(nbody_forces(nb, pos2, pos2[n]));
    works(nbody_diagnose(nb, &d[1]));
    nbody_free(nb);
    assert_all_near(3 * n, pos1[0], pos2[0]);
    assert_all_near(n, pos1[n], pos2[n]);
    assert_all_near(3, &d[0].kinetic, &d[1].kinetic); /* kinetic, potential, total */
    assert_all_near(3, d[0].momentum, d[1].momentum);
    assert_all_near(3, d[0].angular_momentum, d[1].angular_momentum);
    assert_all_near(1, &d[0].virial_ratio, &d[1].virial_ratio);
}

/* The devices' sums are tested against references. Options: softening, none, one per body,
 * fields. */
static void host_queries_build_no_kernel_and_match_devices(void **state)
{
    static const struct nbody_field fields[] = {{NBODY_FIELD_POINT, 0.7, 0},
                                                {NBODY_FIELD_PLUMMER, 2, 0.5},
                                                {NBODY_FIELD_LOGARITHMIC, 1e-3, 20}};
    static const size_t counts[] = {1, 3, 9, 100};
    (void)state;
    for (size_t k = 0; k < 4 * 4; k++) {
        const size_t n = counts[k % 4], options = k / 4;
        works(nbody_initial(NBODY_PLUMMER, n > 1 ? n : 2, k, mass, pos, vel));
        for (size_t i = 0; i < n; i++) {
            softening[i] = 0.1 + (double)i / 700;
            mass[i] = i == 2 ? 0 : mass[i];
        }
        memcpy(pos[n / 2], pos[0], sizeof *pos); /* two bodies at one place */
        query_both((struct nbody_options){.dt = 1,
                                          .G = 1e-6,
                                          .eps = options == 0 ? 0.01 : 0,
                                          .softening = options == 2 ? softening : NULL,
                                          .fields = fields,
                                          .nfields = options == 3 || n == 1 ? 3 : 0},
                   n);
    }
}

static void host_is_chosen_for_few_bodies(void **state)
{
    const enum nbody_precision p = NBODY_DOUBLE;
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, MOST, 1, mass, pos, vel));
    assert_int_equal(place_of((struct nbody_options){.precision = p}, NBODY_FEW), NBODY_ON_HOST);
    assert_int_equal(place_of((struct nbody_options){.precision = p}, NBODY_FEW + 1),
                     NBODY_ON_DEVICES);
    assert_int_equal(place_of((struct nbody_options){.precision = NBODY_SINGLE}, 3),
                     NBODY_ON_DEVICES);
    if (clgetndev(stddev) == 1)
        assert_int_equal(place_of((struct nbody_options){.precision = p, .kernel = NBODY_TILED}, 3),
                         NBODY_ON_DEVICES);
    assert_int_equal(
        place_of((struct nbody_options){.precision = p, .method = NBODY_TREE, .eps = 0.1}, 3),
        NBODY_ON_DEVICES);
    assert_int_equal(place_of((struct nbody_options){.precision = p,
                                                     .integrator = NBODY_HERMITE4,
                                                     .stepping = NBODY_ADAPTIVE},
                              3),
                     NBODY_ON_HOST);
    assert_int_equal(place_of((struct nbody_options){.precision = p,
                                                     .integrator = NBODY_HERMITE4,
                                                     .stepping = NBODY_BLOCK},
                              3),
                     NBODY_ON_DEVICES);
}

static void host_refuses_other_options(void **state)
{
    struct nbody_options o = {.ctx = stddev, .dt = 1, .place = NBODY_ON_HOST};
    (void)state;
    assert_null(nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
    assert_non_null(strstr(clerror(), "does not support single precision"));
    o.precision = NBODY_DOUBLE;
    assert_null(nbody_create(&o, 4097, mass, (rows)pos, (rows)vel));
    assert_non_null(strstr(clerror(), "does not support more than 4096 bodies"));
    o.method = NBODY_TREE;
    assert_null(nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
    assert_non_null(strstr(clerror(), "does not support tree"));
    o.place = (enum nbody_place)7;
    assert_null(nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
    assert_non_null(strstr(clerror(), "there is no place 7"));
}

/* An engine on devices does not continue a run on the host. */
static void host_state_is_refused_by_devices(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    struct nbody_options o = {.ctx = stddev, .precision = NBODY_DOUBLE, .dt = 0.01, .eps = 0.1};
    nbody *host = host_engine(o, 20), *device = nbody_create(&o, 20, mass, (rows)pos, (rows)vel);
    ready(device);
    const size_t size = nbody_save_bytes(host);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    works(nbody_save(host, bytes));
    assert_int_equal(nbody_load(device, bytes, size), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_non_null(strstr(clerror(), "place of its steps"));
    free(bytes);
    nbody_free(host);
    nbody_free(device);
}

static void compare_two_engines(nbody *one, nbody *two, size_t n)
{
    struct nbody_diagnostics d[2];
    float few[2][2][3];
    memset(d, 0, sizeof d);
    works(nbody_state(one, pos1, vel1));
    works(nbody_state(two, pos2, vel2));
    assert_memory_equal(pos1, pos2, n * sizeof *pos1);
    assert_memory_equal(vel1, vel2, n * sizeof *vel1);
    works(nbody_forces(one, pos1, vel1[0]));
    works(nbody_forces(two, pos2, vel2[0]));
    assert_memory_equal(pos1, pos2, n * sizeof *pos1);
    assert_memory_equal(vel1, vel2, n * sizeof *vel1[0]);
    works(nbody_diagnose(one, &d[0]));
    works(nbody_diagnose(two, &d[1]));
    assert_memory_equal(&d[0], &d[1], sizeof d[0]);
    works(nbody_positions(one, 2, (const uint32_t[]){2, 0}, few[0], NULL));
    works(nbody_positions(two, 2, (const uint32_t[]){2, 0}, few[1], NULL));
    assert_memory_equal(few[0], few[1], sizeof few[0]);
}

/* Steps, saves and loads of an engine without a context have the bits of one with a context, and
 * each continues a run of the other one. Calls that need kernels say so. */
static void host_engine_needs_no_device(void **state)
{
    static const struct nbody_field field = {NBODY_FIELD_PLUMMER, 2, 0.5};
    struct nbody_force_errors errors;
    double seconds;
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 7, 3, mass, pos, vel));
    mass[0] = 100;
    for (int k = 0; k <= NBODY_TRACE + 2; k++) {
        const bool again = k > NBODY_TRACE, planets = !again && integrates_planets(k);
        struct nbody_options o = {.integrator = again ? NBODY_LEAPFROG : (enum nbody_integrator)k,
                                  .stepping = k == NBODY_TRACE + 1 ? NBODY_ADAPTIVE : NBODY_FIXED,
                                  .precision = k == NBODY_IAS15 ? NBODY_SINGLE : NBODY_DOUBLE,
                                  .softening = k == NBODY_TRACE + 2 ? softening : NULL,
                                  .forces = k == NBODY_IAS15 ? "nfw:M=1,a=2" : NULL,
                                  .fields = &field,
                                  .nfields = k == NBODY_LEAPFROG,
                                  .megno = k == NBODY_WHFAST,
                                  .place = NBODY_ON_FASTER,
                                  .eps = planets ? 0 : 0.1,
                                  .dt = 1e-3};
        nbody *none = nbody_create(&o, 7, mass, (rows)pos, (rows)vel);
        ready(none);
        o.ctx = stddev;
        nbody *device = nbody_create(&o, 7, mass, (rows)pos, (rows)vel);
        ready(device);
        assert_int_equal(nbody_place(none), NBODY_ON_HOST);
        assert_int_equal(nbody_devices(none), 0);
        assert_int_equal(nbody_device_bodies(none, 0), 0);
        assert_int_equal(nbody_device_bytes(none), 0);
        assert_string_equal(nbody_shape(none, 0), "");
        assert_true(nbody_peak_rate(none) == 0);
        works(nbody_step(none, 20));
        works(nbody_step(device, 20));
        compare_two_engines(none, device, 7);
        const size_t size = nbody_save_bytes(none);
        assert_int_equal(size, nbody_save_bytes(device));
        char *const bytes = malloc(2 * size);
        assert_non_null(bytes);
        works(nbody_snapshot_begin(none));
        works(nbody_save(device, bytes + size));
        works(nbody_step(none, 5));
        works(nbody_step(device, 10));
        works(nbody_snapshot_read(none, bytes));
        assert_memory_equal(bytes, bytes + size, size);
        works(nbody_load(none, bytes, size));
        works(nbody_step(none, 10));
        compare_two_engines(none, device, 7);
        fails(ENODEV, nbody_time_forces(none, 1, &seconds));
        fails(ENODEV, nbody_check_forces(none, 1, 1, &errors));
        works(nbody_step(none, 1));
        free(bytes);
        nbody_free(none);
        nbody_free(device);
    }
}

/* A saved state belongs to its forces, softening and scheme. Forces follow nbody_set_clock. */
static void host_load_refuses_other_options(void **state)
{
    static const struct nbody_field field = {NBODY_FIELD_PLUMMER, 2, 0.5};
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 4, 3, mass, pos, vel));
    const struct nbody_options o = {.precision = NBODY_DOUBLE,
                                    .place = NBODY_ON_HOST,
                                    .dt = 0.01,
                                    .eps = 0.1,
                                    .forces = "orbit:M=1,centre=1,a=2"};
    struct nbody_options other[5] = {o, o, o, o, o};
    nbody *nb = nbody_create(&o, 4, mass, (rows)pos, (rows)vel);
    ready(nb);
    const size_t size = nbody_save_bytes(nb);
    char *const bytes = malloc(size);
    assert_non_null(bytes);
    works(nbody_save(nb, bytes));
    works(nbody_load(nb, bytes, size));
    other[0].forces = "orbit:M=1,centre=1,a=2.5";
    other[1].forces = NULL;
    other[2].fields = &field;
    other[2].nfields = 1;
    other[3].eps = 0.2;
    other[4].softening = softening;
    for (int k = 0; k < 5; k++) {
        nbody *const second = nbody_create(&other[k], 4, mass, (rows)pos, (rows)vel);
        ready(second);
        assert_int_equal(nbody_load(second, bytes, size), -1);
        assert_int_equal(clerrno, EINVAL);
        assert_non_null(strstr(clerror(), k < 3 ? "forces beside gravity" : "softening"));
        nbody_free(second);
    }
    free(bytes);
    for (int k = 0; k < 2; k++) { /* the point is at (2, 0, 0), then at (-2, 0, 0) */
        const double period = 2 * PI * sqrt(8. / 2);
        works(nbody_forces(nb, pos1, NULL));
        nbody_set_clock(nb, k ? 0 : period / 2, 0);
        works(nbody_forces(nb, pos2, NULL));
        for (size_t i = 0; i < 4; i++) {
            const double x = pos[i][0], yz = pos[i][1] * pos[i][1] + pos[i][2] * pos[i][2],
                         right = (2 - x) / pow((2 - x) * (2 - x) + yz, 1.5),
                         left = (-2 - x) / pow((2 + x) * (2 + x) + yz, 1.5),
                         change = k ? right - left : left - right;
            assert_true(fabs(pos2[i][0] - pos1[i][0] - change) < 1e-12 * (1 + fabs(change)));
        }
    }
    nbody_free(nb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_matches_reference),
        cmocka_unit_test(host_adaptive_steps_follow_an_ellipse),
        cmocka_unit_test(host_call_boundaries_change_no_bit),
        cmocka_unit_test(host_snapshot_is_not_overwritten),
        cmocka_unit_test(host_positions_are_current),
        cmocka_unit_test(host_bits_do_not_depend_on_vectors),
        cmocka_unit_test(host_cancelled_steps_are_undone),
        cmocka_unit_test(host_failures_are_named),
        cmocka_unit_test(host_coincident_bodies_do_not_attract),
        cmocka_unit_test(host_queries_build_no_kernel_and_match_devices),
        cmocka_unit_test(host_is_chosen_for_few_bodies),
        cmocka_unit_test(host_engine_needs_no_device),
        cmocka_unit_test(host_load_refuses_other_options),
        cmocka_unit_test(host_refuses_other_options),
        cmocka_unit_test(host_state_is_refused_by_devices)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
