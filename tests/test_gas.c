/* Velocities with bits equal to plain C, their statistics, and the quantities that a gas
 * reports.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include <math.h>

#include "arrays/arrays_ref.h"
#include "gas/gas_ref.h"
#include "stdcl/gas.h"

static CLCONTEXT *cp;
static bool doubles_here; /* every device has them; else sums of floats are pairs of floats */

static gas *make_gas(struct gas_options o)
{
    o.ctx = cp;
    gas *g = gas_create(&o);
    ready(g);
    return g;
}

static double gas_energy_of(struct gas_options o)
{
    struct gas_energy e;
    gas *g = make_gas(o);
    works(gas_measure(g, &e));
    gas_free(g);
    return e.mean_energy;
}

/* Mean energy of n molecules, k_B T = 1, in plain C. */
static double gas_reference_energy(uint64_t seed, size_t n)
{
    float *plane[3];
    for (int c = 0; c < 3; c++)
        plane[c] = malloc(n * sizeof(float));
    for (size_t i = 0; i < n; i++) {
        float v[3];
        gas_ref_velocity(seed, i, v);
        for (int c = 0; c < 3; c++)
            plane[c][i] = v[c];
    }
    const double sum = arrays_ref_squares(
        ARRAYS_FLOAT, doubles_here ? ARRAYS_WIDE : (enum arrays_accumulator)ARRAYS_REF_FLOAT_PAIRS,
        plane[0], plane[1], plane[2], n);
    for (int c = 0; c < 3; c++)
        free(plane[c]);
    return 0.5 * (sum / (double)n);
}

/* ---- The same on every device. --------------------------------------------------------------- */

/* Stored velocities, copied back, of molecules at both ends and around block boundaries. */
static void gas_velocities_match_reference(void **state)
{
    (void)state;
    const size_t n = 100003;
    double(*v)[3] = malloc(n * sizeof *v);
    for (int way = 0; way < 4; way++) {
        if (way == 2 && !doubles_here)
            continue;
        gas *g = make_gas((struct gas_options){.n = n,
                                               .seed = 0x123456789abcdefull,
                                               .storage = way < 3 ? GAS_STORED : GAS_FUSED,
                                               .source = way == 1 ? GAS_HOST : GAS_DEVICE,
                                               .type = way == 2 ? ARRAYS_DOUBLE : ARRAYS_FLOAT});
        memset(v, 0, n * sizeof *v);
        works(gas_velocities(g, 0, n, v));
        for (size_t i = 0; i < n; i++) {
            float right[3];
            gas_ref_velocity(0x123456789abcdefull, i, right);
            for (int c = 0; c < 3; c++)
                if (v[i][c] != (double)right[c])
                    fail_msg("way %d, molecule %zu: %.9g, not %.9g", way, i, v[i][c],
                             (double)right[c]);
        }
        gas_free(g);
    }
    free(v);
}

/* The energy has equal bits in plain C, stored or not, on every device, with every group size. */
static void gas_energy_bits_are_equal(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 2, 3, 17, 64, 2049, 32768, 100003};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const uint64_t n = sizes[k];
        const double right = gas_reference_energy(7, (size_t)n);
        assert_true(gas_energy_of((struct gas_options){.n = n, .seed = 7}) == right);
        assert_true(gas_energy_of((struct gas_options){.n = n, .seed = 7, .storage = GAS_STORED}) ==
                    right);
        assert_true(gas_energy_of((struct gas_options){
                        .n = n, .seed = 7, .storage = GAS_STORED, .source = GAS_HOST}) == right);
        if (doubles_here)
            assert_true(gas_energy_of((struct gas_options){
                            .n = n, .seed = 7, .storage = GAS_STORED, .type = ARRAYS_DOUBLE}) ==
                        right);
    }
    static const char *const shapes[] = {"width=1 group=64",
                                         "width=1 group=256",
                                         "width=2 group=8",
                                         "width=4 group=1",
                                         "width=8 group=1 launch_blocks=0",
                                         "width=16 group=1 launch_blocks=1",
                                         "width=1 group=64 unroll=4",
                                         "width=16 group=1 unroll=2"};
    const double right = gas_reference_energy(7, 100003);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        assert_true(gas_energy_of(
                        (struct gas_options){.n = 100003, .seed = 7, .shape = shapes[k]}) == right);
    assert_true(gas_energy_of((struct gas_options){.n = 100003, .seed = 8}) != right);
}

static int count_gas_calls(void *arg, uint64_t done)
{
    (void)done;
    ++*(int *)arg;
    return 0;
}

/* Launches cut to a minimum, one block each, give equal bits. */
static void gas_energy_bits_are_equal_in_slices(void **state)
{
    (void)state;
    enum { N = 300003, BLOCKS = (N + 32767) / 32768, BINS = 50 };
    const int least =
        (BLOCKS - 1) / (int)clgetndev(stddev) + 1; /* of one device, with equal shares */
    uint64_t count[BINS + 1], count_cut[BINS + 1];
    const double right = gas_reference_energy(7, N);
    gas *g = make_gas((struct gas_options){.n = N, .seed = 7});
    works(gas_histogram(g, 4, BINS, count));
    gas_free(g);
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    for (int way = 0; way < 3; way++) {
        int calls = 0;
        struct gas_energy e;
        g = make_gas((struct gas_options){
            .n = N,
            .seed = 7,
            .storage = way ? GAS_STORED : GAS_FUSED,
            .source = way == 2 ? GAS_HOST : GAS_DEVICE,
            .progress = count_gas_calls,
            .arg = &calls,
            .shape = way ? "host=0"
                         : NULL}); /* by kernels, which this number of molecules does not need */
        works(gas_measure(g, &e));
        assert_true(calls >= least);
        assert_true(e.mean_energy == right);
        works(gas_histogram(g, 4, BINS, count_cut));
        assert_memory_equal(count, count_cut, sizeof count);
        gas_free(g);
    }
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
}

/* Counter and key have 64 bits: molecules beyond 2^32 differ from those before. */
static void gas_counts_beyond_32_bits(void **state)
{
    (void)state;
    float a[3], b[3], c[3];
    gas_ref_velocity(1, 5, a);
    gas_ref_velocity(1, 5 + (1ull << 32), b);
    gas_ref_velocity(1 + (1ull << 32), 5, c);
    assert_true(a[0] != b[0] && a[0] != c[0] && b[0] != c[0]);
    gas *g = make_gas((struct gas_options){.n = (1ull << 32) + 6, .seed = 1});
    double v[1][3];
    works(gas_velocities(g, 5 + (1ull << 32), 1, v));
    assert_true(v[0][0] == (double)b[0] && v[0][2] == (double)b[2]);
    fails(EINVAL, gas_velocities(g, 1ull << 32, 7, v));
    gas_free(g);
}

/* ---- Statistics, at fixed seeds: these either always pass or never. -------------------------- */

static int ascending_speeds(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

enum { MANY = 1000000 };

/* Mean, variance, skewness and kurtosis of each component, and products of different ones,
 * within four standard errors. */
static void gas_moments_match_maxwell(void **state)
{
    (void)state;
    double m[3][5] = {{0}}, product[3] = {0};
    for (size_t i = 0; i < MANY; i++) {
        float v[3];
        gas_ref_velocity(11, i, v);
        for (int c = 0; c < 3; c++) {
            double power = 1;
            for (int k = 1; k < 5; k++)
                m[c][k] += (power *= (double)v[c]) / MANY;
            product[c] += (double)v[c] * (double)v[(c + 1) % 3] / MANY;
        }
    }
    const double sigma = 1 / sqrt(MANY);
    for (int c = 0; c < 3; c++) {
        assert_true(fabs(m[c][1]) < 4 * sigma);
        assert_true(fabs(m[c][2] - 1) < 4 * sqrt(2) * sigma);
        assert_true(fabs(m[c][3]) < 4 * sqrt(15) * sigma);
        assert_true(fabs(m[c][4] - 3) < 4 * sqrt(96) * sigma);
        assert_true(fabs(product[c]) < 4 * sigma);
    }
}

/* Kolmogorov-Smirnov: the largest distance between the empirical and the exact distribution,
 * times sqrt(n), exceeds 1.95 with probability 0.001, and is below 0.3 with probability 10^-5. */
static double kolmogorov_distance(float *sample, double (*below)(double))
{
    double most = 0;
    qsort(sample, MANY, sizeof *sample, ascending_speeds);
    for (size_t i = 0; i < MANY; i++) {
        const double p = below((double)sample[i]);
        most = fmax(most, fmax(fabs(p - (double)i / MANY), fabs(p - (double)(i + 1) / MANY)));
    }
    return most * sqrt(MANY);
}

static double normal_below(double v)
{
    return 0.5 * erfc(-v / sqrt(2));
}
static double speed_below(double v)
{
    return gas_speed_cdf(v, 1, 1, 1);
}

static void gas_distributions_pass_kolmogorov_smirnov(void **state)
{
    (void)state;
    float *sample = malloc(MANY * sizeof *sample);
    for (int c = 0; c < 4; c++) { /* three components, and the speed */
        for (size_t i = 0; i < MANY; i++) {
            float v[3];
            gas_ref_velocity(13, i, v);
            sample[i] = c < 3 ? v[c] : sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        }
        const double d = kolmogorov_distance(sample, c < 3 ? normal_below : speed_below);
        if (!(d < 1.95 && d > 0.3))
            fail_msg("component %d: distance %g", c, d);
    }
    free(sample);
}

/* Published values of Maxwell's distribution: a fraction of 0.4276 is slower than the most
 * probable speed sqrt(2), 0.6084 slower than sqrt(3); F(1) = 0.198748. */
static void gas_slow_fractions_match_published(void **state)
{
    (void)state;
    assert_true(fabs(gas_speed_cdf(sqrt(2), 1, 1, 1) - 0.427593) < 1e-6);
    assert_true(fabs(gas_speed_cdf(sqrt(3), 1, 1, 1) - 0.608375) < 1e-6);
    assert_true(fabs(gas_speed_cdf(1, 1, 1, 1) - 0.198748) < 1e-6);
    assert_true(gas_speed_cdf(0, 1, 1, 1) == 0 && gas_speed_cdf(-1, 1, 1, 1) == 0 &&
                gas_speed_cdf(50, 1, 1, 1) == 1);
    assert_true(fabs(gas_speed_cdf(2 * sqrt(2), 2, 0.5, 1) - 0.427593) < 1e-6);
}

/* ---- A gas. ---------------------------------------------------------------------------------- */

static void gas_energies_match_theory(void **state)
{
    (void)state;
    struct gas_energy e, si;
    gas *g = make_gas((struct gas_options){.n = 1000000, .seed = 3});
    works(gas_measure(g, &e));
    gas_free(g);
    assert_true(e.expected == 1.5);
    assert_true(fabs(e.standard_error - sqrt(1.5e-6)) < 1e-12);
    assert_true(fabs(e.sigmas - (e.mean_energy - 1.5) / e.standard_error) < 1e-12);
    assert_true(fabs(e.sigmas) < 4 && e.sigmas != 0);
    assert_true(fabs(e.temperature - e.mean_energy / 1.5) < 1e-15);
    /* The same gas as helium at 300 K: energies scale with k_B T. */
    const double helium = gas_species_list()[0].mass;
    assert_true(fabs(helium / 6.6464731e-27 - 1) < 1e-5); /* CODATA: the mass of helium-4 */
    g = make_gas((struct gas_options){
        .n = 1000000, .seed = 3, .temperature = 300, .mass = helium, .boltzmann = GAS_BOLTZMANN});
    works(gas_measure(g, &si));
    double v[1][3];
    float unit[3];
    works(gas_velocities(g, 0, 1, v));
    gas_ref_velocity(3, 0, unit);
    assert_true(fabs(v[0][0] / (789.41 * (double)unit[0]) - 1) <
                1e-4); /* sqrt(k_B T / m) = 789.41 m/s */
    gas_free(g);
    assert_true(fabs(si.mean_energy / (300 * GAS_BOLTZMANN) / e.mean_energy - 1) < 1e-14);
    assert_true(fabs(si.sigmas - e.sigmas) < 1e-6);
    /* A mole in 22.414 litres at 273.15 K: one atmosphere. */
    assert_true(
        fabs(gas_pressure(602214076000000000ull, 1.5 * GAS_BOLTZMANN * 273.15, 22.413969e-9) -
             101325) < 1);
}

static void gas_accumulators_agree(void **state)
{
    (void)state;
    const double right = gas_reference_energy(5, 50001);
    assert_true(
        fabs(gas_energy_of((struct gas_options){
                 .n = 50001, .seed = 5, .storage = GAS_STORED, .accumulator = ARRAYS_COMPENSATED}) /
                 right -
             1) < 1e-12);
    char *without = cltemplate(NULL, "", 0, NULL);
    if (doubles_here && (without || clerrno != ENOTSUP))
        assert_true(fabs(gas_energy_of((struct gas_options){
                             .n = 50001, .seed = 5, .storage = GAS_STORED, .method = ARRAYS_TREE}) /
                             right -
                         1) < 1e-14);
    free(without);
}

static void gas_given_velocities_are_measured(void **state)
{
    (void)state;
    enum { N = 5 };
    const double v[N][3] = {{3, 4, 0}, {0, 0, 2}, {1, 2, 2}, {0, 0, 0}, {-6, 0, 8}};
    struct gas_energy e;
    uint64_t count[12];
    gas *g = make_gas((struct gas_options){.n = N,
                                           .mass = 2,
                                           .storage = GAS_STORED,
                                           .source = GAS_GIVEN,
                                           .type = doubles_here ? ARRAYS_DOUBLE : ARRAYS_FLOAT});
    fails(EINVAL, gas_measure(g, &e));
    works(gas_set_velocities(g, v));
    works(gas_measure(g, &e));
    assert_true(e.mean_energy == (25 + 4 + 9 + 0 + 100) / 5.0);
    works(gas_histogram(g, 9, 9, count));
    const uint64_t right[10] = {1, 0, 1, 1, 0, 1, 0, 0, 0, 1};
    assert_memory_equal(count, right, sizeof right);
    double back[N][3], broken[N][3];
    works(gas_velocities(g, 0, N, back));
    assert_memory_equal(back, v, sizeof v);
    memcpy(broken, v, sizeof v);
    broken[3][1] = NAN;
    fails(EDOM, gas_set_velocities(g, (const double(*)[3])broken));
    fails(EINVAL, gas_measure(g, &e));
    broken[3][1] = 1e200; /* whose square overflows, also to infinity in single precision */
    if (doubles_here) {
        works(gas_set_velocities(g, (const double(*)[3])broken));
        fails(ERANGE, gas_measure(g, &e));
    }
    gas_free(g);
}

/* The mean energy of equal molecules is the energy of one. Squares neither overflow nor underflow,
 * and an energy without full precision is an error. */
static void gas_energy_of_extreme_velocities(void **state)
{
    (void)state;
    static const struct {
        double v, mass, energy; /* energy 0 for v > 0: out of range */
        bool in_floats;
    } cases[] = {{1e-170, 1e300, 1.5e-40, false},
                 {1e-158, 1e300, 1.5e-16, false},
                 {1e200, 1e-300, 1.5e100, false},
                 {5e-324, 1e308, 0, false},
                 {1e-160, 1, 0, false},
                 {1e-155, 1, 0, false},
                 {1e155, 1, 0, false},
                 {0, 1, 0, true},
                 {1e-30, 1e40, 1.5e-20, true},
                 {1e-40, 1, 1.5e-80, true},
                 {1e38, 1e-100, 1.5e-24, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int k = 0; k < 4; k++) {
            const double v = cases[i].in_floats ? (double)(float)cases[i].v : cases[i].v,
                         right = cases[i].energy * (v > 0 ? v / cases[i].v * (v / cases[i].v) : 1);
            enum { N = 700 };
            double velocity[N][3];
            struct gas_energy e;
            const bool doubles = k / 2 != 0;
            if (doubles ? !doubles_here : !cases[i].in_floats)
                continue;
            for (size_t j = 0; j < N; j++)
                for (int c = 0; c < 3; c++)
                    velocity[j][c] = j % 2 ? v : -v;
            gas *g = make_gas((struct gas_options){
                .n = N,
                .mass = cases[i].mass,
                .storage = GAS_STORED,
                .source = GAS_GIVEN,
                .type = doubles ? ARRAYS_DOUBLE : ARRAYS_FLOAT,
                .accumulator = k % 2 ? ARRAYS_COMPENSATED : (enum arrays_accumulator)0});
            works(gas_set_velocities(g, (const double(*)[3])velocity));
            if (v > 0 && right == 0)
                fails(ERANGE, gas_measure(g, &e));
            else
                works(gas_measure(g, &e));
            if ((v == 0 || right > 0) && !(fabs(e.mean_energy - right) <= 1e-13 * right))
                fail_msg("v %g, mass %g: energy %.17g, not %.17g", v, cases[i].mass, e.mean_energy,
                         right);
            works(gas_velocities(g, 0, 1, velocity + 1));
            assert_true(velocity[1][0] == velocity[0][0]);
            gas_free(g);
        }
}

/* The device's counts equal those of plain C, whether velocities are stored or drawn again. */
static void gas_histograms_match_reference(void **state)
{
    (void)state;
    enum { N = 70001, BINS = 50 };
    uint64_t right[BINS + 1] = {0}, count[BINS + 1];
    double expected = 0, chi2 = 0;
    for (enum gas_storage s = GAS_FUSED; s <= GAS_STORED; s++) {
        gas *g = make_gas((struct gas_options){.n = N, .seed = 9, .storage = s, .temperature = 4});
        works(gas_histogram(g, 8, BINS, count));
        uint64_t sum = 0;
        for (size_t b = 0; b <= BINS; b++)
            sum += count[b];
        assert_true(sum == N);
        if (s == GAS_STORED)
            assert_memory_equal(count, right, sizeof right);
        memcpy(right, count, sizeof right);
        gas_free(g);
    }
    uint64_t plain[BINS + 1] = {0};
    for (size_t i = 0; i < N; i++) {
        float v[3];
        gas_ref_velocity(9, i, v);
        const double speed = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] +
                                  (double)v[2] * (double)v[2]);
        const size_t b = (size_t)(speed / 4 * BINS);
        plain[b < BINS ? b : BINS]++;
    }
    for (size_t b = 0; b < BINS; b++) { /* rounding moves a molecule or two over an edge */
        assert_true(fabs((double)plain[b] - (double)right[b]) <= 2);
        expected = N * (gas_speed_cdf(8.0 * (double)(b + 1) / BINS, 4, 1, 1) -
                        gas_speed_cdf(8.0 * (double)b / BINS, 4, 1, 1));
        chi2 += pow((double)right[b] - expected, 2) / expected;
    }
    assert_true(chi2 < 90 && chi2 > 20); /* 50 degrees of freedom: 0.9995 are below 90 */
}

static int end_gas_after(void *arg, uint64_t done)
{
    *(uint64_t *)arg = done;
    return done > 100000;
}

static void gas_rejects_bad_calls(void **state)
{
    (void)state;
    struct gas_energy e;
    uint64_t count[2], done = 0;
    double v[1][3];
#define refuses(...) fails_null(EINVAL, gas_create(&(struct gas_options){.ctx = cp, __VA_ARGS__}))
    struct gas_options grown = {.ctx = cp, .n = 1};
    refuses_reserved(grown, gas_create(&grown));
    refuses(.n = 0);
    refuses(.n = (1ull << 53) + 1);
    refuses(.n = 1, .temperature = -1);
    refuses(.n = 1, .mass = -1);
    refuses(.n = 1, .temperature = NAN);
    refuses(.n = 1, .boltzmann = INFINITY);
    refuses(.n = 1, .source = GAS_HOST);
    refuses(.n = 1, .method = ARRAYS_TREE);
    refuses(.n = 1, .shape = "colour=3");
    fails_null(EINVAL, gas_create(NULL));
    fails_null(EINVAL, gas_create(&(struct gas_options){
                           .ctx = cp, .n = 1, .storage = GAS_STORED, .type = ARRAYS_INT}));
    gas *g = make_gas((struct gas_options){
        .n = 1000000, .shape = "launch_blocks=0", .progress = end_gas_after, .arg = &done});
    fails(ECANCELED, gas_measure(g, &e));
    assert_true(done > 100000 && done < 1000000);
    fails(EINVAL, gas_histogram(g, 0, 1, count));
    fails(EINVAL, gas_histogram(g, 1, 0, count));
    fails(EINVAL, gas_set_velocities(g, (const double(*)[3])v));
    assert_true(gas_molecules(g) == 1000000 && gas_bytes(g) == 0);
    contains(gas_shape(g, 0), "launch_blocks=0");
    assert_true(strlen(gas_explain(g, 0)) > 0);
    gas_free(g);
    gas_free(NULL);
}

static int open_gas_context(void **state)
{
    (void)state;
    cp = stddev;
    doubles_here = have_doubles(cp);
    return setup_done(cp);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(gas_counts_beyond_32_bits),
        cmocka_unit_test(gas_moments_match_maxwell),
        cmocka_unit_test(gas_slow_fractions_match_published),
        cmocka_unit_test(gas_energies_match_theory),
        cmocka_unit_test(gas_given_velocities_are_measured),
        cmocka_unit_test(gas_energy_of_extreme_velocities),
        cmocka_unit_test(gas_histograms_match_reference),
        cmocka_unit_test(gas_rejects_bad_calls),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(gas_energy_bits_are_equal),
        cmocka_unit_test(gas_velocities_match_reference),
        cmocka_unit_test(gas_distributions_pass_kolmogorov_smirnov),
        cmocka_unit_test(gas_accumulators_agree),
        cmocka_unit_test(gas_energy_bits_are_equal_in_slices),
    };
    return sampled_run("gas", tests, 7, 3, open_gas_context, NULL);
}
