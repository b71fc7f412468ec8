/* cmd_check.c - `stdcl check`: a program's kernels under Oclgrind, or kernel files through all
 * compilers.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "message.h"
#include "usage.h"
#include "check_job.h"
#include "compile.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_kernel_file(const char *name)
{
    return cli_has_suffix(name, ".cl") || cli_has_suffix(name, ".clt");
}

/* Index of the first word that is not an option, or argc. */
static int find_operand(int argc, char **argv)
{
    static const char *const value_options[] = {"-D", "-I", "--define", "--include", "--device"};
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--"))
            return i + 1;
        for (size_t k = 0; k < sizeof value_options / sizeof *value_options; k++)
            if (!strcmp(argv[i], value_options[k])) {
                i++;
                break;
            }
    }
    return i < argc ? i : argc;
}

/* True for "N", "N=64" or "F(x)=x": a name, and a value that compilers' options can carry. */
static bool is_definition(const char *text)
{
    const size_t name =
        strspn(text, "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return name && (*text < '0' || *text > '9') && (!text[name] || strchr("=(", text[name])) &&
           !(strchr(text, '"') && strchr(text, ' '));
}

static int check_files(const struct check_files *job)
{
    for (size_t i = 0; i < job->defines.n; i++)
        if (!is_definition(job->defines.item[i]))
            return cli_wrong(
                "-D: '%s' is not NAME or NAME=VALUE; a name has letters, digits and _, a value no quoted blanks",
                job->defines.item[i]);
    for (size_t i = 0; i < job->file.n; i++)
        if (!is_kernel_file(job->file.item[i]))
            return cli_wrong(
                "'%s' ends neither in .cl nor in .clt; check a program in a separate run",
                job->file.item[i]);
    return compile_folders_check(&job->folders) == CLI_DONE ? check_kernels(job) : CLI_WRONG;
}

static const struct cli_combination check_combinations[] = {
    CLI_REQUIRES("define include device", "kernels", "a program builds its own kernels"),
    {NULL},
};

static int check_a_program(const struct check_files *job, char **argv)
{
    /* STDCL_DEBUG=2 requests this check; avoid recursion */
    if (getenv("STDCL_DEBUG") && !strcmp(getenv("STDCL_DEBUG"), "2"))
        setenv("STDCL_DEBUG", "1", 1);
    return check_program(argv, job->quiet);
}

static int cmd_check_run(int argc, char **argv)
{
    struct check_files job = {0};
    const int at = find_operand(argc, argv);
    const bool program = at < argc && !is_kernel_file(argv[at]);
    int status;
    struct cli_option options[] = {
        CLI_GROUP("Kernel files"),
        CLI_STRINGS('D', "define", "NAME[=VALUE]", &job.defines, "macro to define, repeatable"),
        CLI_STRINGS('I', "include", "DIR", &job.folders, "directory of include files, repeatable"),
        CLI_STRINGS(
            0, "device", "DEVICE", &job.device,
            "devices to compile for, repeatable: cpu, gpu, acc, part of a name, or a number of 'stdcl devices' (default: all)"),
        CLI_GROUP("Both"),
        CLI_FLAG('q', "quiet", &job.quiet, "no output without errors"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[-q] PROGRAM [arguments]\n       stdcl check [options] FILE.cl...",
        .about =
            "Runs a program under Oclgrind, a device that finds out-of-bounds accesses, data races and uninitialised values in kernels, and prints each with file and line. Or compiles kernel files (and templates, .clt) for every device, prints the compilers' messages and lists the kernels. Exits with status 1 if errors were found or nothing was checked.",
        .examples = "  stdcl check ./simulation 1000\n"
                    "  stdcl check -D N=64 scale.cl\n",
        .options = options,
        .combinations = check_combinations,
        .conditions =
            (struct cli_condition[]){{"kernels", "kernel files (.cl, .clt)", .holds = !program},
                                     {NULL}},
        .operands = &job.file,
        .operands_min = program ? 0 : 1,
        .operand = "the program or kernel file",
    };
    if (cli_parse(&usage, program ? at : argc, argv, &status) &&
        (status = cli_combinations_check(&usage)) == CLI_DONE)
        status = program ? check_a_program(&job, argv + at) : check_files(&job);
    cli_strings_free(&job.device);
    cli_strings_free(&job.defines);
    cli_strings_free(&job.folders);
    cli_strings_free(&job.file);
    return status;
}

const struct cli_command cmd_check = {"check",
                                      "find errors in kernels: in a program's run, or in files",
                                      cmd_check_run, CLI_RANKS_INDEPENDENT};
