/* Launches that fail on the device: whichever it is, the call that needed its results says so, and the engine
 * can still be freed. A kernel's failure is known only after it was started, so what counts is that every
 * call waits and asks before it hands out numbers.
 * SPDX-License-Identifier: MIT
 */
#include "failing.h"

#include "stdcl/nbody.h"

enum { N = 100 };
static double mass[N], pos[N][3], vel[N][3], acc[N][3], phi[N];

static nbody *engine(enum nbody_integrator integrator)
{
    const double shares[64] = {1, 1, 1, 1};
    const struct nbody_options o = {.ctx = stddev, .integrator = integrator, .dt = 1. / 256, .eps = 0.1, .shares = shares};
    works(nbody_initial(NBODY_PLUMMER, N, 1, mass, pos, vel));
    nbody *nb = nbody_create(&o, N, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(nb);
    works(nbody_step(nb, 1)); /* from a state that is not settled */
    return nb;
}

static int step(nbody *nb)
{
    return nbody_step(nb, 2);
}

static int diagnose(nbody *nb)
{
    struct nbody_diagnostics d;
    return nbody_diagnose(nb, &d);
}

static int forces(nbody *nb)
{
    return nbody_forces(nb, acc, phi);
}

static int measure(nbody *nb)
{
    double seconds;
    return nbody_measure(nb, 2, &seconds);
}

/* The call when its launch `k`, from 0 on, fails; whether it has that many. */
static int fails_at(enum nbody_integrator integrator, int (*call)(nbody *nb), int k)
{
    nbody *nb = engine(integrator);
    healthy = k;
    const int status = call(nb);
    const int failed = healthy < 0; /* the count is used up */
    healthy = -1;
    assert_int_equal(status, failed ? -1 : 0);
    if (failed)
        assert_true(oclerrno < 0);
    nbody_free(nb);
    return failed;
}

static void failures_are_told(void **state)
{
    static int (*const calls[])(nbody *) = {step, diagnose, forces, measure};
    (void)state;
    for (int i = 0; nbody_integrator_describe((enum nbody_integrator)i); i++)
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
            int k = 0;
            while (fails_at((enum nbody_integrator)i, calls[c], k))
                k++;
            assert_true(k >= 2 || (i == NBODY_IAS15 && calls[c] == step)); /* whose steps launch nothing */
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failures_are_told)};
    return cmocka_run_group_tests_name("nbody failure", tests, NULL, NULL);
}
