/* check_kernels.c - `stdcl check FILE.cl...`: compile kernels, print the compilers' messages and
 * list the kernels.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "message.h"
#include "check_job.h"
#include "compile.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Format -D and -I for the compilers; the caller frees the text. */
static char *build_options(const struct check_files *job)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    for (size_t i = 0; fp && i < job->defines.n; i++)
        fprintf(fp, strchr(job->defines.item[i], ' ') ? " -D \"%s\"" : " -D %s",
                job->defines.item[i]);
    for (size_t i = 0; fp && i < job->folders.n; i++)
        fprintf(fp, strchr(job->folders.item[i], ' ') ? " -I \"%s\"" : " -I %s",
                job->folders.item[i]);
    if (fp)
        fclose(fp);
    return text;
}

/* ---- One file on one device. ----------------------------------------------------------------- */

/* True for a text file; the layer takes any other file for a binary. */
static bool is_text(const char *file)
{
    char bytes[65536];
    size_t n = 0;
    bool text = true;
    struct stat info;
    const bool regular =
        stat(file, &info) == 0 && S_ISREG(info.st_mode); /* reading a pipe would block */
    FILE *fp = regular ? fopen(file, "rb") : NULL;
    while (fp && text && (n = fread(bytes, 1, sizeof bytes, fp)) > 0)
        text = !memchr(bytes, 0, n);
    if (fp)
        fclose(fp);
    return text;
}

static void *compile_for(CLCONTEXT *context, const char *file, char *options)
{
    void *program = clopen(context, file, CLLD_NOBUILD);
    if (program && clbuild(context, program, options, 0) == 0)
        return program;
    if (program)
        clclose(context, program);
    return NULL;
}

static void print_warnings(const struct compile_target *target, void *program, const char *file)
{
    char *log = program_log(target->context, program, 0);
    if (!log)
        cli_warn("%s", cli_reason());
    else if (log[strspn(log, " \t\r\n")])
        cli_warn("%s compiles for %s with warnings:\n%s", file, target->device, log);
    free(log);
}

static int print_kernel(CLCONTEXT *context, void *program, const char *name)
{
    cl_kernel kernel = clsym(context, program, name, 0);
    clarg_info_t info;
    if (!kernel)
        return cli_failed_call(NULL);
    printf("  %s(", name);
    for (cl_uint i = 0; clarg_info(kernel, i, &info) == 0; i++)
        if (info.kind < 0)
            printf("%s?", i ? ", " : "");
        else
            printf("%s%s%s %s", i ? ", " : "", info.kind == STDCL_LOCAL ? "local " : "", info.type,
                   info.name);
    printf(")\n");
    return CLI_DONE;
}

static int print_kernels(const struct compile_target *target, void *program)
{
    char *names = program_kernels(target->context, program), *rest = names;
    if (!names)
        return cli_failed_call(NULL);
    int status = CLI_DONE;
    printf(*names ? ":\n" : "; no kernels\n");
    for (char *name; status == CLI_DONE && (name = strtok_r(rest, ";", &rest));)
        status = print_kernel(target->context, program, name);
    free(names);
    return status;
}

/* ---- The command. ---------------------------------------------------------------------------- */

/* Print each device's messages; if all compile, the kernels of the first device. */
static int check_kernel_file(const struct compile_targets *targets, const char *file, char *options,
                             bool quiet)
{
    void *first = NULL;
    int status = CLI_DONE;
    if (!is_text(file))
        return cli_failed("'%s' is not OpenCL C: it contains zero bytes", file);
    for (size_t i = 0; i < targets->n; i++) {
        void *program = compile_for(targets->item[i].context, file, options);
        if (program)
            print_warnings(&targets->item[i], program, file);
        else
            status = compile_failed();
        if (i == 0)
            first = program;
        else if (program)
            clclose(targets->item[i].context, program);
    }
    if (status == CLI_DONE && !quiet) {
        printf("%s compiles for ", file);
        for (size_t i = 0; i < targets->n; i++)
            printf("%s%s",
                   i == 0               ? ""
                   : i + 1 < targets->n ? ", "
                                        : " and ",
                   targets->item[i].device);
        status = print_kernels(&targets->item[0], first);
    }
    if (first)
        clclose(targets->item[0].context, first);
    return status;
}

int check_kernels(const struct check_files *job)
{
    struct compile_targets targets;
    int status = compile_targets_open(&job->device, true, &targets);
    char *options = build_options(job);
    if (!options)
        status = cli_failed("out of memory for the options");
    const bool ready = status == CLI_DONE;
    cli_interrupt_catch();
    for (size_t i = 0; ready && i < job->file.n && !cli_interrupted(); i++)
        if (check_kernel_file(&targets, job->file.item[i], options, job->quiet) != CLI_DONE)
            status = CLI_FAILED;
    free(options);
    compile_targets_close(&targets);
    return cli_interrupt_status(status);
}
