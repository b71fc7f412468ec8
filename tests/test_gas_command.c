/* test_gas_command.c - `stdcl gas` from the command line: reports, files, exit status.
 *
 *   test_gas_command PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"

#include "core/clock.h"

#include <jansson.h>
#include <math.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>

#ifdef STDCL_HAVE_HDF5
#include <hdf5.h>
#endif

static const char *command;
static char out[1 << 16], err[1 << 16];

static void load_gas_file(const char *name, char *text, size_t room)
{
    char *bytes = bytes_of(in_folder(name), NULL);
    snprintf(text, room, "%s", bytes ? bytes : "");
    free(bytes);
}

/* Run `stdcl gas ARGUMENTS` in the test's folder. */
static int run_gas_command(const char *arguments)
{
    char line[2 * PATH_MAX + 1000];
    snprintf(line, sizeof line, "cd '%s' && '%s' gas %s >out 2>err", files_folder, command,
             arguments);
    const int status = system(line);
    load_gas_file("out", out, sizeof out);
    load_gas_file("err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* Fail unless the command fails with one line that contains `words`, and prints nothing to
 * standard output. */
static void expect_gas_refused(int status, const char *words, const char *arguments)
{
    const int got = run_gas_command(arguments);
    const char *newline = strchr(err, '\n');
    if (got != status || !strstr(err, words) || out[0] || !newline || newline[1])
        fail_msg("stdcl gas %s: status %d, not %d with '%s'\n%s%s", arguments, got, status, words,
                 out, err);
}

/* Return the number `key` of a run's JSON report. */
static double asked(const char *arguments, const char *key)
{
    char line[1000];
    snprintf(line, sizeof line, "%s --json", arguments);
    const int status = run_gas_command(line);
    json_t *report = json_loads(out, 0, NULL);
    if (status != 0 || !report)
        fail_msg("stdcl gas %s: status %d\n%s%s", line, status, out, err);
    const double value = json_number_value(json_object_get(report, key));
    json_decref(report);
    return value;
}

static void gas_command_explains_shape(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const int status =
            run_gas_command(i ? "-n 1000 --stored -q --explain" : "-n 1000 -q --explain");
        if (status != 0 || !strstr(err, i ? "  arrays.squares." : "  gas.fused, ") ||
            !strstr(err, "the row of ") || !strstr(err, "  group="))
            fail_msg("status %d\n%s", status, err);
    }
}

static const char *gas_unit_of(const json_t *report, const char *key)
{
    const char *unit = json_string_value(json_object_get(json_object_get(report, "units"), key));
    return unit ? unit : "none";
}

static void gas_command_report_has_all_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "program",     "device",         "n",      "temperature", "mass",        "mean_energy",
        "expected",    "standard_error", "sigmas", "seconds",     "bytes_per_s", "molecules_per_s",
        "interrupted", "units"};
    assert_int_equal(run_gas_command("-n 1e5 -T 2 -m 3 --json"), 0);
    json_t *report = json_loads(out, 0, NULL);
    ready(report);
    assert_int_equal(json_object_size(report), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ready(json_object_get(report, keys[i]));
    assert_string_equal(json_string_value(json_object_get(report, "program")), "gas");
    assert_true(json_number_value(json_object_get(report, "expected")) == 3);
    assert_true(fabs(json_number_value(json_object_get(report, "sigmas"))) < 5);
    assert_true(json_is_false(json_object_get(report, "interrupted")));
    assert_string_equal(gas_unit_of(report, "mean_energy"), "reduced");
    json_decref(report);
}

/* Argon at 300 K: 3/2 k_B T is 6.21e-21 J. */
static void gas_command_report_names_units(void **state)
{
    (void)state;
    assert_int_equal(run_gas_command("-n 1e5 --gas ar --volume 2 --json"), 0);
    json_t *report = json_loads(out, 0, NULL);
    ready(report);
    assert_string_equal(gas_unit_of(report, "temperature"), "K");
    assert_string_equal(gas_unit_of(report, "mass"), "kg");
    assert_string_equal(gas_unit_of(report, "expected"), "J");
    assert_string_equal(gas_unit_of(report, "volume"), "m^3");
    assert_string_equal(gas_unit_of(report, "pressure"), "Pa");
    assert_true(fabs(json_number_value(json_object_get(report, "expected")) / 6.2129205e-21 - 1) <
                1e-6);
    json_decref(report);
}

/* The energy has equal bits for every way to compute it. */
static void gas_command_energy_bits_are_equal(void **state)
{
    (void)state;
    const double energy = asked("-n 1e5", "mean_energy");
    assert_true(fabs(energy - 1.5) < 5 * sqrt(1.5e-5));
    static const char *const ways[] = {"--fused", "--stored", "--source host", "--precision double",
                                       "--stored --shape 'group=1 width=4'"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char line[200];
        snprintf(line, sizeof line, "-n 1e5 %s", ways[i]);
        assert_true(asked(line, "mean_energy") == energy);
    }
    assert_true(asked("-n 1e5 --stored", "bytes_per_s") > 0);
    assert_true(fabs(asked("-n 1e5 --gas he", "expected") / (1.5 * 300 * 1.380649e-23) - 1) <
                1e-14);
    assert_int_equal(run_gas_command("-n 1e5 --gas o2 --volume 1e-20"), 0);
    contains(out, " Pa in a volume of 1e-20 m^3");
    /* Twice the volume gives half the pressure: p V = 2/3 of the energy. */
    const double pressure = asked("-n 1e5 --volume 2", "pressure");
    assert_true(fabs(pressure / (1e5 * 2 / 3 * energy / 2) - 1) < 1e-14);
    assert_true(asked("-n 1e5 --volume 2", "volume") == 2);
    assert_int_equal(run_gas_command("-n 1e5 -q"), 0);
    assert_string_equal(out, "");
}

/* Run `stdcl gas` on a terminal and write all that appears there to `seen`. */
static void run_gas_on_terminal(char *const *argv, char *seen, size_t room)
{
    struct winsize size = {25, 200, 0, 0};
    size_t used = 0;
    ssize_t n;
    int terminal, status;
    fflush(NULL);
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        setenv("TERM", "xterm", 1);
        execv(command, argv);
        _exit(127);
    }
    while ((n = read(terminal, seen + used, room - 1 - used)) > 0)
        used += (size_t)n;
    seen[used] = 0;
    close(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Return the largest number of molecules that a terminal shows during 60 repeats. */
static double most_shown(double molecules)
{
    char number[32], all[64], seen[1 << 16];
    snprintf(number, sizeof number, "%.0f", molecules);
    snprintf(all, sizeof all, "/%.0f molecules", 60 * molecules);
    run_gas_on_terminal((char *[]){"stdcl", "gas", "-n", number, "--fused", "--repeat", "60", NULL},
                        seen, sizeof seen);
    double most = 0;
    for (const char *p = seen; (p = strstr(p, "] ")); p++)
        most = fmax(most, strtod(p + 2, NULL));
    if (most > 0)
        contains(seen, all);
    return most;
}

/* Run `stdcl gas` on a terminal and return how many seconds it took. */
static double seconds_on_terminal(char *const *argv, char *seen, size_t room)
{
    const double begun = seconds_now();
    run_gas_on_terminal(argv, seen, room);
    return seconds_now() - begun;
}

/* True if PoCL compiles the kernels: only then is $POCL_CACHE_DIR the cache. */
static bool pocl_computes(void)
{
    assert_int_equal(run_gas_command("-n 1000 --json"), 0);
    return strstr(out, "\"device\": \"pthread") || strstr(out, "\"device\": \"cpu");
}

/* A terminal shows that kernels are compiled, and the line is erased. With PoCL the line is there
 * if an empty cache makes the run a second longer: opening a busy device takes seconds, too. No
 * line with --quiet, and none in a file. */
static void check_compiling_line(void)
{
    static const char line[] = "\r\033[Kcompiling kernels, first run only\r\033[K";
    char seen[1 << 16], *const run[] = {"stdcl", "gas",  "-n",          "1000",   "--stored",
                                        "--sum", "tree", "--precision", "double", NULL},
                               *const quiet[] = {"stdcl", "gas", "-n", "1000", "-q", NULL};
    const char *const kept = getenv("POCL_CACHE_DIR");
    char before[PATH_MAX] = "";
    snprintf(before, sizeof before, "%s", kept ? kept : "");
    setenv("POCL_CACHE_DIR", in_folder("cold"), 1);
    const double empty = seconds_on_terminal(run, seen, sizeof seen);
    if (!strstr(seen, line))
        assert_true(empty < seconds_on_terminal(run, seen, sizeof seen) + 1 || !pocl_computes());
    setenv("POCL_CACHE_DIR", in_folder("cold2"), 1);
    run_gas_on_terminal(quiet, seen, sizeof seen);
    assert_string_equal(seen, "");
    setenv("POCL_CACHE_DIR", in_folder("cold3"), 1);
    assert_int_equal(run_gas_command("-n 1000"), 0);
    assert_string_equal(err, "");
    if (kept)
        setenv("POCL_CACHE_DIR", before, 1);
    else
        unsetenv("POCL_CACHE_DIR");
}

/* Progress covers all repeats, with enough molecules that more than the first repeat is shown. */
static void gas_command_progress_covers_repeats(void **state)
{
    (void)state;
    check_compiling_line();
    double molecules = fmax(1e5, floor(asked("-n 3e7 --fused", "molecules_per_s") / 40)), most = 0;
    for (int run = 0; run < 5; run++, molecules *= 4)
        if ((most = most_shown(molecules)) >= 2 * molecules)
            break;
    assert_true(most >= 2 * molecules && most <= 60 * molecules);
}

/* Write a .npy file, version 1, of the numbers 0, 1, 2, ... in rows of three, or in columns. */
static void put_npy_in(const char *order, const char *name, const char *type, const char *shape,
                       size_t rows)
{
    char header[128];
    unsigned char bytes[4096] = "\x93NUMPY\x01";
    const int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                 type, order, shape);
    size_t size = 10;
    bytes[8] = (unsigned char)length;
    memcpy(bytes + size, header, (size_t)length);
    size += (size_t)length;
    for (size_t i = 0; i < 3 * rows; i++) {
        const float f = (float)i;
        const double d = (double)i;
        const size_t width = type[2] == '8' ? 8 : 4;
        memcpy(bytes + size, width == 8 ? (const void *)&d : &f, width);
        for (size_t k = 0; k < width / 2 && type[0] == '>'; k++) {
            const unsigned char byte = bytes[size + k];
            bytes[size + k] = bytes[size + width - 1 - k];
            bytes[size + width - 1 - k] = byte;
        }
        size += width;
    }
    put_bytes(in_folder(name), bytes, size);
}

static void put_npy(const char *name, const char *type, const char *shape, size_t rows)
{
    put_npy_in("False", name, type, shape, rows);
}

static void gas_command_reads_npy(void **state)
{
    (void)state;
    static const char *const types[] = {"<f4", "<f8", ">f4", ">f8"};
    for (size_t i = 0; i < 4; i++) {
        put_npy("v.npy", types[i], "(5, 3)", 5);
        assert_true(asked("-i v.npy", "mean_energy") ==
                    101.5); /* (0 + 1 + 4 + ... + 196) / 2 / 5 */
        assert_true(asked("-i v.npy", "n") == 5);
        assert_true(asked("-i v.npy -m 2 --precision double", "mean_energy") == 203);
        if (types[i][2] == '8')
            expect_gas_refused(2, "'v.npy' is read in double precision",
                               "-i v.npy --precision single");
        else
            assert_true(asked("-i v.npy --precision single", "mean_energy") == 101.5);
    }
    put_npy("v.npy", "<i4", "(5, 3)", 5);
    expect_gas_refused(1, "'<i4'", "-i v.npy");
    put_npy("v.npy", "<f4", "(3, 5)", 5);
    expect_gas_refused(1, "(3, 5)", "-i v.npy");
    put_npy("v.npy", "<f4", "(15,)", 5);
    expect_gas_refused(1, "1 dimension", "-i v.npy");
    put_npy("v.npy", "<f4", "(0, 3)", 0);
    expect_gas_refused(1, "(0, 3)", "-i v.npy");
    put_npy("v.npy", "<f4", "(6, 3)", 5);
    expect_gas_refused(1, "cut short", "-i v.npy");
    put_npy("v.npy", "<f4", "(1000000000000, 3)", 5);
    expect_gas_refused(1, "cut short", "-i v.npy");
    put_npy("v.npy", "<f4", "(4611686018427387904, 3)", 5);
    expect_gas_refused(1, "more than any memory", "-i v.npy");
    put_text(in_folder("v.npy"), "1 2 3\n");
    expect_gas_refused(1, "not a .npy file", "-i v.npy");
    expect_gas_refused(1, "no such file", "-i nowhere.npy");
    expect_gas_refused(1, "folder", "-i .");
    expect_gas_refused(2, "not an HDF5 file", "-i v.npy --dataset x");
}

/* From pipes under names other than "-". The writer of the FIFO ends with its bytes: a second
 * opening would block. */
static void gas_command_reads_named_pipes(void **state)
{
    (void)state;
    static const char *const before[] = {"", "cat v.npy |", "cat v.npy |", "cat v.npy > p &"},
                             *const file[] = {"/dev/stdin < v.npy", "/dev/stdin", "/dev/fd/3 3<&0",
                                              "p"};
    put_npy("v.npy", "<f4", "(5, 3)", 5);
    assert_int_equal(mkfifo(in_folder("p"), 0600), 0);
    for (size_t i = 0; i < 4; i++) {
        char line[2 * PATH_MAX + 1000];
        snprintf(line, sizeof line, "cd '%s'; %s '%s' gas --json -i %s >out 2>err", files_folder,
                 before[i], command, file[i]);
        const int status = system(line);
        load_gas_file("out", out, sizeof out);
        load_gas_file("err", err, sizeof err);
        if (status != 0 || !strstr(out, "\"mean_energy\": 101.5"))
            fail_msg("%s: status %d\n%s%s", line, status, out, err);
    }
}

/* With columns stored, row 0 is (0, 5, 10), and no speed is below 10. */
static void gas_command_reads_fortran_npy(void **state)
{
    (void)state;
    static const char *const types[] = {"<f4", ">f8"};
    for (size_t i = 0; i < 2; i++) {
        put_npy_in("True", "v.npy", types[i], "(5, 3)", 5);
        assert_true(asked("-i v.npy -T 100 --bins 6 --histogram h.csv", "mean_energy") == 101.5);
        size_t size = 0;
        char *table = bytes_of(in_folder("h.csv"), &size);
        ready(table);
        if (!strstr(table, "\n0,10,0,") || !strstr(table, "\n10,20,5,"))
            fail_msg("%s", table);
        free(table);
    }
}

static void gas_command_reads_hdf5(void **state)
{
    (void)state;
#ifdef STDCL_HAVE_HDF5
    double v[5][3];
    for (int i = 0; i < 15; i++)
        v[i / 3][i % 3] = i;
    const hsize_t size[2] = {5, 3}, turned[2] = {3, 5};
    const hid_t file = H5Fcreate(in_folder("v.h5"), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t group = H5Gcreate2(file, "PartType1", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const char *const names[] = {"PartType1/Velocities", "single", "turned"};
    for (int i = 0; i < 3; i++) {
        const hid_t space = H5Screate_simple(2, i < 2 ? size : turned, NULL);
        const hid_t set = H5Dcreate2(file, names[i], i == 1 ? H5T_IEEE_F32BE : H5T_IEEE_F64LE,
                                     space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
        H5Dclose(set);
        H5Sclose(space);
    }
    H5Gclose(group);
    H5Fclose(file);
    assert_true(asked("-i v.h5", "mean_energy") == 101.5);
    assert_true(asked("-i v.h5 --dataset single", "mean_energy") == 101.5);
    expect_gas_refused(1, "3 x 5", "-i v.h5 --dataset turned");
    expect_gas_refused(1, "no data set nothing", "-i v.h5 --dataset nothing");
    put_bytes(in_folder("v.h5"), "\x89HDF\r\n\x1a\n", 8);
    expect_gas_refused(1, "damaged", "-i v.h5");
#else
    put_bytes(in_folder("v.h5"), "\x89HDF\r\n\x1a\n", 8);
    expect_gas_refused(1, "libhdf5", "-i v.h5");
#endif
}

static void gas_command_reports_after_a_failed_file(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) < 0)
        skip();
    works(symlink("/dev/full", in_folder("full.csv")));
    assert_int_equal(run_gas_command("-n 1e4 --histogram full.csv --histogram kept.csv"), 1);
    contains(err, "full.csv: the disk is full");
    contains(out, "mean energy");
    contains(out, "kept.csv");
    assert_null(strstr(out, "full.csv"));
    assert_int_equal(access(in_folder("kept.csv"), R_OK), 0);
}

static void gas_command_writes_histogram(void **state)
{
    (void)state;
    assert_int_equal(run_gas_command("-n 1e5 --histogram h.csv --histogram h.svg --bins 60"), 0);
    load_gas_file("h.csv", out, sizeof out);
    double from, to, count, expected, counts = 0, sum = 0;
    int rows = 0;
    char *line = strchr(out, '\n');
    assert_int_equal(strncmp(out, "speed_from,speed_to,count,expected_count,", 41), 0);
    for (; line && sscanf(line + 1, "%lf,%lf,%lf,%lf", &from, &to, &count, &expected) == 4;
         line = strchr(line + 1, '\n')) {
        assert_true(fabs(count - expected) < 5 * sqrt(expected) + 2);
        counts += count;
        sum += expected;
        rows++;
    }
    assert_int_equal(rows, 61);
    assert_true(counts == 1e5 && fabs(sum - 1e5) < 1e-6);
    load_gas_file("h.svg", out, sizeof out);
    contains(out, "<svg ");
    contains(out, "</svg>");
}

/* The figure's chi squared is that of the table, with bins of few molecules taken together. */
static void gas_command_draws_figure(void **state)
{
    (void)state;
    if (run_gas_command("-n 20000 --histogram f.csv --figure f.svg") == 1 && strstr(err, "gnuplot"))
        skip();
    contains(out, "figure          f.svg\n");
    load_gas_file("f.csv", out, sizeof out);
    double from, to, count, expected, chi = 0, few[2] = {0, 0};
    int bins = 0;
    char words[100];
    for (char *line = strchr(out, '\n');
         line && sscanf(line + 1, "%lf,%lf,%lf,%lf", &from, &to, &count, &expected) == 4;
         line = strchr(line + 1, '\n')) {
        few[0] += expected < 5 ? count : 0;
        few[1] += expected < 5 ? expected : 0;
        chi += expected < 5 ? 0 : (count - expected) * (count - expected) / expected;
        bins += expected >= 5;
    }
    assert_true(few[1] > 1);
    chi += (few[0] - few[1]) * (few[0] - few[1]) / few[1];
    snprintf(words, sizeof words, "20000 molecules, T = 1: χ² = %.1f, %d degrees of freedom", chi,
             bins);
    load_gas_file("f.svg", out, sizeof out);
    contains(out, words);
    contains(out, ">deviation [σ]<");
    assert_true(fabs(chi - bins) < 5 * sqrt(2. * bins));
    assert_int_equal(run_gas_command("-n 1e4 --gas ar --figure s.svg --paper black -q"), 0);
    load_gas_file("s.svg", out, sizeof out);
    contains(out, "10000 molecules of Ar, T = 300 K");
    contains(out, ">speed [m/s]<");
    expect_gas_refused(2, "--paper needs --figure FILE", "-n 5 --paper black");
    expect_gas_refused(2, ".svg, .png or .pdf", "-n 5 --figure x.jpg");
}

static void gas_command_rejects_bad_options(void **state)
{
    (void)state;
    expect_gas_refused(2, "too small", "-n 0");
    expect_gas_refused(2, "'-1'", "-T -1");
    expect_gas_refused(2, "'-2'", "-m -2");
    expect_gas_refused(2, "cannot be combined", "--fused --stored");
    expect_gas_refused(
        2, "--sum tree cannot be combined: a fused sum stores no velocities; use --stored",
        "--fused --sum tree");
    expect_gas_refused(2, "use --sum tuned", "--sum tree --accumulate compensated");
    expect_gas_refused(2, "cannot be combined", "-i x.npy -n 5");
    expect_gas_refused(2, "cannot be combined", "--gas he -m 4");
    expect_gas_refused(2, ".csv", "--histogram speeds.jpg");
    expect_gas_refused(2, "given twice", "--histogram a.csv --histogram a.csv");
    expect_gas_refused(2, "'a.csv' and './a.csv'", "--histogram ./a.csv --histogram a.csv");
    expect_gas_refused(2, "needs -i FILE", "--dataset x");
    expect_gas_refused(2, "--bins needs --histogram FILE", "-n 5 --bins 3");
    expect_gas_refused(1, "the energy is not within", "-n 5 -T 1.7e308");
    expect_gas_refused(1, "the pressure exceeds", "-n 5 --volume 1e-320");
    expect_gas_refused(2, "colour", "-n 5 --shape colour=3");
    assert_true(run_gas_command("-n 1e5 --histogram no/where.csv") != 0);
    contains(err, "does not exist");
    assert_true(run_gas_command("-n 1e5 --device nosuchdevice") != 0);
    contains(err, "nosuchdevice");
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(gas_command_reads_named_pipes),
        cmocka_unit_test(gas_command_explains_shape),
        cmocka_unit_test(gas_command_report_has_all_keys),
        cmocka_unit_test(gas_command_report_names_units),
        cmocka_unit_test(gas_command_progress_covers_repeats),
        cmocka_unit_test(gas_command_energy_bits_are_equal),
        cmocka_unit_test(gas_command_reads_npy),
        cmocka_unit_test(gas_command_reads_fortran_npy),
        cmocka_unit_test(gas_command_reads_hdf5),
        cmocka_unit_test(gas_command_writes_histogram),
        cmocka_unit_test(gas_command_reports_after_a_failed_file),
        cmocka_unit_test(gas_command_draws_figure),
        cmocka_unit_test(gas_command_rejects_bad_options),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: %s PATH_OF_STDCL\n", argv[0]), 2;
    command = argv[1];
    return sampled_run("gas_command", tests, 1, 2, files_create, files_remove);
}
