/* The tree code: its plain-C twin against sums over all pairs.
 *
 * A tree must hold each body in exactly one leaf, and what a walk meets must hold each body exactly once: with whole
 * numbers for masses, sums of masses show that to the last digit.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/nbody_ref.h"
#include "nbody/nbody_ref_tree.h"

#include "check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 8192, LEAF = 16, ROOM = 1024 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static float posm[MOST][4];

#define COUNT(a) (sizeof(a) / sizeof *(a))
typedef const double (*rows)[3];
typedef const float (*floats)[4];

#define below(value, limit) check_below((value), (limit), #value, __LINE__)
static void check_below(double value, double limit, const char *what, int line)
{
    if (!(value <= limit)) {
        print_error("%s is %.3g, more than %.3g\n", what, value, limit);
        _fail(__FILE__, line);
    }
}

/* ---- Bodies. ---------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

enum shape { PLUMMER, TWO_CLUSTERS, CUBE, ONE_POINT, PAIRS, FAR_BODY, BLACK_HOLE, TRACERS, SHAPES };

/* Bodies whose masses are whole numbers, in single precision. */
static void make(enum shape shape, size_t n)
{
    uint64_t state = 1;
    if (n > 0)
        works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++) {
        mass[i] = 1 + (double)(i % 5);
        for (int c = 0; c < 3; c++) {
            const double u = uniform(&state);
            pos[i][c] = shape == CUBE ? u : shape == ONE_POINT ? 0.25 : pos[i][c];
            pos[i][c] = shape == TWO_CLUSTERS ? pos[i][c] * 1e-3 + (i & 1 ? 1e3 : 0) : pos[i][c];
            pos[i][c] = shape == PAIRS && i & 1 ? pos[i - 1][c] : pos[i][c];
            pos[i][c] = shape == FAR_BODY && i == n / 2 ? 1e9 : pos[i][c];
        }
        mass[i] = shape == BLACK_HOLE && i == n / 3 ? 3.0 * (double)n : mass[i];
        mass[i] = shape == TRACERS && i % 3 ? 0 : mass[i];
        for (int c = 0; c < 3; c++) {
            volatile float rounded = (float)pos[i][c]; /* gcc 12 drops the rounding when it vectorises this */
            pos[i][c] = posm[i][c] = rounded;
        }
        posm[i][3] = (float)mass[i];
    }
}

static const size_t sizes[] = {1, 2, 3, 16, 17, 63, 64, 65, 1000, 4097};

/* ---- The twin. -------------------------------------------------------------------------------- */

static struct nbody_ref_lists lists_for(const struct nbody_ref_tree *t)
{
    struct nbody_ref_lists l = {.cell = malloc((t->cells + 1) * sizeof *l.cell),
                                .body = malloc((t->n + t->cells) * sizeof *l.body)};
    assert_true(l.cell && l.body);
    return l;
}

static void free_lists(struct nbody_ref_lists *l)
{
    free(l->cell);
    free(l->body);
}

/* Every body is in one leaf, cells have what their children have, and their bodies are in them. */
static void check_tree(const struct nbody_ref_tree *t)
{
    size_t in_leaves = 0;
    double all = 0;
    for (size_t i = 0; i < t->n; i++)
        all += t->body[i][3];
    assert_true((double)t->com[0][3] == all);
    for (size_t k = 0; k < t->cells; k++) {
        const struct nbody_ref_link l = t->link[k];
        if (l.count < 0) {
            assert_true((size_t)-l.count == t->bodies[k] && (uint32_t)l.first == t->start[k]);
            in_leaves += t->bodies[k];
            continue;
        }
        assert_true(l.count >= 1 && l.count <= 8 && t->bodies[k] > t->leaf);
        uint32_t next = t->start[k];
        double sum = 0;
        for (int32_t c = l.first; c < l.first + l.count; c++) {
            assert_int_equal(t->start[c], next);
            next += t->bodies[c];
            sum += t->com[c][3];
        }
        assert_int_equal(next, t->start[k] + t->bodies[k]);
        assert_true((double)t->com[k][3] == sum);
    }
    assert_int_equal(in_leaves, t->n);
}

static void check_walks(const struct nbody_ref_tree *t, float g2, size_t lanes, size_t room)
{
    struct nbody_ref_lists l = lists_for(t);
    for (size_t first = 0; first < t->n; first += TREE_GROUP) {
        double met = 0;
        nbody_ref_tree_walk(t, first, t->n - first < TREE_GROUP ? t->n - first : TREE_GROUP, g2, lanes, room, &l);
        for (size_t e = 0; e < l.cells; e++)
            met += t->com[l.cell[e]][3];
        for (size_t e = 0; e < l.bodies; e++)
            met += l.body[e] & NBODY_REF_POINT ? t->com[l.body[e] & ~NBODY_REF_POINT][3] : t->body[l.body[e]][3];
        assert_true(met == (double)t->com[0][3]);
    }
    free_lists(&l);
}

static void twin_is_whole(void **state)
{
    (void)state;
    for (enum shape s = 0; s < SHAPES; s++)
        for (size_t k = 0; k < COUNT(sizes); k++) {
            struct nbody_ref_tree t;
            make(s, sizes[k]);
            works(nbody_ref_tree_build(&t, sizes[k], (floats)posm, LEAF, 1));
            check_tree(&t);
            check_walks(&t, 1 / (0.5f * 0.5f), 1, ROOM);
            check_walks(&t, 1 / (0.9f * 0.9f), 32, 256);
            nbody_ref_tree_free(&t);
        }
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The relative error that a part p of n bodies stays below. */
static double percentile(double *error, size_t n, double p)
{
    qsort(error, n, sizeof *error, ascending);
    return error[(size_t)((double)(n - 1) * p)];
}

/* The 99th percentile of the errors of the twin's forces; `opening` is theta or alpha. */
static double twin_error(size_t n, double eps, float opening, int geometric)
{
    static double acc[MOST][3], error[MOST];
    struct nbody_ref_tree t;
    works(nbody_ref_tree_build(&t, n, (floats)posm, LEAF, geometric));
    struct nbody_ref_lists l = lists_for(&t);
    nbody_ref_forces(n, 1, eps, mass, (rows)pos, acc, NULL);
    for (size_t first = 0; first < n; first += TREE_GROUP) {
        const size_t count = n - first < TREE_GROUP ? n - first : TREE_GROUP;
        float g2 = 0;
        for (size_t i = first; i < first + count; i++) {
            const double *a = acc[t.order[i]];
            g2 = fmaxf(g2, (float)(1 / sqrt((double)opening * sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))));
        }
        nbody_ref_tree_walk(&t, first, count, geometric ? 1 / (opening * opening) : g2, 1, ROOM, &l);
        for (size_t i = first; i < first + count; i++) {
            const double *right = acc[t.order[i]];
            double a[3], d = 0, r = 0;
            nbody_ref_tree_pull(&t, &l, i, eps, a, NULL);
            for (int c = 0; c < 3; c++) {
                d += (a[c] - right[c]) * (a[c] - right[c]);
                r += right[c] * right[c];
            }
            error[i] = sqrt(d / r);
        }
    }
    free_lists(&l);
    nbody_ref_tree_free(&t);
    return percentile(error, n, 0.99);
}

/* Errors fall as the criterion is drawn tighter, down to sums over all pairs. */
static void twin_is_accurate(void **state)
{
    const size_t n = 4096;
    (void)state;
    make(PLUMMER, n);
    below(twin_error(n, 0, 0.75f, 1), 5e-3);
    below(twin_error(n, 0.02, 0.75f, 1), 5e-3);
    below(twin_error(n, 0, 1e-2f, 0), 1.2e-3);
    below(twin_error(n, 0, 1e-3f, 0), 2e-4);
    below(twin_error(n, 0, 1e-5f, 0), 2e-5);
    below(twin_error(n, 0, 1e-20f, 0), 1e-7);
}

/* The curve visits all places of a small cube once, each beside the one before. */
static void curve_is_hilberts(void **state)
{
    enum { SIDE = 8 };
    static uint32_t place[SIDE * SIDE * SIDE];
    (void)state;
    for (uint32_t i = 0; i < COUNT(place); i++) {
        const uint32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
        const uint64_t key = nbody_ref_hilbert(x << 18, y << 18, z << 18) >> 54;
        assert_true(key < COUNT(place) && place[key] == 0);
        place[key] = 1 + i;
    }
    for (size_t k = 1; k < COUNT(place); k++) {
        const int a = (int)place[k - 1] - 1, b = (int)place[k] - 1;
        assert_int_equal(abs(a % SIDE - b % SIDE) + abs(a / SIDE % SIDE - b / SIDE % SIDE) +
                             abs(a / SIDE / SIDE - b / SIDE / SIDE), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curve_is_hilberts),
        cmocka_unit_test(twin_is_whole),
        cmocka_unit_test(twin_is_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
