/* The tree for many models, numbers of bodies, softenings and accuracies: errors of
 * accelerations stay below stored bounds.
 *
 * Slow: it has the label `deep`. The bounds are data, a line per model, in multiples of the
 * requested accuracy.
 * SPDX-License-Identifier: MIT
 */
#include "core/args.h"
#include "stdcl/nbody.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST = 1 << 17,
    SAMPLES = 4000
}; /* of 500 runs, the 99th percentile over five bodies and up to 1.6 times that over all */
static double mass[MOST], pos[MOST][3], vel[MOST][3];

typedef const double (*rows)[3];

/* Modifications of a model. */
static void as_it_is(size_t n)
{
    (void)n;
}

static void two_clusters(size_t n)
{
    for (size_t i = 0; i < n; i++)
        pos[i][0] += i & 1 ? 1e6 : 0;
}

static void masses_over_a_million(size_t n)
{
    for (size_t i = 0; i < n; i++)
        mass[i] *= pow(10, (double)(i % 7));
}

static void black_hole(size_t n)
{
    mass[n / 2] = 0.5 * (double)n * mass[0];
    for (int c = 0; c < 3; c++)
        pos[n / 2][c] = 0;
}

/* Each cube of eight has bodies in three of its octants, down to the tenth level: dimension 1.6. */
static void fractal(size_t n)
{
    static const int parts[] = {0, 3, 5};
    uint64_t state = 1;
    for (size_t i = 0; i < n; i++)
        for (int level = 1, part = 0; level <= 20; level++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            part = level <= 10 ? parts[(state >> 33) % 3] : (int)(state >> 33) & 7;
            for (int c = 0; c < 3; c++)
                pos[i][c] = (level == 1 ? 0 : pos[i][c]) + ldexp((part >> c) & 1, -level);
        }
}

static const struct kind {
    const char *name;
    enum nbody_model model;
    void (*change)(size_t n);
    double bound; /* of the 99th percentile, in multiples of the accuracy */
} kinds[] = {
    {"Plummer's sphere", NBODY_PLUMMER, as_it_is, 1.0},
    {"a uniform sphere", NBODY_UNIFORM, as_it_is, 1.3},
    {"two disk galaxies", NBODY_COLLISION, as_it_is, 1.3},
    {"two clusters 10^6 apart", NBODY_PLUMMER, two_clusters, 1.0},
    {"masses over 10^6", NBODY_PLUMMER, masses_over_a_million, 1.5},
    {"a black hole of half the mass", NBODY_PLUMMER, black_hole, 1.3},
    {"Hernquist's cusp", NBODY_HERNQUIST, as_it_is, 1.3},
    {"a fractal", NBODY_PLUMMER, fractal, 2.2},
};

static const size_t sizes[] = {1 << 10, 1 << 14, 1 << 17}, small[] = {1, 2, 3, 63, 64, 65};
static const double softenings[] = {0, 0.02}, wishes[] = {1e-2, 1e-3, 1e-4, 1e-5};

static int judge_tree_errors(const struct kind *kind, size_t n, double eps, double wish)
{
    struct nbody_force_errors e;
    nbody *nb = nbody_create(
        &(struct nbody_options){
            .ctx = stddev, .eps = eps, .dt = 1e-3, .method = NBODY_TREE, .accuracy = wish},
        n, mass, (rows)pos, (rows)vel);
    ready(nb);
    works(nbody_check_forces(nb, SAMPLES, 1, &e));
    print_message("%s, n %zu, eps %g, wish %g: median %.2g, p99 %.2g, max %.2g\n", kind->name, n,
                  eps, wish, e.median, e.p99, e.most);
    nbody_free(nb);
    return e.p99 <= kind->bound * wish + 2e-6; /* the last is rounding */
}

static void tree_errors_are_below_stored_bounds(void **state)
{
    int bad = 0;
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t s = 0; s < COUNT_OF(sizes); s++) {
            works(nbody_initial(kinds[k].model, sizes[s], 11, mass, pos, vel));
            kinds[k].change(sizes[s]);
            for (size_t e = 0; e < COUNT_OF(softenings); e++)
                for (size_t w = 0; w < COUNT_OF(wishes); w++)
                    if (!judge_tree_errors(&kinds[k], sizes[s], softenings[e], wishes[w])) {
                        print_error("  that is more than %g wishes\n", kinds[k].bound);
                        bad++;
                    }
        }
    assert_int_equal(bad, 0);
}

static void tree_few_bodies_are_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kinds); k++)
        for (size_t s = 0; s < COUNT_OF(small); s++) {
            works(nbody_initial(kinds[k].model, small[s], 11, mass, pos, vel));
            kinds[k].change(small[s]);
            assert_true(judge_tree_errors(&kinds[k], small[s], 0, 1e-3));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tree_few_bodies_are_exact),
                                       cmocka_unit_test(tree_errors_are_below_stored_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
