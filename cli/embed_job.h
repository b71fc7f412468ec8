/* embed_job.h - what the parts of `stdcl embed` share.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_EMBED_JOB_H
#define STDCL_CLI_EMBED_JOB_H

#include "compile.h"

/* A kernel file as it is embedded, with all that it includes, and perhaps its binaries, one a kind
 * of device. */
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

/* All bytes of a file of any kind, a pipe as well, and a zero after them; the caller frees them.
 * NULL after a message. */
char *embed_read_file(const char *name, size_t *size);

/* Reads a kernel file; what it includes, in its own folder, in `folders` or in the working
 * directory, is put in its place. CLI_DONE, or a status after a message. */
int embed_read(const char *name, const struct cli_strings *folders, struct embed_source *source);

/* ---- embed_trial.c: does it compile here? ---- */

/* Compiles for each target; with `binary` also keeps what came out. */
int embed_compile(const struct compile_targets *targets, struct embed_source *source, bool binary);

/* ---- embed_object.c: the object file. ---- */

/* Writes an object, or C source when `file` ends in .c. */
int embed_write(const char *file, const struct embed_source *source, size_t n);

/* The name that a linker can be told to keep, by the output file's: "stdcl_embed_kernels" of
 * "lib/kernels.o". */
void embed_symbol(const char *file, char *symbol, size_t size);

/* Makes a temporary folder, for outfile_folder_remove, and writes its name. CLI_DONE, or CLI_FAILED
 * after a message. */
int embed_make_folder(char *folder, size_t size);

#endif
