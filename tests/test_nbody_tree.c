/* The tree code: its scalar reference against sums over all pairs, and the kernels against the
 * reference.
 *
 * A tree must hold each body in exactly one leaf, and a walk must interact with each body
 * exactly once: with integer masses, sums of masses show this to the last digit.
 *
 *   test_nbody_tree [several]    several: only tests that involve all devices
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref.h"
#include "nbody/domain/tree_domain.h"
#include "core/args.h"

#include <stdcl/profile.h>

#include "builds_once.h"
#include "deep.h"
#include "nbody_engine.h"

#include <stdlib.h>

enum { MOST = 8192, LEAF = 16, ROOM = 1024 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static float posm[MOST][4];

typedef const float (*floats)[4];

#define below(value, limit) check_tree_error_below((value), (limit), #value, __LINE__)
static void check_tree_error_below(double value, double limit, const char *what, int line)
{
    if (!(value <= limit)) {
        print_error("%s is %.3g, more than %.3g\n", what, value, limit);
        _fail(__FILE__, line);
    }
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

static double uniform_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

enum shape {
    PLUMMER,
    TWO_CLUSTERS,
    CUBE,
    ONE_POINT,
    PAIRS,
    FAR_BODY,
    BLACK_HOLE,
    TRACERS,
    CENTRAL_MASS,
    SHAPES
};

/* Bodies with integer masses, in single precision. */
static void make_tree_bodies(enum shape shape, size_t n)
{
    uint64_t state = 1;
    if (n > 0)
        works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++) {
        mass[i] = 1 + (double)(i % 5);
        for (int c = 0; c < 3; c++) {
            const double u = uniform_random(&state);
            pos[i][c] = shape == CUBE ? u : shape == ONE_POINT ? 0.25 : pos[i][c];
            pos[i][c] = shape == TWO_CLUSTERS ? pos[i][c] * 1e-3 + (i & 1 ? 1e3 : 0) : pos[i][c];
            pos[i][c] = shape == PAIRS && i & 1 ? pos[i - 1][c] : pos[i][c];
            pos[i][c] = shape == FAR_BODY && i == n / 2 ? 1e9 : pos[i][c];
            pos[i][c] = shape == CENTRAL_MASS && i == n / 2 ? 0 : pos[i][c]; /* exact in any cell */
        }
        mass[i] = shape == BLACK_HOLE && i == n / 3 ? 3.0 * (double)n : mass[i];
        mass[i] = shape == TRACERS && i % 3 ? 0 : mass[i];
        mass[i] = shape == CENTRAL_MASS ? i == n / 2 : mass[i];
        for (int c = 0; c < 3; c++) {
            volatile float rounded =
                (float)pos[i][c]; /* gcc 12 drops the rounding when it vectorises this */
            pos[i][c] = posm[i][c] = rounded;
        }
        posm[i][3] = (float)mass[i];
    }
}

static const size_t sizes[] = {1, 2, 16, 17, 63, 64, 65, 1000};

/* ---- The reference. -------------------------------------------------------------------------- */

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

/* Every body is in one leaf, cells have the sums of their children, and their bodies lie inside. */
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
        nbody_ref_tree_walk(t, first, t->n - first < TREE_GROUP ? t->n - first : TREE_GROUP, g2,
                            lanes, room, &l);
        for (size_t e = 0; e < l.cells; e++)
            met += t->com[l.cell[e]][3];
        for (size_t e = 0; e < l.bodies; e++)
            met += l.body[e] & NBODY_REF_POINT ? t->com[l.body[e] & ~NBODY_REF_POINT][3]
                                               : t->body[l.body[e]][3];
        assert_true(met == (double)t->com[0][3]);
    }
    free_lists(&l);
}

static void tree_reference_holds_each_body_once(void **state)
{
    (void)state;
    for (enum shape s = 0; s < SHAPES; s++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            struct nbody_ref_tree t;
            make_tree_bodies(s, sizes[k]);
            works(nbody_ref_tree_build(&t, sizes[k], (floats)posm, LEAF, 2, 1, 0));
            check_tree(&t);
            check_walks(&t, 1 / (0.5f * 0.5f), 1, ROOM);
            check_walks(&t, 1 / (0.9f * 0.9f), 32, 256);
            nbody_ref_tree_free(&t);
        }
}

static int ascending_tree_errors(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Return the relative error that a fraction p of n bodies stays below. */
static double percentile(double *error, size_t n, double p)
{
    qsort(error, n, sizeof *error, ascending_tree_errors);
    return error[(size_t)((double)(n - 1) * p)];
}

/* Return the 99th percentile of the reference's force errors; `opening` is theta or alpha. */
static double tree_reference_error(size_t n, double eps, int moments, float opening, int geometric)
{
    static double acc[MOST][3], error[MOST];
    struct nbody_ref_tree t;
    works(nbody_ref_tree_build(&t, n, (floats)posm, LEAF, moments, geometric, 0));
    struct nbody_ref_lists l = lists_for(&t);
    nbody_ref_forces(n, 1, eps, mass, (rows)pos, acc, NULL);
    for (size_t first = 0; first < n; first += TREE_GROUP) {
        const size_t count = n - first < TREE_GROUP ? n - first : TREE_GROUP;
        float g2 = 0;
        for (size_t i = first; i < first + count; i++) {
            const double *a = acc[t.order[i]];
            const double part = (double)opening * sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
            g2 = fmaxf(g2, (float)(1 / (moments == 2 ? sqrt(part) : cbrt(part))));
        }
        nbody_ref_tree_walk(&t, first, count, geometric ? 1 / (opening * opening) : g2, 1, ROOM,
                            &l);
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

/* Errors fall as the criterion becomes stricter, down to sums over all pairs. */
static void tree_reference_error_falls_with_accuracy(void **state)
{
    static const struct {
        size_t n;
        double eps;
        int moments;
        float opening;
        int geometric;
        double error;
    } cases[] = {{4096, 0, 2, 0.75f, 1, 5e-3},   {4096, 0.02, 2, 0.75f, 1, 5e-3},
                 {4096, 0, 2, 1e-2f, 0, 1.2e-3}, {4096, 0, 2, 1e-3f, 0, 2e-4},
                 {4096, 0, 2, 1e-5f, 0, 2e-5},   {4096, 0, 2, 1e-20f, 0, 1e-7},
                 {1500, 0, 4, 8e-3f, 0, 2.5e-4}, {1500, 0.1, 4, 6e-4f, 0, 4e-5}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        if (!sampled(k, 2))
            continue;
        make_tree_bodies(PLUMMER, cases[k].n);
        below(tree_reference_error(cases[k].n, cases[k].eps, cases[k].moments, cases[k].opening,
                                   cases[k].geometric),
              cases[k].error);
    }
}

/* The curve visits all places of a small cube once, each adjacent to the previous one. */
static void tree_curve_is_hilbert(void **state)
{
    enum { SIDE = 8 };
    static uint32_t place[SIDE * SIDE * SIDE];
    (void)state;
    for (uint32_t i = 0; i < COUNT_OF(place); i++) {
        const uint32_t x = i % SIDE, y = i / SIDE % SIDE, z = i / SIDE / SIDE;
        const uint64_t key = nbody_ref_hilbert(x << 18, y << 18, z << 18) >> 54;
        assert_true(key < COUNT_OF(place) && place[key] == 0);
        place[key] = 1 + i;
    }
    for (size_t k = 1; k < COUNT_OF(place); k++) {
        const int a = (int)place[k - 1] - 1, b = (int)place[k] - 1;
        assert_int_equal(abs(a % SIDE - b % SIDE) + abs(a / SIDE % SIDE - b / SIDE % SIDE) +
                             abs(a / SIDE / SIDE - b / SIDE / SIDE),
                         1);
    }
}

/* ---- The kernels. ---------------------------------------------------------------------------- */

/* A GPU's walk, with groups that PoCL can run, and smaller leaves. */
#define GPU_SHAPE                                                                                  \
    "group=32 width=1 items=2 tile=32 local=1 unroll=4 block=64 groups_per_unit=1000 group_1d=16 leaf=16 second_group=8"
static const char *const walks[] = {NULL, GPU_SHAPE};

static CLCONTEXT *one; /* a context of the first device alone */

static int open_tree_device(void **state)
{
    const cl_device_id id = clgetdevice(stddev, 0);
    (void)state;
    one = clcontext_create_from(&id, 1);
    return setup_done(one);
}

static int close_tree_device(void **state)
{
    (void)state;
    clcontext_destroy(one);
    return 0;
}

static bool as_shipped; /* build programs with optimisation, as the command does */

static nbody *tree_engine(size_t n, struct nbody_options o)
{
    o.ctx = o.ctx ? o.ctx : one;
    o.dt = 1.0 / 1024;
    o.method = NBODY_TREE;
    builds_unoptimised = !as_shipped; /* the command's tests have them as they are */
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static bool tree_device_has_doubles(void)
{
    struct cldev_info info;
    works(clgetdevinfo(one, &info));
    return info.dev_pref_vec_double > 0;
}

/* Return a device's copy of a block; the caller frees it. */
static void *fetched_from(const nbody *nb, cl_uint dev, void *block, size_t bytes)
{
    void *copy = malloc(bytes);
    assert_non_null(copy);
    assert_int_equal(clEnqueueReadBuffer(clgetqueue(nb->ctx, dev), clgetbuffer(nb->ctx, dev, block),
                                         CL_TRUE, 0, bytes, copy, 0, NULL, NULL),
                     CL_SUCCESS);
    return copy;
}

/* Return the first device's copy. */
static void *fetched(const nbody *nb, void *block, size_t bytes)
{
    return fetched_from(nb, nb->device[0].dev, block, bytes);
}

static void tree_near(float device, float reference, double scale)
{
    below(fabs((double)device - (double)reference), 1e-5 * (scale + fabs((double)reference)));
}

/* Integers are equal, moments nearly; the distance bound is at least the reference's and at most
 * what a cube allows. Then the reference takes the device's moments, so that both walks decide
 * equally. */
static void same_tree(nbody *nb, struct nbody_ref_tree *t)
{
    const struct tree *d = nb->device[0].force.tree;
    works(nbody_tree_build_device(nb, &nb->device[0]));
    works(nbody_device_wait(nb, &nb->device[0]));
    cl_ulong *key = fetched(nb, d->key, t->n * sizeof *key);
    cl_uint *order = fetched(nb, d->order, t->n * sizeof *order),
            *cells = fetched(nb, d->cells, sizeof *cells);
    assert_int_equal(*cells, t->cells);
    struct nbody_ref_link *link = fetched(nb, d->link, t->cells * sizeof *link);
    float(*com)[4] = fetched(nb, d->com, t->cells * sizeof *com);
    const size_t kept = nb->moments == 2 ? 8 : 32;
    float *poles = fetched(nb, d->multipoles, t->cells * kept * sizeof *poles);
    float(*size)[2] = fetched(nb, d->size, t->cells * sizeof *size);
    for (size_t i = 0; i < t->n; i++)
        assert_true(key[i] == t->key[i] && order[i] == t->order[i]);
    for (size_t k = 0; k < t->cells; k++) {
        assert_true(link[k].first == t->link[k].first && link[k].count == t->link[k].count);
        const double b = sqrt((double)t->size[k][1]);
        for (int c = 0; c < 3; c++)
            tree_near(com[k][c], t->com[k][c], b + 1e-2 * fabs((double)t->com[k][c]));
        assert_true(com[k][3] == t->com[k][3]);
        const double l = nb->moments == 2 ? b * b : 5;
        for (size_t c = 0; c < kept; c++)
            tree_near(poles[k * kept + c], t->multipoles[k][c],
                      10 * l * (double)t->com[k][3] + 1e-30);
        tree_near(size[k][0], t->size[k][0], 0);
        assert_true((double)size[k][1] >= 0.9999 * b * b &&
                    (size[k][1] > 0) == (t->size[k][1] > 0));
    }
    memcpy(t->com, com, t->cells * sizeof *com);
    memcpy(t->size, size, t->cells * sizeof *size);
    void *const copies[] = {key, order, cells, link, com, poles, size};
    for (size_t b = 0; b < COUNT_OF(copies); b++)
        free(copies[b]);
}

/* Compare the effect of a group's lists on its first body: the device's sum, and the
 * reference's. */
static void same_pull(nbody *nb, const struct nbody_ref_tree *t, const struct nbody_ref_lists *l,
                      size_t i, const float *sum)
{
    double acc[3], off = 0, size = 0;
    nbody_ref_tree_pull(t, l, i, nb->eps * nbody_units_factor(&nb->units, -1, 0), acc, NULL);
    for (int c = 0; c < 3; c++) {
        off += (sum[c] - acc[c]) * (sum[c] - acc[c]);
        size += acc[c] * acc[c];
    }
    /* With fourth-order moments a cell may interact from less than its side away, and the
     * rounding of its moments counts up to 81 times. */
    below(sqrt(off), (nb->moments == 2 ? 3e-6 : 1e-5) * sqrt(size));
}

/* Compare every group's lists, entry by entry. */
static void same_lists(nbody *nb, const struct nbody_ref_tree *t, size_t lanes)
{
    const size_t groups = (t->n + TREE_GROUP - 1) / TREE_GROUP;
    const cl_uint room = (cl_uint)(2 * (t->n + t->cells));
    struct nbody_ref_lists l = lists_for(t);
    cl_uint *lists = clmalloc(nb->ctx, groups * room * sizeof *lists, 0);
    ready(lists);
    works(nbody_tree_lists(nb, &nb->device[0], lists, room));
    works(nbody_device_wait(nb, &nb->device[0]));
    cl_uint *met = fetched(nb, lists, groups * room * sizeof *met);
    cl_uint(*info)[4] = fetched(nb, nb->device[0].force.tree->info, groups * sizeof *info);
    float(*sums)[4] = fetched(nb, nb->device[0].force.tree->forces_sorted, t->n * sizeof *sums);
    for (size_t g = 0; g < groups; g++) {
        const size_t first = g * TREE_GROUP;
        float g2;
        memcpy(&g2, &info[g][2], sizeof g2);
        assert_int_equal(info[g][3], 0);
        nbody_ref_tree_walk(t, first, t->n - first < TREE_GROUP ? t->n - first : TREE_GROUP, g2,
                            lanes, 512, &l);
        assert_int_equal(info[g][0], l.cells);
        assert_int_equal(info[g][1], l.bodies);
        assert_memory_equal(met + g * room, l.cell, l.cells * sizeof *l.cell);
        assert_memory_equal(met + g * room + room / 2, l.body, l.bodies * sizeof *l.body);
        same_pull(nb, t, &l, first, sums[first]);
    }
    free(sums);
    free(info);
    free(met);
    clfree(lists);
    free_lists(&l);
}

/* The tree, the lists and their effects match the reference, with moments up to second and
 * fourth order. */
static void tree_kernels_match_reference(void **state)
{
    static const struct {
        enum shape shape;
        size_t n;
        double accuracy, eps;
        int walk, moments;
    } cases[] = {{PLUMMER, 4097, 1e-3, 0.01, 0, 2},
                 {TRACERS, 1000, 1e-3, 0.01, 1, 2},
                 {PLUMMER, 2000, 5e-5, 0, 1, 4},
                 {PLUMMER, 3000, 5e-5, 0.05, 0, 4}};
    static double acc[MOST][3], again[MOST][3];
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        const size_t n = cases[k].n;
        struct nbody_ref_tree t;
        if (!sampled(k, 2)) /* both walks, moments of both orders */
            continue;
        make_tree_bodies(cases[k].shape, n);
        nbody *nb = tree_engine(n, (struct nbody_options){.eps = cases[k].eps,
                                                          .accuracy = cases[k].accuracy,
                                                          .shape = walks[cases[k].walk]});
        assert_int_equal(nb->moments, cases[k].moments);
        works(nbody_forces(nb, acc, NULL));
        float(*bodies)[4] = fetched(nb, nb->particles.posm, n * sizeof *bodies);
        works(nbody_ref_tree_build(&t, n, (floats)bodies, nb->device[0].force.tree->leaf,
                                   nb->moments, 0, nbody_tree_com_margin(nb)));
        same_tree(nb, &t);
        same_lists(nb, &t, (size_t)nbody_tree_items(&nb->device[0].shape));
        works(nbody_forces(nb, again, NULL)); /* after walks without a download of their sums */
        assert_memory_equal(again, acc, n * sizeof *acc);
        nbody_ref_tree_free(&t);
        free(bodies);
        nbody_free(nb);
    }
}

/* The masses that groups interact with on the device sum to the total mass; each body is in one
 * leaf. */
static void meets_all(nbody *nb, size_t n)
{
    const struct tree *d = nb->device[0].force.tree;
    works(nbody_tree_build_device(nb, &nb->device[0]));
    works(nbody_device_wait(nb, &nb->device[0]));
    const size_t groups = (n + TREE_GROUP - 1) / TREE_GROUP, cells = d->cells[0];
    const cl_uint room = (cl_uint)(2 * (n + cells));
    cl_uint *lists = clmalloc(nb->ctx, groups * room * sizeof *lists, 0);
    ready(lists);
    works(nbody_tree_lists(nb, &nb->device[0], lists, room));
    works(nbody_device_wait(nb, &nb->device[0]));
    cl_uint *met = fetched(nb, lists, groups * room * sizeof *met);
    cl_uint(*info)[4] = fetched(nb, d->info, groups * sizeof *info);
    float(*com)[4] = fetched(nb, d->com, cells * sizeof *com),
    (*body)[4] = fetched(nb, d->body, n * sizeof *body);
    struct nbody_ref_link *link = fetched(nb, d->link, cells * sizeof *link);
    size_t in_leaves = 0;
    for (size_t k = 0; k < cells; k++)
        in_leaves += link[k].count < 0 ? (size_t)-link[k].count : 0;
    assert_int_equal(in_leaves, n);
    for (size_t g = 0; g < groups; g++) {
        double sum = 0;
        for (size_t e = 0; e < info[g][0]; e++)
            sum += com[met[g * room + e]][3];
        for (size_t e = 0; e < info[g][1]; e++)
            sum += body[met[g * room + room / 2 + e]][3];
        assert_true(sum == (double)com[0][3] && info[g][3] == 0);
    }
    void *const copies[] = {met, info, com, body, link};
    for (size_t b = 0; b < COUNT_OF(copies); b++)
        free(copies[b]);
    clfree(lists);
}

/* Bodies that one key word cannot separate, since one body is far away. */
static void tree_long_keys_separate_bodies(void **state)
{
    static double acc[MOST][3];
    const size_t n = 1500;
    (void)state;
    for (size_t far = 0; far < 2; far++) {
        make_tree_bodies(far ? FAR_BODY : PLUMMER, n);
        nbody *nb = tree_engine(n, (struct nbody_options){.eps = 0.01, .accuracy = 5e-5});
        works(nbody_forces(nb, acc, NULL));
        assert_int_equal(nb->device[0].force.tree->key_words, 1 + far);
        assert_int_equal(nb->moments, far ? 2 : 4);
        assert_true(nb->device[0].force.tree->cells[0] > n / 16);
        meets_all(nb, n);
        nbody_free(nb);
    }
}

static double judged(size_t n, struct nbody_options o)
{
    static double acc[MOST][3], phi[MOST], right[MOST][3], phi_right[MOST], error[MOST];
    double worst = 0;
    nbody *nb = tree_engine(n, o);
    works(nbody_forces(nb, acc, phi));
    nbody_ref_forces(n, 1, o.eps, mass, (rows)pos, right, phi_right);
    for (size_t i = 0; i < n; i++) {
        double d = 0, r = 0;
        for (int c = 0; c < 3; c++) {
            d += (acc[i][c] - right[i][c]) * (acc[i][c] - right[i][c]);
            r += right[i][c] * right[i][c];
        }
        error[i] = r > 0 ? sqrt(d / r) : sqrt(d);
        const double p = fabs(phi[i] - phi_right[i]) / (phi_right[i] < 0 ? -phi_right[i] : 1);
        worst = p <= worst ? worst : p;
    }
    const double wish = o.accuracy > 0 ? o.accuracy : 1e-3;
    if (!(worst <= fmax(wish, 1e-5)))
        print_error("%zu bodies, eps %g, accuracy %g, %s\n", n, o.eps, wish, nbody_shape(nb, 0));
    below(worst, fmax(wish, 1e-5));
    nbody_free(nb);
    return percentile(error, n, 0.99);
}

/* Few bodies nearly reach the requested accuracy; a very small accuracy gives sums over all
 * pairs. Kernels are built for each engine, so each case tests one of the two walks. */
static void tree_error_stays_below_accuracy(void **state)
{
    static const struct {
        enum shape shape;
        size_t n;
        int walk;
        double accuracy;
    } cases[] = {{PLUMMER, 1, 0, 1e-3},       {TWO_CLUSTERS, 2000, 1, 1e-3},
                 {ONE_POINT, 1000, 1, 1e-3},  {FAR_BODY, 1500, 0, 1e-3},
                 {BLACK_HOLE, 2000, 1, 1e-3}, {PLUMMER, 4097, 0, 1e-4},
                 {PAIRS, 1999, 1, 1e-10}};
    (void)state;
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        if (!sampled(k, 3))
            continue;
        make_tree_bodies(cases[k].shape, cases[k].n);
        const struct nbody_options o = {
            .eps = k % 2 ? 0 : 0.01, .accuracy = cases[k].accuracy, .shape = walks[cases[k].walk]};
        below(judged(cases[k].n, o), fmax(1.5 * cases[k].accuracy, 1e-6));
    }
    for (size_t k = 0; k < COUNT_OF(sizes); k++) { /* about a group, and a leaf */
        make_tree_bodies(PLUMMER, sizes[k]);
        below(judged(sizes[k], (struct nbody_options){.eps = 0.01,
                                                      .accuracy = 1e-3,
                                                      .shape = walks[k % COUNT_OF(walks)]}),
              1.5e-3);
    }
    make_tree_bodies(PLUMMER, 1000);
    below(
        judged(1000, (struct nbody_options){.accuracy = 1e-4,
                                            .precision = tree_device_has_doubles() ? NBODY_DOUBLE
                                                                                   : NBODY_SINGLE}),
        1e-4);
}

/* Results by number belong to the body of that number, wherever it is sorted. */
static void rows_are_bodies(nbody *nb, const double (*x)[3])
{
    float one_[1][3];
    const uint32_t which = (uint32_t)(nb->n / 3);
    size_t moved = 0;
    works(nbody_positions(nb, 1, &which, one_, NULL));
    for (int c = 0; c < 3; c++)
        below(fabs((double)one_[0][c] - x[which][c]), 1e-6);
    static cl_uint row[MOST];
    works(nbody_particles_find(nb, nb->n, nb->particles.body, row));
    for (size_t i = 0; i < nb->n; i++) {
        moved += nb->particles.body[i] != i;
        assert_int_equal(row[i], i);
    }
    assert_true(moved > nb->n / 2);
}

/* slow: launches are slices sized for a slow device with one compute unit. */
static uint64_t tree_checksum(struct nbody_options o, size_t n, bool slow)
{
    static double x[MOST][3], v[MOST][3];
    uint64_t sum = 1469598103934665603u;
    nbody *nb = tree_engine(n, o);
    for (struct nbody_device *p = nb->device; slow && p < nb->device + nb->ndev; p++) {
        p->pace = pace_of(1);
        p->compute_units = 1;
    }
    float before[1][3]; /* of the body queried again after the sort */
    works(nbody_positions(nb, 1, &(const uint32_t){(uint32_t)(n / 3)}, before, NULL));
    nb->particles.sort_interval = 2; /* sort again twice */
    works(nbody_step(nb, slow ? 3 : 5));
    works(slow ? nbody_step(nb, 2) : 0);
    works(nbody_state(nb, x, v));
    rows_are_bodies(nb, (rows)x);
    for (size_t i = 0; i < 3 * n; i++) {
        uint64_t bits[2];
        memcpy(&bits[0], &x[i / 3][i % 3], sizeof *bits);
        memcpy(&bits[1], &v[i / 3][i % 3], sizeof *bits);
        sum = ((sum ^ bits[0]) * 1099511628211u ^ bits[1]) * 1099511628211u;
    }
    nbody_free(nb);
    return sum;
}

/* All mass is in one body. At its place the expected acceleration is 0, and so is its own: its
 * group opens all cells. A finite bound there would be weaker than the bound of a place beside it.
 */
static void tree_central_mass_opens_all_cells(void **state)
{
    static double acc[MOST][3], right[MOST][3], phi[MOST];
    const size_t n = 1000, centre = n / 2;
    (void)state;
    make_tree_bodies(CENTRAL_MASS, n);
    nbody *nb = tree_engine(n, (struct nbody_options){.eps = 1, .accuracy = 1e-3});
    works(nbody_forces(nb, acc, NULL));
    const struct tree *t = nb->device[0].force.tree;
    cl_uint *order = fetched(nb, t->order, n * sizeof *order),
            (*info)[4] = fetched(nb, t->info, (n / TREE_GROUP + 1) * sizeof *info);
    size_t place = 0;
    while (nb->particles.body[order[place]] != centre)
        place++;
    float g2;
    memcpy(&g2, &info[place / TREE_GROUP][2], sizeof g2);
    assert_true(isinf(g2));
    nbody_ref_forces(n, 1, 1, mass, (rows)pos, right, phi);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            below(fabs(acc[i][c] - right[i][c]), 1e-6);
    free(info);
    free(order);
    nbody_free(nb);
}

/* Any run, any number of devices and work-groups, any domain boundaries, batches and launches of
 * any length: equal bits. */
static void tree_bits_are_reproducible(void **state)
{
    const double shares[64] = {3, 1};
    (void)state;
    make_tree_bodies(PLUMMER, 4097);
    for (size_t walk = 0; walk < COUNT_OF(walks); walk++) {
        struct nbody_options o = {.eps = 0.01, .shape = walks[walk]};
        if (!sampled(walk + 1, COUNT_OF(walks)))
            continue;
        const uint64_t right = tree_checksum(o, 4097, false);
        for (int run = 1; run < (deep_tests() ? 10 : 2); run++)
            assert_true(tree_checksum(o, 4097, false) == right);
        o.burst = 2;
        assert_true(tree_checksum(o, 4097, true) == right);
        o.ctx = stddev;
        o.shares = shares;
        if (clgetndev(stddev) == 1 || !devices_are_alike())
            continue;
        assert_true(tree_checksum(o, 4097, false) == right);
        assert_true(tree_checksum(o, 4097, true) == right);
    }
}

/* Rows that move to the devices of their domains keep their bits, and no domain
 * becomes empty. */
static void tree_repartition_changes_no_bit(void **state)
{
    enum { STEPS = 24 };
    static const struct {
        enum shape shape;
        size_t n;
        double shares[64];
    } cases[] = {{PLUMMER, 4097, {1, 2, 1}},
                 {PLUMMER, MOST, {1, 4, 1}}, /* more rows than the keys have room for */
                 {CUBE, MOST, {1, 4, 1}}};
    static double x[2][MOST][3], v[2][MOST][3];
    bool moved = false;
    (void)state;
    if (clgetndev(stddev) == 1 || !devices_are_alike())
        skip();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const size_t n = cases[i].n;
        make_tree_bodies(cases[i].shape, n);
        for (int k = 0; k < 2; k++) {
            struct nbody_options o = {.eps = 0.01, .accuracy = 0.02, .shape = walks[0]};
            o.ctx = k ? stddev : NULL;
            o.shares = k ? cases[i].shares : NULL;
            nbody *nb = tree_engine(n, o);
            works(nbody_step(nb, STEPS));
            works(nbody_state(nb, x[k], v[k]));
            const struct domains *s = nb->domain.tree;
            moved |= k && s->repartitioned_at > 0;
            for (cl_uint d = 0; k && d < s->n; d++)
                assert_true(s->begin[d] < s->begin[d + 1]);
            nbody_free(nb);
        }
        assert_memory_equal(x[0], x[1], n * sizeof *x[0]);
        assert_memory_equal(v[0], v[1], n * sizeof *v[0]);
    }
    assert_true(moved);
}

/* The groups of a domain interact with the mass of all bodies: every needed export of the other
 * domains has arrived. */
static void part_meets_all(nbody *nb, struct nbody_device *p, size_t n)
{
    const struct tree *t = p->force.tree;
    const size_t groups = t->first_group + t->groups;
    const cl_uint room = 2 * (t->capacity + (cl_uint)n);
    cl_uint *lists = clmalloc(nb->ctx, groups * room * sizeof *lists, CL_MEM_PER_DEVICE);
    ready(lists);
    works(nbody_tree_lists(nb, p, lists, room));
    works(nbody_device_wait(nb, p));
    cl_uint *met = fetched_from(nb, p->dev, lists, groups * room * sizeof *met);
    cl_uint(*info)[4] = fetched_from(nb, p->dev, t->info, groups * sizeof *info);
    float(*com)[4] = fetched_from(nb, p->dev, t->com, t->cell_room * sizeof *com),
    (*body)[4] = fetched_from(nb, p->dev, t->body, t->body_room * sizeof *body);
    for (size_t g = t->first_group; g < groups; g++) {
        double sum = 0;
        for (size_t e = 0; e < info[g][0]; e++)
            sum += com[met[g * room + e]][3];
        for (size_t e = 0; e < info[g][1]; e++) {
            const cl_uint k = met[g * room + room / 2 + e];
            sum += k & NBODY_REF_POINT ? com[k & ~NBODY_REF_POINT][3] : body[k][3];
        }
        assert_true(sum == (double)com[0][3]);
    }
    void *const copies[] = {met, info, com, body};
    for (size_t b = 0; b < COUNT_OF(copies); b++)
        free(copies[b]);
    clfree(lists);
}

/* Forces and potentials of several devices, each with a domain of the tree, equal one device's
 * to the last bit. Walks that defer no group leave lists. */
static void tree_domains_match_single_device(void **state)
{
    static double right[MOST][3], acc[MOST][3], phi_right[MOST], phi[MOST];
    static const double shares[64] = {1, 2, 1};
    (void)state;
    for (enum shape shape = 0; shape < SHAPES; shape++)
        for (int walk = 0; walk < 2; walk++) {
            if (!sampled((size_t)walk, 2))
                continue;
            /* In GPUs' shapes rows are divided in units of 256, and each device needs one. */
            const size_t n = shape == PLUMMER ? 4097 : shape == CUBE ? 530 : 1500;
            struct nbody_options o = {
                .eps = 0.01, .accuracy = walk ? 1e-3 : 5e-5, .shape = walks[walk]};
            make_tree_bodies(shape, n);
            nbody *nb = tree_engine(n, o);
            works(nbody_forces(nb, right, phi_right));
            nbody_free(nb);
            o.ctx = stddev;
            o.shares = shares;
            nb = tree_engine(n, o);
            assert_non_null(nb->domain.tree);
            works(nbody_forces(nb, acc, NULL));
            assert_memory_equal(acc, right, n * sizeof *acc);
            for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
                if (p->force.tree && walk == 0 && nb->moments == 2)
                    part_meets_all(nb, p, n);
            works(nbody_forces(nb, NULL, phi));
            assert_memory_equal(phi, phi_right, n * sizeof *phi);
            nbody_free(nb);
        }
}

/* Groups of a domain that another domain flagged did not walk as a whole: a walk stores its
 * criterion, which is not 0, in info[].z. Return the number of these groups. */
static size_t flagged_groups_are_deferred(nbody *nb, struct nbody_device *p)
{
    const cl_uint merged_box = 0x80000000; /* MERGED_BOX in multipole.cl */
    const struct domains *s = nb->domain.tree;
    const cl_uint(*info)[4] = p->force.tree ? p->force.tree->info : NULL;
    size_t groups = 0;
    if (!info)
        return 0;
    works(nbody_device_download(nb, p, p->force.tree->info, clsizeofmem(p->force.tree->info)));
    for (cl_uint part = 0; part < s->n; part++) {
        const struct pair *const pair = nbody_domain_pair(s, part, p->domain.index);
        for (cl_uint k = 0; k < pair->refined; k++) {
            const cl_uint flag = ((const cl_uint *)pair->block[FLAGS])[k],
                          group = p->force.tree->first_group + flag;
            if (flag & merged_box)
                continue;
            groups++;
            assert_int_equal(info[group][2], 0);
            assert_int_equal(info[group][3], 1);
        }
    }
    return groups;
}

/* Groups with boxes that overlap one domain beyond the limit are flagged and deferred at once, with
 * equal bits. */
static void tree_deferred_groups_change_no_bit(void **state)
{
    static double right[MOST][3], acc[MOST][3];
    static const double shares[64] = {1, 1, 1};
    (void)state;
    for (int walk = 0; walk < 2; walk++) {
        const size_t n = MOST;
        if (!sampled((size_t)walk + 1, 2))
            continue;
        struct nbody_options o = {.eps = 0.01,
                                  .accuracy = 0.5,
                                  .shape = walk ? GPU_SHAPE " defer_factor=10" : "defer_factor=10"};
        make_tree_bodies(PLUMMER, n);
        nbody *nb = tree_engine(n, o);
        works(nbody_forces(nb, right, NULL));
        nbody_free(nb);
        o.ctx = stddev;
        o.shares = shares;
        nb = tree_engine(n, o);
        works(nbody_forces(nb, acc, NULL));
        assert_memory_equal(acc, right, n * sizeof *acc);
        size_t groups = 0;
        for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
            groups += flagged_groups_are_deferred(nb, p);
        assert_true(groups > 0);
        nbody_free(nb);
    }
}

/* Waits of a sum that is cut into slices. */
struct slices_seen {
    nbody *nb;
    size_t together, alone; /* all devices are walking; one has walked half, another nothing */
};

static int see_slices(void *arg, double fraction)
{
    struct slices_seen *seen = arg;
    bool some = true, half = false, none = false;
    (void)fraction;
    for (struct nbody_device *p = seen->nb ? seen->nb->device : NULL;
         p && p < seen->nb->device + seen->nb->ndev; p++) {
        const struct tree *t = p->force.tree;
        some &= t->walked > 0 && t->walked < t->groups;
        half |= 2 * t->walked > t->groups && t->walked < t->groups;
        none |= t->walked == 0;
    }
    seen->together += seen->nb && some;
    seen->alone += half && none;
    return 0;
}

/* Devices walk at the same time, also where a sum is cut into slices. */
static void tree_slices_of_devices_take_turns(void **state)
{
    enum { N = 32768 }; /* four slices per device, of 64 groups at least */
    static double m[N], x[N][3], v[N][3];
    static const double shares[64] = {1, 1, 1};
    struct slices_seen seen = {.nb = NULL};
    const struct nbody_options o = {.ctx = stddev,
                                    .shares = shares,
                                    .method = NBODY_TREE,
                                    .eps = 0.01,
                                    .dt = 1e-3,
                                    .progress = see_slices,
                                    .arg = &seen};
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, N, 7, m, x, v));
    builds_unoptimised = !as_shipped;
    assert_int_equal(setenv("STDCL_SLICE", "1e-9", 1), 0);
    seen.nb = nbody_create(&o, N, m, (rows)x, (rows)v);
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
    ready(seen.nb);
    works(nbody_step(seen.nb, 2));
    nbody_free(seen.nb);
    assert_true(seen.together > 0);
    assert_true(seen.alone == 0);
}

/* Marks of groups to be deferred, which a cancelled sum leaves, change no bit of the next sum. */
static void tree_marks_of_cancelled_sum_change_no_bit(void **state)
{
    static double x[2][MOST][3], v[2][MOST][3];
    static const double shares[64] = {1, 1, 1};
    (void)state;
    make_tree_bodies(PLUMMER, MOST);
    for (int marked = 0; marked < 2; marked++) {
        nbody *nb =
            tree_engine(MOST, (struct nbody_options){.ctx = stddev, .shares = shares, .eps = 0.01});
        works(nbody_step(nb, 1));
        for (struct nbody_device *p = nb->device; marked && p < nb->device + nb->ndev; p++) {
            const struct tree *t = p->force.tree;
            cl_uint(*info)[4] = t->info;
            works(nbody_device_download(nb, p, info, clsizeofmem(info)));
            for (cl_uint g = t->first_group; g < t->first_group + t->groups; g++)
                info[g][3] = 2;
            assert_true(clmsync(stddev, p->dev, info, CL_MEM_DEVICE) != (cl_event)-1);
        }
        works(nbody_step(nb, 2));
        works(nbody_state(nb, x[marked], v[marked]));
        nbody_free(nb);
    }
    assert_memory_equal(x[0], x[1], sizeof x[0]);
    assert_memory_equal(v[0], v[1], sizeof v[0]);
}

/* Groups deferred only after all domains are counted walk by few bodies. Their criterion may be
 * stricter than the group's. */
static void tree_small_groups_use_stricter_criterion(void **state)
{
    static double right[MOST][3], acc[MOST][3], phi_right[MOST], phi[MOST];
    static const double shares[64] = {1, 1, 1};
    const size_t n = 6000;
    struct nbody_options o = {.eps = 0.01, .accuracy = 3e-4};
    (void)state;
    works(nbody_initial(NBODY_COLLISION, n, 1, mass, pos, vel));
    nbody *nb = tree_engine(n, o);
    works(nbody_forces(nb, right, phi_right));
    nbody_free(nb);
    o.ctx = stddev;
    o.shares = shares;
    nb = tree_engine(n, o);
    works(nbody_forces(nb, acc, phi));
    assert_memory_equal(acc, right, n * sizeof *acc);
    assert_memory_equal(phi, phi_right, n * sizeof *phi);
    nbody_free(nb);
}

/* Return how often a kernel was launched on all devices since the profile began. */
static size_t launches_of(const char *kernel)
{
    struct clprofile_row each[256];
    size_t all = 0;
    const size_t n = clprofile_rows(stddev, each, COUNT_OF(each));
    assert_in_range(n, 1, COUNT_OF(each));
    for (size_t k = 0; k < n; k++)
        all += strcmp(each[k].name, kernel) == 0 ? each[k].count : 0;
    return all;
}

/* Exports begin with the previous sum's root cell. Where the bodies hardly move, it is as good as
 * the present one, and each domain walks for each other domain once. */
static void tree_exports_are_not_repeated(void **state)
{
    const struct nbody_options o = {.ctx = stddev, .eps = 0.05, .accuracy = 1e-3};
    (void)state;
    make_tree_bodies(PLUMMER, MOST);
    for (size_t i = 0; i < MOST; i++)
        mass[i] *= 1e-6;
    nbody *nb = tree_engine(MOST, o);
    works(nbody_step(nb, 3));
    const size_t domains = nb->domain.tree->n;
    works(clprofile(stddev, 1));
    works(clprofile_reset(stddev));
    works(nbody_step(nb, 4));
    const size_t all = launches_of("let_export");
    works(clprofile(stddev, 0));
    assert_int_equal(all, 4 * domains * (domains - 1));
    nbody_free(nb);
}

/* The next sum exports more cells and bodies than fit. */
static void tree_let_overflow_is_repeated(void **state)
{
    static double right[MOST][3], x[MOST][3];
    static const double shares[64] = {1, 1, 1};
    const size_t n = MOST;
    struct nbody_options o = {.eps = 0.05, .accuracy = 1e-3};
    (void)state;
    make_tree_bodies(PLUMMER, n);
    nbody *nb = tree_engine(n, o);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, right, NULL));
    nbody_free(nb);
    o.ctx = stddev;
    o.shares = shares;
    nb = tree_engine(n, o);
    works(nbody_step(nb, 1));
    const struct domains *s = nb->domain.tree;
    EACH_EXPORT(s, e, kind)
    e->room[kind] = 16;
    works(nbody_step(nb, 2));
    EACH_EXPORT(s, e, kind)
    assert_true(e->room[kind] > 16);
    works(nbody_state(nb, x, NULL));
    assert_memory_equal(x, right, n * sizeof *x);
    nbody_free(nb);
}

/* Arrays are too small for the next sum: on the last device for its domain, on all devices for the
 * imported cells, on all other devices for the imported bodies. They grow, and no bit changes. */
static void tree_arrays_grow_with_domains(void **state)
{
    static double right[MOST][3], x[MOST][3];
    static const double shares[64] = {1, 1, 1};
    const size_t n = MOST;
    struct nbody_options o = {.eps = 0.05, .accuracy = 1e-3};
    (void)state;
    make_tree_bodies(PLUMMER, n);
    nbody *nb = tree_engine(n, o);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, right, NULL));
    nbody_free(nb);
    o.ctx = stddev;
    o.shares = shares;
    nb = tree_engine(n, o);
    works(nbody_step(nb, 1));
    struct tree *last = NULL;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->force.tree) {
            last = p->force.tree;
            last->body_room = nbody_tree_imports_begin(last);
            last->cell_room = last->imports_begin;
        }
    last->sorted_room = 0;
    works(nbody_step(nb, 2));
    assert_true(last->sorted_room > last->bodies);
    assert_true(last->cell_room > last->imports_begin);
    works(nbody_state(nb, x, NULL));
    assert_memory_equal(x, right, n * sizeof *x);
    nbody_free(nb);
}

/* The keys of the next sum do not fit, because a domain sorts more bodies than the device has rows.
 * The arrays grow in the middle of a migration, also with keys of two words; no bit changes. */
static void tree_keys_grow_with_domains(void **state)
{
    static double right[MOST][3], x[MOST][3];
    static const double shares[64] = {1, 1, 1};
    const size_t n = MOST;
    struct nbody_options o = {.eps = 0.01, .accuracy = 1e-3};
    (void)state;
    for (int two_words = 0; two_words < 2; two_words++) {
        make_tree_bodies(two_words ? FAR_BODY : PLUMMER, n);
        o.ctx = NULL;
        o.shares = NULL;
        nbody *nb = tree_engine(n, o);
        works(nbody_step(nb, 2));
        works(nbody_state(nb, right, NULL));
        nbody_free(nb);
        o.ctx = stddev;
        o.shares = shares;
        nb = tree_engine(n, o);
        works(nbody_step(nb, 1));
        assert_int_equal(nb->domain.key_words, 1 + two_words);
        for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
            if (p->force.tree)
                p->force.tree->key_room = p->count;
        works(nbody_step(nb, 1));
        for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
            assert_true(!p->force.tree || p->force.tree->key_room > p->count);
        works(nbody_state(nb, x, NULL));
        assert_memory_equal(x, right, n * sizeof *x);
        nbody_free(nb);
    }
}

/* A clump in a box a million times as wide: `far` bodies lie on its corners. */
static void make_tree_clump(size_t n, size_t far)
{
    works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            pos[i][c] = i < far ? (i ? 100 : -100) : 1e-4 * pos[i][c];
            vel[i][c] = 0;
        }
}

/* Forces and positions of several devices equal one device's to the last bit also if keys overflow
 * in the first sum. */
static void tree_domains_extend_keys(void **state)
{
    static double right[MOST][3], acc[MOST][3], x_right[MOST][3], x[MOST][3];
    static const double shares[64] = {1, 1, 1};
    const size_t n = 3000;
    (void)state;
    as_shipped = true;
    for (size_t far = 0; far < 3; far += 2) {
        struct nbody_options o = {.eps = 0.05, .accuracy = 1e-3};
        make_tree_clump(n, far);
        nbody *nb = tree_engine(n, o);
        works(nbody_forces(nb, right, NULL));
        assert_true(nb->device[0].force.tree->cells[0] > n / 32);
        works(nbody_step(nb, 2));
        works(nbody_state(nb, x_right, NULL));
        nbody_free(nb);
        o.ctx = stddev;
        o.shares = shares;
        nb = tree_engine(n, o);
        works(nbody_forces(nb, acc, NULL));
        assert_int_equal(nb->domain.key_words, far ? 2 : 1);
        assert_memory_equal(acc, right, n * sizeof *acc);
        works(nbody_step(nb, 2));
        works(nbody_state(nb, x, NULL));
        assert_memory_equal(x, x_right, n * sizeof *x);
        nbody_free(nb);
    }
    as_shipped = false;
}

/* The square of the softening overflows in single precision, and accelerations become NaN. Walks on
 * several devices open only cells that other domains exported. */
static void tree_overflow_is_an_error_on_domains(void **state)
{
    enum { N = 4097 };
    static double acc[N][3];
    struct nbody_options o = {.ctx = stddev, .eps = 0.01, .accuracy = 1e-3};
    struct nbody_diagnostics d;
    (void)state;
    make_tree_bodies(PLUMMER, N);
    for (size_t i = 0; i < N; i++)
        for (int c = 0; c < 3; c++)
            pos[i][c] *= 1e-25;
    nbody *nb = tree_engine(N, o);
    assert_non_null(nb->domain.tree);
    (void)nbody_forces(nb, acc, NULL); /* its result is not finite */
    assert_int_equal(nbody_diagnose(nb, &d), -1);
    assert_int_equal(clerrno, EDOM);
    assert_non_null(strstr(clerror(), "the softening is too large for single precision"));
    clerrno = 0;
    nbody_free(nb);
}

/* A device of several holds bodies, keys and cells for its domain only, with imports and a margin
 * for domains of unequal size. */
static void tree_memory_is_divided(void **state)
{
    static const double shares[64] = {1, 1, 1};
    const size_t n = MOST;
    (void)state;
    make_tree_bodies(PLUMMER, n);
    nbody *nb = tree_engine(n, (struct nbody_options){.ctx = stddev, .shares = shares});
    works(nbody_step(nb, 1));
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const struct tree *t = p->force.tree;
        if (!t)
            continue;
        const size_t own = p->rows, all = n;
        assert_true(own < all);
        assert_true(t->sorted_room <= own + 4 * TREE_GROUP);
        assert_ptr_equal(t->forces_sorted, t->workspace);
        assert_int_equal(clsizeofmem(t->a_old_sorted), t->sorted_room * nb->real);
        assert_int_equal(clsizeofmem(t->order), (own + TREE_SPARE_KEYS) * sizeof(cl_uint));
        assert_true(clsizeofmem(t->workspace) < (own + TREE_SPARE_KEYS) * 24 + (1 << 16));
        assert_int_equal(clsizeofmem(p->posm), own * 4 * nb->real);
        assert_int_equal(clsizeofmem(t->a_old), own * nb->real);
        assert_true(t->capacity <= own * 5 / t->leaf + 2048);
        assert_true(t->imports_begin <= t->capacity && t->cell_room >= t->capacity);
        assert_int_equal(clsizeofmem(t->com), (t->cell_room + 1) * 4 * nb->real);
        assert_true(p->domain.received_room <= own + TREE_SAMPLES);
    }
    nbody_free(nb);
}

/* Domains of few bodies would take longer than the whole on one device. */
static void tree_small_runs_on_one_device(void **state)
{
    struct nbody_options o = {.ctx = stddev, .eps = 0.01, .accuracy = 4e-3};
    (void)state;
    make_tree_bodies(PLUMMER, 1500);
    o.shape = "single_device_max=1000";
    nbody *nb = tree_engine(1500, o);
    assert_int_equal(nbody_devices(nb), 1);
    contains(nbody_explain_method(nb),
             "; on one device, as several are faster from about 2000 bodies on");
    nbody_free(nb);
    o.shape = "single_device_max=700";
    nb = tree_engine(1500, o);
    assert_int_equal(nbody_devices(nb), clgetndev(stddev));
    nbody_free(nb);
}

/* Bodies collapse, and their tree outgrows its buffers in the middle of a batch: equal bits. */
static void tree_buffers_grow_in_batch(void **state)
{
    static double right[MOST][3], x[MOST][3];
    const size_t n = 2000, steps = 12;
    cl_uint first = 0, most = 0;
    (void)state;
    make_tree_bodies(CUBE, n);
    memset(vel, 0, n * sizeof *vel);
    for (size_t run = 0; run < 2; run++) {
        nbody *nb = tree_engine(n, (struct nbody_options){.eps = 0.01, .accuracy = 0.01});
        struct tree *t = nb->device[0].force.tree;
        works(nbody_forces(nb, x, NULL));
        if (run > 0)
            works(nbody_tree_grow(nb, &nb->device[0], first));
        nb->force.tree_version = 0;
        first = t->cells[0];
        for (size_t s = 0; run == 0 && s < steps; s++) {
            works(nbody_step(nb, 1));
            most = t->cells[0] > most ? t->cells[0] : most;
        }
        if (run > 0)
            works(nbody_step(nb, steps));
        works(nbody_state(nb, run ? x : right, NULL));
        nbody_free(nb);
    }
    assert_true(most > first + first / 20);
    assert_memory_equal(x, right, n * sizeof *x);
}

static void check_tree_refused(const struct nbody_options *o, const char *part)
{
    assert_null(nbody_create(o, 10, mass, (rows)pos, (rows)vel));
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), part);
}

static void tree_rejects_unsupported_options(void **state)
{
    struct nbody_options o = {
        .ctx = one, .dt = 1, .method = NBODY_TREE, .integrator = NBODY_HERMITE4};
    (void)state;
    make_tree_bodies(PLUMMER, 10);
    check_tree_refused(&o, "integrator hermite4 needs; use one of leapfrog, taylor");
    o.integrator = NBODY_LEAPFROG;
    o.kernel = NBODY_NAIVE;
    check_tree_refused(&o, "kernel");
    o.kernel = NBODY_TUNED;
    static const double accuracies[] = {-1, 0.51, NAN};
    for (size_t k = 0; k < COUNT_OF(accuracies); k++) {
        o.accuracy = accuracies[k];
        check_tree_refused(&o, "accuracy");
    }
    o.accuracy = 0;
    o.method = NBODY_AUTO + 1;
    check_tree_refused(&o, "no method 3");
    o.method = NBODY_AUTO;
    o.integrator = NBODY_HERMITE4;
    nbody *nb = nbody_create(&o, 10, mass, (rows)pos, (rows)vel);
    ready(nb);
    assert_int_equal(nbody_method(nb), NBODY_DIRECT);
    contains(nbody_explain_method(nb), "derivatives");
    struct nbody_force_errors e = {.bodies = 10};
    if (tree_device_has_doubles()) /* which forces are checked in */
        works(nbody_check_forces(nb, 100, 1, &e));
    else
        fails(ENOTSUP, nbody_check_forces(nb, 100, 1, &e));
    assert_int_equal(e.bodies, 10);
    below(e.most, 1e-6);
    fails(EINVAL, nbody_check_forces(nb, 0, 1, &e));
    nbody_free(nb);
}

static void tree_builds_no_direct_sums(void **state)
{
    (void)state;
    make_tree_bodies(PLUMMER, 200);
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = one, .dt = 1, .method = NBODY_TREE},
                             200, mass, (rows)pos, (rows)vel);
    ready(nb);
    assert_non_null(clsym(one, NULL, "walk_potentials", 0));
    assert_null(clsym(one, NULL, "potentials", 0));
    assert_null(clsym(one, NULL, "forces", 0));
    nbody_free(nb);
}

/* The total mass is the sum in the order of bodies, also for equal masses, which are not added
 * singly. For masses of 1/n, rounding makes the sum 1 or a little less. */
static void tree_mass_is_sum_in_order(void **state)
{
    size_t below_one = 0;
    (void)state;
    for (size_t n = 1; n <= 1000; n += n < 20 ? 1 : 245) {
        double sum = 0;
        make_tree_bodies(PLUMMER, n);
        for (size_t i = 0; i < n; i++) {
            mass[i] = 1 / (double)n;
            sum += mass[i];
        }
        nbody *nb = nbody_create(&(struct nbody_options){.ctx = one, .dt = 1, .method = NBODY_TREE},
                                 n, mass, (rows)pos, (rows)vel);
        ready(nb);
        assert_true(nb->mass == (sum < 1 ? 0.5 : 1));
        below_one += sum < 1;
        nbody_free(nb);
    }
    assert_in_range(below_one, 2, 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest several[] = {cmocka_unit_test(tree_repartition_changes_no_bit),
                                         cmocka_unit_test(tree_bits_are_reproducible)};
    struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_curve_is_hilbert),
        cmocka_unit_test(tree_reference_holds_each_body_once),
        cmocka_unit_test(tree_kernels_match_reference),
        cmocka_unit_test(tree_bits_are_reproducible),
        cmocka_unit_test(tree_buffers_grow_in_batch),
        cmocka_unit_test(tree_rejects_unsupported_options),
        cmocka_unit_test(tree_builds_no_direct_sums),
        cmocka_unit_test(tree_mass_is_sum_in_order),
        cmocka_unit_test(tree_central_mass_opens_all_cells),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(tree_error_stays_below_accuracy),
        cmocka_unit_test(tree_reference_error_falls_with_accuracy),
        cmocka_unit_test(tree_long_keys_separate_bodies),
    };
    if (argc > 2)
        cmocka_set_test_filter(argv[2]);
    const struct CMUnitTest on_two[] = {cmocka_unit_test(tree_domains_match_single_device),
                                        cmocka_unit_test(tree_deferred_groups_change_no_bit),
                                        cmocka_unit_test(tree_marks_of_cancelled_sum_change_no_bit),
                                        cmocka_unit_test(tree_slices_of_devices_take_turns),
                                        cmocka_unit_test(tree_small_groups_use_stricter_criterion),
                                        cmocka_unit_test(tree_exports_are_not_repeated),
                                        cmocka_unit_test(tree_let_overflow_is_repeated),
                                        cmocka_unit_test(tree_arrays_grow_with_domains),
                                        cmocka_unit_test(tree_keys_grow_with_domains),
                                        cmocka_unit_test(tree_domains_extend_keys),
                                        cmocka_unit_test(tree_overflow_is_an_error_on_domains),
                                        cmocka_unit_test(tree_memory_is_divided),
                                        cmocka_unit_test(tree_small_runs_on_one_device)};
    if (clgetndev(stddev) > 1 && devices_are_alike() &&
        cmocka_run_group_tests(on_two, open_tree_device, close_tree_device) != 0)
        return 1;
    if (argc > 1 && strcmp(argv[1], "several") == 0)
        return cmocka_run_group_tests(several, open_tree_device, close_tree_device);
    return sampled_run("tree", tests, 9, 2, open_tree_device, close_tree_device);
}
