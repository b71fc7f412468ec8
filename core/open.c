/* open.c - clopen and its family, and clbuild: kernels from files, strings, memory and the
 * executable.
 * SPDX-License-Identifier: MIT
 */
#include "core/program.h"

#include <unistd.h>

/* True if the program gives a flag that is none, or one of the library's own. */
static bool bad_flags(int flags, const char *call)
{
    return loader_flags_check(flags, call) != 0;
}

/* As open_bytes, for a source that may be a template. */
static void *open_source_text(CLCONTEXT *cp, const char *name, const char *data, size_t size,
                              const char *options, int flags, const char *call)
{
    if (!source_is_template(name))
        return open_bytes(cp, name, data, size, options, flags, call);
    char *source = core_generator->generate(name, data, size);
    void *handle =
        source ? open_bytes(cp, name, source, strlen(source), options, flags, call) : NULL;
    free(source);
    return handle;
}

STDCL_API void *clopen(CLCONTEXT *cp, const char *file, int flags)
{
    size_t size;
    if (bad_flags(flags, "clopen"))
        return NULL;
    if (!file)
        return embedded_open_all(cp, flags, "clopen");
    char *data = read_file(file, &size, "clopen");
    void *handle = data && binary_file_check(data, size, file, "clopen") == 0
                       ? open_source_text(cp, file, data, size, NULL, flags, "clopen")
                       : NULL;
    free(data);
    return handle;
}

STDCL_API void *clsopen(CLCONTEXT *cp, const char *source, int flags)
{
    if (!source)
        return (void)fail(EINVAL, 0, "clsopen: the source is NULL"), NULL;
    if (bad_flags(flags, "clsopen"))
        return NULL;
    return open_bytes(cp, "source string", source, strlen(source), NULL, flags, "clsopen");
}

STDCL_API void *clload(CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (!ptr || size == 0)
        return (void)fail(EINVAL, 0, "clload: there are no bytes to load"), NULL;
    if (bad_flags(flags, "clload"))
        return NULL;
    return open_bytes(cp, "source in memory", ptr, size, NULL, flags, "clload");
}

STDCL_API void *clloadb(CLCONTEXT *cp, int n, char **bin, size_t *size, int flags)
{
    if (!bin || !size || n < 1 || !cp || (n > 1 && (cl_uint)n != cp->ndev))
        return (void)fail(EINVAL, 0,
                          "clloadb: %d binaries for %u devices; give one, or one a device", n,
                          clgetndev(cp)),
               NULL;
    if (bad_flags(flags, "clloadb"))
        return NULL;
    struct program *p = program_new(cp, 1, NULL, "clloadb");
    char **data = calloc((size_t)n, sizeof *data);
    size_t *sizes = calloc((size_t)n, sizeof *sizes);
    bool ok = p && data && sizes, sound = ok;
    for (int i = 0; i < n && sound; i++) {
        const char *bytes = bin[i];
        sizes[i] = size[i];
        sound = binary_unwrap(&bytes, &sizes[i], "binary in memory", "clloadb") == 0;
        data[i] = (char *)(uintptr_t)bytes;
    }
    if (sound) {
        p->nparts = 1;
        ok = part_of_binaries(p->part, "binary in memory", (size_t)n, data, sizes, cp->ndev);
    }
    free(data);
    free(sizes);
    if (sound || !ok)
        return p ? program_open(p, ok, flags, "clloadb") : NULL;
    program_free(p);
    return NULL;
}

const char *kernel_override(const char *name, char *path, size_t size)
{
    const char *folder = secure_getenv("STDCL_KERNEL_PATH");
    if (!folder || !*folder)
        return NULL;
    snprintf(path, size, "%s/%s", folder, name);
    return access(path, F_OK) == 0 ? path : NULL;
}

STDCL_API void *clopen_named(CLCONTEXT *cp, const char *name, const char *source, size_t size,
                             const char *options, int flags)
{
    char path[4096];
    if (!name || !source)
        return (void)fail(EINVAL, 0, "clopen_named: the name or the source is NULL"), NULL;
    if (bad_flags(flags, "clopen_named"))
        return NULL;
    flags |= CLLD_LIBRARY;
    if (!kernel_override(name, path, sizeof path))
        return open_source_text(cp, name, source, size, options, flags, "clopen_named");
    char *data = read_file(path, &size, "clopen_named");
    void *handle =
        data ? open_source_text(cp, path, data, size, options, flags, "clopen_named") : NULL;
    free(data);
    return handle;
}

STDCL_API int clbuild(CLCONTEXT *cp, void *handle, char *options, int flags)
{
    if (!handle && !cp)
        return fail(EINVAL, 0, "clbuild: the context is NULL");
    if (bad_flags(flags, "clbuild"))
        return -1;
    struct program *p =
        handle ? program_of(cp, handle, "clbuild") : embedded_of(cp, CLLD_NOBUILD, "clbuild");
    if (!p)
        return -1;
    int status;
    pthread_mutex_lock(&p->lock);
    if (p->built) {
        status = fail(EINVAL, 0, "clbuild: %s is already built; open it with CLLD_NOBUILD",
                      p->part[0].name);
    } else {
        free(p->options);
        p->options = options ? strdup(options) : NULL;
        status = options && !p->options ? fail(ENOMEM, 0, "clbuild: out of memory on the host")
                                        : program_build(p, "clbuild");
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}
