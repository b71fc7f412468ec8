/* embedded.h - kernel files embedded in a library by stdcl_kernels() in its CMakeLists.txt. A file
 * of the same path below $STDCL_KERNEL_PATH replaces each of them.
 *
 *   EMBEDDED(direct, "nbody/force/direct.cl", nbody_force_direct_cl);
 *   void *program = embedded_open(ctx, "-D WIDTH=4", &direct, 0, NULL);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_EMBEDDED_H
#define STDCL_EMBEDDED_H

#include "stdcl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct embedded {
    const char *path; /* in this repository, and below $STDCL_KERNEL_PATH */
    const unsigned char *text;
    const unsigned long *size;
};

/* Declare a constant for the file: its path, and the path with _ for each character that C names
 * exclude. */
#define EMBEDDED(constant, path, symbol)                                                           \
    extern const unsigned char stdcl_kernel_##symbol[];                                            \
    extern const unsigned long stdcl_kernel_##symbol##_size;                                       \
    static const struct embedded constant = {path, stdcl_kernel_##symbol,                          \
                                             &stdcl_kernel_##symbol##_size}

/* Write the #line directive of the first line of a file. */
static inline void line_directive_write(FILE *fp, const char *name)
{
    fputs("#line 1 \"", fp);
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', fp);
        fputc(*c, fp);
    }
    fputs("\"\n", fp);
}

/* Write the text of a file that replaces an embedded one. 0, or -1 with clerror. */
static inline int embedded_write_file(FILE *fp, const char *path)
{
    char *text = NULL;
    size_t room = 0;
    FILE *own = fopen(path, "re");
    const ssize_t size = own ? getdelim(&text, &room, '\0', own) : -1;
    int status = 0;
    if (!own || (size < 0 && !feof(own)))
        status = clerror_set(errno, "%s: %s", path, strerror(errno));
    else if (size > 0 && text[size - 1] == '\0')
        status = clerror_set(EINVAL, "%s: not OpenCL C: the file contains a zero byte", path);
    else if (size > 0)
        fputs(strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text, fp); /* no byte order mark */
    free(text);
    if (own)
        fclose(own);
    return status;
}

/* Write a file that others depend on, after a #line directive. 0, or -1 with clerror. */
static inline int embedded_write(FILE *fp, const struct embedded *file)
{
    const char *folder = secure_getenv("STDCL_KERNEL_PATH");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", file->path);
    const bool replaced = folder && *folder && access(path, F_OK) == 0;
    int status = 0;
    line_directive_write(fp, replaced ? path : file->path);
    if (replaced)
        status = embedded_write_file(fp, path);
    else
        fwrite(file->text, 1, *file->size, fp);
    fputc('\n', fp);
    return status;
}

/* As clopen_named of `file` with these flags, preceded by `nfront` files that it depends on. */
static inline void *embedded_open_as(int flags, CLCONTEXT *ctx, const char *options,
                                     const struct embedded *file, size_t nfront,
                                     const struct embedded *const front[])
{
    char *before = NULL;
    size_t size;
    int status = 0;
    void *program = NULL;
    FILE *fp = open_memstream(&before, &size);
    if (fp)
        fprintf(fp, "%s\n", options);
    for (size_t i = 0; fp && status == 0 && i < nfront; i++)
        status = embedded_write(fp, front[i]);
    const bool whole = fp && !ferror(fp);
    if (!fp || fclose(fp) != 0 || !whole)
        clerror_set(ENOMEM, "%s: out of memory on the host for the text of the kernels",
                    file->path);
    else if (status == 0)
        program =
            clopen_named(ctx, file->path, (const char *)file->text, *file->size, before, flags);
    free(before);
    return program;
}

static inline void *embedded_open(CLCONTEXT *ctx, const char *options, const struct embedded *file,
                                  size_t nfront, const struct embedded *const front[])
{
    return embedded_open_as(CLLD_NOW, ctx, options, file, nfront, front);
}

#endif
