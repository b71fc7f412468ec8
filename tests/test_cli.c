/* The command as a user runs it: exit status, output, files.
 *
 *   test_cli PATH_OF_STDCL
 *
 * Every run has an empty folder of its own. Every error must be one line on stderr and leave the
 * folder unchanged.
 * SPDX-License-Identifier: MIT
 */
#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "pocl.h"
#include "sanitized.h"
#include "deep.h"
#include "signals.h"

static const char *command; /* the path of stdcl */
static char folder[64], old_folder[4096];
static char out[1 << 16], err[1 << 16];
static const char *two_devices; /* the environment that makes PoCL offer them, for run_with; NULL:
                                   it is not installed */

/* ---- Running. -------------------------------------------------------------------------------- */

static const char *const no_environment[] = {NULL};

/* Split at blanks; a word may be quoted with ''. Modifies the line. */
static void split_command_line(char *line, char **argv, size_t room)
{
    size_t n = 0;
    while (*(line += strspn(line, " "))) {
        const char end = *line == '\'' ? '\'' : ' ';
        line += end == '\'';
        assert_true(n + 1 < room);
        argv[n++] = line;
        line += strcspn(line, end == ' ' ? " " : "'");
        if (*line)
            *line++ = 0;
    }
    argv[n] = NULL;
}

/* Start the command with `arguments`, with its output in files outside the folder. */
static pid_t start_stdcl(const char *arguments, const char *const environment[],
                         const char *stdout_name)
{
    char line[4096], *argv[64] = {(char *)(uintptr_t)command};
    snprintf(line, sizeof line, "%s", arguments);
    split_command_line(line, argv + 1, 62);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    const int to = open(stdout_name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int error = open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(to, STDOUT_FILENO);
    dup2(error, STDERR_FILENO);
    for (size_t i = 0; environment[i]; i++)
        putenv((char *)(uintptr_t)environment[i]);
    execv(command, argv);
    _exit(126);
}

static void load_cli_file(const char *name, char *text, size_t size)
{
    FILE *fp = fopen(name, "r");
    text[0] = 0;
    if (!fp)
        return;
    text[fread(text, 1, size - 1, fp)] = 0;
    fclose(fp);
}

/* Return the exit status, or 1000 + signal; out[] and err[] receive the output. */
static int finish_stdcl(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    load_cli_file("../out", out, sizeof out);
    load_cli_file("../err", err, sizeof err);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int run_stdcl(const char *arguments)
{
    return finish_stdcl(start_stdcl(arguments, no_environment, "../out"));
}

/* Remove other lists of drivers too, so that a run without drivers has none. */
static int run_with(const char *variable, const char *arguments)
{
    const bool none = strcmp(variable, NO_DRIVERS) == 0;
    const char *const environment[] = {variable, none ? "OCL_ICD_FILENAMES=" : NULL, NULL};
    return finish_stdcl(start_stdcl(arguments, environment, "../out"));
}

/* Skip the rest of a test unless there are two devices. */
static void need_two_devices(void)
{
    if (!two_devices) {
        print_message("needs PoCL, which offers the processors as two devices\n");
        skip();
    }
}

/* ---- The folder. ----------------------------------------------------------------------------- */

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/stdcl-cli-XXXXXX");
    if (!getcwd(old_folder, sizeof old_folder) || !mkdtemp(folder) || chdir(folder) ||
        mkdir("here", 0700) || chdir("here"))
        return -1;
    return 0;
}

static size_t empty_here(const char *print)
{
    size_t n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));) {
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
            continue;
        n++;
        if (print)
            print_error("left by 'stdcl %s': %s\n", print, e->d_name);
        if (unlink(e->d_name))
            rmdir(e->d_name);
    }
    closedir(d);
    return n;
}

static int clean(void **state)
{
    (void)state;
    empty_here(NULL);
    return 0;
}

static int remove_cli_folder(void **state)
{
    (void)state;
    empty_here(NULL);
    unlink("../out");
    unlink("../err");
    unlink("../in");
    unlink("../in2");
    return chdir(old_folder) || (snprintf(err, sizeof err, "%s/here", folder), rmdir(err)) ||
           rmdir(folder);
}

static bool exists(const char *name)
{
    return access(name, F_OK) == 0;
}

/* Write an input outside the folder, so that it does not count as left over. */
static void input(const void *data, size_t size)
{
    FILE *fp = fopen("../in", "wb");
    assert_non_null(fp);
    assert_int_equal(fwrite(data, 1, size, fp), size);
    fclose(fp);
}

/* ---- What must hold. ------------------------------------------------------------------------- */

static void expect_status(const char *arguments, int status, int wanted)
{
    if (status != wanted)
        fail_msg("'stdcl %s' gives %d, not %d\nstdout: %.500s\nstderr: %.2000s", arguments, status,
                 wanted, out, err);
}

static void expect_success(const char *arguments)
{
    expect_status(arguments, run_stdcl(arguments), 0);
    if (*err)
        fail_msg("'stdcl %s' says on stderr: %s", arguments, err);
}

/* Expect one message on stderr that contains `part`, nothing on stdout, no file. */
static void expect_refused(const char *arguments, int status, int wanted, const char *part)
{
    expect_status(arguments, status, wanted);
    const char *end = strchr(err, '\n');
    if (strncmp(err, "stdcl", 5) || !end || end[1] || !strstr(err, ": "))
        fail_msg("'stdcl %s' does not say one line: %s", arguments, err);
    if (!strstr(err, part))
        fail_msg("'stdcl %s' does not say '%s': %s", arguments, part, err);
    if (*out)
        fail_msg("'stdcl %s' writes to stdout: %.200s", arguments, out);
    if (empty_here(arguments))
        fail_msg("'stdcl %s' leaves files", arguments);
}

static void expect_refused_with(const char *arguments, int wanted, const char *part)
{
    expect_refused(arguments, run_stdcl(arguments), wanted, part);
}

static json_t *json_report(void)
{
    json_error_t error;
    json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(object))
        fail_msg("no JSON object: %s in: %.500s", error.text, out);
    return object;
}

static double json_number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("'%s' is not a number in: %s", key, out);
    return json_number_value(value);
}

/* ---- The command itself. --------------------------------------------------------------------- */

static void cli_prints_overview_and_version(void **state)
{
    (void)state;
    expect_success("--version");
    assert_string_equal(out, "stdcl 1.0.0\n");
    expect_success("--help");
    assert_non_null(strstr(out, "  nbody "));
    expect_success("help nbody");
    assert_non_null(strstr(out, "--integrator NAME"));
    expect_success("nbody --help");
    expect_success("devices --help");
    expect_success("embed --help");
    assert_int_equal(run_stdcl(""), 2);
    assert_non_null(strstr(err, "usage: stdcl COMMAND"));
    expect_refused_with("nbdy", 2, "unknown command 'nbdy'; did you mean 'nbody'?");
    expect_refused_with("--hlep", 2, "unknown option '--hlep'; did you mean '--help'?");
    expect_refused_with("--verion", 2, "unknown option '--verion'");
    expect_refused_with("help nothing", 2, "unknown command 'nothing'");
    expect_refused_with("''", 2, "unknown command ''");
    expect_refused_with("view gun acorn", 2, "cannot show 'gun' and 'acorn' together");
    expect_refused_with("cluster-model -n 2.5", 2, "--size: 2.5 is not a whole number");
    expect_refused_with("cluster-model --rate 1e-300", 2, "a number from 1 to 1e+24");
    expect_refused_with("cluster-model --pcie 1e-300", 2, "a number from 1 to 1e+18");
    expect_refused_with("cluster-model --memory 1e-3", 2, "a number from 1e+06 to 1e+18");
}

static void cli_reports_full_disk_on_stdout(void **state)
{
    (void)state;
    const int status = finish_stdcl(start_stdcl("devices", no_environment, "/dev/full"));
    out[0] = 0;
    expect_refused("devices >/dev/full", status, 1, "No space left on device");
}

/* Exceeding the file size limit is an error with a message, and does not end the program by a
 * signal. */
static void cli_reports_file_size_limit(void **state)
{
    struct rlimit before, small;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int status = finish_stdcl(start_stdcl(
        "life --engine reference --size 2048 -n 0 -q -o a.cells", no_environment, "../out"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_refused("life of 4 MB", status, 1,
                   "a.cells: the file grows larger than the system allows; nothing was written");
}

/* The page of `stdcl view -o` names the file and the reason, too. */
static void cli_view_reports_file_size_limit(void **state)
{
    struct rlimit before, small;
    (void)state;
    input("x = 3, y = 3\nbo$2bo$3o!\n", 25);
    expect_success("life -p ../in --size 64 -n 1 -q --record ../a.view");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 12;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const int status =
        finish_stdcl(start_stdcl("view ../a.view -o a.html", no_environment, "../out"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    expect_refused("view -o", status, 1,
                   "a.html: the file grows larger than the system allows; nothing was written");
    unlink("../a.view");
}

/* The message names the limit of the address space if installed drivers cannot be loaded. */
static void cli_names_memory_limit_without_platform(void **state)
{
    struct rlimit before, small;
    (void)state;
    if (SANITIZED) /* sanitizers reserve address space of their own */
        skip();
    need_two_devices();
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    small = before;
    small.rlim_cur = 150 << 20; /* less than PoCL and its compiler take */
    assert_int_equal(setrlimit(RLIMIT_AS, &small), 0);
    const int status = run_stdcl("devices");
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    expect_refused("devices", status, 1, "no OpenCL platform (");
    expect_refused("devices", status, 1,
                   " (an installed driver cannot be loaded if memory is limited too much: ulimit "
                   "-v is 150 MiB)");
}

/* An argument of any length is quoted in part. */
static void cli_shortens_long_arguments(void **state)
{
    enum { LONG = 100000 };
    char *word = malloc(LONG + 1);
    (void)state;
    memset(word, 'x', LONG);
    word[LONG] = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("../err", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
        execl(command, command, "nbody", "--ic", word, (char *)NULL);
        _exit(126);
    }
    const int status = finish_stdcl(child);
    free(word);
    assert_int_equal(status, 2);
    assert_true(strlen(err) < 2000);
    assert_non_null(strstr(err, "xxx..."));
    assert_non_null(strstr(err, "--ic"));
}

static void cli_lists_devices(void **state)
{
    (void)state;
    expect_success("devices");
    assert_non_null(strstr(out, "stddev"));
    expect_success("devices --json");
    json_t *r = json_report();
    assert_string_equal(json_string_value(json_object_get(r, "program")), "devices");
    const json_t *list = json_object_get(r, "devices"), *first = json_array_get(list, 0);
    assert_true(json_array_size(list) >= 1);
    static const char *const texts[] = {"name", "vendor", "type", "platform", "driver"};
    static const char *const numbers[] = {"number", "compute_units", "clock_hz", "memory_bytes",
                                          "local_memory_bytes"};
    for (size_t i = 0; i < 5; i++) {
        assert_true(json_is_string(json_object_get(first, texts[i])));
        json_number_of(first, numbers[i]);
    }
    assert_true(json_is_boolean(json_object_get(first, "fp64")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(first, "contexts"), 0)),
                        "stddev");
    json_decref(r);
    expect_refused("devices", run_with(NO_DRIVERS, "devices"), 1, "install");
    expect_refused("devices --json", run_with(NO_DRIVERS, "devices --json"), 1, "no OpenCL");
    /* PoCL is installed but cannot keep its files: the message must not suggest installing it. */
    const int status = run_with("POCL_CACHE_DIR=/proc/nobody", "devices");
    if (status != 0)
        expect_refused("devices", status, 1, "it has none when it cannot write in '/proc/nobody'");
    assert_null(strstr(err, "apt-get"));
    expect_refused_with("devices x", 2, "unexpected argument 'x'");
    expect_refused_with("devices --jsno", 2, "did you mean '--json'?");
}

/* ---- embed; that its objects work is shown by test_cli_embed. -------------------------------- */

static void cli_embeds_kernels(void **state)
{
    (void)state;
    input("kernel void f() {}\n", 19);
    expect_success("embed ../in -o k.o");
    assert_true(exists("k.o"));
    expect_success("embed ../in -o k.c");
    load_cli_file("k.c", out, sizeof out);
    assert_non_null(strstr(out, "{\"../in\", source_0, 19, 0}"));
    assert_non_null(strstr(out, "\n107,101,114,110,101,108,32,"));
    const char odd[] =
        "a \"b\\n%s?\?/\xc3\xa9\1.cl"; /* as a file's name, with the slash replaced */
    char name[64], line[256];
    snprintf(name, sizeof name, "%s", odd);
    *strchr(name, '/') = '!';
    assert_int_equal(rename("../in", name), 0);
    snprintf(line, sizeof line, "embed --no-compile '%s' -o k.o",
             name); /* a compiler may remark on such a name */
    expect_success(line);
    snprintf(line, sizeof line, "embed --no-compile '%s' -o k.c", name);
    expect_success(line);
    load_cli_file("k.c", out, sizeof out);
    assert_non_null(strstr(out, "{\"a \\042b\\134n%s\\077\\077!\\303\\251\\001.cl\", source_0"));
    empty_here(NULL);
}

static void cli_embed_rejects_bad_input(void **state)
{
    (void)state;
    input("", 0);
    expect_refused_with("embed ../in -o k.o", 1, "'../in' is empty");
    expect_refused_with("embed ../nothing.cl -o k.o", 1,
                        "cannot read '../nothing.cl': No such file");
    expect_refused_with("embed .. -o k.o", 1, "cannot read '..': it is a directory");
    input("kernel void f() {}\n", 19);
    expect_refused_with("embed ../in", 2, "-o is missing");
    expect_refused_with("embed -o k.o", 2, "the kernel file is missing");
    expect_refused_with("embed ../in ../in -o k.o", 2, "given twice");
    expect_refused_with("embed ../in -o k.so", 2, "'k.so' must end in .o");
    expect_refused_with("embed -c ../in /dev/null -o k.o", 2, "-c writes one object per file");
    expect_refused_with("embed ../in -o k.o --binary --no-compile", 2,
                        "--binary and --no-compile cannot be combined");
    expect_refused_with("embed ../in -o nowhere/k.o", 1, "nowhere");
    expect_refused_with("embed ../in -o nowhere/k.c", 1, "nowhere");
    expect_refused("embed", run_with("CC=no-such-compiler -x", "embed ../in -o k.o"), 1,
                   "cannot run the C compiler 'no-such-compiler'");
    expect_refused("embed", run_with("CC=false", "embed ../in -o k.o"), 1,
                   "the C compiler 'false' exited with status 1");
    expect_refused("embed", run_with("TMPDIR=/proc/nonexistent", "embed ../in -o k.o"), 1,
                   "/proc/nonexistent");
}

/* ---- nbody. ---------------------------------------------------------------------------------- */

static const char two_bodies[] = "# mass x y z vx vy vz\n1 -0.5 0 0 0 -0.7 0\n1 0.5 0 0 0 0.7 0\n";

static void cli_nbody_prints_json(void **state)
{
    (void)state;
    static const char *const keys[] = {"program",
                                       "device",
                                       "n",
                                       "steps",
                                       "dt",
                                       "eps",
                                       "integrator",
                                       "precision",
                                       "kernel",
                                       "seconds",
                                       "interactions_per_s",
                                       "energy_start",
                                       "energy_end",
                                       "energy_error_rel",
                                       "momentum",
                                       "angular_momentum",
                                       "virial_ratio",
                                       "method",
                                       "accuracy",
                                       "bodies_per_s",
                                       "force_errors",
                                       "G",
                                       "units",
                                       "time",
                                       "model",
                                       "seed",
                                       "version",
                                       "interrupted",
                                       "stopped",
                                       "external",
                                       "collisions",
                                       "host"};
    expect_success(
        "nbody --ic figure8 --steps 100 --integrator hermite4 --precision double --json");
    assert_non_null(strstr(out, "\"dt\": 0.001,")); /* no more digits than it takes */
    json_t *r = json_report();
    assert_int_equal(json_object_size(r), sizeof keys / sizeof *keys);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_object_get(r, keys[i]))
            fail_msg("there is no key '%s'", keys[i]);
    assert_true(json_number_of(r, "n") == 3 && json_number_of(r, "steps") == 100 &&
                json_number_of(r, "eps") == 0);
    assert_true(fabs(json_number_of(r, "energy_start") + 1.287141991766) < 1e-9); /* published */
    assert_true(json_number_of(r, "energy_error_rel") < 1e-9);
    assert_true(json_number_of(r, "seconds") > 0 && json_number_of(r, "interactions_per_s") > 0);
    assert_int_equal(json_array_size(json_object_get(r, "momentum")), 3);
    assert_string_equal(json_string_value(json_object_get(r, "integrator")), "hermite4");
    assert_string_equal(json_string_value(json_object_get(r, "precision")), "double");
    json_decref(r);
}

static void cli_nbody_prints_report(void **state)
{
    (void)state;
    input(two_bodies, sizeof two_bodies - 1);
    expect_success("nbody -i ../in --dt 0.001 --steps 50");
    assert_non_null(strstr(out, "bodies        2, from ../in"));
    assert_non_null(strstr(out, "steps         50 of 0.001 to time 0.05"));
    assert_non_null(strstr(out, "energy error"));
    assert_non_null(strstr(out, "interactions/s"));
    expect_success("nbody -i ../in --steps 5 --quiet");
    assert_string_equal(out, "");
    expect_success("nbody -i ../in --steps 0 --json"); /* nothing but the sums */
    json_t *r = json_report();
    assert_true(fabs(json_number_of(r, "energy_end") - (0.49 - 1)) < 1e-6);
    assert_true(json_number_of(r, "interactions_per_s") == 0);
    json_decref(r);
    expect_success("nbody -n 1 --steps 3 --json");
    assert_int_equal(empty_here(NULL), 0);
}

/* All formats hold equal bodies; a run that ends between two steps resumes from its file. */
static void cli_nbody_writes_snapshots(void **state)
{
    (void)state;
    static const char *const file[] = {"a.tab", "a.tipsy", "a.bin"};
    char line[64];
    double energy[3];
    input(two_bodies, sizeof two_bodies - 1);
    expect_success(
        "nbody -i ../in --dt 0.001 --until 0.1005 --precision double -q -o a.tab -o a.tipsy -o a.bin");
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "nbody -i %s --steps 0 --json", file[i]);
        expect_success(line);
        json_t *r = json_report();
        energy[i] = json_number_of(r, "energy_end");
        json_decref(r);
    }
    assert_true(fabs(energy[0] - (0.49 - 1)) < 1e-6);
    assert_true(fabs(energy[1] - energy[0]) < 1e-6 && energy[2] == energy[1]);
    expect_success("nbody -i a.tab --dt 0.001 --until 0.2 --precision double -q -o ../in2");
    assert_int_equal(empty_here(NULL), 3);
    load_cli_file("../in2", out, sizeof out);
    assert_non_null(strstr(out, "time = 0.2\n"));
    double v[7];
    const char *first = strstr(out, "\n1 ");
    assert_non_null(first);
    assert_int_equal(
        sscanf(first, "%lf %lf %lf %lf %lf %lf %lf", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6),
        7);
    assert_true(fabs(sqrt(v[1] * v[1] + v[2] * v[2]) - 0.5) <
                1e-3); /* nearly a circle, of period 4.5 */
    assert_true(fabs(atan2(v[2], v[1]) - (-3.14159265 + 1.4 * 0.2)) < 1e-3);
    expect_refused_with("nbody -i ../in2 --until 0.1", 2, "before the initial time, 0.2");
}

static void cli_nbody_writes_to_stdout(void **state)
{
    (void)state;
    expect_success("nbody -n 4 --steps 1 -q -o -");
    assert_int_equal(strncmp(out, "#", 1), 0);
    int lines = 0;
    for (const char *p = out; (p = strchr(p, '\n')); p++)
        lines++;
    assert_true(lines >= 4);
    static const char *const files[] = {"-o -", "-o /dev/stdout", "--csv /dev/fd/1",
                                        "--elements /proc/self/fd/1", "--checkpoint -"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char words[100];
        snprintf(words, sizeof words, "nbody -n 4 --steps 1 %s", files[i]);
        assert_int_equal(run_stdcl(words), 0);
        assert_non_null(strstr(err, "energy error")); /* the report steps aside */
        assert_null(strstr(out, "energy error"));
    }
}

static void cli_nbody_writes_table(void **state)
{
    (void)state;
    double row[11];
    char *p;
    expect_success("nbody -n 64 --dt 0.01 --steps 20 --diag 0.05 --csv e -q");
    load_cli_file("e", out, sizeof out);
    assert_int_equal(strncmp(out, "time,kinetic,potential,total,", 29), 0);
    p = strchr(out, '\n') + 1;
    for (int i = 0; i <= 4; i++) {
        for (int k = 0; k < 11; k++)
            row[k] = strtod(p, &p), p++;
        assert_true(fabs(row[0] - 0.05 * i) < 1e-12);
        assert_true(fabs(row[1] + row[2] - row[3]) < 1e-12);
        assert_true(fabs(row[10] - 2 * row[1] / fabs(row[2])) < 1e-12);
    }
    assert_int_equal(*p, 0);
    assert_int_equal(empty_here(NULL), 1);
}

static void cli_nbody_draws_pictures(void **state)
{
    (void)state;
    char magic[16] = "";
    if (run_stdcl("nbody -n 100 --steps 1 -q --size 64 -o p.png") == 1 && strstr(err, "libpng"))
        skip();
    expect_success(
        "nbody -n 100 --steps 10 --size 64x32 -o p.png -o P.PNG --plane xz --colours viridis");
    load_cli_file("p.png", magic, sizeof magic);
    assert_memory_equal(magic, "\x89PNG\r\n\x1a\n", 8);
    assert_true(exists("P.PNG"));
    assert_int_equal(empty_here(NULL), 2);
    expect_success("nbody -n 100 --steps 10 --size 64 -o p.png --frames 3 -q");
    assert_true(exists("p-0001.png") && exists("p-0003.png"));
    assert_int_equal(empty_here(NULL), 3);
    expect_success("nbody -n 100 --steps 10 --size 64 -o p.png --frames 11 -q");
    assert_int_equal(empty_here(NULL), 11);
}

/* Pictures of galaxies show the stars, of mass 1/90 here, and not the halo, of 1/15. */
static void cli_nbody_draws_few_stars(void **state)
{
    (void)state;
    static char stars[1 << 16], same[1 << 16], all[1 << 16];
    if (run_stdcl("nbody --ic galaxy -n 200 --steps 0 -q --size 64 -o p.png") == 1 &&
        strstr(err, "libpng"))
        skip();
    expect_success("nbody --ic galaxy -n 200 --steps 0 -q --size 64 --heaviest 0.02 -o q.png");
    expect_success("nbody --ic galaxy -n 200 --steps 0 -q --size 64 --heaviest 1 -o r.png");
    load_cli_file("p.png", stars, sizeof stars);
    load_cli_file("q.png", same, sizeof same);
    load_cli_file("r.png", all, sizeof all);
    assert_memory_equal(stars, same, sizeof stars);
    assert_true(memcmp(stars, all, sizeof stars) != 0);
    empty_here(NULL);
    expect_refused_with("nbody -n 100 --heaviest 0.001 --steps 0 -o p.png", 2,
                        "--heaviest: '0.001' excludes all bodies; the lightest has a mass of 0.01");
    expect_refused_with("nbody -n 100 --heaviest 1 --steps 0", 2, "--heaviest needs a picture");
    assert_int_equal(empty_here(NULL), 0);
}

/* A film, with a stand-in for ffmpeg that reads its input and writes a word to its last
 * argument. */
static void cli_nbody_makes_film(void **state)
{
    (void)state;
    char path[5000];
    FILE *fp = fopen("../ffmpeg", "w");
    fputs(
        "#!/bin/sh\nfor last; do :; done\nread=$(wc -c)\necho film >\"$last\"\ncase $last in /dev/null) ;; *) echo $read >\"${0%/*}/read\" ;; esac\n",
        fp);
    fclose(fp);
    assert_int_equal(chmod("../ffmpeg", 0700), 0);
    snprintf(path, sizeof path, "PATH=%s:%s", folder, getenv("PATH"));
    expect_status("nbody -o f.mp4",
                  run_with(path, "nbody -n 50 --steps 9 --size 64 -o f.mp4 --frames 4 -o f.png"),
                  0);
    assert_non_null(strstr(out, "f-0001.png ... f-0004.png, f.mp4"));
    load_cli_file("f.mp4", out, sizeof out);
    assert_string_equal(out, "film\n");
    assert_int_equal(empty_here(NULL), 5);
    expect_status("nbody -o f.mp4, few steps",
                  run_with(path, "nbody -n 50 --steps 9 --size 64 -o f.mp4 -o f.png"), 0);
    assert_non_null(strstr(out, "f-0001.png ... f-0010.png, f.mp4"));
    assert_int_equal(empty_here(NULL), 11);
    expect_status("nbody -o f.gif",
                  run_with(path, "nbody -n 50 --steps 9 --size 64 -o f.gif --frames 4"),
                  0); /* without files of frames */
    assert_non_null(strstr(out, "written       f.gif\n"));
    load_cli_file("../read", out, sizeof out);
    assert_true(atoi(out) > 400);
    assert_int_equal(empty_here(NULL), 1);
    expect_status(
        "nbody -o f.mp4",
        run_with(path, "nbody -n 50 --steps 9 --size 64 -o f.mp4 --frames 4 --checkpoint c"),
        0); /* which needs them */
    assert_int_equal(empty_here(NULL), 6);
    unlink("../ffmpeg");
    unlink("../read");
}

static void cli_nbody_selects_devices(void **state)
{
    (void)state;
    expect_success("nbody -n 8 --steps 1 --device 0 -q");
    expect_refused_with("nbody -n 8 --device tricorder", 2, "no device matches 'tricorder'; there");
    expect_refused_with("nbody -n 8 --device cpu:7", 2, "no device matches 'cpu:7'");
    expect_refused("nbody", run_with(NO_DRIVERS, "nbody -n 300 -o x.tab"), 1, "install");
    expect_success("nbody -n 300 --steps 10 --json --device 0");
    json_t *one = json_report();
    assert_null(strchr(json_string_value(json_object_get(one, "device")), '+'));
    const double energy = json_number_of(one, "energy_end");
    json_decref(one);
    need_two_devices();
    const int status = run_with(two_devices, "nbody -n 300 --steps 10 --json --device all");
    expect_status("nbody --device all", status, 0);
    json_t *two = json_report();
    assert_true(fabs(json_number_of(two, "energy_end") - energy) < 1e-5);
    json_decref(two);
    static const char *const one_does_it[] = {"block", "adaptive"},
                             *const idle = /* of PoCL's two; there may be a GPU besides */
                             "runs on one device; the other 1 devices of --device are idle";
    for (size_t k = 0; k < 2; k++) {
        char line[128];
        snprintf(line, sizeof line, "nbody -n 40 --steps 1 --device cpu --stepping %s",
                 one_does_it[k]);
        expect_status(line, run_with(two_devices, line), 0);
        assert_non_null(strstr(err, idle));
        assert_non_null(strstr(err, one_does_it[k]));
    }
    expect_status("nbody --device cpu",
                  run_with(two_devices, "nbody -n 300 --steps 1 --device cpu"), 0);
    assert_null(strstr(err, idle));
    expect_status("nbody --device 0",
                  run_with(two_devices, "nbody -n 40 --steps 1 --device 0 --stepping block"), 0);
    assert_null(strstr(err, idle));
}

/* ---- The baseline kernels. ------------------------------------------------------------------- */

/* Every kernel gives equal motions. */
static void cli_nbody_runs_each_kernel(void **state)
{
    (void)state;
    static const char *const kernel[] = {"tuned", "naive", "branchless", "tiled"};
    double energy[4];
    for (size_t i = 0; i < 4; i++) {
        char line[128];
        snprintf(line, sizeof line, "nbody -n 100 --steps 10 --json --kernel %s", kernel[i]);
        expect_success(line);
        json_t *r = json_report();
        assert_string_equal(json_string_value(json_object_get(r, "kernel")), kernel[i]);
        assert_true(json_number_of(r, "energy_error_rel") < 1e-4);
        energy[i] = json_number_of(r, "energy_end");
        assert_true(fabs(energy[i] - energy[0]) < 1e-6);
        json_decref(r);
    }
    expect_success("nbody -n 10 --steps 1 --kernel naive");
    assert_non_null(strstr(out, "\nkernel        naive\n"));
    expect_refused_with("nbody --kernel tile", 2, "did you mean 'tiled'?");
    expect_refused_with("nbody --kernel naive --integrator hermite4", 2, "derivatives");
    need_two_devices();
    const int status = run_with(two_devices, "nbody -n 30 --device all --kernel tiled -o a.tab");
    expect_refused("nbody --device all --kernel tiled", status, 1, "one device");
}

/* ---- The tree. ------------------------------------------------------------------------------- */

static void cli_nbody_runs_tree(void **state)
{
    (void)state;
    expect_success(
        "nbody -n 2000 --steps 2 --method tree --accuracy 0.003 --check-forces 100 --json");
    json_t *r = json_report(), *errors = json_object_get(r, "force_errors");
    assert_string_equal(json_string_value(json_object_get(r, "method")), "tree");
    assert_true(json_number_of(r, "accuracy") == 0.003 && json_number_of(r, "bodies_per_s") > 0);
    assert_true(json_number_of(r, "energy_error_rel") < 1e-4);
    assert_true(json_number_of(errors, "bodies") == 100 && json_number_of(errors, "p99") < 0.003 &&
                json_number_of(errors, "p99") > 1e-6);
    json_decref(r);
    expect_success("nbody -n 2000 --steps 0 --method direct --precision single --json");
    r = json_report();
    const double energy = json_number_of(r, "energy_start");
    json_decref(r);
    expect_success("nbody -n 2000 --steps 0 --method tree --accuracy 0.5 --direct-energies --json");
    r = json_report();
    assert_true(fabs(json_number_of(r, "energy_start") - energy) < 1e-9);
    json_decref(r);
    expect_refused_with("nbody -n 2e6 --method tree --direct-energies", 2, "the limit is 1048576");
    expect_success("nbody -n 100 --steps 1 --method auto --check-forces 100");
    assert_null(strstr(out, "method"));
    assert_non_null(strstr(out, "force errors  50 % below"));
    expect_refused_with("nbody --method tree --integrator hermite4", 2, "leapfrog");
    expect_refused_with("nbody --method tree --kernel naive", 2, "its own kernels");
    expect_refused_with("nbody --method tree --accuracy 0", 2, "above 0 and at most 0.5");
    expect_refused_with("nbody --method tree --accuracy 0.6", 2, "above 0 and at most 0.5");
    expect_refused_with("nbody --accuracy 0.01", 2, "--method tree");
}

static void cli_nbody_runs_each_stepping(void **state)
{
    (void)state;
    expect_success("nbody -n 100 --stepping block --eta 0.02 --dt 1/8 --steps 1 --eps 0.01 --json");
    json_t *r = json_report();
    assert_string_equal(json_string_value(json_object_get(r, "stepping")), "block");
    assert_string_equal(json_string_value(json_object_get(r, "integrator")), "hermite4");
    assert_true(json_number_of(r, "eta") == 0.02 && json_number_of(r, "blocks") > 8 &&
                json_number_of(r, "body_steps") > 100 &&
                json_number_of(r, "body_steps") < 100 * json_number_of(r, "blocks"));
    assert_true(json_number_of(r, "energy_error_rel") < 1e-5);
    json_decref(r);
    expect_success("nbody --ic figure8 --stepping adaptive --check-step");
    assert_non_null(strstr(out, "stepping      adaptive, eta 0.01: "));
    assert_non_null(strstr(out, "step errors   final positions at half the step"));
    expect_refused_with("nbody --stepping block --integrator leapfrog", 2, "need --method tree");
    expect_success("nbody --ic figure8 --stepping adaptive --integrator leapfrog --steps 3 --json");
    r = json_report();
    assert_true(json_number_of(r, "eta") == 0.001 && json_number_of(r, "blocks") > 3 &&
                json_number_of(r, "energy_error_rel") < 1e-3);
    json_decref(r);
    expect_refused_with("nbody --stepping adaptive --method tree --integrator leapfrog", 2,
                        "use --stepping fixed or block");
    expect_refused_with("nbody --stepping adaptive --integrator ias15", 2, "its own steps");
    expect_refused_with("nbody --eta 0.1", 2,
                        "--eta needs --stepping adaptive or --stepping block");
    expect_refused_with("nbody --stepping block --eta 2", 2, "above 0 and at most 1");
    expect_refused_with("nbody --compare --stepping block", 2, "sums the forces once");
}

static void cli_nbody_compares_kernels(void **state)
{
    (void)state;
    static const char *const kernel[] = {"naive", "branchless", "tiled", "tuned"};
    expect_success("nbody --compare -n 200 --json");
    json_t *r = json_report(), *kernels = json_object_get(r, "kernels");
    assert_int_equal(json_array_size(kernels), 5);
    assert_true(json_number_of(r, "n") == 200 && json_number_of(r, "bodies_checked") == 200);
    for (size_t i = 0; i < 4; i++) {
        const json_t *k = json_array_get(kernels, i);
        assert_string_equal(json_string_value(json_object_get(k, "kernel")), kernel[i]);
        assert_true(json_is_true(json_object_get(k, "agrees")));
        assert_true(json_number_of(k, "seconds") > 0 &&
                    json_number_of(k, "error_rms_rel") < json_number_of(r, "error_limit"));
        assert_true(
            fabs(json_number_of(k, "interactions_per_s") * json_number_of(k, "seconds") / 4e4 - 1) <
            1e-9);
        assert_true(json_number_of(k, "speedup") > 0);
    }
    const json_t *tree = json_array_get(kernels, 4);
    assert_string_equal(json_string_value(json_object_get(tree, "kernel")), "tree");
    assert_true(json_is_true(json_object_get(tree, "agrees")) &&
                json_is_null(json_object_get(tree, "interactions_per_s")));
    assert_true(json_number_of(tree, "seconds") > 0 &&
                json_number_of(tree, "error_rms_rel") < 1e-3);
    json_decref(r);
    expect_success("nbody --compare -n 65 --precision double");
    assert_non_null(strstr(out, "\nbranchless "));
    assert_non_null(strstr(out, "interactions/s"));
    expect_success("nbody --compare -n 1 -q");
    assert_string_equal(out, "");
    expect_refused_with("nbody --compare --steps 3", 2, "--compare and --steps cannot be combined");
    expect_refused_with("nbody --compare -o a.tab", 2, "--compare and -o");
    expect_refused_with("nbody --compare --kernel naive", 2, "--compare and --kernel");
    expect_refused_with("nbody --compare -i /proc/nonexistent/a.tab", 1, "/proc/nonexistent/a.tab");
    need_two_devices();
    expect_refused("nbody --compare --device all",
                   run_with(two_devices, "nbody --compare -n 8 --device all"), 2, "one device");
}

/* Copy a kernel of the source tree to `to`, with the first `word` replaced by another of equal
 * length. */
static void spoil(const char *from, const char *to, const char *word, const char *other)
{
    static char text[1 << 16];
    char path[sizeof old_folder + 64];
    snprintf(path, sizeof path, "%s/../nbody/force/%s", old_folder, from);
    load_cli_file(path, text, sizeof text);
    char *at = strstr(text, word);
    assert_non_null(at);
    assert_int_equal(strlen(word), strlen(other));
    memcpy(at, other, strlen(other));
    FILE *fp = fopen(to, "w");
    assert_non_null(fp);
    fputs(text, fp);
    assert_int_equal(fclose(fp), 0);
}

/* A branchless kernel that skips a neighbour is detected. */
static void cli_nbody_compare_detects_wrong_kernel(void **state)
{
    (void)state;
    mkdir("../nbody", 0700);
    mkdir("../nbody/force", 0700);
    spoil("baseline.h", "../nbody/force/baseline.h", "16", "16"); /* a copy as it is */
    spoil("baseline.cl", "../nbody/force/baseline.cl", "j = i + 1;", "j = i + 2;");
    const int status = run_with("STDCL_KERNEL_PATH=..", "nbody --compare -n 500");
    unlink("../nbody/force/baseline.cl");
    unlink("../nbody/force/baseline.h");
    rmdir("../nbody/force");
    rmdir("../nbody");
    assert_int_equal(status, 1);
    assert_non_null(strstr(err, "stdcl nbody: kernel 'branchless' is wrong"));
    assert_null(strstr(err, "'naive'"));
    assert_non_null(strstr(out, "WRONG"));
}

/* The forces only: two bodies 2 apart, masses 1 and 3, G = 2, by hand. */
static void cli_nbody_checks_forces(void **state)
{
    (void)state;
    double row[2][8];
    char header[512];
    static const char two[] = "1 0 0 0 0 0 0\n3 0 2 0 0 0 0\n";
    input(two, sizeof two - 1);
    expect_success(
        "nbody -i ../in -G 2 --eps 0 --dt 1 --steps 0 --precision double --forces f.csv --kernel naive");
    assert_non_null(strstr(out, "written       f.csv\n"));
    expect_success(
        "nbody -i ../in -G 2 --eps 0 --dt 1 --steps 0 --precision double --forces f.csv --kernel naive");
    assert_non_null(strstr(out, "written       f.csv, replacing an older file\n"));
    FILE *fp = fopen("f.csv", "r");
    assert_non_null(fp);
    assert_non_null(fgets(header, sizeof header, fp));
    assert_string_equal(header,
                        "mass [mass],force_x [mass length/time^2],force_y [mass length/time^2],"
                        "force_z [mass length/time^2],acceleration_x [length/time^2],"
                        "acceleration_y [length/time^2],acceleration_z [length/time^2],"
                        "potential [length^2/time^2]\n");
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 8; c++)
            assert_int_equal(fscanf(fp, c ? ",%lf" : "%lf", &row[i][c]), 1);
    static const double right[2][8] = {{1, 0, 1.5, 0, 0, 1.5, 0, -3},
                                       {3, 0, -1.5, 0, 0, -0.5, 0, -1}};
    for (int i = 0; i < 2; i++)
        for (int c = 0; c < 8; c++)
            assert_true(fabs(row[i][c] - right[i][c]) < 1e-14);
    assert_int_equal(fgetc(fp), '\n');
    assert_int_equal(fgetc(fp), EOF);
    fclose(fp);
    expect_success(
        "nbody -i ../in --eps 1 --dt 0.1 --steps 3 -q --forces later.csv"); /* at their final
                                                                               positions */
    assert_true(exists("later.csv"));
    expect_success("nbody -i ../in --eps 1 --steps 0 -q --forces -");
    assert_int_equal(strncmp(out, "mass [mass],", 12), 0);
    assert_int_equal(empty_here(NULL), 2);
    expect_refused_with("nbody -i ../in --steps 0 --forces none/f.csv", 1, "none");
    expect_refused_with("nbody -i ../in --steps 0 --forces f2.csv -o f2.csv", 2, "given twice");
    expect_refused_with("nbody -i ../in --steps 0 --forces - --json", 2, "standard output");
    expect_refused_with("nbody -i ../in --steps 0 --forces ''", 2, "--forces: the value is empty");
    expect_success("nbody -i ../in --steps 0 -q -o ../in"); /* an output may replace its input */
}

static void cli_nbody_rejects_bad_options(void **state)
{
    (void)state;
    input(two_bodies, sizeof two_bodies - 1);
    static const struct {
        const char *arguments, *part;
    } wrong[] = {
        {"nbody --dt 0", "--dt is 0; give a nonzero step"},
        {"nbody --dt -1 --until 1", "--dt is negative"},
        {"nbody --dt nan", "--dt: 'nan'"},
        {"nbody --eps -0.1", "--eps: '-0.1' is not allowed"},
        {"nbody --eps inf", "--eps: 'inf'"},
        {"nbody -G 0", "--gravity: '0'"},
        {"nbody -n 0", "-n, --bodies: '0' is too small"},
        {"nbody -n -1", "--bodies: '-1' is negative"},
        {"nbody -n 1e30", "--bodies: '1e30' is too large"},
        {"nbody -n 18446744073709551616", "is too large"},
        {"nbody -n 2.5", "a whole number"},
        {"nbody --steps -1", "--steps: '-1' is negative"},
        {"nbody --steps", "--steps needs a value"},
        {"nbody --trails --figure x.svg", "--trails needs a value: N; the next word is '--figure'"},
        {"life --soup 0.3", "--soup: its value must follow '=': --soup=0.3"},
        {"life --soup 30%", "--soup: its value must follow '=': --soup=30%"},
        {"life --soup -0.3", "--soup: its value must follow '=': --soup=-0.3"},
        {"nbody --profile jsn", "--profile: its value must follow '=': --profile=jsn"},
        {"nbody --view 99999", "--view: its value must follow '=': --view=99999"},
        {"matmul --profile /", "--profile: its value must follow '=': --profile=/"},
        {"nbody --batch 0", "--batch: '0' is too small"},
        {"nbody --seed x", "--seed: 'x'"},
        {"nbody --integrator leapfog", "did you mean 'leapfrog'?"},
        {"nbody --precision half", "give one of single, double"},
        {"nbody --ic nebula", "give one of plummer"},
        {"nbody --stpes 3", "did you mean '--steps'?"},
        {"nbody --time 3", "did you mean '--until'?"},
        {"life --steps 3", "did you mean '--generations'?"},
        {"life --grid 3", "did you mean '--size'?"},
        {"nbody --gpus 2", "did you mean '--device'?"},
        {"nbody --epsilon 0", "did you mean '--eps'?"},
        {"matmul --size 5", "did you mean '-n'?"},
        {"gas --particles 5", "did you mean '-n'?"},
        {"nbody -i ../in galaxy.tab", "unexpected argument 'galaxy.tab': there is an input"},
        {"nbody --ic figure8 -n 4", "which has 3 bodies"},
        {"nbody -i ../in --ic plummer", "cannot be combined"},
        {"nbody -i ../in -n 5", "-i and -n cannot be combined"},
        {"nbody --input=../in --bodies 5", "--input and --bodies cannot be combined"},
        {"nbody -n 8 --device ' '", "--device: ' ' is blank"},
        {"nbody -i ../in --seed 5", "-i and --seed need --ensemble"},
        {"nbody --steps 1 --until 1", "cannot be combined"},
        {"nbody -n 8 --until -1", "--until: '-1' is before"},
        {"nbody -n 8 --dt 1 --until 1e300", "2^53 steps"},
        {"nbody -n 8 --frames 3", "--frames needs a picture"},
        {"nbody -n 8 --frames 0 -o a.png", "--frames: '0' is too small"},
        {"nbody -n 8 --frames 9 --steps 5 -o a.png",
         "at least 8 steps, but the run has 5; give --frames 6 or fewer"},
        {"nbody -n 8 --diag 3", "--diag needs a table"},
        {"nbody -n 8 --record a.mp4", "--record: 'a.mp4' must end in .view"},
        {"nbody -n 8 --every 3", "--every needs --checkpoint FILE"},
        {"nbody -n 8 --json --csv -", "--json and --csv - cannot be combined"},
        {"nbody -n 8 --json --elements /dev/stdout", "--json and --elements - cannot be combined"},
        {"life --size 8 --json --csv /dev/fd/1", "--json and --csv - cannot be combined"},
        {"nbody -n 8 --json --forces -", "--json and --forces - cannot be combined"},
        {"nbody -n 8 -o x.jpg", "x.jpg: unknown suffix '.jpg'; known are text"},
        {"nbody -n 8 -o x.zip", "known are text"},
        {"nbody -n 8 --extent 3", "--extent needs a picture (-o FILE.png"},
        {"nbody -n 8 --plane xz -o a.tab", "--plane needs a picture"},
        {"nbody -n 8 --colours grey --csv e", "--colours needs a picture"},
        {"nbody -n 8 --size 64 --frames 3", "--size needs a picture"},
        {"nbody -n 8 --compare --size 64", "--compare and --size cannot be combined"},
        {"nbody -n 8 --size 8 -o a.png", "'8' is not a size"},
        {"nbody -n 8 --size 64x -o a.png", "'64x' is not a size"},
        {"nbody -n 8 --size 64x64x64 -o a.png", "'64x64x64' is not a size"},
        {"nbody -n 8 -o a.tab -o a.tab", "'a.tab' is given twice"},
        {"nbody -n 8 -o a.tab -o ./a.tab", "'./a.tab' and 'a.tab' are one file"},
        {"nbody -n 8 -o a.tab --trace a.tab", "'a.tab' is given twice"},
        {"nbody -n 8 --steps 1 --trace a.csv",
         "--trace: 'a.csv' would be a timeline; give a name that ends in .json"},
        {"nbody -n 8 --checkpoint a.png", "--checkpoint: 'a.png' would be a checkpoint"},
        {"nbody -n 8 --forces a.csv.gz", "--forces: 'a.csv.gz' would be a table of text"},
        {"nbody -i ../in --csv ../in", "--csv '../in' would replace an input"},
        {"matmul -a a.npy --trace ./a.npy", "--trace './a.npy' would replace an input"},
        {"gas --histogram a.csv --histogram ./a.csv", "are one file"},
        {"nbody -n 8 -o a.csv --csv b.csv", "second table"},
        {"nbody -n 8 -o a.fits", ".fits"},
        {"nbody -n 8 --json -o -", "standard output"},
        {"nbody -n 8 -o ''", "--output: the value is empty"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        expect_refused_with(wrong[i].arguments, 2, wrong[i].part);
}

static void cli_nbody_rejects_unwritable_outputs(void **state)
{
    (void)state;
    static const char *const outputs[] = {"-o nowhere/a.tab", "-o nowhere/a.tipsy",
                                          "-o nowhere/a.png", "--csv nowhere/a",
                                          "-o nowhere/a.png --frames 2"};
    char line[128];
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        snprintf(line, sizeof line, "nbody -n 2^62 %s", outputs[i]); /* before there are bodies */
        expect_refused_with(line, 1, "nowhere");
    }
    expect_refused_with("nbody galaxy.tab", 1, "galaxy.tab: no such file");
    expect_refused_with("nbody -n 8 -o ..", 1, "..");
    expect_refused_with("nbody -n 8 --steps 1 -q -o /dev/full", 1, "/dev/full");
    expect_refused("nbody -o a.mp4", run_with("PATH=/proc/nonexistent", "nbody -n 8 -o a.mp4"), 1,
                   "ffmpeg");
    expect_refused_with("nbody -n 1e15", 1, "1000000000000000 bodies need");
    expect_refused_with("nbody -n 2^62", 1, "EiB");
}

static void expect_refused_input(const char *text, const char *part)
{
    input(text, strlen(text));
    expect_refused_with("nbody -i ../in --dt 0.01 -o a.tab --csv a.csv", 1, part);
    assert_non_null(strstr(err, "../in"));
}

static void cli_nbody_rejects_bad_input(void **state)
{
    (void)state;
    expect_refused_with("nbody -i ../nothing -o a.tab", 1, "../nothing");
    expect_refused_with("nbody -i .. -o a.tab", 1, "..");
    expect_refused_input("1 0 0 0 0 0 0\n1 2 3\n", "2");
    expect_refused_input("1 0 0 0 0 0 0\n1 2 3 4 5 six 7\n", "six");
    expect_refused_input("1 0 0 nan 0 0 0\n", "nan");
    expect_refused_input("-1 0 0 0 0 0 0\n", "-1");
    expect_refused_input("# nothing\n", "no ");
    expect_refused_input("", "empty");
    unsigned char header[40] = {0};
    header[8 + 3] = 200; /* 200 bodies, big-endian, which do not follow */
    header[12 + 3] = 3;
    header[20 + 3] = 200;
    input(header, sizeof header);
    expect_refused_with("nbody -i ../in -o a.tab", 1, "../in");
}

/* Two bodies so close that the force overflows single precision; and a kernel that does not
 * build. */
static void cli_nbody_stops_on_signal(void **state)
{
    (void)state;
    const char near[] = "1 0 0 0 0 0 0\n1 1e-14 0 0 0 0 0\n1 1 0 0 0 0 0\n";
    input(near, sizeof near - 1);
    expect_refused_with("nbody -i ../in --eps 0 --dt 1e200 --steps 10 -o a.tab --csv a.csv", 1,
                        "step"); /* no precision holds where that leads */
    expect_status("nbody with a nonsense result",
                  run_stdcl("nbody --ic pythagorean --integrator taylor --dt 0.01 -q"), 1);
    assert_non_null(strstr(err, "the trajectories are meaningless"));
    expect_success("nbody --ic pythagorean --integrator hermite4 --steps 1 --json");
    json_t *r = json_report();
    assert_true(json_number_of(r, "dt") == 2e-5);
    json_decref(r);
    assert_int_equal(mkdir("../kernels", 0700) || mkdir("../kernels/nbody", 0700) ||
                         mkdir("../kernels/nbody/force", 0700),
                     0);
    FILE *fp = fopen("../kernels/nbody/force/direct.cl", "w");
    fputs("kernel void nonsense(", fp);
    fclose(fp);
    const int status = run_with("STDCL_KERNEL_PATH=../kernels", "nbody -n 8192 -o a.tab");
    expect_status("nbody with a broken kernel", status, 1);
    assert_non_null(strstr(err, "direct.cl"));
    assert_int_equal(empty_here("nbody with a broken kernel"), 0);
    unlink("../kernels/nbody/force/direct.cl");
    rmdir("../kernels/nbody/force");
    rmdir("../kernels/nbody");
    rmdir("../kernels");
}

/* ---- Interruption. --------------------------------------------------------------------------- */

static void sleep_cli_ms(long ms)
{
    const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static bool folder_is_empty(void)
{
    size_t n = 0;
    DIR *d = opendir(".");
    while (readdir(d))
        n++;
    closedir(d);
    return n <= 2;
}

/* Start a job too long to end, and return when its signal handlers are installed and its table
 * is open. Its launches are short, so that it reacts in time even on a busy machine. A command
 * that ends instead runs into the test's time limit. */
static pid_t start_long(const char *arguments)
{
    static const char *const environment[] = {"STDCL_SLICE=0.02", NULL};
    const pid_t child = start_stdcl(arguments, environment, "../out");
    while (!command_catches_signals(child) || folder_is_empty())
        sleep_cli_ms(10);
    return child;
}

static void cli_nbody_interrupted_once_writes_files(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < 3; i++) {
        const pid_t child =
            start_long("nbody -n 500 --dt 1e-6 --steps 1e12 --csv e.csv -o a.tab --json -q");
        kill(child, signals[i]);
        expect_status("nbody, interrupted", finish_stdcl(child), 128 + signals[i]);
        assert_string_equal(err, "");
        json_t *r = json_report();
        assert_true(json_number_of(r, "steps") < 1e12);
        json_decref(r);
        assert_true(exists("a.tab") && exists("e.csv"));
        expect_success("nbody -i a.tab --steps 0 -q"); /* whole */
        assert_int_equal(empty_here(NULL), 2);
    }
}

/* Return the time of a file's last change; 0: there is no file. */
static struct timespec changed_at(const char *name)
{
    struct stat is;
    return stat(name, &is) == 0 ? is.st_mtim : (struct timespec){0, 0};
}

/* A series of pictures belongs to one run, however early it is interrupted. */
static void cli_nbody_interrupted_series_is_whole(void **state)
{
    (void)state;
    char name[32];
    int pictures = 0;
    run_stdcl("nbody -n 20 --steps 20 --size 16 --frames 20 -o f.png -q");
    if (!exists("f-0020.png"))
        skip(); /* no libpng */
    const struct timespec before = changed_at("f-0001.png");
    const pid_t child = start_long(
        "nbody -n 500 --dt 1e-6 --steps 1e12 --size 16 --frames 20 -o f.png --csv e.csv");
    for (struct timespec now = before;
         now.tv_sec == 0 || (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
         sleep_cli_ms(10))
        now = changed_at("f-0001.png"); /* until the first picture changes */
    kill(child, SIGINT);
    expect_status("nbody --frames, interrupted", finish_stdcl(child), 128 + SIGINT);
    for (int i = 1; i <= 20; i++) {
        snprintf(name, sizeof name, "f-%04d.png", i);
        pictures += exists(name);
    }
    assert_int_equal(pictures, 2); /* of the start, and of the interruption */
    assert_non_null(strstr(out, "f-0001.png ... f-0002.png"));
    assert_int_equal(empty_here(NULL), 3);
}

/* After the first signal the command writes the bodies into a pipe that is never read: the
 * second signal ends it. */
static void cli_nbody_interrupted_twice_quits(void **state)
{
    (void)state;
    int bytes = 0;
    assert_int_equal(mkfifo("../p.tab", 0600), 0);
    const int pipe = open("../p.tab", O_RDONLY | O_NONBLOCK);
    assert_true(pipe >= 0);
    const pid_t child = start_long("nbody -n 2000 --steps 1e9 --batch 1e9 --csv e.csv -o ../p.tab");
    kill(child, SIGTERM);
    for (; bytes == 0; sleep_cli_ms(10))
        assert_int_equal(ioctl(pipe, FIONREAD, &bytes), 0);
    kill(child, SIGTERM);
    if (SANITIZED) /* ThreadSanitizer keeps a signal until the write has returned: there is room for
                      that, and not for the rest */
        assert_true(read(pipe, err, sizeof err) > 0);
    expect_status("nbody, interrupted twice", finish_stdcl(child), 1000 + SIGTERM);
    assert_int_equal(empty_here("nbody, interrupted twice"), 0);
    close(pipe);
    unlink("../p.tab");
}

/* LLVM in PoCL used to swallow the first signal. */
static void kill_and_wait(void **state)
{
    (void)state;
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    const pid_t child = start_long("nbody -n 500 --dt 1e-6 --steps 1e12 --csv e.csv -o a.tab");
    kill(child, SIGQUIT);
    expect_status("nbody, with SIGQUIT", finish_stdcl(child), 1000 + SIGQUIT);
    assert_int_equal(empty_here("nbody, with SIGQUIT"), 0);
}

/* A full, non-blocking standard output is waited for. */
static void cli_waits_for_full_pipe_on_stdout(void **state)
{
    (void)state;
    char got[1024];
    size_t total = 0;
    ssize_t n;
    int ends[2], status;
    run_stdcl("nbody --help");
    assert_int_equal(pipe(ends), 0);
    assert_true(fcntl(ends[1], F_SETPIPE_SZ, 4096) == 4096 && strlen(out) > 4096);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl(command, command, "nbody", "--help", (char *)NULL);
        _exit(126);
    }
    close(ends[1]);
    for (sleep_cli_ms(300); (n = read(ends[0], got, sizeof got)) > 0; total += (size_t)n)
        assert_memory_equal(got, out + total, (size_t)n);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(total, strlen(out));
}

int main(int argc, char **argv)
{
    static char path[4096];
    if (argc != 2 || !realpath(argv[1], path)) {
        fprintf(stderr, "usage: test_cli PATH_OF_STDCL\n");
        return 1;
    }
    command = path;
    const int version = pocl_version(NULL);
    two_devices = version ? pocl_twice(version) : NULL;
#define TEST(name) cmocka_unit_test_teardown(name, clean)
    struct CMUnitTest tests[] = {
        TEST(cli_prints_overview_and_version),
        TEST(cli_reports_full_disk_on_stdout),
        TEST(cli_reports_file_size_limit),
        TEST(cli_view_reports_file_size_limit),
        TEST(cli_names_memory_limit_without_platform),
        TEST(cli_shortens_long_arguments),
        TEST(cli_lists_devices),
        TEST(cli_embed_rejects_bad_input),
        TEST(cli_nbody_prints_json),
        TEST(cli_nbody_writes_table),
        TEST(cli_nbody_draws_pictures),
        TEST(cli_nbody_selects_devices),
        TEST(cli_nbody_rejects_bad_options),
        TEST(cli_nbody_rejects_unwritable_outputs),
        TEST(cli_nbody_rejects_bad_input),
        TEST(kill_and_wait),
        TEST(cli_waits_for_full_pipe_on_stdout),
        /* Of the following, every n-th runs. */
        TEST(cli_embeds_kernels),
        TEST(cli_nbody_writes_to_stdout),
        TEST(cli_nbody_interrupted_series_is_whole),
        TEST(cli_nbody_makes_film),
        TEST(cli_nbody_compares_kernels),
        TEST(cli_nbody_runs_each_stepping),
        TEST(cli_nbody_runs_tree),
        TEST(cli_nbody_compare_detects_wrong_kernel),
        TEST(cli_nbody_stops_on_signal),
        TEST(cli_nbody_runs_each_kernel),
        TEST(cli_nbody_writes_snapshots),
        TEST(cli_nbody_prints_report),
        TEST(cli_nbody_draws_few_stars),
        TEST(cli_nbody_interrupted_once_writes_files),
        TEST(cli_nbody_interrupted_twice_quits),
        TEST(cli_nbody_checks_forces),
    };
    return sampled_run("command", tests, 14, 3, make_folder, remove_cli_folder);
}
