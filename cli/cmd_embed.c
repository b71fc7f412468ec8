/* cmd_embed.c - `stdcl embed a.cl b.cl -o kernels.o`: kernels as part of an executable.
 *
 * clopen(cp, NULL, flags) opens linked kernels. Each file is read with its includes, compiled
 * for the devices of this machine, and written into one object; with -c into one object each, as
 * by `cc -c`.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "usage.h"
#include "embed_job.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct embed {
    struct cli_strings file, folders, device;
    const char *output;
    bool each, binary, no_compile;
};

static int check_embed_names(const struct embed *job)
{
    const struct cli_strings *files = &job->file;
    if (!job->output && !job->each)
        return cli_wrong(
            "-o is missing: give an object (kernels.o) or a C file (kernels.c), or -c");
    if (job->output && !cli_has_suffix(job->output, ".o") && !cli_has_suffix(job->output, ".c"))
        return cli_wrong("-o: '%s' must end in .o (object) or .c (C source)", job->output);
    if (job->output && job->each && files->n > 1)
        return cli_wrong("-c writes one object per file, but -o names only one; omit one of them");
    for (size_t i = 0; i < files->n; i++)
        for (size_t j = 0; j < i; j++)
            if (cli_same_file(files->item[i], files->item[j]))
                return cli_wrong("'%s' is given twice", files->item[i]);
    return CLI_DONE;
}

/* Name of the object, "scale.o" in the working directory for "kernels/scale.cl", as compilers
 * name objects. */
static void object_name(const char *file, char *name, size_t size)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file,
               *dot = strrchr(base, '.');
    snprintf(name, size, "%.*s.o", (int)(dot && dot > base ? dot - base : (long)strlen(base)),
             base);
}

static int open_targets(const struct embed *job, struct compile_targets *targets)
{
    *targets = (struct compile_targets){0};
    if (job->no_compile)
        return CLI_DONE;
    unsetenv("STDCL_KERNEL_PATH"); /* compile only the embedded source */
    const int status = compile_targets_open(&job->device, job->binary, targets);
    if (status == CLI_DONE && targets->n == 0)
        cli_warn("this machine has no OpenCL device; the kernels are not compiled");
    return status;
}

static int write_objects(const struct embed *job, const struct embed_source *source)
{
    char name[4096];
    if (job->output)
        return embed_write(job->output, source, job->file.n);
    for (size_t i = 0; i < job->file.n; i++) {
        object_name(source[i].name, name, sizeof name);
        const int status = embed_write(name, &source[i], 1);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

static int compile_sources(const struct embed *job, struct embed_source *source)
{
    struct compile_targets targets;
    int status = open_targets(job, &targets);
    if (status != CLI_DONE)
        return status;
    for (size_t i = 0; i < job->file.n && status == CLI_DONE && !cli_interrupted(); i++)
        status = embed_compile(&targets, &source[i], job->binary);
    compile_targets_close(&targets);
    if (status != CLI_DONE)
        return status;
    return cli_interrupted() ? cli_interrupt_status(CLI_FAILED) : CLI_DONE;
}

static int read_and_write(const struct embed *job, struct embed_source *source)
{
    int status = check_embed_names(job);
    if (status != CLI_DONE)
        return status;
    if ((status = compile_folders_check(&job->folders)) != CLI_DONE)
        return status;
    for (size_t i = 0; i < job->file.n; i++)
        if ((status = embed_read(job->file.item[i], &job->folders, &source[i])) != CLI_DONE)
            return status;
    cli_interrupt_catch();
    if ((status = compile_sources(job, source)) != CLI_DONE)
        return status;
    return write_objects(job, source);
}

static int embed_files(const struct embed *job)
{
    struct embed_source *source = cli_alloc(job->file.n + 1, sizeof *source);
    const int status = read_and_write(job, source);
    for (size_t i = 0; i < job->file.n; i++)
        embed_source_free(&source[i]);
    free(source);
    return status;
}

static const struct cli_combination embed_combinations[] = {
    CLI_EXCLUDES("binary", "no-compile", NULL),
    {NULL},
};

static int cmd_embed_run(int argc, char **argv)
{
    struct embed job = {0};
    int status;
    struct cli_option options[] = {
        CLI_STRING('o', "output", "FILE", &job.output,
                   "output file: an object (.o), compiled by $CC or cc, or C source (.c)"),
        CLI_FLAG('c', NULL, &job.each,
                 "one object per file, FILE.o in the working directory unless -o names it"),
        CLI_STRINGS('I', "include", "DIR", &job.folders,
                    "directory of include files, which are embedded, too; repeatable"),
        CLI_FLAG(0, "binary", &job.binary,
                 "also embed binaries for this machine's devices, which need no compilation there"),
        CLI_STRINGS(
            0, "device", "DEVICE", &job.device,
            "devices to compile for, repeatable: cpu, gpu, acc, part of a name, or a number of 'stdcl devices' (default: all)"),
        CLI_FLAG(0, "no-compile", &job.no_compile,
                 "no trial compilation, for kernels that need options of clbuild"),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "FILE.cl... -o FILE.o\n       stdcl embed -c [-I DIR] FILE.cl...",
        .about =
            "Puts kernel sources with their includes into an object file. A program linked with it carries its kernels, and clopen(context, NULL, flags) opens them. Each file is first compiled for the available devices, and rejected if it does not compile.",
        .examples = "  stdcl embed scale.cl sum.cl -o kernels.o\n"
                    "  cc main.c kernels.o -lstdcl -lOpenCL\n"
                    "  stdcl embed -c --binary scale.cl\n",
        .options = options,
        .combinations = embed_combinations,
        .operands = &job.file,
        .operands_min = 1,
        .operand = "the kernel file",
    };
    if (cli_parse(&usage, argc, argv, &status) &&
        (status = cli_combinations_check(&usage)) == CLI_DONE)
        status = embed_files(&job);
    cli_strings_free(&job.file);
    cli_strings_free(&job.folders);
    cli_strings_free(&job.device);
    return status;
}

const struct cli_command cmd_embed = {"embed", "put kernel sources into an object file",
                                      cmd_embed_run, CLI_RANKS_INDEPENDENT};
