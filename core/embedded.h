/* embedded.h - kernel files embedded in a library by stdcl_kernels() in its CMakeLists.txt.
 *
 *   EMBEDDED(direct, "nbody/force/direct.cl", nbody_force_direct_cl);
 *   void *program = embedded_open(ctx, "-D WIDTH=4", &direct, 0, NULL);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_EMBEDDED_H
#define STDCL_EMBEDDED_H

#include "stdcl.h"

#include <stdio.h>
#include <stdlib.h>

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

/* As clopen_named of `file` with these flags, preceded by `nfront` files that it depends on, each
 * with a #line directive. */
static inline void *embedded_open_as(int flags, CLCONTEXT *ctx, const char *options,
                                     const struct embedded *file, size_t nfront,
                                     const struct embedded *const front[])
{
    char *before = NULL;
    size_t size;
    FILE *fp = open_memstream(&before, &size);
    int whole = fp && fprintf(fp, "%s\n", options) > 0;
    for (size_t i = 0; whole && i < nfront; i++)
        whole = fprintf(fp, "#line 1 \"%s\"\n", front[i]->path) > 0 &&
                fwrite(front[i]->text, 1, *front[i]->size, fp) == *front[i]->size &&
                fputc('\n', fp) == '\n';
    void *program = NULL;
    if (!fp || fclose(fp) != 0 || !whole)
        clerror_set(ENOMEM, "%s: out of memory on the host for the text of the kernels",
                    file->path);
    else
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
