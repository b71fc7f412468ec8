/* The N-body engine in pieces: sums cut into launches as short as they can be, and steps that are
 * stopped in their middle, give the same bits as whole ones.
 *
 * On one device, and again on two (test_nbody_pieces_on_two).
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "stdcl/nbody.h"

/* N: so many that an engine, before it has measured its speed, expects a step to take long: that it
 * may be stopped. FEW: so few that a step is short on any device, however busy. */
enum { N = 4096, FEW = 256, STEPS = 3 };
static double mass[N], pos[N][3], vel[N][3];
static double pos1[N][3], vel1[N][3], pos2[N][3], vel2[N][3], phi1[N], phi2[N];

typedef const double (*rows)[3];
static const double equal_shares[8] = {1, 1, 1, 1, 1,
                                       1, 1, 1}; /* not what a measurement says of unlike devices */

/* What a progress function is to do, and what it was told. */
struct watch {
    double stop_at, last;
    int calls;
};

static int watch(void *arg, double share)
{
    struct watch *w = arg;
    assert_true(share >= w->last && share <= 1);
    w->last = share;
    w->calls++;
    return share >= w->stop_at;
}

/* `slice`: how long a launch may take; NULL: as usual. */
static nbody *engine_of(size_t n, struct nbody_options o, const char *slice)
{
    o.ctx = stddev;
    o.eps = 0.1;
    o.dt = 1. / 64;
    o.shares = clgetndev(stddev) <= 8 ? equal_shares : NULL;
    if (slice)
        assert_int_equal(setenv("STDCL_SLICE", slice, 1), 0);
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
    ready(nb);
    return nb;
}

static nbody *engine(struct nbody_options o, const char *slice)
{
    return engine_of(N, o, slice);
}

static int make(void **state)
{
    (void)state;
    const int status = nbody_initial(NBODY_PLUMMER, N, 7, mass, pos, vel);
    for (size_t i = 0; i < N; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4); /* equal ones take a path of their own */
    return status;
}

static void same_state(nbody *a, nbody *b)
{
    works(nbody_state(a, pos1, vel1));
    works(nbody_state(b, pos2, vel2));
    assert_memory_equal(pos1, pos2, sizeof pos1);
    assert_memory_equal(vel1, vel2, sizeof vel1);
}

static void pieces_do_not_matter(enum nbody_integrator integrator, enum nbody_kernel kernel)
{
    struct watch cuts = {.stop_at = 2};
    nbody *whole = engine((struct nbody_options){.integrator = integrator, .kernel = kernel}, NULL);
    nbody *cut = engine(
        (struct nbody_options){
            .integrator = integrator, .kernel = kernel, .progress = watch, .arg = &cuts},
        "1e-12");
    works(nbody_forces(whole, pos1, phi1));
    works(nbody_forces(cut, pos2, phi2));
    assert_true(cuts.calls > 8 && cuts.last > 0.8);
    assert_memory_equal(pos1, pos2, sizeof pos1);
    assert_memory_equal(phi1, phi2, sizeof phi1);
    works(nbody_step(whole, STEPS));
    cuts = (struct watch){.stop_at = 2};
    works(nbody_step(cut, STEPS));
    assert_true(cuts.calls > 8 && cuts.last == 1);
    same_state(whole, cut);
    nbody_free(whole);
    nbody_free(cut);
}

static void pieces(void **state)
{
    (void)state;
    pieces_do_not_matter(NBODY_LEAPFROG, NBODY_TUNED);
    pieces_do_not_matter(NBODY_HERMITE4, NBODY_TUNED);
    if (clgetndev(stddev) == 1)
        pieces_do_not_matter(NBODY_LEAPFROG, NBODY_TILED);
}

/* Stopped when a share of the work is done, which is in a step; then on to the end. */
static void stopped(enum nbody_integrator integrator, double at)
{
    struct watch soon = {.stop_at = at};
    struct nbody_diagnostics d;
    nbody *fresh = engine((struct nbody_options){.integrator = integrator}, NULL);
    nbody *nb = engine(
        (struct nbody_options){.integrator = integrator, .progress = watch, .arg = &soon}, "1e-12");
    assert_int_equal(nbody_step(nb, STEPS), -1);
    assert_int_equal(clerrno, ECANCELED);
    assert_int_equal(nbody_steps(nb), 0);
    assert_true(soon.last < at + 0.1);
    same_state(fresh, nb);
    soon = (struct watch){.stop_at = 0.5};
    assert_int_equal(nbody_diagnose(nb, &d), -1);
    assert_int_equal(clerrno, ECANCELED);
    soon = (struct watch){.stop_at = 2};
    works(nbody_step(nb, STEPS));
    works(nbody_step(fresh, STEPS));
    assert_true(nbody_time(nb) == nbody_time(fresh));
    same_state(fresh, nb);
    nbody_free(fresh);
    nbody_free(nb);
}

/* Two of three sums are those of steps 1 and 2; the first, where an integrator needs one, is of the
 * forces to begin with. */
static void stopped_in_a_step(void **state)
{
    (void)state;
    stopped(NBODY_LEAPFROG, 0.1);
    stopped(NBODY_LEAPFROG, 0.5);
    stopped(NBODY_HERMITE4, 0.5);
    stopped(NBODY_TAYLOR, 0.2);
}

/* Steps that are short are not stopped in their middle, but after the next few. */
static void stopped_between_steps(void **state)
{
    (void)state;
    struct watch at_once = {.stop_at = 0};
    nbody *fresh = engine_of(FEW, (struct nbody_options){0}, NULL);
    nbody *nb = engine_of(
        FEW, (struct nbody_options){.progress = watch, .arg = &at_once, .burst = 8}, NULL);
    at_once.stop_at = 2;
    works(nbody_step(nb, STEPS));
    at_once = (struct watch){0};
    assert_int_equal(nbody_step(nb, 1000000), -1);
    assert_int_equal(clerrno, ECANCELED);
    assert_true(nbody_steps(nb) > STEPS && nbody_steps(nb) <= STEPS + 8);
    works(nbody_step(fresh, nbody_steps(nb)));
    same_state(fresh, nb);
    nbody_free(fresh);
    nbody_free(nb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pieces),
                                       cmocka_unit_test(stopped_in_a_step),
                                       cmocka_unit_test(stopped_between_steps)};
    return cmocka_run_group_tests(tests, make, NULL);
}
