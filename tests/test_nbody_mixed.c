/* Mixed precision: positions and their differences in double, forces in single.
 *
 * Forces are compared with plain C in double precision, and runs with runs in double.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"
#include "deep.h"

#include "core/args.h"
#include "nbody/engine.h"
#include "nbody/reference/nbody_ref.h"
#include "nbody/reference/nbody_ref_tree.h"

#include <math.h>

enum { MOST = 2048 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static double acc[MOST][3], right[MOST][3], phi[MOST], phi_right[MOST], error[MOST];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

static nbody *mixed_engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.dt = o.dt != 0 ? o.dt : 1. / 64;
    builds_unoptimised = o.shape;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static int ascending_errors(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Return the error, relative to a body's own acceleration, that a given fraction of the bodies
 * stays below. */
static double errors_below(const struct nbody_options *o, size_t n, double part)
{
    nbody *nb = mixed_engine(*o, n);
    works(nbody_forces(nb, acc, phi));
    nbody_free(nb);
    nbody_ref_forces(n, 1, o->eps, mass, (rows)pos, right, phi_right);
    for (size_t i = 0; i < n; i++) {
        double off = 0, size = 0;
        for (int c = 0; c < 3; c++) {
            off += (acc[i][c] - right[i][c]) * (acc[i][c] - right[i][c]);
            size += right[i][c] * right[i][c];
        }
        error[i] = sqrt(off / size);
        assert_true(fabs(phi[i] - phi_right[i]) <=
                    1e-12 * fabs(phi_right[i])); /* which are in double */
    }
    qsort(error, n, sizeof *error, ascending_errors);
    return error[(size_t)((double)(n - 1) * part)];
}

static void make_mixed_bodies(size_t n, double far)
{
    works(nbody_initial(NBODY_PLUMMER, n, 5, mass, pos, vel));
    for (size_t i = 0; i < n; i++) {
        mass[i] *= 1 + 0.3 * (double)(i % 4);
        for (int c = 0; c < 3; c++)
            pos[i][c] += far * (c + 1);
    }
}

/* Shapes of CPUs and GPUs: vectors, and tiles in local memory. */
static const char *const shapes[] = {
    NULL,
    "group=32 width=1 items=2 tile=32 local=1 unroll=4 block=64 rsqrt=0 groups_per_unit=1000 group_1d=16"};

/* Bodies sorted along a curve, and clusters whose distant bodies are summed without the low half
 * of the coordinates. */
static const char *const clusters[] = {
    "cluster_min=256",
    "cluster_min=256 group=32 width=1 items=2 tile=32 local=1 unroll=4 block=64 rsqrt=0 groups_per_unit=1000 group_1d=16",
    "cluster_min=256 group=64 width=1 items=4 tile=128 local=1 prefetch=1 unroll=8 block=1024 rsqrt=2 groups_per_unit=1 group_1d=16"};

/* Forces of a system far from the origin are as accurate as at the origin: even where most
 * contributions cancel, the largest error is that of single precision. Plain single precision
 * would be off by a third there. */
static void mixed_forces_far_from_origin_are_accurate(void **state)
{
    static const double far[] = {0, 1e3, 1e6};
    (void)state;
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        const struct nbody_options o = {.precision = NBODY_MIXED, .eps = 0.01, .shape = shapes[s]};
        if (!sampled(s, COUNT_OF(shapes)))
            continue;
        double most = 4e-6; /* plain C in single precision, blocks of 384, roots of 22 bits: 0.9e-6
                               to 3e-6 in four spheres */
        for (size_t f = 0; f < COUNT_OF(far); f++) {
            make_mixed_bodies(1500, far[f]);
            assert_true(errors_below(&o, 1500, 0.99) < 1e-6);
            assert_true(error[1499] < most);
            most = f == 0 ? 3 * error[1499] : most;
        }
    }
}

/* A sphere of pairs separated by 1e-8 of its size, at the origin or away from it: only the
 * partner's force counts. */
static void mixed_close_pairs_are_accurate(void **state)
{
    static const double far[] = {0, 100};
    (void)state;
    for (size_t f = 0; f < COUNT_OF(far); f++)
        for (size_t s = 0; s < COUNT_OF(shapes); s++) {
            double size = 0;
            make_mixed_bodies(1000, 0);
            for (size_t i = 0; i < 1000; i++)
                for (int c = 0; c < 3; c++)
                    size = fmax(size, fabs(pos[i][c]));
            for (size_t i = 0; i < 1000; i += 2)
                for (int c = 0; c < 3; c++) {
                    pos[i][c] += far[f] * (c + 1);
                    pos[i + 1][c] = pos[i][c] + 1e-8 * size * (c == (int)(i / 2 % 3) ? 1 : 0.3);
                }
            const struct nbody_options o = {.precision = NBODY_MIXED, .shape = shapes[s]};
            assert_true(
                errors_below(&o, 1000, 0.99) <
                (far[f] > 0 ? 3e-7 : 1.5e-7)); /* away from the origin all pairs round equally */
        }
}

/* Equal masses leave the inner loop; few bodies leave most of a group empty. */
static void mixed_equal_masses_and_few_bodies_match(void **state)
{
    static const size_t sizes[] = {2, 3, 65, 300};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(sizes); k++)
        for (size_t s = 0; s < COUNT_OF(shapes); s++) {
            make_mixed_bodies(sizes[k], 7);
            const struct nbody_options o = {
                .precision = NBODY_MIXED, .eps = 0.01, .shape = shapes[s]};
            assert_true(errors_below(&o, sizes[k], 1) < 3e-6);
            for (size_t i = 0; i < sizes[k]; i++)
                mass[i] = 0.25;
            assert_true(errors_below(&o, sizes[k], 1) < 3e-6);
        }
}

/* A crossing time of a Plummer sphere: the energy error is the integrator's, equal to the run in
 * double. In single precision it would be ten times larger. */
static void mixed_energy_error_matches_double(void **state)
{
    enum { N = 512 };
    struct nbody_options o = {.eps = 0.05, .dt = 1. / 1024};
    double change[2];
    (void)state;
    make_mixed_bodies(N, 0);
    for (int mixed = 0; mixed < 2; mixed++) {
        o.precision = mixed ? NBODY_MIXED : NBODY_DOUBLE;
        nbody *nb = mixed_engine(o, N);
        const double before = total_energy(nb);
        works(nbody_step(nb, 2896)); /* 2 sqrt 2 */
        change[mixed] = total_energy(nb) / before - 1;
        nbody_free(nb);
    }
    assert_true(fabs(change[1] - change[0]) < 3e-8);
}

/* The state equals the input to the last bit of a double, and moves as in double. */
static void mixed_state_keeps_doubles(void **state)
{
    struct nbody_options o = {.precision = NBODY_MIXED, .eps = 0.05};
    (void)state;
    make_mixed_bodies(300, 1e6);
    nbody *nb = mixed_engine(o, 300);
    works(nbody_state(nb, pos1, vel1));
    assert_memory_equal(pos1, pos, 300 * sizeof *pos);
    assert_memory_equal(vel1, vel, 300 * sizeof *vel);
    works(nbody_step(nb, 8));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    memcpy(pos2, pos, sizeof pos2);
    memcpy(vel2, vel, sizeof vel2);
    works(nbody_ref_run(NBODY_LEAPFROG, 300, 1, 0.05, 1. / 64, 8, mass, pos2, vel2));
    for (size_t i = 0; i < 300; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(vel1[i][c] - vel2[i][c]) < 1e-7 &&
                        fabs(pos1[i][c] - pos2[i][c]) < 2e-8);
}

/* Spheres at three places, with interleaved bodies: distant and near bodies both contribute.
 * Also pairs separated by 1e-8 of the distance of two spheres. */
static void mixed_distant_clusters_are_accurate(void **state)
{
    (void)state;
    for (size_t s = 0; s < COUNT_OF(clusters); s++) {
        const struct nbody_options o = {.precision = NBODY_MIXED,
                                        .eps = 0.01,
                                        .shape = clusters[s]},
                                   hard = {.precision = NBODY_MIXED, .shape = clusters[s]};
        if (!sampled(s, COUNT_OF(clusters)))
            continue;
        make_mixed_bodies(MOST, 1e6);
        for (size_t i = 0; i < MOST; i++)
            pos[i][i % 3] += (double)(i % 3) * 20;
        assert_true(errors_below(&o, MOST, 0.99) < 4e-7);
        assert_true(error[MOST - 1] < 4e-6);
        for (size_t i = 0; i < MOST; i++)
            mass[i] = 0.25;
        assert_true(errors_below(&o, MOST, 0.99) < 4e-7);
        make_mixed_bodies(1000, 0);
        for (size_t i = 0; i < 1000; i += 2)
            for (int c = 0; c < 3; c++) {
                pos[i][c] += i % 4 == 0 && c == 0 ? 100 : 0;
                pos[i + 1][c] = pos[i][c] + 1e-6 * (c == (int)(i / 2 % 3) ? 1 : 0.3);
            }
        assert_true(errors_below(&hard, 1000, 0.99) < 3e-7);
    }
}

static uint64_t place_on_curve(size_t body, const double low[3], double side)
{
    uint32_t at[3];
    for (int c = 0; c < 3; c++)
        at[c] = (uint32_t)((pos[body][c] - low[c]) / side * ((1 << TREE_LEVELS) - 1));
    return nbody_ref_hilbert(at[0], at[1], at[2]);
}

/* Fail unless the bodies of a new engine lie along the curve; coincident bodies keep their
 * order. */
static void follows_the_curve(const nbody *nb, size_t n)
{
    double low[3], side = 0;
    for (int c = 0; c < 3; c++) {
        double high = low[c] = pos[0][c];
        for (size_t i = 1; i < n; i++) {
            low[c] = fmin(low[c], pos[i][c]);
            high = fmax(high, pos[i][c]);
        }
        side = fmax(side, high - low[c]);
    }
    for (size_t row = 1; row < n; row++) {
        const size_t one = nb->particles.body[row - 1], next = nb->particles.body[row];
        const uint64_t a = place_on_curve(one, low, side), b = place_on_curve(next, low, side);
        assert_true(a < b || (a == b && one < next));
    }
}

/* Bodies sorted again twice: they keep their numbers, move as in double precision, and a saved
 * run continues with equal bits. */
static void mixed_sorted_bodies_keep_numbers(void **state)
{
    enum { N = 700 };
    const struct nbody_options o = {
        .precision = NBODY_MIXED, .eps = 0.05, .shape = clusters[0], .shares = equal_shares};
    (void)state;
    make_mixed_bodies(N, 1e6);
    for (size_t i = 3; i < N; i += 70) /* ten at one place */
        memcpy(pos[i], pos[3], sizeof pos[i]);
    nbody *nb = mixed_engine(o, N);
    assert_non_null(nb->particles.body);
    follows_the_curve(nb, N);
    nb->particles.sort_interval = 3;
    works(nbody_state(nb, pos1, vel1));
    assert_memory_equal(pos1, pos, N * sizeof *pos);
    assert_memory_equal(vel1, vel, N * sizeof *vel);
    works(nbody_step(nb, 5));
    void *saved = malloc(nbody_save_bytes(nb));
    assert_non_null(saved);
    works(nbody_save(nb, saved));
    works(nbody_step(nb, 4));
    works(nbody_state(nb, pos1, vel1));
    assert_int_equal(nb->particles.sort_count, 3);
    memcpy(pos2, pos, sizeof pos2);
    memcpy(vel2, vel, sizeof vel2);
    works(nbody_ref_run(NBODY_LEAPFROG, N, 1, 0.05, 1. / 64, 9, mass, pos2, vel2));
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(vel1[i][c] - vel2[i][c]) < 1e-7 &&
                        fabs(pos1[i][c] - pos2[i][c]) < 2e-8);
    nbody_free(nb);
    nb = mixed_engine(o, N);
    nb->particles.sort_interval = 3;
    works(nbody_load(nb, saved, nbody_save_bytes(nb)));
    works(nbody_step(nb, 4));
    works(nbody_state(nb, pos2, vel2));
    assert_memory_equal(pos1, pos2, N * sizeof *pos);
    assert_memory_equal(vel1, vel2, N * sizeof *vel);
    nbody_free(nb);
    free(saved);
}

static void check_mixed_refused(struct nbody_options o, const char *sentence)
{
    o.ctx = stddev;
    o.precision = NBODY_MIXED;
    o.dt = 1;
    assert_null(nbody_create(&o, 100, mass, (rows)pos, (rows)vel));
    assert_int_equal(clerrno, EINVAL);
    assert_non_null(strstr(clerror(), sentence));
}

static void mixed_rejects_unsupported_options(void **state)
{
    (void)state;
    make_mixed_bodies(100, 0);
    check_mixed_refused((struct nbody_options){.integrator = NBODY_HERMITE4},
                        "which the integrator hermite4 needs");
    check_mixed_refused((struct nbody_options){.method = NBODY_TREE},
                        "the tree has no mixed precision");
    if (clgetndev(stddev) == 1)
        check_mixed_refused((struct nbody_options){.kernel = NBODY_TILED},
                            "use the kernel NBODY_TUNED");
}

/* A device without bodies builds no program, and clsym without a program searches all. */
static const struct device_force *sums_of_first_device_with_bodies(const nbody *nb)
{
    const struct nbody_device *p = nb->device;
    while (p < nb->device + nb->ndev && p->rows == 0)
        p++;
    assert_true(p < nb->device + nb->ndev);
    assert_non_null(p->force.program[FORCES]);
    assert_non_null(p->force.program[POTENTIALS]);
    return &p->force;
}

/* The program of potentials has no forces. The first of several devices may have no bodies. */
static void mixed_builds_forces_once(void **state)
{
    static const double all_but_first[64] = {0, 1, 1, 1};
    (void)state;
    make_mixed_bodies(200, 0);
    for (int without_first = 0; without_first < (clgetndev(stddev) > 1 ? 2 : 1); without_first++) {
        nbody *nb =
            mixed_engine((struct nbody_options){.precision = NBODY_MIXED,
                                                .shares = without_first ? all_but_first : NULL},
                         200);
        const struct device_force *const f = sums_of_first_device_with_bodies(nb);
        assert_non_null(clsym(stddev, f->program[FORCES], "forces", 0));
        assert_non_null(clsym(stddev, f->program[POTENTIALS], "potentials", 0));
        assert_null(clsym(stddev, f->program[POTENTIALS], "forces", 0));
        nbody_free(nb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mixed_forces_far_from_origin_are_accurate),
        cmocka_unit_test(mixed_close_pairs_are_accurate),
        cmocka_unit_test(mixed_equal_masses_and_few_bodies_match),
        cmocka_unit_test(mixed_energy_error_matches_double),
        cmocka_unit_test(mixed_state_keeps_doubles),
        cmocka_unit_test(mixed_distant_clusters_are_accurate),
        cmocka_unit_test(mixed_sorted_bodies_keep_numbers),
        cmocka_unit_test(mixed_rejects_unsupported_options),
        cmocka_unit_test(mixed_builds_forces_once),
    };
    struct cldev_info info[16];
    if (!stddev || clgetdevinfo(stddev, info) != 0 || !info[0].dev_pref_vec_double) {
        printf("SKIPPED: the device has no double precision\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
