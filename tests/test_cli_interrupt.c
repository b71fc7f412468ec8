/* SIGINT, SIGTERM and SIGHUP end every command within two seconds, however large the problem:
 * each case below would take minutes or hours, in launches that would take many seconds if they
 * were not sliced.
 *
 * Progress must have moved before the signal, and one run of each command must have printed its
 * expected duration. From the first progress on, something new must appear within two seconds.
 *
 * After Ctrl-C the command does not wait for slow output, such as a pipe that is read slowly;
 * after SIGTERM it does.
 *
 * PoCL begins with an empty cache, so that launches are sliced as well when the driver compiles in
 * a launch.
 *
 * The limit is processor time, since a busy machine gives the command less: two seconds of each
 * processor. Launches are cut five times shorter than usual, so that a pending launch ends in
 * time even if the machine has become much busier since its start.
 *
 *   test_cli_interrupt PATH_OF_STDCL
 * SPDX-License-Identifier: MIT
 */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "deep.h"
#include "signals.h"

static const double WITHIN = 2, LITTLE = 1; /* seconds, of all processors and of one */

struct row {
    const char *arguments;
    double worked; /* processor time before the signal, at least, in seconds */
    int signal;
    const char *output; /* a file that is there then, else NULL */
    bool nohup;         /* SIGHUP is ignored when it begins, and changes nothing */
    bool tells;         /* is to say how long it takes, which it does after a second */
    bool compiles;   /* four kernels one after the other: the compiler cannot be cancelled, so the
                        signal may end it */
    const char *all; /* the total in the report's last line "interrupted after", for every signal */
};

static const struct row rows[] = {
    {"nbody -n 2^17 --steps 1000000 --csv e.csv -o a.bin --check-forces 10", 1, SIGINT, "a.bin",
     false, true, false, " of 1000000 steps"},
    {"nbody -n 2^17 --compare", 1, SIGHUP, NULL, false, false, true, NULL},
    {"life --size 16384 --soup=0.5 -n 1e9", 0.2, SIGINT, NULL, true, true, false,
     " of 1000000000 generations"},
    {"life --size 6000 --soup=0.5 -n 1e9 --engine global --csv e.csv", 0.2, SIGTERM, "e.csv", false,
     false, false, " of 1000000000 generations"},
    {"life --size 5000 --soup -n 1e9 --engine reference "
     "--rule R500,C2,S100000-200000,B100000-150000,NN",
     0.2, SIGINT, NULL, false, true, false, " of 1000000000 generations"},
    {"life -p xq4_153 --engine hashlife -n 1e9 --step 1 --csv e.csv", 0.2, SIGHUP, "e.csv", false,
     false, false, " of 1000000000 generations"},
    {"matmul -n 6000 --engine naive --repeat 1000000", 0.2, SIGINT, NULL, false, true, false,
     " of 1000001 products"},
    {"matmul -n 4000 --engine cpu-naive", 0.2, SIGHUP, NULL, false, false, false, " products"},
    {"life census --soups 1e9", 0.2, SIGTERM, NULL, false, false, false, " of 1000000000 soups"},
    {"gas -n 1e15", 0.2, SIGTERM, NULL, false, true, false, " of 1000000000000000 molecules"},
    {"life sweep --csv e.csv", 0.2, SIGTERM, "e.csv", false, false, false, " of 131072 rules"},
    {"life sweep -n 10000 --soups 65536", 0.2, SIGINT, NULL, false, false, false,
     " of 131072 rules"},
};

static const char *command;
static char said[1 << 16]; /* on standard error, which is a terminal */

static double interrupt_clock_seconds(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds_of_children(void)
{
    struct rusage used;
    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/* Open a terminal, and its other end for a child. */
static int terminal(int *other)
{
    const int end = posix_openpt(O_RDWR | O_NOCTTY);
    if (end < 0 || grantpt(end) != 0 || unlockpt(end) != 0)
        return -1;
    *other = open(ptsname(end), O_RDWR | O_NOCTTY);
    fcntl(end, F_SETFL, O_NONBLOCK);
    return end;
}

static void listen_to_output(int end)
{
    size_t used = strlen(said);
    const ssize_t n = read(end, said + used, sizeof said - 1 - used);
    said[used + (n > 0 ? (size_t)n : 0)] = 0;
}

static pid_t start_in_terminal(const char *arguments, bool nohup, int error)
{
    char line[256], *argv[16] = {(char *)(uintptr_t)command};
    size_t n = 1;
    snprintf(line, sizeof line, "%s", arguments);
    for (char *word = strtok(line, " "); word && n < 15; word = strtok(NULL, " "))
        argv[n++] = word;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
        dup2(error, STDERR_FILENO);
        setenv("TERM", "vt100", 1);
        setenv("STDCL_SLICE", "0.05", 1);
        if (nohup)
            signal(SIGHUP, SIG_IGN);
        execv(command, argv);
        _exit(126);
    }
    return child;
}

static const char *command_words(const char *name)
{
    static char text[2048];
    FILE *fp = fopen(name, "r");
    text[fp ? fread(text, 1, sizeof text - 1, fp) : 0] = 0;
    if (fp)
        fclose(fp);
    return text;
}

static bool tells_when(const struct row *row)
{
    const char *line = strstr(command_words("out"), "interrupted   after "),
               *all = line ? strchr(line + 20, ' ') : NULL;
    return !row->all || (all && strncmp(all, row->all, strlen(row->all)) == 0);
}

/* Seconds of all processors within which a command ends, and shows new progress. */
static double most_seconds(void)
{
    return WITHIN * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

/* True if the line of progress is shown; a narrow terminal has no bar. */
static bool draws_progress(void)
{
    return strstr(said, "% [") || strstr(said, " %, ");
}

static bool shows_progress(void)
{
    return draws_progress() || strstr(said, "this takes about");
}

/* Run until signals are handled, progress has moved, the expected duration is printed where it is
 * to be, and enough work is done. */
static void wait_for_progress(const struct row *row, pid_t child, clockid_t clock, int end)
{
    int status;
    double heard = 0; /* processor time at the last output */
    size_t length = 0;
    while (interrupt_clock_seconds(clock) < row->worked || !draws_progress() ||
           !command_catches_signals(child) || (row->tells && !strstr(said, "this takes about"))) {
        listen_to_output(end);
        if (waitpid(child, &status, WNOHANG) != 0)
            fail_msg("'%s' ended before it was interrupted, with wait status %d\n%s",
                     row->arguments, status, said);
        const double now = interrupt_clock_seconds(clock);
        if (shows_progress() && strlen(said) == length && now - heard > most_seconds())
            fail_msg("'%s' showed no progress for %.2f s\n%s", row->arguments, now - heard, said);
        heard = strlen(said) > length ? now : heard;
        length = strlen(said);
        usleep(10000);
    }
}

static void check_interrupted(const struct row *row)
{
    clockid_t clock = CLOCK_MONOTONIC;
    int status, other = -1;
    const double before = seconds_of_children();
    const int end = terminal(&other);
    assert_true(end >= 0 && other >= 0);
    said[0] = 0;
    const pid_t child = start_in_terminal(row->arguments, row->nohup, other);
    assert_true(child > 0 && clock_getcpuclockid(child, &clock) == 0);
    wait_for_progress(row, child, clock, end);
    if (strncmp(row->arguments, "nbody", 5) == 0)
        assert_non_null(strstr(said, "generating 131072 bodies"));
    if (row->nohup) {
        const double later = interrupt_clock_seconds(clock) + LITTLE / 4;
        kill(child, SIGHUP);
        for (; interrupt_clock_seconds(clock) < later; listen_to_output(end)) {
            assert_int_equal(waitpid(child, &status, WNOHANG), 0);
            usleep(10000);
        }
    }
    const double at_signal = interrupt_clock_seconds(clock);
    kill(child, row->signal);
    for (; waitpid(child, &status, WNOHANG) == 0; listen_to_output(end))
        usleep(10000);
    close(end);
    close(other);
    const double after = seconds_of_children() - before - at_signal;
    const bool by_itself = WIFEXITED(status) && WEXITSTATUS(status) == 128 + row->signal,
               written = !row->output || access(row->output, F_OK) == 0 ||
                         (after < LITTLE && strstr(said, "was given up"));
    /* On a busy machine the command may be too slow to end by itself, or to write its file,
     * within two seconds. */
    const bool ended = by_itself ? written && tells_when(row)
                                 : WIFSIGNALED(status) && WTERMSIG(status) == row->signal &&
                                       (row->compiles || after < LITTLE);
    print_message("%-50s %5.2f s before, %.2f s after the signal\n", row->arguments, at_signal,
                  after);
    if (!ended || after > most_seconds()) {
        print_error("'%s' ended with wait status %d, %.2f s after signal %d\n", row->arguments,
                    status, after, row->signal);
        print_error("%s\n", said);
        print_error("out: %s\n", command_words("out"));
    }
    assert_true(ended && after < most_seconds());
}

static void interrupt_ends_every_command_in_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (sampled(i, 4))
            check_interrupted(&rows[i]);
}

/* The tree compiles kernels during its initial energy; only steps tell how long steps take. */
static void duration_of_tree_follows_from_steps(void **state)
{
    int status, other = -1;
    const int end = terminal(&other);
    char *about;
    (void)state;
    assert_true(end >= 0 && other >= 0);
    said[0] = 0;
    const pid_t child = start_in_terminal(
        "nbody --ic collision -n 16384 --method tree --steps 1000000", false, other);
    while (!(about = strstr(said, "this takes about"))) {
        listen_to_output(end);
        if (waitpid(child, &status, WNOHANG) != 0)
            fail_msg("ended with wait status %d\n%s", status, said);
        usleep(10000);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    close(end);
    close(other);
    *about = 0;
    assert_non_null(strstr(said, "bodies/s")); /* shown during steps */
}

/* Return the number of bytes read from the pipe, 64 KiB at a time, until all writers have closed
 * it, and the child's wait status. */
static size_t drain(int pipe, int pause, int end, pid_t child, int *status)
{
    static char piece[1 << 16];
    size_t bytes = 0;
    for (ssize_t n; waitpid(child, status, WNOHANG) == 0; listen_to_output(end)) {
        while ((n = read(pipe, piece, sizeof piece)) > 0) {
            bytes += (size_t)n;
            usleep((unsigned)pause);
            listen_to_output(end);
        }
        usleep(10000);
    }
    for (ssize_t n; (n = read(pipe, piece, sizeof piece)) > 0;)
        bytes += (size_t)n;
    listen_to_output(end);
    return bytes;
}

/* 65,536 bodies are 8 MB of text. */
static size_t bodies_through_pipe(int number, int pause, int *status)
{
    int other = -1;
    said[0] = 0;
    assert_int_equal(mkfifo("p.tab", 0600), 0);
    const int pipe = open("p.tab", O_RDONLY | O_NONBLOCK), end = terminal(&other);
    assert_true(pipe >= 0 && end >= 0);
    const pid_t child =
        start_in_terminal("nbody -n 2^16 --method tree --steps 1000000 -o p.tab", false, other);
    while (!draws_progress() || !command_catches_signals(child)) {
        listen_to_output(end);
        assert_int_equal(waitpid(child, status, WNOHANG), 0);
        usleep(10000);
    }
    kill(child, number);
    const size_t bytes = drain(pipe, pause, end, child, status);
    close(pipe);
    close(end);
    close(other);
    unlink("p.tab");
    return bytes;
}

static void interrupt_abandons_slow_output(void **state)
{
    const size_t all = 1 << 20;
    int status;
    (void)state;
    const size_t some = bodies_through_pipe(SIGINT, 30000, &status);
    print_message("%zu bytes after Ctrl-C, wait status %d\n", some, status);
    if (WIFEXITED(status)) { /* or it had too little of a busy machine to end by itself */
        assert_int_equal(WEXITSTATUS(status), 128 + SIGINT);
        assert_non_null(strstr(said, "p.tab: was given up"));
    }
    assert_true(WIFEXITED(status) || WTERMSIG(status) == SIGINT);
    assert_true(some < 6 * all);
    const size_t whole = bodies_through_pipe(SIGTERM, 0, &status);
    assert_true(WIFEXITED(status) ? WEXITSTATUS(status) == 128 + SIGTERM && whole > 7 * all
                                  : WTERMSIG(status) == SIGTERM);
}

/* Each program prints one JSON object after Ctrl-C: `null_key` is null
 * for a run without a result. The clock is the command's: a busy machine changes nothing. */
static void interrupt_leaves_json_report(void **state)
{
    static const struct {
        struct row row;
        const char *null_key;
    } runs[] = {
        {{.arguments = "gas -n 1e15 --json", .worked = 0.2}, "mean_energy"},
        {{.arguments = "gas -n 1e15 --json --gas ar --volume 1 --repeat 3", .worked = 0.2},
         "pressure"},
        {{.arguments = "matmul -n 4000 --engine cpu-naive --json", .worked = 0.2}, "gflops"},
        {{.arguments = "life --size 16384 --soup=0.5 -n 1e9 --json", .worked = 0.2}, NULL},
        {{.arguments = "life census --soups 1e9 --root a --haul haul.txt --json", .worked = 0.2},
         NULL},
        {{.arguments = "life sweep --json", .worked = 0.2}, NULL},
        {{.arguments = "life identify soup.rle --rule B3/S23 -n 1e9 --json", .worked = 0.2},
         "kind"},
        {{.arguments = "nbody -n 20000 --steps 1000000 --json", .worked = 0.2}, NULL},
        {{.arguments = "nbody -n 60000 --compare --json", .worked = 0.5}, NULL},
    };
    char soup[2 * PATH_MAX];
    (void)state;
    snprintf(soup, sizeof soup, "'%s' life --size 400 --soup=0.4 -n 0 -q -o soup.rle", command);
    assert_int_equal(system(soup), 0);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        clockid_t clock = CLOCK_MONOTONIC;
        int status, other = -1;
        const int end = terminal(&other);
        said[0] = 0;
        const pid_t child = start_in_terminal(runs[i].row.arguments, false, other);
        assert_true(child > 0 && clock_getcpuclockid(child, &clock) == 0);
        wait_for_progress(&runs[i].row, child, clock, end);
        kill(child, SIGINT);
        for (; waitpid(child, &status, WNOHANG) == 0; listen_to_output(end))
            usleep(10000);
        close(end);
        close(other);
        json_t *report = json_load_file("out", 0, NULL);
        if (WIFEXITED(status) && (!report || !json_is_true(json_object_get(report, "interrupted"))))
            fail_msg("%s: %s", runs[i].row.arguments, command_words("out"));
        if (report && runs[i].null_key)
            assert_true(json_is_null(json_object_get(report, runs[i].null_key)));
        const json_t *done = json_object_get(report, "molecules_done");
        assert_true(!done || json_is_integer(done));
        json_decref(report);
    }
    assert_true(access("haul.txt", F_OK) < 0); /* it would be biased */
}

/* A product of 64 rows is one piece without progress, which takes longer than the deadline: the
 * command is killed, and has printed its JSON object. The product begins when signals are handled.
 * Before, the matrices are filled, and a signal leaves no report. */
static void interrupt_leaves_json_report_of_long_product(void **state)
{
    int status, other = -1;
    (void)state;
    const int end = terminal(&other);
    said[0] = 0;
    const pid_t child = start_in_terminal(
        "matmul -m 64 -n 12000 -k 12000 --engine cpu-blocked --block 8 --json", false, other);
    assert_true(child > 0);
    while (!command_catches_signals(child)) {
        listen_to_output(end);
        assert_int_equal(waitpid(child, &status, WNOHANG), 0);
        usleep(10000);
    }
    kill(child, SIGINT);
    for (; waitpid(child, &status, WNOHANG) == 0; listen_to_output(end))
        usleep(10000);
    close(end);
    close(other);
    json_t *report = json_load_file("out", 0, NULL);
    print_message("wait status %d\n", status);
    assert_true(report && json_is_true(json_object_get(report, "interrupted")));
    json_decref(report);
}

/* A run that is interrupted before its first step replaces no file of an earlier run. */
static void interrupt_at_start_keeps_older_files(void **state)
{
    static const struct row row = {
        .arguments = "nbody -n 2^20 --method direct --steps=9 -o older.tab "
                     "--structure older.json --plot energy.svg --figure older.svg",
        .worked = 0.2};
    static const char *const files[] = {"older.tab", "older.json", "energy.svg", "older.svg"};
    const size_t without_figures = 2;
    int status, other = -1;
    (void)state;
    const bool draws = system("command -v gnuplot >/dev/null") == 0;
    const size_t n = draws ? sizeof files / sizeof *files : without_figures;
    char arguments[200];
    snprintf(arguments, sizeof arguments, "%.*s",
             draws ? INT_MAX : (int)(strstr(row.arguments, " --plot") - row.arguments),
             row.arguments);
    for (size_t i = 0; i < n; i++) {
        FILE *fp = fopen(files[i], "w");
        assert_true(fp && fputs("older\n", fp) >= 0 && fclose(fp) == 0);
    }
    const int end = terminal(&other);
    said[0] = 0;
    const pid_t child = start_in_terminal(arguments, false, other);
    clockid_t clock;
    assert_true(child > 0 && clock_getcpuclockid(child, &clock) == 0);
    wait_for_progress(&row, child, clock, end);
    kill(child, SIGINT);
    for (; waitpid(child, &status, WNOHANG) == 0; listen_to_output(end))
        usleep(10000);
    close(end);
    close(other);
    for (size_t i = 0; i < n; i++) {
        struct stat info;
        if (stat(files[i], &info) < 0 || info.st_size != 6 ||
            (WIFEXITED(status) && !strstr(said, files[i])))
            fail_msg("%s: %lld bytes\n%s", files[i], (long long)info.st_size, said);
    }
}

static int enter_interrupt_folder(void **state)
{
    static char folder[] = "/tmp/stdcl-interrupt-XXXXXX", cache[sizeof folder + 6];
    *state = folder;
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return -1;
    snprintf(cache, sizeof cache, "%s/cache", folder);
    return setenv("POCL_CACHE_DIR", cache, 1);
}

static int leave_interrupt_folder(void **state)
{
    if (system("rm -rf out a.bin e.csv older.* energy.svg cache") != 0)
        return -1;
    return chdir("/") == 0 ? rmdir(*state) : -1;
}

int main(int argc, char **argv)
{
    static char path[4096];
    if (argc != 2 || !realpath(argv[1], path)) {
        fprintf(stderr, "usage: test_cli_interrupt PATH_OF_STDCL\n");
        return 1;
    }
    command = path;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interrupt_ends_every_command_in_time),
        cmocka_unit_test(duration_of_tree_follows_from_steps),
        cmocka_unit_test(interrupt_abandons_slow_output),
        cmocka_unit_test(interrupt_leaves_json_report),
        cmocka_unit_test(interrupt_leaves_json_report_of_long_product),
        cmocka_unit_test(interrupt_at_start_keeps_older_files),
    };
    return cmocka_run_group_tests(tests, enter_interrupt_folder, leave_interrupt_folder);
}
