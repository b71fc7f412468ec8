/* Per-body softening: forces, derivatives and energies against formulas in plain C, every
 * integrator against its scalar reference, one length for all against the usual sum, coincident
 * bodies, and rejected options.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_engine.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 700 };
static double mass[N], pos[N][3], vel[N][3], eps[N], pos1[N][3], vel1[N][3], acc[N][3], phi[N];

static nbody *softening_engine(struct nbody_options o, size_t n)
{
    static const double equal[64] = {1, 1, 1, 1};
    o.shares = equal; /* measured, two engines may get unlike ones */
    nbody *nb = nbody_create(&o, n, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(nb);
    return nb;
}

static void softening_cluster(void)
{
    works(nbody_initial(NBODY_PLUMMER, N, 3, mass, pos, vel));
    for (size_t i = 0; i < N; i++)
        eps[i] = i % 7 ? 0.01 * (double)(1 + i % 5) : 0.5;
}

/* Accelerations, potentials, energies and the force check, by the formula written here. */
static void softening_forces_match_formula(void **state)
{
    (void)state;
    struct nbody_diagnostics d;
    struct nbody_force_errors errors;
    double potential = 0;
    softening_cluster();
    nbody *nb = softening_engine(
        (struct nbody_options){.precision = NBODY_DOUBLE, .dt = 1, .G = 2, .softening = eps}, N);
    works(nbody_forces(nb, acc, phi));
    for (size_t i = 0; i < N; i++) {
        double a[3] = {0}, p = 0;
        for (size_t j = 0; j < N; j++) {
            const double x = pos[j][0] - pos[i][0], y = pos[j][1] - pos[i][1],
                         z = pos[j][2] - pos[i][2];
            const double r = sqrt(x * x + y * y + z * z + (eps[i] * eps[i] + eps[j] * eps[j]) / 2);
            p -= i == j ? 0 : 2 * mass[j] / r;
            a[0] += 2 * mass[j] * x / (r * r * r), a[1] += 2 * mass[j] * y / (r * r * r),
                a[2] += 2 * mass[j] * z / (r * r * r);
        }
        for (int k = 0; k < 3; k++)
            assert_true(fabs(acc[i][k] - a[k]) < 1e-12 * (1 + fabs(a[k])));
        assert_true(fabs(phi[i] - p) < 1e-13 * fabs(p));
        potential += mass[i] * p / 2;
    }
    works(nbody_diagnose(nb, &d));
    assert_true(fabs(d.potential / potential - 1) < 1e-13);
    works(nbody_check_forces(nb, 100, 1, &errors));
    assert_true(errors.most < 1e-12);
    nbody_free(nb);
    nb = softening_engine((struct nbody_options){.dt = 1, .G = 2, .softening = eps}, N);
    works(nbody_forces(nb, pos1, NULL));
    assert_true(largest_difference(N, pos1, acc) < 1e-5);
    nbody_free(nb);
}

static void softening_integrators_match_reference(void **state)
{
    (void)state;
    enum { FEW = 40 };
    const struct nbody_integrator_info *info;
    softening_cluster();
    for (int i = 0; (info = nbody_integrator_describe((enum nbody_integrator)i)); i++) {
        const struct nbody_ref_system s = {FEW, 1, 0, mass, NULL, 0, eps, NULL};
        struct nbody_options o = {.integrator = (enum nbody_integrator)i,
                                  .precision = NBODY_DOUBLE,
                                  .dt = 1. / 64,
                                  .softening = eps};
        nbody *nb = nbody_create(&o, FEW, mass, (const double(*)[3])pos, (const double(*)[3])vel);
        if (!nb && clerrno == EINVAL) { /* which says so */
            check_forget();
            continue;
        }
        ready(nb);
        memcpy(pos1, pos, sizeof pos);
        memcpy(vel1, vel, sizeof vel);
        works(nbody_ref_run_in(&s, o.integrator, o.dt, 8, pos1, vel1));
        works(nbody_step(nb, 8));
        works(nbody_state(nb, acc, NULL));
        if (!(largest_difference(FEW, acc, pos1) < 1e-12))
            fail_msg("%s is %g off", info->name, largest_difference(FEW, acc, pos1));
        nbody_free(nb);
    }
}

/* Equal lengths equal one global length; forces are pairwise opposite, so momentum is conserved;
 * steps back restore the state. */
static void softening_conserves_momentum(void **state)
{
    (void)state;
    struct nbody_diagnostics start, end;
    softening_cluster();
    nbody *nb = softening_engine(
        (struct nbody_options){.precision = NBODY_DOUBLE, .dt = 1. / 128, .softening = eps}, N);
    works(nbody_diagnose(nb, &start));
    works(nbody_step(nb, 32));
    works(nbody_diagnose(nb, &end));
    assert_true(fabs(end.total / start.total - 1) < 1e-4);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(end.momentum[k] - start.momentum[k]) < 1e-15);
    nbody_free(nb);
    for (size_t i = 0; i < N; i++)
        eps[i] = 0.25;
    nbody *one = softening_engine(
        (struct nbody_options){.precision = NBODY_DOUBLE, .dt = 1. / 128, .eps = 0.25}, N);
    nb = softening_engine(
        (struct nbody_options){.precision = NBODY_DOUBLE, .dt = 1. / 128, .softening = eps}, N);
    works(nbody_step(one, 8));
    works(nbody_step(nb, 8));
    works(nbody_state(one, pos1, NULL));
    works(nbody_state(nb, acc, NULL));
    assert_true(largest_difference(N, acc, pos1) < 1e-15);
    nbody_free(one);
    nbody_free(nb);
}

/* Coincident bodies without softening do not attract each other; softened ones contribute to the
 * energy. */
static void softening_coincident_bodies_have_no_force(void **state)
{
    (void)state;
    static const double some[4] = {0, 0, 0.5, 0.5};
    for (int precision = NBODY_SINGLE; precision <= NBODY_DOUBLE; precision++) {
        memset(pos, 0, 4 * sizeof *pos);
        memset(vel, 0, 4 * sizeof *vel);
        pos[2][0] = pos[3][0] = 1;
        mass[0] = mass[1] = mass[2] = mass[3] = 1;
        nbody *nb = softening_engine(
            (struct nbody_options){
                .precision = (enum nbody_precision)precision, .dt = 1, .softening = some},
            4);
        works(nbody_forces(nb, acc, phi));
        const double far = sqrt(1.125), right = 2 / (far * far * far);
        assert_true(fabs(acc[0][0] - right) < 1e-6 && fabs(acc[2][0] + right) < 1e-6);
        assert_true(fabs(phi[0] + 2 / far) < 1e-6 && fabs(phi[2] + 2 / far + 2) < 1e-6);
        nbody_free(nb);
    }
}

/* A saved state continues in an engine created with other positions and units. */
static void softening_saved_run_continues(void **state)
{
    (void)state;
    softening_cluster();
    nbody *a = softening_engine((struct nbody_options){.dt = 1. / 64, .softening = eps}, N);
    memcpy(pos1, pos, sizeof pos);
    for (size_t i = 0; i < N; i++)
        pos[i][0] = 100 + (double)i;
    nbody *b = softening_engine((struct nbody_options){.dt = 1. / 64, .softening = eps}, N);
    char *bytes = malloc(nbody_save_bytes(a));
    works(nbody_save(a, bytes));
    works(nbody_load(b, bytes, nbody_save_bytes(a)));
    works(nbody_step(a, 5));
    works(nbody_step(b, 5));
    works(nbody_state(a, pos1, NULL));
    works(nbody_state(b, acc, NULL));
    assert_memory_equal(pos1, acc, sizeof acc);
    free(bytes);
    nbody_free(a);
    nbody_free(b);
}

static void softening_rejects_bad_options(void **state)
{
    (void)state;
    const struct nbody_options wrong[] = {{.method = NBODY_TREE},
                                          {.kernel = NBODY_TILED},
                                          {.precision = NBODY_MIXED},
                                          {.integrator = NBODY_HERMITE4, .stepping = NBODY_BLOCK}};
    softening_cluster();
    for (size_t i = 0; i <= sizeof wrong / sizeof *wrong; i++) {
        struct nbody_options o = i ? wrong[i - 1] : (struct nbody_options){0};
        o.dt = 1;
        o.softening = eps;
        eps[5] = i ? 1 : -1;
        fails_null(EINVAL,
                   nbody_create(&o, N, mass, (const double(*)[3])pos, (const double(*)[3])vel));
    }
    nbody *nb = softening_engine(
        (struct nbody_options){.dt = 1, .softening = eps, .method = NBODY_AUTO}, N);
    assert_int_equal(nbody_method(nb), NBODY_DIRECT);
    nbody_free(nb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softening_forces_match_formula),
        cmocka_unit_test(softening_integrators_match_reference),
        cmocka_unit_test(softening_conserves_momentum),
        cmocka_unit_test(softening_coincident_bodies_have_no_force),
        cmocka_unit_test(softening_saved_run_continues),
        cmocka_unit_test(softening_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
