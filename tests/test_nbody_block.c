/* Adaptive steps, individual (block steps) or shared: a scalar reference that keeps times as
 * numbers, Kepler's equation, the energy of a cluster against shared steps, equal bits for every
 * launch shape, saving and resuming, and vanishing steps.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"
#include "deep.h"

#include "nbody/reference/nbody_ref.h"
#include "core/args.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { MOST = 2000 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static enum nbody_precision precision; /* the best that the device has */
static enum nbody_integrator integrator = NBODY_HERMITE4;

static nbody *block_engine(struct nbody_options o, size_t n)
{
    o.ctx = o.ctx ? o.ctx : stddev;
    o.integrator = integrator;
    o.stepping = o.stepping ? o.stepping : NBODY_BLOCK;
    builds_unoptimised = o.shape;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* ---- The reference: the scheme by the literature. -------------------------------------------- */

enum { SMALL = 100 };
struct reference {
    double x[SMALL][3], v[SMALL][3], a[SMALL][3], j[SMALL][3]; /* at the body's own time */
    double time[SMALL], step[SMALL], want[SMALL];
    double blocks, steps;
};

static double size(const double *x)
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static double longest_block_step(double want, double dt)
{
    double step = dt;
    while (step > want)
        step /= 2;
    return step;
}

static void block_correct(struct reference *w, size_t i, double eta, const double *xp,
                          const double *vp, const double *a1, const double *j1)
{
    const double h = w->step[i];
    double a2[3], a3[3];
    for (int c = 0; c < 3; c++) {
        a2[c] = (-6 * (w->a[i][c] - a1[c]) - h * (4 * w->j[i][c] + 2 * j1[c])) / (h * h);
        a3[c] = (12 * (w->a[i][c] - a1[c]) + 6 * h * (w->j[i][c] + j1[c])) / (h * h * h);
        w->x[i][c] = xp[c] + a2[c] * h * h * h * h / 24 + a3[c] * h * h * h * h * h / 120;
        w->v[i][c] = vp[c] + a2[c] * h * h * h / 6 + a3[c] * h * h * h * h / 24;
        w->a[i][c] = a1[c];
        w->j[i][c] = j1[c];
        a2[c] += h * a3[c];
    }
    w->want[i] = fmin(2 * h, sqrt(eta * (size(a1) * size(a2) + size(j1) * size(j1)) /
                                  (size(j1) * size(a3) + size(a2) * size(a2))));
}

/* Advance the reference by one step of dt. */
static void block_reference_step(struct reference *w, size_t n, double eps, double dt, double eta)
{
    static double xp[SMALL][3], vp[SMALL][3], a[SMALL][3], j[SMALL][3];
    if (!(w->want[0] > 0)) {
        nbody_ref_jerk(n, 1, eps, mass, (rows)w->x, (rows)w->v, w->a, w->j);
        for (size_t i = 0; i < n; i++)
            w->want[i] = fmin(sqrt(eta) / 10 * size(w->a[i]) / size(w->j[i]), dt / 1024);
    }
    for (size_t i = 0; i < n; i++) {
        w->time[i] = 0;
        w->step[i] = longest_block_step(w->want[i], dt);
    }
    for (double now = 0; now < dt; w->blocks++) {
        now = dt;
        for (size_t i = 0; i < n; i++)
            now = fmin(now, w->time[i] + w->step[i]);
        for (size_t i = 0; i < n; i++)
            for (int c = 0; c < 3; c++) {
                const double t = now - w->time[i];
                xp[i][c] = w->x[i][c] + t * w->v[i][c] + t * t / 2 * w->a[i][c] +
                           t * t * t / 6 * w->j[i][c];
                vp[i][c] = w->v[i][c] + t * w->a[i][c] + t * t / 2 * w->j[i][c];
            }
        nbody_ref_jerk(n, 1, eps, mass, (rows)xp, (rows)vp, a, j);
        for (size_t i = 0; i < n; i++) {
            if (w->time[i] + w->step[i] > now)
                continue;
            const double h = w->step[i];
            block_correct(w, i, eta, xp[i], vp[i], a[i], j[i]);
            w->time[i] = now;
            w->steps++;
            if (w->want[i] < h)
                w->step[i] = longest_block_step(w->want[i], h);
            else if (w->want[i] >= 2 * h && fmod(now, 2 * h) == 0)
                w->step[i] = 2 * h;
        }
    }
}

static void block_steps_match_reference(void **state)
{
    static struct reference w;
    const double dt = 1. / 8, eps = 1e-3, eta = 0.01;
    double blocks, steps;
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    works(nbody_initial(NBODY_PLUMMER, SMALL, 5, mass, pos, vel));
    memcpy(w.x, pos, sizeof w.x);
    memcpy(w.v, vel, sizeof w.v);
    nbody *nb = block_engine(
        (struct nbody_options){.precision = precision, .eps = eps, .dt = dt, .eta = eta}, SMALL);
    for (int k = 0; k < 4; k++)
        block_reference_step(&w, SMALL, eps, dt, eta);
    works(nbody_step(nb, 4));
    works(nbody_state(nb, pos1, vel1));
    nbody_block_counts(nb, &blocks, &steps);
    print_message("%g blocks, %g steps; off by %.2g and %.2g\n", blocks, steps,
                  largest_difference(SMALL, pos1, w.x), largest_difference(SMALL, vel1, w.v));
    assert_true(blocks == w.blocks && steps == w.steps); /* every decision was the same */
    assert_true(largest_difference(SMALL, pos1, w.x) < 1e-11 &&
                largest_difference(SMALL, vel1, w.v) < 1e-10);
    assert_true(fabs(nbody_interactions(nb) / SMALL - steps) < 1e-6 * steps);
    nbody_free(nb);
}

/* ---- Physics. -------------------------------------------------------------------------------- */

/* Put masses 1 and 2 on an ellipse of semi-major axis 1, at the pericentre; return its period. */
static double block_ellipse(double e)
{
    const double v = sqrt(3 * (1 + e) / (1 - e));
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = 1, mass[1] = 2;
    pos[0][0] = 2 * (1 - e) / 3, pos[1][0] = -(1 - e) / 3;
    vel[0][1] = 2 * v / 3, vel[1][1] = -v / 3;
    return 2 * PI / sqrt(3);
}

/* Return the distance from the solution of Kepler's equation after 3/8 of a period. */
static double kepler_error(double e, double eta, enum nbody_stepping stepping)
{
    const double period = block_ellipse(e), anomaly = 2 * PI * 3 / 8;
    double E = PI;
    for (int i = 0; i < 60; i++)
        E -= (E - e * sin(E) - anomaly) / (1 - e * cos(E));
    nbody *nb = block_engine(
        (struct nbody_options){
            .precision = precision, .dt = period / 8, .eta = eta, .stepping = stepping},
        2);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, pos1, NULL));
    nbody_free(nb);
    return hypot(pos1[0][0] - pos1[1][0] - (cos(E) - e),
                 pos1[0][1] - pos1[1][1] - sqrt(1 - e * e) * sin(E));
}

/* Steps are proportional to eta^1/2, so a sixteenth of eta makes a 4th-order error 256 times
 * smaller on average (steps are powers of two), independent of the eccentricity. */
static void block_kepler_error_is_fourth_order(void **state)
{
    static const double eccentricity[] = {0.5, 0.9, 0.99};
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    for (int s = NBODY_ADAPTIVE; s <= NBODY_BLOCK; s++)
        for (size_t k = 0; k < COUNT_OF(eccentricity); k++) {
            const double e = eccentricity[k],
                         coarse = kepler_error(e, 1e-3, (enum nbody_stepping)s),
                         fine = kepler_error(e, 1e-3 / 16, (enum nbody_stepping)s),
                         order = log2(coarse / fine) / 2;
            print_message("e = %g: %.2g, %.2g, order %.2f\n", e, coarse, fine, order);
            assert_true(coarse < 1e-4 && order > 3.3 && order < 4.9);
        }
}

/* Two bodies on an ellipse of eccentricity 0.5 touch at the distance 1.2 on their way in, at a time
 * that follows from Kepler's equation, within a step of half a period. Inner steps are searched
 * along cubics. Without an answer of the caller the steps go on with equal bits. */
static void block_adaptive_contact_follows_kepler(void **state)
{
    static const struct {
        enum nbody_integrator integrator;
        double eta, error;
    } each[] = {{NBODY_HERMITE4, 1e-4, 1e-7}, {NBODY_YOSHIDA4, 1e-4, 1e-7}};
    const double e = 0.5, R = 1.2, period = block_ellipse(e), E = acos((1 - R) / e),
                 right = period * (1 - (E - e * sin(E)) / (2 * PI));
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        const double radius[2] = {R / 3, 2 * R / 3};
        const struct nbody_options o = {.precision = precision,
                                        .dt = period / 2,
                                        .eta = each[k].eta,
                                        .stepping = NBODY_ADAPTIVE};
        size_t n;
        integrator = each[k].integrator;
        nbody *nb = block_engine(o, 2), *plain = block_engine(o, 2);
        works(nbody_watch_contacts(nb, radius));
        works(nbody_step(nb, 1)); /* they overlap at the start */
        const struct nbody_contact *c = nbody_contacts(nb, &n);
        assert_true(n == 1 && fabs(nbody_time(nb) - c->before) <= 0 && nbody_steps(nb) == 0);
        works(nbody_step(nb, 10));
        c = nbody_contacts(nb, &n);
        assert_true(n == 1 && nbody_steps(nb) == 1 && nbody_elapsed(nb) > 0);
        print_message("contact off by %.2g\n", nbody_time(nb) - c->before - right);
        assert_true(fabs(nbody_time(nb) - c->before - right) < each[k].error);
        works(nbody_step(nb, 1));
        assert_true(nbody_steps(nb) == 2 && nbody_elapsed(nb) <= 0);
        works(nbody_step(plain, 2));
        works(nbody_state(nb, pos1, vel1));
        works(nbody_state(plain, pos2, vel2));
        assert_memory_equal(pos1, pos2, 2 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 2 * sizeof *vel1);
        nbody_free(nb);
        nbody_free(plain);
    }
    integrator = NBODY_HERMITE4;
    nbody *nb = block_engine((struct nbody_options){.dt = 1, .stepping = NBODY_BLOCK}, 2);
    fails(ENOTSUP, nbody_watch_contacts(nb, (const double[]){1, 1}));
    nbody_free(nb);
}

/* The other integrators choose steps by positions: eta / 16 gives a fourth of the step. */
static void block_kepler_by_forces_converges(void **state)
{
    static const struct {
        enum nbody_integrator integrator;
        double eta, least, most;
    } each[] = {{NBODY_LEAPFROG, 4e-3, 1.8, 2.2},
                {NBODY_YOSHIDA4, 4e-3, 3.6, 4.4},
                {NBODY_TAYLOR, 2e-4, 0.8, 1.2},
                {NBODY_HERMITE6, 4e-2, 5.4, 6.8}};
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        if (!sampled(k, 2))
            continue;
        integrator = each[k].integrator;
        const double coarse = kepler_error(0.8, each[k].eta, NBODY_ADAPTIVE),
                     fine = kepler_error(0.8, each[k].eta / 16, NBODY_ADAPTIVE),
                     order = log2(coarse / fine) / 2;
        print_message("%s: %.2g, %.2g, order %.2f\n", nbody_integrator_describe(integrator)->name,
                      coarse, fine, order);
        assert_true(order > each[k].least && order < each[k].most);
    }
    integrator = NBODY_HERMITE4;
}

/* A circle takes 2 pi / eta^1/2 steps, or up to twice that number, since steps are binary
 * fractions of dt. The number is the same with a distant mass, in a field of faster rotation,
 * and after a change of dt. */
static void block_circle_step_count_is_known(void **state)
{
    const struct nbody_field point = {NBODY_FIELD_POINT, 300, 0};
    (void)state;
    for (int fields = 0; fields < 2; fields++) {
        double blocks, steps, period = block_ellipse(0);
        integrator = NBODY_LEAPFROG;
        nbody *nb = block_engine((struct nbody_options){.precision = precision,
                                                        .dt = period / 4,
                                                        .stepping = NBODY_ADAPTIVE,
                                                        .fields = &point,
                                                        .nfields = (size_t)fields},
                                 2);
        works(nbody_set_dt(nb, period / 8));
        works(nbody_step(nb, fields ? 1 : 8));
        nbody_block_counts(nb, &blocks, &steps);
        assert_true(steps == 2 * blocks);
        if (fields)
            assert_true(blocks > 200); /* the body 1/3 from the point has w^2 = 300 * 27 */
        else
            assert_true(blocks >= 198 && blocks <= 400);
        assert_true(nbody_eta(nb) == 0.001);
        nbody_free(nb);
    }
    integrator = NBODY_HERMITE4;
}

/* A cluster with close encounters: block steps keep its energy as shared steps do, with a
 * fraction of the interactions. */
static void block_steps_conserve_cluster_energy(void **state)
{
    enum { N = 256 };
    double error[3], pulls[3], blocks[3];
    (void)state;
    for (int s = NBODY_ADAPTIVE; s <= NBODY_BLOCK; s++) {
        works(nbody_initial(NBODY_PLUMMER, N, 2, mass, pos, vel));
        nbody *nb = block_engine((struct nbody_options){.precision = precision,
                                                        .eps = 1. / 512,
                                                        .dt = 1. / 8,
                                                        .stepping = (enum nbody_stepping)s},
                                 N);
        const double before = total_energy(nb);
        works(nbody_step(nb, 4));
        error[s] = fabs(total_energy(nb) / before - 1);
        pulls[s] = nbody_interactions(nb);
        nbody_block_counts(nb, &blocks[s], NULL);
        nbody_free(nb);
        print_message("%s: energy %.2g, %.3g pulls, %g blocks\n",
                      s == NBODY_BLOCK ? "block" : "adaptive", error[s], pulls[s], blocks[s]);
        assert_true(error[s] < (precision == NBODY_DOUBLE ? 1e-6 : 1e-5));
    }
    assert_true(pulls[NBODY_BLOCK] < pulls[NBODY_ADAPTIVE] / 4);
}

/* If all steps are dt, as with a short dt, the scheme equals fixed steps. */
static void block_equal_steps_match_fixed(void **state)
{
    enum { N = 600, STEPS = 30 };
    double steps;
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, N, 2, mass, pos, vel));
    nbody *nb = block_engine(
        (struct nbody_options){
            .precision = precision, .eps = 0.1, .dt = 1. / 4096, .eta = 1, .stepping = NBODY_BLOCK},
        N);
    const struct nbody_options o = {.ctx = stddev,
                                    .integrator = NBODY_HERMITE4,
                                    .precision = precision,
                                    .eps = 0.1,
                                    .dt = 1. / 4096};
    nbody *fixed = nbody_create(&o, N, mass, (rows)pos, (rows)vel);
    ready(fixed);
    works(nbody_step(nb, STEPS));
    works(nbody_step(fixed, STEPS));
    works(nbody_state(nb, pos1, vel1));
    works(nbody_state(fixed, pos2, vel2));
    nbody_block_counts(nb, NULL, &steps);
    assert_true(steps <
                1.1 * N * STEPS + 1024 * N * 2); /* the first step of dt begins with short ones */
    assert_true(largest_difference(N, pos1, pos2) < (precision == NBODY_DOUBLE ? 1e-11 : 2e-6));
    nbody_free(nb);
    nbody_free(fixed);
}

/* A field contributes to the acceleration and to its derivative: otherwise the energy would
 * drift. */
static void block_steps_conserve_energy_in_field(void **state)
{
    const struct nbody_field fields[] = {{NBODY_FIELD_LOGARITHMIC, 2, 0.1},
                                         {NBODY_FIELD_PLUMMER, 3, 0.5}};
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 50, 2, mass, pos, vel));
    nbody *nb = block_engine(
        (struct nbody_options){
            .precision = precision, .eps = 0.05, .dt = 1. / 8, .fields = fields, .nfields = 2},
        50);
    const double before = total_energy(nb);
    works(nbody_step(nb, 8));
    assert_true(fabs(total_energy(nb) / before - 1) < (precision == NBODY_DOUBLE ? 3e-7 : 1e-5));
    nbody_free(nb);
}

static void block_steps_run_backwards(void **state)
{
    const double period = block_ellipse(0.6);
    (void)state;
    memcpy(pos2, pos, sizeof pos2);
    nbody *nb = block_engine(
        (struct nbody_options){.precision = precision, .dt = period / 8, .eta = 1e-3}, 2);
    works(nbody_step(nb, 3));
    works(nbody_set_dt(nb, -period / 8));
    works(nbody_step(nb, 3));
    works(nbody_state(nb, pos1, NULL));
    assert_true(fabs(nbody_time(nb)) < 1e-12);
    assert_true(largest_difference(2, pos1, pos2) < 1e-4);
    nbody_free(nb);
}

/* ---- The same bits. -------------------------------------------------------------------------- */

struct run {
    const char *shape;
    unsigned devices;
    bool asked;
    const char *slice; /* $STDCL_SLICE: how short launches are */
};

#define SUMS " block=128 rsqrt=0"
#define PLAIN "group=1 width=4 items=4 tile=16 local=0"
static const struct run runs[] = {
    {PLAIN " groups_per_unit=1 group_1d=8" SUMS, 1, true, NULL},
    {PLAIN " groups_per_unit=1000" SUMS, 1, false, "1e-9"},
    {PLAIN " groups_per_unit=1000" SUMS, 3, false, NULL},
    {"group=1 width=1 items=3 tile=128 local=0 groups_per_unit=1 group_1d=16" SUMS, 1, false, NULL},
    {"group=16 width=1 items=2 tile=32 local=1 groups_per_unit=1000 unroll=4" SUMS, 1, false, NULL},
    {"group=48 width=1 items=1 tile=16 local=0 groups_per_unit=1" SUMS, 1, true, NULL},
};

enum { BITS = 1056, BIT_STEPS = 2 };

/* Return the state after some steps, from the start or from a state that another engine saved
 * half-way. */
static void block_answer(const struct run *r, enum nbody_stepping stepping, bool saved,
                         double (*x)[3], double (*v)[3])
{
    cl_device_id id[3];
    struct nbody_options o = {.eps = 0.001,
                              .dt = 1. / 1024,
                              .shape = r->shape,
                              .stepping = stepping,
                              .precision = precision};
    for (unsigned d = 0; d < 3; d++)
        id[d] = clgetdevice(stddev, 0);
    o.ctx = clcontext_create_from(id, r->devices);
    ready(o.ctx);
    if (r->slice)
        setenv("STDCL_SLICE", r->slice, 1);
    nbody *nb = block_engine(o, BITS);
    for (int s = 0; s < BIT_STEPS; s++) {
        if (r->asked)
            (void)total_energy(nb);
        works(nbody_step(nb, 1));
        if (r->asked)
            works(nbody_forces(nb, pos2, NULL));
        if (saved && s == 0) {
            const size_t bytes = nbody_save_bytes(nb);
            void *kept = malloc(bytes);
            ready(kept);
            works(nbody_save(nb, kept));
            nbody_free(nb);
            nb = block_engine(o, BITS);
            works(nbody_load(nb, kept, bytes));
            free(kept);
        }
    }
    works(nbody_state(nb, x, v));
    nbody_free(nb);
    clcontext_destroy(o.ctx);
    unsetenv("STDCL_SLICE");
}

static void block_bits_are_reproducible(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, BITS, 3, mass, pos, vel));
    for (size_t i = 0; i < BITS; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4);
    for (size_t r = 0; r < COUNT_OF(runs) + 3;
         r++) { /* the first three again, with steps that are shared */
        static double x[MOST][3], v[MOST][3];
        const bool block = r < COUNT_OF(runs);
        integrator = block ? NBODY_HERMITE4 : NBODY_LEAPFROG;
        if (r % COUNT_OF(runs) == 0)
            block_answer(&(struct run){PLAIN " groups_per_unit=1000" SUMS, 1, false, NULL},
                         block ? NBODY_BLOCK : NBODY_ADAPTIVE, false, pos1, vel1);
        if (!sampled(r, 3))
            continue;
        block_answer(&runs[r % COUNT_OF(runs)], block ? NBODY_BLOCK : NBODY_ADAPTIVE, r % 2, x, v);
        if (memcmp(x, pos1, BITS * sizeof *x) != 0 || memcmp(v, vel1, BITS * sizeof *v) != 0)
            fail_msg("other bits: %u devices, %s", runs[r % COUNT_OF(runs)].devices,
                     runs[r % COUNT_OF(runs)].shape);
    }
    integrator = NBODY_HERMITE4;
}

/* ---- What goes wrong. ------------------------------------------------------------------------ */

/* Two bodies fall onto each other; a third is far away. */
static void vanish_by(enum nbody_stepping stepping)
{
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = mass[1] = mass[2] = 1;
    pos[0][0] = 5, pos[1][0] = 0.5, pos[2][0] = -0.5;
    nbody *nb = block_engine(
        (struct nbody_options){.precision = precision, .dt = 0.125, .stepping = stepping}, 3);
    int status = 0;
    size_t steps = 0;
    while (status == 0 && steps < 16) {
        works(nbody_state(nb, pos1, vel1));
        status = nbody_step(nb, 1);
        steps += status == 0;
    }
    assert_int_equal(status, -1);
    assert_int_equal(clerrno, EDOM);
    const char *sentence = clerror();
    assert_true(sentence &&
                (strstr(sentence, "bodies 1 and 2") || strstr(sentence, "bodies 2 and 1")) &&
                strstr(sentence, "vanish"));
    assert_int_equal(nbody_steps(nb), steps);
    works(nbody_state(nb, pos2, vel2)); /* the state before that step */
    assert_memory_equal(pos1, pos2, 3 * sizeof *pos1);
    assert_memory_equal(vel1, vel2, 3 * sizeof *vel1);
    nbody_free(nb);
}

static void block_vanishing_step_is_rejected(void **state)
{
    (void)state;
    vanish_by(NBODY_BLOCK);
    integrator = NBODY_LEAPFROG;
    vanish_by(NBODY_ADAPTIVE);
    integrator = NBODY_HERMITE4;
}

static int stop_block_step(void *arg, double fraction)
{
    (void)arg;
    return fraction > 0.3;
}

/* A step cancelled in its middle leaves no change. */
static void block_cancelled_step_is_undone(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 64, 3, mass, pos, vel));
    nbody *nb = block_engine(
        (struct nbody_options){.precision = precision, .dt = 1, .progress = stop_block_step}, 64);
    fails(ECANCELED, nbody_step(nb, 1));
    assert_int_equal(nbody_steps(nb), 0);
    works(nbody_state(nb, pos1, NULL));
    assert_true(largest_difference(64, pos, pos1) < (precision == NBODY_DOUBLE ? 1e-15 : 1e-6));
    nbody_free(nb);
}

static void check_block_refused(const struct nbody_options *o, const char *why)
{
    assert_null(nbody_create(o, 4, mass, (rows)pos, (rows)vel));
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), why);
}

static void block_rejects_bad_options(void **state)
{
    struct nbody_options o = {.ctx = stddev, .dt = 1, .stepping = NBODY_BLOCK};
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 4, 3, mass, pos, vel));
    check_block_refused(&o, "leapfrog");
    o.stepping = NBODY_ADAPTIVE;
    o.method = NBODY_TREE;
    check_block_refused(&o, "the tree supports NBODY_FIXED steps");
    o.method = NBODY_DIRECT;
    o.integrator = NBODY_IAS15;
    check_block_refused(&o, "chooses its steps by itself");
    o.integrator = NBODY_HERMITE4;
    o.eta = -1;
    check_block_refused(&o, "eta");
    o.eta = 0;
    o.stepping = (enum nbody_stepping)9;
    check_block_refused(&o, "stepping");
}

static int find_precision(void **state)
{
    cl_uint width = 0;
    (void)state;
    precision = clGetDeviceInfo(clgetdevice(stddev, 0), CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
                                sizeof width, &width, NULL) == CL_SUCCESS &&
                        width > 0
                    ? NBODY_DOUBLE
                    : NBODY_SINGLE;
    return 0;
}

/* test_nbody_block [several]: run only the tests that may depend on the set of devices. One
 * device has all bodies; block_bits_are_reproducible has devices of its own. */
int main(int argc, char **argv)
{
    const struct CMUnitTest several[] = {cmocka_unit_test(block_steps_match_reference),
                                         cmocka_unit_test(block_steps_conserve_cluster_energy),
                                         cmocka_unit_test(block_equal_steps_match_fixed),
                                         cmocka_unit_test(block_steps_conserve_energy_in_field)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(block_steps_match_reference),
        cmocka_unit_test(block_kepler_error_is_fourth_order),
        cmocka_unit_test(block_kepler_by_forces_converges),
        cmocka_unit_test(block_adaptive_contact_follows_kepler),
        cmocka_unit_test(block_circle_step_count_is_known),
        cmocka_unit_test(block_steps_conserve_cluster_energy),
        cmocka_unit_test(block_equal_steps_match_fixed),
        cmocka_unit_test(block_steps_conserve_energy_in_field),
        cmocka_unit_test(block_steps_run_backwards),
        cmocka_unit_test(block_bits_are_reproducible),
        cmocka_unit_test(block_vanishing_step_is_rejected),
        cmocka_unit_test(block_cancelled_step_is_undone),
        cmocka_unit_test(block_rejects_bad_options),
    };
    if (argc > 1 && strcmp(argv[1], "several") == 0)
        return cmocka_run_group_tests(several, find_precision, NULL);
    return cmocka_run_group_tests(tests, find_precision, NULL);
}
