/* symbols.c - kernels by name: clsym and clexec.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"

#include <assert.h>

/* The part of a built program that has the kernel. NULL if there is none (*failed false) or after
 * fail(). */
static struct part *part_with_kernel(const struct program *p, const char *name, bool *failed)
{
    for (size_t i = 0; i < p->nparts; i++) {
        cl_int err;
        cl_kernel probe = clCreateKernel(p->part[i].program[0], name, &err);
        if (probe) {
            clReleaseKernel(probe);
            return &p->part[i];
        }
        if (err != CL_INVALID_KERNEL_NAME) {
            *failed =
                fail(errno_of(err), err, "clsym: kernel %s of %s", name, p->part[i].name) != 0;
            return NULL;
        }
    }
    return NULL;
}

/* The kernel of this name in p. NULL if there is none (*failed false) or after fail(). A program
 * that waits for clbuild is a failure; with built_only it has no kernels. */
static struct kernel *find_kernel(struct program *p, const char *name, bool built_only,
                                  bool *failed)
{
    struct kernel *k = NULL;
    struct part *part;
    pthread_mutex_lock(&p->lock);
    if (!p->built && p->by_clbuild)
        *failed = !built_only && fail(EINVAL, 0, "clsym: %s is not built yet; call clbuild first",
                                      p->part[0].name) != 0;
    else
        *failed = !p->built && program_build(p, "clsym") != 0;
    if (!*failed && p->built) {
        for (k = p->kernels; k && strcmp(k->name, name) != 0; k = k->next)
            ;
        if (!k && (part = part_with_kernel(p, name, failed)) != NULL) {
            k = kernel_new(p, part, name);
            *failed = k == NULL;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return k;
}

/* The names of a part's kernels, separated by ';'; the caller frees them. NULL and *err on
 * failure. */
static char *kernel_names(const struct part *part, cl_int *err)
{
    size_t size = 0, kernels = 0;
    *err =
        clGetProgramInfo(part->program[0], CL_PROGRAM_NUM_KERNELS, sizeof kernels, &kernels, NULL);
    if (*err == CL_SUCCESS &&
        kernels > 0) /* without kernels, some drivers have no names to query */
        *err = clGetProgramInfo(part->program[0], CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);
    char *names = *err == CL_SUCCESS ? calloc(size + 1, 1) : NULL;
    if (*err == CL_SUCCESS && !names)
        *err = CL_OUT_OF_HOST_MEMORY;
    if (names && size)
        *err = clGetProgramInfo(part->program[0], CL_PROGRAM_KERNEL_NAMES, size, names, NULL);
    if (*err == CL_SUCCESS)
        return names;
    free(names);
    return NULL;
}

char *program_kernels(CLCONTEXT *cp, void *handle)
{
    struct program *p = program_of(cp, handle, "program_kernels");
    assert(p && p->built && p->nparts == 1);
    cl_int err;
    char *names = kernel_names(&p->part[0], &err);
    if (!names)
        fail(errno_of(err), err, "%s does not tell its kernels", p->part[0].name);
    return names;
}

char *program_log(CLCONTEXT *cp, void *handle, cl_uint dev)
{
    struct program *p = program_of(cp, handle, "program_log");
    assert(p && p->built && p->nparts == 1 && dev < cp->ndev);
    char *log = part_build_log(&p->part[0], cp->dev[dev].id, p->part[0].program[dev]);
    return log ? log
               : ((void)fail(ENOMEM, 0, "out of memory on the host for what the compiler says"),
                  NULL);
}

/* Set *has if `wanted` is among the names. */
static void print_names(FILE *fp, struct program *p, const char **separator, const char *wanted,
                        bool *has)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; p->built && i < p->nparts; i++) {
        cl_int err;
        char *names = kernel_names(&p->part[i], &err);
        for (char *save, *n = names ? strtok_r(names, ";", &save) : NULL; n;
             n = strtok_r(NULL, ";", &save)) {
            fprintf(fp, "%s%s", *separator, n);
            *separator = ", ";
            *has = *has || strcmp(n, wanted) == 0;
        }
        free(names);
    }
    pthread_mutex_unlock(&p->lock);
}

static void name_unknown(struct program **searched, size_t n, const char *name)
{
    char *text = NULL;
    size_t size = 0;
    const char *separator = "";
    bool has = false;
    FILE *fp = open_memstream(&text, &size);
    for (size_t i = 0; fp && i < n; i++)
        print_names(fp, searched[i], &separator, name, &has);
    if (fp)
        fclose(fp);
    if (has)
        fail(EIO, CL_INVALID_KERNEL_NAME,
             "clsym: kernel \"%s\" is in the program, and the driver does not make it", name);
    else
        fail(ENOENT, 0, "clsym: there is no kernel \"%s\"; there are: %s", name,
             text && *text ? text : "none");
    free(text);
}

/* Search programs in this order. NULL if there is no such kernel (*failed false) or after fail().
 */
static struct kernel *search_programs(struct program **programs, size_t n, const char *name,
                                      bool built_only, bool *failed)
{
    struct kernel *k = NULL;
    *failed = false;
    for (size_t i = 0; i < n && !k && !*failed; i++)
        k = find_kernel(programs[i], name, built_only, failed);
    return k;
}

/* Search all open programs. last: a missing kernel is a failure. */
static struct kernel *search_open_programs(CLCONTEXT *cp, const char *name, bool last, bool *failed)
{
    size_t n;
    struct program **all = program_retain_all(cp, &n, "clsym");
    *failed = !all;
    struct kernel *k = all ? search_programs(all, n, name, true, failed) : NULL;
    if (!k && !*failed && last && !search_programs(all, n, name, false, failed) && !*failed)
        name_unknown(all, n, name);
    for (size_t i = 0; all && i < n; i++)
        program_release(all[i]);
    free(all);
    return k;
}

/* Search the open programs, then the kernels embedded in the executable if those are not open yet.
 */
static struct kernel *search_open_and_embedded(CLCONTEXT *cp, const char *name)
{
    bool failed;
    const bool more = embedded_unopened(cp);
    struct kernel *k = search_open_programs(cp, name, !more, &failed);
    if (!k && !failed && more && embedded_of(cp, CLLD_NOW, "clsym"))
        k = search_open_programs(cp, name, true, &failed);
    return k;
}

static struct kernel *search_one(CLCONTEXT *cp, void *handle, const char *name)
{
    bool failed;
    struct program *p = program_of(cp, handle, "clsym");
    struct kernel *k = p ? search_programs(&p, 1, name, false, &failed) : NULL;
    if (p && !k && !failed)
        name_unknown(&p, 1, name);
    return k;
}

STDCL_API cl_kernel clsym(CLCONTEXT *cp, void *handle, const char *name, int flags)
{
    (void)flags;
    if (!cp || !name)
        return (void)fail(EINVAL, 0, "clsym: the %s is NULL", cp ? "name" : "context"), NULL;
    if (forked_child("clsym"))
        return NULL;
    struct kernel *k = handle ? search_one(cp, handle, name) : search_open_and_embedded(cp, name);
    return k ? k->on_device[0] : NULL;
}

STDCL_API cl_event clexecv(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, int flags,
                           const char *symbol, cl_uint nargs, const struct stdcl_arg *args)
{
    char name[256];
    struct device *d = device_of(cp, dev, "clexec");
    if (!d)
        return event_or_defer_error(cp, d, KERNEL_EVENT, CL_FAILED, flags);
    symbol = symbol ? symbol : "";
    symbol += strspn(symbol, "\" "); /* the macro may have quoted a quoted name */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(symbol, "\" "), symbol);
    cl_kernel krn = clsym(cp, NULL, name, 0);
    return krn ? kernel_launch(cp, dev, krn, ndr, flags, nargs, args, "clexec")
               : event_or_defer_error(cp, d, KERNEL_EVENT, CL_FAILED, flags);
}
