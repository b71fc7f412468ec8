/* embed_job.h - the parts of `stdcl embed`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_EMBED_JOB_H
#define STDCL_CLI_EMBED_JOB_H

#include "options.h"
#include "compile.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>

/* A kernel file with its includes, and optionally its binaries, one per kind of device. */
struct embed_binary {
    char identity[EMBEDDED_IDENTITY];
    unsigned char *data;
    size_t size;
};
struct embed_source {
    const char *name; /* as given; not owned */
    char *text;
    size_t size, nbinary;
    struct embed_binary *binary;
};
void embed_source_free(struct embed_source *source);

/* ---- embed_include.c: a file and what it includes. ---- */

/* Read a file of any kind, including a pipe, and append a zero byte. The caller frees the bytes.
 * NULL after a message. */
char *embed_read_file(const char *name, size_t *size);

/* Read a kernel file and expand its includes, which are searched beside the file, in `folders`
 * and in the working directory. CLI_DONE, or a status after a message. */
int embed_read(const char *name, const struct cli_strings *folders, struct embed_source *source);

/* ---- embed_trial.c: does it compile here? ---- */

/* Compile for each target; with `binary` keep the binaries. */
int embed_compile(const struct compile_targets *targets, struct embed_source *source, bool binary);

/* ---- embed_object.c: the object file. ---- */

/* Write an object file, or C source if `file` ends in .c. */
int embed_write(const char *file, const struct embed_source *source, size_t n);

/* Symbol that makes a linker keep the object, from the output file's name: "stdcl_embed_kernels"
 * for "lib/kernels.o". */
void embed_symbol(const char *file, char *symbol, size_t size);

/* Create a temporary directory, for outfile_folder_remove. CLI_DONE, or CLI_FAILED after a
 * message. */
int embed_make_folder(char *folder, size_t size);

#endif
