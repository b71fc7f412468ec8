/* test_nbody_rungs.c - leapfrog by the tree with a step of its own for each body: a twin in plain C
 * that sums over all pairs, the bits of fixed steps where all steps are equal, the energy of a
 * cluster, saving, stopping and going on, and what is refused.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"
#include "deep.h"

#include "nbody/nbody_ref.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 3000 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static enum nbody_precision precision; /* the best that the device has */

static nbody *engine(struct nbody_options o, size_t n)
{
    static const double equal[64] = {1, 1, 1, 1, 1, 1, 1, 1};
    o.ctx = stddev;
    o.method = NBODY_TREE;
    o.shares = o.shares ? o.shares : equal; /* measured, two engines may get unlike ones */
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* ---- The twin: the scheme as it is told, with times as numbers. ------------------------------ */

enum { SMALL = 400 };
struct twin {
    double x[SMALL][3], v[SMALL][3], a[SMALL][3], began[SMALL], step[SMALL], steps;
};

static double longest(const double *a, double eps, double dt, double eta)
{
    const double want = sqrt(2 * eta * eps / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
    double step = dt;
    while (step > want)
        step /= 2;
    return step;
}

static void twin_step(struct twin *w, double eps, double dt, double eta)
{
    static double a[SMALL][3];
    nbody_ref_forces(SMALL, 1, eps, mass, (rows)w->x, w->a, NULL);
    for (size_t i = 0; i < SMALL; i++) {
        w->began[i] = 0;
        w->step[i] = longest(w->a[i], eps, dt, eta);
    }
    for (double now = 0, next; now < dt; now = next) {
        next = dt;
        for (size_t i = 0; i < SMALL; i++)
            next = fmin(next, w->began[i] + w->step[i]);
        for (size_t i = 0; i < SMALL; i++)
            for (int c = 0; c < 3; c++) {
                w->v[i][c] += w->began[i] == now ? w->step[i] / 2 * w->a[i][c] : 0;
                w->x[i][c] += (next - now) * w->v[i][c];
            }
        nbody_ref_forces(SMALL, 1, eps, mass, (rows)w->x, a, NULL);
        for (size_t i = 0; i < SMALL; i++) {
            if (w->began[i] + w->step[i] > next)
                continue;
            memcpy(w->a[i], a[i], sizeof *a);
            for (int c = 0; c < 3; c++)
                w->v[i][c] += w->step[i] / 2 * a[i][c];
            const double had = w->step[i];
            w->step[i] = longest(a[i], eps, dt, eta);
            while (w->step[i] > had && fmod(next, w->step[i]) != 0)
                w->step[i] /= 2;
            w->began[i] = next;
            w->steps++;
        }
    }
}

/* The tree is off by its accuracy, and where that decides between two steps so is the place of one
 * body. */
static void as_the_twin(void **unused)
{
    static struct twin w;
    const double dt = 1. / 8, eps = 0.02;
    double blocks, steps;
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, SMALL, 5, mass, pos, vel));
    memcpy(w.x, pos, sizeof w.x);
    memcpy(w.v, vel, sizeof w.v);
    nbody *nb = engine((struct nbody_options){.precision = precision,
                                              .stepping = NBODY_BLOCK,
                                              .eps = eps,
                                              .dt = dt,
                                              .accuracy = 1e-6},
                       SMALL);
    for (int k = 0; k < 3; k++)
        twin_step(&w, eps, dt, 0.025);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, pos1, vel1));
    nbody_block_counts(nb, &blocks, &steps);
    assert_true(steps < 0.75 * blocks * SMALL);
    assert_true(fabs(steps - w.steps) < 1e-3 * w.steps);
    assert_true(apart(SMALL, pos1, w.x) < 1e-5);
    nbody_free(nb);
}

/* ---- Energy, and bits. ----------------------------------------------------------------------- */

static double error_of(double eta, double *steps)
{
    nbody *nb = engine((struct nbody_options){.precision = precision,
                                              .stepping = NBODY_BLOCK,
                                              .eps = 0.02,
                                              .dt = 1. / 8,
                                              .eta = eta,
                                              .accuracy = 1e-5},
                       1000);
    const double before = energy(nb);
    works(nbody_step(nb, 8));
    const double error = fabs(energy(nb) / before - 1);
    nbody_block_counts(nb, NULL, steps);
    nbody_free(nb);
    return error;
}

static void finer_steps(void **unused)
{
    double some, more;
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 1000, 1, mass, pos, vel));
    const double coarse = error_of(0.2, &some), fine = error_of(0.0125, &more);
    assert_true(more > 3 * some &&
                more < 4.5 * some); /* a sixteenth of eta: a quarter of the steps */
    assert_true(fine < coarse / 8 && fine < 1e-3);
}

/* With kernels that the tests above have built; in deep tests with others: single precision,
 * moments of second order. */
static struct nbody_options kind(struct nbody_options o)
{
    const bool others = deep_tests();
    o.precision = others ? NBODY_SINGLE : precision;
    o.accuracy = others ? 1e-3 : 1e-5;
    return o;
}

/* Where eta is large all steps are dt. One device has all bodies, as it has with steps of their
 * own: others may round unlike it. */
static void as_fixed_steps(void **unused)
{
    static const double first[64] = {1};
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, MOST, 2, mass, pos, vel));
    const struct nbody_options fixed =
        kind((struct nbody_options){.eps = 0.02, .dt = 1. / 64, .shares = first});
    struct nbody_options block = fixed;
    block.stepping = NBODY_BLOCK;
    block.eta = 1;
    nbody *a = engine(fixed, MOST), *b = engine(block, MOST);
    works(nbody_step(a, 5));
    works(nbody_step(b, 5));
    works(nbody_state(a, pos1, vel1));
    works(nbody_state(b, pos2, vel2));
    assert_memory_equal(pos1, pos2, sizeof pos1);
    assert_memory_equal(vel1, vel2, sizeof vel1);
    assert_true(energy(a) == energy(b));
    nbody_free(a);
    nbody_free(b);
}

static int asked, until;

static int stop_then(void *arg, double fraction)
{
    (void)arg;
    (void)fraction;
    return ++asked == until;
}

/* Steps in two calls, saved and loaded between them, and stopped in the middle of one: the same
 * bits. */
static void goes_on(void **unused)
{
    const struct nbody_field field = {.kind = NBODY_FIELD_PLUMMER, .strength = 0.5, .scale = 1};
    const struct nbody_options o = kind((struct nbody_options){
        .stepping = NBODY_BLOCK, .eps = 0.02, .dt = 1. / 8, .fields = &field, .nfields = 1});
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 1000, 3, mass, pos, vel));
    nbody *a = engine(o, 1000);
    struct nbody_options watched = o;
    watched.progress = stop_then;
    nbody *b = engine(watched, 1000), *c = engine(o, 1000);
    works(nbody_step(a, 6));
    asked = 0, until = 7;
    fails(ECANCELED, nbody_step(b, 6));
    assert_true(asked == 7 && nbody_steps(b) < 6);
    const size_t size = nbody_save_bytes(b), made = nbody_steps(b);
    char *bytes = malloc(size);
    works(nbody_save(b, bytes));
    works(nbody_load(c, bytes, size));
    free(bytes);
    works(nbody_step(b, 6 - made));
    works(nbody_step(c, 6 - made));
    works(nbody_state(a, pos1, vel1));
    for (int k = 0; k < 2; k++) {
        works(nbody_state(k ? c : b, pos2, vel2));
        assert_memory_equal(pos1, pos2, 1000 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 1000 * sizeof *vel1);
    }
    assert_true(energy(a) == energy(b) && energy(a) == energy(c));
    nbody_free(a);
    nbody_free(b);
    nbody_free(c);
}

/* ---- What cannot be. ------------------------------------------------------------------------- */

static void refused(void **unused)
{
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 100, 3, mass, pos, vel));
    const struct {
        struct nbody_options o;
        const char *words;
    } cases[] = {
        {{.stepping = NBODY_BLOCK, .method = NBODY_TREE, .dt = 1},
         "measured by the softening, which is 0"},
        {{.stepping = NBODY_BLOCK, .method = NBODY_DIRECT, .dt = 1, .eps = 1},
         "has block steps with the tree alone"},
        {{.stepping = NBODY_ADAPTIVE, .method = NBODY_TREE, .dt = 1, .eps = 1},
         "with the tree steps are fixed, or with NBODY_LEAPFROG"},
        {{.stepping = NBODY_BLOCK,
          .method = NBODY_TREE,
          .dt = 1,
          .eps = 1,
          .integrator = NBODY_YOSHIDA4},
         "has no block steps"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct nbody_options o = cases[k].o;
        o.ctx = stddev;
        assert_null(nbody_create(&o, 100, mass, (rows)pos, (rows)vel));
        assert_int_equal(clerrno, EINVAL);
        contains(clerror(), cases[k].words);
    }
    nbody *nb =
        engine((struct nbody_options){.stepping = NBODY_BLOCK, .eps = 0.01, .dt = 1e13}, 100);
    assert_int_equal(nbody_step(nb, 1), -1);
    assert_int_equal(clerrno, EDOM);
    contains(clerror(), "(from 0 on) vanish, so strong is its acceleration");
    works(nbody_state(nb, pos1, vel1)); /* that before the step */
    assert_true(apart(100, pos1, pos) < 1e-6);
    nbody_free(nb);
}

/* test_nbody_rungs [CASE]: that alone */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_twin),    cmocka_unit_test(finer_steps),
        cmocka_unit_test(as_fixed_steps), cmocka_unit_test(goes_on),
        cmocka_unit_test(refused),
    };
    precision = has_doubles() ? NBODY_DOUBLE : NBODY_SINGLE;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
