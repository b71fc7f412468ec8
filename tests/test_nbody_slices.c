/* The N-body engine in slices: sums cut into launches of minimal length, and steps cancelled in
 * their middle, give the bits of uncut ones.
 *
 * On one device, and again on two (test_nbody_slices_on_two).
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "core/pace.h"
#include "stdcl/nbody.h"

/* N: large enough that an engine, before it has measured its speed, expects a long step and
 * makes it cancellable. FEW: small enough that a step is short on any device, however busy. */
enum { N = 4096, FEW = 256, STEPS = 3 };
static double mass[N], pos[N][3], vel[N][3];
static double pos1[N][3], vel1[N][3], pos2[N][3], vel2[N][3], phi1[N], phi2[N];

typedef const double (*rows)[3];
static const double equal_shares[8] = {1, 1, 1, 1,
                                       1, 1, 1, 1}; /* fixed, not measured on unlike devices */

/* Instructions for the progress function, and what it received. */
struct watch {
    double stop_at, last;
    int calls;
};

static int watch_progress(void *arg, double share)
{
    struct watch *w = arg;
    assert_true(share >= w->last && share <= 1);
    w->last = share;
    w->calls++;
    return share >= w->stop_at;
}

/* `slice`: maximum duration of a launch; NULL: the default. */
static nbody *engine_with_options(size_t n, struct nbody_options o, const char *slice)
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

static nbody *slices_engine(struct nbody_options o, const char *slice)
{
    return engine_with_options(N, o, slice);
}

static int make_slices_bodies(void **state)
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

static void check_slices_give_equal_bits(enum nbody_integrator integrator, enum nbody_kernel kernel)
{
    struct watch cuts = {.stop_at = 2};
    nbody *whole =
        slices_engine((struct nbody_options){.integrator = integrator, .kernel = kernel}, NULL);
    nbody *cut = slices_engine(
        (struct nbody_options){
            .integrator = integrator, .kernel = kernel, .progress = watch_progress, .arg = &cuts},
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

static void nbody_slices_give_equal_bits(void **state)
{
    (void)state;
    check_slices_give_equal_bits(NBODY_LEAPFROG, NBODY_TUNED);
    check_slices_give_equal_bits(NBODY_HERMITE4, NBODY_TUNED);
    if (clgetndev(stddev) == 1)
        check_slices_give_equal_bits(NBODY_LEAPFROG, NBODY_TILED);
}

/* Cancel when a fraction of the work is done, which is within a step; then run to the end. */
static void check_cancelled_after(enum nbody_integrator integrator, double at)
{
    struct watch soon = {.stop_at = at};
    struct nbody_diagnostics d;
    nbody *fresh = slices_engine((struct nbody_options){.integrator = integrator}, NULL);
    nbody *nb = slices_engine(
        (struct nbody_options){.integrator = integrator, .progress = watch_progress, .arg = &soon},
        "1e-12");
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

/* Two of three sums belong to steps 1 and 2; the first, if the integrator needs one, computes
 * the initial forces. */
static void nbody_cancel_in_step_undoes_it(void **state)
{
    (void)state;
    check_cancelled_after(NBODY_LEAPFROG, 0.1);
    check_cancelled_after(NBODY_LEAPFROG, 0.5);
    check_cancelled_after(NBODY_HERMITE4, 0.5);
    check_cancelled_after(NBODY_TAYLOR, 0.2);
}

/* Short steps are not cancelled in their middle, but after the next few. */
static void nbody_cancel_between_short_steps(void **state)
{
    (void)state;
    struct watch at_once = {.stop_at = 0};
    nbody *fresh = engine_with_options(FEW, (struct nbody_options){0}, NULL);
    nbody *nb = engine_with_options(
        FEW, (struct nbody_options){.progress = watch_progress, .arg = &at_once, .burst = 8}, NULL);
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

/* A device that was found idle, after a wait for another one, keeps its rate or raises it. */
static void pace_is_measured_by_waits(void **state)
{
    static const struct {
        double work, took, waited, least, most; /* work launched, seconds since; rate afterwards */
    } cases[] = {{25, 1, 0.5, 24, 25}, {25, 1, 0, 100, 100}, {100, 0.5, 0, 190, 200}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct pace p = {.seconds = 0.25, .rate = 100};
        pace_started(&p, cases[k].work);
        p.since -= cases[k].took;
        pace_waited_after(&p, cases[k].waited);
        assert_true(p.rate >= cases[k].least && p.rate <= cases[k].most);
        assert_true(pace_has_room(&p, 1e9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nbody_slices_give_equal_bits),
                                       cmocka_unit_test(nbody_cancel_in_step_undoes_it),
                                       cmocka_unit_test(nbody_cancel_between_short_steps),
                                       cmocka_unit_test(pace_is_measured_by_waits)};
    return cmocka_run_group_tests(tests, make_slices_bodies, NULL);
}
