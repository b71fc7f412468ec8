/* test_cli_matmul.c - the command `stdcl matmul`: output, files, rejected options. The program
 * is argv[1]. */
/* SPDX-License-Identifier: MIT */
#include "files.h"
#include "deep.h"

#include <jansson.h>
#include <math.h>
#include <sys/wait.h>

static const char *program;

/* Run "stdcl matmul WORDS", with its output in the folder's files out and err; return the exit
 * status. */
static int run_matmul_command(const char *words)
{
    char command[4096];
    snprintf(command, sizeof command, "'%s' matmul %s > '%s' 2> '%s'", program, words,
             in_folder("out"), in_folder("err"));
    const int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void says_in(const char *file, const char *part)
{
    char *text = bytes_of(in_folder(file), NULL);
    contains(text, part);
    free(text);
}

static void expect_matmul_refused(const char *words, int status, const char *sentence)
{
    assert_int_equal(run_matmul_command(words), status);
    says_in("err", sentence);
}

/* Skip without doubles: the files hold doubles. */
static void needs_doubles(void)
{
    static int status = -1;
    if (status < 0 && (status = run_matmul_command("-n 1 --precision double --repeat 1 -q")) != 0)
        says_in("err", "double precision");
    if (status == 0)
        return;
    print_message("the device has no doubles\n");
    skip();
}

/* Write a matrix of float64 in C order, given as text. */
static const char *write_matrix_file(const char *name, const char *shape, const double *x, size_t n)
{
    char bytes[1024 + 12000 * sizeof *x];
    const int used =
        snprintf(bytes + 10, 1024 - 10, "{'descr': '<f8', 'fortran_order': %s}", shape);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (char)used;
    bytes[9] = 0;
    memcpy(bytes + 10 + used, x, n * sizeof *x);
    put_bytes(in_folder(name), bytes, 10 + (size_t)used + n * sizeof *x);
    return in_folder(name);
}

static const double six[6] = {1, 2, 3, 4, 5, 6};

/* A file that cannot be written leaves the report and the other files. */
static void cli_matmul_reports_after_a_failed_file(void **unused)
{
    (void)unused;
    if (access("/dev/full", W_OK) < 0)
        skip();
    assert_int_equal(run_matmul_command("-n 16 --repeat 1 -o /dev/full"), 1);
    says_in("err", "/dev/full: the disk is full");
    says_in("out", "speed");
    char *text = bytes_of(in_folder("out"), NULL);
    assert_null(strstr(text, "written"));
    free(text);
    char words[2 * PATH_MAX];
    works(symlink("/dev/full", in_folder("full.csv")));
    snprintf(words, sizeof words, "--sweep -n 4 --engine cpu-blocked --csv '%s'",
             in_folder("full.csv"));
    snprintf(words + strlen(words), sizeof words - strlen(words), " --plot '%s'",
             in_folder("kept.svg"));
    assert_int_equal(run_matmul_command(words), 1);
    says_in("err", "full.csv: the disk is full");
    says_in("out", "block");
    assert_int_equal(access(in_folder("kept.svg"), R_OK), 0);
}

static void cli_matmul_json_has_all_keys(void **unused)
{
    (void)unused;
    needs_doubles();
    static const char *const keys[] = {
        "program", "device", "engine",       "precision", "m",   "n",          "k",
        "seconds", "gflops", "peak_percent", "error",     "nan", "interrupted"};
    assert_int_equal(run_matmul_command("-n 50 -m 40 -k 30 --precision double --json --repeat 1"),
                     0);
    json_t *report = json_load_file(in_folder("out"), 0, NULL);
    ready(report);
    assert_int_equal(json_object_size(report), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ready(json_object_get(report, keys[i]));
    assert_string_equal(json_string_value(json_object_get(report, "engine")), "tuned");
    assert_int_equal(json_integer_value(json_object_get(report, "m")), 40);
    assert_int_equal(json_integer_value(json_object_get(report, "k")), 30);
    assert_true(json_real_value(json_object_get(report, "error")) < 1e-14);
    assert_true(json_real_value(json_object_get(report, "gflops")) > 0);
    json_decref(report);
}

/* (1 2 3; 4 5 6) (1 2; 3 4; 5 6), the left one in Fortran order. */
static void cli_matmul_multiplies_files(void **unused)
{
    (void)unused;
    needs_doubles();
    const double columns[6] = {1, 4, 2, 5, 3, 6}, right[4] = {22, 28, 49, 64};
    char words[3000];
    size_t size;
    write_matrix_file("a.npy", "True, 'shape': (2, 3)", columns, 6);
    write_matrix_file("b.npy", "False, 'shape': (3, 2)", six, 6);
    snprintf(words, sizeof words, "-a %s -b %s -o %s --repeat 1", in_folder("a.npy"),
             in_folder("b.npy"), in_folder("c.npy"));
    assert_int_equal(run_matmul_command(words), 0);
    says_in("out", "double precision");
    char *bytes = bytes_of(in_folder("c.npy"), &size);
    assert_int_equal(size, 128 + sizeof right);
    assert_memory_equal(bytes + 128, right, sizeof right);
    free(bytes);
    strcat(words, " --out-of-core");
    expect_matmul_refused(words, 2, "a product out of core is computed once");
    snprintf(words, sizeof words, "-a %s -b %s -o %s --out-of-core", in_folder("a.npy"),
             in_folder("b.npy"), in_folder("far.npy"));
    assert_int_equal(run_matmul_command(words), 0);
    says_in("out", "from and to files");
    bytes = bytes_of(in_folder("far.npy"), &size);
    assert_int_equal(size, 128 + sizeof right);
    assert_memory_equal(bytes + 128, right, sizeof right);
    free(bytes);
}

/* A I + 2 C with C in Fortran order, from a file, a pipe and out of core; and a C that is not read.
 */
static void cli_matmul_reads_fortran_c(void **unused)
{
    (void)unused;
    needs_doubles();
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                        columns[6] = {10, 40, 20, 50, 30, 60},
                        right[6] = {21, 42, 63, 84, 105, 126};
    static const char *const how[] = {
        "-c c.npy --beta 2 --repeat 1", "-c - --beta 2 --repeat 1 < c.npy",
        "-c c.npy --beta 2 --out-of-core", "-c nowhere.npy --repeat 1"};
    char words[3000], here[PATH_MAX];
    size_t size;
    write_matrix_file("a.npy", "False, 'shape': (2, 3)", six, 6);
    write_matrix_file("b.npy", "False, 'shape': (3, 3)", identity, 9);
    write_matrix_file("c.npy", "True, 'shape': (2, 3)", columns, 6);
    ready(getcwd(here, sizeof here));
    assert_int_equal(chdir(files_folder), 0);
    for (size_t i = 0; i < 4; i++) {
        snprintf(words, sizeof words, "-a a.npy -b b.npy -o d.npy %s", how[i]);
        const int status = run_matmul_command(words);
        char *bytes = bytes_of(in_folder("d.npy"), &size);
        const double *wanted = i < 3 ? right : six;
        if (status != 0 || size != 128 + sizeof right ||
            memcmp(bytes + 128, wanted, sizeof right) != 0)
            fail_msg("%s: status %d", words, status);
        free(bytes);
    }
    assert_int_equal(chdir(here), 0);
}

/* One NaN in A, and two in a C that is read only if beta is not 0. */
static void cli_matmul_reports_nan(void **unused)
{
    (void)unused;
    needs_doubles();
    const double with_nan[6] = {1, 2, (double)NAN, 4, 5, 6},
                 before[4] = {(double)NAN, 1, (double)NAN, 1};
    char words[3000];
    write_matrix_file("a.npy", "False, 'shape': (2, 3)", with_nan, 6);
    write_matrix_file("b.npy", "False, 'shape': (3, 2)", six, 6);
    write_matrix_file("before.npy", "False, 'shape': (2, 2)", before, 4);
    snprintf(words, sizeof words, "-a %.900s -b %.900s -c %.900s --repeat 1", in_folder("a.npy"),
             in_folder("b.npy"), in_folder("before.npy"));
    assert_int_equal(run_matmul_command(words), 0);
    says_in("out", "1 in A, 0 in B;");
    strcat(words, " --beta 1 --json");
    assert_int_equal(run_matmul_command(words), 0);
    says_in("out", "\"nan\": 3");
    double many[40 * 300];
    for (size_t i = 0; i < 40 * 300; i++)
        many[i] = i % 7 == 0 ? (double)NAN : 1;
    write_matrix_file("a.npy", "False, 'shape': (300, 40)", many, 40 * 300);
    write_matrix_file("b.npy", "True, 'shape': (40, 300)", many, 40 * 300);
    snprintf(words, sizeof words, "-a %.900s -b %.900s -o %.900s --out-of-core --memory 20000 ",
             in_folder("a.npy"), in_folder("b.npy"), in_folder("c.npy"));
    assert_int_equal(run_matmul_command(words), 0); /* which reads A and B several times */
    says_in("out", "1715 in A, 1715 in B;");
}

static void cli_matmul_compares_and_sweeps(void **unused)
{
    (void)unused;
    char words[3000];
    assert_int_equal(run_matmul_command("--compare -n 40 --repeat 1"), 0);
    says_in("out", "cpu-blocked");
    says_in("out", "naive");
    says_in("out", "sycl");
    snprintf(words, sizeof words, "--sweep -n 24 --repeat 1 --csv %s --plot %s", in_folder("s.csv"),
             in_folder("s.svg"));
    assert_int_equal(run_matmul_command(words), 0);
    says_in("s.csv", "block,cpu-blocked_seconds,blocked_seconds\n1,");
    says_in("s.csv", "\n1024,");
    says_in("s.svg", "</svg>");
}

static void cli_matmul_compare_skips_slow_engines(void **unused)
{
    (void)unused;
    setenv("STDCL_SLICE", "1e-9", 1); /* progress as often as possible */
    assert_int_equal(
        run_matmul_command(
            "--compare --engine cpu-naive --engine naive -n 1500 --repeat 1 --limit 0.01"),
        0);
    unsetenv("STDCL_SLICE");
    says_in("out", "cpu-naive: would take more than 0.01 s; use --all to run it");
    assert_int_equal(run_matmul_command("--sweep --engine cpu-blocked -n 100 --limit 1e-7 --json"),
                     0); /* which takes less than any cancellation */
    says_in("out", "\"why\": \"would take more than 1e-07 s");
    char *text = bytes_of(in_folder("out"), NULL);
    assert_null(strstr(text, "\"seconds\": 0")); /* null in all */
    free(text);
    assert_int_equal(run_matmul_command("--compare --engine naive -n 40 --repeat 1 --all"), 0);
}

/* With PoCL, whose compiler takes seconds to optimise a cached program, and an empty cache. */
static void cli_matmul_excludes_compile_time(void **unused)
{
    (void)unused;
    mkdir(in_folder("cold"), 0755);
    setenv("POCL_CACHE_DIR", in_folder("cold"), 1);
    setenv("XDG_CACHE_HOME", in_folder("cold"), 1);
    setenv("STDCL_CACHE", "1", 1);
    const char *const flags = getenv("POCL_EXTRA_BUILD_FLAGS");
    char *const kept = flags ? strdup(flags) : NULL;
    unsetenv("POCL_EXTRA_BUILD_FLAGS");
    assert_int_equal(run_matmul_command(
                         "--compare --engine tuned --engine naive -m 17 -n 5000 -k 300 --repeat 1"),
                     0);
    unsetenv("POCL_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    setenv("STDCL_CACHE", "0", 1);
    if (kept)
        setenv("POCL_EXTRA_BUILD_FLAGS", kept, 1);
    free(kept);
    char *text = bytes_of(in_folder("out"), NULL);
    assert_null(strstr(text, "would take more"));
    free(text);
}

/* A stand-in for rsvg-convert: it copies its input to its output. */
static void cli_matmul_plots_png(void **unused)
{
    (void)unused;
    char words[PATH_MAX + 200], path[PATH_MAX];
    const char *sweep = "--sweep --engine cpu-blocked -n 8 --repeat 1 --plot";
    mkdir(in_folder("bin"), 0755);
    assert_int_equal(run_matmul_command("--sweep --engine cpu-blocked -n 8 --repeat 1"),
                     0); /* a driver that finds its linker by PATH has it compiled */
    snprintf(words, sizeof words, "%s %.2000s", sweep, in_folder("p.png"));
    snprintf(path, sizeof path, "%s", getenv("PATH"));
    setenv("PATH", in_folder("bin"), 1);
    const int alone = run_matmul_command(words);
    put_text(in_folder("bin/rsvg-convert"),
             "#!/bin/sh\nwhile read -r line; do echo \"$line\"; done\n");
    chmod(in_folder("bin/rsvg-convert"), 0755);
    const int helped = run_matmul_command(words);
    setenv("PATH", path, 1);
    assert_int_equal(alone, 1); /* before anything was computed, see refuses() */
    assert_int_equal(helped, 0);
    says_in("p.png", "</svg>");
    snprintf(words, sizeof words, "test $(ls '%s' | grep -c p.png) = 1", files_folder);
    assert_int_equal(system(words), 0); /* and no other output */
}

/* From a pipe, to a pipe: standard output has the numbers, so the report goes elsewhere. */
static void cli_matmul_reads_and_writes_pipes(void **unused)
{
    (void)unused;
    needs_doubles();
    const double right[4] = {22, 28, 49, 64};
    static const char *const outputs[] = {"-", "/dev/stdout"};
    char words[3000];
    size_t size;
    write_matrix_file("a.npy", "False, 'shape': (2, 3)", six, 6);
    write_matrix_file("b.npy", "False, 'shape': (3, 2)", six, 6);
    for (size_t i = 0; i < 2; i++) {
        snprintf(words, sizeof words, "-a - -b %s -o %s --repeat 1 < %s", in_folder("b.npy"),
                 outputs[i], in_folder("a.npy"));
        assert_int_equal(run_matmul_command(words), 0);
        char *bytes = bytes_of(in_folder("out"), &size);
        assert_int_equal(size, 128 + sizeof right);
        assert_memory_equal(bytes + 128, right, sizeof right);
        free(bytes);
        says_in("err", "FLOP/s");
    }
    snprintf(words, sizeof words, "-n 4 -o %s", in_folder("out"));
    expect_matmul_refused(words, 2, "is also the file of standard output");
    expect_matmul_refused("--sweep -n 4 --json --csv /dev/fd/1", 2, "--json and --csv -");
}

static void cli_matmul_streams_operands(void **unused)
{
    (void)unused;
    assert_int_equal(run_matmul_command("-n 200 --memory 50000 --repeat 1 --engine naive"),
                     0); /* no variants to compile */
    says_in("out", "transfers of the operands");
}

/* The profile requested by the environment covers the run, and is not lost to the measurement of
 * kernels. */
static void cli_matmul_is_profiled_by_environment(void **unused)
{
    (void)unused;
    setenv("STDCL_PROFILE", "csv", 1);
    assert_int_equal(run_matmul_command("-n 8 -q --repeat 1 --engine naive"), 0);
    unsetenv("STDCL_PROFILE");
    says_in("err", "kernel,\"matmul_naive\"");
}

/* The labels of bars are the speeds of the report. */
static void cli_matmul_draws_comparison(void **unused)
{
    (void)unused;
    char words[PATH_MAX + 100];
    snprintf(words, sizeof words,
             "-n 64 --compare --engine tuned --engine cpu-naive --repeat 1 --json --figure '%s'",
             in_folder("b.svg"));
    if (run_matmul_command(words) == 1) {
        says_in("err", "gnuplot");
        skip();
    }
    json_t *report = json_load_file(in_folder("out"), 0, NULL);
    ready(report);
    says_in("b.svg", "Product of 64 x 64 and 64 x 64, single precision");
    says_in("b.svg", ">speed [GFLOP/s]<");
    for (size_t i = 0; i < 2; i++) {
        const json_t *one = json_array_get(json_object_get(report, "results"), i);
        const double gflops = json_real_value(json_object_get(one, "gflops"));
        snprintf(words, sizeof words, ">%s<", json_string_value(json_object_get(one, "engine")));
        says_in("b.svg", words);
        if (gflops >= 1 && gflops < 10) {
            snprintf(words, sizeof words, ">%.2f GFLOP/s", gflops);
            says_in("b.svg", words);
        }
    }
    json_decref(report);
    expect_matmul_refused("-n 8 --figure x.svg", 2, "--figure needs --compare");
    expect_matmul_refused("-n 8 --sweep --figure x.svg", 2, "a sweep has --plot");
    expect_matmul_refused("-n 8 --compare --paper black", 2, "--paper needs --figure FILE");
}

static void cli_matmul_rejects_bad_options(void **unused)
{
    (void)unused;
    char words[3000];
    expect_matmul_refused("-n 0", 2, "at least 1");
    expect_matmul_refused("--engine fast", 2, "available: tuned");
    expect_matmul_refused("--engine blocked --block 5000 -n 8", 2, "the maximum is");
    expect_matmul_refused("--block 8 -n 8", 2, "needs a blocked engine (--engine blocked");
    expect_matmul_refused("--block 8 -n 8 --sweep", 2, "omit --block");
    expect_matmul_refused("--alpha 1e39 -n 8", 2, "'1e+39' is infinite in single precision");
    expect_matmul_refused("--beta -1e-60 -n 8", 2, "'-1e-60' is zero in single precision");
    expect_matmul_refused("--out-of-core -n 8", 2, "needs -a FILE, -b FILE and -o FILE");
    expect_matmul_refused("--out-of-core -a a.npy -b b.npy -o -", 2, "give a regular file");
    expect_matmul_refused("--compare --sweep", 2, "cannot be combined");
    expect_matmul_refused("--plot x.svg", 2, "--sweep");
    expect_matmul_refused("--all -n 8", 2, "--all needs --compare or --sweep");
    expect_matmul_refused("--limit 3 -n 8", 2, "--limit needs --compare or --sweep");
    expect_matmul_refused("--compare --all --limit 3 -n 8", 2, "cannot be combined");
    expect_matmul_refused("-n 4 -o c.csv", 2, "end in .npy");
    expect_matmul_refused("-n 4 --shape nonsense", 2, "stdcl matmul: shape: ");
    expect_matmul_refused("--sweep --plot x.eps", 2, ".svg, .png or .pdf");
    expect_matmul_refused("-o /nowhere/c.npy", 1, "nowhere");
    expect_matmul_refused("-o - --json", 2, "give a file name");
    expect_matmul_refused("-o c.csv", 2, ".npy");
    expect_matmul_refused("-a - -b -", 2, "standard input");
    expect_matmul_refused("--engine naive --engine blocked", 2, "--compare");
    expect_matmul_refused("--shape colour=1 -n 8", 2, "colour=1");
    expect_matmul_refused("-n 2000000000 -k 1", 1, "memory");
    write_matrix_file("a.npy", "False, 'shape': (2, 3)", six, 6);
    write_matrix_file("b.npy", "False, 'shape': (2, 3)", six, 6);
    snprintf(words, sizeof words, "-a %s -b %s", in_folder("a.npy"), in_folder("b.npy"));
    expect_matmul_refused(words, 2, "does not fit");
    snprintf(words, sizeof words, "-a %s --precision single", in_folder("a.npy"));
    expect_matmul_refused(words, 2, "float64");
    put_text(in_folder("text.npy"), "1 2 3\n");
    snprintf(words, sizeof words, "-a %s", in_folder("text.npy"));
    expect_matmul_refused(words, 1, "not a .npy file");
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(cli_matmul_json_has_all_keys),
        cmocka_unit_test(cli_matmul_reports_after_a_failed_file),
        cmocka_unit_test(cli_matmul_multiplies_files),
        cmocka_unit_test(cli_matmul_reads_fortran_c),
        cmocka_unit_test(cli_matmul_compares_and_sweeps),
        cmocka_unit_test(cli_matmul_compare_skips_slow_engines),
        cmocka_unit_test(cli_matmul_excludes_compile_time),
        cmocka_unit_test(cli_matmul_reports_nan),
        cmocka_unit_test(cli_matmul_plots_png),
        cmocka_unit_test(cli_matmul_draws_comparison),
        cmocka_unit_test(cli_matmul_reads_and_writes_pipes),
        cmocka_unit_test(cli_matmul_streams_operands),
        cmocka_unit_test(cli_matmul_rejects_bad_options),
        cmocka_unit_test(cli_matmul_is_profiled_by_environment),
    };
    if (argc < 2)
        return 2;
    program = argv[1];
    return sampled_run("products", tests, 0, 2, files_create, files_remove);
}
