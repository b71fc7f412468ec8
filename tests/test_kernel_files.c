/* test_kernel_files.c - a kernel file below $STDCL_KERNEL_PATH replaces the embedded kernel,
 * also where the engine prepends other files; and an engine detects the result of a faulty
 * kernel.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include <stdcl/arrays.h>
#include <stdcl/gas.h>
#include <stdcl/life.h>
#include <stdcl/matmul.h>
#include <stdcl/nbody.h>

/* The first device only: some engines run on one. */
static CLCONTEXT *cp;

static int steps_by_file(enum nbody_integrator integrator, enum nbody_kernel kernel)
{
    static const double mass[2] = {1, 1}, pos[2][3] = {{1, 0, 0}, {-1, 0, 0}};
    nbody *nb = nbody_create(
        &(struct nbody_options){.ctx = cp, .dt = 1e-3, .integrator = integrator, .kernel = kernel},
        2, mass, pos, pos);
    const int status = nb ? nbody_step(nb, 1) : -1;
    nbody_free(nb);
    return status;
}

static int tree_by_file(void)
{
    enum { N = 300 };
    static double mass[N], pos[N][3], vel[N][3];
    works(nbody_initial(NBODY_PLUMMER, N, 1, mass, pos, vel));
    nbody *nb = nbody_create(
        &(struct nbody_options){
            .ctx = cp, .method = NBODY_TREE, .accuracy = 1e-3, .dt = 1e-3, .eps = 0.01},
        N, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    const int status = nb ? nbody_step(nb, 1) : -1;
    nbody_free(nb);
    return status;
}

static int leapfrog_by_file(void)
{
    return steps_by_file(NBODY_LEAPFROG, NBODY_TUNED);
}
static int hermite_by_file(void)
{
    return steps_by_file(NBODY_HERMITE4, NBODY_TUNED);
}
static int naive_by_file(void)
{
    return steps_by_file(NBODY_LEAPFROG, NBODY_NAIVE);
}

static int generations_by_file(enum life_engine engine)
{
    life *lf = life_create(
        &(struct life_options){.ctx = cp, .engine = engine, .width = 256, .height = 256});
    const int status = lf ? life_step(lf, 1) : -1;
    life_free(lf);
    return status;
}

static int packed(void)
{
    return generations_by_file(LIFE_PACKED);
}
static int local_life_by_file(void)
{
    return generations_by_file(LIFE_LOCAL);
}

static int product_by_file(enum matmul_kind kind, const char *shape)
{
    static float a[32 * 32], b[32 * 32], c[32 * 32];
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp, .kind = kind, .shape = shape});
    const int status =
        mm ? matmul_multiply(mm, MATMUL_NN, 32, 32, 32, 1, a, 32, b, 32, 0, c, 32) : -1;
    matmul_free(mm);
    return status;
}

static int tiles_by_file(void)
{
    return product_by_file(MATMUL_TUNED,
                           "path=1 k_groups=1 bm=32 bn=32 wm=32 wn=16 bk=8 mma=0 async=0");
}
static int panels_by_file(void)
{
    return product_by_file(MATMUL_TUNED, "path=2");
}

/* Sum by kernels, which an array of this size does not need. */
static int sum_by_file(void)
{
    arrays *a =
        arrays_create(&(struct arrays_options){.ctx = cp, .type = ARRAYS_FLOAT, .shape = "host=0"});
    float *x = clmalloc(cp, 400, CL_MEM_ZEROCOPY);
    double result;
    const int status =
        a && x && arrays_upload(a, x, 100) == 0 ? arrays_sum(a, x, 100, &result) : -1;
    clfree(x);
    arrays_free(a);
    return status;
}

static int gas_energy_by_file(void)
{
    gas *g = gas_create(&(struct gas_options){.ctx = cp, .n = 1000});
    struct gas_energy e;
    const int status = g ? gas_measure(g, &e) : -1;
    gas_free(g);
    return status;
}

/* Copy a kernel file below this test's folder and append a line. */
static void replace_kernel_file(const char *file, const char *line)
{
    size_t size;
    char from[PATH_MAX], room[PATH_MAX], *whole = NULL;
    snprintf(from, sizeof from, "../%s", file);
    char *text = bytes_of(from, &size);
    ready(text);
    assert_true(asprintf(&whole, "%s\n%s\n", text, line) > 0);
    for (const char *at = strchr(file, '/'); at; at = strchr(at + 1, '/')) {
        snprintf(room, sizeof room, "%.*s", (int)(at - file), file);
        mkdir(in_folder(room), 0755);
    }
    put_text(in_folder(file), whole);
    free(whole);
    free(text);
}

static void kernel_file_replaces_embedded_kernel(void **unused)
{
    (void)unused;
    struct cldev_info info[16];
    const cl_device_id first = clgetdevice(stddev, 0);
    cp = clcontext_create_from(&first, 1);
    ready(cp);
    works(clgetdevinfo(cp, info));
    const bool cpu = info[0].dev_type & CL_DEVICE_TYPE_CPU;
    const struct {
        const char *file;
        int (*run)(void);
    } rows[] = {{"nbody/force/direct.cl", leapfrog_by_file},
                {"nbody/integrator/integrate_leapfrog.cl", leapfrog_by_file}, /* after step.cl */
                {"nbody/integrator/integrate_hermite4.cl", hermite_by_file},
                {"nbody/force/baseline.cl", naive_by_file}, /* after baseline.h */
                {cpu ? "life/rows.cl" : "life/tile.cl", packed},
                {"life/count.cl", packed},
                {"life/local.cl", local_life_by_file},
                {"matmul/fma.cl", tiles_by_file}, /* after tile.cl */
                {"matmul/cpu.cl", panels_by_file},
                {"arrays/sum.cl", sum_by_file},        /* after order.h */
                {"gas/fused.cl", gas_energy_by_file}}; /* after order.h and maxwell.h */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!sampled(i, 3))
            continue;
        setenv("STDCL_KERNEL_PATH", files_folder, 1);
        replace_kernel_file(rows[i].file, "#error replaced by a test");
        assert_int_equal(rows[i].run(), -1);
        contains(clerror(), "replaced by a test");
        replace_kernel_file(rows[i].file, "/* as it was */");
        works(rows[i].run());
        works(remove(in_folder(rows[i].file)));
    }
    works(clcontext_destroy(cp));
}

/* Files that precede others are replaced as well: edits take effect, and errors name the file. */
static void kernel_file_replaces_prepended_file(void **unused)
{
    const cl_device_id first = clgetdevice(stddev, 0);
    const struct {
        const char *file;
        int (*run)(void);
    } rows[] = {{"nbody/force/walk.cl", tree_by_file},
                {"nbody/force/multipole.cl", tree_by_file},
                {"nbody/integrator/step.cl", leapfrog_by_file},
                {"nbody/force/baseline.h", naive_by_file},
                {"life/mix.h", packed},
                {"matmul/tile.cl", tiles_by_file},
                {"arrays/fixed_reduce.h", sum_by_file},
                {"gas/maxwell.h", gas_energy_by_file}};
    (void)unused;
    cp = clcontext_create_from(&first, 1);
    ready(cp);
    setenv("STDCL_KERNEL_PATH", files_folder, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        replace_kernel_file(rows[i].file, "/* unchanged */");
        if (sampled(i, 8))
            works(rows[i].run());
        replace_kernel_file(rows[i].file, "#error replaced by a test");
        assert_int_equal(rows[i].run(), -1);
        const char *const why = clerror();
        contains(why, "replaced by a test");
        contains(why, in_folder(rows[i].file));
        works(remove(in_folder(rows[i].file)));
    }
    /* They include files beside them, although the main file is not replaced. */
    replace_kernel_file("gas/maxwell.h", "#include \"beside.h\"");
    put_text(in_folder("gas/beside.h"), "/* found */\n");
    works(gas_energy_by_file());
    put_text(in_folder("gas/beside.h"), "#error included by a test\n");
    assert_int_equal(gas_energy_by_file(), -1);
    contains(clerror(), "included by a test");
    works(remove(in_folder("gas/beside.h")));
    put_bytes(in_folder("gas/maxwell.h"), "", 1);
    assert_int_equal(gas_energy_by_file(), -1);
    says("not OpenCL C: the file contains a zero byte");
    works(remove(in_folder("gas/maxwell.h")));
    works(mkdir(in_folder("gas/maxwell.h"), 0755));
    assert_int_equal(gas_energy_by_file(), -1);
    says("maxwell.h: Is a directory");
    works(rmdir(in_folder("gas/maxwell.h")));
    unsetenv("STDCL_KERNEL_PATH");
    works(clcontext_destroy(cp));
}

/* A sort order that contains a body twice would lose another: the bodies are not moved. */
static void nbody_rejects_bad_sort_order(void **unused)
{
    enum { N = 300 };
    static double mass[N], pos[N][3], vel[N][3];
    static const char right[] = "to_values[p] = values[i];", wrong[] = "to_values[p] = i ? 1 : 0;";
    struct cldev_info info[16];
    const cl_device_id first = clgetdevice(stddev, 0);
    (void)unused;
    cp = clcontext_create_from(&first, 1);
    ready(cp);
    works(clgetdevinfo(cp, info));
    if (!(info[0].dev_type & CL_DEVICE_TYPE_CPU)) {
        works(clcontext_destroy(cp));
        print_message("GPUs sort by another kernel than the one that errs here\n");
        skip();
    }
    char *text = bytes_of("../arrays/sort.cl", NULL), *at = text ? strstr(text, right) : NULL,
         *whole = NULL;
    ready(at);
    assert_true(asprintf(&whole, "%.*s%s%s", (int)(at - text), text, wrong, at + strlen(right)) >
                0);
    mkdir(in_folder("arrays"), 0755);
    put_text(in_folder("arrays/sort.cl"), whole);
    free(whole);
    free(text);
    setenv("STDCL_KERNEL_PATH", files_folder, 1);
    works(nbody_initial(NBODY_PLUMMER, N, 1, mass, pos, vel));
    assert_null(nbody_create(
        &(struct nbody_options){
            .ctx = cp, .method = NBODY_TREE, .accuracy = 1e-3, .dt = 1e-3, .eps = 0.01},
        N, mass, (const double(*)[3])pos, (const double(*)[3])vel));
    assert_int_equal(clerrno, EIO);
    says("a device sorted 300 bodies wrongly");
    works(remove(in_folder("arrays/sort.cl")));
    unsetenv("STDCL_KERNEL_PATH");
    works(clcontext_destroy(cp));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernel_file_replaces_embedded_kernel),
                                       cmocka_unit_test(kernel_file_replaces_prepended_file),
                                       cmocka_unit_test(nbody_rejects_bad_sort_order)};
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
