/* test_matmul_faults.c - products with a failing command: an error every time, never a wrong
 * result.
 *
 * The commands fail in an OpenCL layer, faults/layer.c, loaded by OPENCL_LAYERS. argv[1] is the
 * program stdcl.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include <sys/wait.h>

#include "stdcl/matmul.h"

enum { N = 64 };
static const char *program;
static double a[N * N], b[N * N];

static const char *const commands[] = {"clEnqueueNDRangeKernel", "clEnqueueWrite*",
                                       "clEnqueueRead*"};
static const char *const ways[] = {"refused", "failed"};

static void set_fault(const char *command, int number, const char *how)
{
    char text[96];
    snprintf(text, sizeof text, "%s %d %d %s", command, number, CL_OUT_OF_RESOURCES, how);
    setenv("STDCL_FAULT", text, 1);
}

static int prepare_fault(void **unused)
{
    matmul_random(MATMUL_DOUBLE, 1, 0, N, N, a, N);
    matmul_random(MATMUL_DOUBLE, 1, 1, N, N, b, N);
    return files_create(unused);
}

/* The OpenCL loader may not support layers, and the machine may have no CPU device. */
static void needs_the_layer(void)
{
    if (!stdcpu || clgetndev(stdcpu) == 0 || !getenv("STDCL_TEST_LAYER"))
        skip();
}

/* C = X Y in some way: 0, or -1. */
typedef int product(matmul *mm, const double *x, const double *y, double *c);

static int multiply_with_fault(matmul *mm, const double *x, const double *y, double *c)
{
    return matmul_multiply(mm, MATMUL_NN, N, N, N, 1, x, N, y, N, 0, c, N);
}

static int load_and_compute(matmul *mm, const double *x, const double *y, double *c)
{
    return matmul_load(mm, MATMUL_NN, N, N, N, x, N, y, N) == 0 && matmul_compute(mm, 1, 0) == 0
               ? matmul_result(mm, c, N)
               : -1;
}

/* Through a loaded C. */
static int load_result(matmul *mm, const double *x, const double *y, double *c)
{
    static const double zero[N * N];
    return matmul_load(mm, MATMUL_NN, N, N, N, x, N, y, N) == 0 &&
                   matmul_load_result(mm, zero, N) == 0 && matmul_compute(mm, 1, 1) == 0
               ? matmul_result(mm, c, N)
               : -1;
}

static bool product_is_right(const double *c)
{
    return matmul_error(MATMUL_DOUBLE, MATMUL_NN, N, N, N, 1, a, N, b, N, 0, NULL, c, N, 0) <=
           matmul_tolerance(MATMUL_DOUBLE, N, 1);
}

/* Fail one command after the other until none is left, and check that the engine works after
 * each. Another product runs before, so that stale results differ from the expected ones. */
static int fail_all(struct matmul_options o, product *run, const char *command, const char *how)
{
    static double c[N * N];
    int failures = 0;
    o.ctx = stdcpu;
    o.precision = MATMUL_DOUBLE;
    matmul *mm = matmul_create(&o);
    ready(mm);
    for (int number = 1, failed = 1; failed; number++, failures += failed) {
        works(run(mm, b, a, c));
        memset(c, 0xff, sizeof c);
        check_forget();
        set_fault(command, number, how);
        failed = run(mm, a, b, c) != 0;
        unsetenv("STDCL_FAULT");
        if (failed && !clerror())
            fail_msg("%s %d %s: no sentence", command, number, how);
        if (!failed && !product_is_right(c))
            fail_msg("%s %d %s: a wrong result, and no error", command, number, how);
        works(run(mm, a, b, c));
        assert_true(product_is_right(c));
    }
    matmul_free(mm);
    return failures;
}

/* In place (the words keep the product of a CPU in kernels), streamed in small panels, kept on the
 * device. */
static void matmul_failed_command_fails_product(void **unused)
{
    (void)unused;
    needs_the_layer();
    const struct matmul_options in_place = {.shape = "path=2"}, streamed = {.memory = 40000},
                                kept = {.memory = 1 << 22};
    for (int way = 0; way < 2; way++) {
        assert_true(fail_all(in_place, multiply_with_fault, commands[0], ways[way]) >= 1);
        for (int c = 0; c < 3; c++) {
            assert_true(fail_all(streamed, multiply_with_fault, commands[c], ways[way]) >= 4);
            assert_true(fail_all(kept, load_and_compute, commands[c], ways[way]) >= 1);
        }
        assert_true(fail_all(kept, load_result, commands[1], ways[way]) >= 3);
    }
}

/* Run "stdcl matmul -n 64 --shape path=2 --repeat 1 -o c.npy WORDS", by kernels, with its output in
 * the folder. */
static int run_with_fault(const char *words)
{
    char command[4096];
    snprintf(command, sizeof command,
             "'%s' matmul -n 64 --shape path=2 --repeat 1 --device cpu -o '%s' %s > '%s' 2> '%s'",
             program, in_folder("c.npy"), words, in_folder("out"), in_folder("err"));
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The warm-up, the timed run, and the first one by the device's clock: a kernel each; then the
 * warm-up of a stream. */
static void matmul_command_reports_failed_command(void **unused)
{
    (void)unused;
    needs_the_layer();
    static const char *const words[] = {"", "--memory 250000"};
    for (int i = 0; i < 8; i++) {
        unlink(in_folder("c.npy"));
        set_fault(commands[0], 1 + i / 2 % 3, ways[i % 2]);
        assert_int_equal(run_with_fault(words[i / 6]), 1);
        unsetenv("STDCL_FAULT");
        char *sentence = bytes_of(in_folder("err"), NULL);
        contains(sentence, "stdcl matmul: ");
        free(sentence);
        assert_int_equal(access(in_folder("c.npy"), F_OK), -1);
    }
    assert_int_equal(run_with_fault(""), 0);
    assert_int_equal(access(in_folder("c.npy"), F_OK), 0);
}

/* If one of several engines fails, the others run, and the status reports the failure. */
static void matmul_compare_continues_after_failure(void **unused)
{
    (void)unused;
    needs_the_layer();
    char command[4096];
    snprintf(command, sizeof command,
             "'%s' matmul -n 8 --shape path=2 --repeat 1 --device cpu --compare --engine tuned "
             "--engine naive "
             "> '%s' 2> '%s'",
             program, in_folder("out"), in_folder("err"));
    set_fault(commands[0], 1, "refused");
    const int status = system(command);
    unsetenv("STDCL_FAULT");
    char *table = bytes_of(in_folder("out"), NULL), *sentence = bytes_of(in_folder("err"), NULL);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1)
        fail_msg("status %d; %s\n%s", status, table, sentence);
    contains(table, "naive");
    contains(sentence, "engine 'tuned': ");
    free(table);
    free(sentence);
}

/* Kernels that silently do nothing are detected by C itself, also for matrices from files. */
static void matmul_command_detects_wrong_result(void **unused)
{
    (void)unused;
    needs_the_layer();
    char words[2048];
    unlink(in_folder("c.npy"));
    assert_int_equal(run_with_fault(""), 0);
    assert_int_equal(rename(in_folder("c.npy"), in_folder("a.npy")), 0);
    snprintf(words, sizeof words, "-a '%.500s' -b '%.500s'", in_folder("a.npy"),
             in_folder("a.npy"));
    assert_int_equal(run_with_fault(words), 0);
    unlink(in_folder("c.npy"));
    set_fault(commands[0], 1, "lost");
    assert_int_equal(run_with_fault(words), 1);
    unsetenv("STDCL_FAULT");
    char *sentence = bytes_of(in_folder("err"), NULL);
    contains(sentence, "gives a wrong result");
    free(sentence);
    assert_int_equal(access(in_folder("c.npy"), F_OK), -1);
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_command_detects_wrong_result),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(matmul_failed_command_fails_product),
        cmocka_unit_test(matmul_command_reports_failed_command),
        cmocka_unit_test(matmul_compare_continues_after_failure),
    };
    if (argc < 2)
        return 2;
    program = argv[1];
    return sampled_run("faults of products", tests, 1, 3, prepare_fault, files_remove);
}
