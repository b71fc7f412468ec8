/* test_nbody_rungs.c - leapfrog by the tree with individual steps: a scalar reference that sums
 * over all pairs, the bits of fixed steps if all steps are equal, the energy of a cluster,
 * saving, cancelling and resuming, and rejected options.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"
#include "deep.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 3000 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static enum nbody_precision precision; /* the best that the device has */

static nbody *rungs_engine(struct nbody_options o, size_t n)
{
    static const double equal[64] = {1, 1, 1, 1, 1, 1, 1, 1};
    o.ctx = stddev;
    o.method = NBODY_TREE;
    o.shares = o.shares ? o.shares : equal; /* measured, two engines may get unlike ones */
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* ---- The reference: the scheme with times as numbers. ---------------------------------------- */

enum { SMALL = 400 };
struct reference {
    double x[SMALL][3], v[SMALL][3], a[SMALL][3], began[SMALL], step[SMALL], steps;
};

static double longest_rung_step(const double *a, double eps, double dt, double eta)
{
    const double want = sqrt(2 * eta * eps / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]));
    double step = dt;
    while (step > want)
        step /= 2;
    return step;
}

static void rungs_reference_step(struct reference *w, double eps, double dt, double eta)
{
    static double a[SMALL][3];
    nbody_ref_forces(SMALL, 1, eps, mass, (rows)w->x, w->a, NULL);
    for (size_t i = 0; i < SMALL; i++) {
        w->began[i] = 0;
        w->step[i] = longest_rung_step(w->a[i], eps, dt, eta);
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
            w->step[i] = longest_rung_step(a[i], eps, dt, eta);
            while (w->step[i] > had && fmod(next, w->step[i]) != 0)
                w->step[i] /= 2;
            w->began[i] = next;
            w->steps++;
        }
    }
}

/* The tree is off by its accuracy. A body at a threshold between two steps may take the other
 * one, and its position differs accordingly. */
static void rungs_match_reference(void **unused)
{
    static struct reference w;
    const double dt = 1. / 8, eps = 0.02;
    double blocks, steps;
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, SMALL, 5, mass, pos, vel));
    memcpy(w.x, pos, sizeof w.x);
    memcpy(w.v, vel, sizeof w.v);
    nbody *nb = rungs_engine((struct nbody_options){.precision = precision,
                                                    .stepping = NBODY_BLOCK,
                                                    .eps = eps,
                                                    .dt = dt,
                                                    .accuracy = 1e-6},
                             SMALL);
    for (int k = 0; k < 3; k++)
        rungs_reference_step(&w, eps, dt, 0.025);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, pos1, vel1));
    nbody_block_counts(nb, &blocks, &steps);
    assert_true(steps < 0.75 * blocks * SMALL);
    assert_true(fabs(steps - w.steps) < 1e-3 * w.steps);
    assert_true(largest_difference(SMALL, pos1, w.x) < 1e-5);
    nbody_free(nb);
}

/* ---- Energy, and bits. ----------------------------------------------------------------------- */

static double rungs_error_of_eta(double eta, double *steps)
{
    nbody *nb = rungs_engine((struct nbody_options){.precision = precision,
                                                    .stepping = NBODY_BLOCK,
                                                    .eps = 0.02,
                                                    .dt = 1. / 8,
                                                    .eta = eta,
                                                    .accuracy = 1e-5},
                             1000);
    const double before = total_energy(nb);
    works(nbody_step(nb, 8));
    const double error = fabs(total_energy(nb) / before - 1);
    nbody_block_counts(nb, NULL, steps);
    nbody_free(nb);
    return error;
}

static void rungs_finer_steps_reduce_error(void **unused)
{
    double some, more;
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 1000, 1, mass, pos, vel));
    const double coarse = rungs_error_of_eta(0.2, &some), fine = rungs_error_of_eta(0.0125, &more);
    assert_true(more > 3 * some &&
                more < 4.5 * some); /* a sixteenth of eta: a quarter of the steps */
    assert_true(fine < coarse / 8 && fine < 1e-3);
}

/* Options of kernels that the tests above have built; deep tests build further ones: single
 * precision, moments of second order. */
static struct nbody_options kind_of_rung_options(struct nbody_options o)
{
    const bool others = deep_tests();
    o.precision = others ? NBODY_SINGLE : precision;
    o.accuracy = others ? 1e-3 : 1e-5;
    return o;
}

/* With a large eta all steps are dt. One device has all bodies, as with individual steps:
 * several devices may round differently. */
static void rungs_equal_steps_match_fixed(void **unused)
{
    static const double first[64] = {1};
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, MOST, 2, mass, pos, vel));
    const struct nbody_options fixed =
        kind_of_rung_options((struct nbody_options){.eps = 0.02, .dt = 1. / 64, .shares = first});
    struct nbody_options block = fixed;
    block.stepping = NBODY_BLOCK;
    block.eta = 1;
    nbody *a = rungs_engine(fixed, MOST), *b = rungs_engine(block, MOST);
    works(nbody_step(a, 5));
    works(nbody_step(b, 5));
    works(nbody_state(a, pos1, vel1));
    works(nbody_state(b, pos2, vel2));
    assert_memory_equal(pos1, pos2, sizeof pos1);
    assert_memory_equal(vel1, vel2, sizeof vel1);
    assert_true(total_energy(a) == total_energy(b));
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

/* Steps in two calls, saved and loaded between them, and cancelled within one: equal bits. */
static void rungs_saved_run_gives_equal_bits(void **unused)
{
    const struct nbody_field field = {.kind = NBODY_FIELD_PLUMMER, .strength = 0.5, .scale = 1};
    const struct nbody_options o = kind_of_rung_options((struct nbody_options){
        .stepping = NBODY_BLOCK, .eps = 0.02, .dt = 1. / 8, .fields = &field, .nfields = 1});
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 1000, 3, mass, pos, vel));
    nbody *a = rungs_engine(o, 1000);
    struct nbody_options watched = o;
    watched.progress = stop_then;
    nbody *b = rungs_engine(watched, 1000), *c = rungs_engine(o, 1000);
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
    assert_true(total_energy(a) == total_energy(b) && total_energy(a) == total_energy(c));
    nbody_free(a);
    nbody_free(b);
    nbody_free(c);
}

/* ---- What cannot be. ------------------------------------------------------------------------- */

static void rungs_reject_bad_options(void **unused)
{
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, 100, 3, mass, pos, vel));
    const struct {
        struct nbody_options o;
        const char *words;
    } cases[] = {
        {{.stepping = NBODY_BLOCK, .method = NBODY_TREE, .dt = 1},
         "derive from the softening, which is 0"},
        {{.stepping = NBODY_BLOCK, .method = NBODY_DIRECT, .dt = 1, .eps = 1},
         "has block steps only with the tree"},
        {{.stepping = NBODY_ADAPTIVE, .method = NBODY_TREE, .dt = 1, .eps = 1},
         "the tree supports NBODY_FIXED steps"},
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
        rungs_engine((struct nbody_options){.stepping = NBODY_BLOCK, .eps = 0.01, .dt = 1e13}, 100);
    assert_int_equal(nbody_step(nb, 1), -1);
    assert_int_equal(clerrno, EDOM);
    contains(clerror(), "(from 0 on) vanishes because its acceleration is too large");
    works(nbody_state(nb, pos1, vel1)); /* that before the step */
    assert_true(largest_difference(100, pos1, pos) < 1e-6);
    nbody_free(nb);
}

/* test_nbody_rungs [CASE]: run this case only */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rungs_match_reference),
        cmocka_unit_test(rungs_finer_steps_reduce_error),
        cmocka_unit_test(rungs_equal_steps_match_fixed),
        cmocka_unit_test(rungs_saved_run_gives_equal_bits),
        cmocka_unit_test(rungs_reject_bad_options),
    };
    precision = context_has_doubles() ? NBODY_DOUBLE : NBODY_SINGLE;
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
