/* embed_trial.c - compile a kernel file before embedding it, and keep its binaries if requested.
 *
 * The trial runs in an empty directory, so that the kernel cannot depend on a file that happens
 * to be here.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "embed_job.h"

#include "core/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int embed_make_folder(char *folder, size_t size)
{
    static const char *const within[] = {"kernels.c", "kernels.o", "binary", NULL};
    return outfile_folder(folder, size, "embed", within) == 0 ? CLI_DONE : cli_failed_call(NULL);
}

static int keep_binary(const struct compile_target *target, void *program,
                       struct embed_source *source)
{
    struct embed_binary *b;
    if (clsave(target->context, program, 0, "binary") != 0)
        return cli_failed_call("getting the binary");
    source->binary = cli_realloc(source->binary, source->nbinary + 1, sizeof *source->binary);
    b = &source->binary[source->nbinary];
    snprintf(b->identity, sizeof b->identity, "%s", target->identity);
    b->data = (unsigned char *)embed_read_file("binary", &b->size);
    unlink("binary");
    source->nbinary += b->data != NULL;
    return b->data ? CLI_DONE : CLI_FAILED;
}

static int compile_on_target(const struct compile_target *target, struct embed_source *source,
                             bool binary)
{
    void *program =
        clopen_named(target->context, source->name, source->text, source->size, NULL, CLLD_NOW);
    if (!program)
        return compile_failed();
    const int status = binary ? keep_binary(target, program, source) : CLI_DONE;
    clclose(target->context, program);
    return status;
}

int embed_compile(const struct compile_targets *targets, struct embed_source *source, bool binary)
{
    char folder[3000];
    const int here = open(".", O_RDONLY | O_CLOEXEC);
    int status = embed_make_folder(folder, sizeof folder);
    if (status != CLI_DONE || here < 0 || chdir(folder) != 0)
        status = CLI_FAILED;
    for (size_t i = 0; i < targets->n && status == CLI_DONE; i++)
        status = compile_on_target(&targets->item[i], source, binary);
    if (here >= 0 && fchdir(here) != 0)
        status = cli_failed("cannot return to the working directory: %s", strerror(errno));
    if (here >= 0)
        close(here);
    outfile_folder_remove(folder);
    return status;
}
