/* Runs by the tree against the same runs by direct sums: a cluster in equilibrium, a cold
 * collapse, two merging galaxies.
 *
 * Single orbits diverge soon with any force error, since many bodies are chaotic. So the tests
 * compare radii that contain given fractions of the bodies, numbers of bodies, and conserved
 * quantities. The bounds are a few times the noise of the number of bodies; `alone` measures
 * this noise from other seeds of the same cluster.
 *
 *   test_nbody_dynamics [BODIES [TIME [TEST]]]     with STDCL_STUDY=FILE all samples go to
 *   FILE, as JSON
 *
 * A few bodies run in `make test`, 8,192 in `make test-deep`; 2^17 are a study for a GPU.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/nbody.h"

#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RADII = 3, MOST_ROWS = 32 };
static const double shares[RADII] = {0.1, 0.5, 0.9};

static size_t n = 1024;
static const double coarse = 0.05; /* accuracy of few bodies' trees */
static double span = 5, *mass, (*pos)[3], (*vel)[3];
static FILE *study;
static const char *between = "";

typedef const double (*rows)[3];

/* True if the bodies are few enough for a coarse, short test. */
static int few_dynamics_bodies(void)
{
    return n < 4096;
}

/* With few bodies use a coarse tree, so that cells still combine many of them. */
static void set_tree_options(struct nbody_options *o)
{
    o->method = NBODY_TREE;
    o->accuracy = few_dynamics_bodies() ? coarse : 0;
}

/* ---- One run. -------------------------------------------------------------------------------- */

struct row {
    double time, radius[RADII], energy_error, momentum, centre;
};

struct run {
    size_t count;
    struct row row[MOST_ROWS];
};

static int ascending_radii(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Radii about the origin that contain given fractions of the bodies. */
static void radii(double r[RADII])
{
    double *all = malloc(n * sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < n; i++)
        all[i] = sqrt(pos[i][0] * pos[i][0] + pos[i][1] * pos[i][1] + pos[i][2] * pos[i][2]);
    qsort(all, n, sizeof *all, ascending_radii);
    for (int k = 0; k < RADII; k++)
        r[k] = all[(size_t)((double)n * shares[k])];
    free(all);
}

static double vector_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static struct row take_dynamics_sample(nbody *nb, double energy)
{
    struct nbody_diagnostics d;
    struct row r = {.time = nbody_time(nb)};
    double centre[3] = {0}, total = 0;
    works(nbody_diagnose(nb, &d));
    works(nbody_state(nb, pos, vel));
    radii(r.radius);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            centre[c] += mass[i] * pos[i][c];
            total += c == 0 ? mass[i] : 0;
        }
    r.energy_error = energy != 0 ? d.total / energy - 1 : 0;
    r.momentum = vector_length(d.momentum) /
                 sqrt(-d.potential * total); /* relative to the speeds of bodies in equilibrium */
    r.centre = vector_length(centre) / total;
    return r;
}

static void write_dynamics_row(const char *what, const char *method, const struct row *r)
{
    if (study)
        fprintf(
            study,
            "%s  {\"run\": \"%s\", \"method\": \"%s\", \"n\": %zu, \"time\": %g, \"r10\": %.5g, \"r50\": %.5g, \"r90\": "
            "%.5g, \"energy_error\": %.3g, \"momentum\": %.3g, \"centre\": %.3g}",
            between, what, method, n, r->time, r->radius[0], r->radius[1], r->radius[2],
            r->energy_error, r->momentum, r->centre);
    between = ",\n";
}

static struct run simulate_model(const char *what, enum nbody_model model, uint64_t seed,
                                 struct nbody_options o, double until, int looks)
{
    struct run run = {.count = (size_t)looks + 1};
    struct nbody_diagnostics d;
    works(nbody_initial(model, n, seed, mass, pos, vel));
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    works(nbody_diagnose(nb, &d));
    const size_t steps = (size_t)(until / o.dt / looks + 0.5);
    for (int k = 0; k <= looks; k++) {
        if (k > 0)
            works(nbody_step(nb, steps));
        run.row[k] = take_dynamics_sample(nb, d.total);
        write_dynamics_row(what, o.method == NBODY_TREE ? "tree" : "direct", &run.row[k]);
    }
    nbody_free(nb);
    return run;
}

/* ---- What must hold. ------------------------------------------------------------------------- */

static void check_dynamics_below(double value, double bound, const char *what, double time)
{
    if (!(fabs(value) <= bound))
        fail_msg("%s at %g: %.3g, more than %.3g", what, time, value, bound);
}

/* Relative differences of radii, in units of 1 / sqrt(bodies inside). */
static double dynamics_difference(const struct run *a, const struct run *b)
{
    double most = 0;
    for (size_t k = 1; k < a->count; k++)
        for (int s = 0; s < RADII; s++)
            most = fmax(most, fabs(a->row[k].radius[s] / b->row[k].radius[s] - 1) *
                                  sqrt((double)n * shares[s]));
    return most;
}

static void conserved(const struct run *r, double energy, double momentum)
{
    for (size_t k = 0; k < r->count; k++) {
        check_dynamics_below(r->row[k].energy_error, energy, "error of energy", r->row[k].time);
        check_dynamics_below(r->row[k].momentum, momentum, "momentum", r->row[k].time);
    }
}

/* The same cluster by tree and by direct sums differs by no more than noise, which other seeds
 * show. */
static void tree_plummer_matches_direct(void **state)
{
    struct nbody_options o = {.eps = few_dynamics_bodies() ? 0.1 : 0.02,
                              .dt = few_dynamics_bodies() ? 1. / 32 : 1. / 128};
    const int looks = few_dynamics_bodies() ? 5 : 10;
    (void)state;
    const struct run direct = simulate_model("plummer", NBODY_PLUMMER, 1, o, span, looks);
    set_tree_options(&o);
    const struct run tree = simulate_model("plummer", NBODY_PLUMMER, 1, o, span, looks);
    const struct run other =
        simulate_model("plummer, another seed", NBODY_PLUMMER, 2, o, span, looks);
    print_message(
        "Plummer, %zu bodies: tree and direct sums differ by %.2f of the noise 1/sqrt(bodies inside), two seeds by %.2f\n",
        n, dynamics_difference(&tree, &direct), dynamics_difference(&other, &direct));
    check_dynamics_below(dynamics_difference(&tree, &direct), 2.5,
                         "radii by tree and direct sums, in units of noise", span);
    conserved(&direct, 1e-3, 1e-5);
    /* Forces may have a relative error `coarse`, in a random direction for each body and
     * correlated over time: in a time of 1, in which forces change velocities by about their own
     * size, sums over n bodies change by coarse / sqrt(n). */
    conserved(&tree, 1e-3, few_dynamics_bodies() ? coarse * span / sqrt((double)n) : 1e-3);
}

/* A cold uniform sphere stays uniform as it falls: r = R cos^2 b, b + sin(2b) / 2 = t sqrt(2 G M
 * / R^3). Trees are deepest at the greatest density, at t = 1.11. */
static double smooth_fall(double t)
{
    double b = 0.5;
    for (int k = 0; k < 50; k++)
        b -= (b + sin(2 * b) / 2 - t * sqrt(2.0)) / (1 + cos(2 * b));
    return cos(b) * cos(b);
}

static void tree_cold_collapse_matches_direct(void **state)
{
    struct nbody_options o = {.eps = 0.05, .dt = few_dynamics_bodies() ? 1. / 128 : 1. / 512};
    (void)state;
    const struct run direct = simulate_model("cold", NBODY_COLD, 1, o, 2, 16);
    set_tree_options(&o);
    const struct run tree = simulate_model("cold", NBODY_COLD, 1, o, 2, 16);
    for (size_t k = 0; k < tree.count; k++) {
        const struct row *r = &tree.row[k];
        if (r->time < 0.9)
            check_dynamics_below(r->radius[1] / tree.row[0].radius[1] - smooth_fall(r->time), 0.02,
                                 "radius of the falling sphere", r->time);
        check_dynamics_below(r->radius[1] / direct.row[k].radius[1] - 1, 0.1,
                             "half-mass radius by tree and direct sums", r->time);
    }
    conserved(&tree, few_dynamics_bodies() ? 0.03 : 0.01,
              2e-3); /* at most where all fall through the middle, soon mended */
}

/* ---- Galaxies. ------------------------------------------------------------------------------- */

enum { CIRCLES = 4 };
static const double circle[CIRCLES] = {4, 8, 12, 16};

/* Number of bodies outside circles about the centre of mass. */
static void outside(double count[CIRCLES])
{
    for (int k = 0; k < CIRCLES; k++)
        count[k] = 0;
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < CIRCLES; k++)
            count[k] += vector_length(pos[i]) > circle[k];
}

/* Tails and bridges: both methods give equal numbers of bodies at each distance, within counting
 * noise. */
static void tree_galaxies_match_direct(void **state)
{
    struct nbody_options o = {.eps = few_dynamics_bodies() ? 0.1 : 0.05,
                              .dt = few_dynamics_bodies() ? 0.05 : 0.025};
    double count[2][CIRCLES];
    (void)state;
    const double until = few_dynamics_bodies() ? 20 : 60;
    const int looks = few_dynamics_bodies() ? 4 : 12;
    const struct run direct = simulate_model("collision", NBODY_COLLISION, 1, o, until, looks);
    outside(count[0]);
    set_tree_options(&o);
    const struct run tree = simulate_model("collision", NBODY_COLLISION, 1, o, until, looks);
    outside(count[1]);
    for (int k = 0; k < CIRCLES; k++) {
        print_message(
            "collision, %zu bodies, outside %g at %g: %.0f by direct sums, %.0f by the tree\n", n,
            circle[k], until, count[0][k], count[1][k]);
        check_dynamics_below(count[1][k] - count[0][k], 5 * sqrt(2 * count[0][k] + 1),
                             "more bodies far out by the tree", until);
    }
    conserved(&direct, few_dynamics_bodies() ? 0.02 : 2e-3, 1e-5);
    conserved(&tree, few_dynamics_bodies() ? 0.02 : 2e-3, 2e-3);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_plummer_matches_direct),
        cmocka_unit_test(tree_cold_collapse_matches_direct),
        cmocka_unit_test(tree_galaxies_match_direct),
    };
    n = argc > 1 ? (size_t)strtoull(argv[1], NULL, 10) : n;
    span = argc > 2 ? strtod(argv[2], NULL) : span;
    if (argc > 3)
        cmocka_set_test_filter(argv[3]);
    mass = malloc(n * sizeof *mass);
    pos = malloc(n * sizeof *pos);
    vel = malloc(n * sizeof *vel);
    if (n == 0 || !mass || !pos || !vel)
        return 1;
    study = getenv("STDCL_STUDY") ? fopen(getenv("STDCL_STUDY"), "w") : NULL;
    if (study)
        fputs("[\n", study);
    const int failed = cmocka_run_group_tests_name("nbody dynamics", tests, NULL, NULL);
    if (study) {
        fputs("\n]\n", study);
        fclose(study);
    }
    free(mass);
    free(pos);
    free(vel);
    return failed;
}
