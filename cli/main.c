/* main.c - the `stdcl` command: finds the subcommand in a table and runs it.
 *
 * The table is made by CMake from the subcommands whose engines are built (CMakeLists.txt).
 * SPDX-License-Identifier: MIT
 */
#include "cli.h"

#include "core/outfile.h"

#include <fcntl.h>
#include <signal.h>

#define COMMAND(name) extern const struct cli_command cmd_##name;
#include "commands.inc"
#undef COMMAND

static const struct cli_command *const commands[] = {
#define COMMAND(name) &cmd_##name,
#include "commands.inc"
#undef COMMAND
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_overview(FILE *fp)
{
    fputs("usage: stdcl COMMAND [options]\n\n"
          "Simulations and tools on OpenCL devices: GPUs, or any CPU.\n\n",
          fp);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(fp, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    fputs(
        "\n'stdcl COMMAND --help' lists the options of a command, 'stdcl --version' prints the version.\n"
        "Exit status: 0 done, 1 failed, 2 wrong usage, 130 ended by Ctrl-C.\n",
        fp);
}

static int unknown_command(const char *name)
{
    struct cli_guess guess = {.word = name};
    for (size_t i = 0; i < COMMANDS; i++)
        cli_guess_offer(&guess, commands[i]->name);
    if (guess.best)
        return cli_wrong("unknown command '%s'; did you mean '%s'?", name, guess.best);
    return cli_wrong("unknown %s '%s'; 'stdcl --help' lists those there are",
                     name[0] == '-' ? "option" : "command", name);
}

static int run_command(int argc, char **argv)
{
    static char program[64];
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i]->name, argv[0]))
            continue;
        snprintf(program, sizeof program, "stdcl %s", argv[0]);
        cli_program = program;
        int status = CLI_DONE;
        if (commands[i]->ranks != CLI_RANKS_APART)
            status = cli_ranks_join(argc, argv);
        return status == CLI_DONE ? commands[i]->run(argc, argv) : status;
    }
    return unknown_command(argv[0]);
}

/* For tools/man1.awk and tools/completions.awk, see describe.c. */
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

/* A pipe or terminal that another program has made non-blocking would end a long report with
 * EAGAIN. */
static void wait_where_full(int fd)
{
    const int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && flags & O_NONBLOCK)
        fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
}

/* Writing fails then, with EFBIG, which is said. A handler, since programs that we start would
 * ignore what we do. */
static void file_may_not_grow(int number)
{
    (void)number;
}

int main(int argc, char **argv)
{
    cli_interrupt_begin();
    outfile_guard();
    if (signal(SIGXFSZ, file_may_not_grow) == SIG_IGN)
        signal(SIGXFSZ, SIG_IGN);
    wait_where_full(1);
    wait_where_full(2);
    int status = dispatch(argc, argv);
    errno = 0;
    if (fflush(stdout) || ferror(stdout)) /* a report that is cut short is a failure */
        status = cli_failed("cannot write the standard output%s%s", errno ? ": " : "",
                            errno ? strerror(errno) : "");
    return cli_ranks_end(status);
}
