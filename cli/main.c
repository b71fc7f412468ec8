/* main.c - the `stdcl` command: finds the subcommand in a table and runs it.
 *
 * The table is made by CMake from the subcommands whose engines are built (CMakeLists.txt).
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "compiling.h"
#include "interrupt.h"
#include "message.h"
#include "ranks.h"
#include "text.h"
#include "usage.h"
#include "window.h"

#include "core/outfile.h"
#include "core/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define COMMAND(name) extern const struct cli_command cmd_##name;
#include "commands.inc"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "commands.inc"
#undef COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

enum { COMMAND_COLUMN = 16 };

static void print_overview(FILE *fp)
{
    const size_t columns = terminal_columns(fp);
    fputs("usage: stdcl COMMAND [options]\n\n"
          "Simulations and tools on OpenCL devices: GPUs, or any CPU.\n\n",
          fp);
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(fp, "  %-*s", COMMAND_COLUMN - 2, commands[i]->name);
        text_wrap(fp, commands[i]->summary, COMMAND_COLUMN, columns);
    }
    fputc('\n', fp);
    text_wrap(
        fp,
        "'stdcl COMMAND --help' lists the options of a command, 'stdcl --version' prints the version.",
        0, columns);
    text_wrap(fp, "Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted by Ctrl-C.", 0,
              columns);
}

static int unknown_command(const char *name)
{
    struct cli_guess guess = {.word = name};
    for (size_t i = 0; i < COMMANDS; i++)
        cli_guess_offer(&guess, commands[i]->name);
    cli_guess_offer(&guess, "--help");
    cli_guess_offer(&guess, "--version");
    const char *kind = name[0] == '-' ? "option" : "command";
    if (guess.best)
        return cli_wrong("unknown %s '%s'; did you mean '%s'?", kind, name, guess.best);
    return cli_wrong("unknown %s '%s'; 'stdcl --help' lists all", kind, name);
}

static int run_command(int argc, char **argv)
{
    static char program[64];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, argv[0]))
            continue;
        snprintf(program, sizeof program, "stdcl %s", argv[0]);
        cli_program = program;
        int status;
        if (commands[i]->ranks != CLI_RANKS_INDEPENDENT &&
            (status = cli_ranks_join(argc, argv)) != CLI_DONE)
            return status;
        return commands[i]->run(argc, argv);
    }
    return unknown_command(argv[0]);
}

/* Print all commands as tables for tools/man1.awk and tools/completions.awk, see describe.c. */
static int describe_all(void)
{
    int status = CLI_DONE;
    for (size_t i = 0; i < COMMANDS && status == CLI_DONE; i++) {
        char *argv[] = {(char *)commands[i]->name, "--help=table", NULL};
        printf("command\t%s\t%s\n", commands[i]->name, commands[i]->summary);
        status = run_command(2, argv);
    }
    return status;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_overview(stderr);
        return CLI_WRONG;
    }
    const bool help =
        !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help");
    if (help && argc > 2) {
        char *of_command[] = {argv[2], "--help", NULL};
        return run_command(2, of_command);
    }
    if (help) {
        print_overview(stdout);
        return CLI_DONE;
    }
    if (!strcmp(argv[1], "--help=table"))
        return describe_all();
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts("stdcl " STDCL_VERSION);
        return CLI_DONE;
    }
    return run_command(argc - 1, argv + 1);
}

/* Make a stream blocking: on a pipe or terminal that a different program made non-blocking, a
 * long report would fail with EAGAIN. */
static void make_blocking(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/* Handler of SIGXFSZ, so that write fails with EFBIG and the failure is reported. Unlike
 * SIG_IGN, a handler is not inherited by programs that we start. */
static void on_file_size_limit(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    cli_interrupt_begin();
    outfile_guard();
    if (signal(SIGXFSZ, on_file_size_limit) == SIG_IGN)
        signal(SIGXFSZ, SIG_IGN);
    make_blocking(1);
    make_blocking(2);
    int status = dispatch(argc, argv);
    cli_compiling_end();
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) /* a truncated report is a failure */
        status = cli_failed("cannot write standard output%s%s", errno ? ": " : "",
                            errno ? strerror(errno) : "");
    status = cli_ranks_end(status);
    return cli_window_runs_again() ? cli_window_run_again(argv) : status;
}
