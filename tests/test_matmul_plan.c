/* test_matmul_plan.c - the division of a product among groups, the choice of the tuning entry,
 * and split-K products.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "matmul/engine.h"
#include "matmul/plan.h"

#include <math.h>

#include <stdcl/matmul.h>

enum { UNITS = 132 };

static const struct matmul_entry rows[] = {
    {.size = 512,
     .shape = {.bm = 32,
               .bn = 32,
               .bk = 8,
               .stages = 8,
               .groups_per_unit = 4,
               .split_k_min = 64,
               .peak_percent = 60,
               .peak_percent_one = 30,
               .unaligned_percent = 60}},
    {.size = 1024,
     .shape = {.bm = 64,
               .bn = 64,
               .bk = 8,
               .stages = 4,
               .groups_per_unit = 2,
               .split_k_min = 64,
               .peak_percent = 80,
               .peak_percent_one = 60,
               .unaligned_percent = 75}},
    {.size = 4096,
     .shape = {.bm = 128,
               .bn = 128,
               .bk = 8,
               .stages = 3,
               .groups_per_unit = 1,
               .split_k_min = 256,
               .peak_percent = 90,
               .peak_percent_one = 90,
               .unaligned_percent = 98}},
    {.size = 8192,
     .shape = {.bm = 128,
               .bn = 128,
               .bk = 8,
               .stages = 3,
               .groups_per_unit = 1,
               .split_k_min = 256,
               .peak_percent = 90,
               .peak_percent_one = 90,
               .unaligned_percent = 98}},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct problem_size cube(size_t n)
{
    return (struct problem_size){n, n, n, sizeof(double), ALIGN_32, true};
}

/* Tiles cover C. Split tiles have at least two parts, of `span` or more. No part begins while
 * units have room for it besides whole tiles, but not one part for each unit. */
static void matmul_plan_tiles_cover_c(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t m = 1; m < 6000; m = m * 7 / 5 + 1)
            for (size_t n = 1; n < 6000; n = n * 8 / 5 + 3)
                for (size_t k = 1; k < 20000; k = k * 3 + 5) {
                    const struct matmul_shape *s = &rows[i].shape;
                    const struct problem_size e = {m, n, k, 8, false, (m + n + k) % 4 > 0};
                    const struct tile_plan p = matmul_plan(s, UNITS, &e);
                    assert_int_equal(p.tiles,
                                     divide_up(m, (size_t)s->bm) * divide_up(n, (size_t)s->bn));
                    assert_true(p.cost > 0 && p.whole <= p.tiles && p.splits >= 1);
                    assert_true((p.splits == 1) == (p.whole == p.tiles));
                    assert_true(p.splits == 1 ||
                                (e.can_split && k / p.splits >= (size_t)s->split_k_min &&
                                 (p.tiles - p.whole) * p.splits <= SPLITK_PARTS_MAX));
                    assert_true(!p.splitk_reduce || (p.splits > 4 && p.whole == 0));
                    if (p.splits > 1 && p.whole > 0 && p.whole / UNITS < (size_t)s->groups_per_unit)
                        assert_true((p.tiles - p.whole) * p.splits < UNITS);
                }
}

static size_t size_taken(struct problem_size e)
{
    return matmul_plan_entry(rows, ROWS, UNITS, &e)->size;
}

/* Tiles of all sizes are used; of two entries of equal cost, the one for the product's size
 * wins. */
static void matmul_plan_selects_fastest_entry(void **unused)
{
    (void)unused;
    assert_int_equal(size_taken(cube(256)), 512);
    assert_int_equal(size_taken(cube(1024)), 1024);
    assert_int_equal(size_taken(cube(4096)), 4096);
    assert_int_equal(size_taken(cube(8192)), 8192);
    assert_true(matmul_plan(&rows[3].shape, UNITS, (struct problem_size[]){cube(8192)}).splits >
                1); /* 4 tiles after 31 whole waves: 3 % of the time */
    struct problem_size thin = {64, 64, 100000, 8, ALIGN_32, true};
    assert_true(matmul_plan(&rows[1].shape, UNITS, &thin).splits > 8);
    thin.can_split = false;
    assert_int_equal(matmul_plan(&rows[1].shape, UNITS, &thin).splits, 1);
    assert_null(matmul_plan_entry(rows, 0, UNITS, &thin));
    struct problem_size well = cube(1024), beside = well, anywhere = well;
    beside.alignment = ALIGN_16;
    anywhere.alignment = UNALIGNED;
    assert_true(matmul_plan(&rows[0].shape, UNITS, &beside).cost >
                matmul_plan(&rows[0].shape, UNITS, &well).cost);
    assert_true(matmul_plan(&rows[0].shape, UNITS, &anywhere).cost >
                matmul_plan(&rows[0].shape, UNITS, &beside).cost);
}

/* Few columns or rows are read once, at memory bandwidth; more than `few` are tiles. A partial
 * tile costs as much as a full one. */
static void matmul_plan_skinny_costs_memory_time(void **unused)
{
    (void)unused;
    const struct matmul_shape s = {
        .vectors_max = 8, .line_bytes = 128, .items_across = 32, .steps = 4, .fma_per_byte = 9};
    for (size_t few = 1; few <= 9; few++) {
        const struct problem_size tall = {4096, few, 4096, 4, ALIGN_32, true},
                                  wide = {few, 4096, 4096, 4, ALIGN_32, true};
        const double cost = matmul_plan_skinny(&s, UNITS, &tall);
        assert_true(cost == matmul_plan_skinny(&s, UNITS, &wide));
        assert_true(few <= 8 ? cost == 4096. * 4096 * 4 * 9 / UNITS &&
                                   cost < matmul_plan_memory_bound(&s, UNITS, &tall)
                             : isinf(cost));
    }
    const struct problem_size small = {8, 8, 4096, 4, ALIGN_32, true};
    assert_true(matmul_plan_skinny(&s, UNITS, &small) == 128. * 4096 * 4 * 9 / UNITS);
}

/* Operands beyond the cache arrive at the rate that slices request them: few slices favour
 * another entry. */
static void matmul_plan_uncached_operands_cost_bandwidth(void **unused)
{
    (void)unused;
    struct matmul_shape s = rows[1].shape, t = s;
    s.stages = 2;
    const struct problem_size near = {64, 4096, 1024, 8, ALIGN_32, true},
                              far = {64, 4096, 4096, 8, ALIGN_32, true};
    assert_true(matmul_plan(&s, UNITS, &near).cost == matmul_plan(&t, UNITS, &near).cost);
    assert_true(matmul_plan(&s, UNITS, &far).cost > matmul_plan(&t, UNITS, &far).cost);
}

/* One or two tiles of great depth, each split among several groups. Integers, so that sums in
 * any order are exact. On any device the first two shapes split them, the next two in over 16
 * parts, which groups add as a tree; the large tiles of the last one are reduced by a kernel. */
static void matmul_split_k_is_exact(void **unused)
{
    (void)unused;
    enum { M = 33, N = 20, K = 700 };
    static const char *const shapes[] = {
        "path=1 bm=32 bn=32 bk=8 wm=32 wn=16 k_groups=1 stages=3 prefetch=1 lane_layout=1 mma=0 async=0 pack=0 groups_per_unit=4 split_k_min=32",
        "path=1 bm=32 bn=32 bk=8 wm=32 wn=16 k_groups=1 stages=2 prefetch=1 lane_layout=0 mma=1 async=0 pack=0 groups_per_unit=4 split_k_min=32",
        "path=1 bm=32 bn=32 bk=8 wm=32 wn=16 k_groups=1 stages=3 prefetch=1 lane_layout=1 mma=0 async=0 pack=0 groups_per_unit=64 split_k_min=32",
        "path=1 bm=32 bn=32 bk=8 wm=32 wn=16 k_groups=1 stages=2 prefetch=1 lane_layout=0 mma=1 async=0 pack=0 groups_per_unit=64 split_k_min=32",
        "path=1 bm=128 bn=32 bk=8 wm=32 wn=32 k_groups=1 stages=2 prefetch=1 lane_layout=0 mma=0 async=0 pack=0 groups_per_unit=64 split_k_min=32",
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    static double a[M * K], b[K * N], c[M * N];
    const cl_device_id first = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&first, 1);
    assert_non_null(cp);
    for (size_t units = 1; units <= 256; units++) { /* whatever device this is */
        struct matmul_shape s = {
            .bm = 32, .bn = 32, .bk = 8, .stages = 2, .groups_per_unit = 4, .split_k_min = 32};
        const struct problem_size e = {M, N, K, sizeof *a, ALIGN_32, true};
        assert_true(matmul_plan(&s, units, &e).splits > 1);
        s.groups_per_unit = 64;
        assert_true(matmul_plan(&s, units, &e).splits > 16 &&
                    !matmul_plan(&s, units, &e).splitk_reduce);
        s.bm = 128;
        assert_true(matmul_plan(&s, units, &e).splitk_reduce);
    }
    for (size_t i = 0; i < M * K; i++)
        a[i] = (double)(i * 7 % 13) - 6;
    for (size_t i = 0; i < K * N; i++)
        b[i] = (double)(i * 5 % 11) - 5;
    for (size_t s = 0; s < SHAPES; s++) {
        matmul *mm = matmul_create(
            &(struct matmul_options){.ctx = cp, .precision = MATMUL_DOUBLE, .shape = shapes[s]});
        assert_non_null(mm);
        assert_int_equal(matmul_multiply(mm, MATMUL_NN, M, N, K, 1, a, K, b, N, 0, c, N), 0);
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double sum = 0;
                for (size_t x = 0; x < K; x++)
                    sum += a[i * K + x] * b[x * N + j];
                assert_true(c[i * N + j] == sum);
            }
        matmul_free(mm);
    }
    assert_int_equal(clcontext_destroy(cp), 0);
}

/* If C has a few rows and columns beyond whole tiles, they cost one more read of the operands
 * and no more tiles; except where rows are unaligned and not copied, or the edge is wider than a
 * few vectors. */
static void matmul_plan_edge_costs_memory_time(void **unused)
{
    (void)unused;
    const struct matmul_shape thin = {
        .vectors_max = 4, .line_bytes = 128, .items_across = 32, .steps = 4, .fma_per_byte = 9};
    struct matmul_shape s = rows[2].shape;
    for (size_t n = 2048; n < 2048 + 128; n++) {
        const struct problem_size e = cube(n), part = matmul_plan_interior(&s, &e);
        const size_t rest = n % 128 <= SKINNY_VECTORS_MAX ? n % 128 : 0;
        assert_true(part.m == n - rest && part.n == n - rest && part.k == n);
        const double cost = matmul_plan_with_edges(&s, &thin, &thin, UNITS, &e);
        assert_true(rest == 0   ? cost == matmul_plan(&s, UNITS, &e).cost
                    : rest <= 4 ? cost < matmul_plan(&s, UNITS, &e).cost
                                : isinf(cost));
    }
    struct problem_size e = cube(2049);
    e.alignment = UNALIGNED;
    assert_int_equal(matmul_plan_interior(&s, &e).m, 2049);
    s.pack = 256;
    assert_int_equal(matmul_plan_interior(&s, &e).m, 2048);
    e.can_split = false;
    assert_int_equal(matmul_plan_interior(&s, &e).m, 2049);
    const struct problem_size tile = cube(100);
    assert_int_equal(matmul_plan_interior(&s, &tile).m, 100);
}

/* Products with an edge below, at the right or both, of operands stored either way, with aligned
 * rows or unaligned rows that are copied first; and one with unaligned rows that are not copied,
 * which leaves no edge. Integers; the padding of C's rows is unchanged. */
static void matmul_edge_tiles_are_exact(void **unused)
{
    (void)unused;
    enum { MOST = 67, K = 1001, LD = 80 };
    static const struct {
        size_t m, n, k;
        enum matmul_trans trans;
        int pack;
        size_t rows, cols;
    } cases[] = {{65, 66, K - 1, MATMUL_NN, 0, 1, 2},
                 {67, 32, K - 1, MATMUL_NT, 0, 3, 0},
                 {64, 67, K, MATMUL_TT, 16, 0, 3},
                 {65, 66, K, MATMUL_TN, 16, 1, 2}};
    static double a[MOST * K] __attribute__((aligned(64))),
        b[MOST * K] __attribute__((aligned(64))), c[MOST * LD];
    const cl_device_id first = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&first, 1);
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp, .precision = MATMUL_DOUBLE});
    assert_non_null(mm);
    mm->small = NULL; /* not on the host */
    struct matmul_device *p = &mm->device[0];
    p->entries[0].size = 4096;
    p->entries[0].shape = (struct matmul_shape){.path = 1,
                                                .bm = 32,
                                                .bn = 32,
                                                .bk = 8,
                                                .wm = 32,
                                                .wn = 16,
                                                .k_groups = 1,
                                                .k_lanes = 8,
                                                .stages = 2,
                                                .prefetch = 1,
                                                .swizzle = 8,
                                                .groups_per_unit = 1,
                                                .peak_percent = 1,
                                                .peak_percent_one = 1,
                                                .unaligned_percent = 90};
    p->nentries = 1; /* the device's only row for tiles, and one compute unit, on any device */
    p->entries_known = true;
    p->info.dev_max_core = 1;
    for (size_t i = 0; i < MOST * K; i++) {
        a[i] = (double)(i * 7 % 13) - 6;
        b[i] = (double)(i * 5 % 11) - 5;
    }
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        const size_t m = cases[t].m, n = cases[t].n, k = cases[t].k;
        const bool ta = cases[t].trans == MATMUL_TN || cases[t].trans == MATMUL_TT,
                   tb = cases[t].trans == MATMUL_NT || cases[t].trans == MATMUL_TT;
        const size_t lda = ta ? m : k, ldb = tb ? k : n;
        p->entries[0].shape.pack = cases[t].pack;
        p->entry_size = 0;
        for (size_t i = 0; i < MOST * LD; i++)
            c[i] = 3;
        assert_int_equal(matmul_multiply(mm, cases[t].trans, m, n, k, 2, a, lda, b, ldb, -1, c, LD),
                         0);
        assert_true(p->edge_rows == cases[t].rows && p->edge_cols == cases[t].cols);
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < LD; j++) {
                double sum = 0;
                for (size_t x = 0; x < k && j < n; x++)
                    sum += a[ta ? x * m + i : i * k + x] * b[tb ? j * k + x : x * n + j];
                assert_true(c[i * LD + j] == (j < n ? 2 * sum - 3 : 3));
            }
    }
    assert_non_null(strstr(matmul_explain(mm, 0, 65, 66, K),
                           "the last 1 rows and 2 columns as a matrix times a few vectors"));
    p->entries[0].shape.pack = 0;
    p->entry_size = 0;
    assert_null(
        strstr(matmul_explain(mm, 0, 65, 66, K), "few vectors")); /* rows of A begin anywhere */
    assert_int_equal(p->edge_rows + p->edge_cols, 0);
    matmul_free(mm);
    assert_int_equal(clcontext_destroy(cp), 0);
}

/* Results are stored four at a time where alignment permits: not for a C that begins 16 bytes
 * after a multiple of that, in memory that a CPU uses in place. */
static void matmul_unaligned_results_are_exact(void **unused)
{
    (void)unused;
    enum { N = 64 };
    static double a[N * N], b[N * N], room[N * N + 8];
    const cl_device_id first = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&first, 1);
    matmul *mm = matmul_create(
        &(struct matmul_options){.ctx = cp,
                                 .precision = MATMUL_DOUBLE,
                                 .shape = "path=1 mma=0 bm=32 bn=32 bk=8 wm=32 wn=16"});
    assert_non_null(mm);
    for (size_t i = 0; i < N * N; i++)
        a[i] = (double)(i % 7), b[i] = i / N == i % N;
    for (size_t behind = 0; behind < 8; behind++) {
        double *c = room + behind;
        assert_int_equal(matmul_multiply(mm, MATMUL_NN, N, N, N, 1, a, N, b, N, 0, c, N), 0);
        assert_memory_equal(c, a, sizeof a);
    }
    matmul_free(mm);
    assert_int_equal(clcontext_destroy(cp), 0);
}

struct told {
    double last;
    int wrong;
};

static int note_progress(void *arg, double fraction)
{
    struct told *t = arg;
    t->wrong += fraction < t->last || fraction > 1;
    t->last = fraction;
    return 0;
}

/* Progress of a product in panels of the depth, the last one small, in launches of minimal
 * length: work queued when its panel is counted is not counted again at the wait. */
static void matmul_progress_counts_panel_once(void **unused)
{
    (void)unused;
    enum { N = 96, MOST = 400 };
    static double a[N * MOST], b[N * MOST], c[N * N];
    struct told told = {0, 0};
    const cl_device_id first = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&first, 1);
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = cp,
        .precision = MATMUL_DOUBLE,
        .memory = 400000,
        .progress = note_progress,
        .arg = &told,
        .shape = "path=1 mma=0 bm=32 bn=32 bk=8 wm=32 wn=16 split_k_min=0"});
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
    assert_non_null(mm);
    for (size_t k = MOST / 2; k <= MOST; k++) {
        told.last = 0;
        assert_int_equal(matmul_multiply(mm, MATMUL_NN, N, N, k, 1, a, k, b, N, 0, c, N), 0);
        assert_true(told.last > 0.999 && told.wrong == 0);
    }
    matmul_free(mm);
    assert_int_equal(clcontext_destroy(cp), 0);
}

/* The tuning search for skinny shapes, on a device reported as a GPU: each shape's products are
 * right. A CPU reports the purpose of these shapes. */
static void matmul_tune_skinny_shapes_are_right(void **unused)
{
    (void)unused;
    size_t count;
    const struct cltune_kernel *kernels = matmul_tune_kernels(&count), *kernel = NULL;
    for (size_t i = 0; i < count; i++)
        if (strcmp(kernels[i].name, "matmul.skinny.single") == 0)
            kernel = kernels + i;
    assert_non_null(kernel);
    const cl_device_id first = clgetdevice(stddev, 0);
    CLCONTEXT *cp = clcontext_create_from(&first, 1);
    struct cldev_info info;
    assert_int_equal(clgetdevinfo(cp, &info), 0);
    void *problem = kernel->open(kernel, cp, 2);
    if (info.dev_type & CL_DEVICE_TYPE_CPU) {
        assert_null(problem);
        assert_string_equal(clerror(),
                            "matmul: panels are for CPUs, tiles and few vectors for GPUs");
    } else {
        double seconds = 0, work = 0;
        assert_non_null(problem);
        assert_int_equal(
            kernel->allowed(
                problem,
                "items=64 line_bytes=64 rows_per_item=2 items_across=16 steps=2 groups=128 split_k_min=0"),
            0);
        assert_int_equal(kernel->allowed(problem, "items=48"), -1);
        assert_int_equal(
            kernel->verify(
                problem,
                "items=64 line_bytes=64 rows_per_item=2 items_across=16 steps=2 groups=128 split_k_min=0"),
            0);
        assert_int_equal(
            kernel->measure(
                problem,
                "items=64 line_bytes=64 rows_per_item=2 items_across=16 steps=2 groups=128 split_k_min=0",
                &seconds, &work),
            0);
        assert_true(seconds > 0 && work == 2. * 2 * 4096 * 4096 * 2);
        kernel->close(problem);
    }
    assert_int_equal(clcontext_destroy(cp), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_plan_tiles_cover_c),
        cmocka_unit_test(matmul_plan_selects_fastest_entry),
        cmocka_unit_test(matmul_plan_skinny_costs_memory_time),
        cmocka_unit_test(matmul_plan_uncached_operands_cost_bandwidth),
        cmocka_unit_test(matmul_plan_edge_costs_memory_time),
        cmocka_unit_test(matmul_split_k_is_exact),
        cmocka_unit_test(matmul_edge_tiles_are_exact),
        cmocka_unit_test(matmul_unaligned_results_are_exact),
        cmocka_unit_test(matmul_progress_counts_panel_once),
        cmocka_unit_test(matmul_tune_skinny_shapes_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
