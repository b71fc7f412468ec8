/* symbols.c - kernels by name: clsym and clexec.
 * SPDX-License-Identifier: MIT
 */
#include "core/kernel.h"
#include "core/recording.h"

#include <assert.h>

/* A search for a kernel by name. */
struct search {
    const char *name, *call;
    bool failed;             /* the search has ended after fail() */
    struct program *unbuilt; /* first program that could not be searched, or NULL */
};

/* The part of a built program that has the kernel. NULL if there is none, or after fail(). */
static struct part *part_with_kernel(const struct program *p, struct search *s)
{
    for (size_t i = 0; i < p->nparts; i++) {
        cl_int err;
        cl_kernel probe = clCreateKernel(p->part[i].program[0], s->name, &err);
        if (probe) {
            clReleaseKernel(probe);
            return &p->part[i];
        }
        if (err != CL_INVALID_KERNEL_NAME) {
            s->failed = fail(errno_of(err), err, "%s: kernel %s of %s", s->call, s->name,
                             p->part[i].name) != 0;
            return NULL;
        }
    }
    return NULL;
}

/* The kernel in a built program. NULL if there is none, or after fail(). */
static struct kernel *kernel_in(struct program *p, struct search *s)
{
    struct kernel *k = p->kernels;
    while (k && strcmp(k->name, s->name) != 0)
        k = k->next;
    const struct part *part = k ? NULL : part_with_kernel(p, s);
    if (!part)
        return k;
    k = kernel_new(p, part, s->name, s->call);
    s->failed = k == NULL;
    return k;
}

/* The kernel in p, which is built first if it is lazy. NULL if there is none, if p is not built, or
 * after fail(). */
static struct kernel *find_kernel(struct program *p, struct search *s)
{
    struct kernel *k = NULL;
    pthread_mutex_lock(&p->lock);
    if (!p->by_clbuild)
        s->failed = program_build_once(p, s->call) != 0;
    if (p->built)
        k = kernel_in(p, s);
    else if (!s->unbuilt)
        s->unbuilt = p;
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

static void name_unknown(struct program **searched, size_t n, const struct search *s)
{
    char *text = NULL;
    size_t size = 0;
    const char *separator = "";
    bool has = false;
    const char *cause = failure_to_open();
    if (cause && strncmp(cause, "clsym", 5) == 0)
        cause = NULL; /* repeated calls must not build a chain of messages */
    FILE *fp = open_memstream(&text, &size);
    for (size_t i = 0; fp && i < n; i++)
        print_names(fp, searched[i], &separator, s->name, &has);
    if (fp)
        fclose(fp);
    if (has)
        fail(EIO, CL_INVALID_KERNEL_NAME,
             "%s: kernel \"%s\" is in the program, and the driver does not make it", s->call,
             s->name);
    else
        fail(ENOENT, 0, "%s: there is no kernel \"%s\"%s; there are: %s%s%s", s->call, s->name,
             strcmp(s->call, "clexec") == 0
                 ? " (clexec takes a kernel's name; for a cl_kernel use clforka)"
                 : "",
             text && *text ? text : "none", cause ? "; before, " : "", cause ? cause : "");
    free(text);
}

/* The kernel may be in a program that is not built. */
static void fail_unbuilt(const struct search *s)
{
    struct program *p = s->unbuilt;
    pthread_mutex_lock(&p->lock);
    if (p->refusal.code != 0) {
        fail(p->refusal.code, 0, "%s: no built program has a kernel \"%s\", and %s", s->call,
             s->name, p->refusal.text ? p->refusal.text : p->part[0].name);
        oclerrno = p->refusal.ocl;
    } else {
        fail(EINVAL, 0, "%s: %s is not built yet; call clbuild first", s->call, p->part[0].name);
    }
    pthread_mutex_unlock(&p->lock);
}

/* Search programs in this order. last: a missing kernel is a failure. NULL if there is no such
 * kernel, or after fail(). */
static struct kernel *search_programs(struct program **programs, size_t n, bool last,
                                      struct search *s)
{
    struct kernel *k = NULL;
    s->unbuilt = NULL;
    for (size_t i = 0; i < n && !k && !s->failed; i++)
        k = find_kernel(programs[i], s);
    if (k || s->failed || !last)
        return k;
    if (s->unbuilt)
        fail_unbuilt(s);
    else
        name_unknown(programs, n, s);
    return NULL;
}

static struct kernel *search_open_programs(CLCONTEXT *cp, bool last, struct search *s)
{
    size_t n;
    struct program **all = program_retain_all(cp, &n, s->call);
    s->failed = !all;
    struct kernel *k = all ? search_programs(all, n, last, s) : NULL;
    for (size_t i = 0; all && i < n; i++)
        program_release(all[i]);
    free(all);
    return k;
}

/* Search the open programs, then the kernels embedded in the executable if those are not open yet.
 */
static struct kernel *search_open_and_embedded(CLCONTEXT *cp, struct search *s)
{
    const bool more = embedded_unopened(cp);
    struct kernel *k = search_open_programs(cp, !more, s);
    if (!k && !s->failed && more && embedded_of(cp, CLLD_NOW, s->call))
        k = search_open_programs(cp, true, s);
    return k;
}

static struct kernel *search_one(CLCONTEXT *cp, void *handle, struct search *s)
{
    struct program *p = program_of(cp, handle, s->call);
    return p ? search_programs(&p, 1, true, s) : NULL;
}

/* As clsym; messages name `call`. */
static cl_kernel kernel_by_name(CLCONTEXT *cp, void *handle, const char *name, const char *call)
{
    struct search s = {.name = name, .call = call};
    if (!cp || !name)
        return (void)fail(EINVAL, 0, "%s: the %s is NULL", call, cp ? "name" : "context"), NULL;
    if (forked_child(call))
        return NULL;
    struct kernel *k = handle ? search_one(cp, handle, &s) : search_open_and_embedded(cp, &s);
    return k ? k->on_device[0] : NULL;
}

STDCL_API cl_kernel clsym(CLCONTEXT *cp, void *handle, const char *name, int flags)
{
    if (loader_flags_check(flags, "clsym") != 0)
        return NULL;
    return kernel_by_name(cp, handle, name, "clsym");
}

/* The result of a launch after the search for its kernel has failed. */
static cl_event launch_of_none(CLCONTEXT *cp, struct device *d, int flags)
{
    struct recording *r = recording_of(d);
    return r ? recording_result(r, -1)
             : event_or_defer_error(cp, d, KERNEL_EVENT, CL_FAILED, flags);
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
    cl_kernel krn = kernel_by_name(cp, NULL, name, "clexec");
    return krn ? kernel_launch(cp, dev, krn, ndr, flags, nargs, args, "clexec")
               : launch_of_none(cp, d, flags);
}
