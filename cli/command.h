/* command.h - a subcommand of `stdcl` and its exit status.
 *
 * A subcommand is one file, cmd_NAME.c, which defines `const struct cli_command cmd_NAME`: it
 * describes its options in a table (options.h), parses and checks them (usage.h), opens devices
 * (device.h), computes with progress and interruption (progress.h, interrupt.h), and reports as
 * text or as one JSON object (table.h, json.h). One line in CMakeLists.txt adds it to the program.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_COMMAND_H
#define STDCL_CLI_COMMAND_H

/* Exit status. 128 + signal: interrupted, see cli_interrupt_status. */
enum cli_status {
    CLI_DONE = 0,
    CLI_FAILED = 1, /* run-time failure */
    CLI_WRONG = 2   /* usage error */
};

/* The first failure of two pieces of work that are both done in any case. */
static inline int cli_first_failure(int status, int next)
{
    return status != CLI_DONE ? status : next;
}

/* The processes of a launcher: independent runs, or the ranks of one job. */
enum cli_ranks { CLI_RANKS_INDEPENDENT, CLI_RANKS_COLLECTIVE };

/* A subcommand. run gets argv[0] = its name and returns the exit status. */
struct cli_command {
    const char *name;
    const char *summary; /* half a line for `stdcl --help` */
    int (*run)(int argc, char **argv);
    enum cli_ranks ranks;
};

#endif
