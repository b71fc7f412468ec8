/* test_command_faults.c - simulations on a failing device: tables and films keep the rows and
 * frames so far, and the run continues after a checkpoint that fails. The device is made to fail by
 * tests/faults/layer.c.
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

static int calls_of_run(const char *call, const char *arguments)
{
    unlink(in_folder("log"));
    assert_int_equal(run_with_fault("", arguments), 0);
    return calls_in_log(call);
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

/* Text of a fault late in the run: of n calls without faults, the call n * quarters / 4 fails. */
static const char *late_fault(const char *call, int quarters)
{
    static char fault[64];
    snprintf(fault, sizeof fault, "%s %d %d refused", call, quarters * calls_in_log(call) / 4,
             CL_OUT_OF_RESOURCES);
    return fault;
}

static const char LAUNCH[] = "clEnqueueNDRangeKernel";

/* Fail a call late in the run. The table must be the first rows of the whole one, or all after the
 * last call, and the file of the final state must not be written. */
static void check_kept_table(const char *call, int quarters, const char *arguments,
                             const char *state)
{
    size_t whole_size, size;
    const char *newline;
    needs_layer(calls_of_run(call, arguments));
    char *whole = bytes_of(in_folder("table.csv"), &whole_size);
    unlink(in_folder("table.csv"));
    unlink(in_folder(state));
    assert_int_equal(run_with_fault(late_fault(call, quarters), arguments), 1);
    char *rows = bytes_of(in_folder("table.csv"), &size);
    if (!rows || !(newline = strchr(rows, '\n')) || !newline[1])
        fail_msg("stdcl %s: no table with rows after a failure", arguments);
    if (size > whole_size || (size < whole_size) != (quarters < 4) ||
        memcmp(rows, whole, size) != 0 || rows[size - 1] != '\n')
        fail_msg("stdcl %s: not the first rows:\n%s", arguments, rows);
    assert_false(file_is_there(state));
    free(whole);
    free(rows);
}

static void command_keeps_table_after_failure(void **unused)
{
    (void)unused;
    check_kept_table(LAUNCH, 3,
                     "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q "
                     "--csv table.csv -o end.tab",
                     "end.tab");
    check_kept_table(LAUNCH, 3,
                     "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q "
                     "--structure table.csv -o end.tab",
                     "end.tab");
    check_kept_table(LAUNCH, 3,
                     "nbody --ic solar --device 0 --integrator leapfrog --dt 1 --steps 40 -q "
                     "--elements table.csv --diag 4 -o end.tab",
                     "end.tab");
    check_kept_table(LAUNCH, 3,
                     "nbody --ic solar --device 0 --integrator leapfrog --dt 1 --steps 300 "
                     "--batch 10 -q --event apsis:Mercury --events table.csv -o end.tab",
                     "end.tab");
    check_kept_table(LAUNCH, 3,
                     "nbody --ic solar --ensemble 3 --device 0 --dt 1 --steps 200 -q "
                     "--csv table.csv -o end.tab",
                     "end.tab");
    check_kept_table(LAUNCH, 3,
                     "life --device 0 --engine packed --size 64 -n 300 -q --csv table.csv -o "
                     "end.rle",
                     "end.rle");
}

/* The energies of all systems are read after the last step and the last row. */
static void command_keeps_table_after_failure_at_end(void **unused)
{
    (void)unused;
    check_kept_table("clEnqueueMarkerWithWaitList", 4,
                     "nbody --ic solar --ensemble 3 --systems 1 --device 0 --dt 1 --steps 200 -q "
                     "--csv table.csv -o end.tab",
                     "end.tab");
}

/* Films need libpng and ffmpeg. */
static void needs_films(void)
{
    const int status = run_with_fault("", "nbody -n 9 --device 0 --steps 1 -q -o film.gif");
    char *said = bytes_of(in_folder("err"), NULL);
    const bool lacks = strstr(said, "libpng") || strstr(said, "needs the program ffmpeg");
    if (lacks)
        print_message("%s", said);
    free(said);
    if (lacks)
        skip();
    assert_int_equal(status, 0);
}

/* A film ends at the last frame before the failure, piped to ffmpeg or joined from pictures. */
static void command_keeps_film_after_failure(void **unused)
{
    static const char *const runs[] = {
        "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q --frames 9 "
        "-o film.gif",
        "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --batch 1 -q --frames 9 "
        "-o film.gif --checkpoint run.ckpt",
        "life --device 0 --engine packed --size 64 -n 300 -q --frames 9 -o film.gif"};
    (void)unused;
    needs_films();
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        size_t whole, size;
        needs_layer(calls_of_run(LAUNCH, runs[k]));
        free(bytes_of(in_folder("film.gif"), &whole));
        unlink(in_folder("film.gif"));
        assert_int_equal(run_with_fault(late_fault(LAUNCH, 3), runs[k]), 1);
        char *film = bytes_of(in_folder("film.gif"), &size);
        if (!film || size >= whole || strncmp(film, "GIF89a", 6) != 0 || film[size - 1] != ';')
            fail_msg("stdcl %s: no shorter film, but %zu bytes of %zu", runs[k], size, whole);
        free(film);
    }
}

/* A failure in the first batch of steps, where the eighth launch of both runs is, leaves an older
 * table. */
static void command_keeps_older_table_in_first_batch(void **unused)
{
    static const char *const runs[] = {
        "nbody -n 64 --device 0 --integrator leapfrog --steps 8 -q --csv table.csv",
        "life --device 0 --engine packed --size 64 -n 300 -q --csv table.csv"};
    (void)unused;
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        needs_layer(calls_of_run(LAUNCH, runs[k]));
        put_text(in_folder("table.csv"), "older\n");
        assert_int_equal(run_with_fault("clEnqueueNDRangeKernel 8 -5 refused", runs[k]), 1);
        holds_text(in_folder("table.csv"), "older\n");
    }
}

/* ---- Checkpoints. ---------------------------------------------------------------------------- */

/* Eight steps, with a checkpoint after each number of steps. */
#define RUN(every)                                                                                 \
    "nbody -n 64 --device 0 --integrator leapfrog --steps 8 --dt 1/64 -q -o end.tab "              \
    "--checkpoint run.ckpt" every

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
        cmocka_unit_test(command_keeps_table_after_failure_at_end),
        cmocka_unit_test(command_keeps_film_after_failure),
        cmocka_unit_test(command_keeps_older_table_in_first_batch),
        cmocka_unit_test(command_writes_last_checkpoint_once),
        cmocka_unit_test(command_writes_last_checkpoint_before_shortened_step),
        cmocka_unit_test(command_continues_after_checkpoint_without_writer),
    };
    if (argc != 2)
        return fprintf(stderr, "usage: test_command_faults PATH_OF_STDCL\n"), 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
