/* test_command_faults.c - simulations on a failing device: tables keep the rows so far, and the run
 * continues after a checkpoint that fails. The device is made to fail by tests/faults/layer.c.
 *
 *   test_command_faults PATH_OF_STDCL     OPENCL_LAYERS must name the layer
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include <stdlib.h>
#include <sys/wait.h>

static const char *command;

/* Run `stdcl ARGUMENTS` in the test's folder with a fault, or without one (""). */
static int run_with_fault(const char *fault, const char *arguments)
{
    char line[2 * PATH_MAX + 1000];
    snprintf(line, sizeof line, "cd '%s' && %s%s%s '%s' %s >out 2>err", files_folder,
             *fault ? "STDCL_FAULT='" : "STDCL_FAULT_LOG=log", fault, *fault ? "'" : "", command,
             arguments);
    const int status = system(line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* Number of times that the run without faults called a function. */
static int calls_in_log(const char *call)
{
    int count = 0;
    char *log = bytes_of(in_folder("log"), NULL);
    for (const char *at = log; at && (at = strstr(at, call)); at++)
        count += at[strlen(call)] == '\n';
    free(log);
    return count;
}

static bool file_is_there(const char *name)
{
    return access(in_folder(name), F_OK) == 0;
}

/* The OpenCL loader may not support layers. */
static void needs_layer(int calls)
{
    if (calls == 0)
        skip();
}

/* Fail the launch after three quarters of all. The table must be the first rows of the whole one,
 * and the file of the final state must not be written. */
static void check_cut_table(const char *arguments, const char *state)
{
    size_t whole_size, size;
    char fault[64];
    const char *newline;
    unlink(in_folder("log"));
    assert_int_equal(run_with_fault("", arguments), 0);
    const int launches = calls_in_log("clEnqueueNDRangeKernel");
    needs_layer(launches);
    char *whole = bytes_of(in_folder("table.csv"), &whole_size);
    unlink(in_folder("table.csv"));
    unlink(in_folder(state));
    snprintf(fault, sizeof fault, "clEnqueueNDRangeKernel %d %d refused", 3 * launches / 4,
             CL_OUT_OF_RESOURCES);
    assert_int_equal(run_with_fault(fault, arguments), 1);
    char *rows = bytes_of(in_folder("table.csv"), &size);
    if (!rows || !(newline = strchr(rows, '\n')) || !newline[1])
        fail_msg("stdcl %s: no table with rows after a failure", arguments);
    if (size >= whole_size || memcmp(rows, whole, size) != 0 || rows[size - 1] != '\n')
        fail_msg("stdcl %s: not the first rows:\n%s", arguments, rows);
    assert_false(file_is_there(state));
    free(whole);
    free(rows);
}

static void command_keeps_table_after_failure(void **unused)
{
    (void)unused;
    check_cut_table("nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q "
                    "--csv table.csv -o end.tab",
                    "end.tab");
    check_cut_table("nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q "
                    "--structure table.csv -o end.tab",
                    "end.tab");
    check_cut_table("nbody --ic solar --ensemble 3 --device 0 --dt 1 --steps 200 -q "
                    "--csv table.csv -o end.tab",
                    "end.tab");
    check_cut_table("life --device 0 --engine packed --size 64 -n 300 -q --csv table.csv -o "
                    "end.rle",
                    "end.rle");
}

/* A failure before the first step leaves an older table. */
static void command_keeps_older_table_before_first_step(void **unused)
{
    (void)unused;
    needs_layer(calls_in_log("clEnqueueNDRangeKernel"));
    put_text(in_folder("table.csv"), "older\n");
    assert_int_equal(run_with_fault("clEnqueueNDRangeKernel 1 -5 refused",
                                    "nbody -n 64 --device 0 --integrator leapfrog --steps 8 -q "
                                    "--csv table.csv"),
                     1);
    holds_text(in_folder("table.csv"), "older\n");
}

/* ---- Checkpoints. ---------------------------------------------------------------------------- */

/* Eight steps, with a checkpoint after each number of steps. */
#define RUN(every)                                                                                 \
    "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --dt 1/64 -q -o end.tab "              \
    "--checkpoint run.ckpt" every

static int calls_of_run(const char *call, const char *arguments)
{
    unlink(in_folder("log"));
    assert_int_equal(run_with_fault("", arguments), 0);
    return calls_in_log(call);
}

/* Each checkpoint queries the name and the driver of the device. */
static const char QUERY[] = "clGetDeviceInfo";

static void command_writes_last_checkpoint_once(void **unused)
{
    const int at_end = calls_of_run(QUERY, RUN(""));
    (void)unused;
    needs_layer(at_end);
    assert_int_equal(calls_of_run(QUERY, RUN(" --every 1/8")), at_end);
    assert_int_equal(calls_of_run(QUERY, RUN(" --every 1/16")), at_end + 2);
}

/* The last of eight steps is shortened; the last checkpoint precedes it. */
#define SHORTENED(options)                                                                         \
    "nbody --device 0 --dt 1/64 --until 15/128 -q --checkpoint run.ckpt " options

static void command_writes_last_checkpoint_before_shortened_step(void **unused)
{
    static const char *const runs[][2] = {
        {SHORTENED("-n 64 --integrator leapfrog"),
         SHORTENED("-n 64 --integrator leapfrog --every 7/64")},
        {SHORTENED("--ic solar --ensemble 2"), SHORTENED("--ic solar --ensemble 2 --every 7/64")}};
    (void)unused;
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        const int once = calls_of_run(QUERY, runs[k][0]);
        needs_layer(once);
        assert_int_equal(calls_of_run(QUERY, runs[k][1]), once);
    }
}

/* Run with a failure of the last query but `before`. Return the exit status. */
static int fail_checkpoint(int queries, int before)
{
    char fault[64];
    unlink(in_folder("end.tab"));
    snprintf(fault, sizeof fault, "%s %d %d refused", QUERY, queries - before, CL_OUT_OF_RESOURCES);
    return run_with_fault(fault, RUN(" --every 1/16"));
}

/* A checkpoint may fail before the thread that writes it starts. */
static void command_continues_after_checkpoint_without_writer(void **unused)
{
    const int queries = calls_of_run(QUERY, RUN(" --every 1/16"));
    (void)unused;
    needs_layer(queries);
    unlink(in_folder("run.ckpt"));
    assert_int_equal(fail_checkpoint(queries, 2), 0); /* the first of two checkpoints */
    char *said = bytes_of(in_folder("err"), NULL);
    assert_non_null(strstr(said, "warning: checkpoint not written: cannot query the name"));
    assert_string_equal(strchr(said, '\n'), "\n"); /* one line */
    free(said);
    assert_true(file_is_there("end.tab") && file_is_there("run.ckpt"));
    assert_int_equal(run_with_fault("", "nbody --resume run.ckpt --steps 9 -q -o more.tab"), 0);
    assert_int_equal(fail_checkpoint(queries, 0), 1); /* the last one */
    said = bytes_of(in_folder("err"), NULL);
    assert_non_null(strstr(said, "checkpoint not written: cannot query the name"));
    assert_non_null(strstr(said, "; the older checkpoint is kept\n"));
    free(said);
    assert_true(file_is_there("end.tab"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(command_keeps_table_after_failure),
        cmocka_unit_test(command_keeps_older_table_before_first_step),
        cmocka_unit_test(command_writes_last_checkpoint_once),
        cmocka_unit_test(command_writes_last_checkpoint_before_shortened_step),
        cmocka_unit_test(command_continues_after_checkpoint_without_writer),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: test_command_faults PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
