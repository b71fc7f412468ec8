/* program.c - loading and building programs, and finding kernels in them.
 *
 * A program is one or more parts (translation units), each built for every device of its context. Sources
 * start with a #line directive, so that a compiler's messages name the file and line that the user wrote.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"
#include "core/outfile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Parts. ---- */

static void part_free(struct part *p, cl_uint ndev)
{
    for (cl_uint i = 0; p->program && i < ndev; i++)
        if (p->program[i])
            clReleaseProgram(p->program[i]);
    for (size_t i = 0; p->binary && i < p->nbinary; i++)
        free(p->binary[i]);
    free(p->binary);
    free(p->binary_size);
    free(p->program);
    free(p->source);
    free(p->name);
}

/* A binary holds zero bytes, or is the assembly that NVIDIA's driver gives out. */
static bool is_binary(const char *data, size_t size)
{
    if (memchr(data, 0, size))
        return true;
    const char *version = memmem(data, size, "\n.version ", 10);
    return version && memmem(version, size - (size_t)(version - data), "\n.target ", 9);
}

/* The source behind `before` and a line that names it. */
static char *with_line(const char *name, const char *before, const char *source, size_t size)
{
    char *text = NULL;
    size_t length = 0;
    FILE *fp = open_memstream(&text, &length);
    if (!fp)
        return NULL;
    fputs(before, fp);
    fputs("#line 1 \"", fp);
    for (const char *c = name; *c; c++) {
        if (*c == '"' || *c == '\\')
            fputc('\\', fp);
        fputc(*c, fp);
    }
    fputs("\"\n", fp);
    fwrite(source, 1, size, fp);
    fputc('\n', fp);
    fclose(fp);
    return text;
}

static bool part_of_source(struct part *p, const char *name, const char *before, const char *source, size_t size,
                           cl_uint ndev)
{
    p->name = strdup(name);
    p->source = with_line(name, before, source, size);
    p->program = calloc(ndev, sizeof(*p->program));
    return p->name && p->source && p->program;
}

static bool part_of_binaries(struct part *p, const char *name, size_t n, char **bin, const size_t *size,
                             cl_uint ndev)
{
    p->name = strdup(name);
    p->program = calloc(ndev, sizeof(*p->program));
    p->binary = calloc(n, sizeof *p->binary);
    p->binary_size = calloc(n, sizeof *p->binary_size);
    if (!p->name || !p->program || !p->binary || !p->binary_size)
        return false;
    for (p->nbinary = 0; p->nbinary < n; p->nbinary++) {
        size_t i = p->nbinary;
        p->binary[i] = malloc(size[i] ? size[i] : 1);
        if (!p->binary[i])
            return false;
        memcpy(p->binary[i], bin[i], size[i]);
        p->binary_size[i] = size[i];
    }
    return true;
}

/* ---- Building. ---- */

/* The options every program gets, then the caller's; the caller frees them. */
static char *all_options(const struct device *d, const struct part *p, bool argument_info, const char *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *fp = open_memstream(&text, &size);
    if (!fp)
        return NULL;
    const char *include = include_folder();
    fputs(argument_info ? "-cl-kernel-arg-info -D __STDCL__ " : "-D __STDCL__ ", fp);
    fputs(d->type & CL_DEVICE_TYPE_CPU ? "-D __CPU__" : d->type & CL_DEVICE_TYPE_GPU ? "-D __GPU__" : "", fp);
    if (d->number)
        fprintf(fp, " -D STDCL_DEVICE=%u", d->number);
    const char *slash = strrchr(p->name, '/');
    if (slash && access(p->name, R_OK) == 0)
        fprintf(fp, strchr(p->name, ' ') ? " -I \"%.*s\"" : " -I %.*s", (int)(slash - p->name + 1), p->name);
    if (*include)
        fprintf(fp, strchr(include, ' ') ? " -I \"%s\"" : " -I %s", include);
    fprintf(fp, " -I. %s", options ? options : "");
    fclose(fp);
    return text;
}

static int build_failed(const struct part *p, const struct device *d, cl_program program, cl_int err,
                        const char *call)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(size + 1, 1);
    if (log && size)
        clGetProgramBuildInfo(program, d->id, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    char *translated = log ? translate_log(log, p->source) : NULL;
    fail(ENOEXEC, 0, "%s: %s does not build for %s (%s)\n%s", call, p->name, d->name, oclerror_str(err),
         translated ? translated : "");
    oclerrno = err;
    free(translated);
    free(log);
    return -1;
}

static cl_program create(const struct part *p, const struct device *d, cl_uint dev, cl_int *err)
{
    if (p->source) {
        const char *source = p->source;
        return clCreateProgramWithSource(d->context, 1, &source, NULL, err);
    }
    size_t which = p->nbinary > 1 ? dev : 0;
    const unsigned char *binary = p->binary[which];
    cl_int status;
    return clCreateProgramWithBinary(d->context, 1, &d->id, &p->binary_size[which], &binary, &status, err);
}

static int try_build(struct part *p, struct device *d, cl_uint dev, bool argument_info, const char *options,
                     const char *call)
{
    cl_int err;
    p->program[dev] = create(p, d, dev, &err);
    if (!p->program[dev])
        return fail(p->source ? errno_of(err) : ENOEXEC, err, "%s: %s cannot be loaded for %s", call, p->name,
                    d->name);
    char *all = all_options(d, p, argument_info, options);
    if (!all)
        return fail(ENOMEM, 0, "%s: no memory on the host", call);
    err = clBuildProgram(p->program[dev], 1, &d->id, all, NULL, NULL);
    free(all);
    return err ? build_failed(p, d, p->program[dev], err, call) : 0;
}

/* Argument types are learnt from sources. NVIDIA's compiler makes wrong assembly of that when a kernel has no
 * arguments (driver 580), so a failing source gets a second try without; declared.c then stands in. That the first
 * try failed is nothing to the caller. */
static int build_part(struct part *p, struct device *d, cl_uint dev, const char *options, const char *call)
{
    struct failure before;
    failure_set_aside(&before);
    int status = try_build(p, d, dev, p->source != NULL, options, call);
    const bool again = status != 0 && p->source && p->program[dev] && strcasestr(clerror_text(), "ptxas");
    if (status == 0 || again)
        failure_restore(&before);
    else
        failure_forget(&before);
    if (!again)
        return status;
    clReleaseProgram(p->program[dev]);
    return try_build(p, d, dev, false, options, call);
}

static void unbuild(struct program *p)
{
    for (size_t i = 0; i < p->nparts; i++)
        for (cl_uint dev = 0; dev < p->cp->ndev; dev++)
            if (p->part[i].program[dev]) {
                clReleaseProgram(p->part[i].program[dev]);
                p->part[i].program[dev] = NULL;
            }
}

/* p->lock is held. */
static int build(struct program *p, const char *call)
{
    for (size_t i = 0; i < p->nparts; i++)
        for (cl_uint dev = 0; dev < p->cp->ndev; dev++)
            if (build_part(&p->part[i], &p->cp->dev[dev], dev, p->options, call) != 0) {
                unbuild(p);
                return -1;
            }
    p->built = true;
    return 0;
}

/* ---- Opening. ---- */

static void program_free(struct program *p)
{
    while (p->kernels) {
        struct kernel *k = p->kernels;
        p->kernels = k->next;
        kernel_remove(k);
        kernel_free(k);
    }
    for (size_t i = 0; i < p->nparts; i++)
        part_free(&p->part[i], p->cp->ndev);
    pthread_mutex_destroy(&p->lock);
    free(p->part);
    free(p->options);
    free(p);
}

/* Gives up one hold; the last one frees the program. */
static void let_go(struct program *p)
{
    CLCONTEXT *cp = p->cp;
    pthread_mutex_lock(&cp->lock);
    bool last = --p->holders == 0;
    pthread_mutex_unlock(&cp->lock);
    if (last)
        program_free(p);
}

/* All open programs, newest first, each held; NULL after fail(). The caller lets go of each and frees the
 * array. */
static struct program **hold_all(CLCONTEXT *cp, size_t *count, const char *call)
{
    size_t n = 0;
    pthread_mutex_lock(&cp->lock);
    for (struct program *p = cp->programs; p; p = p->next)
        n++;
    struct program **all = malloc((n + 1) * sizeof(*all));
    *count = 0;
    for (struct program *p = cp->programs; all && p; p = p->next) {
        p->holders++;
        all[(*count)++] = p;
    }
    pthread_mutex_unlock(&cp->lock);
    if (!all)
        fail(ENOMEM, 0, "%s: no memory on the host", call);
    return all;
}

/* A program with room for n parts, not yet listed; NULL after fail(). */
static struct program *program_new(CLCONTEXT *cp, size_t nparts, const char *options, const char *call)
{
    if (!cp)
        return (void)fail(EINVAL, 0, "%s: the context is NULL (no such device on this machine?)", call), NULL;
    struct program *p = calloc(1, sizeof *p);
    if (p) {
        p->cp = cp;
        p->holders = 1;
        p->part = calloc(nparts, sizeof *p->part);
        p->options = options ? strdup(options) : NULL;
        pthread_mutex_init(&p->lock, NULL);
        if (p->part && (!options || p->options))
            return p;
        program_free(p);
    }
    return (void)fail(ENOMEM, 0, "%s: no memory on the host", call), NULL;
}

/* Builds unless the flags put that off, and lists the program as the newest. Takes p over. */
static void *program_open(struct program *p, bool complete, int flags, const char *call)
{
    if (!complete)
        fail(ENOMEM, 0, "%s: no memory on the host", call);
    if (!complete || (!(flags & (CLLD_LAZY | CLLD_NOBUILD)) && build(p, call) != 0)) {
        program_free(p);
        return NULL;
    }
    p->by_clbuild = flags & CLLD_NOBUILD;
    pthread_mutex_lock(&p->cp->lock);
    p->next = p->cp->programs;
    p->cp->programs = p;
    pthread_mutex_unlock(&p->cp->lock);
    return p;
}

void *open_bytes(CLCONTEXT *cp, const char *name, const char *data, size_t size, const char *options, int flags,
                 const char *call)
{
    struct program *p = program_new(cp, 1, options, call);
    if (!p)
        return NULL;
    p->nparts = 1;
    char *before = p->options ? strchr(p->options, '\n') : NULL; /* lines that are no options: source text */
    if (before)
        *before++ = 0;
    bool ok = is_binary(data, size)
                  ? part_of_binaries(p->part, name, 1, &(char *){(char *)(uintptr_t)data}, &size, cp->ndev)
                  : part_of_source(p->part, name, before ? before : "", data, size, cp->ndev);
    return program_open(p, ok, flags, call);
}

static bool is_generated(const char *name)
{
    return core_generator && core_generator->knows(name);
}

/* As open_bytes, of what may have to be generated first. */
static void *open_source(CLCONTEXT *cp, const char *name, const char *data, size_t size, const char *options, int flags,
                         const char *call)
{
    if (!is_generated(name))
        return open_bytes(cp, name, data, size, options, flags, call);
    char *source = core_generator->generate(name, data, size);
    void *handle = source ? open_bytes(cp, name, source, strlen(source), options, flags, call) : NULL;
    free(source);
    return handle;
}

char *read_file(const char *file, size_t *size, const char *call)
{
    struct stat st;
    char *data = NULL;
    int fd = open(file, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        fail(errno, 0, "%s: %s: %s", call, file, strerror(errno));
    } else if (!S_ISREG(st.st_mode)) {
        fail(EINVAL, 0, "%s: %s is not a regular file", call, file);
    } else if (!(data = malloc((size_t)st.st_size + 1))) {
        fail(ENOMEM, 0, "%s: %s: no memory for its %lld bytes", call, file, (long long)st.st_size);
    } else {
        ssize_t n = 1;
        for (*size = 0; n > 0 && *size < (size_t)st.st_size; *size += n > 0 ? (size_t)n : 0)
            do
                n = read(fd, data + *size, (size_t)st.st_size - *size);
            while (n < 0 && errno == EINTR);
        if (n < 0) {
            fail(errno, 0, "%s: %s: %s", call, file, strerror(errno));
            free(data);
            data = NULL;
        }
    }
    if (fd >= 0)
        close(fd);
    return data;
}

/* ---- Kernels embedded in the executable. ---- */

static struct stdcl_embedded *embedded; /* oldest first */
static pthread_mutex_t embedded_lock = PTHREAD_MUTEX_INITIALIZER;

STDCL_API void stdcl_embed_register(struct stdcl_embedded *source)
{
    pthread_mutex_lock(&embedded_lock);
    struct stdcl_embedded **end = &embedded;
    while (*end)
        end = &(*end)->next;
    source->next = NULL;
    *end = source;
    pthread_mutex_unlock(&embedded_lock);
}

static void *open_embedded(CLCONTEXT *cp, int flags, const char *call)
{
    size_t n = 0;
    pthread_mutex_lock(&embedded_lock);
    struct stdcl_embedded *first = embedded;
    for (struct stdcl_embedded *e = first; e; e = e->next)
        n++;
    pthread_mutex_unlock(&embedded_lock);
    if (n == 0)
        return (void)fail(ENOENT, 0, "%s: no kernels are embedded in this program (see `stdcl embed`)", call),
               NULL;
    struct program *p = program_new(cp, n, NULL, call);
    if (!p)
        return NULL;
    bool ok = true;
    for (struct stdcl_embedded *e = first; p->nparts < n && ok; e = e->next) {
        const char *source = (const char *)e->data;
        char *generated = NULL;
        if (is_generated(e->name) && !(generated = core_generator->generate(e->name, source, e->size))) {
            program_free(p);
            return NULL;
        }
        ok = part_of_source(&p->part[p->nparts++], e->name, "", generated ? generated : source,
                            generated ? strlen(generated) : e->size, cp->ndev);
        free(generated);
    }
    return program_open(p, ok, flags, call);
}

/* ---- The public openings. ---- */

STDCL_API void *clopen(CLCONTEXT *cp, const char *file, int flags)
{
    size_t size;
    if (!file)
        return open_embedded(cp, flags, "clopen");
    char *data = read_file(file, &size, "clopen");
    void *handle = data ? open_source(cp, file, data, size, NULL, flags, "clopen") : NULL;
    free(data);
    return handle;
}

STDCL_API void *clsopen(CLCONTEXT *cp, const char *source, int flags)
{
    if (!source)
        return (void)fail(EINVAL, 0, "clsopen: the source is NULL"), NULL;
    return open_bytes(cp, "source string", source, strlen(source), NULL, flags, "clsopen");
}

STDCL_API void *clload(CLCONTEXT *cp, void *ptr, size_t size, int flags)
{
    if (!ptr || size == 0)
        return (void)fail(EINVAL, 0, "clload: there are no bytes to load"), NULL;
    return open_bytes(cp, "source in memory", ptr, size, NULL, flags, "clload");
}

STDCL_API void *clloadb(CLCONTEXT *cp, int n, char **bin, size_t *size, int flags)
{
    if (!bin || !size || n < 1 || !cp || (n > 1 && (cl_uint)n != cp->ndev))
        return (void)fail(EINVAL, 0, "clloadb: %d binaries for %u devices; give one, or one a device", n,
                          clgetndev(cp)), NULL;
    struct program *p = program_new(cp, 1, NULL, "clloadb");
    if (!p)
        return NULL;
    p->nparts = 1;
    bool ok = part_of_binaries(p->part, "binary in memory", (size_t)n, bin, size, cp->ndev);
    return program_open(p, ok, flags, "clloadb");
}

const char *kernel_override(const char *name, char *path, size_t size)
{
    const char *folder = getenv("STDCL_KERNEL_PATH");
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
    if (!kernel_override(name, path, sizeof path))
        return open_source(cp, name, source, size, options, flags, "clopen_named");
    char *data = read_file(path, &size, "clopen_named");
    void *handle = data ? open_source(cp, path, data, size, options, flags, "clopen_named") : NULL;
    free(data);
    return handle;
}

/* ---- What can be done with a handle. ---- */

/* The program behind a handle, if it is open in cp; else NULL after fail(). */
static struct program *program_of(CLCONTEXT *cp, const void *handle, const char *call)
{
    struct program *p = NULL;
    if (!cp) {
        fail(EINVAL, 0, "%s: the context is NULL", call);
        return NULL;
    }
    pthread_mutex_lock(&cp->lock);
    for (p = cp->programs; p && p != handle; p = p->next)
        ;
    pthread_mutex_unlock(&cp->lock);
    if (!p)
        fail(EINVAL, 0, "%s: the handle %p is not an open program of this context", call, handle);
    return p;
}

STDCL_API int clbuild(CLCONTEXT *cp, void *handle, char *options, int flags)
{
    (void)flags;
    struct program *p = program_of(cp, handle, "clbuild");
    if (!p)
        return -1;
    int status;
    pthread_mutex_lock(&p->lock);
    if (p->built) {
        status = fail(EINVAL, 0, "clbuild: %s is already built; open it with CLLD_NOBUILD", p->part[0].name);
    } else {
        free(p->options);
        p->options = options ? strdup(options) : NULL;
        status = options && !p->options ? fail(ENOMEM, 0, "clbuild: no memory on the host") : build(p, "clbuild");
    }
    pthread_mutex_unlock(&p->lock);
    return status;
}

/* The binary of a part for its one device; the caller frees it. NULL after fail(). */
static unsigned char *binary_of(const struct part *part, cl_uint dev, size_t *size)
{
    unsigned char *binary = NULL;
    cl_int err = clGetProgramInfo(part->program[dev], CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL);
    if (err == CL_SUCCESS && (binary = malloc(*size ? *size : 1)) != NULL)
        err = clGetProgramInfo(part->program[dev], CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    if (binary && err == CL_SUCCESS && *size)
        return binary;
    free(binary);
    fail(err ? errno_of(err) : ENOTSUP, err, "clsave: the platform gives no binary of %s", part->name);
    return NULL;
}

static int write_file(const char *file, const unsigned char *data, size_t size)
{
    struct outfile out;
    int status = outfile_open(&out, file);
    if (status == 0) {
        out.nosync = true; /* it can be compiled again */
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
        return fail(EINVAL, 0, "clsave: %s", p->built ? "embedded programs have one binary each; open them one "
                    "by one" : "the program is not built yet");
    size_t size = 0;
    unsigned char *binary = binary_of(&p->part[0], dev, &size);
    int status = binary ? write_file(file, binary, size) : -1;
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
    let_go(p);
    return 0;
}

/* ---- Kernels. ---- */

/* The part that has a kernel of this name, or NULL; p is built. */
static struct part *part_with(const struct program *p, const char *name)
{
    for (size_t i = 0; i < p->nparts; i++) {
        cl_int err;
        cl_kernel probe = clCreateKernel(p->part[i].program[0], name, &err);
        if (probe) {
            clReleaseKernel(probe);
            return &p->part[i];
        }
    }
    return NULL;
}

static bool kernel_allocate(struct kernel *k, const char *name, cl_uint ndev)
{
    k->name = strdup(name);
    k->on_device = calloc(ndev, sizeof(*k->on_device));
    k->bound = calloc(ndev, sizeof *k->bound);
    return k->name && k->on_device && k->bound;
}

static cl_int kernel_create(struct kernel *k, const struct part *part, cl_uint ndev)
{
    cl_int err = CL_SUCCESS;
    for (cl_uint i = 0; i < ndev && err == CL_SUCCESS; i++)
        k->on_device[i] = clCreateKernel(part->program[i], k->name, &err);
    if (err == CL_SUCCESS)
        err = clGetKernelInfo(k->on_device[0], CL_KERNEL_NUM_ARGS, sizeof k->nargs, &k->nargs, NULL);
    if (err != CL_SUCCESS)
        return err;
    k->args = calloc(k->nargs + 1, sizeof *k->args);
    k->parameters = calloc(k->nargs + 1, sizeof *k->parameters);
    for (cl_uint i = 0; i < ndev; i++) {
        k->bound[i] = calloc(k->nargs + 1, sizeof **k->bound);
        if (!k->bound[i] || !k->args || !k->parameters)
            return CL_OUT_OF_HOST_MEMORY;
    }
    learn_parameters(k, part);
    return CL_SUCCESS;
}

/* p->lock is held. */
static struct kernel *kernel_new(struct program *p, const struct part *part, const char *name)
{
    cl_int err = CL_OUT_OF_HOST_MEMORY;
    struct kernel *k = calloc(1, sizeof *k);
    if (k) {
        k->program = p;
        pthread_mutex_init(&k->lock, NULL);
        if (kernel_allocate(k, name, p->cp->ndev))
            err = kernel_create(k, part, p->cp->ndev);
        if (err == CL_SUCCESS && kernel_enter(k) == 0) {
            k->next = p->kernels;
            p->kernels = k;
            return k;
        }
        kernel_free(k);
    }
    if (err != CL_SUCCESS)
        fail(errno_of(err), err, "clsym: kernel %s of %s", name, part->name);
    return NULL;
}

/* The kernel of that name in p: NULL when there is none (*failed false) or after fail(). */
static struct kernel *find_kernel(struct program *p, const char *name, bool *failed)
{
    struct kernel *k = NULL;
    struct part *part;
    pthread_mutex_lock(&p->lock);
    if (!p->built && p->by_clbuild)
        *failed = fail(EINVAL, 0, "clsym: %s is not built yet; call clbuild first", p->part[0].name) != 0;
    else
        *failed = !p->built && build(p, "clsym") != 0;
    if (!*failed) {
        for (k = p->kernels; k && strcmp(k->name, name) != 0; k = k->next)
            ;
        if (!k && (part = part_with(p, name)) != NULL) {
            k = kernel_new(p, part, name);
            *failed = k == NULL;
        }
    }
    pthread_mutex_unlock(&p->lock);
    return k;
}

static void print_names(FILE *fp, struct program *p, const char **separator)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; p->built && i < p->nparts; i++) {
        size_t size = 0;
        clGetProgramInfo(p->part[i].program[0], CL_PROGRAM_KERNEL_NAMES, 0, NULL, &size);
        char *names = calloc(size + 1, 1);
        if (names && size)
            clGetProgramInfo(p->part[i].program[0], CL_PROGRAM_KERNEL_NAMES, size, names, NULL);
        for (char *save, *n = names ? strtok_r(names, ";", &save) : NULL; n; n = strtok_r(NULL, ";", &save)) {
            fprintf(fp, "%s%s", *separator, n);
            *separator = ", ";
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
    FILE *fp = open_memstream(&text, &size);
    for (size_t i = 0; fp && i < n; i++)
        print_names(fp, searched[i], &separator);
    if (fp)
        fclose(fp);
    fail(ENOENT, 0, "clsym: there is no kernel \"%s\"; there are: %s", name, text && *text ? text : "none");
    free(text);
}

/* Searches programs in this order. */
static struct kernel *search(struct program **programs, size_t n, const char *name)
{
    bool failed = false;
    struct kernel *k = NULL;
    for (size_t i = 0; i < n && !k && !failed; i++)
        k = find_kernel(programs[i], name, &failed);
    if (!k && !failed)
        name_unknown(programs, n, name);
    return k;
}

STDCL_API cl_kernel clsym(CLCONTEXT *cp, void *handle, const char *name, int flags)
{
    (void)flags;
    if (!cp || !name)
        return (void)fail(EINVAL, 0, "clsym: the %s is NULL", cp ? "name" : "context"), NULL;
    struct kernel *k = NULL;
    if (handle) {
        struct program *only = program_of(cp, handle, "clsym");
        k = only ? search(&only, 1, name) : NULL;
    } else {
        size_t n;
        struct program **all = hold_all(cp, &n, "clsym");
        k = all ? search(all, n, name) : NULL;
        for (size_t i = 0; all && i < n; i++)
            let_go(all[i]);
        free(all);
    }
    return k ? k->on_device[0] : NULL;
}

/* The program of embedded kernels that clexec uses, opened once per context. */
static struct program *embedded_of(CLCONTEXT *cp)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&once);
    if (!cp->embedded)
        cp->embedded = open_embedded(cp, CLLD_NOW, "clexec");
    struct program *p = cp->embedded;
    pthread_mutex_unlock(&once);
    return p;
}

STDCL_API cl_event clexecv(CLCONTEXT *cp, cl_uint dev, clndrange_t *ndr, int flags, const char *symbol,
                           cl_uint nargs, const struct stdcl_arg *args)
{
    char name[256];
    struct device *d = device_of(cp, dev, "clexec");
    if (!d)
        return CL_FAILED;
    symbol += strspn(symbol, "\" "); /* the macro may have made a string of a string */
    snprintf(name, sizeof name, "%.*s", (int)strcspn(symbol, "\" "), symbol);
    struct program *p = embedded_of(cp);
    cl_kernel krn = p ? clsym(cp, p, name, 0) : NULL;
    return krn ? clforkv(cp, dev, krn, ndr, flags, nargs, args) : event_or_refusal(d, KERNEL_EVENT, CL_FAILED, flags);
}
