/* The model of `stdcl cluster-model` against measurements on one host, and its general bounds.
 * Figures are from bench/results/nvidia-h200-x4.json and, of bench/studies, nvidia-h200-world.json,
 * -several.json and -cluster.json, each with the result of one GPU in the same run.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "cli/cluster_model.h"

#include <math.h>
#include <stdio.h>

static struct cluster h200(enum cluster_program program, double n, double gpus, double rate)
{
    return (struct cluster){.program = program,
                            .n = n,
                            .gpus = gpus,
                            .gpus_per_host = 8,
                            .rate = rate,
                            .memory = 141e9,
                            .pcie = 55e9,
                            .network = 45e9,
                            .latency = 3e-6};
}

static const struct point {
    enum cluster_program program;
    double n, gpus, alone, seconds; /* alone: on one GPU */
} measured[] = {
    {CLUSTER_NBODY, 65536, 2, 2160.4e-6, 1168.2e-6},
    {CLUSTER_NBODY, 65536, 4, 2160.4e-6, 717.5e-6},
    {CLUSTER_NBODY, 262144, 2, 34028.4e-6, 17150.8e-6},
    {CLUSTER_NBODY, 262144, 4, 34028.4e-6, 8692.7e-6},
    {CLUSTER_NBODY, 0x1p20, 2, 543.9152e-3, 272.4994e-3},
    {CLUSTER_NBODY, 0x1p20, 4, 543.9152e-3, 136.6213e-3},
    {CLUSTER_NBODY, 65536, 2, 1.9929e-3, 1.0743e-3},
    {CLUSTER_LIFE, 131072, 2, 0x1p34 / 33.07851e12, 0x1p34 / 65.19485e12},
    {CLUSTER_LIFE, 131072, 4, 0x1p34 / 33.07851e12, 0x1p34 / 127.60161e12},
    {CLUSTER_LIFE, 131072, 2, 0x1p34 / 33.34e12, 0x1p34 / 65.53e12},
    {CLUSTER_NBODY, 65536, 2, 3.981132 / 2000, 2.138936 / 2000},
    {CLUSTER_NBODY, 262144, 2, 6.288638 / 200, 3.243737 / 200},
    {CLUSTER_LIFE, 131072, 2, 2.110144 / 4096, 1.077224 / 4096},
    {CLUSTER_LIFE, 16384, 2, 0.226013 / 20000, 0.199402 / 20000},
    {CLUSTER_MATMUL, 32768, 2, 1.332978, 0.699811},
    {CLUSTER_GAS, 1e10, 2, 0.0752404, 0.037813},
    {CLUSTER_GAS, 1e11, 2, 0.7524, 0.3777},
    {CLUSTER_GAS, 1e11, 4, 0.7524, 0.1915},
    {CLUSTER_GAS, 1e10, 2, 0.07529, 0.0378},
    {CLUSTER_GAS, 5e11, 2, 3.767, 1.904},
    {CLUSTER_TREE, 0x1p24, 2, 33.1944e-3, 18.7375e-3},
    {CLUSTER_TREE, 0x1p24, 2, 33.1979e-3, 18.8596e-3},
    {CLUSTER_TREE, 0x1p27, 2, 249.292e-3, 131.0082e-3},
};

static double model_rate_of(const struct point *p)
{
    const struct cluster c = h200(p->program, p->n, 1, 1);
    return cluster_work(&c) / (p->alone - (p->program == CLUSTER_NBODY ? 16e-6 : 0));
}

static void cluster_model_is_near_measurements(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++) {
        const struct point *p = &measured[i];
        const struct cluster c = h200(p->program, p->n, p->gpus, model_rate_of(p));
        struct cluster_time t;
        assert_int_equal(cluster_predict(&c, &t), 0);
        const double error = t.seconds / p->seconds - 1;
        print_message("%zu: %.5g s, measured %.5g s: %+.1f %%\n", i, t.seconds, p->seconds,
                      100 * error);
        if (fabs(error) > 0.03)
            fail_msg("point %zu is off by %.1f %%", i, 100 * error);
    }
}

/* A step is never shorter than its part of the work, nor than the transfers between hosts; one
 * GPU has its full speed. */
static void cluster_model_keeps_lower_bounds(void **state)
{
    (void)state;
    static const double rate[CLUSTER_PROGRAMS] = {2.025e12, 504e6, 33.1e12, 54e12, 133e9},
                        n[CLUSTER_PROGRAMS] = {0x1p22, 0x1p29, 0x1p20, 0x1p17, 1e12};
    for (int program = 0; program < CLUSTER_PROGRAMS; program++)
        for (double gpus = 1; gpus <= 16384; gpus *= 2) {
            const struct cluster c =
                h200((enum cluster_program)program, n[program], gpus, rate[program]);
            struct cluster slow = c;
            struct cluster_time t, s;
            slow.network /= 4;
            slow.latency *= 4;
            assert_int_equal(cluster_predict(&c, &t), 0);
            assert_int_equal(cluster_predict(&slow, &s), 0);
            assert_true(t.seconds >= cluster_work(&c) / (gpus * rate[program]) * (1 - 1e-12));
            assert_true(s.seconds >= t.seconds);
            assert_true(gpus > 1 || t.efficiency > 0.99);
            assert_true(gpus <= 8 ? t.mail == 0 : t.mail > 0);
            assert_true(t.efficiency <= 1.0001);
        }
    const struct cluster thin = h200(CLUSTER_LIFE, 1000, 512, 1e12);
    struct cluster_time t;
    assert_int_equal(cluster_predict(&thin, &t), -1);
    for (int program = 0; program < CLUSTER_PROGRAMS; program++) {
        const struct cluster few = h200((enum cluster_program)program, 100, 101, 1e12);
        assert_int_equal(cluster_predict(&few, &t), -1);
    }
    /* 10^9 bodies fit one H200 (bench/studies/nvidia-h200-tree-large.json), 2*10^9 fit two. */
    const struct cluster one = h200(CLUSTER_TREE, 1e9, 1, 504e6),
                         large = h200(CLUSTER_TREE, 1e12, 950, 504e6),
                         two = h200(CLUSTER_TREE, 2e9, 2, 504e6),
                         enough = h200(CLUSTER_TREE, 1e12, 1000, 504e6);
    assert_int_equal(cluster_predict(&one, &t), 0);
    assert_int_equal(cluster_predict(&two, &t), 0);
    assert_int_equal(cluster_predict(&large, &t), -1);
    assert_int_equal(cluster_predict(&enough, &t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cluster_model_is_near_measurements),
        cmocka_unit_test(cluster_model_keeps_lower_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
