/* Output of the command on terminals of 80, 60 and 40 columns: no line is longer, and no unit is
 * cut.
 *
 *   test_cli_terminal PATH_OF_STDCL
 *
 * Each run has a pseudo-terminal as standard output and standard error.
 * SPDX-License-Identifier: MIT
 */
#include <pty.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char *command; /* the path of stdcl */
static char shown[1 << 16];
static int exit_status; /* of the last run; -1: a signal ended it */

/* Run the command on a terminal; shown[] receives its output without carriage returns. */
static void run_on_terminal(unsigned short columns, const char *const *words)
{
    struct winsize size = {.ws_row = 24, .ws_col = columns};
    size_t used = 0;
    int terminal, status;
    const pid_t child = forkpty(&terminal, NULL, NULL, &size);
    assert_true(child >= 0);
    if (child == 0) {
        char *argv[16] = {(char *)(uintptr_t)command};
        for (size_t i = 0; words[i]; i++)
            argv[i + 1] = (char *)(uintptr_t)words[i];
        unsetenv("COLUMNS");
        setenv("TERM", "xterm", 1);
        execv(command, argv);
        _exit(126);
    }
    for (ssize_t n; used < sizeof shown - 1 &&
                    (n = read(terminal, shown + used, sizeof shown - 1 - used)) > 0;)
        used += (size_t)n;
    shown[used] = 0;
    close(terminal);
    assert_int_equal(waitpid(child, &status, 0), child);
    exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Columns of ASCII text; escape sequences take none, and a carriage return begins again. */
static size_t printed_columns(const char *line, size_t length)
{
    size_t column = 0, most = 0;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\033')
            i += strcspn(line + i, "mKJHhl");
        else if (line[i] == '\r')
            column = 0;
        else
            column++;
        most = column > most ? column : most;
    }
    return most;
}

static void expect_narrow_with_status(unsigned short columns, const char *const *words, int status)
{
    run_on_terminal(columns, words);
    assert_int_equal(exit_status, status);
    for (const char *line = shown; *line;) {
        const size_t length = strcspn(line, "\n");
        if (printed_columns(line, length) > columns)
            fail_msg("stdcl %s, %u columns: %.*s", words[0], columns, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static void expect_narrow(unsigned short columns, const char *const *words)
{
    expect_narrow_with_status(columns, words, 0);
}

static void expect_shown(const char *text)
{
    if (!strstr(shown, text))
        fail_msg("'%s' is not in: %s", text, shown);
}

static void terminal_fits_devices(void **state)
{
    static const char *const words[] = {"devices", NULL};
    (void)state;
    expect_narrow(80, words);
    expect_shown("GiB");
    expect_narrow(60, words);
    expect_shown("GiB");
    expect_shown("not shown in 60 columns:");
}

static void terminal_fits_reports_and_profiles(void **state)
{
    static const char *const words[] = {"nbody", "-n", "64", "--steps", "4", "--profile", NULL};
    (void)state;
    expect_narrow(80, words);
    expect_shown("interactions/s");
    expect_shown("TFLOP/s");
    expect_narrow(60, words);
    expect_shown("interactions/s");
    expect_shown("energy error");
    expect_shown(" -> ");
    expect_shown("total ms");
    expect_narrow(40, words);
    expect_shown("device 0: ");
}

/* A progress line without a rate yet has no bar that the rate would displace, and no line has two
 * speeds. */
static void terminal_progress_keeps_its_pieces(void **state)
{
    static const char *const words[] = {"gas", "-n", "5e7", "--fused", NULL}, erase[] = "\r\033[K";
    (void)state;
    for (int columns = 80; columns <= 120; columns += 40) {
        expect_narrow((unsigned short)columns, words);
        expect_shown("/50000000 molecules");
        for (char *line = shown, *next; (next = strstr(line, erase)); line = next + strlen(erase)) {
            *next = 0;
            char *speed = strstr(line, "molecules/s");
            if (speed && strstr(speed + 1, "molecules/s"))
                fail_msg("two speeds: %s", line);
            if (columns == 80 && !speed && strchr(line, '#'))
                fail_msg("a bar without a rate: %s", line);
        }
    }
}

static void terminal_fits_comparisons(void **state)
{
    static const char *const words[] = {"matmul", "-n", "100", "--compare", NULL};
    (void)state;
    expect_narrow(80, words);
    expect_shown("% of peak");
    expect_narrow(60, words);
    expect_shown("GFLOP/s");
    expect_shown("precision");
}

static void terminal_fits_other_reports(void **state)
{
    static const struct {
        const char *words[8], *shown;
    } runs[] = {
        {{"nbody", "-n", "512", "--compare", NULL}, "rounding error"},
        {{"life", "census", "--soups", "20", NULL}, "Life-Like"},
        {{"cluster-model", "--of", "life", NULL}, "without overlap"},
        {{"cluster-model", "--of", "tree", NULL}, "of GPUs for"},
        {{"--help", NULL}, "cluster-model"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        expect_narrow(80, runs[i].words);
        expect_narrow(60, runs[i].words);
        expect_shown(runs[i].shown);
    }
}

/* Examples of --help are commands to paste, which are not wrapped. */
static void terminal_fits_options(void **state)
{
    static const char *const commands[] = {"nbody", "life", "gas", "matmul", "view", "tune"};
    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *const words[] = {commands[i], "--help", NULL};
        expect_narrow(80, words);
        run_on_terminal(66, words);
        for (char *line = strtok(shown, "\n"); line && strncmp(line, "Examples", 8) != 0;
             line = strtok(NULL, "\n"))
            if (printed_columns(line, strlen(line)) > 66)
                fail_msg("stdcl %s --help, 66 columns: %s", commands[i], line);
    }
}

/* Make one blank of each run of blanks and ends of lines in shown[]. */
static void join_lines(void)
{
    char *to = shown;
    for (const char *from = shown; *from; from++)
        if (!strchr(" \r\n", *from))
            *to++ = *from;
        else if (!strchr(" \r\n", from[1]))
            *to++ = ' ';
    *to = 0;
}

/* An error is one sentence, broken between words. */
static void terminal_fits_errors(void **state)
{
    static const char *const words[] = {"matmul", "-o", "x.npy", "--sweep", NULL};
    static const unsigned short columns[] = {80, 60, 40};
    (void)state;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        expect_narrow_with_status(columns[i], words, 2);
        join_lines();
        assert_string_equal(shown, "stdcl matmul: -o and --sweep cannot be combined: -o writes the "
                                   "product of one engine");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_fits_devices),
        cmocka_unit_test(terminal_fits_reports_and_profiles),
        cmocka_unit_test(terminal_progress_keeps_its_pieces),
        cmocka_unit_test(terminal_fits_comparisons),
        cmocka_unit_test(terminal_fits_other_reports),
        cmocka_unit_test(terminal_fits_options),
        cmocka_unit_test(terminal_fits_errors),
    };
    if (argc != 2)
        return 2;
    command = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
