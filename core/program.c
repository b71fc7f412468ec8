/* program.c - programs: creation, the list of open programs, saving and closing.
 *
 * A program consists of one or more parts (translation units), each built for every device of its
 * context (build.c).
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"
#include "core/outfile.h"

void program_free(struct program *p)
{
    while (p->kernels) {
        struct kernel *k = p->kernels;
        p->kernels = k->next;
        kernel_remove(k);
        kernel_free(k);
    }
    for (size_t i = 0; i < p->nparts; i++)
        part_free(&p->part[i], p->cp->ndev);
    program_forget_refusal(p);
    pthread_mutex_destroy(&p->lock);
    free(p->part);
    free(p->options);
    free(p);
}

void program_retain(struct program *p)
{
    pthread_mutex_lock(&p->cp->lock);
    p->references++;
    pthread_mutex_unlock(&p->cp->lock);
}

void program_release(struct program *p)
{
    CLCONTEXT *cp = p->cp;
    pthread_mutex_lock(&cp->lock);
    bool last = --p->references == 0;
    pthread_mutex_unlock(&cp->lock);
    if (last)
        program_free(p);
}

struct program **program_retain_all(CLCONTEXT *cp, size_t *count, const char *call)
{
    size_t n = 0;
    pthread_mutex_lock(&cp->lock);
    for (struct program *p = cp->programs; p; p = p->next)
        n++;
    struct program **all = malloc((n + 1) * sizeof(*all));
    *count = 0;
    for (int library = 0; all && library < 2; library++)
        for (struct program *p = cp->programs; p; p = p->next)
            if (p->library == (library != 0)) {
                p->references++;
                all[(*count)++] = p;
            }
    pthread_mutex_unlock(&cp->lock);
    if (!all)
        fail(ENOMEM, 0, "%s: out of memory on the host", call);
    return all;
}

struct program *program_new(CLCONTEXT *cp, size_t nparts, const char *options, const char *call)
{
    if (!cp)
        return (void)fail_no_context(call), NULL;
    if (forked_child(call))
        return NULL;
    struct program *p = calloc(1, sizeof *p);
    if (p) {
        p->cp = cp;
        p->references = 1;
        p->part = calloc(nparts, sizeof *p->part);
        p->options = options ? strdup(options) : NULL;
        pthread_mutex_init(&p->lock, NULL);
        if (p->part && (!options || p->options))
            return p;
        program_free(p);
    }
    return (void)fail(ENOMEM, 0, "%s: out of memory on the host", call), NULL;
}

void *program_open(struct program *p, bool complete, int flags, const char *call)
{
    if (!complete)
        fail(ENOMEM, 0, "%s: out of memory on the host", call);
    if (!complete || (!(flags & (CLLD_LAZY | CLLD_NOBUILD)) && program_build(p, call) != 0)) {
        program_free(p);
        return NULL;
    }
    p->by_clbuild = flags & CLLD_NOBUILD;
    p->library = flags & CLLD_LIBRARY;
    pthread_mutex_lock(&p->cp->lock);
    p->next = p->cp->programs;
    p->cp->programs = p;
    pthread_mutex_unlock(&p->cp->lock);
    return p;
}

void *open_bytes(CLCONTEXT *cp, const char *name, const char *data, size_t size,
                 const char *options, int flags, const char *call)
{
    struct program *p = program_new(cp, 1, options, call);
    if (!p)
        return NULL;
    p->nparts = 1;
    char *before = p->options ? strchr(p->options, '\n')
                              : NULL; /* further lines are source text, not options */
    if (before)
        *before++ = 0;
    const bool spirv = spirv_begins(data, size), binary = spirv || is_binary(data, size);
    const int status = spirv    ? spirv_check(data, size, name, call)
                       : binary ? binary_unwrap(&data, &size, name, call)
                                : 0;
    if (status != 0) {
        program_free(p);
        return NULL;
    }
    bool ok = binary ? part_of_binaries(p->part, name, 1, &(char *){(char *)(uintptr_t)data}, &size,
                                        cp->ndev)
                     : part_of_source(p->part, name, before ? before : "", data, size, cp->ndev);
    p->part->keep = flags & CLLD_CACHE;
    p->part->spirv = spirv;
    return program_open(p, ok, flags, call);
}

bool source_is_template(const char *name)
{
    return core_generator && core_generator->knows(name);
}

/* ---- What can be done with a handle. ---- */

struct program *program_of(CLCONTEXT *cp, const void *handle, const char *call)
{
    struct program *p = NULL;
    if (!cp) {
        fail_no_context(call);
        return NULL;
    }
    if (forked_child(call))
        return NULL;
    pthread_mutex_lock(&cp->lock);
    for (p = cp->programs; p && p != handle; p = p->next)
        ;
    pthread_mutex_unlock(&cp->lock);
    if (!p)
        fail(EINVAL, 0, "%s: the handle %p is not an open program of this context", call, handle);
    return p;
}

static int program_write_file(const char *file, const unsigned char *data, size_t size)
{
    struct outfile out;
    unsigned char header[BINARY_HEADER];
    int status = outfile_open(&out, file);
    binary_header_make(header, data, size);
    if (status == 0) {
        out.nosync = true; /* a lost file can be compiled again */
        fwrite(header, 1, sizeof header, out.fp);
        fwrite(data, 1, size, out.fp);
        status = outfile_commit(&out);
    }
    return status == 0 ? 0 : fail(clerrno, 0, "clsave: %s", clerror_text());
}

STDCL_API int clsave(CLCONTEXT *cp, void *handle, cl_uint dev, const char *file)
{
    struct program *p = program_of(cp, handle, "clsave");
    if (!p || !device_of(cp, dev, "clsave"))
        return -1;
    if (!file)
        return fail(EINVAL, 0, "clsave: the file name is NULL");
    if (!p->built || p->nparts != 1)
        return fail(EINVAL, 0, "clsave: %s",
                    p->built ? "embedded programs have one binary each; open them one "
                               "by one"
                             : "the program is not built yet");
    size_t size = 0;
    cl_int err;
    unsigned char *binary = binary_of(p->part[0].program[dev], &size, &err);
    int status = binary ? program_write_file(file, binary, size)
                        : fail(err ? errno_of(err) : ENOTSUP, err,
                               "clsave: the platform gives no binary of %s", p->part[0].name);
    free(binary);
    return status;
}

STDCL_API int clclose(CLCONTEXT *cp, void *handle)
{
    struct program *p = program_of(cp, handle, "clclose");
    if (!p)
        return -1;
    for (cl_uint i = 0; i < cp->ndev; i++)
        device_drain(&cp->dev[i]);
    pthread_mutex_lock(&cp->lock);
    struct program **link = &cp->programs;
    while (*link && *link != p)
        link = &(*link)->next;
    if (*link)
        *link = p->next;
    if (cp->embedded == p)
        cp->embedded = NULL;
    pthread_mutex_unlock(&cp->lock);
    program_release(p);
    return 0;
}
